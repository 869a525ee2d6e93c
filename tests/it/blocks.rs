//! Blocks whose copies are lost or made again, and the jobs that read these blocks, as users see
//! them.

use std::fs;

use crate::Room;

/// Runs a scenario; returns the outcome of its job, and the faults that concern blocks, each with
/// the number of blocks.
fn run(yaml: &str) -> (String, Vec<(String, u64)>) {
    let room = Room::new();
    room.write("a.yaml", yaml);
    let output = room.mumakil("run a.yaml --verify --quiet --time-limit 1min").output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{told}");
    let read = |file: &str| fs::read_to_string(room.path(&format!("out/a-42/{file}"))).unwrap();
    let jobs = read("jobs.csv");
    let outcome = jobs.lines().nth(1).and_then(|row| row.rsplit(',').next()).unwrap_or_default();
    let faults = read("faults.csv");
    let copying = faults.lines().filter_map(|row| {
        let cells: Vec<&str> = row.split(',').collect();
        Some((cells[3].to_owned(), cells[8].parse().ok()?))
    });
    (outcome.to_owned(), copying.collect())
}

#[test]
fn blocks_that_all_disks_lose_at_once_nobody_reads() {
    let (outcome, copying) = run("
        cluster: {nodes: 6, racks: 2, hdfs: {replication: 2}}
        workload: {jobs: [{name: a, submit: 10min, maps: 40, map_time: 10s}]}
        faults: [{at: 1min, disk: {nodes: all}}]
    ");
    assert_eq!(outcome, "failed");
    let arrived = copying.iter().filter(|(what, _)| what == "copying ends");
    assert_eq!(arrived.map(|(_, blocks)| blocks).sum::<u64>(), 0, "{copying:?}");
}

#[test]
fn blocks_lost_disk_by_disk_are_copied_and_read() {
    let (outcome, copying) = run("
        cluster: {nodes: 6, racks: 2, hdfs: {replication: 2}}
        workload: {jobs: [{name: a, submit: 40min, maps: 40, map_time: 10s}]}
        faults:
          - {at: 1min, disk: {nodes: [node-1]}}
          - {at: 11min, disk: {nodes: [node-2]}}
          - {at: 21min, disk: {nodes: [node-3]}}
    ");
    assert_eq!(outcome, "succeeded");
    let sum = |wanted: &str| {
        let of_it = copying.iter().filter(|(what, _)| what == wanted);
        of_it.map(|(_, blocks)| blocks).sum::<u64>()
    };
    assert!(0 < sum("copying begins"));
    assert_eq!(sum("copying begins"), sum("copying ends"));
}

#[test]
fn more_bytes_than_a_number_holds_are_no_reason_to_stop() {
    let jobs = ["b", "c", "d", "e"].map(|name| {
        format!("{{name: {name}, count: 40, maps: 40, input: 1000PiB, map_time: 20s}}")
    });
    let jobs = jobs.join(", ");
    let (_, copying) = run(&format!(
        "
        cluster: {{nodes: 3, hdfs: {{replication: 2}}}}
        until: 10min
        workload: {{jobs: [{jobs}]}}
        faults: [{{at: 2min, disk: {{nodes: node-1}}}}]
    "
    ));
    assert_eq!(copying.len(), 1, "{copying:?}");
}
