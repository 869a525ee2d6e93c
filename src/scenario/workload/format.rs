//! The formats of files with jobs, hosts or the settings of a generator.
//!
//! A format is one [`Format`]: how its files are recognised, what they hold, and how jobs are
//! written in it. [`Formats`] is the list of them: those that Mumakil brings are in
//! `mumakil-traces`, and a user's own binary may add some. All code that reads traces uses this list,
//! so no other code names the formats.
//!
//! A format of another tool consists of a type of records ([`Record`]) that are jobs
//! ([`TraceJob`]), and the format itself, which reads them with [`Trace::of`]. With a
//! [`Source`](super::Source) a scenario can name such a file. `tests/it/own_format.rs` has a
//! complete example in one file.
//!
//! [`Record`]: mumakil_core::trace::Record

use std::any::Any;
use std::fmt::{self, Debug};
use std::io;
use std::path::Path;

use super::exchange::PackedJobs;
use super::jobs::JobEntry;
use mumakil_base::units::{Bytes, SimSpan};
use mumakil_core::mapred::Outcome;
use mumakil_core::trace::{
    FirstFew, FirstRecord, LogForm, Opening, Strictness, Suspicion, TextPlace, TraceError,
};

/// A format of files. [`Format::new`] fills in what most formats lack.
pub struct Format {
    /// The name of the format in messages: `SWIM`, `Rumen's jobs`.
    pub name: &'static str,
    /// How to recognise the format, such as `SWIM (6 to 8 columns)`; for the message about a file
    /// that has no known format. Empty if the text of another format of the same tool covers this
    /// format.
    pub known_by: &'static str,
    /// Returns whether a JSON object with an attribute of this name has this format.
    pub has_attribute: fn(&str) -> bool,
    /// Returns whether a file that begins with this line, which is not JSON, has this format.
    pub has_line: fn(&[u8]) -> bool,
    /// The contents of the files, and how to read them.
    pub contents: FormatContents,
    /// How jobs are written in this format; `None` if they cannot be.
    pub target: Option<ConversionTarget>,
    /// The format in which its jobs are written with all that they are, if it is not a target itself.
    pub written_as: Option<&'static Self>,
    /// The [`LogForm`] of its files, if they are logs. Every source whose records can be read from
    /// such logs takes it.
    pub logs: Option<&'static (dyn Any + Send + Sync)>,
    /// Whether its files have a record for each task of a job.
    pub lists_tasks: bool,
    /// Whether times are those of a wall clock. A run then counts time from the first job, and jobs
    /// are sorted by their submission.
    pub is_wall_clock: bool,
}

impl Format {
    /// Returns a format that recognises no file yet, and cannot be written.
    pub const fn new(name: &'static str, contents: FormatContents) -> Self {
        Self {
            name,
            known_by: "",
            has_attribute: |_| false,
            has_line: |_| false,
            contents,
            target: None,
            written_as: None,
            logs: None,
            lists_tasks: false,
            is_wall_clock: false,
        }
    }

    /// Returns the form of its logs, if they can be read as these records.
    pub fn logs<T: 'static>(&self) -> Option<&'static LogForm<T>> {
        self.logs?.downcast_ref()
    }

    /// Returns the key of the format in which its jobs are written with all that they are; `None` if
    /// there is none.
    pub fn target_key(&self) -> Option<&'static str> {
        Some(self.written_as.unwrap_or(self).target?.key)
    }
}

/// The contents of a format's files, and how they are read.
#[derive(Clone, Copy)]
pub enum FormatContents {
    /// Jobs of another tool, usually read by [`Trace::of`].
    Jobs(ReadJobs),
    /// Jobs as a scenario lists them.
    List {
        /// Reads the jobs.
        read: ReadJobs,
        /// Writes the jobs.
        write: fn(&PackedJobs, &mut dyn io::Write) -> io::Result<()>,
    },
    /// Racks and hosts.
    Hosts(fn(&Path) -> Result<HostFile, TraceError>),
    /// Rules from which jobs are drawn.
    Generator {
        /// Draws the jobs from the rules in a file, with the seed of a scenario.
        draw: fn(&Path, u64) -> Result<Vec<JobEntry>, TraceError>,
        /// Returns how many jobs and classes there are to draw.
        size: fn(&Path) -> Result<GeneratorSize, TraceError>,
    },
}

/// Reads a file of jobs and gives each to a function, so that not all of them need be in memory. The
/// trace that is returned has no jobs.
pub type ReadJobs = fn(TraceToRead<'_>, &mut SeeJob<'_>) -> Result<Trace, TraceError>;

/// A file of jobs, and how it is read.
#[derive(Clone, Copy)]
pub struct TraceToRead<'a> {
    /// The format of the file.
    pub format: &'static Format,
    /// The file.
    pub path: &'a Path,
    /// The size of a block.
    pub block: Bytes,
    /// Whether broken jobs are left out.
    pub strictness: Strictness,
}

/// Takes the jobs of a file, one by one.
pub type SeeJob<'s> = dyn FnMut(Box<dyn TraceJob>) + 's;

/// The number of jobs and classes that a generator draws.
#[derive(Clone, Copy, Debug)]
pub struct GeneratorSize {
    /// The number of jobs that are drawn.
    pub jobs: u64,
    /// The number of classes that they are drawn from.
    pub classes: u64,
}

/// A host that was read from a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListedHost {
    /// The path of its rack.
    pub rack: String,
    /// Its name.
    pub name: String,
    /// Its memory for tasks, if the file has it.
    pub memory: Option<Bytes>,
    /// Its cores, if the file has them.
    pub cores: Option<u32>,
}

/// Racks and hosts that were read from a file.
#[derive(Clone, Debug)]
pub struct HostFile {
    /// The hosts.
    pub hosts: Vec<ListedHost>,
    /// Notes about parts of the file that have no effect, each a sentence.
    pub notes: Vec<String>,
    /// Whether Mumak reads files of this format: it leaves out hosts whose names are addresses.
    pub is_of_mumak: bool,
    /// The position of the last record.
    pub place: TextPlace,
    /// The SHA-256 of the file.
    pub sha256: Option<String>,
}

/// How jobs are written in a format.
#[derive(Clone, Copy)]
pub struct ConversionTarget {
    /// The name of the format for `mumakil trace convert --to`.
    pub key: &'static str,
    /// The description of the format in the help.
    pub about: &'static str,
    /// Turns a job of a scenario into a job of the file.
    pub make: fn(&JobEntry, Bytes) -> Box<dyn TraceJob>,
}

/// A file of jobs.
#[derive(Debug)]
pub struct Trace {
    /// The format of the file.
    pub format: &'static Format,
    /// The jobs, in the order of the file, or of their submission with times of a wall clock.
    pub jobs: Vec<Box<dyn TraceJob>>,
    /// Records that were left out because they are broken.
    pub skipped: FirstFew<TraceError>,
    /// Records that were kept despite a problem.
    pub suspicious: FirstFew<Suspicion>,
    /// Notes about jobs that are not as the file has them, each a sentence.
    pub notes: Vec<String>,
    /// Facts that the jobs show together, each a sentence.
    pub facts: Vec<String>,
    /// The SHA-256 of the file, if it was read.
    pub sha256: Option<String>,
}

/// A job in the form of its file: of another tool, or of one of Mumakil's own lists.
pub trait TraceJob: Debug {
    /// Returns the name of the job, which is the `number`th in its file.
    fn name(&self, number: u64) -> String;

    /// Returns the job as a scenario would list it; `None` if it has no tasks.
    ///
    /// # Errors
    /// If the job cannot be run; the error is the reason.
    fn entry(&self, number: u64, block: Bytes) -> Result<Option<JobEntry>, String>;

    /// Returns when the job is submitted.
    fn submit(&self) -> SimSpan;

    /// Sets the time since the submission of the job before, if the format has that field.
    fn set_gap(&mut self, _gap: SimSpan) {}

    /// Returns the outcomes of the job and of its attempts, if the format has them.
    fn endings(&self) -> Option<Endings> {
        None
    }

    /// Returns, in words, the information about the job that Mumakil's own lists cannot express;
    /// `None` if they express all of it.
    fn lost_in_list(&self) -> Option<&'static str> {
        None
    }

    /// Writes the job in the form of its file.
    fn write_to(&self, to: &mut dyn io::Write) -> io::Result<()>;

    /// Returns the job if it is in one of Mumakil's own lists.
    fn own(&self) -> Option<&JobEntry> {
        None
    }
}

impl TraceJob for JobEntry {
    fn name(&self, _number: u64) -> String {
        self.name.clone()
    }

    fn entry(&self, _number: u64, block: Bytes) -> Result<Option<JobEntry>, String> {
        match self.faults(block).into_iter().next() {
            Some((_, message)) => Err(message),
            None => Ok(Some(self.clone())),
        }
    }

    fn submit(&self) -> SimSpan {
        self.submit
    }

    fn write_to(&self, _to: &mut dyn io::Write) -> io::Result<()> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "a list is written as a whole"))
    }

    fn own(&self) -> Option<&JobEntry> {
        Some(self)
    }
}

/// The outcomes of a job and of its attempts; `None` is unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endings {
    /// The outcome of the job.
    pub job: Option<Outcome>,
    /// The outcome of each attempt.
    pub attempts: Vec<Option<Outcome>>,
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// The formats that can be read.
#[derive(Clone, Debug, Default)]
pub struct Formats(Vec<&'static Format>);

impl Formats {
    /// Adds a format; replaces a format with the same name.
    pub fn add(&mut self, format: &'static Format) -> &mut Self {
        // Two formats with the same name are equal. The new one goes to the end, which is tried
        // first.
        self.0.retain(|known| *known != format);
        self.0.push(format);
        self
    }

    /// Returns the formats in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = &'static Format> {
        self.0.iter().copied()
    }

    /// Returns the format of a file, recognised by its first record. The format that was added last
    /// is tried first, so that a user's format may be a special case of another one.
    ///
    /// # Errors
    /// If the file cannot be read or has none of the formats.
    pub fn recognise(&self, path: &Path) -> Result<&'static Format, TraceError> {
        let opening = Opening::read(path)?;
        self.of(opening.first()).ok_or_else(|| opening.unknown(self.known()))
    }

    /// Returns the form of logs that can be read as these records.
    pub fn logs<T: 'static>(&self) -> Option<&'static LogForm<T>> {
        self.0.iter().rev().find_map(|format| format.logs())
    }

    /// Returns the format with this name for `mumakil trace convert --to`; the one that was added
    /// last if there are several.
    pub fn written_as(&self, key: &str) -> Option<&'static Format> {
        self.last(|format| format.target.is_some_and(|target| target.key == key))
    }

    fn of(&self, first: &FirstRecord) -> Option<&'static Format> {
        match first {
            FirstRecord::Nothing => None,
            FirstRecord::Object(attributes) => {
                // The first attribute that any format knows decides: later attributes may be common
                // to several tools.
                attributes.iter().find_map(|name| self.last(|format| (format.has_attribute)(name)))
            }
            FirstRecord::Line(line) => self.last(|format| (format.has_line)(line)),
        }
    }

    fn last(&self, fits: impl Fn(&Format) -> bool) -> Option<&'static Format> {
        self.0.iter().rev().copied().find(|format| fits(format))
    }

    /// Returns the list of known formats for a message.
    fn known(&self) -> String {
        let all: Vec<&str> =
            self.iter().map(|format| format.known_by).filter(|words| !words.is_empty()).collect();
        match all.split_last() {
            Some((last, others)) if !others.is_empty() => {
                format!("known are {}, and {last}", others.join(", "))
            }
            Some((only, _)) => format!("known is {only}"),
            None => "no format is known".to_owned(),
        }
    }
}

/// Returns an error that a job cannot be written, since its end could not be read back.
pub fn too_late(job: &str) -> io::Error {
    let what =
        format!("the job `{job}` ends after more than a hundred years, too late to be read back");
    io::Error::new(io::ErrorKind::InvalidInput, what)
}

/// Returns an error that a file has another format than expected.
pub fn other(path: &Path, found: &Format, expected: &'static str) -> TraceError {
    TraceError::OtherFormat { path: path.to_owned(), found: found.name, expected }
}
