//! Many runs: studies that vary a scenario and say what came of it, and the hunt for scenarios that break.
//!
//! The topmost library. A study makes scenarios, lets `mumakil-run` run them and reads what they leave;
//! how people call it, and on which machines it runs, is told by the command `mumakil` above.

pub mod chaos;
pub mod study;
