//! `explain`: the parts of a job's time add up, under every policy and with faults.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use crate::Room;

/// Jobs that crowd a small cluster; one task in ten fails, and a node is off for a while.
const SCENARIO: &str = "
name: a
cluster: {nodes: 5, map_slots: 2, reduce_slots: 1}
workload:
  jobs:
    - {name: large, pool: p, maps: 60, reduces: 6, map_time: 20s, reduce_time: 30s}
    - {name: small, pool: q, submit: 30s, maps: 6, reduces: 2, map_time: 10s, count: 4, every: 40s}
    - {name: bare, submit: 1min, maps: 4, map_time: 5s}
faults: [{task_failures: 10 %}, {at: 2min, stop: node-2}, {at: 10min, start: node-2}]
hadoop: {expiry: 1min}
record: {decisions: true}
";

/// Runs the scenario; returns the explanations of all jobs.
fn explained(room: &Room, scheduler: &str) -> Vec<Value> {
    room.write("a.yaml", &format!("{SCENARIO}scheduler: {scheduler}\n"));
    let ran = room.mumakil("run a.yaml --verify --quiet --force").output().unwrap();
    assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stderr));
    let told = room.mumakil("explain out/a-42 --json").output().unwrap();
    serde_json::from_slice(&told.stdout).unwrap()
}

#[test]
fn the_parts_of_every_job_are_its_sojourn() {
    let room = Room::new();
    let preempting = "{rank: {jobs: -remaining, preemption: kill}}";
    let policies =
        ["fifo", "fair", "capacity", "hfsp", "fair-deficit", "modified-fair", "srpt", preempting];
    for scheduler in policies {
        let jobs = explained(&room, scheduler);
        let table = fs::read_to_string(room.path("out/a-42/jobs.csv")).unwrap();
        let mut rows = csv::Reader::from_reader(table.as_bytes());
        let rows = rows.deserialize::<BTreeMap<String, String>>().map(Result::unwrap);
        let sojourns: Vec<u64> = rows.map(|row| row["sojourn_ms"].parse().unwrap()).collect();
        assert_eq!(jobs.len(), sojourns.len(), "{scheduler}");
        for (job, sojourn) in jobs.iter().zip(&sojourns) {
            let parts = job["parts"].as_array().unwrap();
            let sum: u64 = parts.iter().map(|part| part["ms"].as_u64().unwrap()).sum();
            assert_eq!((sum, job["sojourn_ms"].as_u64()), (*sojourn, Some(*sojourn)), "{job}");
            // A job that is not initialised waits at a limit of jobs, not for a slot.
            let is_wait =
                |part: &&Value| !part["rule"].is_null() && part["part"] != "initialisation";
            let waits = parts.iter().filter(is_wait);
            for wait in waits.filter(|wait| 10_000 < wait["ms"].as_u64().unwrap()) {
                // If a job waits more than ten seconds for a slot, some job holds that slot.
                assert!(!wait["held_by"].as_array().unwrap().is_empty(), "{scheduler}: {job}");
            }
        }
    }
}

/// The rule of a wait is the first criterion by which the policy orders jobs.
#[test]
fn a_wait_is_told_by_the_rule_of_the_policy() {
    let room = Room::new();
    for (scheduler, rule) in [("fifo", "head-of-line"), ("fair", "share"), ("hfsp", "size")] {
        let jobs = explained(&room, scheduler);
        let parts = jobs.iter().flat_map(|job| job["parts"].as_array().unwrap());
        let mut rules: Vec<&str> = parts.filter_map(|part| part["rule"].as_str()).collect();
        rules.retain(|one| ["head-of-line", "share", "size"].contains(one));
        assert!(
            !rules.is_empty() && rules.iter().all(|one| *one == rule),
            "{scheduler}: {rules:?}"
        );
    }
}

/// Under FIFO the small jobs wait behind the large job.
#[test]
fn holders_of_the_slots_are_named() {
    let room = Room::new();
    explained(&room, "fifo");
    let told = room.mumakil("explain out/a-42 small-1").output().unwrap();
    let told = String::from_utf8(told.stdout).unwrap();
    assert!(told.starts_with("job 1 · small-1 · q   succeeded after "), "{told}");
    let wait = told.lines().find(|line| line.contains("waiting for the first map slot")).unwrap();
    assert!(wait.contains("behind others in line; of the held slots: large "), "{wait}");
    let worst = room.mumakil("explain out/a-42").output().unwrap();
    let worst = String::from_utf8(worst.stdout).unwrap();
    let [first, .., all] = ["the most delayed jobs", "small-", "all jobs together"];
    assert!(worst.contains(first) && worst.contains(all), "{worst}");
}

#[test]
fn runs_that_cannot_be_explained_say_why() {
    let room = Room::new();
    explained(&room, "fifo");
    for (arguments, message) in [
        ("explain out/a-42 smal-1", "did you mean `small-1`?"),
        ("explain out/a-42 4711", "the run has no job `4711`"),
        ("explain out", "holds neither a run nor a study"),
        ("explain nothing", "is no folder"),
    ] {
        let output = room.mumakil(arguments).output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(told.contains(message), "{arguments}: {told}");
        assert_eq!(output.status.code(), Some(2), "{arguments}");
    }
    // An explanation needs the table of attempts.
    fs::remove_file(room.path("out/a-42/tasks.csv")).unwrap();
    let output = room.mumakil("explain out/a-42").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("tasks.csv") && told.contains("--set record.tasks=true"), "{told}");
}

#[test]
fn decisions_say_who_was_refused_what() {
    let room = Room::new();
    explained(&room, "{fair: {allocations: {pools: {p: {max_maps: 4}}}, delay: {w1: 5s, w2: 5s}}}");
    let table = fs::read_to_string(room.path("out/a-42/decisions.csv")).unwrap();
    let mut rows = csv::Reader::from_reader(table.as_bytes());
    let rows: Vec<BTreeMap<String, String>> = rows.deserialize().map(Result::unwrap).collect();
    let of = |code: &str| rows.iter().filter(|row| row["code"] == code).collect::<Vec<_>>();
    let limited = of("group-limit");
    assert!(!limited.is_empty(), "{table}");
    for row in limited {
        let number = |column: &str| row[column].parse::<f64>().unwrap();
        assert_eq!((row["job"].as_str(), row["kind"].as_str(), number("share")), ("0", "map", 4.0));
        assert!(number("from_ms") <= number("to_ms") && 4.0 <= number("held"), "{row:?}");
    }
    assert!(rows.iter().any(|row| row["what"] == "kill"), "the node stops while attempts run");
    let without = room.mumakil("run a.yaml --quiet --force --set record.decisions=false");
    assert_eq!({ without }.output().unwrap().status.code(), Some(0));
    assert!(!room.path("out/a-42/decisions.csv").exists());
}

/// The time in which a job waits for the absent JobTracker is a part of its own.
#[test]
fn a_job_that_waits_for_the_job_tracker_is_told_so() {
    for fault in ["restart: 30min, recover: true", "pause: 30min"] {
        for line in ["0.20", "1.x"] {
            let room = Room::new();
            let yaml = format!(
                "hadoop: {{line: \"{line}\"}}\ncluster: {{nodes: 5}}\n\
                 workload: {{jobs: [{{name: a, maps: 100, map_time: 20s}}]}}\n\
                 faults: [{{at: 1min, jobtracker: {{{fault}}}}}]\n"
            );
            room.write("a.yaml", &yaml);
            room.mumakil("run a.yaml --out a --quiet").assert().success();
            let told = room.mumakil("explain a a --json").output().unwrap().stdout;
            let told: serde_json::Value = serde_json::from_slice(&told).unwrap();
            let parts = told["parts"].as_array().unwrap();
            let away = parts.iter().find(|part| part["part"] == "job-tracker-away");
            let away = away.map_or(0, |part| part["ms"].as_u64().unwrap());
            // A few seconds of the absence count as work of tasks that were running when the
            // JobTracker stopped.
            let range = 29 * 60_000..=30 * 60_000;
            assert!(range.contains(&away), "{fault} in {line}: {away} of {told}");
        }
    }
}

/// A pool may have at most two of the six slots. Its thirty reduces wait because of this limit, not
/// because the job's own tasks hold the slots.
#[test]
fn a_limit_is_told_though_the_job_waits_for_its_own_tasks() {
    let room = Room::new();
    let yaml = "cluster: {nodes: 6, reduce_slots: 1}\n\
                workload: {jobs: [{name: x, pool: p, maps: 6, reduces: 30, reduce_time: 40s}]}\n\
                scheduler: {fair: {allocations: {pools: {p: {max_reduces: 2}}}}}\n\
                record: {decisions: true}\n";
    room.write("a.yaml", yaml);
    room.mumakil("run a.yaml --out a --quiet").assert().success();
    let told = room.mumakil("explain a x --json").output().unwrap().stdout;
    let told: Value = serde_json::from_slice(&told).unwrap();
    let parts = told["parts"].as_array().unwrap();
    let limited =
        parts.iter().filter(|part| part["part"] == "reduce-wait" && part["rule"] == "limit");
    let limited: u64 = limited.map(|part| part["ms"].as_u64().unwrap()).sum();
    // There are fifteen waves of 40 s, fourteen of them before the last reduce.
    assert!(9 * 60_000 < limited, "{told}");
}

/// If the run has recorded how long each job takes alone, jobs are ranked by these times.
#[test]
fn the_worst_are_ranked_by_their_slowdown_where_that_is_known() {
    let room = Room::new();
    for (record, by) in [("{}", "undelayed"), ("{alone: true}", "alone")] {
        room.write("a.yaml", &format!("{SCENARIO}\n").replace("{decisions: true}", record));
        room.mumakil("run a.yaml --out a --quiet --force").assert().success();
        let told = String::from_utf8(room.mumakil("explain a").output().unwrap().stdout).unwrap();
        assert!(told.contains(&format!("by how many times as long they took as {by}")), "{told}");
    }
}

/// Two jobs of two hours share one slot, so each is suspended at every second heartbeat.
#[test]
fn a_task_of_thousands_of_suspensions_is_explained_from_a_bounded_field() {
    let room = Room::new();
    let jobs = "jobs: [{name: a, maps: 1, map_time: 2h}, {name: b, maps: 1, map_time: 2h}]";
    room.write(
        "a.yaml",
        &format!(
            "cluster: {{nodes: 1, map_slots: 1, reduce_slots: 0, hdfs: {{replication: 1}}}}\n\
             workload: {{{jobs}}}\nscheduler: {{rank: {{jobs: -attained, preemption: eager}}}}\nrecord: {{tasks: true}}\n"
        ),
    );
    room.mumakil("run a.yaml --quiet").assert().success();
    let table = fs::read_to_string(room.path("out/a-42/tasks.csv")).unwrap();
    let longest = table.split(['\n', ',']).map(str::len).max().unwrap();
    assert!((10_000..40_000).contains(&longest), "{longest}");
    let told = room.mumakil("explain out/a-42 a --json").output().unwrap();
    let why = String::from_utf8(told.stderr).unwrap();
    assert!(why.contains("suspensions are told only as sums"), "{why}");
    let told = String::from_utf8(told.stdout).unwrap();
    let report = fs::read_to_string(room.path("out/a-42/report.html")).unwrap();
    assert!(report.contains("suspensions are told only as sums"));
    let heading: Vec<&str> = table.lines().next().unwrap().split(',').collect();
    let place = heading.iter().position(|name| *name == "suspended_ms").unwrap();
    let row = table.lines().find(|line| line.starts_with("0,map,")).unwrap();
    let suspended: u64 = row.split(',').nth(place).unwrap().parse().unwrap();
    let sums: Value = serde_json::from_str(&told).unwrap();
    let sum = sums["parts"].as_array().unwrap().iter().find(|part| part["part"] == "suspended");
    // Each suspension begins and ends at a whole millisecond.
    let ms = sum.unwrap()["ms"].as_u64().unwrap();
    assert!(ms.abs_diff(suspended) < 100, "{ms} {suspended}");
}
