//! Nodes and masters that fail, by exact instants.

use super::bench::{ALLOCATED, Bench, BenchRun, ENDED, fair, fifo, job, on};
use crate::tests::NodeFact::{Lost, Registered, Slowed, Stopped};
use crate::tests::SlotKind::Map;
use crate::tests::YarnMishap::{MasterDies, MasterHangs, NodeReturns, NodeSlows, NodeStops};
use crate::tests::{ContainerEnd, MasterId, NodeId, YarnJob};
use mumakil_base::units::Factor;
use mumakil_core::protocol::RunStop;
use mumakil_runtime::Ending;

const JOB: MasterId = MasterId(0);
const HEARD: usize = 17;
const END: usize = 18;

/// Two maps of 5 s for each of two nodes, which fit beside the master on the first node.
fn two_and_two() -> YarnJob {
    job("a").tasks(Map, 2, 5, 1_024, on(0)).tasks(Map, 2, 5, 1_024, on(1))
}

fn sls() -> Bench {
    fifo().nodes(2, 3_072, 10).job(two_and_two())
}

fn managed() -> Bench {
    fifo().nodes(2, 3_072, 10).job(two_and_two().managed())
}

/// Returns the numbers of the containers that came to an end of a kind, and when.
fn ends(run: &BenchRun, end: ContainerEnd) -> Vec<(u32, u64)> {
    run.ended(end).into_iter().map(|(id, ms)| (id.number, ms)).collect()
}

// ---- nodes ----

#[test]
fn a_silent_node_is_given_up_at_the_next_look_after_ten_minutes() {
    let run = sls().fault(5_000, NodeStops(NodeId(1))).run();
    // Its last heartbeat was at 4,200, and looks are at 200, 400, 600, 800 s.
    assert_eq!(run.node_facts(1), [(Registered, 0), (Stopped, 5_000), (Lost, 800_000)]);
    // The launches at 5,000 came too late. The master hears of that at its next call, and looks at
    // the answer one interval later.
    assert_eq!(ends(&run, ContainerEnd::Lost), [(4, 800_000), (5, 800_000)]);
    assert_eq!(run.column(1, HEARD)[3..5], ["801000", "801000"]);
    // Both are asked for again at 801,000, and run on the other node.
    assert_eq!(run.column(1, 3)[5..], ["2", "3"]);
    assert_eq!(run.column(1, 6)[5..], ["n000", "n000"]);
    assert_eq!(run.allocated(1)[5..], [801_100, 801_100]);
    assert_eq!(run.over(0), Some(811_000));
}

#[test]
fn a_node_that_returns_in_time_registers_anew_without_its_containers() {
    let run = sls().fault(5_000, NodeStops(NodeId(1))).fault(30_000, NodeReturns(NodeId(1))).run();
    let expected = [(Registered, 0), (Stopped, 5_000), (Lost, 30_000), (Registered, 30_000)];
    assert_eq!(run.node_facts(1), expected);
    assert_eq!(ends(&run, ContainerEnd::Lost), [(4, 30_000), (5, 30_000)]);
    assert_eq!(run.column(1, HEARD)[3..5], ["31000", "31000"]);
    assert_eq!(run.over(0), Some(41_000));
}

#[test]
fn a_node_that_returns_late_takes_containers_again() {
    let run = sls()
        .fault(5_000, NodeStops(NodeId(1)))
        .fault(900_000, NodeReturns(NodeId(1)))
        .job(two_and_two().at(899_000))
        .run();
    assert_eq!(run.node_facts(1)[2..], [(Lost, 800_000), (Registered, 900_000)]);
    // It sends heartbeats at each second from 901,000 on.
    let maps: Vec<_> = run.allocated(2).into_iter().zip(run.column(2, 6)).skip(1).collect();
    assert_eq!(maps[2..], [(902_000, "n001".to_owned()), (902_000, "n001".to_owned())]);
}

#[test]
fn tasks_on_a_slow_node_take_longer_from_then_on() {
    let run = sls().fault(6_500, NodeSlows(NodeId(0), Factor::of(3.0))).run();
    assert_eq!(run.node_facts(0)[1..], [(Slowed(Factor::of(3.0)), 6_500)]);
    // Launched at 5,000 with 5 s: the 3.5 s that are left take 10.5 s.
    assert_eq!(run.column(1, ENDED)[1..], ["17000", "17000", "10000", "10000"]);
    let healed = sls()
        .fault(1_000, NodeSlows(NodeId(0), Factor::of(3.0)))
        .fault(8_000, NodeSlows(NodeId(0), Factor::ONE))
        .run();
    // 3 s of 15 s were enough for 1 s of 5 s.
    assert_eq!(healed.column(1, ENDED)[1..3], ["12000", "12000"]);
}

#[test]
fn a_lost_node_shrinks_the_cluster_for_shares_and_for_sizes() {
    let run = fair("")
        .nodes(2, 4_096, 4)
        .nodes(1, 8_192, 8)
        .fault(10, NodeStops(NodeId(2)))
        .job(job("a").tasks(Map, 1, 5, 8_192, on(0)).at(801_000))
        .run();
    // More than any node can have is asked for as the largest that one can have.
    assert_eq!(run.column(1, 7), ["1024", "4096"]);
    let shares = run.events.iter().filter_map(|event| match &event.fact {
        crate::tests::YarnFact::Share(share) if share.name == "root" => {
            Some((event.at.as_millis(), share.share.memory))
        }
        _ => None,
    });
    let shares: Vec<_> = shares.collect();
    assert_eq!(shares[..2], [(500, 16_384), (800_000, 8_192)]);
}

#[test]
fn a_run_outlives_the_loss_of_all_nodes() {
    let bench = sls().fault(5_000, NodeStops(NodeId(0))).fault(5_000, NodeStops(NodeId(1)));
    let run = bench.fault(1_000_000, NodeReturns(NodeId(0))).job(two_and_two().at(900_000)).run();
    assert_eq!(run.ending, Ending::Stopped(RunStop::Done));
    assert!(run.over(0).is_some() && run.over(1).is_some());
}

// ---- masters ----

#[test]
fn a_master_that_dies_is_started_again_and_does_all_anew() {
    let run = managed().fault(6_500, MasterDies(JOB)).run();
    // Its node says so at 7,100, and the second node has room for the next one at 7,200.
    assert_eq!(run.failures(), [(JOB, "attempt", 7_100), (JOB, "removed", 18_200)]);
    assert_eq!(ends(&run, ContainerEnd::Failed), [(1, 7_100)]);
    assert_eq!(ends(&run, ContainerEnd::Killed), [2, 3, 4, 5].map(|number| (number, 7_100)));
    assert_eq!(run.column(1, 2)[5], "am");
    assert_eq!(run.column(1, ALLOCATED)[5..7], ["7200", "8100"]);
    assert_eq!(run.column(1, 3)[6..], ["0", "1", "2", "3"]);
    assert_eq!(run.over(0), Some(18_000));
}

#[test]
fn an_application_fails_with_its_second_attempt() {
    let run = managed().fault(6_500, MasterDies(JOB)).fault(12_500, MasterDies(JOB)).run();
    let expected = [
        (JOB, "attempt", 7_100),
        (JOB, "attempt", 13_200),
        (JOB, "failed", 13_200),
        (JOB, "removed", 13_200),
    ];
    assert_eq!(run.failures(), expected);
    assert_eq!(run.over(0), None);
    assert_eq!(run.ending, Ending::Stopped(RunStop::Done));
}

#[test]
fn a_master_that_hangs_is_given_up_at_the_next_look_after_ten_minutes() {
    let run = managed().fault(6_500, MasterHangs(JOB)).run();
    assert_eq!(run.failures(), [(JOB, "attempt", 800_000), (JOB, "removed", 811_100)]);
    assert_eq!(ends(&run, ContainerEnd::Killed), [(1, 800_000)], "its tasks were done");
    assert_eq!(run.allocated(1)[5], 800_100);
    // One more that hangs is one too many.
    let run = managed().fault(6_500, MasterHangs(JOB)).fault(803_000, MasterHangs(JOB)).run();
    assert_eq!(run.failures()[1..3], [(JOB, "attempt", 1_600_000), (JOB, "failed", 1_600_000)]);
}

#[test]
fn a_master_lost_with_its_node_does_not_count_as_failed() {
    let bench = managed().fault(6_500, NodeStops(NodeId(0)));
    let run = bench.clone().run();
    assert_eq!(run.failures(), [(JOB, "attempt", 800_000), (JOB, "removed", 818_200)]);
    assert_eq!(ends(&run, ContainerEnd::Lost), [1, 2, 3].map(|number| (number, 800_000)));
    assert_eq!(run.column(1, 6)[5..], ["n001"; 5]);
    // One may die after that, but not two.
    let once = bench.clone().fault(803_500, MasterDies(JOB)).run();
    assert!(once.over(0).is_some());
    let twice = bench.fault(803_500, MasterDies(JOB)).fault(810_500, MasterDies(JOB)).run();
    assert_eq!(twice.over(0), None);
}

#[test]
fn the_master_of_sls_begins_anew_when_its_container_fails() {
    let run = sls().fault(6_500, MasterDies(JOB)).run();
    // It hears so at 8,000, looks at it at 9,000, and asks for another container.
    assert_eq!(run.column(1, HEARD)[0], "9000");
    assert_eq!(run.column(1, END)[0], "failed");
    assert_eq!(run.column(1, 2)[5], "am");
    assert_eq!(run.allocated(1)[5], 9_100);
    assert_eq!(run.failures(), [(JOB, "removed", 13_000)]);
}

#[test]
fn a_mishap_of_something_that_is_over_or_not_begun_changes_nothing() {
    let plain = managed().run();
    let early = managed().fault(500, MasterDies(JOB)).fault(0, MasterHangs(JOB));
    let late = early.fault(12_050, MasterDies(JOB)).fault(12_060, MasterHangs(JOB));
    let run = late.fault(7, NodeReturns(NodeId(1))).run();
    assert_eq!(run.containers, plain.containers);
    assert_eq!(run.jobs, plain.jobs);
}
