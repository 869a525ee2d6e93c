//! The parts of a logged job that are the same for every reader: whether it runs at all, when it
//! was submitted, and its tasks by number.
//!
//! A run, an inspection and a conversion of a trace all use this, so they agree on the jobs.

use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::attempt::{LoggedAttempt, LoggedOutcome, LoggedTask, TaskType};
use super::properties;
use super::record::LoggedJob;
use mumakil_base::units::{Bytes, Count, SimSpan};
use mumakil_core::mapred::Priority;
use mumakil_core::trace::Record;
use mumakil_scenario::workload::{JobEntry, TaskCount};

/// How a Rumen trace is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RumenModel {
    /// Each task as it was measured.
    Measured,
    /// As Mumak does, with its quirks.
    Mumak,
}

/// A logged job that has tasks to run.
pub struct RunnableJob<'a> {
    /// The job as it was logged.
    pub job: &'a LoggedJob,
    /// When the job was submitted, in the milliseconds of the trace.
    pub submitted: u64,
    /// How many maps it has.
    pub maps: TaskCount,
    /// How many reduces it has.
    pub reduces: TaskCount,
    /// The logged maps, in the order of the file.
    pub logged: Vec<&'a LoggedTask>,
    /// The maps by their numbers.
    pub map_tasks: NumberedTasks<'a>,
    /// The reduces by their numbers.
    pub reduce_tasks: NumberedTasks<'a>,
    /// Whether more maps are logged than the job has. In Mumak such a job fails when it is
    /// initialised.
    pub is_unreadable: bool,
}

/// Tasks, each by the number in its id.
pub type NumberedTasks<'a> = FxHashMap<u32, &'a LoggedTask>;

impl<'a> RunnableJob<'a> {
    /// Returns the job to run; `None` if it was killed or has no map.
    ///
    /// # Errors
    /// If its tasks are not numbered, or are more than can be.
    pub fn of(job: &'a LoggedJob, model: RumenModel) -> Result<Option<Self>, String> {
        let submitted = job.submitted().ok_or("no submitTime")?;
        let (maps, reduces) = (job.total_maps.unwrap_or(0), job.total_reduces.unwrap_or(0));
        // Rumen of Hadoop 1.2 lists setup and cleanup tasks among the maps.
        let logged: Vec<&LoggedTask> =
            job.map_tasks.iter().filter(|task| task.task_type == Some(TaskType::Map)).collect();
        // Mumak skips killed jobs and jobs without maps; `measured` skips them, too, so that both
        // run the same jobs.
        if job.outcome == Some(LoggedOutcome::Killed) || maps == 0 || logged.is_empty() {
            return Ok(None);
        }
        let is_unreadable = (maps as usize) < logged.len();
        if is_unreadable && model == RumenModel::Measured {
            return Err(format!("{} maps are logged, but totalMaps is {maps}", logged.len()));
        }
        Ok(Some(Self {
            job,
            submitted,
            maps: Count::new(maps).ok_or_else(|| format!("{maps} maps are too many"))?,
            reduces: Count::new(reduces)
                .ok_or_else(|| format!("{reduces} reduces are too many"))?,
            logged,
            map_tasks: numbered(&job.map_tasks)?,
            reduce_tasks: numbered(&job.reduce_tasks)?,
            is_unreadable,
        }))
    }

    /// Returns the job with the fields that do not depend on how its tasks are read.
    ///
    /// With `keeps_settings` it has the settings that its logged configuration contains.
    pub(super) fn entry(&self, is_mumak: bool, keeps_settings: bool) -> JobEntry {
        let (job, plain) = (self.job, JobEntry::named(&self.job.job_id));
        let memory = |own: Option<u32>| {
            // The job's memory setting, or else the `-Xmx` that Rumen found in its configuration.
            let mib = own.or(job.heap_megabytes).filter(|mib| 0 < *mib);
            mib.map(|mib| Bytes::from_mib(mib.into()))
        };
        // Mumak has one queue, and in its fair scheduler each user has a pool.
        let nobody = if is_mumak { "(unknown)" } else { "unknown" };
        let entry = JobEntry {
            user: job.user.clone().unwrap_or_else(|| nobody.to_owned()),
            pool: (!is_mumak).then(|| self.pool().to_owned()),
            priority: priority(job, is_mumak),
            maps: Some(self.maps),
            reduces: self.reduces,
            map_memory: memory(job.job_map_mb).unwrap_or(plain.map_memory),
            reduce_memory: memory(job.job_reduce_mb).unwrap_or(plain.reduce_memory),
            ..plain
        };
        if keeps_settings { properties::with_settings(entry, &job.job_properties) } else { entry }
    }

    /// Returns the pool or queue of the job.
    pub fn pool(&self) -> &str {
        properties::pool(self.job).or(self.job.queue.as_deref()).unwrap_or("default")
    }

    /// Returns when the last map ended, in the milliseconds of the trace.
    pub(super) fn maps_ended(&self) -> u64 {
        self.logged.iter().filter_map(|task| task.finish_time).max().unwrap_or(0)
    }
}

fn numbered(tasks: &[LoggedTask]) -> Result<NumberedTasks<'_>, String> {
    let mut numbered = NumberedTasks::default();
    // Mumak treats a task without a type as if it were not logged, and makes up such a task.
    for task in tasks.iter().filter(|task| task.task_type.is_some()) {
        if numbered.insert(number_of(&task.task_id)?, task).is_some() {
            return Err(format!("another task before {} has its number", task.task_id));
        }
        let mut attempts = FxHashMap::default();
        for LoggedAttempt { attempt_id, .. } in &task.attempts {
            if attempts.insert(number_of(attempt_id)?, attempt_id).is_some() {
                return Err(format!("another attempt before {attempt_id} has its number"));
            }
        }
    }
    Ok(numbered)
}

/// Returns the first part of a job's id, and its number: Hadoop sorts ids by both.
pub(super) fn id_of(job: &str) -> (Box<str>, u64) {
    let parts = job.rsplit_once('_').and_then(|(head, number)| Some((head, number.parse().ok()?)));
    let (head, number) = parts.unwrap_or((job, 0));
    (head.into(), number)
}

/// Returns the number at the end of an id.
pub(super) fn number_of(id: &str) -> Result<u32, String> {
    let number = id.rsplit('_').next().and_then(|number| number.parse().ok());
    number.ok_or_else(|| format!("the id {id} does not end in `_` and a number"))
}

/// The time that Mumak gives an attempt that ended before it began: 100 ms.
pub(super) const BACKWARDS: SimSpan = SimSpan::from_millis(100);

/// Returns how long an attempt of a map took; `None` if unknown. Mumak computes with −1 for an
/// unknown time, and so does this function, except if the result would be the time since 1970.
pub fn map_time(logged: &LoggedAttempt, model: RumenModel) -> Option<SimSpan> {
    let is_mumak = model == RumenModel::Mumak;
    match (logged.start_time, logged.finish_time) {
        // Mumak makes up the time of a map with the start 0, but not with the start −1.
        (Some(0), _) => None,
        (Some(start), Some(finish)) => {
            Some(finish.checked_sub(start).map_or(BACKWARDS, SimSpan::from_millis))
        }
        // −1 minus the start: the result is below zero.
        (Some(_), None) if is_mumak => Some(BACKWARDS),
        // −1 minus −1: the result is zero.
        (None, None) if is_mumak => Some(SimSpan::ZERO),
        _ => None,
    }
}

/// Returns the priority of a job. Mumak reads only the configuration, which older traces do not
/// have.
fn priority(job: &LoggedJob, is_mumak: bool) -> Priority {
    let names = ["mapreduce.job.priority", "mapred.job.priority"];
    let configured = properties::property(&job.job_properties, names)
        .and_then(|word| serde_yaml::from_str(&word.to_lowercase()).ok());
    let own = job.priority.filter(|_| !is_mumak).map(Priority::from);
    own.or(configured).unwrap_or_default()
}
