//! Tests of whole runs.

mod bench;
mod faults;
mod golden;
mod invariants;
mod mapreduce;
mod rules;
mod waits;
