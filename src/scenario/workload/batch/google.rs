//! Google's trace of 2011: the tables `task_events`, without a header.
//!
//! ```text
//! 600025907,,6221861800,19466,,0,user=,3,9,0.0125,0.0159,0.0004,
//! time µs, missing, job, task, machine, event, user, class, priority, processors, memory, disk, …
//! ```
//! Each task that was scheduled and finished is a map of the time between. The jobs' tables and the
//! trace of 2019 are recognised, and told what to do with.

use std::path::Path;

use rustc_hash::FxHashMap;

use super::{BatchFormat, TaskedJob, TaskedJobs, add, elsewhere, read};
use crate::workload::format::{Format, SeeJob, Trace};
use mumakil_base::units::Bytes;
use mumakil_core::trace::{Strictness, TextPlace, TraceError, clip};

/// The format of the events of tasks.
pub(super) const TASKS: BatchFormat = BatchFormat {
    name: "Google's events of tasks",
    known_by: "Google's `task_events` of 2011",
    attributes: &[],
    has_line: |line| has_event(line, 13, 5),
    read: jobs,
};

/// The format of the events of jobs.
pub(super) const JOBS: BatchFormat = BatchFormat {
    name: "Google's events of jobs",
    known_by: "",
    attributes: &[],
    has_line: |line| has_event(line, 8, 3),
    read: |_, path, _, _, _| {
        let what = "Google's events of jobs, which do not have the jobs' tasks";
        Err(elsewhere(path, what, "name a file of task_events, which names the jobs too"))
    },
};

/// The format of the trace of 2019.
pub(super) const COLLECTIONS: BatchFormat = BatchFormat {
    name: "Google's trace of 2019",
    known_by: "",
    attributes: &["collection_id", "instance_index"],
    has_line: |_| false,
    read: |_, path, _, _, _| {
        let what = "Google's trace of 2019, which is not read";
        Err(elsewhere(path, what, "make a table of its jobs: name, submit_s, maps, map_time_s"))
    },
};

const SUBMIT: &str = "0";
const SCHEDULE: &str = "1";
const FINISH: &str = "4";

/// Returns whether a line has this many columns, with numbers for the time and the job, and an event
/// in its place.
fn has_event(line: &str, columns: usize, event: usize) -> bool {
    let cells: Vec<&str> = line.split(',').collect();
    let is_number = |cell: &str| !cell.is_empty() && cell.bytes().all(|byte| byte.is_ascii_digit());
    cells.len() == columns
        && is_number(cells[0])
        && is_number(cells[2])
        && matches!(cells[event], "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8")
}

fn jobs(
    format: &'static dyn Format,
    path: &Path,
    block: Bytes,
    strictness: Strictness,
    see: &mut SeeJob<'_>,
) -> Result<Trace, TraceError> {
    // When each task that still runs was scheduled.
    let mut running: FxHashMap<(String, String), u64> = FxHashMap::default();
    let read_line = |line: &str, place: TextPlace, jobs: &mut TaskedJobs| {
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        let &[time, _, job, task, _, event, user, ..] = &cells[..] else {
            return Err(format!("{} columns, expected 13", cells.len()));
        };
        let time: u64 = match time.parse() {
            // The end of the trace stands for times after it.
            Ok(i64::MAX) => return Ok(()),
            Ok(time) => u64::try_from(time).map_err(|_| "a time below zero".to_owned())?,
            Err(_) => return Err(format!("the time, `{}`, is not a number", clip(time))),
        };
        let entry = jobs.entry(format!("job{job}"));
        let of_job = entry.or_insert_with(|| TaskedJob::new(place, time));
        if of_job.user.is_none() && !user.is_empty() {
            of_job.user = Some(user.into());
        }
        let key = || (job.to_owned(), task.to_owned());
        match event {
            SUBMIT => of_job.submit = of_job.submit.min(time),
            SCHEDULE => {
                running.insert(key(), time);
            }
            FINISH => {
                if let Some(since) = running.remove(&key()) {
                    let took = time.checked_sub(since);
                    let took =
                        took.ok_or_else(|| format!("it ends before {since} µs, its start"))?;
                    add(&mut of_job.maps, 1, took)?;
                }
            }
            // The task is evicted, fails, is killed or lost: it may be scheduled again.
            "2" | "3" | "5" | "6" => {
                running.remove(&key());
            }
            _ => {}
        }
        Ok(())
    };
    read(format, path, block, strictness, see, read_line)
}
