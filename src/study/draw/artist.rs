//! The drawing of a study's charts.

use super::{ChartSpec, Kind, Layout, OneOrMore};
use crate::chart::{
    self, Arrangement, Axis, Bar, BarSeries, Bars, BoxSeries, Boxes, Caption, Curve, Drawing, Ecdf,
    Heat, LineSeries, Lines, Percentiles, Point, Sample,
};
use crate::expect::{Expr, Plan, ReadError, Runs as _, Space, Table, Unit};
use crate::mapred::SlotKind;
use crate::output::report::slots_over_time;
use crate::statistics::{Band, Estimate, interval};
use crate::study::findings::Findings;
use crate::study::sheet::{Sheet, StudyRuns};

/// The shares at which a histogram is drawn.
const SHARES: [f64; 17] = [
    0.0, 0.1, 0.25, 0.5, 0.75, 0.8, 0.9, 0.95, 0.975, 0.99, 0.995, 0.999, 0.9995, 0.9999, 0.99999,
    0.999999, 1.0,
];

/// Draws a study's charts.
pub(in crate::study) struct Artist<'s> {
    /// The study's name, which begins the id of each chart.
    study: &'s str,
    space: Space,
    runs: &'s StudyRuns<'s>,
    findings: &'s Findings,
}

/// An axis, and the place of a value on it.
type Spot = (usize, usize);

/// A chart on its way: its layout, its cell but for what is laid out, and its caption.
struct Canvas<'c> {
    spec: &'c ChartSpec,
    layout: &'c Layout,
    cell: &'c [usize],
    caption: Caption,
}

impl<'s> Artist<'s> {
    pub(in crate::study) fn new(
        sheet: &'s Sheet,
        runs: &'s StudyRuns<'s>,
        findings: &'s Findings,
    ) -> Self {
        Self { study: &sheet.study, space: sheet.space(), runs, findings }
    }

    /// Draws all charts that the study has.
    pub(in crate::study) fn draw(&self, specs: &[ChartSpec]) -> Result<Vec<Drawing>, ReadError> {
        let mut drawings = Vec::new();
        for spec in specs {
            // Was looked at when the study was read.
            let (Ok(kind), Ok(layout)) = (spec.kind(), spec.layout(&self.space)) else { continue };
            for cell in &layout.charts {
                let caption = self.caption(spec, &kind, &layout, cell, drawings.len());
                let canvas = Canvas { spec, layout: &layout, cell, caption };
                drawings.push(match &kind {
                    Kind::Line(text) => self.line(&canvas, text)?,
                    Kind::Bars(parts) => self.bars(&canvas, parts)?,
                    Kind::Heat(text) => self.heat(&canvas, text)?,
                    Kind::Ecdf(parts) => self.ecdf(&canvas, parts)?,
                    Kind::Boxes(parts) => self.boxes(&canvas, parts)?,
                    Kind::Percentiles(text) => self.percentiles(&canvas, text)?,
                    Kind::Stack(slots) => self.stack(&canvas, *slots)?,
                });
            }
        }
        Ok(drawings)
    }

    fn caption(
        &self,
        spec: &ChartSpec,
        kind: &Kind<'_>,
        layout: &Layout,
        cell: &[usize],
        number: usize,
    ) -> Caption {
        let texts = spec.expressions().unwrap_or_default();
        let what = match kind {
            Kind::Stack(slots) => format!("slots that {}s hold", slots.word()),
            _ => texts.iter().map(|(_, text)| *text).collect::<Vec<_>>().join(", "),
        };
        let laid_out = |axis: usize| layout.over == Some(axis) || layout.by == Some(axis);
        let told = (0..self.space.axes.len())
            .filter(|axis| !laid_out(*axis) && 1 < self.space.axes[*axis].values.len());
        let told: Vec<usize> = told.collect();
        let place = self.space.describe(cell, &told);
        let of = spec.title.clone().unwrap_or_else(|| what.clone());
        let title = if place.is_empty() { of } else { format!("{of}, {place}") };
        let word = match kind {
            Kind::Line(_) => "line chart",
            Kind::Bars(_) => "bar chart",
            Kind::Heat(_) => "heat map",
            Kind::Ecdf(_) => "distribution",
            Kind::Boxes(_) => "box plot",
            Kind::Percentiles(_) => "percentile plot",
            Kind::Stack(_) => "stacked chart",
        };
        let axis = |word: &str, axis: Option<usize>| {
            axis.map(|axis| format!(" {word} {}", self.space.axes[axis].path)).unwrap_or_default()
        };
        let seeds = match self.runs.seeds() {
            1 => "1 seed".to_owned(),
            seeds => format!("{seeds} seeds"),
        };
        let (over, by) = (axis("over", layout.over), axis("by", layout.by));
        let description = format!("A {word} of {what}{over}{by}, over {seeds}.");
        Caption { id: format!("{}-{}", self.study, number + 1), title, description }
    }

    /// Returns each value of an axis with its label; one nameless value where there is no axis.
    fn values(&self, axis: Option<usize>) -> Vec<(String, Option<Spot>)> {
        match axis {
            Some(axis) => {
                let values = self.space.axes[axis].values.iter().enumerate();
                values.map(|(place, value)| (value.label.clone(), Some((axis, place)))).collect()
            }
            None => vec![(String::new(), None)],
        }
    }

    /// Returns what stands at an axis; nothing where there is none.
    fn path(&self, axis: Option<usize>) -> String {
        axis.map(|axis| self.space.axes[axis].path.clone()).unwrap_or_default()
    }

    /// Returns the cell of a chart at values of what is laid out.
    fn at(&self, cell: &[usize], places: &[Option<Spot>]) -> Vec<usize> {
        let mut cell = cell.to_vec();
        for (axis, place) in places.iter().flatten() {
            cell[*axis] = *place;
        }
        cell
    }

    fn plan(&self, text: &str, is_metric: bool) -> Option<Plan> {
        let expr = Expr::parse(text).ok()?;
        if is_metric { expr.metric(&self.space).ok() } else { expr.sample(&self.space).ok() }
    }

    /// Returns a metric's mean over the seeds of a cell with its interval. What the study measures
    /// anyhow is not read again.
    fn estimate(&self, text: &str, plan: &Plan, cell: &[usize]) -> Result<Option<Bar>, ReadError> {
        let Some(place) = self.runs.place(cell) else { return Ok(None) };
        let numbers = match self.findings.metrics.iter().find(|metric| metric.text == text) {
            Some(metric) => metric.numbers[place].clone(),
            None => plan.measure(self.runs, cell)?,
        };
        let numbers: Vec<f64> = numbers.into_iter().flatten().collect();
        let drawn = |band: Band| band.drawn(&numbers, plan.unit() == Unit::SHARE);
        Ok(interval(&numbers).map(|Estimate { mean, band, .. }| Bar {
            value: mean,
            whisker: band.map(drawn).map(|Band { low, high }| (low, high)),
        }))
    }

    fn line(&self, canvas: &Canvas<'_>, text: &str) -> Result<Drawing, ReadError> {
        let (Some(over), Some(plan)) = (canvas.layout.over, self.plan(text, true)) else {
            return Ok(nothing(canvas));
        };
        let mut lines = Vec::new();
        for (name, by) in self.values(canvas.layout.by) {
            let mut points = Vec::new();
            for (place, value) in self.space.axes[over].values.iter().enumerate() {
                let Some((x, _)) = value.number else { continue };
                let cell = self.at(canvas.cell, &[by, Some((over, place))]);
                let Some(bar) = self.estimate(text, &plan, &cell)? else { continue };
                points.push(Point { x, y: bar.value, band: bar.whisker });
            }
            let name = if by.is_none() { text.to_owned() } else { name };
            lines.push(LineSeries { name, points, theory: false });
        }
        let unit = self.space.axes[over].values.first().and_then(|value| value.number);
        let x = Axis::linear(
            self.space.axes[over].path.clone(),
            unit.map_or(chart::Unit::Plain, |(_, unit)| shown(unit)),
        );
        let y = canvas.axis(text, plan.unit());
        let caption = canvas.caption.clone();
        Ok(Lines { caption, x, y, lines, references: Vec::new(), band: BAND.to_owned() }.draw())
    }

    fn bars(&self, canvas: &Canvas<'_>, parts: &OneOrMore) -> Result<Drawing, ReadError> {
        let parts = parts.parts();
        let plans: Vec<Plan> = parts.iter().filter_map(|(_, text)| self.plan(text, true)).collect();
        let over = self.values(canvas.layout.over);
        // Several expressions are the groups where no axis is.
        let groups: Vec<(String, usize, Option<Spot>)> = (0..plans.len())
            .flat_map(|part| {
                let name = parts[part].0.unwrap_or_default();
                over.iter().map(move |(label, place)| {
                    (format!("{name} {label}").trim().to_owned(), part, *place)
                })
            })
            .collect();
        let mut series = Vec::new();
        for (name, by) in self.values(canvas.layout.by) {
            let mut bars = Vec::new();
            for (_, part, over) in &groups {
                bars.push(self.estimate(
                    parts[*part].1,
                    &plans[*part],
                    &self.at(canvas.cell, &[by, *over]),
                )?);
            }
            series.push(BarSeries { name, bars });
        }
        let unit = plans.first().map_or(Unit::PLAIN, Plan::unit);
        let chart = Bars {
            caption: canvas.caption.clone(),
            y: canvas.axis(title(&parts, unit), unit),
            x: self.path(canvas.layout.over),
            groups: groups.into_iter().map(|(name, ..)| name).collect(),
            series,
            arrangement: Arrangement::Grouped,
            whisker: BAND.to_owned(),
        };
        Ok(chart.draw())
    }

    fn heat(&self, canvas: &Canvas<'_>, text: &str) -> Result<Drawing, ReadError> {
        let Some(plan) = self.plan(text, true) else { return Ok(nothing(canvas)) };
        let (columns, rows) = (self.values(canvas.layout.over), self.values(canvas.layout.by));
        let mut values = Vec::new();
        for (_, by) in &rows {
            let mut row = Vec::new();
            for (_, over) in &columns {
                let bar = self.estimate(text, &plan, &self.at(canvas.cell, &[*by, *over]))?;
                row.push(bar.map_or(f64::NAN, |bar| bar.value));
            }
            values.push(row);
        }
        let chart = Heat {
            caption: canvas.caption.clone(),
            x: self.path(canvas.layout.over),
            y: self.path(canvas.layout.by),
            columns: columns.into_iter().map(|(label, _)| label).collect(),
            rows: rows.into_iter().map(|(label, _)| label).collect(),
            value: canvas.axis(text, plan.unit()),
            values,
        };
        Ok(chart.draw())
    }

    /// Returns the numbers of a cell, of all seeds.
    fn sample(&self, plan: &Plan, cell: &[usize]) -> Result<Vec<f64>, ReadError> {
        let mut values = Vec::new();
        if self.runs.has(cell) {
            for seed in 0..self.runs.seeds() {
                values.extend(plan.values(self.runs, cell, seed)?);
            }
        }
        Ok(values)
    }

    fn ecdf(&self, canvas: &Canvas<'_>, parts: &OneOrMore) -> Result<Drawing, ReadError> {
        let (mut samples, mut unit) = (Vec::new(), Unit::PLAIN);
        let parts = parts.parts();
        for (name, text) in &parts {
            let Some(plan) = self.plan(text, false) else { continue };
            unit = plan.unit();
            for (label, by) in self.values(canvas.layout.by) {
                let values = self.sample(&plan, &self.at(canvas.cell, &[by]))?;
                let name = format!("{} {label}", name.unwrap_or_default()).trim().to_owned();
                samples.push(Sample { name, values });
            }
        }
        let x = canvas.axis(title(&parts, unit), unit);
        let caption = canvas.caption.clone();
        Ok(Ecdf { caption, x, of: self.counted(&parts).to_owned(), samples }.draw())
    }

    /// Returns what the numbers of samples are of. A number that reads of tasks may be of jobs.
    fn counted(&self, parts: &[(Option<&str>, &str)]) -> &'static str {
        let all = |is: &dyn Fn(&str) -> bool| parts.iter().all(|(_, text)| is(text));
        let of_jobs = |plan: Plan| !plan.needs().columns.contains_key(&Table::Tasks);
        if all(&|text| self.plan(text, true).is_some()) {
            "runs"
        } else if all(&|text| self.plan(text, false).is_some_and(of_jobs)) {
            "jobs"
        } else {
            "jobs or tasks"
        }
    }

    fn boxes(&self, canvas: &Canvas<'_>, parts: &OneOrMore) -> Result<Drawing, ReadError> {
        let parts = parts.parts();
        let plans: Vec<Plan> =
            parts.iter().filter_map(|(_, text)| self.plan(text, false)).collect();
        let over = self.values(canvas.layout.over);
        let mut groups = Vec::new();
        for (name, _) in &parts {
            groups.extend(over.iter().map(|(label, _)| {
                format!("{} {label}", name.unwrap_or_default()).trim().to_owned()
            }));
        }
        let mut series = Vec::new();
        for (name, by) in self.values(canvas.layout.by) {
            let mut samples = Vec::new();
            for plan in &plans {
                for (_, over) in &over {
                    samples.push(self.sample(plan, &self.at(canvas.cell, &[by, *over]))?);
                }
            }
            series.push(BoxSeries { name, samples });
        }
        let unit = plans.first().map_or(Unit::PLAIN, Plan::unit);
        let y = canvas.axis(title(&parts, unit), unit);
        let (caption, x) = (canvas.caption.clone(), self.path(canvas.layout.over));
        Ok(Boxes { caption, y, x, groups, series }.draw())
    }

    /// Of each cell the run with the first seed: slots over time have no mean.
    fn stack(&self, canvas: &Canvas<'_>, slots: SlotKind) -> Result<Drawing, ReadError> {
        if !self.runs.has(canvas.cell) {
            return Ok(nothing(canvas));
        }
        let Caption { id, title, .. } = canvas.caption.clone();
        slots_over_time(self.runs.run(canvas.cell, 0)?, slots, id, title)
    }

    fn percentiles(&self, canvas: &Canvas<'_>, text: &str) -> Result<Drawing, ReadError> {
        let Some(plan) = self.plan(text, false) else { return Ok(nothing(canvas)) };
        let mut curves = Vec::new();
        for (name, by) in self.values(canvas.layout.by) {
            let cell = self.at(canvas.cell, &[by]);
            let mut merged =
                hdrhistogram::Histogram::<u64>::new(3).expect("three digits are possible");
            for seed in (0..self.runs.seeds()).filter(|_| self.runs.has(&cell)) {
                if let Some(histogram) = plan.histogram(self.runs, &cell, seed)? {
                    merged.add(histogram).expect("the histogram grows");
                }
            }
            let count = merged.len() as f64;
            // Beyond the last value there is nothing to show.
            let shares =
                SHARES.into_iter().filter(|share| (1.0 - share) * count >= 1.0 || *share == 1.0);
            let value = |share| merged.value_at_quantile(share) as f64 / 1e6;
            let points = shares.map(|share| (share, value(share))).collect();
            let name = if by.is_none() { text.to_owned() } else { name };
            curves.push(Curve { name, points });
        }
        let y = canvas.axis(text, Unit::TIME);
        Ok(Percentiles { caption: canvas.caption.clone(), y, curves }.draw())
    }
}

/// What bands and whiskers are.
const BAND: &str = "95 % confidence";

impl Canvas<'_> {
    fn axis(&self, title: &str, unit: Unit) -> Axis {
        let unit = shown(unit);
        if self.spec.log { Axis::log(title, unit) } else { Axis::linear(title, unit) }
    }
}

/// Returns what an axis of one or several expressions shows.
fn title<'c>(parts: &[(Option<&str>, &'c str)], unit: Unit) -> &'c str {
    match (parts, unit) {
        ([(_, text)], _) => text,
        (_, Unit::TIME) => "time",
        (_, Unit::BYTES) => "size",
        (_, Unit::SHARE) => "share",
        _ => "value",
    }
}

/// Returns the unit in which a chart shows numbers of a unit.
fn shown(unit: Unit) -> chart::Unit {
    match unit {
        _ if unit == Unit::SHARE => chart::Unit::Share,
        _ if unit == Unit::TIME => chart::Unit::Seconds,
        _ if unit == Unit::BYTES => chart::Unit::Bytes,
        _ => chart::Unit::Plain,
    }
}

/// Returns a chart of nothing.
fn nothing(canvas: &Canvas<'_>) -> Drawing {
    let caption = canvas.caption.clone();
    let (x, y) = (Axis::linear("", chart::Unit::Plain), Axis::linear("", chart::Unit::Plain));
    Lines { caption, x, y, lines: Vec::new(), references: Vec::new(), band: String::new() }.draw()
}
