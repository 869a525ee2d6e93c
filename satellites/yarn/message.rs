//! The messages between nodes, applications' masters and the ResourceManager, and their order.
//!
//! Each receiver has its own enum, so a message to the wrong core does not compile. A message under
//! way is a [`YarnMail`], which names the receiver.
//!
//! **Order within one instant.** A *step* is something that a core does by its own clock: a beat
//! of a node, a step of a master, a tick of the ResourceManager. Steps that are due together go by
//! [`YarnMail::rank`]: ticks first, then nodes by number, then masters by number. All that follows
//! from a step has rank 0, so it is over before the next step begins, first in, first out.

use std::collections::VecDeque;

use crate::event::{YarnEvent, YarnFact};
use crate::size::YarnSize;
use mumakil_base::units::{SimSpan, SimTime};

macro_rules! dense_ids {
    ($($(#[$doc:meta])* $Id:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $Id(pub u32);
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
pub struct PlaceId(pub u32);

impl PlaceId {
    /// Any node of the cluster, which asks call `*`.
    pub const ANY: Self = Self(0);
}

/// A container: its application, and its number in it, from 1. Numbers have gaps: a container that
/// was tried in vain has used up one, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContainerId {
    /// The application.
    pub app: AppId,
    /// The number.
    pub number: u32,
}

/// The importance of an ask within its application: lower numbers come first.
pub type AskPriority = i32;

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
pub enum ContainerEnd {
    /// Its work is done.
    Completed,
    /// Preempted, or its application is over.
    Killed,
    /// It was not launched in time.
    Expired,
}

/// A heartbeat: the news of a node since its last one. Hadoop repeats all running containers, but
/// its ResourceManager looks only at new ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct NodeReport {
    pub(crate) launched: Vec<ContainerId>,
    /// Containers that have ended by themselves, in that order.
    pub(crate) completed: Vec<ContainerId>,
    /// Containers that the ResourceManager has ordered to end.
    pub(crate) aborted: Vec<ContainerId>,
}

/// An application as it is submitted.
#[derive(Clone, Debug)]
pub(crate) struct Submission {
    pub(crate) user: String,
    /// The queue, as the job names it.
    pub(crate) queue: String,
    /// The size of the master's container, if the ResourceManager starts the master itself.
    pub(crate) managed_master: Option<YarnSize>,
}

/// The answer to a master's call.
#[derive(Clone, Debug, Default)]
pub(crate) struct MasterAnswer {
    /// New containers with their nodes, in the order of allocation.
    pub(crate) allocated: Vec<(ContainerId, NodeId)>,
    /// Ended containers: by name of the node, then as they ended.
    pub(crate) ended: Vec<(ContainerId, ContainerEnd)>,
}

/// The rounds of the ResourceManager, in their order within one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SchedulerTick {
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
    RegisterNode(NodeId),
    Heartbeat(NodeId, Box<NodeReport>),
    Submit(MasterId, Box<Submission>),
    /// A master asks, and fetches what is new.
    Allocate(MasterId, Vec<ContainerAsk>),
    Unregister(MasterId),
    /// A round of its own.
    Tick(SchedulerTick),
}

/// A message for a node's NodeManager.
#[derive(Clone, Debug)]
pub(crate) enum ToNodeManager {
    /// A heartbeat is due.
    Beat,
    /// The answer to a heartbeat: the containers that must go.
    Answer(Vec<ContainerId>),
    /// A container is launched; a master has no life of its own and runs until it ends itself.
    Launch(ContainerId, Option<SimSpan>),
    /// A master has ended.
    EndMaster(ContainerId),
}

/// A message for an application's master.
#[derive(Clone, Debug)]
pub(crate) enum ToMaster {
    /// A step is due.
    Step,
    /// The answer to a call.
    Answer(Box<MasterAnswer>),
    /// The ResourceManager has launched the master itself.
    Launched(ContainerId, NodeId),
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
    pub(crate) fn rank(&self) -> u32 {
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

/// The letters and events of a core, and whether the run is over.
#[derive(Debug, Default)]
pub(crate) struct YarnOutbox {
    /// The instant at which the core handles the message.
    pub(crate) now: SimTime,
    /// Letters with their delays.
    pub(crate) letters: VecDeque<(SimSpan, YarnMail)>,
    pub(crate) events: Vec<YarnEvent>,
    pub(crate) stop: Option<YarnStop>,
}

/// Why a run of YARN ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum YarnStop {
    /// All applications are over.
    Done,
    /// The time of the run is up.
    TimeUp,
    /// The ResourceManager would have ended itself by a fault of its own.
    Fault(String),
}

impl YarnOutbox {
    /// Sends a message now.
    pub(crate) fn send(&mut self, mail: impl Into<YarnMail>) {
        self.plan(SimSpan::ZERO, mail);
    }

    /// Sends a message after a delay, such as a timer of the core itself.
    pub(crate) fn plan(&mut self, after: SimSpan, mail: impl Into<YarnMail>) {
        self.letters.push_back((after, mail.into()));
    }

    /// Adds an event at the present instant.
    pub(crate) fn emit(&mut self, fact: YarnFact) {
        self.events.push(YarnEvent { at: self.now, fact });
    }
}
