//! The contents of a TaskTracker's heartbeat and of the JobTracker's answer.

use std::sync::Arc;

use crate::cluster::{PerSlot, TrackerId};
use crate::mapred::event::{AttemptState, Role};
use crate::mapred::ids::{AttemptId, JobId, TaskKind};
use crate::mapred::locality::Locality;
use crate::mapred::replicas::Replicas;
use crate::mapred::spec::JobSpec;
use crate::mapred::traced::TracedTimes;
use mumakil_base::units::{SimSpan, SimTime};

/// A heartbeat under way.
///
/// Most heartbeats bring no news. Building and comparing their statuses would waste real time, so a
/// tracker without news sends only the call (its id, the number, the last reply). The call travels,
/// queues and is answered like any heartbeat.
#[derive(Clone, Debug)]
pub enum Heartbeat {
    /// A heartbeat with a full status.
    Full(Arc<TrackerStatus>),
    /// A heartbeat without news. Apart from progress, everything is as in the last full status,
    /// which a reply has confirmed. No attempt of the tracker fetches, waits for its commit, hangs
    /// or has ended.
    AsBefore(HeartbeatCall),
}

impl Heartbeat {
    /// Returns the call: tracker and number.
    pub fn call(&self) -> HeartbeatCall {
        match self {
            Self::Full(status) => status.call,
            Self::AsBefore(call) => *call,
        }
    }
}

/// The tracker and number of a heartbeat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeartbeatCall {
    /// The tracker that sends the heartbeat.
    pub tracker: TrackerId,
    /// The number of the heartbeat, which the reply repeats.
    pub number: u32,
    /// The number of the last reply that the tracker has received; `None` at first contact.
    pub last_reply: Option<u16>,
}

/// The status that a TaskTracker sends with a heartbeat.
#[derive(Clone, Debug, Default)]
pub struct TrackerStatus {
    /// The tracker and number of the heartbeat.
    pub call: HeartbeatCall,
    /// Whether the tracker's process has just started.
    pub restarted: bool,
    /// Whether the node's health script reports an error.
    pub is_unhealthy: bool,
    /// How many slots the tracker has.
    pub slots: PerSlot<u32>,
    /// The slots that the tracker counts as taken. `hadoop.commit_pending` says whether attempts
    /// that wait for their commit are among them.
    pub occupied: PerSlot<u32>,
    /// One report on each attempt, up to and including the report of its end.
    pub reports: Vec<Report>,
    /// The complaints of reduces that cannot fetch a map's output.
    pub failed_fetches: Vec<FailedFetch>,
}

/// A complaint of a reduce that cannot fetch a map's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailedFetch {
    /// The reduce.
    pub reduce: AttemptId,
    /// The map attempt that left the output.
    pub map: AttemptId,
}

/// A TaskTracker's report on one attempt.
///
/// If trackers are [brief](super::HeartbeatManner::is_brief), the JobTracker needs no progress, so
/// `progress`, `ran` and `worked` are zero.
#[derive(Clone, Copy, Debug)]
pub struct Report {
    /// The attempt.
    pub attempt: AttemptId,
    /// The state of the attempt.
    pub state: AttemptState,
    /// The phase of the attempt.
    pub phase: AttemptPhase,
    /// The progress of the attempt, from 0 to 1, as its process last reported it.
    pub progress: f32,
    /// How long the process had run when it last reported progress, or when it ended.
    pub ran: SimSpan,
    /// The part of `ran` that the attempt spent in its last phase: the work of a map, the reducing
    /// of a reduce.
    pub worked: SimSpan,
    /// Whether the attempt is a reduce that asks how many maps have ended.
    pub wants_maps: bool,
    /// The share of its work that the attempt has saved at its end, from 0 to 1.
    pub saved: f32,
}

impl Report {
    /// Returns whether `next`, a later report on the same attempt, differs from this one at most in
    /// its progress.
    pub(super) fn differs_only_in_progress(&self, next: &Self) -> bool {
        self.attempt == next.attempt && self.state == next.state && self.state.needs_no_action()
    }
}

/// The phase of a running attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptPhase {
    /// The process starts.
    Start,
    /// The work of a map, setup or cleanup.
    Work,
    /// A reduce fetches the maps' output.
    Shuffle,
    /// A reduce merges the output that it has fetched.
    Sort,
    /// A reduce reduces.
    Reduce,
    /// The output is committed.
    Commit,
    /// The state of the attempt is written to disk; then the attempt ends.
    Save,
}

/// The JobTracker's answer to a heartbeat.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    /// The number of the call that this answers.
    pub call: u32,
    /// The number of this reply.
    pub id: u16,
    /// The time from this reply to the next heartbeat.
    pub interval: SimSpan,
    /// Whether the tracker must start anew, because the JobTracker does not know it.
    pub reinit: bool,
    /// Whether the tracker is excluded from the cluster and must end.
    pub disallowed: bool,
    /// The orders for the tracker, in the order of execution.
    pub directives: Vec<Directive>,
    /// How many maps have ended, for each job whose reduces fetch on the tracker.
    pub maps: Vec<MapsDone>,
    /// Outputs of these maps that the JobTracker knows to be lost.
    pub missing: Vec<Missing>,
    /// How long the heartbeat waited for the JobTracker to be free.
    pub queued: SimSpan,
}

/// An order for a tracker, carried by the reply to its heartbeat.
#[derive(Clone, Debug)]
pub enum Directive {
    /// Start an attempt, as soon as a slot is free on the tracker.
    Launch(LaunchOrder),
    /// End an attempt.
    Kill(AttemptId),
    /// Write the state of an attempt to disk, and end it.
    Checkpoint(AttemptId),
    /// Stop an attempt and free its slot.
    Suspend(AttemptId),
    /// Let a suspended attempt go on, as soon as a slot is free on the tracker.
    Resume(AttemptId),
    /// An attempt may commit.
    Commit(AttemptId),
}

/// An attempt that a tracker must run, with all that the tracker must know about it.
#[derive(Clone, Debug)]
pub struct LaunchOrder {
    /// The attempt.
    pub attempt: AttemptId,
    /// The attempt's work.
    pub role: Role,
    /// The attempt's job.
    pub job: Arc<JobSpec>,
    /// The distance of the input from the node; `None` unless it is a map with input.
    pub locality: Option<Locality>,
    /// How many slots it takes.
    pub slots: u32,
    /// The times of the attempt and whether it fails, if the JobTracker takes these from a trace
    /// and draws the values that the trace leaves open; `None` if the tracker does so.
    pub drawn: Option<(TracedTimes, bool)>,
    /// The work that an earlier attempt of the task has saved; `None` if none has.
    pub saved: Option<SavedWork>,
    /// For a map, the present places of blocks if a fault has struck a node; otherwise `None`.
    pub files: Option<Arc<Replicas>>,
}

/// The work of a task that an attempt has saved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SavedWork {
    /// The share of the task's work, from 0 to 1.
    pub share: f32,
    /// The tracker on whose disk it is.
    pub on: TrackerId,
}

impl LaunchOrder {
    /// Returns the order to run an attempt in one slot, with defaults for all other fields.
    pub fn work(attempt: AttemptId, job: Arc<JobSpec>) -> Self {
        Self {
            attempt,
            role: Role::Work,
            job,
            locality: None,
            slots: 1,
            drawn: None,
            saved: None,
            files: None,
        }
    }

    /// Returns whether this is the work of a reduce, not the removal of its output.
    pub fn is_reduce(&self) -> bool {
        self.role == Role::Work && self.attempt.task.kind == TaskKind::Reduce
    }
}

/// How many maps of a job have ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapsDone {
    /// The job.
    pub job: JobId,
    /// How many maps have ended: reduces do not wait for these.
    pub done: u32,
    /// How many maps the job has.
    pub total: u32,
    /// How often the job's set of counted [outputs](super::MapOutputs) has changed.
    pub changes: u32,
    /// When the last map had ended, as the JobTracker heard; zero before.
    pub over_at: SimTime,
}

/// A map's output that cannot be fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The map attempt that left the output.
    pub map: AttemptId,
    /// The tracker where the output is or was.
    pub at: TrackerId,
    /// How many maps of the job had ended before this one.
    pub order: u32,
    /// Whether the JobTracker knows that the output is lost; it then no longer counts the map as
    /// done.
    pub is_lost: bool,
    /// Whether the machine answers but cannot read the output.
    pub is_unreadable: bool,
}
