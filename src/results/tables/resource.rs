//! `resources.csv`.

use super::cell::CellText;
use crate::table;

table! {
    /// The memory and cores that each pool holds over time. Runs whose `cluster.resources` counts only
    /// slots have no such table. There is a row for each change.
    "resources.csv" pub struct ResourceRow {
        /// When it changed.
        time_ms: u64,
        /// The pool, queue or user.
        pool: CellText,
        /// The memory that its attempts hold.
        memory_bytes: u64,
        /// The cores that its attempts hold; 0 if cores are not counted.
        cores: u64,
    }
}
