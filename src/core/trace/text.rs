//! The text of a trace file, cut into records: lines, JSON objects or entries of a YAML list.
//!
//! A file may be gzipped, whatever its name. Places refer to the unpacked text; the hash is that of
//! the file itself. Only one buffer is read ahead. A record that is too large is kept only up to
//! the limit.
//!
//! An object ends where its first bracket is closed. If a closing bracket is missing, that end is
//! found far too late, so the text that a broken object consumed can be given back
//! ([`TraceText::resume`]).

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Chain, Cursor, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;
use memchr::memchr;
use sha2::{Digest, Sha256};

use super::error::{RecordFault, TextPlace, TraceError, clip};

/// The longest line, in bytes.
// Chosen: lines of SWIM and of tables have some hundred bytes.
pub const LONGEST_LINE: usize = 1 << 20;
/// The largest object, in bytes.
// Chosen: some hundred thousand tasks of a Rumen job fit into it.
const LARGEST_OBJECT: usize = 1 << 30;
/// The largest entry of a YAML list, in bytes.
// Chosen: the YAML reader keeps the whole entry as a tree, which takes many times the entry's size.
pub const LARGEST_ENTRY: usize = 16 << 20;
/// How deep brackets may be nested. The JSON reader recurses, and gives up at 128.
const DEEPEST: usize = 100;

/// Reads a file's bytes and hashes them, if their hash is wanted.
struct Hashed {
    bytes: Box<dyn Read + Send>,
    hash: Option<Sha256>,
}

impl Read for Hashed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.bytes.read(buffer)?;
        // Hash while reading, so that a trace is not read a second time for its hash.
        if let Some(hash) = &mut self.hash {
            hash.update(&buffer[..read]);
        }
        Ok(read)
    }
}

/// The bytes of a file: first the bytes already read to recognise a gzip, then the rest.
type FileBytes = BufReader<Chain<Cursor<Vec<u8>>, Hashed>>;

enum TextSource {
    Plain(FileBytes),
    Gzip(BufReader<MultiGzDecoder<FileBytes>>),
}

impl TextSource {
    fn reader(&mut self) -> &mut dyn BufRead {
        match self {
            Self::Plain(bytes) => bytes,
            Self::Gzip(text) => text,
        }
    }

    fn file(&mut self) -> &mut FileBytes {
        match self {
            Self::Plain(bytes) => bytes,
            Self::Gzip(text) => text.get_mut().get_mut(),
        }
    }
}

/// The text of a trace file, from its beginning to its end.
pub(super) struct TraceText {
    path: PathBuf,
    source: TextSource,
    /// Whether the gzip is damaged, so that no more text can be unpacked.
    damaged: bool,
    /// Text that a broken object consumed; it is read again before the source goes on.
    again: Cursor<Vec<u8>>,
    /// The place of the next byte.
    at: TextPlace,
    /// The last object that was read.
    last: FramedObject,
    /// The first line of the next log, which ended the log before it.
    head: Option<(TextPlace, Vec<u8>)>,
}

/// Where an object begins, and whether it broke off before its brackets were closed.
struct FramedObject {
    start: TextPlace,
    broke_off: bool,
}

impl TraceText {
    /// Opens a file. A pipe is refused, since a trace is read more than once.
    pub(super) fn open(path: &Path) -> Result<Self, TraceError> {
        let open = || match fs::metadata(path)?.is_file() {
            true => File::open(path),
            false => Err(io::Error::other("it is not a regular file; save it to one first")),
        };
        let file = open().map_err(|source| TraceError::Read { path: path.to_owned(), source })?;
        Self::new(path, Box::new(file))
    }

    /// Returns the text of these bytes, which messages call `path`.
    pub(super) fn new(path: &Path, bytes: Box<dyn Read + Send>) -> Result<Self, TraceError> {
        let mut hashed = Hashed { bytes, hash: Some(Sha256::new()) };
        let mut magic = Vec::new();
        (&mut hashed)
            // Two bytes identify a gzip, three a byte order mark.
            .take(3)
            .read_to_end(&mut magic)
            .map_err(|source| TraceError::Read { path: path.to_owned(), source })?;
        // Look at the content, not at the name: traces are renamed, and browsers unpack them.
        let gzip = magic.starts_with(&[0x1f, 0x8b]);
        // Windows begins texts with a byte order mark, which is not part of the text.
        if magic == "\u{feff}".as_bytes() {
            magic.clear();
        }
        let bytes = BufReader::new(Cursor::new(magic).chain(hashed));
        let source = if gzip {
            TextSource::Gzip(BufReader::new(MultiGzDecoder::new(bytes)))
        } else {
            TextSource::Plain(bytes)
        };
        Ok(Self {
            path: path.to_owned(),
            source,
            damaged: false,
            again: Cursor::default(),
            at: TextPlace::START,
            last: FramedObject { start: TextPlace::START, broke_off: false },
            head: None,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the place up to which the text has been read.
    pub(super) fn at(&self) -> TextPlace {
        self.at
    }

    /// Takes no hash of the file, which saves time. Call this before anything is read.
    pub(super) fn forget_hash(&mut self) {
        self.source.file().get_mut().get_mut().1.hash = None;
    }

    /// Reads the rest of the file, and returns the SHA-256 of all its bytes, if it is wanted.
    pub(super) fn sha256(&mut self) -> Result<Option<[u8; 32]>, TraceError> {
        let file = self.source.file();
        // The gzip reader stops at the gzip's end or at damage, but the hash is that of the whole
        // file.
        io::copy(file, &mut io::sink())
            .map_err(|source| TraceError::Read { path: self.path.clone(), source })?;
        let hash = &file.get_ref().get_ref().1.hash;
        Ok(hash.as_ref().map(|hash| hash.clone().finalize().into()))
    }

    /// Returns whether the next byte is from text that a broken object has given back.
    fn is_again(&self) -> bool {
        self.again.position() < self.again.get_ref().len() as u64
    }

    /// Shows the next bytes to `scan`, which returns how many it consumes. Returns whether there
    /// were any bytes.
    fn take(&mut self, scan: impl FnOnce(&[u8], TextPlace) -> usize) -> Result<bool, TraceError> {
        let is_again = self.is_again();
        let Self { path, source, at, again, damaged, .. } = self;
        // Text that was given back comes from before the damage, so it still counts.
        if *damaged && !is_again {
            return Ok(false);
        }
        let is_gzip = matches!(source, TextSource::Gzip(_));
        let reader: &mut dyn BufRead = if is_again { again } else { source.reader() };
        let chunk = loop {
            use io::ErrorKind::{Interrupted, InvalidData, InvalidInput, UnexpectedEof};
            match reader.fill_buf().map_err(|error| (error.kind(), error)) {
                Err((Interrupted, _)) => {}
                Err((InvalidData | InvalidInput | UnexpectedEof, source)) if is_gzip => {
                    *damaged = true;
                    let (path, place) = (path.clone(), *at);
                    return Err(TraceError::Damaged { path, place, after: None, source });
                }
                Err((_, source)) => return Err(TraceError::Read { path: path.clone(), source }),
                // The borrow checker wants a second call for the same buffer.
                Ok(_) => break reader.fill_buf().expect("the buffer has just been filled"),
            }
        };
        if chunk.is_empty() {
            return Ok(false);
        }
        let done = scan(chunk, *at);
        *at = at.after(&chunk[..done]);
        reader.consume(done);
        Ok(true)
    }

    /// Skips white space. Returns the byte after it; `None` at the end of the file.
    pub(super) fn peek(&mut self) -> Result<Option<u8>, TraceError> {
        let mut next = None;
        while next.is_none()
            && self.take(|chunk, _| {
                let space = chunk.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
                next = chunk.get(space).copied();
                space
            })?
        {}
        Ok(next)
    }

    /// Reads a line into `line`, without its newline. Returns where the line begins; `None` at the
    /// end of the file.
    pub(super) fn line(&mut self, line: &mut Vec<u8>) -> Result<Option<TextPlace>, TraceError> {
        line.clear();
        let start = self.at;
        let ended = self.skip_line(|text| keep(line, text, LONGEST_LINE))?;
        if LONGEST_LINE < line.len() {
            let what = format!("the line is longer than {} MiB", LONGEST_LINE >> 20);
            return Err(RecordFault::new(what).within(&self.path, start, &[]));
        }
        Ok((ended || !line.is_empty()).then_some(start))
    }

    fn next_byte(&mut self) -> Result<Option<u8>, TraceError> {
        let mut next = None;
        self.take(|chunk, _| {
            next = chunk.first().copied();
            0
        })?;
        Ok(next)
    }

    /// Reads an entry of a YAML list into `entry`: from a line that begins with a dash up to the
    /// next such line. Returns where the entry begins; `None` at the end of the file.
    pub(super) fn entry(&mut self, entry: &mut Vec<u8>) -> Result<Option<TextPlace>, TraceError> {
        entry.clear();
        let (mut start, mut line) = (None, Vec::new());
        // The next line that begins with a dash belongs to the next entry, so look before reading
        // it.
        while start.is_none() || self.next_byte()?.is_some_and(|next| next != b'-') {
            let Some(place) = self.line(&mut line)? else { break };
            if start.is_none() {
                let words = line.trim_ascii();
                if words.is_empty() || words.starts_with(b"#") || words == b"---" {
                    continue;
                }
                if !line.starts_with(b"-") {
                    let what = format!("`{}` where an entry should begin", line.escape_ascii());
                    let fault = RecordFault::new(clip(&what));
                    let hint = "begin each with `- ` at the beginning of a line";
                    return Err(fault.hint(hint).within(&self.path, place, &[]));
                }
                start = Some(place);
            }
            line.push(b'\n');
            // Even an entry that is too large is read to its end, where the next entry begins.
            keep(entry, &line, LARGEST_ENTRY);
        }
        match start {
            Some(start) if LARGEST_ENTRY < entry.len() => {
                let what = format!("the entry is larger than {} MiB", LARGEST_ENTRY >> 20);
                Err(RecordFault::new(what).within(&self.path, start, &[]))
            }
            start => Ok(start),
        }
    }

    /// Reads an object into `object`, from `{` to `}`. Returns where the object begins; `None` at
    /// the end of the file.
    ///
    /// After an error or a broken object, call [`Self::resume`] before the next object is read: the
    /// broken object may have consumed good ones.
    pub(super) fn object(&mut self, object: &mut Vec<u8>) -> Result<Option<TextPlace>, TraceError> {
        object.clear();
        if let Some((place, byte)) = self.skip_to_object()? {
            let what = format!("`{}` where an object should begin", byte.escape_ascii());
            let plain = RecordFault::new(what);
            let fault = match byte {
                b'[' | b',' => plain.hint("write the objects one after the other, without `[ , ]`"),
                _ => plain,
            };
            return Err(fault.within(&self.path, place, &[]));
        }
        let start = self.at;
        self.last = FramedObject { start, broke_off: false };
        let mut brackets = Brackets::default();
        let mut broke_off = false;
        while !brackets.closed && !broke_off {
            let is_again = self.is_again();
            let more = self.take(|chunk, _| {
                // In text that was given back, a line that begins with `{` ends the object before
                // it, since that object was broken. In other text such a line may be inside an
                // object.
                let next = next_object(chunk).filter(|_| is_again);
                let end = brackets.scan(&chunk[..next.unwrap_or(chunk.len())]);
                broke_off = brackets.torn || !brackets.closed && next == Some(end);
                keep(object, &chunk[..end], LARGEST_OBJECT);
                end
            })?;
            if !more {
                break;
            }
        }
        self.last.broke_off = broke_off;
        let fault = if LARGEST_OBJECT < object.len() {
            RecordFault::new(format!("the object is larger than {} GiB", LARGEST_OBJECT >> 30))
        } else if DEEPEST < brackets.deepest {
            RecordFault::new(format!(
                "the object has more than {DEEPEST} brackets within each other"
            ))
        } else if brackets.closed || broke_off {
            return Ok(Some(start));
        } else if object.is_empty() {
            return Ok(None);
        } else {
            RecordFault::new("the file ends in the middle of this object")
        };
        Err(fault.within(&self.path, start, &[]))
    }

    /// Reads an object, or a log: the lines from one that `is_head` up to the next such line. Returns
    /// where it begins; `None` at the end of the file.
    ///
    /// After an error or a broken object, [`Self::resume`] is called as for [`Self::object`].
    pub(super) fn object_or_log(
        &mut self,
        record: &mut Vec<u8>,
        is_head: impl Fn(&[u8]) -> bool,
    ) -> Result<Option<TextPlace>, TraceError> {
        if self.head.is_none() && matches!(self.peek()?, None | Some(b'{')) {
            return self.object(record);
        }
        record.clear();
        let mut line = Vec::new();
        let start = match self.head.take() {
            Some((start, head)) => {
                line = head;
                start
            }
            None => {
                let Some(start) = self.line(&mut line)? else { return Ok(None) };
                if !is_head(&line) {
                    let found = clip(&String::from_utf8_lossy(&line));
                    let fault = RecordFault::new(format!("`{found}` where a job should begin"));
                    return Err(fault.within(&self.path, start, &[]));
                }
                start
            }
        };
        loop {
            line.push(b'\n');
            keep(record, &line, LARGEST_OBJECT);
            let Some(place) = self.line(&mut line)? else { break };
            if is_head(&line) {
                self.head = Some((place, line));
                break;
            }
        }
        if LARGEST_OBJECT < record.len() {
            let what = format!("the log is larger than {} GiB", LARGEST_OBJECT >> 30);
            return Err(RecordFault::new(what).within(&self.path, start, &[]));
        }
        Ok(Some(start))
    }

    /// Goes on after a broken object, at the first `{` that begins a line. If the object has
    /// consumed that `{`, the object is cut off there.
    ///
    /// The text that is given back is cut at every such `{`, so no byte is read more than twice.
    pub(super) fn resume(&mut self, object: &mut Vec<u8>) -> Result<(), TraceError> {
        // An object that is too large was kept only in part, so its text cannot be given back.
        if LARGEST_OBJECT < object.len() {
            return Ok(());
        }
        if let Some(next) = next_object(object) {
            let rest = self.again.get_ref()[self.again.position() as usize..].to_vec();
            let mut again = object.split_off(next);
            // Text that was given back earlier and is still unread comes after this text.
            again.extend(rest);
            self.again = Cursor::new(again);
            self.at = self.last.start.after(object);
        } else if std::mem::take(&mut self.last.broke_off) {
            while self.next_byte()?.is_some_and(|next| next != b'{') {
                self.skip_line(|_| {})?;
            }
        }
        Ok(())
    }

    /// Skips the rest of the line, showing it to `see` without its newline. Returns whether there
    /// was a newline: `false` at the end of the file.
    fn skip_line(&mut self, mut see: impl FnMut(&[u8])) -> Result<bool, TraceError> {
        let mut ended = false;
        while !ended
            && self.take(|chunk, _| {
                let end = memchr(b'\n', chunk);
                ended = end.is_some();
                see(&chunk[..end.unwrap_or(chunk.len())]);
                end.map_or(chunk.len(), |end| end + 1)
            })?
        {}
        Ok(ended)
    }

    /// Skips to the next `{`. Returns the first skipped byte that is no white space, with its
    /// place; `None` if there is no such byte.
    fn skip_to_object(&mut self) -> Result<Option<(TextPlace, u8)>, TraceError> {
        let mut odd = None;
        let mut found = false;
        while !found
            && self.take(|chunk, at| {
                let end = memchr(b'{', chunk);
                found = end.is_some();
                let skipped = &chunk[..end.unwrap_or(chunk.len())];
                if let (None, Some(index)) =
                    (odd, skipped.iter().position(|byte| !byte.is_ascii_whitespace()))
                {
                    odd = Some((at.after(&skipped[..index]), skipped[index]));
                }
                skipped.len()
            })?
        {}
        Ok(odd)
    }
}

/// Returns a digest in hexadecimal digits.
pub fn hex(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Appends `more` to a record, up to one byte beyond `largest`: that byte shows that the record is
/// too large.
fn keep(record: &mut Vec<u8>, more: &[u8], largest: usize) {
    let room = (largest + 1).saturating_sub(record.len());
    record.extend_from_slice(&more[..more.len().min(room)]);
}

/// Returns where the next line that begins with `{` starts; `None` if there is none.
fn next_object(text: &[u8]) -> Option<usize> {
    text.windows(2).position(|pair| pair == b"\n{").map(|end_of_line| end_of_line + 1)
}

/// Finds the end of an object by its brackets and strings alone.
#[derive(Default)]
struct Brackets {
    open: usize,
    deepest: usize,
    in_string: bool,
    escaped: bool,
    closed: bool,
    /// Whether a line ended within a string.
    torn: bool,
}

impl Brackets {
    /// Returns how many bytes of the chunk belong to the object.
    fn scan(&mut self, chunk: &[u8]) -> usize {
        for (index, byte) in chunk.iter().enumerate() {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_string => self.escaped = true,
                b'"' => self.in_string = !self.in_string,
                b'\n' if self.in_string => {
                    self.torn = true;
                    return index + 1;
                }
                _ if self.in_string => {}
                // Braces and brackets count alike: the JSON reader reports mismatches.
                b'{' | b'[' => {
                    self.open += 1;
                    self.deepest = self.deepest.max(self.open);
                }
                b'}' | b']' => {
                    self.open -= 1;
                    if self.open == 0 {
                        self.closed = true;
                        return index + 1;
                    }
                }
                _ => {}
            }
        }
        chunk.len()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    /// Gives one byte at a time, as a slow pipe does.
    struct Drops(Cursor<Vec<u8>>);

    impl Read for Drops {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let most = buffer.len().min(1);
            self.0.read(&mut buffer[..most])
        }
    }

    fn text(bytes: &[u8]) -> TraceText {
        TraceText::new(Path::new("t"), Box::new(Drops(Cursor::new(bytes.to_owned())))).unwrap()
    }

    fn gzip(text: &str) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    fn hash(bytes: &[u8]) -> [u8; 32] {
        Sha256::digest(bytes).into()
    }

    /// Returns the line, byte and text of each object, and all errors.
    fn objects(bytes: &[u8]) -> Vec<Result<(u64, u64, String), String>> {
        let (mut text, mut object) = (text(bytes), Vec::new());
        let mut all = Vec::new();
        loop {
            all.push(match text.object(&mut object) {
                Ok(None) => return all,
                Ok(Some(TextPlace { line, offset })) => {
                    Ok((line, offset, String::from_utf8(object.clone()).unwrap()))
                }
                Err(error) => Err(error.to_string()),
            });
        }
    }

    fn object(line: u64, offset: u64, text: &str) -> Result<(u64, u64, String), String> {
        Ok((line, offset, text.to_owned()))
    }

    #[test]
    fn objects_are_found_by_their_brackets_outside_of_strings() {
        let first = r#"{"a": "}{\"]\\", "b": [{}, "["]}"#;
        assert_eq!(
            objects(format!(" {first}\n\n{{}}{{\"c\":\n1}}\n").as_bytes()),
            [object(1, 1, first), object(3, 35, "{}"), object(3, 37, "{\"c\":\n1}")]
        );
    }

    #[test]
    fn lines_that_are_no_objects_are_named_and_skipped() {
        assert_eq!(
            objects(b"{}\n oops {}\n{\"a\":"),
            [
                object(1, 0, "{}"),
                Err("t:2: `o` where an object should begin".to_owned()),
                object(2, 9, "{}"),
                Err("t:3: the file ends in the middle of this object".to_owned()),
            ]
        );
        assert_eq!(objects(b"\xef\xbb\xbf{}"), [object(1, 0, "{}")], "the mark is skipped");
        assert_eq!(
            objects(b"[{}]")[0],
            Err("t:1: `[` where an object should begin\n  hint: write the objects one after the \
                 other, without `[ , ]`"
                .to_owned())
        );
    }

    #[test]
    fn brackets_have_a_depth_limit() {
        let nested = |depth| format!("{{{}{}}}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(objects(nested(DEEPEST - 1).as_bytes()).len(), 1);
        assert_eq!(
            objects((nested(DEEPEST) + "\n{}").as_bytes()),
            [
                Err("t:1: the object has more than 100 brackets within each other".to_owned()),
                object(2, 203, "{}")
            ]
        );
    }

    #[test]
    fn lines_have_a_longest_length() {
        let long = "x".repeat(LONGEST_LINE);
        let (mut text, mut line) = (text(format!("{long}\n{long}x\ny").as_bytes()), Vec::new());
        assert_eq!(text.line(&mut line).unwrap(), Some(TextPlace { line: 1, offset: 0 }));
        let error = text.line(&mut line).unwrap_err().to_string();
        assert_eq!(error, "t:2: the line is longer than 1 MiB");
        assert_eq!(text.line(&mut line).unwrap().map(|place| place.line), Some(3));
        assert_eq!(line, b"y");
    }

    #[test]
    fn a_record_that_is_too_large_is_not_kept() {
        let mut record = vec![1, 2, 3];
        keep(&mut record, &[4, 5, 6], 4);
        assert_eq!(record, [1, 2, 3, 4, 5]);
        keep(&mut record, &[7], 4);
        assert_eq!(record, [1, 2, 3, 4, 5]);
    }

    #[test]
    fn a_gzipped_file_is_known_by_its_first_bytes() {
        let mut twice = gzip("one\n");
        twice.extend(gzip("two"));
        for bytes in [b"one\ntwo".as_slice(), &twice] {
            let (mut text, mut line) = (text(bytes), Vec::new());
            assert_eq!(text.line(&mut line).unwrap(), Some(TextPlace { line: 1, offset: 0 }));
            assert_eq!(line, b"one");
            assert_eq!(text.line(&mut line).unwrap(), Some(TextPlace { line: 2, offset: 4 }));
            assert_eq!(line, b"two");
            assert_eq!(text.line(&mut line).unwrap(), None);
            assert_eq!(text.sha256().unwrap(), Some(hash(bytes)));
        }
    }

    #[test]
    fn a_damaged_gzip_is_read_as_far_as_it_goes() {
        let whole = gzip("one\ntwo\n");
        let cut = (2..whole.len()).map(|length| whole[..length].to_vec());
        let longer = [b"\0".as_slice(), b"junk"].map(|junk| [&whole, junk].concat());
        for bytes in cut.chain(longer) {
            let (mut text, mut line) = (text(&bytes), Vec::new());
            let mut lines = 0;
            let error = loop {
                match text.line(&mut line) {
                    Ok(_) => lines += 1,
                    Err(error) => break error,
                }
            };
            let TraceError::Damaged { place, .. } = error else { panic!("{error}") };
            assert_eq!(place.line, lines + 1, "{} bytes", bytes.len());
            assert_eq!(text.line(&mut line).unwrap(), None);
            assert_eq!(text.sha256().unwrap(), Some(hash(&bytes)), "of the whole file");
        }
    }
}
