//! Empirical cumulative distributions: curves that show, for each value x, the share of the sample
//! that is at most x.

use maud::{Markup, html};

use super::curve::{Dot, VERTICES, path, stairs, thin};
use super::drawing::{Caption, ChartSheet, Drawing, PlotArea};
use super::legend::LegendKey;
use super::palette::{SeriesLook, colour, marker, stroke};
use super::published::{self, PublishedMark};
use super::scale::{AxisScale, ChartAxis, Extent, ScaleEnds, is_number};
use super::text::tip;
use super::unit::AxisUnit;

/// The shares at which a curve has a marker.
// Chosen: quartiles, and the usual percentiles at the ends.
const MARKED: [f64; 6] = [0.1, 0.25, 0.5, 0.75, 0.9, 0.99];

/// The empirical cumulative distributions of several samples.
#[derive(Clone, Debug)]
pub struct Ecdf {
    /// The title and the texts around it.
    pub caption: Caption,
    /// The axis of the samples' values.
    pub x: ChartAxis,
    /// The word for the values of a sample, in the plural, such as `jobs`.
    pub of: String,
    /// The samples, in the order of the legend.
    pub samples: Vec<EcdfSample>,
}

/// A sample.
#[derive(Clone, Debug)]
pub struct EcdfSample {
    /// The name.
    pub name: String,
    /// The values, in any order.
    pub values: Vec<f64>,
    /// The look of its curve.
    pub look: SeriesLook,
    /// Published points of the curve: a value x, and the share of the sample that is at most x.
    pub published: Vec<(f64, f64)>,
}

impl Ecdf {
    /// Returns the chart. Values that a logarithmic axis cannot show count as smaller than all
    /// others.
    pub fn draw(&self) -> Drawing {
        Drawing::in_both_widths(|width| self.draw_at(width))
    }

    fn draw_at(&self, width: f64) -> Drawing {
        let mut extent = Extent::default();
        for value in self.samples.iter().flat_map(|sample| &sample.values) {
            extent.see(&self.x, *value);
        }
        for (value, _) in self.samples.iter().flat_map(|sample| &sample.published) {
            extent.see(&self.x, *value);
        }
        let x = AxisScale::new(&self.x, extent, ScaleEnds::Round, 7);
        let share = ChartAxis::linear(format!("Share of {}", self.of), AxisUnit::Share);
        let whole = Extent::default().include(&share, 0.0).include(&share, 1.0);
        let y = AxisScale::new(&share, whole, ScaleEnds::Round, 5);

        let mut sheet = ChartSheet::new(&self.caption, width);
        let published = self.samples.iter().any(|sample| !sample.published.is_empty());
        let keys =
            self.samples.iter().map(|sample| LegendKey::line(&sample.name, sample.look.0, None));
        sheet.legend(&keys.chain(published.then(published::ring_key)).collect::<Vec<_>>());
        let area = sheet.axes(&x, &y, 300.0);
        for sample in &self.samples {
            sheet.add(self.curve(sample, &x, &area));
        }
        for sample in &self.samples {
            sheet.add(self.published(sample, &x, &y, &area));
        }
        sheet.nothing_if(extent.is_empty(), &area);
        extent.notes(&self.x).for_each(|note| sheet.note(&note));
        sheet.finish()
    }

    fn published(
        &self,
        sample: &EcdfSample,
        x: &AxisScale,
        y: &AxisScale,
        area: &PlotArea,
    ) -> Markup {
        let published = sample.published.iter();
        let shown = published.filter(|(x, share)| self.x.shows(*x) && is_number(*share));
        let marks = shown.map(|(value, share)| PublishedMark {
            place: (area.x(x.place(*value)), area.y(y.place(*share))),
            label: format!(
                "{}, published: {} of {} at most {}",
                sample.name,
                AxisUnit::Share.text(*share),
                self.of,
                self.x.unit.text(*value)
            ),
        });
        published::rings(sample.look.0, &marks.collect::<Vec<_>>())
    }

    fn curve(&self, sample: &EcdfSample, x: &AxisScale, area: &PlotArea) -> Markup {
        let mut values: Vec<f64> =
            sample.values.iter().copied().filter(|value| is_number(*value)).collect();
        values.sort_by(f64::total_cmp);
        // Values that a logarithmic axis cannot show are not drawn, but they count: the curve
        // starts at their share.
        let shown = values.partition_point(|value| !self.x.shows(*value));
        if values.len() == shown {
            return Markup::default();
        }
        let number = sample.look.0;
        let share = |count: usize| count as f64 / values.len() as f64;
        let at = |value: f64| area.x(x.place(value));
        let mut steps: Vec<Dot> = vec![(at(values[shown]), area.y(share(shown)))];
        steps.extend((shown..values.len()).map(|i| (at(values[i]), area.y(share(i + 1)))));
        let line = path(&thin(&stairs(&steps), VERTICES));
        // The index of the smallest value that this share of the sample does not exceed.
        let marks = MARKED
            .map(|share| (share, ((share * values.len() as f64).ceil() as usize).max(1) - 1))
            .into_iter();
        // In a small sample several shares may fall on one value; the value gets one mark.
        let mut marks: Vec<(f64, usize)> = marks.filter(|(_, place)| shown <= *place).collect();
        marks.dedup_by_key(|(_, place)| *place);
        let text = |value| self.x.unit.text(value);
        let (name, of, count) = (&sample.name, &self.of, values.len());
        html! {
            g class=(colour(number)) {
                // A single value is a point: a line from 0 to 1 would look like many values.
                @if 1 < count {
                    path class=(stroke(number)) d=(line) {
                        (tip(&format!("{name}: {} {of}", AxisUnit::Count.text(count as f64))))
                    }
                }
                g class="mark" {
                    @for (_, place) in marks {
                        g {
                            (tip(&format!(
                                "{name}: {} of {of} at most {}",
                                AxisUnit::Share.text(share(place + 1)),
                                text(values[place])
                            )))
                            (marker(number, at(values[place]), area.y(share(place + 1))))
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ecdf(x: ChartAxis, values: Vec<f64>) -> String {
        let published = vec![(20.0, 0.4)];
        let samples =
            vec![EcdfSample { name: "fifo".to_owned(), values, look: SeriesLook(0), published }];
        Ecdf { caption: Caption::default(), x, of: "jobs".to_owned(), samples }.draw().inline()
    }

    #[test]
    fn each_marker_tells_a_share_and_a_value() {
        let svg = ecdf(ChartAxis::linear("Wait", AxisUnit::Seconds), vec![30.0, 90.0, 10.0, 60.0]);
        assert!(svg.contains("fifo: 50 % of jobs at most 30 s"), "{svg}");
        assert!(svg.contains("fifo, published: 40 % of jobs at most 20 s"), "{svg}");
        assert!(svg.contains("fifo: 100 % of jobs at most 1 min 30 s"), "{svg}");
    }

    #[test]
    fn values_a_logarithmic_axis_cannot_show_still_count() {
        let svg = ecdf(ChartAxis::log("Wait", AxisUnit::Seconds), vec![0.0, 0.0, 5.0, 50.0]);
        assert!(svg.contains("75 % of jobs at most 5 s"), "{svg}");
        assert!(svg.contains("2 values of zero or less"), "{svg}");
    }

    #[test]
    fn a_hundred_thousand_samples_are_a_short_path() {
        let values = (1..=100_000).map(|i| f64::from(i * 7_919 % 100_003).sqrt()).collect();
        let svg = ecdf(ChartAxis::linear("Wait", AxisUnit::Seconds), values);
        assert!(svg.len() < 12_000, "{} bytes", svg.len());
    }
}
