//! Packs: the folders of many runs in one file.
//!
//! A study of ten thousand runs would leave as many folders of small files, which are slow on
//! shared file systems. A pack is a ZIP file, which common tools read; unpacked, it gives a folder
//! for each run:
//!
//! ```text
//! 00f3…/summary.json  first file of a run
//! 00f3…/jobs.csv
//! 00f3…/…             scenario: the last file, so the run is whole
//! 81c2…/summary.json  a run that was cut short: the next writer cuts it off
//! index               ZIP's central directory, written when a process closes the pack
//! ```
//!
//! Without the index, as after a `kill -9`, the pack is read from its beginning, file by file. Each
//! file has a checksum, which readers check.

mod write;
mod zip;

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Take};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::CrcReader;
use flate2::read::DeflateDecoder;
use rustc_hash::FxHashMap;

pub use write::{Packer, seal};
use zip::{ZipEntry, read_index, read_local};

use super::OutputError;
use mumakil_base::disk;
use mumakil_base::files::{RESOLVED, SUMMARY, own_length};

/// The ending of a pack's name.
const PACK: &str = ".zip";

/// The packs of a folder, and the runs in them with their offsets.
#[derive(Debug, Default)]
pub struct Packs {
    packs: Vec<KnownPack>,
    runs: FxHashMap<u64, PackedRun>,
}

/// A pack and how much of it has been read.
#[derive(Debug)]
struct KnownPack {
    path: Arc<Path>,
    /// The offset in bytes at which its last complete run ends.
    end: u64,
    /// Its length in bytes when it was last read.
    length: u64,
}

/// A run in a pack.
#[derive(Clone, Debug)]
pub struct PackedRun {
    pack: Arc<Path>,
    /// The name of its folder, which is a hexadecimal number.
    id: u64,
    from: u32,
    to: u32,
}

/// A reader of a packed file. It checks size and checksum at the end of the file.
struct CheckedFile {
    content: CrcReader<DeflateDecoder<BufReader<Take<File>>>>,
    entry: ZipEntry,
}

impl Packs {
    /// Reads the runs that were added to a folder's packs since the last call.
    ///
    /// # Errors
    /// If a pack cannot be read.
    pub fn refresh(&mut self, folder: &Path, names: &[String]) -> Result<(), OutputError> {
        for name in names.iter().filter(|name| is_pack(name)) {
            let path = folder.join(name);
            let read = self.refresh_one(&path);
            read.map_err(|source| OutputError::Read { path, source })?;
        }
        Ok(())
    }

    /// Returns whether no pack has a run.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    fn refresh_one(&mut self, path: &Path) -> io::Result<()> {
        // Read the length once: the next call finds the runs that another process appends after
        // that.
        let length = own_length(path)?;
        let place = match self.packs.iter().position(|pack| *pack.path == *path) {
            Some(place) => place,
            None => {
                self.packs.push(KnownPack { path: path.into(), end: 0, length: 0 });
                self.packs.len() - 1
            }
        };
        let known = &mut self.packs[place];
        // A pack only grows, so the same length means the same content.
        if known.length == length {
            return Ok(());
        }
        // If the pack is shorter than its known runs, another pack has replaced it: read it from
        // its beginning.
        let from = if length < known.end { 0 } else { known.end };
        let (runs, end) = runs_of(&mut File::open(path)?, from, length)?;
        (known.end, known.length) = (end, length);
        for (id, [from, to]) in runs {
            self.runs.insert(id, PackedRun { pack: known.path.clone(), id, from, to });
        }
        Ok(())
    }

    /// Returns a run; `None` if no pack has it.
    pub fn get(&self, id: &str) -> Option<PackedRun> {
        self.runs.get(&number(id)?).cloned()
    }
}

impl PackedRun {
    /// Returns the path of a file of the run, for messages.
    pub fn path(&self, name: &str) -> PathBuf {
        self.pack.join(format!("{:016x}", self.id)).join(name)
    }

    /// Opens a file of the run.
    ///
    /// # Errors
    /// If the file does not exist or cannot be read.
    pub fn open(&self, name: &str) -> io::Result<impl Read + use<>> {
        let (file, entry) = self.find(name)?.ok_or(io::ErrorKind::NotFound)?;
        open(file, entry)
    }

    /// Returns whether the run has a file of this name.
    ///
    /// # Errors
    /// If the pack cannot be read.
    pub fn has(&self, name: &str) -> io::Result<bool> {
        self.find(name).map(|found| found.is_some())
    }

    /// Returns the names of the run's files, each with the CRC-32 of its content. Readers of a file
    /// check that the content has it.
    pub(super) fn crcs(&self) -> io::Result<Vec<(String, u32)>> {
        let mut file = File::open(&self.pack)?;
        let of = |entry: ZipEntry| {
            let name = entry.name.split_once('/').map_or("", |(_, name)| name);
            (name.to_owned(), entry.crc)
        };
        self.entries(&mut file).map(|entry| entry.map(of)).collect()
    }

    fn find(&self, name: &str) -> io::Result<Option<(File, ZipEntry)>> {
        let mut file = File::open(&self.pack)?;
        let wanted = format!("{:016x}/{name}", self.id);
        let mut entries = self.entries(&mut file);
        // An unreadable entry also ends the search, so that its error is reported.
        let found = entries.find(|entry| !entry.as_ref().is_ok_and(|entry| entry.name != wanted));
        drop(entries);
        Ok(found.transpose()?.map(|entry| (file, entry)))
    }

    fn entries<'f>(
        &self,
        file: &'f mut File,
    ) -> impl Iterator<Item = io::Result<ZipEntry>> + use<'f> {
        let (mut at, to) = (u64::from(self.from), u64::from(self.to));
        std::iter::from_fn(move || {
            let entry = (at < to).then(|| read_local(file, at, to))?;
            // The entry existed when the pack was first read, so a missing one is damage.
            let entry = entry.and_then(|entry| entry.ok_or_else(torn));
            at = entry.as_ref().map_or(to, ZipEntry::next);
            Some(entry)
        })
    }

    /// Unpacks the run into a folder.
    ///
    /// # Errors
    /// If the run cannot be read or the folder cannot be written.
    pub fn unpack(&self, folder: &Path) -> Result<(), OutputError> {
        let unread = |source| OutputError::Read { path: self.path(""), source };
        let mut file = File::open(&self.pack).map_err(unread)?;
        let entries: Vec<_> = self.entries(&mut file).collect::<Result<_, _>>().map_err(unread)?;
        for entry in entries {
            let name = entry.name.split_once('/').map_or("", |(_, name)| name).to_owned();
            // Mumakil never writes a name that leads out of the folder.
            if Path::new(&name)
                .components()
                .any(|part| !matches!(part, std::path::Component::Normal(_)))
            {
                return Err(unread(torn()));
            }
            let target = folder.join(&name);
            let unwritten = |source| OutputError::Write { path: target.clone(), source };
            disk::create_dir_all(target.parent().unwrap_or(folder)).map_err(unwritten)?;
            let mut content = open(file.try_clone().map_err(unread)?, entry).map_err(unread)?;
            let mut to = disk::File::create(&target).map_err(unwritten)?;
            let unread = |source| OutputError::Read { path: self.path(&name), source };
            copy(&mut content, unread, &mut to, unwritten)?;
        }
        Ok(())
    }
}

impl Read for CheckedFile {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.content.read(into)?;
        // Reading no bytes into a buffer that has room means the end of the content.
        if read == 0 && !into.is_empty() {
            let crc = self.content.crc();
            // Check the size too: CRC-32 alone misses one damaged file in four billion.
            if crc.sum() != self.entry.crc || crc.amount() != self.entry.size {
                return Err(torn());
            }
        }
        Ok(read)
    }
}

/// Returns a reader of an entry's content.
fn open(mut file: File, entry: ZipEntry) -> io::Result<impl Read + use<>> {
    file.seek(SeekFrom::Start(entry.content()))?;
    let content = BufReader::new(file.take(entry.packed.into()));
    Ok(CheckedFile { content: CrcReader::new(DeflateDecoder::new(content)), entry })
}

/// Returns whether a file name is the name of a pack; hidden files are not packs.
fn is_pack(name: &str) -> bool {
    name.ends_with(PACK) && !name.starts_with('.')
}

/// Copies all bytes; `unread` and `unwritten` turn errors of the two sides into ours.
fn copy(
    from: &mut impl Read,
    unread: impl Fn(io::Error) -> OutputError,
    to: &mut impl io::Write,
    unwritten: impl Fn(io::Error) -> OutputError,
) -> Result<(), OutputError> {
    let mut buffer = vec![0; 1 << 16];
    loop {
        match from.read(&mut buffer).map_err(&unread)? {
            0 => return Ok(()),
            read => to.write_all(&buffer[..read]).map_err(&unwritten)?,
        }
    }
}

/// Returns the error of a damaged pack.
fn torn() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the pack is damaged here")
}

/// Returns the number in the name of a run's folder; `None` if the name is not 16 hexadecimal
/// digits.
fn number(id: &str) -> Option<u64> {
    // Accept one form only, or two folder names could mean the same run.
    let is_plain = id.len() == 16 && id.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'));
    is_plain.then(|| u64::from_str_radix(id, 16).ok()).flatten()
}

/// The complete runs of a pack: the id of each and the offsets of its beginning and end.
type PackRuns = Vec<(u64, [u32; 2])>;

/// Returns the complete runs of a pack that begin at offset `from` or later, and the offset at
/// which the last of them ends.
fn runs_of(file: &mut File, from: u64, length: u64) -> io::Result<(PackRuns, u64)> {
    let (mut runs, mut end) = (PackRuns::new(), from);
    // The last run whose first file was read, and the offset of that file.
    let mut begun = None;
    for entry in entries_of(file, from, length)? {
        let Some((id, name)) = entry.name.split_once('/') else { continue };
        let Some(id) = number(id) else { continue };
        if name == SUMMARY {
            begun = Some((id, entry.at));
        } else if name == RESOLVED {
            // Mumakil never writes beyond 4 GiB; another program may.
            let Ok(to) = u32::try_from(entry.next()) else { continue };
            // The ids must agree: after a crash, the last file of one run may follow the first file
            // of another.
            if let Some((_, from)) = begun.take().filter(|(begun, _)| *begun == id) {
                runs.push((id, [from, to]));
                end = to.into();
            }
        }
    }
    Ok((runs, end))
}

/// Returns the files of a pack that begin at offset `from` or later, in their order in the pack.
/// Reads the index if there is one.
fn entries_of(file: &mut File, from: u64, length: u64) -> io::Result<Vec<ZipEntry>> {
    if let Some((mut entries, index)) = read_index(file, length)? {
        // Other programs may write the index in any order; runs are found by the order in the file.
        entries.sort_unstable_by_key(|entry| entry.at);
        // If files overlap the index, the index belongs to another pack or to an older state of
        // this pack.
        if entries.last().map_or(0, ZipEntry::next) <= index {
            entries.retain(|entry| from <= entry.at.into());
            return Ok(entries);
        }
    }
    let (mut entries, mut at) = (Vec::new(), from);
    while let Some(entry) = read_local(file, at, length)? {
        at = entry.next();
        entries.push(entry);
    }
    Ok(entries)
}

#[cfg(test)]
mod tests;
