//! Two sides that were measured in pairs, and whether they differ.
//!
//! Ratios are compared by their logarithms: then a over b is the exact opposite of b over a, and a
//! factor counts the same whatever the size of a pair. All tests are Student's, also for few pairs.

use statrs::distribution::ContinuousCDF;

use super::estimate::{Band, Estimate, student, student_of};
use super::{mean, quantile, standard_deviation};

/// The usual significance level: a result is significant if it would be less likely than this with
/// two sides that are alike.
pub const LEVEL: f64 = 0.05;

/// The usual power: the probability that the suggested number of pairs gives a significant result.
pub const POWER: f64 = 0.8;

/// The largest number of pairs that is suggested. Chosen: a difference that needs more pairs is too
/// small to matter.
pub const MOST_PAIRS: usize = 10_000;

/// A smaller difference of logarithms is rounding: a float has sixteen digits, and sums lose a few.
const ROUNDING: f64 = 1e-12;

/// The ratio of two sides: the geometric mean of the ratios of their pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairedRatio {
    /// The ratio with its 95 % interval.
    pub estimate: Estimate,
    /// How likely a ratio at least as far from one would be if both sides were alike, by the t test
    /// of the logarithms; `None` for one pair.
    pub p: Option<f64>,
    /// The mean of the logarithms.
    centre: f64,
    /// The standard deviation of the logarithms; `None` for one pair.
    deviation: Option<f64>,
}

impl PairedRatio {
    /// Returns the ratio of pairs; `None` without pairs, or if a number is not above zero.
    pub fn of(left: &[f64], right: &[f64]) -> Option<Self> {
        let logarithms = logarithms(left, right)?;
        let (centre, n) = (mean(&logarithms)?, logarithms.len());
        let deviation = standard_deviation(&logarithms);
        let band = student(&logarithms)
            .map(|Band { low, high }| Band { low: low.exp(), high: high.exp() });
        let p = deviation.map(|deviation| {
            let error = deviation / (n as f64).sqrt();
            match (centre == 0.0, error < ROUNDING) {
                (true, _) => 1.0,
                // All pairs have the same ratio: without scatter the result is not by chance.
                (false, true) => 0.0,
                (false, false) => 2.0 * student_of(n).cdf(-(centre / error).abs()),
            }
        });
        let estimate = Estimate { mean: centre.exp(), band, n };
        Some(Self { estimate, p, centre, deviation })
    }

    /// Returns whether both numbers of each pair are the same.
    pub fn is_same(&self) -> bool {
        self.centre == 0.0 && self.deviation.unwrap_or(0.0) == 0.0
    }

    /// Returns how many pairs a study needs so that four of five such studies find a significant
    /// result at a level ([`pairs_to_decide`]). The true ratio and the scatter are taken to be the
    /// sample's. `None` for one pair, which has no scatter, or if very many are needed.
    pub fn pairs_to_decide(&self, level: f64) -> Option<usize> {
        pairs_to_decide(self.centre, self.deviation?, level)
    }
}

/// Returns how many values are needed so that four of five samples tell their mean from a bound at a
/// level. `distance` is that of the mean from the bound, and `deviation` the scatter of the values.
/// `None` if more than [`MOST_PAIRS`] are needed.
///
/// This is the least n for which (t(1 − level / 2) + t(0.8)) s / √n is at most the distance; both
/// quantiles have n − 1 degrees of freedom. With the first quantile alone the end of the interval would
/// be expected *at* the bound, and every second sample would decide nothing.
pub fn pairs_to_decide(distance: f64, deviation: f64, level: f64) -> Option<usize> {
    let decides = |n: usize| {
        let t = student_of(n);
        let reach = t.inverse_cdf(1.0 - level / 2.0) + t.inverse_cdf(POWER);
        reach * deviation / (n as f64).sqrt() <= distance.abs()
    };
    if distance == 0.0 || !decides(MOST_PAIRS) {
        return None;
    }
    // Bisect: if the condition holds for some n, it holds for every larger n. One pair alone is
    // never significant, so `few` starts at one.
    let (mut few, mut enough) = (1, MOST_PAIRS);
    while few + 1 < enough {
        let middle = few.midpoint(enough);
        if decides(middle) { enough = middle } else { few = middle }
    }
    Some(enough)
}

/// Returns the logarithms of the ratios of pairs; `None` unless all numbers are above zero.
pub fn logarithms(left: &[f64], right: &[f64]) -> Option<Vec<f64>> {
    let ratios = left.iter().zip(right).map(|(left, right)| {
        let logarithm = (0.0 < *left && 0.0 < *right).then(|| (left / right).ln())?;
        // Runs that differ only by rounding count as the same.
        let logarithm = if logarithm.abs() < ROUNDING { 0.0 } else { logarithm };
        logarithm.is_finite().then_some(logarithm)
    });
    ratios.collect()
}

/// The result of Holm's method for one of several tests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HolmStep {
    /// The corrected p value: at most [`LEVEL`] if the test is significant among the others.
    pub p: f64,
    /// The level of its test: [`LEVEL`] over the number of tests that were left.
    pub level: f64,
    /// Its rank, from the smallest p value on.
    pub rank: usize,
}

/// Corrects the p values of several tests by Holm's method, so that with 95 % probability all
/// significant results are right: the smallest p value is multiplied by the number of tests, the
/// next by one less, and so on; no result is smaller than the one before it.
pub fn holm(values: &[f64]) -> Vec<HolmStep> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut steps = vec![HolmStep { p: 1.0, level: LEVEL, rank: 0 }; values.len()];
    let mut before: f64 = 0.0;
    for (rank, place) in order.into_iter().enumerate() {
        let left = (values.len() - rank) as f64;
        before = before.max((left * values[place]).min(1.0));
        steps[place] = HolmStep { p: before, level: LEVEL / left, rank };
    }
    steps
}

/// A value that is far from the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outlier {
    /// The index of the value.
    pub place: usize,
    /// The distance from the median, in robust standard deviations; infinite if more than half of
    /// the values are the same.
    pub distance: f64,
}

/// Returns the outliers among the logarithms of ratios: the values that are far from the others.
///
/// Far is more than eight robust standard deviations (1.4826 times the median of the distances from
/// the median); for five to seven values it is more than twenty, and fewer values have no outliers.
/// Less than one in a hundred normal samples has such a value. A value within a hundredth of the
/// median is never far. If more than one value in five is far, the values are of two kinds, and
/// none is an outlier.
pub fn outliers(logarithms: &[f64]) -> Vec<Outlier> {
    let far = match logarithms.len() {
        0..=4 => return Vec::new(),
        5..=7 => 20.0,
        _ => 8.0,
    };
    let Some(median) = quantile(logarithms, 0.5) else { return Vec::new() };
    let off: Vec<f64> = logarithms.iter().map(|value| (value - median).abs()).collect();
    let deviation = 1.4826 * quantile(&off, 0.5).unwrap_or_default();
    let outliers = off.iter().enumerate().filter_map(|(place, off)| {
        // More than half of the values are equal: any other value is infinitely far by this
        // measure.
        let distance = if deviation < ROUNDING { f64::INFINITY } else { off / deviation };
        (0.01 < *off && far < distance).then_some(Outlier { place, distance })
    });
    let found: Vec<Outlier> = outliers.collect();
    if 5 * found.len() <= logarithms.len() { found } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand_distr::{Distribution, StandardNormal};

    use super::*;
    use crate::random::{Purpose, stream};

    /// Returns the ratio of pairs with these logarithms.
    fn ratio(logarithms: &[f64]) -> PairedRatio {
        let left: Vec<f64> = logarithms.iter().map(|value| value.exp()).collect();
        PairedRatio::of(&left, &vec![1.0; left.len()]).unwrap()
    }

    fn assert_near(ours: f64, hand: f64, off: f64) {
        assert!((ours - hand).abs() < off, "{ours}, by hand {hand}");
    }

    #[test]
    fn the_interval_and_p_are_those_of_the_tables() {
        // The mean is 0.3, the deviation 0.15811, the error of five 0.070711; t(0.975; 4) = 2.7764.
        let found = ratio(&[0.1, 0.2, 0.3, 0.4, 0.5]);
        let Estimate { mean, band: Some(Band { low, high }), n: 5 } = found.estimate else {
            panic!("{found:?}")
        };
        assert_near(mean.ln(), 0.3, 1e-9);
        assert_near(low.ln(), 0.3 - 2.7764 * 0.070711, 1e-4);
        assert_near(high.ln(), 0.3 + 2.7764 * 0.070711, 1e-4);
        // t = 0.3 / 0.070711 = 4.2426 lies between t(0.99; 4) = 3.747 and t(0.995; 4) = 4.604. With
        // four degrees of freedom P(|T| > t) = 1 − sin a (1 + cos² a / 2), where tan a = t / 2.
        let (sin, cos) = (4.2426_f64 / 2.0).atan().sin_cos();
        assert_near(found.p.unwrap(), 1.0 - sin * (1.0 + cos * cos / 2.0), 1e-6);
        assert_near(found.p.unwrap(), 0.0132, 1e-4);
        // Two pairs have Cauchy's distribution: mean 0.2, error 0.1, t = 2, P = 1 − 2 atan(2) / π.
        assert_near(ratio(&[0.1, 0.3]).p.unwrap(), 0.29517, 1e-5);
    }

    #[test]
    fn one_pair_tells_no_scatter_and_zeros_have_no_ratio() {
        let one = ratio(&[0.5]);
        assert_eq!((one.estimate.band, one.p, one.pairs_to_decide(0.05)), (None, None, None));
        for (left, right) in [([0.0, 1.0], [1.0, 1.0]), ([1.0, -1.0], [1.0, -1.0])] {
            assert_eq!(PairedRatio::of(&left, &right), None);
        }
        assert_eq!(PairedRatio::of(&[], &[]), None);
    }

    #[test]
    fn equal_runs_decide_nothing_and_equal_differences_decide() {
        let same = PairedRatio::of(&[0.1 + 0.2, 5.0], &[0.3, 5.0]).unwrap();
        assert!(same.is_same() && same.p == Some(1.0) && same.pairs_to_decide(0.05).is_none());
        let other = PairedRatio::of(&[2.0, 4.0, 6.0], &[1.0, 2.0, 3.0]).unwrap();
        assert_eq!((other.p, other.is_same()), (Some(0.0), false));
        assert_eq!(other.pairs_to_decide(0.05), Some(2));
    }

    #[test]
    fn so_many_pairs_decide_as_the_quantiles_of_t_say() {
        // Mean 0.1 and deviation 0.1581: a reach of 0.6325 deviations. By the tables: n = 22:
        // (2.0796 + 0.8591) / √22 = 0.6265; n = 21: (2.0860 + 0.8600) / √21 = 0.6429.
        let found = ratio(&[-0.1, 0.0, 0.1, 0.2, 0.3]);
        assert_eq!(found.pairs_to_decide(0.05), Some(22));
        // With normal quantiles 20 would seem to do: ((1.9600 + 0.8416) / 0.6325)² = 19.6. The
        // level of the first of five tests takes more. n = 33: (2.7385 + 0.8530) / √33 = 0.6252; n
        // = 32: (2.7440 + 0.8534) / √32 = 0.6359.
        assert_eq!(found.pairs_to_decide(0.01), Some(33));
        assert_eq!(ratio(&[-0.1, 0.1001]).pairs_to_decide(0.05), None, "far too many");
    }

    #[test]
    fn so_many_pairs_do_decide_in_four_of_five_studies() {
        let n = ratio(&[-0.1, 0.0, 0.1, 0.2, 0.3]).pairs_to_decide(0.05).unwrap();
        let mut rng = stream(1, Purpose::Bootstrap, 0);
        let mut study = |n: usize| {
            let draw = |_| {
                let normal: f64 = StandardNormal.sample(&mut rng);
                0.1 + 0.025_f64.sqrt() * normal
            };
            ratio(&(0..n).map(draw).collect::<Vec<_>>()).p.unwrap() <= LEVEL
        };
        let decided = (0..2_000).filter(|_| study(n)).count();
        assert_near(decided as f64 / 2_000.0, POWER, 0.03);
    }

    #[test]
    fn holms_steps_are_those_of_the_book() {
        // Sorted: 0.005, 0.01, 0.03, 0.04; times 4, 3, 2, 1 they are 0.02, 0.03, 0.06, 0.04; the
        // last becomes no smaller than the one before it.
        let steps = holm(&[0.01, 0.04, 0.03, 0.005]);
        let told: Vec<(f64, usize)> =
            steps.iter().map(|step| ((step.p * 1e9).round() / 1e9, step.rank)).collect();
        assert_eq!(told, [(0.03, 1), (0.06, 3), (0.06, 2), (0.02, 0)]);
        let levels: Vec<f64> = steps.iter().map(|step| 0.05 / step.level).collect();
        assert_eq!(
            levels.iter().map(|left| left.round()).collect::<Vec<_>>(),
            [3.0, 1.0, 2.0, 4.0]
        );
        assert_eq!(holm(&[0.4, 0.9]).iter().map(|step| step.p).collect::<Vec<_>>(), [0.8, 0.9]);
        assert_eq!(holm(&[0.7, 0.6]).iter().map(|step| step.p).collect::<Vec<_>>(), [1.0, 1.0]);
        assert!(holm(&[]).is_empty());
    }

    #[test]
    fn an_outlier_lies_far_from_the_median() {
        // The median is 0.04, the distances 0.04 0.03 0.02 0.01 0 0.01 0.02 0.03, and 0.96: their
        // median is 0.02, a robust deviation 0.029652.
        let mut values = [0.0, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 1.0];
        let found = outliers(&values);
        assert_eq!((found.len(), found[0].place), (1, 8));
        assert_near(found[0].distance, 0.96 / 0.029652, 1e-3);
        values[8] = 0.04 + 7.9 * 0.029652;
        assert!(outliers(&values).is_empty());
        // For five values far is twenty deviations: the deviation is 0.014826.
        assert!(outliers(&[0.0, 0.01, 0.02, 0.03, 0.02 + 19.0 * 0.014826]).is_empty());
        assert_eq!(outliers(&[0.0, 0.01, 0.02, 0.03, 0.02 + 21.0 * 0.014826]).len(), 1);
        assert!(outliers(&[0.0, 0.0, 0.0, 9.0]).is_empty(), "four do not tell");
    }

    #[test]
    fn where_most_are_the_same_another_is_told_unless_it_hardly_differs() {
        let found = outliers(&[0.0, 0.0, 0.0, 0.0, 0.0, 0.5]);
        assert_eq!(found, [Outlier { place: 5, distance: f64::INFINITY }]);
        assert!(outliers(&[0.0, 0.0, 0.0, 0.0, 0.0, 0.009]).is_empty());
        assert!(outliers(&[0.0, 0.0, 0.0, 0.5, 0.5]).is_empty(), "two of five are of another kind");
    }

    #[test]
    fn less_than_one_normal_sample_in_a_hundred_has_an_outlier() {
        let mut rng = stream(2, Purpose::Bootstrap, 0);
        for n in [5, 6, 7, 8, 12, 30] {
            let mut sample = |_: &usize| {
                let values: Vec<f64> = (0..n).map(|_| StandardNormal.sample(&mut rng)).collect();
                !outliers(&values).is_empty()
            };
            let found = (0..3_000).filter(|draw| sample(draw)).count();
            assert!(found <= 40, "{found} of 3,000 samples of {n}");
        }
    }

    proptest! {
        #[test]
        fn the_reverse_of_a_ratio_is_the_ratio_of_the_reverse(
            pairs in proptest::collection::vec((1e-3..1e6, 1e-3..1e6), 1..20),
        ) {
            let (left, right): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
            let there = PairedRatio::of(&left, &right).unwrap();
            let back = PairedRatio::of(&right, &left).unwrap();
            let same = |a: f64, b: f64| (a * b - 1.0).abs() < 1e-6;
            prop_assert!(same(there.estimate.mean, back.estimate.mean));
            if let (Some(there), Some(back)) = (there.estimate.band, back.estimate.band) {
                // An end may be beyond all floats.
                let ends = [there.low, there.high, back.low, back.high];
                if ends.iter().all(|end| (1e-200..1e200).contains(end)) {
                    prop_assert!(same(there.low, back.high) && same(there.high, back.low));
                }
            }
            prop_assert_eq!(there.p.is_some(), 1 < left.len());
            if let (Some(there), Some(back)) = (there.p, back.p) {
                prop_assert!((there - back).abs() < 1e-9);
            }
            prop_assert_eq!(there.pairs_to_decide(LEVEL), back.pairs_to_decide(LEVEL));
        }

        #[test]
        fn a_ratio_is_decided_if_its_interval_leaves_out_one(
            logarithms in proptest::collection::vec(-0.5..0.6, 2..12),
        ) {
            let PairedRatio { estimate, p, .. } = ratio(&logarithms);
            let Band { low, high } = estimate.band.unwrap();
            prop_assert_eq!(p.unwrap() <= LEVEL, 1.0 < low || high < 1.0);
        }
    }
}
