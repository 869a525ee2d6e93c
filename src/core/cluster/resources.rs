//! The resources that attempts share: disks, wires and cores, each with a number.
//!
//! A node has its cores, two directions of its connection, its page cache and its disks. A rack has
//! two directions of its uplink; if racks are grouped into pods, so does a pod. The cluster may
//! have a fabric, which limits the sum of all transfers between nodes, within racks and between
//! them. In a real network each switch has a limit, but users seldom know which nodes share a
//! switch. So here the switch of a rack has no limit of its own.

use std::sync::Arc;

use super::{
    BlockId, ClusterSpec, PodId, RackId, ResourceCapacity, ResourceId, ResourceUse, Speeds,
    Topology, TrackerId,
};
use mumakil_base::units::{Bytes, Rate, SimSpan};

/// The resources of a cluster, by number.
#[derive(Clone, Debug)]
pub struct Resources {
    /// The nodes and their racks.
    pub topology: Arc<Topology>,
    /// How many disks each node has.
    pub disks: u32,
    /// Whether nodes keep in memory the blocks that were read from their disks.
    pub has_page_caches: bool,
    /// How many pods have uplinks: 0 if all racks are at one switch.
    pods: u32,
    /// The capacities of all resources: node by node, then rack by rack, then pod by pod, then the
    /// fabric.
    pub capacities: Arc<[ResourceCapacity]>,
}

/// A disk, by its node and its position there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskId {
    /// The node that has the disk.
    pub node: TrackerId,
    /// The position of the disk among the node's disks, from 0.
    pub disk: u32,
}

/// The resources that a transfer or a computation uses, and its speed when it has them to itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Demand {
    /// The resources that it uses, each with its weight.
    pub uses: Arc<[ResourceUse]>,
    /// The rate if nothing else uses the resources: bytes a second, or cores.
    pub alone: f64,
    /// The block that is read, if the page cache may hold it; even then `uses` describes a read
    /// from disk.
    pub reread: Option<Arc<Reread>>,
}

/// A read that needs no disk if its block is in the page cache of the node that has a copy.
#[derive(Clone, Debug, PartialEq)]
pub struct Reread {
    /// The node that has the copy.
    pub node: TrackerId,
    /// The block that is read.
    pub block: BlockId,
    /// How many bytes of the block are read, and kept in the page cache.
    pub bytes: Bytes,
    /// The resources that a read from memory uses.
    pub uses: Arc<[ResourceUse]>,
}

impl Demand {
    /// Returns how long a transfer of `bytes` takes if nothing else uses the resources.
    pub fn time_for(&self, bytes: Bytes) -> SimSpan {
        SimSpan::ceil_from_secs(bytes.get() as f64 / self.alone)
    }
}

/// The offsets of a node's resources from the number of the node's first resource.
// Disks come last, as their number differs between clusters.
const CORES: u32 = 0;
const NIC_IN: u32 = 1;
const NIC_OUT: u32 = 2;
const PAGE_CACHE: u32 = 3;
const DISKS: u32 = 4;

/// The offsets of a rack's or a pod's resources from the number of its first resource.
const UPLINK_IN: u32 = 0;
const UPLINK_OUT: u32 = 1;
const OF_A_RACK: u32 = 2;

impl Resources {
    /// Returns the resources of a cluster.
    pub fn new(spec: &ClusterSpec, topology: Arc<Topology>) -> Self {
        let rate = |rate: Rate| ResourceCapacity::of(rate.bytes_per_s() as f64);
        let disks = spec.disk.count.get();
        // All reads from memory together have no limit, but each read has one.
        let from_memory = spec.page_cache.map_or(f64::INFINITY, |it| it.rate.bytes_per_s() as f64);
        let page_cache = ResourceCapacity { total: f64::INFINITY, each: from_memory };
        let mut capacities = Vec::new();
        for (_, node) in topology.nodes() {
            // One attempt computes on one core.
            capacities.push(ResourceCapacity { total: f64::from(node.cores), each: 1.0 });
            capacities.extend([rate(node.nic), rate(node.nic), page_cache]);
            capacities.extend(std::iter::repeat_n(rate(node.disk), disks as usize));
        }
        for rack in (0..topology.racks()).map(RackId) {
            let uplink = rate(topology.uplink(rack, spec.network.uplink));
            capacities.extend([uplink, uplink]);
        }
        let mut pods = 0;
        if let Some(spec) = &spec.network.pods {
            pods = topology.pods();
            capacities.extend((0..pods).flat_map(|_| [rate(spec.uplink); 2]));
        }
        let fabric = spec.network.fabric.map(|a_node| a_node.bytes_per_s() as f64);
        capacities
            .extend(fabric.map(|a_node| ResourceCapacity::of(a_node * f64::from(topology.len()))));
        let has_page_caches = spec.page_cache.is_some();
        Self { topology, disks, has_page_caches, pods, capacities: capacities.into() }
    }

    /// Returns the capacities of a node's cores, wires and disks at these shares of their usual
    /// speed.
    pub fn at_speeds(
        &self,
        node: TrackerId,
        Speeds { cpu, disk, network }: Speeds,
    ) -> impl Iterator<Item = (ResourceId, ResourceCapacity)> {
        // The page cache is left out: memory keeps its speed on a slow node.
        let disks = (DISKS..DISKS + self.disks).map(move |place| (place, disk));
        let all = [(CORES, cpu), (NIC_IN, network), (NIC_OUT, network)].into_iter().chain(disks);
        all.map(move |(place, speed)| {
            let id = self.of_node(node, place);
            let ResourceCapacity { total, each } = self.capacities[id.index()];
            (id, ResourceCapacity { total: total * speed, each: each * speed })
        })
    }

    /// Returns the resources that `to` uses to read from a disk of any node. A write to the node's
    /// own disk uses the same resources.
    pub fn read(&self, from: DiskId, to: TrackerId) -> Demand {
        self.demand(self.moving(self.disk(from), from.node, to))
    }

    /// Returns the resources that `to` uses to read a block from a disk, or from the memory of the
    /// disk's node.
    pub fn read_block(&self, block: BlockId, bytes: Bytes, from: DiskId, to: TrackerId) -> Demand {
        let node = from.node;
        Demand {
            reread: self.has_page_caches.then(|| {
                let page_cache = self.of_node(node, PAGE_CACHE);
                let uses = self.moving(page_cache, node, to).collect();
                Reread { node, block, bytes, uses }.into()
            }),
            ..self.read(from, to)
        }
    }

    /// Returns the resources that a transfer to a node uses. The transfer reads from `source`,
    /// which is a disk or the page cache of any node.
    fn moving(
        &self,
        source: ResourceId,
        from: TrackerId,
        to: TrackerId,
    ) -> impl Iterator<Item = ResourceUse> {
        // A read from the node's own disk does not touch the network.
        let mut uses = vec![source];
        if from != to {
            uses.push(self.of_node(from, NIC_OUT));
            let [source, target] = [from, to].map(|node| self.topology.rack(node));
            if source != target {
                uses.extend([self.of_rack(source, UPLINK_OUT), self.of_rack(target, UPLINK_IN)]);
            }
            let [source, target] = [from, to].map(|node| self.topology.pod(node));
            if source != target {
                // Without pods all racks are in one pod, so this branch is never taken.
                uses.extend([self.of_pod(source, UPLINK_OUT), self.of_pod(target, UPLINK_IN)]);
            }
            uses.push(self.of_node(to, NIC_IN));
            uses.extend(self.fabric());
        }
        uses.into_iter().map(|resource| ResourceUse { resource, weight: 1.0 })
    }

    /// Returns the resources that a reduce uses to fetch from all nodes alike and write onto a
    /// disk.
    ///
    /// The nodes that send are no bottleneck: each sends only a small share.
    pub fn fetch(&self, to: DiskId) -> Demand {
        let rack = self.topology.rack(to.node);
        let near = self.topology.part_in_rack(to.node, 1.0);
        let uses = [
            (self.disk(to), 1.0),
            (self.of_node(to.node, NIC_IN), 1.0),
            (self.of_rack(rack, UPLINK_IN), 1.0 - near),
        ];
        let from_other_pods = 1.0 - self.topology.part_in_pod(to.node, 1.0);
        // Without pods this use has the number of another resource; but its weight is then 0, so
        // the filter below drops it.
        let uplink = (self.of_pod(self.topology.pod(to.node), UPLINK_IN), from_other_pods);
        // Map outputs on the reduce's own node do not cross the fabric.
        let from_others = 1.0 - 1.0 / f64::from(self.topology.len());
        let fabric = self.fabric().map(|fabric| (fabric, from_others));
        let uses = uses.into_iter().chain([uplink]).chain(fabric);
        let used = uses.filter(|(_, weight)| 0.0 < *weight);
        self.demand(used.map(|(resource, weight)| ResourceUse { resource, weight }))
    }

    /// Returns the resources that computing uses on a node; `None` if there is a core for every
    /// slot.
    pub fn compute(&self, on: TrackerId) -> Option<Demand> {
        let node = self.topology.node(on);
        let most = self.topology.most_slots_of(on);
        let is_short = node.cores < most.map + most.reduce;
        let cores = ResourceUse { resource: self.of_node(on, CORES), weight: 1.0 };
        // With a core for every slot no attempt can slow another down, so no flow is needed.
        is_short.then(|| self.demand([cores]))
    }

    fn demand(&self, uses: impl IntoIterator<Item = ResourceUse>) -> Demand {
        let uses: Arc<[ResourceUse]> = uses.into_iter().collect();
        let alone =
            uses.iter().map(|used| self.capacities[used.resource.index()].alone(used.weight));
        Demand { alone: alone.fold(f64::INFINITY, f64::min), uses, reread: None }
    }

    fn disk(&self, disk: DiskId) -> ResourceId {
        self.of_node(disk.node, DISKS + disk.disk)
    }

    fn of_node(&self, node: TrackerId, place: u32) -> ResourceId {
        ResourceId(node.0 * (DISKS + self.disks) + place)
    }

    fn of_rack(&self, rack: RackId, place: u32) -> ResourceId {
        ResourceId(self.topology.len() * (DISKS + self.disks) + rack.0 * OF_A_RACK + place)
    }

    fn of_pod(&self, pod: PodId, place: u32) -> ResourceId {
        let first = self.of_rack(RackId(self.topology.racks()), 0);
        ResourceId(first.0 + pod.0 * OF_A_RACK + place)
    }

    fn fabric(&self) -> Option<ResourceId> {
        // The fabric comes after the last pod.
        let of_all_others = self.of_pod(PodId(self.pods), 0);
        (of_all_others.index() < self.capacities.len()).then_some(of_all_others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::{FileId, PageCacheSpec, PodSpec, SharedResources};
    use mumakil_base::units::Count;

    /// Four nodes in two racks. Each node has two disks of 80 MB/s and a wire of 125 MB/s, each
    /// rack an uplink of 200 MB/s.
    fn resources() -> Resources {
        resources_with(|_| {})
    }

    fn resources_with(change: impl FnOnce(&mut ClusterSpec)) -> Resources {
        let plain = include_str!("../../../scenarios/clusters/default.yaml");
        let mut spec: ClusterSpec = serde_yaml::from_str(plain).unwrap();
        (spec.nodes, spec.racks, spec.disk.count) = (Count::of(4), Count::of(2), Count::of(2));
        spec.network.uplink = Rate::from_mb_per_s(200);
        change(&mut spec);
        let topology = Arc::new(Topology::new(&spec));
        Resources::new(&spec, topology)
    }

    fn disk(node: u32, disk: u32) -> DiskId {
        DiskId { node: TrackerId(node), disk }
    }

    /// Returns the rates of these demands, in MB/s, when all run at once.
    fn rates(resources: &Resources, demands: &[Demand]) -> Vec<f64> {
        let mut sharing = SharedResources::new(resources.capacities.iter().copied());
        let flows: Vec<_> =
            demands.iter().map(|demand| sharing.begin(demand.uses.clone())).collect();
        sharing.settle(|_, _| {});
        flows.iter().map(|flow| sharing.rate(*flow) / 1e6).collect()
    }

    #[test]
    fn a_local_read_is_as_fast_as_the_disk() {
        let resources = resources();
        let read = resources.read(disk(0, 0), TrackerId(0));
        assert_eq!((read.uses.len(), read.alone), (1, 80e6));
        assert_eq!(read.time_for(Bytes::new(160_000_000)), SimSpan::from_secs(2));
    }

    #[test]
    fn two_reads_of_one_disk_share_it_and_two_of_two_do_not() {
        let resources = resources();
        let read = |of| resources.read(disk(0, of), TrackerId(0));
        assert_eq!(rates(&resources, &[read(0), read(0), read(1)]), [40.0, 40.0, 80.0]);
    }

    #[test]
    fn readers_elsewhere_share_the_wire_of_their_source() {
        let resources = resources();
        // Five reads from each of two disks of node 0, in its rack and beyond.
        let reads: Vec<Demand> =
            (0..10).map(|i| resources.read(disk(0, i % 2), TrackerId(1 + i % 3))).collect();
        assert_eq!(rates(&resources, &reads), [12.5; 10]);
    }

    #[test]
    fn racks_share_their_uplinks() {
        let resources = resources();
        // Four reads from rack 1 to rack 2, one for each disk: the wires alone would allow 62.5
        // MB/s each.
        let reads: Vec<Demand> =
            (0..4).map(|i| resources.read(disk(i / 2, i % 2), TrackerId(2 + i % 2))).collect();
        assert_eq!(rates(&resources, &reads), [50.0; 4]);
    }

    #[test]
    fn a_fetch_burdens_the_uplink_with_what_comes_from_other_racks() {
        let resources = resources();
        let fetch = resources.fetch(disk(0, 0));
        let weights: Vec<f64> = fetch.uses.iter().map(|used| used.weight).collect();
        assert_eq!((weights, fetch.alone), (vec![1.0, 1.0, 0.5], 80e6));
    }

    #[test]
    fn flows_between_pods_share_their_uplinks() {
        // A rack for each node, two racks in each pod, 60 MB/s between the pods.
        let resources = resources_with(|spec| {
            let uplink = Rate::from_mb_per_s(60);
            spec.racks = Count::of(4);
            spec.network.pods = Some(PodSpec { count: Count::of(2), uplink, latency: None });
            // The fabric, which comes after the pods, is large enough for everything.
            spec.network.fabric = Some(Rate::from_mb_per_s(1_000));
        });
        let read = |from, to| resources.read(disk(from, 0), TrackerId(to));
        // Two reads from the first pod to the second, one read back, and one between the racks of a
        // pod.
        let reads = [read(0, 2), read(1, 3), read(2, 0), read(3, 2)];
        assert_eq!(rates(&resources, &reads), [30.0, 30.0, 60.0, 80.0]);
        // Of the bytes that a reduce fetches, half come from the other pod and three quarters from
        // other racks.
        let fetch = resources.fetch(disk(0, 0));
        let weights: Vec<f64> = fetch.uses.iter().map(|used| used.weight).collect();
        assert_eq!((weights, fetch.alone), (vec![1.0, 1.0, 0.75, 0.5, 0.75], 80e6));
        // The fetch loads the 60 MB/s uplink with half its rate, the read beside it with its whole
        // rate.
        assert_eq!(rates(&resources, &[fetch, read(2, 1)]), [40.0, 40.0]);
    }

    #[test]
    fn all_transfers_share_the_fabric_and_local_reads_do_not() {
        // 4 x 15 MB/s for all transfers between nodes, within racks and between them.
        let resources = resources_with(|spec| spec.network.fabric = Some(Rate::from_mb_per_s(15)));
        let read = |from, to| resources.read(disk(from, 0), TrackerId(to));
        let in_racks_and_between = [read(0, 1), read(1, 3), read(2, 3), read(3, 3)];
        assert_eq!(rates(&resources, &in_racks_and_between), [20.0, 20.0, 20.0, 80.0]);
        // A quarter of the bytes that a reduce fetches lies on its own node.
        assert_eq!(resources.fetch(disk(0, 0)).alone, 60e6 / 0.75);
    }

    #[test]
    fn a_block_in_memory_needs_no_disk_but_the_same_wires() {
        let rate = Rate::from_mb_per_s(400);
        let resources = resources_with(|spec| spec.page_cache = Some(PageCacheSpec { rate }));
        let block = BlockId { file: FileId(0), place: 0 };
        let again = |to| {
            let read = resources.read_block(block, Bytes::new(1), disk(0, 0), TrackerId(to));
            let uses = read.reread.as_ref().expect("there are page caches").uses.clone();
            Demand { uses, ..read }
        };
        // The two reads on the node are limited by the memory; the read from another node gets its
        // whole wire.
        assert_eq!(rates(&resources, &[again(0), again(0), again(1)]), [400.0, 400.0, 125.0]);
    }

    #[test]
    fn a_node_with_a_core_for_every_slot_has_nothing_to_share_of_them() {
        // Four cores for two map slots and two reduce slots.
        assert_eq!(resources().compute(TrackerId(0)), None);
    }
}
