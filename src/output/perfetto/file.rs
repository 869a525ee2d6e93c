//! The file of a trace, which replaces nothing but an earlier one.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::counters::SIGN;
use super::{OutputError, Perfetto};
use crate::output::aside::{AsideFile, Over};
use crate::record::NodeLabel;

/// A trace in the making.
#[derive(Debug)]
pub struct PerfettoFile(AsideFile);

impl PerfettoFile {
    /// Begins the trace that will be at `target`. With `force`, an earlier one may be there.
    ///
    /// # Errors
    /// If the target exists and may not be replaced, or if nothing can be written beside it.
    pub fn create(target: &Path, force: bool) -> Result<Self, OutputError> {
        let over = if force { Over::Checked(check_trace) } else { Over::Nothing };
        AsideFile::create(target, over).map(Self)
    }

    /// Returns what writes the trace of a run on these nodes.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn watcher(&self, labels: Arc<[NodeLabel]>) -> Result<Perfetto, OutputError> {
        let target = self.0.target();
        let begin = |file| Perfetto::begin(file, target, labels);
        let error = |source| OutputError::Write { path: target.to_owned(), source };
        self.0.reopen().and_then(begin).map_err(error)
    }

    /// Puts the trace in its place and returns that.
    ///
    /// # Errors
    /// If somebody has put something there meanwhile, or if it cannot be written.
    pub fn commit(self) -> Result<PathBuf, OutputError> {
        self.0.put()
    }
}

/// Checks that nothing but an earlier trace is lost at `target`.
fn check_trace(target: &Path) -> Result<(), OutputError> {
    match is_ours(target) {
        Ok(true) => Ok(()),
        Ok(false) => Err(OutputError::Foreign {
            path: target.to_owned(),
            why: "it is no trace that Mumakil wrote".to_owned(),
        }),
        Err(source) => Err(OutputError::Read { path: target.to_owned(), source }),
    }
}

/// Returns whether a file is a trace of ours: one of its first packets says so.
fn is_ours(path: &Path) -> io::Result<bool> {
    if !fs::metadata(path)?.is_file() {
        return Ok(false);
    }
    let mut begin = Vec::new();
    File::open(path)?.take(4_096).read_to_end(&mut begin)?;
    Ok(begin.starts_with(b"\n") && begin.windows(SIGN.len()).any(|bytes| bytes == SIGN))
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    /// Writes the trace of a run in which nothing happened.
    fn write(target: &Path, force: bool) -> Result<PathBuf, OutputError> {
        let trace = PerfettoFile::create(target, force)?;
        drop(trace.watcher([].into())?);
        trace.commit()
    }

    #[test]
    fn a_trace_is_replaced_only_by_force() {
        let room = TempDir::new().unwrap();
        let target = room.path().join("deep/run.pftrace");
        write(&target, false).unwrap();
        assert!(matches!(write(&target, false), Err(OutputError::Exists { .. })));
        write(&target, true).unwrap();
        assert_eq!(fs::read_dir(room.path().join("deep")).unwrap().count(), 1);
    }

    #[test]
    fn somebodys_work_is_not_replaced() {
        let room = TempDir::new().unwrap();
        let target = room.path().join("thesis.tex");
        fs::write(&target, "On Mumakil").unwrap();
        let error = write(&target, true).unwrap_err();
        let expected =
            format!("{} is not replaced: it is no trace that Mumakil wrote", target.display());
        assert_eq!(error.to_string(), expected);
        assert_eq!(fs::read_to_string(&target).unwrap(), "On Mumakil");
        assert!(matches!(write(room.path(), true), Err(OutputError::Foreign { .. })));
    }

    #[test]
    fn a_dropped_trace_leaves_nothing() {
        let room = TempDir::new().unwrap();
        drop(PerfettoFile::create(&room.path().join("run.pftrace"), false).unwrap());
        assert_eq!(fs::read_dir(room.path()).unwrap().count(), 0);
    }
}
