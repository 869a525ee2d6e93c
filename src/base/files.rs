//! The names of a run's files: once, for the code that writes them, that reads them, and that knows a
//! folder by them.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// A run in numbers; in a study's folder, a study in numbers.
pub const SUMMARY: &str = "summary.json";

/// A line for each fact.
pub const EVENTS: &str = "events.jsonl";

/// The folder of a table for each histogram.
pub const HISTOGRAMS: &str = "histograms";

/// The ending of such a table's name.
pub const HISTOGRAM: &str = ".hgrm";

/// All histograms in one log.
pub const LATENCY: &str = "latency.hlog";

/// The verdicts on the scenario's expectations.
pub const EXPECTATIONS: &str = "expectations.json";

/// The cost of the run on this machine.
pub const PERF: &str = "perf.json";

/// The run, or the study, on one page.
pub const REPORT: &str = "report.html";

/// The scenario with all its defaults, which every folder of a run has.
pub const RESOLVED: &str = "scenario.resolved.yaml";

/// The study, which every folder of a study has.
pub const STUDY: &str = "study.json";

/// The study itself with all that its runs are made of, from which a study's folder goes on.
pub const STUDY_RESOLVED: &str = "study.resolved.yaml";

/// The folder in a study's folder that has the files that its scenarios name.
pub const KEPT: &str = "files";

/// All that a run may leave beside its tables.
pub const OF_A_RUN: [&str; 8] =
    [RESOLVED, SUMMARY, EVENTS, EXPECTATIONS, REPORT, LATENCY, HISTOGRAMS, PERF];

/// Returns what a file that scenarios name is called where a study keeps it: by its content and by its
/// name. Files of other content have other names, so none of them is ever replaced.
pub fn kept_name(file: &Path, sha256: &str) -> Option<String> {
    let name = file.file_name()?.to_string_lossy();
    // 64 bits of the digest: enough to tell the files of a study apart.
    Some(format!("{}-{name}", sha256.get(..16)?.to_lowercase()))
}

/// Returns the file of this name and content that a study keeps, if the study's folder is this one
/// or lies around it. The content is not checked: the reader compares the SHA-256.
pub fn kept(folder: &Path, file: &Path, sha256: &str) -> Option<PathBuf> {
    let name = kept_name(file, sha256)?;
    // `absolute` refuses an empty path, which is what
    // a file in the current folder has as its folder.
    let folder = std::path::absolute(folder.join(".")).ok()?;
    let mut places = folder.ancestors().map(|around| around.join(KEPT).join(&name));
    places.find(|place| place.is_file())
}

/// Opens a file that a user has named. A named pipe is refused: opening it waits for a writer,
/// maybe for ever. Pipes that a shell has opened, `<(…)` and `/dev/stdin`, have one.
///
/// # Errors
/// If it cannot be opened.
pub fn open(path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        // A pipe that a shell has opened has a name in /dev or /proc only: it stands nowhere else.
        let has_place = || !path.starts_with("/dev") && fs::canonicalize(path).is_ok();
        if fs::metadata(path)?.file_type().is_fifo() && has_place() {
            let why =
                "it is a named pipe, which may never end; save it to a file first, or use `<(…)`";
            return Err(io::Error::other(why));
        }
    }
    File::open(path)
}
