//! `line`: a metric over an axis of numbers, with its interval.

use super::Picture;
use super::canvas::{BAND, Canvas, chart_unit};
use super::kind::{AxisUse, ChartKind, ChartTraits, ExpressionKind, PointPositions};
use mumakil_draw::chart::{self, ChartAxis, LinePoint, LineSeries, ValueLines};
use mumakil_results::tables::ReadError;

pub(super) struct LineChart<'c>(pub(super) &'c str);

impl ChartKind for LineChart<'_> {
    fn nature(&self) -> ChartTraits {
        ChartTraits {
            over: AxisUse::NeededNumbers,
            published: Some(PointPositions::Axis),
            ..ChartTraits::new(
                "line chart",
                "lines whose bands lie apart, and the value from which a line is flat",
                ExpressionKind::Metric,
            )
        }
    }

    fn expressions(&self) -> Vec<(&str, &str)> {
        vec![("", self.0)]
    }

    fn draw(&self, canvas: &Canvas<'_>) -> Result<Picture, ReadError> {
        let Some(over) = canvas.over else { return Ok(canvas.nothing()) };
        let axis = &canvas.material.space.axes[over];
        let mut lines = Vec::new();
        let mut figures = Vec::new();
        let mut overloaded = Vec::new();
        for (number, (name, by)) in canvas.values(canvas.by).into_iter().enumerate() {
            let mut points = Vec::new();
            for (place, value) in axis.values.iter().enumerate() {
                let Some((x, _)) = value.number else { continue };
                let cell = canvas.at(&[by, Some((over, place))]);
                // An excluded cell, or a cell without a number, leaves a gap in the line.
                let Some(bar) = canvas.estimate(&canvas.asked[0], &cell)? else { continue };
                if canvas.is_overloaded(&canvas.asked[0], &cell) {
                    overloaded.push((number, points.len()));
                }
                points.push(LinePoint { x, y: bar.value, band: bar.whisker });
            }
            let name = if by.is_none() { self.0.to_owned() } else { name };
            let mut published = Vec::new();
            for point in canvas.published(number) {
                published.push((point.at, point.number.value));
                // Compare exactly: both positions come from the same label. A published point
                // between two values of the axis has no measured number beside it.
                let ours = points.iter().find(|ours: &&LinePoint| ours.x == point.at);
                let (unit, ours) = (canvas.asked[0].plan.unit(), ours.map(|ours| ours.y));
                figures.push(canvas.figure(&name, point, unit, ours));
            }
            lines.push(LineSeries { name, points, published });
        }
        let chart = ValueLines {
            caption: canvas.crossed(overloaded),
            x: ChartAxis::linear(
                axis.name(),
                axis.unit().map_or(chart::AxisUnit::Plain, chart_unit),
            ),
            y: canvas.axis(),
            lines,
            band: BAND.to_owned(),
        };
        Ok(Picture { drawing: chart.draw(), figures })
    }
}
