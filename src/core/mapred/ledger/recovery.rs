//! Jobs and trackers when the JobTracker's process has died, and how it goes on with them.
//!
//! Without recovery all jobs fail, and trackers are told to start anew. With it there are two ways:
//!
//! - Hadoop 0.20 *replays* the history of each job, which tells what has ended, and where. A tracker on which
//!   something has ended is counted on: until each of these has spoken again or is missed, nothing is launched.
//!   Attempts that it still runs join in with its first heartbeat. All other trackers are unknown and told to
//!   start anew, so the attempts there are lost.
//! - From 0.21 on it *submits each job again*: only the submission is on disk, all tasks run anew, and
//!   all trackers are told to start anew.
//!
//! The books are cut down at the moment of death. No history tells that a kill was asked for, but the books
//! remember it here: a user who wants a job to be killed would ask again.

use super::Ledger;
use crate::cluster::{SlotKind, TrackerId};
use crate::mapred::event::{AttemptState, Fact, JobFact, Outcome};
use crate::mapred::heartbeat::{Directive, Report};
use crate::mapred::ids::{AttemptId, JobId, TaskId, TaskKind};
use crate::mapred::job::{Job, JobChange, JobState, Task, TaskStage};
use crate::mapred::outbox::Outbox;
use mumakil_base::units::SimTime;

impl Ledger {
    /// Forgets all jobs, which fail, and all trackers.
    pub(crate) fn fail_all(&mut self, out: &mut Outbox) {
        // A copy, as each end takes the job off the list.
        for id in self.open.clone() {
            let job = self.known_mut(id);
            job.verdict = Some(Outcome::Failed);
            job.give_up_waiting();
            self.end_job(id, out);
        }
        self.forget_trackers(|_| true, out);
    }

    /// Keeps of jobs that they were submitted, and forgets all trackers.
    pub(crate) fn keep_submissions(&mut self, out: &mut Outbox) {
        for id in self.open.clone() {
            // Remembered before the job is forgotten: its user would ask for the kill again.
            let is_killed = self.known(id).verdict == Some(Outcome::Killed);
            self.begin_anew(id, out);
            if is_killed {
                self.end_early(id, Outcome::Killed, out);
            }
        }
        self.forget_trackers(|_| true, out);
    }

    /// Keeps what the history of jobs has, and the trackers that are named in it.
    pub(crate) fn keep_history(&mut self, out: &mut Outbox) {
        let mut named = vec![false; self.trackers.len()];
        for id in self.open.clone() {
            let job = self.known_mut(id);
            // Complaints are in no history; reduces that still cannot fetch complain again.
            job.failed_fetches.clear();
            // The history names the host of each task that has ended. A cleanup task that has ended
            // leaves a job that is over, and is not recovered.
            let ended = job.all_tasks().into_iter().filter(|(kind, _)| *kind != TaskKind::Cleanup);
            for task in ended.flat_map(|(_, tasks)| tasks) {
                if let TaskStage::Done(_, at) = task.stage {
                    named[at.index()] = true;
                }
            }
            // Failed attempts are in the history, with their hosts.
            job.failures_on.keys().for_each(|at| named[at.index()] = true);
            // A job whose output was still to be removed has not ended for the history.
            for attempt in self.attempts_on(id, None) {
                // The loss of another attempt may have ended the job, and with it this attempt.
                if self.find_try(attempt).is_some_and(|record| record.waits_for_cleaner()) {
                    self.remove_cleanup(attempt);
                    self.lose(attempt, Outcome::Killed, out);
                }
            }
        }
        self.forget_trackers(|tracker| !named[tracker.index()], out);
        self.launches.clear();
        for index in 0..self.trackers.len() {
            let tracker = &mut self.trackers[index];
            tracker.rejoins = tracker.is_registered;
            tracker.reports.clear();
            tracker.orders.clear();
        }
        let rejoining = self.trackers.iter().filter(|tracker| tracker.rejoins);
        self.rejoining = rejoining.count() as u32;
    }

    /// Returns whether the process waits for trackers before it launches anything.
    pub(crate) fn is_recovering(&self) -> bool {
        0 < self.rejoining
    }

    /// Notes that a tracker is waited for no more.
    pub(super) fn expect_no_more(&mut self, id: TrackerId) {
        let rejoins = std::mem::take(&mut self.trackers[id.index()].rejoins);
        self.rejoining -= u32::from(rejoins);
    }

    /// Goes on with the recovered jobs and trackers, at the moment when the process is back;
    /// returns the jobs whose splits are to be read. The policy hears of all jobs anew.
    pub(crate) fn recover(&mut self, now: SimTime) -> Vec<JobId> {
        for tracker in self.trackers.iter_mut().filter(|tracker| tracker.rejoins) {
            // They could not speak while the process was gone: their silence is counted from now
            // on.
            tracker.last_seen = now;
            tracker.seen_before = now;
        }
        self.introduce_jobs(now);
        let is_unread = |id: &JobId| self.known(*id).state == JobState::Submitted;
        let unread: Vec<JobId> = self.open.iter().copied().filter(is_unread).collect();
        for id in &unread {
            // It is submitted again, and so learns where its input lies now.
            let files = self.files.clone();
            self.known_mut(*id).splits = files;
        }
        unread
    }

    /// Lets the policy hear of all jobs anew.
    pub(crate) fn introduce_jobs(&mut self, now: SimTime) {
        for id in self.open.clone() {
            self.change(now, id, JobChange::Submitted);
            match self.known(id).state {
                JobState::Submitted => {}
                JobState::Preparing => self.change(now, id, JobChange::Initialised),
                // The same changes in the same order as for a new job: policies need no second way
                // to learn.
                JobState::Running | JobState::Cleaning => {
                    self.change(now, id, JobChange::Initialised);
                    self.change(now, id, JobChange::Running);
                }
                JobState::Ended(_) => {}
            }
        }
    }

    /// Returns the attempts that a policy has suspended, or is about to, and has not let go on, with
    /// their trackers.
    pub(crate) fn halted(&self) -> Vec<(AttemptId, TrackerId)> {
        let attempts = self.open.iter().flat_map(|id| self.attempts_on(*id, None));
        let halted = attempts.filter_map(|attempt| {
            let record = self.attempt(attempt)?;
            let is_halted = record.is_halted && record.is_active() && !record.is_doomed;
            is_halted.then_some((attempt, record.tracker))
        });
        halted.collect()
    }

    /// Hears from a tracker for the first time since the process is back. Attempts that it does not
    /// report are lost; attempts that are in vain get the order to end.
    pub(crate) fn rejoin(&mut self, id: TrackerId, reports: &[Report], out: &mut Outbox) {
        self.expect_no_more(id);
        // Of all jobs, those that have ended, too: their attempts may still hold slots there.
        for attempt in self.all_attempts_on(id) {
            let Some(record) = self.find_try(attempt) else { continue };
            if !reports.iter().any(|report| report.attempt == attempt) {
                self.lose(attempt, Outcome::Killed, out);
                continue;
            }
            // The order to kill it died with the process, so look anew whether it has to end.
            let was_doomed = std::mem::take(&mut record.is_doomed);
            // The instant of its launch died with the process: its expiry begins anew.
            if record.state == AttemptState::Unassigned {
                self.launches.push_back((out.now, attempt));
            }
            if was_doomed && self.is_in_vain(attempt) {
                self.known_try(attempt).is_doomed = true;
                self.trackers[id.index()].orders.push(Directive::Kill(attempt));
            }
        }
    }

    /// Returns whether an attempt has lost, or its job is over or about to be.
    fn is_in_vain(&mut self, attempt: AttemptId) -> bool {
        let job = self.known_mut(attempt.job());
        let is_over = job.verdict.is_some() || matches!(job.state, JobState::Ended(_));
        is_over || job.known_task(attempt.task).stage != TaskStage::Active
    }

    /// Forgets some trackers, and all that trackers are accused of. The attempts on forgotten trackers are
    /// killed, which is no failure of theirs.
    fn forget_trackers(&mut self, is_unknown: impl Fn(TrackerId) -> bool, out: &mut Outbox) {
        for index in 0..self.trackers.len() {
            let id = TrackerId(index as u32);
            if self.trackers[index].is_registered && is_unknown(id) {
                self.remove_tracker(id, out);
                for attempt in self.all_attempts_on(id) {
                    if self.find_try(attempt).is_some() {
                        self.lose(attempt, Outcome::Killed, out);
                    }
                }
                self.trackers[id.index()].work = 0;
            }
            self.clear_faults(id, out);
        }
    }

    /// Returns the attempts of all jobs on a tracker.
    fn all_attempts_on(&self, id: TrackerId) -> Vec<AttemptId> {
        let jobs = self.jobs.iter().flatten();
        jobs.flat_map(|job| self.attempts_on(job.id(), Some(id))).collect()
    }

    /// Takes an attempt from those whose output is to be removed.
    fn remove_cleanup(&mut self, attempt: AttemptId) {
        let (id, kind) = (attempt.job(), attempt.slot());
        let unclean = &mut self.known_mut(id).unclean[kind];
        unclean.retain(|other| *other != attempt);
        if unclean.is_empty() {
            self.wants_task_cleanup[kind].remove(&id);
        }
    }

    /// Forgets of a job all but its submission. Its attempts have higher numbers than those before, as
    /// Hadoop's have by a thousand for each restart, so that no two bear the same name.
    fn begin_anew(&mut self, id: JobId, out: &mut Outbox) {
        // Its splits were not read, so nothing but its submission was known.
        if self.known(id).state == JobState::Submitted {
            return;
        }
        self.running.remove(&id);
        self.wants_setup.remove(&id);
        self.wants_cleanup.remove(&id);
        self.forget_outputs(id, out);
        SlotKind::BOTH.into_iter().for_each(|kind| _ = self.wants_task_cleanup[kind].remove(&id));
        // Before the attempts are closed: the counts of a job that does not run are zero.
        self.known_mut(id).state = JobState::Submitted;
        self.recount(out.now, id);
        out.emit(Fact::Job(id, JobFact::BegunAnew));
        for attempt in self.attempts_on(id, None) {
            let record = self.close_try(out.now, attempt);
            self.learn(attempt, record.tracker, AttemptState::Killed, out);
        }
        for (attempt, at) in self.successes(id) {
            self.learn(attempt, at, AttemptState::Killed, out);
        }
        let job = self.known_mut(id);
        let tasks = job.all_tasks().into_iter().flat_map(|(_, tasks)| tasks);
        // Read before the tasks are dropped: numbers go on where the highest one ended.
        let first = tasks.map(|task| task.next).max().unwrap_or(0);
        let fresh = Job::new(job.spec.clone(), job.submitted_at, job.splits.clone());
        let service = || [Task::new(first), Task::new(first)];
        let fresh = Job { first_attempt: first, setup: service(), cleanup: service(), ..fresh };
        *job = fresh;
    }

    /// Returns the maps and reduces of a job that are done: by which attempts, and where.
    fn successes(&self, id: JobId) -> Vec<(AttemptId, TrackerId)> {
        let job = self.known(id);
        let of_kind = |kind: TaskKind| {
            let done = (0..).zip(job.tasks_of(kind)).filter_map(move |(index, task)| {
                let TaskStage::Done(number, at) = task.stage else { return None };
                Some((TaskId { job: id, kind, index }.attempt(number), at))
            });
            done.collect::<Vec<_>>()
        };
        [of_kind(TaskKind::Map), of_kind(TaskKind::Reduce)].concat()
    }
}
