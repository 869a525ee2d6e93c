//! Nodes are taken out of the cluster by its administrator.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::effects::{Cue, Effects};
use super::kind::{FaultKind, Moment};
use super::target::FaultTarget;
use super::whom::WhomFor;
use mumakil_base::units::SimSpan;
use mumakil_core::mapred::{Harm, ToJobTracker};

/// Nodes are put on the list of those that may not take part. The JobTracker gives them up at once: what
/// runs there is killed, and maps whose output lies there run again. Their trackers end; they are started again if the nodes are
/// on the list for a while only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct Decommission(WhomFor<Option<SimSpan>>);

impl FaultKind for Decommission {
    const MOMENT: Moment = Moment::Named;

    fn target(&self) -> Option<FaultTarget<'_>> {
        Some(self.0.target())
    }

    fn apply(&self, cue: &Cue, effects: &mut Effects<'_>) {
        let at = cue.at;
        for node in &cue.nodes {
            effects.opening.push((at, ToJobTracker::Exclude(*node).into()));
            if let Some(lasts) = self.0.lasts {
                effects.opening.push((at + lasts, ToJobTracker::Include(*node).into()));
            }
        }
        effects.befall(at, cue.nodes.clone(), Harm::TrackerOutage, self.0.lasts);
    }
}
