//! Slots divided by weight among a fixed set of jobs.
//!
//! Each job gets `weight × ratio`. A job that can use less gets all that it can use until its end,
//! and the others divide the rest. A job that ends leaves its slots to the others, so the ratio
//! only rises, and every job passes at most once from its weighted share to all that it can use.

use super::Size;
use mumakil_core::mapred::step;

/// The bits of a number that is not negative, which have the same order as the numbers, and the
/// index of a job.
pub(super) type OrderedBits = (u64, usize);

/// The slots that are divided, and the total weight that divides them.
#[derive(Debug)]
pub(super) struct Division {
    /// The slots that no job holds until its end.
    pub(super) spare: f64,
    /// The total weight of the jobs that divide these slots.
    pub(super) weight: f64,
    /// The ratios at which jobs have all that they can use, each with its job, the highest first.
    needs: Vec<OrderedBits>,
}

pub(super) fn mark(number: f64, place: usize) -> OrderedBits {
    step();
    (number.to_bits(), place)
}

impl Division {
    /// Returns the division of `slots` slots without any job.
    pub(super) fn new(slots: u32) -> Self {
        Self { spare: f64::from(slots), weight: 0.0, needs: Vec::new() }
    }

    /// Sets how much jobs can use.
    pub(super) fn expect(&mut self, sizes: impl Iterator<Item = Size>) {
        let needs = sizes.map(|size| f64::from(size.tasks) / size.weight).enumerate();
        self.needs = needs.map(|(place, ratio)| mark(ratio, place)).collect();
        // The highest first, so that the lowest is cheap to take off the end.
        self.needs.sort_unstable_by(|a, b| b.cmp(a));
    }

    /// Returns the slots for a weight of one; 0 without weight.
    pub(super) fn ratio(&self) -> f64 {
        // Subtracted weights may leave a little less than zero when the last job has gone.
        if 0.0 < self.weight { self.spare / self.weight } else { 0.0 }
    }

    /// Returns the next job that can use no more than its share, if there is one. The job may have
    /// ended.
    pub(super) fn next_sated(&mut self) -> Option<usize> {
        let ratio = self.ratio();
        self.needs.pop_if(|need| f64::from_bits(need.0) <= ratio).map(|need| need.1)
    }
}
