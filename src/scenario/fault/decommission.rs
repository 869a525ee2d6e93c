//! The administrator excludes nodes from the cluster.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::effects::{Effects, FaultCue};
use super::kind::FaultKind;
use super::node_choice::NodeChoiceFor;
use super::target::FaultTarget;
use mumakil_base::units::SimSpan;
use mumakil_core::mapred::{MishapHarm, ToJobTracker};

/// The administrator excludes nodes. The JobTracker gives them up at once: attempts there are
/// killed, and maps with output there run again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct Decommission(NodeChoiceFor<Option<SimSpan>>);

impl FaultKind for Decommission {
    fn target(&self) -> Option<FaultTarget<'_>> {
        Some(self.0.target())
    }

    fn apply(&self, cue: &FaultCue, effects: &mut Effects<'_>) {
        let at = cue.at;
        for node in &cue.nodes {
            effects.opening.push((at, ToJobTracker::Exclude(*node).into()));
            if let Some(lasts) = self.0.lasts {
                effects.opening.push((at + lasts, ToJobTracker::Include(*node).into()));
            }
        }
        // In Hadoop, the JobTracker answers the next heartbeat of an excluded tracker with an
        // error, and the tracker shuts down. Here the tracker ends at once: it would get no more
        // tasks anyway.
        effects.befall(at, cue.nodes.clone(), MishapHarm::TrackerOutage, self.0.lasts);
    }
}
