//! Why a trace cannot be used. Each error names the file and, if known, the place, the job, the
//! mistake and how to mend it.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

use memchr::memchr_iter;

/// A place in the text of a trace, after decompression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextPlace {
    /// The line, from 1.
    pub line: u64,
    /// The byte, from 0.
    pub offset: u64,
}

impl TextPlace {
    /// Where a text begins.
    pub const START: Self = Self { line: 1, offset: 0 };

    /// Returns the place of the byte after `text`, which begins at this place.
    pub(super) fn after(self, text: &[u8]) -> Self {
        let lines = memchr_iter(b'\n', text).count();
        Self { line: self.line + lines as u64, offset: self.offset + text.len() as u64 }
    }
}

/// Why a trace cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The file cannot be read: it does not exist, or is a folder or a pipe.
    #[error("cannot read the trace {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The gzip is cut off or corrupt, or other bytes follow it.
    #[error(
        "{}:{}: the gzip cannot be read beyond byte {} of its text{}", path.display(), place.line,
        place.offset, prefix(", after job ", after.as_ref().map(|job| format!("{job:?}")))
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where its readable text ends.
        place: TextPlace,
        /// The last job of the readable text.
        after: Option<String>,
        /// The error of the gzip reader.
        source: io::Error,
    },
    /// The file can be read, but its content is wrong.
    #[error(
        "{}:{}: {}{what}{}", path.display(), place.line,
        prefix("job ", job.as_ref().map(|job| format!("{job:?}: "))), prefix("\n  hint: ", hint.as_ref())
    )]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The place of the mistake.
        place: TextPlace,
        /// The id of the job, where it could be read.
        job: Option<String>,
        /// The mistake.
        what: String,
        /// How to mend the mistake, if that is clear.
        hint: Option<Cow<'static, str>>,
    },
    /// The file can be read, but is of another kind.
    #[error("{} holds {found}, not {expected}", path.display())]
    OtherFormat {
        /// The file.
        path: PathBuf,
        /// The kind of file that it is.
        found: &'static str,
        /// The kinds of file that could be used.
        expected: &'static str,
    },
    /// The file can be read, but a run cannot use it.
    #[error("{what}\n  hint: {hint}")]
    Unusable {
        /// Why not.
        what: String,
        /// The way to mend it.
        hint: Cow<'static, str>,
    },
    /// The file's content does not match the digest in the scenario.
    #[error(
        "{} has changed: its SHA-256 is {found}, the scenario says {expected}\n  \
         hint: leave `sha256` out to take the file as it is", path.display()
    )]
    Changed {
        /// The file.
        path: PathBuf,
        /// The digest that the scenario names.
        expected: String,
        /// The digest of the file.
        found: String,
    },
}

fn prefix(prefix: &str, text: Option<impl AsRef<str>>) -> String {
    text.map(|text| format!("{prefix}{}", text.as_ref())).unwrap_or_default()
}

impl TraceError {
    /// Returns the error for a record that can be read but is wrong.
    pub fn malformed(
        path: &Path,
        place: TextPlace,
        job: Option<&str>,
        what: &str,
        hint: Option<Cow<'static, str>>,
    ) -> Self {
        let (path, job, what) = (path.to_owned(), job.map(clip), clip(what));
        Self::Malformed { path, place, job, what, hint }
    }
}

/// A mistake in one record, before its place in the file is known.
#[derive(Debug, Default)]
pub struct RecordFault {
    /// The byte of the record where the mistake is; 0 for the record as a whole.
    pub(super) at: usize,
    pub(super) job: Option<String>,
    pub(super) what: String,
    pub(super) hint: Option<Cow<'static, str>>,
    /// Whether the end of the record is in doubt as well.
    pub(super) unframed: bool,
}

impl RecordFault {
    /// Returns a fault of a record as a whole.
    pub fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), ..Self::default() }
    }

    /// Returns the same fault with a hint.
    pub fn hint(self, hint: impl Into<Cow<'static, str>>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// Returns the same fault, at this byte of the record.
    pub fn at(self, at: usize) -> Self {
        Self { at, ..self }
    }

    /// Returns the same fault, of this job.
    pub fn of(self, job: Option<&str>) -> Self {
        Self { job: job.map(clip), ..self }
    }

    /// Returns the error for this fault in a record that begins at `start`.
    pub(super) fn within(self, path: &Path, start: TextPlace, record: &[u8]) -> TraceError {
        let Self { at, job, mut what, hint, .. } = self;
        // For an error at the end of the text the JSON reader gives a place one byte too far.
        let place = start.after(&record[..at.min(record.len())]);
        // An object may be one long line, so the line alone does not lead to the mistake.
        if 0 < at {
            what = format!("{what} (byte {})", place.offset);
        }
        TraceError::Malformed { path: path.to_owned(), place, job, what, hint }
    }
}

/// Returns text for a message to quote: shortened, since it may be as long as a record, and without
/// control characters, which would move a terminal's cursor.
pub fn clip(text: &str) -> String {
    // Chosen: two or three lines of a terminal. Count characters, not bytes, so that no character
    // is cut in two.
    const LONGEST: usize = 200;
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => text[..end].chars().map(plain).chain(['…']).collect(),
        None => text.chars().map(plain).collect(),
    }
}
