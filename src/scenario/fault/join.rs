//! Nodes join a running cluster.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::effects::{Effects, FaultCue};
use super::kind::FaultKind;
use super::node_choice::NodeChoice;
use super::target::FaultTarget;
use mumakil_base::units::SimTime;
use mumakil_core::mapred::MishapHarm;

/// Nodes of the cluster join it at this time, and are absent before. Blocks of files may be on them
/// from the beginning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct Join(NodeChoice);

impl FaultKind for Join {
    fn target(&self) -> Option<FaultTarget<'_>> {
        Some(self.0.target())
    }

    fn apply(&self, cue: &FaultCue, effects: &mut Effects<'_>) {
        effects.absent.extend(&cue.nodes);
        // Joining at an instant means being absent from the beginning until then.
        let until = Some(cue.at - SimTime::ZERO);
        effects.befall(SimTime::ZERO, cue.nodes.clone(), MishapHarm::Absence, until);
    }
}
