//! Attempts after their launch: they commit, succeed, fail or are killed, and their tasks wait
//! again.

use std::cmp::Reverse;

use super::second_tries::MILLIONTHS;
use super::{Ledger, entry, is_small_part, unclean_outcome};
use crate::cluster::{SlotKind, TrackerId};
use crate::mapred::event::{AttemptState, Fact, JobFact, LedgerFact, Order, Outcome};
use crate::mapred::hadoop::FailedMaps;
use crate::mapred::heartbeat::{Directive, Report};
use crate::mapred::ids::{AttemptId, JobId, TaskId, TaskKind};
use crate::mapred::job::{Job, JobState, KnownAttempt, TaskStage};
use crate::mapred::message::MapOutput;
use crate::mapred::outbox::Outbox;
use crate::mapred::reason::Reason;
use mumakil_base::units::SimTime;

impl Ledger {
    /// Orders the kill of an attempt. The order leaves with the reply to its tracker's next
    /// heartbeat.
    pub(crate) fn order_end(&mut self, attempt: AttemptId, reason: Reason, out: &mut Outbox) {
        self.order_end_by(Order::Kill, attempt, reason, out);
    }

    /// As [`Ledger::order_end`]; with [`Order::Checkpoint`] the attempt saves its work first.
    pub(crate) fn order_end_by(
        &mut self,
        order: Order,
        attempt: AttemptId,
        reason: Reason,
        out: &mut Outbox,
    ) {
        let record = self.known_try(attempt);
        // Give an attempt only one order to end: a second order would emit a second event. But a
        // kill ends an attempt that still saves its work, if nobody needs that any more.
        let ends_saving = record.is_saving && order == Order::Kill;
        if !record.is_active() || record.is_kill_ordered && !ends_saving {
            return;
        }
        record.is_kill_ordered = true;
        record.is_saving = order == Order::Checkpoint;
        let tracker = record.tracker;
        self.unlist(out.now, attempt.task);
        // Attempts that run on are still marked as to be killed, so that policies leave them alone.
        if !self.runs_on(attempt) {
            let directive = match order {
                Order::Checkpoint => Directive::Checkpoint(attempt),
                _ => Directive::Kill(attempt),
            };
            self.trackers[tracker.index()].orders.push(directive);
            out.emit(Fact::Ledger(attempt, tracker, LedgerFact::Ordered { order, reason }));
        }
    }

    /// Returns whether an attempt runs on though its job ends: without `kill_orphans`, as in Mumak,
    /// a job that ends lets its attempts run.
    fn runs_on(&self, attempt: AttemptId) -> bool {
        let job = self.known(attempt.job());
        let is_orphan = job.verdict.is_some() || matches!(job.state, JobState::Ended(_));
        is_orphan && !self.hadoop.kill_orphans
    }

    /// Ends an attempt that its job no longer needs.
    pub(super) fn end_needless_attempt(&mut self, attempt: AttemptId, out: &mut Outbox) {
        // The end of another attempt may have ended the job, and with it this attempt.
        let Some(record) = self.find_try(attempt) else { return };
        // If an attempt's output waits for removal, the attempt has ended on its tracker, and only
        // its record is left.
        if !record.waits_for_cleaner() {
            return self.order_end(attempt, Reason::JobOver, out);
        }
        let outcome = unclean_outcome(record.state);
        let unclean = &mut self.known_mut(attempt.job()).unclean[attempt.slot()];
        unclean.retain(|other| *other != attempt);
        self.wants_task_cleanup[attempt.slot()].remove(&attempt.job());
        self.lose(attempt, outcome, out);
    }

    /// Notes that an attempt waits for its commit; returns whether it may commit.
    pub(crate) fn wait_for_commit(
        &mut self,
        attempt: AttemptId,
        still_counts: bool,
        out: &mut Outbox,
    ) -> bool {
        let runs_on = self.runs_on(attempt);
        let record = self.known_try(attempt);
        // No permission: a kill is under way, perhaps because another attempt of the task has
        // succeeded. As in Hadoop, the end of the job is no reason to refuse: an attempt that runs on
        // would hold its slot for ever.
        if record.is_kill_ordered && !runs_on {
            return false;
        }
        let tracker = record.tracker;
        let is_new = record.state != AttemptState::CommitPending;
        if is_new {
            record.state = AttemptState::CommitPending;
            if !still_counts {
                self.stop_counting(attempt);
            }
            self.unlist(out.now, attempt.task);
            self.learn(attempt, tracker, AttemptState::CommitPending, out);
        }
        // The first of a task's attempts to ask gets the permission, even if it was launched later;
        // the task's other attempts lose the race.
        let task = self.known_mut(attempt.job()).known_task(attempt.task);
        let first = task.tries.iter().find(|t| t.may_commit && t.is_active() && !t.is_kill_ordered);
        if let Some(first) = first.map(|first| first.number) {
            if first != attempt.number {
                self.order_end(attempt, Reason::LostRace(attempt.task.attempt(first)), out);
                return false;
            }
        } else {
            self.known_try(attempt).may_commit = true;
        }
        true
    }

    fn stop_counting(&mut self, attempt: AttemptId) {
        let record = self.known_try(attempt);
        // The flag prevents a second subtraction: with `not-counted` an attempt is subtracted when
        // it begins to wait for its commit, and ends later.
        if std::mem::take(&mut record.is_counted) {
            let progress = u64::from(std::mem::take(&mut record.progress));
            let tracker = record.tracker;
            let held = if record.is_halted { 0 } else { record.slots as i32 };
            if let Some(refusals) = &mut self.refusals {
                refusals.holds(attempt.job(), attempt.slot(), -held);
            }
            let tasks = self.known_mut(attempt.job()).tasks_mut(attempt.slot());
            tasks.running -= 1;
            tasks.progress -= progress;
            let work = &mut self.trackers[tracker.index()].work;
            // The work may be less: a tracker that was lost and came back starts with no work.
            *work = work.saturating_sub(progress);
        }
    }

    /// Notes the progress of a map or reduce, from 0 to 1.
    pub(crate) fn note_progress(&mut self, now: SimTime, attempt: AttemptId, progress: f32) {
        let rates = self.hadoop.speculation.rule().is_some();
        let job = entry(&mut self.jobs, attempt.job());
        let task = job.task(attempt.task).and_then(|task| task.find(attempt.number));
        // A tracker may report an attempt that was lost or has just ended.
        let Some(record) = task.filter(|record| record.is_counted && record.is_active()) else {
            return;
        };
        // Use whole numbers, so that sums over attempts do not depend on the order of addition.
        let told = (f64::from(progress) * MILLIONTHS) as u32;
        let was = u64::from(std::mem::replace(&mut record.progress, told));
        let work = &mut self.trackers[record.tracker.index()].work;
        *work = work.saturating_sub(was) + u64::from(told);
        let tasks = job.tasks_mut(attempt.slot());
        tasks.progress = tasks.progress - was + u64::from(told);
        if rates {
            job.known_task(attempt.task).note_rate(now, attempt.number);
        }
    }

    /// Adds a report's progress to the sum of the job's maps. The sum is rounded as often as in
    /// Hadoop: rounding decides whether a cluster counts as overloaded.
    pub(crate) fn follow_map(&mut self, report: &Report) {
        use AttemptState as S;
        let task = report.attempt.task;
        let progress = match report.state {
            // A second attempt that waits for its slot must not reset the progress of the first
            // attempt.
            S::Unassigned => return,
            S::Running | S::Suspended | S::CommitPending => report.progress,
            S::Succeeded => 1.0,
            // A lost attempt has no progress: this subtracts its progress from the sum.
            S::Failed | S::FailedUnclean | S::Killed | S::KilledUnclean => 0.0,
        };
        let job = self.known_mut(task.job);
        let (maps, all) = (f64::from(job.maps.total), f64::from(job.map_progress));
        // A job that has ended has dropped its tasks, and the injector does not ask about it.
        let Some(task) = job.task(task) else { return };
        let gain = f64::from(progress) - f64::from(std::mem::replace(&mut task.progress, progress));
        job.map_progress = (all + gain / maps) as f32;
    }

    /// Returns the progress of a running attempt, from 0 to 1; 0 if it has ended.
    pub(crate) fn progress(&self, attempt: AttemptId) -> f64 {
        self.attempt(attempt).map_or(0.0, |record| f64::from(record.progress) / MILLIONTHS)
    }

    /// Removes the record of an attempt, and returns it.
    pub(super) fn close_try(&mut self, now: SimTime, attempt: AttemptId) -> KnownAttempt {
        self.stop_counting(attempt);
        self.unlist(now, attempt.task);
        let job = entry(&mut self.jobs, attempt.job());
        let removed = job.known_task(attempt.task).remove(attempt.number);
        let record = removed.unwrap_or_else(|| panic!("{attempt} is off the books"));
        job.open_tries -= 1;
        self.open_tries -= 1;
        if attempt.task.is_work() && record.is_second {
            job.tasks_mut(attempt.slot()).seconds -= 1;
            self.seconds[attempt.slot()] -= 1;
        }
        record
    }

    /// Notes that an attempt has succeeded: its task is done, and other attempts of the task are
    /// not needed.
    pub(crate) fn succeed(&mut self, attempt: AttemptId, out: &mut Outbox) {
        let now = out.now;
        if self.known_try(attempt).is_kill_ordered {
            // The order to kill and the report of success crossed on the way: the output does not
            // count.
            return self.lose(attempt, Outcome::Killed, out);
        }
        let record = self.close_try(now, attempt);
        let id = attempt.job();
        self.forget_saved(attempt.task);
        self.note_success(now, attempt.task, &record);
        let job = self.known_mut(id);
        // Read this before the map is counted: it is the number of maps that had ended before it.
        let order = job.maps_over();
        if attempt.task.kind == TaskKind::Map {
            job.lost_outputs.remove(&attempt.task.index);
        }
        let task = job.known_task(attempt.task);
        task.stage = TaskStage::Done(attempt.number, record.tracker);
        task.order = order;
        if attempt.task.kind == TaskKind::Map {
            let rack = self.topology.rack(record.tracker);
            let job = self.known_mut(id);
            *job.outputs.entry(rack).or_default() += job.spec.output_weight(attempt.task.index);
            self.count_output(MapOutput { map: attempt, at: record.tracker, order }, out);
        }
        let task = self.known_mut(id).known_task(attempt.task);
        let rivals: Vec<u32> = task.tries.iter().map(|rival| rival.number).collect();
        for number in rivals {
            // Hadoop kills the slower attempts of a task when the first one has succeeded.
            self.order_end(attempt.task.attempt(number), Reason::LostRace(attempt), out);
        }
        if attempt.task.is_work() {
            let job = self.known_mut(id);
            job.tasks_mut(attempt.slot()).finished += 1;
            if attempt.slot() == SlotKind::Map && job.maps_over() == job.maps.total {
                // As in Hadoop, the sum is set to 1 here: rounding has left it slightly off.
                job.map_progress = 1.0;
            }
            self.recount(now, id);
        }
        // The event carries the counts after the success.
        self.learn(attempt, record.tracker, AttemptState::Succeeded, out);
        match attempt.task.kind {
            TaskKind::Map | TaskKind::Reduce => {
                self.note_maps_done(attempt, out);
                self.close_if_worked_off(id, out);
            }
            TaskKind::Setup => self.start_job(id, out),
            TaskKind::Cleanup => self.end_job(id, out),
        }
        // The job may have ended long ago, and this may be its last attempt on a tracker.
        self.forget_if_drained(id);
    }

    fn note_maps_done(&mut self, attempt: AttemptId, out: &mut Outbox) {
        let job = self.known_mut(attempt.job());
        let is_map = attempt.task.kind == TaskKind::Map;
        if is_map && job.maps_over() == job.maps.total && job.state == JobState::Running {
            job.maps_over_at = out.now;
            out.emit(Fact::Job(attempt.job(), JobFact::MapsDone));
        }
    }

    /// Notes that an attempt has ended and left output, which must be removed before its task runs
    /// again.
    pub(crate) fn leave_unclean(
        &mut self,
        attempt: AttemptId,
        state: AttemptState,
        out: &mut Outbox,
    ) {
        self.unlist(out.now, attempt.task);
        let record = self.known_try(attempt);
        let state = match state {
            AttemptState::KilledUnclean if record.fails_if_killed => AttemptState::FailedUnclean,
            other => other,
        };
        let tracker = record.tracker;
        // An attempt comes here again if its cleanup was lost with a tracker: then queue the
        // cleanup again, without an event.
        let is_new = record.state != state;
        record.state = state;
        record.cleaner = None;
        self.known_mut(attempt.job()).unclean[attempt.slot()].push_back(attempt);
        self.wants_task_cleanup[attempt.slot()].insert(attempt.job());
        if is_new {
            self.learn(attempt, tracker, state, out);
        }
    }

    /// Returns whether the output of an ended attempt must be removed: it must if the job still
    /// runs.
    pub(crate) fn cleans_up_after(&self, attempt: AttemptId) -> bool {
        self.hadoop.task_cleanup && attempt.task.is_work() && self.known(attempt.job()).is_running()
    }

    /// Notes that an attempt has failed or was killed; its task waits again if the job needs it.
    pub(crate) fn lose(&mut self, attempt: AttemptId, outcome: Outcome, out: &mut Outbox) {
        let now = out.now;
        let record = self.close_try(now, attempt);
        // A user may have said that the attempt fails, though its tracker only kills it.
        let failed = outcome == Outcome::Failed || record.fails_if_killed;
        if failed {
            self.count_failure(attempt, record.tracker);
        }
        let id = attempt.job();
        let job = self.known_mut(id);
        let most = job.settings.attempts[attempt.slot()];
        // A job that has ended cannot fail any more, even if its last attempts fail.
        let may_go_on = !matches!(job.state, JobState::Ended(_));
        let task = job.known_task(attempt.task);
        // An attempt whose output is still to be removed keeps the task from being launched again.
        let is_last = task.tries.is_empty() && task.stage == TaskStage::Active;
        let is_exhausted = most <= task.failures;
        let state = if failed { AttemptState::Failed } else { AttemptState::Killed };
        // As in Hadoop, the last allowed failure ends the task and kills its other attempts.
        let rivals: Vec<u32> = match failed && is_exhausted {
            true => task.tries.iter().filter(|it| it.is_active()).map(|it| it.number).collect(),
            false => Vec::new(),
        };
        // A task with too many failures is given up when its last running attempt has ended.
        if is_last && is_exhausted {
            task.stage = TaskStage::Dead;
        } else if is_last {
            self.requeue_task(now, attempt.task);
        }
        self.recount(now, id);
        for rival in rivals {
            self.order_end(attempt.task.attempt(rival), Reason::TaskGivenUp, out);
        }
        self.learn(attempt, record.tracker, state, out);
        if is_last && is_exhausted && may_go_on {
            self.give_up(attempt.task, out);
        }
        self.forget_if_drained(id);
    }

    pub(super) fn count_failure(&mut self, attempt: AttemptId, tracker: TrackerId) {
        let job = self.known_mut(attempt.job());
        job.known_task(attempt.task).failures += 1;
        if attempt.task.is_work() {
            // Maps and reduces avoid trackers on which they failed; setup and cleanup tasks do not.
            job.barred.entry(attempt.task).or_default().push(tracker);
        }
        self.blame(attempt.job(), tracker);
    }

    /// Counts a failure against a tracker, unless the job avoids too many trackers already.
    pub(super) fn blame(&mut self, job: JobId, tracker: TrackerId) {
        let trackers = self.active;
        let job = self.known_mut(job);
        if is_small_part(job.flaky, trackers) {
            let count = job.failures_on.entry(tracker).or_default();
            *count += 1;
            job.flaky += u32::from(*count == job.settings.tracker_failures);
        }
    }

    /// Puts a task back into the queue.
    pub(super) fn requeue_task(&mut self, now: SimTime, task: TaskId) {
        let id = task.job;
        let failed_first = self.hadoop.failed_maps == FailedMaps::First;
        let job = entry(&mut self.jobs, id);
        let is_needed = job.verdict.is_none() && !matches!(job.state, JobState::Ended(_));
        let record = job.known_task(task);
        // A job that fails or is killed launches no map or reduce again, but may still clean up.
        if !is_needed && task.is_work() {
            record.stage = TaskStage::Dead;
            return;
        }
        record.stage = TaskStage::Waiting;
        record.since = now;
        let failures = record.failures;
        match task.kind {
            TaskKind::Map => {
                job.maps.waiting += 1;
                if failed_first {
                    job.failed_maps.insert((Reverse(failures), task.index));
                } else {
                    job.locate(task.index, &mut self.holders);
                    // 0.20 and 0.21 put a failed map first, but only in the lists of nodes and
                    // racks near its input.
                    job.cache.requeue_map(task.index, &self.holders, &self.topology);
                }
            }
            TaskKind::Reduce => {
                job.reduces.waiting += 1;
                let Job { reduces, waiting_reduces, .. } = job;
                let place = |index: u32| (Reverse(reduces.tasks[index as usize].failures), index);
                // The queue is always in this order, so it can be searched by bisection.
                let before = match failed_first {
                    true => waiting_reduces.partition_point(|it| place(*it) < place(task.index)),
                    false => 0,
                };
                waiting_reduces.insert(before, task.index);
            }
            TaskKind::Setup if job.state == JobState::Preparing && is_needed => {
                self.wants_setup.insert(id);
            }
            TaskKind::Cleanup if job.state == JobState::Cleaning => {
                self.wants_cleanup.insert(id);
            }
            TaskKind::Setup | TaskKind::Cleanup => {}
        }
    }

    /// Gives a task up for good; its job fails if too many tasks of the kind have failed.
    pub(super) fn give_up(&mut self, task: TaskId, out: &mut Outbox) {
        let job = self.known_mut(task.job);
        let allowed = job.settings.failures[task.slot()];
        // If the cleanup task is given up, no task is left to wait for: the job fails and ends.
        if task.kind == TaskKind::Cleanup {
            job.verdict = Some(Outcome::Failed);
            return self.end_job(task.job, out);
        }
        let is_fatal = if task.is_work() {
            if task.kind == TaskKind::Map {
                // Reduces do without the output of a map that is given up, so it no longer counts
                // as missing.
                job.lost_outputs.remove(&task.index);
            }
            let tasks = job.tasks_mut(task.slot());
            tasks.failed += 1;
            f64::from(tasks.failed) > allowed.get() * f64::from(tasks.total)
        } else {
            true
        };
        if is_fatal {
            self.end_early(task.job, Outcome::Failed, out);
        } else {
            // A map that is given up counts as ended: that may start reduces, or end the job.
            self.recount(out.now, task.job);
            self.note_maps_done(task.attempt(0), out);
            self.close_if_worked_off(task.job, out);
        }
    }
}
