//! Estimators: they say how large a job is, for policies that order jobs by size.

use std::collections::BTreeMap;

use super::View;
use crate::cluster::SlotKind;
use crate::mapred::ids::JobId;
use crate::mapred::job::Job;
use mumakil_base::units::SimSpan;

/// Estimates how much work jobs are.
pub trait SizeEstimator: Send {
    /// Learns that a task of a job has succeeded, and how long it worked.
    fn task_done(&mut self, _job: JobId, _kind: SlotKind, _took: SimSpan) {}

    /// Learns that a job is over.
    fn job_over(&mut self, _job: JobId) {}

    /// Returns the work of all tasks of one kind of a job, in seconds, those included that have
    /// ended. Asked when the tasks arrive, and again when the job's sample is measured.
    fn work(&mut self, known: &KnownJob<'_>) -> f64;
}

/// The facts from which the size of a job is estimated.
#[derive(Clone, Copy)]
pub struct KnownJob<'k> {
    /// The cluster as the JobTracker sees it.
    pub view: &'k View<'k>,
    /// The job.
    pub job: &'k Job,
    /// The kind of the tasks.
    pub kind: SlotKind,
    /// How long each task of the sample takes; empty before the sample is measured.
    pub sample: &'k [SimSpan],
}

/// The estimators that a program adds to Mumakil, by the names that scenarios use.
pub type SizeEstimators = BTreeMap<&'static str, fn() -> Box<dyn SizeEstimator>>;
