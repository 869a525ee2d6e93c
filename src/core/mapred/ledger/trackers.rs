//! Trackers: they join, they may be kept out, and they are given up with all that lay on them.

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
            // The reports of an earlier process, and orders for it, do not concern this one.
            tracker.reports.clear();
            tracker.orders.clear();
        });
        self.moved_at = out.now;
        // Hadoop looks for maps in other racks in the order in which it met these.
        self.racks.meet(self.topology.rack(id).0);
        self.tell_outputs(ToMapOutputs::Joined(id), out);
        out.emit(Fact::Member(id, MemberFact::Joined));
    }

    /// Changes what decides whether a tracker may get tasks; the sums over all trackers follow.
    pub(super) fn change_tracker(&mut self, id: TrackerId, change: impl FnOnce(&mut Tracker)) {
        let tracker = &mut self.trackers[id.index()];
        // Before the change: a tracker may come back with other slots than it had.
        let (was_active, slots) = (tracker.is_active(), tracker.slots);
        change(tracker);
        if was_active {
            self.active -= 1;
            for kind in SlotKind::BOTH {
                self.capacity[kind] -= slots[kind];
            }
        }
        if tracker.is_active() {
            self.active += 1;
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
            // In this order nothing goes below zero.
            self.occupied[kind] = self.occupied[kind] + occupied[kind] - tracker.occupied[kind];
        }
        tracker.occupied = occupied;
    }

    /// Gives a tracker up: what ran there is killed, and maps whose output lay there run again.
    pub(crate) fn lose_tracker(&mut self, id: TrackerId, out: &mut Outbox) {
        self.remove_tracker(id, out);
        // Jobs that have ended, too: attempts that they left running hold open their books.
        let jobs: Vec<JobId> = self.jobs.iter().flatten().map(|job| job.id()).collect();
        for job in jobs {
            let mut has_failed = false;
            for attempt in self.attempts_on(job, Some(id)) {
                has_failed = true;
                self.lose_with_tracker(attempt, out);
            }
            has_failed |= self.lose_map_outputs(job, id, out);
            // As in Hadoop, one failure a job for a lost tracker, however many attempts were on it.
            if has_failed {
                self.blame(job, id);
            }
        }
        self.trackers[id.index()].work = 0;
    }

    /// Takes a tracker that is given up off the list.
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

    /// Puts a node on the list of nodes that may not take part: its tracker is given up at once,
    /// and ordered to end with its next heartbeat.
    pub(crate) fn exclude(&mut self, id: TrackerId, out: &mut Outbox) {
        let tracker = &mut self.trackers[id.index()];
        // Two faults of a scenario may exclude the same node at a time; both have to end.
        tracker.exclusions += 1;
        if tracker.exclusions == 1 {
            out.emit(Fact::befell(id, Incident::Excluded));
        }
        if self.trackers[id.index()].is_registered {
            self.lose_tracker(id, out);
        }
    }

    /// Takes a node off that list.
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
        // It has ended already; another tracker can remove its output, which lies in HDFS.
        if record.waits_for_cleaner() {
            return;
        }
        let (order, reason) = (Order::Kill, Reason::TrackerLost);
        out.emit(Fact::Ledger(attempt, record.tracker, LedgerFact::Ordered { order, reason }));
        let was_at_work = matches!(record.state, AttemptState::Running | AttemptState::Suspended);
        // In Hadoop what waits for its commit or is cleaned up after leaves nothing unclean.
        if was_at_work && self.cleans_up_after(attempt) {
            self.leave_unclean(attempt, AttemptState::KilledUnclean, out);
        } else {
            self.lose(attempt, Outcome::Killed, out);
        }
    }

    /// Makes the completed maps of a job with reduces run again if their output lay on a tracker;
    /// returns whether there were any.
    fn lose_map_outputs(&mut self, id: JobId, tracker: TrackerId, out: &mut Outbox) -> bool {
        let job = self.known(id);
        // The output of a map without reduces is in HDFS. A job that is over needs none again.
        if job.reduces.total == 0 || !job.is_running() {
            return false;
        }
        let lost: Vec<AttemptId> = (0..)
            .zip(&job.maps.tasks)
            .filter_map(|(index, task)| match task.stage {
                // As in Hadoop, even if all reduces have fetched the output already.
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
