//! `bars`: a metric for each value of an axis, with its interval, or several metrics.

use super::canvas::{BAND, Canvas};
use super::expressions::OneOrMore;
use super::kind::{Kind, Nature, Shown, Use};
use crate::chart::{Arrangement, BarSeries, Bars, Drawing};
use crate::expect::ReadError;

pub(super) struct BarChart<'c>(pub(super) &'c OneOrMore);

impl Kind for BarChart<'_> {
    fn nature(&self) -> Nature {
        Nature {
            word: "bar chart",
            shows: Some(Shown::Metric),
            over: Use::Optional,
            by: Use::Optional,
            has_log: true,
        }
    }

    fn expressions(&self) -> Vec<(&str, &str)> {
        self.0.parts()
    }

    fn stands_over_labels(&self) -> bool {
        self.0.is_one()
    }

    fn draw(&self, canvas: &Canvas<'_>) -> Result<Drawing, ReadError> {
        let groups = canvas.groups();
        let mut series = Vec::new();
        for (name, by) in canvas.values(canvas.by) {
            let mut bars = Vec::new();
            for group in &groups {
                let cell = canvas.at(&[by, group.over]);
                bars.push(canvas.estimate(&canvas.asked[group.expression], &cell)?);
            }
            series.push(BarSeries { name, bars });
        }
        let chart = Bars {
            caption: canvas.caption.clone(),
            y: canvas.axis(),
            x: canvas.path(canvas.over),
            groups: groups.into_iter().map(|group| group.label).collect(),
            series,
            arrangement: Arrangement::Grouped,
            whisker: BAND.to_owned(),
        };
        Ok(chart.draw())
    }
}
