//! A policy's memory of a job whose rank it computes.

use std::cell::OnceCell;
use std::cmp::Reverse;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::scheduler::shared::line::Measure;
use crate::scheduler::shared::taking::SlotTurn;
use mumakil_base::mutated;
use mumakil_base::units::{SimSpan, SimTime};
use mumakil_core::mapred::{AttemptId, Job, JobId, PerSlot, SlotKind, TaskId, TaskTimeSum};

/// A job's position: its rank, of which the highest comes first, its arrival, and its number.
pub(super) type RankTurn = (Reverse<Measure>, SimTime, JobId);

impl SlotTurn for RankTurn {
    fn job(self) -> JobId {
        self.2
    }

    fn may_take_from(self, other: Self) -> bool {
        // Among equals, jobs wait.
        mutated!(self.0 < other.0, "rank/equals-lose" => self < other)
    }
}

#[derive(Debug, Default)]
pub(in crate::scheduler) struct JobRecord {
    served_at: PerSlot<Option<SimTime>>,
    attempts: FxHashMap<AttemptId, HeldSlot>,
    /// How many attempts hold slots, and the sum of the times since when, in microseconds.
    live: u32,
    since: u64,
    held: SimSpan,
    /// The attempts that have lost their slots and have not ended.
    stopped: PerSlot<u32>,
    /// The tasks of which an attempt was killed for another job, and their attempts that run now.
    killed: FxHashSet<TaskId>,
    spared: PerSlot<u32>,
    /// How long the tasks took that have succeeded.
    took: PerSlot<TaskTimeSum>,
    /// How many bytes its maps read, once it was asked for.
    input: OnceCell<f64>,
}

#[derive(Clone, Copy, Debug)]
struct HeldSlot {
    /// Since when it has held its slot; `None` if it has lost it.
    since: Option<SimTime>,
    /// How long it held slots before.
    before: SimSpan,
    /// Whether it may not be killed for another job.
    is_spared: bool,
}

impl JobRecord {
    /// Returns the record of a job of which only a sample has run: tasks of one kind that took these
    /// times.
    pub(super) fn sampled(kind: SlotKind, sample: &[SimSpan]) -> Self {
        let mut record = Self::default();
        sample.iter().for_each(|took| record.took[kind].add(*took));
        record
    }

    pub(super) fn input(&self, job: &Job) -> f64 {
        let spec = job.spec();
        *self.input.get_or_init(|| {
            spec.input.as_ref().map_or(0.0, |input| input.total(spec.maps).get() as f64)
        })
    }

    pub(in crate::scheduler) fn launches(&mut self, attempt: AttemptId, now: SimTime) {
        self.enters(attempt);
        self.resumes(attempt, now);
    }

    /// Adds an attempt that holds no slot, such as one that the policy before this one suspended.
    pub(super) fn enters(&mut self, attempt: AttemptId) {
        let is_killed = self.killed.contains(&attempt.task);
        let is_spared = mutated!(is_killed, "rank/ended-again" => false);
        let slot = HeldSlot { since: None, before: SimSpan::ZERO, is_spared };
        self.attempts.insert(attempt, slot);
        self.spared[attempt.slot()] += u32::from(is_spared);
        self.stopped[attempt.slot()] += 1;
    }

    /// Notes that an attempt has got a slot.
    pub(in crate::scheduler) fn resumes(&mut self, attempt: AttemptId, now: SimTime) {
        self.served_at[attempt.slot()] = Some(now);
        self.goes_on(attempt, now);
    }

    /// Notes that an attempt that had lost its slot holds one again.
    pub(in crate::scheduler) fn goes_on(&mut self, attempt: AttemptId, now: SimTime) {
        let Some(slot) = self.attempts.get_mut(&attempt) else { return };
        if slot.since.is_none() {
            slot.since = Some(now);
            self.stopped[attempt.slot()] -= 1;
            self.live += 1;
            self.since += now.as_micros();
        }
    }

    /// Notes that an attempt has lost its slot.
    pub(in crate::scheduler) fn stops(&mut self, attempt: AttemptId, now: SimTime) {
        let Some(slot) = self.attempts.get_mut(&attempt) else { return };
        if let Some(since) = slot.since.take() {
            let span = now.saturating_since(since);
            slot.before += span;
            self.held += span;
            self.stopped[attempt.slot()] += 1;
            self.live -= 1;
            self.since -= since.as_micros();
        }
    }

    /// Notes that an attempt loses its work to another job, which its task does only once.
    pub(super) fn is_killed(&mut self, attempt: AttemptId, now: SimTime) {
        self.stops(attempt, now);
        self.killed.insert(attempt.task);
    }

    /// Notes that an attempt has ended. Returns how long it held slots; `None` if it is unknown.
    pub(in crate::scheduler) fn ends(
        &mut self,
        attempt: AttemptId,
        now: SimTime,
        succeeded: bool,
    ) -> Option<SimSpan> {
        self.stops(attempt, now);
        let slot = self.attempts.remove(&attempt)?;
        let kind = attempt.slot();
        self.stopped[kind] -= 1;
        self.spared[kind] -= u32::from(slot.is_spared);
        if succeeded {
            self.took[kind].add(slot.before);
        }
        Some(slot.before)
    }

    /// Returns whether an attempt may lose its work to another job.
    pub(super) fn may_kill(&self, attempt: AttemptId) -> bool {
        self.attempts.get(&attempt).is_none_or(|slot| !slot.is_spared)
    }

    /// Returns how many attempts must not be killed for other jobs.
    pub(super) fn spared(&self, kind: SlotKind) -> u32 {
        self.spared[kind]
    }

    /// Returns whether it holds a slot.
    pub(super) fn is_served(&self) -> bool {
        0 < self.live
    }

    pub(super) fn stopped(&self, kind: SlotKind) -> u32 {
        self.stopped[kind]
    }

    pub(super) fn served_at(&self, kind: SlotKind) -> Option<SimTime> {
        self.served_at[kind]
    }

    /// Returns how long its attempts have held slots, in seconds.
    pub(in crate::scheduler) fn attained(&self, now: SimTime) -> f64 {
        let live = u64::from(self.live) * now.as_micros() - self.since;
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
    use mumakil_core::mapred::TaskKind;

    fn at(secs: u64) -> SimTime {
        SimTime::from_micros(secs * 1_000_000)
    }

    fn map(index: u32) -> AttemptId {
        TaskId { job: JobId(0), kind: TaskKind::Map, index }.attempt(0)
    }

    /// Returns a job that has launched a map at each of these seconds.
    fn launched(times: &[u64]) -> JobRecord {
        let mut record = JobRecord::default();
        (0..).zip(times).for_each(|(index, secs)| record.launches(map(index), at(*secs)));
        record
    }

    #[test]
    fn service_is_that_of_ended_and_of_running_attempts() {
        let mut record = launched(&[0, 0, 20]);
        record.ends(map(0), at(20), true);
        assert_eq!(record.attained(at(30)), 20.0 + 30.0 + 10.0);
        record.ends(map(2), at(40), false);
        assert_eq!(record.attained(at(40)), 20.0 + 40.0 + 20.0);
        assert_eq!(record.mean_time(SlotKind::Map), Some(20.0), "the failed one does not count");
        assert_eq!(record.mean_time(SlotKind::Reduce), None);
        assert_eq!(record.served_at(SlotKind::Map), Some(at(20)));
    }

    #[test]
    fn a_suspended_attempt_attains_nothing_until_it_resumes() {
        let mut record = launched(&[0]);
        record.stops(map(0), at(10));
        assert_eq!((record.attained(at(30)), record.stopped(SlotKind::Map)), (10.0, 1));
        record.resumes(map(0), at(30));
        assert_eq!((record.attained(at(35)), record.stopped(SlotKind::Map)), (15.0, 0));
        assert_eq!(record.ends(map(0), at(40), true), Some(SimSpan::from_secs(20)));
        assert_eq!(record.mean_time(SlotKind::Map), Some(20.0), "not the 40 s since its launch");
    }

    #[test]
    fn a_task_loses_its_work_to_another_job_only_once() {
        let mut record = launched(&[0]);
        assert!(record.may_kill(map(0)));
        record.is_killed(map(0), at(10));
        assert_eq!(record.stopped(SlotKind::Map), 1, "its slot is given away");
        record.ends(map(0), at(11), false);
        let again = map(0).task.attempt(1);
        record.launches(again, at(20));
        assert!(!record.may_kill(again));
        assert_eq!((record.spared(SlotKind::Map), record.stopped(SlotKind::Map)), (1, 0));
        record.ends(again, at(30), true);
        assert_eq!(record.spared(SlotKind::Map), 0);
    }
}
