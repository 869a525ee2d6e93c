//! The files of a golden run, and the run that they describe.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::tables::JobNames;
use crate::tests::{
    MapReduceTimes, MasterMode, PlaceId, SlotKind, YarnJob, YarnNode, YarnRunSpec, YarnSettings,
    YarnSize, YarnTask,
};
use mumakil_base::units::{SimSpan, SimTime};

#[derive(Debug, Deserialize)]
struct ScenarioFile {
    nm_heartbeat_ms: u64,
    am_heartbeat_ms: u64,
    rack_resolution: String,
    am: MasterSection,
    container: SizeSection,
    jobs: String,
    nodes: Vec<NodeSection>,
    /// When the run ends at the latest.
    #[serde(default = "a_day")]
    until_ms: u64,
}

#[derive(Debug, Deserialize)]
struct MasterSection {
    mode: String,
    memory_mb: i32,
    vcores: i32,
}

#[derive(Clone, Copy, Debug, Deserialize)]
struct SizeSection {
    memory_mb: i32,
    vcores: i32,
}

#[derive(Debug, Deserialize)]
struct NodeSection {
    name: String,
    rack: String,
    memory_mb: i32,
    vcores: i32,
    offset_ms: u64,
}

#[derive(Debug, Deserialize)]
struct JobRecord {
    #[serde(rename = "job.start.ms")]
    start: u64,
    #[serde(rename = "job.queue.name")]
    queue: String,
    #[serde(rename = "job.id")]
    id: String,
    #[serde(rename = "job.user")]
    user: String,
    #[serde(rename = "job.tasks")]
    tasks: Vec<TaskRecord>,
}

#[derive(Debug, Deserialize)]
struct TaskRecord {
    #[serde(rename = "container.host")]
    host: String,
    #[serde(rename = "container.start.ms")]
    start: u64,
    #[serde(rename = "container.end.ms")]
    end: u64,
    #[serde(rename = "container.type")]
    kind: String,
    #[serde(rename = "container.memory")]
    memory: Option<i32>,
    #[serde(rename = "container.vcores")]
    cores: Option<i32>,
}

fn a_day() -> u64 {
    24 * 3_600 * 1_000
}

/// Reads a folder; returns the run, when it ends at the latest, and the names that tables need.
pub(super) fn read(folder: &Path) -> (YarnRunSpec, SimTime, Vec<JobNames>) {
    let text = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let scenario: ScenarioFile = serde_json::from_str(&text("scenario.json")).unwrap();
    let is_resolved = scenario.rack_resolution != "none";
    let mut places = BTreeMap::new();
    let mut place = |name: String| {
        let next = PlaceId(places.len() as u32 + 1);
        *places.entry(name).or_insert(next)
    };
    let nodes = scenario.nodes.iter().map(|node| YarnNode {
        name: node.name.clone(),
        size: YarnSize::new(node.memory_mb, node.vcores),
        offset: SimSpan::from_millis(node.offset_ms),
        host: place(node.name.clone()),
        rack: place(if is_resolved { node.rack.clone() } else { "/default-rack".to_owned() }),
    });
    let nodes: Vec<YarnNode> = nodes.collect();
    let records = text(&scenario.jobs);
    let records = serde_json::Deserializer::from_str(&records).into_iter::<JobRecord>();
    let (mut jobs, mut names) = (Vec::new(), Vec::new());
    for record in records.map(Result::unwrap).filter(|record| !record.tasks.is_empty()) {
        let mut hosts = Vec::new();
        let tasks = record.tasks.into_iter().map(|task| {
            let (rack, host) = task.host.trim_start_matches('/').split_once('/').unwrap();
            hosts.push(host.to_owned());
            YarnTask {
                kind: if task.kind == "map" { SlotKind::Map } else { SlotKind::Reduce },
                host_and_rack: [host, rack].map(|name| place(name.to_owned())),
                size: YarnSize::new(
                    task.memory.unwrap_or(scenario.container.memory_mb),
                    task.cores.unwrap_or(scenario.container.vcores),
                ),
                life: SimSpan::from_millis(task.end - task.start),
            }
        });
        let tasks: Vec<YarnTask> = tasks.collect();
        names.push((record.id, hosts));
        jobs.push(YarnJob {
            user: record.user,
            queue: record.queue,
            start: SimSpan::from_millis(record.start),
            mode: if scenario.am.mode == "managed" { MasterMode::Managed } else { MasterMode::Sls },
            master_size: YarnSize::new(scenario.am.memory_mb, scenario.am.vcores),
            tasks,
            mapreduce: MapReduceTimes::default(),
        });
    }
    let until = SimTime::ZERO + SimSpan::from_millis(scenario.until_ms);
    let spec = YarnRunSpec {
        nodes,
        jobs,
        node_interval: SimSpan::from_millis(scenario.nm_heartbeat_ms),
        master_interval: SimSpan::from_millis(scenario.am_heartbeat_ms),
        settings: YarnSettings::read(folder).unwrap_or_else(|error| panic!("{error}")),
    };
    (spec, until, names)
}
