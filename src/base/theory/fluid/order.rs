//! Priority: jobs are served in an order, each with the largest share of the remaining system that
//! it can use.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use num_traits::One;

use super::course::FluidCourse;
use super::flow::{FluidDivision, PresentJob, flow};
use super::{FluidJob, Rational, share};

/// Serves the jobs under FSP.
pub(super) fn by_virtual_finish(jobs: &[FluidJob]) -> FluidCourse {
    // Only an arrival changes the order: without arrivals, all jobs end under PS as foreseen.
    let mut finishes = BTreeMap::new();
    flow(jobs, |now, present| {
        if present.iter().any(|job| !finishes.contains_key(&job.number)) {
            finishes = virtual_finishes(jobs, now);
        }
        let order = ranked(present, |job| (&finishes[&job.number], &job.job.arrival, job.number));
        FluidDivision { shares: in_order(present, &order), lasts: None }
    })
}

/// Returns when the jobs that are present would end under PS without further arrivals.
fn virtual_finishes(jobs: &[FluidJob], now: &Rational) -> BTreeMap<usize, Rational> {
    let arrived = jobs.iter().enumerate().filter(|(_, job)| job.arrival <= *now);
    let (numbers, arrived): (Vec<usize>, Vec<FluidJob>) =
        arrived.map(|(number, job)| (number, job.clone())).unzip();
    let served = share::equally(&arrived).jobs.into_iter();
    numbers.into_iter().zip(served.map(|job| job.finish)).collect()
}

/// Serves the jobs under SRPT.
pub(super) fn by_work_left(jobs: &[FluidJob]) -> FluidCourse {
    flow(jobs, |_, present| {
        // Of two equal jobs, the job that can use more would overtake the other at once.
        let order = ranked(present, |job| {
            (&job.left, Reverse(&job.job.most), &job.job.arrival, job.number)
        });
        let shares = in_order(present, &order);
        let lasts = first_overtaking(present, &order, &shares);
        FluidDivision { shares, lasts }
    })
}

/// Returns the indices of the jobs by their rank.
fn ranked<'a, R: Ord>(
    present: &'a [PresentJob<'_>],
    rank: impl Fn(&'a PresentJob<'_>) -> R,
) -> Vec<usize> {
    let mut order: Vec<usize> = (0..present.len()).collect();
    order.sort_by_cached_key(|place| rank(&present[*place]));
    order
}

fn in_order(present: &[PresentJob<'_>], order: &[usize]) -> Vec<Rational> {
    let mut free = Rational::one();
    let mut shares = vec![Rational::default(); present.len()];
    for place in order {
        shares[*place] = present[*place].job.most.clone().min(free.clone());
        free -= &shares[*place];
    }
    shares
}

/// Returns when a job will first have as little work left as the job before it in the order. Only a
/// job with a larger share can catch up, so two jobs overtake each other at most once.
fn first_overtaking(
    present: &[PresentJob<'_>],
    order: &[usize],
    shares: &[Rational],
) -> Option<Rational> {
    let pairs = order.windows(2).map(|pair| (pair[0], pair[1]));
    let closing = pairs.filter(|(ahead, behind)| shares[*ahead] < shares[*behind]);
    let spans = closing.map(|(ahead, behind)| {
        (&present[behind].left - &present[ahead].left) / (&shares[behind] - &shares[ahead])
    });
    spans.min()
}
