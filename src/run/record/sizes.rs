//! `sizes.csv`: how large the policy estimated each job to be, beside its size as its tasks ran.

use std::path::Path;

use super::summary::rounded;
use super::table::TableWriter;
use super::{RecordError, RunBooks, RunEnd, Watcher};
use mumakil_core::mapred::{Event, Fact, JobFact, JobId, JobSize, PerSlot};
use mumakil_results::tables::{SizeRow, SlotMillis};

/// Writes `sizes.csv`: a row for each job whose size a policy has told.
struct Sizes {
    table: TableWriter<SizeRow>,
    /// The job whose sizes the last events told; its facts follow each other.
    last: Option<(JobId, PerSlot<Option<JobSize>>)>,
}

/// Creates `sizes.csv`.
///
/// # Errors
/// If it cannot be written.
pub fn sizes_table(folder: &Path) -> Result<Box<dyn Watcher>, RecordError> {
    Ok(Box::new(Sizes { table: TableWriter::create(folder)?, last: None }))
}

/// Returns slot-seconds as whole slot-milliseconds, rounded down like all times of tables.
pub(super) fn slot_millis(seconds: f64) -> u64 {
    (seconds * 1e3) as u64
}

impl Sizes {
    /// Writes the row of the last job.
    fn write_last(&mut self, books: &RunBooks) -> Result<(), RecordError> {
        let Some((id, sizes)) = self.last.take() else { return Ok(()) };
        let Some(job) = books.job(id) else { return Ok(()) };
        let millis = |seconds| SlotMillis(slot_millis(seconds));
        let [maps, reduces] = [sizes.map, sizes.reduce];
        let estimate = |size: Option<JobSize>| size.map(|size| millis(size.estimated));
        let real = |size: Option<JobSize>| size.map(|size| millis(size.real));
        let error = |size: Option<JobSize>| {
            // Tasks that took no time have no relative error.
            let size = size.filter(|size| 0.0 < size.real)?;
            // Adding zero turns a negative zero into a positive one.
            Some(rounded(size.estimated / size.real - 1.0) + 0.0)
        };
        self.table.row(&SizeRow {
            job: id.0,
            name: (&*job.spec.name).into(),
            map_estimate_ms: estimate(maps),
            map_size_ms: real(maps),
            map_error: error(maps),
            reduce_estimate_ms: estimate(reduces),
            reduce_size_ms: real(reduces),
            reduce_error: error(reduces),
        })
    }
}

impl Watcher for Sizes {
    fn see(&mut self, event: &Event, books: &RunBooks) -> Result<(), RecordError> {
        let Fact::Job(job, JobFact::Sized(kind, size)) = event.fact else { return Ok(()) };
        if self.last.as_ref().is_some_and(|(last, _)| *last != job) {
            self.write_last(books)?;
        }
        let (_, sizes) = self.last.get_or_insert((job, PerSlot::default()));
        sizes[kind] = Some(size);
        Ok(())
    }

    fn finish(&mut self, end: &RunEnd<'_>) -> Result<(), RecordError> {
        self.write_last(end.books)?;
        self.table.finish()
    }
}
