//! What a scenario says of a policy that is another process.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::mapred::Complaint;
use crate::units::SimSpan;

/// A policy that is another process, spoken to in lines of JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ExternalOptions {
    /// The program and what it is given, such as `[python3, mine.py]`. A word that is a file's path,
    /// seen from the scenario's folder or from where you are, stands for that file.
    pub command: Vec<String>,
    /// What the policy is told as its options: anything.
    pub options: Value,
    /// How long, in real time, it may take to answer.
    pub timeout: SimSpan,
    /// Variables of the environment that it gets beside the usual few.
    pub environment: Vec<String>,
    /// The SHA-256 of the command's files. It is filled in; where it is said, other files are refused.
    pub files: BTreeMap<String, String>,
}

impl Default for ExternalOptions {
    fn default() -> Self {
        Self {
            command: Vec::new(),
            options: Value::Null,
            timeout: SimSpan::from_secs(10),
            environment: Vec::new(),
            files: BTreeMap::new(),
        }
    }
}

impl ExternalOptions {
    /// Notes what the command's files are, or says that they are others than was said.
    pub(super) fn settle(&mut self, folder: &Path) -> Vec<Complaint> {
        let wrong = |path: &[&str], message: String, hint: &str| Complaint {
            path: path.iter().map(|key| (*key).to_owned()).collect(),
            message,
            hint: hint.to_owned(),
            is_warning: false,
        };
        if self.command.first().is_none_or(String::is_empty) {
            let message = "there is no command".to_owned();
            return vec![wrong(&["command"], message, "say one, such as `[python3, mine.py]`")];
        }
        if self.timeout.is_zero() {
            let message = "nobody answers at once".to_owned();
            return vec![wrong(&["timeout"], message, "`10s` is usual")];
        }
        let mut complaints = Vec::new();
        let mut files = BTreeMap::new();
        for word in &self.command {
            let Some(path) = find(word, folder) else { continue };
            match digest(&path) {
                Ok(digest) => _ = files.insert(word.clone(), digest),
                Err(error) => {
                    let message = format!("cannot read `{word}`: {error}");
                    complaints.push(wrong(&["command"], message, "make it readable"));
                }
            }
        }
        for (word, said) in &self.files {
            let message = match files.get(word) {
                Some(digest) if digest == said => continue,
                Some(_) => format!("`{word}` is another file than it was"),
                None => format!("`{word}` is not there"),
            };
            let hint = "use the file that was there, or leave `files` out to take this one";
            complaints.push(wrong(&["files"], message, hint));
        }
        self.files = files;
        // Whoever has a scenario from somebody else is to know it before it runs.
        complaints.push(Complaint {
            is_warning: true,
            ..wrong(
                &["command"],
                format!("the policy is a program: `{}`", self.command.join(" ")),
                "`--no-external` forbids to start it",
            )
        });
        complaints
    }

    /// Returns the command with files where they are.
    pub(super) fn found(&self, folder: &Path) -> Vec<String> {
        let word = |word: &String| match find(word, folder) {
            Some(path) => path.canonicalize().unwrap_or(path).to_string_lossy().into_owned(),
            None => word.clone(),
        };
        self.command.iter().map(word).collect()
    }

    /// Returns what people call the policy: its file, or its command.
    pub(super) fn called(&self) -> String {
        let file = self
            .command
            .iter()
            .rfind(|word| self.files.contains_key(*word))
            .or(self.command.first());
        let path = file.map(|word| Path::new(word.as_str()));
        let name = path.and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
        name.unwrap_or_else(|| "external".to_owned())
    }
}

/// Returns the file that a word of a command is, if it is one.
fn find(word: &str, folder: &Path) -> Option<PathBuf> {
    [folder.join(word), PathBuf::from(word)].into_iter().find(|path| path.is_file())
}

fn digest(path: &Path) -> io::Result<String> {
    use std::fmt::Write as _;
    let digest = Sha256::digest(fs::read(path)?);
    Ok(digest.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(options: &mut ExternalOptions, folder: &Path) -> Vec<String> {
        let complaints = options.settle(folder).into_iter();
        let wrong = complaints.filter(|complaint| !complaint.is_warning);
        wrong.map(|complaint| complaint.message).collect()
    }

    #[test]
    fn files_of_a_command_are_known_by_their_bytes() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("mine.py"), "one").unwrap();
        let command = ["python3", "-u", "mine.py"].map(str::to_owned).to_vec();
        let mut options = ExternalOptions { command, ..ExternalOptions::default() };
        assert_eq!(said(&mut options, folder.path()), [""; 0]);
        assert_eq!(options.files.keys().collect::<Vec<_>>(), ["mine.py"]);
        assert_eq!(options.called(), "mine.py");
        assert!(Path::new(&options.found(folder.path())[2]).is_absolute());
        assert_eq!(said(&mut options, folder.path()), [""; 0], "it is as it was");
        fs::write(folder.path().join("mine.py"), "two").unwrap();
        let mut other = options.clone();
        assert_eq!(said(&mut other, folder.path()), ["`mine.py` is another file than it was"]);
        fs::remove_file(folder.path().join("mine.py")).unwrap();
        assert_eq!(said(&mut options, folder.path()), ["`mine.py` is not there"]);
    }

    #[test]
    fn who_says_no_command_is_told() {
        let mut options = ExternalOptions::default();
        assert_eq!(said(&mut options, Path::new("")), ["there is no command"]);
    }
}
