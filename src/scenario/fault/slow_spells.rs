//! Machines are slow by chance, now and then, each independently.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::crashes::needs_time;
use super::effects::{Effects, FaultCue};
use super::kind::FaultKind;
use super::known::FaultContext;
use super::slow::speeds;
use super::target::{FaultTarget, NodesSpec, Racks};
use mumakil_base::random::Dist;
use mumakil_base::units::{Fraction, SimSpan};
use mumakil_core::mapred::MishapHarm;
use mumakil_yaml::YamlProblem;

/// Nodes are slow now and then, each independently, in the way of `slow`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SlowSpells {
    /// Which nodes; without this and `rack`, all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nodes: Option<NodesSpec>,
    /// The rack or racks of the nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rack: Option<Racks>,
    /// How long a node has its usual speed between two slow spells, such as `{exponential: {mean:
    /// 1h}}`. With a plain time, the first comes after a random part of it.
    every: Dist<SimSpan>,
    /// How long each slow spell lasts.
    #[serde(rename = "for")]
    lasts: Dist<SimSpan>,
    /// The speed of the node's cores during a spell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cpu: Option<Fraction>,
    /// The speed of the node's disks during a spell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    disk: Option<Fraction>,
    /// The speed of the node's connection during a spell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    network: Option<Fraction>,
}

impl FaultKind for SlowSpells {
    fn target(&self) -> Option<FaultTarget<'_>> {
        Some(FaultTarget::new(self.nodes.as_ref(), self.rack.as_ref()))
    }

    fn check(&self, _: &FaultContext<'_>) -> Result<(), YamlProblem> {
        speeds(self.cpu, self.disk, self.network)?;
        needs_time("every", &self.every)
    }

    fn apply(&self, cue: &FaultCue, effects: &mut Effects<'_>) {
        // `check` has refused invalid shares, so this is always `Ok`.
        if let Ok(speeds) = speeds(self.cpu, self.disk, self.network) {
            effects.repeat_at_nodes(cue, MishapHarm::Slow(speeds), &self.every, Some(&self.lasts));
        }
    }
}
