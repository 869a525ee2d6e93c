//! Reads any bytes as logs. The fuzz target `log` and the tests use it.

use std::fs;
use std::path::Path;

use mumakil::trace::{Records, Strictness, TraceError};
use mumakil::traces::rumen::LoggedJob;
use mumakil::workload::format::TraceJob;
use mumakil_logs::LOGS;
use mumakil_logs::cluster::LogReading;

/// Reads bytes as logs, writes their jobs as Rumen's, and checks that these read back the same. Infers
/// a cluster from them. Errors name their line.
pub(crate) fn log(bytes: &[u8]) {
    let folder = tempfile::tempdir().expect("there is room for a file");
    let [path, again] = ["log", "again"].map(|name| folder.path().join(name));
    fs::write(&path, bytes).expect("there is room for a file");
    let [strict, mut lenient] = [Strictness::Strict, Strictness::Lenient].map(|how| {
        let _ = LogReading::read(&path, 0.5, how).map_err(|error| blame(&error));
        read(&path, how)
    });
    assert_eq!(lenient[..strict.len()], strict, "both reads agree up to the first error");
    let mut written = Vec::new();
    for job in &mut lenient {
        // Rumen keeps the last priority.
        let last = job.priority_changes.last().map(|(_, last)| *last);
        job.priority = last.or(job.priority);
        job.priority_changes.clear();
        job.write_to(&mut written).expect("memory can be written");
    }
    fs::write(&again, written).expect("there is room for a file");
    assert_eq!(read(&again, Strictness::Strict), lenient);
}

/// Returns the jobs up to the first error.
fn read(path: &Path, how: Strictness) -> Vec<LoggedJob> {
    let Ok(records) = Records::open_with(path, how, Some(&LOGS)) else { return Vec::new() };
    records.map_while(|job| job.map_err(|error| blame(&error)).ok()).collect()
}

fn blame(error: &TraceError) {
    let text = error.to_string();
    let has_place = match error {
        TraceError::Malformed { path, place, .. } => {
            text.starts_with(&format!("{}:{}: ", path.display(), place.line))
        }
        TraceError::Read { .. } => panic!("{text}"),
        _ => true,
    };
    assert!(has_place && text.len() < 2_000, "{text}");
}
