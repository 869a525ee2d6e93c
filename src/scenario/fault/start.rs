//! Stopped machines come back, empty.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::effects::{Effects, FaultCue};
use super::kind::FaultKind;
use super::node_choice::NodeChoice;
use super::target::FaultTarget;
use mumakil_core::mapred::MishapHarm;

/// The stopped nodes that start again, written as in `stop`. A number or share draws the same nodes
/// as a `stop` with it, the first as the first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct Start(NodeChoice);

impl FaultKind for Start {
    fn target(&self) -> Option<FaultTarget<'_>> {
        Some(self.0.target())
    }

    fn apply(&self, cue: &FaultCue, effects: &mut Effects<'_>) {
        effects.befall(cue.at, cue.nodes.clone(), MishapHarm::Start, None);
    }
}
