//! Deadlines: policies by deadlines keep those that can be kept.

use std::fmt::Write as _;

use proptest::prelude::*;

use crate::hfsp::{ONE_SLOT, finishes};
use crate::{Room, rows};

/// How long the slot may be idle between two attempts, in seconds.
const BETWEEN: f64 = 0.3;

/// Arrivals and sizes, in seconds.
type Jobs = Vec<(u64, u64)>;

/// Returns when the jobs end if the present job with the highest priority is served, second by
/// second.
fn served(jobs: &[(u64, u64)], priorities: &[usize]) -> Vec<u64> {
    let mut left: Vec<u64> = jobs.iter().map(|job| job.1).collect();
    let mut ends = vec![0; jobs.len()];
    for now in 0.. {
        let present = |job: &usize| 0 < left[*job] && jobs[*job].0 <= now;
        if let Some(job) = priorities.iter().copied().find(present) {
            left[job] -= 1;
            ends[job] = now + 1;
        }
        if left.iter().all(|left| *left == 0) {
            return ends;
        }
    }
    unreachable!("each job ends")
}

/// Returns how long after their deadlines the jobs end, in seconds; below zero before them.
fn lateness(policy: &str, jobs: &[(u64, u64)], deadlines: &[u64]) -> Vec<f64> {
    let mut yaml = format!("{ONE_SLOT}scheduler: {policy}\nworkload: {{jobs: [");
    for (number, ((arrival, size), deadline)) in jobs.iter().zip(deadlines).enumerate() {
        let deadline = deadline - arrival;
        write!(
            yaml,
            "{{name: j{number}, submit: {arrival}s, maps: 1, map_time: {size}s, deadline: {deadline}s}}, "
        )
        .unwrap();
    }
    let ends = finishes(&(yaml + "]}\n"));
    ends.iter().zip(deadlines).map(|(end, deadline)| end - *deadline as f64).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Some order of the jobs keeps all deadlines, as it has made them. So does `edf`, but for the
    /// time between two attempts.
    #[test]
    fn on_one_slot_edf_keeps_all_deadlines_that_can_be_kept(
        (jobs, priorities) in prop::collection::vec((0..60_u64, 3..20_u64), 2..6)
            .prop_flat_map(|mut jobs: Jobs| {
                // Tables list jobs in the order of arrival.
                jobs.sort_unstable();
                let priorities: Vec<usize> = (0..jobs.len()).collect();
                (Just(jobs), Just(priorities).prop_shuffle())
            }),
    ) {
        let deadlines = served(&jobs, &priorities);
        let slack = BETWEEN * 2.0 * jobs.len() as f64;
        for late in lateness("{edf: {preemption: eager, suspended: {most: 9, few: 8}}}", &jobs, &deadlines) {
            prop_assert!(late <= slack, "{late} s after the deadline of {jobs:?}, {deadlines:?}");
        }
    }
}

#[test]
fn other_orders_miss_deadlines_that_edf_keeps() {
    let (jobs, deadlines) = ([(0, 30), (2, 10), (4, 5)], [60, 14, 30]);
    let missed = |policy: &str| {
        lateness(policy, &jobs, &deadlines).iter().filter(|late| 2.0 < **late).count()
    };
    assert_eq!(missed("{edf: {preemption: eager}}"), 0);
    assert_eq!(missed("fifo"), 2);
    assert_eq!(missed("{srpt: {preemption: eager}}"), 1);
    assert_eq!(missed("{rank: {jobs: -slack, preemption: eager}}"), 0);
}

/// With the slots that the upper bound asks for, and no others, a job keeps its deadline; with half the
/// time it gets more slots. Each heartbeat may cost a task a second.
#[test]
fn aria_gives_a_job_the_slots_that_its_deadline_needs() {
    let room = Room::new();
    let run = |bound: &str, deadline: u32| {
        let yaml = format!(
            "hadoop: {{line: \"1.x\", heartbeat: 500ms, setup_cleanup: false, start_up: 0s, localisation: 0s, slow_start: 1}}
cluster: {{nodes: 20, racks: 1, map_slots: 4, reduce_slots: 2}}
scheduler: {{aria: {{spare: false, bound: {bound}}}}}
workload: {{jobs: [{{name: a, maps: 160, input: 0, map_time: {{uniform: {{from: 20s, to: 40s}}}}, deadline: {deadline}s}}]}}
expect: [\"max(slots[kind=map]) >= 0\", makespan]
"
        );
        room.write("aria.yaml", &yaml);
        room.mumakil("run aria.yaml --out out --force").assert().success();
        let timeline = rows(&room.path("out/timeline.csv"));
        let slots = timeline.iter().filter_map(|row| row["running"].parse().ok());
        let took: f64 = rows(&room.path("out/jobs.csv"))[0]["sojourn_ms"].parse().unwrap();
        (slots.max().unwrap_or(0_u32), took / 1e3)
    };
    for (deadline, expected) in [(600, 9), (300, 19)] {
        let (slots, took) = run("upper", deadline);
        // (160 - 1) * 30 s / (deadline - 40 s), and more towards the end if tasks were late.
        assert!((expected..=expected + 4).contains(&slots), "{slots} slots for {deadline} s");
        assert!(took < f64::from(deadline) + 3.0, "{took} s of {deadline} s");
        let (fewer, longer) = run("lower", deadline);
        assert!(fewer <= slots && took < longer + 1.0, "{fewer} slots, {longer} s");
    }
}
