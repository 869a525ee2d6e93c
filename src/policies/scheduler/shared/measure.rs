//! A number by which jobs are served.

use std::cmp::Ordering;

use super::taking::SlotTurn;
use mumakil_core::mapred::{JobId, step};

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

/// A job's position by a measure, the lowest first, and then by its number.
pub type MeasuredTurn = (Measure, JobId);

impl SlotTurn for MeasuredTurn {
    fn job(self) -> JobId {
        self.1
    }

    fn may_take_from(self, other: Self) -> bool {
        self < other
    }
}
