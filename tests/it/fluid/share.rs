//! Sharing: several jobs are served at once, max-min fairly.

use super::course::FluidCourse;
use super::flow::{FluidDivision, PresentJob, flow};
use super::{FluidJob, Rational};
use num_traits::{One, Zero};

/// Serves all jobs at once, in proportion to their weights.
pub(super) fn shared(
    jobs: &[FluidJob],
    course: FluidCourse,
    weight: impl Fn(&FluidJob) -> Rational,
) -> FluidCourse {
    flow(jobs, course, |_, present| {
        let all = (0..present.len()).collect();
        FluidDivision { shares: in_tiers(present, vec![all], &weight), lasts: None }
    })
}

/// Returns the shares of jobs in tiers: a tier gets what the tiers before it cannot use, and divides
/// it in proportion to weights. A share that a job cannot use is divided among the others.
pub(super) fn in_tiers(
    present: &[PresentJob<'_>],
    tiers: Vec<Vec<usize>>,
    weight: impl Fn(&FluidJob) -> Rational,
) -> Vec<Rational> {
    let mut free = Rational::one();
    let mut shares = vec![Rational::zero(); present.len()];
    let job = |place: usize| present[place].job;
    for mut tier in tiers {
        if free.is_zero() {
            break;
        }
        // Begin with the jobs that can use least for their weight, so that the rest of their shares
        // is known when the next jobs get theirs.
        let need = |place: &usize| job(*place).most.clone() / &weight(job(*place));
        tier.sort_by_key(need);
        let mut weights =
            tier.iter().fold(Rational::zero(), |sum, place| sum + &weight(job(*place)));
        for place in tier {
            let own = weight(job(place));
            let fair = free.clone() * &own / &weights;
            let most = &job(place).most;
            shares[place] = if fair < *most { fair } else { most.clone() };
            free -= &shares[place];
            weights -= &own;
        }
    }
    shares
}
