//! The JobTracker: it serves heartbeats one after another and decides which tracker runs which
//! task.
//!
//! A heartbeat that arrives while the JobTracker is busy waits in a queue. Serving a heartbeat
//! takes simulated time, so the queue grows when the cluster is too large for one JobTracker. Each
//! heartbeat is served in Hadoop's order:
//!
//! ```text
//! heartbeat ─► queue ─► reports
//!                       one setup or cleanup task, or else the policy's launches
//!                       kills
//!                       permissions to commit ─► reply
//! ```
//!
//! If a heartbeat comes a second time, it gets the same answer as before and changes nothing.

mod heartbeats;
mod options;
#[cfg(test)]
mod tests;

pub use options::{JobTrackerOptions, NotedRefusals};

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::mem;
use std::sync::Arc;

use crate::cluster::{Hdfs, JobTrackerSpec, PerSlot, SlotKind, Topology, TrackerId};
use crate::mapred::event::{Event, Fact, Incident, JobFact, Outcome, WorldFact};
use crate::mapred::hadoop::{Hadoop, Recovery};
use crate::mapred::heartbeat::{Heartbeat, HeartbeatCall};
use crate::mapred::ids::JobId;
use crate::mapred::job::{JobChange, JobState};
use crate::mapred::ledger::{Ledger, ProcessAge};
use crate::mapred::message::{
    LONGEST_PROBE, Mail, ToInjector, ToJobTracker, ToTracker, WatchedJobTracker,
};
use crate::mapred::outbox::{Core, Outbox, StopReason};
use crate::mapred::reason::{Reason, SlotStanding, WaitingTasks};
use crate::mapred::refusals::REMEMBERED_FOR;
use crate::mapred::scheduler::{Orders, PolicyReload, Scheduler, View};
use crate::mapred::speculation::Speculation;
use crate::mapred::traced::TracedInit;
use mumakil_base::units::{SimSpan, SimTime};

/// How many jobs a policy may [name](Scheduler::withheld) as held back in each heartbeat interval.
/// Naming a hundred takes microseconds of real time, about as long as serving one heartbeat.
// Chosen so that naming jobs never takes longer than serving heartbeats.
const WITHHELD_AT_ONCE: u64 = 100;

/// The JobTracker.
pub struct JobTracker {
    ledger: Ledger,
    scheduler: Box<dyn Scheduler>,
    spec: JobTrackerSpec,
    /// The heartbeats that wait, each with the instant of its arrival.
    queue: VecDeque<(SimTime, Heartbeat)>,
    busy_until: SimTime,
    /// Jobs whose splits wait to be read.
    unread: VecDeque<JobId>,
    /// How many jobs' splits are being read, without those that the policy has ordered.
    reading: u32,
    /// The jobs whose splits are being read, or will be, since the policy has ordered it.
    ordered: BTreeSet<JobId>,
    /// The earliest instant of its next check whether the cluster is idle.
    reviews_at: SimTime,
    /// The earliest instant at which it asks the policy again which jobs are held back.
    asks_withheld_at: SimTime,
    has_clockwork: bool,
    /// Whether it notes the progress in heartbeats: it does if the policy reads progress, or if
    /// slow tasks are looked for.
    reads_progress: bool,
    /// Whether a heartbeat may arrive twice.
    may_hear_twice: bool,
    /// Whether the policy decides when splits are read; otherwise its own threads read them as jobs
    /// arrive.
    reads_on_order: bool,
    /// The end of its process's pause; until then messages wait.
    stands_until: SimTime,
    /// The messages that came during the pause, except heartbeats, which wait in `queue`.
    held: Vec<ToJobTracker>,
    /// The state of its process. While the process is dead, the machine refuses heartbeats.
    process: ProcessState,
    /// How often its process has died; needed to ignore timers of an earlier process.
    deaths: u32,
    /// Whether the policy's next tick is already planned.
    has_tick: bool,
    /// The policies that will take over, in order; none of them has been used yet.
    successors: VecDeque<Box<dyn Scheduler>>,
    /// The options that policies read again, in the order of [`ToJobTracker::Reload`].
    reloads: VecDeque<PolicyReload>,
    /// The instant of the last message.
    heard_at: SimTime,
    /// The standings of pools that were emitted last; `None` if none are to be emitted.
    told: Option<PerSlot<BTreeMap<Arc<str>, SlotStanding>>>,
}

/// The state of the JobTracker's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProcessState {
    /// It runs.
    Works,
    /// It pauses.
    Still,
    /// It has died.
    Gone,
}

impl JobTracker {
    /// Returns a JobTracker that knows no tracker and no job.
    pub fn new(
        hadoop: Hadoop,
        topology: Arc<Topology>,
        hdfs: Hdfs,
        spec: JobTrackerSpec,
        scheduler: Box<dyn Scheduler>,
        options: JobTrackerOptions,
    ) -> Self {
        let knows_progress = options.asks_for_progress(&*scheduler, &hadoop);
        let reads_progress = reads_progress(&*scheduler, &hadoop);
        let mut ledger = Ledger::new(hadoop, topology, hdfs);
        ledger.knows_progress = knows_progress;
        ledger.follows_maps = options.follows_maps;
        ledger.tells_outputs = options.tells_outputs;
        ledger.refusals = options.refusals.begin();
        if let Some(seed) = options.seed {
            ledger.draw_from(seed);
        }
        Self {
            reads_progress,
            ledger,
            may_hear_twice: options.may_hear_twice,
            reads_on_order: scheduler.needs().reading,
            scheduler,
            spec,
            queue: VecDeque::new(),
            busy_until: SimTime::ZERO,
            unread: VecDeque::new(),
            reading: 0,
            ordered: BTreeSet::new(),
            reviews_at: SimTime::ZERO,
            asks_withheld_at: SimTime::ZERO,
            // The first message starts the periodic checks.
            has_clockwork: false,
            stands_until: SimTime::ZERO,
            held: Vec::new(),
            process: ProcessState::Works,
            deaths: 0,
            has_tick: false,
            successors: options.successors.into(),
            reloads: options.reloads.into(),
            heard_at: SimTime::ZERO,
            told: options.tells_standings.then(PerSlot::default),
        }
    }

    /// Returns whether trackers may leave out progress. If so, the run may make heartbeats
    /// [brief](super::HeartbeatManner::is_brief), unless the JobTracker is restarted in it: a new
    /// process would not know the last full heartbeat.
    pub fn forgoes_progress(&self) -> bool {
        !self.ledger.knows_progress
    }

    // ---- its process ----

    fn pause(&mut self, span: SimSpan, out: &mut Outbox) {
        match self.process {
            ProcessState::Works => self.note_process(ProcessState::Still, out),
            ProcessState::Still => {}
            // A dead process cannot pause, and its restart is already planned.
            ProcessState::Gone => return,
        }
        self.pause_for(span, out);
    }

    fn note_process(&mut self, state: ProcessState, out: &mut Outbox) {
        self.process = state;
        let incident = match state {
            ProcessState::Works => Incident::Back,
            ProcessState::Still => Incident::Pauses,
            ProcessState::Gone => Incident::Gone,
        };
        out.emit(Fact::befell(None, incident));
    }

    /// Pauses for a while.
    fn pause_for(&mut self, span: SimSpan, out: &mut Outbox) {
        // Two pauses may overlap: the later end counts.
        self.stands_until = self.stands_until.max(out.now + span);
        // Heartbeats wait in the queue as behind a busy JobTracker.
        self.busy_until = self.busy_until.max(self.stands_until);
        out.plan(span, ToJobTracker::Wake);
    }

    /// Ends the process for the time `span`. Only its files on disk are left; the next process
    /// reads them only if `recovers` is set.
    fn crash(&mut self, span: SimSpan, recovers: bool, out: &mut Outbox) {
        if self.process == ProcessState::Gone {
            // The process was already dead and its ledger is already reduced. So it only comes back
            // later, with the next policy.
            self.follow_policy(out);
            return self.pause_for(span, out);
        }
        // A pause ends with the process.
        self.stands_until = out.now;
        self.note_process(ProcessState::Gone, out);
        for (_, heartbeat) in self.queue.drain(..) {
            refuse(&heartbeat, out);
        }
        // The threads that read splits die with the process. `recover` queues recovered jobs again.
        self.unread.clear();
        self.reading = 0;
        self.ordered.clear();
        self.deaths += 1;
        match self.ledger.hadoop.behaviour().recovery.filter(|_| recovers) {
            Some(Recovery::Replay) => self.ledger.keep_history(out),
            Some(Recovery::Resubmit) => self.ledger.keep_submissions(out),
            None => self.ledger.fail_all(out),
        }
        self.follow_policy(out);
        // The heartbeat that was being served is lost, so no service keeps the process busy; only
        // the restart takes time.
        self.busy_until = out.now;
        self.pause_for(span, out);
    }

    /// Goes on with the next policy, which has no state yet.
    fn follow_policy(&mut self, out: &mut Outbox) {
        let Some(policy) = self.successors.pop_front() else { return };
        self.scheduler = policy;
        self.reads_progress = reads_progress(&*self.scheduler, &self.ledger.hadoop);
        self.reads_on_order = self.scheduler.needs().reading;
        // The new policy learns all jobs in their current state, so drop the changes that the old
        // policy has not seen.
        self.ledger.changes.clear();
        let halted = self.ledger.halted();
        // If the policy does not take suspended attempts over, it never resumes them. So kill them:
        // then their tasks can run again.
        if !halted.is_empty() && !self.scheduler.inherit(&halted) {
            for (attempt, _) in halted {
                self.ledger.order_end(attempt, Reason::PolicyChanged, out);
            }
        }
    }

    /// Lets the next policy take over, and tells it all jobs.
    fn change_policy(&mut self, out: &mut Outbox) {
        out.emit(Fact::World(WorldFact::PolicyChanged));
        let was_on_order = self.reads_on_order;
        self.follow_policy(out);
        // While the process is dead, the policy learns of no job; it learns of all jobs when the
        // process is back.
        if self.process != ProcessState::Gone {
            self.ledger.introduce_jobs(out.now);
            if self.reads_on_order {
                self.unread.clear();
            } else if was_on_order {
                // The threads that the last policy has sent to jobs still read these.
                let unread = self.ledger.unread_jobs().filter(|job| !self.ordered.contains(job));
                self.unread.extend(unread);
                self.read_splits(out);
            }
        }
        self.ledger.moved_at = out.now;
        if !self.has_tick {
            self.plan_tick(out);
        }
    }

    /// Lets the policy read its pools or queues again.
    fn reload(&mut self, out: &mut Outbox) {
        let Some(options) = self.reloads.pop_front() else { return };
        out.emit(Fact::World(WorldFact::Reloaded));
        let view = View { now: out.now, heard: None, ledger: &self.ledger };
        self.scheduler.reload(&view, &options);
        self.ledger.moved_at = out.now;
    }

    /// Starts the new process, which knows only what it has recovered.
    fn recover(&mut self, out: &mut Outbox) {
        self.ledger.process = ProcessAge::new(SimSpan::ZERO, out.now);
        for job in self.ledger.recover(out.now) {
            if !self.reads_on_order {
                self.unread.push_back(job);
            }
        }
        self.read_splits(out);
    }

    /// Goes on with the messages that came during the pause.
    fn wake(&mut self, out: &mut Outbox) {
        let now = out.now;
        // Another pause may have begun since this `Wake` was planned; then the later `Wake` counts.
        if now < self.stands_until || self.process == ProcessState::Works {
            return;
        }
        if self.process == ProcessState::Gone {
            self.recover(out);
        }
        self.note_process(ProcessState::Works, out);
        // The pause is the reason why nothing has changed, so do not take the cluster for stalled.
        self.ledger.moved_at = now;
        for msg in mem::take(&mut self.held) {
            // The policy learns of each message's changes before the next message, as without the
            // pause.
            self.tell_policy(None, out);
            self.take(&msg, out);
        }
    }

    // ---- jobs ----

    fn read_splits(&mut self, out: &mut Outbox) {
        while self.reading < self.spec.init_threads.get() {
            let Some(job) = self.unread.pop_front() else { break };
            if !self.reads_at_once(job, out) {
                self.reading += 1;
                let reading = self.ledger.logged_reading(job).unwrap_or(self.spec.init);
                out.plan(reading, ToJobTracker::Initialised(job, self.deaths));
            }
        }
    }

    /// Reads the splits of the jobs that the policy has named.
    fn read_ordered(&mut self, out: &mut Outbox) {
        for (job, after) in mem::take(&mut self.ledger.to_read) {
            // Drop the orders of a policy that does not read, so that they do not pile up, and those for
            // jobs that are read already: a policy that takes over may order them again.
            let is_due = self.reads_on_order && !self.ordered.contains(&job);
            if is_due && !(after.is_zero() && self.reads_at_once(job, out)) {
                self.ordered.insert(job);
                let reading = self.ledger.logged_reading(job).unwrap_or(self.spec.init);
                out.plan(after + reading, ToJobTracker::Initialised(job, self.deaths));
            }
        }
    }

    /// Reads a job's splits at once, if that takes no time. Only Mumak does so: there a heartbeat of
    /// the same instant may already find the job running.
    fn reads_at_once(&mut self, job: JobId, out: &mut Outbox) -> bool {
        let is_done = self.spec.init.is_zero() && self.ledger.hadoop.behaviour().reads_at_once;
        if is_done {
            self.tell_policy(None, out);
            self.ledger.initialise(job, out);
        }
        is_done
    }

    /// Initialises a job whose splits have been read, and lets the thread read the next job.
    fn initialise(&mut self, job: JobId, out: &mut Outbox) {
        let is_ordered = self.ordered.remove(&job);
        self.ledger.initialise(job, out);
        if !is_ordered {
            self.reading -= 1;
            return self.read_splits(out);
        }
        self.tell_policy(None, out);
        self.scheduler.splits_read(job, &mut Orders { ledger: &mut self.ledger, out });
        self.read_ordered(out);
    }

    /// Tells the policy the changes since the last call, at the instant of `out`; `heard` is the tracker whose heartbeat is
    /// served.
    fn tell_policy(&mut self, heard: Option<TrackerId>, out: &mut Outbox) {
        if self.ledger.changes.is_empty() {
            return;
        }
        // Take the list out, so that the policy can view the ledger meanwhile; put it back below to
        // reuse the memory. The policy cannot change the ledger here, so no change gets lost.
        let mut changes = mem::take(&mut self.ledger.changes);
        let view = View { now: out.now, heard, ledger: &self.ledger };
        for event in changes.drain(..) {
            if event.change == JobChange::Ended(Outcome::Succeeded) {
                // Ask before the policy forgets the job.
                self.scheduler.sizes(event.job, &mut |kind, size| {
                    out.emit(Fact::Job(event.job, JobFact::Sized(kind, size)));
                });
            }
            self.scheduler.job_changed(&view, &event);
        }
        self.ledger.changes = changes;
    }

    // ---- reviews ----

    /// Checks whether the cluster is idle, and plans the next check. The cluster cannot be idle
    /// before each tracker has sent a heartbeat after the last change, so in a busy cluster this
    /// costs little.
    fn review(&mut self, out: &mut Outbox) {
        let now = out.now;
        let interval = self.ledger.heartbeat_interval();
        // One check in each heartbeat interval is enough, since no tracker has news earlier.
        self.reviews_at = now + interval;
        self.note_withheld(out);
        self.note_standings(out);
        if now < self.ledger.moved_at + interval {
            return;
        }
        let view = View { now, heard: None, ledger: &self.ledger };
        // A policy notices only at a tick that time has passed, and may act only at the tick after
        // it: so allow two ticks.
        let ticks = self.scheduler.needs().tick_every.unwrap_or_default() * 2;
        let mut patience = (self.scheduler.patience(&view) + ticks).max(self.ledger.slowness());
        if self.ledger.follows_maps {
            // A load probe that was on its way at the last change does not know of the change. The
            // next probe does, and may find room for another job: so allow two probes.
            patience = patience.max(LONGEST_PROBE * 2);
        }
        out.calm = self.ledger.idle_state(patience);
    }

    /// Emits the standings of pools that have changed, if standings are told.
    fn note_standings(&mut self, out: &mut Outbox) {
        let Some(told) = &mut self.told else { return };
        let view = View { now: out.now, heard: None, ledger: &self.ledger };
        for kind in SlotKind::BOTH {
            let mut found = BTreeMap::new();
            self.scheduler.holdings(&view, kind, &mut |pool, standing| {
                found.insert(Arc::<str>::from(pool), standing);
            });
            let before = mem::replace(&mut told[kind], found);
            // A pool that the policy no longer lists has nothing, and nothing is due to it.
            let idle = before.keys().filter(|pool| !told[kind].contains_key(*pool));
            let gone = idle.map(|pool| (pool, SlotStanding::default()));
            let listed = told[kind].iter().map(|(pool, standing)| (pool, *standing));
            for (pool, standing) in gone.chain(listed) {
                if before.get(pool) != Some(&standing) {
                    out.emit(Fact::Pool(pool.clone(), kind, standing));
                }
            }
        }
    }

    /// Notes which jobs the policy holds back without considering them, if refusals are kept.
    /// Naming a thousand jobs takes as long as serving ten heartbeats, and jobs that are held back
    /// wait much longer than one interval. So the more jobs are named, the later the policy is
    /// asked again, but always before refusals are forgotten.
    fn note_withheld(&mut self, out: &mut Outbox) {
        let now = out.now;
        if now < self.asks_withheld_at {
            return;
        }
        // Take the refusals out, so that the policy can view the rest of the ledger meanwhile.
        let Some(mut refusals) = self.ledger.refusals.take() else { return };
        let view = View { now, heard: None, ledger: &self.ledger };
        let mut named = 0;
        self.scheduler.withheld(&view, &mut |job, kind, reason| {
            named += 1;
            // A policy may name every job that is at a limit; skip jobs without a task to launch,
            // as they do not wait. A job whose splits are not read waits with all its tasks.
            let waits = view.job(job).is_some_and(|job| match job.state() {
                JobState::Submitted => 0 < job.tasks(kind).total(),
                _ => 0 < job.pending(kind),
            });
            if waits {
                refusals.note(now, job, kind, reason);
            }
        });
        refusals.sweep(out);
        self.ledger.refusals = Some(refusals);
        let rest = self.ledger.heartbeat_interval() * (named / WITHHELD_AT_ONCE);
        self.asks_withheld_at = now + rest.min(REMEMBERED_FOR);
    }

    // ---- clockwork ----

    fn start_timers(&mut self, out: &mut Outbox) {
        if mem::replace(&mut self.has_clockwork, true) {
            return;
        }
        self.plan_expiry(out);
        self.plan_tick(out);
    }

    fn plan_expiry(&self, out: &mut Outbox) {
        // Hadoop's ExpireTrackers thread checks three times in an expiry interval.
        let third = SimSpan::from_micros(self.ledger.hadoop.expiry.as_micros().div_ceil(3));
        out.plan(self.ledger.process.until_next(out.now, third), ToJobTracker::Expire);
    }

    fn plan_tick(&mut self, out: &mut Outbox) {
        let every = self.scheduler.needs().tick_every;
        self.has_tick = every.is_some();
        if let Some(every) = every {
            out.plan(self.ledger.process.until_next(out.now, every), ToJobTracker::Tick);
        }
    }

    /// Declares silent trackers lost, and fails launches that have expired.
    fn expire(&mut self, out: &mut Outbox) {
        let now = out.now;
        let expiry = self.ledger.hadoop.expiry;
        for index in 0..self.ledger.trackers.len() {
            let tracker = &self.ledger.trackers[index];
            if tracker.is_registered && expiry < now.saturating_since(tracker.last_seen) {
                self.ledger.lose_tracker(TrackerId(index as u32), out);
            }
        }
        // Handle lost trackers first: this kills their attempts, and a killed attempt does not
        // count as a failure of its task.
        self.ledger.expire_launches(out);
        self.tell_policy(None, out);
        // Check here, too, since without trackers no heartbeat causes the check.
        self.review(out);
        self.plan_expiry(out);
        if cfg!(debug_assertions) {
            self.ledger.assert_whole(now);
        }
    }

    fn tick(&mut self, out: &mut Outbox) {
        let mut orders = Orders { ledger: &mut self.ledger, out };
        self.scheduler.tick(&mut orders);
        self.read_ordered(out);
        self.plan_tick(out);
    }

    /// Asserts the rules that hold between two messages, for the jobs and tasks of these events.
    fn assert_sound(&mut self, now: SimTime, events: &[Event]) {
        let earlier = mem::replace(&mut self.heard_at, now);
        assert!(earlier <= now, "{now}: the JobTracker was at {earlier} before");
        assert!(self.ledger.changes.is_empty(), "{now}: the policy has not heard of everything");
        let (reading, threads) = (self.reading, self.spec.init_threads.get());
        assert!(reading <= threads, "{now}: {reading} jobs are being read by {threads} threads");
        let is_busy = reading == threads;
        assert!(is_busy || self.unread.is_empty(), "{now}: a job waits though a thread is idle");
        self.ledger.assert_touched(now, events);
    }
}

/// Returns whether the progress of attempts is noted.
fn reads_progress(policy: &dyn Scheduler, hadoop: &Hadoop) -> bool {
    policy.needs().progress || hadoop.speculation != Speculation::Off
}

/// Refuses a heartbeat while the process is dead, as the machine then refuses the connection.
fn refuse(heartbeat: &Heartbeat, out: &mut Outbox) {
    let HeartbeatCall { tracker, number, .. } = heartbeat.call();
    out.affect(Mail::Tracker(tracker, ToTracker::Refused(number)));
}

impl Core for JobTracker {
    type Msg = ToJobTracker;

    fn handle(&mut self, msg: &ToJobTracker, out: &mut Outbox) {
        let now = out.now;
        use ToJobTracker as M;
        self.start_timers(out);
        let stands_still = now < self.stands_until;
        if !stands_still {
            // The pause is over, but its `Wake` is still to come. The messages that were held came
            // before this one, so handle them first.
            self.wake(out);
        }
        match msg {
            M::Heartbeat(heartbeat) if self.process == ProcessState::Gone => refuse(heartbeat, out),
            // These messages are not held during a pause: heartbeats have their own queue, and
            // faults do not wait for the process.
            M::Heartbeat(_)
            | M::Replicas(_)
            | M::Pause(_)
            | M::Restart(_)
            | M::RestartAndRecover(_)
            | M::ChangePolicy
            | M::Wake
            | M::Over => self.take(msg, out),
            _ if stands_still => self.held.push(msg.clone()),
            _ => self.take(msg, out),
        }
        self.tell_policy(None, out);
        if cfg!(debug_assertions) {
            self.assert_sound(now, &out.events);
        }
    }

    fn watch(&self) -> Option<&(dyn WatchedJobTracker + 'static)> {
        Some(self)
    }
}

impl WatchedJobTracker for JobTracker {
    fn holdings(&self, now: SimTime, kind: SlotKind, say: &mut dyn FnMut(&str, SlotStanding)) {
        let view = View { now, heard: None, ledger: &self.ledger };
        self.scheduler.holdings(&view, kind, say);
    }

    fn waiting(&self, job: JobId) -> PerSlot<WaitingTasks> {
        let Some(known) = self.ledger.job(job) else { return PerSlot::default() };
        let of = |kind| WaitingTasks {
            launchable: known.waiting(kind),
            refusal: self.ledger.refusals.as_ref().and_then(|all| all.last(job, kind)),
        };
        PerSlot { map: of(SlotKind::Map), reduce: of(SlotKind::Reduce) }
    }
}

impl JobTracker {
    fn take(&mut self, msg: &ToJobTracker, out: &mut Outbox) {
        match msg {
            ToJobTracker::Heartbeat(heartbeat) => self.queue_up(heartbeat, out),
            // Ignore this: an earlier process, now dead, has planned it.
            ToJobTracker::Serve(life) | ToJobTracker::Initialised(_, life)
                if *life != self.deaths => {}
            ToJobTracker::Serve(_) => self.serve_next(out),
            ToJobTracker::Submit(spec) => {
                let view = View { now: out.now, heard: None, ledger: &self.ledger };
                if let Some(reason) = self.scheduler.refuses(&view, spec) {
                    return self.ledger.refuse(spec, reason, out);
                }
                let job = spec.id;
                let logged = spec.traced.as_ref().and_then(|traced| traced.service.init);
                self.ledger.submit(spec.clone(), out);
                if !self.reads_on_order {
                    self.unread.push_back(job);
                } else if let Some(TracedInit::SinceSubmission(takes)) = logged {
                    // The log has the order of the policy of the time, and this policy gives its own
                    // only to jobs that are not read.
                    self.ordered.insert(job);
                    out.plan(takes, ToJobTracker::Initialised(job, self.deaths));
                }
                self.read_splits(out);
            }
            ToJobTracker::Initialised(job, _) => self.initialise(*job, out),
            ToJobTracker::AskLoad(jobs) => {
                out.send(ToInjector::Load(Arc::new(self.ledger.load(jobs))));
            }
            ToJobTracker::Replicas(files) => self.ledger.files = files.clone(),
            ToJobTracker::Exclude(tracker) => self.ledger.exclude(*tracker, out),
            ToJobTracker::Include(tracker) => self.ledger.include(*tracker, out),
            ToJobTracker::Pause(span) => self.pause(*span, out),
            ToJobTracker::Restart(span) => self.crash(*span, false, out),
            ToJobTracker::RestartAndRecover(span) => self.crash(*span, true, out),
            ToJobTracker::ChangePolicy => self.change_policy(out),
            ToJobTracker::Alter(alteration) => self.ledger.alter(alteration, out),
            ToJobTracker::EndTask(end) => self.ledger.end_task(**end, out),
            ToJobTracker::Reload => self.reload(out),
            ToJobTracker::Wake => self.wake(out),
            ToJobTracker::KillJob(job) => self.ledger.end_early(*job, Outcome::Killed, out),
            ToJobTracker::Expire => self.expire(out),
            // In Mumak the policy's tick comes after the heartbeats of the same instant: a second
            // message, `Tock`, gets in line behind these heartbeats.
            ToJobTracker::Tick if self.ledger.hadoop.behaviour().ticks_last => {
                out.plan(SimSpan::ZERO, ToJobTracker::Tock);
            }
            ToJobTracker::Tick | ToJobTracker::Tock => self.tick(out),
            ToJobTracker::Start => {}
            ToJobTracker::Rest => {
                let stall = self.ledger.stall(|job, kind| self.scheduler.width(job, kind));
                out.stop = Some(StopReason::Stalled(Box::new(stall)));
            }
            ToJobTracker::Over => {
                if let Some(refusals) = &mut self.ledger.refusals {
                    refusals.close(out);
                }
            }
        }
    }
}
