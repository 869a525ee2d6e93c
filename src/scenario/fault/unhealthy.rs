//! The health script of nodes finds them unhealthy.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::effects::{Effects, FaultCue};
use super::kind::FaultKind;
use super::node_choice::NodeChoiceFor;
use super::target::FaultTarget;
use mumakil_base::units::SimSpan;
use mumakil_core::mapred::{Mail, ToTracker};

/// The health script of these nodes reports a problem: they are blacklisted and get no tasks until
/// it ends. Attempts there go on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct Unhealthy(NodeChoiceFor<Option<SimSpan>>);

impl FaultKind for Unhealthy {
    fn target(&self) -> Option<FaultTarget<'_>> {
        Some(self.0.target())
    }

    fn apply(&self, cue: &FaultCue, effects: &mut Effects<'_>) {
        let at = cue.at;
        for &node in &cue.nodes {
            let health = |is_well| Mail::Tracker(node, ToTracker::Health(is_well));
            effects.opening.push((at, health(false)));
            effects.opening.extend(self.0.lasts.map(|lasts| (at + lasts, health(true))));
        }
    }
}
