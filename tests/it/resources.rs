//! Memory and cores that tasks ask for: what fits on a node, under every policy.

use std::path::Path;

use crate::{Room, rows};

/// The example of Ghodsi et al.: one node, and two users whose tasks ask for different amounts.
pub(crate) fn example(resources: &str, policy: &str) -> String {
    format!(
        "name: example
cluster: {{nodes: 1, racks: 1, map_slots: 20, reduce_slots: 0, cores: 9, memory: 18GB, hdfs: {{replication: 1}}, resources: {resources}}}
workload:
  jobs:
    - {{name: a, user: ann, maps: 30, input: 0, map_time: 60s, map_cores: 1, map_memory: 4GB}}
    - {{name: b, user: bob, maps: 20, input: 0, map_time: 60s, map_cores: 3, map_memory: 1GB}}
scheduler: {policy}
record: {{tasks: true}}
"
    )
}

/// Returns the most memory, cores and tasks of attempts that had not ended at a time; suspended ones
/// are among them.
fn most_held(tasks: &Path) -> [u64; 3] {
    let mut changes: Vec<(u64, i64, u64, u64)> = Vec::new();
    // Setups and cleanups ask for nothing.
    for row in rows(tasks).iter().filter(|row| row["kind"] == "map") {
        let (memory, cores) = if row["job"] == "0" { (4, 1) } else { (1, 3) };
        changes.push((row["start_ms"].parse().unwrap(), 1, memory, cores));
        changes.push((row["finish_ms"].parse().unwrap(), -1, memory, cores));
    }
    // Ends come first.
    changes.sort_unstable();
    let (mut held, mut most) = ([0_i64; 3], [0_i64; 3]);
    for (_, sign, memory, cores) in changes {
        let by = [memory as i64, cores as i64, 1].map(|amount| sign * amount);
        held = [0, 1, 2].map(|of| held[of] + by[of]);
        most = [0, 1, 2].map(|of| most[of].max(held[of]));
    }
    most.map(|most| most as u64)
}

/// Runs the example with each way to count, and checks that the node never holds more than it has.
pub(crate) fn assert_keeps_to_the_node(policy: &str) {
    let room = Room::new();
    for (resources, limits) in
        [("memory", [18, 60, 18]), ("memory+cores", [18, 9, 9]), ("slots", [120, 90, 50])]
    {
        room.write("example.yaml", &example(resources, policy));
        room.mumakil("run example.yaml --verify --out out --force").assert().success();
        let held = most_held(&room.path("out/tasks.csv"));
        assert!(
            held.iter().zip(limits).all(|(held, limit)| *held <= limit),
            "{policy} with {resources}: {held:?} of {limits:?}"
        );
        let is_limited = resources != "slots";
        assert!(is_limited || 9 < held[1], "the node is too large for this test");
    }
}

#[test]
fn no_policy_exceeds_what_a_node_has() {
    for policy in [
        "fifo",
        "fair",
        "capacity",
        "{hfsp: {preemption: kill}}",
        "{hfsp: {preemption: eager}}",
        "{rank: {jobs: -attained, preemption: kill}}",
        "{rank: {jobs: -attained, preemption: eager}}",
    ] {
        assert_keeps_to_the_node(policy);
    }
}

#[test]
fn explain_tells_of_jobs_that_waited_for_memory() {
    let room = Room::new();
    room.write(
        "example.yaml",
        &(example("memory+cores", "fair") + "  decisions: true\n")
            .replace("record: {tasks: true}\n", "record:\n  tasks: true\n"),
    );
    room.mumakil("run example.yaml --out out").assert().success();
    let output = room.mumakil("explain out a").output().unwrap();
    let words = String::from_utf8(output.stdout).unwrap();
    assert!(words.contains("for lack of memory or cores"), "{words}");
}

#[test]
fn a_task_that_fits_on_no_node_is_refused() {
    let room = Room::new();
    let told = |resources: &str| {
        let yaml = example(resources, "fifo").replace("map_cores: 3", "map_cores: 10");
        room.write("example.yaml", &yaml.replace("1GB", "2GB"));
        let output = room.mumakil("check example.yaml").output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, words) = told("memory+cores");
    assert_eq!(code, Some(2));
    assert!(
        words.contains("a map of `b` asks for 2GB and 10 cores, more than any node has"),
        "{words}"
    );
    let (code, words) = told("memory");
    assert_eq!(code, Some(0));
    assert!(words.contains("`workload.jobs[0].map_cores` (and 1 more) has no effect"), "{words}");
}

/// Settings of jobs whose effect depends on the cluster or on Hadoop.
#[test]
fn settings_of_jobs_that_have_an_effect_are_not_warned_of() {
    let room = Room::new();
    let speculation = "workload: {jobs: [{name: a, maps: 3, map_speculation: true}]}\n";
    for (yaml, warns) in [
        (example("memory+cores", "fifo"), false),
        (format!("hadoop: {{speculation: late}}\n{speculation}"), false),
        (format!("hadoop: {{speculation: off}}\n{speculation}"), true),
    ] {
        room.write("example.yaml", &yaml);
        let output = room.mumakil("check example.yaml").output().unwrap();
        let words = String::from_utf8(output.stderr).unwrap();
        assert_eq!(words.contains("has no effect"), warns, "{words}");
    }
}

#[test]
fn nodes_of_the_sls_have_their_own_memory_and_cores() {
    let room = Room::new();
    room.write(
        "nodes.json",
        r#"{"rack": "r", "nodes": [{"node": "a"}, {}, {"node": "b", "memory-mb": 6144, "vcores": 6,
            "labels": "x"}]}"#,
    );
    room.write(
        "jobs.json",
        r#"{"job.id": "j", "job.tasks": [{"container.type": "map", "duration.ms": 60000, "count": 3,
            "container.memory-mb": 3000, "container.vcores": 3}]}"#,
    );
    let scenario = |nodes: &str| {
        format!(
            "name: own
cluster: {{map_slots: 9, cores: 2, memory: 4GB, resources: memory+cores}}
workload: {{sls: {{file: jobs.json{nodes}}}}}
record: {{tasks: true}}
"
        )
    };
    room.write("own.yaml", &scenario(", nodes: nodes.json"));
    let run = room.mumakil("run own.yaml --verify --out out").assert().success();
    let told = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    assert!(told.contains("the labels of 1 node have no effect"), "{told}");
    let tasks = rows(&room.path("out/tasks.csv"));
    let maps: Vec<_> = tasks.iter().filter(|row| row["kind"] == "map").collect();
    assert_eq!(maps.len(), 3);
    assert!(maps.iter().all(|row| row["node"] == "b"), "no other node has three cores: {maps:?}");
    room.write("own.yaml", &scenario(""));
    let run = room.mumakil("run own.yaml --out other").assert().code(2);
    let told = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    assert!(told.contains("a map of `j` asks for 3000MiB and 3 cores, more than any"), "{told}");
}
