//! The scheduling policies, one file or folder each, and the parts that they share.

mod capacity;
mod fair;
mod fair_deficit;
mod fifo;
#[cfg(test)]
mod growth;
mod hfsp;
mod modified_fair;
mod naive;
pub mod part;
#[cfg(test)]
mod telling;
mod yardsticks;

pub use capacity::{Capacity, CapacityOptions, Queue, QueueBy, Queues, Rules};
pub use fair::{Fair, FairOptions, Variant};
pub use fair_deficit::{FairDeficit, FairDeficitOptions};
pub use fifo::{Fifo, FifoOptions};
pub use hfsp::{
    Arrival, Confidence, Discount, Hfsp, HfspOptions, Means, Order, Sampled, Spared, SuspendedSpec,
    Variant as HfspVariant, Victims, VirtualSlots, Weights,
};
pub use modified_fair::{Maximum, ModifiedFair, ModifiedFairOptions, PriorityAdjustment};
pub use naive::{FairSkip, FairSkipOptions, NaiveFair, NaiveFairOptions};
pub use yardsticks::{
    BySize, Discipline, FairSojourn, Fsp, Ps, ShortestRemaining, Srpt, YardstickOptions,
};
