//! Output files and folders are written under hidden names and renamed once they are complete.
//!
//! A hidden file or folder is filled beside its target, on the same file system, and renamed at the
//! end. On Linux, an existing folder is exchanged with the new folder in one step. On other systems
//! the old folder first gets a hidden name, so for a moment the target does not exist. Either way a
//! killed process leaves complete results, old or new. At worst it also leaves a hidden file or
//! folder beside them. The next process that writes there removes it (`leftovers`).
//!
//! A hidden file that is dropped before it is renamed is removed. A signal ends a process without
//! dropping anything, so the signal handler calls [`remove_unfinished`].

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use tempfile::{Builder, NamedTempFile, TempDir};

use super::OutputError;
use super::leftovers::{self, HiddenLock};
use mumakil_base::disk::{self, File};

/// The beginning of hidden names. It marks files that killed processes have left.
pub const HIDDEN: &str = ".mumakil-";

/// The hidden files and folders that this process is filling; a signal handler removes them all.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The folder that this process has put in its place last.
static LAST_PUT: Mutex<Option<PathBuf>> = Mutex::new(None);

/// The existing files that a new file may replace.
#[derive(Clone, Copy, Debug)]
pub enum ReplacedFiles {
    /// Nothing.
    Nothing,
    /// Files for which this check returns no error.
    Checked(fn(&Path) -> Result<(), OutputError>),
    /// Anything.
    Anything,
}

/// A file or folder that is being written; `H` is its hidden temporary form.
#[derive(Debug)]
pub struct HiddenOutput<H> {
    target: PathBuf,
    over: ReplacedFiles,
    /// The temporary file or folder; dropping it removes it with its content.
    hidden: H,
    /// The lock that tells other processes that this process still writes the output.
    held: HiddenLock,
    _listed: UnfinishedLine,
}

/// A file that is being written.
pub type AsideFile = HiddenOutput<NamedTempFile<File>>;

/// A folder that is being written.
pub type AsideFolder = HiddenOutput<TempDir>;

/// An entry in [`UNFINISHED`], removed when dropped.
#[derive(Debug)]
struct UnfinishedLine(PathBuf);

impl<H: AsRef<Path>> HiddenOutput<H> {
    /// Returns the path that the output will have.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Creates the hidden file or folder with `make`, in the folder of `target`, and locks it.
    fn begin(
        target: &Path,
        over: ReplacedFiles,
        make: impl Fn(&Builder<'_, '_>, &Path) -> io::Result<H>,
    ) -> Result<Self, OutputError> {
        over.check(target)?;
        let parent = (target.parent().filter(|parent| *parent != Path::new("")))
            .unwrap_or_else(|| Path::new("."));
        let error = |source| OutputError::Write { path: parent.to_owned(), source };
        disk::create_dir_all(parent).map_err(error)?;
        // Sweep before creating our own file, so that the sweep need not distinguish it from
        // leftovers.
        leftovers::sweep(parent);
        let prefix = leftovers::prefix();
        let mut aside = Builder::new();
        aside.prefix(&prefix);
        loop {
            // Hold this lock, so that a signal handler does not come between the making of the hidden
            // output and its entry in the list.
            let mut unfinished = UNFINISHED.lock();
            let hidden = make(&aside, parent).map_err(error)?;
            let held = leftovers::hold(hidden.as_ref());
            // If another process treated the new file as a leftover before we locked it, make
            // another file.
            if !matches!(held, HiddenLock::Lost) {
                unfinished.push(hidden.as_ref().to_owned());
                let listed = UnfinishedLine(hidden.as_ref().to_owned());
                return Ok(Self { target: target.to_owned(), over, hidden, held, _listed: listed });
            }
        }
    }
}

impl AsideFile {
    /// Begins the file that will be at `target`. Creates the folder of `target` if it is missing.
    ///
    /// # Errors
    /// If `target` exists and may not be replaced, or if nothing can be written beside it.
    pub fn create(target: &Path, over: ReplacedFiles) -> Result<Self, OutputError> {
        Self::begin(target, over, |aside, parent| {
            aside.make_in(parent, |path| {
                File::open(path, fs::File::options().write(true).create_new(true))
            })
        })
    }

    /// Returns the hidden file, for writing.
    pub fn file(&mut self) -> &mut File {
        self.hidden.as_file_mut()
    }

    /// Sets the permissions of the file.
    ///
    /// # Errors
    /// If the permissions cannot be set.
    pub fn permit(&self, rights: fs::Permissions) -> io::Result<()> {
        disk::change(&self.target, || fs::set_permissions(self.hidden.path(), rights))
    }

    /// Opens the hidden file again, for a second writer such as a watcher.
    pub fn reopen(&self) -> io::Result<File> {
        File::open(self.hidden.path(), fs::File::options().write(true))
    }

    /// Renames the file to its target and returns the target.
    ///
    /// # Errors
    /// If the target now exists and may not be replaced, or if it cannot be written.
    pub fn put(self) -> Result<PathBuf, OutputError> {
        self.put_locked().map(|(target, _)| target)
    }

    /// Renames the file to its target and returns the target and the lock of the file. Until the
    /// lock is dropped, other processes see the file locked ([`lock_of`](super::lock_of)).
    ///
    /// # Errors
    /// As [`put`](Self::put).
    pub fn put_locked(self) -> Result<(PathBuf, Option<fs::File>), OutputError> {
        // On an error these variables are dropped in reverse order, the hidden file before its
        // lock. Otherwise another process could take the file for a leftover while we remove it.
        let Self { _listed, held, target, over, hidden } = self;
        // Hold this lock, so that a signal handler does not remove the file or folder during the
        // rename.
        let _unfinished = UNFINISHED.lock();
        over.check(&target)?;
        let placed = disk::change(&target, || {
            let placed = match over {
                // A plain rename would replace a file that appeared since the check.
                ReplacedFiles::Nothing => hidden.persist_noclobber(&target),
                ReplacedFiles::Checked(_) | ReplacedFiles::Anything => hidden.persist(&target),
            };
            placed.map_err(|error| error.error)
        });
        match placed {
            Ok(_) => match held {
                // The renamed file is still the same file, so the lock still holds.
                HiddenLock::Ours(lock) => Ok((target, Some(lock))),
                HiddenLock::Lost | HiddenLock::Unknown => Ok((target, None)),
            },
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                Err(OutputError::Exists { path: target })
            }
            Err(source) => Err(OutputError::Write { path: target, source }),
        }
    }
}

impl AsideFolder {
    /// Begins the folder that will be at `target`. Creates the folders above it if they are
    /// missing.
    ///
    /// # Errors
    /// If `target` exists and may not be replaced, or if nothing can be written beside it.
    pub fn create(target: &Path, over: ReplacedFiles) -> Result<Self, OutputError> {
        Self::begin(target, over, |aside, parent| disk::change(parent, || make_dir(aside, parent)))
    }

    /// Returns the path of the hidden folder, into which files are written.
    pub fn path(&self) -> &Path {
        self.hidden.path()
    }

    /// Renames the folder to its target and returns the target.
    ///
    /// # Errors
    /// If the target now exists and may not be replaced, or if it cannot be written.
    pub fn put(self) -> Result<PathBuf, OutputError> {
        let Self { _listed, held: _held, target, over, hidden } = self;
        // Hold this lock, so that a signal handler does not remove the file or folder during the
        // rename.
        let unfinished = UNFINISHED.lock();
        // Check again: another process may have created the target since the run began.
        over.check(&target)?;
        let placed = disk::change(&target, || {
            if target.exists() {
                // After the exchange, `hidden` is the old folder; dropping `hidden` removes that
                // folder.
                exchange(hidden.path(), &target)
            } else {
                fs::rename(hidden.path(), &target)
            }
        });
        match placed {
            Ok(()) => {
                // Note this before a signal may end the process: the old folder, which may be
                // large, is removed only after this. A folder in a hidden folder is hidden still.
                if !unfinished.iter().any(|hidden| target.starts_with(hidden)) {
                    *LAST_PUT.lock() = Some(target.clone());
                }
                Ok(target)
            }
            Err(source) => Err(OutputError::Write { path: target, source }),
        }
    }
}

/// Makes a hidden folder with the permissions of ordinary folders; `tempfile` would let only its
/// owner read it.
fn make_dir(aside: &Builder<'_, '_>, parent: &Path) -> io::Result<TempDir> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mut aside = aside.clone();
        // The process's umask applies, as to every new folder.
        aside.permissions(fs::Permissions::from_mode(0o777)).tempdir_in(parent)
    }
    #[cfg(not(unix))]
    aside.tempdir_in(parent)
}

impl ReplacedFiles {
    fn check(self, target: &Path) -> Result<(), OutputError> {
        // A dangling symbolic link counts as existing.
        if fs::symlink_metadata(target).is_err() {
            return Ok(());
        }
        match self {
            Self::Nothing => Err(OutputError::Exists { path: target.to_owned() }),
            Self::Checked(check) => check(target),
            Self::Anything => Ok(()),
        }
    }
}

impl Drop for UnfinishedLine {
    fn drop(&mut self) {
        // This process no longer uses the hidden name, so a signal handler must not remove a file
        // of this name.
        UNFINISHED.lock().retain(|other| *other != self.0);
    }
}

/// Writes a file; replaces an existing one.
pub fn write_file(folder: &Path, name: &str, content: &[u8]) -> Result<(), OutputError> {
    let target = folder.join(name);
    let mut aside = AsideFile::create(&target, ReplacedFiles::Anything)?;
    (aside.file().write_all(content))
        .map_err(|source| OutputError::Write { path: target, source })?;
    aside.put().map(drop)
}

/// Copies a file with its permissions; replaces an existing one.
pub fn copy_file(from: &Path, to: &Path) -> Result<(), OutputError> {
    let unread = |source| OutputError::Read { path: from.to_owned(), source };
    let unwritten = |source| OutputError::Write { path: to.to_owned(), source };
    let mut file = fs::File::open(from).map_err(unread)?;
    let mut aside = AsideFile::create(to, ReplacedFiles::Anything)?;
    io::copy(&mut file, aside.file()).map_err(unwritten)?;
    // Set the permissions last: a read-only copy could not be filled.
    aside.permit(file.metadata().map_err(unread)?.permissions()).map_err(unwritten)?;
    aside.put().map(drop)
}

/// Returns the folder that this process has put in its place last, if any.
pub fn last_put() -> Option<PathBuf> {
    LAST_PUT.lock().clone()
}

/// Removes all hidden files and folders that this process is filling. Returns a guard: until the
/// guard is dropped, no file is renamed to its target. The process should end before it drops the
/// guard.
#[must_use]
pub fn remove_unfinished() -> impl Sized {
    let unfinished = UNFINISHED.lock();
    for path in &*unfinished {
        // Try several times: a run goes on writing for a moment and may add a file to a folder that
        // is being removed.
        for _ in 0..10 {
            let removed = fs::remove_dir_all(path).or_else(|_| fs::remove_file(path));
            if removed.is_ok() || !path.exists() {
                break;
            }
        }
    }
    unfinished
}

/// Exchanges two folders.
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        // Some file systems cannot exchange folders and return an error.
        if renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).is_ok() {
            return Ok(());
        }
    }
    exchange_in_steps(one, other)
}

/// Exchanges two folders by three renames; if the second rename fails, reverts the first.
fn exchange_in_steps(one: &Path, other: &Path) -> io::Result<()> {
    // This name begins like the hidden folder's name, so it is hidden too. It is longer, so
    // `leftovers` does not remove it.
    let between = one.with_extension("old");
    fs::rename(other, &between)?;
    if let Err(error) = fs::rename(one, other) {
        fs::rename(&between, other)?;
        return Err(error);
    }
    fs::rename(&between, one)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the names in a folder, including hidden ones.
    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_dropped_output_leaves_nothing_and_is_no_longer_unfinished() {
        let room = TempDir::new().unwrap();
        let file = AsideFile::create(&room.path().join("a.csv"), ReplacedFiles::Nothing).unwrap();
        let folder = AsideFolder::create(&room.path().join("a"), ReplacedFiles::Nothing).unwrap();
        let is_listed = || UNFINISHED.lock().iter().any(|path| path.starts_with(room.path()));
        assert!(names(room.path()).len() == 2 && is_listed());
        drop((file, folder));
        assert!(names(room.path()).is_empty() && !is_listed());
    }

    #[test]
    fn files_that_appear_meanwhile_are_not_replaced() {
        let room = TempDir::new().unwrap();
        let target = room.path().join("a.csv");
        let file = AsideFile::create(&target, ReplacedFiles::Nothing).unwrap();
        fs::write(&target, "somebody's").unwrap();
        assert!(matches!(file.put(), Err(OutputError::Exists { .. })));
        assert_eq!(fs::read_to_string(&target).unwrap(), "somebody's");
        assert_eq!(names(room.path()), ["a.csv"]);
        write_file(room.path(), "a.csv", b"ours").unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "ours");
    }

    #[test]
    fn folders_are_exchanged_whole_in_either_way() {
        let room = TempDir::new().unwrap();
        let [one, other] = [room.path().join(".one"), room.path().join("other")];
        fs::create_dir_all(one.join("new")).unwrap();
        fs::create_dir_all(other.join("old")).unwrap();
        exchange(&one, &other).unwrap();
        assert!(one.join("old").exists() && other.join("new").exists());
        exchange_in_steps(&one, &other).unwrap();
        assert!(one.join("new").exists() && other.join("old").exists());
    }

    /// Programs of other users may serve the results, or compare them with other results.
    #[cfg(unix)]
    #[test]
    fn others_may_read_what_the_mask_lets_them_read() {
        use std::os::unix::fs::PermissionsExt;
        let room = TempDir::new().unwrap();
        let mode =
            |name: &str| fs::metadata(room.path().join(name)).unwrap().permissions().mode() & 0o777;
        fs::write(room.path().join("usual"), "").unwrap();
        fs::create_dir(room.path().join("folder")).unwrap();
        write_file(room.path(), "ours", b"").unwrap();
        AsideFolder::create(&room.path().join("run"), ReplacedFiles::Nothing)
            .unwrap()
            .put()
            .unwrap();
        assert_eq!((mode("ours"), mode("run")), (mode("usual"), mode("folder")));
    }
}
