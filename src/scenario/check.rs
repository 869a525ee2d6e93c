//! Checks of several fields together: names that refer to each other, counts that must fit.
//!
//! ```text
//! one field is wrong          reported when the scenario is read
//! fields that do not fit      here: `after: [b]` without a job `b`, 10 racks for 4 nodes
//! jobs and nodes of a file    the run checks them, once the file has been read
//! ```
//!
//! A check is skipped if the reader has found mistakes in the part of the scenario that it needs:
//! otherwise these mistakes would be reported twice.

mod expectations;
mod room;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use self::room::check_room;
use super::later::{AlteredJob, LaterChange};
use super::spec::{ClockSpec, Scenario};
use crate::fault::Fault;
use crate::fault::known::FaultContext;
use crate::workload::ArrivalPace;
use crate::workload::jobs::{
    FEWER_TASKS, JobEntry, LatestSubmission, MOST_JOBS, cycle, long_name, tasks_of, too_many_tasks,
};
use crate::workload::shared::{ONE_SIZE, TakenNames, file_clashes};
use crate::workload::source::Source;
use crate::workload::spec::WorkloadSpec;
use crate::workload::submission::Submission;
use mumakil_base::nearest::nearest;
use mumakil_base::random::Dist;
use mumakil_base::units::{Bytes, Factor, Quantity as _, SimSpan};
use mumakil_core::cluster::{ClusterSpec, Placement, Topology};
use mumakil_core::mapred::{AutoSpan, Hadoop, IntervalFuzz, PolicyProgram, SlotKind};
use mumakil_core::trace::TraceFile;
use mumakil_yaml::{DisplacedSettings, Path, PathStep, YamlProblem};

/// The largest speed of a node. Virtual time counts whole microseconds, and at a million times the
/// usual speed an attempt of one second takes one microsecond.
const FASTEST: f64 = 1e6;

/// A setting that is allowed in a scenario but probably a mistake.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Warning {
    /// A setting that has no effect with the other settings.
    Idle {
        /// The key of the setting.
        setting: String,
        /// The words of the warning.
        message: String,
    },
    /// Settings that were removed with the choice or preset that they belong to.
    Displaced(DisplacedSettings),
    /// A policy is a program. The scenario may come from another person, so its user should know
    /// which program a run of it starts.
    Program(PolicyProgram),
    /// Any other warning, in words.
    Doubt(String),
}

impl Warning {
    /// Returns whether the user has to see the warning even if only errors are wanted.
    pub fn is_urgent(&self) -> bool {
        matches!(self, Self::Program(_))
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Displaced(DisplacedSettings { settings, of, at, by, origin }) => {
                // A resolved scenario has every setting, so one `--set` may displace dozens of
                // settings.
                let (shown, rest) = settings.split_at(settings.len().min(MOST_SETTINGS));
                let more = match rest.len() {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                write!(
                    f,
                    "with `{by}` for `{at}` ({origin}) these settings of {of} have no effect: \
                     `{}`{more}; what is still wanted has to be written again",
                    shown.join("`, `")
                )
            }
            Self::Program(program) => write!(
                f,
                "the policy is a program: `{program}`; `--no-external` forbids to start it, and \
                 `--external` starts it without this warning"
            ),
            Self::Idle { message, .. } | Self::Doubt(message) => f.write_str(message),
        }
    }
}

/// How many settings a warning lists before it says `and N more`. Chosen: about two lines.
const MOST_SETTINGS: usize = 6;

/// The problems and warnings that the checks have found.
#[derive(Default)]
pub(super) struct Checked {
    pub(super) problems: Vec<YamlProblem>,
    pub(super) warnings: Vec<Warning>,
}

impl Checked {
    fn value(&mut self, path: &str, message: impl Into<String>) {
        self.problems.push(YamlProblem::value(Path::of(path), message));
    }

    fn doubt(&mut self, message: String) {
        self.warnings.push(Warning::Doubt(message));
    }

    fn add_options(&mut self, source: &dyn Source, problems: Vec<YamlProblem>) {
        let at = options_of(source);
        self.problems.extend(problems.into_iter().map(|problem| problem.inside(&at)));
    }
}

/// Runs all checks; `intact` returns whether a top-level key had no mistakes.
pub(super) fn check(scenario: &Scenario, intact: impl Fn(&str) -> bool) -> Checked {
    let Scenario { hadoop, cluster, workload, .. } = scenario;
    let found = &mut Checked::default();
    // A mix draws its jobs from the seed alone, so they can be checked before the run, like listed
    // jobs.
    let drawn = match intact("workload") {
        true => drawn(workload, scenario.seed, found),
        false => None,
    };
    // Jobs of a trace are unknown before its file is read: then `jobs` is empty, and the checks of
    // jobs find nothing.
    let of_source = drawn.as_ref().map_or(workload.listed(), |(_, jobs)| jobs);
    let jobs = &match workload.also.is_empty() || !intact("workload") {
        true => Cow::Borrowed(of_source),
        false => Cow::Owned([of_source, &workload.also].concat()),
    };
    if intact("cluster") {
        check_cluster(cluster, workload.has_hosts(), found);
        // Nodes from a file may have memory and cores of their own: then only the run checks them.
        if !workload.has_hosts() && cluster.topology.is_none() {
            check_room(cluster, jobs, hadoop.slow_start, found);
        }
        check_writer(scenario, found);
        check_pods(scenario, found);
    }
    if intact("workload") {
        check_sources(workload, cluster.topology.as_ref(), found);
        if workload.pace == ArrivalPace::Load(Factor::of(0.0)) {
            found.value("workload.pace.load", "a load of 0 brings no jobs");
        }
        // A mix checks its number of jobs and the `after` of its types itself, when it is drawn.
        if drawn.is_none() || !workload.also.is_empty() {
            check_names(jobs, found);
            check_order(jobs, found);
        }
    }
    // These checks divide inputs into blocks, so skip them for a block of zero bytes, which another
    // check reports.
    let has_blocks = intact("cluster") && cluster.hdfs.block != Bytes::ZERO;
    if intact("workload") && has_blocks {
        let options = drawn.as_ref().map(|(source, _)| options_of(*source));
        let at = options.unwrap_or_else(|| Path::of("workload.jobs"));
        check_total(jobs, cluster.hdfs.block, at, found);
        check_jobs(jobs, cluster.hdfs.block, found);
        warn_of_idle_reduces(jobs, found);
        check_slots(jobs, cluster, found);
        // `file_clashes` divides inputs into blocks: it needs jobs and a block size without
        // mistakes. Only the jobs and the block size have been checked so far, so any problem
        // concerns them.
        if found.problems.is_empty() {
            check_files(jobs, cluster.hdfs.block, found);
        }
        if let Some((source, jobs)) = &drawn {
            // A drawn job does not stand in the file: report the option that drew it.
            point_at_options(*source, jobs, &mut found.problems);
        }
    }
    point_at_others(of_source.len(), &mut found.problems);
    if scenario.record.warm_up == AutoSpan::Auto && scenario.clock != ClockSpec::Virtual {
        let message = "with `auto` the run is made twice, and only `clock: virtual` repeats a run";
        found.value("record.warm_up", message);
    }
    if intact("hadoop") {
        check_hadoop(hadoop, found);
        if intact("cluster") {
            check_heartbeat(hadoop, cluster, found);
            if intact("faults") {
                check_resending(scenario, found);
            }
            check_mumak(hadoop, cluster, found);
        }
    }
    if intact("expect") && intact("record") {
        expectations::check(scenario, found);
    }
    if intact("faults") {
        check_faults(scenario, jobs, &intact, found);
    }
    if intact("later") {
        check_later(scenario, jobs, &intact, found);
    }
    check_end(scenario, &intact, found);
    if intact("classes") && intact("workload") {
        check_classes(scenario, found);
    }
    std::mem::take(found)
}

/// Checks the cluster. `has_hosts` says whether a trace names nodes besides those of the cluster.
fn check_cluster(cluster: &ClusterSpec, has_hosts: bool, found: &mut Checked) {
    let nodes = cluster.nodes.get();
    let grouped: u64 = cluster.groups.iter().map(|group| u64::from(group.count.get())).sum();
    if grouped > u64::from(nodes) {
        found.value(
            "cluster.groups",
            format!("the groups have {grouped} nodes, the cluster has {nodes}"),
        );
    }
    // A group with `racks` has racks of its own; `cluster.racks` is for all other nodes.
    let own = cluster.groups.iter().filter(|group| group.racks.is_some());
    let apart: u64 = own.map(|group| u64::from(group.count.get())).sum();
    let racked = u64::from(nodes).saturating_sub(apart);
    let racks = cluster.racks.get();
    // If there are no other nodes, `cluster.racks` has no effect, so its value does not matter.
    if racked > 0 && u64::from(racks) > racked {
        found.value(
            "cluster.racks",
            format!("{racks} racks for {racked} nodes: a rack would be empty"),
        );
    }
    for (number, group) in cluster.groups.iter().enumerate() {
        if let Some(racks) = group.racks.filter(|racks| racks.get() > group.count.get()) {
            let message = format!(
                "{} racks for {} nodes: a rack would be empty",
                racks.get(),
                group.count.get()
            );
            found.value(&format!("cluster.groups[{number}].racks"), message);
        }
        if let Some(speed) = group.speed {
            check_speed(&format!("cluster.groups[{number}].speed"), speed, found);
        }
    }
    check_speed("cluster.speed", cluster.speed, found);
    if cluster.hdfs.block == Bytes::ZERO {
        found.value("cluster.hdfs.block", "a block has at least one byte");
    }
    let replication = cluster.hdfs.replication.get();
    // HDFS puts at most one copy of a block on a node. The number of nodes in a topology file is
    // not known yet.
    if replication > nodes && !has_hosts && cluster.topology.is_none() {
        found.doubt(format!(
            "{replication} copies of a block on {nodes} nodes: there will be {nodes}; \
             lower cluster.hdfs.replication or add nodes"
        ));
    }
}

fn check_speed(at: &str, speed: Factor, found: &mut Checked) {
    if speed == Factor::of(0.0) {
        found.value(at, "a node of speed 0 never ends a task");
    } else if FASTEST < speed.get() {
        found.value(at, "a node is at most a million times as fast as usual");
    }
}

/// Complains about pods that would be empty.
fn check_pods(scenario: &Scenario, found: &mut Checked) {
    let Scenario { cluster, workload, .. } = scenario;
    // With a topology file, or the hosts of a trace, the racks are known only once the file is
    // read.
    let in_file = workload.has_hosts() || cluster.topology.is_some();
    let Some(pods) = cluster.network.pods.as_ref().filter(|_| !in_file) else { return };
    let (racks, pods) = (racks(cluster), pods.count.get());
    if racks < pods {
        let message = format!("{pods} pods for {racks} racks: a pod would be empty");
        found.value("cluster.network.pods.count", message);
    }
}

/// Returns the number of racks. Expects that no file gives the racks of the cluster.
fn racks(cluster: &ClusterSpec) -> u32 {
    let own = || cluster.groups.iter().filter_map(|group| Some((group.count, group.racks?)));
    let apart: u32 = own().map(|(nodes, _)| nodes.get()).sum();
    // `cluster.racks` is 1 by default, even if all nodes are in groups with racks of their own.
    let shared = if apart < cluster.nodes.get() { cluster.racks.get() } else { 0 };
    shared + own().map(|(_, racks)| racks.get()).sum::<u32>()
}

/// Checks that the node that writes the files exists.
fn check_writer(scenario: &Scenario, found: &mut Checked) {
    let Scenario { cluster, workload, .. } = scenario;
    // The nodes of a file are not known yet.
    let in_file = workload.has_hosts() || cluster.topology.is_some();
    let Placement::Writer(writer) = &cluster.hdfs.placement else { return };
    let nodes = cluster.nodes.get();
    if let Err(message) = writer.in_unnamed(nodes)
        && !in_file
    {
        let path = Path::of("cluster.hdfs.placement.writer");
        let hint = format!("they are node-1 to node-{nodes}");
        found.problems.push(YamlProblem::value(path, message).hint(hint));
    }
}

fn check_hadoop(hadoop: &Hadoop, found: &mut Checked) {
    let spans = [
        // `auto` follows from the size of the cluster; `check_heartbeat` checks the resulting
        // interval.
        ("heartbeat", hadoop.heartbeat.or(SimSpan::LONGEST)),
        ("rpc_timeout", hadoop.rpc_timeout),
        ("expiry", hadoop.expiry),
    ];
    for (field, span) in spans {
        if span.is_zero() {
            found.value(
                &format!("hadoop.{field}"),
                format!("`{field}` must be above zero: at 0s time would stand still"),
            );
        }
    }
}

fn check_heartbeat(hadoop: &Hadoop, cluster: &ClusterSpec, found: &mut Checked) {
    let heartbeat = hadoop.heartbeat_interval(cluster.nodes.get());
    if heartbeat.is_zero() {
        // A heartbeat of 0s in the scenario is reported by `check_hadoop`.
        if hadoop.heartbeat == AutoSpan::Auto {
            let message = "with so many heartbeats a second the interval of this cluster is 0s; \
                           raise `heartbeat_floor`";
            found.value("hadoop.heartbeats_per_second", message);
        }
        return;
    }
    // The time that the JobTracker needs for one heartbeat of each tracker, as a share of an
    // interval.
    let service = cluster.jobtracker.per_heartbeat * u64::from(cluster.nodes.get());
    let busy = service.as_secs_f64() / heartbeat.as_secs_f64();
    let percent = (100.0 * busy) as u32;
    // From a share of 1 on, heartbeats queue whatever the phases of the trackers are; below 0.5
    // they hardly ever queue. In between, the queue depends on the phases: with 900 trackers of
    // fixed phase, and 1 ms for each heartbeat, the measured mean wait was 16 µs, but the model of
    // a closed queue gives 3.9 ms. A user who sets a fuzz studies the queue, and knows of it.
    if hadoop.heartbeat_fuzz == IntervalFuzz::NONE && (0.5..1.0).contains(&busy) {
        found.doubt(format!(
            "heartbeats keep the JobTracker busy for {percent} % of the time, but trackers that keep \
             their phases do not queue there; to see them queue, set hadoop.heartbeat_fuzz to 200ms"
        ));
    } else if hadoop.heartbeat_fuzz == IntervalFuzz::NONE && 1.0 < busy {
        found.doubt(format!(
            "the heartbeats of {} trackers ask for {percent} % of the JobTracker's time, so they \
             queue there and are answered late; raise hadoop.heartbeat",
            cluster.nodes.get()
        ));
    }
    // Such a fuzz may shorten the interval to zero: the next heartbeat would be due at once, again
    // and again.
    if hadoop.heartbeat_fuzz.early >= heartbeat {
        let message =
            format!("a fuzz of {} can cancel the interval of {heartbeat}", hadoop.heartbeat_fuzz);
        found.value("hadoop.heartbeat_fuzz", message);
    }
    if hadoop.expiry <= heartbeat && !hadoop.expiry.is_zero() {
        let message = format!(
            "a tracker would be given up after {}, but sends a heartbeat only every {heartbeat}",
            hadoop.expiry
        );
        found.value("hadoop.expiry", message);
    }
}

/// Refuses an `rpc_timeout` that is shorter than an answer takes, if trackers repeat unanswered
/// heartbeats: before any answer arrives, a tracker would repeat its heartbeat, again and again.
fn check_resending(scenario: &Scenario, found: &mut Checked) {
    let Scenario { hadoop, cluster, faults, .. } = scenario;
    // A timeout of 0s is reported by `check_hadoop`. On a perfect network no heartbeat is repeated.
    if hadoop.rpc_timeout.is_zero() || !faults.iter().any(Fault::disturbs_messages) {
        return;
    }
    let network = &cluster.network;
    let between_pods = network.pods.as_ref().and_then(|pods| pods.latency.as_ref());
    // In a single rack no message leaves the rack, so the other latencies do not count.
    let is_one_rack =
        cluster.topology.is_none() && !scenario.workload.has_hosts() && racks(cluster) == 1;
    let beyond = [Some(&network.cross_rack), between_pods].into_iter().flatten();
    let latencies = [&network.latency].into_iter().chain(beyond.filter(|_| !is_one_rack));
    // A Pareto distribution with a shape up to 1 has no finite mean: no timeout would be long
    // enough.
    let means = latencies.map(Dist::mean).filter(|mean| mean.is_finite());
    let there_and_back = 2.0 * means.fold(0.0, f64::max);
    let needed = cluster.jobtracker.per_heartbeat.as_f64() + there_and_back;
    if hadoop.rpc_timeout.as_f64() < needed {
        let needed = SimSpan::from_f64(needed);
        let message = format!(
            "a heartbeat would be sent again after {}, before its answer, which takes {needed}",
            hadoop.rpc_timeout
        );
        let path = Path::of("hadoop.rpc_timeout");
        let hint = format!(
            "raise it above {needed}, `cluster.jobtracker.per_heartbeat` and twice the largest latency, \
             or the run never ends"
        );
        found.problems.push(YamlProblem::value(path, message).hint(hint));
    }
}

/// With Mumak's rules, warns of delays above zero: in Mumak's simulator, messages and decisions
/// take no time.
fn check_mumak(hadoop: &Hadoop, cluster: &ClusterSpec, found: &mut Checked) {
    let none = Dist::Constant(SimSpan::ZERO);
    let (network, tracker) = (&cluster.network, &cluster.jobtracker);
    let settings = [
        ("cluster.network.latency", network.latency == none),
        ("cluster.network.cross_rack", network.cross_rack == none),
        ("cluster.jobtracker.per_heartbeat", tracker.per_heartbeat.is_zero()),
        ("cluster.jobtracker.per_task", tracker.per_task.is_zero()),
        ("cluster.jobtracker.per_job", tracker.per_job.is_zero()),
        ("cluster.jobtracker.init", tracker.init.is_zero()),
    ];
    let slow: Vec<&str> =
        settings.into_iter().filter(|(_, is_zero)| !is_zero).map(|(setting, _)| setting).collect();
    if !hadoop.behaviour().takes_time && !slow.is_empty() {
        found.doubt(format!(
            "in Mumak messages and the JobTracker take no time; with `{}` above zero, times \
             differ from Mumak's; take `cluster: mumak`, or set these to 0s",
            slow.join("`, `")
        ));
    }
}

fn at(job: usize, field: &str) -> String {
    format!("workload.jobs[{job}].{field}")
}

/// Checks that names are unique, including those that `count` makes: `after` and `faults` refer to
/// jobs by name.
fn check_names(jobs: &[JobEntry], found: &mut Checked) {
    let total: u64 = jobs.iter().map(|job| u64::from(job.count.get())).sum();
    let latest = jobs.iter().fold(LatestSubmission::default(), LatestSubmission::with);
    if latest.is_too_late() {
        let message = "in a chain, the jobs would take over 100,000 years to submit";
        found.value("workload.jobs", message);
    }
    if total > MOST_JOBS {
        found.value("workload.jobs", format!("{total} jobs are more than {MOST_JOBS}"));
    }
    let mut names = TakenNames::default();
    for (number, job) in jobs.iter().enumerate() {
        if let Err(message) = names.take(job) {
            found.value(&at(number, "name"), message);
        }
    }
}

/// Checks that memory holds the tasks of all jobs.
fn check_total(jobs: &[JobEntry], block: Bytes, at: Path, found: &mut Checked) {
    if let Some(message) = too_many_tasks(tasks_of(jobs, block)) {
        found.problems.push(YamlProblem::value(at, message).hint(FEWER_TASKS));
    }
}

/// Checks that `after` names other jobs, without a cycle.
fn check_order(jobs: &[JobEntry], found: &mut Checked) {
    // `rev`: if two entries have the same name, `after` means the first one. `check_names` reports
    // such names.
    let number: BTreeMap<&str, usize> =
        jobs.iter().enumerate().rev().map(|(number, job)| (job.name.as_str(), number)).collect();
    let mut follows: Vec<Vec<usize>> = vec![Vec::new(); jobs.len()];
    for (job, entry) in jobs.iter().enumerate() {
        for (place, name) in entry.after.iter().enumerate() {
            match number.get(name.as_str()) {
                Some(&before) => follows[job].push(before),
                None => found.problems.push(
                    YamlProblem::value(
                        Path::of(&at(job, "after")).index(place),
                        format!("there is no job `{name}`"),
                    )
                    .nearest(name, number.keys().copied()),
                ),
            }
        }
    }
    if let Some(cycle) = cycle(&follows) {
        let names: Vec<String> =
            cycle.iter().chain(cycle.first()).map(|&job| format!("`{}`", jobs[job].name)).collect();
        let message = format!("these jobs wait for each other: {}", names.join(" after "));
        found.value(&at(cycle[0], "after"), message);
    }
}

/// Checks the fields of each job against each other.
fn check_jobs(jobs: &[JobEntry], block: Bytes, found: &mut Checked) {
    for (number, job) in jobs.iter().enumerate() {
        for (field, message) in job.faults(block) {
            let path = match field {
                "" => format!("workload.jobs[{number}]"),
                field => at(number, field),
            };
            found.value(&path, message);
        }
    }
}

/// Warns of reduces that neither fetch nor compute.
fn warn_of_idle_reduces(jobs: &[JobEntry], found: &mut Checked) {
    let idle = jobs.iter().find(|job| {
        let has_time = job.shuffle_time.is_some() || job.reduce_time.is_some();
        0 < job.reduces.get() && !has_time && [job.shuffle, job.output] == [Bytes::ZERO; 2]
    });
    if let Some(JobEntry { name, .. }) = idle {
        let next = "give them `reduce_time`, or bytes to fetch (`shuffle`)";
        found.doubt(format!("the reduces of `{name}` do nothing: {next}"));
    }
}

/// Returns the source that draws jobs without reading a file, and these jobs; `None` if there is no
/// such source.
fn drawn<'a>(
    workload: &'a WorkloadSpec,
    seed: u64,
    found: &mut Checked,
) -> Option<(&'a dyn Source, Vec<JobEntry>)> {
    workload.sources.iter().find_map(|source| {
        let mut problems = Vec::new();
        let jobs = source.drawn(seed, &mut problems)?;
        found.add_options(&**source, problems);
        source.doubts(seed, &jobs).into_iter().for_each(|doubt| found.doubt(doubt));
        Some((&**source, jobs))
    })
}

fn options_of(source: &dyn Source) -> Path {
    Path::of("workload").key(source.key())
}

/// Moves the problems of drawn jobs to the options that caused them; keeps only the first problem
/// of each option.
fn point_at_options(source: &dyn Source, jobs: &[JobEntry], problems: &mut Vec<YamlProblem>) {
    let mut told = BTreeSet::new();
    problems.retain_mut(|problem| {
        let [PathStep::Key(workload), PathStep::Key(list), PathStep::Index(job), ..] =
            &problem.path.0[..]
        else {
            return true;
        };
        match jobs.get(*job) {
            Some(job) if workload == "workload" && list == "jobs" => {
                problem.path = options_of(source).join(&source.origin_of(job).0);
                // A wrong option makes all jobs that it draws wrong, so report only the first
                // problem.
                told.insert(problem.path.clone())
            }
            _ => true,
        }
    });
}

/// Moves the problems of jobs behind those of the source to `workload.also`.
fn point_at_others(of_source: usize, problems: &mut [YamlProblem]) {
    let jobs = Path::of("workload.jobs");
    for problem in problems.iter_mut().filter(|problem| jobs.contains(&problem.path)) {
        if let Some(PathStep::Index(job)) = problem.path.0.get(2).cloned()
            && of_source <= job
        {
            problem.path.0[1] = PathStep::Key("also".into());
            problem.path.0[2] = PathStep::Index(job - of_source);
        }
    }
}

/// Checks that jobs come from one source only.
fn check_sources(workload: &WorkloadSpec, topology: Option<&TraceFile>, found: &mut Checked) {
    for source in &workload.sources {
        found.add_options(&**source, source.problems());
        if let Some(hosts) = source.hosts_key().filter(|_| topology.is_some()) {
            let message = "the nodes come from `cluster.topology` already";
            let path = options_of(&**source).key(hosts);
            found.problems.push(YamlProblem::key(path, message));
        }
    }
    let keys: Vec<&str> = workload.sources.iter().map(|source| source.key()).collect();
    match keys[..] {
        [] => found.value("workload", "the workload has no jobs: give it one source of them"),
        [_] => {}
        [first, second, ..] => {
            let message = format!("jobs come from one source, and there is `{first}` already");
            let path = Path::of("workload").key(second);
            found.problems.push(YamlProblem::key(path, message).hint("keep one of them"));
        }
    }
}

/// Checks that jobs with the same input file split it alike.
fn check_files(jobs: &[JobEntry], block: Bytes, found: &mut Checked) {
    for (number, message) in file_clashes(jobs, block) {
        let problem = YamlProblem::value(Path::of(&at(number, "file")), message);
        found.problems.push(problem.hint(ONE_SIZE));
    }
}

/// Checks that some node has a slot for each kind of task that the jobs have.
fn check_slots(jobs: &[JobEntry], cluster: &ClusterSpec, found: &mut Checked) {
    let slots = cluster.slots();
    for kind in SlotKind::BOTH {
        let having_tasks = jobs.iter().find(|job| match kind {
            // A job without `maps` has an input, and so at least one map.
            SlotKind::Map => job.maps.is_none_or(|maps| maps.get() > 0),
            SlotKind::Reduce => job.reduces.get() > 0,
        });
        if let Some(job) = having_tasks.filter(|_| slots[kind] == 0) {
            let word = kind.word();
            let message =
                format!("no node has a {word} slot, but the job `{}` has {word}s", job.name);
            found.value(&format!("cluster.{word}_slots"), message);
        }
    }
}

/// Checks the entries of `later`: each does one thing.
fn check_later(
    scenario: &Scenario,
    jobs: &[JobEntry],
    intact: &impl Fn(&str) -> bool,
    found: &mut Checked,
) {
    for (number, later) in scenario.later.iter().enumerate() {
        // The type cannot express "exactly one of these": refuse several and none.
        match later.keys()[..] {
            [_] => {}
            [] => found.value(
                &format!("later[{number}]"),
                "it is one of `submit: {name: urgent, maps: 5}`, `scheduler: fair`, \
                 `change: {job: report, priority: high}`, `kill_task: {job: report, map: 3}`, \
                 `fail_task` and `allocations`",
            ),
            [first, second, ..] => found.value(
                &format!("later[{number}]"),
                format!("`{first}` and `{second}`: write two entries, each with its `at`"),
            ),
        }
        check_changed_job(scenario, later, &format!("later[{number}]"), jobs, intact, found);
        if later.scheduler.is_some() && intact("hadoop") && scenario.hadoop.behaviour().keeps_policy
        {
            let message =
                "in Mumak the policy cannot change in a run, as it orders the reading of splits";
            found.value(&format!("later[{number}].scheduler"), message);
        }
    }
    check_added_jobs(scenario, jobs, intact, found);
}

/// Checks the jobs that `later` submits: they obey the rules for listed jobs.
fn check_added_jobs(
    scenario: &Scenario,
    jobs: &[JobEntry],
    intact: &impl Fn(&str) -> bool,
    found: &mut Checked,
) {
    let (places, added): (Vec<usize>, Vec<JobEntry>) = (scenario.later.iter().enumerate())
        .filter_map(|(number, later)| Some((number, later.submit.clone()?)))
        .unzip();
    if added.is_empty() {
        return;
    }
    for (number, job) in places.iter().zip(&added) {
        let has_own = [
            (
                "submit",
                !job.submit.is_zero(),
                "`at` says when the job is submitted: leave this out",
            ),
            (
                "after",
                !job.after.is_empty(),
                "the job is submitted at `at`, whatever has ended: leave this out",
            ),
            ("file", job.file.is_some(), "the job reads a file of its own: leave this out"),
        ];
        for (field, _, message) in has_own.into_iter().filter(|(_, is_said, _)| *is_said) {
            found.value(&format!("later[{number}].submit.{field}"), message);
        }
    }
    // Rules for lists, such as unique names, hold for the jobs of `later` and of the workload
    // together: check all jobs as one list, then report each problem at its entry of `later`.
    let own = if intact("workload") { jobs } else { &[] };
    let all: Vec<JobEntry> =
        own.iter().cloned().chain(LaterChange::jobs(&scenario.later)).collect();
    let mut of_list = Checked::default();
    check_names(&all, &mut of_list);
    if intact("cluster") && scenario.cluster.hdfs.block != Bytes::ZERO {
        // A problem with slots belongs to the cluster, so it need not be moved.
        check_slots(&added, &scenario.cluster, found);
        check_total(&all, scenario.cluster.hdfs.block, Path::of("later"), &mut of_list);
        check_jobs(&all, scenario.cluster.hdfs.block, &mut of_list);
    }
    for problem in of_list.problems {
        let [_, _, PathStep::Index(place), inside @ ..] = &problem.path.0[..] else {
            // This problem concerns all jobs together; the check of the workload may have reported
            // it already.
            if !found.problems.iter().any(|other| other.message == problem.message) {
                found.problems.push(YamlProblem { path: Path::of("later"), ..problem });
            }
            continue;
        };
        // A problem of a job of the workload is reported already.
        let Some(place) = place.checked_sub(own.len()) else { continue };
        let path = Path::of(&format!("later[{}].submit", places[place])).join(inside);
        found.problems.push(YamlProblem { path, ..problem });
    }
}

/// Checks the job that an entry of `later` changes, or whose task it ends.
fn check_changed_job(
    scenario: &Scenario,
    later: &LaterChange,
    entry: &str,
    jobs: &[JobEntry],
    intact: &impl Fn(&str) -> bool,
    found: &mut Checked,
) {
    let at = Path::of(entry);
    if let Some(AlteredJob { priority: None, pool: None, .. }) = &later.change {
        let message = "it changes nothing: write `priority: high` or `pool: production`, or both";
        found.value(&format!("{entry}.change"), message);
    }
    let pool = later.change.as_ref().and_then(|change| change.pool.as_deref());
    if let Some(message) = pool.and_then(long_name) {
        found.value(&format!("{entry}.change.pool"), &message);
    }
    if let Some((key, task)) = later.task()
        && task.map.is_some() == task.reduce.is_some()
    {
        let message = "a task is one of `map: 3` and `reduce: 3`";
        found.value(&format!("{entry}.{key}"), message);
    }
    let Some((_, name)) = later.job() else { return };
    let known =
        FaultContext { jobs: known_jobs(scenario, jobs, intact), ..FaultContext::default() };
    if let Err(problem) = later.check(&known) {
        return found.problems.push(problem.inside(&at));
    }
    let later_jobs = scenario.later.iter().filter_map(|later| later.submit.as_ref());
    let job = jobs.iter().chain(later_jobs).find(|job| job.is_called(name));
    if let (Some(job), Some((key, task))) = (job, later.task())
        && intact("cluster")
        && scenario.cluster.hdfs.block != Bytes::ZERO
    {
        let numbers = [
            ("map", task.map, job.map_count(scenario.cluster.hdfs.block)),
            ("reduce", task.reduce, job.reduces.get()),
        ];
        for (word, number, tasks) in numbers {
            if number.is_some_and(|number| tasks <= number) {
                let message = match tasks {
                    0 => format!("`{name}` has no {word}s"),
                    _ => format!("`{name}` has {tasks} {word}s, from 0 to {}", tasks - 1),
                };
                found.value(&format!("{entry}.{key}.{word}"), message);
            }
        }
    }
    if let Some(submit) = submit_of(scenario, jobs, name).filter(|submit| later.at < *submit) {
        found.doubt(format!(
            "{entry} has no effect: `{name}` is submitted later, at {submit}; change it after that"
        ));
    }
}

/// Returns the names of all jobs with their counts; `None` if a file gives the jobs.
fn known_jobs<'s>(
    scenario: &'s Scenario,
    jobs: &'s [JobEntry],
    intact: &impl Fn(&str) -> bool,
) -> Option<BTreeMap<&'s str, u32>> {
    // The jobs of a trace are not known yet, so no name can be called wrong.
    let is_listed = !jobs.is_empty();
    let later = scenario.later.iter().filter_map(|later| later.submit.as_ref());
    let jobs = jobs.iter().chain(later).map(|job| (job.name.as_str(), job.count.get())).collect();
    (intact("workload") && is_listed).then_some(jobs)
}

/// Returns when a job is submitted; `None` if that is not known before the run.
fn submit_of(scenario: &Scenario, jobs: &[JobEntry], name: &str) -> Option<SimSpan> {
    let WorkloadSpec { submission, start, pace, warm_start, .. } = &scenario.workload;
    // Jobs are submitted at the times in their entries only with `replay` and without a `start` or
    // a `pace`.
    let at_their_times = *submission == Submission::Replay
        && *start == AutoSpan::Auto
        && *pace == ArrivalPace::AsGiven
        && warm_start.is_none();
    let mut fixed = jobs.iter().filter(|job| at_their_times && job.after.is_empty());
    let own = fixed.find(|job| job.name == name).map(|job| job.submit);
    own.or_else(|| {
        LaterChange::jobs(&scenario.later).find(|job| job.name == name).map(|job| job.submit)
    })
}

/// Warns of faults and later changes that are due at `until` or after it.
fn check_end(scenario: &Scenario, intact: &impl Fn(&str) -> bool, found: &mut Checked) {
    let Some(until) = scenario.until.filter(|_| intact("until")) else { return };
    let late = scenario.due().filter(|(entry, at)| {
        // `faults[3]` belongs to the key `faults`.
        let key = entry.split('[').next().unwrap_or_default();
        until <= *at && intact(key)
    });
    for (entry, at) in late {
        found.doubt(format!(
            "{entry} has no effect: it is due at {at}, and the run ends at {until} at the latest; \
             raise `until`, or mend its time"
        ));
    }
}

fn check_faults(
    scenario: &Scenario,
    jobs: &[JobEntry],
    intact: &impl Fn(&str) -> bool,
    found: &mut Checked,
) {
    if scenario.faults.is_empty() {
        return;
    }
    // Nodes and jobs from a file are not known yet; the run checks its faults again once the file
    // is read.
    let Scenario { cluster, workload, .. } = scenario;
    let in_file = workload.has_hosts() || cluster.topology.is_some();
    let known = FaultContext {
        nodes: (intact("cluster") && !in_file).then(|| cluster.nodes.get()),
        // Groups may have racks of their own: then only the run checks the racks of faults.
        racks: (intact("cluster") && !in_file && cluster.groups.is_empty())
            .then(|| Topology::new(cluster).rack_sizes()),
        jobs: known_jobs(scenario, jobs, intact),
        topology: None,
        hadoop: intact("hadoop").then_some(&scenario.hadoop),
    };
    for (number, fault) in scenario.faults.iter().enumerate() {
        if let Err(problem) = fault.check(&known) {
            let at = Path::of(&format!("faults[{number}]")).key(fault.key());
            found.problems.push(problem.inside(&at));
        }
    }
    check_fault_list(&scenario.faults, found);
    check_kills(scenario, jobs, found);
}

/// Warns of faults that kill a job before its submission, if jobs are submitted at the times in
/// their entries.
fn check_kills(scenario: &Scenario, jobs: &[JobEntry], found: &mut Checked) {
    for (number, fault) in scenario.faults.iter().enumerate() {
        let Some(job) = fault.killed() else { continue };
        if let Some(submit) =
            submit_of(scenario, jobs, job).filter(|submit| fault.at() < Some(*submit))
        {
            found.doubt(format!(
                "faults[{number}] has no effect: `{job}` is submitted later, at {submit}; kill it after \
                 that"
            ));
        }
    }
}

/// Warns of faults that contradict each other.
fn check_fault_list(faults: &[Fault], found: &mut Checked) {
    let mut lasting: Vec<(&str, usize)> = Vec::new();
    for (number, fault) in faults.iter().enumerate().filter(|(_, fault)| fault.holds_alone()) {
        let at = format!("faults[{number}].{}", fault.key());
        match lasting.iter().find(|(key, _)| *key == fault.key()) {
            Some((key, first)) => {
                let message =
                    format!("`{key}` is said already, by faults[{first}]; only one can hold");
                found.value(&at, message);
            }
            None => lasting.push((fault.key(), number)),
        }
    }
    let mut moments: Vec<(usize, &Fault)> = faults
        .iter()
        .enumerate()
        .filter(|(_, fault)| ["stop", "start"].contains(&fault.key()))
        .collect();
    // A stable sort: a stop and a start at one instant stay in the order of the text.
    moments.sort_by_key(|(_, fault)| fault.at());
    let mut stopped: Vec<serde_yaml::Value> = Vec::new();
    for (number, fault) in moments {
        // Compare faults by their YAML, so that this function needs to know no options of any kind.
        let entry = serde_yaml::to_value(fault).unwrap_or_default();
        let node = entry.get(fault.key()).cloned().unwrap_or_default();
        let is_stop = fault.key() == "stop";
        // A fault on several nodes may find some of them up and others down. This check follows
        // only single nodes, so it ends at such a fault.
        let name = node.as_str().filter(|name| *name != "all").map(str::to_owned);
        let Some(name) = name else { return };
        if stopped.contains(&node) == is_stop {
            let state = if is_stop { "is stopped" } else { "runs" };
            found.doubt(format!(
                "faults[{number}] has no effect: {name} {state} already at that time; leave it out, \
                 or mend its time or node"
            ));
        }
        stopped.retain(|other| *other != node);
        stopped.extend(is_stop.then_some(node));
    }
}

fn check_classes(scenario: &Scenario, found: &mut Checked) {
    let classes = &scenario.classes;
    for class in super::classes::hidden(classes) {
        found.doubt(format!(
            "no job comes into the class `{class}` by its rule, since the rules before it take \
             all that fit; say all classes in the order in which they shall be tried"
        ));
    }
    for job in scenario.workload.all_listed() {
        if let Some(class) = job.class.as_ref().filter(|class| !classes.contains_key(*class))
            // A job may have a class that `classes` does not list, so warn only of a class that
            // looks like a misspelling.
            && nearest(class, classes.keys().map(String::as_str)).is_some()
        {
            found.doubt(format!(
                "the class `{class}` of the job `{}` is not among the scenario's classes; \
                 add it there or mend its name",
                job.name
            ));
        }
    }
}
