//! What is written aside and not yet in its place.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;

/// The hidden folders and files that are being filled.
///
/// A process that is told to end drops nothing; whoever ends it removes these.
#[derive(Clone, Debug, Default)]
pub struct Unfinished {
    paths: Arc<Mutex<Vec<PathBuf>>>,
}

impl Unfinished {
    /// Notes that something is being filled.
    pub(super) fn add(&self, path: &Path) {
        self.paths.lock().push(path.to_owned());
    }

    /// Calls `put`, which puts something in its place, without being interrupted.
    pub(super) fn settle<T>(&self, path: &Path, put: impl FnOnce() -> T) -> T {
        let mut paths = self.paths.lock();
        let result = put();
        paths.retain(|other| other != path);
        result
    }

    /// Removes what is unfinished. Until what it returns is dropped, nothing is put in its place:
    /// the process is meant to end before.
    #[must_use]
    pub fn remove(&self) -> impl Sized {
        let paths = self.paths.lock();
        for path in &*paths {
            // A run goes on writing for a moment and may add a file to what is being removed.
            for _ in 0..10 {
                let removed = fs::remove_dir_all(path).or_else(|_| fs::remove_file(path));
                if removed.is_ok() || !path.exists() {
                    break;
                }
            }
        }
        paths
    }
}
