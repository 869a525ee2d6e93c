//! Disks break: the data on them is lost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::effects::{Effects, FaultCue};
use super::kind::FaultKind;
use super::node_choice::NodeChoice;
use super::target::FaultTarget;
use mumakil_core::mapred::{Mail, ToMapOutputs, ToNameNode, ToTracker};

/// Nodes lose their disks and go on with empty ones. Attempts there fail, outputs of maps there are
/// lost, and copies of blocks are made again elsewhere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct Disk(NodeChoice);

impl FaultKind for Disk {
    fn target(&self) -> Option<FaultTarget<'_>> {
        Some(self.0.target())
    }

    fn apply(&self, cue: &FaultCue, effects: &mut Effects<'_>) {
        let at = cue.at;
        for &node in &cue.nodes {
            // Three losses: the working files of attempts, the outputs of maps, and the blocks of
            // HDFS.
            effects.opening.push((at, Mail::Tracker(node, ToTracker::DiskLost)));
            effects.opening.push((at, ToMapOutputs::DiskLost(node).into()));
            effects.opening.push((at, ToNameNode::DiskLost(node).into()));
        }
    }
}
