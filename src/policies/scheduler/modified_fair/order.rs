//! The order of jobs and pools (section 3.3): by the slots that they need and the slots that they
//! hold, or as in `fair`.
//!
//! The paper compares each job's part of the pool's pending tasks, and its part of the pool's
//! slots. Here jobs are compared by the numbers of tasks and slots. Since jobs are compared only
//! within a pool, the order is the same.

use std::cmp::Reverse;
use std::sync::Arc;

use super::standings::{SharingPool, SharingTasks};
use crate::scheduler::shared::pool_tree::PoolId;
use crate::scheduler::shared::share::weight;
use mumakil_base::mutated;
use mumakil_base::units::SimTime;
use mumakil_core::mapred::{JobId, Priority, SlotKind};

/// A job's position in its pool; the lowest one is served first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct JobKey {
    priority: Option<Priority>,
    pending: Reverse<u32>,
    /// The number of slots that the job holds, or the bits of a ratio, which sort like the ratios.
    holds: u64,
    arrived: SimTime,
    pub(super) job: JobId,
}

impl JobKey {
    /// Returns a job's position by priority, then arrival.
    pub(super) fn in_line(priority: Priority, arrived: SimTime, job: JobId) -> Self {
        let key = Self { priority: Some(priority), pending: Reverse(0), holds: 0, arrived, job };
        let last = SimTime::from_micros(!arrived.as_micros());
        mutated!(key, "mfair/latest-first" => Self { arrived: last, ..key })
    }

    /// Returns a job's position by priority, then by the slots that it lacks and holds.
    pub(super) fn by_need(self, SharingTasks { running, pending }: SharingTasks) -> Self {
        let key = Self { pending: Reverse(pending), holds: running.into(), ..self };
        mutated!(
            key,
            "mfair/no-priority" => Self { priority: None, ..key },
            "mfair/fewest-pending" => Self { pending: Reverse(!pending), ..key },
            "mfair/not-by-pending" => Self { pending: Reverse(0), ..key },
            "mfair/most-running" => Self { holds: !u64::from(running), ..key },
            "mfair/not-by-running" => Self { holds: 0, ..key },
        )
    }

    /// Returns a job's position by the slots that it holds for its weight, as in `fair`.
    pub(super) fn by_share(self, running: u32) -> Self {
        let weight = self.priority.map_or(1.0, |priority| weight(priority, None));
        Self { priority: None, holds: (f64::from(running) / weight).to_bits(), ..self }
    }
}

/// A pool's position; the lowest one is served first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SharingKey {
    is_served: bool,
    /// The bits of a ratio, which sort like the ratios.
    ratio: u64,
    /// The number of the pool's last launch. Among equal pools the paper picks one at random; here
    /// the pool that has launched nothing for longest comes first, which is just as fair.
    last_launch: u64,
    name: Arc<str>,
    pub(super) pool: PoolId,
}

impl SharingKey {
    /// Returns a pool's position. First come the pools that hold no more slots than their minimum,
    /// or than their pending tasks if there are fewer of them.
    pub(super) fn by_need(pool: &SharingPool, id: PoolId, kind: SlotKind) -> Self {
        let SharingTasks { running, pending } = pool.tasks[kind];
        let min = mutated!(
            pool.min[kind].min(pending),
            "mfair/whole-minimum" => pool.min[kind],
            "mfair/minimum-of-maps" => pool.min[SlotKind::Map].min(pending),
            "mfair/no-pool-minimum" => 0,
        );
        // "No greater than minAllocated" comes first, which includes a pool exactly at its minimum.
        let is_beyond = mutated!(
            min < running,
            "mfair/at-minimum" => min <= running,
            "mfair/beyond-first" => running <= min,
        );
        let last_launch = mutated!(
            pool.last_launch,
            "mfair/pools-by-name" => 0,
            "mfair/last-launch-first" => !pool.last_launch,
        );
        Self { last_launch, ..Self::new(pool, id, running, min, is_beyond) }
    }

    /// Returns a pool's position as in `fair`: pools below their minimum come first.
    pub(super) fn by_share(pool: &SharingPool, id: PoolId, kind: SlotKind) -> Self {
        let running = pool.tasks[kind].running;
        let owed = pool.min[kind].min(pool.demand[kind]);
        // In Hadoop, a pool that has exactly its minimum share does not come first.
        let is_served = mutated!(owed <= running, "mfair/off-minimum" => owed < running);
        Self::new(pool, id, running, owed, is_served)
    }

    fn new(pool: &SharingPool, id: PoolId, running: u32, min: u32, is_served: bool) -> Self {
        let part = match is_served {
            true => mutated!(
                pool.weight,
                "mfair/no-weight" => 1.0,
                "mfair/weight-inverse" => 1.0 / pool.weight,
            ),
            // Hadoop's comparator divides by `max(minShare, 1)`, too.
            false => mutated!(f64::from(min.max(1)), "mfair/minimum-by-count" => 1.0),
        };
        let ratio = (f64::from(running) / part).to_bits();
        Self { is_served, ratio, last_launch: 0, name: pool.name.clone(), pool: id }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: SharingTasks = SharingTasks { running: 2, pending: 5 };

    fn in_line(priority: Priority, number: u32) -> JobKey {
        JobKey::in_line(priority, SimTime::from_micros(9), JobId(number))
    }

    fn tasks(running: u32, pending: u32) -> SharingTasks {
        SharingTasks { running, pending }
    }

    #[test]
    fn jobs_go_by_priority_then_by_what_they_lack_and_hold_then_by_arrival_and_number() {
        use Priority::{High, Low, Normal};
        let earlier = JobKey::in_line(Normal, SimTime::ZERO, JobId(6));
        let in_order = [
            in_line(High, 9).by_need(tasks(9, 1)),
            in_line(Normal, 8).by_need(tasks(9, 6)),
            in_line(Normal, 7).by_need(tasks(1, 5)),
            earlier.by_need(USUAL),
            in_line(Normal, 4).by_need(USUAL),
            in_line(Normal, 5).by_need(USUAL),
            in_line(Low, 1).by_need(tasks(0, 99)),
        ];
        assert!(in_order.is_sorted());
    }

    #[test]
    fn as_in_fair_jobs_go_by_what_they_hold_for_their_weight_or_in_line() {
        let heavy = in_line(Priority::High, 3);
        let light = JobKey::in_line(Priority::Normal, SimTime::from_micros(10), JobId(2));
        let less = in_line(Priority::Normal, 8);
        assert!([less.by_share(1), heavy.by_share(4), light.by_share(2)].is_sorted());
        assert!([heavy, less, light].is_sorted());
    }

    /// Returns a pool that holds two of three guaranteed slots and has nine waiting tasks.
    fn pool(change: impl FnOnce(&mut SharingPool)) -> SharingPool {
        let mut pool = SharingPool::default();
        (pool.weight, pool.last_launch, pool.name) = (1.0, 5, "p".into());
        (pool.tasks.map, pool.demand.map, pool.min.map) = (tasks(2, 9), 11, 3);
        change(&mut pool);
        pool
    }

    fn by_need(number: u32, change: impl FnOnce(&mut SharingPool)) -> SharingKey {
        SharingKey::by_need(&pool(change), PoolId(number), SlotKind::Map)
    }

    fn by_share(number: u32, change: impl FnOnce(&mut SharingPool)) -> SharingKey {
        SharingKey::by_share(&pool(change), PoolId(number), SlotKind::Map)
    }

    #[test]
    fn pools_within_their_minimum_go_first_then_those_with_least_for_their_weight() {
        let in_order = [
            by_need(8, |pool| pool.tasks.map.running = 0),
            by_need(7, |pool| (pool.tasks.map.running, pool.min.map) = (3, 6)),
            by_need(6, |_| {}),
            // A pool that has exactly its minimum still counts as within its minimum.
            by_need(5, |pool| pool.tasks.map.running = 3),
            // With only one pending task, the pool's minimum counts as one.
            by_need(4, |pool| (pool.tasks.map.pending, pool.weight) = (1, 2.0)),
            by_need(9, |pool| {
                (pool.tasks.map.running, pool.weight, pool.last_launch) = (4, 3.0, 4);
            }),
            by_need(3, |pool| (pool.tasks.map.running, pool.weight) = (4, 3.0)),
            by_need(2, |pool| pool.tasks.map.running = 4),
        ];
        assert!(in_order.is_sorted());
    }

    #[test]
    fn without_a_minimum_a_pool_is_within_it_as_long_as_it_has_nothing() {
        let none = |pool: &mut SharingPool| (pool.min.map, pool.tasks.map.running) = (0, 0);
        let some = |pool: &mut SharingPool| pool.tasks.map.running = 1;
        assert!(by_need(2, none) < by_need(1, some));
        assert!(by_share(1, some) < by_share(2, none), "a minimum of 0 gives no precedence");
    }

    #[test]
    fn as_in_fair_pools_at_their_minimum_are_served_and_ties_go_by_name() {
        let below = by_share(3, |pool| pool.weight = 0.1);
        let at = by_share(2, |pool| pool.tasks.map.running = 3);
        let other = by_share(1, |pool| {
            (pool.tasks.map.running, pool.last_launch) = (3, 0);
            pool.name = "q".into();
        });
        assert!([below, at, other].is_sorted());
    }
}
