//! Changes of the disk: every file that is made, written or renamed, in one place.
//!
//! ```text
//! a run: create, write, rename  ->  ask(path)  ->  the disk
//!                                      ^
//!                  a test may refuse here, as a full disk would
//! ```
//!
//! So a test can let each operation fail, one after the other, see [`testing`]. Removing files is
//! not here: a file too many does no harm.

#[doc(hidden)]
pub mod testing;

use std::fs;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A file that is written.
#[derive(Debug)]
pub struct File {
    path: PathBuf,
    file: fs::File,
}

impl File {
    /// Makes a file; one that is there is emptied.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn create(path: &Path) -> io::Result<Self> {
        Self::open(path, fs::File::options().write(true).create(true).truncate(true))
    }

    /// Opens a file as `options` say.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open(path: &Path, options: &fs::OpenOptions) -> io::Result<Self> {
        ask(path)?;
        Ok(Self { path: path.to_owned(), file: options.open(path)? })
    }

    /// Opens a file that is gone on with; it is made if it is not there.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn resume(path: &Path) -> io::Result<Self> {
        Self::open(path, fs::File::options().write(true).create(true).truncate(false))
    }

    /// Cuts off what stands behind so many bytes.
    ///
    /// # Errors
    /// If that cannot be.
    pub fn cut(&mut self, length: u64) -> io::Result<()> {
        ask(&self.path)?;
        self.file.set_len(length)
    }
}

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        ask(&self.path)?;
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for File {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// Writes a whole file.
///
/// # Errors
/// If it cannot be written.
pub fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    File::create(path)?.write_all(content)
}

/// Makes a folder.
///
/// # Errors
/// If it cannot be made.
pub fn create_dir(path: &Path) -> io::Result<()> {
    ask(path)?;
    fs::create_dir(path)
}

/// Makes a folder and those above it, if they are not there.
///
/// # Errors
/// If one of them cannot be made.
pub fn create_dir_all(path: &Path) -> io::Result<()> {
    ask(path)?;
    fs::create_dir_all(path)
}

/// Changes something at a path with `how`, for what is none of the above, such as to rename.
///
/// # Errors
/// As `how` has them.
pub fn change<T>(at: &Path, how: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    ask(at)?;
    how()
}

/// Says whether an operation may begin: only a test says no.
fn ask(path: &Path) -> io::Result<()> {
    // A release build has nothing to ask: its writes cost what they cost without this.
    if cfg!(debug_assertions) { testing::ask(path) } else { Ok(()) }
}
