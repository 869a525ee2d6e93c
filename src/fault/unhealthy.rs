//! Nodes are found unfit by their own health script.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::target::{Nodes, Racks, Target};
use super::{Cue, Effects, Kind, Moment};
use crate::mapred::{Mail, ToTracker};
use crate::units::SimSpan;

/// The health script of these nodes complains, which their next heartbeats tell: they are blacklisted
/// and get no tasks until it does no more. What runs there goes on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Unhealthy {
    /// Which nodes; without this, all of the rack.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nodes: Option<Nodes>,
    /// The rack that they stand in, or several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rack: Option<Racks>,
    /// For how long; without this, for good.
    #[serde(rename = "for", default, skip_serializing_if = "Option::is_none")]
    lasts: Option<SimSpan>,
}

impl Kind for Unhealthy {
    const MOMENT: Moment = Moment::Named;

    fn target(&self) -> Option<Target<'_>> {
        Some(Target::new(self.nodes.as_ref(), self.rack.as_ref()))
    }

    fn apply(&self, cue: &Cue, effects: &mut Effects<'_>) {
        let (at, nodes) = (cue.at, effects.struck(self, cue));
        for node in nodes {
            let health = |is_well| Mail::Tracker(node, ToTracker::Health(is_well));
            effects.opening.push((at, health(false)));
            effects.opening.extend(self.lasts.map(|lasts| (at + lasts, health(true))));
        }
    }
}
