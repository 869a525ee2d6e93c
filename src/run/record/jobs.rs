//! `jobs.csv`: a row for each submitted job, in the order of their ids.
//!
//! The table is written from the books at the end of the run, since jobs end in any order. Instants
//! are truncated to milliseconds. Spans are differences of truncated instants, so that they add up.
//!
//! The time of a chain of jobs goes from the first arrival to the last end of its jobs, including
//! pauses between jobs. A chain has no end while one of its jobs has not arrived or not ended, or if
//! one of them was refused.

use std::path::Path;

use rustc_hash::FxHashMap;

use super::expenses::{ExpenseTally, Expenses};
use super::summary::rounded;
use super::table::TableWriter;
use super::waste::Waste;
use super::{BookedJob, RecordError, RunBooks};
use mumakil_base::units::{SimSpan, SimTime};
use mumakil_core::mapred::{JobId, JobSize};
use mumakil_results::expect::ExprNeeds;
use mumakil_results::tables::{JobEnd, JobRow, SlotMillis};
use mumakil_scenario::RecordSpec;

/// Returns the keys of `record` that are on, among those of outputs that expressions may read.
pub(crate) fn keys_on(settings: &RecordSpec) -> Vec<&'static str> {
    let mut all = settings.clone();
    let outputs = all.read_by(&ExprNeeds::default()).into_iter();
    outputs.filter(|(_, is_on, _)| **is_on).map(|(key, ..)| key).collect()
}

/// Writes `jobs.csv`.
#[derive(Debug)]
pub(super) struct JobsTable {
    table: TableWriter<JobRow>,
    /// The chains of jobs, by their first jobs.
    chains: FxHashMap<JobId, Vec<JobId>>,
}

impl JobsTable {
    /// Creates the table, with the columns that these keys of `record` add.
    pub(super) fn create(
        folder: &Path,
        keys: &[&str],
        chains: Vec<Vec<JobId>>,
    ) -> Result<Self, RecordError> {
        let chains = chains.into_iter().filter_map(|chain| Some((*chain.first()?, chain)));
        Ok(Self { table: TableWriter::with(folder, keys)?, chains: chains.collect() })
    }

    /// Writes the rows at the end of the run.
    pub(super) fn write(
        &mut self,
        books: &RunBooks,
        waste: Option<&Waste>,
        expenses: Option<&ExpenseTally>,
        ended: SimTime,
    ) -> Result<(), RecordError> {
        let ids = books.jobs().map(|job| job.spec.id);
        let mut parts =
            expenses.map(|tally| tally.of_jobs(ids, ended)).unwrap_or_default().into_iter();
        for job in books.jobs() {
            let Expenses { energy_kwh, cost } = parts.next().unwrap_or_default();
            let mut row = JobRow { energy_kwh, cost, ..job_row(job) };
            add_sizes(job, &mut row);
            add_deadline(job, ended, &mut row);
            if let Some(chain) = self.chains.get(&job.spec.id) {
                add_chain(chain, books, &mut row);
            }
            if let Some(waste) = waste {
                waste.add(job.spec.id, &mut row);
            }
            self.table.row(&row)?;
        }
        self.table.finish()
    }
}

/// Returns the row of a job, without the columns that `record` adds.
pub fn job_row(job: &BookedJob) -> JobRow {
    let spec = &*job.spec;
    // The difference of truncated instants: `submit_ms + sojourn_ms` is exactly `finish_ms`.
    let since = |at: SimTime| at.as_millis() - job.submitted.as_millis();
    let [node_local, rack_local, off_rack] = job.maps_by_locality;
    JobRow {
        job: spec.id.0,
        name: (&*spec.name).into(),
        user: (&*spec.user).into(),
        pool: (&*spec.pool).into(),
        class: (&*spec.class).into(),
        priority: spec.priority.word().into(),
        maps: spec.maps,
        reduces: spec.reduces,
        submit_ms: job.submitted.as_millis(),
        initialised_ms: job.initialised.map(SimTime::as_millis),
        running_ms: job.running.map(SimTime::as_millis),
        first_launch_ms: job.first_launch.map(SimTime::as_millis),
        maps_done_ms: job.maps_done.map(SimTime::as_millis),
        finish_ms: job.ended.map(|(at, _)| at.as_millis()),
        // A refused job has a time of its end, its submission, but never was in the cluster.
        sojourn_ms: job.ended.filter(|_| !job.is_refused()).map(|(at, _)| since(at)),
        wait_ms: job.first_launch.map(since),
        node_local,
        rack_local,
        off_rack,
        failed: job.failed,
        killed: job.killed,
        suspended: job.suspended,
        outcome: job.ended.map_or(JobEnd::Unfinished, |(_, outcome)| outcome),
        ..JobRow::default()
    }
}

/// Adds how large the policy estimated the job to be, and how large it was.
fn add_sizes(job: &BookedJob, row: &mut JobRow) {
    let millis = |seconds| SlotMillis(slot_millis(seconds));
    let error = |size: JobSize| {
        // Tasks that took no time have no relative error. Adding zero turns a negative zero into a
        // positive one.
        (0.0 < size.real).then(|| rounded(size.estimated / size.real - 1.0) + 0.0)
    };
    if let Some(maps) = job.sizes.map {
        row.map_estimate_ms = Some(millis(maps.estimated));
        row.map_size_ms = Some(millis(maps.real));
        row.map_error = error(maps);
    }
    if let Some(reduces) = job.sizes.reduce {
        row.reduce_estimate_ms = Some(millis(reduces.estimated));
        row.reduce_size_ms = Some(millis(reduces.real));
        row.reduce_error = error(reduces);
    }
}

/// Returns slot-seconds as whole slot-milliseconds, rounded down like all times of tables.
pub(super) fn slot_millis(seconds: f64) -> u64 {
    (seconds * 1e3) as u64
}

/// Adds the job's deadline, and by how much it was missed.
fn add_deadline(job: &BookedJob, ended: SimTime, row: &mut JobRow) {
    let Some(span) = job.spec.deadline else { return };
    let deadline = job.submitted + span;
    // A job that the run left before its deadline may still have ended in time.
    if job.ended.is_none() && ended <= deadline {
        return;
    }
    let succeeded = job.ended.filter(|(_, end)| end.is_measured()).map(|(at, _)| at);
    let tardiness = succeeded.map(|at| at.saturating_since(deadline));
    row.deadline_ms = Some(span.as_millis());
    row.tardiness_ms = tardiness.map(SimSpan::as_millis);
    row.missed = Some(tardiness.is_none_or(|late| !late.is_zero()).into());
}

/// Adds how long a chain takes to the row of its first job.
fn add_chain(chain: &[JobId], books: &RunBooks, row: &mut JobRow) {
    let arrived = || chain.iter().filter_map(|job| books.job(*job));
    // A job that has not arrived has no end either.
    let mut ends = chain.iter().map(|job| books.job(*job).and_then(|job| job.ended));
    let outcomes = ends.clone().map(|end| end.map_or(JobEnd::Unfinished, |(_, outcome)| outcome));
    row.chain_jobs = Some(chain.len() as u32);
    let failure = outcomes.clone().find(|outcome| *outcome != JobEnd::Succeeded);
    row.chain_outcome = Some(failure.unwrap_or(JobEnd::Succeeded));
    // The minimum and the maximum: a chain's jobs may arrive and end in any order.
    let submitted = arrived().map(|job| job.submitted).min();
    let finish = ends.try_fold(SimTime::ZERO, |last, end| match end? {
        (_, JobEnd::Refused) => None,
        (at, _) => Some(last.max(at)),
    });
    row.chain_finish_ms = finish.map(SimTime::as_millis);
    row.chain_sojourn_ms =
        finish.zip(submitted).map(|(to, from)| to.saturating_since(from).as_millis());
}
