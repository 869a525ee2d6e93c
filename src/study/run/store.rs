//! The store of a study's runs: each run in a folder of its own, or packed into one file.
//!
//! ```text
//! study/.lock            held by processes that write
//! study/runs/3f9a…/      a run in a folder, which appears by one rename
//! study/runs/3f9a….zip   a packed run, which appears by one rename, too
//! ```
//! The store never has a part of a run. So an interrupted study goes on with the missing runs.

use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::RwLock;
use rustc_hash::FxHashSet;
use serde::Deserialize;

use mumakil_base::disk;
use mumakil_base::files::{self, RESOLVED, STUDY};
use mumakil_run::output::{HIDDEN, OutputError, Packs, RunFolder, RunPlace, pack};

/// The folder of the runs, in a study's folder.
pub(crate) const RUNS: &str = "runs";
/// The folder of the charts, in a study's folder.
pub(crate) const CHARTS: &str = "charts";
/// The folder of the failed runs' scenarios, in a study's folder.
pub const FAILED: &str = "failed";
/// The folder of the signs of life, in a study's folder.
pub const AT_WORK: &str = "at-work";
/// The folder of the claims (which process has taken which runs), in a study's folder.
pub(crate) const CLAIMS: &str = "claims";
/// The file in a study's folder that a writing process locks.
const LOCK: &str = ".lock";

/// The largest number of runs that are kept in folders. Studies with more runs pack them, unless the
/// user chooses otherwise.
// Chosen: a run has about ten files, and shared file systems slow down with tens of thousands of
// files.
const MOST_FOLDERS: usize = 1_000;

/// The runs of a study, as of the last [`Store::refresh`].
#[derive(Clone, Debug)]
pub struct Store {
    study: PathBuf,
    found: Arc<RwLock<KnownRuns>>,
}

#[derive(Debug, Default)]
struct KnownRuns {
    packs: Packs,
    folders: FxHashSet<String>,
}

/// The right of this process to write into a study's folder; it ends when the value is dropped.
#[derive(Debug)]
pub struct FolderClaim {
    /// `None` where the file system has no locks.
    _lock: Option<File>,
    /// The store of the study.
    pub store: Store,
    form: StoreForm,
}

/// Whether other processes may write into a study's folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FolderAccess {
    /// No other process may write there.
    Alone,
    /// Other processes work on the same study and share its runs.
    Together,
}

/// The form in which the runs of a study are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreForm {
    /// Each run has a folder.
    Folders,
    /// Each run is a ZIP file.
    Packed,
}

impl StoreForm {
    /// Returns the default form for this many runs: packed if several processes share the runs, or
    /// if there are many runs.
    pub fn usual(share: FolderAccess, runs: usize) -> Self {
        match share {
            FolderAccess::Alone if runs <= MOST_FOLDERS => Self::Folders,
            _ => Self::Packed,
        }
    }
}

impl Store {
    /// Returns the store in a study's folder, which need not exist.
    pub fn of(study: &Path) -> Result<Self, OutputError> {
        let store = Self { study: study.to_owned(), found: Arc::default() };
        store.refresh()?;
        Ok(store)
    }

    /// Looks for runs that were added since the last call.
    pub fn refresh(&self) -> Result<(), OutputError> {
        let runs = self.runs();
        let mut names = names(&runs)?;
        let mut found = self.found.write();
        // Read the packs before their names are dropped below.
        found.packs.refresh(&runs, &names)?;
        // Names with a dot are packs and half-written runs; the name of a run is hexadecimal.
        names.retain(|name| !name.contains('.'));
        found.folders = names.into_iter().collect();
        Ok(())
    }

    /// Claims the folder for a study of this name, and makes the folder if it is missing. With
    /// [`FolderAccess::Alone`], also removes the half-written files of killed processes.
    ///
    /// # Errors
    /// If the folder contains anything but this study, another process works there, or the folder
    /// cannot be written.
    pub fn claim(
        &self,
        study: &str,
        share: FolderAccess,
        form: StoreForm,
    ) -> Result<FolderClaim, OutputError> {
        check(&self.study, study)?;
        let file = self.lock_file()?;
        let locked = match share {
            FolderAccess::Alone => file.try_lock(),
            FolderAccess::Together => file.try_lock_shared(),
        };
        let lock = match locked {
            Ok(()) => Some(file),
            Err(TryLockError::WouldBlock) => {
                return Err(OutputError::Busy { path: self.study.clone() });
            }
            // Some network file systems have no locks. Go on without a lock: the user must not
            // start two processes there.
            Err(TryLockError::Error(_)) => None,
        };
        // Clean up only if no other process may write here: it may be using its hidden files.
        if share == FolderAccess::Alone {
            clear(&self.study, |name| name.starts_with(HIDDEN))?;
            for folder in [RUNS, CHARTS, FAILED, AT_WORK] {
                clear(&self.study.join(folder), |name| name.starts_with(HIDDEN))?;
            }
            clear(&self.study.join(CLAIMS), |_| true)?;
            let _ = fs::remove_dir(self.study.join(CLAIMS));
        }
        Ok(FolderClaim { _lock: lock, store: self.clone(), form })
    }

    /// Waits until no process has the folder for itself.
    ///
    /// # Errors
    /// If the lock cannot be opened or held.
    pub fn wait(&self) -> Result<(), OutputError> {
        let held = self.lock_file()?.lock_shared();
        held.map_err(|source| OutputError::Write { path: self.study.join(LOCK), source })
    }

    fn lock_file(&self) -> Result<File, OutputError> {
        let path = self.study.join(LOCK);
        let error = |source| OutputError::Write { path: path.clone(), source };
        disk::create_dir_all(&self.study).map_err(error)?;
        disk::change(&path, || File::options().create(true).append(true).open(&path)).map_err(error)
    }

    /// Returns the study's folder.
    pub fn folder(&self) -> &Path {
        &self.study
    }

    fn runs(&self) -> PathBuf {
        self.study.join(RUNS)
    }

    /// Returns the place of a run; `None` if the run was missing at the last refresh, or its folder
    /// has been emptied since.
    pub fn find(&self, id: &str) -> Option<RunPlace> {
        let found = self.found.read();
        if let Some(run) = found.packs.get(id) {
            return Some(RunPlace::Packed(run));
        }
        let folder = self.runs().join(id);
        // Look for a file that every run has: a user may have deleted or emptied the folder since.
        let is_there = found.folders.contains(id) && folder.join(RESOLVED).is_file();
        is_there.then_some(RunPlace::Folder(folder))
    }

    /// Returns the place of a run, or the folder that a missing run would get.
    pub fn place(&self, id: &str) -> RunPlace {
        self.find(id).unwrap_or_else(|| RunPlace::Folder(self.runs().join(id)))
    }

    /// Returns whether the store has no run at all, as of the last refresh.
    pub fn is_empty(&self) -> bool {
        let found = self.found.read();
        found.folders.is_empty() && found.packs.is_empty()
    }

    /// Returns whether the store has a run, as of the last refresh.
    pub fn has(&self, id: &str) -> bool {
        self.find(id).is_some()
    }
}

impl FolderClaim {
    /// Creates the hidden folder in which a run writes its results.
    pub fn begin(&self, id: &str) -> Result<RunFolder, OutputError> {
        match self.form {
            StoreForm::Folders => RunFolder::create(&self.store.runs().join(id), true),
            // Write the run on a local disk, so that a shared disk gets only the pack, in one
            // piece.
            StoreForm::Packed => RunFolder::create(&std::env::temp_dir().join(id), true),
        }
    }

    /// Removes all runs, and the notes about runs that failed.
    pub fn remove_all(&self) -> Result<(), OutputError> {
        for folder in [RUNS, FAILED] {
            let path = self.store.study.join(folder);
            match fs::remove_dir_all(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(OutputError::Write { path, source: error });
                }
                _ => {}
            }
        }
        self.store.found.write().packs = Packs::default();
        self.store.refresh()
    }

    /// Removes runs that are kept in folders.
    pub fn remove(&self, runs: &[&str]) -> Result<(), OutputError> {
        for run in runs {
            let path = self.store.runs().join(run);
            match fs::remove_dir_all(&path) {
                Err(source) if source.kind() != ErrorKind::NotFound => {
                    return Err(OutputError::Write { path, source });
                }
                _ => {}
            }
        }
        self.store.refresh()
    }

    /// Keeps a run whose folder is complete.
    pub fn keep(&self, id: &str, folder: RunFolder) -> Result<(), OutputError> {
        match self.form {
            StoreForm::Folders => folder.commit().map(drop),
            StoreForm::Packed => {
                pack(id, &RunPlace::Folder(folder.path().to_owned()), &self.store.runs())
            }
        }
    }

    /// Takes over a run from another store.
    pub fn take(&self, id: &str, from: &RunPlace) -> Result<(), OutputError> {
        match self.form {
            StoreForm::Packed => pack(id, from, &self.store.runs()),
            StoreForm::Folders => {
                let folder = RunFolder::create(&self.store.runs().join(id), true)?;
                from.copy_into(folder.path())?;
                folder.commit().map(drop)
            }
        }
    }
}

/// Checks that a folder contains the study of this name, or nothing but hidden files and signs of
/// life.
pub fn check(folder: &Path, study: &str) -> Result<(), OutputError> {
    // A process that is told to end at its very start leaves a sign, and no study yet.
    let holds_nothing = visible(folder)?.iter().all(|name| name == AT_WORK);
    if holds_nothing || name(folder).as_deref() == Some(study) {
        return Ok(());
    }
    let why = format!("it holds something other than the study `{study}`; choose another folder");
    Err(OutputError::Foreign { path: folder.to_owned(), why })
}

/// Returns the name of the study in a folder, whichever version of Mumakil wrote it; `None` if the
/// folder has no study.
fn name(folder: &Path) -> Option<String> {
    #[derive(Deserialize)]
    struct Named {
        study: String,
    }
    let text = files::own_text(&folder.join(STUDY)).ok()?;
    Some(serde_json::from_str::<Named>(&text).ok()?.study)
}

/// Removes the entries of a folder for whose names `is_old` holds; does nothing if the folder is
/// missing.
pub(crate) fn clear(folder: &Path, is_old: impl Fn(&str) -> bool) -> Result<(), OutputError> {
    for name in names(folder)?.iter().filter(|name| is_old(name)) {
        let path = folder.join(name);
        let removed =
            if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        removed.map_err(|source| OutputError::Write { path, source })?;
    }
    Ok(())
}

/// Returns the names of a folder's entries, except hidden ones; an empty list if the folder is
/// missing.
pub fn visible(folder: &Path) -> Result<Vec<String>, OutputError> {
    let mut names = names(folder)?;
    names.retain(|name| !name.starts_with('.'));
    Ok(names)
}

/// Returns the names of a folder's entries; an empty list if the folder is missing.
pub(crate) fn names(folder: &Path) -> Result<Vec<String>, OutputError> {
    let error = |source| OutputError::Read { path: folder.to_owned(), source };
    match fs::read_dir(folder) {
        Err(missing) if missing.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        entries => entries
            .map_err(error)?
            .map(|entry| {
                entry.map(|entry| entry.file_name().to_string_lossy().into_owned()).map_err(error)
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    /// Returns a temporary folder with these files, and the store in it.
    fn store(files: &[(&str, &str)]) -> (TempDir, Store) {
        let room = TempDir::new().unwrap();
        for (name, text) in files {
            fs::write(room.path().join(name), text).unwrap();
        }
        let store = Store::of(room.path()).unwrap();
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
            let refused = store.claim("a", FolderAccess::Alone, StoreForm::Folders).unwrap_err();
            assert!(matches!(refused, OutputError::Foreign { .. }), "{refused}");
            assert_eq!(names(room.path()).unwrap().len(), 1);
        }
        assert!(store(&[]).1.claim("a", FolderAccess::Alone, StoreForm::Folders).is_ok());
        assert!(
            store(&[("study.json", r#"{"study": "a"}"#)])
                .1
                .claim("a", FolderAccess::Alone, StoreForm::Folders)
                .is_ok()
        );
    }

    #[test]
    fn a_folder_with_nothing_but_signs_of_life_is_claimed() {
        let (room, store) = store(&[(LOCK, "")]);
        fs::create_dir(room.path().join(AT_WORK)).unwrap();
        fs::write(room.path().join(AT_WORK).join("whole.json"), "{}").unwrap();
        store.claim("a", FolderAccess::Alone, StoreForm::Folders).unwrap();
    }

    #[test]
    fn processes_work_in_a_folder_together_or_one_alone() {
        let (_room, store) = store(&[]);
        let claim = |share| store.claim("a", share, StoreForm::Folders);
        let is_busy = |share| matches!(claim(share), Err(OutputError::Busy { .. }));
        let one = claim(FolderAccess::Together).unwrap();
        drop(claim(FolderAccess::Together).unwrap());
        assert!(is_busy(FolderAccess::Alone));
        drop(one);
        let whole = claim(FolderAccess::Alone).unwrap();
        assert!(is_busy(FolderAccess::Together) && is_busy(FolderAccess::Alone));
        drop(whole);
        assert!(claim(FolderAccess::Alone).is_ok());
    }

    #[test]
    fn leftovers_of_a_killed_process_are_removed_when_nobody_else_works() {
        let (room, store) = store(&[(".mumakil-half", "")]);
        drop(store.claim("a", FolderAccess::Together, StoreForm::Folders).unwrap());
        assert_eq!(names(room.path()).unwrap().len(), 2);
        drop(store.claim("a", FolderAccess::Alone, StoreForm::Folders).unwrap());
        assert_eq!(names(room.path()).unwrap(), [LOCK]);
    }

    #[test]
    fn to_read_a_folder_does_not_make_it() {
        let room = TempDir::new().unwrap();
        let store = Store::of(&room.path().join("none")).unwrap();
        assert!(!store.has("0123456789abcdef"));
        assert_eq!(names(room.path()).unwrap(), Vec::<String>::new());
    }
}
