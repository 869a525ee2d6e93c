//! Offers, refusals, filters and time-outs of frameworks on a few nodes.

use super::*;
use mumakil_core::mapred::{ExpectedJob, Input, PerSlot, PolicyBench};

const MAP: SlotKind = SlotKind::Map;

fn bench(options: &str, nodes: u32, slots: u32) -> PolicyBench<Offers> {
    let options = serde_yaml::from_str(options).unwrap();
    PolicyBench::new(Offers::new(options), nodes, PerSlot { map: slots, reduce: 0 })
}

#[test]
fn frameworks_share_the_slots_by_their_weights() {
    for (weights, expected) in [((1, 1), [6, 6]), ((2, 1), [8, 4]), ((1, 3), [3, 9])] {
        let (a, b) = weights;
        let options = format!("{{frameworks: {{a: {{weight: {a}}}, b: {{weight: {b}}}}}}}");
        let mut bench = bench(&options, 12, 1);
        let jobs = ["a", "b"].map(|pool| bench.submit_to(pool, 20, 0));
        bench.fill();
        assert_eq!(bench.held(MAP, jobs), expected, "{options}");
    }
}

/// A framework that waits for its input refuses a node and is not asked again for five seconds; the
/// other framework takes the slot meanwhile.
#[test]
fn a_refused_node_goes_to_others_and_comes_back_after_the_filter() {
    let mut bench = bench(
        "{frameworks: {a: {policy: {fifo: {delay: {w1: 20s, w2: 20s}}}}, b: {}}, filter: 5s}",
        2,
        1,
    );
    let a = bench.submit(2, 0, |job| {
        (job.pool, job.names_pool) = ("a".into(), true);
        job.input = Some(Input::on_trackers([1, 1]));
    });
    assert_eq!(bench.offer(0), [], "its input is on the other node");
    let b = bench.at(1.0).submit_to("b", 1, 0);
    assert_eq!(bench.offer(0)[0].job(), b);
    bench.at(2.0).end_first(b, MAP, 1);
    assert_eq!(bench.offer(1)[0].job(), a, "the node of its input");
}

/// New tasks end the filters of their framework.
#[test]
fn a_framework_with_new_tasks_is_asked_at_once() {
    let mut bench = bench("{frameworks: {a: {}}, filter: 10min}", 1, 1);
    assert_eq!(bench.offer(0), [], "there is no job");
    let a = bench.at(1.0).submit_to("a", 1, 0);
    assert_eq!(bench.offer(0)[0].job(), a);
}

/// As in Mesos, where such a framework suppresses its offers.
#[test]
fn idle_frameworks_are_offered_nothing() {
    let mut bench = bench("{frameworks: {a: {}, b: {}}, answer: 5s, filter: 1s}", 1, 1);
    let job = bench.submit_to("b", 1, 0);
    assert_eq!(bench.offer(0), [], "its framework thinks, and no other was asked before");
    assert_eq!(bench.at(5.0).offer(0)[0].job(), job);
    bench.end_first(job, MAP, 1);
    bench.offer(0);
    let job = bench.at(6.0).submit_to("a", 1, 0);
    bench.offer(0);
    assert_eq!(bench.at(11.0).offer(0)[0].job(), job, "nobody thought about the node meanwhile");
}

#[test]
fn an_offer_locks_the_node_until_it_is_answered_or_taken_back() {
    for (time_out, first, then) in [("30s", [0, 0], [1, 0]), ("3s", [0, 0], [0, 0])] {
        let options =
            format!("{{frameworks: {{a: {{}}, b: {{}}}}, answer: 5s, time_out: {time_out}}}");
        let mut bench = bench(&options, 1, 1);
        let jobs = ["a", "b"].map(|pool| bench.submit_to(pool, 1, 0));
        bench.offer(0);
        bench.at(2.0).offer(0);
        assert_eq!(bench.held(MAP, jobs), first, "{time_out}");
        bench.at(5.0).offer(0);
        assert_eq!(bench.held(MAP, jobs), then, "{time_out}");
    }
}

/// The bench asserts that launches fit into the free slots.
#[test]
fn slots_that_a_framework_has_taken_are_not_given_again() {
    let mut bench = bench("{frameworks: {a: {}, b: {}}}", 1, 4);
    let mut submit = |pool: &str, input: Input, maps| {
        bench.submit(maps, 0, |job| {
            (job.pool, job.names_pool) = (pool.into(), true);
            job.input = Some(input);
        })
    };
    let jobs =
        [submit("a", Input::on_trackers([0]), 1), submit("b", Input::on_trackers([0; 9]), 9)];
    assert_eq!(bench.offer(0).len(), 4);
    assert_eq!(bench.held(MAP, jobs), [1, 3]);
}

#[test]
fn static_frameworks_have_nodes_of_their_own() {
    let mut bench = bench("{frameworks: {a: {}, b: {weight: 3}}, sharing: static}", 8, 1);
    let [a, b] = ["a", "b"].map(|pool| bench.submit_to(pool, 20, 0));
    bench.fill();
    assert_eq!(bench.held(MAP, [a, b]), [2, 6]);
    assert!([0, 1].iter().all(|node| bench.running(*node)[0].job() == a));
}

#[test]
fn each_framework_has_a_policy_of_its_own() {
    let mut bench =
        bench("{frameworks: {a: {policy: {rank: {jobs: -maps}}}, b: {policy: fifo}}}", 4, 1);
    let [a_large, b_large] = ["a", "b"].map(|pool| bench.submit_to(pool, 9, 0));
    let [a_small, b_small] = ["a", "b"].map(|pool| bench.submit_to(pool, 5, 0));
    bench.fill();
    assert_eq!(bench.held(MAP, [a_large, a_small]), [0, 2], "the smaller job first");
    assert_eq!(bench.held(MAP, [b_large, b_small]), [2, 0], "the first job first");
}

/// Returns the complaints about these options on three nodes, if jobs name these pools.
fn told_of(pools: &[&str], options: &str) -> Vec<String> {
    let mut options: OffersOptions = serde_yaml::from_str(options).unwrap();
    let has_tasks = PerSlot { map: true, reduce: false };
    let job = |pool| ExpectedJob::new("ann", Some(pool), has_tasks, PerSlot::default());
    let site = PolicySite {
        line: mumakil_core::mapred::HadoopLine::V1,
        nodes: 3,
        slots: PerSlot { map: 9, reduce: 9 },
        most_slots: PerSlot { map: 3, reduce: 3 },
        jobs: pools.iter().map(|pool| job(*pool)).collect(),
        ..PolicySite::unknown()
    };
    let complaints = Offers::settle(&mut options, &site).into_iter();
    complaints.map(|it| format!("{}: {}", it.path.join("."), it.message)).collect()
}

#[test]
fn offers_that_are_taken_back_before_the_answer_are_told() {
    let [late] = &told_of(&[], "{frameworks: {a: {}}, answer: 31s}")[..] else { panic!() };
    assert!(late.starts_with("answer: an offer is taken back after 30s"), "{late}");
    assert_eq!(told_of(&[], "{frameworks: {a: {}}, answer: 30s}"), [""; 0]);
}

#[test]
fn a_framework_whose_part_is_less_than_a_node_is_told() {
    let options = "{frameworks: {a: {weight: 0.1}, b: {}}, sharing: static}";
    let [small] = &told_of(&["a", "b"], options)[..] else { panic!() };
    assert!(small.starts_with("frameworks.a.weight: its part"), "{small}");
    assert!(!told_of(&["b"], options).concat().contains("its part"), "it has no jobs");
    let of_others =
        told_of(&["c"], "{others: {weight: 0.1}, frameworks: {b: {}}, sharing: static}");
    assert!(of_others[0].starts_with("others.weight: its part"), "{}", of_others[0]);
}

#[test]
fn a_failed_task_without_another_node_of_its_framework_is_a_foretold_stall() {
    let told = told_of(&["a", "b"], "{frameworks: {a: {}, b: {weight: 2}}, sharing: static}");
    let [one, two] = &told[..] else { panic!("{told:?}") };
    assert!(
        one.starts_with("frameworks.a.weight: a task that has failed on the only node"),
        "{one}"
    );
    assert!(two.starts_with("frameworks.b.weight: a task that has failed on all nodes"), "{two}");
    let alone = told_of(&["a"], "{frameworks: {a: {}}, sharing: static}");
    assert_eq!(alone, [""; 0], "it has all nodes");
}

#[test]
fn wrong_policies_inside_are_told() {
    let told = |options: &str| told_of(&[], options);
    assert_eq!(told("{frameworks: {a: {policy: fair}}}"), [""; 0]);
    assert_eq!(told("{frameworks: {a: {policy: {fair: }}}}"), [""; 0], "with its defaults");
    let [unknown] = &told("{frameworks: {a: {policy: capacity}}}")[..] else { panic!() };
    assert_eq!(unknown, "frameworks.a.policy: there is no policy `capacity` for a framework");
    let [wrong] = &told("{others: {policy: {fair: {preemptoin: true}}}}")[..] else { panic!() };
    assert!(wrong.starts_with("others.policy.fair.preemptoin: unknown field"), "{wrong}");
    let [zero] = &told("{frameworks: {a: {weight: 0}}}")[..] else { panic!() };
    assert!(zero.starts_with("frameworks.a.weight"), "{zero}");
}
