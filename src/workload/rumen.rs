//! `workload: {rumen: {trace: …}}`: the jobs of a cluster's history, as Rumen wrote them down.
//!
//! What the trace says of a task's attempts goes before everything else ([`Traced`]). There are
//! two ways to take it. As *measured*: a map runs again where its own split lies, and a reduce
//! fetches, merges and reduces for as long as it did once the last map had ended. Or as *Mumak*
//! does, whose quirks are kept: it takes a map's split by the place in the file and its time by
//! the number in the id, counts an input in the rack as one elsewhere, and leaves out what a
//! reduce does before it reduces.

use std::path::Path;
use std::sync::Arc;

use rand::RngExt;
use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{JobEntry, Penalty, Site};
use crate::cluster::{Topology, TrackerId};
use crate::mapred::{Cdf, Locality, Priority, Split, Traced, TracedTask, TracedTimes, TracedTry};
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
        let strictness = if self.lenient { Strictness::Lenient } else { Strictness::Strict };
        let mut records = Records::<LoggedJob>::open(&path, strictness)?;
        let model = self.model.unwrap_or(match site.hadoop.is_mumak() {
            true => RumenModel::Mumak,
            false => RumenModel::Measured,
        });
        let mut reader = Reader { model, penalty: &self.penalty, hosts: Hosts::new(site.topology) };
        let mut found = Found::default();
        let mut first = None;
        let mut last = 0;
        for job in records.by_ref() {
            let job = job?;
            let Some(submitted) = job.submit_time else {
                return Err(wrong(&path, &job, "no submitTime"));
            };
            let submitted = submitted.saturating_add_signed(job.relative_time.saturating_neg());
            if submitted < last {
                return Err(wrong(&path, &job, "submitted before the job above it"));
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
                Err(what) => return Err(wrong(&path, &job, what)),
            }
        }
        found.broken += records.notes().skipped.count;
        self.trace.pin(site.folder, records.sha256())?;
        Ok(found)
    }
}

/// What a trace gave.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Its jobs.
    pub(super) jobs: Vec<JobEntry>,
    /// How many jobs there is nothing to run of.
    pub(super) left_out: u64,
    /// How many records are broken.
    pub(super) broken: u64,
}

fn wrong(path: &Path, job: &LoggedJob, what: impl Into<String>) -> TraceError {
    TraceError::Unusable { path: path.to_owned(), job: job.job_id.clone(), what: what.into() }
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
        self.hosts.meet(job);
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

/// Finds the node that a host of the trace is, or stands for.
struct Hosts<'a> {
    topology: &'a Topology,
    /// Where hosts stand in a cluster without names: on its nodes in turn, as they are met.
    met: FxHashMap<String, TrackerId>,
}

impl<'a> Hosts<'a> {
    fn new(topology: &'a Topology) -> Self {
        Self { topology, met: FxHashMap::default() }
    }

    /// Notes the hosts of a job's maps.
    fn meet(&mut self, job: &LoggedJob) {
        if self.topology.has_names() {
            return;
        }
        for task in &job.map_tasks {
            let preferred = task.preferred_locations.iter().filter_map(|at| at.layers.last());
            let ran_on = task.attempts.iter().filter_map(|attempt| attempt.host_name.as_ref());
            for host in preferred.chain(ran_on) {
                let next = TrackerId(self.met.len() as u32 % self.topology.len());
                self.met.entry(host_of(host).to_owned()).or_insert(next);
            }
        }
    }

    fn find(&self, host: &str) -> Option<TrackerId> {
        let host = host_of(host);
        if self.topology.has_names() {
            self.topology.find(host)
        } else {
            self.met.get(host).copied()
        }
    }
}

/// Returns the name of a host that is given by its name or its path `/rack/host`.
fn host_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
