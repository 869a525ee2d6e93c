//! Edits a study whose runs are in a pack, and reads it.

#![no_main]

#[path = "../exercise.rs"]
#[expect(dead_code, reason = "each target exercises one format")]
mod exercise;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| exercise::folders::pack(bytes));
