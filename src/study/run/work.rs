//! The workers of a study. Each worker does the next missing run, until all runs are done.
//!
//! A run shares nothing with other runs, so neither the number of workers nor their speed affects
//! any result. When a run fails, the other runs go on. When results cannot be written, as on a full
//! disk, no further run begins.

use std::fs;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crossbeam_channel::unbounded;
use indexmap::IndexMap;
use parking_lot::Mutex;

use crate::plan::runs::Plan;
use crate::run::store::{FolderClaim, Store};
use crate::run::{failed, verified};
use mumakil_base::panics;
use mumakil_base::units::tell::span;
use mumakil_core::mapred::{PolicyFailed, StopReason};
use mumakil_run::emulation::{EmulationError, Options, Prepared, RunWarning, TimesAlone};
use mumakil_run::output::OutputError;
use mumakil_runtime::{Transport, words_of_panic};
use mumakil_scenario::{Registry, Scenario};

/// The largest number of batches in a study; in a study with more runs, a batch has several runs.
// Chosen: each batch costs a file in `claims`, and each of ten machines still gets hundreds of
// batches.
const MOST_BATCHES: usize = 4_096;

/// The beginning of the reason of a run that has used up its real time.
const TIME_LIMIT: &str = "it took as long as --time-limit allows";

/// A part of a study, for one of several machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// The index of this shard, from 0.
    pub index: usize,
    /// The number of shards.
    pub count: usize,
}

impl Shard {
    /// The whole study.
    pub const WHOLE: Self = Self { index: 0, count: 1 };
}

/// The next action of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextRun {
    /// Do the run with this index in the plan.
    Run(usize),
    /// Do no run now: another process has taken this many runs.
    OfOthers(usize),
}

/// An event in the work of a study, for the progress display.
#[derive(Clone, Debug)]
pub enum WorkStep {
    /// A run has begun.
    Begun {
        /// The index of the run in the plan.
        run: usize,
    },
    /// A run is done.
    Done {
        /// The index of the run in the plan.
        run: usize,
        /// Reasons to doubt its results.
        warnings: Vec<RunWarning>,
    },
    /// A run has failed.
    Failed {
        /// The index of the run in the plan.
        run: usize,
    },
    /// Other processes have taken runs.
    OfOthers {
        /// The number of runs.
        runs: usize,
    },
}

impl Plan {
    /// Returns the indices of all runs, each run once: two cells may share a run.
    pub fn distinct(&self) -> Vec<usize> {
        let mut wanted = IndexMap::new();
        for (number, run) in self.runs.iter().enumerate() {
            // Two values may make the same scenario, such as `auto` and the number that it stands
            // for.
            wanted.entry(run.id.as_str()).or_insert(number);
        }
        wanted.into_values().collect()
    }

    /// Returns the indices of a shard's runs that are not in a store, each index once.
    pub fn missing(&self, store: &Store, shard: Shard) -> Vec<usize> {
        self.part(shard).filter(|run| !store.has(&self.runs[*run].id)).collect()
    }

    /// Returns the indices of a shard's runs, each index once.
    pub fn part(&self, shard: Shard) -> impl Iterator<Item = usize> {
        self.batches(shard).flatten()
    }

    /// Returns the indices of a shard's runs, each index once, in batches.
    pub(crate) fn batches(&self, shard: Shard) -> impl Iterator<Item = Vec<usize>> + use<> {
        let runs = self.distinct();
        let batch = runs.len().div_ceil(MOST_BATCHES).max(1);
        let batches: Vec<Vec<usize>> = runs.chunks(batch).map(<[usize]>::to_vec).collect();
        // Deal the batches out in turn: neighbouring runs cost about the same, so each shard gets
        // cheap and costly runs.
        batches.into_iter().skip(shard.index).step_by(shard.count)
    }

    /// Does the runs of an iterator with several workers, and calls `tell` at each step.
    ///
    /// # Errors
    /// If results cannot be written, or the next run cannot be claimed. No further run begins after
    /// such an error.
    pub fn work(
        &self,
        runs: impl Iterator<Item = Result<NextRun, OutputError>> + Send,
        claim: &FolderClaim,
        registry: &Registry,
        effort: RunEffort,
        mut tell: impl FnMut(WorkStep),
    ) -> Result<(), EmulationError> {
        let alone = TimesAlone::default();
        // Several workers may call `next` after the end, which only a fused iterator allows.
        let runs = Mutex::new(runs.fuse());
        let is_broken = AtomicBool::new(false);
        let (steps, told) = unbounded();
        std::thread::scope(|scope| {
            for _ in 0..effort.workers {
                let (runs, is_broken, steps) = (&runs, &is_broken, steps.clone());
                let alone = &alone;
                // The receiver lives until this scope ends, so a step can always be sent.
                let tell = move |step| steps.send(step).expect("it is received");
                scope.spawn(move || {
                    while !is_broken.load(Ordering::Relaxed) {
                        let next = runs.lock().next();
                        let step = match next {
                            None => break,
                            Some(Ok(NextRun::OfOthers(runs))) => Ok(WorkStep::OfOthers { runs }),
                            Some(Ok(NextRun::Run(run))) => {
                                tell(Ok(WorkStep::Begun { run }));
                                self.do_run(run, claim, registry, effort, alone)
                            }
                            Some(Err(error)) => Err(error.into()),
                        };
                        // The other workers finish their runs and begin no further run: on a full
                        // disk each run would fail in the same way.
                        is_broken.fetch_or(step.is_err(), Ordering::Relaxed);
                        tell(step);
                    }
                });
            }
            // Drop this sender: the loop below ends only when the last sender is dropped.
            drop(steps);
            let mut result = Ok(());
            for step in told {
                match step {
                    Ok(step) => tell(step),
                    Err(error) => result = result.and(Err(error)),
                }
            }
            result
        })
    }

    /// Does a run. Returns an error only for a cause that would also make the next run fail, such
    /// as a full disk.
    fn do_run(
        &self,
        run: usize,
        claim: &FolderClaim,
        registry: &Registry,
        effort: RunEffort,
        alone: &TimesAlone,
    ) -> Result<WorkStep, EmulationError> {
        let planned = &self.runs[run];
        // A panic, for example in a policy, fails only this run.
        let caught = catch_unwind(AssertUnwindSafe(|| {
            keep(self.scenario(planned), claim, &planned.id, registry, effort, alone)
        }));
        let kept = caught.unwrap_or_else(|panic| {
            panics::answered();
            Ok(Err(format!("a panic: {}", words_of_panic(&*panic))))
        });
        match kept {
            Ok(Ok(warnings)) => {
                // An earlier process may have noted this run as failed.
                failed::forget(&claim.store, &planned.id);
                Ok(WorkStep::Done { run, warnings })
            }
            Ok(Err(why)) => self.fail(run, why, &claim.store),
            Err(error) if error.is_disk_error() => Err(error),
            Err(error) => self.fail(run, words(&error), &claim.store),
        }
    }

    /// Notes a failed run in the study's folder, for users and other processes.
    fn fail(&self, run: usize, why: String, store: &Store) -> Result<WorkStep, EmulationError> {
        let scenario = self.scenario(&self.runs[run]);
        failed::note(store, &self.runs[run].id, &self.describe(run), &why, &scenario)?;
        Ok(WorkStep::Failed { run })
    }
}

/// The settings with which the runs of a study are done.
#[derive(Clone, Copy, Debug)]
pub struct RunEffort {
    /// The number of runs that are done at the same time.
    pub workers: usize,
    /// The longest real time of a run; `None` if it is not limited.
    pub time_limit: Option<Duration>,
    /// The carrier of each run's messages.
    pub transport: Transport,
    /// Whether each run is done under the checker of invariants, and fails if its policy is
    /// unsound. A run whose policy is a program is done twice then.
    pub verify: bool,
}

/// Does a run and keeps it; returns its warnings, or the reason why it is not kept.
fn keep(
    scenario: Scenario,
    claim: &FolderClaim,
    id: &str,
    registry: &Registry,
    effort: RunEffort,
    alone: &TimesAlone,
) -> Result<Result<Vec<RunWarning>, String>, EmulationError> {
    let folder = claim.begin(id)?;
    let prepared = Prepared::new(scenario, registry)?;
    let RunEffort { time_limit, transport, .. } = effort;
    let alone = alone.clone();
    let name_in_study = Some(id.to_owned());
    let options = Options { time_limit, transport, alone, name_in_study, ..Options::default() };
    let kept = match effort.verify {
        false => prepared.fill(&folder, registry, options)?,
        true => match verified::fill(&prepared, &folder, registry, options)? {
            Ok(kept) => kept,
            Err(flaw) => return Ok(Err(flaw)),
        },
    };
    let after = span(kept.emulated.summary.virtual_s);
    match &kept.emulated.stop {
        StopReason::Done | StopReason::TimeUp => {
            // Do not keep a run that lacks isolated times: it has no slowdowns, so means over all
            // runs would be wrong.
            if let Some(why) = kept.lacks_alone() {
                return Ok(Err(why.to_owned()));
            }
            claim.keep(id, folder)?;
            Ok(Ok(kept.emulated.warnings))
        }
        StopReason::Stalled(_) => {
            Ok(Err(format!("it stalled after {after}: nothing can move any more")))
        }
        StopReason::TimeLimit => {
            let busy =
                if machine_is_busy() { format!(": {}", PolicyFailed::BUSY) } else { String::new() };
            Ok(Err(format!("{TIME_LIMIT}, and came to {after}{busy}")))
        }
    }
}

/// Returns whether a run has failed at a limit of time, by the reason of its failure. The run may be
/// sound: others at the same time may have kept it back.
pub fn is_late(why: &str) -> bool {
    PolicyFailed::is_limit(why) || why.contains(TIME_LIMIT)
}

/// Returns whether more threads than there are processors wanted one in the last minute, as far as
/// the system tells.
fn machine_is_busy() -> bool {
    let told = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: Option<f64> = told.split_whitespace().next().and_then(|load| load.parse().ok());
    let processors = thread::available_parallelism().map_or(1, NonZero::get) as f64;
    load.is_some_and(|load| processors < load)
}

/// Returns an error's message, with its causes.
fn words(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |words, cause| format!("{words}: {cause}"))
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use crate::plan::spec::Study;
    use crate::run::store::{FolderAccess, StoreForm};
    use mumakil_core::mapred::{Offer, Policy, Scheduler};
    use mumakil_scenario::Draft;

    #[test]
    fn nothing_is_begun_where_nothing_can_be_written() {
        let yaml = "workload: {jobs: [{name: a, maps: 1, map_time: 1s}]}\nsweep: {seeds: 9}";
        let study = Study::of(Draft::of("test.yaml", yaml).unwrap()).unwrap();
        let registry = crate::testing::registry();
        let plan = Plan::new(&study, &registry).unwrap();
        let room = TempDir::new().unwrap();
        let store = Store::of(room.path()).unwrap();
        let claim = store.claim("test", FolderAccess::Alone, StoreForm::Folders).unwrap();
        fs::write(room.path().join("runs"), "a file where a folder should be").unwrap();
        let mut steps = 0;
        let all = plan.distinct().into_iter().map(|run| Ok(NextRun::Run(run)));
        let broken = plan.work(
            all,
            &claim,
            &registry,
            RunEffort { workers: 1, time_limit: None, transport: Transport::Actors, verify: false },
            |_| steps += 1,
        );
        assert!(matches!(broken, Err(EmulationError::Output(_))), "{broken:?}");
        assert_eq!(steps, 1, "one run was begun, and none after it");
    }
    /// A policy that cannot be built, under the name of a built-in policy.
    struct Broken;

    impl Scheduler for Broken {
        fn offer(&mut self, _: &mut Offer<'_>) {}
    }

    impl Policy for Broken {
        const NAME: &'static str = "ps";
        const ABOUT: &'static str = "panics at once";
        type Options = ();
        fn new((): ()) -> Self {
            panic!("no memory for ideas")
        }
    }

    #[test]
    fn a_policy_that_panics_when_it_is_built_fails_its_own_runs_alone() {
        let yaml =
            "workload: {jobs: [{name: a, maps: 1, map_time: 1s}]}\nsweep: {scheduler: [ps, fifo]}";
        let study = Study::of(Draft::of("test.yaml", yaml).unwrap()).unwrap();
        let mut registry = crate::testing::registry();
        registry.add::<Broken>();
        let plan = Plan::new(&study, &registry).unwrap();
        let room = TempDir::new().unwrap();
        let store = Store::of(room.path()).unwrap();
        let claim = store.claim("test", FolderAccess::Alone, StoreForm::Folders).unwrap();
        let effort =
            RunEffort { workers: 1, time_limit: None, transport: Transport::Actors, verify: false };
        let mut steps = Vec::new();
        let all = plan.distinct().into_iter().map(|run| Ok(NextRun::Run(run)));
        plan.work(all, &claim, &registry, effort, |step| steps.push(step)).unwrap();
        assert!(matches!(
            steps[..],
            [
                WorkStep::Begun { .. },
                WorkStep::Failed { .. },
                WorkStep::Begun { .. },
                WorkStep::Done { .. }
            ]
        ));
        let whys: Vec<String> = failed::read(&store).unwrap().into_iter().map(|it| it.1).collect();
        assert!(whys[0].contains("the policy `ps` panicked: no memory for ideas"), "{whys:?}");
    }
}
