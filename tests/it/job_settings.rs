//! Settings of Hadoop that jobs and types of jobs set themselves, as users see them.

use std::fs;

use crate::Room;

/// A row of `tasks.csv`.
#[derive(Debug, serde::Deserialize)]
struct Row {
    job: u32,
    kind: String,
    speculative: Option<bool>,
    outcome: String,
}

fn tasks(room: &Room, yaml: &str) -> Vec<Row> {
    room.write("a.yaml", yaml);
    let output = room.mumakil("run a.yaml --verify --force --quiet --out out").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let mut tasks = csv::Reader::from_path(room.path("out/tasks.csv")).unwrap();
    tasks.deserialize().map(Result::unwrap).collect()
}

#[test]
fn each_job_decides_about_its_attempts() {
    let room = Room::new();
    let yaml = "
hadoop: {speculation: hadoop-0.20}
cluster: {nodes: 10, groups: [{count: 2, speed: 0.2}]}
workload:
  jobs:
    - {name: plain, maps: 40, map_time: 30s}
    - {name: lone, submit: 1s, maps: 40, map_time: 30s, map_speculation: false}
";
    let rows = tasks(&room, yaml);
    let second = |job: u32| {
        let of = |row: &&Row| row.job == job && row.kind == "map";
        rows.iter().filter(of).filter(|row| row.speculative == Some(true)).count()
    };
    assert!(0 < second(0), "{rows:?}");
    assert_eq!(second(1), 0);
}

#[test]
fn each_job_decides_how_many_failures_it_bears() {
    let room = Room::new();
    let yaml = "
cluster: {nodes: 10}
workload:
  jobs:
    - {name: strict, maps: 4, map_time: 5s}
    - {name: easy, maps: 4, map_time: 5s, map_attempts: 2, map_failures: 100 %}
faults: [{task_failures: {share: 1, kind: map}}]
";
    let rows = tasks(&room, yaml);
    let failed = |job: u32| {
        let of = |row: &&Row| row.job == job && row.kind == "map";
        rows.iter().filter(of).filter(|row| row.outcome == "failed").count()
    };
    assert_eq!(failed(1), 8, "twice each map");
    assert!(4 <= failed(0));
    let jobs = fs::read_to_string(room.path("out/jobs.csv")).unwrap();
    let line = |name: &str| jobs.lines().find(|line| line.contains(name)).unwrap();
    assert!(line("easy").contains("succeeded") && line("strict").contains("failed"), "{jobs}");
}

#[test]
fn a_wish_for_second_attempts_without_a_rule_is_told() {
    let room = Room::new();
    room.write("a.yaml", "workload: {jobs: [{name: a, maps: 1, map_speculation: true}]}\n");
    let output = room.mumakil("check a.yaml").output().unwrap();
    let told = [output.stdout, output.stderr].concat();
    let told = String::from_utf8(told).unwrap();
    assert!(told.contains("`workload.jobs[0].map_speculation` has no effect"), "{told}");
    assert!(told.contains("`hadoop.speculation` other than `off`"), "{told}");
}
