//! Nodes, and nothing else, as several kinds of faults say them: by a short name or as a mapping.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::short::{Short, Shorten};
use super::stop::named;
use super::target::{Nodes, Racks, Target};
use super::{Known, check_target};
use crate::yaml::{Path, Problem};

/// Nodes, such as `node-3` (they are counted from 1), `[node-3, node-5]`, `all`, `{rack: rack-2}`, or a
/// number or share that is drawn: `{nodes: 10 %}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct Whom(Short<WhomSpec>);

/// Nodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct WhomSpec {
    /// Which nodes; without this, all of the rack.
    #[serde(skip_serializing_if = "Option::is_none")]
    nodes: Option<Nodes>,
    /// The rack that they stand in, or several.
    #[serde(skip_serializing_if = "Option::is_none")]
    rack: Option<Racks>,
}

impl Shorten for WhomSpec {
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

impl Whom {
    pub(super) fn target(&self) -> Target<'_> {
        let Self(Short(WhomSpec { nodes, rack })) = self;
        Target::new(nodes.as_ref(), rack.as_ref())
    }

    pub(super) fn check(&self, known: &Known<'_>) -> Result<(), Problem> {
        check_short(self.target(), self.0.0.bare().is_some(), known)
    }
}

/// Checks whom a fault strikes; where the nodes alone are written, the path is theirs.
pub(super) fn check_short(
    target: Target<'_>,
    is_short: bool,
    known: &Known<'_>,
) -> Result<(), Problem> {
    check_target(Some(target), known).map_err(|problem| match is_short {
        true => Problem { path: Path::default(), ..problem },
        false => problem,
    })
}
