//! The `cluster:` part of a scenario, as written.
//!
//! Every field has a value in the plain cluster (`scenarios/clusters/default.yaml`), so there are
//! no defaults here.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{PerSlot, SlotKind};
use crate::random::Dist;
use crate::trace::TraceFile;
use crate::units::{Bytes, Count, Factor, Rate, SimSpan};

/// How many nodes a cluster may have.
pub type NodeCount = Count<1, 100_000>;
/// How many slots of a kind a node may have.
pub type SlotCount = Count<0, 64>;

/// The machines. A preset sets everything together; each field can be set alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClusterSpec {
    /// How many nodes there are, those in `groups` among them.
    pub nodes: NodeCount,
    /// Over how many racks the nodes are spread, evenly and in order.
    pub racks: NodeCount,
    /// A topology file of Rumen or of the SLS: racks and hosts in place of `nodes`, `racks` and `groups`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topology: Option<TraceFile>,
    /// Map slots of a node.
    pub map_slots: SlotCount,
    /// Reduce slots of a node.
    pub reduce_slots: SlotCount,
    /// Cores of a node.
    pub cores: Count<1, 1_024>,
    /// How fast a node computes: 2 halves every computing time.
    pub speed: Factor,
    /// Whether attempts share the cores of their node: each computes on one core at most, and where
    /// more compute than there are cores all are slower. Without, each has a core. Times of a
    /// trace are not changed by it.
    pub contention: bool,
    /// The memory of a node.
    pub memory: Bytes,
    /// The disks of a node.
    pub disk: DiskSpec,
    /// The file system.
    pub hdfs: HdfsSpec,
    /// The network.
    pub network: NetworkSpec,
    /// What the JobTracker's work takes.
    pub jobtracker: JobTrackerSpec,
    /// Nodes that are unlike the others: the first ones, in this order.
    pub groups: Vec<GroupSpec>,
}

impl ClusterSpec {
    /// Returns the slots of all nodes; of a cluster from a topology file, of as many as `nodes` says.
    pub fn slots(&self) -> PerSlot<u64> {
        let of_all = |kind| self.kinds().map(|(count, slots)| count * u64::from(slots[kind])).sum();
        PerSlot { map: of_all(SlotKind::Map), reduce: of_all(SlotKind::Reduce) }
    }

    /// Returns the slots of the node that has most.
    pub fn most_slots(&self) -> PerSlot<u32> {
        let most = |kind| self.kinds().map(|(_, slots)| slots[kind]).max().unwrap_or_default();
        PerSlot { map: most(SlotKind::Map), reduce: most(SlotKind::Reduce) }
    }

    /// Returns how many nodes have so many slots, kind by kind.
    fn kinds(&self) -> impl Iterator<Item = (u64, PerSlot<u32>)> {
        let slots =
            |map: SlotCount, reduce: SlotCount| PerSlot { map: map.get(), reduce: reduce.get() };
        let (map, reduce) = (self.map_slots, self.reduce_slots);
        let groups = self.groups.iter().map(move |group| {
            let own = slots(group.map_slots.unwrap_or(map), group.reduce_slots.unwrap_or(reduce));
            (u64::from(group.count.get()), own)
        });
        let in_groups = groups.clone().map(|(count, _)| count).sum();
        let others = u64::from(self.nodes.get()).saturating_sub(in_groups);
        groups.chain((0 < others).then_some((others, slots(map, reduce))))
    }
}

/// The disks of a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiskSpec {
    /// How many there are. They matter only to a network that is `shared`: an attempt reads or writes
    /// on one of them.
    pub count: Count<1, 64>,
    /// How fast one reads and writes; also the speed of swapping, which shares nothing.
    pub rate: Rate,
}

/// The file system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HdfsSpec {
    /// The size of a block, and so of a map's input.
    pub block: Bytes,
    /// How many copies of a block there are.
    pub replication: Count<1, 64>,
    /// Where the copies lie.
    pub placement: Placement,
    /// Files that many jobs read at a time get more copies; absent, none does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hot: Option<HotSpec>,
}

/// Which files are hot, and how many copies those have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HotSpec {
    /// A job that comes finds more copies if it is at least the so-manieth that reads the file.
    pub jobs: Count<1, 1_000_000>,
    /// How many copies of each block there are then.
    pub replication: Count<1, 64>,
}

/// Where the copies of a block lie, for a file written from outside of the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// Hadoop's default: one anywhere, two together in another rack, more anywhere.
    Hadoop,
    /// On different nodes, all equally likely.
    Random,
}

/// The network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NetworkSpec {
    /// How transfers share disks and network: `fixed`, not at all, or `shared`.
    pub model: NetworkModel,
    /// How fast an attempt reads from another node in its rack, if the model is `fixed`.
    pub rack: Rate,
    /// How fast an attempt reads from another rack, if the model is `fixed`.
    pub off_rack: Rate,
    /// A node's connection, in each direction: no transfer is faster, nor, if the model is `shared`,
    /// are all of them together.
    pub nic: Rate,
    /// A rack's connection to the others, in each direction: no transfer between racks is faster,
    /// nor, if the model is `shared`, are all of them together.
    pub uplink: Rate,
    /// How long a message takes inside of the JobTracker's rack, which is the first.
    pub latency: Dist<SimSpan>,
    /// How long a message takes between racks.
    pub cross_rack: Dist<SimSpan>,
}

/// How transfers share disks and network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NetworkModel {
    /// Not at all: each transfer has its speed, whatever the others do.
    Fixed,
    /// Fairly: the transfers at any moment share disks, NICs and uplinks, and none gets more at the
    /// cost of one that has less (max-min fair).
    Shared,
}

/// What the JobTracker's work takes, in virtual time. It does one thing after another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobTrackerSpec {
    /// For every heartbeat.
    pub per_heartbeat: SimSpan,
    /// For every task assigned.
    pub per_task: SimSpan,
    /// For every job that the policy looks at.
    pub per_job: SimSpan,
    /// Reading the splits of a new job, beside the other work.
    pub init: SimSpan,
    /// How many new jobs are read at a time.
    pub init_threads: Count<1, 1_024>,
}

/// Nodes that are unlike the others. What is not said is as for the others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupSpec {
    /// How many nodes are like this.
    pub count: NodeCount,
    /// Racks of their own; without, they stand in the racks of the others.
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
    pub cores: Option<Count<1, 1_024>>,
    /// How fast a node computes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed: Option<Factor>,
    /// The memory of a node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Bytes>,
}
