//! Shares in fractions of slots, up to a time or until the last job has ended.
//!
//! A job that has as many slots as tasks works at a steady rate, so its end is known. All other
//! jobs have the same number of slots for a weight of one, the *ratio*. The integral of the ratio
//! over time is their common clock. On this clock the end of each such job is known, too, however
//! the ratio changes. So two heaps and the sorted list of the [`Division`] give all ends of n jobs
//! in O(n log n).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::division::{Division, OrderedBits, mark};
use super::{Size, VirtualCluster, VirtualOutcome};
use mumakil_core::mapred::{JobId, step};

#[derive(Debug)]
struct Sharer {
    id: JobId,
    size: Size,
    stage: SharingStage,
    ended: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum SharingStage {
    /// It has all the slots that it can use, and ends at this virtual time.
    Steady(f64),
    /// It shares by its weight, and ends at this time of the common clock.
    Shared(f64),
    Ended,
}

/// The jobs and their shares at the current virtual time.
#[derive(Debug)]
pub(super) struct Sharing {
    sharers: Vec<Sharer>,
    now: f64,
    division: Division,
    /// The common clock: the integral of the ratio over time.
    common: f64,
    steady: BinaryHeap<Reverse<OrderedBits>>,
    shared: BinaryHeap<Reverse<OrderedBits>>,
}

impl Sharer {
    fn most(&self) -> f64 {
        f64::from(self.size.tasks)
    }
}

impl Sharing {
    pub(super) fn new(cluster: &VirtualCluster) -> Self {
        let mut sharing = Self {
            sharers: Vec::new(),
            now: cluster.clock,
            division: Division::new(cluster.slots),
            common: 0.0,
            steady: BinaryHeap::new(),
            shared: BinaryHeap::new(),
        };
        for (place, (_, id)) in cluster.open.iter().enumerate() {
            let job = &cluster.jobs[id];
            // The common clock begins at 0 now, and counts slot-seconds for a weight of one.
            let end = job.left / job.size.weight;
            sharing.division.weight += job.size.weight;
            sharing.shared.push(Reverse(mark(end, place)));
            let (size, stage) = (job.size, SharingStage::Shared(end));
            sharing.sharers.push(Sharer { id: *id, size, stage, ended: None });
        }
        sharing.division.expect(sharing.sharers.iter().map(|job| job.size));
        sharing.divide();
        sharing
    }

    /// Lets virtual time pass until `until`, or until no more jobs end.
    pub(super) fn run(&mut self, until: f64) {
        while let Some((at, place)) =
            // The ends of jobs with infinite work are infinite.
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

    /// Returns each job with its work left and, if it has ended, its end.
    pub(super) fn outcome(&self) -> impl Iterator<Item = VirtualOutcome> {
        self.sharers.iter().map(|job| (job.id, self.left(job), job.ended))
    }

    fn left(&self, job: &Sharer) -> f64 {
        let left = match job.stage {
            SharingStage::Steady(end) => (end - self.now) * job.most(),
            SharingStage::Shared(end) => (end - self.common) * job.size.weight,
            SharingStage::Ended => 0.0,
        };
        left.max(0.0)
    }

    fn pass_time(&mut self, until: f64) {
        let passed = (until - self.now).max(0.0);
        self.common += self.division.ratio() * passed;
        self.now += passed;
    }

    /// Returns the job that ends next, with its end; `None` if no job ends.
    fn next_end(&mut self) -> Option<(f64, usize)> {
        let Self { sharers, steady, shared, .. } = self;
        for (ends, stage) in [
            (steady, SharingStage::Steady as fn(f64) -> SharingStage),
            (shared, SharingStage::Shared),
        ] {
            while let Some(Reverse((end, place))) = ends.peek()
                // A job that is steady or has ended leaves an outdated entry behind.
                && sharers[*place].stage != stage(f64::from_bits(*end))
            {
                ends.pop();
            }
        }
        let steady = self.steady.peek().map(|Reverse(mark)| *mark);
        let ratio = self.division.ratio();
        let shared = self.shared.peek().map(|Reverse((end, place))| {
            let on_the_common_clock = f64::from_bits(*end) - self.common;
            // Rounding may put the common clock past an end.
            mark(self.now + (on_the_common_clock / ratio).max(0.0), *place)
        });
        let next = steady.into_iter().chain(shared).min();
        next.map(|(at, place)| (f64::from_bits(at), place))
    }

    fn end(&mut self, place: usize) {
        let job = &mut self.sharers[place];
        match job.stage {
            SharingStage::Steady(_) => self.division.spare += job.most(),
            SharingStage::Shared(_) => self.division.weight -= job.size.weight,
            SharingStage::Ended => {}
        }
        (job.stage, job.ended) = (SharingStage::Ended, Some(self.now));
    }

    /// Divides the slots that no steady job holds among the jobs that share.
    fn divide(&mut self) {
        while let Some(place) = self.division.next_sated() {
            let job = &self.sharers[place];
            if let SharingStage::Shared(_) = job.stage {
                let end = self.now + self.left(job) / job.most();
                self.division.weight -= job.size.weight;
                self.division.spare -= job.most();
                self.sharers[place].stage = SharingStage::Steady(end);
                self.steady.push(Reverse(mark(end, place)));
            }
        }
    }
}
