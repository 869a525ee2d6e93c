//! Reads any bytes as the log of a JobTracker or of an application master.

#![no_main]

#[path = "../exercise.rs"]
#[expect(dead_code, reason = "each target exercises one format")]
mod exercise;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| exercise::log(bytes));
