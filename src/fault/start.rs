//! Machines that have been stopped come back, empty.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::short::{Short, Shorten};
use super::stop::{named, needs_target};
use super::target::{Nodes, Racks, Target};
use super::{Cue, Effects, Kind, Known, Moment};
use crate::mapred::Harm;
use crate::yaml::{Path, Problem};

/// The stopped nodes that start anew, written as those of `stop`. Drawn ones are the same that a
/// `stop` of as many has drawn: the first such `start` is for the first such `stop`. What has stopped
/// for a while comes back by itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct Start(Short<StartSpec>);

/// Nodes that start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct StartSpec {
    /// Which nodes; without this, all of the rack.
    #[serde(skip_serializing_if = "Option::is_none")]
    nodes: Option<Nodes>,
    /// The rack that they stand in, or several.
    #[serde(skip_serializing_if = "Option::is_none")]
    rack: Option<Racks>,
}

impl Shorten for StartSpec {
    type Bare = Nodes;
    const EXPECTED: &'static str = "the name of a node, such as node-3, a list of them, `all`, or a mapping such as \
         {rack: rack-2}";

    fn lengthen(nodes: Nodes) -> Result<Self, String> {
        Ok(Self { nodes: Some(named(nodes)?), rack: None })
    }

    fn bare(&self) -> Option<&Nodes> {
        let Self { nodes, rack: None } = self else { return None };
        nodes.as_ref().filter(|nodes| matches!(nodes, Nodes::All | Nodes::Named(_)))
    }
}

impl Kind for Start {
    const MOMENT: Moment = Moment::Named;
    const DRAWS_AS: Option<&'static str> = Some("stop");

    fn target(&self) -> Option<Target<'_>> {
        let Self(Short(StartSpec { nodes, rack })) = self;
        Some(Target::new(nodes.as_ref(), rack.as_ref()))
    }

    fn check(&self, known: &Known<'_>) -> Result<(), Problem> {
        let Self(Short(spec)) = self;
        let target = Target::new(spec.nodes.as_ref(), spec.rack.as_ref());
        needs_target(target)?;
        let is_short = spec.bare().is_some();
        target.check(known).map_err(|problem| match is_short {
            true => Problem { path: Path::default(), ..problem },
            false => problem,
        })
    }

    fn apply(&self, cue: &Cue, effects: &mut Effects<'_>) {
        let nodes = effects.struck(self, cue);
        effects.befall(cue.at, nodes, Harm::Start, None);
    }
}
