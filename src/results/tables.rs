//! The tables of a run. Each table has a type that declares its columns.
//!
//! The macro [`table!`](crate::table) declares a file and its columns, and generates everything
//! else:
//!
//! ```text
//! /// From its arrival to its end.    a sentence in the reference
//! #[quantity = "sojourn"]             mean(sojourn) in expectations
//! sojourn_ms: Option<u64>,            heading, writer, reader, the Python module
//! ```
//!
//! To add a column, add a field. To add a table, add a type here, a watcher that writes it, and a
//! line in [`all`]. [`Results`] reads the rows.
//!
//! Columns whose names end in `_ms` hold times in whole milliseconds: instants since the run began,
//! and spans between instants.

mod attempt;
mod cell;
mod decision;
mod fault;
mod job;
mod line;
mod node;
mod read;
mod resource;
mod share;
mod slots;
mod table;
#[doc(hidden)]
pub mod testing;

pub use attempt::{AttemptEnd, AttemptKind, AttemptRow};
pub use cell::{CellKind, CellText, CellValue, SlotMillis, TableCell};
pub use decision::{Decided, DecisionRow};
pub use fault::FaultRow;
pub use job::{JobEnd, JobRow, RunJobs};
pub use line::write_line;
pub use node::NodeRow;
pub use read::{ReadError, Results, read_rows};
pub use resource::ResourceRow;
pub use share::ShareRow;
pub use slots::SlotsRow;
pub use table::{Cells, Column, ColumnInfo, TableInfo, TableRow};

/// Returns all tables that a run may write.
pub fn all() -> Vec<TableInfo> {
    vec![
        TableInfo::of::<JobRow>(),
        TableInfo::of::<AttemptRow>(),
        TableInfo::of::<SlotsRow>(),
        TableInfo::of::<NodeRow>(),
        TableInfo::of::<FaultRow>(),
        TableInfo::of::<DecisionRow>(),
        TableInfo::of::<ShareRow>(),
        TableInfo::of::<ResourceRow>(),
    ]
}
