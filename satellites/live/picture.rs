//! The picture of a run on the page: who holds each slot, how far each job is, the shares of the
//! pools, and the reasons of decisions.
//!
//! Like the tables, the picture is made from events alone; it knows neither the page nor the clock.
//! ```text
//! PageLayout (once)    node-1: 2 map slots, 1 reduce slot      node-2: 2 map slots, 1 reduce slot
//! Frame.slots (often)  [  0,  0,            -1,                  0, -1,             -1 ]
//!                       job 0 holds both   free
//! ```
//! Slots are numbers, so that a frame of thousands of nodes stays small.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::history::{COLOURS, HistoryPoints, SlotHistory};

use mumakil_base::units::{SimSpan, SimTime};
use mumakil_core::cluster::{PerSlot, SlotKind, Topology, TrackerId};
use mumakil_core::mapred::{
    AttemptId, AttemptState, Event, Fact, Hadoop, JobFact, JobId, JobSpec, LedgerFact, MemberFact,
    Order, Outcome, Reason, Role, SlotShare, SlotStanding, TaskKind, TrackerFact, WaitingTasks,
    WorldFact,
};
use mumakil_run::emulation::Prepared;
use mumakil_run::record::{BookedJob, RunBooks};
use mumakil_runtime::WatchedJobTracker;

/// A free slot, in a frame.
pub const FREE: i64 = -1;
/// A slot of a stopped machine or tracker, in a frame.
pub const DOWN: i64 = -2;

/// The number of decisions and incidents that the page lists.
// Chosen: more lines than a screen shows beside the slots.
const SAID: usize = 40;
/// The number of latest heartbeats and launches whose latencies a frame summarises.
// Enough for ten values above the 99th percentile; each frame sorts them anew.
const WINDOW: usize = 1_000;
/// The most jobs that the page lists.
// A frame is sent thirty times a second: thousands of rows would fill the connection.
const JOBS: usize = 200;
// The most ended jobs among the listed ones.
const ENDED: usize = 20;
/// The most jobs that are named as holders of the slots that a job waits for.
// Chosen: a line of text.
const HOLDERS: usize = 4;
/// The reason why tasks wait that no longer wait for a slot.
const ABOUT_TO_START: &str = "launched, and about to start";

/// The groups by which the page colours slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PageGrouping {
    /// By job.
    Job,
    /// By pool or queue.
    Pool,
    /// By user.
    User,
}

impl PageGrouping {
    /// All groupings, in their order.
    pub const ALL: [Self; 3] = [Self::Job, Self::Pool, Self::User];
}

/// The picture of a run.
pub struct LivePicture {
    books: RunBooks,
    /// The settings of the cluster, which hold for jobs without settings of their own.
    hadoop: Hadoop,
    nodes: Vec<PictureNode>,
    /// The counts of each job's tasks, by job number.
    jobs: Vec<JobTally>,
    /// The jobs that have not ended, in the order of their arrival.
    live: Vec<JobId>,
    /// The jobs that ended most recently.
    over: VecDeque<JobId>,
    /// The slots and shares of pools, as the policy said when it was last asked.
    weighed: BTreeMap<String, PerSlot<Option<SlotStanding>>>,
    /// How the listed jobs wait, as the JobTracker said when it was last asked.
    waiting: BTreeMap<JobId, PerSlot<WaitingTasks>>,
    /// The last launch of a task for each kind of slot.
    launched: PerSlot<Option<PictureRemark>>,
    history: SlotHistory,
    /// The pools and the users in the order of their first jobs, which gives them their colours.
    names: [Vec<Arc<str>>; 2],
    said: VecDeque<PictureRemark>,
    beats: u64,
    round_trips: Window,
    queued: Window,
    waited: Window,
    /// The current policy, and the policies that take over later, in their order.
    policies: VecDeque<String>,
}

/// A node: how many slots it has, and which attempts hold them.
struct PictureNode {
    /// How many slots the node has now; none while its tracker is down.
    has: PerSlot<u32>,
    /// The attempt that holds each slot, for the most slots that the node ever has.
    slots: PerSlot<Vec<Option<AttemptId>>>,
}

/// The counts of a job's tasks.
#[derive(Clone, Copy, Default)]
struct JobTally {
    /// The slots that tasks hold.
    held: PerSlot<u32>,
    done: PerSlot<u32>,
    /// The tasks that the history counts as waiting.
    waits: PerSlot<u32>,
    /// All slots that the history counts as held: also those of setup and cleanup tasks.
    slots: PerSlot<u32>,
    /// The colours of the job, its pool and its user.
    colours: [u8; PageGrouping::ALL.len()],
}

/// A line on the page: a decision or an incident.
struct PictureRemark {
    at: SimTime,
    what: RemarkKind,
}

enum RemarkKind {
    Launched { attempt: AttemptId, tracker: TrackerId, reason: Reason },
    Ordered { attempt: AttemptId, tracker: TrackerId, order: Order, reason: Reason },
    Ended { job: JobId, outcome: Outcome },
    Refused { job: JobId, reason: Reason },
    Befell { tracker: Option<TrackerId>, words: &'static str },
    Policy(String),
}

/// The last [`WINDOW`] latencies of a kind.
#[derive(Default)]
struct Window(VecDeque<u64>);

impl Window {
    fn add(&mut self, span: SimSpan) {
        if self.0.len() == WINDOW {
            self.0.pop_front();
        }
        self.0.push_back(span.as_micros());
    }

    /// Returns the median, the 99th percentile and the largest; `None` without values.
    fn quantiles(&self) -> Option<[u64; 3]> {
        let mut sorted: Vec<u64> = self.0.iter().copied().collect();
        sorted.sort_unstable();
        let last = sorted.len().checked_sub(1)?;
        Some([sorted[last / 2], sorted[last * 99 / 100], sorted[last]])
    }
}

/// The fixed part of the page.
#[derive(Debug, Serialize)]
pub struct PageLayout {
    /// The name of the scenario.
    pub scenario: String,
    /// The seed.
    pub seed: u64,
    /// The names of the racks.
    pub racks: Vec<String>,
    /// The nodes: name, index of the rack, map slots, reduce slots. A [`Frame`] lists the slots in
    /// this order, and in each node the map slots first.
    pub nodes: Vec<(String, u32, u32, u32)>,
    /// The names of all policies.
    pub policies: Vec<String>,
    /// The grouping by which the page colours slots at first.
    pub colour: PageGrouping,
}

/// The changing part of the page.
#[derive(Debug, Serialize)]
pub struct Frame {
    /// The number of the job that holds each slot, [`FREE`] or [`DOWN`].
    pub slots: Vec<i64>,
    /// The listed jobs: first the jobs that go on, then the jobs that ended last.
    pub jobs: Vec<JobRow>,
    /// The numbers of submitted jobs, of ended jobs, and of jobs that go on but are not listed.
    pub counts: [u64; 3],
    /// The pools or queues of the jobs that have not ended.
    pub pools: Vec<GroupRow>,
    /// The users of the jobs that have not ended.
    pub users: Vec<GroupRow>,
    /// The last decisions and incidents, the newest first.
    pub said: Vec<SaidRow>,
    /// The number of answered heartbeats.
    pub beats: u64,
    /// The times from a heartbeat to its reply, in µs: median, 99th percentile and largest of the
    /// last thousand; `None` before the first reply.
    pub round_trip: Option<[u64; 3]>,
    /// The times that the last thousand heartbeats waited in the JobTracker's queue, in the same
    /// form.
    pub queued: Option<[u64; 3]>,
    /// The times that the last thousand tasks waited for their launch, in the same form.
    pub waited: Option<[u64; 3]>,
    /// The current policy.
    pub policy: String,
    /// The pools, and the users, in the order of their colours.
    pub names: [Vec<Arc<str>>; 2],
}

/// A job in a frame.
#[derive(Debug, Serialize)]
pub struct JobRow {
    /// The job's number.
    pub id: u32,
    /// The job's name.
    pub name: Arc<str>,
    /// The job's user.
    pub user: Arc<str>,
    /// The job's pool or queue.
    pub pool: Arc<str>,
    /// The job's outcome; `None` while the job goes on.
    pub ended: Option<&'static str>,
    /// The numbers of the job's maps: all, done, and in a slot.
    pub maps: [u32; 3],
    /// The numbers of the job's reduces: all, done, and in a slot.
    pub reduces: [u32; 3],
    /// When the job was submitted, in microseconds.
    pub submitted_us: u64,
    /// When the job ended, in microseconds; `None` while the job goes on.
    pub ended_us: Option<u64>,
}

/// A pool, a queue or a user in a frame.
#[derive(Debug, Serialize)]
pub struct GroupRow {
    /// The name of the pool, queue or user.
    pub name: Arc<str>,
    /// The number of jobs that have not ended.
    pub jobs: u32,
    /// The numbers of map slots held, and of map tasks that wait.
    pub maps: [u32; 2],
    /// The numbers of reduce slots held, and of reduce tasks that wait.
    pub reduces: [u32; 2],
    /// The pool's shares of map and reduce slots, as the policy computed them last; `None` if
    /// unknown.
    pub share: [Option<f64>; 2],
    /// The minimum shares of map and reduce slots that the policy promises the pool; `None` for no
    /// promise.
    pub min_share: [Option<u32>; 2],
}

/// A decision or an incident in a frame.
#[derive(Debug, Serialize)]
pub struct SaidRow {
    /// When it happened, in microseconds.
    pub at_us: u64,
    /// The kind: `launch`, `kill`, `suspend`, `resume`, `job`, `incident` or `policy`.
    pub what: &'static str,
    /// The attempt, job, machine or policy that the row is about.
    pub whom: String,
    /// The node of the attempt; `None` if the row is about no attempt.
    #[serde(rename = "where")]
    pub place: Option<String>,
    /// The reason for a decision, or the description of an incident.
    pub why: String,
}

/// The reason why an attempt holds a slot.
#[derive(Debug, Serialize)]
pub struct HoldReason {
    /// The node that has the slot.
    pub node: String,
    /// The attempt that holds the slot.
    pub attempt: String,
    /// The job's number.
    pub job: u32,
    /// The job's name.
    pub name: Arc<str>,
    /// The job's user.
    pub user: Arc<str>,
    /// The job's pool or queue.
    pub pool: Arc<str>,
    /// When the attempt was assigned, in microseconds.
    pub assigned_us: Option<u64>,
    /// When the attempt's work began, in microseconds.
    pub started_us: Option<u64>,
    /// The locality of the attempt's input: on the node, in the rack, elsewhere.
    pub locality: Option<&'static str>,
    /// Whether another attempt of the task was running when this attempt was launched.
    pub speculative: bool,
    /// The code of the policy's reason; `None` if no reason is known.
    pub code: Option<&'static str>,
    /// The policy's reason, in words.
    pub reason: Option<String>,
}

/// The details of a job, which the page asks for.
#[derive(Debug, Serialize)]
pub struct JobStory {
    /// The job's row in the list.
    #[serde(flatten)]
    pub row: JobRow,
    /// The job's class.
    pub class: Arc<str>,
    /// When the job's splits were read, in microseconds.
    pub initialised_us: Option<u64>,
    /// When the job's first task was assigned, in microseconds.
    pub first_launch_us: Option<u64>,
    /// When the job's maps were done, in microseconds.
    pub maps_done_us: Option<u64>,
    /// The numbers of the job's maps with input on the node, in the rack, and elsewhere.
    pub locality: [u64; 3],
    /// The numbers of failed attempts, killed attempts, and suspensions.
    pub ill: [u32; 3],
    /// How its maps wait, and its reduces; `None` if none waits.
    pub waits: [Option<WaitStory>; 2],
}

/// Why tasks of a job wait for slots of a kind.
#[derive(Debug, Serialize)]
pub struct WaitStory {
    /// The number of waiting tasks.
    pub tasks: u32,
    /// Why none of them may be launched yet, in words; `None` if one may.
    pub held_back: Option<String>,
    /// The last refusal, if the job has got no slot of the kind since.
    pub refused: Option<RefusedRow>,
    /// The numbers of slots of the kind that are free, and that are free or held.
    pub free: [u32; 2],
    /// The jobs that hold the most slots of the kind, with their slots.
    pub holders: Vec<(String, u32)>,
    /// The last launch of any job's task for a slot of the kind.
    pub launched: Option<SaidRow>,
}

/// The last refusal of a job.
#[derive(Debug, Serialize)]
pub struct RefusedRow {
    /// The reason in words.
    pub reason: String,
    /// When the job was refused for the first time for this cause, in microseconds.
    pub from_us: u64,
    /// When it was refused last, in microseconds.
    pub last_us: u64,
    /// How often it was refused.
    pub times: u32,
}

impl JobTally {
    /// Returns how many tasks of the job wait for a slot.
    fn waiting(&self, job: &BookedJob, kind: SlotKind) -> u32 {
        let all = match kind {
            SlotKind::Map => job.spec.maps,
            SlotKind::Reduce => job.spec.reduces,
        };
        all.saturating_sub(self.done[kind]).saturating_sub(self.held[kind])
    }
}

impl PageLayout {
    /// Returns the fixed part of the page for a run.
    pub fn of(prepared: &Prepared, policies: Vec<String>) -> Self {
        let labels = prepared.labels();
        let topology = &prepared.topology;
        let mut racks = vec![String::new(); topology.racks() as usize];
        let mut nodes = Vec::new();
        for ((id, _), label) in topology.nodes().zip(labels.iter()) {
            let rack = topology.rack(id).0;
            if let Some(name) = racks.get_mut(rack as usize) {
                name.clone_from(&label.rack);
            }
            let most = topology.most_slots_of(id);
            nodes.push((label.node.clone(), rack, most.map, most.reduce));
        }
        let Prepared { scenario, .. } = prepared;
        let colour = first_grouping(prepared.workload.arrivals.iter().map(|one| &*one.spec));
        let (scenario, seed) = (scenario.name.to_string(), scenario.seed);
        Self { scenario, seed, racks, nodes, policies, colour }
    }
}

/// Returns the grouping that gives the fewest groups the same colour: by job if there are colours
/// for all jobs; otherwise by pool or by user, if there are several, and colours for all.
fn first_grouping<'j>(jobs: impl Iterator<Item = &'j JobSpec>) -> PageGrouping {
    let (mut count, mut pools, mut users) = (0, BTreeSet::new(), BTreeSet::new());
    for job in jobs {
        count += 1;
        pools.insert(&job.pool);
        users.insert(&job.user);
    }
    let fits = |groups: usize| (2..=COLOURS).contains(&groups);
    match () {
        () if count <= COLOURS => PageGrouping::Job,
        () if fits(pools.len()) => PageGrouping::Pool,
        () if fits(users.len()) => PageGrouping::User,
        () => PageGrouping::Job,
    }
}

impl LivePicture {
    /// Returns the picture of a run before the run begins.
    pub fn new(
        topology: &Topology,
        hadoop: Hadoop,
        policies: impl IntoIterator<Item = String>,
    ) -> Self {
        let empty = |slots: u32| vec![None; slots as usize];
        let slots = topology.nodes().map(|(id, _)| topology.most_slots_of(id));
        let nodes = slots.map(|slots| PictureNode {
            has: PerSlot::default(),
            slots: PerSlot { map: empty(slots.map), reduce: empty(slots.reduce) },
        });
        Self {
            books: RunBooks::new(SimTime::ZERO),
            hadoop,
            nodes: nodes.collect(),
            jobs: Vec::new(),
            live: Vec::new(),
            over: VecDeque::new(),
            weighed: BTreeMap::new(),
            waiting: BTreeMap::new(),
            launched: PerSlot::default(),
            history: SlotHistory::new(),
            names: Default::default(),
            said: VecDeque::new(),
            beats: 0,
            round_trips: Window::default(),
            queued: Window::default(),
            waited: Window::default(),
            policies: policies.into_iter().collect(),
        }
    }

    fn policy(&self) -> String {
        self.policies.front().cloned().unwrap_or_default()
    }

    /// Updates the picture with an event of the run.
    pub fn see(&mut self, event: &Event) {
        // Most events are heartbeats, which the run's state does not record: handle them first.
        if let Fact::Tracker(_, TrackerFact::Heartbeat { rtt, queued }) = event.fact {
            self.beats += 1;
            self.round_trips.add(rtt);
            self.queued.add(queued);
            return;
        }
        self.books.enter(event);
        self.history.pass(event.at);
        self.move_slots(event);
        // The output of a finished map is lost with its tracker: the map no longer counts as done.
        if let Some((lost, _)) = self.books.lost {
            self.count_done(lost, -1);
        }
        let at = event.at;
        match event.fact {
            Fact::Job(job, JobFact::Submitted(_)) => {
                // Job numbers are dense but may arrive out of order: jobs of a trace mix with jobs
                // of the scenario's `later`.
                if self.jobs.len() <= job.index() {
                    self.jobs.resize(job.index() + 1, JobTally::default());
                }
                self.live.push(job);
                self.colour(job);
                self.count_waiting(job);
            }
            Fact::Job(job, JobFact::Altered(_)) => self.colour(job),
            Fact::Job(job, JobFact::Ended(outcome)) => {
                self.end_job(job);
                self.say(at, RemarkKind::Ended { job, outcome });
            }
            Fact::Job(job, JobFact::SubmissionRefused(reason)) => {
                self.end_job(job);
                self.say(at, RemarkKind::Refused { job, reason });
            }
            Fact::Ledger(attempt, tracker, LedgerFact::Assigned { role, reason, waited, .. }) => {
                // Setup, cleanup and task-cleanup attempts do not wait for the policy: leave them
                // out.
                if role == Role::Work && attempt.task.is_work() {
                    self.waited.add(waited);
                    let what = RemarkKind::Launched { attempt, tracker, reason };
                    self.launched[attempt.slot()] = Some(PictureRemark { at, what });
                }
                self.say(at, RemarkKind::Launched { attempt, tracker, reason });
            }
            Fact::Ledger(attempt, tracker, LedgerFact::Ordered { order, reason }) => {
                self.say(at, RemarkKind::Ordered { attempt, tracker, order, reason });
            }
            Fact::Ledger(
                attempt,
                _,
                LedgerFact::Learned { state: AttemptState::Succeeded, .. },
            ) => {
                self.count_done(attempt, 1);
            }
            Fact::Tracker(tracker, TrackerFact::Up(slots)) => self.has_now(tracker, slots),
            Fact::Tracker(tracker, TrackerFact::Down) => self.has_now(tracker, PerSlot::default()),
            Fact::Member(tracker, MemberFact::Lost) => self.befall(at, Some(tracker), "given up"),
            Fact::Member(tracker, MemberFact::Blacklisted) => {
                self.befall(at, Some(tracker), "blacklisted")
            }
            Fact::Member(tracker, MemberFact::Forgiven) => {
                self.befall(at, Some(tracker), "forgiven")
            }
            Fact::World(WorldFact::Incident { tracker, incident }) => {
                self.befall(at, tracker, incident.words())
            }
            Fact::World(WorldFact::PolicyChanged) => {
                self.policies.pop_front();
                // The next policy has pools of its own, or none.
                self.forget_answers();
                self.say(at, RemarkKind::Policy(self.policy()));
            }
            _ => {}
        }
    }

    /// Lists a job among those that have ended.
    fn end_job(&mut self, job: JobId) {
        self.live.retain(|live| *live != job);
        if self.over.len() == ENDED {
            self.over.pop_front();
        }
        self.over.push_back(job);
        self.count_waiting(job);
    }

    /// Gives a job its colours in the history: as the page does, by its number, and by the order in
    /// which its pool and its user had their first jobs.
    fn colour(&mut self, job: JobId) {
        let Some(BookedJob { spec, .. }) = self.books.job(job) else { return };
        let Some(tally) = self.jobs.get_mut(job.index()) else { return };
        let [pools, users] = &mut self.names;
        let number = |names: &mut Vec<Arc<str>>, name: &Arc<str>| {
            names.iter().position(|known| known == name).unwrap_or_else(|| {
                names.push(name.clone());
                names.len() - 1
            })
        };
        let numbers = [job.index(), number(pools, &spec.pool), number(users, &spec.user)];
        let colours = numbers.map(|number| (number % COLOURS) as u8);
        for kind in SlotKind::BOTH {
            self.history.hold(tally.colours, kind, -(tally.slots[kind] as i32));
            self.history.hold(colours, kind, tally.slots[kind] as i32);
        }
        tally.colours = colours;
    }

    /// Brings the number of a job's waiting tasks in the history up to date.
    fn count_waiting(&mut self, job: JobId) {
        let Some(booked) = self.books.job(job) else { return };
        let Some(tally) = self.jobs.get_mut(job.index()) else { return };
        for kind in SlotKind::BOTH {
            let waits = if booked.ended.is_some() { 0 } else { tally.waiting(booked, kind) };
            self.history.wait(kind, i64::from(waits) - i64::from(tally.waits[kind]));
            tally.waits[kind] = waits;
        }
    }

    fn say(&mut self, at: SimTime, what: RemarkKind) {
        if self.said.len() == SAID {
            self.said.pop_back();
        }
        self.said.push_front(PictureRemark { at, what });
    }

    fn befall(&mut self, at: SimTime, tracker: Option<TrackerId>, words: &'static str) {
        self.say(at, RemarkKind::Befell { tracker, words });
    }

    fn has_now(&mut self, tracker: TrackerId, slots: PerSlot<u32>) {
        if let Some(node) = self.nodes.get_mut(tracker.index()) {
            node.has = slots;
        }
    }

    /// Asks the JobTracker at an instant for the shares of all pools, and how the listed jobs wait;
    /// forgets its answers before.
    pub fn weigh(&mut self, now: SimTime, job_tracker: &dyn WatchedJobTracker) {
        self.forget_answers();
        let listed = self.live.iter().take(JOBS - ENDED);
        self.waiting.extend(listed.map(|job| (*job, job_tracker.waiting(*job))));
        for kind in SlotKind::BOTH {
            job_tracker.holdings(now, kind, &mut |pool, holding| {
                self.weighed.entry(pool.to_owned()).or_default()[kind] = Some(holding);
            });
        }
    }

    /// Forgets the answers of the JobTracker.
    pub fn forget_answers(&mut self) {
        self.weighed.clear();
        self.waiting.clear();
    }

    /// Returns the slots held and the waiting tasks over the time up to an instant.
    pub(super) fn history(&mut self, now: SimTime, by: PageGrouping) -> HistoryPoints {
        self.history.pass(now);
        self.history.points(by)
    }

    fn count_done(&mut self, attempt: AttemptId, change: i32) {
        let kind = match attempt.task.kind {
            TaskKind::Map => SlotKind::Map,
            TaskKind::Reduce => SlotKind::Reduce,
            TaskKind::Setup | TaskKind::Cleanup => return,
        };
        if let Some(tally) = self.jobs.get_mut(attempt.job().index()) {
            tally.done[kind] = tally.done[kind].saturating_add_signed(change);
        }
        self.count_waiting(attempt.job());
    }

    /// Gives an attempt the first free slots of its tracker, or frees its slots.
    fn move_slots(&mut self, event: &Event) {
        let Some(shift) = self.books.shift else { return };
        let Fact::Attempt(attempt, ..) = event.fact else {
            return;
        };
        let Some(node) = self.nodes.get_mut(shift.tracker.index()) else { return };
        let slots = &mut node.slots[attempt.slot()];
        let (from, to) =
            if 0 < shift.slots { (None, Some(attempt)) } else { (Some(attempt), None) };
        // A tracker only counts its slots. The picture gives each slot a position, which the
        // attempt keeps.
        let places = slots.iter_mut().filter(|slot| **slot == from);
        let mut moved = 0;
        for place in places.take(shift.slots.unsigned_abs() as usize) {
            *place = to;
            moved += 1;
        }
        // `moved` counts the positions found: slots beyond the node's own are not shown as held.
        let change = if 0 < shift.slots { moved } else { -moved };
        let (job, kind) = (attempt.job(), attempt.slot());
        let Some(tally) = self.jobs.get_mut(job.index()) else { return };
        tally.slots[kind] = tally.slots[kind].saturating_add_signed(change);
        self.history.hold(tally.colours, kind, change);
        if attempt.task.is_work() {
            tally.held[kind] = tally.held[kind].saturating_add_signed(change);
            self.count_waiting(job);
        }
    }

    /// Returns the current frame.
    pub fn frame(&self) -> Frame {
        let [pools, users] = self.groups();
        let hidden = self.live.len().saturating_sub(JOBS - ENDED);
        // List ended jobs with the newest first; unfinished jobs keep the order of their arrival.
        let ended = self.over.iter().rev();
        let listed = self.live.iter().take(JOBS - ENDED).chain(ended);
        Frame {
            slots: self.slots(),
            jobs: listed.filter_map(|job| self.job_row(*job)).collect(),
            counts: [self.books.submitted.into(), self.books.ended.into(), hidden as u64],
            pools,
            users,
            said: self.said.iter().map(|said| self.said_row(said)).collect(),
            beats: self.beats,
            round_trip: self.round_trips.quantiles(),
            queued: self.queued.quantiles(),
            waited: self.waited.quantiles(),
            policy: self.policy(),
            names: self.names.clone(),
        }
    }

    fn slots(&self) -> Vec<i64> {
        // A guess of the capacity: Hadoop gives a node two map and two reduce slots by default.
        let mut all = Vec::with_capacity(self.nodes.len() * 4);
        for node in &self.nodes {
            for kind in SlotKind::BOTH {
                all.extend((0..).zip(&node.slots[kind]).map(|(place, holder)| match holder {
                    // An attempt may hold a slot of a stopped machine until the tracker is declared
                    // lost.
                    Some(attempt) => i64::from(attempt.job().0),
                    None if place < node.has[kind] => FREE,
                    None => DOWN,
                }));
            }
        }
        all
    }

    fn job_row(&self, id: JobId) -> Option<JobRow> {
        let BookedJob { spec, submitted, ended, .. } = self.books.job(id)?;
        let JobTally { held, done, .. } = self.jobs.get(id.index())?;
        Some(JobRow {
            id: id.0,
            name: spec.name.clone(),
            user: spec.user.clone(),
            pool: spec.pool.clone(),
            ended: ended.map(|(_, outcome)| outcome.word()),
            maps: [spec.maps, done.map, held.map],
            reduces: [spec.reduces, done.reduce, held.reduce],
            submitted_us: submitted.as_micros(),
            ended_us: ended.map(|(at, _)| at.as_micros()),
        })
    }

    /// Returns the pools and the users of the jobs that have not ended, sorted by name.
    fn groups(&self) -> [Vec<GroupRow>; 2] {
        let mut groups: [BTreeMap<&Arc<str>, GroupRow>; 2] = Default::default();
        for id in &self.live {
            let Some(booked) = self.books.job(*id) else { continue };
            let BookedJob { spec, .. } = booked;
            let tally = self.jobs.get(id.index()).copied().unwrap_or_default();
            for (groups, name) in groups.iter_mut().zip([&spec.pool, &spec.user]) {
                let row = groups.entry(name).or_insert_with(|| GroupRow {
                    name: name.clone(),
                    jobs: 0,
                    maps: [0; 2],
                    reduces: [0; 2],
                    share: [None; 2],
                    min_share: [None; 2],
                });
                row.jobs += 1;
                row.maps[0] += tally.held.map;
                row.maps[1] += tally.waiting(booked, SlotKind::Map);
                row.reduces[0] += tally.held.reduce;
                row.reduces[1] += tally.waiting(booked, SlotKind::Reduce);
            }
        }
        for (name, row) in &mut groups[0] {
            if let Some(weighed) = self.weighed.get(&***name) {
                let share = |kind| weighed[kind]?.share.map(SlotShare::slots);
                // Most pools have no minimum share: show nothing then, rather than zeros.
                let min_share = |kind| Some(weighed[kind]?.min_share).filter(|slots| 0 < *slots);
                row.share = SlotKind::BOTH.map(share);
                row.min_share = SlotKind::BOTH.map(min_share);
            }
        }
        groups.map(|groups| groups.into_values().collect())
    }

    fn said_row(&self, PictureRemark { at, what }: &PictureRemark) -> SaidRow {
        let (word, whom, place, why) = match what {
            RemarkKind::Launched { attempt, tracker, reason } => {
                ("launch", self.called(*attempt), Some(tracker), reason.to_string())
            }
            RemarkKind::Ordered { attempt, tracker, order, reason } => {
                (order.word(), self.called(*attempt), Some(tracker), reason.to_string())
            }
            RemarkKind::Ended { job, outcome } => {
                ("job", self.job_called(*job), None, outcome.word().to_owned())
            }
            RemarkKind::Refused { job, reason } => {
                ("job", self.job_called(*job), None, format!("refused: {reason}"))
            }
            RemarkKind::Befell { tracker, words } => {
                let whom = tracker.map_or_else(|| "jobtracker".to_owned(), |id| id.to_string());
                ("incident", whom, None, (*words).to_owned())
            }
            RemarkKind::Policy(policy) => ("policy", policy.clone(), None, "takes over".to_owned()),
        };
        SaidRow {
            at_us: at.as_micros(),
            what: word,
            whom,
            place: place.map(ToString::to_string),
            why,
        }
    }

    fn job_called(&self, job: JobId) -> String {
        self.books.job(job).map_or_else(|| job.to_string(), |job| job.spec.name.to_string())
    }

    /// Returns the name of an attempt for readers.
    fn called(&self, attempt: AttemptId) -> String {
        let (job, task) = (self.job_called(attempt.job()), attempt.task);
        let again = match attempt.number {
            0 => String::new(),
            // Readers count from one, and the first attempt needs no number. Widen the number,
            // since it may be the largest `u32`.
            number => format!(", attempt {}", u64::from(number) + 1),
        };
        format!("{job} {} {}{again}", task.kind.word(), task.index)
    }

    /// Returns the reason why a slot is held; `None` if it is free or does not exist. A node's
    /// slots are numbered from 0, map slots first.
    pub fn why(&self, node: u32, slot: u32) -> Option<HoldReason> {
        let at = self.nodes.get(node as usize)?;
        // The indices come from a browser: a node or slot that does not exist must not panic.
        let attempt = (*at.slots.map.iter().chain(&at.slots.reduce).nth(slot as usize)?)?;
        let spec = &self.books.job(attempt.job())?.spec;
        let known = self.books.attempt(attempt);
        let grant = known.and_then(|known| known.grant.as_ref());
        Some(HoldReason {
            node: TrackerId(node).to_string(),
            attempt: self.called(attempt),
            job: attempt.job().0,
            name: spec.name.clone(),
            user: spec.user.clone(),
            pool: spec.pool.clone(),
            assigned_us: grant.map(|grant| grant.at.as_micros()),
            started_us: known.and_then(|known| known.started).map(SimTime::as_micros),
            locality: grant.and_then(|grant| grant.locality).map(|locality| locality.word()),
            speculative: grant.is_some_and(|grant| grant.speculative),
            code: grant.map(|grant| grant.reason.code()),
            reason: grant.map(|grant| grant.reason.to_string()),
        })
    }

    /// Returns the details of a job; `None` if it does not exist.
    pub fn job(&self, id: u32) -> Option<JobStory> {
        let row = self.job_row(JobId(id))?;
        let job = self.books.job(JobId(id))?;
        Some(JobStory {
            row,
            class: job.spec.class.clone(),
            initialised_us: job.initialised.map(SimTime::as_micros),
            first_launch_us: job.first_launch.map(SimTime::as_micros),
            maps_done_us: job.maps_done.map(SimTime::as_micros),
            locality: job.maps_by_locality,
            ill: [job.failed, job.killed, job.suspended],
            waits: SlotKind::BOTH.map(|kind| self.wait_story(JobId(id), job, kind)),
        })
    }

    /// Says why no reduce may be launched while maps of its job run: too few are done, or all waiting
    /// reduces are launched.
    fn slow_start(&self, id: JobId, job: &BookedJob) -> String {
        let settings = job.spec.settings.on(&self.hadoop);
        // The JobTracker multiplies in single precision, as Hadoop does.
        let needed = (settings.slow_start.get() as f32 * job.spec.maps as f32).ceil();
        let done = self.jobs.get(id.index()).map_or(0, |tally| tally.done.map);
        if f64::from(needed) <= f64::from(done) {
            return ABOUT_TO_START.to_owned();
        }
        // A failed map that the job may lack counts as done for the reduces, but not here.
        if 0 < job.failed {
            return "launched and about to start, or too few maps are done".to_owned();
        }
        format!("too few maps are done: {done} of the {needed:.0} before the first reduce")
    }

    fn wait_story(&self, id: JobId, job: &BookedJob, kind: SlotKind) -> Option<WaitStory> {
        let tasks = self.jobs.get(id.index())?.waiting(job, kind);
        if job.ended.is_some() || tasks == 0 {
            return None;
        }
        // A job that is not listed was not asked for; then only the events say how it waits.
        let known = self.waiting.get(&id).map(|waiting| waiting[kind]);
        let held_back = match kind {
            _ if job.initialised.is_none() => Some("its splits are not read yet".to_owned()),
            _ if job.running.is_none() => Some("its setup task has not ended".to_owned()),
            _ if known.is_none_or(|known| 0 < known.launchable) => None,
            SlotKind::Reduce if job.maps_done.is_none() => Some(self.slow_start(id, job)),
            SlotKind::Map | SlotKind::Reduce => Some(ABOUT_TO_START.to_owned()),
        };
        let refused = known.and_then(|known| known.refusal).map(|refusal| RefusedRow {
            reason: refusal.reason.to_string(),
            from_us: refusal.from.as_micros(),
            last_us: refusal.last.as_micros(),
            times: refusal.times,
        });
        let mut held: BTreeMap<JobId, u32> = BTreeMap::new();
        let mut free = [0; 2];
        for node in &self.nodes {
            for (place, holder) in (0..).zip(&node.slots[kind]) {
                match holder {
                    Some(attempt) => *held.entry(attempt.job()).or_default() += 1,
                    None if place < node.has[kind] => free[0] += 1,
                    None => {}
                }
            }
        }
        free[1] = free[0] + held.values().sum::<u32>();
        let mut holders: Vec<_> = held.into_iter().collect();
        // The sort is stable, so jobs with as many slots stay in the order of their numbers.
        holders.sort_by_key(|(_, slots)| Reverse(*slots));
        holders.truncate(HOLDERS);
        let holders = holders.into_iter().map(|(job, slots)| (self.job_called(job), slots));
        let launched = self.launched[kind].as_ref().map(|launch| self.said_row(launch));
        Some(WaitStory { tasks, held_back, refused, free, holders: holders.collect(), launched })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mumakil_core::mapred::{
        AttemptFact, JobAlteration, LastRefusal, PhaseTimes, SlotCounts, SlotShare, SlotStanding,
        TaskId,
    };
    use mumakil_scenario as scenario;

    /// Returns the picture of two nodes with two map slots and a reduce slot each, and a job of
    /// four maps.
    fn picture() -> (LivePicture, Prepared) {
        let text = "
cluster: {nodes: 2, map_slots: 2, reduce_slots: 1}
workload: {jobs: [{name: <a>, maps: 4, reduces: 1, map_time: 20s, reduce_time: 1s, user: u, pool: p}]}
";
        let registry = crate::testing::registry();
        let scenario = scenario::parse("one.yaml", text, &[], &registry).unwrap().scenario;
        let prepared = Prepared::new(scenario, &registry).unwrap();
        let policies = ["fair".to_owned(), "fifo".to_owned()];
        let hadoop = prepared.scenario.hadoop.clone();
        (LivePicture::new(&prepared.topology, hadoop, policies), prepared)
    }

    /// A policy whose pool `p` holds map slots.
    struct OnePool(SlotStanding);

    impl WatchedJobTracker for OnePool {
        fn holdings(&self, _: SimTime, kind: SlotKind, say: &mut dyn FnMut(&str, SlotStanding)) {
            if kind == SlotKind::Map {
                say("p", self.0);
            }
        }

        fn waiting(&self, _: JobId) -> PerSlot<WaitingTasks> {
            let (from, last) = (at(3), at(6));
            let refusal = LastRefusal { reason: Reason::UserLimit, from, last, times: 2 };
            let map = WaitingTasks { launchable: 1, refusal: Some(refusal) };
            PerSlot { map, ..PerSlot::default() }
        }
    }

    fn map(index: u32) -> AttemptId {
        TaskId { job: JobId(0), kind: TaskKind::Map, index }.attempt(0)
    }

    fn at(second: u64) -> SimTime {
        SimTime::ZERO + SimSpan::from_secs(second)
    }

    fn tell(picture: &mut LivePicture, second: u64, fact: Fact) {
        picture.see(&Event { at: at(second), fact });
    }

    fn begin(picture: &mut LivePicture, prepared: &Prepared) {
        for tracker in [0, 1].map(TrackerId) {
            let slots = PerSlot { map: 2, reduce: 1 };
            tell(picture, 0, Fact::Tracker(tracker, TrackerFact::Up(slots)));
        }
        let spec = prepared.workload.arrivals[0].spec.clone();
        tell(picture, 1, Fact::Job(spec.id, JobFact::Submitted(spec)));
        for (index, tracker) in [(0, 0), (1, 0), (2, 1)] {
            let holding =
                SlotStanding { held: index, share: Some(SlotShare::of(2.5)), min_share: 1 };
            let (attempt, tracker, role) = (map(index), TrackerId(tracker), Role::Work);
            let (reason, waited) = (Reason::Share(holding), SimSpan::from_secs(1));
            let (locality, speculative, counts) = (None, false, SlotCounts::default());
            tell(
                picture,
                2,
                Fact::Ledger(
                    attempt,
                    tracker,
                    LedgerFact::Assigned { role, locality, speculative, reason, waited, counts },
                ),
            );
            tell(
                picture,
                3,
                Fact::Attempt(attempt, tracker, AttemptFact::Started { role, slots: 1 }),
            );
        }
    }

    #[test]
    fn slots_are_those_of_who_holds_them() {
        let (mut picture, prepared) = picture();
        assert_eq!(picture.frame().slots, [DOWN; 6]);
        begin(&mut picture, &prepared);
        // Maps first, then reduces, node by node.
        assert_eq!(picture.frame().slots, [0, 0, FREE, 0, FREE, FREE]);
        let (attempt, tracker) = (map(0), TrackerId(0));
        tell(&mut picture, 9, Fact::Attempt(attempt, tracker, AttemptFact::Suspended));
        assert_eq!(picture.frame().slots, [FREE, 0, FREE, 0, FREE, FREE]);
        tell(&mut picture, 10, Fact::Attempt(attempt, tracker, AttemptFact::Resumed));
        let (role, outcome, phases) = (Role::Work, Outcome::Killed, PhaseTimes::default());
        for (index, tracker) in [(0, 0), (1, 0)] {
            let (attempt, tracker) = (map(index), TrackerId(tracker));
            tell(
                &mut picture,
                11,
                Fact::Attempt(attempt, tracker, AttemptFact::Ended { role, outcome, phases }),
            );
        }
        tell(&mut picture, 11, Fact::Tracker(TrackerId(0), TrackerFact::Down));
        assert_eq!(picture.frame().slots, [DOWN, DOWN, DOWN, 0, FREE, FREE]);
        let row = &picture.frame().jobs[0];
        assert_eq!((row.maps, row.reduces), ([4, 0, 1], [1, 0, 0]));
    }

    #[test]
    fn a_node_shows_the_slots_that_its_tracker_has_now() {
        let text = "
cluster: {nodes: 2, map_slots: 2, reduce_slots: 1}
workload: {jobs: [{name: a, maps: 4, map_time: 20s}]}
faults: [{at: 1min, restart: {nodes: node-1, for: 5s, map_slots: 3, reduce_slots: 0}}]
";
        let registry = crate::testing::registry();
        let scenario = scenario::parse("one.yaml", text, &[], &registry).unwrap().scenario;
        let prepared = Prepared::new(scenario, &registry).unwrap();
        let layout = PageLayout::of(&prepared, Vec::new());
        assert_eq!((layout.nodes[0].2, layout.nodes[0].3), (3, 1));
        let hadoop = prepared.scenario.hadoop.clone();
        let mut picture = LivePicture::new(&prepared.topology, hadoop, []);
        let up =
            |map, reduce| Fact::Tracker(TrackerId(0), TrackerFact::Up(PerSlot { map, reduce }));
        tell(&mut picture, 0, up(2, 1));
        assert_eq!(picture.frame().slots[..4], [FREE, FREE, DOWN, FREE]);
        tell(&mut picture, 60, Fact::Tracker(TrackerId(0), TrackerFact::Down));
        tell(&mut picture, 65, up(3, 0));
        assert_eq!(picture.frame().slots[..4], [FREE, FREE, FREE, DOWN]);
    }

    #[test]
    fn a_pool_has_what_its_jobs_hold_and_what_its_policy_computed() {
        let (mut picture, prepared) = picture();
        begin(&mut picture, &prepared);
        let counts = SlotCounts::default();
        let (attempt, tracker, state) = (map(2), TrackerId(1), AttemptState::Succeeded);
        let (role, outcome, phases) = (Role::Work, Outcome::Succeeded, PhaseTimes::default());
        tell(
            &mut picture,
            9,
            Fact::Attempt(attempt, tracker, AttemptFact::Ended { role, outcome, phases }),
        );
        tell(
            &mut picture,
            9,
            Fact::Ledger(attempt, tracker, LedgerFact::Learned { state, counts }),
        );
        let frame = picture.frame();
        let pool = &frame.pools[0];
        assert_eq!((&*pool.name, pool.jobs, &*frame.users[0].name), ("p", 1, "u"));
        // Four maps: two run, one is done, one waits.
        assert_eq!((pool.maps, pool.reduces), ([2, 1], [0, 1]));
        assert_eq!((pool.share, pool.min_share), ([None, None], [None, None]));
        let share = Some(SlotShare::of(2.5));
        picture.weigh(
            SimTime::ZERO,
            &OnePool(SlotStanding { share, min_share: 1, ..SlotStanding::of(2) }),
        );
        let pool = &picture.frame().pools[0];
        assert_eq!((pool.share, pool.min_share), ([Some(2.5), None], [Some(1), None]));
        // The next policy does not inherit the shares of the last one.
        tell(&mut picture, 9, Fact::World(WorldFact::PolicyChanged));
        assert_eq!(picture.frame().pools[0].share, [None, None]);
        // The map is lost with its machine.
        let state = AttemptState::Killed;
        tell(
            &mut picture,
            10,
            Fact::Ledger(attempt, tracker, LedgerFact::Learned { state, counts }),
        );
        assert_eq!(picture.frame().jobs[0].maps, [4, 0, 2]);
    }

    #[test]
    fn a_slot_tells_why_it_is_held_and_another_policy_is_named() {
        let (mut picture, prepared) = picture();
        begin(&mut picture, &prepared);
        let why = picture.why(1, 0).unwrap();
        assert_eq!((&*why.attempt, why.code), ("<a> map 2", Some("share")));
        let reason = "furthest below its share (2 of 2.5, 1 promised)";
        assert_eq!((why.reason.as_deref(), why.started_us), (Some(reason), Some(3_000_000)));
        assert!(picture.why(1, 1).is_none() && picture.why(2, 0).is_none());
        assert!(picture.why(0, u32::MAX).is_none() && picture.job(1).is_none());
        assert_eq!(picture.frame().policy, "fair");
        tell(&mut picture, 9, Fact::World(WorldFact::PolicyChanged));
        let frame = picture.frame();
        assert_eq!((frame.policy.as_str(), frame.said[0].what), ("fifo", "policy"));
        assert_eq!((frame.said[1].what, frame.said[1].whom.as_str()), ("launch", "<a> map 2"));
    }

    #[test]
    fn a_job_tells_why_its_tasks_wait() {
        let (mut picture, prepared) = picture();
        begin(&mut picture, &prepared);
        let waits = picture.job(0).unwrap().waits;
        assert_eq!(
            waits[0].as_ref().unwrap().held_back.as_deref(),
            Some("its splits are not read yet")
        );
        for fact in [JobFact::Initialised, JobFact::Running] {
            tell(&mut picture, 4, Fact::Job(JobId(0), fact));
        }
        picture.weigh(at(7), &OnePool(SlotStanding::of(3)));
        let [maps, reduces] = picture.job(0).unwrap().waits;
        let (maps, reduces) = (maps.unwrap(), reduces.unwrap());
        assert_eq!((maps.tasks, maps.held_back, maps.free), (1, None, [1, 4]));
        assert_eq!(maps.holders, [("<a>".to_owned(), 3)]);
        let refused = maps.refused.unwrap();
        assert_eq!((&*refused.reason, refused.times), ("its user is at the limit", 2));
        assert_eq!((refused.from_us, refused.last_us), (3_000_000, 6_000_000));
        assert_eq!(maps.launched.unwrap().whom, "<a> map 2");
        let held_back = reduces.held_back.as_deref();
        assert_eq!(held_back, Some("too few maps are done: 0 of the 1 before the first reduce"));
        assert!(
            reduces.refused.is_none() && reduces.launched.is_none() && reduces.holders.is_empty()
        );
        tell(&mut picture, 8, Fact::Job(JobId(0), JobFact::Ended(Outcome::Killed)));
        assert!(picture.job(0).unwrap().waits.iter().all(Option::is_none));
    }

    #[test]
    fn many_jobs_are_coloured_by_pool_or_by_user() {
        let first = |workload: &str| {
            let text = format!("cluster: {{nodes: 2}}\nworkload: {{jobs: [{workload}]}}\n");
            let registry = crate::testing::registry();
            let scenario = scenario::parse("one.yaml", &text, &[], &registry).unwrap().scenario;
            PageLayout::of(&Prepared::new(scenario, &registry).unwrap(), Vec::new()).colour
        };
        let jobs = |count: u32, user: &str, pool: &str| {
            format!(
                "{{name: {user}{count}, count: {count}, maps: 1, map_time: 1s, user: {user}, pool: {pool}}}"
            )
        };
        let two = |count, users: [&str; 2], pools: [&str; 2]| {
            first(&format!("{}, {}", jobs(count, users[0], pools[0]), jobs(4, users[1], pools[1])))
        };
        assert_eq!(two(4, ["a", "b"], ["p", "q"]), PageGrouping::Job);
        assert_eq!(two(5, ["a", "b"], ["p", "q"]), PageGrouping::Pool);
        assert_eq!(two(5, ["a", "b"], ["p", "p"]), PageGrouping::User);
        assert_eq!(two(5, ["a", "a"], ["p", "p"]), PageGrouping::Job);
    }

    /// The history follows the slots, the queue and a job that moves to another pool.
    #[test]
    fn the_history_has_the_slots_and_the_queue() {
        let (mut picture, prepared) = picture();
        begin(&mut picture, &prepared);
        let alteration =
            JobAlteration { job: JobId(0), priority: None, pool: Some("other".into()) };
        tell(&mut picture, 5, Fact::Job(JobId(0), JobFact::Altered(alteration.into())));
        tell(&mut picture, 8, Fact::Job(JobId(0), JobFact::Ended(Outcome::Killed)));
        let points = picture.history(at(10), PageGrouping::Pool);
        assert_eq!(points.until_us, 10_000_000);
        let point = |second: u64| ((second * 1_000_000 + 500_000) / points.span_us) as usize;
        let held = |second| points.maps[point(second)][..2].to_vec();
        assert_eq!((held(2), held(3), held(5)), (vec![0.0; 2], vec![3.0, 0.0], vec![0.0, 3.0]));
        let waiting = |second| points.waiting[point(second)];
        assert_eq!((waiting(0), waiting(1), waiting(3)), ([0.0; 2], [4.0, 1.0], [1.0, 1.0]));
        assert_eq!(waiting(9), [0.0; 2]);
        let names = picture.frame().names;
        assert_eq!(names[0].iter().map(|name| &**name).collect::<Vec<_>>(), ["p", "other"]);
    }

    #[test]
    fn latencies_are_those_of_the_last_thousand() {
        let mut window = Window::default();
        assert_eq!(window.quantiles(), None);
        (0..1_100).for_each(|micros| window.add(SimSpan::from_micros(micros)));
        assert_eq!(window.quantiles(), Some([599, 1_089, 1_099]));
    }
}
