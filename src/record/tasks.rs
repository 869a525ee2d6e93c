//! `tasks.csv`: a row for each attempt, written when the attempt is closed (see [`super::Books`]).
//!
//! Times and phases are the tracker's truth, the outcome is the JobTracker's verdict, or the
//! tracker's word where the JobTracker gave none before the job ended. Attempts that are open when the
//! run stops come last, in the order of their ids, as `unfinished` unless somebody knew better.
//!
//! Two things that happen to an attempt have rows of their own. Removing its output is a `map-cleanup`
//! or `reduce-cleanup` with the attempt's number, on the node that does it. A map whose output is lost
//! after it had succeeded has a second row, `lost` at the instant at which the JobTracker knew. So has
//! each task that had succeeded when its job was begun anew.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;

use super::table::Table;
use super::{Attempt, Books, End, NodeLabel, RecordError, Watcher};
use crate::files;
use crate::mapred::{
    AttemptFact, AttemptId, Event, Fact, Locality, Outcome, Reason, Role, SlotKind, TaskKind,
    TrackerId,
};
use crate::units::{SimSpan, SimTime};

const HEADING: &[&str] = &[
    "job",
    "kind",
    "task",
    "attempt",
    "node",
    "rack",
    "locality",
    "slots",
    "launch_ms",
    "start_ms",
    "start_up_ms",
    "shuffle_ms",
    "sort_ms",
    "finish_ms",
    "heard_ms",
    "commit_ms",
    "suspended_ms",
    "outcome",
    "speculative",
    "code",
    "place",
    "waited_ms",
    "held",
    "share",
    "min_share",
    "killed_code",
    "killed_for_job",
    "killed_held",
    "killed_share",
    "reason",
    "suspensions",
];

/// Writes `tasks.csv`.
#[derive(Debug)]
pub(super) struct Tasks {
    table: Table,
    labels: Arc<[NodeLabel]>,
    reason: String,
    suspensions: String,
    /// Since when outputs of attempts are being removed, and where.
    cleanups: BTreeMap<(AttemptId, TrackerId), SimTime>,
}

/// A row, in the order of the heading.
#[derive(Default, Serialize)]
struct Row<'a> {
    job: u32,
    kind: &'a str,
    task: u32,
    attempt: u32,
    node: &'a str,
    rack: &'a str,
    locality: Option<&'a str>,
    slots: u32,
    launch_ms: Option<u64>,
    start_ms: Option<u64>,
    start_up_ms: Option<u64>,
    shuffle_ms: Option<u64>,
    sort_ms: Option<u64>,
    finish_ms: Option<u64>,
    heard_ms: Option<u64>,
    commit_ms: Option<u64>,
    suspended_ms: Option<u64>,
    outcome: &'a str,
    speculative: Option<bool>,
    code: &'a str,
    place: Option<u32>,
    waited_ms: Option<u64>,
    held: Option<u32>,
    share: Option<f64>,
    min_share: Option<u32>,
    killed_code: &'a str,
    killed_for_job: Option<u32>,
    killed_held: Option<u32>,
    killed_share: Option<f64>,
    reason: &'a str,
    suspensions: &'a str,
}

impl Tasks {
    /// Creates the table.
    pub(super) fn create(folder: &Path, labels: Arc<[NodeLabel]>) -> Result<Self, RecordError> {
        let table = Table::create(folder, files::TASKS, HEADING)?;
        Ok(Self {
            table,
            labels,
            reason: String::new(),
            suspensions: String::new(),
            cleanups: BTreeMap::new(),
        })
    }

    fn row(&mut self, id: AttemptId, attempt: &Attempt) -> Result<(), RecordError> {
        if !attempt.has_work() {
            return Ok(());
        }
        self.reason.clear();
        let launch = attempt.grant.map(|grant| grant.reason);
        if let Some(reason) = launch {
            write!(self.reason, "{reason}").expect("a string takes every text");
        }
        self.suspensions.clear();
        for (from, to) in &attempt.stops {
            let gap = if self.suspensions.is_empty() { "" } else { " " };
            let to = to.map(|to| to.as_millis().to_string()).unwrap_or_default();
            write!(self.suspensions, "{gap}{}-{to}", from.as_millis())
                .expect("a string takes every text");
        }
        let weighed = launch.map(|reason| reason.weighed()).unwrap_or_default();
        let kill = attempt.killed_for.filter(|_| attempt.outcome() == Some(Outcome::Killed));
        let killed = kill.map(|reason| reason.weighed()).unwrap_or_default();
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
            slots: attempt.width(),
            launch_ms: attempt.grant.map(|grant| grant.at.as_millis()),
            start_ms: attempt.started.map(SimTime::as_millis),
            start_up_ms: phases.map(|phases| phases.start_up.as_millis()),
            shuffle_ms: fetched.map(|phases| phases.shuffle.as_millis()),
            sort_ms: fetched.map(|phases| phases.sort.as_millis()),
            finish_ms: ending.map(|ending| ending.at.as_millis()),
            heard_ms: attempt.verdict.map(|(at, _)| at.as_millis()),
            commit_ms: phases.and_then(|phases| phases.commit).map(SimSpan::as_millis),
            suspended_ms: phases.map(|phases| phases.suspended.as_millis()),
            suspensions: &self.suspensions,
            outcome: attempt.outcome().map_or("unfinished", Outcome::word),
            speculative: attempt.grant.map(|grant| grant.speculative),
            code: launch.as_ref().map_or("", Reason::code),
            place: weighed.place,
            waited_ms: weighed.waited.map(SimSpan::as_millis),
            held: weighed.held,
            share: weighed.share,
            min_share: weighed.min_share,
            killed_code: kill.as_ref().map_or("", Reason::code),
            killed_for_job: killed.for_job.map(|job| job.0),
            killed_held: killed.held,
            killed_share: killed.share,
            reason: &self.reason,
        })
    }
}

impl Tasks {
    fn row_of(
        &mut self,
        id: AttemptId,
        tracker: TrackerId,
        row: Row<'_>,
    ) -> Result<(), RecordError> {
        let NodeLabel { node, rack } = &self.labels[tracker.index()];
        let (job, task, attempt) = (id.task.job.0, id.task.index, id.number);
        self.table.row(Row { job, task, attempt, node, rack, ..row })
    }

    /// Writes a row of the removal of an attempt's output.
    fn cleanup(
        &mut self,
        (id, tracker): (AttemptId, TrackerId),
        start: SimTime,
        end: Option<(SimTime, Outcome)>,
    ) -> Result<(), RecordError> {
        let row = Row {
            kind: match id.slot() {
                SlotKind::Map => "map-cleanup",
                SlotKind::Reduce => "reduce-cleanup",
            },
            slots: 1,
            start_ms: Some(start.as_millis()),
            finish_ms: end.map(|(at, _)| at.as_millis()),
            outcome: end.map_or("unfinished", |(_, outcome)| outcome.word()),
            speculative: Some(false),
            code: Reason::TaskCleanup.code(),
            reason: &Reason::TaskCleanup.to_string(),
            ..Row::default()
        };
        self.row_of(id, tracker, row)
    }
}

impl Watcher for Tasks {
    fn see(&mut self, event: &Event, books: &Books) -> Result<(), RecordError> {
        match event.fact {
            Fact::Attempt(
                attempt,
                tracker,
                AttemptFact::Started { role: Role::TaskCleanup, .. },
            ) => {
                self.cleanups.insert((attempt, tracker), event.at);
            }
            Fact::Attempt(
                attempt,
                tracker,
                AttemptFact::Ended { role: Role::TaskCleanup, outcome, .. },
            ) => {
                let key = (attempt, tracker);
                if let Some(start) = self.cleanups.remove(&key) {
                    self.cleanup(key, start, Some((event.at, outcome)))?;
                }
            }
            _ => {}
        }
        if let Some((attempt, tracker)) = books.lost() {
            let finish_ms = Some(event.at.as_millis());
            let kind = attempt.task.kind.word();
            let row = Row { kind, finish_ms, outcome: "lost", ..Row::default() };
            self.row_of(attempt, tracker, row)?;
        }
        books.closed().iter().try_for_each(|(id, attempt)| self.row(*id, attempt))
    }

    fn finish(&mut self, end: &End<'_>) -> Result<(), RecordError> {
        for (id, attempt) in end.books.open() {
            self.row(id, attempt)?;
        }
        for (key, start) in std::mem::take(&mut self.cleanups) {
            self.cleanup(key, start, None)?;
        }
        self.table.finish()
    }
}
