//! The folder of one run: written as a whole or not at all. It replaces only the folder of an
//! earlier run.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::aside::{AsideFolder, ReplacedFiles};
use super::{OutputError, json};
use mumakil_base::disk;
use mumakil_base::files::{self, HISTOGRAM, HISTOGRAMS, RESOLVED};
use mumakil_results::tables;

/// The beginning of the first line of a resolved scenario, in every version. It marks a folder that
/// Mumakil wrote.
const MARKER: &str = "# The scenario of this run, written by Mumakil ";

/// The folder of a run that is being written.
#[derive(Debug)]
pub struct RunFolder(AsideFolder);

impl RunFolder {
    /// Begins the folder that will be at `target`. With `force`, it may replace the results of an
    /// earlier run.
    ///
    /// # Errors
    /// If the target exists and may not be replaced, or if nothing can be written beside it.
    pub fn create(target: &Path, force: bool) -> Result<Self, OutputError> {
        let over = if force { ReplacedFiles::Checked(check_run) } else { ReplacedFiles::Nothing };
        AsideFolder::create(target, over).map(Self)
    }

    /// Begins a folder among the system's temporary files, under a name that no other process has.
    /// It is not meant to be committed: dropping it removes it.
    ///
    /// # Errors
    /// If nothing can be written there.
    pub fn temporary() -> Result<Self, OutputError> {
        // Nothing gets this name, so it does not matter whether something has it.
        let target = std::env::temp_dir().join("mumakil");
        AsideFolder::create(&target, ReplacedFiles::Anything).map(Self)
    }

    /// Returns the path of the hidden folder, into which files are written.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> Result<(), OutputError> {
        let path = self.path().join(name);
        disk::write(&path, content.as_ref()).map_err(|source| OutputError::Write { path, source })
    }

    /// Writes a value as indented JSON.
    pub fn write_json(&self, name: &str, value: &impl Serialize) -> Result<(), OutputError> {
        self.write(name, json::text_of(value))
    }

    /// Writes the resolved scenario. Its first line marks the folder as a run's.
    pub fn write_scenario(&self, yaml: &str) -> Result<(), OutputError> {
        let version = env!("CARGO_PKG_VERSION");
        let header = format!("{MARKER}{version}; running it gives the same bytes.");
        self.write(RESOLVED, format!("{header}\n{yaml}"))
    }

    /// Renames the folder to its target and returns the target.
    ///
    /// # Errors
    /// If the target now exists and may not be replaced, or if it cannot be written.
    pub fn commit(self) -> Result<PathBuf, OutputError> {
        self.0.put()
    }
}

/// Checks that `target` holds runs in folders of these names, at least the first of them, and beside
/// them only `files`.
///
/// # Errors
/// If it holds anything else, or cannot be read.
pub fn check_runs(target: &Path, runs: &[&str], files: &[&str]) -> Result<(), OutputError> {
    for name in names_in(target)? {
        if runs.contains(&name.as_str()) {
            check_run(&target.join(name))?;
        } else if !files.contains(&name.as_str()) {
            return Err(stranger(target, &name));
        }
    }
    match target.join(runs[0]).exists() {
        true => Ok(()),
        false => Err(foreign(target, format!("it has no `{}` that Mumakil wrote", runs[0]))),
    }
}

/// Checks that `target` holds an earlier run and nothing else.
fn check_run(target: &Path) -> Result<(), OutputError> {
    if let Some(name) = names_in(target)?.into_iter().find(|name| !is_ours(name)) {
        return Err(stranger(target, &name));
    }
    // `histograms` is the only folder within a run's folder; a user may have put other files into
    // it.
    let histograms = target.join(HISTOGRAMS);
    if histograms.is_dir()
        && let Some(name) = names(&histograms)?.into_iter().find(|name| !name.ends_with(HISTOGRAM))
    {
        return Err(stranger(target, &format!("{HISTOGRAMS}/{name}")));
    }
    // Names alone do not make a run: a user's folder may hold a `jobs.csv` and nothing else.
    if !files::own_text(&target.join(RESOLVED)).is_ok_and(|text| text.starts_with(MARKER)) {
        return Err(foreign(target, format!("it has no {RESOLVED} that Mumakil wrote")));
    }
    Ok(())
}

fn foreign(target: &Path, why: String) -> OutputError {
    OutputError::Foreign { path: target.to_owned(), why }
}

fn stranger(target: &Path, name: &str) -> OutputError {
    foreign(target, format!("Mumakil did not write `{name}`"))
}

/// Returns the names of the files and folders in the folder `target`; an error if it is none.
fn names_in(target: &Path) -> Result<Vec<String>, OutputError> {
    match fs::symlink_metadata(target).is_ok_and(|target| target.is_dir()) {
        true => names(target),
        false => Err(foreign(target, "it is not a folder".to_owned())),
    }
}

/// Returns whether a run may leave a file of this name.
fn is_ours(name: &str) -> bool {
    files::OF_A_RUN.contains(&name) || tables::all().iter().any(|table| table.file == name)
}

/// Returns the names of the files and folders in a folder.
fn names(folder: &Path) -> Result<Vec<String>, OutputError> {
    let error = |source| OutputError::Read { path: folder.to_owned(), source };
    let name = |entry: io::Result<fs::DirEntry>| {
        // A name that is not Unicode cannot be ours; the lossy form is good enough for the error
        // message.
        entry.map(|entry| entry.file_name().to_string_lossy().into_owned()).map_err(error)
    };
    fs::read_dir(folder).map_err(error)?.map(name).collect()
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    /// A folder with a target for results; an earlier run may have left results at the target.
    struct Room {
        folder: TempDir,
    }

    impl Room {
        fn new() -> Self {
            Self { folder: TempDir::new().unwrap() }
        }

        fn target(&self) -> PathBuf {
            self.folder.path().join("demo-1")
        }

        fn run(&self, jobs: &str, force: bool) -> Result<PathBuf, OutputError> {
            let folder = RunFolder::create(&self.target(), force)?;
            folder.write_scenario("name: demo\n")?;
            folder.write("jobs.csv", jobs)?;
            folder.commit()
        }

        fn jobs(&self) -> String {
            fs::read_to_string(self.target().join("jobs.csv")).unwrap()
        }

        /// Returns the names in the folder, including hidden ones.
        fn names(&self) -> Vec<String> {
            let entries = fs::read_dir(self.folder.path()).unwrap();
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
        }
    }

    #[test]
    fn a_committed_folder_is_in_its_place_alone() {
        let room = Room::new();
        assert_eq!(room.run("1", false).unwrap(), room.target());
        assert_eq!(room.jobs(), "1");
        assert_eq!(room.names(), ["demo-1"]);
        let scenario = fs::read_to_string(room.target().join(RESOLVED)).unwrap();
        let (header, rest) = scenario.split_once('\n').unwrap();
        assert!(header.starts_with(MARKER) && header.ends_with("the same bytes."), "{header}");
        assert_eq!(rest, "name: demo\n");
    }

    #[test]
    fn temporary_folders_differ_and_leave_nothing() {
        let folders = [(); 2].map(|()| RunFolder::temporary().unwrap());
        let paths = folders.each_ref().map(|folder| folder.path().to_owned());
        assert_ne!(paths[0], paths[1]);
        folders[0].write("jobs.csv", "1").unwrap();
        drop(folders);
        assert!(paths.iter().all(|path| !path.exists()));
    }

    #[test]
    fn a_dropped_folder_leaves_nothing() {
        let room = Room::new();
        let folder = RunFolder::create(&room.target(), false).unwrap();
        folder.write("jobs.csv", "1").unwrap();
        drop(folder);
        assert!(room.names().is_empty());
    }

    #[test]
    fn an_existing_folder_is_replaced_only_by_force() {
        let room = Room::new();
        room.run("1", false).unwrap();
        assert!(matches!(room.run("2", false), Err(OutputError::Exists { .. })));
        assert_eq!(room.jobs(), "1");
        room.run("2", true).unwrap();
        assert_eq!(room.jobs(), "2");
        assert_eq!(room.names(), ["demo-1"]);
    }

    #[test]
    fn somebodys_work_is_not_replaced() {
        let room = Room::new();
        let refused = |why: &str| {
            let error = room.run("2", true).unwrap_err();
            let target = room.target();
            assert_eq!(error.to_string(), format!("{} is not replaced: {why}", target.display()));
        };
        fs::create_dir(room.target()).unwrap();
        refused("it has no scenario.resolved.yaml that Mumakil wrote");
        fs::write(room.target().join("thesis.tex"), "").unwrap();
        refused("Mumakil did not write `thesis.tex`");
        fs::remove_dir_all(room.target()).unwrap();
        room.run("1", false).unwrap();
        fs::create_dir(room.target().join("histograms")).unwrap();
        fs::write(room.target().join("histograms/notes.txt"), "").unwrap();
        refused("Mumakil did not write `histograms/notes.txt`");
        fs::remove_dir_all(room.target()).unwrap();
        fs::write(room.target(), "").unwrap();
        refused("it is not a folder");
    }

    #[test]
    fn files_that_appear_during_the_run_are_not_replaced() {
        let room = Room::new();
        let folder = RunFolder::create(&room.target(), false).unwrap();
        fs::create_dir(room.target()).unwrap();
        assert!(matches!(folder.commit(), Err(OutputError::Exists { .. })));
        assert_eq!(room.names(), ["demo-1"]);
    }

    #[test]
    fn folders_above_are_made() {
        let room = Room::new();
        let target = room.folder.path().join("out/deep/demo-1");
        let folder = RunFolder::create(&target, false).unwrap();
        assert_eq!(folder.commit().unwrap(), target);
    }

    #[test]
    fn a_place_that_cannot_be_is_named() {
        let room = Room::new();
        fs::write(room.folder.path().join("out"), "a file").unwrap();
        let error = RunFolder::create(&room.folder.path().join("out/demo-1"), false).unwrap_err();
        let out = room.folder.path().join("out");
        assert_eq!(error.to_string(), format!("cannot write {}", out.display()));
    }

    #[test]
    fn a_folder_that_vanished_is_named() {
        let room = Room::new();
        let folder = RunFolder::create(&room.target(), false).unwrap();
        fs::remove_dir_all(folder.path()).unwrap();
        let path = folder.path().join("jobs.csv");
        let error = folder.write("jobs.csv", "1").unwrap_err();
        assert_eq!(error.to_string(), format!("cannot write {}", path.display()));
        let error = folder.commit().unwrap_err();
        assert_eq!(error.to_string(), format!("cannot write {}", room.target().display()));
    }
}
