//! The parts of a ZIP file, as bytes: the header before each file, and the index at the end.
//!
//! Numbers have 32 bits, as in the original format: a pack is closed before they overflow.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use super::torn;

/// The entry of a file in a ZIP file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ZipEntry {
    /// The path of the file.
    pub(super) name: String,
    /// The offset of its header.
    pub(super) at: u32,
    /// The CRC-32 of its content.
    pub(super) crc: u32,
    /// Its compressed size in bytes.
    pub(super) packed: u32,
    /// Its uncompressed size in bytes.
    pub(super) size: u32,
}

// The signatures of a file's header, of its index entry, and of the end of the index, from PKWARE's
// APPNOTE.
const LOCAL: [u8; 4] = *b"PK\x03\x04";
const CENTRAL: [u8; 4] = *b"PK\x01\x02";
const END: [u8; 4] = *b"PK\x05\x06";

/// Sizes in bytes of a file's header and of its index entry, both without the name, and of the end
/// of the index.
const LOCAL_BYTES: usize = 30;
const CENTRAL_BYTES: usize = 46;
const END_BYTES: usize = 22;

/// The format version needed to read a pack: 2.0, which has folders and deflate.
const VERSION: u16 = 20;
/// The upper byte says Unix: the permissions below are Unix permissions.
const MADE_BY: u16 = 3 << 8 | VERSION;
// ZIP's number of the compression method deflate.
const DEFLATED: u16 = 8;
/// The flag for UTF-8 names. Our names are ASCII, but with the flag no reader has to guess.
const UTF8: u16 = 1 << 11;
/// The earliest date of the format. Every file has it, so that the same runs give the same bytes.
const TIME_AND_DATE: [u16; 2] = [0, 1 << 5 | 1];
/// The permissions of an ordinary file that all may read.
const PERMISSIONS: u32 = 0o100_644 << 16;

impl ZipEntry {
    /// Returns the offset of its content.
    pub(super) fn content(&self) -> u64 {
        u64::from(self.at) + before(&self.name)
    }

    /// Returns the offset of the next file's header.
    pub(super) fn next(&self) -> u64 {
        self.content() + u64::from(self.packed)
    }

    /// Returns the fields that the header and the index entry share.
    fn common(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let halves = [VERSION, UTF8, DEFLATED, TIME_AND_DATE[0], TIME_AND_DATE[1]];
        halves.iter().for_each(|half| bytes.extend(half.to_le_bytes()));
        [self.crc, self.packed, self.size].iter().for_each(|word| bytes.extend(word.to_le_bytes()));
        bytes.extend((self.name.len() as u16).to_le_bytes());
        // There is no extra field behind the name.
        bytes.extend(0_u16.to_le_bytes());
        bytes
    }

    /// Returns the header before the file.
    pub(super) fn local(&self) -> Vec<u8> {
        [&LOCAL[..], &self.common(), self.name.as_bytes()].concat()
    }

    /// Returns its index entry.
    pub(super) fn central(&self) -> Vec<u8> {
        let mut bytes = [&CENTRAL[..], &MADE_BY.to_le_bytes(), &self.common()].concat();
        // The entry has no comment, disk 0 and no internal attributes.
        bytes.extend([0; 6]);
        bytes.extend(PERMISSIONS.to_le_bytes());
        bytes.extend(self.at.to_le_bytes());
        bytes.extend(self.name.as_bytes());
        bytes
    }

    /// Reads the fields that the header and the index entry share.
    fn of_common(bytes: &[u8], name: String, at: u32) -> Self {
        Self { name, at, crc: word(bytes, 10), packed: word(bytes, 14), size: word(bytes, 18) }
    }
}

/// Returns the size in bytes of the header of a file of this name.
pub(super) fn before(name: &str) -> u64 {
    (LOCAL_BYTES + name.len()) as u64
}

/// Returns the end record of a ZIP file. Its index begins at `at` and has `index` bytes.
pub(super) fn end(entries: u16, index: u32, at: u32) -> Vec<u8> {
    let mut bytes = END.to_vec();
    // There is one disk.
    bytes.extend([0; 4]);
    [entries; 2].iter().for_each(|count| bytes.extend(count.to_le_bytes()));
    [index, at].iter().for_each(|word| bytes.extend(word.to_le_bytes()));
    bytes.extend([0; 2]);
    bytes
}

/// Reads the header at offset `at`. Returns `None` if there is no complete header that Mumakil
/// wrote, or if the content would reach beyond `until`.
pub(super) fn read_local(file: &mut File, at: u64, until: u64) -> io::Result<Option<ZipEntry>> {
    let Ok(start) = u32::try_from(at) else { return Ok(None) };
    let mut header = [0; LOCAL_BYTES];
    if until < at + header.len() as u64 {
        return Ok(None);
    }
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(&mut header)?;
    let name = usize::from(half(&header, 26));
    // Also refuse other compression methods, and extra fields behind the name: our writer never
    // writes them.
    let is_ours = header[..4] == LOCAL && half(&header, 8) == DEFLATED && half(&header, 28) == 0;
    if !is_ours || until < at + (header.len() + name) as u64 {
        return Ok(None);
    }
    let mut text = vec![0; name];
    file.read_exact(&mut text)?;
    let Ok(text) = String::from_utf8(text) else { return Ok(None) };
    let entry = ZipEntry::of_common(&header[4..], text, start);
    // A file that reaches beyond `until` was cut off.
    Ok((entry.next() <= until).then_some(entry))
}

/// Reads the index of a ZIP file of `length` bytes. Returns its entries and its offset; `None`
/// without a valid index.
pub(super) fn read_index(file: &mut File, length: u64) -> io::Result<Option<(Vec<ZipEntry>, u64)>> {
    let mut end = [0; END_BYTES];
    // Our end record has no comment, so its offset is fixed.
    let Some(tail) = length.checked_sub(end.len() as u64) else { return Ok(None) };
    file.seek(SeekFrom::Start(tail))?;
    file.read_exact(&mut end)?;
    let (size, at) = (u64::from(word(&end, 12)), u64::from(word(&end, 16)));
    // The index must end exactly where the end record begins; otherwise it is not the index of this
    // file.
    if end[..4] != END || at + size != tail {
        return Ok(None);
    }
    let mut index = vec![0; usize::try_from(size).map_err(|_| torn())?];
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(&mut index)?;
    let (mut entries, mut rest) = (Vec::new(), &index[..]);
    while CENTRAL_BYTES <= rest.len() && rest[..4] == CENTRAL {
        let bytes = CENTRAL_BYTES + usize::from(half(rest, 28));
        // Refuse extra fields and comments, which other programs may have added.
        if rest.len() < bytes || half(rest, 30) != 0 || half(rest, 32) != 0 {
            return Ok(None);
        }
        let Ok(name) = std::str::from_utf8(&rest[CENTRAL_BYTES..bytes]) else { return Ok(None) };
        entries.push(ZipEntry::of_common(&rest[6..], name.to_owned(), word(rest, 42)));
        rest = &rest[bytes..];
    }
    // The count in the end record must agree, or an entry is missing.
    let is_all = rest.is_empty() && entries.len() == usize::from(half(&end, 10));
    Ok(is_all.then_some((entries, at)))
}

fn half(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}
