//! What actors tell each other, and how a core tells the world what it wants.
//!
//! A core is a state machine with one entry, [`Core::handle`]. It gets the instant and a message
//! and leaves letters and events in an [`Outbox`]: it neither knows who carries them nor when.
//!
//! Each receiver has an enum of its own, so that a message to the wrong core cannot be written and
//! no core has messages that it must ignore. Under way a message is [`Mail`], which says for whom.

use std::sync::Arc;

use super::{
    AttemptId, AttemptState, Event, Fact, JobId, JobSpec, Locality, Outcome, PerSlot, Replicas,
    Role, Stall, TaskKind, TracedTimes, TrackerId,
};
use crate::cluster::{Cut, Reread, Speeds, Use};
use crate::units::{Bytes, SimSpan, SimTime};

/// A state machine that an actor can run.
pub trait Core: Send {
    /// What it is told.
    type Msg: Message;

    /// Takes a message; answers, later wishes and events go to `out`.
    fn handle(&mut self, now: SimTime, msg: &Self::Msg, out: &mut Outbox);
}

/// What one kind of core is told.
pub trait Message: Clone + Send + 'static {
    /// Returns whether this counts as a message of the run and goes through a mailbox: all but a
    /// core's clockwork, power switches and what becomes of flows.
    fn counts(&self) -> bool;

    /// Returns whether this may change a slot or a job by itself. What does not is a *round*, such as a
    /// heartbeat: rounds go on for ever, and only carry what something else has changed, or what a
    /// policy has been patient about.
    fn moves(&self) -> bool;
}

/// What the JobTracker is told.
#[derive(Clone, Debug)]
pub enum ToJobTracker {
    /// By the injector: a job is submitted.
    Submit(Arc<JobSpec>),
    /// By the injector: a job is to be killed.
    KillJob(JobId),
    /// By the injector: how busy is the cluster with these jobs, in the order of their submission?
    AskLoad(Arc<Vec<JobId>>),
    /// By a TaskTracker: a heartbeat.
    Heartbeat(Heartbeat),
    /// By the world: what lies on a machine cannot be fetched any more. It tells the reduces that
    /// ask for map outputs, and does not know it itself.
    Darkness(TrackerId),
    /// By the world: what maps have left on a machine's disks is gone. It does not know this itself.
    DiskLost(TrackerId),
    /// By the world: the output of a map, of whose end it may not have heard yet, was on such a disk. It is
    /// rare, and would make each message larger.
    Spoilt(Box<AttemptId>),
    /// By the NameNode, for the clients that submit jobs and the maps that read: where blocks are now.
    Replicas(Arc<Replicas>),
    /// By the world: nodes are cut off from the others, or are so no more. It does not know this
    /// itself, either.
    Cut(Arc<Cut>),
    /// By an administrator: a node is on the list of those that may not take part.
    Exclude(TrackerId),
    /// By an administrator: a node is on that list no more.
    Include(TrackerId),
    /// By the world: its process stops in its tracks for so long.
    Pause(SimSpan),
    /// By the world: its process dies, and is back after so long, without its jobs, which fail.
    Restart(SimSpan),
    /// By the world: the same, but it then goes on with its jobs, as its line of Hadoop does.
    RestartAndRecover(SimSpan),
    /// By whoever asks what would be: the next policy takes over, between two heartbeats. No Hadoop can
    /// do that.
    ChangePolicy,
    /// By itself: its process works again.
    Wake,
    /// By itself: it is free for the next heartbeat, unless its process has died since: the number says
    /// how often it had.
    Serve(u32),
    /// By itself: a job's splits are read, unless its process has died since, as above.
    Initialised(JobId, u32),
    /// By itself: time to look for silent trackers.
    Expire,
    /// By itself: the policy's own time.
    Tick,
    /// By itself: the policy's own time, after the heartbeats that were under way at that instant.
    Tock,
    /// By the world: it begins to work. Without this it does so with the first message.
    Start,
    /// By the clock: nothing is due any more but rounds. It is to say who waits for what.
    Rest,
    /// By the clock: the run is over, and it tells what it has kept to itself. Nothing comes after this.
    Over,
}

/// What the injector is told.
#[derive(Clone, Debug)]
pub enum ToInjector {
    /// By the JobTracker: a job has ended.
    JobEnded(JobId, Outcome),
    /// By the JobTracker: so busy is the cluster.
    Load(Arc<Load>),
    /// By the world: somebody submits this job now.
    Submit(JobId),
    /// By itself: the next jobs are due.
    Arrive,
    /// By itself: time to look whether there is room for the next job.
    Probe,
}

/// What a TaskTracker is told.
#[derive(Clone, Debug)]
pub enum ToTracker {
    /// By the JobTracker: the answer to a heartbeat.
    Reply(Arc<Reply>),
    /// By the JobTracker: the answer to a heartbeat of which nothing follows, but the next one after the
    /// same time as before.
    Noted {
        /// The number of the call that this answers.
        call: u32,
        /// How long the heartbeat waited for the JobTracker to be free.
        queued: SimSpan,
    },
    /// By the world: its machine starts.
    PowerOn,
    /// By the world: its machine dies.
    PowerOff,
    /// By the world: its process dies, and the machine goes on.
    Crash,
    /// By the world: its machine is so fast from now on.
    Speeds(Arc<Speeds>),
    /// By the world: all that its tasks have left on its disks is gone.
    DiskLost,
    /// By the world: its node's health script finds the node well, or not.
    Health(bool),
    /// By the fabric: flows have new rates.
    Rates(Arc<Vec<FlowRate>>),
    /// By itself: the next heartbeat is due, unless the number is stale.
    Beat(u32),
    /// By itself: no reply came to this heartbeat.
    NoReply(u32),
    /// By the JobTracker's machine: nobody is there to take this heartbeat.
    Refused(u32),
    /// By itself: time to send a refused heartbeat again, unless the number is stale.
    Again(u32),
    /// By itself: a phase of an attempt ends, unless the number is stale.
    PhaseEnds(u64),
    /// By itself: an attempt has made no progress for as long as it may.
    Impatient,
    /// By itself: a flow has done at its rate what there was to do, unless the number is stale.
    FlowDone(u64),
}

/// What the fabric is told.
#[derive(Clone, Debug)]
pub enum ToFabric {
    /// By a TaskTracker: a flow begins.
    FlowBegins(Arc<FlowBegins>),
    /// By a TaskTracker: a flow has ended, or pauses.
    FlowEnds {
        /// The flow.
        id: FlowId,
        /// Whether it has moved all that there was.
        is_done: bool,
    },
    /// By a TaskTracker: so much memory of its node is left for the page cache; none, while the
    /// node is off.
    MemoryLeft(TrackerId, Bytes),
    /// By the world: a machine is so fast from now on.
    Speeds(TrackerId, Arc<Speeds>),
    /// By itself: the changes of this instant are all there.
    Settle,
}

/// What nature is told.
#[derive(Clone, Copy, Debug)]
pub enum ToNature {
    /// By the world, or by itself: a mishap begins.
    Begins(Stroke),
    /// By the world, or by itself: a mishap is over.
    Ends(Stroke),
}

/// What the NameNode is told.
#[derive(Clone, Copy, Debug)]
pub enum ToNameNode {
    /// By nature: a machine has gone off.
    Off(TrackerId),
    /// By nature: a machine has come back, or has joined.
    On(TrackerId),
    /// By nature: a machine should have joined, and is off.
    JoinsOff(TrackerId),
    /// By the world: what lay on a machine's disks is gone.
    DiskLost(TrackerId),
    /// By itself: a machine has been silent for too long, unless the number is stale.
    Missed(TrackerId, u32),
    /// By itself: this copying is over.
    Copied(u32),
}

/// Which mishap it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stroke {
    /// Its number.
    pub number: u32,
    /// Whether machines or trackers go off or come back with it; else they are only faster or slower.
    pub is_power: bool,
}

/// A message and whom it is for.
#[derive(Clone, Debug)]
pub enum Mail {
    /// For the JobTracker.
    JobTracker(ToJobTracker),
    /// For the injector.
    Injector(ToInjector),
    /// For a TaskTracker.
    Tracker(TrackerId, ToTracker),
    /// For the fabric.
    Fabric(ToFabric),
    /// For nature.
    Nature(ToNature),
    /// For the NameNode.
    NameNode(ToNameNode),
}

impl Message for ToJobTracker {
    fn counts(&self) -> bool {
        match self {
            Self::Submit(_) | Self::KillJob(_) | Self::AskLoad(_) | Self::Heartbeat(_) => true,
            Self::Darkness(_)
            | Self::DiskLost(_)
            | Self::Spoilt(_)
            | Self::Replicas(_)
            | Self::Cut(_)
            | Self::Exclude(_)
            | Self::Include(_)
            | Self::Pause(_)
            | Self::Restart(_)
            | Self::RestartAndRecover(_)
            | Self::ChangePolicy
            | Self::Wake
            | Self::Serve(_)
            | Self::Initialised(..)
            | Self::Expire
            | Self::Tick
            | Self::Tock
            | Self::Start
            | Self::Rest
            | Self::Over => false,
        }
    }

    fn moves(&self) -> bool {
        match self {
            Self::Submit(_)
            | Self::KillJob(_)
            | Self::Darkness(_)
            | Self::DiskLost(_)
            | Self::Spoilt(_)
            | Self::Cut(_)
            | Self::Exclude(_)
            | Self::Include(_)
            | Self::Pause(_)
            | Self::Restart(_)
            | Self::RestartAndRecover(_)
            | Self::ChangePolicy
            | Self::Wake
            | Self::Initialised(..)
            | Self::Start => true,
            Self::AskLoad(_)
            | Self::Heartbeat(_)
            | Self::Replicas(_)
            | Self::Serve(_)
            | Self::Expire
            | Self::Tick
            | Self::Tock
            | Self::Rest
            | Self::Over => false,
        }
    }
}

impl Message for ToInjector {
    fn counts(&self) -> bool {
        match self {
            Self::JobEnded(..) | Self::Load(_) => true,
            Self::Submit(_) | Self::Arrive | Self::Probe => false,
        }
    }

    fn moves(&self) -> bool {
        match self {
            Self::JobEnded(..) | Self::Submit(_) | Self::Arrive => true,
            // If there is room, the next job is due.
            Self::Load(_) | Self::Probe => false,
        }
    }
}

impl Message for ToTracker {
    fn counts(&self) -> bool {
        match self {
            // The end of a phase is what a task's process tells its tracker.
            Self::Reply(_) | Self::Noted { .. } | Self::PhaseEnds(_) => true,
            Self::PowerOn
            | Self::PowerOff
            | Self::Crash
            | Self::Speeds(_)
            | Self::Impatient
            | Self::DiskLost
            | Self::Health(_)
            | Self::Rates(_)
            | Self::Beat(_)
            | Self::NoReply(_)
            | Self::Refused(_)
            | Self::Again(_)
            | Self::FlowDone(_) => false,
        }
    }

    fn moves(&self) -> bool {
        match self {
            Self::PowerOn
            | Self::PowerOff
            | Self::Crash
            | Self::DiskLost
            | Self::Health(_)
            | Self::PhaseEnds(_)
            | Self::Impatient
            | Self::FlowDone(_) => true,
            // A flow under way has its end planned, at whatever rate.
            Self::Rates(_)
            | Self::Reply(_)
            | Self::Noted { .. }
            | Self::Speeds(_)
            | Self::Beat(_)
            | Self::NoReply(_)
            | Self::Refused(_)
            | Self::Again(_) => false,
        }
    }
}

impl Message for ToFabric {
    fn counts(&self) -> bool {
        match self {
            Self::FlowBegins(_)
            | Self::FlowEnds { .. }
            | Self::MemoryLeft(..)
            | Self::Speeds(..)
            | Self::Settle => false,
        }
    }

    fn moves(&self) -> bool {
        match self {
            Self::FlowBegins(_) | Self::FlowEnds { .. } | Self::MemoryLeft(..) => true,
            // Machines may be slow now and then for ever, with no flow on them.
            Self::Speeds(..) | Self::Settle => false,
        }
    }
}

impl Message for ToNature {
    fn counts(&self) -> bool {
        match self {
            Self::Begins(_) | Self::Ends(_) => false,
        }
    }

    fn moves(&self) -> bool {
        match self {
            // Slow spells may go on for ever, and what ends later for them ends all the same.
            Self::Begins(stroke) | Self::Ends(stroke) => stroke.is_power,
        }
    }
}

impl Message for ToNameNode {
    fn counts(&self) -> bool {
        match self {
            Self::Off(_)
            | Self::On(_)
            | Self::JoinsOff(_)
            | Self::DiskLost(_)
            | Self::Missed(..)
            | Self::Copied(_) => false,
        }
    }

    fn moves(&self) -> bool {
        match self {
            // Nobody waits for a copy: who finds none fails.
            Self::Off(_)
            | Self::On(_)
            | Self::JoinsOff(_)
            | Self::DiskLost(_)
            | Self::Missed(..)
            | Self::Copied(_) => false,
        }
    }
}

impl Mail {
    /// Returns whether this counts as a message of the run; see [`Message::counts`].
    pub fn counts(&self) -> bool {
        match self {
            Self::JobTracker(msg) => msg.counts(),
            Self::Injector(msg) => msg.counts(),
            Self::Tracker(_, msg) => msg.counts(),
            Self::Fabric(msg) => msg.counts(),
            Self::Nature(msg) => msg.counts(),
            Self::NameNode(msg) => msg.counts(),
        }
    }

    /// Returns whether this may change a slot or a job by itself; see [`Message::moves`].
    pub fn moves(&self) -> bool {
        match self {
            Self::JobTracker(msg) => msg.moves(),
            Self::Injector(msg) => msg.moves(),
            Self::Tracker(_, msg) => msg.moves(),
            Self::Fabric(msg) => msg.moves(),
            Self::Nature(msg) => msg.moves(),
            Self::NameNode(msg) => msg.moves(),
        }
    }
}

impl From<ToJobTracker> for Mail {
    fn from(msg: ToJobTracker) -> Self {
        Self::JobTracker(msg)
    }
}

impl From<ToInjector> for Mail {
    fn from(msg: ToInjector) -> Self {
        Self::Injector(msg)
    }
}

impl From<ToNature> for Mail {
    fn from(msg: ToNature) -> Self {
        Self::Nature(msg)
    }
}

impl From<ToNameNode> for Mail {
    fn from(msg: ToNameNode) -> Self {
        Self::NameNode(msg)
    }
}

impl From<ToFabric> for Mail {
    fn from(msg: ToFabric) -> Self {
        Self::Fabric(msg)
    }
}

/// Who asks how busy the cluster is, and may submit a job then, asks again after so long at the latest.
pub const LONGEST_PROBE: SimSpan = SimSpan::from_secs(320);

/// How busy the cluster is, as the JobTracker knows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// The jobs that were asked about.
    pub jobs: u32,
    /// Trackers that it knows.
    pub trackers: u32,
    /// Their map slots.
    pub map_slots: u32,
    /// Maps of these jobs that have not ended; those under way count for what is left of them. As
    /// Mumak adds this up, in single precision.
    pub map_work: f32,
}

/// A heartbeat on its way.
///
/// Most of them bring no news, and would only be built, carried and compared to find that out. So a
/// tracker that has none says just that; it happens, travels, queues and is answered as every other.
#[derive(Clone, Debug)]
pub enum Heartbeat {
    /// One with a whole status.
    Full(Arc<Status>),
    /// All is as the last whole status said, but for how far attempts are, and its tracker knows from the
    /// reply that this was heard. None of its attempts fetches, waits for its commit, hangs or has ended.
    AsBefore(Call),
}

impl Heartbeat {
    /// Returns which it is.
    pub fn call(&self) -> Call {
        match self {
            Self::Full(status) => status.call,
            Self::AsBefore(call) => *call,
        }
    }
}

/// Which heartbeat it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// Who sends it.
    pub tracker: TrackerId,
    /// Its number, which the reply repeats.
    pub number: u32,
    /// The number of the last reply that its tracker has; `None` at first contact.
    pub last_reply: Option<u16>,
}

/// What a TaskTracker says with a heartbeat.
#[derive(Clone, Debug, Default)]
pub struct Status {
    /// Which heartbeat it is.
    pub call: Call,
    /// Whether its process has just started.
    pub restarted: bool,
    /// Whether its node's health script finds the node unfit.
    pub is_unhealthy: bool,
    /// The slots that it has.
    pub slots: PerSlot<u32>,
    /// The slots that it regards as taken. An attempt that waits for its commit is left out, as
    /// `hadoop.commit_pending` says.
    pub occupied: PerSlot<u32>,
    /// Every attempt that has not been reported as ended.
    pub reports: Vec<Report>,
    /// What reduces have failed to fetch, each time that they complain.
    pub failed_fetches: Vec<FailedFetch>,
}

/// A reduce complains that it cannot fetch a map's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailedFetch {
    /// The reduce.
    pub reduce: AttemptId,
    /// The attempt that left the output.
    pub map: AttemptId,
}

/// What a TaskTracker says of one attempt.
#[derive(Clone, Copy, Debug)]
pub struct Report {
    /// The attempt.
    pub attempt: AttemptId,
    /// Its state.
    pub state: AttemptState,
    /// What it is doing.
    pub phase: Phase,
    /// How far it is, from 0 to 1, as it last said.
    pub progress: f32,
    /// How long its process had worked when it said so, or when it ended.
    pub ran: SimSpan,
    /// How long of that it did a map's work or reduced.
    pub worked: SimSpan,
    /// Whether it needs to know how many maps have ended.
    pub wants_maps: bool,
}

impl Report {
    /// Returns whether another report of the attempt brings no news but its progress.
    pub(super) fn says_no_less_than(&self, next: &Self) -> bool {
        self.attempt == next.attempt && self.state == next.state && self.state.calls_for_nothing()
    }
}

/// What a running attempt does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Its process starts.
    Start,
    /// It does a map's, setup's or cleanup's work.
    Work,
    /// It fetches the maps' output.
    Shuffle,
    /// It merges what it fetched.
    Sort,
    /// It reduces.
    Reduce,
    /// It commits.
    Commit,
}

/// The JobTracker's answer to a heartbeat.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    /// The number of the call that this answers.
    pub call: u32,
    /// The number of this reply.
    pub id: u16,
    /// When the next heartbeat is due, after this arrives.
    pub interval: SimSpan,
    /// Whether the tracker is unknown and must start anew.
    pub reinit: bool,
    /// Whether the tracker may not take part and must end.
    pub disallowed: bool,
    /// What the tracker is to do, in order.
    pub directives: Vec<Directive>,
    /// How far the maps of the jobs are whose reduces fetch here.
    pub maps: Vec<MapsDone>,
    /// What of it these reduces cannot fetch.
    pub missing: Vec<Missing>,
    /// How long the heartbeat waited for the JobTracker to be free.
    pub queued: SimSpan,
}

/// What a heartbeat's reply tells a tracker to do.
#[derive(Clone, Debug)]
pub enum Directive {
    /// Start an attempt, as soon as a slot is really free.
    Launch(Launch),
    /// End an attempt.
    Kill(AttemptId),
    /// Stop an attempt in its tracks, so that its slot is free.
    Suspend(AttemptId),
    /// Let a suspended attempt go on, as soon as a slot is really free.
    Resume(AttemptId),
    /// An attempt may commit.
    Commit(AttemptId),
}

/// What a tracker needs to know of an attempt that it is to run.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The attempt.
    pub attempt: AttemptId,
    /// What it does.
    pub role: Role,
    /// Its job.
    pub job: Arc<JobSpec>,
    /// How far its input is; `None` for all but maps with input.
    pub locality: Option<Locality>,
    /// How many slots it takes.
    pub slots: u32,
    /// Its times, and whether it fails, if a trace tells and the JobTracker has drawn what the trace
    /// leaves open; else its tracker draws that.
    pub drawn: Option<(TracedTimes, bool)>,
    /// Where blocks are, if it is a map that works and anything has befallen a node.
    pub files: Option<Arc<Replicas>>,
}

impl Launch {
    /// Returns the launch of an attempt that works in one slot, of which nothing else is known.
    pub fn work(attempt: AttemptId, job: Arc<JobSpec>) -> Self {
        Self { attempt, role: Role::Work, job, locality: None, slots: 1, drawn: None, files: None }
    }

    /// Returns whether this is a reduce, and not what removes its output.
    pub fn is_reduce(&self) -> bool {
        self.role == Role::Work && self.attempt.task.kind == TaskKind::Reduce
    }
}

/// How far a job's maps are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapsDone {
    /// The job.
    pub job: JobId,
    /// Maps that need not be waited for.
    pub done: u32,
    /// All maps.
    pub total: u32,
}

/// A map's output that cannot be fetched, or not any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The attempt that left it.
    pub map: AttemptId,
    /// Where it lies, or lay.
    pub at: TrackerId,
    /// How many maps of the job had ended before this one.
    pub order: u32,
    /// Whether the JobTracker knows that it is lost, and does not count the map as done.
    pub is_lost: bool,
    /// Whether its machine answers, but cannot read it.
    pub is_unreadable: bool,
}

/// A flow of an attempt: a transfer or a computation that has to share what it uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId {
    /// The tracker on whose node the attempt runs.
    pub tracker: TrackerId,
    /// The number that this tracker gave it.
    pub number: u32,
}

/// What the fabric needs to know of a flow.
#[derive(Clone, Debug)]
pub struct FlowBegins {
    /// Which it is.
    pub id: FlowId,
    /// What it uses.
    pub uses: Arc<[Use]>,
    /// The block that it reads, if that may be in memory.
    pub reread: Option<Arc<Reread>>,
}

/// What a tracker needs to know of a flow of its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowRate {
    /// The flow's number.
    pub number: u32,
    /// How fast it is from now on: bytes a second, or cores.
    pub rate: f64,
}

/// What a core wants of the world.
#[derive(Debug, Default)]
pub struct Outbox {
    /// What it says and plans.
    pub letters: Vec<Letter>,
    /// What it has seen.
    pub events: Vec<Event>,
    /// Why the run is over, if it is.
    pub stop: Option<Stop>,
    /// By the JobTracker: that it has nothing to do, as far as it knows.
    pub calm: Option<Calm>,
}

/// The JobTracker has nothing to do: trackers have told it no news and got no orders, its policy has
/// refused all that there is for longer than it is patient, and it waits for no time-out of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Calm {
    /// How many trackers it knows. A machine that runs and is not among them will join.
    pub trackers: u32,
    /// What has changed before this instant has come to it, and its answers have been obeyed.
    pub since: SimTime,
}

/// Mail on its way.
#[derive(Debug)]
pub struct Letter {
    /// How long its sender keeps it back.
    pub after: SimSpan,
    /// Whether it travels over the network, or is its sender's own plan or a matter of physics.
    pub travels: bool,
    /// What it says, and to whom.
    pub mail: Mail,
}

/// Why a run ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Every job has ended.
    Done,
    /// The scenario's `until` has come.
    TimeUp,
    /// Jobs are left, and nothing is due that could change a slot or a job.
    Stalled(Box<Stall>),
    /// It has taken as much real time as it may.
    TimeLimit,
}

impl Stop {
    /// Returns the word for it in `summary.json`, if jobs may be left for this reason that the
    /// scenario does not name.
    pub fn word(&self) -> Option<&'static str> {
        match self {
            Self::Done | Self::TimeUp => None,
            Self::Stalled(_) => Some("stalled"),
            Self::TimeLimit => Some("time_limit"),
        }
    }
}

impl Outbox {
    /// Sends a message now.
    pub fn send(&mut self, mail: impl Into<Mail>) {
        self.send_after(SimSpan::ZERO, mail);
    }

    /// Sends a message after a while.
    pub fn send_after(&mut self, after: SimSpan, mail: impl Into<Mail>) {
        self.letters.push(Letter { after, travels: true, mail: mail.into() });
    }

    /// Plans a message to oneself: a timer.
    pub fn plan(&mut self, after: SimSpan, own: impl Into<Mail>) {
        self.letters.push(Letter { after, travels: false, mail: own.into() });
    }

    /// Affects somebody now, as things do that need no message: it takes no time and is never lost.
    pub fn affect(&mut self, whom: impl Into<Mail>) {
        self.plan(SimSpan::ZERO, whom);
    }

    /// Notes what has happened.
    pub fn emit(&mut self, at: SimTime, fact: Fact) {
        self.events.push(Event { at, fact });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_and_events_stay_small() {
        // With its time and number in the queue, a message is 40 bytes.
        assert!(size_of::<Mail>() <= 24, "{}", size_of::<Mail>());
        assert!(size_of::<Event>() <= 88, "{}", size_of::<Event>());
    }
}
