//! Does the runs of a study.
//! ```text
//! shared_runs  claims/3f9a… -> ours      (only if several processes share the folder)
//! work         a thread does the run, in a hidden folder
//! store        runs/3f9a…/ appears as a whole, or the run goes into a pack
//! failed       or the run fails, and a note has the reason
//! ```
//! `forecast` tries a few runs and estimates the time of all; `run_warnings` counts the warnings of
//! the runs.

pub mod failed;
pub(crate) mod forecast;
pub(crate) mod run_warnings;
pub(crate) mod shared_runs;
pub(crate) mod soundness;
pub mod store;
pub(crate) mod verified;
pub(crate) mod work;
