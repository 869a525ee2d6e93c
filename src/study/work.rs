//! The workers of a study: each takes the next run that is missing, until none is.
//!
//! A run has a thread of its own and shares nothing, so neither the number of workers nor their
//! pace shows in any result. A run that fails is reported and the others go on.

use crossbeam_channel::{Sender, unbounded};
use indexmap::IndexMap;

use super::{Plan, Store};
use crate::emulation::{EmulationError, Kept, Options, Prepared};
use crate::mapred::Stop;
use crate::output::OutputError;
use crate::scenario::{Registry, Scenario};

/// A part of a study, for one of several machines: the runs whose number leaves the rest `index`
/// when divided by `count`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which one, from 0.
    pub index: usize,
    /// Of how many.
    pub count: usize,
}

impl Shard {
    /// The whole study.
    pub const WHOLE: Self = Self { index: 0, count: 1 };
}

/// What a worker tells of its work.
#[derive(Clone, Debug)]
pub enum Step {
    /// It begins with a run.
    Begun {
        /// The number of the run in the plan.
        run: usize,
    },
    /// It has done a run.
    Done {
        /// The number of the run in the plan.
        run: usize,
    },
    /// A run has failed.
    Failed(FailedRun),
}

/// A run without results.
#[derive(Clone, Debug)]
pub struct FailedRun {
    /// The number of the run in the plan.
    pub run: usize,
    /// Why.
    pub why: String,
}

/// Why a run is not kept.
#[derive(Debug, thiserror::Error)]
enum WorkError {
    #[error(transparent)]
    Emulation(#[from] EmulationError),
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error("it stalled after {after}: nothing can move any more")]
    Stalled { after: String },
}

impl Plan {
    /// Returns the numbers of the runs, each once: other values need not make another run.
    pub fn distinct(&self) -> Vec<usize> {
        let mut wanted = IndexMap::new();
        for (number, run) in self.runs.iter().enumerate() {
            wanted.entry(run.id.as_str()).or_insert(number);
        }
        wanted.into_values().collect()
    }

    /// Returns the numbers of the runs of a shard that are not in a store, each once.
    pub fn missing(&self, store: &Store, shard: Shard) -> Vec<usize> {
        let mine = self.distinct().into_iter().skip(shard.index).step_by(shard.count);
        mine.filter(|run| !store.has(&self.runs[*run].id)).collect()
    }

    /// Does these runs with so many workers and tells of each step.
    pub fn work(
        &self,
        runs: &[usize],
        store: &Store,
        registry: &Registry,
        workers: usize,
        mut tell: impl FnMut(Step),
    ) {
        let (todo, next) = unbounded();
        for run in runs {
            todo.send(*run).expect("the receiver is below");
        }
        drop(todo);
        let (steps, told) = unbounded();
        std::thread::scope(|scope| {
            for _ in 0..workers.min(runs.len()) {
                let (next, steps) = (next.clone(), steps.clone());
                scope.spawn(move || {
                    for run in next {
                        self.work_on(run, store, registry, &steps);
                    }
                });
            }
            drop(steps);
            told.into_iter().for_each(&mut tell);
        });
    }

    fn work_on(&self, run: usize, store: &Store, registry: &Registry, steps: &Sender<Step>) {
        // Who listens goes away only with the process.
        let tell = |step| steps.send(step).expect("somebody listens until all workers are done");
        tell(Step::Begun { run });
        let planned = &self.runs[run];
        tell(match keep(self.scenario(planned), store, &planned.id, registry) {
            Ok(()) => Step::Done { run },
            Err(error) => Step::Failed(FailedRun { run, why: words(&error) }),
        });
    }
}

fn keep(scenario: Scenario, store: &Store, id: &str, registry: &Registry) -> Result<(), WorkError> {
    let folder = store.begin(id)?;
    let prepared = Prepared::new(scenario)?;
    let Kept { emulated, .. } = prepared.fill(&folder, registry, Options::default())?;
    if emulated.stop == Stop::Stalled {
        let after = format!("{:.0} s", emulated.summary.virtual_s);
        return Err(WorkError::Stalled { after });
    }
    folder.commit()?;
    Ok(())
}

/// Returns what an error says, with its causes.
fn words(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |words, cause| format!("{words}: {cause}"))
}
