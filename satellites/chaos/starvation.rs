//! Jobs that starve under a policy: slots are free for them, but the policy gives them none.
//!
//! With faults, a cluster may stall under any policy. So starvation is reported only if the same
//! case ends under `fifo`. Users may also choose options that keep jobs from slots: it is no mistake if
//! the policy [warns](mumakil_core::mapred::Complaint::foretells_stall) of that.

use super::draw;
use super::judge::{CaseFlaw, may_move_by_chance};
use super::subject::under;
use super::trial::{Case, RunObservations, Trial};
use mumakil_core::mapred::{JobWait, SlotKind, Stall, StopReason, WaitCause};
use mumakil_run::emulation::{Options, Prepared};

/// Finds a job that starves or a run that stalls, if the case ends under `fifo`.
pub(super) fn starves(trial: &Trial<'_>, case: &mut Case<'_>) -> Option<CaseFlaw> {
    let starved = case.first.seen.policy.lock().starved.clone();
    let words = match (starved, case.first.stop()) {
        (Some(words), _) => words,
        (None, Some(StopReason::Stalled(stall))) => {
            if has_another_cause(stall) {
                return None;
            }
            format!("the run stalls, and nothing can move:\n{stall}").replace('\n', "\n  ")
        }
        _ => return None,
    };
    let fifo = draw::read(&under(case.tree, &"fifo".into()), trial.registry).ok()?;
    if may_move_by_chance(case) || is_foretold(trial, case) {
        return None;
    }
    let run = trial.run(&fifo, RunObservations::default(), Options::default());
    let rule = "a job with something to launch gets a slot before long; under `fifo` this run comes to its end";
    let what = "a job starves";
    (run.stop() == Some(&StopReason::Done))
        .then(|| CaseFlaw::new(what, format!("{what}: {words}\n  {rule}")))
}

/// Returns whether something other than the policy keeps tasks from slots.
fn has_another_cause(stall: &Stall) -> bool {
    let waits_for = |cause| stall.waiting.iter().any(|wait: &JobWait| wait.on == cause);
    // Which reduces fill the memory first is luck, and `check` warns of it.
    waits_for(WaitCause::Room(SlotKind::Reduce))
        // Where attempts of a job fail, and which nodes it avoids then, is luck, too; and a policy may
        // give a task several slots, which no node may have any more.
        || waits_for(WaitCause::OtherTracker) && !waits_for(WaitCause::Policy)
}

/// Returns whether users are warned that the policy's options keep jobs from slots. A policy that
/// draws other warnings must not stall.
fn is_foretold(trial: &Trial<'_>, case: &Case<'_>) -> bool {
    let prepared = Prepared::new(case.scenario.clone(), trial.registry);
    prepared.is_ok_and(|it| it.foretells_stall(trial.registry))
}
