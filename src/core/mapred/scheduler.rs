//! The trait of scheduling policies.
//!
//! A policy sees what the JobTracker knows, never the true state of a tracker. It learns each
//! change of a job, and gets an [`Offer`] when a tracker reports free slots. Through the offer it
//! asks questions and launches tasks. Every question is a look-up; none walks through the tasks.
//!
//! ```text
//! heartbeat ─► Offer ─► policy: launch_map(job, reach, reason) ─► counts change at once ─┐
//!                         ▲                                                              │
//!                         └────────────── its next question is answered by these ◄───────┘
//! ```

mod choice;
mod entry;
mod failure;
mod option_file;
mod policy_bench;
mod precedence;
mod program;
mod size_estimator;
pub(crate) mod steps;
mod wrapper;

use crate::mapred::hadoop::HadoopLine;
use crate::mapred::spec::{ExpectedJob, JobSpec};
use std::any::Any;
use std::collections::BTreeMap;
use std::mem;
use std::ops::AddAssign;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use self::choice::SchedulerChoice;
pub use self::entry::{DelayedNames, OptionFacts, PolicyEntry, PolicyGroups, PolicyOptions};
pub use self::failure::PolicyFailed;
pub use self::option_file::{OptionFile, OptionFileReader, or_file, position};
pub use self::policy_bench::PolicyBench;
pub use self::precedence::{Precedence, PrecedenceBy};
pub use self::program::{PolicyProgram, ProgramPermit, ProgramWarning, RunPermit};
pub use self::size_estimator::{KnownJob, SizeEstimator, SizeEstimators};
use self::steps::step;
pub use self::wrapper::Wrapper;
use crate::cluster::{Amounts, PerSlot, SlotKind, Topology, TrackerId};
use crate::mapred::event::{AttemptState, Fact, JobSize, LedgerFact, MemberFact, Order};
use crate::mapred::heartbeat::{Directive, LaunchOrder, Report};
use crate::mapred::ids::{AttemptId, JobId, TaskId, TaskKind};
use crate::mapred::job::{Job, JobEvent};
use crate::mapred::ledger::{LaunchWish, Ledger};
use crate::mapred::locality::Locality;
use crate::mapred::map_cache::MapReach;
use crate::mapred::outbox::Outbox;
use crate::mapred::reason::{Reason, SlotStanding};
use crate::mapred::refusals::Refusals;
use crate::mapred::true_durations::TrueDurations;
use mumakil_base::units::{Bytes, SimSpan, SimTime};
use mumakil_base::with_defaults;

/// A scheduling policy at work.
///
/// The chapter `extending` of the guide shows a whole policy, and the few lines that run it as a
/// program.
pub trait Scheduler: Send {
    /// Gets ready, before any other call. May return a function that is called at the end of the
    /// run.
    ///
    /// # Errors
    /// Returns an error if the policy cannot work; then the run does not begin.
    fn begin(&mut self, _setting: &Setting<'_>) -> Result<Option<RunEndHook>, String> {
        Ok(None)
    }

    /// Returns what the policy needs beside the offers of trackers with free slots.
    fn needs(&self) -> PolicyNeeds {
        PolicyNeeds::default()
    }

    /// Gets the true durations of all tasks before the first job arrives; only a policy that needs
    /// the [truth](PolicyNeeds::truth) gets them.
    fn foresee(&mut self, _truth: &TrueDurations) {}

    /// Takes over while jobs run: from another policy, or from the same policy when the
    /// JobTracker's process is restarted. Gets the suspended attempts and their trackers. Returns
    /// whether the policy will resume these attempts; if not, they are killed.
    fn inherit(&mut self, _suspended: &[(AttemptId, TrackerId)]) -> bool {
        false
    }

    /// Returns why the policy refuses a job that is being submitted; `None` to accept it. The policy
    /// hears nothing else of a job that it refuses.
    fn refuses(&self, _view: &View<'_>, _job: &JobSpec) -> Option<Reason> {
        None
    }

    /// Learns that a job or one of its attempts has changed state.
    fn job_changed(&mut self, _view: &View<'_>, _event: &JobEvent) {}

    /// Reads pools or queues again while jobs run. The options are those of the same policy
    /// ([`Policy::Options`]), with other pools or queues; all other options stay as they are, and
    /// no job's wait is forgotten. A policy without pools or queues ignores this.
    fn reload(&mut self, _view: &View<'_>, _options: &PolicyReload) {}

    /// Returns how long after the last change the policy may still act of its own accord: launch a
    /// task that it refused before, or give an order. If the policy does nothing for this time, and
    /// nothing is due in the cluster, the run has stalled.
    ///
    /// Called again and again while nothing changes. If the time is too long, a stall is found
    /// late; if it is too short, a run is stopped that would have gone on.
    fn patience(&self, _view: &View<'_>) -> SimSpan {
        // Hadoop's longest wait is 24 h, after which a tracker's fault is forgiven; its policies
        // wait for far less.
        SimSpan::from_secs(24 * 60 * 60)
    }

    /// Lists the jobs that have a task to launch but that a limit keeps the policy from
    /// considering, each with the reason. Called about once in a heartbeat interval (less often if
    /// it lists hundreds of jobs), and only while refusals are kept. If the policy considers a job
    /// and refuses it a slot, it calls [`Offer::refuse`] instead.
    fn withheld(&self, _view: &View<'_>, _say: &mut dyn FnMut(JobId, SlotKind, Reason)) {}

    /// Returns the criteria by which the policy orders groups of jobs, and jobs within a group.
    /// Reports use the criteria to say why a job waited. The default says that the order is the
    /// policy's own.
    fn precedence(&self) -> Precedence {
        Precedence::default()
    }

    /// Lists the jobs with a task of a kind to launch, in the order in which the policy would serve
    /// them now, each with the numbers that put it there: the first number in which two jobs differ
    /// decides. A job may be listed twice, with the tasks of its sample and with the others. Only
    /// tests ask. A policy without such numbers lists nothing; of pools and queues,
    /// [`Scheduler::holdings`] has the numbers.
    fn ranking(&mut self, _view: &View<'_>, _kind: SlotKind, _say: SayRank<'_>) {}

    /// Lists the slots and shares of the policy's pools or queues. The call must change nothing; it
    /// is made only if a watcher needs the answer.
    fn holdings(
        &self,
        _view: &View<'_>,
        _kind: SlotKind,
        _say: &mut dyn FnMut(&str, SlotStanding),
    ) {
    }

    /// Says, for each kind of task, how large the policy estimated a job to be. Called once, when the
    /// job has succeeded and before [`Scheduler::job_changed`] says so. A policy that estimates no
    /// sizes says nothing.
    fn sizes(&self, _job: JobId, _say: &mut dyn FnMut(SlotKind, JobSize)) {}

    /// Returns how many slots a task of a job takes.
    fn width(&self, _job: JobId, _kind: SlotKind) -> u32 {
        1
    }

    /// Called at regular intervals of virtual time (see [`PolicyNeeds::tick_every`]): the place for
    /// time-outs and preemption.
    fn tick(&mut self, _orders: &mut Orders<'_>) {}

    /// Learns that the reading of a job's splits, which it has [ordered](Orders::read), is over: the
    /// job is initialised now, or has ended meanwhile.
    fn splits_read(&mut self, _job: JobId, _orders: &mut Orders<'_>) {}

    /// Offers the policy a tracker that can take tasks. Called up to once for every heartbeat, so
    /// the speed of a run depends on it.
    fn offer(&mut self, offer: &mut Offer<'_>);
}

with_defaults! {
    /// The needs of a policy beside offers. By default a policy needs only reports.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct PolicyNeeds {
        /// Whether the policy is an oracle: it uses the true durations of tasks, which no real cluster
        /// knows. Scores tell it. Before [`Scheduler::begin`], a policy that is a program does not know
        /// it yet.
        pub truth: bool,
        /// Whether the policy reads the progress of running attempts. Noting progress costs the
        /// JobTracker a look-up for each running attempt in every heartbeat.
        pub progress: bool,
        /// Whether the policy reads trackers' [reports](View::reports) on attempts. If no policy of a run
        /// reads them, trackers without news send no reports, and the run is faster.
        pub reports: bool = true,
        /// Whether the policy also gets offers of trackers without a free slot, to preempt attempts there
        /// or to read their reports.
        pub full_trackers: bool,
        /// Whether the policy decides when the splits of a job are [read](Orders::read). If not, the
        /// threads of the JobTracker read them as jobs arrive.
        pub reading: bool,
        /// How often [`Scheduler::tick`] is called; `None` for never.
        pub tick_every: Option<SimSpan>,
    }
}

/// A number by which a policy ranks jobs, and its name.
pub type RankNumber = (&'static str, f64);

/// A function that takes a job and the numbers by which a policy ranks it.
pub type SayRank<'s> = &'s mut (dyn FnMut(JobId, &[RankNumber]) + 's);

/// The run and the cluster in which a policy works.
pub struct Setting<'s> {
    /// The seed of the run.
    pub seed: u64,
    /// The version of Hadoop.
    pub line: HadoopLine,
    /// The folder in which relative paths begin.
    pub folder: &'s std::path::Path,
    /// The cluster.
    pub topology: &'s Topology,
    /// Shows a message of the policy to the user.
    pub tell: PolicyWords,
    /// The right to start other programs.
    pub programs: RunPermit<'s>,
    /// The program that starts other programs in a sandbox; `None` if there is none.
    pub launcher: Option<&'s std::path::Path>,
    /// The estimators of sizes that a user's own program brings.
    pub estimators: &'s SizeEstimators,
    /// Gets each question to another program and its answer, if the user wants to see them.
    pub overhear: Option<PolicyDialogue>,
}

/// Options of a policy that it reads again while it works.
pub type PolicyReload = Arc<dyn Any + Send + Sync>;

/// A function for messages to the user, a line at a time.
pub type PolicyWords = Arc<dyn Fn(&str) + Send + Sync>;

/// A function that gets each question to another program, with its answer.
pub type PolicyDialogue = Arc<dyn Fn(&[u8], &[u8]) + Send + Sync>;

/// A function that is called at the end of a run.
pub type RunEndHook = Box<dyn FnOnce() -> Result<ExternalWork, String> + Send>;

/// The part of a policy's work that another program did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExternalWork {
    /// How many questions the program has answered.
    pub questions: u64,
    /// How long all answers took together, in real time, including the transport of questions and
    /// answers.
    pub waited: Duration,
}

impl ExternalWork {
    /// Returns how many questions the program answered in each second that the policy waited for
    /// it.
    pub fn per_second(self) -> f64 {
        // Without a question no time has passed: the result is 0, not 0/0.
        (self.questions as f64 / self.waited.as_secs_f64().max(1e-9)).round()
    }

    /// Returns the share of `real`, a span of real time, that the program took.
    pub fn share_of(self, real: Duration) -> f64 {
        (self.waited.as_secs_f64() / real.as_secs_f64().max(1e-9)).min(1.0)
    }
}

impl AddAssign for ExternalWork {
    fn add_assign(&mut self, other: Self) {
        self.questions += other.questions;
        self.waited += other.waited;
    }
}

/// A scheduling policy that scenarios can name.
pub trait Policy: Scheduler + Sized + 'static {
    /// The name in `scheduler:`.
    const NAME: &'static str;
    /// A sentence on how it schedules.
    const ABOUT: &'static str;
    /// The group in which it is listed.
    const GROUP: &'static str = "of your own";
    /// Its options in the scenario.
    type Options: DeserializeOwned
        + Serialize
        + JsonSchema
        + Default
        + Clone
        + Send
        + Sync
        + 'static;

    /// Checks parsed options against the cluster and the jobs, and replaces names of files by their
    /// contents. Returns errors and warnings.
    fn settle(_options: &mut Self::Options, _site: &PolicySite<'_>) -> Vec<Complaint> {
        Vec::new()
    }

    /// Returns the slots that the options guarantee to pools or queues in a cluster of `_slots`
    /// slots; charts show these guarantees.
    fn promised(_options: &Self::Options, _slots: PerSlot<u64>) -> PromisedSlots {
        PromisedSlots::new()
    }

    /// Returns what others ask of the options.
    fn facts(_options: &Self::Options) -> OptionFacts<'_> {
        OptionFacts::default()
    }

    /// Returns the names that formulas in its options may use, each with its meaning.
    fn vocabulary() -> Vec<(String, &'static str)> {
        Vec::new()
    }

    /// Returns a policy that knows no jobs yet.
    fn new(options: Self::Options) -> Self;
}

/// The slots that are guaranteed to each pool or queue, by the name that jobs give as their pool or
/// queue.
pub type PromisedSlots = BTreeMap<String, PerSlot<f64>>;

/// The cluster and the jobs of a policy.
#[derive(Clone, Debug)]
pub struct PolicySite<'s> {
    /// The folder in which relative paths begin.
    pub folder: &'s std::path::Path,
    /// The version of Hadoop.
    pub line: HadoopLine,
    /// The nodes of the cluster.
    pub nodes: u32,
    /// The slots of the whole cluster.
    pub slots: PerSlot<u64>,
    /// The most slots of each kind that a node has.
    pub most_slots: PerSlot<u32>,
    /// The jobs known in advance: at first only those that the scenario lists; all jobs, once the
    /// files of jobs are read.
    pub jobs: Vec<ExpectedJob<'s>>,
}

impl PolicySite<'_> {
    /// Returns a site of which nothing is known: no nodes and no jobs, under Hadoop 0.20. Relative
    /// paths begin where the process is.
    pub fn unknown() -> Self {
        Self {
            folder: "".as_ref(),
            line: HadoopLine::V020,
            nodes: 0,
            slots: PerSlot::default(),
            most_slots: PerSlot::default(),
            jobs: Vec::new(),
        }
    }
}

/// An error or a warning about a policy's options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// The keys that lead to the option, such as `pools`, `research`, `max_maps`.
    pub path: Vec<String>,
    /// The text of the error or warning.
    pub message: String,
    /// A way to correct the option.
    pub hint: String,
    /// Whether it is a warning: the option can still be used.
    pub is_warning: bool,
    /// Whether jobs never run because of the option, or lack slots for ever: then a run that stalls
    /// is no mistake of the policy.
    pub foretells_stall: bool,
    /// The program that the option names; a complaint about a program is a warning.
    pub program: Option<Box<PolicyProgram>>,
}

impl Complaint {
    /// Returns an error about the option at these keys.
    pub fn error(path: &[&str], message: impl Into<String>, hint: impl Into<String>) -> Self {
        let path = path.iter().map(|key| (*key).to_owned()).collect();
        let (message, hint) = (message.into(), hint.into());
        Self { path, message, hint, is_warning: false, foretells_stall: false, program: None }
    }

    /// Returns a warning about the option at these keys.
    pub fn warning(path: &[&str], message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { is_warning: true, ..Self::error(path, message, hint) }
    }

    /// Returns a warning that jobs never run because of the option at these keys, or lack slots for
    /// ever.
    pub fn stall(path: &[&str], message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { foretells_stall: true, ..Self::warning(path, message, hint) }
    }

    /// Declares the program that the options name.
    pub fn program(program: PolicyProgram) -> Self {
        Self { program: Some(Box::new(program)), ..Self::warning(&[], "", "") }
    }
}

/// The part of the JobTracker's ledger that a policy may see.
pub struct View<'a> {
    pub(super) now: SimTime,
    /// The tracker whose heartbeat is being served; `None` outside of heartbeats.
    pub(super) heard: Option<TrackerId>,
    pub(super) ledger: &'a Ledger,
}

impl<'a> View<'a> {
    /// Returns the present instant.
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// Returns a job; `None` before it arrives.
    pub fn job(&self, id: JobId) -> Option<&'a Job> {
        step();
        self.ledger.job(id)
    }

    /// Returns the jobs whose tasks may be launched, in the order of their numbers.
    pub fn running_jobs(&self) -> impl Iterator<Item = &'a Job> + use<'a> {
        self.ledger.running_jobs().inspect(|_| step())
    }

    /// Returns how often work that the JobTracker's process does every `every` has been due so far,
    /// counted from the start of the process.
    pub fn rounds(&self, every: SimSpan) -> u64 {
        self.ledger.process.rounds(self.now, every)
    }

    /// Returns how many jobs have a task of a kind that could be launched.
    pub fn jobs_pending(&self, kind: SlotKind) -> u32 {
        self.ledger.jobs_pending[kind]
    }

    /// Returns how many tasks have not succeeded. The tasks of a job count from the instant when
    /// they may be launched to the end of its cleanup, even if the job fails. Reduces count only
    /// once they may start.
    pub fn unfinished(&self, kind: SlotKind) -> u64 {
        self.ledger.unfinished[kind]
    }

    /// Returns how many bytes of input a map reads, and fills `holders` with the nodes that hold
    /// them, by the splits of its job. A task without input reads nothing, and no node holds it.
    pub fn input(&self, task: TaskId, holders: &mut Vec<TrackerId>) -> Bytes {
        step();
        holders.clear();
        let is_map = task.kind == TaskKind::Map;
        let Some(job) = self.ledger.job(task.job).filter(|_| is_map) else { return Bytes::ZERO };
        job.locate(task.index, holders);
        let input = job.spec().input.as_ref();
        input.map_or(Bytes::ZERO, |input| input.bytes(task.index, job.spec().maps))
    }

    /// Returns the interval between a tracker's heartbeats.
    pub fn heartbeat_interval(&self) -> SimSpan {
        self.ledger.heartbeat_interval()
    }

    /// Returns the last reported progress of a running map or reduce, from 0 to 1; always 0 unless
    /// the policy needs [progress](PolicyNeeds::progress).
    pub fn progress(&self, attempt: AttemptId) -> f64 {
        step();
        self.ledger.progress(attempt)
    }

    /// Returns whether a tracker may get tasks.
    pub fn is_active(&self, tracker: TrackerId) -> bool {
        self.ledger.trackers[tracker.index()].is_active()
    }

    /// Returns how many trackers may get tasks: all that are registered and not blacklisted.
    pub fn trackers(&self) -> u32 {
        self.ledger.active
    }

    /// Returns a tracker's reports on its attempts, from its last heartbeat.
    ///
    /// # Panics
    /// Panics if the policy does not need [reports](PolicyNeeds::reports): then they are not kept up
    /// to date.
    pub fn reports(&self, tracker: TrackerId) -> &'a [Report] {
        assert!(self.ledger.knows_progress, "a policy that reads reports says that it reads none");
        &self.ledger.trackers[tracker.index()].reports
    }

    /// Returns the report on an attempt in the heartbeat that is being served; `None` if that
    /// heartbeat does not report the attempt.
    pub fn report_of(&self, attempt: AttemptId) -> Option<&'a Report> {
        let reports = self.reports(self.heard?);
        reports.iter().find(|report| report.attempt == attempt)
    }

    /// Returns the slots of all trackers that may get tasks.
    pub fn capacity(&self, kind: SlotKind) -> u32 {
        self.ledger.capacity[kind]
    }

    /// Returns how many slots the trackers reported as taken in their last heartbeats.
    pub fn occupied(&self, kind: SlotKind) -> u32 {
        self.ledger.occupied[kind]
    }

    /// Returns the counted resources of all trackers that may get tasks; if the cluster counts none,
    /// their slots of both kinds.
    pub fn total(&self) -> Amounts {
        match self.ledger.topology.counted().are_only_slots() {
            true => Amounts::of(
                u64::from(self.capacity(SlotKind::Map)),
                u64::from(self.capacity(SlotKind::Reduce)),
            ),
            false => self.ledger.total,
        }
    }

    /// Returns how much of the [total](View::total) the running tasks of a job hold.
    pub fn held(&self, job: &Job) -> Amounts {
        let running = PerSlot::of(|kind| job.tasks(kind).running());
        let counted = self.ledger.topology.counted();
        if counted.are_only_slots() {
            return Amounts::of(u64::from(running.map), u64::from(running.reduce));
        }
        let [maps, reduces] =
            SlotKind::BOTH.map(|kind| job.spec().demand(kind, counted).times(running[kind]));
        maps + reduces
    }
}

/// The JobTracker's ledger, with the power to kill, suspend and resume attempts.
pub struct Orders<'a> {
    pub(super) ledger: &'a mut Ledger,
    pub(super) out: &'a mut Outbox,
}

impl Orders<'_> {
    /// Returns the view of the ledger.
    pub fn view(&self) -> View<'_> {
        View { now: self.out.now, heard: None, ledger: self.ledger }
    }

    /// Orders the kill of an attempt, whose work is lost. The order leaves with the reply to its
    /// tracker's next heartbeat.
    pub fn kill(&mut self, attempt: AttemptId, reason: Reason) {
        // The attempt may have ended since the policy looked.
        if self.ledger.attempt(attempt).is_some() {
            self.ledger.order_end(attempt, reason, self.out);
        }
    }

    /// Orders that an attempt writes its state to disk and ends; a later attempt of its task goes on
    /// from there. The order leaves with the reply to its tracker's next heartbeat. An attempt whose
    /// process starts, fetches or sorts is killed.
    pub fn checkpoint(&mut self, attempt: AttemptId, reason: Reason) {
        if self.ledger.attempt(attempt).is_some() {
            self.ledger.order_end_by(Order::Checkpoint, attempt, reason, self.out);
        }
    }

    /// Notes that the policy would kill an attempt, if it were to kill any. Nothing happens to the
    /// attempt.
    pub fn would_kill(&mut self, attempt: AttemptId, reason: Reason) {
        if let Some(record) = self.ledger.attempt(attempt) {
            self.out.emit(Fact::Ledger(attempt, record.tracker, LedgerFact::Spared { reason }));
        }
    }

    /// Has a thread begin to read the splits of a job after a while. For policies that
    /// [decide](PolicyNeeds::reading) when splits are read, and on how many threads: the
    /// JobTracker sets no limit.
    pub fn read(&mut self, job: JobId, after: SimSpan) {
        self.ledger.to_read.push((job, after));
    }

    /// Orders the suspension of a running attempt. The order leaves with the reply to its tracker's
    /// next heartbeat.
    pub fn suspend(&mut self, attempt: AttemptId, reason: Reason) {
        self.order(attempt, Order::Suspend, Directive::Suspend(attempt), reason);
    }

    /// Orders that a suspended attempt resumes. The order leaves with the reply to its tracker's
    /// next heartbeat.
    pub fn resume(&mut self, attempt: AttemptId, reason: Reason) {
        self.order(attempt, Order::Resume, Directive::Resume(attempt), reason);
    }

    fn order(&mut self, attempt: AttemptId, order: Order, directive: Directive, reason: Reason) {
        // As with a kill, the attempt may have ended since the policy looked; perhaps only its
        // output is still to be removed. Or its tracker may be lost.
        let record = self.ledger.find_try(attempt);
        if let Some(record) = record.filter(|record| record.is_active()) {
            let was_halted = mem::replace(&mut record.is_halted, order == Order::Suspend);
            // An attempt that is suspended, or no longer counted as running, holds no slots for its
            // job.
            let held = |is_halted| if is_halted || !record.is_counted { 0 } else { record.slots };
            let more = held(record.is_halted) as i32 - held(was_halted) as i32;
            let tracker = record.tracker;
            if let Some(refusals) = &mut self.ledger.refusals {
                refusals.holds(attempt.job(), attempt.slot(), more);
            }
            self.ledger.trackers[tracker.index()].orders.push(directive);
            self.out.emit(Fact::Ledger(attempt, tracker, LedgerFact::Ordered { order, reason }));
        }
    }
}

/// A tracker's heartbeat, with which tasks can be launched.
pub struct Offer<'a> {
    pub(super) ledger: &'a mut Ledger,
    pub(super) tracker: TrackerId,
    pub(super) out: &'a mut Outbox,
    /// The orders of this offer so far.
    pub(super) directives: Vec<Directive>,
    /// The slots that launches and resumptions of this offer take; `freed` are the slots that its
    /// preemptions free.
    pub(super) taken: PerSlot<u32>,
    pub(super) freed: PerSlot<u32>,
    /// The counted resources that attempts leave free on the tracker; `None` if this must be
    /// computed anew.
    pub(super) left: Option<Amounts>,
    /// The counted resources of an attempt that is about to be killed for the next launch.
    pub(super) vacated: Amounts,
    /// How many times the policy looked at a job; counted only if looks take simulated time of the
    /// JobTracker.
    pub(super) looks: u32,
    pub(super) looks_take_time: bool,
}

impl Offer<'_> {
    /// Returns the view of the ledger.
    pub fn view(&self) -> View<'_> {
        View { now: self.out.now, heard: Some(self.tracker), ledger: self.ledger }
    }

    /// Returns the power to kill, suspend and resume attempts on any tracker.
    pub fn orders(&mut self) -> Orders<'_> {
        Orders { ledger: self.ledger, out: self.out }
    }

    /// Returns the tracker that has sent the heartbeat.
    pub fn tracker(&self) -> TrackerId {
        self.tracker
    }

    /// Returns the tracker's slots of a kind.
    pub fn slots(&self, kind: SlotKind) -> u32 {
        self.ledger.trackers[self.tracker.index()].slots[kind]
    }

    /// Returns how many slots this heartbeat reports as taken.
    pub fn occupied(&self, kind: SlotKind) -> u32 {
        self.ledger.trackers[self.tracker.index()].occupied[kind]
    }

    /// Returns how many slots the launches and resumptions of this offer take.
    pub fn taken(&self, kind: SlotKind) -> u32 {
        self.taken[kind]
    }

    /// Returns how many of the tracker's slots are still free after the decisions of this offer.
    pub fn free(&self, kind: SlotKind) -> u32 {
        let taken = self.occupied(kind) + self.taken[kind];
        // A tracker may report more slots as taken than it has: see `assert_fits`.
        (self.slots(kind) + self.freed[kind]).saturating_sub(taken)
    }

    /// Returns the attempts that this offer has launched so far.
    pub fn launched(&self) -> impl Iterator<Item = AttemptId> {
        self.directives.iter().filter_map(|directive| match directive {
            Directive::Launch(launch) => Some(launch.attempt),
            _ => None,
        })
    }

    /// Returns the jobs whose tasks may be launched, in the order of their numbers.
    pub fn running_jobs(&self) -> impl Iterator<Item = &Job> {
        self.ledger.running_jobs().inspect(|_| step())
    }

    /// Launches the job's waiting map that suits this node best, if its input is within `reach`. If
    /// no map is waiting and the reach is unlimited, a slow map may get a second attempt here.
    /// Returns `None` if nothing is launched.
    pub fn launch_map(&mut self, job: JobId, reach: MapReach, reason: Reason) -> Option<Launched> {
        self.launch_wide_map(job, 1, reach, reason)
    }

    /// As [`Offer::launch_map`], with a map that takes several slots.
    pub fn launch_wide_map(
        &mut self,
        job: JobId,
        slots: u32,
        reach: MapReach,
        reason: Reason,
    ) -> Option<Launched> {
        step();
        self.looks += 1;
        if !self.has_room(job, SlotKind::Map) {
            return None;
        }
        // Most jobs that wait for a near slot have no input on this node.
        if reach == MapReach::Node && self.ledger.has_no_map_on(job, self.tracker) {
            return None;
        }
        let wish = LaunchWish { job, tracker: self.tracker, slots, reason };
        match self.ledger.launch_map(wish, reach, self.out) {
            Some(launch) => Some(self.launch(launch, reason)),
            None => {
                // Blame the tracker only if the reach is unlimited: with less reach, the job's maps
                // may just have their input farther away.
                if reach == MapReach::Any {
                    self.refuse(job, SlotKind::Map, Reason::BadTracker);
                }
                None
            }
        }
    }

    /// Launches this waiting map or reduce, if it may run here.
    pub fn launch_task(&mut self, task: TaskId, reason: Reason) -> Option<Launched> {
        let wish = LaunchWish { job: task.job, tracker: self.tracker, slots: 1, reason };
        self.launch_or_blame(wish, task.slot(), |ledger, out| ledger.launch_task(task, wish, out))
    }

    /// Launches the job's next waiting reduce, or else a second attempt of a slow reduce; returns
    /// `None` if nothing is launched.
    pub fn launch_reduce(&mut self, job: JobId, reason: Reason) -> Option<Launched> {
        self.launch_wide_reduce(job, 1, reason)
    }

    /// As [`Offer::launch_reduce`], with a reduce that takes several slots.
    pub fn launch_wide_reduce(
        &mut self,
        job: JobId,
        slots: u32,
        reason: Reason,
    ) -> Option<Launched> {
        let wish = LaunchWish { job, tracker: self.tracker, slots, reason };
        self.launch_or_blame(wish, SlotKind::Reduce, |ledger, out| ledger.launch_reduce(wish, out))
    }

    /// Launches what `find` finds for a wish that any node may fulfil. If it finds nothing, the
    /// tracker is the cause.
    fn launch_or_blame(
        &mut self,
        wish: LaunchWish,
        kind: SlotKind,
        find: impl FnOnce(&mut Ledger, &mut Outbox) -> Option<LaunchOrder>,
    ) -> Option<Launched> {
        step();
        self.looks += 1;
        if !self.has_room(wish.job, kind) {
            return None;
        }
        match find(self.ledger, self.out) {
            Some(launch) => Some(self.launch(launch, wish.reason)),
            None => {
                self.refuse(wish.job, kind, Reason::BadTracker);
                None
            }
        }
    }

    /// Counts looks at jobs without a task to launch. Hadoop's version of the policy asks these
    /// jobs, too: its looks have no effect, but take the JobTracker's time. `count` returns the
    /// number of looks, and is called only if looks take time.
    pub fn look_past(&mut self, count: impl FnOnce() -> u32) {
        step();
        if self.looks_take_time {
            self.looks += count();
        }
    }

    /// Returns whether refusals are kept; if not, work that only explains refusals may be skipped.
    pub fn keeps_refusals(&self) -> bool {
        self.ledger.refusals.is_some()
    }

    /// Returns whether refusals become events. If not, the reasons of launches must not depend on
    /// [`Offer::keeps_refusals`], or a watched run would differ from one that nobody watches.
    pub fn records_refusals(&self) -> bool {
        self.ledger.refusals.as_ref().is_some_and(Refusals::are_emitted)
    }

    /// Notes why a job with a task of the kind gets no slot here. Costs nothing unless refusals are
    /// kept.
    pub fn refuse(&mut self, job: JobId, kind: SlotKind, reason: Reason) {
        if self.keeps_refusals()
            && self.ledger.job(job).is_some_and(|job| 0 < job.pending(kind))
            && let Some(refusals) = &mut self.ledger.refusals
        {
            refusals.note(self.out.now, job, kind, reason);
        }
    }

    /// Returns how many of the job's waiting maps have their input on this node, and how many have
    /// it on the node or in its rack. Each count stops at `most`.
    pub fn near_maps(&mut self, job: JobId, most: u32) -> [u32; 2] {
        step();
        self.ledger.near_maps(job, self.tracker, most)
    }

    /// Returns how much output the job's maps have left in the tracker's rack, and how much in the rack
    /// that has most of it, by [`JobSpec::output_weight`]. A reduce's own part of it is in the same
    /// racks, as each map divides its output among the reduces in the same proportions.
    pub fn outputs_near(&self, job: JobId) -> [u64; 2] {
        step();
        let Some(job) = self.ledger.job(job) else { return [0; 2] };
        let here = self.ledger.topology.rack(self.tracker);
        let most = job.outputs.values().max().copied().unwrap_or(0);
        [job.outputs.get(&here).copied().unwrap_or(0), most]
    }

    /// Notes at the end of an offer why a slot stays free: the first job in the policy's order is
    /// refused the slot. `who` returns that job and the reason, and is called only if refusals are
    /// kept.
    pub fn refuse_first(&mut self, who: impl Fn(&Self, SlotKind) -> Option<(JobId, Reason)>) {
        for kind in SlotKind::BOTH {
            if self.keeps_refusals()
                && 0 < self.free(kind)
                && 0 < self.ledger.jobs_pending[kind]
                && let Some((job, reason)) = who(self, kind)
            {
                self.refuse(job, kind, reason);
            }
        }
    }

    /// Returns whether a job accepts this tracker for a task of `slots` slots. It does not if too
    /// many of its attempts have failed here, or if the tracker has fewer slots or less memory than
    /// the task takes.
    pub fn suits(&self, job: JobId, kind: SlotKind, slots: u32) -> bool {
        let job = self.ledger.job(job);
        job.is_some_and(|job| self.ledger.suits(job, self.tracker, kind, slots))
    }

    /// Returns whether the tracker has enough memory and cores left for a task of a job, as far as
    /// the cluster counts them. The launches of this offer are included.
    pub fn fits(&mut self, job: JobId, kind: SlotKind) -> bool {
        let Self { ledger, tracker, .. } = self;
        if ledger.topology.counted().are_only_slots() {
            return true;
        }
        let all = ledger.topology.amounts(*tracker);
        let left = *self.left.get_or_insert_with(|| all - ledger.held_on(*tracker));
        ledger.demand(job, kind).fit_in(left + self.vacated)
    }

    /// Counts on the memory and cores of an attempt on this tracker for the next launch, which is to
    /// [preempt](Offer::preempt) the attempt. A suspended attempt keeps them.
    pub fn count_on(&mut self, victim: AttemptId, how: Preemption) {
        self.vacated = match how {
            Preemption::Kill | Preemption::Checkpoint => self.ledger.held_by(victim),
            Preemption::Suspend => Amounts::default(),
        };
    }

    /// Counts on the memory and cores of no attempt any more: none is preempted.
    pub fn count_on_none(&mut self) {
        self.vacated = Amounts::default();
    }

    /// Returns whether an attempt runs on this tracker and may be preempted.
    pub fn can_preempt(&self, victim: AttemptId) -> bool {
        self.ledger.attempt(victim).is_some_and(|record| {
            let is_here = record.cleaner.is_none() && record.tracker == self.tracker;
            is_here && record.state == AttemptState::Running && !record.is_kill_ordered
        })
    }

    /// Takes the slot of the attempt `victim` on this tracker and gives it to the attempt `by`,
    /// which this offer has launched or resumed here. Returns whether that was possible.
    pub fn preempt(&mut self, victim: AttemptId, how: Preemption, by: AttemptId) -> bool {
        if !self.can_preempt(victim) {
            return false;
        }
        let reason = Reason::PreemptedFor(by);
        match how {
            Preemption::Suspend => self.orders().suspend(victim, reason),
            Preemption::Kill => self.orders().kill(victim, reason),
            Preemption::Checkpoint => self.orders().checkpoint(victim, reason),
        }
        // The tracker executes the kill and the launch with the same reply, so the slot is free
        // now.
        self.left = None;
        self.freed[victim.slot()] += self.width(victim);
        true
    }

    /// Orders to resume an attempt that is suspended on this tracker, in as many slots as before.
    pub fn resume(&mut self, attempt: AttemptId, reason: Reason) {
        self.orders().resume(attempt, reason);
        self.taken[attempt.slot()] += self.width(attempt);
    }

    /// Returns how many slots an attempt takes.
    fn width(&self, attempt: AttemptId) -> u32 {
        self.ledger.attempt(attempt).map_or(0, |record| record.slots)
    }

    /// Emits a note about this tracker as an event of the run.
    pub fn note(&mut self, note: &'static str) {
        self.out.emit(Fact::Member(self.tracker, MemberFact::Noted(note)));
    }

    /// Asserts in debug builds that the decisions fit into the tracker's slots. The wrapper that
    /// measures the policy's time calls this, so that the message blames the policy.
    pub fn assert_fits(&self) {
        for kind in SlotKind::BOTH {
            // Attempts may hold more slots than the tracker has. For an attempt that was to be
            // suspended may have finished its work first; then it keeps its slot until it has
            // committed.
            let free = self.slots(kind).saturating_sub(self.occupied(kind));
            let (taken, room, word) = (self.taken[kind], free + self.freed[kind], kind.word());
            let (now, tracker) = (self.out.now, self.tracker);
            debug_assert!(
                taken <= room,
                "{now}: it gives {taken} {word} slots of {tracker}, but only {room} are free"
            );
        }
    }

    /// Returns whether a task of a job fits; notes a refusal if it does not.
    fn has_room(&mut self, job: JobId, kind: SlotKind) -> bool {
        let fits = self.fits(job, kind);
        self.count_on_none();
        if !fits {
            self.refuse(job, kind, Reason::NoRoom);
        }
        fits
    }

    fn launch(&mut self, launch: LaunchOrder, reason: Reason) -> Launched {
        let LaunchOrder { attempt, locality, slots, .. } = launch;
        let launched = Launched { attempt, locality, slots, reason };
        // The heartbeat's count of taken slots is older than the launch, so add the slots of the
        // launch.
        self.taken[attempt.slot()] += slots;
        self.left = None;
        self.directives.push(Directive::Launch(launch));
        launched
    }
}

/// How an attempt loses its slot to another attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preemption {
    /// It is suspended, and keeps its memory and its work.
    Suspend,
    /// It is killed, and its work is lost.
    Kill,
    /// It writes its state to disk and ends; its task goes on from there.
    Checkpoint,
}

impl Preemption {
    /// Returns whether the attempt ends.
    pub const fn ends(self) -> bool {
        matches!(self, Self::Kill | Self::Checkpoint)
    }
}

/// An attempt that was launched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Launched {
    /// The attempt.
    pub attempt: AttemptId,
    /// The distance of its input; `None` for all but maps with input.
    pub locality: Option<Locality>,
    /// How many slots it takes.
    pub slots: u32,
    /// Why the policy chose it.
    pub reason: Reason,
}

impl Launched {
    /// Returns the job.
    pub const fn job(self) -> JobId {
        self.attempt.job()
    }

    /// Returns the kind of slot that the attempt runs in.
    pub const fn slot(self) -> SlotKind {
        self.attempt.slot()
    }

    /// Returns whether this is a map with its input on the node or in its rack.
    pub fn is_near(&self) -> bool {
        matches!(self.locality, Some(Locality::Node | Locality::Rack))
    }
}

impl From<Launched> for AttemptId {
    fn from(launched: Launched) -> Self {
        launched.attempt
    }
}
