//! Statistics: means, quantiles, and how reliable they are.
//!
//! ```text
//! estimate   a mean with its 95 % interval, such as over the seeds of one cell
//! paired     the ratio of two sides over the same seeds, and whether it is chance
//! fit        the straight line through points
//! steady     whether a quantity drifts, and where a series has forgotten how it began
//! ```
//!
//! Every function takes a plain slice and documents its answer for an empty slice. Only
//! [`interval`] draws random numbers, the same ones each time.

mod estimate;
mod fit;
mod paired;
mod steady;

pub use estimate::{Band, Estimate, differences, interval};
pub use fit::LinearFit;
pub use paired::{
    HolmStep, LEVEL, MOST_PAIRS, Outlier, POWER, PairedRatio, holm, logarithms, outliers,
    pairs_to_decide,
};
pub use steady::{p_of_rise, warm_up};

/// Returns the arithmetic mean; `None` without values.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Returns the standard deviation of a sample (with n − 1); `None` for fewer than two values.
pub fn standard_deviation(values: &[f64]) -> Option<f64> {
    let mean = mean(values).filter(|_| 2 <= values.len())?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

/// Returns the quantile, interpolated between two neighbours as NumPy does; `None` without values.
///
/// `share` is from 0 to 1. Sorts a copy: use [`quantile_of_sorted`] for several quantiles of the
/// same values.
pub fn quantile(values: &[f64], share: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    quantile_of_sorted(&sorted, share)
}

/// Returns the quantile of values in ascending order; `None` without values.
pub fn quantile_of_sorted(sorted: &[f64], share: f64) -> Option<f64> {
    let place = share.clamp(0.0, 1.0) * sorted.len().checked_sub(1)? as f64;
    let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    Some(low + place.fract() * (high - low))
}

/// Returns the points of the empirical distribution: each value, in ascending order, with the share
/// of the values that are not above it.
pub fn distribution(values: &[f64]) -> Vec<(f64, f64)> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let mut points: Vec<(f64, f64)> = Vec::new();
    for (below, value) in (1..).zip(sorted) {
        let share = f64::from(below) / values.len() as f64;
        match points.last_mut() {
            // Equal values are one point, at the share of the last of them.
            Some(last) if last.0 == value => last.1 = share,
            _ => points.push((value, share)),
        }
    }
    points
}

/// Returns Jain's index of fairness: 1 if all have the same, 1/n if one has everything; `None` if
/// all values are zero.
pub fn jain(values: &[f64]) -> Option<f64> {
    let sum: f64 = values.iter().sum();
    let squares: f64 = values.iter().map(|value| value * value).sum();
    (squares != 0.0).then(|| sum * sum / (values.len() as f64 * squares))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_has_no_mean_and_one_value_no_deviation() {
        assert_eq!(mean(&[]), None);
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(standard_deviation(&[3.0]), None);
        assert_eq!(jain(&[0.0, 0.0]), None);
        assert!(distribution(&[]).is_empty());
    }

    #[test]
    fn quantiles_lie_between_two_values_as_in_numpy() {
        let values = [40.0, 10.0, 20.0, 30.0];
        assert_eq!(quantile(&values, 0.0), Some(10.0));
        assert_eq!(quantile(&values, 0.5), Some(25.0));
        assert_eq!(quantile(&values, 0.75), Some(32.5));
        assert_eq!(quantile(&values, 1.0), Some(40.0));
        assert_eq!(quantile_of_sorted(&[1.0, 2.0, 4.0], 0.5), Some(2.0));
        assert_eq!(quantile_of_sorted(&[1.0, 2.0, 4.0], 0.75), Some(3.0));
        assert_eq!(quantile_of_sorted(&[7.0], 0.95), Some(7.0));
    }

    #[test]
    fn the_deviation_is_that_of_a_sample() {
        assert_eq!(standard_deviation(&[1.0, 3.0]), Some(2.0_f64.sqrt()));
    }

    #[test]
    fn a_distribution_climbs_once_for_equal_values() {
        assert_eq!(distribution(&[2.0, 1.0, 2.0, 4.0]), [(1.0, 0.25), (2.0, 0.75), (4.0, 1.0)]);
    }

    #[test]
    fn jains_index_is_one_for_equals_and_a_share_for_a_monopoly() {
        assert_eq!(jain(&[5.0, 5.0, 5.0]), Some(1.0));
        assert_eq!(jain(&[5.0, 0.0, 0.0, 0.0]), Some(0.25));
    }

    proptest! {
        #[test]
        fn a_quantile_is_within_its_values_and_climbs(
            values in proptest::collection::vec(-1e6..1e6, 1..50),
            (low, high) in (0.0..=1.0, 0.0..=1.0),
        ) {
            let [low, high] = [f64::min(low, high), f64::max(low, high)]
                .map(|share| quantile(&values, share).unwrap());
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            prop_assert!(least <= low && low <= high && high <= most);
        }
    }
}
