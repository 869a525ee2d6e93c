//! A number by which jobs are served.

use std::cmp::Ordering;

use mumakil_core::mapred::step;

/// A measure of a job: usually jobs with a lower measure are served first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measure(pub f64);

impl Measure {
    /// The measure before all others.
    pub const FIRST: Self = Self(f64::NEG_INFINITY);
}

impl Eq for Measure {}

impl PartialOrd for Measure {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Measure {
    fn cmp(&self, other: &Self) -> Ordering {
        step();
        // Measures are floating-point numbers because they may be infinite; they are never NaN.
        self.0.total_cmp(&other.0)
    }
}
