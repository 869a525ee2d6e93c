//! `shares.csv` has the slots that the policy thinks each pool's due, and the report draws what the
//! pools lack of these.

use std::fs;

use crate::{Room, rows};

/// A pool with a guarantee and twice the weight comes to two others, one after another.
const POOLS: &str = "
cluster: {nodes: 20}
scheduler: {fair: {allocations: {pools: {prod: {min_maps: 20, weight: 2}, lab: {}, batch: {}}}}}
workload:
  jobs:
    - {name: nightly, pool: batch, maps: 400, map_time: 60s}
    - {name: probe, pool: lab, submit: 1min, maps: 100, map_time: 40s}
    - {name: report, pool: prod, submit: 2min, maps: 200, map_time: 30s}
";

fn room() -> Room {
    let room = Room::new();
    room.write("pools.yaml", POOLS);
    room
}

/// Returns the share and the guarantee of map slots that a pool has at an instant.
fn due(room: &Room, pool: &str, at_ms: u64) -> [String; 2] {
    let rows = rows(&room.path("out/shares.csv"));
    let of_pool = rows.into_iter().filter(|row| row["pool"] == pool && row["kind"] == "map");
    let last = of_pool.take_while(|row| row["time_ms"].parse::<u64>().unwrap() <= at_ms).last();
    let last = last.expect("each pool has a row at the beginning");
    ["share", "min_share"].map(|column| last[column].clone())
}

#[test]
fn shares_follow_weights_guarantees_and_what_pools_ask_for() {
    let room = room();
    room.mumakil("run pools.yaml --set record.shares=true --out out").assert().success();
    for (at_s, batch, lab, prod) in
        [(50, "40.0", "0.0", "0.0"), (110, "20.0", "20.0", "0.0"), (200, "10.0", "10.0", "20.0")]
    {
        assert_eq!(due(&room, "batch", at_s * 1_000), [batch, "0"], "batch at {at_s} s");
        assert_eq!(due(&room, "lab", at_s * 1_000), [lab, "0"], "lab at {at_s} s");
        assert_eq!(due(&room, "prod", at_s * 1_000), [prod, "20"], "prod at {at_s} s");
    }
}

#[test]
fn a_row_says_something_new() {
    let room = room();
    room.mumakil("run pools.yaml --set record.shares=true --out out").assert().success();
    let mut last = std::collections::BTreeMap::new();
    for mut row in rows(&room.path("out/shares.csv")) {
        let whose = (row.remove("pool"), row.remove("kind"));
        row.remove("time_ms");
        assert_ne!(last.insert(whose, row.clone()), Some(row));
    }
}

#[test]
fn recording_shares_changes_the_report_and_no_other_table() {
    let room = room();
    let record = "record.events=true --set record.decisions=true";
    room.mumakil(&format!("run pools.yaml --set {record} --out without")).assert().success();
    let with = format!("run pools.yaml --set {record} --set record.shares=true --out with");
    room.mumakil(&with).assert().success();
    let read = |folder: &str, file: &str| fs::read_to_string(room.path(folder).join(file)).unwrap();
    for file in ["jobs.csv", "tasks.csv", "timeline.csv", "decisions.csv", "summary.json"] {
        assert!(read("with", file) == read("without", file), "{file}");
    }
    let (events, of_shares): (Vec<String>, Vec<String>) = read("with", "events.jsonl")
        .lines()
        .map(str::to_owned)
        .partition(|line| !line.contains(r#""fact":"share""#));
    assert_eq!(events.len(), read("without", "events.jsonl").lines().count());
    assert_eq!(of_shares.len(), rows(&room.path("with/shares.csv")).len());
    for (folder, title) in [
        ("with", "Map slots that a pool lacks of its share"),
        ("without", "Map slots that a pool lacks of an equal share"),
    ] {
        assert!(read(folder, "report.html").contains(title), "{title}");
    }
}

#[test]
fn a_policy_that_takes_over_ends_the_shares_of_the_first() {
    let room = Room::new();
    room.write("pools.yaml", &format!("{POOLS}later: [{{at: 200s, scheduler: fifo}}]\n"));
    room.mumakil("run pools.yaml --set record.shares=true --out out").assert().success();
    for pool in ["batch", "lab", "prod"] {
        assert_eq!(due(&room, pool, 300_000), ["", "0"]);
    }
}
