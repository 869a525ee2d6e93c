//! Jobs that starve under a policy: slots are free for them, but the policy gives them none.
//!
//! With faults, a cluster may stall under any policy. So starvation is reported only if the same
//! case ends under `fifo`. Users may also choose options that keep jobs from slots: it is no mistake if
//! the policy [warns](mumakil_core::mapred::Complaint::foretells_stall) of that.

use std::panic::resume_unwind;
use std::sync::Arc;

use parking_lot::Mutex;

use super::draw;
use super::judge::{CaseFlaw, may_move_by_chance};
use super::subject::under;
use super::trial::{Case, RunObservations, Trial};
use mumakil_base::units::tell::{counted, span};
use mumakil_base::units::{SimSpan, SimTime};
use mumakil_core::mapred::{
    Job, JobId, JobWait, Offer, PerSlot, PolicyFailed, Scheduler, SlotKind, Stall, StopReason,
    WaitCause, Wrapper,
};
use mumakil_run::emulation::{Options, Prepared};

/// A job starves if it gets no slot for this time, although slots are free. Two hours are enough:
/// policies let a job wait for a local slot only for seconds, and drawn tasks take minutes.
const STARVED: SimSpan = SimSpan::from_secs(2 * 60 * 60);

/// A job starves only if so many offers have passed it over: under a high load a slot is free for a
/// moment now and then, and a policy may keep it for another job.
// Chosen: one offer in a minute or so; a slot that stays free is offered with every heartbeat.
const LEAST_OFFERS: u64 = 100;

/// Finds a job that starves or a run that stalls, if the case ends under `fifo`.
pub(super) fn starves(trial: &Trial<'_>, case: &mut Case<'_>) -> Option<CaseFlaw> {
    let words = match (&case.first.seen.starved, case.first.stop()) {
        (Some(words), _) => words.clone(),
        (None, Some(StopReason::Stalled(stall))) => {
            if has_another_cause(stall) {
                return None;
            }
            format!("the run stalls, and nothing can move:\n{stall}").replace('\n', "\n  ")
        }
        _ => return None,
    };
    let fifo = draw::read(&under(case.tree, &"fifo".into()), trial.registry).ok()?;
    let ends = || {
        let run = trial.run(&fifo, RunObservations::default(), Options::default());
        run.stop() == Some(&StopReason::Done)
    };
    let rule = "a job with something to launch gets a slot before long; under `fifo` this run comes to its end";
    let what = "a job starves";
    (!may_move_by_chance(case) && !is_foretold(trial, case) && ends())
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

/// Watches a policy, and ends the run if the policy passes a job over for too long.
pub(super) struct WatchedPolicy {
    policy: Box<dyn Scheduler>,
    /// For each job number and kind of slot, the time since which the policy has passed the job
    /// over.
    passed_over: Vec<PerSlot<Option<PassedOver>>>,
    seen: Arc<Mutex<RunObservations>>,
}

/// A job for which the policy launched no task, although a slot was free for it.
#[derive(Clone, Copy)]
struct PassedOver {
    since: SimTime,
    /// The number of offers since then.
    offers: u64,
    /// The numbers of its running and finished tasks: the job starves only if neither number
    /// changes.
    is_at: (u32, u32),
}

impl WatchedPolicy {
    pub(super) const fn new(policy: Box<dyn Scheduler>, seen: Arc<Mutex<RunObservations>>) -> Self {
        Self { policy, passed_over: Vec::new(), seen }
    }

    /// Notes the jobs that got no slot from an offer; ends the run if one of them starves.
    fn look(&mut self, offer: &mut Offer<'_>, kind: SlotKind) {
        let now = offer.view().now();
        let running: Vec<JobId> = offer.running_jobs().map(Job::id).collect();
        for id in running {
            // Skip a job that avoids the tracker or does not fit there.
            if !offer.suits(id, kind, 1) || !offer.fits(id, kind) {
                continue;
            }
            let view = offer.view();
            let Some(job) = view.job(id).filter(|job| 0 < job.pending(kind)) else { continue };
            let is_at = (job.tasks(kind).running(), job.tasks(kind).finished());
            if self.passed_over.len() <= id.index() {
                self.passed_over.resize_with(id.index() + 1, PerSlot::default);
            }
            let noted = &mut self.passed_over[id.index()][kind];
            // If a task has begun or ended since, count from now.
            let same = noted.filter(|noted| noted.is_at == is_at);
            let mut passed_over = same.unwrap_or(PassedOver { since: now, offers: 0, is_at });
            passed_over.offers += 1;
            *noted = Some(passed_over);
            let waited = now.saturating_since(passed_over.since);
            if STARVED < waited && LEAST_OFFERS <= passed_over.offers {
                let words = format!(
                    "for {} `{}` (job {}) has {} to launch, {} had a free slot for them, and it got none",
                    span(waited.as_secs_f64()),
                    job.spec().name,
                    id.0,
                    counted(u64::from(job.pending(kind)), kind.word()),
                    counted(passed_over.offers, "offer"),
                );
                self.seen.lock().starved = Some(words.clone());
                // `resume_unwind` calls no panic hook, so nothing is printed.
                resume_unwind(Box::new(PolicyFailed(words)));
            }
        }
    }
}

impl Wrapper for WatchedPolicy {
    fn inner(&self) -> &dyn Scheduler {
        &*self.policy
    }

    fn pass<R>(&mut self, ask: impl FnOnce(&mut dyn Scheduler) -> R) -> R {
        ask(&mut *self.policy)
    }

    fn offer_inner(&mut self, offer: &mut Offer<'_>) {
        self.policy.offer(offer);
        // Call `look` after the policy's turn: a job was passed over only if the policy left a slot
        // free.
        for kind in SlotKind::BOTH {
            if 0 < offer.free(kind) {
                self.look(offer, kind);
            }
        }
    }
}
