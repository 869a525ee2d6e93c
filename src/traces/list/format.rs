//! The formats of Mumakil's own lists: a table with a header, and YAML.

use super::file::{read_table, read_yaml, write_table, write_yaml};
use super::record::Row;
use mumakil_base::units::Bytes;
use mumakil_core::trace::{FirstFew, Record, Records};
use mumakil_scenario::workload::JobEntry;
use mumakil_scenario::workload::format::{ConversionTarget, Format, FormatContents, TraceJob};

/// The format of tables of jobs.
pub(crate) static JOB_TABLE: Format = Format {
    known_by: "Mumakil's own lists of jobs (CSV with a column `name`, or YAML)",
    has_line: is_header,
    target: Some(ConversionTarget { key: "csv", about: "Mumakil's own table", make }),
    ..Format::new(
        "a table of jobs",
        FormatContents::List {
            read: |file, see| {
                read_table(file, Records::open(file.path, file.strictness)?, &[], see)
            },
            write: |jobs, to| write_table(jobs, to),
        },
    )
};

/// The format of YAML lists of jobs.
pub(crate) static JOB_LIST: Format = Format {
    // A comment may come before the first entry.
    has_line: |line| ["-", "#", "jobs:"].iter().any(|start| line.starts_with(start.as_bytes())),
    target: Some(ConversionTarget { key: "yaml", about: "Mumakil's own list", make }),
    ..Format::new(
        "a list of jobs in YAML",
        FormatContents::List {
            read: |file, see| read_yaml(file, Records::open(file.path, file.strictness)?, see),
            write: |jobs, to| write_yaml(jobs, to),
        },
    )
};

fn make(entry: &JobEntry, _block: Bytes) -> Box<dyn TraceJob> {
    Box::new(entry.clone())
}

/// Returns whether a line is the header of a table: several words, known or not, or just `name`.
fn is_header(line: &[u8]) -> bool {
    let Ok(row) = Row::parse(line, &mut FirstFew::default()) else { return false };
    let cells = row.cells(row.separator());
    // A single word may begin a file of any kind; only `name` itself shows a table.
    cells.iter().any(|cell| cell == "name")
        || 1 < cells.len()
            && cells.iter().all(|cell| {
                cell.starts_with(|c: char| c.is_ascii_alphabetic())
                    && cell.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            })
}
