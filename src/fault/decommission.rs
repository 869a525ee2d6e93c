//! Nodes are taken out of the cluster by its administrator.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::target::{Nodes, Racks, Target};
use super::{Cue, Effects, Kind, Moment};
use crate::mapred::{Harm, ToJobTracker};
use crate::units::SimSpan;

/// Nodes are put on the list of those that may not take part. The JobTracker gives them up at once: what
/// runs there is killed, and maps whose output lies there run again. Their trackers end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Decommission {
    /// Which nodes; without this, all of the rack.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nodes: Option<Nodes>,
    /// The rack that they stand in, or several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rack: Option<Racks>,
    /// How long they are on the list; after this their trackers are started again. Without this, for
    /// good.
    #[serde(rename = "for", default, skip_serializing_if = "Option::is_none")]
    lasts: Option<SimSpan>,
}

impl Kind for Decommission {
    const MOMENT: Moment = Moment::Named;

    fn target(&self) -> Option<Target<'_>> {
        Some(Target::new(self.nodes.as_ref(), self.rack.as_ref()))
    }

    fn apply(&self, cue: &Cue, effects: &mut Effects<'_>) {
        let (at, nodes) = (cue.at, effects.struck(self, cue));
        for node in &nodes {
            effects.opening.push((at, ToJobTracker::Exclude(*node).into()));
            if let Some(lasts) = self.lasts {
                effects.opening.push((at + lasts, ToJobTracker::Include(*node).into()));
            }
        }
        effects.befall(at, nodes, Harm::TrackerOutage, self.lasts);
    }
}
