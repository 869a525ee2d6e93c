//! Reads any bytes as the log of a JobTracker or of an application master.

#![no_main]

#[path = "../../../satellites/logs/tests/bytes.rs"]
mod bytes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bytes::log(bytes));
