//! The scheduling policies, one file or folder each, and the parts that they share.

mod capacity;
mod fair;
mod fair_deficit;
mod fifo;
mod naive;
pub mod part;

pub use capacity::{Capacity, CapacityOptions, Queue, Queues, Rules};
pub use fair::{Fair, FairOptions, Variant};
pub use fair_deficit::{FairDeficit, FairDeficitOptions};
pub use fifo::{Fifo, FifoOptions};
pub use naive::{FairSkip, FairSkipOptions, NaiveFair, NaiveFairOptions};
