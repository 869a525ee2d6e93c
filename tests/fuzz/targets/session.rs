//! Sends any bytes to the server of a live session.

#![no_main]

#[path = "../../../satellites/live/tests/session.rs"]
mod session;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| session::session(bytes));
