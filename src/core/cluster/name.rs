//! A node and a rack as people name them.

use super::{RackId, TrackerId};
use mumakil_base::text_form;

/// A node as people name it: `node-1` is the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeName(TrackerId);

impl NodeName {
    /// Returns the node's tracker.
    pub const fn tracker(self) -> TrackerId {
        self.0
    }

    /// Returns the node's tracker, if a cluster of `nodes` nodes has this node.
    ///
    /// # Errors
    /// If the cluster has fewer nodes.
    pub fn among(self, nodes: u32) -> Result<TrackerId, String> {
        let is_there = self.0.0 < nodes;
        is_there
            .then_some(self.0)
            .ok_or_else(|| format!("there is no {self}: the cluster has {nodes} nodes"))
    }
}

text_form! {
    NodeName,
    name: "NodeName",
    expected: "the name of a node, such as node-3",
    pattern: r"^node-[1-9][0-9]*$",
    parse: |text| {
        let number = text.strip_prefix("node-").filter(|digits| !digits.starts_with(['+', '0']))?;
        number.parse::<u32>().ok().map(|number| NodeName(TrackerId(number - 1)))
    },
    print: |node, f| write!(f, "{}", node.0),
    write: |self, to| to.collect_str(self),
}

/// A rack as people name it: `rack-1` is the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RackName(RackId);

impl RackName {
    /// Returns the rack.
    pub const fn rack(self) -> RackId {
        self.0
    }

    /// Returns the rack, if a cluster of `racks` racks has it.
    ///
    /// # Errors
    /// If the cluster has fewer racks.
    pub fn among(self, racks: u32) -> Result<RackId, String> {
        let has = if racks == 1 { "1 rack".to_owned() } else { format!("{racks} racks") };
        let is_there = self.0.0 < racks;
        is_there
            .then_some(self.0)
            .ok_or_else(|| format!("there is no {self}: the cluster has {has}"))
    }
}

text_form! {
    RackName,
    name: "RackName",
    expected: "the name of a rack, such as rack-2",
    pattern: r"^rack-[1-9][0-9]*$",
    parse: |text| {
        let number = text.strip_prefix("rack-").filter(|digits| !digits.starts_with(['+', '0']))?;
        number.parse::<u32>().ok().map(|number| RackName(RackId(number - 1)))
    },
    print: |rack, f| write!(f, "{}", rack.0),
    write: |self, to| to.collect_str(self),
}
