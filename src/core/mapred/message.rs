//! The messages between actors. The contents of a heartbeat and of its answer are in
//! [`heartbeat`](super::heartbeat).
//!
//! Each receiver has its own enum of messages, so a message to the wrong core does not compile. A
//! message under way is a [`Mail`], which names the receiver.

use std::sync::Arc;

use crate::cluster::{NetworkCut, PerSlot, Reread, ResourceUse, SlotKind, Speeds, TrackerId};
use crate::mapred::event::{Event, Fact, Outcome};
use crate::mapred::heartbeat::{Heartbeat, Missing, Reply};
use crate::mapred::ids::{AttemptId, JobId, TaskId};
use crate::mapred::reason::{SlotStanding, WaitingTasks};
use crate::mapred::replicas::Replicas;
use crate::mapred::spec::{JobAlteration, JobSpec};
use crate::mapred::stall::Stall;
use crate::protocol::{Message, MessageEffect, Protocol};
use mumakil_base::units::{Bytes, SimSpan, SimTime};

/// The protocol of MapReduce v1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapReduce {}

impl Protocol for MapReduce {
    type Mail = Mail;
    type Fact = Fact;
    type Event = Event;
    type Stall = Stall;
    type Watch = dyn WatchedJobTracker;
    /// All messages of an instant are equal.
    type Rank = ();

    fn event(at: SimTime, fact: Fact) -> Event {
        Event { at, fact }
    }

    fn effect(mail: &Mail) -> MessageEffect {
        mail.effect()
    }

    fn rank(_: &Mail) {}
}

/// A JobTracker that can be asked for what no event tells, between two messages.
pub trait WatchedJobTracker {
    /// Lists the [holdings](super::Scheduler::holdings) of the policy's pools at an instant.
    fn holdings(&self, now: SimTime, kind: SlotKind, say: &mut dyn FnMut(&str, SlotStanding));

    /// Returns how a job's tasks wait.
    fn waiting(&self, job: JobId) -> PerSlot<WaitingTasks>;
}

/// A message for the JobTracker.
#[derive(Clone, Debug)]
pub enum ToJobTracker {
    /// From the injector: a job is submitted.
    Submit(Arc<JobSpec>),
    /// From the injector: a job is to be killed.
    KillJob(JobId),
    /// From a client or an administrator: a job gets another priority or another pool.
    Alter(Arc<JobAlteration>),
    /// From a client: the running attempts of a task are killed, or failed.
    EndTask(Box<HandEnd>),
    /// From an administrator: the policy reads its pools or queues again; the next ones come.
    Reload,
    /// From the injector: how busy is the cluster with these jobs? They are in the order of
    /// submission.
    AskLoad(Arc<Vec<JobId>>),
    /// From a TaskTracker: a heartbeat.
    Heartbeat(Heartbeat),
    /// From the NameNode: the present places of all blocks, for clients that submit jobs and for
    /// maps that read.
    Replicas(Arc<Replicas>),
    /// From an administrator: a node is put on the exclude list.
    Exclude(TrackerId),
    /// From an administrator: a node is taken off the exclude list.
    Include(TrackerId),
    /// From a fault: the JobTracker's process pauses this long.
    Pause(SimSpan),
    /// From a fault: the JobTracker's process dies, and comes back after this long; its jobs fail.
    Restart(SimSpan),
    /// From a fault: the JobTracker's process dies, and comes back after this long; it recovers its
    /// jobs in the way of its Hadoop version.
    RestartAndRecover(SimSpan),
    /// From a user who tries another policy: the next policy takes over, between two heartbeats.
    /// Hadoop cannot do that.
    ChangePolicy,
    /// From itself: its pause or restart is over.
    Wake,
    /// From itself: it is free for the next heartbeat. The number says how often its process had
    /// died before the message was planned; if the process has died since, the message is ignored.
    Serve(u32),
    /// From itself: a job's splits are read. The number is as in `Serve`.
    Initialised(JobId, u32),
    /// From itself: time to look for silent trackers.
    Expire,
    /// From itself: the policy's tick.
    Tick,
    /// From itself: the policy's tick, after the heartbeats that were under way at that instant.
    Tock,
    /// From the start of the run: the JobTracker begins to work. Without this message it begins to
    /// work when any other message arrives.
    Start,
    /// From the clock: only rounds are due. The JobTracker then reports what the tasks and attempts
    /// of each job wait for.
    Rest,
    /// From the clock: the run is over. The JobTracker emits the facts that it has held back. This
    /// is the last message.
    Over,
}

/// A user ends the running attempts of a task by hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandEnd {
    /// The task.
    pub task: TaskId,
    /// Whether they count as failed (`hadoop job -fail-task`), or as killed, which does not count
    /// against the task (`-kill-task`).
    pub fails: bool,
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
    /// From the JobTracker: an answer to a heartbeat that has no orders and no news, and leaves the
    /// interval as it was.
    Noted {
        /// The number of the call that this answers.
        call: u32,
        /// How long the heartbeat waited for the JobTracker to be free.
        queued: SimSpan,
    },
    /// From the core [`MapOutputs`](super::MapOutputs): the outputs that a reply counts but that
    /// cannot be fetched.
    OutOfReach {
        /// The number of the call that the reply answered.
        call: u32,
        /// Whether a running reduce may complain of these outputs.
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
    /// From a fault: the slots that its process has from its next start on; `None` leaves a kind as
    /// it is. Boxed: it is rarely sent, and without the box every message would be larger.
    Slots(Box<PerSlot<Option<u32>>>),
    /// From a fault: all data that its tasks left on its disks is lost.
    DiskLost,
    /// From a fault: the result of the node's health script, `true` if the node is well.
    Health(bool),
    /// From the fabric: flows have new rates.
    Rates(Arc<Vec<FlowRate>>),
    /// From itself: the next heartbeat is due, unless the number is stale.
    Beat(u32),
    /// From itself: the time-out of the heartbeat with this number, which got no reply.
    NoReply(u32),
    /// From the JobTracker's machine: the heartbeat with this number is refused, as the process is
    /// dead.
    Refused(u32),
    /// From itself: time to send a refused heartbeat again, unless the number is stale.
    Again(u32),
    /// From itself: a phase of an attempt ends, unless the number is stale.
    PhaseEnds(u64),
    /// From itself: an attempt has made no progress for as long as the time-out.
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
    /// From itself: the copies under way with this number are done.
    Copied(u32),
}

/// A message for the core [`MapOutputs`](super::MapOutputs). Ids of attempts are boxed: they are
/// rarely sent, and without the box every message would be larger.
#[derive(Clone, Debug)]
pub enum ToMapOutputs {
    /// From the JobTracker: an output counts from now on.
    Counts(Arc<MapOutput>),
    /// From the JobTracker: this output no longer counts.
    Lost(Box<AttemptId>),
    /// From the JobTracker: a job has ended or begins anew, and its outputs are no longer fetched.
    Over(JobId),
    /// From the JobTracker: a tracker has joined.
    Joined(TrackerId),
    /// From the JobTracker: a tracker is lost.
    Left(TrackerId),
    /// From a TaskTracker: which of the outputs that this reply counts can its reduces not fetch?
    Ask {
        /// The tracker that asks.
        tracker: TrackerId,
        /// Whether a running reduce may complain of these outputs.
        works: bool,
        /// The reply.
        reply: Arc<Reply>,
    },
    /// From the fault injector: the outputs on a machine can no longer be fetched, since its
    /// tracker is down.
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
    /// Whether the mishap turns machines or trackers off or on; otherwise it only changes speeds.
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
    /// For the core [`MapOutputs`](super::MapOutputs).
    MapOutputs(ToMapOutputs),
}

impl Message for ToJobTracker {
    type Protocol = MapReduce;

    fn effect(&self) -> MessageEffect {
        match self {
            // Calls of a client: each changes a job as it arrives.
            Self::Submit(_) | Self::KillJob(_) | Self::Alter(_) | Self::EndTask(_) => {
                MessageEffect::BOTH
            }
            // A heartbeat changes nothing by itself: if it reports the end of an attempt, that end
            // was a message of its own.
            Self::AskLoad(_) | Self::Heartbeat(_) => MessageEffect::COUNTS,
            // Faults of the scenario, and messages that end some work of the JobTracker.
            Self::Exclude(_)
            | Self::Include(_)
            | Self::Pause(_)
            | Self::Restart(_)
            | Self::RestartAndRecover(_)
            | Self::ChangePolicy
            | Self::Reload
            | Self::Wake
            | Self::Initialised(..)
            | Self::Start => MessageEffect::MOVES,
            // The JobTracker's own rounds. A policy may act at a tick, but only within its
            // `patience`; the JobTracker reports that it is idle only after that time.
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
    type Protocol = MapReduce;

    fn effect(&self) -> MessageEffect {
        match self {
            Self::JobEnded(..) => MessageEffect::BOTH,
            // The answer leads to a new job only if the cluster has room.
            Self::Load(_) => MessageEffect::COUNTS,
            // The run must wait for a job that is still to come.
            Self::Submit(_) | Self::Arrive => MessageEffect::MOVES,
            Self::Probe => MessageEffect::NONE,
        }
    }
}

impl Message for ToTracker {
    type Protocol = MapReduce;

    fn effect(&self) -> MessageEffect {
        match self {
            // The end of a phase is a message from the task's process to its tracker.
            Self::PhaseEnds(_) => MessageEffect::BOTH,
            // A reply may carry a launch; but the JobTracker knows its own launches, so it does not
            // report that it is idle.
            Self::Reply(_) | Self::Noted { .. } => MessageEffect::COUNTS,
            Self::PowerOn
            | Self::PowerOff
            | Self::Crash
            | Self::DiskLost
            | Self::Health(_)
            | Self::Impatient
            | Self::FlowDone(_) => MessageEffect::MOVES,
            // This moves the run: running reduces will complain of the outputs that they cannot
            // fetch.
            Self::OutOfReach { works: true, missing, .. } if !missing.is_empty() => {
                MessageEffect::MOVES
            }
            // New rates need not move the run: the end of a running flow is already planned.
            Self::Rates(_)
            | Self::OutOfReach { .. }
            | Self::Speeds(_)
            | Self::Slots(_)
            | Self::Beat(_)
            | Self::NoReply(_)
            | Self::Refused(_)
            | Self::Again(_) => MessageEffect::NONE,
        }
    }
}

impl Message for ToFabric {
    type Protocol = MapReduce;

    fn effect(&self) -> MessageEffect {
        match self {
            Self::FlowBegins(_) | Self::FlowEnds { .. } | Self::MemoryLeft(..) => {
                MessageEffect::MOVES
            }
            // Speeds may change for ever, even on machines without flows, so changes must not keep
            // the run going.
            Self::Speeds(..) | Self::Settle => MessageEffect::NONE,
        }
    }
}

impl Message for ToFaultInjector {
    type Protocol = MapReduce;

    fn effect(&self) -> MessageEffect {
        // Slow spells may recur for ever. They change when a task ends, but not whether it ends, so
        // they do not move the run.
        let (Self::Begins(stroke) | Self::Ends(stroke)) = self;
        MessageEffect { moves: stroke.is_power, ..MessageEffect::NONE }
    }
}

impl Message for ToNameNode {
    type Protocol = MapReduce;

    /// No message here moves the run, as no job waits for a copy: a map that finds no copy fails.
    fn effect(&self) -> MessageEffect {
        MessageEffect::NONE
    }
}

impl Message for ToMapOutputs {
    type Protocol = MapReduce;

    fn effect(&self) -> MessageEffect {
        match self {
            // These move the run: reduces that can no longer fetch will complain, and maps will run
            // again.
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
    /// Returns how the message concerns the run as a whole.
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

/// The longest time between two load probes: the injector's questions how busy the cluster is.
// Mumak's SimulatorJobClient probes after 1 s, and doubles that up to LOAD_PROB_INTERVAL_MAX.
pub const LONGEST_PROBE: SimSpan = SimSpan::from_secs(320);

/// How busy the cluster is, by the JobTracker's ledger.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// The number of jobs that the injector asked about.
    pub jobs: u32,
    /// How many trackers may get tasks.
    pub trackers: u32,
    /// The map slots of these trackers.
    pub map_slots: u32,
    /// How many maps of these jobs have not ended; a running map counts as the share of its work
    /// that is left. The sum has single precision, as in Mumak.
    pub map_work: f32,
}

/// A flow of an attempt: a transfer or a computation that shares resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId {
    /// The tracker on whose node the attempt runs.
    pub tracker: TrackerId,
    /// The number of the flow on its tracker.
    pub number: u32,
}

/// A new flow, and what the fabric needs to know about it.
#[derive(Clone, Debug)]
pub struct FlowBegins {
    /// The id of the flow.
    pub id: FlowId,
    /// The resources that it uses.
    pub uses: Arc<[ResourceUse]>,
    /// The block that it reads, if the block may be in the page cache.
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
        // Together with its instant of arrival, a message takes 32 bytes in the queue.
        assert!(size_of::<Mail>() <= 24, "{}", size_of::<Mail>());
        assert!(size_of::<Event>() <= 88, "{}", size_of::<Event>());
    }
}
