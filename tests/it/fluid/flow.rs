//! From event to event: jobs arrive, are worked on, and end.

use super::course::{FluidCourse, Interval};
use super::{FluidJob, Rational};
use num_traits::Zero;

/// A job that has arrived and has not ended.
#[derive(Clone, Debug)]
pub(super) struct PresentJob<'a> {
    /// The index of the job among all jobs.
    pub(super) number: usize,
    pub(super) job: &'a FluidJob,
    /// The work that the job has left, in seconds of the whole system.
    pub(super) left: Rational,
}

impl<'a> PresentJob<'a> {
    pub(super) fn arriving(number: usize, job: &'a FluidJob) -> Self {
        Self { number, job, left: job.size.clone() }
    }

    /// Returns how much of the job's work is done.
    pub(super) fn attained(&self) -> Rational {
        self.job.size.clone() - &self.left
    }

    /// Returns how much of the estimated work is left; zero for a late job.
    pub(super) fn believed_left(&self) -> Rational {
        (self.job.estimate.clone() - &self.attained()).max(Rational::zero())
    }
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
    mut course: FluidCourse,
    mut divide: impl FnMut(&Rational, &[PresentJob<'a>]) -> FluidDivision,
) -> FluidCourse {
    let mut coming: Vec<(usize, &FluidJob)> = jobs.iter().enumerate().collect();
    // A stable sort: of jobs that arrive together the first in the list comes first.
    coming.sort_by(|(_, one), (_, other)| one.arrival.cmp(&other.arrival));
    let mut coming = coming.into_iter().peekable();
    let mut present: Vec<PresentJob<'_>> = Vec::new();
    let mut now = Rational::zero();
    loop {
        while let Some((number, job)) = coming.next_if(|(_, job)| job.arrival <= now) {
            present.push(PresentJob::arriving(number, job));
        }
        let next = coming.peek().map(|(_, job)| &job.arrival);
        if present.is_empty() {
            let Some(next) = next else { return course };
            now = next.clone();
            continue;
        }
        let FluidDivision { shares, lasts } = divide(&now, &present);
        let until_next = next.map(|next| next.clone() - &now);
        let span = least(ends(&present, &shares).flatten().chain(lasts).chain(until_next));
        let span = span.expect("a job that is present is served, or another arrives");
        let to = now.clone() + &span;
        serve(&mut present, &shares, &span);
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

/// Returns in how many seconds each job would end; `None` for one without a share.
pub(super) fn ends<'s>(
    present: &'s [PresentJob<'_>],
    shares: &'s [Rational],
) -> impl Iterator<Item = Option<Rational>> + 's {
    let end = |(job, share): (&PresentJob<'_>, &Rational)| {
        (!share.is_zero()).then(|| job.left.clone() / share)
    };
    present.iter().zip(shares).map(end)
}

/// Returns the smallest number.
pub(super) fn least(numbers: impl Iterator<Item = Rational>) -> Option<Rational> {
    numbers.min_by(Ord::cmp)
}

/// Serves the jobs for a while.
pub(super) fn serve(present: &mut [PresentJob<'_>], shares: &[Rational], span: &Rational) {
    for (job, share) in present.iter_mut().zip(shares) {
        job.left = job.left.clone() - share * span;
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
