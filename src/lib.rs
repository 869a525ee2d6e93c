//! Mumakil: an actor-model, in-process emulator of a Hadoop MapReduce v1 cluster.

pub mod cli;
pub mod cluster;
pub mod emulation;
pub mod mapred;
pub mod output;
pub mod random;
pub mod record;
pub mod runtime;
pub mod scenario;
pub mod scheduler;
pub mod units;
pub mod verify;
pub mod workload;
