//! `ratio`: a metric under each compared value, divided by the metric under its base, paired by
//! seed.

use super::Picture;
use super::canvas::{BAND, Canvas};
use super::kind::{AxisUse, ChartKind, ChartTraits, ExpressionKind};
use mumakil_base::statistics::{Band, Estimate};
use mumakil_compare::{Pair, family};
use mumakil_draw::chart::{Ratio, RatioSeries, Ratios, SeriesLook};
use mumakil_results::tables::ReadError;

pub(super) struct RatioChart<'c>(pub(super) &'c str);

impl ChartKind for RatioChart<'_> {
    fn nature(&self) -> ChartTraits {
        ChartTraits {
            by: AxisUse::Unused,
            has_log: false,
            ..ChartTraits::new(
                "chart",
                "bands that do not reach the line at 1: these differences are decided",
                ExpressionKind::Metric,
            )
        }
    }

    fn expressions(&self) -> Vec<(&str, &str)> {
        vec![("", self.0)]
    }

    fn description(&self) -> String {
        format!("paired ratios of {}", self.0)
    }

    fn compares(&self) -> bool {
        true
    }

    fn draw(&self, canvas: &Canvas<'_>) -> Result<Picture, ReadError> {
        let space = &canvas.material.space;
        // The check refuses a chart of ratios without a compared axis, so the study's folder must
        // have been edited since.
        let Some(compared) = space.compared else { return Ok(canvas.nothing()) };
        let values = &space.axes[compared].values;
        let (asked, pairs) = (&canvas.asked[0], canvas.material.against.pairs(values.len()));
        let mut found: Vec<Vec<Pair>> = Vec::new();
        for (_, over) in canvas.values(canvas.over) {
            let mut numbers = Vec::new();
            for value in 0..values.len() {
                let cell = canvas.at(&[over, Some((compared, value))]);
                numbers.push(canvas.numbers(asked, &cell)?);
            }
            found.push(family(&pairs, |value| numbers[value].as_deref()));
        }
        let mark = |family: &Vec<Pair>, places: &(usize, usize)| {
            let pair = family.iter().find(|pair| pair.places == *places)?;
            let Estimate { mean, band, .. } = pair.ratio?;
            Some(Ratio {
                value: mean,
                band: band.map(|Band { low, high }| (low, high)),
                decided: pair.verdict.is_decided(),
                label: pair.words(asked.plan.unit()),
            })
        };
        let name = |(base, other): &(usize, usize)| {
            format!("{} / {}", values[*other].label, values[*base].label)
        };
        let looks = looks(&pairs, values.len());
        let (groups, series): (Vec<String>, Vec<RatioSeries>) = if canvas.over.is_some() {
            let labels = canvas.values(canvas.over).into_iter().map(|(label, _)| label);
            let series = pairs.iter().zip(looks.clone()).map(|(places, look)| RatioSeries {
                name: name(places),
                look,
                ratios: found.iter().map(|family| mark(family, places)).collect(),
            });
            (labels.collect(), series.collect())
        } else {
            // Without a second axis, the name of each pair stands below its ratio.
            let ratios = pairs.iter().map(|places| mark(&found[0], places)).collect();
            let series = RatioSeries { name: String::new(), look: SeriesLook(0), ratios };
            (pairs.iter().map(name).collect(), vec![series])
        };
        let several = 1 < pairs.len();
        let chart = Ratios {
            caption: canvas.caption.clone(),
            y: format!("Ratio of {}", asked.text),
            x: canvas.path(canvas.over),
            groups,
            series,
            looks: if canvas.over.is_some() { Vec::new() } else { looks },
            shared: canvas.shared,
            band: format!(
                "{BAND}, paired by seed{}",
                if several { ", each by itself" } else { "" }
            ),
        };
        Ok(chart.draw().into())
    }
}

/// Returns the look of each pair: that of the value which is compared with its base, as on charts
/// with a line for each value. If each value is compared with several bases, the other pairs of a
/// value have looks behind those of all values.
fn looks(pairs: &[(usize, usize)], values: usize) -> Vec<SeriesLook> {
    let mut further = values;
    let looks = pairs.iter().enumerate().map(|(place, (_, other))| {
        let is_first = pairs[..place].iter().all(|(_, before)| before != other);
        let look = if is_first { *other } else { further };
        further += usize::from(!is_first);
        SeriesLook(look)
    });
    looks.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_looks_like_its_value_and_no_two_pairs_look_alike() {
        let numbers = |pairs: &[(usize, usize)]| {
            looks(pairs, 3).into_iter().map(|SeriesLook(number)| number).collect::<Vec<_>>()
        };
        assert_eq!(numbers(&[(0, 1), (0, 2)]), [1, 2]);
        assert_eq!(numbers(&[(1, 0), (1, 2)]), [0, 2]);
        assert_eq!(numbers(&[(0, 1), (0, 2), (1, 2)]), [1, 2, 3]);
    }
}
