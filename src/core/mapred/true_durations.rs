//! How long tasks really take. A real JobTracker cannot know these durations. They are used by
//! oracle policies, and for estimates that are wrong on purpose.

use std::sync::Arc;

use crate::cluster::{Node, SlotKind, TrackerId};
use crate::mapred::cost::Costs;
use crate::mapred::heartbeat::LaunchOrder;
use crate::mapred::ids::TaskId;
use crate::mapred::job::Job;
use mumakil_base::random::{ChaCha8Rng, Purpose, stream};
use mumakil_base::units::{Factor, SimSpan};

/// How long tasks really take.
#[derive(Clone, Debug)]
pub struct TrueDurations {
    costs: Arc<Costs>,
    /// The node to which all durations refer: its speed is 1, and it holds every input.
    node: Node,
}

impl TrueDurations {
    /// Returns the true durations in a cluster of nodes like this one.
    pub fn new(costs: Arc<Costs>, node: &Node) -> Self {
        // Nodes may differ in speed, and the size of a job must not depend on which node comes
        // first.
        Self { costs, node: Node { speed: Factor::ONE, ..node.clone() } }
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
        let attempt = TaskId { job: job.id(), kind: kind.into(), index }.attempt(0);
        let launch = LaunchOrder::work(attempt, job.spec.clone());
        // A plan needs a tracker. If attempts share no disks, wires or cores (`Costs::shared`), the
        // tracker only decides how much of a shuffle stays in the rack.
        let plan = self.costs.plan(&launch, TrackerId(0), &self.node, None);
        plan.start_up + plan.shuffle.alone + plan.sort.alone + plan.work.alone
    }

    /// Returns the random stream of a purpose for a number.
    pub fn stream(&self, purpose: Purpose, subject: u64) -> ChaCha8Rng {
        stream(self.costs.seed, purpose, subject)
    }
}
