//! `bars`: a metric for each value of an axis, with its interval, or several metrics side by side.

use super::Picture;
use super::canvas::{AxisSpot, BAND, Canvas, Group};
use super::expressions::OneOrMore;
use super::kind::{ChartKind, ChartTraits, ExpressionKind, PointPositions};
use mumakil_draw::chart::{Arrangement, Bar, BarSeries, Bars};
use mumakil_results::tables::ReadError;

pub(super) struct BarChart<'c>(pub(super) &'c OneOrMore);

impl ChartKind for BarChart<'_> {
    fn nature(&self) -> ChartTraits {
        ChartTraits {
            published: Some(PointPositions::Labels),
            ..ChartTraits::new("bar chart", "whiskers that lie apart", ExpressionKind::Metric)
        }
    }

    fn expressions(&self) -> Vec<(&str, &str)> {
        self.0.parts()
    }

    fn stands_over_labels(&self) -> bool {
        self.0.is_one()
    }

    fn draw(&self, canvas: &Canvas<'_>) -> Result<Picture, ReadError> {
        let mut series = Vec::new();
        let mut figures = Vec::new();
        let mut overloaded = Vec::new();
        let drawn = drawn(canvas);
        for (number, DrawnBars { name, by, groups }) in drawn.iter().enumerate() {
            let mut bars = Vec::new();
            for group in groups {
                let cell = canvas.at(&[*by, group.over]);
                let asked = &canvas.asked[group.expression];
                if canvas.is_overloaded(asked, &cell) {
                    overloaded.push((number, bars.len()));
                }
                bars.push(canvas.estimate(asked, &cell)?);
            }
            let mut published = vec![None; groups.len()];
            for point in canvas.published(number) {
                let group = point.at as usize;
                published[group] = Some(point.number.value);
                let unit = canvas.asked[groups[group].expression].plan.unit();
                let ours = bars[group].map(|bar: Bar| bar.value);
                figures.push(canvas.figure(name, point, unit, ours));
            }
            // A single series needs no name, except in the legend beside `published`.
            let is_alone = name.is_empty() && !canvas.published(number).is_empty();
            let name = if is_alone { "measured" } else { name };
            series.push(BarSeries { name: name.to_owned(), bars, published });
        }
        let labels = drawn.into_iter().next().map(|first| first.groups).unwrap_or_default();
        let chart = Bars {
            caption: canvas.crossed(overloaded),
            y: canvas.axis(),
            x: canvas.path(canvas.over),
            groups: labels.into_iter().map(|group| group.label).collect(),
            series,
            // The legend beside published numbers has one colour for all of ours.
            looks: if canvas.published.is_empty() { canvas.looks() } else { Vec::new() },
            arrangement: Arrangement::Grouped,
            whisker: BAND.to_owned(),
        };
        Ok(Picture { drawing: chart.draw(), figures })
    }
}

/// The bars of one colour.
struct DrawnBars {
    name: String,
    by: Option<AxisSpot>,
    groups: Vec<Group>,
}

/// Returns the bars by their colours: for each value of `by`, or for each of several expressions.
fn drawn(canvas: &Canvas<'_>) -> Vec<DrawnBars> {
    // Published points stand at labels, which have the names of the expressions.
    let is_by_name = 1 < canvas.asked.len()
        && canvas.by.is_none()
        && canvas.over.is_some()
        && canvas.published.is_empty();
    if !is_by_name {
        let values = canvas.values(canvas.by).into_iter();
        return values.map(|(name, by)| DrawnBars { name, by, groups: canvas.groups() }).collect();
    }
    let bars = canvas.asked.iter().enumerate().map(|(expression, asked)| {
        let values = canvas.values(canvas.over).into_iter();
        let groups = values.map(|(label, over)| Group { label, expression, over }).collect();
        DrawnBars { name: asked.name.to_owned(), by: None, groups }
    });
    bars.collect()
}
