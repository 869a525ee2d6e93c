//! Which nodes hold the blocks after faults: the NameNode lists the copies of a block, and a client
//! that opens a file picks one of them.
//!
//! As long as no fault has struck a node, a block is where [`Hdfs`] placed it. [`Replicas`] holds
//! the differences: nodes whose copies do not count, and copies that were made since. The
//! [`NameNode`](super::NameNode) sends a snapshot of it to the JobTracker after each change, and
//! the JobTracker sends the snapshot to trackers with each map that reads. Snapshots share their
//! common parts, so that each needs memory only for its changes.
//!
//! The list may name nodes that cannot be read, as in HDFS: the NameNode *lists* a node that is off
//! until it has been silent for long enough. A client that picks such a node waits for a time-out
//! and takes the next copy.

use rand::RngExt;
use rpds::{RedBlackTreeMapSync, RedBlackTreeSetSync};

use crate::cluster::{Hdfs, Topology, TrackerId};

use crate::mapred::locality::Locality;
use crate::mapred::spec::{Block, JobSpec};
use mumakil_base::random::ChaCha8Rng;
use mumakil_base::units::SimSpan;

/// How long a client tries to reach a node that is off: `dfs.socket.timeout`.
const CONNECT_TIMEOUT: SimSpan = SimSpan::from_secs(60);
/// How often a client that found no copy asks the NameNode again before it gives up:
/// `dfs.client.max.block.acquire.failures`.
const MORE_ROUNDS: u64 = 3;
/// How long the client waits before it asks again.
// DFSClient.chooseDataNode sleeps 3000 ms before it asks for the block's nodes again.
const PAUSE: SimSpan = SimSpan::from_secs(3);

/// A copy that was made since the file was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LaterCopy {
    pub(super) node: TrackerId,
    /// How many later copies of the block were made before this one.
    pub(super) number: u32,
}

/// Which nodes hold the copies of blocks.
#[derive(Clone, Debug)]
pub struct Replicas {
    hdfs: Hdfs,
    /// Nodes that are off.
    pub(super) off: RedBlackTreeSetSync<TrackerId>,
    /// Nodes that have been off for so long that the NameNode no longer lists their copies.
    pub(super) dead: RedBlackTreeSetSync<TrackerId>,
    /// Nodes that have lost the copies that were first written there.
    pub(super) wiped: RedBlackTreeSetSync<TrackerId>,
    /// The copies that were made later, by block.
    pub(super) later: RedBlackTreeMapSync<Block, Vec<LaterCopy>>,
}

/// A copy of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copy {
    /// The node that has it.
    pub node: TrackerId,
    /// Which of the block's copies it is.
    pub which: ReplicaChoice,
}

/// Identifies a copy of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplicaChoice {
    /// A copy from the first writing of the block; the number says how many copies were written
    /// before it.
    First(u32),
    /// A copy that was made later; the number says how many later copies were made before it.
    Later(u32),
}

/// How a map reads its input after a fault has struck nodes with copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputReading {
    /// The copy that it reads; `None` if it finds none.
    pub from: Option<Copy>,
    /// How long the map waits for nodes that do not answer before it reads or gives up.
    pub waits: SimSpan,
}

impl Copy {
    /// Returns the copies that were written to these nodes at first.
    pub(super) fn written(nodes: &[TrackerId]) -> impl Iterator<Item = Self> {
        let numbered = (0..).zip(nodes);
        numbered.map(|(number, node)| Self { node: *node, which: ReplicaChoice::First(number) })
    }
}

impl Replicas {
    /// Returns a file system that no fault has struck.
    pub fn new(hdfs: Hdfs) -> Self {
        Self {
            hdfs,
            off: RedBlackTreeSetSync::default(),
            dead: RedBlackTreeSetSync::default(),
            wiped: RedBlackTreeSetSync::default(),
            later: RedBlackTreeMapSync::default(),
        }
    }

    /// Returns whether all nodes are on and all blocks are where they were written.
    pub(super) fn is_untouched(&self) -> bool {
        self.off.is_empty() && self.are_as_written()
    }

    /// Returns whether every block is where it was written, as far as the NameNode knows.
    pub(super) fn are_as_written(&self) -> bool {
        self.dead.is_empty() && self.wiped.is_empty() && self.later.is_empty()
    }

    /// Returns the copies of a map's input that the NameNode lists; `first` are the nodes to which
    /// the input was written.
    fn listed(&self, job: &JobSpec, map: u32, first: &[TrackerId]) -> Vec<Copy> {
        let mut listed: Vec<Copy> =
            Copy::written(first).filter(|copy| self.keeps(copy.node)).collect();
        let later = Block::of(job, map).and_then(|block| self.later.get(&block));
        for LaterCopy { node, number } in later.into_iter().flatten().copied() {
            // Count each node once: a node that has lost its disks may have got the block again.
            if !self.dead.contains(&node) && listed.iter().all(|other| other.node != node) {
                listed.push(Copy { node, which: ReplicaChoice::Later(number) });
            }
        }
        listed
    }

    /// Returns whether a node still has its first copies, as far as the NameNode knows.
    pub(super) fn keeps(&self, node: TrackerId) -> bool {
        !self.dead.contains(&node) && !self.wiped.contains(&node)
    }

    /// Fills `holders` with the nodes that hold a map's input, as the NameNode lists them.
    pub(super) fn locate(&self, job: &JobSpec, map: u32, holders: &mut Vec<TrackerId>) {
        holders.clear();
        let Some(input) = &job.input else { return };
        input.locate(map, &self.hdfs, holders);
        // Nearly always nothing has changed, and the list is already complete.
        if self.are_as_written() {
            return;
        }
        let listed = self.listed(job, map, holders);
        holders.clear();
        holders.extend(listed.iter().map(|copy| copy.node));
    }

    /// Returns whether a node that is on holds a block; `first` are the nodes to which the block
    /// was written.
    pub(super) fn can_read(&self, block: Block, first: &[TrackerId]) -> bool {
        // Ask `off`, not `dead`: a node that has just gone off cannot be read, though the NameNode
        // still lists it.
        let is_on = |node: &TrackerId| !self.off.contains(node);
        let mut first = first.iter().filter(|node| !self.wiped.contains(node));
        let mut later = self.later.get(&block).into_iter().flatten();
        first.any(is_on) || later.any(|copy| is_on(&copy.node))
    }

    /// Returns how a job's map on a node reads its input. `None` means that it reads as planned: no
    /// fault has struck the nodes with copies, and the copies are as near as expected.
    ///
    /// Draws the copy from `rng` as if no node were struck, so that the first pick is the same as
    /// without faults. A node that is off in this snapshot counts as off until the attempt has
    /// finished reading.
    pub(super) fn open(
        &self,
        (job, map): (&JobSpec, u32),
        expected: Option<Locality>,
        on: TrackerId,
        topology: &Topology,
        rng: impl FnOnce() -> ChaCha8Rng,
    ) -> Option<InputReading> {
        let mut first = Vec::new();
        job.input.as_ref()?.locate(map, &self.hdfs, &mut first);
        let block = Block::of(job, map)?;
        let is_moved = first.iter().any(|node| self.off.contains(node) || !self.keeps(*node))
            || self.later.contains_key(&block);
        // The job's splits may name copies that have been lost since.
        let is_expected = Locality::of(on, &first, topology) == expected;
        if first.is_empty() || (!is_moved && is_expected) {
            return None;
        }
        let mut left = self.listed(job, map, &first);
        let mut rng = rng();
        let mut waits = SimSpan::ZERO;
        // As in DFSClient, the nearest copy is tried first, and a node that does not answer is not
        // tried again.
        while let Some(copy) = nearest(&left, on, topology, &mut rng) {
            if !self.off.contains(&copy.node) {
                return Some(InputReading { from: Some(copy), waits });
            }
            left.retain(|other| *other != copy);
            waits += CONNECT_TIMEOUT;
        }
        // In every further round the client tries the same nodes again.
        let waits = waits * (1 + MORE_ROUNDS) + PAUSE * MORE_ROUNDS;
        Some(InputReading { from: None, waits })
    }
}

/// Returns the copy nearest to a node; picks one at random if several are equally near.
pub(super) fn nearest(
    copies: &[Copy],
    on: TrackerId,
    topology: &Topology,
    rng: &mut ChaCha8Rng,
) -> Option<Copy> {
    // 0 on the node, 1 in its rack, 2 elsewhere: HDFS sorts the nodes of a block in the same way.
    let distance = |copy: &Copy| {
        let is_near = topology.rack(copy.node) == topology.rack(on);
        if copy.node == on { 0 } else { 2 - u32::from(is_near) }
    };
    let least = copies.iter().map(distance).min();
    let near: Vec<Copy> =
        copies.iter().filter(|copy| Some(distance(copy)) == least).copied().collect();
    match near[..] {
        [] => None,
        // Draw only if there is a choice, so that no random number is used up without need.
        [only] => Some(only),
        _ => Some(near[rng.random_range(0..near.len())]),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use super::*;
    use crate::cluster::{Node, PerSlot, Placement};
    use crate::mapred::ids::JobId;
    use crate::mapred::spec::{Input, Split};
    use mumakil_base::random::{Purpose, stream};
    use mumakil_base::units::Bytes;

    /// Opens the input of a map on node 0: nodes 1 and 2 are in its rack, and node 3 is in another.
    fn open(
        holders: &[u32],
        number: u32,
        change: impl FnOnce(&mut Replicas),
    ) -> Option<InputReading> {
        let is_known = !holders.is_empty();
        open_as(is_known.then_some(Locality::Rack), holders, number, change)
    }

    /// Opens the input of a map that the JobTracker believes to be at this distance.
    fn open_as(
        locality: Option<Locality>,
        holders: &[u32],
        number: u32,
        change: impl FnOnce(&mut Replicas),
    ) -> Option<InputReading> {
        let node = |rack| Node::plain(rack, PerSlot { map: 1, reduce: 1 });
        let topology = Arc::new(Topology::from_nodes([0, 0, 0, 1].map(node).to_vec()));
        let holders = holders.iter().copied().map(TrackerId).collect();
        let input = Input::Splits([Split { bytes: Bytes::new(1), holders }].into());
        let job = JobSpec { input: Some(input), ..JobSpec::bare(0, 1, 0) };
        let mut files = Replicas::new(Hdfs::new(1, topology.clone(), 3, Placement::Hadoop));
        change(&mut files);
        let rng = || stream(1, Purpose::Source, u64::from(number));
        files.open((&job, 0), locality, TrackerId(0), &topology, rng)
    }

    fn off(nodes: &[u32]) -> impl FnOnce(&mut Replicas) {
        let nodes = nodes.iter().copied().map(TrackerId).collect();
        |files| files.off = nodes
    }

    fn read(reading: Option<InputReading>) -> (Option<u32>, u64) {
        let InputReading { from, waits } = reading.unwrap();
        (from.map(|copy| copy.node.0), waits.as_millis() / 1_000)
    }

    #[test]
    fn files_on_sound_nodes_are_read_as_ever() {
        assert_eq!(open(&[1, 2], 0, off(&[3])), None);
        assert_eq!(open(&[], 0, off(&[3])), None, "nobody knows where it is");
    }

    #[test]
    fn a_reader_sent_to_a_removed_copy_reads_from_elsewhere() {
        // According to the job's splits node 0 has the block; since then only node 1 has it.
        let reading = open_as(Some(Locality::Node), &[1], 0, off(&[]));
        assert_eq!(read(reading), (Some(1), 0));
    }

    #[test]
    fn a_reader_that_picks_a_node_that_is_off_waits_a_minute_and_takes_another() {
        let found: BTreeSet<_> =
            (0..50).map(|number| read(open(&[1, 2, 3], number, off(&[1])))).collect();
        assert_eq!(found, [(Some(2), 0), (Some(2), 60)].into());
        assert_eq!(read(open(&[1, 2, 3], 0, off(&[1, 2]))), (Some(3), 120), "the far one is last");
    }

    #[test]
    fn a_reader_without_a_copy_asks_three_times_more_and_gives_up() {
        // Four rounds of two minutes, three pauses of three seconds.
        assert_eq!(read(open(&[1, 2], 0, off(&[1, 2]))), (None, 489));
        let dead = |files: &mut Replicas| files.dead = [1, 2].map(TrackerId).into_iter().collect();
        assert_eq!(read(open(&[1, 2], 0, dead)), (None, 9), "nobody is listed");
    }

    #[test]
    fn a_later_copy_is_read_like_any_other() {
        let reading = open(&[1], 0, |files| {
            files.wiped.insert_mut(TrackerId(1));
            let copy = LaterCopy { node: TrackerId(2), number: 3 };
            files.later.insert_mut(Block::OfTrace(JobId(0), 0), vec![copy]);
        });
        let copy = Copy { node: TrackerId(2), which: ReplicaChoice::Later(3) };
        assert_eq!(reading, Some(InputReading { from: Some(copy), waits: SimSpan::ZERO }));
    }
}
