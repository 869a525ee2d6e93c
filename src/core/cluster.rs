//! The cluster: nodes, racks, disks, memory, network and the blocks of the file system; and how
//! attempts share disks, wires and cores.
//!
//! ```text
//! spec: as a scenario writes it ─► topology: nodes in racks ─┬─► hdfs: where blocks lie
//!                                                            └─► resources ─► sharing: rates
//! ```

mod amounts;
mod cut;
mod hdfs;
mod name;
mod node;
mod resources;
mod sharing;
mod spec;
mod speeds;
mod topology;

pub use amounts::{Amounts, CountedResources};
pub use cut::NetworkCut;
pub use hdfs::{BlockId, FileId, Hdfs};
pub use name::{NodeName, RackName, without_escapes};
pub use node::{Node, PerSlot, PodId, RackId, SlotKind, TrackerId};
pub use resources::{Demand, DiskId, Reread, Resources};
pub use sharing::{FlowIndex, ResourceCapacity, ResourceId, ResourceUse, SharedResources};
pub use spec::{
    ClusterSpec, DiskSpec, GroupSpec, HdfsSpec, HotSpec, JobTrackerSpec, NetworkModel, NetworkSpec,
    NodeCount, PageCacheSpec, Placement, PodSpec, PowerSpec, SlotCount, SwapSpec,
};
pub use speeds::Speeds;
pub use topology::{DEFAULT_RACK, ReadRates, Topology};
