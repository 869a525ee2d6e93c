//! The running attempts that a policy has launched, by job and time, and the attempts that it has
//! ordered to end.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use mumakil_base::units::SimTime;
use mumakil_core::mapred::{
    AttemptId, AttemptState, JobChange, JobEvent, JobId, Launched, SlotKind, TrackerId,
};

/// The attempts that have not ended. A policy attaches a note of type `D` to each attempt that it
/// orders to end.
#[derive(Debug)]
pub struct Launches<D = ()> {
    live: FxHashMap<AttemptId, Launch>,
    jobs: FxHashMap<JobId, BTreeSet<(SimTime, AttemptId)>>,
    doomed: FxHashMap<AttemptId, D>,
}

impl<D> Default for Launches<D> {
    fn default() -> Self {
        let (live, jobs, doomed) = Default::default();
        Self { live, jobs, doomed }
    }
}

/// Where and when an attempt was launched.
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

    /// Notes an event of a job. If it is the end of a known attempt, returns that attempt.
    pub fn job_changed(&mut self, event: &JobEvent) -> Option<(AttemptId, AttemptState, Launch)> {
        match event.change {
            JobChange::Attempt(attempt, state) if state.outcome().is_some() => {
                self.doomed.remove(&attempt);
                // Setups, cleanups and attempts of the policy before are unknown here.
                let launch = self.live.remove(&attempt)?;
                let job = self.jobs.get_mut(&event.job)?;
                // The launch time is part of the key, so the latest need no sort.
                job.remove(&(launch.at, attempt));
                Some((attempt, state, launch))
            }
            // Forget the attempts of an ended job, since a policy never chooses among them.
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

    /// Returns the notes of the attempts of a kind that are ordered to end but have not ended, in
    /// arbitrary order.
    pub fn ordered_ends(&self, kind: SlotKind) -> impl Iterator<Item = &D> {
        let of_kind = self.doomed.iter().filter(move |(attempt, _)| attempt.slot() == kind);
        of_kind.map(|(_, with)| with)
    }

    /// Returns the launches of a job's running attempts.
    pub fn of(&self, job: JobId) -> impl Iterator<Item = Launch> {
        let all = self.jobs.get(&job).into_iter().flatten();
        all.filter_map(|(_, attempt)| self.live.get(attempt).copied())
    }

    /// Returns a job's attempts of a kind with their launch times, the latest first. Leaves out
    /// attempts that are ordered to end.
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
    use mumakil_core::mapred::{Outcome, Reason, TaskId, TaskKind};

    fn map(job: u32, index: u32) -> AttemptId {
        TaskId { job: JobId(job), kind: TaskKind::Map, index }.attempt(0)
    }

    fn launches() -> Launches {
        let mut launches = Launches::default();
        for (job, index, second) in [(1, 0, 5), (1, 1, 9), (2, 0, 7)] {
            let (attempt, reason) = (map(job, index), Reason::Sample);
            let launched = Launched { attempt, locality: None, slots: 1, reason };
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
        // The end of an attempt after the end of its job changes nothing: the job is forgotten.
        let change = JobChange::Attempt(map(1, 0), AttemptState::Killed);
        assert_eq!(launches.job_changed(&JobEvent { job: JobId(1), change }), None);
    }
}
