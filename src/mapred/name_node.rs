//! The NameNode: it misses nodes that are silent, and has blocks copied again that have too few copies.
//!
//! A node that has been off for `cluster.hdfs.dead_after` is dead to it, and one that has lost its disks
//! says so at once or, if it is off, when it comes back. The blocks that lay there are then copied to other
//! nodes, those first that have the fewest copies left, one after another at the pace of all nodes together.
//! As nothing else sets this pace, the NameNode tells at once which copies there will be from when on.
//!
//! A block is copied only while a node can be read that has it. So a copy under way does not arrive if the
//! last such node goes off or loses its disks meanwhile, nor if its target does. Then it is looked at once
//! where else the block could be copied to, or else when a node that has it comes back. Who reads from whom
//! is not decided, and time that was set aside for copies that do not arrive passes all the same.
//!
//! When a dead node comes back, its copies count again, and what is too much is removed: the copies that
//! were made last. A block without any copy left is lost until a node that has it comes back.
//!
//! The JobTracker gets a snapshot, [`Replicas`], after each change, for those who list blocks or open them.
//! Only what jobs read is in the file system; extra copies of hot files are not copied again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rand::seq::SliceRandom;

use super::replicas::{Block, Later};
use super::{
    Core, Fact, Incident, Input, JobSpec, Outbox, Replicas, ToJobTracker, ToNameNode, TrackerId,
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
    /// Nodes that have lost their disks while they were off, and will say so when they are back.
    unsaid: BTreeSet<TrackerId>,
    /// What there is; found when it is first needed.
    store: Option<Store>,
    /// What was copied together.
    batches: Vec<Batch>,
    /// When all that is to be copied is.
    busy_until: SimTime,
}

/// Blocks that are copied because of a node, each time.
#[derive(Debug)]
struct Batch {
    node: TrackerId,
    /// Their places; none, once it is over.
    blocks: Vec<u32>,
}

/// All blocks that jobs read.
#[derive(Debug, Default)]
struct Store {
    blocks: Vec<Stored>,
    /// By node, the places of the blocks that were written there at first, or copied there since.
    on: Vec<BTreeSet<u32>>,
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
        let mut store = Self { blocks: Vec::new(), on: vec![BTreeSet::new(); trackers as usize] };
        for (block, (bytes, first)) in all {
            let place = store.blocks.len() as u32;
            for node in &first {
                store.on[node.index()].insert(place);
            }
            store.blocks.push(Stored { block, bytes, first });
        }
        store
    }

    /// Returns the places of the blocks that a node has, or had from the beginning.
    fn of_node(&self, node: TrackerId) -> Vec<u32> {
        self.on[node.index()].iter().copied().collect()
    }

    /// Adds a copy of a block.
    fn add(&mut self, replicas: &mut Replicas, place: u32, copy: Later) {
        let block = self.blocks[place as usize].block;
        let mut copies = replicas.later.get(&block).cloned().unwrap_or_default();
        copies.push(copy);
        replicas.later.insert_mut(block, copies);
        self.on[copy.node.index()].insert(place);
    }

    /// Removes copies of a block, of those that were made later.
    fn remove(&mut self, replicas: &mut Replicas, place: u32, goes: impl Fn(&Later) -> bool) {
        let Stored { block, first, .. } = &self.blocks[place as usize];
        let Some(copies) = replicas.later.get(block) else { return };
        let (gone, left): (Vec<Later>, Vec<Later>) = copies.iter().copied().partition(goes);
        if gone.is_empty() {
            return;
        }
        for Later { node, .. } in gone {
            if !first.contains(&node) {
                self.on[node.index()].remove(&place);
            }
        }
        if left.is_empty() {
            replicas.later.remove_mut(block);
        } else {
            replicas.later.insert_mut(*block, left);
        }
    }

    /// Gives up the copies of a block under way that do not arrive.
    fn give_up(&mut self, now: SimTime, replicas: &mut Replicas, place: u32) {
        let is_readable = self.blocks[place as usize].is_readable(now, replicas);
        let off = replicas.off.clone();
        let is_vain = |copy: &Later| now < copy.from && (!is_readable || off.contains(&copy.node));
        self.remove(replicas, place, is_vain);
    }

    /// Removes so many copies of a block, those first that were made last.
    fn remove_surplus(&mut self, replicas: &mut Replicas, place: u32, surplus: usize) {
        let copies = replicas.later.get(&self.blocks[place as usize].block).into_iter().flatten();
        let listed =
            copies.filter(|copy| !replicas.dead.contains(&copy.node)).map(|copy| copy.node);
        let last: Vec<TrackerId> = listed.rev().take(surplus).collect();
        self.remove(replicas, place, |copy| last.contains(&copy.node));
    }
}

impl Stored {
    /// Returns the copies that were made later.
    fn later<'a>(&self, replicas: &'a Replicas) -> impl Iterator<Item = &'a Later> {
        replicas.later.get(&self.block).into_iter().flatten()
    }

    /// Returns the nodes that hold the block or are to get it, as the NameNode knows.
    fn holders(&self, replicas: &Replicas) -> Vec<TrackerId> {
        let first = self.first.iter().copied().filter(|node| replicas.keeps(*node));
        let later = self.later(replicas).map(|copy| copy.node);
        first.chain(later.filter(|node| !replicas.dead.contains(node))).collect()
    }

    /// Returns whether a node that is on has the block now.
    fn is_readable(&self, now: SimTime, replicas: &Replicas) -> bool {
        let is_on = |node: &TrackerId| !replicas.off.contains(node);
        let mut first = self.first.iter().filter(|node| !replicas.wiped.contains(node));
        let mut later = self.later(replicas).filter(|copy| copy.from <= now);
        first.any(is_on) || later.any(|copy| is_on(&copy.node))
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
            unsaid: BTreeSet::new(),
            store: None,
            batches: Vec::new(),
            busy_until: SimTime::ZERO,
        }
    }

    /// Leaves nodes alone that are not there yet.
    pub fn without(self, absent: BTreeSet<TrackerId>) -> Self {
        Self { absent, ..self }
    }

    fn go_off(&mut self, now: SimTime, node: TrackerId, out: &mut Outbox) {
        if self.absent.contains(&node) {
            return;
        }
        let switches = &mut self.switches[node.index()];
        *switches += 1;
        out.plan(self.upkeep.dead_after, ToNameNode::Missed(node, *switches));
        self.replicas.off.insert_mut(node);
        // Nobody misses it yet, but what was being copied from it, or to it, does not arrive.
        if !self.replicas.later.is_empty() {
            self.mend(now, node, out);
        }
        self.tell(out);
    }

    fn come_back(&mut self, now: SimTime, node: TrackerId, out: &mut Outbox) {
        self.absent.remove(&node);
        self.switches[node.index()] += 1;
        self.replicas.off.remove_mut(&node);
        if self.replicas.dead.remove_mut(&node) {
            out.emit(now, Fact::Incident { tracker: Some(node), incident: Incident::BackInHdfs });
        }
        if self.unsaid.remove(&node) {
            return self.lose_disk(now, node, out);
        }
        // Of what it has there may be too many copies now; or too few, while it was the last.
        if !self.replicas.are_as_written() {
            self.mend(now, node, out);
        }
        self.tell(out);
    }

    fn miss(&mut self, now: SimTime, node: TrackerId, switches: u32, out: &mut Outbox) {
        if switches != self.switches[node.index()] {
            return;
        }
        self.replicas.dead.insert_mut(node);
        out.emit(now, Fact::Incident { tracker: Some(node), incident: Incident::DeadToHdfs });
        self.mend(now, node, out);
        self.tell(out);
    }

    fn lose_disk(&mut self, now: SimTime, node: TrackerId, out: &mut Outbox) {
        if self.replicas.off.contains(&node) || self.absent.contains(&node) {
            self.unsaid.insert(node);
            return;
        }
        self.replicas.wiped.insert_mut(node);
        let (store, replicas) = self.store();
        let places = store.of_node(node);
        for place in &places {
            store.remove(replicas, *place, |copy| copy.node == node);
        }
        self.mend_blocks(now, node, &places, out);
        self.tell(out);
    }

    /// Returns all blocks, and beside them what is known of their copies.
    fn store(&mut self) -> (&mut Store, &mut Replicas) {
        let Self { store, jobs, hdfs, trackers, replicas, .. } = self;
        (store.get_or_insert_with(|| Store::new(jobs, hdfs, *trackers)), replicas)
    }

    /// Lets what a node has, or had, have as many copies as it is to have.
    fn mend(&mut self, now: SimTime, node: TrackerId, out: &mut Outbox) {
        let places = self.store().0.of_node(node);
        self.mend_blocks(now, node, &places, out);
    }

    fn mend_blocks(&mut self, now: SimTime, node: TrackerId, places: &[u32], out: &mut Outbox) {
        let (store, replicas) = self.store();
        // Those with few copies first, and these in any order.
        let mut poor: Vec<(usize, u32)> = Vec::new();
        for place in places {
            store.give_up(now, replicas, *place);
            let stored = &store.blocks[*place as usize];
            let (holders, wanted) = (stored.holders(replicas).len(), stored.first.len());
            if wanted < holders {
                store.remove_surplus(replicas, *place, holders - wanted);
            } else if holders < wanted && stored.is_readable(now, replicas) {
                poor.push((holders, *place));
            }
        }
        let subject = u64::from(node.0) << 24 | u64::from(self.switches[node.index()]);
        let mut rng = stream(self.seed, Purpose::Recopy, subject);
        poor.shuffle(&mut rng);
        poor.sort_by_key(|(copies, _)| *copies);

        let batch = self.batches.len() as u32;
        // So many copies could be due that no clock goes so far.
        let horizon = now + SimSpan::LONGEST;
        let begins = self.busy_until.max(now).min(horizon);
        let missing = self.replicas.off.size() + self.absent.len();
        let copiers = u64::from(self.trackers).saturating_sub(missing as u64).max(1);
        let pace = self.upkeep.pace;
        let done = |copied: u64| {
            (begins + pace.time_for(Bytes::new(copied.div_ceil(copiers)))).min(horizon)
        };
        let (mut copied, mut blocks) = (0_u64, Vec::new());
        let Self { hdfs, absent, replicas, store, .. } = self;
        let store = store.as_mut().expect("it has been found above");
        for (_, place) in poor {
            let Stored { bytes, first, .. } = &store.blocks[place as usize];
            let (bytes, wanted) = (bytes.get(), first.len());
            let mut holders = store.blocks[place as usize].holders(replicas);
            while holders.len() < wanted {
                let is_fit = |node| !replicas.off.contains(&node) && !absent.contains(&node);
                let Some(to) = hdfs.place_again(&holders, wanted as u32, is_fit, &mut rng) else {
                    break;
                };
                holders.push(to);
                copied = copied.saturating_add(bytes);
                blocks.push(place);
                store.add(replicas, place, Later { node: to, from: done(copied), batch });
            }
        }
        if blocks.is_empty() {
            return;
        }
        self.busy_until = done(copied);
        let begun =
            Incident::CopyingBegins { blocks: blocks.len() as u32, bytes: Bytes::new(copied) };
        out.emit(now, Fact::Incident { tracker: Some(node), incident: begun });
        out.plan(self.busy_until - now, ToNameNode::Copied(batch));
        blocks.dedup();
        self.batches.push(Batch { node, blocks });
    }

    /// Tells how much of a copying has come to something, now that it is over.
    fn end_copying(&mut self, now: SimTime, batch: u32, out: &mut Outbox) {
        let Batch { node, blocks: places } = &mut self.batches[batch as usize];
        let store = self.store.as_ref().expect("what was copied is stored");
        let (mut blocks, mut bytes) = (0, 0_u64);
        for place in std::mem::take(places) {
            let stored = &store.blocks[place as usize];
            for _ in stored.later(&self.replicas).filter(|copy| copy.batch == batch) {
                (blocks, bytes) = (blocks + 1, bytes.saturating_add(stored.bytes.get()));
            }
        }
        let ended = Incident::CopyingEnds { blocks, bytes: Bytes::new(bytes) };
        out.emit(now, Fact::Incident { tracker: Some(*node), incident: ended });
    }

    fn tell(&self, out: &mut Outbox) {
        out.affect(ToJobTracker::Replicas(Arc::new(self.replicas.clone())));
    }
}

impl Core for NameNode {
    type Msg = ToNameNode;

    fn handle(&mut self, now: SimTime, msg: ToNameNode, out: &mut Outbox) {
        match msg {
            ToNameNode::Off(node) => self.go_off(now, node, out),
            ToNameNode::On(node) => self.come_back(now, node, out),
            ToNameNode::JoinsOff(node) => {
                self.absent.remove(&node);
                self.go_off(now, node, out);
            }
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
    use crate::mapred::{Listing, Mail, Split};

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

        /// Lets all that is being copied be over.
        fn ends_all(&mut self, now: SimTime) {
            for (_, plan) in std::mem::take(&mut self.plans) {
                if matches!(plan, ToNameNode::Copied(_)) {
                    self.hear(now, plan);
                }
            }
        }

        fn holders(&self, now: SimTime, map: u32) -> Vec<u32> {
            let mut holders = Vec::new();
            let files = Arc::new(self.node.replicas.clone());
            Listing { at: now, files }.locate(&self.job, map, &mut holders);
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
        assert_eq!((bench.plans.len(), bench.node.replicas.off.size()), (0, 0));
        bench.hear(at(10), ToNameNode::On(TrackerId(0)));
        bench.hear(at(20), ToNameNode::Off(TrackerId(0)));
        assert_eq!((bench.plans.len(), bench.node.replicas.off.size()), (1, 1));
    }

    #[test]
    fn who_is_off_when_it_should_join_is_missed_from_then_on() {
        let mut bench = bench(&[&[0, 3]]);
        bench.node.absent.insert(TrackerId(0));
        bench.hear(at(10), ToNameNode::JoinsOff(TrackerId(0)));
        assert!(bench.node.replicas.off.contains(&TrackerId(0)));
        assert!(matches!(bench.plans[..], [(PATIENCE, ToNameNode::Missed(TrackerId(0), 1))]));
    }

    #[test]
    fn a_disk_that_is_lost_before_its_machine_joins_is_told_of_when_it_does() {
        let mut bench = bench(&[&[0, 3]]);
        bench.node.absent.insert(TrackerId(0));
        bench.hear(at(10), ToNameNode::DiskLost(TrackerId(0)));
        assert_eq!((bench.holders(at(20), 0), bench.facts.len()), (vec![0, 3], 0));
        bench.hear(at(30), ToNameNode::On(TrackerId(0)));
        assert_eq!(bench.facts, [Incident::CopyingBegins { blocks: 1, bytes: mb(100) }]);
        assert_eq!(bench.holders(at(30), 0), [3]);
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

    fn all_hear(bench: &mut Bench, now: SimTime, message: fn(TrackerId) -> ToNameNode) {
        for node in 0..6 {
            bench.hear(now, message(TrackerId(node)));
        }
    }

    #[test]
    fn what_all_have_lost_at_once_cannot_be_copied() {
        let mut bench = bench(&[&[0, 3], &[1, 4], &[2, 5], &[5]]);
        all_hear(&mut bench, at(10), ToNameNode::DiskLost);
        let left = [0, 1, 2, 3].map(|map| bench.holders(at(10_000), map).len());
        assert_eq!(left, [0; 4]);
        bench.ends_all(at(10_000));
        let is_made =
            |incident: &&Incident| matches!(incident, Incident::CopyingEnds { blocks: 1.., .. });
        assert_eq!(bench.facts.iter().find(is_made), None);
    }

    #[test]
    fn a_copy_under_way_does_not_arrive_once_nobody_can_be_read_that_has_the_block() {
        // 100 MB at the pace of six nodes take 1.7 s.
        let mut bench = bench(&[&[0, 3]]);
        bench.hear(at(10), ToNameNode::DiskLost(TrackerId(0)));
        bench.hear(at(11), ToNameNode::Off(TrackerId(3)));
        assert_eq!(bench.holders(at(20), 0), [3], "it is listed, but nobody has missed it yet");
        // When it is back, it is copied; when its disks are gone after that, the copy stays.
        bench.hear(at(60), ToNameNode::On(TrackerId(3)));
        assert_eq!(bench.holders(at(70), 0).len(), 2);
        bench.hear(at(70), ToNameNode::DiskLost(TrackerId(3)));
        assert_eq!(bench.holders(at(70), 0).len(), 1);
        assert_eq!(bench.holders(at(80), 0).len(), 2);
    }

    #[test]
    fn a_copy_whose_other_source_stays_arrives() {
        let mut bench = bench(&[&[0, 3, 4]]);
        bench.hear(at(10), ToNameNode::DiskLost(TrackerId(0)));
        bench.hear(at(11), ToNameNode::Off(TrackerId(3)));
        assert_eq!(bench.holders(at(12), 0).len(), 3);
    }

    #[test]
    fn a_copy_whose_target_goes_off_is_made_elsewhere() {
        let mut bench = bench(&[&[0, 3]]);
        bench.hear(at(10), ToNameNode::DiskLost(TrackerId(0)));
        let to = bench.holders(at(12), 0)[1];
        bench.hear(at(11), ToNameNode::Off(TrackerId(to)));
        let begins = Incident::CopyingBegins { blocks: 1, bytes: mb(100) };
        assert_eq!(bench.facts, [begins, begins]);
        // It begins when the time of the first is over: 11.7 s. Five nodes take two seconds more.
        assert_eq!(bench.holders(at(13), 0), [3]);
        let holders = bench.holders(at(14), 0);
        assert!(holders.len() == 2 && holders[1] != to, "{holders:?}");
        bench.ends_all(at(14));
        let ends = |blocks, bytes| Incident::CopyingEnds { blocks, bytes };
        assert_eq!(bench.facts[2..], [ends(0, Bytes::ZERO), ends(1, mb(100))]);
    }

    #[test]
    fn who_is_not_there_yet_gets_no_copies_and_makes_none() {
        let mut bench = bench(&[&[0, 3]]);
        bench.node.absent = [1, 2, 4].map(TrackerId).into();
        bench.hear(at(9), ToNameNode::DiskLost(TrackerId(3)));
        // Three nodes are there, and have 30 MB a second: 100 MB take 3.4 s.
        assert_eq!(bench.holders(at(12), 0), [0]);
        let holders = bench.holders(at(13), 0);
        assert!(holders == [0, 3] || holders == [0, 5], "{holders:?}");
    }

    #[test]
    fn who_is_off_makes_no_copies_though_nobody_has_missed_it() {
        let mut bench = bench(&[&[0, 3]]);
        bench.hear(at(9), ToNameNode::Off(TrackerId(1)));
        bench.hear(at(10), ToNameNode::DiskLost(TrackerId(0)));
        let lengths = [11_999, 12_000]
            .map(|millis| bench.holders(SimTime::ZERO + SimSpan::from_millis(millis), 0).len());
        assert_eq!(lengths, [1, 2]);
    }

    #[test]
    fn a_disk_that_is_lost_while_its_machine_is_off_is_told_of_when_it_is_back() {
        let mut bench = bench(&[&[0, 3]]);
        bench.hear(at(10), ToNameNode::Off(TrackerId(0)));
        bench.hear(at(20), ToNameNode::DiskLost(TrackerId(0)));
        assert_eq!((bench.holders(at(20), 0), bench.facts.len()), (vec![0, 3], 0));
        bench.hear(at(30), ToNameNode::On(TrackerId(0)));
        assert_eq!(bench.facts, [Incident::CopyingBegins { blocks: 1, bytes: mb(100) }]);
        assert_eq!(bench.holders(at(30), 0), [3]);
        bench.hear(at(40), ToNameNode::Off(TrackerId(0)));
        bench.hear(at(50), ToNameNode::On(TrackerId(0)));
        assert_eq!(bench.facts.len(), 1, "it is told of once");
    }

    #[test]
    fn sums_that_no_number_holds_are_the_largest_number() {
        let mut bench = bench(&[&[0, 3], &[0, 4]]);
        let large = |split: &Split| Split { bytes: Bytes::new(u64::MAX / 3 * 2), ..split.clone() };
        let Some(Input::Splits(splits)) = &bench.job.input else { unreachable!() };
        let input = Some(Input::Splits(splits.iter().map(large).collect()));
        bench.node.jobs = vec![Arc::new(JobSpec { input, ..JobSpec::clone(&bench.job) })];
        bench.hear(at(10), ToNameNode::DiskLost(TrackerId(0)));
        let all = Bytes::new(u64::MAX);
        assert_eq!(bench.facts, [Incident::CopyingBegins { blocks: 2, bytes: all }]);
        bench.ends_all(at(10) + SimSpan::LONGEST);
        assert_eq!(bench.facts[1..], [Incident::CopyingEnds { blocks: 2, bytes: all }]);
    }
}
