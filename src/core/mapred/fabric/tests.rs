//! Tests of a fabric and the trackers on it: when does each attempt end?

use std::sync::Arc;

use super::*;
use crate::cluster::{
    ClusterSpec, FileId, Hdfs, PageCacheSpec, PerSlot, ReadRates, Topology, TrackerId,
};
use crate::mapred::cost::{ContendedResources, Costs};
use crate::mapred::event::{AttemptFact, Fact, Outcome};
use crate::mapred::hadoop::{Hadoop, HadoopLine};
use crate::mapred::heartbeat::{Directive, Heartbeat, LaunchOrder, MapsDone, Reply};
use crate::mapred::ids::{AttemptId, JobId, TaskId, TaskKind};
use crate::mapred::message::ToJobTracker;
use crate::mapred::spec::{Input, JobSpec, Split};
use crate::mapred::task_tracker::{HeartbeatManner, TaskTracker};
use mumakil_base::random::Dist;
use mumakil_base::units::{Bytes, Count, Rate, SimTime};

fn secs(secs: u64) -> SimTime {
    SimTime::from_micros(secs * 1_000_000)
}

fn map(index: u32) -> AttemptId {
    TaskId { job: JobId(0), kind: TaskKind::Map, index }.attempt(0)
}

fn reduce() -> AttemptId {
    TaskId { job: JobId(0), kind: TaskKind::Reduce, index: 0 }.attempt(0)
}

/// A job whose maps read a split of this many megabytes on node 1.
fn reading(megabytes: u64) -> JobSpec {
    let split = Split { bytes: mb(megabytes), holders: [TrackerId(0)].into() };
    JobSpec { input: Some(Input::Splits(vec![split; 20].into())), ..JobSpec::bare(0, 20, 1) }
}

/// A job whose maps compute for this many seconds.
fn computing(secs: u64) -> JobSpec {
    let mut job = JobSpec::bare(0, 20, 1);
    job.map.time = Some(SimSpan::from_secs(secs).into());
    job
}

/// A job whose reduce fetches this many megabytes.
fn fetching(megabytes: u64) -> JobSpec {
    let mut job = reading(240);
    job.reduce.shuffle = mb(megabytes).into();
    job
}

fn mb(megabytes: u64) -> Bytes {
    Bytes::new(megabytes * 1_000_000)
}

/// Trackers that send a heartbeat every second and obey orders, on a fabric.
struct World {
    job: Arc<JobSpec>,
    trackers: Vec<TaskTracker>,
    fabric: Fabric,
    hdfs: Hdfs,
    /// The messages under way, in the order in which they were sent.
    letters: Vec<(SimTime, Mail)>,
    orders: Vec<(SimTime, TrackerId, Directive)>,
    /// When the reduce learns how many maps have ended.
    maps: Vec<(SimTime, MapsDone)>,
    ends: Vec<(SimTime, AttemptId, Outcome)>,
    progress: Vec<(SimTime, AttemptId, f32)>,
}

/// Nodes with a disk of 80 MB/s, a wire of 125 MB/s and two cores for four maps and a reduce.
fn world(nodes: u32, job: JobSpec) -> World {
    world_with(nodes, job, |_| {})
}

fn world_with(nodes: u32, job: JobSpec, change: impl FnOnce(&mut ClusterSpec)) -> World {
    let text = include_str!("../../../../scenarios/clusters/default.yaml")
        .replace("model: fixed", "model: shared")
        .replace("contention: false", "contention: true")
        .replace("map_slots: 2", "map_slots: 4")
        .replace("cores: 4", "cores: 2")
        .replace("count: 4", "count: 1")
        .replace("nodes: 20", &format!("nodes: {nodes}"));
    let mut cluster: ClusterSpec = serde_yaml::from_str(&text).unwrap();
    change(&mut cluster);
    let mut hadoop = Hadoop::of(HadoopLine::V020);
    hadoop.start_up = Dist::Constant(SimSpan::ZERO);
    hadoop.progress_interval = SimSpan::ZERO;
    hadoop.copier_sleep = SimSpan::ZERO;
    let topology = Arc::new(Topology::new(&cluster));
    let hdfs = Hdfs::new(1, topology.clone(), 1, cluster.hdfs.placement.clone());
    let shared = ContendedResources::new(1, &cluster, topology.clone(), hdfs.clone());
    let fabric = Fabric::new(&shared.as_ref().unwrap().resources);
    let costs = Arc::new(Costs {
        seed: 1,
        hadoop,
        rates: ReadRates::new(&cluster),
        topology: topology.clone(),
        planned_failures: Vec::new(),
        shared,
        may_slow_down: true,
    });
    let tracker = |(id, node): (TrackerId, &crate::cluster::Node)| {
        TaskTracker::new(id, node.clone(), costs.clone(), SimSpan::ZERO, HeartbeatManner::default())
    };
    let letters = topology.nodes().map(|(id, _)| (secs(0), Mail::Tracker(id, ToTracker::PowerOn)));
    World {
        job: Arc::new(JobSpec { memory: PerSlot { map: mb(1), reduce: mb(170) }, ..job }),
        letters: letters.collect(),
        trackers: topology.nodes().map(tracker).collect(),
        fabric,
        hdfs,
        orders: Vec::new(),
        maps: Vec::new(),
        ends: Vec::new(),
        progress: Vec::new(),
    }
}

impl World {
    /// Gives a node an order at an instant; nodes are counted from 1.
    fn at(mut self, at: u64, node: u32, directive: impl FnOnce(&Self) -> Directive) -> Self {
        let directive = directive(&self);
        self.orders.push((secs(at), TrackerId(node - 1), directive));
        self
    }

    fn launch(self, at: u64, node: u32, attempt: AttemptId) -> Self {
        self.at(at, node, |world| {
            let job = world.job.clone();
            Directive::Launch(LaunchOrder::work(attempt, job))
        })
    }

    /// Returns the first map whose input is on a node; nodes are counted from 1.
    fn map_with_input_on(&self, node: u32) -> AttemptId {
        let mut holders = Vec::new();
        let is_there = |index: &u32| {
            self.job.input.as_ref().unwrap().locate(*index, &self.hdfs, &mut holders);
            holders.contains(&TrackerId(node - 1))
        };
        map((0..20).find(is_there).expect("it has one of twenty blocks"))
    }

    fn power_off(mut self, at: u64, node: u32) -> Self {
        self.letters.push((secs(at), Mail::Tracker(TrackerId(node - 1), ToTracker::PowerOff)));
        self
    }

    /// Sets the speeds of a node at an instant; nodes are counted from 1.
    fn slow(mut self, at: u64, node: u32, speeds: Speeds) -> Self {
        let (node, speeds) = (TrackerId(node - 1), Arc::new(speeds));
        let tracker = Mail::Tracker(node, ToTracker::Speeds(speeds.clone()));
        let fabric = Mail::Fabric(ToFabric::Speeds(node, speeds));
        self.letters.extend([(secs(at), tracker), (secs(at), fabric)]);
        self
    }

    /// Ends this many of the twenty maps at an instant.
    fn maps_done(mut self, at: u64, done: u32) -> Self {
        self.maps.push((
            secs(at),
            MapsDone { job: JobId(0), done, total: 20, changes: 0, over_at: SimTime::ZERO },
        ));
        self
    }

    /// Lets a minute pass.
    fn run(mut self) -> Self {
        while let Some(next) = (0..self.letters.len()).min_by_key(|place| self.letters[*place].0)
            && self.letters[next].0 <= secs(60)
        {
            let (now, mail) = self.letters.remove(next);
            self.deliver(now, mail);
        }
        self
    }

    fn deliver(&mut self, now: SimTime, mail: Mail) {
        let mut out = Outbox::at(now);
        match mail {
            Mail::Tracker(id, msg) => self.trackers[id.index()].handle(&msg, &mut out),
            Mail::Fabric(msg) => self.fabric.handle(&msg, &mut out),
            Mail::JobTracker(_)
            | Mail::Injector(_)
            | Mail::FaultInjector(_)
            | Mail::NameNode(_)
            | Mail::MapOutputs(_) => {
                unreachable!("there is none")
            }
        }
        for letter in out.letters {
            match letter.mail {
                Mail::JobTracker(ToJobTracker::Heartbeat(Heartbeat::Full(status))) => {
                    let told = status.reports.iter().map(|r| (now, r.attempt, r.progress));
                    self.progress.extend(told);
                    self.reply(now, status.call.tracker, status.call.number);
                }
                mail => self.letters.push((now + letter.after, mail)),
            }
        }
        for event in out.events {
            if let Fact::Attempt(attempt, _, AttemptFact::Ended { outcome, .. }) = event.fact {
                self.ends.push((event.at, attempt, outcome));
            }
        }
    }

    fn reply(&mut self, now: SimTime, to: TrackerId, call: u32) {
        let due = self.orders.extract_if(.., |(at, node, _)| *at <= now && *node == to);
        let reply = Reply {
            call,
            interval: SimSpan::from_secs(1),
            directives: due.map(|(_, _, directive)| directive).collect(),
            maps: self.maps.iter().filter(|(at, _)| *at == now).map(|(_, maps)| *maps).collect(),
            ..Reply::default()
        };
        self.letters.push((now, Mail::Tracker(to, ToTracker::Reply(Arc::new(reply)))));
    }

    /// Returns when an attempt succeeded.
    fn end(&self, attempt: AttemptId) -> SimTime {
        let end = self.ends.iter().find(|(_, other, _)| *other == attempt);
        let (at, _, outcome) = end.expect("the attempt has ended");
        assert_eq!(*outcome, Outcome::Succeeded);
        *at
    }

    /// Returns the percentage of an attempt that the heartbeat of this second reported as done.
    fn percent(&self, at: u64, attempt: AttemptId) -> f32 {
        let is_it = |(time, other, _): &&(_, _, f32)| *time == secs(at) && *other == attempt;
        let (_, _, share) = self.progress.iter().find(is_it).expect("a heartbeat spoke of it");
        (share * 100.0).round()
    }
}

#[test]
fn a_map_alone_reads_as_fast_as_the_disk() {
    let world = world(1, reading(160)).launch(0, 1, map(0)).run();
    assert_eq!(world.end(map(0)), secs(2));
}

#[test]
fn two_maps_on_one_disk_take_twice_as_long() {
    let world = world(1, reading(160)).launch(0, 1, map(0)).launch(0, 1, map(1)).run();
    assert_eq!([map(0), map(1)].map(|attempt| world.end(attempt)), [secs(4), secs(4)]);
}

#[test]
fn ten_readers_of_one_node_share_its_wire() {
    let fast = |cluster: &mut ClusterSpec| cluster.disk.rate = Rate::from_mb_per_s(1_000);
    let world = world_with(11, reading(125), fast);
    let world = (0..10).fold(world, |world, index| world.launch(0, 2 + index, map(index))).run();
    assert!((0..10).all(|index| world.end(map(index)) == secs(10)), "{:?}", world.ends);
}

#[test]
fn ten_readers_share_a_fabric_that_carries_less_than_the_wires() {
    let oversubscribed = |cluster: &mut ClusterSpec| {
        cluster.disk.rate = Rate::from_mb_per_s(1_000);
        cluster.network.fabric = Some(Rate::from_mb_per_s(5));
    };
    // Eleven nodes carry 55 MB/s together, where the wire of node 1 would carry 125.
    let world = world_with(11, reading(110), oversubscribed).launch(0, 1, map(10));
    let world = (0..10).fold(world, |world, index| world.launch(0, 2 + index, map(index))).run();
    assert!((0..10).all(|index| world.end(map(index)) == secs(20)), "{:?}", world.ends);
    // On node 1 itself a map needs no wire, and gets what the other maps leave of the disk.
    assert_eq!(world.end(map(10)), secs(0) + SimSpan::ceil_from_secs(110.0 / (1_000.0 - 55.0)));
}

/// A job whose maps read the blocks of a file.
fn scanning(megabytes: u64) -> JobSpec {
    let (split, last_split) = (mb(megabytes), mb(megabytes));
    let input = Input::File {
        file: FileId(0),
        split,
        last_split,
        more_copies: 0,
        without_extra_copies: [].into(),
    };
    JobSpec { input: Some(input), ..JobSpec::bare(0, 20, 1) }
}

/// Gives nodes this much memory, which also caches blocks read from their disks. A map holds 1 MB
/// of the memory, a reduce 170 MB.
fn page_cache(megabytes: u64) -> impl FnOnce(&mut ClusterSpec) {
    move |cluster| {
        cluster.memory = mb(megabytes);
        cluster.page_cache = Some(PageCacheSpec { rate: Rate::from_mb_per_s(400) });
    }
}

fn again(attempt: AttemptId) -> AttemptId {
    attempt.task.attempt(attempt.number + 1)
}

fn millis(millis: u64) -> SimTime {
    SimTime::ZERO + SimSpan::from_millis(millis)
}

#[test]
fn a_block_that_was_read_before_comes_from_memory() {
    let world = world_with(1, scanning(160), page_cache(1_000))
        .launch(0, 1, map(0))
        .launch(3, 1, again(map(0)))
        .launch(3, 1, map(1))
        .run();
    assert_eq!(world.end(map(0)), secs(2));
    assert_eq!(world.end(again(map(0))), millis(3_400));
    assert_eq!(world.end(map(1)), secs(5), "another block is still on the disk");
}

#[test]
fn a_read_that_was_cut_short_leaves_nothing_in_memory() {
    let world = world_with(1, scanning(160), page_cache(1_000))
        .launch(0, 1, map(0))
        .at(1, 1, |_| Directive::Kill(map(0)))
        .launch(3, 1, again(map(0)))
        .run();
    assert_eq!(world.end(again(map(0))), secs(5));
}

#[test]
fn a_reader_elsewhere_finds_the_block_in_the_memory_of_its_node() {
    let world = world_with(2, scanning(160), page_cache(1_000));
    let block = world.map_with_input_on(1);
    let world = world.launch(0, 1, block).launch(3, 2, again(block)).run();
    // It takes 1.28 s over a wire of 125 MB/s; from the disk it would take 2 s.
    assert_eq!([block, again(block)].map(|it| world.end(it)), [secs(2), millis(4_280)]);
}

#[test]
fn memory_of_tasks_is_not_for_blocks() {
    // Two blocks fit beside two maps, one block beside the reduce.
    let world = || {
        let world = world_with(1, scanning(160), page_cache(340));
        world.launch(0, 1, map(0)).launch(3, 1, map(1)).launch(9, 1, again(map(0)))
    };
    assert_eq!(world().run().end(again(map(0))), millis(9_400));
    assert_eq!(world().launch(6, 1, reduce()).run().end(again(map(0))), secs(11));
}

#[test]
fn four_computations_of_ten_seconds_take_twenty_on_two_cores() {
    let world = (0..4).fold(world(1, computing(10)), |world, index| world.launch(0, 1, map(index)));
    let world = world.run();
    assert!((0..4).all(|index| world.end(map(index)) == secs(20)), "{:?}", world.ends);
}

#[test]
fn a_computation_slows_down_when_it_meets_another_on_its_core() {
    let one_core = |cluster: &mut ClusterSpec| cluster.cores = Count::of(1);
    let world =
        world_with(1, computing(10), one_core).launch(0, 1, map(0)).launch(5, 1, map(1)).run();
    assert_eq!([map(0), map(1)].map(|attempt| world.end(attempt)), [secs(15), secs(20)]);
    assert_eq!([4, 7].map(|at| world.percent(at, map(0))), [40.0, 60.0]);
}

#[test]
fn a_suspended_computation_leaves_its_core_to_others_and_goes_on_where_it_was() {
    let one_core = |cluster: &mut ClusterSpec| cluster.cores = Count::of(1);
    let world = world_with(1, computing(10), one_core)
        .launch(0, 1, map(0))
        .launch(0, 1, map(1))
        .at(4, 1, |_| Directive::Suspend(map(0)))
        .at(20, 1, |_| Directive::Resume(map(0)))
        .run();
    assert_eq!([map(0), map(1)].map(|attempt| world.end(attempt)), [secs(28), secs(12)]);
}

#[test]
fn a_process_that_is_killed_or_loses_its_machine_leaves_its_share() {
    let world = world(3, reading(240))
        .launch(0, 1, map(0))
        .launch(0, 1, map(1))
        .launch(0, 2, map(2))
        .at(1, 1, |_| Directive::Kill(map(1)))
        .power_off(2, 2)
        .run();
    // The map has a third of the disk for a second, a half for the next second, then all of it.
    let read = 80.0 / 3.0 + 40.0;
    assert_eq!(world.end(map(0)), secs(2) + SimSpan::ceil_from_secs((240.0 - read) / 80.0));
}

#[test]
fn a_reduce_burdens_its_disk_only_while_there_is_something_to_fetch() {
    let world = world(1, fetching(800))
        .launch(0, 1, reduce())
        .launch(10, 1, map(0))
        .maps_done(1, 10)
        .maps_done(11, 20)
        .run();
    // Half of the maps have ended, and fetching that half takes five seconds. The map is alone for
    // one second, then shares for four.
    assert_eq!(world.percent(9, reduce()), 17.0);
    assert_eq!(world.end(map(0)), secs(15));
    // By 15 s two of the last five seconds of fetching are done, and the rest ends at 18 s.
    assert_eq!([17, 19].map(|at| world.percent(at, reduce())), [30.0, 100.0]);
}

#[test]
fn a_slow_disk_is_slow_for_whoever_reads_from_it() {
    // The map reads 160 MB, first at 80 MB/s, then at 40 MB/s; the wire could carry more.
    let slow = Speeds { disk: 0.5, ..Speeds::USUAL };
    let world = world(2, reading(160)).launch(0, 2, map(0)).slow(1, 1, slow).run();
    assert_eq!(world.end(map(0)), secs(3));
}

#[test]
fn slow_cores_are_slow_for_those_who_share_them_and_for_those_who_do_not() {
    let slow = Speeds { cpu: 0.5, ..Speeds::USUAL };
    let two = |cores| {
        let cores = move |cluster: &mut ClusterSpec| cluster.cores = Count::of(cores);
        let world = world_with(1, computing(10), cores).launch(0, 1, map(0)).launch(0, 1, map(1));
        world.slow(4, 1, slow).slow(8, 1, Speeds::USUAL).run()
    };
    // For four seconds each core has half its speed. Five cores are enough for four maps and a
    // reduce, so with five nothing is shared.
    for cores in [2, 5] {
        let world = two(cores);
        assert_eq!([map(0), map(1)].map(|it| world.end(it)), [secs(12); 2], "{cores} cores");
    }
    assert_eq!(two(1).end(map(0)), secs(22), "both on one core");
}

#[test]
fn a_slow_connection_is_no_matter_for_what_is_at_hand() {
    let slow = Speeds { network: 0.16, ..Speeds::USUAL };
    let world = world(2, reading(160)).launch(0, 1, map(0)).slow(1, 1, slow);
    let world = world.launch(10, 2, map(1)).run();
    assert_eq!(world.end(map(0)), secs(2));
    // Reads from other nodes get 20 MB/s.
    assert_eq!(world.end(map(1)), secs(18));
}
