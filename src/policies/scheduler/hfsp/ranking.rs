//! Jobs by rank: their order, their tasks to launch, and the slots that they hold.
//!
//! The policy changes the ranks of many jobs at once. The counts change with every launch and every
//! end; each such change takes O(log n). Jobs at the front get slots first. If these jobs lack
//! slots, jobs at the end give up slots ([`Ranking::givers`]).
//!
//! A job without an up-to-date rank has no position. Jobs with a position come before this job, or
//! are never compared with it.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::scheduler::shared::measure::Measure;
use crate::scheduler::shared::places::move_entry;
use crate::scheduler::shared::taking::Turn;
use mumakil_core::mapred::{JobId, step};

/// A job's position: its rank, then its number.
pub(super) type RankedPlace = (Measure, JobId);

impl Turn for RankedPlace {
    fn job(self) -> JobId {
        self.1
    }

    fn may_take_from(self, other: Self) -> bool {
        self < other
    }
}

/// Jobs by rank, for one kind of slot.
#[derive(Debug, Default)]
pub(super) struct Ranking {
    jobs: FxHashMap<JobId, JobStanding>,
    /// The jobs with tasks to launch.
    waiting: BTreeSet<RankedPlace>,
    /// The jobs that hold slots.
    holding: BTreeSet<RankedPlace>,
    held: u32,
}

/// The rank and the counts of a job.
#[derive(Clone, Copy, Debug)]
struct JobStanding {
    rank: Measure,
    has_place: bool,
    /// The number of tasks that the job could launch.
    pending: u32,
    /// The number of slots that the job holds.
    held: u32,
}

impl JobStanding {
    fn waits(&self) -> bool {
        self.has_place && 0 < self.pending
    }

    fn holds(&self) -> bool {
        self.has_place && 0 < self.held
    }
}

impl Ranking {
    /// Adds a job that has no tasks to launch yet.
    pub(super) fn enter(&mut self, job: JobId, rank: Measure) {
        self.put(job, Some(JobStanding { rank, has_place: true, pending: 0, held: 0 }));
    }

    /// Marks a job's rank as outdated: the job has no position until it is ranked anew.
    pub(super) fn displace(&mut self, job: JobId) {
        self.put_if_known(job, |standing| JobStanding { has_place: false, ..standing });
    }

    /// Restores the position that a job had last.
    pub(super) fn keep_rank(&mut self, job: JobId) {
        self.put_if_known(job, |standing| JobStanding { has_place: true, ..standing });
    }

    /// Sets a job's rank.
    pub(super) fn place_at(&mut self, job: JobId, rank: Measure) {
        self.put_if_known(job, |standing| JobStanding { rank, has_place: true, ..standing });
    }

    /// Sets the ranks of these jobs, and restores the last positions of all other jobs.
    pub(super) fn rank(&mut self, ranks: impl IntoIterator<Item = (JobId, Measure)>) {
        for (job, rank) in ranks {
            step();
            // Jobs that have ended in the real cluster may still be in the virtual one: skip them,
            // since they are not in this ranking.
            self.jobs.entry(job).and_modify(|standing| standing.rank = rank);
        }
        self.jobs.values_mut().for_each(|standing| standing.has_place = true);
        // Most positions have changed, so building the sets anew is cheaper than moving the jobs
        // one by one.
        let places = |has: fn(&JobStanding) -> bool| {
            let those = self.jobs.iter().filter(move |(_, standing)| has(standing));
            those.map(|(job, standing)| (standing.rank, *job)).collect()
        };
        (self.waiting, self.holding) = (places(JobStanding::waits), places(JobStanding::holds));
    }

    /// Notes how many tasks a job could launch and how many slots it holds. Does nothing for a job
    /// that was never added.
    pub(super) fn count(&mut self, job: JobId, pending: u32, held: u32) {
        self.put_if_known(job, |standing| JobStanding { pending, held, ..standing });
    }

    fn put_if_known(&mut self, job: JobId, change: impl FnOnce(JobStanding) -> JobStanding) {
        if let Some(standing) = self.jobs.get(&job) {
            self.put(job, Some(change(*standing)));
        }
    }

    /// Removes a job.
    pub(super) fn remove(&mut self, job: JobId) {
        self.put(job, None);
    }

    fn put(&mut self, job: JobId, now: Option<JobStanding>) {
        let was = match now {
            Some(now) => self.jobs.insert(job, now),
            None => self.jobs.remove(&job),
        };
        let place = |standing: Option<JobStanding>, has: fn(&JobStanding) -> bool| {
            standing.filter(has).map(|standing| (standing.rank, job))
        };
        let [waited, waits] = [was, now].map(|standing| place(standing, JobStanding::waits));
        let [held, holds] = [was, now].map(|standing| place(standing, JobStanding::holds));
        move_entry(&mut self.waiting, waited, waits);
        move_entry(&mut self.holding, held, holds);
        let held = |standing: Option<JobStanding>| standing.map_or(0, |standing| standing.held);
        // The sum contains the old count, so the result is never below zero.
        self.held = self.held + held(now) - held(was);
    }

    /// Returns a job's position; `None` if it has none.
    pub(super) fn place(&self, job: JobId) -> Option<RankedPlace> {
        let standing = self.jobs.get(&job).filter(|standing| standing.has_place);
        standing.map(|standing| (standing.rank, job))
    }

    /// Returns the number of slots that a job holds; `None` if it was never added.
    pub(super) fn held_by(&self, job: JobId) -> Option<u32> {
        self.jobs.get(&job).map(|standing| standing.held)
    }

    /// Returns the number of slots that all jobs hold together.
    pub(super) fn held(&self) -> u32 {
        self.held
    }

    /// Returns the jobs with tasks to launch, in order from a rank on, each with the number of
    /// these tasks.
    pub(super) fn waiting(&self, from: Measure) -> impl Iterator<Item = (RankedPlace, u32)> {
        self.waiting
            .range((from, JobId(0))..)
            .inspect(|_| step())
            .map(|place| (*place, self.jobs[&place.1].pending))
    }

    /// Returns the jobs that hold slots, the last job first, each with the number of slots that it
    /// could give up. It keeps as many slots as `granted` returns for it.
    pub(super) fn givers(
        &self,
        granted: impl Fn(JobId) -> u32,
    ) -> impl Iterator<Item = (RankedPlace, u32)> {
        self.holding.iter().rev().map(move |place| {
            step();
            (*place, self.jobs[&place.1].held.saturating_sub(granted(place.1)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a ranking of jobs 0, 1, 2 … with these counts, in the order of their numbers.
    fn ranking(counts: &[(u32, u32)]) -> Ranking {
        let mut ranking = Ranking::default();
        for (id, (pending, held)) in (0..).zip(counts) {
            ranking.enter(JobId(id), Measure(f64::from(id)));
            ranking.count(JobId(id), *pending, *held);
        }
        ranking
    }

    fn givers(ranking: &Ranking, granted: u32) -> Vec<(u32, u32)> {
        ranking.givers(|_| granted).map(|(place, slots)| (place.1.0, slots)).collect()
    }

    #[test]
    fn those_with_something_to_launch_come_in_their_order() {
        let mut ranking = ranking(&[(0, 4), (2, 0), (1, 1)]);
        let waiting = |ranking: &Ranking| -> Vec<u32> {
            ranking.waiting(Measure::FIRST).map(|((_, job), _)| job.0).collect()
        };
        assert_eq!(waiting(&ranking), [1, 2]);
        ranking.rank([(JobId(2), Measure(-1.0)), (JobId(9), Measure(-2.0))]);
        ranking.count(JobId(0), 1, 4);
        assert_eq!(waiting(&ranking), [2, 0, 1]);
        ranking.remove(JobId(0));
        assert_eq!((waiting(&ranking), ranking.held()), (vec![2, 1], 1));
    }

    #[test]
    fn the_last_in_line_give_first() {
        let ranking = ranking(&[(5, 0), (0, 10), (0, 3), (0, 4)]);
        assert_eq!(givers(&ranking, 0), [(3, 4), (2, 3), (1, 10)]);
    }

    #[test]
    fn what_is_granted_is_not_given() {
        let ranking = ranking(&[(5, 0), (0, 3), (0, 4)]);
        assert_eq!(givers(&ranking, 3), [(2, 1), (1, 0)]);
    }
}
