//! `waste.csv`.

use super::cell::{CellText, SlotMillis};
use crate::table;

table! {
    /// Useful and wasted slot time of each job, and stragglers' cost. Slot time is in slots times
    /// milliseconds.
    "waste.csv" pub struct WasteRow {
        /// The number of the job.
        job: u32,
        /// Its name.
        name: CellText,
        /// The slot time of its attempts.
        #[quantity = "held"]
        held_ms: SlotMillis,
        /// Of attempts that succeeded.
        useful_ms: SlotMillis,
        /// The part of this that was in vain.
        #[quantity = "wasted"]
        wasted_ms: SlotMillis,
        /// Of attempts that failed.
        failed_ms: SlotMillis,
        /// Of attempts that were slower than another one of their task.
        speculative_ms: SlotMillis,
        /// Of attempts that were lost with their tracker, or whose output was.
        lost_ms: SlotMillis,
        /// Of attempts that were killed though their job went on.
        preempted_ms: SlotMillis,
        /// Of attempts of a job that failed or was killed.
        killed_ms: SlotMillis,
        /// Of attempts that had not ended when the run stopped.
        unfinished_ms: SlotMillis,
        /// Its second attempts of tasks that ran already.
        #[quantity = "second_attempts"]
        second_attempts: u32,
        /// Those of them that succeeded.
        #[quantity = "second_attempts_won"]
        second_attempts_won: u32,
        /// How much earlier its last map would have ended without stragglers.
        map_straggling_ms: Option<u64>,
        /// How much earlier its last reduce would have ended without stragglers.
        reduce_straggling_ms: Option<u64>,
        /// Its sojourn, divided by the one that it would have had if none of its tasks took longer than their median.
        #[quantity = "straggling"]
        straggling: Option<f64>,
    }
}
