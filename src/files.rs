//! What the files of a run are called: once, for who writes them, who reads them, and who knows a
//! folder by them.

use std::fs::{self, File};
use std::io;
use std::path::Path;

/// A run in numbers; in a study's folder, a study in numbers.
pub const SUMMARY: &str = "summary.json";

/// A row for each job.
pub const JOBS: &str = "jobs.csv";

/// A row for each attempt.
pub const TASKS: &str = "tasks.csv";

/// Slots over time.
pub const TIMELINE: &str = "timeline.csv";

/// How long each job takes alone.
pub const ALONE: &str = "alone.csv";

/// A row for each chain of jobs.
pub const CHAINS: &str = "chains.csv";

/// A row for each change of what befalls machines.
pub const FAULTS: &str = "faults.csv";

/// What each job held slots for.
pub const WASTE: &str = "waste.csv";

/// What policies refused and ordered, and why.
pub const DECISIONS: &str = "decisions.csv";

/// A line for each fact.
pub const EVENTS: &str = "events.jsonl";

/// The folder of a table for each histogram.
pub const HISTOGRAMS: &str = "histograms";

/// What the name of such a table ends in.
pub const HISTOGRAM: &str = ".hgrm";

/// All histograms in one log.
pub const LATENCY: &str = "latency.hlog";

/// What became of the scenario's expectations.
pub const EXPECTATIONS: &str = "expectations.json";

/// What the run cost on this machine.
pub const PERF: &str = "perf.json";

/// The run, or the study, on one page.
pub const REPORT: &str = "report.html";

/// The scenario with all its defaults, which every folder of a run has.
pub const RESOLVED: &str = "scenario.resolved.yaml";

/// What a study is, which every folder of a study has.
pub const STUDY: &str = "study.json";

/// The tables that are large, and may be written as Parquet, too.
pub const LARGE: [&str; 3] = [JOBS, TASKS, TIMELINE];

/// All that a run may leave, but for Parquet.
pub const OF_A_RUN: [&str; 16] = [
    RESOLVED,
    SUMMARY,
    JOBS,
    TASKS,
    TIMELINE,
    EVENTS,
    ALONE,
    CHAINS,
    FAULTS,
    WASTE,
    DECISIONS,
    EXPECTATIONS,
    REPORT,
    LATENCY,
    HISTOGRAMS,
    PERF,
];

/// Returns what a table is called that is written as Parquet.
pub fn parquet(table: &str) -> String {
    table.replace(".csv", ".parquet")
}

/// Opens a file that a user has named. A named pipe is refused: to open it waits for somebody who
/// writes into it, maybe for ever. Pipes that a shell has opened, `<(…)` and `/dev/stdin`, have
/// somebody.
///
/// # Errors
/// If it cannot be opened.
pub fn open(path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        // What a shell has opened has a name in /dev or /proc, and no place.
        let has_place = || !path.starts_with("/dev") && fs::canonicalize(path).is_ok();
        if fs::metadata(path)?.file_type().is_fifo() && has_place() {
            let why =
                "it is a named pipe, which may never end; save it to a file first, or use `<(…)`";
            return Err(io::Error::other(why));
        }
    }
    File::open(path)
}
