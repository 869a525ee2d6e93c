//! The JobTracker dies and is back: what becomes of jobs, by line of Hadoop, as users see it.

use std::fs;

use crate::Room;

/// Four maps run at once and again, a minute each; then the reduces run.
const SCENARIO: &str = "
cluster: {nodes: 2, map_slots: 2, reduce_slots: 1, hdfs: {replication: 1}}
workload: {jobs: [{name: a, maps: 8, map_time: 1min, reduces: 2, reduce_time: 30s}]}
record: {waste: true, events: true}
";

/// What a run leaves of maps: how many succeeded in all, how many of them were in vain, and the
/// outcome of the job.
fn run(line: &str, recover: bool) -> (usize, usize, String) {
    let room = Room::new();
    let faults =
        format!("faults: [{{at: 110s, jobtracker: {{restart: 30s, recover: {recover}}}}}]");
    room.write("a.yaml", &format!("hadoop: {{line: \"{line}\"}}{SCENARIO}{faults}\n"));
    let output = room.mumakil("run a.yaml --verify --quiet --time-limit 1min").output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{line}: {told}");
    let read = |file: &str| fs::read_to_string(room.path(&format!("out/a-42/{file}"))).unwrap();
    // Without its job, the run ends when the process does.
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
    let outcome = jobs.lines().nth(1).and_then(|row| row.rsplit(',').next()).unwrap();
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
