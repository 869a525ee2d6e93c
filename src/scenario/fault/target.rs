//! The nodes that a fault strikes: by name, by rack, by number or share, or all.
//!
//! A number or a share of nodes is drawn from the seed. Each fault draws independently, see
//! [`FaultCue`](super::effects::FaultCue): other faults do not change which nodes it draws.

use std::collections::BTreeSet;
use std::fmt;

use rand::seq::SliceRandom;
use schemars::json_schema;
use serde::de::{self, Unexpected};
use serde::{Deserialize, Serialize, Serializer};

use super::known::FaultContext;
use super::several::{OneOrList, one_or_list};
use mumakil_base::forms;
use mumakil_base::random::{Purpose, stream};
use mumakil_base::units::Fraction;
use mumakil_core::cluster::{NodeName, RackName, Topology, TrackerId};
use mumakil_yaml::{Path, YamlProblem};

/// Nodes by name, by number or as a share.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum NodesSpec {
    /// All nodes.
    All,
    /// The nodes with these names.
    Named(Vec<NodeName>),
    /// A number of nodes, which are drawn.
    Number(u32),
    /// A share of the nodes, which are drawn: the nearest whole number of nodes, but at least one.
    Share(Fraction),
}

/// One rack or several.
pub(super) type Racks = OneOrList<RackName>;

/// The nodes that a fault strikes, as its options describe them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FaultTarget<'a> {
    /// Which nodes of the racks; `None` is all of them.
    nodes: Option<&'a NodesSpec>,
    /// The racks of the nodes; `None` is any rack.
    racks: Option<&'a Racks>,
    /// Whether the nodes may be written in place of the options, as in `stop: node-3`.
    is_bare: bool,
}

const NODES: &str = "`all`, nodes such as node-3 or [node-3, node-5], a number of them, or a share \
                     such as 10 %";

impl<'a> FaultTarget<'a> {
    pub(super) fn new(nodes: Option<&'a NodesSpec>, racks: Option<&'a Racks>) -> Self {
        Self { nodes, racks, is_bare: false }
    }

    /// Returns this target with another `is_bare`.
    pub(super) fn bare(self, is_bare: bool) -> Self {
        Self { is_bare, ..self }
    }

    /// Returns whether neither nodes nor racks are given, which means all nodes.
    pub(super) fn is_silent(self) -> bool {
        self.nodes.is_none() && self.racks.is_none()
    }

    /// Checks that the nodes and racks exist; the path of a problem begins at the options.
    pub(super) fn check(self, known: &FaultContext<'_>) -> Result<(), YamlProblem> {
        let at = |key: &str, message| match self.is_bare {
            true => YamlProblem::value(Path::default(), message),
            false => YamlProblem::value(Path::of(key), message),
        };
        if let (Some(NodesSpec::Named(_)), Some(_)) = (self.nodes, self.racks) {
            let message = "named nodes take no `rack`".to_owned();
            return Err(at("rack", message));
        }
        if let (Some(NodesSpec::Named(names)), Some(nodes)) = (self.nodes, known.nodes) {
            for name in names {
                let found = match known.topology {
                    Some(topology) => name.find(topology),
                    None => name.in_unnamed(nodes),
                };
                found.map_err(|message| at("nodes", message))?;
            }
        }
        // `[rack-1, rack-1]` means the nodes of one rack.
        let mut distinct: BTreeSet<usize> = BTreeSet::new();
        if let (Some(OneOrList(names)), Some(racks)) = (self.racks, &known.racks) {
            for name in names {
                let found = match known.topology {
                    Some(topology) => name.find(topology),
                    None => name.in_unnamed(racks.len() as u32),
                };
                distinct.insert(found.map_err(|message| at("rack", message))?.index());
            }
        }
        let Some(NodesSpec::Number(number)) = self.nodes else { return Ok(()) };
        let too_few = |nodes: u32, whose: String| {
            let message = format!("{number} nodes cannot be drawn: {whose} {nodes}");
            let hint = format!("draw {nodes} at most, or `all`");
            Err(at("nodes", message).hint(hint))
        };
        match (self.racks, known.nodes, &known.racks) {
            (None, Some(nodes), _) if nodes < *number => too_few(nodes, "the cluster has".into()),
            (Some(OneOrList(names)), _, Some(racks)) => {
                let nodes = distinct.into_iter().map(|rack| racks[rack]).sum();
                let verb = if names.len() == 1 { "has" } else { "have" };
                let whose = format!("{} {verb}", joined(names));
                if nodes < *number { too_few(nodes, whose) } else { Ok(()) }
            }
            _ => Ok(()),
        }
    }

    /// Returns the nodes of the target, sorted.
    pub(super) fn of(self, topology: &Topology, seed: u64, draws: u32) -> Vec<TrackerId> {
        let mut pool: Vec<TrackerId> = match self.racks {
            None => topology.nodes().map(|(id, _)| id).collect(),
            Some(OneOrList(racks)) => {
                // `check` has found all names.
                let found = racks.iter().filter_map(|rack| rack.find(topology).ok());
                found.flat_map(|rack| topology.rack_nodes(rack)).copied().collect()
            }
        };
        // The same rack may be named twice, but a node is drawn at most once.
        pool.sort_unstable();
        pool.dedup();
        let drawn = match self.nodes {
            None | Some(NodesSpec::All) => return pool,
            Some(NodesSpec::Named(names)) => {
                // Named nodes may be in any rack: `check` allows no `rack` beside names.
                pool = names.iter().filter_map(|name| name.find(topology).ok()).collect();
                pool.sort_unstable();
                pool.dedup();
                return pool;
            }
            Some(NodesSpec::Number(number)) => *number as usize,
            Some(NodesSpec::Share(share)) => {
                // A small share of a small cluster rounds to zero nodes, and the fault would
                // silently do nothing.
                ((pool.len() as f64 * share.get()).round() as usize).max(1)
            }
        };
        let mut rng = stream(seed, Purpose::Target, draws.into());
        pool.shuffle(&mut rng);
        pool.truncate(drawn);
        // Nodes are struck in their order; only the choice of nodes is random.
        pool.sort_unstable();
        pool
    }
}

fn joined<T: fmt::Display>(names: &[T]) -> String {
    let names: Vec<String> = names.iter().map(T::to_string).collect();
    names.join(", ")
}

/// Prints the text that identifies the draws of a fault.
impl fmt::Display for FaultTarget<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.nodes {
            None | Some(NodesSpec::All) => f.write_str("all")?,
            Some(NodesSpec::Named(names)) => f.write_str(&joined(names))?,
            Some(NodesSpec::Number(number)) => write!(f, "{number}")?,
            Some(NodesSpec::Share(share)) => write!(f, "{} %", share.get() * 100.0)?,
        }
        match self.racks {
            None => Ok(()),
            Some(OneOrList(racks)) => write!(f, " of {}", joined(racks)),
        }
    }
}

impl Serialize for NodesSpec {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::All => to.serialize_str("all"),
            Self::Named(names) => one_or_list(names, to),
            Self::Number(number) => to.serialize_u32(*number),
            Self::Share(share) => to.collect_str(&format_args!("{} %", share.get() * 100.0)),
        }
    }
}

forms! {
    NodesSpec, expected: NODES,
    text: |text| {
        let named = text.parse().map(|name| NodesSpec::Named(vec![name])).ok();
        let all = (text == "all").then_some(NodesSpec::All);
        // A `"0.1"` without the percent sign is refused: it could be a share or a mistyped
        // number of nodes.
        let nodes = all.or(named).or_else(|| {
            let share = text.contains('%').then(|| text.parse().ok()).flatten();
            share.filter(|share| *share > Fraction::ZERO).map(NodesSpec::Share)
        });
        nodes.ok_or_else(|| E::invalid_value(Unexpected::Str(text), &NODES))
    },
    whole: |number| {
        let nodes = u32::try_from(number).ok().filter(|number| 0 < *number);
        nodes
            .map(NodesSpec::Number)
            .ok_or_else(|| E::invalid_value(Unexpected::Unsigned(number), &NODES))
    },
    list: |list| {
        let names = Vec::deserialize(list)?;
        if names.is_empty() {
            return Err(de::Error::invalid_length(0, &NODES));
        }
        Ok(NodesSpec::Named(names))
    },
    schema: "Nodes", |schemas| {
        let names = schemas.subschema_for::<NodeName>();
        json_schema!({
            "title": NODES,
            "anyOf": [
                { "type": "string", "pattern": r"^([A-Za-z0-9._:/\\-]+|\s*\d+(\.\d+)?\s*%\s*)$" },
                { "type": "integer", "minimum": 1 },
                { "type": "array", "items": names, "minItems": 1 },
            ],
        })
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use mumakil_base::units::Count;
    use mumakil_core::cluster::ClusterSpec;

    /// Returns twelve nodes in three racks.
    fn topology() -> Topology {
        let plain = include_str!("../../../scenarios/clusters/default.yaml");
        let mut spec: ClusterSpec = serde_yaml::from_str(plain).unwrap();
        (spec.nodes, spec.racks) = (Count::of(12), Count::of(3));
        Topology::new(&spec)
    }

    #[derive(Default, Deserialize, Serialize)]
    #[serde(default)]
    struct Options {
        #[serde(skip_serializing_if = "Option::is_none")]
        nodes: Option<NodesSpec>,
        #[serde(skip_serializing_if = "Option::is_none")]
        rack: Option<Racks>,
    }

    fn options(yaml: &str) -> Options {
        serde_yaml::from_str(yaml).unwrap_or_else(|error| panic!("{yaml}: {error}"))
    }

    fn struck(yaml: &str, draws: u32) -> Vec<u32> {
        let Options { nodes, rack } = options(yaml);
        let target = FaultTarget::new(nodes.as_ref(), rack.as_ref());
        target.of(&topology(), 1, draws).iter().map(|id| id.0 + 1).collect()
    }

    #[test]
    fn nodes_are_named_one_by_one_by_racks_or_all_together() {
        assert_eq!(struck("{nodes: node-3}", 0), [3]);
        assert_eq!(struck("{nodes: [node-5, node-3, node-5]}", 0), [3, 5]);
        assert_eq!(struck("{rack: rack-2}", 0), [5, 6, 7, 8]);
        assert_eq!(struck("{rack: [rack-3, rack-1]}", 0), [1, 2, 3, 4, 9, 10, 11, 12]);
        assert_eq!(struck("{nodes: all}", 0), struck("{}", 0));
        assert_eq!(struck("{}", 0).len(), 12);
    }

    #[test]
    fn drawn_nodes_are_as_many_as_asked_for_and_others_for_another_fault() {
        assert_eq!(struck("{nodes: 5}", 7).len(), 5);
        assert_eq!(struck("{nodes: 25 %}", 7).len(), 3);
        assert_eq!(struck("{nodes: 1 %}", 7).len(), 1, "one at least");
        assert_eq!(struck("{nodes: 5}", 7), struck("{nodes: 5}", 7));
        assert_ne!(struck("{nodes: 5}", 7), struck("{nodes: 5}", 8));
        let in_rack = struck("{nodes: 2, rack: rack-3}", 7);
        assert!(in_rack.len() == 2 && in_rack.iter().all(|node| 9 <= *node), "{in_rack:?}");
    }

    #[test]
    fn a_target_reads_back_as_written() {
        for yaml in [
            "nodes: node-3\n",
            "nodes:\n- node-3\n- node-5\n",
            "nodes: 10 %\nrack: rack-1\n",
            "nodes: 3\nrack:\n- rack-1\n- rack-2\n",
            "nodes: all\n",
        ] {
            assert_eq!(serde_yaml::to_string(&options(yaml)).unwrap(), yaml);
        }
        for yaml in ["{nodes: 0}", "{nodes: 0 %}", "{nodes: []}", "{nodes: rack-1}", "{nodes: 0.5}"]
        {
            let error = serde_yaml::from_str::<Options>(yaml).err().unwrap().to_string();
            assert!(error.contains("nodes such as node-3"), "{yaml}: {error}");
        }
    }
}
