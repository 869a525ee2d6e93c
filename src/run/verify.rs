//! The invariant checker: what must hold in every run, whatever the scenario and the policy.
//!
//! ```text
//! fact ─ Verifier ─┬─ trackers   slots taken, attempts started and ended
//!                  ├─ jobs       tasks assigned, verdicts learned: only of what happened
//!                  └─ blocks     copies made and lost: maps read only from these
//! at the end: nothing unheard, nothing unanswered, slot time adds up
//! ```
//!
//! It reads the facts and nothing else, and keeps books of its own: a mistake that it shared with
//! the recorder or the emulator would go unseen.
//!
//! The stream must be in the order of time, so this is for runs on the virtual clock. A broken
//! invariant is collected with its instant and its ids, and checking goes on. Memory grows with the
//! jobs that have not ended and with what is on trackers.

use std::fmt;

use crate::record::{AttemptFate, RecordError, RunBooks, RunEnd, WasteSummary, Watcher};
use mumakil_base::units::SimTime;
use mumakil_core::cluster::Hdfs;
use mumakil_core::mapred::{
    Event, Fact, Incident, JobFact, LedgerFact, MemberFact, StopReason, WorldFact,
};

mod blocks;
mod breach;
mod jobs;
#[cfg(test)]
mod tests;
mod trackers;

pub use breach::InvariantBreach;

/// How many violations are kept. One mistake tends to break every second fact.
// Chosen: a user reads the first few, and a broken run must not fill the memory.
const KEPT: usize = 100;

/// Behaviour that is allowed in this run.
#[derive(Clone, Copy, Debug, Default)]
pub struct VerifierRules {
    /// The run is cut off at an instant, so jobs may be left.
    pub cut_off: bool,
    /// Attempts that wait for their commit are not counted as running.
    pub commit_not_counted: bool,
    /// A job may succeed though some of its tasks failed.
    pub failed_tasks: bool,
    /// After so many failed attempts a task is given up; without this, never.
    pub max_attempts: Option<u32>,
    /// An attempt that has lost against another one may run to its end.
    pub losers_go_on: bool,
}

/// An invariant that did not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// When.
    pub at: SimTime,
    /// The breach.
    pub breach: InvariantBreach,
}

/// Checks a stream of facts, one after the other.
#[derive(Debug, Default)]
pub struct Verifier {
    rules: VerifierRules,
    now: SimTime,
    trackers: trackers::CheckedTrackers,
    jobs: jobs::CheckedJobs,
    /// Whether the JobTracker's process stands still or is gone.
    is_away: bool,
    findings: Violations,
}

/// The violations so far.
#[derive(Debug, Default)]
struct Violations {
    kept: Vec<Violation>,
    more: u64,
}

impl Verifier {
    /// Returns a checker that has seen nothing.
    pub fn new(rules: VerifierRules) -> Self {
        Self { rules, ..Self::default() }
    }

    /// Lets it check what maps read from this file system.
    pub fn with_files(mut self, files: Hdfs) -> Self {
        self.trackers.blocks = blocks::Blocks::of(files);
        self
    }

    /// Checks the next fact. Costs a few look-ups at most.
    pub fn check(&mut self, event: &Event) {
        let Event { at, ref fact } = *event;
        let mut check = Check { at, rules: self.rules, findings: &mut self.findings };
        check.that(self.now <= at, || InvariantBreach::TimeRanBack { from: self.now });
        // After time ran back, each further event is held against the latest instant, not the wrong
        // one.
        self.now = self.now.max(at);
        // Before the books change, since the fact itself may be what must not happen.
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
                // The trackers first: the jobs ask them what became of outputs by this instant.
                self.trackers.worked(attempt, tracker, fact, &mut check);
                self.jobs.happened(attempt, tracker, fact, &self.trackers, &mut check);
            }
            Fact::Tracker(tracker, fact) => self.trackers.see(tracker, fact, &mut check),
            Fact::World(WorldFact::Incident { tracker: None, incident }) => {
                // An incident without a tracker is the JobTracker's: it pauses, dies, or is back.
                self.is_away = incident != Incident::Back;
            }
            // Most incidents show in later facts of the tracker itself; a few concern its disks
            // here.
            Fact::World(WorldFact::Incident { tracker: Some(tracker), incident }) => {
                self.trackers.befall(tracker, incident, &mut check);
            }
            Fact::World(WorldFact::Copy { block, tracker, is_there }) => {
                self.trackers.blocks.copy(block, tracker, is_there, at);
            }
            Fact::World(WorldFact::PolicyChanged) => {}
        }
    }

    /// Checks what must hold when a run is over.
    ///
    /// A run that could not go on, or had no more time, has jobs left and says so itself. But if
    /// nothing moved any more, the JobTracker must know of all that had happened, and name every job
    /// that is left among those that wait.
    pub fn check_end(&mut self, at: SimTime, stop: &StopReason) {
        let mut check = Check { at, rules: self.rules, findings: &mut self.findings };
        check.that(self.now <= at, || InvariantBreach::TimeRanBack { from: self.now });
        match stop {
            // Jobs may be left where `until` cuts the run off.
            StopReason::TimeUp if self.rules.cut_off => {}
            StopReason::Done | StopReason::TimeUp => self.jobs.over(&mut check),
            StopReason::Stalled(stall) => self.jobs.at_rest(stall, &self.trackers, &mut check),
            StopReason::TimeLimit => {}
        }
    }

    /// Checks that what slots are said to have been held for adds up to what trackers held.
    pub fn check_waste(&mut self, at: SimTime, told: &WasteSummary) {
        let mut check = Check { at, rules: self.rules, findings: &mut self.findings };
        let micros = |seconds: f64| (seconds * 1e6).round() as u128;
        let parts = AttemptFate::ALL.map(|fate| micros(told.by_fate[fate]));
        let (sum, held) = (parts.iter().sum(), self.trackers.slot_time(at));
        // Doubles are exact below 2^50 microseconds (36 years of one slot); above, each of
        // the parts may be rounded by so much.
        let slack = held >> 50;
        for told in [micros(told.held_s), sum] {
            // Both the told sum and the sum of the parts must agree with the trackers.
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

    /// Returns the violations: the first hundred of them.
    pub fn violations(&self) -> &[Violation] {
        &self.findings.kept
    }

    /// Returns how many violations there were beyond those.
    pub const fn more(&self) -> u64 {
        self.findings.more
    }
}

/// Checks that this is nothing that a JobTracker does which stands still or is gone.
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
        // A run that broke down has no reason to stop; its own error is reported, not this check.
        self.check_end(end.run.ended, stop.unwrap_or(&StopReason::Done));
        if let Some(waste) = end.waste {
            self.check_waste(end.run.ended, waste);
        }
        Ok(())
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at {}: {}", self.at, self.breach)
    }
}

/// The checking of one fact.
struct Check<'a> {
    at: SimTime,
    rules: VerifierRules,
    findings: &'a mut Violations,
}

impl Check<'_> {
    /// Notes a breach unless `holds`.
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
