//! The facts of a run of YARN in MapReduce's words, from which all tables and reports are made, and
//! `containers.csv`.
//!
//! ```text
//! application submitted          job submitted
//! its master's container found   initialised
//! its master begins              running
//! container allocated            (waits for its master's next call)
//! launched by the master         attempt assigned
//! begun by the node              attempt started
//! finished                       attempt ended      at a heartbeat of its node
//! looked at by the master        attempt learned
//! ```
//!
//! A master chooses the task of a container when it launches it, so nobody knows it before.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{io, mem};

use parking_lot::Mutex;

use crate::application_master::LAST_OF_MASTERS;
use crate::application_master::MasterMode;
use crate::checker::YarnChecker;
use crate::event::{
    ApplicationFact, ContainerFact, NodeFact, WaitSpan, YarnEvent, YarnFact, YarnWait,
};
use crate::message::{AppId, AskPriority, ContainerEnd, ContainerId, MasterId, NodeId, Yarn};
use crate::settings::YarnPolicy;
use crate::size::YarnSize;
use mumakil_base::units::{SimSpan, SimTime};
use mumakil_core::cluster::{Speeds, Topology};
use mumakil_core::mapred::{
    AttemptFact, AttemptId, AttemptState, Event, Fact, Holders, Incident, JobFact, JobId, JobSpec,
    JobWait, LastRefusal, LedgerFact, Locality, MemberFact, Outcome, PerSlot, PhaseTimes, Reason,
    Role, SlotCounts, SlotKind, SlotStanding, Stall, TaskId, TrackerFact, TrackerId, WaitCause,
    WaitingPart, WaitingTasks, WatchedJobTracker,
};
use mumakil_core::protocol::RunStop;
use mumakil_results::tables::ContainerRow;
use mumakil_run::record::{RecordError, TableWriter};
use mumakil_runtime::{ClockPace, Ending, EventSink};
use mumakil_scenario::Scenario;

/// The reason of each launch: YARN gives no other.
const REASON: Reason = Reason::Other("a container of its application");

/// The node that each task of a job asks for, by kind and number.
pub(crate) type AskedNodes = PerSlot<Vec<Option<TrackerId>>>;

/// A translator that a run and its caller share.
pub(crate) struct TranslatedRun(pub(crate) Arc<Mutex<Translator>>);

/// Translates the facts of a run.
pub(crate) struct Translator {
    topology: Arc<Topology>,
    policy: YarnPolicy,
    master: MasterMode,
    checker: Option<YarnChecker>,
    events: Box<dyn EventSink>,
    /// The pace of a run that is watched.
    pub(crate) pace: Option<Box<dyn ClockPace>>,
    now: SimTime,
    batch: Vec<Event>,
    jobs: Vec<TranslatedJob>,
    /// The job of each application, from application 1.
    job_of: Vec<usize>,
    open: BTreeMap<ContainerId, OpenContainer>,
    reserved: BTreeMap<ContainerId, SimTime>,
    /// Whether reasons of waiting are told.
    tells_waits: bool,
    table: Option<TableWriter<ContainerRow>>,
    failure: Option<RecordError>,
    /// The mistake of Hadoop's own that has ended the ResourceManager.
    fault: Option<String>,
}

/// A job, as far as its run has come.
struct TranslatedJob {
    spec: Arc<JobSpec>,
    /// The nodes that its tasks ask for.
    asked: AskedNodes,
    /// The tasks that run in no container.
    waiting: PerSlot<BTreeSet<u32>>,
    /// How many attempts each task has had.
    tries: PerSlot<Vec<u32>>,
    /// When its master first asked for tasks of a kind.
    asks_since: PerSlot<SimTime>,
    running: PerSlot<u32>,
    done: PerSlot<u32>,
    succeeded: Vec<(AttemptId, TrackerId)>,
    /// Why it waits, and since when.
    waits: Option<(YarnWait, SimTime)>,
    is_submitted: bool,
    has_container: bool,
    is_running: bool,
    is_over: bool,
}

/// A container whose row is not written yet.
struct OpenContainer {
    node: TrackerId,
    attempt: Option<AttemptId>,
    is_started: bool,
    row: ContainerRow,
}

impl TranslatedJob {
    fn new(spec: Arc<JobSpec>, asked: AskedNodes) -> Self {
        let tasks = PerSlot { map: spec.maps, reduce: spec.reduces };
        Self {
            spec,
            asked,
            waiting: PerSlot::of(|kind| (0..tasks[kind]).collect()),
            tries: PerSlot::of(|kind| vec![0; tasks[kind] as usize]),
            asks_since: PerSlot { map: SimTime::ZERO, reduce: SimTime::ZERO },
            running: PerSlot::default(),
            done: PerSlot::default(),
            succeeded: Vec::new(),
            waits: None,
            is_submitted: false,
            has_container: false,
            is_running: false,
            is_over: false,
        }
    }

    fn counts(&self, kind: SlotKind) -> SlotCounts {
        SlotCounts { running: self.running[kind], pending: self.waiting[kind].len() as u32 }
    }

    /// Returns the reason for which it has waited for such a time.
    fn reason(&self, wait: YarnWait, waited: SimSpan) -> Reason {
        match wait {
            YarnWait::Activation => Reason::JobLimit,
            YarnWait::Offer => Reason::Other("no node was offered"),
            YarnWait::Share => Reason::Other("others come before it"),
            YarnWait::QueueMaximum => {
                Reason::GroupLimit(SlotStanding::of(self.running.map + self.running.reduce))
            }
            YarnWait::UserLimit => Reason::UserLimit,
            YarnWait::Locality => Reason::Delay(waited),
            YarnWait::Room => Reason::NoRoom,
            YarnWait::Acquisition | YarnWait::Launch => Reason::NextHeartbeat,
        }
    }

    fn wait(&self, who: WaitingPart, count: u32, words: &'static str) -> JobWait {
        JobWait { job: self.spec.name.clone(), who, count, on: WaitCause::Foreign(words) }
    }

    /// Returns a new attempt of a task.
    fn attempt(&mut self, kind: SlotKind, index: u32) -> AttemptId {
        let tries = &mut self.tries[kind][index as usize];
        *tries += 1;
        TaskId { job: self.spec.id, kind: kind.into(), index }.attempt(*tries - 1)
    }

    /// Returns the task at a place of its master's list: first the maps, then the reduces.
    fn task_at(&self, place: u32) -> (SlotKind, u32) {
        match place.checked_sub(self.spec.maps) {
            Some(reduce) => (SlotKind::Reduce, reduce),
            None => (SlotKind::Map, place),
        }
    }
}

impl EventSink<YarnEvent> for TranslatedRun {
    fn take(&mut self, events: &mut Vec<YarnEvent>) {
        let translator = &mut *self.0.lock();
        translator.checker.as_mut().into_iter().for_each(|checker| checker.take(events));
        for YarnEvent { at, fact } in events.drain(..) {
            translator.now = at;
            translator.see(at, fact);
        }
        translator.pace.iter_mut().for_each(|pace| pace.see(&translator.batch));
        translator.events.take(&mut translator.batch);
    }

    fn flush(&mut self) {
        self.0.lock().events.flush();
    }

    fn is_broken(&self) -> bool {
        let translator = self.0.lock();
        translator.failure.is_some() || translator.events.is_broken()
    }
}

impl ClockPace<Yarn> for TranslatedRun {
    // The pace sees the translated events.
    fn see(&mut self, _: &[YarnEvent]) {}

    fn wait(&mut self, at: SimTime, (): &()) -> bool {
        let translator = &mut *self.0.lock();
        let Some(mut pace) = translator.pace.take() else { return true };
        let goes_on = pace.wait(at, translator);
        translator.pace = Some(pace);
        goes_on
    }
}

impl WatchedJobTracker for Translator {
    // Queues have no shares of slots.
    fn holdings(&self, _: SimTime, _: SlotKind, _: &mut dyn FnMut(&str, SlotStanding)) {}

    fn waiting(&self, id: JobId) -> PerSlot<WaitingTasks> {
        let Some(job) = self.jobs.iter().find(|job| job.spec.id == id) else {
            return PerSlot::default();
        };
        let refusal = job.waits.map(|(wait, from)| {
            let (reason, last) = (job.reason(wait, self.now - from), self.now);
            LastRefusal { reason, from, last, times: 1 }
        });
        PerSlot::of(|kind| WaitingTasks { launchable: job.waiting[kind].len() as u32, refusal })
    }
}

impl Translator {
    /// Returns the translator of a run that has not begun. `jobs` have the nodes that their tasks ask
    /// for.
    pub(crate) fn new(
        topology: Arc<Topology>,
        jobs: Vec<(Arc<JobSpec>, AskedNodes)>,
        scenario: &Scenario,
        master: MasterMode,
        checker: Option<YarnChecker>,
        events: Box<dyn EventSink>,
        folder: Option<&Path>,
    ) -> Result<Self, (PathBuf, io::Error)> {
        let table = folder.map(TableWriter::create).transpose().map_err(parts)?;
        let translator = Self {
            policy: YarnPolicy::named(&scenario.scheduler.name),
            master,
            checker,
            events,
            pace: None,
            now: SimTime::ZERO,
            batch: Vec::new(),
            jobs: jobs.into_iter().map(|(spec, asked)| TranslatedJob::new(spec, asked)).collect(),
            job_of: Vec::new(),
            open: BTreeMap::new(),
            reserved: BTreeMap::new(),
            tells_waits: scenario.record.decisions,
            table,
            failure: None,
            fault: None,
            topology,
        };
        Ok(translator)
    }

    fn tell(&mut self, at: SimTime, fact: Fact) {
        self.batch.push(Event { at, fact });
    }

    fn see(&mut self, at: SimTime, fact: YarnFact) {
        match fact {
            YarnFact::Beat(node) => {
                let (rtt, queued) = (SimSpan::ZERO, SimSpan::ZERO);
                let beat = TrackerFact::Heartbeat { rtt, queued };
                self.tell(at, Fact::Tracker(TrackerId(node.0), beat));
            }
            YarnFact::Container(id, ContainerFact::Allocated(node, size, priority)) => {
                self.allocated(at, id, node, size, priority);
            }
            YarnFact::Container(id, ContainerFact::Reserved(..)) => {
                self.reserved.entry(id).or_insert(at);
            }
            YarnFact::Container(id, fact) => self.container(at, id, &fact),
            YarnFact::Application(master, fact) => self.application(at, master, fact),
            YarnFact::Fault(words) => self.fault = Some(words),
            YarnFact::Node(node, fact) => self.node(at, TrackerId(node.0), fact),
            YarnFact::Waits(master, span, next) => {
                self.jobs[master.index()].waits = next.map(|wait| (wait, at));
                if let Some(span) = span.filter(|_| self.tells_waits) {
                    self.waited(at, master, span);
                }
            }
            YarnFact::Share(_) => {}
        }
    }

    fn node(&mut self, at: SimTime, id: TrackerId, fact: NodeFact) {
        match fact {
            NodeFact::Registered => {
                let slots = self.topology.node(id).slots;
                if SimTime::ZERO < at {
                    self.tell(at, Fact::befell(id, Incident::MachineOn));
                }
                self.tell(at, Fact::Tracker(id, TrackerFact::Up(slots)));
                self.tell(at, Fact::Member(id, MemberFact::Joined));
            }
            NodeFact::Stopped => {
                let there = self.open.iter_mut().filter(|(_, container)| container.node == id);
                let started = there.filter_map(|(_, container)| {
                    container.attempt.filter(|_| mem::take(&mut container.is_started))
                });
                for attempt in started.collect::<Vec<_>>() {
                    self.end_work(at, attempt, id, Outcome::Killed);
                }
                self.tell(at, Fact::Tracker(id, TrackerFact::Down));
                self.tell(at, Fact::befell(id, Incident::MachineOff));
            }
            NodeFact::Slowed(factor) => {
                let speeds = Speeds { cpu: 1.0 / factor.get(), ..Speeds::USUAL };
                self.tell(at, Fact::befell(id, Incident::Speeds(speeds)));
            }
            NodeFact::Lost => self.tell(at, Fact::Member(id, MemberFact::Lost)),
        }
    }

    /// Tells why an application has waited.
    fn waited(&mut self, at: SimTime, master: MasterId, span: WaitSpan) {
        let job = &self.jobs[master.0 as usize];
        let kind = match job.waiting.map.is_empty() && job.running.map == 0 {
            true => SlotKind::Reduce,
            false => SlotKind::Map,
        };
        let reason = job.reason(span.reason, at.saturating_since(span.from));
        let (from, to, times) = (span.from, at, span.times.max(1));
        let holders = Holders::NONE;
        let fact = JobFact::Refused { kind, from, to, times, reason, holders };
        let id = job.spec.id;
        self.tell(at, Fact::Job(id, fact));
    }

    fn application(&mut self, at: SimTime, master: MasterId, fact: ApplicationFact) {
        let place = master.0 as usize;
        let id = self.jobs[place].spec.id;
        match fact {
            ApplicationFact::Submitted(_) => {
                self.job_of.push(place);
                self.jobs[place].is_submitted = true;
                let spec = self.jobs[place].spec.clone();
                self.tell(at, Fact::Job(id, JobFact::Submitted(spec)));
            }
            ApplicationFact::Rejected(why) => {
                self.jobs[place].is_over = true;
                // A reason has words that live for ever; few jobs of a run are refused.
                let reason = Reason::Other(why.leak());
                self.tell(at, Fact::Job(id, JobFact::SubmissionRefused(reason)));
            }
            ApplicationFact::MasterStarted => {
                let was_running = mem::replace(&mut self.jobs[place].is_running, true);
                // A new attempt of MapReduce's master goes on where the old one was.
                if was_running && self.master == MasterMode::MapReduce {
                    return;
                } else if was_running {
                    self.begin_anew(at, place);
                }
                self.tell(at, Fact::Job(id, JobFact::Running));
            }
            ApplicationFact::MapsAsked => self.jobs[place].asks_since.map = at,
            ApplicationFact::ReducesAsked => self.jobs[place].asks_since.reduce = at,
            ApplicationFact::Finished | ApplicationFact::Failed => {
                let job = &mut self.jobs[place];
                if mem::replace(&mut job.is_over, true) {
                    return;
                }
                let tasks = u64::from(job.spec.maps) + u64::from(job.spec.reduces);
                let outcome = match job.succeeded.len() as u64 == tasks {
                    true => Outcome::Succeeded,
                    false => Outcome::Failed,
                };
                self.tell(at, Fact::Job(id, JobFact::Ended(outcome)));
            }
            ApplicationFact::Placed(_)
            | ApplicationFact::Asked(..)
            | ApplicationFact::Registered
            | ApplicationFact::AttemptFailed
            | ApplicationFact::Removed
            | ApplicationFact::MasterReleased => {}
        }
    }

    /// Begins a job anew: its master was lost, and with it all that its tasks had done.
    fn begin_anew(&mut self, at: SimTime, place: usize) {
        let id = self.jobs[place].spec.id;
        self.tell(at, Fact::Job(id, JobFact::BegunAnew));
        let open = self.open.keys().copied();
        let own: Vec<ContainerId> =
            open.filter(|id| self.place_of(id.app) == Some(place)).collect();
        own.into_iter().for_each(|id| self.kill(at, id));
        for (attempt, tracker) in mem::take(&mut self.jobs[place].succeeded) {
            self.lose_output(at, place, attempt, tracker);
        }
    }

    /// Makes a success void: the task is done again.
    fn lose_output(&mut self, at: SimTime, place: usize, attempt: AttemptId, tracker: TrackerId) {
        let job = &mut self.jobs[place];
        job.waiting[attempt.slot()].insert(attempt.task.index);
        job.done[attempt.slot()] -= 1;
        self.learn(at, place, attempt, tracker, AttemptState::Killed);
    }

    /// Gives a container a row. With one for its master, a job is initialised.
    fn allocated(
        &mut self,
        at: SimTime,
        id: ContainerId,
        node: NodeId,
        size: YarnSize,
        priority: AskPriority,
    ) {
        let Some(place) = self.place_of(id.app) else { return };
        let node = TrackerId(node.0);
        let job = &mut self.jobs[place];
        let job_id = job.spec.id;
        let is_first_master =
            priority <= LAST_OF_MASTERS && !mem::replace(&mut job.has_container, true);
        let row = ContainerRow {
            job: job_id.0,
            number: id.number,
            kind: "none".into(),
            priority: priority.unsigned_abs(),
            node: self.name_of(node).as_str().into(),
            memory_mib: size.memory.unsigned_abs(),
            cores: size.cores.unsigned_abs(),
            reserved_ms: self.reserved.remove(&id).map(SimTime::as_millis),
            allocated_ms: at.as_millis(),
            ..ContainerRow::default()
        };
        self.open.insert(id, OpenContainer { node, attempt: None, is_started: false, row });
        if is_first_master {
            self.tell(at, Fact::Job(job_id, JobFact::Initialised));
        }
    }

    /// Lets a container stand for the task for which its master launches it.
    fn assign(&mut self, at: SimTime, place: usize, id: ContainerId, task: u32) {
        let (kind, index) = self.jobs[place].task_at(task);
        if !self.jobs[place].waiting[kind].remove(&index) {
            self.take_back(at, place, id.app, (kind, index));
        }
        let job = &mut self.jobs[place];
        let attempt = job.attempt(kind, index);
        let asked = job.asked[kind].get(index as usize).copied().flatten();
        let host = asked.map(|node| self.name_of(node)).unwrap_or_default();
        let (job, Some(container)) = (&mut self.jobs[place], self.open.get_mut(&id)) else {
            return;
        };
        job.running[kind] += 1;
        container.attempt = Some(attempt);
        container.row.kind = kind.word().into();
        container.row.task = Some(index);
        container.row.asked_host = host.as_str().into();
        let locality = asked
            .filter(|_| kind == SlotKind::Map)
            .and_then(|asked| Locality::of(container.node, &[asked], &self.topology));
        let fact = LedgerFact::Assigned {
            role: Role::Work,
            locality,
            speculative: false,
            reason: REASON,
            waited: at.saturating_since(job.asks_since[kind]),
            counts: job.counts(kind),
        };
        let node = container.node;
        self.tell(at, Fact::Ledger(attempt, node, fact));
    }

    fn name_of(&self, node: TrackerId) -> String {
        let names = self.topology.names(node);
        names.map_or_else(|| node.to_string(), |(_, host)| host.to_owned())
    }

    fn place_of(&self, app: AppId) -> Option<usize> {
        self.job_of.get(app.index().checked_sub(1)?).copied()
    }

    /// Tells the master's verdict on an attempt.
    fn learn(
        &mut self,
        at: SimTime,
        place: usize,
        attempt: AttemptId,
        node: TrackerId,
        state: AttemptState,
    ) {
        let counts = self.jobs[place].counts(attempt.slot());
        self.tell(at, Fact::Ledger(attempt, node, LedgerFact::Learned { state, counts }));
    }

    /// Ends the attempt of a container that was lost; its task waits again.
    fn kill(&mut self, at: SimTime, id: ContainerId) {
        let (Some(place), Some(container)) = (self.place_of(id.app), self.open.get_mut(&id)) else {
            return;
        };
        let Some(attempt) = container.attempt.take() else { return };
        let (node, was_started) = (container.node, mem::take(&mut container.is_started));
        if was_started {
            self.end_work(at, attempt, node, Outcome::Killed);
        }
        let job = &mut self.jobs[place];
        let kind = attempt.slot();
        job.running[kind] = job.running[kind].saturating_sub(1);
        job.waiting[kind].insert(attempt.task.index);
        self.learn(at, place, attempt, node, AttemptState::Killed);
    }

    fn end_work(&mut self, at: SimTime, attempt: AttemptId, node: TrackerId, outcome: Outcome) {
        let (role, phases) = (Role::Work, PhaseTimes::default());
        let fact = AttemptFact::Ended { role, outcome, phases };
        self.tell(at, Fact::Attempt(attempt, node, fact));
    }

    fn container(&mut self, at: SimTime, id: ContainerId, fact: &ContainerFact) {
        let (Some(place), Some(container)) = (self.place_of(id.app), self.open.get_mut(&id)) else {
            return;
        };
        let (node, attempt, ms) = (container.node, container.attempt, at.as_millis());
        let row = &mut container.row;
        match *fact {
            ContainerFact::Assigned(task) => self.assign(at, place, id, task),
            ContainerFact::IsMaster => row.kind = "am".into(),
            ContainerFact::Acquired => {
                let span = ms.saturating_sub(row.allocated_ms);
                row.acquired_ms = Some(ms);
                row.acquisition_ms = Some(span);
                self.tell(at, Fact::Span("acquisition", SimSpan::from_millis(span)));
            }
            ContainerFact::Launched => {
                row.launched_ms = Some(ms);
                row.launch_ms = row.acquired_ms.map(|acquired| ms.saturating_sub(acquired));
                let span = SimSpan::from_millis(row.launch_ms.unwrap_or(0));
                container.is_started = attempt.is_some();
                self.tell(at, Fact::Span("container_launch", span));
                if let Some(attempt) = attempt {
                    let (role, slots) = (Role::Work, 1);
                    let fact = AttemptFact::Started { role, slots };
                    self.tell(at, Fact::Attempt(attempt, node, fact));
                }
            }
            ContainerFact::Running => row.running_ms = Some(ms),
            ContainerFact::Done => {
                let attempt = container.attempt.take();
                self.end_by_itself(at, id, attempt);
                if let Some(attempt) = attempt {
                    self.succeed(at, place, attempt, node);
                }
            }
            ContainerFact::Finished(end) => {
                row.finished_ms = Some(ms);
                if end.is_some() {
                    self.end_by_itself(at, id, attempt);
                }
            }
            ContainerFact::Ended(end) => {
                row.exit = match end {
                    ContainerEnd::Completed => "completed",
                    ContainerEnd::Killed => "killed",
                    ContainerEnd::Expired => "expired",
                    ContainerEnd::Failed => "failed",
                    ContainerEnd::Lost => "lost",
                    ContainerEnd::Released => "released",
                }
                .into();
                if end != ContainerEnd::Completed {
                    self.kill(at, id);
                }
            }
            ContainerFact::Heard => {
                row.heard_ms = Some(ms);
                if let Some(attempt) = attempt {
                    self.succeed(at, place, attempt, node);
                }
                // A killed container has news of its node still to come.
                if self.open[&id].row.finished_ms.is_some() {
                    self.write(id);
                }
            }
            ContainerFact::Reserved(..)
            | ContainerFact::Unreserved(..)
            | ContainerFact::Allocated(..) => {}
        }
    }

    /// Ends the work of a container's attempt, if it has one that has begun.
    fn end_by_itself(&mut self, at: SimTime, id: ContainerId, attempt: Option<AttemptId>) {
        let Some(container) = self.open.get_mut(&id) else { return };
        let (node, was_started) = (container.node, mem::take(&mut container.is_started));
        if let Some(attempt) = attempt.filter(|_| was_started) {
            self.end_work(at, attempt, node, Outcome::Succeeded);
        }
    }

    /// Takes a task from the container that stands for it, or makes its success void.
    fn take_back(&mut self, at: SimTime, place: usize, app: AppId, task: (SlotKind, u32)) {
        let holder = self.open.iter().find(|(other, container)| {
            let attempt = container.attempt.map(|it| (it.slot(), it.task.index));
            other.app == app && attempt == Some(task)
        });
        if let Some(holder) = holder.map(|(id, _)| *id) {
            self.kill(at, holder);
        }
        let succeeded = &mut self.jobs[place].succeeded;
        let done = succeeded.iter().position(|(of, _)| (of.slot(), of.task.index) == task);
        if let Some((attempt, tracker)) = done.map(|at| succeeded.swap_remove(at)) {
            self.lose_output(at, place, attempt, tracker);
        }
        self.jobs[place].waiting[task.0].remove(&task.1);
    }

    fn succeed(&mut self, at: SimTime, place: usize, attempt: AttemptId, node: TrackerId) {
        let job = &mut self.jobs[place];
        let kind = attempt.slot();
        job.running[kind] = job.running[kind].saturating_sub(1);
        job.succeeded.push((attempt, node));
        job.done[kind] += 1;
        let is_last = kind == SlotKind::Map && job.done.map == job.spec.maps;
        let id = job.spec.id;
        self.learn(at, place, attempt, node, AttemptState::Succeeded);
        if is_last {
            self.tell(at, Fact::Job(id, JobFact::MapsDone));
        }
    }

    /// Writes the row of a container, and forgets it.
    fn write(&mut self, id: ContainerId) {
        let (Some(container), Some(table)) = (self.open.remove(&id), &mut self.table) else {
            return;
        };
        if let Err(error) = table.row(&container.row) {
            self.failure.get_or_insert(error);
        }
    }

    /// Returns the rules that were broken, each with its instant in words.
    pub(crate) fn breaches(&self) -> Vec<String> {
        self.checker.as_ref().map_or_else(Vec::new, |checker| checker.breaches().to_vec())
    }

    /// Completes the table, and returns how the run ended.
    pub(crate) fn end(&mut self, ending: Ending) -> Result<Ending, (PathBuf, io::Error)> {
        let left: Vec<ContainerId> = self.open.keys().copied().collect();
        left.into_iter().for_each(|id| self.write(id));
        if let Some(table) = &mut self.table
            && let Err(error) = table.finish()
        {
            self.failure.get_or_insert(error);
        }
        // The recorder reads these events only when their sender is gone.
        self.events = Box::new(());
        if let Some(error) = self.failure.take() {
            return Err(parts(error));
        }
        let ending = match ending {
            _ if self.fault.is_some() => {
                Ending::PolicyFailed(self.fault.take().unwrap_or_default())
            }
            Ending::Stopped(RunStop::Stalled(_)) => {
                Ending::Stopped(RunStop::Stalled(Box::new(self.stall())))
            }
            ending => ending,
        };
        Ok(ending)
    }

    /// Returns what each job waits for, if nothing happens any more.
    fn stall(&self) -> Stall {
        const TASKS: &str = "for containers, of which the scheduler gives none";
        let mut waiting = Vec::new();
        for job in self.jobs.iter().filter(|job| job.is_submitted && !job.is_over) {
            if !job.is_running {
                waiting.push(job.wait(WaitingPart::Job, 1, self.policy.stalled_master()));
                continue;
            }
            for kind in SlotKind::BOTH {
                let count = job.waiting[kind].len() as u32;
                if 0 < count {
                    waiting.push(job.wait(WaitingPart::Task(kind), count, TASKS));
                }
            }
        }
        let (held, trackers) = (Vec::new(), self.topology.len());
        Stall { waiting, held, trackers, slots: self.topology.slots() }
    }
}

/// Returns the file that could not be written, and why.
fn parts(error: RecordError) -> (PathBuf, io::Error) {
    match error {
        RecordError::Write { path, source } => (path, source),
        other => (PathBuf::from("containers.csv"), io::Error::other(other)),
    }
}
