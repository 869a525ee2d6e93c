//! Line charts: values over a number, with confidence bands.

use maud::{Markup, html};

use super::curve::{Dot, VERTICES, path, thin};
use super::doubted::cross;
use super::drawing::{Caption, ChartSheet, Drawing, PlotArea};
use super::legend::LegendKey;
use super::palette::{colour, marker, stroke};
use super::published::{self, PublishedMark};
use super::scale::{AxisScale, ChartAxis, Extent, ScaleEnds};
use super::text::tip;

/// The most markers on a line; more would hide the line.
const MARKERS: usize = 30;

/// A chart of values over a number, such as waits over the size of the cluster.
#[derive(Clone, Debug)]
pub struct ValueLines {
    /// The title and the texts around it.
    pub caption: Caption,
    /// The axis of the number.
    pub x: ChartAxis,
    /// The axis of the values.
    pub y: ChartAxis,
    /// The lines, in the order of the legend.
    pub lines: Vec<LineSeries>,
    /// The meaning of the bands, such as `95 % confidence`; shown in a note if there is a band.
    pub band: String,
}

/// A series of points, joined by a line.
#[derive(Clone, Debug)]
pub struct LineSeries {
    /// Its name.
    pub name: String,
    /// The points, in any order; they are drawn in the order of x.
    pub points: Vec<LinePoint>,
    /// Published points of the line: x and value.
    pub published: Vec<(f64, f64)>,
}

/// A value and its confidence band.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinePoint {
    /// The number on the x axis.
    pub x: f64,
    /// The value.
    pub y: f64,
    /// The lower and the upper end of the band.
    pub band: Option<(f64, f64)>,
}

impl ValueLines {
    /// Returns the chart.
    pub fn draw(&self) -> Drawing {
        Drawing::in_both_widths(|width| self.draw_at(width))
    }

    fn draw_at(&self, width: f64) -> Drawing {
        let (mut over, mut extent) = (Extent::default(), Extent::default());
        let mut lines: Vec<Vec<LinePoint>> = Vec::new();
        for line in &self.lines {
            let mut points = line.points.clone();
            // `&` instead of `&&`: both axes must count the values that they cannot show.
            points.retain(|p| over.see(&self.x, p.x) & extent.see(&self.y, p.y));
            points.sort_by(|a, b| a.x.total_cmp(&b.x));
            lines.push(points);
        }
        let mut published: Vec<Vec<(f64, f64)>> = Vec::new();
        for line in &self.lines {
            let mut points = line.published.clone();
            points.retain(|(x, y)| over.see(&self.x, *x) & extent.see(&self.y, *y));
            published.push(points);
        }
        // Keep the extents of the points, since notes are about points only. Bands are added to the
        // extents later.
        let seen = (over, extent);
        let bands = lines.iter().flatten().filter_map(|point| point.band);
        for value in bands.flat_map(|(low, high)| [low, high]) {
            extent = extent.include(&self.y, value);
        }
        let x = AxisScale::new(&self.x, over, ScaleEnds::Exact, 7);
        let y = AxisScale::new(&self.y, extent, ScaleEnds::Round, 6);

        let mut sheet = ChartSheet::new(&self.caption, width);
        sheet.legend(&self.keys());
        let area = sheet.axes(&x, &y, 300.0);
        let plot = LinePlot { chart: self, x: &x, y: &y, area };
        for (number, points) in lines.iter().enumerate() {
            sheet.add(plot.bands(number, points));
        }
        for (number, points) in lines.iter().enumerate() {
            sheet.add(plot.line(number, points));
        }
        for (number, points) in published.iter().enumerate() {
            sheet.add(plot.published(number, points));
        }
        for &(line, point) in &self.caption.doubted.values {
            let point = self.lines.get(line).and_then(|line| line.points.get(point));
            if let Some(LinePoint { x, y, .. }) = point
                && self.x.shows(*x)
                && self.y.shows(*y)
            {
                sheet.add(cross(plot.place(*x, *y)));
            }
        }
        sheet.nothing_if(
            lines.iter().all(Vec::is_empty) && published.iter().all(Vec::is_empty),
            &area,
        );
        self.note_of_bands().into_iter().for_each(|note| sheet.note(&note));
        seen.0.notes(&self.x).chain(seen.1.notes(&self.y)).for_each(|note| sheet.note(&note));
        sheet.finish()
    }

    /// Returns the note about the bands; `None` without bands.
    fn note_of_bands(&self) -> Option<String> {
        let points = self.lines.iter().flat_map(|line| &line.points);
        let bands: Vec<(f64, f64)> = points.filter_map(|point| point.band).collect();
        let is_cut = bands.iter().any(|(low, _)| *low <= 0.0 && !self.y.shows(*low));
        let cut =
            if is_cut { " Where they reach the axis, they begin at zero or below." } else { "" };
        (!bands.is_empty()).then(|| format!("Bands: {}.{cut}", self.band))
    }

    fn keys(&self) -> Vec<LegendKey> {
        let numbered = self.lines.iter().enumerate();
        let lines = numbered.map(|(number, line)| LegendKey::line(&line.name, number, None));
        let published = self.lines.iter().any(|line| !line.published.is_empty());
        lines.chain(published.then(published::ring_key)).chain(self.caption.doubted.key()).collect()
    }
}

/// A chart with its scales and its plot area.
struct LinePlot<'a> {
    chart: &'a ValueLines,
    x: &'a AxisScale,
    y: &'a AxisScale,
    area: PlotArea,
}

impl LinePlot<'_> {
    fn place(&self, x: f64, y: f64) -> Dot {
        (self.area.x(self.x.place(x)), self.area.y(self.y.place(y)))
    }

    /// Returns the bands: one area for each sequence of neighbouring points with a band. If a
    /// logarithmic axis cannot show the lower end of a band, the band reaches down to the axis.
    /// Such a band is drawn apart from its neighbours: joined to them, it would look like a spike.
    fn bands(&self, number: usize, points: &[LinePoint]) -> Markup {
        let name = &self.chart.lines[number].name;
        let y = &self.chart.y;
        let ends = |point: &LinePoint| {
            let sane = point.band.filter(|(low, high)| y.shows(*high) && low <= high);
            Some(y.shows(sane?.0))
        };
        let runs = points.chunk_by(|a, b| ends(a).is_some() && ends(a) == ends(b));
        html! {
            @for run in runs.filter(|run| ends(&run[0]).is_some()) {
                path class={ "band " (colour(number)) } d={ (path(&self.outline(run))) "Z" } {
                    (tip(&format!("{name}: {}", self.chart.band)))
                }
            }
        }
    }

    /// Returns the outline of an area: along the upper ends of the bands and back along the lower
    /// ends.
    fn outline(&self, run: &[LinePoint]) -> Vec<Dot> {
        let end = |end: fn((f64, f64)) -> f64| {
            let bounds = run.iter().filter_map(|point| Some((point.x, end(point.band?))));
            let ends: Vec<Dot> = bounds.map(|(x, y)| self.place(x, y)).collect();
            // The band of a single point is a narrow box.
            if let [(x, y)] = ends[..] { vec![(x - 3.0, y), (x + 3.0, y)] } else { ends }
        };
        let (lower, upper) = (thin(&end(|band| band.0), VERTICES), end(|band| band.1));
        thin(&upper, VERTICES).into_iter().chain(lower.into_iter().rev()).collect()
    }

    fn line(&self, number: usize, points: &[LinePoint]) -> Markup {
        let line = &self.chart.lines[number];
        let places: Vec<Dot> = points.iter().map(|point| self.place(point.x, point.y)).collect();
        let every = points.len().div_ceil(MARKERS).max(1);
        html! {
            g class=(colour(number)) {
                path class=(stroke(number)) d=(path(&thin(&places, VERTICES))) { (tip(&line.name)) }
                g class="mark" {
                    @for (point, place) in points.iter().zip(&places).step_by(every) {
                        g { (tip(&self.label(line, point))) (marker(number, place.0, place.1)) }
                    }
                }
            }
        }
    }

    fn published(&self, number: usize, points: &[(f64, f64)]) -> Markup {
        let ValueLines { x: over, y: of, lines, .. } = self.chart;
        let name = &lines[number].name;
        let marks = points.iter().map(|(x, y)| PublishedMark {
            place: self.place(*x, *y),
            label: format!("{name}, {}, published: {}", over.unit.text(*x), of.unit.text(*y)),
        });
        published::rings(number, &marks.collect::<Vec<_>>())
    }

    fn label(&self, line: &LineSeries, point: &LinePoint) -> String {
        let ValueLines { x, y, .. } = self.chart;
        let value = format!("{}, {}: {}", line.name, x.unit.text(point.x), y.unit.text(point.y));
        match point.band {
            Some((low, high)) => {
                format!("{value} ({} to {})", y.unit.text(low), y.unit.text(high))
            }
            None => value,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::unit::AxisUnit;
    use super::*;

    fn draw(points: Vec<LinePoint>) -> String {
        let published = vec![(20.0, 60.0)];
        let lines = vec![LineSeries { name: "hfsp".to_owned(), points, published }];
        let chart = ValueLines {
            caption: Caption::default(),
            x: ChartAxis::linear("Nodes", AxisUnit::Count),
            y: ChartAxis::log("Mean sojourn time", AxisUnit::Seconds),
            lines,
            band: "95 % confidence".to_owned(),
        };
        chart.draw().inline()
    }

    #[test]
    fn a_point_tells_its_value_and_band() {
        let svg = draw(vec![LinePoint { x: 10.0, y: 90.0, band: Some((80.0, 100.0)) }]);
        assert!(svg.contains("hfsp, 10: 1 min 30 s (1 min 20 s to 1 min 40 s)"), "{svg}");
        assert!(svg.contains("Bands: 95 % confidence."));
    }

    #[test]
    fn a_band_below_zero_ends_at_the_foot_of_a_logarithmic_axis() {
        let band = Some((-5.0, 100.0));
        let svg =
            draw(vec![LinePoint { x: 1.0, y: 9.0, band }, LinePoint { x: 2.0, y: 9.0, band }]);
        assert!(svg.contains("class=\"band c-0\""), "{svg}");
    }

    #[test]
    fn a_band_without_a_foot_is_no_spike_between_its_neighbours() {
        let point = |x, low| LinePoint { x, y: 9.0, band: Some((low, 100.0)) };
        let spike = [point(1.0, 5.0), point(2.0, -5.0), point(3.0, 5.0), point(4.0, 5.0)];
        let svg = draw(spike.into());
        assert_eq!(svg.matches("class=\"band c-0\"").count(), 3, "{svg}");
        assert!(svg.contains("they begin at zero or below"), "{svg}");
        let flat = [point(1.0, -5.0), point(2.0, 0.0)];
        assert_eq!(draw(flat.into()).matches("class=\"band c-0\"").count(), 1);
    }

    #[test]
    fn published_values_stand_in_hollow_marks_and_in_the_legend() {
        let svg = draw(vec![LinePoint { x: 10.0, y: 90.0, band: None }]);
        assert!(svg.contains("hfsp, 20, published: 1 min"), "{svg}");
        // The ring occurs once in the chart and once in the legend.
        assert_eq!(svg.matches("class=\"ring\"").count(), 2, "{svg}");
        assert_eq!(svg.matches(">published<").count(), 1, "{svg}");
    }
}
