//! Disks break: what tasks have left on them is gone.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Effects, Kind, Known};
use crate::cluster::NodeName;
use crate::mapred::{Mail, ToJobTracker, ToTracker};
use crate::units::SimTime;
use crate::yaml::Problem;

/// Nodes lose their disks and go on with empty ones. Maps and reduces that work there fail. Reduces
/// cannot read the outputs of maps that lie there and complain at once, until the maps run again.
/// The file system has other copies of what lay there, and does not notice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Disk {
    /// The nodes.
    nodes: Vec<NodeName>,
}

impl Kind for Disk {
    const HAS_MOMENT: bool = true;

    fn check(&self, known: &Known<'_>) -> Result<(), Problem> {
        known.has_all(&self.nodes)
    }

    fn apply(&self, at: SimTime, effects: &mut Effects<'_>) {
        for node in self.nodes.iter().map(|node| node.tracker()) {
            effects.opening.push((at, Mail::Tracker(node, ToTracker::DiskLost)));
            effects.opening.push((at, ToJobTracker::DiskLost(node).into()));
        }
    }
}
