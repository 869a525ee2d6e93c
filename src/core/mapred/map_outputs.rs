//! The real state of the outputs of maps: which of them reduces can fetch.
//!
//! The JobTracker counts the maps that are done, but does not know which machines are out of reach.
//! It sends this core each output that it counts, and gets no answer. When a reply says how many
//! maps have ended, the tracker asks this core which of their outputs its reduces cannot fetch. The
//! reduces try again and complain to the JobTracker. After enough complaints the map has failed and
//! runs again. With fewer complaints it runs again only when its tracker is lost.
//!
//! The answer to a tracker is about the outputs that counted when the JobTracker wrote the reply;
//! otherwise the answer would not match the number of ended maps in the reply. So the changes of a
//! job's outputs are numbered, and each output has the numbers of the changes with which it began
//! and ceased to count.
//!
//! A run without faults does not have this core.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::cluster::{NetworkCut, TrackerId};
use crate::mapred::event::{Fact, Incident};
use crate::mapred::heartbeat::{Missing, Reply};
use crate::mapred::ids::{AttemptId, JobId};
use crate::mapred::message::{Mail, MapOutput, ToMapOutputs, ToTracker};
use crate::mapred::outbox::{Core, Outbox};

/// Which outputs of maps can be fetched.
#[derive(Debug, Default)]
pub struct MapOutputs {
    /// The jobs whose outputs may be fetched, with their outputs.
    jobs: BTreeMap<JobId, Outputs>,
    /// The trackers that have joined and are not lost.
    members: BTreeSet<TrackerId>,
    /// The members whose machines or processes are down.
    dark: BTreeSet<TrackerId>,
    /// The network cuts that hold now.
    cuts: Vec<Arc<NetworkCut>>,
}

/// The outputs of a job's maps.
#[derive(Debug, Default)]
struct Outputs {
    /// The outputs by attempt, in the order of the maps.
    all: BTreeMap<AttemptId, CountedOutput>,
    /// How many changes the JobTracker has sent.
    changes: u32,
    /// The outputs whose disk was lost.
    unreadable: BTreeSet<AttemptId>,
}

/// A map's output that the JobTracker counts or has counted.
#[derive(Debug)]
struct CountedOutput {
    at: TrackerId,
    /// How many maps of the job had ended before this one.
    order: u32,
    /// The number of the change with which it began to count.
    since: u32,
    /// The number of the change with which it ceased to count; `None` if it still counts.
    until: Option<u32>,
}

impl CountedOutput {
    /// Returns whether the output counted when `changes` changes had been made.
    fn counted(&self, changes: u32) -> bool {
        self.since <= changes && self.until.is_none_or(|until| changes < until)
    }
}

impl Outputs {
    fn count(&mut self, MapOutput { map, at, order }: MapOutput) {
        self.changes += 1;
        self.all.insert(map, CountedOutput { at, order, since: self.changes, until: None });
    }

    fn lose(&mut self, map: AttemptId) {
        self.changes += 1;
        if let Some(output) = self.all.get_mut(&map) {
            output.until = Some(self.changes);
        }
    }

    fn spoil(&mut self, disk: TrackerId) {
        // An output that has ceased to count is no longer fetched, readable or not.
        let lay_there =
            self.all.iter().filter(|(_, output)| output.at == disk && output.until.is_none());
        self.unreadable.extend(lay_there.map(|(map, _)| *map));
    }
}

impl MapOutputs {
    fn of(&mut self, job: JobId) -> &mut Outputs {
        self.jobs.entry(job).or_default()
    }

    /// Notes that a network cut begins or ends. Cuts may overlap: a node is cut off from the start
    /// of its first cut to the end of its last.
    fn cut(&mut self, cut: &Arc<NetworkCut>, out: &mut Outbox) {
        let begins = cut.holds(out.now);
        let incident = if begins { Incident::CutOff } else { Incident::Reconnected };
        // Each cut ends with a message of its own: if several end at one instant, the last message
        // reconnects the node.
        self.cuts.retain(|other| !Arc::ptr_eq(other, cut));
        for node in &cut.nodes {
            if !self.cuts.iter().any(|other| other.nodes.contains(node)) {
                out.emit(Fact::befell(*node, incident));
            }
        }
        if begins {
            self.cuts.push(cut.clone());
        }
    }

    /// Returns the outputs that a reply counts and that reduces on a tracker cannot fetch. This
    /// walks all maps of these jobs if any machine is out of reach.
    fn out_of_reach(&self, reply: &Reply, by: TrackerId) -> Vec<Missing> {
        let mut missing = Vec::new();
        for maps in &reply.maps {
            // No output of this job counts yet, so no output can be missing.
            let Some(Outputs { all, changes, unreadable }) = self.jobs.get(&maps.job) else {
                continue;
            };
            let is_current = maps.changes == *changes;
            // Usually no machine is out of reach: then no map is looked at.
            if is_current && self.dark.is_empty() && self.cuts.is_empty() && unreadable.is_empty() {
                continue;
            }
            for (&map, output) in all.iter().filter(|(_, output)| output.counted(maps.changes)) {
                let CountedOutput { at, order, until, .. } = *output;
                // The reply may be an old one that is sent again; an output that it counts may no
                // longer count.
                let is_gone = until.is_some() || self.dark.contains(&at);
                let is_out_of_reach =
                    is_gone || self.cuts.iter().any(|cut| cut.parts(Some(at), Some(by)));
                let is_unreadable = !is_out_of_reach && unreadable.contains(&map);
                if is_out_of_reach || is_unreadable {
                    missing.push(Missing { map, at, order, is_lost: false, is_unreadable });
                }
            }
        }
        missing
    }
}

impl Core for MapOutputs {
    type Msg = ToMapOutputs;

    fn handle(&mut self, msg: &ToMapOutputs, out: &mut Outbox) {
        match msg {
            ToMapOutputs::Counts(output) => self.of(output.map.job()).count(**output),
            ToMapOutputs::Lost(map) => self.of(map.job()).lose(**map),
            ToMapOutputs::Over(job) => _ = self.jobs.remove(job),
            // A tracker that joins anew serves the outputs of its new process. The outputs of the
            // old process stopped counting when the JobTracker lost the tracker.
            ToMapOutputs::Joined(tracker) => {
                self.members.insert(*tracker);
                self.dark.remove(tracker);
            }
            ToMapOutputs::Left(tracker) => {
                self.members.remove(tracker);
                self.dark.remove(tracker);
            }
            ToMapOutputs::Ask { tracker, works, reply } => {
                let missing = Arc::new(self.out_of_reach(reply, *tracker));
                let (call, works) = (reply.call, *works);
                let answer = ToTracker::OutOfReach { call, works, missing };
                out.affect(Mail::Tracker(*tracker, answer));
            }
            // Reduces fetch only from trackers that have joined.
            ToMapOutputs::Darkness(tracker) => {
                if self.members.contains(tracker) {
                    self.dark.insert(*tracker);
                }
            }
            ToMapOutputs::DiskLost(tracker) => {
                self.jobs.values_mut().for_each(|job| job.spoil(*tracker));
            }
            ToMapOutputs::Spoilt(map) => _ = self.of(map.job()).unreadable.insert(**map),
            ToMapOutputs::Cut(cut) => self.cut(cut, out),
        }
    }
}
