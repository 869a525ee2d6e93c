//! The network falls into two parts, and each goes on by itself.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Effects, Kind, Known};
use crate::cluster::{Cut, NodeName};
use crate::mapred::ToJobTracker;
use crate::units::{SimSpan, SimTime};
use crate::yaml::Problem;

/// Nodes are cut off from all others, and from the JobTracker, which misses them after
/// `hadoop.expiry`. What runs on them goes on; their heartbeats are lost, and reduces do not reach map
/// outputs on the other side. Maps still read their input from there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Partition {
    /// The nodes that are cut off together.
    nodes: Vec<NodeName>,
    /// For how long.
    #[serde(rename = "for")]
    lasts: SimSpan,
}

impl Kind for Partition {
    const HAS_MOMENT: bool = true;

    fn check(&self, known: &Known<'_>) -> Result<(), Problem> {
        known.has_all(&self.nodes)
    }

    fn apply(&self, at: SimTime, effects: &mut Effects<'_>) {
        let until = at + self.lasts;
        let nodes = self.nodes.iter().map(|node| node.tracker()).collect();
        let cut = Arc::new(Cut { from: at, until, nodes });
        effects.cuts.push(cut.clone());
        effects.resends = true;
        effects.opening.push((at, ToJobTracker::Cut(cut.clone()).into()));
        effects.opening.push((until, ToJobTracker::Cut(cut).into()));
    }
}
