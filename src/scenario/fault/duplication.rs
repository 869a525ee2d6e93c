//! Heartbeats and replies arrive twice.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::effects::{Effects, FaultCue};
use super::kind::FaultKind;
use mumakil_base::units::Fraction;

/// The share of messages between trackers and JobTracker that arrive twice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct Duplication(Fraction);

impl FaultKind for Duplication {
    fn apply(&self, _: &FaultCue, effects: &mut Effects<'_>) {
        effects.duplication = self.0;
    }
}
