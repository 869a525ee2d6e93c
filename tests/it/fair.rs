//! The fair schedulers: shares, waits and kills, as in the paper and in Hadoop's code.

use std::fmt::Write as _;

use mumakil::cluster::SlotKind;
use mumakil::emulation::{Emulated, Options, emulate};
use mumakil::mapred::Locality;
use mumakil::output::results::RunResults;
use mumakil::scenario;
use mumakil::scheduler::shared::share::{Claim, max_min};
use mumakil::tables::{AttemptKind, AttemptRow, SlotsRow};
use proptest::prelude::*;
use tempfile::TempDir;

use crate::Room;

/// Runs a scenario with the invariant checker, and keeps its results.
pub(crate) fn run(yaml: &str) -> (TempDir, Emulated) {
    let registry = mumakil::registry();
    let scenario = scenario::parse("test.yaml", yaml, &[], &registry).unwrap().scenario;
    let folder = TempDir::new().unwrap();
    let options =
        Options { folder: Some(folder.path().to_owned()), verify: true, ..Options::default() };
    let run = emulate(&scenario, &registry, options).unwrap();
    let violations = run.verifier.as_ref().unwrap().violations();
    assert!(violations.is_empty(), "{violations:?}");
    (folder, run)
}

/// A cluster on which only the work of tasks takes time.
pub(crate) const EXACT: &str = "
hadoop: {setup_cleanup: false, task_cleanup: false, start_up: 0s, heartbeat_phase: 0s, commit_pending: slot-held}
record: {timeline: true, sample: 1s}
";

/// An attempt of a map, from `tasks.csv`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Attempt {
    pub(crate) job: u32,
    pub(crate) start: f64,
    pub(crate) outcome: String,
    pub(crate) locality: String,
}

pub(crate) fn attempts(folder: &TempDir) -> Vec<Attempt> {
    let rows: Vec<AttemptRow> = RunResults::new(folder.path()).all().unwrap();
    let of_map = |row: AttemptRow| {
        Some(Attempt {
            job: row.job,
            start: row.start_ms.filter(|_| row.kind == AttemptKind::Map)? as f64 / 1e3,
            outcome: row.outcome.word().to_owned(),
            locality: row.locality.map_or("", Locality::word).to_owned(),
        })
    };
    rows.into_iter().filter_map(of_map).collect()
}

/// Returns the map slots that each job held at an instant, in seconds.
pub(crate) fn held(folder: &TempDir, jobs: usize, at: f64) -> Vec<f64> {
    let mut held = vec![0.0; jobs];
    let rows: Vec<SlotsRow> = RunResults::new(folder.path()).all().unwrap();
    for row in rows {
        if row.kind == SlotKind::Map && row.time_ms as f64 <= at * 1e3 {
            held[row.job as usize] = row.slots.into();
        }
    }
    held
}

/// A pool: its weight, its minimum share, and the number of maps of its job.
type Drawn = (u32, u32, u32);

/// Returns a scenario in which jobs of long maps come to a cluster whose 40 slots are full of short
/// maps.
fn full_cluster(variant: &str, pools: &[Drawn]) -> String {
    let mut declared = String::new();
    let mut jobs = "{name: hog, maps: 4000, map_time: 20s}".to_owned();
    for (number, (weight, min, maps)) in pools.iter().enumerate() {
        write!(declared, ", p{number}: {{weight: {weight}, min_maps: {min}}}").unwrap();
        write!(
            jobs,
            ", {{name: j{number}, pool: p{number}, submit: 60s, maps: {maps}, map_time: 10min}}"
        )
        .unwrap();
    }
    format!(
        "{EXACT}
cluster: {{nodes: 10, map_slots: 4}}
until: 3min
workload: {{jobs: [{jobs}]}}
scheduler:
  fair:
    variant: {variant}
    delay: {{w1: 0s, w2: 0s}}
    allocations: {{pools: {{root: {{weight: 1}}{declared}}}}}
"
    )
}

/// Returns the exact shares of the job `hog` and of the other jobs.
fn shares(pools: &[Drawn]) -> Vec<f64> {
    let claim = |(weight, min, maps): &Drawn| Claim {
        weight: f64::from(*weight),
        min_share: f64::from(*min),
        demand: f64::from(*maps),
    };
    let hog = Claim { weight: 1.0, min_share: 0.0, demand: 1e4 };
    let claims: Vec<Claim> = [hog].into_iter().chain(pools.iter().map(claim)).collect();
    let mut shares = vec![0.0; claims.len()];
    max_min(&claims, 40.0, &mut Vec::new(), &mut shares);
    shares
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// After the jobs' arrival, every pool gets its share within the time of one task and a few
    /// heartbeats.
    #[test]
    fn slots_follow_the_max_min_shares_within_the_length_of_a_task(
        variant in prop::sample::select(vec!["paper", "hadoop"]),
        pools in prop::collection::vec((1u32..5, 0u32..8, 1u32..40), 1..5),
    ) {
        let (folder, _) = run(&full_cluster(variant, &pools));
        let held = held(&folder, pools.len() + 1, 60.0 + 20.0 + 15.0);
        for (held, share) in held.iter().zip(shares(&pools)) {
            // Allow a small difference: slots are whole, and a slot that has just become free
            // counts for no pool.
            prop_assert!((held - share).abs() < 2.0, "{held} slots for a share of {share}: {pools:?}");
        }
    }

    /// Even with many starved pools, no pool falls below its share, and no task is killed
    /// needlessly.
    #[test]
    fn no_more_is_killed_than_is_lacking_and_nobody_falls_below_its_share(
        variant in prop::sample::select(vec!["paper", "hadoop"]),
        min in 1u32..30,
        maps in 1u32..60,
        hogs in prop::collection::vec(5u32..40, 1..4),
    ) {
        let mut jobs = String::new();
        for (number, maps) in hogs.iter().enumerate() {
            write!(jobs, "{{name: h{number}, pool: h{number}, maps: {maps}, map_time: 1h}}, ").unwrap();
        }
        let yaml = format!(
            "{EXACT}
cluster: {{nodes: 10, map_slots: 4}}
until: 10min
workload: {{jobs: [{jobs}{{name: needy, pool: needy, submit: 2min, maps: {maps}, map_time: 1h}}]}}
scheduler:
  fair:
    variant: {variant}
    preemption: kill
    delay: {{w1: 0s, w2: 0s}}
    allocations: {{pools: {{needy: {{min_maps: {min}, min_share_after: 20s}}}}}}
"
        );
        let (folder, _) = run(&yaml);
        let running = held(&folder, hogs.len() + 1, 119.0);
        let free = 40.0 - running.iter().sum::<f64>();
        let owed = f64::from(min.min(maps));
        let lacking = (owed - free).max(0.0);
        let killed: Vec<Attempt> =
            attempts(&folder).into_iter().filter(|attempt| attempt.outcome == "killed").collect();
        // Attempts that still run at `until` do not count as killed in the table.
        prop_assert!(killed.len() as f64 <= lacking, "{} killed for {lacking}", killed.len());
        prop_assert!(killed.iter().all(|attempt| (attempt.job as usize) < hogs.len()));
        let after = held(&folder, hogs.len() + 1, 590.0);
        let needy = after[hogs.len()];
        prop_assert!(owed <= needy, "{needy} for a minimum of {owed}");
        let claims: Vec<Drawn> = hogs.iter().map(|maps| (1, 0, *maps)).chain([(1, min, maps)]).collect();
        let fair = shares(&claims);
        for (number, held) in after.iter().enumerate().take(hogs.len()) {
            let least = fair[number + 1].floor().min(running[number]);
            prop_assert!(least <= *held, "job {number} has {held}, its share is {least}");
        }
    }
}

#[test]
fn a_minimum_share_is_back_within_its_time_out_and_two_heartbeats() {
    let yaml = format!(
        "{EXACT}
cluster: {{nodes: 10, map_slots: 4}}
until: 10min
workload:
  jobs:
    - {{name: hog, pool: hog, maps: 60, map_time: 1h}}
    - {{name: needy, pool: needy, submit: 2min, maps: 40, map_time: 1h}}
scheduler:
  fair:
    variant: paper
    preemption: kill
    allocations: {{pools: {{needy: {{min_maps: 12, min_share_after: 30s}}}}}}
"
    );
    let (folder, _) = run(&yaml);
    assert_eq!(held(&folder, 2, 149.0), [40.0, 0.0], "no task is killed before the time-out");
    // Wait half a second for the check, then for two heartbeats.
    assert_eq!(held(&folder, 2, 120.0 + 1.5 + 30.0 + 0.5 + 6.0), [28.0, 12.0]);
    let killed = attempts(&folder).into_iter().filter(|attempt| attempt.outcome == "killed");
    let starts: Vec<f64> = killed.map(|attempt| attempt.start).collect();
    let first = attempts(&folder).iter().map(|attempt| attempt.start).fold(f64::MAX, f64::min);
    assert_eq!(starts.len(), 12);
    assert!(starts.iter().all(|start| first < *start), "it kills the latest: {starts:?}");
}

#[test]
fn a_pool_without_room_for_its_jobs_runs_them_one_by_one() {
    let yaml = format!(
        "{EXACT}
cluster: {{nodes: 10, map_slots: 4}}
workload: {{jobs: [{{name: a, pool: a, count: 3, maps: 4, map_time: 30s}}]}}
scheduler: {{fair: {{allocations: {{pools: {{a: {{max_jobs: 1}}}}}}}}}}
"
    );
    let (folder, _) = run(&yaml);
    let begins = |job: u32| {
        let starts = attempts(&folder).into_iter().filter(|attempt| attempt.job == job);
        starts.map(|attempt| attempt.start).fold(f64::MAX, f64::min)
    };
    assert!(begins(0) + 30.0 <= begins(1) && begins(1) + 30.0 <= begins(2));
}

#[test]
fn a_pool_never_has_more_than_its_maximum_and_inner_pools_share_their_parents_slots() {
    let yaml = format!(
        "{EXACT}
cluster: {{nodes: 10, map_slots: 4}}
until: 5min
workload:
  jobs:
    - {{name: a, pool: a, submit: 5s, maps: 400, map_time: 1h}}
    - {{name: b, pool: b, submit: 5s, maps: 400, map_time: 1h}}
    - {{name: c, pool: c, submit: 5s, maps: 400, map_time: 1h}}
scheduler:
  fair:
    variant: paper
    allocations: {{pools: {{outer: {{max_maps: 12, pools: {{a: {{weight: 2}}, b: {{}}}}}}, c: {{}}}}}}
"
    );
    let (folder, _) = run(&yaml);
    assert_eq!(held(&folder, 3, 200.0), [8.0, 4.0, 28.0]);
}

#[test]
fn a_job_waits_for_the_node_with_its_input_and_no_longer_than_it_should() {
    let yaml = |w1: &str| {
        format!(
            "{EXACT}
seed: 7
cluster: {{nodes: 40, map_slots: 1, hdfs: {{replication: 1}}}}
workload: {{jobs: [{{name: a, submit: 5s, maps: 1, map_time: 10s}}]}}
scheduler: {{fifo: {{delay: {{w1: {w1}, w2: 0s}}}}}}
"
        )
    };
    // Every node sends a heartbeat every three seconds.
    let (folder, _) = run(&yaml("10s"));
    assert_eq!(attempts(&folder)[0].locality, "node");
    let (folder, _) = run(&yaml("0s"));
    assert_eq!(attempts(&folder)[0].locality, "rack");
}

/// Returns the message of `mumakil check` about an invalid scenario.
fn complaints(room: &Room, scheduler: &str, pool: &str) -> String {
    let yaml = format!(
        "workload: {{jobs: [{{name: a, pool: {pool}, maps: 1, map_time: 1s}}]}}\nscheduler:\n  {scheduler}\n"
    );
    room.write("pools.yaml", &yaml);
    let output = room.mumakil("check pools.yaml").output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{yaml}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn wrong_pools_are_told_with_their_places() {
    let room = Room::new();
    room.write("broken.xml", "<allocations>\n  <pool name=\"a\">\n</allocations>\n");
    room.write(
        "wrong.xml",
        "<allocations>\n  <pool name=\"a\"><weight>-1</weight></pool>\n</allocations>\n",
    );
    for (scheduler, pool, told) in [
        (
            "fair: {allocations: {pools: {outer: {max_maps: 10, pools: {in: {min_maps: 20}}}}}}",
            "in",
            "`in` is promised 20 map slots, but `outer` around it gets 10 at most\n  --> pools.yaml:3:77",
        ),
        (
            "fair: {allocations: {pools: {a: {weight: 0}}}}",
            "a",
            "`a` would get nothing: a weight is above zero\n  --> pools.yaml:3:44",
        ),
        (
            "fair: {allocations: {pools: {a: {weight: -1}}}}",
            "a",
            "pools.yaml:3:44   scheduler.fair.allocations.pools.a.weight",
        ),
        (
            "fair: {allocations: {pools: {a: {pools: {b: {}}}, b: {}}}}",
            "b",
            "there is a pool `b` already",
        ),
        (
            "fair: {allocations: {pools: {a: {pools: {b: {}}}}}}",
            "a",
            "a job names the pool `a`, which has pools inside of it",
        ),
        (
            "fair-deficit: {allocations: {pools: {a: {pools: {b: {}}}}}}",
            "b",
            "`a` has pools inside of it, and `fair-deficit` knows no such pools\n  --> pools.yaml:3:51",
        ),
        ("fair: {update_interval: 0s}", "a", "at 0s time would stand still\n  --> pools.yaml:3:27"),
        ("fair: {allocations: {polls: {}}}", "a", "did you mean `pools`?"),
        ("fair: {allocations: nowhere.xml}", "a", "cannot read nowhere.xml"),
        ("fair: {allocations: broken.xml}", "a", "broken.xml:3:1: "),
        #[cfg(unix)]
        (
            "fair: {allocations: /dev/zero}",
            "a",
            "/dev/zero:1:1: the allocation file is larger than 256 KiB",
        ),
        ("fair: {allocations: wrong.xml}", "a", "wrong.xml:2:"),
    ] {
        let said = complaints(&room, scheduler, pool);
        assert!(said.contains(told), "{scheduler}:\n{said}");
    }
}

#[test]
fn jobs_in_files_stand_in_leaves_too() {
    let room = Room::new();
    room.write("jobs.yaml", "- {name: a, pool: outer, maps: 1, map_time: 1s}\n");
    for by in ["fair", "fair-deficit"] {
        let pools = if by == "fair" { "{outer: {pools: {in: {}}}}" } else { "{outer: {}}" };
        let yaml = format!(
            "workload: {{jobs: jobs.yaml}}\nscheduler: {{{by}: {{allocations: {{pools: {pools}}}}}}}\n"
        );
        room.write("pools.yaml", &yaml);
        for command in ["check pools.yaml", "run pools.yaml"] {
            let output = room.mumakil(command).output().unwrap();
            let said = String::from_utf8(output.stderr).unwrap();
            let is_refused = output.status.code() == Some(2)
                && said.contains("a job names the pool `outer`, which has pools inside of it");
            assert_eq!(is_refused, by == "fair", "{command}:\n{said}");
        }
    }
}

#[test]
fn preemption_for_which_nobody_is_ever_starved_is_told() {
    let room = Room::new();
    let told = |allocations: &str| {
        let yaml = format!(
            "workload: {{jobs: [{{name: a, maps: 1, map_time: 1s}}]}}\n\
             scheduler: {{fair: {{preemption: kill, allocations: {{{allocations}}}}}}}\n"
        );
        room.write("pools.yaml", &yaml);
        let output = room.mumakil("check pools.yaml").output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap().contains("no pool is ever starved")
    };
    assert!(told("pools: {a: {min_maps: 1}}"));
    assert!(!told("fair_share_after: 30s"));
    assert!(!told("pools: {a: {pools: {b: {min_share_after: 30s}}}}"));
}

#[test]
fn pools_that_may_be_meant_by_others_are_told_once() {
    let room = Room::new();
    let told = |workload: &str, command: &str| {
        let yaml = format!(
            "workload: {{{workload}}}\n\
             scheduler: {{fair: {{allocations: {{pools: {{nightly: {{min_maps: 1}}}}}}}}}}\n"
        );
        room.write("pools.yaml", &yaml);
        let output = room.mumakil(command).output().unwrap();
        assert!(output.status.success());
        let said = String::from_utf8(output.stderr).unwrap();
        said.matches("no job: `nightly`; that have jobs, but are not declared: `nigthly`").count()
    };
    let listed = "jobs: [{name: a, pool: nigthly, maps: 1, map_time: 1s}]";
    let drawn = "mix: {jobs: 2, arrivals: {gap: 1s}, \
                 types: {a: {pool: nigthly, maps: 1, map_time: 1s}}}";
    assert_eq!(told(listed, "check pools.yaml"), 1);
    assert_eq!(told(listed, "run pools.yaml --force"), 1);
    assert_eq!(told(drawn, "run pools.yaml --force"), 1);
    assert_eq!(told(&listed.replace("nigthly", "nightly"), "run pools.yaml --force"), 0);
}

#[test]
fn settings_a_scheduler_ignores_draw_a_warning() {
    let room = Room::new();
    let yaml = "workload: {jobs: [{name: a, maps: 1, map_time: 1s}]}\n\
                scheduler: {fair-deficit: {allocations: {order: fifo, pools: {a: {max_maps: 3}}}}}\n";
    room.write("pools.yaml", yaml);
    let output = room.mumakil("check pools.yaml").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success());
    for key in ["pools.a.max_maps", "order"] {
        let told = format!(
            "`allocations.{key}` of `fair-deficit` has no effect: it has one only with the policy `fair`;"
        );
        assert!(said.contains(&told), "{said}");
    }
    assert!(!said.contains("min_share_after"), "{said}");
}

#[test]
fn an_allocation_file_does_what_the_same_pools_do() {
    let room = Room::new();
    let xml = "<?xml version=\"1.0\"?>
<allocations>
  <pool name=\"a\"><minMaps>6</minMaps><weight>2.0</weight><maxRunningJobs>2</maxRunningJobs></pool>
  <pool name=\"b\"><schedulingMode>fifo</schedulingMode><maxMaps>9</maxMaps></pool>
  <user name=\"ann\"><maxRunningJobs>3</maxRunningJobs></user>
  <poolMaxJobsDefault>4</poolMaxJobsDefault>
</allocations>
";
    room.write("fair-scheduler.xml", xml);
    let pools = "{pools: {a: {min_maps: 6, weight: 2, max_jobs: 2}, b: {order: fifo, max_maps: 9}}, \
                 users: {ann: {max_jobs: 3}}, pool_max_jobs: 4}";
    for (name, allocations) in [("file", "fair-scheduler.xml"), ("yaml", pools)] {
        let yaml = format!(
            "name: one\nworkload: {{jobs: [{{name: a, pool: a, user: ann, count: 4, maps: 30, map_time: 9s}}, \
             {{name: b, pool: b, user: ann, count: 4, maps: 30, map_time: 9s}}]}}\n\
             cluster: {{nodes: 5}}\nscheduler: {{fair: {{allocations: {allocations}}}}}\n"
        );
        room.write(&format!("{name}.yaml"), &yaml);
        room.mumakil(&format!("run {name}.yaml --quiet --out {name}")).assert().success();
    }
    for file in ["tasks.csv", "jobs.csv", "scenario.resolved.yaml"] {
        let read = |run: &str| std::fs::read_to_string(room.path(run).join(file)).unwrap();
        assert_eq!(read("file"), read("yaml"), "{file}");
    }
}
