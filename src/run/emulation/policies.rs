//! The policies of a run, from their options to the farewells of those that are programs.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use hdrhistogram::Histogram;
use parking_lot::Mutex;

use super::{EmulationError, Prepared, WrapPolicy};
use crate::record::LaterPolicy;
use mumakil_base::panics;
use mumakil_base::units::SimTime;
use mumakil_core::cluster::Topology;
use mumakil_core::mapred::{
    ExternalWork, PolicyReload, Precedence, RunEndHook, RunPermit, Scheduler, Setting,
};
use mumakil_runtime::{self as runtime, Ending, Stopwatch, StopwatchReadings};
use mumakil_scenario::fault::Effects;
use mumakil_scenario::{LaterChange, Registry, Scenario, SchedulerChoice};

/// The facts about the policies of a run, which remain here while the policies act in it.
pub(super) struct RunPolicies {
    pub(super) precedence: Precedence,
    /// The policies that replace another one, each with the instant from which it acts.
    later: Vec<(SimTime, LaterPolicy)>,
    title: String,
    /// All policies share this stopwatch, so the decision times cover the whole run.
    thinking: Arc<Mutex<StopwatchReadings>>,
    farewells: Vec<RunEndHook>,
}

/// The policies themselves, which the JobTracker is to own.
pub(super) struct ActingPolicies {
    pub(super) first: Stopwatch,
    pub(super) successors: Vec<Stopwatch>,
    pub(super) reloads: Vec<PolicyReload>,
}

impl RunPolicies {
    /// Builds all policies that act in a run, and starts those that are programs.
    pub(super) fn begin(
        prepared: &Prepared,
        registry: &Registry,
        around: Option<WrapPolicy>,
        effects: &Effects<'_>,
    ) -> Result<(Self, ActingPolicies), EmulationError> {
        let Prepared { scenario, topology, .. } = prepared;
        let setting = setting(scenario, topology, registry);
        let mut farewells = Vec::new();
        let mut build = |choice: &SchedulerChoice| -> Result<Box<dyn Scheduler>, EmulationError> {
            let (policy, farewell) = build(choice, registry, &setting)?;
            farewells.extend(farewell);
            Ok(match &around {
                Some(around) => around(policy),
                None => policy,
            })
        };
        let (first, thinking) = Stopwatch::new(build(&scenario.scheduler)?);
        let precedence = first.precedence();
        let (mut successors, mut later) = (Vec::new(), Vec::new());
        for Successor { at, choice, takes_over } in successors_of(scenario, effects) {
            let successor = first.successor(build(&choice)?);
            // After a restart of the JobTracker, the successor is the same policy again. Only a
            // policy that takes over counts as a later policy.
            if takes_over {
                let (policy, precedence) = (choice.title(), successor.precedence());
                let at_s = (at - SimTime::ZERO).as_secs_f64();
                later.push((at, LaterPolicy { at_s, policy, precedence }));
            }
            successors.push(successor);
        }
        let course = LaterChange::course(&scenario.later, &scenario.scheduler).into_iter();
        let reloads = course
            .filter(|step| !step.takes_over)
            .filter_map(|step| Some(step.choice.options()?.reload()))
            .collect();
        let title = scenario.scheduler.title();
        let facts = Self { precedence, later, title, thinking, farewells };
        Ok((facts, ActingPolicies { first, successors, reloads }))
    }

    /// Lists the policies that took over until the end of the run. The list is in the order of time.
    pub(super) fn later_until(&self, end: SimTime) -> Vec<LaterPolicy> {
        let taken = self.later.iter().take_while(|(at, _)| *at <= end);
        taken.map(|(_, policy)| policy.clone()).collect()
    }

    /// Ends the programs, and returns how long decisions took and what programs cost.
    ///
    /// # Errors
    /// If a program fails at its end, or if a policy panicked in the run.
    pub(super) fn end(
        self,
        ending: &Ending,
    ) -> Result<(Histogram<u64>, Option<ExternalWork>), EmulationError> {
        let mut work = None;
        // A policy that failed has already ended its program.
        if let Ending::Stopped(_) = ending {
            for farewell in self.farewells {
                let done = farewell().map_err(|words| EmulationError::PolicyFailed { words })?;
                *work.get_or_insert_default() += done;
            }
        }
        let thinking = self.thinking.lock();
        match ending {
            Ending::Panicked(words) if thinking.panicked => {
                Err(EmulationError::Policy { policy: self.title, words: words.clone() })
            }
            _ => Ok((thinking.decision_time.clone(), work)),
        }
    }
}

/// Builds a policy, and returns its farewell if it is a program: a function that ends the program
/// after the run and returns how long Mumakil waited for its answers.
fn build(
    choice: &SchedulerChoice,
    registry: &Registry,
    setting: &Setting<'_>,
) -> Result<(Box<dyn Scheduler>, Option<RunEndHook>), EmulationError> {
    // A policy is foreign code; even its constructor may panic.
    let built = catch_unwind(AssertUnwindSafe(|| {
        let mut policy = registry.build(choice)?;
        match policy.begin(setting) {
            Ok(begun) => Ok((policy, begun)),
            Err(words) => Err(EmulationError::PolicyFailed { words }),
        }
    }));
    built.unwrap_or_else(|panic| {
        panics::answered();
        let words = runtime::words_of_panic(&*panic);
        Err(EmulationError::Policy { policy: choice.title(), words })
    })
}

/// Returns the run and the cluster in which the policies of a scenario work.
pub(super) fn setting<'s>(
    scenario: &'s Scenario,
    topology: &'s Topology,
    registry: &'s Registry,
) -> Setting<'s> {
    Setting {
        seed: scenario.seed,
        line: scenario.hadoop.line,
        folder: &scenario.folder,
        topology,
        tell: registry.voice.clone(),
        programs: RunPermit { issued: registry.permit(), declared: &scenario.programs },
        launcher: registry.launcher.as_deref(),
        estimators: registry.estimators(),
        overhear: registry.overhear.clone(),
    }
}

/// The policy after a restart of the JobTracker or a change of policy.
struct Successor {
    at: SimTime,
    choice: SchedulerChoice,
    /// Whether it replaces another policy; if not, a restart begins the same policy anew.
    takes_over: bool,
}

/// Returns the policies that follow the first, in the order of time: one for each restart of the
/// JobTracker and one for each change of policy.
fn successors_of(scenario: &Scenario, effects: &Effects<'_>) -> Vec<Successor> {
    let restarts = effects.restarts.iter().map(|at| (*at, None));
    let changes = (LaterChange::course(&scenario.later, &scenario.scheduler).into_iter())
        .map(|step| (SimTime::ZERO + step.at, Some(step)));
    let mut all: Vec<_> = restarts.chain(changes).collect();
    // At the same instant a restart comes before a change of policy, as in the opening.
    all.sort_by_key(|(at, _)| *at);
    let mut current = scenario.scheduler.clone();
    let successors = all.into_iter().filter_map(|(at, step)| {
        // A restart begins the current policy anew, not the first one, and with the pools or queues
        // that it has read last.
        let takes_over = step.as_ref().map(|step| step.takes_over);
        current = step.map_or_else(|| current.clone(), |step| step.choice);
        let is_new = takes_over != Some(false);
        is_new.then(|| Successor { at, choice: current.clone(), takes_over: takes_over.is_some() })
    });
    successors.collect()
}
