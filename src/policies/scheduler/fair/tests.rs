//! The fair scheduler's rules, each on a small cluster that the test drives step by step.

use super::*;
use mumakil_core::mapred::SlotKind::{Map, Reduce};
use mumakil_core::mapred::{Input, Launched, PolicyBench, Priority};

/// Returns a test cluster of trackers with four map slots and two reduce slots; no job waits for
/// locality.
fn bench(trackers: u32, options: &str) -> PolicyBench<Fair> {
    let yaml = format!("{{delay: {{w1: 0s, w2: 0s}}, {options}}}");
    let options = serde_yaml::from_str(&yaml).unwrap();
    PolicyBench::new(Fair::new(options), trackers, PerSlot { map: 4, reduce: 2 })
}

/// Ticks once at each of these seconds.
fn pass(bench: &mut PolicyBench<Fair>, seconds: std::ops::RangeInclusive<u32>) {
    for second in seconds {
        bench.at(second.into()).tick().carry_out();
        bench.fill();
    }
}

// ---- shares ----

#[test]
fn equal_pools_come_by_name_whichever_was_first() {
    let mut bench = bench(1, "variant: paper");
    let [late, early] = ["b", "a"].map(|pool| bench.submit_to(pool, 9, 0));
    assert_eq!(bench.offer(0)[0].job(), early);
    assert_eq!(bench.held(Map, [late, early]), [2, 2]);
}

#[test]
fn pools_below_their_minimum_come_first_by_how_far_they_are_below() {
    let pools = "allocations: {pools: {a: {min_maps: 10}, b: {min_maps: 20}, z: {weight: 100}}}";
    let mut bench = bench(10, pools);
    let jobs = ["a", "b", "z"].map(|pool| bench.submit_to(pool, 40, 0));
    bench.tick();
    (0..3).for_each(|tracker| _ = bench.offer(tracker));
    assert_eq!(bench.held(Map, jobs), [4, 8, 0]);
    bench.fill();
    assert_eq!(bench.held(Map, jobs), [10, 20, 10]);
}

/// Both pools run two maps. `a` lacks two of four slots (a half), `b` ten of twelve.
#[test]
fn by_the_paper_the_pool_comes_first_that_lacks_most_slots() {
    for variant in ["paper", "hadoop"] {
        let pools = "allocations: {pools: {a: {min_maps: 4}, b: {min_maps: 12}}}";
        let mut bench = bench(6, &format!("variant: {variant}, {pools}"));
        let jobs = ["a", "b"].map(|pool| bench.submit_to(pool, 40, 0));
        let first: Vec<[usize; 2]> = (0..4)
            .map(|tracker| {
                bench.tick().offer(tracker);
                bench.held(Map, jobs)
            })
            .collect();
        // In proportion, each pool has its part after every offer; by slots, `b` catches up first.
        let expected = match variant {
            "paper" => vec![[0, 4], [0, 8], [2, 10], [4, 12]],
            _ => vec![[1, 3], [2, 6], [3, 9], [4, 12]],
        };
        assert_eq!(first, expected, "{variant}");
        assert_eq!(bench.held(Map, jobs), [4, 12], "{variant}");
    }
}

#[test]
fn promises_beyond_the_cluster_are_scaled_by_the_paper_and_kept_by_hadoop() {
    // The paper guarantees thirty and ten of forty slots, although `a` demands only twenty.
    for (variant, held) in [("paper", [20, 10, 10]), ("hadoop", [20, 20, 0])] {
        let pools = "allocations: {pools: {a: {min_maps: 60}, b: {min_maps: 20}}}";
        let mut bench = bench(10, &format!("variant: {variant}, {pools}"));
        let jobs =
            [("a", 20), ("b", 40), ("c", 40)].map(|(pool, maps)| bench.submit_to(pool, maps, 0));
        bench.tick().fill();
        assert_eq!(bench.held(Map, jobs), held, "{variant}");
    }
}

#[test]
fn inner_pools_share_their_parents_slots_by_weight() {
    for variant in ["paper", "hadoop"] {
        let pools = "allocations: {pools: {outer: {pools: {a: {weight: 3}, b: {}}}, c: {}}}";
        let mut bench = bench(10, &format!("variant: {variant}, {pools}"));
        let jobs = ["a", "b", "c"].map(|pool| bench.submit_to(pool, 40, 0));
        bench.tick().fill();
        assert_eq!(bench.held(Map, jobs), [15, 5, 20], "{variant}");
    }
}

#[test]
fn a_pool_is_what_a_job_names_or_its_user() {
    for (by, held) in [("pool", [20, 10, 10]), ("user", [10, 10, 20])] {
        let mut bench = bench(10, &format!("pool_by: {by}"));
        let jobs = [("a", "ann"), ("b", "ann"), ("b", "bob")].map(|(pool, user)| {
            bench.submit(40, 0, |spec| (spec.pool, spec.user) = (pool.into(), user.into()))
        });
        bench.tick().fill();
        assert_eq!(bench.held(Map, jobs), held, "by {by}");
    }
}

#[test]
fn with_weights_by_size_jobs_weigh_the_logarithm_of_what_they_demand() {
    for (weighs, held) in [(false, [6, 6]), (true, [4, 8])] {
        let mut bench = bench(3, &format!("size_based_weight: {weighs}"));
        let jobs = [15, 255].map(|maps| bench.submit_to("a", maps, 0));
        bench.tick().fill();
        assert_eq!(bench.held(Map, jobs), held, "{weighs}");
    }
}

#[test]
fn in_line_the_first_by_priority_and_arrival_takes_what_it_can() {
    let mut bench = bench(10, "allocations: {order: fifo}");
    let jobs = [Priority::Normal, Priority::Normal, Priority::High]
        .map(|priority| bench.submit(18, 0, |spec| spec.priority = priority));
    bench.tick().fill();
    assert_eq!(bench.held(Map, jobs), [18, 4, 18]);
}

#[test]
fn a_job_that_has_come_between_two_updates_waits_for_the_next_in_hadoop_only() {
    for (variant, at_once) in [("hadoop", 0), ("paper", 4)] {
        let mut bench = bench(10, &format!("variant: {variant}"));
        bench.at(0.2).submit_to("a", 40, 0);
        assert_eq!(bench.offer(0).len(), at_once, "{variant}");
        bench.tick();
        assert_eq!(bench.offer(1).len(), 4);
    }
}

#[test]
fn a_new_job_weighs_more_until_it_is_old_whatever_the_updates() {
    for (variant, seconds, held) in
        [("hadoop", 159.9, [10, 30]), ("hadoop", 160.0, [14, 26]), ("paper", 160.0, [14, 26])]
    {
        let options = format!("variant: {variant}, new_job_boost: {{duration: 60s}}");
        let mut bench = bench(10, &options);
        let [old, new] = [0.0, 100.0].map(|at| bench.at(at).submit_to("a", 40, 0));
        bench.tick().fill();
        assert_eq!(bench.held(Map, [old, new]), [10, 30], "one to three");
        bench.at(seconds).end_first(new, Map, 4);
        bench.fill();
        assert_eq!(bench.held(Map, [old, new]), held, "{variant}, {seconds} s");
    }
}

#[test]
fn a_pool_of_one_job_at_a_time_runs_the_next_when_one_has_ended() {
    let mut bench = bench(10, "allocations: {pools: {a: {max_jobs: 1}}}");
    let jobs = [4, 4].map(|maps| bench.submit_to("a", maps, 0));
    bench.tick().fill();
    assert_eq!(bench.held(Map, jobs), [4, 0]);
    bench.end_first(jobs[0], Map, 4);
    bench.tick().fill();
    assert_eq!(bench.held(Map, jobs), [0, 4]);
}

// ---- heartbeats ----

#[test]
fn a_heartbeat_brings_one_task_unless_it_may_bring_several() {
    for (several, tasks) in [(false, 1), (true, 6)] {
        let mut bench = bench(1, &format!("assign_multiple: {several}"));
        bench.submit_to("a", 40, 40);
        assert_eq!(bench.tick().offer(0).len(), tasks);
    }
}

#[test]
fn a_heartbeat_brings_no_more_of_a_kind_than_its_cap() {
    for (caps, first) in [
        ("assign_maps: 3", [3, 2]),
        ("assign_reduces: 1", [4, 1]),
        ("assign_maps: 3, assign_reduces: 1, tracker_load: current", [3, 1]),
        ("assign_maps: 9, variant: paper", [4, 2]),
    ] {
        let mut bench = bench(1, caps);
        let job = bench.submit_to("a", 40, 40);
        bench.tick().offer(0);
        assert_eq!([Map, Reduce].map(|kind| bench.held(kind, [job])[0]), first, "{caps}");
        bench.offer(0);
        assert_eq!(bench.running(0).len(), 6, "{caps}: the next heartbeat brings the rest");
    }
}

#[test]
fn a_tracker_that_has_its_part_of_the_load_gets_no_more_unless_it_may_differ() {
    for (difference, second) in [(0.0, 0), (0.25, 1)] {
        let options = format!("assign_multiple: false, max_load_difference: {difference}");
        let mut bench = bench(10, &options);
        // The job demands a quarter of all slots, so the tracker gives it one slot of four.
        bench.submit_to("a", 10, 0);
        assert_eq!(bench.tick().offer(0).len(), 1);
        assert_eq!(bench.offer(0).len(), second, "{difference}");
    }
}

#[test]
fn launches_of_the_same_heartbeat_are_load_from_1_1_on() {
    for (load, first) in [("reported", 4), ("current", 1)] {
        let mut bench = bench(10, &format!("tracker_load: {load}"));
        // The job demands a quarter of all slots, so the tracker's part is one slot of four.
        let job = bench.submit_to("a", 10, 0);
        assert_eq!(bench.tick().offer(0).len(), first, "{load}");
        bench.fill();
        let left = if first == 4 { [4, 4, 2, 0] } else { [1; 4] };
        let held = [0, 1, 2, 3].map(|tracker| bench.running(tracker).len());
        assert_eq!((held, bench.held(Map, [job])), (left, [10]), "{load}");
    }
}

#[test]
fn maps_and_reduces_come_in_turn_from_1_1_on() {
    use mumakil_core::mapred::SlotKind::{Map as M, Reduce as R};
    for (load, order) in [("reported", [M, M, M, M, R, R]), ("current", [M, R, M, R, M, M])] {
        let mut bench = bench(1, &format!("tracker_load: {load}"));
        bench.submit_to("a", 9, 9);
        let launched = bench.tick().offer(0);
        let kinds: Vec<_> = launched.iter().map(|attempt| attempt.slot()).collect();
        assert_eq!(kinds, order, "{load}");
    }
}

#[test]
fn a_tracker_gets_first_what_it_has_fewer_of() {
    for (load, order) in [("reported", vec![Reduce, Reduce]), ("current", vec![Reduce, Map])] {
        let mut bench = bench(1, &format!("tracker_load: {load}"));
        let first = bench.submit_to("a", 3, 0);
        bench.tick().fill();
        bench.end_first(first, Map, 2);
        bench.submit_to("a", 9, 9);
        let launched = bench.tick().offer(0);
        let kinds: Vec<_> = launched.iter().map(|attempt| attempt.slot()).take(2).collect();
        assert_eq!(kinds, order, "{load}");
    }
}

#[test]
fn time_outs_end_the_wait_for_locality_in_hadoop_though_nobody_is_killed_for_them() {
    for (variant, launched) in [("hadoop", 1), ("paper", 0)] {
        let yaml = format!(
            "{{variant: {variant}, delay: {{w1: 1h}}, allocations: {{min_share_after: 20s}}}}"
        );
        let options = serde_yaml::from_str(&yaml).unwrap();
        let mut bench = PolicyBench::new(Fair::new(options), 2, PerSlot { map: 1, reduce: 0 });
        bench.at(5.0).submit(1, 0, |spec| spec.input = Some(Input::on_trackers([0])));
        assert_eq!(bench.at(25.0).tick().offer(1), [], "the time-out has not passed yet");
        assert_eq!(bench.at(25.5).tick().offer(1).len(), launched, "{variant}");
    }
}

// ---- waiting for input ----

/// Returns two trackers of one map slot each, in one rack; jobs wait ten seconds for nodes with
/// their input.
fn patient(variant: &str) -> PolicyBench<Fair> {
    let yaml = format!("{{variant: {variant}, delay: {{w1: 10s, w2: 10s}}}}");
    let options: FairOptions = serde_yaml::from_str(&yaml).unwrap();
    PolicyBench::new(Fair::new(options.into()), 2, PerSlot { map: 1, reduce: 0 })
}

#[test]
fn a_job_without_a_map_to_launch_is_passed_over_all_the_same() {
    // The only map of the first job is running. The second job waits for node 0, too.
    for (variant, first_gets_it) in [("hadoop", true), ("paper", false)] {
        let mut bench = patient(variant);
        let first = bench.submit(1, 0, |spec| spec.input = Some(Input::on_trackers([0])));
        let second = bench.submit(2, 0, |spec| spec.input = Some(Input::on_trackers([0, 0])));
        let map = bench.tick().offer(0)[0];
        assert_eq!(map.job(), first);
        assert_eq!(bench.at(1.0).offer(1), []);
        // The map fails after eleven seconds. By then the second job has been passed over for long
        // enough.
        bench.at(12.0).fails(map);
        let launched = bench.offer(1)[0];
        assert_eq!(launched.job() == first, first_gets_it, "{variant}");
        assert!(first_gets_it || launched.job() == second);
    }
}

#[test]
fn a_reduce_that_is_launched_does_not_end_the_wait_of_a_job_without_a_map_to_launch() {
    let options: FairOptions = serde_yaml::from_str("{delay: {w1: 10s, w2: 10s}}").unwrap();
    let mut bench = PolicyBench::new(Fair::new(options.into()), 2, PerSlot { map: 1, reduce: 1 });
    let first = bench.submit(1, 1, |spec| spec.input = Some(Input::on_trackers([0])));
    bench.submit(2, 0, |spec| spec.input = Some(Input::on_trackers([0, 0])));
    let launched = bench.tick().offer(0);
    assert_eq!((launched.len(), launched[0].job()), (2, first), "a map and a reduce");
    assert_eq!(bench.at(1.0).offer(1), []);
    bench.at(12.0).fails(launched[0]);
    assert_eq!(bench.offer(1)[0].job(), first);
}

#[test]
fn a_job_that_has_ended_counts_until_the_next_update() {
    // Because of the stale demand of an ended job, the policy expects tasks to launch. So it asks
    // the other job, whose waiting time then grows.
    for (updates, launched) in [(false, 1), (true, 0)] {
        let mut bench = patient("hadoop");
        let jobs = [0, 1]
            .map(|node| bench.submit(1, 0, |spec| spec.input = Some(Input::on_trackers([node]))));
        let map = bench.tick().offer(0)[0];
        bench.offer(1);
        assert_eq!(bench.held(Map, jobs), [1, 1]);
        bench.at(0.3).end_first(jobs[1], Map, 1);
        if updates {
            bench.tick();
        }
        bench.at(0.4).offer(1);
        bench.at(11.0).fails(map);
        assert_eq!(bench.offer(1).len(), launched, "{updates}");
    }
}

// ---- killing ----

#[test]
fn idle_slots_that_a_pool_may_not_take_are_no_help_to_those_inside_of_it() {
    let mut bench = bench(
        10,
        "preemption: true, allocations: {pools: {outer: {max_maps: 10, pools: \
         {a1: {min_maps: 5, min_share_after: 20s}, a2: {}}}}}",
    );
    let rich = bench.submit_to("a2", 40, 0);
    pass(&mut bench, 0..=5);
    assert_eq!(bench.held(Map, [rich]), [10]);
    let starved = bench.submit_to("a1", 40, 0);
    pass(&mut bench, 6..=26);
    assert_eq!(bench.held(Map, [rich, starved]), [10, 0], "the time-out is 20 s");
    pass(&mut bench, 27..=45);
    assert_eq!(bench.held(Map, [rich, starved]), [5, 5]);
}

#[test]
fn a_pool_below_half_of_its_share_gets_all_of_it_at_the_next_round() {
    let mut bench = bench(10, "preemption: true, allocations: {fair_share_after: 20s}");
    let hog = bench.submit_to("hog", 40, 0);
    pass(&mut bench, 0..=5);
    let poor = bench.submit_to("poor", 40, 0);
    // The pool's clock is first read at 6 s; rounds of killing are at 15, 30 and 45 s.
    pass(&mut bench, 6..=29);
    assert_eq!(bench.held(Map, [hog, poor]), [40, 0]);
    pass(&mut bench, 30..=30);
    assert_eq!(bench.held(Map, [hog, poor]), [20, 20]);
}

#[test]
fn kills_that_are_only_logged_are_named_at_every_round_and_nobody_dies() {
    let options = "preemption: true, preemption_only_log: true, \
                   allocations: {fair_share_after: 20s}";
    let mut bench = bench(10, options);
    let hog = bench.submit_to("hog", 40, 0);
    pass(&mut bench, 0..=5);
    let poor = bench.submit_to("poor", 40, 0);
    pass(&mut bench, 6..=29);
    assert_eq!(bench.spared(), []);
    for rounds in [30..=44, 45..=59] {
        pass(&mut bench, rounds);
        let spared = bench.spared();
        assert!(spared.iter().all(|attempt| attempt.job() == hog));
        assert_eq!(spared.len(), 20, "half of the slots");
    }
    assert_eq!(bench.held(Map, [hog, poor]), [40, 0]);
}

#[test]
fn half_of_a_share_is_enough_for_hadoop_and_not_for_the_paper() {
    for (variant, held) in [("hadoop", [30, 10]), ("paper", [20, 20])] {
        let options = "preemption: true, allocations: {fair_share_after: 20s}";
        let mut bench = bench(10, &format!("variant: {variant}, {options}"));
        let hog = bench.submit_to("hog", 30, 0);
        pass(&mut bench, 0..=0);
        let poor = bench.submit_to("poor", 40, 0);
        pass(&mut bench, 1..=20);
        assert_eq!(bench.held(Map, [hog, poor]), [30, 10]);
        pass(&mut bench, 21..=60);
        assert_eq!(bench.held(Map, [hog, poor]), held, "{variant}");
    }
}

#[test]
fn hadoop_rounds_half_of_a_share_down() {
    for (variant, held) in [("hadoop", [3, 1]), ("paper", [1, 3])] {
        let options = "preemption: true, allocations: {fair_share_after: 20s, \
                       pools: {poor: {weight: 3}}}";
        let mut bench = bench(1, &format!("variant: {variant}, {options}"));
        let hog = bench.submit_to("hog", 3, 0);
        pass(&mut bench, 0..=0);
        // The pool's share is three of four slots; half of it, rounded down, is one slot.
        let poor = bench.submit_to("poor", 9, 0);
        pass(&mut bench, 1..=60);
        assert_eq!(bench.held(Map, [hog, poor]), held, "{variant}");
    }
}

#[test]
fn reduces_are_killed_for_reduces_and_the_latest_die_first() {
    let pools = "allocations: {pools: {poor: {min_reduces: 6, min_share_after: 5s}}}";
    let mut bench = bench(10, &format!("preemption: true, {pools}"));
    let [first, second] = [(0.0, "first"), (1.0, "second")].map(|(at, pool)| {
        let job = bench.at(at).submit_to(pool, 1, 10);
        bench.tick().fill();
        job
    });
    assert_eq!(bench.held(Reduce, [first, second]), [10, 10]);
    let poor = bench.at(2.0).submit_to("poor", 1, 10);
    bench.tick().fill();
    let killed = bench.at(15.0).tick().carry_out();
    // Three jobs share 20 slots.
    assert_eq!(killed.iter().filter(|(attempt, _)| attempt.job() == second).count(), 4);
    assert_eq!(killed.iter().filter(|(attempt, _)| attempt.job() == first).count(), 2);
    assert!(killed.iter().all(|(attempt, _)| attempt.slot() == Reduce));
    bench.fill();
    assert_eq!(bench.held(Reduce, [first, second, poor]), [8, 6, 6]);
    assert_eq!(bench.held(Map, [first, second, poor]), [1, 1, 1]);
}

#[test]
fn a_pool_that_is_promised_more_than_its_share_does_not_kill_its_own() {
    let options = "variant: paper, preemption: true, allocations: {pools: {\
                   outer: {pools: {in: {min_maps: 8, min_share_after: 5s}}}, b: {weight: 7}}}";
    let mut bench = bench(1, options);
    let jobs = ["in", "b"].map(|pool| bench.submit_to(pool, 9, 0));
    bench.tick().fill();
    assert_eq!(bench.held(Map, jobs), [1, 3], "its share is half a slot");
    for second in 0..30 {
        bench.at(second.into()).tick();
        assert_eq!(bench.carry_out(), [], "{second} s");
    }
}

/// The pool may be below its minimum share for 20 s. Its job is submitted at 10 s and is set up at
/// 25 s; rounds of killing are every second.
#[test]
fn by_the_paper_a_pool_is_starved_from_the_submission_of_its_job_on() {
    for (variant, since) in [("paper", 10), ("hadoop", 25)] {
        let options = format!(
            "variant: {variant}, preemption: true, preemption_interval: 1s, tracker_load: reported, \
             allocations: {{pools: {{poor: {{min_maps: 8, min_share_after: 20s}}}}}}"
        );
        let mut bench = bench(5, &options);
        let hog = bench.submit_to("hog", 40, 0);
        pass(&mut bench, 0..=10);
        let poor = bench.submit_unread(40, 0, |job| job.pool = "poor".into()).unwrap();
        pass(&mut bench, 11..=25);
        bench.read(poor);
        pass(&mut bench, 26..=since + 20);
        assert_eq!(bench.held(Map, [hog, poor]), [20, 0], "{variant}");
        pass(&mut bench, since + 21..=since + 22);
        assert_eq!(bench.held(Map, [hog, poor]), [12, 8], "{variant}");
    }
}

// ---- reduces by SRT ----

#[test]
fn srt_orders_the_jobs_of_a_pool_and_not_the_pools() {
    let mut bench = bench(2, "variant: paper, reduce_order: srt");
    let other = bench.submit_to("b", 1, 9);
    bench.fill();
    bench.end_first(other, Map, 1);
    let [first, second] = [(), ()].map(|()| bench.submit_to("a", 4, 2));
    bench.at(10.0).fill();
    bench.end_first(second, Map, 1);
    bench.end_first(other, Reduce, 1);
    // The job in the other pool need not wait, but it occupies all reduce slots.
    let reduces = |launched: Vec<Launched>| launched.into_iter().find(|it| it.slot() == Reduce);
    let reduce = (0..2).find_map(|tracker| reduces(bench.offer(tracker)));
    assert_eq!(reduce.map(|reduce| reduce.job()), Some(second), "not {first}");
}

#[test]
fn the_wait_under_a_limit_says_nothing_of_how_long_maps_take() {
    let options = "variant: paper, reduce_order: srt, srt: {running_maps: as_pending}, \
                   allocations: {pools: {p: {max_jobs: 2}}}";
    let mut bench = bench(1, options);
    let [filler, first, second] = [(1, 0), (4, 2), (4, 1)].map(|(m, r)| bench.submit_to("p", m, r));
    bench.tick().fill();
    assert_eq!(bench.held(Map, [filler, first, second]), [1, 3, 0]);
    bench.at(100.0).end_first(filler, Map, 1);
    bench.tick().fill();
    bench.at(200.0);
    bench.end_first(first, Map, 1);
    bench.end_first(second, Map, 1);
    bench.end_first(first, Reduce, 1);
    // Each job has finished one map of four: the first job after 200 s, the second after 100 s.
    let reduce = bench.offer(0).into_iter().find(|attempt| attempt.slot() == Reduce);
    assert_eq!(reduce.map(|reduce| reduce.job()), Some(second));
}
