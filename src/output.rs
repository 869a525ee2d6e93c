//! The folder that a run leaves: whole or not at all, and comparable by a word.
//!
//! A run writes into a hidden folder beside the place where its results will be
//! ([`RunFolder`]); only a complete one takes that place. [`Digest`] names the bytes of all
//! deterministic outputs by eight letters that two people can compare on the telephone, and
//! [`Perf`] is the one file that is not among them. The [`report`] shows what is in the others.

mod digest;
mod file;
mod folder;
#[cfg(feature = "parquet")]
pub mod parquet;
mod perf;
pub mod perfetto;
pub mod report;
pub mod results;
mod unfinished;

pub use digest::Digest;
pub use file::write_file;
pub use folder::{EXPECTATIONS, OutputError, REPORT, RESOLVED, RunFolder};
pub use perf::{DecisionTime, Perf};
pub use unfinished::Unfinished;
