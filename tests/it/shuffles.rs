//! Reduces fetch the outputs of maps, as soon as the outputs are available.

use std::fs;

use serde::Deserialize;

use crate::Room;

/// The columns of `tasks.csv` that the tests read.
#[derive(Debug, Deserialize)]
struct Row {
    kind: String,
    task: u32,
    node: String,
    start_ms: Option<u64>,
    finish_ms: u64,
    shuffle_ms: Option<u64>,
    commit_ms: Option<u64>,
    outcome: String,
}

/// Runs a scenario and returns its attempts.
fn attempts(yaml: &str) -> Vec<Row> {
    let room = Room::new();
    room.write("shuffle.yaml", yaml);
    room.mumakil("run shuffle.yaml --out out").assert().success();
    let table = fs::File::open(room.path("out/tasks.csv")).unwrap();
    csv::Reader::from_reader(table).deserialize().map(Result::unwrap).collect()
}

fn reduces(rows: &[Row]) -> impl Iterator<Item = &Row> {
    rows.iter().filter(|row| row.kind == "reduce" && row.outcome == "succeeded")
}

/// Sixteen maps in two waves on four nodes, then two reduces.
const JOB: &str =
    "{name: a, maps: 16, reduces: 2, map_time: 10s, shuffle_time: 20s, reduce_time: 30s}";

#[test]
fn a_reduce_knows_of_the_maps_that_ended_before_it_was_launched() {
    let yaml = format!(
        "hadoop: {{slow_start: 1.0, copier_sleep: 0s}}\ncluster: {{nodes: 4, map_slots: 2, reduce_slots: 1}}\n\
         workload: {{jobs: [{JOB}]}}\n"
    );
    let rows = attempts(&yaml);
    let took: Vec<Option<u64>> = reduces(&rows).map(|row| row.shuffle_ms).collect();
    assert_eq!(took, [Some(20_000); 2], "fetching waits for no further heartbeat");
}

#[test]
fn nobody_fetches_from_a_machine_that_has_died() {
    let yaml = format!(
        "hadoop: {{slow_start: 1.0}}\ncluster: {{nodes: 4, map_slots: 2, reduce_slots: 1}}\n\
         faults: [{{at: 40s, stop: node-1}}]\nworkload: {{jobs: [{JOB}]}}\n"
    );
    let rows = attempts(&yaml);
    let again = rows.iter().filter(|row| row.kind == "map" && row.start_ms.is_some()).count();
    let lay_there = rows.iter().filter(|row| row.outcome == "lost" && row.node == "node-1");
    assert_eq!(again, 16 + lay_there.count(), "each map with a lost output runs again");
    // The machine is declared lost after ten minutes at the earliest.
    let missed = 40_000 + 600_000;
    for row in reduces(&rows) {
        assert!(missed < row.finish_ms, "{row:?}");
    }
    assert_eq!(reduces(&rows).count(), 2);
}

/// Returns the attempts of a run on seven nodes. After the maps have ended, while the reduces
/// fetch, a node without a reduce dies.
fn of_a_machine_that_dies(reduces: u32) -> Vec<Row> {
    attempts(&format!(
        "hadoop: {{slow_start: 1.0}}\ncluster: {{nodes: 7, map_slots: 2, reduce_slots: 1}}\n\
         faults: [{{at: 25s, stop: node-7}}]\nworkload: {{jobs: [{{name: a, maps: 14, \
         reduces: {reduces}, map_time: 10s, shuffle_time: 1min, reduce_time: 30s}}]}}\n"
    ))
}

#[test]
fn reduces_that_cannot_fetch_have_the_map_run_again_before_its_machine_is_missed() {
    let again = |rows: &[Row]| {
        let starts = rows.iter().filter(|row| row.kind == "map").filter_map(|row| row.start_ms);
        starts.map(|start| start / 60_000).filter(|minute| 0 < *minute).collect::<Vec<_>>()
    };
    let four = of_a_machine_that_dies(4);
    assert_eq!(again(&four), [7, 7], "the sum of nine pauses is seven minutes");
    let two = of_a_machine_that_dies(2);
    assert!(again(&two).iter().all(|minute| 10 <= *minute), "two reduces are too few: {two:?}");
}

#[test]
fn outputs_that_cannot_be_read_are_complained_of_at_once() {
    let rows = attempts(&format!(
        "hadoop: {{slow_start: 1.0}}\ncluster: {{nodes: 4, map_slots: 2, reduce_slots: 1}}\n\
         faults: [{{at: 35s, disk: {{nodes: [node-1]}}}}]\nworkload: {{jobs: [{JOB}]}}\n"
    ));
    let lost: Vec<&Row> = rows.iter().filter(|row| row.outcome == "lost").collect();
    assert!(!lost.is_empty() && lost.iter().all(|row| row.node == "node-1"), "{lost:?}");
    // The two reduces make three complaints. This takes pauses of 13 s and 17 s, and the time for
    // messages.
    assert!(lost.iter().all(|row| (35_000..75_000).contains(&row.finish_ms)), "{lost:?}");
    assert_eq!(reduces(&rows).count(), 2);
}

#[test]
fn a_short_partition_only_delays_what_is_fetched_across_it() {
    let finish = |faults: &str| {
        let rows = attempts(&format!(
            "hadoop: {{slow_start: 1.0}}\ncluster: {{nodes: 4, map_slots: 2, reduce_slots: 1}}\n\
             faults: [{faults}]\nworkload: {{jobs: [{JOB}]}}\n"
        ));
        assert!(rows.iter().all(|row| row.outcome == "succeeded"), "{rows:?}");
        reduces(&rows).map(|row| row.finish_ms / 1_000).max().unwrap()
    };
    let whole = finish("");
    let apart = finish("{at: 35s, partition: {nodes: [node-1, node-2], for: 5min}}");
    assert!((whole + 4 * 60..whole + 7 * 60).contains(&apart), "{whole} and {apart} s");
}

/// Four nodes are in four racks and two pods. Half of the 600 MB comes from the other pod, at 10 MB
/// a second.
#[test]
fn a_fetch_waits_for_what_comes_through_the_uplink_of_its_pod() {
    let yaml = "\
        hadoop: {slow_start: 1.0, copier_sleep: 0s}\n\
        cluster: {nodes: 4, racks: 4, \
        network: {model: shared, nic: 10Gb/s, uplink: 10Gb/s, pods: {count: 2, uplink: 10MB/s}}}\n\
        workload: {jobs: [{name: a, maps: 1, map_time: 5s, reduces: 1, shuffle: 600MB, \
        sort_time: 0s, reduce_time: 1s}]}\n";
    let rows = attempts(yaml);
    let fetched: Vec<Option<u64>> = reduces(&rows).map(|row| row.shuffle_ms).collect();
    assert_eq!(fetched, [Some(30_000)]);
}

/// The reduces get 360, 180 and 60 MB, and compute 10 MB a second. They fetch at the speed of the
/// disks, 100 MB a second, so they fetch for 3.6, 1.8 and 0.6 s.
#[test]
fn reduces_with_unequal_shares_fetch_and_compute_in_proportion() {
    let yaml = "\
        hadoop: {slow_start: 1.0, copier_sleep: 0s, localisation: 0s, start_up: 2s}\n\
        cluster: {nodes: 3, disk: {rate: 100MB/s}, network: {rack: 1GB/s, nic: 10Gb/s}}\n\
        workload: {jobs: [{name: a, maps: 1, map_time: 5s, reduces: 3, shuffle: 600MB, \
        reduce_rate: 10MB/s, sort_time: 0s, reduce_shares: {list: [6, 3, 1]}}]}\n";
    let mut rows = attempts(yaml);
    rows.sort_by_key(|row| row.task);
    let fetched: Vec<Option<u64>> = reduces(&rows).map(|row| row.shuffle_ms).collect();
    assert_eq!(fetched, [Some(3_600), Some(1_800), Some(600)]);
    let worked = |row: &Row| {
        let took = row.finish_ms - row.start_ms.unwrap() - row.commit_ms.unwrap_or(0);
        took - row.shuffle_ms.unwrap_or(0)
    };
    let worked: Vec<u64> = reduces(&rows).map(worked).collect();
    // Computing takes 36, 18 and 6 s; the rest of the time is the start of the process.
    let starts: Vec<u64> = worked.iter().zip([36_000, 18_000, 6_000]).map(|(w, r)| w - r).collect();
    assert!(starts.iter().all(|start| start.abs_diff(starts[0]) <= 1), "{starts:?}");
}
