//! `published`: the numbers of a published figure, which a chart shows beside the measured numbers.
//!
//! ```text
//! bars: mean(sojourn), over: scheduler   published: [120, 80]     the first and the second bar
//! line: makespan, over: cluster.nodes    published: {25: 3min}    at 25 on the axis
//! ecdf: sojourn, by: scheduler           published: {fair: {1min: 50 %}, hfsp: {1min: 80 %}}
//! ```
//! All three forms become [`PublishedPoint`]s, which have a position on the chart.

use indexmap::IndexMap;
use schemars::json_schema;
use serde::{Deserialize, Serialize, de};

use super::canvas::{labels_of, named, values_of};
use super::kind::{ChartKind, PointPositions};
use super::{ChartSpec, Layout};
use mumakil_base::forms;
use mumakil_results::expect::{PublishedNumber, Space, SpaceAxis, Unit};
use mumakil_yaml::{Path, YamlProblem};

/// The published numbers of a chart.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum PublishedPoints {
    /// The numbers of a chart's only line, or of bars without `by`.
    One(Series),
    /// The numbers of several lines or groups of bars, by their names.
    Several(IndexMap<String, Series>),
}

/// The published numbers of a line or group of bars.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Series {
    /// A number for each value on the horizontal axis; `None` where no number was published.
    Each(Vec<Option<PublishedNumber>>),
    /// Numbers for some values, by label.
    At(IndexMap<String, PublishedNumber>),
}

/// A published number with its position.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PublishedPoint {
    /// The position: the index of a label, or a number on the axis.
    pub(super) at: f64,
    /// The position in words.
    pub(super) label: String,
    pub(super) number: PublishedNumber,
}

/// The positions that a chart's points can have.
enum UnderPoints<'s> {
    Labels(Vec<String>),
    Axis(&'s SpaceAxis),
    Values(Unit),
}

impl ChartSpec {
    /// Returns the published points of each line or group of bars; empty if the chart has no
    /// published numbers.
    pub(super) fn points(
        &self,
        kind: &dyn ChartKind,
        layout: &Layout,
        space: &Space,
        unit: Unit,
    ) -> Result<Vec<Vec<PublishedPoint>>, YamlProblem> {
        let Some(published) = &self.published else { return Ok(Vec::new()) };
        let at = Path::of("published");
        let by = || values_of(space, layout.by).into_iter().map(|(label, _)| label);
        let names = || kind.expressions().into_iter().map(|(name, _)| name);
        let (series, foot): (Vec<String>, UnderPoints<'_>) =
            // A chart with labels may lack `over`. Then several expressions stand side by side,
            // with their names as labels.
            match (kind.nature().published, layout.over) {
                (Some(PointPositions::Labels), over) => {
                    (by().collect(), UnderPoints::Labels(labels_of(names(), space, over)))
                }
                (Some(PointPositions::Axis), Some(over)) => {
                    (by().collect(), UnderPoints::Axis(&space.axes[over]))
                }
                (Some(PointPositions::Values), _) => {
                    (names().flat_map(|name| by().map(move |label| named(name, &label))).collect(), UnderPoints::Values(unit))
                }
                _ => return Err(YamlProblem::key(at, "this kind of chart has no `published`")),
            };
        if 1 < layout.charts.len() {
            let count = layout.charts.len();
            let message = format!("this is of one chart, and the entry makes {count}");
            return Err(
                YamlProblem::value(at, message).hint("fix an axis: `where: {cluster.nodes: 10}`")
            );
        }
        // A published point of a distribution is a share of the sample, whatever the unit of the
        // sample's values.
        let unit = if let UnderPoints::Values(_) = foot { Unit::SHARE } else { unit };
        let placed = place(published, &series, |series| foot.points(series, unit));
        placed.map_err(|problem| problem.inside(&at))
    }
}

/// Returns the points of each series, in the order of `names`.
fn place(
    published: &PublishedPoints,
    names: &[String],
    points: impl Fn(&Series) -> Result<Vec<PublishedPoint>, YamlProblem>,
) -> Result<Vec<Vec<PublishedPoint>>, YamlProblem> {
    let list = || names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    match (published, names) {
        (PublishedPoints::One(series), [_]) => Ok(vec![points(series)?]),
        (PublishedPoints::One(_), _) => {
            let message = format!("this chart has several: {}", list());
            Err(YamlProblem::value(Path::default(), message)
                .hint("write `{name: …}` for each of them"))
        }
        (PublishedPoints::Several(several), _) => {
            let mut placed = vec![Vec::new(); names.len()];
            for (name, series) in several {
                let at = Path::default().key(name);
                let Some(number) = names.iter().position(|other| other == name) else {
                    let problem =
                        YamlProblem::key(at, format!("there is no `{name}` on this chart"));
                    return Err(problem.nearest(name, names.iter().map(String::as_str)));
                };
                placed[number] = points(series).map_err(|problem| problem.inside(&at))?;
            }
            Ok(placed)
        }
    }
}

impl UnderPoints<'_> {
    fn points(&self, series: &Series, unit: Unit) -> Result<Vec<PublishedPoint>, YamlProblem> {
        let points = match series {
            Series::Each(numbers) => self.each(numbers)?,
            Series::At(numbers) => numbers
                .iter()
                .map(|(label, number)| self.at(label, number))
                .collect::<Result<_, _>>()?,
        };
        for PublishedPoint { label, number, .. } in &points {
            if !number.unit.fits(unit) {
                let (own, other) = (number.unit.word(), unit.word());
                let message =
                    format!("`{}` at {label} is {own}; the chart shows {other}", number.text);
                return Err(YamlProblem::value(Path::default(), message));
            }
            if let Self::Values(_) = self
                && !(0.0..=1.0).contains(&number.value)
            {
                let message = format!("`{}` at {label} is no share of a whole", number.text);
                return Err(YamlProblem::value(Path::default().key(label), message)
                    .hint("write which share is at most so large, from 0 % to 100 %"));
            }
        }
        Ok(points)
    }

    /// Places a list of numbers, one for each value on the horizontal axis.
    fn each(
        &self,
        numbers: &[Option<PublishedNumber>],
    ) -> Result<Vec<PublishedPoint>, YamlProblem> {
        let places: Vec<(f64, &str)> = match self {
            Self::Labels(labels) => {
                (0..).zip(labels).map(|(place, label)| (f64::from(place), &**label)).collect()
            }
            Self::Axis(axis) => {
                let numbers = axis.values.iter().map(|value| (value.number, &*value.label));
                numbers.filter_map(|(number, label)| Some((number?.0, label))).collect()
            }
            Self::Values(_) => {
                let message = "a list has no values for its shares";
                return Err(YamlProblem::value(Path::default(), message)
                    .hint("write which share is at most so large: `{1min: 50 %}`"));
            }
        };
        // A shorter list would silently put numbers under wrong values.
        if places.len() != numbers.len() {
            let labels: Vec<&str> = places.iter().map(|(_, label)| *label).collect();
            let (given, count) = (numbers.len(), places.len());
            let message = format!("a list of {given} for {count} values: {}", labels.join(", "));
            return Err(
                YamlProblem::value(Path::default(), message).hint("write `~` where none is")
            );
        }
        let marks = places.into_iter().zip(numbers).filter_map(|((at, label), number)| {
            Some(PublishedPoint { at, label: label.to_owned(), number: number.clone()? })
        });
        Ok(marks.collect())
    }

    /// Places a published number at a label, or at a number that need not be one of the axis'
    /// values.
    fn at(&self, label: &str, number: &PublishedNumber) -> Result<PublishedPoint, YamlProblem> {
        let point = |at| PublishedPoint { at, label: label.to_owned(), number: number.clone() };
        let path = Path::default().key(label);
        let of_unit = |unit: Unit| match PublishedNumber::parse(label) {
            Some(found) if found.unit.fits(unit) => Ok(point(found.value)),
            _ => Err(YamlProblem::key(path.clone(), format!("`{label}` is not {}", unit.word()))),
        };
        match self {
            Self::Labels(labels) => match labels.iter().position(|other| other == label) {
                Some(place) => Ok(point(place as f64)),
                None => Err(YamlProblem::key(path, format!("there is no `{label}` on this chart"))
                    .nearest(label, labels.iter().map(String::as_str))),
            },
            Self::Axis(axis) => {
                // Look for a label first: the value 10 may have the label `small`.
                let known = axis.values.iter().find(|value| value.label == label);
                match known.and_then(|value| value.number) {
                    Some((at, _)) => Ok(point(at)),
                    None => of_unit(axis.unit().unwrap_or(Unit::PLAIN)),
                }
            }
            Self::Values(unit) => of_unit(*unit),
        }
    }
}

const POINTS: &str = "a list of numbers, {value: number}, or {name: …} for each line";

forms! {
    PublishedPoints, expected: POINTS,
    list: |list| Vec::deserialize(list).map(|numbers| PublishedPoints::One(Series::Each(numbers))),
    map: |map| {
        let (mut numbers, mut several) = (IndexMap::new(), IndexMap::new());
        for (key, entry) in IndexMap::<String, PublishedEntry>::deserialize(map)? {
            match entry {
                PublishedEntry::Number(number) => drop(numbers.insert(key, number)),
                PublishedEntry::Points(PublishedPoints::One(series)) => {
                    drop(several.insert(key, series))
                }
                PublishedEntry::Points(PublishedPoints::Several(_)) => {
                    return Err(de::Error::custom("this is nested too deeply"));
                }
            }
        }
        match (numbers.is_empty(), several.is_empty()) {
            // An empty mapping is a line without published numbers.
            (_, true) => Ok(PublishedPoints::One(Series::At(numbers))),
            (true, false) => Ok(PublishedPoints::Several(several)),
            _ => Err(de::Error::custom("numbers and lists stand side by side here")),
        }
    },
    schema: "PublishedPoints", |generator| {
        let number = PublishedNumber::json_schema(generator);
        let list = json_schema!({
            "type": "array",
            "items": { "anyOf": [number, { "type": "null" }] },
        });
        let at = json_schema!({ "type": "object", "additionalProperties": number });
        let series = json_schema!({ "anyOf": [number, list, at] });
        json_schema!({
            "title": POINTS,
            "anyOf": [list, { "type": "object", "additionalProperties": series }],
        })
    },
}

/// The value of a key in `published`: a number, or the points of a line.
enum PublishedEntry {
    Number(PublishedNumber),
    Points(PublishedPoints),
}

const ENTRY: &str = "a number with its unit such as `98 %`, a list, or {value: number}";

forms! {
    PublishedEntry, expected: ENTRY,
    text or number: |text| PublishedNumber::parse(text)
        .map(PublishedEntry::Number)
        .ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &ENTRY)),
    list: |list| PublishedPoints::deserialize(list).map(PublishedEntry::Points),
    map: |map| PublishedPoints::deserialize(map).map(PublishedEntry::Points),
}
