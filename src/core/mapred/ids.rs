//! The ids of jobs, tasks and attempts: dense numbers, each of its own type, that index vectors.

use std::fmt;

use crate::cluster::SlotKind;
use mumakil_base::worded;

/// A job, numbered in the order of the workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(pub u32);

worded! {
    /// The kind of a task.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum TaskKind {
        /// Reads a split of the input.
        Map = "map",
        /// Fetches, sorts and reduces the output of the maps.
        Reduce = "reduce",
        /// Prepares the job's output folder before the first map.
        Setup = "setup",
        /// Cleans up after the last task.
        Cleanup = "cleanup",
    }
}

/// A task of a job.
///
/// A job has two setup and two cleanup tasks: number 0 for a map slot, number 1 for a reduce slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId {
    /// The job.
    pub job: JobId,
    /// The kind of work.
    pub kind: TaskKind,
    /// The number among the job's tasks of the kind, from 0.
    pub index: u32,
}

/// One try of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttemptId {
    /// The task.
    pub task: TaskId,
    /// The number of the attempt, from 0.
    pub number: u32,
}

/// Maps run in map slots, reduces in reduce slots.
impl From<SlotKind> for TaskKind {
    fn from(kind: SlotKind) -> Self {
        match kind {
            SlotKind::Map => Self::Map,
            SlotKind::Reduce => Self::Reduce,
        }
    }
}

impl JobId {
    /// Returns the position in a vector of jobs.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl TaskId {
    /// Returns the kind of slot that the task runs in.
    pub const fn slot(self) -> SlotKind {
        match (self.kind, self.index) {
            (TaskKind::Map, _) | (TaskKind::Setup | TaskKind::Cleanup, 0) => SlotKind::Map,
            (TaskKind::Reduce | TaskKind::Setup | TaskKind::Cleanup, _) => SlotKind::Reduce,
        }
    }

    /// Returns an attempt of this task.
    pub const fn attempt(self, number: u32) -> AttemptId {
        AttemptId { task: self, number }
    }

    /// Returns whether this is a map or a reduce: only they count as tasks of the job.
    pub const fn is_work(self) -> bool {
        matches!(self.kind, TaskKind::Map | TaskKind::Reduce)
    }
}

impl AttemptId {
    /// Returns the job.
    pub const fn job(self) -> JobId {
        self.task.job
    }

    /// Returns the kind of slot that the attempt runs in.
    pub const fn slot(self) -> SlotKind {
        self.task.slot()
    }
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "job {}", self.0)
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.job, self.kind.word(), self.index)
    }
}

impl fmt::Display for AttemptId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} attempt {}", self.task, self.number)
    }
}
