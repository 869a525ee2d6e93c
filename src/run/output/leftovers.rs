//! Half-written files of killed processes are removed by the next process that writes beside them.
//!
//! A process holds a lock on each hidden file or folder that it fills. The system frees the lock
//! however the process ends, so another process that gets the lock knows that the owner has ended.
//! Process ids would not suffice: the system reuses them.
//!
//! On a shared file system a lock may be visible on one machine only. So hidden names contain the
//! machine's name, and each machine removes only its own leftovers. Without locks or without a
//! machine name, nothing is removed.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;

use super::HIDDEN;

/// The number of random letters at the end of a hidden name.
// `tempfile`'s default; a hidden name of another length is not ours, so it is not removed.
const DRAWN: usize = 6;

/// The folders that this process has swept; one sweep of each is enough.
static SWEPT: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The state of the lock of a hidden file or folder.
#[derive(Debug)]
pub(super) enum HiddenLock {
    /// This process holds the lock until the value is dropped.
    Ours(File),
    /// Another process treated the file as a leftover before we could lock it.
    Lost,
    /// The file system has no locks.
    Unknown,
}

/// Returns the beginning of hidden names on this machine.
pub(super) fn prefix() -> String {
    machine().map_or_else(|| HIDDEN.to_owned(), |machine| format!("{HIDDEN}{machine}-"))
}

/// Returns the name of this machine, at most 64 characters that are safe in file names; `None` if
/// the machine has no such name.
pub fn machine() -> Option<String> {
    #[cfg(unix)]
    {
        let system = rustix::system::uname();
        let name = system.nodename().to_string_lossy();
        // The name becomes part of file names; Linux limits host names to 64 characters.
        let name: String =
            name.chars().take(64).filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
        (!name.is_empty()).then_some(name)
    }
    #[cfg(not(unix))]
    None
}

/// Locks a hidden file or folder that this process has just made.
pub(super) fn hold(path: &Path) -> HiddenLock {
    match open(path).map(|file| (file.try_lock(), file)) {
        // Another process's sweep may have removed the file between opening and locking; the lock
        // is then worthless.
        Ok((Ok(()), file)) if is_at(&file, path) => HiddenLock::Ours(file),
        Ok((Ok(()) | Err(fs::TryLockError::WouldBlock), _)) => HiddenLock::Lost,
        Err(error) if error.kind() == io::ErrorKind::NotFound => HiddenLock::Lost,
        Ok((Err(fs::TryLockError::Error(_)), _)) | Err(_) => HiddenLock::Unknown,
    }
}

/// Removes the hidden files that ended processes of this machine have left in a folder. A failure
/// is ignored: no user asked for the removal.
pub(super) fn sweep(folder: &Path) {
    // Without a machine name, leftovers of other machines look like ours.
    if machine().is_none() || SWEPT.lock().iter().any(|swept| swept == folder) {
        return;
    }
    sweep_again(folder);
    SWEPT.lock().push(folder.to_owned());
}

fn sweep_again(folder: &Path) {
    // If the folder is unusable, the write that follows reports it.
    let Ok(entries) = fs::read_dir(folder) else { return };
    let prefix = prefix();
    for entry in entries.flatten() {
        let name = entry.file_name();
        let drawn = name.to_str().and_then(|name| name.strip_prefix(&prefix));
        let is_ours = drawn.is_some_and(|drawn| {
            drawn.len() == DRAWN && drawn.chars().all(|c| c.is_ascii_alphanumeric())
        });
        // Mumakil makes no links; never follow or remove them.
        let Ok(kind) = entry.file_type() else { continue };
        if !is_ours || !(kind.is_dir() || kind.is_file()) {
            continue;
        }
        // Hold the lock during the removal: a process that has just made this file then finds it
        // locked and makes another one.
        if let HiddenLock::Ours(_lock) = hold(&entry.path()) {
            let path = entry.path();
            let _ = if kind.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        }
    }
}

/// Returns whether a process holds the lock of a file, as seen from this machine; `None` if the
/// file system has no locks. The check disturbs no writer: a writer always locks a new file.
pub fn lock_of(file: &File) -> Option<bool> {
    match file.try_lock_shared() {
        Ok(()) => Some(false),
        Err(fs::TryLockError::WouldBlock) => Some(true),
        Err(fs::TryLockError::Error(_)) => None,
    }
}

/// Opens a file or a folder in order to lock it. A file is opened for writing: some shared file
/// systems lock only files that are open for writing.
fn open(path: &Path) -> io::Result<File> {
    match fs::symlink_metadata(path)?.is_dir() {
        true => File::open(path),
        false => File::options().read(true).write(true).open(path),
    }
}

/// Returns whether `path` still leads to this open file.
fn is_at(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let identity = |about: fs::Metadata| (about.dev(), about.ino());
        let open = file.metadata().map(identity).ok();
        open.is_some() && open == fs::symlink_metadata(path).map(identity).ok()
    }
    #[cfg(not(unix))]
    {
        let _ = (file, path);
        true
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use tempfile::TempDir;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn folders_with_an_owner_are_left_and_those_without_are_removed() {
        let room = TempDir::new().unwrap();
        let [file, folder] = ["a1b2c3", "d4e5f6"].map(|drawn| room.path().join(prefix() + drawn));
        fs::write(&file, "half a table").unwrap();
        fs::create_dir_all(folder.join("histograms")).unwrap();
        let owners = [hold(&file), hold(&folder)];
        assert!(owners.iter().all(|owner| matches!(owner, HiddenLock::Ours(_))), "{owners:?}");
        sweep_again(room.path());
        assert_eq!(names(room.path()).len(), 2);
        drop(owners);
        sweep_again(room.path());
        assert_eq!(names(room.path()), Vec::<String>::new());
    }

    #[test]
    fn files_of_others_are_not_removed() {
        let room = TempDir::new().unwrap();
        let own = format!("{}a1b2c3", prefix());
        let kept = [".mumakil-other.machine-a1b2c3", ".mumakil-notes", &format!("{own}.old"), "a"];
        for name in kept {
            fs::write(room.path().join(name), "").unwrap();
        }
        std::os::unix::fs::symlink(room.path().join("a"), room.path().join(&own)).unwrap();
        sweep_again(room.path());
        assert_eq!(names(room.path()).len(), kept.len() + 1);
    }

    /// Another process sweeps after the hidden file is created and before it is locked.
    #[test]
    fn an_owner_swept_before_it_could_lock_knows_it() {
        let room = TempDir::new().unwrap();
        let path = room.path().join(prefix() + "a1b2c3");
        fs::write(&path, "").unwrap();
        let sweeper = hold(&path);
        assert!(matches!(hold(&path), HiddenLock::Lost));
        fs::remove_file(&path).unwrap();
        drop(sweeper);
        assert!(matches!(hold(&path), HiddenLock::Lost));
    }

    #[test]
    fn a_folder_is_swept_once() {
        let room = TempDir::new().unwrap();
        let left = room.path().join(prefix() + "a1b2c3");
        sweep(room.path());
        fs::write(&left, "").unwrap();
        sweep(room.path());
        assert!(left.exists());
    }
}
