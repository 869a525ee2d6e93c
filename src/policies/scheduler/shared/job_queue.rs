//! The queue of jobs. A job may run while the limits of its user, of its pool, and of the pools
//! around its pool leave room.

use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::FxHashMap;

use super::pool_tree::{PoolId, PoolTree};
use super::pools::{Pool, Pools};
use mumakil_base::mutated;
use mumakil_base::units::SimTime;
use mumakil_core::mapred::{Job, JobId, Priority, Reason, step};

/// The jobs, ordered by priority, then arrival, then number.
#[derive(Debug)]
pub struct JobQueue {
    /// Whether any pool or user has a limit, so that some jobs may have to wait for others.
    pub is_limited: bool,
    pools: Pools,
    jobs: BTreeMap<LineTurn, (PoolId, Arc<str>)>,
    /// Whether jobs have come or ended since the last call of [`JobQueue::choose`].
    is_new: bool,
    /// The jobs that have come since the last call of [`JobQueue::choose`]; used only without
    /// limits.
    entered: Vec<JobId>,
}

type LineTurn = (Priority, SimTime, JobId);

impl JobQueue {
    /// Returns an empty queue.
    pub fn new(pools: &Pools) -> Self {
        // By default Hadoop has no limits, so `choose` need not walk along the queue.
        let (jobs, entered) = (BTreeMap::new(), Vec::new());
        Self { is_limited: limits(pools), pools: pools.clone(), jobs, is_new: false, entered }
    }

    /// Reads the limits again; the next call of [`JobQueue::choose`] reports every job.
    pub fn reload(&mut self, pools: &Pools) {
        (self.is_limited, self.pools, self.is_new) = (limits(pools), pools.clone(), true);
        self.entered = match self.is_limited {
            true => Vec::new(),
            false => self.jobs.keys().map(|(.., job)| *job).collect(),
        };
    }

    /// Returns why a job may not run yet: because of a limit or, without limits, because it came
    /// after the last call of [`JobQueue::choose`].
    pub fn refusal(&self) -> Reason {
        if self.is_limited { Reason::JobLimit } else { Reason::NotCounted }
    }

    /// Adds a job, which belongs to a pool.
    pub fn enter(&mut self, job: &Job, pool: PoolId) {
        let turn = (job.priority(), job.submitted_at(), job.id());
        self.stand(turn, pool, &job.spec().user);
    }

    fn stand(&mut self, turn: LineTurn, pool: PoolId, user: &Arc<str>) {
        self.jobs.insert(turn, (pool, user.clone()));
        self.is_new = true;
        if !self.is_limited {
            // Without limits no job affects others, so `choose` reports only the new jobs.
            self.entered.push(turn.2);
        }
    }

    /// Removes a job that arrived at `arrived` and has this priority.
    pub fn leave(&mut self, job: JobId, priority: Priority, arrived: SimTime) {
        // The end of a job may make room for another, so the next call of `choose` walks the queue.
        self.is_new |= self.jobs.remove(&(priority, arrived, job)).is_some();
    }

    /// If jobs have come or ended since the last call, reports for each job whether it may run.
    /// Without limits, reports only the new jobs.
    pub fn choose(&mut self, tree: &PoolTree, mut say: impl FnMut(JobId, bool)) {
        if !self.is_limited {
            self.entered.drain(..).for_each(|job| say(job, true));
        } else if mem::take(&mut self.is_new) {
            let mut in_pool = vec![0; tree.ids().count()];
            let mut of_users: FxHashMap<&str, u32> = FxHashMap::default();
            // As in Hadoop, jobs at the front of the queue are admitted first.
            for ((.., job), (pool, user)) in &self.jobs {
                step();
                let of_user = of_users.entry(user).or_default();
                // A job needs room in all pools around it.
                let may_run = tree
                    .upwards(*pool)
                    .take(mutated!(usize::MAX, "queue/inner-limit-alone" => 1))
                    .all(|id: PoolId| in_pool[id.index()] < tree.pool(id).max_jobs)
                    && mutated!(
                        *of_user < self.pools.jobs_of_user(user),
                        "queue/no-limit-of-users" => true,
                    );
                if mutated!(may_run, "queue/waiting-jobs-count" => true) {
                    *of_user += 1;
                    tree.upwards(*pool).for_each(|id| in_pool[id.index()] += 1);
                }
                say(*job, may_run);
            }
        }
    }
}

fn limits(pools: &Pools) -> bool {
    pools.user_max_jobs.is_some()
        || pools.pool_max_jobs.is_some()
        || pools.users.values().any(|user| user.max_jobs.is_some())
        || limits_a_pool(&pools.pools)
}

fn limits_a_pool(pools: &IndexMap<String, Pool>) -> bool {
    pools.values().any(|pool| pool.max_jobs.is_some() || limits_a_pool(&pool.pools))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns whether each of these jobs, given by pool and user, may run.
    fn admitted(yaml: &str, jobs: &[(&str, &str)]) -> Vec<bool> {
        let pools: Pools = serde_yaml::from_str(yaml).unwrap();
        let (mut line, mut tree) = (JobQueue::new(&pools), PoolTree::new(&pools));
        for (number, (pool, user)) in (0..).zip(jobs) {
            let turn = (Priority::Normal, SimTime::ZERO, JobId(number));
            line.stand(turn, tree.place(pool), &(*user).into());
        }
        let mut admitted = Vec::new();
        line.choose(&tree, |_, may_run| admitted.push(may_run));
        admitted
    }

    #[test]
    fn a_pool_and_those_around_it_let_so_many_jobs_run() {
        let jobs = [("a", "x"), ("a", "y"), ("b", "x"), ("c", "x")];
        let yaml = "pools: {outer: {max_jobs: 2, pools: {a: {max_jobs: 1}, b: {}, c: {}}}}";
        assert_eq!(admitted(yaml, &jobs), [true, false, true, false]);
        assert_eq!(admitted("{}", &jobs), [true; 4]);
    }

    #[test]
    fn a_user_has_a_limit_of_its_own_or_that_of_all() {
        let jobs = [("a", "x"), ("b", "x"), ("a", "y"), ("b", "y"), ("c", "y")];
        let yaml = "{user_max_jobs: 1, users: {y: {max_jobs: 2}}}";
        assert_eq!(admitted(yaml, &jobs), [true, false, true, true, false]);
    }
}
