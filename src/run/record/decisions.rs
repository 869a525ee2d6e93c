//! `decisions.csv`: refusals of slots and of jobs, and orders to running attempts, with their reasons.
//!
//! A row of a refusal covers the time in which a job with pending tasks was repeatedly refused
//! slots for one cause. The row names the jobs that held the most slots of the same kind at the
//! last refusal. Each kill, suspension and resumption has a row, and each kill that a policy only
//! notes. (Launches are in `tasks.csv`.)
//! Rows are in the order of the events; the event of a refusal comes when the refusals stop, or at
//! the end of the run.

use std::path::Path;

use super::table::TableWriter;
use super::{RecordError, RunBooks, RunEnd, Watcher};
use mumakil_base::units::{SimSpan, SimTime};
use mumakil_core::mapred::{AttemptId, Event, Fact, JobFact, LedgerFact, Reason};
use mumakil_results::tables::{AttemptKind, Decided, DecisionRow};

/// Writes `decisions.csv`.
#[derive(Debug)]
pub(super) struct Decisions {
    table: TableWriter<DecisionRow>,
}

impl Decisions {
    pub(super) fn create(folder: &Path) -> Result<Self, RecordError> {
        Ok(Self { table: TableWriter::create(folder)? })
    }

    fn row(&mut self, reason: Reason, row: DecisionRow) -> Result<(), RecordError> {
        let weighed = reason.weighed();
        self.table.row(&DecisionRow {
            code: reason.code().into(),
            waited_ms: weighed.waited.map(SimSpan::as_millis),
            held: weighed.held,
            share: weighed.share,
            min_share: weighed.min_share,
            for_job: weighed.for_job.map(|job| job.0),
            reason: reason.to_string().into(),
            ..row
        })
    }
}

/// Returns the row of a decision on a running attempt.
fn of_attempt(event: &Event, what: Decided, attempt: AttemptId) -> DecisionRow {
    let at = SimTime::as_millis(event.at);
    DecisionRow {
        what,
        job: attempt.job().0,
        kind: attempt.task.kind.into(),
        task: Some(attempt.task.index),
        attempt: Some(attempt.number),
        from_ms: at,
        to_ms: at,
        // An order happens once; only refusals repeat.
        times: 1,
        ..DecisionRow::default()
    }
}

impl Watcher for Decisions {
    fn see(&mut self, event: &Event, _: &RunBooks) -> Result<(), RecordError> {
        match event.fact {
            Fact::Job(job, JobFact::Refused { kind, from, to, times, reason, holders }) => {
                let named = holders.iter().map(|(job, slots)| format!("{}:{slots}", job.0));
                // One cell with blanks between its parts `JOB:SLOTS`, since the number of columns
                // is fixed.
                let held_by = named.collect::<Vec<String>>().join(" ");
                let row = DecisionRow {
                    what: Decided::Refuse,
                    job: job.0,
                    kind: kind.into(),
                    from_ms: from.as_millis(),
                    to_ms: to.as_millis(),
                    times,
                    held_by: held_by.into(),
                    ..DecisionRow::default()
                };
                self.row(reason, row)
            }
            Fact::Job(job, JobFact::SubmissionRefused(reason)) => {
                let at = SimTime::as_millis(event.at);
                let row = DecisionRow {
                    what: Decided::RefuseJob,
                    job: job.0,
                    // The job's first task would have been its setup.
                    kind: AttemptKind::Setup,
                    from_ms: at,
                    to_ms: at,
                    times: 1,
                    ..DecisionRow::default()
                };
                self.row(reason, row)
            }
            Fact::Ledger(attempt, _, LedgerFact::Ordered { order, reason }) => {
                self.row(reason, of_attempt(event, order.into(), attempt))
            }
            Fact::Ledger(attempt, _, LedgerFact::Spared { reason }) => {
                self.row(reason, of_attempt(event, Decided::WouldKill, attempt))
            }
            _ => Ok(()),
        }
    }

    fn finish(&mut self, _: &RunEnd<'_>) -> Result<(), RecordError> {
        self.table.finish()
    }
}
