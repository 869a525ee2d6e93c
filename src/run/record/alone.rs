//! `alone.csv`: how long each job takes alone on the empty cluster. The job's slowdown is measured
//! against this time.
//!
//! A second run, in which the jobs run one after the other, writes this table.

use std::path::Path;

use super::table::TableAtEnd;
use super::{RecordError, Watcher};
use mumakil_base::units::SimSpan;
use mumakil_results::tables::AloneRow;

/// Creates `alone.csv`.
///
/// # Errors
/// If it cannot be written.
pub fn alone_table(folder: &Path) -> Result<Box<dyn Watcher>, RecordError> {
    TableAtEnd::create(folder, |books, table| {
        books.jobs().try_for_each(|job| {
            let alone_ms = job.measured().map(SimSpan::as_millis);
            let name = (&*job.spec.name).into();
            table.row(&AloneRow { job: job.spec.id.0, name, alone_ms })
        })
    })
}
