//! Preemption with checkpoints: work that was done is not done again.

use crate::{Room, rows};

const CLUSTER: &str =
    "hadoop: {line: \"1.x\", heartbeat: 1s, setup_cleanup: false, start_up: 1s, localisation: 0s}
record: {tasks: true, waste: true}
";

/// Runs a scenario under the checker; returns the rows of `tasks.csv`, each with these columns.
fn tasks<const N: usize>(yaml: &str, columns: [&str; N]) -> Vec<[String; N]> {
    let room = Room::new();
    room.write("saved.yaml", &(CLUSTER.to_owned() + yaml));
    room.mumakil("run saved.yaml --verify --out out").assert().success();
    let rows = rows(&room.path("out/tasks.csv")).into_iter();
    rows.map(|row| columns.map(|column| row[column].clone())).collect()
}

/// A reduce that has fetched and sorted reads its state and its input, and goes on to reduce.
#[test]
fn a_reduce_fetches_nothing_again() {
    let rows = tasks(
        "cluster: {nodes: 1, racks: 1, map_slots: 1, reduce_slots: 1, disk: {count: 1, rate: 100MB/s}, hdfs: {replication: 1}}
workload:
  jobs:
    - {name: low, priority: low, maps: 1, map_time: 1s, reduces: 1, shuffle: 500MB, shuffle_time: 40s, sort_time: 10s, reduce_time: 100s, reduce_memory: 500MB}
    - {name: high, submit: 2min, priority: high, maps: 1, map_time: 1s, reduces: 1, shuffle_time: 0s, sort_time: 0s, reduce_time: 20s}
scheduler: {rank: {jobs: priority, preemption: checkpoint}}
",
        ["job", "kind", "attempt", "outcome", "start_up_ms", "shuffle_ms", "start_ms", "finish_ms"],
    );
    let attempts: Vec<_> = rows.iter().filter(|row| row[0] == "0" && row[1] == "reduce").collect();
    let [first, second] = &attempts[..] else { panic!("{attempts:?}") };
    assert_eq!((&*first[3], &*second[3]), ("killed", "succeeded"));
    let number = |text: &str| text.parse::<f64>().unwrap() / 1e3;
    let start_up = number(&second[4]);
    assert!((10.9..11.2).contains(&start_up), "1 s, and 1 GB from the disk: {start_up}");
    assert!(number(&second[5]) < 2.0, "it hears of its maps, but fetches nothing: {second:?}");
    let span = |row: &[String]| number(&row[7]) - number(&row[6]);
    let all = span(&first[..]) + span(&second[..]);
    // 1 + 40 + 10 + 100 s of work, 5 s of writing, and the second start.
    assert!((165.0..176.0).contains(&all), "{all}: {attempts:?}");
}

/// The only free slot is on the other node, in another rack: the state comes from there.
#[test]
fn a_map_goes_on_elsewhere() {
    let rows = tasks(
        "cluster: {nodes: 2, racks: 2, map_slots: 1, reduce_slots: 1, disk: {count: 1, rate: 100MB/s}, network: {rack: 50MB/s, off_rack: 50MB/s}, hdfs: {replication: 1}}
workload:
  jobs:
    - {name: low, priority: low, input: 0, maps: 1, map_time: 200s, map_memory: 1GB}
    - {name: other, submit: 1s, priority: normal, input: 0, maps: 1, map_time: 90s}
    - {name: high, submit: 60s, priority: high, input: 0, maps: 1, map_time: 10min}
scheduler: {rank: {jobs: priority, preemption: checkpoint}}
",
        ["job", "kind", "node", "outcome", "start_up_ms"],
    );
    let attempts: Vec<_> = rows.iter().filter(|row| row[0] == "0" && row[1] == "map").collect();
    let [first, second] = &attempts[..] else { panic!("{attempts:?}") };
    assert_eq!((&*first[3], &*second[3]), ("killed", "succeeded"));
    assert_ne!(first[2], second[2]);
    let start_up = second[4].parse::<f64>().unwrap() / 1e3;
    assert!((20.9..21.2).contains(&start_up), "1 s, and 1 GB at 50 MB/s: {start_up}");
}

/// The saved work of an attempt is lost with its node, and is done again.
#[test]
fn checkpoints_on_a_lost_node_are_done_again() {
    let scenario = |faults: &str| {
        format!(
            "cluster: {{nodes: 2, racks: 1, map_slots: 1, reduce_slots: 1, disk: {{count: 1, rate: 100MB/s}}, hdfs: {{replication: 1}}}}
workload:
  jobs:
    - {{name: low, priority: low, input: 0, maps: 2, map_time: 200s, map_memory: 1GB}}
    - {{name: high, submit: 60s, priority: high, input: 0, maps: 2, map_time: 30min}}
scheduler: {{rank: {{jobs: priority, preemption: checkpoint}}}}
{faults}
"
        )
    };
    let columns = ["job", "kind", "outcome", "start_up_ms"];
    let reads = |faults: &str| {
        let rows = tasks(&scenario(faults), columns);
        let done =
            rows.iter().filter(|row| row[0] == "0" && row[1] == "map" && row[2] == "succeeded");
        let read = done.filter(|row| 5_000 < row[3].parse::<u64>().unwrap());
        read.count()
    };
    assert_eq!(reads(""), 2);
    assert_eq!(reads("faults: [{at: 3min, stop: node-1}]"), 1);
}
