//! The rules of the three Hadoop versions, tested step by step.

use super::*;
use mumakil_base::units::Bytes;
use mumakil_core::mapred::SlotKind::{Map, Reduce};
use mumakil_core::mapred::{Hadoop, Input, Launched, PolicyBench};

/// Returns a test cluster with these trackers, slots and options.
fn bench(options: &str, trackers: u32, slots: (u32, u32)) -> PolicyBench<Capacity> {
    let options = serde_yaml::from_str(options).unwrap();
    let slots = PerSlot { map: slots.0, reduce: slots.1 };
    PolicyBench::new(Capacity::new(options), trackers, slots)
}

/// Adds a job to a queue; each of its maps takes `slots` slots of 1 MiB.
fn wide(bench: &mut PolicyBench<Capacity>, queue: &str, maps: u32, slots: u64) -> JobId {
    bench.submit(maps, 0, |spec| {
        spec.pool = queue.into();
        spec.names_pool = true;
        spec.memory.map = Bytes::from_mib(slots);
    })
}

/// Submits a job of a queue, whose splits are not read.
fn arrive(bench: &mut PolicyBench<Capacity>, queue: &str) -> JobId {
    bench.submit_unread(1, 0, |job| job.pool = queue.into()).unwrap()
}

/// Adds a job of a user.
fn job_of(bench: &mut PolicyBench<Capacity>, user: &str, maps: u32) -> JobId {
    bench.submit(maps, 0, |spec| spec.user = user.into())
}

fn kinds(launched: &[Launched]) -> Vec<SlotKind> {
    launched.iter().map(|attempt| attempt.slot()).collect()
}

fn jobs(launched: &[Launched]) -> Vec<JobId> {
    launched.iter().map(|attempt| attempt.job()).collect()
}

/// Only one job may run at a time. The first one ends before the policy admits the next.
#[test]
fn a_job_that_is_not_let_in_has_that_reason() {
    let mut bench = bench("{rules: '1.x', allocations: {max_system_jobs: 1}}", 1, (1, 0));
    let [first, second] = [1, 1].map(|maps| job_of(&mut bench, "a", maps));
    let told = |bench: &PolicyBench<Capacity>| {
        bench.withheld().iter().map(|(job, _, why)| (*job, why.code())).collect::<Vec<_>>()
    };
    assert_eq!(told(&bench), [(first, "not-admitted"), (second, "not-admitted")]);
    bench.tick();
    assert_eq!(told(&bench), [(second, "job-limit")]);
    bench.offer(0);
    bench.end_first(first, Map, 1);
    assert_eq!(told(&bench), [(second, "not-admitted")]);
    bench.tick();
    assert_eq!(told(&bench), []);
}

/// One thread reads the jobs of two queues: one job of each queue in turn, without a pause. When it
/// has none, it sleeps for an interval.
#[test]
fn a_thread_reads_what_the_poller_has_chosen_at_its_own_intervals() {
    let queues = "{a: {capacity: 50 %}, b: {capacity: 50 %}}";
    let options = format!("{{rules: '1.x', allocations: {{init_threads: 1, queues: {queues}}}}}");
    let mut bench = bench(&options, 1, (1, 0)).with_hadoop(Hadoop::of(HadoopLine::V1));
    let [a, later, b, killed] = ["a", "a", "b", "b"].map(|queue| arrive(&mut bench, queue));
    assert!(bench.reads_ordered().is_empty(), "the poller has not looked");
    bench.tick();
    let ordered = bench.reads_ordered();
    assert!(ordered.len() == 1 && ordered[0].0 == a, "{ordered:?}");
    assert!(ordered[0].1 < SimSpan::from_secs(3), "{ordered:?}");
    bench.fail_job(killed);
    let now = SimSpan::ZERO;
    for (read, next) in [(a, vec![(b, now)]), (b, vec![(later, now)]), (later, vec![])] {
        bench.at(5.0).read(read);
        assert_eq!(bench.reads_ordered(), next);
    }
    let late = arrive(&mut bench, "a");
    bench.at(7.0).tick();
    assert_eq!(bench.reads_ordered(), [(late, SimSpan::from_secs(1))]);
}

#[test]
fn in_mumak_jobs_are_read_when_the_poller_chooses_them() {
    let mumak = Hadoop::of(HadoopLine::Mumak);
    let mut bench = bench("{rules: '0.21'}", 1, (1, 0)).with_hadoop(mumak);
    let jobs = [arrive(&mut bench, "a"), arrive(&mut bench, "a")];
    bench.tick();
    assert_eq!(bench.reads_ordered(), jobs.map(|job| (job, SimSpan::ZERO)));
}

/// The cluster may have four initialised jobs: queue `a` three, and each of its users two. It accepts
/// twice as many.
#[test]
fn jobs_beyond_the_limits_of_1x_are_refused() {
    let queues = "{a: {capacity: 75 %, minimum_user_limit: 50 %, accept_factor: 2, \
                  max_active_tasks_per_user: 9}, b: {capacity: 25 %}}";
    let refuses = |rules: &str, queue: &str, user: &str, maps: u32, earlier: &[&str]| {
        let options =
            format!("{{rules: '{rules}', allocations: {{max_system_jobs: 4, queues: {queues}}}}}");
        let mut bench = bench(&options, 1, (1, 0));
        let of = |spec: &mut JobSpec, user: &str, queue: &str| {
            (spec.user, spec.pool, spec.names_pool) = (user.into(), queue.into(), true);
        };
        for user in earlier {
            bench.submit(1, 0, |spec| of(spec, user, "a"));
        }
        bench.submit_unread(maps, 1, |spec| of(spec, user, queue)).err()
    };
    let four = ["x"; 4];
    let six = ["x", "x", "x", "y", "y", "z"];
    assert_eq!(refuses("1.x", "a", "x", 1, &four[..3]), None);
    assert_eq!(refuses("1.x", "a", "x", 1, &four), Some(Reason::UserFull(4)));
    assert_eq!(refuses("1.x", "a", "y", 1, &four), None);
    assert_eq!(refuses("1.x", "a", "y", 1, &six), Some(Reason::QueueFull(6)));
    assert_eq!(refuses("1.x", "b", "y", 1, &six), None);
    assert_eq!(refuses("1.x", "a", "y", 8, &[]), None);
    assert_eq!(refuses("1.x", "a", "y", 9, &six), Some(Reason::TooManyTasks(9)), "checked first");
    assert_eq!(refuses("1.x", "b", "y", 9, &[]), None);
    for rules in ["0.20", "0.21"] {
        assert_eq!(refuses(rules, "a", "x", 99, &six), None, "{rules}");
    }
}

/// In 1.x no job passes another one. A visit ends at the first job for which the queue has no room,
/// and at the first one of a user for which the user has none.
#[test]
fn in_1x_a_job_without_room_bars_the_jobs_behind_it() {
    let admitted = |limits: &str, jobs: &[(&str, u32)]| {
        let queue = format!("{{queues: {{default: {{user_limit_factor: 99, {limits}}}}}}}");
        let mut bench = bench(&format!("{{rules: '1.x', allocations: {queue}}}"), 1, (99, 0));
        let jobs: Vec<JobId> =
            jobs.iter().map(|(user, maps)| job_of(&mut bench, user, *maps)).collect();
        bench.tick().fill();
        jobs.iter().map(|job| bench.held(Map, [*job])[0]).collect::<Vec<_>>()
    };
    let jobs = [("x", 5), ("x", 4), ("x", 1), ("y", 2)];
    let of_user = "max_active_tasks: 20, max_active_tasks_per_user: 8";
    assert_eq!(admitted(of_user, &jobs), [5, 0, 0, 2], "the second and third job wait");
    let of_queue = "max_active_tasks: 8, max_active_tasks_per_user: 8";
    assert_eq!(admitted(of_queue, &jobs), [5, 0, 0, 0]);
}

/// Up to 0.21 the limit of a user applies only while another user of the queue is below its own
/// limit. Each of two users may have three of six slots; once one user has no more maps, the other
/// user may have the last slot.
#[test]
fn a_limit_that_gives_way_is_not_told() {
    let told = |rules: &str| {
        let half = "{queues: {default: {minimum_user_limit: 50 %, user_limit_factor: 0.5}}}";
        let mut bench = bench(&format!("{{rules: '{rules}', allocations: {half}}}"), 1, (6, 0));
        job_of(&mut bench, "a", 9);
        job_of(&mut bench, "b", 2);
        bench.tick();
        let told = [(); 5].map(|()| {
            bench.offer(0);
            bench.withheld()
        });
        told.map(|told| told.iter().map(|(job, _, why)| (job.0, why.code())).collect::<Vec<_>>())
    };
    let greedy = vec![(0, "user-limit")];
    assert_eq!(told("0.20"), [vec![], vec![], greedy.clone(), greedy.clone(), vec![]]);
    assert_eq!(told("1.x")[4], greedy);
}

/// In 0.20 a tracker's free slots are kept for a task of several slots, and jobs behind it are
/// refused for this reason.
#[test]
fn a_job_that_waits_for_a_wide_task_of_another_has_that_reason() {
    let queues = "allocations: {queues: {a: {capacity: 60 %}, b: {capacity: 40 %}}}";
    let options = format!("{{rules: '0.20', map_slot: 1MiB, {queues}}}");
    let mut bench = bench(&options, 1, (2, 0));
    let narrow = wide(&mut bench, "b", 3, 1);
    bench.tick();
    bench.offer(0);
    let two = wide(&mut bench, "a", 1, 2);
    bench.tick();
    bench.refused();
    assert_eq!(bench.offer(0), []);
    assert_eq!(bench.refused(), [(narrow, Map, "kept-for")], "not {two}");
}

#[test]
fn launches_of_a_heartbeat_are_as_the_line_has_them() {
    let heartbeats = |rules: &str| {
        let mut bench = bench(rules, 1, (2, 2));
        bench.submit(4, 4, |spec| spec.input = Some(Input::on_trackers([0; 4])));
        bench.tick();
        [(); 4].map(|()| kinds(&bench.offer(0)))
    };
    let one = |kind| vec![kind];
    assert_eq!(heartbeats("{rules: '0.20'}"), [one(Map), one(Reduce), one(Map), one(Reduce)]);
    let both = || vec![Reduce, Map];
    assert_eq!(heartbeats("{rules: '0.21'}"), [both(), both(), vec![], vec![]]);
    let as_many_as_fit = [vec![Map, Map, Reduce], one(Reduce), vec![], vec![]];
    assert_eq!(heartbeats("{rules: '1.x'}"), as_many_as_fit);
    let limited = "{rules: '1.x', allocations: {maps_per_heartbeat: 1}}";
    assert_eq!(heartbeats(limited), [vec![Map, Reduce], vec![Map, Reduce], vec![], vec![]]);
}

#[test]
fn a_heartbeat_of_1x_serves_the_queue_that_has_least_map_by_map() {
    let queues = "{rules: '1.x', wait_factor: 0, allocations: {queues: {a: {}, b: {}}}}";
    let mut bench = bench(queues, 1, (8, 0));
    let [a, b] = ["a", "b"].map(|queue| {
        bench.submit(8, 0, |spec| {
            (spec.pool, spec.names_pool, spec.input) =
                (queue.into(), true, Some(Input::on_trackers([0; 8])));
        })
    });
    bench.tick();
    // Equal queues keep the order in which they were last served.
    assert_eq!(jobs(&bench.offer(0)), [a, b, b, a, a, b, b, a]);
}

#[test]
fn up_to_0_21_a_user_at_its_limit_has_what_nobody_else_wants() {
    let held = |rules: &str| {
        let mut bench = bench(rules, 1, (10, 0));
        let [greedy, modest] =
            [("a", 20), ("b", 1)].map(|(user, maps)| job_of(&mut bench, user, maps));
        bench.tick().fill();
        bench.held(Map, [greedy, modest])
    };
    let half =
        "allocations: {queues: {default: {user_limit_factor: 0.5, minimum_user_limit: 50 %}}}";
    assert_eq!(held(&format!("{{rules: '0.20', {half}}}")), [9, 1]);
    assert_eq!(held(&format!("{{rules: '0.21', {half}}}")), [9, 1]);
    assert_eq!(held(&format!("{{rules: '1.x', {half}}}")), [5, 1], "half of the queue");
}

#[test]
fn users_and_each_of_them_have_a_few_jobs_that_wait_for_their_first_task() {
    let options = "{rules: '0.21', allocations: {queues: {default: {minimum_user_limit: 50 %}}}}";
    let mut bench = bench(options, 1, (100, 0));
    let mut of = |user: &str| [(); 3].map(|()| job_of(&mut bench, user, 1));
    let [a, b, c, d, e] = ["a", "b", "c", "d", "e"].map(&mut of);
    bench.tick();
    let launched = std::iter::from_fn(|| bench.offer(0).first().map(|attempt| attempt.job()));
    // Jobs of four users are admitted: of the two users that may share the queue, and of two more.
    // A user with two admitted jobs is skipped.
    let first_two = [a, b, c, d].into_iter().flat_map(|jobs| [jobs[0], jobs[1]]);
    assert_eq!(launched.collect::<Vec<_>>(), first_two.collect::<Vec<_>>());
    bench.tick().fill();
    assert_eq!(bench.held(Map, [a[2], d[2], e[0]]), [1, 1, 0], "`e` would be a fifth user");
    bench.tick().fill();
    assert_eq!(bench.held(Map, [e[0], e[1], e[2]]), [1, 1, 0]);
}

#[test]
fn up_to_0_21_whoever_stands_before_a_job_that_was_let_in_finds_its_place_free() {
    let mut bench = bench("{rules: '0.21'}", 1, (100, 0));
    let jobs = ["a", "a", "b", "c", "d", "e", "a"].map(|user| job_of(&mut bench, user, 1));
    let mut launches = |count: usize| {
        bench.tick();
        (0..count).filter_map(|_| Some(bench.offer(0).first()?.job())).collect::<Vec<_>>()
    };
    // Three users may have two jobs each. When the first job has begun, the last job is admitted,
    // since it has the same user.
    assert_eq!(launches(1), jobs[..1]);
    assert_eq!(launches(2), jobs[1..3]);
    // Now the fourth job counts, two new users are admitted, and the last job still counts.
    assert_eq!(launches(9), jobs[3..]);
}

#[test]
fn the_wait_to_be_admitted_says_nothing_of_how_long_maps_take() {
    let options = "{rules: '0.21', reduce_order: srt, srt: {running_maps: as_pending}, \
                   allocations: {queues: {default: {max_initialised_per_user: 1}}}}";
    let mut bench = bench(options, 1, (6, 1));
    let [first, second] = [2, 1].map(|reduces| bench.submit(4, reduces, |_| ()));
    bench.tick().fill();
    assert_eq!(bench.held(Map, [first, second]), [4, 0], "`second` is not admitted");
    bench.at(100.0).tick();
    bench.end_first(first, Map, 1);
    bench.fill();
    bench.at(200.0);
    bench.end_first(second, Map, 1);
    bench.end_first(first, Reduce, 1);
    // Each job has finished one map of four: the first job after 200 s, the second after 100 s.
    let reduce = bench.offer(0).into_iter().find(|attempt| attempt.slot() == Reduce);
    assert_eq!(reduce.map(|attempt| attempt.job()), Some(second));
}

#[test]
fn users_have_their_limits_under_srt_too() {
    let options = "{rules: '1.x', reduce_order: srt, \
                   allocations: {queues: {default: {user_limit_factor: 0.5}}}}";
    let mut bench = bench(options, 1, (1, 4));
    let [a, b] = ["a", "b"].map(|user| bench.submit(1, 4, |spec| spec.user = user.into()));
    bench.tick().fill();
    assert_eq!(bench.held(Reduce, [a, b]), [2, 2]);
}

const WIDE: &str = "map_slot: 1MiB, allocations: {queues: {\
                    narrow: {user_limit_factor: 9}, wide: {user_limit_factor: 9}}}";

#[test]
fn a_tracker_is_kept_until_there_is_room_for_a_wide_task() {
    for rules in ["0.20", "0.21", "1.x"] {
        let mut bench = bench(&format!("{{rules: '{rules}', {WIDE}}}"), 1, (4, 0));
        let narrow = wide(&mut bench, "narrow", 20, 1);
        bench.tick().fill();
        let wide = wide(&mut bench, "wide", 1, 3);
        bench.tick();
        for _ in 0..2 {
            bench.end_first(narrow, Map, 1);
            assert_eq!(bench.offer(0), [], "{rules}: too few slots are free");
        }
        bench.end_first(narrow, Map, 1);
        assert_eq!(jobs(&bench.offer(0)), [wide], "{rules}");
        bench.fill();
        assert_eq!(bench.held(Map, [narrow, wide]), [1, 1], "{rules}: three slots and one");
    }
}

#[test]
fn a_job_keeps_as_many_trackers_as_it_has_tasks() {
    for (rules, expected) in [("0.20", 0), ("0.21", 0), ("1.x", 1)] {
        let mut bench = bench(&format!("{{rules: '{rules}', {WIDE}}}"), 2, (4, 0));
        let narrow = wide(&mut bench, "narrow", 20, 1);
        bench.tick().fill();
        wide(&mut bench, "wide", 1, 3);
        bench.tick();
        // One slot is free on each tracker.
        for tracker in 0..2 {
            bench.ends(bench.running(tracker)[0]);
        }
        assert_eq!(bench.offer(0), [], "{rules}");
        assert_eq!(bench.offer(1).len(), expected, "{rules}: before 1.x it waits all the same");
        assert_eq!(bench.held(Map, [narrow]), [6 + expected]);
    }
}

#[test]
fn a_tracker_is_kept_for_nobody_who_needs_it_no_more() {
    for rules in ["0.21", "1.x"] {
        let mut bench = bench(&format!("{{rules: '{rules}', {WIDE}}}"), 2, (4, 0));
        let narrow = wide(&mut bench, "narrow", 20, 1);
        bench.tick().fill();
        let wide = wide(&mut bench, "wide", 1, 3);
        bench.tick();
        let [first, second] = [0, 1].map(|tracker| bench.running(tracker));
        bench.ends(first[0]);
        assert_eq!(bench.offer(0), [], "{rules}: it is kept");
        second[..3].iter().for_each(|attempt| bench.ends(*attempt));
        assert_eq!(jobs(&bench.offer(1)), [wide], "{rules}: there is room elsewhere");
        assert_eq!(jobs(&bench.offer(0)), [narrow], "{rules}");
    }
}

#[test]
fn no_tracker_is_kept_for_a_job_that_avoids_it() {
    let mut bench = bench(&format!("{{rules: '0.21', {WIDE}}}"), 9, (4, 0));
    let wide_job = wide(&mut bench, "wide", 9, 3);
    bench.tick();
    for _ in 0..4 {
        let failed = bench.offer(0)[0];
        bench.fails(failed);
    }
    let narrow = wide(&mut bench, "narrow", 20, 1);
    bench.tick();
    for _ in 0..4 {
        assert_eq!(jobs(&bench.offer(0)), [narrow]);
    }
    assert_eq!(bench.held(Map, [wide_job]), [0]);
}

#[test]
fn a_wait_that_is_said_holds_for_wide_maps_and_that_of_1x_does_not() {
    let launched = |options: &str| {
        let options = format!("{{rules: '1.x', map_slot: 1MiB, {options}}}");
        let options = serde_yaml::from_str(&options).unwrap();
        let slots = PerSlot { map: 4, reduce: 0 };
        let mut bench = PolicyBench::with_racks(Capacity::new(options), &[0, 1, 2], slots);
        bench.submit(9, 0, |spec| {
            (spec.memory.map, spec.input) = (Bytes::from_mib(2), Some(Input::on_trackers([0; 9])));
        });
        bench.tick();
        [bench.offer(1).len(), bench.offer(0).len()]
    };
    assert_eq!(launched("wait_factor: 1"), [1, 2]);
    assert_eq!(launched("delay: {w1: 1min, w2: 1min}"), [0, 2]);
}

#[test]
fn a_queue_claims_only_what_its_users_may_have() {
    let options = "{rules: '1.x', wait_factor: 0, allocations: {init_poll: 1s, queues: {\
                   lender: {user_limit_factor: 9}, \
                   owner: {user_limit_factor: 0.5, reclaim_after: 10s}}}}";
    let mut bench = bench(options, 10, (4, 0));
    let lender = wide(&mut bench, "lender", 99, 1);
    bench.tick().fill();
    let owner = wide(&mut bench, "owner", 99, 1);
    let mut killed = 0;
    for second in 0..60 {
        bench.at(f64::from(second)).tick();
        killed += bench.carry_out().len();
        bench.fill();
    }
    assert_eq!((killed, bench.held(Map, [lender, owner])), (10, [30, 10]), "a user may have ten");
}

#[test]
fn trackers_that_are_kept_are_not_killed_for() {
    let options = "{rules: '0.21', map_slot: 1MiB, allocations: {init_poll: 1s, queues: {\
                   a: {capacity: 50 %}, c: {capacity: 20 %}, \
                   owner: {capacity: 30 %, reclaim_after: 10s}}}}";
    let mut bench = bench(options, 10, (4, 0));
    let [a, c] = ["a", "c"].map(|queue| wide(&mut bench, queue, 20, 1));
    bench.tick().fill();
    let kept = wide(&mut bench, "a", 9, 4);
    bench.tick();
    for tracker in 0..3 {
        let of_c = bench.running(tracker).into_iter().find(|attempt| attempt.job() == c);
        bench.ends(of_c.unwrap());
        assert_eq!(bench.offer(tracker), [], "the slot is reserved");
    }
    let owner = wide(&mut bench, "owner", 20, 1);
    for second in 0..60 {
        bench.at(f64::from(second)).tick();
        bench.carry_out();
        bench.fill();
    }
    assert_eq!(bench.held(Map, [a, c, kept, owner]), [20, 8, 0, 9]);
}

#[test]
fn queues_are_promised_their_share_of_the_queue_around_them() {
    let promised = |options: &str| {
        let options = serde_yaml::from_str(options).unwrap();
        let promised = Capacity::promised(&options, PerSlot { map: 40, reduce: 20 }).into_iter();
        promised.map(|(name, of)| (name, of.map)).collect::<Vec<_>>()
    };
    let slots = |of: &[(&str, f64)]| -> Vec<(String, f64)> {
        of.iter().map(|(name, slots)| ((*name).to_owned(), *slots)).collect()
    };
    let queues = "{allocations: {queues: {a: {capacity: 50%, queues: {b: {}, c: {}}}, d: {}}}}";
    let wanted = slots(&[("a", 20.0), ("b", 10.0), ("c", 10.0), ("d", 20.0)]);
    assert_eq!(promised(queues), wanted);
    // Of 40 slots, 33 % are 13.2 slots, rounded to 13. Of 13.2, 33 % are 4.356, rounded to 4.
    let uneven = "{allocations: {queues: {a: {capacity: 33%, queues: {b: {capacity: 33%}}}}}}";
    assert_eq!(promised(uneven), slots(&[("a", 13.0), ("b", 4.0)]));
    assert_eq!(promised("{}"), []);
    assert_eq!(promised("{queue_by: user, allocations: {queues: {a: {}}}}"), []);
}
