//! Tests of whole runs.

mod bench;
mod faults;
pub(crate) mod folder;
mod golden;
mod invariants;
mod mapreduce;
mod rules;
mod scenarios;
mod waits;
