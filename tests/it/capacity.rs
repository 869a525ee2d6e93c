//! The capacity scheduler: queues get their guaranteed slots, and lend slots that they do not use.

use std::fmt::Write as _;

use mumakil::cluster::SlotKind;
use mumakil::output::results::RunResults;
use mumakil::tables::{AttemptRow, CellText, SlotsRow};
use proptest::prelude::*;
use tempfile::TempDir;

use crate::Room;
use crate::fair::{EXACT, attempts, held, run};

/// The map slots of the cluster.
const SLOTS: u32 = 40;

const RULES: [&str; 3] = ["0.20", "0.21", "1.x"];

/// A queue: its share of its parent and its maximum, both in twentieths, the maps of its job, and
/// its child queues.
#[derive(Clone, Debug)]
struct Drawn {
    share: u32,
    most: u32,
    maps: u32,
    inside: Vec<Self>,
}

/// A queue without children: its name, its guaranteed slots, its maximum, and the maps of its job.
#[derive(Debug)]
struct Leaf {
    name: String,
    slots: f64,
    most: f64,
    maps: u32,
}

/// Draws two or three queues whose shares add up to one; the first queue has children.
fn queues(inside: BoxedStrategy<Vec<Drawn>>) -> BoxedStrategy<Vec<Drawn>> {
    let cuts = prop::sample::subsequence(vec![5u32, 10, 15], 1..3);
    let rest = prop::collection::vec((0u32..12, 1u32..50), 3);
    (cuts, rest, inside)
        .prop_map(|(cuts, rest, inside)| {
            let ends = cuts.iter().copied().chain([20]);
            let starts = [0].into_iter().chain(cuts.iter().copied());
            let queue = |((start, end), (more, maps)): ((u32, u32), (u32, u32))| {
                let share = end - start;
                Drawn { share, most: (share + more).min(20), maps, inside: Vec::new() }
            };
            let mut queues: Vec<Drawn> = starts.zip(ends).zip(rest).map(queue).collect();
            queues[0].inside = inside;
            queues
        })
        .boxed()
}

fn tree() -> BoxedStrategy<Vec<Drawn>> {
    let none = Just(Vec::new()).boxed();
    queues(prop_oneof![none.clone(), queues(none)].boxed())
}

/// Returns queues in YAML; the name of a queue is its parent's name and a number.
fn yaml_of(queues: &[Drawn], parent: &str) -> String {
    let mut yaml = String::new();
    for (number, Drawn { share, most, inside, .. }) in queues.iter().enumerate() {
        let name = format!("{parent}{number}");
        let (share, most, inside) = (share * 5, most * 5, yaml_of(inside, &name));
        write!(
            yaml,
            "{name}: {{capacity: {share} %, maximum_capacity: {most} %, user_limit_factor: 100, \
             queues: {{{inside}}}}}, "
        )
        .unwrap();
    }
    yaml
}

fn leaves(queues: &[Drawn], parent: &str, slots: f64, most: f64) -> Vec<Leaf> {
    let found = queues.iter().enumerate().flat_map(|(number, queue)| {
        let name = format!("{parent}{number}");
        let slots = slots * f64::from(queue.share) / 20.0;
        let most = most * f64::from(queue.most) / 20.0;
        match queue.inside.as_slice() {
            [] => vec![Leaf { name, slots, most, maps: queue.maps }],
            inside => leaves(inside, &name, slots, most),
        }
    });
    found.collect()
}

/// Returns the number of slots that queues can fill within a common maximum.
fn fillable(queues: &[Drawn], most: f64) -> f64 {
    let sum: f64 = queues
        .iter()
        .map(|queue| {
            let most = (most * f64::from(queue.most) / 20.0 + 1e-6).floor();
            match queue.inside.as_slice() {
                [] => f64::from(queue.maps).min(most),
                inside => fillable(inside, most).min(most),
            }
        })
        .sum();
    sum.min(most)
}

/// Returns a scenario in which an idle queue `q` lends all its slots to a queue of short maps,
/// until a job of long maps comes to each queue inside `q`. Also returns the queues inside `q`.
fn lent(rules: &str, queues: &[Drawn]) -> (String, Vec<Leaf>) {
    let leaves = leaves(queues, "q", 0.75 * f64::from(SLOTS), f64::from(SLOTS));
    let mut jobs = "{name: hog, pool: hog, maps: 4000, map_time: 20s}".to_owned();
    for Leaf { name, maps, .. } in &leaves {
        write!(jobs, ", {{name: {name}, pool: {name}, submit: 60s, maps: {maps}, map_time: 1h}}")
            .unwrap();
    }
    let inside = yaml_of(queues, "q");
    let yaml = format!(
        "{EXACT}
cluster: {{nodes: 10, map_slots: 4}}
until: 3min
workload: {{jobs: [{jobs}]}}
scheduler:
  capacity:
    rules: \"{rules}\"
    wait_factor: 0
    allocations:
      init_poll: 1s
      queues:
        hog: {{capacity: 25 %, user_limit_factor: 100}}
        all: {{capacity: 75 %, queues: {{{inside}}}}}
"
    );
    (yaml, leaves)
}

/// Returns for each job the largest number of map slots that it ever held.
fn peaks(folder: &TempDir, jobs: usize) -> Vec<f64> {
    let mut peaks = vec![0.0f64; jobs];
    let rows: Vec<SlotsRow> = RunResults::new(folder.path()).all().unwrap();
    for row in rows.iter().filter(|row| row.kind == SlotKind::Map) {
        let peak = &mut peaks[row.job as usize];
        *peak = peak.max(row.slots.into());
    }
    peaks
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_queue_with_work_has_its_guaranteed_slots_within_the_length_of_a_task(
        rules in prop::sample::select(RULES.to_vec()),
        queues in tree(),
    ) {
        let (yaml, leaves) = lent(rules, &queues);
        let (folder, _) = run(&yaml);
        // Some slots are still free: each heartbeat may bring only one task.
        let lent = held(&folder, leaves.len() + 1, 59.0)[0];
        prop_assert!(0.75 * f64::from(SLOTS) <= lent, "{lent} are lent");
        // Wait for the length of a task, and then for one heartbeat for each slot of a tracker.
        let held = held(&folder, leaves.len() + 1, 60.0 + 20.0 + 4.0 * 3.0 + 6.0);
        for (leaf, held) in leaves.iter().zip(&held[1..]) {
            let owed = (leaf.slots + 1e-6).floor().min((leaf.most + 1e-6).floor());
            let owed = owed.min(f64::from(leaf.maps));
            prop_assert!(owed <= *held, "{leaf:?} has {held}");
        }
    }

    #[test]
    fn no_queue_ever_has_more_than_its_maximum_and_no_slot_is_idle_that_somebody_may_have(
        rules in prop::sample::select(RULES.to_vec()),
        queues in tree(),
    ) {
        let (yaml, leaves) = lent(rules, &queues);
        // Give the job `hog` only one map: otherwise it would fill the remaining slots.
        let (folder, _) = run(&yaml.replace("maps: 4000", "maps: 1"));
        let peaks = peaks(&folder, leaves.len() + 1);
        for (leaf, peak) in leaves.iter().zip(&peaks[1..]) {
            prop_assert!(*peak <= leaf.most + 1e-6, "{leaf:?} had {peak}");
        }
        let held: f64 = held(&folder, leaves.len() + 1, 170.0)[1..].iter().sum();
        prop_assert_eq!(held, fillable(&queues, f64::from(SLOTS)));
    }

    #[test]
    fn users_share_a_queue_and_none_has_more_than_its_limit(
        rules in prop::sample::select(RULES.to_vec()),
        users in 1u32..8,
        percent in prop::sample::select(vec![10u32, 25, 34, 100]),
        factor in prop::sample::select(vec![0.5, 1.0]),
    ) {
        let job = |user| format!("{{name: u{user}, user: u{user}, maps: 60, map_time: 1h}}");
        let jobs = (0..users).map(job).collect::<Vec<_>>().join(", ");
        let yaml = format!(
            "{EXACT}
cluster: {{nodes: 10, map_slots: 4, jobtracker: {{init: 0s}}}}
until: 3min
workload: {{jobs: [{jobs}]}}
scheduler:
  capacity:
    rules: \"{rules}\"
    wait_factor: 0
    allocations:
      init_poll: 30s
      queues: {{default: {{minimum_user_limit: {percent} %, user_limit_factor: {factor}}}}}
"
        );
        let (folder, _) = run(&yaml);
        let held = held(&folder, users as usize, 170.0);
        let mut limit = SLOTS.div_ceil(users).max((SLOTS * percent).div_ceil(100));
        if rules == "1.x" {
            limit = limit.min((f64::from(SLOTS) * factor) as u32);
        }
        prop_assert!(held.iter().all(|held| *held <= f64::from(limit)), "{held:?} above {limit}");
        // Users are served in order: the first users hold slots up to their limits, the next user
        // holds the remaining slots, and further users hold none.
        let all: f64 = held.iter().sum();
        prop_assert_eq!(all, f64::from(SLOTS.min(limit * users)));
        prop_assert!(held.is_sorted_by(|a, b| a >= b), "{held:?}");
    }
}

/// Returns the starts of a job's attempts, in seconds.
fn starts(folder: &TempDir, job: u32) -> Vec<f64> {
    let mut starts: Vec<f64> = attempts(folder)
        .into_iter()
        .filter(|attempt| attempt.job == job)
        .map(|attempt| attempt.start)
        .collect();
    starts.sort_by(f64::total_cmp);
    starts
}

#[test]
fn the_load_of_a_heartbeat_depends_on_the_line() {
    // Two nodes hold all input, and a tracker sends a heartbeat every 3 s.
    for (rules, maps) in [("0.20", 1.0), ("0.21", 1.0), ("1.x", 4.0)] {
        let yaml = format!(
            "{EXACT}
cluster: {{nodes: 1, map_slots: 4, hdfs: {{replication: 1}}}}
workload: {{jobs: [{{name: a, maps: 4, map_time: 1min}}]}}
scheduler: {{capacity: {{rules: \"{rules}\"}}}}
"
        );
        let (folder, _) = run(&yaml);
        let starts = starts(&folder, 0);
        let at_once = starts.iter().filter(|start| **start < starts[0] + 1.0).count();
        assert_eq!(at_once as f64, maps, "{rules}: {starts:?}");
    }
}

#[test]
fn a_heartbeat_of_1x_brings_one_map_without_input_near() {
    let yaml = format!(
        "{EXACT}
cluster: {{nodes: 1, map_slots: 4}}
workload: {{jobs: [{{name: a, maps: 4, input: 0, map_time: 1min}}]}}
scheduler: {{capacity: {{rules: \"1.x\"}}}}
"
    );
    let (folder, _) = run(&yaml);
    let starts = starts(&folder, 0);
    assert!(starts.windows(2).all(|pair| pair[0] + 2.9 < pair[1]), "{starts:?}");
}

#[test]
fn a_job_of_1x_waits_for_racks_with_its_input_and_no_longer_than_it_should() {
    let locality = |rules: &str, factor: &str| {
        let yaml = format!(
            "{EXACT}
seed: 3
cluster: {{nodes: 40, racks: 20, map_slots: 1, hdfs: {{replication: 1}}}}
workload: {{jobs: [{{name: a, submit: 10s, maps: 40, map_time: 10s}}]}}
scheduler: {{capacity: {{rules: \"{rules}\"{factor}}}}}
"
        );
        let (folder, _) = run(&yaml);
        let far = attempts(&folder).iter().filter(|attempt| attempt.locality == "off-rack").count();
        40 - far
    };
    let greedy = locality("0.21", "");
    assert!(greedy < locality("1.x", ""), "1.x waits by the share of nodes with input");
    assert!(locality("1.x", "") < locality("1.x", ", wait_factor: 20"));
    assert_eq!(locality("1.x", ", wait_factor: 0"), greedy);
    assert_eq!(
        locality("1.x", ", delay: {w1: 0s, w2: 0s}"),
        greedy,
        "a configured delay of 0 s is no wait"
    );
    // The option `delay` replaces the default rules.
    assert_eq!(locality("0.21", ", delay: {w1: 5min, w2: 5min}"), 40);
}

/// Returns a scenario in which jobs fill the cluster with maps of one slot each. Then a job arrives
/// whose maps need three slots each.
fn wide(rules: &str) -> String {
    format!(
        "{EXACT}
cluster: {{nodes: 2, map_slots: 4}}
workload:
  jobs:
    - {{name: narrow, pool: narrow, maps: 400, map_time: {{uniform: {{from: 10s, to: 20s}}}}, map_memory: 1GiB}}
    - {{name: wide, pool: wide, submit: 60s, maps: 4, map_time: 10s, map_memory: 2200MiB}}
scheduler:
  capacity:
    rules: \"{rules}\"
    map_slot: 1GiB
    allocations:
      queues: {{narrow: {{capacity: 50 %, user_limit_factor: 9}}, wide: {{capacity: 50 %}}}}
"
    )
}

#[test]
fn a_tracker_is_kept_for_a_job_whose_tasks_take_several_slots() {
    for rules in RULES {
        let (folder, _) = run(&wide(rules));
        let starts = starts(&folder, 1);
        // The job may run after 5 s. Then it waits up to 20 s for the end of running maps, and up
        // to 12 s for heartbeats.
        assert!(starts[0] < 60.0 + 5.0 + 20.0 + 12.0, "{rules}: {starts:?}");
        assert_eq!(starts.len(), 4);
        assert_eq!(held(&folder, 2, starts[0] + 2.0)[1], 3.0, "{rules}: a map takes three slots");
    }
}

#[test]
fn every_launch_says_whether_its_slot_was_owed_lent_or_kept() {
    for (rules, reasons) in [("0.20", "lent, share"), ("1.x", "lent, reserved, share")] {
        let (folder, _) = run(&wide(rules));
        let rows: Vec<AttemptRow> = RunResults::new(folder.path()).all().unwrap();
        let told: std::collections::BTreeSet<CellText> =
            rows.into_iter().map(|row| row.code).collect();
        assert_eq!(told.into_iter().collect::<Vec<_>>().join(", "), reasons, "{rules}");
    }
}

#[test]
fn trackers_that_are_kept_leave_no_other_slot_idle() {
    // One of the four trackers is reserved for a wide task, and its slots count twice. Still, the
    // other three trackers must have no idle slot.
    for rules in ["0.21", "1.x"] {
        let yaml = format!(
            "{EXACT}
cluster: {{nodes: 4, map_slots: 4}}
until: 20min
workload:
  jobs:
    - {{name: narrow, pool: narrow, input: 0, maps: 9, map_time: 1h, map_memory: 1GiB}}
    - {{name: wide, pool: wide, submit: 45s, maps: 1, map_time: 1h, map_memory: 4GiB}}
    - {{name: late, pool: late, submit: 60s, input: 0, maps: 40, map_time: 1h, map_memory: 1GiB}}
scheduler:
  capacity:
    rules: \"{rules}\"
    map_slot: 1GiB
    wait_factor: 0
    allocations:
      init_poll: 1s
      queues:
        narrow: {{capacity: 33.3 %, user_limit_factor: 9}}
        wide: {{capacity: 33.3 %}}
        late: {{capacity: 33.4 %, user_limit_factor: 9}}
"
        );
        let (folder, _) = run(&yaml);
        let held = held(&folder, 3, 1_100.0);
        assert!(12.0 < held[0] + held[2], "{rules}: {held:?}");
        assert_eq!(held[1], 0.0, "{rules}: it waits");
    }
}

#[test]
fn a_queue_without_a_maximum_loses_no_heartbeat_by_counting_what_is_about_to_commit() {
    let length = |policy: &str| {
        let yaml = format!(
            "hadoop: {{setup_cleanup: false, start_up: 0s, heartbeat_phase: 0s, commit_pending: quirk}}
cluster: {{nodes: 10, map_slots: 1}}
workload: {{jobs: [{{name: a, maps: 200, map_time: 20s}}]}}
scheduler: {{{policy}}}
"
        );
        let starts = starts(&run(&yaml).0, 0);
        ((starts[199] - starts[0]) / 3.0).round()
    };
    for rules in ["0.20", "0.21"] {
        let queues = format!("capacity: {{rules: \"{rules}\"}}");
        assert_eq!(length(&queues), length("fifo: {}"), "{rules}");
    }
}

#[test]
fn tasks_take_one_slot_whatever_their_memory_unless_slots_have_a_size() {
    let one = wide("1.x").replace("maps: 4,", "maps: 1,");
    let peak = |yaml: &str| peaks(&run(yaml).0, 2)[1];
    assert_eq!((peak(&one), peak(&one.replace("    map_slot: 1GiB\n", ""))), (3.0, 1.0));
}

#[test]
fn slots_come_back_by_killing_when_they_are_due() {
    let yaml = |after: &str| {
        format!(
            "{EXACT}
cluster: {{nodes: 10, map_slots: 4}}
until: 10min
workload:
  jobs:
    - {{name: first, pool: a, maps: 20, map_time: 1h}}
    - {{name: last, pool: a, submit: 30s, maps: 40, map_time: 1h}}
    - {{name: owner, pool: b, submit: 2min, maps: 40, map_time: 1h}}
scheduler:
  capacity:
    rules: \"0.20\"
    allocations: {{queues: {{a: {{capacity: 60 %}}, b: {{capacity: 40 %{after}}}}}}}
"
        )
    };
    let (folder, _) = run(&yaml(""));
    assert_eq!(held(&folder, 3, 590.0), [20.0, 20.0, 0.0]);
    let (folder, _) = run(&yaml(", reclaim_after: 1min"));
    // The queue claims its slots after 10 s. Tasks are killed 9 s before the claim is due, or at
    // the next check.
    assert_eq!(held(&folder, 3, 120.0 + 45.0)[2], 0.0);
    assert_eq!(held(&folder, 3, 120.0 + 10.0 + 60.0 + 12.0), [20.0, 4.0, 16.0]);
    let killed = attempts(&folder).into_iter().filter(|attempt| attempt.outcome == "killed");
    let killed: Vec<u32> = killed.map(|attempt| attempt.job).collect();
    assert_eq!(killed, [1; 16], "only the latest job, and only the slots owed");
}

#[test]
fn no_claim_is_overlooked_that_falls_due_between_two_looks() {
    // Heartbeats come every 300 ms, and claims are checked every 5 s.
    for after in [60, 62, 64] {
        let yaml = format!(
            "{EXACT}
cluster: {{nodes: 10, map_slots: 4}}
until: 5min
workload:
  jobs:
    - {{name: first, pool: a, maps: 40, map_time: 1h}}
    - {{name: owner, pool: b, submit: 2min, maps: 40, map_time: 1h}}
scheduler:
  capacity:
    rules: \"0.20\"
    allocations: {{queues: {{a: {{capacity: 60 %}}, b: {{capacity: 40 %, reclaim_after: {after}s}}}}}}
"
        )
        .replace("hadoop: {", "hadoop: {heartbeat: 300ms, heartbeat_floor: 300ms, ");
        let (folder, _) = run(&yaml);
        assert_eq!(held(&folder, 2, 290.0), [24.0, 16.0], "after {after} s");
    }
}

#[test]
fn a_job_that_names_no_queue_stands_in_default_whatever_its_user_is_called() {
    for (by, most) in [("pool", 6.0), ("user", 2.0)] {
        let yaml = format!(
            "{EXACT}
cluster: {{nodes: 2, map_slots: 4}}
workload: {{jobs: [{{name: a, user: web, maps: 40, map_time: 1min}}]}}
scheduler:
  capacity:
    rules: \"0.21\"
    queue_by: {by}
    allocations:
      queues: {{web: {{capacity: 25 %, maximum_capacity: 25 %}}, default: {{maximum_capacity: 75 %}}}}
"
        );
        assert_eq!(peaks(&run(&yaml).0, 1), [most], "by {by}");
    }
}

#[test]
fn priorities_count_where_a_queue_has_them() {
    let first = |supports: bool| {
        let yaml = format!(
            "{EXACT}
cluster: {{nodes: 1, map_slots: 1}}
workload:
  jobs:
    - {{name: a, maps: 3, map_time: 10s}}
    - {{name: b, maps: 3, map_time: 10s, priority: high}}
scheduler:
  capacity: {{allocations: {{init_poll: 10s, queues: {{default: {{supports_priority: {supports}}}}}}}}}
"
        );
        let (folder, _) = run(&yaml);
        starts(&folder, 0)[0] < starts(&folder, 1)[0]
    };
    assert!(first(false));
    assert!(!first(true));
}

#[test]
fn so_many_jobs_of_a_user_wait_for_their_first_task_or_run() {
    let jobs = |rules: &str, limits: &str| {
        let yaml = format!(
            "{EXACT}
cluster: {{nodes: 4, map_slots: 4}}
workload: {{jobs: [{{name: a, count: 3, maps: 1, map_time: 60s}}]}}
scheduler: {{capacity: {{rules: \"{rules}\", allocations: {{init_poll: 10s, {limits}}}}}}}
"
        );
        let (folder, _) = run(&yaml);
        let firsts: Vec<f64> = (0..3).map(|job| starts(&folder, job)[0]).collect();
        firsts.iter().map(|first| ((first - firsts[0]) / 10.0).round()).collect::<Vec<f64>>()
    };
    // Each check initialises one more job.
    let one_waits = "queues: {default: {max_initialised_per_user: 1}}";
    assert_eq!(jobs("0.21", one_waits), [0.0, 1.0, 2.0]);
    // The limit of one running job makes the jobs run one after the other.
    assert_eq!(jobs("1.x", "max_system_jobs: 1"), [0.0, 7.0, 14.0]);
    let one_task = "queues: {default: {max_active_tasks: 1, max_active_tasks_per_user: 1}}";
    assert_eq!(jobs("1.x", one_task), [0.0, 7.0, 14.0]);
    assert_eq!(jobs("1.x", "max_system_jobs: 3"), [0.0; 3]);
}

#[test]
fn a_queue_file_does_what_the_same_queues_do() {
    let room = Room::new();
    let properties = [
        ("queue.a.capacity", "30"),
        ("queue.a.maximum-capacity", "60"),
        ("queue.b.capacity", "70"),
        ("queue.b:x.minimum-user-limit-percent", "50"),
        ("queue.b:y.capacity", "20"),
        ("default-supports-priority", "true"),
    ];
    let mut xml = "<?xml version=\"1.0\"?>\n<configuration>\n".to_owned();
    for (name, value) in properties {
        let name = format!("mapred.capacity-scheduler.{name}");
        writeln!(xml, "<property><name>{name}</name><value>{value}</value></property>").unwrap();
    }
    room.write("capacity-scheduler.xml", &(xml + "</configuration>\n"));
    let queues = "{queues: {a: {capacity: 30 %, maximum_capacity: 60 %, supports_priority: true}, \
                  b: {capacity: 70 %, supports_priority: true, \
                  queues: {x: {minimum_user_limit: 50 %}, y: {capacity: 20 %}}}}}";
    for (name, allocations) in [("file", "capacity-scheduler.xml"), ("yaml", queues)] {
        let yaml = format!(
            "name: one\nworkload: {{jobs: [{{name: a, pool: a, count: 4, maps: 30, map_time: 9s}}, \
             {{name: x, pool: x, count: 4, maps: 30, map_time: 9s}}, {{name: y, pool: y, maps: 30}}]}}\n\
             cluster: {{nodes: 5}}\nscheduler: {{capacity: {{allocations: {allocations}}}}}\n"
        );
        room.write(&format!("{name}.yaml"), &yaml);
        room.mumakil(&format!("run {name}.yaml --quiet --out {name}")).assert().success();
    }
    for file in ["tasks.csv", "jobs.csv", "scenario.resolved.yaml"] {
        let read = |run: &str| std::fs::read_to_string(room.path(run).join(file)).unwrap();
        assert_eq!(read("file"), read("yaml"), "{file}");
    }
}

#[test]
fn a_queue_without_a_slot_is_told() {
    let room = Room::new();
    let check = |rules: &str, percent: u32, more: &str| {
        let rest = 100 - percent;
        let yaml = format!(
            "workload: {{jobs: [{{name: a, maps: 1}}]}}\ncluster: {{nodes: 4, map_slots: 4}}\n\
             scheduler: {{capacity: {{rules: \"{rules}\", allocations: {{queues: \
             {{default: {{capacity: {rest} %}}, small: {{capacity: {percent} %{more}}}}}}}}}}}\n"
        );
        room.write("one.yaml", &yaml);
        let output = room.mumakil("check one.yaml").output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let told = |rules: &str, more: &str| {
        check(rules, 5, more).contains("`small` never gets one of the 16 map slots")
    };
    assert!(told("0.21", ""));
    assert!(!told("1.x", ""));
    assert!(told("1.x", ", maximum_capacity: 6 %"));
    assert!(check("1.x", 0, "").contains("`small` may initialise no job"));
    assert!(!check("0.20", 0, "").contains("initialise"));
    let users = "`small` ever gets a map slot";
    assert!(check("1.x", 50, ", user_limit_factor: 0.05").contains(users));
    assert!(!check("0.21", 50, ", user_limit_factor: 0.05").contains(users));
}

#[test]
fn the_rules_are_those_of_the_line_unless_said() {
    let room = Room::new();
    for (line, rules) in [("0.20", "0.20"), ("0.21", "0.21"), ("1.x", "1.x")] {
        let yaml = format!(
            "name: one\nhadoop: \"{line}\"\nworkload: {{jobs: [{{name: a, maps: 1}}]}}\n\
             cluster: {{nodes: 1}}\nscheduler: capacity\n"
        );
        room.write("one.yaml", &yaml);
        room.mumakil(&format!("run one.yaml --quiet --out {line}")).assert().success();
        let resolved =
            std::fs::read_to_string(room.path(line).join("scenario.resolved.yaml")).unwrap();
        let told = resolved.lines().find(|line| line.trim().starts_with("rules:")).unwrap();
        assert_eq!(told.replace(['\'', '"'], "").trim(), format!("rules: {rules}"));
    }
}

/// The queue accepts one job at a time, and a user two; the follower of a refused job arrives as if
/// it had failed.
#[test]
fn a_refused_job_is_an_outcome_of_its_own() {
    let room = Room::new();
    let yaml = "
name: one
hadoop: \"1.x\"
cluster: {nodes: 4, map_slots: 4}
workload:
  jobs:
    - {name: long, maps: 4, map_time: 2min}
    - {name: late, submit: 20s, maps: 4, map_time: 10s}
    - {name: next, after: [late], submit: 5min, maps: 4, map_time: 10s}
scheduler: {capacity: {allocations: {max_system_jobs: 1, queues: {default: {accept_factor: 1}}}}}
record: {decisions: true}
expect:
  - jobs_refused == 1
  - jobs_succeeded == 2
  - count(sojourn) == 2
";
    room.write("one.yaml", yaml);
    let told = room.mumakil("run one.yaml --verify --out one").output().unwrap();
    let text = String::from_utf8(told.stdout).unwrap();
    assert!(told.status.success(), "{text}{}", String::from_utf8_lossy(&told.stderr));
    assert!(text.contains("2 succeeded   1 refused"), "{text}");
    let jobs = std::fs::read_to_string(room.path("one/jobs.csv")).unwrap();
    let row = |name: &str| {
        let row = jobs.lines().find(|row| row.contains(&format!(",{name},"))).unwrap();
        row.split(',').map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(row("late").last().unwrap(), "refused");
    assert!(row("next").contains(&"320000".to_owned()), "{jobs}");
    let told = room.mumakil("explain one late").output().unwrap();
    let text = String::from_utf8(told.stdout).unwrap();
    assert!(
        text.contains("refused at its submission: its queue has 1 job, and accepts no more"),
        "{text}"
    );
}
