//! Trackers that fail job after job: they are blacklisted, and get no tasks for a while.
//!
//! A tracker that a job avoided has a *fault* when that job succeeds: others could do what it could
//! not. With enough faults, and with half as many again as the average tracker, it is blacklisted,
//! unless half of the cluster is. What runs there goes on; what is suspended there ends.
//!
//! A day without a fault forgives one, and that lifts the blacklisting however many are left:
//! Hadoop's behaviour, kept. A restart of the tracker clears everything.
//!
//! A node whose health script complains is blacklisted as well, as long as it does.

use super::{Ledger, Tracker};
use crate::mapred::{AttemptId, AttemptState, Fact, JobId, Outbox, Reason, TrackerId};
use crate::units::{SimSpan, SimTime};

/// A fault is forgiven when there was none for longer than this.
const GRUDGE: SimSpan = SimSpan::from_secs(24 * 60 * 60);

impl Ledger {
    /// Adds a fault to each tracker that a job which has succeeded avoided.
    pub(super) fn count_faults(&mut self, now: SimTime, job: JobId, out: &mut Outbox) {
        let most = self.hadoop.tracker_failures.get();
        if !self.hadoop.blacklist {
            return;
        }
        let avoided = self.known(job).failures_on.iter().filter(|(_, failures)| most <= **failures);
        let avoided: Vec<TrackerId> = avoided.map(|(id, _)| *id).collect();
        for id in avoided {
            let tracker = &mut self.trackers[id.index()];
            tracker.faults += 1;
            tracker.faults_changed_at = now;
            let (faults, is_listed) = (tracker.faults, tracker.is_blacklisted);
            if !is_listed && self.is_too_much(faults) {
                self.change_shunning(now, id, |tracker| tracker.is_blacklisted = true, out);
            }
        }
    }

    /// Ends what is suspended on a tracker: nobody will let it go on there. Walks all tasks.
    fn end_suspended(&mut self, now: SimTime, id: TrackerId, out: &mut Outbox) {
        let on_it = self.open.iter().flat_map(|job| self.attempts_on(*job, Some(id)));
        let is_suspended = |attempt: &AttemptId| {
            self.attempt(*attempt).is_some_and(|known| known.state == AttemptState::Suspended)
        };
        let suspended: Vec<AttemptId> = on_it.filter(is_suspended).collect();
        for attempt in suspended {
            self.doom(now, attempt, Reason::TrackerShunned, out);
        }
    }

    fn is_too_much(&self, faults: u32) -> bool {
        if faults < self.hadoop.tracker_faults.get() {
            return false;
        }
        let all: u64 = self.trackers.iter().map(|tracker| u64::from(tracker.faults)).sum();
        // More than one and a half times the average, all / active.
        let stands_out = 3 * all < 2 * u64::from(faults) * u64::from(self.active);
        let blacklisted = self.blacklisted().count();
        // Less than half of those that are blacklisted or active.
        stands_out && blacklisted < self.active as usize
    }

    /// Returns the registered trackers that are blacklisted. Walks all trackers.
    pub(in crate::mapred) fn blacklisted(&self) -> impl Iterator<Item = &Tracker> {
        self.trackers.iter().filter(|tracker| tracker.is_registered && tracker.is_blacklisted)
    }

    /// Forgives a tracker a fault, if its last one is long ago.
    pub(in crate::mapred) fn forgive_in_time(
        &mut self,
        now: SimTime,
        id: TrackerId,
        out: &mut Outbox,
    ) {
        let tracker = &mut self.trackers[id.index()];
        if 0 < tracker.faults && GRUDGE < now.saturating_since(tracker.faults_changed_at) {
            tracker.faults -= 1;
            tracker.faults_changed_at = now;
            self.lift_blacklisting(now, id, out);
        }
    }

    /// Forgives a tracker that has started anew all its faults.
    pub(in crate::mapred) fn forgive_all(&mut self, now: SimTime, id: TrackerId, out: &mut Outbox) {
        self.trackers[id.index()].faults = 0;
        self.lift_blacklisting(now, id, out);
    }

    fn lift_blacklisting(&mut self, now: SimTime, id: TrackerId, out: &mut Outbox) {
        if self.trackers[id.index()].is_blacklisted {
            self.change_shunning(now, id, |tracker| tracker.is_blacklisted = false, out);
        }
    }

    /// Notes whether a node's health script finds the node unfit.
    pub(in crate::mapred) fn set_health(
        &mut self,
        now: SimTime,
        id: TrackerId,
        is_unhealthy: bool,
        out: &mut Outbox,
    ) {
        if self.trackers[id.index()].is_unhealthy != is_unhealthy {
            self.change_shunning(now, id, |tracker| tracker.is_unhealthy = is_unhealthy, out);
        }
    }

    /// Changes what keeps a tracker from getting tasks; tells if it gets none from now on, or again.
    fn change_shunning(
        &mut self,
        now: SimTime,
        id: TrackerId,
        change: impl FnOnce(&mut Tracker),
        out: &mut Outbox,
    ) {
        let was_shunned = self.trackers[id.index()].is_shunned();
        self.change_tracker(id, change);
        match (was_shunned, self.trackers[id.index()].is_shunned()) {
            (false, true) => {
                out.emit(now, Fact::TrackerBlacklisted(id));
                self.end_suspended(now, id, out);
            }
            (true, false) => {
                self.moved_at = now;
                out.emit(now, Fact::TrackerForgiven(id));
            }
            (true, true) | (false, false) => {}
        }
    }
}
