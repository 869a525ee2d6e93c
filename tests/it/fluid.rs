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

mod attained;
mod course;
mod flow;
mod number;
mod order;
mod share;
mod tests;

use self::course::{FluidCourse, Interval};
use num_traits::One;

pub(crate) use self::number::{Rational, approximate, exact};

/// A job of a fluid model.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FluidJob {
    /// When the job arrives, in seconds.
    pub(crate) arrival: Rational,
    /// The job's work: how many seconds it would take with the whole system.
    pub(crate) size: Rational,
    /// The size that disciplines by size believe when the job arrives.
    pub(crate) estimate: Rational,
    /// The largest share of the system that the job can use.
    pub(crate) most: Rational,
    /// Its weight, for [`FluidDiscipline::Gps`] and [`FluidDiscipline::Psbs`]; the other disciplines
    /// treat all jobs alike.
    pub(crate) weight: Rational,
}

impl FluidJob {
    /// Returns a job that can use the whole system, and whose size is known.
    pub(crate) fn of(arrival: Rational, size: Rational) -> Self {
        Self {
            arrival,
            estimate: size.clone(),
            size,
            most: Rational::one(),
            weight: Rational::one(),
        }
    }
}

/// How jobs are served that are late: their estimates are used up, but they have work left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum LateJobs {
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
pub(crate) enum FluidDiscipline {
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
    /// [`Self::Fsp`] with a guard: a job comes first from the moment on at which it needs its largest
    /// share to end when it ends in the imagined run.
    Guarded,
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
    pub(crate) const ALL: [Self; 11] = [
        Self::Ps,
        Self::Gps,
        Self::Las,
        Self::Fsp(LateJobs::InTurn),
        Self::Fsp(LateJobs::Shared),
        Self::Fsp(LateJobs::LeastAttained),
        Self::Guarded,
        Self::Psbs,
        Self::Srpt(LateJobs::InTurn),
        Self::Srpt(LateJobs::Shared),
        Self::Srpt(LateJobs::LeastAttained),
    ];

    /// Serves the jobs until the last one ends. Of jobs that arrive at the same time, the first in
    /// the list comes first.
    ///
    /// With `n` jobs there are up to `2 n` intervals, each with a share for every job; under SRPT and
    /// LAS there are up to `n²` if jobs overtake each other. Numbers get longer with every interval.
    /// FSP computes the imagined sharing anew for every arrival: with a hundred jobs this takes
    /// seconds.
    pub(crate) fn serve(self, jobs: &[FluidJob]) -> FluidCourse {
        let course = FluidCourse::new(jobs.len());
        let equal = |_: &FluidJob| Rational::one();
        let by_weight = |job: &FluidJob| job.weight.clone();
        match self {
            Self::Ps => share::shared(jobs, course, equal),
            Self::Gps => share::shared(jobs, course, by_weight),
            Self::Las => attained::least_first(jobs, course),
            Self::Fsp(late) => order::by_virtual_finish(jobs, course, late, equal),
            Self::Guarded => order::by_guarded_finish(jobs, course, equal),
            Self::Psbs => order::by_virtual_finish(jobs, course, LateJobs::Shared, by_weight),
            Self::Srpt(late) => order::by_work_left(jobs, course, late),
        }
    }
}
