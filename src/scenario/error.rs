//! Why a scenario cannot be run.

use std::io;
use std::path::PathBuf;

use mumakil_yaml::{Finding, FindingSpot, print};

/// Larger files are refused unread. Chosen: it holds more than 100,000 listed jobs; longer lists
/// belong in a file of their own (`workload: {jobs: jobs.csv}`).
pub(super) const LARGEST_FILE: u64 = 16 << 20;

/// Why a scenario cannot be run.
///
/// Print it after `error: `: where there are several findings, the others bring their own.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScenarioError {
    /// The file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is larger than any scenario, and was not read.
    #[error("the scenario {} is larger than {} MiB", path.display(), LARGEST_FILE >> 20)]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// The file is something else than text.
    #[error("the scenario {} is not a text: byte {offset} does not belong in UTF-8", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
        /// The first wrong byte, from 0.
        offset: usize,
    },
    /// The text says something that cannot be.
    #[error("{}", print(findings))]
    Invalid {
        /// All that was found, in the order of the text; never empty.
        findings: Vec<Finding>,
    },
}

impl ScenarioError {
    /// Returns the error of these findings, in the order of the text.
    pub fn invalid(mut findings: Vec<Finding>) -> Self {
        findings.sort_by_key(|finding| match finding.place {
            FindingSpot::Text { line, column, .. } => (line, column),
            // Arguments of the command line and whole files have no line: they come first.
            _ => (0, 0),
        });
        Self::Invalid { findings }
    }
}
