//! One pass over a trace: its records, and notes about doubtful ones.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashSet;

use super::error::{RecordFault, TextPlace, TraceError, clip};
use super::file::LogHash;
use super::first_few::FirstFew;
use super::json;
use super::log_files::{configuration_of, is_many, log_files};
use super::text::{LARGEST_ENTRY, TraceText, hex};

/// The longest id of a job, in bytes. All ids of a trace are kept in memory.
// Chosen: ids of real traces have some dozen bytes.
const LONGEST_ID: usize = 1 << 10;

/// The largest number of tasks that the jobs of a trace may have beyond those that the trace lists.
/// This many tasks take some hundred megabytes.
// Chosen: a file of a few bytes must not be able to fill the memory.
const MOST_IMPLIED: u64 = 2_000_000;

/// The treatment of broken records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strictness {
    /// The first error ends the pass.
    Strict,
    /// Broken records are left out, counted and noted.
    Lenient,
}

impl Strictness {
    /// Returns `Lenient` or `Strict`.
    pub fn of(lenient: bool) -> Self {
        if lenient { Self::Lenient } else { Self::Strict }
    }
}

/// A kind of record.
pub trait Record: Sized + 'static {
    /// The name of this kind of record.
    const NAME: &'static str;

    /// How one record ends and the next begins.
    const FRAMING: Framing;

    /// The unit of [`Self::submitted`].
    const TIME_UNIT: &'static str = "s";

    /// Whether it is an error to list a job after a job with a later time; otherwise it is only
    /// suspicious.
    const IN_ORDER: bool = true;

    /// Reads one record; attributes that the format does not know are added to `unknown`.
    ///
    /// # Errors
    /// If the record is broken.
    fn parse(record: &[u8], unknown: &mut FirstFew<String>) -> Result<Self, RecordFault>;

    /// Returns the id of the job, unique in the trace; `None` if the record is no job.
    fn job(&self) -> Option<&str> {
        None
    }

    /// Returns when the job was submitted, in [`Self::TIME_UNIT`]; `None` if the record does not
    /// say.
    fn submitted(&self) -> Option<u64> {
        None
    }

    /// Returns how many tasks the job has beyond those that it lists. These tasks take memory that
    /// the size of the file does not show.
    fn implied(&self) -> u64 {
        0
    }

    /// Returns a reason to doubt the record though it can be read; `None` if there is no doubt.
    fn suspicious(&self) -> Option<String> {
        None
    }
}

/// How one record ends and the next begins.
#[derive(Clone, Copy, Debug)]
pub enum Framing {
    /// Each record is a line.
    Line,
    /// Each record is a JSON object. The value names the attribute that holds a job's id, if
    /// records are jobs.
    Object(Option<&'static str>),
    /// Each record is an entry of a YAML list.
    Entry,
}

/// A log that tells as much as a record, such as the log of a cluster about a job: the lines from one
/// that begins with one of `heads` up to the next such line.
///
/// A folder of logs is read as if they stood in one file, and the configuration beside a log as if it
/// stood at the end of that log.
#[derive(Debug)]
pub struct LogForm<T> {
    /// The beginnings of the first lines of logs.
    pub heads: &'static [&'static str],
    /// Reads a log.
    pub parse: ParseLog<T>,
}

/// Reads a log as [`Record::parse`] reads a record. With the last argument, parts of the log that are
/// broken are added there and left out.
pub type ParseLog<T> =
    fn(&[u8], &mut FirstFew<String>, Option<&mut FirstFew<RecordFault>>) -> Result<T, RecordFault>;

impl<T> LogForm<T> {
    /// Returns whether a log begins with this line.
    pub fn begins_with(&self, line: &[u8]) -> bool {
        self.heads.iter().any(|head| line.starts_with(head.as_bytes()))
    }
}

/// One pass over a trace file, from record to record.
///
/// The pass ends when the file can no longer be read; a strict pass also ends at a broken record.
/// If a gzip is damaged, a lenient pass keeps the records before the damage.
pub struct Records<T: 'static> {
    text: TraceText,
    /// The form of the logs that stand for records.
    logs: Option<&'static LogForm<T>>,
    /// The files of a folder that are still to be read; the next is the last.
    more: Vec<PathBuf>,
    /// The hash of the files so far, if the trace is more than one file.
    whole: Option<LogHash>,
    /// The configuration that stands beside the file, for its first log.
    beside: Vec<u8>,
    strictness: Strictness,
    notes: Notes,
    ids: FxHashSet<String>,
    /// When the latest job so far was submitted.
    latest: u64,
    /// Whether jobs may come in any order of their times.
    goes_back: bool,
    /// Whether several jobs may have the same id.
    repeats_ids: bool,
    /// How many tasks the jobs so far have beyond those that they list.
    implied: u64,
    /// Where the last record begins.
    place: TextPlace,
    /// The id of the last job.
    last: Option<String>,
    ended: bool,
    /// The hash of the file, once all of it has been read.
    sha256: Option<String>,
    record: Vec<u8>,
}

/// The notes of a pass about broken and doubtful records.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Notes {
    /// Broken records that were left out.
    pub skipped: FirstFew<TraceError>,
    /// Names of attributes that the format does not know; they were ignored.
    pub unknown: FirstFew<String>,
    /// Records that were kept though something is wrong with them.
    pub suspicious: FirstFew<Suspicion>,
}

/// A record that can be read, but is doubtful.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suspicion {
    /// Where the record begins.
    pub place: TextPlace,
    /// The id of the job.
    pub job: Option<String>,
    /// The reason to doubt the record.
    pub what: String,
}

impl<T: Record> Records<T> {
    /// Opens a file.
    pub fn open(path: &Path, strictness: Strictness) -> Result<Self, TraceError> {
        Self::open_with(path, strictness, None)
    }

    /// Opens a file, or a folder of logs. Logs of this form are read as records.
    ///
    /// # Errors
    /// If the file cannot be read, or the folder has no log.
    pub fn open_with(
        path: &Path,
        strictness: Strictness,
        logs: Option<&'static LogForm<T>>,
    ) -> Result<Self, TraceError> {
        let mut more = match logs {
            Some(_) => log_files(path)?,
            None => vec![path.to_owned()],
        };
        let first = more.pop().expect("there is the file, or a log of the folder");
        let mut records = Self { logs, ..Self::new(TraceText::open(&first)?, strictness) };
        records.read_beside(&first)?;
        let whole = (logs.is_some() && is_many(path)).then(LogHash::default);
        Ok(Self { more, whole, ..records })
    }

    /// Reads what stands beside a file that has just been opened.
    fn read_beside(&mut self, file: &Path) -> Result<(), TraceError> {
        self.beside.clear();
        let beside = self.logs.and_then(|_| configuration_of(file));
        let Some(path) = beside else { return Ok(()) };
        let read = File::open(&path)
            .and_then(|file| file.take(LARGEST_ENTRY as u64).read_to_end(&mut self.beside));
        read.map(drop).map_err(|source| TraceError::Read { path, source })
    }

    /// Returns a pass over the bytes of a reader, which messages call `name`.
    ///
    /// # Errors
    /// If the reader fails.
    pub fn from_reader(
        name: &str,
        reader: impl Read + Send + 'static,
        strictness: Strictness,
    ) -> Result<Self, TraceError> {
        Ok(Self::new(TraceText::new(Path::new(name), Box::new(reader))?, strictness))
    }

    fn new(text: TraceText, strictness: Strictness) -> Self {
        Self {
            text,
            logs: None,
            more: Vec::new(),
            whole: None,
            beside: Vec::new(),
            strictness,
            notes: Notes::default(),
            ids: FxHashSet::default(),
            latest: 0,
            goes_back: false,
            repeats_ids: false,
            implied: 0,
            place: TextPlace::START,
            last: None,
            ended: false,
            sha256: None,
            record: Vec::new(),
        }
    }

    /// Returns the one record of a file that must have exactly one, such as a topology.
    ///
    /// # Errors
    /// If the file has no record or several, or if the record is broken.
    pub fn only(&mut self) -> Result<T, TraceError> {
        let only = self.next().transpose()?;
        // Read a second record even after a good first one: two topologies in a file are a mistake.
        let what = match (only, self.next().transpose()?) {
            (Some(only), None) => return Ok(only),
            (Some(_), Some(_)) => format!("another {} in the same file", T::NAME),
            (None, _) => format!("no {} in the file", T::NAME),
        };
        Err(RecordFault::new(what).within(self.text.path(), self.text.at(), &[]))
    }

    /// Returns an error for the last record, which can be read but not used.
    pub fn unusable(&self, job: Option<&str>, what: impl Into<String>) -> TraceError {
        RecordFault::new(what).of(job).within(self.text.path(), self.place, &[])
    }

    /// Returns where the last record begins.
    pub fn place(&self) -> TextPlace {
        self.place
    }

    /// Accepts jobs in any order of their times.
    pub fn allow_unordered(&mut self) {
        self.goes_back = true;
    }

    /// Accepts jobs with the id of a job before them.
    pub fn allow_repeated_ids(&mut self) {
        self.repeats_ids = true;
    }

    /// Takes no hash, which saves time: [`Self::sha256`] stays `None`. Call this before the first
    /// record is read.
    pub fn forget_hash(&mut self) {
        self.whole = None;
        self.text.forget_hash();
    }

    /// Returns the notes of the whole pass.
    pub fn into_notes(self) -> Notes {
        self.notes
    }

    /// Returns the notes so far.
    pub fn notes(&self) -> &Notes {
        &self.notes
    }

    /// Returns the SHA-256 of the file as it is on the disk, compressed or not, in hexadecimal
    /// digits; `None` until the pass has reached the end without an error.
    pub fn sha256(&self) -> Option<&str> {
        self.sha256.as_deref()
    }

    /// Hashes the file that has been read, and opens the next. Returns whether there is one.
    fn next_file(&mut self) -> Result<bool, TraceError> {
        if let Some(file) = self.text.sha256()? {
            match &mut self.whole {
                Some(whole) => whole.add(self.text.path(), file)?,
                None => self.sha256 = Some(hex(&file)),
            }
        }
        let Some(next) = self.more.pop() else {
            self.sha256 = self.whole.take().map(LogHash::end).or(self.sha256.take());
            return Ok(false);
        };
        self.text = TraceText::open(&next)?;
        if self.whole.is_none() {
            self.text.forget_hash();
        }
        self.read_beside(&next)?;
        Ok(true)
    }

    fn read(&mut self) -> Result<Option<T>, TraceError> {
        let place = match self.next_place() {
            Ok(None) => return Ok(None),
            Ok(Some(place)) => place,
            Err(error) => return Err(self.resumed(error)?),
        };
        self.place = place;
        self.record.append(&mut self.beside);
        let mut broken = FirstFew::default();
        let parts = (self.strictness == Strictness::Lenient).then_some(&mut broken);
        let unknown = &mut self.notes.unknown;
        let parsed = match self.logs.filter(|logs| logs.begins_with(&self.record)) {
            Some(logs) => (logs.parse)(&self.record, unknown, parts),
            None => T::parse(&self.record, unknown),
        };
        let read = match parsed {
            Ok(read) => read,
            Err(fault) => {
                let unframed = fault.unframed;
                let error = fault.within(self.text.path(), place, &self.record);
                // If the end of the object is in doubt, the next record may be inside it: give its
                // text back.
                return Err(if unframed { self.resumed(error)? } else { self.named(error) });
            }
        };
        if let Err(fault) = self.admit(&read) {
            let fault = fault.of(read.job());
            return Err(fault.within(self.text.path(), place, &self.record));
        }
        self.notes.skipped.append(
            broken.map(|fault| fault.of(read.job()).within(self.text.path(), place, &self.record)),
        );
        // A record that is no job leaves `last` unchanged: the error of a damaged gzip names the
        // last job before the damage.
        self.last = read.job().map(str::to_owned).or(self.last.take());
        if let Some(what) = read.suspicious() {
            self.suspect(&read, what);
        }
        Ok(Some(read))
    }

    /// Reads the next record's text. Returns where the text begins; `None` at the end of the file.
    fn next_place(&mut self) -> Result<Option<TextPlace>, TraceError> {
        let Self { text, record, logs, .. } = self;
        let start = match (T::FRAMING, logs) {
            (Framing::Object(_), Some(logs)) => {
                text.object_or_log(record, |line| logs.begins_with(line))
            }
            (Framing::Line, _) => text.line(record),
            (Framing::Object(_), None) => text.object(record),
            (Framing::Entry, _) => text.entry(record),
        };
        start.map_err(|error| match error {
            TraceError::Damaged { path, place, source, .. } => {
                let after = self.last.as_deref().map(clip);
                TraceError::Damaged { path, place, after, source }
            }
            error => error,
        })
    }

    /// Gives back the text that a record without a clear end has consumed. Returns the error of
    /// that record.
    fn resumed(&mut self, error: TraceError) -> Result<TraceError, TraceError> {
        let has_objects = matches!(T::FRAMING, Framing::Object(_));
        if has_objects && matches!(error, TraceError::Malformed { .. }) {
            self.text.resume(&mut self.record)?;
        }
        Ok(self.named(error))
    }

    /// Adds the job's id to the error of the last record, if the id can be read.
    fn named(&self, mut error: TraceError) -> TraceError {
        if let Framing::Object(Some(id)) = T::FRAMING
            && let TraceError::Malformed { job: job @ None, .. } = &mut error
        {
            *job = json::text_of(&self.record, id).map(|id| clip(&id));
        }
        error
    }

    /// Notes that a record is kept though it is doubtful.
    fn suspect(&mut self, record: &T, what: String) {
        let job = record.job().map(str::to_owned);
        self.notes.suspicious.add(Suspicion { place: self.place, job, what });
    }

    /// Checks a record against the records before it, and remembers its id, time and tasks.
    fn admit(&mut self, record: &T) -> Result<(), RecordFault> {
        let submitted = record.submitted().unwrap_or(self.latest);
        if submitted < self.latest && !self.goes_back {
            let (earlier, unit) = (self.latest - submitted, T::TIME_UNIT);
            let what = format!("submitted {earlier} {unit} before the job above it");
            if T::IN_ORDER {
                return Err(RecordFault::new(what).hint("sort the trace by the time of submission"));
            }
            self.suspect(record, what);
        }
        let implied = self.implied.saturating_add(record.implied());
        if MOST_IMPLIED < implied {
            let what = format!(
                "with this job the trace has {implied} tasks that it does not list, and no more \
                 than {MOST_IMPLIED} can be made up"
            );
            return Err(RecordFault::new(what));
        }
        // This check comes last because it remembers the id: a refused record must not be
        // remembered.
        if let Some(id) = record.job() {
            if LONGEST_ID < id.len() {
                return Err(RecordFault::new(format!("an id of {} bytes", id.len())));
            }
            // Without the check there is no need to remember ids.
            if !self.repeats_ids && !self.ids.insert(id.to_owned()) {
                return Err(RecordFault::new("another job before it has the same id"));
            }
        }
        self.implied = implied;
        self.latest = self.latest.max(submitted);
        Ok(())
    }
}

impl<T: Record> Iterator for Records<T> {
    type Item = Result<T, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.ended {
            match self.read() {
                Ok(Some(record)) => return Some(Ok(record)),
                Ok(None) => match self.next_file() {
                    Ok(more) => self.ended = !more,
                    Err(error) => {
                        self.ended = true;
                        return Some(Err(error));
                    }
                },
                // Any other error ends a lenient pass, too: a file that can no longer be read has
                // no next record.
                Err(error @ (TraceError::Malformed { .. } | TraceError::Damaged { .. }))
                    if self.strictness == Strictness::Lenient =>
                {
                    self.notes.skipped.add(error);
                }
                Err(error) => {
                    self.ended = true;
                    return Some(Err(error));
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::{Cursor, Write};

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use tempfile::TempDir;

    use super::*;

    /// A job that may say when it was submitted.
    #[derive(Debug)]
    struct Stamp {
        id: String,
        at: u64,
    }

    impl Record for Stamp {
        const NAME: &'static str = "stamp";
        const FRAMING: Framing = Framing::Line;

        fn parse(line: &[u8], _: &mut FirstFew<String>) -> Result<Self, RecordFault> {
            let line = str::from_utf8(line).unwrap();
            let (id, at) = line.split_once(' ').ok_or_else(|| {
                RecordFault::new("no time").of((!line.is_empty()).then_some(line))
            })?;
            Ok(Self { id: id.to_owned(), at: at.parse().unwrap() })
        }

        fn job(&self) -> Option<&str> {
            Some(&self.id)
        }

        fn submitted(&self) -> Option<u64> {
            Some(self.at)
        }
    }

    fn pass(text: &'static str, strictness: Strictness) -> Records<Stamp> {
        Records::from_reader("t.txt", text.as_bytes(), strictness).unwrap()
    }

    const TRACE: &str = "a 1\nb\n\na 3\nc 2\nd 0\n";

    #[test]
    fn a_strict_pass_ends_at_the_first_error() {
        let mut jobs = pass(TRACE, Strictness::Strict);
        assert_eq!(jobs.next().unwrap().unwrap().id, "a");
        let error = jobs.next().unwrap().unwrap_err().to_string();
        assert_eq!(error, "t.txt:2: job \"b\": no time");
        assert!(jobs.next().is_none());
        assert_eq!(jobs.notes().skipped.count, 0);
    }

    #[test]
    fn a_lenient_pass_leaves_out_what_is_broken() {
        let mut jobs = pass(TRACE, Strictness::Lenient);
        let ids: Vec<String> = jobs.by_ref().map(|job| job.unwrap().id).collect();
        assert_eq!(ids, ["a", "c"]);
        let skipped = &jobs.notes().skipped;
        assert_eq!(skipped.count, 4);
        let errors: Vec<String> = skipped.first.iter().map(TraceError::to_string).collect();
        assert_eq!(
            errors,
            [
                "t.txt:2: job \"b\": no time",
                "t.txt:3: no time",
                "t.txt:4: job \"a\": another job before it has the same id",
                "t.txt:6: job \"d\": submitted 2 s before the job above it\n  \
                 hint: sort the trace by the time of submission",
            ]
        );
    }

    #[test]
    fn a_gzip_that_is_cut_off_says_how_far_it_goes() {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(b"a 1\nb 2\n").unwrap();
        let mut bytes = encoder.finish().unwrap();
        bytes.truncate(bytes.len() - 1);
        let pass = |strictness| {
            Records::<Stamp>::from_reader("t", Cursor::new(bytes.clone()), strictness).unwrap()
        };
        let error = pass(Strictness::Strict).find_map(Result::err).unwrap().to_string();
        assert_eq!(
            error,
            "t:3: the gzip cannot be read beyond byte 8 of its text, after job \"b\""
        );
        let mut jobs = pass(Strictness::Lenient);
        assert_eq!(jobs.by_ref().filter(Result::is_ok).count(), 2);
        assert_eq!((jobs.notes().skipped.count, jobs.sha256().is_some()), (1, true));
    }

    #[test]
    fn a_pipe_is_refused_before_it_is_read() {
        let error = Records::<Stamp>::open(Path::new("/dev/zero"), Strictness::Strict);
        let TraceError::Read { source, .. } = error.err().unwrap() else { panic!("unread") };
        assert_eq!(source.to_string(), "it is not a regular file; save it to one first");
    }

    #[test]
    fn only_the_first_errors_are_kept() {
        let text: &str = "x\n".repeat(100).leak();
        let mut jobs = pass(text, Strictness::Lenient);
        assert!(jobs.next().is_none());
        assert_eq!((jobs.notes().skipped.count, jobs.notes().skipped.first.len()), (100, 20));
    }

    #[test]
    fn an_id_without_end_is_refused() {
        let text: &str = format!("{} 1\n", "x".repeat(1_025)).leak();
        let error = pass(text, Strictness::Strict).next().unwrap().unwrap_err().to_string();
        assert!(error.ends_with("xxx…\": an id of 1025 bytes"), "{error}");
        assert!(error.len() < 300);
    }

    #[test]
    fn unreadable_files_and_malformed_ones_are_told_apart() {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("folder")).unwrap();
        for name in ["missing", "folder"] {
            let path = folder.path().join(name);
            let error = Records::<Stamp>::open(&path, Strictness::Lenient).err().unwrap();
            assert!(matches!(error, TraceError::Read { .. }), "{error}");
            assert_eq!(error.to_string(), format!("cannot read the trace {}", path.display()));
        }
    }
}
