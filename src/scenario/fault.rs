//! Faults of a run: what goes wrong, and when.
//!
//! Each kind of fault has one line in `kinds!` and one file in the folder `fault`. The file has a
//! type for the options, which implements `FaultKind`: whether the fault fits the cluster and the
//! workload, and how it affects a run. The line says when such a fault happens. The type's doc comment describes the kind in the JSON Schema
//! and in the reference.
//!
//! ```text
//! faults: [{at: 10min, stop: {nodes: 2}}]   the YAML
//!   Fault      exactly one kind, with `at` if that kind has a moment
//!   check      are there two nodes to stop?
//!   FaultCue   when it happens, which nodes it strikes (named or drawn)
//!   Effects    messages with their times, mishaps of machines, shares that hold throughout
//! ```
//!
//! The rest of a run reads only `Effects`, not the faults: a kind that needs another message or
//! setting adds it there.

mod crashes;
mod decommission;
mod delay;
mod disk;
mod duplication;
mod effects;
mod hangs;
mod jobtracker;
mod join;
mod kill;
mod kind;
pub(crate) mod known;
mod loss;
mod node_choice;
mod out_of_memory;
mod partition;
mod restart;
mod several;
mod short_form;
mod slow;
mod slow_spells;
mod start;
mod stop;
mod struck_attempts;
mod target;
mod task_failures;
mod unhealthy;

use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use mumakil_base::units::tell::{listed, quoted};
use mumakil_base::units::{SimSpan, SimTime};
use mumakil_yaml::{Path, YamlProblem};

use self::crashes::Crashes;
use self::decommission::Decommission;
use self::delay::DelayFault;
use self::disk::Disk;
use self::duplication::Duplication;
use self::effects::FaultCue;
use self::hangs::Hangs;
use self::jobtracker::JobTrackerProcess;
use self::join::Join;
use self::kill::Kill;
use self::kind::{FaultKind, FaultMoment, FaultTraits};
use self::loss::Loss;
use self::out_of_memory::OutOfMemory;
use self::partition::Partition;
use self::restart::Restart;
use self::slow::SlowFault;
use self::slow_spells::SlowSpells;
use self::start::Start;
use self::stop::Stop;
use self::task_failures::TaskFailures;
use self::unhealthy::Unhealthy;

pub use self::effects::{Effects, FaultSite};
pub use self::known::FaultContext;

/// Generates, from one list of kinds, every type and `match` that has a case for each kind of
/// fault. An entry has the key, the type of the options, the moment, and the other traits.
macro_rules! kinds {
    ($($key:ident: $FaultKind:ident, $Moment:ident $(, $trait:ident: $value:expr)*;)+) => {
        /// The traits of all kinds, in the order of the list.
        const KINDS: &[FaultTraits] = &[$(FaultTraits {
            $($trait: $value,)*
            ..FaultTraits::new(stringify!($key), FaultMoment::$Moment)
        }),+];

        /// The kind of a fault, with its options.
        #[derive(Clone, Debug, PartialEq)]
        enum FaultChoice {
            $($FaultKind($FaultKind),)+
        }

        impl FaultChoice {
            fn key(&self) -> &'static str {
                match self {
                    $(Self::$FaultKind(_) => stringify!($key),)+
                }
            }

            fn options(&self) -> &dyn FaultKind {
                match self {
                    $(Self::$FaultKind(options) => options,)+
                }
            }
        }

        /// A fault as it is written: exactly one of the kinds, and `at` for kinds with a moment.
        #[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        struct FaultEntry {
            #[schemars(description = about_at())]
            #[serde(skip_serializing_if = "Option::is_none")]
            at: Option<SimSpan>,
            $(
                #[schemars(description = about::<$FaultKind>())]
                #[serde(skip_serializing_if = "Option::is_none")]
                $key: Option<$FaultKind>,
            )+
        }

        impl FaultEntry {
            /// Returns all kinds that the entry names; a valid entry names exactly one.
            fn all(self) -> Vec<FaultChoice> {
                [$(self.$key.map(FaultChoice::$FaultKind)),+].into_iter().flatten().collect()
            }
        }

        impl From<Fault> for FaultEntry {
            fn from(Fault { at, what }: Fault) -> Self {
                match what {
                    $(FaultChoice::$FaultKind(kind) => Self { at, $key: Some(kind), ..Self::default() },)+
                }
            }
        }
    };
}

kinds! {
    stop: Stop, Named;
    start: Start, Named, draws_as: "stop";
    restart: Restart, Named;
    slow: SlowFault, Open;
    crashes: Crashes, Open;
    slow_spells: SlowSpells, Open;
    kill: Kill, Named;
    task_failures: TaskFailures, None;
    hangs: Hangs, None;
    out_of_memory: OutOfMemory, None;
    loss: Loss, None, holds_alone: true, disturbs_messages: true;
    // Doubled messages lose no reply. But a tracker cannot know which fault its network has. So
    // with any fault of messages, a tracker repeats a heartbeat that is not answered in time.
    duplication: Duplication, None, holds_alone: true, disturbs_messages: true;
    delay: DelayFault, None, holds_alone: true, disturbs_messages: true;
    partition: Partition, Named, disturbs_messages: true;
    disk: Disk, Named;
    jobtracker: JobTrackerProcess, Named;
    join: Join, Named;
    decommission: Decommission, Named;
    unhealthy: Unhealthy, Named;
}

impl FaultChoice {
    fn traits(&self) -> &'static FaultTraits {
        KINDS.iter().find(|kind| kind.key == self.key()).expect("one list makes both")
    }

    /// Checks that the options fit the cluster and the workload. A fault with a named moment must
    /// say which nodes it strikes.
    fn check(&self, known: &FaultContext<'_>) -> Result<(), YamlProblem> {
        self.options().check(known)?;
        let Some(target) = self.options().target() else { return Ok(()) };
        if self.traits().moment == FaultMoment::Named && target.is_silent() {
            let message = "it needs `nodes` or `rack`; for all nodes write `nodes: all`";
            return Err(YamlProblem::value(Path::default(), message));
        }
        target.check(known)
    }
}

/// Returns the description of a kind, from its doc comment.
fn about<K: JsonSchema>() -> String {
    let schema = K::json_schema(&mut SchemaGenerator::default());
    let words = schema.get("description").and_then(|words| words.as_str());
    words.unwrap_or_default().to_owned()
}

fn about_at() -> String {
    let keys = |of: FaultMoment| {
        let kinds = KINDS.iter().filter(move |kind| kind.moment == of);
        listed(quoted(kinds.map(|kind| kind.key)), "and")
    };
    let (named, open) = (keys(FaultMoment::Named), keys(FaultMoment::Open));
    format!("When it happens: with {named}; or when it begins, if not with the run: with {open}.")
}

/// One fault of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "FaultEntry", into = "FaultEntry")]
#[schemars(with = "FaultEntry")]
pub struct Fault {
    /// When the fault happens, if it has a moment.
    at: Option<SimSpan>,
    what: FaultChoice,
}

impl Fault {
    /// Returns the `at` of the fault; `None` if it begins with the run.
    pub fn at(&self) -> Option<SimSpan> {
        self.at
    }

    /// Returns the key of the kind, such as `stop`.
    pub fn key(&self) -> &'static str {
        self.what.key()
    }

    /// Returns the job that the fault kills; `None` for other kinds.
    pub(crate) fn killed(&self) -> Option<&str> {
        match &self.what {
            FaultChoice::Kill(kill) => Some(kill.job()),
            _ => None,
        }
    }

    /// Returns whether a second fault of the same kind would replace it.
    pub(crate) fn holds_alone(&self) -> bool {
        self.what.traits().holds_alone
    }

    /// Returns whether the fault may lose, delay or double messages, so that trackers repeat
    /// heartbeats.
    pub(crate) fn disturbs_messages(&self) -> bool {
        self.what.traits().disturbs_messages
    }

    /// Checks that the fault fits the cluster and the workload; the path of a problem begins below
    /// its [`key`](Self::key).
    pub fn check(&self, known: &FaultContext<'_>) -> Result<(), YamlProblem> {
        self.what.check(known)
    }
}

impl<'a> Effects<'a> {
    /// Returns the effects of all faults; later faults override earlier ones.
    pub fn of(faults: &[Fault], site: FaultSite<'a>) -> Self {
        let mut effects = Self::none(site);
        // For each kind and target, the number of such faults so far. It is a part of the key of
        // the draws, so that two equal faults draw independently.
        let mut equals: BTreeMap<(&str, String), u32> = BTreeMap::new();
        for Fault { at, what } in faults {
            let traits = what.traits();
            let target = what.options().target();
            let whom = target.map(|target| target.to_string()).unwrap_or_default();
            let before = equals.entry((traits.key, whom.clone())).or_default();
            // A `start` draws with the key of `stop`, so that it draws the same nodes as the
            // `stop`. The hash contains neither the fault's place in the list nor its options.
            // So the draws stay the same if its strength changes or another fault is added.
            let hash = Sha256::digest(format!("{} {whom} {before}", traits.draws_as));
            *before += 1;
            let draws = u32::from_le_bytes([hash[0], hash[1], hash[2], hash[3]]);
            let nodes = target.map(|target| target.of(site.topology, site.seed, draws));
            let at = SimTime::ZERO + at.unwrap_or_default();
            let cue = FaultCue { at, draws, nodes: nodes.unwrap_or_default() };
            effects.resends |= traits.disturbs_messages;
            what.options().apply(&cue, &mut effects);
        }
        effects
    }
}

impl TryFrom<FaultEntry> for Fault {
    type Error = String;
    fn try_from(entry: FaultEntry) -> Result<Self, String> {
        let at = entry.at;
        let mut all = entry.all();
        if let Some(late) =
            all.iter().find(|what| what.traits().moment == FaultMoment::Named && at.is_none())
        {
            return Err(format!("`{}` needs a time: `at: 10min`", late.key()));
        }
        let keys = || listed(quoted(KINDS.iter().map(|kind| kind.key)), "or");
        // Take one kind: an entry names exactly one, so no kind may be left.
        match (all.pop(), all.is_empty()) {
            (None, _) => Err(format!("a fault is one of {}", keys())),
            (Some(_), false) => Err(format!("a fault is only one of {}", keys())),
            (Some(what), true) if what.traits().moment == FaultMoment::None && at.is_some() => {
                Err("a share holds for the whole run: leave `at` out".to_owned())
            }
            (Some(what), true) => Ok(Self { at, what }),
        }
    }
}

/// Reads a list of faults; an empty mapping means an empty list as well.
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

/// Returns the schema of the values that [`list`] reads.
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
    use crate::workload::arrivals::Workload;
    use crate::workload::jobs::JobEntry;
    use mumakil_base::units::{Bytes, Fraction};
    use mumakil_core::cluster::{ClusterSpec, Topology, TrackerId};
    use mumakil_core::mapred::{Mail, Mishap, MishapHarm, ToFaultInjector};

    fn faults(yaml: &str) -> Result<Vec<Fault>, serde_yaml::Error> {
        list(serde_yaml::Deserializer::from_str(yaml))
    }

    #[test]
    fn faults_read_back_as_written() {
        let yaml = "- at: 10min\n  stop: node-3\n- at: 20min\n  start: node-3\n\
                    - at: 10min\n  stop:\n    nodes: 10 %\n    for: 5min\n\
                    - at: 1h\n  restart:\n    nodes: node-2\n    for: 30s\n    map_slots: 4\n\
                    - slow:\n    rack: rack-2\n    cpu: 0.5\n\
                    - crashes:\n    mtbf:\n      exponential:\n        mean: 8h\n    \
                    mttr: 10min\n    what: machine\n\
                    - slow_spells:\n    every: 1h\n    for: 5min\n    disk: 0.1\n\
                    - at: 5min\n  kill: big\n- task_failures: 0.01\n- loss: 0.1\n\
                     - hangs:\n    share: 0.1\n    jobs: big\n    kind: map\n\
                     - out_of_memory:\n    memory_above: 1GiB\n\
                     - duplication: 0.1\n- delay:\n    share: 0.1\n    by: 5s\n\
                     - at: 1min\n  partition:\n    nodes:\n    - node-2\n    - node-3\n    for: 3min\n\
                     - at: 2min\n  disk: node-2\n\
                     - at: 4min\n  jobtracker:\n    pause: 30s\n\
                     - at: 5min\n  join: node-4\n\
                     - at: 6min\n  decommission:\n    nodes: node-2\n    for: 1h\n\
                     - at: 7min\n  unhealthy:\n    nodes: node-3\n    for: 2min\n";
        assert_eq!(serde_yaml::to_string(&faults(yaml).unwrap()).unwrap(), yaml);
        assert_eq!(faults("{}").unwrap(), []);
    }

    /// A run with ten nodes in two racks, and some jobs.
    struct Scene {
        topology: Topology,
        workload: Workload,
    }

    fn scene(jobs: &str) -> Scene {
        let jobs: Vec<JobEntry> = serde_yaml::from_str(jobs).unwrap();
        let plain = include_str!("../../scenarios/clusters/default.yaml")
            .replace("nodes: 20", "nodes: 10")
            .replace("racks: 1", "racks: 2");
        let spec: ClusterSpec = serde_yaml::from_str(&plain).unwrap();
        Scene {
            topology: Topology::new(&spec),
            workload: Workload::from_jobs(&jobs, 1, Bytes::from_mib(64), &|_, _| "".into()),
        }
    }

    impl Scene {
        fn effects(&self, yaml: &str) -> Effects<'_> {
            let Self { topology, workload } = self;
            Effects::of(&faults(yaml).unwrap(), FaultSite { seed: 1, topology, workload })
        }

        /// Returns each mishap of nodes: when it begins, its nodes, and its harm. A mishap that
        /// repeats has the time of its first occurrence.
        fn befalls(&self, yaml: &str) -> Vec<(u64, Vec<u32>, MishapHarm)> {
            let effects = self.effects(yaml);
            let begins = |(at, mail): &(SimTime, Mail)| match mail {
                Mail::FaultInjector(ToFaultInjector::Begins(stroke)) => {
                    let Mishap { nodes, harm, .. } = &effects.mishaps[stroke.number as usize];
                    Some((at.as_millis(), nodes.iter().map(|node| node.0 + 1).collect(), *harm))
                }
                _ => None,
            };
            effects.opening.iter().filter_map(begins).collect()
        }
    }

    #[test]
    fn a_later_share_holds_instead_of_an_earlier_one() {
        let scene = scene("[{name: a, maps: 1}]");
        let effects = scene.effects("[{loss: 0.1}, {task_failures: 0.2}, {loss: 0.3}]");
        assert_eq!([effects.loss, effects.duplication].map(Fraction::get), [0.3, 0.0]);
        assert!(effects.resends);
    }

    #[test]
    fn a_kill_is_told_of_every_job_of_its_name() {
        let scene = scene("[{name: a, maps: 1}, {name: b, maps: 1, count: 3}]");
        let opening = scene.effects("[{at: 5s, kill: b}, {at: 9s, stop: node-2}]").opening;
        let seconds: Vec<f64> = opening.iter().map(|(at, ..)| at.as_secs_f64()).collect();
        assert_eq!(seconds, [5.0, 5.0, 5.0, 9.0]);
    }

    #[test]
    fn one_more_fault_moves_no_other() {
        let scene = scene("[{name: a, maps: 1}]");
        let own = "{at: 10min, stop: {nodes: 3}}, {crashes: {mtbf: {exponential: {mean: 1h}}}}, \
                   {slow_spells: {every: 1h, for: 1min, cpu: 0.5}}";
        let alone = scene.befalls(&format!("[{own}]"));
        let others = "{at: 1s, stop: {nodes: 2}}, {slow: {nodes: 10 %, cpu: 0.5}}, {task_failures: 1 %}, \
                      {crashes: {nodes: 4, mtbf: 2h}}";
        let among = scene.befalls(&format!("[{others}, {own}]"));
        assert_eq!(alone.len(), 1 + 10 + 10);
        assert!(alone.iter().all(|one| among.contains(one)), "{alone:?}\n{among:?}");
        // A fault with another strength or moment strikes the same nodes.
        let nodes = |yaml: &str| scene.befalls(yaml)[0].1.clone();
        let halved = nodes("[{slow: {nodes: 4, cpu: 0.5}}]");
        assert_eq!(nodes("[{at: 1h, slow: {nodes: 4, disk: 0.1}}]"), halved);
    }

    #[test]
    fn equal_faults_draw_for_themselves_and_a_start_as_its_stop() {
        let scene = scene("[{name: a, maps: 1}]");
        let yaml = "[{at: 1s, stop: {nodes: 4}}, {at: 2s, stop: {nodes: 4}}, \
                    {at: 3s, start: {nodes: 4}}, {at: 4s, start: {nodes: 4}}]";
        let drawn: Vec<Vec<u32>> = scene.befalls(yaml).into_iter().map(|one| one.1).collect();
        assert_ne!(drawn[0], drawn[1]);
        assert_eq!((&drawn[0], &drawn[1]), (&drawn[2], &drawn[3]));
    }

    #[test]
    fn absent_policies_cannot_go_wrong() {
        let known = FaultContext {
            nodes: Some(2),
            racks: Some(vec![2]),
            jobs: Some(BTreeMap::from([("small", 3), ("large", 1)])),
            ..FaultContext::default()
        };
        for (fault, at, why) in [
            ("{at: 1s, stop: node-3}", "", "there is no node-3: the cluster has 2 nodes"),
            (
                "{at: 1s, stop: {nodes: [node-1, node-3]}}",
                "",
                "there is no node-3: the cluster has 2 nodes",
            ),
            (
                "{at: 1s, start: {rack: rack-2}}",
                "rack",
                "there is no rack-2: the cluster has 1 rack",
            ),
            ("{slow: {nodes: 3, cpu: 0.5}}", "nodes", "3 nodes cannot be drawn: the cluster has 2"),
            (
                "{slow: {nodes: 3, rack: [rack-1, rack-1], cpu: 0.5}}",
                "nodes",
                "3 nodes cannot be drawn: rack-1, rack-1 have 2",
            ),
            ("{slow: {nodes: 2, rack: rack-1, cpu: 0.5}}", "", ""),
            (
                "{at: 1s, restart: {nodes: node-1, rack: rack-1, for: 1s}}",
                "rack",
                "named nodes take no `rack`",
            ),
            ("{at: 1s, kill: smal}", "", "there is no job `smal` in the workload"),
            ("{hangs: {jobs: [large, huge]}}", "jobs", "there is no job `huge` in the workload"),
            ("{at: 1s, start: node-2}", "", ""),
            ("{at: 1s, kill: large}", "", ""),
            ("{at: 1s, kill: small-3}", "", ""),
            ("{at: 1s, kill: small-4}", "", "there is no job `small-4` in the workload"),
            ("{at: 1s, kill: large-1}", "", "there is no job `large-1` in the workload"),
            ("{loss: 0.1}", "", ""),
        ] {
            let fault: Fault = serde_yaml::from_str(fault).unwrap();
            let said = fault.check(&known).err().map(|it| (it.path.to_string(), it.message));
            let expected = (!why.is_empty()).then(|| (at.to_owned(), why.to_owned()));
            assert_eq!(said, expected, "{fault:?}");
        }
    }

    #[test]
    fn jobs_are_not_asked_for_before_files_are_read() {
        for fault in
            ["{at: 1s, stop: node-3}", "{slow: {rack: rack-9, cpu: 1}}", "{at: 1s, kill: a}"]
        {
            let fault: Fault = serde_yaml::from_str(fault).unwrap();
            assert_eq!(fault.check(&FaultContext::default()), Ok(()), "{fault:?}");
        }
    }

    #[test]
    fn a_fault_that_says_too_little_or_would_never_end_is_refused() {
        for (fault, why) in [
            ("{at: 1s, stop: {for: 1min}}", "it needs `nodes` or `rack`"),
            ("{slow: {nodes: 10 %}}", "it needs a speed"),
            ("{slow: {cpu: 0}}", "too slow to end any attempt"),
            ("{crashes: {mtbf: 0s}}", "the mean time between two of them"),
            (
                "{slow_spells: {every: {exponential: {mean: 10ms}}, for: 1s, cpu: 0.5}}",
                "is at least 1s",
            ),
        ] {
            let fault: Fault = serde_yaml::from_str(fault).unwrap();
            let problem = fault.check(&FaultContext::default()).unwrap_err().message;
            assert!(problem.contains(why), "{fault:?}: {problem}");
        }
    }

    #[test]
    fn a_node_that_joins_is_not_there_before() {
        let scene = scene("[{name: a, maps: 1}]");
        let effects = scene.effects("[{at: 5s, join: {nodes: [node-2, node-3]}}]");
        assert_eq!(effects.absent, [1, 2].map(TrackerId).into());
        assert_eq!(effects.opening.len(), 2);
    }

    #[test]
    fn the_jobtracker_pauses_or_restarts() {
        for options in ["pause: 1s, restart: 1s", ""] {
            let fault = format!("{{at: 1s, jobtracker: {{{options}}}}}");
            let fault: Fault = serde_yaml::from_str(&fault).unwrap();
            let problem = fault.check(&FaultContext::default()).unwrap_err();
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
            ("[{at: 1s, loss: 0.1}]", "leave `at` out"),
            ("[{at: 1s, stop: node-0}]", "such as node-3"),
            ("[{at: 1s, stop: 3}]", "such as node-3"),
            ("[{at: 1s, restart: {nodes: node-1}}]", "missing field `for`"),
            ("[{crashes: {mttr: 1h}}]", "missing field `mtbf`"),
            ("[{partition: {nodes: [node-1], for: 1s}}]", "needs a time"),
            ("{loss: 0.1}", "a list of faults"),
        ] {
            let error = faults(yaml).unwrap_err().to_string();
            assert!(error.contains(why), "{yaml}: {error}");
        }
    }
}
