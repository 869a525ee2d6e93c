//! `las` and `edf`: orders of jobs that need no sizes. Each is a rank of [`ByRank`], with a name of
//! its own.
//!
//! ```text
//! las   -attained    least attained service: the job that has been served least
//! edf   -deadline    the earliest deadline; jobs without one come last, in the order of arrival
//! ```
//! On one slot and with preemption, `edf` misses no deadline if all can be kept (Liu and Layland,
//! 1973).

use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use mumakil_base::mutated;
use mumakil_base::with_defaults;
use mumakil_core::mapred::{Complaint, OptionFacts, Policy, PolicySite, Scheduler, Wrapper};
use mumakil_policies::scheduler::shared::delay::DelaySpec;
use mumakil_policies::scheduler::shared::suspensions::{SlotTaking, SuspendedSpec};
use mumakil_policies::scheduler::{ByRank, RankFormula, RankOptions};

/// Serves jobs by a rank that has a name of its own.
#[derive(Debug)]
pub struct ByNamedRank<R> {
    policy: ByRank,
    rank: PhantomData<R>,
}

/// A rank with a name.
pub trait NamedRank: Send + 'static {
    /// The policy's name.
    const NAME: &'static str;
    /// The description of the policy in lists.
    const ABOUT: &'static str;
    /// The group in which the policy is listed.
    const GROUP: &'static str;
    /// The rank of a job; the highest comes first.
    const RANK: &'static str;
}

/// Least attained service, also called foreground-background.
pub type Las = ByNamedRank<LeastAttained>;

/// The earliest deadline first.
pub type Edf = ByNamedRank<EarliestDeadline>;

/// The job first that has had the least slot time.
#[derive(Debug)]
pub struct LeastAttained;

impl NamedRank for LeastAttained {
    const NAME: &'static str = "las";
    const ABOUT: &'static str = "the job first that has been served least; knows no sizes";
    const GROUP: &'static str = "by size";
    const RANK: &'static str = "-attained";
}

/// The job first whose deadline is first.
#[derive(Debug)]
pub struct EarliestDeadline;

impl NamedRank for EarliestDeadline {
    const NAME: &'static str = "edf";
    const ABOUT: &'static str = "the job with the earliest deadline first";
    const GROUP: &'static str = "by deadline";
    const RANK: &'static str = "-deadline";
}

with_defaults! {
    /// The options of `las` and `edf`.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(default, deny_unknown_fields)]
    pub struct NamedRankOptions {
        // As the disciplines of theory, so that only the order differs in comparisons.
        /// How a job that should be served gets slots that other jobs hold.
        pub preemption: SlotTaking = SlotTaking::Wait,
        /// How many attempts may be suspended on one tracker.
        #[schemars(extend("x-only-if" = {"preemption": "eager"}))]
        pub suspended: SuspendedSpec = SuspendedSpec::FEW,
        /// How long jobs wait for their input.
        pub delay: DelaySpec = DelaySpec::NONE,
    }
}

impl<R: NamedRank> Policy for ByNamedRank<R> {
    const NAME: &'static str = R::NAME;
    const ABOUT: &'static str = R::ABOUT;
    const GROUP: &'static str = R::GROUP;
    type Options = NamedRankOptions;

    fn settle(options: &mut NamedRankOptions, _: &PolicySite<'_>) -> Vec<Complaint> {
        options.suspended.complaint(&["suspended", "few"]).into_iter().collect()
    }

    fn facts(options: &NamedRankOptions) -> OptionFacts<'_> {
        options.delay.facts()
    }

    fn new(NamedRankOptions { preemption, suspended, delay }: NamedRankOptions) -> Self {
        let rank = mutated!(R::RANK, "ranked/reversed" => &R::RANK[1..]);
        let jobs = RankFormula::of(rank).expect("a known name");
        let suspended = Some(suspended);
        let options = RankOptions { jobs, delay, preemption, suspended, ..RankOptions::default() };
        Self { policy: ByRank::new(options.into()), rank: PhantomData }
    }
}

impl<R: NamedRank> Wrapper for ByNamedRank<R> {
    fn inner(&self) -> &dyn Scheduler {
        &self.policy
    }

    fn pass<T>(&mut self, ask: impl FnOnce(&mut dyn Scheduler) -> T) -> T {
        ask(&mut self.policy)
    }
}
