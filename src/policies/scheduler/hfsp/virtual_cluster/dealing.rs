//! How jobs share whole slots until an instant, or until the last has ended.
//!
//! Slots are dealt in turn, one to each job that can use another, until none is left: so everyone has
//! the whole part of its fair share, and of what is over the first in turn have one more each. With
//! more jobs than slots the last in turn have none. Slots are dealt anew when a job ends; in between
//! work melts away at steady rates.
//!
//! Among jobs of one weight, a job that ends changes the slots of few others, and only those are looked
//! at: n jobs on m slots end in O((n + m) log n). If weights differ, each that ends costs O(n).

use super::Size;
use super::levels::Levels;
use super::line::Line;
use mumakil_core::mapred::{JobId, step};

/// A job that has whole slots.
#[derive(Debug)]
pub(super) struct Dealt {
    pub(super) id: JobId,
    pub(super) size: Size,
    /// The work that is left.
    pub(super) left: f64,
    /// The slots that it has.
    pub(super) slots: f64,
    pub(super) ended: Option<f64>,
}

impl Dealt {
    pub(super) fn new(id: JobId, size: Size, left: f64) -> Self {
        Self { id, size, left, slots: 0.0, ended: None }
    }

    fn most(&self) -> f64 {
        f64::from(self.size.tasks)
    }

    /// Ends the job.
    pub(super) fn end(&mut self, at: f64) {
        (self.left, self.slots, self.ended) = (0.0, 0.0, Some(at));
    }

    fn can_use_more(&self) -> bool {
        self.ended.is_none() && self.slots < self.most()
    }
}

/// Jobs as they have whole slots.
#[derive(Debug)]
pub(super) struct Dealing {
    /// In turn.
    jobs: Vec<Dealt>,
    /// The places in that list of those that have not ended, in turn.
    open: Vec<usize>,
    /// The same, first of those that have all they can use with the fewest slots for a weight of one.
    by_need: Vec<usize>,
    slots: f64,
    now: f64,
}

impl Dealing {
    /// Returns the dealing of slots from now on, to jobs in turn.
    pub(super) fn new(jobs: Vec<Dealt>, slots: u32, now: f64) -> Self {
        let open = jobs.iter().enumerate().filter(|(_, job)| job.ended.is_none());
        let open = open.map(|(place, _)| place).collect();
        Self { jobs, open, by_need: Vec::new(), slots: f64::from(slots), now }
    }

    /// Lets time pass.
    pub(super) fn run(&mut self, until: f64) {
        if !self.are_alike() {
            return self.run_in_turn(until);
        }
        self.run_in_line(until);
        // Where some still stand in line, nobody ends before then.
        if !self.is_line() || until.is_infinite() {
            self.run_in_levels(until);
        }
    }

    /// Returns whether all jobs have one weight.
    fn are_alike(&self) -> bool {
        let mut weights = self.jobs.iter().map(|job| job.size.weight);
        let first = weights.next();
        weights.all(|weight| Some(weight) == first)
    }

    /// Lets time pass, if jobs may have different weights.
    fn run_in_turn(&mut self, until: f64) {
        self.deal();
        while let Some((at, place)) = self.next_end().filter(|(at, _)| *at <= until) {
            self.pass_time(at);
            self.jobs[place].end(at);
            self.open.retain(|open| *open != place);
            self.by_need.retain(|open| *open != place);
            self.deal();
        }
        if until.is_finite() {
            self.pass_time(until);
        }
    }

    /// Returns whether jobs outnumber the slots: if they are alike, the first in turn have one each, and
    /// whoever ends leaves its slot to the next.
    pub(super) fn is_line(&self) -> bool {
        let slots = self.slots as usize;
        0 < slots && slots < self.open.len()
    }

    /// Lets time pass as long as jobs stand in line. So thousands of jobs are not dealt to anew for
    /// each that ends.
    fn run_in_line(&mut self, until: f64) {
        if !self.is_line() {
            return;
        }
        let slots = self.slots as usize;
        let (having, waiting) = self.open.split_at(slots);
        let of = |place: &usize| (*place, self.jobs[*place].left);
        let mut line = Line::new(self.now, having.iter().map(of));
        let mut ended = Vec::new();
        for (next, left) in waiting.iter().map(of) {
            let Some((at, place)) = line.next().filter(|(at, _)| *at <= until) else { break };
            ended.push((at, place));
            line.end_next(next, left);
        }
        let passed = ended.last().map_or(until, |(at, _)| *at);
        ended.into_iter().for_each(|(at, place)| self.jobs[place].end(at));
        let Self { jobs, open, .. } = self;
        open.retain(|place| jobs[*place].ended.is_none());
        // Where some still wait, nobody ends any more until then.
        let waits = slots < open.len();
        let now = if waits && until.is_finite() { until } else { passed };
        if now.is_finite() {
            for (place, at) in line.into_ends() {
                jobs[place].left = at - now;
            }
            self.now = self.now.max(now);
        }
    }

    /// Lets time pass for jobs that are alike.
    fn run_in_levels(&mut self, until: f64) {
        let Self { jobs, open, slots, now, .. } = self;
        let mut levels = Levels::new(jobs, open, *slots as u64, *now);
        while let Some(at) = levels.end_next(until) {
            *now = at;
        }
        if until.is_finite() {
            *now = now.max(until);
        }
        levels.stop(*now);
        open.retain(|place| jobs[*place].ended.is_none());
    }

    /// Returns what is left of each job now, and when it ended if it has, in turn.
    pub(super) fn outcome(self) -> Vec<(JobId, f64, Option<f64>)> {
        self.jobs.into_iter().map(|job| (job.id, job.left, job.ended)).collect()
    }

    /// Returns whether some job has no slot.
    pub(super) fn leaves_some_out(&mut self) -> bool {
        self.deal();
        self.jobs.iter().any(|job| job.slots == 0.0 && job.can_use_more())
    }

    fn pass_time(&mut self, until: f64) {
        let passed = (until - self.now).max(0.0);
        for place in &self.open {
            step();
            let job = &mut self.jobs[*place];
            if 0.0 < job.slots {
                job.left = (job.left - job.slots * passed).max(0.0);
            }
        }
        self.now = self.now.max(until);
    }

    /// Returns who ends next, and when.
    fn next_end(&self) -> Option<(f64, usize)> {
        let open = self.open.iter().inspect(|_| step()).map(|place| (*place, &self.jobs[*place]));
        let moving = open.filter(|(_, job)| 0.0 < job.slots);
        let ends = moving.map(|(place, job)| (self.now + job.left / job.slots, place));
        ends.filter(|(at, _)| at.is_finite()).min_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// Gives every job that has not ended its slots.
    fn deal(&mut self) {
        let Self { jobs, open, by_need, slots, .. } = self;
        if by_need.len() != open.len() {
            by_need.clone_from(open);
            let need = |place: usize| jobs[place].most() / jobs[place].size.weight;
            by_need.sort_by(|a, b| need(*a).total_cmp(&need(*b)));
        }
        let (mut spare, mut weight) =
            (*slots, open.iter().map(|place| jobs[*place].size.weight).sum::<f64>());
        // Who can use less than its part has all that it can use, and leaves more to the others.
        for place in by_need.iter() {
            step();
            let job = &mut jobs[*place];
            let part = spare * (job.size.weight / weight);
            job.slots = job.most().min(part);
            if job.most() <= part {
                (spare, weight) = (spare - job.most(), weight - job.size.weight);
            }
        }
        let mut over = *slots;
        for place in open.iter() {
            let job = &mut jobs[*place];
            // A part that is whole but for rounding is whole.
            job.slots = (job.slots + 1e-9).floor();
            over -= job.slots;
        }
        for place in open.iter() {
            if over < 1.0 {
                break;
            }
            let job = &mut jobs[*place];
            if job.can_use_more() {
                (job.slots, over) = (job.slots + 1.0, over - 1.0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// Jobs 0, 1, 2 … of so many tasks and so much work.
    fn jobs(sizes: &[(u32, f64)]) -> Vec<Dealt> {
        let size = |(tasks, work): (u32, f64)| Size { tasks, work, weight: 1.0 };
        let dealt = |(id, of): (u32, &(u32, f64))| Dealt::new(JobId(id), size(*of), of.1);
        (0..).zip(sizes).map(dealt).collect()
    }

    fn smallest_first(mut jobs: Vec<Dealt>) -> Vec<Dealt> {
        jobs.sort_by_key(|job| (job.size.tasks, job.id));
        jobs
    }

    fn slots(dealing: &mut Dealing) -> Vec<(u32, f64)> {
        dealing.deal();
        dealing.jobs.iter().map(|job| (job.id.0, job.slots)).collect()
    }

    fn ends(mut dealing: Dealing) -> Vec<(u32, f64)> {
        dealing.run(f64::INFINITY);
        let end = |job: &Dealt| (job.id.0, job.ended.unwrap_or(f64::INFINITY));
        let mut ends: Vec<(u32, f64)> = dealing.jobs.iter().map(end).collect();
        ends.sort_by_key(|(id, _)| *id);
        ends
    }

    /// Twelve slots in turn: 1, 2 and 0 have one each, then 2 and 0 alone four more; the last goes to the smaller.
    #[test]
    fn slots_are_dealt_in_turn_and_what_is_over_goes_to_the_smallest() {
        let jobs = jobs(&[(100, 1e3), (1, 5.0), (40, 1e3)]);
        let mut dealing = Dealing::new(smallest_first(jobs), 12, 0.0);
        assert_eq!(slots(&mut dealing), [(1, 1.0), (2, 6.0), (0, 5.0)]);
    }

    /// On two slots the job of nine tasks has none until one of the others ends: 4 / 1 = 4 s; then one,
    /// and two from 7 s on. In parts it would end at the same time, since all of the work is served.
    #[test]
    fn with_more_jobs_than_slots_the_largest_waits() {
        let mut dealing =
            Dealing::new(smallest_first(jobs(&[(9, 10.0), (1, 4.0), (3, 7.0)])), 2, 0.0);
        assert!(dealing.leaves_some_out());
        assert_eq!(slots(&mut dealing), [(1, 1.0), (2, 1.0), (0, 0.0)]);
        assert_eq!(ends(dealing), [(0, 7.0 + 7.0 / 2.0), (1, 4.0), (2, 7.0)]);
    }

    proptest! {
        #[test]
        fn who_stands_in_line_ends_as_if_all_slots_were_dealt_anew(
            sizes in vec((1_u32..9, 1_u32..50), 1..40), slots in 1_u32..12, until in 0_u32..60,
        ) {
            let sizes: Vec<(u32, f64)> = sizes.iter().map(|(t, w)| (*t, f64::from(*w))).collect();
            for until in [f64::from(until), f64::INFINITY] {
                let [mut in_line, mut anew] =
                    [(); 2].map(|()| Dealing::new(smallest_first(jobs(&sizes)), slots, 0.0));
                in_line.run(until);
                anew.run_in_turn(until);
                [&mut in_line, &mut anew].into_iter().for_each(Dealing::deal);
                for (a, b) in in_line.jobs.iter().zip(anew.jobs) {
                    prop_assert_eq!((a.id, a.slots, a.ended.is_some()), (b.id, b.slots, b.ended.is_some()));
                    prop_assert!((a.left - b.left).abs() < 1e-6, "{a:?} {b:?}");
                    let apart = a.ended.unwrap_or(0.0) - b.ended.unwrap_or(0.0);
                    prop_assert!(apart.abs() < 1e-6, "{a:?} {b:?}");
                }
            }
        }
    }

    #[test]
    fn by_age_the_latest_waits() {
        let mut dealing = Dealing::new(jobs(&[(9, 10.0), (1, 4.0), (3, 6.0)]), 2, 0.0);
        assert_eq!(slots(&mut dealing), [(0, 1.0), (1, 1.0), (2, 0.0)]);
        // The third has one slot from 4 s on, and so ends with the first.
        assert_eq!(ends(dealing), [(0, 10.0), (1, 4.0), (2, 10.0)]);
    }

    /// Ten slots by the weights 4 and 1 are 8 and 2; eleven are 8.8 and 2.2, and one is over.
    #[test]
    fn weights_divide_whole_slots() {
        let mut jobs = jobs(&[(100, 80.0), (100, 20.0)]);
        jobs[0].size.weight = 4.0;
        let [ten, eleven] = [10, 11].map(|count| {
            let jobs = jobs.iter().map(|job| Dealt::new(job.id, job.size, job.left)).collect();
            slots(&mut Dealing::new(smallest_first(jobs), count, 0.0))
        });
        assert_eq!(ten, [(0, 8.0), (1, 2.0)]);
        assert_eq!(eleven, [(0, 9.0), (1, 2.0)]);
    }

    #[test]
    fn a_job_without_end_takes_its_slots_for_ever() {
        let dealing = Dealing::new(jobs(&[(5, f64::INFINITY), (5, 6.0)]), 4, 1.0);
        assert_eq!(ends(dealing), [(0, f64::INFINITY), (1, 4.0)]);
    }

    #[test]
    fn without_slots_nothing_ends() {
        let mut dealing = Dealing::new(jobs(&[(5, 6.0)]), 0, 0.0);
        dealing.run(9.0);
        assert_eq!(dealing.jobs[0].left, 6.0);
    }
}
