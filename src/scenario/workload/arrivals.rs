//! The jobs of a run: when each is submitted, what it waits for, and what of a trace is not there.

use std::sync::Arc;

use super::submission::Submission;
use mumakil_base::units::SimSpan;
use mumakil_core::mapred::JobSpec;

/// The jobs of a run.
#[derive(Clone, Debug)]
pub struct Workload {
    /// By number.
    pub arrivals: Vec<Arrival>,
    /// For each batch, none of which is empty, the batches that must have ended before.
    pub follows: Vec<Vec<BatchId>>,
    /// The name of each batch.
    pub names: Vec<String>,
    /// When jobs are submitted.
    pub submission: Submission,
    /// When the first job is submitted, if the jobs are not submitted at their own times.
    pub start: SimSpan,
    /// Jobs that are submitted before this are in no statistics.
    pub warm_up: SimSpan,
    /// The parts of a trace that are not in these jobs, and why.
    pub left_out: Vec<String>,
    /// Whether two probes of the load at one instant submit two jobs, as in Mumak's stress
    /// submission.
    pub looks_twice: bool,
}

/// A job and when it is submitted.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// The job.
    pub spec: Arc<JobSpec>,
    /// Where it stands among jobs that are due at one instant.
    pub place: u32,
    /// The batch that it is of.
    pub batch: BatchId,
    /// When it is submitted: after the beginning, or after the last job that its batch follows.
    pub delay: SimSpan,
    /// The way of submission.
    pub way: SubmissionWay,
}

/// The way in which a job is submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubmissionWay {
    /// The clients of the workload, as its pacing says.
    Paced,
    /// The warm start, at the very beginning.
    Warm,
    /// A change of `later`, at its instant, [whatever](mumakil_core::mapred::ToInjector::Submit)
    /// the pacing is.
    Later,
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
