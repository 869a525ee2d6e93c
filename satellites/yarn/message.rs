//! The messages between nodes, applications' masters and the ResourceManager, and their order.
//!
//! Each receiver has its own enum, so a message to the wrong core does not compile. A message under
//! way is a [`YarnMail`], which names the receiver.
//!
//! **Order within one instant.** A *step* is something that a core does by its own clock: a beat
//! of a node, a step of a master, a tick of the ResourceManager. Steps that are due together go by
//! [`YarnMail::rank`]: ticks first, then nodes by number, then masters by number. All that follows
//! from a step has rank 0, so it is over before the next step begins, first in, first out.

use crate::event::{YarnEvent, YarnFact};
use crate::size::{SizeCalculator, YarnSize};
use mumakil_base::units::{Factor, SimSpan, SimTime};
use mumakil_core::mapred::Stall;
use mumakil_core::protocol::{CoreOutbox, Message, MessageEffect, Protocol};

macro_rules! dense_ids {
    ($($(#[$doc:meta])* $Id:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(crate) struct $Id(pub u32);
        impl $Id {
            pub(crate) const fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

dense_ids! {
    /// A node, from 0, in the order of the scenario.
    NodeId;
    /// An application's master, from 0, in the order of the jobs.
    MasterId;
    /// An application, from 1, in the order of submission.
    AppId;
}

/// A name that an ask may give: of a host, of a rack, or of any place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct PlaceId(pub u32);

impl PlaceId {
    /// Any node of the cluster, which asks call `*`.
    pub(crate) const ANY: Self = Self(0);
}

/// A container: its application, and its number in it, from 1. Numbers have gaps: a container that
/// was tried in vain has used up one, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ContainerId {
    pub(crate) app: AppId,
    pub(crate) number: u32,
}

/// The importance of an ask within its application: lower numbers come first.
pub(crate) type AskPriority = i32;

/// A wish for containers at one place; it replaces the former one of its place and priority.
#[derive(Clone, Debug)]
pub(crate) struct ContainerAsk {
    pub(crate) priority: AskPriority,
    pub(crate) place: PlaceId,
    /// The size of one of them.
    pub(crate) size: YarnSize,
    pub(crate) count: i32,
}

/// How a container ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContainerEnd {
    /// Its work is done.
    Completed,
    /// Preempted, or its application is over.
    Killed,
    /// It was not launched in time.
    Expired,
    /// Its process has ended before its work was done.
    Failed,
    /// Its node was given up, or has registered anew.
    Lost,
    /// Its master had no use for it.
    Released,
}

/// A heartbeat: the news of a node since its last one. Hadoop repeats all running containers, but
/// its ResourceManager looks only at new ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct NodeReport {
    /// Containers that have begun.
    pub(crate) launched: Vec<ContainerId>,
    /// Containers that have ended by themselves, in that order, and how.
    pub(crate) ended: Vec<(ContainerId, ContainerEnd)>,
    /// Containers that the ResourceManager has ordered to end.
    pub(crate) aborted: Vec<ContainerId>,
}

/// An application as it is submitted.
#[derive(Clone, Debug)]
pub(crate) struct AppSubmission {
    pub(crate) user: String,
    /// The queue, as the job names it.
    pub(crate) queue: String,
    /// The size of the master's container, if the ResourceManager starts the master itself.
    pub(crate) managed_master: Option<YarnSize>,
}

/// A container that its master gets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AllocatedContainer {
    pub(crate) id: ContainerId,
    pub(crate) node: NodeId,
    /// The host and the rack of the node, as asks name them.
    pub(crate) host_and_rack: [PlaceId; 2],
    pub(crate) priority: AskPriority,
    pub(crate) size: YarnSize,
}

/// The answer to a master's call.
#[derive(Clone, Debug, Default)]
pub(crate) struct MasterAnswer {
    /// New containers, in the order of allocation.
    pub(crate) allocated: Vec<AllocatedContainer>,
    /// Ended containers: by name of the node, then as they ended.
    pub(crate) ended: Vec<(ContainerId, ContainerEnd)>,
    /// The nodes that were given up since the last answer.
    pub(crate) lost: Vec<NodeId>,
    /// How much more the application may get at present, by the scheduler's estimate.
    pub(crate) headroom: YarnSize,
    /// How amounts are compared with it.
    pub(crate) calculator: SizeCalculator,
}

/// The rounds of the ResourceManager, in their order within one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SchedulerTick {
    /// Looks for silent nodes.
    NodeLiveness,
    /// Looks for silent masters.
    MasterLiveness,
    /// Looks for containers that were acquired and never launched.
    Liveness,
    /// Computes demands and shares, and preempts (fair).
    Update,
    /// Preempts (capacity).
    Preempt,
    /// Offers all nodes (fair with continuous scheduling).
    OfferAll,
}

/// A message for the ResourceManager.
#[derive(Clone, Debug)]
pub(crate) enum ToResourceManager {
    /// A node begins, or begins anew.
    RegisterNode(NodeId),
    Heartbeat(NodeId, Box<NodeReport>),
    Submit(MasterId, Box<AppSubmission>),
    /// A master asks, returns containers that it has no use for, and fetches what is new.
    Allocate(MasterId, Box<(Vec<ContainerAsk>, Vec<ContainerId>)>),
    /// A master ends its work.
    Unregister(MasterId),
    Tick(SchedulerTick),
}

/// The work of a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContainerWork {
    /// A task that takes so long.
    Task(SimSpan),
    /// A task that waits for the word of its master, and tells it when it has ended.
    Reporting(MasterId),
    /// A master, which runs until it ends itself.
    Master(MasterId),
}

/// A message for a node's NodeManager.
#[derive(Clone, Debug)]
pub(crate) enum ToNodeManager {
    Beat,
    /// The answer to a heartbeat: the containers that must go.
    Answer(Vec<ContainerId>),
    /// A container is launched.
    Launch(ContainerId, ContainerWork),
    /// A master has ended.
    EndMaster(ContainerId),
    /// The process of a container ends before its work is done.
    Fail(ContainerId),
    /// A task that waits takes such a time from now on.
    Proceed(ContainerId, SimSpan),
    /// The work of a task may be over.
    Look(ContainerId),
    /// The machine stops, with all that runs on it.
    Stop,
    /// The machine that has stopped runs again, without any container.
    Return,
    /// Tasks take so many times as long from now on.
    Slow(Factor),
}

/// A message for an application's master.
#[derive(Clone, Debug)]
pub(crate) enum ToMaster {
    Step,
    /// The answer to a call.
    Answer(Box<MasterAnswer>),
    /// The ResourceManager has launched the master itself.
    Launched(ContainerId, NodeId),
    /// A task has ended.
    TaskEnded(ContainerId),
    /// The master's process ends.
    Die,
    /// The master does nothing more.
    Hang,
    /// The master's machine has stopped, or the ResourceManager has given the master up.
    Lost,
}

/// A message and its receiver.
#[derive(Clone, Debug)]
pub(crate) enum YarnMail {
    ResourceManager(ToResourceManager),
    NodeManager(NodeId, ToNodeManager),
    Master(MasterId, ToMaster),
}

impl YarnMail {
    /// Returns the place among messages that are due at the same instant: the lowest comes first,
    /// and those of equal rank come as they were sent.
    fn rank(&self) -> u32 {
        const NODES: u32 = 1 << 8;
        const MASTERS: u32 = 1 << 31;
        match self {
            Self::ResourceManager(ToResourceManager::Tick(tick)) => *tick as u32 + 1,
            Self::NodeManager(id, ToNodeManager::Beat) => NODES + id.0,
            Self::Master(id, ToMaster::Step) => MASTERS + id.0,
            _ => 0,
        }
    }
}

impl From<ToResourceManager> for YarnMail {
    fn from(message: ToResourceManager) -> Self {
        Self::ResourceManager(message)
    }
}

/// YARN's protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Yarn {}

impl Protocol for Yarn {
    type Mail = YarnMail;
    type Fact = YarnFact;
    type Event = YarnEvent;
    type Stall = Stall;
    type Watch = ();
    type Rank = u32;

    fn event(at: SimTime, fact: YarnFact) -> YarnEvent {
        YarnEvent { at, fact }
    }

    fn effect(mail: &YarnMail) -> MessageEffect {
        match mail {
            YarnMail::ResourceManager(message) => message.effect(),
            YarnMail::NodeManager(_, message) => message.effect(),
            YarnMail::Master(_, message) => message.effect(),
        }
    }

    fn rank(mail: &YarnMail) -> u32 {
        mail.rank()
    }
}

/// Messages between cores count; a core's own steps are timers.
macro_rules! messages {
    ($($Msg:ident: $own:pat,)*) => {$(
        impl Message for $Msg {
            type Protocol = Yarn;

            fn effect(&self) -> MessageEffect {
                match self {
                    $own => MessageEffect::MOVES,
                    _ => MessageEffect::BOTH,
                }
            }
        }
    )*};
}

messages! {
    ToResourceManager: Self::Tick(_),
    ToNodeManager: Self::Beat | Self::Look(_),
    ToMaster: Self::Step,
}

/// The letters and events of a core.
pub(crate) type YarnOutbox = CoreOutbox<Yarn>;
