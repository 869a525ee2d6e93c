//! How pools and queues stand, for the picture: the policy is asked whenever a new picture was made.

use std::sync::Arc;

use super::session::Session;
use crate::mapred::{Offer, Scheduler, SlotKind, Wrapper};

/// A policy that is asked now and then how its pools stand.
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
