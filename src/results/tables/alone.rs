//! `alone.csv`.

use super::cell::CellText;
use crate::table;

table! {
    /// How long each job takes alone on the empty cluster. Its slowdown is measured by this.
    "alone.csv" pub struct AloneRow {
        /// Its number among the jobs of that run.
        job: u32,
        /// Its name.
        name: CellText,
        /// How long it takes; empty if it did not end.
        alone_ms: Option<u64>,
    }
}
