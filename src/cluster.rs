//! What stands: nodes, racks, disks, memory, network and the blocks of the file system.

mod hdfs;
mod node;
mod spec;
mod topology;

pub use hdfs::{FileId, Hdfs};
pub use node::{Node, PerSlot, RackId, SlotKind, TrackerId};
pub use spec::{
    ClusterSpec, DiskSpec, GroupSpec, HdfsSpec, JobTrackerSpec, NetworkModel, NetworkSpec,
    NodeCount, Placement, SlotCount,
};
pub use topology::{ReadRates, Topology};
