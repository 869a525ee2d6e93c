//! The further life of attempts: they commit, succeed, fail, are killed, and their tasks wait again.

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
    /// Orders the end of an attempt at its tracker's next heartbeat.
    pub(crate) fn order_end(&mut self, attempt: AttemptId, reason: Reason, out: &mut Outbox) {
        let record = self.known_try(attempt);
        // An attempt is ordered to end once: a second order would leave a second event.
        if !record.is_active() || record.is_doomed {
            return;
        }
        record.is_doomed = true;
        let tracker = record.tracker;
        self.unlist(out.now, attempt.task);
        let job = self.known(attempt.job());
        // Without `kill_orphans`, as in Mumak, a job that ends lets its attempts run. They count as
        // doomed all the same, so that no policy touches them.
        let is_orphan = job.verdict.is_some() || matches!(job.state, JobState::Ended(_));
        if !is_orphan || self.hadoop.kill_orphans {
            self.trackers[tracker.index()].orders.push(Directive::Kill(attempt));
            out.emit(Fact::Ledger(
                attempt,
                tracker,
                LedgerFact::Ordered { order: Order::Kill, reason },
            ));
        }
    }

    /// Ends an attempt of a job that needs it no more.
    pub(super) fn end_needless_attempt(&mut self, attempt: AttemptId, out: &mut Outbox) {
        // The end of another attempt may have ended the job, and with it this attempt.
        let Some(record) = self.find_try(attempt) else { return };
        // An attempt that waits for its output to be removed has ended on its tracker: there is
        // nothing to kill, it only has to leave the books.
        if !record.waits_for_cleaner() {
            return self.order_end(attempt, Reason::JobOver, out);
        }
        let outcome = unclean_outcome(record.state);
        let unclean = &mut self.known_mut(attempt.job()).unclean[attempt.slot()];
        unclean.retain(|other| *other != attempt);
        self.wants_task_cleanup[attempt.slot()].remove(&attempt.job());
        self.lose(attempt, outcome, out);
    }

    /// Notes that an attempt waits for its commit; returns whether it may.
    pub(crate) fn wait_for_commit(
        &mut self,
        attempt: AttemptId,
        still_counts: bool,
        out: &mut Outbox,
    ) -> bool {
        let record = self.known_try(attempt);
        // Its kill is on the way, perhaps because a rival has won.
        if record.is_doomed {
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
        // The first of a task's attempts to ask has its leave, whichever was launched first; the others lose
        // the race.
        let task = self.known_mut(attempt.job()).known_task(attempt.task);
        let has_leave = |t: &&KnownAttempt| t.may_commit && t.is_active() && !t.is_doomed;
        if let Some(first) = task.tries.iter().find(has_leave).map(|first| first.number) {
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
        // With `not-counted` an attempt leaves the counts as it waits for its commit, and ends
        // later: the flag keeps it from being taken off twice.
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
            // One that was given up begins anew with nothing.
            *work = work.saturating_sub(progress);
        }
    }

    /// Notes how far a map or reduce is, from 0 to 1.
    pub(crate) fn note_progress(&mut self, now: SimTime, attempt: AttemptId, progress: f32) {
        let rates = self.hadoop.speculation.rule().is_some();
        let job = entry(&mut self.jobs, attempt.job());
        let task = job.task(attempt.task).and_then(|task| task.find(attempt.number));
        // A tracker may report what has been given up for lost, or has just ended.
        let Some(record) = task.filter(|record| record.is_counted && record.is_active()) else {
            return;
        };
        // Whole numbers, so that sums over attempts do not depend on the order of adding.
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

    /// Adds what a report says to how far the job's maps are. Rounds as often as Hadoop does: what
    /// is left of rounding decides whether a cluster is overloaded.
    pub(crate) fn follow_map(&mut self, report: &Report) {
        use AttemptState as S;
        let task = report.attempt.task;
        let progress = match report.state {
            // A second attempt that waits for its slot must not take away what the first one has done.
            S::Unassigned => return,
            S::Running | S::Suspended | S::CommitPending => report.progress,
            S::Succeeded => 1.0,
            // The progress of a lost attempt is taken off its job's again.
            S::Failed | S::FailedUnclean | S::Killed | S::KilledUnclean => 0.0,
        };
        let job = self.known_mut(task.job);
        let (maps, all) = (f64::from(job.maps.total), f64::from(job.map_progress));
        // A job that is over has forgotten its tasks, and the injector does not ask about it.
        let Some(task) = job.task(task) else { return };
        let gain = f64::from(progress) - f64::from(std::mem::replace(&mut task.progress, progress));
        job.map_progress = (all + gain / maps) as f32;
    }

    /// Returns how far a running attempt is, from 0 to 1; 0 if it has ended.
    pub(crate) fn progress(&self, attempt: AttemptId) -> f64 {
        self.attempt(attempt).map_or(0.0, |record| f64::from(record.progress) / MILLIONTHS)
    }

    /// Takes an attempt off the books; returns its record.
    pub(super) fn close_try(&mut self, now: SimTime, attempt: AttemptId) -> KnownAttempt {
        self.stop_counting(attempt);
        self.unlist(now, attempt.task);
        let job = entry(&mut self.jobs, attempt.job());
        let record = job.known_task(attempt.task).remove(attempt.number);
        let record = record.unwrap_or_else(|| panic!("{attempt} is off the books"));
        job.open_tries -= 1;
        self.open_tries -= 1;
        if attempt.task.is_work() && record.is_second {
            job.tasks_mut(attempt.slot()).seconds -= 1;
            self.seconds[attempt.slot()] -= 1;
        }
        record
    }

    /// Notes that an attempt has succeeded: its task is done, its rivals are not needed.
    pub(crate) fn succeed(&mut self, attempt: AttemptId, out: &mut Outbox) {
        let now = out.now;
        if self.known_try(attempt).is_doomed {
            // Its kill crossed its success on the way: the output is not taken.
            return self.lose(attempt, Outcome::Killed, out);
        }
        let record = self.close_try(now, attempt);
        let id = attempt.job();
        self.note_success(now, attempt.task, &record);
        let job = self.known_mut(id);
        // Before this map is counted: the number of maps that had ended before it.
        let order = job.maps_over();
        if attempt.task.kind == TaskKind::Map {
            job.lost_outputs.remove(&attempt.task.index);
        }
        let task = job.known_task(attempt.task);
        task.stage = TaskStage::Done(attempt.number, record.tracker);
        task.order = order;
        if attempt.task.kind == TaskKind::Map {
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
                // As Hadoop does: rounding has left the sum a little beside 1.
                job.map_progress = 1.0;
            }
            self.recount(now, id);
        }
        // The counts that the event carries are those after the success.
        self.learn(attempt, record.tracker, AttemptState::Succeeded, out);
        match attempt.task.kind {
            TaskKind::Map | TaskKind::Reduce => {
                self.note_maps_done(attempt, out);
                self.close_if_worked_off(id, out);
            }
            TaskKind::Setup => self.start_job(id, out),
            TaskKind::Cleanup => self.end_job(id, out),
        }
        // The job may have ended long ago, and this was its last attempt on a tracker.
        self.forget_if_drained(id);
    }

    fn note_maps_done(&mut self, attempt: AttemptId, out: &mut Outbox) {
        let job = self.known(attempt.job());
        let is_map = attempt.task.kind == TaskKind::Map;
        if is_map && job.maps_over() == job.maps.total && job.state == JobState::Running {
            out.emit(Fact::Job(attempt.job(), JobFact::MapsDone));
        }
    }

    /// Notes that an attempt is over but has left output behind, which is removed first.
    pub(crate) fn leave_unclean(
        &mut self,
        attempt: AttemptId,
        state: AttemptState,
        out: &mut Outbox,
    ) {
        self.unlist(out.now, attempt.task);
        let record = self.known_try(attempt);
        let tracker = record.tracker;
        // Also for an attempt whose cleaner was lost with its tracker: it queues again without an
        // event.
        let is_new = record.state != state;
        record.state = state;
        record.cleaner = None;
        self.known_mut(attempt.job()).unclean[attempt.slot()].push_back(attempt);
        self.wants_task_cleanup[attempt.slot()].insert(attempt.job());
        if is_new {
            self.learn(attempt, tracker, state, out);
        }
    }

    /// Returns whether the output of an ended attempt is still worth removing.
    pub(crate) fn cleans_up_after(&self, attempt: AttemptId) -> bool {
        self.hadoop.task_cleanup && attempt.task.is_work() && self.known(attempt.job()).is_running()
    }

    /// Notes that an attempt has failed or was killed; its task waits again if it is needed.
    pub(crate) fn lose(&mut self, attempt: AttemptId, outcome: Outcome, out: &mut Outbox) {
        let now = out.now;
        let record = self.close_try(now, attempt);
        let failed = outcome == Outcome::Failed;
        if failed {
            self.count_failure(attempt, record.tracker);
        }
        let most = self.hadoop.max_attempts.get();
        let id = attempt.job();
        let job = self.known_mut(id);
        // A job that has ended cannot fail any more, whatever its last attempts do.
        let may_go_on = !matches!(job.state, JobState::Ended(_));
        let task = job.known_task(attempt.task);
        // A try whose output is still to be removed keeps the task from being launched anew.
        let is_last = task.tries.is_empty() && task.stage == TaskStage::Active;
        let is_exhausted = most <= task.failures;
        let state = if failed { AttemptState::Failed } else { AttemptState::Killed };
        // As in Hadoop, the last failure that is allowed ends the task whatever its rivals do.
        let rivals: Vec<u32> = match failed && is_exhausted {
            true => task.tries.iter().filter(|it| it.is_active()).map(|it| it.number).collect(),
            false => Vec::new(),
        };
        // Exhausted, but a rival still runs: the task is given up when that rival has ended, too.
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
            // A map or reduce avoids the trackers on which it failed; setup and cleanup tasks do
            // not.
            job.barred.entry(attempt.task).or_default().push(tracker);
        }
        self.blame(attempt.job(), tracker);
    }

    /// Counts a failure against a tracker, as long as the job does not avoid too many already.
    pub(super) fn blame(&mut self, job: JobId, tracker: TrackerId) {
        let most = self.hadoop.tracker_failures.get();
        let trackers = self.active;
        let job = self.known_mut(job);
        if is_small_part(job.flaky, trackers) {
            let count = job.failures_on.entry(tracker).or_default();
            *count += 1;
            job.flaky += u32::from(*count == most);
        }
    }

    /// Lets a task wait again.
    pub(super) fn requeue_task(&mut self, now: SimTime, task: TaskId) {
        let id = task.job;
        let failed_first = self.hadoop.failed_maps == FailedMaps::First;
        let job = entry(&mut self.jobs, id);
        let is_needed = job.verdict.is_none() && !matches!(job.state, JobState::Ended(_));
        let record = job.known_task(task);
        // A job that fails or is killed launches no maps and reduces again, but may still clean up.
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
                    // 0.20 and 0.21 try a map that has failed first, but still near its input.
                    job.cache.requeue_map(task.index, &self.holders, &self.topology);
                }
            }
            TaskKind::Reduce => {
                job.reduces.waiting += 1;
                let Job { reduces, waiting_reduces, .. } = job;
                let place = |index: u32| (Reverse(reduces.tasks[index as usize].failures), index);
                // The line is sorted like this from the start.
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

    /// Gives a task up for good; its job fails if it may not do without.
    pub(super) fn give_up(&mut self, task: TaskId, out: &mut Outbox) {
        let allowed = match task.slot() {
            SlotKind::Map => self.hadoop.map_failures,
            SlotKind::Reduce => self.hadoop.reduce_failures,
        };
        let job = self.known_mut(task.job);
        // Without its cleanup the job has nothing left to wait for: it has failed, and ends.
        if task.kind == TaskKind::Cleanup {
            job.verdict = Some(Outcome::Failed);
            return self.end_job(task.job, out);
        }
        let is_fatal = if task.is_work() {
            if task.kind == TaskKind::Map {
                // Reduces do without the output of a map that is given up, so it is not missing any
                // more.
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
            // A map that is given up counts as over: that may start reduces, or end the job.
            self.recount(out.now, task.job);
            self.note_maps_done(task.attempt(0), out);
            self.close_if_worked_off(task.job, out);
        }
    }
}
