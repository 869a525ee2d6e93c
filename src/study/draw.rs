//! `charts:`: the charts of a study.
//!
//! ```text
//! sweep:  {cluster.nodes: [10, 20, 40], scheduler: [fair, hfsp], hadoop.slow_start: [0, 1]}
//! charts: [{line: mean(sojourn), over: cluster.nodes, by: scheduler}]
//!   -> kind `line`: nodes on the horizontal axis, one line for each scheduler,
//!      and a chart for each slow start, unless `where: {hadoop.slow_start: 1}` chooses one
//! ```
//!
//! To add a kind of chart, write a file here with its options, its properties and its drawing
//! (`ChartKind`), and add it to the list of `kinds!`. `canvas` has the code that all kinds share,
//! and `check` refuses wrong charts of any kind.

mod bars;
mod boxes;
mod canvas;
mod check;
mod ecdf;
mod expressions;
mod heat;
mod kind;
mod line;
mod percentiles;
mod published;
mod ratio;
mod stack;

use std::collections::BTreeMap;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_yaml::Value;

use self::bars::BarChart;
use self::boxes::BoxPlot;
use self::canvas::{AskedExpression, Canvas};
use self::ecdf::Distribution;
use self::heat::HeatMap;
use self::kind::{ChartKind, ChartTraits, ExpressionKind};
use self::line::LineChart;
use self::percentiles::PercentilePlot;
pub use self::published::{PublishedPoints, Series};
use self::ratio::RatioChart;
use self::stack::SlotStack;
use crate::plan::{axes, overloaded};
use mumakil_draw::chart::{Caption, DoubtedValues, Drawing};
use mumakil_results::expect::{Figure, Space, Unit, combinations};
use mumakil_results::tables::ReadError;
use mumakil_yaml::{Path, YamlProblem};

pub(crate) use canvas::ChartMaterial;
pub use expressions::OneOrMore;
pub use stack::StackedSlots;

/// The largest number of charts that one entry makes.
// Chosen: a reader hardly looks at more charts on a page; a larger number mostly comes from one
// axis too many.
pub(crate) const MOST_CHARTS: usize = 12;

/// Makes [`ChartSpec`] from a list of chart kinds. An entry of the list has the purpose of the
/// kind, its key, the type of its options, and the type that draws it.
macro_rules! kinds {
    ($($(#[$story:meta])* $key:ident: $options:ty => $kind:ident,)*) => {
        /// A chart of a study, as the user writes it.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        pub struct ChartSpec {
            $(
                $(#[$story])*
                #[serde(skip_serializing_if = "Option::is_none")]
                pub $key: Option<$options>,
            )*
            /// The horizontal axis.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub over: Option<String>,
            /// The axis that makes several lines, bars or rows.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub by: Option<String>,
            /// Axes with a single value on the chart.
            #[serde(rename = "where", skip_serializing_if = "IndexMap::is_empty")]
            #[schemars(with = "BTreeMap<String, serde_json::Value>")]
            pub fixed: IndexMap<String, Value>,
            /// The numbers of a published figure, shown beside ours: a list with a number for each
            /// value on the horizontal axis, or `{value: number}`; for several lines or bars
            /// `{name: …}`.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub published: Option<PublishedPoints>,
            /// The title.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub title: Option<String>,
            /// Whether the axis of values is logarithmic.
            #[serde(skip_serializing_if = "std::ops::Not::not")]
            pub log: bool,
        }

        impl ChartSpec {
            /// The keys of all kinds.
            const KINDS: &[&str] = &[$(stringify!($key)),*];

            /// Returns the kinds that an entry names, with their keys.
            fn kinds(&self) -> Vec<(&'static str, Box<dyn ChartKind + '_>)> {
                let mut kinds: Vec<(&'static str, Box<dyn ChartKind + '_>)> = Vec::new();
                $(
                    if let Some(options) = &self.$key {
                        kinds.push((stringify!($key), Box::new($kind(options))));
                    }
                )*
                kinds
            }
        }
    };
}

kinds! {
    /// A metric over an axis of numbers, with its interval.
    line: String => LineChart,
    /// A metric for each value of an axis, with its interval; or several metrics by their names.
    bars: OneOrMore => BarChart,
    /// A metric over two axes.
    heat: String => HeatMap,
    /// A metric under each compared value, divided by the metric under its base, paired by seed,
    /// with its interval.
    ratio: String => RatioChart,
    /// The distribution of a number over jobs or tasks.
    ecdf: OneOrMore => Distribution,
    /// The distribution of a number over jobs or tasks, as boxes.
    boxes: OneOrMore => BoxPlot,
    /// A histogram up to its rarest values.
    percentiles: String => PercentilePlot,
    /// The pools, users or jobs that hold the slots of a kind over time, in the run with the first
    /// seed.
    stack: StackedSlots => SlotStack,
}

/// The use of each axis in the charts of an entry.
#[derive(Debug)]
struct Layout {
    over: Option<usize>,
    by: Option<usize>,
    /// The compared axis, if each chart shows all its values.
    compared: Option<usize>,
    /// The axes for which every expression chooses a value, as in `makespan[nodes=10]`.
    chosen: Vec<usize>,
    /// The cell of each chart. It has the first value of an axis whose values all lie on one chart.
    charts: Vec<Vec<usize>>,
}

/// A chart, and the published numbers that belong to it.
#[derive(Clone, Debug)]
pub struct Picture {
    /// The chart.
    pub drawing: Drawing,
    /// The published numbers that the chart shows, each beside the measured number.
    pub figures: Vec<Figure>,
}

/// A chart without published numbers.
impl From<Drawing> for Picture {
    fn from(drawing: Drawing) -> Self {
        Self { drawing, figures: Vec::new() }
    }
}

/// Draws all charts of a study.
pub(crate) fn draw(
    specs: &[ChartSpec],
    material: &ChartMaterial<'_>,
) -> Result<Vec<Picture>, ReadError> {
    let mut pictures = Vec::new();
    for spec in specs {
        // The study was checked when it was read, but its folder may have been edited since. Leave
        // out a chart that cannot be drawn any more, rather than lose the whole report.
        let Ok((_, kind)) = spec.kind() else { continue };
        let Ok(layout) = spec.layout(&*kind, &material.space) else { continue };
        let Some(asked) = ask(&*kind, &material.space) else { continue };
        let unit = asked.first().map_or(Unit::PLAIN, |asked| asked.plan.unit());
        let points = spec.points(&*kind, &layout, &material.space, unit);
        let Ok(published) = points else { continue };
        let drawn = |shared| {
            let numbered = layout.charts.iter().zip(pictures.len()..);
            let drawn = numbered.map(|(cell, before)| {
                let canvas = Canvas {
                    material,
                    // The count of charts before this chart makes the id of this chart unique on
                    // the page.
                    caption: spec.caption(&*kind, &layout, cell, material, before),
                    over: layout.over,
                    by: layout.by,
                    cell,
                    asked: &asked,
                    log: spec.log,
                    shared,
                    published: &published,
                };
                kind.draw(&canvas)
            });
            drawn.collect::<Result<Vec<Picture>, ReadError>>()
        };
        let mut charts = drawn(None)?;
        // Charts of a metric side by side are compared by eye: draw them again, on one scale.
        if 1 < charts.len() && kind.nature().shows == Some(ExpressionKind::Metric) {
            let ranges = charts.iter().filter_map(|picture| picture.drawing.range());
            charts = drawn(ranges.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))))?;
        }
        pictures.extend(charts);
    }
    Ok(pictures)
}

/// Returns the axes for which every expression of a chart chooses a value.
fn chosen(kind: &dyn ChartKind, space: &Space) -> Vec<usize> {
    let Some(asked) = ask(kind, space) else { return Vec::new() };
    let chosen: Vec<Vec<usize>> = asked.iter().map(|asked| asked.plan.chosen()).collect();
    // If only some expressions choose a value of an axis, the other expressions still vary along
    // the axis.
    (0..space.axes.len())
        .filter(|axis| !chosen.is_empty() && chosen.iter().all(|own| own.contains(axis)))
        .collect()
}

/// Returns the index of the compared axis; an error if the study compares nothing.
fn compared(space: &Space) -> Result<usize, YamlProblem> {
    space.compared.ok_or_else(|| {
        let message = "a chart of ratios needs a study that compares";
        YamlProblem::value(Path::default(), message).hint("such as `compare: scheduler`")
    })
}

fn itself_chosen(name: &str, at: Path) -> YamlProblem {
    let message = format!("what this chart shows chooses its values of `{name}` itself");
    YamlProblem::value(at, message).hint("all would show the same: leave this out")
}

/// Parses the expressions of a chart; `None` if any of them is wrong.
fn ask<'c>(kind: &'c dyn ChartKind, space: &Space) -> Option<Vec<AskedExpression<'c>>> {
    // A stack of slots has no expression: it reads the run's table of slots itself.
    let Some(shown) = kind.nature().shows else { return Some(Vec::new()) };
    let expressions = kind.expressions().into_iter();
    let asked = expressions.map(|(name, text)| {
        let plan = shown.plan(text, space).ok()?;
        Some(AskedExpression { name, text, plan })
    });
    asked.collect()
}

impl ChartSpec {
    /// Returns the kind of the chart, with its key; an error unless the entry names exactly one
    /// kind.
    fn kind(&self) -> Result<(&'static str, Box<dyn ChartKind + '_>), YamlProblem> {
        let mut kinds = self.kinds().into_iter();
        match (kinds.next(), kinds.next()) {
            (Some(kind), None) => Ok(kind),
            _ => Err(YamlProblem::value(Path::default(), "a chart has one kind")
                .hint(format!("one of {}", Self::KINDS.join(", ")))),
        }
    }

    /// Returns the use of each axis, and the cell of each chart.
    fn layout(&self, kind: &dyn ChartKind, space: &Space) -> Result<Layout, YamlProblem> {
        let axis = |key: &str, name: &Option<String>| {
            name.as_ref().map(|name| axes::find(space, name, Path::of(key))).transpose()
        };
        let (mut over, mut by) = (axis("over", &self.over)?, axis("by", &self.by)?);
        if over.is_none() && kind.stands_over_labels() {
            // Spread the bars over the axis of `by`: otherwise all bars would stand in one group
            // without a label.
            (over, by) = (by, None);
        }
        if over.is_some() && over == by {
            let message = "`over` and `by` are the same axis";
            return Err(YamlProblem::value(Path::of("by"), message));
        }
        let compared = if kind.compares() { Some(compared(space)?) } else { None };
        let chosen = chosen(kind, space);
        if let Some(axis) = compared.filter(|axis| chosen.contains(axis)) {
            let name = space.axes[axis].name();
            let message =
                format!("this compares the values of `{name}`, which its metric chooses itself");
            return Err(
                YamlProblem::value(Path::default(), message).hint("draw `bars` or a `line`")
            );
        }
        let laid_out = |place: usize| [over, by, compared].contains(&Some(place));
        let mut choices: Vec<Vec<usize>> = Vec::new();
        for (place, axis) in space.axes.iter().enumerate() {
            let is_one = laid_out(place) || chosen.contains(&place);
            // An axis makes no further charts if it lies on the chart or the expressions choose its
            // value: use its first value.
            choices.push(if is_one { vec![0] } else { (0..axis.values.len()).collect() });
        }
        for (key, axis) in [("over", over), ("by", by)] {
            let Some(axis) = axis else { continue };
            let name = space.axes[axis].name();
            // Check this after `choices`: the order of the checks decides which error is reported.
            if compared == Some(axis) {
                let message = format!("the values of `{name}` are what this chart compares");
                return Err(YamlProblem::value(Path::of(key), message));
            }
            if chosen.contains(&axis) {
                return Err(itself_chosen(name, Path::of(key)));
            }
        }
        for (name, label) in &self.fixed {
            let place = axes::find(space, name, Path::of("where"))?;
            let at = Path::of("where").key(name);
            if laid_out(place) {
                let message = format!("all values of `{name}` lie on this chart");
                return Err(YamlProblem::value(at, message));
            }
            choices[place] = vec![axes::find_value(&space.axes[place], label, at)?];
        }
        let count: usize = choices.iter().map(Vec::len).product();
        if MOST_CHARTS < count {
            let message = format!("this makes {count} charts, more than {MOST_CHARTS}");
            return Err(YamlProblem::value(Path::default(), message)
                .hint("fix an axis: `where: {cluster.nodes: 10}`"));
        }
        let charts = combinations(&choices);
        Ok(Layout { over, by, compared, chosen, charts })
    }

    /// Returns the caption of the chart of a cell; `before` is the number of charts before it.
    fn caption(
        &self,
        kind: &dyn ChartKind,
        layout: &Layout,
        cell: &[usize],
        material: &ChartMaterial<'_>,
        before: usize,
    ) -> Caption {
        let ChartMaterial { study, space, runs, .. } = material;
        let what = kind.description();
        let laid_out = |axis: usize| {
            [layout.over, layout.by, layout.compared].contains(&Some(axis))
                || layout.chosen.contains(&axis)
        };
        // An axis with a single value distinguishes no charts.
        let told = (0..space.axes.len())
            .filter(|axis| !laid_out(*axis) && 1 < space.axes[*axis].values.len());
        let place = space.describe(cell, &told.collect::<Vec<_>>());
        let of = self.title.clone().unwrap_or_else(|| kind.in_words());
        let title = if place.is_empty() { of } else { format!("{of}, {place}") };
        let axis = |word: &str, axis: Option<usize>| {
            axis.map(|axis| format!(" {word} {}", space.axes[axis].name())).unwrap_or_default()
        };
        let seeds = match runs.seeds() {
            1 => "1 seed".to_owned(),
            seeds => format!("{seeds} seeds"),
        };
        let (over, by) = (axis("over", layout.over), axis("by", layout.by));
        let ChartTraits { word, look_for, .. } = kind.nature();
        let description = format!("A {word} of {what}{over}{by}, over {seeds}.");
        // An axis whose value an expression chooses lies on the chart with all its values.
        let marked = material.marked.iter().copied().filter(|(values, _)| {
            (0..values.len()).all(|axis| laid_out(axis) || values[axis] == cell[axis])
        });
        let shown: Vec<(&[usize], bool)> = marked.collect();
        let note = if shown.iter().any(|(_, mark)| *mark) {
            let cells = overloaded::marked_cells(&shown, |axis, value| space.setting(axis, value));
            format!("Overloaded: {cells}.")
        } else {
            String::new()
        };
        let doubted = DoubtedValues { word: "overloaded".to_owned(), note, values: Vec::new() };
        let id = format!("{study}-{}", before + 1);
        // The expression stands below the title, unless it is the title.
        let beneath = if what == title || kind.expressions().is_empty() {
            String::new()
        } else {
            format!("{what}{over}{by}")
        };
        Caption { id, title, beneath, description, look_for, doubted }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mumakil_results::expect::{SpaceAxis, SpaceValue};

    #[test]
    fn an_axis_alone_lies_under_its_boxes_whichever_word_it_has() {
        let nodes =
            SpaceAxis { path: "nodes".to_owned(), values: ["5", "10"].map(SpaceValue::new).into() };
        let space = Space { axes: vec![nodes], compared: None };
        for (yaml, over, by) in [
            ("{boxes: sojourn, by: nodes}", Some(0), None),
            ("{bars: makespan, by: nodes}", Some(0), None),
            ("{boxes: {a: sojourn, b: wait}, by: nodes}", None, Some(0)),
            ("{ecdf: sojourn, by: nodes}", None, Some(0)),
        ] {
            let spec: ChartSpec = serde_yaml::from_str(yaml).unwrap();
            let layout = spec.layout(&*spec.kind().unwrap().1, &space).unwrap();
            assert_eq!((layout.over, layout.by), (over, by), "{yaml}");
        }
    }
}
