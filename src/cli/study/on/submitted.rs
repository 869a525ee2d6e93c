//! What a study's folder says of the engine that it was handed to, by which it is asked about and
//! cancelled.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::cli::failure::Failure;
use crate::output::{OutputError, write_file};
use crate::study::Stamp;
use crate::units::tell::{count, counted};

/// The folder and the file in a study's folder.
const PLACE: [&str; 2] = ["slurm", "submitted.json"];

/// What was submitted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::cli::study) struct Submitted {
    /// The number of the job with the tasks.
    array: String,
    /// The number of the job that puts them together.
    merge: String,
    /// How many tasks the study is divided into.
    tasks: u32,
    /// When.
    at: Stamp,
    /// The command that submitted it.
    command: String,
}

impl Submitted {
    pub(super) fn slurm(array: String, merge: String, tasks: u32, command: String) -> Self {
        Self { array, merge, tasks, at: Stamp::now(), command }
    }

    /// Reads what was submitted last, if anything was.
    pub(in crate::cli::study) fn read(study: &Path) -> Result<Option<Self>, OutputError> {
        let path = study.join(PLACE[0]).join(PLACE[1]);
        let error = |source| OutputError::Read { path: path.clone(), source };
        match fs::read_to_string(&path) {
            Err(missing) if missing.kind() == ErrorKind::NotFound => Ok(None),
            Err(source) => Err(error(source)),
            Ok(text) => serde_json::from_str(&text).map(Some).map_err(|wrong| error(wrong.into())),
        }
    }

    pub(super) fn write(&self, study: &Path) -> Result<(), OutputError> {
        let mut text = serde_json::to_string_pretty(self).expect("names and numbers are JSON");
        text.push('\n');
        write_file(&study.join(PLACE[0]), PLACE[1], text.as_bytes())
    }

    /// Returns the jobs in words.
    pub(in crate::cli::study) fn told(&self) -> String {
        format!("Slurm jobs {} and {}", self.array, self.merge)
    }

    /// Returns how to go on with what its tasks have not done.
    pub(in crate::cli::study) fn again(&self) -> String {
        format!("`{}` submits them again", self.command)
    }

    /// Returns what the queue says, in words; `None` if nothing is in there any more.
    pub(in crate::cli::study) fn state(&self) -> Option<String> {
        let jobs = format!("{},{}", self.array, self.merge);
        // A line for each task.
        let asked =
            Command::new("squeue").args(["-h", "-r", "-j", &jobs, "-o", "%T"]).output().ok()?;
        let told = String::from_utf8_lossy(&asked.stdout).into_owned();
        let states: Vec<&str> =
            told.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        if states.is_empty() {
            // It has forgotten them when they are long gone; else it did not answer.
            let why = String::from_utf8_lossy(&asked.stderr).into_owned();
            let is_gone = asked.status.success() || why.contains("Invalid job id");
            return (!is_gone)
                .then(|| format!("{}; the queue does not answer: {}", self.told(), why.trim()));
        }
        let of = |state: &str| states.iter().filter(|other| **other == state).count() as u64;
        let (running, waiting) = (of("RUNNING"), of("PENDING"));
        let mut words =
            format!("{}: {} running, {} waiting", self.told(), count(running), count(waiting));
        let others = states.len() as u64 - running - waiting;
        if 0 < others {
            words += &format!(", {} on their way", counted(others, "task"));
        }
        Some(words)
    }

    /// Takes all of it out of the queue.
    pub(in crate::cli::study) fn cancel(&self) -> Result<(), Failure> {
        // What comes after the tasks first, or it would begin.
        let output = Command::new("scancel").args([&self.merge, &self.array]).output();
        let output = output.map_err(|error| {
            Failure::Environment(anyhow::Error::new(error).context("`scancel` cannot be started"))
        })?;
        if output.status.success() {
            return Ok(());
        }
        let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(Failure::run(format!("Slurm does not cancel {}: {why}", self.told())))
    }
}
