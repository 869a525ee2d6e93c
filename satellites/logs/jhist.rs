//! The log that Hadoop 0.21, 2.x and 3.x write about each job (`.jhist`), read as a logged job.
//! ```text
//! Avro-Json
//! {"type":"record","name":"Event", …}                                      its schema, not needed
//! {"type":"JOB_SUBMITTED","event":{"org.….JobSubmitted":{"jobid":"job_1","submitTime":1}}}
//! {"type":"TASK_STARTED","event":{"org.….TaskStarted":{"taskid":"task_1_m_000000"}}}
//! ```
//! A value that may be missing is null or stands in an object of its own: `{"string": "/rack"}`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::job_log::{JobLog, count_in, location, note_host};
use mumakil_core::trace::{FirstFew, RecordFault, clip};
use mumakil_traces::rumen::{LoggedJob, LoggedOutcome, named};

/// The beginning of the first line of a log.
pub(super) const HEAD: &str = "Avro-Json";

/// The beginning of a log that is not text, as Hadoop 3 writes it by default.
pub(super) const BINARY_HEAD: &str = "Avro-Binary";

const BINARY: &str = "its server writes text with `mapreduce.jobhistory.jhist.format: json`";

/// A line of the log.
#[derive(Deserialize)]
struct JhistLine<'t> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'t, str>,
    /// The told facts, under the name of their type.
    #[serde(borrow)]
    event: BTreeMap<Cow<'t, str>, &'t RawValue>,
}

/// The facts that a line tells. Each kind of event has some of these fields.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ToldEvent {
    jobid: Option<String>,
    taskid: Option<String>,
    attempt_id: Option<String>,
    job_name: AvroUnion<String>,
    user_name: AvroUnion<String>,
    job_queue_name: AvroUnion<String>,
    submit_time: Option<i64>,
    launch_time: Option<i64>,
    start_time: Option<i64>,
    shuffle_finish_time: Option<i64>,
    sort_finish_time: Option<i64>,
    finish_time: Option<i64>,
    total_maps: Option<i64>,
    total_reduces: Option<i64>,
    job_status: AvroUnion<String>,
    task_status: AvroUnion<String>,
    status: AvroUnion<String>,
    priority: AvroUnion<String>,
    task_type: AvroUnion<String>,
    split_locations: AvroUnion<String>,
    hostname: AvroUnion<String>,
    rackname: AvroUnion<String>,
    counters: AvroUnion<ToldCounters>,
    clock_splits: Vec<i64>,
    cpu_usages: Vec<i64>,
    #[serde(rename = "vMemKbytes")]
    vmem_kbytes: Vec<i64>,
    phys_mem_kbytes: Vec<i64>,
}

/// A value that may be missing: null, plain, or in an object under the name of its type.
#[derive(Deserialize)]
#[serde(untagged)]
enum AvroUnion<T> {
    Plain(Option<T>),
    Named(BTreeMap<String, T>),
}

impl<T> Default for AvroUnion<T> {
    fn default() -> Self {
        Self::Plain(None)
    }
}

impl<T> AvroUnion<T> {
    fn get(self) -> Option<T> {
        match self {
            Self::Plain(value) => value,
            Self::Named(named) => named.into_values().next(),
        }
    }
}

#[derive(Deserialize)]
struct ToldCounters {
    groups: Vec<CounterGroup>,
}

#[derive(Deserialize)]
struct CounterGroup {
    #[serde(default)]
    counts: Vec<ToldCounter>,
}

#[derive(Deserialize)]
struct ToldCounter {
    name: String,
    value: i64,
}

/// Reads the log of a job. A broken line is added to `broken`; without that, it is an error.
pub(super) fn parse(
    text: &[u8],
    unknown: &mut FirstFew<String>,
    mut broken: Option<&mut FirstFew<RecordFault>>,
) -> Result<LoggedJob, RecordFault> {
    if text.starts_with(BINARY_HEAD.as_bytes()) {
        return Err(RecordFault::new("a log in Avro's binary form, which is not read").hint(BINARY));
    }
    let mut log = JobLog::default();
    let mut at = 0;
    for (number, line) in text.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let (here, content) = (at, line.trim_ascii());
        at += line.len();
        // The first line names the form, the second has the schema.
        if number < 2 || content.is_empty() {
            continue;
        }
        let is_configuration = content.starts_with(b"<");
        let read = match is_configuration {
            true => log.configure(&text[here..]),
            false => tell_line(&mut log, content, unknown).map_err(|error| error.to_string()),
        };
        if let Err(what) = read {
            let fault = RecordFault::new(clip(&what)).at(here);
            let Some(broken) = &mut broken else { return Err(fault) };
            broken.add(fault);
        }
        if is_configuration {
            break;
        }
    }
    log.into_job(text)
}

/// Adds the event of a line to the log.
fn tell_line(
    log: &mut JobLog,
    line: &[u8],
    unknown: &mut FirstFew<String>,
) -> Result<(), serde_json::Error> {
    let JhistLine { kind, event } = serde_json::from_slice(line)?;
    if let Some(told) = event.values().next()
        && !tell(log, &kind, serde_json::from_str(told.get())?)
    {
        unknown.add(clip(&kind));
    }
    Ok(())
}

fn time(told: Option<i64>) -> Option<u64> {
    u64::try_from(told?).ok().filter(|time| 0 < *time)
}

fn outcome(name: &str) -> Option<LoggedOutcome> {
    match name.strip_prefix("JOB_").unwrap_or(name) {
        "SUCCEEDED" | "FINISHED" => Some(LoggedOutcome::Success),
        "ERROR" => Some(LoggedOutcome::Failed),
        other => named(other),
    }
}

/// Adds an event to the log. Returns whether its kind is known.
fn tell(log: &mut JobLog, kind: &str, told: ToldEvent) -> bool {
    let set = |field: &mut Option<u64>, told| *field = time(told).or(*field);
    if kind.starts_with("JOB_") {
        let job = &mut log.job;
        job.job_id = told.jobid.unwrap_or(std::mem::take(&mut job.job_id));
        job.job_name = told.job_name.get().or(job.job_name.take());
        job.user = told.user_name.get().or(job.user.take());
        job.queue = told.job_queue_name.get().or(job.queue.take());
        set(&mut job.submit_time, told.submit_time);
        set(&mut job.launch_time, told.launch_time);
        set(&mut job.finish_time, told.finish_time);
        let count = |told: Option<i64>| u32::try_from(told?).ok();
        job.total_maps = count(told.total_maps).or(job.total_maps);
        job.total_reduces = count(told.total_reduces).or(job.total_reduces);
        job.outcome = outcome(kind).or(job.outcome);
        if let Some(priority) = told.priority.get().and_then(|name| named(&name)) {
            log.prioritise(priority);
        }
        return true;
    }
    let Some(task_id) = told.taskid else { return kind.starts_with("AM_") };
    let kind_of_task = told.task_type.get().and_then(|name| named(&name));
    if let Some(id) = told.attempt_id {
        let attempt = log.attempt(&task_id, kind_of_task, &id);
        set(&mut attempt.start_time, told.start_time);
        set(&mut attempt.finish_time, told.finish_time);
        set(&mut attempt.shuffle_finished, told.shuffle_finish_time);
        set(&mut attempt.sort_finished, told.sort_finish_time);
        let ended = told.task_status.get().or(told.status.get());
        attempt.result = ended.and_then(|name| outcome(&name)).or(attempt.result);
        let rack = told.rackname.get().filter(|rack| !rack.is_empty());
        if let Some(host) = told.hostname.get().filter(|host| !host.is_empty()) {
            let rack = rack.filter(|_| !host.starts_with('/'));
            note_host(attempt, rack.map_or(host.clone(), |rack| format!("{rack}/{host}")));
        }
        for counter in told.counters.get().into_iter().flat_map(|counters| counters.groups) {
            for ToldCounter { name, value } in counter.counts {
                if let Ok(value) = u64::try_from(value) {
                    count_in(attempt, name.as_bytes(), value);
                }
            }
        }
        for (field, told) in [
            (&mut attempt.clock_splits, told.clock_splits),
            (&mut attempt.cpu_usages, told.cpu_usages),
            (&mut attempt.vmem_kbytes, told.vmem_kbytes),
            (&mut attempt.phys_mem_kbytes, told.phys_mem_kbytes),
        ] {
            if !told.is_empty() {
                *field = told;
            }
        }
        return true;
    }
    let task = log.task(&task_id, kind_of_task);
    set(&mut task.start_time, told.start_time);
    set(&mut task.finish_time, told.finish_time);
    task.task_status = told.status.get().and_then(|name| outcome(&name)).or(task.task_status);
    if let Some(splits) = told.split_locations.get().filter(|splits| !splits.is_empty()) {
        task.preferred_locations = splits.split(',').map(location).collect();
    }
    true
}
