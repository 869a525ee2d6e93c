//! A node as people name it in a fault.

use super::Known;
use crate::mapred::TrackerId;
use crate::units::text_form;
use crate::yaml::{Path, Problem};

/// A node as people name it: `node-1` is the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NodeName(TrackerId);

impl NodeName {
    /// Returns the node's tracker.
    pub(super) const fn tracker(self) -> TrackerId {
        self.0
    }

    /// Says so if the cluster has no such node.
    pub(super) fn check(self, known: &Known<'_>) -> Result<(), Problem> {
        match known.nodes {
            Some(nodes) if nodes <= self.0.0 => {
                let message = format!("there is no {self}: the cluster has {nodes} nodes");
                Err(Problem::value(Path::default(), message))
            }
            _ => Ok(()),
        }
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
