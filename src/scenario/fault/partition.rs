//! The network is split into two parts, and each part goes on by itself.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::effects::{Effects, FaultCue};
use super::kind::FaultKind;
use super::known::FaultContext;
use super::node_choice::NodeChoiceFor;
use super::target::FaultTarget;
use mumakil_base::units::SimSpan;
use mumakil_core::cluster::NetworkCut;
use mumakil_core::mapred::ToMapOutputs;
use mumakil_yaml::{Path, YamlProblem};

/// Nodes are cut off from the others and from the JobTracker, which declares them lost after
/// `hadoop.expiry`. Their attempts go on. Reduces cannot fetch from the other side; maps still read
/// their input there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct Partition(NodeChoiceFor<SimSpan>);

impl FaultKind for Partition {
    fn target(&self) -> Option<FaultTarget<'_>> {
        Some(self.0.target())
    }

    fn check(&self, _: &FaultContext<'_>) -> Result<(), YamlProblem> {
        if self.0.lasts.is_zero() {
            let message = "the nodes must be cut off for more than 0s";
            return Err(YamlProblem::value(Path::of("for"), message));
        }
        Ok(())
    }

    fn apply(&self, cue: &FaultCue, effects: &mut Effects<'_>) {
        let (at, until) = (cue.at, cue.at + self.0.lasts);
        let cut =
            Arc::new(NetworkCut { from: at, until, nodes: cue.nodes.iter().copied().collect() });
        effects.cuts.push(cut.clone());
        // The same message marks the beginning and the end of the cut: by the time, the receiver
        // knows which of the two it is.
        effects.opening.push((at, ToMapOutputs::Cut(cut.clone()).into()));
        effects.opening.push((until, ToMapOutputs::Cut(cut).into()));
    }
}
