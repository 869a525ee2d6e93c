//! `sweep:`: the axes of a study, each a list of values for a field of the scenario.
//!
//! Values are a list or a range. Several fields that change together are one axis (`zip`). Each
//! value has a label, by which `compare`, `exclude` and `where` name it. The label is the name from
//! `as:`, the name of a policy or preset, or the value's text.

use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};
use serde_yaml::{Mapping, Value};

use crate::plan::drawn::DrawnField;
use mumakil_core::mapred::PolicyProgram;
use mumakil_results::expect::{self, Space};
use mumakil_scenario::shape;
use mumakil_yaml::{Path, PathStep, YamlProblem};

/// The largest number of values on an axis.
// Chosen: a range with far too small a step is refused before its values fill the memory.
// `MOST_RUNS` limits the product of all axes and seeds.
const MOST_VALUES: usize = 10_000;

/// The keys of `sweep:` that are not fields of the scenario.
pub const SEEDS: &str = "seeds";
const ZIP: &str = "zip";
/// The axis of whole scenarios; the other axes set fields in each of them.
pub const SCENARIO: &str = "scenario";
/// The key of a scenario on that axis with the fields that each seed draws anew.
pub(crate) const DRAW: &str = "draw";

/// The fields that vary, and the seeds.
#[derive(Clone, Debug, Default)]
pub struct Sweep {
    /// The axes, in their order.
    pub axes: Vec<Axis>,
    /// The seeds.
    pub seeds: Seeds,
}

/// The seeds of each cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seeds {
    /// This many seeds, counted up from the scenario's own seed.
    Count(u64),
    /// Exactly these seeds.
    List(Vec<u64>),
}

impl Default for Seeds {
    fn default() -> Self {
        Self::Count(1)
    }
}

impl Seeds {
    /// Returns the seeds; the scenario's own seed is `first`.
    pub fn from(&self, first: u64) -> Vec<u64> {
        match self {
            // Wrap round: zero follows the largest seed.
            Self::Count(count) => (0..*count).map(|step| first.wrapping_add(step)).collect(),
            Self::List(seeds) => seeds.clone(),
        }
    }
}

/// A field that varies, or several fields that vary together.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The path of the field; in a `zip`, the path of the first field.
    pub name: String,
    /// Its values.
    pub values: Vec<AxisValue>,
}

/// A point on an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct AxisValue {
    pub label: String,
    /// The value as a text, even if `as:` gives it another label.
    pub(crate) text: String,
    /// The settings that the value makes in the scenario, each with its path in the study.
    pub(crate) puts: Vec<AxisPut>,
    /// The scenario that the value is; `None` unless it is on the axis [`SCENARIO`].
    pub(crate) base: Option<AxisBase>,
}

/// A scenario on the axis [`SCENARIO`].
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AxisBase {
    /// Its path in the study.
    pub(crate) at: Path,
    /// The fields that each seed draws anew.
    pub(crate) draws: Vec<DrawnField>,
}

/// A setting that a value of an axis makes in the scenario.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AxisPut {
    /// Its path. After [`EACH_POLICY`], it is that of an option of any policy.
    pub(crate) path: Path,
    pub(crate) value: Value,
    pub(crate) written: Path,
}

/// Begins the path of an option of whichever policy a cell has, such as `scheduler.*.preemption`.
const EACH_POLICY: &str = "scheduler.*.";

impl AxisPut {
    /// Returns the path of an option of any policy, seen from the options; `None` if the setting is
    /// none.
    pub(crate) fn option(&self) -> Option<Path> {
        self.path.to_string().strip_prefix(EACH_POLICY).and_then(Path::parse)
    }
}

impl Axis {
    /// Returns a value in words. A number has its axis before it (`nodes 10`); a name stands alone
    /// (`fair`).
    pub(crate) fn tell(&self, value: usize) -> String {
        let expect::SpaceValue { label, number } = self.values[value].space();
        let name = self.name.rsplit('.').next().unwrap_or(&self.name);
        if number.is_some() { format!("{name} {label}") } else { label }
    }

    /// Returns all values in words.
    pub(crate) fn told(&self) -> Vec<String> {
        (0..self.values.len()).map(|value| self.tell(value)).collect()
    }

    /// Returns the axis in the form that expressions use.
    pub(crate) fn space(&self) -> expect::SpaceAxis {
        let values = self.values.iter().map(AxisValue::space);
        expect::SpaceAxis { path: self.name.clone(), values: values.collect() }
    }
}

impl AxisValue {
    fn space(&self) -> expect::SpaceValue {
        expect::SpaceValue { label: self.label.clone(), ..expect::SpaceValue::new(&*self.text) }
    }
}

impl Sweep {
    /// Reads `sweep:`, and notes its mistakes.
    pub fn read(sweep: &Value, problems: &mut Vec<YamlProblem>) -> Self {
        let at = Path::of("sweep");
        let mut read = Self::default();
        let Some(entries) = sweep.as_mapping() else {
            problems.push(
                YamlProblem::value(at, "expected fields with their values")
                    .hint("such as `sweep: {cluster.nodes: [10, 20], seeds: 5}`"),
            );
            return read;
        };
        for (key, value) in entries {
            let name = key.as_str().unwrap_or_default();
            let at = at.key(name);
            let result = match name {
                SEEDS => seeds(value).map(|seeds| read.seeds = seeds).map_err(|message| {
                    YamlProblem::value(at, message).hint("such as `seeds: 5` or `seeds: [1, 2, 3]`")
                }),
                ZIP => zip(&at, value).map(|axis| read.axes.push(axis)),
                SCENARIO => scenarios(&at, value)
                    .and_then(|axis| distinct(&at, axis))
                    .map(|axis| read.axes.push(axis)),
                _ => axis(&at, name, value)
                    .and_then(|axis| distinct(&at, axis))
                    .map(|axis| read.axes.push(axis)),
            };
            problems.extend(result.err());
        }
        // Report either an overlap or another policy, not both: an axis that overwrites another
        // axis would be refused twice for one reason.
        problems.extend(read.overlap().or_else(|| read.other_policy()));
        read
    }

    /// Returns the axis of scenarios, if there is one.
    pub fn bases(&self) -> Option<&Axis> {
        self.axes.iter().find(|axis| axis.name == SCENARIO)
    }

    /// Returns an error if an axis overwrites a setting of an earlier axis: then all values of the
    /// earlier axis would have the same effect. An axis may vary a single field inside the setting
    /// of an earlier axis.
    fn overlap(&self) -> Option<YamlProblem> {
        let puts: Vec<&AxisPut> = self.axes.iter().flat_map(|axis| &axis.values[0].puts).collect();
        // Setting `cluster.preset` replaces all of `cluster`: count it as if the axis set
        // `cluster`.
        puts.iter().enumerate().find_map(|(place, put)| {
            let replaced = match put.path.split_last() {
                Some((around, PathStep::Key(key))) if shape().at(&around).is_named_by(key) => {
                    around
                }
                _ => put.path.clone(),
            };
            // Only earlier axes can be overwritten: values are applied in the order of the axes.
            let lost = puts[..place].iter().find(|lost| replaced.contains(&lost.path))?;
            let message =
                format!("this overwrites what `{}` sets, which is an axis too", lost.path);
            let problem = YamlProblem::value(put.written.clone(), message);
            // Suggest another order only if the later setting contains the earlier one: two axes of
            // the same field are wrong in any order.
            let is_around = !lost.path.contains(&put.path);
            let hint = format!("write `{}` before `{}`", put.path, lost.path);
            Some(if is_around { problem.hint(hint) } else { problem })
        })
    }

    /// Returns an error if one axis varies an option of a policy, and another axis chooses another
    /// policy or varies an option of another policy. Setting an option also chooses its policy.
    fn other_policy(&self) -> Option<YamlProblem> {
        let puts = self.axes.iter().flat_map(|axis| &axis.values).flat_map(|value| &value.puts);
        let policies = puts.filter(|put| put.path.to_string() == "scheduler");
        let mut names = policies.filter_map(|put| match &put.value {
            Value::Mapping(map) => map.keys().next()?.as_str(),
            value => value.as_str(),
        });
        let puts = self.axes.iter().flat_map(|axis| &axis.values[0].puts);
        let mut options = puts.filter_map(|put| {
            let path = put.path.to_string();
            let (policy, _) = path.strip_prefix("scheduler.")?.split_once('.')?;
            // An option of any policy chooses none.
            (put.option().is_none()).then(|| (put, policy.to_owned()))
        });
        let (option, of) = options.next()?;
        if let Some((second, other)) = options.find(|(_, other)| *other != of) {
            let message = format!(
                "this is an option of `{other}`, but the axis `{}` is one of `{of}`",
                option.path
            );
            let hint = format!("make `scheduler` an axis: `[{{{of}: {{…}}}}, {{{other}: {{…}}}}]`");
            return Some(YamlProblem::value(second.written.clone(), message).hint(hint));
        }
        let other = names.find(|name| *name != of)?;
        let message =
            format!("this is an option of `{of}`, but the axis `scheduler` has `{other}`, too");
        let hint =
            format!("give the values of `scheduler` their options: `{{as: …, {of}: {{…}}}}`");
        Some(YamlProblem::value(option.written.clone(), message).hint(hint))
    }
}

/// Returns the index of the axis with a name; `at` is the path of the name, for errors.
pub(crate) fn find(space: &Space, name: &str, at: Path) -> Result<usize, YamlProblem> {
    space.place_of(name).ok_or_else(|| {
        let names: Vec<&str> = space.axes.iter().map(|axis| axis.path.as_str()).collect();
        let message = format!("`{name}` is no axis; there are {}", names.join(", "));
        YamlProblem::value(at, message).nearest(name, names)
    })
}

/// Returns the index of the value with a label on an axis; `at` is the label's path, for errors.
pub(crate) fn find_value(
    axis: &expect::SpaceAxis,
    label: &Value,
    at: Path,
) -> Result<usize, YamlProblem> {
    let label = text(label);
    axis.values.iter().position(|value| value.label == label).ok_or_else(|| {
        let known = axis.values.iter().map(|value| value.label.as_str());
        let message = format!("`{}` has no value `{label}`", axis.path);
        YamlProblem::value(at, message).nearest(&label, known)
    })
}

fn seeds(value: &Value) -> Result<Seeds, String> {
    match value {
        Value::Number(_) => match value.as_u64() {
            // Chosen: a tenth of the largest number of runs.
            Some(count @ 1..=100_000) => Ok(Seeds::Count(count)),
            _ => Err("expected from 1 to 100000 seeds".to_owned()),
        },
        Value::Sequence(list) if !list.is_empty() => {
            let listed: Option<Vec<u64>> = list.iter().map(Value::as_u64).collect();
            let seeds = listed.ok_or("a seed is a whole number of zero or more")?;
            // Sort a copy: the tables keep the user's order of seeds.
            let mut sorted = seeds.clone();
            sorted.sort_unstable();
            sorted.dedup();
            if sorted.len() == seeds.len() {
                Ok(Seeds::List(seeds))
            } else {
                Err("a seed stands twice".to_owned())
            }
        }
        _ => Err("expected how many seeds, or a list of them".to_owned()),
    }
}

/// Reads an axis of one field.
fn axis(at: &Path, name: &str, value: &Value) -> Result<Axis, YamlProblem> {
    let path = field(at, name)?;
    let values = values(at, value)?;
    let labels = labels(&values);
    let values = values.into_iter().zip(labels).map(|((written, value), label)| AxisValue {
        label,
        text: text(&unnamed(value.clone())),
        puts: vec![AxisPut { path: path.clone(), value: unnamed(value), written }],
        base: None,
    });
    Ok(Axis { name: name.to_owned(), values: values.collect() })
}

/// Reads an axis of scenarios. A scenario that is written there is called by its name, if it has
/// one.
fn scenarios(at: &Path, value: &Value) -> Result<Axis, YamlProblem> {
    if !value.is_sequence() {
        return Err(YamlProblem::value(at.clone(), "expected a list of scenarios")
            .hint("such as `[quickstart, mine.yaml]`"));
    }
    let values = values(at, value)?.into_iter().enumerate().map(|(number, (written, value))| {
        let is_apart = value.get("as").is_some() && value.get("value").is_some();
        let scenario = if is_apart { written.key("value") } else { written.clone() };
        let named = match &value {
            Value::Mapping(map) => map.get("as").or_else(|| map.get("name")).map(text),
            Value::Sequence(_) => None,
            name => Some(text(name)),
        };
        let label = named.unwrap_or_else(|| format!("scenario {}", number + 1));
        let draws = DrawnField::read(&written.key(DRAW), value.get(DRAW))?;
        let base = Some(AxisBase { at: scenario, draws });
        Ok(AxisValue { text: label.clone(), label, puts: Vec::new(), base })
    });
    Ok(Axis { name: SCENARIO.to_owned(), values: values.collect::<Result<_, YamlProblem>>()? })
}

/// Reads an axis of several fields that change together.
fn zip(at: &Path, value: &Value) -> Result<Axis, YamlProblem> {
    let fields: IndexMap<&str, &Value> = match value.as_mapping() {
        Some(fields) if 1 < fields.len() => {
            fields.iter().filter_map(|(key, value)| Some((key.as_str()?, value))).collect()
        }
        _ => {
            return Err(YamlProblem::value(at.clone(), "expected two fields or more")
                .hint("such as `zip: {cluster.nodes: [10, 20], cluster.racks: [1, 2]}`"));
        }
    };
    let mut axes = fields.iter().map(|(name, value)| axis(&at.key(name), name, value));
    // The axis takes the name and the labels of its first field; only those must differ.
    let mut first = distinct(at, axes.next().expect("there are two fields or more")?)?;
    for other in axes {
        let other = other?;
        if other.values.len() != first.values.len() {
            return Err(YamlProblem::key(
                at.key(&other.name),
                format!(
                    "the fields of `zip` change together, so each needs as many values: `{}` has {}, `{}` has {}",
                    first.name,
                    first.values.len(),
                    other.name,
                    other.values.len()
                ),
            ));
        }
        for (value, more) in first.values.iter_mut().zip(other.values) {
            value.puts.extend(more.puts);
        }
    }
    Ok(first)
}

/// Returns the field's path, or an error if axes must not vary the field.
pub(crate) fn field(at: &Path, name: &str) -> Result<Path, YamlProblem> {
    let refused = |why: &str| YamlProblem::key(at.clone(), why.to_owned());
    match name {
        "seed" => return Err(refused("seeds have a key of their own").hint("write `seeds: 5`")),
        // The hash that names runs leaves these fields out, so all values of such an axis would be
        // the same run.
        "name" | "description" | "expect" | "experiment" => {
            return Err(refused("this field changes nothing in a run, so it is no axis"));
        }
        _ => {}
    }
    Path::parse(name).map(|path| shape().named(&path)).ok_or_else(|| {
        refused("this is not a field of the scenario").hint("such as `cluster.nodes`")
    })
}

/// Returns the values of an axis, each with its path in the study.
fn values(at: &Path, value: &Value) -> Result<Vec<(Path, Value)>, YamlProblem> {
    let values: Vec<(Path, Value)> = match value {
        Value::Sequence(list) => {
            let numbered = list.iter().enumerate();
            numbered.map(|(index, value)| (at.index(index), value.clone())).collect()
        }
        Value::Mapping(map) if map.contains_key("from") => {
            range(at, map)?.into_iter().map(|value| (at.clone(), value)).collect()
        }
        _ => {
            return Err(YamlProblem::value(at.clone(), "expected a list of values, or a range")
                .hint("such as `[10, 20]` or `{from: 10, to: 100, step: 10}`"));
        }
    };
    match values.len() {
        0 => Err(YamlProblem::value(at.clone(), "an axis has at least one value")),
        1..=MOST_VALUES => Ok(values),
        _ => {
            Err(YamlProblem::value(at.clone(), format!("an axis has at most {MOST_VALUES} values")))
        }
    }
}

/// A bound of a range: a number, and the unit in which it is written.
pub(crate) struct RangeBound<'v> {
    pub(crate) number: f64,
    pub(crate) unit: &'v str,
    pub(crate) whole: bool,
}

impl<'v> RangeBound<'v> {
    pub(crate) fn of(value: &'v Value) -> Option<Self> {
        let bound = match value {
            Value::Number(number) => {
                let whole = number.is_u64() || number.is_i64();
                Self { number: number.as_f64()?, unit: "", whole }
            }
            Value::String(text) => {
                let text = text.trim();
                // YAML has read a bound without a unit as a number, so a text must have a unit
                // here.
                let end = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
                let number = text[..end].parse().ok()?;
                Self { number, unit: text[end..].trim(), whole: !text[..end].contains('.') }
            }
            _ => return None,
        };
        bound.number.is_finite().then_some(bound)
    }

    /// Returns so many values from one bound to the other.
    fn points(from: &Self, to: &Self, points: u64, is_log: bool) -> Vec<Value> {
        let span = to.number - from.number;
        // Points of a logarithmic scale are hardly ever whole: round them if both ends are whole.
        // Round points of a linear scale only if the step is whole, too.
        let whole = is_log || span % (points - 1) as f64 == 0.0;
        let like = Self { whole: whole && from.whole && to.whole, ..*from };
        let size = f64::max(from.number.abs(), to.number.abs());
        (0..points)
            .map(|index| {
                let share = index as f64 / (points - 1) as f64;
                if is_log {
                    let number = from.number * (to.number / from.number).powf(share);
                    like.value(number, number)
                } else {
                    like.value(from.number + span * share, size)
                }
            })
            .collect()
    }

    /// Returns a computed number as a value in the bound's unit: a whole number if the bound is
    /// whole, otherwise a number rounded to the twelfth digit of `size`.
    pub(crate) fn value(&self, number: f64, size: f64) -> Value {
        // Rounding removes the errors of binary fractions, as in 0.30000000000000004.
        let precise = (11.0 - size.abs().log10().floor()).clamp(0.0, 300.0) as usize;
        let digits = if self.whole { 0 } else { precise };
        let number: f64 = format!("{number:.digits$}").parse().expect("printed numbers parse");
        match self.unit {
            // Below 9e18 a whole number fits into 64 bits: write `10`, not `10.0`.
            "" if number.fract() == 0.0 && number.abs() < 9e18 => (number as i64).into(),
            "" => number.into(),
            unit => format!("{number}{unit}").into(),
        }
    }
}

/// Returns the values of `{from, to, step}` or `{from, to, points, scale: log}`.
fn range(at: &Path, map: &Mapping) -> Result<Vec<Value>, YamlProblem> {
    const KEYS: [&str; 5] = ["from", "to", "step", "points", "scale"];
    let wrong = |key: &str, message: &str| YamlProblem::value(at.key(key), message.to_owned());
    for key in map.keys().filter_map(Value::as_str) {
        if !KEYS.contains(&key) {
            let message = format!("unknown field `{key}`, expected one of {}", KEYS.join(", "));
            return Err(YamlProblem::key(at.key(key), message).nearest(key, KEYS));
        }
    }
    let bound = |key: &str| match map.get(key) {
        Some(value) => RangeBound::of(value).ok_or_else(|| wrong(key, "expected a number")),
        None => Err(YamlProblem::value(at.clone(), format!("the range has no `{key}`"))),
    };
    let (from, to) = (bound("from")?, bound("to")?);
    if from.unit != to.unit {
        return Err(wrong("to", "the ends of a range have the same unit"));
    }
    if to.number < from.number {
        return Err(wrong("to", "a range rises"));
    }
    let size = f64::max(from.number.abs(), to.number.abs());
    let is_log = match map.get("scale").map(Value::as_str) {
        None | Some(Some("linear")) => false,
        Some(Some("log")) if 0.0 < from.number => true,
        Some(Some("log")) => return Err(wrong("from", "a logarithmic range begins above zero")),
        Some(_) => return Err(wrong("scale", "expected `linear` or `log`")),
    };
    let points = map.get("points").map(|points| match points.as_u64() {
        Some(points @ 2..=10_000) => Ok(points),
        _ => Err(wrong("points", "expected from 2 to 10000 points")),
    });
    match (map.contains_key("step"), points.transpose()?) {
        (true, None) if !is_log => {
            let step = bound("step")?;
            if step.unit != from.unit || step.number <= 0.0 {
                return Err(wrong("step", "a step is above zero, in the unit of the ends"));
            }
            let whole = from.whole && step.whole;
            // In binary, (0.3 - 0) / 0.1 is a little less than 3: a small addition keeps the last
            // value.
            let steps = ((to.number - from.number) / step.number + 1e-9).floor();
            if MOST_VALUES as f64 <= steps {
                return Err(wrong("step", "an axis has at most 10000 values"));
            }
            let like = RangeBound { whole, ..from };
            // Multiply: adding the step repeatedly would add up its rounding error.
            Ok((0..=steps as u64)
                .map(|index| like.value(like.number + step.number * index as f64, size))
                .collect())
        }
        (false, Some(points)) => {
            let values = RangeBound::points(&from, &to, points, is_log);
            // Rounding can make two points equal, as with 20 log points from 1 to 10.
            if values.windows(2).any(|pair| pair[0] == pair[1]) {
                let message = format!("there are no {points} different values in this range");
                return Err(wrong("points", &message));
            }
            Ok(values)
        }
        _ => Err(YamlProblem::value(at.clone(), "a range has a `step`, or so many `points`").hint(
            "`{from: 10, to: 100, step: 10}` or `{from: 1, to: 1000, points: 4, scale: log}`",
        )),
    }
}

/// Returns the values of an axis as an explicit list, and for a `zip` a list for each field.
pub(crate) fn listed(name: &str, value: &Value) -> Value {
    match value {
        Value::Mapping(fields) if name == ZIP => fields
            .iter()
            .map(|(key, value)| (key.clone(), listed("", value)))
            .collect::<Mapping>()
            .into(),
        value => match values(&Path::default(), value) {
            Ok(values) => values.into_iter().map(|(_, value)| value).collect::<Vec<_>>().into(),
            // Keep the value as written: `Sweep::read` reports the mistake.
            Err(_) => value.clone(),
        },
    }
}

fn labels(values: &[(Path, Value)]) -> Vec<String> {
    let short: Vec<String> = values.iter().map(|(_, value)| short_label(value)).collect();
    let mut counts: FxHashMap<&String, usize> = FxHashMap::default();
    short.iter().for_each(|label| *counts.entry(label).or_default() += 1);
    let labels = values.iter().zip(&short).map(|((_, value), label)| match value {
        // If several values have the same short name, show their options, too.
        Value::Mapping(map) if !map.contains_key("as") && counts[label] != 1 => text(value),
        _ => label.clone(),
    });
    labels.collect()
}

/// Returns a short label of a value: its `as`, or its text.
pub fn short_label(value: &Value) -> String {
    let Value::Mapping(map) = value else { return text(value) };
    if let Some(name) = map.get("as") {
        return text(name);
    }
    // `{preset: ec2, …}` has the label `ec2`, and `{hfsp: {…}}` has the label `hfsp`.
    if let Some(name) = map.get("preset").or_else(|| map.get("line")) {
        return text(name);
    }
    match map.iter().next() {
        Some((key, options)) if map.len() == 1 => {
            let key = text(key);
            program_label(&key, options).unwrap_or(key)
        }
        _ => text(value),
    }
}

/// Returns the name of a policy that is a program, as reports show it; `None` for other values.
fn program_label(key: &str, options: &Value) -> Option<String> {
    let command = options.get("command").filter(|_| key == "external")?.as_sequence()?;
    let name = options.get("name").and_then(Value::as_str);
    PolicyProgram::title(name, command.iter().filter_map(Value::as_str))
}

/// Returns a value in one line, such as `hfsp preemption=wait`.
pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.trim().to_owned(),
        Value::Sequence(list) => list.iter().map(text).collect::<Vec<_>>().join(" "),
        Value::Mapping(map) => map
            .iter()
            .map(|(key, value)| match value {
                Value::Mapping(inside) if inside.is_empty() => text(key),
                Value::Mapping(_) => format!("{} {}", text(key), text(value)),
                Value::Null => text(key),
                _ => format!("{}={}", text(key), text(value)),
            })
            .collect::<Vec<_>>()
            .join(" "),
        Value::Tagged(tagged) => text(&tagged.value),
    }
}

/// Returns a value without the name from `as:`: `{as: x, hfsp: {}}` becomes `{hfsp: {}}`, and `{as:
/// x, value: 3}` becomes `3`.
pub fn unnamed(mut value: Value) -> Value {
    if let Value::Mapping(map) = &mut value
        && map.shift_remove("as").is_some()
    {
        if map.len() == 1
            && let Some(inner) = map.shift_remove("value")
        {
            return inner;
        }
        // `{fifo: null}` is the choice `fifo` without options.
        if let (1, Some((key, Value::Null))) = (map.len(), map.iter().next()) {
            return key.clone();
        }
    }
    value
}

fn distinct(at: &Path, axis: Axis) -> Result<Axis, YamlProblem> {
    let mut labels = FxHashSet::default();
    for value in &axis.values {
        // Line ends and tabs may be in the text of a value; nothing else of this kind is of use.
        if value.label.contains(|c: char| c.is_control() && !matches!(c, '\n' | '\t')) {
            let place = value.puts.first().map_or(at, |put| &put.written);
            let message = format!("the name `{}` has a control character", value.label);
            return Err(YamlProblem::value(place.clone(), message).hint("leave it out"));
        }
        if !labels.insert(&value.label) {
            let place = value.puts.first().map_or(at, |put| &put.written);
            let message = format!("two values of this axis are called `{}`", value.label);
            return Err(YamlProblem::value(place.clone(), message).hint("name them: `{as: …, …}`"));
        }
    }
    Ok(axis)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sweep(yaml: &str) -> Result<Sweep, String> {
        let mut problems = Vec::new();
        let sweep = Sweep::read(&serde_yaml::from_str(yaml).unwrap(), &mut problems);
        match problems.first() {
            None => Ok(sweep),
            Some(problem) => Err(format!("{}: {}", problem.path, problem.message)),
        }
    }

    fn labels_of(yaml: &str) -> Vec<String> {
        let sweep = sweep(&format!("{{x: {yaml}}}")).unwrap();
        sweep.axes[0].values.iter().map(|value| value.label.clone()).collect()
    }

    #[test]
    fn a_preset_is_called_by_its_name_whatever_is_set_beside_it() {
        assert_eq!(labels_of("[{preset: ec2}, {preset: srt, nodes: 5}]"), ["ec2", "srt"]);
        assert_eq!(labels_of("[{hfsp: {sample: 2}}, fifo]"), ["hfsp", "fifo"]);
    }

    #[test]
    fn ranges_have_both_ends() {
        assert_eq!(labels_of("{from: 10, to: 40, step: 10}"), ["10", "20", "30", "40"]);
        assert_eq!(labels_of("{from: 0.1, to: 0.3, step: 0.1}"), ["0.1", "0.2", "0.3"]);
        assert_eq!(labels_of("{from: 0s, to: 1s, step: 0.5s}"), ["0s", "0.5s", "1s"]);
        assert_eq!(
            labels_of("{from: 1, to: 1000, points: 4, scale: log}"),
            ["1", "10", "100", "1000"]
        );
        assert_eq!(
            labels_of("{from: 1GiB, to: 4GiB, points: 4}"),
            ["1GiB", "2GiB", "3GiB", "4GiB"]
        );
    }

    #[test]
    fn ranges_have_as_many_points_as_they_say() {
        assert_eq!(labels_of("{from: 0, to: 1, points: 5}"), ["0", "0.25", "0.5", "0.75", "1"]);
        assert_eq!(labels_of("{from: 1s, to: 2s, points: 3}"), ["1s", "1.5s", "2s"]);
        assert_eq!(
            labels_of("{from: 1e-12, to: 1e-10, points: 3, scale: log}"),
            ["1e-12", "1e-11", "1e-10"]
        );
        assert_eq!(labels_of("{from: -0.3, to: 0.1, step: 0.1}")[3], "0");
    }

    #[test]
    fn a_value_is_called_by_its_shortest_unique_text() {
        let policies = "[fair, hfsp: {a: 1}, {as: patient, hfsp: {preemption: wait}}]";
        assert_eq!(labels_of(policies), ["fair", "hfsp", "patient"]);
        let twice = "[{hfsp: {preemption: wait}}, {hfsp: {preemption: kill}}]";
        assert_eq!(labels_of(twice), ["hfsp preemption=wait", "hfsp preemption=kill"]);
        assert_eq!(labels_of("[{preset: ec2-100, nodes: 5}, srt-4]"), ["ec2-100", "srt-4"]);
    }

    #[test]
    fn a_name_is_no_part_of_the_value() {
        let value = |yaml: &str| unnamed(serde_yaml::from_str(yaml).unwrap());
        let plain = |yaml: &str| serde_yaml::from_str::<Value>(yaml).unwrap();
        assert_eq!(value("{as: x, hfsp: {a: 1}}"), plain("{hfsp: {a: 1}}"));
        assert_eq!(value("{as: x, value: 64GiB}"), plain("64GiB"));
        assert_eq!(value("{as: x, fifo: }"), plain("fifo"));
        assert_eq!(value("{hfsp: {a: 1}}"), plain("{hfsp: {a: 1}}"));
    }

    #[test]
    fn zipped_fields_step_together() {
        let zipped = sweep("{zip: {cluster.nodes: [10, 20], cluster.racks: [1, 2]}}").unwrap();
        let [axis] = &zipped.axes[..] else { panic!("{zipped:?}") };
        assert_eq!(axis.name, "cluster.nodes");
        let puts: Vec<String> =
            axis.values[1].puts.iter().map(|put| put.path.to_string()).collect();
        assert_eq!(puts, ["cluster.nodes", "cluster.racks"]);
        // The first field gives the names.
        assert!(sweep("{zip: {a: [1, 2], b: [3, 3]}}").is_ok());
        assert!(sweep("{zip: {a: [1, 1], b: [3, 4]}}").unwrap_err().contains("are called `1`"));
        let uneven = sweep("{zip: {a: [1, 2], b: [1]}}").unwrap_err();
        assert_eq!(
            uneven,
            "sweep.zip.b: the fields of `zip` change together, so each needs as many values: `a` has 2, `b` has 1"
        );
    }

    #[test]
    fn an_option_of_one_policy_is_no_axis_beside_other_policies() {
        let alone = "scheduler: [hfsp, {as: slow, hfsp: {sample: 9}}]\nscheduler.hfsp.weights: [true, false]";
        assert!(sweep(alone).is_ok());
        let error = sweep("scheduler: [hfsp, fair]\nscheduler.hfsp.weights: [true, false]");
        let message = "this is an option of `hfsp`, but the axis `scheduler` has `fair`, too";
        assert!(error.unwrap_err().contains(message));
        let error =
            sweep("scheduler.fair.delay.w1: [1s, 2s]\nscheduler.hfsp.weights: [true, false]");
        let message =
            "this is an option of `hfsp`, but the axis `scheduler.fair.delay.w1` is one of `fair`";
        assert!(error.unwrap_err().contains(message));
    }

    #[test]
    fn a_name_with_a_point_in_it_is_one_key_of_an_axis() {
        let sweep = sweep("{hadoop.speculation.hadoop-0.20.gap: [0.1, 0.2]}").unwrap();
        let path = Path::of("hadoop.speculation").key("hadoop-0.20").key("gap");
        assert_eq!(sweep.axes[0].values[0].puts[0].path, path);
    }

    #[test]
    fn a_name_that_is_no_axis_is_refused() {
        for (yaml, message) in [
            ("3", "sweep: expected fields with their values"),
            ("{seeds: 0}", "sweep.seeds: expected from 1 to 100000 seeds"),
            ("{seeds: [1, 1]}", "sweep.seeds: a seed stands twice"),
            ("{seed: [1, 2]}", "sweep.seed: seeds have a key of their own"),
            ("{name: [a]}", "sweep.name: this field changes nothing in a run, so it is no axis"),
            ("{x: 3}", "sweep.x: expected a list of values, or a range"),
            ("{x: []}", "sweep.x: an axis has at least one value"),
            ("{x: [1, 1]}", "sweep.x[1]: two values of this axis are called `1`"),
            ("{x: [fifo, {fifo: {}}]}", "sweep.x[1]: two values of this axis are called `fifo`"),
            (
                "{x: [{as: \"a\\eb\", fifo: {}}, hfsp]}",
                "sweep.x[0]: the name `a\u{1b}b` has a control character",
            ),
            ("{x: {from: 1, to: 2}}", "sweep.x: a range has a `step`, or so many `points`"),
            ("{x: {from: 3, to: 2, step: 1}}", "sweep.x.to: a range rises"),
            (
                "{x: {from: 0, to: 2, step: 0}}",
                "sweep.x.step: a step is above zero, in the unit of the ends",
            ),
            (
                "{x: {from: 0, to: 9, points: 3, scale: log}}",
                "sweep.x.from: a logarithmic range begins above zero",
            ),
            (
                "{x: {from: 1, to: 3, points: 5, scale: log}}",
                "sweep.x.points: there are no 5 different values in this range",
            ),
            ("{x: {from: .nan, to: 1, points: 2}}", "sweep.x.from: expected a number"),
            ("{x: {from: 0, to: .inf, step: 1}}", "sweep.x.to: expected a number"),
            ("{x: {from: 0, to: 1e12, step: 1}}", "sweep.x.step: an axis has at most 10000 values"),
            (
                "{x: {from: 0, tu: 9, step: 1}}",
                "sweep.x.tu: unknown field `tu`, expected one of from, to, step, points, scale",
            ),
            (
                "{a.b: [1], a: [x, y]}",
                "sweep.a[0]: this overwrites what `a.b` sets, which is an axis too",
            ),
            (
                "{a: [1], zip: {a: [1], b: [2]}}",
                "sweep.zip.a[0]: this overwrites what `a` sets, which is an axis too",
            ),
            (
                "{cluster.nodes: [1, 2], cluster.preset: [vm-8, srt-4]}",
                "sweep.cluster.preset[0]: this overwrites what `cluster.nodes` sets, which is an \
                 axis too",
            ),
            ("{'..': [1]}", "sweep...: this is not a field of the scenario"),
        ] {
            assert_eq!(sweep(yaml).unwrap_err(), message, "{yaml}");
        }
        assert!(sweep("{a: [x, y], a.b: [1, 2]}").is_ok(), "an axis may vary part of another");
        let preset_first = "{cluster.preset: [vm-8, srt-4], cluster.nodes: [1, 2]}";
        assert!(sweep(preset_first).is_ok(), "nodes are set on top of each preset");
    }
}
