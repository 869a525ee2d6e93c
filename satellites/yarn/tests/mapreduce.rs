//! MapReduce's own master, by worked examples.

use super::bench::{ALLOCATED, BenchRun, ENDED, capacity, fair, fifo, job, on};
use crate::tests::SlotKind::{Map, Reduce};
use crate::tests::{ContainerEnd, MapReduceTimes, MasterId, NodeId, YarnMishap};
use mumakil_base::units::{Factor, SimSpan};
use mumakil_core::protocol::RunStop;
use mumakil_runtime::Ending;

/// A shuffle of 2 s, a commit of 500 ms, and else the defaults.
fn times() -> MapReduceTimes {
    MapReduceTimes {
        shuffle: SimSpan::from_secs(2),
        commit: SimSpan::from_millis(500),
        ..MapReduceTimes::default()
    }
}

/// Returns priority, node, instant of allocation and end of work of each task of a job with
/// containers, by its place in the job's list; the last container of each.
fn tasks(run: &BenchRun) -> Vec<(i32, &str, u64, u64)> {
    let mut rows: Vec<&Vec<String>> =
        run.containers.iter().filter(|row| !row[3].is_empty()).collect();
    rows.sort_by_key(|row| row[3].parse::<u32>().unwrap());
    let last = rows.chunk_by(|one, other| one[3] == other[3]).map(|same| same.last().unwrap());
    let ms = |row: &[String], column: usize| row[column].parse().unwrap_or(0);
    last.map(|row| (row[4].parse().unwrap(), &*row[6], ms(row, ALLOCATED), ms(row, ENDED)))
        .collect()
}

// ---- its clock ----

#[test]
fn answers_are_used_at_once_and_shuffles_begin_when_maps_have_ended() {
    let start_up = SimSpan::from_millis(400);
    let job = job("a").maps(1, 5).maps(1, 9).reduces(1, 3);
    let run =
        fifo().nodes(1, 10_240, 10).job(job.mapreduce(MapReduceTimes { start_up, ..times() }));
    let run = run.run();
    // Launched at 1,100, it registers at 1,500, and calls each second from 2,500 on.
    assert_eq!(run.jobs[0][5..9], ["1500", "1500", "2500", "9500"]);
    let [_, map, _, reduce] = &run.containers[..] else { panic!("{run:?}") };
    // Allocated, acquired, launched; running and finished at the node's heartbeats; then heard of.
    assert_eq!(
        map[ALLOCATED..=17],
        ["3100", "3500", "3500", "4100", "8500", "9100", "9100", "9500"]
    );
    // The end of this map is known at 8,500, so the reduce is asked for at the next call. It waits
    // for the other map until 12,500, and takes 2 and 3 s from then on.
    assert_eq!(reduce[ALLOCATED..=ENDED], ["10100", "10500", "10500", "11100", "17500"]);
    assert_eq!(run.over(0), Some(18_000), "after the commit");
    assert_eq!(run.containers[0][ENDED..=15], ["18000", "18100"]);
}

#[test]
fn jobs_without_maps_or_without_tasks_end() {
    let bench = fifo().nodes(1, 10_240, 10).job(job("a").reduces(2, 3).mapreduce(times()));
    let run = bench.job(job("empty").mapreduce(times())).run();
    assert_eq!(run.column(1, ALLOCATED)[1..], ["4100", "4100"], "one call later than maps");
    assert_eq!((run.over(0), run.over(1)), (Some(4_100 + 5_500), Some(1_100 + 500)));
}

// ---- reduces ----

#[test]
fn slow_start_holds_reduces_back() {
    let asked = |slow_start| {
        let job = job("a").maps(10, 5).maps(10, 9).reduces(4, 3);
        let times = MapReduceTimes { slow_start, ..times() };
        let run = fifo().nodes(1, 30_720, 30).job(job.mapreduce(times)).run();
        run.jobs[0][8].parse::<u64>().unwrap()
    };
    // There is room for all from the beginning, so only slow start counts. All maps are launched at
    // 3,100. Half of them are done at 8,100, and all at 12,100.
    assert_eq!([0.0, 0.5, 0.55, 1.0].map(asked), [3_100, 9_100, 13_100, 13_100]);
}

#[test]
fn reduces_ramp_up_by_their_part_of_the_room() {
    let job = job("a").maps(20, 5).reduces(4, 3).mapreduce(times());
    let run = fifo().nodes(1, 5_120, 10).job(job).run();
    // The job has room for four tasks. Four maps end each 5 s, or as many as there are. Eight of 20
    // leave 0.4 of 4,096 MiB, one reduce; twelve 0.6, but half at most, two. They are asked for one
    // call later, and get the room of the next maps that end. When the last map has a container, at
    // 33,100, the other two are asked for, and take the room that is left, and that of the last map.
    let reduces = tasks(&run).split_off(20);
    let expected = [18_100, 23_100, 35_100, 38_100].map(|at| (10, "n000", at, 43_100));
    assert_eq!(reduces, expected, "all end 5 s after the last map");
    let at_once = [3_100, 8_100, 13_100, 18_100, 23_100, 28_100, 33_100]
        .map(|at| tasks(&run)[..20].iter().filter(|task| task.2 == at).count());
    assert_eq!(at_once, [4, 4, 4, 3, 2, 2, 1]);
}

#[test]
fn reduces_give_way_to_maps_that_are_done_again() {
    // Two maps fill the second node, three reduces wait for them beside the master on the first.
    let stuck = |times: MapReduceTimes| {
        let job = job("a").maps(2, 100).reduces(3, 3);
        let bench = fifo().nodes(1, 4_096, 10).nodes(1, 2_048, 2);
        bench
            .job(job.mapreduce(MapReduceTimes { slow_start: 0.0, ..times }))
            .expiry(30, 600, 600)
            .fault(20_000, YarnMishap::NodeStops(NodeId(1)))
            .until(400)
            .run()
    };
    let run = stuck(times());
    // The node is given up at 50,000, and the maps are asked for again at 51,100 with priority 5.
    // There is no headroom: half of the 3,072 MiB of the reduces must go, which are two containers.
    let failed: Vec<_> =
        run.ended(ContainerEnd::Failed).iter().map(|it| (it.0.number, it.1)).collect();
    assert_eq!(failed, [(4, 52_100), (5, 52_100)], "in the heartbeat of the node");
    let expected = [
        (5, "n000", 52_100, 152_100),
        (5, "n000", 52_100, 152_100),
        (10, "n000", 152_100, 157_100),
        (10, "n000", 152_100, 157_100),
        (10, "n000", 4_100, 157_100),
    ];
    assert_eq!(tasks(&run), expected);
    // With room for one only, the reduces give up one at a time.
    let modest = stuck(MapReduceTimes { preemption_limit: 0.1, ..times() });
    assert_eq!(modest.ended(ContainerEnd::Failed).len(), 1);
    assert_eq!(modest.ending, Ending::Stopped(RunStop::Done));
}

// ---- containers ----

#[test]
fn a_container_goes_to_a_map_on_its_host_then_in_its_rack_then_anywhere() {
    // Hosts 0 and 2 are in one rack, host 1 is in another. All three containers come on n002.
    let on_hosts =
        [1, 0, 2].iter().fold(job("a"), |job, host| job.tasks(Map, 1, 5, 1_024, on(*host)));
    let bench = fifo().nodes(2, 1_024, 10).nodes(1, 4_096, 10);
    let run = bench.job(on_hosts.mapreduce(times())).run();
    assert_eq!(run.column(1, 6), ["n000", "n001", "n002", "n002"]);
    assert_eq!(run.column(1, 3)[1..], ["0", "2", "1"], "host, host, rack");
    let far = job("a").tasks(Map, 1, 5, 1_024, on(1)).tasks(Map, 1, 5, 1_024, on(3));
    let run = fifo().nodes(1, 4_096, 10).job(far.mapreduce(times())).run();
    assert_eq!(run.column(1, 3)[1..], ["0", "1"], "the first ones");
}

#[test]
fn containers_beyond_the_tasks_are_released() {
    // A row that changes is sent with the number that the master knows, so the container that was
    // allocated between two calls is given once more.
    let bench = fair("").nodes(3, 4_096, 4);
    let run = bench.job(job("a").maps(12, 5).reduces(4, 3).mapreduce(times())).run();
    let released = run.ended(ContainerEnd::Released);
    assert_eq!(released.iter().map(|it| it.1).collect::<Vec<_>>(), [13_100]);
    assert_eq!(run.column(1, 3)[13..], ["12", "13", "14", "15", ""]);
    let properties = [
        ("root.queues", "default"),
        ("root.default.capacity", "100"),
        ("maximum-am-resource-percent", "0.5"),
    ];
    let job = job("a").tasks(Map, 12, 5, 1_024, on(0)).tasks(Reduce, 4, 3, 1_024, on(0));
    let run = capacity(&properties).nodes(3, 4_096, 4).job(job.mapreduce(times())).run();
    assert_eq!(run.ended(ContainerEnd::Released).len(), 5);
    assert_eq!(run.over(0), Some(18_600));
}

// ---- faults ----

#[test]
fn maps_on_a_lost_node_are_done_again_even_those_that_were_done() {
    let job = job("a").maps(3, 5).maps(3, 20).reduces(1, 3).mapreduce(times());
    let bench = fifo().nodes(2, 4_096, 10).job(job).expiry(30, 600, 600);
    let run = bench.fault(12_500, YarnMishap::NodeStops(NodeId(1))).run();
    // The second node had the first four maps, three of which were done, and the reduce.
    let nodes: Vec<_> = tasks(&run).iter().map(|task| (task.0, task.1, task.2)).collect();
    let again = [52_100, 52_100, 57_100].into_iter();
    let again: Vec<_> = again.map(|at| (5, "n000", at)).collect();
    assert_eq!(nodes[..3], again);
    assert_eq!(
        nodes[3..],
        [(5, "n000", 52_100), (20, "n000", 3_100), (20, "n000", 3_100), (10, "n000", 57_100)]
    );
    assert_eq!(run.over(0), Some(77_600));
}

#[test]
fn a_new_attempt_takes_over_what_is_done() {
    let job = || job("a").maps(3, 5).maps(3, 20).reduces(1, 3).mapreduce(times());
    let bench = || fifo().nodes(2, 4_096, 10).job(job());
    let run = bench().fault(12_500, YarnMishap::MasterDies(MasterId(0))).run();
    assert_eq!(
        run.failures(),
        [(MasterId(0), "attempt", 13_100), (MasterId(0), "removed", 41_200)]
    );
    // The three short maps were done, the others begin again, and slow start is over at once.
    let allocated: Vec<u64> = tasks(&run).iter().map(|task| task.2).collect();
    assert_eq!(allocated, [2_200, 2_200, 2_200, 15_100, 15_100, 15_100, 16_100]);
    let hangs = bench().expiry(600, 30, 600).fault(12_500, YarnMishap::MasterHangs(MasterId(0)));
    let run = hangs.run();
    assert_eq!(run.failures()[0], (MasterId(0), "attempt", 50_000));
    assert!(run.over(0).is_some());
}

#[test]
fn a_task_on_a_slow_node_tells_its_end_later() {
    let job = job("a").maps(3, 5).maps(3, 20).reduces(1, 3).mapreduce(times());
    let slows = YarnMishap::NodeSlows(NodeId(1), Factor::of(2.0));
    let run = fifo().nodes(2, 4_096, 10).job(job).fault(4_100, slows).run();
    // Launched at 3,100: one second was done, the others take twice as long. The reduce begins to
    // shuffle on the same node when the last of the maps has ended.
    let ends: Vec<u64> = tasks(&run).iter().map(|task| task.3).collect();
    assert_eq!(ends, [12_100, 12_100, 12_100, 42_100, 23_100, 23_100, 52_100]);
}
