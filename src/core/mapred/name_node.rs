//! The NameNode: it notices silent nodes, and orders new copies of blocks that have too few.
//!
//! A node that has been off for `cluster.hdfs.dead_after` is dead for the NameNode. A node that has
//! lost its disks reports that at once or, if it is off, when it comes back. Each node makes one
//! copy at a time, at a fixed pace.
//!
//! ```text
//! a node is dead, or its disks are lost ─► its copies count no more
//! blocks with too few copies ─► queue, fewest copies first ─► copies under way, one a node
//! a copy is done ─► Replicas, for the JobTracker ─► the next copy
//! ```
//!
//! A block is copied only while some node with a copy can be read. So a copy under way fails if its
//! target, or the last readable node with the block, goes off or loses its disks. Then another
//! block has its turn. The block of the failed copy waits in the queue, or until a node with a copy
//! is back. A block without a possible target waits until a node comes on or has lost its disks.
//! The choice of the node from which a copy is read is not simulated.
//!
//! When a dead node comes back, its copies count again, and surplus copies are removed, the latest
//! first. A block without any copy is lost until a node with a copy comes back.
//!
//! After each change the JobTracker gets a snapshot, [`Replicas`], for clients that list blocks and
//! for maps that open blocks. Only the input of jobs is in the file system; extra copies of hot
//! files are not copied again.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::cluster::{Hdfs, TrackerId};
use crate::mapred::event::{CopyMade, Fact, Incident, WorldFact};
use crate::mapred::locality::Locality;
use crate::mapred::message::{ToJobTracker, ToNameNode};
use crate::mapred::outbox::{Core, Outbox};
use crate::mapred::replicas::{LaterCopy, Replicas};
use crate::mapred::spec::{Block, Input, JobSpec};
use mumakil_base::random::{Purpose, stream};
use mumakil_base::units::{Bytes, Rate, SimSpan};

/// The settings of replication.
#[derive(Clone, Copy, Debug)]
pub struct ReplicationUpkeep {
    /// How long a node may be silent before the NameNode declares it dead.
    pub dead_after: SimSpan,
    /// How fast each node copies.
    pub pace: Rate,
}

/// The NameNode.
#[derive(Debug)]
pub struct NameNode {
    seed: u64,
    hdfs: Hdfs,
    upkeep: ReplicationUpkeep,
    jobs: Vec<Arc<JobSpec>>,
    nodes: Vec<DataNode>,
    replicas: Replicas,
    /// The blocks of the file system; listed when they are first needed.
    store: Option<BlockStore>,
    /// Blocks that can be copied and have too few copies, each with its number of copies.
    queue: BTreeSet<(usize, u32)>,
    /// Blocks that need copies but have no possible target.
    stuck: BTreeSet<u32>,
    /// Copies under way, by the number of the message at their end.
    under_way: BTreeMap<u32, Vec<BlockCopying>>,
    /// How many copies are under way.
    busy: usize,
    /// How many copies have begun. `waves` counts messages: copies that end together share one.
    begun: u64,
    waves: u32,
    /// The copies that one loss or return of a node made necessary, by number. An account is closed
    /// when all its copies are made or given up.
    accounts: BTreeMap<u32, CopyAccount>,
    opened: u32,
}

#[derive(Clone, Debug)]
struct DataNode {
    presence: NodePresence,
    /// How often the node has gone off or come back; a time-out with a lower number is stale.
    switches: u32,
    /// Whether the node has lost its disks while it was off, and will report that when it is back.
    has_news: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NodePresence {
    /// The node has not joined yet. Until the instant at which it joins, the blocks that it is to
    /// hold can be read all the same.
    Absent,
    On,
    Off,
}

/// A copy under way.
#[derive(Clone, Copy, Debug)]
struct BlockCopying {
    place: u32,
    to: TrackerId,
    account: u32,
}

/// The copies that one loss or return of a node made necessary.
#[derive(Debug)]
struct CopyAccount {
    node: TrackerId,
    is_told: bool,
    /// The copies that are still to be made; `made` are the copies made so far.
    left: BlockSum,
    made: BlockSum,
}

/// A number of blocks and their size.
#[derive(Clone, Copy, Debug, Default)]
struct BlockSum {
    blocks: u32,
    // The bytes of a scenario's largest files together may not fit into 64 bits.
    bytes: u128,
}

impl BlockSum {
    fn add(&mut self, blocks: u32, each: Bytes) {
        self.blocks += blocks;
        self.bytes += u128::from(blocks) * u128::from(each.get());
    }

    fn take(&mut self, blocks: u32, each: Bytes) {
        self.blocks -= blocks;
        self.bytes -= u128::from(blocks) * u128::from(each.get());
    }

    fn bytes(self) -> Bytes {
        Bytes::new(u64::try_from(self.bytes).unwrap_or(u64::MAX))
    }
}

/// All blocks that jobs read.
#[derive(Debug, Default)]
struct BlockStore {
    blocks: Vec<StoredBlock>,
    /// For each node, the indices of the blocks that were written there at first, were copied there
    /// since, or are on their way there.
    on: Vec<BTreeSet<u32>>,
}

#[derive(Debug)]
struct StoredBlock {
    block: Block,
    bytes: Bytes,
    /// The nodes that it was first written to; their number is the number of copies that it should
    /// have.
    first: Box<[TrackerId]>,
    /// The targets of copies under way, with the numbers of their messages.
    coming: Vec<(TrackerId, u32)>,
    /// How many copies were made since the block was written.
    made: u32,
    /// How many copies wait to be made, and the account that they are on.
    waiting: u32,
    account: u32,
    /// How many copies it had when it was queued; with its index, this finds it in the queue.
    living: usize,
}

impl BlockStore {
    fn new(jobs: &[Arc<JobSpec>], hdfs: &Hdfs, nodes: usize) -> Self {
        // Sort by block, since a block's index breaks ties in the queue and must be the same in
        // every run.
        let mut all: BTreeMap<Block, (Bytes, Box<[TrackerId]>)> = BTreeMap::new();
        let mut holders = Vec::new();
        for job in jobs {
            let Some(input) = &job.input else { continue };
            for map in 0..job.maps {
                let Some(block) = Block::of(job, map) else { continue };
                let bytes = input.bytes(map, job.maps);
                let stored = all.entry(block).or_insert_with(|| {
                    match input {
                        // 0 leaves out the extra copies of hot files, which are not made again.
                        Input::File { file, .. } => hdfs.locate(*file, map, 0, &mut holders),
                        Input::Splits(_) => input.locate(map, hdfs, &mut holders),
                    }
                    (bytes, holders.as_slice().into())
                });
                // Take the largest size: the last map of a job may read only a part of its block.
                stored.0 = stored.0.max(bytes);
            }
        }
        let mut store = Self { blocks: Vec::new(), on: vec![BTreeSet::new(); nodes] };
        for (block, (bytes, first)) in all {
            let place = store.blocks.len() as u32;
            for node in &first {
                store.on[node.index()].insert(place);
            }
            let (coming, made, waiting, account, living) = (Vec::new(), 0, 0, 0, 0);
            let stored =
                StoredBlock { block, bytes, first, coming, made, waiting, account, living };
            store.blocks.push(stored);
        }
        store
    }

    /// Returns the indices of the blocks that are or were on a node, or are on their way there.
    fn of_node(&self, node: TrackerId) -> Vec<u32> {
        self.on[node.index()].iter().copied().collect()
    }

    /// Notes that a copy is lost or removed; the copy was made after the first ones, or is under
    /// way.
    fn drop(&mut self, place: u32, node: TrackerId) {
        if !self.blocks[place as usize].first.contains(&node) {
            self.on[node.index()].remove(&place);
        }
    }
}

impl StoredBlock {
    /// Returns the copies that were made after the first ones.
    fn later<'a>(&self, replicas: &'a Replicas) -> impl DoubleEndedIterator<Item = &'a LaterCopy> {
        replicas.later.get(&self.block).into_iter().flatten()
    }

    /// Returns the nodes that hold the block, by the NameNode's list.
    fn holders(&self, replicas: &Replicas) -> Vec<TrackerId> {
        let first = self.first.iter().copied().filter(|node| replicas.keeps(*node));
        let later = self.later(replicas).map(|copy| copy.node);
        first.chain(later.filter(|node| !replicas.dead.contains(node))).collect()
    }
}

impl NameNode {
    /// Returns the NameNode of a file system that holds the input of these jobs; all nodes are on.
    pub fn new(
        seed: u64,
        hdfs: Hdfs,
        trackers: u32,
        upkeep: ReplicationUpkeep,
        jobs: Vec<Arc<JobSpec>>,
    ) -> Self {
        let node = DataNode { presence: NodePresence::On, switches: 0, has_news: false };
        Self {
            seed,
            replicas: Replicas::new(hdfs.clone()),
            hdfs,
            upkeep,
            jobs,
            nodes: vec![node; trackers as usize],
            // Blocks are listed only when a node is lost: listing millions is expensive, and most
            // runs lose no node.
            store: None,
            queue: BTreeSet::new(),
            stuck: BTreeSet::new(),
            under_way: BTreeMap::new(),
            busy: 0,
            begun: 0,
            waves: 0,
            accounts: BTreeMap::new(),
            opened: 0,
        }
    }

    /// Sets the nodes that have not joined yet.
    pub fn without(mut self, absent: BTreeSet<TrackerId>) -> Self {
        for node in absent {
            self.nodes[node.index()].presence = NodePresence::Absent;
        }
        self
    }

    // ---- nodes ----

    fn lose_node(&mut self, node: TrackerId, out: &mut Outbox) {
        let DataNode { presence, switches, .. } = &mut self.nodes[node.index()];
        *presence = NodePresence::Off;
        *switches += 1;
        // If the node comes back earlier, its number has changed, and this message is stale.
        out.plan(self.upkeep.dead_after, ToNameNode::Missed(node, *switches));
        self.replicas.off.insert_mut(node);
        // The NameNode does not know yet that the node is off, but copies from it or to it fail.
        self.recheck_blocks(node, out);
        self.tell(out);
    }

    fn regain_node(&mut self, node: TrackerId, out: &mut Outbox) {
        let known = &mut self.nodes[node.index()];
        known.presence = NodePresence::On;
        known.switches += 1;
        let has_news = std::mem::take(&mut known.has_news);
        self.replicas.off.remove_mut(&node);
        if self.replicas.dead.remove_mut(&node) {
            out.emit(Fact::befell(node, Incident::BackInHdfs));
        }
        // The disks were lost meanwhile, so the node's copies do not count again.
        if has_news {
            return self.lose_disk(node, out);
        }
        // The node's blocks may now have too many copies. If they still have too few, they can be
        // copied again, as the node can be read.
        self.recheck_blocks(node, out);
        self.tell(out);
    }

    fn miss(&mut self, node: TrackerId, switches: u32, out: &mut Outbox) {
        if switches != self.nodes[node.index()].switches {
            return;
        }
        self.replicas.dead.insert_mut(node);
        out.emit(Fact::befell(node, Incident::DeadToHdfs));
        self.plan_copies(node, false, out);
        self.tell(out);
    }

    fn lose_disk(&mut self, node: TrackerId, out: &mut Outbox) {
        let known = &mut self.nodes[node.index()];
        if known.presence == NodePresence::On {
            self.replicas.wiped.insert_mut(node);
            self.plan_copies(node, true, out);
        } else {
            known.has_news = true;
            // Until this instant, the blocks of a node that has not joined could be read.
            self.replicas.off.insert_mut(node);
            self.recheck_blocks(node, out);
        }
        self.tell(out);
    }

    // ---- blocks ----

    fn store(&mut self) -> &mut BlockStore {
        let Self { store, jobs, hdfs, nodes, .. } = self;
        store.get_or_insert_with(|| BlockStore::new(jobs, hdfs, nodes.len()))
    }

    fn stored(&mut self, place: u32) -> &mut StoredBlock {
        &mut self.store().blocks[place as usize]
    }

    /// Checks the blocks of a node, if blocks were ever listed: until then, no block lacks a copy.
    fn recheck_blocks(&mut self, node: TrackerId, out: &mut Outbox) {
        if self.store.is_some() {
            self.plan_copies(node, false, out);
        }
    }

    /// Plans copies of the blocks that are or were on a node, and of the blocks that found no
    /// target. With `is_gone` the copies that were made later on the node are lost.
    fn plan_copies(&mut self, node: TrackerId, is_gone: bool, out: &mut Outbox) {
        let number = self.opened;
        self.opened += 1;
        let (left, made) = (BlockSum::default(), BlockSum::default());
        // Open the account before it is certain that it gets copies, since `look` adds them to it.
        // Its event is not emitted yet, so `settle` does not emit its end meanwhile.
        self.accounts.insert(number, CopyAccount { node, is_told: false, left, made });
        let mut places = self.store().of_node(node);
        for place in places.iter().filter(|_| is_gone) {
            self.remove(*place, &[node], out);
            self.cancel(*place, out, |to| to == node);
        }
        if self.nodes[node.index()].presence == NodePresence::On {
            // This node may be the target that the stuck blocks lacked.
            places.extend(&self.stuck);
        }
        for place in places {
            self.look(place, number, out);
        }
        self.start_copies(out);
        let account = self.accounts.get_mut(&number).expect("it has just been opened");
        if account.left.blocks == 0 {
            self.accounts.remove(&number);
            return;
        }
        account.is_told = true;
        let (blocks, bytes) = (account.left.blocks, account.left.bytes());
        let incident = Incident::CopyingBegins { blocks, bytes };
        out.emit(Fact::befell(node, incident));
    }

    /// Plans or cancels copies of a block, so that it will have as many as it should. New copies go
    /// on this account.
    fn look(&mut self, place: u32, account: u32, out: &mut Outbox) {
        let (replicas, nodes) = (&self.replicas, &self.nodes);
        let stored = &self.store.as_ref().expect("it has been found by now").blocks[place as usize];
        let (holders, wanted) = (stored.holders(replicas), stored.first.len());
        let is_readable = replicas.can_read(stored.block, &stored.first);
        let surplus = holders.len().saturating_sub(wanted);
        // Only copies made after the first ones are surplus: the first ones stay.
        let last: Vec<TrackerId> = stored
            .later(replicas)
            .rev()
            .map(|copy| copy.node)
            .filter(|node| !replicas.dead.contains(node))
            .take(surplus)
            .collect();
        // If more copies are under way than are needed, the copies that began last are cancelled.
        let needed = if is_readable { wanted.saturating_sub(holders.len()) } else { 0 };
        // A copy on its way to a node that is off will not arrive.
        let coming_to = stored.coming.iter().map(|(to, _)| *to);
        let coming = coming_to.filter(|to| nodes[to.index()].presence == NodePresence::On);
        let kept: Vec<TrackerId> = coming.take(needed).collect();
        let missing = (needed - kept.len()) as u32;
        self.remove(place, &last, out);
        self.cancel(place, out, |to| !kept.contains(&to));

        let stored = self.stored(place);
        let (was, by, bytes) = (stored.waiting, stored.account, stored.bytes);
        let queued = (stored.living, place);
        // If the block needs no more copies than before, its copies stay on their old account.
        let account = if missing <= was { by } else { account };
        stored.waiting = missing;
        stored.account = account;
        stored.living = holders.len();
        self.queue.remove(&queued);
        self.stuck.remove(&place);
        if 0 < missing {
            // The new copies are added before the old ones are taken off below: an account at zero
            // is closed at once.
            self.queue.insert((holders.len(), place));
            let account = self.accounts.get_mut(&account).expect("what waits has an account");
            account.left.add(missing, bytes);
        }
        if 0 < was {
            self.settle(by, was, bytes, out);
        }
    }

    /// Starts copies while blocks wait and nodes are free to copy.
    fn start_copies(&mut self, out: &mut Outbox) {
        let on = self.nodes.iter().filter(|node| node.presence == NodePresence::On).count();
        // Copies that start together and take equally long share one message at their end.
        let mut waves: BTreeMap<SimSpan, u32> = BTreeMap::new();
        while self.busy < on
            && let Some((living, place)) = self.queue.pop_first()
        {
            let Self { hdfs, nodes, replicas, store: kept, .. } = self;
            let store = kept.as_mut().expect("what waits is stored");
            let stored = &mut store.blocks[place as usize];
            let mut holders = stored.holders(replicas);
            // Two copies of one block must not go to the same node.
            holders.extend(stored.coming.iter().map(|(to, _)| *to));
            // Each copy has its own random stream, so that its draws do not change the draws for
            // other copies.
            let mut rng = stream(self.seed, Purpose::Recopy, self.begun);
            let wanted = stored.first.len() as u32;
            let (bytes, account) = (stored.bytes, stored.account);
            let Some(to) = hdfs.place_again(
                &holders,
                wanted,
                |node| nodes[node.index()].presence == NodePresence::On,
                &mut rng,
            ) else {
                let waiting = std::mem::take(&mut stored.waiting);
                // Take the block's copies off the account, too: otherwise the account would stay
                // open for a block without a target.
                self.stuck.insert(place);
                self.settle(account, waiting, bytes, out);
                continue;
            };
            stored.waiting -= 1;
            if 0 < stored.waiting {
                self.queue.insert((living, place));
            }
            // The copy of a huge block could last longer than the clock can count.
            let lasts = self.upkeep.pace.time_for(bytes).min(SimSpan::LONGEST);
            let wave = *waves.entry(lasts).or_insert_with(|| {
                out.plan(lasts, ToNameNode::Copied(self.waves));
                self.waves += 1;
                self.waves - 1
            });
            stored.coming.push((to, wave));
            store.on[to.index()].insert(place);
            self.under_way.entry(wave).or_default().push(BlockCopying { place, to, account });
            self.busy += 1;
            self.begun += 1;
        }
    }

    /// Finishes copies that were under way.
    fn finish(&mut self, wave: u32, out: &mut Outbox) {
        // All of them may have been cancelled.
        let Some(copies) = self.under_way.remove(&wave) else { return };
        self.busy -= copies.len();
        for BlockCopying { place, to, account } in copies {
            let Self { store: kept, replicas, .. } = self;
            let store = kept.as_mut().expect("what was copied is stored");
            let stored = &mut store.blocks[place as usize];
            stored.coming.retain(|(node, _)| *node != to);
            let (block, bytes) = (stored.block, stored.bytes);
            let distance = Locality::of(to, &stored.holders(replicas), &self.hdfs.topology);
            let mut later = replicas.later.get(&block).cloned().unwrap_or_default();
            later.push(LaterCopy { node: to, number: stored.made });
            stored.made += 1;
            replicas.later.insert_mut(block, later);
            let made = Some(CopyMade { bytes, distance });
            out.emit(Fact::World(WorldFact::Copy { block, tracker: to, made }));
            let made = self.accounts.get_mut(&account).expect("what is copied has an account");
            made.made.add(1, bytes);
            // This copy may be surplus: a node that holds the block may have come back meanwhile.
            self.look(place, account, out);
            self.settle(account, 1, bytes, out);
        }
        self.start_copies(out);
        self.tell(out);
    }

    /// Cancels the copies of a block that are under way to targets for which `is_vain` holds.
    fn cancel(&mut self, place: u32, out: &mut Outbox, is_vain: impl Fn(TrackerId) -> bool) {
        let stored = self.stored(place);
        let bytes = stored.bytes;
        let vain: Vec<_> = stored.coming.extract_if(.., |(to, _)| is_vain(*to)).collect();
        for (to, wave) in vain {
            self.store().drop(place, to);
            let copies = self.under_way.get_mut(&wave).expect("it is under way");
            let place_of = copies.iter().position(|copy| copy.place == place && copy.to == to);
            let at = place_of.expect("it is under way");
            let account = copies.remove(at).account;
            if copies.is_empty() {
                self.under_way.remove(&wave);
            }
            self.busy -= 1;
            self.settle(account, 1, bytes, out);
        }
    }

    /// Removes the later copies of a block from these nodes.
    fn remove(&mut self, place: u32, from: &[TrackerId], out: &mut Outbox) {
        let block = self.stored(place).block;
        let Some(copies) = self.replicas.later.get(&block) else { return };
        let (gone, left): (Vec<LaterCopy>, Vec<LaterCopy>) =
            copies.iter().copied().partition(|copy| from.contains(&copy.node));
        for LaterCopy { node, .. } in &gone {
            self.store().drop(place, *node);
            out.emit(Fact::World(WorldFact::Copy { block, tracker: *node, made: None }));
        }
        if left.is_empty() {
            self.replicas.later.remove_mut(&block);
        } else if !gone.is_empty() {
            self.replicas.later.insert_mut(block, left);
        }
    }

    /// Takes copies off an account when they are made or given up. The last copy closes the
    /// account.
    fn settle(&mut self, number: u32, blocks: u32, each: Bytes, out: &mut Outbox) {
        let account = self.accounts.get_mut(&number).expect("what was to be copied has an account");
        account.left.take(blocks, each);
        let CopyAccount { node, is_told, left, made } = *account;
        // An account whose start was not emitted needs no end event.
        if is_told && left.blocks == 0 {
            self.accounts.remove(&number);
            let incident = Incident::CopyingEnds { blocks: made.blocks, bytes: made.bytes() };
            out.emit(Fact::befell(node, incident));
        }
    }

    fn tell(&self, out: &mut Outbox) {
        out.affect(ToJobTracker::Replicas(Arc::new(self.replicas.clone())));
    }
}

impl Core for NameNode {
    type Msg = ToNameNode;

    fn handle(&mut self, msg: &ToNameNode, out: &mut Outbox) {
        match *msg {
            // A node cannot go off before it has joined; `JoinsOff` comes when it should join.
            ToNameNode::Off(node) if self.nodes[node.index()].presence == NodePresence::Absent => {}
            ToNameNode::Off(node) | ToNameNode::JoinsOff(node) => self.lose_node(node, out),
            ToNameNode::On(node) => self.regain_node(node, out),
            ToNameNode::DiskLost(node) => self.lose_disk(node, out),
            ToNameNode::Missed(node, switches) => self.miss(node, switches, out),
            ToNameNode::Copied(wave) => self.finish(wave, out),
        }
    }
}
