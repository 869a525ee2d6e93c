//! Why a decision was made: a code and the numbers behind it. A reason is small, since every
//! decision carries one; it becomes words only in the output.
//!
//! Each launch, kill, suspension, resumption and refusal has a reason. Tables have columns for the
//! code and the numbers ([`ReasonNumbers`]); people read the sentence ([`Reason`]'s `Display`).

use std::fmt;

use crate::mapred::ids::{AttemptId, JobId};
use mumakil_base::units::tell::{self, Detail};
use mumakil_base::units::{SimSpan, SimTime};

/// Why a decision was made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reason {
    // ---- launches ----
    /// The task is the job's setup or cleanup, which comes before the policy's launches.
    JobService,
    /// The launch removes the output of an attempt that failed or was killed.
    TaskCleanup,
    /// The job was at this position of the queue (counted from 0), and the jobs before it had no
    /// task for the node.
    InLine(u32),
    /// As [`Reason::InLine`], but the input is in another rack.
    InLineFar(u32),
    /// The job was skipped for this long, because no node with a free slot was near its input.
    Waited(SimSpan),
    /// The job, or its group, had less of its share than any other job or group that could use the
    /// slot.
    Share(SlotStanding),
    /// The task is one of a sample; the times of the sample show how large the job is.
    Sample,
    /// If all jobs that could use the slot shared the cluster equally, this job would end first.
    EndsFirst,
    /// The tracker was reserved for the job.
    Reserved,
    /// The plan for all tasks and slots that costs least has the task here.
    Planned,
    /// The group already has its share, and gets slots that other groups do not use.
    Lent(SlotStanding),
    /// All users of the queue are at their limits, so the limits do not apply.
    LimitsAside,

    // ---- kills, suspensions and resumptions ----
    /// Another attempt needs the slot.
    PreemptedFor(AttemptId),
    /// The attempt's group has more than its share, and another group has waited too long for its
    /// own.
    OverShare(SlotStanding),
    /// The attempt's queue uses slots of another queue, which reclaims them.
    Reclaimed(SlotStanding),
    /// Another attempt of the task succeeded first.
    LostRace(AttemptId),
    /// The attempt's job has ended.
    JobOver,
    /// The attempt's task was given up, since it has failed as often as allowed.
    TaskGivenUp,
    /// The attempt's tracker was lost.
    TrackerLost,
    /// The attempt was suspended, and its tracker gets no more tasks, so it could not resume.
    TrackerShunned,
    /// A user has killed the attempt.
    KilledByHand,
    /// A user has ended the attempt, which counts as failed.
    FailedByHand,
    /// A new policy has taken over, and would not resume the attempt that the old one had
    /// suspended.
    PolicyChanged,

    // ---- refusals ----
    /// The job has waited this long for a node nearer to its input, and still waits.
    Delay(SimSpan),
    /// Long tasks are spread over the nodes, and this node already has its share of them.
    LongTasks,
    /// The job has no task of this kind that the tracker may run: attempts have failed there, or
    /// the tracker has too little memory or too few slots.
    BadTracker,
    /// The tracker has too little memory or too few cores left for a task of the job.
    NoRoom,
    /// The tracker already has its share of the cluster's work.
    TrackerLoad,
    /// The group has as many slots as it may have.
    GroupLimit(SlotStanding),
    /// The user has as many slots as a user may have.
    UserLimit,
    /// The group runs as many jobs as it may run.
    JobLimit,
    /// The tracker is reserved for another job.
    KeptFor(JobId),
    /// The policy counts runnable tasks only at intervals, and has not counted the job's tasks yet.
    NotCounted,
    /// The policy admits jobs only at intervals, and has not admitted this job yet.
    NotAdmitted,
    /// The job has what it needs, and waits for the next heartbeats of nodes and of its master.
    NextHeartbeat,

    // ---- refusals of submissions ----
    /// The job's queue has this many jobs, and accepts no more.
    QueueFull(u32),
    /// The job's user has this many jobs in the queue, which accepts no more of a user.
    UserFull(u32),
    /// The job has more tasks than this, the most that a user's initialised jobs may have in the
    /// queue.
    TooManyTasks(u32),

    /// Words of a user's own policy, and the numbers that it weighed.
    Measured(&'static &'static str, SlotStanding),
    /// Words of a user's own policy.
    Other(&'static str),
}

/// How many slots of a kind a group of jobs (a pool, a queue) or a single job has, and how many it
/// should have.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SlotStanding {
    /// The slots that it has.
    pub held: u32,
    /// Its share of the slots; `None` if that is not computed.
    pub share: Option<SlotShare>,
    /// The slots that it is guaranteed.
    pub min_share: u32,
}

/// How a job's tasks of a kind wait, for a watcher of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WaitingTasks {
    /// How many could be launched now.
    pub launchable: u32,
    /// The last refusal, if the job has got no slot of the kind since; `None` also if it was more
    /// than a minute ago.
    pub refusal: Option<LastRefusal>,
}

/// The last refusal of a slot to a job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LastRefusal {
    /// The reason.
    pub reason: Reason,
    /// When the job was refused for the first time for this cause.
    pub from: SimTime,
    /// When it was refused last.
    pub last: SimTime,
    /// How often it was refused.
    pub times: u32,
}

/// A share of the slots, exact to a thousandth of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotShare(std::num::NonZeroU32);

impl SlotShare {
    /// Returns a share of `slots` slots, rounded to the nearest thousandth.
    pub fn of(slots: f64) -> Self {
        // The stored number is one more, since a `NonZeroU32` cannot hold a share of zero.
        let thousandths = (slots * 1e3).round().clamp(0.0, f64::from(u32::MAX - 1)) as u32;
        Self(std::num::NonZeroU32::MIN.saturating_add(thousandths))
    }

    /// Returns the number of slots.
    pub fn slots(self) -> f64 {
        f64::from(self.0.get() - 1) / 1e3
    }
}

impl SlotStanding {
    /// Returns the standing of a group that has `held` slots, without share or guarantee.
    pub const fn of(held: u32) -> Self {
        Self { held, share: None, min_share: 0 }
    }
}

/// The numbers of a reason.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ReasonNumbers {
    /// The position in the queue, from 0.
    pub place: Option<u32>,
    /// How long the job has waited for a node near its input.
    pub waited: Option<SimSpan>,
    /// The slots that the group or the job has.
    pub held: Option<u32>,
    /// The share of the slots that the group or the job should have.
    pub share: Option<f64>,
    /// The slots that it is guaranteed.
    pub min_share: Option<u32>,
    /// The job that gets the slot, that has reserved the tracker, or whose other attempt succeeded
    /// first.
    pub for_job: Option<JobId>,
}

impl Reason {
    /// Returns the code that tables show.
    pub const fn code(&self) -> &'static str {
        self.said().0
    }

    /// Returns the code, and the sentence in which braces stand for the numbers.
    const fn said(&self) -> (&'static str, &'static str) {
        match self {
            Self::JobService => ("service", "before any policy"),
            Self::TaskCleanup => ("task-cleanup", "cleaning up after an attempt"),
            Self::InLine(0) => ("in-line", "head of line"),
            Self::InLine(_) => ("in-line", "place {} in line"),
            Self::InLineFar(0) => ("in-line-far", "head of line, no local input"),
            Self::InLineFar(_) => ("in-line-far", "place {} in line, no local input"),
            Self::Waited(_) => ("waited", "after {} of waiting for a place near its input"),
            Self::Share(_) => ("share", "furthest below its share{}"),
            Self::Sample => ("sample", "its time tells the job's size"),
            Self::EndsFirst => ("ends-first", "would end first under equal sharing"),
            Self::Reserved => ("reserved", "the tracker was kept for it"),
            Self::Planned => ("planned", "the cheapest plan has it here"),
            Self::Lent(_) => ("lent", "lent to its queue{}"),
            Self::LimitsAside => ("limits-aside", "all users are at their limits"),
            Self::PreemptedFor(_) => ("preempted", "preempted for {}"),
            Self::OverShare(_) => ("over-share", "above its share{}, and others starve"),
            Self::Reclaimed(_) => ("reclaimed", "what its queue had lent{} is claimed"),
            Self::LostRace(_) => ("lost-race", "another attempt was first"),
            Self::JobOver => ("job-over", "the job has ended"),
            Self::TaskGivenUp => ("task-given-up", "the task has failed too often"),
            Self::TrackerLost => ("tracker-lost", "the tracker was given up"),
            Self::TrackerShunned => {
                ("tracker-shunned", "stopped on a tracker that gets no more tasks")
            }
            Self::KilledByHand => ("killed-by-hand", "killed by its user"),
            Self::FailedByHand => ("failed-by-hand", "failed by its user"),
            Self::PolicyChanged => ("policy-changed", "stopped by a policy that has given way"),
            Self::Delay(_) => ("delay", "waits for a place near its input, {} now"),
            Self::LongTasks => ("long-tasks", "the node has its part of the long tasks"),
            Self::BadTracker => ("bad-tracker", "nothing that this node may run"),
            Self::NoRoom => ("no-room", "the node has too little memory or too few cores left"),
            Self::TrackerLoad => ("tracker-load", "the node has its part of the work"),
            Self::GroupLimit(_) => ("group-limit", "at its maximum{}"),
            Self::UserLimit => ("user-limit", "its user is at the limit"),
            Self::JobLimit => ("job-limit", "as many jobs run as may"),
            Self::KeptFor(_) => ("kept-for", "the node is kept for {}"),
            Self::NotCounted => ("not-counted", "what it could run is not counted yet"),
            Self::NotAdmitted => ("not-admitted", "not let in yet"),
            Self::NextHeartbeat => ("next-heartbeat", "waits for the next heartbeats"),
            Self::QueueFull(_) => ("queue-full", "its queue has {}, and accepts no more"),
            Self::UserFull(_) => {
                ("user-full", "its user has {} in the queue, which accepts no more")
            }
            Self::TooManyTasks(_) => {
                ("too-many-tasks", "it has more than {}, the most of a user in the queue")
            }
            Self::Measured(words, _) => ("other", words),
            Self::Other(words) => ("other", words),
        }
    }

    /// Returns the numbers behind the decision.
    pub fn weighed(&self) -> ReasonNumbers {
        let none = ReasonNumbers::default();
        match *self {
            Self::InLine(place) | Self::InLineFar(place) => {
                ReasonNumbers { place: Some(place), ..none }
            }
            Self::Waited(waited) | Self::Delay(waited) => {
                ReasonNumbers { waited: Some(waited), ..none }
            }
            Self::Share(holding)
            | Self::Lent(holding)
            | Self::OverShare(holding)
            | Self::Reclaimed(holding)
            | Self::GroupLimit(holding)
            | Self::Measured(_, holding) => ReasonNumbers {
                held: Some(holding.held),
                share: holding.share.map(SlotShare::slots),
                min_share: (0 < holding.min_share).then_some(holding.min_share),
                ..none
            },
            Self::PreemptedFor(by) | Self::LostRace(by) => {
                ReasonNumbers { for_job: Some(by.job()), ..none }
            }
            Self::KeptFor(job) => ReasonNumbers { for_job: Some(job), ..none },
            _ => none,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (_, words) = self.said();
        // Search for one brace only: searching for both took half a per cent of a run.
        let Some((before, after)) = words.split_once('{') else { return f.write_str(words) };
        f.write_str(before)?;
        match *self {
            Self::InLine(place) | Self::InLineFar(place) => write!(f, "{}", u64::from(place) + 1)?,
            Self::Waited(wait) | Self::Delay(wait) => f.write_str(&seconds(wait))?,
            Self::Share(holding)
            | Self::Lent(holding)
            | Self::OverShare(holding)
            | Self::Reclaimed(holding)
            | Self::GroupLimit(holding) => write!(f, "{holding}")?,
            Self::PreemptedFor(by) => write!(f, "{}", by.job())?,
            Self::KeptFor(job) => write!(f, "{job}")?,
            Self::QueueFull(most) | Self::UserFull(most) => {
                f.write_str(&tell::counted(most.into(), "job"))?;
            }
            Self::TooManyTasks(most) => f.write_str(&tell::counted(most.into(), "task"))?,
            // The words of a user's own policy may contain braces.
            _ => return write!(f, "{{{after}"),
        }
        f.write_str(after.strip_prefix('}').unwrap_or(after))
    }
}

/// Writes the slots and the share, which follow the words of a reason; writes nothing if the share
/// is `None`.
impl fmt::Display for SlotStanding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(share) = self.share else { return Ok(()) };
        write!(f, " ({} of {}", self.held, tell::number(share.slots(), 100.0))?;
        if 0 < self.min_share {
            write!(f, ", {} promised", self.min_share)?;
        }
        f.write_str(")")
    }
}

/// Returns a time in seconds, never in minutes or hours, as in the files for programs.
fn seconds(span: SimSpan) -> String {
    tell::time(span.as_secs_f64(), Detail::Like { like: 1.0, more: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapred::ids::{TaskId, TaskKind};

    #[test]
    fn a_reason_is_small_and_speaks() {
        assert!(size_of::<Reason>() <= 24);
        assert_eq!(Reason::InLine(0).to_string(), "head of line");
        assert_eq!(Reason::InLine(2).to_string(), "place 3 in line");
        let longer = Reason::Waited(SimSpan::from_millis(64_200)).to_string();
        assert_eq!(longer, "after 64.2 s of waiting for a place near its input");
        let waited = Reason::Waited(SimSpan::from_millis(4_200));
        assert_eq!(waited.to_string(), "after 4.2 s of waiting for a place near its input");
        let holding = SlotStanding { held: 3, share: Some(SlotShare::of(4.5)), min_share: 2 };
        let words = "furthest below its share (3 of 4.5, 2 promised)";
        assert_eq!(Reason::Share(holding).to_string(), words);
        let unknown = Reason::Share(SlotStanding::of(3));
        assert_eq!(unknown.to_string(), "furthest below its share");
    }

    /// `other` is left out, since it is for users' own policies.
    #[test]
    fn each_refusal_has_a_code_of_its_own_in_the_guide() {
        let guide = include_str!("../../guide/results.md");
        let (_, table) = guide.split_once("| code of a refusal,").unwrap();
        let (table, _) = table.split_once("\n\n").unwrap();
        use Reason as R;
        let limits = [R::GroupLimit(SlotStanding::of(1)), R::UserLimit, R::JobLimit];
        let here = [R::LongTasks, R::BadTracker, R::TrackerLoad];
        let later = [R::Delay(SimSpan::ZERO), R::KeptFor(JobId(0)), R::NotCounted, R::NotAdmitted];
        let calls = [R::NextHeartbeat];
        let of_jobs = [R::QueueFull(1), R::UserFull(1), R::TooManyTasks(1)];
        for reason in limits.into_iter().chain(here).chain(later).chain(calls).chain(of_jobs) {
            assert_ne!(reason.code(), "other", "{reason:?}");
            assert!(table.contains(&format!("`{}`", reason.code())), "{reason:?}");
        }
    }

    #[test]
    fn weighted_parts_come_apart() {
        let holding = SlotStanding { held: 12, share: Some(SlotShare::of(8.25)), min_share: 0 };
        let weighed = Reason::OverShare(holding).weighed();
        assert_eq!((weighed.held, weighed.share, weighed.min_share), (Some(12), Some(8.25), None));
        let by = TaskId { job: JobId(7), kind: TaskKind::Map, index: 0 }.attempt(0);
        assert_eq!(Reason::PreemptedFor(by).weighed().for_job, Some(JobId(7)));
        assert_eq!(Reason::JobOver.weighed(), ReasonNumbers::default());
    }

    #[test]
    fn shares_beyond_what_can_be_told_are_the_nearest() {
        assert_eq!(SlotShare::of(0.0).slots(), 0.0);
        assert_eq!(SlotShare::of(-1.0).slots(), 0.0);
        assert_eq!(SlotShare::of(f64::NAN).slots(), 0.0);
        assert_eq!(SlotShare::of(1e12).slots(), f64::from(u32::MAX - 1) / 1e3);
    }
}
