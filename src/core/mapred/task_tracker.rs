//! The TaskTracker: it runs attempts in its slots and reports them with every heartbeat.
//!
//! It knows the true state of its node. A launched attempt waits until a slot is really free. So an
//! attempt that the JobTracker assigns too early starts late, and no slot ever runs two attempts.
//! The commit-pending quirk, as in Hadoop: an attempt that waits for its commit holds its slot, but
//! the tracker reports the slot as free.
//!
//! ```text
//! heartbeat due ─► a report on each attempt ─► JobTracker
//!                                                  │ reply
//!       ┌──────────── launch, kill, commit ◄───────┘
//!       ▼
//! attempt waits ─► slot free: it starts ─► phases ─► it ends: slot free, next report
//! ```
//!
//! Invariant: attempts never hold more slots of a kind than the tracker has.

mod attempt;
mod heartbeats;
mod localised_jobs;
mod memory;
mod phase_progress;
#[cfg(test)]
mod tests;

use std::mem::offset_of;
use std::sync::Arc;

use self::attempt::{Attempt, AttemptStep};
use self::heartbeats::HeartbeatState;
use self::localised_jobs::LocalisedJobs;
use self::memory::Memory;
use crate::cluster::{Demand, Node, PerSlot, SlotKind, Speeds, TrackerId};
use crate::mapred::cost::{ContendedResources, Costs};
use crate::mapred::event::{AttemptFact, AttemptState, Fact, Incident, Outcome, TrackerFact};
use crate::mapred::hadoop::{Behaviour, CommitPending, Hadoop};
use crate::mapred::heartbeat::{
    Directive, FailedFetch, Heartbeat, LaunchOrder, MapsDone, Missing, Reply, TrackerStatus,
};
use crate::mapred::ids::AttemptId;
use crate::mapred::message::{
    FlowBegins, FlowId, FlowRate, Mail, ToFabric, ToJobTracker, ToMapOutputs, ToTracker,
};
use crate::mapred::outbox::{Core, Outbox};
use mumakil_base::mutated;
use mumakil_base::units::{Bytes, SimSpan, SimTime};

/// The time from a refused heartbeat to the next try. Hadoop's RPC client tries ten times, with
/// this wait after each refusal. Then the heartbeat fails, and the tracker sends it again at once,
/// so tries go on at the same pace.
// Hadoop's ipc.Client: a sleep of 1 s between its 10 tries (`ipc.client.connect.max.retries`).
const REFUSED: SimSpan = SimSpan::from_secs(1);

/// How the trackers of a run exchange heartbeats with its JobTracker.
#[derive(Clone, Copy, Debug, Default)]
pub struct HeartbeatManner {
    /// Whether messages may be lost, so that a heartbeat without a reply is sent again.
    pub resends: bool,
    /// Whether a tracker without news sends a [brief](Heartbeat::AsBefore) heartbeat, without the
    /// progress of its attempts.
    pub is_brief: bool,
    /// Whether trackers ask which map [outputs](super::MapOutputs) their reduces cannot fetch;
    /// needed only if machines may be lost.
    pub asks_outputs: bool,
}

/// A TaskTracker and the node that it runs on. Fields lie in memory in this order: a heartbeat
/// without news reads the first cache line, a heartbeat with news the first three.
#[repr(C, align(64))]
pub struct TaskTracker {
    pulse: HeartbeatState,
    costs: Arc<Costs>,

    /// The attempts, in the order in which they were launched.
    #[expect(clippy::vec_box, reason = "all behind one that is forgotten move up, and are large")]
    attempts: Vec<Box<Attempt>>,
    /// Slots that no attempt holds.
    free: PerSlot<u32>,
    clockwork: TrackerTimers,
    /// The status in the last full heartbeat, kept to send it again and to reuse its memory.
    status: Arc<TrackerStatus>,

    id: TrackerId,
    ailments: u32,
    restarted: bool,
    /// Whether an attempt might be waiting for a slot; `false` if certainly none is.
    may_wait: bool,
    /// The complaints of reduces for the next heartbeat.
    failed_fetches: Vec<FailedFetch>,
    /// The speeds of the node; `None` until they first change.
    speeds: Option<Arc<Speeds>>,
    /// The number of the heartbeat that was refused last, and the instant at which it is (or was)
    /// sent again.
    tries: (u32, SimTime),

    memory: Memory,
    localised: LocalisedJobs,
    node: Node,
    /// The slots that the process takes from its configuration when it starts.
    configured: PerSlot<u32>,
    /// The time from a start of the process to its first heartbeat.
    phase: SimSpan,
    /// The last reply, while the tracker waits to learn which of the outputs counted in the reply
    /// cannot be fetched.
    asked: Option<AskedReply>,
    /// When a reply last said how many maps have ended; kept only if trackers send out-of-band
    /// heartbeats.
    told_of_maps: SimTime,
    /// The instant of the last message.
    heard_at: SimTime,
}

// A field inserted too early would slow down every heartbeat, and no test would fail. So assert
// here in which cache lines (of 64 bytes) the often-read fields lie.
const _: () = assert!(offset_of!(TaskTracker, attempts) <= 64);
const _: () = assert!(offset_of!(TaskTracker, memory) <= 3 * 64);

/// A reply on hold until the tracker knows which map outputs its reduces cannot fetch.
struct AskedReply {
    reply: Arc<Reply>,
    /// How many attempts learn from this reply how many maps have ended: the first ones in the
    /// order of launching.
    hearing: usize,
}

/// Plans the ends of phases, and starts flows. Each gets a number of its own; a message with an
/// older number is ignored.
struct TrackerTimers {
    tracker: TrackerId,
    /// Whether the run has a fabric, which sends the rates of flows. Without one, attempts share no
    /// disks, networks or cores.
    has_fabric: bool,
    /// Whether the fabric needs to know how much memory is left.
    has_page_cache: bool,
    /// The number of the last timer.
    timer: u64,
    /// The number of the last flow.
    flow: u32,
}

impl TaskTracker {
    /// Returns a tracker whose machine is off.
    ///
    /// `phase` is the time from its start to its first heartbeat.
    pub fn new(
        id: TrackerId,
        node: Node,
        costs: Arc<Costs>,
        phase: SimSpan,
        manner: HeartbeatManner,
    ) -> Self {
        let has_fabric = costs.shared.is_some();
        let has_page_cache = costs.shared.as_ref().is_some_and(ContendedResources::has_page_caches);
        Self {
            id,
            free: node.slots,
            // There are no attempts yet, so none waits for a slot.
            may_wait: false,
            memory: Memory::new(&node),
            localised: LocalisedJobs::default(),
            pulse: HeartbeatState::new(id, &costs, manner),
            configured: node.slots,
            node,
            costs,
            phase,
            asked: None,
            told_of_maps: SimTime::ZERO,
            // Hadoop's trackers set this in the first heartbeat of their process.
            restarted: true,
            ailments: 0,
            tries: (0, SimTime::ZERO),
            status: Arc::default(),
            failed_fetches: Vec::new(),
            attempts: Vec::new(),
            speeds: None,
            clockwork: TrackerTimers { tracker: id, has_fabric, has_page_cache, timer: 0, flow: 0 },
            heard_at: SimTime::ZERO,
        }
    }

    // ---- power ----

    fn power_on(&mut self, out: &mut Outbox) {
        if self.pulse.is_up {
            return;
        }
        // A tracker that starts at time zero starts with the whole cluster; a later one joins a
        // running cluster.
        if self.pulse.is_new() && SimTime::ZERO < out.now {
            self.note(Incident::Joined, out);
        }
        self.pulse.start();
        self.restarted = true;
        // The process held no attempts while it was down, so all of its slots are free.
        self.node.slots = self.configured;
        self.free = self.configured;
        out.emit(Fact::Tracker(self.id, TrackerFact::Up(self.node.slots)));
        // The page cache had no memory while the machine was off; now it can grow again.
        self.clockwork.tell_memory(self.memory.left(), out);
        self.pulse.plan(self.phase, out);
        // Only the first heartbeats of a cluster are spread over time. A machine that comes back
        // sends one at once, or after the wait of its Hadoop version.
        self.phase = self.costs.hadoop.first_wait();
    }

    fn power_off(&mut self, out: &mut Outbox) {
        self.crash(out);
        // A crash of the process leaves the page cache as it is; a machine without power loses it.
        self.clockwork.tell_memory(Bytes::ZERO, out);
    }

    /// Ends the process; blocks that the machine has read stay in memory.
    fn crash(&mut self, out: &mut Outbox) {
        // A machine can lose power while its tracker's process is down: then there is nothing to
        // end.
        if !self.pulse.is_up {
            return;
        }
        self.drop_everything(out);
        self.pulse.stop();
        out.emit(Fact::Tracker(self.id, TrackerFact::Down));
    }

    fn note(&self, incident: Incident, out: &mut Outbox) {
        out.emit(Fact::befell(self.id, incident));
    }

    /// Notes that the node's health script begins to report an error, or no longer reports one.
    fn take_health(&mut self, is_well: bool, out: &mut Outbox) {
        // A brief heartbeat does not contain the health, so the next one must be a full one.
        self.pulse.has_news = true;
        // Several mishaps may overlap: the first makes the node unhealthy, and the end of the last
        // makes it healthy again.
        match (is_well, self.ailments) {
            (false, 0) => self.note(Incident::Unhealthy, out),
            (true, 1) => self.note(Incident::Healthy, out),
            _ => {}
        }
        if is_well { self.ailments -= 1 } else { self.ailments += 1 }
    }

    fn take_speeds(&mut self, speeds: &Arc<Speeds>, out: &mut Outbox) {
        // Attempts that start later read the speeds here.
        self.speeds = Some(speeds.clone());
        for attempt in &mut self.attempts {
            let next = attempt.take_speeds(out.now, speeds.clone());
            self.clockwork.plan(next, attempt, out);
        }
    }

    /// Changes the slots that the process has from its next start on.
    fn configure(&mut self, new: PerSlot<Option<u32>>) {
        self.configured = PerSlot::of(|kind| new[kind].unwrap_or(self.configured[kind]));
    }

    /// Ends every attempt without a report, as the process has died or starts anew.
    fn drop_everything(&mut self, out: &mut Outbox) {
        self.pulse.has_news = true;
        for mut attempt in std::mem::take(&mut self.attempts) {
            // Otherwise the fabric would go on sharing disks and wires with stopped flows.
            self.clockwork.end_flow(&mut attempt, false, out);
            // An attempt that has ended has already emitted its event: it was kept only to be
            // reported.
            if !attempt.has_ended() {
                self.note_end(&attempt, Outcome::Killed, out);
            }
        }
        self.failed_fetches.clear();
        self.asked = None;
        self.free = self.node.slots;
        self.memory = Memory::new(&self.node);
        self.localised = LocalisedJobs::default();
        self.clockwork.tell_memory(self.memory.left(), out);
    }

    /// Fails the running maps and reduces, since their files are lost. The output of ended maps is
    /// lost, too, even of maps whose end has not been reported yet.
    fn lose_disk(&mut self, out: &mut Outbox) {
        use AttemptState as S;
        self.note(Incident::DiskLost, out);
        for map in self.attempts.iter().filter(|attempt| attempt.has_map_output()) {
            out.affect(ToMapOutputs::Spoilt(map.id.into()));
        }
        let with_files =
            self.attempts.iter().filter(|a| matches!(a.state(), S::Running | S::Suspended));
        let hit: Vec<AttemptId> = with_files.filter(|a| a.leaves_output()).map(|a| a.id).collect();
        // Fail only these attempts: attempts that start in their slots meanwhile begin with empty
        // disks.
        for id in hit {
            if let Some(index) = self.attempts.iter().position(|attempt| attempt.is(id)) {
                self.fail(index, out);
            }
        }
    }

    // ---- heartbeats ----

    fn send_heartbeat(&mut self, out: &mut Outbox) {
        if !self.pulse.send(out.now) {
            self.fill_status(out);
        }
        self.post_heartbeat(out);
    }

    fn fill_status(&mut self, out: &mut Outbox) {
        // Try fetches before the report: if a reduce gives up, this heartbeat already reports the
        // failure.
        self.try_fetches(out);
        // While an attempt waits for its commit, Hadoop reports its slot as free, though it is
        // taken. Users can switch that quirk off.
        let slot_held = self.costs.hadoop.commit_pending == CommitPending::SlotHeld;
        let call = self.pulse.call();
        // Heartbeats may be brief only if nothing reads progress: then do not even compute it.
        let told_every =
            (!self.pulse.manner.is_brief).then_some(self.costs.hadoop.progress_interval);
        let asks_for_maps = self.asks_for_maps(out.now);
        let mut occupied = PerSlot::default();
        // Complaints of reduces and the note of a restart must not be lost, so the next heartbeat
        // must be a full one, too.
        let mut has_news = self.restarted || !self.failed_fetches.is_empty();
        // Filled in place, unless a message under way still shares it.
        let status = Arc::make_mut(&mut self.status);
        status.reports.clear();
        for attempt in &mut self.attempts {
            if attempt.is_reported_in_slot(slot_held) {
                occupied[attempt.slot()] += attempt.slots;
            }
            has_news |= !attempt.needs_no_heartbeat();
            let mut report = attempt.report(out.now, told_every);
            report.wants_maps &= asks_for_maps;
            status.reports.push(report);
        }
        status.call = call;
        status.restarted = self.restarted;
        status.is_unhealthy = 0 < self.ailments;
        status.slots = self.node.slots;
        status.occupied = occupied;
        status.failed_fetches.clone_from(&self.failed_fetches);
        self.pulse.has_news = has_news;
    }

    /// Returns whether a heartbeat at this instant may ask how many maps have ended. In Hadoop a
    /// tracker asks with separate calls, at most once in an interval, so an out-of-band heartbeat
    /// that comes earlier does not ask.
    fn asks_for_maps(&self, now: SimTime) -> bool {
        let hadoop = &self.costs.hadoop;
        let shortest = self.pulse.interval.saturating_sub(hadoop.heartbeat_fuzz.early);
        // Without out-of-band heartbeats all heartbeats are regular. A regular heartbeat may come
        // early by up to `heartbeat_fuzz.early`.
        !hadoop.out_of_band || self.told_of_maps + shortest <= now
    }

    /// Returns the last heartbeat, to be sent again.
    fn heartbeat(&self) -> Heartbeat {
        if self.pulse.is_brief() {
            Heartbeat::AsBefore(self.pulse.call())
        } else {
            Heartbeat::Full(self.status.clone())
        }
    }

    fn post_heartbeat(&mut self, out: &mut Outbox) {
        out.send(ToJobTracker::Heartbeat(self.heartbeat()));
        // If no message can be lost, each heartbeat is answered, and a time-out would only cost run
        // time.
        if self.pulse.manner.resends {
            let no_reply = ToTracker::NoReply(self.pulse.call().number);
            out.plan(self.costs.hadoop.rpc_timeout, Mail::Tracker(self.id, no_reply));
        }
    }

    /// Plans to send a refused heartbeat again. If the network has doubled the heartbeat, its
    /// second copy is refused as well.
    fn take_refusal(&mut self, out: &mut Outbox) {
        let number = self.pulse.call().number;
        let (call, at) = self.tries;
        // Do nothing if this very heartbeat is already planned. But the last refusal may concern an
        // older heartbeat, of a process that has died since: then plan this one.
        if call != number || at <= out.now {
            self.tries = (number, out.now + REFUSED);
            out.plan(REFUSED, Mail::Tracker(self.id, ToTracker::Again(number)));
        }
    }

    fn hear(&mut self, reply: &Arc<Reply>, out: &mut Outbox) {
        // A second copy of a reply, or the reply to a process that has died since, must not be
        // executed.
        if !self.pulse.is_answered(reply.call, reply.queued, out) {
            return;
        }
        // As in Hadoop, a tracker whose host is on the exclude list shuts down; it does not
        // register again.
        if reply.disallowed {
            return self.power_off(out);
        }
        // Hadoop's ReinitTrackerAction: the tracker drops all its attempts, ignores the rest of the
        // reply, and registers again at once (a heartbeat without a last reply is an initial
        // contact).
        if reply.reinit {
            self.drop_everything(out);
            self.pulse.last_reply = None;
            self.pulse.plan(SimSpan::ZERO, out);
            return;
        }
        self.pulse.last_reply = Some(reply.id);
        self.pulse.interval = reply.interval;
        self.pulse.has_news |= !reply.directives.is_empty() || !reply.maps.is_empty();
        if self.costs.hadoop.out_of_band && !reply.maps.is_empty() {
            self.told_of_maps = out.now;
        }
        self.forget_acknowledged();
        let reported = self.attempts.len();
        // The JobTracker lists launches before kills, as Hadoop does. So a slot that a kill frees
        // can go at once to an attempt in the same reply.
        for directive in &reply.directives {
            self.carry_out(directive, out);
        }
        // In Mumak attempts of this reply start first; then only reduces that this heartbeat has
        // reported learn how many maps have ended. In Hadoop a reduce asks as soon as it is
        // launched.
        let &Behaviour { asks_at_once, complains, .. } = self.costs.hadoop.behaviour();
        if !asks_at_once {
            self.fill_slots(out);
        }
        let hearing = if asks_at_once { self.attempts.len() } else { reported };
        if self.pulse.manner.asks_outputs && !reply.maps.is_empty() {
            let mut working = self.attempts.iter().filter(|a| a.state() == AttemptState::Running);
            let works = complains && working.any(|attempt| attempt.fetches());
            let ask = ToMapOutputs::Ask { tracker: self.id, works, reply: reply.clone() };
            out.affect(ask);
            // `note_unreachable_outputs` plans the next heartbeat, once the answer is here.
            self.asked = Some(AskedReply { reply: reply.clone(), hearing });
            return;
        }
        self.hear_of_maps(&reply.maps, &reply.missing, hearing, out);
    }

    /// Takes the list of outputs that reduces cannot fetch, and goes on with the reply that waited
    /// for it.
    fn note_unreachable_outputs(&mut self, call: u32, missing: &[Missing], out: &mut Outbox) {
        // The process may have died since it asked; the next process may have asked with another
        // call.
        if let Some(AskedReply { reply, hearing }) = self.asked.take_if(|it| it.reply.call == call)
        {
            let missing = [&reply.missing, missing].concat();
            self.hear_of_maps(&reply.maps, &missing, hearing, out);
        }
    }

    /// Tells the first `hearing` attempts how many maps have ended and which outputs are missing.
    fn hear_of_maps(
        &mut self,
        maps: &[MapsDone],
        missing: &[Missing],
        hearing: usize,
        out: &mut Outbox,
    ) {
        for maps in maps {
            let hearing = self.attempts.iter_mut().take(hearing);
            for attempt in hearing.filter(|attempt| attempt.id.job() == maps.job) {
                let next = attempt.learn_maps(out.now, *maps, missing);
                self.clockwork.plan(next, attempt, out);
            }
        }
        self.go_on(out);
    }

    /// Handles an answer without orders.
    fn hear_noted(&mut self, call: u32, queued: SimSpan, out: &mut Outbox) {
        if !self.pulse.is_answered(call, queued, out) {
            return;
        }
        self.pulse.count_answer();
        if self.pulse.is_unchanged() {
            // This answer frees no slot and starts no attempt, so only the next heartbeat is to be
            // planned.
            self.pulse.plan_next(self.costs.hadoop.heartbeat_fuzz, out);
        } else {
            self.forget_acknowledged();
            self.go_on(out);
        }
    }

    /// Removes reports and complaints that the JobTracker has received.
    fn forget_acknowledged(&mut self) {
        self.restarted = false;
        // The list is usually empty, and checking that is cheaper than `drain`.
        if !self.status.failed_fetches.is_empty() {
            // A full heartbeat with complaints is never followed by a brief one, so the answered
            // heartbeat was the full one with these complaints.
            self.failed_fetches.drain(..self.status.failed_fetches.len());
        }
        if self.attempts.iter().any(|a| a.is_settled()) {
            self.attempts.retain(|attempt| !attempt.is_settled());
        }
    }

    fn go_on(&mut self, out: &mut Outbox) {
        self.fill_slots(out);
        self.fail_unresponsive(out);
        self.pulse.plan_next(self.costs.hadoop.heartbeat_fuzz, out);
    }

    /// Plans a heartbeat at once, if trackers send out-of-band heartbeats.
    fn request_heartbeat(&mut self, out: &mut Outbox) {
        if self.costs.hadoop.out_of_band {
            self.pulse.request_heartbeat(out);
        }
    }

    /// Fails attempts that have hung for too long. As in Hadoop, a tracker looks for such attempts
    /// after each heartbeat.
    fn fail_unresponsive(&mut self, out: &mut Outbox) {
        let timeout = self.costs.hadoop.task_timeout;
        // Hadoop's `mapred.task.timeout` of 0 means that a task may hang for ever.
        if timeout.is_zero() {
            return;
        }
        while let Some(index) =
            self.attempts.iter().position(|a| a.hangs_for_longer(out.now, timeout))
        {
            self.fail(index, out);
        }
    }

    /// Returns the state that an attempt has after it fails.
    fn broken(&self, attempt: &Attempt) -> AttemptState {
        if self.costs.hadoop.task_cleanup && !attempt.has_thrown() {
            AttemptState::FailedUnclean
        } else {
            AttemptState::Failed
        }
    }

    // ---- directives ----

    /// Executes an order of the JobTracker. An order for an attempt that has ended meanwhile has no
    /// effect: the next heartbeat reports the end.
    fn carry_out(&mut self, directive: &Directive, out: &mut Outbox) {
        match directive {
            Directive::Launch(launch) => self.accept(launch, out),
            Directive::Kill(id) => self.kill(*id, out),
            Directive::Checkpoint(id) => self.checkpoint(*id, out),
            Directive::Suspend(id) => self.suspend(*id, out),
            // From now on the attempt waits for a slot; `fill_slots` gives it one when its turn
            // comes.
            Directive::Resume(id) => {
                if let Some(attempt) = self.find(*id) {
                    attempt.ask_to_resume();
                    self.may_wait = true;
                }
            }
            // Not with `find`, since the timers are borrowed at the same time as the attempt.
            Directive::Commit(id) => {
                let Hadoop { poll, commit_time, .. } = self.costs.hadoop;
                let sent = self.pulse.sent_at();
                if let Some(attempt) = self.attempts.iter_mut().find(|a| a.is(*id)) {
                    let next = attempt.commit(out.now, sent, poll, commit_time);
                    self.clockwork.plan(next, attempt, out);
                }
            }
        }
    }

    fn find(&mut self, id: AttemptId) -> Option<&mut Attempt> {
        self.attempts.iter_mut().find(|attempt| attempt.is(id)).map(|it| &mut **it)
    }

    fn accept(&mut self, launch: &LaunchOrder, out: &mut Outbox) {
        let (id, role) = (launch.attempt, launch.role);
        // An attempt and its cleanup have the same id; only their roles differ.
        if !self.attempts.iter().any(|a| a.id == id && a.role == role) {
            let files = launch.files.as_ref();
            let reading = files.and_then(|files| self.costs.open(files, launch, self.id));
            if let Some(reading) = reading {
                let (attempt, from) = (launch.attempt, reading.from.map(|copy| copy.node));
                out.emit(Fact::Attempt(attempt, self.id, AttemptFact::Opened { from }));
            }
            let plan = self.costs.plan(launch, self.id, &self.node, reading);
            self.attempts.push(Box::new(Attempt::new(launch, plan, self.speeds.clone())));
            self.may_wait = true;
        }
    }

    fn kill(&mut self, id: AttemptId, out: &mut Outbox) {
        let cleans = self.costs.hadoop.task_cleanup;
        if let Some(index) = self.attempts.iter().position(|attempt| attempt.is(id)) {
            let attempt = &self.attempts[index];
            // An attempt that still waits for its slot has written no output.
            let has_begun = attempt.state() != AttemptState::Unassigned;
            let state = if cleans && has_begun && attempt.leaves_output() {
                AttemptState::KilledUnclean
            } else {
                AttemptState::Killed
            };
            self.end(index, state, out);
        }
    }

    /// Lets an attempt save its work; one that has none to save is killed.
    fn checkpoint(&mut self, id: AttemptId, out: &mut Outbox) {
        let now = out.now;
        let Some(attempt) =
            self.attempts.iter_mut().find(|attempt| attempt.is(id) && attempt.can_save())
        else {
            return self.kill(id, out);
        };
        self.clockwork.end_flow(attempt, false, out);
        let needed = self.node.disk.time_for(attempt.memory());
        let writing = mutated!(needed, "checkpoint/no-writing" => SimSpan::ZERO);
        let next = attempt.save(now, writing);
        self.clockwork.plan(next, attempt, out);
    }

    fn suspend(&mut self, id: AttemptId, out: &mut Outbox) {
        let tracker = self.id;
        // An attempt that waits for its commit cannot be suspended: its work is done, and only the
        // commit would free its slot.
        if let Some(attempt) =
            self.attempts.iter_mut().find(|a| a.is(id) && a.state() == AttemptState::Running)
        {
            attempt.suspend(out.now);
            self.clockwork.end_flow(attempt, false, out);
            self.free[attempt.slot()] += attempt.slots;
            // The slot is free from now on, but the process keeps its memory until another process
            // needs it.
            self.memory.stop(id);
            out.emit(Fact::Attempt(id, tracker, AttemptFact::Suspended));
        }
    }

    // ---- slots ----

    /// Starts or resumes waiting attempts for which a slot is free, in the order of launching.
    fn fill_slots(&mut self, out: &mut Outbox) {
        // This is called often, and usually no attempt waits: a flag is cheaper than a search.
        if !self.may_wait {
            return;
        }
        for kind in SlotKind::BOTH {
            while 0 < self.free[kind] {
                let first =
                    self.attempts.iter().position(|a| a.slot() == kind && a.waits_for_slot());
                let Some(index) = first else { break };
                // Do not look further: if other attempts overtook one that needs several slots, it
                // might wait for ever.
                let slots = self.attempts[index].slots;
                if self.free[kind] < slots {
                    break;
                }
                self.free[kind] -= slots;
                self.give_slot(index, out);
            }
        }
        self.may_wait = self.attempts.iter().any(|a| a.waits_for_slot());
    }

    fn give_slot(&mut self, index: usize, out: &mut Outbox) {
        let (attempt, tracker) = (&mut self.attempts[index], self.id);
        let id = attempt.id;
        let next = if attempt.state() == AttemptState::Suspended {
            out.emit(Fact::Attempt(id, tracker, AttemptFact::Resumed));
            // While memory is swapped in or out the attempt already holds its slot, but does no
            // work.
            let swapping = self.memory.go_on(id);
            attempt.resume(out.now, swapping)
        } else {
            let (role, slots) = (attempt.role, attempt.slots);
            out.emit(Fact::Attempt(id, tracker, AttemptFact::Started { role, slots }));
            let swapping = self.memory.start(id, attempt.memory());
            let whole = self.costs.localisation(attempt.job(), id, tracker, &self.node);
            let spared = self.localised.spares(id.job(), out.now, whole);
            attempt.start(out.now, swapping, spared)
        };
        self.clockwork.tell_memory(self.memory.left(), out);
        self.clockwork.plan(next, attempt, out);
    }

    // ---- the life of an attempt ----

    fn phase_ends(&mut self, timer: u64, out: &mut Outbox) {
        // If the phase was cut short, no attempt has the number of its timer any more.
        let Some(index) = self.attempts.iter().position(|a| a.awaits(timer)) else { return };
        self.pulse.has_news = true;
        let attempt = &mut self.attempts[index];
        self.clockwork.end_flow(attempt, true, out);
        match attempt.finish_part(out.now) {
            AttemptStep::Nothing => {}
            AttemptStep::Hangs => {
                let hangs = Incident::Hangs(attempt.id);
                // No timer ends a phase that hangs: only the tracker's time-out does
                // (`mapred.task.timeout`).
                self.clockwork.plan_patience(self.costs.hadoop.task_timeout, out);
                self.note(hangs, out);
            }
            AttemptStep::Commit => {
                out.emit(Fact::Attempt(attempt.id, self.id, AttemptFact::CommitPending));
                self.request_heartbeat(out);
            }
            AttemptStep::Done => self.end(index, AttemptState::Succeeded, out),
            AttemptStep::Broken => self.fail(index, out),
            AttemptStep::Saved => {
                out.emit(Fact::Attempt(attempt.id, self.id, AttemptFact::Saved));
                self.end(index, AttemptState::Killed, out);
            }
            next @ (AttemptStep::After(_) | AttemptStep::Flow) => {
                self.clockwork.plan(next, attempt, out);
            }
        }
    }

    fn fail(&mut self, index: usize, out: &mut Outbox) {
        self.end(index, self.broken(&self.attempts[index]), out);
    }

    /// Lets reduces try again to fetch missing outputs.
    fn try_fetches(&mut self, out: &mut Outbox) {
        if !self.costs.hadoop.behaviour().complains {
            return;
        }
        for index in 0..self.attempts.len() {
            let reduce = self.attempts[index].id;
            let (maps, gives_up) = self.attempts[index].try_fetches(out.now);
            for map in maps {
                self.failed_fetches.push(FailedFetch { reduce, map });
                out.emit(Fact::Attempt(reduce, self.id, AttemptFact::FetchFailed { map }));
            }
            if gives_up {
                self.fail(index, out);
            }
        }
    }

    /// Sets the new rates of flows. A rate for a flow that has ended meanwhile is ignored.
    fn take_rates(&mut self, rates: &[FlowRate], out: &mut Outbox) {
        for FlowRate { number, rate } in rates {
            if let Some(attempt) = self.attempts.iter_mut().find(|a| a.flow() == Some(*number)) {
                let next = attempt.take_rate(out.now, *rate);
                self.clockwork.plan(next, attempt, out);
            }
        }
    }

    fn end(&mut self, index: usize, state: AttemptState, out: &mut Outbox) {
        let now = out.now;
        self.pulse.has_news = true;
        let attempt = &mut self.attempts[index];
        let (slot, slots) = (attempt.slot(), attempt.slots);
        // Read this before the state changes: an attempt that ends while it waits for a slot frees
        // no slot.
        let held_slot = attempt.holds_slot();
        self.clockwork.end_flow(attempt, false, out);
        attempt.end(now, state);
        let outcome = match state {
            AttemptState::Succeeded => Outcome::Succeeded,
            AttemptState::Failed | AttemptState::FailedUnclean => Outcome::Failed,
            AttemptState::Killed | AttemptState::KilledUnclean => Outcome::Killed,
            AttemptState::Unassigned
            | AttemptState::Running
            | AttemptState::Suspended
            | AttemptState::CommitPending => {
                unreachable!("{now}: {} ends as {state:?}", attempt.id)
            }
        };
        let id = attempt.id;
        self.note_end(&self.attempts[index], outcome, out);
        self.memory.end(id);
        self.clockwork.tell_memory(self.memory.left(), out);
        if held_slot {
            self.free[slot] += slots;
            // As in Hadoop, a waiting attempt starts as soon as a slot is free, without waiting for
            // a heartbeat.
            self.fill_slots(out);
        }
        self.request_heartbeat(out);
    }

    fn note_end(&self, attempt: &Attempt, outcome: Outcome, out: &mut Outbox) {
        out.emit(Fact::Attempt(
            attempt.id,
            self.id,
            AttemptFact::Ended { role: attempt.role, outcome, phases: attempt.phases(out.now) },
        ));
    }

    /// Asserts the rules that hold between two messages.
    fn assert_sound(&mut self, now: SimTime) {
        let (id, earlier) = (self.id, std::mem::replace(&mut self.heard_at, now));
        assert!(earlier <= now, "{now}: {id} was at {earlier} before");
        let (is_up, awaits) = (self.pulse.is_up, self.pulse.is_under_way());
        // `drop_everything` runs when the process ends, so no attempt and no call of the old
        // process may be left.
        assert!(is_up || self.attempts.is_empty(), "{now}: attempts on {id}, which is down");
        assert!(is_up || !awaits, "{now}: {id} is down and awaits a reply");
        for kind in SlotKind::BOTH {
            let holding = self.attempts.iter().filter(|a| a.slot() == kind && a.holds_slot());
            let held: u32 = holding.map(|a| a.slots).sum();
            let (free, slots, word) = (self.free[kind], self.node.slots[kind], kind.word());
            assert!(
                held + free == slots,
                "{now}: {id}: {held} held, {free} free of {slots} {word}"
            );
        }
        let waits = self.attempts.iter().any(|a| a.waits_for_slot());
        assert!(self.may_wait || !waits, "{now}: {id} overlooks an attempt that waits for a slot");
        let alive = self.attempts.iter().filter(|attempt| attempt.has_process()).count();
        let known = self.memory.processes();
        assert!(alive == known, "{now}: {id}: {known} processes of {alive} attempts in memory");
        self.attempts.iter().for_each(|attempt| attempt.assert_sound(now));
    }
}

impl TrackerTimers {
    /// Plans the end of an attempt's phase with a timer, or starts the flow of the phase.
    fn plan(&mut self, next: AttemptStep, of: &mut Attempt, out: &mut Outbox) {
        match next {
            AttemptStep::After(span) => {
                // No number is used twice, so an outdated timer matches no attempt and does
                // nothing.
                self.timer += 1;
                of.await_timer(self.timer);
                let is_flow = of.flow().is_some();
                // At the end of a phase the task's process calls the tracker, which counts as a
                // message of the run. The end of a flow is not counted.
                let ends = if is_flow { ToTracker::FlowDone } else { ToTracker::PhaseEnds };
                out.plan(span, Mail::Tracker(self.tracker, ends(self.timer)));
            }
            AttemptStep::Flow => {
                self.flow += 1;
                let id = FlowId { tracker: self.tracker, number: self.flow };
                if self.has_fabric
                    && let Some(Demand { uses, reread, .. }) = of.begin_flow(id.number)
                {
                    out.affect(ToFabric::FlowBegins(Arc::new(FlowBegins { id, uses, reread })));
                }
            }
            AttemptStep::Nothing
            | AttemptStep::Commit
            | AttemptStep::Done
            | AttemptStep::Hangs
            | AttemptStep::Broken
            | AttemptStep::Saved => {}
        }
    }

    /// Plans the time-out of an attempt that hangs from now on. The first heartbeat after the
    /// time-out fails the attempt. Until then the planned message keeps the clock from ending the
    /// run.
    fn plan_patience(&self, timeout: SimSpan, out: &mut Outbox) {
        if !timeout.is_zero() {
            out.plan(timeout, Mail::Tracker(self.tracker, ToTracker::Impatient));
        }
    }

    /// Ends the flow of an attempt, if the attempt has one. `is_done` says whether the flow has
    /// moved everything; otherwise it was cut short.
    fn end_flow(&self, of: &mut Attempt, is_done: bool, out: &mut Outbox) {
        if self.has_fabric
            && let Some(number) = of.leave_flow()
        {
            let id = FlowId { tracker: self.tracker, number };
            out.affect(ToFabric::FlowEnds { id, is_done });
        }
    }

    /// Sends the fabric how much memory is left for the node's page cache, if the run simulates
    /// page caches.
    fn tell_memory(&self, left: Bytes, out: &mut Outbox) {
        if self.has_page_cache {
            out.affect(ToFabric::MemoryLeft(self.tracker, left));
        }
    }
}

impl Core for TaskTracker {
    type Msg = ToTracker;

    fn handle(&mut self, msg: &ToTracker, out: &mut Outbox) {
        match msg {
            ToTracker::PowerOn => self.power_on(out),
            ToTracker::PowerOff => self.power_off(out),
            ToTracker::Crash => self.crash(out),
            ToTracker::Speeds(speeds) => self.take_speeds(speeds, out),
            ToTracker::Slots(new) => self.configure(**new),
            ToTracker::DiskLost => self.lose_disk(out),
            ToTracker::Health(is_well) => self.take_health(*is_well, out),
            // This timer is stale: its heartbeat was moved, or its process has died since.
            ToTracker::Beat(number) if !self.pulse.is_due(*number) => {}
            ToTracker::Beat(_) => self.send_heartbeat(out),
            // This message is stale: the reply has come in time.
            ToTracker::NoReply(number) | ToTracker::Refused(number) | ToTracker::Again(number)
                if !self.pulse.awaits(*number) => {}
            ToTracker::NoReply(_) => self.post_heartbeat(out),
            ToTracker::Refused(_) => self.take_refusal(out),
            // Only the heartbeat is sent again: its time-out goes on as planned.
            ToTracker::Again(_) => out.send(ToJobTracker::Heartbeat(self.heartbeat())),
            // The process died while the reply was under way.
            ToTracker::Reply(_) | ToTracker::Noted { .. } if !self.pulse.is_up => {}
            ToTracker::Reply(reply) => self.hear(reply, out),
            ToTracker::Noted { call, queued } => self.hear_noted(*call, *queued, out),
            ToTracker::OutOfReach { call, missing, .. } => {
                self.note_unreachable_outputs(*call, missing, out);
            }
            // This timer only kept the clock from taking the cluster for stalled. The next
            // heartbeat fails the attempt.
            ToTracker::Impatient => {}
            ToTracker::Rates(rates) => self.take_rates(rates, out),
            ToTracker::PhaseEnds(timer) | ToTracker::FlowDone(timer) => {
                self.phase_ends(*timer, out);
                self.fill_slots(out);
            }
        }
        if cfg!(debug_assertions) {
            self.assert_sound(out.now);
        }
    }
}
