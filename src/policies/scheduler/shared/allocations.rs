//! The option of pools: a mapping, or the path of a Hadoop allocation file.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::file_or::FileOr;
use super::names::listed;
use super::pool_tree::{PoolId, PoolNode, PoolTree};
use super::pools::{Pool, Pools};
use mumakil_core::cluster::{PerSlot, SlotKind};
use mumakil_core::mapred::{Complaint, ExpectedJob, JobSpec, PolicySite, PromisedSlots};

/// Pools, or the path of a Hadoop allocation file.
pub type Allocations = FileOr<Pools>;

/// How the pool of a job is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PoolBy {
    /// The pool that the job names, or its user's pool if it names none.
    #[default]
    Pool,
    /// The pool of the job's user.
    User,
}

impl PoolBy {
    /// Returns the name of a job's pool.
    pub fn of(self, job: &JobSpec) -> &str {
        self.choose(job.named_pool(), &job.user)
    }

    /// Returns the name of the pool of an expected job.
    pub fn of_expected<'n>(self, job: &ExpectedJob<'n>) -> &'n str {
        self.choose(job.pool, job.user)
    }

    /// Returns the name of the pool or of the user, as the option says.
    fn choose<'n>(self, pool: Option<&'n str>, user: &'n str) -> &'n str {
        match self {
            Self::Pool => pool.unwrap_or(user),
            Self::User => user,
        }
    }
}

impl Allocations {
    /// Reads the allocation file if the option is a path. Returns complaints about the pools; their
    /// paths begin with the option `allocations`.
    pub fn settle(&mut self, site: &PolicySite<'_>, pool_by: PoolBy) -> Vec<Complaint> {
        self.read_and_check(site.folder, (), |pools| {
            let tree = PoolTree::new(pools);
            let names = site.jobs.iter().map(|job| pool_by.of_expected(job));
            let names: BTreeSet<&str> = names.collect();
            let mut complaints = too_much(&tree, site);
            complaints.extend(no_leaves(&tree, &names));
            complaints.extend(unknown_names(&tree, &names));
            complaints
        })
    }

    /// Returns the minimum shares of the pools that have a minimum; empty if pools follow users.
    pub fn promised(&self, pool_by: PoolBy) -> PromisedSlots {
        let tree = PoolTree::new(&self.given());
        let pools = tree.ids().map(|id| tree.pool(id));
        // Charts look minimum shares up by the names of pools that jobs give. With a pool for each
        // user, jobs give no such names.
        let pools = pools.filter(|pool| pool_by == PoolBy::Pool && pool.min != PerSlot::default());
        let min = |pool: &PoolNode| PerSlot::of(|kind| pool.min[kind].into());
        pools.map(|pool| (pool.name.to_string(), min(pool))).collect()
    }
}

/// Warns if the minimums of pools exceed the cluster.
fn too_much(tree: &PoolTree, site: &PolicySite<'_>) -> Vec<Complaint> {
    // The minimum of an inner pool is part of the minimum of the pool around it.
    let outermost = &tree.pool(PoolId::ROOT).children;
    let complaint = |kind: SlotKind| {
        let promised: u64 = outermost.iter().map(|id| u64::from(tree.pool(*id).min[kind])).sum();
        let (slots, word) = (site.slots[kind], kind.word());
        let message =
            format!("the pools are promised {promised} {word} slots, but the cluster has {slots}");
        let hint = "the paper's scheduler scales them down, Hadoop's keeps them; lower min_maps or \
                    min_reduces";
        (slots < promised).then(|| Complaint::warning(&["pools"], message, hint))
    };
    SlotKind::BOTH.into_iter().filter_map(complaint).collect()
}

/// Complains about each pool that a job names although the pool has pools inside, so that it cannot
/// hold jobs.
fn no_leaves(tree: &PoolTree, names: &BTreeSet<&str>) -> Vec<Complaint> {
    let is_inner = |name: &&&str| tree.find(name).is_some_and(|id| !tree.is_leaf(id));
    let complaint = |name: &&str| {
        let message = format!("a job names the pool `{name}`, which has pools inside of it");
        let hint = "jobs stand in pools without others inside: name one of these";
        Complaint::error(&["pools"], message, hint)
    };
    names.iter().filter(is_inner).map(complaint).collect()
}

/// Complains about nested pools, for a policy that does not support them.
pub fn no_nested(pools: &Pools, policy: &str) -> Vec<Complaint> {
    let nested = pools.pools.iter().filter(|(_, pool)| !pool.pools.is_empty());
    let complaint = |(name, _): (&String, &Pool)| {
        let message =
            format!("`{name}` has pools inside of it, and `{policy}` knows no such pools");
        let hint = "declare them beside it, or choose `fair`";
        Complaint::error(&["allocations", "pools", name, "pools"], message, hint)
    };
    nested.map(complaint).collect()
}

/// Warns of declared pools without a job if jobs name undeclared pools: a name may be misspelt.
fn unknown_names(tree: &PoolTree, names: &BTreeSet<&str>) -> Option<Complaint> {
    let leaves = tree.ids().filter(|id| tree.is_leaf(*id)).map(|id| &*tree.pool(id).name);
    let strange = names.iter().copied().filter(|name| tree.find(name).is_none());
    let hint = "a pool that is not declared is promised nothing and weighs 1";
    misnamed(leaves.filter(|name| !names.contains(name)), strange)
        .map(|message| Complaint::warning(&["pools"], message, hint))
}

/// Returns a message that lists the declared pools without a job and the undeclared pools with
/// jobs, since a name may be misspelt; `None` unless there are pools of both sorts.
pub fn misnamed<'n>(
    idle: impl Iterator<Item = &'n str>,
    strange: impl Iterator<Item = &'n str>,
) -> Option<String> {
    let (mut idle, mut strange) = (idle.peekable(), strange.peekable());
    (idle.peek().is_some() && strange.peek().is_some()).then(|| {
        format!(
            "pools that are declared, but have no job: {}; that have jobs, but are not declared: {}",
            listed(idle),
            listed(strange)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_that_may_be_another_by_mistake_is_told() {
        let pools = "pools: {production: {pools: {daily: {}}}, adhoc: {}}";
        let tree = PoolTree::new(&serde_yaml::from_str(pools).unwrap());
        let told = |names: &[&str]| {
            unknown_names(&tree, &names.iter().copied().collect())
                .map(|complaint| complaint.message)
        };
        assert_eq!(told(&["daily", "adhoc", "alice"]), None, "users may have pools of their own");
        assert_eq!(told(&["adhoc"]), None, "a pool may wait for later jobs");
        assert_eq!(
            told(&["dayly", "adhoc"]).unwrap(),
            "pools that are declared, but have no job: `daily`; that have jobs, but are not \
             declared: `dayly`"
        );
    }

    #[test]
    fn pools_are_promised_their_minimum_shares() {
        let of = |pools: &str, pool_by| {
            let allocations = FileOr::Given(serde_yaml::from_str(pools).unwrap());
            let promised = Allocations::promised(&allocations, pool_by).into_iter();
            promised.map(|(name, of)| (name, of.map, of.reduce)).collect::<Vec<_>>()
        };
        let pools = "{pools: {a: {min_maps: 5}, b: {}, c: {pools: {d: {min_reduces: 2}}}}}";
        let wanted = [("a".to_owned(), 5.0, 0.0), ("d".to_owned(), 0.0, 2.0)];
        assert_eq!(of(pools, PoolBy::Pool), wanted);
        assert_eq!(of(pools, PoolBy::User), [], "jobs name no pools");
        assert_eq!(of("{}", PoolBy::Pool), []);
    }
}
