//! A bench for tests of policies: a cluster without a runtime, whose time a test moves by hand.
//!
//! The bench owns the JobTracker's ledger, the same one as in a run, and a policy. A test submits
//! jobs, offers trackers, ends attempts and moves the time, and looks at the decisions.

use std::path::Path;
use std::sync::Arc;

use super::{
    Launched, Offer, Orders, PolicyReload, ProgramPermit, RankNumber, RunPermit, Scheduler,
    Setting, SizeEstimators, View,
};
use crate::cluster::{
    Amounts, CountedResources, Hdfs, Node, PerSlot, Placement, SlotKind, Topology, TrackerId,
};
use crate::mapred::event::{AttemptState, Fact, JobFact, LedgerFact, Order, Outcome};
use crate::mapred::hadoop::{Hadoop, HadoopLine};
use crate::mapred::heartbeat::{AttemptPhase, Directive, Report};
use crate::mapred::ids::{AttemptId, JobId, TaskKind};
use crate::mapred::ledger::Ledger;
use crate::mapred::message::HandEnd;
use crate::mapred::outbox::Outbox;
use crate::mapred::reason::{Reason, SlotStanding};
use crate::mapred::spec::{JobAlteration, JobSpec, Priority};
use crate::mapred::speculation::Speculation;
use mumakil_base::units::{Fraction, SimSpan, SimTime};

/// A policy on a bench: a small cluster that a test drives step by step.
///
/// Only the policy is tested, so the rest of the cluster is as simple as possible. Jobs have no
/// setup and no cleanup, reduces need not wait for maps (but see [`PolicyBench::with_hadoop`]), and
/// a job may launch tasks as soon as it is submitted. Tasks end when the test says so. A tracker's
/// report is always true. Orders to kill, suspend or resume attempts wait until
/// [`PolicyBench::carry_out`].
///
/// A call that makes no sense, such as the end of an attempt that does not run, panics, and names
/// the line of the test.
///
/// ```
/// use mumakil_core::mapred::{JobId, MapReach, Offer, PerSlot, PolicyBench, Reason, Scheduler};
/// use mumakil_core::mapred::{Locality, Input, SlotKind};
///
/// /// Launches a map of the first job, at most one at each offer.
/// struct FirstJob;
///
/// impl Scheduler for FirstJob {
///     fn offer(&mut self, offer: &mut Offer<'_>) {
///         if 0 < offer.free(SlotKind::Map) {
///             offer.launch_map(JobId(0), MapReach::Any, Reason::Other("the first job"));
///         }
///     }
/// }
///
/// let mut bench = PolicyBench::new(FirstJob, 2, PerSlot { map: 1, reduce: 0 });
/// let job = bench.submit(2, 0, |job| job.input = Some(Input::on_trackers([0, 0])));
/// let first = bench.offer(1)[0];
/// assert_eq!((first.job(), first.locality), (job, Some(Locality::Rack)));
/// assert_eq!(bench.offer(1), [], "the only slot is taken");
/// bench.at(20.0).fails(first);
/// assert_eq!(bench.offer(0)[0].locality, Some(Locality::Node), "the other map");
/// ```
pub struct PolicyBench<P> {
    /// The policy, for a look at its state.
    pub policy: P,
    ledger: Ledger,
    jobs: u32,
    out: Outbox,
    /// The attempts that the policy would have killed since the last look.
    spared: Vec<AttemptId>,
    /// The attempts on each tracker, in the order of launching.
    trackers: Vec<Vec<BenchAttempt>>,
}

/// An attempt that has not ended.
#[derive(Clone, Copy, Debug)]
struct BenchAttempt {
    id: AttemptId,
    progress: f32,
    /// How long it had run when it began or was suspended or resumed last, and when that was.
    ran_before: SimSpan,
    since: SimTime,
    is_suspended: bool,
}

impl BenchAttempt {
    fn report(&self, now: SimTime) -> Report {
        let latest = if self.is_suspended { SimSpan::default() } else { now - self.since };
        let ran = self.ran_before + latest;
        let is_reduce = self.id.task.kind == TaskKind::Reduce;
        Report {
            attempt: self.id,
            state: if self.is_suspended { AttemptState::Suspended } else { AttemptState::Running },
            phase: if is_reduce { AttemptPhase::Reduce } else { AttemptPhase::Work },
            progress: self.progress,
            ran,
            worked: ran,
            wants_maps: false,
            saved: 0.0,
        }
    }

    fn set_suspended(&mut self, is_suspended: bool, now: SimTime) {
        self.ran_before = self.report(now).ran;
        (self.since, self.is_suspended) = (now, is_suspended);
    }
}

impl<P: Scheduler> PolicyBench<P> {
    /// Returns a cluster of `trackers` trackers in one rack, each with these slots, at the instant
    /// 0.
    ///
    /// # Panics
    /// Panics if the policy cannot [begin](Scheduler::begin).
    #[track_caller]
    pub fn new(policy: P, trackers: u32, slots: PerSlot<u32>) -> Self {
        Self::with_racks(policy, &vec![0; trackers as usize], slots)
    }

    /// As [`PolicyBench::new`], with a tracker in each of these racks: `&[0, 0, 1]` are two in the
    /// first rack and one in the second.
    #[track_caller]
    pub fn with_racks(policy: P, racks: &[u32], slots: PerSlot<u32>) -> Self {
        let nodes = racks.iter().map(|rack| Node::plain(*rack, slots)).collect();
        Self::on_nodes(policy, nodes, CountedResources::Slots)
    }

    /// As [`PolicyBench::new`], with a tracker on each of these nodes; `counted` says which of their
    /// resources limit attempts.
    #[track_caller]
    pub fn on_nodes(policy: P, nodes: Vec<Node>, counted: CountedResources) -> Self {
        let topology = Arc::new(Topology::from_nodes(nodes).counting(counted));
        let plain = Hadoop { slow_start: Fraction::ZERO, ..Hadoop::of(HadoopLine::V020) };
        Self::in_folder(Path::new("."), policy, topology, plain)
    }

    /// Begins anew with these settings of Hadoop, for the policy and for the JobTracker below it;
    /// [`Hadoop::of`] has those of a version. Jobs still have no setup and no cleanup, but reduces
    /// wait for `slow_start`, which a bench without this call has not.
    ///
    /// # Panics
    /// Panics if a job was submitted already, or if the policy cannot [begin](Scheduler::begin).
    #[track_caller]
    pub fn with_hadoop(self, hadoop: Hadoop) -> Self {
        assert!(self.jobs == 0, "the settings come before the first job");
        Self::in_folder(Path::new("."), self.policy, self.ledger.topology, hadoop)
    }

    #[track_caller]
    fn in_folder(folder: &Path, policy: P, topology: Arc<Topology>, hadoop: Hadoop) -> Self {
        let setting = Setting {
            seed: 0,
            line: hadoop.line,
            folder,
            topology: &topology.clone(),
            tell: Arc::new(|_| ()),
            programs: RunPermit { issued: &ProgramPermit::default(), declared: &[] },
            launcher: None,
            estimators: &SizeEstimators::new(),
            overhear: None,
        };
        match Self::begun(policy, topology, hadoop, &setting) {
            Ok(bench) => bench,
            Err(why) => panic!("the policy cannot begin: {why}"),
        }
    }

    /// Returns a bench on these nodes with these settings of Hadoop, in which the policy begins in
    /// this setting. The bench of a scenario is made so.
    ///
    /// # Errors
    /// Returns an error if the policy cannot [begin](Scheduler::begin).
    pub fn begun(
        mut policy: P,
        topology: Arc<Topology>,
        hadoop: Hadoop,
        setting: &Setting<'_>,
    ) -> Result<Self, String> {
        policy.begin(setting)?;
        let hadoop = Hadoop { setup_cleanup: false, task_cleanup: false, ..hadoop };
        let hdfs = Hdfs::new(1, topology.clone(), 1, Placement::Random);
        let trackers = vec![Vec::new(); topology.len() as usize];
        let ledger = Ledger::new(hadoop, topology, hdfs);
        let (jobs, out, spared) = (0, Outbox::default(), Vec::new());
        let mut bench = Self { policy, ledger, jobs, out, spared, trackers };
        for tracker in 0..bench.trackers.len() as u32 {
            bench.join(tracker);
        }
        Ok(bench)
    }

    // ---- trackers ----

    /// Starts a tracker, which joins the cluster. All trackers of a new bench have joined; a test
    /// of a cluster that grows [loses](PolicyBench::lose) some of them first.
    #[track_caller]
    pub fn join(&mut self, tracker: u32) {
        let id = TrackerId(tracker);
        assert!(!self.ledger.trackers[id.index()].is_registered, "{id} has joined already");
        self.ledger.clear_faults(id, &mut self.out);
        self.ledger.register(id, self.ledger.topology.node(id).slots, &mut self.out);
        self.tell();
    }

    /// Loses a tracker: its attempts are killed, and maps whose output was there run again.
    #[track_caller]
    pub fn lose(&mut self, tracker: u32) {
        self.assert_joined(tracker);
        self.trackers[tracker as usize].clear();
        self.ledger.lose_tracker(TrackerId(tracker), &mut self.out);
        self.tell();
    }

    #[track_caller]
    fn assert_joined(&self, tracker: u32) {
        let id = TrackerId(tracker);
        assert!(self.ledger.trackers[id.index()].is_registered, "{id} is lost");
    }

    // ---- time ----

    /// Returns the present instant.
    pub fn now(&self) -> SimTime {
        self.out.now
    }

    /// Sets the time to this many seconds. The policy gets no tick: see [`PolicyBench::tick`] and
    /// [`PolicyBench::advance`].
    #[track_caller]
    pub fn at(&mut self, secs: f64) -> &mut Self {
        let now = SimTime::ZERO + SimSpan::ceil_from_secs(secs);
        assert!(self.out.now <= now, "it is {} already, so it cannot be {now}", self.out.now);
        self.out.now = now;
        self
    }

    /// Lets time pass. The policy gets its ticks meanwhile, as often as it
    /// [needs](super::PolicyNeeds::tick_every) them.
    pub fn advance(&mut self, span: SimSpan) -> &mut Self {
        let until = self.out.now + span;
        while let Some(every) = self.policy.needs().tick_every {
            // As in a run, the first tick comes one interval after the start.
            let every = every.as_micros().max(1);
            let next = SimTime::from_micros((self.out.now.as_micros() / every + 1) * every);
            if until < next {
                break;
            }
            self.out.now = next;
            self.tick();
        }
        self.out.now = until;
        self
    }

    /// Gives the policy a tick now.
    pub fn tick(&mut self) -> &mut Self {
        let Self { ledger, out, .. } = self;
        self.policy.tick(&mut Orders { ledger, out });
        self.tell();
        self
    }

    // ---- jobs ----

    /// Submits a job of `maps` maps and `reduces` reduces, after `change` has changed what it is
    /// by default: a job of user `ann` in pool `research`, of normal priority, without input. Its
    /// splits are read at once, even under a policy that [decides](super::PolicyNeeds::reading) that.
    ///
    /// # Panics
    /// Panics if the policy refuses the job; a test of refusals uses
    /// [`PolicyBench::submit_unread`].
    #[track_caller]
    pub fn submit(&mut self, maps: u32, reduces: u32, change: impl FnOnce(&mut JobSpec)) -> JobId {
        let id = match self.submit_unread(maps, reduces, change) {
            Ok(id) => id,
            Err(why) => panic!("the job is refused: {why}"),
        };
        self.initialise(id);
        id
    }

    /// As [`PolicyBench::submit`], but the splits of the job are not [read](PolicyBench::read).
    ///
    /// # Errors
    /// Returns why the policy [refuses](Scheduler::refuses) the job. As in a run, no later job gets
    /// its number.
    pub fn submit_unread(
        &mut self,
        maps: u32,
        reduces: u32,
        change: impl FnOnce(&mut JobSpec),
    ) -> Result<JobId, Reason> {
        let id = JobId(self.jobs);
        let mut spec = JobSpec::bare(id.0, maps, reduces);
        change(&mut spec);
        spec.id = id;
        self.jobs += 1;
        if let Some(why) = self.policy.refuses(&self.view(), &spec) {
            return Err(why);
        }
        self.ledger.submit(Arc::new(spec), &mut self.out);
        self.tell();
        Ok(id)
    }

    /// Returns the jobs whose splits the policy has [ordered](Orders::read) to be read since the
    /// last call, each with the time until a thread begins.
    pub fn reads_ordered(&mut self) -> Vec<(JobId, SimSpan)> {
        std::mem::take(&mut self.ledger.to_read)
    }

    /// Ends the reading of a job's splits; its tasks may be launched from now on.
    pub fn read(&mut self, job: JobId) {
        self.initialise(job);
        let Self { ledger, out, .. } = self;
        self.policy.splits_read(job, &mut Orders { ledger, out });
        self.tell();
    }

    fn initialise(&mut self, job: JobId) {
        let cleans_up = std::mem::replace(&mut self.ledger.hadoop.setup_cleanup, false);
        self.ledger.initialise(job, &mut self.out);
        self.ledger.hadoop.setup_cleanup = cleans_up;
        self.tell();
    }

    /// Submits a job to a pool or queue.
    #[track_caller]
    pub fn submit_to(&mut self, pool: &str, maps: u32, reduces: u32) -> JobId {
        self.submit(maps, reduces, |job| job.pool = pool.into())
    }

    /// Gives a job another priority or another pool.
    pub fn alter(&mut self, job: JobId, priority: Option<Priority>, pool: Option<&str>) {
        let alteration = JobAlteration { job, priority, pool: pool.map(Into::into) };
        self.ledger.alter(&Arc::new(alteration), &mut self.out);
        self.tell();
    }

    /// Lets the policy read its pools or queues again.
    pub fn reload(&mut self, options: PolicyReload) {
        let view = View { now: self.out.now, heard: None, ledger: &self.ledger };
        self.policy.reload(&view, &options);
    }

    /// Kills a job, as its user may do. Its running attempts get orders to end.
    pub fn kill_job(&mut self, job: JobId) {
        self.ledger.end_early(job, Outcome::Killed, &mut self.out);
        self.tell();
    }

    /// Fails a job. Its running attempts get orders to end; then it waits for its
    /// [cleanup](PolicyBench::clean_up), as do all jobs that end after this call.
    pub fn fail_job(&mut self, job: JobId) {
        self.ledger.hadoop.setup_cleanup = true;
        self.ledger.end_early(job, Outcome::Failed, &mut self.out);
        self.tell();
    }

    /// Runs the cleanup of the first job that waits for it, which ends the job.
    #[track_caller]
    pub fn clean_up(&mut self) {
        let (tracker, kind) = (TrackerId(0), SlotKind::Map);
        let launch = self.ledger.launch_service(tracker, kind, &mut self.out);
        let cleanup = launch.expect("a job waits for its cleanup").attempt;
        self.ledger.succeed(cleanup, &mut self.out);
        self.tell();
    }

    // ---- offers and orders ----

    /// Offers a tracker to the policy, as its heartbeat does, and returns the launches. The
    /// launched attempts run at once. A blacklisted tracker is not offered.
    ///
    /// # Panics
    /// Panics if the tracker is lost, and (in a build with debug assertions, such as a test) if the
    /// launches take more slots than the tracker has free.
    #[track_caller]
    pub fn offer(&mut self, tracker: u32) -> Vec<Launched> {
        self.assert_joined(tracker);
        self.report(tracker);
        if !self.ledger.trackers[tracker as usize].is_active() {
            return Vec::new();
        }
        let mut offer = Offer {
            ledger: &mut self.ledger,
            tracker: TrackerId(tracker),
            out: &mut self.out,
            directives: Vec::new(),
            taken: PerSlot::default(),
            freed: PerSlot::default(),
            left: None,
            vacated: Amounts::default(),
            looks: 0,
            looks_take_time: true,
        };
        self.policy.offer(&mut offer);
        offer.assert_fits();
        let new = self.out.events.iter().filter_map(|event| match event.fact {
            Fact::Ledger(attempt, _, LedgerFact::Assigned { locality, reason, .. }) => {
                let slots = self.ledger.attempt(attempt)?.slots;
                Some(Launched { attempt, locality, slots, reason })
            }
            _ => None,
        });
        let launched: Vec<Launched> = new.collect();
        let since = self.out.now;
        self.trackers[tracker as usize].extend(launched.iter().map(|launched| BenchAttempt {
            id: launched.attempt,
            progress: 0.0,
            ran_before: SimSpan::default(),
            since,
            is_suspended: false,
        }));
        self.tell();
        launched
    }

    /// Offers every tracker that has joined, one after another, until the policy launches nothing
    /// there.
    #[track_caller]
    pub fn fill(&mut self) -> &mut Self {
        for tracker in 0..self.trackers.len() as u32 {
            let joined = self.ledger.trackers[tracker as usize].is_registered;
            while joined && !self.offer(tracker).is_empty() {}
        }
        self
    }

    /// Carries out the orders that the policy has given since the last call, on all trackers.
    /// Returns them by tracker. As in a cluster, an order for an attempt that has ended meanwhile
    /// has no effect; it is left out.
    pub fn carry_out(&mut self) -> Vec<(AttemptId, Order)> {
        let pending = self.ledger.trackers.iter_mut().flat_map(|it| std::mem::take(&mut it.orders));
        let mut orders: Vec<(AttemptId, Order)> = pending.filter_map(|it| ordered(&it)).collect();
        let now = self.out.now;
        orders.retain(|(id, order)| {
            let is_suspended = match order {
                Order::Kill | Order::Checkpoint => return self.end(*id, Outcome::Killed),
                Order::Suspend => true,
                Order::Resume => false,
            };
            let attempt = self.trackers.iter_mut().flatten().find(|attempt| attempt.id == *id);
            attempt.map(|attempt| attempt.set_suspended(is_suspended, now)).is_some()
        });
        orders
    }

    /// Returns the attempts that the policy [would have killed](Orders::would_kill) since the last
    /// call.
    pub fn spared(&mut self) -> Vec<AttemptId> {
        std::mem::take(&mut self.spared)
    }

    // ---- attempts ----

    /// Ends an attempt with success.
    ///
    /// # Panics
    /// Panics if the attempt does not run.
    #[track_caller]
    pub fn ends(&mut self, attempt: impl Into<AttemptId>) {
        let attempt = attempt.into();
        assert!(self.end(attempt, Outcome::Succeeded), "{attempt} does not run");
    }

    /// Fails an attempt: its task waits again, or its job fails.
    ///
    /// # Panics
    /// Panics if the attempt does not run.
    #[track_caller]
    pub fn fails(&mut self, attempt: impl Into<AttemptId>) {
        let attempt = attempt.into();
        assert!(self.end(attempt, Outcome::Failed), "{attempt} does not run");
    }

    /// Ends this many attempts of a job and kind with success, the first ones first.
    #[track_caller]
    pub fn end_first(&mut self, job: JobId, kind: SlotKind, attempts: usize) {
        let running = self.trackers.iter().flatten().map(|attempt| attempt.id);
        let mut all: Vec<AttemptId> =
            running.filter(|attempt| attempt.job() == job && attempt.slot() == kind).collect();
        all.sort_unstable();
        for attempt in all.into_iter().take(attempts) {
            self.ends(attempt);
        }
    }

    /// Kills or fails the running attempts of a task by hand, as its user may do. They get orders
    /// to end, as those of a policy.
    pub fn end_task(&mut self, end: HandEnd) {
        self.ledger.end_task(end, &mut self.out);
        self.tell();
    }

    /// Sets the progress of an attempt, from 0 to 1, which its tracker reports from the next offer
    /// on.
    ///
    /// # Panics
    /// Panics if the attempt does not run.
    #[track_caller]
    pub fn progresses(&mut self, attempt: impl Into<AttemptId>, progress: f32) {
        let attempt = attempt.into();
        let found = self.trackers.iter_mut().flatten().find(|other| other.id == attempt);
        let Some(found) = found else { panic!("{attempt} does not run") };
        found.progress = progress;
    }

    /// Returns the running and suspended attempts of a tracker, in the order of launching.
    pub fn running(&self, tracker: u32) -> Vec<AttemptId> {
        self.trackers[tracker as usize].iter().map(|attempt| attempt.id).collect()
    }

    /// Returns how many attempts of a kind each job runs.
    pub fn held<const N: usize>(&self, kind: SlotKind, jobs: [JobId; N]) -> [usize; N] {
        jobs.map(|job| {
            let attempts = self.trackers.iter().flatten().filter(|it| it.id.job() == job);
            attempts.filter(|it| it.id.slot() == kind && !it.is_suspended).count()
        })
    }

    // ---- what the policy says of itself ----

    /// Returns the view of the ledger that the policy has.
    pub fn view(&self) -> View<'_> {
        View { now: self.out.now, heard: None, ledger: &self.ledger }
    }

    /// Returns the jobs with a task of a kind to launch, in the policy's
    /// [order](Scheduler::ranking), each with the numbers by which it is ranked.
    pub fn ranking(&mut self, kind: SlotKind) -> Vec<(JobId, Vec<RankNumber>)> {
        let mut told = Vec::new();
        let view = View { now: self.out.now, heard: None, ledger: &self.ledger };
        self.policy.ranking(&view, kind, &mut |job, numbers| told.push((job, numbers.to_vec())));
        told
    }

    /// Returns the [holdings](Scheduler::holdings) of the policy's pools or queues.
    pub fn holdings(&self, kind: SlotKind) -> Vec<(String, SlotStanding)> {
        let mut told = Vec::new();
        let say = &mut |name: &str, standing| told.push((name.to_owned(), standing));
        self.policy.holdings(&self.view(), kind, say);
        told
    }

    /// Returns the jobs with a task to launch that the policy [holds back](Scheduler::withheld),
    /// and why.
    pub fn withheld(&self) -> Vec<(JobId, SlotKind, Reason)> {
        let mut told = Vec::new();
        let view = self.view();
        self.policy.withheld(&view, &mut |job, kind, reason| {
            if view.job(job).is_some_and(|job| 0 < job.pending(kind)) {
                told.push((job, kind, reason));
            }
        });
        told
    }

    /// Returns the [refusals](Offer::refuse) since the last call, each with the code of its reason.
    /// The first call returns none: refusals are kept from then on.
    pub fn refused(&mut self) -> Vec<(JobId, SlotKind, &'static str)> {
        let mut out = Outbox::at(self.out.now);
        self.ledger.refusals.get_or_insert_default().close(&mut out);
        let told = out.events.into_iter().filter_map(|event| match event.fact {
            Fact::Job(job, JobFact::Refused { kind, reason, .. }) => {
                Some((job, kind, reason.code()))
            }
            _ => None,
        });
        told.collect()
    }

    // ---- inside ----

    /// Notes what the heartbeat of a tracker reports.
    fn report(&mut self, tracker: u32) {
        let (id, now) = (TrackerId(tracker), self.out.now);
        self.ledger.forget_old_fault(id, &mut self.out);
        let seeks_slow_tasks = self.ledger.hadoop.speculation != Speculation::Off;
        let reads_progress = self.policy.needs().progress || seeks_slow_tasks;
        let mut occupied = PerSlot::default();
        let mut reports = Vec::new();
        for attempt in &self.trackers[tracker as usize] {
            let report = attempt.report(now);
            reports.push(report);
            let Some(record) = self.ledger.find_try(attempt.id) else { continue };
            record.state = report.state;
            if !attempt.is_suspended {
                occupied[attempt.id.slot()] += record.slots;
            }
            if reads_progress {
                self.ledger.note_progress(now, attempt.id, attempt.progress);
            }
        }
        self.ledger.trackers[id.index()].reports = reports;
        self.ledger.set_occupied(id, occupied);
        self.ledger.look_for_slow_tasks(now);
        self.tell();
    }

    /// Ends an attempt; returns whether it was running or suspended.
    fn end(&mut self, attempt: AttemptId, outcome: Outcome) -> bool {
        if !self.trackers.iter().flatten().any(|other| other.id == attempt) {
            return false;
        }
        self.trackers.iter_mut().for_each(|own| own.retain(|other| other.id != attempt));
        match outcome {
            Outcome::Succeeded => self.ledger.succeed(attempt, &mut self.out),
            Outcome::Failed | Outcome::Killed => self.ledger.lose(attempt, outcome, &mut self.out),
        }
        self.tell();
        true
    }

    /// Tells the policy the changes of jobs.
    fn tell(&mut self) {
        for event in std::mem::take(&mut self.ledger.changes) {
            let view = View { now: self.out.now, heard: None, ledger: &self.ledger };
            self.policy.job_changed(&view, &event);
        }
        // Nobody reads the other events of a bench.
        self.spared.extend(self.out.events.drain(..).filter_map(|event| match event.fact {
            Fact::Ledger(attempt, _, LedgerFact::Spared { .. }) => Some(attempt),
            _ => None,
        }));
    }
}

fn ordered(directive: &Directive) -> Option<(AttemptId, Order)> {
    match directive {
        Directive::Kill(attempt) => Some((*attempt, Order::Kill)),
        Directive::Checkpoint(attempt) => Some((*attempt, Order::Checkpoint)),
        Directive::Suspend(attempt) => Some((*attempt, Order::Suspend)),
        Directive::Resume(attempt) => Some((*attempt, Order::Resume)),
        Directive::Launch(_) | Directive::Commit(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapred::ids::TaskId;
    use crate::mapred::job::JobState;
    use crate::mapred::map_cache::MapReach;
    use crate::mapred::scheduler::PolicyNeeds;
    use crate::mapred::speculation::{Hadoop020Options, Rule};
    use mumakil_base::units::Count;
    use std::cell::Cell;
    use std::panic::{self, AssertUnwindSafe, catch_unwind};

    /// Launches maps of any job, and gives the orders that a test puts in, at its next tick.
    #[derive(Default)]
    struct Obedient {
        orders: Vec<(AttemptId, Order)>,
        ticks: Vec<f64>,
        /// The reports that it saw at the last offer.
        seen: Vec<Report>,
        /// It refuses jobs with more maps.
        most_maps: Option<u32>,
    }

    impl Scheduler for Obedient {
        fn needs(&self) -> PolicyNeeds {
            PolicyNeeds {
                progress: true,
                tick_every: Some(SimSpan::from_secs(3)),
                ..PolicyNeeds::default()
            }
        }

        fn refuses(&self, _: &View<'_>, job: &JobSpec) -> Option<Reason> {
            self.most_maps.filter(|most| *most < job.maps).map(Reason::TooManyTasks)
        }

        fn tick(&mut self, orders: &mut Orders<'_>) {
            self.ticks.push(orders.view().now().as_secs_f64());
            let why = Reason::Other("the test says so");
            for (attempt, order) in std::mem::take(&mut self.orders) {
                match order {
                    Order::Kill => orders.kill(attempt, why),
                    Order::Checkpoint => orders.checkpoint(attempt, why),
                    Order::Suspend => orders.suspend(attempt, why),
                    Order::Resume => orders.resume(attempt, why),
                }
            }
        }

        fn offer(&mut self, offer: &mut Offer<'_>) {
            self.seen = offer.view().reports(offer.tracker()).to_vec();
            let jobs: Vec<JobId> = offer.running_jobs().map(|job| job.id()).collect();
            for job in jobs {
                while 0 < offer.free(SlotKind::Map)
                    && offer.launch_map(job, MapReach::Any, Reason::Other("any")).is_some()
                {
                }
                while 0 < offer.free(SlotKind::Reduce)
                    && offer.launch_reduce(job, Reason::Other("any")).is_some()
                {}
            }
        }
    }

    /// Returns a tracker of two map slots.
    fn bench() -> PolicyBench<Obedient> {
        PolicyBench::new(Obedient::default(), 1, PerSlot { map: 2, reduce: 0 })
    }

    #[test]
    fn the_policy_gets_its_ticks_as_time_passes_and_none_as_it_is_set() {
        let mut bench = bench();
        bench.advance(SimSpan::from_secs(7)).at(13.0).advance(SimSpan::from_secs(2));
        assert_eq!(bench.policy.ticks, [3.0, 6.0, 15.0]);
        assert_eq!(bench.now().as_secs_f64(), 15.0);
    }

    #[test]
    fn a_suspended_attempt_lends_its_slot_and_keeps_its_work() {
        let mut bench = bench();
        let [first, second] = [2, 2].map(|maps| bench.submit(maps, 0, |_| {}));
        let map = bench.offer(0)[0].attempt;
        bench.progresses(map, 0.5);
        bench.policy.orders = vec![(map, Order::Suspend)];
        bench.at(10.0).tick();
        assert_eq!(bench.offer(0), [], "the order has not been carried out");
        assert_eq!(bench.policy.seen[0].state, AttemptState::Running);
        assert_eq!(bench.carry_out(), [(map, Order::Suspend)]);
        assert_eq!(bench.at(30.0).offer(0)[0].job(), second);
        assert_eq!(bench.held(SlotKind::Map, [first, second]), [1, 1]);
        let Report { state, progress, ran, .. } = bench.policy.seen[0];
        let seen = (state, progress, ran.as_secs_f64());
        assert_eq!(seen, (AttemptState::Suspended, 0.5, 10.0), "not the 20 s since");
        assert_eq!(bench.view().progress(map), 0.5);

        bench.policy.orders = vec![(map, Order::Resume)];
        bench.tick().carry_out();
        bench.at(35.0).offer(0);
        let Report { state, ran, .. } = bench.policy.seen[0];
        assert_eq!((state, ran.as_secs_f64()), (AttemptState::Running, 15.0));
    }

    #[test]
    fn an_order_for_an_attempt_that_has_ended_has_no_effect() {
        let mut bench = bench();
        bench.submit(2, 0, |_| {});
        let launched = bench.offer(0);
        let [first, second] = [0, 1].map(|place| launched[place].attempt);
        bench.policy.orders = vec![(first, Order::Kill), (second, Order::Kill)];
        bench.tick().ends(first);
        assert_eq!(bench.carry_out(), [(second, Order::Kill)]);
        assert_eq!(bench.offer(0)[0].attempt, second.task.attempt(1));
    }

    #[test]
    fn a_job_ends_with_its_last_task_or_when_it_is_killed() {
        let mut bench = bench();
        let [done, killed] = [1, 1].map(|maps| bench.submit(maps, 0, |_| {}));
        let maps = bench.offer(0);
        bench.ends(maps[0]);
        bench.kill_job(killed);
        assert_eq!(bench.carry_out(), [(maps[1].attempt, Order::Kill)]);
        let states = [done, killed].map(|job| bench.view().job(job).unwrap().state());
        assert_eq!(states, [Outcome::Succeeded, Outcome::Killed].map(JobState::Ended));
        assert_eq!(bench.running(0), []);
    }

    #[test]
    fn settings_of_hadoop_hold_for_the_jobtracker_below_the_policy() {
        let hadoop = Hadoop { max_attempts: Count::of(1), ..Hadoop::of(HadoopLine::V1) };
        let slots = PerSlot { map: 2, reduce: 1 };
        let mut bench = PolicyBench::new(Obedient::default(), 1, slots).with_hadoop(hadoop);
        assert_eq!(bench.view().heartbeat_interval().as_millis(), 300, "0.20 has 3 s");
        let job = bench.submit(2, 1, |_| {});
        let [first, second] = bench.offer(0)[..] else {
            panic!("a reduce waits for 5 % of the maps")
        };
        bench.ends(first);
        assert_eq!(bench.offer(0)[0].slot(), SlotKind::Reduce);
        bench.fails(second);
        assert_eq!(bench.view().job(job).unwrap().state(), JobState::Ended(Outcome::Failed));
    }

    #[test]
    fn slow_tasks_get_second_attempts_if_hadoop_says_so() {
        let rule = Hadoop020Options { after: SimSpan::from_secs(60), ..Default::default() };
        let speculation = Speculation::By(Rule::Hadoop020(rule));
        let hadoop = Hadoop { speculation, ..Hadoop::of(HadoopLine::V020) };
        let slots = PerSlot { map: 2, reduce: 0 };
        let mut bench = PolicyBench::new(Obedient::default(), 2, slots).with_hadoop(hadoop);
        bench.submit(2, 0, |_| {});
        let [fast, slow] = bench.offer(0)[..] else { panic!("two maps") };
        bench.at(59.0).ends(fast);
        assert_eq!(bench.offer(1), []);
        let second = bench.at(61.0).offer(1)[0].attempt;
        assert_eq!(second, slow.attempt.task.attempt(1));
        bench.ends(second);
        assert_eq!(bench.carry_out(), [(slow.attempt, Order::Kill)]);
    }

    #[test]
    fn trackers_come_and_go_and_are_blacklisted() {
        let (tracker_failures, tracker_faults) = (Count::of(1), Count::of(1));
        let hadoop = Hadoop { tracker_failures, tracker_faults, ..Hadoop::of(HadoopLine::V020) };
        let slots = PerSlot { map: 1, reduce: 0 };
        let mut bench = PolicyBench::new(Obedient::default(), 12, slots).with_hadoop(hadoop);
        bench.lose(11);
        assert_eq!(bench.view().capacity(SlotKind::Map), 11);
        let job = bench.submit(2, 0, |_| {});
        let first = bench.offer(0)[0].attempt;
        bench.lose(0);
        assert_eq!((bench.running(0), bench.view().capacity(SlotKind::Map)), (vec![], 10));
        bench.join(11);
        let second = bench.offer(11)[0].attempt;
        assert_eq!(second, first.task.attempt(1), "the first was lost with its tracker");
        bench.fails(second);
        assert_eq!(bench.offer(11), [], "the job avoids the tracker");
        for _ in 0..2 {
            let map = bench.offer(1)[0];
            bench.ends(map);
        }
        assert_eq!(bench.view().job(job).unwrap().state(), JobState::Ended(Outcome::Succeeded));
        bench.submit(1, 0, |_| {});
        assert_eq!(bench.offer(11), [], "it is blacklisted");
        assert_eq!(bench.view().capacity(SlotKind::Map), 10);
    }

    #[test]
    fn a_job_that_the_policy_refuses_is_not_submitted() {
        let mut bench = bench();
        bench.policy.most_maps = Some(3);
        assert_eq!(bench.submit_unread(4, 0, |_| {}), Err(Reason::TooManyTasks(3)));
        assert_eq!(bench.view().job(JobId(0)).map(|job| job.id()), None);
        let job = bench.submit_unread(3, 0, |_| {}).unwrap();
        assert_eq!(bench.offer(0), [], "its splits are not read");
        bench.read(job);
        assert_eq!(bench.offer(0)[0].job(), job);
    }

    #[test]
    fn a_launch_tells_its_slots_and_its_reason() {
        struct Wide;
        impl Scheduler for Wide {
            fn offer(&mut self, offer: &mut Offer<'_>) {
                offer.launch_wide_map(JobId(0), 2, MapReach::Any, Reason::Sample);
            }
        }
        let mut bench = PolicyBench::new(Wide, 1, PerSlot { map: 2, reduce: 0 });
        bench.submit(1, 0, |_| {});
        let Launched { slots, reason, .. } = bench.offer(0)[0];
        assert_eq!((slots, reason), (2, Reason::Sample));
    }

    #[test]
    fn a_task_ended_by_hand_fails_or_is_killed() {
        for fails in [false, true] {
            let mut bench = bench();
            let job = bench.submit(1, 0, |job| job.settings.attempts.map = Some(Count::of(1)));
            let map = bench.offer(0)[0].attempt;
            bench.end_task(HandEnd { task: map.task, fails });
            assert_eq!(bench.carry_out(), [(map, Order::Kill)]);
            let has_failed =
                bench.view().job(job).unwrap().state() == JobState::Ended(Outcome::Failed);
            assert_eq!(has_failed, fails);
        }
    }

    #[test]
    fn calls_that_make_no_sense_are_found_out() {
        const WAITS: AttemptId = TaskId { job: JobId(0), kind: TaskKind::Map, index: 0 }.attempt(0);
        type Act = fn(&mut PolicyBench<Obedient>);
        let acts: [(u32, Act); 6] = [
            (line!(), |bench| bench.ends(WAITS)),
            (line!(), |bench| bench.progresses(WAITS, 0.5)),
            (line!(), |bench| _ = bench.at(1.0)),
            (line!(), |bench| bench.join(0)),
            (line!(), |bench| _ = (bench.lose(0), bench.offer(0))),
            (line!(), |bench| _ = bench.submit_to("too many maps", 9, 0)),
        ];
        thread_local!(static LINE: Cell<u32> = const { Cell::new(0) });
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            LINE.set(info.location().map_or(0, panic::Location::line));
            report(info);
        }));
        for (line, act) in acts {
            let mut bench = bench();
            bench.policy.most_maps = Some(8);
            bench.submit(1, 0, |_| {});
            bench.at(2.0);
            assert!(catch_unwind(AssertUnwindSafe(|| act(&mut bench))).is_err());
            assert_eq!(LINE.get(), line, "a panic names the line of the test");
        }
    }
}
