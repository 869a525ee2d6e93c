//! Judges: each looks for one kind of mistake in a case, and may run the case again.
//! ```text
//! breaks_down             a policy or an actor panicked
//! resolves_otherwise      its resolved scenario, resolved again, is another one
//! breaks_invariants       the checker has found a forbidden event
//! miscounts               the results do not agree with each other
//! could_go_on             the run was ended as stalled, but moves if it goes on
//! has_no_end              30 days have passed, without a recurring fault
//! differs_by_actors       the same case by actors has other events
//! starves                 it stalls, but ends under `fifo`, and no warning foretells it
//! ```
//! Cases of an external policy have the first and third of these judges, then [`starves`] and
//! `answers_differently`.

use serde_yaml::Value;
use sha2::{Digest as _, Sha256};

use super::HuntTally;
use super::recount::miscount;
use super::starvation::starves;
use super::trial::{Case, RunEvidence, RunObservations, TIME_LIMIT, Trial};
use mumakil_base::random::{Dist, Shape};
use mumakil_base::units::{SimSpan, SimTime};
use mumakil_core::mapred::{PolicyNeeds, Scheduler, StopReason, Wrapper};
use mumakil_run::emulation::{EmulationError, Options};
use mumakil_runtime::Transport;
use mumakil_scenario::{Scenario, parse};
use mumakil_study::{broken_invariants, parted, sign};

/// The virtual time for which a stalled run is watched: longer than any timeout of a policy or the
/// JobTracker.
// Chosen: the longest timeout is 24 hours, after which the JobTracker forgives a fault of a
// tracker.
const WATCHED: SimSpan = SimSpan::from_secs(2 * 24 * 60 * 60);
/// Faults that recur, so that a run may be endless by bad luck.
const FOR_EVER: [&str; 8] = [
    "loss",
    "delay",
    "duplication",
    "crashes",
    "slow_spells",
    "task_failures",
    "hangs",
    "out_of_memory",
];

/// A judge: returns the mistake in a case, or `None` if the case has no mistake of the judge's
/// kind.
pub(super) type CaseJudge = fn(&Trial<'_>, &mut Case<'_>) -> Option<CaseFlaw>;

pub(super) const OF_MUMAKIL: [CaseJudge; 8] = [
    breaks_down,
    resolves_otherwise,
    breaks_invariants,
    miscounts,
    could_go_on,
    has_no_end,
    differs_by_actors,
    starves,
];

pub(super) const OF_A_PROGRAM: [CaseJudge; 4] =
    [breaks_down, breaks_invariants, starves, answers_differently];

/// A mistake in a case.
#[derive(Clone, Debug)]
pub(crate) struct CaseFlaw {
    /// The counter that this mistake increases.
    pub(super) count: fn(&mut HuntTally) -> &mut u64,
    /// Texts that identify the mistake: two cases with a common text are taken to show the same
    /// mistake.
    signs: Vec<String>,
    /// The mistake in words; may have several lines.
    pub(crate) words: String,
    /// The last lines that an external program wrote to stderr.
    pub(super) said: Vec<String>,
}

impl CaseFlaw {
    /// Makes a mistake from its description. Two mistakes count as the same if the first lines of
    /// `what` are equal apart from their digits.
    pub(super) fn new(what: &str, words: impl Into<String>) -> Self {
        let (signs, words) = (vec![sign(what)], words.into());
        Self { count: |tally| &mut tally.violations, signs, words, said: Vec::new() }
    }

    /// Returns the first text that identifies the mistake.
    pub(super) fn sign(&self) -> &str {
        &self.signs[0]
    }

    /// Returns whether another case shows the same mistake.
    pub(super) fn is_in(&self, other: &Self) -> bool {
        other.signs.contains(&self.signs[0])
    }
}

fn breaks_down(_: &Trial<'_>, case: &mut Case<'_>) -> Option<CaseFlaw> {
    broken_down(&case.first)
}

/// Finds a failed policy or a panic.
fn broken_down(run: &RunEvidence) -> Option<CaseFlaw> {
    let words = match run.result.as_ref().err()? {
        // `WatchedPolicy` has ended the run on purpose; `starves` reports the starving job.
        EmulationError::PolicyFailed { .. } if run.seen.policy.lock().starved.is_some() => {
            return None;
        }
        EmulationError::PolicyFailed { words } => words.clone(),
        error @ (EmulationError::Policy { .. } | EmulationError::Bug { .. }) => error.to_string(),
        _ => return None,
    };
    Some(CaseFlaw { said: run.seen.policy.lock().said.clone(), ..CaseFlaw::new(&words, &words) })
}

/// Finds a resolved scenario that stands for another run.
fn resolves_otherwise(trial: &Trial<'_>, case: &mut Case<'_>) -> Option<CaseFlaw> {
    let resolved = case.scenario.to_yaml();
    let again = parse("resolved.yaml", &resolved, &[], trial.registry);
    let what = match again {
        Ok(again) if again.scenario.to_yaml() == resolved => return None,
        Ok(_) => "it resolves to another one".to_owned(),
        Err(error) => error.to_string(),
    };
    let words = format!("the resolved scenario is not itself: {what}");
    Some(CaseFlaw::new("the resolved scenario is not itself", words))
}

/// Finds results that do not agree with each other.
fn miscounts(_: &Trial<'_>, case: &mut Case<'_>) -> Option<CaseFlaw> {
    let folder = case.first.folder.as_ref().filter(|_| case.first.result.is_ok())?;
    let words = miscount(folder.path(), &case.scenario.to_yaml())?;
    Some(CaseFlaw::new(&words, format!("the results of the run do not agree: {words}")))
}

fn breaks_invariants(_: &Trial<'_>, case: &mut Case<'_>) -> Option<CaseFlaw> {
    let verifier = case.first.result.as_ref().ok()?.verifier.as_ref()?;
    let words = broken_invariants(verifier)?;
    let signs = verifier.violations().iter().map(|one| sign(&one.breach.to_string())).collect();
    Some(CaseFlaw { signs, ..CaseFlaw::new("", words) })
}

/// Finds a run that was ended as stalled, but moves if it goes on.
fn could_go_on(trial: &Trial<'_>, case: &mut Case<'_>) -> Option<CaseFlaw> {
    let run = case.first.result.as_ref().ok()?;
    if !matches!(run.stop, StopReason::Stalled(_)) || may_move_by_chance(case) {
        return None;
    }
    let stalled_at = SimTime::ZERO + SimSpan::ceil_from_secs(run.summary.virtual_s);
    let until = case.scenario.until.unwrap_or(SimSpan::LONGEST);
    // Stop at the case's own end (`until`) at the latest: nothing moves after it.
    let until = until.min(stalled_at.saturating_since(SimTime::ZERO) + WATCHED);
    let scenario = Scenario { until: Some(until), ..case.scenario.clone() };
    // `outlasts` lets the run go on after a stall, up to `until`.
    let options = Options { outlasts: true, ..Options::default() };
    let outlasted = trial.run(
        &scenario,
        RunObservations { after: Some(stalled_at), ..RunObservations::default() },
        options,
    );
    broken_down(&outlasted).or_else(|| {
        let what = "it was no stall";
        let words = format!("{what}: {}", outlasted.seen.late?);
        Some(CaseFlaw { count: |tally| &mut tally.stalled, ..CaseFlaw::new(what, words) })
    })
}

/// Finds a run that does not end, although it has no recurring fault and is not merely slow.
fn has_no_end(trial: &Trial<'_>, case: &mut Case<'_>) -> Option<CaseFlaw> {
    let patient;
    let mut first = &case.first;
    // A busy machine may take longer for a run that has an end.
    if first.stop() == Some(&StopReason::TimeLimit) {
        let options = Options { time_limit: Some(10 * TIME_LIMIT), ..Options::default() };
        patient = trial.run(&case.scenario, RunObservations::default(), options);
        first = &patient;
    }
    let run = first.result.as_ref().ok()?;
    // If tasks still ended in the second half of the run, the run is only slow: a drawn node may be
    // ten thousand times slower than usual.
    let is_slow = run.summary.virtual_s < 2.0 * first.seen.farther_at.as_secs_f64();
    let is_over = matches!(run.stop, StopReason::TimeUp | StopReason::TimeLimit);
    let words = "it has no end: jobs are left after 30 days";
    let is_wrong = is_over && !is_slow && !has(case.tree, &FOR_EVER);
    is_wrong.then(|| CaseFlaw { count: |tally| &mut tally.endless, ..CaseFlaw::new(words, words) })
}

/// Runs the case again by actors, with full reports in each heartbeat. The events must be the
/// same: neither mailboxes nor shortened heartbeats may change them.
fn differs_by_actors(trial: &Trial<'_>, case: &mut Case<'_>) -> Option<CaseFlaw> {
    // A run that the real-time limit cuts short ends at a different event each time.
    if !trial.repeats || case.first.stop() != Some(&StopReason::Done) {
        return None;
    }
    let options = Options {
        transport: Transport::Actors,
        around: Some(Box::new(|policy| Box::new(AttentivePolicy(policy)))),
        ..Options::default()
    };
    let seen = RunObservations { hash: Some(Sha256::new()), ..RunObservations::default() };
    let again = &*case.again.insert(trial.run(&case.scenario, seen, options));
    let hash = |run: &RunEvidence| run.seen.hash.clone().map(Sha256::finalize);
    let is_same = again.result.is_ok() && hash(again) == hash(&case.first);
    let words = "the same run gave other events when it was done again, by actors and with whole \
                 heartbeats";
    (!is_same).then(|| CaseFlaw::new(words, words))
}

/// Runs the case again, to find a program that answers the same questions differently.
fn answers_differently(trial: &Trial<'_>, case: &mut Case<'_>) -> Option<CaseFlaw> {
    let Some(StopReason::Done | StopReason::Stalled(_)) = case.first.stop() else { return None };
    let outcome = trial.run(&case.scenario, RunObservations::default(), Options::default());
    let again = case.again.insert(outcome);
    let (first, again) = (case.first.seen.policy.lock(), again.seen.policy.lock());
    let words = parted(&first.exchanges, &again.exchanges)?;
    Some(CaseFlaw::new("the same run was answered in two ways", words))
}

/// A policy that claims to read task reports, so that trackers send full reports.
struct AttentivePolicy(Box<dyn Scheduler>);

impl Wrapper for AttentivePolicy {
    fn inner(&self) -> &dyn Scheduler {
        &*self.0
    }

    fn pass<R>(&mut self, ask: impl FnOnce(&mut dyn Scheduler) -> R) -> R {
        ask(&mut *self.0)
    }

    fn needs_inner(&self) -> PolicyNeeds {
        PolicyNeeds { reports: true, ..self.0.needs() }
    }
}

/// Returns whether a run may hang by bad luck alone. A recurring fault may cause that, and so may a
/// latency without an upper bound: a heartbeat may take longer than the JobTracker waits.
pub(super) fn may_move_by_chance(case: &Case<'_>) -> bool {
    let network = &case.scenario.cluster.network;
    let pods = network.pods.as_ref().and_then(|pods| pods.latency.as_ref());
    let latencies = [Some(&network.latency), Some(&network.cross_rack), pods];
    has(case.tree, &["loss", "delay", "crashes"])
        || !latencies
            .into_iter()
            .flatten()
            .all(|dist| matches!(dist, Dist::Constant(_) | Dist::Drawn(Shape::Uniform { .. })))
}

/// Returns whether a scenario has a fault of one of these kinds.
fn has(tree: &Value, kinds: &[&str]) -> bool {
    let faults = tree.get("faults").and_then(Value::as_sequence);
    faults.into_iter().flatten().any(|fault| kinds.iter().any(|kind| fault.get(*kind).is_some()))
}
