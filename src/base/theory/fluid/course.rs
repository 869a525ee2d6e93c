//! The result of a fluid model: when jobs end, and which shares they have until then.

use super::{FluidJob, FluidNumber, Rational};

/// The course of all jobs under one discipline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FluidCourse<N = Rational> {
    /// The end of each job, in the order of the jobs.
    pub jobs: Vec<ServedJob<N>>,
    /// The intervals in which jobs are present, in order. All shares are constant within an
    /// interval.
    pub intervals: Vec<Interval<N>>,
    /// Whether the intervals are noted.
    pub(super) has_intervals: bool,
}

/// A job that has been served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedJob<N = Rational> {
    /// When the job ends, in seconds.
    pub finish: N,
    /// The time from the job's arrival to its end, in seconds.
    pub sojourn: N,
}

/// An interval in which all shares are constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interval<N = Rational> {
    /// When the interval begins, in seconds.
    pub from: N,
    /// When the interval ends, in seconds; later than `from`.
    pub to: N,
    /// The share of each job, in the order of the jobs; zero for absent jobs.
    pub shares: Vec<N>,
}

impl<N: FluidNumber> FluidCourse<N> {
    /// Returns the course at the start.
    pub(super) fn new(jobs: usize, has_intervals: bool) -> Self {
        let none = ServedJob { finish: N::zero(), sojourn: N::zero() };
        Self { jobs: vec![none; jobs], intervals: Vec::new(), has_intervals }
    }

    pub(super) fn end(&mut self, number: usize, job: &FluidJob<N>, finish: &N) {
        self.jobs[number] =
            ServedJob { finish: finish.clone(), sojourn: finish.clone() - &job.arrival };
    }

    /// Returns the mean time from arrival to end; `None` without jobs.
    pub fn mean_sojourn(&self) -> Option<N> {
        let sum = self.jobs.iter().fold(N::zero(), |sum, job| sum + &job.sojourn);
        let count = self.jobs.iter().fold(N::zero(), |count, _| count + N::one());
        (!self.jobs.is_empty()).then(|| sum / count)
    }

    /// Returns the numbers of the jobs in the order in which they end; of jobs that end together
    /// the first in the list comes first.
    pub fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.jobs.len()).collect();
        order.sort_by(|one, other| self.jobs[*one].finish.order(&self.jobs[*other].finish));
        order
    }
}
