//! The rules of a run, each by a few containers.

use super::bench::{ALLOCATED, ENDED, capacity, fair, fifo, job, on};
use crate::tests::SlotKind::{Map, Reduce};
use mumakil_core::protocol::RunStop;
use mumakil_runtime::Ending;

// ---- the two clocks ----

#[test]
fn a_container_waits_for_its_node_and_then_twice_for_its_master() {
    let run = fifo().nodes(1, 10_240, 10).job(job("a").maps(1, 5).at(2_050)).run();
    assert_eq!(run.containers.len(), 2, "the master's and the map's");
    let [_, map] = &run.containers[..] else { panic!("{run:?}") };
    // Asked at 4,050 by a master that runs from then on; allocated, acquired, launched, running.
    assert_eq!(map[ALLOCATED..ENDED], ["4100", "5050", "6050", "6100"]);
    // Ended, said by the node, known to the ResourceManager, looked at by the master.
    assert_eq!(map[ENDED..=ENDED + 3], ["11050", "11100", "11100", "13050"]);
    assert_eq!(run.jobs[0][4..], ["2050", "2050", "4050", "4050", "", "13050", "14050"]);
}

#[test]
fn on_the_wall_clock_answers_really_come_later() {
    let bench = fair("").nodes(3, 10_240, 10);
    let bench =
        bench.job(job("a").maps(9, 5).reduces(2, 5)).job(job("b").maps(4, 5).at(700).managed());
    let run = bench.run_scaled(400.0);
    assert_eq!(run.ending, Ending::Stopped(RunStop::Done));
    // A node's late heartbeat may tell the end of a master only after its application has gone.
    let tasks = run.containers.iter().filter(|row| row[2] != "am" && row[18] == "completed");
    assert_eq!(tasks.count(), 9 + 2 + 4);
}

#[test]
fn reduces_are_asked_for_when_all_maps_are_done() {
    let run = fifo().nodes(1, 10_240, 10).job(job("a").maps(2, 5).reduces(1, 5)).run();
    let last_map_is_heard = run.containers[2][17].clone();
    assert_eq!(run.jobs[0][8], last_map_is_heard);
    assert_eq!(run.ending, Ending::Stopped(RunStop::Done));
}

#[test]
fn a_master_that_the_resource_manager_starts_asks_at_its_own_next_step() {
    let run = fifo().nodes(1, 10_240, 10).job(job("a").maps(1, 5).at(2_050).managed()).run();
    let [master, map] = &run.containers[..] else { panic!("{run:?}") };
    assert_eq!(master[4], "0", "its priority");
    assert_eq!(master[ALLOCATED..ENDED], ["2100", "2100", "2100", "3100"]);
    assert_eq!(run.jobs[0][5..8], ["3050", "3050", "3050"], "registered, started, maps asked");
    assert_eq!(map[ALLOCATED], "3100");
    // It unregisters one step after the last result, and leaves its node only then.
    assert_eq!(run.jobs[0][9..], ["13050", "13050"]);
    assert_eq!(master[ENDED..=ENDED + 1], ["13050", "13100"]);
}

#[test]
fn a_task_takes_the_first_container_wherever_it_is() {
    let bench = fair("").nodes(2, 10_240, 10);
    let run =
        bench.job(job("a").tasks(Map, 1, 5, 1_024, on(1)).tasks(Map, 1, 9, 1_024, on(0))).run();
    assert_eq!(run.column(1, 3)[1..], ["0", "1"]);
    assert_eq!(run.column(1, 6)[1..], ["n000", "n001"], "not where they asked to be");
}

#[test]
fn containers_that_no_task_takes_expire() {
    // The two maps are killed with the asks for them open again, and asked for once more.
    let run = preempting().run();
    let expired = run.containers.iter().filter(|row| row[18] == "expired");
    for row in expired {
        let [acquired, heard] = [11, 16].map(|column| row[column].parse::<u64>().unwrap());
        assert!(600_000 < heard - acquired && heard % 200_000 == 0, "{row:?}");
    }
}

// ---- FIFO ----

#[test]
fn fifo_fills_a_node_in_one_heartbeat() {
    let run = fifo().nodes(1, 10_240, 10).job(job("a").maps(20, 30)).run();
    let allocated = run.allocated(1);
    assert_eq!(allocated[1..10], [3_100; 9], "all that fit beside the master");
    assert!(allocated[10] > 30_000);
}

#[test]
fn fifo_ignores_cores_and_later_applications_get_the_rest() {
    let bench =
        fifo().nodes(1, 10_240, 1).job(job("a").maps(5, 30)).job(job("b").maps(20, 30).at(1));
    let run = bench.run();
    assert_eq!(run.allocated(1)[5], 3_100);
    assert_eq!(run.allocated(2)[1..4], [3_100; 3], "ten containers on one core");
}

#[test]
fn fifo_ends_where_hadoop_ends_by_a_null_pointer() {
    // Three tasks on n002 and three in the other rack. The first node takes one from n002's rack, so
    // the rack has two left when n002 takes its three.
    let tasks = job("a").tasks(Map, 3, 30, 1_024, on(2)).tasks(Map, 3, 30, 1_024, on(1));
    let bench = fifo().nodes(1, 2_048, 1).nodes(1, 1_024, 1).nodes(1, 4_096, 2);
    let run = bench.job(tasks).run();
    let fault = run.fault.expect("the node-local loop runs out of rack");
    assert!(fault.contains("null pointer") && fault.contains("n002"), "{fault}");
}

// ---- fair ----

#[test]
fn fair_gives_one_container_a_heartbeat_unless_told_otherwise() {
    let bench = || fair("").nodes(1, 10_240, 10).job(job("a").maps(9, 30));
    let one = bench().run();
    assert_eq!(one.allocated(1)[1..4], [3_100, 4_100, 5_100]);
    let many = bench().set("yarn.scheduler.fair.assignmultiple", "true").run();
    assert_eq!(many.allocated(1)[1..10], [3_100; 9]);
    let three = bench()
        .set("yarn.scheduler.fair.assignmultiple", "true")
        .set("yarn.scheduler.fair.max.assign", "3")
        .run();
    assert_eq!(three.allocated(1)[1..5], [3_100, 3_100, 3_100, 4_100]);
}

#[test]
fn fair_keeps_a_full_node_for_the_neediest() {
    let bench = fair("").nodes(1, 3_072, 3).job(job("a").maps(6, 20));
    let run = bench.run();
    assert!(0 < run.reservations());
    let numbers: Vec<u32> = run.column(1, 1).iter().map(|it| it.parse().unwrap()).collect();
    assert!(numbers.windows(2).all(|two| two[0] < two[1]), "{numbers:?}");
    assert_eq!(run.ending, Ending::Stopped(RunStop::Done));
}

#[test]
fn fair_shares_by_weight() {
    let queues = "<queue name=\"a\"><weight>1.0</weight></queue>\
        <queue name=\"b\"><weight>3.0</weight></queue>";
    let bench = fair(queues).nodes(4, 10_240, 10);
    let run = bench
        .job(job("a").maps(200, 20).in_queue("a"))
        .job(job("b").maps(200, 20).in_queue("b").at(1))
        .until(60)
        .run();
    let [a, b] = [1, 2].map(|app| run.allocated(app).len() as f64);
    assert!((2.5..3.5).contains(&(b / a)), "{b} to {a}");
}

#[test]
fn an_application_above_the_running_limit_waits_for_another_to_end() {
    let queues = "<queue name=\"a\"><maxRunningApps>1</maxRunningApps></queue>";
    let bench = fair(queues).nodes(2, 10_240, 10);
    let run = bench
        .job(job("first").maps(2, 20).in_queue("a"))
        .job(job("second").maps(2, 20).in_queue("a").at(10))
        .run();
    let first_is_over = run.over(0).unwrap();
    assert!(first_is_over <= run.allocated(2)[0], "{run:?}");
    assert!(run.over(1).is_some());
}

#[test]
fn a_users_limit_holds_across_queues() {
    let limits = "<user name=\"u\"><maxRunningApps>1</maxRunningApps></user>";
    let bench = fair(limits).nodes(2, 10_240, 10);
    let run = bench
        .job(job("first").maps(2, 20).in_queue("a"))
        .job(job("second").maps(2, 20).in_queue("b").at(10))
        .job(job("others").maps(2, 20).in_queue("b").at(10).of_user("v"))
        .run();
    assert!(run.over(0).unwrap() <= run.allocated(2)[0]);
    assert!(run.allocated(3)[0] < 3_000);
}

#[test]
fn managed_masters_share_half_of_their_queues_share() {
    let bench = fair("").nodes(1, 4_096, 4);
    let jobs = (0..4).map(|n| job("a").maps(1, 60).managed().at(600 + n));
    let run = jobs.fold(bench, super::bench::Bench::job).until(50).run();
    let masters = run.containers.iter().filter(|row| row[4] == "0");
    assert_eq!(masters.count(), 2, "2,048 of 4,096 MiB");
}

#[test]
fn continuous_scheduling_does_not_wait_for_heartbeats() {
    let run = fair("")
        .nodes(2, 10_240, 10)
        .set("yarn.scheduler.fair.continuous-scheduling-enabled", "true")
        .job(job("a").maps(4, 30).at(2_003))
        .run();
    // Asked at 2,003 and 4,003 ms. Both nodes are offered in each round of 5 ms.
    assert_eq!(run.allocated(1), [2_005, 4_005, 4_005, 4_010, 4_010]);
}

#[test]
fn fair_waits_for_locality_by_missed_offers() {
    let bench =
        || fair("").nodes(10, 10_240, 10).job(job("a").tasks(Map, 1, 5, 1_024, on(9)).at(50));
    let greedy = bench().run();
    assert_eq!(greedy.column(1, 6)[1], "n000");
    let patient = bench()
        .set("yarn.scheduler.fair.locality.threshold.node", "1.0")
        .set("yarn.scheduler.fair.locality.threshold.rack", "1.0")
        .run();
    assert_eq!(patient.column(1, 6)[1], "n009");
}

/// A queue that takes all of a small cluster, and one with a minimum share that comes later.
fn preempting() -> super::bench::Bench {
    let queues = "<queue name=\"greedy\"/><queue name=\"late\">\
        <minResources>4096 mb, 4 vcores</minResources>\
        <minSharePreemptionTimeout>5</minSharePreemptionTimeout></queue>";
    fair(queues)
        .nodes(2, 5_120, 5)
        .set("yarn.scheduler.fair.preemption", "true")
        .job(job("a").maps(40, 300).in_queue("greedy"))
        .job(job("b").maps(10, 30).in_queue("late").at(20_000))
}

#[test]
fn fair_warns_for_fifteen_seconds_and_then_kills_the_newest() {
    let run = preempting().run();
    let killed = run.killed();
    let (first, at) = killed[0];
    // Starved since 20.5 s and late after 5 s, it is looked at each 5 s.
    assert_eq!(at % 500, 0, "at an update: {killed:?}");
    assert!((40_000..60_000).contains(&at), "{killed:?}");
    let before = killed.iter().filter(|(_, when)| *when == at);
    assert!(before.clone().all(|(id, _)| id.app == first.app));
    assert_eq!(first.app.0, 1);
    assert!(run.over(1).is_some(), "the late job gets its share");
}

#[test]
fn a_queue_stays_within_its_maximum() {
    let queues = "<queue name=\"a\"><maxResources>3072 mb, 9 vcores</maxResources></queue>";
    let run = fair(queues).nodes(2, 10_240, 10).job(job("a").maps(9, 30).in_queue("a")).run();
    // Before an assignment the usage may equal the maximum: one container more fits through.
    let at_once = run.allocated(1).iter().filter(|ms| **ms < 30_000).count();
    assert_eq!(at_once, 4);
}

#[test]
fn drf_counts_the_larger_share() {
    let queues = "<defaultQueueSchedulingPolicy>drf</defaultQueueSchedulingPolicy>\
        <queue name=\"a\"/><queue name=\"b\"/>";
    let run = fair(queues)
        .nodes(4, 10_240, 40)
        .job(job("memory").tasks(Map, 60, 20, 2_048, on(50)).in_queue("a"))
        .job(job("cores").maps(60, 20).in_queue("b").at(1))
        .until(60)
        .run();
    assert!(run.allocated(1).len() < run.allocated(2).len(), "both have the same memory");
}

// ---- capacity ----

const TWO: [(&str, &str); 5] = [
    ("root.queues", "a,b"),
    ("root.a.capacity", "50"),
    ("root.b.capacity", "50"),
    ("maximum-am-resource-percent", "1.0"),
    ("root.a.user-limit-factor", "2"),
];

#[test]
fn capacity_gives_many_local_containers_but_one_other_a_heartbeat() {
    let bench = || capacity(&TWO).nodes(1, 10_240, 10);
    let local = bench().job(job("a").tasks(Map, 5, 30, 1_024, on(0)).in_queue("a")).run();
    assert_eq!(local.allocated(1)[1..6], [3_100; 5]);
    let other = bench().job(job("a").maps(3, 30).in_queue("a")).run();
    // It misses some offers first, as it has asked for places.
    let allocated = &other.allocated(1)[1..];
    assert!(allocated.windows(2).all(|two| two[0] < two[1]), "{allocated:?}");
}

#[test]
fn a_user_gets_his_part_of_the_queue_and_no_more() {
    let users = [("root.a.minimum-user-limit-percent", "50"), ("root.a.maximum-capacity", "50")];
    let settings = [&TWO[..4], &users].concat();
    let bench = capacity(&settings).nodes(2, 10_240, 10);
    let run = bench
        .job(job("u").tasks(Map, 20, 60, 1_024, on(0)).in_queue("a"))
        .job(job("v").tasks(Map, 20, 60, 1_024, on(0)).in_queue("a").of_user("v").at(1))
        .until(50)
        .run();
    // The queue has 10,240 MiB. A user may be over his half by the container that he asks for.
    let [u, v] = [1, 2].map(|app| run.allocated(app).len());
    assert!(u <= 6 && v <= 6 && u + v == 10, "{u} and {v}");
}

#[test]
fn node_locality_delay_is_counted_in_missed_offers() {
    let delayed = [&TWO[..], &[("node-locality-delay", "40")]].concat();
    // With few tasks the wait for a place is short, and a container anywhere comes first.
    let job = || job("a").tasks(Map, 10, 5, 1_024, on(2)).in_queue("a");
    let at_once = capacity(&TWO).nodes(4, 10_240, 10).job(job()).run();
    assert_eq!(at_once.column(1, 6)[1], "n000", "in the same rack");
    let later = capacity(&delayed).nodes(4, 10_240, 10).job(job()).run();
    assert_eq!(later.column(1, 6)[1], "n002");
}

#[test]
fn an_application_waits_until_the_masters_of_others_have_ended() {
    let settings = [&TWO[..3], &[("maximum-am-resource-percent", "0.1")]].concat();
    let bench = capacity(&settings).nodes(1, 10_240, 10);
    let run = bench
        .job(job("first").tasks(Map, 1, 20, 1_024, on(0)).in_queue("a"))
        .job(job("second").tasks(Map, 1, 20, 1_024, on(0)).in_queue("a").at(1))
        .run();
    assert!(run.over(0).unwrap() <= run.allocated(2)[0], "{run:?}");
}

/// Four maps and two masters on n000 leave 2 GB there, where a map of 4 GB is asked for.
fn too_full_for_a_large_map(second_node: i32) -> super::bench::Bench {
    let properties = [
        ("root.queues", "default"),
        ("root.default.capacity", "100"),
        ("maximum-am-resource-percent", "1.0"),
    ];
    capacity(&properties)
        .nodes(1, 8_192, 8)
        .nodes(1, second_node, 8)
        .job(job("small").tasks(Map, 4, 40, 1_024, on(0)))
        .job(job("large").tasks(Map, 1, 10, 4_096, on(0)).at(6_000))
}

#[test]
fn a_reservation_is_filled_when_there_is_room() {
    let run = too_full_for_a_large_map(3_072).run();
    assert_eq!(run.reservations(), 1);
    let large = &run.containers.last().unwrap();
    assert_eq!((large[6].as_str(), large[9].as_str()), ("n000", "8100"), "{large:?}");
    let small_is_over = run.containers[1][15].clone();
    assert_eq!(large[ALLOCATED], small_is_over, "in the heartbeat that tells the ends");
}

#[test]
fn a_reservation_is_given_up_for_a_container_on_another_node() {
    let run = too_full_for_a_large_map(8_192).run();
    assert_eq!(run.reservations(), 1);
    let large = &run.containers.last().unwrap();
    assert_eq!(large[6], "n001");
    // One offer there was missed in vain, while the wait for its places went on.
    assert_eq!(large[ALLOCATED], "9200");
}

#[test]
fn a_queue_that_does_not_exist_refuses_the_application() {
    let run = capacity(&TWO).nodes(1, 10_240, 10).job(job("a").maps(1, 5).in_queue("c")).run();
    assert_eq!(run.rejections, [(0, "there is no queue `c`".to_owned())]);
    assert_eq!(run.ending, Ending::Stopped(RunStop::Done));
}

#[test]
fn the_monitor_takes_from_a_queue_above_its_share() {
    let bench = capacity(&TWO).nodes(2, 10_240, 10);
    let run = bench
        .set("yarn.resourcemanager.scheduler.monitor.enable", "true")
        .set("yarn.resourcemanager.monitor.capacity.preemption.total_preemption_per_round", "1.0")
        .set("yarn.resourcemanager.monitor.capacity.preemption.natural_termination_factor", "1.0")
        .job(job("greedy").tasks(Map, 60, 600, 1_024, on(0)).in_queue("a"))
        .job(job("late").tasks(Map, 10, 30, 1_024, on(1)).in_queue("b").at(40_000))
        .run();
    let killed = run.killed();
    assert!(!killed.is_empty() && killed.iter().all(|(id, at)| id.app.0 == 1 && at % 3_000 == 0));
    assert!(run.over(1).is_some());
}

#[test]
fn the_dominant_calculator_counts_cores() {
    let dominant = "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator";
    let settings = [&TWO[..], &[("resource-calculator", dominant)]].concat();
    let job = || job("a").tasks(Reduce, 9, 30, 1_024, on(0)).in_queue("a");
    let by_memory = capacity(&TWO).nodes(1, 10_240, 4).job(job()).run();
    assert_eq!(by_memory.allocated(1).iter().filter(|ms| **ms < 20_000).count(), 10);
    let by_cores = capacity(&settings).nodes(1, 10_240, 4).job(job()).run();
    assert_eq!(by_cores.allocated(1).iter().filter(|ms| **ms < 20_000).count(), 4);
}
