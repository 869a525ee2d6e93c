//! Which reduces start: in what order jobs get slots for them, and what holds them back.
//!
//! Policies use this beside their own rules:
//!
//! ```text
//! policy       which group of jobs is served first, such as a pool
//! Srt          which job of the group gets the slot, if reduces have an order of their own
//! ReduceGate   how many of its reduces the job may launch; the others are no demand
//! WithReduces  puts what scenarios say of all this among the policy's own options:
//!              fair: {preemption: true, reduce_order: srt, reduce_gate: coupling}
//! ```
//! Policies that are an order of jobs by themselves, such as that by size, do not use it.

mod options;

pub use self::options::{ReducesSpec, WithReduces};
use super::coupling::ReduceGate;
use super::srt::{ReduceOrder, Srt};
use mumakil_base::units::SimTime;
use mumakil_core::mapred::{Job, JobId, SlotKind, View};

/// Which reduces start; by default those of the job that the policy serves, and nothing holds them back.
#[derive(Clone, Debug, Default)]
pub struct Reduces {
    /// The order, if it is not that of maps.
    srt: Option<Srt>,
    gate: ReduceGate,
}

impl Reduces {
    /// Returns the part as it is asked for.
    pub fn new(spec: &ReducesSpec) -> Self {
        let ReducesSpec { reduce_order, srt, reduce_gate } = spec;
        let srt = (*reduce_order == ReduceOrder::Srt).then(|| Srt::new(srt.clone()));
        Self { srt, gate: *reduce_gate }
    }

    /// Returns whether reduces have an order that is not that of maps.
    pub fn have_an_order(&self) -> bool {
        self.srt.is_some()
    }

    /// Returns whether the order asks how far running maps are.
    pub fn read_progress(&self) -> bool {
        self.srt.as_ref().is_some_and(Srt::reads_progress)
    }

    /// Returns how many more tasks of a job may be launched: all maps, and the reduces that nothing
    /// holds back.
    pub fn pending(&self, job: &Job, kind: SlotKind) -> u32 {
        match kind {
            SlotKind::Map => job.pending(kind),
            SlotKind::Reduce => self.gate.pending(job),
        }
    }

    /// Returns how many more of a job's reduces there are to launch that nothing holds back but the slow
    /// start.
    pub fn pending_ever(&self, job: &Job) -> u32 {
        self.gate.pending_ever(job)
    }

    /// Returns the jobs of a group in the order in which their tasks of a kind get slots, from that of
    /// the policy, which maps keep; of each is asked from when on the policy lets it run, if it ever
    /// makes jobs wait.
    ///
    /// Costs nothing if that is the policy's order, else a sort.
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
