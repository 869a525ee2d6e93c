//! Heartbeats and replies arrive twice.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::effects::{Effects, FaultCue};
use super::kind::{FaultKind, FaultMoment};
use mumakil_base::units::Fraction;

/// The share of messages between trackers and JobTracker that arrive twice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct Duplication(Fraction);

impl FaultKind for Duplication {
    const MOMENT: FaultMoment = FaultMoment::None;
    const HOLDS_ALONE: bool = true;
    // Doubled messages lose no reply. But a tracker cannot know which fault its network has. So
    // with any fault of messages, a tracker repeats a heartbeat that is not answered in time.
    const DISTURBS_MESSAGES: bool = true;

    fn apply(&self, _: &FaultCue, effects: &mut Effects<'_>) {
        effects.duplication = self.0;
    }
}
