//! The result of a fluid model: when jobs end, and which shares they have until then.

use super::{FluidJob, Rational};
use num_traits::{One, Zero};

/// The course of all jobs under one discipline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FluidCourse {
    /// The end of each job, in the order of the jobs.
    pub(crate) jobs: Vec<ServedJob>,
    /// The intervals in which jobs are present, in order. All shares are constant within an
    /// interval.
    pub(crate) intervals: Vec<Interval>,
}

/// A job that has been served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServedJob {
    /// When the job ends, in seconds.
    pub(crate) finish: Rational,
    /// The time from the job's arrival to its end, in seconds.
    pub(crate) sojourn: Rational,
}

/// An interval in which all shares are constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Interval {
    /// When the interval begins, in seconds.
    pub(crate) from: Rational,
    /// When the interval ends, in seconds; later than `from`.
    pub(crate) to: Rational,
    /// The share of each job, in the order of the jobs; zero for absent jobs.
    pub(crate) shares: Vec<Rational>,
}

impl FluidCourse {
    /// Returns the course at the start.
    pub(super) fn new(jobs: usize) -> Self {
        let none = ServedJob { finish: Rational::zero(), sojourn: Rational::zero() };
        Self { jobs: vec![none; jobs], intervals: Vec::new() }
    }

    pub(super) fn end(&mut self, number: usize, job: &FluidJob, finish: &Rational) {
        self.jobs[number] =
            ServedJob { finish: finish.clone(), sojourn: finish.clone() - &job.arrival };
    }

    /// Returns the mean time from arrival to end; `None` without jobs.
    pub(crate) fn mean_sojourn(&self) -> Option<Rational> {
        let sum = self.jobs.iter().fold(Rational::zero(), |sum, job| sum + &job.sojourn);
        let count = self.jobs.iter().fold(Rational::zero(), |count, _| count + Rational::one());
        (!self.jobs.is_empty()).then(|| sum / count)
    }

    /// Returns the numbers of the jobs in the order in which they end; of jobs that end together
    /// the first in the list comes first.
    pub(crate) fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.jobs.len()).collect();
        order.sort_by(|one, other| self.jobs[*one].finish.cmp(&self.jobs[*other].finish));
        order
    }
}
