//! The schedulers that Mumakil brings, one file each, and a policy that is another process.
//!
//! A policy sees what the JobTracker of `mumakil-core` shows it and says who gets a slot. Of scenarios it
//! knows nothing: their registry, in `mumakil-scenario`, finds it by its name.

pub mod external;
pub mod scheduler;
