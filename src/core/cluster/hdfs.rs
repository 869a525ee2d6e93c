//! Where the blocks of the file system lie.
//!
//! The nodes that hold a block are a pure function of (seed, file, block). So nothing is stored,
//! all jobs that read a file find its blocks on the same nodes, and no scheduler can move a block.
//! By Hadoop's rule the first copy stays on the node that writes it, or goes to any node if the
//! writer is outside of the cluster. The second copy goes into another rack, the third into the
//! rack of the second.

use std::sync::Arc;

use rand::{Rng, RngExt};

use super::{HdfsSpec, HotSpec, Placement, RackId, Topology, TrackerId};
use mumakil_base::random::{Purpose, stream};

/// The number of a file of the file system, in the order of the workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// A block of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockId {
    /// The file that has the block.
    pub file: FileId,
    /// The position of the block in the file, from 0.
    pub place: u32,
}

/// The file system: finds the nodes that hold a block.
#[derive(Clone, Debug)]
pub struct Hdfs {
    seed: u64,
    /// Its nodes.
    pub(crate) topology: Arc<Topology>,
    replication: u32,
    placement: Placement,
    /// The node that writes the files, if `placement` names one.
    writer: Option<TrackerId>,
    hot: Option<HotSpec>,
}

impl Hdfs {
    /// Returns the file system of these nodes, without hot files.
    pub fn new(seed: u64, topology: Arc<Topology>, replication: u32, placement: Placement) -> Self {
        // HDFS places at most one copy of a block on a node.
        let replication = replication.min(topology.len());
        let writer = match &placement {
            // The writer was checked when the nodes became known.
            Placement::Writer(writer) => writer.find(&topology).ok(),
            Placement::Hadoop | Placement::Random => None,
        };
        Self { seed, topology, replication, placement, writer, hot: None }
    }

    /// Returns the file system of a scenario.
    pub fn of(seed: u64, topology: Arc<Topology>, spec: &HdfsSpec) -> Self {
        let placement = spec.placement.clone();
        Self { hot: spec.hot, ..Self::new(seed, topology, spec.replication.get(), placement) }
    }

    /// Returns how many extra copies the blocks of a file have while `readers` jobs read it.
    pub fn more_copies(&self, readers: u32) -> u32 {
        let hot = self.hot.filter(|hot| hot.jobs.get() <= readers);
        hot.map_or(0, |hot| hot.replication.get().saturating_sub(self.replication))
    }

    /// Returns whether files that many jobs read get extra copies.
    pub fn has_hot_files(&self) -> bool {
        self.hot.is_some()
    }

    /// Writes the nodes that hold a block into `nodes`, in the order in which they were chosen;
    /// `more` is the number of extra copies.
    pub fn locate(&self, file: FileId, block: u32, more: u32, nodes: &mut Vec<TrackerId>) {
        nodes.clear();
        // Each block has a random stream of its own, so its nodes do not depend on the blocks that
        // were located before.
        let subject = u64::from(file.0) << 28 | u64::from(block);
        let mut rng = stream(self.seed, Purpose::Placement, subject);
        let topology = &*self.topology;
        let copies = (self.replication + more).min(topology.len());
        while nodes.len() < copies as usize {
            let node = match (&self.placement, self.writer) {
                (Placement::Random, _) => anywhere(topology, nodes, &mut rng),
                (_, Some(writer)) if nodes.is_empty() => writer,
                (Placement::Hadoop | Placement::Writer(_), _) => {
                    self.next_by_rule(nodes, copies, &mut rng)
                }
            };
            nodes.push(node);
        }
    }

    /// Chooses the next copy's node by Hadoop's default rule.
    fn next_by_rule<R: Rng>(&self, chosen: &[TrackerId], copies: u32, rng: &mut R) -> TrackerId {
        let topology = &*self.topology;
        let rack = |index: usize| topology.rack(chosen[index]);
        // ReplicationTargetChooser.chooseTarget: the third copy goes into the rack of the second,
        // or into another rack if the first two had to share one.
        let beside_or_away = match chosen.len() {
            1 => in_another_rack(topology, rack(0), chosen, rng),
            2 if rack(0) == rack(1) => in_another_rack(topology, rack(0), chosen, rng),
            2 => in_rack(topology, rack(1), chosen, rng),
            _ => None,
        };
        beside_or_away
            .or_else(|| self.below_the_rack_limit(chosen, copies, |_| true, rng))
            .unwrap_or_else(|| anywhere(topology, chosen, rng))
    }

    /// Chooses a fit node for one more copy of a block that has lost copies, by Hadoop's rule: the
    /// second copy goes into another rack; the third goes into the rack of one of the first
    /// two, or into another rack if both share one; any other copy goes into a rack below Hadoop's
    /// limit of copies per rack, if there is such a rack. Returns `None` if no node is fit.
    pub fn place_again<R: Rng>(
        &self,
        holders: &[TrackerId],
        copies: u32,
        is_fit: impl Fn(TrackerId) -> bool,
        rng: &mut R,
    ) -> Option<TrackerId> {
        let topology = &*self.topology;
        let is_free = |node: TrackerId| is_fit(node) && !holders.contains(&node);
        let rack = |node: &TrackerId| topology.rack(*node);
        let is_in_one = holders.iter().all(|node| rack(node) == rack(&holders[0]));
        let by_rule = match holders.len() {
            _ if self.placement == Placement::Random => None,
            1 | 2 if is_in_one => pick(topology.len(), rng, TrackerId, |node| {
                is_free(node) && rack(&node) != rack(&holders[0])
            }),
            2 => {
                // Hadoop takes the rack of the node that sends the copy; the sender is not
                // simulated, so draw it.
                let beside = holders[rng.random_range(0..2)];
                let nodes = topology.rack_nodes(topology.rack(beside));
                pick(nodes.len() as u32, rng, |index| nodes[index as usize], is_free)
            }
            _ => None,
        };
        by_rule
            .or_else(|| match self.placement {
                Placement::Random => None,
                Placement::Hadoop | Placement::Writer(_) => {
                    self.below_the_rack_limit(holders, copies, &is_fit, rng)
                }
            })
            // A full rack is better than no copy.
            .or_else(|| pick(topology.len(), rng, TrackerId, is_free))
    }

    /// Chooses any fit node whose rack is below the limit of copies per rack; `None` if there is
    /// none.
    fn below_the_rack_limit<R: Rng>(
        &self,
        chosen: &[TrackerId],
        copies: u32,
        is_fit: impl Fn(TrackerId) -> bool,
        rng: &mut R,
    ) -> Option<TrackerId> {
        let topology = &*self.topology;
        // ReplicationTargetChooser: maxNodesPerRack = (replicas - 1) / racks + 2.
        let most = (copies - 1) / topology.racks() + 2;
        pick(topology.len(), rng, TrackerId, |node| {
            let rack = topology.rack(node);
            let held = chosen.iter().filter(|other| topology.rack(**other) == rack).count();
            is_fit(node) && !chosen.contains(&node) && (held as u32) < most
        })
    }
}

fn anywhere<R: Rng>(topology: &Topology, chosen: &[TrackerId], rng: &mut R) -> TrackerId {
    pick(topology.len(), rng, TrackerId, |node| !chosen.contains(&node))
        .expect("there are never more copies than nodes")
}

fn in_rack<R: Rng>(
    topology: &Topology,
    rack: RackId,
    chosen: &[TrackerId],
    rng: &mut R,
) -> Option<TrackerId> {
    let nodes = topology.rack_nodes(rack);
    pick(nodes.len() as u32, rng, |index| nodes[index as usize], |node| !chosen.contains(&node))
}

fn in_another_rack<R: Rng>(
    topology: &Topology,
    rack: RackId,
    chosen: &[TrackerId],
    rng: &mut R,
) -> Option<TrackerId> {
    // With one rack the search would walk all nodes and find none.
    if topology.racks() < 2 {
        return None;
    }
    pick(topology.len(), rng, TrackerId, |node| {
        topology.rack(node) != rack && !chosen.contains(&node)
    })
}

/// Draws one of the first `count` candidates, with equal chance for each that fits; `None` if none
/// fits.
///
/// Usually one of the first draws fits. After a few misses the fitting candidates are listed, so
/// that the search ends.
fn pick<R: Rng>(
    count: u32,
    rng: &mut R,
    candidate: impl Fn(u32) -> TrackerId,
    fits: impl Fn(TrackerId) -> bool,
) -> Option<TrackerId> {
    if count == 0 {
        return None;
    }
    // Chosen: if half of the candidates fit, one search in 256 misses eight times in a row.
    for _ in 0..8 {
        let node = candidate(rng.random_range(0..count));
        if fits(node) {
            return Some(node);
        }
    }
    let fitting: Vec<TrackerId> = (0..count).map(candidate).filter(|node| fits(*node)).collect();
    (!fitting.is_empty()).then(|| fitting[rng.random_range(0..fitting.len())])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::{Node, PerSlot};
    use mumakil_base::units::Count;

    fn racks(sizes: &[u32]) -> Arc<Topology> {
        let nodes = sizes.iter().enumerate().flat_map(|(rack, size)| {
            std::iter::repeat_n(
                Node::plain(rack as u32, PerSlot { map: 2, reduce: 2 }),
                *size as usize,
            )
        });
        Arc::new(Topology::from_nodes(nodes.collect()))
    }

    fn blocks(hdfs: &Hdfs, count: u32) -> Vec<Vec<TrackerId>> {
        let locate = |block| {
            let mut nodes = Vec::new();
            hdfs.locate(FileId(0), block, 0, &mut nodes);
            nodes
        };
        (0..count).map(locate).collect()
    }

    #[test]
    fn copies_lie_on_different_nodes_and_two_together_in_another_rack() {
        let topology = racks(&[5, 5, 5]);
        let hdfs = Hdfs::new(1, topology.clone(), 3, Placement::Hadoop);
        for nodes in blocks(&hdfs, 500) {
            let rack = |i: usize| topology.rack(nodes[i]);
            assert!(nodes[0] != nodes[1] && nodes[1] != nodes[2] && nodes[0] != nodes[2]);
            assert!(rack(0) != rack(1), "{nodes:?}");
            assert!(rack(1) == rack(2), "{nodes:?}");
        }
    }

    #[test]
    fn a_writer_keeps_the_first_copy_and_the_others_lie_as_ever() {
        // Nodes 1 to 3 are the first rack, 4 and 5 the second, 6 to 8 the third.
        let topology = racks(&[3, 2, 3]);
        let writer = Placement::Writer("node-4".parse().unwrap());
        let alone = Hdfs::new(1, topology.clone(), 1, writer.clone());
        assert!(blocks(&alone, 20).iter().all(|nodes| nodes[..] == [TrackerId(3)]));
        let rack = |node: &TrackerId| topology.rack(*node).0;
        let mut seconds = [0; 3];
        for nodes in blocks(&Hdfs::new(1, topology.clone(), 3, writer.clone()), 300) {
            assert_eq!(nodes[0], TrackerId(3));
            assert!(rack(&nodes[1]) == rack(&nodes[2]) && nodes[1] != nodes[2], "{nodes:?}");
            seconds[rack(&nodes[1]) as usize] += 1;
        }
        assert!(seconds[1] == 0 && 100 < seconds[0] && 100 < seconds[2], "{seconds:?}");
    }

    #[test]
    fn a_hot_file_has_more_copies_beside_the_usual_ones() {
        let usual = Hdfs::new(1, racks(&[20]), 3, Placement::Hadoop);
        let jobs = Count::of(2);
        let hot = Hdfs { hot: Some(HotSpec { jobs, replication: Count::of(10) }), ..usual.clone() };
        assert_eq!([1, 2, 3].map(|readers| hot.more_copies(readers)), [0, 7, 7]);
        assert_eq!(usual.more_copies(9), 0);
        for (block, few) in (0..).zip(blocks(&usual, 50)) {
            let mut many = Vec::new();
            hot.locate(FileId(0), block, 7, &mut many);
            assert_eq!((&many[..3], many.len()), (&few[..], 10));
        }
    }

    #[test]
    fn one_more_copy_lies_away_from_a_lone_one_and_beside_two_that_are_apart() {
        let topology = racks(&[3, 2, 3]);
        let hdfs = Hdfs::new(1, topology.clone(), 3, Placement::Hadoop);
        let mut rng = stream(1, Purpose::Recopy, 0);
        let mut rack_of_new = |holders: &[u32], off: u32| {
            let holders: Vec<TrackerId> = holders.iter().copied().map(TrackerId).collect();
            let is_fit = |node| node != TrackerId(off);
            hdfs.place_again(&holders, 3, is_fit, &mut rng)
                .map(|node| (node.0, topology.rack(node).0))
        };
        for _ in 0..50 {
            assert_ne!(rack_of_new(&[3], 0).unwrap().1, 1);
            assert_ne!(rack_of_new(&[0, 1], 3).unwrap().1, 0);
            let beside = rack_of_new(&[0, 3], 1).unwrap();
            assert!([2, 4].contains(&beside.0), "{beside:?}");
        }
        assert_eq!(rack_of_new(&[0, 1, 2, 3, 4, 5, 6], 7), None);
    }

    #[test]
    fn one_more_copy_keeps_to_the_rack_limit_as_long_as_it_can() {
        // Nodes 0 to 5, 6 to 8 and 9: of six copies no rack holds more than (6 - 1) / 3 + 2 = 3.
        let topology = racks(&[6, 3, 1]);
        let holders = [0, 1, 2, 6, 7].map(TrackerId);
        let again = |placement, fit: fn(u32) -> bool| {
            let hdfs = Hdfs::new(1, topology.clone(), 6, placement);
            let mut rng = stream(1, Purpose::Recopy, 0);
            let mut one = || hdfs.place_again(&holders, 6, |node| fit(node.0), &mut rng);
            (0..100).map(|_| one().unwrap().0).collect::<std::collections::BTreeSet<_>>()
        };
        assert_eq!(again(Placement::Hadoop, |_| true), [8, 9].into());
        assert_eq!(again(Placement::Hadoop, |node| node != 9), [8].into());
        assert_eq!(again(Placement::Hadoop, |node| node < 6), [3, 4, 5].into());
        assert_eq!(again(Placement::Random, |_| true), [3, 4, 5, 8, 9].into());
    }

    #[test]
    fn no_rack_holds_more_copies_than_the_limit() {
        let topology = racks(&[20, 20, 20]);
        let hdfs = Hdfs::new(1, topology.clone(), 6, Placement::Hadoop);
        for nodes in blocks(&hdfs, 500) {
            for rack in 0..3 {
                let held = nodes.iter().filter(|node| topology.rack(**node).0 == rack).count();
                assert!(held <= 3, "{nodes:?}");
            }
        }
    }

    #[test]
    fn every_node_is_as_likely_as_any_other() {
        for placement in [Placement::Hadoop, Placement::Random] {
            let hdfs = Hdfs::new(1, racks(&[10, 10]), 3, placement);
            let mut held = [0u32; 20];
            for node in blocks(&hdfs, 4_000).into_iter().flatten() {
                held[node.index()] += 1;
            }
            // 12,000 copies on 20 nodes: 600 each, standard deviation about 24.
            assert!(held.iter().all(|count| (480..720).contains(count)), "{held:?}");
        }
    }

    #[test]
    fn a_block_lies_where_it_lies_whoever_asks() {
        let hdfs = Hdfs::new(7, racks(&[4, 4]), 3, Placement::Hadoop);
        assert_eq!(blocks(&hdfs, 20), blocks(&hdfs, 20));
    }

    #[test]
    fn small_clusters_get_fewer_copies() {
        for sizes in [&[1][..], &[2], &[1, 1], &[3, 0]] {
            let hdfs = Hdfs::new(1, racks(sizes), 3, Placement::Hadoop);
            let nodes = sizes.iter().sum::<u32>().min(3) as usize;
            assert!(blocks(&hdfs, 50).iter().all(|copies| copies.len() == nodes), "{sizes:?}");
        }
    }
}
