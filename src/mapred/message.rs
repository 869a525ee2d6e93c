//! What actors tell each other, and how a core tells the world what it wants.
//!
//! A core is a state machine with one entry, [`Core::handle`]. It gets the instant and a message
//! and leaves letters and events in an [`Outbox`]: it neither knows who carries them nor when.

use std::sync::Arc;

use super::{
    AttemptId, AttemptState, Event, Fact, JobId, JobSpec, Locality, Outcome, PerSlot, Role,
    TaskKind, TrackerId,
};
use crate::cluster::Use;
use crate::units::{SimSpan, SimTime};

/// A state machine that an actor can run.
pub trait Core: Send {
    /// Takes a message; answers, later wishes and events go to `out`.
    fn handle(&mut self, now: SimTime, msg: Msg, out: &mut Outbox);
}

/// Who a letter is for: a dense number, so that the runtime can look it up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address(u32);

impl Address {
    /// The JobTracker.
    pub const JOB_TRACKER: Self = Self(0);
    /// The job injector.
    pub const INJECTOR: Self = Self(1);

    /// Returns the address of a TaskTracker.
    pub const fn tracker(id: TrackerId) -> Self {
        Self(id.0 + 2)
    }

    /// Returns the TaskTracker at this address, if it is one's.
    pub const fn as_tracker(self) -> Option<TrackerId> {
        match self.0.checked_sub(2) {
            Some(id) => Some(TrackerId(id)),
            None => None,
        }
    }

    /// Returns the address of the fabric, which comes after so many TaskTrackers.
    pub const fn fabric(trackers: u32) -> Self {
        Self(trackers + 2)
    }

    /// Returns the position among all actors: JobTracker, injector, TaskTrackers, fabric.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A message.
#[derive(Clone, Debug)]
pub enum Msg {
    /// Injector to JobTracker: a job is submitted.
    Submit(Arc<JobSpec>),
    /// Injector to JobTracker: a job is to be killed.
    KillJob(JobId),
    /// TaskTracker to JobTracker: a heartbeat.
    Status(Arc<Status>),
    /// JobTracker to TaskTracker: the answer to a heartbeat.
    Reply(Arc<Reply>),
    /// JobTracker to injector: a job has ended.
    JobEnded(JobId, Outcome),
    /// Injector to JobTracker: how busy is the cluster?
    AskLoad,
    /// JobTracker to injector: so busy.
    Load(Arc<Load>),
    /// JobTracker to injector: of so many jobs that have arrived some are left, but nothing runs
    /// and nothing moves.
    Stalled(u32),

    /// The world to a TaskTracker: its machine starts.
    PowerOn,
    /// The world to a TaskTracker: its machine dies.
    PowerOff,
    /// The world to the JobTracker: what lies on a machine cannot be fetched any more. Reduces would
    /// find out; here they hear of fewer maps.
    Darkness(TrackerId),

    /// A TaskTracker to the fabric: a flow begins.
    FlowBegins(Arc<FlowBegins>),
    /// A TaskTracker to the fabric: a flow has ended, or pauses.
    FlowEnds(FlowId),
    /// The fabric to a TaskTracker: flows have new rates.
    Rates(Arc<Vec<FlowRate>>),
    /// The fabric to itself: the changes of this instant are all there.
    Settle,

    /// A TaskTracker to itself: the next heartbeat is due, unless the number is stale.
    Beat(u32),
    /// A TaskTracker to itself: no reply came to this heartbeat.
    NoReply(u32),
    /// A TaskTracker to itself: a phase of an attempt ends, unless the number is stale.
    PhaseEnds(u64),
    /// A TaskTracker to itself: a flow has done at its rate what there was to do, unless the number
    /// is stale.
    FlowDone(u64),
    /// The JobTracker to itself: it is free for the next heartbeat.
    Serve,
    /// The JobTracker to itself: a job's splits are read.
    Initialised(JobId),
    /// The JobTracker to itself: time to look for silent trackers.
    Expire,
    /// The JobTracker to itself: the policy's own time.
    Tick,
    /// The injector to itself: the next jobs are due.
    Arrive,
}

impl Msg {
    /// Returns whether this counts as a message of the run and goes through a mailbox: all but an
    /// actor's clockwork, power switches and what becomes of flows.
    pub const fn counts(&self) -> bool {
        !matches!(
            self,
            Self::PowerOn
                | Self::PowerOff
                | Self::Darkness(_)
                | Self::FlowBegins(_)
                | Self::FlowEnds(_)
                | Self::Rates(_)
                | Self::FlowDone(_)
                | Self::Settle
                | Self::Beat(_)
                | Self::NoReply(_)
                | Self::Serve
                | Self::Initialised(_)
                | Self::Expire
                | Self::Tick
                | Self::Arrive
        )
    }
}

/// How busy the cluster is, as the JobTracker knows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// Jobs that have not ended.
    pub jobs: u32,
    /// Trackers that it knows.
    pub trackers: u32,
    /// Their map slots.
    pub map_slots: u32,
    /// Maps of these jobs that have not ended; those under way count for what is left of them.
    pub map_work: f64,
}

/// What a TaskTracker says with a heartbeat.
#[derive(Clone, Debug, Default)]
pub struct Status {
    /// Who says it.
    pub tracker: TrackerId,
    /// The number of the call, which the reply repeats.
    pub call: u32,
    /// The number of the last reply it has; `None` at first contact.
    pub last_reply: Option<u16>,
    /// Whether its process has just started.
    pub restarted: bool,
    /// The slots that it has.
    pub slots: PerSlot<u32>,
    /// The slots that it regards as taken. An attempt that waits for its commit is left out, as
    /// `hadoop.commit_pending` says.
    pub occupied: PerSlot<u32>,
    /// Every attempt that has not been reported as ended.
    pub reports: Vec<Report>,
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
        use AttemptState as S;
        self.attempt == next.attempt
            && self.state == next.state
            && matches!(self.state, S::Unassigned | S::Running | S::Suspended)
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
    /// What the tracker is to do, in order.
    pub directives: Vec<Directive>,
    /// How far the maps of the jobs are whose reduces fetch here.
    pub maps: Vec<MapsDone>,
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
}

impl Launch {
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
}

/// A message on its way.
#[derive(Debug)]
pub struct Letter {
    /// Who it is for.
    pub to: Address,
    /// How long its sender keeps it back.
    pub after: SimSpan,
    /// Whether it travels over the network, or is its sender's own plan or a matter of physics.
    pub travels: bool,
    /// What it says.
    pub msg: Msg,
}

/// Why a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Every job has ended.
    Done,
    /// The scenario's `until` has come.
    TimeUp,
    /// Jobs are left and nothing can move any more.
    Stalled,
}

impl Outbox {
    /// Sends a message now.
    pub fn send(&mut self, to: Address, msg: Msg) {
        self.send_after(SimSpan::ZERO, to, msg);
    }

    /// Sends a message after a while.
    pub fn send_after(&mut self, after: SimSpan, to: Address, msg: Msg) {
        self.letters.push(Letter { to, after, travels: true, msg });
    }

    /// Plans a message to oneself: a timer.
    pub fn plan(&mut self, after: SimSpan, own: Address, msg: Msg) {
        self.letters.push(Letter { to: own, after, travels: false, msg });
    }

    /// Affects somebody now, as things do that need no message: it takes no time and is never lost.
    pub fn affect(&mut self, whom: Address, msg: Msg) {
        self.plan(SimSpan::ZERO, whom, msg);
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
        assert!(size_of::<Msg>() <= 16, "{}", size_of::<Msg>());
        assert!(size_of::<Event>() <= 88, "{}", size_of::<Event>());
    }
}
