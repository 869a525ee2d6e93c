//! `ecdf`: the distribution of a number over jobs or tasks.

use super::Picture;
use super::canvas::{AskedExpression, Canvas, named};
use super::expressions::OneOrMore;
use super::kind::{AxisUse, ChartKind, ChartTraits, ExpressionKind, PointPositions};
use mumakil_draw::chart::{Ecdf, EcdfSample, SeriesLook};
use mumakil_results::expect::Unit;
use mumakil_results::tables::{AttemptRow, ReadError};

pub(super) struct Distribution<'c>(pub(super) &'c OneOrMore);

impl ChartKind for Distribution<'_> {
    fn nature(&self) -> ChartTraits {
        ChartTraits {
            over: AxisUse::Unused,
            published: Some(PointPositions::Values),
            ..ChartTraits::new(
                "distribution",
                "the curve furthest left: its values are the smallest",
                ExpressionKind::Sample,
            )
        }
    }

    fn expressions(&self) -> Vec<(&str, &str)> {
        self.0.parts()
    }

    fn draw(&self, canvas: &Canvas<'_>) -> Result<Picture, ReadError> {
        let (mut samples, mut figures) = (Vec::new(), Vec::new());
        for AskedExpression { name, plan, .. } in canvas.asked {
            for (label, by) in canvas.values(canvas.by) {
                let values = canvas.sample(plan, &canvas.at(&[by]))?;
                let name = named(name, &label);
                let mut published = Vec::new();
                for point in canvas.published(samples.len()) {
                    published.push((point.at, point.number.value));
                    let ours = share_at_most(&values, point.at);
                    figures.push(canvas.figure(&name, point, Unit::SHARE, ours));
                }
                let look = SeriesLook(samples.len());
                samples.push(EcdfSample { name, values, look, published });
            }
        }
        let chart = Ecdf {
            caption: canvas.caption.clone(),
            x: canvas.axis(),
            of: counted(canvas).to_owned(),
            samples,
        };
        Ok(Picture { drawing: chart.draw(), figures })
    }
}

/// Returns the share of values that are at most `most`; `None` without values.
fn share_at_most(values: &[f64], most: f64) -> Option<f64> {
    let count = values.iter().filter(|value| **value <= most).count();
    (!values.is_empty()).then(|| count as f64 / values.len() as f64)
}

/// Returns the word for the things that the sample counts. An expression over the table of tasks
/// may give one number for each task or for each job; then the word is "jobs or tasks".
fn counted(canvas: &Canvas<'_>) -> &'static str {
    // An expression of one number for each run, such as `makespan`, makes a sample of runs.
    let mut asked = canvas.asked.iter();
    if asked.all(|asked| ExpressionKind::Metric.plan(asked.text, &canvas.material.space).is_ok()) {
        "runs"
    } else if canvas.asked.iter().all(|asked| !asked.plan.needs().reads::<AttemptRow>()) {
        "jobs"
    } else {
        "jobs or tasks"
    }
}
