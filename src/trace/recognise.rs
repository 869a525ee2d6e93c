//! Which format a trace file has: told by its first record, not by its name.

use std::fmt;
use std::path::Path;

use super::TraceError;
use super::error::Fault;
use super::list::Row;
use super::text::Text;
use super::{FirstFew, Record, json};

/// A format of trace files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// SWIM: [`super::swim::SwimJob`].
    Swim,
    /// Rumen's job trace: [`super::rumen::LoggedJob`].
    RumenJobs,
    /// Rumen's topology: [`super::rumen::LoggedTopology`].
    RumenTopology,
    /// Jobs of the SLS: [`super::sls::SlsJob`].
    SlsJobs,
    /// Nodes of the SLS: [`super::sls::SlsRack`].
    SlsNodes,
    /// The generator of the SLS: [`super::sls::Synth`].
    SlsSynth,
    /// A table of jobs, of our own: [`super::list::Row`].
    JobTable,
    /// A list of jobs in YAML, of our own: [`super::list::Entry`].
    JobList,
}

const HINT: &str = "known are SWIM (6 to 8 columns, separated by tabs), Rumen's jobs (objects with \
    `jobID`) and topology (`name`, `children`), the SLS' jobs (`job.tasks`), nodes (`rack`, `nodes`) \
    and generator (`workloads`), and Mumakil's own lists of jobs (CSV with a column `name`, or YAML)";

impl Format {
    /// Returns the format of objects with an attribute of this name.
    fn with(attribute: &str) -> Option<Self> {
        Some(match attribute {
            "jobID" => Self::RumenJobs,
            "children" => Self::RumenTopology,
            "num.nodes" => Self::SlsJobs,
            "rack" => Self::SlsNodes,
            "workloads" => Self::SlsSynth,
            name if name.starts_with("job.") => Self::SlsJobs,
            _ => return None,
        })
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Swim => "SWIM",
            Self::RumenJobs => "Rumen's jobs",
            Self::RumenTopology => "Rumen's topology",
            Self::SlsJobs => "the SLS' jobs",
            Self::SlsNodes => "the SLS' nodes",
            Self::SlsSynth => "the SLS' generator",
            Self::JobTable => "a table of jobs",
            Self::JobList => "a list of jobs in YAML",
        })
    }
}

/// Returns the format of a file, as its first record shows it.
///
/// # Errors
/// If the file cannot be read or has none of the formats.
pub fn recognise(path: &Path) -> Result<Format, TraceError> {
    first_record(Text::open(path)?)
}

fn first_record(mut text: Text) -> Result<Format, TraceError> {
    let mut record = Vec::new();
    let (start, what) = match text.peek()? {
        None => (None, "the file is empty".to_owned()),
        Some(b'{') => {
            // Its beginning may tell the format though its end is missing.
            let start = text.object(&mut record);
            let attributes = json::attributes(&record);
            if let Some(format) = attributes.iter().find_map(|(name, _)| Format::with(name)) {
                return Ok(format);
            }
            (start?, "an object, but none of a known trace".to_owned())
        }
        Some(_) => {
            let start = text.line(&mut record)?;
            let columns = record.split(|byte| *byte == b'\t').count();
            let begins = |words: &[&str]| words.iter().any(|w| record.starts_with(w.as_bytes()));
            if begins(&["-", "#", "jobs:"]) {
                return Ok(Format::JobList);
            }
            if is_header(&record) {
                return Ok(Format::JobTable);
            }
            if (6..=8).contains(&columns) {
                return Ok(Format::Swim);
            }
            if begins(&["["]) {
                let place = start.unwrap_or(text.at());
                let fault = Fault::new("a list in brackets").hint(BRACKETS);
                return Err(fault.within(text.path(), place, &[]));
            }
            let s = if columns == 1 { "" } else { "s" };
            (start, format!("a line of {columns} column{s}, not of a known trace"))
        }
    };
    let place = start.unwrap_or(text.at());
    Err(Fault::new(what).hint(HINT).within(text.path(), place, &[]))
}

const BRACKETS: &str = "write JSON objects one after the other, without `[ , ]`, and begin each \
    entry of a YAML list with `- ` on a line of its own";

/// Returns whether a line is the header of a table: several names, right or wrong, or just `name`.
fn is_header(line: &[u8]) -> bool {
    let Ok(row) = Row::parse(line, &mut FirstFew::default()) else { return false };
    let cells = row.cells(row.separator());
    let is_word = |cell: &String| {
        cell.starts_with(|c: char| c.is_ascii_alphabetic())
            && cell.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    cells.iter().any(|cell| cell == "name") || 1 < cells.len() && cells.iter().all(is_word)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn of(text: &str) -> Result<Format, String> {
        let text = Text::new(Path::new("t"), Box::new(Cursor::new(text.to_owned()))).unwrap();
        first_record(text).map_err(|error| error.to_string())
    }

    #[test]
    fn a_format_is_told_by_the_first_record() {
        for (text, format) in [
            ("job0\t9\t9\tmany\t2\t3\n", Format::Swim),
            (r#" {"user": {"a": [1]}, "jobID": "j"}"#, Format::RumenJobs),
            (r#"{"jobID": "j", "submitTime": oops}"#, Format::RumenJobs),
            (r#"{"jobID": "j", "mapTasks": ["#, Format::RumenJobs),
            (r#"{"name": "<root>", "children": null}"#, Format::RumenTopology),
            (r#"{"am.type": "mapreduce", "job.id": "j"}"#, Format::SlsJobs),
            (r#"{"num.nodes": 3}"#, Format::SlsJobs),
            (r#"{"rack": "r", "nodes": []}"#, Format::SlsNodes),
            (r#"{"description": "d", "workloads": []}"#, Format::SlsSynth),
            ("submit,name\n", Format::JobTable),
            ("\u{feff}name\n", Format::JobTable),
            ("\"name\",\"maps\"\n", Format::JobTable),
            ("maps; name\n", Format::JobTable),
            ("name\tsubmit\tmaps\treduces\tinput\tshuffle\n", Format::JobTable),
            ("job,maps\n", Format::JobTable),
            ("# jobs\n- name: a\n", Format::JobList),
            ("jobs:\n- name: a\n", Format::JobList),
        ] {
            assert_eq!(of(text), Ok(format), "{text}");
        }
    }

    #[test]
    fn what_was_tried_is_said() {
        let hint = format!("\n  hint: {HINT}");
        for (text, what) in [
            ("\n \n", "t:3: the file is empty"),
            ("\n{\"a\": 1}", "t:2: an object, but none of a known trace"),
            ("name: x\n", "t:1: a line of 1 column, not of a known trace"),
        ] {
            assert_eq!(of(text), Err(format!("{what}{hint}")));
        }
        let error = of("[{name: a, maps: 3}]\n").unwrap_err();
        assert_eq!(error, format!("t:1: a list in brackets\n  hint: {BRACKETS}"));
        assert_eq!(of("{").unwrap_err(), "t:1: the file ends in the middle of this object");
    }
}
