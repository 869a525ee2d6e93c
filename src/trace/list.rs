//! Mumakil's own lists of jobs, as a table or as YAML: cells and entries, nothing interpreted.
//!
//! A table is CSV, each job a row on one line below a header of names; an entry of a YAML list
//! begins with a dash at the beginning of a line. So both are read job by job, whatever the size
//! of the file, and a mistake in one job is told as its own.

use serde_yaml::Mapping;

use super::error::{Fault, clip};
use super::records::Framing;
use super::{FirstFew, Record};

/// A row of a table of jobs: the header, or a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The cells.
    pub cells: Vec<String>,
}

impl Record for Row {
    const NAME: &'static str = "row of a table of jobs";
    const FRAMING: Framing = Framing::Line;

    fn parse(line: &[u8], _: &mut FirstFew<String>) -> Result<Self, Fault> {
        if line.iter().filter(|byte| **byte == b'"').count() % 2 == 1 {
            return Err(Fault::new("a quote is not closed").hint("write a job on one line"));
        }
        let mut rows =
            csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(line);
        let mut rows = rows.records();
        match (rows.next(), rows.next()) {
            (None, _) => Err(Fault::new("the line is empty")),
            (Some(Err(_)), _) => Err(Fault::new("the line is not a text in UTF-8")),
            (Some(Ok(row)), None) => Ok(Self { cells: row.iter().map(str::to_owned).collect() }),
            (Some(Ok(_)), Some(_)) => Err(Fault::new("a carriage return within the line")),
        }
    }
}

/// An entry of a list of jobs in YAML.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its fields.
    pub fields: Mapping,
}

impl Record for Entry {
    const NAME: &'static str = "entry of a list of jobs";
    const FRAMING: Framing = Framing::Entry;

    fn parse(text: &[u8], _: &mut FirstFew<String>) -> Result<Self, Fault> {
        let read = serde_yaml::from_slice(text);
        let [fields]: [Mapping; 1] = read.map_err(|error: serde_yaml::Error| {
            // Its place is told as that in the file.
            let what = error.to_string();
            let what = what.split(" at line ").next().unwrap_or_default();
            let at = error.location().map_or(0, |location| location.index());
            Fault { at, ..Fault::new(clip(what.trim_start_matches(".[0]: "))) }
        })?;
        Ok(Self { fields })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use crate::trace::{Records, Strictness};

    fn read<T: Record>(text: &str) -> Vec<Result<T, String>> {
        let text = Cursor::new(text.to_owned());
        let records = Records::from_reader("t", text, Strictness::Strict).unwrap();
        records.map(|record| record.map_err(|error| error.to_string())).collect()
    }

    #[test]
    fn a_row_is_a_line_of_cells() {
        let row = |cells: &[&str]| Ok(Row { cells: cells.iter().map(|c| (*c).into()).collect() });
        assert_eq!(
            read::<Row>("name,after\r\na,\"[b, c]\"\n"),
            [row(&["name", "after"]), row(&["a", "[b, c]"])]
        );
        for (text, message) in [
            ("a\n\n", "t:2: the line is empty"),
            ("\"a\nb\"", "t:1: a quote is not closed\n  hint: write a job on one line"),
            ("a\rb\n", "t:1: a carriage return within the line"),
        ] {
            assert_eq!(read::<Row>(text).pop().unwrap().unwrap_err(), message);
        }
    }

    #[test]
    fn an_entry_goes_from_dash_to_dash() {
        let text = "# jobs\n---\n- name: a\n  after:\n  - b\n\n# then\n- {name: c}\n";
        let entries = read::<Entry>(text);
        let fields = |text: &str| Ok(Entry { fields: serde_yaml::from_str(text).unwrap() });
        assert_eq!(entries, [fields("{name: a, after: [b]}"), fields("{name: c}")]);
        for (text, message) in [
            (
                "- name: a\n- b\n",
                "t:2: invalid type: string \"b\", expected a YAML mapping (byte 12)",
            ),
            (
                "jobs:\n- name: a\n",
                "t:1: `jobs:` where an entry should begin\n  hint: begin each with `- ` at the beginning of a line",
            ),
        ] {
            assert_eq!(read::<Entry>(text).pop().unwrap().unwrap_err(), message);
        }
    }
}
