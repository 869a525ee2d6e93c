//! A policy's memory of a job whose rank it computes.

use crate::scheduler::shared::rank::Rank;
use mumakil_base::units::{SimSpan, SimTime};
use mumakil_core::mapred::{JobId, PerSlot, SlotKind, TaskTimeSum};

/// A job's position: its rank, its arrival, and its number.
pub(super) type RankTurn = (Rank, SimTime, JobId);

/// The past of a job, and its position.
#[derive(Debug, Default)]
pub(super) struct JobRecord {
    /// Its position among the jobs that could use a slot; `None` if it could not.
    pub(super) place: PerSlot<Option<RankTurn>>,
    served_at: PerSlot<Option<SimTime>>,
    /// How many attempts run, and the sum of the times of their launches, in microseconds.
    live: u32,
    launched: u64,
    /// How long the attempts held slots that have ended.
    held: SimSpan,
    /// How long the tasks took that have succeeded.
    took: PerSlot<TaskTimeSum>,
}

impl JobRecord {
    pub(super) fn launches(&mut self, kind: SlotKind, now: SimTime) {
        self.served_at[kind] = Some(now);
        self.live += 1;
        self.launched += now.as_micros();
    }

    /// Notes that an attempt has ended, which was launched at `at`.
    pub(super) fn ends(&mut self, kind: SlotKind, at: SimTime, now: SimTime, succeeded: bool) {
        self.live -= 1;
        self.launched -= at.as_micros();
        let took = now.saturating_since(at);
        self.held += took;
        if succeeded {
            self.took[kind].add(took);
        }
    }

    pub(super) fn served_at(&self, kind: SlotKind) -> Option<SimTime> {
        self.served_at[kind]
    }

    /// Returns how long its attempts have held slots, in seconds.
    pub(super) fn attained(&self, now: SimTime) -> f64 {
        let live = u64::from(self.live) * now.as_micros() - self.launched;
        self.held.as_secs_f64() + live as f64 / 1e6
    }

    /// Returns how long a task took, in seconds; `None` before any has succeeded.
    pub(super) fn mean_time(&self, kind: SlotKind) -> Option<f64> {
        self.took[kind].mean()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn service_is_that_of_ended_and_of_running_attempts() {
        let at = |secs: u64| SimTime::from_micros(secs * 1_000_000);
        let mut record = JobRecord::default();
        [0, 0, 20].into_iter().for_each(|secs| record.launches(SlotKind::Map, at(secs)));
        record.ends(SlotKind::Map, at(0), at(20), true);
        assert_eq!(record.attained(at(30)), 20.0 + 30.0 + 10.0);
        record.ends(SlotKind::Map, at(20), at(40), false);
        assert_eq!(record.attained(at(40)), 20.0 + 40.0 + 20.0);
        assert_eq!(record.mean_time(SlotKind::Map), Some(20.0), "the failed one does not count");
        assert_eq!(record.mean_time(SlotKind::Reduce), None);
        assert_eq!(record.served_at(SlotKind::Map), Some(at(20)));
    }
}
