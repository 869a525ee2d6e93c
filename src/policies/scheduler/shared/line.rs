//! Jobs in the order of a policy, for one kind of slot: their tasks to launch, and the slots that they
//! hold.
//!
//! A policy may change the positions of many jobs at once. The counts change with every launch and
//! every end; each such change takes O(log n). Jobs at the front get slots first. If these jobs lack
//! slots, jobs at the end give up slots ([`JobLine::givers`]).
//!
//! A job without an up-to-date position stands nowhere. Jobs that stand in the line come before this
//! job, or are never compared with it.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::mem;
use std::ops::RangeBounds;

use rustc_hash::FxHashMap;

use super::taking::SlotTurn;
use mumakil_core::mapred::{JobId, step};

/// Jobs in order.
#[derive(Debug)]
pub struct JobLine<T> {
    jobs: FxHashMap<JobId, JobStanding<T>>,
    waiting: BTreeSet<T>,
    holding: BTreeSet<T>,
    held: u32,
}

/// The position and the counts of a job.
#[derive(Clone, Copy, Debug)]
struct JobStanding<T> {
    turn: T,
    has_place: bool,
    pending: u32,
    held: u32,
}

impl<T> JobStanding<T> {
    fn waits(&self) -> bool {
        self.has_place && 0 < self.pending
    }

    fn holds(&self) -> bool {
        self.has_place && 0 < self.held
    }
}

impl<T> Default for JobLine<T> {
    fn default() -> Self {
        let (jobs, waiting, holding) = Default::default();
        Self { jobs, waiting, holding, held: 0 }
    }
}

impl<T: SlotTurn> JobLine<T> {
    /// Adds a job, or replaces it: `pending` is how many tasks it could launch, and `held` how many
    /// slots it holds.
    pub fn enter(&mut self, turn: T, pending: u32, held: u32) {
        self.put(turn.job(), Some(JobStanding { turn, has_place: true, pending, held }));
    }

    /// Marks a job's position as outdated: the job has none until it is placed anew.
    pub fn displace(&mut self, job: JobId) {
        self.put_if_known(job, |standing| JobStanding { has_place: false, ..standing });
    }

    /// Restores the position that a job had last.
    pub fn keep_place(&mut self, job: JobId) {
        self.put_if_known(job, |standing| JobStanding { has_place: true, ..standing });
    }

    /// Sets a job's position.
    pub fn place_at(&mut self, turn: T) {
        self.put_if_known(turn.job(), |standing| JobStanding { turn, has_place: true, ..standing });
    }

    /// Sets the positions of these jobs, and restores the last positions of all other jobs.
    pub fn place_all(&mut self, turns: impl IntoIterator<Item = T>) {
        for turn in turns {
            step();
            // Jobs that only the virtual cluster still has are not in this line.
            self.jobs.entry(turn.job()).and_modify(|standing| standing.turn = turn);
        }
        self.jobs.values_mut().for_each(|standing| standing.has_place = true);
        // Most positions have changed, so building the sets anew is cheaper.
        let places = |has: fn(&JobStanding<T>) -> bool| {
            let those = self.jobs.values().filter(move |standing| has(standing));
            those.map(|standing| standing.turn).collect()
        };
        (self.waiting, self.holding) = (places(JobStanding::waits), places(JobStanding::holds));
    }

    /// Computes all positions again, of which most stay about where they were. A job for which
    /// `again` returns none keeps its position.
    pub fn renew(&mut self, mut again: impl FnMut(JobId) -> Option<T>) {
        let mut renewed = |turn: T| {
            let turn = again(turn.job()).unwrap_or(turn);
            self.jobs.entry(turn.job()).and_modify(|standing| standing.turn = turn);
            turn
        };
        // The order is nearly that of the last time, which makes building a set cheap.
        for set in [&mut self.waiting, &mut self.holding] {
            *set = mem::take(set).into_iter().map(&mut renewed).collect();
        }
    }

    /// Notes how many tasks a job could launch and how many slots it holds. Does nothing for a job
    /// that was never added.
    pub fn count(&mut self, job: JobId, pending: u32, held: u32) {
        self.put_if_known(job, |standing| JobStanding { pending, held, ..standing });
    }

    fn put_if_known(&mut self, job: JobId, change: impl FnOnce(JobStanding<T>) -> JobStanding<T>) {
        if let Some(standing) = self.jobs.get(&job) {
            self.put(job, Some(change(*standing)));
        }
    }

    /// Removes a job.
    pub fn remove(&mut self, job: JobId) {
        self.put(job, None);
    }

    fn put(&mut self, job: JobId, now: Option<JobStanding<T>>) {
        let was = match now {
            Some(now) => self.jobs.insert(job, now),
            None => self.jobs.remove(&job),
        };
        let place = |standing: Option<JobStanding<T>>, has: fn(&JobStanding<T>) -> bool| {
            standing.filter(has).map(|standing| standing.turn)
        };
        let [waited, waits] = [was, now].map(|standing| place(standing, JobStanding::waits));
        let [held, holds] = [was, now].map(|standing| place(standing, JobStanding::holds));
        move_entry(&mut self.waiting, waited, waits);
        move_entry(&mut self.holding, held, holds);
        let held = |standing: Option<JobStanding<T>>| standing.map_or(0, |standing| standing.held);
        // The sum contains the old count, so the result is never below zero.
        self.held = self.held + held(now) - held(was);
    }

    /// Returns a job's position; `None` if it has none.
    pub fn place(&self, job: JobId) -> Option<T> {
        let standing = self.jobs.get(&job).filter(|standing| standing.has_place);
        standing.map(|standing| standing.turn)
    }

    /// Returns the number of slots that a job holds; `None` if it was never added.
    pub fn held_by(&self, job: JobId) -> Option<u32> {
        self.jobs.get(&job).map(|standing| standing.held)
    }

    /// Returns the number of slots that all jobs hold together.
    pub fn held(&self) -> u32 {
        self.held
    }

    /// Returns the number of tasks that a job could launch.
    pub fn pending(&self, job: JobId) -> u32 {
        self.jobs.get(&job).map_or(0, |standing| standing.pending)
    }

    /// Returns the jobs with tasks to launch, in order.
    pub fn waiting(&self, among: impl RangeBounds<T>) -> impl Iterator<Item = T> + Clone {
        self.waiting.range(among).inspect(|_| step()).copied()
    }

    /// Returns the last job that holds slots.
    pub fn last_holder(&self) -> Option<T> {
        self.holding.last().copied()
    }

    /// Returns the jobs that could give up slots, the last one first, each with the number of these
    /// slots. A job keeps as many slots as `granted` returns for it.
    pub fn givers(&self, granted: impl Fn(JobId) -> u32) -> impl Iterator<Item = (T, u32)> {
        let givers = self.holding.iter().rev().map(move |turn| {
            step();
            (*turn, self.jobs[&turn.job()].held.saturating_sub(granted(turn.job())))
        });
        givers.filter(|(_, slots)| 0 < *slots)
    }
}

/// A measure of a job: usually jobs with a lower measure are served first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measure(pub f64);

impl Measure {
    /// The measure before all others.
    pub const FIRST: Self = Self(f64::NEG_INFINITY);
}

impl Eq for Measure {}

impl PartialOrd for Measure {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Measure {
    fn cmp(&self, other: &Self) -> Ordering {
        step();
        // Measures are floating-point numbers because they may be infinite; they are never NaN.
        self.0.total_cmp(&other.0)
    }
}

/// A job's position by a measure, the lowest first, and then by its number.
pub type MeasuredTurn = (Measure, JobId);

impl SlotTurn for MeasuredTurn {
    fn job(self) -> JobId {
        self.1
    }

    fn may_take_from(self, other: Self) -> bool {
        self < other
    }
}

/// Moves an entry of a sorted set from one position to another; `None` means outside the set.
pub fn move_entry<P: Ord>(line: &mut BTreeSet<P>, from: Option<P>, to: Option<P>) {
    if from != to {
        if let Some(from) = from {
            line.remove(&from);
        }
        line.extend(to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a line of jobs 0, 1, 2 … with these counts, in the order of their numbers.
    fn line(counts: &[(u32, u32)]) -> JobLine<MeasuredTurn> {
        let mut line = JobLine::default();
        for (id, (pending, held)) in (0..).zip(counts) {
            line.enter((Measure(f64::from(id)), JobId(id)), *pending, *held);
        }
        line
    }

    fn givers(line: &JobLine<MeasuredTurn>, granted: u32) -> Vec<(u32, u32)> {
        line.givers(|_| granted).map(|(place, slots)| (place.1.0, slots)).collect()
    }

    #[test]
    fn those_with_something_to_launch_come_in_their_order() {
        let mut line = line(&[(0, 4), (2, 0), (1, 1)]);
        let waiting = |line: &JobLine<MeasuredTurn>| -> Vec<u32> {
            line.waiting(..).map(|(_, job)| job.0).collect()
        };
        assert_eq!(waiting(&line), [1, 2]);
        line.place_all([(Measure(-1.0), JobId(2)), (Measure(-2.0), JobId(9))]);
        line.count(JobId(0), 1, 4);
        assert_eq!(waiting(&line), [2, 0, 1]);
        line.remove(JobId(0));
        assert_eq!((waiting(&line), line.held()), (vec![2, 1], 1));
    }

    #[test]
    fn the_last_in_line_give_first() {
        let line = line(&[(5, 0), (0, 10), (0, 3), (0, 4)]);
        assert_eq!(givers(&line, 0), [(3, 4), (2, 3), (1, 10)]);
    }

    #[test]
    fn granted_slots_are_not_given() {
        let line = line(&[(5, 0), (0, 3), (0, 4)]);
        assert_eq!(givers(&line, 3), [(2, 1)]);
    }
}
