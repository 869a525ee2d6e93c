//! A number and the interval that probably has the true one.

use rand::RngExt;
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::{mean, quantile_of_sorted, skewness, standard_deviation};
use crate::random::{ChaCha8Rng, Purpose, stream};

/// How often a bootstrap draws its sample again.
const RESAMPLES: usize = 2_000;

/// How much of the probability lies outside of an interval, on either side.
const TAIL: f64 = 0.025;

/// An estimate with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The estimate.
    pub mean: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
    /// From how many values it is; an interval of one value has no width and means nothing.
    pub n: usize,
}

/// Returns the mean with the interval of Student's t; `None` of nothing.
///
/// Right for values that scatter symmetrically, such as means of runs and differences of pairs.
pub fn student(values: &[f64]) -> Option<Estimate> {
    let mean = mean(values)?;
    let half = standard_deviation(values).map_or(0.0, |deviation| {
        let n = values.len() as f64;
        let t = StudentsT::new(0.0, 1.0, n - 1.0).expect("two values leave a degree of freedom");
        t.inverse_cdf(1.0 - TAIL) * deviation / n.sqrt()
    });
    Some(Estimate { mean, low: mean - half, high: mean + half, n: values.len() })
}

/// Returns a statistic of the values with its percentile bootstrap interval; `None` if the values
/// have none.
///
/// Right for skewed values and for statistics other than the mean. The same stream gives the same
/// interval. Costs the statistic of 2,000 samples.
pub fn bootstrap(
    values: &[f64],
    statistic: impl Fn(&[f64]) -> Option<f64>,
    mut stream: ChaCha8Rng,
) -> Option<Estimate> {
    let estimate = statistic(values)?;
    let mut sample = values.to_vec();
    let mut drawn = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        sample.fill_with(|| values[stream.random_range(0..values.len())]);
        drawn.extend(statistic(&sample));
    }
    drawn.sort_unstable_by(f64::total_cmp);
    let end = |share| quantile_of_sorted(&drawn, share).unwrap_or(estimate);
    Some(Estimate { mean: estimate, low: end(TAIL), high: end(1.0 - TAIL), n: values.len() })
}

/// Fewer values than that do not show whether they are skewed.
const SKEWED_FROM: usize = 8;

/// Returns the mean with its interval: Student's, or the bootstrap's for values that are so skewed
/// that their mean does not scatter symmetrically; `None` of nothing.
pub fn interval(values: &[f64]) -> Option<Estimate> {
    let is_skewed = skewness(values).is_some_and(|skewness| 1.0 < skewness.abs());
    if values.len() < SKEWED_FROM || !is_skewed {
        return student(values);
    }
    // Always the same draws: the interval says something of the values and of nothing else.
    bootstrap(values, mean, stream(0, Purpose::Bootstrap, 0))
}

/// Returns the differences of pairs: what was measured with the same seed belongs together.
pub fn differences(left: &[f64], right: &[f64]) -> Vec<f64> {
    left.iter().zip(right).map(|(left, right)| left - right).collect()
}

/// Returns the ratios of pairs.
pub fn ratios(left: &[f64], right: &[f64]) -> Vec<f64> {
    left.iter().zip(right).map(|(left, right)| left / right).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, stream};

    #[test]
    fn students_interval_is_that_of_the_tables() {
        // t(0.975; 4) = 2.776, the deviation of 1..5 is 1.5811.
        let estimate = student(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        assert_eq!((estimate.mean, estimate.n), (3.0, 5));
        assert!((estimate.high - 4.963).abs() < 1e-3, "{estimate:?}");
        assert!((estimate.low - 1.037).abs() < 1e-3, "{estimate:?}");
    }

    #[test]
    fn one_value_has_an_interval_without_width() {
        assert_eq!(student(&[7.0]), Some(Estimate { mean: 7.0, low: 7.0, high: 7.0, n: 1 }));
        assert_eq!(student(&[]), None);
    }

    #[test]
    fn a_bootstrap_repeats_itself_and_contains_its_estimate() {
        let values: Vec<f64> = (0..40).map(|value| f64::from(value * value)).collect();
        let again = || bootstrap(&values, mean, stream(1, Purpose::Workload, 0)).unwrap();
        let estimate = again();
        assert_eq!(estimate, again());
        assert!(estimate.low < estimate.mean && estimate.mean < estimate.high, "{estimate:?}");
        // Within a tenth of what Student's t says of these.
        let student = student(&values).unwrap();
        assert!((estimate.high / student.high - 1.0).abs() < 0.1, "{estimate:?} {student:?}");
    }

    #[test]
    fn a_bootstrap_of_nothing_is_nothing() {
        assert_eq!(bootstrap(&[], mean, stream(1, Purpose::Workload, 0)), None);
    }

    #[test]
    fn pairs_are_compared_one_by_one() {
        assert_eq!(differences(&[3.0, 5.0], &[1.0, 7.0]), [2.0, -2.0]);
        assert_eq!(ratios(&[3.0, 5.0], &[1.0, 2.0]), [3.0, 2.5]);
    }

    #[test]
    fn a_skewed_sample_has_a_skewed_interval() {
        let skewed: Vec<f64> = (0..20).map(|step| if step == 0 { 100.0 } else { 1.0 }).collect();
        let Estimate { mean, low, high, .. } = interval(&skewed).unwrap();
        assert!(1.0 <= low && mean - low < high - mean, "{low} {mean} {high}");
        let even: Vec<f64> = (0..20).map(f64::from).collect();
        assert_eq!(interval(&even), student(&even));
    }
}
