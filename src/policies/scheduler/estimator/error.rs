//! Deliberate errors of estimates.
//!
//! ```text
//! estimate = size × luck × bias × (size / reference) ^ exponent × factor of its class
//! ```

use std::collections::BTreeMap;

use rand_distr::{Distribution, LogNormal, Uniform};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use mumakil_base::random::ChaCha8Rng;
use mumakil_base::units::{Factor, Fraction, SimSpan};
use mumakil_core::mapred::Complaint;

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
    /// How the error grows with the size: a job of ten times `reference` is wrong by ten to this
    /// power. Below zero, large jobs look smaller than they are, and small jobs larger.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exponent: Option<f64>,
    /// The work of a job, in slot-time, that `exponent` leaves as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<SimSpan>,
    /// A further factor for each class of jobs.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub classes: BTreeMap<String, Factor>,
}

/// The largest exponent.
// Chosen: an error that grows faster than the square of the size makes all large jobs alike.
const MOST: f64 = 2.0;

impl SizeError {
    /// Returns complaints about fields that do not fit together.
    pub fn complaints(&self) -> Vec<Complaint> {
        let complaint = match (self.exponent, self.reference) {
            (Some(exponent), _) if !(-MOST..=MOST).contains(&exponent) => {
                Complaint::error(&["exponent"], "an exponent is from -2 to 2", "0 has no effect")
            }
            (Some(_), None | Some(SimSpan::ZERO)) => Complaint::error(
                &["exponent"],
                "`exponent` needs `reference`: the work of a job that it leaves as it is",
                "such as `reference: 10min`",
            ),
            (None, Some(_)) => Complaint::warning(
                &["reference"],
                "`reference` has no effect without `exponent`",
                "leave it out",
            ),
            _ => return Vec::new(),
        };
        vec![complaint]
    }

    /// Returns the factor by which the estimate of a job of `class` is wrong; `work` is the estimate
    /// without the error, in seconds.
    pub fn factor(&self, rng: &mut ChaCha8Rng, work: f64, class: &str) -> f64 {
        let get = |factor: Option<Factor>| factor.map_or(1.0, Factor::get);
        // α and σ were checked when they were read, so both distributions can be built.
        let uniform = self.uniform.map(Fraction::get);
        let uniform =
            uniform.and_then(|alpha| Uniform::new_inclusive(1.0 - alpha, 1.0 + alpha).ok());
        let uniform = uniform.map_or(1.0, |factor| factor.sample(rng));
        let log_normal = self.log_normal.map(Factor::get);
        let log_normal = log_normal.and_then(|sigma| LogNormal::new(0.0, sigma).ok());
        let log_normal = log_normal.map_or(1.0, |factor| factor.sample(rng));
        let grown = match (self.exponent, self.reference) {
            // A job without work has no size that an error could depend on.
            (Some(exponent), Some(reference)) if 0.0 < work => {
                (work / reference.as_secs_f64()).powf(exponent)
            }
            _ => 1.0,
        };
        uniform * log_normal * get(self.bias) * grown * get(self.classes.get(class).copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mumakil_base::random::{Purpose, stream};

    fn error(yaml: &str) -> SizeError {
        serde_yaml::from_str(yaml).unwrap()
    }

    #[test]
    fn spreads_stay_in_their_range_and_are_none_on_average() {
        let draws = |yaml: &str| -> Vec<f64> {
            let draw = |job| error(yaml).factor(&mut stream(1, Purpose::SizeError, job), 60.0, "");
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

    #[test]
    fn the_factors_of_bias_size_and_class_are_multiplied() {
        for (yaml, work, class, factor) in [
            ("{}", 60.0, "small", 1.0),
            ("{bias: 0.5}", 60.0, "small", 0.5),
            ("{exponent: -1, reference: 1min}", 60.0, "", 1.0),
            ("{exponent: -1, reference: 1min}", 600.0, "", 0.1),
            ("{exponent: 0.5, reference: 1min}", 240.0, "", 2.0),
            ("{exponent: 0.5, reference: 1min}", 0.0, "", 1.0),
            ("{classes: {small: 3}}", 60.0, "small", 3.0),
            ("{classes: {small: 3}}", 60.0, "large", 1.0),
            ("{bias: 2, exponent: 1, reference: 1min, classes: {a: 3}}", 120.0, "a", 12.0),
        ] {
            let drawn = error(yaml).factor(&mut stream(1, Purpose::SizeError, 0), work, class);
            assert!((drawn / factor - 1.0).abs() < 1e-12, "{yaml}: {drawn}");
        }
    }

    #[test]
    fn an_exponent_needs_a_reference() {
        let said = |yaml: &str| error(yaml).complaints().pop().map(|said| said.is_warning);
        assert_eq!(said("{exponent: 1}"), Some(false));
        assert_eq!(said("{exponent: 1, reference: 0s}"), Some(false));
        assert_eq!(said("{exponent: 3, reference: 1min}"), Some(false));
        assert_eq!(said("{exponent: .nan, reference: 1min}"), Some(false));
        assert_eq!(said("{reference: 1min}"), Some(true));
        assert_eq!(said("{exponent: 1, reference: 1min}"), None);
    }
}
