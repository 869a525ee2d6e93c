//! What the JobTracker knows of jobs and trackers, and the moves that change it.
//!
//! Every move keeps the counts that policies ask for (running, pending, unfinished), so that no
//! question walks tasks. A move that somebody should hear of leaves an event in the outbox and a
//! change for the policy; orders for a tracker wait until its next heartbeat.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::job::{Job, JobState, Stage, Task, Try};
use super::map_cache::{MapCache, Reach, Verdict, distance};
use super::sabotage::Sabotage;
use super::{
    Address, AttemptId, AttemptState, Directive, Fact, FailedMaps, Hadoop, JobChange, JobEvent,
    JobId, JobSpec, Launch, Locality, Msg, Outbox, Outcome, PerSlot, Reason, Reply, Report, Role,
    SlotKind, TaskId, TaskKind, TrackerId,
};
use crate::cluster::{Hdfs, Topology};
use crate::units::{SimSpan, SimTime};

/// What the JobTracker knows.
pub(super) struct Ledger {
    pub(super) hadoop: Hadoop,
    pub(super) topology: Arc<Topology>,
    hdfs: Hdfs,
    /// By number; `None` before a job arrives.
    jobs: Vec<Option<Box<Job>>>,
    /// The jobs that give tasks, in the order of their numbers.
    running: BTreeSet<JobId>,
    /// Jobs whose setup task is to be launched.
    wants_setup: BTreeSet<JobId>,
    /// Jobs whose cleanup task is to be launched.
    wants_cleanup: BTreeSet<JobId>,
    /// Jobs with attempts whose output is to be removed, by the kind of slot.
    wants_task_cleanup: PerSlot<BTreeSet<JobId>>,
    pub(super) trackers: Vec<Tracker>,
    /// How many trackers are registered.
    pub(super) registered: u32,
    /// Slots of all registered trackers.
    pub(super) capacity: PerSlot<u32>,
    /// Slots that their last heartbeats reported as taken.
    pub(super) occupied: PerSlot<u32>,
    /// Tasks of running jobs that have not ended; reduces only once they may start.
    pub(super) unfinished: PerSlot<u64>,
    /// Running jobs with a task of the kind that could be launched now.
    pub(super) jobs_pending: PerSlot<u32>,
    /// Tries that are not over.
    pub(super) open_tries: u32,
    /// When something last moved.
    pub(super) moved_at: SimTime,
    /// What the policy has not been told yet.
    pub(super) changes: Vec<JobEvent>,
    /// Scratch for block look-ups.
    holders: Vec<TrackerId>,
}

/// A tracker as the JobTracker sees it.
#[derive(Debug, Default)]
pub(super) struct Tracker {
    pub(super) is_registered: bool,
    pub(super) last_seen: SimTime,
    /// What it was told last, kept to be told again.
    pub(super) last_reply: Arc<Reply>,
    pub(super) slots: PerSlot<u32>,
    pub(super) occupied: PerSlot<u32>,
    /// What it said of its attempts last: what it says again needs no look at the job.
    pub(super) reports: Vec<Report>,
    /// What it is to do, told with the next reply.
    pub(super) orders: Vec<Directive>,
}

impl Ledger {
    pub(super) fn new(hadoop: Hadoop, topology: Arc<Topology>, hdfs: Hdfs) -> Self {
        let trackers = (0..topology.len()).map(|_| Tracker::default()).collect();
        Self {
            hadoop,
            topology,
            hdfs,
            jobs: Vec::new(),
            running: BTreeSet::new(),
            wants_setup: BTreeSet::new(),
            wants_cleanup: BTreeSet::new(),
            wants_task_cleanup: PerSlot::default(),
            trackers,
            registered: 0,
            capacity: PerSlot::default(),
            occupied: PerSlot::default(),
            unfinished: PerSlot::default(),
            jobs_pending: PerSlot::default(),
            open_tries: 0,
            moved_at: SimTime::ZERO,
            changes: Vec::new(),
            holders: Vec::new(),
        }
    }

    // ---- looking things up ----

    pub(super) fn job(&self, id: JobId) -> Option<&Job> {
        self.jobs.get(id.index()).and_then(Option::as_deref)
    }

    fn job_mut(&mut self, id: JobId) -> Option<&mut Job> {
        self.jobs.get_mut(id.index()).and_then(Option::as_deref_mut)
    }

    pub(super) fn running_jobs(&self) -> impl Iterator<Item = &Job> {
        self.running.iter().filter_map(|id| self.job(*id))
    }

    pub(super) fn find_try(&mut self, attempt: AttemptId) -> Option<&mut Try> {
        self.job_mut(attempt.job())?.task(attempt.task)?.find(attempt.number)
    }

    fn attempts_on(&self, id: JobId, tracker: Option<TrackerId>) -> Vec<AttemptId> {
        let Some(job) = self.job(id) else { return Vec::new() };
        let tasks: [(TaskKind, &[Task]); 4] = [
            (TaskKind::Setup, &job.setup),
            (TaskKind::Map, &job.maps.tasks),
            (TaskKind::Reduce, &job.reduces.tasks),
            (TaskKind::Cleanup, &job.cleanup),
        ];
        let mut attempts = Vec::new();
        for (kind, tasks) in tasks {
            for (index, task) in (0..).zip(tasks) {
                let here = task.tries.iter().filter(|t| tracker.is_none_or(|at| t.is_on(at)));
                let id = TaskId { job: id, kind, index };
                attempts.extend(here.map(|t| id.attempt(t.number)));
            }
        }
        attempts
    }

    // ---- the life of a job ----

    pub(super) fn submit(&mut self, now: SimTime, spec: Arc<JobSpec>, out: &mut Outbox) {
        let id = spec.id;
        if self.jobs.len() <= id.index() {
            self.jobs.resize_with(id.index() + 1, || None);
        }
        out.emit(now, Fact::JobSubmitted(spec.clone()));
        self.jobs[id.index()] = Some(Box::new(Job::new(spec, now)));
        self.change(now, id, JobChange::Submitted);
    }

    /// Reads a job's splits; its setup task, or its tasks, may then be launched.
    pub(super) fn initialise(&mut self, now: SimTime, id: JobId, out: &mut Outbox) {
        let Some(job) = self.jobs.get_mut(id.index()).and_then(Option::as_deref_mut) else {
            return;
        };
        if job.state != JobState::Submitted {
            return;
        }
        let spec = job.spec.clone();
        let file = spec.input.map(|input| input.file);
        job.cache = MapCache::new(spec.maps, file, &self.hdfs, &self.topology);
        job.maps.tasks.resize_with(spec.maps as usize, Task::default);
        job.reduces.tasks.resize_with(spec.reduces as usize, Task::default);
        job.maps.waiting = spec.maps;
        job.reduces.waiting = spec.reduces;
        job.waiting_reduces = (0..spec.reduces).collect();
        job.state = JobState::Preparing;
        out.emit(now, Fact::JobInitialised(id));
        self.change(now, id, JobChange::Initialised);
        if self.hadoop.setup_cleanup {
            self.wants_setup.insert(id);
        } else {
            self.start_job(now, id, out);
        }
    }

    fn start_job(&mut self, now: SimTime, id: JobId, out: &mut Outbox) {
        let Some(job) = self.job_mut(id) else { return };
        if job.state != JobState::Preparing {
            return;
        }
        job.state = JobState::Running;
        job.running_at = now;
        self.running.insert(id);
        out.emit(now, Fact::JobRunning(id));
        self.change(now, id, JobChange::Running);
        self.recount(now, id);
        self.close_if_worked_off(now, id, out);
    }

    /// Moves a job whose tasks are over on to its cleanup, or to its end.
    fn close_if_worked_off(&mut self, now: SimTime, id: JobId, out: &mut Outbox) {
        let Some(job) = self.job_mut(id) else { return };
        let is_over = match job.state {
            JobState::Running => job.verdict.is_some() || job.is_worked_off(),
            // A job that fails before it runs is cleaned up as well.
            JobState::Preparing => job.verdict.is_some(),
            _ => false,
        };
        if !is_over {
            return;
        }
        job.state = JobState::Cleaning;
        self.running.remove(&id);
        self.wants_setup.remove(&id);
        self.recount(now, id);
        if self.hadoop.setup_cleanup {
            self.wants_cleanup.insert(id);
        } else {
            self.end_job(now, id, out);
        }
    }

    fn end_job(&mut self, now: SimTime, id: JobId, out: &mut Outbox) {
        let Some(job) = self.job_mut(id) else { return };
        let outcome = job.verdict.unwrap_or(Outcome::Succeeded);
        job.state = JobState::Ended(outcome);
        self.running.remove(&id);
        self.wants_setup.remove(&id);
        self.wants_cleanup.remove(&id);
        for attempt in self.attempts_on(id, None) {
            self.wind_up(now, attempt, out);
        }
        self.recount(now, id);
        out.emit(now, Fact::JobEnded { job: id, outcome });
        out.send(Address::INJECTOR, Msg::JobEnded(id, outcome));
        self.change(now, id, JobChange::Ended(outcome));
        self.forget_if_drained(id);
    }

    /// Ends a job early: nothing more is launched, and what runs is killed.
    pub(super) fn condemn(&mut self, now: SimTime, id: JobId, verdict: Outcome, out: &mut Outbox) {
        let Some(job) = self.job_mut(id) else { return };
        if matches!(job.state, JobState::Ended(_)) || job.verdict.is_some() {
            return;
        }
        job.verdict = Some(verdict);
        if job.state == JobState::Submitted {
            return self.end_job(now, id, out);
        }
        for kind in SlotKind::BOTH {
            let tasks = job.tasks_mut(kind);
            tasks.waiting = 0;
            for task in tasks.tasks.iter_mut().filter(|task| task.stage == Stage::Waiting) {
                task.stage = Stage::Dead;
            }
        }
        for attempt in self.attempts_on(id, None) {
            if attempt.task.kind != TaskKind::Cleanup {
                self.wind_up(now, attempt, out);
            }
        }
        self.close_if_worked_off(now, id, out);
    }

    /// Drops the tasks of an ended job once no tracker has anything of it.
    fn forget_if_drained(&mut self, id: JobId) {
        let Some(job) = self.job_mut(id) else { return };
        if matches!(job.state, JobState::Ended(_)) && job.open_tries == 0 {
            job.maps.tasks = Vec::new();
            job.reduces.tasks = Vec::new();
            job.cache = MapCache::default();
            job.unclean = PerSlot::default();
            for kind in SlotKind::BOTH {
                self.wants_task_cleanup[kind].remove(&id);
            }
        }
    }

    // ---- launching ----

    /// Hands a task out; what it returns travels with the reply that is being made.
    #[expect(clippy::too_many_arguments, reason = "each is one column of the attempt's record")]
    fn assign(
        &mut self,
        now: SimTime,
        task: TaskId,
        tracker: TrackerId,
        role: Role,
        locality: Option<Locality>,
        reason: Reason,
        out: &mut Outbox,
    ) -> Option<Launch> {
        let job = self.jobs.get_mut(task.job.index()).and_then(Option::as_deref_mut)?;
        let ready_at = match task.kind {
            TaskKind::Reduce => job.reduces_ready_at.unwrap_or(job.running_at),
            _ => job.running_at,
        };
        let record = job.task(task)?;
        let is_overlooked = Sabotage::LaunchForgotten.is_planted() && is_first_map(task);
        let is_speculative = record.tries.iter().any(Try::is_active) && !is_overlooked;
        let waited = now.saturating_since(record.since.max(ready_at));
        let number = record.next;
        record.next += 1;
        let was_waiting = record.stage == Stage::Waiting;
        if !is_overlooked || 0 < number {
            record.stage = Stage::Active;
        }
        record.tries.push(Try {
            number,
            tracker,
            state: AttemptState::Unassigned,
            cleaner: None,
            is_counted: task.is_work(),
            is_doomed: false,
        });
        job.open_tries += 1;
        if task.is_work() {
            let tasks = job.tasks_mut(task.slot());
            tasks.running += 1;
            tasks.waiting -= u32::from(was_waiting);
        }
        let spec = job.spec.clone();
        let counts = job.counts(task.slot());
        self.recount(now, task.job);
        self.open_tries += 1;
        self.moved_at = now;
        let attempt = task.attempt(number);
        out.emit(
            now,
            Fact::Assigned {
                attempt,
                tracker,
                role,
                locality,
                speculative: is_speculative,
                reason,
                waited: if task.is_work() { waited } else { SimSpan::ZERO },
                counts,
            },
        );
        Some(Launch { attempt, role, job: spec, locality })
    }

    /// Returns whether a job avoids a tracker because too many of its attempts failed there.
    fn avoids(&self, job: &Job, tracker: TrackerId) -> bool {
        let failures = job.failures_on.get(&tracker).copied().unwrap_or(0);
        is_a_few(job.flaky, self.registered) && self.hadoop.tracker_failures.get() <= failures
    }

    /// Launches the job's best waiting map for a node within reach.
    pub(super) fn launch_map(
        &mut self,
        now: SimTime,
        id: JobId,
        tracker: TrackerId,
        reach: Reach,
        reason: Reason,
        out: &mut Outbox,
    ) -> Option<Launch> {
        let job = self.job(id)?;
        if job.pending(SlotKind::Map) == 0 || self.avoids(job, tracker) {
            return None;
        }
        let (index, locality) = self.best_map(id, tracker, reach)?;
        let task = TaskId { job: id, kind: TaskKind::Map, index };
        self.assign(now, task, tracker, Role::Work, locality, reason, out)
    }

    fn best_map(
        &mut self,
        id: JobId,
        tracker: TrackerId,
        reach: Reach,
    ) -> Option<(u32, Option<Locality>)> {
        let hosts = self.registered;
        let job = self.jobs.get_mut(id.index()).and_then(Option::as_deref_mut)?;
        let Job { cache, maps, barred, failed_maps, spec, .. } = job;
        let verdict = |index: u32| {
            if maps.tasks[index as usize].stage != Stage::Waiting {
                return Verdict::Drop;
            }
            let task = TaskId { job: id, kind: TaskKind::Map, index };
            let barred =
                !barred.is_empty() && barred.get(&task).is_some_and(|on| bars(on, tracker, hosts));
            if barred { Verdict::Pass } else { Verdict::Take }
        };
        let first = failed_maps.iter().map(|(_, map)| *map).find(|m| verdict(*m) == Verdict::Take);
        if let Some(map) = first {
            let locality = spec.input.map(|input| {
                self.hdfs.locate(input.file, map, &mut self.holders);
                distance(tracker, &self.holders, &self.topology)
            });
            failed_maps.retain(|(_, other)| *other != map);
            return Some((map, locality));
        }
        cache.best(tracker, reach, &self.topology, verdict)
    }

    /// Launches the job's first waiting reduce.
    pub(super) fn launch_reduce(
        &mut self,
        now: SimTime,
        id: JobId,
        tracker: TrackerId,
        reason: Reason,
        out: &mut Outbox,
    ) -> Option<Launch> {
        let hosts = self.registered;
        let job = self.job(id)?;
        if job.pending(SlotKind::Reduce) == 0 || self.avoids(job, tracker) {
            return None;
        }
        let task = |index| TaskId { job: id, kind: TaskKind::Reduce, index };
        let fits =
            |index: &u32| !job.barred.get(&task(*index)).is_some_and(|on| bars(on, tracker, hosts));
        let position = job.waiting_reduces.iter().position(fits)?;
        let index = self.job_mut(id)?.waiting_reduces.remove(position)?;
        self.assign(now, task(index), tracker, Role::Work, None, reason, out)
    }

    /// Launches a job's setup or cleanup task, or the removal of an attempt's output.
    ///
    /// Such a launch comes before any policy is asked and is the only one of its heartbeat.
    pub(super) fn launch_service(
        &mut self,
        now: SimTime,
        tracker: TrackerId,
        kind: SlotKind,
        out: &mut Outbox,
    ) -> Option<Launch> {
        let index = u32::from(kind == SlotKind::Reduce);
        let accepts = |set: &BTreeSet<JobId>| {
            let fits = |id: &&JobId| self.job(**id).is_some_and(|job| !self.avoids(job, tracker));
            set.iter().find(fits).copied()
        };
        if let Some(job) = accepts(&self.wants_cleanup) {
            self.wants_cleanup.remove(&job);
            let task = TaskId { job, kind: TaskKind::Cleanup, index };
            return self.assign(now, task, tracker, Role::Work, None, Reason::JobService, out);
        }
        if let Some(job) = accepts(&self.wants_task_cleanup[kind]) {
            return self.launch_task_cleanup(now, job, tracker, kind, out);
        }
        if let Some(job) = accepts(&self.wants_setup) {
            self.wants_setup.remove(&job);
            let task = TaskId { job, kind: TaskKind::Setup, index };
            return self.assign(now, task, tracker, Role::Work, None, Reason::JobService, out);
        }
        None
    }

    fn launch_task_cleanup(
        &mut self,
        now: SimTime,
        id: JobId,
        tracker: TrackerId,
        kind: SlotKind,
        out: &mut Outbox,
    ) -> Option<Launch> {
        let job = self.job_mut(id)?;
        let attempt = job.unclean[kind].pop_front()?;
        let is_last = job.unclean[kind].is_empty();
        let spec = job.spec.clone();
        let counts = job.counts(kind);
        let record = job.task(attempt.task)?.find(attempt.number)?;
        record.cleaner = Some(tracker);
        if is_last {
            self.wants_task_cleanup[kind].remove(&id);
        }
        self.moved_at = now;
        let role = Role::TaskCleanup;
        out.emit(
            now,
            Fact::Assigned {
                attempt,
                tracker,
                role,
                locality: None,
                speculative: false,
                reason: Reason::TaskCleanup,
                waited: SimSpan::ZERO,
                counts,
            },
        );
        Some(Launch { attempt, role, job: spec, locality: None })
    }

    // ---- what becomes of attempts ----

    /// Orders the end of an attempt at its tracker's next heartbeat.
    pub(super) fn doom(&mut self, attempt: AttemptId) {
        let Some(record) = self.find_try(attempt) else { return };
        if !record.is_active() || record.is_doomed {
            return;
        }
        record.is_doomed = true;
        let tracker = record.tracker;
        self.trackers[tracker.index()].orders.push(Directive::Kill(attempt));
    }

    /// Ends an attempt of a job that needs it no more.
    fn wind_up(&mut self, now: SimTime, attempt: AttemptId, out: &mut Outbox) {
        let Some(record) = self.find_try(attempt) else { return };
        if !record.waits_for_cleaner() {
            return self.doom(attempt);
        }
        let outcome = unclean_outcome(record.state);
        if let Some(job) = self.job_mut(attempt.job()) {
            job.unclean[attempt.slot()].retain(|other| *other != attempt);
        }
        self.wants_task_cleanup[attempt.slot()].remove(&attempt.job());
        self.lose(now, attempt, outcome, out);
    }

    /// Notes that an attempt waits for its commit; returns whether it may.
    pub(super) fn wait_for_commit(
        &mut self,
        now: SimTime,
        attempt: AttemptId,
        still_counts: bool,
        out: &mut Outbox,
    ) -> bool {
        let Some(record) = self.find_try(attempt) else { return false };
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
            self.learn(now, attempt, tracker, AttemptState::CommitPending, out);
        }
        let Some(task) = self.job_mut(attempt.job()).and_then(|job| job.task(attempt.task)) else {
            return false;
        };
        // The first of a task's attempts to wait wins; the others lose the race.
        let is_winner = task
            .tries
            .iter()
            .find(|t| t.state == AttemptState::CommitPending && !t.is_doomed)
            .is_some_and(|first| first.number == attempt.number);
        if !is_winner {
            self.doom(attempt);
        }
        is_winner
    }

    fn stop_counting(&mut self, attempt: AttemptId) {
        let Some(job) = self.job_mut(attempt.job()) else { return };
        let Some(record) = job.task(attempt.task).and_then(|task| task.find(attempt.number)) else {
            return;
        };
        if std::mem::take(&mut record.is_counted) {
            job.tasks_mut(attempt.slot()).running -= 1;
        }
    }

    /// Takes an attempt off the books; returns what was known of it.
    fn close_try(&mut self, attempt: AttemptId) -> Option<Try> {
        self.stop_counting(attempt);
        let job = self.job_mut(attempt.job())?;
        let record = job.task(attempt.task)?.remove(attempt.number)?;
        job.open_tries -= 1;
        self.open_tries -= 1;
        Some(record)
    }

    /// Notes that an attempt has succeeded: its task is done, its rivals are not needed.
    pub(super) fn succeed(&mut self, now: SimTime, attempt: AttemptId, out: &mut Outbox) {
        let is_doomed = self.find_try(attempt).is_none_or(|record| record.is_doomed);
        if is_doomed {
            // Its kill crossed its success on the way: the output is not taken.
            return self.lose(now, attempt, Outcome::Killed, out);
        }
        if Sabotage::SuccessDropped.is_planted() && is_first_map(attempt.task) {
            return;
        }
        let Some(record) = self.close_try(attempt) else { return };
        let id = attempt.job();
        let Some(job) = self.job_mut(id) else { return };
        if let Some(task) = job.task(attempt.task) {
            task.stage = Stage::Done(attempt.number, record.tracker);
            let rivals: Vec<u32> = task.tries.iter().map(|rival| rival.number).collect();
            for number in rivals {
                self.doom(attempt.task.attempt(number));
            }
        }
        match attempt.task.kind {
            TaskKind::Map | TaskKind::Reduce => {
                if let Some(job) = self.job_mut(id) {
                    job.tasks_mut(attempt.slot()).finished += 1;
                }
                self.recount(now, id);
                self.learn(now, attempt, record.tracker, AttemptState::Succeeded, out);
                self.note_maps_done(now, attempt, out);
                self.close_if_worked_off(now, id, out);
            }
            TaskKind::Setup => {
                self.learn(now, attempt, record.tracker, AttemptState::Succeeded, out);
                self.start_job(now, id, out);
            }
            TaskKind::Cleanup => {
                self.learn(now, attempt, record.tracker, AttemptState::Succeeded, out);
                self.end_job(now, id, out);
            }
        }
        self.forget_if_drained(id);
    }

    fn note_maps_done(&mut self, now: SimTime, attempt: AttemptId, out: &mut Outbox) {
        let Some(job) = self.job(attempt.job()) else { return };
        let is_map = attempt.task.kind == TaskKind::Map;
        if is_map && job.maps_over() == job.maps.total && job.state == JobState::Running {
            out.emit(now, Fact::MapsDone(attempt.job()));
        }
    }

    /// Notes that an attempt is over but has left output behind, which is removed first.
    pub(super) fn leave_unclean(
        &mut self,
        now: SimTime,
        attempt: AttemptId,
        state: AttemptState,
        out: &mut Outbox,
    ) {
        let Some(record) = self.find_try(attempt) else { return };
        let tracker = record.tracker;
        let is_new = record.state != state;
        record.state = state;
        record.cleaner = None;
        if let Some(job) = self.job_mut(attempt.job()) {
            job.unclean[attempt.slot()].push_back(attempt);
        }
        self.wants_task_cleanup[attempt.slot()].insert(attempt.job());
        if is_new {
            self.learn(now, attempt, tracker, state, out);
        }
    }

    /// Returns whether the output of an ended attempt is still worth removing.
    pub(super) fn cleans_up_after(&self, attempt: AttemptId) -> bool {
        self.hadoop.task_cleanup
            && attempt.task.is_work()
            && self.job(attempt.job()).is_some_and(Job::is_running)
    }

    /// Notes that an attempt has failed or was killed; its task waits again if it is needed.
    pub(super) fn lose(
        &mut self,
        now: SimTime,
        attempt: AttemptId,
        outcome: Outcome,
        out: &mut Outbox,
    ) {
        let Some(record) = self.close_try(attempt) else { return };
        let failed = outcome == Outcome::Failed;
        if failed {
            self.count_failure(attempt, record.tracker);
        }
        let most = self.hadoop.max_attempts.get();
        let id = attempt.job();
        let Some(job) = self.job_mut(id) else { return };
        let may_go_on = !matches!(job.state, JobState::Ended(_));
        let Some(task) = job.task(attempt.task) else { return };
        let is_last = !task.tries.iter().any(Try::is_active) && task.stage == Stage::Active;
        let is_exhausted = most <= task.failures;
        let state = if failed { AttemptState::Failed } else { AttemptState::Killed };
        if is_last && is_exhausted {
            task.stage = Stage::Dead;
        } else if is_last {
            self.put_back(now, attempt.task);
        }
        self.recount(now, id);
        self.learn(now, attempt, record.tracker, state, out);
        if is_last && is_exhausted && may_go_on {
            self.give_up(now, attempt.task, out);
        }
        self.forget_if_drained(id);
    }

    fn count_failure(&mut self, attempt: AttemptId, tracker: TrackerId) {
        let Some(job) = self.job_mut(attempt.job()) else { return };
        if let Some(task) = job.task(attempt.task) {
            task.failures += 1;
        }
        if attempt.task.is_work() {
            job.barred.entry(attempt.task).or_default().push(tracker);
        }
        self.blame(attempt.job(), tracker);
    }

    /// Counts a failure against a tracker, as long as the job does not avoid too many already.
    fn blame(&mut self, job: JobId, tracker: TrackerId) {
        let most = self.hadoop.tracker_failures.get();
        let registered = self.registered;
        let Some(job) = self.job_mut(job) else { return };
        if is_a_few(job.flaky, registered) {
            let count = job.failures_on.entry(tracker).or_default();
            *count += 1;
            job.flaky += u32::from(*count == most);
        }
    }

    /// Puts a task back among those that wait.
    fn put_back(&mut self, now: SimTime, task: TaskId) {
        let id = task.job;
        let failed_first = self.hadoop.failed_maps == FailedMaps::First;
        let Some(job) = self.jobs.get_mut(id.index()).and_then(Option::as_deref_mut) else {
            return;
        };
        let is_needed = job.verdict.is_none() && !matches!(job.state, JobState::Ended(_));
        let Some(record) = job.task(task) else { return };
        if !is_needed && task.is_work() {
            record.stage = Stage::Dead;
            return;
        }
        record.stage = Stage::Waiting;
        record.since = now;
        let failures = record.failures;
        match task.kind {
            TaskKind::Map => {
                job.maps.waiting += 1;
                if failed_first {
                    job.failed_maps.insert((Reverse(failures), task.index));
                } else {
                    self.holders.clear();
                    if let Some(input) = job.spec.input {
                        self.hdfs.locate(input.file, task.index, &mut self.holders);
                    }
                    job.cache.put_in_front(task.index, &self.holders, &self.topology);
                }
            }
            TaskKind::Reduce => {
                job.reduces.waiting += 1;
                job.waiting_reduces.push_front(task.index);
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
    fn give_up(&mut self, now: SimTime, task: TaskId, out: &mut Outbox) {
        let allowed = match task.slot() {
            SlotKind::Map => self.hadoop.map_failures,
            SlotKind::Reduce => self.hadoop.reduce_failures,
        };
        let Some(job) = self.job_mut(task.job) else { return };
        if task.kind == TaskKind::Cleanup {
            job.verdict = Some(Outcome::Failed);
            return self.end_job(now, task.job, out);
        }
        let is_fatal = if task.is_work() {
            let tasks = job.tasks_mut(task.slot());
            tasks.failed += 1;
            f64::from(tasks.failed) > allowed.get() * f64::from(tasks.total)
        } else {
            true
        };
        if is_fatal {
            self.condemn(now, task.job, Outcome::Failed, out);
        } else {
            self.recount(now, task.job);
            self.note_maps_done(now, task.attempt(0), out);
            self.close_if_worked_off(now, task.job, out);
        }
    }

    // ---- trackers ----

    pub(super) fn register(
        &mut self,
        now: SimTime,
        id: TrackerId,
        slots: PerSlot<u32>,
        out: &mut Outbox,
    ) {
        let tracker = &mut self.trackers[id.index()];
        tracker.is_registered = true;
        tracker.slots = slots;
        tracker.reports.clear();
        tracker.orders.clear();
        self.registered += 1;
        for kind in SlotKind::BOTH {
            self.capacity[kind] += slots[kind];
        }
        out.emit(now, Fact::TrackerJoined(id));
    }

    pub(super) fn set_occupied(&mut self, id: TrackerId, occupied: PerSlot<u32>) {
        let tracker = &mut self.trackers[id.index()];
        for kind in SlotKind::BOTH {
            self.occupied[kind] = self.occupied[kind] + occupied[kind] - tracker.occupied[kind];
        }
        tracker.occupied = occupied;
    }

    /// Gives a tracker up: what ran there is killed, and maps whose output lay there run again.
    pub(super) fn lose_tracker(&mut self, now: SimTime, id: TrackerId, out: &mut Outbox) {
        self.set_occupied(id, PerSlot::default());
        let tracker = &mut self.trackers[id.index()];
        tracker.is_registered = false;
        tracker.orders.clear();
        let slots = tracker.slots;
        self.registered -= 1;
        for kind in SlotKind::BOTH {
            self.capacity[kind] -= slots[kind];
        }
        out.emit(now, Fact::TrackerLost(id));
        let jobs: Vec<JobId> = self.jobs.iter().flatten().map(|job| job.id()).collect();
        for job in jobs {
            let mut has_failed = false;
            for attempt in self.attempts_on(job, Some(id)) {
                has_failed = true;
                self.lose_with_tracker(now, attempt, out);
            }
            has_failed |= self.lose_map_outputs(now, job, id, out);
            if has_failed {
                self.blame(job, id);
            }
        }
    }

    fn lose_with_tracker(&mut self, now: SimTime, attempt: AttemptId, out: &mut Outbox) {
        let cleans = self.cleans_up_after(attempt);
        let Some(record) = self.find_try(attempt) else { return };
        if record.waits_for_cleaner() {
            return;
        }
        match record.state {
            AttemptState::Unassigned => self.lose(now, attempt, Outcome::Killed, out),
            AttemptState::FailedUnclean if cleans => {
                self.leave_unclean(now, attempt, AttemptState::FailedUnclean, out);
            }
            _ if cleans => self.leave_unclean(now, attempt, AttemptState::KilledUnclean, out),
            state => self.lose(now, attempt, unclean_outcome(state), out),
        }
    }

    /// Makes the completed maps of a job with reduces run again if their output lay on a tracker;
    /// returns whether there were any.
    fn lose_map_outputs(
        &mut self,
        now: SimTime,
        id: JobId,
        tracker: TrackerId,
        out: &mut Outbox,
    ) -> bool {
        let Some(job) = self.job(id) else { return false };
        if job.reduces.total == 0 || !job.is_running() {
            return false;
        }
        let lost: Vec<AttemptId> = (0..)
            .zip(&job.maps.tasks)
            .filter_map(|(index, task)| match task.stage {
                Stage::Done(number, at) if at == tracker => {
                    Some(TaskId { job: id, kind: TaskKind::Map, index }.attempt(number))
                }
                _ => None,
            })
            .collect();
        for attempt in &lost {
            if let Some(job) = self.job_mut(id) {
                job.maps.finished -= 1;
            }
            self.put_back(now, attempt.task);
            self.recount(now, id);
            self.learn(now, *attempt, tracker, AttemptState::Killed, out);
        }
        !lost.is_empty()
    }

    // ---- counts and news ----

    /// Brings the sums over all jobs up to date with one job.
    fn recount(&mut self, now: SimTime, id: JobId) {
        let slow_start = self.hadoop.slow_start.get();
        let Some(job) = self.jobs.get_mut(id.index()).and_then(Option::as_deref_mut) else {
            return;
        };
        let needed = (slow_start * f64::from(job.maps.total)).ceil();
        let is_ready = needed <= f64::from(job.maps_over());
        job.reduces_ready_at = match job.reduces_ready_at {
            _ if !is_ready => None,
            None => Some(now.max(job.running_at)),
            since => since,
        };
        let is_running = job.is_running();
        let left = |tasks: &super::job::Tasks| tasks.total - tasks.finished - tasks.failed;
        let load = PerSlot {
            map: if is_running { left(&job.maps) } else { 0 },
            reduce: if is_running && is_ready { left(&job.reduces) } else { 0 },
        };
        let was_pending = job.was_pending;
        for kind in SlotKind::BOTH {
            self.unfinished[kind] += u64::from(load[kind]);
            self.unfinished[kind] -= u64::from(job.load[kind]);
            let is_pending = 0 < job.pending(kind);
            self.jobs_pending[kind] += u32::from(is_pending);
            self.jobs_pending[kind] -= u32::from(was_pending[kind]);
            job.was_pending[kind] = is_pending;
        }
        job.load = load;
    }

    fn learn(
        &mut self,
        now: SimTime,
        attempt: AttemptId,
        tracker: TrackerId,
        state: AttemptState,
        out: &mut Outbox,
    ) {
        let counts =
            self.job(attempt.job()).map_or_else(Default::default, |job| job.counts(attempt.slot()));
        out.emit(now, Fact::Learned { attempt, tracker, state, counts });
        self.change(now, attempt.job(), JobChange::Attempt(attempt, state));
    }

    fn change(&mut self, now: SimTime, job: JobId, change: JobChange) {
        self.moved_at = now;
        self.changes.push(JobEvent { job, change });
    }
}

/// Returns whether this is the task that planted mistakes concern.
const fn is_first_map(task: TaskId) -> bool {
    matches!(task, TaskId { job: JobId(0), kind: TaskKind::Map, index: 0 })
}

/// Returns whether so many trackers may be avoided: less than a quarter of the cluster.
fn is_a_few(flaky: u32, registered: u32) -> bool {
    u64::from(flaky) * 4 < u64::from(registered)
}

/// Returns how an attempt ended whose output is not removed yet, or never will be.
fn unclean_outcome(state: AttemptState) -> Outcome {
    if state == AttemptState::FailedUnclean { Outcome::Failed } else { Outcome::Killed }
}

/// Returns whether a task avoids a tracker because an attempt failed there, as long as it has not
/// failed everywhere.
fn bars(failed_on: &[TrackerId], tracker: TrackerId, hosts: u32) -> bool {
    failed_on.contains(&tracker) && (failed_on.len() as u32) < hosts
}
