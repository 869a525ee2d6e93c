//! A virtual cluster: the same jobs on the same slots, but under processor sharing, as in the paper
//! on HFSP (Pastorelli et al.). A job's end there determines its rank in the real cluster.
//!
//! A job is an amount of work in slot-seconds, and can use at most as many slots as it has tasks.
//! The slots are divided by weight, and slots that a job cannot use go to the other jobs. So a
//! job's share is the lesser of `tasks` and `weight × ratio`, with one ratio for all jobs.
//! [`sharing`] computes exact shares, [`dealing`] whole slots. Shares change only when a job comes,
//! changes or ends. Between such changes the work shrinks at constant rates and needs no updates. A
//! function that changes shares first brings the work of all jobs up to date. Tasks are only
//! counted, never visited.
//!
//! The papers deal whole slots in turn, beginning with the smallest job. If there are more jobs
//! than slots, the largest jobs get none while smaller jobs keep coming, so they may starve;
//! [`VirtualCluster::leaves_some_out`] returns whether a job is without a slot. With fractions of
//! slots no job starves.
//!
//! A job that has ended in the real cluster stays until it ends here, too. Otherwise the other jobs
//! would get its share too early.

mod dealing;
mod division;
mod sharing;

use std::collections::{BTreeMap, BTreeSet};

pub(super) use self::dealing::Dealing;
use self::sharing::Sharing;
use super::options::VirtualSlots;
use mumakil_base::mutated;
use mumakil_base::units::{SimSpan, SimTime};
use mumakil_core::mapred::{JobId, step};

/// Jobs that share virtual slots.
#[derive(Debug, Default)]
pub(super) struct VirtualCluster {
    /// How fast virtual time passes; 1 is as fast as real time.
    pace: f64,
    rule: VirtualSlots,
    slots: u32,
    /// The real time up to which the jobs' work is computed.
    aged: SimTime,
    /// The virtual time at `aged`, in seconds.
    clock: f64,
    jobs: BTreeMap<JobId, VirtualJob>,
    /// The jobs that have ended in the virtual cluster; all other jobs are in `open`, by turn.
    over: BTreeSet<JobId>,
    open: BTreeSet<VirtualTurn>,
    /// How many open jobs have each weight; the key is the bits of the weight.
    weights: BTreeMap<u64, u32>,
}

/// A job's turn: a number that the rule gives it, then the job's number.
type VirtualTurn = (u32, JobId);

/// A job, its work left, and its end in virtual time if it has ended.
type VirtualOutcome = (JobId, f64, Option<f64>);

/// The size of a job, as the virtual cluster uses it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Size {
    /// How many slots it can use: at least one.
    pub(super) tasks: u32,
    /// Its work in slot-seconds; may be infinite.
    pub(super) work: f64,
    /// Its weight relative to other jobs: above zero.
    pub(super) weight: f64,
}

#[derive(Debug)]
struct VirtualJob {
    size: Size,
    /// The work left, in slot-seconds.
    left: f64,
    /// The work done, in slot-seconds.
    done: f64,
    /// The virtual time at which the job ended, in seconds; `None` before that.
    ended: Option<f64>,
    /// Whether the job has ended in the real cluster.
    is_gone: bool,
}

impl VirtualCluster {
    pub(super) fn new(pace: f64, rule: VirtualSlots) -> Self {
        Self { pace, rule, ..Self::default() }
    }

    pub(super) fn has(&self, id: JobId) -> bool {
        self.jobs.contains_key(&id)
    }

    fn turn(&self, id: JobId, job: &VirtualJob) -> VirtualTurn {
        let Size { tasks, work, .. } = job.size;
        let turn = match self.rule {
            VirtualSlots::SmallestFirst => {
                mutated!(
                    tasks,
                    "hfsp/dealing" => !tasks,
                    "hfsp/dealing-work" => work as u32,
                    "hfsp/dealing-arrival" => 0,
                )
            }
            // Job numbers follow arrival. With fractions of slots the order does not matter.
            VirtualSlots::OldestFirst | VirtualSlots::Parts => 0,
        };
        (turn, id)
    }

    /// Takes a job out, to change it.
    fn take(&mut self, id: JobId) -> Option<VirtualJob> {
        let job = self.jobs.remove(&id)?;
        if !self.over.remove(&id) {
            self.open.remove(&self.turn(id, &job));
            // Weights are only compared for equality, so their bits can serve as a key.
            let weight = job.size.weight.to_bits();
            let alike = self.weights.entry(weight).or_default();
            *alike -= 1;
            if *alike == 0 {
                self.weights.remove(&weight);
            }
        }
        Some(job)
    }

    /// Inserts a new or changed job; drops it if it has ended in both clusters.
    fn put(&mut self, id: JobId, job: VirtualJob) {
        if job.ended.is_none() {
            self.open.insert(self.turn(id, &job));
            *self.weights.entry(job.size.weight.to_bits()).or_default() += 1;
        } else if job.is_gone {
            return;
        } else {
            self.over.insert(id);
        }
        self.jobs.insert(id, job);
    }

    fn age(&mut self, now: SimTime) {
        let pace = mutated!(self.pace, "hfsp/pace" => 0.5 * self.pace);
        let passed = now.saturating_since(self.aged).as_secs_f64() * pace;
        self.aged = self.aged.max(now);
        // Several changes at one instant are common; no work shrinks between them.
        if passed == 0.0 {
            return;
        }
        let until = self.clock + passed;
        for (id, left, ended) in self.course(until) {
            step();
            let Some(job) = self.jobs.get_mut(&id) else { continue };
            // Infinity minus infinity is not a number.
            job.done += if left.is_finite() { job.left - left } else { 0.0 };
            job.left = left;
            if ended.is_some()
                && let Some(job) = self.take(id)
            {
                self.put(id, VirtualJob { ended, ..job });
            }
        }
        self.clock = until;
    }

    /// Returns a bound of the time until all jobs with finite work have virtually ended.
    pub(super) fn ages(&self) -> SimSpan {
        let slots = self.slots.max(1);
        let alone = |job: &VirtualJob| job.left / f64::from(job.size.tasks.min(slots));
        let all = self.jobs.values().filter(|job| job.left.is_finite()).map(alone);
        // With the pace 0, virtual time stands still, so time alone never changes the order.
        if self.pace == 0.0 {
            return SimSpan::ZERO;
        }
        SimSpan::ceil_from_secs(all.sum::<f64>().max(0.0) / self.pace)
    }

    pub(super) fn set_slots(&mut self, now: SimTime, slots: u32) {
        self.age(now);
        self.slots = mutated!(slots, "hfsp/virtual-slots" => 2 * slots);
    }

    pub(super) fn enter(&mut self, now: SimTime, job: JobId, size: Size) {
        mutated!(self.age(now), "hfsp/enter-age" => ());
        let size = Size { tasks: mutated!(size.tasks, "hfsp/limits" => self.slots.max(1)), ..size };
        let member = VirtualJob { size, left: size.work, done: 0.0, ended: None, is_gone: false };
        self.take(job);
        self.put(job, member);
    }

    pub(super) fn set_weight(&mut self, now: SimTime, id: JobId, weight: f64) {
        self.age(now);
        if let Some(job) = self.take(id) {
            self.put(id, VirtualJob { size: Size { weight, ..job.size }, ..job });
        }
    }

    /// Returns the work virtually done, in slot-seconds; 0 while a job's work is infinite.
    pub(super) fn done(&mut self, now: SimTime, id: JobId) -> f64 {
        self.age(now);
        self.jobs.get(&id).map_or(0.0, |job| job.done)
    }

    pub(super) fn set_left(&mut self, now: SimTime, id: JobId, left: f64) {
        mutated!(self.age(now), "hfsp/correct-age" => ());
        if let Some(job) = self.take(id) {
            let ended = (left <= 0.0).then_some(self.clock);
            self.put(id, VirtualJob { left, ended, ..job });
        }
    }

    /// Notes that a job has ended in the real cluster. Returns whether the job leaves at once, so
    /// that the other jobs get its slots; only a job with infinite work does.
    pub(super) fn leave(&mut self, now: SimTime, id: JobId) -> bool {
        let Some(job) = self.take(id) else { return false };
        let endless = mutated!(job.left.is_infinite(), "hfsp/gone" => true);
        self.put(id, VirtualJob { is_gone: true, ..job });
        // It would keep its share for ever; it had its share until now.
        if endless {
            self.age(now);
            self.take(id);
        }
        endless
    }

    /// Returns each job with its work left and its end, in the order of job numbers.
    pub(super) fn left(&mut self, now: SimTime) -> impl Iterator<Item = VirtualOutcome> {
        self.age(now);
        self.jobs.iter().map(|(id, job)| (*id, job.left, job.ended))
    }

    /// Returns the jobs that have ended only here, each with its end in virtual seconds.
    pub(super) fn ended(&self) -> impl Iterator<Item = (JobId, f64)> {
        self.over.iter().filter_map(|id| {
            let at = self.jobs[id].ended?;
            Some((*id, mutated!(at, "hfsp/late-last" => f64::INFINITY, "hfsp/late-order" => 0.0)))
        })
    }

    pub(super) fn ended_by(&mut self, now: SimTime) -> impl Iterator<Item = JobId> {
        self.age(now);
        self.over.iter().copied()
    }

    /// Returns a forecast, valid until a change; `None` if jobs share fractions of slots.
    pub(super) fn foresee(&self) -> Option<Dealing> {
        (self.rule != VirtualSlots::Parts).then(|| Dealing::new(self))
    }

    /// Returns the end of each job, in seconds of virtual time. The end of an open job is a
    /// forecast: it holds if no job comes or changes before. Takes O(n log n) for n jobs on n
    /// slots; with whole slots this holds only if there are few different weights.
    pub(super) fn finishes(&self) -> Vec<(JobId, f64)> {
        let course = self.course(f64::INFINITY);
        // `course` covers the first jobs in turn; all other jobs never get a virtual slot.
        let others = self.open.iter().skip(course.len()).map(|(_, id)| (*id, f64::INFINITY));
        let ends = course.iter().map(|(id, _, ended)| (*id, ended.unwrap_or(f64::INFINITY)));
        self.ended().chain(ends).chain(others).collect()
    }

    /// Returns how long it takes until this virtual time, in seconds; below zero if it has passed.
    pub(super) fn until(&self, now: SimTime, virtual_s: f64) -> f64 {
        let passed = now.saturating_since(self.aged).as_secs_f64();
        (virtual_s - self.clock) / self.pace - passed
    }

    /// Returns whether some job has no slot: by the number of jobs, or by its weight.
    pub(super) fn leaves_some_out(&self) -> bool {
        let outnumber = (self.slots as usize) < self.open.len();
        self.rule != VirtualSlots::Parts && (outnumber || Dealing::new(self).leaves_some_out())
    }

    /// Returns the open jobs in order of turn, each with its work left at the virtual time `until`,
    /// and with its end if it has ended by then. Jobs at the back of this order may be missing if
    /// they get no slot before `until`.
    fn course(&self, until: f64) -> Vec<VirtualOutcome> {
        if self.rule == VirtualSlots::Parts {
            let mut sharing = Sharing::new(self);
            sharing.run(until);
            sharing.outcome().collect()
        } else {
            let mut dealing = Dealing::new(self);
            while dealing.end_next(self, until).is_some() {}
            dealing.outcome(until).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::scheduler::shared::share::{Claim, max_min};

    fn at(second: u64) -> SimTime {
        SimTime::from_micros(second * 1_000_000)
    }

    fn size(tasks: u32, work: f64) -> Size {
        Size { tasks, work, weight: 1.0 }
    }

    fn cluster(slots: u32) -> VirtualCluster {
        with(VirtualSlots::Parts, slots)
    }

    fn with(rule: VirtualSlots, slots: u32) -> VirtualCluster {
        let mut cluster = VirtualCluster::new(1.0, rule);
        cluster.set_slots(at(0), slots);
        cluster
    }

    fn order(cluster: &VirtualCluster) -> Vec<u32> {
        let mut finishes = cluster.finishes();
        finishes.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        finishes.iter().map(|(id, _)| id.0).collect()
    }

    fn finish(cluster: &VirtualCluster, id: u32) -> f64 {
        let finishes = cluster.finishes();
        finishes.iter().find(|(job, _)| job.0 == id).expect("the job is in the cluster").1
    }

    /// The paper's first example, on a server of 100 slots: jobs of 30, 10 and 10 s, which come at
    /// 0, 10 and 15 s.
    #[test]
    fn jobs_end_as_processor_sharing_ends_them() {
        let mut cluster = cluster(100);
        cluster.enter(at(0), JobId(1), size(100, 3_000.0));
        cluster.enter(at(10), JobId(2), size(100, 1_000.0));
        // Two jobs share, so the second one needs 20 s.
        assert_eq!(finish(&cluster, 2), 30.0);
        cluster.enter(at(15), JobId(3), size(100, 1_000.0));
        assert_eq!(order(&cluster), [2, 3, 1]);
        // The second job does its last 750 slot-seconds on a third of the server. Then the third
        // job does its last 250 on half of the server, and the first job its last 750 on the whole
        // server.
        let rounded = [2, 3, 1].map(|id| (finish(&cluster, id) * 1e6).round() / 1e6);
        assert_eq!(rounded, [37.5, 42.5, 50.0]);
    }

    /// The paper's second example: slots that a job cannot use go to the others.
    #[test]
    fn a_job_uses_no_more_slots_than_it_has_tasks() {
        let mut cluster = cluster(100);
        cluster.enter(at(0), JobId(1), size(100, 3_000.0));
        cluster.enter(at(10), JobId(2), size(55, 550.0));
        cluster.enter(at(13), JobId(3), size(35, 350.0));
        // Each job gets a third of the slots. The third job can use all of its third, so it takes
        // 350 / (100 / 3) s. Then the second job does its last 50 slot-seconds on half of the
        // server.
        let rounded = [3, 2].map(|id| (finish(&cluster, id) * 1e6).round() / 1e6);
        assert_eq!(rounded, [23.5, 24.5]);
        assert_eq!(order(&cluster), [3, 2, 1]);
    }

    #[test]
    fn where_slots_are_fewer_than_jobs_all_have_parts_of_them() {
        let mut cluster = cluster(1);
        cluster.enter(at(0), JobId(0), size(9, 10.0));
        cluster.enter(at(0), JobId(1), size(1, 4.0));
        cluster.enter(at(0), JobId(2), size(3, 7.0));
        assert_eq!([1, 2, 0].map(|id| finish(&cluster, id)), [12.0, 18.0, 21.0]);
    }

    /// Three jobs share 100 whole slots as 34, 33 and 33. The jobs of the papers' examples end in
    /// the same order as with exact shares.
    #[test]
    fn whole_slots_end_the_papers_examples_in_the_same_order() {
        let mut first = with(VirtualSlots::SmallestFirst, 100);
        first.enter(at(0), JobId(1), size(100, 3_000.0));
        first.enter(at(10), JobId(2), size(100, 1_000.0));
        first.enter(at(15), JobId(3), size(100, 1_000.0));
        assert_eq!(order(&first), [2, 3, 1]);
        // As long as there are three jobs, the first in turn has the hundredth slot. At 15 s job 1
        // has 1,750 left, on 34 slots, and job 2 has 750, on 33 slots; so job 2 ends 750 / 33 s
        // later.
        assert!((finish(&first, 2) - (15.0 + 750.0 / 33.0)).abs() < 1e-9);
        let mut second = with(VirtualSlots::SmallestFirst, 100);
        second.enter(at(0), JobId(1), size(100, 3_000.0));
        second.enter(at(10), JobId(2), size(55, 550.0));
        second.enter(at(13), JobId(3), size(35, 350.0));
        // Job 3 is the smallest and has 34 slots, so it takes 350 / 34 s.
        assert!((finish(&second, 3) - (13.0 + 350.0 / 34.0)).abs() < 1e-9);
        assert_eq!(order(&second), [3, 2, 1]);
    }

    /// There is one slot and a job of nine tasks. Every second a small job comes and takes the slot
    /// for a second.
    #[test]
    fn a_stream_of_small_jobs_leaves_the_largest_nothing_with_whole_slots_alone() {
        let left_of_large = |rule: VirtualSlots| {
            let mut cluster = with(rule, 1);
            cluster.enter(at(0), JobId(0), size(9, 9.0));
            for second in 0..100 {
                cluster.enter(at(second), JobId(1 + second as u32), size(1, 1.0));
            }
            let leaves_out = cluster.leaves_some_out();
            (cluster.left(at(100)).next().expect("the first job is there").1, leaves_out)
        };
        assert_eq!(left_of_large(VirtualSlots::SmallestFirst), (9.0, true), "the papers' rule");
        assert_eq!(
            left_of_large(VirtualSlots::OldestFirst).0,
            0.0,
            "by the published source's rule"
        );
        let (left, leaves_out) = left_of_large(VirtualSlots::Parts);
        assert!(left < 1e-9 && !leaves_out, "the job has a part of the slot: {left}");
    }

    #[test]
    fn weights_divide_the_slots() {
        let mut cluster = cluster(10);
        cluster.enter(at(0), JobId(0), Size { tasks: 100, work: 80.0, weight: 4.0 });
        cluster.enter(at(0), JobId(1), Size { tasks: 100, work: 20.0, weight: 1.0 });
        assert_eq!([finish(&cluster, 0), finish(&cluster, 1)], [10.0, 10.0]);
    }

    #[test]
    fn a_new_weight_divides_the_slots_from_then_on() {
        let mut cluster = cluster(10);
        cluster.enter(at(0), JobId(0), size(100, 80.0));
        cluster.enter(at(0), JobId(1), size(100, 80.0));
        // Each has done 20 of 80 when the second job gets three times the weight.
        cluster.set_weight(at(4), JobId(1), 3.0);
        assert_eq!(finish(&cluster, 1), 12.0, "60 at 7.5 slots");
        assert_eq!(finish(&cluster, 0), 16.0, "15 at 2.5 slots, then 45 at 10");
    }

    #[test]
    fn a_job_of_unknown_size_is_last_and_leaves_at_once() {
        let mut cluster = cluster(10);
        cluster.enter(at(0), JobId(0), size(10, f64::INFINITY));
        cluster.enter(at(0), JobId(1), size(10, 1e9));
        assert_eq!(order(&cluster), [1, 0]);
        assert!(!cluster.leave(at(0), JobId(1)), "it stays until its virtual end");
        assert!(cluster.leave(at(0), JobId(0)));
        assert_eq!(order(&cluster), [1]);
    }

    #[test]
    fn a_job_that_is_really_over_keeps_its_share_until_it_is_virtually_over() {
        let mut cluster = cluster(10);
        cluster.enter(at(0), JobId(0), size(10, 100.0));
        cluster.enter(at(0), JobId(1), size(10, 200.0));
        cluster.leave(at(5), JobId(0));
        assert_eq!(finish(&cluster, 1), 30.0, "job 0 keeps its share");
        cluster.age(at(21));
        assert_eq!(order(&cluster), [1], "job 0 has ended at 20 s");
    }

    #[test]
    fn a_job_that_is_virtually_over_stands_where_it_ended() {
        let mut cluster = cluster(10);
        cluster.enter(at(0), JobId(0), size(10, 100.0));
        cluster.enter(at(50), JobId(1), size(10, 1.0));
        assert_eq!(finish(&cluster, 0), 10.0);
        assert_eq!(order(&cluster), [0, 1]);
        // The job is larger than estimated, so it is open again.
        cluster.set_left(at(50), JobId(0), 100.0);
        assert_eq!(order(&cluster), [1, 0]);
    }

    /// Two jobs of 100 slot-seconds share ten slots: after four seconds each has done 5 × 4.
    #[test]
    fn work_of_a_job_is_its_share_over_time() {
        let mut cluster = cluster(10);
        cluster.enter(at(0), JobId(0), size(10, 100.0));
        cluster.enter(at(0), JobId(1), size(10, 100.0));
        assert_eq!(cluster.done(at(4), JobId(0)), 20.0);
        cluster.enter(at(4), JobId(2), size(10, f64::INFINITY));
        assert_eq!(cluster.done(at(9), JobId(2)), 0.0);
    }

    #[test]
    fn half_the_pace_ends_jobs_at_the_same_virtual_time() {
        let mut cluster = VirtualCluster::new(0.5, VirtualSlots::Parts);
        cluster.set_slots(at(0), 10);
        cluster.enter(at(0), JobId(0), size(10, 100.0));
        assert_eq!(cluster.left(at(10)).next(), Some((JobId(0), 50.0, None)));
    }

    /// Returns the ends of jobs, found by stepping from end to end with shares that another module
    /// computes.
    fn walked(jobs: &[Size], slots: u32) -> Vec<f64> {
        let mut left: Vec<f64> = jobs.iter().map(|job| job.work).collect();
        let mut finishes = vec![f64::NAN; jobs.len()];
        let mut now = 0.0;
        loop {
            let open: Vec<usize> = (0..jobs.len()).filter(|i| finishes[*i].is_nan()).collect();
            if open.is_empty() {
                return finishes;
            }
            let claims = open.iter().map(|i| Claim {
                weight: jobs[*i].weight,
                min_share: 0.0,
                demand: f64::from(jobs[*i].tasks),
            });
            let claims: Vec<Claim> = claims.collect();
            let mut shares = vec![0.0; open.len()];
            max_min(&claims, f64::from(slots), &mut Vec::new(), &mut shares);
            let spans = open.iter().zip(&shares).map(|(i, share)| left[*i] / share);
            let span = spans.fold(f64::INFINITY, f64::min);
            now += span;
            for (i, share) in open.iter().zip(&shares) {
                left[*i] -= share * span;
                if left[*i] <= 1e-7 * jobs[*i].work {
                    finishes[*i] = now;
                }
            }
        }
    }

    proptest! {
        #[test]
        fn it_ends_jobs_when_a_walk_from_end_to_end_does(
            jobs in vec((1..40_u32, 1..2_000_u32, prop::sample::select(vec![0.25, 0.5, 1.0, 2.0, 4.0])), 1..12),
            slots in 1..30_u32,
            stop in 0..200_u64,
        ) {
            let jobs: Vec<Size> = jobs.iter().map(|(tasks, work, weight)| Size {
                tasks: *tasks,
                work: f64::from(*work),
                weight: *weight,
            }).collect();
            let mut cluster = cluster(slots);
            for (id, job) in (0..).zip(&jobs) {
                cluster.enter(at(0), JobId(id), *job);
            }
            let expected = walked(&jobs, slots);
            // Ask twice: a question changes nothing.
            for _ in 0..2 {
                for (id, at) in cluster.finishes() {
                    let wanted = expected[id.index()];
                    prop_assert!((at - wanted).abs() <= 1e-5 * wanted, "{id}: {at}, not {wanted}");
                }
                cluster.age(at(stop));
            }
        }
    }
}
