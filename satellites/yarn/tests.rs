//! Tests of whole runs.

mod golden;
