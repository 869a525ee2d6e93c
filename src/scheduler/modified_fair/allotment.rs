//! How many slots a pool may have until they are allotted again (section 3.2): the free ones go by what
//! is pending.
//!
//! "To prevent one user pool with heavy workload from getting too much resource, the actual number of
//! allocated slots cannot exceed the maximum number": the slots that it has then, or those that it is
//! allotted at a time. Both are there ([`Maximum`]).
//!
//! This is not for the pool that small jobs share: to the letter of the paper it never has more than
//! half of what one of them could use, even while slots are idle.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a pool's maximum bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Maximum {
    /// The slots that the pool has, as in `fair`.
    #[default]
    Cap,
    /// The slots that the pool is allotted at a time, in addition to those that it has: with an
    /// update, or when slots have become free. So in the end a pool may have all slots.
    Round,
}

/// A pool that wants slots of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Need {
    /// The slots that it has.
    pub(super) running: u32,
    /// The tasks that wait for one.
    pub(super) pending: u32,
    /// The slots that it is promised.
    pub(super) min: u32,
    /// The most that it gets, in all or now.
    pub(super) max: u32,
    pub(super) maximum: Maximum,
}

impl Need {
    /// Returns the slots that the pool may have, if so many are free for so many pending tasks.
    ///
    /// It keeps those that it has and gets its part of the free ones: rounded up, and at least one,
    /// since a tracker has a free slot already while an attempt there waits for its commit, and still
    /// counts as running. What it is promised it may have in any case, as far as it has tasks.
    pub(super) fn allot(self, free: u32, all_pending: u64) -> u32 {
        let part = u64::from(free) * u64::from(self.pending);
        // No larger than what is free.
        let part = part.div_ceil(all_pending.max(1)) as u32;
        let owed = self.min.min(self.running + self.pending);
        match self.maximum {
            Maximum::Cap => (self.running + part.max(1)).max(owed).min(self.max),
            Maximum::Round => (self.running + part.max(1).min(self.max)).max(owed),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn need(running: u32, pending: u32) -> Need {
        Need { running, pending, min: 0, max: u32::MAX, maximum: Maximum::Cap }
    }

    #[test]
    fn free_slots_are_allotted_in_proportion_to_pending_tasks() {
        let pools = [need(0, 30), need(4, 20), need(2, 10)];
        assert_eq!(pools.map(|pool| pool.allot(12, 60)), [6, 8, 4]);
        assert_eq!(pools.map(|pool| pool.allot(10, 60)), [5, 4 + 4, 2 + 2], "rounded up");
    }

    #[test]
    fn a_pool_has_no_more_than_its_maximum_and_may_have_its_minimum() {
        assert_eq!(Need { max: 6, ..need(0, 30) }.allot(32, 30), 6);
        assert_eq!(Need { max: 6, ..need(9, 30) }.allot(32, 30), 6, "nothing is taken from it");
        assert_eq!(Need { min: 3, ..need(0, 10) }.allot(2, 100), 3);
        assert_eq!(Need { min: 3, ..need(0, 2) }.allot(2, 100), 2, "it has but two tasks");
    }

    #[test]
    fn a_maximum_of_a_round_bounds_what_is_allotted_and_not_what_a_pool_has() {
        let need = |running| Need { max: 6, maximum: Maximum::Round, ..need(running, 30) };
        assert_eq!([0, 6, 12].map(|running| need(running).allot(16 - running, 30)), [6, 12, 16]);
        assert_eq!(Need { min: 8, ..need(0) }.allot(16, 30), 8, "it is promised more");
    }

    #[test]
    fn a_slot_that_is_free_while_its_task_waits_for_its_commit_finds_a_taker() {
        assert_eq!(need(5, 7).allot(0, 9), 6);
        assert_eq!(need(0, 0).allot(0, 0), 1);
    }

    proptest! {
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
