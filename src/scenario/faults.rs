//! `faults:`: what goes wrong in a run, and when.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize};

use crate::mapred::TrackerId;
use crate::units::{Fraction, SimSpan, text_form};

/// One thing that goes wrong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "FaultEntry", into = "FaultEntry")]
#[schemars(with = "FaultEntry")]
#[non_exhaustive]
pub enum Fault {
    /// A node stops at an instant, and its tracker falls silent.
    Stop {
        /// When.
        at: SimSpan,
        /// Which.
        node: NodeName,
    },
    /// A stopped node starts anew.
    Start {
        /// When.
        at: SimSpan,
        /// Which.
        node: NodeName,
    },
    /// A user kills a job.
    Kill {
        /// When.
        at: SimSpan,
        /// The entry of the workload; all of its jobs if it has a `count`.
        job: String,
    },
    /// The share of map and reduce attempts that fail.
    TaskFailures(Fraction),
    /// The share of messages that are lost.
    Loss(Fraction),
    /// The share of messages that arrive twice.
    Duplication(Fraction),
}

/// One thing that goes wrong: exactly one of the fields, and `at` for what has its moment.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct FaultEntry {
    /// When it happens: with `stop`, `start` and `kill`.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<SimSpan>,
    /// The node that stops, such as `node-3`; they are counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    stop: Option<NodeName>,
    /// The stopped node that starts anew.
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<NodeName>,
    /// The job that its user kills; all of them if it has a `count`.
    #[serde(skip_serializing_if = "Option::is_none")]
    kill: Option<String>,
    /// The share of map and reduce attempts that fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    task_failures: Option<Fraction>,
    /// The share of messages between trackers and JobTracker that are lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    loss: Option<Fraction>,
    /// The share of messages between trackers and JobTracker that arrive twice.
    #[serde(skip_serializing_if = "Option::is_none")]
    duplication: Option<Fraction>,
}

const FIELDS: &str = "`stop`, `start`, `kill`, `task_failures`, `loss` or `duplication`";

impl TryFrom<FaultEntry> for Fault {
    type Error = String;
    fn try_from(entry: FaultEntry) -> Result<Self, String> {
        let FaultEntry { at, stop, start, kill, task_failures, loss, duplication } = entry;
        let moment = |what: &str| at.ok_or_else(|| format!("`{what}` needs a time: `at: 10min`"));
        let mut faults = Vec::new();
        if let Some(node) = stop {
            faults.push(Self::Stop { at: moment("stop")?, node });
        }
        if let Some(node) = start {
            faults.push(Self::Start { at: moment("start")?, node });
        }
        if let Some(job) = kill {
            faults.push(Self::Kill { at: moment("kill")?, job });
        }
        let lasting = [
            task_failures.map(Self::TaskFailures),
            loss.map(Self::Loss),
            duplication.map(Self::Duplication),
        ];
        let lasts = lasting.iter().any(Option::is_some);
        faults.extend(lasting.into_iter().flatten());
        match (faults.pop(), faults.is_empty()) {
            (None, _) => Err(format!("a fault is one of {FIELDS}")),
            (Some(_), false) => Err(format!("a fault is only one of {FIELDS}")),
            (Some(_), true) if lasts && at.is_some() => {
                Err("a share holds from the beginning to the end: it has no `at`".to_owned())
            }
            (Some(fault), true) => Ok(fault),
        }
    }
}

impl From<Fault> for FaultEntry {
    fn from(fault: Fault) -> Self {
        let none = Self::default();
        match fault {
            Fault::Stop { at, node } => Self { at: Some(at), stop: Some(node), ..none },
            Fault::Start { at, node } => Self { at: Some(at), start: Some(node), ..none },
            Fault::Kill { at, job } => Self { at: Some(at), kill: Some(job), ..none },
            Fault::TaskFailures(share) => Self { task_failures: Some(share), ..none },
            Fault::Loss(share) => Self { loss: Some(share), ..none },
            Fault::Duplication(share) => Self { duplication: Some(share), ..none },
        }
    }
}

/// A node as people name it: `node-1` is the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeName(TrackerId);

impl NodeName {
    /// Returns the node's tracker.
    pub const fn tracker(self) -> TrackerId {
        self.0
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

/// Reads a list of faults; an empty mapping says "none" as well.
pub(super) fn list<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Fault>, D::Error> {
    struct ListVisitor;
    impl<'de> de::Visitor<'de> for ListVisitor {
        type Value = Vec<Fault>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list of faults such as {at: 10min, stop: node-3}")
        }
        fn visit_seq<A: de::SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
            Vec::deserialize(de::value::SeqAccessDeserializer::new(list))
        }
        fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            match map.next_key::<de::IgnoredAny>()? {
                None => Ok(Vec::new()),
                Some(_) => Err(de::Error::invalid_type(de::Unexpected::Map, &self)),
            }
        }
    }
    from.deserialize_any(ListVisitor)
}

/// Describes what [`list`] reads.
pub(super) fn list_schema(schemas: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "anyOf": [
            { "type": "object", "maxProperties": 0 },
            schemas.subschema_for::<Vec<Fault>>(),
        ],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(yaml: &str) -> Result<Vec<Fault>, serde_yaml::Error> {
        list(serde_yaml::Deserializer::from_str(yaml))
    }

    #[test]
    fn faults_read_back_as_written() {
        let yaml = "- at: 10min\n  stop: node-3\n- at: 20min\n  start: node-3\n\
                    - at: 5min\n  kill: big\n- task_failures: 0.01\n- loss: 0.1\n\
                    - duplication: 0.1\n";
        assert_eq!(serde_yaml::to_string(&faults(yaml).unwrap()).unwrap(), yaml);
        assert_eq!(faults("{}").unwrap(), []);
    }

    #[test]
    fn a_fault_is_exactly_one_thing() {
        for (yaml, why) in [
            ("[{}]", "a fault is one of"),
            ("[{at: 1s}]", "a fault is one of"),
            ("[{stop: node-1}]", "needs a time"),
            ("[{at: 1s, stop: node-1, kill: a}]", "only one of"),
            ("[{loss: 0.1, duplication: 0.1}]", "only one of"),
            ("[{at: 1s, loss: 0.1}]", "has no `at`"),
            ("[{at: 1s, stop: node-0}]", "such as node-3"),
            ("[{at: 1s, stop: 3}]", "such as node-3"),
            ("{loss: 0.1}", "a list of faults"),
        ] {
            let error = faults(yaml).unwrap_err().to_string();
            assert!(error.contains(why), "{yaml}: {error}");
        }
    }
}
