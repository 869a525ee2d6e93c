//! `chains.csv`: how long chains of jobs take, in the order of their first jobs.
//!
//! The time of a chain goes from the first arrival to the last end of its jobs, including pauses
//! between jobs. A chain has no end while one of its jobs has not arrived or not ended, or if one
//! of them was refused.

use std::path::Path;

use super::table::TableAtEnd;
use super::{RecordError, RunBooks, Watcher};
use mumakil_base::units::{SimSpan, SimTime};
use mumakil_core::mapred::JobId;
use mumakil_results::tables::{ChainRow, JobEnd};

/// Creates `chains.csv` for the given chains, each of which has at least one job.
///
/// # Errors
/// If it cannot be written.
pub fn chains_table(
    folder: &Path,
    chains: Vec<Vec<JobId>>,
) -> Result<Box<dyn Watcher>, RecordError> {
    TableAtEnd::create(folder, move |books, table| {
        // If no job of a chain has arrived, the chain has no row: a job that has not arrived has no
        // row in `jobs.csv` either.
        let mut rows = chains.iter().filter_map(|chain| row(chain, books));
        rows.try_for_each(|row| table.row(&row))
    })
}

fn row(chain: &[JobId], books: &RunBooks) -> Option<ChainRow> {
    let first = books.job(*chain.first()?)?;
    let arrivals = chain.iter().filter_map(|job| books.job(*job)).map(|job| job.submitted);
    // Take the minimum: a chain's jobs may arrive in any order.
    let submitted = arrivals.min()?;
    let end = |job: &JobId| {
        let job = books.job(*job).filter(|job| !job.is_refused())?;
        Some(job.ended?.0)
    };
    let ends: Option<Vec<SimTime>> = chain.iter().map(end).collect();
    // `collect` gave `None` if any job has no end; then the chain has no end either.
    let finish = ends.and_then(|ends| ends.into_iter().max());
    Some(ChainRow {
        job: first.spec.id.0,
        name: (&*first.spec.name).into(),
        jobs: chain.len() as u32,
        submit_ms: submitted.as_millis(),
        finish_ms: finish.map(SimTime::as_millis),
        sojourn_ms: finish.map(|at| at.saturating_since(submitted)).map(SimSpan::as_millis),
        outcome: Some(outcome(chain, books)),
    })
}

/// Returns the end of the first job of a chain that did not succeed; `Succeeded` if all did.
fn outcome(chain: &[JobId], books: &RunBooks) -> JobEnd {
    // A job that has not arrived has no end either.
    let end = |job: &JobId| books.job(*job)?.ended.map(|(_, outcome)| outcome);
    let mut ends = chain.iter().map(|job| end(job).unwrap_or(JobEnd::Unfinished));
    ends.find(|end| *end != JobEnd::Succeeded).unwrap_or(JobEnd::Succeeded)
}
