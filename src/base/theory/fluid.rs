//! Fluid models: which shares of a freely divisible system jobs get, and when the jobs end.
//!
//! The system has a capacity of one. A job brings work, measured in seconds of the whole system. It
//! can use a share of at most [`FluidJob::most`] at once, since a job of a few tasks does not fill
//! a cluster. If `most` is one for every job, the system is the single server of queueing theory.
//! Amounts need not be whole (there are no tasks or slots) and nothing costs time (no heartbeats,
//! no preemption), so a fluid model gives the result of a policy on an ideal cluster.
//!
//! From M. Pastorelli, D. Carra, M. Dell'Amico, P. Michiardi: "HFSP: Bringing Size-Based Scheduling
//! To Hadoop", 2015, section 2.1, for jobs that need only a part of the system, and E. Friedman,
//! S. Henderson: "Fairness and Efficiency in Web Server Protocols", SIGMETRICS 2003, for FSP.
//!
//! Numbers are exact, since the order in which jobs end decides what FSP does: two jobs that end
//! together in theory do so here. [`exact`] and [`approximate`] convert from and to floats.
//!
//! ```
//! use mumakil_base::theory::fluid::{FluidDiscipline, FluidJob, approximate, exact};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A job that fills the system, and one of 55 % for ten seconds.
//! let number = |number| exact(number).expect("not infinite");
//! let job = |arrival, size, most| FluidJob {
//!     arrival: number(arrival),
//!     size: number(size),
//!     most: number(most),
//!     weight: number(1.0),
//! };
//! let course = FluidDiscipline::Fsp.serve(&[job(0.0, 30.0, 1.0), job(10.0, 5.5, 0.55)])?;
//! assert_eq!(course.order(), [1, 0]);
//! assert_eq!(approximate(&course.jobs[0].finish), 35.5);
//! # Ok(())
//! # }
//! ```

mod course;
mod flow;
mod order;
mod share;
#[cfg(test)]
mod tests;

use num_rational::BigRational;
use num_traits::{One, ToPrimitive, Zero};

pub use self::course::{FluidCourse, Interval, ServedJob};
use super::DomainError;

/// A quotient of whole numbers of any length: seconds, work, or a share.
pub type Rational = BigRational;

/// Returns the exact value of a float's decimal text: for 0.55 it is 11/20, which no float equals.
/// `None` for infinities and NaN.
pub fn exact(number: f64) -> Option<Rational> {
    let text = number.to_string();
    let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
    // `inf` and `NaN` have no digits, so they do not parse.
    format!("{whole}{part}/1{}", "0".repeat(part.len())).parse().ok()
}

/// Returns the float nearest to a number.
pub fn approximate(number: &Rational) -> f64 {
    number.to_f64().expect("a quotient is a number")
}

/// A job of a fluid model.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FluidJob {
    /// When the job arrives, in seconds.
    pub arrival: Rational,
    /// The job's work: how many seconds it would take with the whole system.
    pub size: Rational,
    /// The largest share of the system that the job can use.
    pub most: Rational,
    /// Its weight, for [`FluidDiscipline::Gps`]; the other disciplines treat all jobs alike.
    pub weight: Rational,
}

impl FluidJob {
    fn check(&self) -> Result<(), DomainError> {
        let check = |name, value: &Rational, holds, allowed| {
            super::check(name, approximate(value), holds, allowed)
        };
        let zero = Rational::zero();
        check("arrival", &self.arrival, zero <= self.arrival, "a number from 0 up")?;
        check("size", &self.size, zero < self.size, "a number above 0")?;
        let is_share = zero < self.most && self.most <= Rational::one();
        check("most", &self.most, is_share, "a share above 0, up to 1")?;
        check("weight", &self.weight, zero < self.weight, "a number above 0")
    }
}

/// How the system is divided among the jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FluidDiscipline {
    /// Processor sharing: equal shares; a share that a job cannot use is divided among the others.
    Ps,
    /// Generalised processor sharing: shares in proportion to the weights.
    Gps,
    /// The fair sojourn protocol: one job after another, in the order in which they would end under
    /// [`Self::Ps`] if no more jobs came. Capacity that a job cannot use goes to the next.
    ///
    /// The imagined run under [`Self::Ps`] keeps a job that really ends earlier. A job that has
    /// ended in the imagined run, but not really, is served before all jobs that have not ended
    /// there. Jobs that end together are served in the order of arrival.
    ///
    /// On a single server no job ends later than under [`Self::Ps`]. A job that can use only a part
    /// of the system may end later: it cannot make up for its waiting.
    Fsp,
    /// Shortest remaining processing time: the job with the least work left first. Capacity that
    /// this job cannot use goes to the next. Of equal jobs, the job that can use more comes
    /// first, then the job that arrived first.
    Srpt,
}

impl FluidDiscipline {
    /// All disciplines.
    pub const ALL: [Self; 4] = [Self::Ps, Self::Gps, Self::Fsp, Self::Srpt];

    /// Returns its name: `ps`, `gps`, `fsp` or `srpt`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ps => "ps",
            Self::Gps => "gps",
            Self::Fsp => "fsp",
            Self::Srpt => "srpt",
        }
    }

    /// Serves the jobs until the last one ends. Of jobs that arrive at the same time, the first in
    /// the list comes first.
    ///
    /// With `n` jobs there are up to `2 n` intervals, each with a share for every job; under SRPT
    /// there are up to `n²` if jobs overtake each other. Numbers get longer with every interval.
    /// FSP computes the imagined sharing anew for every arrival: with a hundred jobs this takes
    /// seconds.
    ///
    /// # Errors
    /// If a number of a job is out of its range: only arrivals may be zero, and no job can use more
    /// than the whole system.
    pub fn serve(self, jobs: &[FluidJob]) -> Result<FluidCourse, DomainError> {
        jobs.iter().try_for_each(FluidJob::check)?;
        Ok(match self {
            Self::Ps => share::equally(jobs),
            Self::Gps => share::by_weight(jobs),
            Self::Fsp => order::by_virtual_finish(jobs),
            Self::Srpt => order::by_work_left(jobs),
        })
    }
}
