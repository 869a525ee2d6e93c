//! The JobTracker's ledger of jobs and trackers, and all its changes.
//!
//! Every change updates the counts that policies use (running, pending, unfinished), so that no
//! query walks through tasks.
//!
//! ```text
//! report, order, time-out ─► change ─┬─► the counts of the job and of the cluster
//!                                    ├─► an event in the outbox, for watchers
//!                                    ├─► a change of a job, for the policy
//!                                    └─► an order, for a tracker's next heartbeat
//! ```
//!
//! This file has the tables, the look-ups and the counts. The changes are in the submodules:
//! [`jobs`] (from submission to end), [`launches`], [`second_tries`] of slow tasks, [`attempts`]
//! (their life after the launch), [`alterations`] by users, [`fetches`] (complaints of reduces about outputs of maps),
//! [`trackers`] and their [`faults`], and [`recovery`] after the process has died. [`standstill`]
//! finds out when no more changes will come. [`claims`] asserts the rules that hold between two
//! changes.
//!
//! A message from outside (a tracker's report, a policy's decision, a client's kill) may be stale.
//! So look up its job or attempt with [`Ledger::job`] or [`Ledger::find_try`], which may return
//! `None`. An id from the ledger itself must be in the ledger: otherwise the ledger has a bug, and
//! the look-up panics with the id.

mod alterations;
mod attempts;
mod claims;
mod faults;
mod fetches;
mod jobs;
mod launches;
mod recovery;
mod room;
mod saved;
mod second_tries;
mod standstill;
mod trackers;

use std::collections::{BTreeSet, VecDeque};
use std::mem::offset_of;
use std::sync::Arc;

use rustc_hash::FxHashMap;

pub(super) use self::launches::LaunchWish;
use crate::cluster::{Amounts, FileId, Hdfs, PerSlot, SlotKind, Topology, TrackerId};
use crate::mapred::event::{AttemptState, Fact, LedgerFact, Outcome};
use crate::mapred::hadoop::{Draws, Hadoop};
use crate::mapred::heartbeat::{Directive, Report};
use crate::mapred::ids::{AttemptId, JobId, TaskId};
use crate::mapred::job::{Job, JobChange, JobEvent, JobState, KnownAttempt};
use crate::mapred::map_cache::RackOrder;
use crate::mapred::message::{Load, ToTracker};
use crate::mapred::outbox::Outbox;
use crate::mapred::refusals::Refusals;
use crate::mapred::replicas::Replicas;
use rand::RngExt;

use mumakil_base::random::mumak::MumakJobs;
use mumakil_base::random::{Purpose, stream};
use mumakil_base::units::{SimSpan, SimTime};

/// The JobTracker's ledger.
pub(super) struct Ledger {
    pub(super) hadoop: Hadoop,
    pub(super) process: ProcessAge,
    pub(super) topology: Arc<Topology>,
    hdfs: Hdfs,
    /// The present places of all blocks, for clients that submit jobs and for maps that are
    /// launched.
    pub(super) files: Arc<Replicas>,
    /// The places of all blocks before any fault.
    unchanged: Arc<Replicas>,
    /// The jobs by number; `None` before a job arrives.
    jobs: Vec<Option<Box<Job>>>,
    /// How many jobs have arrived.
    pub(super) arrived: u32,
    /// The jobs that have not ended.
    open: BTreeSet<JobId>,
    /// The files that open jobs read, each with its number of readers; empty unless hot files get
    /// more copies.
    heat: FxHashMap<FileId, FileDemand>,
    /// The jobs whose tasks the policy may launch, in the order of their numbers.
    running: BTreeSet<JobId>,
    /// Jobs whose setup task is to be launched.
    wants_setup: BTreeSet<JobId>,
    /// Jobs whose cleanup task is to be launched.
    wants_cleanup: BTreeSet<JobId>,
    /// Jobs with attempts whose output is to be removed, by the kind of slot.
    wants_task_cleanup: PerSlot<BTreeSet<JobId>>,
    /// The attempts that were launched within about the last expiry interval, the oldest first,
    /// each with the instant of its launch. Attempts that have begun on their trackers may already
    /// be removed.
    launches: VecDeque<(SimTime, AttemptId)>,
    pub(super) trackers: Vec<Tracker>,
    /// How many trackers must still come back after a restart before tasks are launched.
    rejoining: u32,
    /// How many trackers may get tasks.
    pub(super) active: u32,
    /// The heartbeat interval for `active` trackers.
    interval: SimSpan,
    /// The slots of all active trackers.
    pub(super) capacity: PerSlot<u32>,
    /// The counted resources of all active trackers.
    pub(super) total: Amounts,
    /// The slots that active trackers reported as taken in their last heartbeats.
    pub(super) occupied: PerSlot<u32>,
    /// How many tasks of running jobs have not ended; reduces count only once they may start.
    pub(super) unfinished: PerSlot<u64>,
    /// How many running jobs have a task of the kind that could be launched now.
    pub(super) jobs_pending: PerSlot<u32>,
    /// How many attempts have not been reported as ended.
    pub(super) open_tries: u32,
    /// When a job or tracker last changed.
    pub(super) moved_at: SimTime,
    /// The changes of jobs that the policy has not been told yet.
    pub(super) changes: Vec<JobEvent>,
    /// The jobs whose splits the policy wants to be read, each with the time until a thread begins.
    pub(super) to_read: Vec<(JobId, SimSpan)>,
    /// The racks of the trackers, in the order in which the JobTracker met them.
    racks: RackOrder,
    /// Whether `MapOutputs` is told each time a map's output begins or ceases to be one that
    /// reduces may fetch, and each time a tracker joins or leaves.
    pub(super) tells_outputs: bool,
    /// Draws the values that traces leave open, as Mumak does; `None` if trackers draw them.
    pub(super) mumak_draws: Option<MumakJobs>,
    /// Why jobs got no slot; `None` if refusals are not kept.
    pub(super) refusals: Option<Refusals>,
    /// Whether heartbeats contain progress. If not, [reports](Tracker::reports) contain only
    /// states.
    pub(super) knows_progress: bool,
    /// Whether the ledger adds up the progress of each job's maps.
    pub(super) follows_maps: bool,
    /// When the JobTracker last looked for slow tasks; `None` before the first time.
    looked_at: Option<SimTime>,
    /// How many second attempts run in the whole cluster.
    seconds: PerSlot<u32>,
    /// The least work (the summed progress of its tasks, in millionths of a task) that a tracker
    /// must have done to get second attempts.
    least_work: f64,
    /// A buffer for look-ups of blocks, reused to save allocations.
    holders: Vec<TrackerId>,
}

/// How long the JobTracker's process has run. Its periodic work goes by this time, so the phase of
/// that work has nothing to do with the times of jobs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProcessAge {
    /// The age at the instant `at`.
    age: SimSpan,
    at: SimTime,
}

impl ProcessAge {
    /// Returns the age of a process that is this old at the instant `at`.
    pub(super) fn new(age: SimSpan, at: SimTime) -> Self {
        Self { age, at }
    }

    /// Returns how often work that is done every `every` has been due by an instant.
    pub(super) fn rounds(self, now: SimTime, every: SimSpan) -> u64 {
        // Work without an interval is due at each instant.
        let every = every.as_micros().max(1);
        (self.age + now.saturating_since(self.at)).as_micros() / every
    }

    /// Returns the time until work that is done every `every` is due next; never zero.
    pub(super) fn until_next(self, now: SimTime, every: SimSpan) -> SimSpan {
        let age = (self.age + now.saturating_since(self.at)).as_micros();
        let every = every.as_micros().max(1);
        SimSpan::from_micros(every - age % every)
    }
}

/// A tracker as the JobTracker sees it. Fields lie in memory in this order, so that a heartbeat
/// reads only two cache lines.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub(super) struct Tracker {
    pub(super) answer: LastAnswer,
    pub(super) last_seen: SimTime,
    /// When its last heartbeat but one arrived.
    pub(super) seen_before: SimTime,
    pub(super) slots: PerSlot<u32>,
    pub(super) occupied: PerSlot<u32>,

    /// The last reports on its attempts. If a new report equals the last one, its job need not be
    /// looked at.
    pub(super) reports: Vec<Report>,
    /// The orders for its next reply.
    pub(super) orders: Vec<Directive>,
    pub(super) is_registered: bool,
    /// Whether it is blacklisted and gets no tasks; it is still blacklisted after it is lost and
    /// comes back.
    pub(super) is_blacklisted: bool,
    /// Whether it is graylisted; a graylisted tracker still gets tasks.
    is_graylisted: bool,
    /// Whether its node's health script reports an error; an unhealthy tracker gets no tasks.
    is_unhealthy: bool,
    /// Whether it is known only from the history of jobs, and has sent nothing since the restart.
    pub(super) rejoins: bool,
    /// How many exclusions of it are in force; with one or more it is out of the cluster.
    exclusions: u32,
    /// How many successful jobs have avoided it, minus the faults forgiven since.
    faults: u32,

    /// When the last fault was added or forgiven.
    faults_changed_at: SimTime,
    /// The faults that count for the graylist.
    recent_faults: faults::RecentFaults,
    /// The summed progress, in millionths of a task, of all tasks that run there or have succeeded
    /// there since the tracker joined; kept only if slow tasks are looked for.
    work: u64,
    /// The attempts that may hold memory and cores; kept only if these are counted.
    holders: Vec<AttemptId>,
}

const _: () = assert!(offset_of!(Tracker, faults_changed_at) <= 2 * 64);

/// The last answer to a tracker.
#[derive(Debug, Default)]
pub(super) struct LastAnswer {
    /// The number of the call that was answered.
    pub(super) call: u32,
    /// The answer's number: the response id of Hadoop.
    pub(super) id: u16,
    /// The heartbeat interval that the answer gave.
    pub(super) interval: SimSpan,
    /// The answer, to be sent again if the call is repeated; kept only if a call may come twice.
    pub(super) again: Option<ToTracker>,
}

/// The readers of a file.
#[derive(Debug, Default)]
struct FileDemand {
    /// How many jobs that have not ended read it.
    readers: u32,
    /// How many of its blocks were read while it was hot, including blocks without extra copies (no
    /// node with a copy could be read).
    blocks: u32,
    without_extra_copies: Arc<[u32]>,
}

impl Tracker {
    /// Returns whether it may get tasks.
    pub(super) fn is_active(&self) -> bool {
        self.is_registered && !self.is_shunned()
    }

    /// Returns whether it is out of the cluster.
    pub(super) fn is_excluded(&self) -> bool {
        0 < self.exclusions
    }

    /// Returns whether it is blacklisted or unhealthy.
    fn is_shunned(&self) -> bool {
        self.is_blacklisted || self.is_unhealthy
    }
}

impl Ledger {
    pub(super) fn new(hadoop: Hadoop, topology: Arc<Topology>, hdfs: Hdfs) -> Self {
        let trackers = (0..topology.len()).map(|_| Tracker::default()).collect();
        let files = Arc::new(Replicas::new(hdfs.clone()));
        Self {
            // Until trackers register, the interval is that of an empty cluster.
            interval: hadoop.heartbeat_interval(0),
            hadoop,
            process: ProcessAge::default(),
            topology,
            files: files.clone(),
            unchanged: files,
            hdfs,
            jobs: Vec::new(),
            arrived: 0,
            open: BTreeSet::new(),
            heat: FxHashMap::default(),
            running: BTreeSet::new(),
            wants_setup: BTreeSet::new(),
            wants_cleanup: BTreeSet::new(),
            wants_task_cleanup: PerSlot::default(),
            launches: VecDeque::new(),
            trackers,
            // Only a restart with recovery waits for trackers; the first start does not.
            rejoining: 0,
            active: 0,
            capacity: PerSlot::default(),
            occupied: PerSlot::default(),
            total: Amounts::default(),
            unfinished: PerSlot::default(),
            jobs_pending: PerSlot::default(),
            open_tries: 0,
            moved_at: SimTime::ZERO,
            changes: Vec::new(),
            to_read: Vec::new(),
            racks: RackOrder::default(),
            tells_outputs: false,
            mumak_draws: None,
            refusals: None,
            knows_progress: true,
            follows_maps: false,
            looked_at: None,
            seconds: PerSlot::default(),
            least_work: 0.0,
            holders: Vec::new(),
        }
    }

    /// Draws what [`JobTrackerOptions::seed`](super::JobTrackerOptions::seed) says.
    pub(super) fn draw_from(&mut self, seed: u64) {
        // A day is a multiple of all usual intervals, so each phase is as likely as any other.
        const DAY: u64 = 24 * 60 * 60 * 1_000_000;
        match self.hadoop.draws {
            Draws::Mumak => self.mumak_draws = Some(MumakJobs::new(seed, self.topology.len())),
            Draws::Own => {
                let micros = stream(seed, Purpose::Uptime, 0).random_range(0..DAY);
                self.process = ProcessAge::new(SimSpan::from_micros(micros), SimTime::ZERO);
            }
        }
    }

    /// Returns a job; `None` before it arrives, as policies and clients may name it earlier.
    pub(super) fn job(&self, id: JobId) -> Option<&Job> {
        self.jobs.get(id.index()).and_then(Option::as_deref)
    }

    /// Returns a job whose id comes from the ledger, so it must have arrived.
    pub(super) fn known(&self, id: JobId) -> &Job {
        self.job(id).unwrap_or_else(|| panic!("{id} has not arrived"))
    }

    fn known_mut(&mut self, id: JobId) -> &mut Job {
        entry(&mut self.jobs, id)
    }

    pub(super) fn running_jobs(&self) -> impl Iterator<Item = &Job> {
        self.running.iter().map(|id| self.known(*id))
    }

    /// Returns the jobs whose splits are not read, in the order of their numbers.
    pub(super) fn unread_jobs(&self) -> impl Iterator<Item = JobId> {
        self.open.iter().copied().filter(|id| self.known(*id).state == JobState::Submitted)
    }

    /// Returns the interval that replies give to trackers.
    pub(super) fn heartbeat_interval(&self) -> SimSpan {
        self.interval
    }

    /// Returns how busy the cluster is with these jobs, which are in the order of their submission.
    pub(super) fn load(&self, jobs: &[JobId]) -> Load {
        Load {
            jobs: jobs.len() as u32,
            trackers: self.active,
            map_slots: self.capacity.map,
            map_work: jobs.iter().filter_map(|id| self.job(*id)).fold(0.0, |sum, job| {
                let left = (1.0 - f64::from(job.map_progress).min(1.0)) * f64::from(job.maps.total);
                // Mumak adds with Java's `float += double`: its rounding can decide on overload.
                (f64::from(sum) + left) as f32
            }),
        }
    }

    /// Returns the record of an attempt; `None` if there is none any more. A tracker may still
    /// report an attempt that the JobTracker has given up, or whose job has dropped its tasks.
    pub(super) fn find_try(&mut self, attempt: AttemptId) -> Option<&mut KnownAttempt> {
        self.known_mut(attempt.job()).task(attempt.task)?.find(attempt.number)
    }

    /// Returns the record of an attempt that must exist.
    fn known_try(&mut self, attempt: AttemptId) -> &mut KnownAttempt {
        self.find_try(attempt).unwrap_or_else(|| panic!("{attempt} is off the books"))
    }

    /// Returns the record of an attempt that a policy names; `None` if there is none.
    pub(super) fn attempt(&self, attempt: AttemptId) -> Option<&KnownAttempt> {
        self.job(attempt.job())?.attempt(attempt)
    }

    fn attempts_on(&self, id: JobId, tracker: Option<TrackerId>) -> Vec<AttemptId> {
        let job = self.known(id);
        let mut attempts = Vec::new();
        for (kind, tasks) in job.all_tasks() {
            for (index, task) in (0..).zip(tasks) {
                let here = task.tries.iter().filter(|t| tracker.is_none_or(|at| t.is_on(at)));
                let id = TaskId { job: id, kind, index };
                attempts.extend(here.map(|t| id.attempt(t.number)));
            }
        }
        attempts
    }

    /// Updates the sums over all jobs after a change of one job.
    fn recount(&mut self, now: SimTime, id: JobId) {
        let job = entry(&mut self.jobs, id);
        // Hadoop multiplies in single precision: a twentieth of 140 maps is 7 maps; in double
        // precision, rounded up, it would be 8.
        let slow_start = job.settings.slow_start.get() as f32;
        let needed = (slow_start * job.maps.total as f32).ceil();
        let is_ready = f64::from(needed) <= f64::from(job.maps_over());
        // Reduces are ready at the earliest when their job runs. If outputs of maps are lost, the
        // slow start may hold back reduces again, as Hadoop checks it each time.
        let since = job.reduces_ready_at.unwrap_or(now.max(job.running_at));
        job.reduces_ready_at = is_ready.then_some(since);
        // In Hadoop a job counts as running until its cleanup has ended. Until then all its tasks
        // that have not succeeded are unfinished work, even if the job has failed. A job that fails
        // before it runs adds none.
        let is_load = match job.state {
            JobState::Running => true,
            JobState::Cleaning => job.load != PerSlot::default(),
            JobState::Submitted | JobState::Preparing | JobState::Ended(_) => false,
        };
        let left = |tasks: &super::job::Tasks| tasks.total - tasks.finished;
        let load = PerSlot {
            map: if is_load { left(&job.maps) } else { 0 },
            reduce: if is_load && is_ready { left(&job.reduces) } else { 0 },
        };
        let was_pending = job.was_pending;
        for kind in SlotKind::BOTH {
            // Add first, since subtracting first could go below zero.
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
        attempt: AttemptId,
        tracker: TrackerId,
        state: AttemptState,
        out: &mut Outbox,
    ) {
        let counts = self.known(attempt.job()).counts(attempt.slot());
        out.emit(Fact::Ledger(attempt, tracker, LedgerFact::Learned { state, counts }));
        self.change(out.now, attempt.job(), JobChange::Attempt(attempt, state));
    }

    fn change(&mut self, now: SimTime, job: JobId, change: JobChange) {
        // Every change of a job shows that the cluster has not stalled.
        self.moved_at = now;
        self.changes.push(JobEvent { job, change });
    }
}

/// Returns a job that has arrived; borrows only the list of jobs.
fn entry(jobs: &mut [Option<Box<Job>>], id: JobId) -> &mut Job {
    let job = jobs.get_mut(id.index()).and_then(Option::as_deref_mut);
    job.unwrap_or_else(|| panic!("{id} has not arrived"))
}

/// Returns whether a job may avoid `flaky` trackers: only if they are less than a quarter of the
/// cluster.
fn is_small_part(flaky: u32, trackers: u32) -> bool {
    // JobInProgress.java: CLUSTER_BLACKLIST_PERCENT is 0.25.
    u64::from(flaky) * 4 < u64::from(trackers)
}

/// Returns the outcome (failed or killed) of an attempt whose output is still to be removed, or
/// will never be removed.
fn unclean_outcome(state: AttemptState) -> Outcome {
    if state == AttemptState::FailedUnclean { Outcome::Failed } else { Outcome::Killed }
}
