//! `hadoop: yarn`: a scenario becomes a run of YARN.
//!
//! A node has room for as much memory and as many cores as the cluster gives it. Tables count work
//! by slots all the same: a node counts as many slots of each kind as containers of the smallest
//! size fit, and maps and reduces share them.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use parking_lot::Mutex;
use rand::RngExt;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_yaml::Value;

use crate::application_master::{MasterMode, YarnJob, YarnTask};
use crate::checker::YarnChecker;
use crate::fault::{LivenessLimits, YarnFaults};
use crate::mapreduce_master::MapReduceTimes;
use crate::message::{MasterId, NodeId, PlaceId, ToMaster, ToNodeManager, YarnMail};
use crate::policies::{DEFAULT_QUEUE, YarnPolicyEntry, YarnPolicyOptions};
use crate::run::{YarnNode, YarnRunSpec};
use crate::settings::{YarnPolicy, YarnSettings};
use crate::size::YarnSize;
use crate::translator::{AskedNodes, TranslatedRun, Translator};
use mumakil_base::random::{Purpose, stream};
use mumakil_base::units::tell::{listed, quoted};
use mumakil_base::units::{Bytes, Factor, Fraction, SimSpan, SimTime};
use mumakil_base::with_defaults;
use mumakil_core::cluster::{CountedResources, Hdfs, NetworkModel, Node, Topology};
use mumakil_core::mapred::{
    Input, JobSettings, JobSpec, Mail, Mishap, MishapHarm, PerSlot, PolicyEntry, Priority,
    SlotKind, ToFaultInjector, TrackerId, TrueDurations,
};
use mumakil_runtime::{run_scaled, run_virtual};
use mumakil_scenario::fault::{Effects, FaultSite};
use mumakil_scenario::workload::{Arrival, Submission, Workload};
use mumakil_scenario::{ClockSpec, LineEmulation, LineEnd, LineRun, Scenario, Starter};
use mumakil_yaml::{MOST, Path, TreeShape, YamlProblem, read, write};

/// The line `yarn`.
pub(crate) struct YarnLine;

const NAME: &str = "yarn";

with_defaults! {
    /// The settings of YARN that no other line has.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(default, deny_unknown_fields)]
    pub(crate) struct YarnLineOptions {
        /// The masters of applications: those of SLS, which ask for their own containers (`sls`); the
        /// same, started by the ResourceManager (`managed`); or MapReduce's own, which also have slow
        /// start, match tasks with places, and overlap maps and shuffles (`mapreduce`).
        pub(crate) master: MasterMode = MasterMode::Sls,
        /// The time between two calls of a master.
        pub(crate) master_interval: SimSpan = SimSpan::from_secs(1),
        /// The memory of a master's container.
        pub(crate) master_memory: Bytes = Bytes::from_mib(1_024),
        /// The cores of a master's container.
        pub(crate) master_cores: u16 = 1,
        /// The least memory that a task asks for; jobs that ask for more get more.
        pub(crate) container_memory: Bytes = Bytes::from_mib(1_024),
        /// The least cores that a task asks for.
        pub(crate) container_cores: u16 = 1,
        /// Whether the ResourceManager knows the racks of nodes by the names that asks give. SLS
        /// alone does not: there no ask for a rack ever matches.
        pub(crate) racks: RackNames = RackNames::Named,
        /// When each node's clock begins, within its first interval, in the order of the nodes.
        /// Without this, they are drawn from the seed.
        pub(crate) offsets: Vec<SimSpan> = Vec::new(),
        /// When the masters of jobs fail, by the names of the jobs: `{nightly: [{at: 30s}]}`.
        pub(crate) master_faults: BTreeMap<String, Vec<MasterFault>> = BTreeMap::new(),
    }
}

/// A failure of the process of a master.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MasterFault {
    /// When it happens; without a container at that time, nothing does.
    at: SimSpan,
    /// Whether the process goes on and does nothing more, in place of its end.
    #[serde(default)]
    hangs: bool,
}

/// Whether racks have the names that asks give.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RackNames {
    /// They have.
    Named,
    /// All nodes are in a rack that no ask names.
    Unknown,
}

impl YarnLineOptions {
    /// Returns the settings of a scenario, and the mistakes in them.
    fn of(scenario: &Scenario) -> (Self, Vec<YamlProblem>) {
        static SHAPE: LazyLock<TreeShape> = LazyLock::new(TreeShape::of_type::<YarnLineOptions>);
        let written = scenario.hadoop.protocol.get(NAME).cloned().unwrap_or(Value::Null);
        let plain = write(&Self::default());
        let mut all = plain.clone();
        mumakil_yaml::lay(&mut all, written, &SHAPE);
        let (read, problems) = read(all, &plain, &SHAPE, MOST);
        (read.unwrap_or_default(), problems)
    }

    /// Returns the size of a container with so much memory and so many cores.
    fn size(&self, memory: Bytes, cores: u32) -> YarnSize {
        let least = size(self.container_memory, self.container_cores.into());
        size(memory, cores).most(least)
    }
}

/// Returns an amount of memory, in whole MiB, and of cores.
fn size(memory: Bytes, cores: u32) -> YarnSize {
    let mib = memory.get().div_ceil(1 << 20);
    YarnSize::new(i32::try_from(mib).unwrap_or(i32::MAX), i32::try_from(cores).unwrap_or(i32::MAX))
}

/// Returns the scheduler of a loaded scenario.
fn settings(scenario: &Scenario) -> Result<YarnSettings, String> {
    let policy = YarnPolicy::named(&scenario.scheduler.name);
    let checked = scenario.scheduler.options();
    let typed: Option<&YarnPolicyOptions> = checked.and_then(|it| it.value().downcast_ref());
    let options = typed.cloned().unwrap_or_default();
    options.settings(policy).map(|(settings, _)| settings).map_err(|(_, message)| message)
}

/// The settings of `hadoop` that have an effect.
const HADOOP: [&str; 7] =
    ["line", "heartbeat", "heartbeat_phase", "expiry", "slow_start", "start_up", "protocol"];

/// Hadoop's slow start, unless it is set.
const SLOW_START: Fraction = Fraction::of(0.05);

/// How long Hadoop's master of MapReduce sleeps before its process ends.
const STAY: SimSpan = SimSpan::from_secs(5);

/// The kinds of faults that there are.
const FAULTS: [&str; 3] = ["stop", "start", "slow"];

/// The settings of `cluster` that have none.
const IDLE: [&str; 7] =
    ["map_slots", "reduce_slots", "resources", "speed", "contention", "page_cache", "jobtracker"];

impl LineEmulation for YarnLine {
    fn presets(&self) -> &[Starter; 2] {
        &[
            Starter { name: NAME, text: include_str!("yarn-line.yaml") },
            Starter { name: NAME, text: include_str!("yarn-cluster.yaml") },
        ]
    }

    fn policies(&self) -> Vec<PolicyEntry> {
        vec![
            PolicyEntry::of::<YarnPolicyEntry<2>>(),
            PolicyEntry::of::<YarnPolicyEntry<1>>(),
            PolicyEntry::of::<YarnPolicyEntry<0>>(),
        ]
    }

    fn schema(&self, schemas: SchemaGenerator) -> Schema {
        schemas.into_root_schema_for::<YarnLineOptions>()
    }

    fn heeds(&self, key: &str) -> bool {
        match key.split_once('.') {
            Some(("hadoop", setting)) => HADOOP.contains(&setting),
            Some(("cluster", setting)) => !IDLE.contains(&setting),
            _ => true,
        }
    }

    fn problems(&self, scenario: &Scenario) -> Vec<YamlProblem> {
        let (options, own) = YarnLineOptions::of(scenario);
        let at = Path::of("hadoop.protocol").key(NAME);
        let own = own.into_iter().map(|problem| problem.inside(&at));
        own.chain(refused(scenario, &options)).collect()
    }

    fn equip(&self, scenario: &Scenario, topology: &mut Topology) {
        *topology = topology.clone().counting(CountedResources::MemoryAndCores);
        // A scheduler with mistakes is refused later.
        let Ok(YarnSettings { limits, .. }) = settings(scenario) else { return };
        let nodes: Vec<TrackerId> = topology.nodes().map(|(id, _)| id).collect();
        for id in nodes {
            let Node { memory, cores, .. } = *topology.node(id);
            let slots = (size(memory, cores).memory / limits.minimum.memory).unsigned_abs();
            topology.give_slots(id, PerSlot { map: slots, reduce: slots });
        }
    }

    fn check(
        &self,
        scenario: &Scenario,
        topology: &Topology,
        workload: &Workload,
    ) -> Result<Vec<String>, String> {
        let (options, _) = YarnLineOptions::of(scenario);
        let YarnSettings { limits, .. } = settings(scenario)?;
        let mut struck = options.master_faults.keys();
        if let Some(name) = struck.find(|name| workload.named(name).next().is_none()) {
            return Err(format!("hadoop.protocol.yarn.master_faults: there is no job `{name}`"));
        }
        let (given, nodes) = (options.offsets.len(), topology.len() as usize);
        if given != 0 && given != nodes {
            return Err(format!("hadoop.protocol.yarn.offsets: {given} offsets for {nodes} nodes"));
        }
        let rooms = topology.nodes().map(|(_, node)| size(node.memory, node.cores));
        let largest = rooms.fold(YarnSize::NONE, YarnSize::most);
        let maximum = limits.maximum.least(largest);
        let master = size(options.master_memory, options.master_cores.into());
        refuse_larger("hadoop.protocol.yarn: a master", master, maximum)?;
        let mut doubts = Vec::new();
        let hadoop = &scenario.hadoop;
        if options.master != MasterMode::MapReduce && hadoop.slow_start != SLOW_START {
            let only = "only masters of MapReduce (`master: mapreduce`) have a slow start";
            doubts.push(format!("`hadoop.slow_start` has no effect: {only}"));
        }
        for job in workload.arrivals.iter().map(|arrival| &arrival.spec) {
            for kind in SlotKind::BOTH {
                let asks = options.size(job.memory[kind], job.cores[kind]);
                if 0 < tasks_of(job, kind) {
                    refuse_larger(&format!("a {} of `{}`", kind.word(), job.name), asks, maximum)?;
                }
            }
            let has_idle = job.priority != Priority::Normal
                || job.settings != JobSettings::default()
                || job.cached_file != Bytes::ZERO;
            if has_idle && doubts.len() < 2 {
                doubts.push(format!(
                    "the priority, the cached file and the settings of MapReduce v1 that `{}` and \
                     perhaps others have are without effect under YARN",
                    job.name
                ));
            }
        }
        if let Some(follower) = workload.follows.iter().position(|before| !before.is_empty()) {
            let name = &workload.names[follower];
            return Err(format!(
                "`{name}` waits for another job (`after`); under YARN jobs do not"
            ));
        }
        Ok(doubts)
    }

    fn play(&self, run: LineRun<'_>) -> Result<LineEnd, (PathBuf, io::Error)> {
        let LineRun { scenario, site, .. } = run;
        let (topology, workload) = (&Arc::new(site.topology.clone()), site.workload);
        let (options, _) = YarnLineOptions::of(scenario);
        let settings = settings(scenario).expect("the check has read them");
        let mut jobs: Vec<_> = workload.arrivals.iter().collect();
        // Masters that step at the same instant go by the order of the trace.
        jobs.sort_by_key(|arrival| arrival.spec.id);
        let hdfs = Hdfs::of(scenario.seed, topology.clone(), &scenario.cluster.hdfs);
        let mut holders = Vec::new();
        let asking = jobs.iter().map(|arrival| {
            let mut spec = (*arrival.spec).clone();
            let asked = PerSlot::of(|kind| {
                let tasks = 0..tasks_of(&spec, kind);
                tasks.map(|index| asked_node(&spec, kind, index, &hdfs, &mut holders)).collect()
            });
            // Tables count what tasks ask for.
            spec.memory = PerSlot::of(|kind| spec.memory[kind].max(options.container_memory));
            (Arc::new(spec), asked)
        });
        let asking: Vec<(Arc<JobSpec>, AskedNodes)> = asking.collect();
        let mut faults = faults(scenario, site, settings.liveness);
        for (name, mishaps) in &options.master_faults {
            let ids = workload.named(name).flat_map(|id| mishaps.iter().map(move |it| (id, it)));
            faults.mishaps.extend(ids.map(|(id, MasterFault { at, hangs })| {
                let place = jobs.iter().position(|arrival| arrival.spec.id == id);
                let master = MasterId(place.unwrap_or_default() as u32);
                let what = if *hangs { ToMaster::Hang } else { ToMaster::Die };
                (SimTime::ZERO + *at, YarnMail::Master(master, what))
            }));
        }
        let spec = YarnRunSpec {
            nodes: nodes(scenario, topology, &options),
            jobs: yarn_jobs(scenario, topology, &jobs, &asking, &options),
            node_interval: scenario.hadoop.heartbeat_interval(topology.len()),
            master_interval: options.master_interval,
            settings,
        };
        let checker = run.verify.then(|| YarnChecker::new(&spec));
        let (master, events) = (options.master, run.events);
        let mut translator = Translator::new(
            topology.clone(),
            asking,
            scenario,
            master,
            checker,
            events,
            run.folder,
        )?;
        let is_watched = run.pace.is_some();
        translator.pace = run.pace;
        let shared = Arc::new(Mutex::new(translator));
        let until = scenario.until.map_or(SimTime::NEVER, |until| SimTime::ZERO + until);
        let sink = Box::new(TranslatedRun(shared.clone()));
        let mut plan = spec.plan(&faults, until, sink);
        plan.time_limit = run.time_limit;
        if is_watched {
            plan.pace = Some(Box::new(TranslatedRun(shared.clone())));
        }
        let (stats, ending) = match scenario.clock {
            ClockSpec::Virtual => run_virtual(plan, run.transport),
            ClockSpec::Scaled(factor) => run_scaled(plan, factor),
        };
        let mut translator = shared.lock();
        let (ending, breaches) = (translator.end(ending)?, translator.breaches());
        let breaches = breaches.into_iter().map(|words| (stats.end, words)).collect();
        Ok(LineEnd { stats, ending, breaches })
    }
}

/// Refuses an ask that is larger than the largest container.
fn refuse_larger(what: &str, asks: YarnSize, largest: YarnSize) -> Result<(), String> {
    if asks.fits_in(largest) {
        return Ok(());
    }
    Err(format!(
        "{what} asks for {asks}, more than the largest container, {largest}: the largest node, or \
         `yarn.scheduler.maximum-allocation-…`; the real ResourceManager refuses such an ask"
    ))
}

/// Returns what of a scenario YARN does not have.
fn refused(scenario: &Scenario, options: &YarnLineOptions) -> Vec<YamlProblem> {
    let Scenario { hadoop, workload, cluster, .. } = scenario;
    let rules = [
        (
            options.master_interval.is_zero(),
            "hadoop.protocol.yarn.master_interval",
            "at 0s time would stand still",
            "Hadoop's default is 1s",
        ),
        (
            hadoop.heartbeat_interval(1).as_millis() == 0,
            "hadoop.heartbeat",
            "a node counts in whole milliseconds",
            "Hadoop's default is 1s",
        ),
        (
            !scenario.later.is_empty(),
            "later",
            "under YARN nothing changes during a run",
            "list jobs in `workload.also`; policies and queues stay as they are",
        ),
        (
            workload.submission != Submission::Replay,
            "workload.submission",
            "under YARN jobs come at their times",
            "write `submission: replay`",
        ),
        (
            cluster.network.model != NetworkModel::Fixed,
            "cluster.network.model",
            "under YARN transfers share nothing",
            "write `model: fixed`",
        ),
    ];
    let broken = rules
        .into_iter()
        .filter(|(is_broken, ..)| *is_broken)
        .map(|(_, path, message, hint)| YamlProblem::value(Path::of(path), message).hint(hint));
    let faults = scenario.faults.iter().enumerate();
    let others = faults.filter(|(_, fault)| !FAULTS.contains(&fault.key())).map(|(at, fault)| {
        let path = Path::of(&format!("faults[{at}]")).key(fault.key());
        let problem = YamlProblem::value(path, "there is no such fault under YARN");
        problem.hint(format!("there are {}", listed(quoted(FAULTS), "and")))
    });
    let jobs = workload.listed().iter().enumerate();
    let followers = jobs.filter(|(_, job)| !job.after.is_empty()).map(|(at, _)| {
        let path = Path::of(&format!("workload.jobs[{at}].after"));
        let problem = YamlProblem::value(path, "under YARN a job cannot wait for another");
        problem.hint("give the job a time: `submit`")
    });
    broken.chain(others).chain(followers).collect()
}

/// Returns the mishaps of nodes, and the limits with which the ResourceManager notices them.
fn faults(scenario: &Scenario, site: FaultSite<'_>, liveness: LivenessLimits) -> YarnFaults {
    let Effects { mut opening, mishaps, .. } = Effects::of(&scenario.faults, site);
    opening.sort_by_key(|(at, _)| *at);
    // How slow each node is at present; several causes multiply.
    let mut slowness: BTreeMap<TrackerId, f64> = BTreeMap::new();
    let mut all = Vec::new();
    for (at, mail) in opening {
        let (id, begins) = match mail {
            Mail::FaultInjector(ToFaultInjector::Begins(id)) => (id, true),
            Mail::FaultInjector(ToFaultInjector::Ends(id)) => (id, false),
            _ => continue,
        };
        let Mishap { nodes, harm, .. } = &mishaps[id.number as usize];
        for node in nodes {
            let what = match (harm, begins) {
                (MishapHarm::Stop | MishapHarm::Outage, true) => ToNodeManager::Stop,
                (MishapHarm::Slow(speeds), _) => {
                    let slow = slowness.entry(*node).or_insert(1.0);
                    *slow *= if begins { 1.0 / speeds.cpu } else { speeds.cpu };
                    ToNodeManager::Slow(Factor::new(*slow).unwrap_or(Factor::ONE))
                }
                _ => ToNodeManager::Return,
            };
            all.push((at, YarnMail::NodeManager(NodeId(node.0), what)));
        }
    }
    let liveness = LivenessLimits { node: scenario.hadoop.expiry, ..liveness };
    YarnFaults { mishaps: all, liveness }
}

fn tasks_of(job: &JobSpec, kind: SlotKind) -> u32 {
    match kind {
        SlotKind::Map => job.maps,
        SlotKind::Reduce => job.reduces,
    }
}

/// Returns the places that asks for a node name: its host, and its rack.
fn places(topology: &Topology, id: TrackerId) -> [PlaceId; 2] {
    [PlaceId(id.0 + 1), PlaceId(topology.len() + 1 + topology.rack(id).0)]
}

fn nodes(scenario: &Scenario, topology: &Topology, options: &YarnLineOptions) -> Vec<YarnNode> {
    let interval = scenario.hadoop.heartbeat_interval(topology.len());
    let spread = scenario.hadoop.heartbeat_phase.or(interval).as_millis().max(1);
    let nodes = topology.nodes().map(|(id, node)| {
        let [host, rack] = places(topology, id);
        let is_known = options.racks == RackNames::Named;
        let rack = if is_known { rack } else { PlaceId(topology.len() + topology.racks() + 1) };
        let offset = options.offsets.get(id.index()).copied().unwrap_or_else(|| {
            // SLS draws whole milliseconds; each node has a stream of its own.
            let mut rng = stream(scenario.seed, Purpose::Phase, u64::from(id.0));
            SimSpan::from_millis(rng.random_range(0..spread))
        });
        let name = topology.names(id).map_or_else(|| id.to_string(), |(_, host)| host.to_owned());
        YarnNode { name, size: size(node.memory, node.cores), offset, host, rack }
    });
    nodes.collect()
}

fn yarn_jobs(
    scenario: &Scenario,
    topology: &Arc<Topology>,
    jobs: &[&Arrival],
    asking: &[(Arc<JobSpec>, AskedNodes)],
    options: &YarnLineOptions,
) -> Vec<YarnJob> {
    let Scenario { seed, hadoop, cluster, .. } = scenario;
    let durations = TrueDurations::usual(*seed, hadoop, cluster, topology)
        .expect("a cluster has nodes, or its check fails");
    let master_size = size(options.master_memory, options.master_cores.into());
    let jobs = jobs.iter().zip(asking).map(|(arrival, (spec, asked))| {
        // Only MapReduce's own masters know the phases of a reduce.
        let shuffle = match options.master {
            MasterMode::MapReduce if 0 < spec.reduces => durations.shuffle_of(spec, 0),
            _ => SimSpan::ZERO,
        };
        let slow_start = spec.settings.slow_start.unwrap_or(hadoop.slow_start).get() as f32;
        let mut tasks = Vec::new();
        for kind in SlotKind::BOTH {
            let size = options.size(spec.memory[kind], spec.cores[kind]);
            for index in 0..tasks_of(spec, kind) {
                tasks.push(YarnTask {
                    kind,
                    host_and_rack: asked[kind][index as usize]
                        .map_or([PlaceId::ANY; 2], |node| places(topology, node)),
                    size,
                    life: durations.task_of(spec, kind, index).saturating_sub(match kind {
                        SlotKind::Map => SimSpan::ZERO,
                        SlotKind::Reduce => shuffle,
                    }),
                });
            }
        }
        YarnJob {
            user: spec.user.to_string(),
            queue: spec.named_pool().unwrap_or(DEFAULT_QUEUE).to_owned(),
            start: arrival.delay,
            mode: options.master,
            master_size,
            tasks,
            mapreduce: MapReduceTimes {
                shuffle,
                slow_start,
                stay: STAY,
                ..MapReduceTimes::default()
            },
        }
    });
    jobs.collect()
}

/// Returns the node that a task asks for: that of the first copy of its input, or the one in its
/// trace.
fn asked_node(
    job: &JobSpec,
    kind: SlotKind,
    index: u32,
    hdfs: &Hdfs,
    holders: &mut Vec<TrackerId>,
) -> Option<TrackerId> {
    holders.clear();
    match kind {
        SlotKind::Map => job.input.iter().for_each(|input| input.locate(index, hdfs, holders)),
        SlotKind::Reduce => {
            let splits = job.reduce_holders.clone().map(Input::Splits);
            splits.iter().for_each(|input| input.locate(index, hdfs, holders));
        }
    }
    holders.first().copied()
}
