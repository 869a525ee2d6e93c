//! What a study's folder says of the engine that it was handed to, by which it is asked about and
//! cancelled.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{HERE, ask, folder};
use crate::cli::failure::Failure;
use crate::output::{OutputError, read_json_if_there, write_json};
use crate::study::Stamp;
use crate::units::tell::count;

/// The file in the folder of an engine in a study's folder.
const FILE: &str = "submitted.json";

/// What was submitted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::cli::study) struct Submitted {
    engine: Queue,
    /// The job with the tasks, and the job that puts them together.
    jobs: [String; 2],
    /// How many tasks the study is divided into.
    tasks: usize,
    /// How often it was submitted.
    number: usize,
    /// When.
    at: Stamp,
    /// The command that submitted it.
    command: String,
}

/// Where it was submitted; each has a folder of its name in the study's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Queue {
    Slurm,
    Kubernetes,
}

impl Queue {
    const fn folder(self) -> &'static str {
        match self {
            Self::Slurm => "slurm",
            Self::Kubernetes => "kubernetes",
        }
    }
}

impl Submitted {
    pub(super) fn new(
        engine: Queue,
        jobs: [String; 2],
        tasks: usize,
        earlier: Option<&Self>,
    ) -> Self {
        let number = earlier.map_or(0, |earlier| earlier.number) + 1;
        Self { engine, jobs, tasks, number, at: Stamp::now(), command: folder::command() }
    }

    /// Returns how often it was submitted.
    pub(super) const fn number(&self) -> usize {
        self.number
    }

    /// Reads what was submitted last, if anything was.
    pub(in crate::cli::study) fn read(study: &Path) -> Result<Option<Self>, OutputError> {
        let mut last: Option<Self> = None;
        for engine in [Queue::Slurm, Queue::Kubernetes] {
            let found: Option<Self> = read_json_if_there(&study.join(engine.folder()).join(FILE))?;
            if found.as_ref().map(|found| found.at) > last.as_ref().map(|last| last.at) {
                last = found;
            }
        }
        Ok(last)
    }

    pub(super) fn write(&self, study: &Path) -> Result<(), OutputError> {
        write_json(&study.join(self.engine.folder()), FILE, self)
    }

    /// Returns the jobs in words.
    pub(in crate::cli::study) fn told(&self) -> String {
        let engine = match self.engine {
            Queue::Slurm => "Slurm",
            Queue::Kubernetes => "Kubernetes",
        };
        format!("{engine} jobs {} and {}", self.jobs[0], self.jobs[1])
    }

    /// Returns how to go on with what its tasks have not done.
    pub(in crate::cli::study) fn again(&self) -> String {
        format!("`{}` submits them again", self.command)
    }

    /// Returns what the queue says, in words; `None` if nothing is in there any more.
    pub(in crate::cli::study) fn state(&self) -> Option<String> {
        let unknown =
            |why: &str| Some(format!("{}; the queue does not answer: {why}", self.told()));
        let state = match self.engine {
            Queue::Slurm => self.in_slurm(),
            Queue::Kubernetes => self.in_kubernetes(),
        };
        match state {
            Ok(Some((running, waiting))) => {
                let [running, waiting] = [running, waiting].map(count);
                Some(format!("{}: {running} running, {waiting} waiting", self.told()))
            }
            Ok(None) => None,
            Err(why) => unknown(&why),
        }
    }

    /// Returns how many tasks run and wait.
    fn in_slurm(&self) -> Result<Option<(u64, u64)>, String> {
        // A line for each task.
        let words = ["squeue", "-h", "-r", "-j", &self.jobs.join(","), "-o", "%T"];
        let told = match ask(&words, HERE) {
            Ok(told) => told,
            // It forgets them when they are long gone.
            Err(why) if why.contains("Invalid job id") => return Ok(None),
            Err(why) => return Err(why),
        };
        let states = || told.lines().map(str::trim).filter(|line| !line.is_empty());
        let waiting = states().filter(|state| *state == "PENDING").count();
        let all = states().count();
        Ok((0 < all).then_some(((all - waiting) as u64, waiting as u64)))
    }

    /// Returns how many pods run, and how many of both Jobs wait for theirs.
    fn in_kubernetes(&self) -> Result<Option<(u64, u64)>, String> {
        // A Job that has just been made has no pods yet, and is over only when it says so.
        const ASKED: &str = "jsonpath={.status.active}/{.status.conditions[*].type}";
        let (mut running, mut waiting, mut is_over) = (0, 0, true);
        for job in &self.jobs {
            let told = match ask(&["kubectl", "get", "job", job, "-o", ASKED], HERE) {
                Ok(told) => told,
                Err(why) if why.contains("NotFound") => continue,
                Err(why) => return Err(why),
            };
            let (active, conditions) = told.split_once('/').unwrap_or((&told, ""));
            if !conditions.split_whitespace().any(|one| matches!(one, "Complete" | "Failed")) {
                let active: u64 = active.parse().unwrap_or(0);
                is_over = false;
                running += active;
                waiting += u64::from(active == 0);
            }
        }
        Ok((!is_over).then_some((running, waiting)))
    }

    /// Takes all of it out of the queue.
    pub(in crate::cli::study) fn cancel(&self) -> Result<(), Failure> {
        // What comes after the tasks first, or it would begin.
        let [array, merge] = &self.jobs;
        let ended = match self.engine {
            Queue::Slurm => ask(&["scancel", merge, array], HERE),
            Queue::Kubernetes => {
                ask(&["kubectl", "delete", "job", merge, array, "--ignore-not-found"], HERE)
            }
        };
        ended
            .map(drop)
            .map_err(|why| Failure::run(format!("{} are not cancelled: {why}", self.told())))
    }
}
