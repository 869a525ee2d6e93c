//! A node that has died comes back, empty.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Effects, Kind, Known};
use crate::cluster::NodeName;
use crate::mapred::{Mail, ToTracker};
use crate::units::SimTime;
use crate::yaml::Problem;

/// The stopped node that starts anew.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct Start(NodeName);

impl Kind for Start {
    const HAS_MOMENT: bool = true;

    fn check(&self, known: &Known<'_>) -> Result<(), Problem> {
        known.has(self.0)
    }

    fn apply(&self, at: SimTime, effects: &mut Effects<'_>) {
        effects.opening.push((at, Mail::Tracker(self.0.tracker(), ToTracker::PowerOn)));
    }
}
