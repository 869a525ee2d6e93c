//! From the runs of a study to its results.
//!
//! Runs are read as they are asked for (`study_runs`). From them come the numbers of each cell (`findings`),
//! the comparisons (`comparisons`, of pairs by seed: `paired`), the histograms (`merged`), the tables
//! (`tables`) and the report (`report`), with the charts that a study has if it names none (`usual`).

pub(crate) mod comparisons;
pub(crate) mod findings;
pub(crate) mod merged;
pub(crate) mod paired;
pub(crate) mod report;
pub(crate) mod study_runs;
pub(crate) mod tables;
pub(crate) mod usual;
