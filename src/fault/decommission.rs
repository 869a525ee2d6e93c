//! Nodes are taken out of the cluster by its administrator.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Effects, Kind, Known};
use crate::cluster::NodeName;
use crate::mapred::{Mail, ToJobTracker, ToTracker};
use crate::units::{SimSpan, SimTime};
use crate::yaml::Problem;

/// Nodes are put on the list of those that may not take part. The JobTracker gives them up at once: what
/// runs there is killed, and maps whose output lies there run again. Their trackers end when they hear
/// that they are disallowed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Decommission {
    /// The nodes.
    nodes: Vec<NodeName>,
    /// How long they are on the list; after this their trackers are started again. Without this, for
    /// good.
    #[serde(rename = "for", default, skip_serializing_if = "Option::is_none")]
    lasts: Option<SimSpan>,
}

impl Kind for Decommission {
    const HAS_MOMENT: bool = true;

    fn check(&self, known: &Known<'_>) -> Result<(), Problem> {
        known.has_all(&self.nodes)
    }

    fn apply(&self, at: SimTime, effects: &mut Effects<'_>) {
        for node in self.nodes.iter().map(|node| node.tracker()) {
            effects.opening.push((at, ToJobTracker::Exclude(node).into()));
            if let Some(lasts) = self.lasts {
                effects.opening.push((at + lasts, ToJobTracker::Include(node).into()));
                effects.opening.push((at + lasts, Mail::Tracker(node, ToTracker::PowerOn)));
            }
        }
    }
}
