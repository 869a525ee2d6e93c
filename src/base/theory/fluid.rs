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
//! For wrong sizes: M. Dell'Amico, D. Carra, P. Michiardi: "PSBS: Practical Size-Based Scheduling",
//! IEEE Transactions on Computers 2016, and their technical report of 2013.
//!
//! Numbers are exact, since the order in which jobs end decides what FSP does: two jobs that end
//! together in theory do so here. [`exact`] and [`approximate`] convert from and to floats.
//!
//! ```
//! use mumakil_base::theory::fluid::{FluidDiscipline, FluidJob, LateJobs, approximate, exact};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A job that fills the system, and one of 55 % for ten seconds.
//! let number = |number| exact(number).expect("not infinite");
//! let large = FluidJob::of(number(0.0), number(30.0));
//! let small = FluidJob { most: number(0.55), ..FluidJob::of(number(10.0), number(5.5)) };
//! let course = FluidDiscipline::Fsp(LateJobs::InTurn).serve(&[large, small])?;
//! assert_eq!(course.order(), [1, 0]);
//! assert_eq!(approximate(&course.jobs[0].finish), 35.5);
//! # Ok(())
//! # }
//! ```
//!
//! With floats instead of quotients, [`FluidDiscipline::ends`] serves thousands of jobs.

mod attained;
mod course;
mod flow;
mod number;
mod order;
mod share;
#[cfg(test)]
mod tests;

pub use self::course::{FluidCourse, Interval, ServedJob};
pub use self::number::{FluidNumber, Rational, approximate, exact};
use super::DomainError;

/// A job of a fluid model.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FluidJob<N = Rational> {
    /// When the job arrives, in seconds.
    pub arrival: N,
    /// The job's work: how many seconds it would take with the whole system.
    pub size: N,
    /// The size that disciplines by size believe when the job arrives.
    pub estimate: N,
    /// The largest share of the system that the job can use.
    pub most: N,
    /// Its weight, for [`FluidDiscipline::Gps`] and [`FluidDiscipline::Psbs`]; the other disciplines
    /// treat all jobs alike.
    pub weight: N,
}

impl<N: FluidNumber> FluidJob<N> {
    /// Returns a job that can use the whole system, and whose size is known.
    pub fn of(arrival: N, size: N) -> Self {
        Self { arrival, estimate: size.clone(), size, most: N::one(), weight: N::one() }
    }

    fn check(&self) -> Result<(), DomainError> {
        let check =
            |name, value: &N, holds, allowed| super::check(name, value.float(), holds, allowed);
        let zero = N::zero();
        check("arrival", &self.arrival, zero <= self.arrival, "a number from 0 up")?;
        check("size", &self.size, zero < self.size, "a number above 0")?;
        check("estimate", &self.estimate, zero <= self.estimate, "a number from 0 up")?;
        let is_share = zero < self.most && self.most <= N::one();
        check("most", &self.most, is_share, "a share above 0, up to 1")?;
        check("weight", &self.weight, zero < self.weight, "a number above 0")
    }
}

/// How jobs are served that are late: their estimates are used up, but they have work left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LateJobs {
    /// One after another, before all other jobs.
    InTurn,
    /// All at once, with equal shares: under FSP before all other jobs, under SRPT together with the
    /// first job that is not late.
    Shared,
    /// Those that have been served least, with equal shares: under FSP before all other jobs, under
    /// SRPT together with the first job that is not late.
    LeastAttained,
}

/// How the system is divided among the jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FluidDiscipline {
    /// Processor sharing: equal shares; a share that a job cannot use is divided among the others.
    Ps,
    /// Generalised processor sharing: shares in proportion to the weights.
    Gps,
    /// Least attained service (foreground-background): equal shares among the jobs that have been
    /// served least.
    Las,
    /// The fair sojourn protocol: one job after another, in the order in which they would end under
    /// [`Self::Ps`] if no more jobs came. Capacity that a job cannot use goes to the next.
    ///
    /// The imagined run under [`Self::Ps`] works with estimates, and keeps a job that really ends
    /// earlier. A job that has ended in the imagined run, but not really, is late. Jobs that end
    /// together are served in the order of arrival.
    ///
    /// With right estimates no job ends later on a single server than under [`Self::Ps`]. A job that
    /// can use only a part of the system may end later: it cannot make up for its waiting.
    Fsp(LateJobs),
    /// Practical size-based scheduling: [`Self::Fsp`] whose imagined run shares by weights, and whose
    /// late jobs share by weights.
    Psbs,
    /// Shortest remaining processing time: the job with the least estimated work left first. Capacity
    /// that this job cannot use goes to the next. Of equal jobs, the job that can use more comes
    /// first, then the job that arrived first. A job that has been served for its estimate is late.
    Srpt(LateJobs),
}

impl FluidDiscipline {
    /// All disciplines.
    pub const ALL: [Self; 10] = [
        Self::Ps,
        Self::Gps,
        Self::Las,
        Self::Fsp(LateJobs::InTurn),
        Self::Fsp(LateJobs::Shared),
        Self::Fsp(LateJobs::LeastAttained),
        Self::Psbs,
        Self::Srpt(LateJobs::InTurn),
        Self::Srpt(LateJobs::Shared),
        Self::Srpt(LateJobs::LeastAttained),
    ];

    /// Returns its name, such as `fsp+ps`: FSP whose late jobs share.
    pub const fn name(self) -> &'static str {
        use LateJobs as L;
        match self {
            Self::Ps => "ps",
            Self::Gps => "gps",
            Self::Las => "las",
            Self::Fsp(L::InTurn) => "fsp",
            Self::Fsp(L::Shared) => "fsp+ps",
            Self::Fsp(L::LeastAttained) => "fsp+las",
            Self::Psbs => "psbs",
            Self::Srpt(L::InTurn) => "srpt",
            Self::Srpt(L::Shared) => "srpt+ps",
            Self::Srpt(L::LeastAttained) => "srpt+las",
        }
    }

    /// Serves the jobs until the last one ends. Of jobs that arrive at the same time, the first in
    /// the list comes first.
    ///
    /// With `n` jobs there are up to `2 n` intervals, each with a share for every job; under SRPT and
    /// LAS there are up to `n²` if jobs overtake each other. Numbers get longer with every interval.
    /// FSP computes the imagined sharing anew for every arrival: with a hundred jobs this takes
    /// seconds.
    ///
    /// # Errors
    /// If a number of a job is out of its range: only arrivals and estimates may be zero, and no job
    /// can use more than the whole system.
    pub fn serve<N: FluidNumber>(
        self,
        jobs: &[FluidJob<N>],
    ) -> Result<FluidCourse<N>, DomainError> {
        self.course(jobs, true)
    }

    /// Returns when the jobs end, without their shares over time.
    ///
    /// # Errors
    /// As [`Self::serve`].
    pub fn ends<N: FluidNumber>(
        self,
        jobs: &[FluidJob<N>],
    ) -> Result<Vec<ServedJob<N>>, DomainError> {
        Ok(self.course(jobs, false)?.jobs)
    }

    fn course<N: FluidNumber>(
        self,
        jobs: &[FluidJob<N>],
        has_intervals: bool,
    ) -> Result<FluidCourse<N>, DomainError> {
        jobs.iter().try_for_each(FluidJob::check)?;
        let course = FluidCourse::new(jobs.len(), has_intervals);
        let equal = |_: &FluidJob<N>| N::one();
        let by_weight = |job: &FluidJob<N>| job.weight.clone();
        Ok(match self {
            Self::Ps => share::shared(jobs, course, equal),
            Self::Gps => share::shared(jobs, course, by_weight),
            Self::Las => attained::least_first(jobs, course),
            Self::Fsp(late) => order::by_virtual_finish(jobs, course, late, equal),
            Self::Psbs => order::by_virtual_finish(jobs, course, LateJobs::Shared, by_weight),
            Self::Srpt(late) => order::by_work_left(jobs, course, late),
        })
    }
}
