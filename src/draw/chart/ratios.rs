//! Ratios of pairs: above one, below one, or undecided.
//!
//! The axis is logarithmic, so a ratio and its inverse are equally far from the line at one. A
//! decided ratio has a marker on a filled band. An undecided ratio has an empty band, and a plain
//! stroke instead of the marker.

use maud::{Markup, html};

use super::category::Groups;
use super::drawing::{Caption, ChartSheet, Drawing, PlotArea};
use super::legend::LegendKey;
use super::palette::{SeriesLook, colour, marker};
use super::scale::{AxisScale, ChartAxis, Extent, is_number};
use super::text::{Coordinate, tip};
use super::unit::AxisUnit;

/// A chart of the ratios of pairs, side by side in several groups.
#[derive(Clone, Debug)]
pub struct Ratios {
    /// The title and the texts around it.
    pub caption: Caption,
    /// The title of the axis of ratios.
    pub y: String,
    /// The title of the axis of groups.
    pub x: String,
    /// The names of the groups.
    pub groups: Vec<String>,
    /// The pairs, in the order of the legend.
    pub series: Vec<RatioSeries>,
    /// The look of each group; empty if ratios are coloured by series.
    pub looks: Vec<SeriesLook>,
    /// As [`ChartAxis::shared`].
    pub shared: Option<(f64, f64)>,
    /// The meaning of the bands, such as `95 % confidence`; shown in a note if there is a band.
    pub band: String,
}

/// The ratios of a pair.
#[derive(Clone, Debug)]
pub struct RatioSeries {
    /// Its name, such as `hfsp / fair`.
    pub name: String,
    /// Its look, which may be that of a series on other charts.
    pub look: SeriesLook,
    /// Its ratio in each group; `None` for a group without a ratio.
    pub ratios: Vec<Option<Ratio>>,
}

/// A ratio and its confidence band.
#[derive(Clone, Debug)]
pub struct Ratio {
    /// The ratio.
    pub value: f64,
    /// The lower and the upper end of the band.
    pub band: Option<(f64, f64)>,
    /// Whether the data show on which side of one the ratio lies.
    pub decided: bool,
    /// The text that is shown when a reader points at it.
    pub label: String,
}

impl Ratios {
    /// Returns the chart.
    pub fn draw(&self) -> Drawing {
        Drawing::in_both_widths(|width| self.draw_at(width))
    }

    fn draw_at(&self, width: f64) -> Drawing {
        let shared = self.shared;
        let axis = ChartAxis { shared, ..ChartAxis::log(&*self.y, AxisUnit::Ratio) };
        let mut seen = Extent::default();
        let mut marks: Vec<(usize, usize, &Ratio)> = Vec::new();
        for (series, RatioSeries { ratios, .. }) in self.series.iter().enumerate() {
            for (group, ratio) in ratios.iter().take(self.groups.len()).enumerate() {
                marks.extend(
                    ratio
                        .as_ref()
                        .filter(|ratio| seen.see(&axis, ratio.value))
                        .map(|ratio| (group, series, ratio)),
                );
            }
        }
        // The line at one must be visible, to show which side is better.
        let mut extent = seen.include(&axis, 1.0);
        for (low, high) in marks.iter().filter_map(|(.., ratio)| sane(ratio)) {
            extent = extent.include(&axis, low).include(&axis, high);
        }
        let y = AxisScale::ratios(&axis, extent, 6);

        let mut sheet = ChartSheet::new(&self.caption, width);
        sheet.legend(&self.keys(&marks));
        let area = sheet.y_axis(&y, 300.0, 0.0);
        let groups = Groups::new(&area, self.groups.len(), self.series.len());
        let one = Coordinate(area.y(y.place(1.0)));
        sheet.add(html! {
            path class="rule c-ink" d={ "M" (Coordinate(area.left)) " " (one) "H" (Coordinate(area.right)) } {
                (tip("1: both are the same"))
            }
        });
        for (group, series, ratio) in &marks {
            sheet.add(self.mark((*group, *series), ratio, &groups, &y, &area));
        }
        sheet.names(&area, &groups, &self.groups, &self.x);
        sheet.nothing_if(marks.is_empty(), &area);
        if marks.iter().any(|(.., ratio)| sane(ratio).is_some()) {
            sheet.note(&format!("Bands: {}.", self.band));
        }
        seen.notes(&axis).for_each(|note| sheet.note(&note));
        sheet.finish()
    }

    /// Returns the legend keys: a key for each pair with a name, and a key for undecided ratios if
    /// there are any.
    fn keys(&self, marks: &[(usize, usize, &Ratio)]) -> Vec<LegendKey> {
        let band = |decided| stroke_of((4.0, 24.0), (-6.0, 6.0), decided);
        let pairs = self.series.iter().filter(|series| !series.name.is_empty());
        let undecided = marks.iter().any(|(.., ratio)| !ratio.decided).then(|| {
            let sign =
                html! { g class="c-soft" { (band(false)) path class="rule" d="M4 0H24" {} } };
            LegendKey::sign("undecided", sign)
        });
        let pairs = pairs.map(|RatioSeries { name, look, .. }| {
            let sign = html! {
                g class=(colour(look.0)) {
                    (band(true)) g class="mark" { (marker(look.0, 14.0, 0.0)) }
                }
            };
            LegendKey::sign(name, sign)
        });
        pairs.chain(undecided).collect()
    }

    fn mark(
        &self,
        (group, series): (usize, usize),
        ratio: &Ratio,
        groups: &Groups,
        y: &AxisScale,
        area: &PlotArea,
    ) -> Markup {
        // Chosen: with many pairs a band is still visible; with few it is no wider than its marker
        // needs.
        let wide = (groups.mark() * 0.8).clamp(2.0, 22.0);
        let middle = groups.left(group, series) + groups.mark() / 2.0;
        let sides = (middle - wide / 2.0, middle + wide / 2.0);
        let at = |value: f64| area.y(y.place(value));
        let band = sane(ratio).map(|(low, high)| (at(high), at(low)));
        let SeriesLook(look) = *self.looks.get(group).unwrap_or(&self.series[series].look);
        html! {
            g class=(colour(look)) {
                (tip(&self.label(group, series, ratio)))
                @if let Some(ends) = band { (stroke_of(sides, ends, ratio.decided)) }
                @if ratio.decided {
                    g class="mark" { (marker(look, middle, at(ratio.value))) }
                } @else {
                    path class="line"
                        d={ "M" (Coordinate(sides.0)) " " (Coordinate(at(ratio.value))) "H" (Coordinate(sides.1)) } {}
                }
            }
        }
    }

    fn label(&self, group: usize, series: usize, ratio: &Ratio) -> String {
        let both = [&self.groups[group], &self.series[series].name];
        let names: Vec<&str> = both.into_iter().map(|n| &**n).filter(|n| !n.is_empty()).collect();
        format!("{}: {}", names.join(", "), ratio.label)
    }
}

/// Returns the band of a ratio; `None` if it cannot be drawn.
fn sane(ratio: &Ratio) -> Option<(f64, f64)> {
    // A logarithmic axis cannot show a band that reaches zero.
    ratio.band.filter(|(low, high)| 1e-100 < *low && low <= high && is_number(*high))
}

/// Returns a band: a tinted area if it is filled, else a dotted outline.
fn stroke_of(sides: (f64, f64), ends: (f64, f64), is_full: bool) -> Markup {
    let [left, width] = [Coordinate(sides.0), Coordinate(sides.1 - sides.0)];
    let [top, height] = [Coordinate(ends.0), Coordinate(ends.1 - ends.0)];
    let class = if is_full { "tint" } else { "thin dots" };
    html! { rect class=(class) x=(left) y=(top) width=(width) height=(height) {} }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(ratios: Vec<Option<Ratio>>) -> String {
        let chart = Ratios {
            caption: Caption::default(),
            y: "Ratio of makespan".to_owned(),
            x: "nodes".to_owned(),
            groups: ["5", "10"].map(str::to_owned).into(),
            series: vec![RatioSeries {
                name: "hfsp / fair".to_owned(),
                look: SeriesLook(2),
                ratios,
            }],
            looks: Vec::new(),
            shared: None,
            band: "95 % confidence".to_owned(),
        };
        chart.draw().inline()
    }

    fn ratio(value: f64, band: (f64, f64), decided: bool) -> Option<Ratio> {
        Some(Ratio { value, band: Some(band), decided, label: format!("{value} times") })
    }

    #[test]
    fn decided_ratios_have_a_marker_and_others_an_open_band() {
        let svg = draw(vec![ratio(0.5, (0.4, 0.6), true), ratio(1.1, (0.9, 1.3), false)]);
        assert!(svg.contains("5, hfsp / fair: 0.5 times"), "{svg}");
        // Each band occurs once in the chart and once in the legend.
        assert_eq!(svg.matches("class=\"thin dots\"").count(), 2, "{svg}");
        assert_eq!(svg.matches("class=\"tint\"").count(), 2, "{svg}");
        assert_eq!(svg.matches("class=\"mark\"").count(), 2, "{svg}");
        assert!(svg.contains(">undecided<") && svg.contains("Bands: 95 % confidence."));
        let svg = draw(vec![ratio(0.5, (0.4, 0.6), true), None]);
        assert!(!svg.contains("undecided"), "{svg}");
    }

    #[test]
    fn a_ratio_and_its_reverse_are_equally_far_from_one() {
        let svg = draw(vec![ratio(0.5, (0.4, 0.625), true), ratio(2.0, (1.6, 2.5), true)]);
        let heights: Vec<&str> = svg
            .split("class=\"tint\"")
            .skip(2)
            .map(|rest| rest.split("height=\"").nth(1).unwrap().split('"').next().unwrap())
            .collect();
        assert_eq!(heights.len(), 2);
        assert_eq!(heights[0], heights[1], "{svg}");
    }

    #[test]
    fn a_ratio_of_zero_is_told_and_a_strange_band_is_left_out() {
        let svg = draw(vec![ratio(0.0, (0.0, 0.0), true), ratio(1.0, (f64::NAN, 2.0), false)]);
        assert!(svg.contains("Not drawn: 1 value of zero or less"), "{svg}");
        assert!(!svg.contains("Bands"), "{svg}");
    }
}
