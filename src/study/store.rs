//! Where a study's runs are kept: a folder for each, under the name of the run.
//!
//! A run's folder is there whole or not at all, so a study that was ended at any moment goes on
//! with what is missing, and several machines may fill one store.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::output::{OutputError, RESOLVED, RunFolder, Unfinished};

/// The folder in a study's folder that has the runs.
const RUNS: &str = "runs";
/// The folder in a study's folder that has the charts.
pub(super) const CHARTS: &str = "charts";

/// The runs of a study.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
    unfinished: Unfinished,
}

impl Store {
    /// Opens the store in a study's folder, which is made if need be.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn open(study: &Path, unfinished: &Unfinished) -> Result<Self, OutputError> {
        let folder = study.join(RUNS);
        let error = |source| OutputError::Write { path: folder.clone(), source };
        fs::create_dir_all(&folder).map_err(error)?;
        Ok(Self { folder, unfinished: unfinished.clone() })
    }

    /// Returns where a run is kept.
    pub fn place(&self, id: &str) -> PathBuf {
        self.folder.join(id)
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
        RunFolder::create(&self.place(id), true, &self.unfinished)
    }

    /// Removes what killed processes have left half-written, of runs and of the study's own files.
    /// Nobody else may use the study's folder.
    ///
    /// # Errors
    /// If it cannot be read or written.
    pub fn sweep(&self) -> Result<(), OutputError> {
        let study = self.folder.parent().expect("the store is in the study's folder");
        for folder in [&self.folder, study, &study.join(CHARTS)] {
            sweep(folder)?;
        }
        Ok(())
    }
}

/// Removes what is hidden and half-written in a folder, if that is there.
fn sweep(folder: &Path) -> Result<(), OutputError> {
    let error = |source| OutputError::Read { path: folder.to_owned(), source };
    let entries = match fs::read_dir(folder) {
        Err(missing) if missing.kind() == ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(error)?,
    };
    for entry in entries {
        let entry = entry.map_err(error)?;
        if !entry.file_name().to_string_lossy().starts_with(".mumakil-") {
            continue;
        }
        let (path, kind) = (entry.path(), entry.file_type().map_err(error)?);
        let removed =
            if kind.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        removed.map_err(|source| OutputError::Write { path, source })?;
    }
    Ok(())
}
