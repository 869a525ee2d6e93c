//! Packs: the files of a run in one file.
//!
//! A study of ten thousand runs would leave as many folders of small files, which are slow on
//! shared file systems. A pack is a ZIP file, which common tools read; unpacked, it gives the
//! folder of the run:
//!
//! ```text
//! runs/00f3….zip          appears by one rename, so its run is whole
//!   00f3…/jobs.csv
//!   00f3…/summary.json
//!   00f3…/…
//! ```
//!
//! Earlier versions packed many runs into one file; these packs are read, too. Each file has a
//! checksum, which readers check.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom, Take, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use flate2::CrcReader;
use flate2::bufread::DeflateDecoder;
use rustc_hash::FxHashMap;
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipArchive, ZipWriter};

use super::aside::{AsideFile, ReplacedFiles};
use super::{OutputError, RunPlace};
use mumakil_base::files::{RESOLVED, SUMMARY, own_length};

/// The ending of a pack's name.
const PACK: &str = ".zip";

/// The packs of a folder, and the runs in them.
#[derive(Debug, Default)]
pub struct Packs {
    /// The length of each pack of many runs when it was read.
    lengths: FxHashMap<PathBuf, u64>,
    runs: FxHashMap<Arc<str>, Arc<Path>>,
}

/// A run in a pack.
#[derive(Clone, Debug)]
pub struct PackedRun {
    pack: Arc<Path>,
    /// The name of its folder.
    id: Arc<str>,
}

/// A file in a pack.
#[derive(Clone, Debug)]
pub(super) struct PackedFile {
    /// Its path in the folder of the run.
    pub(super) name: String,
    /// Its uncompressed size in bytes.
    pub(super) size: u64,
    /// The CRC-32 of its content.
    pub(super) crc: u32,
}

/// A reader of a packed file. It checks size and checksum at the end of the file.
struct CheckedFile {
    content: CrcReader<DeflateDecoder<Take<BufReader<File>>>>,
    crc: u32,
    size: u64,
}

impl Packs {
    /// Reads the packs that were added to a folder since the last call.
    pub fn refresh(&mut self, folder: &Path, names: &[String]) -> Result<(), OutputError> {
        for name in names {
            // Hidden files are not packs.
            let Some(stem) = name.strip_suffix(PACK).filter(|stem| !stem.starts_with('.')) else {
                continue;
            };
            let path = folder.join(name);
            // Do not open the pack of one run: there may be ten thousand, on a slow file system.
            if stem.len() == 16 && stem.bytes().all(|c| c.is_ascii_hexdigit()) {
                self.runs.insert(stem.into(), path.into());
                continue;
            }
            let read = self.read_many(&path);
            read.map_err(|source| OutputError::Read { path, source })?;
        }
        Ok(())
    }

    /// Reads the names of the runs in a pack of many.
    fn read_many(&mut self, path: &Path) -> io::Result<()> {
        let length = own_length(path)?;
        if self.lengths.insert(path.to_owned(), length) == Some(length) {
            return Ok(());
        }
        let Some(archive) = archive(path)? else { return Ok(()) };
        let pack: Arc<Path> = path.into();
        for name in archive.file_names().filter_map(Result::ok) {
            if let Some((id, RESOLVED)) = name.split_once('/') {
                self.runs.insert(id.into(), pack.clone());
            }
        }
        Ok(())
    }

    /// Returns whether no pack has a run.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Returns a run; `None` if no pack has it.
    pub fn get(&self, id: &str) -> Option<PackedRun> {
        let (id, pack) = self.runs.get_key_value(id)?;
        Some(PackedRun { pack: pack.clone(), id: id.clone() })
    }
}

impl PackedRun {
    /// Returns the path of a file of the run, for messages.
    pub fn path(&self, name: &str) -> PathBuf {
        self.pack.join(&*self.id).join(name)
    }

    /// Opens a file of the run.
    ///
    /// # Errors
    /// If the file does not exist or cannot be read.
    pub fn open(&self, name: &str) -> io::Result<impl Read + use<>> {
        let mut archive = self.archive()?;
        let file = archive.by_name_raw(self.inside(name).as_bytes()).map_err(io_error)?;
        let start = (file.data_start())
            .filter(|_| file.compression() == CompressionMethod::Deflated)
            .ok_or_else(torn)?;
        let (packed, crc, size) = (file.compressed_size(), file.crc32(), file.size());
        drop(file);
        let mut pack = archive.into_inner();
        pack.seek(SeekFrom::Start(start))?;
        let content = CrcReader::new(DeflateDecoder::new(pack.take(packed)));
        Ok(CheckedFile { content, crc, size })
    }

    /// Returns whether the run has a file of this name.
    pub fn has(&self, name: &str) -> io::Result<bool> {
        Ok(self.archive()?.index_for_name(&self.inside(name)).is_some())
    }

    pub(super) fn files(&self) -> io::Result<Vec<PackedFile>> {
        let archive = self.archive()?;
        let mut files = Vec::new();
        for place in 0..archive.len() {
            let file = archive.by_index_data(place).map_err(io_error)?;
            let path = file.name().map_err(io_error)?;
            let Some((id, name)) = path.split_once('/') else { continue };
            if *id != *self.id {
                continue;
            }
            // Mumakil never writes a name that leads out of the folder.
            if !Path::new(name).components().all(|part| matches!(part, Component::Normal(_))) {
                return Err(torn());
            }
            files.push(PackedFile { name: name.to_owned(), size: file.size(), crc: file.crc32() });
        }
        Ok(files)
    }

    fn archive(&self) -> io::Result<ZipArchive<BufReader<File>>> {
        // A pack appears when it is whole, so a missing index is damage.
        archive(&self.pack)?.ok_or_else(torn)
    }

    fn inside(&self, name: &str) -> String {
        format!("{}/{name}", self.id)
    }
}

impl Read for CheckedFile {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.content.read(into)?;
        // Reading no bytes into a buffer that has room means the end of the content.
        if read == 0 && !into.is_empty() {
            let crc = self.content.crc();
            // Check the size too: CRC-32 alone misses one damaged file in four billion. flate2
            // counts the bytes in 32 bits.
            if crc.sum() != self.crc || crc.amount() != self.size as u32 {
                return Err(torn());
            }
        }
        Ok(read)
    }
}

/// Packs a run into the file `ID.zip` of a folder, which appears when it is whole. The same run
/// gives the same bytes.
///
/// # Errors
/// If the run cannot be read or written, or if it is incomplete.
pub fn pack(id: &str, run: &RunPlace, folder: &Path) -> Result<(), OutputError> {
    let mut files = run.files()?;
    files.sort_unstable();
    for name in [SUMMARY, RESOLVED] {
        if files.iter().all(|(file, _)| file != name) {
            let source = io::ErrorKind::NotFound.into();
            return Err(OutputError::Read { path: run.path(name), source });
        }
    }
    let target = folder.join(format!("{id}{PACK}"));
    let aside = AsideFile::create(&target, ReplacedFiles::Anything)?;
    // Make the archive in memory, where no write fails. Deflated, a run of a million tasks takes some
    // ten megabytes.
    let mut pack = ZipWriter::new(Cursor::new(Vec::new()));
    add_all(&mut pack, (id, run), &files)?;
    let bytes = pack.finish().map_err(io_error).map(Cursor::into_inner);
    let written = bytes.and_then(|bytes| aside.reopen()?.write_all(&bytes));
    written.map_err(|source| OutputError::Write { path: target, source })?;
    aside.put().map(drop)
}

fn add_all(
    pack: &mut ZipWriter<impl Write + Seek>,
    (id, run): (&str, &RunPlace),
    files: &[(String, u64)],
) -> Result<(), OutputError> {
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        // The earliest date of the format.
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644);
    for (name, size) in files {
        let unread = |source| OutputError::Read { path: run.path(name), source };
        let options = options.large_file(u32::MAX as u64 <= *size);
        pack.start_file(format!("{id}/{name}"), options).map_err(io_error).map_err(unread)?;
        io::copy(&mut run.open(name).map_err(unread)?, pack).map_err(unread)?;
    }
    Ok(())
}

/// Opens a ZIP file; `None` if the file is none, or a part of one.
fn archive(path: &Path) -> io::Result<Option<ZipArchive<BufReader<File>>>> {
    match ZipArchive::new(BufReader::new(File::open(path)?)) {
        Ok(archive) => Ok(Some(archive)),
        Err(ZipError::Io(error)) if error.kind() != io::ErrorKind::UnexpectedEof => Err(error),
        Err(_) => Ok(None),
    }
}

fn io_error(error: ZipError) -> io::Error {
    match error {
        ZipError::Io(error) => error,
        other => other.into(),
    }
}

/// Returns the error of a damaged pack.
fn torn() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the pack is damaged here")
}

#[cfg(test)]
mod tests;
