//! Jobs that starve under a policy: slots are free for them, and they get none.
//!
//! A cluster with faults may come to a stall under any policy: starvation is told only where `fifo` ends
//! the same case.

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
    Offer, PerSlot, PolicyFailed, Scheduler, SlotKind, StopReason, Wrapper,
};
use mumakil_run::emulation::Options;

/// How long a job may be passed over by free slots. Policies hold a job back for seconds, for a slot with
/// its input; tasks that are drawn take minutes.
const STARVED: SimSpan = SimSpan::from_secs(2 * 60 * 60);

/// A job starves, or the run stalls, and neither would under `fifo`.
pub(super) fn starves(trial: &Trial<'_>, case: &mut Case<'_>) -> Option<CaseFlaw> {
    let words = match (&case.first.seen.starved, case.first.stop()) {
        (Some(words), _) => words.clone(),
        (None, Some(StopReason::Stalled(stall))) => {
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
    (!may_move_by_chance(case) && ends())
        .then(|| CaseFlaw::new(what, format!("{what}: {words}\n  {rule}")))
}

/// A policy that is watched: a job that it passes over for too long has starved, and ends the run.
pub(super) struct WatchedPolicy {
    policy: Box<dyn Scheduler>,
    /// Since when each job is passed over, by number.
    passed_over: Vec<PerSlot<Option<PassedOver>>>,
    seen: Arc<Mutex<RunObservations>>,
}

/// A job that got nothing though a slot was free for it.
#[derive(Clone, Copy)]
struct PassedOver {
    since: SimTime,
    /// How many offers there have been.
    offers: u64,
    /// Its tasks that run and that are done: while these are the same, nothing of it moves.
    is_at: (u32, u32),
}

impl WatchedPolicy {
    pub(super) const fn new(policy: Box<dyn Scheduler>, seen: Arc<Mutex<RunObservations>>) -> Self {
        Self { policy, passed_over: Vec::new(), seen }
    }

    /// Notes which jobs got nothing of an offer.
    fn look(&mut self, offer: &Offer<'_>, kind: SlotKind) {
        let view = offer.view();
        let now = view.now();
        for job in view.running_jobs() {
            let id = job.id();
            if job.pending(kind) == 0 || !offer.suits(id, kind, 1) {
                continue;
            }
            let is_at = (job.tasks(kind).running(), job.tasks(kind).finished());
            if self.passed_over.len() <= id.index() {
                self.passed_over.resize_with(id.index() + 1, PerSlot::default);
            }
            let noted = &mut self.passed_over[id.index()][kind];
            let same = noted.filter(|noted| noted.is_at == is_at);
            let mut passed_over = same.unwrap_or(PassedOver { since: now, offers: 0, is_at });
            passed_over.offers += 1;
            *noted = Some(passed_over);
            let waited = now.saturating_since(passed_over.since);
            if STARVED < waited {
                let words = format!(
                    "for {} `{}` (job {}) has {} to launch, {} had a free slot for them, and it got none",
                    span(waited.as_secs_f64()),
                    job.spec().name,
                    id.0,
                    counted(u64::from(job.pending(kind)), kind.word()),
                    counted(passed_over.offers, "offer"),
                );
                self.seen.lock().starved = Some(words.clone());
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
        for kind in SlotKind::BOTH.into_iter().filter(|kind| 0 < offer.free(*kind)) {
            self.look(offer, kind);
        }
    }
}
