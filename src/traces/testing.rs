//! A plain cluster for tests of sources of jobs.

use std::sync::Arc;

use tempfile::TempDir;

use mumakil_base::units::{Bytes, Count};
use mumakil_core::cluster::{ClusterSpec, Topology};
use mumakil_core::mapred::{Hadoop, HadoopLine};
use mumakil_core::trace::TraceError;
use mumakil_scenario::workload::{FoundJobs, Submission, WorkloadSite};

/// A cluster, and a folder for the files of a workload.
pub(crate) struct WorkloadGround {
    pub(crate) folder: TempDir,
    hadoop: Hadoop,
    cluster: ClusterSpec,
    topology: Arc<Topology>,
}

impl WorkloadGround {
    /// Returns a plain cluster of `nodes` nodes.
    pub(crate) fn new(nodes: u32, block: Bytes) -> Self {
        let cluster = include_str!("../../scenarios/clusters/default.yaml");
        let mut cluster: ClusterSpec = serde_yaml::from_str(cluster).unwrap();
        (cluster.nodes, cluster.hdfs.block) = (Count::of(nodes), block);
        Self {
            folder: TempDir::new().unwrap(),
            hadoop: Hadoop::of(HadoopLine::V020),
            topology: Arc::new(Topology::new(&cluster)),
            cluster,
        }
    }

    /// Calls `read` with the site of this cluster.
    pub(crate) fn found(
        &self,
        read: impl FnOnce(&WorkloadSite<'_>) -> Result<FoundJobs, TraceError>,
    ) -> Result<FoundJobs, String> {
        let site = WorkloadSite {
            seed: 42,
            folder: self.folder.path(),
            hadoop: &self.hadoop,
            submission: Submission::Replay,
            cluster: &self.cluster,
            topology: &self.topology,
            formats: &crate::formats(),
            class_of: &|_, _| "all".into(),
        };
        read(&site).map_err(|error| error.to_string())
    }
}
