//! The events of a run: all that its tables tell.

use crate::checker::QueueCeiling;
use crate::message::{AppId, AskPriority, ContainerEnd, ContainerId, MasterId, NodeId};
use crate::size::YarnSize;
use mumakil_base::units::{Factor, SimTime};

/// Something that has happened, with its instant.
#[derive(Clone, Debug)]
pub(crate) struct YarnEvent {
    pub(crate) at: SimTime,
    pub(crate) fact: YarnFact,
}

/// A fact of a run.
#[cfg_attr(not(test), expect(dead_code, reason = "golden runs compare all of it"))]
#[derive(Clone, Debug)]
pub(crate) enum YarnFact {
    /// A node has sent a heartbeat.
    Beat(NodeId),
    Node(NodeId, NodeFact),
    Container(ContainerId, ContainerFact),
    Application(MasterId, ApplicationFact),
    /// The ResourceManager would have ended itself, by a fault of its own.
    Fault(String),
    /// The shares of a queue or an application at an update of the fair scheduler.
    Share(Box<ShareReading>),
    /// The reason of an application's waiting has changed: the span that is over, if it took any
    /// time, and the reason from now on, if it still waits.
    Waits(MasterId, Option<WaitSpan>, Option<YarnWait>),
}

/// A reason for which an application waits, as of the last decision about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum YarnWait {
    /// Limits of its queue or user on masters, or on applications that run, keep it out.
    Activation,
    /// No node was offered since it asked.
    Offer,
    /// Others come before it.
    Share,
    /// Its queue has all that it may have.
    QueueMaximum,
    /// Its user has all that he may have in the queue.
    UserLimit,
    /// The node was not where it asked to be, and it may still get one that is.
    Locality,
    /// The node had too little room; it may be kept for the application now.
    Room,
    /// Its containers have nodes; its master gets them at its next call.
    Acquisition,
    /// Its master has its containers; the ResourceManager learns that they run at the next
    /// heartbeats of their nodes.
    Launch,
}

/// A time that an application waited for one reason, up to the instant of the event. Spans of one
/// application do not overlap, and leave no gaps while it asks or its containers do not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WaitSpan {
    pub(crate) reason: YarnWait,
    pub(crate) from: SimTime,
    /// How many offers of nodes were made in it.
    pub(crate) times: u32,
}

/// A change of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum NodeFact {
    /// It has registered; the ResourceManager gives its room away from now on.
    Registered,
    Stopped,
    /// Tasks take so many times as long there from now on.
    Slowed(Factor),
    /// The ResourceManager has given it up.
    Lost,
}

impl YarnFact {
    /// Returns whether a container has changed, other than by a reservation.
    pub(crate) const fn is_progress(&self) -> bool {
        use ContainerFact::{Reserved, Unreserved};
        matches!(self, Self::Container(_, fact) if !matches!(fact, Reserved(..) | Unreserved(..)))
    }
}

/// A change of a container.
#[cfg_attr(not(test), expect(dead_code, reason = "golden runs compare all of it"))]
#[derive(Clone, Debug)]
pub(crate) enum ContainerFact {
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
    /// Its task has told its master that the work is done; only MapReduce's masters are told.
    Done,
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
pub(crate) enum ApplicationFact {
    /// It was submitted, and has a number.
    Submitted(AppId),
    /// It was refused, for this reason.
    Rejected(String),
    /// It is accepted: the limits of its queue and of those above.
    Placed(Box<[QueueCeiling]>),
    /// It asks for so many containers of a priority from now on, wherever they are.
    Asked(AskPriority, i32),
    Registered,
    /// Its master has begun to work.
    MasterStarted,
    /// Its master has asked for maps for the first time.
    MapsAsked,
    /// Its master has asked for reduces for the first time.
    ReducesAsked,
    /// An attempt has failed; another one begins, or the application fails.
    AttemptFailed,
    /// It has failed, as too many attempts have.
    Failed,
    /// The ResourceManager has ended all its containers, and forgets it.
    Removed,
    /// Its master's container is given back.
    MasterReleased,
    /// Its master has unregistered.
    Finished,
}

/// A queue or an application at an update of the fair scheduler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShareReading {
    pub(crate) name: String,
    /// All that it has and wants, as of this update.
    pub(crate) demand: YarnSize,
    pub(crate) share: YarnSize,
    /// All that it has now.
    pub(crate) usage: YarnSize,
}
