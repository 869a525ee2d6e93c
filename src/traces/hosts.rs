//! The nodes of the cluster that correspond to the hosts of a trace.

use std::borrow::Cow;
use std::path::Path;

use rustc_hash::{FxHashMap, FxHashSet};

use mumakil_core::cluster::{Topology, TrackerId, without_escapes};
use mumakil_core::trace::{TextPlace, TraceError};

/// Maps hosts to nodes by name. In a cluster whose nodes have no names, each new host gets the next
/// node in turn.
pub(super) struct Hosts<'a> {
    pub(super) topology: &'a Topology,
    /// The nodes by their names; empty if they have no names. Names are compared without the
    /// backslashes of Hadoop's history, which Mumak keeps: a trace may have lost them on its way.
    named: FxHashMap<String, TrackerId>,
    met: FxHashMap<String, TrackerId>,
    /// Hosts that are not nodes of the cluster.
    unknown: FxHashSet<String>,
    first_unknown: Option<UnknownHost>,
}

/// A host that is not a node of the cluster, and the first job that mentions it.
struct UnknownHost {
    host: String,
    place: TextPlace,
    job: String,
}

impl<'a> Hosts<'a> {
    pub(super) fn new(topology: &'a Topology) -> Self {
        let names = topology.nodes().filter_map(|(id, _)| Some((topology.names(id)?.1, id)));
        Self {
            topology,
            named: names.map(|(name, id)| (without_escapes(name).into_owned(), id)).collect(),
            met: FxHashMap::default(),
            unknown: FxHashSet::default(),
            first_unknown: None,
        }
    }

    /// Notes a host, given by its name or its path `/rack/host`. `place` is the position of the job
    /// that mentions it.
    pub(super) fn meet(&mut self, host: &str, place: TextPlace, job: &str) {
        let host = &*name_of(host);
        if self.met.contains_key(host) || self.unknown.contains(host) {
            return;
        }
        let node = match self.topology.has_names() {
            true => self.named.get(host).copied(),
            // With more hosts than nodes, several hosts map to one node.
            false => Some(TrackerId(self.met.len() as u32 % self.topology.len())),
        };
        if let Some(node) = node {
            self.met.insert(host.to_owned(), node);
            return;
        }
        self.unknown.insert(host.to_owned());
        self.first_unknown.get_or_insert_with(|| UnknownHost {
            host: host.to_owned(),
            place,
            job: job.to_owned(),
        });
    }

    /// Returns the node of a known host.
    pub(super) fn find(&self, host: &str) -> Option<TrackerId> {
        self.met.get(&*name_of(host)).copied()
    }

    /// Returns the node for input on a host: the node of the host, or else the node that the
    /// topology substitutes for the host.
    pub(super) fn place(&self, host: &str) -> Option<TrackerId> {
        self.find(host).or_else(|| self.topology.substitute_for(&name_of(host)))
    }

    /// Returns a note about hosts that are not nodes of the cluster: no input lies on them. `None`
    /// if all hosts are nodes.
    ///
    /// # Errors
    /// If no host is a node: then the topology belongs to another trace.
    pub(super) fn unknown(self, trace: &Path) -> Result<Option<String>, TraceError> {
        let hosts = self.unknown.len() as u64;
        // In a cluster without names every host is a node, so none is unknown.
        let Some(UnknownHost { host, place, job }) = self.first_unknown else { return Ok(None) };
        // Some unknown hosts may be left over from the history; if all are unknown, the topology
        // belongs to another trace.
        if self.met.is_empty() {
            let what = format!("none of the trace's {hosts} hosts, such as {host:?}, is a node");
            let hint = Some("name the topology that belongs to the trace".into());
            return Err(TraceError::malformed(trace, place, Some(&job), &what, hint));
        }
        let (s, are) = if hosts == 1 { ("", "is no node") } else { ("s", "are no nodes") };
        Ok(Some(format!(
            "{hosts} host{s} of the trace {are} of the cluster, so nothing lies there: \
             first {host:?} in line {}, job {job:?}",
            place.line
        )))
    }
}

/// Returns the name of a host that is given by its name or its path.
fn name_of(host: &str) -> Cow<'_, str> {
    without_escapes(host.rsplit('/').next().unwrap_or(host))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mumakil_core::cluster::ClusterSpec;

    #[test]
    fn a_trace_without_escapes_fits_a_topology_with_them() {
        let spec = include_str!("../../scenarios/clusters/default.yaml");
        let spec: ClusterSpec = serde_yaml::from_str(spec).unwrap();
        let host = |rack: &str, name: &'static str| (rack.to_owned(), name);
        let named = [host("/r\\.1", "a\\.b"), host("/r\\.1", "c\\.d")];
        let absent = [host("/r\\.2", "10\\.0\\.0\\.1")];
        let topology = Topology::of_hosts(&spec, &named).with_absent(&named, &absent);
        let mut hosts = Hosts::new(&topology);
        for written in ["/r.1/a.b", "c\\.d", "/r.2/10.0.0.1"] {
            hosts.meet(written, TextPlace::START, "j");
        }
        assert_eq!(hosts.find("/r\\.1/a\\.b"), Some(TrackerId(0)));
        assert_eq!(hosts.find("c.d"), Some(TrackerId(1)));
        let stand_in = hosts.place("10.0.0.1").unwrap();
        assert_eq!((topology.rack(stand_in).0, hosts.place("10\\.0\\.0\\.1")), (1, Some(stand_in)));
    }
}
