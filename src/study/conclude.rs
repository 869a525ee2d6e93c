//! Makes a study's results from its runs.
//!
//! ```text
//! study_runs   reads a run's tables when an expression asks for them
//!   findings   for each metric and cell: a number for each seed, their mean and interval
//!     comparisons   for two compared values: the ratio by seed, and a verdict
//!   differing_job   for the first two compared values: the job that differs most, and why
//!   same_runs  cells that differ in nothing
//!   merged     latency histograms of all seeds, added up
//! teeth: which sabotages the expectations notice
//! gist: the sentences on top
//! tables, report (with the charts of the study, or the default ones)
//! ```

pub(crate) mod comparisons;
pub(crate) mod differing_job;
pub(crate) mod findings;
pub(crate) mod gist;
pub(crate) mod merged;
pub(crate) mod report;
pub(crate) mod same_runs;
pub(crate) mod study_runs;
pub(crate) mod tables;
pub(crate) mod teeth;
pub(crate) mod usual;
