//! Functions of plain numbers, by their name and the names of their parameters.
//!
//! Another closed form is another line of the table.

use crate::theory::{DelayedJob, DomainError, StickySlots, Waiting};

/// A function of plain numbers.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) name: &'static str,
    pub(super) parameters: &'static [&'static str],
    compute: Compute,
}

/// Computes a function, or says for which numbers it cannot.
type Compute = fn(&[f64]) -> Result<f64, DomainError>;

impl Function {
    const fn of(name: &'static str, parameters: &'static [&'static str], compute: Compute) -> Self {
        Self { name, parameters, compute }
    }

    /// Computes it, or says for which numbers it cannot.
    pub(super) fn compute(&self, numbers: &[f64]) -> Result<f64, String> {
        (self.compute)(numbers).map_err(|error| error.to_string())
    }
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

const STICKY: &[&str] = &["jobs", "replicas", "slots"];
const JOB: &[&str] = &["nodes", "replicas", "tasks"];
const SKIPPED: &[&str] = &["nodes", "replicas", "tasks", "skips"];
const WANTED: &[&str] = &["nodes", "replicas", "tasks", "locality"];
const WAITING: &[&str] = &["nodes", "slots", "skips"];

pub(super) const FUNCTIONS: &[Function] = &[
    Function::of("exp", &["x"], |x| Ok(x[0].exp())),
    Function::of("ln", &["x"], logarithm),
    Function::of("sticky_locality", STICKY, |x| sticky(x).locality()),
    Function::of("head_locality", JOB, |x| job(x).head_of_line_locality()),
    Function::of("delay_locality", SKIPPED, |x| job(x).mean_locality(x[3])),
    Function::of("delay_locality_least", SKIPPED, |x| job(x).least_locality(x[3])),
    Function::of("delay_locality_exact", SKIPPED, |x| job(x).exact_locality(x[3])),
    Function::of("delay_skips", WANTED, |x| job(x).skips_for(x[3])),
    Function::of("delay_wait", WAITING, |x| waiting(x).task_lengths()),
];

fn logarithm(x: &[f64]) -> Result<f64, DomainError> {
    let error = DomainError { name: "x", value: x[0], allowed: "above zero" };
    if 0.0 < x[0] { Ok(x[0].ln()) } else { Err(error) }
}

fn sticky(x: &[f64]) -> StickySlots {
    StickySlots { jobs: x[0], replicas: x[1], slots: x[2] }
}

fn job(x: &[f64]) -> DelayedJob {
    DelayedJob { nodes: x[0], replicas: x[1], tasks: x[2] }
}

fn waiting(x: &[f64]) -> Waiting {
    Waiting { nodes: x[0], slots: x[1], skips: x[2] }
}
