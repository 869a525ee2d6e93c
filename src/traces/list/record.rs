//! The records of Mumakil's own lists, as a table or as YAML: cells and entries, not interpreted
//! yet.
//!
//! A table is CSV: a header of names, and below it a line for each job. Cells are separated by
//! commas, or by semicolons or tabs if the header has these. An entry of a YAML list begins with a
//! dash at the beginning of a line. So files of both kinds are read job by job, whatever their
//! size, and a mistake in one job is reported for that job.

use serde_yaml::Mapping;

use mumakil_core::trace::{FirstFew, Framing, Record, RecordFault, clip};

/// A row of a table of jobs: the header, or a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    line: String,
}

impl Row {
    /// Returns the separator of a header: the character that divides it into the most cells.
    pub fn separator(&self) -> u8 {
        // If there are several maxima, `max_by_key` returns the last, so a header of one column is
        // separated by commas.
        *b"\t;,".iter().max_by_key(|separator| self.cells(**separator).len()).unwrap_or(&b',')
    }

    /// Returns the cells, without surrounding blanks.
    pub fn cells(&self, separator: u8) -> Vec<String> {
        let mut plain = csv::ReaderBuilder::new();
        // `flexible`: the reader reports rows with too many or too few cells, with their position.
        plain.has_headers(false).flexible(true).delimiter(separator).trim(csv::Trim::All);
        let row = plain.from_reader(self.line.as_bytes()).into_records().next();
        // `csv` always finds a row in a line that is not empty.
        let row = row.and_then(Result::ok).unwrap_or_default();
        row.iter().map(str::to_owned).collect()
    }
}

impl Record for Row {
    const NAME: &'static str = "row of a table of jobs";
    const FRAMING: Framing = Framing::Line;

    fn parse(line: &[u8], _: &mut FirstFew<String>) -> Result<Self, RecordFault> {
        let line = str::from_utf8(line.strip_suffix(b"\r").unwrap_or(line))
            .map_err(|_| RecordFault::new("the line is not a text in UTF-8"))?;
        if line.is_empty() {
            return Err(RecordFault::new("the line is empty"));
        }
        if line.contains('\r') {
            return Err(RecordFault::new("a carriage return within the line"));
        }
        // A CSV reader would read on into the next lines, and the jobs on these lines would be
        // lost.
        if line.matches('"').count() % 2 == 1 {
            return Err(RecordFault::new("a quote is not closed").hint("write a job on one line"));
        }
        Ok(Self { line: line.to_owned() })
    }
}

/// An entry of a list of jobs in YAML.
#[derive(Clone, Debug, PartialEq)]
pub struct ListEntry {
    /// The fields of the entry.
    pub fields: Mapping,
}

impl Record for ListEntry {
    const NAME: &'static str = "entry of a list of jobs";
    const FRAMING: Framing = Framing::Entry;

    fn parse(text: &[u8], _: &mut FirstFew<String>) -> Result<Self, RecordFault> {
        let read = serde_yaml::from_slice(text);
        let [fields]: [Mapping; 1] = read.map_err(|error: serde_yaml::Error| {
            // serde_yaml counts lines from the entry; the reader turns `at` into the line of the
            // file.
            let text = error.to_string();
            let what = text.split(" at line ").next().unwrap_or_default();
            let at = error.location().map_or(0, |location| location.index());
            RecordFault::new(clip(what.trim_start_matches(".[0]: "))).at(at)
        })?;
        Ok(Self { fields })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use mumakil_core::trace::{Records, Strictness};

    fn read<T: Record>(text: &str) -> Vec<Result<T, String>> {
        let text = Cursor::new(text.to_owned());
        let records = Records::from_reader("t", text, Strictness::Strict).unwrap();
        records.map(|record| record.map_err(|error| error.to_string())).collect()
    }

    #[test]
    fn a_row_is_a_line_of_cells() {
        for text in [
            "name,after\r\na,\"[b, c]\"\n",
            "\"name\", after\n a ,\"[b, c]\"\n",
            "name;after\na;[b, c]\n",
            "\u{feff}name\tafter\na\t[b, c]\n",
        ] {
            let rows: Vec<Row> = read(text).into_iter().map(Result::unwrap).collect();
            let separator = rows[0].separator();
            let cells: Vec<_> = rows.iter().map(|row| row.cells(separator)).collect();
            assert_eq!(cells, [["name", "after"], ["a", "[b, c]"]], "{text:?}");
        }
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
        let entries = read::<ListEntry>(text);
        let fields = |text: &str| Ok(ListEntry { fields: serde_yaml::from_str(text).unwrap() });
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
            assert_eq!(read::<ListEntry>(text).pop().unwrap().unwrap_err(), message);
        }
    }
}
