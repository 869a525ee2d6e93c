//! `charts:`: what a study draws, and the drawing of it.
//!
//! A chart has one kind, which names what it shows: `line: mean(sojourn)`. `over` is the axis that
//! lies on the page, `by` the axis that makes several lines. Axes that are neither, nor fixed by
//! `where`, make a chart for each of their combinations.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use indexmap::IndexMap;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_yaml::Value;

use super::axes;
use super::sheet::{Sheet, StudyRuns};
use crate::expect::{Expr, Needs, Plan, ReadError, Runs as _, Space, Unit};
use crate::output::chart::{
    self, Arrangement, Axis, Bar, BarSeries, Bars, BoxSeries, Boxes, Caption, Curve, Drawing, Ecdf,
    Heat, Line, Lines, Percentiles, Point, Sample,
};
use crate::scenario::{Path, Problem};
use crate::statistics::interval;

/// So many charts come of one entry at most.
const MOST_CHARTS: usize = 12;

/// The shares at which a histogram is drawn.
const SHARES: [f64; 17] = [
    0.0, 0.1, 0.25, 0.5, 0.75, 0.8, 0.9, 0.95, 0.975, 0.99, 0.995, 0.999, 0.9995, 0.9999, 0.99999,
    0.999999, 1.0,
];

/// A chart of a study, as it is written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ChartSpec {
    /// A metric over an axis of numbers, with its interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// A metric for each value of an axis, with its interval; or several metrics by their names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bars: Option<OneOrMore>,
    /// A metric over two axes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heat: Option<String>,
    /// How a number of jobs or tasks is distributed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecdf: Option<OneOrMore>,
    /// The same as boxes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boxes: Option<OneOrMore>,
    /// A histogram up to its rarest values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percentiles: Option<String>,
    /// The axis that lies on the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over: Option<String>,
    /// The axis that makes several lines, bars or rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Axes of which one value is shown.
    #[serde(rename = "where", skip_serializing_if = "IndexMap::is_empty")]
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    pub fixed: IndexMap<String, Value>,
    /// The title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Whether values lie on a logarithmic axis.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub log: bool,
}

/// An expression, or several with names.
#[derive(Clone, Debug, PartialEq)]
pub enum OneOrMore {
    /// One.
    One(String),
    /// Several, by their names.
    More(IndexMap<String, String>),
}

impl JsonSchema for OneOrMore {
    fn schema_name() -> Cow<'static, str> {
        "OneOrMore".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "title": "an expression, or several as {name: expression}",
            "anyOf": [
                { "type": "string" },
                { "type": "object", "additionalProperties": { "type": "string" } },
            ],
        })
    }
}

impl Serialize for OneOrMore {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::One(text) => text.serialize(to),
            Self::More(texts) => texts.serialize(to),
        }
    }
}

impl<'de> Deserialize<'de> for OneOrMore {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct EitherVisitor;

        impl<'de> de::Visitor<'de> for EitherVisitor {
            type Value = OneOrMore;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an expression, or several as {name: expression}")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<OneOrMore, E> {
                Ok(OneOrMore::One(text.to_owned()))
            }
            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<OneOrMore, A::Error> {
                let texts = IndexMap::deserialize(MapAccessDeserializer::new(map))?;
                if texts.is_empty() {
                    return Err(de::Error::invalid_length(0, &self));
                }
                Ok(OneOrMore::More(texts))
            }
        }
        from.deserialize_any(EitherVisitor)
    }
}

impl OneOrMore {
    /// Returns the expressions with their names; one alone has none.
    fn parts(&self) -> Vec<(Option<&str>, &str)> {
        match self {
            Self::One(text) => vec![(None, text)],
            Self::More(texts) => {
                texts.iter().map(|(name, text)| (Some(name.as_str()), text.as_str())).collect()
            }
        }
    }
}

/// What a chart shows, and how.
enum Kind<'c> {
    Line(&'c str),
    Bars(&'c OneOrMore),
    Heat(&'c str),
    Ecdf(&'c OneOrMore),
    Boxes(&'c OneOrMore),
    Percentiles(&'c str),
}

/// Where on the page each axis goes.
#[derive(Debug)]
struct Layout {
    over: Option<usize>,
    by: Option<usize>,
    /// The cells of each chart have these values; the axes above are at their first.
    charts: Vec<Vec<usize>>,
}

impl ChartSpec {
    /// Returns the charts that a study has if it does not say: each metric over the first axis, and
    /// how long jobs take under what is compared.
    pub(super) fn usual(sheet: &Sheet) -> Vec<Self> {
        let by = sheet.compare.map(|axis| sheet.axes[axis].field.clone());
        let others = sheet.axes.iter().enumerate().filter(|(axis, _)| Some(*axis) != sheet.compare);
        let over = others.map(|(_, axis)| axis).max_by_key(|axis| axis.values.len());
        let is_line = over.is_some_and(|axis| {
            2 < axis.values.len() && axis.space().values.iter().all(|value| value.number.is_some())
        });
        let over = over.map(|axis| axis.field.clone());
        let metric = |text: &String| {
            let (by, over) = (by.clone(), over.clone().or(by.clone()));
            match is_line {
                true => Self { line: Some(text.clone()), over, by, ..Self::default() },
                false => Self {
                    bars: Some(OneOrMore::One(text.clone())),
                    by: by.filter(|by| Some(by) != over.as_ref()),
                    over,
                    ..Self::default()
                },
            }
        };
        let sojourn = || Some(OneOrMore::One("sojourn".to_owned()));
        let ecdf = by.clone().map(|by| Self {
            ecdf: sojourn(),
            by: Some(by),
            log: true,
            ..Self::default()
        });
        // More than a few charts of it say nothing that one does not.
        let few =
            sheet.cells.len() <= 4 * sheet.compare.map_or(1, |axis| sheet.axes[axis].values.len());
        sheet.metrics.iter().map(metric).chain(ecdf.filter(|_| few)).collect()
    }

    fn kind(&self) -> Result<Kind<'_>, Problem> {
        let mut kinds = [
            self.line.as_deref().map(Kind::Line),
            self.bars.as_ref().map(Kind::Bars),
            self.heat.as_deref().map(Kind::Heat),
            self.ecdf.as_ref().map(Kind::Ecdf),
            self.boxes.as_ref().map(Kind::Boxes),
            self.percentiles.as_deref().map(Kind::Percentiles),
        ]
        .into_iter()
        .flatten();
        match (kinds.next(), kinds.next()) {
            (Some(kind), None) => Ok(kind),
            _ => Err(Problem::value(Path::default(), "a chart has one kind")
                .hint("one of line, bars, heat, ecdf, boxes, percentiles")),
        }
    }

    /// Returns what it reads of every run.
    pub(super) fn needs(&self, space: &Space) -> Result<Needs, Problem> {
        let kind = self.kind()?;
        let layout = self.layout(space)?;
        let missing = |axis: &str| {
            let message = format!("this chart needs `{axis}`, the axis that it goes over");
            Problem::value(Path::default(), message)
        };
        match kind {
            Kind::Line(_) if layout.over.is_none() => return Err(missing("over")),
            Kind::Heat(_) if layout.over.is_none() => return Err(missing("over")),
            Kind::Heat(_) if layout.by.is_none() => return Err(missing("by")),
            _ => {}
        }
        let is_metric = matches!(kind, Kind::Line(_) | Kind::Bars(_) | Kind::Heat(_));
        let mut needs = Needs::default();
        for (key, text) in self.expressions()? {
            let planned = Expr::parse(text)
                .and_then(|expr| if is_metric { expr.metric(space) } else { expr.sample(space) });
            let complain = |complaint| Problem::expression(Path::of(key), &complaint, text);
            needs.add(planned.map_err(complain)?.needs());
        }
        Ok(needs)
    }

    /// Returns each expression with the key that it stands at.
    fn expressions(&self) -> Result<Vec<(&'static str, &str)>, Problem> {
        fn all<'c>(key: &'static str, parts: &'c OneOrMore) -> Vec<(&'static str, &'c str)> {
            parts.parts().into_iter().map(|(_, text)| (key, text)).collect()
        }
        Ok(match self.kind()? {
            Kind::Line(text) => vec![("line", text)],
            Kind::Heat(text) => vec![("heat", text)],
            Kind::Percentiles(text) => vec![("percentiles", text)],
            Kind::Bars(parts) => all("bars", parts),
            Kind::Ecdf(parts) => all("ecdf", parts),
            Kind::Boxes(parts) => all("boxes", parts),
        })
    }

    /// Finds the axes, and the cells of each chart.
    fn layout(&self, space: &Space) -> Result<Layout, Problem> {
        let axis = |key: &str, name: &Option<String>| match name {
            None => Ok(None),
            Some(name) => space.place_of(name).map(Some).ok_or_else(|| {
                let known = space.axes.iter().map(|axis| axis.path.as_str());
                let names: Vec<&str> = known.clone().collect();
                let message = format!("`{name}` is no axis; there are {}", names.join(", "));
                Problem::value(Path::of(key), message).nearest(name, known)
            }),
        };
        let (over, by) = (axis("over", &self.over)?, axis("by", &self.by)?);
        let mut choices: Vec<Vec<usize>> = Vec::new();
        for (place, axis) in space.axes.iter().enumerate() {
            let laid_out = over == Some(place) || by == Some(place);
            choices.push(if laid_out { vec![0] } else { (0..axis.values.len()).collect() });
        }
        for (name, label) in &self.fixed {
            let at = Path::of("where").key(name);
            let place = axis("where", &Some(name.clone()))?.unwrap_or_default();
            let label = axes::text(label);
            let values = &space.axes[place].values;
            let value = values.iter().position(|value| value.label == label).ok_or_else(|| {
                let message = format!("`{name}` has no value `{label}`");
                let known = values.iter().map(|value| value.label.as_str());
                Problem::value(at, message).nearest(&label, known)
            })?;
            choices[place] = vec![value];
        }
        let count: usize = choices.iter().map(Vec::len).product();
        if MOST_CHARTS < count {
            let message = format!("this makes {count} charts, more than {MOST_CHARTS}");
            return Err(Problem::value(Path::default(), message)
                .hint("fix an axis: `where: {cluster.nodes: 10}`"));
        }
        let mut charts = vec![Vec::new()];
        for choice in choices {
            let longer = |prefix: Vec<usize>| {
                choice.iter().map(|value| [&prefix[..], &[*value]].concat()).collect::<Vec<_>>()
            };
            charts = charts.into_iter().flat_map(longer).collect();
        }
        Ok(Layout { over, by, charts })
    }
}

/// Draws a study's charts.
pub(super) struct Artist<'s> {
    /// The study's name, which begins the id of each chart.
    study: &'s str,
    space: Space,
    runs: &'s StudyRuns<'s>,
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
    pub(super) fn new(sheet: &'s Sheet, runs: &'s StudyRuns<'s>) -> Self {
        Self { study: &sheet.study, space: sheet.space(), runs }
    }

    /// Draws all charts that the study has.
    pub(super) fn draw(&self, specs: &[ChartSpec]) -> Result<Vec<Drawing>, ReadError> {
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
        let what = texts.iter().map(|(_, text)| *text).collect::<Vec<_>>().join(", ");
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
        };
        let axis = |word: &str, axis: Option<usize>| {
            axis.map(|axis| format!(" {word} {}", self.space.axes[axis].path)).unwrap_or_default()
        };
        let description = format!(
            "A {word} of {what}{}{}, over {} seeds.",
            axis("over", layout.over),
            axis("by", layout.by),
            self.runs.seeds()
        );
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

    /// Returns a metric's mean over the seeds of a cell with its interval.
    fn estimate(&self, plan: &Plan, cell: &[usize]) -> Result<Option<Bar>, ReadError> {
        if !self.runs.has(cell) {
            return Ok(None);
        }
        let numbers: Vec<f64> = plan.measure(self.runs, cell)?.into_iter().flatten().collect();
        Ok(interval(&numbers).map(|found| Bar {
            value: found.mean,
            whisker: (1 < found.n).then_some((found.low, found.high)),
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
                let cell = self.at(canvas.cell, &[by, Some((over, place))]);
                let Some(bar) = self.estimate(&plan, &cell)? else { continue };
                let x = value.number.map_or(place as f64, |(number, _)| number);
                points.push(Point { x, y: bar.value, band: bar.whisker });
            }
            let name = if by.is_none() { text.to_owned() } else { name };
            lines.push(Line { name, points, theory: false });
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
                bars.push(self.estimate(&plans[*part], &self.at(canvas.cell, &[by, *over]))?);
            }
            series.push(BarSeries { name, bars });
        }
        let unit = plans.first().map_or(Unit::PLAIN, Plan::unit);
        let chart = Bars {
            caption: canvas.caption.clone(),
            y: canvas.axis(title(&parts, unit), unit),
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
                let bar = self.estimate(&plan, &self.at(canvas.cell, &[*by, *over]))?;
                row.push(bar.map_or(f64::NAN, |bar| bar.value));
            }
            values.push(row);
        }
        let path = |axis: Option<usize>| {
            axis.map(|axis| self.space.axes[axis].path.clone()).unwrap_or_default()
        };
        let chart = Heat {
            caption: canvas.caption.clone(),
            x: path(canvas.layout.over),
            y: path(canvas.layout.by),
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
        Ok(Ecdf { caption, x, of: "jobs or tasks".to_owned(), samples }.draw())
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
        Ok(Boxes { caption: canvas.caption.clone(), y, groups, series }.draw())
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
