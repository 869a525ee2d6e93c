//! The `cluster:` part of a scenario, as written.
//!
//! Every field has a value in the plain cluster (`scenarios/clusters/default.yaml`), so there are
//! no defaults here.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CountedResources, NodeName, PerSlot};
use crate::trace::TraceFile;
use mumakil_base::random::Dist;
use mumakil_base::units::{Bytes, Count, Factor, Rate, SimSpan};

/// How many nodes a cluster may have.
pub type NodeCount = Count<1, 100_000>;
/// How many slots of a kind a node may have.
pub type SlotCount = Count<0, 64>;

/// The machines. A preset sets everything together; each field can be set alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClusterSpec {
    /// How many nodes there are, including those in `groups`.
    #[schemars(extend("x-only-if" = if_no_file_names_hosts()))]
    pub nodes: NodeCount,
    /// How many racks the nodes are spread over.
    #[schemars(extend("x-only-if" = if_no_file_names_hosts()))]
    pub racks: NodeCount,
    /// A topology of Rumen or the SLS: racks and hosts in place of `nodes`, `racks` and `groups`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topology: Option<TraceFile>,
    /// Map slots of a node.
    pub map_slots: SlotCount,
    /// Reduce slots of a node.
    pub reduce_slots: SlotCount,
    /// What limits the attempts of a node beside its slots. A task starts only where enough is left
    /// for its `map_memory` and `map_cores`, or `reduce_memory` and `reduce_cores`.
    #[serde(default, skip_serializing_if = "CountedResources::are_only_slots")]
    pub resources: CountedResources,
    /// Cores of a node.
    #[schemars(extend("x-only-if" = {"cluster.contention": true, "cluster.resources": "memory+cores", "hadoop.protocol": {"not": null}}))]
    pub cores: Count<1, 1_024>,
    /// How fast a node computes: with 2, computations take half the time.
    pub speed: Factor,
    /// Whether attempts share the cores of their node: if more compute than there are cores, all
    /// become slower. Times from a trace do not change.
    pub contention: bool,
    /// The memory of a node.
    pub memory: Bytes,
    /// The part of `memory` that the system and Hadoop's daemons keep; the rest is for attempts.
    pub system_memory: Bytes,
    /// The power that a node takes. Without this, nobody counts energy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watts: Option<PowerSpec>,
    /// The price of a node for each hour in which its tracker runs, in any currency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Factor>,
    /// The disks of a node.
    pub disk: DiskSpec,
    /// How a node keeps blocks that were read in the memory that nobody holds; the block whose last
    /// read is longest ago is dropped first. Without this, every read is from a disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-only-if" = {"cluster.network.model": "shared"}))]
    pub page_cache: Option<PageCacheSpec>,
    /// The file system.
    pub hdfs: HdfsSpec,
    /// The network.
    pub network: NetworkSpec,
    /// How long the JobTracker's work takes.
    pub jobtracker: JobTrackerSpec,
    /// Nodes that differ from the others. They are the first nodes, in this order.
    #[schemars(extend("x-only-if" = if_no_file_names_hosts()))]
    pub groups: Vec<GroupSpec>,
}

/// Returns the condition of settings that a file with racks and hosts replaces.
fn if_no_file_names_hosts() -> serde_json::Value {
    serde_json::json!([
        {"cluster.topology": null},
        {"workload.rumen.topology": null},
        {"workload.sls.nodes": null},
    ])
}

impl ClusterSpec {
    /// Returns the slots of all nodes. The number of nodes is taken from `nodes`, even if a
    /// topology file replaces it.
    pub fn slots(&self) -> PerSlot<u64> {
        PerSlot::of(|kind| self.kinds().map(|(count, slots)| count * u64::from(slots[kind])).sum())
    }

    /// Returns the largest number of slots of each kind on one node.
    pub fn most_slots(&self) -> PerSlot<u32> {
        PerSlot::of(|kind| self.kinds().map(|(_, slots)| slots[kind]).max().unwrap_or_default())
    }

    /// Returns the kinds of nodes: how many nodes of a kind there are, and the slots of each.
    fn kinds(&self) -> impl Iterator<Item = (u64, PerSlot<u32>)> {
        let slots =
            |map: SlotCount, reduce: SlotCount| PerSlot { map: map.get(), reduce: reduce.get() };
        let (map, reduce) = (self.map_slots, self.reduce_slots);
        let groups = self.groups.iter().map(move |group| {
            let own = slots(group.map_slots.unwrap_or(map), group.reduce_slots.unwrap_or(reduce));
            (u64::from(group.count.get()), own)
        });
        let in_groups = groups.clone().map(|(count, _)| count).sum();
        // A scenario that is not checked yet may have groups with more nodes than the cluster.
        let others = u64::from(self.nodes.get()).saturating_sub(in_groups);
        groups.chain((0 < others).then_some((others, slots(map, reduce))))
    }
}

/// The power that a node takes, in watts, while its tracker runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PowerSpec {
    /// The watts of a node in any case.
    pub idle: Factor,
    /// The watts that each slot adds while an attempt holds it.
    pub slot: Factor,
}

/// The disks of a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiskSpec {
    /// How many disks a node has. An attempt reads and writes on one of them.
    #[schemars(extend("x-only-if" = {"cluster.network.model": "shared"}))]
    pub count: Count<1, 64>,
    /// How fast one disk reads and writes. Swapping has this speed, too.
    pub rate: Rate,
    /// How much slower swapping becomes when much is moved at once. Without this, it never slows
    /// down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swap: Option<SwapSpec>,
}

/// How swapping slows down: a system that has paged out most of its memory has no memory left for
/// the cache of its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SwapSpec {
    /// Up to this many bytes of each process are swapped at the disk's speed; its further bytes go
    /// at `rate`.
    pub beyond: Bytes,
    /// How fast swapping moves the bytes above `beyond`.
    pub rate: Rate,
}

/// The page cache of a node. Its size is the memory that tasks leave free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PageCacheSpec {
    /// How fast an attempt reads from the page cache. The default was measured on EC2 by the
    /// authors of hdfs3.
    #[serde(default = "from_memory")]
    pub rate: Rate,
}

fn from_memory() -> Rate {
    // The upper end of the measurements that the field quotes.
    Rate::from_mb_per_s(400)
}

/// The file system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HdfsSpec {
    /// The size of a block, and so of a map's input.
    pub block: Bytes,
    /// How many copies of a block there are.
    pub replication: Count<1, 64>,
    /// Where the copies are placed.
    pub placement: Placement,
    /// Extra copies for files that many jobs read at the same time. Without this, no file gets any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hot: Option<HotSpec>,
    /// How long a node may be off before its copies no longer count and are made again elsewhere.
    /// Without this, 10 min 30 s, as in Hadoop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dead_after: Option<SimSpan>,
    /// How fast a node makes lost copies again, one after another, without slowing attempts.
    /// Without this, each node makes two blocks every three seconds, or fewer if its disk or
    /// network card is slower.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub re_replication: Option<Rate>,
}

impl HdfsSpec {
    /// Returns how long a node may be off before its copies no longer count.
    pub fn dead_after(&self) -> SimSpan {
        // FSNamesystem: 2 × `heartbeat.recheck.interval` (5 min) + 10 × `dfs.heartbeat.interval` (3
        // s).
        self.dead_after.unwrap_or(SimSpan::from_millis(630_000))
    }
}

impl ClusterSpec {
    /// Returns how fast each node makes lost copies again.
    pub fn re_replication(&self) -> Rate {
        // FSNamesystem: REPLICATION_WORK_MULTIPLIER_PER_ITERATION is 2 blocks a node, and its
        // monitor orders copies every `dfs.replication.interval` of 3 s.
        let two_blocks = Bytes::new(self.hdfs.block.get().saturating_mul(2));
        let orders = Rate::of(two_blocks, SimSpan::from_secs(3));
        let usual = orders.min(self.disk.rate).min(self.network.nic);
        self.hdfs.re_replication.unwrap_or(usual)
    }
}

/// Which files are hot, and how many copies their blocks have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HotSpec {
    /// How many jobs must read a file at the same time.
    pub jobs: Count<1, 1_000_000>,
    /// How many copies each block of a hot file has.
    pub replication: Count<1, 64>,
}

/// Where the copies of a block lie.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// One copy anywhere, two in another rack, further ones anywhere, as with files that come from
    /// outside of the cluster.
    Hadoop,
    /// On different nodes, all equally likely.
    Random,
    /// As with files that this node writes: it has the first copy of each block. The others lie as
    /// with `hadoop`.
    Writer(NodeName),
}

/// The network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NetworkSpec {
    /// Whether transfers share disks and network.
    pub model: NetworkModel,
    /// How fast an attempt reads from another node in its rack.
    #[schemars(extend("x-only-if" = {"cluster.network.model": "fixed"}))]
    pub rack: Rate,
    /// How fast an attempt reads from another rack.
    #[schemars(extend("x-only-if" = {"cluster.network.model": "fixed"}))]
    pub off_rack: Rate,
    /// The speed of a node's network card, in each direction. It limits each transfer, and all
    /// together if the model is `shared`.
    pub nic: Rate,
    /// The speed of a rack's connection to the other racks, in each direction. It limits each
    /// transfer between racks, and all together if the model is `shared`.
    pub uplink: Rate,
    /// The network's capacity for each node: all transfers together get this times the number of
    /// nodes. Less than `nic` is oversubscribed. Without this, the network carries all that the
    /// NICs and uplinks do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-only-if" = {"cluster.network.model": "shared"}))]
    pub fabric: Option<Rate>,
    /// How long a message takes within the JobTracker's rack, which is the first rack.
    pub latency: Dist<SimSpan>,
    /// How long a message takes between racks.
    pub cross_rack: Dist<SimSpan>,
    /// Switches above those of the racks. Without this, the uplinks of all racks meet at one.
    // With either model of transfers, messages may take longer between pods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-only-if" = {
        "cluster.network.model": "shared",
        "cluster.network.pods.latency": {"not": null},
    }))]
    pub pods: Option<PodSpec>,
}

/// Groups of racks, each with a switch of its own. For Hadoop, which chooses tasks and copies to
/// read by distance, all other racks are equally far, whatever their pod.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PodSpec {
    /// How many pods the racks are spread over, evenly and in order. A level above the racks in a
    /// topology file gives the pods instead.
    pub count: NodeCount,
    /// The speed of a pod's connection to the other pods, in each direction. All transfers between
    /// pods share it if the model is `shared`.
    pub uplink: Rate,
    /// How long a message takes between pods. Without this, as long as between racks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Dist<SimSpan>>,
}

/// How transfers share disks and network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NetworkModel {
    /// Each has a fixed speed, whatever the others do.
    Fixed,
    /// They share disks, NICs, uplinks and the fabric max-min fairly.
    Shared,
}

/// How long the JobTracker's work takes, in virtual time. The JobTracker does one thing after
/// another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobTrackerSpec {
    /// The time for each heartbeat.
    pub per_heartbeat: SimSpan,
    /// The time for each task that it assigns.
    pub per_task: SimSpan,
    /// The time for each job that the policy looks at.
    pub per_job: SimSpan,
    /// The time to read the splits of a new job, in parallel with the other work.
    pub init: SimSpan,
    /// How many new jobs are read at the same time.
    pub init_threads: Count<1, 1_024>,
}

/// Nodes that differ from the others. A key that is left out has the value of the other nodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupSpec {
    /// The name of the group in tables; `group-1` for the first one unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How many nodes of this kind there are.
    pub count: NodeCount,
    /// How many racks these nodes have for themselves. Without this, they share the racks of the
    /// others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub racks: Option<NodeCount>,
    /// Map slots of a node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map_slots: Option<SlotCount>,
    /// Reduce slots of a node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reduce_slots: Option<SlotCount>,
    /// Cores of a node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-only-if" = {"cluster.contention": true, "cluster.resources": "memory+cores", "hadoop.protocol": {"not": null}}))]
    pub cores: Option<Count<1, 1_024>>,
    /// How fast a node computes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed: Option<Factor>,
    /// The memory of a node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Bytes>,
    /// The power that a node takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watts: Option<PowerSpec>,
    /// The price of a node for an hour.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Factor>,
    /// How fast each disk of a node reads and writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_rate: Option<Rate>,
    /// The speed of a node's network card, in each direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nic: Option<Rate>,
    /// The speed of the connection of each of its racks to the other racks, in each direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-only-if" = {"racks": {"not": null}}))]
    pub uplink: Option<Rate>,
}
