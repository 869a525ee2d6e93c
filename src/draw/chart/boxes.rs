//! Box plots: the middle half of each sample, and its spread.

use maud::{Markup, html};

use super::category::Groups;
use super::drawing::{Caption, ChartSheet, Drawing, PlotArea};
use super::legend::LegendKey;
use super::palette::{Hatches, SeriesLook, colour, outlined};
use super::scale::{AxisScale, ChartAxis, Extent, ScaleEnds};
use super::text::{Coordinate, joined, tip};
use mumakil_base::statistics::quantile_of_sorted;

/// The most values of a sample that are drawn beyond the whiskers, evenly picked. Chosen: a tenth
/// of a large sample lies beyond the whiskers, and so many rings would merge into a bar.
const OUTLIERS: usize = 12;

/// The explanation of the signs of a box plot.
// Whiskers end at percentiles, not at the usual 1.5 times the height of the box: sojourns are
// skewed, so every long job would be an outlier.
const READ: &str = "Boxes: the middle half and the median. Whiskers: 5th to 95th percentile. \
                    Diamonds: means. Rings: samples beyond.";

/// A chart with a box for each group and series.
#[derive(Clone, Debug)]
pub struct Boxes {
    /// The title and the texts around it.
    pub caption: Caption,
    /// The axis of the samples' values.
    pub y: ChartAxis,
    /// The title of the axis of groups; empty if the names of the groups suffice.
    pub x: String,
    /// The names of the groups, from left to right.
    pub groups: Vec<String>,
    /// The series, in the order of the legend.
    pub series: Vec<BoxSeries>,
    /// The look of each group; empty if boxes are coloured by series.
    pub looks: Vec<SeriesLook>,
}

/// A series of samples.
#[derive(Clone, Debug)]
pub struct BoxSeries {
    /// The name.
    pub name: String,
    /// A sample for each group, in any order; empty for a group without a measurement.
    pub samples: Vec<Vec<f64>>,
}

/// A sorted sample with its place in the plot.
struct PlacedBox {
    group: usize,
    series: usize,
    sample: Vec<f64>,
}

impl Boxes {
    /// Returns the chart.
    pub fn draw(&self) -> Drawing {
        Drawing::in_both_widths(|width| self.draw_at(width))
    }

    fn draw_at(&self, width: f64) -> Drawing {
        let mut extent = Extent::default();
        let placed = self.place(&mut extent);
        let y = AxisScale::new(&self.y, extent, ScaleEnds::Round, 6);

        let mut sheet = ChartSheet::new(&self.caption, width);
        sheet.hatches((0..self.series.len()).chain(self.looks.iter().map(|look| look.0)));
        let id = sheet.id.clone();
        let hatches = Hatches { id: &id };
        let series = self.series.iter().enumerate();
        let keys = series.map(|(i, series)| LegendKey::area(&series.name, i, hatches));
        sheet.legend(&keys.collect::<Vec<_>>());
        let area = sheet.y_axis(&y, 300.0, 0.0);
        let groups = Groups::new(&area, self.groups.len(), self.series.len());
        for each in &placed {
            sheet.add(self.plot(each, &groups, &y, &area, hatches));
        }
        sheet.floor(area.bottom, &area);
        sheet.names(&area, &groups, &self.groups, &self.x);
        sheet.nothing_if(placed.is_empty(), &area);
        sheet.note(READ);
        extent.notes(&self.y).for_each(|note| sheet.note(&note));
        sheet.finish()
    }

    fn place(&self, extent: &mut Extent) -> Vec<PlacedBox> {
        let mut placed = Vec::new();
        for (series, each) in self.series.iter().enumerate() {
            for (group, sample) in each.samples.iter().take(self.groups.len()).enumerate() {
                let mut sample = sample.clone();
                sample.retain(|value| extent.see(&self.y, *value));
                sample.sort_by(f64::total_cmp);
                if !sample.is_empty() {
                    placed.push(PlacedBox { group, series, sample });
                }
            }
        }
        placed
    }

    fn look(&self, group: usize, series: usize) -> usize {
        self.looks.get(group).map_or(series, |look| look.0)
    }

    fn plot(
        &self,
        each: &PlacedBox,
        groups: &Groups,
        y: &AxisScale,
        area: &PlotArea,
        hatches: Hatches<'_>,
    ) -> Markup {
        let PlacedBox { group, series, sample } = each;
        let look = self.look(*group, *series);
        let [p5, q1, median, q3, p95] = [0.05, 0.25, 0.5, 0.75, 0.95].map(|share| {
            quantile_of_sorted(sample, share).expect("only samples with values have a place")
        });
        // Divide before adding up: the sum of the values may overflow.
        let mean = sample.iter().map(|value| value / sample.len() as f64).sum();
        let width = groups.mark() * 0.8;
        let left = groups.left(*group, *series) + groups.mark() * 0.1;
        let (right, middle) = (left + width, left + width / 2.0);
        let at = |value: f64| area.y(y.place(value));
        // Values at the end of a whisker belong to the whisker.
        let (low, high) =
            (sample.partition_point(|v| *v < p5), sample.partition_point(|v| *v <= p95));
        let beyond = few(&sample[..low]).chain(few(&sample[high..]));
        let [x0, x1, x] = [left, right, middle].map(Coordinate);
        html! {
            g class=(colour(look)) {
                g class="thin c-ink" {
                    @for value in beyond { circle cx=(x) cy=(Coordinate(at(value))) r="2.5" { (tip(&self.y.unit.text(value))) } }
                }
                // A single value has neither quartiles nor a spread: it is its own mean.
                @if 1 < sample.len() {
                    path class="rule c-ink" d={
                        "M" (x) " " (Coordinate(at(p5))) "V" (Coordinate(at(q1))) "M" (x) " " (Coordinate(at(q3))) "V" (Coordinate(at(p95)))
                    } {}
                    rect class="edge" x=(x0) width=(Coordinate(width)) y=(Coordinate(at(q3)))
                        height=(Coordinate(at(q1) - at(q3))) fill=(hatches.fill(look)) {
                        (tip(&self.label(each, [p5, q1, median, q3, p95], mean)))
                    }
                    (outlined(&format!("M{x0} {}H{x1}", Coordinate(at(median)))))
                }
                path class="mark c-ink" d="M0-5L5 0L0 5L-5 0Z"
                    transform={ "translate(" (x) " " (Coordinate(at(mean))) ")" } {
                    @if sample.len() == 1 {
                        (tip(&format!("{}: one value, {}", self.name(each), self.y.unit.text(mean))))
                    }
                }
            }
        }
    }

    fn name(&self, each: &PlacedBox) -> String {
        joined(&self.groups[each.group], &self.series[each.series].name)
    }

    fn label(&self, each: &PlacedBox, quantiles: [f64; 5], mean: f64) -> String {
        let name = self.name(each);
        let [p5, q1, median, q3, p95] = quantiles.map(|value| self.y.unit.text(value));
        format!(
            "{name}: median {median}, mean {}, half of {} between {q1} and {q3}, nine in ten between \
             {p5} and {p95}",
            self.y.unit.text(mean),
            each.sample.len(),
        )
    }
}

/// Returns at most [`OUTLIERS`] of the sorted values, including the first and the last.
fn few(values: &[f64]) -> impl Iterator<Item = f64> {
    let count = values.len().min(OUTLIERS);
    (0..count).map(move |i| {
        values[match count {
            1 => 0,
            _ => i * (values.len() - 1) / (count - 1),
        }]
    })
}

#[cfg(test)]
mod tests {
    use super::super::unit::AxisUnit;
    use super::*;

    #[test]
    fn few_keeps_the_extremes() {
        let many: Vec<f64> = (0..1_000).map(f64::from).collect();
        let chosen: Vec<f64> = few(&many).collect();
        assert_eq!((chosen.len(), chosen[0], chosen[11]), (OUTLIERS, 0.0, 999.0));
        assert_eq!(few(&[3.0]).collect::<Vec<_>>(), [3.0]);
        assert_eq!(few(&[]).count(), 0);
    }

    #[test]
    fn a_single_value_is_a_point() {
        let chart = |sample: &[f64]| Boxes {
            caption: Caption::default(),
            y: ChartAxis::linear("Map time", AxisUnit::Seconds),
            x: String::new(),
            groups: vec!["small".to_owned()],
            series: vec![BoxSeries { name: String::new(), samples: vec![sample.to_vec()] }],
            looks: Vec::new(),
        };
        let [one, two] = [&[9.0][..], &[9.0, 12.0]].map(|sample| chart(sample).draw().inline());
        assert!(one.contains("small: one value, 9 s") && !one.contains("<rect"), "{one}");
        assert!(two.contains("<rect"), "{two}");
    }

    #[test]
    fn a_box_tells_its_numbers() {
        let chart = Boxes {
            caption: Caption::default(),
            y: ChartAxis::linear("Map time", AxisUnit::Seconds),
            x: String::new(),
            groups: vec!["small".to_owned()],
            series: vec![BoxSeries {
                name: "hfsp".to_owned(),
                samples: vec![(1..=101).map(f64::from).collect()],
            }],
            looks: Vec::new(),
        };
        let svg = chart.draw().inline();
        assert!(
            svg.contains(
                "small, hfsp: median 51 s, mean 51 s, half of 101 between 26 s and 1 min 16 s, \
                 nine in ten between 6 s and 1 min 36 s"
            ),
            "{svg}"
        );
    }
}
