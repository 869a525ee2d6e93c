//! Estimates how long a job's tasks take, from a sample of them.
//!
//! As in the papers on HFSP, a family of distributions is fitted to the sample by least squares.
//! The papers fit distribution functions. Here times are fitted: the *i*-th of *n* times is paired
//! with the family's quantile at `(i − ½) / n`, and a line through these points gives the family's
//! parameters. For symmetric families the mean is the sample's mean.

use rand_distr::{Distribution, LogNormal, Uniform};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal};
use statrs::function::gamma::gamma;

use mumakil_base::random::ChaCha8Rng;
use mumakil_base::units::{Factor, Fraction};

/// The estimators that scenarios can name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EstimatorKind {
    /// The mean of the sample.
    #[default]
    Mean,
    /// Uniform times: all between two limits are equally likely.
    Uniform,
    /// Exponentially distributed times.
    Exponential,
    /// Normally distributed times.
    Normal,
    /// Log-normally distributed times.
    LogNormal,
    /// Weibull-distributed times.
    Weibull,
    /// No estimate: the true size of each job, known when it arrives.
    Oracle,
}

impl EstimatorKind {
    /// Returns the mean time of a task in seconds, estimated from a sample of at least one time.
    pub fn task_time(self, sample: &[f64]) -> f64 {
        let mean = sample.iter().sum::<f64>() / sample.len() as f64;
        // A line needs two points, and a logarithm needs times above zero.
        let has_times = sample.iter().all(|time| 0.0 < *time);
        if sample.len() < 2 || !has_times {
            return mean;
        }
        let fitted = match self {
            Self::Mean | Self::Oracle => mean,
            Self::Uniform => {
                let line = FittedLine::through(sample, |time| time, |share| share);
                // The height of the line at one half is the mean of uniformly distributed times.
                line.start + line.slope / 2.0
            }
            // The quantile is the mean times `-ln(1 - share)`, so the line goes through zero and
            // its slope is the mean.
            Self::Exponential => scale(sample, |share| -(1.0 - share).ln()),
            // The standard normal quantile of one half is 0, so the line starts at the mean.
            Self::Normal => FittedLine::through(sample, |time| time, standard_normal).start,
            Self::LogNormal => {
                let FittedLine { start, slope } =
                    FittedLine::through(sample, f64::ln, standard_normal);
                // The mean of log-normal times is exp(μ + σ² / 2).
                (start + slope * slope / 2.0).exp()
            }
            Self::Weibull => {
                let FittedLine { start, slope } =
                    FittedLine::through(sample, f64::ln, |share| (-(1.0 - share).ln()).ln());
                // With logarithms the slope is 1 / shape, and the mean is scale × Γ(1 + 1 / shape).
                start.exp() * gamma(1.0 + slope)
            }
        };
        // Times that differ by orders of magnitude give a steep line, whose exponential overflows.
        if fitted.is_finite() { fitted } else { mean }
    }
}

/// The deliberate error of estimates.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SizeError {
    /// Estimates are multiplied by a factor from `1 − α` to `1 + α`.
    Uniform(Fraction),
    /// Estimates are multiplied by a factor with median 1, whose logarithm has this standard
    /// deviation.
    LogNormal(Factor),
}

impl SizeError {
    /// Draws the factor by which the estimate of one job is wrong.
    pub fn draw(self, rng: &mut ChaCha8Rng) -> f64 {
        match self {
            // α and σ were checked when they were read, so both distributions can be built.
            Self::Uniform(alpha) => Uniform::new_inclusive(1.0 - alpha.get(), 1.0 + alpha.get())
                .map_or(1.0, |factor| factor.sample(rng)),
            Self::LogNormal(sigma) => {
                LogNormal::new(0.0, sigma.get()).map_or(1.0, |factor| factor.sample(rng))
            }
        }
    }
}

/// A line fitted to the times of a sample as a function of the quantiles of a family.
struct FittedLine {
    start: f64,
    slope: f64,
}

impl FittedLine {
    fn through(sample: &[f64], height: impl Fn(f64) -> f64, quantile: impl Fn(f64) -> f64) -> Self {
        let points: Vec<(f64, f64)> =
            shares(sample).map(|(share, time)| (quantile(share), height(time))).collect();
        let count = points.len() as f64;
        let x_mean = points.iter().map(|(x, _)| x).sum::<f64>() / count;
        let y_mean = points.iter().map(|(_, y)| y).sum::<f64>() / count;
        let products: f64 = points.iter().map(|(x, y)| (x - x_mean) * (y - y_mean)).sum();
        let squares: f64 = points.iter().map(|(x, _)| (x - x_mean).powi(2)).sum();
        let slope = products / squares;
        Self { start: y_mean - slope * x_mean, slope }
    }
}

/// Returns the slope of a line through zero, fitted to the times of a sample.
fn scale(sample: &[f64], quantile: impl Fn(f64) -> f64) -> f64 {
    let points: Vec<(f64, f64)> =
        shares(sample).map(|(share, time)| (quantile(share), time)).collect();
    points.iter().map(|(x, y)| x * y).sum::<f64>() / points.iter().map(|(x, _)| x * x).sum::<f64>()
}

/// Returns the times in ascending order, each with its share of the sample, from 0 to 1.
fn shares(sample: &[f64]) -> impl Iterator<Item = (f64, f64)> {
    let mut sorted = sample.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let count = sorted.len() as f64;
    // Stay half a step inside the limits, since the quantiles of 0 and 1 may be infinite.
    (0..).zip(sorted).map(move |(place, time)| ((f64::from(place) + 0.5) / count, time))
}

fn standard_normal(share: f64) -> f64 {
    Normal::standard().inverse_cdf(share)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mumakil_base::random::{Purpose, stream};

    const ALL: [EstimatorKind; 6] = [
        EstimatorKind::Mean,
        EstimatorKind::Uniform,
        EstimatorKind::Exponential,
        EstimatorKind::Normal,
        EstimatorKind::LogNormal,
        EstimatorKind::Weibull,
    ];

    /// If a sample consists of the quantiles of a distribution, the fit is exact and finds the mean
    /// of the distribution.
    #[test]
    fn a_family_finds_the_mean_of_its_own_quantiles() {
        let quantiles = |of: fn(f64) -> f64| -> Vec<f64> {
            (0..9).map(|i| of((f64::from(i) + 0.5) / 9.0)).collect()
        };
        let found =
            |family: EstimatorKind, of| (family.task_time(&quantiles(of)) * 1e9).round() / 1e9;
        assert_eq!(found(EstimatorKind::Uniform, |share| 10.0 + 20.0 * share), 20.0);
        assert_eq!(found(EstimatorKind::Exponential, |share| -40.0 * (1.0 - share).ln()), 40.0);
        assert_eq!(found(EstimatorKind::Normal, |share| 50.0 + 7.0 * standard_normal(share)), 50.0);
        let log_normal = |share| (3.0 + 0.5 * standard_normal(share)).exp();
        let mean = (3.125_f64).exp();
        assert!((found(EstimatorKind::LogNormal, log_normal) - mean).abs() < 1e-6);
        // With shape 2 the mean is the scale times the gamma function at 1.5, which is half the
        // root of pi.
        let weibull = |share: f64| 30.0 * (-(1.0 - share).ln()).sqrt();
        let mean = 30.0 * std::f64::consts::PI.sqrt() / 2.0;
        assert!((found(EstimatorKind::Weibull, weibull) - mean).abs() < 1e-6);
    }

    #[test]
    fn symmetric_families_find_the_mean_of_any_sample() {
        let sample = [12.0, 3.0, 30.0, 18.0, 7.0];
        for family in [EstimatorKind::Mean, EstimatorKind::Uniform, EstimatorKind::Normal] {
            assert!((family.task_time(&sample) - 14.0).abs() < 1e-9, "{family:?}");
        }
    }

    #[test]
    fn equal_times_and_single_ones_are_what_they_are() {
        for family in ALL.into_iter().filter(|family| *family != EstimatorKind::Exponential) {
            assert!((family.task_time(&[60.0; 5]) - 60.0).abs() < 1e-6, "{family:?}");
        }
        for family in ALL {
            assert_eq!(family.task_time(&[60.0]), 60.0, "{family:?}");
            assert_eq!(family.task_time(&[0.0, 0.0, 3.0]), 1.0, "{family:?} of no time at all");
        }
    }

    #[test]
    fn errors_stay_in_their_range_and_are_none_on_average() {
        let draws = |error: SizeError| -> Vec<f64> {
            (0..2_000).map(|job| error.draw(&mut stream(1, Purpose::SizeError, job))).collect()
        };
        let uniform = draws(SizeError::Uniform(Fraction::of(0.4)));
        assert!(uniform.iter().all(|factor| (0.6..=1.4).contains(factor)));
        let mean = uniform.iter().sum::<f64>() / 2_000.0;
        assert!((mean - 1.0).abs() < 0.02, "{mean}");
        let mut log_normal = draws(SizeError::LogNormal(Factor::of(0.5)));
        log_normal.sort_unstable_by(f64::total_cmp);
        assert!((log_normal[1_000] - 1.0).abs() < 0.05, "{}", log_normal[1_000]);
    }
}
