//! Attempts fail by themselves, each at a random point of its work.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Effects, Kind};
use crate::units::{Fraction, SimTime};

/// The share of map and reduce attempts that fail.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct TaskFailures(Fraction);

impl Kind for TaskFailures {
    const HAS_MOMENT: bool = false;

    fn apply(&self, _: SimTime, effects: &mut Effects<'_>) {
        effects.task_failures = self.0;
    }
}
