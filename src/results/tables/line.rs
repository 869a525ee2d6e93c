//! The lines of a table's file, as CSV has them: cells between commas, in quotes where they have to
//! be.
//!
//! Tables have millions of lines of short cells, mostly numbers. So a line is read and written here
//! without the generality of a library for CSV.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::str::Utf8Error;

use super::cell::CellValue;
use super::read::ReadError;

/// The most bytes of a row.
// Chosen: rows have some hundred bytes. Without a limit, a damaged file could be one row, in memory as
// a whole.
const LARGEST_ROW: u64 = 1 << 20;

/// Adds a line with these cells.
pub fn write_line<'c>(cells: impl IntoIterator<Item = CellValue<'c>>, to: &mut Vec<u8>) {
    for cell in cells {
        match cell {
            CellValue::Empty => {}
            CellValue::Whole(number) => to.extend(itoa::Buffer::new().format(number).as_bytes()),
            CellValue::Decimal(number) => to.extend(ryu::Buffer::new().format(number).as_bytes()),
            CellValue::Flag(flag) => to.extend(if flag { "true" } else { "false" }.as_bytes()),
            CellValue::Text(text) if text.contains([',', '"', '\n', '\r']) => {
                to.push(b'"');
                to.extend(text.replace('"', "\"\"").as_bytes());
                to.push(b'"');
            }
            CellValue::Text(text) => to.extend(text.as_bytes()),
        }
        to.push(b',');
    }
    // A row ends where its last cell does.
    to.pop();
    to.push(b'\n');
}

/// The rows of a file, read one by one.
pub(super) struct RowReader<'p, R> {
    from: BufReader<R>,
    /// The path of the file, for errors.
    path: &'p Path,
    /// The bytes of the row, as they are in the file.
    bytes: Vec<u8>,
    row: CellTexts,
    /// The number of lines that were read.
    lines: u64,
}

/// The texts of a row's cells.
#[derive(Debug, Default)]
pub(super) struct CellTexts {
    /// The cells without their quotes, with a byte after each.
    text: String,
    /// Where in the text each cell ends.
    ends: Vec<usize>,
}

impl<'p, R: Read> RowReader<'p, R> {
    pub(super) fn new(from: R, path: &'p Path) -> Self {
        let from = BufReader::new(from);
        Self { from, path, bytes: Vec::new(), row: CellTexts::default(), lines: 0 }
    }

    /// Reads the next row; returns the number of its first line, from 1, and its cells. Lines without
    /// any text are no rows.
    pub(super) fn next(&mut self) -> Result<Option<(u64, &CellTexts)>, ReadError> {
        loop {
            let first = self.lines + 1;
            self.read(first)?;
            if self.bytes.is_empty() {
                return Ok(None);
            }
            if !self.bytes.trim_ascii_end().is_empty() {
                let split = self.row.split(&self.bytes);
                split.map_err(|error| ReadError::row(self.path, first, error.to_string()))?;
                return Ok(Some((first, &self.row)));
            }
        }
    }

    /// Reads the bytes of a row, which begins in line `first`: a line, or several of them if a cell in
    /// quotes has ends of lines.
    fn read(&mut self, first: u64) -> Result<(), ReadError> {
        self.bytes.clear();
        let mut is_in_quotes = false;
        loop {
            let before = self.bytes.len();
            let mut line = self.from.by_ref().take(LARGEST_ROW - before as u64);
            let read = line
                .read_until(b'\n', &mut self.bytes)
                .map_err(|source| ReadError::Read { path: self.path.to_owned(), source })?;
            if line.limit() == 0 {
                let message = format!("the row is larger than {} MiB", LARGEST_ROW >> 20);
                return Err(ReadError::row(self.path, first, message));
            }
            self.lines += u64::from(0 < read);
            let quotes = self.bytes[before..].iter().filter(|byte| **byte == b'"').count();
            is_in_quotes ^= quotes % 2 == 1;
            // A file may end within a cell.
            if !is_in_quotes || read == 0 {
                return Ok(());
            }
        }
    }
}

impl CellTexts {
    /// Takes the cells of a row.
    fn split(&mut self, row: &[u8]) -> Result<(), Utf8Error> {
        let row = str::from_utf8(row)?;
        let row = row.strip_suffix('\n').unwrap_or(row);
        let row = row.strip_suffix('\r').unwrap_or(row);
        self.text.clear();
        self.ends.clear();
        let mut is_in_quotes = false;
        if !row.contains('"') {
            self.text.push_str(row);
            // A loop: an iterator of unknown length asks for room at each byte.
            for (at, byte) in row.bytes().enumerate() {
                if byte == b',' {
                    self.ends.push(at);
                }
            }
        } else {
            let mut letters = row.chars().peekable();
            while let Some(letter) = letters.next() {
                match letter {
                    // Two quotes within quotes are one that belongs to the text.
                    '"' if is_in_quotes && letters.next_if_eq(&'"').is_some() => {
                        self.text.push('"')
                    }
                    '"' => is_in_quotes = !is_in_quotes,
                    ',' if !is_in_quotes => {
                        self.ends.push(self.text.len());
                        self.text.push(',');
                    }
                    _ => self.text.push(letter),
                }
            }
        }
        self.ends.push(self.text.len());
        Ok(())
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn get(&self, cell: usize) -> Option<&str> {
        let end = *self.ends.get(cell)?;
        let start = cell.checked_sub(1).map_or(0, |before| self.ends[before] + 1);
        Some(&self.text[start..end])
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).filter_map(|cell| self.get(cell))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rows(file: &[u8]) -> Vec<(u64, Vec<String>)> {
        let mut reader = RowReader::new(file, Path::new("f.csv"));
        let mut rows = Vec::new();
        while let Some((line, row)) = reader.next().unwrap() {
            rows.push((line, row.iter().map(str::to_owned).collect()));
        }
        rows
    }

    #[test]
    fn empty_lines_are_no_rows_and_a_row_may_have_several_lines() {
        let found = rows(b"a,\"b\n\"\"c\"\"\",\r\n\n,d");
        let expected = [(1, vec!["a", "b\n\"c\"", ""]), (4, vec!["", "d"])];
        assert_eq!(
            found,
            expected.map(|(line, row)| (line, row.iter().map(|it| it.to_string()).collect()))
        );
    }

    proptest! {
        /// A library reads the same rows, and these are the ones that were written.
        #[test]
        fn rows_that_are_written_are_read_by_us_and_by_others(
            table in prop::collection::vec(prop::collection::vec("[a\",\n\r é]{0,4}", 3), 0..5),
        ) {
            let mut file = Vec::new();
            for row in &table {
                write_line(row.iter().map(|cell| CellValue::Text(cell)), &mut file);
            }
            let ours: Vec<Vec<String>> = rows(&file).into_iter().map(|(_, row)| row).collect();
            prop_assert_eq!(&ours, &table);
            let mut theirs = csv::ReaderBuilder::new().has_headers(false).from_reader(&*file);
            let theirs: Vec<Vec<String>> =
                theirs.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect();
            prop_assert_eq!(theirs, table);
        }
    }
}
