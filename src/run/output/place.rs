//! The place of a run's files: a folder of their own, or a pack.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::{OutputError, PackedRun};
use mumakil_base::{disk, files};

/// The most bytes of a file that is read as a whole: a summary, the log of the histograms.
// Chosen: they grow with the pools and users, of which ten thousand need a tenth of this. A pack can
// have a file that is a thousand times as large as the pack.
const LARGEST_TEXT: u64 = 32 << 20;

/// The place of a run's files.
#[derive(Clone, Debug)]
pub enum RunPlace {
    /// A folder of their own.
    Folder(PathBuf),
    /// A pack.
    Packed(PackedRun),
}

impl RunPlace {
    /// Returns the path of a file of the run, for messages.
    pub fn path(&self, name: &str) -> PathBuf {
        match self {
            Self::Folder(folder) => folder.join(name),
            Self::Packed(run) => run.path(name),
        }
    }

    /// Returns the path of the run's folder, for messages.
    pub fn folder(&self) -> PathBuf {
        self.path("").components().collect()
    }

    /// Opens a file of the run.
    ///
    /// # Errors
    /// If the file does not exist or cannot be read.
    pub fn open(&self, name: &str) -> io::Result<Box<dyn Read>> {
        Ok(match self {
            Self::Folder(folder) => Box::new(files::open_own(&folder.join(name))?),
            Self::Packed(run) => Box::new(run.open(name)?),
        })
    }

    /// Reads a file of the run as text.
    ///
    /// # Errors
    /// If the file does not exist, cannot be read, or is larger than any that a run writes.
    pub fn text(&self, name: &str) -> io::Result<String> {
        let text = io::read_to_string(self.open(name)?.take(LARGEST_TEXT + 1))?;
        if LARGEST_TEXT < text.len() as u64 {
            let most = LARGEST_TEXT >> 20;
            return Err(io::Error::other(format!("it is larger than {most} MiB; no run wrote it")));
        }
        Ok(text)
    }

    /// Returns whether the run has a file of this name.
    pub fn has(&self, name: &str) -> bool {
        match self {
            Self::Folder(folder) => folder.join(name).exists(),
            // If the pack cannot be read, say `true`: reading the file will report the error.
            Self::Packed(run) => run.has(name).unwrap_or(true),
        }
    }

    /// Copies the run's files into a folder.
    pub fn copy_into(&self, folder: &Path) -> Result<(), OutputError> {
        for (name, _) in self.files()? {
            let target = folder.join(&name);
            let unwritten = |source| OutputError::Write { path: target.clone(), source };
            disk::create_dir_all(target.parent().unwrap_or(folder)).map_err(unwritten)?;
            let mut content = (self.open(&name))
                .map_err(|source| OutputError::Read { path: self.path(&name), source })?;
            let mut copy = disk::File::create(&target).map_err(unwritten)?;
            io::copy(&mut content, &mut copy).map_err(unwritten)?;
        }
        Ok(())
    }

    /// Returns the files of the run: their paths in its folder, and their sizes in bytes.
    pub(super) fn files(&self) -> Result<Vec<(String, u64)>, OutputError> {
        match self {
            Self::Folder(folder) => files_below(folder),
            Self::Packed(run) => {
                let files = run.files();
                let files =
                    files.map_err(|source| OutputError::Read { path: self.folder(), source })?;
                Ok(files.into_iter().map(|file| (file.name, file.size)).collect())
            }
        }
    }
}

/// Returns the files in a folder and below: their paths relative to the folder, and their sizes in
/// bytes. Paths have `/` on every system.
pub(super) fn files_below(folder: &Path) -> Result<Vec<(String, u64)>, OutputError> {
    let unread = |source| OutputError::Read { path: folder.to_owned(), source };
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(unread)? {
        let entry = entry.map_err(unread)?;
        let (name, about) = (entry.file_name(), entry.metadata().map_err(unread)?);
        // Files of runs have plain names, so the conversion loses nothing.
        let name = name.to_string_lossy();
        if about.is_dir() {
            let below = files_below(&entry.path())?.into_iter();
            // Use `/` on Windows too: the digest hashes these paths.
            files.extend(below.map(|(below, size)| (format!("{name}/{below}"), size)));
        } else {
            files.push((name.into_owned(), about.len()));
        }
    }
    Ok(files)
}
