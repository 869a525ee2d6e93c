//! The records of YARN's Scheduler Load Simulator: jobs, nodes, and the settings of its generator.
//!
//! The files of jobs and nodes are sequences of JSON objects; a generator's file is one object. The
//! structs have the simulator's attributes, of its older and its newer releases, under names
//! without the dots. Times of jobs are milliseconds.

use std::io;

use serde::{Deserialize, Serialize};

use mumakil_base::units::{Bytes, SimSpan};
use mumakil_core::trace::json::{self, nullable};
use mumakil_core::trace::{FirstFew, Framing, Record, RecordFault, clip};
use mumakil_scenario::workload::format::ListedHost;

/// The latest time in a file, and the longest duration, in milliseconds: a hundred years.
const LATEST_MS: u64 = SimSpan::LONGEST.as_millis();

/// A job or, in newer files, a description of the cluster, with its numbers of nodes and racks.
///
/// Times are signed: a converter writes an unknown time as a number far below zero.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SlsJob {
    /// The id.
    #[serde(rename = "job.id", skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The kind of application, such as `mapreduce`.
    #[serde(rename = "am.type", skip_serializing_if = "Option::is_none")]
    pub am_type: Option<String>,
    /// When the job is submitted, in milliseconds since the first job.
    #[serde(rename = "job.start.ms", skip_serializing_if = "Option::is_none")]
    pub start_ms: Option<i64>,
    /// When the job ended, in milliseconds since the first job.
    #[serde(rename = "job.end.ms", skip_serializing_if = "Option::is_none")]
    pub end_ms: Option<i64>,
    /// The queue of the job.
    #[serde(rename = "job.queue.name", skip_serializing_if = "Option::is_none")]
    pub queue: Option<String>,
    /// The user who submitted the job.
    #[serde(rename = "job.user", skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The labels of the nodes on which the job may run.
    #[serde(rename = "job.label.expression", skip_serializing_if = "Option::is_none")]
    pub label_expression: Option<String>,
    /// How many equal jobs there are.
    #[serde(rename = "job.count", skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// The tasks of the job.
    #[serde(rename = "job.tasks", deserialize_with = "nullable")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<SlsTask>,
    /// How many nodes the cluster has.
    #[serde(rename = "num.nodes", skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u32>,
    /// How many racks the cluster has.
    #[serde(rename = "num.racks", skip_serializing_if = "Option::is_none")]
    pub racks: Option<u32>,
}

/// A task, which asks for one container.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SlsTask {
    /// The host on which the task prefers to run, such as `/rack/host`.
    #[serde(rename = "container.host", skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// When the task began. Only the time between start and end is used.
    #[serde(rename = "container.start.ms", skip_serializing_if = "Option::is_none")]
    pub start_ms: Option<i64>,
    /// When the task ended.
    #[serde(rename = "container.end.ms", skip_serializing_if = "Option::is_none")]
    pub end_ms: Option<i64>,
    /// How long the task takes, in newer files.
    #[serde(rename = "container.duration.ms", alias = "duration.ms")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// The priority of the task; the converter from Rumen writes 20 for maps and 10 for reduces.
    #[serde(rename = "container.priority", skip_serializing_if = "Option::is_none")]
    pub priority: Option<i32>,
    /// The type of the task, such as `map` or `reduce`.
    #[serde(rename = "container.type", skip_serializing_if = "Option::is_none")]
    pub task_type: Option<String>,
    /// How many equal tasks there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// The memory that the task asks for, in megabytes.
    #[serde(rename = "container.memory-mb", alias = "container.memory")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_mb: Option<u64>,
    /// The cores that the task asks for.
    #[serde(rename = "container.vcores", skip_serializing_if = "Option::is_none")]
    pub vcores: Option<u32>,
    /// The execution type, such as `GUARANTEED`: it decides whether the task may be preempted.
    #[serde(rename = "container.execution.type", skip_serializing_if = "Option::is_none")]
    pub execution_type: Option<String>,
    /// The number of the request for the container.
    #[serde(rename = "container.allocation.id", skip_serializing_if = "Option::is_none")]
    pub allocation_id: Option<i64>,
    /// How long after its job the task asks for a container, in milliseconds.
    #[serde(rename = "container.request.delay", skip_serializing_if = "Option::is_none")]
    pub request_delay_ms: Option<u64>,
}

/// A rack and its nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlsRack {
    /// The name of the rack.
    pub rack: String,
    /// The nodes.
    pub nodes: Vec<SlsNode>,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlsNode {
    /// The name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The memory of the node for tasks, in megabytes.
    #[serde(rename = "memory-mb", skip_serializing_if = "Option::is_none")]
    pub memory_mb: Option<u64>,
    /// The cores of the node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vcores: Option<u32>,
    /// The labels of the node, such as `label1, label2(exclusive=false)`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<String>,
}

impl SlsTask {
    /// Returns whether the task asks for its container later than its job begins.
    pub(super) fn is_delayed(&self) -> bool {
        self.request_delay_ms.is_some_and(|delay| 0 < delay)
    }

    /// Returns how long the task runs; `None` if that is unknown or below zero.
    pub(crate) fn duration(&self) -> Option<SimSpan> {
        self.duration_ms
            .or_else(|| u64::try_from(self.end_ms?.saturating_sub(self.start_ms?)).ok())
            .map(SimSpan::from_millis)
    }
}

impl SlsRack {
    /// Returns the nodes of racks. Nodes without a name, which the SLS takes for nodes as well, are
    /// numbered.
    ///
    /// # Errors
    /// If there are no nodes, or two with the same name.
    pub fn hosts(racks: Vec<Self>) -> Result<Vec<ListedHost>, String> {
        let (mut hosts, mut unnamed) = (Vec::new(), 0);
        for Self { rack, nodes } in racks {
            for SlsNode { node, memory_mb, vcores, .. } in nodes {
                unnamed += u32::from(node.is_none());
                hosts.push(ListedHost {
                    rack: rack.clone(),
                    name: node.unwrap_or_else(|| format!("unnamed-{unnamed}")),
                    memory: memory_mb.map(|mb| Bytes::from_mib(mb.min(1 << 40))),
                    cores: vcores,
                });
            }
        }
        let mut names: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            _ if names.is_empty() => Err("there are no nodes".to_owned()),
            Some(twice) => Err(format!("the node {:?} is there twice", clip(twice[0]))),
            None => Ok(hosts),
        }
    }

    /// Writes the rack as an object on a line of its own.
    pub fn write_to(&self, to: impl io::Write) -> io::Result<()> {
        json::write(self, to)
    }
}

impl Record for SlsJob {
    const NAME: &'static str = "job of the SLS";
    const FRAMING: Framing = Framing::Object(Some("job.id"));
    const TIME_UNIT: &'static str = "ms";
    // Each job has its own start, so the order of the file does not matter.
    const IN_ORDER: bool = false;

    fn parse(object: &[u8], unknown: &mut FirstFew<String>) -> Result<Self, RecordFault> {
        let job: Self = json::parse(object, unknown)?;
        if let Some(time) = job.impossible_time() {
            let what = format!("a time of {time} ms, more than a hundred years away");
            return Err(RecordFault::new(what).of(job.job()));
        }
        let mut durations = job.tasks.iter().filter_map(SlsTask::duration);
        if let Some(long) = durations.find(|duration| SimSpan::LONGEST < *duration) {
            let what = format!("a task of {} ms, more than a hundred years", long.as_millis());
            return Err(RecordFault::new(what).of(job.job()));
        }
        Ok(job)
    }

    fn job(&self) -> Option<&str> {
        self.id.as_deref()
    }

    fn submitted(&self) -> Option<u64> {
        self.start_ms.map(|start| u64::try_from(start).unwrap_or(0))
    }

    fn implied(&self) -> u64 {
        // A task with a `count` is one object for many tasks, so a short file may stand for any
        // number.
        self.tasks.iter().map(|task| u64::from(task.count.unwrap_or(1).saturating_sub(1))).sum()
    }

    fn suspicious(&self) -> Option<String> {
        let count = |is_odd: &dyn Fn(&&SlsTask) -> bool| self.tasks.iter().filter(is_odd).count();
        match (
            count(&|task| task.end_ms.is_some() && task.end_ms < task.start_ms),
            count(&|task| task.duration().is_some_and(|time| A_YEAR < time)),
        ) {
            (0, 0) => None,
            (0, 1) => Some("a task takes more than a year".to_owned()),
            (0, tasks) => Some(format!("{tasks} tasks take more than a year")),
            (1, _) => Some("a task ends before it begins".to_owned()),
            (tasks, _) => Some(format!("{tasks} tasks end before they begin")),
        }
    }
}

/// The longest time of a task that is not suspicious. Chosen: more than any task takes, but less
/// than the time that a wrong unit gives.
const A_YEAR: SimSpan = SimSpan::from_secs(365 * 86_400);

impl SlsJob {
    /// Returns a time that no job can have, if there is one.
    pub(super) fn impossible_time(&self) -> Option<i64> {
        let own = [self.start_ms, self.end_ms];
        let of_tasks = self.tasks.iter().flat_map(|task| [task.start_ms, task.end_ms]);
        let mut times = own.into_iter().chain(of_tasks).flatten();
        times.find(|millis| LATEST_MS < millis.unsigned_abs())
    }
}

impl Record for SlsRack {
    const NAME: &'static str = "rack of the SLS";
    const FRAMING: Framing = Framing::Object(None);

    fn parse(object: &[u8], unknown: &mut FirstFew<String>) -> Result<Self, RecordFault> {
        json::parse(object, unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mumakil_core::trace::{Records, Strictness};
    use mumakil_scenario::workload::format::TraceJob as _;

    fn pass<T: Record>(text: &str) -> Records<T> {
        let text = io::Cursor::new(text.to_owned());
        Records::from_reader("t", text, Strictness::Strict).unwrap()
    }

    fn read<T: Record>(text: &str) -> Result<Vec<T>, String> {
        pass(text).collect::<Result<_, _>>().map_err(|error| error.to_string())
    }

    const JOBS: &str = include_str!("../../../tests/fuzz/seeds/sls/jobs.json");
    const NODES: &str = include_str!("../../../tests/fuzz/seeds/sls/nodes.json");

    #[test]
    fn jobs_read_back_as_written() {
        let mut pass = pass::<SlsJob>(JOBS);
        let jobs: Vec<SlsJob> = pass.by_ref().map(Result::unwrap).collect();
        assert_eq!(pass.notes().unknown.count, 0, "{:?}", pass.notes());
        assert_eq!((jobs[0].nodes, jobs[0].racks), (Some(3), Some(1)));
        assert_eq!((jobs[1].id.as_deref(), jobs[1].user.as_deref()), (Some("job_1"), None));
        assert_eq!(jobs[1].tasks[0].host.as_deref(), Some("/rack/node1"));
        assert_eq!(jobs[1].tasks[0].end_ms, Some(23_707));
        assert_eq!((jobs[2].count, jobs[2].tasks[0].duration_ms), (Some(2), Some(7_000)));
        let mut written = Vec::new();
        for job in &jobs {
            job.write_to(&mut written).unwrap();
        }
        assert_eq!(read::<SlsJob>(str::from_utf8(&written).unwrap()).unwrap(), jobs);
    }

    #[test]
    fn nodes_read_back_as_written() {
        let racks: Vec<SlsRack> = read(NODES).unwrap();
        assert_eq!(racks[0].rack, "rack1");
        assert_eq!((racks[0].nodes[0].memory_mb, racks[0].nodes[1].memory_mb), (Some(2_048), None));
        let mut written = Vec::new();
        for rack in &racks {
            rack.write_to(&mut written).unwrap();
        }
        assert_eq!(read::<SlsRack>(str::from_utf8(&written).unwrap()).unwrap(), racks);
    }

    #[test]
    fn mistakes_of_a_job_are_named() {
        for (text, message) in [
            (
                r#"{"job.id": "j", "job.start.ms": "soon"}"#,
                "t:1: job \"j\": job.start.ms: invalid type: text \"soon\", expected a whole number (byte 38)",
            ),
            (
                r#"{"job.tasks": [{"container.duration.ms": -1}], "job.id": "j"}"#,
                "t:1: job \"j\": job.tasks[0].container.duration.ms: invalid value: integer `-1`, \
                 expected a whole number of zero or more (byte 43)",
            ),
            (
                "{\"job.id\": \"j\"}\n{\"job.id\": \"j\"}",
                "t:2: job \"j\": another job before it has the same id",
            ),
        ] {
            assert_eq!(read::<SlsJob>(text).unwrap_err(), message);
        }
        assert_eq!(
            read::<SlsRack>(r#"{"nodes": [{}]}"#).unwrap_err(),
            "t:1: missing field `rack` (byte 15)"
        );
    }

    #[test]
    fn an_empty_node_is_a_node() {
        let racks = r#"{"rack": "r", "nodes": [{}, {"node": "a"}]} {"rack": "s", "nodes": [{}]}"#;
        let hosts = SlsRack::hosts(read(racks).unwrap()).unwrap();
        let names: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
        assert_eq!(names, ["unnamed-1", "a", "unnamed-2"]);
    }

    #[test]
    fn a_time_without_end_is_refused() {
        for (text, what) in [
            (r#""job.start.ms": 9223372036854775807"#, "time of 9223372036854775807 ms"),
            (r#""job.tasks": [{"container.end.ms": 3153600000001}]"#, "time of 3153600000001 ms"),
        ] {
            let error = read::<SlsJob>(&format!(r#"{{"job.id": "j", {text}}}"#)).unwrap_err();
            let message = format!("t:1: job \"j\": a {what}, more than a hundred years away");
            assert_eq!(error, message);
        }
        let endless = r#"{"job.id": "j", "job.tasks": [{"duration.ms": 18446744073709551615}]}"#;
        let error = read::<SlsJob>(endless).unwrap_err();
        assert!(error.ends_with("ms, more than a hundred years"), "{error}");
    }

    #[test]
    fn a_count_cannot_stand_for_any_number_of_tasks() {
        let text = r#"{"job.id": "j", "job.tasks": [{"duration.ms": 1, "count": 4294967295}]}"#;
        let error = read::<SlsJob>(text).unwrap_err();
        assert!(error.contains("4294967294 tasks that it does not list"), "{error}");
    }

    #[test]
    fn a_job_that_comes_before_the_one_above_it_is_suspicious() {
        let mut jobs = pass::<SlsJob>(
            r#"{"job.id": "a", "job.start.ms": 500} {"job.id": "b", "job.start.ms": 300}
               {"job.id": "c", "job.start.ms": 400}"#,
        );
        assert_eq!(jobs.by_ref().filter(Result::is_ok).count(), 3);
        let said: Vec<&str> =
            jobs.notes().suspicious.first.iter().map(|odd| odd.what.as_str()).collect();
        let [b, c] = ["200 ms", "100 ms"].map(|t| format!("submitted {t} before the job above it"));
        assert_eq!(said, [b, c]);
    }

    #[test]
    fn a_task_that_ends_before_it_begins_is_suspicious() {
        let mut jobs = pass::<SlsJob>(
            r#"{"job.tasks": [{"container.start.ms": 5, "container.end.ms": 4}, {"container.start.ms": 5}]}"#,
        );
        assert!(jobs.by_ref().all(|job| job.is_ok()));
        assert_eq!(jobs.notes().suspicious.first[0].what, "a task ends before it begins");
    }
}
