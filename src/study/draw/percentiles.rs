//! `percentiles`: a histogram up to its rarest values.

use hdrhistogram::Histogram;

use super::Picture;
use super::canvas::Canvas;
use super::kind::{Kind, Nature, Shown, Use};
use crate::chart::{Curve, Percentiles};
use crate::expect::ReadError;

/// The shares at which a histogram is drawn.
const SHARES: [f64; 17] = [
    0.0, 0.1, 0.25, 0.5, 0.75, 0.8, 0.9, 0.95, 0.975, 0.99, 0.995, 0.999, 0.9995, 0.9999, 0.99999,
    0.999999, 1.0,
];

pub(super) struct PercentilePlot<'c>(pub(super) &'c str);

impl Kind for PercentilePlot<'_> {
    fn nature(&self) -> Nature {
        Nature {
            word: "percentile plot",
            shows: Some(Shown::Histogram),
            over: Use::Unused,
            by: Use::Optional,
            has_log: true,
            published: None,
        }
    }

    fn expressions(&self) -> Vec<(&str, &str)> {
        vec![("", self.0)]
    }

    fn draw(&self, canvas: &Canvas<'_>) -> Result<Picture, ReadError> {
        let mut curves = Vec::new();
        for (name, by) in canvas.values(canvas.by) {
            let cell = canvas.at(&[by]);
            let mut merged = Histogram::<u64>::new(3).expect("three digits are possible");
            for seed in canvas.seeds(&cell) {
                let histogram =
                    canvas.asked[0].plan.histogram(canvas.material.runs, &cell, seed)?;
                if let Some(histogram) = histogram {
                    merged.add(histogram).expect("the histogram grows");
                }
            }
            let name = if by.is_none() { self.0.to_owned() } else { name };
            curves.push(Curve { name, points: points(&merged) });
        }
        Ok(Percentiles { caption: canvas.caption.clone(), y: canvas.axis(), curves }.draw().into())
    }
}

/// Returns shares and values, in seconds. Beyond the last value there is nothing to show.
fn points(histogram: &Histogram<u64>) -> Vec<(f64, f64)> {
    let count = histogram.len() as f64;
    let is_measured = |share: &f64| (1.0 - share) * count >= 1.0 || *share == 1.0;
    let value = |share| histogram.value_at_quantile(share) as f64 / 1e6;
    SHARES.into_iter().filter(is_measured).map(|share| (share, value(share))).collect()
}
