//! How many jobs may run at a time: those of a pool, of the pools around it, and of a user.

use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::FxHashMap;

use super::pool_tree::{PoolId, PoolTree};
use super::pools::{Pool, Pools};

/// The limits.
#[derive(Debug)]
pub struct Limits {
    /// Whether there are any.
    are_there: bool,
    pools: Pools,
}

/// The jobs that may run, as far as they are counted.
#[derive(Debug)]
pub struct Admission<'l> {
    limits: &'l Limits,
    pools: &'l PoolTree,
    in_pool: Vec<u32>,
    of_user: FxHashMap<Arc<str>, u32>,
}

impl Limits {
    /// Returns what pools and users allow.
    pub fn new(pools: &Pools) -> Self {
        Self {
            are_there: pools.user_max_jobs.is_some()
                || pools.pool_max_jobs.is_some()
                || pools.users.values().any(|user| user.max_jobs.is_some())
                || limits_a_pool(&pools.pools),
            pools: pools.clone(),
        }
    }

    /// Returns whether there are any.
    pub fn are_there(&self) -> bool {
        self.are_there
    }

    /// Begins to admit jobs, to be asked in the order in which they should run.
    pub fn admit<'l>(&'l self, pools: &'l PoolTree) -> Admission<'l> {
        let in_pool = vec![0; pools.ids().count()];
        Admission { limits: self, pools, in_pool, of_user: FxHashMap::default() }
    }
}

impl Admission<'_> {
    /// Returns whether a job may run, and counts it if so.
    pub fn may_run(&mut self, pool: PoolId, user: &Arc<str>) -> bool {
        if !self.limits.are_there {
            return true;
        }
        let most = self.limits.pools.jobs_of_user(user);
        let of_user = self.of_user.entry(user.clone()).or_default();
        let mut around = self.pools.upwards(pool);
        let has_room = around.all(|id| self.in_pool[id.index()] < self.pools.pool(id).max_jobs);
        let may_run = has_room && *of_user < most;
        if may_run {
            *of_user += 1;
            self.pools.upwards(pool).for_each(|id| self.in_pool[id.index()] += 1);
        }
        may_run
    }
}

fn limits_a_pool(pools: &IndexMap<String, Pool>) -> bool {
    pools.values().any(|pool| pool.max_jobs.is_some() || limits_a_pool(&pool.pools))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns which of these jobs may run, each a pool and a user.
    fn admitted(yaml: &str, jobs: &[(&str, &str)]) -> Vec<bool> {
        let pools: Pools = serde_yaml::from_str(yaml).unwrap();
        let (limits, mut tree) = (Limits::new(&pools), PoolTree::new(&pools));
        let jobs: Vec<(PoolId, Arc<str>)> =
            jobs.iter().map(|(pool, user)| (tree.place(pool), (*user).into())).collect();
        let mut admission = limits.admit(&tree);
        jobs.iter().map(|(pool, user)| admission.may_run(*pool, user)).collect()
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
