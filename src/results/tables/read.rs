//! The rows of a run's tables, read one by one.
//!
//! Nothing is kept, so that a run with millions of attempts costs no memory.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use hdrhistogram::Histogram;

use super::table::{Cells, Column, ColumnInfo, TableRow};
use mumakil_base::units::SimTime;

/// The files of a run.
pub trait Results {
    /// Opens a file of it.
    ///
    /// # Errors
    /// If it is not there or cannot be read.
    fn open(&self, file: &str) -> io::Result<Box<dyn Read + '_>>;

    /// Returns what to call a file of it in messages.
    fn path(&self, file: &str) -> PathBuf;

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

impl dyn Results + '_ {
    /// Reads all rows of a table, which must not be a large one.
    ///
    /// # Errors
    /// If the table cannot be read.
    pub fn all<R: TableRow>(&self) -> Result<Vec<R>, ReadError> {
        let mut all = Vec::new();
        self.rows(|row| {
            all.push(row);
            Ok(())
        })?;
        Ok(all)
    }

    /// Shows the rows of a table in their order.
    ///
    /// # Errors
    /// If the table cannot be read, or `see` refuses a row.
    pub fn rows<R: TableRow>(
        &self,
        see: impl FnMut(R) -> Result<(), String>,
    ) -> Result<(), ReadError> {
        let path = self.path(R::FILE);
        match self.open(R::FILE) {
            Ok(file) => read_rows(file, &path, see),
            Err(source) => Err(ReadError::Read { path, source }),
        }
    }

    /// Shows the rows of a table, if the run has recorded that.
    ///
    /// # Errors
    /// If the table is there and cannot be read, or `see` refuses a row.
    pub fn rows_if_any<R: TableRow>(
        &self,
        see: impl FnMut(R) -> Result<(), String>,
    ) -> Result<(), ReadError> {
        match self.rows(see) {
            // Only a missing file means "not recorded"; any other failure must not pass for no
            // rows.
            Err(ReadError::Read { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Ok(())
            }
            read => read,
        }
    }
}

/// Shows the rows of a table; `path` is named in errors.
///
/// A column that may be empty may be missing, too, as in a table of an older run.
///
/// # Errors
/// If the table cannot be read, or `see` refuses a row.
pub fn read_rows<R: TableRow>(
    from: impl Read,
    path: &Path,
    mut see: impl FnMut(R) -> Result<(), String>,
) -> Result<(), ReadError> {
    let mut reader = csv::Reader::from_reader(from);
    let heading = reader.headers().map_err(|error| ReadError::table(path, error))?;
    // Looked up once for the file: later versions may have added or moved columns.
    let places = places::<R>(heading).map_err(|message| ReadError::row(path, 1, message))?;
    let mut record = csv::StringRecord::new();
    while reader.read_record(&mut record).map_err(|error| ReadError::table(path, error))? {
        // Lines instead of rows, as an editor counts: a quoted name may hold a line break.
        let line = record.position().map_or(0, csv::Position::line);
        R::read(Cells::new(&record, &places))
            .and_then(&mut see)
            .map_err(|message| ReadError::row(path, line, message))?;
    }
    Ok(())
}

/// Returns where each column stands; `None` for one that is missing and may be empty.
fn places<R: TableRow>(heading: &csv::StringRecord) -> Result<Vec<Option<usize>>, String> {
    let place = |column: &Column<R>| {
        let ColumnInfo { name, may_be_empty, .. } = column.info;
        let place = heading.iter().position(|heading| heading == name);
        let is_well = place.is_some() || may_be_empty;
        is_well.then_some(place).ok_or_else(|| format!("there is no column `{name}`"))
    };
    R::COLUMNS.iter().map(place).collect()
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
        /// The complaint.
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
