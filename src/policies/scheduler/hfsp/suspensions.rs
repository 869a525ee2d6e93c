//! The attempts that a policy has suspended on each tracker, and the limit on their number.
//!
//! Suspended attempts keep their memory, so a tracker may have only a limited number. Once a
//! tracker has this number, it suspends no more attempts until enough of them have resumed.

use rustc_hash::FxHashMap;

use super::options::SuspendedSpec;
use mumakil_core::mapred::{AttemptId, AttemptState, JobId, Offer, SlotKind, TrackerId};

/// The suspended attempts of all trackers.
#[derive(Debug)]
pub(super) struct Suspensions {
    limits: SuspendedSpec,
    by_tracker: Vec<TrackerSuspensions>,
    where_is: FxHashMap<AttemptId, TrackerId>,
    of_job: FxHashMap<(JobId, SlotKind), u32>,
}

/// The suspended attempts of a tracker.
#[derive(Debug, Default)]
struct TrackerSuspensions {
    /// The attempts in the order in which they were suspended.
    attempts: Vec<AttemptId>,
    is_full: bool,
}

impl Suspensions {
    /// Returns an empty set of suspensions.
    pub(super) fn new(limits: SuspendedSpec) -> Self {
        let (where_is, of_job) = (FxHashMap::default(), FxHashMap::default());
        Self { limits, by_tracker: Vec::new(), where_is, of_job }
    }

    /// Returns whether another attempt may be suspended on the tracker of an offer. If the answer
    /// changes, adds a note to the offer.
    pub(super) fn have_room(&mut self, offer: &mut Offer<'_>) -> bool {
        let limits = self.limits;
        let here = self.here(offer.tracker());
        let reports = offer.view().reports(offer.tracker());
        // A resumed attempt counts as suspended until its tracker reports that it runs.
        let stopped = reports.iter().filter(|report| report.state == AttemptState::Suspended);
        // An attempt that is ordered to stop counts at once, before its tracker reports that it has
        // stopped.
        let is_new = |attempt: &&AttemptId| !stopped.clone().any(|one| one.attempt == **attempt);
        let count = (stopped.clone().count() + here.attempts.iter().filter(is_new).count()) as u32;
        // Two thresholds keep the state from changing with every attempt (2013, section 3.3).
        let is_full =
            if here.is_full { limits.few.get() < count } else { limits.most.get() <= count };
        if is_full != here.is_full {
            here.is_full = is_full;
            offer.note(if is_full {
                "too many attempts are suspended here: others wait from now on"
            } else {
                "few attempts are suspended here: others may be from now on"
            });
        }
        !is_full
    }

    /// Notes that an attempt was suspended, by this policy or by the policy before it.
    pub(super) fn note(&mut self, attempt: AttemptId, tracker: TrackerId) {
        self.here(tracker).attempts.push(attempt);
        self.where_is.insert(attempt, tracker);
        *self.of_job.entry((attempt.job(), attempt.slot())).or_default() += 1;
    }

    /// Notes that an attempt was resumed or has ended. Returns whether it was suspended.
    pub(super) fn forget(&mut self, attempt: AttemptId) -> bool {
        let Some(tracker) = self.where_is.remove(&attempt) else { return false };
        self.here(tracker).attempts.retain(|other| *other != attempt);
        if let Some(count) = self.of_job.get_mut(&(attempt.job(), attempt.slot())) {
            *count -= 1;
        }
        true
    }

    /// Notes that a job and all its attempts have ended.
    pub(super) fn forget_job(&mut self, job: JobId) {
        for here in &mut self.by_tracker {
            here.attempts.retain(|attempt| attempt.job() != job);
        }
        self.where_is.retain(|attempt, _| attempt.job() != job);
        SlotKind::BOTH.iter().for_each(|kind| _ = self.of_job.remove(&(job, *kind)));
    }

    /// Returns whether an attempt is suspended.
    pub(super) fn contains(&self, attempt: AttemptId) -> bool {
        self.where_is.contains_key(&attempt)
    }

    /// Returns how many attempts of a job and a kind of slot are suspended.
    pub(super) fn of(&self, job: JobId, kind: SlotKind) -> u32 {
        self.of_job.get(&(job, kind)).copied().unwrap_or_default()
    }

    /// Returns the suspended attempts on a tracker, in the order in which they were suspended.
    pub(super) fn on(&self, tracker: TrackerId) -> impl Iterator<Item = AttemptId> {
        let here = self.by_tracker.get(tracker.index());
        here.into_iter().flat_map(|here| here.attempts.iter().copied())
    }

    fn here(&mut self, tracker: TrackerId) -> &mut TrackerSuspensions {
        if self.by_tracker.len() <= tracker.index() {
            self.by_tracker.resize_with(tracker.index() + 1, TrackerSuspensions::default);
        }
        &mut self.by_tracker[tracker.index()]
    }
}
