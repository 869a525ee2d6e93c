//! Heartbeats and replies are lost on the way.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::effects::{Effects, FaultCue};
use super::kind::FaultKind;
use super::known::FaultContext;
use mumakil_base::units::Fraction;
use mumakil_yaml::{Path, YamlProblem};

/// The share of messages between trackers and JobTracker that are lost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct Loss(Fraction);

impl FaultKind for Loss {
    fn check(&self, _: &FaultContext<'_>) -> Result<(), YamlProblem> {
        if self.0 < Fraction::of(1.0) {
            return Ok(());
        }
        let message = "no heartbeat would ever arrive, and no job could begin";
        Err(YamlProblem::value(Path::default(), message))
    }

    fn apply(&self, _: &FaultCue, effects: &mut Effects<'_>) {
        effects.loss = self.0;
    }
}
