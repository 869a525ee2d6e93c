//! Writing packs: runs are appended until a pack is full.

use std::fs::{self, TryLockError};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use flate2::write::DeflateEncoder;
use flate2::{Compression, CrcWriter};

use super::zip::{self, ZipEntry, before, read_index, read_local};
use super::{PACK, PackedRun, copy, is_pack, number, open, runs_of, torn};
use crate::output::OutputError;
use crate::output::leftovers::machine;
use crate::output::place::files_below;
use mumakil_base::disk;
use mumakil_base::files::{RESOLVED, SUMMARY};

/// A pack with this many files is closed. ZIP's index counts files in 16 bits, so the last run may
/// still add 5,500 files. No run has that many.
const MOST_FILES: usize = 60_000;
/// A pack of this many bytes is closed: half of the range of ZIP's 32-bit offsets.
const MOST_BYTES: u64 = 1 << 31;
/// The largest run that is packed, in bytes; together with [`MOST_BYTES`] this limit keeps every
/// offset below 4 GiB.
const LARGEST_RUN: u64 = 1 << 30;

/// Writes runs into packs.
#[derive(Debug)]
pub struct Packer {
    folder: PathBuf,
    /// The name of this process's packs; further packs have a number after the name.
    name: String,
    open: Option<OpenPack>,
}

/// The pack that is being filled.
#[derive(Debug)]
struct OpenPack {
    path: PathBuf,
    file: BufWriter<disk::File>,
    /// Locked while this process writes the pack.
    lock: fs::File,
    /// The offset in bytes at which the last complete run ends.
    end: u64,
    files: usize,
    /// Whether anything follows the last complete run: an index or an incomplete run.
    has_tail: bool,
}

impl Packer {
    /// Returns a writer of packs of this name in a folder. The first run creates the first pack.
    pub fn new(folder: &Path, name: &str) -> Self {
        Self { folder: folder.to_owned(), name: name.to_owned(), open: None }
    }

    /// Adds a run that is in a folder. Returns `false` if the run is too large for a pack or its id
    /// is not a number.
    ///
    /// # Errors
    /// If the run cannot be read or written, or if it is incomplete.
    pub fn add(&mut self, id: &str, run: &Path) -> Result<bool, OutputError> {
        let mut files = files_below(run)?;
        // The caller then keeps the run as a folder.
        if number(id).is_none() || LARGEST_RUN < files.iter().map(|file| file.1).sum() {
            return Ok(false);
        }
        // The summary comes first, since it is read most often. The scenario comes last, so a run
        // that has both is complete.
        files.sort_by_key(|(name, _)| (name == RESOLVED, name != SUMMARY, name.clone()));
        for (file, name) in [(files.first(), SUMMARY), (files.last(), RESOLVED)] {
            if file.is_none_or(|file| file.0 != name) {
                let source = io::ErrorKind::NotFound.into();
                return Err(OutputError::Read { path: run.join(name), source });
            }
        }
        self.grow(files.len(), |pack| {
            for (name, _) in &files {
                let path = run.join(name);
                let unread = |source| OutputError::Read { path: path.clone(), source };
                let content = fs::File::open(&path).map_err(unread)?;
                pack.add(&format!("{id}/{name}"), content, unread)?;
            }
            Ok(())
        })?;
        Ok(true)
    }

    /// Adds a run of another pack.
    ///
    /// # Errors
    /// If it cannot be read or written.
    pub fn take(&mut self, run: &PackedRun) -> Result<(), OutputError> {
        let unread = |source| OutputError::Read { path: run.path(""), source };
        let mut file = fs::File::open(&run.pack).map_err(unread)?;
        let entries: Vec<_> = run.entries(&mut file).collect::<Result<_, _>>().map_err(unread)?;
        self.grow(entries.len(), |pack| {
            for entry in entries {
                // Reading checks the checksum, so a damaged run is not copied.
                let content = open(file.try_clone().map_err(unread)?, entry.clone());
                pack.add(&entry.name, content.map_err(unread)?, unread)?;
            }
            Ok(())
        })
    }

    /// Closes the current pack, if there is one, by writing its index.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn close(&mut self) -> Result<(), OutputError> {
        self.open.take().map_or(Ok(()), OpenPack::close)
    }

    /// Lets `fill` add one run, which has `files` files. If `fill` fails, the next call cuts off
    /// the incomplete run.
    fn grow(
        &mut self,
        files: usize,
        fill: impl FnOnce(&mut OpenPack) -> Result<(), OutputError>,
    ) -> Result<(), OutputError> {
        if self.open.as_ref().is_some_and(|pack| pack.is_full()) {
            self.close()?;
        }
        let pack = match &mut self.open {
            Some(pack) => pack,
            none => none.insert(OpenPack::next(&self.folder, &self.name)?),
        };
        // An incomplete run or the index of a closed pack may still follow the last complete run.
        pack.cut()?;
        // Set this before the first byte: if `fill` fails, the next call cuts off the incomplete
        // run.
        pack.has_tail = true;
        fill(pack)?;
        // Count the run only after its bytes have left our buffer.
        pack.end = pack.flushed()?;
        pack.files += files;
        pack.has_tail = false;
        Ok(())
    }
}

impl OpenPack {
    /// Opens the first pack of this name that has room and no other writer.
    fn next(folder: &Path, name: &str) -> Result<Self, OutputError> {
        let unwritten = |path: &Path, source| OutputError::Write { path: path.to_owned(), source };
        disk::create_dir_all(folder).map_err(|source| unwritten(folder, source))?;
        // This name, which no other process uses, is for file systems without locks.
        let own = format!("{name}-{}-{}", machine().unwrap_or_default(), std::process::id());
        let (mut name, mut number) = (name, 1);
        loop {
            // The first pack of a name has no number, as most studies need only one.
            let more = if number == 1 { String::new() } else { format!("-{number}") };
            let path = folder.join(format!("{name}{more}{PACK}"));
            let error = |source| unwritten(&path, source);
            let file = disk::File::resume(&path).map_err(error)?;
            let lock = fs::File::open(&path).map_err(error)?;
            match lock.try_lock() {
                Err(TryLockError::Error(_)) if name != own => {
                    // If the file is empty, we have just created it and will not use it.
                    if lock.metadata().is_ok_and(|file| file.len() == 0) {
                        let _ = fs::remove_file(&path);
                    }
                    // Without locks another process could write into the same pack, so switch to
                    // the name that no other process uses.
                    (name, number) = (&own, 0);
                }
                // Another process fills this pack: try the next number.
                Err(TryLockError::WouldBlock) => {}
                Ok(()) | Err(TryLockError::Error(_)) => {
                    let pack = Self::recover(path.clone(), file, lock).map_err(error)?;
                    if !pack.is_full() {
                        return Ok(pack);
                    }
                }
            }
            number += 1;
        }
    }

    /// Opens an existing pack and finds the end of its last complete run.
    fn recover(path: PathBuf, file: disk::File, lock: fs::File) -> io::Result<Self> {
        let mut read = lock.try_clone()?;
        let length = read.metadata()?.len();
        // The index is written after all files, so a pack with an index needs no check of
        // checksums.
        let is_sealed = read_index(&mut read, length)?.is_some();
        let (mut end, mut files) = (0, 0);
        let runs = runs_of(&mut read, 0, length)?;
        while let Some(entry) = read_local(&mut read, end, runs.1)? {
            // After a kill only the last file can be damaged; after a loss of power any file can be
            // damaged, so check each against its checksum.
            if !is_sealed
                && io::copy(&mut open(read.try_clone()?, entry.clone())?, &mut io::sink()).is_err()
            {
                break;
            }
            end = entry.next();
            files += 1;
        }
        // Find the end of the last run before the first damaged file: a damaged file discards its
        // run and all later runs.
        let end = runs.0.iter().map(|(_, [_, to])| u64::from(*to)).filter(|to| *to <= end).max();
        let end = end.unwrap_or(0);
        let file = BufWriter::new(file);
        Ok(Self { path, file, lock, end, files, has_tail: end < length })
    }

    fn is_full(&self) -> bool {
        MOST_FILES <= self.files || MOST_BYTES <= self.end
    }

    /// Cuts off everything behind the last complete run.
    fn cut(&mut self) -> Result<(), OutputError> {
        let Self { path, file, end, .. } = self;
        let error = |source| OutputError::Write { path: path.clone(), source };
        if self.has_tail {
            // Cut the file itself: the buffer is empty after each complete run, and a failed run is
            // discarded anyway.
            file.get_mut().cut(*end).map_err(error)?;
            self.has_tail = false;
        }
        file.seek(SeekFrom::Start(*end)).map(drop).map_err(error)
    }

    /// Appends a file.
    fn add(
        &mut self,
        name: &str,
        mut content: impl io::Read,
        unread: impl Fn(io::Error) -> OutputError,
    ) -> Result<(), OutputError> {
        let path = self.path.clone();
        let error = |source| OutputError::Write { path: path.clone(), source };
        let at = self.file.stream_position().map_err(error)?;
        // Write zeros now and the header later, since the header contains the checksum of the
        // content. A reader takes zeros for the end of the pack.
        let nothing = vec![0; before(name) as usize];
        self.file.write_all(&nothing).map_err(error)?;
        let mut packer =
            CrcWriter::new(DeflateEncoder::new(&mut self.file, Compression::default()));
        copy(&mut content, unread, &mut packer, error)?;
        let (crc, size) = (packer.crc().sum(), packer.crc().amount());
        packer.into_inner().finish().map_err(error)?;
        let next = self.file.stream_position().map_err(error)?;
        let packed = next - at - before(name);
        // This cannot fail within the limits above; an error is better than truncated numbers.
        let word = |bytes: u64| u32::try_from(bytes).map_err(|_| error(torn()));
        let entry =
            ZipEntry { name: name.to_owned(), at: word(at)?, crc, packed: word(packed)?, size };
        self.file.seek(SeekFrom::Start(at)).map_err(error)?;
        self.file.write_all(&entry.local()).map_err(error)?;
        self.file.seek(SeekFrom::Start(next)).map(drop).map_err(error)
    }

    /// Flushes the buffer to the system and returns the length of the file.
    fn flushed(&mut self) -> Result<u64, OutputError> {
        let flushed = self.file.flush().and_then(|()| self.file.stream_position());
        flushed.map_err(|source| OutputError::Write { path: self.path.clone(), source })
    }

    /// Writes the index.
    fn close(mut self) -> Result<(), OutputError> {
        self.cut()?;
        let Self { path, file, lock, end, .. } = &mut self;
        let error = |source| OutputError::Write { path: path.clone(), source };
        let (mut at, mut entries, mut index) = (0, 0, 0);
        while let Some(entry) = read_local(lock, at, *end).map_err(error)? {
            let line = entry.central();
            file.write_all(&line).map_err(error)?;
            entries += 1;
            index += line.len();
            at = entry.next();
        }
        let [index, at] =
            [index as u64, *end].map(|bytes| u32::try_from(bytes).unwrap_or(u32::MAX));
        file.write_all(&zip::end(entries, index, at)).map_err(error)?;
        file.flush().map_err(error)
    }
}

impl Drop for OpenPack {
    fn drop(&mut self) {
        // A child process that is being started shares our open files and so the lock. An explicit
        // unlock frees the lock for the child too.
        let _ = self.lock.unlock();
    }
}

/// Writes the index of each pack whose process was killed before it closed the pack. Skips packs
/// that a process still fills.
///
/// # Errors
/// If a pack cannot be read or written.
pub fn seal(folder: &Path, names: &[String]) -> Result<(), OutputError> {
    for name in names.iter().filter(|name| is_pack(name)) {
        let path = folder.join(name);
        let unread = |source| OutputError::Read { path: path.clone(), source };
        let mut lock = fs::File::open(&path).map_err(unread)?;
        let length = lock.metadata().map_err(unread)?.len();
        // The pack is closed already, or another process still fills it.
        if read_index(&mut lock, length).map_err(unread)?.is_some() || lock.try_lock().is_err() {
            continue;
        }
        let unwritten = |source| OutputError::Write { path: path.clone(), source };
        let file = disk::File::open(&path, fs::File::options().write(true)).map_err(unwritten)?;
        OpenPack::recover(path.clone(), file, lock).map_err(unread)?.close()?;
    }
    Ok(())
}
