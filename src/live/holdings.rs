//! The shares of pools and queues in the picture: the policy is asked for them after each picture.

use std::sync::Arc;

use super::session::Session;
use crate::mapred::{Offer, Scheduler, SlotKind, Wrapper};

/// A wrapper around a policy that reports its pools to the session.
pub(super) struct AskedPolicy {
    pub(super) policy: Box<dyn Scheduler>,
    pub(super) session: Arc<Session>,
}

impl Wrapper for AskedPolicy {
    fn inner(&self) -> &dyn Scheduler {
        &*self.policy
    }

    fn pass<R>(&mut self, ask: impl FnOnce(&mut dyn Scheduler) -> R) -> R {
        ask(&mut *self.policy)
    }

    fn offer_inner(&mut self, offer: &mut Offer<'_>) {
        self.policy.offer(offer);
        // Ask after the offer, and change nothing: watching must not affect the run.
        self.session.weigh(|picture| {
            let view = offer.view();
            for kind in SlotKind::BOTH {
                self.policy.holdings(&view, kind, &mut |group, holding| {
                    picture.weigh(group, kind, holding);
                });
            }
        });
    }
}
