//! Where attempts are shown: racks, their nodes, and on each node a lane for each slot in use.
//!
//! An attempt takes the lowest lane that is free on its node and keeps it to its end. One that is
//! suspended has given its slot up but keeps its lane, so that a node can have more lanes than
//! slots. Tracks are made when something is first shown on them.

use std::io;
use std::sync::Arc;

use indexmap::IndexMap;

use super::packet::{Packets, Track, TrackFacts};
use crate::mapred::{PerSlot, SlotKind, TrackerId};
use crate::record::NodeLabel;

/// Places above the first rack, for what is no rack.
const FIRST_RACK: u64 = 10;
/// A node shows its maps above its reduces.
const FIRST_REDUCE: u64 = 1_000_000;

/// The lanes of all nodes.
#[derive(Debug)]
pub(super) struct Lanes {
    labels: Arc<[NodeLabel]>,
    racks: IndexMap<String, Track>,
    nodes: Vec<Node>,
}

/// A lane that somebody has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lane {
    /// What is shown there is shown on this track.
    pub(super) track: Track,
    tracker: TrackerId,
    kind: SlotKind,
    index: usize,
}

#[derive(Clone, Debug, Default)]
struct Node {
    track: Option<Track>,
    lanes: PerSlot<Vec<OneLane>>,
}

#[derive(Clone, Debug)]
struct OneLane {
    track: Track,
    is_taken: bool,
}

#[cfg(test)]
impl Lane {
    /// Returns a lane for tests that show nothing.
    pub(super) const fn any() -> Self {
        Self { track: 1, tracker: TrackerId(0), kind: SlotKind::Reduce, index: 0 }
    }
}

impl Lanes {
    pub(super) fn new(labels: Arc<[NodeLabel]>) -> Self {
        let nodes = vec![Node::default(); labels.len()];
        Self { labels, racks: IndexMap::new(), nodes }
    }

    /// Takes the lowest free lane of a node. Costs a walk over its lanes.
    pub(super) fn take(
        &mut self,
        tracker: TrackerId,
        kind: SlotKind,
        packets: &mut Packets,
    ) -> io::Result<Lane> {
        let lanes = &self.nodes[tracker.index()].lanes[kind];
        let index = match lanes.iter().position(|lane| !lane.is_taken) {
            Some(free) => free,
            None => self.add(tracker, kind, packets)?,
        };
        let lane = &mut self.nodes[tracker.index()].lanes[kind][index];
        lane.is_taken = true;
        Ok(Lane { track: lane.track, tracker, kind, index })
    }

    /// Gives a lane back.
    pub(super) fn give_back(&mut self, lane: Lane) {
        self.nodes[lane.tracker.index()].lanes[lane.kind][lane.index].is_taken = false;
    }

    /// Adds a lane and returns its place.
    fn add(
        &mut self,
        tracker: TrackerId,
        kind: SlotKind,
        packets: &mut Packets,
    ) -> io::Result<usize> {
        let parent = Some(self.node(tracker, packets)?);
        let lanes = &mut self.nodes[tracker.index()].lanes[kind];
        let index = lanes.len();
        let name = &format!("{} {index}", kind.word());
        let first = if kind == SlotKind::Reduce { FIRST_REDUCE } else { 0 };
        let rank = first + index as u64;
        let track = packets.track(TrackFacts { name, parent, rank, ..TrackFacts::default() })?;
        lanes.push(OneLane { track, is_taken: false });
        Ok(index)
    }

    /// Returns the track of a node.
    pub(super) fn node(&mut self, tracker: TrackerId, packets: &mut Packets) -> io::Result<Track> {
        if let Some(track) = self.nodes[tracker.index()].track {
            return Ok(track);
        }
        let parent = Some(self.rack(tracker, packets)?);
        let name = &self.labels[tracker.index()].node;
        let rank = tracker.index() as u64;
        let track = packets.track(TrackFacts { name, parent, rank, ..TrackFacts::default() })?;
        self.nodes[tracker.index()].track = Some(track);
        Ok(track)
    }

    fn rack(&mut self, tracker: TrackerId, packets: &mut Packets) -> io::Result<Track> {
        let NodeLabel { rack: name, .. } = &self.labels[tracker.index()];
        if let Some(&track) = self.racks.get(name) {
            return Ok(track);
        }
        // In the order of the cluster, whichever is used first.
        let place = self.labels.iter().position(|place| place.rack == *name).unwrap_or_default();
        let rank = FIRST_RACK + place as u64;
        let track = packets.track(TrackFacts { name, rank, ..TrackFacts::default() })?;
        self.racks.insert(name.clone(), track);
        Ok(track)
    }
}
