//! `draw:`: fields of a scenario that each seed of a study draws anew.
//!
//! ```text
//! draw:
//!   cluster.nodes: [10, 20, 40]                 one of these, each as likely
//!   workload.pace.load: {from: 0.5, to: 0.95}   between these, or `scale: log`
//! ```
//! A seed draws the same values in every cell, so policies are compared under equal conditions.

use rand::RngExt as _;
use rand::seq::IndexedRandom as _;
use serde_yaml::{Mapping, Value};

use crate::plan::axes::{RangeBound, field};
use mumakil_base::random::{ChaCha8Rng, Purpose, stream};
use mumakil_yaml::{Path, YamlProblem};

/// A field that each seed draws anew.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DrawnField {
    /// The path of the field in the scenario.
    pub(crate) path: Path,
    /// The path of the values in the study.
    pub(crate) written: Path,
    /// A list of values, or the ends of a range.
    values: Value,
}

/// The keys of a range.
const RANGE: [&str; 3] = ["from", "to", "scale"];

impl DrawnField {
    /// Reads the fields of a `draw:`, which is at the path `at`.
    pub(crate) fn read(at: &Path, draw: Option<&Value>) -> Result<Vec<Self>, YamlProblem> {
        let fields = match draw {
            None => return Ok(Vec::new()),
            Some(Value::Mapping(fields)) => fields,
            Some(_) => {
                return Err(YamlProblem::value(at.clone(), "expected fields with their values")
                    .hint("such as `draw: {cluster.nodes: [10, 20, 40]}`"));
            }
        };
        let puts = fields.iter().map(|(name, values)| {
            let name = name.as_str().unwrap_or_default();
            let written = at.key(name);
            let path = field(&written, name)?;
            check(&written, values)?;
            Ok(Self { path, written, values: values.clone() })
        });
        puts.collect()
    }

    pub(crate) fn draw(fields: &[Self], seed: u64) -> impl Iterator<Item = (&Self, Value)> {
        (0..).zip(fields).map(move |(number, field)| {
            let mut rng = stream(seed, Purpose::Condition, number);
            let value = match &field.values {
                Value::Sequence(list) => list.choose(&mut rng).cloned().unwrap_or_default(),
                Value::Mapping(range) => between(range, &mut rng).unwrap_or_default(),
                _ => Value::Null,
            };
            (field, value)
        })
    }
}

fn check(at: &Path, values: &Value) -> Result<(), YamlProblem> {
    let wrong = |message: &str| {
        YamlProblem::value(at.clone(), message.to_owned())
            .hint("such as `[10, 20, 40]` or `{from: 0.5, to: 0.95}`")
    };
    let range = match values {
        Value::Sequence(list) if !list.is_empty() => return Ok(()),
        Value::Mapping(range) => range,
        _ => return Err(wrong("expected a list of values, or the ends of a range")),
    };
    for key in range.keys().filter_map(Value::as_str) {
        if !RANGE.contains(&key) {
            let message = format!("unknown field `{key}`, expected one of {}", RANGE.join(", "));
            return Err(YamlProblem::key(at.key(key), message).nearest(key, RANGE));
        }
    }
    let bound = |key: &str| {
        let value = range.get(key).ok_or_else(|| wrong(&format!("the range has no `{key}`")))?;
        RangeBound::of(value).ok_or_else(|| {
            YamlProblem::value(at.key(key), "expected a number, with or without a unit")
        })
    };
    let (from, to) = (bound("from")?, bound("to")?);
    if from.unit != to.unit {
        return Err(wrong("the ends of a range have the same unit"));
    }
    if to.number < from.number {
        return Err(wrong("a range rises"));
    }
    match range.get("scale").map(Value::as_str) {
        None | Some(Some("linear")) => Ok(()),
        Some(Some("log")) if 0.0 < from.number => Ok(()),
        Some(Some("log")) => Err(wrong("a logarithmic range begins above zero")),
        Some(_) => {
            Err(YamlProblem::value(at.key("scale"), "expected `linear` or `log`".to_owned()))
        }
    }
}

/// Draws a number of a range that [`check`] has accepted: a whole one if both ends are whole.
fn between(range: &Mapping, rng: &mut ChaCha8Rng) -> Option<Value> {
    let (from, to) = (RangeBound::of(range.get("from")?)?, RangeBound::of(range.get("to")?)?);
    let is_log = range.get("scale").and_then(Value::as_str) == Some("log");
    let whole = from.whole && to.whole;
    let share: f64 = rng.random();
    // A whole range draws its last number as often as the others.
    let (low, high) = (from.number, to.number + f64::from(u8::from(whole)));
    let drawn = if is_log { low * (high / low).powf(share) } else { low + (high - low) * share };
    let number = if whole { drawn.floor().min(to.number) } else { drawn };
    // Six digits are enough for a condition, and are read well in a scenario.
    let number = if whole { number } else { format!("{number:.5e}").parse().ok()? };
    Some(RangeBound { whole, ..from }.value(number, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(yaml: &str) -> Result<Vec<DrawnField>, String> {
        let tree: Value = serde_yaml::from_str(yaml).unwrap();
        DrawnField::read(&Path::of("draw"), Some(&tree)).map_err(|problem| problem.message)
    }

    fn drawn(yaml: &str, seeds: u64) -> Vec<Value> {
        let fields = fields(yaml).unwrap();
        (0..seeds).flat_map(|seed| DrawnField::draw(&fields, seed).map(|it| it.1)).collect()
    }

    #[test]
    fn every_value_is_drawn_about_as_often() {
        let count = |all: &[Value], one: &Value| all.iter().filter(|it| *it == one).count();
        let listed = drawn("{cluster.nodes: [10, 20, 40]}", 3_000);
        for one in [10, 20, 40] {
            assert!((900..1_100).contains(&count(&listed, &one.into())), "{one}");
        }
        let whole = drawn("{cluster.nodes: {from: 1, to: 4}}", 4_000);
        for one in 1..=4 {
            assert!((900..1_100).contains(&count(&whole, &one.into())), "{one}");
        }
        let log = drawn("{workload.pace.load: {from: 0.1, to: 10.0, scale: log}}", 2_000);
        let small = log.iter().filter(|it| it.as_f64().unwrap() < 1.0).count();
        assert!((900..1_100).contains(&small), "{small} of 2000 below the middle of the scale");
    }

    #[test]
    fn a_range_keeps_its_unit() {
        for value in drawn("{hadoop.heartbeat: {from: 1s, to: 3s}}", 50) {
            let text = value.as_str().unwrap();
            assert!(["1s", "2s", "3s"].contains(&text), "{text}");
        }
    }

    #[test]
    fn figures_that_cannot_be_drawn_are_refused() {
        for (yaml, said) in [
            ("[1]", "expected fields with their values"),
            ("{seed: [1, 2]}", "seeds have a key of their own"),
            ("{cluster.nodes: 3}", "expected a list of values, or the ends of a range"),
            ("{cluster.nodes: []}", "expected a list of values, or the ends of a range"),
            ("{cluster.nodes: {from: 3}}", "the range has no `to`"),
            ("{cluster.nodes: {from: 3, to: 1}}", "a range rises"),
            ("{cluster.nodes: {from: 3, to: 5s}}", "the ends of a range have the same unit"),
            (
                "{cluster.nodes: {from: 0, to: 5, scale: log}}",
                "a logarithmic range begins above zero",
            ),
            (
                "{cluster.nodes: {from: 1, to: 5, step: 2}}",
                "unknown field `step`, expected one of from, to, scale",
            ),
        ] {
            assert_eq!(fields(yaml).unwrap_err(), said, "{yaml}");
        }
    }
}
