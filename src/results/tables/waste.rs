//! `waste.csv`.

use super::cell::{CellText, SlotMillis};
use crate::table;

table! {
    /// Each job's useful and wasted slot time, and its stragglers' cost. Slot time is in
    /// slots times milliseconds.
    "waste.csv" pub struct WasteRow {
        /// The number of the job.
        job: u32,
        /// Its name.
        name: CellText,
        /// The slot time of its attempts.
        #[quantity = "held"]
        held_ms: SlotMillis,
        /// The slot time of attempts that succeeded.
        useful_ms: SlotMillis,
        /// The wasted part of the slot time.
        #[quantity = "wasted"]
        wasted_ms: SlotMillis,
        /// The slot time of attempts that failed.
        failed_ms: SlotMillis,
        /// The slot time of attempts that were slower than another attempt of their task.
        speculative_ms: SlotMillis,
        /// The slot time of attempts that were lost with their tracker, or whose output was lost.
        lost_ms: SlotMillis,
        /// The slot time of attempts that were killed although their job went on.
        preempted_ms: SlotMillis,
        /// The slot time of attempts of a job that failed or was killed.
        killed_ms: SlotMillis,
        /// The slot time of attempts that had not ended when the run stopped.
        unfinished_ms: SlotMillis,
        /// The number of its second attempts of tasks that were already running.
        #[quantity = "second_attempts"]
        second_attempts: u32,
        /// The number of those second attempts that succeeded.
        #[quantity = "second_attempts_won"]
        second_attempts_won: u32,
        /// How much earlier its last map would have ended without stragglers.
        map_straggling_ms: Option<u64>,
        /// How much earlier its last reduce would have ended without stragglers.
        reduce_straggling_ms: Option<u64>,
        /// Its sojourn divided by the sojourn that it would have had if no task took longer than
        /// the median of its kind.
        #[quantity = "straggling"]
        straggling: Option<f64>,
    }
}
