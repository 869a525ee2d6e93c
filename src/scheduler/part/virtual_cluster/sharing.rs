//! How jobs share slots until an instant, or until the last has ended.
//!
//! Whoever has as many slots as it has tasks, or just one because its weight is small, goes at a
//! steady rate and ends at a known time. All others have the same number of slots for a weight of
//! one, the *ratio*. Its sum over time is their common clock, and on that clock each of them ends
//! at a known time too, whatever the ratio does. The ratio only rises, since nobody comes: from one
//! slot a job passes to sharing, and from sharing to all that it can use, each at most once. So two
//! heaps and one sorted list give all ends in O(n log n).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Size;
use crate::mapred::JobId;

/// A job that shares.
#[derive(Debug)]
pub(super) struct Sharer {
    id: JobId,
    size: Size,
    left: f64,
    stage: Stage,
    ended: Option<f64>,
}

/// How a job gets its slots.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    /// Not at all.
    Waiting,
    /// Steadily so many, to its end at this time.
    Steady(f64, f64),
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
        self.0.total_cmp(&other.0).then(self.1.cmp(&other.1))
    }
}

/// Jobs as they share.
#[derive(Debug)]
pub(super) struct Sharing {
    sharers: Vec<Sharer>,
    /// How many of them have begun.
    begun: usize,
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
    /// The ratios at which jobs pass on, the highest first.
    passes: Vec<Mark>,
}

impl Sharer {
    pub(super) fn new(id: JobId, size: Size, left: f64) -> Self {
        Self { id, size, left, stage: Stage::Waiting, ended: None }
    }

    pub(super) fn smallness(&self) -> (u32, JobId) {
        (self.size.tasks, self.id)
    }

    fn most(&self) -> f64 {
        f64::from(self.size.tasks)
    }
}

impl Sharing {
    /// Returns the sharing of jobs from now on; the first of them get slots first.
    pub(super) fn new(sharers: Vec<Sharer>, slots: u32, now: f64) -> Self {
        let places = sharers.iter().enumerate();
        let ratios = places.flat_map(|(place, job)| {
            [1.0, job.most()].map(|slots| Mark(slots / job.size.weight, place))
        });
        let mut passes: Vec<Mark> = ratios.collect();
        passes.sort_unstable_by(|a, b| b.cmp(a));
        let mut sharing = Self {
            sharers,
            begun: 0,
            now,
            spare: f64::from(slots),
            weight: 0.0,
            ratio: 0.0,
            common: 0.0,
            steady: BinaryHeap::new(),
            shared: BinaryHeap::new(),
            passes,
        };
        sharing.divide();
        sharing
    }

    /// Lets time pass.
    pub(super) fn run(&mut self, until: f64) {
        while let Some((at, place)) =
            self.next_end().filter(|(at, _)| *at <= until && at.is_finite())
        {
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
            Stage::Waiting => job.left,
            Stage::Steady(slots, end) => (end - self.now) * slots,
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
        let is_old = |Mark(end, place): Mark| match sharers[place].stage {
            Stage::Steady(_, at) => at != end,
            _ => true,
        };
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
            Stage::Steady(slots, _) => self.spare += slots,
            Stage::Shared(_) => self.weight -= job.size.weight,
            Stage::Waiting | Stage::Ended => {}
        }
        (job.stage, job.ended) = (Stage::Ended, Some(self.now));
    }

    /// Gives away what is spare: a slot to each, then by weight.
    fn divide(&mut self) {
        while self.begun < self.sharers.len() && 1.0 <= self.spare {
            self.set_steady(self.begun, 1.0);
            self.begun += 1;
        }
        self.ratio = 0.0;
        if self.begun < self.sharers.len() {
            return;
        }
        loop {
            let sharing = 0.0 < self.weight;
            let ratio = match self.spare {
                spare if sharing => spare / self.weight,
                spare if 0.0 < spare => f64::INFINITY,
                _ => 0.0,
            };
            let Some(Mark(_, place)) = self.passes.pop_if(|mark| mark.0 <= ratio) else {
                self.ratio = if sharing { ratio } else { 0.0 };
                return;
            };
            self.pass_on(place);
        }
    }

    /// Lets a job pass from one slot to sharing, or from sharing to all that it can use.
    fn pass_on(&mut self, place: usize) {
        let job = &self.sharers[place];
        let left = self.left(job);
        match job.stage {
            Stage::Steady(slots, _) => {
                self.spare += slots;
                self.weight += job.size.weight;
                let end = self.common + left / job.size.weight;
                self.sharers[place].stage = Stage::Shared(end);
                self.shared.push(Reverse(Mark(end, place)));
            }
            Stage::Shared(_) => {
                self.weight -= job.size.weight;
                self.set_steady(place, self.sharers[place].most());
            }
            Stage::Waiting | Stage::Ended => {}
        }
    }

    fn set_steady(&mut self, place: usize, slots: f64) {
        let job = &self.sharers[place];
        let end = self.now + self.left(job) / slots;
        self.spare -= slots;
        self.sharers[place].stage = Stage::Steady(slots, end);
        self.steady.push(Reverse(Mark(end, place)));
    }
}
