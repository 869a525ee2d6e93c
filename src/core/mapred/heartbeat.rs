//! The contents of a TaskTracker's heartbeat and of the JobTracker's answer.

use std::sync::Arc;

use crate::cluster::{PerSlot, TrackerId};
use crate::mapred::event::{AttemptState, Role};
use crate::mapred::ids::{AttemptId, JobId, TaskKind};
use crate::mapred::locality::Locality;
use crate::mapred::replicas::Replicas;
use crate::mapred::spec::JobSpec;
use crate::mapred::traced::TracedTimes;
use mumakil_base::units::SimSpan;

/// A heartbeat on its way.
///
/// Most of them bring no news, and would only be built, carried and compared to find that out. So a
/// tracker that has none says just that; it happens, travels, queues and is answered as every other.
#[derive(Clone, Debug)]
pub enum Heartbeat {
    /// One with a whole status.
    Full(Arc<TrackerStatus>),
    /// All is as the last whole status said, but for how far attempts are, and its tracker knows from the
    /// reply that this was heard. None of its attempts fetches, waits for its commit, hangs or has ended.
    AsBefore(HeartbeatCall),
}

impl Heartbeat {
    /// Returns which it is.
    pub fn call(&self) -> HeartbeatCall {
        match self {
            Self::Full(status) => status.call,
            Self::AsBefore(call) => *call,
        }
    }
}

/// Which heartbeat it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeartbeatCall {
    /// The tracker that sends it.
    pub tracker: TrackerId,
    /// Its number, which the reply repeats.
    pub number: u32,
    /// The number of the last reply that its tracker has; `None` at first contact.
    pub last_reply: Option<u16>,
}

/// The status that a TaskTracker sends with a heartbeat.
#[derive(Clone, Debug, Default)]
pub struct TrackerStatus {
    /// Which heartbeat it is.
    pub call: HeartbeatCall,
    /// Whether its process has just started.
    pub restarted: bool,
    /// Whether its node's health script finds the node unfit.
    pub is_unhealthy: bool,
    /// The slots that it has.
    pub slots: PerSlot<u32>,
    /// The slots that it regards as taken. An attempt that waits for its commit is left out, as
    /// `hadoop.commit_pending` says.
    pub occupied: PerSlot<u32>,
    /// Every attempt that has not been reported as ended.
    pub reports: Vec<Report>,
    /// The complaints of reduces that cannot fetch an output.
    pub failed_fetches: Vec<FailedFetch>,
}

/// A reduce complains that it cannot fetch a map's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailedFetch {
    /// The reduce.
    pub reduce: AttemptId,
    /// The attempt that left the output.
    pub map: AttemptId,
}

/// A TaskTracker's report on one attempt.
///
/// Where trackers are [brief](super::HeartbeatManner::is_brief) the JobTracker does not ask how far attempts are:
/// `progress`, `ran` and `worked` are zero.
#[derive(Clone, Copy, Debug)]
pub struct Report {
    /// The attempt.
    pub attempt: AttemptId,
    /// Its state.
    pub state: AttemptState,
    /// The phase that it is in.
    pub phase: AttemptPhase,
    /// How far it is, from 0 to 1, as it last said.
    pub progress: f32,
    /// How long its process had worked when it said so, or when it ended.
    pub ran: SimSpan,
    /// How long of that it did a map's work or reduced.
    pub worked: SimSpan,
    /// Whether it asks how many maps have ended.
    pub wants_maps: bool,
}

impl Report {
    /// Returns whether another report of the attempt brings no news but its progress.
    pub(super) fn differs_only_in_progress(&self, next: &Self) -> bool {
        self.attempt == next.attempt && self.state == next.state && self.state.needs_no_action()
    }
}

/// The phase of a running attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptPhase {
    /// Its process starts.
    Start,
    /// It does a map's, setup's or cleanup's work.
    Work,
    /// It fetches the maps' output.
    Shuffle,
    /// It merges what it fetched.
    Sort,
    /// It reduces.
    Reduce,
    /// It commits.
    Commit,
}

/// The JobTracker's answer to a heartbeat.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    /// The number of the call that this answers.
    pub call: u32,
    /// The number of this reply.
    pub id: u16,
    /// When the next heartbeat is due, after this arrives.
    pub interval: SimSpan,
    /// Whether the tracker is unknown and must start anew.
    pub reinit: bool,
    /// Whether the tracker may not take part and must end.
    pub disallowed: bool,
    /// The orders for the tracker, in sequence.
    pub directives: Vec<Directive>,
    /// How far the maps of the jobs are whose reduces fetch here.
    pub maps: Vec<MapsDone>,
    /// Their outputs that are lost, as the JobTracker knows.
    pub missing: Vec<Missing>,
    /// How long the heartbeat waited for the JobTracker to be free.
    pub queued: SimSpan,
}

/// An order for a tracker, carried by the reply to its heartbeat.
#[derive(Clone, Debug)]
pub enum Directive {
    /// Start an attempt, as soon as a slot is really free.
    Launch(LaunchOrder),
    /// End an attempt.
    Kill(AttemptId),
    /// Stop an attempt in its tracks, so that its slot is free.
    Suspend(AttemptId),
    /// Let a suspended attempt go on, as soon as a slot is really free.
    Resume(AttemptId),
    /// An attempt may commit.
    Commit(AttemptId),
}

/// An attempt that a tracker is to run, with all that the tracker needs to know of it.
#[derive(Clone, Debug)]
pub struct LaunchOrder {
    /// The attempt.
    pub attempt: AttemptId,
    /// The attempt's work.
    pub role: Role,
    /// Its job.
    pub job: Arc<JobSpec>,
    /// How far its input is; `None` for all but maps with input.
    pub locality: Option<Locality>,
    /// How many slots it takes.
    pub slots: u32,
    /// Its times, and whether it fails, if a trace tells and the JobTracker has drawn what the trace
    /// leaves open; else its tracker draws that.
    pub drawn: Option<(TracedTimes, bool)>,
    /// Where blocks are, if it is a map that works and anything has befallen a node.
    pub files: Option<Arc<Replicas>>,
}

impl LaunchOrder {
    /// Returns the launch of an attempt that works in one slot, of which nothing else is known.
    pub fn work(attempt: AttemptId, job: Arc<JobSpec>) -> Self {
        Self { attempt, role: Role::Work, job, locality: None, slots: 1, drawn: None, files: None }
    }

    /// Returns whether this is a reduce, and not what removes its output.
    pub fn is_reduce(&self) -> bool {
        self.role == Role::Work && self.attempt.task.kind == TaskKind::Reduce
    }
}

/// How far a job's maps are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapsDone {
    /// The job.
    pub job: JobId,
    /// Maps that need not be waited for.
    pub done: u32,
    /// All maps.
    pub total: u32,
    /// How many changes there were of the [outputs](super::MapOutputs) that count.
    pub changes: u32,
}

/// A map's output that cannot be fetched, or not any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The attempt that left it.
    pub map: AttemptId,
    /// Where it lies, or lay.
    pub at: TrackerId,
    /// How many maps of the job had ended before this one.
    pub order: u32,
    /// Whether the JobTracker knows that it is lost, and does not count the map as done.
    pub is_lost: bool,
    /// Whether its machine answers, but cannot read it.
    pub is_unreadable: bool,
}
