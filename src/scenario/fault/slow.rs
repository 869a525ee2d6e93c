//! Machines are slow: for good, as some in every cluster are, or for a while.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::effects::{Effects, FaultCue};
use super::kind::{FaultKind, FaultMoment};
use super::known::FaultContext;
use super::target::{FaultTarget, NodesSpec, Racks};
use mumakil_base::units::{Fraction, SimSpan};
use mumakil_core::cluster::Speeds;
use mumakil_core::mapred::MishapHarm;
use mumakil_yaml::{Path, YamlProblem};

/// Nodes are slow from `at`, or from the beginning, on: their parts have these shares of their usual
/// speeds. Attempts there go on at another pace from that instant. If a node is slow for several
/// reasons, the shares are multiplied.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct SlowFault {
    /// Which nodes; without this and `rack`, all.
    #[serde(skip_serializing_if = "Option::is_none")]
    nodes: Option<NodesSpec>,
    /// The rack that they stand in, or several.
    #[serde(skip_serializing_if = "Option::is_none")]
    rack: Option<Racks>,
    /// The speed of their cores, such as `0.5` or `50 %`: of starting processes and of all work that is
    /// no transfer. A time that is given as a whole, by a workload or a trace, is of this kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu: Option<Fraction>,
    /// The speed of their disks. Where transfers share nothing, it counts for what is read and
    /// written on the node itself; where they do, for whoever uses the disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    disk: Option<Fraction>,
    /// The speed of their connections. Where transfers share nothing, it counts for what is fetched
    /// and read from elsewhere; where they do, for all that comes or goes.
    #[serde(skip_serializing_if = "Option::is_none")]
    network: Option<Fraction>,
    /// For how long; without this, for good.
    #[serde(rename = "for", skip_serializing_if = "Option::is_none")]
    lasts: Option<SimSpan>,
}

/// Returns the speeds that these shares make, or what is wrong with them.
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
        // From this share on rounding moves an end by a microsecond
        // a day at most, and no attempt takes for ever.
        if share.is_some_and(|share| share.get() < SLOWEST) {
            let message = format!("nothing would ever end there; the least is {SLOWEST}");
            return Err(YamlProblem::value(Path::of(key), message));
        }
    }
    let share = |share: Option<Fraction>| share.map_or(1.0, Fraction::get);
    Ok(Speeds { cpu: share(cpu), disk: share(disk), network: share(network) })
}

/// The slowest that a part may be. Chosen: an attempt of a minute takes most of a day then, and a
/// run still ends.
const SLOWEST: f64 = 0.001;

impl FaultKind for SlowFault {
    const MOMENT: FaultMoment = FaultMoment::Open;

    fn target(&self) -> Option<FaultTarget<'_>> {
        Some(FaultTarget::new(self.nodes.as_ref(), self.rack.as_ref()))
    }

    fn check(&self, _: &FaultContext<'_>) -> Result<(), YamlProblem> {
        speeds(self.cpu, self.disk, self.network).map(drop)
    }

    fn apply(&self, cue: &FaultCue, effects: &mut Effects<'_>) {
        // `check` has refused shares that make no speeds, so this is always `Ok`.
        if let Ok(speeds) = speeds(self.cpu, self.disk, self.network) {
            effects.befall(cue.at, cue.nodes.clone(), MishapHarm::Slow(speeds), self.lasts);
        }
    }
}
