//! Finds the small jobs (section 3.1): all jobs that are as small as the smallest one.
//!
//! A job's size is the number of its maps. Small jobs get slots of their own, in a pool that all
//! users share, as long as they are few: with four map slots on a node, at most a quarter of all
//! jobs may be small.

use std::collections::{BTreeMap, BTreeSet};

use mumakil_base::mutated;
use mumakil_core::mapred::{JobId, PerSlot};

#[derive(Debug, Default)]
pub(super) struct Classes {
    /// The jobs by their number of maps, each with the number of its reduces.
    by_maps: BTreeMap<u32, BTreeSet<(u32, JobId)>>,
    jobs: usize,
}

/// The jobs that count as small now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SmallJobs {
    pub(super) maps: u32,
    /// The number of slots that all small jobs have together.
    pub(super) slots: PerSlot<u32>,
}

impl Classes {
    pub(super) fn enter(&mut self, job: JobId, total: PerSlot<u32>) {
        self.jobs +=
            usize::from(self.by_maps.entry(total.map).or_default().insert((total.reduce, job)));
    }

    pub(super) fn leave(&mut self, job: JobId, total: PerSlot<u32>) {
        let class = mutated!(self.by_maps.get_mut(&total.map), "mfair/gone-jobs" => None);
        let Some(class) = class else { return };
        self.jobs -= usize::from(class.remove(&(total.reduce, job)));
        if class.is_empty() {
            self.by_maps.remove(&total.map);
        }
    }

    pub(super) fn of(&self, maps: u32) -> Vec<JobId> {
        self.by_maps.get(&maps).into_iter().flatten().map(|(_, job)| *job).collect()
    }

    /// Returns the small jobs; `None` if there are too many of them, or no jobs at all.
    ///
    /// Their slots are half of the tasks of one small job, rounded up. All small jobs have the same
    /// number of maps. For reduces, the small job with the most reduces counts; otherwise a small
    /// job without reduces could leave the other small jobs without reduce slots.
    pub(super) fn small(&self, map_slots_per_node: f64) -> Option<SmallJobs> {
        let (maps, class) = mutated!(
            self.by_maps.first_key_value()?,
            "mfair/largest" => self.by_maps.last_key_value()?,
        );
        // The paper's test, small / all > 1 / slots of a node, rearranged.
        let (many, most) = (class.len() as f64, self.jobs as f64 / map_slots_per_node);
        if mutated!(most < many, "mfair/quarter" => most < many + 1.0, "mfair/too-many" => false) {
            return None;
        }
        // The set is sorted by the number of reduces, so its last job has the most.
        let last = mutated!(class.last(), "mfair/fewest-reduces" => class.first());
        let tasks = PerSlot { map: *maps, reduce: last.map_or(0, |(reduces, _)| *reduces) };
        let slots = mutated!(
            PerSlot::of(|kind| tasks[kind].div_ceil(2)),
            "mfair/all-slots" => tasks,
            "mfair/half-down" => PerSlot::of(|kind| tasks[kind] / 2),
        );
        Some(SmallJobs { maps: *maps, slots })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(jobs: &[(u32, u32)], map_slots_per_node: f64) -> Option<(u32, u32, u32)> {
        let mut classes = Classes::default();
        for (job, (map, reduce)) in (0..).map(JobId).zip(jobs) {
            classes.enter(job, PerSlot { map: *map, reduce: *reduce });
        }
        let small = classes.small(map_slots_per_node)?;
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
        // The paper's example: with four slots on a node, at most a quarter of the jobs may be
        // small.
        let jobs = [(6, 1), (9, 1), (9, 1), (9, 1), (9, 1), (9, 1), (9, 1), (6, 1)];
        assert_eq!(found(&jobs, 4.0), Some((6, 3, 1)));
        assert_eq!(found(&jobs[1..], 4.0), Some((6, 3, 1)));
        assert_eq!(found(&[jobs[0], jobs[1], jobs[7]], 4.0), None);
        assert_eq!(found(&[(6, 1); 5], 4.0), None, "all jobs are small");
        assert_eq!(found(&[(6, 1)], 1.0), Some((6, 3, 1)), "all jobs may be small");
        assert_eq!(found(&[], 4.0), None);
    }

    #[test]
    fn a_small_job_without_reduces_keeps_no_other_from_ending() {
        assert_eq!(found(&[(2, 0), (2, 3), (9, 9), (9, 9)], 2.0), Some((2, 1, 2)));
    }

    #[test]
    fn a_job_that_has_gone_is_smallest_no_more() {
        let [few, many] = [4, 9].map(|map| PerSlot { map, reduce: 1 });
        let mut classes = Classes::default();
        classes.enter(JobId(0), few);
        classes.enter(JobId(1), many);
        classes.leave(JobId(0), few);
        classes.leave(JobId(0), few);
        assert_eq!(classes.small(1.0).map(|small| small.maps), Some(9));
        assert_eq!([4, 9].map(|maps| classes.of(maps).len()), [0, 1]);
        classes.leave(JobId(1), many);
        assert_eq!(classes.small(1.0), None);
    }
}
