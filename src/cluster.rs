//! What stands: nodes, racks, disks, memory, network and the blocks of the file system.

mod spec;

pub use spec::{
    ClusterSpec, DiskSpec, GroupSpec, HdfsSpec, JobTrackerSpec, NetworkModel, NetworkSpec,
    NodeCount, Placement, SlotCount,
};

/// A file of the file system, numbered in the order of the workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);
