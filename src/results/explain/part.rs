//! The parts of a sojourn, and the rules by which jobs wait.

use serde::Serialize;

use crate::worded;
use mumakil_core::cluster::SlotKind;
use mumakil_core::mapred::PrecedenceBy;

worded! {
    /// The cause of a stretch of a job's time.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum SojournPart {
        /// Until its splits were read.
        Initialisation = "initialisation",
        /// Its setup task ran.
        Setup = "setup",
        /// No map of it had been launched yet.
        FirstMapWait = "waiting for the first map slot",
        /// The map ran that was known last to have succeeded.
        Mapping = "the last map",
        /// Maps of it had been launched, and that one had no slot yet.
        MapWait = "waiting for map slots",
        /// All maps were done, and the reduce that was the last to end had no slot yet.
        ReduceWait = "waiting for reduce slots",
        /// All maps were done, and a reduce that had been launched before still fetched.
        FetchingBehindMaps = "fetching behind the maps",
        /// A reduce that was launched after the maps were done fetched.
        Fetching = "fetching",
        /// The reduce that kept it waiting sorted.
        Sorting = "sorting",
        /// The reduce that kept it waiting reduced.
        Reducing = "reducing",
        /// The attempt that kept it waiting was stopped, for another job's sake.
        Suspended = "suspended",
        /// Something was decided, done or committed, and waited for a heartbeat to tell it.
        Heartbeats = "heartbeats and commits",
        /// The JobTracker's process stood still or was gone, so that nothing could be decided.
        JobTrackerAway = "without the JobTracker",
        /// Its work was lost with a node or a disk, and the JobTracker did not know yet.
        Unnoticed = "loss not noticed yet",
        /// Work that was lost, or came to nothing, and had to be done again.
        Redone = "work done again",
        /// Its cleanup task ran.
        Cleanup = "cleanup",
    }
}

impl SojournPart {
    /// Returns the kind of slot that is waited for, if it is a wait for one.
    pub const fn slot(self) -> Option<SlotKind> {
        match self {
            Self::FirstMapWait | Self::MapWait => Some(SlotKind::Map),
            Self::ReduceWait => Some(SlotKind::Reduce),
            _ => None,
        }
    }

    /// Returns whether the job made no progress of its own then, so that an absence of the
    /// JobTracker is to blame for the time.
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

worded! {
    /// By which rule a job had to wait for a slot.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum WaitRule {
        /// Others stood before it in the line.
        HeadOfLine = "behind others in line",
        /// Others were further below their shares.
        Share = "others further below their shares",
        /// Others would have ended first.
        Size = "others would end first",
        /// It is the order of a policy of one's own.
        Order = "others came first",
        /// Its own tasks had the slots.
        OwnTasks = "its own tasks had them",
        /// The slot was free, and it is not known why the job did not get it.
        FreeSlot = "though slots were free",
        /// The slot was free, and its tracker had not sent a heartbeat yet: told as [`SojournPart::Heartbeats`].
        NextHeartbeat = "no heartbeat yet",
        /// It waited for a node near its input.
        LocalityDelay = "waiting for a node near its input",
        /// Its pool, queue or user had as much as it may have.
        Limit = "at a limit",
        /// The tracker that asked was none for it.
        BadTracker = "trackers that are none for it",
        /// Slots were kept for others.
        Reservation = "slots kept for others",
        /// The trackers that asked had their part of the work.
        TrackerLoad = "trackers with their part of the work",
    }
}

impl WaitRule {
    /// Returns the rule by which those go first that come first by this.
    pub const fn of_order(by: PrecedenceBy) -> Self {
        match by {
            PrecedenceBy::Line => Self::HeadOfLine,
            PrecedenceBy::Share => Self::Share,
            PrecedenceBy::Size => Self::Size,
            PrecedenceBy::Own => Self::Order,
        }
    }

    /// Returns whether it says whom the policy put first, rather than why slots were refused.
    pub const fn is_order(self) -> bool {
        matches!(self, Self::HeadOfLine | Self::Share | Self::Size | Self::Order | Self::OwnTasks)
    }
}
