//! Shares in whole slots: computes which job ends next, for as many ends as the caller needs.
//!
//! Slots are dealt in turn, one to each job that can use another slot, until all are dealt. So
//! every job gets its fair share rounded down. This number, the *level*, is the same for all jobs
//! of a weight. The remaining slots go to the first jobs in turn, one each. With more jobs than
//! slots, the last jobs in turn get none. As long as all levels are zero, the slot of a job that
//! ends goes to the next job in turn. Jobs further back are not even visited.
//!
//! In a forecast no job arrives, so levels only rise. While no level rises, the end of a job
//! affects only the jobs that get its slots: each of these jobs gets one slot more. When a level
//! rises, all jobs that can use more slots are visited. The fewer jobs are left, the faster levels
//! rise. With one weight, n jobs on m slots take O((n + m) log n); with many weights it is never
//! slower than dealing anew after each end.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Bound::{Excluded, Unbounded};

use super::division::{Division, OrderedBits, mark};
use super::{Size, VirtualCluster, VirtualOutcome, VirtualTurn};
use mumakil_base::mutated;
use mumakil_core::mapred::{JobId, step};

/// A job that has been visited, with its whole slots.
#[derive(Debug)]
struct DealtJob {
    turn: VirtualTurn,
    size: Size,
    /// The index in `levels` of the level for the job's weight.
    of: usize,
    /// The work that was left when its number of slots last changed, in slot-seconds.
    left: f64,
    slots: f64,
    /// When it ends or has ended, in seconds of virtual time.
    end: f64,
    stage: DealingStage,
}

/// How a job gets its slots.
#[derive(Clone, Copy, Debug, PartialEq)]
enum DealingStage {
    /// It gets slots in turn, since it could use more.
    Hungry,
    /// It has all the slots that it can use, until its end.
    Fed,
    Ended,
}

/// The hungry jobs of one weight, and their level.
#[derive(Debug)]
struct WeightLevel {
    weight: f64,
    jobs: f64,
    /// The level: the least number of slots of each of these jobs.
    slots: f64,
}

/// A forecast of the shares in whole slots; valid until the virtual cluster changes.
#[derive(Debug)]
pub(in crate::scheduler::hfsp) struct Dealing {
    now: f64,
    /// The jobs visited so far, in turn; `unseen` is the number of the other jobs.
    jobs: Vec<DealtJob>,
    unseen: usize,
    division: Division,
    /// The levels, sorted by the bits of their weights.
    levels: Vec<WeightLevel>,
    /// The ends of jobs, the next one first; only that entry is surely valid.
    ends: BinaryHeap<Reverse<OrderedBits>>,
    /// The hungry jobs in turn, as indices in `jobs`. Jobs that are no longer hungry stay in the
    /// list until a level rises.
    line: Vec<usize>,
    /// How many hungry jobs have one slot more than their level. In `line` these jobs come before
    /// the index `mark`.
    more: f64,
    mark: usize,
}

impl Dealing {
    pub(super) fn new(cluster: &VirtualCluster) -> Self {
        let level = |(weight, jobs): (&u64, &u32)| WeightLevel {
            weight: f64::from_bits(*weight),
            jobs: f64::from(*jobs),
            slots: 0.0,
        };
        let mut dealing = Self {
            now: cluster.clock,
            jobs: Vec::new(),
            unseen: cluster.open.len(),
            division: Division::new(cluster.slots),
            levels: cluster.weights.iter().map(level).collect(),
            ends: BinaryHeap::new(),
            line: Vec::new(),
            more: 0.0,
            mark: 0,
        };
        dealing.deal(cluster);
        dealing
    }

    /// Returns when the next job ends, in seconds of virtual time; `None` if no job ends.
    pub(in crate::scheduler::hfsp) fn next_end(&self) -> Option<f64> {
        self.ends.peek().map(|Reverse((at, _))| f64::from_bits(*at))
    }

    /// Ends the next job if it ends by `until`, and returns it with its end.
    pub(in crate::scheduler::hfsp) fn end_next(
        &mut self,
        cluster: &VirtualCluster,
        until: f64,
    ) -> Option<(JobId, f64)> {
        self.now = self.next_end().filter(|at| *at <= until)?;
        let Reverse((_, place)) = self.ends.pop()?;
        let job = &mut self.jobs[place];
        let (id, level) = (job.turn.1, &mut self.levels[job.of]);
        if std::mem::replace(&mut job.stage, DealingStage::Ended) == DealingStage::Fed {
            // Only the slots of a fed job have left the division.
            self.division.spare += mutated!(job.slots, "hfsp/fed" => 0.0);
        } else {
            level.jobs -= 1.0;
            self.more -= job.slots - level.slots;
        }
        self.deal(cluster);
        Some((id, self.now))
    }

    /// Returns the visited jobs with their work left and their ends, in order of turn.
    pub(super) fn outcome(&self, now: f64) -> impl Iterator<Item = VirtualOutcome> {
        self.jobs.iter().map(move |job| match job.stage {
            DealingStage::Ended => (job.turn.1, 0.0, Some(job.end)),
            DealingStage::Hungry | DealingStage::Fed => (job.turn.1, job.left_at(now), None),
        })
    }

    pub(super) fn leaves_some_out(&self) -> bool {
        0 < self.unseen || self.jobs.iter().any(|job| job.slots == 0.0)
    }

    fn deal(&mut self, cluster: &VirtualCluster) {
        self.give_capped_jobs(cluster);
        let (mut over, mut rises) = (self.division.spare, false);
        for level in &mut self.levels {
            // No job comes, so no level falls, not even by rounding.
            let slots = level.slots.max(level.part_of(&self.division));
            rises |= level.slots < slots;
            level.slots = slots;
            over -= level.jobs * slots;
        }
        if rises {
            let jobs = &self.jobs;
            // The slots beyond the levels are dealt again from the first job on.
            self.line.retain(|place| jobs[*place].is_hungry());
            (self.more, self.mark) = (0.0, 0);
        }
        while mutated!(self.more < over, "hfsp/over" => false) {
            let next = self.line.get(self.mark).copied();
            let Some(place) = next.or_else(|| self.look_further(cluster)) else { break };
            self.mark += 1;
            let job = &self.jobs[place];
            if job.is_hungry() {
                let level = self.levels[job.of].slots;
                let slots = (level + 1.0).min(job.most());
                self.give(place, slots);
                self.more += slots - level;
            }
        }
        if rises {
            // Jobs before the mark have one slot more already.
            for number in self.mark..self.line.len() {
                let place = self.line[number];
                self.give(place, self.levels[self.jobs[place].of].slots);
            }
        }
        // An end that was computed for another number of slots is dropped when it comes to the top.
        while let Some(Reverse((at, place))) = self.ends.peek()
            && !self.jobs[*place].ends_at(f64::from_bits(*at))
        {
            self.ends.pop();
        }
    }

    /// Gives each job that can use no more than its share all the slots that it can use.
    fn give_capped_jobs(&mut self, cluster: &VirtualCluster) {
        self.weigh();
        // At a level of one or more, every job has slots.
        if 0 < self.unseen && self.levels.iter().any(|it| 1.0 <= it.part_of(&self.division)) {
            while self.look_further(cluster).is_some() {}
            // All jobs are visited now, so tell the division their sizes.
            self.division.expect(self.jobs.iter().map(|job| job.size));
        }
        while let Some(place) = self.division.next_sated() {
            let job = &mut self.jobs[place];
            if job.is_hungry() {
                job.stage = DealingStage::Fed;
                let most = job.most();
                self.division.spare -= most;
                self.levels[job.of].jobs -= 1.0;
                self.weigh();
                self.give(place, most);
            }
        }
    }

    /// Adds up the weights of the hungry jobs: subtracting would lose small weights.
    fn weigh(&mut self) {
        self.division.weight = self.levels.iter().map(|level| level.jobs * level.weight).sum();
    }

    /// Visits the next job in turn, which has no slots yet; `None` after the last.
    fn look_further(&mut self, cluster: &VirtualCluster) -> Option<usize> {
        let last = self.jobs.last().map_or(Unbounded, |job| Excluded(job.turn));
        let turn = *cluster.open.range((last, Unbounded)).next()?;
        let job = &cluster.jobs[&turn.1];
        let (size, weight) = (job.size, job.size.weight.to_bits());
        let of = self.levels.binary_search_by_key(&weight, |level| level.weight.to_bits()).ok()?;
        let (left, slots, end, stage) = (job.left, 0.0, f64::INFINITY, DealingStage::Hungry);
        let place = self.jobs.len();
        self.jobs.push(DealtJob { turn, size, of, left, slots, end, stage });
        self.line.push(place);
        self.unseen -= 1;
        Some(place)
    }

    fn give(&mut self, place: usize, slots: f64) {
        step();
        let job = &mut self.jobs[place];
        if job.slots != slots {
            job.left = job.left_at(self.now);
            job.slots = slots;
            // Without slots the end is infinite and does not belong among the ends.
            job.end = self.now + job.left / job.slots;
            if job.end.is_finite() {
                self.ends.push(Reverse(mark(job.end, place)));
            }
        }
    }
}

impl WeightLevel {
    /// Returns the whole part of a job's share; a share just below a whole number is rounded up.
    fn part_of(&self, division: &Division) -> f64 {
        let part = mutated!(self.weight, "hfsp/whole-unweighted" => 1.0) * division.ratio() + 1e-9;
        mutated!(part.floor(), "hfsp/whole-up" => part.ceil())
    }
}

impl DealtJob {
    fn is_hungry(&self) -> bool {
        step();
        self.stage == DealingStage::Hungry
    }

    fn most(&self) -> f64 {
        f64::from(self.size.tasks)
    }

    fn ends_at(&self, at: f64) -> bool {
        step();
        self.stage != DealingStage::Ended && self.end == at
    }

    fn left_at(&self, now: f64) -> f64 {
        // Compute the work left backwards from the end, so that it is exactly 0 at the end.
        if self.slots == 0.0 { self.left } else { ((self.end - now) * self.slots).max(0.0) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;
    use crate::scheduler::hfsp::VirtualSlots;
    use crate::scheduler::shared::share::{Claim, max_min};
    use mumakil_base::units::SimTime;

    /// Returns a virtual cluster of jobs 0, 1, 2 … on these slots.
    fn cluster(rule: VirtualSlots, slots: u32, sizes: &[Size]) -> VirtualCluster {
        let mut cluster = VirtualCluster::new(1.0, rule);
        cluster.set_slots(SimTime::ZERO, slots);
        for (id, size) in (0..).zip(sizes) {
            cluster.enter(SimTime::ZERO, JobId(id), *size);
        }
        cluster
    }

    /// Returns a virtual cluster of jobs with these tasks and this work, the smallest first.
    fn jobs(slots: u32, sizes: &[(u32, f64)]) -> VirtualCluster {
        let size = |(tasks, work): &(u32, f64)| Size { tasks: *tasks, work: *work, weight: 1.0 };
        cluster(VirtualSlots::SmallestFirst, slots, &sizes.iter().map(size).collect::<Vec<_>>())
    }

    /// Returns the slots of the visited jobs, in turn.
    fn slots(dealing: &Dealing) -> Vec<(u32, f64)> {
        dealing.jobs.iter().map(|job| (job.turn.1.0, job.slots)).collect()
    }

    fn ends(cluster: &VirtualCluster) -> Vec<(u32, f64)> {
        let mut dealing = Dealing::new(cluster);
        let next = || dealing.end_next(cluster, f64::INFINITY);
        std::iter::from_fn(next).map(|(id, at)| (id.0, at)).collect()
    }

    /// Twelve slots are dealt in turn: jobs 1, 2 and 0 get one each, then jobs 2 and 0 four more
    /// each. The last slot goes to the smaller job.
    #[test]
    fn slots_are_dealt_in_turn_and_what_is_over_goes_to_the_smallest() {
        let cluster = jobs(12, &[(100, 1e3), (1, 5.0), (40, 1e3)]);
        assert_eq!(slots(&Dealing::new(&cluster)), [(1, 1.0), (2, 6.0), (0, 5.0)]);
    }

    /// There are two slots. The job of nine tasks gets no slot until another job ends, at 4 / 1 = 4
    /// s. Then it has one slot, and two slots from 7 s on. With fractions of slots it would end at
    /// the same time, since no slot is ever idle.
    #[test]
    fn with_more_jobs_than_slots_the_largest_waits_and_is_not_looked_at() {
        let cluster = jobs(2, &[(9, 10.0), (1, 4.0), (3, 7.0)]);
        let dealing = Dealing::new(&cluster);
        assert!(dealing.leaves_some_out());
        assert_eq!(slots(&dealing), [(1, 1.0), (2, 1.0)]);
        assert_eq!(ends(&cluster), [(1, 4.0), (2, 7.0), (0, 7.0 + 7.0 / 2.0)]);
    }

    #[test]
    fn by_age_the_latest_waits() {
        let size = |(tasks, work)| Size { tasks, work, weight: 1.0 };
        let sizes = [(9, 10.0), (1, 4.0), (3, 6.0)].map(size);
        let cluster = cluster(VirtualSlots::OldestFirst, 2, &sizes);
        assert_eq!(slots(&Dealing::new(&cluster)), [(0, 1.0), (1, 1.0)]);
        // The third job has one slot from 4 s on, and so ends together with the first.
        assert_eq!(ends(&cluster), [(1, 4.0), (0, 10.0), (2, 10.0)]);
    }

    /// By the weights 4 and 1, ten slots are divided into 8 and 2. Eleven slots would be 8.8 and
    /// 2.2, so one slot remains.
    #[test]
    fn weights_divide_whole_slots() {
        let sizes = [4.0, 1.0].map(|weight| Size { tasks: 100, work: 80.0, weight });
        let dealt = [10, 11]
            .map(|slots| Dealing::new(&cluster(VirtualSlots::SmallestFirst, slots, &sizes)));
        assert_eq!(slots(&dealt[0]), [(0, 8.0), (1, 2.0)]);
        assert_eq!(slots(&dealt[1]), [(0, 9.0), (1, 2.0)]);
    }

    #[test]
    fn a_job_without_end_takes_its_slots_for_ever() {
        assert_eq!(ends(&jobs(4, &[(5, f64::INFINITY), (5, 6.0)])), [(1, 3.0)]);
    }

    #[test]
    fn without_slots_nothing_ends() {
        let cluster = jobs(0, &[(5, 6.0)]);
        assert!(Dealing::new(&cluster).leaves_some_out());
        assert_eq!(ends(&cluster), []);
    }

    /// Returns the slots of each job by definition: the whole part of its fair share, and one slot
    /// more for the first jobs in turn that can use it.
    fn dealt_anew(open: &[(Size, f64)], slots: u32) -> Vec<f64> {
        let claim = |(size, _): &(Size, f64)| Claim {
            weight: size.weight,
            min_share: 0.0,
            demand: f64::from(size.tasks),
        };
        let claims: Vec<Claim> = open.iter().map(claim).collect();
        let mut shares = vec![0.0; open.len()];
        max_min(&claims, f64::from(slots), &mut Vec::new(), &mut shares);
        shares.iter_mut().for_each(|share| *share = (*share + 1e-9).floor());
        let mut over = f64::from(slots) - shares.iter().sum::<f64>();
        for (share, claim) in shares.iter_mut().zip(&claims) {
            if 1.0 <= over && *share < claim.demand {
                (*share, over) = (*share + 1.0, over - 1.0);
            }
        }
        shares
    }

    proptest! {
        #[test]
        fn jobs_end_as_if_all_slots_were_dealt_anew_with_each_that_ends(
            sizes in vec((1_u32..9, 1_u32..50, select(vec![0.1, 1.0, 1.0, 1.0, 3.0])), 1..40),
            is_weighted in any::<bool>(),
            slots in 0_u32..40,
            stop in 0_u32..60,
        ) {
            let size = |(tasks, work, weight): &(u32, u32, f64)| Size {
                tasks: *tasks,
                work: f64::from(*work),
                weight: if is_weighted { *weight } else { 1.0 },
            };
            let sizes: Vec<Size> = sizes.iter().map(size).collect();
            let cluster = cluster(VirtualSlots::SmallestFirst, slots, &sizes);
            let mut dealing = Dealing::new(&cluster);
            let in_turn = cluster.open.iter().map(|(_, id)| (*id, sizes[id.index()]));
            let mut left: Vec<(JobId, (Size, f64))> =
                in_turn.map(|(id, size)| (id, (size, size.work))).collect();
            let (mut now, stop) = (0.0, f64::from(stop));
            loop {
                let all: Vec<(Size, f64)> = left.iter().map(|(_, job)| *job).collect();
                let shares = dealt_anew(&all, slots);
                let given = |id: &JobId| {
                    let job = dealing.jobs.iter().find(|job| job.turn.1 == *id);
                    job.map_or(0.0, |job| job.slots)
                };
                let dealt: Vec<f64> = left.iter().map(|(id, _)| given(id)).collect();
                prop_assert_eq!(&dealt, &shares);
                let ends = left.iter().zip(&shares).map(|((_, (_, left)), slots)| left / slots);
                let span = ends.fold(f64::INFINITY, f64::min);
                if stop < now + span {
                    break;
                }
                now += span;
                let ended = dealing.end_next(&cluster, stop + 1e-6);
                prop_assert!(ended.is_some_and(|(_, at)| (at - now).abs() < 1e-6), "{ended:?}, {now}");
                for ((_, (_, left)), slots) in left.iter_mut().zip(&shares) {
                    *left -= slots * span;
                }
                left.retain(|(id, _)| Some(*id) != ended.map(|(id, _)| id));
            }
            for (id, is_left, ended) in dealing.outcome(now) {
                let expected = left.iter().find(|(other, _)| *other == id);
                prop_assert_eq!(ended.is_none(), expected.is_some());
                let expected = expected.map_or(0.0, |(_, (_, left))| *left);
                prop_assert!((is_left - expected).abs() < 1e-6, "{is_left}, {expected}");
            }
        }
    }
}
