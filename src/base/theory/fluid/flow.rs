//! From event to event: jobs arrive, are worked on, and end.

use super::course::{FluidCourse, Interval};
use super::{FluidJob, FluidNumber};

/// A job that has arrived and has not ended.
#[derive(Clone, Debug)]
pub(super) struct PresentJob<'a, N> {
    /// The index of the job among all jobs.
    pub(super) number: usize,
    pub(super) job: &'a FluidJob<N>,
    /// The work that the job has left, in seconds of the whole system.
    pub(super) left: N,
}

impl<'a, N: FluidNumber> PresentJob<'a, N> {
    pub(super) fn arriving(number: usize, job: &'a FluidJob<N>) -> Self {
        Self { number, job, left: job.size.clone() }
    }

    /// Returns how much of the job's work is done.
    pub(super) fn attained(&self) -> N {
        self.job.size.clone() - &self.left
    }

    /// Returns how much of the estimated work is left; zero for a late job.
    pub(super) fn believed_left(&self) -> N {
        let left = self.job.estimate.clone() - &self.attained();
        if left <= N::tolerance() { N::zero() } else { left }
    }
}

/// How the system is divided for a while.
pub(super) struct FluidDivision<N> {
    /// The share of each job that is present, in their order.
    pub(super) shares: Vec<N>,
    /// The longest time, in seconds, until the system must be divided anew even if no job arrives
    /// or ends; `None` if there is no limit.
    pub(super) lasts: Option<N>,
}

/// Serves all jobs with the shares of `divide`, which is called whenever a job has arrived or
/// ended. `divide` must give a share to at least one job.
pub(super) fn flow<'a, N: FluidNumber>(
    jobs: &'a [FluidJob<N>],
    mut course: FluidCourse<N>,
    mut divide: impl FnMut(&N, &[PresentJob<'a, N>]) -> FluidDivision<N>,
) -> FluidCourse<N> {
    let mut coming: Vec<(usize, &FluidJob<N>)> = jobs.iter().enumerate().collect();
    // A stable sort: of jobs that arrive together the first in the list comes first.
    coming.sort_by(|(_, one), (_, other)| one.arrival.order(&other.arrival));
    let mut coming = coming.into_iter().peekable();
    let mut present: Vec<PresentJob<'_, N>> = Vec::new();
    let mut now = N::zero();
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
        // A shorter span would be a rounding error, and might not end at a later float.
        let lasts = lasts.map(|lasts| if lasts < N::tolerance() { N::tolerance() } else { lasts });
        let span = least(ends(&present, &shares).flatten().chain(lasts).chain(until_next.clone()));
        let span = span.expect("a job that is present is served, or another arrives");
        // A sum of floats may miss the instant of an arrival.
        let to = match next {
            Some(next) if until_next.as_ref() == Some(&span) => next.clone(),
            _ => now.clone() + &span,
        };
        serve(&mut present, &shares, &span);
        if course.has_intervals {
            course.intervals.push(interval(jobs.len(), (now, &to), &present, shares));
        }
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
pub(super) fn ends<'s, N: FluidNumber>(
    present: &'s [PresentJob<'_, N>],
    shares: &'s [N],
) -> impl Iterator<Item = Option<N>> + 's {
    let end = |(job, share): (&PresentJob<'_, N>, &N)| {
        (!share.is_zero()).then(|| job.left.clone() / share)
    };
    present.iter().zip(shares).map(end)
}

/// Returns the smallest number.
pub(super) fn least<N: FluidNumber>(numbers: impl Iterator<Item = N>) -> Option<N> {
    numbers.min_by(N::order)
}

/// Serves the jobs for a while. Nothing is left of those that end just then, also if a difference of
/// floats were not zero.
pub(super) fn serve<N: FluidNumber>(present: &mut [PresentJob<'_, N>], shares: &[N], span: &N) {
    let ended: Vec<bool> =
        ends(present, shares).map(|end| end.is_some_and(|end| end <= *span)).collect();
    for ((job, share), ended) in present.iter_mut().zip(shares).zip(ended) {
        let left = job.left.clone() - &(share.clone() * span);
        job.left = if ended || left < N::zero() { N::zero() } else { left };
    }
}

fn interval<N: FluidNumber>(
    jobs: usize,
    (from, to): (N, &N),
    present: &[PresentJob<'_, N>],
    shares: Vec<N>,
) -> Interval<N> {
    let mut all = vec![N::zero(); jobs];
    for (job, share) in present.iter().zip(shares) {
        all[job.number] = share;
    }
    Interval { from, to: to.clone(), shares: all }
}
