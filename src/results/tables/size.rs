//! `sizes.csv`.

use super::cell::{CellText, SlotMillis};
use crate::table;

table! {
    /// How large the policy took each job to be, and how large it was. Sizes are in slots
    /// times milliseconds: the times of all tasks of a kind, one after another. Only jobs that have
    /// succeeded have a row, and only policies that estimate sizes write any.
    "sizes.csv" pub struct SizeRow {
        /// The number of the job.
        job: u32,
        /// Its name.
        name: CellText,
        /// The estimated size of its maps, after the sample was measured.
        #[quantity = "estimate.map"]
        map_estimate_ms: Option<SlotMillis>,
        /// The size of its maps, as they ran.
        #[quantity = "true_size.map"]
        map_size_ms: Option<SlotMillis>,
        /// How much too large the estimate of its maps was, relative to their size; below zero, how
        /// much too small.
        #[quantity = "size_error.map"]
        map_error: Option<f64>,
        /// The estimated size of its reduces, after the sample was measured.
        #[quantity = "estimate.reduce"]
        reduce_estimate_ms: Option<SlotMillis>,
        /// The size of its reduces as they ran, with the same parts of their times as in the
        /// estimate.
        #[quantity = "true_size.reduce"]
        reduce_size_ms: Option<SlotMillis>,
        /// How much too large the estimate of its reduces was, relative to their size; below zero,
        /// how much too small.
        #[quantity = "size_error.reduce"]
        reduce_error: Option<f64>,
    }
}
