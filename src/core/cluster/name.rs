//! A node and a rack as people name them.
//!
//! `node-1` and `rack-1` are the first ones of any cluster. If a file gives the cluster's hosts, the
//! names in that file may be used as well.

use std::borrow::Cow;
use std::fmt;

use super::{RackId, Topology, TrackerId};
use mumakil_base::text_form;

/// The name of a node: `node-1` is the first; or the name of a host in the topology.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeName(NumberOrName<TrackerId>);

/// The name of a rack: `rack-1` is the first; or the path of a rack in the topology.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RackName(NumberOrName<RackId>);

/// A position in the cluster, or a name in its topology.
#[derive(Clone, Debug, PartialEq, Eq)]
enum NumberOrName<T> {
    Number(T),
    Name(Box<str>),
}

impl NodeName {
    /// Returns the node, if the cluster has it.
    ///
    /// # Errors
    /// If the cluster does not have it.
    pub fn find(&self, topology: &Topology) -> Result<TrackerId, String> {
        self.among(topology.len(), |name| topology.find(name))
    }

    /// Returns the node, if a cluster of `nodes` nodes without names has it.
    ///
    /// # Errors
    /// If the cluster does not have it.
    pub fn in_unnamed(&self, nodes: u32) -> Result<TrackerId, String> {
        self.among(nodes, |_| None)
    }

    fn among(
        &self,
        nodes: u32,
        find: impl Fn(&str) -> Option<TrackerId>,
    ) -> Result<TrackerId, String> {
        let found = match &self.0 {
            NumberOrName::Number(node) => Some(*node).filter(|node| node.0 < nodes),
            NumberOrName::Name(name) => find(name),
        };
        found.ok_or_else(|| format!("there is no {self}: the cluster has {nodes} nodes"))
    }
}

impl RackName {
    /// Returns the rack, if the cluster has it.
    ///
    /// # Errors
    /// If the cluster does not have it.
    pub fn find(&self, topology: &Topology) -> Result<RackId, String> {
        self.among(topology.racks(), |name| topology.find_rack(name))
    }

    /// Returns the rack, if a cluster of `racks` racks without names has it.
    ///
    /// # Errors
    /// If the cluster does not have it.
    pub fn in_unnamed(&self, racks: u32) -> Result<RackId, String> {
        self.among(racks, |_| None)
    }

    fn among(&self, racks: u32, find: impl Fn(&str) -> Option<RackId>) -> Result<RackId, String> {
        let found = match &self.0 {
            NumberOrName::Number(rack) => Some(*rack).filter(|rack| rack.0 < racks),
            NumberOrName::Name(name) => find(name),
        };
        let has = if racks == 1 { "1 rack".to_owned() } else { format!("{racks} racks") };
        found.ok_or_else(|| format!("there is no {self}: the cluster has {has}"))
    }
}

impl<T: fmt::Display> fmt::Display for NumberOrName<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Name(name) => f.write_str(name),
        }
    }
}

impl<T> NumberOrName<T> {
    /// Parses `prefix-NUMBER`, or a name that no number, share or other kind of name looks like.
    fn parse(text: &str, prefix: &str, other: &str, number: fn(u32) -> T) -> Option<Self> {
        let digits = text.strip_prefix(prefix).filter(|rest| rest.parse::<f64>().is_ok());
        if let Some(digits) = digits {
            let position = (!digits.starts_with(['+', '0'])).then(|| digits.parse::<u32>().ok());
            return Some(Self::Number(number(position.flatten()?.checked_sub(1)?)));
        }
        let is_name = !text.is_empty()
            && text != "all"
            && text
                .chars()
                .all(|letter| letter.is_ascii_alphanumeric() || "._-:/\\".contains(letter))
            && !text.starts_with(other)
            && text.parse::<f64>().is_err();
        is_name.then(|| Self::Name(without_escapes(text).into()))
    }
}

/// Returns a name without the backslashes with which Hadoop's history protects dots and the like:
/// `127\.0\.1\.6` is 127.0.1.6.
pub fn without_escapes(name: &str) -> Cow<'_, str> {
    if !name.contains('\\') {
        return Cow::Borrowed(name);
    }
    let mut plain = String::with_capacity(name.len());
    let mut letters = name.chars();
    while let Some(letter) = letters.next() {
        // After a backslash comes the letter that is meant.
        plain.extend(if letter == '\\' { letters.next() } else { Some(letter) });
    }
    Cow::Owned(plain)
}

text_form! {
    NodeName,
    name: "NodeName",
    expected: "the name of a node, such as node-3, or of a host in the topology",
    pattern: r"^[A-Za-z0-9._:/\\-]+$",
    parse: |text| NumberOrName::parse(text, "node-", "rack-", TrackerId).map(NodeName),
    print: |node, f| write!(f, "{}", node.0),
    write: |self, to| to.collect_str(self),
}

text_form! {
    RackName,
    name: "RackName",
    expected: "the name of a rack, such as rack-2, or of a rack in the topology",
    pattern: r"^[A-Za-z0-9._:/\\-]+$",
    parse: |text| NumberOrName::parse(text, "rack-", "node-", RackId).map(RackName),
    print: |rack, f| write!(f, "{}", rack.0),
    write: |self, to| to.collect_str(self),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::ClusterSpec;

    #[test]
    fn a_name_of_the_history_loses_its_backslashes() {
        for (written, name) in [
            (r"127\.0\.1\.6", "127.0.1.6"),
            (r"node1\.x\.com", "node1.x.com"),
            (r"a\\b\", r"a\b"),
            ("h1", "h1"),
        ] {
            assert_eq!(without_escapes(written), name);
        }
    }

    #[test]
    fn nodes_and_racks_have_numbers_and_the_names_of_the_topology() {
        let spec = include_str!("../../../scenarios/clusters/default.yaml");
        let spec: ClusterSpec = serde_yaml::from_str(spec).unwrap();
        let hosts = [("/76.13.0.0".to_owned(), "127.0.1.2"), ("/r2".to_owned(), "n.x.com")];
        let topology = Topology::of_hosts(&spec, &hosts);
        let node = |text: &str| text.parse::<NodeName>().unwrap().find(&topology).map(|id| id.0);
        assert_eq!([r"127\.0\.1\.2", "127.0.1.2", "node-1"].map(node), [const { Ok(0) }; 3]);
        assert_eq!(node("n.x.com"), Ok(1));
        let none = "there is no n.y.com: the cluster has 2 nodes".to_owned();
        assert_eq!(node("n.y.com"), Err(none));
        let rack = |text: &str| text.parse::<RackName>().unwrap().find(&topology).map(|id| id.0);
        assert_eq!([r"/76\.13\.0\.0", "76.13.0.0", "rack-1"].map(rack), [const { Ok(0) }; 3]);
        assert!(rack("r3").is_err() && "n1".parse::<NodeName>().unwrap().in_unnamed(9).is_err());
        for wrong in ["", "all", "5", "0.5", "10 %", "node-0", "node-+1", "rack-1", "two words"] {
            assert!(wrong.parse::<NodeName>().is_err(), "{wrong}");
        }
    }
}
