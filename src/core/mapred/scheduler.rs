//! The plug point of scheduling policies.
//!
//! A policy sees what the JobTracker knows, never the truth inside of a tracker. It is told of
//! changes, and when a tracker reports free slots it is made an [`Offer`], with which it asks and
//! launches. All questions are look-ups: none walks tasks.
//!
//! ```text
//! heartbeat ─► Offer ─► policy: launch_map(job, reach, reason) ─► counts change at once ─┐
//!                         ▲                                                              │
//!                         └────────────── its next question is answered by these ◄───────┘
//! ```

mod precedence;
pub(crate) mod steps;
#[doc(hidden)]
pub mod testing;
mod wrapper;

use crate::mapred::hadoop::HadoopLine;
use crate::mapred::spec::ExpectedJob;
use std::collections::BTreeMap;
use std::mem;
use std::ops::AddAssign;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use self::precedence::{Precedence, PrecedenceBy};
use self::steps::step;
pub use self::wrapper::Wrapper;
use crate::cluster::{PerSlot, SlotKind, Topology, TrackerId};
use crate::mapred::event::{AttemptState, Fact, LedgerFact, MemberFact, Order};
use crate::mapred::heartbeat::{Directive, LaunchOrder, Report};
use crate::mapred::ids::{AttemptId, JobId};
use crate::mapred::job::{Job, JobEvent};
use crate::mapred::ledger::{LaunchWish, Ledger};
use crate::mapred::locality::Locality;
use crate::mapred::map_cache::MapReach;
use crate::mapred::outbox::Outbox;
use crate::mapred::reason::{Reason, SlotStanding};
use crate::mapred::true_durations::TrueDurations;
use mumakil_base::units::{SimSpan, SimTime};

/// A scheduling policy at work.
///
/// The chapter `extending` of the guide has a whole policy, and the few lines
/// that make a program of it.
pub trait Scheduler: Send {
    /// Gets ready, before any other call. May return a function that is called when the run is
    /// over.
    ///
    /// # Errors
    /// If it cannot work; the run does not begin then.
    fn begin(&mut self, _setting: &Setting<'_>) -> Result<Option<RunEndHook>, String> {
        Ok(None)
    }

    /// Hears before the first job how long tasks really take: for oracles.
    fn foresee(&mut self, _truth: &TrueDurations) {}

    /// Takes over from another policy while jobs run, or from itself when the JobTracker's process begins
    /// anew, and hears which attempts are suspended, and where. Returns whether it will let them go on;
    /// if not, they are killed.
    fn inherit(&mut self, _suspended: &[(AttemptId, TrackerId)]) -> bool {
        false
    }

    /// A job or one of its attempts changed state.
    fn job_changed(&mut self, _view: &View<'_>, _event: &JobEvent) {}

    /// Returns how often [`Scheduler::tick`] is to be called, if ever.
    fn tick_every(&self) -> Option<SimSpan> {
        None
    }

    /// Returns how long after the last change, at most, it may do something by itself: launch what it
    /// has refused, or order something, though nothing has changed since but the time. After that, in a
    /// cluster in which nothing is due, it will never do it, and the run has stalled.
    ///
    /// It is asked again and again while nothing changes. Too long a time only makes the verdict late;
    /// too short a one makes it wrong.
    fn patience(&self, _view: &View<'_>) -> SimSpan {
        // Hadoop's longest wait is 24 h, after which a tracker's fault is forgiven; its policies
        // wait for far less.
        SimSpan::from_secs(24 * 60 * 60)
    }

    /// Says which jobs with something to launch it does not even ask, and why: those that are held back
    /// by a limit. Called about once in a heartbeat interval, less often if it names hundreds of jobs, and
    /// only while refusals are kept; what it refuses to jobs that it does ask is said with [`Offer::refuse`].
    fn withheld(&self, _view: &View<'_>, _say: &mut dyn FnMut(JobId, SlotKind, Reason)) {}

    /// Returns the criteria by which it orders groups of jobs, and jobs within a group. Reports use
    /// them to say why a job waited. By default the order is one of the policy's own.
    fn precedence(&self) -> Precedence {
        Precedence::default()
    }

    /// Says how its pools or queues stand with slots of this kind. It must change nothing, and is
    /// called only when a watcher asks.
    fn holdings(
        &self,
        _view: &View<'_>,
        _kind: SlotKind,
        _say: &mut dyn FnMut(&str, SlotStanding),
    ) {
    }

    /// Returns whether it asks how far running attempts are. To note it costs the JobTracker a
    /// look-up for each of them in every heartbeat.
    fn reads_progress(&self) -> bool {
        false
    }

    /// Returns whether it reads what trackers [say](View::reports) of attempts. If none of a run's policies
    /// does, trackers without news do not say it with each heartbeat, which makes a run faster.
    fn reads_reports(&self) -> bool {
        true
    }

    /// Virtual time passed: the place for time-outs and preemption.
    fn tick(&mut self, _orders: &mut Orders<'_>) {}

    /// Returns whether it says which jobs' splits are to be [read](Orders::read) in Mumak; if not, they
    /// are read as jobs arrive. In other lines they are in any case.
    fn orders_reading(&self) -> bool {
        false
    }

    /// Returns whether trackers without a free slot are offered too, for a policy that makes room
    /// there or reads what they say.
    fn wants_full_trackers(&self) -> bool {
        false
    }

    /// A tracker may get tasks. Called at most once for every heartbeat: its cost is the cost of
    /// the run.
    fn offer(&mut self, offer: &mut Offer<'_>);
}

/// Where a policy works.
pub struct Setting<'s> {
    /// The seed of the run.
    pub seed: u64,
    /// The line of Hadoop.
    pub line: HadoopLine,
    /// Where the paths of files begin.
    pub folder: &'s std::path::Path,
    /// The cluster.
    pub topology: &'s Topology,
    /// Passes the policy's words on to people.
    pub tell: PolicyWords,
    /// Whether it may start other programs.
    pub may_start: bool,
    /// Hears all that the policy and another program say to each other, if a user wants to follow
    /// that.
    pub overhear: Option<PolicyDialogue>,
}

/// Hears words for people, a line at a time.
pub type PolicyWords = Arc<dyn Fn(&str) + Send + Sync>;

/// Hears questions to another program, each with its answer.
pub type PolicyDialogue = Arc<dyn Fn(&[u8], &[u8]) + Send + Sync>;

/// A function that is called when a run is over.
pub type RunEndHook = Box<dyn FnOnce() -> Result<ExternalWork, String> + Send>;

/// The part of a policy's work that another program did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExternalWork {
    /// How many questions it has answered.
    pub questions: u64,
    /// How long they took, in real time, on the way there and back, too.
    pub waited: Duration,
}

impl ExternalWork {
    /// Returns how many questions it would answer in a second, if it answered nothing else.
    pub fn per_second(self) -> f64 {
        // A program that was never asked has waited for no time: 0 and not 0/0.
        (self.questions as f64 / self.waited.as_secs_f64().max(1e-9)).round()
    }

    /// Returns what share of so much real time it took.
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

/// A policy that cannot go on unwinds with this; the words say why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyFailed(pub String);

/// A scheduling policy that scenarios can name.
pub trait Policy: Scheduler + Sized + 'static {
    /// The name in `scheduler:`.
    const NAME: &'static str;
    /// A sentence about its way of scheduling.
    const ABOUT: &'static str;
    /// Its options in the scenario.
    type Options: DeserializeOwned + Serialize + JsonSchema + Default;
    /// Whether it uses the bytes that reduces fetch even where a job also gives the time of
    /// fetching, such as to estimate how large jobs are. If not, users are warned that such bytes
    /// have no effect.
    const HEEDS_BYTES: bool = true;

    /// Checks options that have been read against the cluster and the jobs: replaces names of files
    /// by what the files say, and returns errors and doubts.
    fn settle(_options: &mut Self::Options, _site: &PolicySite<'_>) -> Vec<Complaint> {
        Vec::new()
    }

    /// Returns which of so many slots these options promise to pools or queues; charts show them.
    fn promised(_options: &Self::Options, _slots: PerSlot<u64>) -> PromisedSlots {
        PromisedSlots::new()
    }

    /// Returns the policy, ready for an empty cluster.
    fn new(options: Self::Options) -> Self;
}

/// The slots that pools or queues are promised, by the names that jobs give.
pub type PromisedSlots = BTreeMap<String, PerSlot<f64>>;

/// Where a policy is to work.
#[derive(Clone, Debug)]
pub struct PolicySite<'s> {
    /// Where the paths of files begin.
    pub folder: &'s std::path::Path,
    /// The line of Hadoop.
    pub line: HadoopLine,
    /// The slots of the whole cluster.
    pub slots: PerSlot<u64>,
    /// The slots of the node that has most.
    pub most_slots: PerSlot<u32>,
    /// The jobs known beforehand: those that the scenario lists, and all jobs once files are read.
    pub jobs: Vec<ExpectedJob<'s>>,
}

/// An error in a policy's options, or a doubt about them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// The keys that lead to the option, such as `pools`, `research`, `max_maps`.
    pub path: Vec<String>,
    /// The error or the doubt.
    pub message: String,
    /// A way to mend it.
    pub hint: String,
    /// Whether it can be used all the same.
    pub is_warning: bool,
}

impl Complaint {
    /// Returns what is wrong with the option to which these keys lead.
    pub fn error(path: &[&str], message: impl Into<String>, hint: impl Into<String>) -> Self {
        let path = path.iter().map(|key| (*key).to_owned()).collect();
        Self { path, message: message.into(), hint: hint.into(), is_warning: false }
    }

    /// Returns what seems wrong with an option that can be used all the same.
    pub fn warning(path: &[&str], message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { is_warning: true, ..Self::error(path, message, hint) }
    }
}

/// The part of the JobTracker's books that a policy may see.
pub struct View<'a> {
    pub(super) now: SimTime,
    /// The tracker whose heartbeat is being served.
    pub(super) heard: Option<TrackerId>,
    pub(super) ledger: &'a Ledger,
}

impl<'a> View<'a> {
    /// Returns the instant.
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// Returns a job that has arrived.
    pub fn job(&self, id: JobId) -> Option<&'a Job> {
        step();
        self.ledger.job(id)
    }

    /// Returns the jobs that give tasks, in the order of their numbers.
    pub fn running_jobs(&self) -> impl Iterator<Item = &'a Job> + use<'a> {
        self.ledger.running_jobs().inspect(|_| step())
    }

    /// Returns how many jobs have a task of a kind that could be launched.
    pub fn jobs_pending(&self, kind: SlotKind) -> u32 {
        self.ledger.jobs_pending[kind]
    }

    /// Returns how many tasks have not succeeded: of each job from when it gives tasks to the end of
    /// its cleanup, whether it fails or not; reduces only once they may start.
    pub fn unfinished(&self, kind: SlotKind) -> u64 {
        self.ledger.unfinished[kind]
    }

    /// Returns the interval at which trackers are told to send heartbeats.
    pub fn heartbeat_interval(&self) -> SimSpan {
        self.ledger.heartbeat_interval()
    }

    /// Returns how far a running map or reduce is, from 0 to 1, as its tracker said last; always 0
    /// unless the policy [reads this](Scheduler::reads_progress).
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

    /// Returns what a tracker said of its attempts with its last heartbeat.
    ///
    /// # Panics
    /// If the policy has denied that it [reads this](Scheduler::reads_reports): then it is not kept up to
    /// date.
    pub fn reports(&self, tracker: TrackerId) -> &'a [Report] {
        assert!(self.ledger.knows_progress, "a policy that reads reports says that it reads none");
        &self.ledger.trackers[tracker.index()].reports
    }

    /// Returns what the heartbeat that is being served says of an attempt, if it is a heartbeat
    /// from which this comes.
    pub fn report_of(&self, attempt: AttemptId) -> Option<&'a Report> {
        let reports = self.reports(self.heard?);
        reports.iter().find(|report| report.attempt == attempt)
    }

    /// Returns the slots of all trackers that may get tasks.
    pub fn capacity(&self, kind: SlotKind) -> u32 {
        self.ledger.capacity[kind]
    }

    /// Returns the slots that the trackers' last heartbeats reported as taken.
    pub fn occupied(&self, kind: SlotKind) -> u32 {
        self.ledger.occupied[kind]
    }
}

/// The same books, and the power to stop attempts.
pub struct Orders<'a> {
    pub(super) ledger: &'a mut Ledger,
    pub(super) out: &'a mut Outbox,
}

impl Orders<'_> {
    /// Returns what the policy may know.
    pub fn view(&self) -> View<'_> {
        View { now: self.out.now, heard: None, ledger: self.ledger }
    }

    /// Kills an attempt, at its tracker's next heartbeat; its work is lost.
    pub fn kill(&mut self, attempt: AttemptId, reason: Reason) {
        // A policy may name what has ended since it looked.
        if self.ledger.attempt(attempt).is_some() {
            self.ledger.order_end(attempt, reason, self.out);
        }
    }

    /// Lets the splits of a job be read, for a policy that [says](Scheduler::orders_reading) when this
    /// is.
    pub fn read(&mut self, job: JobId) {
        self.ledger.to_read.push(job);
    }

    /// Suspends a running attempt, at its tracker's next heartbeat.
    pub fn suspend(&mut self, attempt: AttemptId, reason: Reason) {
        self.order(attempt, Order::Suspend, Directive::Suspend(attempt), reason);
    }

    /// Lets a suspended attempt go on, at its tracker's next heartbeat.
    pub fn resume(&mut self, attempt: AttemptId, reason: Reason) {
        self.order(attempt, Order::Resume, Directive::Resume(attempt), reason);
    }

    fn order(&mut self, attempt: AttemptId, order: Order, directive: Directive, reason: Reason) {
        // As with a kill, the attempt may have ended since the policy looked (perhaps but for its
        // output), or its tracker may be given up.
        let record = self.ledger.find_try(attempt);
        if let Some(record) = record.filter(|record| record.is_active()) {
            let was_halted = mem::replace(&mut record.is_halted, order == Order::Suspend);
            // An attempt that is suspended, or no longer counted, holds no slot of its job's share.
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

/// A tracker's heartbeat, at which tasks can be launched.
pub struct Offer<'a> {
    pub(super) ledger: &'a mut Ledger,
    pub(super) tracker: TrackerId,
    pub(super) out: &'a mut Outbox,
    /// The directives decided so far.
    pub(super) directives: Vec<Directive>,
    /// The slots that launches and resumptions of this offer take, and those that its preemptions
    /// free.
    pub(super) taken: PerSlot<u32>,
    pub(super) freed: PerSlot<u32>,
    /// How many times a job was looked at, and whether that makes the JobTracker later.
    pub(super) looks: u32,
    pub(super) looks_take_time: bool,
}

impl Offer<'_> {
    /// Returns what the policy may know.
    pub fn view(&self) -> View<'_> {
        View { now: self.out.now, heard: Some(self.tracker), ledger: self.ledger }
    }

    /// Returns the power to stop what runs, on any tracker.
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

    /// Returns the tracker's slots that the heartbeat reported as taken.
    pub fn occupied(&self, kind: SlotKind) -> u32 {
        self.ledger.trackers[self.tracker.index()].occupied[kind]
    }

    /// Returns the slots that were given in this offer, to attempts that were launched or resumed.
    pub fn taken(&self, kind: SlotKind) -> u32 {
        self.taken[kind]
    }

    /// Returns the tracker's slots that are free after what was decided in this offer.
    pub fn free(&self, kind: SlotKind) -> u32 {
        let taken = self.occupied(kind) + self.taken[kind];
        // More may be taken than there are: see `assert_fits`.
        (self.slots(kind) + self.freed[kind]).saturating_sub(taken)
    }

    /// Returns the jobs that give tasks, in the order of their numbers.
    pub fn running_jobs(&self) -> impl Iterator<Item = &Job> {
        self.ledger.running_jobs().inspect(|_| step())
    }

    /// Launches the job's best waiting map for this node within reach, if there is one. If there is none
    /// and it may be launched anywhere, a slow map may get a second attempt here.
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
        // Most jobs that wait for their input have none here.
        if reach == MapReach::Node && self.ledger.has_no_map_on(job, self.tracker) {
            return None;
        }
        let wish = LaunchWish { job, tracker: self.tracker, slots, reason };
        match self.ledger.launch_map(wish, reach, self.out) {
            Some(launch) => Some(self.launch(launch)),
            None => {
                // Only a job that may look anywhere is refused because of the tracker; with less reach its maps may
                // just be farther away.
                if reach == MapReach::Any {
                    self.refuse(job, SlotKind::Map, Reason::BadTracker);
                }
                None
            }
        }
    }

    /// Launches the job's next waiting reduce, if there is one, or else a second attempt of a slow one.
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
        step();
        self.looks += 1;
        let wish = LaunchWish { job, tracker: self.tracker, slots, reason };
        match self.ledger.launch_reduce(wish, self.out) {
            Some(launch) => Some(self.launch(launch)),
            None => {
                // A reduce may run anywhere: if one waits and gets nothing, that is because of the
                // tracker.
                self.refuse(job, SlotKind::Reduce, Reason::BadTracker);
                None
            }
        }
    }

    /// Counts looks at jobs that have nothing to launch, for a policy that in Hadoop asks them all
    /// the same: nothing comes of it, but it takes the JobTracker's time. `count` returns how many,
    /// and is called only if looks take time.
    pub fn look_past(&mut self, count: impl FnOnce() -> u32) {
        step();
        if self.looks_take_time {
            self.looks += count();
        }
    }

    /// Returns whether refusals are kept: what only serves to say why may be left out otherwise.
    pub fn keeps_refusals(&self) -> bool {
        self.ledger.refusals.is_some()
    }

    /// Says why a job gets nothing here, if it has something of the kind to launch. Costs nothing unless
    /// refusals are kept.
    pub fn refuse(&mut self, job: JobId, kind: SlotKind, reason: Reason) {
        let has_pending =
            |ledger: &Ledger| ledger.job(job).is_some_and(|job| 0 < job.pending(kind));
        if self.keeps_refusals()
            && has_pending(self.ledger)
            && let Some(refusals) = &mut self.ledger.refusals
        {
            refusals.note(self.out.now, job, kind, reason);
        }
    }

    /// Returns how many of the job's waiting maps have their input on this node, and how many have it on the
    /// node or in its rack, of so many at most. Looks at so many maps.
    pub fn near_maps(&mut self, job: JobId, most: u32) -> [u32; 2] {
        step();
        self.ledger.near_maps(job, self.tracker, most)
    }

    /// Says at the end of an offer why a free slot stays free: refuses it to the job that would be
    /// the first to get it. `who` returns that job and the reason, and is called only if refusals
    /// are kept.
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

    /// Returns whether a job accepts this tracker for a task of so many slots: not if too many of
    /// its attempts have failed here, or if the tracker has fewer slots.
    pub fn suits(&self, job: JobId, kind: SlotKind, slots: u32) -> bool {
        let job = self.ledger.job(job);
        job.is_some_and(|job| self.ledger.suits(job, self.tracker, kind, slots))
    }

    /// Returns whether an attempt works on this tracker and could be stopped.
    pub fn can_preempt(&self, victim: AttemptId) -> bool {
        self.ledger.attempt(victim).is_some_and(|record| {
            let is_here = record.cleaner.is_none() && record.tracker == self.tracker;
            is_here && record.state == AttemptState::Running && !record.is_doomed
        })
    }

    /// Takes the slot of an attempt that runs on this tracker for another that was launched or
    /// resumed here; returns whether that is possible.
    pub fn preempt(&mut self, victim: AttemptId, how: Preemption, by: AttemptId) -> bool {
        if !self.can_preempt(victim) {
            return false;
        }
        let reason = Reason::PreemptedFor(by);
        match how {
            Preemption::Suspend => self.orders().suspend(victim, reason),
            Preemption::Kill => self.orders().kill(victim, reason),
        }
        // The tracker obeys the kill and the launch with the same reply, so the slot can be given
        // now.
        self.freed[victim.slot()] += self.width(victim);
        true
    }

    /// Lets an attempt go on that is suspended on this tracker, in as many slots as it had.
    pub fn resume(&mut self, attempt: AttemptId, reason: Reason) {
        self.orders().resume(attempt, reason);
        self.taken[attempt.slot()] += self.width(attempt);
    }

    /// Returns how many slots an attempt takes.
    fn width(&self, attempt: AttemptId) -> u32 {
        self.ledger.attempt(attempt).map_or(0, |record| record.slots)
    }

    /// Leaves a note on this tracker among the events of the run.
    pub fn note(&mut self, note: &'static str) {
        self.out.emit(Fact::Member(self.tracker, MemberFact::Noted(note)));
    }

    /// Asserts in debug builds that the decisions fit into the tracker's slots. The stopwatch around the policy
    /// calls this, so that the policy is blamed.
    pub fn assert_fits(&self) {
        for kind in SlotKind::BOTH {
            // A tracker may hold more than its slots: an attempt that was to be suspended may have
            // finished its work before, and then it keeps its slot until it has committed.
            let free = self.slots(kind).saturating_sub(self.occupied(kind));
            let (taken, room, word) = (self.taken[kind], free + self.freed[kind], kind.word());
            let (now, tracker) = (self.out.now, self.tracker);
            debug_assert!(
                taken <= room,
                "{now}: it fills {taken} {word} slots of {tracker}, and {room} are free"
            );
        }
    }

    fn launch(&mut self, launch: LaunchOrder) -> Launched {
        let launched = Launched { attempt: launch.attempt, locality: launch.locality };
        // The report that says how much is occupied came before, so launches are added to it.
        self.taken[launched.attempt.slot()] += launch.slots;
        self.directives.push(Directive::Launch(launch));
        launched
    }
}

/// How an attempt loses its slot to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preemption {
    /// It is stopped, and keeps its memory and its work.
    Suspend,
    /// It is killed, and its work is lost.
    Kill,
}

/// An attempt that was launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launched {
    /// The attempt.
    pub attempt: AttemptId,
    /// How far its input is; `None` for all but maps with input.
    pub locality: Option<Locality>,
}

impl Launched {
    /// Returns whether this is a map with its input on the node or in its rack.
    pub fn is_near(&self) -> bool {
        matches!(self.locality, Some(Locality::Node | Locality::Rack))
    }
}
