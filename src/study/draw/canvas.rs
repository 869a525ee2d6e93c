//! The canvas of a chart: its axes and expressions, and the numbers of its cells.

use super::Picture;
use super::published::PublishedPoint;
use crate::plan::compared::ComparedWith;
use mumakil_base::statistics::{Band, Estimate, interval};
use mumakil_draw::chart::{self, Bar, Caption, ChartAxis, SeriesLook, ValueLines};
use mumakil_results::expect::{ExprPlan, Figure, Runs, Space, Unit, in_words};
use mumakil_results::tables::ReadError;

/// The meaning of bands and whiskers, for the legend.
pub(super) const BAND: &str = "95 % confidence";

/// The study and its runs, from which charts are made.
pub(crate) struct ChartMaterial<'s> {
    /// The study's name, which begins the id of each chart.
    pub(crate) study: &'s str,
    pub(crate) space: Space,
    /// The compared pairs of values on the compared axis.
    pub(crate) against: ComparedWith,
    pub(crate) runs: &'s dyn Runs,
    pub(crate) measured: &'s MeasuredNumbers<'s>,
    /// The cells of the study, each with whether it is overloaded.
    pub(crate) marked: &'s [(&'s [usize], bool)],
    /// Whether a cell is overloaded; `false` if the study leaves the cell out.
    pub(crate) is_overloaded: &'s dyn Fn(&[usize]) -> bool,
}

/// Returns the numbers of a metric in a cell, seed by seed, if the study has read them already;
/// otherwise `None`.
type MeasuredNumbers<'s> = dyn Fn(&str, &[usize]) -> Option<Vec<Option<f64>>> + 's;

/// The index of an axis, and the index of a value on that axis.
pub(super) type AxisSpot = (usize, usize);

/// The data of a chart that is being drawn.
pub(super) struct Canvas<'c> {
    pub(super) material: &'c ChartMaterial<'c>,
    pub(super) caption: Caption,
    /// The horizontal axis.
    pub(super) over: Option<usize>,
    /// The axis that makes several lines, bars or rows.
    pub(super) by: Option<usize>,
    /// The cell of the chart. It has the first value of an axis whose values all lie on the chart.
    pub(super) cell: &'c [usize],
    /// The expressions of the chart.
    pub(super) asked: &'c [AskedExpression<'c>],
    /// Whether the axis of values is logarithmic.
    pub(super) log: bool,
    /// The ends of the axis of values that the charts of an entry share.
    pub(super) shared: Option<(f64, f64)>,
    /// The published points of each line or group of bars.
    pub(super) published: &'c [Vec<PublishedPoint>],
}

/// A parsed expression of a chart.
pub(super) struct AskedExpression<'c> {
    /// Its name; empty for a single expression.
    pub(super) name: &'c str,
    pub(super) text: &'c str,
    pub(super) plan: ExprPlan,
}

/// The bars or boxes over a label: an expression at a value of the horizontal axis.
pub(super) struct Group {
    pub(super) label: String,
    /// The index of the expression.
    pub(super) expression: usize,
    pub(super) over: Option<AxisSpot>,
}

impl Canvas<'_> {
    /// Returns the values of an axis with their labels; without an axis, one value without a label.
    pub(super) fn values(&self, axis: Option<usize>) -> Vec<(String, Option<AxisSpot>)> {
        values_of(&self.material.space, axis)
    }

    /// Returns the published points of a line or group of bars, given by its index.
    pub(super) fn published(&self, series: usize) -> &[PublishedPoint] {
        self.published.get(series).map_or(&[], Vec::as_slice)
    }

    /// Returns a published point beside the study's own number.
    pub(super) fn figure(
        &self,
        series: &str,
        point: &PublishedPoint,
        unit: Unit,
        ours: Option<f64>,
    ) -> Figure {
        // On a chart with one expression, a label needs its axis: `nodes=10`. On a chart with
        // several expressions, their names explain the labels.
        let of = |axis: Option<usize>, label: &str| match (axis, self.asked) {
            (Some(axis), [_]) => format!("{}={label}", self.material.space.axes[axis].name()),
            _ => label.to_owned(),
        };
        let series = if self.published.len() == 1 { String::new() } else { of(self.by, series) };
        let names = [series, of(self.over, &point.label)];
        let what = names.into_iter().filter(|name| !name.is_empty()).collect::<Vec<_>>();
        let (published, unit) = (point.number.clone(), unit.or(point.number.unit));
        Figure { what: what.join(", "), published, ours, unit }
    }

    /// Returns the groups that stand side by side: each expression at each value of the horizontal
    /// axis.
    pub(super) fn groups(&self) -> Vec<Group> {
        let values = self.values(self.over);
        let mut groups = Vec::new();
        for (expression, asked) in self.asked.iter().enumerate() {
            groups.extend(values.iter().map(|(label, over)| Group {
                label: named(asked.name, label),
                expression,
                over: *over,
            }));
        }
        groups
    }

    /// Returns the look of each value of the horizontal axis if the chart has no other series: the
    /// look that the value has as a series of other charts. Numbers have one look; the result is
    /// empty then, or if there are series.
    pub(super) fn looks(&self) -> Vec<SeriesLook> {
        let Some(over) = self.over.filter(|_| self.by.is_none() && self.asked.len() == 1) else {
            return Vec::new();
        };
        let axis = &self.material.space.axes[over];
        match axis.unit() {
            Some(_) => Vec::new(),
            None => (0..axis.values.len()).map(SeriesLook).collect(),
        }
    }

    /// Returns the name of an axis' field; empty without an axis.
    pub(super) fn path(&self, axis: Option<usize>) -> String {
        axis.map(|axis| self.material.space.axes[axis].name().to_owned()).unwrap_or_default()
    }

    /// Returns the chart's cell after these values have replaced its own.
    pub(super) fn at(&self, places: &[Option<AxisSpot>]) -> Vec<usize> {
        let mut cell = self.cell.to_vec();
        for (axis, place) in places.iter().flatten() {
            cell[*axis] = *place;
        }
        cell
    }

    /// Returns the numbers of a metric in a cell, seed by seed; `None` if the study leaves the cell
    /// out.
    pub(super) fn numbers(
        &self,
        asked: &AskedExpression<'_>,
        cell: &[usize],
    ) -> Result<Option<Vec<Option<f64>>>, ReadError> {
        let ChartMaterial { runs, measured, .. } = self.material;
        // If the expression chooses cells itself, this cell may be missing.
        if asked.plan.chosen().is_empty() && !runs.has(cell) {
            return Ok(None);
        }
        Ok(Some(match measured(asked.text, cell) {
            Some(numbers) => numbers,
            None => asked.plan.measure(*runs, cell)?,
        }))
    }

    /// Returns the mean of a metric over a cell's seeds, with its interval; `None` without numbers.
    pub(super) fn estimate(
        &self,
        asked: &AskedExpression<'_>,
        cell: &[usize],
    ) -> Result<Option<Bar>, ReadError> {
        let Some(found) = self.numbers(asked, cell)? else { return Ok(None) };
        let numbers: Vec<f64> = found.into_iter().flatten().collect();
        // A share lies between 0 and 1, but its interval may reach below 0 or above 1: the drawing
        // cuts the interval.
        Ok(interval(&numbers).map(|Estimate { mean, band, .. }| Bar {
            value: mean,
            whisker: band
                .map(|band| band.drawn(&numbers, asked.plan.unit() == Unit::SHARE))
                .map(|Band { low, high }| (low, high)),
        }))
    }

    /// Returns the numbers of a cell, from all seeds in one list.
    pub(super) fn sample(&self, plan: &ExprPlan, cell: &[usize]) -> Result<Vec<f64>, ReadError> {
        let mut values = Vec::new();
        for seed in self.seeds(cell) {
            values.extend(plan.values(self.material.runs, cell, seed)?);
        }
        Ok(values)
    }

    /// Returns the indices of a cell's seeds; an empty range if the study leaves the cell out.
    pub(super) fn seeds(&self, cell: &[usize]) -> std::ops::Range<usize> {
        let runs = self.material.runs;
        0..if runs.has(cell) { runs.seeds() } else { 0 }
    }

    /// Returns the caption of a chart with crosses over these values.
    pub(super) fn crossed(&self, values: Vec<(usize, usize)>) -> Caption {
        let mut caption = self.caption.clone();
        caption.doubted.values = values;
        caption
    }

    /// Returns whether a value of an expression is that of an overloaded cell.
    pub(super) fn is_overloaded(&self, asked: &AskedExpression<'_>, cell: &[usize]) -> bool {
        // An expression that chooses cells itself has values of other cells.
        asked.plan.chosen().is_empty() && (self.material.is_overloaded)(cell)
    }

    /// Returns the axis of the expressions' values, which all have one unit.
    pub(super) fn axis(&self) -> ChartAxis {
        let unit = self.asked.first().map_or(Unit::PLAIN, |asked| asked.plan.unit());
        let title = match (self.asked, unit) {
            ([asked], _) => &*in_words(asked.text),
            (_, Unit::TIME) => "Time",
            (_, Unit::BYTES) => "Size",
            (_, Unit::SHARE) => "Share",
            _ => "Value",
        };
        let unit = chart_unit(unit);
        let new = if self.log { ChartAxis::log } else { ChartAxis::linear };
        ChartAxis { shared: self.shared, ..new(title, unit) }
    }

    /// Returns an empty chart.
    pub(super) fn nothing(&self) -> Picture {
        let caption = self.caption.clone();
        let (x, y) = (
            ChartAxis::linear("", chart::AxisUnit::Plain),
            ChartAxis::linear("", chart::AxisUnit::Plain),
        );
        let (lines, band) = (Vec::new(), String::new());
        ValueLines { caption, x, y, lines, band }.draw().into()
    }
}

/// Returns the values of an axis with their labels; without an axis, one value without a label.
pub(super) fn values_of(space: &Space, axis: Option<usize>) -> Vec<(String, Option<AxisSpot>)> {
    match axis {
        Some(axis) => {
            let values = space.axes[axis].values.iter().enumerate();
            values.map(|(place, value)| (value.label.clone(), Some((axis, place)))).collect()
        }
        None => vec![(String::new(), None)],
    }
}

/// Returns the labels of the groups: see [`Canvas::groups`].
pub(super) fn labels_of<'n>(
    names: impl Iterator<Item = &'n str>,
    space: &Space,
    over: Option<usize>,
) -> Vec<String> {
    let values = values_of(space, over);
    let labels = names.flat_map(|name| values.iter().map(move |(label, _)| named(name, label)));
    labels.collect()
}

/// Returns the name of an expression together with the label of a value; either may be empty.
pub(super) fn named(name: &str, label: &str) -> String {
    format!("{name} {label}").trim().to_owned()
}

/// Returns the unit of a chart's axis for the unit of a metric.
pub(super) fn chart_unit(unit: Unit) -> chart::AxisUnit {
    match unit {
        Unit::SHARE => chart::AxisUnit::Share,
        Unit::TIME => chart::AxisUnit::Seconds,
        Unit::BYTES => chart::AxisUnit::Bytes,
        _ => chart::AxisUnit::Plain,
    }
}
