//! `workload: {rumen: {trace: …}}`: the jobs of a cluster's history, as recorded by Rumen.
//!
//! The logged attempts of a task determine its times and outcomes ([`Traced`]). There are two ways
//! to read them. With *measured*, a map runs where its own split is, and a reduce fetches, merges
//! and reduces for as long as it did after the last map had ended. With *Mumak*, the quirks of
//! Mumak are kept: a map gets its split by the position in the file but its time by the number in
//! its id; input in the same rack counts as input in another rack; and a reduce takes only the time
//! of its reduce phase.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use rand::RngExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::admitted::{
    BACKWARDS, NumberedTasks, RumenModel, RunnableJob, id_of, map_time, number_of,
};
use super::attempt::{LoggedAttempt, LoggedOutcome, LoggedTask, TaskType};
use super::localisations::Localisations;
use super::order::{RepeatedIds, sort_by, told_order};
use super::properties::reads_on_order;
use super::record::{LoggedCdf, LoggedJob};
use super::survey::{LogSurvey, success};
use crate::hosts::Hosts;
use mumakil_base::random::{Purpose, stream};
use mumakil_base::units::{Bytes, Factor, SimSpan};
use mumakil_core::cluster::TrackerId;
use mumakil_core::mapred::{
    Cdf, Draws, Locality, ServiceTimes, Split, Traced, TracedInit, TracedService, TracedTask,
    TracedTimes, TracedTry,
};
use mumakil_core::trace::{Records, Strictness, TextPlace, TraceError, TraceFile};
use mumakil_scenario::workload::{
    FoundJobs, JobEntry, Source, SourceKind, Submission, WorkloadSite,
};

/// Jobs of a Rumen trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rumen {
    /// The job trace, plain or gzipped.
    pub trace: TraceFile,
    /// The topology: racks and hosts in place of `cluster.nodes`, `racks` and `groups`.
    /// Without this, each host of the trace stands for a node of the cluster, in turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topology: Option<TraceFile>,
    /// How the trace is read. Without this, it is `mumak` with `hadoop: mumak`, and otherwise
    /// `measured`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<RumenModel>,
    /// How many times as long a map takes if its input is not on its node. The logged time is
    /// multiplied by the factor of the distance now, and divided by that of the logged one.
    #[serde(default, skip_serializing_if = "RumenPenalty::is_open")]
    pub penalty: RumenPenalty,
    /// Whether jobs keep the settings that their logged configurations contain: slow start, attempts,
    /// failures and second attempts. Without this, all jobs have the settings of `hadoop`.
    #[serde(default = "yes")]
    pub job_settings: bool,
    /// Whether broken jobs are left out instead of being an error.
    #[serde(default)]
    pub lenient: bool,
}

/// How many times as long a map takes if its input is not on its node. Without these, `measured`
/// takes what the maps of the log show, or 1 if they show nothing, and `mumak` takes the factors
/// of Mumak, 1.5 and 3.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RumenPenalty {
    /// The factor for input in the same rack.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rack: Option<Factor>,
    /// The factor for input in another rack.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub off_rack: Option<Factor>,
}

// Constants in Mumak's code; the properties in its configuration file are never read.
const MUMAK_PENALTIES: [f64; 2] = [1.5, 3.0];

impl RumenPenalty {
    /// Returns whether neither factor is given.
    fn is_open(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the factors of all distances; `open` are the factors that are not given.
    fn factors(&self, open: [f64; 2]) -> [f64; 3] {
        let [rack, off_rack] = [self.rack, self.off_rack].map(|own| own.map(Factor::get));
        [1.0, rack.unwrap_or(open[0]), off_rack.unwrap_or(open[1])]
    }
}

/// Rumen drops lists of more than 25 locations: such a split counts as being on no node.
const MOST_HOSTS: usize = 25;

impl SourceKind for Rumen {
    const KEY: &'static str = "rumen";
    const ABOUT: &'static str = "Jobs of a Rumen trace.";
}

impl Source for Rumen {
    /// Killed jobs and jobs without a map are left out. In Mumak's model, a job fails at its
    /// initialisation if more maps are logged than it has.
    fn jobs(&mut self, site: &WorkloadSite<'_>) -> Result<FoundJobs, TraceError> {
        let path = self.trace.find(site.folder);
        let mut records = Records::open_with(
            &path,
            Strictness::of(self.lenient),
            site.formats.logs::<LoggedJob>(),
        )?;
        let is_mumak = site.hadoop.behaviour().reads_like_mumak;
        let model = self.model.unwrap_or(match is_mumak {
            true => RumenModel::Mumak,
            false => RumenModel::Measured,
        });
        // All jobs are sorted below, or their order is Mumak's business.
        records.allow_unordered();
        if !is_mumak {
            records.allow_repeated_ids();
        }
        let mut reader = LogReader {
            model,
            draws: site.hadoop.draws,
            is_mumak,
            keeps_settings: self.job_settings,
            hosts: Hosts::new(site.topology),
            seed: site.seed,
            replays_in_mumak: is_mumak && site.submission == Submission::Replay,
            latest: 0,
            repeats: RepeatedIds::default(),
            survey: LogSurvey::default(),
        };
        let mut found = FoundJobs::default();
        let mut jobs: Vec<ReplayedJob> = Vec::new();
        while let Some(mut job) = records.next().transpose()? {
            if !is_mumak {
                reader.repeats.rename(&mut job);
            }
            match reader.read(&job, records.place(), jobs.len() as u64) {
                Ok(Some(job)) => jobs.push(job),
                Ok(None) => found.left_out += 1,
                Err(_) if self.lenient => found.broken += 1,
                Err(what) => return Err(records.unusable(Some(&job.job_id), what)),
            }
        }
        found.broken += records.notes().skipped.count;
        let LogReader { hosts, survey, repeats, .. } = reader;
        if !is_mumak {
            // Jobs of the same instant keep the order of the file.
            found.notes.extend(told_order(sort_by(&mut jobs, |job| job.submitted)));
            found.notes.extend(repeats.note());
        }
        found.notes.extend(hosts.unknown(&path)?);
        let mut open = MUMAK_PENALTIES;
        if model == RumenModel::Measured && !is_mumak {
            open = survey.penalties();
            if self.penalty.is_open() {
                found.notes.extend(survey.told_penalties());
            }
            let wait = survey.commit_wait(site.hadoop, site.topology.len());
            jobs.iter_mut().for_each(|job| job.traced.commit_wait = wait);
            note_inits(&mut jobs, site.cluster.jobtracker.init_threads.get());
        }
        let factors = self.penalty.factors(open);
        let first = jobs.first().map_or(0, |job| job.submitted);
        found.jobs = jobs.into_iter().map(|job| job.into_entry(first, factors)).collect();
        self.trace.pin(site.folder, records.sha256())?;
        Ok(found)
    }

    fn files_mut(&mut self) -> Vec<(&'static str, &mut TraceFile)> {
        let topology = self.topology.as_mut().map(|file| ("topology", file));
        [("trace", &mut self.trace)].into_iter().chain(topology).collect()
    }

    fn hosts_key(&self) -> Option<&'static str> {
        self.topology.as_ref().map(|_| "topology")
    }

    fn is_traced(&self) -> bool {
        true
    }
}

/// A job of a run, while the rest of the trace is still to be read.
struct ReplayedJob {
    entry: JobEntry,
    traced: Traced,
    /// When it was submitted, in the milliseconds of the trace.
    submitted: u64,
    /// The milliseconds from its submission until the JobTracker had read its splits.
    launched_after: Option<u64>,
    /// Whether the policy of the time ordered when to read them.
    is_ordered: bool,
}

impl ReplayedJob {
    /// Returns the job. `first` is when the first job was submitted.
    fn into_entry(self, first: u64, factors: [f64; 3]) -> JobEntry {
        JobEntry {
            submit: SimSpan::from_millis(self.submitted.saturating_sub(first)),
            traced: Some(Arc::new(Traced { factors, ..self.traced })),
            ..self.entry
        }
    }
}

/// The longest time that is taken for the reading of a job's splits. A job that waited longer was
/// held back by a scheduler, which reads jobs only when they may run.
// Chosen: the largest jobs are read in some seconds.
const LONGEST_INIT_MS: u64 = 60_000;

/// Notes how long the JobTracker took to read each job's splits, by the log. `threads` is how many
/// jobs it reads at the same time.
///
/// The log has the instants of the submission and of the end of the reading. In between, a job may
/// have waited for a thread. It will do so again in the run, so that wait is not a part of the time.
/// Nothing tells how long a job waited for the order of its policy.
fn note_inits(jobs: &mut [ReplayedJob], threads: u32) {
    let mut free: BinaryHeap<Reverse<u64>> = (0..threads).map(|_| Reverse(0)).collect();
    for job in jobs {
        let Some(after) = job.launched_after.filter(|after| *after <= LONGEST_INIT_MS) else {
            continue;
        };
        if job.is_ordered {
            let since = TracedInit::SinceSubmission(SimSpan::from_millis(after));
            job.traced.service.init = Some(since);
            continue;
        }
        let Some(mut thread) = free.peek_mut() else { return };
        let (began, ended) = (job.submitted.max(thread.0), job.submitted + after);
        thread.0 = thread.0.max(ended);
        let reading = SimSpan::from_millis(ended.saturating_sub(began));
        job.traced.service.init = Some(TracedInit::Reading(reading));
    }
}

/// Turns logged jobs into jobs of a run.
struct LogReader<'a> {
    model: RumenModel,
    draws: Draws,
    /// Whether the run is Mumak's: jobs keep their ids, which break ties.
    is_mumak: bool,
    keeps_settings: bool,
    hosts: Hosts<'a>,
    seed: u64,
    /// Whether jobs that run must be sorted by their submission: Mumak would end at a job that goes
    /// back in time.
    replays_in_mumak: bool,
    /// When the latest job that runs was submitted, in the milliseconds of the trace.
    latest: u64,
    repeats: RepeatedIds,
    survey: LogSurvey,
}

impl LogReader<'_> {
    /// Returns a job; `None` if it has no tasks to run.
    fn read(
        &mut self,
        job: &LoggedJob,
        place: TextPlace,
        number: u64,
    ) -> Result<Option<ReplayedJob>, String> {
        let Some(admitted) = RunnableJob::of(job, self.model)? else { return Ok(None) };
        if self.replays_in_mumak && admitted.submitted < self.latest {
            let earlier = self.latest - admitted.submitted;
            return Err(format!(
                "submitted {earlier} ms before the job above it, and Mumak cannot replay that"
            ));
        }
        self.latest = admitted.submitted;
        self.survey.add(&admitted);
        // Note all hosts of a job before its maps are made: `find` only knows the hosts that were
        // noted.
        for task in &job.map_tasks {
            let preferred = task.preferred_locations.iter().filter_map(|at| at.layers.last());
            let ran_on = task.attempts.iter().filter_map(|attempt| attempt.host_name.as_ref());
            preferred.chain(ran_on).for_each(|host| self.hosts.meet(host, place, &job.job_id));
        }
        let (entry, traced) = self.entry(&admitted, number);
        let launched_after =
            job.submit_time.zip(job.launch_time).map(|(at, launch)| launch.saturating_sub(at));
        let is_ordered = reads_on_order(&job.job_properties);
        let submitted = admitted.submitted;
        Ok(Some(ReplayedJob { entry, traced, submitted, launched_after, is_ordered }))
    }

    /// Returns a job without its time of submission, and the record of its tasks.
    fn entry(&self, admitted: &RunnableJob<'_>, number: u64) -> (JobEntry, Traced) {
        let RunnableJob { job, maps, reduces, logged, map_tasks, reduce_tasks, .. } = admitted;
        let is_mumak = self.model == RumenModel::Mumak;
        let replayed = (!is_mumak && !self.is_mumak).then(|| Localisations::of(job));
        let known = (0..maps.get()).map(|number| {
            // Mumak takes the split by the position in the file and the attempt by the number in
            // the id.
            let task = if is_mumak {
                logged.get(number as usize).copied()
            } else {
                map_tasks.get(&number).copied()
            };
            task.map(|task| self.split(task))
        });
        let splits: Vec<Option<Split>> = known.collect();
        let copies = copies(&splits);
        let unplaced = if self.draws == Draws::Mumak {
            (0..).zip(&splits).filter(|(_, split)| split.is_none()).map(|(map, _)| map).collect()
        } else {
            Box::default()
        };
        let splits = self.fill(splits, copies, number);
        let maps_ended = admitted.maps_ended();
        let traced = Traced {
            maps: tasks(map_tasks, maps.get(), replayed.as_ref(), 0, |task, attempt| {
                self.map_try(task, attempt)
            }),
            reduces: tasks(
                reduce_tasks,
                reduces.get(),
                replayed.as_ref(),
                maps_ended,
                |_, attempt| reduce_try(attempt, maps_ended, is_mumak),
            ),
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
                // Without these shares every made-up map fails in Mumak; with `measured` it
                // succeeds at once.
                None if is_mumak => None,
                None => Some([].into()),
            },
            // The whole trace must be read before these are known.
            factors: [1.0; 3],
            commit_wait: SimSpan::ZERO,
            service: replayed.map(|localisations| service(job, &localisations)).unwrap_or_default(),
            quirks: is_mumak,
            is_unreadable: admitted.is_unreadable,
            id: self.is_mumak.then(|| id_of(&job.job_id)),
            unplaced: (unplaced, copies),
        };
        let entry = JobEntry {
            input: Some(Bytes::new(
                splits.iter().fold(0, |sum: u64, split| sum.saturating_add(split.bytes.get())),
            )),
            splits: Some(splits.into()),
            ..admitted.entry(is_mumak, self.keeps_settings)
        };
        (entry, traced)
    }

    fn map_try(&self, task: &LoggedTask, logged: &LoggedAttempt) -> TracedTry {
        let host = logged.host_name.as_deref().and_then(|name| self.hosts.find(name));
        let holders = self.holders(task, |host| self.hosts.find(host));
        let distance = match host.and_then(|host| Locality::of(host, &holders, self.hosts.topology))
        {
            Some(Locality::Node) => 0,
            Some(Locality::Rack) => 1,
            // This includes a host that is not in the topology, as in Mumak.
            Some(Locality::OffRack) | None => 2,
        };
        TracedTry {
            times: map_time(logged, self.model)
                .map(|work| TracedTimes { work, ..TracedTimes::default() }),
            distance,
            fails: logged.result == Some(LoggedOutcome::Failed),
            ..TracedTry::default()
        }
    }

    fn holders(
        &self,
        task: &LoggedTask,
        find: impl Fn(&str) -> Option<TrackerId>,
    ) -> Vec<TrackerId> {
        if MOST_HOSTS < task.preferred_locations.len() {
            return Vec::new();
        }
        let hosts = task.preferred_locations.iter().filter_map(|location| location.layers.last());
        hosts.filter_map(|host| find(host)).collect()
    }

    fn split(&self, task: &LoggedTask) -> Split {
        let succeeded = success(task);
        let bytes = succeeded.and_then(|attempt| attempt.hdfs_bytes_read).unwrap_or(0);
        let holders = self.holders(task, |host| self.hosts.place(host));
        Split { bytes: Bytes::new(bytes), holders: holders.into() }
    }

    /// Makes up the splits of maps that are not logged. Each split is on `copies` random nodes, or
    /// on none yet if the JobTracker draws the nodes later.
    fn fill(&self, splits: Vec<Option<Split>>, copies: usize, job: u64) -> Vec<Split> {
        let nodes = self.hosts.topology.len();
        let mut rng = stream(self.seed, Purpose::Workload, job);
        let splits = splits.into_iter().map(|split| {
            split.unwrap_or_else(|| {
                let mut holders: Vec<TrackerId> = Vec::new();
                // With Mumak's own draws the JobTracker places these splits later, by Java's random
                // numbers, in the order in which it asks for them.
                while self.draws == Draws::Own && holders.len() < copies.min(nodes as usize) {
                    let node = TrackerId(rng.random_range(0..nodes));
                    if !holders.contains(&node) {
                        holders.push(node);
                    }
                }
                Split { bytes: Bytes::ZERO, holders: holders.into() }
            })
        });
        splits.collect()
    }
}

/// Returns how many nodes have the input of a map of the job, on average.
fn copies(splits: &[Option<Split>]) -> usize {
    let known = splits.iter().flatten().count();
    let held: usize = splits.iter().flatten().map(|split| split.holders.len()).sum();
    match held.checked_div(known) {
        // Mumak's fallback, which is the default of `dfs.replication`.
        None | Some(0) => 3,
        Some(copies) => copies,
    }
}

/// The most attempts of a task that are read. Hadoop numbers attempts after a restart from 1,000
/// on.
const MOST_TRIES: usize = 1_000;

/// Returns the attempts of a job's tasks of one kind; if they are not `replayed` as they were, without
/// killed attempts. The times of attempts count from the instant `from` on, in the milliseconds of the
/// trace.
fn tasks(
    numbered: &NumberedTasks<'_>,
    count: u32,
    replayed: Option<&Localisations<'_>>,
    from: u64,
    attempt: impl Fn(&LoggedTask, &LoggedAttempt) -> TracedTry,
) -> Vec<TracedTask> {
    let task = |number| -> TracedTask {
        // A task without a status is made up, like a task that is not logged.
        let known = numbered.get(&number).filter(|task| task.task_status.is_some());
        let Some(task) = known else { return Box::default() };
        let mut tries = Vec::new();
        for logged in &task.attempts {
            let number = number_of(&logged.attempt_id).map_or(MOST_TRIES, |n| n as usize);
            let made = match logged.result {
                _ if MOST_TRIES <= number => None,
                None => None,
                Some(LoggedOutcome::Killed) => {
                    replayed.map(|_| killed_try(task, logged, from, &attempt))
                }
                Some(LoggedOutcome::Success | LoggedOutcome::Failed) => Some(attempt(task, logged)),
            };
            if let Some(made) = made {
                let localisation = replayed.and_then(|them| them.of_attempt(&logged.attempt_id));
                tries.resize(tries.len().max(number + 1), None);
                tries[number] = Some(TracedTry { localisation, ..made });
            }
        }
        tries.into()
    };
    (0..count).map(task).collect()
}

/// Returns an attempt that was killed in the log. A run has its own reasons to kill, so the attempt
/// is one that succeeds: it takes as long as the task's successful attempt, or an unknown time if
/// there is none.
///
/// Exception: it takes longer if it still ran when the other attempt had succeeded. Then it was
/// killed for its slowness, after that time at the earliest. The log's own end of such an attempt
/// may be minutes later, when its output had been removed.
fn killed_try(
    task: &LoggedTask,
    logged: &LoggedAttempt,
    from: u64,
    attempt: impl Fn(&LoggedTask, &LoggedAttempt) -> TracedTry,
) -> TracedTry {
    let (start, end) = (logged.start_time.filter(|start| 0 < *start), logged.finish_time);
    let won = success(task);
    let won_at = won.and_then(|won| won.finish_time);
    let killed_at = match (end, won_at) {
        (Some(end), Some(won_at)) => (won_at <= end).then_some(won_at),
        // Without a winner, nothing but the kill itself has stopped the attempt.
        (Some(end), None) if won.is_none() => Some(end),
        _ => None,
    };
    let ran = start.zip(killed_at).map(|(start, end)| end.saturating_sub(start.max(from)));
    TracedTry {
        times: won.and_then(|won| attempt(task, won).times),
        distance: attempt(task, won.unwrap_or(logged)).distance,
        at_least: SimSpan::from_millis(ran.unwrap_or(0)),
        ..TracedTry::default()
    }
}

/// Returns the times of a job's setup and cleanup. Rumen lists these tasks apart from maps and
/// reduces; some versions list them among them.
fn service(job: &LoggedJob, localisations: &Localisations<'_>) -> TracedService {
    let times = |of| {
        let mut of_type = job.tasks().filter(|task| task.task_type == Some(of)).filter_map(success);
        let found = of_type.find_map(|attempt| {
            let takes = map_time(attempt, RumenModel::Measured)?;
            let localisation = localisations.of_attempt(&attempt.attempt_id);
            Some(ServiceTimes { takes: Some(takes), localisation })
        });
        found.unwrap_or_default()
    };
    TracedService {
        init: None,
        localisation: localisations.usual,
        setup: times(TaskType::Setup),
        cleanup: times(TaskType::Cleanup),
    }
}

fn reduce_try(logged: &LoggedAttempt, maps_ended: u64, is_mumak: bool) -> TracedTry {
    TracedTry {
        times: reduce_times(logged, maps_ended, is_mumak),
        fails: logged.result == Some(LoggedOutcome::Failed),
        ..TracedTry::default()
    }
}

pub(super) fn reduce_times(
    logged: &LoggedAttempt,
    maps_ended: u64,
    is_mumak: bool,
) -> Option<TracedTimes> {
    let start = logged.start_time.filter(|start| 0 < *start)?;
    let finish = logged.finish_time.filter(|finish| start < *finish)?;
    let shuffled = logged.shuffle_finished.filter(|at| 0 < *at).unwrap_or(start);
    // Mumak's rule: without an end of the sort phase, the reduce phase takes no time.
    let sorted = logged.sort_finished.filter(|at| 0 < *at).unwrap_or(finish);
    let span = |from: u64, to: u64| SimSpan::from_millis(to.saturating_sub(from));
    let (shuffle, sort) = if is_mumak {
        (SimSpan::ZERO, SimSpan::ZERO)
    } else {
        // Only the time after the last map counts: before, the reduce waited for maps, however much
        // it had fetched.
        (span(start.max(maps_ended), shuffled), span(shuffled, sorted))
    };
    let work = finish.checked_sub(sorted).map_or(BACKWARDS, SimSpan::from_millis);
    Some(TracedTimes { shuffle, sort, work, commit: SimSpan::ZERO })
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

fn yes() -> bool {
    true
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use mumakil_core::cluster::{ClusterSpec, Topology};
    use mumakil_core::mapred::HadoopLine::{Mumak, V020};
    use mumakil_core::mapred::{Hadoop, HadoopLine, Priority, TracedTimes};
    use mumakil_scenario::workload::format::Trace;

    /// A job whose second map comes first in the file. Its input is on two hosts, but only one of
    /// them is in the topology.
    const TRACE: &str = r#"
        {"jobID": "job_1_0001", "outcome": "KILLED", "submitTime": 1000, "totalMaps": 1,
         "mapTasks": [{"taskID": "task_1_0001_m_000000", "taskType": "MAP"}]}
        {"jobID": "job_1_0002", "user": "ann", "priority": "HIGH", "submitTime": 5000,
         "relativeTime": 1000, "totalMaps": 3, "totalReduces": 1, "jobMapMB": 512,
         "mapTasks": [
           {"taskID": "task_1_0002_m_000001", "taskType": "MAP", "taskStatus": "SUCCESS",
            "finishTime": 9000, "preferredLocations": [{"layers": ["r1", "h1"]}], "attempts": [
              {"attemptID": "attempt_1_0002_m_000001_0", "result": "FAILED", "startTime": 0,
               "finishTime": 6000, "hostName": "/r1/h1"},
              {"attemptID": "attempt_1_0002_m_000001_1", "result": "SUCCESS", "startTime": 6000,
               "finishTime": 9000, "hostName": "/r1/h2", "hdfsBytesRead": 100}]},
           {"taskID": "task_1_0002_m_000000", "taskType": "MAP", "taskStatus": "SUCCESS",
            "finishTime": 8000, "preferredLocations": [{"layers": ["r2", "h3"]}], "attempts": [
              {"attemptID": "attempt_1_0002_m_000000_0", "result": "SUCCESS", "startTime": 5000,
               "finishTime": 8000, "hostName": "/r9/unknown", "hdfsBytesRead": 50}]}],
         "reduceTasks": [
           {"taskID": "task_1_0002_r_000000", "taskType": "REDUCE", "taskStatus": "SUCCESS",
            "attempts": [
              {"attemptID": "attempt_1_0002_r_000000_0", "result": "SUCCESS", "startTime": 7000,
               "shuffleFinished": 10000, "sortFinished": 10500, "finishTime": 12500}]}]}
        {"jobID": "job_1_0003", "submitTime": 9000, "totalMaps": 1,
         "mapTasks": [{"taskID": "task_1_0003_m_000000", "taskType": "MAP"}]}
    "#;

    fn read(trace: &str, options: &str, line: HadoopLine) -> Result<FoundJobs, String> {
        read_to_submit(Submission::Replay, trace, options, line)
    }

    fn read_to_submit(
        submission: Submission,
        trace: &str,
        options: &str,
        line: HadoopLine,
    ) -> Result<FoundJobs, String> {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("t.json"), trace).unwrap();
        let mut rumen: Rumen = serde_yaml::from_str(&format!("trace: t.json\n{options}")).unwrap();
        let hadoop = Hadoop { line, ..Hadoop::of(HadoopLine::V020) };
        let cluster = include_str!("../../../scenarios/clusters/default.yaml");
        let cluster: ClusterSpec = serde_yaml::from_str(cluster).unwrap();
        let host = |rack: &str, name| (rack.to_owned(), name);
        let hosts = [host("/r1", "h1"), host("/r1", "h2"), host("/r2", "h3")];
        let found = rumen.jobs(&WorkloadSite {
            seed: 1,
            folder: folder.path(),
            hadoop: &hadoop,
            submission,
            cluster: &cluster,
            topology: &Topology::of_hosts(&cluster, &hosts).into(),
            formats: &crate::formats(),
            class_of: &|_, _| "".into(),
        });
        found.map_err(|error| error.to_string().replace(&*folder.path().to_string_lossy(), ""))
    }

    /// Returns the path of a file with a trace, and the reason why it cannot be inspected.
    fn inspected(trace: &str) -> (String, String) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.json");
        fs::write(&path, trace).unwrap();
        let read = Trace::read(&path, Bytes::from_mib(64), Strictness::Strict, &crate::formats());
        (folder.path().display().to_string(), read.unwrap_err().to_string())
    }

    fn jobs(line: HadoopLine) -> Vec<JobEntry> {
        let found = read(TRACE, "", line).unwrap();
        assert_eq!(found.left_out, 1, "the job that was killed");
        found.jobs
    }

    fn millis(millis: u64) -> SimSpan {
        SimSpan::from_millis(millis)
    }

    #[test]
    fn a_job_is_what_the_trace_says() {
        let jobs = jobs(V020);
        let job = &jobs[0];
        assert_eq!((job.name.as_str(), job.user.as_str()), ("job_1_0002", "ann"));
        assert_eq!((job.pool.as_deref(), job.priority), (Some("default"), Priority::High));
        assert_eq!(job.map_memory, Bytes::from_mib(512));
        // The first job that runs was submitted at 4 s (`submitTime` 5 s minus `relativeTime` 1 s)
        // and arrives at 0. The next job was submitted at 9 s, so it arrives at 5 s.
        assert_eq!((job.submit, jobs[1].submit), (SimSpan::ZERO, millis(5_000)));
        assert_eq!(jobs[1].user, "unknown");
    }

    #[test]
    fn as_measured_a_map_reads_its_own_split_and_a_reduce_fetches_after_the_last_map() {
        let jobs = jobs(V020);
        let splits = jobs[0].splits.as_ref().unwrap();
        assert_eq!((splits[0].bytes, &*splits[0].holders), (Bytes::new(50), &[TrackerId(2)][..]));
        assert_eq!((splits[1].bytes, &*splits[1].holders), (Bytes::new(100), &[TrackerId(0)][..]));
        assert_eq!((splits[2].bytes, splits[2].holders.len()), (Bytes::ZERO, 1), "made up");
        let traced = jobs[0].traced.as_ref().unwrap();
        let work = |work| Some(TracedTimes { work, ..TracedTimes::default() });
        let try_of = |times, distance, fails| {
            Some(TracedTry { times, distance, fails, ..TracedTry::default() })
        };
        assert_eq!(*traced.maps[0], [try_of(work(millis(3_000)), 2, false)], "an unknown host");
        let tries = [try_of(None, 0, true), try_of(work(millis(3_000)), 1, false)];
        assert_eq!(*traced.maps[1], tries);
        assert!(traced.maps[2].is_empty());
        let (shuffle, sort, work) = (millis(1_000), millis(500), millis(2_000));
        let reduce = TracedTimes { shuffle, sort, work, ..TracedTimes::default() };
        assert_eq!(*traced.reduces[0], [try_of(Some(reduce), 0, false)]);
        assert!(!traced.quirks);
    }

    #[test]
    fn as_measured_maps_that_are_not_logged_have_splits_made_up() {
        let gap = r#"{"jobID": "j", "submitTime": 1, "totalMaps": 3, "mapTasks": [
            {"taskID": "t_m_2", "taskType": "MAP",
             "preferredLocations": [{"layers": ["r2", "h3"]}]}]}"#;
        let jobs = read(gap, "", V020).unwrap().jobs;
        let splits = jobs[0].splits.as_ref().unwrap();
        assert_eq!(*splits[2].holders, [TrackerId(2)]);
        assert_eq!((splits[0].holders.len(), splits[1].holders.len()), (1, 1));
    }

    #[test]
    fn mumak_takes_splits_by_place_and_leaves_out_what_comes_before_the_reduce_phase() {
        let jobs = jobs(Mumak);
        let splits = jobs[0].splits.as_ref().unwrap();
        assert_eq!((splits[0].bytes, &*splits[0].holders), (Bytes::new(100), &[TrackerId(0)][..]));
        let traced = jobs[0].traced.as_ref().unwrap();
        assert_eq!(traced.maps[0].len(), 1, "times go by the number in the id");
        let reduce = TracedTimes { work: millis(2_000), ..TracedTimes::default() };
        assert_eq!(traced.reduces[0][0].unwrap().times, Some(reduce));
        assert!(traced.quirks && traced.tries.is_none());
        assert_eq!(jobs[0].priority, Priority::Normal, "no configuration says otherwise");
    }

    #[test]
    fn an_impossible_job_is_named() {
        let more = r#"{"jobID": "j", "submitTime": 1, "totalMaps": 1, "mapTasks": [
            {"taskID": "t_m_0", "taskType": "MAP"}, {"taskID": "t_m_1", "taskType": "MAP"}]}"#;
        let none = r#"{"jobID": "j", "totalMaps": 1}"#;
        let task = r#"{"jobID": "j", "submitTime": 1, "totalMaps": 2, "mapTasks": [
            {"taskID": "t_m_0", "taskType": "MAP"}, {"taskID": "x_m_00", "taskType": "MAP"}]}"#;
        let attempt = r#"{"jobID": "j", "submitTime": 1, "totalMaps": 1, "mapTasks": [
            {"taskID": "t_m_0", "taskType": "MAP", "attempts": [
              {"attemptID": "a_0"}, {"attemptID": "a_0"}]}]}"#;
        let unnumbered = r#"{"jobID": "j", "submitTime": 1, "totalMaps": 1, "mapTasks": [
            {"taskID": "first", "taskType": "MAP"}]}"#;
        for (trace, message) in [
            (more, "/t.json:1: job \"j\": 2 maps are logged, but totalMaps is 1"),
            (none, "/t.json:1: job \"j\": no submitTime"),
            (task, "/t.json:1: job \"j\": another task before x_m_00 has its number"),
            (attempt, "/t.json:1: job \"j\": another attempt before a_0 has its number"),
            (unnumbered, "/t.json:1: job \"j\": the id first does not end in `_` and a number"),
        ] {
            let (path, error) = inspected(trace);
            assert_eq!(read(trace, "", V020).unwrap_err(), message);
            assert_eq!(error.replace(&path, ""), message, "an inspection says the same");
        }
        for trace in [more, none, task, attempt] {
            assert_eq!(read(trace, "lenient: true", V020).unwrap().broken, 1);
        }
    }

    #[test]
    fn a_run_and_an_inspection_speak_of_the_same_jobs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.json");
        fs::write(&path, TRACE).unwrap();
        let formats = crate::formats();
        let trace = Trace::read(&path, Bytes::from_mib(64), Strictness::Strict, &formats).unwrap();
        let of = |jobs: &[JobEntry]| -> Vec<(String, SimSpan)> {
            jobs.iter().map(|job| (job.name.clone(), job.submit)).collect()
        };
        let run = of(&jobs(V020));
        assert_eq!(run, of(&trace.entries(Bytes::from_mib(64))));
        assert_eq!(run[1], ("job_1_0003".to_owned(), millis(5_000)), "4 s of relative time");
    }

    #[test]
    fn an_attempt_without_a_beginning_does_not_last_since_1970() {
        let attempt = |start: i64, finish: i64| {
            let trace = format!(
                r#"{{"jobID": "j", "submitTime": 1297228000000, "totalMaps": 1, "mapTasks": [
                    {{"taskID": "t_m_0", "taskType": "MAP", "taskStatus": "SUCCESS", "attempts": [
                      {{"attemptID": "a_0", "result": "SUCCESS", "startTime": {start},
                        "finishTime": {finish}}}]}}]}}"#
            );
            let work = |line| {
                let found = read(&trace, "", line).unwrap();
                let traced = found.jobs[0].traced.clone().unwrap();
                traced.maps[0][0].unwrap().times.map(|times| times.work.as_millis())
            };
            (work(V020), work(Mumak))
        };
        assert_eq!(attempt(1_297_228_032_218, 1_297_228_032_219), (Some(1), Some(1)));
        assert_eq!(attempt(-1, 1_297_228_032_218), (None, None));
        assert_eq!(attempt(1_297_228_032_218, -1), (None, Some(100)));
        assert_eq!(attempt(-1, -1), (None, Some(0)));
        assert_eq!(attempt(0, 1_297_228_032_218), (None, None));
    }

    #[test]
    fn a_job_with_more_logged_maps_than_maps_fails_in_mumak_before_it_runs() {
        let more = r#"{"jobID": "j", "submitTime": 1, "totalMaps": 1, "mapTasks": [
            {"taskID": "t_m_0", "taskType": "MAP"}, {"taskID": "t_m_1", "taskType": "MAP"}]}"#;
        let found = read(more, "", Mumak).unwrap();
        assert_eq!((found.jobs.len(), found.left_out), (1, 0));
        assert!(found.jobs[0].traced.as_ref().unwrap().is_unreadable);
    }

    #[test]
    fn only_a_replay_in_mumak_minds_the_order_of_jobs_that_run() {
        let job = |id: u32, submit: u64, maps: u32| {
            format!(
                r#"{{"jobID": "job_1_{id:04}", "submitTime": {submit}, "totalMaps": {maps}, "mapTasks": [
                    {{"taskID": "t_m_0", "taskType": "MAP"}}]}}"#
            )
        };
        let idle = [job(1, 5_000, 1), job(2, 9_000, 0), job(3, 5_000, 1)].concat();
        assert_eq!(read(&idle, "", Mumak).unwrap().jobs.len(), 2, "the second does not run");
        assert_eq!(read(&idle, "", V020).unwrap().jobs.len(), 2);
        let back = [job(1, 5_000, 1), "\n".to_owned(), job(2, 4_000, 1)].concat();
        assert_eq!(
            read(&back, "", Mumak).unwrap_err(),
            "/t.json:3: job \"job_1_0002\": submitted 1000 ms before the job above it, and Mumak \
             cannot replay that"
        );
        let found = read_to_submit(Submission::Serial, &back, "", Mumak).unwrap();
        assert_eq!(found.jobs.len(), 2);
    }

    /// A job as Rumen of Hadoop 1.2 logs it, on trackers that report every 3 s. The second attempt
    /// of the map won against the first. Setup and cleanup are among the other tasks.
    const REPLAYED: &str = r#"
        {"jobID": "job_2_0002", "submitTime": 20000, "launchTime": 20400, "totalMaps": 1,
         "totalReduces": 1, "mapTasks": [
           {"taskID": "t_m_0", "taskType": "MAP", "taskStatus": "SUCCESS", "startTime": 24000,
            "finishTime": 90000, "preferredLocations": [{"layers": ["r1", "h1"]}], "attempts": [
              {"attemptID": "a_m_0_0", "result": "KILLED", "startTime": 24000,
               "finishTime": 300000, "hostName": "/r1/h1"},
              {"attemptID": "a_m_0_1", "result": "SUCCESS", "startTime": 80000,
               "finishTime": 87150, "hostName": "/r1/h1"}]}],
         "reduceTasks": [
           {"taskID": "t_r_0", "taskType": "REDUCE", "taskStatus": "SUCCESS", "startTime": 24000,
            "finishTime": 103000, "attempts": [
              {"attemptID": "a_r_0_0", "result": "SUCCESS", "startTime": 24000,
               "shuffleFinished": 95000, "sortFinished": 95500, "finishTime": 100150}]}],
         "otherTasks": [
           {"taskID": "t_m_1", "taskType": "SETUP", "startTime": 21000, "finishTime": 24000,
            "attempts": [{"attemptID": "a_m_1_0", "result": "SUCCESS", "startTime": 21500,
             "finishTime": 22000, "hostName": "/r1/h2"}]},
           {"taskID": "t_m_2", "taskType": "CLEANUP", "startTime": 103000, "finishTime": 106000,
            "attempts": [{"attemptID": "a_m_2_0", "result": "SUCCESS", "startTime": 103100,
             "finishTime": 103400}]}]}
        {"jobID": "job_2_0001", "submitTime": 10000, "launchTime": 400000, "totalMaps": 1,
         "mapTasks": [{"taskID": "t_m_0", "taskType": "MAP", "taskStatus": "SUCCESS"}]}
        {"jobID": "job_2_0002", "submitTime": 30000, "launchTime": 30100, "totalMaps": 1,
         "mapTasks": [{"taskID": "t_m_0", "taskType": "MAP"}]}
    "#;

    #[test]
    fn a_replay_takes_from_the_log_what_the_protocol_took_then() {
        let found = read(REPLAYED, "", V020).unwrap();
        let traced = found.jobs[1].traced.as_ref().unwrap();
        let TracedService { init, localisation, setup, cleanup } = traced.service;
        assert_eq!(init, Some(TracedInit::Reading(millis(400))));
        assert_eq!(localisation, Some(millis(500)), "of two hosts, the upper median");
        assert_eq!((setup.takes, setup.localisation), (Some(millis(500)), Some(millis(500))));
        let no_host = (cleanup.takes, cleanup.localisation);
        assert_eq!(no_host, (Some(millis(300)), None));
        let own = [0, 1].map(|number| traced.maps[0][number].unwrap().localisation);
        assert_eq!(own, [Some(SimSpan::ZERO), None], "the second one found the files there");
        // Half of 3 s, half a poll, and the commit itself.
        assert_eq!(traced.commit_wait, millis(1_500 + 500 + 100));
        let reduce = traced.reduces[0][0].unwrap().times.unwrap();
        assert_eq!((reduce.shuffle, reduce.work), (millis(5_000), millis(4_650)));
        let first = traced.maps[0][0].unwrap();
        // It ran from 24 s until the other one had ended, at 87.15 s.
        assert_eq!(
            (first.times, first.at_least),
            (traced.maps[0][1].unwrap().times, millis(63_150))
        );
        assert!(!first.fails);
        let held_back = found.jobs[0].traced.as_ref().unwrap();
        assert_eq!(held_back.service.init, None, "390 s are the scheduler's");
        let plain = read(REPLAYED, "model: mumak", V020).unwrap();
        let plain = plain.jobs[1].traced.clone().unwrap();
        assert_eq!(plain.service, TracedService::default());
        assert_eq!((plain.commit_wait, plain.maps[0][0]), (SimSpan::ZERO, None));
        assert_eq!(plain.factors, [1.0, 1.5, 3.0]);
    }

    #[test]
    fn jobs_are_sorted_and_named_apart_where_the_trace_does_neither() {
        let found = read(REPLAYED, "", V020).unwrap();
        let jobs: Vec<_> = found.jobs.iter().map(|job| (job.name.as_str(), job.submit)).collect();
        let expected = [("job_2_0001", 0), ("job_2_0002", 10_000), ("job_2_0002-2", 20_000)];
        assert_eq!(jobs, expected.map(|(name, submit)| (name, millis(submit))));
        assert_eq!(
            found.notes,
            [
                "1 job of the trace stands after a job that was submitted later, so the jobs are \
                 sorted",
                "1 job of the trace has the id of another one and is numbered",
            ]
        );
    }

    #[test]
    fn a_wait_for_a_thread_that_reads_jobs_is_not_the_time_to_read_one() {
        let job = |number: u64, submitted: u64, launched: u64| {
            format!(
                r#"{{"jobID": "j_{number}", "submitTime": {submitted}, "launchTime": {launched},
                    "totalMaps": 1, "mapTasks": [{{"taskID": "t_m_0", "taskType": "MAP"}}]}}"#
            )
        };
        // Four threads read the first four jobs, and the fifth waits until one is free.
        let jobs = [(1, 9), (1, 5), (1, 6), (1, 7), (2, 8)];
        let jobs =
            (1..).zip(jobs).map(|(number, (at, read))| job(number, at * 1_000, read * 1_000));
        let jobs: String = jobs.collect();
        let inits = |jobs: &str| -> Vec<TracedInit> {
            let found = read(jobs, "", V020).unwrap().jobs.into_iter();
            found.filter_map(|job| job.traced?.service.init).collect()
        };
        let own = [8_000, 4_000, 5_000, 6_000, 3_000].map(|it| TracedInit::Reading(millis(it)));
        assert_eq!(inits(&jobs), own);
        // A policy that orders the reading lets jobs wait for its order, too.
        let ordered = r#""jobProperties": {"mapred.jobtracker.taskScheduler": "x.CapacityTaskScheduler"}, "jobID""#;
        let all = [8_000, 4_000, 5_000, 6_000, 6_000];
        let since = all.map(|it| TracedInit::SinceSubmission(millis(it)));
        assert_eq!(inits(&jobs.replace("\"jobID\"", ordered)), since);
    }

    #[test]
    fn hosts_are_found_with_and_without_the_escapes_of_the_history() {
        let escaped = TRACE.replace("h3", "h\\\\3").replace("/r1/h1", "/r1/h\\\\1");
        for line in [V020, Mumak] {
            let notes = read(&escaped, "", line).unwrap().notes;
            assert_eq!(notes.len(), 1, "only the unknown host: {notes:?}");
            assert!(notes[0].starts_with("1 host of"), "{notes:?}");
        }
        let splits = read(&escaped, "", V020).unwrap().jobs[0].splits.clone().unwrap();
        assert_eq!(*splits[0].holders, [TrackerId(2)]);
    }

    #[test]
    fn a_penalty_that_is_given_overrides_what_the_log_shows() {
        let factors = |options| {
            let found = read(TRACE, options, V020).unwrap();
            found.jobs[0].traced.as_ref().unwrap().factors
        };
        assert_eq!(factors(""), [1.0, 1.0, 1.0], "too few maps to show anything");
        assert_eq!(factors("penalty: {off_rack: 2}"), [1.0, 1.0, 2.0]);
    }

    #[test]
    fn ids_go_by_what_they_begin_with_and_then_by_their_numbers() {
        let mut ids = ["job_2_0001", "job_1_10000", "x", "job_1_9999"];
        ids.sort_by_key(|id| id_of(id));
        assert_eq!(ids, ["job_1_9999", "job_1_10000", "job_2_0001", "x"]);
    }

    #[test]
    fn a_small_file_cannot_stand_for_any_number_of_tasks() {
        let jobs = (0..30).map(|number| {
            format!(
                r#"{{"jobID": "j{number}", "submitTime": 1, "totalMaps": 10000000, "mapTasks": [
                    {{"taskID": "t_m_0", "taskType": "MAP"}}]}}"#
            )
        });
        let error = read(&jobs.collect::<String>(), "", V020).unwrap_err();
        let message = "/t.json:1: job \"j0\": with this job the trace has 9999999 tasks that it does \
                       not list, and no more than 2000000 can be made up";
        assert_eq!(error, message);
    }

    #[test]
    fn hosts_that_no_topology_knows_are_told() {
        let found = read(TRACE, "", V020).unwrap();
        let unknown = "1 host of the trace is no node of the cluster, so nothing lies there: first \
                       \"unknown\" in line 4, job \"job_1_0002\"";
        assert_eq!(found.notes, [unknown]);
        let strange = TRACE.replace("h1", "x1").replace("h2", "x2").replace("h3", "x3");
        assert_eq!(
            read(&strange, "", V020).unwrap_err(),
            "/t.json:4: job \"job_1_0002\": none of the trace's 4 hosts, such as \"x1\", is a node\n  \
             hint: name the topology that belongs to the trace"
        );
    }

    #[test]
    fn a_trace_that_has_changed_is_not_the_one_that_was_meant() {
        let error = read(TRACE, "lenient: false", V020).map(|_| ()).err();
        assert_eq!(error, None);
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("t.json"), "").unwrap();
        let mut file: TraceFile = serde_yaml::from_str("{path: t.json, sha256: 00}").unwrap();
        let error = file.pin(folder.path(), Some("ff")).unwrap_err().to_string();
        assert!(error.contains("t.json has changed: its SHA-256 is ff"), "{error}");
        file.sha256 = None;
        file.pin(folder.path(), Some("ff")).unwrap();
        assert_eq!(file.path, folder.path().join("t.json"), "where it was found");
        assert_eq!(file.sha256.as_deref(), Some("ff"));
    }
}
