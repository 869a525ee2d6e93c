//! The checksums of a run's files, kept in its `perf.json`: whoever reads the run later notices if a
//! file was edited, or if the folder has another run.
//!
//! They are CRC-32, as in a ZIP file, so that the files of a packed run need not be read for them.
//! They guard against mistakes; somebody who also edits the checksums is not noticed.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read};
use std::path::Path;

use flate2::CrcReader;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::digest::add;
use super::place::files_below;
use super::{Digest, OutputError, RunPlace};
use mumakil_base::files::{METRICS, PERF, REPORT, RESOLVED};
use mumakil_results::tables::ReadError;

/// The part of a run's `perf.json` about its files. A run of an earlier version says nothing, and is
/// not checked.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunChecksums {
    /// The name of the run in its study; `None` if it was not run by a study.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    run: Option<String>,
    /// The CRC-32 of each file, in hexadecimal digits.
    #[serde(default)]
    checksums: BTreeMap<String, String>,
}

impl RunChecksums {
    /// Computes the digest of a run, and the checksums of all files in its folder and below, except
    /// `perf.json` and the report, which no command reads.
    pub fn of(folder: &Path, run: Option<String>) -> Result<(Digest, Self), OutputError> {
        // File systems list files in no fixed order.
        let files: BTreeMap<_, _> = files_below(folder)?.into_iter().collect();
        let (mut hash, mut checksums) = (Sha256::new(), BTreeMap::new());
        for (name, length) in files {
            if [PERF, REPORT].contains(&name.as_str()) {
                continue;
            }
            let path = folder.join(&name);
            // The folder is complete, so no length can change before the bytes are read.
            let read = File::open(&path).and_then(|file| {
                let mut content = CrcReader::new(BufReader::with_capacity(1 << 16, file));
                match &*name {
                    // The one holds paths of traces, the other repeats results.
                    RESOLVED | METRICS => drop(io::copy(&mut content, &mut io::sink())?),
                    _ => add(&mut hash, &name, length, &mut content)?,
                }
                Ok(content.crc().sum())
            });
            let crc = read.map_err(|source| OutputError::Read { path, source })?;
            checksums.insert(name, digits(crc));
        }
        Ok((Digest(hash.finalize().into()), Self { run, checksums }))
    }
}

impl RunPlace {
    /// Checks that the run's files are as the run wrote them, and, if `name` is given, that the run
    /// had this name in its study. Files that are missing, and files of others, are left alone.
    ///
    /// # Errors
    /// [`ReadError::Changed`] if they are not; another error if a file cannot be read.
    pub fn check(&self, name: Option<&str>) -> Result<(), ReadError> {
        let text = match self.text(PERF) {
            Err(missing) if missing.kind() == ErrorKind::NotFound => return Ok(()),
            text => text.map_err(|source| ReadError::Read { path: self.path(PERF), source })?,
        };
        let changed = |why: String| ReadError::Changed { folder: self.folder(), why };
        let kept: RunChecksums = serde_json::from_str(&text)
            .map_err(|_| changed(format!("`{PERF}` is not as the run wrote it")))?;
        if let (Some(run), Some(name)) = (&kept.run, name)
            && run != name
        {
            return Err(changed(format!("it has the files of another run, {run}")));
        }
        for (file, checksum) in self.crcs(&kept.checksums)? {
            if checksum != kept.checksums[&file] {
                return Err(changed(format!("`{file}` is not as the run wrote it")));
            }
        }
        Ok(())
    }

    /// Returns the checksums of these files of the run, as far as it has them.
    fn crcs(&self, of: &BTreeMap<String, String>) -> Result<Vec<(String, String)>, ReadError> {
        let mut found = Vec::new();
        if let Self::Packed(run) = self {
            let read = run.files();
            let all = read.map_err(|source| ReadError::Read { path: self.path(""), source })?;
            let known = all.into_iter().filter(|file| of.contains_key(&file.name));
            found.extend(known.map(|file| (file.name, digits(file.crc))));
            return Ok(found);
        }
        for file in of.keys() {
            match crc(self, file) {
                Ok(crc) => found.push((file.clone(), digits(crc))),
                Err(missing) if missing.kind() == ErrorKind::NotFound => {}
                Err(source) => return Err(ReadError::Read { path: self.path(file), source }),
            }
        }
        Ok(found)
    }
}

fn crc(place: &RunPlace, file: &str) -> io::Result<u32> {
    let mut content = CrcReader::new(place.open(file)?);
    let mut buffer = vec![0; 1 << 16];
    while content.read(&mut buffer)? != 0 {}
    Ok(content.crc().sum())
}

fn digits(crc: u32) -> String {
    format!("{crc:08x}")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;

    /// Returns a run in a folder, with its checksums.
    fn run(name: Option<&str>) -> TempDir {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("histograms")).unwrap();
        for file in ["jobs.csv", "histograms/job_wait.hgrm", "scenario.resolved.yaml"] {
            fs::write(folder.path().join(file), file).unwrap();
        }
        let (_, kept) = RunChecksums::of(folder.path(), name.map(str::to_owned)).unwrap();
        fs::write(folder.path().join(PERF), serde_json::to_string(&kept).unwrap()).unwrap();
        folder
    }

    fn complaint(folder: &TempDir, name: Option<&str>) -> Option<String> {
        let error = RunPlace::Folder(folder.path().to_owned()).check(name).err()?;
        let ReadError::Changed { why, .. } = error else { panic!("{error}") };
        Some(why)
    }

    #[test]
    fn an_edited_file_is_noticed_by_its_name() {
        for file in ["jobs.csv", "histograms/job_wait.hgrm", "scenario.resolved.yaml"] {
            let folder = run(None);
            assert_eq!(complaint(&folder, None), None);
            fs::write(folder.path().join(file), "edited").unwrap();
            let why = format!("`{file}` is not as the run wrote it");
            assert_eq!(complaint(&folder, None), Some(why));
        }
    }

    #[test]
    fn a_run_under_the_name_of_another_is_noticed() {
        let folder = run(Some("81c2"));
        assert_eq!(complaint(&folder, Some("81c2")), None);
        assert_eq!(complaint(&folder, None), None, "a run may be copied elsewhere");
        let why = "it has the files of another run, 81c2";
        assert_eq!(complaint(&folder, Some("40bc")).as_deref(), Some(why));
    }

    #[cfg(unix)]
    #[test]
    fn a_device_in_place_of_a_file_is_not_read() {
        let folder = run(None);
        fs::remove_file(folder.path().join("jobs.csv")).unwrap();
        std::os::unix::fs::symlink("/dev/null", folder.path().join("jobs.csv")).unwrap();
        let error = RunPlace::Folder(folder.path().to_owned()).check(None).unwrap_err();
        let ReadError::Read { source, .. } = error else { panic!("{error}") };
        assert_eq!(source.to_string(), "it is not a regular file; move it elsewhere");
    }

    #[test]
    fn missing_and_added_files_are_left_alone() {
        let folder = run(None);
        fs::write(folder.path().join("report.html"), "").unwrap();
        fs::remove_file(folder.path().join("jobs.csv")).unwrap();
        assert_eq!(complaint(&folder, None), None);
        fs::write(folder.path().join(PERF), r#"{"wall_s": 0.1}"#).unwrap();
        fs::write(folder.path().join("scenario.resolved.yaml"), "edited").unwrap();
        assert_eq!(complaint(&folder, Some("any")), None, "an earlier version kept no checksums");
    }
}
