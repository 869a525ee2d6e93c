//! Alibaba's traces of 2017 and 2018: `batch_task.csv`, without a header.
//!
//! ```text
//! M1,200.0,j_31,1,Terminated,86400,86460,100.0,0.3     2018: task, instances, job, type, status,
//!                                                            start, end, plan
//! 10,70,5,3,200,Terminated,0.5,0.01                    2017: create, modify, job, task, instances,
//!                                                            status, plan
//! ```
//! The instances of a task are tasks of a job, each of the time of the whole task. A task of 2018
//! whose name begins with R or J reads what others have written, so its instances are reduces.

use std::path::Path;

use super::{BatchFormat, TaskedJob, TaskedJobs, add, elsewhere, read};
use crate::workload::format::{Format, SeeJob, Trace};
use mumakil_base::units::Bytes;
use mumakil_core::trace::{Strictness, TextPlace, TraceError, clip};

/// The format of the tasks of batch jobs.
pub(super) const TASKS: BatchFormat = BatchFormat {
    name: "Alibaba's batch tasks",
    known_by: "Alibaba's `batch_task.csv`",
    attributes: &[],
    has_line: |line| batch_row(line).is_some(),
    read: jobs,
};

/// The format of the tasks' instances.
pub(super) const INSTANCES: BatchFormat = BatchFormat {
    name: "Alibaba's batch instances",
    known_by: "",
    attributes: &[],
    has_line: |line| {
        let cells: Vec<&str> = line.split(',').collect();
        // 2018 has the status in the fifth column, 2017 in the sixth or seventh.
        12 <= cells.len() && cells[4..7].iter().any(|cell| STATUS.contains(cell))
    },
    read: |_, path, _, _, _| {
        let what = "Alibaba's batch instances, which name the machine of each attempt";
        let hint = "name the batch_task.csv beside it, which has the jobs' tasks";
        Err(elsewhere(path, what, hint))
    },
};

/// The words for the status of a task.
const STATUS: [&str; 6] = ["Ready", "Waiting", "Running", "Terminated", "Failed", "Cancelled"];

/// A task of a job.
struct BatchRow<'t> {
    job: &'t str,
    is_reduce: bool,
    instances: &'t str,
    status: &'t str,
    start: &'t str,
    end: &'t str,
}

/// Returns the task in a line; `None` if the line has other columns.
fn batch_row(line: &str) -> Option<BatchRow<'_>> {
    let cells: Vec<&str> = line.split(',').map(str::trim).collect();
    let row = match cells[..] {
        [task, instances, job, _, status, start, end, _, _] => {
            let is_reduce = task.starts_with(['R', 'J']);
            BatchRow { job, is_reduce, instances, status, start, end }
        }
        [start, end, job, _, instances, status, _, _] => {
            BatchRow { job, is_reduce: false, instances, status, start, end }
        }
        _ => return None,
    };
    STATUS.contains(&row.status).then_some(row)
}

fn jobs(
    format: &'static dyn Format,
    path: &Path,
    block: Bytes,
    strictness: Strictness,
    see: &mut SeeJob<'_>,
) -> Result<Trace, TraceError> {
    let mut trace = read(format, path, block, strictness, see, read_line)?;
    let told = "a job is submitted when its first task starts, and has no order of tasks but maps \
        before reduces";
    trace.facts.push(told.to_owned());
    Ok(trace)
}

fn read_line(line: &str, place: TextPlace, jobs: &mut TaskedJobs) -> Result<(), String> {
    let row = batch_row(line).ok_or("not the columns of a task with its status")?;
    let number = |what: &str, cell: &str| {
        // Numbers of instances are written `200.0` in 2018.
        let number = cell.parse::<f64>().ok().filter(|number| (0.0..=1e12).contains(number));
        number.ok_or_else(|| format!("{what} is `{}`, not a number up to 10^12", clip(cell)))
    };
    if row.job.is_empty() {
        return Err("no job".to_owned());
    }
    // Empty cells are unknown, as for a task that never started.
    if row.start.is_empty() || row.end.is_empty() || row.instances.is_empty() {
        return Ok(());
    }
    let (start, end) = (number("the start", row.start)?, number("the end", row.end)?);
    let instances = number("the number of instances", row.instances)?;
    let [start, end] = [start, end].map(|seconds| (seconds * 1e6) as u64);
    // A task without an end has the end 0.
    if 0 < end && end < start {
        return Err(format!("it ends at {} s, before its start at {} s", row.end, row.start));
    }
    let job = jobs.entry(row.job.to_owned()).or_insert_with(|| TaskedJob::new(place, start));
    job.submit = job.submit.min(start);
    if let Some(took) = end.checked_sub(start).filter(|_| row.status == "Terminated") {
        let tasks = if row.is_reduce { &mut job.reduces } else { &mut job.maps };
        add(tasks, instances as u64, took)?;
    }
    Ok(())
}
