//! Mumakil's own lists of jobs: `workload: {jobs: [...]}` and `workload: {jobs: jobs.csv}`.
//!
//! ```text
//! record   one row of a table or one entry of a YAML list, as text
//! file     rows or entries become jobs, and jobs become a file
//! format   how the two kinds of files are recognised
//! source   the jobs of a run: of the scenario itself, or of a file
//! ```

mod columns;
mod file;
pub(super) mod format;
mod record;
pub(crate) mod source;

pub use columns::MappedColumn;
pub(in crate::workload) use file::ListReader;
pub use file::{write_table, write_yaml};
pub use record::{ListEntry, Row};
pub use source::{JobFile, ListSource};
