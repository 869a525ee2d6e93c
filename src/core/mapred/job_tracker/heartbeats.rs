//! Heartbeats at the JobTracker: they wait in a queue, are served one after another, and are
//! answered.

use std::sync::Arc;

use super::JobTracker;
use crate::cluster::{Amounts, PerSlot, SlotKind, TrackerId};
use crate::mapred::event::{AttemptState, Outcome};
use crate::mapred::hadoop::CommitPending;
use crate::mapred::heartbeat::{
    Directive, Heartbeat, HeartbeatCall, MapsDone, Missing, Reply, Report, TrackerStatus,
};
use crate::mapred::ids::{AttemptId, TaskKind};
use crate::mapred::message::{Mail, ToJobTracker, ToTracker};
use crate::mapred::outbox::Outbox;
use crate::mapred::scheduler::Offer;
use mumakil_base::units::{SimSpan, SimTime};

impl JobTracker {
    pub(super) fn queue_up(&mut self, heartbeat: &Heartbeat, out: &mut Outbox) {
        let now = out.now;
        if self.queue.is_empty() && self.busy_until <= now {
            return self.serve(now, now, heartbeat, out);
        }
        // Plan the service of the first heartbeat in the queue; `serve_next` plans the service of
        // the heartbeats behind it.
        if self.queue.is_empty() {
            self.plan_next(out);
        }
        self.queue.push_back((now, heartbeat.clone()));
    }

    fn plan_next(&self, out: &mut Outbox) {
        out.plan(self.busy_until.saturating_since(out.now), ToJobTracker::Serve(self.deaths));
    }

    pub(super) fn serve_next(&mut self, out: &mut Outbox) {
        let now = out.now;
        while let Some((arrived, heartbeat)) = self.queue.pop_front() {
            // On a scaled clock the message that the JobTracker is free comes late. The service
            // begins when the JobTracker became free; otherwise every service would be longer by
            // that delay, and heartbeats would queue for no reason.
            let begins = self.busy_until.max(arrived).min(now);
            self.serve(begins, arrived, &heartbeat, out);
            // For the same reason, serve the next heartbeat here, too, if the JobTracker is already
            // free again.
            if now <= self.busy_until {
                break;
            }
            self.tell_policy(None, out);
        }
        if !self.queue.is_empty() {
            self.plan_next(out);
        }
    }

    /// Serves a heartbeat, whose service begins (or began) at the instant `begins`.
    fn serve(
        &mut self,
        begins: SimTime,
        arrived: SimTime,
        heartbeat: &Heartbeat,
        out: &mut Outbox,
    ) {
        let now = out.now;
        let HeartbeatCall { tracker: id, number: call, .. } = heartbeat.call();
        let queued = now - arrived;
        // A refused heartbeat keeps the JobTracker busy for as long as any other.
        let Some(last_id) = self.admit(heartbeat, out) else {
            self.busy_until = begins + self.spec.per_heartbeat;
            let after = self.busy_until.saturating_since(now);
            let answer = self.answer_again(id, call, now, queued);
            return out.send_after(after, Mail::Tracker(id, answer));
        };

        let tracker = &mut self.ledger.trackers[id.index()];
        tracker.seen_before = std::mem::replace(&mut tracker.last_seen, now);
        // As in Hadoop, faults are forgiven before the status is read, so that the tracker can get
        // tasks with this very heartbeat.
        self.ledger.forget_old_fault(id, out);
        let mut commits = Vec::new();
        if let Heartbeat::Full(status) = heartbeat {
            self.take_status(status, &mut commits, out);
        }
        // Do this after the reports, which bring the progress, and before the offer, which uses the
        // slow tasks.
        self.ledger.look_for_slow_tasks(now);
        self.tell_policy(Some(id), out);

        let tracker = &self.ledger.trackers[id.index()];
        let has_room = PerSlot::of(|kind| tracker.occupied[kind] < tracker.slots[kind]);
        // After a restart no task is launched until the trackers named in the histories of jobs are
        // back: otherwise tasks that they still run would be launched twice.
        let may_get_tasks = tracker.is_active() && !self.ledger.is_recovering();
        let is_offered = has_room.map || has_room.reduce || self.scheduler.needs().full_trackers;
        let (mut directives, looks) = if is_offered && may_get_tasks {
            self.launch(id, has_room, out)
        } else {
            (Vec::new(), 0)
        };
        // Only launches take extra time, so kills and permissions to commit are appended after
        // this.
        let span = self.spec.per_heartbeat
            + self.spec.per_task * directives.len() as u64
            + self.spec.per_job * u64::from(looks);

        directives.append(&mut self.ledger.trackers[id.index()].orders);
        directives.extend(commits.into_iter().map(Directive::Commit));
        if !directives.is_empty() {
            self.ledger.moved_at = now;
        }
        self.busy_until = begins + span;
        let message = self.answer(heartbeat, last_id.wrapping_add(1), directives, queued);
        // Keep the answer only if a tracker may need it again. Otherwise its memory, which is still
        // in the processor's cache, is free for the next answer.
        if self.may_hear_twice {
            self.ledger.trackers[id.index()].answer.again = Some(message.clone());
        }
        let mail = Mail::Tracker(id, message);
        out.send_after(self.busy_until.saturating_since(now), mail);
        if self.reviews_at <= now {
            self.review(out);
        }
    }

    /// Returns the answer to a heartbeat that is refused: an old or a repeated one, or one of a tracker
    /// that must start anew.
    fn answer_again(&self, id: TrackerId, call: u32, now: SimTime, queued: SimSpan) -> ToTracker {
        let tracker = &self.ledger.trackers[id.index()];
        if tracker.is_registered {
            let again = tracker.answer.again.clone();
            return again.unwrap_or_else(|| panic!("{now}: call {call} of {id} has come twice"));
        }
        let disallowed = tracker.is_excluded();
        let reply = Reply { call, reinit: !disallowed, disallowed, queued, ..Reply::default() };
        ToTracker::Reply(Arc::new(reply))
    }

    fn answer(
        &mut self,
        heartbeat: &Heartbeat,
        number: u16,
        directives: Vec<Directive>,
        queued: SimSpan,
    ) -> ToTracker {
        let HeartbeatCall { tracker: id, number: call, last_reply } = heartbeat.call();
        // A tracker without news has no attempt that fetches, so there are no reports to read.
        let reports: &[Report] = match heartbeat {
            Heartbeat::Full(status) => &status.reports,
            Heartbeat::AsBefore(_) => &[],
        };
        let (maps, missing) = self.maps_wanted(reports, &directives);
        let interval = self.ledger.heartbeat_interval();
        let answer = &mut self.ledger.trackers[id.index()].answer;
        // The first contact of a tracker is answered in full, since the tracker does not know its
        // interval yet.
        let is_as_before = last_reply.is_some() && interval == answer.interval;
        (answer.call, answer.id) = (call, number);
        answer.interval = interval;
        if directives.is_empty() && maps.is_empty() && is_as_before {
            return ToTracker::Noted { call, queued };
        }
        let id = number;
        let reply =
            Reply { call, id, interval, directives, maps, missing, queued, ..Reply::default() };
        ToTracker::Reply(Arc::new(reply))
    }

    /// Applies a tracker's report of its slots and attempts; notes the attempts that ask for
    /// permission to commit.
    fn take_status(
        &mut self,
        status: &TrackerStatus,
        commits: &mut Vec<AttemptId>,
        out: &mut Outbox,
    ) {
        let now = out.now;
        let id = status.call.tracker;
        self.ledger.set_health(id, status.is_unhealthy, out);
        self.ledger.set_occupied(id, status.occupied);
        let mut known = std::mem::take(&mut self.ledger.trackers[id.index()].reports);
        // If the number of reports is different, an attempt has begun or ended, even if all other
        // reports are repeated.
        if known.len() != status.reports.len() {
            self.ledger.moved_at = now;
        }
        for (place, report) in status.reports.iter().enumerate() {
            let is_the_same = |last: &Report| last.differs_only_in_progress(report);
            // Nearly every report equals the last report on the same attempt, which is at the same
            // index: so look there first.
            if !known.get(place).is_some_and(is_the_same) && !known.iter().any(is_the_same) {
                if !known
                    .iter()
                    .any(|last| last.attempt == report.attempt && last.state == report.state)
                {
                    self.ledger.moved_at = now;
                }
                self.take_report(id, report, commits, out);
            }
            // Setup and cleanup tasks get no second attempts, and no policy reads their progress.
            if self.reads_progress && report.attempt.task.is_work() {
                self.ledger.note_progress(now, report.attempt, report.progress);
            }
            if self.ledger.follows_maps && report.attempt.task.kind == TaskKind::Map {
                self.ledger.follow_map(report);
            }
        }
        for failed in &status.failed_fetches {
            self.ledger.complain(*failed, out);
        }
        known.clone_from(&status.reports);
        self.ledger.trackers[id.index()].reports = known;
    }

    /// Decides whether a heartbeat is to be served. Returns the number of the reply before it;
    /// `None` if the heartbeat is refused.
    fn admit(&mut self, heartbeat: &Heartbeat, out: &mut Outbox) -> Option<u16> {
        let HeartbeatCall { tracker: id, number, last_reply } = heartbeat.call();
        let tracker = &self.ledger.trackers[id.index()];
        // A tracker's machine numbers its heartbeats upwards, so a heartbeat with no higher number
        // was answered already, or was overtaken by a later one. The JobTracker keeps these numbers
        // when it is restarted: otherwise an old heartbeat would pass for a new one. In Hadoop an
        // old heartbeat never arrives, since it is lost with its connection.
        if number <= tracker.answer.call || tracker.is_excluded() {
            return None;
        }
        match (last_reply, heartbeat) {
            (Some(last), Heartbeat::Full(status)) if tracker.rejoins && tracker.is_registered => {
                self.ledger.rejoin(id, &status.reports, out);
                Some(last)
            }
            (None, Heartbeat::Full(status)) => {
                if tracker.is_registered {
                    // The tracker's process has restarted before the tracker was declared lost: the
                    // attempts of the old process have ended.
                    self.ledger.lose_tracker(id, out);
                }
                // A restart of the process clears the tracker's faults; an order of the JobTracker
                // to start anew does not.
                if status.restarted {
                    self.ledger.clear_faults(id, out);
                }
                self.ledger.register(id, status.slots, out);
                // The number of the answer is one more and wraps around, so the first answer has
                // number 0, as in Hadoop.
                Some(u16::MAX)
            }
            (Some(last), _)
                if tracker.is_registered && !tracker.rejoins && tracker.answer.id == last =>
            {
                Some(last)
            }
            _ => None,
        }
    }

    /// Applies a tracker's report of an attempt.
    fn take_report(
        &mut self,
        tracker: TrackerId,
        report: &Report,
        commits: &mut Vec<AttemptId>,
        out: &mut Outbox,
    ) {
        use AttemptState as S;
        let attempt = report.attempt;
        let Some(record) = self.ledger.find_try(attempt).filter(|t| t.is_on(tracker)) else {
            if matches!(report.state, S::Unassigned | S::Running | S::Suspended | S::CommitPending)
            {
                // The job has ended, or the JobTracker has given the attempt up: kill the attempt.
                self.ledger.trackers[tracker.index()].orders.push(Directive::Kill(attempt));
            }
            return;
        };
        let is_cleaner = record.cleaner.is_some();
        let was = record.state;
        match report.state {
            S::Unassigned | S::Running | S::Suspended => {
                // In Hadoop an attempt that waits for its commit does not go back to running, and
                // an attempt that has ended does not run again.
                if record.is_active() && was != S::CommitPending {
                    record.state = report.state;
                }
            }
            S::CommitPending => {
                // With `NotCounted` the job no longer counts the attempt from here on. No Hadoop
                // version does so.
                let still_counts = self.ledger.hadoop.commit_pending != CommitPending::NotCounted;
                if self.ledger.wait_for_commit(attempt, still_counts, out) {
                    commits.push(attempt);
                }
            }
            // The removal of the attempt's output has ended, with success or not; this ends the
            // attempt.
            S::Succeeded | S::Failed | S::FailedUnclean | S::Killed | S::KilledUnclean
                if is_cleaner =>
            {
                let outcome =
                    if was == S::FailedUnclean { Outcome::Failed } else { Outcome::Killed };
                self.ledger.lose(attempt, outcome, out);
            }
            S::Succeeded => self.ledger.succeed(attempt, out),
            S::FailedUnclean | S::KilledUnclean if self.ledger.cleans_up_after(attempt) => {
                self.ledger.leave_unclean(attempt, report.state, out);
            }
            S::Failed | S::FailedUnclean => {
                self.ledger.lose(attempt, Outcome::Failed, out);
            }
            S::Killed | S::KilledUnclean => {
                self.ledger.keep_saved(report, tracker);
                self.ledger.lose(attempt, Outcome::Killed, out);
            }
        }
    }

    /// Launches tasks on a tracker with a free slot. Returns the launches, and how many times the
    /// policy looked at a job.
    fn launch(
        &mut self,
        tracker: TrackerId,
        has_room: PerSlot<bool>,
        out: &mut Outbox,
    ) -> (Vec<Directive>, u32) {
        // As in Hadoop, a setup or cleanup task is the only launch of its heartbeat, and a free map
        // slot is tried before a reduce slot.
        for kind in SlotKind::BOTH {
            if has_room[kind]
                && let Some(launch) = self.ledger.launch_service(tracker, kind, out)
            {
                return (vec![Directive::Launch(launch)], 0);
            }
        }
        let mut offer = Offer {
            ledger: &mut self.ledger,
            tracker,
            out,
            directives: Vec::new(),
            taken: PerSlot::default(),
            freed: PerSlot::default(),
            left: None,
            vacated: Amounts::default(),
            looks: 0,
            looks_take_time: self.spec.per_job != SimSpan::ZERO,
        };
        self.scheduler.offer(&mut offer);
        (offer.directives, offer.looks)
    }

    /// Returns, for each job whose reduces fetch on the tracker, how many maps have ended and which
    /// outputs of these maps are lost.
    fn maps_wanted(
        &self,
        reports: &[Report],
        directives: &[Directive],
    ) -> (Vec<MapsDone>, Vec<Missing>) {
        // A reduce that is launched with this reply asks long before its first report, so answer it
        // now.
        let asks_at_once = self.ledger.hadoop.behaviour().asks_at_once;
        let launched = directives.iter().filter_map(|directive| match directive {
            Directive::Launch(launch) if asks_at_once && launch.is_reduce() => Some(launch.attempt),
            Directive::Launch(_)
            | Directive::Kill(_)
            | Directive::Checkpoint(_)
            | Directive::Suspend(_)
            | Directive::Resume(_)
            | Directive::Commit(_) => None,
        });
        let fetching = reports.iter().filter(|report| report.wants_maps);
        let mut wanted: Vec<MapsDone> = Vec::new();
        let mut missing = Vec::new();
        for job in fetching.map(|report| report.attempt).chain(launched).map(|id| id.job()) {
            let job = self.ledger.known(job);
            // Reduces of a failed job learn of no more maps; they wait until they are killed.
            if job.is_running() && wanted.iter().all(|maps| maps.job != job.id()) {
                let (done, total) = (job.maps_over(), job.tasks(SlotKind::Map).total());
                let (changes, over_at) = (job.output_changes, job.maps_over_at);
                wanted.push(MapsDone { job: job.id(), done, total, changes, over_at });
                missing.extend(job.lost_outputs.values());
            }
        }
        (wanted, missing)
    }
}
