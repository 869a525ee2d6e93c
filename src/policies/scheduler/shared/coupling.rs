//! Coupling: a job's reduces are launched in step with its maps.
//!
//! After Tan et al. (Performance analysis of coupling scheduler for MapReduce/Hadoop, INFOCOM
//! 2012): a reduce that is launched early holds its slot until the last map has ended. So the
//! launched share of a job's reduces never exceeds the ended share of its maps, rounded up to a
//! whole reduce.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use mumakil_core::mapred::{Job, SlotKind};

/// The condition that holds reduces back after the slow start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReduceGate {
    /// No condition.
    #[default]
    Open,
    /// Reduces start in step with the job's maps: the share of reduces started is at most the share
    /// of maps that have ended or failed for good, rounded up to a whole reduce.
    Coupling,
}

impl ReduceGate {
    /// Returns how many more reduces of a job may be launched. Reduces that are held back do not
    /// count as demand: more slots would not help the job.
    pub fn pending(self, job: &Job) -> u32 {
        self.permitted_launches(job, job.waiting(SlotKind::Reduce))
    }

    /// As [`ReduceGate::pending`], but as if the slow start were over.
    pub fn pending_ever(self, job: &Job) -> u32 {
        self.permitted_launches(job, job.unstarted_reduces())
    }

    /// Returns how many reduces may be launched if `waiting` reduces have not started.
    fn permitted_launches(self, job: &Job, waiting: u32) -> u32 {
        // The pending reduces are the waiting reduces, and slow running reduces, which may get
        // second attempts.
        let slow = job.pending(SlotKind::Reduce) - job.waiting(SlotKind::Reduce);
        if self == Self::Open {
            return waiting + slow;
        }
        let (maps, reduces) = (job.tasks(SlotKind::Map), job.tasks(SlotKind::Reduce));
        // Reduces that do not wait have been launched or have failed for good. During the slow
        // start no reduce counts as waiting, so the result is 0.
        let launched = reduces.total() - waiting;
        let over = maps.finished() + maps.failed();
        let in_step = in_step(over, maps.total(), reduces.total()).saturating_sub(launched);
        // Second attempts are not held back, since their reduces have started already.
        waiting.min(in_step) + slow
    }
}

/// Returns how many of a job's `reduces` reduces may have been launched once `maps_over` of its
/// `maps` maps have ended or failed for good.
fn in_step(maps_over: u32, maps: u32, reduces: u32) -> u32 {
    // This covers a job without maps, for which the division below is impossible.
    if maps_over == maps {
        return reduces;
    }
    let share = u64::from(maps_over) * u64::from(reduces);
    share.div_ceil(u64::from(maps)) as u32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_launched_share_of_reduces_is_that_of_maps_rounded_up() {
        let launched = |over| in_step(over, 100, 8);
        assert_eq!([0, 1, 12, 13, 50, 99, 100].map(launched), [0, 1, 1, 2, 4, 8, 8]);
        assert_eq!(in_step(0, 0, 3), 3, "without maps, all reduces may start");
    }

    proptest! {
        #[test]
        fn more_maps_never_let_fewer_reduces_pass(maps in 1u32..500, reduces in 0u32..500, over in 0u32..500) {
            let over = over.min(maps - 1);
            prop_assert!(in_step(over, maps, reduces) <= in_step(over + 1, maps, reduces));
            prop_assert_eq!(in_step(maps, maps, reduces), reduces);
        }
    }
}
