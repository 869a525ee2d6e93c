//! A run that is repeated to hear who contended for slots: from an instant on, on some trackers.
//!
//! A run on the virtual clock is the same again, so nothing of this has to be recorded. The policy is
//! wrapped, as the stopwatch wraps it: neither it nor the JobTracker knows of it.

use std::collections::BTreeSet;
use std::sync::Arc;

use parking_lot::Mutex;

use super::{EmulationError, Options, Prepared};
use crate::mapred::{
    AttemptId, Event, Fact, LedgerFact, Lineup, Offer, Role, Scheduler, SlotKind, TrackerId,
    Wrapper,
};
use crate::record::{Books, End, RecordError, Watcher};
use crate::scenario::Registry;
use crate::units::SimTime;

/// What is to be heard.
#[derive(Clone, Debug)]
pub struct Listening {
    /// From when on.
    pub from: SimTime,
    /// Until when; the run stops there.
    pub until: SimTime,
    /// The trackers whose offers are listened to.
    pub trackers: BTreeSet<TrackerId>,
}

/// What was heard.
#[derive(Clone, Debug, Default)]
pub struct Heard {
    /// What was launched on any tracker and when, in the order in which this was decided; setups and
    /// cleanups of jobs among them.
    pub launches: Vec<(SimTime, AttemptId, TrackerId)>,
    /// The offers that were listened to, in their order.
    pub offers: Vec<HeardOffer>,
}

/// An offer, and who contended for its slots.
#[derive(Clone, Debug)]
pub struct HeardOffer {
    /// When it was made.
    pub at: SimTime,
    /// The tracker.
    pub tracker: TrackerId,
    /// What the policy launched there.
    pub launched: Vec<AttemptId>,
    /// What the policy told; nothing, if it does not tell who contends.
    pub lineups: Vec<Lineup>,
}

/// Listens to a policy; what it has heard can be read when the run is over.
#[derive(Clone, Debug)]
pub struct Listener {
    listening: Listening,
    heard: Arc<Mutex<Heard>>,
}

/// A policy that is listened to.
struct Overheard {
    policy: Box<dyn Scheduler>,
    listener: Listener,
}

impl Prepared {
    /// Repeats the run up to where nothing more is to be heard.
    ///
    /// # Errors
    /// As [`super::emulate`].
    pub fn listen(
        &self,
        registry: &Registry,
        listening: Listening,
    ) -> Result<Heard, EmulationError> {
        let mut repeated = self.clone();
        let until = listening.until - SimTime::ZERO;
        repeated.scenario.until = Some(repeated.scenario.until.map_or(until, |end| end.min(until)));
        let listener = Listener { listening, heard: Arc::default() };
        let own = listener.clone();
        let options = Options {
            watchers: vec![Box::new(listener.clone())],
            around: Some(Box::new(move |policy| own.around(policy))),
            ..Options::default()
        };
        repeated.emulate(registry, options)?;
        Ok(std::mem::take(&mut *listener.heard.lock()))
    }
}

impl Listener {
    /// Returns the policy, listened to.
    fn around(&self, policy: Box<dyn Scheduler>) -> Box<dyn Scheduler> {
        Box::new(Overheard { policy, listener: self.clone() })
    }

    fn hears(&self, at: SimTime) -> bool {
        self.listening.from <= at
    }
}

impl Watcher for Listener {
    fn see(&mut self, event: &Event, _: &Books) -> Result<(), RecordError> {
        if let Fact::Ledger(attempt, tracker, LedgerFact::Assigned { role: Role::Work, .. }) =
            event.fact
            && self.hears(event.at)
        {
            self.heard.lock().launches.push((event.at, attempt, tracker));
        }
        Ok(())
    }

    fn finish(&mut self, _: &End<'_>) -> Result<(), RecordError> {
        Ok(())
    }
}

impl Overheard {
    /// Lets the policy answer, and returns who contended.
    ///
    /// A policy that tells it slot by slot is taken at its word. One that does not was asked before, and
    /// where nothing was launched it is asked after, when it has seen the offer.
    fn overhear(&mut self, offer: &mut Offer<'_>) -> Vec<Lineup> {
        let before = SlotKind::BOTH.map(|kind| self.policy.contenders(offer, kind));
        offer.listen();
        self.policy.offer(offer);
        let mut lineups = offer.told_contenders();
        for (kind, before) in SlotKind::BOTH.into_iter().zip(before) {
            if lineups.iter().any(|lineup| lineup.kind == kind) {
                continue;
            }
            let nothing = offer.launched().all(|attempt| attempt.slot() != kind);
            let who = if nothing { self.policy.contenders(offer, kind) } else { before };
            lineups.extend(who.map(|contenders| Lineup { kind, launched: 0, contenders }));
        }
        let view = offer.view();
        self.policy.withheld(&view, &mut |job, kind, reason| {
            let has_some = view.job(job).is_some_and(|job| 0 < job.pending(kind));
            for lineup in lineups.iter_mut().filter(|lineup| lineup.kind == kind && has_some) {
                lineup.add_withheld(job, reason);
            }
        });
        lineups
    }
}

impl Wrapper for Overheard {
    fn inner(&self) -> &dyn Scheduler {
        &*self.policy
    }

    fn pass<R>(&mut self, ask: impl FnOnce(&mut dyn Scheduler) -> R) -> R {
        ask(&mut *self.policy)
    }

    fn offer_inner(&mut self, offer: &mut Offer<'_>) {
        let (at, tracker) = (offer.view().now(), offer.tracker());
        if !self.listener.hears(at) || !self.listener.listening.trackers.contains(&tracker) {
            return self.policy.offer(offer);
        }
        let lineups = self.overhear(offer);
        let launched = offer.launched().collect();
        let heard = HeardOffer { at, tracker, launched, lineups };
        self.listener.heard.lock().offers.push(heard);
    }
}
