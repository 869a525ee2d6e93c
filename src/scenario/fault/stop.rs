//! Machines die: their trackers fall silent, and the map outputs on their disks are out of reach.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::effects::{Effects, FaultCue};
use super::kind::FaultKind;
use super::short_form::{ShortForm, Shorten};
use super::target::{FaultTarget, NodesSpec, Racks};
use mumakil_base::units::SimSpan;
use mumakil_core::mapred::MishapHarm;

/// The nodes that stop: `node-3` (counted from 1), `{rack: rack-2}`, or drawn, `{nodes: 10 %}`.
/// They stay off until a `start`, or for as long as `for` says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct Stop(ShortForm<StopSpec>);

/// The nodes that stop, and for how long.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct StopSpec {
    /// Which nodes; without this, all nodes of the rack.
    #[serde(skip_serializing_if = "Option::is_none")]
    nodes: Option<NodesSpec>,
    /// The rack or racks of the nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    rack: Option<Racks>,
    /// How long they are off; without this, until a `start`.
    #[serde(rename = "for", skip_serializing_if = "Option::is_none")]
    lasts: Option<SimSpan>,
}

impl Shorten for StopSpec {
    type Bare = NodesSpec;
    const EXPECTED: &'static str = "the name of a node, such as node-3, a list of them, `all`, or a \
                                    mapping such as {nodes: 10 %, for: 5min}";

    fn lengthen(nodes: NodesSpec) -> Result<Self, String> {
        Ok(Self { nodes: Some(named(nodes)?), ..Self::default() })
    }

    fn bare(&self) -> Option<&NodesSpec> {
        let Self { nodes, rack: None, lasts: None } = self else { return None };
        nodes.as_ref().filter(|nodes| matches!(nodes, NodesSpec::All | NodesSpec::Named(_)))
    }
}

/// Returns nodes that are given by name. Refuses a bare number, since `stop: 3` may mean node-3 or
/// three nodes.
pub(super) fn named(nodes: NodesSpec) -> Result<NodesSpec, String> {
    match nodes {
        NodesSpec::All | NodesSpec::Named(_) => Ok(nodes),
        NodesSpec::Number(number) => Err(format!(
            "a node has a name, such as node-3; for {number} nodes that are drawn write \
             {{nodes: {number}}}"
        )),
        NodesSpec::Share(share) => {
            let share = share.get() * 100.0;
            Err(format!(
                "a node has a name, such as node-3; for a share that is drawn write \
                 {{nodes: {share} %}}"
            ))
        }
    }
}

impl FaultKind for Stop {
    fn target(&self) -> Option<FaultTarget<'_>> {
        let Self(ShortForm(spec)) = self;
        let target = FaultTarget::new(spec.nodes.as_ref(), spec.rack.as_ref());
        Some(target.bare(spec.bare().is_some()))
    }

    fn apply(&self, cue: &FaultCue, effects: &mut Effects<'_>) {
        let Self(ShortForm(StopSpec { lasts, .. })) = self;
        // With `for` the node comes back by itself; a plain stop waits for a `start`.
        let harm = if lasts.is_some() { MishapHarm::Outage } else { MishapHarm::Stop };
        effects.befall(cue.at, cue.nodes.clone(), harm, *lasts);
    }
}
