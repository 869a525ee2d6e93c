//! The names of a run's files, in one place for the code that writes the files, reads them or
//! recognises a folder by them.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// The results of a run in numbers; in a study's folder, the results of the study.
pub const SUMMARY: &str = "summary.json";

/// The events, one per line.
pub const EVENTS: &str = "events.jsonl";

/// The folder of the histograms' tables.
pub const HISTOGRAMS: &str = "histograms";

/// The ending of the names of the histograms' tables.
pub const HISTOGRAM: &str = ".hgrm";

/// All histograms in one log.
pub const LATENCY: &str = "latency.hlog";

/// Numbers and latencies for Prometheus.
pub const METRICS: &str = "metrics.prom";

/// The verdicts on the scenario's expectations.
pub const EXPECTATIONS: &str = "expectations.json";

/// The cost of the run on this computer.
pub const PERF: &str = "perf.json";

/// The report on the run, or on the study.
pub const REPORT: &str = "report.html";

/// The scenario with all its defaults; every run's folder has this file.
pub const RESOLVED: &str = "scenario.resolved.yaml";

/// The study; every study's folder has this file.
pub const STUDY: &str = "study.json";

/// The study with everything that its runs need; a study is resumed from this file.
pub const STUDY_RESOLVED: &str = "study.resolved.yaml";

/// The folder in a study's folder with copies of the files that its scenarios name.
pub const KEPT: &str = "files";

/// All files and folders that a run may write beside its tables.
pub const OF_A_RUN: [&str; 9] =
    [RESOLVED, SUMMARY, EVENTS, EXPECTATIONS, REPORT, LATENCY, METRICS, HISTOGRAMS, PERF];

/// Returns the name of a study's copy of a file: it consists of the hash and the file's name. Files
/// with other contents have other names, so no copy is ever replaced.
pub fn kept_name(file: &Path, sha256: &str) -> Option<String> {
    let name = file.file_name()?.to_string_lossy();
    // 64 bits of the hash are enough to distinguish the files of a study.
    Some(format!("{}-{name}", sha256.get(..16)?.to_lowercase()))
}

/// Returns a study's copy of the file with this name and hash, if the folder is the study's or
/// inside it. The content is not checked here: the reader compares the SHA-256.
pub fn kept(folder: &Path, file: &Path, sha256: &str) -> Option<PathBuf> {
    let name = kept_name(file, sha256)?;
    // `absolute` refuses an empty path, which is the folder of a file in the current folder.
    let folder = std::path::absolute(folder.join(".")).ok()?;
    let mut places = folder.ancestors().map(|around| around.join(KEPT).join(&name));
    places.find(|place| place.is_file())
}

/// Opens a file that a user has named. A named pipe is refused, since opening it could wait for a
/// writer for ever. Pipes that a shell has opened, `<(…)` and `/dev/stdin`, have a writer.
pub fn open(path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        // A pipe that a shell has opened has a name only in /dev or /proc.
        if fs::metadata(path)?.file_type().is_fifo()
            && !path.starts_with("/dev")
            && fs::canonicalize(path).is_ok()
        {
            let why =
                "it is a named pipe, which may never end; save it to a file first, or use `<(…)`";
            return Err(io::Error::other(why));
        }
    }
    File::open(path)
}

/// Opens a file that Mumakil has written itself. Anything else in its place is refused: a device
/// may have no end, and a named pipe no writer.
pub fn open_own(path: &Path) -> io::Result<File> {
    own_length(path)?;
    File::open(path)
}

/// Returns the length in bytes of a file that Mumakil has written itself, without opening it.
///
/// # Errors
/// If there is no such file, or something else in its place.
pub fn own_length(path: &Path) -> io::Result<u64> {
    let found = fs::metadata(path)?;
    if found.is_file() {
        Ok(found.len())
    } else {
        Err(io::Error::other("it is not a regular file; move it elsewhere"))
    }
}

/// Reads the text of a file that Mumakil has written itself.
pub fn own_text(path: &Path) -> io::Result<String> {
    io::read_to_string(open_own(path)?)
}
