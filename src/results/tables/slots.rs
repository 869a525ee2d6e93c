//! `timeline.csv`.

use super::cell::CellText;
use crate::table;
use mumakil_core::cluster::SlotKind;

table! {
    /// Running and waiting tasks of each job, and its slots. There is a row for each change.
    "timeline.csv" pub struct SlotsRow {
        /// When it changed.
        #[key = "time"]
        time_ms: u64,
        /// The kind of slots.
        #[key = "kind"]
        kind: SlotKind,
        /// The number of the job.
        job: u32,
        /// Its pool, or queue; may be empty.
        pool: CellText,
        /// Running tasks, as the JobTracker counts them.
        #[quantity = "running"]
        running: u32,
        /// Slots that jobs hold.
        #[quantity = "slots"]
        slots: u32,
        /// Attempts that are suspended.
        #[quantity = "suspended_tasks"]
        suspended: u32,
        /// Tasks that wait for a slot.
        #[quantity = "pending"]
        pending: u32,
    }
}
