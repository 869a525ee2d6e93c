//! Two sides, paired by seed: their ratio, and whether they differ.
//!
//! ```text
//! mean(sojourn), 20 nodes     seed 1   seed 2   seed 3
//!   fair (base)                 100      140      120
//!   hfsp                         70       99       83
//!   ratio                      0.70     0.71     0.69   -> 0.70 times, a narrow interval: `less`
//! ```
//! Runs of one seed have the same jobs and the same random draws, so the ratio varies much less
//! than either side. All pairs of one metric in one cell are a family: Holm's method corrects their
//! p values, but not their intervals.

use serde::Serialize;

use mumakil_base::statistics::{
    Band, Estimate, LEVEL, MOST_PAIRS, PairedRatio, differences, holm, interval, logarithms,
    outliers, quantile,
};
use mumakil_base::units::tell::{count, counted, significant};
use mumakil_base::worded;
use mumakil_results::expect::Unit;

worded! {
    /// The verdict on a ratio: whether the two sides differ.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum RatioVerdict {
        /// The ratio is below one.
        Less = "less",
        /// The ratio is above one.
        More = "more",
        /// Both sides are equal with every seed.
        Same = "same",
        /// The ratio may be one.
        Undecided = "undecided",
        /// There is no ratio: a number is missing, or not above zero.
        Unknown = "unknown",
    }
}

impl RatioVerdict {
    /// Returns whether the sides are known to differ, or to be equal.
    pub fn is_decided(self) -> bool {
        matches!(self, Self::Less | Self::More | Self::Same)
    }
}

/// Two sides with their difference, ratio and verdict.
#[derive(Clone, Debug, Serialize)]
pub struct Pair {
    /// The indices of the base and of the other side.
    #[serde(skip)]
    pub places: (usize, usize),
    /// The number of seeds, and the number of seeds with which both sides have a number.
    #[serde(skip)]
    seeds: (usize, usize),
    /// The mean of the differences by seed: the number of the other side minus that of the base.
    pub difference: Option<Estimate>,
    /// The geometric mean of the ratios by seed: the number of the other side divided by that of the
    /// base.
    pub ratio: Option<Estimate>,
    /// The p value, corrected for all pairs of the family: the probability of a ratio at least this
    /// far from one if the two sides do not differ.
    pub p: Option<f64>,
    /// The verdict on the ratio.
    pub verdict: RatioVerdict,
    /// The number of further seeds that would probably decide the verdict; `None` if the verdict is
    /// decided or unknown, or if too many seeds would be needed.
    pub more_seeds: Option<usize>,
    /// The number of pairs in its family that have a p value.
    #[serde(skip)]
    family: usize,
    /// The seeds whose ratios are far from those of the others.
    #[serde(skip)]
    pub outliers: Vec<OutlyingRatio>,
}

/// A ratio that is far from those of the other seeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OutlyingRatio {
    /// The index of the seed.
    pub seed: usize,
    /// The ratio.
    pub ratio: f64,
    /// The median of all ratios.
    pub median: f64,
    /// Its distance from the median in robust standard deviations; infinite if most ratios are equal.
    pub distance: f64,
}

/// Returns the pairs of a family with their ratios and verdicts. `numbers` returns the numbers of a
/// side, seed by seed; `None` if there is no such side.
pub fn family<'n>(
    pairs: &[(usize, usize)],
    numbers: impl Fn(usize) -> Option<&'n [Option<f64>]>,
) -> Vec<Pair> {
    let both =
        pairs.iter().filter_map(|places| Some((*places, numbers(places.0)?, numbers(places.1)?)));
    let found: Vec<_> = both.collect();
    let (mut made, mut ratios) = (Vec::new(), Vec::new());
    for (places, base, other) in found {
        let (seeds, left, right) = paired(other, base);
        let ratio = PairedRatio::of(&left, &right);
        // Use logarithms: the ratios 2 and 1/2 are then equally far from 1.
        let logarithms = logarithms(&left, &right).filter(|_| ratio.is_some()).unwrap_or_default();
        let median = quantile(&logarithms, 0.5).map_or(f64::NAN, f64::exp);
        let outlying = outliers(&logarithms).into_iter().map(|far| OutlyingRatio {
            seed: seeds[far.place],
            ratio: logarithms[far.place].exp(),
            median,
            distance: far.distance,
        });
        made.push(Pair {
            places,
            seeds: (base.len(), left.len()),
            difference: interval(&differences(&left, &right)),
            ratio: ratio.map(|ratio| ratio.estimate),
            p: None,
            verdict: match &ratio {
                Some(_) => RatioVerdict::Undecided,
                // Two zeros have no ratio, and yet they are equal.
                None if !left.is_empty() && left == right => RatioVerdict::Same,
                None => RatioVerdict::Unknown,
            },
            more_seeds: None,
            family: 0,
            outliers: outlying.collect(),
        });
        ratios.push(ratio);
    }
    judge(&mut made, &ratios);
    made
}

/// Sets the verdicts on all ratios of a family.
fn judge(pairs: &mut [Pair], ratios: &[Option<PairedRatio>]) {
    let ranked = ratios.iter().enumerate().filter_map(|(place, ratio)| {
        let ratio = (*ratio)?;
        Some((place, ratio, ratio.p?))
    });
    let tested: Vec<(usize, PairedRatio, f64)> = ranked.collect();
    let steps = holm(&tested.iter().map(|(.., p)| *p).collect::<Vec<_>>());
    let mut order: Vec<_> = tested.iter().zip(&steps).collect();
    order.sort_by_key(|(_, step)| step.rank);
    // Holm's method decides pairs in the order of p and stops at the first undecided one, so each
    // pair needs at least as many seeds as the pairs before it.
    let mut needed = Some(0);
    for ((place, ratio, _), step) in order {
        let pair = &mut pairs[*place];
        pair.p = Some(step.p);
        pair.family = tested.len();
        pair.verdict = match ratio.estimate.mean {
            // Test this before the p value, which says nothing if all ratios are one.
            _ if ratio.is_same() => RatioVerdict::Same,
            _ if LEVEL < step.p => RatioVerdict::Undecided,
            mean if mean < 1.0 => RatioVerdict::Less,
            _ => RatioVerdict::More,
        };
        if pair.verdict == RatioVerdict::Undecided {
            let own = ratio.pairs_to_decide(step.level);
            needed = needed.zip(own).map(|(before, own): (usize, usize)| before.max(own));
            let n = ratio.estimate.n;
            // The pair is undecided: at least one more seed is needed, whatever the estimate says.
            pair.more_seeds = needed.map(|needed| needed.saturating_sub(n).max(1));
        }
    }
}

/// Returns the indices of the seeds with which both sides have a number, and these numbers.
fn paired(left: &[Option<f64>], right: &[Option<f64>]) -> (Vec<usize>, Vec<f64>, Vec<f64>) {
    let pairs = left.iter().zip(right).enumerate();
    let both = pairs.filter_map(|(seed, (left, right))| Some((seed, (*left)?, (*right)?)));
    both.collect()
}

impl Pair {
    /// Returns the result in words; `unit` is the unit of the compared numbers.
    pub fn words(&self, unit: Unit) -> String {
        let (seeds, n) = self.seeds;
        let some = (n < seeds).then(|| format!("{n} of {}", counted(seeds as u64, "seed")));
        match (self.verdict, some) {
            (RatioVerdict::Same, None) => {
                format!("the same with all of {}", counted(n as u64, "seed"))
            }
            (RatioVerdict::Same, Some(some)) => format!("the same with {some}"),
            (_, None) => self.differing(unit),
            (_, Some(some)) => format!("{}, with {some}", self.differing(unit)),
        }
    }

    /// Returns the result in words, for any verdict but `Same`.
    fn differing(&self, unit: Unit) -> String {
        let Some(Estimate { mean, band, .. }) = self.ratio else {
            return "no ratio, for not all numbers are there and above zero".to_owned();
        };
        // One seed has no spread, and so it has no interval.
        let Some(Band { low, high }) = band else {
            let [mean] = shown_ratios([mean]);
            return format!("{mean} times with one seed, undecided; more would tell (sweep.seeds)");
        };
        let [times, low_told, high_told] = shown_ratios([mean, low, high]);
        let undecided = || match self.family {
            // The interval alone would decide; only the correction for the family makes the pair
            // undecided.
            family if 1.0 < low || high < 1.0 => {
                format!("undecided among {}", counted(family as u64, "comparison"))
            }
            _ => "undecided".to_owned(),
        };
        match self.verdict {
            RatioVerdict::Less | RatioVerdict::More => {
                format!("{} ({times} times, {low_told} to {high_told})", by(mean, unit))
            }
            RatioVerdict::Undecided | RatioVerdict::Unknown | RatioVerdict::Same => {
                let more = match self.more_seeds {
                    Some(more) => {
                        format!("about {} more would decide", counted(more as u64, "seed"))
                    }
                    None => format!("more than {} seeds would be needed", count(MOST_PAIRS as u64)),
                };
                format!("{times} times ({low_told} to {high_told}), {}; {more}", undecided())
            }
        }
    }
}

/// Returns the distance of a ratio from one, in words: `shorter by 7 %`.
fn by(ratio: f64, unit: Unit) -> String {
    let is_time = unit == Unit::TIME;
    // Only an end at zero is shorter by all of it: `by 99.8 %`.
    let percent = |off: f64| {
        let mut texts = (2..=9).map(|digits| significant(off * 100.0, digits));
        let told = texts.find(|text| text != "100" || 1.0 <= off);
        format!("by {} %", told.unwrap_or_else(|| "100".to_owned()))
    };
    // Cap the ratio: a base of nearly zero gives a number that fills the line.
    match (ratio.min(1e100), is_time) {
        (times @ 2.0.., true) => format!("takes {} times as long", significant(times, 3)),
        (times @ 2.0.., false) => format!("is {} times as much", significant(times, 3)),
        (1.0.., true) => format!("longer {}", percent(ratio - 1.0)),
        (1.0.., false) => format!("higher {}", percent(ratio - 1.0)),
        (_, true) => format!("shorter {}", percent(1.0 - ratio)),
        (_, false) => format!("lower {}", percent(1.0 - ratio)),
    }
}

/// Prints ratios that stand together, with enough decimals to show how far apart they are. If all
/// ratios are below one, or all above, they also get enough decimals to differ from one. A small
/// ratio has two significant digits beside large ones: no ratio but zero is printed as zero.
pub fn shown_ratios<const N: usize>(ratios: [f64; N]) -> [String; N] {
    let ends = |worst: fn(f64, f64) -> f64| ratios.into_iter().reduce(worst).unwrap_or(1.0);
    let (low, high) = (ends(f64::min), ends(f64::max));
    // A single ratio has no width: use two decimals.
    let width = if low < high { high - low } else { 1.0 };
    let least: f64 = if high < 10.0 { 2.0 } else { 0.0 };
    let mut decimals = (1.0 - width.log10().floor()).clamp(least, 6.0) as usize;
    let is_off = 1.0 < low || high < 1.0;
    while is_off
        && decimals < 6
        && ratios.iter().any(|ratio| format!("{ratio:.decimals$}") == format!("{:.decimals$}", 1.0))
    {
        decimals += 1;
    }
    ratios.map(|ratio| match ratio {
        // Only a very wide interval has so large an end.
        1e100.. => "∞".to_owned(),
        1e6.. => significant(ratio, 3),
        // A ratio that would have fewer than two digits gets decimals of its own.
        1e-6..10.0 if ratio * 10f64.powi(decimals as i32) < 9.5 => {
            format!("{ratio:.*}", (1.0 - ratio.log10().floor()) as usize)
        }
        ..1e-6 if 0.0 < ratio => significant(ratio, 2),
        _ => format!("{ratio:.decimals$}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the pairs of some values: against the first value, or each with each.
    fn pairs(all: bool, numbers: &[&[f64]]) -> Vec<Pair> {
        let sides = 0..numbers.len();
        let with = |base| sides.clone().skip(base + 1).map(move |other| (base, other));
        let compared: Vec<_> =
            if all { sides.clone().flat_map(with).collect() } else { with(0).collect() };
        let numbers: Vec<Vec<Option<f64>>> =
            numbers.iter().map(|numbers| numbers.iter().copied().map(Some).collect()).collect();
        family(&compared, |value| Some(&numbers[value][..]))
    }

    fn words(base: &[f64], other: &[f64], unit: Unit) -> String {
        pairs(false, &[base, other])[0].words(unit)
    }

    /// Returns the numbers that have these logarithms.
    fn numbers(logarithms: &[f64]) -> Vec<f64> {
        logarithms.iter().map(|value| value.exp()).collect()
    }

    #[test]
    fn decided_comparisons_are_told_in_plain_words() {
        // Logarithms -0.10, -0.08, -0.06: mean -0.08, error 0.011547, t(0.975; 2) = 4.3027. So the
        // interval is from exp(-0.12968) = 0.8784 to exp(-0.03032) = 0.9701.
        let less = numbers(&[-0.10, -0.08, -0.06]);
        let one = [1.0; 3];
        assert_eq!(
            words(&one, &less, Unit::TIME),
            "shorter by 7.7 % (0.923 times, 0.878 to 0.970)"
        );
        assert_eq!(words(&one, &less, Unit::SHARE), "lower by 7.7 % (0.923 times, 0.878 to 0.970)");
        // With the sides exchanged, the ratio is exp(0.08) = 1.0833, from 1.0308 to 1.1385.
        assert_eq!(words(&less, &one, Unit::TIME), "longer by 8.3 % (1.08 times, 1.03 to 1.14)");
        assert_eq!(words(&less, &one, Unit::PLAIN), "higher by 8.3 % (1.08 times, 1.03 to 1.14)");
        let more = [3.0, 3.0, 3.0];
        assert_eq!(
            words(&one, &more, Unit::TIME),
            "takes 3 times as long (3.00 times, 3.00 to 3.00)"
        );
        assert_eq!(words(&one, &one, Unit::TIME), "the same with all of 3 seeds");
    }

    #[test]
    fn undecided_comparisons_say_how_many_seeds_would_decide() {
        // The mean is 0.1, the deviation 0.1581: 22 seeds are needed, and five exist.
        let other = numbers(&[-0.1, 0.0, 0.1, 0.2, 0.3]);
        // The logarithm is 0.1 ± 2.7764 · 0.070711, so the interval is from exp(-0.0963) to
        // exp(0.2963).
        assert_eq!(
            words(&[1.0; 5], &other, Unit::TIME),
            "1.11 times (0.91 to 1.34), undecided; about 17 seeds more would decide"
        );
        assert_eq!(
            words(&[1.0; 2], &numbers(&[0.1, -0.1001]), Unit::TIME),
            "1.00 times (0.28 to 3.57), undecided; more than 10,000 seeds would be needed"
        );
        assert_eq!(
            words(&[1.0], &[0.5], Unit::TIME),
            "0.50 times with one seed, undecided; more would tell (sweep.seeds)"
        );
        let none = "no ratio, for not all numbers are there and above zero";
        assert_eq!(words(&[1.0, 0.0], &[2.0, 0.0], Unit::SHARE), none);
        assert_eq!(words(&[1.0, 0.0], &[1.0, 0.0], Unit::SHARE), "the same with all of 2 seeds");
        // A seed that lacks a number on one side is counted, but not compared.
        let some = [vec![Some(1.0), Some(2.0), None], vec![Some(1.0), Some(2.0), Some(9.0)]];
        let pair = &family(&[(0, 1)], |value| Some(&some[value][..]))[0];
        assert_eq!(pair.words(Unit::TIME), "the same with 2 of 3 seeds");
        assert_eq!(words(&[], &[], Unit::SHARE), none);
    }

    #[test]
    fn one_pair_may_decide_where_many_do_not() {
        // Alone, t = 0.1 / 0.025820 = 3.873 with three degrees of freedom: p = 0.0305.
        let near = numbers(&[0.04, 0.08, 0.12, 0.16]);
        assert_eq!(pairs(false, &[&[1.0; 4], &near])[0].verdict, RatioVerdict::More);
        // In a family with two pairs of larger p, Holm's method multiplies this p by three: 0.0914.
        let vague = numbers(&[0.3, -0.3, 0.1, -0.2]);
        let vaguer = numbers(&[0.5, -0.5, 0.1, -0.2]);
        let three = pairs(false, &[&[1.0; 4], &vague, &near, &vaguer]);
        let near = &three[1];
        assert_eq!(near.verdict, RatioVerdict::Undecided);
        assert!((near.p.unwrap() - 0.0914).abs() < 1e-4, "{:?}", near.p);
        let told = near.words(Unit::TIME);
        assert!(
            told.starts_with("1.11 times (1.02 to 1.20), undecided among 3 comparisons; about ")
        );
        // The pairs tested after `near` cannot be decided with fewer seeds than `near`.
        assert!(
            three
                .iter()
                .all(|pair| pair.more_seeds.is_none() || near.more_seeds <= pair.more_seeds),
            "{three:?}"
        );
    }

    #[test]
    fn pairs_that_are_decided_leave_their_part_of_the_level_to_the_others() {
        // Again p is 0.0305, but the pair is the last of three, and the first two are beyond doubt.
        let near = [0.04, 0.08, 0.12, 0.16];
        let far = |by: f64| numbers(&near.map(|value| by + value / 10.0));
        let three = pairs(false, &[&[1.0; 4], &far(1.0), &numbers(&near), &far(2.0)]);
        assert!(three.iter().all(|pair| pair.verdict == RatioVerdict::More), "{three:?}");
        assert!((three[1].p.unwrap() - 0.0305).abs() < 1e-4, "{:?}", three[1].p);
    }

    #[test]
    fn only_seeds_that_both_sides_have_are_paired() {
        let base = [Some(1.0), None, Some(2.0), Some(4.0)];
        let other = [Some(2.0), Some(9.0), None, Some(8.0)];
        let pair = &family(&[(0, 1)], |value| Some(if value == 0 { &base[..] } else { &other }))[0];
        let ratio = pair.ratio.unwrap();
        assert!((ratio.mean - 2.0).abs() < 1e-12 && ratio.n == 2, "{ratio:?}");
        assert!(family(&[(0, 1)], |value| (value == 0).then_some(&base[..])).is_empty());
    }

    #[test]
    fn an_outlier_keeps_the_place_of_its_seed() {
        let base = [None, Some(1.0), Some(1.0), Some(1.0), Some(1.0), Some(1.0)];
        let mut other = base.map(|number| number.map(|number: f64| number * 1.1));
        other[4] = Some(9.0);
        let pair = &family(&[(0, 1)], |value| Some(if value == 0 { &base[..] } else { &other }))[0];
        assert_eq!(pair.outliers.len(), 1);
        let OutlyingRatio { seed, ratio, distance, .. } = pair.outliers[0];
        assert!((seed, distance) == (4, f64::INFINITY) && (ratio - 9.0).abs() < 1e-9);
    }

    #[test]
    fn ratios_show_how_far_they_are_apart_and_that_they_are_not_one() {
        assert_eq!(shown_ratios([0.93, 0.87, 1.01]), ["0.93", "0.87", "1.01"]);
        assert_eq!(shown_ratios([0.998, 0.9971, 0.9989]), ["0.9980", "0.9971", "0.9989"]);
        assert_eq!(shown_ratios([1.05, 1.001, 1.2]), ["1.050", "1.001", "1.200"]);
        assert_eq!(shown_ratios([250.0, 200.0, 312.0]), ["250", "200", "312"]);
        assert_eq!(shown_ratios([1.0, 1.0, 1.0]), ["1.00", "1.00", "1.00"]);
        assert_eq!(shown_ratios([2.0, 0.0, f64::INFINITY]), ["2.0", "0", "∞"]);
        assert_eq!(shown_ratios([3.256, 0.174, 60.9]), ["3.3", "0.17", "61"]);
        assert_eq!(shown_ratios([1.0, 0.0021, 480.0]), ["1.0", "0.0021", "480"]);
        assert_eq!(by(f64::INFINITY, Unit::PLAIN), "is 10¹⁰⁰ times as much");
    }
}
