//! Which jobs are small (section 3.1): those as small as the smallest there is.
//!
//! A job's size is the number of its maps. Small jobs get slots of their own, in a pool that all users
//! share, as long as they are few: no more than one to a node's slots.

use crate::mapred::{PerSlot, SlotKind};

/// What small jobs are at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Small {
    /// The maps of the smallest job.
    pub(super) maps: u32,
    /// The slots that small jobs have together.
    pub(super) slots: PerSlot<u32>,
}

/// Returns which of the jobs with these tasks are small; none are if they are too many.
///
/// Their slots are half of what the smallest job has tasks, rounded up. Small jobs have equally many
/// maps; of their numbers of reduces the largest counts, so that a job without any does not keep
/// another from ending.
pub(super) fn small(
    jobs: impl Iterator<Item = PerSlot<u32>> + Clone,
    map_slots_per_node: f64,
) -> Option<Small> {
    let maps = jobs.clone().map(|tasks| tasks.map).min()?;
    let all = jobs.clone().count();
    let small = jobs.filter(|tasks| tasks.map == maps);
    if all as f64 / map_slots_per_node < small.clone().count() as f64 {
        return None;
    }
    let reduces = small.map(|tasks| tasks.reduce).max().unwrap_or(0);
    let tasks = PerSlot { map: maps, reduce: reduces };
    let mut slots = PerSlot::default();
    for kind in SlotKind::BOTH {
        slots[kind] = tasks[kind].div_ceil(2);
    }
    Some(Small { maps, slots })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(jobs: &[(u32, u32)], map_slots_per_node: f64) -> Option<(u32, u32, u32)> {
        let jobs = jobs.iter().map(|(map, reduce)| PerSlot { map: *map, reduce: *reduce });
        let small = small(jobs, map_slots_per_node)?;
        Some((small.maps, small.slots.map, small.slots.reduce))
    }

    #[test]
    fn the_smallest_job_gets_half_the_slots_that_it_could_use() {
        // The paper's example: four maps and two reduces get two slots and one.
        assert_eq!(found(&[(9, 1), (4, 2), (30, 0), (16, 4)], 4.0), Some((4, 2, 1)));
        assert_eq!(found(&[(5, 1), (8, 1)], 2.0), Some((5, 3, 1)), "rounded up");
    }

    #[test]
    fn more_than_one_small_job_to_a_nodes_slots_are_too_many() {
        // The paper's example: four slots on a node make a quarter of the jobs the most.
        let jobs = [(6, 1), (9, 1), (9, 1), (9, 1), (9, 1), (9, 1), (9, 1), (6, 1)];
        assert_eq!(found(&jobs, 4.0), Some((6, 3, 1)));
        assert_eq!(found(&jobs[1..], 4.0), Some((6, 3, 1)));
        assert_eq!(found(&[jobs[0], jobs[1], jobs[7]], 4.0), None);
        assert_eq!(found(&[(6, 1); 5], 4.0), None, "all alike");
        assert_eq!(found(&[(6, 1)], 1.0), Some((6, 3, 1)), "one slot on a node");
        assert_eq!(found(&[], 4.0), None);
    }

    #[test]
    fn a_small_job_without_reduces_keeps_no_other_from_ending() {
        assert_eq!(found(&[(2, 0), (2, 3), (9, 9), (9, 9)], 2.0), Some((2, 1, 2)));
    }
}
