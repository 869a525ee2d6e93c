//! The base of Mumakil: code that does not know clusters, jobs or Hadoop.
//!
//! ```text
//! units        3s, 128MiB, 5 %: quantities with their unit, as people write them
//! random       the random stream of each purpose
//! statistics   means, intervals, tests
//! expression   a < b + 3s: the syntax of expectations and of ranks, with units
//! theory       closed forms to compare with runs
//! panics       the panics that no code has answered for
//! forms        values that are written bare, as a list or as a mapping
//! files, disk  the names of a run's files, and all changes of the disk
//! shell        words of a command that is shown, quoted
//! defaults     options whose defaults stand beside them
//! worded       enums whose values each have a word
//! mutants      wrong versions of single mechanisms, in builds with assertions
//! ```
//!
//! This crate depends on no other crate of Mumakil; all others depend on it.

mod defaults;
pub mod dense;
pub mod disk;
pub mod expression;
pub mod files;
mod forms;
pub mod mutants;
pub mod nearest;
pub mod panics;
pub mod random;
pub mod shell;
pub mod statistics;
pub mod theory;
pub mod units;
mod worded;
