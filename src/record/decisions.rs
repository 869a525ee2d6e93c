//! `decisions.csv`: what was refused, and what was ordered of running attempts, with the reasons.
//!
//! A refusal is a row for the time in which a job with something to launch was refused a slot for one
//! cause, again and again, with those jobs that held most slots of the kind the last time. Kills,
//! suspensions and resumptions have a row each. (Launches are in `tasks.csv`.) Rows are in the order in
//! which they were told: refusals when they are over, or with the run.

use std::path::Path;

use serde::Serialize;

use super::table::Table;
use super::{Books, End, RecordError, Watcher};
use crate::files;
use crate::mapred::{Event, Fact, JobFact, LedgerFact, Reason};
use crate::units::{SimSpan, SimTime};

const HEADING: &[&str] = &[
    "what",
    "job",
    "kind",
    "task",
    "attempt",
    "from_ms",
    "to_ms",
    "times",
    "code",
    "waited_ms",
    "held",
    "share",
    "min_share",
    "for_job",
    "held_by",
    "reason",
];

/// Writes `decisions.csv`.
#[derive(Debug)]
pub(super) struct Decisions {
    table: Table,
}

/// A row, in the order of the heading.
#[derive(Default, Serialize)]
struct Row<'a> {
    what: &'a str,
    job: u32,
    kind: &'a str,
    task: Option<u32>,
    attempt: Option<u32>,
    from_ms: u64,
    to_ms: u64,
    times: u32,
    code: &'a str,
    waited_ms: Option<u64>,
    held: Option<u32>,
    share: Option<f64>,
    min_share: Option<u32>,
    for_job: Option<u32>,
    held_by: &'a str,
    reason: &'a str,
}

impl Decisions {
    /// Creates the table.
    pub(super) fn create(folder: &Path) -> Result<Self, RecordError> {
        Ok(Self { table: Table::create(folder, files::DECISIONS, HEADING)? })
    }

    fn row(&mut self, reason: Reason, row: Row<'_>) -> Result<(), RecordError> {
        let weighed = reason.weighed();
        self.table.row(Row {
            code: reason.code(),
            waited_ms: weighed.waited.map(SimSpan::as_millis),
            held: weighed.held,
            share: weighed.share,
            min_share: weighed.min_share,
            for_job: weighed.for_job.map(|job| job.0),
            reason: &reason.to_string(),
            ..row
        })
    }
}

impl Watcher for Decisions {
    fn see(&mut self, event: &Event, _: &Books) -> Result<(), RecordError> {
        match event.fact {
            Fact::Job(job, JobFact::Refused { kind, from, to, times, reason, holders }) => {
                let named = holders.iter().map(|(job, slots)| format!("{}:{slots}", job.0));
                let held_by = named.collect::<Vec<String>>().join(" ");
                let row = Row {
                    what: "refuse",
                    job: job.0,
                    kind: kind.word(),
                    from_ms: from.as_millis(),
                    to_ms: to.as_millis(),
                    times,
                    held_by: &held_by,
                    ..Row::default()
                };
                self.row(reason, row)
            }
            Fact::Ledger(attempt, _, LedgerFact::Ordered { order, reason }) => {
                let at = SimTime::as_millis(event.at);
                let row = Row {
                    what: order.word(),
                    job: attempt.job().0,
                    kind: attempt.task.kind.word(),
                    task: Some(attempt.task.index),
                    attempt: Some(attempt.number),
                    from_ms: at,
                    to_ms: at,
                    times: 1,
                    ..Row::default()
                };
                self.row(reason, row)
            }
            _ => Ok(()),
        }
    }

    fn finish(&mut self, _: &End<'_>) -> Result<(), RecordError> {
        self.table.finish()
    }
}
