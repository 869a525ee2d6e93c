//! The reasons why a scenario cannot be run.

use std::io;
use std::path::PathBuf;

use mumakil_yaml::{Finding, FindingSpot, print};

/// The largest size of a file in bytes; larger files are not read. Chosen: it holds more than
/// 100,000 listed jobs; longer lists belong in a file of their own (`workload: {jobs: jobs.csv}`).
pub(super) const LARGEST_FILE: u64 = 16 << 20;

/// The reason why a scenario cannot be run.
///
/// Its text is meant to follow `error: `. With several findings, the text has an `error: ` before
/// each finding but the first.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScenarioError {
    /// The file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The file is too large, and was not read.
    #[error("the scenario {} is larger than {} MiB", path.display(), LARGEST_FILE >> 20)]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// The file is not text.
    #[error("the scenario {} is not a text: byte {offset} does not belong in UTF-8", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
        /// The offset of the first byte that is not UTF-8, from 0.
        offset: usize,
    },
    /// The scenario has mistakes.
    #[error("{}", print(findings))]
    Invalid {
        /// All findings, in the order of the text; never empty.
        findings: Vec<Finding>,
    },
}

impl ScenarioError {
    /// Returns an error with these findings, sorted by their lines.
    pub fn invalid(mut findings: Vec<Finding>) -> Self {
        findings.sort_by_key(|finding| match finding.place {
            FindingSpot::Text { line, column, .. } => (line, column),
            // Command-line arguments and whole files have no line: they come first.
            _ => (0, 0),
        });
        Self::Invalid { findings }
    }
}
