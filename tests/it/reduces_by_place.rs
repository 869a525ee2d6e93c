//! Reduces near the output of their maps, and slots that maps and reduces lend to each other.

use std::fs;

use crate::{Room, rows};

/// Nine nodes are in the first rack, three in the second; each runs as many maps, so three quarters
/// of the output are in the first rack. Returns the share of the shuffle that crosses the racks.
pub(crate) fn off_rack(policy: &str) -> f64 {
    let room = Room::new();
    room.write(
        "racks.yaml",
        &format!(
            "hadoop: {{line: \"1.x\", heartbeat: 1s, slow_start: 1, setup_cleanup: false}}
cluster: {{nodes: 12, racks: 1, map_slots: 2, reduce_slots: 2, groups: [{{count: 9, racks: 1}}, {{count: 3, racks: 1}}]}}
workload: {{jobs: [{{name: a, maps: 240, input: 0, map_time: 20s, reduces: 12, shuffle: 12GB, reduce_time: 10s}}]}}
scheduler: {policy}
record: {{by_node: true}}
"
        ),
    );
    room.mumakil("run racks.yaml --verify --out out").assert().success();
    let rows = rows(&room.path("out/nodes.csv")).into_iter();
    let bytes = rows.map(|row| row["shuffle_off_rack_bytes"].parse::<f64>().unwrap());
    bytes.sum::<f64>() / 12e9
}

/// With a share of p in one rack, 2 p (1 - p) cross if reduces lie where slots are, and 1 - p if all
/// lie in the rack with more.
#[test]
fn reduces_that_wait_fetch_from_their_own_rack() {
    for policy in ["fifo", "fair", "hfsp", "{rank: {jobs: -submitted}}"] {
        let share = off_rack(policy);
        // These two spread the reduces evenly; the others fill one tracker after another.
        let is_even = ["fifo", "fair"].contains(&policy);
        assert!(!is_even || (share - 0.375).abs() < 0.001, "{policy}: {share}");
        let name = policy.trim_matches(['{', '}']).split(':').next().unwrap();
        let rank = if name == "rank" { "jobs: -submitted, " } else { "" };
        let share = off_rack(&format!("{{{name}: {{{rank}delay: {{reduces: 2min}}}}}}"));
        assert!((share - 0.25).abs() < 0.001, "{policy}: {share}");
    }
}

/// A node of three tasks: with slots, two are for maps and one for reduces; with memory for three, any
/// three run.
#[test]
fn counted_memory_lets_maps_and_reduces_borrow_from_each_other() {
    let makespan = |cluster: &str| {
        let room = Room::new();
        room.write(
            "lend.yaml",
            &format!(
                "hadoop: {{line: \"1.x\", heartbeat: 1s}}
cluster: {{nodes: 4, racks: 1, {cluster}}}
workload: {{jobs: [{{name: a, maps: 240, input: 0, map_time: 60s, map_memory: 1GB, reduces: 12, reduce_memory: 1GB, reduce_time: 60s, slow_start: 1}}]}}
scheduler: fair
"
            ),
        );
        room.mumakil("run lend.yaml --verify --out out").assert().success();
        let summary = fs::read_to_string(room.path("out/summary.json")).unwrap();
        let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
        summary["makespan_s"].as_f64().unwrap()
    };
    let slots = makespan("map_slots: 2, reduce_slots: 1");
    let shared = makespan("map_slots: 3, reduce_slots: 3, memory: 3GB, resources: memory");
    // 240 maps in 30 waves and 12 reduces in three, against 20 waves and one.
    let expected = 21.0 / 33.0;
    assert!((shared / slots - expected).abs() < 0.03, "{shared} of {slots}");
}
