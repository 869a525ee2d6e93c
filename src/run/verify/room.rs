//! Checks the memory and cores of nodes, where the cluster counts them: the attempts that the
//! JobTracker launches on a node ask for no more than it has.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Check, InvariantBreach};
use mumakil_core::cluster::{Amounts, Topology};
use mumakil_core::mapred::{
    AttemptFact, AttemptId, Event, Fact, JobFact, JobId, LedgerFact, Order, PerSlot, Role,
    TrackerId,
};

/// The amounts that attempts hold on each node.
#[derive(Debug)]
pub(super) struct CheckedRoom {
    topology: Arc<Topology>,
    /// The amounts that each task of a job asks for.
    asks: BTreeMap<JobId, PerSlot<Amounts>>,
    /// The attempts that hold something, and the sums by node.
    held: BTreeMap<AttemptId, (TrackerId, Amounts)>,
    sums: BTreeMap<TrackerId, Amounts>,
    /// An attempt that does not fit, unless the next fact is a kill for its sake.
    too_much: Option<(AttemptId, TrackerId)>,
}

impl CheckedRoom {
    /// Returns the checker for a cluster; `None` if the cluster counts only slots.
    pub(super) fn of(topology: &Arc<Topology>) -> Option<Self> {
        let counts = !topology.counted().are_only_slots();
        counts.then(|| Self {
            topology: topology.clone(),
            asks: BTreeMap::new(),
            held: BTreeMap::new(),
            sums: BTreeMap::new(),
            too_much: None,
        })
    }

    /// Checks the next fact.
    pub(super) fn see(&mut self, event: &Event, check: &mut Check<'_>) {
        // An order to end may make room for the attempt that was launched just before.
        if let Fact::Ledger(
            victim,
            _,
            LedgerFact::Ordered { order: Order::Kill | Order::Checkpoint, .. },
        ) = event.fact
        {
            self.release(victim);
        }
        if let Some((attempt, tracker)) = self.too_much.take() {
            let fits = self.fits(tracker);
            check.that(fits, || InvariantBreach::RoomOverCommitted { attempt, tracker });
        }
        match event.fact {
            Fact::Job(job, JobFact::Submitted(ref spec)) => {
                let asks = PerSlot::of(|kind| spec.demand(kind, self.topology.counted()));
                self.asks.insert(job, asks);
            }
            Fact::Ledger(attempt, tracker, LedgerFact::Assigned { role: Role::Work, .. })
                if attempt.task.is_work() =>
            {
                self.launch(attempt, tracker);
            }
            Fact::Attempt(attempt, _, AttemptFact::Ended { role: Role::Work, .. }) => {
                self.release(attempt);
            }
            Fact::Ledger(attempt, _, LedgerFact::Learned { state, .. })
                if !state.is_under_way() =>
            {
                self.release(attempt);
            }
            _ => {}
        }
    }

    fn launch(&mut self, attempt: AttemptId, tracker: TrackerId) {
        let asks = self.asks.get(&attempt.job()).copied().unwrap_or_default()[attempt.slot()];
        self.held.insert(attempt, (tracker, asks));
        *self.sums.entry(tracker).or_default() += asks;
        if !self.fits(tracker) {
            self.too_much = Some((attempt, tracker));
        }
    }

    /// Returns whether a node has all that the attempts on it ask for.
    fn fits(&self, tracker: TrackerId) -> bool {
        let sum = self.sums.get(&tracker).copied().unwrap_or_default();
        sum.fit_in(self.topology.amounts(tracker))
    }

    fn release(&mut self, attempt: AttemptId) {
        if let Some((tracker, asks)) = self.held.remove(&attempt) {
            *self.sums.entry(tracker).or_default() -= asks;
        }
    }
}
