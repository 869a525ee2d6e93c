//! Trackers with many failures are blacklisted, and get no tasks for a while.
//!
//! When a job succeeds, each tracker that it avoided gets a *fault*: other trackers could do the
//! job's work, and this one could not. A tracker is blacklisted when it has enough faults, and more
//! than one and a half times as many as the average tracker. At most half of the cluster is
//! blacklisted. Attempts that run there go on; attempts that are suspended there are killed.
//!
//! After a day without a new fault, one fault is forgiven; as in Hadoop, this ends the
//! blacklisting, however many faults are left. A restart of the tracker clears all faults.
//!
//! Where trackers are not blacklisted, as in 1.x, they are *graylisted*: they are noted, and still
//! get tasks. For the graylist only faults of the last three hours count (a window that moves every
//! quarter of an hour). A tracker with too few faults in this window leaves the list. Mumak has
//! neither list. A node whose health script reports an error is blacklisted in any case, until the
//! script reports none.

use super::{Ledger, Tracker};
use crate::cluster::TrackerId;
use crate::mapred::event::{AttemptState, Fact, MemberFact};
use crate::mapred::ids::{AttemptId, JobId};
use crate::mapred::outbox::Outbox;
use crate::mapred::reason::Reason;
use mumakil_base::units::{SimSpan, SimTime};

/// One fault is forgiven when more than this time has passed without a new fault.
// JobTracker.java, UPDATE_FAULTY_TRACKER_INTERVAL: 24 hours.
const GRUDGE: SimSpan = SimSpan::from_secs(24 * 60 * 60);

/// The graylist counts faults in buckets of this length; each bucket begins at a multiple of this
/// length.
// 1.x: `mapred.jobtracker.blacklist.fault-bucket-width`, 15 minutes by default.
const BUCKET: SimSpan = SimSpan::from_secs(15 * 60);

/// How many buckets count, including the current one.
// 1.x: `mapred.jobtracker.blacklist.fault-timeout-window`, 180 minutes by default.
const BUCKETS: u64 = 12;

/// The faults of the last hours.
#[derive(Debug, Default)]
pub(super) struct RecentFaults {
    /// The bucket of each fault, in order.
    buckets: Vec<u64>,
}

impl RecentFaults {
    fn bucket(now: SimTime) -> u64 {
        now.as_micros() / BUCKET.as_micros()
    }

    fn add(&mut self, now: SimTime) {
        self.buckets.push(Self::bucket(now));
    }

    /// Returns how many faults count, and forgets older ones.
    fn count(&mut self, now: SimTime) -> u32 {
        let now = Self::bucket(now);
        self.buckets.retain(|bucket| now < bucket + BUCKETS);
        self.buckets.len() as u32
    }
}

impl Ledger {
    /// Adds a fault to each tracker that a successful job avoided.
    pub(super) fn count_faults(&mut self, job: JobId, out: &mut Outbox) {
        // Mumak's trackers have no faults.
        if !self.hadoop.behaviour().counts_faults {
            return;
        }
        let job = self.known(job);
        let most = job.settings.tracker_failures;
        let failing = job.failures_on.iter().filter(|(_, failures)| most <= **failures);
        let avoided: Vec<TrackerId> = failing.map(|(id, _)| *id).collect();
        for id in avoided {
            if !self.hadoop.blacklist {
                self.add_recent_fault(id, out);
                continue;
            }
            let tracker = &mut self.trackers[id.index()];
            tracker.faults += 1;
            tracker.faults_changed_at = out.now;
            let (faults, is_listed) = (tracker.faults, tracker.is_blacklisted);
            if !is_listed && self.is_too_much(faults) {
                // Count the fault before blacklisting, since the average includes it.
                self.change_shunning(id, |tracker| tracker.is_blacklisted = true, out);
            }
        }
    }

    /// Adds a fault that counts for the graylist.
    fn add_recent_fault(&mut self, id: TrackerId, out: &mut Outbox) {
        self.trackers[id.index()].recent_faults.add(out.now);
        let counts = |tracker: &mut Tracker| tracker.recent_faults.count(out.now);
        let faults = counts(&mut self.trackers[id.index()]);
        // Let every tracker forget its old faults first, so that the average is over the same
        // window.
        let all = self.trackers.iter_mut().map(|tracker| u64::from(counts(tracker))).sum();
        let known = self.trackers.iter().filter(|tracker| tracker.is_registered);
        let graylisted = known.clone().filter(|known| known.is_graylisted).count();
        // Hadoop never lists more than half of the cluster (JobTracker.java,
        // MAX_BLACKLIST_PERCENT).
        let is_half = known.count() <= 2 * graylisted;
        let is_listed = self.trackers[id.index()].is_graylisted;
        if !is_listed && !is_half && self.exceeds_average(faults, all) {
            self.trackers[id.index()].is_graylisted = true;
            out.emit(Fact::Member(id, MemberFact::Graylisted));
        }
    }

    /// Takes a tracker off the graylist if it has too few recent faults.
    fn look_at_graylist(&mut self, id: TrackerId, out: &mut Outbox) {
        let least = self.hadoop.tracker_faults.get();
        let tracker = &mut self.trackers[id.index()];
        if tracker.is_graylisted && tracker.recent_faults.count(out.now) < least {
            tracker.is_graylisted = false;
            out.emit(Fact::Member(id, MemberFact::OffGraylist));
        }
    }

    /// Kills the suspended attempts on a tracker, where they would never be resumed. Walks all
    /// tasks.
    fn end_suspended(&mut self, id: TrackerId, out: &mut Outbox) {
        let on_it = self.open.iter().flat_map(|job| self.attempts_on(*job, Some(id)));
        // Collect first, as each kill changes the ledger that is being walked.
        let suspended: Vec<AttemptId> = on_it
            .filter(|attempt| {
                self.attempt(*attempt).is_some_and(|known| known.state == AttemptState::Suspended)
            })
            .collect();
        for attempt in suspended {
            self.order_end(attempt, Reason::TrackerShunned, out);
        }
    }

    fn is_too_much(&self, faults: u32) -> bool {
        let all = self.trackers.iter().map(|tracker| u64::from(tracker.faults)).sum();
        let blacklisted = self.blacklisted().count();
        // If fewer trackers are blacklisted than active, less than half of all are blacklisted.
        self.exceeds_average(faults, all) && blacklisted < self.active as usize
    }

    /// Returns whether a tracker's faults are enough for a list: at least `tracker_faults`, and
    /// more than one and a half times the average, where `all` is the sum over all trackers.
    fn exceeds_average(&self, faults: u32, all: u64) -> bool {
        let is_enough = self.hadoop.tracker_faults.get() <= faults;
        // Without division: faults > 1.5 × all ÷ active. Hadoop's `blacklist.average.threshold` is
        // 0.5, which means one and a half times the average.
        is_enough && 3 * all < 2 * u64::from(faults) * u64::from(self.active)
    }

    /// Returns the registered trackers that are blacklisted. Walks all trackers.
    pub(crate) fn blacklisted(&self) -> impl Iterator<Item = &Tracker> {
        self.trackers.iter().filter(|tracker| tracker.is_registered && tracker.is_blacklisted)
    }

    /// Forgives a tracker one fault if its last fault was a day ago, and updates the graylist.
    #[inline]
    pub(crate) fn forget_old_fault(&mut self, id: TrackerId, out: &mut Outbox) {
        self.look_at_graylist(id, out);
        let tracker = &mut self.trackers[id.index()];
        if 0 < tracker.faults && GRUDGE < out.now.saturating_since(tracker.faults_changed_at) {
            tracker.faults -= 1;
            // Forgive only one fault a day: the next one is forgiven a day later.
            tracker.faults_changed_at = out.now;
            self.lift_blacklisting(id, out);
        }
    }

    /// Forgives all faults of a tracker whose process has restarted.
    pub(crate) fn clear_faults(&mut self, id: TrackerId, out: &mut Outbox) {
        self.trackers[id.index()].faults = 0;
        self.trackers[id.index()].recent_faults.buckets.clear();
        self.look_at_graylist(id, out);
        self.lift_blacklisting(id, out);
    }

    fn lift_blacklisting(&mut self, id: TrackerId, out: &mut Outbox) {
        if self.trackers[id.index()].is_blacklisted {
            self.change_shunning(id, |tracker| tracker.is_blacklisted = false, out);
        }
    }

    /// Notes whether a node's health script reports an error.
    pub(crate) fn set_health(&mut self, id: TrackerId, is_unhealthy: bool, out: &mut Outbox) {
        if self.trackers[id.index()].is_unhealthy != is_unhealthy {
            self.change_shunning(id, |tracker| tracker.is_unhealthy = is_unhealthy, out);
        }
    }

    /// Changes the flags that keep a tracker from getting tasks. Emits an event if the tracker now
    /// gets no more tasks, or gets tasks again.
    fn change_shunning(
        &mut self,
        id: TrackerId,
        change: impl FnOnce(&mut Tracker),
        out: &mut Outbox,
    ) {
        // A tracker may be blacklisted and unhealthy at the same time: emit an event only for the
        // first and the last cause.
        let was_shunned = self.trackers[id.index()].is_shunned();
        self.change_tracker(id, change);
        match (was_shunned, self.trackers[id.index()].is_shunned()) {
            (false, true) => {
                out.emit(Fact::Member(id, MemberFact::Blacklisted));
                self.end_suspended(id, out);
            }
            (true, false) => {
                // Waiting jobs may go on when a tracker gets tasks again, so this counts as a
                // change.
                self.moved_at = out.now;
                out.emit(Fact::Member(id, MemberFact::Forgiven));
            }
            (true, true) | (false, false) => {}
        }
    }
}
