//! `tasks.csv`.

use super::cell::{CellText, words};
use crate::{table, worded};
use mumakil_core::mapred::{Locality, Outcome, SlotKind, TaskKind};

table! {
    /// A row for each attempt. Times and phases are as the tracker saw them; the outcome is the
    /// JobTracker's verdict.
    #[derive(Default)]
    "tasks.csv" pub struct AttemptRow {
        /// The number of its job.
        job: u32,
        /// The work of its task.
        #[key = "kind"]
        kind: AttemptKind,
        /// The number of its task, among those of the job and kind.
        task: u32,
        /// Its own number, among the attempts of the task.
        attempt: u32,
        /// The node on which it ran.
        #[key = "node"]
        node: CellText,
        /// The rack of the node.
        #[key = "rack"]
        rack: CellText,
        /// How far its input was from its node; empty without input.
        #[key = "locality"]
        locality: Option<Locality>,
        /// How many slots it held.
        slots: u32,
        /// When the JobTracker decided to launch it.
        launch_ms: Option<u64>,
        /// When it started.
        #[quantity = "attempt.start"]
        start_ms: Option<u64>,
        /// How long its process took to start.
        start_up_ms: Option<u64>,
        /// How long a reduce fetched outputs of maps.
        shuffle_ms: Option<u64>,
        /// How much of that it held its slot while maps of its job had still to end.
        #[quantity = "attempt.maps_wait"]
        maps_wait_ms: Option<u64>,
        /// How long a reduce sorted.
        sort_ms: Option<u64>,
        /// When it ended.
        #[quantity = "attempt.finish"]
        finish_ms: Option<u64>,
        /// When the JobTracker learned of its end.
        heard_ms: Option<u64>,
        /// From the end of its work to the end of its commit.
        #[quantity = "attempt.commit"]
        commit_ms: Option<u64>,
        /// How long it was suspended.
        #[quantity = "attempt.suspended"]
        suspended_ms: Option<u64>,
        /// How it ended.
        #[key = "outcome"]
        outcome: AttemptEnd,
        /// Whether it is a second attempt of a task that was already running.
        speculative: Option<bool>,
        /// The code of the reason for which it was launched.
        code: CellText,
        /// The rank of its job in the order of the policy.
        place: Option<u32>,
        /// How long its job had waited for locality.
        waited_ms: Option<u64>,
        /// The slots that its pool, queue or job held.
        held: Option<u32>,
        /// The share with which the policy compared these slots.
        share: Option<f64>,
        /// The minimum share, if it was the reason.
        min_share: Option<u32>,
        /// The code of the reason for which it was killed.
        killed_code: CellText,
        /// The job for which it was killed.
        killed_for_job: Option<u32>,
        /// The slots that its own pool, queue or job held when it was killed.
        killed_held: Option<u32>,
        /// The share with which the policy compared the slots held at the kill.
        killed_share: Option<f64>,
        /// Why it was launched, in words.
        #[key = "reason"]
        reason: CellText,
        /// When it was suspended, in milliseconds: `3000-4500 7000-`. After a thousand suspensions,
        /// those before the last have one entry, with their number and their sum:
        /// `9000-80000/250/42000`.
        suspensions: CellText,
    }
}

worded! {
    /// The work of an attempt's task.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
    pub enum AttemptKind {
        /// A map.
        #[default]
        Map = "map",
        /// A reduce.
        Reduce = "reduce",
        /// A job's setup task.
        Setup = "setup",
        /// A job's cleanup task.
        Cleanup = "cleanup",
        /// The removal of a map's output.
        MapCleanup = "map-cleanup",
        /// The removal of a reduce's output.
        ReduceCleanup = "reduce-cleanup",
    }
}

words!(AttemptKind: Map Reduce Setup Cleanup MapCleanup ReduceCleanup);

impl AttemptKind {
    /// Returns the kind of attempt that removes an output in a slot of this kind.
    pub const fn removal(slot: SlotKind) -> Self {
        match slot {
            SlotKind::Map => Self::MapCleanup,
            SlotKind::Reduce => Self::ReduceCleanup,
        }
    }

    /// Returns the kind of slot that such an attempt holds; `task` is the number of its task. A job
    /// has a setup and a cleanup task for each kind of slot.
    pub const fn slot(self, task: u32) -> SlotKind {
        match (self, task) {
            // Hadoop numbers the two setup tasks of a job 0 for a map slot and 1 for a reduce slot.
            (Self::Map | Self::MapCleanup, _) | (Self::Setup | Self::Cleanup, 0) => SlotKind::Map,
            _ => SlotKind::Reduce,
        }
    }

    /// Returns the kind of its task; `None` for the removal of an output.
    pub const fn task(self) -> Option<TaskKind> {
        match self {
            Self::Map => Some(TaskKind::Map),
            Self::Reduce => Some(TaskKind::Reduce),
            Self::Setup => Some(TaskKind::Setup),
            Self::Cleanup => Some(TaskKind::Cleanup),
            Self::MapCleanup | Self::ReduceCleanup => None,
        }
    }
}

/// The map or reduce in a slot of this kind.
impl From<SlotKind> for AttemptKind {
    fn from(kind: SlotKind) -> Self {
        match kind {
            SlotKind::Map => Self::Map,
            SlotKind::Reduce => Self::Reduce,
        }
    }
}

impl From<TaskKind> for AttemptKind {
    fn from(kind: TaskKind) -> Self {
        match kind {
            TaskKind::Map => Self::Map,
            TaskKind::Reduce => Self::Reduce,
            TaskKind::Setup => Self::Setup,
            TaskKind::Cleanup => Self::Cleanup,
        }
    }
}

worded! {
    /// How an attempt ended.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum AttemptEnd {
        /// It succeeded.
        Succeeded = "succeeded",
        /// It failed.
        Failed = "failed",
        /// It was killed.
        Killed = "killed",
        /// Its output was lost after its success.
        Lost = "lost",
        /// It had not ended when the run stopped.
        #[default]
        Unfinished = "unfinished",
    }
}

words!(AttemptEnd: Succeeded Failed Killed Lost Unfinished);

impl From<Outcome> for AttemptEnd {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Succeeded => Self::Succeeded,
            Outcome::Failed => Self::Failed,
            Outcome::Killed => Self::Killed,
        }
    }
}

impl AttemptRow {
    /// Returns the kind of slot that it held.
    pub const fn slot(&self) -> SlotKind {
        self.kind.slot(self.task)
    }
}
