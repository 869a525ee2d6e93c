//! `timeline.csv`: the running tasks, slots and pending tasks of each job over time.
//!
//! `running` and `pending` are the JobTracker's counts of the job's maps or reduces. `slots` are
//! the slots that trackers hold for these tasks. Slots in which outputs of attempts are removed
//! count too, since the JobTracker counts an attempt until its output is removed. `suspended` are
//! the attempts that trackers have suspended. No column counts setup and cleanup tasks, so
//! `running` minus `slots` shows how outdated the JobTracker's counts are. The difference also
//! shows a quirk of Hadoop, which does not count attempts that wait for their commit. When a job
//! begins to run, all its tasks are pending; later counts leave out reduces that may not start yet.
//!
//! Without a sampling step, each job and slot kind that changed in a millisecond has a row with its
//! state at the end of the millisecond. With a step, each job and kind that changed since the last
//! multiple of the step has a row at the next multiple. The last rows show the end of the run.

use std::path::Path;

use super::table::TableWriter;
use super::{RecordError, RunBooks, RunEnd, Watcher};
use mumakil_base::dense::grown;
use mumakil_base::units::{SimSpan, SimTime};
use mumakil_core::mapred::{Event, JobId, PerSlot, SlotCounts, SlotKind};
use mumakil_results::tables::SlotsRow;

/// Writes `timeline.csv`.
#[derive(Debug)]
pub(super) struct Timeline {
    table: TableWriter<SlotsRow>,
    step: SimSpan,
    /// The instant of the next rows. No event so far is later.
    due: SimTime,
    jobs: Vec<PerSlot<WrittenState>>,
    changed: Vec<(SlotKind, JobId)>,
}

/// The state of a job for a kind of slot: now, and as last written.
#[derive(Clone, Debug, Default)]
struct WrittenState {
    now: TimelineState,
    written: TimelineState,
    /// Whether it is in [`Timeline::changed`].
    changed: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct TimelineState {
    counts: SlotCounts,
    slots: u32,
    suspended: u32,
}

impl Timeline {
    pub(super) fn create(folder: &Path, step: SimSpan) -> Result<Self, RecordError> {
        let mut timeline = Self {
            table: TableWriter::create(folder)?,
            step,
            due: SimTime::ZERO,
            jobs: Vec::new(),
            changed: Vec::new(),
        };
        timeline.due = timeline.due_from(SimTime::ZERO);
        Ok(timeline)
    }

    /// Returns the instant of the rows for a change at `at`: the end of its millisecond, or the
    /// next multiple of the step.
    fn due_from(&self, at: SimTime) -> SimTime {
        let micros = at.as_micros();
        SimTime::from_micros(match self.step.as_micros() {
            // Times in the table are milliseconds, so a row stands for a whole millisecond.
            0 => micros - micros % 1_000 + 999,
            step => micros.next_multiple_of(step),
        })
    }

    /// Records a change; first writes the rows that are due before it.
    fn change(
        &mut self,
        at: SimTime,
        (kind, job): (SlotKind, JobId),
        books: &RunBooks,
        change: impl FnOnce(&mut TimelineState),
    ) -> Result<(), RecordError> {
        // On a scaled clock an event may be older than the last rows; the next rows show its
        // change.
        if self.due < at {
            self.write(self.due, books)?;
            self.due = self.due_from(at);
        }
        let track = &mut grown(&mut self.jobs, job.index())[kind];
        change(&mut track.now);
        if !track.changed {
            track.changed = true;
            self.changed.push((kind, job));
        }
        Ok(())
    }

    fn write(&mut self, at: SimTime, books: &RunBooks) -> Result<(), RecordError> {
        // Changes are in the order of events; rows are sorted by kind and job.
        self.changed.sort_unstable();
        for (kind, job) in self.changed.drain(..) {
            let track = &mut self.jobs[job.index()][kind];
            track.changed = false;
            // If the state changed and changed back within one step, it has no row.
            if track.now == track.written {
                continue;
            }
            track.written = track.now;
            let TimelineState { counts, slots, suspended } = track.now;
            self.table.row(&SlotsRow {
                time_ms: at.as_millis(),
                kind,
                job: job.0,
                pool: books.job(job).map_or("", |job| &job.spec.pool).into(),
                running: counts.running,
                slots,
                suspended,
                pending: counts.pending,
            })?;
        }
        Ok(())
    }
}

impl Watcher for Timeline {
    fn see(&mut self, event: &Event, books: &RunBooks) -> Result<(), RecordError> {
        let at = event.at;
        if let Some(shift) = books.shift
            && shift.task.is_work()
        {
            self.change(at, (shift.task.slot(), shift.task.job), books, |state| {
                state.slots = state.slots.saturating_add_signed(shift.slots);
                state.suspended = state.suspended.saturating_add_signed(shift.suspended);
            })?;
        }
        books.tallies.iter().try_for_each(|&(job, kind, counts)| {
            self.change(at, (kind, job), books, |state| state.counts = counts)
        })
    }

    fn finish(&mut self, end: &RunEnd<'_>) -> Result<(), RecordError> {
        // The last step may end after the run.
        self.write(self.due.min(end.run.ended), end.books)?;
        self.table.finish()
    }
}
