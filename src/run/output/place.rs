//! Where the files of a run are: in a folder of their own, or in a pack.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::{OutputError, PackedRun};
use mumakil_base::disk;

/// Where the files of a run are.
#[derive(Clone, Debug)]
pub enum RunPlace {
    /// In this folder.
    Folder(PathBuf),
    /// In a pack.
    Packed(PackedRun),
}

impl RunPlace {
    /// Returns what to call a file of it in messages.
    pub fn path(&self, name: &str) -> PathBuf {
        match self {
            Self::Folder(folder) => folder.join(name),
            Self::Packed(run) => run.path(name),
        }
    }

    /// Opens a file of it.
    ///
    /// # Errors
    /// If it is not there or cannot be read.
    pub fn open(&self, name: &str) -> io::Result<Box<dyn Read>> {
        Ok(match self {
            Self::Folder(folder) => Box::new(File::open(folder.join(name))?),
            Self::Packed(run) => Box::new(run.open(name)?),
        })
    }

    /// Reads a file of it as text.
    ///
    /// # Errors
    /// If it is not there or cannot be read.
    pub fn text(&self, name: &str) -> io::Result<String> {
        io::read_to_string(self.open(name)?)
    }

    /// Returns whether it has a file.
    pub fn has(&self, name: &str) -> bool {
        match self {
            Self::Folder(folder) => folder.join(name).exists(),
            // What cannot be read is told by who reads it.
            Self::Packed(run) => run.has(name).unwrap_or(true),
        }
    }

    /// Copies its files into a folder.
    ///
    /// # Errors
    /// If they cannot be read, or nothing can be written there.
    pub fn copy_into(&self, folder: &Path) -> Result<(), OutputError> {
        match self {
            Self::Folder(from) => copy_all(from, folder),
            Self::Packed(run) => run.unpack(folder),
        }
    }
}

/// Copies what is in a folder into another.
fn copy_all(from: &Path, to: &Path) -> Result<(), OutputError> {
    let unread = |source| OutputError::Read { path: from.to_owned(), source };
    for entry in fs::read_dir(from).map_err(unread)? {
        let entry = entry.map_err(unread)?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let unwritten = |source| OutputError::Write { path: target.clone(), source };
        if entry.file_type().map_err(unread)?.is_dir() {
            disk::create_dir(&target).map_err(unwritten)?;
            copy_all(&source, &target)?;
        } else {
            let mut open = File::open(&source)
                .map_err(|why| OutputError::Read { path: source, source: why })?;
            let mut copy = disk::File::create(&target).map_err(unwritten)?;
            io::copy(&mut open, &mut copy).map_err(unwritten)?;
        }
    }
    Ok(())
}
