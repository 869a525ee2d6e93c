//! Runs random clusters (with or without shared resources), workloads and faults, with the
//! invariant checker on.
//!
//! In each of these runs every job ends, every task succeeds exactly once, no slot is
//! over-committed and time never goes back. The test's own policy suspends, resumes and kills
//! attempts at random.

use std::fmt::Write as _;
use std::path::PathBuf;

use mumakil::cluster::SlotKind;
use mumakil::emulation::{Emulated, Options, emulate};
use mumakil::mapred::{
    AttemptId, Job, JobChange, JobEvent, MapReach, Offer, Orders, Policy, PolicyNeeds, Reason,
    Scheduler, StopReason, View,
};
use mumakil::random::{ChaCha8Rng, Purpose, stream};
use mumakil::scenario;
use mumakil::units::SimSpan;
use proptest::prelude::*;
use rand::RngExt;

/// A policy that launches as many tasks as fit, and suspends, resumes and ends attempts at random, with and
/// without their work.
struct Restless {
    rng: ChaCha8Rng,
    running: Vec<AttemptId>,
    suspended: Vec<AttemptId>,
    kills_left: u32,
}

impl Scheduler for Restless {
    fn job_changed(&mut self, _: &View<'_>, event: &JobEvent) {
        if let JobChange::Attempt(attempt, state) = event.change
            && state.outcome().is_some()
        {
            self.running.retain(|other| *other != attempt);
            self.suspended.retain(|other| *other != attempt);
        }
    }

    fn needs(&self) -> PolicyNeeds {
        PolicyNeeds { tick_every: Some(SimSpan::from_secs(7)), ..PolicyNeeds::default() }
    }

    fn tick(&mut self, orders: &mut Orders<'_>) {
        for attempt in std::mem::take(&mut self.suspended) {
            orders.resume(attempt, Reason::Other("again"));
            self.running.push(attempt);
        }
        if self.running.is_empty() {
            return;
        }
        let victim = self.running[self.rng.random_range(0..self.running.len())];
        if self.rng.random_bool(0.5) {
            orders.suspend(victim, Reason::Other("for a while"));
            self.running.retain(|other| *other != victim);
            self.suspended.push(victim);
        } else if 0 < self.kills_left {
            self.kills_left -= 1;
            let reason = Reason::Other("at random");
            match self.rng.random_bool(0.5) {
                true => orders.kill(victim, reason),
                false => orders.checkpoint(victim, reason),
            }
        }
    }

    fn offer(&mut self, offer: &mut Offer<'_>) {
        for kind in SlotKind::BOTH {
            while 0 < offer.free(kind) {
                let Some(job) = offer.running_jobs().find(|job| 0 < job.pending(kind)).map(Job::id)
                else {
                    break;
                };
                let reason = Reason::Other("restless");
                let launched = match kind {
                    SlotKind::Map => offer.launch_map(job, MapReach::Any, reason),
                    SlotKind::Reduce => offer.launch_reduce(job, reason),
                };
                let Some(launched) = launched else { break };
                self.running.push(launched.attempt);
            }
        }
    }
}

impl Policy for Restless {
    const NAME: &'static str = "restless";
    const ABOUT: &'static str = "suspends, resumes and kills at random";
    type Options = ();

    fn new((): ()) -> Self {
        let rng = stream(1, Purpose::Fuzz, 0);
        Self { rng, running: Vec::new(), suspended: Vec::new(), kills_left: 20 }
    }
}

fn run(yaml: &str) -> Emulated {
    run_into(yaml, None)
}

fn run_into(yaml: &str, folder: Option<PathBuf>) -> Emulated {
    let mut registry = mumakil::registry();
    registry.add::<Restless>();
    let loaded = scenario::parse("chaos.yaml", yaml, &[], &registry)
        .unwrap_or_else(|error| panic!("{error}\n{yaml}"));
    let options = Options { folder, verify: true, ..Options::default() };
    emulate(&loaded.scenario, &registry, options).unwrap_or_else(|error| panic!("{error}\n{yaml}"))
}

/// Runs a scenario and returns the numbers of its jobs that succeeded and failed.
fn outcomes(yaml: &str) -> (u64, u64) {
    let run = run(yaml);
    let verifier = run.verifier.expect("the options turn the checker on");
    let found: Vec<String> = verifier.violations().iter().map(ToString::to_string).collect();
    assert!(found.is_empty(), "{}\n{yaml}", found.join("\n"));
    assert_eq!(run.stop, StopReason::Done, "{yaml}");
    let summary = run.summary;
    let ended =
        [summary.jobs_succeeded, summary.jobs_failed, summary.jobs_killed, summary.jobs_refused];
    assert_eq!(ended.iter().sum::<u64>(), summary.jobs, "{yaml}");
    (summary.jobs_succeeded, summary.jobs_failed)
}

/// Every policy, with options that use many of its features.
const SCHEDULERS: [&str; 26] = [
    "fifo",
    "{fifo: {delay: {w1: 6s, w2: 3s, long_task: 12s}, reduce_gate: coupling}}",
    "{naive-fair: {reduce_order: srt}}",
    "{fair-skip: {skips: 5, rack_skips: 2, reduce_gate: coupling}}",
    "{fair: {preemption: kill, allocations: {fair_share_after: 20s, user_max_jobs: 3}}}",
    "{fair: {variant: paper, preemption: kill, size_based_weight: true, \
     allocations: {fair_share_after: 10s, pools: {outer: {max_maps: 9, \
     pools: {p0: {min_maps: 2, min_share_after: 5s}, p1: {}}}}}}}",
    "fair-deficit",
    "{fair-deficit: {reduce_order: srt, reduce_gate: coupling, srt: {running_maps: by_progress}}}",
    "hfsp",
    "{hfsp: {variant: paper-2013, sample: 2, suspended: {most: 2, few: 0}, \
     weights: priority, spared: training}}",
    "{hfsp: {variant: hadoop, preemption: kill, map_preemption: kill}}",
    "{rank: {jobs: -remaining_maps * map_time - remaining_reduces * reduce_time, \
     reduces: 'if(waited > 20s, jobs, -attained / 1s)', delay: {w1: 6s, w2: 3s}}}",
    "{rank: {jobs: priority + age / 1min, reduce_order: srt, reduce_gate: coupling}}",
    "{rank: {jobs: -remaining, preemption: kill, preemption_when: 'waited > 10s or 1 < victim.running', \
     delay: {w1: 6s, w2: 3s}}}",
    "{rank: {jobs: -attained, preemption: eager, suspended: {most: 2, few: 0}}}",
    "ps",
    "{fsp: {preemption: eager}}",
    "{srpt: {preemption: kill}}",
    "capacity",
    "{capacity: {rules: \"0.20\", map_slot: 160MiB, hash_maps: java-8, reduce_order: srt, \
     allocations: {queues: {default: {capacity: 50 %}, idle: {reclaim_after: 10s}}}}}",
    "{capacity: {rules: \"0.21\", map_slot: 160MiB, queue_by: user, \
     srt: {running_maps: by_progress, shuffle_rate: 10MB/s}, reduce_order: srt}}",
    "{capacity: {rules: \"1.x\", map_slot: 160MiB, reduce_slot: 250MiB, wait_factor: 3, reduce_gate: coupling, \
     allocations: {max_system_jobs: 2, queues: {default: {minimum_user_limit: 30 %}}}}}",
    "{fair: {reduce_order: srt, reduce_gate: coupling}}",
    "modified-fair",
    "{modified-fair: {priority_adjustment: table, maximum: round, reduce_order: srt, \
     reduce_gate: coupling, delay: {w1: 6s, w2: 3s}, \
     allocations: {user_max_jobs: 3, pools: {ann: {min_maps: 2, max_maps: 9, order: fifo}}}}}",
    "restless",
];

/// The drawn parts of a scenario.
#[derive(Debug)]
struct Drawn {
    seed: u64,
    line: &'static str,
    settings: Vec<&'static str>,
    nodes: u32,
    racks: u32,
    slots: (u32, u32),
    /// The settings of a shared cluster.
    sharing: &'static str,
    jobs: Vec<(u32, u32, u32, bool)>,
    scheduler: &'static str,
}

impl Drawn {
    fn yaml(&self, faults: &[&str]) -> String {
        let mut yaml = String::new();
        let (maps, reduces) = self.slots;
        let settings: String = self.settings.iter().map(|setting| format!(", {setting}")).collect();
        writeln!(yaml, "name: chaos\nseed: {}\nuntil: 50h", self.seed).unwrap();
        writeln!(yaml, "hadoop: {{line: \"{}\"{settings}}}", self.line).unwrap();
        writeln!(
            yaml,
            "cluster: {{nodes: {}, racks: {}, map_slots: {maps}, reduce_slots: {reduces}, \
             memory: 1GiB, groups: [{{count: 1, speed: 0.3}}]{}}}",
            self.nodes,
            self.racks.min(self.nodes),
            self.sharing,
        )
        .unwrap();
        writeln!(yaml, "scheduler: {}\nworkload:\n  jobs:", self.scheduler).unwrap();
        for (number, (maps, reduces, submit, follows)) in self.jobs.iter().enumerate() {
            let after = if *follows && 0 < number {
                format!(", after: [job-{}]", number - 1)
            } else {
                String::new()
            };
            // The maps of every second job read their input while they compute.
            let map = if number % 2 == 0 {
                "map_time: {log_normal: {mean: 15s, cv: 0.5}}"
            } else {
                "map_rate: 10MB/s"
            };
            writeln!(
                yaml,
                "    - {{name: job-{number}, pool: p{}, submit: {submit}s, maps: {maps}, \
                 reduces: {reduces}, {map}, shuffle: 200MB, output: 100MB, reduce_time: 10s, map_memory: 300MiB, \
                 reduce_memory: 400MiB{after}}}",
                number % 3,
            )
            .unwrap();
        }
        writeln!(yaml, "faults: [{}]\nrecord: {{waste: true}}", faults.join(", ")).unwrap();
        yaml
    }
}

fn drawn() -> impl Strategy<Value = Drawn> {
    let settings = prop::sample::subsequence(
        vec![
            "commit_pending: slot-held",
            "out_of_band: true",
            "setup_cleanup: false",
            "task_cleanup: false",
            "heartbeat_fuzz: 200ms",
            "slow_start: 1",
            "heartbeat: 1s",
        ],
        0..4,
    );
    // With these settings a task soon counts as slow, so that there are many speculative attempts.
    let speculation = prop::sample::select(vec![
        "speculation: off",
        "speculation: late",
        "speculation: {hadoop-0.20: {after: 5s, gap: 10 %}}",
        "speculation: {hadoop-0.21: {after: 5s, slow_task: 0.2, reduces: false}}",
        "speculation: {late: {after: 5s, slow_task: 60 %, slow_node: 0, cap: 50 %}}",
    ]);
    let job = (1u32..30, 0u32..5, 0u32..100, prop::bool::ANY);
    (
        0u64..1_000_000,
        prop::sample::select(vec!["0.20", "0.21", "1.x"]),
        settings,
        1u32..12,
        1u32..4,
        (1u32..4, 1u32..3),
        prop::sample::select(vec![
            "",
            ", network: {model: shared, uplink: 100MB/s}",
            ", cores: 1, contention: true",
            ", network: {model: shared}, disk: {count: 1}, cores: 2, contention: true",
            ", network: {model: shared, fabric: 20MB/s}, page_cache: {}",
        ]),
        prop::collection::vec(job, 1..6),
        (prop::sample::select(SCHEDULERS.to_vec()), speculation),
    )
        .prop_map(|(seed, line, mut settings, nodes, racks, slots, sharing, jobs, with)| {
            let (scheduler, speculation) = with;
            settings.push(speculation);
            // If slots have a size, a task takes two slots, so a node needs at least two.
            let least = if scheduler.contains("map_slot") { 2 } else { 1 };
            let slots = (slots.0.max(least), slots.1.max(least));
            Drawn { seed, line, settings, nodes, racks, slots, sharing, jobs, scheduler }
        })
}

/// Faults of every kind for machines and attempts. Runs with these faults still end.
const BEFALLS: [&str; 16] = [
    "{at: 40s, stop: {nodes: 30 %, for: 5min}}",
    "{at: 1min, stop: {rack: rack-1}}, {at: 20min, start: {rack: rack-1}}",
    "{at: 50s, stop: all}, {at: 55s, start: all}",
    "{at: 30s, stop: {nodes: 1}}, {at: 9min, start: {nodes: 1}}",
    "{at: 45s, restart: {nodes: all, for: 0s}}",
    "{at: 70s, restart: {nodes: 50 %, for: 40s}}",
    "{slow: {nodes: 50 %, cpu: 0.3}}",
    "{at: 20s, slow: {cpu: 0.5, disk: 0.2, network: 0.4, for: 1min}}",
    "{at: 30s, slow: {nodes: node-1, network: 0.01, for: 1min}}",
    "{crashes: {mtbf: {exponential: {mean: 1h}}, mttr: {exponential: {mean: 1min}}}}",
    "{at: 1min, crashes: {nodes: 1, mtbf: 5min, mttr: 30s, what: tracker}}",
    "{crashes: {mtbf: {weibull: {mean: 1h, shape: 0.7}}, mttr: {uniform: {from: 0s, to: 4min}}}}",
    "{slow_spells: {every: {exponential: {mean: 1min}}, for: 30s, cpu: 0.2, disk: 0.5}}",
    "{task_failures: {share: 10 %, at_progress: 0.2}}, {task_failures: {kind: reduce, share: 20 %}}",
    "{hangs: 5 %}",
    "{out_of_memory: {share: 10 %, jobs: job-0}}, {hangs: {share: 10 %, nodes: node-1, at_progress: 0.3}}",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_befalls_machines_and_attempts_every_job_ends(
        mut drawn in drawn(),
        befalls in prop::sample::subsequence(BEFALLS.to_vec(), 1..6),
    ) {
        drawn.settings.extend(["expiry: 2min", "launch_expiry: started", "task_timeout: 1min"]);
        // If a crash loses most of a job's outputs, the job may never end.
        drawn.nodes = drawn.nodes.max(4);
        drawn.slots = (drawn.slots.0.max(2), drawn.slots.1.max(2));
        let (succeeded, failed) = outcomes(&drawn.yaml(&befalls));
        prop_assert_eq!(succeeded + failed, drawn.jobs.len() as u64);
    }

    #[test]
    fn every_job_ends_and_every_task_succeeds_once(drawn in drawn()) {
        let all = drawn.jobs.len() as u64;
        prop_assert_eq!(outcomes(&drawn.yaml(&[])), (all, 0));
    }

    #[test]
    fn lost_and_doubled_messages_change_no_outcome(drawn in drawn()) {
        let all = drawn.jobs.len() as u64;
        let faults = ["loss: 10 %", "duplication: 10 %"].map(|fault| format!("{{{fault}}}"));
        let faults = [faults[0].as_str(), faults[1].as_str()];
        prop_assert_eq!(outcomes(&drawn.yaml(&faults)), (all, 0));
    }

    #[test]
    fn dying_machines_and_failing_tasks_leave_nothing_undone(mut drawn in drawn()) {
        // Trackers are declared lost soon, and a task fails if it waits long for a slot that a
        // resumed attempt took.
        drawn.settings.extend(["expiry: 2min", "launch_expiry: started"]);
        // A tracker is blacklisted as soon as one job avoids it.
        drawn.settings.extend(["tracker_failures: 1", "tracker_faults: 1", "blacklist: true"]);
        let faults = [
            "{at: 40s, stop: node-1}",
            "{at: 25min, start: node-1}",
            "{at: 30min, stop: node-1}",
            "{at: 31min, start: node-1}",
            "{task_failures: 5 %}",
            "{loss: 5 %}",
            "{duplication: 5 %}",
        ];
        let (succeeded, failed) = outcomes(&drawn.yaml(&faults));
        prop_assert_eq!(succeeded + failed, drawn.jobs.len() as u64);
    }

    #[test]
    fn a_cluster_that_falls_apart_and_late_messages_leave_nothing_undone(
        mut drawn in drawn(),
        minutes in 1u32..20,
    ) {
        drawn.nodes = drawn.nodes.max(3);
        drawn.settings.push("expiry: 2min");
        let cut = format!("{{at: 40s, partition: {{nodes: [node-1, node-2], for: {minutes}min}}}}");
        let faults =
            [&cut, "{at: 5min, partition: {nodes: [node-3], for: 1min}}", "{delay: {share: 10 %, by: 90s}}"];
        let (succeeded, failed) = outcomes(&drawn.yaml(&faults));
        prop_assert_eq!(succeeded + failed, drawn.jobs.len() as u64);
    }

    #[test]
    fn a_jobtracker_that_dies_and_disks_that_break_leave_nothing_undone(
        mut drawn in drawn(),
        at in 20u32..200,
        pause in 1u32..300,
    ) {
        drawn.settings.push("expiry: 2min");
        let pause = format!("{{at: 1min, jobtracker: {{pause: {pause}s}}}}");
        let recovers = if drawn.line == "mumak" { "" } else { ", recover: true" };
        for recover in ["", recovers] {
            let restart = format!("{{at: {at}s, jobtracker: {{restart: 90s{recover}}}}}");
            let faults = [&restart, &pause, "{loss: 2 %}", "{duplication: 5 %}"];
            let (succeeded, failed) = outcomes(&drawn.yaml(&faults));
            prop_assert_eq!(succeeded + failed, drawn.jobs.len() as u64);
            // Here a job fails only if a restarted JobTracker does not recover it.
            prop_assert!(failed == 0 || recover.is_empty());
        }
        let disks = ["{at: 50s, disk: {nodes: [node-1]}}", "{at: 100s, disk: {nodes: [node-1]}}", &pause];
        let (succeeded, failed) = outcomes(&drawn.yaml(&disks));
        prop_assert_eq!(succeeded + failed, drawn.jobs.len() as u64);
    }

    #[test]
    fn nodes_that_come_and_go_and_are_unwell_leave_nothing_undone(mut drawn in drawn(), at in 20u32..200) {
        drawn.nodes = drawn.nodes.max(4);
        let faults = [
            "{at: 90s, join: {nodes: [node-1]}}",
            &format!("{{at: {at}s, decommission: {{nodes: [node-2, node-3], for: 2min}}}}"),
            &format!("{{at: {at}s, unhealthy: {{nodes: [node-4], for: 1min}}}}"),
            "{at: 100s, decommission: {nodes: [node-1]}}",
            "{loss: 5 %}",
        ];
        let (succeeded, failed) = outcomes(&drawn.yaml(&faults));
        prop_assert_eq!(succeeded + failed, drawn.jobs.len() as u64);
    }

    /// A killed job ends while tasks are left. Its last event may then be the end of an attempt
    /// that needs a cleanup attempt after the kill.
    #[test]
    fn a_killed_job_with_failing_tasks_leaves_nothing_undone(mut drawn in drawn(), at in 20u32..120) {
        drawn.settings.extend(["map_failures: 50 %", "reduce_failures: 50 %", "max_attempts: 2"]);
        let kill = format!("{{at: {at}s, kill: job-0}}");
        outcomes(&drawn.yaml(&[&kill, "{task_failures: 30 %}"]));
    }
}

#[test]
fn a_blacklisted_tracker_gets_no_tasks_and_the_events_tell_of_it() {
    let yaml = "
name: blacklist
hadoop: {tracker_failures: 1, tracker_faults: 2}
cluster: {nodes: 8}
workload: {jobs: [{name: a, count: 20, every: 30s, maps: 20, map_time: 10s}]}
faults: [{task_failures: 10 %}]
record: {events: true}
";
    let folder = tempfile::tempdir().unwrap();
    let run = run_into(yaml, Some(folder.path().to_owned()));
    assert!(run.verifier.unwrap().violations().is_empty());
    let events = std::fs::read_to_string(folder.path().join("events.jsonl")).unwrap();
    assert!(events.contains(r#""fact":"tracker blacklisted","node":"node-"#));
}

/// Two jobs on ten nodes that take about half an hour.
fn two_jobs(faults: &str) -> String {
    format!(
        "
name: nature
seed: 7
cluster: {{nodes: 10, racks: 2}}
workload: {{jobs: [
  {{name: a, maps: 300, reduces: 8, map_time: {{log_normal: {{mean: 40s, cv: 0.3}}}}, shuffle: 2GiB, reduce_time: 30s}},
  {{name: b, maps: 60, submit: 5min, map_rate: 5MB/s}}]}}
faults: [{faults}]
"
    )
}

/// Runs a scenario with the checker on; returns when its jobs ended, in seconds, and the bytes of
/// its results.
fn ends(yaml: &str) -> (f64, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let run = run_into(yaml, Some(folder.path().to_owned()));
    let verifier = run.verifier.unwrap();
    assert!(verifier.violations().is_empty(), "{:?}\n{yaml}", verifier.violations());
    assert_eq!((run.stop, run.summary.jobs_succeeded), (StopReason::Done, 2), "{yaml}");
    let tasks = std::fs::read(folder.path().join("tasks.csv")).unwrap();
    (run.summary.makespan_s.unwrap(), tasks)
}

#[test]
fn slow_machines_and_crashes_make_a_run_longer_and_the_same_each_time() {
    let (plain, _) = ends(&two_jobs(""));
    for fault in [
        "{slow: {nodes: 30 %, cpu: 0.25}}",
        "{at: 3min, slow: {rack: rack-2, cpu: 0.5, for: 10min}}",
        "{slow: {disk: 0.05}}",
        "{slow_spells: {every: {exponential: {mean: 5min}}, for: 3min, cpu: 0.3}}",
        "{crashes: {mtbf: {exponential: {mean: 30min}}, mttr: 5min}}",
        "{at: 2min, restart: {nodes: 50 %, for: 30s}}",
        "{hangs: 1 %}",
        "{out_of_memory: {share: 5 %, kind: map}}",
    ] {
        let (slower, bytes) = ends(&two_jobs(fault));
        assert!(plain < slower, "{fault}: {plain} s without, {slower} s with it");
        assert!(ends(&two_jobs(fault)).1 == bytes, "{fault}: a second run gives other bytes");
    }
}

#[test]
fn a_run_whose_machines_have_all_crashed_for_good_is_given_up() {
    let run = run(&two_jobs("{crashes: {mtbf: 2min}}"));
    assert!(matches!(run.stop, StopReason::Stalled(_)), "{:?}", run.stop);
}

#[test]
fn a_killed_job_ends_as_killed_and_leaves_nothing_behind() {
    let yaml = "
name: kill
cluster: {nodes: 4}
workload: {jobs: [{name: a, maps: 50, reduces: 2, map_time: 30s}, {name: b, maps: 4, map_time: 5s}]}
faults: [{at: 1min, kill: a}]
";
    let run = run(yaml);
    let verifier = run.verifier.unwrap();
    assert!(verifier.violations().is_empty(), "{:?}", verifier.violations());
    assert_eq!((run.summary.jobs_killed, run.summary.jobs_succeeded), (1, 1));
}
