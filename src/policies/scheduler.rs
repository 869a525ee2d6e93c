//! The scheduling policies, one file or folder each, and the code that they share.
//!
//! ```text
//! heartbeat with free slots ─▶ JobTracker ─offer─▶ policy
//!     its own order      which job comes first: by arrival, share, capacity or size
//!     estimator          how large is the job, as far as it is known?
//!     shared::load       has this tracker its part of the load already?
//!     shared::reduces    which job's reduces, and how many of them
//!     shared::delay      is the job's input near enough, or does the job wait?
//!     launch ─▶ a directive in the heartbeat's answer
//! ```

#[cfg(test)]
mod alterations;
mod aria;
mod capacity;
mod choice;
mod drf;
mod dynamic_priority;
mod estimator;
mod fair;
mod fair_deficit;
mod fifo;
#[cfg(test)]
mod growth;
mod hfsp;
mod modified_fair;
mod naive;
mod offers;
mod quincy;
mod rank;
mod ranked;
pub mod shared;
#[cfg(test)]
mod truthfulness;
mod yardsticks;

pub use aria::{Aria, AriaOptions, DeadlineBound};
pub use capacity::{Capacity, CapacityOptions, JavaMaps, Queue, QueueBy, Queues, Rules};
pub use choice::SchedulerChoice;
pub use drf::{Drf, DrfOptions, WeightedPool};
pub use dynamic_priority::{DynamicPriority, DynamicPriorityOptions, PoolBudget};
pub use estimator::{Estimator, MeasuredTask, SizeError, SizeFormula, SizeFormulas};
pub use fair::{Fair, FairOptions, FairVariant, LaunchCap};
pub use fair_deficit::{FairDeficit, FairDeficitOptions};
pub use fifo::{Fifo, FifoOptions};
pub use hfsp::{
    Confidence, Hfsp, HfspOptions, HfspOrder, HfspVariant, LateOrder, SampledTasks, SparedAttempts,
    Victims, Weights,
};
pub use modified_fair::{Maximum, ModifiedFair, ModifiedFairOptions, PriorityAdjustment};
pub use naive::{FairSkip, FairSkipOptions, FewestFirst, NaiveFair, NaiveFairOptions};
pub use offers::{FrameworkSpec, InnerPolicy, NodeSharing, Offers, OffersOptions};
pub use quincy::{Quincy, QuincyOptions};
pub use rank::{
    ByRank, FACTS, FUNCTIONS, PreemptSpec, RankFact, RankFormula, RankFunction, RankOptions,
    VICTIM, VictimChoice,
};
pub use ranked::{
    ByNamedRank, EarliestDeadline, Edf, Las, LeastAttained, NamedRank, NamedRankOptions,
};
pub use shared::suspensions::{SlotTaking, SuspendedSpec};
pub use yardsticks::{
    BySize, Discipline, FairSojourn, Fsp, Ps, ShortestRemaining, Srpt, YardstickOptions,
};

use mumakil_core::mapred::Policy;

/// A generic function that is called once for the type of each policy.
pub trait PolicyVisitor {
    /// Visits one policy.
    fn visit<P: Policy>(&mut self);
}

/// Calls the visitor for each policy that Mumakil brings, in the order in which users see them.
pub fn visit_policies(visitor: &mut impl PolicyVisitor) {
    visitor.visit::<Fifo>();
    visitor.visit::<NaiveFair>();
    visitor.visit::<FairSkip>();
    visitor.visit::<Fair>();
    visitor.visit::<FairDeficit>();
    visitor.visit::<ModifiedFair>();
    visitor.visit::<Capacity>();
    visitor.visit::<Drf>();
    visitor.visit::<DynamicPriority>();
    visitor.visit::<Offers>();
    visitor.visit::<Quincy>();
    visitor.visit::<Hfsp>();
    visitor.visit::<ByRank>();
    visitor.visit::<Las>();
    visitor.visit::<Edf>();
    visitor.visit::<Aria>();
    visitor.visit::<Ps>();
    visitor.visit::<Fsp>();
    visitor.visit::<Srpt>();
}
