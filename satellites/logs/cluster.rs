//! A cluster as the log of its jobs shows it, and when each job of the log began and ended.
//!
//! ```text
//! log -> ClusterSurvey -> LoggedCluster   settings of a scenario, each with the reason for it
//!                      -> LoggedTimes     of each job, to hold a replay against
//! ```
//! A setting comes from what the log measured, or from the configurations that its jobs were logged
//! with. Each setting tells how sure it is.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use rustc_hash::FxHashMap;
use serde_yaml::{Mapping, Value};

use crate::LOGS;
use crate::configured::{self, OF_FAIR};
use crate::losses::{HostSigns, LostTracker};
use mumakil_base::units::tell::{counted, span};
use mumakil_base::units::{Bytes, Count, SimSpan};
use mumakil_core::cluster::{DEFAULT_RACK, PerSlot, without_escapes};
use mumakil_core::mapred::{HadoopLine, Priority, SlotKind};
use mumakil_core::trace::{Record, Records, Strictness, TraceError, clip};
use mumakil_results::worded;
use mumakil_scenario::hadoop_preset;
use mumakil_traces::rumen::{
    Localisations, LogHearing, LogSurvey, LoggedAttempt, LoggedJob, LoggedOutcome, LoggedTopology,
    MAP_SPECULATION, OUT_OF_BAND, POLICY, PropertyNames, REDUCE_SPECULATION, RepeatedIds,
    RumenModel, RunnableJob, TaskType, map_time, median, property, reads_on_order, success,
};

/// A cluster that was inferred from a log.
#[derive(Clone, Debug)]
pub struct LoggedCluster {
    /// The settings that the log shows, in the order of a scenario.
    pub settings: Vec<InferredSetting>,
    /// Its racks and hosts.
    pub topology: LoggedTopology,
    /// The priorities that jobs got later, in the order of time.
    pub priorities: Vec<LaterPriority>,
    /// The trackers that were lost, in the order of time.
    pub lost: Vec<LostTracker>,
    /// Whether its policy may have killed attempts.
    pub has_kills: bool,
    /// The pools or queues of its jobs, by name.
    pub queues: BTreeMap<String, LoggedQueue>,
    /// The facts that the log does not show.
    pub missing: Vec<MissingFact>,
    /// How many jobs it was inferred from.
    pub jobs: usize,
}

/// A fact that a log does not show.
#[derive(Clone, Debug)]
pub struct MissingFact {
    /// The fact, as a sentence.
    pub text: String,
    /// The setting that tells it, if one does.
    setting: Option<String>,
}

impl From<String> for MissingFact {
    fn from(text: String) -> Self {
        Self { text, setting: None }
    }
}

impl MissingFact {
    /// Returns whether a `PATH=VALUE` sets the setting that tells the fact, or a part of it.
    pub fn is_told_by(&self, set: &str) -> bool {
        let rest = self.setting.as_deref().and_then(|setting| set.strip_prefix(setting));
        rest.is_some_and(|rest| rest.starts_with(['=', '.']))
    }

    /// Returns the sentence about a fact whose setting is fitted; `None` unless it is among these.
    fn fitted(&self, settings: &[InferredSetting]) -> Option<String> {
        let setting = self.setting.as_deref()?;
        settings.iter().any(|one| one.path == setting).then(|| {
            format!(
                "a log does not hold the settings of pools and queues: they are fitted (say what is \
                 known: --known {setting}=…)"
            )
        })
    }
}

/// A setting of a scenario that a log shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InferredSetting {
    /// Its path in a scenario, such as `cluster.map_slots`.
    pub path: &'static str,
    /// Its value, as a scenario has it.
    pub value: String,
    /// How sure it is.
    pub sure: InferredBy,
    /// The evidence for it.
    pub reason: String,
}

/// A change of a job's priority.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaterPriority {
    /// The time since the first job of the log was submitted.
    pub at: SimSpan,
    /// The name that the job has in a run.
    pub job: String,
    /// Its priority from then on.
    pub priority: Priority,
}

worded! {
    /// How a setting was inferred from a log.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum InferredBy {
        /// The configurations of jobs say it, and nothing that was measured speaks against it.
        Said = "said",
        /// It was measured.
        Measured = "measured",
        /// It was measured, but may be more.
        AtLeast = "at least",
        /// Others were tried, and it fits best.
        Fitted = "fitted",
        /// Nothing shows it.
        Assumed = "assumed",
    }
}

/// A pool or queue, as the jobs that show the cluster used it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoggedQueue {
    /// How many tasks its jobs had.
    pub tasks: u64,
    /// The users of its jobs.
    pub users: BTreeSet<String>,
}

/// When a logged job began and ended, in milliseconds of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedTimes {
    /// The name that the job has in a run.
    pub name: String,
    /// When it was submitted.
    pub submit: u64,
    /// When its first map or reduce was assigned.
    pub first_launch: Option<u64>,
    /// When the JobTracker heard of the end of its last map.
    pub maps_done: Option<u64>,
    /// When it ended.
    pub finish: Option<u64>,
    /// How it ended.
    pub outcome: Option<LoggedOutcome>,
    /// When its maps, and when its reduces, were first assigned, the earliest first.
    pub assigned: PerSlot<Vec<u64>>,
}

/// A log that was read: when its jobs ran, and the cluster that the first of them show.
#[derive(Clone, Debug)]
pub struct LogReading {
    /// The jobs that a run replays, in the order of their submission.
    pub times: Vec<LoggedTimes>,
    /// How many of these jobs, from the first one on, the cluster was inferred from.
    pub calibrating: usize,
    /// The cluster.
    pub cluster: LoggedCluster,
}

impl LogReading {
    /// Reads a log: Rumen's jobs, or the job history of a cluster. The first jobs, this share of all,
    /// show the cluster.
    ///
    /// # Errors
    /// If the log cannot be read, has mistakes, or has no job that runs.
    pub fn read(path: &Path, share: f64, strictness: Strictness) -> Result<Self, TraceError> {
        let (mut times, mut survey) = (Vec::new(), ClusterSurvey::default());
        let (mut changes, mut signs) = (Vec::new(), HostSigns::default());
        let mut longest = (0, String::new());
        // If all jobs show the cluster, their order does not matter.
        let all_at_once = 1.0 <= share;
        each(path, strictness, |job| {
            times.push(LoggedTimes::of(job.job));
            let (id, changed) = (&job.job.job_id, job.job.priority_changes.iter());
            changes.extend(changed.map(|(at, to)| (*at, id.clone(), Priority::from(*to))));
            for attempt in job.job.tasks().flat_map(|task| &task.attempts) {
                let took = map_time(attempt, RumenModel::Measured).map_or(0, SimSpan::as_millis);
                if longest.0 < took {
                    longest = (took, attempt.attempt_id.clone());
                }
                if let Some((_, host)) = place_of(attempt) {
                    signs.add(&host, attempt);
                }
            }
            if all_at_once {
                survey.meet_hosts(job.job);
                survey.add(&job);
            }
        })?;
        // Sort as a run does: jobs of the same instant keep the order of the file.
        times.sort_by_key(|job: &LoggedTimes| job.submit);
        let unusable = |what: &str, hint: &'static str| TraceError::Unusable {
            what: format!("{}: {what}", path.display()),
            hint: hint.into(),
        };
        if times.is_empty() {
            let what = "the log has no job with a map that was not killed";
            return Err(unusable(what, "name a log with more jobs"));
        }
        let calibrating = ((times.len() as f64 * share).ceil() as usize).clamp(1, times.len());
        let last = times[calibrating - 1].submit;
        if !all_at_once {
            each(path, strictness, |job| {
                survey.meet_hosts(job.job);
                if job.submitted <= last {
                    survey.add(&job);
                }
            })?;
        }
        if survey.hosts.is_empty() {
            let hint = "a trace that was converted from a list of jobs has none";
            return Err(unusable("no attempt of the log names its host", hint));
        }
        let expiry = survey.expiry();
        let mut cluster = survey.cluster();
        let first = times[0].submit;
        changes.sort_by_key(|(at, _, _)| *at);
        let later = changes.into_iter().map(|(at, job, priority)| {
            let at = SimSpan::from_millis(at.saturating_sub(first));
            LaterPriority { at, job, priority }
        });
        cluster.priorities = later.collect();
        let end = times.iter().filter_map(|job| job.finish).max();
        cluster.lost = signs.losses(expiry, first, end.unwrap_or(first));
        if let Some(whole) = end.map(|end| end.saturating_sub(first)).filter(|it| *it < longest.0) {
            let [took, whole] = [longest.0, whole].map(|millis| span(millis as f64 / 1e3));
            let id = clip(&longest.1);
            let text = format!("{id} took {took}, but all jobs of the log {whole}");
            cluster.missing.push(text.into());
        }
        if !cluster.priorities.is_empty() {
            let changes = counted(cluster.priorities.len() as u64, "priority change");
            let text = format!(
                "the log does not tell when {changes} came: each holds from the event before it"
            );
            cluster.missing.push(text.into());
        }
        Ok(Self { times, calibrating, cluster })
    }
}

/// Calls `see` with each job of a log that a run replays.
fn each(
    path: &Path,
    strictness: Strictness,
    mut see: impl FnMut(RunnableJob<'_>),
) -> Result<(), TraceError> {
    let mut records = Records::open_with(path, strictness, Some(&LOGS))?;
    records.forget_hash();
    records.allow_unordered();
    records.allow_repeated_ids();
    let mut repeats = RepeatedIds::default();
    while let Some(mut job) = records.next().transpose()? {
        repeats.rename(&mut job);
        match RunnableJob::of(&job, RumenModel::Measured) {
            Ok(Some(job)) => see(job),
            Ok(None) => {}
            Err(_) if strictness == Strictness::Lenient => {}
            Err(what) => return Err(records.unusable(Some(&job.job_id), what)),
        }
    }
    Ok(())
}

impl LoggedTimes {
    fn of(job: &LoggedJob) -> Self {
        let mut assigned = PerSlot::<Vec<u64>>::default();
        let mut maps_done = None;
        for task in job.tasks() {
            let kind = match task.task_type {
                Some(TaskType::Map) => SlotKind::Map,
                Some(TaskType::Reduce) => SlotKind::Reduce,
                _ => continue,
            };
            // Zero is an unknown time.
            assigned[kind].extend(task.start_time.filter(|at| 0 < *at));
            if kind == SlotKind::Map {
                maps_done = maps_done.max(task.finish_time.filter(|at| 0 < *at));
            }
        }
        SlotKind::BOTH.into_iter().for_each(|kind| assigned[kind].sort_unstable());
        let firsts = SlotKind::BOTH.into_iter().filter_map(|kind| assigned[kind].first().copied());
        Self {
            name: job.job_id.clone(),
            submit: job.submitted().unwrap_or(0),
            first_launch: firsts.min(),
            maps_done,
            finish: job.finish_time.filter(|at| 0 < *at),
            outcome: job.outcome,
            assigned,
        }
    }
}

const YARN_POLICY: PropertyNames = ["yarn.resourcemanager.scheduler.class"; 2];
const YARN_HEARTBEAT: PropertyNames =
    ["yarn.resourcemanager.nodemanagers.heartbeat-interval-ms"; 2];
const HEARTBEATS: PropertyNames =
    ["mapred.heartbeats.in.second", "mapreduce.jobtracker.heartbeats.in.second"];
const MAP_SLOTS: PropertyNames =
    ["mapred.tasktracker.map.tasks.maximum", "mapreduce.tasktracker.map.tasks.maximum"];
const REDUCE_SLOTS: PropertyNames =
    ["mapred.tasktracker.reduce.tasks.maximum", "mapreduce.tasktracker.reduce.tasks.maximum"];
const EXPIRY: PropertyNames =
    ["mapred.tasktracker.expiry.interval", "mapreduce.jobtracker.expire.trackers.interval"];
const BLOCK: PropertyNames = ["dfs.block.size", "dfs.blocksize"];

/// Of a hundred hosts, this many have no more slots than is inferred.
// Chosen: one host of twenty may have logged times that are not so.
const OF_A_HUNDRED: usize = 95;

/// Facts about a cluster, gathered job by job.
#[derive(Default)]
struct ClusterSurvey {
    log: LogSurvey,
    /// Each host's rack, by the host's name; `None` if the log never tells it.
    hosts: BTreeMap<String, Option<String>>,
    /// When attempts ran on a host, of maps and of reduces.
    ran: [FxHashMap<String, Vec<AttemptSpan>>; 2],
    inits: Vec<u64>,
    localisations: Vec<u64>,
    /// How long setups and cleanups took.
    services: Vec<u64>,
    /// The configuration of the last job that has one.
    settings: BTreeMap<String, String>,
    configured: usize,
    speculates: bool,
    queues: BTreeMap<String, LoggedQueue>,
    has_kills: bool,
    jobs: usize,
}

/// When an attempt ran, in milliseconds.
#[derive(Clone, Copy)]
struct AttemptSpan {
    start: u64,
    end: u64,
    /// Whether it waited for permission to commit at its end.
    commits: bool,
}

impl ClusterSurvey {
    /// Notes the hosts that a job names.
    fn meet_hosts(&mut self, job: &LoggedJob) {
        for task in job.tasks() {
            for attempt in &task.attempts {
                if let Some((rack, host)) = place_of(attempt) {
                    self.meet_host(rack, host);
                }
            }
            for location in &task.preferred_locations {
                let [.., rack, host] = &location.layers[..] else { continue };
                self.meet_host(Some(without_escapes(rack)), without_escapes(host));
            }
        }
    }

    /// Notes a host. A killed attempt is logged without the rack of its host, so a later mention may
    /// tell it.
    fn meet_host(&mut self, rack: Option<Cow<'_, str>>, host: Cow<'_, str>) {
        match self.hosts.get_mut(&*host) {
            Some(known) if known.is_none() => *known = rack.map(Cow::into_owned),
            Some(_) => {}
            None => drop(self.hosts.insert(host.into_owned(), rack.map(Cow::into_owned))),
        }
    }

    fn add(&mut self, admitted: &RunnableJob<'_>) {
        let job = admitted.job;
        self.jobs += 1;
        self.log.add(admitted);
        let queue = self.queues.entry(admitted.pool().to_owned()).or_default();
        queue.tasks += u64::from(admitted.maps.get()) + u64::from(admitted.reduces.get());
        queue.users.extend(job.user.clone());
        let init = job.launch_time.zip(job.submit_time);
        self.inits.extend(init.and_then(|(launch, submit)| launch.checked_sub(submit)));
        self.localisations.extend(Localisations::of(job).usual.map(SimSpan::as_millis));
        let speculates = [MAP_SPECULATION, REDUCE_SPECULATION]
            .into_iter()
            .any(|names| property(&job.job_properties, names) == Some("true"));
        self.speculates |= speculates;
        // With second attempts, those that lose are killed, too.
        if !speculates && job.outcome == Some(LoggedOutcome::Success) {
            self.has_kills |= job
                .tasks()
                .flat_map(|task| &task.attempts)
                .any(|attempt| attempt.result == Some(LoggedOutcome::Killed) && !attempt.is_lost);
        }
        for task in job.tasks() {
            let is_reduce = task.task_type == Some(TaskType::Reduce);
            // Setups and cleanups are left out: they run in slots of either kind. So are attempts that
            // failed or were killed: a log tells when the JobTracker knew, not when the slot was free.
            if let Some(attempt) = success(task).filter(|_| !task.is_service())
                && let Some((_, host)) = place_of(attempt)
                && let Some((start, end)) = attempt.start_time.zip(attempt.finish_time)
                && (1..end).contains(&start)
            {
                let commits = is_reduce || admitted.reduces.get() == 0;
                let ran = &mut self.ran[usize::from(is_reduce)];
                let span = AttemptSpan { start, end, commits };
                match ran.get_mut(&*host) {
                    Some(spans) => spans.push(span),
                    None => drop(ran.insert(host.into_owned(), vec![span])),
                }
            }
            let service = success(task).filter(|_| task.is_service());
            let span = service.and_then(|done| done.finish_time?.checked_sub(done.start_time?));
            self.services.extend(span);
        }
        if !job.job_properties.is_empty() {
            self.configured += 1;
            self.settings.clone_from(&job.job_properties);
        }
    }

    fn said(&self, names: PropertyNames) -> Option<&str> {
        property(&self.settings, names)
    }

    /// Returns the most attempts that held slots of each host at once, the fewest first. An attempt
    /// waits to commit for `longest_wait` at most.
    fn most_at_once(&self, kind: SlotKind, longest_wait: u64) -> Vec<u32> {
        let ran = &self.ran[usize::from(kind == SlotKind::Reduce)];
        let mut most: Vec<u32> = ran.values().map(|spans| at_once(spans, longest_wait)).collect();
        most.sort_unstable();
        most
    }

    fn cluster(mut self) -> LoggedCluster {
        let mut found = LoggedCluster {
            settings: Vec::new(),
            topology: self.topology(),
            priorities: Vec::new(),
            lost: Vec::new(),
            has_kills: self.has_kills,
            queues: std::mem::take(&mut self.queues),
            missing: configured::unmodelled(&self.settings)
                .into_iter()
                .map(MissingFact::from)
                .collect(),
            jobs: self.jobs,
        };
        let line = self.line(&mut found);
        let longest_wait = self.heartbeat(line, &mut found);
        self.times(&mut found);
        let nodes = self.hosts.len();
        let racks = self.hosts.values().flatten().collect::<BTreeSet<_>>().len();
        let lost = self.hosts.values().filter(|rack| rack.is_none()).count();
        let [hosts, in_racks, lost_hosts] =
            [(nodes - lost, "host"), (racks, "rack"), (lost, "host")]
                .map(|(count, thing)| counted(count as u64, thing));
        let without =
            if 0 < lost { format!(" and {lost_hosts} without a rack") } else { String::new() };
        let reason = format!("{hosts} in {in_racks}{without} ran attempts or held input");
        if 0 < lost {
            let text = format!(
                "the racks of {lost_hosts}: they stand in Hadoop's `{DEFAULT_RACK}` of the topology"
            );
            found.missing.push(text.into());
        }
        found.add("cluster.nodes", nodes, InferredBy::AtLeast, reason.clone());
        found.add("cluster.racks", racks.max(1), InferredBy::AtLeast, reason);
        for kind in SlotKind::BOTH {
            self.slots(kind, longest_wait, &mut found);
        }
        if let Some(bytes) = self.said(BLOCK).and_then(|text| text.parse::<u64>().ok())
            && 0 < bytes
        {
            let reason = "dfs.block.size of its jobs".to_owned();
            found.add("cluster.hdfs.block", Bytes::new(bytes), InferredBy::Said, reason);
        }
        // A policy that orders when jobs are read lets them wait for its order.
        let (init, which) = match reads_on_order(&self.settings) {
            true => (self.inits.iter().min().copied(), "shortest time"),
            false => (median(&mut self.inits), "median"),
        };
        if let Some(init) = init {
            let reason = format!("{which} from a job's submission to its launch");
            found.add("cluster.jobtracker.init", millis(init), InferredBy::Measured, reason);
        }
        self.policy(&mut found);
        let [rack, off_rack] = self.log.penalties();
        for (path, factor, at) in [
            ("workload.rumen.penalty.rack", rack, "in the rack of their input"),
            ("workload.rumen.penalty.off_rack", off_rack, "in another rack than their input"),
        ] {
            let sure = if factor == 1.0 { InferredBy::Assumed } else { InferredBy::Measured };
            let reason = match sure {
                InferredBy::Measured => format!("how much longer maps took {at}"),
                _ => format!("too few maps {at}, or not slower than by chance"),
            };
            found.add(path, factor, sure, reason);
        }
        if self.configured < self.jobs {
            let text = format!(
                "{} of {} jobs have no logged configuration (`_conf.xml` beside the log): their slow \
                 start, attempts and second attempts are Hadoop's defaults",
                self.jobs - self.configured,
                self.jobs
            );
            found.missing.push(text.into());
        }
        found
    }

    /// Returns whether the jobs ran in containers of YARN.
    fn is_yarn(&self) -> bool {
        self.settings.keys().any(|name| name.starts_with("yarn."))
    }

    fn line(&self, found: &mut LoggedCluster) -> HadoopLine {
        let has = |prefix: &str| self.settings.keys().any(|name| name.starts_with(prefix));
        let of = |line, sure, reason: &str| (line, sure, reason.to_owned());
        let (line, sure, reason) = if self.is_yarn() {
            found.missing.push(
                "the jobs ran in YARN's containers: slots stand for the most containers at once, and \
                 memory does not limit them"
                    .to_owned()
                    .into(),
            );
            of(HadoopLine::V021, InferredBy::Assumed, "YARN; the nearest line")
        } else if has("mapreduce.jobtracker.taskscheduler") {
            of(
                HadoopLine::V021,
                InferredBy::Said,
                "its jobs have `mapreduce.jobtracker.taskscheduler`",
            )
        } else if has("mapreduce.job.acl-") {
            of(HadoopLine::V1, InferredBy::Said, "its jobs have `mapreduce.job.acl-…`")
        } else if !self.settings.is_empty() {
            of(HadoopLine::V020, InferredBy::Said, "its jobs have only older settings")
        } else {
            of(HadoopLine::V020, InferredBy::Assumed, "no job has a logged configuration")
        };
        found.add("hadoop.line", line, sure, reason);
        line
    }

    /// Finds the settings of heartbeats and speculation. Returns the longest usual wait for a
    /// permission to commit, in milliseconds.
    fn heartbeat(&self, line: HadoopLine, found: &mut LoggedCluster) -> u64 {
        let mut hadoop = hadoop_preset(line);
        let rate = self.said(HEARTBEATS).and_then(|text| text.parse().ok()).and_then(Count::new);
        hadoop.heartbeats_per_second = rate.unwrap_or(hadoop.heartbeats_per_second);
        let trackers = u32::try_from(self.hosts.len()).unwrap_or(u32::MAX);
        let factor = configured::heartbeat_factor(&self.settings, line);
        let ruled = match factor {
            None => hadoop.heartbeat_interval(trackers),
            Some(factor) => {
                let floor = std::mem::take(&mut hadoop.heartbeat_floor);
                hadoop.heartbeat_interval(trackers).ceil_mul(factor).max(floor)
            }
        };
        let ruled = ruled.as_millis();
        let measured = match self.log.hearing() {
            Some(LogHearing::Within(interval)) => Some(interval.as_millis()),
            Some(LogHearing::AtOnce(_)) | None => None,
        };
        // An application master of YARN hears of ends by calls of the tasks themselves.
        let is_out_of_band = self.is_yarn()
            || measured == Some(0)
            || matches!(self.log.hearing(), Some(LogHearing::AtOnce(_)));
        let measured = measured.filter(|_| !is_out_of_band);
        let rule = match rate {
            Some(rate) => format!("{} heartbeats a second for {trackers} trackers", rate.get()),
            None => format!("Hadoop's rule for {trackers} trackers"),
        } + &factor.map_or_else(String::new, |factor| format!(", times {factor}"));
        let of_yarn = self.said(YARN_HEARTBEAT).and_then(|text| text.parse().ok());
        let (interval, sure, reason) = match measured {
            None if self.is_yarn() => match of_yarn {
                Some(said) => (said, InferredBy::Said, YARN_HEARTBEAT[0].to_owned()),
                None => (1_000, InferredBy::Assumed, "YARN's default".to_owned()),
            },
            // Tasks end at any instant, so the longest delay is a little short of the interval.
            Some(measured) if measured.abs_diff(ruled) <= ruled / 10 => {
                let reason = format!("{rule}, and ends of tasks agree");
                (ruled, InferredBy::Measured, reason)
            }
            Some(measured) => {
                let reason = "how late the JobTracker heard of ends of tasks".to_owned();
                (measured, InferredBy::Measured, reason)
            }
            None if rate.is_some() => (ruled, InferredBy::Said, rule),
            None => (ruled, InferredBy::Assumed, rule),
        };
        found.add("hadoop.heartbeat", millis(interval), sure, reason);
        let told = self.said(OUT_OF_BAND).and_then(|text| text.parse::<bool>().ok());
        if is_out_of_band || told == Some(true) {
            let (sure, reason) = match is_out_of_band {
                true => (InferredBy::Measured, "the JobTracker heard of ends at once"),
                false => (InferredBy::Said, OUT_OF_BAND[0]),
            };
            found.add("hadoop.out_of_band", true, sure, reason.to_owned());
        }
        if let Some(expiry) = self.said_expiry() {
            found.add("hadoop.expiry", expiry, InferredBy::Said, EXPIRY[0].to_owned());
        }
        if self.speculates {
            let rule = if line == HadoopLine::V021 { "hadoop-0.21" } else { "hadoop-0.20" };
            let reason = "jobs are configured to get second attempts".to_owned();
            found.add("hadoop.speculation", rule, InferredBy::Said, reason);
        }
        interval + (hadoop.poll + hadoop.commit_time).as_millis()
    }

    fn said_expiry(&self) -> Option<SimSpan> {
        let text = self.said(EXPIRY).filter(|_| !self.is_yarn())?;
        Some(SimSpan::from_millis(text.parse().ok()?).min(SimSpan::LONGEST))
    }

    /// Returns how long after its last heartbeat a tracker is lost.
    fn expiry(&self) -> SimSpan {
        self.said_expiry().unwrap_or_else(|| hadoop_preset(HadoopLine::V1).expiry)
    }

    fn times(&mut self, found: &mut LoggedCluster) {
        let localisation = median(&mut self.localisations);
        if let Some(copying) = localisation {
            let reason = "median from a job's first assignment to a host to the start there";
            let value = millis(copying);
            found.add("hadoop.localisation", value, InferredBy::Measured, reason.to_owned());
        }
        if self.services.is_empty() {
            let reason = "no job has a setup or a cleanup".to_owned();
            found.add("hadoop.setup_cleanup", false, InferredBy::Measured, reason);
        }
        if let Some(service) = median(&mut self.services) {
            // A setup does next to nothing, so its time is its start-up.
            let start_up = service + localisation.unwrap_or(0);
            let reason = "median time of setups and cleanups, after the copying of files";
            let value = millis(start_up);
            found.add("hadoop.start_up", value, InferredBy::Measured, reason.to_owned());
        }
    }

    fn slots(&self, kind: SlotKind, longest_wait: u64, found: &mut LoggedCluster) {
        let (path, names) = match kind {
            SlotKind::Map => ("cluster.map_slots", MAP_SLOTS),
            SlotKind::Reduce => ("cluster.reduce_slots", REDUCE_SLOTS),
        };
        let each = self.most_at_once(kind, longest_wait);
        // Not the most of all: the times of a single host may be wrong.
        let place = (each.len() * OF_A_HUNDRED).div_ceil(100).saturating_sub(1);
        let most = each.get(place).copied().unwrap_or(0);
        let above = |slots| each.iter().filter(|of_host| slots < **of_host).count();
        let reached = each.iter().filter(|of_host| **of_host == most).count();
        let hosts = self.hosts.len();
        let word = kind.word();
        let at_once = counted(most.into(), &format!("{word} attempt"));
        let mut seen =
            format!("at most {at_once} at once, on {reached} of {}", counted(hosts as u64, "host"));
        if 0 < above(most) {
            seen += &format!("; more on {}", above(most));
        }
        // In YARN these settings of trackers are left over.
        let said =
            self.said(names).filter(|_| !self.is_yarn()).and_then(|text| text.parse::<u32>().ok());
        let (slots, sure, reason) = match said {
            // The configuration of a job may be that of its client, and not that of the trackers.
            Some(said) if hosts < 2 * above(said) => {
                let reason = format!("{seen}, though {} is {said}", names[0]);
                (most, InferredBy::AtLeast, reason)
            }
            Some(said) => (said, InferredBy::Said, format!("{}; {seen}", names[0])),
            // If most hosts never ran more, that is hardly by chance.
            None if hosts <= 2 * reached => (most, InferredBy::Measured, seen),
            None => (most, InferredBy::AtLeast, seen),
        };
        found.add(path, slots, sure, reason);
    }

    fn policy(&self, found: &mut LoggedCluster) {
        let full = self.said(if self.is_yarn() { YARN_POLICY } else { POLICY });
        let class = full.map(|class| class.rsplit('.').next().unwrap_or(class));
        let (policy, sure) = match class {
            Some("JobQueueTaskScheduler" | "FifoScheduler") => ("fifo", InferredBy::Said),
            Some("FairScheduler") => ("fair", InferredBy::Said),
            Some("CapacityTaskScheduler" | "CapacityScheduler") => ("capacity", InferredBy::Said),
            _ => ("fifo", InferredBy::Assumed),
        };
        let reason = match (class, sure) {
            (Some(class), InferredBy::Said) => class.to_owned(),
            (Some(class), _) => format!("{class} is not known"),
            (None, _) => "no job names its policy; FIFO is Hadoop's default".to_owned(),
        };
        if matches!(policy, "fair" | "capacity") {
            let setting = format!("scheduler.{policy}.allocations");
            let text = format!(
                "a log does not hold the settings of pools and queues: all are alike (say {setting})"
            );
            found.missing.push(MissingFact { text, setting: Some(setting) });
        }
        found.add("scheduler", policy, sure, reason);
        if policy == "capacity" {
            self.queues(found);
        }
        for (property, path, read) in OF_FAIR.iter().filter(|_| policy == "fair" && !self.is_yarn())
        {
            let name = format!("mapred.fairscheduler.{property}");
            if let Some(value) = self.settings.get(&name).and_then(|text| read(text.trim())) {
                found.has_kills |= *path == "scheduler.fair.preemption";
                found.add(path, value, InferredBy::Said, name);
            }
        }
    }

    /// Adds the queues of the capacity scheduler: those that are said, or else those of the jobs.
    fn queues(&self, found: &mut LoggedCluster) {
        let path = "scheduler.capacity.allocations";
        if let Some(said) = configured::queues(&self.settings) {
            found.missing.retain(|fact| fact.setting.as_deref() != Some(path));
            let reason = "mapred.capacity-scheduler.* of its jobs".to_owned();
            return found.add(path, in_line(&said), InferredBy::Said, reason);
        }
        let used: BTreeSet<&str> = found.queues.keys().map(String::as_str).collect();
        let names = configured::queue_names(&self.settings).chain(used).collect::<BTreeSet<_>>();
        let reason =
            format!("{} of its jobs, with equal shares", counted(names.len() as u64, "queue"));
        let alike = configured::alike(names.into_iter());
        found.add(path, in_line(&alike), InferredBy::Assumed, reason);
    }

    fn topology(&self) -> LoggedTopology {
        let mut racks: BTreeMap<&str, Vec<LoggedTopology>> = BTreeMap::new();
        for (host, rack) in &self.hosts {
            let rack = racks.entry(rack.as_deref().unwrap_or(DEFAULT_RACK)).or_default();
            rack.push(LoggedTopology { name: host.to_owned(), children: Vec::new() });
        }
        let racks = racks
            .into_iter()
            .map(|(rack, hosts)| LoggedTopology { name: rack.to_owned(), children: hosts });
        LoggedTopology { name: "<root>".to_owned(), children: racks.collect() }
    }
}

/// Returns a tree as text in one line.
pub(super) fn in_line(tree: &Value) -> String {
    serde_json::to_string(tree).expect("text and numbers")
}

/// Returns the rack and the name of an attempt's host, as far as the log tells them.
fn place_of(attempt: &LoggedAttempt) -> Option<(Option<Cow<'_, str>>, Cow<'_, str>)> {
    let named = attempt.host_name.as_deref().filter(|name| !name.is_empty())?;
    let (path, host) = named.rsplit_once('/').unwrap_or(("", named));
    let rack = path.rsplit('/').next().filter(|rack| !rack.is_empty());
    (!host.is_empty()).then(|| (rack.map(without_escapes), without_escapes(host)))
}

/// Returns the most attempts that held slots at once. An attempt that waits to commit counts as
/// without a slot: its tracker may run another one beside it.
fn at_once(spans: &[AttemptSpan], longest_wait: u64) -> u32 {
    let mut changes: Vec<(u64, i32)> = Vec::with_capacity(2 * spans.len());
    for AttemptSpan { start, end, commits } in spans {
        let wait = if *commits { longest_wait } else { 0 };
        // An attempt that starts at the end of another one takes over its slot.
        changes.extend([(*start, 1), (end.saturating_sub(wait).max(*start), -1)]);
    }
    changes.sort_unstable();
    let (mut now, mut most) = (0, 0);
    for (_, change) in changes {
        now += change;
        most = most.max(now);
    }
    most.unsigned_abs()
}

fn millis(millis: u64) -> String {
    SimSpan::from_millis(millis.min(SimSpan::LONGEST.as_millis())).to_string()
}

impl LoggedCluster {
    fn add(
        &mut self,
        path: &'static str,
        value: impl fmt::Display,
        sure: InferredBy,
        reason: String,
    ) {
        self.settings.push(InferredSetting { path, value: value.to_string(), sure, reason });
    }

    /// Takes settings that fit better than its own.
    pub fn fit(&mut self, settings: Vec<InferredSetting>) {
        for fact in &mut self.missing {
            if let Some(text) = fact.fitted(&settings) {
                fact.text = text;
            }
        }
        for setting in settings {
            self.settings.retain(|one| one.path != setting.path);
            let after = self.settings.iter().rposition(|one| one.path.starts_with("scheduler"));
            self.settings.insert(after.map_or(self.settings.len(), |place| place + 1), setting);
        }
    }

    /// Returns a scenario, in YAML, that replays the log on the cluster, `lenient` or not. `topology`
    /// is the file with the racks and hosts.
    pub fn scenario(&self, name: &str, log: &Path, topology: &Path, lenient: bool) -> String {
        let mut tree = Mapping::new();
        tree.insert("name".into(), name.into());
        for (path, value) in [
            ("workload.rumen.trace", log.display().to_string()),
            ("workload.rumen.topology", topology.display().to_string()),
        ] {
            put(&mut tree, path, value.into());
        }
        if lenient {
            put(&mut tree, "workload.rumen.lenient", true.into());
        }
        // The topology has the nodes and racks.
        let given_by_topology = ["cluster.nodes", "cluster.racks"];
        for setting in self.settings.iter().filter(|it| !given_by_topology.contains(&it.path)) {
            let value = serde_yaml::from_str(&setting.value).unwrap_or(Value::Null);
            // The line of 0.20 and 0.21 is text that looks like a number.
            let value = if value.is_f64() && setting.path == "hadoop.line" {
                Value::from(setting.value.as_str())
            } else {
                value
            };
            put(&mut tree, setting.path, value);
        }
        let entries = self.priorities.iter().map(|LaterPriority { at, job, priority }| {
            let mut entry = Mapping::new();
            put(&mut entry, "at", at.to_string().into());
            put(&mut entry, "change.job", job.as_str().into());
            let priority = serde_yaml::to_value(priority).expect("a word");
            put(&mut entry, "change.priority", priority);
            Value::from(entry)
        });
        let later: Vec<Value> = entries.collect();
        let faults = self.lost.iter().map(|LostTracker { host, at, lasts }| {
            let mut fault = Mapping::new();
            put(&mut fault, "at", at.to_string().into());
            put(&mut fault, "restart.nodes", vec![Value::from(host.as_str())].into());
            put(&mut fault, "restart.for", lasts.to_string().into());
            Value::from(fault)
        });
        let faults: Vec<Value> = faults.collect();
        for (key, entries) in [("faults", faults), ("later", later)] {
            if !entries.is_empty() {
                tree.insert(key.into(), entries.into());
            }
        }
        serde_yaml::to_string(&tree).expect("a tree of text and numbers")
    }
}

fn put(tree: &mut Mapping, path: &str, value: Value) {
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    let keys: Vec<&str> = rest.split_terminator('.').collect();
    put_at(tree.entry(first.into()).or_insert(Value::Null), &keys, value);
}

/// Puts a value behind keys into a tree. A policy without options is a word; with options, it is a
/// mapping.
pub(super) fn put_at(tree: &mut Value, keys: &[&str], value: Value) {
    let Some((key, rest)) = keys.split_first() else {
        *tree = value;
        return;
    };
    if !tree.is_mapping() {
        *tree = Mapping::new().into();
    }
    if let Value::Mapping(map) = tree {
        put_at(map.entry((*key).into()).or_insert(Value::Null), rest, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEWER: &str = include_str!("../../tests/fuzz/seeds/log/newer.jhist");

    fn cluster_of(log: &str) -> LoggedCluster {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("log");
        std::fs::write(&path, log).unwrap();
        LogReading::read(&path, 1.0, Strictness::Strict).unwrap().cluster
    }

    /// Returns the settings that a log shows, each with how sure it is, and what is missing.
    fn read(log: &str) -> (BTreeMap<&'static str, (String, InferredBy)>, Vec<String>) {
        let cluster = cluster_of(log);
        let settings = cluster.settings.into_iter().map(|one| (one.path, (one.value, one.sure)));
        (settings.collect(), cluster.missing.into_iter().map(|fact| fact.text).collect())
    }

    #[test]
    fn containers_of_yarn_are_taken_for_slots() {
        let conf = "<configuration>\
            <property><name>yarn.resourcemanager.scheduler.class</name>\
            <value>org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacityScheduler</value>\
            </property><property><name>mapred.tasktracker.map.tasks.maximum</name><value>9</value></property>\
            </configuration>\n";
        let (settings, missing) = read(&format!("{NEWER}{conf}"));
        let of = |path| (settings[path].0.as_str(), settings[path].1);
        assert_eq!(of("hadoop.line"), ("0.21", InferredBy::Assumed));
        assert_eq!(of("hadoop.heartbeat"), ("1s", InferredBy::Assumed));
        assert_eq!(of("hadoop.out_of_band"), ("true", InferredBy::Measured));
        assert_eq!(of("hadoop.setup_cleanup"), ("false", InferredBy::Measured));
        assert_eq!(of("scheduler"), ("capacity", InferredBy::Said));
        assert_ne!(of("cluster.map_slots").0, "9", "a setting that is left over");
        assert!(missing.iter().any(|what| what.contains("YARN's containers")), "{missing:?}");
    }

    /// Returns the scheduler of a scenario that replays a log with these properties.
    fn scheduler(properties: &[(&str, &str)]) -> Value {
        let properties = properties.iter().map(|(name, text)| ((*name).into(), (*text).into()));
        let cluster =
            ClusterSurvey { settings: properties.collect(), ..Default::default() }.cluster();
        let text = cluster.scenario("mine", Path::new("a log"), Path::new("t.json"), false);
        serde_yaml::from_str::<Value>(&text).unwrap()["scheduler"].clone()
    }

    #[test]
    fn a_configuration_sets_the_fair_scheduler() {
        let fair = (POLICY[0], "org.apache.hadoop.mapred.FairScheduler");
        assert_eq!(scheduler(&[fair]), Value::from("fair"));
        let of = |name| ["mapred.fairscheduler.", name].concat();
        let [delay, kills, interval] = ["locality.delay", "preemption", "update.interval"].map(of);
        let said = [fair, (&delay, "5000"), (&kills, "true"), (&interval, "250")];
        let expected =
            "{fair: {delay: {w1: 5000ms, w2: 5000ms}, preemption: kill, update_interval: 250ms}}";
        assert_eq!(scheduler(&said), serde_yaml::from_str::<Value>(expected).unwrap());
        let defaults = [fair, (&delay, "-1"), (&kills, "false"), (&interval, "soon")];
        assert_eq!(scheduler(&defaults), Value::from("fair"));
        assert_eq!(scheduler(&[(&delay, "5000")]), Value::from("fifo"));
    }

    #[test]
    fn a_later_priority_holds_from_the_event_before_it() {
        const LOG: &str = include_str!("../../tests/fuzz/seeds/log/history.log");
        let log = |names: &[&str]| {
            let of =
                |name| format!("Job JOBID=\"job_202601010000_0001\" JOB_PRIORITY=\"{name}\" .\n");
            let first_map = LOG.find("Task TASKID=\"task_202601010000_0001_m_000001\"").unwrap();
            let (before, after) = LOG.split_at(first_map);
            format!("{before}{}{after}", names.iter().map(of).collect::<String>())
        };
        let LoggedCluster { priorities, missing, .. } = cluster_of(&log(&["HIGH", "LOW", "LOW"]));
        let [LaterPriority { at, job, priority }] = &priorities[..] else {
            panic!("{priorities:?}")
        };
        assert_eq!((at.to_string().as_str(), *priority), ("3100ms", Priority::Low));
        assert_eq!(job, "job_202601010000_0001");
        assert!(
            missing.iter().any(|fact| fact.text.contains("when 1 priority change came")),
            "{missing:?}"
        );
        assert_eq!(cluster_of(&log(&[])).priorities, [], "the first is no change");
    }

    #[test]
    fn a_mention_with_a_rack_outranks_one_without() {
        let host = |name: &str| LoggedJob {
            map_tasks: vec![mumakil_traces::rumen::LoggedTask {
                attempts: vec![LoggedAttempt {
                    host_name: Some(name.to_owned()),
                    ..LoggedAttempt::default()
                }],
                ..mumakil_traces::rumen::LoggedTask::default()
            }],
            ..LoggedJob::default()
        };
        let mut survey = ClusterSurvey::default();
        for name in ["a", "/r1/a", "a", "/r2/b", "c"] {
            survey.meet_hosts(&host(name));
        }
        let LoggedCluster { topology, settings, missing, .. } = survey.cluster();
        let mut hosts = topology.hosts();
        hosts.sort_unstable();
        let rack = |name: &str| format!("/{name}");
        assert_eq!(hosts, [(rack("default-rack"), "c"), (rack("r1"), "a"), (rack("r2"), "b")]);
        let racks = settings.iter().find(|setting| setting.path == "cluster.racks").unwrap();
        assert_eq!(racks.value, "2");
        assert!(
            racks.reason.starts_with("2 hosts in 2 racks and 1 host without a rack"),
            "{racks:?}"
        );
        assert!(
            missing.iter().any(|fact| fact.text.starts_with("the racks of 1 host:")),
            "{missing:?}"
        );
    }

    /// Returns the map slots, and how sure they are, of 20 hosts that each ran two maps at once, but
    /// for `odd` of them, which ran four.
    fn map_slots(odd: usize, said: Option<&str>) -> (String, InferredBy) {
        let mut survey = ClusterSurvey::default();
        for host in 0..20 {
            let span = AttemptSpan { start: 1, end: 9, commits: false };
            let name = format!("h{host}");
            survey.meet_host(None, name.as_str().into());
            survey.ran[0].insert(name, vec![span; if host < odd { 4 } else { 2 }]);
        }
        let said = said.map(|said| (MAP_SLOTS[0].to_owned(), said.to_owned()));
        survey.settings.extend(said);
        let settings = survey.cluster().settings.into_iter();
        let found =
            settings.into_iter().find(|setting| setting.path == "cluster.map_slots").unwrap();
        (found.value, found.sure)
    }

    #[test]
    fn few_hosts_neither_outvote_a_setting_nor_the_others() {
        assert_eq!(map_slots(0, None), ("2".to_owned(), InferredBy::Measured));
        assert_eq!(map_slots(1, None), ("2".to_owned(), InferredBy::Measured));
        assert_eq!(map_slots(2, None), ("4".to_owned(), InferredBy::AtLeast));
        assert_eq!(map_slots(10, Some("2")), ("2".to_owned(), InferredBy::Said));
        assert_eq!(map_slots(11, Some("2")), ("4".to_owned(), InferredBy::AtLeast));
        assert_eq!(map_slots(0, Some("3")), ("3".to_owned(), InferredBy::Said));
    }

    #[test]
    fn only_successful_attempts_show_slots() {
        let attempt = |id: &str, result, end| LoggedAttempt {
            attempt_id: format!("attempt_1_0001_m_{id}"),
            result: Some(result),
            host_name: Some("/r/h".to_owned()),
            start_time: Some(1_000),
            finish_time: Some(end),
            ..LoggedAttempt::default()
        };
        let tasks = [
            vec![
                attempt("000000_0", LoggedOutcome::Failed, 600_000),
                attempt("000000_1", LoggedOutcome::Success, 9_000),
            ],
            vec![attempt("000001_0", LoggedOutcome::Killed, 600_000)],
        ];
        let maps = (0..).zip(tasks).map(|(number, attempts)| mumakil_traces::rumen::LoggedTask {
            task_id: format!("task_1_0001_m_{number:06}"),
            task_type: Some(TaskType::Map),
            attempts,
            ..mumakil_traces::rumen::LoggedTask::default()
        });
        let job = LoggedJob {
            job_id: "job_1_0001".to_owned(),
            submit_time: Some(1),
            outcome: Some(LoggedOutcome::Success),
            total_maps: Some(2),
            total_reduces: Some(0),
            map_tasks: maps.collect(),
            ..LoggedJob::default()
        };
        let mut survey = ClusterSurvey::default();
        survey.add(&RunnableJob::of(&job, RumenModel::Measured).unwrap().unwrap());
        assert_eq!(survey.most_at_once(SlotKind::Map, 0), [1]);
    }

    #[test]
    fn attempts_that_wait_to_commit_hold_no_slot() {
        let span = |start, end, commits| AttemptSpan { start, end, commits };
        assert_eq!(
            at_once(&[span(0, 10, false), span(10, 20, false)], 4),
            1,
            "it takes the slot over"
        );
        assert_eq!(at_once(&[span(0, 10, false), span(7, 20, false)], 4), 2);
        assert_eq!(at_once(&[span(0, 10, true), span(7, 20, true)], 4), 1);
        assert_eq!(at_once(&[], 4), 0);
    }

    #[test]
    fn a_scenario_has_lines_as_text_and_hosts_in_its_topology() {
        let cluster = LoggedCluster {
            settings: vec![
                InferredSetting {
                    path: "hadoop.line",
                    value: "0.20".to_owned(),
                    sure: InferredBy::Assumed,
                    reason: String::new(),
                },
                InferredSetting {
                    path: "cluster.nodes",
                    value: "3".to_owned(),
                    sure: InferredBy::AtLeast,
                    reason: String::new(),
                },
            ],
            topology: LoggedTopology { name: "<root>".to_owned(), children: Vec::new() },
            lost: Vec::new(),
            has_kills: false,
            queues: BTreeMap::new(),
            priorities: vec![LaterPriority {
                at: SimSpan::from_millis(1500),
                job: "job_1_0002".to_owned(),
                priority: Priority::VeryHigh,
            }],
            missing: Vec::new(),
            jobs: 1,
        };
        let scenario = cluster.scenario("mine", Path::new("a log"), Path::new("t.json"), true);
        assert_eq!(
            scenario,
            "name: mine\nworkload:\n  rumen:\n    trace: a log\n    topology: t.json\n    \
             lenient: true\nhadoop:\n  line: '0.20'\nlater:\n- at: 1500ms\n  change:\n    \
             job: job_1_0002\n    priority: very_high\n"
        );
    }
}
