//! The JobTracker dies and comes back: the fate of jobs in each version of Hadoop, as users see it.

use std::fs;

use crate::Room;

/// Two waves of four maps, each map taking a minute; then the reduces run.
const SCENARIO: &str = "
cluster: {nodes: 2, map_slots: 2, reduce_slots: 1, hdfs: {replication: 1}}
workload: {jobs: [{name: a, maps: 8, map_time: 1min, reduces: 2, reduce_time: 30s}]}
record: {waste: true, events: true}
";

/// Returns how many maps succeeded, how many of these were wasted, and the outcome of the job.
fn run(line: &str, recover: bool) -> (usize, usize, String) {
    let room = Room::new();
    let faults =
        format!("faults: [{{at: 110s, jobtracker: {{restart: 30s, recover: {recover}}}}}]");
    room.write("a.yaml", &format!("hadoop: {{line: \"{line}\"}}{SCENARIO}{faults}\n"));
    let output = room.mumakil("run a.yaml --verify --quiet --time-limit 1min").output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{line}: {told}");
    let read = |file: &str| fs::read_to_string(room.path(&format!("out/a-42/{file}"))).unwrap();
    // If the job is not recovered, the run ends when the JobTracker dies.
    let works = if recover { "140000,jobtracker,,jobtracker back,,,,,,\n" } else { "" };
    let gone = "at_ms,node,rack,what,cpu,disk,network,attempt,blocks,bytes\n\
        110000,jobtracker,,jobtracker gone,,,,,,\n";
    assert_eq!(read("faults.csv"), format!("{gone}{works}"));
    let tasks = read("tasks.csv");
    let maps = |outcome: &str| {
        let is = |row: &&str| row.starts_with("0,map,") && row.contains(&format!(",{outcome},"));
        tasks.lines().filter(is).count()
    };
    let jobs = read("jobs.csv");
    // Columns of waste follow the outcome.
    let outcome = jobs.lines().nth(1).and_then(|row| row.split(',').nth(22)).unwrap();
    (maps("succeeded"), maps("lost"), outcome.to_owned())
}

#[test]
fn without_recovery_the_job_fails() {
    for line in ["0.20", "0.21", "1.x"] {
        let (_, _, outcome) = run(line, false);
        assert_eq!(outcome, "failed", "{line}");
    }
}

#[test]
fn in_020_nothing_that_has_ended_runs_again() {
    let (succeeded, in_vain, outcome) = run("0.20", true);
    assert_eq!((succeeded, in_vain, outcome.as_str()), (8, 0, "succeeded"));
}

#[test]
fn in_later_lines_all_that_has_ended_runs_again() {
    for line in ["0.21", "1.x"] {
        let (succeeded, in_vain, outcome) = run(line, true);
        assert_eq!((succeeded - in_vain, outcome.as_str()), (8, "succeeded"), "{line}");
        assert!(0 < in_vain, "{line}");
    }
}

/// Runs a scenario, and returns the content of a file in its results.
fn left(name: &str, scenario: &str, file: &str) -> String {
    let room = Room::new();
    room.write(&format!("{name}.yaml"), scenario);
    let run = format!("run {name}.yaml --seed 1 --verify --quiet --time-limit 1min");
    let output = room.mumakil(&run).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{name}: {told}");
    fs::read_to_string(room.path(&format!("out/{name}-1/{file}"))).unwrap()
}

/// A late copy of a heartbeat shows an old state. If the restarted JobTracker believed the copy, it
/// would kill all attempts on the tracker, and shut out the tracker.
#[test]
fn late_copies_of_heartbeats_do_not_harm_a_job_tracker_that_is_back() {
    let scenario = "
hadoop: {line: '0.20'}
cluster: {nodes: 20}
workload: {jobs: [{name: a, maps: 1200, reduces: 5, map_time: 20s, reduce_time: 60s}]}
faults:
  - {at: 3min, jobtracker: {restart: 10s, recover: true}}
  - {duplication: 100 %}
  - {delay: {share: 50 %, by: {uniform: {from: 1s, to: 1min}}}}
record: {events: true}
";
    let events = left("late", scenario, "events.jsonl");
    assert!(!events.contains(r#""fact":"tracker lost""#), "a tracker was given up");
    assert!(!events.contains(r#""outcome":"killed""#), "an attempt was killed");
}

/// A job waits to be submitted while the JobTracker is paused. A kill of the job at the instant of
/// the JobTracker's return still finds the job.
#[test]
fn messages_that_waited_for_a_job_tracker_go_first() {
    let jobs = "
cluster: {nodes: 10}
workload:
  jobs:
    - {name: a, maps: 100, reduces: 5, map_time: 20s, reduce_time: 60s}
    - {name: b, submit: 150s, maps: 20, map_time: 20s}
faults:
  - {at: 2min, jobtracker: {pause: 1min}}
  - {at: 3min, kill: b}
";
    let table = left("overtake", jobs, "jobs.csv");
    assert!(
        table.lines().any(|row| row.starts_with("1,b,") && row.ends_with(",killed")),
        "{table}"
    );
    // A pause that begins at the instant of the JobTracker's return is a separate absence.
    let pause = "
cluster: {nodes: 10}
workload: {jobs: [{name: a, maps: 100, map_time: 20s}]}
faults:
  - {at: 2min, jobtracker: {restart: 1min, recover: true}}
  - {at: 3min, jobtracker: {pause: 30s}}
";
    let rows = left("pause", pause, "faults.csv");
    let rows: Vec<&str> = rows.lines().skip(1).map(|row| row.trim_end_matches(',')).collect();
    let told = |at: u32, what| format!("{at},jobtracker,,jobtracker {what}");
    let expected = [(120_000, "gone"), (180_000, "back"), (180_000, "pauses"), (210_000, "back")];
    assert_eq!(rows, expected.map(|(at, what)| told(at, what)));
}

/// A restart within another absence is part of that absence: the table has one absence, which ends
/// at the later of both ends.
#[test]
fn a_restart_within_an_absence_is_no_second_one() {
    let scenario = "
cluster: {nodes: 4}
workload: {jobs: [{name: a, maps: 40, map_time: 20s}]}
faults:
  - {at: 1min, jobtracker: {restart: 2min, recover: true}}
  - {at: 90s, jobtracker: {restart: 1s, recover: true}}
";
    let rows = left("within", scenario, "faults.csv");
    let rows: Vec<&str> = rows.lines().skip(1).map(|row| row.trim_end_matches(',')).collect();
    assert_eq!(rows, ["60000,jobtracker,,jobtracker gone", "180000,jobtracker,,jobtracker back"]);
}

/// A kill of a job holds even if the JobTracker restarts, since a real user would repeat the kill.
#[test]
fn a_kill_outlives_the_process_in_every_line() {
    for line in ["0.20", "0.21", "1.x"] {
        let scenario = format!(
            "
hadoop: {{line: '{line}'}}
cluster: {{nodes: 10}}
workload: {{jobs: [{{name: a, maps: 200, reduces: 5, map_time: 20s, reduce_time: 60s}}]}}
faults:
  - {{at: 2min, kill: a}}
  - {{at: 121s, jobtracker: {{restart: 1min, recover: true}}}}
"
        );
        let table = left("kill", &scenario, "jobs.csv");
        assert!(table.trim_end().ends_with(",killed"), "{line}: {table}");
    }
}
