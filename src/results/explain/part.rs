//! The parts of a sojourn, and the rules by which jobs wait.

use serde::Serialize;

use mumakil_core::cluster::SlotKind;
use mumakil_core::mapred::By;

/// What a stretch of a job's time went into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SojournPart {
    /// Until its splits were read.
    Initialisation,
    /// Its setup task ran.
    Setup,
    /// No map of it had been launched yet.
    FirstMapWait,
    /// The map ran that was known last to have succeeded.
    Mapping,
    /// Maps of it had been launched, and that one had no slot yet.
    MapWait,
    /// All maps were done, and the reduce that was the last to end had no slot yet.
    ReduceWait,
    /// All maps were done, and a reduce that had been launched before still fetched.
    FetchingBehindMaps,
    /// A reduce that was launched after the maps were done fetched.
    Fetching,
    /// The reduce that kept it waiting sorted.
    Sorting,
    /// The reduce that kept it waiting reduced.
    Reducing,
    /// The attempt that kept it waiting was stopped, for another job's sake.
    Suspended,
    /// Something was decided, done or committed, and waited for a heartbeat to tell it.
    Heartbeats,
    /// The JobTracker's process stood still or was gone, so that nothing could be decided.
    JobTrackerAway,
    /// Its work was lost with a node or a disk, and the JobTracker did not know yet.
    Unnoticed,
    /// Work that was lost, or came to nothing, and had to be done again.
    Redone,
    /// Its cleanup task ran.
    Cleanup,
}

impl SojournPart {
    /// All of them, in the order in which they follow one another.
    pub const ALL: [Self; 16] = [
        Self::Initialisation,
        Self::Setup,
        Self::FirstMapWait,
        Self::Mapping,
        Self::MapWait,
        Self::ReduceWait,
        Self::FetchingBehindMaps,
        Self::Fetching,
        Self::Sorting,
        Self::Reducing,
        Self::Suspended,
        Self::Heartbeats,
        Self::JobTrackerAway,
        Self::Unnoticed,
        Self::Redone,
        Self::Cleanup,
    ];

    /// Returns the words for people.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Initialisation => "initialisation",
            Self::Setup => "setup",
            Self::FirstMapWait => "waiting for the first map slot",
            Self::Mapping => "the last map",
            Self::MapWait => "waiting for map slots",
            Self::ReduceWait => "waiting for reduce slots",
            Self::FetchingBehindMaps => "fetching behind the maps",
            Self::Fetching => "fetching",
            Self::Sorting => "sorting",
            Self::Reducing => "reducing",
            Self::Suspended => "suspended",
            Self::Heartbeats => "heartbeats and commits",
            Self::JobTrackerAway => "without the JobTracker",
            Self::Unnoticed => "loss not noticed yet",
            Self::Redone => "work done again",
            Self::Cleanup => "cleanup",
        }
    }

    /// Returns the kind of slot that is waited for, if it is a wait for one.
    pub const fn slot(self) -> Option<SlotKind> {
        match self {
            Self::FirstMapWait | Self::MapWait => Some(SlotKind::Map),
            Self::ReduceWait => Some(SlotKind::Reduce),
            _ => None,
        }
    }

    /// Returns whether somebody waited then, or worked in vain, so that nobody else's absence is at fault
    /// if the JobTracker was not there.
    pub const fn is_idle(self) -> bool {
        self.slot().is_some()
            || matches!(
                self,
                Self::Initialisation | Self::Heartbeats | Self::Unnoticed | Self::Redone
            )
    }

    /// Returns whether this is time that others or mishaps cost, wholly or in part: of a wait for slots
    /// that the job's own tasks held, it is none.
    pub const fn is_delay(self) -> bool {
        self.slot().is_some()
            || matches!(
                self,
                Self::Suspended | Self::JobTrackerAway | Self::Unnoticed | Self::Redone
            )
    }
}

/// By which rule a job had to wait for a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WaitRule {
    /// Others stood before it in the line.
    HeadOfLine,
    /// Others were further below their shares.
    Share,
    /// Others would have ended first.
    Size,
    /// It is the order of a policy of one's own.
    Order,
    /// Its own tasks had the slots.
    OwnTasks,
    /// The slot was free, and it is not known why the job did not get it.
    FreeSlot,
    /// The slot was free, and its tracker had not sent a heartbeat yet: told as [`SojournPart::Heartbeats`].
    NextHeartbeat,
    /// It waited for a node near its input.
    LocalityDelay,
    /// Its pool, queue or user had as much as it may have.
    Limit,
    /// The tracker that asked was none for it.
    BadTracker,
    /// Slots were kept for others.
    Reservation,
    /// The trackers that asked had their part of the work.
    TrackerLoad,
}

impl WaitRule {
    /// Returns the rule by which those go first that come first by this.
    pub const fn of_order(by: By) -> Self {
        match by {
            By::Line => Self::HeadOfLine,
            By::Share => Self::Share,
            By::Size => Self::Size,
            By::Own => Self::Order,
        }
    }

    /// Returns whether it says whom the policy put first, rather than why slots were refused.
    pub const fn is_order(self) -> bool {
        matches!(self, Self::HeadOfLine | Self::Share | Self::Size | Self::Order | Self::OwnTasks)
    }

    /// Returns the words for people.
    pub const fn words(self) -> &'static str {
        match self {
            Self::HeadOfLine => "behind others in line",
            Self::Share => "others further below their shares",
            Self::Size => "others would end first",
            Self::Order => "others came first",
            Self::OwnTasks => "its own tasks had them",
            Self::FreeSlot => "though slots were free",
            Self::NextHeartbeat => "no heartbeat yet",
            Self::LocalityDelay => "waiting for a node near its input",
            Self::Limit => "at a limit",
            Self::BadTracker => "trackers that are none for it",
            Self::Reservation => "slots kept for others",
            Self::TrackerLoad => "trackers with their part of the work",
        }
    }
}
