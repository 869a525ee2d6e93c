//! Tests of whole runs.

mod bench;
mod faults;
mod golden;
mod invariants;
mod rules;
mod scenarios;
mod waits;
