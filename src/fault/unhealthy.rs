//! Nodes are found unfit by their own health script.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Effects, Kind, Known};
use crate::cluster::NodeName;
use crate::mapred::{Mail, ToTracker};
use crate::units::{SimSpan, SimTime};
use crate::yaml::Problem;

/// The health script of these nodes complains, which their next heartbeats tell: they are blacklisted
/// and get no tasks until it does no more. What runs there goes on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Unhealthy {
    /// The nodes.
    nodes: Vec<NodeName>,
    /// For how long; without this, for good.
    #[serde(rename = "for", default, skip_serializing_if = "Option::is_none")]
    lasts: Option<SimSpan>,
}

impl Kind for Unhealthy {
    const HAS_MOMENT: bool = true;

    fn check(&self, known: &Known<'_>) -> Result<(), Problem> {
        known.has_all(&self.nodes)
    }

    fn apply(&self, at: SimTime, effects: &mut Effects<'_>) {
        for node in self.nodes.iter().map(|node| node.tracker()) {
            let health = |is_well| Mail::Tracker(node, ToTracker::Health(is_well));
            effects.opening.push((at, health(false)));
            effects.opening.extend(self.lasts.map(|lasts| (at + lasts, health(true))));
        }
    }
}
