//! Groups of nodes with disks, network cards and uplinks of their own.

use crate::{Room, rows};

/// Returns how long the maps of a job take on each of two nodes, in seconds, in the order of the
/// nodes. All input is on the first node; the second node is the group.
fn times(model: &str, group: &str, placed: &str) -> [f64; 2] {
    let room = Room::new();
    room.write(
        "unlike.yaml",
        &format!(
            "hadoop: {{line: \"1.x\", heartbeat: 1s, setup_cleanup: false, start_up: 0s, localisation: 0s}}
cluster:
  nodes: 2
  racks: 1
  map_slots: 1
  reduce_slots: 0
  disk: {{rate: 100MB/s}}
  hdfs: {{replication: 1, block: 1GB{placed}}}
  network: {{model: {model}, nic: 125MB/s, uplink: 1Gb/s{rates}}}
  groups: [{{count: 1, racks: 1, {group}}}]
workload: {{jobs: [{{name: a, maps: 2}}]}}
record: {{tasks: true}}
",
            rates = if model == "fixed" { ", rack: 80MB/s, off_rack: 80MB/s" } else { "" },
        ),
    );
    room.mumakil("run unlike.yaml --out out").assert().success();
    let mut times = [0.0; 2];
    for row in rows(&room.path("out/tasks.csv")) {
        let number = |column: &str| row[column].parse::<f64>().unwrap() / 1e3;
        times[usize::from(row["node"] == "node-2")] = number("finish_ms") - number("start_ms");
    }
    times
}

/// The group is node 1, and reads from its own disk; node 2 has all usual hardware, and reads from
/// node 1 over the network.
#[test]
fn a_group_has_its_own_disks_cards_and_uplinks() {
    // The commit takes a second or two.
    let near = |took: f64, expected: f64| (0.0..3.0).contains(&(took - expected));
    for model in ["fixed", "shared"] {
        let usual = times(model, "map_slots: 1", ", placement: {writer: node-1}");
        let slow_disk = times(model, "disk_rate: 20MB/s", ", placement: {writer: node-1}");
        assert!(near(usual[0], 10.0) || model == "shared", "{model}: {usual:?}");
        assert!(4.0 * usual[0] < slow_disk[0], "{model}: {usual:?}, {slow_disk:?}");
        // The usual node now holds the input, and the group reads it.
        let usual = times(model, "map_slots: 1", ", placement: {writer: node-2}");
        for slow in ["nic: 10MB/s", "uplink: 10MB/s"] {
            let times = times(model, slow, ", placement: {writer: node-2}");
            assert!(near(times[0], 100.0), "{model}, {slow}: {times:?}");
            assert!(usual[0] < 25.0, "{model}: {usual:?}");
        }
    }
}
