//! The reason for which each application waits, from one decision to the next.
//!
//! An application waits while it asks for containers, and then until those that it got run. All
//! that time is cut into spans, without gaps: each has the reason of the last decision about the
//! application. An offer that others take, or that no one can take, is no decision about an
//! application that it does not reach. It changes the reason of those that nothing has reached
//! since they asked, which stand in a list; so it costs nothing for those that have a reason.

use std::mem;

use super::books::ClusterBooks;
use crate::event::{WaitSpan, YarnFact, YarnWait};
use crate::message::AppId;
use mumakil_base::units::SimTime;

/// The wait of one application.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WaitState {
    reason: Option<YarnWait>,
    since: SimTime,
    /// How many offers had been made when it began.
    offers_before: u32,
    /// The number of the last offer that reached the application.
    last_offer: u32,
    /// Whether no decision has reached the application since it asks.
    is_passive: bool,
}

/// The offers of nodes, and the applications that no decision has reached.
#[derive(Clone, Debug, Default)]
pub(crate) struct OfferLog {
    made: u32,
    /// The number of offers when applications were last passed by.
    passed: u32,
    /// Whether an application has got a container, or a node is kept for one, since then.
    pub(super) was_taken: bool,
    /// Those that an offer may pass by; the first ones know already that there is no room.
    unreached: Vec<AppId>,
    without_room: usize,
}

impl ClusterBooks {
    /// Counts an offer of a node.
    pub(crate) fn begin_offer(&mut self) {
        self.offers.made += 1;
    }

    /// Notes the reason for which a decision gives an application nothing.
    pub(crate) fn note_wait(&mut self, id: AppId, reason: YarnWait) {
        if self.app(id).is_asking && !self.app(id).is_held {
            self.set_wait(id, Some(reason), false);
        }
    }

    /// Notes that an application has got a container.
    pub(super) fn note_taken(&mut self, id: AppId) {
        self.offers.was_taken = true;
        match self.app(id).is_asking {
            true => self.set_wait(id, Some(YarnWait::Offer), true),
            false => self.settle_wait(id),
        }
    }

    /// Sets whether limits on masters or running applications keep an application out.
    pub(crate) fn hold(&mut self, id: AppId, is_held: bool) {
        if mem::replace(&mut self.app_mut(id).is_held, is_held) != is_held {
            self.app_mut(id).wait.is_passive = true;
            self.settle_wait(id);
        }
    }

    /// Finds the reason anew after the asks or the containers of an application have changed.
    pub(crate) fn settle_wait(&mut self, id: AppId) {
        let app = self.app(id);
        let reason = match app.wait.reason {
            _ if app.is_stopped => None,
            _ if app.is_held => Some(YarnWait::Activation),
            Some(YarnWait::Activation) if app.is_asking && app.wait.is_passive => {
                Some(YarnWait::Offer)
            }
            None | Some(YarnWait::Acquisition | YarnWait::Launch) if app.is_asking => {
                Some(YarnWait::Offer)
            }
            reason if app.is_asking => reason,
            _ if app.has_fresh() => Some(YarnWait::Acquisition),
            _ if 0 < app.acquired => Some(YarnWait::Launch),
            _ => None,
        };
        if reason != app.wait.reason {
            self.set_wait(id, reason, true);
        }
    }

    /// Tells applications that the offers since the last call have not reached them. `is_full` says
    /// whether the queue of one is at its maximum. Costs nothing if all have their reason.
    pub(crate) fn pass_by(&mut self, is_full: impl Fn(AppId) -> bool) {
        if mem::replace(&mut self.offers.passed, self.offers.made) == self.offers.made {
            return;
        }
        let was_taken = mem::take(&mut self.offers.was_taken);
        let first = if was_taken { 0 } else { self.offers.without_room };
        if self.offers.unreached.len() <= first {
            return;
        }
        let mut unreached = mem::take(&mut self.offers.unreached);
        let mut kept = first;
        for place in first..unreached.len() {
            let id = unreached[place];
            let WaitState { reason, last_offer, is_passive, .. } = self.app(id).wait;
            let waits = matches!(reason, Some(YarnWait::Offer | YarnWait::Room));
            if !is_passive || !waits {
                continue;
            }
            let (is_last, is_full) = (last_offer == self.offers.made, is_full(id));
            if !is_last {
                let other = if was_taken { YarnWait::Share } else { YarnWait::Room };
                let reason = if is_full { YarnWait::QueueMaximum } else { other };
                self.set_wait(id, Some(reason), true);
            }
            if is_last || !was_taken && !is_full {
                unreached[kept] = id;
                kept += 1;
            }
        }
        unreached.truncate(kept);
        self.offers.without_room = if was_taken { 0 } else { kept };
        self.offers.unreached = unreached;
    }

    fn set_wait(&mut self, id: AppId, reason: Option<YarnWait>, is_passive: bool) {
        let (now, made) = (self.now, self.offers.made);
        let app = self.app_mut(id);
        let master = app.master;
        (app.wait.last_offer, app.wait.is_passive) = (made, is_passive);
        if app.wait.reason == reason {
            return;
        }
        let next = WaitState { reason, since: now, offers_before: made, ..app.wait };
        let before = mem::replace(&mut app.wait, next);
        // A reason that held for no time is none.
        let reason_before = before.reason.filter(|_| before.since < now);
        let ended = reason_before.map(|reason| WaitSpan {
            reason,
            from: before.since,
            times: made - before.offers_before,
        });
        if reason == Some(YarnWait::Offer) {
            self.offers.unreached.push(id);
        }
        self.facts.push(YarnFact::Waits(master, ended, reason));
    }
}
