//! The site of a workload: where its jobs will run, and with what luck.

use std::path::Path;
use std::sync::Arc;

use super::format::Formats;
use super::submission::Submission;
use mumakil_core::cluster::{ClusterSpec, Topology};
use mumakil_core::mapred::Hadoop;

/// Where jobs will run, and with what luck.
pub struct WorkloadSite<'a> {
    /// The seed of all randomness.
    pub seed: u64,
    /// The folder in which relative paths begin.
    pub folder: &'a Path,
    /// The settings of the protocol.
    pub hadoop: &'a Hadoop,
    /// When jobs are submitted.
    pub submission: Submission,
    /// The cluster as written.
    pub cluster: &'a ClusterSpec,
    /// The cluster's nodes.
    pub topology: &'a Topology,
    /// The formats of trace files.
    pub formats: &'a Formats,
    /// The class of a job that names none, by the numbers of its maps and reduces.
    pub class_of: &'a dyn Fn(u32, u32) -> Arc<str>,
}
