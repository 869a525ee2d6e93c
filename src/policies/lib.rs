//! The schedulers that Mumakil brings, one file or folder each, and a policy that runs in another
//! process.
//!
//! A policy sees what the JobTracker of `mumakil-core` shows it and decides which job gets a slot.
//! It does not know scenarios: the registry in `mumakil-scenario` finds a policy by its name.

pub mod external;
pub mod scheduler;
