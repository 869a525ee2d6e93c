//! Rules that hold in every run, checked by random ones.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::bench::{Bench, BenchRun, capacity, fair, fifo, job, on};
use crate::event::{ContainerFact, YarnFact};
use crate::{ContainerId, TaskSort, YarnSize};
use mumakil_runtime::Transport;

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

/// A random job: queue, user, start, whether its master is managed, maps and reduces with the size
/// and the length of each.
type JobDraw = (u32, u32, u64, bool, u32, u32, i32, u64, u32);

fn drawn(number: u32, nodes: &[(i32, i32)], jobs: &[JobDraw]) -> Bench {
    let mut bench = scheduler(number).until(1_500);
    for (memory, cores) in nodes {
        bench = bench.nodes(1, memory * 1_024, *cores);
    }
    let all = nodes.len() as u32;
    for (queue, user, start, is_managed, maps, reduces, memory, secs, host) in jobs {
        // Nodes have at least 4 GB.
        let memory = memory * 512;
        let new = job("a")
            .in_queue(["a", "b"][*queue as usize])
            .of_user(["u", "v"][*user as usize])
            .at(*start)
            .tasks(TaskSort::Map, *maps, *secs, memory, on(host % all))
            .tasks(TaskSort::Map, *maps, *secs + 3, memory, on((host + 1) % all))
            .tasks(TaskSort::Reduce, *reduces, *secs, 1_024, on((host + 2) % all));
        bench = bench.job(if *is_managed { new.managed() } else { new });
    }
    bench
}

/// Checks that no node gives more memory than it has, that each container goes through its states
/// in order, and that it ends at most once.
fn check(run: &BenchRun, nodes: &[(i32, i32)]) {
    let mut free: Vec<i32> = nodes.iter().map(|(memory, _)| memory * 1_024).collect();
    let mut live: BTreeMap<ContainerId, (usize, YarnSize)> = BTreeMap::new();
    let mut kept: BTreeMap<usize, ContainerId> = BTreeMap::new();
    let mut at = run.events.first().map(|event| event.at);
    for event in &run.events {
        assert!(at <= Some(event.at), "time runs back at {event:?}");
        at = Some(event.at);
        let YarnFact::Container(id, fact) = &event.fact else { continue };
        match fact {
            ContainerFact::Allocated(node, size, _) => {
                let known = live.insert(*id, (node.index(), *size));
                assert!(known.is_none(), "allocated twice: {event:?}");
                free[node.index()] -= size.memory;
                assert!(0 <= free[node.index()], "too much memory: {event:?}");
            }
            ContainerFact::Ended(_) => {
                let (node, size) = live.remove(id).expect("it ends once, and only if it lived");
                free[node] += size.memory;
            }
            ContainerFact::Acquired | ContainerFact::Running => {
                assert!(live.contains_key(id), "not live: {event:?}");
            }
            ContainerFact::Reserved(node, ..) => {
                assert_eq!(kept.insert(node.index(), *id), None, "kept twice: {event:?}");
            }
            ContainerFact::Unreserved(node, ..) => {
                assert_eq!(kept.remove(&node.index()), Some(*id), "{event:?}");
            }
            _ => {}
        }
    }
    for row in &run.containers {
        let times = row[10..14].iter().filter_map(|ms| ms.parse::<u64>().ok());
        let times: Vec<u64> = times.collect();
        assert!(times.is_sorted(), "{row:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn containers_fit_and_end_once_under_every_scheduler(
        number in 0_u32..11,
        nodes in prop::collection::vec((4_i32..12, 2_i32..12), 1..6),
        jobs in prop::collection::vec(
            (0_u32..2, 0_u32..2, 0_u64..40_000, any::<bool>(), 1_u32..8, 0_u32..5, 1_i32..9,
             1_u64..40, 0_u32..6),
            1..7,
        ),
    ) {
        let bench = drawn(number, &nodes, &jobs);
        let run = bench.clone().run();
        check(&run, &nodes);
        let actors = bench.run_over(Transport::Actors);
        prop_assert_eq!(run.containers, actors.containers, "actors differ");
        prop_assert_eq!(run.jobs, actors.jobs);
        prop_assert_eq!(run.ending, actors.ending);
    }
}
