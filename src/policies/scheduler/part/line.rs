//! The jobs in line, and which of them may run: as many as their pools and users allow.

use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;

use super::limits::Limits;
use super::pool_tree::{PoolId, PoolTree};
use super::pools::Pools;
use mumakil_base::units::SimTime;
use mumakil_core::mapred::{Job, JobId, Priority, Reason, step};

/// Jobs by priority, then arrival, then number.
#[derive(Debug)]
pub struct Line {
    limits: Limits,
    jobs: BTreeMap<Turn, (PoolId, Arc<str>)>,
    /// Whether jobs have come or gone since it was last decided which may run.
    is_new: bool,
    /// The jobs that have come since, where nobody has to wait.
    entered: Vec<JobId>,
}

/// A job's place in line.
type Turn = (Priority, SimTime, JobId);

impl Line {
    /// Returns an empty line.
    pub fn new(pools: &Pools) -> Self {
        let limits = Limits::new(pools);
        Self { limits, jobs: BTreeMap::new(), is_new: false, entered: Vec::new() }
    }

    /// Returns whether some jobs may have to wait for others.
    pub fn is_limited(&self) -> bool {
        self.limits.are_there()
    }

    /// Returns why a job may not run: others have what is allowed, or, where all may run, it was not
    /// counted yet.
    pub fn refusal(&self) -> Reason {
        if self.is_limited() { Reason::JobLimit } else { Reason::NotCounted }
    }

    /// Lets a job stand in line for its pool.
    pub fn enter(&mut self, job: &Job, pool: PoolId) {
        let place = (job.priority(), job.submitted_at(), job.id());
        self.jobs.insert(place, (pool, job.spec().user.clone()));
        self.is_new = true;
        if !self.limits.are_there() {
            self.entered.push(job.id());
        }
    }

    /// Lets a job go that arrived at this instant.
    pub fn leave(&mut self, job: JobId, priority: Priority, arrived: SimTime) {
        self.is_new |= self.jobs.remove(&(priority, arrived, job)).is_some();
    }

    /// Says which jobs may run, if jobs have come or gone since this was last said: of each job where
    /// some may have to wait, else of those that have come.
    pub fn choose(&mut self, pools: &PoolTree, mut say: impl FnMut(JobId, bool)) {
        if !self.limits.are_there() {
            self.entered.drain(..).for_each(|job| say(job, true));
        } else if mem::take(&mut self.is_new) {
            let mut admission = self.limits.admit(pools);
            for ((.., job), (pool, user)) in &self.jobs {
                step();
                say(*job, admission.may_run(*pool, user));
            }
        }
    }
}
