//! `jobs.csv`: a row for each submitted job, in the order of their ids.
//!
//! The table is written from the books at the end of the run, since jobs end in any order. Instants
//! are truncated to milliseconds. Spans are differences of truncated instants, so that they add up.

use std::path::Path;

use super::table::TableAtEnd;
use super::{BookedJob, RecordError, Watcher};
use mumakil_base::units::SimTime;
use mumakil_results::tables::{JobEnd, JobRow};

/// Creates `jobs.csv`.
pub(super) fn jobs_table(folder: &Path) -> Result<Box<dyn Watcher>, RecordError> {
    TableAtEnd::create(folder, |books, table| books.jobs().try_for_each(|job| table.row(&row(job))))
}

fn row(job: &BookedJob) -> JobRow {
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
    }
}
