//! Which reduces start: the order in which the reduces of jobs get slots, and the condition that
//! holds reduces back.
//!
//! A policy combines this module with its own rules. It serves jobs in groups, such as the jobs of
//! a pool, and decides which group comes first; within a group, [`SrtSpec`] may give the reduces of
//! jobs an order of their own. A [`ReduceGate`] holds back some reduces of a job; reduces that are
//! held back do not count as demand. [`WithReduces`] adds these options to the policy's own
//! options.
//!
//! Policies with a strict order of jobs, such as by size, do not use this module.
//!
//! The gate `coupling` is that of Tan et al. (Performance analysis of coupling scheduler for
//! MapReduce/Hadoop, INFOCOM 2012): a reduce that is launched early holds its slot until the last
//! map has ended. So the launched share of a job's reduces never exceeds the ended share of its
//! maps, rounded up to a whole reduce.

mod options;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::options::{ReducesSpec, WithReduces};
use super::delay::Delay;
use super::srt::{ReduceOrder, SrtSpec};
use mumakil_base::mutated;
use mumakil_base::units::SimTime;
use mumakil_core::mapred::{
    Job, JobId, Launched, Offer, PolicyNeeds, Reason, SlotKind, SlotStanding, View,
};

/// The rules for which reduces start. By default reduces follow the policy's order of jobs and are
/// not held back.
#[derive(Clone, Debug, Default)]
pub struct Reduces {
    /// The order of reduces; `None` if they follow the order of maps.
    srt: Option<SrtSpec>,
    gate: ReduceGate,
}

impl Reduces {
    /// Returns the rules for these options.
    pub fn new(spec: &ReducesSpec) -> Self {
        let ReducesSpec { reduce_order, srt, reduce_gate } = spec;
        let srt = (*reduce_order == ReduceOrder::Srt).then(|| srt.clone());
        Self { srt, gate: *reduce_gate }
    }

    /// Returns whether reduces have an order other than that of maps.
    pub fn have_an_order(&self) -> bool {
        self.srt.is_some()
    }

    /// Returns the needs of a policy that reads no reports: its order of reduces may read the
    /// progress of running maps.
    pub fn needs(&self) -> PolicyNeeds {
        let progress = self.srt.as_ref().is_some_and(SrtSpec::reads_progress);
        PolicyNeeds { progress, reports: false, ..PolicyNeeds::default() }
    }

    /// Returns how many more tasks of a job may be launched: all waiting maps, or the reduces that
    /// are not held back.
    pub fn pending(&self, job: &Job, kind: SlotKind) -> u32 {
        match kind {
            SlotKind::Map => job.pending(kind),
            // More slots would not help for reduces that are held back.
            SlotKind::Reduce => self.gate.permitted_launches(job, job.waiting(kind)),
        }
    }

    /// As [`Reduces::pending`] for reduces, but as if the slow start were over.
    pub fn pending_ever(&self, job: &Job) -> u32 {
        self.gate.permitted_launches(job, job.unstarted_reduces())
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
        // SRT counts from the end of the setup, since no job waits for admission.
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
        if let Some(srt) = &self.srt
            && mutated!(kind == SlotKind::Reduce, "srt/maps" => true)
        {
            sorted.extend(kept.take().into_iter().flatten());
            srt.sort(view, &mut sorted, may_run_since);
        }
        sorted.into_iter().chain(kept.into_iter().flatten())
    }
}

/// The condition that holds reduces back after the slow start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReduceGate {
    /// No condition.
    #[default]
    Open,
    /// The share of a job's reduces that have started is at most the share of its maps that have
    /// ended or failed for good, rounded up to a whole reduce.
    Coupling,
}

impl ReduceGate {
    /// Returns how many reduces may be launched if `waiting` reduces have not started.
    fn permitted_launches(self, job: &Job, waiting: u32) -> u32 {
        // Slow running reduces are pending, too: they may get second attempts.
        let slow = job.pending(SlotKind::Reduce) - job.waiting(SlotKind::Reduce);
        if mutated!(self == Self::Open, "coupling/open" => true) {
            return waiting + slow;
        }
        let (maps, reduces) = (job.tasks(SlotKind::Map), job.tasks(SlotKind::Reduce));
        // During the slow start no reduce waits, so the result is 0.
        let launched = reduces.total() - waiting;
        let over = maps.finished() + maps.failed();
        let in_step = in_step(over, maps.total(), reduces.total())
            .saturating_sub(mutated!(launched, "coupling/launched" => 0));
        // Second attempts are not held back, since their reduces have started already.
        waiting.min(in_step) + slow
    }
}

/// Returns how many of a job's `reduces` reduces may have been launched once `maps_over` of its
/// `maps` maps have ended or failed for good.
fn in_step(maps_over: u32, maps: u32, reduces: u32) -> u32 {
    // This covers a job without maps, for which the division below is impossible.
    if maps_over == maps {
        return reduces;
    }
    let share = u64::from(maps_over) * u64::from(reduces);
    let maps = u64::from(maps);
    mutated!(share.div_ceil(maps), "coupling/floor" => share / maps) as u32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_launched_share_of_reduces_is_that_of_maps_rounded_up() {
        let launched = |over| in_step(over, 100, 8);
        assert_eq!([0, 1, 12, 13, 50, 99, 100].map(launched), [0, 1, 1, 2, 4, 8, 8]);
        assert_eq!(in_step(0, 0, 3), 3, "without maps, all reduces may start");
    }

    proptest! {
        #[test]
        fn more_maps_never_let_fewer_reduces_pass(maps in 1u32..500, reduces in 0u32..500, over in 0u32..500) {
            let over = over.min(maps - 1);
            prop_assert!(in_step(over, maps, reduces) <= in_step(over + 1, maps, reduces));
            prop_assert_eq!(in_step(maps, maps, reduces), reduces);
        }
    }
}
