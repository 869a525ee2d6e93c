//! How long attempts held their slots before their logged start, while the files of their job were
//! copied to the host.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::admitted::number_of;
use super::record::LoggedJob;
use super::survey::median;
use mumakil_base::units::SimSpan;

/// How long the first attempts of a job on each host held their slots before their logged start.
///
/// The start of a task is the assignment of its first attempt, by the JobTracker's clock; the start
/// of the attempt is by the tracker's clock, once it has the files. Later attempts on the host wait
/// for messages only, and so do the first ones besides.
#[derive(Debug, Default)]
pub struct Localisations<'a> {
    /// How long they usually held them; `None` if the log tells none.
    pub usual: Option<SimSpan>,
    /// How long each attempt that was the first on its host held it, by its id.
    firsts: FxHashMap<&'a str, SimSpan>,
}

/// An attempt between its assignment and its start, in the milliseconds of the log.
struct AttemptWait<'a> {
    assigned: u64,
    takes: u64,
    id: &'a str,
}

impl<'a> Localisations<'a> {
    /// Returns the times of a job's attempts.
    pub fn of(job: &'a LoggedJob) -> Self {
        let mut waits: BTreeMap<&str, Vec<AttemptWait<'_>>> = BTreeMap::new();
        for task in job.tasks() {
            let mut attempts = task.attempts.iter();
            let first = attempts.find(|attempt| number_of(&attempt.attempt_id) == Ok(0));
            let Some((first, assigned)) = first.zip(task.start_time) else { continue };
            let host_and_start = first.host_name.as_deref().zip(first.start_time);
            let Some((host, started)) = host_and_start else { continue };
            // Zero is an unknown time.
            if assigned == 0 || started == 0 {
                continue;
            }
            let takes = started.saturating_sub(assigned);
            let wait = AttemptWait { assigned, takes, id: &first.attempt_id };
            waits.entry(host).or_default().push(wait);
        }
        let (mut firsts, mut others) = (Vec::new(), Vec::new());
        for of_host in waits.values_mut() {
            of_host.sort_unstable_by_key(|wait| (wait.assigned, wait.takes));
            let there = of_host[0].assigned + of_host[0].takes;
            let after = of_host.iter().filter(|wait| there <= wait.assigned);
            others.extend(after.map(|wait| wait.takes));
            firsts.push((of_host[0].id, of_host[0].takes));
        }
        let for_messages = median(&mut others).unwrap_or(0);
        let mut all: Vec<u64> = firsts.iter().map(|(_, takes)| *takes).collect();
        let messages = SimSpan::from_millis(for_messages);
        let firsts = firsts.into_iter().map(|(id, takes)| (id, SimSpan::from_millis(takes)));
        Self {
            usual: median(&mut all)
                .map(|takes| SimSpan::from_millis(takes).saturating_sub(messages)),
            firsts: firsts.map(|(id, takes)| (id, takes.saturating_sub(messages))).collect(),
        }
    }

    /// Returns how long an attempt held its slot; `None` unless it was the first on its host.
    pub fn of_attempt(&self, id: &str) -> Option<SimSpan> {
        self.firsts.get(id).copied()
    }
}
