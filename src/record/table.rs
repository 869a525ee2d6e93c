//! Files whose every error names their path.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::RecordError;
use crate::disk::File;

/// A CSV table with a heading.
#[derive(Debug)]
pub(super) struct Table {
    path: PathBuf,
    rows: csv::Writer<File>,
}

impl Table {
    /// Creates the table in `folder`, with the heading only.
    pub(super) fn create(folder: &Path, name: &str, heading: &[&str]) -> Result<Self, RecordError> {
        let path = folder.join(name);
        let file = File::create(&path).map_err(RecordError::at(&path))?;
        // Filled with zeros first, all of it: a short run would pay for a long one's.
        let rows =
            csv::WriterBuilder::new().has_headers(false).buffer_capacity(1 << 14).from_writer(file);
        let mut table = Self { path, rows };
        table.row(heading)?;
        Ok(table)
    }

    /// Writes a row: one cell for each field, an empty one for `None`.
    pub(super) fn row<R: Serialize>(&mut self, row: R) -> Result<(), RecordError> {
        self.rows.serialize(row).map_err(|error| RecordError::at(&self.path)(error.into()))
    }

    /// Writes out what is still buffered.
    pub(super) fn finish(&mut self) -> Result<(), RecordError> {
        self.rows.flush().map_err(RecordError::at(&self.path))
    }
}

/// A text file that is written from beginning to end.
#[derive(Debug)]
pub(super) struct Text {
    path: PathBuf,
    to: BufWriter<File>,
}

impl Text {
    /// Creates the file, empty.
    pub(super) fn create(folder: &Path, name: &str) -> Result<Self, RecordError> {
        let path = folder.join(name);
        let file = File::create(&path).map_err(RecordError::at(&path))?;
        Ok(Self { path, to: BufWriter::with_capacity(1 << 16, file) })
    }

    /// Lets `write` write.
    pub(super) fn write(
        &mut self,
        write: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>,
    ) -> Result<(), RecordError> {
        write(&mut self.to).map_err(RecordError::at(&self.path))
    }

    /// Writes out what is still buffered.
    pub(super) fn finish(&mut self) -> Result<(), RecordError> {
        self.write(Write::flush)
    }
}
