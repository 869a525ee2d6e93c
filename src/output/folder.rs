//! The folder of one run: written aside, then put in its place at once.
//!
//! Until [`RunFolder::commit`] everything is in a hidden folder beside the target, on the same file
//! system, and is removed again if the run fails. Then it is renamed. An existing folder is
//! exchanged with the new one in one step where the system can do that (Linux); elsewhere the old
//! one is renamed first, and for that moment has only its hidden name. Either way a process that is
//! killed leaves the old results or the new ones, whole, and at worst a hidden folder beside them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::{Unfinished, perf};

/// The scenario with all its defaults, which every folder of a run has.
pub const RESOLVED: &str = "scenario.resolved.yaml";

/// What became of the scenario's expectations.
pub const EXPECTATIONS: &str = "expectations.json";

/// The run on one page.
pub const REPORT: &str = "report.html";

/// What the resolved scenario begins with, by which a folder of ours is known, of any version.
const MARKER: &str = "# The scenario of this run, written by Mumakil ";

/// What a run may leave; a folder with anything else in it holds somebody's work.
const OURS: &[&str] = &[
    RESOLVED,
    "summary.json",
    "jobs.csv",
    "tasks.csv",
    "timeline.csv",
    "events.jsonl",
    "alone.csv",
    "jobs.parquet",
    "tasks.parquet",
    "timeline.parquet",
    EXPECTATIONS,
    REPORT,
    "latency.hlog",
    HISTOGRAMS,
    perf::NAME,
];

/// The one folder among them, of tables by any name.
const HISTOGRAMS: &str = "histograms";

/// A folder in the making.
#[derive(Debug)]
pub struct RunFolder {
    target: PathBuf,
    /// Removed when dropped, with what is in it.
    aside: TempDir,
    force: bool,
    unfinished: Unfinished,
}

/// Why a run's folder could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// The target exists.
    #[error("{} exists already (--force replaces the results of an earlier run)", path.display())]
    Exists {
        /// The target.
        path: PathBuf,
    },
    /// The target exists and is nothing that a run left.
    #[error("{} is not replaced: {why}", path.display())]
    Foreign {
        /// The target.
        path: PathBuf,
        /// What speaks against it.
        why: String,
    },
    /// Somebody else is at work there.
    #[error("another process works on {}; wait for it, or choose another folder", path.display())]
    Busy {
        /// The folder.
        path: PathBuf,
    },
    /// Something cannot be written.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Something cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl RunFolder {
    /// Begins the folder that will be at `target`. With `force`, the results of an earlier run may
    /// be there. Until it is committed, its hidden folder is among the `unfinished` ones.
    ///
    /// # Errors
    /// If the target exists and may not be replaced, or if nothing can be written beside it.
    pub fn create(
        target: &Path,
        force: bool,
        unfinished: &Unfinished,
    ) -> Result<Self, OutputError> {
        check_target(target, force)?;
        let parent = match target.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        let error = |source| OutputError::Write { path: parent.to_owned(), source };
        fs::create_dir_all(parent).map_err(error)?;
        let mut aside = tempfile::Builder::new();
        aside.prefix(".mumakil-");
        share(&mut aside);
        let aside = aside.tempdir_in(parent).map_err(error)?;
        unfinished.add(aside.path());
        Ok(Self { target: target.to_owned(), aside, force, unfinished: unfinished.clone() })
    }

    /// Returns where files are to be written.
    pub fn path(&self) -> &Path {
        self.aside.path()
    }

    /// Writes a file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> Result<(), OutputError> {
        let path = self.path().join(name);
        fs::write(&path, content).map_err(|source| OutputError::Write { path, source })
    }

    /// Writes the resolved scenario, by which the folder will be known.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_scenario(&self, yaml: &str) -> Result<(), OutputError> {
        let version = env!("CARGO_PKG_VERSION");
        let header = format!("{MARKER}{version}; running it gives the same bytes.");
        self.write(RESOLVED, format!("{header}\n{yaml}"))
    }

    /// Puts the folder in its place and returns that.
    ///
    /// # Errors
    /// If somebody has put something there meanwhile, or if it cannot be written.
    pub fn commit(self) -> Result<PathBuf, OutputError> {
        self.unfinished.settle(self.path(), || self.put())?;
        Ok(self.target)
    }

    fn put(&self) -> Result<(), OutputError> {
        check_target(&self.target, self.force)?;
        let error = |source| OutputError::Write { path: self.target.clone(), source };
        if self.target.exists() {
            // What is aside then is the old folder, which goes when `self.aside` is dropped.
            exchange(self.path(), &self.target).map_err(error)
        } else {
            fs::rename(self.path(), &self.target).map_err(error)
        }
    }
}

/// Checks that nothing but an earlier run is lost at `target`.
fn check_target(target: &Path, force: bool) -> Result<(), OutputError> {
    let path = || target.to_owned();
    // A link that leads nowhere exists too.
    if fs::symlink_metadata(target).is_err() {
        return Ok(());
    }
    if !force {
        return Err(OutputError::Exists { path: path() });
    }
    let foreign = |why: String| Err(OutputError::Foreign { path: path(), why });
    if !fs::symlink_metadata(target).is_ok_and(|target| target.is_dir()) {
        return foreign("it is not a folder".to_owned());
    }
    let stranger = |name: String| foreign(format!("Mumakil did not write `{name}`"));
    for name in names(target)? {
        if !OURS.contains(&name.as_str()) {
            return stranger(name);
        }
    }
    let histograms = target.join(HISTOGRAMS);
    if histograms.is_dir()
        && let Some(name) = names(&histograms)?.into_iter().find(|name| !name.ends_with(".hgrm"))
    {
        return stranger(format!("{HISTOGRAMS}/{name}"));
    }
    if !fs::read_to_string(target.join(RESOLVED)).is_ok_and(|text| text.starts_with(MARKER)) {
        return foreign(format!("it has no {RESOLVED} that Mumakil wrote"));
    }
    Ok(())
}

/// Returns the names of what is in a folder.
fn names(folder: &Path) -> Result<Vec<String>, OutputError> {
    let error = |source| OutputError::Read { path: folder.to_owned(), source };
    let name = |entry: io::Result<fs::DirEntry>| {
        entry.map(|entry| entry.file_name().to_string_lossy().into_owned()).map_err(error)
    };
    fs::read_dir(folder).map_err(error)?.map(name).collect()
}

/// Exchanges two folders.
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        // Some file systems cannot, and refuse.
        if renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).is_ok() {
            return Ok(());
        }
    }
    exchange_in_steps(one, other)
}

/// Exchanges two folders by three renames; puts the first back if the second fails.
fn exchange_in_steps(one: &Path, other: &Path) -> io::Result<()> {
    let between = one.with_extension("old");
    fs::rename(other, &between)?;
    if let Err(error) = fs::rename(one, other) {
        fs::rename(&between, other)?;
        return Err(error);
    }
    fs::rename(&between, one)
}

/// Gives the folder the permissions of any other, where it would be its owner's alone.
fn share(folder: &mut tempfile::Builder<'_, '_>) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        folder.permissions(fs::Permissions::from_mode(0o777));
    }
    #[cfg(not(unix))]
    let _ = folder;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A place for results, which the run before may have left.
    struct Place {
        room: TempDir,
    }

    impl Place {
        fn new() -> Self {
            Self { room: TempDir::new().unwrap() }
        }

        fn target(&self) -> PathBuf {
            self.room.path().join("demo-1")
        }

        fn run(&self, jobs: &str, force: bool) -> Result<PathBuf, OutputError> {
            let folder = RunFolder::create(&self.target(), force, &Unfinished::default())?;
            folder.write_scenario("name: demo\n")?;
            folder.write("jobs.csv", jobs)?;
            folder.commit()
        }

        fn jobs(&self) -> String {
            fs::read_to_string(self.target().join("jobs.csv")).unwrap()
        }

        /// Returns what is in the room, hidden folders too.
        fn names(&self) -> Vec<String> {
            let entries = fs::read_dir(self.room.path()).unwrap();
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
        }
    }

    #[test]
    fn a_committed_folder_is_in_its_place_alone() {
        let place = Place::new();
        assert_eq!(place.run("1", false).unwrap(), place.target());
        assert_eq!(place.jobs(), "1");
        assert_eq!(place.names(), ["demo-1"]);
        let scenario = fs::read_to_string(place.target().join(RESOLVED)).unwrap();
        let (header, rest) = scenario.split_once('\n').unwrap();
        assert!(header.starts_with(MARKER) && header.ends_with("the same bytes."), "{header}");
        assert_eq!(rest, "name: demo\n");
    }

    #[test]
    fn a_dropped_folder_leaves_nothing() {
        let place = Place::new();
        let folder = RunFolder::create(&place.target(), false, &Unfinished::default()).unwrap();
        folder.write("jobs.csv", "1").unwrap();
        drop(folder);
        assert!(place.names().is_empty());
    }

    #[test]
    fn an_existing_folder_is_replaced_only_by_force() {
        let place = Place::new();
        place.run("1", false).unwrap();
        assert!(matches!(place.run("2", false), Err(OutputError::Exists { .. })));
        assert_eq!(place.jobs(), "1");
        place.run("2", true).unwrap();
        assert_eq!(place.jobs(), "2");
        assert_eq!(place.names(), ["demo-1"]);
    }

    #[test]
    fn somebodys_work_is_not_replaced() {
        let place = Place::new();
        let refused = |why: &str| {
            let error = place.run("2", true).unwrap_err();
            let target = place.target();
            assert_eq!(error.to_string(), format!("{} is not replaced: {why}", target.display()));
        };
        fs::create_dir(place.target()).unwrap();
        refused("it has no scenario.resolved.yaml that Mumakil wrote");
        fs::write(place.target().join("thesis.tex"), "").unwrap();
        refused("Mumakil did not write `thesis.tex`");
        fs::remove_dir_all(place.target()).unwrap();
        place.run("1", false).unwrap();
        fs::create_dir(place.target().join("histograms")).unwrap();
        fs::write(place.target().join("histograms/notes.txt"), "").unwrap();
        refused("Mumakil did not write `histograms/notes.txt`");
        fs::remove_dir_all(place.target()).unwrap();
        fs::write(place.target(), "").unwrap();
        refused("it is not a folder");
    }

    #[test]
    fn what_appears_during_the_run_is_not_replaced() {
        let place = Place::new();
        let folder = RunFolder::create(&place.target(), false, &Unfinished::default()).unwrap();
        fs::create_dir(place.target()).unwrap();
        assert!(matches!(folder.commit(), Err(OutputError::Exists { .. })));
        assert_eq!(place.names(), ["demo-1"]);
    }

    #[test]
    fn folders_above_are_made() {
        let place = Place::new();
        let target = place.room.path().join("out/deep/demo-1");
        let folder = RunFolder::create(&target, false, &Unfinished::default()).unwrap();
        assert_eq!(folder.commit().unwrap(), target);
    }

    #[test]
    fn a_place_that_cannot_be_is_named() {
        let place = Place::new();
        fs::write(place.room.path().join("out"), "a file").unwrap();
        let error =
            RunFolder::create(&place.room.path().join("out/demo-1"), false, &Unfinished::default())
                .unwrap_err();
        let out = place.room.path().join("out");
        assert_eq!(error.to_string(), format!("cannot write {}", out.display()));
    }

    #[test]
    fn a_folder_that_vanished_is_named() {
        let place = Place::new();
        let folder = RunFolder::create(&place.target(), false, &Unfinished::default()).unwrap();
        fs::remove_dir_all(folder.path()).unwrap();
        let path = folder.path().join("jobs.csv");
        let error = folder.write("jobs.csv", "1").unwrap_err();
        assert_eq!(error.to_string(), format!("cannot write {}", path.display()));
        let error = folder.commit().unwrap_err();
        assert_eq!(error.to_string(), format!("cannot write {}", place.target().display()));
    }

    #[test]
    fn folders_are_exchanged_in_steps_where_they_must() {
        let room = TempDir::new().unwrap();
        let [one, other] = ["one", "other"].map(|name| room.path().join(name));
        fs::create_dir_all(one.join("new")).unwrap();
        fs::create_dir_all(other.join("old")).unwrap();
        exchange_in_steps(&one, &other).unwrap();
        assert!(other.join("new").exists() && one.join("old").exists());
    }

    #[cfg(unix)]
    #[test]
    fn others_may_read_the_results() {
        use std::os::unix::fs::PermissionsExt;
        let place = Place::new();
        let usual = place.room.path().join("usual");
        fs::create_dir(&usual).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&place.run("1", false).unwrap()), mode(&usual));
    }
}
