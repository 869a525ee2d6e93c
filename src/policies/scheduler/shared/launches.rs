//! The running attempts that a policy has launched, by job and time, and those that it has ordered
//! to end.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use mumakil_base::units::SimTime;
use mumakil_core::mapred::{
    AttemptId, AttemptState, JobChange, JobEvent, JobId, Launched, SlotKind, TrackerId,
};

/// The attempts that have not ended; `D` is the note that a policy attaches to an attempt that it
/// orders to end.
#[derive(Debug)]
pub struct Launches<D = ()> {
    live: FxHashMap<AttemptId, Launch>,
    /// The attempts by job, in the order of launching.
    jobs: FxHashMap<JobId, BTreeSet<(SimTime, AttemptId)>>,
    doomed: FxHashMap<AttemptId, D>,
}

impl<D> Default for Launches<D> {
    fn default() -> Self {
        let (live, jobs, doomed) = Default::default();
        Self { live, jobs, doomed }
    }
}

/// The tracker and the launch time of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// When the JobTracker launched it.
    pub at: SimTime,
    /// The tracker of the attempt.
    pub tracker: TrackerId,
}

impl<D> Launches<D> {
    /// Notes a launch.
    pub fn note(&mut self, at: SimTime, tracker: TrackerId, launched: Launched) {
        let attempt = launched.attempt;
        self.live.insert(attempt, Launch { at, tracker });
        self.jobs.entry(attempt.job()).or_default().insert((at, attempt));
    }

    /// Notes an event of a job. Returns the attempt that has ended with it, if one has.
    pub fn job_changed(&mut self, event: &JobEvent) -> Option<(AttemptId, AttemptState, Launch)> {
        match event.change {
            JobChange::Attempt(attempt, state) if state.outcome().is_some() => {
                self.doomed.remove(&attempt);
                // Unknown are setups and cleanups, and what was
                // launched before this policy took over.
                let launch = self.live.remove(&attempt)?;
                let job = self.jobs.get_mut(&event.job)?;
                // The instant is part of the key, so that the latest
                // attempts are found without a sort.
                job.remove(&(launch.at, attempt));
                Some((attempt, state, launch))
            }
            // A policy never chooses among the attempts of an ended job, so forget them.
            JobChange::Ended(_) => {
                for (_, attempt) in self.jobs.remove(&event.job).unwrap_or_default() {
                    self.live.remove(&attempt);
                }
                self.doomed.retain(|attempt, _| attempt.job() != event.job);
                None
            }
            _ => None,
        }
    }

    /// Notes that an attempt was ordered to end.
    pub fn note_ordered_end(&mut self, attempt: AttemptId, with: D) {
        self.doomed.insert(attempt, with);
    }

    /// Returns the notes of all attempts of a kind that are ordered to end and have not ended, in
    /// no order.
    pub fn ordered_ends(&self, kind: SlotKind) -> impl Iterator<Item = &D> {
        let of_kind = self.doomed.iter().filter(move |(attempt, _)| attempt.slot() == kind);
        of_kind.map(|(_, with)| with)
    }

    /// Returns the launches of a job's running attempts.
    pub fn of(&self, job: JobId) -> impl Iterator<Item = Launch> {
        let all = self.jobs.get(&job).into_iter().flatten();
        all.filter_map(|(_, attempt)| self.live.get(attempt).copied())
    }

    /// Returns a job's attempts of a kind with their launch times, the latest first, without those
    /// that are ordered to end.
    pub fn latest_first(
        &self,
        job: JobId,
        kind: SlotKind,
    ) -> impl Iterator<Item = (SimTime, AttemptId)> {
        let all = self.jobs.get(&job).into_iter().flatten().rev().copied();
        all.filter(move |(_, attempt)| attempt.slot() == kind && !self.doomed.contains_key(attempt))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mumakil_core::mapred::{Outcome, TaskId, TaskKind};

    fn map(job: u32, index: u32) -> AttemptId {
        TaskId { job: JobId(job), kind: TaskKind::Map, index }.attempt(0)
    }

    fn launches() -> Launches {
        let mut launches = Launches::default();
        for (job, index, second) in [(1, 0, 5), (1, 1, 9), (2, 0, 7)] {
            let launched = Launched { attempt: map(job, index), locality: None };
            let at = SimTime::from_micros(second * 1_000_000);
            launches.note(at, TrackerId(index), launched);
        }
        launches
    }

    fn latest(launches: &Launches, job: u32) -> Vec<AttemptId> {
        launches.latest_first(JobId(job), SlotKind::Map).map(|(_, attempt)| attempt).collect()
    }

    #[test]
    fn the_latest_come_first_until_they_end() {
        let mut launches = launches();
        assert_eq!(latest(&launches, 1), [map(1, 1), map(1, 0)]);
        let change = JobChange::Attempt(map(1, 1), AttemptState::Killed);
        let ended = launches.job_changed(&JobEvent { job: JobId(1), change });
        assert_eq!(
            ended.map(|(attempt, _, launch)| (attempt, launch.tracker)),
            Some((map(1, 1), TrackerId(1),))
        );
        assert_eq!(latest(&launches, 1), [map(1, 0)]);
        assert_eq!(launches.of(JobId(1)).count(), 1);
    }

    #[test]
    fn nothing_is_left_of_a_job_that_has_ended() {
        let mut launches = launches();
        let change = JobChange::Ended(Outcome::Killed);
        launches.job_changed(&JobEvent { job: JobId(1), change });
        assert!(latest(&launches, 1).is_empty() && launches.of(JobId(1)).next().is_none());
        assert_eq!(latest(&launches, 2), [map(2, 0)]);
        // An attempt's end after its job's end changes nothing: the job is forgotten.
        let change = JobChange::Attempt(map(1, 0), AttemptState::Killed);
        assert_eq!(launches.job_changed(&JobEvent { job: JobId(1), change }), None);
    }
}
