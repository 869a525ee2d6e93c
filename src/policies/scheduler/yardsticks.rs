//! `ps`, `fsp` and `srpt`: theoretical disciplines on this cluster, with which policies are
//! compared.
//!
//! `ps` shares the slots: the job with the fewest running tasks comes first. `fsp` serves jobs in
//! the order in which sharing would end them, and `srpt` the job with the least work left. The last
//! two know the true sizes of jobs, which a real cluster never knows; with an error or an estimator
//! of the user's, they show what wrong sizes cost. They wait for free slots, unless the options let
//! them preempt. `tests/it/fluid.rs` has the same disciplines on a server that can be divided into any
//! fractions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::estimator::{Estimator, SizeError};
use super::hfsp::{
    Hfsp, HfspOptions, HfspOrder, HfspVariant, LateOrder, Victims, VirtualSlots, Weights,
};
use super::naive::FewestFirst;
use super::shared::delay::{Delay, DelaySpec};
use super::shared::reduces::Reduces;
use super::shared::suspensions::{SlotTaking, SuspendedSpec};
use mumakil_base::units::{Count, Fraction};
use mumakil_base::with_defaults;
use mumakil_core::mapred::{Complaint, OptionFacts, Policy, PolicySite, Scheduler, Wrapper};

/// Processor sharing, by counting running tasks.
pub type Ps = FewestFirst<()>;

impl Policy for Ps {
    const NAME: &'static str = "ps";
    const ABOUT: &'static str = "for comparison: all jobs share the slots equally";
    const GROUP: &'static str = "the best that is possible where sizes are known";
    type Options = ();

    fn facts((): &()) -> OptionFacts<'_> {
        OptionFacts { heeds_bytes: false, ..OptionFacts::default() }
    }

    fn new((): ()) -> Self {
        Self::with(Delay::by_skips(Some(0), 0), Reduces::default())
    }
}

/// The fair sojourn protocol, with true sizes.
pub type Fsp = BySize<false>;

/// Shortest remaining processing time first, with true sizes.
pub type Srpt = BySize<true>;

/// Serves jobs by their true sizes: by the work left, or in the order in which sharing would end
/// them.
#[derive(Debug)]
pub struct BySize<const BY_LEFT: bool>(Hfsp);

with_defaults! {
    /// The options of `fsp` and `srpt`.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(default, deny_unknown_fields)]
    pub struct YardstickOptions {
        /// How the sizes of jobs are known; no sample is measured.
        pub estimator: Estimator = Estimator::Oracle,
        /// Makes the sizes wrong on purpose.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub error: Option<SizeError> = None,
        /// In which order jobs whose sizes are used up are served before all others.
        pub late: LateOrder = LateOrder::InTurn,
        /// By what weight jobs share, in the order of `fsp` and while they are late.
        pub weights: Weights = Weights::Equal,
        /// How a job that should be served gets slots that other jobs hold.
        pub preemption: SlotTaking = SlotTaking::Wait,
        /// How many attempts may be suspended on one tracker.
        #[schemars(extend("x-only-if" = {"preemption": "eager"}))]
        // The numbers of `hfsp` for its first paper, so that only the order differs in
        // comparisons.
        pub suspended: SuspendedSpec = SuspendedSpec::FEW,
        /// How long jobs wait for their input.
        pub delay: DelaySpec = DelaySpec::NONE,
    }
}

impl YardstickOptions {
    fn in_order(&self, by_left: bool) -> HfspOptions {
        let order = if by_left { HfspOrder::RemainingWork } else { HfspOrder::ProjectedFinish };
        HfspOptions {
            variant: HfspVariant::Paper2013,
            estimator: Some(self.estimator.clone()),
            error: self.error.clone(),
            // All sizes are known, so there are no samples and no slots for them.
            sample: Some(Count::of(0)),
            training_slots: Some(Fraction::ZERO),
            order: Some(order),
            late: Some(self.late),
            weights: Some(self.weights.clone()),
            preemption: Some(self.preemption),
            // As in theory, the job that would be served last gives up its slot.
            victims: Some(Victims::LastJob),
            suspended: Some(self.suspended),
            delay: Some(self.delay.clone()),
            ..HfspOptions::default()
        }
    }
}

impl<const BY_LEFT: bool> Policy for BySize<BY_LEFT> {
    const NAME: &'static str = if BY_LEFT { "srpt" } else { "fsp" };
    const ABOUT: &'static str = if BY_LEFT {
        "for comparison: the job with the least work left first, by true sizes"
    } else {
        "for comparison: first the job that equal sharing would end first, by true sizes"
    };
    const GROUP: &'static str = "the best that is possible where sizes are known";
    type Options = YardstickOptions;

    fn settle(options: &mut YardstickOptions, site: &PolicySite<'_>) -> Vec<Complaint> {
        if options.estimator.needs_sample() {
            let message = format!(
                "`{}` measures no samples, from which this estimator estimates",
                Self::NAME
            );
            let hint = "`hfsp` does; here are `oracle`, `formula` and `named`";
            return vec![Complaint::error(&["estimator"], message, hint)];
        }
        Hfsp::settle(&mut options.in_order(BY_LEFT), site)
    }

    fn facts(options: &YardstickOptions) -> OptionFacts<'_> {
        OptionFacts { estimator: options.estimator.named(), ..options.delay.facts() }
    }

    fn new(options: YardstickOptions) -> Self {
        let mut rules = options.in_order(BY_LEFT).rules();
        // Theory shares exactly. With whole slots, some jobs would have none.
        rules.virtual_slots = VirtualSlots::Parts;
        Self(Hfsp::with(rules))
    }
}

impl<const BY_LEFT: bool> Wrapper for BySize<BY_LEFT> {
    fn inner(&self) -> &dyn Scheduler {
        &self.0
    }

    fn pass<R>(&mut self, ask: impl FnOnce(&mut dyn Scheduler) -> R) -> R {
        ask(&mut self.0)
    }
}
