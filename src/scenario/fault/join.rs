//! Nodes join a running cluster.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::effects::{Cue, Effects};
use super::kind::{FaultKind, Moment};
use super::target::FaultTarget;
use super::whom::Whom;
use mumakil_base::units::SimTime;
use mumakil_core::mapred::Harm;

/// Nodes of the cluster join it at this time, and are not there before. Blocks of files may lie on
/// them from the beginning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct Join(Whom);

impl FaultKind for Join {
    const MOMENT: Moment = Moment::Named;

    fn target(&self) -> Option<FaultTarget<'_>> {
        Some(self.0.target())
    }

    fn apply(&self, cue: &Cue, effects: &mut Effects<'_>) {
        effects.absent.extend(&cue.nodes);
        let until = Some(cue.at - SimTime::ZERO);
        effects.befall(SimTime::ZERO, cue.nodes.clone(), Harm::Absence, until);
    }
}
