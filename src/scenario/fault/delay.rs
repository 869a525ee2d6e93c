//! Heartbeats and replies are late, so that later ones may overtake them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::effects::{Effects, FaultCue};
use super::kind::FaultKind;
use mumakil_base::random::Dist;
use mumakil_base::units::{Fraction, SimSpan};

/// Some of the messages between trackers and JobTracker are late.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DelayFault {
    /// The share of messages that are late.
    share: Fraction,
    /// How late they are: a time, or a distribution such as `{uniform: {from: 1s, to: 2min}}`.
    /// After `hadoop.rpc_timeout` a tracker repeats its heartbeat, which may overtake the first.
    by: Dist<SimSpan>,
}

impl FaultKind for DelayFault {
    fn apply(&self, _: &FaultCue, effects: &mut Effects<'_>) {
        effects.late = self.share;
        effects.late_by = self.by.clone();
    }
}
