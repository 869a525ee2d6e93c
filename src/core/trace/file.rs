//! A trace file as a scenario names it: its path, and perhaps the hash of its content.

use std::path::{Path, PathBuf};

use schemars::{JsonSchema, json_schema};
use serde::{Deserialize, Serialize, Serializer, de};
use sha2::{Digest, Sha256};

use super::error::TraceError;
use super::log_files::{configuration_of, is_many, log_files};
use super::text::{TraceText, hex};
use mumakil_base::{files, forms};

/// A file that a scenario names: its path, or `{path, sha256}` to be sure of its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceFile {
    /// The path, as the scenario gives it.
    pub path: PathBuf,
    /// The SHA-256 of the content, in hexadecimal digits.
    pub sha256: Option<String>,
}

/// The long form of a file in YAML.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename = "TraceFile", deny_unknown_fields)]
struct TraceFileSpec {
    /// The path.
    path: PathBuf,
    /// The SHA-256 of the content, in hexadecimal digits; a file with other content is an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
}

impl TraceFile {
    /// Returns the path at which the file is found. A relative path is looked up in the scenario's
    /// folder, then in the folder where the command was called. If the hash is known, the study's
    /// own copy is tried first, and the folders around the scenario's folder last: a resolved
    /// scenario lies among the results, but names files as the original scenario did. If the file
    /// is nowhere, returns its path in the scenario's folder.
    pub fn find(&self, folder: &Path) -> PathBuf {
        // A study's own copy goes first: files beside the scenario may have changed since.
        let found =
            self.kept(folder).or_else(|| self.near(folder)).or_else(|| self.find_above(folder));
        found.unwrap_or_else(|| folder.join(&self.path))
    }

    fn kept(&self, folder: &Path) -> Option<PathBuf> {
        files::kept(folder, &self.path, self.sha256.as_ref()?)
    }

    /// Returns the file in the scenario's folder, or else the file in the folder where the command
    /// was called. If both exist and the hash is known, the hash decides: a resolved scenario lies
    /// beside the tables of its run, and a trace may have the name of such a table.
    fn near(&self, folder: &Path) -> Option<PathBuf> {
        let (beside, here) = (folder.join(&self.path), self.path.exists());
        // The hash is taken only where there are two candidates: traces have gigabytes.
        if beside.exists() && (!here || self.may_match(&beside)) {
            return Some(beside);
        }
        here.then(|| self.path.clone())
    }

    fn find_above(&self, folder: &Path) -> Option<PathBuf> {
        // Search further out only with a hash: without it, any file of that name would be taken.
        self.sha256.as_ref()?;
        // The folder may be an empty path, which cannot be made absolute without the dot.
        let folder = std::path::absolute(folder.join(".")).ok()?;
        let mut files = folder.ancestors().skip(1).map(|around| around.join(&self.path));
        files.find(|file| file.is_file() && self.may_match(file))
    }

    /// Returns whether a file has the content that the scenario expects; `true` if the hash is
    /// unknown.
    fn may_match(&self, path: &Path) -> bool {
        let Some(expected) = &self.sha256 else { return true };
        sha256_of(path).is_ok_and(|found| expected.eq_ignore_ascii_case(&found))
    }

    /// Stores the path at which the file was found, and the hash of its content.
    ///
    /// # Errors
    /// If the content does not match the hash in the scenario.
    pub fn pin(&mut self, folder: &Path, sha256: Option<&str>) -> Result<(), TraceError> {
        let found = sha256.unwrap_or_default();
        match &self.sha256 {
            Some(expected) if !expected.eq_ignore_ascii_case(found) => {
                let (path, expected) = (self.find(folder), expected.clone());
                Err(TraceError::Changed { path, expected, found: found.to_owned() })
            }
            _ => {
                // For a study's copy or a file further out, keep the path that the scenario gives,
                // so that the results stay the same, byte by byte.
                if self.kept(folder).is_none() {
                    self.path = self.near(folder).unwrap_or_else(|| self.path.clone());
                }
                self.sha256 = Some(found.to_owned());
                Ok(())
            }
        }
    }
}

/// Returns the SHA-256 of a file's content, or of the logs in a folder with their configurations, in
/// hexadecimal digits.
pub fn sha256_of(path: &Path) -> Result<String, TraceError> {
    if !is_many(path) {
        return Ok(hex(&content_of(path)?));
    }
    let mut hash = LogHash::default();
    for log in log_files(path)?.iter().rev() {
        hash.add(log, content_of(log)?)?;
    }
    Ok(hash.end())
}

/// The SHA-256 of logs and their configurations, which are added in the order of reading.
#[derive(Default)]
pub(super) struct LogHash(Sha256);

impl LogHash {
    /// Adds a log whose own SHA-256 is known.
    pub(super) fn add(&mut self, log: &Path, content: [u8; 32]) -> Result<(), TraceError> {
        self.0.update(content);
        if let Some(configuration) = configuration_of(log) {
            self.0.update(content_of(&configuration)?);
        }
        Ok(())
    }

    pub(super) fn end(self) -> String {
        hex(&self.0.finalize())
    }
}

fn content_of(path: &Path) -> Result<[u8; 32], TraceError> {
    Ok(TraceText::open(path)?.sha256()?.expect("nobody asked to forget it"))
}

impl From<PathBuf> for TraceFile {
    fn from(path: PathBuf) -> Self {
        Self { path, sha256: None }
    }
}

impl Serialize for TraceFile {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match &self.sha256 {
            None => self.path.serialize(to),
            Some(_) => {
                TraceFileSpec { path: self.path.clone(), sha256: self.sha256.clone() }.serialize(to)
            }
        }
    }
}

const FILE: &str = "the path of a file, or {path: …, sha256: …}";

/// Returns a file with this path and no hash.
fn named<E: de::Error>(path: &str) -> Result<TraceFile, E> {
    // An empty path, joined to a folder, would be the folder itself.
    if path.is_empty() {
        return Err(E::invalid_value(de::Unexpected::Str(path), &FILE));
    }
    Ok(TraceFile::from(PathBuf::from(path)))
}

forms! {
    TraceFile, expected: FILE,
    text: |path| named(path),
    map: |map| {
        let TraceFileSpec { path, sha256 } = TraceFileSpec::deserialize(map)?;
        Ok(TraceFile { sha256, ..named(&path.to_string_lossy())? })
    },
    schema: "TraceFile", |schemas| {
        let pinned = schemas.subschema_for::<TraceFileSpec>();
        json_schema!({ "title": FILE, "anyOf": [{ "type": "string" }, pinned] })
    },
}
