//! `charts:`: what a study draws; `check` refuses what says nothing, `artist` draws the rest.
//!
//! A chart has one kind, which names what it shows: `line: mean(sojourn)`. `over` is the axis that
//! lies on the page, `by` the axis that makes several lines. Axes that are neither, nor fixed by
//! `where`, make a chart for each of their combinations.

mod artist;
mod check;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use indexmap::IndexMap;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_yaml::Value;

use super::axes;
use super::sheet::{Sheet, SheetAxis};
use crate::expect::{Space, combinations};
use crate::mapred::SlotKind;
use crate::yaml::{Path, Problem};

pub(super) use artist::Artist;

/// So many charts come of one entry at most.
const MOST_CHARTS: usize = 12;

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
    /// Who holds the slots of a kind over time, in the run with the first seed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack: Option<Slots>,
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

/// A kind of slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Slots {
    /// Those of maps.
    Map,
    /// Those of reduces.
    Reduce,
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

impl Slots {
    fn kind(self) -> SlotKind {
        match self {
            Self::Map => SlotKind::Map,
            Self::Reduce => SlotKind::Reduce,
        }
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
    Stack(SlotKind),
}

impl Kind<'_> {
    /// Returns whether what it shows of one expression stands over the labels of an axis.
    fn stands_over_names(&self) -> bool {
        matches!(self, Self::Bars(OneOrMore::One(_)) | Self::Boxes(OneOrMore::One(_)))
    }
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
    /// Returns the charts that a study has if it does not say: each metric over the longest axis,
    /// and how long jobs take under what is compared.
    pub(super) fn usual(sheet: &Sheet) -> Vec<Self> {
        let by = sheet.compare.map(|axis| sheet.axes[axis].field.clone());
        let mut others: Vec<&SheetAxis> = (0..)
            .zip(&sheet.axes)
            .filter(|(place, _)| Some(*place) != sheet.compare)
            .map(|(_, axis)| axis)
            .collect();
        // The longest last.
        others.sort_by_key(|axis| axis.values.len());
        let over = others.pop();
        let is_line = over.is_some_and(|axis| 2 < axis.values.len() && axis.is_numeric());
        let over = over.map(|axis| axis.field.clone());
        // Each of the others makes charts, or what lies on the page does not show it all.
        let charts = |axes: &[&SheetAxis]| axes.iter().map(|axis| axis.values.len()).product();
        let too_many = |axes: &[&SheetAxis]| MOST_CHARTS < charts(axes);
        let rows = if by.is_none() && too_many(&others) { others.pop() } else { None };
        let first = |axis: &&SheetAxis| (axis.field.clone(), axis.values[0].as_str().into());
        let fixed =
            if too_many(&others) { others.iter().map(first).collect() } else { IndexMap::new() };
        let metric = |text: &String| {
            let spec = Self {
                over: over.clone().or(by.clone()),
                by: by.clone().filter(|_| over.is_some()),
                fixed: fixed.clone(),
                ..Self::default()
            };
            match rows {
                Some(rows) => {
                    Self { heat: Some(text.clone()), by: Some(rows.field.clone()), ..spec }
                }
                None if is_line => Self { line: Some(text.clone()), ..spec },
                None => Self { bars: Some(OneOrMore::One(text.clone())), ..spec },
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
            self.stack.map(|slots| Kind::Stack(slots.kind())),
        ]
        .into_iter()
        .flatten();
        match (kinds.next(), kinds.next()) {
            (Some(kind), None) => Ok(kind),
            _ => Err(Problem::value(Path::default(), "a chart has one kind")
                .hint("one of line, bars, heat, ecdf, boxes, percentiles, stack")),
        }
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
            Kind::Stack(_) => Vec::new(),
            Kind::Bars(parts) => all("bars", parts),
            Kind::Ecdf(parts) => all("ecdf", parts),
            Kind::Boxes(parts) => all("boxes", parts),
        })
    }

    /// Finds the axes, and the cells of each chart.
    fn layout(&self, space: &Space) -> Result<Layout, Problem> {
        let axis = |key: &str, name: &Option<String>| {
            name.as_ref().map(|name| axes::find(space, name, Path::of(key))).transpose()
        };
        let (mut over, mut by) = (axis("over", &self.over)?, axis("by", &self.by)?);
        if over.is_none() && self.kind()?.stands_over_names() {
            // One group of many in the middle of the page would have nothing under it.
            (over, by) = (by, None);
        }
        if over.is_some() && over == by {
            let message = "`over` and `by` are the same axis";
            return Err(Problem::value(Path::of("by"), message));
        }
        let mut choices: Vec<Vec<usize>> = Vec::new();
        for (place, axis) in space.axes.iter().enumerate() {
            let laid_out = over == Some(place) || by == Some(place);
            choices.push(if laid_out { vec![0] } else { (0..axis.values.len()).collect() });
        }
        for (name, label) in &self.fixed {
            let place = axes::find(space, name, Path::of("where"))?;
            let at = Path::of("where").key(name);
            if over == Some(place) || by == Some(place) {
                let message = format!("all values of `{name}` lie on this chart");
                return Err(Problem::value(at, message));
            }
            choices[place] = vec![axes::find_value(&space.axes[place], label, at)?];
        }
        let count: usize = choices.iter().map(Vec::len).product();
        if MOST_CHARTS < count {
            let message = format!("this makes {count} charts, more than {MOST_CHARTS}");
            return Err(Problem::value(Path::default(), message)
                .hint("fix an axis: `where: {cluster.nodes: 10}`"));
        }
        let charts = combinations(&choices);
        Ok(Layout { over, by, charts })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expect::{Axis, AxisValue};
    use crate::study::SheetCell;

    /// Returns the usual charts of a study with so many values on each axis.
    fn usual(axes: &[usize], compare: Option<usize>) -> Vec<ChartSpec> {
        let axis = |(place, values): (usize, &usize)| SheetAxis {
            field: format!("cluster.axis{place}"),
            values: (1..=*values).map(|value| value.to_string()).collect(),
            numbers: BTreeMap::new(),
        };
        let choices: Vec<Vec<usize>> = axes.iter().map(|values| (0..*values).collect()).collect();
        let cell = |values| SheetCell { values, runs: Vec::new() };
        let sheet = Sheet {
            study: "test".to_owned(),
            description: String::new(),
            version: "0.0.0".to_owned(),
            axes: axes.iter().enumerate().map(axis).collect(),
            compare,
            seeds: vec![1],
            cells: combinations(&choices).into_iter().map(cell).collect(),
            metrics: vec!["makespan".to_owned()],
            charts: Vec::new(),
            expect: Vec::new(),
        };
        let specs = ChartSpec::usual(&sheet);
        for spec in &specs {
            assert!(spec.needs(&sheet.space()).is_ok(), "{spec:?}");
        }
        specs
    }

    #[test]
    fn an_axis_alone_lies_under_its_boxes_whichever_word_it_has() {
        let nodes =
            Axis { path: "nodes".to_owned(), values: ["5", "10"].map(AxisValue::new).into() };
        let space = Space { axes: vec![nodes], compared: None };
        for (yaml, over, by) in [
            ("{boxes: sojourn, by: nodes}", Some(0), None),
            ("{bars: makespan, by: nodes}", Some(0), None),
            ("{boxes: {a: sojourn, b: wait}, by: nodes}", None, Some(0)),
            ("{ecdf: sojourn, by: nodes}", None, Some(0)),
        ] {
            let spec: ChartSpec = serde_yaml::from_str(yaml).unwrap();
            let layout = spec.layout(&space).unwrap();
            assert_eq!((layout.over, layout.by), (over, by), "{yaml}");
        }
    }

    #[test]
    fn a_study_of_any_size_has_charts() {
        for axes in [&[][..], &[1], &[3, 2], &[13, 13], &[5, 13, 14], &[30, 30, 30, 30]] {
            assert_eq!(usual(axes, None).len(), 1, "{axes:?}");
            for compare in 0..axes.len() {
                assert!(!usual(axes, Some(compare)).is_empty(), "{axes:?}");
            }
        }
        let charts = usual(&[13, 14], None);
        assert!(charts[0].heat.is_some(), "{charts:?}");
        let charts = usual(&[20, 3], Some(1));
        assert!(charts[0].line.is_some() && charts[0].fixed.is_empty(), "{charts:?}");
    }
}
