//! Which reduces start: the order in which the reduces of jobs get slots, and the condition that
//! holds reduces back.
//!
//! A policy combines this module with its own rules. It serves jobs in groups, such as the jobs of
//! a pool, and decides which group comes first; within a group, [`Srt`] may give the reduces of
//! jobs an order of their own. A [`ReduceGate`] holds back some reduces of a job; reduces that are
//! held back do not count as demand. [`WithReduces`] adds these options to the policy's own
//! options.
//!
//! Policies with a strict order of jobs, such as by size, do not use this module.

mod options;

pub use self::options::{ReducesSpec, WithReduces};
use super::coupling::ReduceGate;
use super::delay::Delay;
use super::srt::{ReduceOrder, Srt};
use mumakil_base::units::SimTime;
use mumakil_core::mapred::{
    Job, JobId, Launched, Offer, PolicyNeeds, Reason, SlotKind, SlotStanding, View,
};

/// The rules for which reduces start. By default reduces follow the policy's order of jobs and are
/// not held back.
#[derive(Clone, Debug, Default)]
pub struct Reduces {
    /// The order of reduces; `None` if they follow the order of maps.
    srt: Option<Srt>,
    gate: ReduceGate,
}

impl Reduces {
    /// Returns the rules for these options.
    pub fn new(spec: &ReducesSpec) -> Self {
        let ReducesSpec { reduce_order, srt, reduce_gate } = spec;
        let srt = (*reduce_order == ReduceOrder::Srt).then(|| Srt::new(srt.clone()));
        Self { srt, gate: *reduce_gate }
    }

    /// Returns whether reduces have an order other than that of maps.
    pub fn have_an_order(&self) -> bool {
        self.srt.is_some()
    }

    /// Returns the needs of a policy that reads no reports: its order of reduces may read the
    /// progress of running maps.
    pub fn needs(&self) -> PolicyNeeds {
        let progress = self.srt.as_ref().is_some_and(Srt::reads_progress);
        PolicyNeeds { progress, reports: false, ..PolicyNeeds::default() }
    }

    /// Returns how many more tasks of a job may be launched: all waiting maps, or the reduces that
    /// are not held back.
    pub fn pending(&self, job: &Job, kind: SlotKind) -> u32 {
        match kind {
            SlotKind::Map => job.pending(kind),
            SlotKind::Reduce => self.gate.pending(job),
        }
    }

    /// As [`Reduces::pending`] for reduces, but as if the slow start were over.
    pub fn pending_ever(&self, job: &Job) -> u32 {
        self.gate.pending_ever(job)
    }

    /// Launches a task of the first job that has one for the offer's tracker. `jobs` are in the
    /// policy's order; `reason` gets a job and its position. No job waits for admission.
    pub fn launch_first(
        &self,
        offer: &mut Offer<'_>,
        kind: SlotKind,
        jobs: impl Iterator<Item = JobId>,
        delay: &mut Delay,
        reason: impl Fn(&View<'_>, JobId, u32) -> Reason,
    ) -> Option<Launched> {
        // Since no job waits for admission, SRT counts the time of each job from the end of its
        // setup.
        let line = self.in_order(kind, &offer.view(), jobs, |_| None);
        (0..).zip(line).find_map(|(place, job)| {
            let reason = reason(&offer.view(), job, place);
            delay.launch(offer, job, kind, reason)
        })
    }

    /// As [`Reduces::launch_first`], for jobs in the order of their shares: the reason is how many
    /// tasks the job runs.
    pub fn launch_by_share(
        &self,
        offer: &mut Offer<'_>,
        kind: SlotKind,
        jobs: impl Iterator<Item = JobId>,
        delay: &mut Delay,
    ) -> Option<Launched> {
        self.launch_first(offer, kind, jobs, delay, |view, job, _| {
            let running = view.job(job).map_or(0, |job| job.tasks(kind).running());
            Reason::Share(SlotStanding::of(running))
        })
    }

    /// Returns the jobs of a group in the order in which their tasks of a kind get slots. `jobs`
    /// are in the policy's order, which also holds for maps. `may_run_since` returns when a job
    /// became runnable, if the policy ever makes jobs wait.
    ///
    /// The policy's own order is returned lazily; an order of reduces takes a sort.
    pub fn in_order<J, S>(
        &self,
        kind: SlotKind,
        view: &View<'_>,
        jobs: J,
        may_run_since: S,
    ) -> impl Iterator<Item = JobId> + use<J, S>
    where
        J: Iterator<Item = JobId>,
        S: Fn(JobId) -> Option<SimTime>,
    {
        // Either the sorted list or the policy's own order is used; the other stays empty.
        let (mut sorted, mut kept) = (Vec::new(), Some(jobs));
        if let Some(srt) = self.srt.as_ref().filter(|_| kind == SlotKind::Reduce) {
            sorted.extend(kept.take().into_iter().flatten());
            srt.sort(view, &mut sorted, may_run_since);
        }
        sorted.into_iter().chain(kept.into_iter().flatten())
    }
}
