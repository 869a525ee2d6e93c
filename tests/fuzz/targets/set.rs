//! Reads any bytes as arguments of `--set`, one on each line.

#![no_main]

#[path = "../exercise.rs"]
#[expect(dead_code, reason = "each target exercises one format")]
mod exercise;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| exercise::set(bytes));
