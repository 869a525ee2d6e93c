//! The jobs of a run: when each is submitted, which jobs it waits for, and which parts of a trace
//! are left out.

use std::sync::Arc;

use super::submission::Submission;
use mumakil_base::units::SimSpan;
use mumakil_core::mapred::{JobId, JobSpec};

/// The jobs of a run.
#[derive(Clone, Debug)]
pub struct Workload {
    /// The jobs, by number.
    pub arrivals: Vec<Arrival>,
    /// For each batch, the batches that must have ended before. No batch is empty.
    pub follows: Vec<Vec<BatchId>>,
    /// The name of each batch.
    pub names: Vec<String>,
    /// The mode of submission.
    pub submission: Submission,
    /// When the first job is submitted, if jobs are not submitted at their own times.
    pub start: SimSpan,
    /// Jobs that are submitted before this time are left out of statistics.
    pub warm_up: SimSpan,
    /// The parts of a trace that are left out, and why.
    pub left_out: Vec<String>,
    /// Whether two probes of the load at one instant submit two jobs, as in Mumak's stress
    /// submission.
    pub looks_twice: bool,
}

impl Workload {
    /// Returns the jobs with a name: one job, or all jobs of an entry with a count.
    pub fn named<'w>(&'w self, name: &str) -> impl Iterator<Item = JobId> + use<'w> {
        // Try names of entries first: `load` with a count means all of its jobs, `load-2` one of
        // them.
        let batch = self.names.iter().position(|other| other == name);
        let name = name.to_owned();
        let meant = self.arrivals.iter().filter(move |job| match batch {
            Some(batch) => job.batch.index() == batch,
            None => *job.spec.name == *name,
        });
        meant.map(|job| job.spec.id)
    }
}

/// A job and when it is submitted.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// The job.
    pub spec: Arc<JobSpec>,
    /// The position of the job among jobs that are due at the same instant.
    pub place: u32,
    /// The batch of the job.
    pub batch: BatchId,
    /// When the job is submitted: the time since the beginning, or since the last end of a job that
    /// its batch follows.
    pub delay: SimSpan,
    /// The way in which the job is submitted.
    pub way: SubmissionWay,
}

/// The way in which a job is submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubmissionWay {
    /// By the clients of the workload, according to the pacing.
    Paced,
    /// By the warm start, at the very beginning.
    Warm,
    /// By a change of `later`, at its time, [whatever](mumakil_core::mapred::ToInjector::Submit)
    /// the pacing is.
    Later,
}

/// A batch: the jobs of one entry of a list. They wait for the same batches, and other batches wait
/// for all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchId(pub u32);

impl BatchId {
    /// Returns the index into vectors of batches.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}
