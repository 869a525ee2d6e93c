//! Machines crash by chance, again and again, each independently.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::effects::{Effects, FaultCue};
use super::kind::FaultKind;
use super::known::FaultContext;
use super::target::{FaultTarget, NodesSpec, Racks};
use mumakil_base::random::Dist;
use mumakil_base::units::{Quantity, SimSpan};
use mumakil_core::mapred::MishapHarm;
use mumakil_yaml::{Path, YamlProblem};

/// Nodes crash by chance, each independently, and come back when they are repaired.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Crashes {
    /// Which nodes; without this and `rack`, all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nodes: Option<NodesSpec>,
    /// The rack or racks of the nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rack: Option<Racks>,
    /// How long a node works until it crashes, such as `{exponential: {mean: 8h}}` or `{weibull:
    /// {mean: 8h, shape: 0.7}}`. With a plain time, the first crash comes after a random part of
    /// it.
    mtbf: Dist<SimSpan>,
    /// How long a repair takes. Without this, a node that has crashed stays off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mttr: Option<Dist<SimSpan>>,
    /// Whether the machine crashes, or only its tracker.
    #[serde(default)]
    what: CrashedThing,
}

/// The part of a node that crashes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum CrashedThing {
    /// The whole machine.
    #[default]
    Machine,
    /// Only the tracker's process, as with `restart`.
    Tracker,
}

/// Refuses a mean time between crashes (or slow spells) below a second: a run would consist of
/// little else.
pub(super) fn needs_time(key: &str, between: &Dist<SimSpan>) -> Result<(), YamlProblem> {
    // Chosen: machines work for hours, so only a mistake such as `1ms` for `1min` is below this
    // limit.
    let least = SimSpan::from_secs(1);
    if least.as_f64() <= between.mean() {
        return Ok(());
    }
    let message = "the mean time between two of them is at least 1s";
    Err(YamlProblem::value(Path::of(key), message))
}

impl FaultKind for Crashes {
    fn target(&self) -> Option<FaultTarget<'_>> {
        Some(FaultTarget::new(self.nodes.as_ref(), self.rack.as_ref()))
    }

    fn check(&self, _: &FaultContext<'_>) -> Result<(), YamlProblem> {
        needs_time("mtbf", &self.mtbf)
    }

    fn apply(&self, cue: &FaultCue, effects: &mut Effects<'_>) {
        let harm = match self.what {
            CrashedThing::Machine => MishapHarm::Outage,
            CrashedThing::Tracker => MishapHarm::TrackerOutage,
        };
        effects.repeat_at_nodes(cue, harm, &self.mtbf, self.mttr.as_ref());
    }
}
