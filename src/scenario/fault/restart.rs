//! Trackers' processes die and come back, on machines that stay on.
//!
//! As in Hadoop, the work of the attempts is lost all the same: attempts end with their tracker,
//! which also serves the outputs of maps and removes them when it starts. When a whole machine
//! dies, the blocks on it are out of reach; here they stay available, and cached in its memory.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::effects::{Effects, FaultCue};
use super::kind::{FaultKind, FaultMoment};
use super::node_choice::NodeChoiceFor;
use super::target::FaultTarget;
use mumakil_base::units::SimSpan;
use mumakil_core::mapred::MishapHarm;

/// Trackers' processes crash and start again: running attempts there are lost, and so are the
/// outputs of maps that ended there. The machines stay on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct Restart(NodeChoiceFor<SimSpan>);

impl FaultKind for Restart {
    const MOMENT: FaultMoment = FaultMoment::Named;

    fn target(&self) -> Option<FaultTarget<'_>> {
        Some(self.0.target())
    }

    fn apply(&self, cue: &FaultCue, effects: &mut Effects<'_>) {
        effects.befall(cue.at, cue.nodes.clone(), MishapHarm::TrackerOutage, Some(self.0.lasts));
    }
}
