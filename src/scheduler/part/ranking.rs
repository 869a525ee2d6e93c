//! Jobs by rank: where each stands, what it has to launch, and what slots it holds.
//!
//! The order changes when a policy says so, the counts with every launch and end; each change costs
//! O(log n). Whoever is first should have slots first. So if the first lack some, those that
//! are in excess are the tasks of the last: [`Ranking::in_excess`].

use std::cmp::Ordering;
use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::mapred::JobId;

/// Where a job stands: a lower rank is served first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rank(pub f64);

impl Eq for Rank {}

impl PartialOrd for Rank {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Rank {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// A job with its rank: no two jobs stand in the same place.
pub type Place = (Rank, JobId);

/// Jobs by rank, for one kind of slot.
#[derive(Debug, Default)]
pub struct Ranking {
    jobs: FxHashMap<JobId, Standing>,
    /// Those that have tasks to launch.
    waiting: BTreeSet<Place>,
    /// Those that hold slots.
    holding: BTreeSet<Place>,
    held: u32,
}

/// How a job stands.
#[derive(Clone, Copy, Debug)]
struct Standing {
    rank: Rank,
    /// The tasks that it could launch.
    pending: u32,
    /// The slots that it holds.
    held: u32,
}

impl Ranking {
    /// Gives a job its place; a new one has nothing to launch yet.
    pub fn rank(&mut self, job: JobId, rank: Rank) {
        let standing = match self.jobs.get(&job) {
            Some(standing) if standing.rank == rank => return,
            Some(standing) => Standing { rank, ..*standing },
            None => Standing { rank, pending: 0, held: 0 },
        };
        self.put(job, Some(standing));
    }

    /// Notes what a job could launch and how many slots it holds; of no effect on one without a
    /// place.
    pub fn count(&mut self, job: JobId, pending: u32, held: u32) {
        if let Some(standing) = self.jobs.get(&job) {
            self.put(job, Some(Standing { pending, held, ..*standing }));
        }
    }

    /// Takes a job out.
    pub fn remove(&mut self, job: JobId) {
        self.put(job, None);
    }

    fn put(&mut self, job: JobId, now: Option<Standing>) {
        let was = match now {
            Some(now) => self.jobs.insert(job, now),
            None => self.jobs.remove(&job),
        };
        let place = |standing: Option<Standing>, has: fn(&Standing) -> bool| {
            standing.filter(has).map(|standing| (standing.rank, job))
        };
        let waits = |standing: &Standing| 0 < standing.pending;
        let holds = |standing: &Standing| 0 < standing.held;
        move_in(&mut self.waiting, place(was, waits), place(now, waits));
        move_in(&mut self.holding, place(was, holds), place(now, holds));
        let held = |standing: Option<Standing>| standing.map_or(0, |standing| standing.held);
        self.held = self.held + held(now) - held(was);
    }

    /// Returns a job's place.
    pub fn place(&self, job: JobId) -> Option<Place> {
        self.jobs.get(&job).map(|standing| (standing.rank, job))
    }

    /// Returns the slots that all jobs hold.
    pub fn held(&self) -> u32 {
        self.held
    }

    /// Returns the jobs with tasks to launch, the first ranks first, with how many.
    pub fn waiting(&self) -> impl Iterator<Item = (Place, u32)> {
        self.waiting.iter().map(|place| (*place, self.jobs[&place.1].pending))
    }

    /// Returns the jobs behind a place that would have to give slots up for so many others, each
    /// with the most that it would give: the last gives first, and nobody gives those that it
    /// is granted whatever happens.
    pub fn in_excess(
        &self,
        behind: Place,
        wanted: u32,
        granted: impl Fn(JobId) -> u32,
    ) -> impl Iterator<Item = (Place, u32)> {
        let mut left = wanted;
        let holding =
            self.holding.range((std::ops::Bound::Excluded(behind), std::ops::Bound::Unbounded));
        holding.rev().map_while(move |place| {
            let own = self.jobs[&place.1].held.saturating_sub(granted(place.1));
            let given = own.min(left);
            let goes_on = 0 < left;
            left -= given;
            goes_on.then_some((*place, given))
        })
    }
}

fn move_in(places: &mut BTreeSet<Place>, from: Option<Place>, to: Option<Place>) {
    if from != to {
        from.inspect(|place| _ = places.remove(place));
        places.extend(to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Jobs 0, 1, 2 … with these counts, in the order of their numbers.
    fn ranking(counts: &[(u32, u32)]) -> Ranking {
        let mut ranking = Ranking::default();
        for (id, (pending, held)) in (0..).zip(counts) {
            ranking.rank(JobId(id), Rank(f64::from(id)));
            ranking.count(JobId(id), *pending, *held);
        }
        ranking
    }

    fn excess(ranking: &Ranking, behind: u32, wanted: u32) -> Vec<(u32, u32)> {
        let behind = ranking.place(JobId(behind)).expect("it stands in line");
        ranking.in_excess(behind, wanted, |_| 0).map(|((_, job), most)| (job.0, most)).collect()
    }

    #[test]
    fn those_with_something_to_launch_come_in_their_order() {
        let mut ranking = ranking(&[(0, 4), (2, 0), (1, 1)]);
        let waiting = |ranking: &Ranking| -> Vec<u32> {
            ranking.waiting().map(|((_, job), _)| job.0).collect()
        };
        assert_eq!(waiting(&ranking), [1, 2]);
        ranking.rank(JobId(2), Rank(-1.0));
        ranking.count(JobId(0), 1, 4);
        assert_eq!(waiting(&ranking), [2, 0, 1]);
        ranking.remove(JobId(0));
        assert_eq!((waiting(&ranking), ranking.held()), (vec![2, 1], 1));
    }

    #[test]
    fn the_last_in_line_give_first_and_no_more_than_is_wanted() {
        let ranking = ranking(&[(5, 0), (0, 10), (0, 3), (0, 4)]);
        assert_eq!(excess(&ranking, 0, 5), [(3, 4), (2, 1)]);
        assert_eq!(excess(&ranking, 0, 99), [(3, 4), (2, 3), (1, 10)]);
        assert_eq!(excess(&ranking, 2, 99), [(3, 4)], "nobody gives to those behind");
        assert!(excess(&ranking, 0, 0).is_empty());
    }

    #[test]
    fn what_is_granted_is_not_given() {
        let ranking = ranking(&[(5, 0), (0, 3), (0, 4)]);
        let behind = ranking.place(JobId(0)).expect("it stands in line");
        let given: Vec<(u32, u32)> =
            ranking.in_excess(behind, 5, |_| 3).map(|((_, job), most)| (job.0, most)).collect();
        assert_eq!(given, [(2, 1), (1, 0)]);
    }
}
