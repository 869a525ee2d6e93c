//! Mumakil's own lists of jobs: `workload: {jobs: [...]}` and `workload: {jobs: jobs.csv}`.

mod file;
pub(super) mod format;
mod record;
pub(crate) mod source;

pub use file::{write_table, write_yaml};
pub use record::{ListEntry, Row};
pub use source::{JobFile, ListSource};
