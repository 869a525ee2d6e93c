//! Percentile plots of latencies: the axis gives each further nine (90 %, 99 %, 99.9 %) the same
//! room. This makes long, rare latencies visible.

use std::ops::RangeInclusive;

use hdrhistogram::Histogram;
use maud::{Markup, html};

use super::curve::{Dot, VERTICES, path, thin};
use super::drawing::{Caption, ChartSheet, Drawing, PlotArea};
use super::legend::LegendKey;
use super::palette::{colour, marker, stroke};
use super::scale::{AxisScale, ChartAxis, Extent, ScaleEnds};
use super::text::tip;
use mumakil_base::units::tell::significant;

/// A chart of the percentiles of several histograms.
#[derive(Clone, Debug)]
pub struct Percentiles {
    /// The title and the texts around it.
    pub caption: Caption,
    /// The axis of the histograms' values.
    pub y: ChartAxis,
    /// The histograms, in the order of the legend.
    pub curves: Vec<Curve>,
}

/// The percentiles of one histogram.
#[derive(Clone, Debug)]
pub struct Curve {
    /// Its name.
    pub name: String,
    /// The points: a share from 0 to 1, and the value that this share of the measurements does not
    /// exceed.
    pub points: Vec<(f64, f64)>,
}

impl Curve {
    /// Returns the curve of a histogram of microseconds, in seconds. Points are denser towards rare
    /// values, down to the share of a single measurement. Values that the axis cannot show, such as
    /// zero on a logarithmic axis, are left out.
    pub fn of(name: String, histogram: &Histogram<u64>, y: &ChartAxis) -> Self {
        // Ten points for each nine, down to one in a hundred million.
        const PER_NINE: RangeInclusive<i32> = 0..=80;
        // A percentile that is finer than the share of a single measurement would only repeat the
        // largest value.
        let finest = 1.0 / histogram.len() as f64;
        let rests = PER_NINE.map(|step| 10_f64.powf(f64::from(-step) / 10.0));
        let shares = rests.take_while(|rest| finest <= *rest).map(|rest| 1.0 - rest).chain([1.0]);
        let points = shares
            .map(|share| (share, histogram.value_at_quantile(share) as f64 / 1e6))
            .filter(|(_, value)| y.shows(*value));
        Self { name, points: points.collect() }
    }
}

impl Percentiles {
    /// Returns the chart. The axis of shares ends at the last share below 1; the largest value is
    /// drawn there.
    pub fn draw(&self) -> Drawing {
        Drawing::in_both_widths(|width| self.draw_at(width))
    }

    fn draw_at(&self, width: f64) -> Drawing {
        let mut extent = Extent::default();
        let mut last = 0.0f64;
        for (share, value) in self.curves.iter().flat_map(|curve| &curve.points) {
            extent.see(&self.y, *value);
            // A share of 1 has infinitely many nines, so it cannot set the end of the axis.
            last = if *share < 1.0 { last.max(*share) } else { last };
        }
        let x = AxisScale::nines(last);
        let y = AxisScale::new(&self.y, extent, ScaleEnds::Round, 6);

        let mut sheet = ChartSheet::new(&self.caption, width);
        let curves = self.curves.iter().enumerate();
        let keys = curves.map(|(i, curve)| LegendKey::line(&curve.name, i, None));
        sheet.legend(&keys.collect::<Vec<_>>());
        let area = sheet.axes(&x, &y, 300.0);
        for (number, curve) in self.curves.iter().enumerate() {
            sheet.add(self.curve(number, curve, (&x, &y), &area));
        }
        sheet.nothing_if(extent.is_empty(), &area);
        // Percentiles of jobs, such as those of a summary, lie between two values.
        sheet.note(
            "A percentile is the smallest value that this share of the values does not exceed.",
        );
        extent.notes(&self.y).for_each(|note| sheet.note(&note));
        sheet.finish()
    }

    fn curve(
        &self,
        number: usize,
        curve: &Curve,
        (x, y): (&AxisScale, &AxisScale),
        area: &PlotArea,
    ) -> Markup {
        let shown = curve
            .points
            .iter()
            .filter(|(share, value)| (0.0..=1.0).contains(share) && self.y.shows(*value));
        let mut points: Vec<(f64, f64)> = shown.copied().collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let place = |(share, value): (f64, f64)| (area.x(x.place(share)), area.y(y.place(value)));
        let places: Vec<Dot> = points.iter().copied().map(place).collect();
        // Mark the first point that reaches each tick of the axis, and the largest value.
        let mut marks: Vec<(f64, f64)> = x
            .ticks
            .iter()
            .filter_map(|tick| points.iter().find(|point| tick.value <= point.0).copied())
            .collect();
        marks.extend(points.last());
        marks.dedup();
        html! {
            g class=(colour(number)) {
                path class=(stroke(number)) d=(path(&thin(&places, VERTICES))) { (tip(&curve.name)) }
                g class="mark" {
                    @for mark in marks {
                        g {
                            (tip(&format!(
                                "{}: {} % at most {}",
                                curve.name,
                                significant(mark.0 * 100.0, 8),
                                self.y.unit.text(mark.1)
                            )))
                            (marker(number, place(mark).0, place(mark).1))
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::unit::AxisUnit;
    use super::*;

    #[test]
    fn a_curve_is_finer_towards_the_rare_values_and_ends_with_the_measurements() {
        let mut histogram = Histogram::<u64>::new(3).unwrap();
        [0, 1_000, 2_000, 3_000_000].iter().for_each(|micros| histogram.record(*micros).unwrap());
        let curve = |y: ChartAxis| Curve::of("x".to_owned(), &histogram, &y).points;
        let linear = curve(ChartAxis::linear("Wait", AxisUnit::Seconds));
        assert_eq!(
            (linear[0], linear.len()),
            ((0.0, 0.0), 8),
            "shares up to three quarters, and the largest"
        );
        assert!(linear[7].0 == 1.0 && (linear[7].1 - 3.0).abs() < 0.01, "{linear:?}");
        assert!(linear[6].0 < 0.75, "four values have no finer share: {linear:?}");
        let log = curve(ChartAxis::log("Wait", AxisUnit::Seconds));
        assert!(log.len() < linear.len() && log.iter().all(|(_, value)| 0.0 < *value), "{log:?}");
    }

    #[test]
    fn the_axis_has_as_many_nines_as_the_data() {
        let points = vec![(0.0, 1e-3), (0.5, 2e-3), (0.99, 0.1), (0.9995, 2.0), (1.0, 3.0)];
        let curves = vec![Curve { name: "fair".to_owned(), points }];
        let y = ChartAxis::log("Round trip", AxisUnit::Seconds);
        let svg = Percentiles { caption: Caption::default(), y, curves }.draw().inline();
        assert!(svg.contains(">99.9<") && !svg.contains(">99.99<"), "{svg}");
        assert!(svg.contains("fair: 99 % at most 100 ms"), "{svg}");
    }
}
