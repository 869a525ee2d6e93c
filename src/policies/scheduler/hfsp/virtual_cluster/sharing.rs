//! How jobs share slots until an instant, or until the last has ended.
//!
//! Whoever has as many slots as it has tasks goes at a steady rate and ends at a known time. All
//! others have the same number of slots for a weight of one, the *ratio*. Its sum over time is their
//! common clock, and on that clock each of them ends at a known time too, whatever the ratio does.
//! The ratio only rises, since nobody comes: so a job passes at most once from sharing to all that it
//! can use, and two heaps and one sorted list give all ends in O(n log n).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Size;
use mumakil_core::mapred::{JobId, step};

/// A job that shares.
#[derive(Debug)]
pub(super) struct Sharer {
    id: JobId,
    size: Size,
    stage: Stage,
    ended: Option<f64>,
}

/// How a job gets its slots.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    /// All that it can use, to its end at this time.
    Steady(f64),
    /// By its weight, to its end at this time of the common clock.
    Shared(f64),
    Ended,
}

/// An instant among others; the earliest is first, then the first of the sharers.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Mark(f64, usize);

impl Eq for Mark {}

impl PartialOrd for Mark {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Mark {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        step();
        self.0.total_cmp(&other.0).then(self.1.cmp(&other.1))
    }
}

/// Jobs as they share.
#[derive(Debug)]
pub(super) struct Sharing {
    sharers: Vec<Sharer>,
    now: f64,
    /// The slots that nobody has steadily.
    spare: f64,
    /// The weight of those that share.
    weight: f64,
    /// The slots for a weight of one.
    ratio: f64,
    /// The sum of the ratio over time.
    common: f64,
    steady: BinaryHeap<Reverse<Mark>>,
    shared: BinaryHeap<Reverse<Mark>>,
    /// The ratios at which jobs have all that they can use, the highest first.
    passes: Vec<Mark>,
}

impl Sharer {
    pub(super) fn new(id: JobId, size: Size, left: f64) -> Self {
        Self { id, size, stage: Stage::Shared(left / size.weight), ended: None }
    }

    fn most(&self) -> f64 {
        f64::from(self.size.tasks)
    }
}

impl Sharing {
    /// Returns the sharing of jobs from now on.
    pub(super) fn new(sharers: Vec<Sharer>, slots: u32, now: f64) -> Self {
        let of_each = |job: &Sharer| job.most() / job.size.weight;
        let mut passes: Vec<Mark> =
            sharers.iter().enumerate().map(|(place, job)| Mark(of_each(job), place)).collect();
        passes.sort_unstable_by(|a, b| b.cmp(a));
        let ends = sharers.iter().enumerate().filter_map(|(place, job)| match job.stage {
            Stage::Shared(end) => Some(Reverse(Mark(end, place))),
            Stage::Steady(_) | Stage::Ended => None,
        });
        let mut sharing = Self {
            now,
            spare: f64::from(slots),
            weight: sharers.iter().map(|job| job.size.weight).sum(),
            ratio: 0.0,
            common: 0.0,
            steady: BinaryHeap::new(),
            shared: ends.collect(),
            passes,
            sharers,
        };
        sharing.divide();
        sharing
    }

    /// Lets time pass.
    pub(super) fn run(&mut self, until: f64) {
        while let Some((at, place)) =
            self.next_end().filter(|(at, _)| *at <= until && at.is_finite())
        {
            step();
            self.pass_time(at);
            self.end(place);
            self.divide();
        }
        if until.is_finite() {
            self.pass_time(until);
        }
    }

    /// Returns what is left of each job, and when it has ended if it has.
    pub(super) fn outcome(&self) -> impl Iterator<Item = (JobId, f64, Option<f64>)> {
        self.sharers.iter().map(|job| (job.id, self.left(job), job.ended))
    }

    fn left(&self, job: &Sharer) -> f64 {
        let left = match job.stage {
            Stage::Steady(end) => (end - self.now) * job.most(),
            Stage::Shared(end) => (end - self.common) * job.size.weight,
            Stage::Ended => 0.0,
        };
        left.max(0.0)
    }

    fn pass_time(&mut self, until: f64) {
        let passed = (until - self.now).max(0.0);
        self.common += self.ratio * passed;
        self.now += passed;
    }

    /// Returns who ends next, and when.
    fn next_end(&mut self) -> Option<(f64, usize)> {
        let Self { sharers, steady, shared, .. } = self;
        let is_old = |Mark(end, place): Mark| sharers[place].stage != Stage::Steady(end);
        while steady.peek().is_some_and(|Reverse(mark)| is_old(*mark)) {
            steady.pop();
        }
        let is_old = |Mark(end, place): Mark| sharers[place].stage != Stage::Shared(end);
        while shared.peek().is_some_and(|Reverse(mark)| is_old(*mark)) {
            shared.pop();
        }
        let steady = steady.peek().map(|Reverse(mark)| *mark);
        let shared = shared.peek().map(|Reverse(Mark(end, place))| {
            Mark(self.now + ((end - self.common) / self.ratio).max(0.0), *place)
        });
        steady.into_iter().chain(shared).min().map(|Mark(at, place)| (at, place))
    }

    fn end(&mut self, place: usize) {
        let job = &mut self.sharers[place];
        match job.stage {
            Stage::Steady(_) => self.spare += job.most(),
            Stage::Shared(_) => self.weight -= job.size.weight,
            Stage::Ended => {}
        }
        (job.stage, job.ended) = (Stage::Ended, Some(self.now));
    }

    /// Divides what nobody has steadily among those that share.
    fn divide(&mut self) {
        loop {
            let sharing = 0.0 < self.weight;
            self.ratio = if sharing { self.spare / self.weight } else { 0.0 };
            let ratio = self.ratio;
            let Some(Mark(_, place)) = self.passes.pop_if(|mark| sharing && mark.0 <= ratio) else {
                return;
            };
            let job = &self.sharers[place];
            if let Stage::Shared(_) = job.stage {
                let (weight, most) = (job.size.weight, job.most());
                let end = self.now + self.left(job) / most;
                self.weight -= weight;
                self.spare -= most;
                self.sharers[place].stage = Stage::Steady(end);
                self.steady.push(Reverse(Mark(end, place)));
            }
        }
    }
}
