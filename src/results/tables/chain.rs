//! `chains.csv`.

use super::cell::CellText;
use super::job::JobEnd;
use crate::table;

table! {
    /// How long chains of jobs take; `after` links the jobs of a chain. Chains are in the order of
    /// their first jobs.
    "chains.csv" pub struct ChainRow {
        /// The number of the first job.
        job: u32,
        /// Its name.
        name: CellText,
        /// How many jobs the chain has.
        jobs: u32,
        /// The first arrival of its jobs.
        submit_ms: u64,
        /// The last end of its jobs; empty if one has not ended.
        finish_ms: Option<u64>,
        /// From the first arrival to the last end.
        sojourn_ms: Option<u64>,
        /// How it ended: as the first of its jobs that did not succeed, or `succeeded`.
        outcome: Option<JobEnd>,
    }
}
