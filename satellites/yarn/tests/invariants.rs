//! Rules that hold in every run, checked by random ones.

use proptest::prelude::*;

use super::bench::{Bench, capacity, fair, fifo, job, on};
use crate::checker::CeilingRule;
use crate::event::{ApplicationFact, ContainerFact, NodeFact, YarnEvent, YarnFact};
use crate::tests::{
    ContainerEnd, MapReduceTimes, MasterId, NodeId, SlotKind, YarnMishap, YarnSize,
};
use mumakil_base::units::{Factor, SimSpan, SimTime};
use mumakil_core::protocol::RunStop;
use mumakil_runtime::{Ending, Transport};

/// Returns a scheduler with settings, by number.
fn scheduler(number: u32) -> Bench {
    let on = |bench: Bench, name: &str| bench.set(name, "true");
    let fair_queues = "<queue name=\"a\"><weight>2.0</weight></queue><queue name=\"b\">\
        <minResources>2048 mb, 2 vcores</minResources>\
        <minSharePreemptionTimeout>3</minSharePreemptionTimeout>\
        <maxRunningApps>2</maxRunningApps></queue>";
    let capacity_queues = [
        ("root.queues", "a,b"),
        ("root.a.capacity", "40"),
        ("root.b.capacity", "60"),
        ("root.b.maximum-capacity", "80"),
        ("root.a.user-limit-factor", "2"),
        ("root.a.minimum-user-limit-percent", "30"),
        ("maximum-am-resource-percent", "0.5"),
        ("node-locality-delay", "2"),
    ];
    match number {
        0 => fifo(),
        1 => fair(fair_queues),
        2 => on(fair(fair_queues), "yarn.scheduler.fair.assignmultiple"),
        3 => on(fair(fair_queues), "yarn.scheduler.fair.preemption"),
        4 => on(fair(fair_queues), "yarn.scheduler.fair.continuous-scheduling-enabled"),
        5 => on(fair(fair_queues), "yarn.scheduler.fair.sizebasedweight"),
        6 => fair(&format!(
            "<defaultQueueSchedulingPolicy>drf</defaultQueueSchedulingPolicy>{fair_queues}"
        )),
        7 => fair(fair_queues)
            .set("yarn.scheduler.fair.locality.threshold.node", "0.7")
            .set("yarn.scheduler.fair.locality.threshold.rack", "0.3"),
        8 => capacity(&capacity_queues),
        9 => on(capacity(&capacity_queues), "yarn.resourcemanager.scheduler.monitor.enable"),
        _ => capacity(
            &[
                &capacity_queues[..],
                &[(
                    "resource-calculator",
                    "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator",
                )],
            ]
            .concat(),
        ),
    }
}

/// A random job: queue, user, start, mode of its master, maps and reduces with the size
/// and the length of each.
type JobDraw = (u32, u32, u64, u32, u32, u32, i32, u64, u32);

fn drawn(number: u32, nodes: &[(i32, i32)], jobs: &[JobDraw]) -> Bench {
    let mut bench = scheduler(number).until(1_500);
    for (memory, cores) in nodes {
        bench = bench.nodes(1, memory * 1_024, *cores);
    }
    let all = nodes.len() as u32;
    for (queue, user, start, mode, maps, reduces, memory, secs, host) in jobs {
        // Nodes have at least 4 GB.
        let memory = memory * 512;
        let new = job("a")
            .in_queue(["a", "b"][*queue as usize])
            .of_user(["u", "v"][*user as usize])
            .at(*start)
            .tasks(SlotKind::Map, *maps, *secs, memory, on(host % all))
            .tasks(SlotKind::Map, *maps, *secs + 3, memory, on((host + 1) % all))
            .tasks(SlotKind::Reduce, *reduces, *secs, 1_024, on((host + 2) % all));
        let times = MapReduceTimes {
            start_up: SimSpan::from_millis(300 * secs),
            shuffle: SimSpan::from_secs(*secs / 2),
            commit: SimSpan::from_millis(70 * secs),
            slow_start: *secs as f32 / 40.0,
            ..MapReduceTimes::default()
        };
        bench = bench.job(match mode {
            0 => new,
            1 => new.managed(),
            _ => new.mapreduce(times),
        });
    }
    bench
}

/// A random mishap: instant in milliseconds, sort, node or job.
type MishapDraw = (u64, u32, u32);

fn with_mishaps(mut bench: Bench, nodes: u32, jobs: u32, mishaps: &[MishapDraw]) -> Bench {
    for (ms, sort, subject) in mishaps {
        let (node, job) = (NodeId(subject % nodes), MasterId(subject % jobs));
        bench = bench.fault(
            *ms,
            match sort {
                0 => YarnMishap::NodeStops(node),
                1 => YarnMishap::NodeReturns(node),
                2 => YarnMishap::NodeSlows(node, Factor::of(2.5)),
                3 => YarnMishap::MasterDies(job),
                _ => YarnMishap::MasterHangs(job),
            },
        );
    }
    bench.expiry(20, 15, 30)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    /// Each run of a bench is checked.
    #[test]
    fn the_rules_hold_under_every_scheduler_with_and_without_mishaps(
        number in 0_u32..11,
        nodes in prop::collection::vec((4_i32..12, 2_i32..12), 1..6),
        jobs in prop::collection::vec(
            (0_u32..2, 0_u32..2, 0_u64..40_000, 0_u32..4, 1_u32..8, 0_u32..5, 1_i32..9,
             1_u64..40, 0_u32..6),
            1..7,
        ),
        mishaps in prop::collection::vec((0_u64..200_000, 0_u32..5, 0_u32..60), 0..12),
    ) {
        let bench = drawn(number, &nodes, &jobs);
        let bench = with_mishaps(bench, nodes.len() as u32, jobs.len() as u32, &mishaps);
        let run = bench.clone().run();
        let actors = bench.run_over(Transport::Actors);
        prop_assert_eq!(run.containers, actors.containers, "actors differ");
        prop_assert_eq!(run.jobs, actors.jobs);
        prop_assert_eq!(run.ending, actors.ending);
    }

    /// FIFO may end by its own fault, so it is not among the schedulers here.
    #[test]
    fn a_job_alone_ends_under_every_scheduler(
        number in 1_u32..11,
        nodes in prop::collection::vec((4_i32..12, 4_i32..12), 1..6),
        job in (0_u32..2, 0_u32..2, 0_u64..40_000, 0_u32..4, 1_u32..8, 0_u32..5, 1_i32..5,
                1_u64..40, 0_u32..6),
    ) {
        let run = drawn(number, &nodes, &[job]).run();
        prop_assert_eq!(&run.ending, &Ending::Stopped(RunStop::Done));
        prop_assert!(run.over(0).is_some());
    }
}

/// A run with all that a planted mistake may need: reservations, a maximum, a lost node.
fn eventful() -> (Bench, Vec<YarnEvent>) {
    let bench = scheduler(8)
        .nodes(3, 6_144, 6)
        .expiry(20, 600, 600)
        .fault(30_000, YarnMishap::NodeStops(NodeId(2)))
        .fault(70_000, YarnMishap::NodeReturns(NodeId(2)))
        .job(job("a").in_queue("a").tasks(SlotKind::Map, 9, 20, 3_072, on(0)))
        .job(job("b").in_queue("b").tasks(SlotKind::Map, 9, 20, 1_024, on(1)).managed());
    let run = bench.clone().run();
    assert!(0 < run.reservations() && !run.ended(ContainerEnd::Lost).is_empty());
    (bench, run.events)
}

/// Returns the breaches after the events were spoiled.
fn breach(spoil: impl FnOnce(&mut Vec<YarnEvent>)) -> String {
    let (bench, mut events) = eventful();
    let mut checker = bench.checker();
    spoil(&mut events);
    checker.take(&events);
    checker.breaches().join("\n")
}

/// Returns the place of the first event of a container that is such a fact.
fn place(events: &[YarnEvent], is_it: impl Fn(&ContainerFact) -> bool) -> usize {
    let is_it = |event: &YarnEvent| matches!(&event.fact, YarnFact::Container(_, it) if is_it(it));
    events.iter().position(is_it).unwrap()
}

/// Doubles the first fact of a sort.
fn doubled(is_it: impl Fn(&ContainerFact) -> bool) -> String {
    breach(|events| {
        let at = place(events, is_it);
        let again = events[at].clone();
        events.insert(at + 1, again);
    })
}

/// Changes the limits of all queues.
fn with_ceilings(change: impl Fn(&mut CeilingRule)) -> String {
    breach(|events| {
        for event in events {
            if let YarnFact::Application(_, ApplicationFact::Placed(ceilings)) = &mut event.fact {
                ceilings.iter_mut().for_each(|ceiling| change(&mut ceiling.rule));
            }
        }
    })
}

#[test]
fn each_planted_mistake_is_noticed() {
    use ContainerFact::{
        Acquired, Allocated, Ended, Heard, Launched, Reserved, Running, Unreserved,
    };
    let has = |breach: String, text: &str| assert!(breach.contains(text), "{text}: {breach}");
    assert_eq!(breach(|_| {}), "");
    has(doubled(|it| matches!(it, Allocated(..))), "1.1 s: container 1 of application");
    has(doubled(|it| matches!(it, Allocated(..))), "is allocated out of turn");
    has(doubled(|it| matches!(it, Acquired)), "is acquired out of turn");
    has(doubled(|it| matches!(it, Launched)), "is launched out of turn");
    has(doubled(|it| matches!(it, Running)), "is running out of turn");
    has(doubled(|it| matches!(it, Heard)), "is heard out of turn");
    has(doubled(|it| matches!(it, Ended(_))), "ends twice");
    has(doubled(|it| matches!(it, Reserved(..))), "is reserved out of turn");
    has(doubled(|it| matches!(it, Unreserved(..))), "was not kept for");
    let without = |is_it: fn(&ContainerFact) -> bool| {
        breach(|events| _ = events.remove(place(events, is_it)))
    };
    has(without(|it| matches!(it, Launched)), "is running out of turn");
    has(without(|it| matches!(it, Ended(ContainerEnd::Completed))), "is heard of before its end");
    has(without(|it| matches!(it, Ended(ContainerEnd::Lost))), "is removed with 1 containers");
    let early = breach(|events| {
        let at = place(events, |it| matches!(it, Running));
        let running = events.remove(at);
        let YarnFact::Container(id, _) = running.fact else { panic!() };
        let acquired = |event: &YarnEvent| matches!(event.fact, YarnFact::Container(of, ContainerFact::Acquired) if of == id);
        let place = events.iter().position(acquired).unwrap();
        let at = events[place].at;
        events.insert(place, YarnEvent { at, ..running });
    });
    has(early, "is running out of turn");
    has(breach(|events| events.swap(0, 400)), "time runs back");
    let large = breach(|events| {
        let at = place(events, |it| matches!(it, Allocated(..)));
        let YarnFact::Container(_, Allocated(_, size, _)) = &mut events[at].fact else { panic!() };
        size.memory = 7_000;
    });
    has(large, "does not fit on node 0");
    let asked = breach(|events| {
        for event in events {
            if let YarnFact::Application(_, ApplicationFact::Asked(_, count)) = &mut event.fact {
                *count -= 1;
            }
        }
    });
    has(asked, "1.1 s: container 1 of application 1 was not asked for");
    let lost = breach(|events| {
        let fact = YarnFact::Node(NodeId(0), NodeFact::Lost);
        events.insert(4, YarnEvent { at: events[4].at, fact });
    });
    has(lost, "is on node 0, which is lost");
    let twice = breach(|events| {
        events.insert(
            0,
            YarnEvent { at: SimTime::ZERO, fact: YarnFact::Node(NodeId(0), NodeFact::Lost) },
        );
    });
    has(twice, "node 0 comes or goes twice");
    let lower = with_ceilings(|rule| {
        if let CeilingRule::Capacity { most, .. } = rule {
            *most = 0.2;
        }
    });
    has(lower, "is above its maximum");
    let modest = with_ceilings(|rule| {
        if let CeilingRule::Capacity { user: Some((_, factor)), .. } = rule {
            *factor = 0.2;
        }
    });
    has(modest, "`u` is above his limit in `root.");
    let fair = with_ceilings(|rule| *rule = CeilingRule::Fair(YarnSize::new(2_048, 99)));
    has(fair, "is above its maximum");
}
