//! The messages between actors. The contents of a heartbeat and of its answer are in
//! [`heartbeat`](super::heartbeat).
//!
//! Each receiver has an enum of its own, so that a message to the wrong core cannot be written and
//! no core has messages that it must ignore. Under way a message is [`Mail`], which says for whom.

use std::sync::Arc;

use crate::cluster::{NetworkCut, Reread, ResourceUse, Speeds, TrackerId};
use crate::mapred::event::Outcome;
use crate::mapred::heartbeat::{Heartbeat, Missing, Reply};
use crate::mapred::ids::{AttemptId, JobId};
use crate::mapred::replicas::Replicas;
use crate::mapred::spec::JobSpec;
use mumakil_base::units::{Bytes, SimSpan};

/// A message for one kind of core.
pub trait Message: Clone + Send + 'static {
    /// Returns the effect that it has on the run, beside its contents.
    fn effect(&self) -> MessageEffect;
}

/// The effect of a message on the run, beside its contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageEffect {
    /// Whether it counts as a message of the run and goes through a mailbox: all but a core's
    /// clockwork, power switches and what becomes of flows.
    pub counts: bool,
    /// Whether it may change a slot or a job by itself. A message that may not is a *round*, such as a
    /// heartbeat: rounds go on for ever, and only carry changes that were made elsewhere, or decisions that a
    /// policy has put off.
    pub moves: bool,
}

impl MessageEffect {
    // Too many moves only make the end of a run late; a forgotten one would end it too early.
    const NONE: Self = Self { counts: false, moves: false };
    const COUNTS: Self = Self { counts: true, moves: false };
    const MOVES: Self = Self { counts: false, moves: true };
    const BOTH: Self = Self { counts: true, moves: true };
}

/// A message for the JobTracker.
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
    /// By the NameNode, for the clients that submit jobs and the maps that read: where blocks are now.
    Replicas(Arc<Replicas>),
    /// By an administrator: a node is on the list of nodes that may not take part.
    Exclude(TrackerId),
    /// By an administrator: a node is on that list no more.
    Include(TrackerId),
    /// By the world: its process stops in its tracks for so long.
    Pause(SimSpan),
    /// By the world: its process dies, and is back after so long, without its jobs, which fail.
    Restart(SimSpan),
    /// By the world: the same, but it then goes on with its jobs, as its line of Hadoop does.
    RestartAndRecover(SimSpan),
    /// By a user who asks what another policy would do: the next policy takes over, between two
    /// heartbeats. Hadoop cannot do that.
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
    /// By the clock: the run is over. The JobTracker tells the facts that it has held back. Nothing
    /// comes after this.
    Over,
}

/// A message for the injector.
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

/// A message for a TaskTracker.
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
    /// By the outputs of maps: some of those that a reply counts cannot be fetched.
    OutOfReach {
        /// The number of the call that the reply answered.
        call: u32,
        /// Whether a reduce works that may complain.
        works: bool,
        /// The outputs that cannot be fetched.
        missing: Arc<Vec<Missing>>,
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
    /// By the JobTracker's machine: no process is there to take this heartbeat.
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

/// A message for the fabric.
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

/// A message for nature.
#[derive(Clone, Copy, Debug)]
pub enum ToFaultInjector {
    /// By the world, or by itself: a mishap begins.
    Begins(MishapStroke),
    /// By the world, or by itself: a mishap is over.
    Ends(MishapStroke),
}

/// A message for the NameNode.
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

/// A message for the outputs of maps. An attempt's id is boxed: it is rare, and would make each message
/// larger.
#[derive(Clone, Debug)]
pub enum ToMapOutputs {
    /// By the JobTracker: an output counts from now on.
    Counts(Arc<MapOutput>),
    /// By the JobTracker: this output does not count any more.
    Lost(Box<AttemptId>),
    /// By the JobTracker: a job is over, or begun anew, and its outputs are not fetched any more.
    Over(JobId),
    /// By the JobTracker: a tracker has joined.
    Joined(TrackerId),
    /// By the JobTracker: a tracker was given up.
    Left(TrackerId),
    /// By a TaskTracker, for its reduces: what of the maps that this reply counts can they not fetch?
    Ask {
        /// Which tracker.
        tracker: TrackerId,
        /// Whether one of the reduces works, and so will complain of what it cannot fetch.
        works: bool,
        /// The reply.
        reply: Arc<Reply>,
    },
    /// By nature: what lies on a machine cannot be fetched any more.
    Darkness(TrackerId),
    /// By the world: what maps have left on a machine's disks is gone.
    DiskLost(TrackerId),
    /// By a TaskTracker: the output of a map, of whose end the JobTracker may not have heard, was on such
    /// a disk.
    Spoilt(Box<AttemptId>),
    /// By the world: nodes are cut off from the others, or are so no more.
    Cut(Arc<NetworkCut>),
}

/// An output that the JobTracker counts from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapOutput {
    /// The attempt that left it.
    pub map: AttemptId,
    /// Where it lies.
    pub at: TrackerId,
    /// How many maps of the job had ended before this one.
    pub order: u32,
}

/// Which mishap it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MishapStroke {
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
    FaultInjector(ToFaultInjector),
    /// For the NameNode.
    NameNode(ToNameNode),
    /// For the outputs of maps.
    MapOutputs(ToMapOutputs),
}

impl Message for ToJobTracker {
    fn effect(&self) -> MessageEffect {
        match self {
            // A client's calls: each changes a job as it arrives.
            Self::Submit(_) | Self::KillJob(_) => MessageEffect::BOTH,
            // A heartbeat moves nothing by itself: it only reports an end that was planned as a
            // message before.
            Self::AskLoad(_) | Self::Heartbeat(_) => MessageEffect::COUNTS,
            // Faults of the scenario, and the end of work that takes the JobTracker time.
            Self::Exclude(_)
            | Self::Include(_)
            | Self::Pause(_)
            | Self::Restart(_)
            | Self::RestartAndRecover(_)
            | Self::ChangePolicy
            | Self::Wake
            | Self::Initialised(..)
            | Self::Start => MessageEffect::MOVES,
            // The JobTracker's own rounds. A policy may act at a tick, but only within its
            // `patience`, for which the JobTracker waits before it says that it is idle.
            Self::Replicas(_)
            | Self::Serve(_)
            | Self::Expire
            | Self::Tick
            | Self::Tock
            | Self::Rest
            | Self::Over => MessageEffect::NONE,
        }
    }
}

impl Message for ToInjector {
    fn effect(&self) -> MessageEffect {
        match self {
            Self::JobEnded(..) => MessageEffect::BOTH,
            // If there is room, the next job is due.
            Self::Load(_) => MessageEffect::COUNTS,
            // A job that is still to come is something to wait for.
            Self::Submit(_) | Self::Arrive => MessageEffect::MOVES,
            Self::Probe => MessageEffect::NONE,
        }
    }
}

impl Message for ToTracker {
    fn effect(&self) -> MessageEffect {
        match self {
            // The end of a phase is what a task's process tells its tracker.
            Self::PhaseEnds(_) => MessageEffect::BOTH,
            // A reply may launch something, but the JobTracker knows of its orders when it says
            // that it is idle.
            Self::Reply(_) | Self::Noted { .. } => MessageEffect::COUNTS,
            Self::PowerOn
            | Self::PowerOff
            | Self::Crash
            | Self::DiskLost
            | Self::Health(_)
            | Self::Impatient
            | Self::FlowDone(_) => MessageEffect::MOVES,
            // Working reduces complain some day of the outputs that they cannot fetch.
            Self::OutOfReach { works: true, missing, .. } if !missing.is_empty() => {
                MessageEffect::MOVES
            }
            // A flow under way has its end planned, at whatever rate.
            Self::Rates(_)
            | Self::OutOfReach { .. }
            | Self::Speeds(_)
            | Self::Beat(_)
            | Self::NoReply(_)
            | Self::Refused(_)
            | Self::Again(_) => MessageEffect::NONE,
        }
    }
}

impl Message for ToFabric {
    fn effect(&self) -> MessageEffect {
        match self {
            Self::FlowBegins(_) | Self::FlowEnds { .. } | Self::MemoryLeft(..) => {
                MessageEffect::MOVES
            }
            // Machines may be slow now and then for ever, with no flow on them.
            Self::Speeds(..) | Self::Settle => MessageEffect::NONE,
        }
    }
}

impl Message for ToFaultInjector {
    fn effect(&self) -> MessageEffect {
        // Slow spells may go on for ever, and they change only when something ends, not whether it
        // does.
        let (Self::Begins(stroke) | Self::Ends(stroke)) = self;
        MessageEffect { moves: stroke.is_power, ..MessageEffect::NONE }
    }
}

impl Message for ToNameNode {
    /// No job waits for a copy: a map that finds none fails.
    fn effect(&self) -> MessageEffect {
        MessageEffect::NONE
    }
}

impl Message for ToMapOutputs {
    fn effect(&self) -> MessageEffect {
        match self {
            // Reduces that can no longer fetch will complain, and maps will run again.
            Self::Darkness(_) | Self::DiskLost(_) | Self::Spoilt(_) | Self::Cut(_) => {
                MessageEffect::MOVES
            }
            Self::Counts(_)
            | Self::Lost(_)
            | Self::Over(_)
            | Self::Joined(_)
            | Self::Left(_)
            | Self::Ask { .. } => MessageEffect::NONE,
        }
    }
}

impl Mail {
    /// Returns the message's effect on the run, beside its contents.
    pub fn effect(&self) -> MessageEffect {
        match self {
            Self::JobTracker(msg) => msg.effect(),
            Self::Injector(msg) => msg.effect(),
            Self::Tracker(_, msg) => msg.effect(),
            Self::Fabric(msg) => msg.effect(),
            Self::FaultInjector(msg) => msg.effect(),
            Self::NameNode(msg) => msg.effect(),
            Self::MapOutputs(msg) => msg.effect(),
        }
    }
}

macro_rules! mail_from {
    ($($Message:ident is $Receiver:ident),* $(,)?) => {
        $(impl From<$Message> for Mail {
            fn from(msg: $Message) -> Self {
                Self::$Receiver(msg)
            }
        })*
    };
}

mail_from! {
    ToJobTracker is JobTracker,
    ToInjector is Injector,
    ToFaultInjector is FaultInjector,
    ToNameNode is NameNode,
    ToMapOutputs is MapOutputs,
    ToFabric is Fabric,
}

/// The injector may ask how busy the cluster is before it submits a job; it asks again within this time.
// Mumak's SimulatorJobClient probes after 1 s, and doubles that up to LOAD_PROB_INTERVAL_MAX.
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

/// A flow of an attempt: a transfer or a computation that has to share what it uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId {
    /// The tracker on whose node the attempt runs.
    pub tracker: TrackerId,
    /// The number that this tracker gave it.
    pub number: u32,
}

/// A new flow, with all that the fabric needs to know of it.
#[derive(Clone, Debug)]
pub struct FlowBegins {
    /// Which it is.
    pub id: FlowId,
    /// The resources that it uses.
    pub uses: Arc<[ResourceUse]>,
    /// The block that it reads, if that may be in memory.
    pub reread: Option<Arc<Reread>>,
}

/// The new rate of a flow, for its tracker.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowRate {
    /// The flow's number.
    pub number: u32,
    /// How fast it is from now on: bytes a second, or cores.
    pub rate: f64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapred::event::Event;

    #[test]
    fn messages_and_events_stay_small() {
        // With its time in the queue, a message is 32 bytes.
        assert!(size_of::<Mail>() <= 24, "{}", size_of::<Mail>());
        assert!(size_of::<Event>() <= 88, "{}", size_of::<Event>());
    }
}
