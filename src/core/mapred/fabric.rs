//! The fabric: the rates of all flows over disks, memory, wires and cores.
//!
//! The fabric is the physics of the machines. TaskTrackers report which flows begin and end; the
//! fabric answers with the new rates of the flows whose rates change. Each tracker counts how much
//! of its flows is left. All of this takes no time. Several changes at one instant are settled
//! once, after everything that is due at that instant.
//!
//! ```text
//! flows begin and end ─► settle, once an instant ─► max-min fair rates ─► trackers whose
//!                                                                         flows changed
//! ```
//!
//! The page caches are here as well, since a map on any node may read a block from the memory of
//! the node with the copy.

mod page_cache;

use std::sync::Arc;

use rustc_hash::FxHashMap;

use self::page_cache::PageCache;
use crate::cluster::{FlowIndex, Reread, Resources, SharedResources, Speeds, TrackerId};
use crate::mapred::message::{FlowBegins, FlowId, FlowRate, Mail, ToFabric, ToTracker};
use crate::mapred::outbox::{Core, Outbox};
use mumakil_base::units::SimSpan;

/// The fabric of a cluster.
#[derive(Debug)]
pub struct Fabric {
    resources: Resources,
    sharing: SharedResources,
    flows: FxHashMap<FlowId, FlowIndex>,
    /// The owners of the flows, by index.
    owners: Vec<FlowId>,
    /// The page cache of each node; empty if nodes have none.
    page_caches: Vec<PageCache>,
    /// The blocks that flows read, if these blocks may be in memory.
    reads: FxHashMap<FlowId, Arc<Reread>>,
    /// Whether a `Settle` message is under way, which settles the last changes.
    is_settling: bool,
    /// The flows with new rates; a buffer that is filled anew each time.
    changed: Vec<(FlowId, f64)>,
}

impl Fabric {
    /// Returns the fabric of these resources, without flows.
    pub fn new(resources: &Resources) -> Self {
        let nodes = resources.topology.nodes().filter(|_| resources.has_page_caches);
        Self {
            page_caches: nodes.map(|_| PageCache::default()).collect(),
            reads: FxHashMap::default(),
            sharing: SharedResources::new(resources.capacities.iter().copied()),
            flows: FxHashMap::default(),
            owners: Vec::new(),
            resources: resources.clone(),
            is_settling: false,
            changed: Vec::new(),
        }
    }

    fn begin(&mut self, FlowBegins { id, uses, reread }: &FlowBegins, out: &mut Outbox) {
        let mut uses = uses;
        if let Some(reread) = reread {
            // Decide once, as the flow begins: if the block leaves the memory meanwhile, the flow
            // still reads it from there.
            if self.page_caches[reread.node.index()].has(reread.block) {
                uses = &reread.uses;
            }
            self.reads.insert(*id, reread.clone());
        }
        let index = self.sharing.begin(uses.clone());
        // Numbers of ended flows are used again, so the list is only as long as the largest number
        // of flows at a time.
        if self.owners.len() <= index.index() {
            self.owners.resize(index.index() + 1, *id);
        }
        self.owners[index.index()] = *id;
        let earlier = self.flows.insert(*id, index);
        assert!(earlier.is_none(), "{id:?} begins a second time");
        self.plan_to_settle(out);
    }

    fn end(&mut self, id: FlowId, is_done: bool, out: &mut Outbox) {
        let index = self.flows.remove(&id).unwrap_or_else(|| panic!("{id:?} ends unbegun"));
        self.sharing.end(index);
        // A read that was cut short leaves nothing in memory.
        if let Some(read) = self.reads.remove(&id).filter(|_| is_done) {
            self.page_caches[read.node.index()].note_read(read.block, read.bytes);
        }
        self.plan_to_settle(out);
    }

    fn set_speeds(&mut self, node: TrackerId, speeds: Speeds, out: &mut Outbox) {
        for (id, capacity) in self.resources.at_speeds(node, speeds) {
            self.sharing.set_capacity(id, capacity);
        }
        self.plan_to_settle(out);
    }

    fn plan_to_settle(&mut self, out: &mut Outbox) {
        // Many flows may begin and end at one instant, and finding the rates is expensive, so find
        // them only once.
        if !std::mem::replace(&mut self.is_settling, true) {
            out.plan(SimSpan::ZERO, ToFabric::Settle);
        }
    }

    /// Finds the new rates, and sends each tracker the rates of its own flows.
    fn settle(&mut self, out: &mut Outbox) {
        self.is_settling = false;
        let (owners, changed) = (&self.owners, &mut self.changed);
        changed.clear();
        self.sharing.settle(|flow, rate| changed.push((owners[flow.index()], rate)));
        // Sort by tracker, so that each tracker gets one message, and in an order that does not
        // depend on how the rates were found.
        changed.sort_unstable_by_key(|(id, _)| *id);
        for of_tracker in changed.chunk_by(|(one, _), (other, _)| one.tracker == other.tracker) {
            let flows =
                of_tracker.iter().map(|(id, rate)| FlowRate { number: id.number, rate: *rate });
            let rates = ToTracker::Rates(Arc::new(flows.collect()));
            out.affect(Mail::Tracker(of_tracker[0].0.tracker, rates));
        }
    }
}

impl Core for Fabric {
    type Msg = ToFabric;

    fn handle(&mut self, msg: &ToFabric, out: &mut Outbox) {
        match msg {
            ToFabric::FlowBegins(flow) => self.begin(flow, out),
            ToFabric::FlowEnds { id, is_done } => self.end(*id, *is_done, out),
            ToFabric::MemoryLeft(node, left) => self.page_caches[node.index()].set_room(*left),
            ToFabric::Speeds(node, speeds) => self.set_speeds(*node, **speeds, out),
            ToFabric::Settle => self.settle(out),
        }
    }
}

#[cfg(test)]
mod tests;
