//! The breaches of invariants, with their messages.

use mumakil_base::units::SimTime;
use mumakil_core::mapred::{AttemptId, AttemptState, JobId, Outcome, SlotKind, TaskId, TrackerId};

/// A breach of an invariant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what the variants and their fields are")]
#[non_exhaustive]
pub enum InvariantBreach {
    #[error("virtual time ran back from {from}")]
    TimeRanBack { from: SimTime },

    #[error("{0}")]
    Line(String),

    #[error("{tracker} started though it was up")]
    UpTwice { tracker: TrackerId },
    #[error("{tracker} died though it was down")]
    DownTwice { tracker: TrackerId },
    #[error("{tracker} died with {left} on it")]
    DownWithAttempts { tracker: TrackerId, left: AttemptId },
    #[error("{tracker} joined twice")]
    JoinedTwice { tracker: TrackerId },
    #[error("{tracker} was given up though it had not joined")]
    LostUnjoined { tracker: TrackerId },
    #[error("{tracker} was blacklisted twice")]
    BlacklistedTwice { tracker: TrackerId },
    #[error("{tracker} was forgiven though it was not blacklisted")]
    ForgivenInVain { tracker: TrackerId },
    #[error("{tracker} was graylisted twice")]
    GraylistedTwice { tracker: TrackerId },
    #[error("{tracker} left the graylist though it was not on it")]
    OffGraylistInVain { tracker: TrackerId },
    #[error("{tracker} had a reply to a heartbeat while it was down")]
    HeartbeatWhileDown { tracker: TrackerId },
    #[error("{tracker}'s heartbeat waited longer in the queue than it took")]
    QueuedTooLong { tracker: TrackerId },
    #[error("{attempt} took a {} slot of {tracker}, which has {slots} and held them all", kind.word())]
    SlotOverCommitted { attempt: AttemptId, tracker: TrackerId, kind: SlotKind, slots: u32 },
    #[error(
        "{attempt} was launched on {tracker}, which has too little memory or too few cores left"
    )]
    RoomOverCommitted { attempt: AttemptId, tracker: TrackerId },

    #[error("{attempt} started on {tracker}, which was down")]
    StartedWhileDown { attempt: AttemptId, tracker: TrackerId },
    #[error("{attempt} started on {tracker} but was not assigned to it")]
    StartedUnassigned { attempt: AttemptId, tracker: TrackerId },
    #[error("{attempt} started a second time, on {tracker}")]
    StartedTwice { attempt: AttemptId, tracker: TrackerId },
    #[error("{attempt} started on {tracker} after it had ended")]
    StartedAfterEnd { attempt: AttemptId, tracker: TrackerId },
    #[error("{attempt} on {tracker} waits for its commit but was not working there")]
    CommitPendingIdle { attempt: AttemptId, tracker: TrackerId },
    #[error("{attempt} saved its work on {tracker}, but did not run there")]
    SavedIdle { attempt: AttemptId, tracker: TrackerId },
    #[error("{attempt} committed before the JobTracker knew that it waits for that")]
    CommittedUnasked { attempt: AttemptId },
    #[error("{attempt} complained of a fetch on {tracker} but was not working there")]
    ComplainedIdle { attempt: AttemptId, tracker: TrackerId },
    #[error("{attempt} was suspended on {tracker} but was not working there")]
    SuspendedIdle { attempt: AttemptId, tracker: TrackerId },
    #[error("{attempt} was resumed on {tracker} but was not suspended there")]
    ResumedUnsuspended { attempt: AttemptId, tracker: TrackerId },
    #[error("{attempt} ended on {tracker} as {} but had not started there", outcome.word())]
    EndedUnstarted { attempt: AttemptId, tracker: TrackerId, outcome: Outcome },
    #[error("{attempt} ended a second time, on {tracker}")]
    EndedTwice { attempt: AttemptId, tracker: TrackerId },

    #[error("{job} was submitted twice")]
    SubmittedTwice { job: JobId },
    #[error("{job} was initialised anew, and {left} of its attempts still count from before")]
    LeftOfBefore { job: JobId, left: u32 },
    #[error("{job} is not known, or has ended")]
    JobNotLive { job: JobId },
    #[error("{job} was initialised twice")]
    InitialisedTwice { job: JobId },
    #[error("{job} became running without being initialised, or for the second time")]
    RunningOutOfOrder { job: JobId },
    #[error("the maps of {job} are said to be done, but {succeeded} of {maps} have succeeded")]
    MapsNotDone { job: JobId, succeeded: u32, maps: u32 },
    #[error("{job} ended twice")]
    JobEndedTwice { job: JobId },
    #[error("{job} is refused, but not at its submission")]
    RefusedTooLate { job: JobId },
    #[error("{job} succeeded with {succeeded} of {tasks} {} tasks succeeded", kind.word())]
    JobIncomplete { job: JobId, kind: SlotKind, succeeded: u32, tasks: u32 },
    #[error("{attempt} has ended, and the JobTracker came to rest without having heard of it")]
    EndUnheard { attempt: AttemptId },
    #[error("{job} never ended")]
    JobUnended { job: JobId },
    #[error("{job} has not ended, and the JobTracker came to rest and does not name it")]
    JobForgotten { job: JobId },
    #[error("{attempt} was assigned while the JobTracker stood still or was gone")]
    AssignedByNobody { attempt: AttemptId },
    #[error("{job} was {done} while the JobTracker stood still or was gone")]
    DoneByNobody { job: JobId, done: &'static str },
    #[error("{tracker} joined while the JobTracker stood still or was gone")]
    JoinedNobody { tracker: TrackerId },
    #[error("{attempt} waits on {tracker} for its commit, and the JobTracker came to rest")]
    CommitForgotten { attempt: AttemptId, tracker: TrackerId },
    #[error("{attempt} was assigned to {tracker}, which is idle and never received it")]
    LaunchForgotten { attempt: AttemptId, tracker: TrackerId },
    #[error("{attempt} reads from {tracker}, which did not have its block or was off")]
    ReadFromStranger { attempt: AttemptId, tracker: TrackerId },
    #[error("{attempt} found no node with its block, although a node that was on had it")]
    FoundNobody { attempt: AttemptId },
    #[error("{attempt} reads as if nothing had befallen the nodes that had its block at first")]
    ReadAsEver { attempt: AttemptId },
    #[error("{job} finds more copies of block {map} than usual, but nobody had it to be copied")]
    CopiedFromNobody { job: JobId, map: u32 },
    #[error("because of {tracker} more copyings ended than had begun")]
    CopyingEndedUnbegun { tracker: TrackerId },
    #[error("{attempt} has read its block, but no node had it that was on when it was assigned")]
    ReadFromNobody { attempt: AttemptId },
    #[error("{attempt} had all its input, but the output of map {map} was gone or not yet there")]
    FetchedNothing { attempt: AttemptId, map: u32 },

    #[error("{} has no {} {}", task.job, task.kind.word(), task.index)]
    NoSuchTask { task: TaskId },
    #[error("{attempt} was assigned before its job was running")]
    AssignedTooEarly { attempt: AttemptId },
    #[error("{attempt} was assigned to {tracker}, which has not joined")]
    AssignedToStranger { attempt: AttemptId, tracker: TrackerId },
    #[error("{attempt} was assigned to {tracker}, which is blacklisted")]
    AssignedToBlacklisted { attempt: AttemptId, tracker: TrackerId },
    #[error("{attempt} was assigned twice")]
    AssignedTwice { attempt: AttemptId },
    #[error("{attempt} was assigned though the task had succeeded")]
    AssignedAfterSuccess { attempt: AttemptId },
    #[error("{attempt} was assigned, not as speculative, beside another attempt of the task")]
    AssignedBesideAnother { attempt: AttemptId },
    #[error("{attempt} was assigned to {tracker}, which has another attempt of the task")]
    AssignedBesideItself { attempt: AttemptId, tracker: TrackerId },
    #[error("{attempt} is marked speculative, but its task has no other unfinished attempt")]
    AssignedAgainstNobody { attempt: AttemptId },
    #[error(
        "{attempt} on {tracker} has lost against another attempt of the task, and was not ended"
    )]
    LoserForgotten { attempt: AttemptId, tracker: TrackerId },
    #[error("{attempt} is to be cleaned up after but did not end badly")]
    CleanedUpInVain { attempt: AttemptId },

    #[error("{attempt} is heard of from {tracker} but was not assigned to it")]
    LearnedUnassigned { attempt: AttemptId, tracker: TrackerId },
    #[error("{attempt} is learned to be {state:?} a second time")]
    LearnedTwice { attempt: AttemptId, state: AttemptState },
    #[error("{attempt} is learned to be {state:?} after it had ended as {}", verdict.word())]
    LearnedAfterVerdict { attempt: AttemptId, state: AttemptState, verdict: Outcome },
    #[error("{attempt} is learned to be {state:?}, which never happened on its tracker")]
    LearnedUntrue { attempt: AttemptId, state: AttemptState },
    #[error("{attempt} succeeded though another attempt of the task had")]
    SucceededTwice { attempt: AttemptId },
    #[error("{attempt} had succeeded and is lost, but {tracker} is not")]
    LostWithoutLoss { attempt: AttemptId, tracker: TrackerId },
    #[error("{map} had succeeded and has failed, with {complaints} complaints of its output")]
    FailedWithoutComplaints { map: AttemptId, complaints: u32 },
    #[error(
        "{job} is counted to have {counted} {} tasks waiting after news of {attempt}, but has {waiting}",
        kind.word()
    )]
    WaitingMiscounted { job: JobId, kind: SlotKind, attempt: AttemptId, counted: u32, waiting: u32 },
    #[error("slots are told to have been held for {told} us, but trackers held them for {held} us")]
    HeldMiscounted { told: u128, held: u128 },
    #[error(
        "slots are told to have been of use for {told} us, but what succeeded held {useful} us"
    )]
    UsefulMiscounted { told: u128, useful: u128 },
    #[error(
        "{job} is counted to run {counted} {} tasks after news of {attempt}, but runs {running}",
        kind.word()
    )]
    Miscounted { job: JobId, kind: SlotKind, attempt: AttemptId, counted: u32, running: u32 },
}
