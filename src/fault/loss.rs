//! Heartbeats and replies are lost on their way.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Cue, Effects, Kind, Moment};
use crate::units::Fraction;

/// The share of messages between trackers and JobTracker that are lost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct Loss(Fraction);

impl Kind for Loss {
    const MOMENT: Moment = Moment::None;

    fn apply(&self, _: &Cue, effects: &mut Effects<'_>) {
        effects.loss = self.0;
        effects.resends = true;
    }
}
