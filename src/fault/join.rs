//! Nodes join a running cluster.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::target::{Nodes, Racks, Target};
use super::{Cue, Effects, Kind, Moment};
use crate::mapred::Harm;
use crate::units::SimTime;

/// Nodes of the cluster join it at this time, and are not there before. Blocks of files may lie on
/// them from the beginning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Join {
    /// Which nodes; without this, all of the rack.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nodes: Option<Nodes>,
    /// The rack that they stand in, or several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rack: Option<Racks>,
}

impl Kind for Join {
    const MOMENT: Moment = Moment::Named;

    fn target(&self) -> Option<Target<'_>> {
        Some(Target::new(self.nodes.as_ref(), self.rack.as_ref()))
    }

    fn apply(&self, cue: &Cue, effects: &mut Effects<'_>) {
        let (at, nodes) = (cue.at, effects.struck(self, cue));
        effects.absent.extend(&nodes);
        effects.befall(SimTime::ZERO, nodes, Harm::Outage, Some(at - SimTime::ZERO));
    }
}
