//! Pools as operators declare them: a tree of names with weights, minimums and limits.
//!
//! [`Pools::check`] checks them. A policy works with a [`super::pool_tree::PoolTree`] made of them.
//!
//! A job gives only the last part of its pool's path, so names are unique in the whole tree.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use super::names::{TreeCheck, note_groups};
use mumakil_base::units::{Count, Factor, SimSpan};
use mumakil_base::with_defaults;
use mumakil_core::mapred::{Complaint, PolicyGroups, PrecedenceBy, SlotKind, or_file};

/// A number of slots or jobs. Hadoop's largest number means that there is no limit.
pub type Number = Count<0, 2_147_483_647>;

/// The pools of a fair scheduler, and the defaults of undeclared pools and users.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "the path of a Hadoop allocation file, or a mapping"
)]
pub struct Pools {
    /// The pools by their names. A job may name a pool that is not declared here: the pool then
    /// begins to exist with the job.
    #[schemars(with = "BTreeMap<String, Pool>")]
    pub pools: IndexMap<String, Pool>,
    /// Users by their names, if their limits differ from the default.
    #[schemars(with = "BTreeMap<String, User>")]
    pub users: IndexMap<String, User>,
    /// How many jobs of a user may run at the same time. Without this, there is no limit.
    pub user_max_jobs: Option<Number>,
    /// How many jobs of a pool may run at the same time, if the pool does not set it. Without this,
    /// there is no limit.
    pub pool_max_jobs: Option<Number>,
    /// How long a pool may stay below half of its fair share; then tasks of other pools are killed.
    /// Without this, never.
    pub fair_share_after: Option<SimSpan>,
    /// As `fair_share_after`, for a pool below its minimum share, if it does not set it.
    pub min_share_after: Option<SimSpan>,
    /// In what order the jobs of a pool run, if the pool does not set it.
    pub order: JobOrder,
}

/// Returns the schema of pools, or of a Hadoop allocation file.
pub fn pools_or_file(schemas: &mut SchemaGenerator) -> Schema {
    or_file::<Pools>("the path of a Hadoop allocation file", schemas)
}

with_defaults! {
    /// A pool.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(default, deny_unknown_fields)]
    pub struct Pool {
        /// Its weight among the pools side by side.
        pub weight: Factor = Factor::ONE,
        /// The map slots that it is guaranteed as long as it can use them.
        pub min_maps: Number = Number::of(0),
        /// The reduce slots that it is guaranteed as long as it can use them.
        pub min_reduces: Number = Number::of(0),
        /// The most map slots that it gets. Without this, there is no limit.
        pub max_maps: Option<Number> = None,
        /// The most reduce slots that it gets. Without this, there is no limit.
        pub max_reduces: Option<Number> = None,
        /// How many of its jobs may run at the same time. Without this, `pool_max_jobs` holds.
        pub max_jobs: Option<Number> = None,
        /// In what order its jobs run. Without this, `order` beside `pools` holds.
        pub order: Option<JobOrder> = None,
        /// How long it may stay below its minimum; then tasks of other pools are killed. Without
        /// this, `min_share_after` beside `pools` holds.
        pub min_share_after: Option<SimSpan> = None,
        /// Pools inside it, which share its slots.
        // The schema allows any value here: it is inlined and cannot refer to itself.
        #[schemars(with = "BTreeMap<String, serde_json::Value>")]
        #[schemars(extend("title" = "a mapping from names, each to a pool as this one"))]
        pub pools: IndexMap<String, Self> = IndexMap::new(),
    }
}

/// The limits of a user.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct User {
    /// How many of the user's jobs may run at the same time. Without this, `user_max_jobs` holds.
    pub max_jobs: Option<Number>,
}

impl Pool {
    /// Returns whether the pool, or a pool inside it, sets `min_share_after`.
    pub fn is_ever_starved(&self) -> bool {
        self.min_share_after.is_some() || self.pools.values().any(Self::is_ever_starved)
    }

    /// Returns the minimum and the maximum for a kind of slot.
    fn bounds(&self, kind: SlotKind) -> (u32, Option<u32>) {
        let (min, max) = match kind {
            SlotKind::Map => (self.min_maps, self.max_maps),
            SlotKind::Reduce => (self.min_reduces, self.max_reduces),
        };
        (min.get(), max.map(Number::get))
    }
}

/// In what order the jobs of a pool run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobOrder {
    /// All at once, with equal shares by weight.
    #[default]
    Fair,
    /// By priority, then arrival.
    Fifo,
}

impl JobOrder {
    /// Returns the rule that decides which job of the pool is served first.
    pub const fn precedence(self) -> PrecedenceBy {
        match self {
            Self::Fifo => PrecedenceBy::Line,
            Self::Fair => PrecedenceBy::Share,
        }
    }
}

impl Pools {
    /// Returns how many jobs of a user may run at a time; `u32::MAX` means no limit.
    pub fn jobs_of_user(&self, user: &str) -> u32 {
        let own = self.users.get(user).and_then(|user| user.max_jobs);
        own.or(self.user_max_jobs).map_or(u32::MAX, Number::get)
    }

    /// Checks values against each other, since types check only single values. Pools that are
    /// nested too deep are not checked.
    pub fn check(&self) -> Vec<Complaint> {
        let mut check = TreeCheck::of("pool");
        check_all(&mut check, &self.pools, [None; 2]);
        check.complaints()
    }

    /// Returns the pools for those who do not know their type.
    pub fn groups(&self) -> PolicyGroups {
        let mut groups = PolicyGroups::default();
        note_groups(&self.pools, |pool| &pool.pools, "", &mut groups.around);
        groups
    }
}

/// The lowest maximum among the pools around a pool, with the name of the pool that sets it.
type Limit<'p> = Option<(&'p str, u32)>;

fn check_all<'p>(
    check: &mut TreeCheck<'p>,
    pools: &'p IndexMap<String, Pool>,
    around: [Limit<'p>; 2],
) {
    if pools.is_empty() {
        return;
    }
    check.inside("pools", |check| {
        for (name, pool) in pools {
            check.at(name, |check| check_one(check, name, pool, around));
        }
    });
}

fn check_one<'p>(
    check: &mut TreeCheck<'p>,
    name: &'p str,
    pool: &'p Pool,
    mut around: [Limit<'p>; 2],
) {
    if pool.weight.get() == 0.0 {
        let message = format!("`{name}` would get nothing: a weight is above zero");
        check.complain(Some("weight"), message, "choose a small one, such as 0.01");
    }
    for (kind, limit) in SlotKind::BOTH.into_iter().zip(&mut around) {
        let ((min, max), slots) = (pool.bounds(kind), kind.word());
        let hint = "lower the minimum, or raise the maximum";
        if let Some(max) = max.filter(|max| *max < min) {
            let message =
                format!("`{name}` is promised {min} {slots} slots, but gets {max} at most");
            // In Hadoop the maximum overrides the minimum, with a warning.
            check.warn(&format!("max_{slots}s"), message, hint);
        }
        if let Some((parent, max)) = limit.filter(|(_, max)| *max < min) {
            let message = format!(
                "`{name}` is promised {min} {slots} slots, but `{parent}` around it gets {max} at \
                 most"
            );
            check.complain(Some(&format!("min_{slots}s")), message, hint);
        }
        // The lowest maximum so far holds inside this pool.
        *limit = match (*limit, max.map(|max| (name, max))) {
            (Some(outer), Some(inner)) if outer.1 <= inner.1 => Some(outer),
            (outer, inner) => inner.or(outer),
        };
    }
    check_all(check, &pool.pools, around);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler::shared::names::DEEPEST;

    const EXAMPLE: &str = "
pools:
  research:
    weight: 2
    min_maps: 10
    min_reduces: 5
    max_maps: 50
    max_reduces: 20
    max_jobs: 3
    order: fifo
    min_share_after: 60s
    pools: {inner: {min_maps: 50}, outer: {weight: 50 %}}
  other: {}
users: {ann: {max_jobs: 2}}
user_max_jobs: 5
pool_max_jobs: 10
fair_share_after: 10min
min_share_after: 2min
order: fair
";

    fn read(yaml: &str) -> Pools {
        serde_yaml::from_str(yaml).unwrap()
    }

    /// Returns each complaint as one line of text.
    fn complaints(yaml: &str) -> Vec<String> {
        let line = |complaint: &Complaint| {
            let word = if complaint.is_warning { "warning" } else { "error" };
            format!("{word}: {}: {}", complaint.path.join("."), complaint.message)
        };
        read(yaml).check().iter().map(line).collect()
    }

    #[test]
    fn pools_are_read_and_written_the_same() {
        let pools = read(EXAMPLE);
        assert!(pools.check().is_empty());
        assert_eq!(read(&serde_yaml::to_string(&pools).unwrap()), pools);
        let research = &pools.pools["research"];
        assert_eq!(research.weight, Factor::of(2.0));
        assert_eq!(research.pools["inner"].min_maps.get(), 50);
        assert_eq!(research.pools["outer"].order, None);
        assert_eq!(pools.pools["other"], Pool::default());
        assert_eq!((pools.jobs_of_user("ann"), pools.jobs_of_user("bob")), (2, 5));
        assert_eq!(Pools::default().jobs_of_user("ann"), u32::MAX);
    }

    #[test]
    fn editors_are_told_every_option_in_its_place() {
        let settings = schemars::generate::SchemaSettings::draft07();
        let settings = settings.with(|settings| settings.inline_subschemas = true);
        let schema = settings.into_generator().into_root_schema_for::<Pools>().to_value();
        assert!(!schema.to_string().contains("$ref"), "{schema}");
        let pool = &schema["properties"]["pools"]["additionalProperties"]["properties"];
        assert!(pool["pools"]["title"].is_string() && pool["weight"]["description"].is_string());
    }

    #[test]
    fn options_that_pools_lack_are_refused_in_their_place() {
        for (yaml, complaint) in [
            ("pools: {a: {wieght: 2}}", "unknown field `wieght`"),
            ("pools: {a: {weight: -1}}", "a factor of zero or more"),
            ("pools: {a: {min_maps: -1}}", "a whole number from 0 to 2147483647"),
            ("pools: {a: {order: lifo}}", "unknown variant `lifo`"),
            ("pools: {a: {min_share_after: 60}}", "a duration with a unit"),
        ] {
            let error = serde_yaml::from_str::<Pools>(yaml).unwrap_err().to_string();
            assert!(error.contains(complaint) && error.contains("line 1"), "{error}");
        }
    }

    #[test]
    fn a_name_means_one_pool_in_the_whole_tree() {
        assert_eq!(
            complaints("pools: {a: {pools: {b: {}}}, b: {}, ' ': {}}"),
            ["error: pools.b: there is a pool `b` already", "error: pools. : a pool has no name"]
        );
    }

    #[test]
    fn a_pool_weighs_something() {
        assert_eq!(
            complaints("pools: {a: {pools: {b: {weight: 0}}}}"),
            ["error: pools.a.pools.b.weight: `b` would get nothing: a weight is above zero"]
        );
    }

    #[test]
    fn a_maximum_below_the_minimum_is_only_a_warning() {
        assert_eq!(
            complaints("pools: {a: {min_reduces: 9, max_reduces: 5, min_maps: 3, max_maps: 3}}"),
            ["warning: pools.a.max_reduces: `a` is promised 9 reduce slots, but gets 5 at most"]
        );
    }

    #[test]
    fn a_pool_is_promised_no_more_than_those_around_it_may_have() {
        assert_eq!(
            complaints("pools: {a: {max_maps: 5, pools: {b: {pools: {c: {min_maps: 6}}}}}}"),
            ["error: pools.a.pools.b.pools.c.min_maps: `c` is promised 6 map slots, \
              but `a` around it gets 5 at most"]
        );
        assert!(complaints("pools: {a: {max_maps: 5, pools: {b: {min_maps: 5}}}}").is_empty());
    }

    #[test]
    fn pools_lie_sixty_four_deep_and_no_deeper() {
        let nested = |depth: usize| {
            let pool = |inner: Pools, level: usize| Pools {
                pools: [(level.to_string(), Pool { pools: inner.pools, ..Pool::default() })].into(),
                ..Pools::default()
            };
            (0..depth).fold(Pools::default(), pool)
        };
        assert!(nested(DEEPEST).check().is_empty());
        let complaints = nested(DEEPEST + 9).check();
        assert_eq!(complaints.len(), 1);
        assert_eq!(complaints[0].message, "pools lie in each other more than 64 deep");
    }
}
