//! `jobs.csv`: a row for each submitted job, in the order of their ids.
//!
//! Written when the run is over, from the books, since jobs end in any order. Instants are truncated to
//! milliseconds; spans are what lies between two of them, so that they add up.

use std::path::Path;

use serde::Serialize;

use super::table::Table;
use super::{Books, End, Job, RecordError, Watcher};
use crate::files;
use crate::mapred::{Event, Outcome};
use crate::units::SimTime;

const HEADING: &[&str] = &[
    "job",
    "name",
    "user",
    "pool",
    "class",
    "priority",
    "maps",
    "reduces",
    "submit_ms",
    "initialised_ms",
    "running_ms",
    "first_launch_ms",
    "maps_done_ms",
    "finish_ms",
    "sojourn_ms",
    "wait_ms",
    "node_local",
    "rack_local",
    "off_rack",
    "failed",
    "killed",
    "suspended",
    "outcome",
];

/// Writes `jobs.csv`.
#[derive(Debug)]
pub(super) struct Jobs {
    table: Table,
}

/// A row, in the order of the heading.
#[derive(Serialize)]
struct Row<'a> {
    job: u32,
    name: &'a str,
    user: &'a str,
    pool: &'a str,
    class: &'a str,
    priority: &'a str,
    maps: u32,
    reduces: u32,
    submit_ms: u64,
    initialised_ms: Option<u64>,
    running_ms: Option<u64>,
    first_launch_ms: Option<u64>,
    maps_done_ms: Option<u64>,
    finish_ms: Option<u64>,
    sojourn_ms: Option<u64>,
    wait_ms: Option<u64>,
    node_local: u64,
    rack_local: u64,
    off_rack: u64,
    failed: u32,
    killed: u32,
    suspended: u32,
    outcome: &'a str,
}

impl Jobs {
    pub(super) fn create(folder: &Path) -> Result<Self, RecordError> {
        Ok(Self { table: Table::create(folder, files::JOBS, HEADING)? })
    }
}

impl Watcher for Jobs {
    fn see(&mut self, _: &Event, _: &Books) -> Result<(), RecordError> {
        Ok(())
    }

    fn finish(&mut self, end: &End<'_>) -> Result<(), RecordError> {
        for job in end.books.jobs() {
            self.table.row(Row::of(job))?;
        }
        self.table.finish()
    }
}

impl<'a> Row<'a> {
    fn of(job: &'a Job) -> Self {
        let spec = &*job.spec;
        let since = |at: SimTime| at.as_millis() - job.submitted.as_millis();
        Self {
            job: spec.id.0,
            name: &spec.name,
            user: &spec.user,
            pool: &spec.pool,
            class: &spec.class,
            priority: spec.priority.word(),
            maps: spec.maps,
            reduces: spec.reduces,
            submit_ms: job.submitted.as_millis(),
            initialised_ms: job.initialised.map(SimTime::as_millis),
            running_ms: job.running.map(SimTime::as_millis),
            first_launch_ms: job.first_launch.map(SimTime::as_millis),
            maps_done_ms: job.maps_done.map(SimTime::as_millis),
            finish_ms: job.ended.map(|(at, _)| at.as_millis()),
            sojourn_ms: job.ended.map(|(at, _)| since(at)),
            wait_ms: job.first_launch.map(since),
            node_local: job.maps_by_locality.node,
            rack_local: job.maps_by_locality.rack,
            off_rack: job.maps_by_locality.off_rack,
            failed: job.failed,
            killed: job.killed,
            suspended: job.suspended,
            outcome: job.ended.map_or("unfinished", |(_, outcome)| Outcome::word(outcome)),
        }
    }
}
