//! The number of slots that a pool may have until the next allotment (section 3.2): free slots are
//! divided among pools by their pending tasks.
//!
//! A maximum may limit the slots that a pool has, or those that one allotment gives to it
//! ([`Maximum`]). The pool that small jobs share takes no part in allotments.
//!
//! Slots are allotted whenever some have become free, and always to all pools. To be fast, an
//! allotment visits only pools that have changed: the limit of a pool is computed when it is read
//! ([`Share`]), and the demand of all pools from the number of pools with equal needs
//! ([`PoolNeeds`]).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use mumakil_base::mutated;
use mumakil_core::mapred::step;

/// The number of slots that a pool's maximum limits.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Maximum {
    /// Those that it has, as in `fair`.
    #[default]
    Cap,
    /// Those that one allotment gives it, so in the end it may have all slots.
    Round,
}

/// The tasks and the bounds of a pool for one kind of slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PoolNeed {
    pub(super) running: u32,
    pub(super) pending: u32,
    /// The number of slots that the pool is guaranteed.
    pub(super) min: u32,
    /// The largest number of slots that the pool gets: in all, or in one allotment.
    pub(super) max: u32,
    pub(super) maximum: Maximum,
}

/// The result of an allotment: how the free slots are divided among pools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Share {
    /// Slots are not divided: each pool may have its maximum.
    #[default]
    All,
    /// Pools get parts of `slots` free slots, in proportion to their parts of `pending` pending
    /// tasks.
    Free { slots: u32, pending: u64 },
}

impl PoolNeed {
    /// Returns the largest number of slots that the pool may have now.
    pub(super) fn limit(self, share: Share) -> u32 {
        match share {
            Share::All => self.max,
            Share::Free { slots, pending } => self.allot(slots, pending),
        }
    }

    /// Returns the largest number of slots that the pool may have, if `free` slots are free for
    /// `all_pending` pending tasks.
    ///
    /// The pool keeps the slots that it has, and gets its part of the free slots: rounded up, and
    /// at least one. The part is at least one because a tracker may have a slot that is free but
    /// does not count as free: an attempt that waits for its commit still counts as running. In any
    /// case the pool may have as many of its guaranteed slots as it has tasks. So whether the pool
    /// may have one more slot does not depend on the number of free slots.
    fn allot(self, free: u32, all_pending: u64) -> u32 {
        let Self { running, pending, min, maximum, .. } = self;
        let tasks = mutated!(pending, "mfair/by-all-tasks" => running + pending);
        let (product, all) = (u64::from(free) * u64::from(tasks), all_pending.max(1));
        // The part is at most `free`, so it fits.
        let part = mutated!(product.div_ceil(all), "mfair/part-down" => product / all) as u32;
        let gets = part.max(mutated!(1, "mfair/no-least-part" => 0));
        let owed = mutated!(min.min(running + pending), "mfair/no-minimum" => 0);
        let has = mutated!(running, "mfair/part-is-all" => 0);
        let max = mutated!(self.max, "mfair/no-maximum" => u32::MAX);
        if mutated!(maximum == Maximum::Cap, "mfair/other-maximum" => maximum != Maximum::Cap) {
            (has + gets).max(owed).min(max)
        } else {
            (has + gets.min(max)).max(owed)
        }
    }

    /// Returns how many tasks the pool runs, even beyond its limit, or could run within.
    pub(super) fn demand(self, limit: u32) -> u32 {
        let most = mutated!(limit.max(self.running), "mfair/demand-of-all" => u32::MAX);
        (self.running + self.pending).min(most)
    }

    /// Returns the key under which pools with equal needs are counted.
    fn alike(self) -> Self {
        // Without a minimum and a maximum, the number of running tasks makes no difference.
        let is_bounded = 0 < self.min || self.max < u32::MAX;
        if is_bounded { self } else { Self { running: 0, ..self } }
    }
}

/// The needs of pools for one kind of slot.
#[derive(Debug, Default)]
pub(super) struct PoolNeeds {
    /// The number of pools with each need; pools without pending tasks are left out.
    alike: BTreeMap<PoolNeed, u32>,
    pub(super) pending: u64,
}

impl PoolNeeds {
    /// Notes that a pool's need has changed.
    pub(super) fn change(&mut self, was: PoolNeed, now: PoolNeed) {
        // Pools without pending tasks lack nothing and are not kept.
        if 0 < was.pending
            && let Some(pools) = self.alike.get_mut(&was.alike())
        {
            *pools -= 1;
            if *pools == 0 {
                self.alike.remove(&was.alike());
            }
        }
        if 0 < now.pending {
            *self.alike.entry(now.alike()).or_default() += 1;
        }
        self.pending = self.pending - u64::from(was.pending) + u64::from(now.pending);
    }

    /// Returns how many more slots all pools could use within their limits.
    pub(super) fn lacking(&self, share: Share) -> u32 {
        let lacks = |need: &PoolNeed| need.demand(need.limit(share)) - need.running;
        self.alike.iter().inspect(|_| step()).map(|(need, pools)| pools * lacks(need)).sum()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn need(running: u32, pending: u32) -> PoolNeed {
        PoolNeed { running, pending, min: 0, max: u32::MAX, maximum: Maximum::Cap }
    }

    #[test]
    fn free_slots_are_allotted_in_proportion_to_pending_tasks() {
        let pools = [need(0, 30), need(4, 20), need(2, 10)];
        assert_eq!(pools.map(|pool| pool.allot(12, 60)), [6, 8, 4]);
        assert_eq!(pools.map(|pool| pool.allot(10, 60)), [5, 4 + 4, 2 + 2], "rounded up");
    }

    #[test]
    fn a_pool_has_no_more_than_its_maximum_and_may_have_its_minimum() {
        assert_eq!(PoolNeed { max: 6, ..need(0, 30) }.allot(32, 30), 6);
        assert_eq!(PoolNeed { max: 6, ..need(9, 30) }.allot(32, 30), 6, "it keeps its nine slots");
        assert_eq!(PoolNeed { min: 3, ..need(0, 10) }.allot(2, 100), 3);
        assert_eq!(PoolNeed { min: 3, ..need(0, 2) }.allot(2, 100), 2, "it has only two tasks");
    }

    #[test]
    fn a_maximum_of_a_round_bounds_what_is_allotted_and_not_what_a_pool_has() {
        let need = |running| PoolNeed { max: 6, maximum: Maximum::Round, ..need(running, 30) };
        assert_eq!([0, 6, 12].map(|running| need(running).allot(16 - running, 30)), [6, 12, 16]);
        assert_eq!(PoolNeed { min: 8, ..need(0) }.allot(16, 30), 8, "its minimum is eight");
    }

    #[test]
    fn a_slot_that_is_free_while_its_task_waits_for_its_commit_finds_a_taker() {
        assert_eq!(need(5, 7).allot(0, 9), 6);
        assert_eq!(need(0, 0).allot(0, 0), 1);
    }

    proptest! {
        #[test]
        fn the_lack_of_pools_is_the_sum_over_them(
            pools in prop::collection::vec(
                (0u32..9, 0u32..9, prop_oneof![Just(0), 0u32..6], prop_oneof![Just(u32::MAX), 0u32..9]),
                0..30,
            ),
            free in 0u32..60,
            by_round in any::<bool>(),
        ) {
            let maximum = if by_round { Maximum::Round } else { Maximum::Cap };
            let mut needs = PoolNeeds::default();
            let pools: Vec<PoolNeed> = pools
                .into_iter()
                .map(|(running, pending, min, max)| PoolNeed { running, pending, min, max, maximum })
                .collect();
            // Before the change, each pool has the need of another pool.
            for (other, need) in pools.iter().zip(pools.iter().rev()) {
                needs.change(PoolNeed { pending: 0, ..*other }, *other);
                needs.change(*other, *need);
            }
            let pending: u64 = pools.iter().map(|pool| u64::from(pool.pending)).sum();
            prop_assert_eq!(needs.pending, pending);
            for share in [Share::All, Share::Free { slots: free, pending }] {
                let each = pools.iter().map(|pool| pool.demand(pool.limit(share)) - pool.running);
                prop_assert_eq!(needs.lacking(share), each.sum::<u32>());
            }
        }

        /// This is why an allotment need not visit pools that have not changed.
        #[test]
        fn whether_a_pool_may_have_more_depends_on_itself_alone(
            (running, pending, min, max) in (0u32..9, 0u32..9, 0u32..9, 0u32..9),
            shares in [(0u32..60, 1u64..90), (0u32..60, 1u64..90)],
            by_round in any::<bool>(),
        ) {
            let maximum = if by_round { Maximum::Round } else { Maximum::Cap };
            let need = PoolNeed { running, pending, min, max, maximum };
            let [one, other] = shares.map(|(slots, pending)| {
                let limit = need.limit(Share::Free { slots, pending });
                (running < limit, min.min(need.demand(limit)))
            });
            prop_assert_eq!(one, other);
        }

        #[test]
        fn all_free_slots_are_allotted(
            pools in prop::collection::vec((0u32..50, 1u32..500), 1..9),
            free in 0u32..400,
        ) {
            let all: u64 = pools.iter().map(|(_, pending)| u64::from(*pending)).sum();
            let more = pools.iter().map(|(running, pending)| {
                need(*running, *pending).allot(free, all) - running
            });
            prop_assert!(free <= more.sum());
        }
    }
}
