//! How long the processes of a group have computed, and have waited for a processor.
//!
//! Real time says little about a policy on a busy machine, so its answers are limited in the
//! processor time that it spends on them.

use std::fs;
use std::time::Duration;

/// The times of the processes in a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct GroupTimes {
    /// How long they have computed.
    pub(super) computed: Duration,
    /// How long they were ready and had no processor.
    pub(super) waited: Duration,
}

impl GroupTimes {
    /// Reads the times of a group. All are zero on a system that does not tell them.
    // It looks at all processes of the system: ask for it only when an answer is late.
    pub(super) fn of(group: u32) -> Self {
        let mut all = Self::default();
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        for process in entries.map(|entry| entry.path()) {
            let Some(computed) = fs::read_to_string(process.join("stat"))
                .ok()
                .and_then(|stat| computed(&stat, group))
            else {
                continue;
            };
            all.computed += computed;
            let threads = fs::read_dir(process.join("task")).into_iter().flatten().flatten();
            let waited = threads
                .filter_map(|thread| fs::read_to_string(thread.path().join("schedstat")).ok())
                .filter_map(|line| line.split_whitespace().nth(1)?.parse().ok())
                .map(Duration::from_nanos);
            // Threads that wait at the same time keep a policy back only once.
            all.waited = all.waited.max(waited.max().unwrap_or_default());
        }
        all
    }

    /// Returns the times since an earlier reading.
    pub(super) fn since(self, earlier: Self) -> Self {
        Self {
            computed: self.computed.saturating_sub(earlier.computed),
            waited: self.waited.saturating_sub(earlier.waited),
        }
    }
}

/// Returns the processor time in a line of `/proc/N/stat`; `None` if the process is of another
/// group.
fn computed(stat: &str, group: u32) -> Option<Duration> {
    // The name may have spaces and brackets. Behind it are the state, the parent, the group and, as
    // 12th and 13th, the times in hundredths of a second.
    let rest: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let number = |place: usize| rest.get(place)?.parse::<u64>().ok();
    if number(2)? != u64::from(group) {
        return None;
    }
    Some(Duration::from_millis(10 * (number(11)? + number(12)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_processes_of_the_group_count_whatever_they_are_called() {
        let stat = "7 (a) b) S 1 42 42 0 -1 4194560 843 961 0 0 150 25 0 0 20 0 1 0 129624";
        assert_eq!(computed(stat, 42), Some(Duration::from_millis(1_750)));
        assert_eq!(computed(stat, 7), None);
        assert_eq!(computed("7 (cut", 42), None);
    }
}
