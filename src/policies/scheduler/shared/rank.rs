//! A number by which jobs are served.

use std::cmp::Ordering;

use mumakil_core::mapred::step;

/// The rank of a job: jobs with lower ranks are served first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rank(pub f64);

impl Rank {
    /// The rank before all other ranks.
    pub const FIRST: Self = Self(f64::NEG_INFINITY);
}

impl Eq for Rank {}

impl PartialOrd for Rank {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Rank {
    fn cmp(&self, other: &Self) -> Ordering {
        step();
        // Ranks are floating-point numbers because they may be infinite; they are never NaN.
        self.0.total_cmp(&other.0)
    }
}
