//! Hadoop's job histories among the formats of traces.

use crate::{history, jhist};
use mumakil_core::trace::LogForm;
use mumakil_scenario::workload::format::{Format, FormatContents};
use mumakil_traces::rumen::{LoggedJob, RUMEN_JOBS, read_jobs};

/// The form of the logs, from which Rumen makes its jobs.
pub static LOGS: LogForm<LoggedJob> = LogForm {
    heads: &[history::HEAD, jhist::HEAD, jhist::BINARY_HEAD],
    parse: |log, unknown, broken| match log.starts_with(b"Avro") {
        true => jhist::parse(log, unknown, broken),
        false => history::parse(log, unknown, broken),
    },
};

/// The format of the logs.
pub(crate) static JOB_HISTORY: Format = Format {
    known_by: "Hadoop's job history (`Meta VERSION=` or `Avro-Json` at its head)",
    has_line: |line| LOGS.begins_with(line),
    // Its jobs are read into Rumen's records, and are written as such.
    written_as: Some(&RUMEN_JOBS),
    logs: Some(&LOGS),
    is_wall_clock: true,
    ..Format::new("Hadoop's job history", FormatContents::Jobs(read_jobs))
};
