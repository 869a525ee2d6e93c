//! The note in a study's folder about its last submission: the engine and the job, so that the job
//! can be queried or cancelled.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::engine::{ENGINES, Engine, EngineTasks, ask, engine};
use mumakil_base::units::tell::count;
use mumakil_cli::failure::Failure;
use mumakil_cli::study::command;
use mumakil_run::output::{OutputError, read_json_if_there, write_json};
use mumakil_study::WallInstant;

/// The note's file name, in the engine's folder.
const FILE: &str = "submitted.json";

/// The note about a submitted job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SubmittedArray {
    /// The engine's word on the command line.
    engine: String,
    /// The name of the job.
    job: String,
    /// The number of tasks.
    tasks: usize,
    /// The number of this submission, from 1.
    pub(crate) number: usize,
    /// The options that say on which cluster the job is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    place: Vec<String>,
    /// The time of the submission.
    at: WallInstant,
    /// The command of Mumakil that submitted the job.
    pub(crate) command: String,
}

impl SubmittedArray {
    pub(crate) fn new(
        engine: &dyn Engine,
        job: String,
        tasks: &EngineTasks<'_>,
        place: Vec<String>,
    ) -> Self {
        let EngineTasks { count: tasks, number, .. } = *tasks;
        let (engine, at, command) = (engine.word().to_owned(), WallInstant::now(), command());
        Self { engine, job, tasks, number, place, at, command }
    }

    /// Reads the note of the last submission; `None` if there was none.
    pub(crate) fn read(study: &Path) -> Result<Option<Self>, OutputError> {
        let mut last: Option<Self> = None;
        for engine in ENGINES {
            let found: Option<Self> = read_json_if_there(&study.join(engine.word()).join(FILE))?;
            let found = found.filter(|found| found.engine == engine.word());
            // A study may have been submitted to both engines, one after the other: take the later
            // note.
            if found.as_ref().map(|found| found.at) > last.as_ref().map(|last| last.at) {
                last = found;
            }
        }
        Ok(last)
    }

    pub(crate) fn write(&self, study: &Path) -> Result<(), OutputError> {
        write_json(&study.join(&self.engine), FILE, self)
    }

    fn engine(&self) -> &'static dyn Engine {
        engine(&self.engine).expect("`read` keeps only notes that name a known engine")
    }

    /// Returns the job in words.
    pub(crate) fn told(&self) -> String {
        format!("{} job {}", self.engine().name(), self.job)
    }

    /// Returns the state of the job in the queue, in words; `None` if the queue has none of its
    /// tasks.
    pub(crate) fn state(&self) -> Option<String> {
        let told = self.told();
        match self.engine().state(&self.job, &self.place) {
            Ok(tasks) => tasks.map(|tasks| {
                let [running, waiting] = tasks.map(count);
                format!("{told}: {running} running, {waiting} waiting")
            }),
            // Do not return `None`: a queue that gives no answer may still have the tasks.
            Err(why) => Some(format!("{told}; the queue does not answer: {why}")),
        }
    }

    /// Cancels the job in the queue.
    pub(crate) fn cancel(&self) -> Result<(), Failure> {
        let ended = ask(&self.engine().cancel(&self.job, &self.place), ".");
        let failed = |why| Failure::run(format!("{} is not cancelled: {why}", self.told()));
        ended.map(drop).map_err(failed)
    }
}
