//! `alone.csv`: how long each job takes alone on the empty cluster, the measure of its slowdown.
//!
//! Written by a second run, in which the jobs run one after the other.

use std::path::Path;

use serde::Serialize;

use super::table::Table;
use super::{Books, End, RecordError, Watcher};
use crate::files;
use crate::mapred::Event;
use crate::units::SimSpan;

/// Writes `alone.csv`.
#[derive(Debug)]
pub struct Alone {
    table: Table,
}

/// A row.
#[derive(Serialize)]
struct Row<'a> {
    job: u32,
    name: &'a str,
    alone_ms: Option<u64>,
}

impl Alone {
    /// Creates the table.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn create(folder: &Path) -> Result<Self, RecordError> {
        Ok(Self { table: Table::create(folder, files::ALONE, &["job", "name", "alone_ms"])? })
    }
}

impl Watcher for Alone {
    fn see(&mut self, _: &Event, _: &Books) -> Result<(), RecordError> {
        Ok(())
    }

    fn finish(&mut self, end: &End<'_>) -> Result<(), RecordError> {
        for job in end.books.jobs() {
            let alone_ms = job.sojourn().map(SimSpan::as_millis);
            self.table.row(Row { job: job.spec.id.0, name: &job.spec.name, alone_ms })?;
        }
        self.table.finish()
    }
}
