//! Functions of plain numbers, with the names of their parameters.
//!
//! To add a closed form, add a line to [`FUNCTIONS`].

use mumakil_base::theory::{DelayedJob, DomainError, SkippedTime, StickySlots, TaskBag};

/// A function of plain numbers.
#[derive(Debug)]
pub struct Function {
    /// Its name in the language.
    pub name: &'static str,
    /// The names of its parameters, in their order.
    pub parameters: &'static [&'static str],
    /// Its description.
    pub about: &'static str,
    compute: Compute,
}

/// The code of a function. The error says which numbers are outside the function's domain.
type Compute = fn(&[f64]) -> Result<f64, DomainError>;

impl Function {
    const fn of(
        name: &'static str,
        parameters: &'static [&'static str],
        about: &'static str,
        compute: Compute,
    ) -> Self {
        Self { name, parameters, about, compute }
    }

    /// Computes the function.
    ///
    /// # Errors
    /// If these numbers are outside the function's domain.
    pub fn compute(&self, numbers: &[f64]) -> Result<f64, DomainError> {
        (self.compute)(numbers)
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
const BAG: &[&str] = &["tasks", "all_slots", "longest"];
const DUE: &[&str] = &["tasks", "longest", "within"];

/// All functions.
pub const FUNCTIONS: &[Function] = &[
    Function::of("exp", &["x"], "e to the power of x", |x| Ok(x[0].exp())),
    Function::of("ln", &["x"], "the natural logarithm", logarithm),
    Function::of("sticky_locality", STICKY, "of jobs that keep their slots", |x| {
        StickySlots { jobs: x[0], replicas: x[1], slots: x[2] }.locality()
    }),
    Function::of("head_locality", JOB, "of the job that takes the first slot", |x| {
        job(x).head_of_line_locality()
    }),
    Function::of(
        "head_locality_distinct",
        JOB,
        "the same, all copies on nodes of their own",
        |x| job(x).head_of_line_locality_of_distinct(),
    ),
    Function::of("delay_locality", SKIPPED, "of a job that is skipped so often", |x| {
        job(x).mean_locality(x[3])
    }),
    Function::of("delay_locality_least", SKIPPED, "a lower bound of it", |x| {
        job(x).least_locality(x[3])
    }),
    Function::of("delay_locality_exact", SKIPPED, "the same, exactly as Algorithm 2 has it", |x| {
        job(x).exact_locality(x[3])
    }),
    Function::of("delay_skips", WANTED, "the skips that the locality takes", |x| {
        job(x).skips_for(x[3])
    }),
    Function::of("delay_wait", WAITING, "how long the skips last, in tasks", |x| {
        SkippedTime { nodes: x[0], slots: x[1], skips: x[2] }.task_lengths()
    }),
    Function::of("makespan_least", BAG, "the least time of all tasks, in mean tasks", |x| {
        TaskBag { tasks: x[0], slots: x[1], longest: x[2] }.least()
    }),
    Function::of("makespan_most", BAG, "the most time of all tasks, in mean tasks", |x| {
        TaskBag { tasks: x[0], slots: x[1], longest: x[2] }.most()
    }),
    Function::of("slots_for", DUE, "the slots with which all tasks end in time", |x| {
        TaskBag { tasks: x[0], slots: 1.0, longest: x[1] }.slots_for(x[2])
    }),
];

fn logarithm(x: &[f64]) -> Result<f64, DomainError> {
    let error = DomainError { name: "x", value: x[0], allowed: "above zero" };
    if 0.0 < x[0] { Ok(x[0].ln()) } else { Err(error) }
}

fn job(x: &[f64]) -> DelayedJob {
    DelayedJob { nodes: x[0], replicas: x[1], tasks: x[2] }
}
