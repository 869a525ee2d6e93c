//! The site of a workload: the cluster and the seed of its run.

use std::path::Path;
use std::sync::Arc;

use super::format::Formats;
use super::submission::Submission;
use mumakil_core::cluster::{ClusterSpec, Topology};
use mumakil_core::mapred::Hadoop;

/// The cluster, the seed and the settings of the run for which a workload is built.
pub struct WorkloadSite<'a> {
    /// The seed of all random numbers.
    pub seed: u64,
    /// The folder from which relative paths start.
    pub folder: &'a Path,
    /// The settings of the protocol.
    pub hadoop: &'a Hadoop,
    /// The mode of submission.
    pub submission: Submission,
    /// The cluster as the scenario gives it.
    pub cluster: &'a ClusterSpec,
    /// The nodes of the cluster.
    pub topology: &'a Arc<Topology>,
    /// The formats of trace files.
    pub formats: &'a Formats,
    /// Gives the class of a job without one, from the numbers of its maps and reduces.
    pub class_of: &'a dyn Fn(u32, u32) -> Arc<str>,
}
