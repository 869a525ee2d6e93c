//! The messages between actors. The contents of a heartbeat and of its answer are in
//! [`heartbeat`](super::heartbeat).
//!
//! Each receiver has its own enum, so that a message to the wrong core does not compile and no core
//! must ignore messages. Under way a message is a [`Mail`], which includes the receiver.

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
    /// Returns the effect of the message on the run, apart from its contents.
    fn effect(&self) -> MessageEffect;
}

/// The effect of a message on the run, apart from its contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageEffect {
    /// Whether it counts as a message of the run and goes through a mailbox: all messages do but a
    /// core's own timers, power switches and the rates of flows.
    pub counts: bool,
    /// Whether it may change a slot or a job by itself. A message that may not is a *round*, such
    /// as a heartbeat: rounds go on for ever, and only carry changes that were made elsewhere, or
    /// decisions that a policy has put off.
    pub moves: bool,
}

impl MessageEffect {
    // A message that moves nothing but is marked so makes the end of a run late; a forgotten mark
    // would end the run too early.
    const NONE: Self = Self { counts: false, moves: false };
    const COUNTS: Self = Self { counts: true, moves: false };
    const MOVES: Self = Self { counts: false, moves: true };
    const BOTH: Self = Self { counts: true, moves: true };
}

/// A message for the JobTracker.
#[derive(Clone, Debug)]
pub enum ToJobTracker {
    /// From the injector: a job is submitted.
    Submit(Arc<JobSpec>),
    /// From the injector: a job is to be killed.
    KillJob(JobId),
    /// From the injector: how busy is the cluster with these jobs, in the order of their
    /// submission?
    AskLoad(Arc<Vec<JobId>>),
    /// From a TaskTracker: a heartbeat.
    Heartbeat(Heartbeat),
    /// From the NameNode, for the clients that submit jobs and the maps that read: where blocks are
    /// now.
    Replicas(Arc<Replicas>),
    /// From an administrator: a node is put on the exclude list.
    Exclude(TrackerId),
    /// From an administrator: a node is taken off the exclude list.
    Include(TrackerId),
    /// From a fault: its process pauses this long.
    Pause(SimSpan),
    /// From a fault: its process dies, and comes back after this long; its jobs fail.
    Restart(SimSpan),
    /// From a fault: its process dies, and comes back after this long; it recovers its jobs, as its
    /// Hadoop version does.
    RestartAndRecover(SimSpan),
    /// From a user who asks for the effect of another policy: the next policy takes over, between
    /// two heartbeats. Hadoop cannot do that.
    ChangePolicy,
    /// From itself: its pause or restart is over.
    Wake,
    /// From itself: it is free for the next heartbeat. The number is how often its process had
    /// died; it ignores this if the process has died since.
    Serve(u32),
    /// From itself: a job's splits are read. The number is how often its process had died.
    Initialised(JobId, u32),
    /// From itself: time to look for silent trackers.
    Expire,
    /// From itself: the policy's tick.
    Tick,
    /// From itself: the policy's tick, after the heartbeats that were under way at that instant.
    Tock,
    /// From the start of the run: it begins to work. Without this it begins with the first message.
    Start,
    /// From the clock: only rounds are due. The JobTracker reports what each part of each job waits
    /// for.
    Rest,
    /// From the clock: the run is over. The JobTracker emits the facts that it has held back. This
    /// is the last message.
    Over,
}

/// A message for the injector.
#[derive(Clone, Debug)]
pub enum ToInjector {
    /// From the JobTracker: a job has ended.
    JobEnded(JobId, Outcome),
    /// From the JobTracker: how busy the cluster is.
    Load(Arc<Load>),
    /// From the scenario: this job is submitted now.
    Submit(JobId),
    /// From itself: the next jobs are due.
    Arrive,
    /// From itself: time to check whether there is room for the next job.
    Probe,
}

/// A message for a TaskTracker.
#[derive(Clone, Debug)]
pub enum ToTracker {
    /// From the JobTracker: the answer to a heartbeat.
    Reply(Arc<Reply>),
    /// From the JobTracker: the answer to a heartbeat without orders or news; the interval is as
    /// before.
    Noted {
        /// The number of the call that this answers.
        call: u32,
        /// How long the heartbeat waited for the JobTracker to be free.
        queued: SimSpan,
    },
    /// From the outputs of maps: which outputs that a reply counts cannot be fetched.
    OutOfReach {
        /// The number of the call that the reply answered.
        call: u32,
        /// Whether a running reduce may complain of them.
        works: bool,
        /// The outputs that cannot be fetched.
        missing: Arc<Vec<Missing>>,
    },
    /// From the fault injector: its machine starts.
    PowerOn,
    /// From the fault injector: its machine goes off.
    PowerOff,
    /// From the fault injector: its process dies, and the machine goes on.
    Crash,
    /// From the fault injector: the speeds of its machine from now on.
    Speeds(Arc<Speeds>),
    /// From a fault: all data that its tasks left on its disks is lost.
    DiskLost,
    /// From a fault: whether the node's health script finds the node well.
    Health(bool),
    /// From the fabric: flows have new rates.
    Rates(Arc<Vec<FlowRate>>),
    /// From itself: the next heartbeat is due, unless the number is stale.
    Beat(u32),
    /// From itself: no reply came to this heartbeat.
    NoReply(u32),
    /// From the JobTracker's machine: the process is dead and cannot take this heartbeat.
    Refused(u32),
    /// From itself: time to send a refused heartbeat again, unless the number is stale.
    Again(u32),
    /// From itself: a phase of an attempt ends, unless the number is stale.
    PhaseEnds(u64),
    /// From itself: an attempt has made no progress for the time-out.
    Impatient,
    /// From itself: a flow has moved everything, unless the number is stale.
    FlowDone(u64),
}

/// A message for the fabric.
#[derive(Clone, Debug)]
pub enum ToFabric {
    /// From a TaskTracker: a flow begins.
    FlowBegins(Arc<FlowBegins>),
    /// From a TaskTracker: a flow has ended, or pauses.
    FlowEnds {
        /// The flow.
        id: FlowId,
        /// Whether it has moved everything.
        is_done: bool,
    },
    /// From a TaskTracker: how much memory of its node is left for the page cache; 0 while the node
    /// is off.
    MemoryLeft(TrackerId, Bytes),
    /// From the fault injector: the speeds of a machine from now on.
    Speeds(TrackerId, Arc<Speeds>),
    /// From itself: all changes of this instant have arrived.
    Settle,
}

/// A message for the fault injector.
#[derive(Clone, Copy, Debug)]
pub enum ToFaultInjector {
    /// From the scenario, or from itself: a mishap begins.
    Begins(MishapId),
    /// From the scenario, or from itself: a mishap ends.
    Ends(MishapId),
}

/// A message for the NameNode.
#[derive(Clone, Copy, Debug)]
pub enum ToNameNode {
    /// From the fault injector: a machine has gone off.
    Off(TrackerId),
    /// From the fault injector: a machine has come back, or has joined.
    On(TrackerId),
    /// From the fault injector: a machine should join, but is off.
    JoinsOff(TrackerId),
    /// From a fault: all data on a machine's disks is lost.
    DiskLost(TrackerId),
    /// From itself: a machine has been silent for too long, unless the number is stale.
    Missed(TrackerId, u32),
    /// From itself: the copies with this number are done.
    Copied(u32),
}

/// A message for the outputs of maps. An attempt's id is boxed, since it is rare and would make
/// every message larger.
#[derive(Clone, Debug)]
pub enum ToMapOutputs {
    /// From the JobTracker: an output counts from now on.
    Counts(Arc<MapOutput>),
    /// From the JobTracker: this output no longer counts.
    Lost(Box<AttemptId>),
    /// From the JobTracker: a job has ended, or is begun anew, and its outputs are no longer
    /// fetched.
    Over(JobId),
    /// From the JobTracker: a tracker has joined.
    Joined(TrackerId),
    /// From the JobTracker: a tracker is lost.
    Left(TrackerId),
    /// From a TaskTracker: which outputs that this reply counts can its reduces not fetch?
    Ask {
        /// The tracker that asks.
        tracker: TrackerId,
        /// Whether a running reduce may complain of them.
        works: bool,
        /// The reply.
        reply: Arc<Reply>,
    },
    /// From the fault injector: outputs on a machine can no longer be fetched.
    Darkness(TrackerId),
    /// From a fault: all outputs on a machine's disks are lost.
    DiskLost(TrackerId),
    /// From a TaskTracker: this output was on a lost disk. The JobTracker may not know yet that the
    /// map has ended.
    Spoilt(Box<AttemptId>),
    /// From a fault: a network cut begins or ends.
    Cut(Arc<NetworkCut>),
}

/// An output that the JobTracker counts from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapOutput {
    /// The map attempt that left it.
    pub map: AttemptId,
    /// The tracker where it is.
    pub at: TrackerId,
    /// How many maps of the job had ended before this one.
    pub order: u32,
}

/// Identifies a mishap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MishapId {
    /// The number of the mishap.
    pub number: u32,
    /// Whether it turns machines or trackers off or on; otherwise it only changes speeds.
    pub is_power: bool,
}

/// A message and its receiver.
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
    /// For the fault injector.
    FaultInjector(ToFaultInjector),
    /// For the NameNode.
    NameNode(ToNameNode),
    /// For the outputs of maps.
    MapOutputs(ToMapOutputs),
}

impl Message for ToJobTracker {
    fn effect(&self) -> MessageEffect {
        match self {
            // Calls of a client: each changes a job as it arrives.
            Self::Submit(_) | Self::KillJob(_) => MessageEffect::BOTH,
            // A heartbeat changes nothing by itself: it only reports an end that was a message
            // before.
            Self::AskLoad(_) | Self::Heartbeat(_) => MessageEffect::COUNTS,
            // Faults of the scenario, and ends of the JobTracker's own work.
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
            // `patience`; the JobTracker waits that long before it reports that it is idle.
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
            // The next job is due only if there is room.
            Self::Load(_) => MessageEffect::COUNTS,
            // A job that is still to come is worth waiting for.
            Self::Submit(_) | Self::Arrive => MessageEffect::MOVES,
            Self::Probe => MessageEffect::NONE,
        }
    }
}

impl Message for ToTracker {
    fn effect(&self) -> MessageEffect {
        match self {
            // The end of a phase is a message of the process to its tracker.
            Self::PhaseEnds(_) => MessageEffect::BOTH,
            // A reply may carry a launch, but the JobTracker knows its own orders when it reports
            // that it is idle.
            Self::Reply(_) | Self::Noted { .. } => MessageEffect::COUNTS,
            Self::PowerOn
            | Self::PowerOff
            | Self::Crash
            | Self::DiskLost
            | Self::Health(_)
            | Self::Impatient
            | Self::FlowDone(_) => MessageEffect::MOVES,
            // Running reduces will complain of the outputs that they cannot fetch.
            Self::OutOfReach { works: true, missing, .. } if !missing.is_empty() => {
                MessageEffect::MOVES
            }
            // A running flow has its end planned, at any rate.
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
        // Slow spells may go on for ever, and they change when a task ends, not whether it ends.
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
    /// Returns the effect of the message on the run, apart from its contents.
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

/// The longest time between two questions of the injector how busy the cluster is.
// Mumak's SimulatorJobClient probes after 1 s, and doubles that up to LOAD_PROB_INTERVAL_MAX.
pub const LONGEST_PROBE: SimSpan = SimSpan::from_secs(320);

/// How busy the cluster is, as far as the JobTracker knows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// The number of jobs in the question.
    pub jobs: u32,
    /// How many trackers may get tasks.
    pub trackers: u32,
    /// Their map slots.
    pub map_slots: u32,
    /// The maps of these jobs that have not ended; a running map counts for the part that is left.
    /// Added up as in Mumak, in single precision.
    pub map_work: f32,
}

/// A flow of an attempt: a transfer or a computation that shares resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId {
    /// The tracker on whose node the attempt runs.
    pub tracker: TrackerId,
    /// The tracker's number for the flow.
    pub number: u32,
}

/// A new flow, with all that the fabric needs for it.
#[derive(Clone, Debug)]
pub struct FlowBegins {
    /// The id of the flow.
    pub id: FlowId,
    /// The resources that it uses.
    pub uses: Arc<[ResourceUse]>,
    /// The block that it reads, if the block may be in memory.
    pub reread: Option<Arc<Reread>>,
}

/// The new rate of a flow, for its tracker.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowRate {
    /// The flow's number.
    pub number: u32,
    /// Its rate from now on: bytes a second, or cores.
    pub rate: f64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapred::event::Event;

    #[test]
    fn messages_and_events_stay_small() {
        // With its time in the queue, a message has 32 bytes.
        assert!(size_of::<Mail>() <= 24, "{}", size_of::<Mail>());
        assert!(size_of::<Event>() <= 88, "{}", size_of::<Event>());
    }
}
