//! What arrives: jobs, and the injector that submits them.

mod injector;
mod jobs;
mod submission;

use std::sync::Arc;

use crate::mapred::JobSpec;
use crate::units::SimSpan;

pub use injector::JobInjector;
pub(crate) use jobs::in_order;
pub use jobs::{JobEntry, Penalty};
pub use submission::Submission;

/// The jobs of a run.
#[derive(Clone, Debug)]
pub struct Workload {
    /// By number.
    pub arrivals: Vec<Arrival>,
    /// For each batch, none of which is empty, the batches that must have ended before.
    pub follows: Vec<Vec<BatchId>>,
    /// When jobs are submitted.
    pub submission: Submission,
    /// When the first one is, unless each has its time.
    pub start: SimSpan,
}

/// A job and when it is submitted.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// The job.
    pub spec: Arc<JobSpec>,
    /// The batch that it is of.
    pub batch: BatchId,
    /// When it is submitted: after the beginning, or after the last job that its batch follows.
    pub delay: SimSpan,
}

/// Jobs that wait, and are waited for, together: those of one entry of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchId(pub u32);

impl BatchId {
    /// Returns the index into tables of batches.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}
