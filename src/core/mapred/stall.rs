//! A run that cannot go on: which jobs wait and why, and which jobs hold the slots.
//!
//! A stall is certain: no message is due that could change a slot or a job. The JobTracker says
//! since when it is idle (see [`IdleState`](super::IdleState)), the clock decides that the run has
//! stalled, and the JobTracker then reports the stall once.

use crate::cluster::{PerSlot, SlotKind};
use std::fmt;
use std::sync::Arc;

use mumakil_base::units::tell::counted;

/// The most waits that the message names, and the most jobs with slots of a kind.
// Chosen so that the whole message fits on a screen.
const TOLD: usize = 12;

/// The state of a run that cannot go on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stall {
    /// The waits, sorted by job and, within a job, from setup to cleanup.
    pub waiting: Vec<JobWait>,
    /// The slots that are taken, by kind and job.
    pub held: Vec<JobSlots>,
    /// How many trackers may get tasks.
    pub trackers: u32,
    /// The slots of these trackers.
    pub slots: PerSlot<u32>,
}

/// Tasks or attempts of a job that wait for the same thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobWait {
    /// The job's name.
    pub job: Arc<str>,
    /// The part of the job that waits.
    pub who: WaitingPart,
    /// How many such tasks or attempts wait.
    pub count: u32,
    /// The cause of the wait.
    pub on: WaitCause,
}

/// The part of a job that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WaitingPart {
    /// The job, whose splits are not read yet.
    Job,
    /// Its setup task.
    Setup,
    /// Its tasks of a kind that are not launched.
    Task(SlotKind),
    /// Its launched attempts of a kind.
    Attempt(SlotKind),
    /// Its ended attempts of a kind, whose output is still to be removed.
    Output(SlotKind),
    /// Its cleanup task.
    Cleanup,
}

/// The cause of a wait: the thing that a part of a job still lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WaitCause {
    /// A tracker: no tracker may get tasks.
    Trackers,
    /// A tracker with slots of the kind: no tracker has any.
    SuchSlots,
    /// A slot: all are taken.
    Slot,
    /// Another tracker: each tracker with a free slot has too few slots for the task, or is avoided
    /// because attempts have failed there.
    OtherTracker,
    /// Memory or cores: where a slot is free, attempts hold too much of them; all of these are maps,
    /// or some are reduces.
    Room(SlotKind),
    /// The policy: slots are free, but it gives the job none.
    Policy,
    /// This many maps of its job, which have not ended.
    Maps(u32),
    /// A slot on its own tracker.
    SlotThere,
    /// A resumption: the attempt is suspended.
    Resumption,
    /// Maps that will not come: its job has ended.
    Orphan,
    /// Its job's setup.
    Setup,
    /// Its own end, which does not come: no message is due on its tracker.
    End,
    /// Something of another protocol, in its words.
    Foreign(&'static str),
}

/// The slots that a job holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobSlots {
    /// The kind of slot.
    pub kind: SlotKind,
    /// The job's name.
    pub job: Arc<str>,
    /// How many slots the job holds.
    pub slots: u32,
}

impl fmt::Display for JobWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { job, who, count, on } = self;
        let many = |what: &str| counted(u64::from(*count), what);
        let verb = if *count == 1 { "waits" } else { "wait" };
        match who {
            WaitingPart::Job => write!(f, "job {job}: {verb} ")?,
            WaitingPart::Setup => write!(f, "job {job}: its setup task {verb} ")?,
            WaitingPart::Cleanup => write!(f, "job {job}: its cleanup task {verb} ")?,
            WaitingPart::Task(kind) => write!(f, "job {job}: {} {verb} ", many(kind.word()))?,
            WaitingPart::Attempt(kind) => {
                let attempts = many(&format!("launched {}", kind.word()));
                write!(f, "job {job}: {attempts} {verb} ")?;
            }
            WaitingPart::Output(kind) => {
                let outputs = many(&format!("ended {} attempt", kind.word()));
                write!(f, "job {job}: the cleaning up after {outputs} waits ")?;
            }
        }
        match on {
            WaitCause::Trackers => f.write_str("for a tracker: none may get tasks"),
            WaitCause::SuchSlots => f.write_str("for such a slot: no tracker has any"),
            WaitCause::Slot => f.write_str("for a slot: all are taken"),
            WaitCause::OtherTracker => {
                f.write_str("for another tracker: those with a free slot are avoided or too small")
            }
            WaitCause::Room(kind) => {
                write!(f, "for memory or cores, which launched {}s hold", kind.word())
            }
            WaitCause::Policy => {
                f.write_str("for the policy, which gives no slot though some are free")
            }
            WaitCause::Maps(left) => {
                write!(f, "for {} of the job", counted(u64::from(*left), "map"))
            }
            // A launched attempt is bound to its tracker, so free slots elsewhere do not help.
            WaitCause::SlotThere => f.write_str("for a slot on the tracker"),
            WaitCause::Resumption => f.write_str("suspended, to be resumed"),
            WaitCause::Orphan => f.write_str("for maps that will not come: the job has ended"),
            WaitCause::Setup => f.write_str("for the job's setup"),
            WaitCause::End => f.write_str("to end, but no such event is planned"),
            WaitCause::Foreign(what) => f.write_str(what),
        }
    }
}

impl fmt::Display for Stall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for waiting in self.waiting.iter().take(TOLD) {
            writeln!(f, "{waiting}")?;
        }
        // The waits are sorted by job, so the first jobs of the run are named.
        if TOLD < self.waiting.len() {
            writeln!(f, "… and {} more", self.waiting.len() - TOLD)?;
        }
        for kind in SlotKind::BOTH {
            let (slots, word) = (self.slots[kind], kind.word());
            let held: Vec<&JobSlots> = self.held.iter().filter(|held| held.kind == kind).collect();
            let taken: u32 = held.iter().map(|held| held.slots).sum();
            write!(
                f,
                "{taken} of {} are taken",
                counted(u64::from(slots), &format!("{word} slot"))
            )?;
            let mut before = ": ";
            for JobSlots { job, slots, .. } in held.iter().take(TOLD) {
                write!(f, "{before}{slots} by {job}")?;
                before = ", ";
            }
            if TOLD < held.len() {
                write!(f, ", … and by {} more jobs", held.len() - TOLD)?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
