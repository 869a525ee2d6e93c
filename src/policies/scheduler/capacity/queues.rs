//! Queues as operators declare them: a tree of names with shares and limits.
//!
//! A queue inherits the values that it does not set from the queue around it. A job gives only the
//! last part of its queue's path, and belongs to a leaf: a queue without queues inside.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use super::hash_order::JavaMaps;
use super::rules::Rules;
use crate::scheduler::shared::names::{TreeCheck, listed, note_groups};
use mumakil_base::units::{Count, Factor, Fraction, SimSpan, tell};
use mumakil_base::with_defaults;
use mumakil_core::mapred::{AutoSpan, Complaint, JobSpec, PolicyGroups, or_file};

/// The queue of jobs that name no existing queue.
// Hadoop uses the same name.
pub(super) const DEFAULT: &str = "default";

pub(super) type JobLimit = Count<1, 2_147_483_647>;

/// `maximum-initialized-active-tasks` and its limit for each user, unless given.
pub(super) const MAX_ACTIVE_TASKS: u32 = 200_000;
pub(super) const MAX_ACTIVE_TASKS_PER_USER: u32 = 100_000;

/// How the queue of a job is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QueueBy {
    /// The one that it names, or `default`.
    #[default]
    Pool,
    /// The one with its user's name.
    User,
}

/// The largest rounding error of a sum of shares.
// With binary fractions, 0.7 + 0.2 + 0.1 is not exactly 1.
const ROUNDING: f64 = 1e-6;

with_defaults! {
    /// The queues, and the settings of all queues.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(
        default,
        deny_unknown_fields,
        expecting = "the path of a capacity-scheduler.xml, or a mapping"
    )]
    pub struct Queues {
        /// The queues by their names. If there are none, there is one queue called `default`. Jobs that
        /// name no existing queue are in `default`.
        #[schemars(with = "BTreeMap<String, Queue>")]
        pub queues: IndexMap<String, Queue> = IndexMap::new(),
        /// How many jobs may be initialised and not ended yet; a queue may have its share of them,
        /// and a user the minimum user limit of that.
        #[schemars(extend("x-only-if" = {"rules": "1.x"}))]
        // 1.x: `maximum-system-jobs`.
        pub max_system_jobs: JobLimit = JobLimit::of(5_000),
        /// The time between two choices of jobs to initialise, and two looks of each thread that
        /// does. `auto` is 5 s; with the rules of 1.x it is 3 s.
        pub init_poll: AutoSpan = AutoSpan::Auto,
        /// How many threads initialise the chosen jobs, each those of some queues.
        // `init-worker-threads`.
        pub init_threads: Count<1, 1_024> = Count::of(5),
        /// How many maps one heartbeat launches at most. With the rules of 0.20 and 0.21 it launches
        /// one.
        #[schemars(extend("x-only-if" = {"rules": "1.x"}))]
        // 1.x: `maximum-tasks-per-heartbeat`, the largest Java short.
        pub maps_per_heartbeat: Count<1, 32_767> = Count::of(32_767),
    }
}

pub(super) fn queues_or_file(schemas: &mut SchemaGenerator) -> Schema {
    or_file::<Queues>("the path of a capacity-scheduler.xml", schemas)
}

/// A queue, with the options that it sets.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Queue {
    /// Its guaranteed share of the queue around it; those without one divide the rest.
    pub capacity: Option<Fraction>,
    /// The largest share that it gets of the maximum of the queue around it. Hadoop 0.20 does not
    /// have this.
    pub maximum_capacity: Option<Fraction>,
    /// The smallest share of the queue that a user gets while others want slots as well: 100 %
    /// unless given. With 25 %, four users share the queue and further ones wait.
    pub minimum_user_limit: Option<Fraction>,
    /// How many times the queue's guaranteed slots a single user may have: 1 unless given.
    #[schemars(extend("x-only-if" = {"rules": "1.x"}))]
    pub user_limit_factor: Option<Factor>,
    /// Whether jobs are ordered by priority first and by arrival second. Without this, by arrival
    /// only.
    pub supports_priority: Option<bool>,
    /// How many jobs of a user may be initialised and wait for their first task: 2 unless given.
    #[schemars(extend("x-only-if" = {"rules": {"not": "1.x"}}))]
    pub max_initialised_per_user: Option<JobLimit>,
    /// How many times the jobs that may be initialised the queue accepts, and of each user: 10
    /// unless given. Others are refused.
    #[schemars(extend("x-only-if" = {"rules": "1.x"}))]
    pub accept_factor: Option<JobLimit>,
    /// How many tasks the queue's initialised jobs that have not ended may have together: 200,000
    /// unless given.
    #[schemars(extend("x-only-if" = {"rules": "1.x"}))]
    pub max_active_tasks: Option<JobLimit>,
    /// As `max_active_tasks`, for each user: 100,000 unless given. A job with more is refused.
    #[schemars(extend("x-only-if" = {"rules": "1.x"}))]
    pub max_active_tasks_per_user: Option<JobLimit>,
    /// How long the queue may stay below its guaranteed slots; then it gets them back by killing
    /// tasks of others. Without this, it never does. Hadoop has this up to 0.20.0.
    pub reclaim_after: Option<SimSpan>,
    /// Queues inside it, which share its slots.
    // The schema allows any value here: it is inlined and cannot refer to itself.
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    #[schemars(extend("title" = "a mapping from names, each to a queue as this one"))]
    pub queues: IndexMap<String, Self>,
}

impl QueueBy {
    pub(super) fn of(self, job: &JobSpec) -> &str {
        self.choose(job.named_pool(), &job.user)
    }

    pub(super) fn choose<'n>(self, pool: Option<&'n str>, user: &'n str) -> &'n str {
        match self {
            Self::Pool => pool.unwrap_or(DEFAULT),
            Self::User => user,
        }
    }
}

impl Queues {
    /// Checks values against each other, but not of queues nested too deep.
    pub(super) fn check(&self, rules: Rules) -> Vec<Complaint> {
        let mut check = TreeCheck::of("queue");
        check_all(&mut check, rules, None, &self.queues, &Queue::default());
        if self.init_poll == AutoSpan::Fixed(SimSpan::ZERO) {
            let message = "`init_poll` must be above zero: at 0s time would stand still".to_owned();
            check.complain(Some("init_poll"), message, "Hadoop's is 5s");
        }
        check.complaints()
    }

    pub(super) fn groups(&self) -> PolicyGroups {
        let mut groups = PolicyGroups { are_fixed: true, ..PolicyGroups::default() };
        note_groups(&self.queues, |queue| &queue.queues, "", &mut groups.around);
        groups
    }
}

impl Queue {
    /// Copies the values that the queue does not set from the queue around it.
    pub(super) fn inherit(&mut self, around: &Self) {
        // Capacities are not inherited, since they are shares of the queue around.
        self.minimum_user_limit = self.minimum_user_limit.or(around.minimum_user_limit);
        self.user_limit_factor = self.user_limit_factor.or(around.user_limit_factor);
        self.supports_priority = self.supports_priority.or(around.supports_priority);
        let initialised = &mut self.max_initialised_per_user;
        *initialised = initialised.or(around.max_initialised_per_user);
        self.accept_factor = self.accept_factor.or(around.accept_factor);
        self.max_active_tasks = self.max_active_tasks.or(around.max_active_tasks);
        let of_user = &mut self.max_active_tasks_per_user;
        *of_user = of_user.or(around.max_active_tasks_per_user);
        self.reclaim_after = self.reclaim_after.or(around.reclaim_after);
    }
}

pub(super) fn even(queues: &IndexMap<String, Queue>) -> f64 {
    let said = queues.values().filter_map(|queue| queue.capacity);
    let (number, sum) = said.fold((0, 0.0), |(n, sum), share| (n + 1, sum + share.get()));
    // If all queues set their shares, the result is not used; `max` avoids a division by zero.
    (1.0 - sum).max(0.0) / (queues.len() - number).max(1) as f64
}

fn check_all<'q>(
    check: &mut TreeCheck<'q>,
    rules: Rules,
    around: Option<&str>,
    queues: &'q IndexMap<String, Queue>,
    inherited: &Queue,
) {
    if queues.is_empty() {
        return;
    }
    check.inside("queues", |check| {
        match rules {
            Rules::V1 => check_whole(check, around, queues),
            _ => check_sum(check, around, queues),
        }
        let even = even(queues);
        for (name, queue) in queues {
            check.at(name, |check| {
                check_one(check, name, queue, even);
                let mut whole = queue.clone();
                whole.inherit(inherited);
                if rules == Rules::V1 {
                    check_tasks(check, name, &whole);
                }
                check_all(check, rules, Some(name), &queue.queues, &whole);
            });
        }
    });
}

fn siblings(around: Option<&str>) -> String {
    around.map_or("the outermost queues".to_owned(), |around| {
        format!("the queues inside of `{around}`")
    })
}

/// Checks the sum of the shares of siblings, which is at most the whole up to 0.21.
fn check_sum(check: &mut TreeCheck<'_>, around: Option<&str>, queues: &IndexMap<String, Queue>) {
    let said = queues.values().filter_map(|queue| queue.capacity);
    let sum: f64 = said.map(Fraction::get).sum();
    if 1.0 + ROUNDING < sum {
        // Four decimals hide the rounding error of the sum.
        let percent = (sum * 1e6).round() / 1e4;
        let whose = siblings(around);
        let message = format!("{whose} have {percent} % together, and there is no more than 100 %");
        check.complain(None, message, "lower some capacity");
    }
}

/// Checks that all sibling queues set their shares, and that the shares add up to the whole, as 1.x
/// demands it. Only a queue `default` that is alone needs no share, since the file that Hadoop ships
/// gives it 100 %.
fn check_whole(check: &mut TreeCheck<'_>, around: Option<&str>, queues: &IndexMap<String, Queue>) {
    let silent = queues.iter().filter(|(_, queue)| queue.capacity.is_none());
    let without: Vec<String> = silent.map(|(name, _)| name.clone()).collect();
    if !without.is_empty() {
        if queues.len() > 1 || without != [DEFAULT] {
            let names = listed(without.iter().map(String::as_str));
            let message = format!("1.x refuses queues without a `capacity`: {names}");
            let hint = "give each queue its share, so that they have 100 % together";
            check.complain(None, message, hint);
        }
        return;
    }
    // Hadoop adds up percents in single precision, in the order of a hash map, and cuts off the
    // fraction of the sum: so 100.5 % are allowed, and 99.9999 % are not.
    let mut shares: Vec<(&str, f32)> = queues
        .iter()
        .filter_map(|(name, queue)| Some((&**name, (queue.capacity?.get() * 100.0) as f32)))
        .collect();
    Rules::V1.sort(JavaMaps::Auto, &mut shares);
    let sum: f32 = shares.iter().map(|(_, percent)| percent).sum();
    if sum.floor() != 100.0 {
        let message = format!("{} have {sum} % together, and 1.x demands 100 %", siblings(around));
        check.complain(None, message, "change some capacity");
    }
}

/// Checks the limits on tasks of a queue, which has inherited the options that it does not set.
/// Hadoop 1.x does not start if a user may have more tasks than its queue.
fn check_tasks(check: &mut TreeCheck<'_>, name: &str, queue: &Queue) {
    let most = queue.max_active_tasks.map_or(MAX_ACTIVE_TASKS, JobLimit::get);
    let of_user = queue.max_active_tasks_per_user.map_or(MAX_ACTIVE_TASKS_PER_USER, JobLimit::get);
    if most < of_user {
        let message = format!(
            "a user of `{name}` may have {} initialised tasks, but the queue only {}",
            tell::count(of_user.into()),
            tell::count(most.into())
        );
        let hint = "lower `max_active_tasks_per_user`, or raise `max_active_tasks`";
        check.complain(Some("max_active_tasks"), message, hint);
    }
}

fn check_one<'q>(check: &mut TreeCheck<'q>, name: &'q str, queue: &'q Queue, even: f64) {
    let share = queue.capacity.map_or(even, Fraction::get);
    if let Some(most) = queue.maximum_capacity.map(Fraction::get)
        && most + ROUNDING < share
    {
        let percent = |share: f64| (share * 1e6).round() / 1e4;
        let (least, most) = (percent(share), percent(most));
        let message = match queue.capacity {
            Some(_) => format!("`{name}` has {least} %, but gets {most} % at most"),
            None => {
                format!("`{name}` gets the {least} % that are left, but {most} % at most")
            }
        };
        let hint = "raise the maximum, or leave it out";
        check.complain(Some("maximum_capacity"), message, hint);
    }
    if queue.minimum_user_limit.is_some_and(|limit| limit.get() < 0.01) {
        let message = format!("the users of `{name}` get 1 % of it at least");
        check.complain(Some("minimum_user_limit"), message, "Hadoop counts whole per cents");
    }
    if queue.user_limit_factor.is_some_and(|factor| factor.get() == 0.0) {
        let message = format!("the users of `{name}` would get nothing: a factor is above zero");
        check.complain(Some("user_limit_factor"), message, "1 is the queue's own slots");
    }
}

/// Complains about names of no queue, or warns if their jobs go to the queue `default`.
pub(super) fn unknown_names(
    queues: &IndexMap<String, Queue>,
    names: &BTreeSet<&str>,
) -> Vec<Complaint> {
    let mut leaves = BTreeMap::new();
    note_leaves(queues, &mut leaves);
    let has_default = queues.is_empty() || leaves.get(DEFAULT) == Some(&true);
    let is_strange =
        |name: &&&str| has_default && !leaves.contains_key(**name) && **name != DEFAULT;
    let strange: Vec<&str> = names.iter().filter(is_strange).copied().collect();
    let warning = (!strange.is_empty()).then(|| {
        let message = format!(
            "jobs of {} stand in the queue `{DEFAULT}`, since there is none of that name",
            listed(strange)
        );
        Complaint::warning(&["queues"], message, "declare them")
    });
    let complaint = |name: &str| {
        let (message, hint) = match leaves.get(name) {
            Some(true) => return None,
            None if has_default => return None,
            None if name == DEFAULT => (
                format!("a job stands in the queue `{DEFAULT}`, which is not there"),
                "declare it, or let all jobs name a queue".to_owned(),
            ),
            None => (
                format!("a job names the queue `{name}`, which is not there"),
                format!("declare it, or a queue `{DEFAULT}` for all such jobs"),
            ),
            Some(false) => (
                format!("a job names the queue `{name}`, which has queues inside of it"),
                "jobs stand in queues without others inside: name one of these".to_owned(),
            ),
        };
        Some(Complaint::error(&["queues"], message, hint))
    };
    names.iter().copied().filter_map(complaint).chain(warning).collect()
}

fn note_leaves<'q>(queues: &'q IndexMap<String, Queue>, leaves: &mut BTreeMap<&'q str, bool>) {
    for (name, queue) in queues {
        leaves.insert(name, queue.queues.is_empty());
        note_leaves(&queue.queues, leaves);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler::shared::names::DEEPEST;

    fn read(yaml: &str) -> Queues {
        serde_yaml::from_str(yaml).unwrap()
    }

    /// Returns each complaint as one line of text, by the rules of 0.21.
    fn complaints(yaml: &str) -> Vec<String> {
        complaints_of(Rules::V21, yaml)
    }

    fn complaints_of(rules: Rules, yaml: &str) -> Vec<String> {
        let line =
            |complaint: &Complaint| format!("{}: {}", complaint.path.join("."), complaint.message);
        read(yaml).check(rules).iter().map(line).collect()
    }

    #[test]
    fn queues_are_read_and_written_the_same() {
        let yaml = "{queues: {a: {capacity: 70 %, minimum_user_limit: 25 %, supports_priority: true, \
                    queues: {b: {}, c: {capacity: 0.5}}}, d: {maximum_capacity: 40 %}}, \
                    init_poll: 3s}";
        let queues = read(yaml);
        assert!(queues.check(Rules::V21).is_empty());
        assert_eq!(read(&serde_yaml::to_string(&queues).unwrap()), queues);
        assert_eq!(queues.queues["a"].queues["c"].capacity, Some(Fraction::of(0.5)));
    }

    #[test]
    fn up_to_0_21_shares_side_by_side_are_at_most_the_whole() {
        for rules in [Rules::V20, Rules::V21] {
            for legal in
                ["{a: {capacity: 70 %}, b: {capacity: 20 %}}", "{a: {capacity: 100 %}, b: {}}"]
            {
                let told = complaints_of(rules, &format!("queues: {legal}"));
                assert!(told.is_empty(), "{legal}: {told:?}");
            }
            let told = complaints_of(rules, "queues: {a: {capacity: 70 %}, b: {capacity: 40 %}}");
            let expected = "queues: the outermost queues have 110 % together, and there is no more \
                            than 100 %";
            assert_eq!(told, [expected]);
            let inside = "queues: {a: {queues: {b: {capacity: 70 %}, c: {capacity: 31 %}}}}";
            let told = complaints_of(rules, inside);
            assert!(told[0].contains("the queues inside of `a` have 101 % together"), "{told:?}");
        }
    }

    #[test]
    fn in_1x_shares_side_by_side_make_a_whole() {
        let told = |yaml: &str| complaints_of(Rules::V1, &format!("queues: {yaml}"));
        let shares = |shares: &[&str]| {
            let queue = |(name, share)| format!("{name}: {{capacity: {share} %}}");
            let queues: Vec<String> = ('a'..).zip(shares).map(queue).collect();
            told(&format!("{{{}}}", queues.join(", ")))
        };
        // Hadoop cuts off the fraction of the sum, which it adds up in single precision.
        for legal in [&["70", "30"][..], &["33.3", "33.3", "33.4"], &["50.4", "50"], &["100.0"]] {
            assert!(shares(legal).is_empty(), "{legal:?}: {:?}", shares(legal));
        }
        for illegal in [&["70", "20"][..], &["70", "31"], &["33.3333", "33.3333", "33.3333"]] {
            let told = shares(illegal);
            assert!(told[0].contains("% together, and 1.x demands 100 %"), "{illegal:?}: {told:?}");
        }
        let expected = ["queues: 1.x refuses queues without a `capacity`: `b`"];
        assert_eq!(told("{a: {capacity: 100 %}, b: {}}"), expected);
        assert_eq!(told("{a: {}}"), ["queues: 1.x refuses queues without a `capacity`: `a`"]);
        assert!(told("{}").is_empty() && told("{default: {minimum_user_limit: 5 %}}").is_empty());
    }

    #[test]
    fn in_1x_no_user_may_have_more_tasks_than_its_queue() {
        let queues = "queues: {a: {capacity: 100 %, max_active_tasks: 99999}}";
        let expected = "queues.a.max_active_tasks: a user of `a` may have 100,000 initialised tasks, \
                        but the queue only 99,999";
        assert_eq!(complaints_of(Rules::V1, queues), [expected]);
        let fewer = queues.replace("99999", "99999, max_active_tasks_per_user: 99999");
        assert!(complaints_of(Rules::V1, &fewer).is_empty());
        let inherited = "queues: {a: {capacity: 100 %, max_active_tasks_per_user: 3, queues: \
                         {b: {capacity: 100 %, max_active_tasks: 2}}}}";
        assert!(complaints_of(Rules::V1, inherited)[0].starts_with("queues.a.queues.b."));
    }

    #[test]
    fn a_maximum_is_not_below_the_capacity_and_users_get_something() {
        assert_eq!(
            complaints(
                "queues: {a: {capacity: 100 %, maximum_capacity: 50 %, minimum_user_limit: 0, \
                 user_limit_factor: 0}}"
            ),
            [
                "queues.a.maximum_capacity: `a` has 100 %, but gets 50 % at most",
                "queues.a.minimum_user_limit: the users of `a` get 1 % of it at least",
                "queues.a.user_limit_factor: the users of `a` would get nothing: a factor is above zero",
            ]
        );
    }

    #[test]
    fn a_maximum_is_not_below_what_is_left_for_a_queue() {
        assert_eq!(
            complaints("queues: {a: {capacity: 30 %}, b: {maximum_capacity: 20 %}}"),
            ["queues.b.maximum_capacity: `b` gets the 70 % that are left, but 20 % at most"]
        );
        assert_eq!(complaints("queues: {a: {}, b: {}, c: {maximum_capacity: 33.3333 %}}").len(), 0);
    }

    #[test]
    fn a_name_means_one_queue_and_time_goes_on() {
        assert_eq!(
            complaints("{queues: {a: {queues: {b: {}}}, b: {}}, init_poll: 0s}"),
            [
                "queues.b: there is a queue `b` already",
                "init_poll: `init_poll` must be above zero: at 0s time would stand still",
            ]
        );
    }

    #[test]
    fn queues_lie_sixty_four_deep_and_no_deeper() {
        let nested = |depth: usize| {
            let queue = |inner: Queues, level: usize| Queues {
                queues: [(level.to_string(), Queue { queues: inner.queues, ..Queue::default() })]
                    .into(),
                ..Queues::default()
            };
            (0..depth).fold(Queues::default(), queue)
        };
        assert!(nested(DEEPEST).check(Rules::V21).is_empty());
        assert_eq!(nested(DEEPEST + 9).check(Rules::V21).len(), 1);
    }

    #[test]
    fn jobs_find_a_place_or_are_told_so() {
        let told = |yaml: &str, name: &str| {
            let queues = read(&format!("queues: {yaml}")).queues;
            let found = unknown_names(&queues, &[name].into());
            found
                .first()
                .map(|one| format!("{}{}", one.message, if one.is_warning { "?" } else { "" }))
        };
        assert_eq!(told("{a: {}}", "a"), None);
        assert_eq!(told("{}", DEFAULT), None);
        let lost = "jobs of `b` stand in the queue `default`, since there is none of that name?";
        assert_eq!(told("{}", "b").as_deref(), Some(lost));
        assert_eq!(told("{default: {}, c: {}}", "b").as_deref(), Some(lost));
        assert!(told("{a: {}}", "b").unwrap().contains("is not there"));
        assert!(told("{a: {}}", DEFAULT).unwrap().contains("stands in the queue `default`"));
        assert!(told("{a: {queues: {b: {}}}}", "a").unwrap().contains("has queues inside of it"));
    }
}
