//! Why results could not be written, or read back.

use std::io;
use std::path::PathBuf;

/// Why results could not be written, or read back.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// The target exists.
    #[error("{} exists already (--force replaces the results of an earlier run)", path.display())]
    Exists {
        /// The target.
        path: PathBuf,
    },
    /// The target exists, and Mumakil did not write all of it.
    #[error("{} is not replaced: {why}", path.display())]
    Foreign {
        /// The target.
        path: PathBuf,
        /// Why Mumakil does not recognise the target as a run's output.
        why: String,
    },
    /// Another process is writing there.
    #[error("another process works on {}; wait for it, or choose another folder", path.display())]
    Busy {
        /// The folder.
        path: PathBuf,
    },
    /// A file or folder cannot be written.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file of an earlier run or study does not hold what Mumakil wrote into it.
    #[error("{} is damaged; restore it, or name another folder", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The mistake in it.
        source: serde_json::Error,
    },
    /// A file or folder cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}
