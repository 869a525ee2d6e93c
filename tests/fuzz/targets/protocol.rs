//! Reads any bytes as the answers of an external policy.

#![no_main]

#[path = "../exercise.rs"]
#[expect(dead_code, reason = "each target exercises one format")]
mod exercise;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| drop(exercise::protocol(bytes)));
