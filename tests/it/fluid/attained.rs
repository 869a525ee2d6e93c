//! Least attained service: the jobs that have been served least share the system.

use std::cmp::Ordering;

use super::course::FluidCourse;
use super::flow::{FluidDivision, PresentJob, flow, least};
use super::share::in_tiers;
use super::{FluidJob, Rational};
use num_traits::One;

/// Serves the jobs under LAS.
pub(super) fn least_first(jobs: &[FluidJob], course: FluidCourse) -> FluidCourse {
    flow(jobs, course, |_, present| {
        let tiers = tiers(present, (0..present.len()).collect());
        let shares = in_tiers(present, tiers.clone(), |_| Rational::one());
        let lasts = first_meeting(present, &tiers, &shares);
        FluidDivision { shares, lasts }
    })
}

/// Divides jobs into groups that have been served alike, those that have been served least first.
pub(super) fn tiers(present: &[PresentJob<'_>], mut places: Vec<usize>) -> Vec<Vec<usize>> {
    let attained: Vec<Rational> = present.iter().map(PresentJob::attained).collect();
    places.sort_by(|one, other| match attained[*one].cmp(&attained[*other]) {
        Ordering::Equal => one.cmp(other),
        unequal => unequal,
    });
    let alike = |one: &usize, other: &usize| attained[*one] == attained[*other];
    places.chunk_by(alike).map(<[usize]>::to_vec).collect()
}

/// Returns when a job will first have been served as much as one of the next group.
pub(super) fn first_meeting(
    present: &[PresentJob<'_>],
    tiers: &[Vec<usize>],
    shares: &[Rational],
) -> Option<Rational> {
    let pairs = tiers.windows(2).flat_map(|pair| {
        pair[0].iter().flat_map(|behind| pair[1].iter().map(move |ahead| (*behind, *ahead)))
    });
    let closing = pairs.filter(|(behind, ahead)| shares[*ahead] < shares[*behind]);
    least(closing.map(|(behind, ahead)| {
        let gap = present[ahead].attained() - &present[behind].attained();
        gap / &(shares[behind].clone() - &shares[ahead])
    }))
}
