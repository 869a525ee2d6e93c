//! `ecdf`: how a number of jobs or tasks is distributed.

use super::canvas::{Asked, Canvas, named};
use super::expressions::OneOrMore;
use super::kind::{Kind, Nature, Shown, Use};
use crate::chart::{Drawing, Ecdf, Sample};
use crate::expect::{ReadError, Table};

pub(super) struct Distribution<'c>(pub(super) &'c OneOrMore);

impl Kind for Distribution<'_> {
    fn nature(&self) -> Nature {
        Nature {
            word: "distribution",
            shows: Some(Shown::Sample),
            over: Use::Unused,
            by: Use::Optional,
            has_log: true,
        }
    }

    fn expressions(&self) -> Vec<(&str, &str)> {
        self.0.parts()
    }

    fn draw(&self, canvas: &Canvas<'_>) -> Result<Drawing, ReadError> {
        let mut samples = Vec::new();
        for Asked { name, plan, .. } in canvas.asked {
            for (label, by) in canvas.values(canvas.by) {
                let values = canvas.sample(plan, &canvas.at(&[by]))?;
                samples.push(Sample { name: named(name, &label), values });
            }
        }
        let chart = Ecdf {
            caption: canvas.caption.clone(),
            x: canvas.axis(),
            of: counted(canvas).to_owned(),
            samples,
        };
        Ok(chart.draw())
    }
}

/// Returns what the numbers of samples are of. A number that reads of tasks may be of jobs.
fn counted(canvas: &Canvas<'_>) -> &'static str {
    let is_metric =
        |asked: &Asked<'_>| Shown::Metric.plan(asked.text, &canvas.material.space).is_ok();
    let is_of_jobs = |asked: &Asked<'_>| !asked.plan.needs().columns.contains_key(&Table::Tasks);
    if canvas.asked.iter().all(is_metric) {
        "runs"
    } else if canvas.asked.iter().all(is_of_jobs) {
        "jobs"
    } else {
        "jobs or tasks"
    }
}
