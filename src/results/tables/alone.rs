//! `alone.csv`.

use super::cell::CellText;
use crate::table;

table! {
    /// How long each job takes alone on the empty cluster. A job's slowdown is its sojourn divided
    /// by this time.
    "alone.csv" pub struct AloneRow {
        /// The number of the job.
        job: u32,
        /// Its name.
        name: CellText,
        /// How long it takes; empty if it did not succeed.
        alone_ms: Option<u64>,
    }
}
