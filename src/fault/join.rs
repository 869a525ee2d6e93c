//! Nodes join a running cluster.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Effects, Kind, Known};
use crate::cluster::NodeName;
use crate::mapred::{Mail, ToTracker};
use crate::units::SimTime;
use crate::yaml::Problem;

/// Nodes of the cluster join it at this time, and are not there before. Blocks of files may lie on
/// them from the beginning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Join {
    /// The nodes.
    nodes: Vec<NodeName>,
}

impl Kind for Join {
    const HAS_MOMENT: bool = true;

    fn check(&self, known: &Known<'_>) -> Result<(), Problem> {
        known.has_all(&self.nodes)
    }

    fn apply(&self, at: SimTime, effects: &mut Effects<'_>) {
        for node in self.nodes.iter().map(|node| node.tracker()) {
            effects.absent.insert(node);
            effects.opening.push((at, Mail::Tracker(node, ToTracker::PowerOn)));
        }
    }
}
