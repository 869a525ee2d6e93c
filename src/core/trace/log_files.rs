//! The logs of jobs that a cluster keeps: a folder, or a tree of folders, with a log and a
//! configuration for each job.
//!
//! ```text
//! done/2011/05/job_201105010000_0001_1304208000000_ann_words    the log
//! done/2011/05/job_201105010000_0001_conf.xml                   its job's configuration
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use super::error::TraceError;

/// Returns whether a trace is more than one file: a folder of logs, or a log with its configuration.
pub fn is_many(path: &Path) -> bool {
    path.is_dir() || configuration_of(path).is_some()
}

/// Returns the logs of a trace by falling paths: the file itself, or the files in a folder and below
/// in whose names the id of a job stands.
///
/// # Errors
/// If a folder cannot be read, or if no log is in it.
pub(super) fn log_files(path: &Path) -> Result<Vec<PathBuf>, TraceError> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let logs = log_files_in(path)?;
    if logs.is_empty() {
        let what = format!("no log of a job is in the folder {}", path.display());
        let hint = "the name of a log has the id of its job, such as `job_201105010000_0001`";
        return Err(TraceError::Unusable { what, hint: hint.into() });
    }
    Ok(logs)
}

fn log_files_in(folder: &Path) -> Result<Vec<PathBuf>, TraceError> {
    let unread = |source| TraceError::Read { path: folder.to_owned(), source };
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(unread)? {
        let entry = entry.map_err(unread)?;
        let (path, file) = (entry.path(), entry.file_name());
        let name = file.to_string_lossy();
        // HDFS keeps a checksum of each file in a hidden file.
        let is_other = name.starts_with('.') || name.ends_with(".xml") || name.ends_with(".crc");
        // A link to a folder may lead round in a circle.
        if entry.file_type().map_err(unread)?.is_dir() {
            found.extend(log_files_in(&path)?);
        } else if name.contains("job_") && !is_other && path.is_file() {
            found.push(path);
        }
    }
    found.sort_by(|one, other| other.cmp(one));
    Ok(found)
}

/// Returns the file with the configuration of the job whose log this is: it has the job's id in its
/// name, and stands beside the log.
pub(super) fn configuration_of(log: &Path) -> Option<PathBuf> {
    let name = log.file_name()?.to_str()?;
    let begin = name.find("job_")?;
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let cluster = begin + 4 + digits(&name[begin + 4..]);
    let number = name[cluster..].strip_prefix('_')?;
    let end = cluster + 1 + digits(number);
    // Hadoop 0.20 puts the host and the time of the JobTracker's start before the id.
    let beside =
        [&name[..end], &name[begin..end]].map(|id| log.with_file_name(format!("{id}_conf.xml")));
    beside.into_iter().find(|path| path != log && path.is_file())
}
