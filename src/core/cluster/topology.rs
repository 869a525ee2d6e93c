//! The nodes of a cluster, their racks and pods.

use std::collections::BTreeMap;

use indexmap::IndexSet;

use super::{
    Amounts, ClusterSpec, CountedResources, GroupSpec, Node, PerSlot, PodId, PodSpec, RackId,
    TrackerId, without_escapes,
};
use mumakil_base::units::{Bytes, Rate};

/// The nodes of a cluster, by number, and their racks.
#[derive(Clone, Debug, PartialEq)]
pub struct Topology {
    nodes: Vec<Node>,
    /// The resources that limit attempts beside slots.
    counted: CountedResources,
    /// The most slots that each node has in the course of a run.
    most_slots: Vec<PerSlot<u32>>,
    /// The rack and host name of each node, sorted by host; empty if the nodes have no names.
    names: Vec<(String, String)>,
    /// The rack of each node, kept apart from the nodes because it is looked up most often.
    racks_of: Vec<RackId>,
    /// The nodes of each rack, in order.
    racks: Vec<Vec<TrackerId>>,
    /// The pod of each rack.
    pods: Vec<PodId>,
    /// The uplink of each rack, if it differs from those of other racks.
    uplinks: Vec<Option<Rate>>,
    /// The racks of hosts that are no nodes; `None` if no input may lie on such hosts.
    absent: Option<AbsentHosts>,
}

/// The rack of a host whose rack Hadoop does not know.
// NetworkTopology.DEFAULT_RACK, without its slash.
pub const DEFAULT_RACK: &str = "default-rack";

/// The racks of hosts that are no nodes, but may hold input.
#[derive(Clone, Debug, PartialEq)]
struct AbsentHosts {
    /// The rack of each known host.
    racks: BTreeMap<String, RackId>,
    /// The rack of all other hosts that are no nodes.
    elsewhere: RackId,
}

impl Topology {
    /// Returns the nodes that a scenario describes: first the nodes of its groups, in order, then
    /// all other nodes.
    ///
    /// Groups with racks of their own get the last racks. All other nodes fill the common racks one
    /// after another, with at most one node more in one rack than in another.
    pub fn new(spec: &ClusterSpec) -> Self {
        let plain_count = spec.nodes.get() - spec.groups.iter().map(|g| g.count.get()).sum::<u32>();
        let plain = std::iter::repeat_n(None, plain_count as usize);
        let kinds: Vec<Option<&GroupSpec>> = spec
            .groups
            .iter()
            .flat_map(|group| std::iter::repeat_n(Some(group), group.count.get() as usize))
            .chain(plain)
            .collect();
        let has_own = |kind: &Option<&GroupSpec>| kind.is_some_and(|group| group.racks.is_some());
        let common = kinds.iter().filter(|kind| !has_own(kind)).count() as u64;
        // With fewer nodes than racks, each node has a rack of its own and no rack stays empty.
        let common_racks = u64::from(spec.racks.get()).min(common);

        let mut nodes = Vec::with_capacity(kinds.len());
        let mut placed = 0;
        for kind in &kinds {
            let rack = if has_own(kind) {
                // A placeholder: the loop over the groups below sets the rack.
                RackId(0)
            } else {
                // `common` counts this node, so it is not zero.
                let rack = placed * common_racks / common;
                placed += 1;
                RackId(rack as u32)
            };
            nodes.push(node(spec, *kind, rack));
        }
        let mut next_rack = common_racks as u32;
        let mut uplinks = Vec::new();
        let mut first = 0;
        for group in &spec.groups {
            let count = group.count.get();
            if let Some(racks) = group.racks {
                for i in 0..count {
                    let rack = u64::from(i) * u64::from(racks.get()) / u64::from(count);
                    nodes[(first + i) as usize].rack = RackId(next_rack + rack as u32);
                }
                uplinks.resize(next_rack as usize, None);
                uplinks.extend(std::iter::repeat_n(group.uplink, racks.get() as usize));
                next_rack += racks.get();
            }
            first += count;
        }
        let plain = Self::from_nodes(nodes);
        uplinks.resize(plain.racks.len(), None);
        let plain = Self { uplinks, ..plain };
        plain.in_pods(spec.network.pods.as_ref()).counting(spec.resources)
    }

    /// Returns the uplink of a rack; `usual` unless its nodes are a group with another one.
    pub fn uplink(&self, rack: RackId, usual: Rate) -> Rate {
        self.uplinks.get(rack.index()).copied().flatten().unwrap_or(usual)
    }

    /// Spreads the racks over pods, if the scenario has pods.
    fn in_pods(mut self, spec: Option<&PodSpec>) -> Self {
        let racks = u64::from(self.racks());
        let count = spec.map_or(1, |spec| u64::from(spec.count.get()).min(racks));
        self.pods = (0..racks).map(|rack| PodId((rack * count / racks) as u32)).collect();
        self
    }

    /// Returns a cluster of these nodes.
    pub fn from_nodes(nodes: Vec<Node>) -> Self {
        let count = nodes.iter().map(|node| node.rack.index() + 1).max().unwrap_or(0);
        let mut racks = vec![Vec::new(); count];
        for (index, node) in nodes.iter().enumerate() {
            racks[node.rack.index()].push(TrackerId(index as u32));
        }
        Self {
            racks_of: nodes.iter().map(|node| node.rack).collect(),
            most_slots: nodes.iter().map(|node| node.slots).collect(),
            nodes,
            counted: CountedResources::Slots,
            names: Vec::new(),
            pods: vec![PodId(0); racks.len()],
            uplinks: vec![None; racks.len()],
            racks,
            absent: None,
        }
    }

    /// Returns the same cluster, in which these resources limit attempts beside slots.
    pub fn counting(self, counted: CountedResources) -> Self {
        Self { counted, ..self }
    }

    /// Returns the resources that limit attempts beside slots.
    pub fn counted(&self) -> CountedResources {
        self.counted
    }

    /// Returns the counted resources of a node.
    pub fn amounts(&self, id: TrackerId) -> Amounts {
        let node = &self.nodes[id.index()];
        self.counted.of(node.memory, node.cores)
    }

    /// Returns a cluster of these hosts, each given by the path of its rack and its name. Nodes are
    /// numbered in the order of the host names, racks in the order of their first host. If the
    /// scenario has pods and the paths name them, pods are numbered in the order of their first
    /// rack. All nodes have the plain hardware of the scenario.
    pub fn of_hosts(spec: &ClusterSpec, hosts: &[(String, &str)]) -> Self {
        let mut racks: IndexSet<&str> = IndexSet::new();
        let mut named: Vec<(&str, &str, RackId)> = Vec::with_capacity(hosts.len());
        for (rack, host) in hosts {
            let (number, _) = racks.insert_full(rack);
            named.push((host, rack, RackId(number as u32)));
        }
        // Sorted by the host's name for the binary search of `find`.
        named.sort_unstable();
        let nodes = named.iter().map(|(_, _, rack)| node(spec, None, *rack)).collect();
        let mut above: IndexSet<&str> = IndexSet::new();
        let parents = racks.iter().map(|rack| rack.rsplit_once('/').map_or("", |(above, _)| above));
        let pods = parents.map(|parent| PodId(above.insert_full(parent).0 as u32)).collect();
        let plain =
            Self::from_nodes(nodes).in_pods(spec.network.pods.as_ref()).counting(spec.resources);
        // Paths that all have the same parent, as `/r1` and `/r2` have, do not name pods.
        let are_told = spec.network.pods.is_some() && 1 < above.len();
        Self {
            pods: if are_told { pods } else { plain.pods },
            names: named
                .iter()
                .map(|(host, rack, _)| (rack.trim_start_matches('/').into(), (*host).into()))
                .collect(),
            ..plain
        }
    }

    /// Gives a node memory for attempts and cores of its own; `None` leaves those of the scenario.
    pub fn equip(&mut self, id: TrackerId, memory: Option<Bytes>, cores: Option<u32>) {
        let node = &mut self.nodes[id.index()];
        node.memory = memory.unwrap_or(node.memory);
        node.cores = cores.unwrap_or(node.cores);
    }

    /// Gives a node slots in place of those of the scenario.
    pub fn give_slots(&mut self, id: TrackerId, slots: PerSlot<u32>) {
        self.nodes[id.index()].slots = slots;
        self.most_slots[id.index()] = slots;
    }

    /// Lets input lie on hosts that are no nodes. `named` lists the hosts of the cluster with their
    /// racks. `absent` lists hosts that are no nodes, each with a rack of the cluster or another
    /// one. Any other host is in Hadoop's default rack.
    pub fn with_absent(mut self, named: &[(String, &str)], absent: &[(String, &str)]) -> Self {
        let mut numbers: IndexSet<&str> = named.iter().map(|(rack, _)| rack.as_str()).collect();
        let placed = absent.iter().map(|(rack, host)| {
            (without_escapes(host).into_owned(), RackId(numbers.insert_full(rack).0 as u32))
        });
        let racks: BTreeMap<String, RackId> = placed.collect();
        let default = numbers.iter().position(|rack| rack.trim_start_matches('/') == DEFAULT_RACK);
        let elsewhere = RackId(default.unwrap_or(numbers.len()) as u32);
        self.absent = Some(AbsentHosts { racks, elsewhere });
        self
    }

    /// Returns a stand-in for a host that is no node: it is in the host's rack and never runs
    /// anything. The name has no backslashes of Hadoop's history. `None` if input cannot lie on such
    /// hosts.
    pub fn substitute_for(&self, host: &str) -> Option<TrackerId> {
        let AbsentHosts { racks, elsewhere } = self.absent.as_ref()?;
        // A number above the last node's stands for a rack; `rack` turns it into the rack again.
        Some(TrackerId(self.len() + racks.get(host).unwrap_or(elsewhere).0))
    }

    /// Returns whether the nodes have host names.
    pub fn has_names(&self) -> bool {
        !self.names.is_empty()
    }

    /// Returns the names of a node's rack and host; `None` if the nodes have no names.
    pub fn names(&self, id: TrackerId) -> Option<(&str, &str)> {
        self.names.get(id.index()).map(|(rack, host)| (rack.as_str(), host.as_str()))
    }

    /// Returns the node with this host name; `None` if there is none.
    pub fn find(&self, host: &str) -> Option<TrackerId> {
        let place = self.names.binary_search_by(|(_, name)| name.as_str().cmp(host));
        place.ok().map(|index| TrackerId(index as u32))
    }

    /// Returns the rack with this path, with or without the first slash; `None` if there is none.
    pub fn find_rack(&self, path: &str) -> Option<RackId> {
        let path = path.trim_start_matches('/');
        let node = self.names.iter().position(|(rack, _)| rack.trim_start_matches('/') == path);
        node.map(|index| self.rack(TrackerId(index as u32)))
    }

    /// Returns how many nodes there are.
    pub fn len(&self) -> u32 {
        self.nodes.len() as u32
    }

    /// Returns whether there is no node at all.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Returns how many racks there are.
    pub fn racks(&self) -> u32 {
        self.racks.len() as u32
    }

    /// Returns the rack and the hardware of a node.
    pub fn node(&self, id: TrackerId) -> &Node {
        &self.nodes[id.index()]
    }

    /// Returns the rack of a node, or of a [stand-in](Self::substitute_for) for a host.
    pub fn rack(&self, id: TrackerId) -> RackId {
        let rack = self.racks_of.get(id.index()).copied();
        rack.unwrap_or_else(|| RackId(id.0 - self.len()))
    }

    /// Returns how many pods there are: one if racks are not grouped.
    pub fn pods(&self) -> u32 {
        self.pods.iter().max().map_or(0, |last| last.0 + 1)
    }

    /// Returns the pod of a node.
    pub fn pod(&self, id: TrackerId) -> PodId {
        self.pods[self.rack(id).index()]
    }

    /// Returns the number of nodes in each rack.
    pub fn rack_sizes(&self) -> Vec<u32> {
        self.racks.iter().map(|nodes| nodes.len() as u32).collect()
    }

    /// Returns the nodes of a rack.
    pub fn rack_nodes(&self, rack: RackId) -> &[TrackerId] {
        &self.racks[rack.index()]
    }

    /// Returns how much of an amount lies in a node's rack if the amount is spread evenly over all
    /// nodes.
    pub fn part_in_rack(&self, node: TrackerId, amount: f64) -> f64 {
        amount * self.rack_nodes(self.rack(node)).len() as f64 / f64::from(self.len())
    }

    /// Returns how much of an amount lies in a node's pod if the amount is spread evenly over all
    /// nodes.
    pub fn part_in_pod(&self, node: TrackerId, amount: f64) -> f64 {
        let racks = self.racks.iter().zip(&self.pods);
        let near = racks.filter(|(_, pod)| **pod == self.pod(node)).map(|(nodes, _)| nodes.len());
        amount * near.sum::<usize>() as f64 / f64::from(self.len())
    }

    /// Returns all nodes with their numbers.
    pub fn nodes(&self) -> impl Iterator<Item = (TrackerId, &Node)> {
        self.nodes.iter().enumerate().map(|(index, node)| (TrackerId(index as u32), node))
    }

    /// Notes that a node has these slots at some time of the run; `None` says nothing of a kind.
    pub fn note_slots(&mut self, node: TrackerId, slots: PerSlot<Option<u32>>) {
        let most = &mut self.most_slots[node.index()];
        *most = PerSlot::of(|kind| most[kind].max(slots[kind].unwrap_or_default()));
    }

    /// Returns the most slots that a node has in the course of a run.
    pub fn most_slots_of(&self, node: TrackerId) -> PerSlot<u32> {
        self.most_slots[node.index()]
    }

    /// Returns the slots of the whole cluster.
    pub fn slots(&self) -> PerSlot<u32> {
        PerSlot::of(|kind| self.nodes.iter().map(|node| node.slots[kind]).sum())
    }

    /// Returns the largest number of slots of each kind that one node has in the course of a run.
    pub fn most_slots(&self) -> PerSlot<u32> {
        PerSlot::of(|kind| {
            self.most_slots.iter().map(|slots| slots[kind]).max().unwrap_or_default()
        })
    }
}

fn node(spec: &ClusterSpec, kind: Option<&GroupSpec>, rack: RackId) -> Node {
    let own = |of: fn(&GroupSpec) -> Option<u32>, all: u32| kind.and_then(of).unwrap_or(all);
    Node {
        rack,
        slots: PerSlot {
            map: own(|g| g.map_slots.map(|n| n.get()), spec.map_slots.get()),
            reduce: own(|g| g.reduce_slots.map(|n| n.get()), spec.reduce_slots.get()),
        },
        cores: own(|g| g.cores.map(|n| n.get()), spec.cores.get()),
        speed: kind.and_then(|group| group.speed).unwrap_or(spec.speed),
        memory: kind
            .and_then(|group| group.memory)
            .unwrap_or(spec.memory)
            // If the system needs more memory than the node has, no memory is left.
            .saturating_sub(spec.system_memory),
        disk: kind.and_then(|group| group.disk_rate).unwrap_or(spec.disk.rate),
        nic: kind.and_then(|group| group.nic).unwrap_or(spec.network.nic),
        swap: spec.disk.swap,
        watts: kind.and_then(|group| group.watts).or(spec.watts),
        price: kind.and_then(|group| group.price).or(spec.price),
    }
}

/// How fast attempts read over the network if transfers share nothing: a speed for each distance,
/// limited by the wires and by the disk that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadRates {
    /// The speed from another node in the rack, if the network card allows it.
    pub rack: Rate,
    /// The speed from another rack, if the network card and the uplink allow it.
    pub off_rack: Rate,
    /// The usual speed of a rack's uplink.
    pub uplink: Rate,
}

impl ReadRates {
    /// Returns the read speeds of a cluster.
    pub fn new(spec: &ClusterSpec) -> Self {
        let network = &spec.network;
        // A read over the network is no faster than the disk at its other end.
        let rack = network.rack.min(spec.disk.rate);
        Self { rack, off_rack: network.off_rack.min(rack), uplink: network.uplink }
    }

    /// Returns the speeds at which a node reads.
    pub fn of_node(self, id: TrackerId, node: &Node, topology: &Topology) -> Self {
        let uplink = topology.uplink(topology.rack(id), self.uplink);
        Self {
            rack: self.rack.min(node.nic),
            off_rack: self.off_rack.min(node.nic).min(uplink),
            uplink,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mumakil_base::units::Count;

    fn spec(racks: u32, pods: Option<u32>) -> ClusterSpec {
        let plain = include_str!("../../../scenarios/clusters/default.yaml");
        let mut spec: ClusterSpec = serde_yaml::from_str(plain).unwrap();
        (spec.nodes, spec.racks) = (Count::of(10), Count::of(racks));
        let pods = pods.map(|count| PodSpec {
            count: Count::of(count),
            uplink: Rate::from_mb_per_s(100),
            latency: None,
        });
        spec.network.pods = pods;
        spec
    }

    fn pods(topology: &Topology) -> Vec<u32> {
        topology.nodes().map(|(id, _)| topology.pod(id).0).collect()
    }

    #[test]
    fn racks_are_spread_over_pods_evenly_and_in_order() {
        let topology = Topology::new(&spec(5, Some(2)));
        assert_eq!(pods(&topology), [0, 0, 0, 0, 0, 0, 1, 1, 1, 1]);
        assert_eq!(topology.pods(), 2);
        let near = [TrackerId(0), TrackerId(9)].map(|node| topology.part_in_pod(node, 1.0));
        assert_eq!(near, [0.6, 0.4]);
        let plain = Topology::new(&spec(5, None));
        assert_eq!((pods(&plain), plain.pods()), (vec![0; 10], 1));
    }

    #[test]
    fn a_level_above_the_racks_of_a_file_are_its_pods() {
        let host = |path: &str, name: &'static str| (path.to_owned(), name);
        let deep = [host("/b/r1", "h1"), host("/a/r1", "h2"), host("/b/r2", "h3")];
        assert_eq!(pods(&Topology::of_hosts(&spec(1, Some(3)), &deep)), [0, 1, 0]);
        assert_eq!(pods(&Topology::of_hosts(&spec(1, None), &deep)), [0, 0, 0]);
        let flat = [host("/r1", "h1"), host("/r2", "h2"), host("/r3", "h3")];
        assert_eq!(pods(&Topology::of_hosts(&spec(1, Some(2)), &flat)), [0, 0, 1]);
    }

    #[test]
    fn a_host_that_is_no_node_stands_in_its_rack_or_with_all_strangers() {
        let spec = include_str!("../../../scenarios/clusters/default.yaml");
        let spec: ClusterSpec = serde_yaml::from_str(spec).unwrap();
        let hosts = [("/r0".to_owned(), "a"), ("/r1".to_owned(), "b")];
        let absent = [("/r1".to_owned(), "10.0.0.1"), ("/r2".to_owned(), "10.0.0.2")];
        let plain = Topology::of_hosts(&spec, &hosts);
        assert_eq!(plain.substitute_for("10.0.0.1"), None);
        let topology = plain.with_absent(&hosts, &absent);
        let rack = |host| topology.rack(topology.substitute_for(host).unwrap()).0;
        assert_eq!(["10.0.0.1", "10.0.0.2", "x", "y"].map(rack), [1, 2, 3, 3]);
        assert_eq!((topology.len(), topology.racks()), (2, 2), "nothing runs there");
    }

    #[test]
    fn strangers_join_a_default_rack_that_is_there() {
        let spec = spec(1, None);
        let hosts = [("/r0".to_owned(), "a"), ("/default-rack".to_owned(), "b")];
        let topology = Topology::of_hosts(&spec, &hosts).with_absent(&hosts, &[]);
        assert_eq!(topology.rack(topology.substitute_for("x").unwrap()).0, 1);
    }
}
