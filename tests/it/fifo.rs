//! The rules of `fifo`, seen in `tasks.csv`.

use std::collections::BTreeMap;

use mumakil::emulation::{Options, emulate};
use mumakil::scenario;
use serde::Deserialize;

/// A row of `tasks.csv`.
#[derive(Debug, Deserialize)]
struct Row {
    job: u32,
    kind: String,
    node: String,
    locality: String,
    start_ms: u64,
}

/// Runs jobs on a cluster without setup tasks and latencies, where all times are exact.
fn attempts(cluster: &str, jobs: &str) -> Vec<Row> {
    let text = format!(
        "
hadoop: {{setup_cleanup: false, start_up: 0s, heartbeat_phase: 0s, out_of_band: false}}
cluster: {{{cluster}, network: {{latency: 0s, cross_rack: 0s}},
          jobtracker: {{per_heartbeat: 0s, per_task: 0s, init: 0s}}}}
workload: {{jobs: [{jobs}]}}
"
    );
    let registry = mumakil::registry();
    let loaded = scenario::parse("fifo.yaml", &text, &[], &registry)
        .unwrap_or_else(|error| panic!("{error}"));
    let folder = tempfile::tempdir().unwrap();
    let options =
        Options { folder: Some(folder.path().to_owned()), verify: true, ..Options::default() };
    let run = emulate(&loaded.scenario, &registry, options).unwrap();
    assert!(run.verifier.unwrap().violations().is_empty());
    let mut table = csv::Reader::from_path(folder.path().join("tasks.csv")).unwrap();
    let mut rows: Vec<Row> = table.deserialize().map(Result::unwrap).collect();
    rows.sort_by_key(|row| (row.start_ms, row.job));
    rows
}

#[test]
fn jobs_go_by_priority_then_arrival() {
    let rows = attempts(
        "nodes: 1, map_slots: 1",
        "{name: blocker, maps: 1, map_time: 60s},
         {name: low, submit: 1s, maps: 1, priority: low},
         {name: normal, submit: 2s, maps: 1},
         {name: later, submit: 3s, maps: 1},
         {name: urgent, submit: 4s, maps: 1, priority: very_high}",
    );
    let order: Vec<u32> = rows.iter().map(|row| row.job).collect();
    // Numbers follow arrival: blocker, low, normal, later, urgent.
    assert_eq!(order, [0, 4, 2, 3, 1]);
}

#[test]
fn a_heartbeat_brings_at_most_one_reduce() {
    let rows = attempts(
        "nodes: 1, reduce_slots: 3",
        "{name: a, maps: 0, input: 0, reduces: 3, reduce_time: 1min}",
    );
    let starts: Vec<u64> = rows.iter().map(|row| row.start_ms).collect();
    assert_eq!(starts.len(), 3);
    assert!(starts.windows(2).all(|pair| pair[0] + 3_000 <= pair[1]), "{starts:?}");
}

#[test]
fn little_work_is_spread_over_all_nodes() {
    let rows = attempts("nodes: 4, map_slots: 2", "{name: a, maps: 4, map_time: 1min}");
    let mut nodes: Vec<&str> = rows.iter().map(|row| row.node.as_str()).collect();
    nodes.sort_unstable();
    nodes.dedup();
    assert_eq!(nodes.len(), 4, "{rows:?}");
}

#[test]
fn a_heartbeat_brings_at_most_one_far_map_and_it_is_the_last() {
    let rows = attempts(
        "nodes: 6, racks: 3, map_slots: 4, hdfs: {replication: 1}",
        "{name: a, maps: 120, map_time: 10s}",
    );
    let mut heartbeats: BTreeMap<(u64, &str), u32> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.kind == "map" && row.locality == "off-rack") {
        *heartbeats.entry((row.start_ms, row.node.as_str())).or_default() += 1;
    }
    assert!(!heartbeats.is_empty(), "no map was far");
    assert!(heartbeats.values().all(|far| *far == 1), "{heartbeats:?}");
}

#[test]
fn near_maps_come_first() {
    let rows = attempts(
        "nodes: 4, racks: 2, map_slots: 1, hdfs: {replication: 1}",
        "{name: a, maps: 40, map_time: 10s}",
    );
    // Each node runs the maps of its own blocks before maps from another rack.
    for node in ["node-1", "node-2", "node-3", "node-4"] {
        let own: Vec<&str> =
            rows.iter().filter(|row| row.node == node).map(|row| row.locality.as_str()).collect();
        let far = own.iter().position(|level| *level == "off-rack").unwrap_or(own.len());
        assert!(own[far..].iter().all(|level| *level != "node"), "{node}: {own:?}");
    }
}
