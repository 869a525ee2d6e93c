//! A case on trial: its runs under the invariant checker, and the observations of each run.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_yaml::Value;
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use super::judge::CaseFlaw;
use super::{HuntTally, Subject, draw, now};
use mumakil_base::panics;
use mumakil_base::units::{SimSpan, SimTime};
use mumakil_core::mapred::{
    AttemptFact, AutoSpan, Event, Fact, JobFact, MemberFact, Outcome, StopReason, TaskId, WorldFact,
};
use mumakil_run::emulation::{Emulated, EmulationError, Options, Prepared, rules};
use mumakil_run::record::{RecordError, RunBooks, RunEnd, Watcher};
use mumakil_runtime::RunCores;
use mumakil_scenario::{RecordSpec, Registry, Scenario};
use mumakil_study::PolicyObservations;

/// The longest real time of a run: a hundred times as long as most cases take.
pub(super) const TIME_LIMIT: Duration = Duration::from_secs(20);
/// The settings with which cases are tried.
pub(super) struct Trial<'h> {
    pub(super) subject: &'h Subject,
    pub(super) registry: &'h Registry,
    /// Whether a judge may run the case a second time.
    pub(super) repeats: bool,
    /// Replaces the cores of a run: tests insert cores that make mistakes.
    pub(super) recast: fn(RunCores) -> RunCores,
}

/// A case with its runs, for the judges.
pub(super) struct Case<'t> {
    pub(super) tree: &'t Value,
    pub(super) scenario: Scenario,
    pub(super) first: RunEvidence,
    /// The second run, if a judge has made one.
    pub(super) again: Option<RunEvidence>,
}

/// The evidence of a run, for the judges.
pub(super) struct RunEvidence {
    pub(super) result: Result<Emulated, EmulationError>,
    pub(super) seen: RunObservations,
    /// Its results; `None` if they are not kept.
    pub(super) folder: Option<TempDir>,
    real: Duration,
}

impl RunEvidence {
    /// Returns why the run ended; `None` if it broke down.
    pub(super) fn stop(&self) -> Option<&StopReason> {
        self.result.as_ref().ok().map(|run| &run.stop)
    }
}

impl<'h> Trial<'h> {
    pub(super) fn new(subject: &'h Subject, registry: &'h Registry, seed: u64) -> Self {
        Self { subject, registry, repeats: subject.repeats(seed), recast: |cast| cast }
    }

    /// Tries a scenario. Returns the tally of this case, and the mistake if a judge finds one.
    pub(super) fn of(&self, tree: &Value) -> (HuntTally, Option<CaseFlaw>) {
        let mut tally =
            HuntTally { runs: 1, repeated: self.repeats.into(), ..HuntTally::default() };
        let Ok(scenario) = draw::read(&self.subject.with_program(tree), self.registry) else {
            // `shrink` also tries invalid scenarios: they show no mistake.
            return (tally, None);
        };
        let hash = self.repeats.then(Sha256::new);
        let seen = RunObservations { hash, ..RunObservations::default() };
        let first = self.run_kept(&scenario, seen);
        let mut case = Case { tree, scenario, first, again: None };
        let wrong = self.subject.judges().iter().find_map(|judge| judge(self, &mut case));
        let Case { first, again, .. } = case;
        match (&wrong, first.stop()) {
            (Some(wrong), _) => *(wrong.count)(&mut tally) = 1,
            (None, Some(StopReason::Stalled(_))) => tally.deadlocks = 1,
            (None, Some(StopReason::TimeUp | StopReason::TimeLimit)) => tally.unended = 1,
            (None, None) if first.seen.policy.lock().starved.is_some() => tally.unended = 1,
            // The run has ended well, or was refused before it began, which is no mistake either.
            (None, None | Some(StopReason::Done)) => {}
        }
        // The drawn case has `fifo` in the program's place: if that does not end either, the case is
        // too long for any policy.
        if tally.unended == 1 && matches!(self.subject, Subject::Program { .. }) {
            let run =
                |scenario| self.run(&scenario, RunObservations::default(), Options::default());
            let ended = draw::read(tree, self.registry).ok().map(run);
            let stops = ended.is_some_and(|run| {
                matches!(run.stop(), Some(StopReason::Done | StopReason::Stalled(_)))
            });
            tally.unended_own = stops.into();
        }
        for run in [Some(first), again].into_iter().flatten() {
            tally.real += run.real;
            tally.external_work +=
                run.result.ok().and_then(|run| run.external_work).unwrap_or_default();
        }
        (tally, wrong)
    }

    /// Runs a scenario under the invariant checker, and keeps the results for a judge.
    fn run_kept(&self, scenario: &Scenario, seen: RunObservations) -> RunEvidence {
        // Without a folder, as on a full disk, this judge has nothing to judge.
        let Ok(folder) = TempDir::new() else {
            return self.run(scenario, seen, Options::default());
        };
        let mut scenario = scenario.clone();
        let sample = SimSpan::ZERO;
        let warm_up = AutoSpan::Fixed(SimSpan::ZERO);
        scenario.record = RecordSpec { sample, warm_up, waste: true, ..RecordSpec::default() };
        let options = Options { folder: Some(folder.path().to_owned()), ..Options::default() };
        RunEvidence { folder: Some(folder), ..self.run(&scenario, seen, options) }
    }

    /// Runs a scenario under the invariant checker.
    pub(super) fn run(
        &self,
        scenario: &Scenario,
        seen: RunObservations,
        mut options: Options,
    ) -> RunEvidence {
        let seen = Arc::new(Mutex::new(seen));
        let mut registry = self.registry.clone();
        options.verify = true;
        options.time_limit = options.time_limit.or(Some(TIME_LIMIT));
        options.watchers.push(Box::new(seen.clone()));
        if let Subject::Program { .. } = self.subject {
            PolicyObservations::watch(&seen.lock().policy, &mut registry, &mut options);
        }
        let began = now();
        let run = AssertUnwindSafe(|| {
            let prepared = Prepared::new(scenario.clone(), &registry)?;
            if let Some(folder) = &options.folder {
                options.watchers.push(prepared.nodes_table(folder)?);
            }
            prepared.emulate_as(&registry, options, rules(scenario), self.recast)
        });
        // The run catches panics of actors; only its preparation can panic here.
        let result = catch_unwind(run).unwrap_or_else(|_| {
            panics::answered();
            Err(EmulationError::Bug { words: "a panic before the run began".to_owned() })
        });
        let seen = std::mem::take(&mut *seen.lock());
        RunEvidence { result, real: began.elapsed(), seen, folder: None }
    }
}

/// The observations during a run.
#[derive(Default)]
pub(crate) struct RunObservations {
    /// The hash of all events, including heartbeats; `None` if no judge needs it.
    pub(crate) hash: Option<Sha256>,
    /// The tasks that have succeeded at least once.
    pub(crate) done: BTreeSet<TaskId>,
    /// The latest time of a task's first success.
    pub(crate) farther_at: SimTime,
    /// The instant at which an earlier run of the case was ended as stalled; `None` unless this run
    /// goes on after the stall.
    pub(crate) after: Option<SimTime>,
    /// The first event after that instant that changes something, in words.
    pub(crate) late: Option<String>,
    /// The observations of an external program.
    pub(crate) policy: Arc<Mutex<PolicyObservations>>,
}

impl Watcher for RunObservations {
    fn see(&mut self, event: &Event, books: &RunBooks) -> Result<(), RecordError> {
        if let Some(hash) = &mut self.hash {
            hash.update(format!("{event:?}"));
        }
        if let Fact::Attempt(attempt, _, AttemptFact::Ended { outcome: Outcome::Succeeded, .. }) =
            &event.fact
            && self.done.insert(attempt.task)
        {
            self.farther_at = event.at;
        }
        if self.after.is_some_and(|after| after < event.at)
            && self.late.is_none()
            && !changes_nothing(&event.fact, books)
        {
            self.late = Some(format!("at {}: {:?}", event.at, event.fact));
        }
        Ok(())
    }

    fn hears_heartbeats(&self) -> bool {
        self.hash.is_some()
    }

    fn finish(&mut self, _: &RunEnd<'_>) -> Result<(), RecordError> {
        Ok(())
    }
}

/// Returns whether an event means no progress: remarks of the JobTracker, sums of refusals, faults of
/// idle machines, and failed fetches of reduces that were left running when their job ended.
fn changes_nothing(fact: &Fact, books: &RunBooks) -> bool {
    match fact {
        Fact::Member(
            _,
            MemberFact::Noted(_) | MemberFact::Graylisted | MemberFact::OffGraylist,
        )
        | Fact::Job(_, JobFact::Refused { .. })
        | Fact::World(WorldFact::Incident { .. } | WorldFact::Copy { .. }) => true,
        Fact::Attempt(attempt, _, AttemptFact::FetchFailed { .. }) => {
            books.job(attempt.job()).is_some_and(|job| job.ended.is_some())
        }
        _ => false,
    }
}
