//! `tasks.csv`: a row for each attempt, written when the attempt is closed (see [`super::Books`]).
//!
//! Times and phases are the tracker's truth, the outcome is the JobTracker's verdict, or the
//! tracker's word where the JobTracker gave none before the job ended. A map that succeeded and was
//! lost later keeps its row; its job counts it as killed. Attempts that are open when the run stops
//! come last, in the order of their ids, as `unfinished` unless somebody knew better. Removing an
//! attempt's output is part of the attempt, not a row.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;

use super::table::Table;
use super::{Attempt, Books, End, NodeLabel, RecordError, Watcher};
use crate::files;
use crate::mapred::{AttemptId, Event, Locality, Outcome, TaskKind};
use crate::units::{SimSpan, SimTime};

const HEADING: &[&str] = &[
    "job",
    "kind",
    "task",
    "attempt",
    "node",
    "rack",
    "locality",
    "start_ms",
    "shuffle_ms",
    "sort_ms",
    "finish_ms",
    "commit_ms",
    "suspended_ms",
    "outcome",
    "speculative",
    "reason",
];

/// Writes `tasks.csv`.
#[derive(Debug)]
pub(super) struct Tasks {
    table: Table,
    labels: Arc<[NodeLabel]>,
    reason: String,
}

/// A row, in the order of the heading.
#[derive(Serialize)]
struct Row<'a> {
    job: u32,
    kind: &'a str,
    task: u32,
    attempt: u32,
    node: &'a str,
    rack: &'a str,
    locality: Option<&'a str>,
    start_ms: Option<u64>,
    shuffle_ms: Option<u64>,
    sort_ms: Option<u64>,
    finish_ms: Option<u64>,
    commit_ms: Option<u64>,
    suspended_ms: Option<u64>,
    outcome: &'a str,
    speculative: Option<bool>,
    reason: &'a str,
}

impl Tasks {
    /// Creates the table.
    pub(super) fn create(folder: &Path, labels: Arc<[NodeLabel]>) -> Result<Self, RecordError> {
        let table = Table::create(folder, files::TASKS, HEADING)?;
        Ok(Self { table, labels, reason: String::new() })
    }

    fn row(&mut self, id: AttemptId, attempt: &Attempt) -> Result<(), RecordError> {
        if !attempt.has_work() {
            return Ok(());
        }
        self.reason.clear();
        if let Some(grant) = attempt.grant {
            write!(self.reason, "{}", grant.reason).expect("a string takes every text");
        }
        let NodeLabel { node, rack } = &self.labels[attempt.tracker.index()];
        let ending = attempt.ending;
        // An attempt that was killed before it started had no phases.
        let phases = attempt.started.and(ending).map(|ending| ending.phases);
        let fetched = phases.filter(|_| id.task.kind == TaskKind::Reduce);
        self.table.row(Row {
            job: id.task.job.0,
            kind: id.task.kind.word(),
            task: id.task.index,
            attempt: id.number,
            node,
            rack,
            locality: attempt.grant.and_then(|grant| grant.locality).map(Locality::word),
            start_ms: attempt.started.map(SimTime::as_millis),
            shuffle_ms: fetched.map(|phases| phases.shuffle.as_millis()),
            sort_ms: fetched.map(|phases| phases.sort.as_millis()),
            finish_ms: ending.map(|ending| ending.at.as_millis()),
            commit_ms: phases.and_then(|phases| phases.commit).map(SimSpan::as_millis),
            suspended_ms: phases.map(|phases| phases.suspended.as_millis()),
            outcome: attempt.outcome().map_or("unfinished", Outcome::word),
            speculative: attempt.grant.map(|grant| grant.speculative),
            reason: &self.reason,
        })
    }
}

impl Watcher for Tasks {
    fn see(&mut self, _: &Event, books: &Books) -> Result<(), RecordError> {
        books.closed().iter().try_for_each(|(id, attempt)| self.row(*id, attempt))
    }

    fn finish(&mut self, end: &End<'_>) -> Result<(), RecordError> {
        for (id, attempt) in end.books.open() {
            self.row(id, attempt)?;
        }
        self.table.finish()
    }
}
