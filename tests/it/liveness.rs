//! A run ends, or reports a stall with its cause: it neither goes on for ever nor gives up too
//! early.

use std::process::Output;

use crate::Room;

/// Runs a scenario under the checker, for at most a minute, which is far more than any scenario
/// here takes.
fn run(yaml: &str, seed: u32) -> Output {
    let room = Room::new();
    room.write("a.yaml", yaml);
    let arguments = format!("run a.yaml --verify --quiet --time-limit 1min --seed {seed}");
    room.mumakil(&arguments).output().unwrap()
}

fn stalls(yaml: &str, seed: u32, says: &[&str]) {
    let output = run(yaml, seed);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "seed {seed}: {told}{yaml}");
    assert!(told.contains("error: the run stalled after"), "seed {seed}: {told}{yaml}");
    for line in says {
        assert!(told.contains(line), "seed {seed}: `{line}` is not in\n{told}{yaml}");
    }
}

pub(crate) fn ends(yaml: &str, seed: u32) {
    let output = run(yaml, seed);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "seed {seed}: {told}{yaml}");
}

#[test]
fn a_job_that_displaces_one_whose_reduces_hold_every_slot_is_told_of() {
    for policy in ["fair", "fair-deficit", "modified-fair"] {
        let yaml = format!(
            "
cluster: {{nodes: 2}}
scheduler: {{{policy}: {{allocations: {{pool_max_jobs: 1}}}}}}
workload:
  jobs:
    - {{name: long, pool: p, maps: 30, map_time: 36s, reduces: 4}}
    - {{name: urgent, pool: p, priority: high, submit: 2min, maps: 5, reduces: 1}}
"
        );
        let who = "job urgent: 1 reduce waits for a slot: all are taken";
        stalls(&yaml, 42, &[who, "4 of 4 reduce slots are taken: 4 by long"]);
    }
}

/// A map fails while a reduce holds the memory of the other node, and the next reduce takes the rest.
#[test]
fn maps_that_wait_for_memory_which_reduces_hold_are_told_of() {
    let yaml = "
cluster: {nodes: 2, resources: memory, memory: 4GiB, map_slots: 1, reduce_slots: 1}
workload:
  jobs: [{name: a, maps: 3, map_time: 60s, reduces: 2, map_memory: 2GiB, reduce_memory: 3GiB}]
later: [{at: 110s, fail_task: {job: a, map: 2}}]
";
    let hold = "job a: 1 map waits for memory or cores, which launched reduces hold";
    stalls(yaml, 42, &[hold, "2 of 2 reduce slots are taken: 2 by a"]);
    let room = Room::new();
    room.write("a.yaml", yaml);
    let is_warned = |set: &str| {
        let output = room.mumakil(&format!("check a.yaml {set}")).output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        told.contains("2 launched reduces may hold the memory of all nodes")
    };
    assert!(is_warned(""));
    assert!(!is_warned("--set hadoop.slow_start=1") && !is_warned("--set cluster.memory=5GiB"));
}

#[test]
fn a_map_that_has_failed_wherever_there_are_map_slots_is_told_of() {
    let yaml = "
cluster: {nodes: 4, groups: [{count: 2, map_slots: 0}], hdfs: {replication: 1}}
faults: [{task_failures: 50 %}]
workload: {jobs: [{name: a, maps: 4, reduces: 4, count: 4}]}
";
    for seed in 1..=6 {
        stalls(yaml, seed, &["for another tracker: those with a free slot are avoided"]);
    }
}

/// Reduces of a killed job hold all slots, and in stress mode the injector probes for ever.
#[test]
fn orphans_that_hold_all_slots_are_told_of() {
    for submission in ["replay", "stress"] {
        let yaml = format!(
            "
hadoop: {{line: mumak}}
cluster: {{preset: mumak, nodes: 2}}
faults: [{{at: 5min, kill: a}}]
workload:
  submission: {submission}
  jobs:
    - {{name: a, maps: 9, map_time: 100s, reduces: 4}}
    - {{name: b, maps: 1, map_time: 1s, reduces: 1, submit: 1s, count: 4}}
"
        );
        let who = "job a: 4 launched reduces wait for maps that will not come: the job has ended";
        stalls(&yaml, 42, &[who, "4 of 4 reduce slots are taken: 4 by a"]);
    }
}

/// The maps of the killed job work on, commit, and leave their slots to the next job.
#[test]
fn orphans_do_not_wait_for_their_commit_for_ever() {
    let yaml = "
cluster: {nodes: 1, map_slots: 2}
hadoop: {kill_orphans: false}
workload: {jobs: [{name: a, maps: 2, map_time: 1min}, {name: b, submit: 40s, maps: 2, map_time: 5s}]}
faults: [{at: 30s, kill: a}]
";
    ends(yaml, 42);
}

/// For a day the orphaned reduces retry their fetches, after longer and longer pauses. Then one
/// reduce gives up its slot.
#[test]
fn orphans_that_try_to_fetch_are_no_stall() {
    let yaml = "
cluster: {nodes: 4}
hadoop: {slow_start: 1, max_attempts: 1, kill_orphans: false}
workload:
  jobs:
    - {name: first, map_time: 20s, maps: 9, reduces: 3}
    - {name: waits, submit: 129s, maps: 1, reduces: 1}
faults: [{at: 50s, stop: node-1}]
";
    ends(yaml, 42);
}

#[test]
fn a_long_initialisation_is_no_stall() {
    ends(
        "{cluster: {nodes: 3, jobtracker: {init: 25min}}, workload: {jobs: [{name: a, maps: 4}]}}",
        1,
    );
}

/// The tracker waits for an answer until its time-out. Meanwhile the JobTracker declares the
/// tracker lost.
#[test]
fn a_lost_heartbeat_is_no_stall() {
    let yaml = "
hadoop: {line: 1.x, expiry: 20s}
cluster: {nodes: 1, hdfs: {replication: 1}}
faults: [{loss: 0.05}]
workload: {jobs: [{name: a, maps: 2, map_time: 5s, reduces: 1}]}
";
    for seed in 1..=30 {
        ends(yaml, seed);
    }
}

#[test]
fn trackers_that_have_not_spoken_yet_are_no_stall() {
    ends("{hadoop: {heartbeat_phase: 20h}, workload: {jobs: [{name: a, maps: 4}]}}", 1);
}

#[test]
fn stress_before_its_first_job_is_no_stall() {
    let yaml = "
hadoop: {line: mumak, expiry: 20s}
cluster: {preset: mumak, nodes: 3}
workload: {jobs: [{name: a, maps: 4, reduces: 1, count: 3}], submission: stress}
";
    ends(yaml, 1);
}

/// The injector's first probe finds no job to submit. At its next probe no tracker is registered.
#[test]
fn stress_after_a_restart_of_the_jobtracker_is_no_stall() {
    let yaml = "
hadoop: {line: 1.x}
cluster: {nodes: 3}
faults: [{at: 60s, jobtracker: {restart: 2s}}]
workload:
  submission: stress
  jobs: [{name: a, maps: 1, map_time: 10min}, {name: b, maps: 1, after: [a]}]
";
    goes_on(yaml, 1);
}

/// For some heartbeats no other event happens, but the injector has not yet probed since the last
/// change.
#[test]
fn stress_that_has_not_probed_since_the_last_change_is_no_stall() {
    let yaml = "
hadoop: {line: 1.x, tracker_failures: 1, tracker_faults: 1, blacklist: true}
cluster:
  nodes: 3
  map_slots: 0
  groups: [{count: 1, map_slots: 1}]
  hdfs: {replication: 1}
faults: [{task_failures: 20 %}]
workload:
  submission: stress
  jobs:
    - {name: a, maps: 12, map_time: 5s, reduces: 1}
    - {name: b, maps: 6, reduces: 5, map_time: 5s}
    - {name: c, maps: 6, map_time: 5s, reduces: 5}
until: 30min
";
    goes_on(yaml, 4);
}

/// Asserts that a run does not stall; its jobs may fail or stay unfinished.
fn goes_on(yaml: &str, seed: u32) {
    let output = run(yaml, seed);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(!told.contains("stalled"), "seed {seed}: {told}");
}

#[test]
fn a_machine_that_will_start_is_no_stall() {
    let yaml = "
cluster: {nodes: 1, hdfs: {replication: 1}}
faults: [{at: 5s, stop: node-1}, {at: 30h, start: node-1}]
workload: {jobs: [{name: a, maps: 4}]}
";
    ends(yaml, 1);
}

#[test]
fn a_cluster_without_machines_is_told_of() {
    let yaml = "
cluster: {nodes: 1, hdfs: {replication: 1}}
faults: [{at: 20s, stop: node-1}]
workload: {jobs: [{name: a, maps: 4, map_time: 1min}, {name: b, maps: 1, after: [a]}]}
";
    stalls(yaml, 1, &["job a: 2 maps wait for a tracker: none may get tasks"]);
}

/// A crash that finds no living machine has no effect, however often it is due.
#[test]
fn crashes_to_come_of_a_dead_cluster_do_not_put_its_stall_off() {
    let yaml = "
cluster: {nodes: 2, hdfs: {replication: 1}}
faults:
  - {at: 20s, stop: {nodes: all}}
  - {crashes: {mtbf: {exponential: {mean: 1h}}, mttr: 5min}}
workload: {jobs: [{name: a, maps: 4, map_time: 1min}]}
";
    stalls(yaml, 1, &["waits for a tracker: none may get tasks"]);
}

#[test]
fn slow_spells_of_shared_wires_do_not_put_a_stall_off() {
    let yaml = "
cluster: {nodes: 2, network: {model: shared}, contention: true}
faults: [{slow_spells: {every: 10s, for: 5s, disk: 0.5}}]
scheduler: {fair: {allocations: {pool_max_jobs: 1}}}
workload:
  jobs:
    - {name: long, pool: p, maps: 30, map_time: 36s, reduces: 4}
    - {name: urgent, pool: p, priority: high, submit: 2min, maps: 5, reduces: 1}
";
    stalls(yaml, 42, &["job urgent: 1 reduce waits for a slot: all are taken"]);
}

/// Every policy waits for locality, but no longer than its option allows.
#[test]
fn patience_is_no_stall() {
    for policy in [
        "{fifo: {delay: {w1: 3h, w2: 2h}}}",
        "{fair: {delay: {w1: 3h, w2: 2h}}}",
        "{fair: {delay: {w1: 1000h, w2: 0s}, allocations: {fair_share_after: 3h}}}",
        "{modified-fair: {delay: {w1: 3h, w2: 2h}}}",
        "{fair-skip: {skips: 4000, rack_skips: 100}}",
        "{capacity: {delay: {w1: 3h, w2: 2h}}}",
        "{hfsp: {delay: {w1: 3h, w2: 2h}}}",
    ] {
        // The input lies on the only node without slots, in a rack of its own.
        let yaml = format!(
            "
cluster:
  nodes: 2
  racks: 2
  groups: [{{count: 1, map_slots: 0, reduce_slots: 0}}]
  hdfs: {{replication: 1, placement: {{writer: node-1}}}}
scheduler: {policy}
workload: {{jobs: [{{name: a, maps: 2, map_time: 1s, input: 128MiB}}]}}
"
        );
        ends(&yaml, 1);
    }
}

/// The heartbeats of one node are lost for longer than the expiry. The node's work is repeated for
/// ever, so there is always progress.
const ENDLESS: &str = "
hadoop: {line: 1.x, expiry: 20s}
cluster: {nodes: 1, hdfs: {replication: 1}}
faults: [{loss: 0.3}]
workload: {jobs: [{name: a, maps: 4, map_time: 5min}]}
";

#[test]
fn a_run_without_end_ends_with_its_time() {
    let room = Room::new();
    room.write("a.yaml", ENDLESS);
    let output = room.mumakil("run a.yaml --time-limit 1s").output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("the run took as long as --time-limit allows"), "{told}");
    let summary = std::fs::read_to_string(room.path("out/a-42/summary.json")).unwrap();
    assert!(summary.contains("\"stopped\": \"time_limit\""), "{summary}");
    let story = String::from_utf8(output.stdout).unwrap();
    assert!(!story.contains("digest"), "how far it comes is the machine's: {story}");
}

#[test]
fn a_study_goes_on_past_a_run_without_end() {
    let room = Room::new();
    room.write("a.yaml", &format!("{ENDLESS}sweep: {{faults.0.loss: [0, 0.3]}}\n"));
    let output = room.mumakil("study a.yaml --time-limit 2s").output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("it took as long as --time-limit allows"), "{told}");
    assert!(told.contains("1 run failed") || told.contains("1 of 2 runs"), "{told}");
}
