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
            tracker.reports.clear();
            tracker.orders.clear();
        });
        self.moved_at = out.now;
        self.racks.meet(self.topology.rack(id).0);
        self.tell_outputs(ToMapOutputs::Joined(id), out);
        out.emit(Fact::Member(id, MemberFact::Joined));
    }

    /// Changes what decides whether a tracker may get tasks; the sums over all trackers follow.
    pub(super) fn change_tracker(&mut self, id: TrackerId, change: impl FnOnce(&mut Tracker)) {
        let tracker = &mut self.trackers[id.index()];
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
        self.interval = self.hadoop.heartbeat_interval(self.active);
    }

    pub(crate) fn set_occupied(&mut self, id: TrackerId, occupied: PerSlot<u32>) {
        let tracker = &mut self.trackers[id.index()];
        for kind in SlotKind::BOTH {
            self.occupied[kind] = self.occupied[kind] + occupied[kind] - tracker.occupied[kind];
        }
        tracker.occupied = occupied;
    }

    /// Gives a tracker up: what ran there is killed, and maps whose output lay there run again.
    pub(crate) fn lose_tracker(&mut self, id: TrackerId, out: &mut Outbox) {
        self.remove_tracker(id, out);
        let jobs: Vec<JobId> = self.jobs.iter().flatten().map(|job| job.id()).collect();
        for job in jobs {
            let mut has_failed = false;
            for attempt in self.attempts_on(job, Some(id)) {
                has_failed = true;
                self.lose_with_tracker(attempt, out);
            }
            has_failed |= self.lose_map_outputs(job, id, out);
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

    /// Puts a node on the list of those that may not take part: its tracker is given up at once, and
    /// told to end with its next heartbeat.
    pub(crate) fn exclude(&mut self, id: TrackerId, out: &mut Outbox) {
        let tracker = &mut self.trackers[id.index()];
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
        // The loss of another attempt may have ended the job, and with it what was left of this one.
        let Some(record) = self.find_try(attempt) else { return };
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
        if job.reduces.total == 0 || !job.is_running() {
            return false;
        }
        let lost: Vec<AttemptId> = (0..)
            .zip(&job.maps.tasks)
            .filter_map(|(index, task)| match task.stage {
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
