//! What goes wrong in a run, and when.
//!
//! A kind of fault is one file below this one: a type with its options, which implements `Kind`
//! (does it fit the cluster and the workload, what does it do to a run), and one line in `kinds!`.
//! The type's own comment is its description in the JSON Schema and the reference.
//!
//! What faults do is collected in `Effects` before a run begins: messages that arrive at their
//! instants, and settings that hold all the time. A core that a new kind needs another message or
//! setting for gets it there; nothing else asks which faults there are.

mod decommission;
mod delay;
mod disk;
mod duplication;
mod jobtracker;
mod join;
mod kill;
mod loss;
mod partition;
mod start;
mod stop;
mod task_failures;
mod unhealthy;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize};

use crate::cluster::{Cut, NodeName, TrackerId};
use crate::mapred::Mail;
use crate::random::Dist;
use crate::units::{Fraction, SimSpan, SimTime};
use crate::workload::Workload;
use crate::yaml::{Path, Problem};

use self::decommission::Decommission;
use self::delay::Delay;
use self::disk::Disk;
use self::duplication::Duplication;
use self::jobtracker::JobTrackerProcess;
use self::join::Join;
use self::kill::Kill;
use self::loss::Loss;
use self::partition::Partition;
use self::start::Start;
use self::stop::Stop;
use self::task_failures::TaskFailures;
use self::unhealthy::Unhealthy;

/// A kind of fault, with its options.
trait Kind {
    /// Whether it happens at an instant, which the user names with `at`; else it lasts from the
    /// beginning to the end.
    const HAS_MOMENT: bool;

    /// Says what of the options does not fit the cluster or the workload; the path begins at them.
    fn check(&self, _known: &Known<'_>) -> Result<(), Problem> {
        Ok(())
    }

    /// Adds what it does to a run; `at` is its moment, or the beginning.
    fn apply(&self, at: SimTime, effects: &mut Effects<'_>);
}

/// What is known of the cluster and the workload when faults are checked.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known<'a> {
    /// How many nodes there are, if no file has still to say so.
    pub(crate) nodes: Option<u32>,
    /// The names of the jobs, if no file has still to say so.
    pub(crate) jobs: Option<BTreeSet<&'a str>>,
}

impl Known<'_> {
    /// Says so if the cluster lacks one of these nodes; the path is that of the options.
    fn has_all(&self, nodes: &[NodeName]) -> Result<(), Problem> {
        let is_there = |node: &NodeName| {
            self.has(*node).map_err(|problem| Problem::value(Path::of("nodes"), problem.message))
        };
        nodes.iter().try_for_each(is_there)
    }

    /// Says so if the cluster has no such node.
    fn has(&self, node: NodeName) -> Result<(), Problem> {
        let found = self.nodes.map_or(Ok(node.tracker()), |nodes| node.among(nodes));
        found.map(|_| ()).map_err(|message| Problem::value(Path::default(), message))
    }
}

/// What the faults of a run do to it.
#[derive(Debug)]
pub(crate) struct Effects<'a> {
    /// The jobs that faults may name.
    workload: &'a Workload,
    /// What arrives from outside: when, and at whom what.
    pub(crate) opening: Vec<(SimTime, Mail)>,
    /// The nodes that are not there at the beginning.
    pub(crate) absent: BTreeSet<TrackerId>,
    /// The share of map and reduce attempts that fail.
    pub(crate) task_failures: Fraction,
    /// The share of heartbeats and replies that never arrive.
    pub(crate) loss: Fraction,
    /// The share of heartbeats and replies that arrive twice.
    pub(crate) duplication: Fraction,
    /// The share of heartbeats and replies that are late.
    pub(crate) late: Fraction,
    /// How late they are.
    pub(crate) late_by: Dist<SimSpan>,
    /// Who is cut off from the others, and when.
    pub(crate) cuts: Vec<Arc<Cut>>,
    /// Whether trackers send a heartbeat again that has had no reply for long: needless where the
    /// network is perfect.
    pub(crate) resends: bool,
}

impl<'a> Effects<'a> {
    /// Returns what faults do, later ones over earlier ones.
    pub(crate) fn of(faults: &[Fault], workload: &'a Workload) -> Self {
        let mut effects = Self {
            workload,
            opening: Vec::new(),
            absent: BTreeSet::new(),
            task_failures: Fraction::ZERO,
            loss: Fraction::ZERO,
            duplication: Fraction::ZERO,
            late: Fraction::ZERO,
            late_by: Dist::Constant(SimSpan::ZERO),
            cuts: Vec::new(),
            resends: false,
        };
        for fault in faults {
            fault.what.apply(SimTime::ZERO + fault.at.unwrap_or_default(), &mut effects);
        }
        effects
    }
}

/// Makes of the list of kinds what has one part for each of them.
macro_rules! kinds {
    ($($key:ident: $Kind:ident,)+) => {
        /// The keys of all kinds, and whether each has a moment, in the order of the list.
        const KINDS: &[(&str, bool)] = &[$((stringify!($key), $Kind::HAS_MOMENT)),+];

        /// What goes wrong.
        #[derive(Clone, Debug, PartialEq)]
        enum What {
            $($Kind($Kind),)+
        }

        impl What {
            fn key(&self) -> &'static str {
                match self {
                    $(Self::$Kind(_) => stringify!($key),)+
                }
            }

            fn has_moment(&self) -> bool {
                match self {
                    $(Self::$Kind(_) => $Kind::HAS_MOMENT,)+
                }
            }

            fn check(&self, known: &Known<'_>) -> Result<(), Problem> {
                match self {
                    $(Self::$Kind(kind) => kind.check(known),)+
                }
            }

            fn apply(&self, at: SimTime, effects: &mut Effects<'_>) {
                match self {
                    $(Self::$Kind(kind) => kind.apply(at, effects),)+
                }
            }
        }

        /// A fault as it is written: exactly one of the kinds, and `at` for what has its moment.
        #[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        struct FaultEntry {
            #[schemars(description = about_at())]
            #[serde(skip_serializing_if = "Option::is_none")]
            at: Option<SimSpan>,
            $(
                #[serde(skip_serializing_if = "Option::is_none")]
                $key: Option<$Kind>,
            )+
        }

        impl FaultEntry {
            /// Returns all that the entry names, be it one thing or not.
            fn all(self) -> Vec<What> {
                [$(self.$key.map(What::$Kind)),+].into_iter().flatten().collect()
            }
        }

        impl From<Fault> for FaultEntry {
            fn from(Fault { at, what }: Fault) -> Self {
                match what {
                    $(What::$Kind(kind) => Self { at, $key: Some(kind), ..Self::default() },)+
                }
            }
        }
    };
}

kinds! {
    stop: Stop,
    start: Start,
    kill: Kill,
    task_failures: TaskFailures,
    loss: Loss,
    duplication: Duplication,
    delay: Delay,
    partition: Partition,
    disk: Disk,
    jobtracker: JobTrackerProcess,
    join: Join,
    decommission: Decommission,
    unhealthy: Unhealthy,
}

fn about_at() -> String {
    let with_moment = KINDS.iter().filter(|(_, has_moment)| *has_moment);
    format!("When it happens: with {}.", listed(with_moment.map(|(key, _)| *key), "and"))
}

/// Quotes names: `a`, `b` and `c`.
fn listed(names: impl Iterator<Item = &'static str>, last: &str) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    match names.split_last() {
        Some((end, rest)) if !rest.is_empty() => format!("{} {last} {end}", rest.join(", ")),
        _ => names.concat(),
    }
}

/// One thing that goes wrong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "FaultEntry", into = "FaultEntry")]
#[schemars(with = "FaultEntry")]
pub struct Fault {
    /// When, if it has a moment.
    at: Option<SimSpan>,
    what: What,
}

impl Fault {
    /// Returns the key that names what goes wrong, such as `stop`.
    pub fn key(&self) -> &'static str {
        self.what.key()
    }

    /// Says what of the fault does not fit the cluster or the workload; the path begins below its
    /// [`key`](Self::key).
    pub(crate) fn check(&self, known: &Known<'_>) -> Result<(), Problem> {
        self.what.check(known)
    }
}

impl TryFrom<FaultEntry> for Fault {
    type Error = String;
    fn try_from(entry: FaultEntry) -> Result<Self, String> {
        let at = entry.at;
        let mut all = entry.all();
        if let Some(late) = all.iter().find(|what| what.has_moment() && at.is_none()) {
            return Err(format!("`{}` needs a time: `at: 10min`", late.key()));
        }
        let keys = || listed(KINDS.iter().map(|(key, _)| *key), "or");
        match (all.pop(), all.is_empty()) {
            (None, _) => Err(format!("a fault is one of {}", keys())),
            (Some(_), false) => Err(format!("a fault is only one of {}", keys())),
            (Some(what), true) if !what.has_moment() && at.is_some() => {
                Err("a share holds from the beginning to the end: it has no `at`".to_owned())
            }
            (Some(what), true) => Ok(Self { at, what }),
        }
    }
}

/// Reads a list of faults; an empty mapping says "none" as well.
pub(crate) fn list<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Fault>, D::Error> {
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
pub(crate) fn list_schema(schemas: &mut SchemaGenerator) -> Schema {
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
    use crate::units::Bytes;
    use crate::workload::JobEntry;

    fn faults(yaml: &str) -> Result<Vec<Fault>, serde_yaml::Error> {
        list(serde_yaml::Deserializer::from_str(yaml))
    }

    #[test]
    fn faults_read_back_as_written() {
        let yaml = "- at: 10min\n  stop: node-3\n- at: 20min\n  start: node-3\n\
                    - at: 5min\n  kill: big\n- task_failures: 0.01\n- loss: 0.1\n\
                    - duplication: 0.1\n- delay:\n    share: 0.1\n    by: 5s\n\
                    - at: 1min\n  partition:\n    nodes:\n    - node-2\n    - node-3\n    for: 3min\n\
                    - at: 2min\n  disk:\n    nodes:\n    - node-2\n\
                    - at: 4min\n  jobtracker:\n    pause: 30s\n\
                    - at: 5min\n  join:\n    nodes:\n    - node-4\n\
                    - at: 6min\n  decommission:\n    nodes:\n    - node-2\n    for: 1h\n\
                    - at: 7min\n  unhealthy:\n    nodes:\n    - node-3\n    for: 2min\n";
        assert_eq!(serde_yaml::to_string(&faults(yaml).unwrap()).unwrap(), yaml);
        assert_eq!(faults("{}").unwrap(), []);
    }

    fn workload(jobs: &str) -> Workload {
        let jobs: Vec<JobEntry> = serde_yaml::from_str(jobs).unwrap();
        Workload::from_jobs(&jobs, 1, Bytes::from_mib(64), &|_, _| "".into())
    }

    #[test]
    fn a_later_share_holds_instead_of_an_earlier_one() {
        let workload = workload("[{name: a, maps: 1}]");
        let faults = faults("[{loss: 0.1}, {task_failures: 0.2}, {loss: 0.3}]").unwrap();
        let effects = Effects::of(&faults, &workload);
        let shares = [effects.loss, effects.task_failures, effects.duplication];
        assert_eq!(shares.map(Fraction::get), [0.3, 0.2, 0.0]);
        assert!(effects.resends);
    }

    #[test]
    fn a_kill_is_told_of_every_job_of_its_name() {
        let workload = workload("[{name: a, maps: 1}, {name: b, maps: 1, count: 3}]");
        let faults = faults("[{at: 5s, kill: b}, {at: 9s, stop: node-2}]").unwrap();
        let opening = Effects::of(&faults, &workload).opening;
        let seconds: Vec<f64> = opening.iter().map(|(at, ..)| at.as_secs_f64()).collect();
        assert_eq!(seconds, [5.0, 5.0, 5.0, 9.0, 9.0], "a stop is told of node and JobTracker");
    }

    #[test]
    fn what_is_not_there_cannot_go_wrong() {
        let known = Known { nodes: Some(2), jobs: Some(BTreeSet::from(["small", "large"])) };
        for (fault, why) in [
            ("{at: 1s, stop: node-3}", Some("there is no node-3: the cluster has 2 nodes")),
            ("{at: 1s, start: node-2}", None),
            ("{at: 1s, kill: smal}", Some("there is no job `smal` in the workload")),
            ("{at: 1s, kill: large}", None),
            (
                "{at: 1s, partition: {nodes: [node-1, node-4], for: 1s}}",
                Some("there is no node-4: the cluster has 2 nodes"),
            ),
            ("{loss: 0.1}", None),
        ] {
            let fault: Fault = serde_yaml::from_str(fault).unwrap();
            let problem = fault.check(&known).err().map(|problem| problem.message);
            assert_eq!(problem.as_deref(), why, "{fault:?}");
            assert_eq!(
                fault.check(&Known::default()),
                Ok(()),
                "{fault:?}, when a file has to tell"
            );
        }
    }

    #[test]
    fn what_joins_is_not_there_before() {
        let workload = workload("[{name: a, maps: 1}]");
        let faults = faults("[{at: 5s, join: {nodes: [node-2, node-3]}}]").unwrap();
        let effects = Effects::of(&faults, &workload);
        assert_eq!(effects.absent, [1, 2].map(TrackerId).into());
        assert_eq!(effects.opening.len(), 2);
    }

    #[test]
    fn the_jobtracker_pauses_or_restarts() {
        for options in ["pause: 1s, restart: 1s", ""] {
            let fault = format!("{{at: 1s, jobtracker: {{{options}}}}}");
            let fault: Fault = serde_yaml::from_str(&fault).unwrap();
            let problem = fault.check(&Known::default()).unwrap_err();
            assert_eq!(problem.message, "it is one of `pause: 30s` and `restart: 2min`");
        }
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
            ("[{partition: {nodes: [node-1], for: 1s}}]", "needs a time"),
            ("{loss: 0.1}", "a list of faults"),
        ] {
            let error = faults(yaml).unwrap_err().to_string();
            assert!(error.contains(why), "{yaml}: {error}");
        }
    }
}
