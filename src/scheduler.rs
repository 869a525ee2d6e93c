//! The scheduling policies, one file each.

mod fifo;

pub use fifo::{Fifo, FifoOptions};
