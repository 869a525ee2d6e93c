//! Heartbeats and replies are lost on their way.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Effects, Kind};
use crate::units::{Fraction, SimTime};

/// The share of messages between trackers and JobTracker that are lost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct Loss(Fraction);

impl Kind for Loss {
    const HAS_MOMENT: bool = false;

    fn apply(&self, _: SimTime, effects: &mut Effects<'_>) {
        effects.loss = self.0;
        effects.resends = true;
    }
}
