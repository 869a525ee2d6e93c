//! The scheduling policies, one file or folder each, and the parts that they share.

mod fair;
mod fair_deficit;
mod fifo;
mod modified_fair;
mod naive;
pub mod part;

pub use fair::{Fair, FairOptions, Variant};
pub use fair_deficit::{FairDeficit, FairDeficitOptions};
pub use fifo::{Fifo, FifoOptions};
pub use modified_fair::{ModifiedFair, ModifiedFairOptions, PriorityAdjustment};
pub use naive::{FairSkip, FairSkipOptions, NaiveFair, NaiveFairOptions};
