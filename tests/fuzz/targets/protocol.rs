//! Any bytes as the answers of a policy that is a program.

#![no_main]

#[path = "../exercise.rs"]
#[expect(dead_code, reason = "each target exercises one format")]
mod exercise;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| drop(exercise::protocol(bytes)));
