//! The hashes of the files that a study's scenarios name.

use std::path::{Path as FsPath, PathBuf};

use indexmap::IndexMap;

use super::PlanError;
use crate::plan::named_files::{self, NamedFile};
use mumakil_base::shell::quoted_path;
use mumakil_core::trace::{TraceError, is_many, sha256_of};
use mumakil_run::emulation::{EmulationError, NamedTraceError};
use mumakil_scenario::{Draft, Registry, Scenario};

/// Returns the error for a trace that is more than one file: a study keeps single files.
fn many_files(path: &FsPath) -> TraceError {
    let (called, quoted) = (path.display(), quoted_path(path));
    let word = if path.is_dir() { "a folder" } else { "a log with its configuration beside it" };
    TraceError::Unusable {
        what: format!("{called} is {word}, and a study keeps single files"),
        hint: format!("make one: mumakil trace convert {quoted} --to rumen -o jobs.json.gz").into(),
    }
}

/// The hashes of the files and of this program, each computed once.
#[derive(Default)]
pub(super) struct Hashes {
    known: IndexMap<PathBuf, String>,
    /// The files that the study lists under `files`.
    said: Vec<NamedFile>,
    /// The files that the scenarios name.
    pub(super) named: IndexMap<PathBuf, NamedFile>,
}

impl Hashes {
    /// Returns no hashes; `said` are the files that the study lists.
    pub(super) fn new(said: Vec<NamedFile>) -> Self {
        Self { said, ..Self::default() }
    }

    fn of(&mut self, path: PathBuf) -> Result<String, TraceError> {
        if let Some(hash) = self.known.get(&path) {
            return Ok(hash.clone());
        }
        let hash = sha256_of(&path)?;
        self.known.insert(path, hash.clone());
        Ok(hash)
    }

    /// Returns the study's own entry for a file; `None` if the study lists no such file.
    fn said(&self, name: &FsPath) -> Option<NamedFile> {
        self.said.iter().find(|file| file.name == name).cloned()
    }

    /// Pins each trace in a scenario by the hash of its content, and notes the files that the
    /// scenario names.
    pub(super) fn pin_files(&mut self, scenario: &mut Scenario) -> Result<(), EmulationError> {
        let folder = scenario.folder.clone();
        for (key, file) in scenario.keyed_files_mut() {
            let named = |error| NamedTraceError::new(key.clone(), error);
            let name = file.path.clone();
            // If a study is continued in its folder, its files lie in `files/`, and it has an entry
            // with the hash of each file.
            let said = self.said(&name);
            // The path of a file is part of the run's hash, so all machines must use the same path.
            if let Some(said) = &said {
                *file = said.pinned();
            }
            let place = file.find(&folder);
            if is_many(&place) {
                return Err(named(many_files(&place)).into());
            }
            let hash = self.of(place.clone()).map_err(named)?;
            file.pin(&folder, Some(&hash)).map_err(named)?;
            // Set the entry again: `pin` has put this machine's path into `file`.
            if let Some(said) = said {
                *file = said.pinned();
            }
            if !self.named.contains_key(&name) {
                self.named.insert(name.clone(), NamedFile::trace(name, file, place));
            }
        }
        for file in named_files::of_programs(scenario) {
            self.named.entry(file.name.clone()).or_insert(file);
        }
        Ok(())
    }

    /// Notes the files that the policies of a draft name. A file that cannot be read is reported later,
    /// when the draft is resolved.
    pub(super) fn note_files_of_policies(&mut self, draft: &Draft) -> Result<(), TraceError> {
        let folder = draft.folder();
        for (_, name) in named_files::of_policies(draft.tree()) {
            let said = self.said(&name);
            let kept = said.as_ref().map(|said| said.find(&folder));
            let place = kept.filter(|kept| kept.is_file()).unwrap_or_else(|| folder.join(&name));
            let Ok(found) = self.of(place.clone()) else { continue };
            if let Some(said) = said
                && said.sha256 != found
            {
                return Err(TraceError::Changed { path: place, expected: said.sha256, found });
            }
            let file = NamedFile { name: name.clone(), path: None, sha256: found, place };
            self.named.entry(name).or_insert(file);
        }
        Ok(())
    }

    /// Returns the hash of this program if the scenario uses a policy that Mumakil does not bring;
    /// otherwise `None`.
    pub(super) fn program(
        &mut self,
        scenario: &mut Scenario,
        registry: &Registry,
    ) -> Result<Option<String>, PlanError> {
        if registry.brings_all_of(scenario) {
            return Ok(None);
        }
        let path = std::env::current_exe().map_err(PlanError::Program)?;
        Ok(Some(self.of(path)?))
    }
}
