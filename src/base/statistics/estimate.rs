//! An estimate and its interval, which probably contains the true value.

use rand::RngExt;
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::{mean, quantile_of_sorted, standard_deviation};
use crate::random::{ChaCha8Rng, Purpose, stream};

/// How often a bootstrap draws its sample again. Chosen: then fifty draws are beyond each end of
/// the interval.
const RESAMPLES: usize = 2_000;

/// How many values a bootstrap needs at least, by the table of [`interval`]: fewer values do not
/// show their distribution.
const ENOUGH: usize = 8;

/// The probability outside of an interval, on either side.
const TAIL: f64 = 0.025;

/// An estimate with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The estimate.
    pub mean: f64,
    /// The interval; `None` for one value.
    #[serde(flatten)]
    pub band: Option<Band>,
    /// The number of values.
    pub n: usize,
}

/// An interval. The estimate need not be its middle.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Band {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Band {
    /// Returns the part of the interval that a chart shows. A computed interval may reach
    /// impossible values, but a reader takes all of a drawn interval for possible. So the interval
    /// is cut at zero if no value is below zero. It is also cut at one if the values are shares,
    /// none of them above one.
    pub fn drawn(self, values: &[f64], shares: bool) -> Self {
        let all = |fits: fn(&f64) -> bool| values.iter().all(fits);
        let low = if all(|value| 0.0 <= *value) { 0.0 } else { f64::NEG_INFINITY };
        let high = if shares && all(|value| *value <= 1.0) { 1.0 } else { f64::INFINITY };
        Self { low: self.low.max(low), high: self.high.min(high) }
    }
}

/// Returns the mean with its 95 % interval; `None` without values.
///
/// For fewer than eight values it is Student's interval, which is right for values that scatter
/// symmetrically; for eight and more it is that of a bootstrap, which suits skewed values, too. The
/// table shows how often intervals of simulated samples contained the true mean (3,000 samples of
/// each kind):
///
/// | values | | normal | exponential | log-normal, σ = 0.5 | log-normal, σ = 1 |
/// |---|---|---|---|---|---|
/// | 8 | Student | 94.9 % | 88.9 % | 90.8 % | 82.4 % |
/// | | bootstrap | 94.5 % | 93.4 % | 92.7 % | 89.4 % |
/// | 12 | Student | 95.3 % | 90.5 % | 92.3 % | 85.4 % |
/// | | bootstrap | 94.7 % | 93.2 % | 93.6 % | 91.1 % |
/// | 20 | Student | 95.8 % | 91.6 % | 93.0 % | 86.5 % |
/// | | bootstrap | 95.6 % | 94.6 % | 94.0 % | 91.9 % |
///
/// Bootstraps of quantiles and BCa were below Student's in all of these cases.
pub fn interval(values: &[f64]) -> Option<Estimate> {
    let mean = mean(values)?;
    // Seed 0 whatever the seed of the run, so that equal values have equal intervals.
    let rng = stream(0, Purpose::Bootstrap, 0);
    let band = if values.len() < ENOUGH { None } else { bootstrap(values, rng) };
    Some(Estimate { mean, band: band.or_else(|| student(values)), n: values.len() })
}

/// Returns the differences of pairs; a pair has the measurements of one seed.
pub fn differences(left: &[f64], right: &[f64]) -> Vec<f64> {
    left.iter().zip(right).map(|(left, right)| left - right).collect()
}

/// Returns the standard error of the mean; `None` for fewer than two values.
fn standard_error(values: &[f64]) -> Option<f64> {
    Some(standard_deviation(values)? / (values.len() as f64).sqrt())
}

/// Returns the interval of Student's t; `None` for fewer than two values.
pub(super) fn student(values: &[f64]) -> Option<Band> {
    let (mean, error) = (mean(values)?, standard_error(values)?);
    let half = student_of(values.len()).inverse_cdf(1.0 - TAIL) * error;
    Some(Band { low: mean - half, high: mean + half })
}

/// Returns Student's distribution for this many values, at least two.
pub(super) fn student_of(values: usize) -> StudentsT {
    let freedom = values as f64 - 1.0;
    StudentsT::new(0.0, 1.0, freedom).expect("two values leave a degree of freedom")
}

/// Returns the interval of a studentised bootstrap. It is built like Student's interval, but its
/// quantiles of t come from samples drawn from `values`. `None` if too many of these samples have equal values.
fn bootstrap(values: &[f64], mut stream: ChaCha8Rng) -> Option<Band> {
    let (centre, error) = (mean(values)?, standard_error(values)?);
    let mut sample = values.to_vec();
    let mut drawn = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        sample.fill_with(|| values[stream.random_range(0..values.len())]);
        // A tiny error of equal values comes from rounding.
        let own = standard_error(&sample).filter(|own| 1e-9 * error < *own);
        // A sample of equal values has an infinite t. A few such samples are harmless extremes; if
        // too many reach the ends of the interval, there is none.
        drawn.push((mean(&sample)? - centre) / own.unwrap_or(0.0));
    }
    drawn.sort_unstable_by(f64::total_cmp);
    let end = |share| {
        let end = centre - quantile_of_sorted(&drawn, share)? * error;
        end.is_finite().then_some(end)
    };
    Some(Band { low: end(1.0 - TAIL)?, high: end(TAIL)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn students_interval_is_that_of_the_tables() {
        // t(0.975; 4) = 2.776, the deviation of 1..5 is 1.5811.
        let estimate = interval(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        assert_eq!((estimate.mean, estimate.n), (3.0, 5));
        let Band { low, high } = estimate.band.unwrap();
        assert!((high - 4.963).abs() < 1e-3 && (low - 1.037).abs() < 1e-3, "{estimate:?}");
    }

    #[test]
    fn one_value_has_no_interval() {
        assert_eq!(interval(&[7.0]), Some(Estimate { mean: 7.0, band: None, n: 1 }));
        assert_eq!(interval(&[]), None);
    }

    #[test]
    fn an_even_sample_has_nearly_students_interval() {
        let even: Vec<f64> = (0..20).map(f64::from).collect();
        let (ours, student) = (interval(&even).unwrap().band.unwrap(), student(&even).unwrap());
        let width = |band: Band| band.high - band.low;
        assert!((width(ours) / width(student) - 1.0).abs() < 0.1, "{ours:?} {student:?}");
        assert_eq!(interval(&even).unwrap().band, Some(ours), "the same draws each time");
    }

    #[test]
    fn a_skewed_sample_has_a_skewed_interval() {
        let skewed: Vec<f64> = (0..12).map(|step| (f64::from(step) / 3.0).exp()).collect();
        let Estimate { mean, band, .. } = interval(&skewed).unwrap();
        let Band { low, high } = band.unwrap();
        assert!(0.0 < low && 1.5 * (mean - low) < high - mean, "{low} {mean} {high}");
    }

    #[test]
    fn values_that_are_nearly_all_the_same_have_students_interval() {
        let mut values = [1.0; 20];
        assert_eq!(interval(&values).unwrap().band, Some(Band { low: 1.0, high: 1.0 }));
        values[0] = 100.0;
        assert_eq!(interval(&values).unwrap().band, student(&values));
    }

    #[test]
    fn an_interval_is_drawn_where_its_values_can_be() {
        let band = Band { low: -0.5, high: 1.5 };
        assert_eq!(band.drawn(&[0.0, 1.0], false), Band { low: 0.0, high: 1.5 });
        assert_eq!(band.drawn(&[0.0, 1.0], true), Band { low: 0.0, high: 1.0 });
        assert_eq!(band.drawn(&[-0.1, 1.1], true), band, "these are differences, or sums");
    }

    #[test]
    fn differences_are_of_what_stands_at_the_same_place() {
        assert_eq!(differences(&[3.0, 5.0], &[1.0, 7.0]), [2.0, -2.0]);
    }
}
