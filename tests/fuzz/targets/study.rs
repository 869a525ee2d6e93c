//! Edits the files of a study, and reads them all.

#![no_main]

#[path = "../exercise.rs"]
#[expect(dead_code, reason = "each target exercises one format")]
mod exercise;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| exercise::folders::study(bytes));
