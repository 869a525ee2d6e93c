//! The rows of a run's tables, read one by one.
//!
//! No row is kept, so that a run with millions of attempts needs little memory.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use hdrhistogram::Histogram;

use super::line::{CellTexts, RowReader};
use super::table::{Cells, ColumnInfo, TableRow};
use mumakil_base::units::SimTime;

/// The files of a run.
pub trait Results {
    /// Opens a file of the run.
    ///
    /// # Errors
    /// If the file does not exist or cannot be read.
    fn open(&self, file: &str) -> io::Result<Box<dyn Read + '_>>;

    /// Returns the path of a file of the run, for messages.
    fn path(&self, file: &str) -> PathBuf;

    /// Returns a number of the summary by its path, such as `locality.node`; `None` if the run has
    /// no value for it.
    ///
    /// # Errors If the summary cannot be read or does not have this path.
    fn number(&self, path: &str) -> Result<Option<f64>, ReadError>;

    /// Returns a number of the summary that may be left out.
    fn number_if_there(&self, path: &str) -> Result<Option<f64>, ReadError>;

    /// Returns a histogram by name, in microseconds; empty if no value was recorded.
    fn histogram(&self, name: &str) -> Result<Histogram<u64>, ReadError>;

    /// Returns the end of the warm-up; jobs that arrive before it are not counted.
    fn warm_up(&self) -> Result<SimTime, ReadError>;
}

impl dyn Results + '_ {
    /// Reads all rows of a table into memory; for small tables only.
    pub fn all<R: TableRow>(&self) -> Result<Vec<R>, ReadError> {
        let mut all = Vec::new();
        self.rows(|row| {
            all.push(row);
            Ok(())
        })?;
        Ok(all)
    }

    /// Calls `see` with each row of a table, in the table's order.
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

    /// Checks that a table has the columns that a key of `record` adds.
    ///
    /// # Errors
    /// If it does not have them, or cannot be read.
    pub fn expect_columns<R: TableRow>(&self, key: &str) -> Result<(), ReadError> {
        let path = self.path(R::FILE);
        let file = self.open(R::FILE);
        let file = file.map_err(|source| ReadError::Read { path: path.clone(), source })?;
        let mut reader = RowReader::new(file, &path);
        let heading = reader.next()?.map(|(_, heading)| heading);
        let mut added = R::COLUMNS.iter().filter(|column| column.info.record == Some(key));
        match added
            .all(|column| heading.is_some_and(|it| it.iter().any(|name| name == column.info.name)))
        {
            true => Ok(()),
            false => Err(ReadError::row(&path, 1, format!("the run did not record `{key}`"))),
        }
    }

    /// Calls `see` with each row of a table; does nothing if the run has not recorded the table.
    ///
    /// # Errors
    /// If the table exists and cannot be read, or `see` refuses a row.
    pub fn rows_if_any<R: TableRow>(
        &self,
        see: impl FnMut(R) -> Result<(), String>,
    ) -> Result<(), ReadError> {
        match self.rows(see) {
            // Only a missing file means "not recorded"; report any other failure.
            Err(ReadError::Read { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Ok(())
            }
            read => read,
        }
    }
}

/// Calls `see` with each row of a table; errors name `path`.
///
/// Columns that may be empty may also be missing, as in tables of older versions.
///
/// # Errors
/// If the table cannot be read, or `see` refuses a row.
pub fn read_rows<R: TableRow>(
    from: impl Read,
    path: &Path,
    mut see: impl FnMut(R) -> Result<(), String>,
) -> Result<(), ReadError> {
    let mut reader = RowReader::new(from, path);
    let none = CellTexts::default();
    let heading = reader.next()?.map_or(&none, |(_, heading)| heading);
    let width = heading.len();
    // Look up the columns by their names, once for each file: a file of another version may have
    // other columns.
    let places = places::<R>(heading).map_err(|message| ReadError::row(path, 1, message))?;
    while let Some((line, row)) = reader.next()? {
        let read = match row.len() {
            fields if fields == width => R::read(Cells::new(row, &places)).and_then(&mut see),
            fields => Err(format!("{fields} fields where {width} are expected")),
        };
        read.map_err(|message| ReadError::row(path, line, message))?;
    }
    Ok(())
}

/// Returns the index of each column in the file; `None` for a missing column that may be empty.
fn places<R: TableRow>(heading: &CellTexts) -> Result<Vec<Option<usize>>, String> {
    let columns = R::COLUMNS.iter().map(|column| {
        let ColumnInfo { name, may_be_empty, .. } = column.info;
        let place = heading.iter().position(|heading| heading == name);
        let is_well = place.is_some() || may_be_empty;
        is_well.then_some(place).ok_or_else(|| format!("there is no column `{name}`"))
    });
    columns.collect()
}

/// The reason why the files of a run cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// A file cannot be opened or read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The files of a run are not those that the run wrote.
    #[error("{}: {why}", folder.display())]
    Changed {
        /// The folder of the run.
        folder: PathBuf,
        /// The reason, in words.
        why: String,
    },
    /// A line of a file is wrong.
    #[error("{}:{line}: {message}", path.display())]
    Row {
        /// The file.
        path: PathBuf,
        /// The number of the line, from 1.
        line: u64,
        /// The complaint.
        message: String,
    },
}

impl ReadError {
    /// Returns the error of a wrong line.
    pub fn row(path: &Path, line: u64, message: impl Into<String>) -> Self {
        Self::Row { path: path.to_owned(), line, message: message.into() }
    }

    /// Returns the folder of the run, or of the part of it, that cannot be read.
    pub fn folder(&self) -> &Path {
        match self {
            Self::Read { path, .. } | Self::Row { path, .. } => {
                path.parent().unwrap_or(Path::new(""))
            }
            Self::Changed { folder, .. } => folder,
        }
    }
}
