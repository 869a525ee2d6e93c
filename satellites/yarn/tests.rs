//! Tests of whole runs.

mod bench;
mod golden;
mod invariants;
mod rules;
mod waits;
