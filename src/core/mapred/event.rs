//! The facts of a run: a stream that its cores leave for watchers.
//!
//! Every table, histogram and timeline is made from these facts, and the invariant checker reads nothing else. Each
//! fact has one speaker. A *tracker* tells a fact when it happens; the *JobTracker* tells it when it learns of it,
//! up to some heartbeats later. The two disagree in between on purpose.

use crate::mapred::locality::Locality;
use std::sync::Arc;

use crate::cluster::{PerSlot, SlotKind, Speeds, TrackerId};
use crate::mapred::holders::Holders;
use crate::mapred::ids::{AttemptId, JobId};
use crate::mapred::reason::Reason;
use crate::mapred::spec::{Block, JobSpec};
use mumakil_base::units::{Bytes, SimSpan, SimTime};

/// A fact with its instant.
#[derive(Clone, Debug)]
pub struct Event {
    /// When it happened.
    pub at: SimTime,
    /// The fact.
    pub fact: Fact,
}

/// A fact of a run. Each family has one speaker and one kind of subject.
///
/// A watcher names the families that it ignores, and every fact of the others. So a new fact needs a change only
/// in watchers that heed its family.
#[derive(Clone, Debug)]
pub enum Fact {
    /// The JobTracker, of a job.
    Job(JobId, JobFact),
    /// The JobTracker, of an attempt and the tracker where it runs or is to run.
    Ledger(AttemptId, TrackerId, LedgerFact),
    /// The JobTracker, of a tracker.
    Member(TrackerId, MemberFact),
    /// A tracker, of an attempt.
    Attempt(AttemptId, TrackerId, AttemptFact),
    /// A tracker, of itself.
    Tracker(TrackerId, TrackerFact),
    /// Any core, of machines, blocks and the policy.
    World(WorldFact),
}

impl Fact {
    /// Returns that something befell a machine: a tracker's, or the JobTracker's.
    pub fn befell(machine: impl Into<Option<TrackerId>>, incident: Incident) -> Self {
        Self::World(WorldFact::Incident { tracker: machine.into(), incident })
    }
}

/// A fact about a job, told by the JobTracker.
#[derive(Clone, Debug)]
pub enum JobFact {
    /// It arrived at the JobTracker.
    Submitted(Arc<JobSpec>),
    /// The JobTracker has read its splits; its setup task may run.
    Initialised,
    /// It gives tasks from here on.
    Running,
    /// The JobTracker knows that its last map has succeeded (again, after a map was lost).
    MapsDone,
    /// The JobTracker has ended it.
    Ended(Outcome),
    /// The JobTracker has died, and only the submission of the job is left: its splits are read again and all of
    /// its tasks run again. Right after this the JobTracker takes back what it knew of the job's attempts: those
    /// that ran and those that had succeeded are killed.
    BegunAnew,
    /// The policy has refused it a slot though it had something to launch, for one cause and again and
    /// again, until now or until not long ago. Only told if the JobTracker
    /// [keeps](super::JobTracker) refusals.
    Refused {
        /// The kind of slot.
        kind: SlotKind,
        /// From the first time.
        from: SimTime,
        /// To when it got a slot, or to the last time.
        to: SimTime,
        /// How often.
        times: u32,
        /// Why, the last time.
        reason: Reason,
        /// The jobs that held most slots of the kind, the last time.
        holders: Holders,
    },
}

/// A fact about an attempt that the JobTracker decides or learns.
#[derive(Clone, Copy, Debug)]
pub enum LedgerFact {
    /// The JobTracker has decided to launch it; the directive leaves with the reply.
    Assigned {
        /// The attempt's work there.
        role: Role,
        /// How far its input is; `None` for all but maps with input.
        locality: Option<Locality>,
        /// Whether another attempt of the task is running already.
        speculative: bool,
        /// Why the policy chose this task for this slot.
        reason: Reason,
        /// How long the task could have been launched before it was.
        waited: SimSpan,
        /// The JobTracker's counts for the job and slot kind, after this.
        counts: SlotCounts,
    },
    /// The JobTracker has learned of its new state, or has decided it itself.
    ///
    /// At most once for each state of an attempt, except that a completed map may be lost again: it is
    /// then killed with its tracker, or has failed because reduces cannot fetch its output.
    Learned {
        /// Its new state.
        state: AttemptState,
        /// The JobTracker's counts for the job and slot kind, after this.
        counts: SlotCounts,
    },
    /// The JobTracker has decided that it is to end, to stop or to go on; its tracker hears of it
    /// with the next reply, if it still hears anything.
    Ordered {
        /// The order.
        order: Order,
        /// Why.
        reason: Reason,
    },
}

/// The standing of a tracker with the JobTracker.
#[derive(Clone, Copy, Debug)]
pub enum MemberFact {
    /// It has registered with the JobTracker.
    Joined,
    /// The JobTracker has given it up.
    Lost,
    /// The JobTracker gives it no more tasks, since job after job avoided it.
    Blacklisted,
    /// The JobTracker gives it tasks again, though it was blacklisted.
    Forgiven,
    /// The JobTracker has noted that it is worse than the others. It gets tasks all the same.
    Graylisted,
    /// It is no worse than the others any more.
    OffGraylist,
    /// The policy has left a note about it.
    Noted(&'static str),
}

/// A fact about an attempt, told by its tracker.
#[derive(Clone, Copy, Debug)]
pub enum AttemptFact {
    /// A map that is about to start has looked where to read its input. Only told if something has befallen
    /// the nodes that have it, or it lies elsewhere than the JobTracker thinks.
    Opened {
        /// The node that it reads from; none, if it finds none.
        from: Option<TrackerId>,
    },
    /// It took a slot and started.
    Started {
        /// The attempt's work there.
        role: Role,
        /// How many slots it took: more than one if its policy has it so.
        slots: u32,
    },
    /// Its work is done, it waits for permission to commit and holds its slot.
    CommitPending,
    /// It was stopped in its tracks and gave its slot up.
    Suspended,
    /// Having been suspended, it took a slot again.
    Resumed,
    /// A reduce complains that it has failed again and again to fetch a map's output.
    FetchFailed {
        /// The attempt that left the output.
        map: AttemptId,
    },
    /// It ended and gave its slot up, if it held one.
    Ended {
        /// The attempt's work there.
        role: Role,
        /// How it ended.
        outcome: Outcome,
        /// How long its phases took.
        phases: PhaseTimes,
    },
}

/// A fact about a tracker, told by itself.
#[derive(Clone, Copy, Debug)]
pub enum TrackerFact {
    /// Its process started, with these slots.
    Up(PerSlot<u32>),
    /// Its process died. The attempts there have ended just before.
    Down,
    /// It has the reply to its heartbeat.
    Heartbeat {
        /// From sending the status to receiving the reply.
        rtt: SimSpan,
        /// The part of it spent waiting for the JobTracker to be free.
        queued: SimSpan,
    },
}

/// A fact about a machine, a block or the policy.
#[derive(Clone, Copy, Debug)]
pub enum WorldFact {
    /// Something befell a machine, or was over.
    Incident {
        /// The machine's tracker; none for the JobTracker's machine.
        tracker: Option<TrackerId>,
        /// The incident.
        incident: Incident,
    },
    /// The NameNode counts a copy of a block more than were written at first, or such a one less.
    Copy {
        /// The block of which this is a copy.
        block: Block,
        /// Where the copy is.
        tracker: TrackerId,
        /// Whether it is there from now on.
        is_there: bool,
    },
    /// Another policy has taken over.
    PolicyChanged,
}

/// An order to end, stop or resume an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// It ends, and its work is lost.
    Kill,
    /// It is stopped, and keeps its memory and its work.
    Suspend,
    /// It goes on.
    Resume,
}

/// A misfortune of a machine, or its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Incident {
    /// It went off.
    MachineOff,
    /// It came back.
    MachineOn,
    /// Its tracker's process died.
    TrackerGone,
    /// Its tracker's process came back.
    TrackerBack,
    /// It is so fast from now on.
    Speeds(Speeds),
    /// All that lay on its disks is gone.
    DiskLost,
    /// It is cut off from the others.
    CutOff,
    /// It is not any more.
    Reconnected,
    /// Its health script complains.
    Unhealthy,
    /// It does not any more.
    Healthy,
    /// It is taken out of the cluster.
    Excluded,
    /// It may take part again.
    Included,
    /// It is there for the first time, and was not when the run began.
    Joined,
    /// An attempt there makes no progress any more.
    Hangs(AttemptId),
    /// The JobTracker stands still.
    Pauses,
    /// The JobTracker's process is gone.
    Gone,
    /// The JobTracker goes on, or is back.
    Back,
    /// The NameNode has given it up: its copies of blocks do not count.
    DeadToHdfs,
    /// The NameNode has heard of it again, and its copies count again.
    BackInHdfs,
    /// Blocks are copied again because the machine went off, came back or lost its disks.
    CopyingBegins {
        /// How many copies are to be made.
        blocks: u32,
        /// How much they are.
        bytes: Bytes,
    },
    /// That is over: all is copied, or cannot be, or need not any more.
    CopyingEnds {
        /// How many copies were made.
        blocks: u32,
        /// How much they are.
        bytes: Bytes,
    },
}

/// How a job or an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// It did its work.
    Succeeded,
    /// It broke.
    Failed,
    /// It was ended from outside.
    Killed,
}

/// The work of an attempt in its slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// The task's work.
    Work,
    /// Removing the output of this attempt, which was killed or failed.
    TaskCleanup,
}

/// The states of an attempt, in Hadoop's words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AttemptState {
    /// Launched, but its tracker has not started it.
    #[default]
    Unassigned,
    /// Its process works.
    Running,
    /// Its process is stopped and keeps its memory.
    Suspended,
    /// Its work is done; it waits for permission to commit, or commits.
    CommitPending,
    /// It broke, and its output is to be removed.
    FailedUnclean,
    /// It was killed, and its output is to be removed.
    KilledUnclean,
    /// Done.
    Succeeded,
    /// Broke.
    Failed,
    /// Was killed.
    Killed,
}

impl AttemptState {
    /// Returns whether an attempt in this state calls for nothing: it may be in it for many heartbeats.
    pub(super) fn needs_no_action(self) -> bool {
        matches!(self, Self::Unassigned | Self::Running | Self::Suspended)
    }
}

/// The JobTracker's counts for a job and a kind of slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlotCounts {
    /// Attempts that it regards as running.
    pub running: u32,
    /// Tasks that wait to be launched.
    pub pending: u32,
}

/// How long the phases of an attempt took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PhaseTimes {
    /// From taking a slot to the first phase of the work.
    pub start_up: SimSpan,
    /// Fetching the maps' output; zero but for reduces.
    pub shuffle: SimSpan,
    /// Merging it; zero but for reduces.
    pub sort: SimSpan,
    /// From the end of the work to the end of the commit, if there was one.
    pub commit: Option<SimSpan>,
    /// Stopped in between.
    pub suspended: SimSpan,
}

impl Incident {
    /// Tables write this in the place of the node for incidents of the JobTracker's process.
    pub const OF_JOBTRACKER: &'static str = "jobtracker";

    /// Returns whether it is a trouble of its own, not the end or a consequence of another.
    pub const fn is_trouble(self) -> bool {
        match self {
            // One incident for both: the end of a slow spell sets the usual speeds again.
            Self::Speeds(speeds) => !speeds.are_usual(),
            Self::MachineOff
            | Self::TrackerGone
            | Self::DiskLost
            | Self::CutOff
            | Self::Unhealthy
            | Self::Hangs(_)
            | Self::Pauses
            | Self::Gone => true,
            Self::MachineOn
            | Self::TrackerBack
            | Self::Reconnected
            | Self::Healthy
            | Self::Included
            // The loss of its tracker is told as well.
            | Self::Excluded
            | Self::Joined
            | Self::Back
            | Self::DeadToHdfs
            | Self::BackInHdfs
            | Self::CopyingBegins { .. }
            | Self::CopyingEnds { .. } => false,
        }
    }

    /// Returns the words used in tables.
    pub const fn words(self) -> &'static str {
        match self {
            Self::MachineOff => "machine off",
            Self::MachineOn => "machine on",
            Self::TrackerGone => "tracker gone",
            Self::TrackerBack => "tracker back",
            Self::DiskLost => "disk lost",
            Self::Speeds(speeds) if speeds.are_usual() => "usual speed",
            Self::Speeds(_) => "slow",
            Self::CutOff => "cut off",
            Self::Reconnected => "reconnected",
            Self::Unhealthy => "unhealthy",
            Self::Healthy => "healthy",
            Self::Excluded => "decommissioned",
            Self::Included => "recommissioned",
            Self::Joined => "joined",
            Self::Hangs(_) => "attempt hangs",
            Self::Pauses => "jobtracker pauses",
            Self::Gone => "jobtracker gone",
            Self::Back => "jobtracker back",
            Self::DeadToHdfs => "dead to hdfs",
            Self::BackInHdfs => "back in hdfs",
            Self::CopyingBegins { .. } => "copying begins",
            Self::CopyingEnds { .. } => "copying ends",
        }
    }
}

impl Order {
    /// Returns the word used in tables.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::Suspend => "suspend",
            Self::Resume => "resume",
        }
    }
}

impl Outcome {
    /// Returns the word used in tables.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Killed => "killed",
        }
    }
}

impl AttemptState {
    /// Returns how the attempt ended, if it has.
    pub const fn outcome(self) -> Option<Outcome> {
        match self {
            Self::Succeeded => Some(Outcome::Succeeded),
            Self::Failed => Some(Outcome::Failed),
            Self::Killed => Some(Outcome::Killed),
            Self::Unassigned
            | Self::Running
            | Self::Suspended
            | Self::CommitPending
            | Self::FailedUnclean
            | Self::KilledUnclean => None,
        }
    }
}
