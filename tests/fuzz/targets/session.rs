//! Sends any bytes to the server of a live session.

#![no_main]

#[path = "../exercise.rs"]
#[expect(dead_code, reason = "each target exercises one format")]
mod exercise;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| exercise::session::session(bytes));
