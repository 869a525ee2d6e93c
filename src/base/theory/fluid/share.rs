//! Sharing: all jobs are served at once, max-min fairly.

use num_traits::One;

use super::course::FluidCourse;
use super::flow::{FluidDivision, PresentJob, flow};
use super::{FluidJob, Rational};

/// Serves the jobs under PS.
pub(super) fn equally(jobs: &[FluidJob]) -> FluidCourse {
    flow(jobs, |_, present| divide(present, |_| Rational::one()))
}

/// Serves the jobs under GPS.
pub(super) fn by_weight(jobs: &[FluidJob]) -> FluidCourse {
    flow(jobs, |_, present| divide(present, |job| job.weight.clone()))
}

/// Divides the system in proportion to weights; a share that a job cannot use is divided among the
/// others.
fn divide(present: &[PresentJob<'_>], weight: impl Fn(&FluidJob) -> Rational) -> FluidDivision {
    // Begin with the jobs that can use least for their weight, so that the rest of their shares is
    // known when the next jobs get theirs.
    let mut order: Vec<usize> = (0..present.len()).collect();
    order.sort_by_cached_key(|place| &present[*place].job.most / weight(present[*place].job));
    let mut weights: Rational = present.iter().map(|job| weight(job.job)).sum();
    let mut free = Rational::one();
    let mut shares = vec![Rational::default(); present.len()];
    for place in order {
        let job = present[place].job;
        let fair = &free * weight(job) / &weights;
        shares[place] = fair.min(job.most.clone());
        free -= &shares[place];
        weights -= weight(job);
    }
    FluidDivision { shares, lasts: None }
}
