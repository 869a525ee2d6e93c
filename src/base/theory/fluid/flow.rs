//! From event to event: jobs arrive, are worked on, and end.

use num_traits::Zero;

use super::course::{FluidCourse, Interval};
use super::{FluidJob, Rational};

/// A job that has arrived and has not ended.
pub(super) struct PresentJob<'a> {
    /// The index of the job among all jobs.
    pub(super) number: usize,
    pub(super) job: &'a FluidJob,
    /// The work that the job has left, in seconds of the whole system.
    pub(super) left: Rational,
}

/// How the system is divided for a while.
pub(super) struct FluidDivision {
    /// The share of each job that is present, in their order.
    pub(super) shares: Vec<Rational>,
    /// The longest time, in seconds, until the system must be divided anew even if no job arrives
    /// or ends; `None` if there is no limit.
    pub(super) lasts: Option<Rational>,
}

/// Serves all jobs with the shares of `divide`, which is called whenever a job has arrived or
/// ended. `divide` must give a share to at least one job.
pub(super) fn flow<'a>(
    jobs: &'a [FluidJob],
    mut divide: impl FnMut(&Rational, &[PresentJob<'a>]) -> FluidDivision,
) -> FluidCourse {
    let mut course = FluidCourse::new(jobs.len());
    let mut coming: Vec<(usize, &FluidJob)> = jobs.iter().enumerate().collect();
    // A stable sort: of jobs that arrive together the first in the list comes first.
    coming.sort_by_key(|(_, job)| &job.arrival);
    let mut coming = coming.into_iter().peekable();
    let mut present: Vec<PresentJob<'_>> = Vec::new();
    let mut now = Rational::zero();
    loop {
        while let Some((number, job)) = coming.next_if(|(_, job)| job.arrival <= now) {
            present.push(PresentJob { number, job, left: job.size.clone() });
        }
        let next = coming.peek().map(|(_, job)| &job.arrival);
        if present.is_empty() {
            let Some(next) = next else { return course };
            now = next.clone();
            continue;
        }
        let FluidDivision { shares, lasts } = divide(&now, &present);
        // A job without a share does not end.
        let ends = present.iter().zip(&shares).filter(|(_, share)| !share.is_zero());
        let ends = ends.map(|(job, share)| &job.left / share);
        let span = ends.chain(lasts).chain(next.map(|next| next - &now)).min();
        let to = &now + span.expect("a job that is present is served, or another arrives");
        serve(&mut present, &shares, &(&to - &now));
        course.intervals.push(interval(jobs.len(), (now, &to), &present, shares));
        present.retain(|PresentJob { number, job, left }| {
            if left.is_zero() {
                course.end(*number, job, &to);
            }
            !left.is_zero()
        });
        now = to;
    }
}

fn serve(present: &mut [PresentJob<'_>], shares: &[Rational], span: &Rational) {
    for (job, share) in present.iter_mut().zip(shares).filter(|(_, share)| !share.is_zero()) {
        job.left -= share * span;
    }
}

fn interval(
    jobs: usize,
    (from, to): (Rational, &Rational),
    present: &[PresentJob<'_>],
    shares: Vec<Rational>,
) -> Interval {
    let mut all = vec![Rational::zero(); jobs];
    for (job, share) in present.iter().zip(shares) {
        all[job.number] = share;
    }
    Interval { from, to: to.clone(), shares: all }
}
