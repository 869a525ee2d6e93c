//! Deliberate errors of estimates.
//!
//! ```text
//! estimate = size × luck × bias
//! ```

use rand_distr::{Distribution, LogNormal, Uniform};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use mumakil_base::random::ChaCha8Rng;
use mumakil_base::units::{Factor, Fraction};

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
            factor *= Uniform::new_inclusive(1.0 - alpha, 1.0 + alpha)
                .map_or(1.0, |uniform| uniform.sample(rng));
        }
        if let Some(sigma) = self.log_normal.map(Factor::get) {
            factor *= LogNormal::new(0.0, sigma).map_or(1.0, |spread| spread.sample(rng));
        }
        factor * self.bias.map_or(1.0, Factor::get)
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
