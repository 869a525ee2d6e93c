//! The distance between a map's input and the node that runs it.

use crate::cluster::{Topology, TrackerId};

/// The distance between a map's input and the node that runs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Locality {
    /// On the node.
    Node,
    /// In the node's rack.
    Rack,
    /// In another rack.
    OffRack,
}

impl Locality {
    /// Returns the distance of an input from a node; `None` if no node holds the input.
    pub fn of(node: TrackerId, holders: &[TrackerId], topology: &Topology) -> Option<Self> {
        if holders.is_empty() {
            None
        } else if holders.contains(&node) {
            Some(Self::Node)
        } else if holders.iter().any(|holder| topology.rack(*holder) == topology.rack(node)) {
            Some(Self::Rack)
        } else {
            Some(Self::OffRack)
        }
    }

    /// Returns the word used in tables.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Node => "node",
            Self::Rack => "rack",
            Self::OffRack => "off-rack",
        }
    }
}
