//! The Standard Workload Format of the Parallel Workloads Archive: a job in each line, in eighteen
//! columns of numbers; −1 is unknown, and lines that begin with `;` are comments.
//!
//! A processor of a job becomes a map of the job's run time. Unlike processors, maps need not run at
//! the same time.

use std::path::Path;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::{BatchFormat, TaskedJob, TaskedJobs, add, read};
use crate::workload::format::{Format, SeeJob, Trace};
use mumakil_base::units::Bytes;
use mumakil_core::trace::{Strictness, TextPlace, TraceError, clip};

/// The format of the archive's jobs.
pub(super) const JOBS: BatchFormat = BatchFormat {
    name: "the Standard Workload Format",
    known_by: "the Standard Workload Format (18 numbers)",
    attributes: &[],
    has_line: |line| line.starts_with(';') || numbers(line).is_ok(),
    read: jobs,
};

/// The number of columns.
const COLUMNS: usize = 18;

fn jobs(
    format: &'static dyn Format,
    path: &Path,
    block: Bytes,
    strictness: Strictness,
    see: &mut SeeJob<'_>,
) -> Result<Trace, TraceError> {
    let mut words = FxHashSet::default();
    let mut trace = read(format, path, block, strictness, see, |line, place, jobs| {
        read_line(line, place, jobs, &mut words)
    })?;
    let processors = "a processor of a job is a map here: the maps of a job need not run at once";
    trace.facts.push(processors.to_owned());
    Ok(trace)
}

/// Reads a line. `words` are the names of users and queues so far.
fn read_line(
    line: &str,
    place: TextPlace,
    jobs: &mut TaskedJobs,
    words: &mut FxHashSet<Arc<str>>,
) -> Result<(), String> {
    if line.is_empty() || line.starts_with(';') {
        return Ok(());
    }
    let columns = numbers(line)?;
    let known = |column: usize| Some(columns[column - 1]).filter(|number| 0.0 <= *number);
    let above_zero = |column| known(column).filter(|number| 0.0 < *number);
    let id = format!("job{}", columns[0]);
    let micros = |seconds: f64| (seconds * 1e6).round() as u64;
    let submit = known(2).ok_or("column 2, the submission, is unknown")?;
    let mut job = TaskedJob::new(place, micros(submit));
    let mut word = |text: String| match words.get(text.as_str()) {
        Some(known) => known.clone(),
        None => {
            let new: Arc<str> = text.into();
            words.insert(new.clone());
            new
        }
    };
    job.user = known(12).map(|user| word(format!("user{user}")));
    job.pool = known(15).map(|queue| word(format!("queue{queue}")));
    // Memory is in kibibytes, for each processor.
    let memory = above_zero(7).or(above_zero(10));
    job.memory = memory.map(|kib| Bytes::new((kib * 1_024.0).min(1e15) as u64));
    let processors = above_zero(5).or(above_zero(8));
    if let Some((processors, time)) = processors.zip(known(4)) {
        add(&mut job.maps, processors as u64, micros(time))?;
    }
    match jobs.insert(id, job) {
        None => Ok(()),
        Some(_) => Err(format!("another job {} before", columns[0])),
    }
}

/// Returns the columns of a line.
fn numbers(line: &str) -> Result<[f64; COLUMNS], String> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    if words.len() != COLUMNS {
        return Err(format!("{} columns, expected {COLUMNS}", words.len()));
    }
    let mut columns = [0.0; COLUMNS];
    for (place, word) in words.iter().enumerate() {
        let number = word.parse().ok().filter(|number: &f64| number.abs() <= 1e12);
        columns[place] = number.ok_or_else(|| {
            format!("column {}, `{}`, is not a number up to 10^12", place + 1, clip(word))
        })?;
    }
    Ok(columns)
}
