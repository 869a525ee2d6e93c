//! The scheduling policies, one file or folder each, and the parts that they share.

mod capacity;
mod fair;
mod fair_deficit;
mod fifo;
mod hfsp;
mod modified_fair;
mod naive;
pub mod part;
mod yardsticks;

pub use capacity::{Capacity, CapacityOptions, Queue, QueueBy, Queues, Rules};
pub use fair::{Fair, FairOptions, Variant};
pub use fair_deficit::{FairDeficit, FairDeficitOptions};
pub use fifo::{Fifo, FifoOptions};
pub use hfsp::{
    Confidence, Hfsp, HfspOptions, Means, Order, Sampled, SuspendedSpec, Variant as HfspVariant,
    Victims,
};
pub use modified_fair::{Maximum, ModifiedFair, ModifiedFairOptions, PriorityAdjustment};
pub use naive::{FairSkip, FairSkipOptions, NaiveFair, NaiveFairOptions};
pub use yardsticks::{
    BySize, Discipline, FairSojourn, Fsp, Ps, ShortestRemaining, Srpt, YardstickOptions,
};
