//! A node dies: its tracker falls silent, and the map outputs on its disks are out of reach.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Effects, Kind, Known};
use crate::cluster::NodeName;
use crate::mapred::{Mail, ToJobTracker, ToTracker};
use crate::units::SimTime;
use crate::yaml::Problem;

/// The node that stops, such as `node-3`; they are counted from 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct Stop(NodeName);

impl Kind for Stop {
    const HAS_MOMENT: bool = true;

    fn check(&self, known: &Known<'_>) -> Result<(), Problem> {
        known.has(self.0)
    }

    fn apply(&self, at: SimTime, effects: &mut Effects<'_>) {
        let tracker = self.0.tracker();
        effects.opening.push((at, Mail::Tracker(tracker, ToTracker::PowerOff)));
        effects.opening.push((at, ToJobTracker::Darkness(tracker).into()));
    }
}
