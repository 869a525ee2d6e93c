//! Machines are slow: permanently, as some in every cluster are, or for a while.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::effects::{Effects, FaultCue};
use super::kind::FaultKind;
use super::known::FaultContext;
use super::target::{FaultTarget, NodesSpec, Racks};
use mumakil_base::units::{Fraction, SimSpan};
use mumakil_core::cluster::Speeds;
use mumakil_core::mapred::MishapHarm;
use mumakil_yaml::{Path, YamlProblem};

/// Nodes are slow from `at` on, or from the beginning: their hardware runs at these shares of its
/// usual speed, several multiplied.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct SlowFault {
    /// Which nodes; without this and `rack`, all.
    #[serde(skip_serializing_if = "Option::is_none")]
    nodes: Option<NodesSpec>,
    /// The rack or racks of the nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    rack: Option<Racks>,
    /// The speed of their cores: for starting processes, all work that is no transfer, and times
    /// that are given as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu: Option<Fraction>,
    /// The speed of their disks: for reads and writes on the node itself, or for all that share the
    /// disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    disk: Option<Fraction>,
    /// The speed of their connections: for fetches and reads from elsewhere, or for all that share
    /// them.
    #[serde(skip_serializing_if = "Option::is_none")]
    network: Option<Fraction>,
    /// How long they are slow; without this, permanently.
    #[serde(rename = "for", skip_serializing_if = "Option::is_none")]
    lasts: Option<SimSpan>,
}

/// Returns the speeds of these shares, or a problem with them.
pub(super) fn speeds(
    cpu: Option<Fraction>,
    disk: Option<Fraction>,
    network: Option<Fraction>,
) -> Result<Speeds, YamlProblem> {
    let all = [("cpu", cpu), ("disk", disk), ("network", network)];
    if all.iter().all(|(_, share)| share.is_none()) {
        let message = "it needs a speed: `cpu`, `disk` or `network`, such as `cpu: 0.5`";
        return Err(YamlProblem::value(Path::default(), message));
    }
    for (key, share) in all {
        // From this share on, every attempt ends, and rounding moves its end by at most a
        // microsecond a day.
        if share.is_some_and(|share| share.get() < SLOWEST) {
            let message = format!("too slow to end any attempt; the least is {SLOWEST}");
            return Err(YamlProblem::value(Path::of(key), message));
        }
    }
    let share = |share: Option<Fraction>| share.map_or(1.0, Fraction::get);
    Ok(Speeds { cpu: share(cpu), disk: share(disk), network: share(network) })
}

/// The slowest possible share. Chosen: an attempt of a minute then takes most of a day, and a run
/// still ends.
const SLOWEST: f64 = 0.001;

impl FaultKind for SlowFault {
    fn target(&self) -> Option<FaultTarget<'_>> {
        Some(FaultTarget::new(self.nodes.as_ref(), self.rack.as_ref()))
    }

    fn check(&self, _: &FaultContext<'_>) -> Result<(), YamlProblem> {
        speeds(self.cpu, self.disk, self.network).map(drop)
    }

    fn apply(&self, cue: &FaultCue, effects: &mut Effects<'_>) {
        // `check` has refused invalid shares, so this is always `Ok`.
        if let Ok(speeds) = speeds(self.cpu, self.disk, self.network) {
            effects.befall(cue.at, cue.nodes.clone(), MishapHarm::Slow(speeds), self.lasts);
        }
    }
}
