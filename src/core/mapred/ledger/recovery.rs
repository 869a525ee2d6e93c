//! Jobs and trackers when the JobTracker's process dies, and when it comes back.
//!
//! Without recovery all jobs fail, and trackers must start anew. With recovery there are two ways:
//!
//! - Hadoop 0.20 *replays* the history of each job, which says what has ended, and where. It waits
//!   for the trackers in the history: until each of them has sent a heartbeat or is lost, no task is
//!   launched. Attempts that such a tracker still runs are kept at its first heartbeat. All other
//!   trackers are unknown and must start anew, so the attempts there are lost.
//! - Hadoop from 0.21 on *submits each job again*: only the submission is on disk, all tasks run
//!   anew, and all trackers must start anew.
//!
//! When the process dies, the ledger drops all that is not on disk. It keeps requests to kill jobs,
//! though they are not on disk, since users would repeat them.

use super::Ledger;
use crate::cluster::{SlotKind, TrackerId};
use crate::mapred::event::{AttemptState, Fact, JobFact, Outcome};
use crate::mapred::heartbeat::{Directive, Report};
use crate::mapred::ids::{AttemptId, JobId, TaskId, TaskKind};
use crate::mapred::job::{Job, JobChange, JobState, Task, TaskStage};
use crate::mapred::outbox::Outbox;
use mumakil_base::units::SimTime;

impl Ledger {
    /// Fails and forgets all jobs, and forgets all trackers.
    pub(crate) fn fail_all(&mut self, out: &mut Outbox) {
        // Walk a copy, as each end removes a job from the list.
        for id in self.open.clone() {
            let job = self.known_mut(id);
            job.verdict = Some(Outcome::Failed);
            job.give_up_waiting();
            self.end_job(id, out);
        }
        self.forget_trackers(|_| true, out);
    }

    /// Keeps only the submissions of jobs, and forgets all trackers.
    pub(crate) fn keep_submissions(&mut self, out: &mut Outbox) {
        for id in self.open.clone() {
            // Read this before the job is forgotten. A request to kill it is kept, as the user
            // would repeat it.
            let is_killed = self.known(id).verdict == Some(Outcome::Killed);
            self.begin_anew(id, out);
            if is_killed {
                self.end_early(id, Outcome::Killed, out);
            }
        }
        self.forget_trackers(|_| true, out);
    }

    /// Keeps the content of the jobs' histories, and the trackers named there.
    pub(crate) fn keep_history(&mut self, out: &mut Outbox) {
        let mut named = vec![false; self.trackers.len()];
        for id in self.open.clone() {
            let job = self.known_mut(id);
            // The history has no complaints; reduces that still cannot fetch complain again.
            job.failed_fetches.clear();
            // The history names the host of each task that has ended. A job whose cleanup task has
            // ended is over, and is not recovered.
            let ended = job.all_tasks().into_iter().filter(|(kind, _)| *kind != TaskKind::Cleanup);
            for task in ended.flat_map(|(_, tasks)| tasks) {
                if let TaskStage::Done(_, at) = task.stage {
                    named[at.index()] = true;
                }
            }
            // Failed attempts are in the history, with their hosts.
            job.failures_on.keys().for_each(|at| named[at.index()] = true);
            // In the history, an attempt whose output was still to be removed has not ended.
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

    /// Returns whether launches wait for trackers after a restart.
    pub(crate) fn is_recovering(&self) -> bool {
        0 < self.rejoining
    }

    /// Notes that launches need no longer wait for this tracker to come back.
    pub(super) fn expect_no_more(&mut self, id: TrackerId) {
        let rejoins = std::mem::take(&mut self.trackers[id.index()].rejoins);
        self.rejoining -= u32::from(rejoins);
    }

    /// Goes on with the recovered jobs and trackers when the process is back; returns the jobs
    /// whose splits must be read. The policy learns of all jobs anew.
    pub(crate) fn recover(&mut self, now: SimTime) -> Vec<JobId> {
        for tracker in self.trackers.iter_mut().filter(|tracker| tracker.rejoins) {
            // Trackers could not send heartbeats while the process was down: their silence counts
            // from now on.
            tracker.last_seen = now;
            tracker.seen_before = now;
        }
        self.introduce_jobs(now);
        let open = self.open.iter().copied();
        let unread: Vec<JobId> =
            open.filter(|id| self.known(*id).state == JobState::Submitted).collect();
        for id in &unread {
            // A job that is submitted again looks up anew where its input is.
            let files = self.files.clone();
            self.known_mut(*id).splits = files;
        }
        unread
    }

    /// Tells the policy of all jobs anew.
    pub(crate) fn introduce_jobs(&mut self, now: SimTime) {
        for id in self.open.clone() {
            self.change(now, id, JobChange::Submitted);
            match self.known(id).state {
                JobState::Submitted => {}
                JobState::Preparing => self.change(now, id, JobChange::Initialised),
                // The policy gets the same changes in the same order as for a new job, so that it
                // needs no code of its own for a restart.
                JobState::Running | JobState::Cleaning => {
                    self.change(now, id, JobChange::Initialised);
                    self.change(now, id, JobChange::Running);
                }
                JobState::Ended(_) => {}
            }
        }
    }

    /// Returns the suspended attempts, and those whose suspension is ordered, with their trackers.
    pub(crate) fn halted(&self) -> Vec<(AttemptId, TrackerId)> {
        let attempts = self.open.iter().flat_map(|id| self.attempts_on(*id, None));
        let halted = attempts.filter_map(|attempt| {
            let record = self.attempt(attempt)?;
            let is_halted = record.is_halted && record.is_active() && !record.is_kill_ordered;
            is_halted.then_some((attempt, record.tracker))
        });
        halted.collect()
    }

    /// Handles a tracker's first heartbeat since the process is back. Attempts that the heartbeat
    /// does not report are lost; attempts that are no longer needed are ordered to end.
    pub(crate) fn rejoin(&mut self, id: TrackerId, reports: &[Report], out: &mut Outbox) {
        self.expect_no_more(id);
        // Include ended jobs: their attempts may still hold slots on the tracker.
        for attempt in self.all_attempts_on(id) {
            let Some(record) = self.find_try(attempt) else { continue };
            if !reports.iter().any(|report| report.attempt == attempt) {
                self.lose(attempt, Outcome::Killed, out);
                continue;
            }
            // The order to kill the attempt was lost with the process, so check anew whether it
            // must end.
            let was_doomed = std::mem::take(&mut record.is_kill_ordered);
            record.is_saving = false;
            record.fails_if_killed = false;
            // The instant of its launch was lost with the process: its expiry begins anew.
            if record.state == AttemptState::Unassigned {
                self.launches.push_back((out.now, attempt));
            }
            if was_doomed && self.is_in_vain(attempt) {
                self.known_try(attempt).is_kill_ordered = true;
                self.trackers[id.index()].orders.push(Directive::Kill(attempt));
            }
        }
    }

    /// Returns whether an attempt is no longer needed: another attempt of its task was first, or
    /// its job has ended or will end early.
    fn is_in_vain(&mut self, attempt: AttemptId) -> bool {
        let job = self.known_mut(attempt.job());
        let is_over = job.verdict.is_some() || matches!(job.state, JobState::Ended(_));
        is_over || job.known_task(attempt.task).stage != TaskStage::Active
    }

    /// Forgets some trackers, and all failures of all trackers. The attempts on forgotten trackers
    /// are killed, which does not count as their failure.
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

    /// Takes an attempt off the list of those whose output must be removed.
    fn remove_cleanup(&mut self, attempt: AttemptId) {
        let (id, kind) = (attempt.job(), attempt.slot());
        let unclean = &mut self.known_mut(id).unclean[kind];
        unclean.retain(|other| *other != attempt);
        if unclean.is_empty() {
            self.wants_task_cleanup[kind].remove(&id);
        }
    }

    /// Forgets everything about a job but its submission. Its attempts get higher numbers than
    /// before, so that no two attempts have the same name; Hadoop adds a thousand for each restart.
    fn begin_anew(&mut self, id: JobId, out: &mut Outbox) {
        // The job's splits were not read, so there is nothing to forget.
        if self.known(id).state == JobState::Submitted {
            return;
        }
        self.running.remove(&id);
        self.wants_setup.remove(&id);
        self.wants_cleanup.remove(&id);
        self.forget_outputs(id, out);
        SlotKind::BOTH.into_iter().for_each(|kind| _ = self.wants_task_cleanup[kind].remove(&id));
        // Set this before the attempts are closed: the counts of a job that does not run are zero.
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
        // Read this before the tasks are dropped: new numbers go on after the highest number.
        let first = tasks.map(|task| task.next).max().unwrap_or(0);
        let (spec, splits) = (job.spec.clone(), job.splits.clone());
        let fresh = Job::new(spec, job.settings, job.submitted_at, splits);
        let service = || [Task::new(first), Task::new(first)];
        let fresh = Job { first_attempt: first, setup: service(), cleanup: service(), ..fresh };
        *job = fresh;
    }

    /// Returns the successful attempts of a job's maps and reduces, each with its tracker.
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
