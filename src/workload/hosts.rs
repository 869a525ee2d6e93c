//! The nodes that the hosts of a trace are, or stand for.

use rustc_hash::FxHashMap;

use crate::cluster::{Topology, TrackerId};

/// Finds the nodes of hosts: those of their names, or, in a cluster without names, its nodes in
/// turn, in the order in which hosts are met.
pub(super) struct Hosts<'a> {
    pub(super) topology: &'a Topology,
    met: FxHashMap<String, TrackerId>,
}

impl<'a> Hosts<'a> {
    pub(super) fn new(topology: &'a Topology) -> Self {
        Self { topology, met: FxHashMap::default() }
    }

    /// Notes a host, given by its name or its path `/rack/host`.
    pub(super) fn meet(&mut self, host: &str) {
        if !self.topology.has_names() && !self.met.contains_key(name(host)) {
            let next = TrackerId(self.met.len() as u32 % self.topology.len());
            self.met.insert(name(host).to_owned(), next);
        }
    }

    /// Returns the node of a host that was met.
    pub(super) fn find(&self, host: &str) -> Option<TrackerId> {
        if self.topology.has_names() {
            self.topology.find(name(host))
        } else {
            self.met.get(name(host)).copied()
        }
    }
}

fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
