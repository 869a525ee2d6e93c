//! The jobs of a run: when each is submitted, what it waits for, and what of a trace is not there.

use std::fmt;
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
    /// When the first one is, unless each has its time.
    pub start: SimSpan,
    /// Jobs that are submitted before this are in no statistics.
    pub warm_up: SimSpan,
    /// What of a trace is not in these jobs, and why.
    pub left_out: Vec<LeftOut>,
    /// Whether two looks at the load at one instant submit two jobs.
    pub looks_twice: bool,
}

/// What of a trace is not in the jobs of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LeftOut {
    /// So many jobs were killed or have nothing to run.
    Empty(u64),
    /// So many records are broken, and the scenario does not mind.
    Broken(u64),
    /// Some hosts are none of the cluster's nodes: what lies there is nowhere near.
    Hosts {
        /// How many.
        hosts: u64,
        /// The first of them.
        first: String,
        /// The line at which the first job begins that speaks of it.
        line: u64,
        /// That job.
        job: String,
    },
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty(1) => f.write_str("a job of the trace without work is left out"),
            Self::Empty(jobs) => {
                write!(
                    f,
                    "{jobs} jobs of the trace that were killed or have nothing to run are left out"
                )
            }
            Self::Broken(1) => f.write_str("a broken record of the trace is left out"),
            Self::Broken(records) => {
                write!(f, "{records} broken records of the trace are left out")
            }
            Self::Hosts { hosts, first, line, job } => {
                let (s, are) = if *hosts == 1 { ("", "is no node") } else { ("s", "are no nodes") };
                write!(
                    f,
                    "{hosts} host{s} of the trace {are} of the cluster, so nothing lies there: \
                     first {first:?} in line {line}, job {job:?}"
                )
            }
        }
    }
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
    /// Who submits it.
    pub way: Way,
}

/// Who submits a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The clients of the workload, as its pacing says.
    Paced,
    /// The warm start, at the very beginning.
    Warm,
    /// Somebody at its instant, [whatever](mumakil_core::mapred::ToInjector::Submit) the pacing says.
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
