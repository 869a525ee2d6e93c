//! A file that all tasks of a job read: each node copies it once, and `delay` lets maps wait for the
//! nodes that have it.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Room, rows};

/// Runs a job of 40 maps of 10 s on 20 nodes of two slots, whose nodes copy a gigabyte in 20 s. Returns
/// how many nodes it uses, and how long each map takes, in seconds.
fn used(delay: &str, file: &str) -> (usize, Vec<f64>) {
    let yaml = format!(
        "hadoop: {{line: \"1.x\", heartbeat: 1s, setup_cleanup: false, start_up: 0s, localisation: 0s}}
cluster: {{nodes: 20, racks: 1, map_slots: 2, reduce_slots: 0, network: {{rack: 50MB/s}}}}
workload: {{jobs: [{{name: scan, maps: 40, input: 0, map_time: 10s, cached_file: {file}}}]}}
scheduler: {{fair: {{delay: {delay}}}}}
record: {{tasks: true}}
"
    );
    let room = Room::new();
    room.write("scan.yaml", &yaml);
    room.mumakil("run scan.yaml --out out").assert().success();
    let rows = rows(&room.path("out/tasks.csv"));
    let seconds =
        |row: &BTreeMap<String, String>, column: &str| row[column].parse::<f64>().unwrap() / 1e3;
    let nodes: BTreeSet<String> = rows.iter().map(|row| row["node"].clone()).collect();
    let took = rows.iter().map(|row| seconds(row, "finish_ms") - seconds(row, "start_ms"));
    (nodes.len(), took.collect())
}

#[test]
fn each_node_copies_the_file_once() {
    let (nodes, took) = used("{}", "1GB");
    assert_eq!(nodes, 20);
    assert!(took.iter().all(|took| (29.0..32.0).contains(took)), "{took:?}");
    let (_, took) = used("{}", "0");
    assert!(took.iter().all(|took| (9.0..12.0).contains(took)), "{took:?}");
}

#[test]
fn maps_wait_for_the_nodes_that_have_the_file() {
    // The first maps end after 30 s. Until then the job has waited long enough for one node more; from
    // then on a map is launched every few seconds, and each launch begins a new wait.
    let (nodes, took) = used("{cached_file: 20s}", "1GB");
    assert_eq!(nodes, 2);
    let copying = took.iter().filter(|took| 20.0 < **took).count();
    assert_eq!(copying, 4, "the first maps of each node");
    let (nodes, _) = used("{cached_file: 4s}", "1GB");
    assert!((6..=9).contains(&nodes), "{nodes}");
    let (nodes, _) = used("{cached_file: 1h}", "1GB");
    assert_eq!(nodes, 1);
    let (nodes, _) = used("{cached_file: 1h}", "0");
    assert_eq!(nodes, 20, "without a file there is nothing to wait for");
}
