//! The scale of an axis: it maps values to places.

use super::tick::{self, Tick, Ticks};
use super::unit::AxisUnit;

/// The spacing of values on an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spacing {
    /// Equal differences have equal lengths.
    #[default]
    Linear,
    /// Equal ratios have equal lengths; only positive values can be shown.
    Log,
}

/// An axis: its title, its unit and its scale.
#[derive(Clone, Debug, PartialEq)]
pub struct ChartAxis {
    /// The title, without the unit: `Sojourn time`.
    pub title: String,
    /// The unit of the values.
    pub unit: AxisUnit,
    /// The spacing of the values.
    pub spacing: Spacing,
    /// The ends of the axis of charts beside this one, which it includes; `None` without others.
    pub shared: Option<(f64, f64)>,
}

impl ChartAxis {
    /// Returns a linear axis.
    pub fn linear(title: impl Into<String>, unit: AxisUnit) -> Self {
        Self { title: title.into(), unit, spacing: Spacing::Linear, shared: None }
    }

    /// Returns a logarithmic axis.
    pub fn log(title: impl Into<String>, unit: AxisUnit) -> Self {
        Self { title: title.into(), unit, spacing: Spacing::Log, shared: None }
    }

    pub(super) fn shows(&self, value: f64) -> bool {
        is_number(value) && (self.spacing == Spacing::Linear || 1e-100 < value)
    }
}

/// Returns whether a value can be drawn: a number below 10¹⁰⁰.
pub(super) fn is_number(value: f64) -> bool {
    // Squares and products of such values do not overflow.
    value.abs() < 1e100
}

/// The range of the values that an axis must show, and the number of values that it cannot show.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Extent {
    range: Option<(f64, f64)>,
    not_numbers: usize,
    not_positive: usize,
}

impl Extent {
    /// Adds a value; returns whether the axis can show it.
    pub(super) fn see(&mut self, axis: &ChartAxis, value: f64) -> bool {
        if axis.shows(value) {
            let (low, high) = self.range.unwrap_or((value, value));
            self.range = Some((low.min(value), high.max(value)));
            return true;
        }
        if is_number(value) {
            self.not_positive += 1;
        } else {
            self.not_numbers += 1;
        }
        false
    }

    /// Adds a value without a mark, such as the zero under a bar. Notes do not count it, even if it
    /// cannot be shown.
    pub(super) fn include(mut self, axis: &ChartAxis, value: f64) -> Self {
        if axis.shows(value) {
            self.see(axis, value);
        }
        self
    }

    /// Adds the ends that the axis shares with others.
    fn with_shared(self, axis: &ChartAxis) -> Self {
        let ends = axis.shared.into_iter().flat_map(|(low, high)| [low, high]);
        ends.fold(self, |extent, end| extent.include(axis, end))
    }

    /// Returns whether the extent has no value that can be shown.
    pub(super) fn is_empty(&self) -> bool {
        self.range.is_none()
    }

    /// Returns notes about the values that the axis cannot show.
    pub(super) fn notes(&self, axis: &ChartAxis) -> impl Iterator<Item = String> {
        let title = &axis.title;
        let low = format!("of zero or less ({title}, logarithmic)");
        let counts = [(self.not_numbers, "without a result".to_owned()), (self.not_positive, low)];
        counts.into_iter().filter(|(count, _)| 0 < *count).map(|(count, which)| match count {
            1 => format!("Not drawn: 1 value {which}."),
            _ => format!("Not drawn: {count} values {which}."),
        })
    }
}

/// The function that maps values to lengths.
#[derive(Clone, Copy, Debug, PartialEq)]
enum ScaleWarp {
    Linear,
    Log,
    /// Shares, spaced by the number of their nines: 90 %, 99 %, 99.9 % …
    Nines,
}

impl ScaleWarp {
    fn apply(self, value: f64) -> f64 {
        match self {
            Self::Linear => value,
            Self::Log => value.max(1e-300).log10(),
            // A chart shows shares up to eight nines (see `nines`). The minimum prevents an
            // infinite place for a share of 1, the share of the largest value.
            Self::Nines => -(1.0 - value.clamp(0.0, 1.0)).max(1e-9).log10(),
        }
    }
}

/// Whether an axis ends at ticks, or at the ends of its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScaleEnds {
    Round,
    Exact,
}

/// An axis with its ends and ticks.
#[derive(Clone, Debug)]
pub(super) struct AxisScale {
    warp: ScaleWarp,
    low: f64,
    high: f64,
    /// The values at its two ends.
    pub(super) range: (f64, f64),
    /// The ticks, in the order of their values.
    pub(super) ticks: Vec<Tick>,
    /// The title of the axis, with the unit of the ticks.
    pub(super) title: String,
}

impl AxisScale {
    /// Returns the values at its two ends.
    pub(super) fn ends(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// Returns an axis with about `ticks` labelled ticks.
    pub(super) fn new(axis: &ChartAxis, extent: Extent, ends: ScaleEnds, ticks: usize) -> Self {
        let extent = extent.with_shared(axis);
        match axis.spacing {
            Spacing::Linear => Self::linear(axis, extent, ends, ticks),
            Spacing::Log => Self::log(axis, extent, ends, ticks),
        }
    }

    fn linear(axis: &ChartAxis, extent: Extent, ends: ScaleEnds, count: usize) -> Self {
        let (mut low, mut high) = linear_ends(extent.range.unwrap_or((0.0, 1.0)), ends);
        let step = tick::step(axis.unit, (high - low) / count as f64);
        if ends == ScaleEnds::Round {
            // The slack avoids an extra step for a value that differs from a tick only by rounding.
            low = (low / step + 1e-9).floor() * step;
            high = (high / step - 1e-9).ceil() * step;
        }
        let ticks = tick::linear(axis.unit, low, high, step);
        Self::with(ScaleWarp::Linear, (low, high), ticks, &axis.title)
    }

    fn log(axis: &ChartAxis, extent: Extent, ends: ScaleEnds, count: usize) -> Self {
        let (mut low, mut high) = extent.range.unwrap_or((1.0, 10.0));
        // If all values are about equal, widen the axis by a factor of two on each side, so that it
        // has ticks.
        if high < low * 1.1 {
            (low, high) = (low / 2.0, high * 2.0);
        }
        if ends == ScaleEnds::Round {
            (low, high) = tick::round_outwards(axis.unit, low, high);
        }
        let ticks = tick::logarithmic(axis.unit, low, high, count);
        Self::with(ScaleWarp::Log, (low, high), ticks, &axis.title)
    }

    /// Returns a logarithmic axis of ratios. Within a factor of three its ticks are at equal steps,
    /// so that differences of a few thousandths can be seen.
    pub(super) fn ratios(axis: &ChartAxis, extent: Extent, count: usize) -> Self {
        let (low, high) = extent.with_shared(axis).range.unwrap_or((0.5, 2.0));
        // From a factor of three on, decades and their parts are better ticks than equal steps.
        if low * 3.0 < high {
            return Self::log(axis, extent, ScaleEnds::Round, count);
        }
        // If all ratios are equal, widen the axis.
        let widen = if high < low * 1.002 { 1.001 } else { 1.0 };
        let (low, high) = (low / widen, high * widen);
        let step = tick::step(axis.unit, (high - low) / count as f64);
        let place = (low / step + 1e-9).floor();
        let low = if place < 1.0 { low } else { place * step };
        let high = (high / step - 1e-9).ceil() * step;
        let ticks = tick::linear(axis.unit, low, high, step);
        Self::with(ScaleWarp::Log, (low, high), ticks, &axis.title)
    }

    /// Returns the axis of a percentile plot, which ends at the share `last`.
    pub(super) fn nines(last: f64) -> Self {
        const MARKS: [(f64, &str); 9] = [
            (0.0, "0"),
            (0.5, "50"),
            (0.9, "90"),
            (0.99, "99"),
            (0.999, "99.9"),
            (0.9999, "99.99"),
            (0.99999, "99.999"),
            (0.999999, "99.9999"),
            (0.9999999, "99.99999"),
        ];
        // The axis goes at least to 99 %, so that small samples have a similar axis, and at most
        // one nine beyond the last tick.
        let last = last.clamp(0.99, 0.999_999_99);
        let shown = MARKS.into_iter().filter(|(share, _)| *share <= last);
        let labelled = shown.map(|(value, label)| Tick { value, label: Some(label.to_owned()) });
        let ticks = Ticks { ticks: labelled.collect(), unit: "" };
        Self::with(ScaleWarp::Nines, (0.0, last), ticks, "Percentile")
    }

    fn with(warp: ScaleWarp, (low, high): (f64, f64), ticks: Ticks, title: &str) -> Self {
        let title = match ticks.unit {
            "" => title.to_owned(),
            unit => format!("{title} ({unit})"),
        };
        let (range, low, high) = ((low, high), warp.apply(low), warp.apply(high));
        Self { warp, low, high, range, ticks: ticks.ticks, title }
    }

    /// Returns the place of a value: from 0 at the low end to 1 at the high end. Values beyond the
    /// ends have the places of the ends.
    pub(super) fn place(&self, value: f64) -> f64 {
        ((self.warp.apply(value) - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }

    /// Returns the place at which bars and areas begin: at zero, or at the low end of a logarithmic
    /// axis.
    pub(super) fn floor(&self) -> f64 {
        if self.warp == ScaleWarp::Log { 0.0 } else { self.place(0.0) }
    }
}

/// Returns the ends of a linear axis, which are never equal. Zero is one of the ends, unless the
/// values would then fill less than half of the axis (with `ScaleEnds::Exact`, less than nine
/// tenths).
fn linear_ends((low, high): (f64, f64), ends: ScaleEnds) -> (f64, f64) {
    let size = high.abs().max(low.abs());
    let spare = if ends == ScaleEnds::Exact { 0.1 } else { 0.5 };
    // All values are zero: any axis is fine.
    if size < 1e-90 {
        (0.0, 1.0)
    // All values are equal: the axis goes from zero to the value.
    } else if high - low <= size * 1e-9 {
        (low.min(0.0), high.max(0.0))
    } else if 0.0 < low && low < high * spare {
        (0.0, high)
    } else if high < 0.0 && low * spare < high {
        (low, 0.0)
    } else {
        (low, high)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn scale(axis: &ChartAxis, values: &[f64]) -> AxisScale {
        let mut extent = Extent::default();
        for value in values {
            extent.see(axis, *value);
        }
        AxisScale::new(axis, extent, ScaleEnds::Round, 6)
    }

    fn linear(values: &[f64]) -> AxisScale {
        scale(&ChartAxis::linear("", AxisUnit::Plain), values)
    }

    #[test]
    fn a_linear_axis_begins_at_zero_and_ends_at_a_tick() {
        let scale = linear(&[1.0, 4.7]);
        assert_eq!(scale.place(0.0), 0.0);
        assert_eq!(scale.place(5.0), 1.0);
        assert_eq!(scale.place(2.5), 0.5);
    }

    #[test]
    fn values_far_from_zero_get_an_axis_of_their_own() {
        assert!(0.0 < linear(&[90.0, 100.0]).place(95.0));
        assert_eq!(linear(&[90.0, 100.0]).place(89.0), 0.0);
    }

    #[test]
    fn one_value_or_none_has_a_place_too() {
        assert_eq!(linear(&[7.0, 7.0]).place(7.0), 0.875);
        assert_eq!(linear(&[]).place(0.5), 0.5);
        assert_eq!(linear(&[0.0]).place(0.0), 0.0);
        let minute = scale(&ChartAxis::log("", AxisUnit::Seconds), &[60.0]).place(60.0);
        assert!((minute - 0.5).abs() < 1e-9);
    }

    #[test]
    fn an_axis_says_what_it_leaves_out() {
        let axis = ChartAxis::log("Wait", AxisUnit::Seconds);
        let mut extent = Extent::default();
        for value in [1.0, 0.0, -3.0, f64::NAN] {
            extent.see(&axis, value);
        }
        let notes: Vec<String> = extent.notes(&axis).collect();
        assert_eq!(
            notes,
            [
                "Not drawn: 1 value without a result.",
                "Not drawn: 2 values of zero or less (Wait, logarithmic).",
            ]
        );
    }

    #[test]
    fn ratios_near_one_fill_their_axis_and_far_ones_have_one_too() {
        let of = |low, high| {
            let axis = ChartAxis::log("", AxisUnit::Ratio);
            let extent = Extent::default().include(&axis, low).include(&axis, high);
            let scale = AxisScale::ratios(&axis, extent, 6);
            let labels = scale.ticks.iter().filter_map(|tick| tick.label.clone());
            (labels.collect::<Vec<_>>().join(" "), scale)
        };
        assert_eq!(of(0.996, 1.044).0, "0.99 1.00 1.01 1.02 1.03 1.04 1.05");
        assert_eq!(of(1.0, 1.0).0, "0.9990 0.9995 1.0000 1.0005 1.0010");
        assert!(of(0.25, 4.0).0.contains("1×"));
        let scale = of(0.8, 1.25).1;
        assert!((scale.place(0.8) + scale.place(1.25) - 2.0 * scale.place(1.0)).abs() < 1e-9);
    }

    #[test]
    fn each_nine_of_a_percentile_is_equally_long() {
        let scale = AxisScale::nines(0.999);
        let places = [0.0, 0.9, 0.99, 0.999].map(|share| (scale.place(share) * 300.0).round());
        assert_eq!(places, [0.0, 100.0, 200.0, 300.0]);
        assert_eq!(scale.place(1.0), 1.0);
    }

    proptest! {
        #[test]
        fn larger_values_never_stand_lower(
            values in prop::collection::vec(any::<f64>(), 1..8),
            log in any::<bool>(),
        ) {
            let spacing = if log { Spacing::Log } else { Spacing::Linear };
            let axis = ChartAxis { spacing, ..ChartAxis::linear("", AxisUnit::Plain) };
            let scale = scale(&axis, &values);
            let mut shown: Vec<f64> = values.into_iter().filter(|value| axis.shows(*value)).collect();
            shown.sort_by(f64::total_cmp);
            let places: Vec<f64> = shown.iter().map(|value| scale.place(*value)).collect();
            prop_assert!(places.iter().all(|place| (0.0..=1.0).contains(place)), "{places:?}");
            prop_assert!(places.is_sorted(), "{places:?}");
        }
    }
}
