//! `histograms/NAME.hgrm` and `latency.hlog`: distributions of spans of time, in virtual
//! microseconds, to three significant digits.
//!
//! A histogram without values has no file. Spans of jobs are read from the books at the end of the
//! run; all other values are recorded as they occur, at a few nanoseconds each.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};

use hdrhistogram::Histogram;
use rustc_hash::FxHashMap;

use super::table::TextFile;
use super::{AlikeHeartbeats, RecordError, RunBooks, RunEnd, SlotShift, Watcher, hdr};
use mumakil_base::dense::grown;
use mumakil_base::units::{SimSpan, SimTime};
use mumakil_base::{disk, files};
use mumakil_core::mapred::{
    AttemptFact, AttemptId, Event, Fact, LedgerFact, PerSlot, Reason, Role, SlotKind, TrackerFact,
    TrackerId,
};

/// The most characters of a class's name in a file name.
// Chosen: even with characters of four bytes the file name stays below the usual limit of 255
// bytes.
const CLASS_LETTERS: usize = 48;

/// The spans that are recorded as they occur. Each has a fixed index: a look-up by name would take
/// 3 % of a run's time.
#[derive(Clone, Copy, Debug)]
enum PassingSpan {
    HeartbeatRtt,
    JobTrackerQueue,
    SlotIdle,
    TaskWait,
    LocalityWait,
    CommitDelay,
    Suspension,
    PreemptionToLaunch,
}

impl PassingSpan {
    /// The names of their histograms, in the order of the variants.
    const NAMES: [&str; 8] = [
        "heartbeat_rtt",
        "jobtracker_queue",
        "slot_idle",
        "task_wait",
        "locality_wait",
        "commit_delay",
        "suspension",
        "preemption_to_launch",
    ];
}

/// Writes the histograms.
#[derive(Debug)]
pub(super) struct Histograms {
    folder: PathBuf,
    /// The histograms of the spans; the first value creates one.
    passing: [Option<Histogram<u64>>; PassingSpan::NAMES.len()],
    /// The histograms of spans of another protocol.
    foreign: BTreeMap<&'static str, Histogram<u64>>,
    /// The attempts that wait for the slot of a preempted attempt, each with the instant of the
    /// last preemption for its sake.
    awaited: FxHashMap<AttemptId, SimTime>,
    /// The instants at which each tracker's free slots became free, the earliest first.
    free: Vec<PerSlot<VecDeque<SimTime>>>,
}

impl Histograms {
    pub(super) fn create(folder: &Path) -> Result<Self, RecordError> {
        let tables = folder.join(files::HISTOGRAMS);
        disk::create_dir(&tables).map_err(RecordError::at(&tables))?;
        Ok(Self {
            folder: folder.to_owned(),
            passing: Default::default(),
            foreign: BTreeMap::new(),
            awaited: FxHashMap::default(),
            free: Vec::new(),
        })
    }

    fn tracker_up(&mut self, at: SimTime, tracker: TrackerId, slots: PerSlot<u32>) {
        let free = grown(&mut self.free, tracker.index());
        for kind in SlotKind::BOTH {
            free[kind] = (0..slots[kind]).map(|_| at).collect();
        }
    }

    /// Records how long slots were idle before they were taken. The slots of a tracker are alike,
    /// so assume that an attempt takes the slots that were free the longest.
    fn slot_moved(&mut self, at: SimTime, shift: SlotShift) {
        let Some(tracker) = self.free.get_mut(shift.tracker.index()) else { return };
        let free = &mut tracker[shift.task.slot()];
        // The range is empty unless the shift is below zero and so frees slots.
        for _ in shift.slots..0 {
            free.push_back(at);
        }
        for _ in 0..shift.slots {
            // Look up again in each turn, since `record` borrows all of `self`.
            if let Some(since) = self.free[shift.tracker.index()][shift.task.slot()].pop_front() {
                self.record(PassingSpan::SlotIdle, at.saturating_since(since));
            }
        }
    }

    /// Records the spans that a fact of the JobTracker ends, for jobs that arrived after the
    /// warm-up.
    fn see_ledger(&mut self, at: SimTime, attempt: AttemptId, fact: LedgerFact, books: &RunBooks) {
        match fact {
            LedgerFact::Assigned { role: Role::Work, waited, reason, .. }
                if books.counts(attempt.job()) =>
            {
                self.assigned(attempt, waited, reason);
            }
            LedgerFact::Ordered { reason: Reason::PreemptedFor(by), .. }
                if books.counts(by.job()) =>
            {
                // Another preemption for the same attempt restarts the span: the last preemption
                // freed the slot.
                self.awaited.insert(by, at);
            }
            LedgerFact::Assigned { .. }
            | LedgerFact::Learned { .. }
            | LedgerFact::Ordered { .. }
            | LedgerFact::Spared { .. } => {}
        }
    }

    /// Records the spans that a fact of a tracker ends, for jobs that arrived after the warm-up.
    fn see_attempt(
        &mut self,
        at: SimTime,
        attempt: AttemptId,
        fact: AttemptFact,
        books: &RunBooks,
    ) {
        match fact {
            // No check for the warm-up is needed: `awaited` has only jobs that count.
            AttemptFact::Started { .. } => self.has_slot(at, attempt),
            AttemptFact::Resumed if books.counts(attempt.job()) => {
                self.has_slot(at, attempt);
                if let Some(attempt) = books.attempt(attempt) {
                    self.record(PassingSpan::Suspension, attempt.suspension());
                }
            }
            AttemptFact::Ended { phases, .. } if books.counts(attempt.job()) => {
                // An attempt that ended before it got its slot has no span.
                self.awaited.remove(&attempt);
                if let Some(commit) = phases.commit {
                    self.record(PassingSpan::CommitDelay, commit);
                }
            }
            AttemptFact::Opened { .. }
            | AttemptFact::Saved
            | AttemptFact::CommitPending
            | AttemptFact::Suspended
            | AttemptFact::Resumed
            | AttemptFact::FetchFailed { .. }
            | AttemptFact::Ended { .. } => {}
        }
    }

    fn assigned(&mut self, attempt: AttemptId, waited: SimSpan, reason: Reason) {
        if !attempt.task.is_work() {
            return;
        }
        self.record(PassingSpan::TaskWait, waited);
        // Only a launch after a wait for locality has a `LocalityWait`.
        if let Reason::Waited(span) = reason {
            self.record(PassingSpan::LocalityWait, span);
        }
    }

    fn has_slot(&mut self, at: SimTime, attempt: AttemptId) {
        if let Some(since) = self.awaited.remove(&attempt) {
            self.record(PassingSpan::PreemptionToLaunch, at.saturating_since(since));
        }
    }

    /// Returns all histograms by name: spans recorded during the run, spans of jobs (also by
    /// class), and the lag of a scaled clock.
    fn named(&mut self, end: &RunEnd<'_>) -> BTreeMap<Cow<'static, str>, Histogram<u64>> {
        let passing = PassingSpan::NAMES.into_iter().zip(std::mem::take(&mut self.passing));
        // Sorted by name: the digest depends on the order of lines in the log.
        let mut named: BTreeMap<Cow<'static, str>, _> =
            passing.filter_map(|(name, values)| Some((name.into(), values?))).collect();
        let foreign = std::mem::take(&mut self.foreign).into_iter();
        named.extend(foreign.map(|(name, values)| (name.into(), values)));
        let mut note = |name: Cow<'static, str>, span: SimSpan| {
            add(named.entry(name).or_insert_with(empty), span, 1);
        };
        for job in end.books.counted() {
            if let Some(wait) = job.wait() {
                note("job_wait".into(), wait);
            }
            if let Some(sojourn) = job.measured() {
                note("job_sojourn".into(), sojourn);
                // A job without a class is only in `job_sojourn`.
                if !job.spec.class.is_empty() {
                    note(
                        format!("job_sojourn-{}", file_safe_name(&job.spec.class)).into(),
                        sojourn,
                    );
                }
            }
        }
        if let Some(lag) = end.clock_lag.filter(|lag| !lag.is_empty()) {
            named.insert("clock_lag".into(), lag.clone());
        }
        named
    }

    fn record(&mut self, kind: PassingSpan, span: SimSpan) {
        self.record_all(kind, span, 1);
    }

    fn record_all(&mut self, kind: PassingSpan, span: SimSpan, count: u64) {
        add(self.passing[kind as usize].get_or_insert_with(empty), span, count);
    }
}

fn empty() -> Histogram<u64> {
    // Three digits is HdrHistogram's usual precision: an error of at most a thousandth.
    Histogram::new(3).expect("three digits are possible")
}

fn add(histogram: &mut Histogram<u64>, span: SimSpan, count: u64) {
    // A histogram from `new` grows, so no value is out of range.
    histogram.record_n(span.as_micros(), count).expect("the histogram grows with its values");
}

impl Watcher for Histograms {
    fn see(&mut self, event: &Event, books: &RunBooks) -> Result<(), RecordError> {
        match event.fact {
            Fact::Ledger(attempt, _, fact) => self.see_ledger(event.at, attempt, fact, books),
            Fact::Attempt(attempt, _, fact) => self.see_attempt(event.at, attempt, fact, books),
            Fact::Tracker(tracker, TrackerFact::Up(slots)) => {
                self.tracker_up(event.at, tracker, slots);
            }
            // The slots of a dead tracker no longer exist, so they record no idle time.
            Fact::Tracker(tracker, TrackerFact::Down) => {
                self.tracker_up(event.at, tracker, PerSlot::default());
            }
            Fact::Span(name, span) => add(self.foreign.entry(name).or_insert_with(empty), span, 1),
            Fact::Tracker(_, TrackerFact::Heartbeat { .. })
            | Fact::Job(..)
            | Fact::Member(..)
            | Fact::World(_)
            | Fact::Pool(..) => {}
        }
        if let Some(shift) = books.shift {
            self.slot_moved(event.at, shift);
        }
        Ok(())
    }

    fn count(&mut self, beats: &AlikeHeartbeats) {
        self.record_all(PassingSpan::HeartbeatRtt, beats.rtt, beats.count);
        self.record_all(PassingSpan::JobTrackerQueue, beats.queued, beats.count);
    }

    fn finish(&mut self, end: &RunEnd<'_>) -> Result<(), RecordError> {
        let named = self.named(end);
        let tables = self.folder.join(files::HISTOGRAMS);
        for (name, histogram) in &named {
            let mut table = TextFile::create(&tables, &format!("{name}{}", files::HISTOGRAM))?;
            table.write(|to| hdr::write_percentiles(to, histogram))?;
            table.finish()?;
        }
        let mut log = TextFile::create(&self.folder, files::LATENCY)?;
        log.write(|to| hdr::write_log(to, end.run.ended, named.iter()))?;
        log.finish()
    }
}

/// Returns the name of a class in a form that is safe in tags and file names. Classes that differ
/// only in unsafe characters share a histogram.
pub fn file_safe_name(class: &str) -> String {
    let letters = class.chars().take(CLASS_LETTERS).map(|letter| {
        if letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.') { letter } else { '_' }
    });
    letters.collect()
}
