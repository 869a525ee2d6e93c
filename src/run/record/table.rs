//! Writers of tables and text files, whose errors name the file.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::RecordError;
use mumakil_base::disk::File;
use mumakil_results::tables::{CellValue, Column, TableRow, write_line};

/// A table that is written row by row.
#[derive(Debug)]
pub struct TableWriter<R: 'static> {
    file: TextFile,
    /// The line of the row that is being written.
    line: Vec<u8>,
    columns: Vec<&'static Column<R>>,
}

impl<R: TableRow> TableWriter<R> {
    /// Creates the table in `folder`, with the heading only.
    pub fn create(folder: &Path) -> Result<Self, RecordError> {
        Self::with(folder, &[])
    }

    /// Creates the table in `folder`, with the heading only. It has the columns that are always
    /// there, and those that these keys of `record` add.
    pub fn with(folder: &Path, keys: &[&str]) -> Result<Self, RecordError> {
        let file = TextFile::create(folder, R::FILE)?;
        let columns: Vec<_> = (R::COLUMNS.iter())
            .filter(|column| column.info.record.is_none_or(|key| keys.contains(&key)))
            .collect();
        let heading: Vec<_> =
            columns.iter().map(|column| CellValue::Text(column.info.name)).collect();
        let mut table = Self { file, line: Vec::new(), columns };
        // Write the heading at once, so that a table without rows is still readable.
        write_line(heading, &mut table.line);
        table.put()?;
        Ok(table)
    }

    /// Writes a row.
    pub fn row(&mut self, row: &R) -> Result<(), RecordError> {
        write_line(self.columns.iter().map(|column| (column.value)(row)), &mut self.line);
        self.put()
    }

    /// Flushes the buffered rows.
    pub fn finish(&mut self) -> Result<(), RecordError> {
        self.file.finish()
    }

    fn put(&mut self) -> Result<(), RecordError> {
        self.file.write(|to| to.write_all(&self.line))?;
        self.line.clear();
        Ok(())
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
