//! How long tasks really take. A real JobTracker cannot know these durations; only oracle policies
//! use them.

use std::sync::Arc;

use crate::cluster::{ClusterSpec, Node, ReadRates, SlotKind, Topology, TrackerId};
use crate::mapred::cost::{AttemptPlan, Costs};
use crate::mapred::hadoop::Hadoop;
use crate::mapred::heartbeat::LaunchOrder;
use crate::mapred::ids::TaskId;
use crate::mapred::job::Job;
use crate::mapred::spec::JobSpec;
use mumakil_base::units::{Factor, Quantity as _, SimSpan};

/// The most tasks of a job and kind that a mean walks.
// Chosen: the tasks of a job differ by a fifth in the bundled workloads, so the mean of 32 is within
// 4 %, and the errors of a hundred jobs cancel out. A job may have millions of tasks.
const MOST_SAMPLES: u32 = 32;

/// How long tasks really take.
#[derive(Clone, Debug)]
pub struct TrueDurations {
    costs: Arc<Costs>,
    /// The node to which all durations refer: it holds every input, and its speed is 1 unless the
    /// durations are those of a usual node.
    node: Node,
}

impl TrueDurations {
    /// Returns the true durations in a cluster of nodes like this one.
    pub fn new(costs: Arc<Costs>, node: &Node) -> Self {
        // Nodes may differ in speed, and the size of a job must not depend on which node comes
        // first.
        Self { costs, node: Node { speed: Factor::ONE, ..node.clone() } }
    }

    /// Returns the durations on the usual node of a cluster: its speed is the mean speed of all
    /// slots. Nothing is shared, and no attempt fails. `None` without nodes.
    pub fn usual(
        seed: u64,
        hadoop: &Hadoop,
        cluster: &ClusterSpec,
        topology: &Arc<Topology>,
    ) -> Option<Self> {
        let (_, first) = topology.nodes().next()?;
        let slots = |node: &Node| f64::from(node.slots.map) + f64::from(node.slots.reduce);
        let all: f64 = topology.nodes().map(|(_, node)| slots(node)).sum();
        let fast: f64 = topology.nodes().map(|(_, node)| slots(node) * node.speed.get()).sum();
        let speed = Factor::new(fast / all).unwrap_or(first.speed);
        let costs = Costs {
            seed,
            hadoop: hadoop.clone(),
            rates: ReadRates::new(cluster),
            topology: topology.clone(),
            planned_failures: Vec::new(),
            shared: None,
            may_slow_down: false,
        };
        Some(Self { costs: Arc::new(costs), node: Node { speed, ..first.clone() } })
    }

    /// Returns the sum of the durations of all tasks of a kind, each alone on a node of speed 1
    /// with its input on it. Walks the tasks.
    pub fn work(&self, job: &Job, kind: SlotKind) -> SimSpan {
        let total = job.tasks(kind).total();
        (0..total)
            .map(|index| self.task(job, kind, index))
            .fold(SimSpan::ZERO, |all, one| all + one)
    }

    /// Returns the duration of one task, alone on a node of speed 1 with its input on it.
    pub fn task(&self, job: &Job, kind: SlotKind, index: u32) -> SimSpan {
        self.task_of(&job.spec, kind, index)
    }

    /// Returns the mean duration of a job's tasks of a kind, as of [`Self::task`]; zero without
    /// tasks. Walks at most 32 tasks, evenly spread.
    pub fn mean_task(&self, job: &Arc<JobSpec>, kind: SlotKind) -> SimSpan {
        let tasks = match kind {
            SlotKind::Map => job.maps,
            SlotKind::Reduce => job.reduces,
        };
        let samples = tasks.min(MOST_SAMPLES);
        let micros = (0..samples).map(|sample| {
            let index = u64::from(sample) * u64::from(tasks) / u64::from(samples);
            self.task_of(job, kind, index as u32).as_f64()
        });
        SimSpan::from_f64(micros.sum::<f64>() / f64::from(samples.max(1)))
    }

    /// Returns how long one reduce fetches if all maps have ended, a part of [`Self::task`].
    pub fn shuffle(&self, job: &Job, index: u32) -> SimSpan {
        self.shuffle_of(&job.spec, index)
    }

    /// As [`Self::shuffle`], of a job that is not submitted yet.
    pub fn shuffle_of(&self, job: &Arc<JobSpec>, index: u32) -> SimSpan {
        self.plan(job, SlotKind::Reduce, index).shuffle.alone
    }

    /// As [`Self::task`], of a job that is not submitted yet.
    pub fn task_of(&self, job: &Arc<JobSpec>, kind: SlotKind, index: u32) -> SimSpan {
        let plan = self.plan(job, kind, index);
        plan.start_up + plan.shuffle.alone + plan.sort.alone + plan.work.alone
    }

    fn plan(&self, job: &Arc<JobSpec>, kind: SlotKind, index: u32) -> AttemptPlan {
        let attempt = TaskId { job: job.id, kind: kind.into(), index }.attempt(0);
        let launch = LaunchOrder::work(attempt, job.clone());
        // A plan needs a tracker. If attempts share no disks, wires or cores (`Costs::shared`), the
        // tracker only decides how much of a shuffle stays in the rack.
        self.costs.plan(&launch, TrackerId(0), &self.node, None)
    }
}
