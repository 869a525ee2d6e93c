//! `boxes`: the distribution of a number over jobs or tasks, as boxes side by side.

use super::Picture;
use super::canvas::Canvas;
use super::expressions::OneOrMore;
use super::kind::{ChartKind, ChartTraits, ExpressionKind};
use mumakil_draw::chart::{BoxSeries, Boxes};
use mumakil_results::tables::ReadError;

pub(super) struct BoxPlot<'c>(pub(super) &'c OneOrMore);

impl ChartKind for BoxPlot<'_> {
    fn nature(&self) -> ChartTraits {
        ChartTraits::new(
            "box plot",
            "boxes that lie apart, and long whiskers",
            ExpressionKind::Sample,
        )
    }

    fn expressions(&self) -> Vec<(&str, &str)> {
        self.0.parts()
    }

    fn stands_over_labels(&self) -> bool {
        self.0.is_one()
    }

    fn draw(&self, canvas: &Canvas<'_>) -> Result<Picture, ReadError> {
        let groups = canvas.groups();
        let mut series = Vec::new();
        for (name, by) in canvas.values(canvas.by) {
            let mut samples = Vec::new();
            for group in &groups {
                let cell = canvas.at(&[by, group.over]);
                samples.push(canvas.sample(&canvas.asked[group.expression].plan, &cell)?);
            }
            series.push(BoxSeries { name, samples });
        }
        let chart = Boxes {
            caption: canvas.caption.clone(),
            y: canvas.axis(),
            x: canvas.path(canvas.over),
            groups: groups.into_iter().map(|group| group.label).collect(),
            series,
            looks: canvas.looks(),
        };
        Ok(chart.draw().into())
    }
}
