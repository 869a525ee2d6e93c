//! Writers of tables and text files, whose errors name the file.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::RecordError;
use mumakil_base::disk::File;
use mumakil_results::tables::{Column, InCells, TableRow};

/// A table that is written row by row.
#[derive(Debug)]
pub struct TableWriter<R: 'static> {
    path: PathBuf,
    cells: csv::Writer<File>,
    columns: Vec<&'static Column<R>>,
}

impl<R: TableRow> TableWriter<R> {
    /// Creates the table in `folder`, with the heading only.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn create(folder: &Path) -> Result<Self, RecordError> {
        Self::with(folder, &[])
    }

    /// Creates the table in `folder`, with the heading only. It has the columns that are always
    /// there, and those that these keys of `record` add.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn with(folder: &Path, keys: &[&str]) -> Result<Self, RecordError> {
        let path = folder.join(R::FILE);
        let file = File::create(&path).map_err(RecordError::at(&path))?;
        // The writer fills its whole buffer with zeros first: a larger buffer would cost short runs
        // more time than it saves long runs.
        let cells =
            csv::WriterBuilder::new().has_headers(false).buffer_capacity(1 << 14).from_writer(file);
        // Write the heading at once, so that a table without rows is still readable.
        let is_there =
            |column: &&Column<R>| column.info.record.is_none_or(|key| keys.contains(&key));
        let columns = R::COLUMNS.iter().filter(is_there).collect();
        let mut table = Self { path, cells, columns };
        let heading = table.columns.iter().map(|column| column.info.name);
        table.cells.write_record(heading).map_err(|error| table.error(error))?;
        Ok(table)
    }

    /// Writes a row.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn row(&mut self, row: &R) -> Result<(), RecordError> {
        self.cells.serialize(InCells(row, &self.columns)).map_err(|error| self.error(error))
    }

    /// Flushes the buffered rows.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn finish(&mut self) -> Result<(), RecordError> {
        self.cells.flush().map_err(RecordError::at(&self.path))
    }

    fn error(&self, error: csv::Error) -> RecordError {
        RecordError::at(&self.path)(error.into())
    }
}

/// A text file that is written from beginning to end.
#[derive(Debug)]
pub(super) struct TextFile {
    path: PathBuf,
    to: BufWriter<File>,
}

impl TextFile {
    /// Creates the empty file.
    pub(super) fn create(folder: &Path, name: &str) -> Result<Self, RecordError> {
        let path = folder.join(name);
        let file = File::create(&path).map_err(RecordError::at(&path))?;
        Ok(Self { path, to: BufWriter::with_capacity(1 << 16, file) })
    }

    /// Calls `write` with the file. An error names the path of the file.
    pub(super) fn write(
        &mut self,
        write: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>,
    ) -> Result<(), RecordError> {
        write(&mut self.to).map_err(RecordError::at(&self.path))
    }

    /// Flushes the buffered text.
    pub(super) fn finish(&mut self) -> Result<(), RecordError> {
        self.write(Write::flush)
    }
}
