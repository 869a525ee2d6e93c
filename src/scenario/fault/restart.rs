//! Trackers' processes die and come back, on machines that stay on.
//!
//! As in Hadoop, the work of the attempts is lost all the same: attempts end with their tracker,
//! which also serves the outputs of maps and removes them when it starts. When a whole machine
//! dies, the blocks on it are out of reach; here they stay available, and cached in its memory.
//!
//! A tracker reads its numbers of slots when it starts, so a restart is also how an operator
//! changes them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::effects::{Effects, FaultCue};
use super::kind::FaultKind;
use super::target::{FaultTarget, NodesSpec, Racks};
use mumakil_base::units::SimSpan;
use mumakil_core::cluster::{PerSlot, SlotCount};
use mumakil_core::mapred::{Mail, MishapHarm, ToTracker};

/// Trackers' processes crash and start again, perhaps with other slots: attempts there, and the
/// outputs of maps, are lost. The machines stay on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Restart {
    /// Which nodes; without this, all nodes of the rack.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nodes: Option<NodesSpec>,
    /// The rack or racks of the nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rack: Option<Racks>,
    /// For how long.
    #[serde(rename = "for")]
    lasts: SimSpan,
    /// How many map slots each of the nodes has from its next start on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    map_slots: Option<SlotCount>,
    /// How many reduce slots each of the nodes has from its next start on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reduce_slots: Option<SlotCount>,
}

impl FaultKind for Restart {
    fn target(&self) -> Option<FaultTarget<'_>> {
        Some(FaultTarget::new(self.nodes.as_ref(), self.rack.as_ref()))
    }

    fn apply(&self, cue: &FaultCue, effects: &mut Effects<'_>) {
        let at = cue.at;
        let of = |count: Option<SlotCount>| count.map(SlotCount::get);
        let slots = PerSlot { map: of(self.map_slots), reduce: of(self.reduce_slots) };
        if slots != PerSlot::default() {
            for node in &cue.nodes {
                let mail = Mail::Tracker(*node, ToTracker::Slots(slots.into()));
                effects.opening.push((at, mail));
            }
        }
        effects.befall(at, cue.nodes.clone(), MishapHarm::TrackerOutage, Some(self.lasts));
    }
}
