//! The schedulers that Mumakil brings, one file or folder each.
//!
//! A policy sees what the JobTracker of `mumakil-core` shows it and decides which job gets a slot.
//! It does not know scenarios. [`scheduler::entries`] lists the policies for the registry of
//! `mumakil-scenario`, which finds a policy by its name.

pub mod scheduler;
