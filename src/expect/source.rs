//! What expressions read: the tables, numbers and histograms that a run has left.
//!
//! A table is shown row by row, and only the columns that are asked for, so that a run with
//! millions of attempts costs no memory.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use hdrhistogram::Histogram;

use crate::files;
use crate::units::SimTime;

/// A table of a run's folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Table {
    /// `jobs.csv`
    Jobs,
    /// `tasks.csv`
    Tasks,
    /// `timeline.csv`
    Timeline,
    /// `alone.csv`: how long each job takes alone on an empty cluster.
    Alone,
    /// `chains.csv`: how long each chain of jobs takes.
    Chains,
    /// `faults.csv`: what befell machines; only where something did.
    Faults,
    /// `waste.csv`: what each job held slots for.
    Waste,
    /// `decisions.csv`: what policies refused and ordered; only where it is recorded.
    Decisions,
}

impl Table {
    /// Returns the name of its file.
    pub const fn file(self) -> &'static str {
        match self {
            Self::Jobs => files::JOBS,
            Self::Tasks => files::TASKS,
            Self::Timeline => files::TIMELINE,
            Self::Alone => files::ALONE,
            Self::Chains => files::CHAINS,
            Self::Faults => files::FAULTS,
            Self::Waste => files::WASTE,
            Self::Decisions => files::DECISIONS,
        }
    }
}

/// What an expression reads, so that a study need record nothing else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// The columns of each table.
    pub columns: BTreeMap<Table, BTreeSet<&'static str>>,
    /// The histograms of `latency.hlog`.
    pub histograms: BTreeSet<&'static str>,
    /// The numbers of `summary.json`.
    pub numbers: BTreeSet<&'static str>,
}

impl Needs {
    /// Adds what another expression reads.
    pub fn add(&mut self, other: Self) {
        for (table, columns) in other.columns {
            self.columns.entry(table).or_default().extend(columns);
        }
        self.histograms.extend(other.histograms);
        self.numbers.extend(other.numbers);
    }

    /// Returns whether it reads what slots were held for.
    pub fn reads_waste(&self) -> bool {
        let numbers = self.numbers.iter().any(|number| number.starts_with("waste."));
        numbers || self.columns.contains_key(&Table::Waste)
    }

    pub(super) fn add_columns(
        &mut self,
        table: Table,
        columns: impl IntoIterator<Item = &'static str>,
    ) {
        self.columns.entry(table).or_default().extend(columns);
    }
}

/// What a run has left.
pub trait Results {
    /// Shows the rows of a table in their order.
    ///
    /// # Errors
    /// If the table cannot be read, or `see` refuses a row.
    fn rows(
        &self,
        table: Table,
        columns: &[&str],
        see: &mut dyn FnMut(&Row<'_>) -> Result<(), String>,
    ) -> Result<(), ReadError>;

    /// Returns a number of the summary by its path, such as `locality.node`; `None` if the run
    /// could not say.
    ///
    /// # Errors
    /// If the summary cannot be read or has no such number.
    fn number(&self, path: &str) -> Result<Option<f64>, ReadError>;

    /// Returns a histogram of all intervals, in microseconds; empty if nothing was recorded.
    ///
    /// # Errors
    /// If the log of the histograms cannot be read.
    fn histogram(&self, name: &str) -> Result<Histogram<u64>, ReadError>;

    /// Returns the instant before which jobs are not counted.
    ///
    /// # Errors
    /// If the summary cannot be read.
    fn warm_up(&self) -> Result<SimTime, ReadError>;
}

/// The columns of a row that were asked for, in the order in which they were.
#[derive(Debug)]
pub struct Row<'a> {
    record: &'a csv::StringRecord,
    places: &'a [usize],
    columns: &'a [&'a str],
}

impl<'a> Row<'a> {
    /// Returns the text of a column.
    pub fn text(&self, column: usize) -> &'a str {
        self.record.get(self.places[column]).unwrap_or_default()
    }

    /// Returns the number of a column; `None` if it is empty.
    ///
    /// # Errors
    /// If it is something else.
    pub fn number(&self, column: usize) -> Result<Option<f64>, String> {
        let text = self.text(column);
        if text.is_empty() {
            return Ok(None);
        }
        let number = text.parse().ok().filter(|number: &f64| number.is_finite());
        let wrong = || format!("column `{}`: `{text}` is not a number", self.columns[column]);
        number.ok_or_else(wrong).map(Some)
    }

    /// Returns the whole number of a column.
    ///
    /// # Errors
    /// If it is something else.
    pub fn id(&self, column: usize) -> Result<u32, String> {
        let text = self.text(column);
        let wrong =
            |_| format!("column `{}`: `{text}` is not a whole number", self.columns[column]);
        text.parse().map_err(wrong)
    }
}

/// Shows the rows of a CSV table; `path` is named in errors.
///
/// # Errors
/// If the table cannot be read, lacks a column, or `see` refuses a row.
pub fn read_rows(
    from: impl Read,
    path: &Path,
    columns: &[&str],
    see: &mut dyn FnMut(&Row<'_>) -> Result<(), String>,
) -> Result<(), ReadError> {
    let mut reader = csv::Reader::from_reader(from);
    let heading = reader.headers().map_err(|error| ReadError::table(path, error))?;
    let place = |column: &&str| {
        let message = || format!("there is no column `{column}`");
        let place = heading.iter().position(|name| name == *column);
        place.ok_or_else(|| ReadError::row(path, 1, message()))
    };
    let places = columns.iter().map(place).collect::<Result<Vec<_>, _>>()?;
    let mut record = csv::StringRecord::new();
    while reader.read_record(&mut record).map_err(|error| ReadError::table(path, error))? {
        let line = record.position().map_or(0, csv::Position::line);
        see(&Row { record: &record, places: &places, columns })
            .map_err(|message| ReadError::row(path, line, message))?;
    }
    Ok(())
}

/// Why what a run has left cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// A file cannot be opened or read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file says what it must not.
    #[error("{}:{line}: {message}", path.display())]
    Row {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong there.
        message: String,
    },
}

impl ReadError {
    /// Returns the error of a line.
    pub fn row(path: &Path, line: u64, message: impl Into<String>) -> Self {
        Self::Row { path: path.to_owned(), line, message: message.into() }
    }

    /// Returns the file that cannot be read.
    pub fn path(&self) -> &Path {
        match self {
            Self::Read { path, .. } | Self::Row { path, .. } => path,
        }
    }

    fn table(path: &Path, error: csv::Error) -> Self {
        let line = error.position().map_or(1, csv::Position::line);
        let message = error.to_string();
        match error.into_kind() {
            csv::ErrorKind::Io(source) => Self::Read { path: path.to_owned(), source },
            csv::ErrorKind::Utf8 { err, .. } => Self::row(path, line, err.to_string()),
            csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
                Self::row(path, line, format!("{len} fields where {expected_len} are expected"))
            }
            _ => Self::row(path, line, message),
        }
    }
}
