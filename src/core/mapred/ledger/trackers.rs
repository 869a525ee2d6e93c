//! Trackers join, are excluded, and are lost with all the outputs on them.

use super::{Ledger, Tracker};
use crate::cluster::{PerSlot, SlotKind, TrackerId};
use crate::mapred::event::{AttemptState, Fact, Incident, LedgerFact, MemberFact, Order, Outcome};
use crate::mapred::ids::{AttemptId, JobId, TaskId, TaskKind};
use crate::mapred::job::TaskStage;
use crate::mapred::message::ToMapOutputs;
use crate::mapred::outbox::Outbox;
use crate::mapred::reason::Reason;

impl Ledger {
    pub(crate) fn register(&mut self, id: TrackerId, slots: PerSlot<u32>, out: &mut Outbox) {
        self.change_tracker(id, |tracker| {
            tracker.is_registered = true;
            tracker.slots = slots;
            // Reports and orders of an earlier process do not concern the new process.
            tracker.reports.clear();
            tracker.orders.clear();
        });
        self.moved_at = out.now;
        // Hadoop looks for maps in other racks in the order in which it met the racks.
        self.racks.meet(self.topology.rack(id).0);
        self.tell_outputs(ToMapOutputs::Joined(id), out);
        out.emit(Fact::Member(id, MemberFact::Joined));
    }

    /// Changes whether a tracker may get tasks; updates the sums over all trackers.
    pub(super) fn change_tracker(&mut self, id: TrackerId, change: impl FnOnce(&mut Tracker)) {
        let tracker = &mut self.trackers[id.index()];
        // Read before the change: a tracker may come back with a different number of slots.
        let (was_active, slots) = (tracker.is_active(), tracker.slots);
        change(tracker);
        let amounts = self.topology.amounts(id);
        if was_active {
            self.active -= 1;
            self.total -= amounts;
            for kind in SlotKind::BOTH {
                self.capacity[kind] -= slots[kind];
            }
        }
        if tracker.is_active() {
            self.active += 1;
            self.total += amounts;
            for kind in SlotKind::BOTH {
                self.capacity[kind] += tracker.slots[kind];
            }
        }
        // As in Hadoop, blacklisted trackers do not count for the interval.
        self.interval = self.hadoop.heartbeat_interval(self.active);
    }

    pub(crate) fn set_occupied(&mut self, id: TrackerId, occupied: PerSlot<u32>) {
        let tracker = &mut self.trackers[id.index()];
        for kind in SlotKind::BOTH {
            // Adding comes before subtracting, so that no value goes below zero.
            self.occupied[kind] = self.occupied[kind] + occupied[kind] - tracker.occupied[kind];
        }
        tracker.occupied = occupied;
    }

    /// Declares a tracker lost: its attempts are killed, and maps whose output was there run again.
    pub(crate) fn lose_tracker(&mut self, id: TrackerId, out: &mut Outbox) {
        self.remove_tracker(id, out);
        // Include ended jobs: while attempts of an ended job still run, its tasks are in the
        // ledger.
        let jobs: Vec<JobId> = self.jobs.iter().flatten().map(|job| job.id()).collect();
        for job in jobs {
            let mut has_failed = false;
            for attempt in self.attempts_on(job, Some(id)) {
                has_failed = true;
                self.lose_with_tracker(attempt, out);
            }
            has_failed |= self.lose_map_outputs(job, id, out);
            // As in Hadoop, a lost tracker counts as one failure for each job, however many
            // attempts it ran.
            if has_failed {
                self.blame(job, id);
            }
        }
        self.trackers[id.index()].work = 0;
    }

    /// Removes a lost tracker from the active trackers.
    pub(super) fn remove_tracker(&mut self, id: TrackerId, out: &mut Outbox) {
        self.set_occupied(id, PerSlot::default());
        self.change_tracker(id, |tracker| {
            tracker.is_registered = false;
            tracker.orders.clear();
        });
        self.tell_outputs(ToMapOutputs::Left(id), out);
        self.moved_at = out.now;
        out.emit(Fact::Member(id, MemberFact::Lost));
        self.expect_no_more(id);
    }

    /// Excludes a node from the cluster: its tracker is lost at once, and ordered to end with its
    /// next heartbeat.
    pub(crate) fn exclude(&mut self, id: TrackerId, out: &mut Outbox) {
        let tracker = &mut self.trackers[id.index()];
        // Two faults of a scenario may exclude the same node at the same time: it is back when both
        // have ended.
        tracker.exclusions += 1;
        if tracker.exclusions == 1 {
            out.emit(Fact::befell(id, Incident::Excluded));
        }
        if self.trackers[id.index()].is_registered {
            self.lose_tracker(id, out);
        }
    }

    /// Ends one exclusion of a node.
    pub(crate) fn include(&mut self, id: TrackerId, out: &mut Outbox) {
        let tracker = &mut self.trackers[id.index()];
        tracker.exclusions -= 1;
        if tracker.exclusions == 0 {
            out.emit(Fact::befell(id, Incident::Included));
        }
    }

    fn lose_with_tracker(&mut self, attempt: AttemptId, out: &mut Outbox) {
        // The loss of another attempt may have ended the job, and with it this attempt.
        let Some(record) = self.find_try(attempt) else { return };
        // The attempt has ended already; another tracker can remove its output, which is in HDFS.
        if record.waits_for_cleaner() {
            return;
        }
        let (order, reason) = (Order::Kill, Reason::TrackerLost);
        out.emit(Fact::Ledger(attempt, record.tracker, LedgerFact::Ordered { order, reason }));
        let was_at_work = matches!(record.state, AttemptState::Running | AttemptState::Suspended);
        // In Hadoop an attempt that waits for its commit, or whose output is being removed, needs
        // no cleanup.
        if was_at_work && self.cleans_up_after(attempt) {
            self.leave_unclean(attempt, AttemptState::KilledUnclean, out);
        } else {
            self.lose(attempt, Outcome::Killed, out);
        }
    }

    /// Makes the completed maps of a job with reduces run again if their output was on a tracker;
    /// returns whether there were any.
    fn lose_map_outputs(&mut self, id: JobId, tracker: TrackerId, out: &mut Outbox) -> bool {
        let job = self.known(id);
        // The output of a map without reduces is in HDFS. A job that has ended needs no map again.
        if job.reduces.total == 0 || !job.is_running() {
            return false;
        }
        let lost: Vec<AttemptId> = (0..)
            .zip(&job.maps.tasks)
            .filter_map(|(index, task)| match task.stage {
                // As in Hadoop, the map runs again even if all reduces have fetched the output
                // already.
                TaskStage::Done(number, at) if at == tracker => {
                    Some(TaskId { job: id, kind: TaskKind::Map, index }.attempt(number))
                }
                TaskStage::Done(..) | TaskStage::Waiting | TaskStage::Active | TaskStage::Dead => {
                    None
                }
            })
            .collect();
        for attempt in &lost {
            self.lose_output(*attempt, Outcome::Killed, out);
        }
        !lost.is_empty()
    }
}
