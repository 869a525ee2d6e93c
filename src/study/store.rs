//! Where a study's runs are kept: a folder for each, under the name of the run.
//!
//! A run's folder is there whole or not at all, so a study that was ended at any moment goes on
//! with what is missing, and several machines may fill one store. A process that writes claims the
//! folder first: it must be the study's own, and no other process may be at work there.

use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::sheet;
use crate::disk;
use crate::files::RESOLVED;
use crate::output::{HIDDEN, OutputError, RunFolder};

/// The folder in a study's folder that has the runs.
pub(super) const RUNS: &str = "runs";
/// The folder in a study's folder that has the charts.
pub(super) const CHARTS: &str = "charts";
/// The folder in a study's folder that has the scenarios of runs that failed.
pub const FAILED: &str = "failed";
/// The folder in a study's folder that has signs of life.
pub const AT_WORK: &str = "at-work";
/// The file in a study's folder that who writes there holds a lock of.
const LOCK: &str = ".lock";

/// The runs of a study.
#[derive(Clone, Debug)]
pub struct Store {
    study: PathBuf,
}

/// A study's folder in which this process may write, until it is dropped.
#[derive(Debug)]
pub struct Claim {
    /// `None` where the file system has no locks.
    _lock: Option<File>,
}

/// Who else may write into a study's folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// Nobody.
    Alone,
    /// Those who do other parts of the same study.
    Parts,
}

impl Store {
    /// Returns the store in a study's folder, which need not be there.
    pub fn of(study: &Path) -> Self {
        Self { study: study.to_owned() }
    }

    /// Claims the folder for a study of this name, and makes it if need be. Who is alone there
    /// removes what killed processes have left half-written.
    ///
    /// # Errors
    /// If there is something else than this study, if somebody else works on it, or if nothing can
    /// be written.
    pub fn claim(&self, study: &str, share: Share) -> Result<Claim, OutputError> {
        check(&self.study, study)?;
        let path = self.study.join(LOCK);
        let error = |source| OutputError::Write { path: path.clone(), source };
        disk::create_dir_all(&self.study).map_err(error)?;
        let open = || File::options().create(true).append(true).open(&path);
        let file = disk::change(&path, open).map_err(error)?;
        let locked = match share {
            Share::Alone => file.try_lock(),
            Share::Parts => file.try_lock_shared(),
        };
        let lock = match locked {
            Ok(()) => Some(file),
            Err(TryLockError::WouldBlock) => {
                return Err(OutputError::Busy { path: self.study.clone() });
            }
            // Without locks users have to look after it themselves.
            Err(TryLockError::Error(_)) => None,
        };
        if share == Share::Alone {
            clear(&self.study, |name| name.starts_with(HIDDEN))?;
            for folder in [RUNS, CHARTS, FAILED, AT_WORK] {
                clear(&self.study.join(folder), |name| name.starts_with(HIDDEN))?;
            }
        }
        Ok(Claim { _lock: lock })
    }

    /// Returns the study's folder.
    pub fn folder(&self) -> &Path {
        &self.study
    }

    /// Returns where a run is kept.
    pub fn place(&self, id: &str) -> PathBuf {
        self.study.join(RUNS).join(id)
    }

    /// Returns whether a run is there.
    pub fn has(&self, id: &str) -> bool {
        self.place(id).join(RESOLVED).is_file()
    }

    /// Begins the folder of a run.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn begin(&self, id: &str) -> Result<RunFolder, OutputError> {
        RunFolder::create(&self.place(id), true)
    }
}

/// Checks that a folder is empty, hidden files aside, or has a study of this name.
pub(super) fn check(folder: &Path, study: &str) -> Result<(), OutputError> {
    if visible(folder)?.is_empty() || sheet::name(folder).as_deref() == Some(study) {
        return Ok(());
    }
    let why = format!("it has something else than the study `{study}`; choose another folder");
    Err(OutputError::Foreign { path: folder.to_owned(), why })
}

/// Removes what has such a name from a folder, if that is there.
pub(super) fn clear(folder: &Path, is_old: impl Fn(&str) -> bool) -> Result<(), OutputError> {
    for name in names(folder)?.iter().filter(|name| is_old(name)) {
        let path = folder.join(name);
        let removed =
            if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        removed.map_err(|source| OutputError::Write { path, source })?;
    }
    Ok(())
}

/// Returns the names of what is in a folder, hidden files aside; none if it is not there.
pub(super) fn visible(folder: &Path) -> Result<Vec<String>, OutputError> {
    let mut names = names(folder)?;
    names.retain(|name| !name.starts_with('.'));
    Ok(names)
}

/// Returns the names of what is in a folder; none if it is not there.
pub(super) fn names(folder: &Path) -> Result<Vec<String>, OutputError> {
    let error = |source| OutputError::Read { path: folder.to_owned(), source };
    match fs::read_dir(folder) {
        Err(missing) if missing.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        entries => {
            let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
            entries.map_err(error)?.map(|entry| entry.map(name).map_err(error)).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    /// Returns a folder with these files, and the store in it.
    fn store(files: &[(&str, &str)]) -> (TempDir, Store) {
        let room = TempDir::new().unwrap();
        for (name, text) in files {
            fs::write(room.path().join(name), text).unwrap();
        }
        let store = Store::of(room.path());
        (room, store)
    }

    #[test]
    fn a_folder_with_something_else_is_not_claimed() {
        for files in [
            &[("report.html", "mine")][..],
            &[("study.json", r#"{"study": "b"}"#)],
            &[("study.json", "half")],
        ] {
            let (room, store) = store(files);
            let refused = store.claim("a", Share::Alone).unwrap_err();
            assert!(matches!(refused, OutputError::Foreign { .. }), "{refused}");
            assert_eq!(names(room.path()).unwrap().len(), 1);
        }
        assert!(store(&[]).1.claim("a", Share::Alone).is_ok());
        assert!(store(&[("study.json", r#"{"study": "a"}"#)]).1.claim("a", Share::Alone).is_ok());
    }

    #[test]
    fn only_parts_of_a_study_work_side_by_side() {
        let (_room, store) = store(&[]);
        let claim = |share| store.claim("a", share);
        let is_busy = |share| matches!(claim(share), Err(OutputError::Busy { .. }));
        let part = claim(Share::Parts).unwrap();
        drop(claim(Share::Parts).unwrap());
        assert!(is_busy(Share::Alone));
        drop(part);
        let whole = claim(Share::Alone).unwrap();
        assert!(is_busy(Share::Parts) && is_busy(Share::Alone));
        drop(whole);
        assert!(claim(Share::Alone).is_ok());
    }

    #[test]
    fn what_a_killed_process_left_is_removed_when_nobody_else_works() {
        let (room, store) = store(&[(".mumakil-half", "")]);
        drop(store.claim("a", Share::Parts).unwrap());
        assert_eq!(names(room.path()).unwrap().len(), 2);
        drop(store.claim("a", Share::Alone).unwrap());
        assert_eq!(names(room.path()).unwrap(), [LOCK]);
    }

    #[test]
    fn to_read_a_folder_does_not_make_it() {
        let room = TempDir::new().unwrap();
        let store = Store::of(&room.path().join("none"));
        assert!(!store.has("0123456789abcdef"));
        assert_eq!(names(room.path()).unwrap(), Vec::<String>::new());
    }
}
