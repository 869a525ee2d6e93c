//! Writers of tables and text files, whose errors name the file.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::RecordError;
use mumakil_base::disk::File;
use mumakil_results::tables::{CellValue, Column, TableRow, write_line};

/// A table that is written row by row.
#[derive(Debug)]
pub struct TableWriter<R: 'static> {
    path: PathBuf,
    file: File,
    /// The lines that are not in the file yet.
    lines: Vec<u8>,
    columns: Vec<&'static Column<R>>,
}

/// How many bytes of lines go to the file at once.
// Chosen: as large as the level of caches next to the processor lets them be.
const BATCH: usize = 1 << 14;

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
        // Write the heading at once, so that a table without rows is still readable.
        let columns: Vec<_> = (R::COLUMNS.iter())
            .filter(|column| column.info.record.is_none_or(|key| keys.contains(&key)))
            .collect();
        let mut lines = Vec::new();
        let heading = columns.iter().map(|column| CellValue::Text(column.info.name));
        write_line(heading, &mut lines);
        Ok(Self { path, file, lines, columns })
    }

    /// Writes a row.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn row(&mut self, row: &R) -> Result<(), RecordError> {
        let cells = self.columns.iter().map(|column| (column.value)(row));
        write_line(cells, &mut self.lines);
        if self.lines.len() < BATCH { Ok(()) } else { self.finish() }
    }

    /// Writes the rows that are not in the file yet.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn finish(&mut self) -> Result<(), RecordError> {
        self.file.write_all(&self.lines).map_err(RecordError::at(&self.path))?;
        self.lines.clear();
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
