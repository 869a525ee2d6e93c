//! What arrives: jobs, and the injector that submits them.

mod injector;
mod jobs;

pub use injector::{Arrival, JobInjector};
pub use jobs::{JobEntry, Penalty};

/// The jobs of a run, by number.
#[derive(Clone, Debug)]
pub struct Workload {
    /// Each job and when it is submitted.
    pub arrivals: Vec<Arrival>,
}
