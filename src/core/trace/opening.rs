//! The first record of a trace file reveals its format; the file's name does not matter.
//!
//! This module does not know the formats: the workload's `format` asks each of them.

use std::path::{Path, PathBuf};

use super::error::{RecordFault, TextPlace, TraceError};
use super::json;
use super::log_files::log_files;
use super::text::TraceText;

/// The beginning of a file, which shows the file's format.
pub struct Opening {
    first: FirstRecord,
    path: PathBuf,
    /// Where the first record begins, or why it cannot be read.
    place: Result<TextPlace, TraceError>,
}

/// The first record of a file, reduced to the parts that reveal the format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FirstRecord {
    /// The file is empty.
    Nothing,
    /// A JSON object with these attributes; of a broken object, only the attributes before the break.
    Object(Vec<String>),
    /// Any other line.
    Line(Vec<u8>),
}

const BRACKETS: &str = "write JSON objects one after the other, without `[ , ]`, and begin each \
    entry of a YAML list with `- ` on a line of its own";

impl Opening {
    /// Reads the first record of a file, plain or gzipped, or of the first log in a folder.
    pub fn read(path: &Path) -> Result<Self, TraceError> {
        let logs = if path.is_dir() { log_files(path)? } else { Vec::new() };
        Self::of(TraceText::open(logs.last().map_or(path, PathBuf::as_path))?)
    }

    fn of(mut text: TraceText) -> Result<Self, TraceError> {
        let mut record = Vec::new();
        let (first, start) = match text.peek()? {
            None => (FirstRecord::Nothing, Ok(None)),
            Some(b'{') => {
                // A record without its end may still reveal the format, so no `?` here: an object
                // that breaks off shows its first attributes.
                let start = text.object(&mut record);
                let attributes = json::attributes(&record).into_iter().map(|(name, _)| name);
                (FirstRecord::Object(attributes.collect()), start)
            }
            Some(_) => {
                let start = text.line(&mut record)?;
                (FirstRecord::Line(record), Ok(start))
            }
        };
        let place = start.map(|start| start.unwrap_or(text.at()));
        Ok(Self { first, path: text.path().to_owned(), place })
    }

    /// Returns the first record.
    pub fn first(&self) -> &FirstRecord {
        &self.first
    }

    /// Returns the error for a file of unknown format; `known` lists the formats that are known.
    pub fn unknown(self, known: String) -> TraceError {
        let place = match self.place {
            Ok(place) => place,
            Err(error) => return error,
        };
        let fault = match &self.first {
            FirstRecord::Nothing => RecordFault::new("the file is empty").hint(known),
            FirstRecord::Object(_) => {
                RecordFault::new("a JSON object, but of no known trace format").hint(known)
            }
            FirstRecord::Line(line) if line.starts_with(b"[") => {
                RecordFault::new("a list in brackets").hint(BRACKETS)
            }
            FirstRecord::Line(line) => {
                let columns = line.split(|byte| *byte == b'\t').count();
                let s = if columns == 1 { "" } else { "s" };
                RecordFault::new(format!("a line of {columns} column{s}, of no known trace format"))
                    .hint(known)
            }
        };
        fault.within(&self.path, place, &[])
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn opening(text: &str) -> Opening {
        let text = Cursor::new(text.to_owned());
        Opening::of(TraceText::new(Path::new("t"), Box::new(text)).unwrap()).unwrap()
    }

    #[test]
    fn the_attributes_of_a_broken_object_are_those_before_the_break() {
        let attributes = |text: &str| match opening(text).first {
            FirstRecord::Object(attributes) => attributes,
            other => panic!("{other:?}"),
        };
        assert_eq!(attributes(r#" {"a": {"b": 1}, "c": 2}"#), ["a", "c"]);
        assert_eq!(attributes(r#"{"a": 1, "b": oops}"#), ["a"]);
        assert_eq!(attributes(r#"{"a": 1, "b": ["#), ["a"]);
    }

    #[test]
    fn a_record_in_place_of_a_known_one_is_named() {
        for (text, what) in [
            ("\n \n", "t:3: the file is empty\n  hint: known"),
            ("\n{\"a\": 1}", "t:2: a JSON object, but of no known trace format\n  hint: known"),
            ("name: x\n", "t:1: a line of 1 column, of no known trace format\n  hint: known"),
            ("{", "t:1: the file ends in the middle of this object"),
        ] {
            assert_eq!(opening(text).unknown("known".to_owned()).to_string(), what);
        }
        let error = opening("[{name: a, maps: 3}]\n").unknown(String::new()).to_string();
        assert_eq!(error, format!("t:1: a list in brackets\n  hint: {BRACKETS}"));
    }
}
