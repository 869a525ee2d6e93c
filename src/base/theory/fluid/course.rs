//! The result of a fluid model: when jobs end, and which shares they have until then.

use num_traits::Zero;

use super::{FluidJob, Rational};

/// The course of all jobs under one discipline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FluidCourse {
    /// The end of each job, in the order of the jobs.
    pub jobs: Vec<ServedJob>,
    /// The intervals in which jobs are present, in order. All shares are constant within an
    /// interval.
    pub intervals: Vec<Interval>,
}

/// A job that has been served.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServedJob {
    /// When the job ends, in seconds.
    pub finish: Rational,
    /// The time from the job's arrival to its end, in seconds.
    pub sojourn: Rational,
}

/// An interval in which all shares are constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interval {
    /// When the interval begins, in seconds.
    pub from: Rational,
    /// When the interval ends, in seconds; later than `from`.
    pub to: Rational,
    /// The share of each job, in the order of the jobs; zero for absent jobs.
    pub shares: Vec<Rational>,
}

impl FluidCourse {
    /// Returns the course at the start, without intervals.
    pub(super) fn new(jobs: usize) -> Self {
        Self { jobs: vec![ServedJob::default(); jobs], intervals: Vec::new() }
    }

    pub(super) fn end(&mut self, number: usize, job: &FluidJob, finish: &Rational) {
        self.jobs[number] = ServedJob { finish: finish.clone(), sojourn: finish - &job.arrival };
    }

    /// Returns the mean time from arrival to end; `None` without jobs.
    pub fn mean_sojourn(&self) -> Option<Rational> {
        let sum = self.jobs.iter().fold(Rational::zero(), |sum, job| sum + &job.sojourn);
        (!self.jobs.is_empty()).then(|| sum / Rational::from_integer(self.jobs.len().into()))
    }

    /// Returns the numbers of the jobs in the order in which they end; of jobs that end together
    /// the first in the list comes first.
    pub fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.jobs.len()).collect();
        order.sort_by_key(|number| &self.jobs[*number].finish);
        order
    }
}
