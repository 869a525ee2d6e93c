//! Who comes first (section 3.3): by what jobs and pools need and hold, or as in `fair`.
//!
//! The paper compares a job's part of what is pending in its pool, and of what the pool holds. Jobs are
//! compared with others of their pool alone, so the numbers themselves have the same order.

use std::cmp::Reverse;
use std::sync::Arc;

use crate::scheduler::part::pool_tree::PoolId;
use crate::scheduler::part::pools::JobOrder;
use crate::scheduler::part::share::weight;
use mumakil_base::units::SimTime;
use mumakil_core::mapred::{JobId, Priority};

/// What a job has, and what it lacks.
#[derive(Clone, Copy, Debug)]
pub(super) struct JobStanding {
    pub(super) priority: Priority,
    pub(super) running: u32,
    pub(super) pending: u32,
    pub(super) arrived: SimTime,
    pub(super) job: JobId,
}

/// A job's place in its pool, the first one first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct JobKey {
    priority: Option<Priority>,
    pending: Reverse<u32>,
    /// What it holds; the bits of a ratio, which are in the order of the ratios.
    holds: u64,
    arrived: SimTime,
    pub(super) job: JobId,
}

impl JobStanding {
    /// Returns the job's place by priority, then by what it lacks and by what it has.
    pub(super) fn by_need(self) -> JobKey {
        let (pending, holds) = (Reverse(self.pending), self.running.into());
        JobKey { pending, holds, ..self.in_line() }
    }

    /// Returns the job's place in a pool with this order under `fair`.
    pub(super) fn by_order(self, order: JobOrder) -> JobKey {
        let holds = (f64::from(self.running) / weight(self.priority, None)).to_bits();
        match order {
            JobOrder::Fifo => self.in_line(),
            JobOrder::Fair => JobKey { priority: None, holds, ..self.in_line() },
        }
    }

    fn in_line(self) -> JobKey {
        let Self { priority, arrived, job, .. } = self;
        JobKey { priority: Some(priority), pending: Reverse(0), holds: 0, arrived, job }
    }
}

/// What a pool has, and what it is owed.
#[derive(Clone, Debug)]
pub(super) struct PoolStanding {
    pub(super) running: u32,
    pub(super) pending: u32,
    /// What it has and could use, within its limit.
    pub(super) demand: u32,
    pub(super) min: u32,
    pub(super) weight: f64,
    /// The number of the last launch out of it.
    pub(super) last_launch: u64,
    pub(super) name: Arc<str>,
    pub(super) pool: PoolId,
}

/// A pool's place, the first one first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PoolKey {
    is_served: bool,
    /// The bits of a ratio, which are in the order of the ratios.
    ratio: u64,
    /// Of equal pools the paper takes any. The one that has launched nothing for longest favours
    /// nobody either.
    last_launch: u64,
    name: Arc<str>,
    pub(super) pool: PoolId,
}

impl PoolKey {}

impl PoolStanding {
    /// Returns the pool's place: those within their minimum, or what they lack of it, go first.
    pub(super) fn by_need(self) -> PoolKey {
        let min = self.min.min(self.pending);
        let last_launch = self.last_launch;
        let is_served = min < self.running;
        PoolKey { last_launch, ..self.key(is_served, min) }
    }

    /// Returns the pool's place under `fair`: those below their minimum go first.
    pub(super) fn by_share(self) -> PoolKey {
        let owed = self.min.min(self.demand);
        let is_served = owed <= self.running;
        self.key(is_served, owed)
    }

    fn key(self, is_served: bool, min: u32) -> PoolKey {
        let part = if is_served { self.weight } else { f64::from(min.max(1)) };
        let ratio = (f64::from(self.running) / part).to_bits();
        PoolKey { is_served, ratio, last_launch: 0, name: self.name, pool: self.pool }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(number: u32) -> JobStanding {
        JobStanding {
            priority: Priority::Normal,
            running: 2,
            pending: 5,
            arrived: SimTime::from_micros(9),
            job: JobId(number),
        }
    }

    fn pool(number: u32) -> PoolStanding {
        PoolStanding {
            running: 2,
            pending: 9,
            demand: 11,
            min: 3,
            weight: 1.0,
            last_launch: 5,
            name: "p".into(),
            pool: PoolId(number),
        }
    }

    #[test]
    fn jobs_go_by_priority_then_by_what_they_lack_and_hold_then_by_arrival_and_number() {
        let in_order = [
            JobStanding { priority: Priority::High, pending: 1, running: 9, ..job(9) },
            JobStanding { pending: 6, running: 9, ..job(8) },
            JobStanding { running: 1, ..job(7) },
            JobStanding { arrived: SimTime::ZERO, ..job(6) },
            job(4),
            job(5),
            JobStanding { priority: Priority::Low, pending: 99, running: 0, ..job(1) },
        ];
        assert!(in_order.map(JobStanding::by_need).is_sorted());
    }

    #[test]
    fn as_in_fair_jobs_go_by_what_they_hold_for_their_weight_or_in_line() {
        let heavy = JobStanding { priority: Priority::High, running: 4, pending: 1, ..job(3) };
        let light = JobStanding { arrived: SimTime::from_micros(10), ..job(2) };
        let less = JobStanding { running: 1, ..job(8) };
        assert!([less, heavy, light].map(|job| job.by_order(JobOrder::Fair)).is_sorted());
        assert!([heavy, less, light].map(|job| job.by_order(JobOrder::Fifo)).is_sorted());
    }

    #[test]
    fn pools_within_their_minimum_go_first_then_those_with_least_for_their_weight() {
        let in_order = [
            PoolStanding { running: 0, ..pool(8) },
            PoolStanding { running: 3, min: 6, ..pool(7) },
            pool(6),
            // Exactly at its minimum is within it.
            PoolStanding { running: 3, ..pool(5) },
            // It lacks but one, so one is its minimum.
            PoolStanding { pending: 1, weight: 2.0, ..pool(4) },
            PoolStanding { running: 4, weight: 3.0, last_launch: 4, ..pool(9) },
            PoolStanding { running: 4, weight: 3.0, ..pool(3) },
            PoolStanding { running: 4, ..pool(2) },
        ];
        assert!(in_order.map(PoolStanding::by_need).is_sorted());
    }

    #[test]
    fn without_a_minimum_a_pool_is_within_it_as_long_as_it_has_nothing() {
        let none = PoolStanding { min: 0, running: 0, ..pool(2) };
        let some = PoolStanding { running: 1, ..pool(1) };
        assert!(none.clone().by_need() < some.clone().by_need());
        assert!(some.by_share() < none.by_share(), "as in fair it is owed nothing");
    }

    #[test]
    fn as_in_fair_pools_at_their_minimum_are_served_and_ties_go_by_name() {
        let below = PoolStanding { weight: 0.1, ..pool(3) };
        let at = PoolStanding { running: 3, ..pool(2) };
        let other = PoolStanding { running: 3, name: "q".into(), last_launch: 0, ..pool(1) };
        assert!([below, at, other].map(PoolStanding::by_share).is_sorted());
    }
}
