//! `alone.csv`: how long each job takes alone on the empty cluster, the measure of its slowdown.
//!
//! Written by a second run, in which the jobs run one after the other.

use std::path::Path;

use super::table::TableWriter;
use super::{Books, End, RecordError, Watcher};
use mumakil_base::units::SimSpan;
use mumakil_core::mapred::Event;
use mumakil_results::results::AloneRow;

/// Writes `alone.csv`.
#[derive(Debug)]
pub struct Alone {
    table: TableWriter<AloneRow>,
}

impl Alone {
    /// Creates the table.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn create(folder: &Path) -> Result<Self, RecordError> {
        Ok(Self { table: TableWriter::create(folder)? })
    }
}

impl Watcher for Alone {
    fn see(&mut self, _: &Event, _: &Books) -> Result<(), RecordError> {
        Ok(())
    }

    fn finish(&mut self, end: &End<'_>) -> Result<(), RecordError> {
        for job in end.books.jobs() {
            let alone_ms = job.sojourn().map(SimSpan::as_millis);
            let name = (&*job.spec.name).into();
            self.table.row(&AloneRow { job: job.spec.id.0, name, alone_ms })?;
        }
        self.table.finish()
    }
}
