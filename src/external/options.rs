//! The options of a policy that runs in a process of its own.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::policy::External;
use super::sandbox::SandboxOptions;
use mumakil_base::units::SimSpan;
use mumakil_base::{files, with_defaults};
use mumakil_core::mapred::{Complaint, Policy as _, PolicyProgram};
use mumakil_core::trace::hex;

with_defaults! {
    /// A policy that runs as another process and exchanges lines of JSON with Mumakil.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(default, deny_unknown_fields)]
    pub struct ExternalOptions {
        /// The policy's name in reports. Without this, the name of its file or program.
        pub name: Option<String> = None,
        /// The program and its arguments, such as `[python3, mine.py]`. An argument that names a
        /// file in the scenario's folder, or the current one, stands for that file.
        pub command: Vec<String> = Vec::new(),
        /// Options that Mumakil passes on to the policy unchanged: any value.
        pub options: Value = Value::Null,
        /// How long, in real time, the policy may take to answer.
        // Chosen: a policy may think for long, but a study should notice a policy that hangs.
        pub timeout: SimSpan = SimSpan::from_secs(10),
        /// Names of further environment variables that the process inherits, beside the usual few.
        pub environment: Vec<String> = Vec::new(),
        /// The limits of a policy that is not trusted; without this, it may do what its user may do.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub sandbox: Option<SandboxOptions> = None,
        /// The SHA-256 of each file of the command, which Mumakil fills in.
        pub files: BTreeMap<String, String> = BTreeMap::new(),
    }
}

impl ExternalOptions {
    /// Computes the digests of the command's files, and declares the program. Complains if the
    /// digests differ from those in `files`.
    pub(crate) fn settle(&mut self, folder: &Path) -> Vec<Complaint> {
        // Without a command there is nothing to check.
        if self.command.first().is_none_or(String::is_empty) {
            return vec![Complaint::error(
                &["command"],
                "there is no command",
                "say one, such as `[python3, mine.py]`",
            )];
        }
        if self.name.as_ref().is_some_and(|name| name.trim().is_empty()) {
            return vec![Complaint::error(
                &["name"],
                "the name is empty",
                "leave it out: the file's name is taken then",
            )];
        }
        if self.timeout.is_zero() {
            return vec![Complaint::error(
                &["timeout"],
                "a timeout of 0 s leaves no time to answer",
                "`10s` is usual",
            )];
        }
        let mut complaints = Vec::new();
        let mut files = BTreeMap::new();
        for word in &self.command {
            let Some(path) = find(word, folder, self.files.get(word)) else { continue };
            match digest(&path) {
                Ok(digest) => _ = files.insert(word.clone(), digest),
                Err(error) => {
                    let message = format!("cannot read `{word}`: {error}");
                    complaints.push(Complaint::error(&["command"], message, "make it readable"));
                }
            }
        }
        for (word, said) in &self.files {
            let message = match files.get(word) {
                // A study that is resumed must use the same program; otherwise its runs could not
                // be compared.
                Some(digest) if digest == said => continue,
                Some(_) => format!("`{word}` is another file than it was"),
                None => format!("`{word}` is not there"),
            };
            let hint = "use the file that was there, or leave `files` out to take this one";
            complaints.push(Complaint::error(&["files"], message, hint));
        }
        self.files = files;
        complaints.push(Complaint::program(self.program(folder)));
        complaints
    }

    /// Returns the program that the options name, seen from a folder.
    pub(super) fn program(&self, folder: &Path) -> PolicyProgram {
        PolicyProgram {
            command: self.command.clone(),
            located: located(&self.command, folder, |word| self.files.get(word)),
            environment: self.environment.clone(),
            files: self.files.clone(),
            is_boxed: self.sandbox.is_some(),
            is_argument: false,
        }
    }

    /// Returns the policy's name as reports show it.
    pub(super) fn called(&self) -> String {
        let command = self.command.iter().map(String::as_str);
        let title = PolicyProgram::title(self.name.as_deref(), command);
        title.unwrap_or_else(|| External::NAME.to_owned())
    }
}

/// Returns a command with absolute paths for its files. `digest` returns the digest of a file, if
/// it is known.
fn located<'d>(
    command: &[String],
    folder: &Path,
    digest: impl Fn(&str) -> Option<&'d String>,
) -> Vec<String> {
    let word = |word: &String| match find(word, folder, digest(word)) {
        // The process starts in the scenario's folder, where a relative path could mean another
        // file.
        Some(path) => path.canonicalize().unwrap_or(path).to_string_lossy().into_owned(),
        None => word.clone(),
    };
    command.iter().map(word).collect()
}

/// Returns the file that an argument of the command names; `None` if it names no file. If the
/// digest of the file is known, the file may also be in the folder of a study.
pub fn find(word: &str, folder: &Path, sha256: Option<&String>) -> Option<PathBuf> {
    let kept = sha256.and_then(|sha256| files::kept(folder, Path::new(word), sha256));
    // As for all paths in a scenario, the scenario's folder comes first.
    let mut places = [folder.join(word), PathBuf::from(word)].into_iter();
    kept.or_else(|| places.find(|path| path.is_file()))
}

fn digest(path: &Path) -> io::Result<String> {
    Ok(hex(&Sha256::digest(fs::read(path)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(options: &mut ExternalOptions, folder: &Path) -> Vec<String> {
        let complaints = options.settle(folder).into_iter();
        let complaints = complaints.filter(|complaint| complaint.program.is_none());
        complaints.map(|complaint| complaint.message).collect()
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
        assert!(Path::new(&options.program(folder.path()).located[2]).is_absolute());
        assert_eq!(said(&mut options, folder.path()), [""; 0], "the file has not changed");
        fs::write(folder.path().join("mine.py"), "two").unwrap();
        let mut other = options.clone();
        assert_eq!(said(&mut other, folder.path()), ["`mine.py` is another file than it was"]);
        fs::remove_file(folder.path().join("mine.py")).unwrap();
        assert_eq!(said(&mut options, folder.path()), ["`mine.py` is not there"]);
    }

    #[test]
    fn a_policy_is_called_by_its_name_or_its_script_or_its_program() {
        for (options, name) in [
            ("{command: [python3.11, -u, lib/mine.py, data.csv], name: best}", "best"),
            ("{command: [python3.11, -u, lib/mine.py, data.csv]}", "mine.py"),
            ("{command: [./target/release/mine, --rate=0.5, '7']}", "mine"),
            ("{command: [julia, --project=., mine.jl]}", "mine.jl"),
        ] {
            let options: ExternalOptions = serde_yaml::from_str(options).unwrap();
            assert_eq!(options.called(), name);
        }
        assert_eq!(ExternalOptions::default().called(), "external");
    }

    #[test]
    fn a_user_without_a_command_gets_help() {
        let mut options = ExternalOptions::default();
        assert_eq!(said(&mut options, Path::new("")), ["there is no command"]);
    }
}
