//! The parts of a ZIP file, as bytes: what stands before each file in it, and the index at the end.
//!
//! Numbers have 32 bits, as in the format's first form: a pack is closed before they are too small.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use super::torn;

/// The entry of a file in a ZIP file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ZipEntry {
    /// Its path in there.
    pub(super) name: String,
    /// Where what stands before it begins.
    pub(super) at: u32,
    /// The checksum of its content.
    pub(super) crc: u32,
    /// How many bytes it has there.
    pub(super) packed: u32,
    /// How many bytes it has in truth.
    pub(super) size: u32,
}

// The signatures of PKWARE's APPNOTE: a file's header, its line of the index, the end of the index.
const LOCAL: [u8; 4] = *b"PK\x03\x04";
const CENTRAL: [u8; 4] = *b"PK\x01\x02";
const END: [u8; 4] = *b"PK\x05\x06";

/// Bytes before a file, and before its line in the index, without the name; bytes of the end.
const LOCAL_BYTES: usize = 30;
const CENTRAL_BYTES: usize = 46;
const END_BYTES: usize = 22;

/// The format's version that is needed to read it: 2.0, which has folders and deflate.
const VERSION: u16 = 20;
/// Of Unix, by which programs know the permissions below.
const MADE_BY: u16 = 3 << 8 | VERSION;
// ZIP's number of the method; 0 would be stored as it is.
const DEFLATED: u16 = 8;
/// Says that names are UTF-8. Ours are ASCII, but a reader need not guess.
const UTF8: u16 = 1 << 11;
/// The first day that the format knows: the same runs give the same bytes.
const TIME_AND_DATE: [u16; 2] = [0, 1 << 5 | 1];
/// An ordinary file, readable by all.
const PERMISSIONS: u32 = 0o100_644 << 16;

impl ZipEntry {
    /// Returns where its content begins.
    pub(super) fn content(&self) -> u64 {
        u64::from(self.at) + before(&self.name)
    }

    /// Returns where the next begins.
    pub(super) fn next(&self) -> u64 {
        self.content() + u64::from(self.packed)
    }

    /// Returns what the two headers have in common.
    fn common(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let halves = [VERSION, UTF8, DEFLATED, TIME_AND_DATE[0], TIME_AND_DATE[1]];
        halves.iter().for_each(|half| bytes.extend(half.to_le_bytes()));
        [self.crc, self.packed, self.size].iter().for_each(|word| bytes.extend(word.to_le_bytes()));
        bytes.extend((self.name.len() as u16).to_le_bytes());
        // Nothing more behind the name.
        bytes.extend(0_u16.to_le_bytes());
        bytes
    }

    /// Returns what stands before the file.
    pub(super) fn local(&self) -> Vec<u8> {
        [&LOCAL[..], &self.common(), self.name.as_bytes()].concat()
    }

    /// Returns its line of the index.
    pub(super) fn central(&self) -> Vec<u8> {
        let mut bytes = [&CENTRAL[..], &MADE_BY.to_le_bytes(), &self.common()].concat();
        // No comment, on the first disk, no text in particular.
        bytes.extend([0; 6]);
        bytes.extend(PERMISSIONS.to_le_bytes());
        bytes.extend(self.at.to_le_bytes());
        bytes.extend(self.name.as_bytes());
        bytes
    }

    /// Reads the numbers that both headers have.
    fn of_common(bytes: &[u8], name: String, at: u32) -> Self {
        Self { name, at, crc: word(bytes, 10), packed: word(bytes, 14), size: word(bytes, 18) }
    }
}

/// Returns how many bytes stand before a file of this name.
pub(super) fn before(name: &str) -> u64 {
    (LOCAL_BYTES + name.len()) as u64
}

/// Returns the end of a ZIP file whose index begins at `at`.
pub(super) fn end(entries: u16, index: u32, at: u32) -> Vec<u8> {
    let mut bytes = END.to_vec();
    // One disk.
    bytes.extend([0; 4]);
    [entries; 2].iter().for_each(|count| bytes.extend(count.to_le_bytes()));
    [index, at].iter().for_each(|word| bytes.extend(word.to_le_bytes()));
    bytes.extend([0; 2]);
    bytes
}

/// Reads what stands at `at` before a file, whose content must end by `until`; `None` if that is
/// something else, or not all of it.
pub(super) fn read_local(file: &mut File, at: u64, until: u64) -> io::Result<Option<ZipEntry>> {
    let Ok(start) = u32::try_from(at) else { return Ok(None) };
    let mut header = [0; LOCAL_BYTES];
    if until < at + header.len() as u64 {
        return Ok(None);
    }
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(&mut header)?;
    let name = usize::from(half(&header, 26));
    // Also refuses what our writer never makes: another method, or extra fields behind the name.
    let is_ours = header[..4] == LOCAL && half(&header, 8) == DEFLATED && half(&header, 28) == 0;
    if !is_ours || until < at + (header.len() + name) as u64 {
        return Ok(None);
    }
    let mut text = vec![0; name];
    file.read_exact(&mut text)?;
    let Ok(text) = String::from_utf8(text) else { return Ok(None) };
    let entry = ZipEntry::of_common(&header[4..], text, start);
    // A file that reaches beyond the end was cut short.
    Ok((entry.next() <= until).then_some(entry))
}

/// Reads the index of a ZIP file of `length` bytes, and where it begins; `None` if it ends otherwise.
pub(super) fn read_index(file: &mut File, length: u64) -> io::Result<Option<(Vec<ZipEntry>, u64)>> {
    let mut end = [0; END_BYTES];
    // Our index has no comment, so the end stands at a fixed distance from the last byte.
    let Some(tail) = length.checked_sub(end.len() as u64) else { return Ok(None) };
    file.seek(SeekFrom::Start(tail))?;
    file.read_exact(&mut end)?;
    let (size, at) = (u64::from(word(&end, 12)), u64::from(word(&end, 16)));
    // The index must reach exactly to the end; else other bytes stand between, or it is another
    // file's.
    if end[..4] != END || at + size != tail {
        return Ok(None);
    }
    let mut index = vec![0; usize::try_from(size).map_err(|_| torn())?];
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(&mut index)?;
    let (mut entries, mut rest) = (Vec::new(), &index[..]);
    while CENTRAL_BYTES <= rest.len() && rest[..4] == CENTRAL {
        let bytes = CENTRAL_BYTES + usize::from(half(rest, 28));
        // Other programs may have added parts there, which we need not understand.
        if rest.len() < bytes || half(rest, 30) != 0 || half(rest, 32) != 0 {
            return Ok(None);
        }
        let Ok(name) = std::str::from_utf8(&rest[CENTRAL_BYTES..bytes]) else { return Ok(None) };
        entries.push(ZipEntry::of_common(&rest[6..], name.to_owned(), word(rest, 42)));
        rest = &rest[bytes..];
    }
    // The number in the end must agree, or a line was lost.
    let is_all = rest.is_empty() && entries.len() == usize::from(half(&end, 10));
    Ok(is_all.then_some((entries, at)))
}

fn half(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}
