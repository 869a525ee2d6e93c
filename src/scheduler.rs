//! The scheduling policies, one file each, and the parts that they share.

mod fifo;
pub mod part;

pub use fifo::{Fifo, FifoOptions};
