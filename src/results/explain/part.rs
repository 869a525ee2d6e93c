//! The causes into which a sojourn is split, and the rules of waits.

use serde::Serialize;

use crate::worded;
use mumakil_core::cluster::SlotKind;
use mumakil_core::mapred::PrecedenceBy;

worded! {
    /// The cause of a part of a job's time.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum SojournPart {
        /// The job waited until its splits were read.
        Initialisation = "initialisation",
        /// The job's setup task ran.
        Setup = "setup",
        /// No map of the job had been launched yet.
        FirstMapWait = "waiting for the first map slot",
        /// The last map ran. This is the map whose success the JobTracker learned of last.
        Mapping = "the last map",
        /// Other maps of the job had been launched, but the last map had no slot yet.
        MapWait = "waiting for map slots",
        /// All maps were done, but the reduce that ended last had no slot yet.
        ReduceWait = "waiting for reduce slots",
        /// All maps were done, but a reduce that had been launched before still fetched.
        FetchingBehindMaps = "fetching behind the maps",
        /// A reduce that was launched after the end of the maps fetched.
        Fetching = "fetching",
        /// A reduce sorted the outputs of the maps.
        Sorting = "sorting",
        /// A reduce ran the reduce function.
        Reducing = "reducing",
        /// An attempt was suspended for another job.
        Suspended = "suspended",
        /// A decision, the end of an attempt, or a commit waited for the next heartbeat.
        Heartbeats = "heartbeats and commits",
        /// The JobTracker's process was paused or down, so it could decide nothing.
        JobTrackerAway = "without the JobTracker",
        /// Work was lost with a node or a disk, but the JobTracker did not know of the loss yet.
        Unnoticed = "loss not noticed yet",
        /// Work was lost or failed, and had to be done again.
        Redone = "work done again",
        /// The job's cleanup task ran.
        Cleanup = "cleanup",
    }
}

impl SojournPart {
    /// Returns the kind of slot that the job waited for; `None` for other causes.
    pub const fn slot(self) -> Option<SlotKind> {
        match self {
            Self::FirstMapWait | Self::MapWait => Some(SlotKind::Map),
            Self::ReduceWait => Some(SlotKind::Reduce),
            _ => None,
        }
    }

    /// Returns whether the job made no progress in this time. If the JobTracker was absent, its
    /// absence then explains the time better.
    pub const fn is_idle(self) -> bool {
        self.slot().is_some()
            || matches!(
                self,
                Self::Initialisation | Self::Heartbeats | Self::Unnoticed | Self::Redone
            )
    }

    /// Returns whether other jobs or faults may have caused the time. A wait for slots that the
    /// job's own tasks held is no delay; the caller must exclude this case.
    pub const fn is_delay(self) -> bool {
        self.slot().is_some()
            || matches!(
                self,
                Self::Suspended | Self::JobTrackerAway | Self::Unnoticed | Self::Redone
            )
    }
}

worded! {
    /// The rule by which a job had to wait for a slot.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum WaitRule {
        /// Other jobs were ahead of the job, by priority or arrival.
        HeadOfLine = "behind others in line",
        /// Other jobs were further below their shares.
        Share = "others further below their shares",
        /// Other jobs would have ended first.
        Size = "others would end first",
        /// Other jobs came first in an order that only the policy knows.
        Order = "others came first",
        /// The job's own tasks held the slots.
        OwnTasks = "its own tasks had most of them",
        /// A slot was free; it is unknown why the job did not get this slot.
        FreeSlot = "though slots were free",
        /// A slot was free, but its tracker had not sent a heartbeat yet. Reports show the time as
        /// [`SojournPart::Heartbeats`].
        NextHeartbeat = "no heartbeat yet",
        /// The job waited for a node near its input.
        LocalityDelay = "waiting for a node near its input",
        /// The job's pool, queue or user was at a limit of slots.
        Limit = "at a limit",
        /// The trackers with free slots could not run its tasks.
        BadTracker = "trackers that are none for it",
        /// The trackers with free slots had too little memory or too few cores left.
        NoRoom = "for lack of memory or cores",
        /// Slots were reserved for other jobs.
        Reservation = "slots kept for others",
        /// The trackers with free slots already had their share of the work.
        TrackerLoad = "trackers with their part of the work",
    }
}

impl WaitRule {
    /// Returns the rule of a wait under a policy that orders jobs by `by`.
    pub const fn of_order(by: PrecedenceBy) -> Self {
        match by {
            PrecedenceBy::Line => Self::HeadOfLine,
            PrecedenceBy::Share => Self::Share,
            PrecedenceBy::Size => Self::Size,
            PrecedenceBy::Own => Self::Order,
        }
    }

    /// Returns whether the rule names the policy's order or the job's own tasks, rather than a
    /// reason to refuse slots.
    pub const fn is_order(self) -> bool {
        matches!(self, Self::HeadOfLine | Self::Share | Self::Size | Self::Order | Self::OwnTasks)
    }
}
