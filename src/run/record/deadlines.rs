//! `deadlines.csv`: by how much jobs have missed their deadlines.

use std::path::Path;

use super::table::TableWriter;
use super::{BookedJob, RecordError, RunBooks, RunEnd, Watcher};
use mumakil_base::units::SimTime;
use mumakil_core::mapred::Event;
use mumakil_results::tables::DeadlineRow;

/// Writes `deadlines.csv`: a row for each job with a deadline.
struct Deadlines {
    table: TableWriter<DeadlineRow>,
    /// The instant of the last event.
    last: SimTime,
}

/// Creates `deadlines.csv`.
///
/// # Errors
/// If it cannot be written.
pub fn deadlines_table(folder: &Path) -> Result<Box<dyn Watcher>, RecordError> {
    Ok(Box::new(Deadlines { table: TableWriter::create(folder)?, last: SimTime::ZERO }))
}

impl Deadlines {
    fn row(&self, job: &BookedJob) -> Option<DeadlineRow> {
        let span = job.spec.deadline?;
        let deadline = job.submitted + span;
        let succeeded = job.ended.filter(|(_, end)| end.is_measured()).map(|(at, _)| at);
        // A job that the run left before its deadline may still have ended in time.
        if job.ended.is_none() && self.last <= deadline {
            return None;
        }
        let tardiness = succeeded.map(|at| at.saturating_since(deadline));
        Some(DeadlineRow {
            job: job.spec.id.0,
            name: (&*job.spec.name).into(),
            deadline_ms: span.as_millis(),
            tardiness_ms: tardiness.map(|span| span.as_millis()),
            missed: tardiness.is_none_or(|late| !late.is_zero()).into(),
        })
    }
}

impl Watcher for Deadlines {
    fn see(&mut self, event: &Event, _: &RunBooks) -> Result<(), RecordError> {
        self.last = event.at;
        Ok(())
    }

    fn finish(&mut self, end: &RunEnd<'_>) -> Result<(), RecordError> {
        for job in end.books.jobs() {
            if let Some(row) = self.row(job) {
                self.table.row(&row)?;
            }
        }
        self.table.finish()
    }
}
