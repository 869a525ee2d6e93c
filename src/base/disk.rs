//! All operations that create, write or rename files, in one place.
//!
//! ```text
//! a run: create, write, rename  ->  ask(path)  ->  the disk
//!                                      ^
//!                  a test may refuse here, as a full disk would
//! ```
//!
//! So a test can make each operation fail, one after another: see [`testing`]. Removals are not
//! here: a leftover file does no harm.

#[doc(hidden)]
pub mod testing;

use std::fs;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A file that is being written.
#[derive(Debug)]
pub struct File {
    path: PathBuf,
    file: fs::File,
}

impl File {
    /// Creates a file, or empties an existing one.
    pub fn create(path: &Path) -> io::Result<Self> {
        Self::open(path, fs::File::options().write(true).create(true).truncate(true))
    }

    /// Opens a file as `options` say.
    pub fn open(path: &Path, options: &fs::OpenOptions) -> io::Result<Self> {
        ask(path)?;
        Ok(Self { path: path.to_owned(), file: options.open(path)? })
    }

    /// Opens a file to go on writing it; creates it if it does not exist.
    pub fn resume(path: &Path) -> io::Result<Self> {
        Self::open(path, fs::File::options().write(true).create(true).truncate(false))
    }

    /// Cuts the file after its first `length` bytes.
    ///
    /// # Errors
    /// If it cannot be cut.
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
pub fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    File::create(path)?.write_all(content)
}

/// Creates a folder.
pub fn create_dir(path: &Path) -> io::Result<()> {
    ask(path)?;
    fs::create_dir(path)
}

/// Creates a folder and the folders above it, unless they exist.
///
/// # Errors
/// If one of them cannot be created.
pub fn create_dir_all(path: &Path) -> io::Result<()> {
    ask(path)?;
    fs::create_dir_all(path)
}

/// Changes the disk at a path by calling `how`, for operations without a function here, such as a
/// rename.
///
/// # Errors
/// The errors of `how`.
pub fn change<T>(at: &Path, how: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    ask(at)?;
    how()
}

/// Asks whether an operation may begin: only a test refuses.
fn ask(path: &Path) -> io::Result<()> {
    // A release build does not ask, so its writes cost nothing extra.
    if cfg!(debug_assertions) { testing::ask(path) } else { Ok(()) }
}
