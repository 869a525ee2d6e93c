//! `decisions.csv`: the refusals of slots, their reasons, and the jobs that got the slots.

use std::collections::BTreeMap;
use std::fs;

use crate::Room;

type Row = BTreeMap<String, String>;

/// Runs a scenario; returns its decisions.
fn decisions(room: &Room, yaml: &str) -> Vec<Row> {
    room.write("a.yaml", &format!("name: a\nrecord: {{decisions: true}}\n{yaml}"));
    room.mumakil("run a.yaml --verify --quiet --force --out a").assert().success();
    let table = fs::read_to_string(room.path("a/decisions.csv")).unwrap();
    csv::Reader::from_reader(table.as_bytes()).deserialize().map(Result::unwrap).collect()
}

fn of<'r>(rows: &'r [Row], job: &str, code: &str) -> Vec<&'r Row> {
    rows.iter().filter(|row| row["job"] == job && row["code"] == code).collect()
}

/// A pool has at most four slots. Its first job holds these slots for twenty minutes.
const LIMITED: &str = "
seed: 1
cluster: {nodes: 10, racks: 1}
workload:
  jobs:
    - {name: one, pool: p, maps: 4, map_time: 20min}
    - {name: two, pool: p, submit: 30s, maps: 4, map_time: 20s}
scheduler: {fair: {allocations: {pools: {p: {max_maps: 4}}}}}
";

#[test]
fn refusals_to_the_end_of_a_run_are_written() {
    let room = Room::new();
    let rows = decisions(&room, &format!("{LIMITED}until: 10min\n"));
    let refused = of(&rows, "1", "group-limit");
    assert_eq!(refused.len(), 1, "{rows:?}");
    let [from, to] = ["from_ms", "to_ms"].map(|key| refused[0][key].parse::<u64>().unwrap());
    // The job can launch tasks a few seconds after its arrival. Heartbeats come every three
    // seconds.
    assert!((30_000..45_000).contains(&from) && (590_000..=600_000).contains(&to), "{refused:?}");
}

#[test]
fn holders_of_the_slots_are_of_the_last_refusal() {
    let room = Room::new();
    let rows = decisions(&room, LIMITED);
    let refused = of(&rows, "1", "group-limit");
    assert_eq!((refused.len(), refused[0]["held_by"].as_str()), (1, "0:4"), "{rows:?}");
}

/// The queue admits one job at a time, so the second job waits until the first job has ended.
#[test]
fn a_job_that_a_queue_does_not_let_in_has_that_reason() {
    let room = Room::new();
    let yaml = "
seed: 1
hadoop: \"1.x\"
cluster: {nodes: 10, racks: 1}
workload:
  jobs:
    - {name: a, user: u, maps: 2, map_time: 5min}
    - {name: b, user: v, submit: 10s, maps: 2, map_time: 20s}
scheduler: {capacity: {allocations: {max_system_jobs: 1}}}
";
    let rows = decisions(&room, yaml);
    let refused = of(&rows, "1", "job-limit");
    assert_eq!(refused.len(), 1, "{rows:?}");
    let [from, to] = ["from_ms", "to_ms"].map(|key| refused[0][key].parse::<u64>().unwrap());
    assert!(from < 30_000 && 300_000 < to, "{refused:?}");
    assert_eq!(refused[0]["held_by"], "", "the last time, nobody had a slot any more");
}

/// One job holds all slots when the job of another pool arrives.
#[test]
fn kills_that_are_only_logged_kill_nobody() {
    let room = Room::new();
    let yaml = "
seed: 1
cluster: {nodes: 10, racks: 1, map_slots: 2}
workload:
  jobs:
    - {name: hog, pool: hog, maps: 20, map_time: 10min}
    - {name: poor, pool: poor, submit: 1min, maps: 20, map_time: 20s}
scheduler:
  fair: {preemption: kill, preemption_only_log: ONLY, allocations: {fair_share_after: 20s}}
until: 5min
";
    let decided = |only: &str, what: &str| {
        let rows = decisions(&room, &yaml.replace("ONLY", only));
        let rows = rows.into_iter().filter(|row| row["what"] == what);
        rows.inspect(|row| assert_eq!((&*row["code"], &*row["job"]), ("over-share", "0"))).count()
    };
    assert_eq!((decided("false", "kill"), decided("false", "would-kill")), (10, 0));
    assert_eq!(decided("true", "kill"), 0);
    // Half of the slots, in each of the fourteen or so rounds of 15 s.
    let noted = decided("true", "would-kill");
    assert!(noted.is_multiple_of(10) && (100..=160).contains(&noted), "{noted}");
}
