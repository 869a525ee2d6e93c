//! The reasons for which applications wait, by exact spans: reason, beginning and end in
//! milliseconds, and offers of nodes in it.

use super::bench::{BenchRun, capacity, fair, fifo, job, on};
use crate::tests::SlotKind::Map;
use crate::tests::YarnWait::{
    Acquisition, Activation, Launch, Locality, Offer, QueueMaximum, Room, Share, UserLimit,
};

const QUEUES: [(&str, &str); 4] = [
    ("root.queues", "a,b"),
    ("root.a.capacity", "50"),
    ("root.b.capacity", "50"),
    ("maximum-am-resource-percent", "1.0"),
];

#[test]
fn both_heartbeats_are_waited_for_and_all_parts_add_up() {
    let run = fifo().nodes(1, 10_240, 10).job(job("a").maps(1, 5).at(2_050)).run();
    let spans = run.waits(0);
    assert_eq!(
        spans,
        [
            // The master's container, until the master asks for a map.
            (Offer, 2_050, 2_100, 1),
            (Acquisition, 2_100, 3_050, 0),
            (Launch, 3_050, 4_050, 1),
            (Offer, 4_050, 4_100, 1),
            (Acquisition, 4_100, 5_050, 0),
            (Launch, 5_050, 6_100, 1),
        ]
    );
    // The map runs from 6,050, is said to run at 6,100, and its end is looked at at 13,050.
    assert_eq!(run.over(0), Some(14_050));
    assert!(spans.windows(2).all(|two| two[0].2 == two[1].1), "no gaps");
}

#[test]
fn the_first_in_line_waits_for_room_and_the_next_for_the_first() {
    let bench = fifo().nodes(1, 4_096, 4).job(job("a").maps(3, 20)).job(job("b").maps(1, 5).at(10));
    let run = bench.until(30).run();
    // Two masters leave room for two of the three maps.
    assert_eq!(run.waits(0)[3..5], [(Offer, 3_000, 4_100, 2), (Room, 4_100, 25_100, 21)]);
    assert_eq!(run.waits(1)[3..5], [(Offer, 3_010, 3_100, 1), (Share, 3_100, 25_100, 22)]);
}

#[test]
fn the_maximum_of_a_queue_is_told_at_updates() {
    let queues = "<queue name=\"a\"><maxResources>2048 mb, 9 vcores</maxResources></queue>";
    let run = fair(queues).nodes(1, 10_240, 10).job(job("a").maps(4, 5).in_queue("a")).run();
    let expected = [
        (Offer, 3_000, 4_500, 2),
        (QueueMaximum, 4_500, 10_100, 6),
        // One has ended, another one took its place.
        (Offer, 10_100, 10_500, 0),
        (QueueMaximum, 10_500, 11_100, 1),
        (Acquisition, 11_100, 12_000, 0),
    ];
    assert_eq!(run.waits(0)[3..8], expected);
}

#[test]
fn an_application_that_may_not_run_yet_is_not_active() {
    let expected = |run: &BenchRun, at| {
        assert_eq!(run.waits(1)[..2], [(Activation, at, 13_000, 12), (Offer, 13_000, 13_100, 1)]);
    };
    let queues = "<queue name=\"a\"><maxRunningApps>1</maxRunningApps></queue>";
    let [first, second] = [0, 10].map(|ms| job("a").maps(1, 5).in_queue("a").at(ms));
    expected(&fair(queues).nodes(1, 10_240, 10).job(first).job(second).run(), 10);
    let masters = [&QUEUES[..3], &[("maximum-am-resource-percent", "0.1")]].concat();
    let [first, second] =
        [0, 1].map(|ms| job("a").tasks(Map, 1, 5, 1_024, on(0)).in_queue("a").at(ms));
    expected(&capacity(&masters).nodes(1, 10_240, 10).job(first).job(second).run(), 1);
}

#[test]
fn a_master_without_a_share_of_its_queue_is_not_active() {
    let jobs = [(3, 600), (2, 610), (2, 620)];
    let bench = jobs.iter().fold(fair("").nodes(1, 4_096, 4), |bench, (maps, ms)| {
        bench.job(job("a").maps(*maps, 20).managed().at(*ms))
    });
    let run = bench.run();
    let expected =
        [(Offer, 620, 1_100, 1), (Share, 1_100, 3_100, 2), (Activation, 3_100, 52_100, 49)];
    assert_eq!(run.waits(2)[..3], expected);
    // Its node says at 51,100 that this master has gone, when it has offered its room already.
    assert_eq!(run.over(1), Some(50_610));
}

#[test]
fn locality_is_waited_for_at_the_wrong_node() {
    let expected =
        [(Offer, 3_050, 3_100, 1), (Locality, 3_100, 3_200, 1), (Acquisition, 3_200, 4_050, 0)];
    let job = || job("a").tasks(Map, 1, 5, 1_024, on(1)).in_queue("a").at(50);
    let bench = fair("")
        .set("yarn.scheduler.fair.locality.threshold.node", "1.0")
        .set("yarn.scheduler.fair.locality.threshold.rack", "1.0");
    assert_eq!(bench.nodes(2, 10_240, 10).job(job()).run().waits(0)[3..6], expected);
    let run = capacity(&QUEUES).nodes(2, 10_240, 10).job(job()).run();
    assert_eq!(run.waits(0)[3..6], expected);
}

#[test]
fn a_node_that_is_kept_has_no_room_yet() {
    let run = fair("").nodes(1, 3_072, 3).job(job("a").maps(3, 5)).run();
    assert_eq!(run.reservations(), 1);
    let expected =
        [(Offer, 3_000, 5_100, 3), (Room, 5_100, 10_100, 5), (Acquisition, 10_100, 11_000, 0)];
    assert_eq!(run.waits(0)[3..6], expected);
}

#[test]
fn a_user_at_his_limit_waits_for_himself() {
    let bench = capacity(&QUEUES).nodes(1, 10_240, 10);
    let run = bench.job(job("a").tasks(Map, 9, 10, 1_024, on(0)).in_queue("a")).run();
    // Half of the cluster is his; he is above it with six containers.
    assert_eq!(run.allocated(1)[..7], [1_100, 3_100, 3_100, 3_100, 3_100, 3_100, 15_100]);
    assert_eq!(run.waits(0)[3..5], [(Offer, 3_000, 3_100, 1), (UserLimit, 3_100, 15_100, 12)]);
}

#[test]
fn an_application_that_no_node_can_take_waits_for_room_to_the_end() {
    let run = fifo().nodes(1, 1_024, 1).job(job("a").maps(1, 9)).until(7).run();
    assert_eq!(run.waits(0).last(), Some(&(Room, 3_100, u64::MAX, 0)));
}
