//! `alone.csv`: how long each job takes alone on the empty cluster, the measure of its slowdown.
//!
//! Written by a second run, in which the jobs run one after the other.

use std::path::Path;

use super::table::TableWriter;
use super::{RecordError, RunBooks, RunEnd, Watcher};
use mumakil_base::units::SimSpan;
use mumakil_core::mapred::Event;
use mumakil_results::results::AloneRow;

/// Writes `alone.csv`.
#[derive(Debug)]
pub struct AloneTable {
    table: TableWriter<AloneRow>,
}

impl AloneTable {
    /// Creates the table.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn create(folder: &Path) -> Result<Self, RecordError> {
        Ok(Self { table: TableWriter::create(folder)? })
    }
}

impl Watcher for AloneTable {
    fn see(&mut self, _: &Event, _: &RunBooks) -> Result<(), RecordError> {
        Ok(())
    }

    fn finish(&mut self, end: &RunEnd<'_>) -> Result<(), RecordError> {
        for job in end.books.jobs() {
            let alone_ms = job.sojourn().map(SimSpan::as_millis);
            let name = (&*job.spec.name).into();
            self.table.row(&AloneRow { job: job.spec.id.0, name, alone_ms })?;
        }
        self.table.finish()
    }
}
