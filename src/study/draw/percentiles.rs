//! `percentiles`: a histogram up to its rarest values.

use hdrhistogram::Histogram;

use super::Picture;
use super::canvas::Canvas;
use super::kind::{AxisUse, ChartKind, ChartTraits, ExpressionKind};
use mumakil_draw::chart::{Curve, Percentiles};
use mumakil_results::tables::ReadError;

pub(super) struct PercentilePlot<'c>(pub(super) &'c str);

impl ChartKind for PercentilePlot<'_> {
    fn nature(&self) -> ChartTraits {
        ChartTraits {
            over: AxisUse::Unused,
            ..ChartTraits::new(
                "percentile plot",
                "the share from which one curve leaves the others",
                ExpressionKind::Histogram,
            )
        }
    }

    fn expressions(&self) -> Vec<(&str, &str)> {
        vec![("", self.0)]
    }

    fn draw(&self, canvas: &Canvas<'_>) -> Result<Picture, ReadError> {
        let y = canvas.axis();
        let mut curves = Vec::new();
        for (name, by) in canvas.values(canvas.by) {
            let cell = canvas.at(&[by]);
            // Merge all seeds: a single run may have only a few values beyond the 99.9th
            // percentile.
            let mut merged = Histogram::<u64>::new(3).expect("three digits are possible");
            for seed in canvas.seeds(&cell) {
                let histogram =
                    canvas.asked[0].plan.histogram(canvas.material.runs, &cell, seed)?;
                if let Some(histogram) = histogram {
                    merged.add(histogram).expect("the histogram grows");
                }
            }
            let name = if by.is_none() { self.0.to_owned() } else { name };
            curves.push(Curve::of(name, &merged, &y));
        }
        Ok(Percentiles { caption: canvas.caption.clone(), y, curves }.draw().into())
    }
}
