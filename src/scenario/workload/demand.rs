//! How much slot time jobs ask for, known without a run.
//!
//! The *offered load* of a kind of slots is the slot time that jobs ask for while they arrive, over
//! the slot time that is there in that time. It depends on the jobs and the cluster, not on the
//! policy. In the long run a cluster can only keep up with a load below one (R. M. Loynes: The
//! stability of a queue with non-independent inter-arrival and service times, 1962).
//!
//! ```text
//! arrivals      a     b     c     d        four arrivals, three gaps
//! window        |-----------------|        from the first to the last
//! offered load  mean work of an arrival / (mean gap × slots)
//! ```
//!
//! Each job asks for its tasks' times, each alone on a usual node with its input there. A run needs
//! more: heartbeats between tasks, remote reads and attempts in vain take slot time, too. The work
//! of a job that follows others counts for the arrival with which it comes.

use super::arrivals::{SubmissionWay, Workload};
use super::jobs::in_order;
use super::submission::Submission;
use mumakil_base::units::{SimSpan, SimTime};
use mumakil_core::mapred::{PerSlot, SlotKind, TrueDurations};

/// The slot time that a job asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JobDemand {
    /// The mean time of one of its tasks.
    pub task: PerSlot<SimSpan>,
    /// When it arrives; `None` if that depends on other jobs or on a warm start.
    pub arrives: Option<SimTime>,
    /// The slot time that comes with it, in seconds: its own and that of the jobs that follow it.
    /// Zero for a job that follows others.
    pub brings: PerSlot<f64>,
}

/// All jobs that arrive at one instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OfferedWork {
    /// The instant.
    pub at: SimTime,
    /// The slot time that they ask for, in seconds.
    pub work: PerSlot<f64>,
}

impl OfferedWork {
    /// Returns the arrivals in the order of time, those of the same instant together.
    pub fn by_instant(demands: impl Iterator<Item = JobDemand>) -> Vec<Self> {
        let arriving =
            demands.filter_map(|demand| Some(Self { at: demand.arrives?, work: demand.brings }));
        let mut all: Vec<Self> = arriving.collect();
        // A stable sort: floats add up in the order of the jobs.
        all.sort_by_key(|arrival| arrival.at);
        all.dedup_by(|next, first| {
            let is_same = next.at == first.at;
            if is_same {
                for kind in SlotKind::BOTH {
                    first.work[kind] += next.work[kind];
                }
            }
            is_same
        });
        all
    }

    /// Returns the time from the first to the last arrival, in seconds.
    pub fn window_s(arrivals: &[Self]) -> f64 {
        let ends = arrivals.first().zip(arrivals.last());
        ends.map_or(0.0, |(first, last)| last.at.saturating_since(first.at).as_secs_f64())
    }

    /// Returns the offered load of a kind of slots; `None` if all jobs arrive at once, or without
    /// slots. `slot_s` is the slot time from the first to the last arrival, in seconds.
    ///
    /// The mean work of an arrival comes from all `n` arrivals, the mean gap from the `n − 1` gaps
    /// between them.
    pub fn load(arrivals: &[Self], kind: SlotKind, slot_s: f64) -> Option<f64> {
        let n = arrivals.len() as f64;
        let work: f64 = arrivals.iter().map(|arrival| arrival.work[kind]).sum();
        (2.0 <= n && 0.0 < slot_s).then(|| work * (n - 1.0) / n / slot_s)
    }

    /// Returns the offered load of each kind of slots on a cluster of `slots` slots.
    pub fn loads(arrivals: &[Self], slots: PerSlot<u32>) -> PerSlot<Option<f64>> {
        let window = Self::window_s(arrivals);
        PerSlot::of(|kind| Self::load(arrivals, kind, window * f64::from(slots[kind])))
    }
}

impl Workload {
    /// Returns the slot time that each job asks for, by the job's number; an empty list if jobs
    /// arrive by the progress of the cluster. Walks at most 32 tasks of each kind and job.
    pub fn demands(&self, truth: &TrueDurations) -> Vec<JobDemand> {
        if self.submission != Submission::Replay {
            return Vec::new();
        }
        let follows: Vec<Vec<usize>> = self
            .follows
            .iter()
            .map(|all| all.iter().map(|batch| batch.index()).collect())
            .collect();
        let (last, roots) = self.roots(&follows);
        let mut demands = vec![JobDemand::default(); self.arrivals.len()];
        for arrival in &self.arrivals {
            let spec = &arrival.spec;
            let task = PerSlot::of(|kind| truth.mean_task(spec, kind));
            let tasks = PerSlot { map: spec.maps, reduce: spec.reduces };
            let own = PerSlot::of(|kind| task[kind].as_secs_f64() * f64::from(tasks[kind]));
            demands[spec.id.index()].task = task;
            let is_first = follows.get(arrival.batch.index()).is_none_or(Vec::is_empty);
            if is_first && arrival.way != SubmissionWay::Warm {
                demands[spec.id.index()].arrives = Some(SimTime::ZERO + arrival.delay);
            }
            // A job that waits for others comes with the last arrival of the first of them.
            let lead = if is_first { spec.id.index() } else { last[roots[arrival.batch.index()]] };
            for kind in SlotKind::BOTH {
                demands[lead].brings[kind] += own[kind];
            }
        }
        demands
    }

    /// Returns for each batch the number of its last job, and for each batch the batch with which
    /// its work arrives: itself if it follows no other.
    fn roots(&self, follows: &[Vec<usize>]) -> (Vec<usize>, Vec<usize>) {
        let mut last: Vec<(SimSpan, usize)> = vec![(SimSpan::ZERO, 0); follows.len()];
        for arrival in &self.arrivals {
            let of_batch = &mut last[arrival.batch.index()];
            *of_batch = (*of_batch).max((arrival.delay, arrival.spec.id.index()));
        }
        let mut roots: Vec<usize> = (0..follows.len()).collect();
        for batch in in_order(follows) {
            let before = follows[batch].iter().map(|&other| roots[other]);
            roots[batch] = before.max_by_key(|&root| last[root]).unwrap_or(batch);
        }
        (last.into_iter().map(|(_, job)| job).collect(), roots)
    }
}
