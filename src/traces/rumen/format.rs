//! Rumen's formats: its jobs and its topology.

use std::io;
use std::path::Path;

use super::admitted::{NumberedTasks, RumenModel, RunnableJob, map_time};
use super::attempt::{LoggedAttempt, LoggedOutcome, LoggedTask, TaskType, named};
use super::order::{RepeatedIds, told_order};
use super::properties;
use super::record::{self, LoggedJob};
use super::source::reduce_times;
use super::survey::{LogSurvey, success};
use super::topology::LoggedTopology;
use mumakil_base::units::{Bytes, SimSpan};
use mumakil_core::mapred::{TaskBytes, TaskTimes, TracedTimes};
use mumakil_core::trace::{Record, Records, Strictness, TraceError, json};
use mumakil_scenario::workload::JobEntry;
use mumakil_scenario::workload::format::{
    ConversionTarget, Endings, Format, FormatContents, HostFile, ListedHost, SeeJob, Trace,
    TraceJob, TraceToRead, too_late,
};

/// The format of Rumen's jobs.
pub static RUMEN_JOBS: Format = Format {
    known_by: "Rumen's jobs (objects with `jobID`) and topology (`name`, `children`)",
    has_attribute: |name| name == "jobID",
    lists_tasks: true,
    target: Some(ConversionTarget {
        key: "rumen",
        about: "Rumen's jobs",
        make: |entry, block| Box::new(job_of(entry, block)),
    }),
    is_wall_clock: true,
    ..Format::new("Rumen's jobs", FormatContents::Jobs(read_jobs))
};

/// The format of Rumen's topology.
pub(crate) static RUMEN_TOPOLOGY: Format = Format {
    has_attribute: |name| name == "children",
    ..Format::new("Rumen's topology", FormatContents::Hosts(hosts_of))
};

/// Reads the jobs of a trace or of logs, each with an id of its own. They are written as Rumen's jobs.
///
/// # Errors
/// If the file cannot be read or has mistakes.
pub fn read_jobs(file: TraceToRead<'_>, see: &mut SeeJob<'_>) -> Result<Trace, TraceError> {
    let logs = file.format.logs::<LoggedJob>();
    let mut records = Records::open_with(file.path, file.strictness, logs)?;
    records.allow_unordered();
    records.allow_repeated_ids();
    let (mut repeats, mut survey) = (RepeatedIds::default(), LogSurvey::default());
    let (mut latest, mut late) = (SimSpan::ZERO, 0);
    let file = TraceToRead { format: &RUMEN_JOBS, ..file };
    let see = |job: LoggedJob| {
        latest = latest.max(TraceJob::submit(&job));
        late += u64::from(TraceJob::submit(&job) < latest);
        see(Box::new(job));
    };
    let mut trace = Trace::of_records(records, file, see, |job| {
        repeats.rename(job);
        if let Ok(Some(admitted)) = RunnableJob::of(job, RumenModel::Measured) {
            survey.add(&admitted);
        }
    })?;
    trace.notes.extend(told_order(late));
    trace.notes.extend(repeats.note());
    trace.facts.extend(survey.facts());
    Ok(trace)
}

fn hosts_of(path: &Path) -> Result<HostFile, TraceError> {
    let mut records = Records::<LoggedTopology>::open(path, Strictness::Strict)?;
    let tree = records.only()?;
    let hosts = tree.hosts().into_iter().map(|(rack, host)| ListedHost {
        rack,
        name: host.to_owned(),
        ..ListedHost::default()
    });
    let (place, sha256) = (records.place(), records.sha256().map(str::to_owned));
    let (hosts, notes) = (hosts.collect(), Vec::new());
    Ok(HostFile { hosts, notes, is_of_mumak: true, place, sha256 })
}

impl TraceJob for LoggedJob {
    fn name(&self, _number: u64) -> String {
        self.job_id.clone()
    }

    fn entry(&self, _number: u64, _block: Bytes) -> Result<Option<JobEntry>, String> {
        entry_of(self)
    }

    fn submit(&self) -> SimSpan {
        let millis = self.submitted().unwrap_or(0);
        SimSpan::from_millis(millis.min(SimSpan::LONGEST.as_millis()))
    }

    fn endings(&self) -> Option<Endings> {
        let tasks = self.map_tasks.iter().chain(&self.reduce_tasks);
        let tried = tasks.flat_map(|task| &task.attempts);
        let attempts = tried.map(|attempt| attempt.result.map(Into::into)).collect();
        Some(Endings { job: self.outcome.map(Into::into), attempts })
    }

    fn lost_in_list(&self) -> Option<&'static str> {
        Some("hosts, counters and attempts that did not succeed")
    }

    fn write_to(&self, to: &mut dyn io::Write) -> io::Result<()> {
        let latest = self.tasks().map(LoggedTask::latest).max().flatten().max(self.finish_time);
        if SimSpan::LONGEST.as_millis() < latest.unwrap_or(0) {
            return Err(too_late(&self.job_id));
        }
        match self.priority_changes.last() {
            // Rumen keeps the last priority.
            Some((_, last)) => json::write(&Self { priority: Some(*last), ..self.clone() }, to),
            None => json::write(self, to),
        }
    }
}

/// Returns a job with the time of each task's successful attempt; `None` if the job does not run. A
/// task that is not logged, or did not succeed, gets the median time of the other tasks.
///
/// The time of submission is the time in the trace; the caller makes it count from the first job.
fn entry_of(job: &LoggedJob) -> Result<Option<JobEntry>, String> {
    let model = RumenModel::Measured;
    let Some(admitted) = RunnableJob::of(job, model)? else { return Ok(None) };
    let RunnableJob { maps, reduces, map_tasks, reduce_tasks, .. } = &admitted;
    let maps_ended = admitted.maps_ended();
    let map_tries = successes(map_tasks, maps.get());
    let reduce_tries = successes(reduce_tasks, reduces.get());
    let times: Vec<Option<TracedTimes>> =
        reduce_tries.iter().map(|logged| reduce_times((*logged)?, maps_ended, false)).collect();
    let phase = |of: fn(&TracedTimes) -> SimSpan| {
        filled(times.iter().map(|times| times.as_ref().map(of)).collect())
    };
    let sum = |tries: &[Option<&LoggedAttempt>], of: fn(&LoggedAttempt) -> Option<u64>| {
        let known = tries.iter().flatten().filter_map(|logged| of(logged));
        Bytes::new(known.fold(0, u64::saturating_add).min(Bytes::LARGEST.get()))
    };
    let input = sum(&map_tries, |attempt| attempt.hdfs_bytes_read);
    let written = if reduces.get() == 0 { &map_tries } else { &reduce_tries };
    let plain = admitted.entry(false, true);
    Ok(Some(JobEntry {
        submit: SimSpan::from_millis(admitted.submitted),
        // Counters may be missing. If there is less than a byte for each map, the job counts as
        // without input.
        input: Some(if input.get() < u64::from(maps.get()) { Bytes::ZERO } else { input }),
        shuffle: sum(&reduce_tries, |attempt| attempt.reduce_shuffle_bytes),
        output: sum(written, |attempt| attempt.hdfs_bytes_written),
        map_time: filled(map_tries.iter().map(|logged| map_time((*logged)?, model)).collect()),
        shuffle_time: phase(|times| times.shuffle),
        sort_time: phase(|times| times.sort).unwrap_or(plain.sort_time.clone()),
        reduce_time: phase(|times| times.work),
        ..plain
    }))
}

/// Returns the successful attempt of each task; `None` for a task without such an attempt in the
/// log.
fn successes<'a>(numbered: &NumberedTasks<'a>, count: u32) -> Vec<Option<&'a LoggedAttempt>> {
    (0..count).map(|number| success(numbered.get(&number)?)).collect()
}

/// Returns the times of all tasks, with the median for unknown ones; `None` if no time is known.
fn filled(times: Vec<Option<SimSpan>>) -> Option<TaskTimes> {
    let mut known: Vec<SimSpan> = times.iter().flatten().copied().collect();
    known.sort_unstable();
    // If no time at all is known, the field is left out.
    let median = *known.get(known.len() / 2)?;
    Some(TaskTimes::Each(times.into_iter().map(|time| time.unwrap_or(median)).collect()))
}

/// Returns the bytes of a task. The first tasks get a byte more, so that the sum is exact.
fn share(bytes: Bytes, tasks: usize, number: usize) -> Option<u64> {
    let (whole, rest) = (bytes.get() / tasks as u64, bytes.get() % tasks as u64);
    Some(whole + u64::from((number as u64) < rest))
}

/// Returns a task that succeeds with its only attempt.
fn succeeded(job: &str, kind: &str, number: usize, attempt: LoggedAttempt) -> LoggedTask {
    let result = Some(LoggedOutcome::Success);
    let attempt_id = format!("attempt_{job}_{kind}_{number:06}_0");
    LoggedTask {
        task_id: format!("task_{job}_{kind}_{number:06}"),
        task_type: Some(if kind == "m" { TaskType::Map } else { TaskType::Reduce }),
        task_status: result,
        start_time: attempt.start_time,
        finish_time: attempt.finish_time,
        attempts: vec![LoggedAttempt { attempt_id, result, ..attempt }],
        ..LoggedTask::default()
    }
}

/// Returns a job as Rumen would log it: every task succeeds at once, the reduces after all maps.
fn job_of(entry: &JobEntry, block: Bytes) -> LoggedJob {
    let times = entry.drawn(block);
    let id = &entry.name;
    let submit = entry.submit.as_millis();
    let (maps, reduces) = (times.maps.len(), times.reduces.len());
    let input = entry.input(block).unwrap_or_default();
    // The attempts of a job without times are logged without times, so that no made-up zero is read
    // back.
    let knows_maps = entry.map_time.is_some() || entry.map_rate.is_some();
    let knows_reduces =
        entry.shuffle_time.is_some() || entry.reduce_time.is_some() || entry.reduce_rate.is_some();
    // In a Rumen trace a start of 0 means "unknown", so the first time is 1 ms.
    let maps_begin = submit.max(1);
    let map_attempts = times.maps.iter().enumerate().map(|(number, time)| LoggedAttempt {
        start_time: knows_maps.then_some(maps_begin),
        finish_time: knows_maps.then_some(maps_begin + time.as_millis()),
        hdfs_bytes_read: share(input, maps, number),
        hdfs_bytes_written: share(entry.output, maps, number).filter(|_| reduces == 0),
        ..LoggedAttempt::default()
    });
    let longest = times.maps.iter().map(|time| time.as_millis()).max().unwrap_or(0);
    // With `measured` a reduce fetches only after the last map: an earlier start would be cut off.
    let reduces_begin = maps_begin + longest;
    let (fetched, written) = (entry.drawn_parts(entry.shuffle), entry.drawn_parts(entry.output));
    let part = |parts: &TaskBytes, bytes: Bytes, number: usize| match parts {
        TaskBytes::Alike(_) => share(bytes, reduces, number),
        TaskBytes::Each(parts) => parts.get(number).map(|part| part.get()),
    };
    let reduce_attempts = times.reduces.iter().enumerate().map(|(number, phases)| {
        let shuffled = reduces_begin + phases.shuffle.as_millis();
        let sorted = shuffled + phases.sort.as_millis();
        LoggedAttempt {
            start_time: knows_reduces.then_some(reduces_begin),
            shuffle_finished: knows_reduces.then_some(shuffled),
            sort_finished: knows_reduces.then_some(sorted),
            finish_time: knows_reduces.then_some(sorted + phases.work.as_millis()),
            reduce_shuffle_bytes: part(&fetched, entry.shuffle, number),
            hdfs_bytes_written: part(&written, entry.output, number),
            ..LoggedAttempt::default()
        }
    });
    let map_tasks: Vec<LoggedTask> =
        map_attempts.enumerate().map(|(at, map)| succeeded(id, "m", at, map)).collect();
    let reduce_tasks: Vec<LoggedTask> =
        reduce_attempts.enumerate().map(|(at, reduce)| succeeded(id, "r", at, reduce)).collect();
    let ends = map_tasks.iter().chain(&reduce_tasks).filter_map(|task| task.finish_time);
    let memory = |bytes: Bytes| u32::try_from(bytes.get() >> 20).ok();
    let mut job = LoggedJob {
        job_id: id.clone(),
        user: Some(entry.user.clone()),
        queue: Some(entry.pool.clone().unwrap_or_else(|| entry.user.clone())),
        priority: named(&entry.priority.word().to_uppercase()),
        outcome: Some(LoggedOutcome::Success),
        submit_time: Some(submit),
        launch_time: Some(submit),
        finish_time: ends.max(),
        total_maps: Some(maps as u32),
        total_reduces: Some(reduces as u32),
        map_tasks,
        reduce_tasks,
        mapper_tries_to_succeed: Some(vec![1.0]),
        job_map_mb: memory(entry.map_memory),
        job_reduce_mb: memory(entry.reduce_memory),
        job_properties: properties::of(entry),
        job_type: Some(record::RumenJobType::Java),
        ..LoggedJob::default()
    };
    job.compute_distributions();
    job
}
