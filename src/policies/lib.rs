//! The schedulers that Mumakil brings, one file each, and a policy that is another process.
//!
//! ```text
//! fifo  naive-fair  fair-skip  fair  fair-deficit    of Hadoop and of papers
//! modified-fair  capacity  hfsp
//! ps  fsp  srpt                                      what theory would do, to measure others by
//! external                                           a process of the user's, in any language
//! ```
//! A policy sees what the JobTracker of `mumakil-core` shows it and says which job gets a slot. It knows
//! nothing of scenarios: their registry, in `mumakil-scenario`, finds it by its name.

pub mod external;
pub mod scheduler;
