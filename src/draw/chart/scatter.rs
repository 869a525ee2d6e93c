//! Scatter plots: one value over another of the same thing, such as what was predicted over what was
//! logged.

use maud::{Markup, html};

use super::drawing::{Caption, ChartSheet, Drawing, PlotArea};
use super::legend::LegendKey;
use super::palette::{SeriesLook, colour, marker};
use super::scale::{AxisScale, ChartAxis, Extent, ScaleEnds};
use super::text::{Coordinate, tip};

/// A chart of points.
#[derive(Clone, Debug)]
pub struct ScatterPlot {
    /// The title and the texts around it.
    pub caption: Caption,
    /// The axis of the first value.
    pub x: ChartAxis,
    /// The axis of the second value.
    pub y: ChartAxis,
    /// The points, in the order of the legend.
    pub series: Vec<ScatterSeries>,
    /// The name of the diagonal on which both values are the same. The axes then have the same unit,
    /// spacing and ends. `None` for values that cannot be the same.
    pub diagonal: Option<String>,
    /// Sentences under the chart.
    pub notes: Vec<String>,
}

/// Points of one kind.
#[derive(Clone, Debug)]
pub struct ScatterSeries {
    /// Its name.
    pub name: String,
    /// Its look.
    pub look: SeriesLook,
    /// The points.
    pub points: Vec<ScatterPoint>,
}

/// A point.
#[derive(Clone, Debug, PartialEq)]
pub struct ScatterPoint {
    /// The name of the thing that the point stands for.
    pub name: String,
    /// The first value.
    pub x: f64,
    /// The second value.
    pub y: f64,
}

impl ScatterPlot {
    /// Returns the chart.
    pub fn draw(&self) -> Drawing {
        Drawing::in_both_widths(|width| self.draw_at(width))
    }

    fn draw_at(&self, width: f64) -> Drawing {
        let (mut xs, mut ys) = (Extent::default(), Extent::default());
        let mut series: Vec<Vec<&ScatterPoint>> = Vec::new();
        for one in &self.series {
            let mut points: Vec<&ScatterPoint> = one.points.iter().collect();
            // `&` instead of `&&`: both axes must count the values that they cannot show.
            points.retain(|point| xs.see(&self.x, point.x) & ys.see(&self.y, point.y));
            series.push(points);
        }
        let (mut across, mut up) = (xs, ys);
        if self.diagonal.is_some() {
            // Give both axes the same ends, so that the diagonal goes from corner to corner.
            let mut both = Extent::default();
            for point in series.iter().flatten() {
                both = both.include(&self.x, point.x).include(&self.x, point.y);
            }
            (across, up) = (both, both);
        }
        let x = AxisScale::new(&self.x, across, ScaleEnds::Round, 7);
        let y = AxisScale::new(&self.y, up, ScaleEnds::Round, 7);
        let mut sheet = ChartSheet::new(&self.caption, width);
        let keys = self.series.iter().map(|one| LegendKey::mark(&one.name, one.look.0));
        let diagonal =
            self.diagonal.iter().map(|name| LegendKey::line(name, self.behind(), Some("dash")));
        sheet.legend(&keys.chain(diagonal).collect::<Vec<_>>());
        let height = if self.diagonal.is_some() { 420.0 } else { 300.0 };
        let area = sheet.axes(&x, &y, height);
        let is_empty = series.iter().all(Vec::is_empty);
        sheet.nothing_if(is_empty, &area);
        if let Some(name) = self.diagonal.as_ref().filter(|_| !is_empty) {
            sheet.add(self.line(name, &area));
        }
        for (one, points) in self.series.iter().zip(&series) {
            let (name, number) = (&one.name, one.look.0);
            let place = |point: &ScatterPoint| (area.x(x.place(point.x)), area.y(y.place(point.y)));
            let label = |point: &ScatterPoint| {
                let [x, y] = [self.x.unit.text(point.x), self.y.unit.text(point.y)];
                let written = [&**name, &*point.name].into_iter().filter(|name| !name.is_empty());
                let names = written.collect::<Vec<_>>().join(", ");
                format!("{names}: {} {x}, {} {y}", self.x.title, self.y.title)
            };
            sheet.add(html! {
                g class={ (colour(number)) " mark" } {
                    @for point in points {
                        @let (x, y) = place(point);
                        g { (tip(&label(point))) (marker(number, x, y)) }
                    }
                }
            });
        }
        self.notes.iter().for_each(|note| sheet.note(note));
        for note in xs.notes(&self.x).chain(ys.notes(&self.y)) {
            sheet.note(&note);
        }
        sheet.finish()
    }

    /// Returns the look of the diagonal, behind those of all series.
    fn behind(&self) -> usize {
        self.series.iter().map(|one| one.look.0 + 1).max().unwrap_or_default()
    }

    fn line(&self, name: &str, area: &PlotArea) -> Markup {
        let [left, right, top, bottom] =
            [area.left, area.right, area.top, area.bottom].map(Coordinate);
        html! {
            path class={ "line dash " (colour(self.behind())) }
                d={ "M" (left) " " (bottom) "L" (right) " " (top) } { (tip(name)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::unit::AxisUnit;
    use super::*;

    fn draw(points: &[(f64, f64)]) -> String {
        let point = |(x, y): &(f64, f64)| ScatterPoint { name: "job_1".to_owned(), x: *x, y: *y };
        let chart = ScatterPlot {
            caption: Caption::default(),
            x: ChartAxis::log("logged", AxisUnit::Seconds),
            y: ChartAxis::log("predicted", AxisUnit::Seconds),
            series: vec![ScatterSeries {
                name: "judged".to_owned(),
                look: SeriesLook(0),
                points: points.iter().map(point).collect(),
            }],
            diagonal: Some("as logged".to_owned()),
            notes: Vec::new(),
        };
        chart.draw().inline()
    }

    #[test]
    fn a_point_tells_its_name_and_both_values() {
        let svg = draw(&[(10.0, 90.0)]);
        assert!(svg.contains("judged, job_1: logged 10 s, predicted 1 min 30 s"), "{svg}");
        assert!(svg.contains(">as logged<"), "{svg}");
    }

    #[test]
    fn values_that_cannot_be_drawn_are_left_out_with_a_note() {
        let svg = draw(&[(0.0, 5.0), (f64::NAN, 5.0)]);
        assert!(!svg.contains("job_1"), "{svg}");
        assert!(svg.contains("Not drawn: 1 value without a result."), "{svg}");
        assert!(svg.contains("Not drawn: 1 value of zero or less (logged, logarithmic)."), "{svg}");
        draw(&[]);
    }
}
