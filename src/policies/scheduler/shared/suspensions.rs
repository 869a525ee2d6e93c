//! How a job gets slots that other jobs hold: the attempts that may lose theirs, those that a
//! policy has suspended on each tracker, and the limit on their number.
//!
//! Suspended attempts keep their memory, so a tracker may have only a limited number. Once a
//! tracker has this number, it suspends no more attempts until enough of them have resumed.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use mumakil_base::dense::grown;
use mumakil_base::forms;
use mumakil_base::mutated;
use mumakil_base::units::{Count, SimSpan};
use mumakil_core::mapred::{
    AttemptId, AttemptState, Complaint, JobId, Offer, Preemption, Report, SlotKind, TrackerId, View,
};

/// How a job that should be served gets slots that other jobs hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SlotTaking {
    /// Others' attempts are suspended, and resumed later.
    Eager,
    /// It waits until others' attempts end.
    Wait,
    /// Others' attempts are killed, and run again later.
    Kill,
    /// Others' attempts write their state to disk and end; later ones, on any node, go on from
    /// there.
    Checkpoint,
}

impl SlotTaking {
    /// Returns how an attempt loses its slot; `None` if it keeps it.
    pub const fn preemption(self) -> Option<Preemption> {
        match self {
            Self::Eager => Some(Preemption::Suspend),
            Self::Wait => None,
            Self::Kill => Some(Preemption::Kill),
            Self::Checkpoint => Some(Preemption::Checkpoint),
        }
    }
}

/// As [`SlotTaking`], in a policy that can only kill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum KillOrWait {
    /// It waits until others' attempts end.
    Wait,
    /// Others' attempts are killed, and run again later.
    Kill,
}

impl KillOrWait {
    /// Returns whether attempts are killed.
    pub fn kills(self) -> bool {
        self == Self::Kill
    }
}

forms! {
    KillOrWait, expected: "`wait` or `kill`",
    // Hadoop's option is true or false.
    flag: |kills| Ok(if kills { KillOrWait::Kill } else { KillOrWait::Wait }),
    text: |text| match text {
        "wait" => Ok(KillOrWait::Wait),
        "kill" => Ok(KillOrWait::Kill),
        _ => Err(E::unknown_variant(text, &["wait", "kill"])),
    },
}

/// How many attempts may be suspended on one tracker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SuspendedSpec {
    /// With this many suspended attempts, no more are suspended on the tracker.
    pub most: Count<1, 1_000>,
    /// Once their number has fallen to this, attempts are suspended there again. It is less than
    /// `most`.
    pub few: Count<0, 1_000>,
}

impl SuspendedSpec {
    /// The limits of the first paper on `hfsp`.
    // The paper has two thresholds (hysteresis) but gives no numbers, so these are chosen.
    pub const FEW: Self = Self { most: Count::of(4), few: Count::of(2) };

    /// Complains about limits in the wrong order, at the path of `few`.
    pub fn complaint(self, path: &[&str]) -> Option<Complaint> {
        let message = "`few` is below `most`: with so few suspended attempts others may be again";
        let hint = "one less than `most` is the most";
        (self.most.get() <= self.few.get()).then(|| Complaint::error(path, message, hint))
    }
}

/// The suspended attempts of all trackers.
#[derive(Debug)]
pub struct Suspensions {
    limits: SuspendedSpec,
    by_tracker: Vec<TrackerSuspensions>,
    where_is: FxHashMap<AttemptId, TrackerId>,
    of_job: FxHashMap<(JobId, SlotKind), u32>,
}

#[derive(Debug, Default)]
struct TrackerSuspensions {
    attempts: Vec<AttemptId>,
    is_full: bool,
}

impl Suspensions {
    /// Returns an empty set of suspensions.
    pub fn new(limits: SuspendedSpec) -> Self {
        let (where_is, of_job) = (FxHashMap::default(), FxHashMap::default());
        Self { limits, by_tracker: Vec::new(), where_is, of_job }
    }

    /// Returns the attempts of a kind that could lose their slots on the offer's tracker.
    pub fn preemptable<'o>(
        &'o self,
        offer: &'o Offer<'_>,
        kind: SlotKind,
        how: Preemption,
    ) -> impl Iterator<Item = &'o Report> {
        let view = offer.view();
        let reports = view.reports(offer.tracker()).iter();
        reports.filter(move |Report { attempt, .. }| {
            // Setups and cleanups keep their slots: they are short and belong to the JobTracker.
            attempt.slot() == kind
                && attempt.task.is_work()
                && (how.ends() || is_suspendable(&view, attempt.job()))
                && !self.contains(*attempt)
                && offer.can_preempt(*attempt)
        })
    }

    /// Returns the suspended attempt of a kind on the offer's tracker whose job comes first, with the
    /// job's position, which `turn` returns. Of several attempts of this job, the one that has run for
    /// longest comes first.
    pub fn first_on<T: Ord>(
        &self,
        offer: &Offer<'_>,
        kind: SlotKind,
        mut turn: impl FnMut(JobId) -> Option<T>,
    ) -> Option<(T, AttemptId)> {
        let of_kind = self.on(offer.tracker()).filter(|attempt| attempt.slot() == kind);
        let placed = of_kind.filter_map(|attempt| {
            let ran = offer.view().report_of(attempt).map_or(SimSpan::ZERO, |report| report.ran);
            let most = mutated!(ran, "taking/resume-youngest" => SimSpan::LONGEST - ran);
            Some((turn(attempt.job())?, Reverse(most), attempt))
        });
        let first = mutated!(placed.min(), "taking/resume-order" => placed.max());
        first.map(|(turn, _, attempt)| (turn, attempt))
    }

    /// Returns whether another attempt may lose its slot on the tracker of an offer: only suspensions
    /// are limited, since a killed attempt keeps no memory. If the answer changes, adds a note to the
    /// offer.
    pub fn have_room(&mut self, offer: &mut Offer<'_>, how: Preemption) -> bool {
        if how.ends() {
            return true;
        }
        let limits = self.limits;
        let here = self.here(offer.tracker());
        let reports = offer.view().reports(offer.tracker());
        // A resumed attempt counts as suspended until its tracker reports that it runs.
        let stopped = reports.iter().filter(|report| report.state == AttemptState::Suspended);
        // An attempt counts before its tracker reports that it has stopped.
        let is_new = |attempt: &&AttemptId| !stopped.clone().any(|one| one.attempt == **attempt);
        let count = (stopped.clone().count() + here.attempts.iter().filter(is_new).count()) as u32;
        // Two thresholds keep the state from changing with every attempt (2013, section 3.3).
        let is_full = if mutated!(here.is_full, "taking/hysteresis" => false) {
            mutated!(limits.few.get() < count, "taking/one-less" => limits.few.get() <= count)
        } else {
            mutated!(limits.most.get() <= count, "taking/one-more" => limits.most.get() < count)
        };
        if is_full != here.is_full {
            here.is_full = is_full;
            offer.note(if is_full {
                "too many attempts are suspended here: others wait from now on"
            } else {
                "few attempts are suspended here: others may be from now on"
            });
        }
        mutated!(!is_full, "taking/full" => true)
    }

    /// Notes that an attempt was suspended, by this policy or by the policy before it.
    pub fn note(&mut self, attempt: AttemptId, tracker: TrackerId) {
        self.here(tracker).attempts.push(attempt);
        self.where_is.insert(attempt, tracker);
        *self.of_job.entry((attempt.job(), attempt.slot())).or_default() += 1;
    }

    /// Notes that an attempt was resumed or has ended. Returns whether it was suspended.
    pub fn forget(&mut self, attempt: AttemptId) -> bool {
        let Some(tracker) = self.where_is.remove(&attempt) else { return false };
        self.here(tracker).attempts.retain(|other| *other != attempt);
        if let Some(count) = self.of_job.get_mut(&(attempt.job(), attempt.slot())) {
            *count -= mutated!(1, "taking/forget" => 0);
        }
        true
    }

    /// Notes that a job and all its attempts have ended.
    pub fn forget_job(&mut self, job: JobId) {
        for here in &mut self.by_tracker {
            here.attempts.retain(|attempt| attempt.job() != job);
        }
        self.where_is.retain(|attempt, _| attempt.job() != job);
        SlotKind::BOTH.iter().for_each(|kind| _ = self.of_job.remove(&(job, *kind)));
    }

    /// Returns whether an attempt is suspended.
    pub fn contains(&self, attempt: AttemptId) -> bool {
        self.where_is.contains_key(&attempt)
    }

    /// Returns how many attempts of a job and a kind of slot are suspended.
    pub fn of(&self, job: JobId, kind: SlotKind) -> u32 {
        self.of_job.get(&(job, kind)).copied().unwrap_or_default()
    }

    /// Returns the suspended attempts on a tracker, in the order in which they were suspended.
    pub fn on(&self, tracker: TrackerId) -> impl Iterator<Item = AttemptId> {
        let here = self.by_tracker.get(tracker.index());
        here.into_iter().flat_map(|here| here.attempts.iter().copied())
    }

    fn here(&mut self, tracker: TrackerId) -> &mut TrackerSuspensions {
        grown(&mut self.by_tracker, tracker.index())
    }
}

/// Returns whether the attempts of a job may be suspended.
pub fn is_suspendable(view: &View<'_>, job: JobId) -> bool {
    view.job(job).is_some_and(|job| mutated!(job.spec().suspendable, "taking/suspendable" => true))
}
