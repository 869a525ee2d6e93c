//! Mumakil's own lists of jobs in files: `workload: {jobs: jobs.csv}`.
//!
//! ```text
//! record   one row of a table or one entry of a YAML list, as text
//! file     rows or entries become jobs, and jobs become a file
//! format   how the two kinds of files are recognised
//! ```

mod columns;
mod file;
pub(crate) mod format;
mod record;

pub use columns::MappedColumn;
pub(crate) use file::ListReader;
pub use file::{read_table, read_yaml, write_table, write_yaml};
pub use record::{ListEntry, Row};
