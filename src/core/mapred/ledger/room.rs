//! The memory and cores of trackers, where the cluster counts them: how much attempts hold, and how
//! much is left.
//!
//! An attempt holds what it asks for from its launch until it has ended or is ordered to end: the
//! tracker gets such an order with the reply that brings the next launch. A suspended attempt keeps
//! its process, and so all that it holds. Setups, cleanups and the removal of outputs hold nothing.

use super::Ledger;
use crate::cluster::{Amounts, SlotKind, TrackerId};
use crate::mapred::ids::{AttemptId, JobId};
use crate::mapred::job::Job;

impl Ledger {
    /// Returns whether a job accepts a tracker, and a task of this many slots could run there if the
    /// tracker were empty.
    pub(crate) fn suits(&self, job: &Job, tracker: TrackerId, kind: SlotKind, slots: u32) -> bool {
        let has_slots = slots <= self.trackers[tracker.index()].slots[kind];
        let asks = job.spec().demand(kind, self.topology.counted());
        has_slots && !self.avoids(job, tracker) && asks.fit_in(self.topology.amounts(tracker))
    }

    /// Returns the counted resources that each attempt of a job asks for.
    pub(crate) fn demand(&self, job: JobId, kind: SlotKind) -> Amounts {
        let job = self.job(job);
        job.map_or(Amounts::default(), |job| job.spec().demand(kind, self.topology.counted()))
    }

    /// Notes an attempt that is launched on a tracker.
    pub(super) fn note_holder(&mut self, attempt: AttemptId, tracker: TrackerId) {
        let holders = &mut self.trackers[tracker.index()].holders;
        if attempt.task.is_work() && !self.topology.counted().are_only_slots() {
            holders.push(attempt);
        }
    }

    /// Returns the counted resources that an attempt holds.
    pub(crate) fn held_by(&self, attempt: AttemptId) -> Amounts {
        let Some(job) = self.job(attempt.job()) else { return Amounts::default() };
        // Without `kill_orphans`, the attempts of a job that has ended are marked as killed, but run
        // on.
        let runs_on = !self.hadoop.kill_orphans && !job.is_running();
        match job
            .attempt(attempt)
            .is_some_and(|record| record.is_active() && (runs_on || !record.is_kill_ordered))
        {
            true => job.spec().demand(attempt.slot(), self.topology.counted()),
            false => Amounts::default(),
        }
    }

    /// Returns the counted resources that the attempts of a tracker hold.
    pub(crate) fn held_on(&mut self, tracker: TrackerId) -> Amounts {
        let mut holders = std::mem::take(&mut self.trackers[tracker.index()].holders);
        holders.retain(|attempt| self.is_active_on(*attempt, tracker));
        self.trackers[tracker.index()].holders = holders;
        self.held_of(tracker)
    }

    /// Returns whether a task of a job finds enough memory and cores on a tracker.
    pub(super) fn has_room(&self, job: &Job, kind: SlotKind, tracker: TrackerId) -> bool {
        let asks = job.spec().demand(kind, self.topology.counted());
        asks.fit_in(self.topology.amounts(tracker) - self.held_of(tracker))
    }

    fn held_of(&self, tracker: TrackerId) -> Amounts {
        let mut held = Amounts::default();
        let known = self.trackers[tracker.index()].holders.iter();
        let holders = known.filter(|attempt| self.is_active_on(**attempt, tracker));
        holders.for_each(|attempt| held += self.held_by(*attempt));
        held
    }

    fn is_active_on(&self, attempt: AttemptId, tracker: TrackerId) -> bool {
        let record = self.attempt(attempt);
        record.is_some_and(|record| record.tracker == tracker && record.is_active())
    }
}
