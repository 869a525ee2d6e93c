//! Tests of all policies: a job gets another priority or pool, and pools or queues are read again.

use std::sync::Arc;

use super::*;
use mumakil_core::mapred::SlotKind::Map;
use mumakil_core::mapred::{JobId, PerSlot, Policy, PolicyBench, Priority};

fn options<P: Policy>(yaml: &str) -> P::Options {
    serde_yaml::from_str(yaml).unwrap()
}

fn bench<P: Policy>(yaml: &str, map_slots: u32) -> PolicyBench<P> {
    PolicyBench::new(P::new(options::<P>(yaml)), 2, PerSlot { map: map_slots, reduce: 0 })
}

fn job<P: Policy>(bench: &mut PolicyBench<P>, pool: &str, maps: u32) -> JobId {
    bench.submit(maps, 0, |spec| (spec.pool, spec.names_pool) = (pool.into(), true))
}

/// Returns how many maps each of two equal jobs gets, if the second gets a high priority, or the
/// first a low one.
fn held_after<P: Policy>(yaml: &str, changed: usize, priority: Priority) -> [usize; 2] {
    let mut bench = bench::<P>(yaml, 4);
    let jobs = ["default", "default"].map(|pool| job(&mut bench, pool, 20));
    bench.tick();
    bench.alter(jobs[changed], Some(priority), None);
    bench.tick().fill();
    bench.held(Map, jobs)
}

#[test]
fn a_new_priority_moves_a_job_in_its_line() {
    fn check<P: Policy>(yaml: &str) {
        for (changed, priority) in [(1, Priority::VeryHigh), (0, Priority::Low)] {
            assert_eq!(held_after::<P>(yaml, changed, priority), [0, 8], "{} {yaml}", P::NAME);
        }
        assert_eq!(held_after::<P>(yaml, 1, Priority::Low), [8, 0], "{} {yaml}", P::NAME);
    }
    check::<Fifo>("{padding: 0}");
    check::<Fifo>("{padding: 0, delay: {w1: 1s, w2: 1s}}");
    check::<ByRank>("{jobs: priority}");
    check::<ByRank>("{jobs: priority, preemption: kill}");
    check::<Fair>("{variant: paper, allocations: {order: fifo}}");
    check::<Fair>("{allocations: {order: fifo}}");
    check::<ModifiedFair>("{classification: false, allocations: {order: fifo}}");
    check::<Capacity>("{allocations: {queues: {default: {supports_priority: true}}}}");
}

#[test]
fn a_priority_counts_nothing_where_it_is_not_supported() {
    assert_eq!(held_after::<Capacity>("{}", 1, Priority::VeryHigh), [8, 0]);
    assert_eq!(held_after::<NaiveFair>("{}", 1, Priority::VeryHigh), [4, 4]);
}

#[test]
fn in_fair_sharing_a_priority_is_a_weight_at_once() {
    let held = held_after::<Fair>("{variant: paper}", 1, Priority::High);
    assert!(held[0] < held[1], "{held:?}");
}

/// Four running maps of a job move with the job to another pool.
fn moves<P: Policy>(yaml: &str) {
    let mut bench = bench::<P>(yaml, 4);
    let jobs = ["a", "a"].map(|pool| job(&mut bench, pool, 4));
    bench.tick().fill();
    let told = |bench: &PolicyBench<P>| {
        let told = bench.holdings(Map).into_iter().map(|(pool, standing)| (pool, standing.held));
        ["a", "b"].map(|pool| told.clone().find(|told| told.0 == pool).map(|told| told.1))
    };
    bench.tick();
    assert_eq!(told(&bench)[0], Some(8), "{}", P::NAME);
    bench.alter(jobs[1], None, Some("b"));
    bench.tick();
    assert_eq!(told(&bench), [Some(4); 2], "{}", P::NAME);
    // The counts still add up when all has ended.
    jobs.into_iter().for_each(|job| bench.end_first(job, Map, 4));
    bench.tick();
    assert!(told(&bench).iter().flatten().all(|held| *held == 0), "{:?}", told(&bench));
}

#[test]
fn the_tasks_of_a_job_that_moves_count_in_its_new_pool() {
    moves::<Fair>("{}");
    moves::<Fair>("{variant: paper, allocations: {pools: {b: {max_maps: 5}}}}");
    moves::<Fair>("{allocations: {pools: {b: {max_jobs: 1}}}}");
    moves::<FairDeficit>("{assign_multiple: true}");
    moves::<ModifiedFair>("{classification: false}");
    let queues = "allocations: {queues: {a: {capacity: 50 %}, b: {capacity: 50 %}}}";
    for rules in ["0.20", "0.21", "1.x"] {
        let user = if rules == "1.x" { ", user_limit_factor: 9" } else { "" };
        let queues = queues.replace("50 %}", &format!("50 %{user}}}"));
        moves::<Capacity>(&format!("{{rules: '{rules}', {queues}}}"));
    }
}

/// Returns how many maps two jobs of the pools or queues `a` and `b` get, after these were read
/// again.
fn held_after_reload<P: Policy>(before: &str, after: &str) -> [usize; 2] {
    let mut bench = bench::<P>(before, 4);
    let jobs = ["a", "b"].map(|pool| job(&mut bench, pool, 20));
    bench.tick();
    bench.reload(Arc::new(options::<P>(after)));
    bench.tick().fill();
    bench.held(Map, jobs)
}

#[test]
fn pools_and_queues_that_are_read_again_have_their_new_values() {
    let pools = |a: &str| format!("{{allocations: {{pools: {{a: {{{a}}}, b: {{}}}}}}}}");
    for new in ["weight: 3", "min_maps: 6"] {
        assert_eq!(held_after_reload::<Fair>(&pools(""), &pools(new)), [6, 2], "{new}");
        assert_eq!(held_after_reload::<Fair>(&pools(new), &pools("")), [4, 4], "{new}");
    }
    let most = "max_maps: 1";
    assert_eq!(held_after_reload::<Fair>(&pools(""), &pools(most)), [1, 7]);
    assert_eq!(held_after_reload::<Fair>(&pools(most), &pools("")), [4, 4]);
    let none = "max_jobs: 0";
    assert_eq!(held_after_reload::<Fair>(&pools(none), &pools("")), [4, 4]);
    assert_eq!(held_after_reload::<Fair>(&pools(""), &pools(none)), [0, 8]);
    let nested = "{allocations: {pools: {o: {max_maps: 9, pools: {a: {}}}, b: {}}}}";
    let full = nested.replace("max_maps: 9", "max_maps: 2");
    assert_eq!(held_after_reload::<Fair>(nested, &full), [2, 6]);
    assert_eq!(held_after_reload::<Fair>(&full, nested), [4, 4]);

    // Among equal deficits the first job comes first, if it may run.
    assert_eq!(held_after_reload::<FairDeficit>(&pools(none), &pools("")), [8, 0]);
    assert_eq!(held_after_reload::<FairDeficit>(&pools(""), &pools(none)), [0, 8]);
    let plain = |a: &str| pools(a).replacen('{', "{classification: false, sorting: false, ", 1);
    assert_eq!(held_after_reload::<ModifiedFair>(&plain(most), &plain("")), [4, 4]);
    // As if the policy had begun with these pools; one round allots only half of the slots to `b`.
    let begun = held_after_reload::<ModifiedFair>(&plain(most), &plain(most));
    assert_eq!(held_after_reload::<ModifiedFair>(&plain(""), &plain(most)), begun);
    assert_eq!(begun, [1, 4]);

    let queues = |a: u32, b: u32| {
        format!(
            "{{allocations: {{queues: {{a: {{capacity: {a} %, maximum_capacity: {a} %}}, \
             b: {{capacity: {b} %}}}}}}}}"
        )
    };
    assert_eq!(held_after_reload::<Capacity>(&queues(50, 50), &queues(25, 75)), [2, 6]);
    assert_eq!(held_after_reload::<Capacity>(&queues(25, 75), &queues(50, 50)), [4, 4]);
}

#[test]
fn a_queue_that_supports_priorities_from_now_on_sorts_the_jobs_that_are_there() {
    let queue = |flag: bool| {
        format!("{{allocations: {{queues: {{default: {{supports_priority: {flag}}}}}}}}}")
    };
    for (was, now, held) in [(false, true, [0, 8]), (true, false, [8, 0])] {
        let mut bench = bench::<Capacity>(&queue(was), 4);
        let jobs = [Priority::Low, Priority::High]
            .map(|priority| bench.submit(20, 0, |spec| spec.priority = priority));
        bench.tick();
        bench.reload(Arc::new(options::<Capacity>(&queue(now))));
        bench.tick().fill();
        assert_eq!(bench.held(Map, jobs), held, "{was} to {now}");
    }
}
