//! `workload: {rumen: {trace: …}}`: the jobs of a cluster's history, as Rumen wrote them down.
//!
//! What the trace says of a task's attempts goes before everything else ([`Traced`]). There are
//! two ways to take it. As *measured*: a map runs again where its own split lies, and a reduce
//! fetches, merges and reduces for as long as it did once the last map had ended. Or as *Mumak*
//! does, whose quirks are kept: it takes a map's split by the place in the file and its time by
//! the number in the id, counts an input in the rack as one elsewhere, and leaves out what a
//! reduce does before it reduces.

use std::sync::Arc;

use rand::RngExt;
use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::hosts::Hosts;
use super::jobs::{MOST_BYTES, Phases};
use super::{Found, JobEntry, Penalty, Site};
use crate::cluster::TrackerId;
use crate::mapred::{
    Cdf, Locality, Priority, Split, TaskTimes, Traced, TracedTask, TracedTimes, TracedTry,
};
use crate::random::{Purpose, stream};
use crate::trace::rumen::{
    self, LoggedAttempt, LoggedCdf, LoggedJob, LoggedTask, Outcome, TaskType,
};
use crate::trace::{Records, Strictness, TraceError, TraceFile};
use crate::units::{Bytes, Count, Factor, SimSpan};

/// Jobs of a Rumen trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rumen {
    /// The job trace, plain or gzipped.
    pub trace: TraceFile,
    /// The topology: the cluster's racks and hosts, in place of `cluster.nodes` and
    /// `cluster.racks`. Without, the trace's hosts stand for the cluster's nodes in turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topology: Option<TraceFile>,
    /// How the trace is read; Mumak's way with `hadoop: mumak`, else as measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<RumenModel>,
    /// How many times as long a map takes whose input is not on its node.
    #[serde(default = "distances")]
    pub penalty: Penalty,
    /// Whether broken jobs are left out instead of being an error.
    #[serde(default)]
    pub lenient: bool,
}

/// How a Rumen trace is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RumenModel {
    /// Each task as it went.
    Measured,
    /// As Mumak does, quirks and all.
    Mumak,
}

/// Mumak's factors.
fn distances() -> Penalty {
    Penalty { rack: Factor::of(1.5), off_rack: Factor::of(3.0) }
}

/// Locations with more hosts than this are no use.
const MOST_HOSTS: usize = 25;

impl Rumen {
    /// Returns the jobs of the trace.
    ///
    /// Jobs that were killed, and those without a map, are left out.
    ///
    /// # Errors
    /// If the trace cannot be read, or with what is wrong in it.
    pub(super) fn jobs(&mut self, site: &Site<'_>) -> Result<Found, TraceError> {
        let path = self.trace.find(site.folder);
        let mut records = Records::<LoggedJob>::open(&path, Strictness::of(self.lenient))?;
        let model = self.model.unwrap_or(match site.hadoop.is_mumak() {
            true => RumenModel::Mumak,
            false => RumenModel::Measured,
        });
        let mut reader = Reader { model, penalty: &self.penalty, hosts: Hosts::new(site.topology) };
        let mut found = Found::of(path);
        let mut first = None;
        let mut last = 0;
        while let Some(job) = records.next().transpose()? {
            let Some(submitted) = job.submit_time else {
                return Err(records.unusable(&job.job_id, "no submitTime"));
            };
            let submitted = submitted.saturating_add_signed(job.relative_time.saturating_neg());
            if submitted < last {
                return Err(records.unusable(&job.job_id, "submitted before the job above it"));
            }
            last = submitted;
            let logged = job.map_tasks.iter().any(|task| task.task_type == Some(TaskType::Map));
            let maps = job.total_maps.unwrap_or(0);
            if job.outcome == Some(Outcome::Killed) || maps == 0 || !logged {
                found.left_out += 1;
                continue;
            }
            let submit = SimSpan::from_millis(submitted - *first.get_or_insert(submitted));
            let number = found.jobs.len() as u64;
            match reader.entry(&job, submit, site.seed, number) {
                Ok(entry) => found.jobs.push(entry),
                Err(_) if self.lenient => found.broken += 1,
                Err(what) => return Err(records.unusable(&job.job_id, what)),
            }
        }
        found.broken += records.notes().skipped.count;
        self.trace.pin(site.folder, records.sha256())?;
        Ok(found)
    }
}

/// Makes jobs of what is logged.
struct Reader<'a> {
    model: RumenModel,
    penalty: &'a Penalty,
    hosts: Hosts<'a>,
}

impl Reader<'_> {
    fn entry(
        &mut self,
        job: &LoggedJob,
        submit: SimSpan,
        seed: u64,
        number: u64,
    ) -> Result<JobEntry, String> {
        for task in &job.map_tasks {
            let preferred = task.preferred_locations.iter().filter_map(|at| at.layers.last());
            let ran_on = task.attempts.iter().filter_map(|attempt| attempt.host_name.as_ref());
            preferred.chain(ran_on).for_each(|host| self.hosts.meet(host));
        }
        let is_mumak = self.model == RumenModel::Mumak;
        let logged: Vec<&LoggedTask> =
            job.map_tasks.iter().filter(|task| task.task_type == Some(TaskType::Map)).collect();
        let (maps, reduces) = (job.total_maps.unwrap_or(0), job.total_reduces.unwrap_or(0));
        if (maps as usize) < logged.len() {
            return Err(format!("{} maps are logged, but totalMaps is {maps}", logged.len()));
        }
        let maps = Count::new(maps).ok_or_else(|| format!("{maps} maps are too many"))?;
        let reduces =
            Count::new(reduces).ok_or_else(|| format!("{reduces} reduces are too many"))?;

        let by_number = numbered(&job.map_tasks);
        let mut splits = Vec::with_capacity(maps.get() as usize);
        for (place, task) in logged.iter().enumerate() {
            let task = match by_number.get(&(place as u32)) {
                Some(own) if !is_mumak => own,
                _ => task,
            };
            splits.push(self.split(task));
        }
        self.make_splits_up(&mut splits, maps.get() as usize, seed, number);
        let maps_ended = logged.iter().filter_map(|task| task.finish_time).max().unwrap_or(0);
        let traced = Traced {
            maps: self.tasks(&by_number, maps.get(), |task, attempt| self.map_try(task, attempt)),
            reduces: self.tasks(&numbered(&job.reduce_tasks), reduces.get(), |_, attempt| {
                reduce_try(attempt, maps_ended, is_mumak)
            }),
            map_times: cdfs(&job.successful_map_attempt_cdfs),
            failed_map_times: cdfs(&job.failed_map_attempt_cdfs),
            reduce_times: job.successful_reduce_attempt_cdf.as_ref().map(cdf).unwrap_or_default(),
            failed_reduce_times: job
                .failed_reduce_attempt_cdf
                .as_ref()
                .map(cdf)
                .unwrap_or_default(),
            tries: match &job.mapper_tries_to_succeed {
                Some(tries) => Some(tries.as_slice().into()),
                None if is_mumak => None,
                None => Some([].into()),
            },
            factors: [1.0, self.penalty.rack.get(), self.penalty.off_rack.get()],
            distances: if is_mumak { [0, 2, 2] } else { [0, 1, 2] },
        };
        let memory = |own: Option<u32>| {
            let mib = own.or(job.heap_megabytes).filter(|mib| 0 < *mib);
            mib.map(|mib| Bytes::from_mib(mib.into()))
        };
        let plain = JobEntry::named(&job.job_id);
        Ok(JobEntry {
            submit,
            user: job.user.clone().unwrap_or_else(|| "unknown".to_owned()),
            pool: Some(job.queue.clone().unwrap_or_else(|| "default".to_owned())),
            priority: priority(job, is_mumak),
            maps: Some(maps),
            reduces,
            input: Some(Bytes::new(splits.iter().map(|split| split.bytes.get()).sum())),
            map_memory: memory(job.job_map_mb).unwrap_or(plain.map_memory),
            reduce_memory: memory(job.job_reduce_mb).unwrap_or(plain.reduce_memory),
            splits: Some(splits.into()),
            traced: Some(Arc::new(traced)),
            ..plain
        })
    }

    fn tasks(
        &self,
        by_number: &FxHashMap<u32, &LoggedTask>,
        count: u32,
        attempt: impl Fn(&LoggedTask, &LoggedAttempt) -> TracedTry,
    ) -> Vec<TracedTask> {
        let task = |number| -> TracedTask {
            let known = by_number.get(&number).filter(|task| task.task_status.is_some());
            let Some(task) = known else { return Box::default() };
            let mut tries = Vec::new();
            for logged in &task.attempts {
                let Some(number) = number_of(&logged.attempt_id) else { continue };
                let number = number as usize;
                if number < MOST_TRIES && logged.result.is_some_and(|r| r != Outcome::Killed) {
                    tries.resize(tries.len().max(number + 1), None);
                    tries[number] = Some(attempt(task, logged));
                }
            }
            tries.into()
        };
        (0..count).map(task).collect()
    }

    fn map_try(&self, task: &LoggedTask, logged: &LoggedAttempt) -> TracedTry {
        let millis = match (logged.start_time, logged.finish_time) {
            (None, None) => Some(0),
            (start, finish) => finish.unwrap_or(0).checked_sub(start.unwrap_or(0)),
        };
        let work = millis.map_or(BACKWARDS, SimSpan::from_millis);
        let times = TracedTimes { work, ..TracedTimes::default() };
        let host = logged.host_name.as_deref().and_then(|name| self.hosts.find(name));
        let holders = self.holders(task);
        let distance = match host.and_then(|host| Locality::of(host, &holders, self.hosts.topology))
        {
            Some(Locality::Node) => 0,
            Some(Locality::Rack) => 1,
            Some(Locality::OffRack) | None => 2,
        };
        TracedTry {
            times: (logged.start_time != Some(0)).then_some(times),
            distance,
            fails: logged.result == Some(Outcome::Failed),
        }
    }

    fn holders(&self, task: &LoggedTask) -> Vec<TrackerId> {
        if MOST_HOSTS < task.preferred_locations.len() {
            return Vec::new();
        }
        let hosts = task.preferred_locations.iter().filter_map(|location| location.layers.last());
        hosts.filter_map(|host| self.hosts.find(host)).collect()
    }

    fn split(&self, task: &LoggedTask) -> Split {
        let succeeded = task.attempts.iter().find(|a| a.result == Some(Outcome::Success));
        let bytes = succeeded.and_then(|attempt| attempt.hdfs_bytes_read).unwrap_or(0);
        Split { bytes: Bytes::new(bytes), holders: self.holders(task).into() }
    }

    /// Adds the splits of maps that are not logged: as many random hosts as the others have.
    fn make_splits_up(&self, splits: &mut Vec<Split>, maps: usize, seed: u64, job: u64) {
        let held: usize = splits.iter().map(|split| split.holders.len()).sum();
        let copies = match held.checked_div(splits.len()) {
            None | Some(0) => 3,
            Some(copies) => copies,
        };
        let nodes = self.hosts.topology.len();
        let mut rng = stream(seed, Purpose::Workload, job);
        while splits.len() < maps {
            let mut holders: Vec<TrackerId> = Vec::new();
            while holders.len() < copies.min(nodes as usize) {
                let node = TrackerId(rng.random_range(0..nodes));
                if !holders.contains(&node) {
                    holders.push(node);
                }
            }
            splits.push(Split { bytes: Bytes::ZERO, holders: holders.into() });
        }
    }
}

/// A task has at most so many attempts that matter; Hadoop's numbers of later ones begin at 1,000.
const MOST_TRIES: usize = 1_000;

/// What an attempt takes that ended before it began.
const BACKWARDS: SimSpan = SimSpan::from_millis(100);

fn reduce_try(logged: &LoggedAttempt, maps_ended: u64, is_mumak: bool) -> TracedTry {
    TracedTry {
        times: reduce_times(logged, maps_ended, is_mumak),
        distance: 0,
        fails: logged.result == Some(Outcome::Failed),
    }
}

fn reduce_times(logged: &LoggedAttempt, maps_ended: u64, is_mumak: bool) -> Option<TracedTimes> {
    let start = logged.start_time.filter(|start| 0 < *start)?;
    let finish = logged.finish_time.filter(|finish| start < *finish)?;
    let shuffled = logged.shuffle_finished.filter(|at| 0 < *at).unwrap_or(start);
    let sorted = logged.sort_finished.filter(|at| 0 < *at).unwrap_or(finish);
    let span = |from: u64, to: u64| SimSpan::from_millis(to.saturating_sub(from));
    let (shuffle, sort) = if is_mumak {
        (SimSpan::ZERO, SimSpan::ZERO)
    } else {
        // Until the last map had ended it waited, whatever it fetched.
        (span(start.max(maps_ended), shuffled), span(shuffled, sorted))
    };
    let work = finish.checked_sub(sorted).map_or(BACKWARDS, SimSpan::from_millis);
    Some(TracedTimes { shuffle, sort, work })
}

/// Returns tasks by the numbers in their ids.
fn numbered(tasks: &[LoggedTask]) -> FxHashMap<u32, &LoggedTask> {
    let typed = tasks.iter().filter(|task| task.task_type.is_some());
    typed.filter_map(|task| Some((number_of(&task.task_id)?, task))).collect()
}

/// Returns the number at the end of an id.
fn number_of(id: &str) -> Option<u32> {
    id.rsplit('_').next()?.parse().ok()
}

fn cdfs(logged: &[LoggedCdf]) -> [Cdf; 4] {
    std::array::from_fn(|distance| logged.get(distance).map(cdf).unwrap_or_default())
}

fn cdf(logged: &LoggedCdf) -> Cdf {
    if logged.number_values == 0 {
        return Cdf::default();
    }
    let inner = logged.rankings.iter().map(|r| (r.relative_ranking, r.datum as f64));
    let mut points = vec![(0.0, logged.minimum as f64)];
    points.extend(inner.filter(|(share, _)| (0.0..=1.0).contains(share)));
    points.push((1.0, logged.maximum as f64));
    Cdf { weight: logged.number_values, points: points.into() }
}

/// Mumak asks the configuration only, which older traces do not have.
fn priority(job: &LoggedJob, is_mumak: bool) -> Priority {
    let configured = ["mapreduce.job.priority", "mapred.job.priority"]
        .iter()
        .find_map(|key| job.job_properties.get(*key))
        .and_then(|word| serde_yaml::from_str(&word.to_lowercase()).ok());
    let own = job.priority.filter(|_| !is_mumak).map(|priority| match priority {
        rumen::Priority::VeryLow => Priority::VeryLow,
        rumen::Priority::Low => Priority::Low,
        rumen::Priority::Normal => Priority::Normal,
        rumen::Priority::High => Priority::High,
        rumen::Priority::VeryHigh => Priority::VeryHigh,
    });
    own.or(configured).unwrap_or_default()
}

/// Returns a job with the time of each task's successful attempt, if it has a map or a reduce. What
/// a task took that is not logged, or did not succeed, is the median of the others.
pub(super) fn entry_of(job: &LoggedJob) -> Result<Option<JobEntry>, String> {
    let (maps, reduces) = (job.total_maps.unwrap_or(0), job.total_reduces.unwrap_or(0));
    if maps == 0 && reduces == 0 {
        return Ok(None);
    }
    let successes = |tasks: &'_ [LoggedTask]| -> FxHashMap<u32, LoggedAttempt> {
        let success = |task: &LoggedTask| {
            task.attempts.iter().find(|a| a.result == Some(Outcome::Success)).cloned()
        };
        numbered(tasks).into_iter().filter_map(|(n, task)| Some((n, success(task)?))).collect()
    };
    let (map_tries, reduce_tries) = (successes(&job.map_tasks), successes(&job.reduce_tasks));
    let maps_ended = map_tries.values().filter_map(|attempt| attempt.finish_time).max();
    let times: Vec<Option<TracedTimes>> = (0..reduces)
        .map(|n| reduce_times(reduce_tries.get(&n)?, maps_ended.unwrap_or(0), false))
        .collect();
    let phase = |of: fn(&TracedTimes) -> SimSpan| {
        filled(times.iter().map(|times| times.as_ref().map(of)).collect())
    };
    let map_time = |n| {
        let attempt = map_tries.get(&n)?;
        attempt.finish_time?.checked_sub(attempt.start_time?).map(SimSpan::from_millis)
    };
    let sum = |tries: &FxHashMap<u32, LoggedAttempt>, of: fn(&LoggedAttempt) -> Option<u64>| {
        Bytes::new(tries.values().filter_map(of).fold(0, u64::saturating_add).min(MOST_BYTES))
    };
    let input = sum(&map_tries, |attempt| attempt.hdfs_bytes_read);
    let written = if reduces == 0 { &map_tries } else { &reduce_tries };
    let plain = JobEntry::named(&job.job_id);
    let memory = |own: Option<u32>| {
        own.or(job.heap_megabytes).filter(|mib| 0 < *mib).map(|mib| Bytes::from_mib(mib.into()))
    };
    Ok(Some(JobEntry {
        submit: SimSpan::from_millis(
            job.submit_time.unwrap_or(0).min(SimSpan::LONGEST.as_millis()),
        ),
        user: job.user.clone().unwrap_or_else(|| "unknown".to_owned()),
        pool: Some(job.queue.clone().unwrap_or_else(|| "default".to_owned())),
        priority: priority(job, false),
        maps: Some(Count::new(maps).ok_or_else(|| format!("{maps} maps are too many"))?),
        reduces: Count::new(reduces).ok_or_else(|| format!("{reduces} reduces are too many"))?,
        input: Some(if input.get() < u64::from(maps) { Bytes::ZERO } else { input }),
        shuffle: sum(&reduce_tries, |attempt| attempt.reduce_shuffle_bytes),
        output: sum(written, |attempt| attempt.hdfs_bytes_written),
        map_time: filled((0..maps).map(map_time).collect()),
        shuffle_time: phase(|times| times.shuffle),
        sort_time: phase(|times| times.sort).unwrap_or(plain.sort_time.clone()),
        reduce_time: phase(|times| times.work),
        map_memory: memory(job.job_map_mb).unwrap_or(plain.map_memory),
        reduce_memory: memory(job.job_reduce_mb).unwrap_or(plain.reduce_memory),
        ..plain
    }))
}

/// Returns the times of all tasks, if any is known.
fn filled(times: Vec<Option<SimSpan>>) -> Option<TaskTimes> {
    let mut known: Vec<SimSpan> = times.iter().flatten().copied().collect();
    known.sort_unstable();
    let median = *known.get(known.len() / 2)?;
    Some(TaskTimes::Each(times.into_iter().map(|time| time.unwrap_or(median)).collect()))
}

/// Returns a job as Rumen would log it: every task succeeds at once, the reduces after all maps.
pub(super) fn job_of(entry: &JobEntry, block: Bytes) -> LoggedJob {
    let times = entry.drawn(block);
    let share = |bytes: Bytes, tasks: usize, number: usize| {
        let (whole, rest) = (bytes.get() / tasks as u64, bytes.get() % tasks as u64);
        Some(whole + u64::from((number as u64) < rest))
    };
    let id = &entry.name;
    let attempt = |kind: &str, number: usize| LoggedAttempt {
        attempt_id: format!("attempt_{id}_{kind}_{number:06}_0"),
        result: Some(Outcome::Success),
        ..LoggedAttempt::default()
    };
    let task = |kind: &str, number: usize, attempt: LoggedAttempt| LoggedTask {
        task_id: format!("task_{id}_{kind}_{number:06}"),
        task_type: Some(if kind == "m" { TaskType::Map } else { TaskType::Reduce }),
        task_status: Some(Outcome::Success),
        start_time: attempt.start_time,
        finish_time: attempt.finish_time,
        attempts: vec![attempt],
        ..LoggedTask::default()
    };
    let submit = entry.submit.as_millis();
    let (maps, reduces) = (times.maps.len(), times.reduces.len());
    let input = entry.input(block).unwrap_or_default();
    let map = |(number, time): (usize, &SimSpan)| LoggedAttempt {
        start_time: Some(submit),
        finish_time: Some(submit + time.as_millis()),
        hdfs_bytes_read: share(input, maps, number),
        hdfs_bytes_written: share(entry.output, maps, number).filter(|_| reduces == 0),
        ..attempt("m", number)
    };
    let maps_ended = submit + times.maps.iter().map(|time| time.as_millis()).max().unwrap_or(0);
    // A start at zero would be one that is not known.
    let reduces_begin = maps_ended.max(1);
    let reduce = |(number, phases): (usize, &Phases)| {
        let shuffled = reduces_begin + phases.shuffle.as_millis();
        let sorted = shuffled + phases.sort.as_millis();
        LoggedAttempt {
            start_time: Some(reduces_begin),
            shuffle_finished: Some(shuffled),
            sort_finished: Some(sorted),
            finish_time: Some(sorted + phases.work.as_millis()),
            reduce_shuffle_bytes: share(entry.shuffle, reduces, number),
            hdfs_bytes_written: share(entry.output, reduces, number),
            ..attempt("r", number)
        }
    };
    let map_tasks: Vec<LoggedTask> =
        times.maps.iter().enumerate().map(|at| task("m", at.0, map(at))).collect();
    let reduce_tasks: Vec<LoggedTask> =
        times.reduces.iter().enumerate().map(|at| task("r", at.0, reduce(at))).collect();
    let ends = map_tasks.iter().chain(&reduce_tasks).filter_map(|task| task.finish_time);
    let memory = |bytes: Bytes| u32::try_from(bytes.get() >> 20).ok();
    LoggedJob {
        job_id: id.clone(),
        user: Some(entry.user.clone()),
        queue: Some(entry.pool.clone().unwrap_or_else(|| entry.user.clone())),
        priority: Some(match entry.priority {
            Priority::VeryLow => rumen::Priority::VeryLow,
            Priority::Low => rumen::Priority::Low,
            Priority::Normal => rumen::Priority::Normal,
            Priority::High => rumen::Priority::High,
            Priority::VeryHigh => rumen::Priority::VeryHigh,
        }),
        outcome: Some(Outcome::Success),
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
        ..LoggedJob::default()
    }
}
