//! Bars: one for each group and series, side by side or stacked.

use maud::{Markup, html};

use super::category::Groups;
use super::doubted::cross;
use super::drawing::{Caption, ChartSheet, Drawing, PlotArea};
use super::legend::LegendKey;
use super::palette::{Hatches, SeriesLook, colour, outlined};
use super::published::{self, PublishedMark};
use super::scale::{AxisScale, ChartAxis, Extent, ScaleEnds, is_number};
use super::text::{Coordinate, joined, tip};

/// How the bars of a group are arranged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrangement {
    /// Side by side.
    Grouped,
    /// Stacked; negative values go down from zero. Whiskers are not drawn: they would not fit the
    /// scale of the stack.
    Stacked,
}

/// A chart with a bar for each group and series.
#[derive(Clone, Debug)]
pub struct Bars {
    /// The title and the texts around it.
    pub caption: Caption,
    /// The axis of the bars' values.
    pub y: ChartAxis,
    /// The title of the axis of groups; empty if the names of the groups suffice.
    pub x: String,
    /// The names of the groups, from left to right.
    pub groups: Vec<String>,
    /// The series, in the order of the legend.
    pub series: Vec<BarSeries>,
    /// The look of each group; empty if bars are coloured by series.
    pub looks: Vec<SeriesLook>,
    /// The arrangement of the bars of a group.
    pub arrangement: Arrangement,
    /// The meaning of the whiskers, such as `95 % confidence`; shown in a note if there is a
    /// whisker.
    pub whisker: String,
}

/// A series of bars.
#[derive(Clone, Debug)]
pub struct BarSeries {
    /// The name.
    pub name: String,
    /// A bar for each group; `None` for a group without a measurement.
    pub bars: Vec<Option<Bar>>,
    /// The published value of each group, if there is one. Stacked bars do not show it: the top of
    /// a stacked bar is not its value.
    pub published: Vec<Option<f64>>,
}

/// A value and its whisker.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    /// The value.
    pub value: f64,
    /// The lower and the upper end of the whisker.
    pub whisker: Option<(f64, f64)>,
}

/// A bar with its place in the plot.
struct PlacedBar {
    group: usize,
    series: usize,
    /// The values at its two ends.
    span: (f64, f64),
    whisker: Option<(f64, f64)>,
}

impl Bars {
    /// Returns the chart.
    pub fn draw(&self) -> Drawing {
        Drawing::in_both_widths(|width| self.draw_at(width))
    }

    fn draw_at(&self, width: f64) -> Drawing {
        let mut seen = Extent::default();
        let bars = self.place(&mut seen);
        // The length of a bar is its value, so the axis must include zero.
        let mut extent = seen.include(&self.y, 0.0);
        for bar in &bars {
            extent = extent.include(&self.y, bar.span.1);
            for end in bar.whisker.into_iter().flat_map(|(low, high)| [low, high]) {
                extent = extent.include(&self.y, end);
            }
        }
        let published = self.published(&mut seen);
        for (.., value) in &published {
            extent = extent.include(&self.y, *value);
        }
        let y = AxisScale::new(&self.y, extent, ScaleEnds::Round, 6);

        let mut sheet = ChartSheet::new(&self.caption, width);
        sheet.hatches((0..self.series.len()).chain(self.looks.iter().map(|look| look.0)));
        let id = sheet.id.clone();
        let hatches = Hatches { id: &id };
        let series = self.series.iter().enumerate();
        let keys = series.map(|(i, series)| LegendKey::area(&series.name, i, hatches));
        let diamonds = (!published.is_empty()).then(published::diamond_key);
        let doubted = &self.caption.doubted;
        sheet.legend(&keys.chain(diamonds).chain(doubted.key()).collect::<Vec<_>>());
        // All plots have this height, so that charts side by side match.
        let area = sheet.y_axis(&y, 300.0, 0.0);
        let abreast = if self.arrangement == Arrangement::Grouped { self.series.len() } else { 1 };
        let groups = Groups::new(&area, self.groups.len(), abreast);
        for bar in &bars {
            sheet.add(self.bar(bar, &groups, &y, &area, hatches));
            if doubted.has((bar.series, bar.group)) {
                let column = if self.arrangement == Arrangement::Grouped { bar.series } else { 0 };
                let middle = groups.left(bar.group, column) + groups.mark() / 2.0;
                // At the foot of the bar: a whisker lies over its end.
                sheet.add(cross((middle, area.y(y.floor()) - 10.0)));
            }
        }
        let rings = published.iter().map(|(group, series, value)| PublishedMark {
            place: (
                groups.left(*group, *series) + groups.mark() / 2.0,
                area.y(if *value == 0.0 { y.floor() } else { y.place(*value) }),
            ),
            label: format!(
                "{}, published: {}",
                joined(&self.groups[*group], &self.series[*series].name),
                self.y.unit.text(*value)
            ),
        });
        let marks: Vec<PublishedMark> = rings.collect();
        sheet.floor(area.y(y.floor()), &area);
        sheet.add(published::diamonds(&marks));
        sheet.names(&area, &groups, &self.groups, &self.x);
        sheet.nothing_if(bars.is_empty() && marks.is_empty(), &area);
        if bars.iter().any(|bar| bar.whisker.is_some()) {
            sheet.note(&format!("Whiskers: {}.", self.whisker));
        }
        seen.notes(&self.y).for_each(|note| sheet.note(&note));
        sheet.finish()
    }

    /// Returns the bars that can be drawn, and adds their values to `seen`.
    fn place(&self, seen: &mut Extent) -> Vec<PlacedBar> {
        let mut placed = Vec::new();
        for group in 0..self.groups.len() {
            let (mut above, mut below) = (0.0, 0.0);
            for (number, series) in self.series.iter().enumerate() {
                let Some(bar) = series.bars.get(group).copied().flatten() else { continue };
                if !seen.see(&self.y, bar.value) {
                    continue;
                }
                // The confidence interval of a single seed may be infinite.
                let whisker = bar.whisker.filter(|(low, high)| is_number(high - low));
                let (base, whisker) = match self.arrangement {
                    Arrangement::Grouped => (0.0, whisker),
                    Arrangement::Stacked if bar.value < 0.0 => (below, None),
                    Arrangement::Stacked => (above, None),
                };
                let span = (base, base + bar.value);
                // Positive parts are stacked upwards, negative parts downwards.
                (above, below) = (span.1.max(above), span.1.min(below));
                placed.push(PlacedBar { group, series: number, span, whisker });
            }
        }
        placed
    }

    /// Returns the published values that can be drawn, each with its group and series.
    fn published(&self, seen: &mut Extent) -> Vec<(usize, usize, f64)> {
        let mut published = Vec::new();
        // A part of a stack begins at the end of the part below, so its top is not a value to
        // compare.
        if self.arrangement == Arrangement::Stacked {
            return published;
        }
        for (number, series) in self.series.iter().enumerate() {
            for (group, value) in series.published.iter().take(self.groups.len()).enumerate() {
                if let Some(value) = value.filter(|value| seen.see(&self.y, *value)) {
                    published.push((group, number, value));
                }
            }
        }
        published
    }

    fn bar(
        &self,
        bar: &PlacedBar,
        groups: &Groups,
        y: &AxisScale,
        area: &PlotArea,
        hatches: Hatches<'_>,
    ) -> Markup {
        let PlacedBar { group, series, span, .. } = *bar;
        let column = if self.arrangement == Arrangement::Grouped { series } else { 0 };
        let (left, width) = (groups.left(group, column), groups.mark());
        // A logarithmic axis has no zero, so bars stand on the low end of the axis.
        let at = |value: f64| area.y(if value == 0.0 { y.floor() } else { y.place(value) });
        let (top, bottom) = (at(span.0).min(at(span.1)), at(span.0).max(at(span.1)));
        let middle = Coordinate(left + width / 2.0);
        let whisker = bar.whisker.map(|(low, high)| {
            let (low, high) = (Coordinate(at(low)), Coordinate(at(high)));
            // Narrow bars have narrow caps, so that the caps of neighbours do not touch.
            let reach = (width / 4.0).min(6.0);
            let (left, across) = (Coordinate(left + width / 2.0 - reach), Coordinate(2.0 * reach));
            format!("M{left} {low}h{across}M{middle} {low}V{high}M{left} {high}h{across}")
        });
        let look = self.looks.get(group).map_or(series, |look| look.0);
        html! {
            rect class={ (colour(look)) @if 3.0 < width { " edge" } } x=(Coordinate(left)) y=(Coordinate(top))
                width=(Coordinate(width)) height=(Coordinate(bottom - top)) fill=(hatches.fill(look)) {
                (tip(&self.label(bar)))
            }
            @if let Some(whisker) = whisker { (outlined(&whisker)) }
        }
    }

    fn label(&self, bar: &PlacedBar) -> String {
        let unit = self.y.unit;
        let name = joined(&self.groups[bar.group], &self.series[bar.series].name);
        let value = format!("{name}: {}", unit.text(bar.span.1 - bar.span.0));
        match bar.whisker {
            Some((low, high)) => format!("{value} ({} to {})", unit.text(low), unit.text(high)),
            None => value,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::unit::AxisUnit;
    use super::*;

    fn draw(arrangement: Arrangement, values: [f64; 2]) -> String {
        let series = |name: &str, value| BarSeries {
            name: name.to_owned(),
            bars: vec![Some(Bar { value, whisker: Some((0.1, 0.9)) })],
            published: vec![Some(0.4)],
        };
        let chart = Bars {
            caption: Caption::default(),
            y: ChartAxis::linear("Maps", AxisUnit::Share),
            x: String::new(),
            groups: vec!["small".to_owned()],
            series: vec![series("node", values[0]), series("rack", values[1])],
            looks: Vec::new(),
            arrangement,
            whisker: "95 % confidence".to_owned(),
        };
        chart.draw().inline()
    }

    #[test]
    fn stacked_bars_add_up() {
        let svg = draw(Arrangement::Stacked, [0.75, 0.25]);
        assert!(svg.contains("small, rack: 25 %"), "{svg}");
        assert!(svg.contains("height=\"225\"") && svg.contains("height=\"75\""), "{svg}");
        assert!(!svg.contains("Whiskers"));
    }

    #[test]
    fn published_values_stand_on_bars_of_their_own_only() {
        let svg = draw(Arrangement::Grouped, [0.75, 0.25]);
        assert!(svg.contains("small, node, published: 40 %"), "{svg}");
        assert_eq!(svg.matches("class=\"hollow\"").count(), 3, "{svg}");
        assert!(!draw(Arrangement::Stacked, [0.75, 0.25]).contains("published"));
    }

    #[test]
    fn whiskers_are_explained() {
        let svg = draw(Arrangement::Grouped, [0.5, 0.25]);
        assert!(svg.contains("small, node: 50 % (10 % to 90 %)"), "{svg}");
        assert!(svg.contains("Whiskers: 95 % confidence."));
    }

    #[test]
    fn a_negative_bar_hangs_from_zero() {
        let svg = draw(Arrangement::Grouped, [-1.0, 1.0]);
        assert_eq!(svg.matches("height=\"150\"").count(), 2, "{svg}");
        assert!(svg.contains("small, node: −100 %"));
    }
}
