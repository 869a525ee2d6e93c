//! The facts of a run: a stream from the cores to watchers.
//!
//! Every table, histogram and timeline is made from these facts, and the invariant checker reads
//! nothing else. Each fact has one source. A *tracker* emits a fact when it happens. The
//! *JobTracker* emits a fact when it learns of it, which may be some heartbeats later. In between,
//! tracker and JobTracker know different things, as in a real cluster.

use crate::mapred::locality::Locality;
use std::sync::Arc;

use crate::cluster::{PerSlot, SlotKind, Speeds, TrackerId};
use crate::mapred::holders::Holders;
use crate::mapred::ids::{AttemptId, JobId};
use crate::mapred::reason::{Reason, SlotStanding};
use crate::mapred::spec::{Block, JobAlteration, JobSpec};
use mumakil_base::units::{Bytes, SimSpan, SimTime};
use mumakil_base::worded;

/// A fact with its instant.
#[derive(Clone, Debug)]
pub struct Event {
    /// When it happened.
    pub at: SimTime,
    /// The fact.
    pub fact: Fact,
}

/// A fact of a run. Each family has one source and one kind of subject.
///
/// A watcher's `match` lists every fact of the families that it reads, and ignores other families
/// as a whole. So a new fact changes only the watchers that read its family.
#[derive(Clone, Debug)]
pub enum Fact {
    /// From the JobTracker, about a job.
    Job(JobId, JobFact),
    /// From the JobTracker, about an attempt and the tracker that runs it or is to run it.
    Ledger(AttemptId, TrackerId, LedgerFact),
    /// From the JobTracker, about a tracker.
    Member(TrackerId, MemberFact),
    /// From a tracker, about an attempt.
    Attempt(AttemptId, TrackerId, AttemptFact),
    /// From a tracker, about itself.
    Tracker(TrackerId, TrackerFact),
    /// From any core, about machines, blocks and the policy.
    World(WorldFact),
    /// From the JobTracker, about a pool or queue of the policy: its slots of a kind, and its share
    /// of them. Emitted when the standing has changed, and only if the JobTracker
    /// [tells standings](super::JobTrackerOptions::tells_standings).
    Pool(Arc<str>, SlotKind, SlotStanding),
    /// From another protocol, for the histogram of this name.
    Span(&'static str, SimSpan),
}

impl Fact {
    /// Returns the fact that an incident befell a tracker's machine; `None` stands for the
    /// JobTracker's machine.
    pub fn befell(machine: impl Into<Option<TrackerId>>, incident: Incident) -> Self {
        Self::World(WorldFact::Incident { tracker: machine.into(), incident })
    }
}

/// A fact about a job, from the JobTracker.
#[derive(Clone, Debug)]
pub enum JobFact {
    /// It arrived at the JobTracker.
    Submitted(Arc<JobSpec>),
    /// The JobTracker has read its splits; its setup task may run.
    Initialised,
    /// Its setup is done: its maps and reduces may be launched from here on.
    Running,
    /// The JobTracker has learned that its last map has succeeded. Emitted again if a map is lost
    /// afterwards and runs anew.
    MapsDone,
    /// The JobTracker has ended it.
    Ended(Outcome),
    /// The policy had estimated how large the job is. Emitted after the job has succeeded, by
    /// policies that estimate sizes only.
    Sized(SlotKind, JobSize),
    /// The policy has refused the job itself as it was submitted: it never runs. No other fact about
    /// the job follows.
    SubmissionRefused(Reason),
    /// The JobTracker has died, and only the submission of the job is left: its splits are read
    /// again, and all its tasks run again. Right after this fact, every attempt of the job that ran
    /// or had succeeded becomes killed.
    BegunAnew,
    /// Its priority or its pool was changed.
    Altered(Arc<JobAlteration>),
    /// The policy has refused it a slot, once or many times, for one and the same cause, though it
    /// had a task to launch. Emitted when the refusals end, or shortly after. Emitted only if the
    /// JobTracker keeps refusals ([`refusals`](super::JobTrackerOptions::refusals)).
    Refused {
        /// The kind of slot.
        kind: SlotKind,
        /// When it was first refused.
        from: SimTime,
        /// When it got a slot, or was last refused.
        to: SimTime,
        /// How many refusals there were.
        times: u32,
        /// The cause at the last refusal.
        reason: Reason,
        /// The jobs that held the most slots of the kind at the last refusal.
        holders: Holders,
    },
}

/// How large a policy estimated a job to be, and how large the job was. Sizes are slot-seconds: the
/// times of all tasks of a kind, one after another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JobSize {
    /// The size with which the policy worked at last.
    pub estimated: f64,
    /// The size as the tasks ran, with the same parts of their times as in the estimate.
    pub real: f64,
}

/// A fact about an attempt that the JobTracker decides or learns.
#[derive(Clone, Copy, Debug)]
pub enum LedgerFact {
    /// The JobTracker has decided to launch it; the order leaves with the reply.
    Assigned {
        /// The work that the attempt does in the slot.
        role: Role,
        /// The distance of its input; `None` unless it is a map with input.
        locality: Option<Locality>,
        /// Whether another attempt of the task is running already.
        speculative: bool,
        /// Why the policy chose this task for this slot.
        reason: Reason,
        /// How long the task has waited since it could be launched.
        waited: SimSpan,
        /// The JobTracker's counts for the job and slot kind, after this fact.
        counts: SlotCounts,
    },
    /// The JobTracker has learned its new state, or has decided it.
    ///
    /// Emitted at most once for each state of an attempt. A map that has succeeded may still become
    /// killed (its tracker is lost) or failed (reduces cannot fetch its output).
    Learned {
        /// Its new state.
        state: AttemptState,
        /// The JobTracker's counts for the job and slot kind, after this fact.
        counts: SlotCounts,
    },
    /// The JobTracker has decided to kill, suspend or resume it; the order leaves with the next
    /// reply to its tracker, if there is one.
    Ordered {
        /// The order.
        order: Order,
        /// Why.
        reason: Reason,
    },
    /// The policy would have killed it, but only says so.
    Spared {
        /// Why it would have been killed.
        reason: Reason,
    },
}

/// The status of a tracker at the JobTracker.
#[derive(Clone, Copy, Debug)]
pub enum MemberFact {
    /// It has registered with the JobTracker.
    Joined,
    /// The JobTracker has declared it lost.
    Lost,
    /// The JobTracker gives it no more tasks, since several jobs avoided it.
    Blacklisted,
    /// The JobTracker gives it tasks again, though it was blacklisted.
    Forgiven,
    /// The JobTracker has noted that it is worse than other trackers. It still gets tasks.
    Graylisted,
    /// It is no longer graylisted.
    OffGraylist,
    /// The policy has noted this about it.
    Noted(&'static str),
}

/// A fact about an attempt, from its tracker.
#[derive(Clone, Copy, Debug)]
pub enum AttemptFact {
    /// A map that is about to start has chosen the node to read its input from. Emitted only if a
    /// fault has struck a node with a copy, or if the input is not where the JobTracker thinks.
    Opened {
        /// The node that it reads from; `None` if it finds no copy.
        from: Option<TrackerId>,
    },
    /// It took a slot and started.
    Started {
        /// The work that the attempt does in the slot.
        role: Role,
        /// How many slots it took: more than one if the policy gives the task more.
        slots: u32,
    },
    /// Its work is done. It waits for permission to commit, and still holds its slot.
    CommitPending,
    /// It has written its state to disk, and ends.
    Saved,
    /// It was suspended and gave its slot up.
    Suspended,
    /// It took a slot again after it was suspended.
    Resumed,
    /// A reduce complains that it has failed again and again to fetch a map's output.
    FetchFailed {
        /// The map attempt that left the output.
        map: AttemptId,
    },
    /// It ended and gave its slot up, if it held one.
    Ended {
        /// The work that the attempt does in the slot.
        role: Role,
        /// How it ended.
        outcome: Outcome,
        /// How long its phases took.
        phases: PhaseTimes,
    },
}

/// A fact about a tracker, from that tracker.
#[derive(Clone, Copy, Debug)]
pub enum TrackerFact {
    /// Its process started, with these slots.
    Up(PerSlot<u32>),
    /// Its process died. Its attempts ended just before this fact.
    Down,
    /// It has received the reply to its heartbeat.
    Heartbeat {
        /// From sending the status to receiving the reply.
        rtt: SimSpan,
        /// The part of `rtt` that the heartbeat waited for the JobTracker to be free.
        queued: SimSpan,
    },
}

/// A fact about a machine, a block or the policy.
#[derive(Clone, Copy, Debug)]
pub enum WorldFact {
    /// An incident struck a machine, or ended.
    Incident {
        /// The machine's tracker; `None` for the JobTracker's machine.
        tracker: Option<TrackerId>,
        /// The incident.
        incident: Incident,
    },
    /// The NameNode begins or ceases to count a copy that was made after the block was first
    /// written.
    Copy {
        /// The block that was copied.
        block: Block,
        /// Where the copy is.
        tracker: TrackerId,
        /// The copying, if the NameNode counts the copy from now on; `None` if the copy is gone.
        made: Option<CopyMade>,
    },
    /// Another policy has taken over.
    PolicyChanged,
    /// The policy has read its pools or queues again.
    Reloaded,
}

/// The copying of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyMade {
    /// The bytes of the block.
    pub bytes: Bytes,
    /// How far the nearest node with the block was; `None` if no node had it any more.
    pub distance: Option<Locality>,
}

worded! {
    /// An order to end, stop or resume an attempt.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Order {
        /// The attempt ends, and its work is lost.
        Kill = "kill",
        /// The attempt stops, and keeps its memory and its work.
        Suspend = "suspend",
        /// The attempt goes on.
        Resume = "resume",
        /// The attempt writes its state to disk and ends. Its task goes on from there, perhaps on another
        /// node.
        Checkpoint = "checkpoint",
    }
}

/// An incident of a machine, or the end of an incident.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Incident {
    /// The machine went off.
    MachineOff,
    /// The machine came back.
    MachineOn,
    /// The tracker's process died.
    TrackerGone,
    /// The tracker's process came back.
    TrackerBack,
    /// The machine has these speeds from now on.
    Speeds(Speeds),
    /// All data on its disks is lost.
    DiskLost,
    /// It is cut off from the other machines.
    CutOff,
    /// It is connected again.
    Reconnected,
    /// Its health script reports an error.
    Unhealthy,
    /// Its health script reports no error any more.
    Healthy,
    /// It is taken out of the cluster.
    Excluded,
    /// It may be in the cluster again.
    Included,
    /// It joins the cluster: it was absent when the run began.
    Joined,
    /// An attempt there stops making progress.
    Hangs(AttemptId),
    /// The JobTracker pauses.
    Pauses,
    /// The JobTracker's process died.
    Gone,
    /// The JobTracker goes on after a pause, or its process is back.
    Back,
    /// The NameNode has declared the node dead: its copies of blocks do not count.
    DeadToHdfs,
    /// The NameNode has heard from the node again, and its copies count again.
    BackInHdfs,
    /// The NameNode begins to copy blocks again, because the machine went off, came back or lost
    /// its disks.
    CopyingBegins {
        /// How many copies are to be made.
        blocks: u32,
        /// The size of these copies together.
        bytes: Bytes,
    },
    /// The copying is over: each copy is made, cannot be made, or is no longer needed.
    CopyingEnds {
        /// How many copies were made.
        blocks: u32,
        /// The size of these copies together.
        bytes: Bytes,
    },
}

worded! {
    /// How a job or an attempt ended.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Outcome {
        /// It did its work.
        Succeeded = "succeeded",
        /// It failed.
        Failed = "failed",
        /// It was killed: by a user, the JobTracker or a fault, not by an error of its own.
        Killed = "killed",
    }
}

worded! {
    /// The work that an attempt does in its slot.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Role {
        /// The task's work.
        Work = "work",
        /// Removing the output of the attempt, after it was killed or failed.
        TaskCleanup = "task cleanup",
    }
}

worded! {
    /// The states of an attempt, in Hadoop's words.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum AttemptState {
        /// It is launched, but its tracker has not started it.
        #[default]
        Unassigned = "unassigned",
        /// Its process works.
        Running = "running",
        /// Its process is stopped, and keeps its memory.
        Suspended = "suspended",
        /// Its work is done; it waits for permission to commit, or is committing.
        CommitPending = "commit-pending",
        /// It failed, and its output is to be removed.
        FailedUnclean = "failed, unclean",
        /// It was killed, and its output is to be removed.
        KilledUnclean = "killed, unclean",
        /// It succeeded.
        Succeeded = "succeeded",
        /// It failed.
        Failed = "failed",
        /// It was killed.
        Killed = "killed",
    }
}

impl AttemptState {
    /// Returns whether the JobTracker has nothing to do for an attempt in this state, in which the
    /// attempt may stay for many heartbeats.
    pub(super) fn needs_no_action(self) -> bool {
        matches!(self, Self::Unassigned | Self::Running | Self::Suspended)
    }
}

/// The JobTracker's counts for a job and a kind of slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlotCounts {
    /// How many attempts run, according to the JobTracker's ledger.
    pub running: u32,
    /// How many tasks wait to be launched.
    pub pending: u32,
}

/// How long the phases of an attempt took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PhaseTimes {
    /// From taking a slot to the end of the process's start-up.
    pub start_up: SimSpan,
    /// Fetching the maps' output; zero for all but reduces.
    pub shuffle: SimSpan,
    /// Merging the maps' output; zero for all but reduces.
    pub sort: SimSpan,
    /// From the end of the work to the end of the commit; `None` without a commit.
    pub commit: Option<SimSpan>,
    /// How long it was suspended.
    pub suspended: SimSpan,
}

impl Incident {
    /// The name that tables give instead of a node, for incidents of the JobTracker's process.
    pub const OF_JOBTRACKER: &'static str = "jobtracker";

    /// Returns whether the incident is a fault of its own, not the end or a consequence of another
    /// incident.
    pub const fn is_trouble(self) -> bool {
        match self {
            // `Speeds` both begins and ends a slow spell: at the end the speeds are the usual ones.
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
            // No trouble by itself: the loss of the excluded node's tracker is an event of its own.
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

impl AttemptState {
    /// Returns whether the attempt has not ended.
    pub const fn is_under_way(self) -> bool {
        matches!(self, Self::Unassigned | Self::Running | Self::Suspended | Self::CommitPending)
    }

    /// Returns how the attempt ended; `None` if it has not.
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
