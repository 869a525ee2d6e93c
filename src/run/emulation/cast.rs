//! The cores of a run, and the messages that start them.

use std::collections::BTreeSet;
use std::sync::Arc;

use rand::RngExt;

use super::{Prepared, policies::ActingPolicies};
use mumakil_base::random::mumak::JavaRandom;
use mumakil_base::random::{Purpose, stream};
use mumakil_base::units::{SimSpan, SimTime};
use mumakil_core::cluster::{Hdfs, ReadRates, Topology};
use mumakil_core::mapred::{
    ContendedResources, Core, Costs, Draws, Fabric, FaultInjector, HeartbeatManner, JobTracker,
    JobTrackerOptions, Mail, MapOutputs, NameNode, NotedRefusals, ReplicationUpkeep, Scheduler,
    TaskTracker, ToInjector, ToJobTracker, ToTracker, TrackerId, TrueDurations,
};
use mumakil_runtime::{Links, OpeningMail, RunCores};
use mumakil_scenario::fault::Effects;
use mumakil_scenario::workload::{JobInjector, Submission, SubmissionWay, Workload};
use mumakil_scenario::{LaterChange, Scenario};

/// Returns the cores of a scenario, and the messages that start them.
pub(super) fn assemble(
    prepared: &Prepared,
    effects: Effects<'_>,
    mut policies: ActingPolicies,
    is_watched: bool,
) -> (RunCores, OpeningMail) {
    let Prepared { scenario, topology, workload, .. } = prepared;
    let (seed, hadoop, cluster) = (scenario.seed, &scenario.hadoop, &scenario.cluster);
    let has_map_outputs = effects.may_lose_outputs();
    // Only faults change the copies of blocks, so a run whose faults lose no blocks needs no
    // NameNode. Mumak's model has no file system: its traces say where blocks are.
    let has_name_node = effects.may_lose_blocks() && hadoop.behaviour().has_files;
    let hdfs = Hdfs::of(seed, topology.clone(), &cluster.hdfs);
    let shared = ContendedResources::new(seed, cluster, topology.clone(), hdfs.clone());
    let fabric = shared.as_ref().map(|shared| boxed(Fabric::new(&shared.resources)));
    let has_fabric = fabric.is_some();
    let may_slow_down = effects.slow_down();
    let costs = Arc::new(Costs {
        seed,
        hadoop: hadoop.clone(),
        rates: ReadRates::new(cluster),
        topology: topology.clone(),
        planned_failures: effects.planned_failures,
        shared,
        may_slow_down,
    });
    policies.foresee(&costs);
    let name_node =
        has_name_node.then(|| boxed(name_node(prepared, &hdfs).without(effects.absent.clone())));
    let job_tracker = JobTracker::new(
        hadoop.clone(),
        topology.clone(),
        hdfs,
        cluster.jobtracker.clone(),
        Box::new(policies.first),
        JobTrackerOptions {
            seed: Some(seed),
            successors: policies.successors.into_iter().map(|it| Box::new(it) as _).collect(),
            reloads: policies.reloads,
            refusals: match () {
                () if scenario.record.decisions => NotedRefusals::Emitted,
                () if scenario.outputs().decisions => NotedRefusals::OfRoom,
                () if is_watched => NotedRefusals::Watched,
                () => NotedRefusals::None,
            },
            // Only the STRESS submission asks for the progress of all maps.
            follows_maps: workload.submission == Submission::Stress,
            tells_standings: scenario.record.shares,
            tells_outputs: has_map_outputs,
            may_hear_twice: effects.resends,
            forgoes_progress: true,
        },
    );
    let manner = HeartbeatManner {
        resends: effects.resends,
        // A brief heartbeat says "as before", which a restarted JobTracker cannot understand.
        is_brief: job_tracker.forgoes_progress() && effects.restarts.is_empty(),
        asks_outputs: has_map_outputs,
    };
    let trackers = topology.nodes().zip(phases(scenario, topology)).map(|((id, node), phase)| {
        boxed(TaskTracker::new(id, node.clone(), costs.clone(), phase, manner))
    });
    let mishaps = effects.mishaps;
    let nature = (!mishaps.is_empty()).then(|| {
        let nature = FaultInjector::new(topology.len(), mishaps, has_fabric);
        boxed(if has_name_node { nature.tell_name_node() } else { nature })
    });
    let cast = RunCores {
        nature,
        name_node,
        map_outputs: has_map_outputs.then(|| boxed(MapOutputs::default())),
        job_tracker: Box::new(job_tracker),
        injector: Box::new(JobInjector::new(workload.clone())),
        trackers: trackers.collect(),
        fabric,
    };
    (cast, opening(prepared, &effects.absent, effects.opening, has_name_node))
}

fn name_node(prepared: &Prepared, hdfs: &Hdfs) -> NameNode {
    let Prepared { scenario, topology, workload, .. } = prepared;
    let jobs = workload.arrivals.iter().map(|arrival| arrival.spec.clone()).collect();
    let upkeep = ReplicationUpkeep {
        dead_after: scenario.cluster.hdfs.dead_after(),
        pace: scenario.cluster.re_replication(),
    };
    NameNode::new(scenario.seed, hdfs.clone(), topology.len(), upkeep, jobs)
}

/// Returns when each tracker sends its first heartbeat. If the scenario sets no `heartbeat_phase`,
/// the first heartbeats are spread over one interval.
fn phases(scenario: &Scenario, topology: &Topology) -> Vec<SimSpan> {
    let hadoop = &scenario.hadoop;
    let spread = hadoop.heartbeat_phase.or(hadoop.heartbeat_interval(topology.len()));
    // Mumak draws all phases from one generator, in the order of the trackers.
    let mut java = JavaRandom::of_phases(scenario.seed);
    let phases = topology.nodes().map(|(id, _)| match hadoop.draws {
        Draws::Own => {
            // Each tracker has a random stream of its own: adding a node does not change other
            // phases.
            let mut rng = stream(scenario.seed, Purpose::Phase, u64::from(id.0));
            SimSpan::from_micros(rng.random_range(0..=spread.as_micros()))
        }
        Draws::Mumak => {
            // Java's `nextInt` takes a positive `int`, here of milliseconds.
            let millis = i32::try_from(spread.as_millis()).unwrap_or(i32::MAX);
            SimSpan::from_millis(java.below(millis.max(1)) as u64)
        }
    });
    phases.collect()
}

impl ActingPolicies {
    /// Tells the true durations of tasks to the policies that are to know them.
    fn foresee(&mut self, costs: &Arc<Costs>) {
        // Any node will do: `TrueDurations` copies the node and sets the speed of the copy to one.
        let Some((_, node)) = costs.topology.nodes().next() else { return };
        let truth = TrueDurations::new(costs.clone(), node);
        let policies = std::iter::once(&mut self.first).chain(&mut self.successors);
        policies.filter(|policy| policy.needs().truth).for_each(|policy| policy.foresee(&truth));
    }
}

fn boxed<C: Core + 'static>(core: C) -> Box<dyn Core<Msg = C::Msg>> {
    Box::new(core)
}

/// Returns the messages that start a run: machines start, jobs arrive, faults happen, users act.
fn opening(
    prepared: &Prepared,
    absent: &BTreeSet<TrackerId>,
    faults: OpeningMail,
    has_name_node: bool,
) -> OpeningMail {
    let Prepared { scenario, topology, workload, .. } = prepared;
    // A node that joins later is powered on by a message of the fault that adds it.
    let present = topology.nodes().filter(|(id, _)| !absent.contains(id));
    let start = present.map(|(id, _)| (SimTime::ZERO, Mail::Tracker(id, ToTracker::PowerOn)));
    // One message starts the injector; it then sets its own timer for each next job.
    let arrive = (SimTime::ZERO, ToInjector::Arrive.into());
    // This message comes last: the policy's clock starts after all other events of instant zero.
    let ticks_last = scenario.hadoop.behaviour().ticks_last;
    let tick = ticks_last.then(|| (SimTime::ZERO, ToJobTracker::Start.into()));
    (start.chain([arrive]).chain(faults))
        // Without a NameNode, mail to it would have no receiver.
        .filter(|(_, mail)| has_name_node || !matches!(mail, Mail::NameNode(_)))
        .chain(later(scenario, workload))
        .chain(tick)
        .collect()
}

/// Returns the messages for the actions of users during the run: submitting jobs, changing the
/// policy or what it goes by, ending tasks.
fn later(scenario: &Scenario, workload: &Workload) -> OpeningMail {
    // The injector submits the other jobs by itself.
    let jobs = (workload.arrivals.iter())
        .filter(|arrival| arrival.way == SubmissionWay::Later)
        .map(|arrival| (arrival.delay, ToInjector::Submit(arrival.spec.id).into()));
    let changes = LaterChange::policies(&scenario.later)
        .map(|(at, _)| (at, ToJobTracker::ChangePolicy.into()));
    let reloads = (LaterChange::course(&scenario.later, &scenario.scheduler).into_iter())
        .filter(|step| !step.takes_over)
        .map(|step| (step.at, ToJobTracker::Reload.into()));
    (jobs.chain(changes).chain(reloads).map(|(at, mail)| (SimTime::ZERO + at, mail)))
        .chain(LaterChange::mail(&scenario.later, workload))
        .collect()
}

pub(super) fn links(scenario: &Scenario, topology: &Topology, effects: &Effects<'_>) -> Links {
    Links {
        loss: effects.loss,
        duplication: effects.duplication,
        late: effects.late,
        late_by: effects.late_by.clone(),
        cuts: effects.cuts.clone(),
        ..Links::new(scenario.seed, &scenario.cluster.network, topology)
    }
}
