//! The distance between a map's input and the node that runs it.

use crate::cluster::{Topology, TrackerId};
use mumakil_base::worded;

worded! {
    /// The distance between a map's input and the node that runs it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Locality {
        /// On the node.
        Node = "node",
        /// In the node's rack.
        Rack = "rack",
        /// In another rack.
        OffRack = "off-rack",
    }
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
}
