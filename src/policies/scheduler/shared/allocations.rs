//! The option `allocations`: the checks of pools against the jobs and the cluster, and the pools of jobs.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::names::{in_allocations, listed};
use super::pool_tree::{PoolId, PoolTree};
use super::pools::Pools;
use mumakil_base::units::SimSpan;
use mumakil_core::cluster::{PerSlot, SlotKind};
use mumakil_core::mapred::{Complaint, ExpectedJob, JobSpec, PolicySite, PromisedSlots};

/// How the pool of a job is chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PoolBy {
    /// The one that it names, or its user's.
    #[default]
    Pool,
    /// Its user's.
    User,
    /// That of its queue, or `default`.
    Queue,
    /// That of its user's group, such as `{ann: research}`, or else `default`.
    Group(UserGroups),
    /// The one that it names, or that of its user's group.
    PoolOrGroup(UserGroups),
}

/// The group of each user.
pub type UserGroups = BTreeMap<String, String>;

/// Hadoop's pool for jobs without the property by which pools are chosen.
const DEFAULT_POOL: &str = "default";

impl PoolBy {
    /// Returns the name of a job's pool.
    pub fn of<'n>(&'n self, job: &'n JobSpec) -> &'n str {
        self.choose(job.named_pool(), &job.user)
    }

    /// Returns the name of the pool of an expected job.
    pub fn of_expected<'n>(&'n self, job: &ExpectedJob<'n>) -> &'n str {
        self.choose(job.pool, job.user)
    }

    fn choose<'n>(&'n self, named: Option<&'n str>, user: &'n str) -> &'n str {
        let group_of = |groups: &'n UserGroups| groups.get(user).map_or(DEFAULT_POOL, |it| it);
        match self {
            Self::Pool => named.unwrap_or(user),
            Self::User => user,
            Self::Queue => named.unwrap_or(DEFAULT_POOL),
            Self::Group(groups) => group_of(groups),
            Self::PoolOrGroup(groups) => named.unwrap_or_else(|| group_of(groups)),
        }
    }

    /// Warns of users of jobs that have no group, although pools follow groups.
    fn groupless(&self, site: &PolicySite<'_>) -> Option<Complaint> {
        let (key, groups) = match self {
            Self::Group(groups) => ("group", groups),
            Self::PoolOrGroup(groups) => ("pool_or_group", groups),
            Self::Pool | Self::User | Self::Queue => return None,
        };
        let needs = |job: &&ExpectedJob<'_>| {
            !groups.contains_key(job.user) && (key == "group" || job.pool.is_none())
        };
        let users: BTreeSet<&str> = site.jobs.iter().filter(needs).map(|job| job.user).collect();
        if users.is_empty() {
            return None;
        }
        let names = listed(users);
        let message =
            format!("users without a group: {names}; their jobs are in the pool `{DEFAULT_POOL}`");
        let hint = "write the group of each user, such as `ann: research`";
        Some(Complaint::warning(&["pool_by", key], message, hint))
    }
}

impl Pools {
    /// Returns complaints about the pools and the way in which jobs choose them; the paths of those
    /// about the pools begin with the option `allocations`.
    pub fn complaints(&self, site: &PolicySite<'_>, pool_by: &PoolBy) -> Vec<Complaint> {
        let mut complaints = self.check();
        // Further checks would only repeat errors in other words.
        if complaints.iter().all(|complaint| complaint.is_warning) {
            let tree = PoolTree::new(self);
            let names: BTreeSet<&str> =
                site.jobs.iter().map(|job| pool_by.of_expected(job)).collect();
            too_much(&tree, site, &mut complaints);
            no_leaves(&tree, &names, &mut complaints);
            complaints.extend(unknown_names(&tree, &names));
            complaints.extend(never_run("pool", names.iter().copied(), |name: &str| {
                tree.lowest(name, |pool| pool.max_jobs)
            }));
            let users = site.jobs.iter().map(|job| job.user);
            complaints.extend(never_run("user", users, |user| self.jobs_of_user(user)));
        }
        complaints = in_allocations(complaints);
        complaints.extend(pool_by.groupless(site));
        complaints
    }

    /// Warns of pools with jobs that get no slot, for a scheduler that heeds the maximums of pools.
    pub fn slotless(&self, site: &PolicySite<'_>, pool_by: &PoolBy) -> Vec<Complaint> {
        let tree = PoolTree::new(self);
        let mut complaints = Vec::new();
        for kind in SlotKind::BOTH {
            let jobs = site.jobs.iter().filter(|job| job.has_tasks[kind]);
            let mut names: BTreeSet<&str> = jobs.map(|job| pool_by.of_expected(job)).collect();
            names.retain(|name| tree.lowest(name, |pool| pool.max[kind]) == 0);
            if !names.is_empty() {
                let (names, word) = (listed(names), kind.word());
                let message = format!("no {word} slot for the pools {names}: their maximum is 0");
                let hint = format!("raise `max_{word}s`, or leave it out");
                complaints.push(Complaint::stall(&["allocations", "pools"], message, hint));
            }
        }
        complaints
    }

    /// Complains about jobs of pools that are not declared, for a scheduler that refuses them.
    pub fn undeclared(&self, site: &PolicySite<'_>, pool_by: &PoolBy) -> Option<Complaint> {
        let tree = PoolTree::new(self);
        let names = site.jobs.iter().map(|job| pool_by.of_expected(job));
        let strange: BTreeSet<&str> = names.filter(|name| tree.find(name).is_none()).collect();
        if strange.is_empty() {
            return None;
        }
        let names = listed(strange);
        let message =
            format!("jobs are in pools that are not declared, so Hadoop refuses them: {names}");
        let hint = "declare these pools in `allocations`, or leave the option out";
        Some(Complaint::error(&["allow_undeclared_pools"], message, hint))
    }

    /// Returns the minimum shares of the pools that have a minimum; empty if pools follow users or
    /// groups alone.
    pub fn promised(&self, pool_by: &PoolBy) -> PromisedSlots {
        // Charts look shares up by the names of pools that jobs give.
        if let PoolBy::User | PoolBy::Group(_) = pool_by {
            return PromisedSlots::new();
        }
        let tree = PoolTree::new(self);
        let pools = tree.ids().map(|id| tree.pool(id));
        let promised = pools.filter(|pool| pool.min != PerSlot::default());
        promised
            .map(|pool| (pool.name.to_string(), PerSlot::of(|kind| pool.min[kind].into())))
            .collect()
    }
}

/// Warns if the minimums of pools exceed the cluster.
fn too_much(tree: &PoolTree, site: &PolicySite<'_>, complaints: &mut Vec<Complaint>) {
    // The minimum of an inner pool is part of the minimum of the pool around it.
    let outermost = &tree.pool(PoolId::ROOT).children;
    for kind in SlotKind::BOTH {
        let promised: u64 = outermost.iter().map(|id| u64::from(tree.pool(*id).min[kind])).sum();
        let (slots, word) = (site.slots[kind], kind.word());
        if slots < promised {
            let message = format!(
                "the pools are promised {promised} {word} slots, but the cluster has {slots}"
            );
            let hint = "the paper's scheduler scales them down, Hadoop's keeps them; lower \
                        min_maps or min_reduces";
            complaints.push(Complaint::warning(&["pools"], message, hint));
        }
    }
}

/// Warns of pools and users whose jobs never run, since none may run at a time.
fn never_run<'n>(
    whose: &str,
    names: impl Iterator<Item = &'n str>,
    most_jobs: impl Fn(&str) -> u32,
) -> Option<Complaint> {
    let names: BTreeSet<&str> = names.filter(|name| most_jobs(name) == 0).collect();
    if names.is_empty() {
        return None;
    }
    let message = format!("jobs of the {whose}s {} never run: 0 may run at a time", listed(names));
    let hint = format!("raise `max_jobs` or `{whose}_max_jobs`, or leave it out");
    Some(Complaint::stall(&[&format!("{whose}s")], message, hint))
}

/// Complains about pools that jobs name, but that have pools inside, so that they hold no jobs.
fn no_leaves(tree: &PoolTree, names: &BTreeSet<&str>, complaints: &mut Vec<Complaint>) {
    for name in names {
        if tree.find(name).is_some_and(|id| !tree.is_leaf(id)) {
            let message = format!("a job names the pool `{name}`, which has pools inside of it");
            let hint = "jobs stand in pools without others inside: name one of these";
            complaints.push(Complaint::error(&["pools"], message, hint));
        }
    }
}

/// Complains about an `update_interval` of zero: updates would repeat without end at one instant.
pub fn standstill(update_interval: SimSpan) -> Option<Complaint> {
    let message = "`update_interval` must be above zero: at 0s time would stand still";
    (update_interval.is_zero())
        .then(|| Complaint::error(&["update_interval"], message, "Hadoop's is 500ms"))
}

/// Complains about nested pools, for a policy that does not support them.
pub fn no_nested(pools: &Pools, policy: &str) -> Vec<Complaint> {
    let nested = pools.pools.iter().filter(|(_, pool)| !pool.pools.is_empty());
    nested
        .map(|(name, _)| {
            let message =
                format!("`{name}` has pools inside of it, and `{policy}` knows no such pools");
            let hint = "declare them beside it, or choose `fair`";
            Complaint::error(&["allocations", "pools", name, "pools"], message, hint)
        })
        .collect()
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

    fn pool_by(yaml: &str) -> PoolBy {
        let from = serde_yaml::Deserializer::from_str(yaml);
        serde_yaml::with::singleton_map_recursive::deserialize(from).unwrap()
    }

    #[test]
    fn pools_follow_names_users_queues_or_groups() {
        for (by, [named, unnamed, stranger]) in [
            ("pool", ["etl", "ann", "eve"]),
            ("user", ["ann", "ann", "eve"]),
            ("queue", ["etl", "default", "default"]),
            ("{group: {ann: research}}", ["research", "research", "default"]),
            ("{pool_or_group: {ann: research}}", ["etl", "research", "default"]),
        ] {
            let pool_by = pool_by(by);
            assert_eq!(pool_by.choose(Some("etl"), "ann"), named, "{by}");
            assert_eq!(pool_by.choose(None, "ann"), unnamed, "{by}");
            assert_eq!(pool_by.choose(None, "eve"), stranger, "{by}");
        }
    }

    /// Returns the complaints about jobs of these users in these pools.
    fn complaints<'n>(
        about: impl Fn(&PolicySite<'n>) -> Option<Complaint>,
        jobs: &[(&'n str, Option<&'n str>)],
    ) -> Option<String> {
        let expected = |(user, pool): &(&'n str, Option<&'n str>)| {
            let has_tasks = PerSlot { map: true, reduce: false };
            ExpectedJob::new(user, *pool, has_tasks, PerSlot::default())
        };
        let site = PolicySite {
            line: mumakil_core::mapred::HadoopLine::V1,
            jobs: jobs.iter().map(expected).collect(),
            ..PolicySite::unknown()
        };
        about(&site).map(|complaint| format!("{}: {}", complaint.path.join("."), complaint.message))
    }

    #[test]
    fn users_without_a_group_are_told() {
        let jobs = [("ann", None), ("bob", Some("etl"))];
        let told = |by: &str| complaints(|site| pool_by(by).groupless(site), &jobs);
        assert_eq!(
            told("{group: {ann: research}}").unwrap(),
            "pool_by.group: users without a group: `bob`; their jobs are in the pool `default`"
        );
        assert_eq!(told("{pool_or_group: {ann: research}}"), None, "bob's job names its pool");
        assert!(told("{pool_or_group: {bob: research}}").is_some());
        assert_eq!(told("user"), None);
    }

    #[test]
    fn undeclared_pools_are_errors_where_they_are_not_allowed() {
        let pools: Pools = serde_yaml::from_str("{pools: {etl: {}}}").unwrap();
        let told = |jobs: &[(&'static str, Option<&'static str>)]| {
            complaints(|site| pools.undeclared(site, &PoolBy::Pool), jobs)
        };
        assert_eq!(told(&[("ann", Some("etl"))]), None);
        let message = told(&[("ann", None), ("bob", Some("elt"))]).unwrap();
        assert!(
            message.starts_with("allow_undeclared_pools: ") && message.contains("`ann`, `elt`")
        );
    }

    /// Returns the warnings about stalls for jobs of ann in these pools; the jobs have only maps.
    fn stalls(yaml: &str, pools: &[&'static str]) -> Vec<String> {
        let job = |pool: &&'static str| {
            let has_tasks = PerSlot { map: true, reduce: false };
            ExpectedJob::new("ann", Some(pool), has_tasks, PerSlot::default())
        };
        let jobs = pools.iter().map(job).collect();
        let site = PolicySite { jobs, ..PolicySite::unknown() };
        let pools: Pools = serde_yaml::from_str(yaml).unwrap();
        let mut complaints = pools.complaints(&site, &PoolBy::Pool);
        complaints.extend(pools.slotless(&site, &PoolBy::Pool));
        let stalls = complaints.into_iter().filter(|complaint| complaint.foretells_stall);
        stalls.map(|complaint| complaint.message).collect()
    }

    #[test]
    fn pools_and_users_that_may_run_no_job_are_told() {
        let never = |whose: &str| format!("jobs of the {whose} never run: 0 may run at a time");
        assert_eq!(stalls("pool_max_jobs: 0", &["etl", "etl"]), [never("pools `etl`")]);
        let nested = "pools: {a: {max_jobs: 0, pools: {etl: {}}}, b: {}}";
        assert_eq!(stalls(nested, &["etl", "b"]), [never("pools `etl`")]);
        assert_eq!(stalls("user_max_jobs: 0", &["etl"]), [never("users `ann`")]);
        let others = "{users: {bob: {max_jobs: 0}}, pools: {a: {max_jobs: 0}}, pool_max_jobs: 1}";
        assert_eq!(stalls(others, &["etl"]), [""; 0], "no job has this pool or user");
    }

    #[test]
    fn pools_whose_maximum_is_zero_are_told() {
        let told = stalls("pools: {a: {max_maps: 0, pools: {etl: {}}}}", &["etl", "b"]);
        assert_eq!(told, ["no map slot for the pools `etl`: their maximum is 0"]);
        assert_eq!(stalls("pools: {etl: {max_reduces: 0}}", &["etl"]), [""; 0], "it has only maps");
    }

    #[test]
    fn pools_are_promised_their_minimum_shares() {
        let of = |pools: &str, pool_by| {
            let pools: Pools = serde_yaml::from_str(pools).unwrap();
            let promised = pools.promised(&pool_by).into_iter();
            promised.map(|(name, of)| (name, of.map, of.reduce)).collect::<Vec<_>>()
        };
        let pools = "{pools: {a: {min_maps: 5}, b: {}, c: {pools: {d: {min_reduces: 2}}}}}";
        let wanted = [("a".to_owned(), 5.0, 0.0), ("d".to_owned(), 0.0, 2.0)];
        assert_eq!(of(pools, PoolBy::Pool), wanted);
        assert_eq!(of(pools, PoolBy::User), [], "jobs name no pools");
        assert_eq!(of("{}", PoolBy::Pool), []);
    }
}
