//! A small tool: writes the runs of Mumakil as Hadoop 1.x writes its job history, a log and a
//! configuration for each job.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use mumakil::cluster::{Hdfs, TrackerId};
use mumakil::emulation::Prepared;
use mumakil::mapred::Hadoop;
use mumakil::output::results::RunResults;
use mumakil::tables::{AttemptEnd, AttemptKind, AttemptRow, JobEnd, JobRow};

/// When the cluster of the log was started, in milliseconds since 1970.
const EPOCH: u64 = 1_767_225_600_000;

/// The properties in each job's configuration, besides the policy.
const SETTINGS: [(&str, &str); 3] = [
    ("mapreduce.job.acl-view-job", " "),
    ("mapred.map.tasks.speculative.execution", "false"),
    ("mapred.reduce.tasks.speculative.execution", "false"),
];

/// The log of a job, and its configuration.
pub(crate) struct JobHistory {
    /// The name of the log's file, up to the job's number.
    pub(crate) name: String,
    pub(crate) log: String,
    pub(crate) configuration: String,
}

/// Writes the history of a run into a folder. `run` has the results of `scenario`.
pub(crate) fn write(scenario: &Path, run: &Path, to: &Path, policy: &str) {
    fs::create_dir_all(to).unwrap();
    for JobHistory { name, log, configuration } in of(scenario, run, policy) {
        fs::write(to.join(format!("{name}_u_job")), log).unwrap();
        fs::write(to.join(format!("{name}_conf.xml")), configuration).unwrap();
    }
}

/// Returns the history of a run.
pub(crate) fn of(scenario: &Path, run: &Path, policy: &str) -> Vec<JobHistory> {
    let text = fs::read_to_string(scenario).unwrap();
    let registry = mumakil::registry();
    let loaded = mumakil::scenario::parse(&scenario.display().to_string(), &text, &[], &registry);
    let prepared = Prepared::new(loaded.unwrap().scenario, &registry).unwrap();
    let results = RunResults::new(run);
    let jobs: Vec<JobRow> = results.all().unwrap();
    let attempts: Vec<AttemptRow> = results.all().unwrap();
    let interval = prepared.scenario.hadoop.heartbeat_interval(prepared.topology.len());
    let rate = f64::from(prepared.topology.len()) / interval.as_secs_f64();
    let mut settings = vec![
        ("mapred.jobtracker.taskScheduler", policy.to_owned()),
        ("mapred.heartbeats.in.second", rate.to_string()),
    ];
    let expiry = prepared.scenario.hadoop.expiry;
    if expiry != Hadoop::of(prepared.scenario.hadoop.line).expiry {
        let expiry = expiry.as_millis().to_string();
        settings.push(("mapred.tasktracker.expiry.interval", expiry));
    }
    let mut configuration = "<?xml version=\"1.0\"?><configuration>\n".to_owned();
    let always = SETTINGS.map(|(name, value)| (name, value.to_owned()));
    for (name, value) in always.into_iter().chain(settings) {
        writeln!(configuration, "<property><name>{name}</name><value>{value}</value></property>")
            .unwrap();
    }
    configuration += "</configuration>\n";
    let history = |job: &JobRow| {
        let own: Vec<&AttemptRow> = attempts.iter().filter(|row| row.job == job.job).collect();
        JobHistory {
            name: format!("job_1_{:04}", job.job),
            log: log(&prepared, job, &own),
            configuration: configuration.clone(),
        }
    };
    jobs.iter().map(history).collect()
}

fn log(prepared: &Prepared, job: &JobRow, attempts: &[&AttemptRow]) -> String {
    let spec = &prepared.workload.arrivals[job.job as usize].spec;
    let Prepared { scenario, topology, .. } = prepared;
    let hdfs = Hdfs::of(scenario.seed, topology.clone(), &scenario.cluster.hdfs);
    let id = format!("job_1_{:04}", job.job);
    let at = |millis: Option<u64>| EPOCH + millis.unwrap_or(0);
    let mut log = "Meta VERSION=\"1\" .\n".to_owned();
    let user = job.user.as_str();
    let submitted = at(Some(job.submit_ms));
    writeln!(
        log,
        "Job JOBID=\"{id}\" JOBNAME=\"{}\" USER=\"{user}\" SUBMIT_TIME=\"{submitted}\" \
         JOB_QUEUE=\"{}\" .",
        job.name.as_str(),
        job.pool.as_str()
    )
    .unwrap();
    writeln!(
        log,
        "Job JOBID=\"{id}\" LAUNCH_TIME=\"{}\" TOTAL_MAPS=\"{}\" TOTAL_REDUCES=\"{}\" \
         JOB_STATUS=\"PREP\" .",
        at(job.initialised_ms),
        job.maps,
        job.reduces
    )
    .unwrap();
    // The instant at which the job's files are on a node.
    let mut there: BTreeMap<&str, u64> = BTreeMap::new();
    let copying = scenario.hadoop.localisation.as_millis();
    for row in attempts {
        let (kind, letter, number) = match row.kind {
            AttemptKind::Map => ("MAP", 'm', row.task),
            AttemptKind::Reduce => ("REDUCE", 'r', row.task),
            // Hadoop numbers these tasks behind the job's maps.
            AttemptKind::Setup => ("SETUP", 'm', job.maps + 1),
            AttemptKind::Cleanup => ("CLEANUP", 'm', job.maps),
            AttemptKind::MapCleanup | AttemptKind::ReduceCleanup => continue,
        };
        let task = format!("task_1_{:04}_{letter}_{number:06}", job.job);
        let attempt = format!("attempt_1_{:04}_{letter}_{number:06}_{}", job.job, row.attempt);
        let record = if letter == 'm' { "MapAttempt" } else { "ReduceAttempt" };
        let mut holders = Vec::new();
        let input = spec.input.as_ref().filter(|_| kind == "MAP");
        if let Some(input) = input {
            input.locate(number, &hdfs, &mut holders);
        }
        let places: Vec<String> = holders.iter().map(|node| place(prepared, *node)).collect();
        let splits = places.join(",");
        if row.attempt == 0 {
            writeln!(
                log,
                "Task TASKID=\"{task}\" TASK_TYPE=\"{kind}\" START_TIME=\"{}\" \
                 SPLITS=\"{splits}\" .",
                at(row.launch_ms)
            )
            .unwrap();
        }
        let got = row.start_ms.or(row.launch_ms).unwrap();
        let start = got.max(*there.entry(row.node.as_str()).or_insert(got + copying));
        writeln!(
            log,
            "{record} TASK_TYPE=\"{kind}\" TASKID=\"{task}\" TASK_ATTEMPT_ID=\"{attempt}\" \
             START_TIME=\"{}\" .",
            at(Some(start))
        )
        .unwrap();
        let phases = match row.shuffle_ms {
            Some(shuffle) if kind == "REDUCE" => {
                let shuffled = got + row.start_up_ms.unwrap_or(0) + shuffle;
                let sorted = shuffled + row.sort_ms.unwrap_or(0);
                let (shuffled, sorted) = (at(Some(shuffled)), at(Some(sorted)));
                format!("SHUFFLE_FINISHED=\"{shuffled}\" SORT_FINISHED=\"{sorted}\" ")
            }
            _ => String::new(),
        };
        let outcome = match row.outcome {
            AttemptEnd::Succeeded => "SUCCESS",
            AttemptEnd::Failed => "FAILED",
            AttemptEnd::Killed | AttemptEnd::Lost | AttemptEnd::Unfinished => "KILLED",
        };
        // The JobTracker writes the end of an attempt on a lost tracker.
        let (finish, error) = match row.killed_code.as_str() {
            "tracker-lost" => (row.heard_ms, "ERROR=\"Lost task tracker: tracker_n\" "),
            _ => (row.finish_ms, ""),
        };
        let bytes = input.map_or(0, |input| input.bytes(number, job.maps).get());
        writeln!(
            log,
            "{record} TASK_TYPE=\"{kind}\" TASKID=\"{task}\" TASK_ATTEMPT_ID=\"{attempt}\" \
             TASK_STATUS=\"{outcome}\" {phases}FINISH_TIME=\"{}\" HOSTNAME=\"{}\" {error}\
             COUNTERS=\"{{(FileSystemCounters)(FileSystemCounters)[(HDFS_BYTES_READ)\
             (HDFS_BYTES_READ)({bytes})]}}\" .",
            at(finish),
            place(prepared, node_of(row.node.as_str()))
        )
        .unwrap();
        writeln!(
            log,
            "Task TASKID=\"{task}\" TASK_TYPE=\"{kind}\" TASK_STATUS=\"{outcome}\" \
             FINISH_TIME=\"{}\" .",
            at(row.heard_ms)
        )
        .unwrap();
    }
    let status = if job.outcome == JobEnd::Succeeded { "SUCCESS" } else { "FAILED" };
    writeln!(
        log,
        "Job JOBID=\"{id}\" FINISH_TIME=\"{}\" JOB_STATUS=\"{status}\" .",
        at(job.finish_ms)
    )
    .unwrap();
    log
}

/// Returns a node by its name in tables; the first is `node-1`.
fn node_of(name: &str) -> TrackerId {
    TrackerId(name.rsplit('-').next().unwrap().parse::<u32>().unwrap() - 1)
}

/// Returns the path of a node. The names of hosts sort like the numbers of the nodes, and dots are
/// escaped as in Hadoop's history.
fn place(prepared: &Prepared, node: TrackerId) -> String {
    let rack = prepared.topology.rack(node).0;
    format!("/rack-{rack}/n{:03}\\.lan", node.0)
}
