//! The NameNode: it misses nodes that are silent, and has blocks copied again that have too few copies.
//!
//! A node that has been off for `cluster.hdfs.dead_after` is dead to it, and one that has lost its disks
//! says so at once. The blocks that lay there are then copied to other nodes, those first that have the
//! fewest copies left, one after another at the pace of all nodes together. As nothing else sets this
//! pace, the NameNode tells at once which copies there will be from when on.
//!
//! When a dead node comes back, its copies count again, and what is too much is removed: the copies that
//! were made last. A block without any copy left is lost until a node that has it comes back.
//!
//! Who lists blocks or opens them gets a snapshot, [`Replicas`], after each change. Only what jobs
//! read is in the file system; extra copies of hot files are not copied again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rand::seq::SliceRandom;

use super::replicas::{Block, Later};
use super::{
    Core, Fact, Incident, Input, JobSpec, Mail, Outbox, Replicas, ToJobTracker, ToNameNode,
    ToTracker, TrackerId,
};
use crate::cluster::Hdfs;
use crate::random::{Purpose, stream};
use crate::units::{Bytes, Rate, SimSpan, SimTime};

/// How the NameNode goes about it.
#[derive(Clone, Copy, Debug)]
pub struct Upkeep {
    /// How long a node may be silent.
    pub dead_after: SimSpan,
    /// How fast each node copies.
    pub pace: Rate,
}

/// The NameNode.
#[derive(Debug)]
pub struct NameNode {
    seed: u64,
    hdfs: Hdfs,
    trackers: u32,
    upkeep: Upkeep,
    /// Nodes that are not there yet: what they will have can be read all the same.
    absent: BTreeSet<TrackerId>,
    jobs: Vec<Arc<JobSpec>>,
    replicas: Replicas,
    /// How often each node has gone off or come back: a time-out from before is stale.
    switches: Vec<u32>,
    /// What there is; found when it is first needed.
    store: Option<Store>,
    /// The nodes for which copying has begun, each time.
    batches: Vec<TrackerId>,
    /// When all that is to be copied is.
    busy_until: SimTime,
}

/// All blocks that jobs read.
#[derive(Debug, Default)]
struct Store {
    blocks: Vec<Stored>,
    /// By node, the places of the blocks that were written there at first.
    on: Vec<Vec<u32>>,
}

#[derive(Debug)]
struct Stored {
    block: Block,
    bytes: Bytes,
    /// Where it was written at first; it is to have as many copies.
    first: Box<[TrackerId]>,
}

impl Store {
    fn new(jobs: &[Arc<JobSpec>], hdfs: &Hdfs, trackers: u32) -> Self {
        let mut all: BTreeMap<Block, (Bytes, Box<[TrackerId]>)> = BTreeMap::new();
        let mut holders = Vec::new();
        for job in jobs {
            let Some(input) = &job.input else { continue };
            for map in 0..job.maps {
                let Some(block) = Block::of(job, map) else { continue };
                let bytes = input.bytes(map, job.maps);
                let stored = all.entry(block).or_insert_with(|| {
                    match input {
                        Input::File { file, .. } => hdfs.locate(*file, map, 0, &mut holders),
                        Input::Splits(_) => input.locate(map, hdfs, &mut holders),
                    }
                    (bytes, holders.as_slice().into())
                });
                // The last map of a shorter job reads only a part of its block.
                stored.0 = stored.0.max(bytes);
            }
        }
        let mut store = Self { blocks: Vec::new(), on: vec![Vec::new(); trackers as usize] };
        for (block, (bytes, first)) in all {
            let place = store.blocks.len() as u32;
            first.iter().for_each(|node| store.on[node.index()].push(place));
            store.blocks.push(Stored { block, bytes, first });
        }
        store
    }

    /// Returns the places of the blocks that a node has, or had.
    fn of_node(&self, node: TrackerId, replicas: &Replicas) -> Vec<u32> {
        let holds = |copies: &Vec<Later>| copies.iter().any(|copy| copy.node == node);
        let later = replicas.later.iter().filter(|(_, copies)| holds(copies));
        let place = |block: &Block| {
            let found = self.blocks.binary_search_by_key(block, |stored| stored.block);
            found.expect("only what is stored is copied") as u32
        };
        let mut places = self.on[node.index()].clone();
        places.extend(later.map(|(block, _)| place(block)));
        places.sort_unstable();
        places.dedup();
        places
    }
}

impl NameNode {
    /// Returns the NameNode of a file system of so many nodes, which all are on, that holds what these
    /// jobs read.
    pub fn new(
        seed: u64,
        hdfs: Hdfs,
        trackers: u32,
        upkeep: Upkeep,
        jobs: Vec<Arc<JobSpec>>,
    ) -> Self {
        Self {
            seed,
            replicas: Replicas::new(hdfs.clone()),
            hdfs,
            trackers,
            upkeep,
            absent: BTreeSet::new(),
            jobs,
            switches: vec![0; trackers as usize],
            store: None,
            batches: Vec::new(),
            busy_until: SimTime::ZERO,
        }
    }

    /// Leaves nodes alone that are not there yet.
    pub fn without(self, absent: BTreeSet<TrackerId>) -> Self {
        Self { absent, ..self }
    }

    fn go_off(&mut self, node: TrackerId, out: &mut Outbox) {
        if self.absent.contains(&node) {
            return;
        }
        let switches = &mut self.switches[node.index()];
        *switches += 1;
        out.plan(self.upkeep.dead_after, ToNameNode::Missed(node, *switches));
        self.replicas.off.insert(node);
        self.tell_trackers(out);
    }

    fn come_back(&mut self, now: SimTime, node: TrackerId, out: &mut Outbox) {
        if self.absent.remove(&node) {
            return;
        }
        self.switches[node.index()] += 1;
        self.replicas.off.remove(&node);
        if self.replicas.dead.remove(&node) {
            out.emit(now, Fact::Incident { tracker: Some(node), incident: Incident::BackInHdfs });
        }
        // Of what it has there may be too many copies now; or too few, while it was the last.
        self.mend(now, node, out);
        self.tell_all(out);
    }

    fn miss(&mut self, now: SimTime, node: TrackerId, switches: u32, out: &mut Outbox) {
        if switches != self.switches[node.index()] {
            return;
        }
        self.replicas.dead.insert(node);
        out.emit(now, Fact::Incident { tracker: Some(node), incident: Incident::DeadToHdfs });
        self.mend(now, node, out);
        self.tell_all(out);
    }

    fn lose_disk(&mut self, now: SimTime, node: TrackerId, out: &mut Outbox) {
        let store = self.store();
        let places = store.of_node(node, &self.replicas);
        self.store = Some(store);
        self.replicas.wiped.insert(node);
        let later = Arc::make_mut(&mut self.replicas.later);
        later.values_mut().for_each(|copies| copies.retain(|copy| copy.node != node));
        later.retain(|_, copies| !copies.is_empty());
        self.mend_blocks(now, node, &places, out);
        self.tell_all(out);
    }

    /// Takes the list of all blocks out, to be put back.
    fn store(&mut self) -> Store {
        let Self { jobs, hdfs, trackers, .. } = self;
        self.store.take().unwrap_or_else(|| Store::new(jobs, hdfs, *trackers))
    }

    /// Lets what a node has, or had, have as many copies as it is to have.
    fn mend(&mut self, now: SimTime, node: TrackerId, out: &mut Outbox) {
        let Replicas { dead, wiped, later, .. } = &self.replicas;
        if dead.is_empty() && wiped.is_empty() && later.is_empty() {
            return;
        }
        let store = self.store();
        let places = store.of_node(node, &self.replicas);
        self.store = Some(store);
        self.mend_blocks(now, node, &places, out);
    }

    fn mend_blocks(&mut self, now: SimTime, node: TrackerId, places: &[u32], out: &mut Outbox) {
        let store = self.store();
        // Those with few copies first, and these in any order.
        let mut poor: Vec<(usize, u32)> = Vec::new();
        for place in places {
            let Stored { block, first, .. } = &store.blocks[*place as usize];
            let holders = self.holders(*block, first);
            if first.len() < holders.len() {
                self.remove_surplus(*block, holders.len() - first.len());
            } else if holders.len() < first.len()
                && holders.iter().any(|holder| !self.replicas.off.contains(holder))
            {
                poor.push((holders.len(), *place));
            }
        }
        let subject = u64::from(node.0) << 24 | u64::from(self.switches[node.index()]);
        let mut rng = stream(self.seed, Purpose::Recopy, subject);
        poor.shuffle(&mut rng);
        poor.sort_by_key(|(copies, _)| *copies);

        let batch = self.batches.len() as u32;
        // So many copies could be due that no clock goes so far.
        let begins = self.busy_until.max(now).min(now + SimSpan::LONGEST);
        let copiers = u64::from(self.trackers - self.replicas.dead.len() as u32).max(1);
        let (mut copied, mut blocks) = (0, 0);
        for (_, place) in poor {
            let Stored { block, bytes, first } = &store.blocks[place as usize];
            let mut holders = self.holders(*block, first);
            while holders.len() < first.len() {
                let is_fit = |node| !self.replicas.off.contains(&node);
                let Some(to) = self.hdfs.place_again(&holders, is_fit, &mut rng) else { break };
                holders.push(to);
                (copied, blocks) = (copied + bytes.get(), blocks + 1);
                let from = begins + self.upkeep.pace.time_for(Bytes::new(copied / copiers));
                let later = Arc::make_mut(&mut self.replicas.later);
                later.entry(*block).or_default().push(Later { node: to, from, batch });
            }
        }
        self.store = Some(store);
        if blocks == 0 {
            return;
        }
        self.batches.push(node);
        self.busy_until = begins + self.upkeep.pace.time_for(Bytes::new(copied / copiers));
        let incident = Incident::CopyingBegins { blocks, bytes: Bytes::new(copied) };
        out.emit(now, Fact::Incident { tracker: Some(node), incident });
        out.plan(self.busy_until - now, ToNameNode::Copied(batch));
    }

    /// Returns the nodes that hold a block or are to get it, as the NameNode knows.
    fn holders(&self, block: Block, first: &[TrackerId]) -> Vec<TrackerId> {
        let mut holders: Vec<TrackerId> =
            first.iter().copied().filter(|node| self.replicas.keeps(*node)).collect();
        let later = self.replicas.later.get(&block).into_iter().flatten();
        let there = later.map(|copy| copy.node).filter(|node| !self.replicas.dead.contains(node));
        holders.extend(there);
        holders
    }

    /// Removes so many copies of a block, those first that were made last.
    fn remove_surplus(&mut self, block: Block, mut surplus: usize) {
        let Replicas { dead, later, .. } = &mut self.replicas;
        let later = Arc::make_mut(later);
        let Some(copies) = later.get_mut(&block) else { return };
        for place in (0..copies.len()).rev() {
            if 0 < surplus && !dead.contains(&copies[place].node) {
                copies.remove(place);
                surplus -= 1;
            }
        }
        if copies.is_empty() {
            later.remove(&block);
        }
    }

    /// Tells how much of a copying has come to something, now that it is over.
    fn end_copying(&self, now: SimTime, batch: u32, out: &mut Outbox) {
        let node = self.batches[batch as usize];
        let store = self.store.as_ref().expect("what was copied is stored");
        let (mut blocks, mut bytes) = (0, 0);
        for (block, copies) in &*self.replicas.later {
            let made = copies.iter().filter(|copy| copy.batch == batch).count() as u32;
            if 0 < made
                && let Ok(place) = store.blocks.binary_search_by_key(block, |stored| stored.block)
            {
                blocks += made;
                bytes += store.blocks[place].bytes.get() * u64::from(made);
            }
        }
        let incident = Incident::CopyingEnds { blocks, bytes: Bytes::new(bytes) };
        out.emit(now, Fact::Incident { tracker: Some(node), incident });
    }

    fn tell_trackers(&self, out: &mut Outbox) {
        self.tell(&Arc::new(self.replicas.clone()), out);
    }

    /// Tells clients, too, which list the blocks of the jobs that they submit.
    fn tell_all(&self, out: &mut Outbox) {
        let replicas = Arc::new(self.replicas.clone());
        out.affect(ToJobTracker::Replicas(replicas.clone()));
        self.tell(&replicas, out);
    }

    fn tell(&self, replicas: &Arc<Replicas>, out: &mut Outbox) {
        for id in (0..self.trackers).map(TrackerId) {
            out.affect(Mail::Tracker(id, ToTracker::Replicas(replicas.clone())));
        }
    }
}

impl Core for NameNode {
    type Msg = ToNameNode;

    fn handle(&mut self, now: SimTime, msg: ToNameNode, out: &mut Outbox) {
        match msg {
            ToNameNode::Off(node) => self.go_off(node, out),
            ToNameNode::On(node) => self.come_back(now, node, out),
            ToNameNode::DiskLost(node) => self.lose_disk(now, node, out),
            ToNameNode::Missed(node, switches) => self.miss(now, node, switches, out),
            ToNameNode::Copied(batch) => self.end_copying(now, batch, out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::{Node, PerSlot, Placement, Topology};
    use crate::mapred::Split;

    const PATIENCE: SimSpan = SimSpan::from_secs(630);

    fn at(secs: u64) -> SimTime {
        SimTime::ZERO + SimSpan::from_secs(secs)
    }

    fn mb(megabytes: u64) -> Bytes {
        Bytes::new(megabytes * 1_000_000)
    }

    /// Six nodes in two racks, which copy 10 MB a second each, and a job whose maps read 100 MB each that
    /// these nodes hold.
    struct Bench {
        node: NameNode,
        job: Arc<JobSpec>,
        facts: Vec<Incident>,
        plans: Vec<(SimSpan, ToNameNode)>,
    }

    fn bench(splits: &[&[u32]]) -> Bench {
        let node = |rack| Node::plain(rack, PerSlot { map: 1, reduce: 1 });
        let topology = Arc::new(Topology::from_nodes([0, 0, 0, 1, 1, 1].map(node).to_vec()));
        let hdfs = Hdfs::new(1, topology, 2, Placement::Hadoop);
        let split = |holders: &&[u32]| {
            let holders = holders.iter().copied().map(TrackerId).collect();
            Split { bytes: mb(100), holders }
        };
        let splits: Vec<Split> = splits.iter().map(split).collect();
        let bare = JobSpec::bare(0, splits.len() as u32, 0);
        let job = Arc::new(JobSpec { input: Some(Input::Splits(splits.into())), ..bare });
        let upkeep = Upkeep { dead_after: PATIENCE, pace: Rate::from_mb_per_s(10) };
        let node = NameNode::new(1, hdfs, 6, upkeep, vec![job.clone()]);
        Bench { node, job, facts: Vec::new(), plans: Vec::new() }
    }

    impl Bench {
        fn hear(&mut self, now: SimTime, msg: ToNameNode) -> &mut Self {
            let mut out = Outbox::default();
            self.node.handle(now, msg, &mut out);
            self.facts.extend(out.events.into_iter().map(|event| match event.fact {
                Fact::Incident { incident, .. } => incident,
                other => unreachable!("a NameNode says {other:?}"),
            }));
            for letter in out.letters {
                if let Mail::NameNode(msg) = letter.mail {
                    self.plans.push((letter.after, msg));
                }
            }
            self
        }

        /// Lets a node go off at the beginning, and be missed.
        fn loses(&mut self, node: u32) -> &mut Self {
            let node = TrackerId(node);
            self.hear(at(0), ToNameNode::Off(node));
            self.hear(at(630), ToNameNode::Missed(node, 1))
        }

        fn holders(&self, now: SimTime, map: u32) -> Vec<u32> {
            let mut holders = Vec::new();
            self.node.replicas.locate(now, &self.job, map, &mut holders);
            holders.iter().map(|node| node.0).collect()
        }
    }

    #[test]
    fn what_a_dead_node_had_is_copied_into_the_other_rack_at_the_pace_of_all_that_live() {
        let mut bench = bench(&[&[0, 3], &[0, 4], &[1, 5], &[0]]);
        bench.hear(at(0), ToNameNode::Off(TrackerId(0)));
        assert!(matches!(bench.plans[..], [(PATIENCE, ToNameNode::Missed(TrackerId(0), 1))]));
        assert_eq!(bench.holders(at(629), 0), [0, 3], "nobody has missed it yet");
        bench.hear(at(630), ToNameNode::Missed(TrackerId(0), 1));
        // The last block is lost: nobody else has it.
        let begins = Incident::CopyingBegins { blocks: 2, bytes: mb(200) };
        assert_eq!(bench.facts, [Incident::DeadToHdfs, begins]);
        // Five nodes copy 50 MB a second: a block in two.
        let counts = |now| [0, 1].map(|map| bench.holders(now, map).len());
        let first_and_last = [630, 632, 634].map(|secs| counts(at(secs)).iter().sum::<usize>());
        assert_eq!(first_and_last, [2, 3, 4]);
        for map in [0, 1] {
            let holders = bench.holders(at(634), map);
            assert!(holders[0] == 3 + map && [1, 2].contains(&holders[1]), "{holders:?}");
        }
        assert_eq!((bench.holders(at(634), 2), bench.holders(at(634), 3)), (vec![1, 5], vec![]));
        assert!(
            matches!(bench.plans[1], (after, ToNameNode::Copied(0)) if after == SimSpan::from_secs(4))
        );
        bench.hear(at(634), ToNameNode::Copied(0));
        assert_eq!(bench.facts[2], Incident::CopyingEnds { blocks: 2, bytes: mb(200) });
    }

    #[test]
    fn who_comes_back_in_time_is_not_missed() {
        let mut bench = bench(&[&[0, 3]]);
        bench.hear(at(0), ToNameNode::Off(TrackerId(0)));
        bench.hear(at(60), ToNameNode::On(TrackerId(0)));
        bench.hear(at(100), ToNameNode::Off(TrackerId(0)));
        bench.hear(at(630), ToNameNode::Missed(TrackerId(0), 1));
        assert_eq!((bench.facts.len(), bench.holders(at(630), 0)), (0, vec![0, 3]));
    }

    #[test]
    fn who_is_not_there_yet_is_not_missed() {
        let mut bench = bench(&[&[0, 3]]);
        bench.node.absent.insert(TrackerId(0));
        bench.hear(at(0), ToNameNode::Off(TrackerId(0)));
        assert_eq!((bench.plans.len(), bench.node.replicas.off.len()), (0, 0));
        bench.hear(at(10), ToNameNode::On(TrackerId(0)));
        bench.hear(at(20), ToNameNode::Off(TrackerId(0)));
        assert_eq!((bench.plans.len(), bench.node.replicas.off.len()), (1, 1));
    }

    #[test]
    fn when_a_dead_node_comes_back_the_copies_made_for_it_are_removed() {
        let mut bench = bench(&[&[0, 3], &[0]]);
        bench.loses(0);
        assert_eq!(bench.holders(at(700), 0).len(), 2);
        bench.hear(at(700), ToNameNode::On(TrackerId(0)));
        assert_eq!((bench.holders(at(700), 0), bench.holders(at(700), 1)), (vec![0, 3], vec![0]));
        assert_eq!(bench.facts.last(), Some(&Incident::BackInHdfs));
    }

    #[test]
    fn what_has_fewest_copies_is_copied_first() {
        let mut bench = bench(&[&[0, 3, 4], &[0, 3, 5], &[0, 4]]);
        bench.loses(0);
        assert_eq!([0, 1, 2].map(|map| bench.holders(at(632), map).len()), [2, 2, 2]);
    }

    #[test]
    fn a_lost_disk_is_told_at_once_and_nothing_comes_back() {
        let mut bench = bench(&[&[0, 3], &[0]]);
        bench.hear(at(10), ToNameNode::DiskLost(TrackerId(0)));
        assert_eq!(bench.facts, [Incident::CopyingBegins { blocks: 1, bytes: mb(100) }]);
        // All six nodes live: 100 MB take 10/6 s.
        assert_eq!((bench.holders(at(11), 0), bench.holders(at(12), 0).len()), (vec![3], 2));
        bench.hear(at(20), ToNameNode::Off(TrackerId(0)));
        bench.hear(at(30), ToNameNode::On(TrackerId(0)));
        assert_eq!((bench.holders(at(30), 0).len(), bench.holders(at(30), 1).len()), (2, 0));
    }

    #[test]
    fn copies_that_were_lost_again_are_made_again() {
        let mut bench = bench(&[&[0, 3]]);
        bench.loses(0);
        let second = bench.holders(at(700), 0)[1];
        bench.hear(at(700), ToNameNode::DiskLost(TrackerId(second)));
        let holders = bench.holders(at(800), 0);
        assert!(holders.len() == 2 && !holders.contains(&0), "{holders:?}");
    }
}
