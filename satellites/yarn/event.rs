//! The events of a run: all that its tables tell.

use crate::message::{AppId, AskPriority, ContainerEnd, ContainerId, MasterId, NodeId};
use crate::size::YarnSize;
use mumakil_base::units::SimTime;

/// Something that has happened, with its instant.
#[derive(Clone, Debug)]
pub struct YarnEvent {
    /// When it happened.
    pub at: SimTime,
    /// The fact.
    pub fact: YarnFact,
}

/// A fact of a run.
#[derive(Clone, Debug)]
pub enum YarnFact {
    /// A node has sent a heartbeat.
    Beat(NodeId),
    /// A container has changed.
    Container(ContainerId, ContainerFact),
    /// An application has changed.
    Application(MasterId, ApplicationFact),
    /// The ResourceManager would have ended itself, by a fault of its own.
    Fault(String),
    /// The shares of a queue or an application at an update of the fair scheduler.
    Share(Box<ShareReading>),
}

impl YarnFact {
    /// Returns whether a container has changed, other than by a reservation.
    pub(crate) const fn is_progress(&self) -> bool {
        use ContainerFact::{Reserved, Unreserved};
        matches!(self, Self::Container(_, fact) if !matches!(fact, Reserved(..) | Unreserved(..)))
    }
}

/// A change of a container.
#[derive(Clone, Debug)]
pub enum ContainerFact {
    /// A node is kept for it.
    Reserved(NodeId, YarnSize, AskPriority),
    /// The node is no longer kept for it: it was given up, or the container is allocated.
    Unreserved(NodeId, YarnSize, AskPriority),
    /// It has a node.
    Allocated(NodeId, YarnSize, AskPriority),
    /// Its master has got it.
    Acquired,
    /// Its master has launched a task on it: the place of the task in its job's list.
    Assigned(u32),
    /// Its master runs in it.
    IsMaster,
    /// The node has begun it.
    Launched,
    /// The ResourceManager knows that it runs.
    Running,
    /// The node has said that it is over, and since when its work was done; `None` if it was
    /// ended by order.
    Finished(Option<SimTime>),
    /// The ResourceManager counts it as ended.
    Ended(ContainerEnd),
    /// Its master has looked at its end.
    Heard,
}

/// A change of an application.
#[derive(Clone, Debug)]
pub enum ApplicationFact {
    /// It was submitted, and has a number.
    Submitted(AppId),
    /// It was refused, for this reason.
    Rejected(String),
    /// Its master has registered.
    Registered,
    /// Its master has begun to work.
    MasterStarted,
    /// Its master has asked for maps for the first time.
    MapsAsked,
    /// Its master has asked for reduces for the first time.
    ReducesAsked,
    /// Its master's container is given back.
    MasterReleased,
    /// Its master has unregistered.
    Finished,
}

/// A queue or an application at an update of the fair scheduler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareReading {
    /// Its name.
    pub name: String,
    /// All that it has and wants, as of this update.
    pub demand: YarnSize,
    /// Its fair share.
    pub share: YarnSize,
    /// All that it has now.
    pub usage: YarnSize,
}
