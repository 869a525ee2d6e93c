//! The modified fair scheduler's rules, each on a small cluster that the test drives step by step.

use proptest::prelude::*;

use super::*;
use mumakil_core::mapred::JobId;
use mumakil_core::mapred::SlotKind::{Map, Reduce};
use mumakil_core::mapred::{Input, PolicyBench};

/// Returns a test cluster of trackers with four map slots; no job waits for locality unless the
/// options say so.
fn bench(trackers: u32, options: &str) -> PolicyBench<ModifiedFair> {
    let delay = if options.contains("delay:") { "" } else { "delay: {w1: 0s, w2: 0s}, " };
    let options = serde_yaml::from_str(&format!("{{{delay}{options}}}")).unwrap();
    PolicyBench::new(ModifiedFair::new(options), trackers, PerSlot { map: 4, reduce: 2 })
}

/// Submits jobs, each given by its pool and its number of maps.
fn submit<const N: usize>(
    bench: &mut PolicyBench<ModifiedFair>,
    jobs: [(&str, u32); N],
) -> [JobId; N] {
    jobs.map(|(pool, maps)| bench.submit_to(pool, maps, 0))
}

/// Returns the jobs whose maps are launched when these trackers make offers in turn.
fn served<const N: usize>(bench: &mut PolicyBench<ModifiedFair>, trackers: [u32; N]) -> Vec<JobId> {
    trackers.iter().flat_map(|it| bench.offer(*it)).map(|attempt| attempt.job()).collect()
}

// ---- small jobs ----

#[test]
fn small_jobs_stand_in_line_for_the_slots_that_they_share() {
    let mut bench = bench(4, "");
    submit(&mut bench, [("a", 40), ("a", 40), ("b", 40), ("b", 40), ("c", 40), ("c", 40)]);
    let [first, second] = submit(&mut bench, [("b", 4), ("a", 4)]);
    bench.tick().fill();
    assert_eq!(bench.held(Map, [first, second]), [2, 0]);
    bench.end_first(first, Map, 1);
    bench.fill();
    assert_eq!(bench.held(Map, [first, second]), [2, 0]);
    bench.end_first(first, Map, 2);
    bench.fill();
    assert_eq!(bench.held(Map, [first, second]), [1, 1], "`first` has no waiting maps");
}

#[test]
fn slots_that_are_kept_for_small_jobs_do_not_go_to_others_round_by_round() {
    let held = |option: &str| {
        let mut bench = bench(3, &format!("delay: {{w1: 1h, w2: 0s}}, {option}"));
        let [a] = submit(&mut bench, [("a", 40)]);
        bench.tick().offer(2);
        let [b, c] = submit(&mut bench, [("a", 40), ("a", 40)]);
        // The node with the job's input has no free slot, and the job waits for it.
        let small = bench.submit(3, 0, |spec| spec.input = Some(Input::on_trackers([2; 3])));
        // A pool may always have one slot more, so with each round others came nearer to the kept slots.
        for _ in 0..4 {
            bench.tick().fill();
        }
        let [a, b, c, small] = bench.held(Map, [a, b, c, small]);
        [a + b + c, small]
    };
    assert_eq!(held("sorting: true"), [10, 0], "two of twelve slots are kept");
    assert_eq!(held("classification: false"), [12, 0]);
}

#[test]
fn a_job_that_is_small_no_longer_has_the_maximum_of_its_pool() {
    let mut bench = bench(4, "allocations: {pools: {a: {max_maps: 3}}}");
    let [big, _, _, once_small] = submit(&mut bench, [("b", 40), ("b", 40), ("b", 40), ("a", 8)]);
    bench.tick().fill();
    assert_eq!(bench.held(Map, [once_small]), [4], "half of the job's maps");
    let [small] = submit(&mut bench, [("c", 2)]);
    bench.tick();
    bench.end_first(big, Map, 2);
    bench.fill();
    assert_eq!(bench.held(Map, [small, once_small]), [1, 4], "the job keeps its slots");
    bench.end_first(once_small, Map, 2);
    bench.fill();
    assert_eq!(bench.held(Map, [small, once_small]), [1, 3]);
}

#[test]
fn a_job_that_may_not_run_is_the_smallest_all_the_same() {
    let mut bench = bench(4, "allocations: {pools: {a: {max_jobs: 1}, b: {max_maps: 1}}}");
    let [_, waits, larger, ..] =
        submit(&mut bench, [("a", 40), ("a", 2), ("b", 4), ("c", 40), ("c", 40)]);
    bench.tick().fill();
    assert_eq!(bench.held(Map, [waits, larger]), [0, 1], "`larger` is not a small job");
    let all: usize = bench.held(Map, [0, 1, 2, 3, 4].map(JobId)).iter().sum();
    assert_eq!(all, 16, "no slot is kept for `waits`");
}

// ---- free slots ----

#[test]
fn slots_that_become_free_together_are_all_taken_at_once() {
    let mut bench = bench(1, "classification: false");
    let [b, c] = submit(&mut bench, [("b", 2), ("c", 2)]);
    bench.tick().fill();
    let [a] = submit(&mut bench, [("a", 40)]);
    bench.tick().fill();
    for job in [b, c] {
        bench.end_first(job, Map, 2);
    }
    assert_eq!(bench.offer(0).len(), 4, "the offer allots the freed slots");
    assert_eq!(bench.held(Map, [a, b, c]), [4, 0, 0]);
}

#[test]
fn a_maximum_of_a_round_lets_a_pool_have_all_slots_round_by_round() {
    for (maximum, expected) in [("cap", [6, 6, 6]), ("round", [6, 12, 16])] {
        let options = format!("maximum: {maximum}, allocations: {{pools: {{a: {{max_maps: 6}}}}}}");
        let mut bench = bench(4, &format!("classification: false, {options}"));
        let [job] = submit(&mut bench, [("a", 40)]);
        let held = [(); 3].map(|()| {
            bench.tick().fill();
            bench.held(Map, [job])[0]
        });
        assert_eq!(held, expected, "{maximum}");
    }
}

proptest! {
    /// Jobs of one to four maps arrive in two pools and end. Some of them become small jobs and
    /// later cease to be small.
    #[test]
    fn counts_match_running_tasks_and_a_job_that_may_have_a_slot_gets_it(
        steps in prop::collection::vec((prop::bool::ANY, 1u32..5, 0usize..5), 1..30),
        classification in prop::bool::ANY,
    ) {
        let mut bench = bench(2, &format!("classification: {classification}"));
        let mut left = 0;
        for (number, (is_a, maps, ended)) in (0u32..).zip(steps) {
            bench.submit_to(if is_a { "a" } else { "b" }, maps, 0);
            left += maps as usize;
            for job in (0..=number).map(JobId) {
                let [held] = bench.held(Map, [job]);
                bench.end_first(job, Map, ended);
                left -= held.min(ended);
            }
            bench.tick().fill();
            let held: usize = (0..=number).map(|job| bench.held(Map, [JobId(job)])[0]).sum();
            prop_assert_eq!(bench.policy.standings.work(Map).0 as usize, held);
            prop_assert!(classification || held == left.min(8), "{} of {}", held, left);
        }
    }
}

// ---- reduces ----

#[test]
fn reduces_of_a_pool_have_an_order_of_their_own_if_it_is_asked_for() {
    for (order, expected) in [("as_maps", [2, 2]), ("srt", [0, 4])] {
        let mut bench = bench(2, &format!("classification: false, reduce_order: {order}"));
        let jobs = [(40, 4), (4, 4)].map(|(maps, reduces)| bench.submit_to("a", maps, reduces));
        bench.tick().fill();
        assert_eq!(bench.held(Reduce, jobs), expected, "{order}");
    }
}

#[test]
fn reduces_that_are_held_back_are_nothing_pending() {
    let mut bench = bench(2, "classification: false, reduce_gate: coupling");
    let [held_back, other] =
        [(4, 8), (0, 2)].map(|(maps, reduces)| bench.submit_to("a", maps, reduces));
    bench.tick().fill();
    assert_eq!(bench.held(Reduce, [held_back, other]), [0, 2]);
    bench.end_first(held_back, Map, 1);
    bench.tick().fill();
    assert_eq!(bench.held(Reduce, [held_back, other]), [2, 2], "a quarter of eight reduces");
}

// ---- waiting ----

#[test]
fn a_job_waits_no_longer_than_others_had_to() {
    for (option, waits) in [("true", 2.0), ("false", 10.0)] {
        let mut bench =
            bench(4, &format!("delay: {{w1: 10s, w2: 0s}}, delay_adjustment: {option}"));
        bench.submit(1, 0, |spec| spec.input = Some(Input::on_trackers([1])));
        bench.tick();
        assert_eq!(bench.at(0.0).offer(0), []);
        assert_eq!(bench.at(2.0).offer(1).len(), 1, "the job has waited for 2 s");
        bench.submit(1, 0, |spec| spec.input = Some(Input::on_trackers([2])));
        bench.at(20.0).tick();
        assert_eq!(bench.at(20.0).offer(0), []);
        assert_eq!(bench.at(19.9 + waits).offer(0), []);
        assert_eq!(bench.at(20.0 + waits).offer(0).len(), 1);
    }
}

// ---- priorities ----

/// Returns the jobs whose maps are launched, step by step. Job `x` has the most maps, and its input
/// is on tracker 0.
fn steps(options: &str) -> Vec<JobId> {
    let most = "assign_multiple: false, max_load_difference: 1, classification: false";
    let mut bench = bench(2, &format!("{most}, {options}"));
    bench.submit(7, 0, |spec| {
        (spec.pool, spec.input) = ("a".into(), Some(Input::on_trackers([0; 7])));
    });
    submit(&mut bench, [("a", 2)]);
    bench.tick();
    served(&mut bench, [0, 1, 0, 1, 0, 1])
}

#[test]
fn a_job_whose_input_gets_farther_falls_behind_and_rises_again_with_it() {
    let [x, y] = [0, 1].map(JobId);
    // After one map on its node and one in its rack, `x` ranks below `y`, which has no input; so
    // `y` is served until it is done.
    assert_eq!(steps("sorting: true"), [x, x, y, y, x, x]);
    assert_eq!(steps("priority_adjustment: \"off\""), [x, x, x, x, x, y]);
}

#[test]
fn a_pool_in_line_goes_by_the_priorities_that_its_jobs_came_with() {
    let x = JobId(0);
    assert_eq!(steps("allocations: {pools: {a: {order: fifo}}}"), [x; 6]);
}
