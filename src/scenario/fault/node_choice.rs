//! Options that several kinds of faults share: the nodes that the fault strikes, and how long it
//! lasts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::short_form::{ShortForm, Shorten};
use super::stop::named;
use super::target::{FaultTarget, NodesSpec, Racks};
use mumakil_base::units::SimSpan;

/// Nodes, such as `node-3` (they are counted from 1), `[node-3, node-5]`, `all`, `{rack: rack-2}`,
/// or a number or share that is drawn: `{nodes: 10 %}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct NodeChoice(ShortForm<NodeChoiceSpec>);

/// Nodes by name, number or share, perhaps of certain racks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct NodeChoiceSpec {
    /// Which nodes; without this, all nodes of the rack.
    #[serde(skip_serializing_if = "Option::is_none")]
    nodes: Option<NodesSpec>,
    /// The rack or racks of the nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    rack: Option<Racks>,
}

/// Nodes, and how long the fault lasts there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NodeChoiceFor<L: LastingSpan> {
    /// Which nodes; without this, all nodes of the rack.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nodes: Option<NodesSpec>,
    /// The rack or racks of the nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rack: Option<Racks>,
    #[schemars(description = L::ABOUT)]
    #[serde(rename = "for", skip_serializing_if = "LastingSpan::is_endless")]
    pub(super) lasts: L,
}

/// A duration, which may be endless.
pub(super) trait LastingSpan: Copy {
    /// The description of the duration.
    const ABOUT: &'static str;

    /// Returns the duration; `None` is endless.
    fn span(self) -> Option<SimSpan>;

    /// Returns whether the duration is endless.
    fn is_endless(&self) -> bool {
        self.span().is_none()
    }
}

impl LastingSpan for SimSpan {
    const ABOUT: &'static str = "For how long.";

    fn span(self) -> Option<SimSpan> {
        Some(self)
    }
}

impl LastingSpan for Option<SimSpan> {
    const ABOUT: &'static str = "For how long; without this, for good.";

    fn span(self) -> Self {
        self
    }
}

impl<L: LastingSpan> NodeChoiceFor<L> {
    pub(super) fn target(&self) -> FaultTarget<'_> {
        FaultTarget::new(self.nodes.as_ref(), self.rack.as_ref())
    }
}

impl Shorten for NodeChoiceSpec {
    type Bare = NodesSpec;
    const EXPECTED: &'static str = "the name of a node, such as node-3, a list of them, `all`, or a mapping such as \
         {rack: rack-2}";

    fn lengthen(nodes: NodesSpec) -> Result<Self, String> {
        Ok(Self { nodes: Some(named(nodes)?), rack: None })
    }

    fn bare(&self) -> Option<&NodesSpec> {
        let Self { nodes, rack: None } = self else { return None };
        nodes.as_ref().filter(|nodes| matches!(nodes, NodesSpec::All | NodesSpec::Named(_)))
    }
}

impl NodeChoice {
    pub(super) fn target(&self) -> FaultTarget<'_> {
        let Self(ShortForm(spec)) = self;
        FaultTarget::new(spec.nodes.as_ref(), spec.rack.as_ref()).bare(spec.bare().is_some())
    }
}
