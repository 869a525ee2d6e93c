//! The invariant checker: it checks what must hold in every run, under any scenario and policy.
//!
//! ```text
//! fact ─ Verifier ─┬─ trackers   slots taken, attempts started and ended
//!                  ├─ jobs       tasks assigned; states learned, but only after they happened
//!                  ├─ room       memory and cores asked for, where the cluster counts them
//!                  └─ blocks     copies made and lost; maps read only existing copies
//! at the end: all ends learned, all commits answered, slot time adds up
//! ```
//!
//! The checker reads only the facts and keeps its own state: it could not see a mistake in code
//! that it shared with the recorder or the emulator.
//!
//! The stream must be in the order of time, so the checker works on the virtual clock only. It
//! collects each broken invariant with instant and ids, and goes on. Memory grows with the jobs
//! that have not ended and with the attempts on trackers.

use std::sync::Arc;

use crate::record::{AttemptFate, RecordError, RunBooks, RunEnd, WasteSummary, Watcher};
use mumakil_base::units::SimTime;
use mumakil_core::cluster::{Hdfs, Topology};
use mumakil_core::mapred::{
    Event, Fact, Incident, JobFact, LedgerFact, MemberFact, StopReason, WorldFact,
};

mod blocks;
mod breach;
mod jobs;
mod room;
#[cfg(test)]
mod tests;
mod trackers;

pub use breach::InvariantBreach;

/// How many violations are kept, since one mistake tends to cause thousands of violations.
// Chosen: a user reads the first few, and a broken run must not fill the memory.
const KEPT: usize = 100;

/// Deviations that the checker allows in a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct VerifierRules {
    /// Whether the run is cut off at an instant, so that jobs may remain unfinished.
    pub cut_off: bool,
    /// Whether the JobTracker's counts of running attempts omit attempts that wait for their
    /// commit.
    pub commit_not_counted: bool,
    /// Whether a job may succeed although some of its tasks failed, unless the job itself says so.
    pub failed_tasks: bool,
    /// The number of failed attempts after which a task is given up, unless its job has another
    /// number; `None` if tasks are never given up.
    pub max_attempts: Option<u32>,
    /// Whether an attempt may run on after another attempt of its task has succeeded.
    pub losers_go_on: bool,
}

/// An invariant that did not hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at {at}: {breach}")]
pub struct Violation {
    /// The instant of the fact that broke the invariant.
    pub at: SimTime,
    /// The invariant, and how it was broken.
    pub breach: InvariantBreach,
}

/// The invariant checker of one run. It takes one fact after the other.
#[derive(Debug, Default)]
pub struct Verifier {
    rules: VerifierRules,
    now: SimTime,
    trackers: trackers::CheckedTrackers,
    jobs: jobs::CheckedJobs,
    room: Option<room::CheckedRoom>,
    /// Whether the JobTracker's process is paused or down.
    is_away: bool,
    findings: Violations,
}

/// The violations found so far.
#[derive(Debug, Default)]
struct Violations {
    kept: Vec<Violation>,
    more: u64,
}

impl Verifier {
    /// Returns a checker at the start of a run.
    pub fn new(rules: VerifierRules) -> Self {
        Self { rules, ..Self::default() }
    }

    /// Returns a checker that has found these breaches of another protocol's invariants.
    pub fn of_breaches(breaches: Vec<(SimTime, String)>) -> Self {
        let found = breaches.into_iter();
        let kept = found.map(|(at, words)| Violation { at, breach: InvariantBreach::Line(words) });
        Self { findings: Violations { kept: kept.collect(), more: 0 }, ..Self::default() }
    }

    /// Returns the checker of a cluster, so that it also checks its memory and cores if the cluster
    /// counts them.
    pub fn with_room(mut self, topology: &Arc<Topology>) -> Self {
        self.room = room::CheckedRoom::of(topology);
        self
    }

    /// Returns the checker with the initial file system, so that it also checks from which nodes
    /// maps read.
    pub fn with_files(mut self, files: Hdfs) -> Self {
        self.trackers.blocks = blocks::Blocks::of(files);
        self
    }

    /// Checks the next fact. Costs a few look-ups at most.
    pub fn check(&mut self, event: &Event) {
        let Event { at, ref fact } = *event;
        let mut check = Check { at, rules: self.rules, findings: &mut self.findings };
        check.that(self.now <= at, || InvariantBreach::TimeRanBack { from: self.now });
        // Keep the latest instant so far: an event that comes too early must not set the time back.
        self.now = self.now.max(at);
        if let Some(room) = &mut self.room {
            room.see(event, &mut check);
        }
        // While the JobTracker is paused or down, some facts are breaches by themselves.
        if self.is_away {
            check_absent(fact, &mut check);
        }
        match *fact {
            Fact::Job(job, ref fact) => self.jobs.see(job, fact, &mut self.trackers, &mut check),
            Fact::Ledger(attempt, tracker, fact) => {
                self.jobs.decided(attempt, tracker, fact, &mut self.trackers, &mut check);
            }
            Fact::Member(tracker, fact) => {
                self.trackers.check_believed_counts(tracker, fact, &mut check)
            }
            Fact::Attempt(attempt, tracker, fact) => {
                // Update the trackers first: the jobs ask them which outputs exist at this instant.
                self.trackers.worked(attempt, tracker, fact, &mut check);
                self.jobs.happened(attempt, tracker, fact, &self.trackers, &mut check);
            }
            Fact::Tracker(tracker, fact) => self.trackers.see(tracker, fact, &mut check),
            Fact::World(WorldFact::Incident { tracker: None, incident }) => {
                // An incident without a tracker concerns the JobTracker, which pauses, dies, or is
                // back.
                self.is_away = incident != Incident::Back;
            }
            // Only incidents that change machines and disks matter here; other incidents show in
            // later facts of the tracker.
            Fact::World(WorldFact::Incident { tracker: Some(tracker), incident }) => {
                self.trackers.befall(tracker, incident, &mut check);
            }
            Fact::World(WorldFact::Copy { block, tracker, made }) => {
                self.trackers.blocks.copy(block, tracker, made.is_some(), at);
            }
            Fact::World(WorldFact::PolicyChanged | WorldFact::Reloaded)
            | Fact::Pool(..)
            | Fact::Span(..) => {}
        }
    }

    /// Checks what must hold at the end of a run.
    ///
    /// A run that stalled or was cut off has unfinished jobs and reports them itself. In a stalled
    /// run, the JobTracker must also have learned of all events and must list each unfinished job
    /// as waiting.
    pub fn check_end(&mut self, at: SimTime, stop: &StopReason) {
        let mut check = Check { at, rules: self.rules, findings: &mut self.findings };
        check.that(self.now <= at, || InvariantBreach::TimeRanBack { from: self.now });
        match stop {
            // Jobs may be unfinished if `until` cuts the run off.
            StopReason::TimeUp if self.rules.cut_off => {}
            StopReason::Done | StopReason::TimeUp => self.jobs.over(&mut check),
            StopReason::Stalled(stall) => self.jobs.at_rest(stall, &self.trackers, &mut check),
            StopReason::TimeLimit => {}
        }
    }

    /// Checks that the recorded slot time equals the slot time that trackers held, as a total and
    /// as the sum of its parts.
    pub fn check_waste(&mut self, at: SimTime, told: &WasteSummary) {
        let mut check = Check { at, rules: self.rules, findings: &mut self.findings };
        let micros = |seconds: f64| (seconds * 1e6).round() as u128;
        let parts = AttemptFate::ALL.map(|fate| micros(told.by_fate[fate]));
        let (sum, held) = (parts.iter().sum(), self.trackers.slot_time(at));
        // Doubles are exact below 2^50 microseconds (36 years of one slot); above that, each part
        // may have this rounding error.
        let slack = held >> 50;
        for told in [micros(told.held_s), sum] {
            // The recorded total and the sum of its parts must both agree with the trackers.
            check.that(told.abs_diff(held) <= slack, || InvariantBreach::HeldMiscounted {
                told,
                held,
            });
        }
        let (told, useful) = (micros(told.by_fate[AttemptFate::Useful]), self.jobs.useful());
        check.that(told.abs_diff(useful) <= slack, || InvariantBreach::UsefulMiscounted {
            told,
            useful,
        });
    }

    /// Returns the first hundred violations.
    pub fn violations(&self) -> &[Violation] {
        &self.findings.kept
    }

    /// Returns the number of violations beyond the first hundred.
    pub const fn more(&self) -> u64 {
        self.findings.more
    }
}

/// Checks that a fact does not need the JobTracker, which is paused or down.
fn check_absent(fact: &Fact, check: &mut Check<'_>) {
    match *fact {
        Fact::Ledger(attempt, _, LedgerFact::Assigned { .. }) => {
            check.breach(InvariantBreach::AssignedByNobody { attempt })
        }
        Fact::Job(job, JobFact::Initialised) => {
            check.breach(InvariantBreach::DoneByNobody { job, done: "initialised" });
        }
        Fact::Job(job, JobFact::Running) => {
            check.breach(InvariantBreach::DoneByNobody { job, done: "let run" })
        }
        Fact::Member(tracker, MemberFact::Joined) => {
            check.breach(InvariantBreach::JoinedNobody { tracker })
        }
        _ => {}
    }
}

impl Watcher for Verifier {
    fn see(&mut self, event: &Event, _: &RunBooks) -> Result<(), RecordError> {
        self.check(event);
        Ok(())
    }

    fn hears_heartbeats(&self) -> bool {
        true
    }

    fn finish(&mut self, end: &RunEnd<'_>) -> Result<(), RecordError> {
        let stop = end.run.stop.as_ref();
        // A run that broke down has no stop reason; its own error is reported instead of this
        // check.
        self.check_end(end.run.ended, stop.unwrap_or(&StopReason::Done));
        if let Some(waste) = end.waste {
            self.check_waste(end.run.ended, waste);
        }
        Ok(())
    }
}

/// The context of checking one fact.
struct Check<'a> {
    at: SimTime,
    rules: VerifierRules,
    findings: &'a mut Violations,
}

impl Check<'_> {
    /// Records a breach unless `holds`.
    fn that(&mut self, holds: bool, breach: impl FnOnce() -> InvariantBreach) {
        if !holds {
            self.breach(breach());
        }
    }

    fn breach(&mut self, breach: InvariantBreach) {
        if self.findings.kept.len() < KEPT {
            self.findings.kept.push(Violation { at: self.at, breach });
        } else {
            self.findings.more += 1;
        }
    }
}
