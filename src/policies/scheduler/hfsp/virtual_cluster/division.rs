//! Divides slots by weight among a fixed set of jobs.
//!
//! Each job gets `weight × ratio`. A job that can use fewer slots gets only the slots that it can
//! use, until its end; the other jobs divide the rest. A job that ends leaves its slots to the
//! others. So the ratio only rises, and each job changes at most once from its weighted share to
//! all the slots that it can use.

use super::Size;
use mumakil_core::mapred::step;

/// The bits of a number that is not negative, with the index of a job. The bits sort like the
/// numbers.
pub(super) type OrderedBits = (u64, usize);

/// The slots to be divided, and the total weight of the jobs among which they are divided.
#[derive(Debug)]
pub(super) struct Division {
    /// The slots to be divided: all except those that a job holds until its end.
    pub(super) spare: f64,
    /// The total weight of the jobs that divide these slots.
    pub(super) weight: f64,
    /// For each job, the ratio at which it has all the slots that it can use; the highest first.
    needs: Vec<OrderedBits>,
}

pub(super) fn mark(number: f64, place: usize) -> OrderedBits {
    step();
    (number.to_bits(), place)
}

impl Division {
    pub(super) fn new(slots: u32) -> Self {
        Self { spare: f64::from(slots), weight: 0.0, needs: Vec::new() }
    }

    pub(super) fn expect(&mut self, sizes: impl Iterator<Item = Size>) {
        let needs = sizes.map(|size| f64::from(size.tasks) / size.weight).enumerate();
        self.needs = needs.map(|(place, ratio)| mark(ratio, place)).collect();
        // The highest comes first, so that the lowest can be popped off the end.
        self.needs.sort_unstable_by(|a, b| b.cmp(a));
    }

    /// Returns the slots for a weight of one; 0 if the total weight is zero.
    pub(super) fn ratio(&self) -> f64 {
        // After the last job, rounding may leave a weight slightly below zero.
        if 0.0 < self.weight { self.spare / self.weight } else { 0.0 }
    }

    /// Returns the next job that can use no more than its share; it may have ended.
    pub(super) fn next_sated(&mut self) -> Option<usize> {
        let ratio = self.ratio();
        self.needs.pop_if(|need| f64::from_bits(need.0) <= ratio).map(|need| need.1)
    }
}
