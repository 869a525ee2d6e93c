//! How long an attempt's phases take on a node.
//!
//! A task's length is drawn from a random stream of its own (seed, kind, job, task), always in the
//! same order. So the same task takes the same time under every scheduler and in every attempt.
//! Only failures are drawn for each attempt. The drawn length is scaled by the node's speed, by the
//! distance of the input, and by the disks and wires in between. If disks, wires or cores are
//! shared, the plan says how long each part of a phase takes alone, and which resources it uses.
//! The [`Fabric`](super::Fabric) says how long the part takes beside others.
//!
//! ```text
//! map:     start-up | read, compute, write            | commit, if there are no reduces
//! reduce:  start-up | shuffle | sort | compute, write | commit
//! ```

mod contended_resources;
mod effort;
mod planned_failure;

use std::sync::Arc;

pub use self::contended_resources::ContendedResources;
pub(super) use self::effort::FetchLoop;
pub use self::effort::{EffortPart, NodeResource, PhaseEffort};
pub use self::planned_failure::{FailureKind, FailurePoint, PlannedFailure};
use crate::cluster::{Demand, Node, ReadRates, Topology, TrackerId};
use crate::mapred::event::Role;
use crate::mapred::hadoop::{CommitPending, Hadoop};
use crate::mapred::heartbeat::{AttemptPhase, LaunchOrder, SavedWork};
use crate::mapred::ids::{AttemptId, TaskId, TaskKind};
use crate::mapred::locality::Locality;
use crate::mapred::replicas::{Copy, InputReading, Replicas};
use crate::mapred::spec::JobSpec;
use crate::mapred::traced::Traced;
use mumakil_base::mutated;
use mumakil_base::random::{ChaCha8Rng, Purpose, stream};
use mumakil_base::units::{Bytes, Rate, SimSpan};

/// The settings that all attempts of a run share.
#[derive(Clone, Debug)]
pub struct Costs {
    /// The seed of the run.
    pub seed: u64,
    /// The settings of the protocol.
    pub hadoop: Hadoop,
    /// How fast attempts read over the network.
    pub rates: ReadRates,
    /// The nodes and racks; a reduce fetches the same amount from every node.
    pub topology: Arc<Topology>,
    /// The causes that make map and reduce attempts fail or hang.
    pub planned_failures: Vec<PlannedFailure>,
    /// The resources that attempts share; `None` if all transfers have fixed speeds and each
    /// attempt has a core of its own.
    pub shared: Option<ContendedResources>,
    /// Whether nodes may become slow while attempts run there.
    pub may_slow_down: bool,
}

/// The phases of one attempt on one node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AttemptPlan {
    /// How long the process takes to start.
    pub start_up: SimSpan,
    /// Fetching, as if all maps had already ended; zero for all but reduces.
    pub shuffle: PhaseEffort,
    /// When a reduce learns of outputs and fetches them.
    pub fetch_loop: FetchLoop,
    /// Merging; zero for all but reduces.
    pub sort: PhaseEffort,
    /// The work itself: a map's reading, computing and writing, a reduce's computing and writing.
    pub work: PhaseEffort,
    /// Whether the attempt waits for permission to commit its output.
    pub commits: bool,
    /// Where the attempt fails or hangs, if it does.
    pub breaks: Option<FailurePoint>,
    /// Whether the attempt passes phases that take no time at once, without a timer, as in Mumak.
    /// Otherwise a timer ends each phase, and other messages of the same instant may come in
    /// between.
    pub at_once: bool,
}

/// An attempt, and the node on which it begins.
#[derive(Clone, Copy)]
struct LaunchSite<'l> {
    launch: &'l LaunchOrder,
    tracker: TrackerId,
    node: &'l Node,
}

impl Costs {
    /// Returns how an attempt reads its input; `None` if it reads as without faults: from the nodes
    /// that its job's splits name.
    pub(super) fn open(
        &self,
        files: &Replicas,
        launch: &LaunchOrder,
        on: TrackerId,
    ) -> Option<InputReading> {
        let input = (&*launch.job, launch.attempt.task.index);
        files.open(input, launch.locality, on, &self.topology, || {
            stream(self.seed, Purpose::Source, subject(launch.attempt))
        })
    }

    /// Returns the phases of an attempt on a tracker's node. `reading` is how the attempt reads its
    /// input; with `None` it reads from the nodes that the splits of its job name.
    pub fn plan(
        &self,
        launch: &LaunchOrder,
        tracker: TrackerId,
        node: &Node,
        reading: Option<InputReading>,
    ) -> AttemptPlan {
        let from = reading.and_then(|reading| reading.from);
        let site = LaunchSite { launch, tracker, node };
        let mut plan = self.plan_from(site, from);
        plan.start_up += self.copying(&launch.job, tracker, node);
        if let Some(saved) = launch.saved {
            self.skip_saved(saved, site, &mut plan);
        }
        match reading {
            None => {}
            Some(InputReading { from: Some(_), waits }) => plan.work.wait_first(waits),
            Some(InputReading { from: None, waits }) => self.give_up_reading(waits, &mut plan),
        }
        plan
    }

    /// Lets an attempt read the state of an earlier attempt, and do only the work that is left.
    fn skip_saved(&self, saved: SavedWork, site: LaunchSite<'_>, plan: &mut AttemptPlan) {
        let LaunchSite { launch, tracker, node } = site;
        let (job, task) = (&launch.job, launch.attempt.task);
        // The input of a reduce is what it has fetched and sorted.
        let input = match task.kind {
            TaskKind::Reduce => {
                mutated!(job.reduce.shuffle.of(task.index), "checkpoint/without-input" => Bytes::ZERO)
            }
            _ => Bytes::ZERO,
        };
        let state = job.memory[task.slot()] + input;
        let from = mutated!(
            Locality::of(tracker, &[saved.on], &self.topology),
            "checkpoint/read-here" => Some(Locality::Node),
        );
        let reading = self.read_rate(from, tracker, node).time_for(state);
        plan.start_up += mutated!(reading, "checkpoint/no-reading" => SimSpan::ZERO);
        plan.work.skip(mutated!(f64::from(saved.share), "checkpoint/lost" => 0.0));
        mutated!((), "checkpoint/fetches-again" => return);
        plan.shuffle = PhaseEffort::default();
        plan.fetch_loop = FetchLoop::default();
        plan.sort = PhaseEffort::default();
    }

    /// Lets an attempt fail after it has tried for the time `waits` to read its input; its
    /// tracker's time-out may end it earlier.
    fn give_up_reading(&self, waits: SimSpan, plan: &mut AttemptPlan) {
        let timeout = self.hadoop.task_timeout;
        plan.work = PhaseEffort::default();
        // Trying is no progress, so the tracker's time-out may end the attempt before its tries are
        // used up.
        plan.work.wait_first(if timeout.is_zero() { waits } else { waits.min(timeout) });
        // If the attempt fails in its start-up anyway, it never gets to reading.
        if plan.breaks.is_none_or(|it| it.phase != AttemptPhase::Start) {
            let lingers = self.hadoop.behaviour().failed_linger;
            plan.breaks = Some(FailurePoint::thrown(AttemptPhase::Work, lingers));
        }
    }

    fn plan_from(&self, site: LaunchSite<'_>, from: Option<Copy>) -> AttemptPlan {
        let (launch, kind) = (site.launch, site.launch.attempt.task.kind);
        match (launch.role, kind) {
            // Match the role first, since the removal of an attempt's output has the kind of that
            // attempt's task.
            (Role::TaskCleanup, _) | (Role::Work, TaskKind::Cleanup | TaskKind::Setup) => {
                self.service(launch)
            }
            (Role::Work, TaskKind::Map | TaskKind::Reduce) => match &launch.job.traced {
                Some(traced) => self.traced(site, traced),
                None if kind == TaskKind::Map => self.map(site, from),
                None => self.reduce(site),
            },
        }
    }

    /// Returns the phases of a setup, a cleanup, or the removal of an attempt's output.
    fn service(&self, launch: &LaunchOrder) -> AttemptPlan {
        let AttemptId { task, .. } = launch.attempt;
        let is_setup = task.kind == TaskKind::Setup;
        // A job's setup task may run in either kind of slot: draw the same length for both.
        let of_job = TaskId { index: 0, ..task }.attempt(0);
        let (purpose, subject) = match task.kind {
            TaskKind::Setup => (Purpose::SetupTime, subject(of_job)),
            TaskKind::Cleanup => (Purpose::CleanupTime, subject(of_job)),
            TaskKind::Map => (Purpose::MapCleanupTime, subject(launch.attempt)),
            TaskKind::Reduce => (Purpose::ReduceCleanupTime, subject(launch.attempt)),
        };
        let logged = launch.job.traced.as_ref().and_then(|traced| {
            let times = match task.kind {
                TaskKind::Setup => traced.service.setup,
                TaskKind::Cleanup => traced.service.cleanup,
                TaskKind::Map | TaskKind::Reduce => return None,
            };
            // A logged time includes the start-up, but not the copying of files before it.
            Some((traced.localisation(launch.attempt).unwrap_or(SimSpan::ZERO), times.takes?))
        });
        let (start_up, work) = logged.unwrap_or_else(|| {
            let mut rng = stream(self.seed, purpose, subject);
            let start_up = self.hadoop.start_up.sample(&mut rng);
            // Removing an attempt's output takes as long as the cleanup of a job.
            let work = if is_setup { &self.hadoop.setup_time } else { &self.hadoop.cleanup_time };
            (start_up, work.sample(&mut rng))
        });
        AttemptPlan {
            start_up,
            work: work.into(),
            at_once: self.hadoop.behaviour().passes_empty_phases,
            ..AttemptPlan::default()
        }
    }

    /// Returns the phases of an attempt from a trace. The trace's times include the start-up and
    /// all delay by sharing.
    fn traced(&self, site: LaunchSite<'_>, traced: &Traced) -> AttemptPlan {
        let LaunchSite { launch, tracker, node } = site;
        let AttemptId { task, .. } = launch.attempt;
        let (times, fails) = launch.drawn.unwrap_or_else(|| {
            let mut rng = stream(self.seed, Purpose::Traced, subject(launch.attempt));
            traced.draw(launch.attempt, launch.locality, &mut rng)
        });
        let work = match task.kind {
            TaskKind::Map => AttemptPhase::Work,
            _ => AttemptPhase::Reduce,
        };
        let commits = self.commits(&launch.job, task.kind);
        let computing = times.work.ceil_mul(1.0 / node.speed.get());
        AttemptPlan {
            // The times in a trace include the start-up of the process, but not the copying of files
            // before it.
            start_up: traced.localisation(launch.attempt).unwrap_or(SimSpan::ZERO),
            // `speed` is the speed of the cores, which does not change fetching.
            shuffle: times.shuffle.into(),
            // The time of a logged shuffle contains the sleeps of its loop.
            fetch_loop: FetchLoop {
                sleep: SimSpan::ZERO,
                is_after_maps: !self.hadoop.behaviour().reads_like_mumak,
                ..self.fetch_loop()
            },
            sort: times.sort.ceil_mul(1.0 / node.speed.get()).into(),
            // An attempt that commits waits for its own permission. Without commits the logged wait
            // stays a part of the attempt, so that it takes as long as in the log.
            work: if commits { computing } else { computing + times.commit }.into(),
            commits,
            // Even if the attempt succeeds in the trace, a planned failure may strike it.
            breaks: if fails {
                // The time of a failed attempt in a trace ends when its tracker gave up waiting.
                Some(FailurePoint::thrown(work, SimSpan::ZERO))
            } else {
                self.breaks(launch, tracker)
            },
            at_once: self.hadoop.behaviour().passes_empty_phases,
        }
    }

    /// Returns how long the files of a job are copied to a node for an attempt that needs them first.
    pub(super) fn localisation(
        &self,
        job: &JobSpec,
        attempt: AttemptId,
        tracker: TrackerId,
        node: &Node,
    ) -> SimSpan {
        let logged = job.traced.as_ref().and_then(|traced| traced.localisation(attempt));
        logged.unwrap_or(self.hadoop.localisation) + self.copying(job, tracker, node)
    }

    /// Returns how long a node copies the file that all tasks of a job read.
    fn copying(&self, job: &JobSpec, tracker: TrackerId, node: &Node) -> SimSpan {
        // The few copies of the file are in another rack, if there is one.
        let from = if self.topology.racks() == 1 { Locality::Rack } else { Locality::OffRack };
        match job.cached_file {
            Bytes::ZERO => SimSpan::ZERO,
            file => self.read_rate(Some(from), tracker, node).time_for(file),
        }
    }

    /// Returns whether a task's output needs permission to commit.
    fn commits(&self, job: &JobSpec, kind: TaskKind) -> bool {
        // As in Hadoop, only a task that writes to HDFS commits: a map with reduces leaves local
        // files.
        let writes = kind == TaskKind::Reduce || job.reduces == 0;
        writes && self.hadoop.commit_pending != CommitPending::None
    }

    fn map(&self, site: LaunchSite<'_>, from: Option<Copy>) -> AttemptPlan {
        let LaunchSite { launch, tracker, node } = site;
        let (job, attempt) = (&launch.job, launch.attempt);
        let index = attempt.task.index;
        // Never change the order of the draws below: every run of every seed would change.
        let mut rng = self.task_stream(Purpose::MapTime, attempt);
        let start_up = self.hadoop.start_up.sample(&mut rng);
        let noise = job.map.noise.sample(&mut rng).get();
        let split = job.input.as_ref().map_or(Bytes::ZERO, |input| input.bytes(index, job.maps));
        let computing = match (&job.map.time, job.map.rate) {
            (Some(time), _) => time.of(index, &mut rng),
            (None, Some(rate)) => rate.time_for(split),
            (None, None) => SimSpan::ZERO,
        };
        // The map may read from another node than the JobTracker thinks.
        let from_copy = from.and_then(|copy| Locality::of(tracker, &[copy.node], &self.topology));
        let read_at = from_copy.or(launch.locality);
        let (penalty, reads_by) = match read_at {
            None | Some(Locality::Node) => (1.0, NodeResource::Disk),
            Some(Locality::Rack) => (job.map.rack_penalty.get(), NodeResource::Network),
            Some(Locality::OffRack) => (job.map.off_rack_penalty.get(), NodeResource::Network),
        };
        let read_rate = self.read_rate(read_at, tracker, node);
        // If the time of a map is given, it includes reading; a penalty then stands for the
        // distance.
        let read = if job.map.time.is_some() { Bytes::ZERO } else { split };
        let source = || self.shared.as_ref()?.reading(job, attempt, tracker, from);
        // A map of a job with reduces writes its output locally, and its time includes the writing.
        let written = if job.reduces == 0 { job.map.output } else { Bytes::ZERO };
        AttemptPlan {
            start_up,
            work: self.effort([
                transfer(read, reads_by, source, || read_rate.time_for(read)),
                self.computing(computing.ceil_mul(noise * penalty / node.speed.get()), tracker),
                self.writing(written, site),
            ]),
            commits: self.commits(job, TaskKind::Map),
            breaks: self.breaks(launch, tracker),
            at_once: self.hadoop.behaviour().passes_empty_phases,
            ..AttemptPlan::default()
        }
    }

    fn reduce(&self, site: LaunchSite<'_>) -> AttemptPlan {
        let LaunchSite { launch, tracker, node } = site;
        let (job, attempt) = (&launch.job, launch.attempt);
        let cost = &job.reduce;
        let mut rng = self.task_stream(Purpose::ReduceTime, attempt);
        let start_up = self.hadoop.start_up.sample(&mut rng);
        // As for maps, the order of the draws is fixed; a new draw goes last.
        let noise = cost.noise.sample(&mut rng).get();
        let index = attempt.task.index;
        let fetched = cost.shuffle.of(index);
        let sort = cost.sort_time.of(index, &mut rng);
        // A time takes precedence over a rate; without either, the reduce only moves bytes.
        let computing = match (&cost.time, cost.rate) {
            (Some(time), _) => time.of(index, &mut rng),
            (None, Some(rate)) => rate.time_for(fetched),
            (None, None) => SimSpan::ZERO,
        };
        let shuffle = match &cost.shuffle_time {
            Some(time) => time.of(index, &mut rng).into(),
            None => self.fetching(fetched, site),
        };
        // `noise` and the node's speed change only the computing, not the work of disks and wires.
        let slowness = noise / node.speed.get();
        AttemptPlan {
            start_up,
            shuffle,
            fetch_loop: self.fetch_loop(),
            sort: self.effort([self.computing(sort.ceil_mul(slowness), tracker)]),
            work: self.effort([
                self.computing(computing.ceil_mul(slowness), tracker),
                self.writing(cost.output.of(index), site),
            ]),
            commits: self.commits(job, TaskKind::Reduce),
            breaks: self.breaks(launch, tracker),
            at_once: self.hadoop.behaviour().passes_empty_phases,
        }
    }

    /// Returns how fast a node reads what lies at this distance; on the node itself, from a disk.
    fn read_rate(&self, from: Option<Locality>, tracker: TrackerId, node: &Node) -> Rate {
        let rates = self.rates.of_node(tracker, node, &self.topology);
        match from {
            None | Some(Locality::Node) => node.disk,
            Some(Locality::Rack) => rates.rack,
            Some(Locality::OffRack) => rates.off_rack,
        }
    }

    /// Returns the effort of a reduce to fetch `bytes` bytes; each node holds the same share of
    /// them.
    fn fetching(&self, bytes: Bytes, site: LaunchSite<'_>) -> PhaseEffort {
        let LaunchSite { launch, tracker, node } = site;
        let rates = self.rates.of_node(tracker, node, &self.topology);
        // Every node holds the same share of the outputs, so a rack's share follows from its number
        // of nodes.
        let near = Bytes::new(self.topology.part_in_rack(tracker, bytes.get() as f64) as u64);
        let far = bytes.saturating_sub(near);
        let wires = || self.shared.as_ref()?.fetching(launch.attempt, tracker);
        self.effort([transfer(bytes, NodeResource::Network, wires, || {
            rates.rack.time_for(near) + rates.off_rack.time_for(far)
        })])
    }

    fn writing(
        &self,
        bytes: Bytes,
        LaunchSite { launch, tracker, node }: LaunchSite<'_>,
    ) -> EffortPart {
        let uses = || self.shared.as_ref()?.writing(launch.attempt, tracker);
        transfer(bytes, NodeResource::Disk, uses, || node.disk.time_for(bytes))
    }

    fn computing(&self, alone: SimSpan, tracker: TrackerId) -> EffortPart {
        let demand = self.shared.as_ref().and_then(|shared| shared.computing(tracker));
        EffortPart { alone, by: NodeResource::Cores, demand }
    }

    fn effort<const COUNT: usize>(&self, parts: [EffortPart; COUNT]) -> PhaseEffort {
        PhaseEffort::of(parts, self.may_slow_down)
    }

    fn task_stream(&self, purpose: Purpose, attempt: AttemptId) -> ChaCha8Rng {
        // Always the stream of attempt 0, so that all attempts of a task take the same time.
        stream(self.seed, purpose, subject(attempt.task.attempt(0)))
    }

    fn breaks(&self, launch: &LaunchOrder, tracker: TrackerId) -> Option<FailurePoint> {
        let lingers = self.hadoop.behaviour().failed_linger;
        planned_failure::strike(&self.planned_failures, self.seed, launch, tracker, lingers)
    }

    /// Returns when reduces learn of outputs and fetch them.
    fn fetch_loop(&self) -> FetchLoop {
        let Hadoop { poll, copier_sleep: sleep, .. } = self.hadoop;
        FetchLoop { poll, sleep, is_after_maps: false }
    }
}

/// Returns the effort of moving bytes: on shared resources if there are any, otherwise in a fixed
/// time.
fn transfer(
    bytes: Bytes,
    by: NodeResource,
    shared: impl FnOnce() -> Option<Demand>,
    fixed: impl FnOnce() -> SimSpan,
) -> EffortPart {
    // A flow of zero bytes would cost messages and change no rate.
    if bytes == Bytes::ZERO {
        return EffortPart::fixed(SimSpan::ZERO, by);
    }
    match shared() {
        Some(demand) => EffortPart { alone: demand.time_for(bytes), by, demand: Some(demand) },
        None => EffortPart::fixed(fixed(), by),
    }
}

/// Packs job (24 bits), task (24) and attempt (8) into the subject of a random stream.
///
/// From the 257th on, attempts of a task repeat the draws of earlier ones, which does no harm.
fn subject(attempt: AttemptId) -> u64 {
    let (job, task) = (u64::from(attempt.task.job.0), u64::from(attempt.task.index));
    (job & 0xFF_FFFF) << 32 | (task & 0xFF_FFFF) << 8 | u64::from(attempt.number) & 0xFF
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::PerSlot;
    use crate::mapred::hadoop::HadoopLine;
    use crate::mapred::ids::JobId;
    use crate::mapred::replicas::ReplicaChoice;
    use crate::mapred::spec::{Input, Split};
    use crate::mapred::traced::{ServiceTimes, TracedService, TracedTimes, TracedTry};
    use mumakil_base::units::{Fraction, Rate};

    /// Lets this share of all attempts fail.
    fn failures(share: f64) -> PlannedFailure {
        PlannedFailure {
            how: FailureKind::Failure,
            share: Fraction::of(share),
            nodes: None,
            jobs: None,
            kind: None,
            memory_above: None,
            at_progress: None,
        }
    }

    /// Returns a node alone in its rack beside three nodes in another rack, and its costs.
    fn costs(task_failures: f64) -> (Node, Costs) {
        let node = |rack| Node::plain(rack, PerSlot { map: 2, reduce: 1 });
        let costs = Costs {
            seed: 1,
            hadoop: Hadoop::of(HadoopLine::V020),
            rates: ReadRates {
                rack: Rate::from_mb_per_s(50),
                off_rack: Rate::from_mb_per_s(25),
                uplink: Rate::from_mb_per_s(1_000),
            },
            topology: Arc::new(Topology::from_nodes([0, 1, 1, 1].map(node).into())),
            planned_failures: vec![failures(task_failures)],
            shared: None,
            may_slow_down: false,
        };
        (node(0), costs)
    }

    fn launch(job: JobSpec, kind: TaskKind, index: u32) -> LaunchOrder {
        let attempt = TaskId { job: JobId(0), kind, index }.attempt(0);
        LaunchOrder::work(attempt, job.into())
    }

    #[test]
    fn a_reduce_fetches_from_all_nodes_alike_however_large_their_racks() {
        let (node, costs) = costs(0.0);
        let mut job = JobSpec::bare(0, 1, 1);
        job.reduce.shuffle = Bytes::new(100_000_000).into();
        let launch = launch(job, TaskKind::Reduce, 0);
        let fetching = |tracker| costs.plan(&launch, TrackerId(tracker), &node, None).shuffle.alone;
        // The node's own rack holds a quarter of the outputs; each node of the other rack has three
        // quarters near.
        assert_eq!(fetching(0), SimSpan::from_millis(500 + 3_000));
        assert_eq!(fetching(1), SimSpan::from_millis(1_500 + 1_000));
    }

    #[test]
    fn a_map_reads_where_the_copy_is_and_fails_if_there_is_none() {
        let (node, costs) = costs(0.0);
        let mut job = JobSpec::bare(0, 1, 0);
        job.map.rate = Some(Rate::from_mb_per_s(100));
        let split = Split { bytes: Bytes::new(100_000_000), holders: [TrackerId(1)].into() };
        job.input = Some(Input::Splits([split].into()));
        let launch =
            LaunchOrder { locality: Some(Locality::Node), ..launch(job, TaskKind::Map, 0) };
        let plan = |reading| costs.plan(&launch, TrackerId(1), &node, reading);
        let secs = SimSpan::from_secs;
        // The JobTracker takes the map for local, but the map reads from another rack at 25 MB/s,
        // after a minute.
        let from = Some(Copy { node: TrackerId(0), which: ReplicaChoice::Later(0) });
        let local = plan(None).work.alone;
        let far = plan(Some(InputReading { from, waits: secs(60) })).work.alone;
        assert_eq!(far, local - node.disk.time_for(Bytes::new(100_000_000)) + secs(4) + secs(60));
        let lost = plan(Some(InputReading { from: None, waits: secs(9) }));
        let fails = Some(FailurePoint::thrown(AttemptPhase::Work, secs(3)));
        assert_eq!((lost.work.alone, lost.breaks), (secs(9), fails));
        // After ten minutes the tracker's time-out ends the attempt.
        let long = plan(Some(InputReading { from: None, waits: secs(729) }));
        assert_eq!(long.work.alone, secs(600));
    }

    /// Returns a job from a trace: its reduce works for 3 s and then waits 2 s to commit.
    fn traced_job() -> JobSpec {
        let setup = ServiceTimes { takes: Some(SimSpan::from_millis(700)), localisation: None };
        let traced = Traced {
            commit_wait: SimSpan::from_secs(2),
            service: TracedService { setup, ..TracedService::default() },
            ..Traced::sample()
        };
        JobSpec { traced: Some(traced.into()), ..JobSpec::bare(0, 1, 1) }
    }

    #[test]
    fn a_logged_wait_for_the_commit_is_not_waited_for_twice() {
        let (node, mut costs) = costs(0.0);
        let launch = launch(traced_job(), TaskKind::Reduce, 0);
        let plan = costs.plan(&launch, TrackerId(0), &node, None);
        assert_eq!((plan.work.alone, plan.commits), (SimSpan::from_secs(3), true));
        costs.hadoop.commit_pending = CommitPending::None;
        let plan = costs.plan(&launch, TrackerId(0), &node, None);
        assert_eq!((plan.work.alone, plan.commits), (SimSpan::from_secs(5), false), "as logged");
    }

    #[test]
    fn a_setup_takes_its_logged_time_and_a_cleanup_without_one_the_usual_time() {
        let (node, costs) = costs(0.0);
        let plan = |kind| {
            let launch = launch(traced_job(), kind, 0);
            let plan = costs.plan(&launch, TrackerId(0), &node, None);
            (plan.start_up, plan.work.alone)
        };
        assert_eq!(plan(TaskKind::Setup), (SimSpan::ZERO, SimSpan::from_millis(700)));
        let usual = launch(JobSpec::bare(0, 1, 1), TaskKind::Cleanup, 0);
        let usual = costs.plan(&usual, TrackerId(0), &node, None);
        assert_eq!(plan(TaskKind::Cleanup), (usual.start_up, usual.work.alone));
    }

    #[test]
    fn traced_tasks_fail_as_often_as_the_faults_say() {
        let works = TracedTry {
            times: Some(TracedTimes { work: SimSpan::from_secs(9), ..TracedTimes::default() }),
            distance: 0,
            ..TracedTry::default()
        };
        let traced = Traced {
            maps: vec![[Some(works)].into(); 1_000],
            reduces: vec![[Some(TracedTry { fails: true, ..works })].into(); 1_000],
            ..Traced::sample()
        };
        let job = JobSpec { traced: Some(traced.into()), ..JobSpec::bare(0, 1_000, 1_000) };
        let failures = |share, kind| {
            let (node, costs) = costs(share);
            let breaks = |index| {
                costs.plan(&launch(job.clone(), kind, index), TrackerId(0), &node, None).breaks
            };
            (0..1_000).filter_map(breaks).map(|it| it.share).collect::<Vec<_>>()
        };
        assert!(failures(0.0, TaskKind::Map).is_empty());
        let drawn = failures(0.1, TaskKind::Map);
        assert!((70..130).contains(&drawn.len()), "{}", drawn.len());
        assert!(drawn.iter().all(|at| *at < 1.0));
        assert_eq!(failures(0.1, TaskKind::Reduce), [1.0; 1_000], "as the trace has it");
    }
}
