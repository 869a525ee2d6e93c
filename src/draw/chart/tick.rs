//! The ticks of an axis and their labels.
//!
//! On a linear axis, steps are 1, 2 or 5 times a power of ten. Times have the round steps of a
//! clock instead. Sizes have steps of 1, 2 or 5 times a power of ten in KiB, MiB and so on. On a
//! logarithmic axis, ticks are decades, round times of a clock, or powers of two, with minor ticks
//! between them.

use super::unit::AxisUnit;
use mumakil_base::units::tell::{grouped, power, significant};

/// A tick; a minor tick has no label.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    pub(super) value: f64,
    pub(super) label: Option<String>,
}

/// Ticks, and the unit for the title of the axis; the unit is empty if the labels contain it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ticks {
    pub(super) ticks: Vec<Tick>,
    pub(super) unit: &'static str,
}

/// Returns the smallest round step that is at least `least`.
pub(super) fn step(unit: AxisUnit, least: f64) -> f64 {
    const CLOCK: [f64; 20] = [
        1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1_200.0, 1_800.0, 3_600.0,
        7_200.0, 10_800.0, 21_600.0, 43_200.0, 86_400.0, 172_800.0, 432_000.0,
    ];
    match unit {
        AxisUnit::Plain | AxisUnit::Ratio | AxisUnit::Share => decimal(least),
        AxisUnit::Count => decimal(least).max(1.0),
        AxisUnit::Seconds if least <= 0.5 => decimal(least),
        AxisUnit::Seconds => {
            let known = CLOCK.into_iter().find(|step| least <= *step);
            known.unwrap_or_else(|| decimal(least / 86_400.0) * 86_400.0)
        }
        AxisUnit::Bytes => {
            let part = unit.of_ticks(least).size;
            let within = decimal(least / part);
            // 1,000 KiB would be an odd step: take 1 MiB.
            if within < 1_000.0 { (within * part).max(1.0) } else { 1_024.0 * part }
        }
    }
}

fn decimal(least: f64) -> f64 {
    let power = 10f64.powi(least.log10().floor() as i32);
    let nice = [1.0, 2.0, 5.0].into_iter().map(|m| m * power);
    // The slack allows for rounding errors of logarithms.
    nice.into_iter().find(|step| least <= step * (1.0 + 1e-9)).unwrap_or(10.0 * power)
}

/// Returns the ticks at the multiples of `step` from `low` to `high`.
pub(super) fn linear(unit: AxisUnit, low: f64, high: f64, step: f64) -> Ticks {
    let part = unit.of_ticks(step);
    let unit = part.name;
    // Use as many decimals as the step needs. The slack keeps rounding errors from giving a step of
    // 0.1 two decimals.
    let decimals = (-(step / part.size).log10() - 1e-9).ceil().clamp(0.0, 12.0) as usize;
    let label = |value: f64| match value / part.size {
        shown if 1e15 <= shown.abs() => power(shown),
        // Write a power of ten instead of many zeros behind the point. At zero, rounding errors
        // must not be shown as a power of ten.
        shown if 5 < decimals && step / 2.0 < value.abs() => power(shown),
        _ if 5 < decimals => "0".to_owned(),
        shown => grouped(shown, decimals),
    };
    let (first, last) = ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
    // A guard against tiny steps: no axis needs more than a dozen ticks.
    let count = (last - first + 1.0).clamp(0.0, 100.0) as usize;
    let values = (0..count).map(|i| (first + i as f64) * step);
    let ticks = values.map(|value| Tick { value, label: Some(label(value)) }).collect();
    Ticks { ticks, unit }
}

/// The importance of a tick on a logarithmic axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum TickRank {
    Major,
    Middle,
    Minor,
}

/// Returns the ticks of a logarithmic axis, about `most` of them with a label.
pub(super) fn logarithmic(unit: AxisUnit, low: f64, high: f64, most: usize) -> Ticks {
    let near = low * (1.0 - 1e-9)..=high * (1.0 + 1e-9);
    let mut marks = marks(unit, low, high);
    marks.retain(|(value, _)| near.contains(value));
    let count = |rank| marks.iter().filter(|(_, other)| *other <= rank).count();
    let ranks = [TickRank::Major, TickRank::Middle, TickRank::Minor];
    // Readers need at least three labels to see how the axis is spaced.
    let labelled = ranks.into_iter().find(|rank| 3 <= count(*rank)).unwrap_or(TickRank::Minor);
    if count(labelled) < 2 {
        // Decades do not help if the axis spans less than a factor of two.
        return linear(unit, low, high, step(unit, (high - low) / most as f64));
    }
    // If there is no room for all labels, write only every second, third … label.
    let every = count(labelled).div_ceil(most.max(1));
    // Chosen: more minor ticks would merge on a chart of this size.
    let crowded = 80 < marks.len();
    let mut number = 0;
    let mut ticks = Vec::new();
    for (value, rank) in marks {
        let chosen = rank <= labelled && {
            number += 1;
            (number - 1) % every == 0
        };
        if chosen || !crowded {
            ticks.push(Tick { value, label: chosen.then(|| log_label(unit, value)) });
        }
    }
    Ticks { ticks, unit: "" }
}

fn log_label(unit: AxisUnit, value: f64) -> String {
    match unit {
        AxisUnit::Plain | AxisUnit::Count if !(1e-4..1e6).contains(&value) => power(value),
        AxisUnit::Plain | AxisUnit::Count => significant(value, 3),
        _ => unit.text(value),
    }
}

/// Returns round values from below `low` to above `high`, in ascending order.
fn marks(unit: AxisUnit, low: f64, high: f64) -> Vec<(f64, TickRank)> {
    match unit {
        AxisUnit::Bytes => powers_of_two(low, high),
        AxisUnit::Seconds => clock(low, high),
        _ => decades(low, high),
    }
}

fn decades(low: f64, high: f64) -> Vec<(f64, TickRank)> {
    let (first, last) = (low.log10().floor() as i32 - 1, high.log10().ceil() as i32 + 1);
    let ticks = (first..=last).flat_map(|e| (1..10).map(move |m| (m, e))).map(|(m, e)| {
        let rank = match m {
            1 => TickRank::Major,
            2 | 5 => TickRank::Middle,
            _ => TickRank::Minor,
        };
        // Parse instead of multiplying, so that 10⁻³ is the nearest double.
        (format!("{m}e{e}").parse().expect("digits are a number"), rank)
    });
    ticks.collect()
}

fn powers_of_two(low: f64, high: f64) -> Vec<(f64, TickRank)> {
    let (first, last) = (low.log2().floor() as i32 - 1, high.log2().ceil() as i32 + 1);
    // Nothing is smaller than a byte.
    let marks = (first.max(0)..=last).map(|e| match (e.rem_euclid(10), e.rem_euclid(2)) {
        (0, _) => (2f64.powi(e), TickRank::Major),
        (_, 0) => (2f64.powi(e), TickRank::Middle),
        _ => (2f64.powi(e), TickRank::Minor),
    });
    marks.collect()
}

/// Returns decades below ten seconds, and above that round times of a clock and a calendar.
fn clock(low: f64, high: f64) -> Vec<(f64, TickRank)> {
    let mut marks = decades(low.min(10.0), 10.0);
    marks.retain(|(value, _)| *value < 10.0);
    let major = [10.0, 60.0, 600.0, 3_600.0, 36_000.0];
    let middle = [30.0, 120.0, 300.0, 1_800.0, 7_200.0, 18_000.0];
    let minor = [20.0, 40.0, 50.0, 180.0, 240.0, 360.0, 420.0, 480.0, 540.0];
    let late = [1_200.0, 2_400.0, 3_000.0, 10_800.0, 14_400.0, 21_600.0, 25_200.0, 28_800.0];
    marks.extend(major.map(|value| (value, TickRank::Major)));
    marks.extend(middle.map(|value| (value, TickRank::Middle)));
    marks.extend(minor.into_iter().chain(late).map(|value| (value, TickRank::Minor)));
    let days = decades(1.0, (high / 86_400.0).max(1.0)).into_iter();
    marks.extend(days.filter(|(day, _)| 1.0 <= *day).map(|(day, rank)| (day * 86_400.0, rank)));
    // Sort: the lists above overlap, but ticks must be in ascending order.
    marks.sort_by(|a, b| a.0.total_cmp(&b.0));
    marks
}

/// Returns the nearest round values at or below `low` and at or above `high`.
pub(super) fn round_outwards(unit: AxisUnit, low: f64, high: f64) -> (f64, f64) {
    let marks = marks(unit, low, high);
    let values = || marks.iter().map(|mark| mark.0);
    let below = values().rev().find(|value| *value <= low * (1.0 + 1e-9)).unwrap_or(low);
    let above = values().find(|value| high * (1.0 - 1e-9) <= *value).unwrap_or(high);
    (below, above)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn labels(ticks: &Ticks) -> String {
        let labels: Vec<&str> =
            ticks.ticks.iter().filter_map(|tick| tick.label.as_deref()).collect();
        labels.join(" ")
    }

    #[test]
    fn linear_steps_are_one_two_or_five() {
        let steps = [0.7, 1.3, 2.1, 5.0, 0.03].map(|least| step(AxisUnit::Plain, least));
        assert_eq!(steps, [1.0, 2.0, 5.0, 5.0, 0.05]);
        assert_eq!(step(AxisUnit::Count, 0.2), 1.0, "a count has no fractions");
    }

    #[test]
    fn time_is_stepped_as_on_a_clock() {
        let steps =
            [0.03, 7.0, 45.0, 700.0, 4_000.0, 500_000.0].map(|l| step(AxisUnit::Seconds, l));
        assert_eq!(steps, [0.05, 10.0, 60.0, 1_200.0, 7_200.0, 864_000.0]);
    }

    #[test]
    fn labels_of_a_linear_axis_share_one_unit() {
        let ticks = linear(AxisUnit::Seconds, 0.0, 1_800.0, 300.0);
        assert_eq!((labels(&ticks).as_str(), ticks.unit), ("0 5 10 15 20 25 30", "min"));
        let ticks = linear(AxisUnit::Bytes, 0.0, 1_536.0 * 1_048_576.0, 512.0 * 1_048_576.0);
        assert_eq!((labels(&ticks).as_str(), ticks.unit), ("0 512 1,024 1,536", "MiB"));
        let ticks = linear(AxisUnit::Share, 0.0, 0.1, 0.02);
        assert_eq!((labels(&ticks).as_str(), ticks.unit), ("0 2 4 6 8 10", "%"));
    }

    #[test]
    fn very_small_steps_are_written_as_powers_of_ten() {
        let ticks = linear(AxisUnit::Plain, -2e-7, 2e-7, 1e-7);
        assert_eq!(labels(&ticks), "−2×10⁻⁷ −10⁻⁷ 0 10⁻⁷ 2×10⁻⁷");
        assert_eq!(labels(&linear(AxisUnit::Plain, 0.0, 4e-5, 2e-5)), "0.00000 0.00002 0.00004");
    }

    #[test]
    fn decades_are_labelled_and_the_rest_is_minor() {
        let ticks = logarithmic(AxisUnit::Count, 1.0, 2e6, 8);
        assert_eq!(labels(&ticks), "1 10 100 1,000 10,000 100,000 10⁶");
        assert_eq!(ticks.ticks.len(), 6 * 9 + 2);
        let wide = logarithmic(AxisUnit::Count, 1.0, 1e20, 8);
        assert_eq!(labels(&wide), "1 1,000 10⁶ 10⁹ 10¹² 10¹⁵ 10¹⁸");
        assert_eq!(wide.ticks.len(), 7, "crowded minor ticks are left out");
        assert_eq!(labels(&logarithmic(AxisUnit::Plain, 1.0, 50.0, 8)), "1 2 5 10 20 50");
    }

    #[test]
    fn a_logarithmic_time_axis_counts_minutes_and_hours() {
        let ticks = logarithmic(AxisUnit::Seconds, 1.0, 40_000.0, 8);
        assert_eq!(labels(&ticks), "1 s 10 s 1 min 10 min 1 h 10 h");
    }

    #[test]
    fn sizes_double() {
        let ticks = logarithmic(AxisUnit::Bytes, 1024.0, 65_536.0, 8);
        assert_eq!(labels(&ticks), "1 KiB 4 KiB 16 KiB 64 KiB");
    }

    #[test]
    fn a_narrow_logarithmic_axis_has_linear_ticks() {
        assert_eq!(labels(&logarithmic(AxisUnit::Plain, 101.0, 103.0, 2)), "101 102 103");
    }

    proptest! {
        #[test]
        fn ticks_stand_inside_in_order_and_are_few(low in -1e6f64..1e6, width in 1e-3f64..1e9) {
            let high = low + width;
            let ticks = linear(AxisUnit::Plain, low, high, step(AxisUnit::Plain, width / 6.0)).ticks;
            prop_assert!((1..=7).contains(&ticks.len()), "{ticks:?}");
            prop_assert!(ticks.is_sorted_by(|a, b| a.value < b.value && a.label != b.label));
        }
    }
}
