//! The state of a run that all watchers share: the jobs, the open attempts with the slots that they
//! hold, and the changes that the current event makes to trackers' slots and to the JobTracker's
//! counts.
//!
//! A job stays in the books until the end of the run. An attempt is *open* from its first event
//! until three things hold: its tracker has ended it, it holds no slot, and the JobTracker has
//! given its verdict or has ended the job. Then it is *closed*: watchers see it once more, and the
//! books drop it. An attempt that never reached its tracker stays open until the end of the run.

use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use mumakil_base::dense::grown;
use mumakil_base::units::{SimSpan, SimTime};
use mumakil_core::mapred::{
    AttemptFact, AttemptId, Event, Fact, JobFact, JobId, JobSize, JobSpec, LedgerFact, Locality,
    Order, Outcome, PerSlot, PhaseTimes, Reason, Role, SlotCounts, SlotKind, TaskId, TrackerId,
};
use mumakil_results::tables::JobEnd;

/// The jobs, the open attempts, and the changes of the current event.
#[derive(Debug, Default)]
pub struct RunBooks {
    jobs: Vec<Option<BookedJob>>,
    /// The open attempts. Their order depends only on the events.
    open: IndexMap<AttemptId, BookedAttempt, FxBuildHasher>,
    /// The number of open attempts of each job.
    open_of_job: Vec<u32>,
    /// The attempts that the current event closed.
    pub closed: Vec<(AttemptId, BookedAttempt)>,
    /// The change of a tracker's slots by the current event, if there is one.
    pub shift: Option<SlotShift>,
    /// The slots that an attempt held until the current event.
    pub released: Option<(AttemptId, SlotHold)>,
    /// The JobTracker's counts that the current event changed. Jobs that have ended have no counts.
    pub tallies: Vec<(JobId, SlotKind, SlotCounts)>,
    /// The successful attempt that the current event makes void, and its tracker. It is a map whose
    /// output is lost, or an attempt of a job that begins anew.
    pub lost: Option<(AttemptId, TrackerId)>,
    /// The end of the warm-up: statistics leave out jobs that arrive before this instant.
    pub(super) warm_up: SimTime,
    /// How many jobs were submitted.
    pub submitted: u32,
    /// How many jobs have ended.
    pub ended: u32,
    /// How many map and reduce attempts were assigned for the jobs that count in statistics.
    pub attempts: u64,
}

/// A submitted job and its state so far.
#[derive(Debug)]
pub struct BookedJob {
    /// The job as it was submitted.
    pub spec: Arc<JobSpec>,
    /// When it arrived at the JobTracker.
    pub submitted: SimTime,
    /// When its splits were last read: a job that is begun anew reads them again.
    pub initialised: Option<SimTime>,
    /// When its setup was last done, so that it could launch tasks: a job that is begun anew runs
    /// its setup again.
    pub running: Option<SimTime>,
    /// When its first map or reduce was assigned.
    pub first_launch: Option<SimTime>,
    /// When the JobTracker last learned that all maps had succeeded: lost maps run again.
    pub maps_done: Option<SimTime>,
    /// When and how the JobTracker ended it, or refused it.
    pub ended: Option<(SimTime, JobEnd)>,
    /// The number of its successful map attempts with input, at each [`Locality`].
    pub maps_by_locality: [u64; 3],
    /// The number of its map and reduce attempts that failed.
    pub failed: u32,
    /// The number of its map and reduce attempts that were killed, including completed maps that
    /// were lost.
    pub killed: u32,
    /// How often trackers suspended its attempts.
    pub suspended: u32,
    /// How large the policy estimated it to be, and how large it was; set when it has succeeded.
    pub sizes: PerSlot<Option<JobSize>>,
}

/// An attempt and its state so far.
#[derive(Debug, Default)]
pub struct BookedAttempt {
    /// The tracker that runs it.
    pub tracker: TrackerId,
    /// The JobTracker's decision to launch it; `None` before its event.
    pub grant: Option<Grant>,
    /// When its work started.
    pub started: Option<SimTime>,
    /// When and how its work ended on its tracker.
    pub ending: Option<AttemptEnding>,
    /// The JobTracker's verdict, and when the JobTracker gave it.
    pub verdict: Option<(SimTime, Outcome)>,
    /// The reason of the order to kill it, if there was one.
    pub killed_for: Option<Reason>,
    /// When each of its suspensions began and ended; the end is `None` while the suspension lasts.
    pub stops: Vec<(SimTime, Option<SimTime>)>,
    /// The slots that it holds now, for its work and for removals of its output.
    pub holds: Vec<SlotHold>,
    /// How many slots its work takes or took; 0 if it never started.
    pub width: u32,
    /// The slot time that it no longer holds, in slots times microseconds.
    held: u64,
}

/// Slots that an attempt has held since an instant.
#[derive(Clone, Copy, Debug)]
pub struct SlotHold {
    /// The tracker.
    pub tracker: TrackerId,
    /// The work that the attempt does in the slots.
    pub role: Role,
    /// How many slots.
    pub slots: u32,
    /// Since when.
    pub since: SimTime,
}

/// The JobTracker's decision to launch an attempt.
#[derive(Clone, Copy, Debug)]
pub struct Grant {
    /// When the JobTracker decided.
    pub at: SimTime,
    /// How far its input is from the tracker; `None` without input.
    pub locality: Option<Locality>,
    /// Whether it is speculative: another attempt of the task was running.
    pub speculative: bool,
    /// Why the policy chose the task.
    pub reason: Reason,
}

/// How an attempt's work ended on its tracker.
#[derive(Clone, Copy, Debug)]
pub struct AttemptEnding {
    /// When the work ended.
    pub at: SimTime,
    /// How the work ended.
    pub outcome: Outcome,
    /// How long its phases took.
    pub phases: PhaseTimes,
}

/// A change of the slots that a tracker holds for a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotShift {
    /// The tracker.
    pub tracker: TrackerId,
    /// The task.
    pub task: TaskId,
    /// The number of slots taken (above zero) or released (below zero).
    pub slots: i32,
    /// 1 if an attempt was suspended, -1 if a suspension ended, else 0.
    pub suspended: i32,
}

impl RunBooks {
    /// Returns the state at the start of a run, with this end of the warm-up.
    pub fn new(warm_up: SimTime) -> Self {
        Self { warm_up, ..Self::default() }
    }

    /// Returns a job; `None` if it was not submitted.
    pub fn job(&self, job: JobId) -> Option<&BookedJob> {
        self.jobs.get(job.index())?.as_ref()
    }

    /// Returns all submitted jobs in the order of their ids.
    pub fn jobs(&self) -> impl Iterator<Item = &BookedJob> {
        self.jobs.iter().flatten()
    }

    /// Returns the jobs that count in statistics: those that arrived after the warm-up.
    pub fn counted(&self) -> impl Iterator<Item = &BookedJob> {
        self.jobs().filter(|job| self.warm_up <= job.submitted)
    }

    /// Returns whether a job counts in statistics.
    pub fn counts(&self, job: JobId) -> bool {
        // On a scaled clock a tracker's event may arrive before the submission of its job: count
        // that job.
        self.job(job).is_none_or(|job| self.warm_up <= job.submitted)
    }

    /// Returns an open attempt; `None` if it is closed or unknown.
    pub fn attempt(&self, attempt: AttemptId) -> Option<&BookedAttempt> {
        self.open.get(&attempt)
    }

    /// Returns an attempt that is open, or that the current event closed.
    pub fn attempt_or_closed(&self, attempt: AttemptId) -> Option<&BookedAttempt> {
        let closed = || self.closed.iter().find(|(closed, _)| *closed == attempt);
        self.open.get(&attempt).or_else(|| closed().map(|(_, attempt)| attempt))
    }

    /// Returns the open attempts in the order of their ids.
    pub fn open(&self) -> impl Iterator<Item = (AttemptId, &BookedAttempt)> {
        let mut open: Vec<_> = self.open.iter().map(|(&id, attempt)| (id, attempt)).collect();
        // Sort by id: closing attempts changes the order of the map.
        open.sort_unstable_by_key(|&(id, _)| id);
        open.into_iter()
    }

    /// Records an event. For most events this costs a look-up among the open attempts.
    pub fn enter(&mut self, event: &Event) {
        // Watchers have seen the changes of the previous event.
        self.closed.clear();
        self.tallies.clear();
        (self.shift, self.released, self.lost) = (None, None, None);
        match event.fact {
            Fact::Job(job, ref fact) => self.enter_job(event.at, job, fact),
            Fact::Ledger(attempt, tracker, fact) => {
                self.enter_ledger(event.at, attempt, tracker, fact);
            }
            Fact::Attempt(attempt, tracker, fact) => {
                self.enter_attempt(event.at, attempt, tracker, fact);
            }
            Fact::Member(..)
            | Fact::Tracker(..)
            | Fact::World(_)
            | Fact::Pool(..)
            | Fact::Span(..) => {}
        }
    }

    fn enter_job(&mut self, at: SimTime, id: JobId, fact: &JobFact) {
        match *fact {
            JobFact::Submitted(ref spec) => self.submit(at, spec),
            JobFact::Initialised => self.note_job(id, |job| job.initialised = Some(at)),
            JobFact::Running => {
                self.note_job(id, |job| job.running = Some(at));
                let tasks = self.job(id).map_or_else(PerSlot::default, |job| PerSlot {
                    map: job.spec.maps,
                    reduce: job.spec.reduces,
                });
                self.count_pending(id, tasks);
            }
            JobFact::MapsDone => self.note_job(id, |job| job.maps_done = Some(at)),
            JobFact::Ended(outcome) => {
                self.end_job(at, id, outcome.into());
                self.count_pending(id, PerSlot::default());
            }
            JobFact::SubmissionRefused(_) => self.end_job(at, id, JobEnd::Refused),
            // The restarted JobTracker counts no task of the job until it runs again.
            JobFact::BegunAnew => self.count_pending(id, PerSlot::default()),
            // From now on tables show the job with its new priority, in its new pool.
            JobFact::Altered(ref alteration) => self.note_job(id, |job| {
                let spec = Arc::make_mut(&mut job.spec);
                spec.priority = alteration.priority.unwrap_or(spec.priority);
                if let Some(pool) = &alteration.pool {
                    (spec.pool, spec.names_pool) = (pool.clone(), true);
                }
            }),
            JobFact::Sized(kind, size) => self.note_job(id, |job| job.sizes[kind] = Some(size)),
            JobFact::Refused { .. } => {}
        }
    }

    fn enter_ledger(
        &mut self,
        at: SimTime,
        attempt: AttemptId,
        tracker: TrackerId,
        fact: LedgerFact,
    ) {
        if let LedgerFact::Assigned { counts, .. } | LedgerFact::Learned { counts, .. } = fact {
            self.count(attempt, counts);
        }
        match fact {
            LedgerFact::Assigned { role: Role::Work, locality, speculative, reason, .. } => {
                let grant = Grant { at, locality, speculative, reason };
                self.attempt_mut(attempt, tracker).grant = Some(grant);
                self.count_launch(at, attempt.task);
            }
            // The removal of an attempt's output is not a launch of a task.
            LedgerFact::Assigned { role: Role::TaskCleanup, .. } => {}
            LedgerFact::Learned { state, .. } => {
                if let Some(verdict) = state.outcome() {
                    // Ask this before `judge` overwrites the verdict.
                    if self.has_succeeded(attempt) {
                        self.lost = Some((attempt, tracker));
                    }
                    self.judge(at, attempt, verdict);
                }
            }
            LedgerFact::Ordered { order: Order::Kill | Order::Checkpoint, reason } => {
                if let Some(known) = self.open.get_mut(&attempt) {
                    // If the attempt gets a second order to be killed, the first reason counts.
                    known.killed_for.get_or_insert(reason);
                }
            }
            LedgerFact::Ordered { order: Order::Suspend | Order::Resume, .. }
            | LedgerFact::Spared { .. } => {}
        }
    }

    fn enter_attempt(
        &mut self,
        at: SimTime,
        attempt: AttemptId,
        tracker: TrackerId,
        fact: AttemptFact,
    ) {
        match fact {
            AttemptFact::Started { role, slots } => {
                if role == Role::Work {
                    let known = self.attempt_mut(attempt, tracker);
                    (known.started, known.width) = (Some(at), slots);
                }
                let hold = SlotHold { tracker, role, slots, since: at };
                self.attempt_mut(attempt, tracker).holds.push(hold);
                self.note_shift(attempt, tracker, slots as i32, 0);
            }
            AttemptFact::Suspended => self.suspend(at, attempt, tracker),
            AttemptFact::Resumed => {
                let known = self.attempt_mut(attempt, tracker);
                let stopped = known.end_stop(at);
                // A resumed attempt takes as many slots as at its start; the event does not repeat
                // their number.
                let slots = known.width;
                known.holds.push(SlotHold { tracker, role: Role::Work, slots, since: at });
                self.note_shift(attempt, tracker, slots as i32, -i32::from(stopped));
            }
            AttemptFact::Ended { role, outcome, phases } => {
                // Release the slots first: an attempt that holds a slot cannot be closed below.
                self.release_slots(at, attempt, tracker, role);
                if role == Role::Work
                    && let Some(known) = self.open.get_mut(&attempt)
                {
                    known.ending = Some(AttemptEnding { at, outcome, phases });
                }
                self.close_if_done(attempt);
            }
            AttemptFact::Opened { .. }
            | AttemptFact::Saved
            | AttemptFact::CommitPending
            | AttemptFact::FetchFailed { .. } => {}
        }
    }

    /// Sets a job's counts to `tasks` pending tasks and no running tasks.
    fn count_pending(&mut self, job: JobId, tasks: PerSlot<u32>) {
        self.tallies.extend(
            SlotKind::BOTH.map(|kind| (job, kind, SlotCounts { running: 0, pending: tasks[kind] })),
        );
    }

    fn count(&mut self, attempt: AttemptId, counts: SlotCounts) {
        // Skip jobs that have ended: their counts must stay at zero.
        if self.job(attempt.job()).is_none_or(|job| job.ended.is_none()) {
            self.tallies.push((attempt.job(), attempt.slot(), counts));
        }
    }

    fn submit(&mut self, at: SimTime, spec: &Arc<JobSpec>) {
        self.submitted += 1;
        *grown(&mut self.jobs, spec.id.index()) = Some(BookedJob {
            spec: Arc::clone(spec),
            submitted: at,
            initialised: None,
            running: None,
            first_launch: None,
            maps_done: None,
            ended: None,
            maps_by_locality: [0; 3],
            failed: 0,
            killed: 0,
            suspended: 0,
            sizes: PerSlot::default(),
        });
    }

    /// Ends a job and closes its attempts that have ended: the JobTracker will give no verdict on
    /// them any more.
    fn end_job(&mut self, at: SimTime, id: JobId, outcome: JobEnd) {
        let Some(job) = self.job_mut(id) else { return };
        job.ended = Some((at, outcome));
        self.ended += 1;
        // Most jobs have no open attempts when they end: avoid the walk over the open attempts of
        // all jobs.
        if self.open_of_job.get(id.index()).is_none_or(|&open| open == 0) {
            return;
        }
        let over =
            self.open.iter().filter(|(attempt, known)| attempt.job() == id && known.is_over());
        let mut over: Vec<_> = over.map(|(&attempt, _)| attempt).collect();
        // Rows of `tasks.csv` are in the order of closing, which must not depend on the order of
        // the map.
        over.sort_unstable();
        over.into_iter().for_each(|attempt| self.close(attempt));
    }

    fn count_launch(&mut self, at: SimTime, task: TaskId) {
        // Setup and cleanup tasks belong to Hadoop, not to the user's work.
        if !task.is_work() {
            return;
        }
        self.attempts += u64::from(self.counts(task.job));
        if let Some(job) = self.job_mut(task.job) {
            // A job that was begun anew keeps its first launch: its user saw the job start then.
            job.first_launch.get_or_insert(at);
        }
    }

    /// Returns whether an attempt had succeeded before the JobTracker's new verdict on it. Such an
    /// attempt is already closed, or open with a verdict.
    fn has_succeeded(&self, attempt: AttemptId) -> bool {
        attempt.task.is_work()
            && self.job(attempt.job()).is_some_and(|job| job.ended.is_none())
            && self.open.get(&attempt).is_none_or(|known| known.verdict.is_some())
    }

    fn judge(&mut self, at: SimTime, attempt: AttemptId, verdict: Outcome) {
        let mut locality = None;
        if let Some(known) = self.open.get_mut(&attempt) {
            known.verdict = Some((at, verdict));
            locality = known.grant.and_then(|grant| grant.locality);
        }
        // Verdicts after the end of the job do not count.
        if attempt.task.is_work()
            && let Some(job) = self.job_mut(attempt.job()).filter(|job| job.ended.is_none())
        {
            match verdict {
                Outcome::Succeeded => {
                    if let Some(locality) = locality {
                        job.maps_by_locality[locality as usize] += 1;
                    }
                }
                Outcome::Failed => job.failed += 1,
                // This includes completed maps that are lost: Hadoop reports them as killed.
                Outcome::Killed => job.killed += 1,
            }
        }
        self.close_if_done(attempt);
    }

    fn suspend(&mut self, at: SimTime, attempt: AttemptId, tracker: TrackerId) {
        let known = self.attempt_mut(attempt, tracker);
        // The slot is free, but a suspended attempt keeps its memory on the node.
        known.stops.push((at, None));
        let hold = known.release(at, tracker, Role::Work);
        self.released = hold.map(|hold| (attempt, hold));
        self.note_shift(attempt, tracker, -(hold.map_or(0, |hold| hold.slots) as i32), 1);
        if let Some(job) = self.job_mut(attempt.job()) {
            job.suspended += 1;
        }
    }

    /// Releases the slots of an attempt that has ended, if it held any, and ends its suspension.
    fn release_slots(&mut self, at: SimTime, attempt: AttemptId, tracker: TrackerId, role: Role) {
        let Some(known) = self.open.get_mut(&attempt) else { return };
        let hold = known.release(at, tracker, role);
        let stopped = role == Role::Work && known.end_stop(at);
        self.released = hold.map(|hold| (attempt, hold));
        // Leave out an empty change, as when the attempt never started: each watcher would have to
        // look at it.
        if hold.is_some() || stopped {
            let slots = hold.map_or(0, |hold| hold.slots);
            self.note_shift(attempt, tracker, -(slots as i32), -i32::from(stopped));
        }
    }

    fn note_shift(&mut self, attempt: AttemptId, tracker: TrackerId, slots: i32, suspended: i32) {
        self.shift = Some(SlotShift { tracker, task: attempt.task, slots, suspended });
    }

    fn close_if_done(&mut self, id: AttemptId) {
        let Some(attempt) = self.open.get(&id) else { return };
        let settled =
            attempt.verdict.is_some() || self.job(id.job()).is_some_and(|job| job.ended.is_some());
        // Both sides must have finished: the tracker may still clean up after the JobTracker's
        // verdict.
        if settled && attempt.is_over() {
            self.close(id);
        }
    }

    fn close(&mut self, id: AttemptId) {
        self.closed.extend(self.open.swap_remove_entry(&id));
        // The index is valid: the list grew when the attempt was opened.
        self.open_of_job[id.job().index()] -= 1;
    }

    fn job_mut(&mut self, job: JobId) -> Option<&mut BookedJob> {
        self.jobs.get_mut(job.index())?.as_mut()
    }

    fn note_job(&mut self, job: JobId, note: impl FnOnce(&mut BookedJob)) {
        if let Some(job) = self.job_mut(job) {
            note(job);
        }
    }

    /// Returns the attempt; opens it at its first event. On a scaled clock an event of the tracker
    /// may come before the assignment.
    fn attempt_mut(&mut self, attempt: AttemptId, tracker: TrackerId) -> &mut BookedAttempt {
        let open_of_job = &mut self.open_of_job;
        self.open.entry(attempt).or_insert_with(|| {
            *grown(open_of_job, attempt.job().index()) += 1;
            BookedAttempt::on(tracker)
        })
    }
}

impl BookedJob {
    /// Returns whether it was refused at its submission.
    pub fn is_refused(&self) -> bool {
        self.ended.is_some_and(|(_, outcome)| outcome == JobEnd::Refused)
    }

    /// Returns the time from its arrival to its end; `None` until it ends, and for a refused job.
    pub fn sojourn(&self) -> Option<SimSpan> {
        let ended = self.ended.filter(|(_, outcome)| *outcome != JobEnd::Refused);
        ended.map(|(at, _)| at.saturating_since(self.submitted))
    }

    /// Returns the time from its arrival to its end if it counts in statistics
    /// ([`JobEnd::is_measured`]); otherwise `None`.
    pub fn measured(&self) -> Option<SimSpan> {
        self.sojourn().filter(|_| self.ended.is_some_and(|(_, outcome)| outcome.is_measured()))
    }

    /// Returns the time from its arrival to its first launch; `None` before that.
    pub fn wait(&self) -> Option<SimSpan> {
        self.first_launch.map(|at| at.saturating_since(self.submitted))
    }
}

impl BookedAttempt {
    pub(crate) fn on(tracker: TrackerId) -> Self {
        Self { tracker, ..Self::default() }
    }

    /// Ends its suspension, if it is suspended; returns whether it was suspended.
    fn end_stop(&mut self, at: SimTime) -> bool {
        match self.stops.last_mut() {
            // Only the last suspension can be open: a suspended attempt cannot be suspended again.
            Some((_, to @ None)) => to.replace(at).is_none(),
            _ => false,
        }
    }

    /// Releases slots that it holds, if it holds them.
    fn release(&mut self, at: SimTime, tracker: TrackerId, role: Role) -> Option<SlotHold> {
        // After a loss, another tracker may remove the output while the first tracker still does.
        let found = self.holds.iter().position(|it| it.tracker == tracker && it.role == role);
        let hold = self.holds.swap_remove(found?);
        self.held = self.held.saturating_add(hold.until(at));
        Some(hold)
    }

    /// Returns the slot time that it has held until an instant, in slots times microseconds.
    pub fn held(&self, at: SimTime) -> u64 {
        let now = self.holds.iter().map(|hold| hold.until(at));
        now.fold(self.held, u64::saturating_add)
    }

    /// Returns the length of its last suspension that has ended; zero if there is none.
    pub fn suspension(&self) -> SimSpan {
        let last = self.stops.iter().rev().find_map(|(from, to)| Some((*from, (*to)?)));
        last.map_or(SimSpan::ZERO, |(from, to)| to.saturating_since(from))
    }

    /// Returns how the attempt ended: the JobTracker's verdict, or else the outcome that the
    /// tracker saw.
    pub fn outcome(&self) -> Option<Outcome> {
        self.verdict.map(|(_, outcome)| outcome).or(self.ending.map(|ending| ending.outcome))
    }

    /// Returns how long a reduce of `job` held its slot, ready to fetch, before the JobTracker knew
    /// that the last map had ended; `None` if it never became ready.
    pub fn maps_wait(&self, job: &BookedJob) -> Option<SimSpan> {
        let AttemptEnding { at, phases, .. } = self.ending?;
        let ready = self.started? + phases.start_up;
        let end = job.maps_done.map_or(at, |maps| maps.min(at));
        // A suspended attempt holds no slot.
        let away = self
            .stops
            .iter()
            .map(|(from, to)| to.unwrap_or(at).min(end).saturating_since((*from).max(ready)));
        let held = end.saturating_since(ready).saturating_sub(away.sum());
        // Maps that are lost later and run again do not concern a reduce that has all outputs.
        let shuffled = if phases.shuffle.is_zero() { held } else { phases.shuffle };
        (ready <= at).then_some(held.min(shuffled))
    }

    /// Returns whether its work is known, not only the removal of its output. After the end of a
    /// job, the removal may be all that is known of an attempt.
    pub const fn has_work(&self) -> bool {
        self.grant.is_some() || self.started.is_some()
    }

    /// Returns whether its tracker has ended it and it holds no slot.
    fn is_over(&self) -> bool {
        // If only the removal of its output is known, the attempt is over when the removal releases
        // its slot.
        (self.ending.is_some() || !self.has_work()) && self.holds.is_empty()
    }
}

impl SlotHold {
    fn until(&self, at: SimTime) -> u64 {
        at.saturating_since(self.since).as_micros().saturating_mul(self.slots.into())
    }
}
