//! `las`: least attained service, also called foreground-background. A free slot goes to the job
//! whose attempts have held slots for the shortest time in all.
//!
//! It knows no sizes, and serves small jobs first all the same: a new job has had nothing. It is the
//! rank `-attained` of [`ByRank`].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rank::{ByRank, PreemptSpec, RankFormula, RankOptions};
use super::shared::delay::DelaySpec;
use super::shared::suspensions::{SlotTaking, SuspendedSpec};
use mumakil_core::mapred::{Complaint, Policy, PolicySite, Scheduler, Wrapper};

/// Serves the job first that has been served least.
#[derive(Debug)]
pub struct Las {
    policy: ByRank,
}

/// The options of `las`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LasOptions {
    /// How a job that should be served gets slots that other jobs hold.
    pub preemption: SlotTaking,
    /// How many attempts may be suspended on one tracker.
    #[schemars(extend("x-only-if" = {"preemption": "eager"}))]
    pub suspended: SuspendedSpec,
    /// How long jobs wait for their input.
    pub delay: DelaySpec,
}

impl Default for LasOptions {
    fn default() -> Self {
        // As the other disciplines of theory, so that only the order differs in comparisons.
        Self { preemption: SlotTaking::Wait, suspended: SuspendedSpec::FEW, delay: DelaySpec::NONE }
    }
}

impl Policy for Las {
    const NAME: &'static str = "las";
    const ABOUT: &'static str = "the job first that has been served least; knows no sizes";
    type Options = LasOptions;
    const HEEDS_BYTES: bool = false;

    fn settle(options: &mut LasOptions, _: &PolicySite<'_>) -> Vec<Complaint> {
        options.suspended.complaint(&["suspended", "few"]).into_iter().collect()
    }

    fn new(LasOptions { preemption, suspended, delay }: LasOptions) -> Self {
        let jobs = RankFormula::of("-attained").expect("a known name");
        let preempt = PreemptSpec { how: preemption, when: None, suspended: Some(suspended) };
        let options = RankOptions { jobs, delay, preempt: Some(preempt), ..RankOptions::default() };
        Self { policy: ByRank::new(options.into()) }
    }
}

impl Wrapper for Las {
    fn inner(&self) -> &dyn Scheduler {
        &self.policy
    }

    fn pass<R>(&mut self, ask: impl FnOnce(&mut dyn Scheduler) -> R) -> R {
        ask(&mut self.policy)
    }
}
