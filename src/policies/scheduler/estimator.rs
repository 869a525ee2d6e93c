//! Sizes of jobs as policies know them: estimated from a sample, by an estimator of the user's, or
//! true, and wrong on purpose.
//!
//! ```text
//! estimator: mean                               from the times of the first tasks
//! estimator: oracle                             the true sizes
//! estimator: {formula: {maps: "tasks * 20s"}}   a formula
//! estimator: {named: history}                   an estimator in Rust
//! ```

mod fit;
mod formula;

use std::fmt;

use rand_distr::{Distribution, LogNormal, Uniform};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::fit::MeasuredTask;
use self::formula::FormulaEstimator;
pub use self::formula::{SizeFormula, SizeFormulas};
use mumakil_base::mutated;
use mumakil_base::random::{ChaCha8Rng, Purpose, stream};
use mumakil_base::units::{Factor, Fraction, SimSpan};
use mumakil_core::mapred::{Job, JobId, KnownJob, Setting, SizeEstimator, SlotKind, TrueDurations};

/// How the sizes of jobs are estimated.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Estimator {
    /// The mean of the sample.
    #[default]
    Mean,
    /// Times between two limits, all equally likely.
    Uniform,
    /// The true size, known when the job arrives.
    Oracle,
    /// A formula in the language of `rank`, computed when the job arrives and again when its sample
    /// is measured.
    Formula(SizeFormulas),
    /// An estimator that a user's own build of Mumakil brings, by its name.
    Named(String),
}

impl Estimator {
    /// Returns whether sizes are known from samples only.
    pub(super) fn needs_sample(&self) -> bool {
        !matches!(self, Self::Oracle | Self::Formula(_) | Self::Named(_))
    }

    pub(super) fn named(&self) -> Option<&str> {
        if let Self::Named(name) = self { Some(name) } else { None }
    }
}

pub(super) struct Estimates {
    pub(super) estimator: Estimator,
    error: Option<SizeError>,
    /// The estimator of the user's, if there is one; a named one from the beginning of the run.
    own: Option<Box<dyn SizeEstimator>>,
    /// The seed of the run, from which errors are drawn.
    seed: u64,
    truth: Option<TrueDurations>,
}

impl Estimates {
    pub(super) fn new(estimator: Estimator, error: Option<SizeError>) -> Self {
        let own: Option<Box<dyn SizeEstimator>> = match &estimator {
            Estimator::Formula(formulas) => Some(Box::new(FormulaEstimator::new(formulas.clone()))),
            _ => None,
        };
        Self { estimator, error, own, seed: 0, truth: None }
    }

    pub(super) fn begin(&mut self, setting: &Setting<'_>) -> Result<(), String> {
        self.seed = setting.seed;
        if let Estimator::Named(name) = &self.estimator {
            let found = setting.estimators.get(name.as_str());
            self.own = Some(found.ok_or_else(|| format!("there is no estimator `{name}`"))?());
        }
        Ok(())
    }

    pub(super) fn foresee(&mut self, truth: &TrueDurations) {
        self.truth = Some(truth.clone());
    }

    /// Returns the true work of all tasks in seconds, if the estimator is the oracle.
    pub(super) fn true_work(&self, job: &Job, kind: SlotKind) -> Option<f64> {
        Some(self.truth.as_ref()?.work(job, kind).as_secs_f64())
    }

    pub(super) fn true_task(&self, job: &Job, kind: SlotKind, index: u32) -> Option<f64> {
        Some(self.truth.as_ref()?.task(job, kind, index).as_secs_f64())
    }

    /// Returns whether the sizes, but for their error, are true.
    pub(super) fn are_true(&self) -> bool {
        self.estimator == Estimator::Oracle
    }

    /// Returns how large an estimator of the user's takes a job to be, in seconds of work; `None`
    /// if there is no such estimator. `known.sample` may be empty.
    pub(super) fn own(&mut self, known: &KnownJob<'_>) -> Option<f64> {
        let work = self.own.as_mut()?.work(known).max(0.0);
        Some(self.with_error(known.job, known.kind, work))
    }

    /// Returns an estimate with its deliberate error; infinite if the size is unknown.
    pub(super) fn with_error(&self, job: &Job, kind: SlotKind, work: f64) -> f64 {
        let factor = self.error.as_ref().map_or(1.0, |error| {
            // Each job and kind has its own random stream, so a later draw gives the same error.
            let id = mutated!(job.id().0, "hfsp/error-one" => 0);
            let subject = 2 * u64::from(id) + kind as u64;
            let mut chance = stream(self.seed, Purpose::SizeError, subject);
            error.factor(&mut chance)
        });
        let wrong = work * mutated!(factor, "hfsp/error" => 1.0);
        // A size beyond the longest time is as good as unknown, as is one that is no number.
        if wrong <= SimSpan::LONGEST.as_secs_f64() { wrong } else { f64::INFINITY }
    }

    pub(super) fn task_done(&mut self, job: JobId, kind: SlotKind, seconds: f64) {
        let took = SimSpan::ceil_from_secs(seconds);
        self.own.iter_mut().for_each(|own| own.task_done(job, kind, took));
    }

    pub(super) fn job_over(&mut self, job: JobId) {
        self.own.iter_mut().for_each(|own| own.job_over(job));
    }
}

impl fmt::Debug for Estimates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { estimator, error, .. } = self;
        f.debug_struct("Estimates").field("estimator", estimator).field("error", error).finish()
    }
}

/// How estimates are wrong on purpose. The factors of all fields are multiplied.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct SizeError {
    /// A factor from `1 − α` to `1 + α`, drawn for each job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uniform: Option<Fraction>,
    /// A factor that is drawn for each job: its median is 1, and its logarithm has this standard
    /// deviation σ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_normal: Option<Factor>,
    /// The same factor for all jobs: below 1, they look smaller than they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bias: Option<Factor>,
}

impl SizeError {
    /// Returns the factor by which the estimate of a job is wrong.
    pub fn factor(&self, rng: &mut ChaCha8Rng) -> f64 {
        // α and σ were checked when they were read, so both distributions can be built.
        let mut factor = 1.0;
        if let Some(alpha) = self.uniform.map(Fraction::get) {
            let least = mutated!(1.0 - alpha, "hfsp/error-up" => 1.0);
            factor *= Uniform::new_inclusive(least, 1.0 + alpha)
                .map_or(1.0, |uniform| uniform.sample(rng));
        }
        if let Some(sigma) = self.log_normal.map(Factor::get) {
            factor *= LogNormal::new(0.0, sigma).map_or(1.0, |spread| spread.sample(rng));
        }
        factor * mutated!(self.bias, "hfsp/error-unbiased" => None).map_or(1.0, Factor::get)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(yaml: &str) -> SizeError {
        serde_yaml::from_str(yaml).unwrap()
    }

    #[test]
    fn spreads_stay_in_their_range_and_are_none_on_average() {
        let draws = |yaml: &str| -> Vec<f64> {
            let draw = |job| error(yaml).factor(&mut stream(1, Purpose::SizeError, job));
            (0..2_000).map(draw).collect()
        };
        let uniform = draws("{uniform: 0.4}");
        assert!(uniform.iter().all(|factor| (0.6..=1.4).contains(factor)));
        let mean = uniform.iter().sum::<f64>() / 2_000.0;
        assert!((mean - 1.0).abs() < 0.02, "{mean}");
        let mut log_normal = draws("{log-normal: 0.5}");
        log_normal.sort_unstable_by(f64::total_cmp);
        assert!((log_normal[1_000] - 1.0).abs() < 0.05, "{}", log_normal[1_000]);
        assert!((log_normal[1_683] / 0.5_f64.exp() - 1.0).abs() < 0.1, "{}", log_normal[1_683]);
    }
}
