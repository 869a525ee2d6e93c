//! Files and folders are written aside, and put in their places at once when they are whole.
//!
//! A hidden file or folder is filled beside the place where it will be, on the same file system,
//! and renamed at the end. An existing folder is exchanged with the new one in one step where the
//! system can do that (Linux); elsewhere the old one is renamed first, and for that moment has only
//! its hidden name. Either way a process that is killed leaves the old results or the new ones,
//! whole, and at worst something hidden beside them, which `leftovers` removes at the next start.
//!
//! A hidden file that is not put in its place is removed when it is dropped. A process that a
//! signal ends drops nothing, so its signal handler calls [`remove_unfinished`].

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use tempfile::{Builder, NamedTempFile, TempDir};

use super::OutputError;
use super::leftovers::{self, HiddenLock};
use mumakil_base::disk::{self, File};

/// The beginning of hidden names, by which files of killed processes are known.
pub const HIDDEN: &str = ".mumakil-";

/// The hidden files that are being filled. One list for the process, since a signal ends all of it.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The old files that a new one may replace.
#[derive(Clone, Copy, Debug)]
pub enum ReplacedFiles {
    /// Nothing.
    Nothing,
    /// Those that this check does not refuse to lose.
    Checked(fn(&Path) -> Result<(), OutputError>),
    /// Anything.
    Anything,
}

/// Something in the making, which is hidden as an `H`.
#[derive(Debug)]
pub struct HiddenOutput<H> {
    target: PathBuf,
    over: ReplacedFiles,
    /// Removed when dropped, with what is in it.
    hidden: H,
    /// Says to other processes that it is ours.
    held: HiddenLock,
    _listed: UnfinishedLine,
}

/// A file in the making.
pub type AsideFile = HiddenOutput<NamedTempFile<File>>;

/// A folder in the making.
pub type AsideFolder = HiddenOutput<TempDir>;

/// A line in the list of what is unfinished, until it is dropped.
#[derive(Debug)]
struct UnfinishedLine(PathBuf);

impl<H: AsRef<Path>> HiddenOutput<H> {
    /// Returns where it will be.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Begins it with what `make` makes in a folder.
    fn begin(
        target: &Path,
        over: ReplacedFiles,
        make: impl Fn(&Builder<'_, '_>, &Path) -> io::Result<H>,
    ) -> Result<Self, OutputError> {
        over.check(target)?;
        let parent = target.parent().filter(|parent| *parent != Path::new(""));
        let parent = parent.unwrap_or_else(|| Path::new("."));
        let error = |source| OutputError::Write { path: parent.to_owned(), source };
        disk::create_dir_all(parent).map_err(error)?;
        // Before something of ours lies there: the sweep would then have to tell it from leftovers.
        leftovers::sweep(parent);
        let prefix = leftovers::prefix();
        let mut aside = Builder::new();
        aside.prefix(&prefix);
        loop {
            let hidden = make(&aside, parent).map_err(error)?;
            let held = leftovers::hold(hidden.as_ref());
            // Another process may take the new file for a leftover before it is locked: make
            // another one.
            if !matches!(held, HiddenLock::Lost) {
                let listed = UnfinishedLine::new(hidden.as_ref());
                return Ok(Self { target: target.to_owned(), over, hidden, held, _listed: listed });
            }
        }
    }
}

impl AsideFile {
    /// Begins the file that will be at `target`, in a folder that is made if need be.
    ///
    /// # Errors
    /// If something is there that may not be replaced, or if nothing can be written beside it.
    pub fn create(target: &Path, over: ReplacedFiles) -> Result<Self, OutputError> {
        Self::begin(target, over, |aside, parent| {
            aside.make_in(parent, |path| {
                File::open(path, fs::File::options().write(true).create_new(true))
            })
        })
    }

    /// Returns what to write into.
    pub fn file(&mut self) -> &mut File {
        self.hidden.as_file_mut()
    }

    /// Gives it these rights.
    ///
    /// # Errors
    /// If it cannot have them.
    pub fn permit(&self, rights: fs::Permissions) -> io::Result<()> {
        disk::change(&self.target, || fs::set_permissions(self.hidden.path(), rights))
    }

    /// Opens the hidden file again, for a second writer such as a watcher.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn reopen(&self) -> io::Result<File> {
        File::open(self.hidden.path(), fs::File::options().write(true))
    }

    /// Puts the file in its place and returns that.
    ///
    /// # Errors
    /// If something has appeared there that may not be replaced, or if it cannot be written.
    pub fn put(self) -> Result<PathBuf, OutputError> {
        self.put_locked().map(|(target, _)| target)
    }

    /// Does the same, and returns the lock of the file with its place: until it is dropped, other
    /// processes see the file locked ([`lock_of`](super::lock_of)).
    ///
    /// # Errors
    /// As those of [`put`](Self::put).
    pub fn put_locked(self) -> Result<(PathBuf, Option<fs::File>), OutputError> {
        // On an error these are dropped from the last to the first: the hidden file before its
        // lock, or another process could take it for a leftover while we remove it.
        let Self { _listed, held, target, over, hidden } = self;
        // Held, so that what is being put is not removed at the same time.
        let _unfinished = UNFINISHED.lock();
        over.check(&target)?;
        let placed = disk::change(&target, || {
            let placed = match over {
                // A plain rename would replace what appears between the check and now.
                ReplacedFiles::Nothing => hidden.persist_noclobber(&target),
                ReplacedFiles::Checked(_) | ReplacedFiles::Anything => hidden.persist(&target),
            };
            placed.map_err(|error| error.error)
        });
        match placed {
            Ok(_) => match held {
                // The rename keeps the file and so the lock: the caller still holds what it has
                // put.
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
    /// Begins the folder that will be at `target`; those above it are made if need be.
    ///
    /// # Errors
    /// If something is there that may not be replaced, or if nothing can be written beside it.
    pub fn create(target: &Path, over: ReplacedFiles) -> Result<Self, OutputError> {
        Self::begin(target, over, |aside, parent| disk::change(parent, || make_dir(aside, parent)))
    }

    /// Returns where files are to be written.
    pub fn path(&self) -> &Path {
        self.hidden.path()
    }

    /// Puts the folder in its place and returns that.
    ///
    /// # Errors
    /// If something has appeared there that may not be replaced, or if it cannot be written.
    pub fn put(self) -> Result<PathBuf, OutputError> {
        let Self { _listed, held: _held, target, over, hidden } = self;
        // Held, so that what is being put is not removed at the same time.
        let _unfinished = UNFINISHED.lock();
        // Again: somebody may have put something there since the run began.
        over.check(&target)?;
        let placed = disk::change(&target, || {
            if target.exists() {
                // The hidden folder is the old one then, which is removed when it is dropped.
                exchange(hidden.path(), &target)
            } else {
                fs::rename(hidden.path(), &target)
            }
        });
        match placed {
            Ok(()) => Ok(target),
            Err(source) => Err(OutputError::Write { path: target, source }),
        }
    }
}

/// Makes a hidden folder with the permissions of ordinary folders: the library's temporary ones are
/// for their owner alone.
fn make_dir(aside: &Builder<'_, '_>, parent: &Path) -> io::Result<TempDir> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mut aside = aside.clone();
        // The process's umask takes from this what it takes from every new folder.
        aside.permissions(fs::Permissions::from_mode(0o777)).tempdir_in(parent)
    }
    #[cfg(not(unix))]
    aside.tempdir_in(parent)
}

impl ReplacedFiles {
    fn check(self, target: &Path) -> Result<(), OutputError> {
        // A link that leads nowhere exists, too.
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

impl UnfinishedLine {
    fn new(path: &Path) -> Self {
        UNFINISHED.lock().push(path.to_owned());
        Self(path.to_owned())
    }
}

impl Drop for UnfinishedLine {
    fn drop(&mut self) {
        // A file that was put has another name now; its old one must not be removed by a signal.
        UNFINISHED.lock().retain(|other| *other != self.0);
    }
}

/// Writes a file; one that is there gives way to it.
///
/// # Errors
/// If it cannot be written.
pub fn write_file(folder: &Path, name: &str, content: &[u8]) -> Result<(), OutputError> {
    let target = folder.join(name);
    let mut aside = AsideFile::create(&target, ReplacedFiles::Anything)?;
    let error = |source| OutputError::Write { path: target, source };
    aside.file().write_all(content).map_err(error)?;
    aside.put().map(drop)
}

/// Copies a file with its rights; one that is there gives way to it.
///
/// # Errors
/// If it cannot be read or written.
pub fn copy_file(from: &Path, to: &Path) -> Result<(), OutputError> {
    let unread = |source| OutputError::Read { path: from.to_owned(), source };
    let unwritten = |source| OutputError::Write { path: to.to_owned(), source };
    let mut file = fs::File::open(from).map_err(unread)?;
    let mut aside = AsideFile::create(to, ReplacedFiles::Anything)?;
    io::copy(&mut file, aside.file()).map_err(unwritten)?;
    // Rights after content: without the right to write, the copy could not be filled.
    aside.permit(file.metadata().map_err(unread)?.permissions()).map_err(unwritten)?;
    aside.put().map(drop)
}

/// Removes what is unfinished. Until what it returns is dropped, nothing is put in its place: the
/// process is meant to end before.
#[must_use]
pub fn remove_unfinished() -> impl Sized {
    let unfinished = UNFINISHED.lock();
    for path in &*unfinished {
        // A run goes on writing for a moment and may add a file to what is being removed.
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
        // Some file systems cannot, and refuse.
        if renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).is_ok() {
            return Ok(());
        }
    }
    exchange_in_steps(one, other)
}

/// Exchanges two folders by three renames; puts the first back if the second fails.
fn exchange_in_steps(one: &Path, other: &Path) -> io::Result<()> {
    // Hidden too, since it begins like the hidden folder; `leftovers` leaves it alone for its
    // longer name.
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

    /// Returns what is in a folder, hidden names too.
    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn what_is_dropped_leaves_nothing_and_is_no_longer_unfinished() {
        let room = TempDir::new().unwrap();
        let file = AsideFile::create(&room.path().join("a.csv"), ReplacedFiles::Nothing).unwrap();
        let folder = AsideFolder::create(&room.path().join("a"), ReplacedFiles::Nothing).unwrap();
        let is_listed = || UNFINISHED.lock().iter().any(|path| path.starts_with(room.path()));
        assert!(names(room.path()).len() == 2 && is_listed());
        drop((file, folder));
        assert!(names(room.path()).is_empty() && !is_listed());
    }

    #[test]
    fn what_appears_meanwhile_is_not_replaced() {
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

    /// Programs that compare results with others', or serve them, run as other users.
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
