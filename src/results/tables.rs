//! The tables of a run: one type for the rows of each, told once.
//!
//! A [`table!`](crate::table) declares the file and its columns; everything else follows from it:
//!
//! ```text
//! /// From its arrival to its end.    a sentence in the reference
//! #[quantity = "sojourn"]             mean(sojourn) in expectations
//! sojourn_ms: Option<u64>,            heading, writer, reader, the Python module
//! ```
//!
//! So a new column is one field. A new table is one type here, one watcher that writes it, and a
//! line in [`all`]. Rows are read through [`Results`].
//!
//! Times are whole milliseconds since the scenario began, or between two such instants; the names of
//! these columns end in `_ms`.

mod alone;
mod attempt;
mod cell;
mod chain;
mod decision;
mod fault;
mod job;
mod read;
mod slots;
mod table;
#[doc(hidden)]
pub mod testing;
mod waste;

pub use alone::AloneRow;
pub use attempt::{AttemptEnd, AttemptKind, AttemptRow};
pub use cell::{CellKind, CellText, CellValue, SlotMillis, TableCell};
pub use chain::ChainRow;
pub use decision::{Decided, DecisionRow};
pub use fault::FaultRow;
pub use job::{JobEnd, JobRow, RunJobs};
pub use read::{ReadError, Results, read_rows};
pub use slots::SlotsRow;
pub use table::{Cells, Column, ColumnInfo, InCells, TableInfo, TableRow};
pub use waste::WasteRow;

/// Returns all tables that a run may leave.
pub fn all() -> Vec<TableInfo> {
    vec![
        TableInfo::of::<JobRow>(),
        TableInfo::of::<AttemptRow>(),
        TableInfo::of::<SlotsRow>(),
        TableInfo::of::<AloneRow>(),
        TableInfo::of::<ChainRow>(),
        TableInfo::of::<FaultRow>(),
        TableInfo::of::<WasteRow>(),
        TableInfo::of::<DecisionRow>(),
    ]
}
