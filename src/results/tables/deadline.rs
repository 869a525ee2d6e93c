//! `deadlines.csv`.

use super::cell::CellText;
use crate::table;

table! {
    /// The deadlines of jobs, and by how much they were missed. A job without a deadline has no row,
    /// nor has one that the run left before its deadline.
    "deadlines.csv" pub struct DeadlineRow {
        /// The number of the job.
        job: u32,
        /// Its name.
        name: CellText,
        /// How long after its submission it should have ended.
        #[quantity = "deadline"]
        deadline_ms: u64,
        /// How long after its deadline it ended: 0 if it ended in time; empty if it did not succeed.
        #[quantity = "tardiness"]
        tardiness_ms: Option<u64>,
        /// Whether it missed its deadline: 1 if it did, otherwise 0.
        #[quantity = "missed"]
        missed: u32,
    }
}
