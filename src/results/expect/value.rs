//! The values of terms (numbers, numbers by key, step functions, histograms), and operations and
//! aggregates on them.

use hdrhistogram::Histogram;

use super::plan::{Aggregate, Element};
use crate::tables::ReadError;
use mumakil_base::statistics;

/// The job, task or attempt to which a number belongs. The same job has the same key in all runs
/// that are compared.
///
/// `job` is a number that stands for the job's name. For a quantity of jobs, the other fields are
/// empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ValueKey {
    pub(super) job: u32,
    pub(super) kind: u8,
    pub(super) task: u32,
    pub(super) attempt: u32,
}

#[derive(Clone, Debug)]
pub(super) enum Value {
    One(f64),
    /// Numbers in the order of their keys. A job without the quantity has NaN: no aggregate counts
    /// the job, and no comparison with NaN holds.
    Keyed(Vec<(ValueKey, f64)>),
    Steps(StepFunction),
    Samples(Histogram<u64>),
}

impl Value {
    /// Returns the single number, or the numbers of all keys that have a number.
    pub(super) fn numbers(&self) -> Vec<f64> {
        match self {
            Self::One(number) => vec![*number],
            Self::Keyed(items) => items
                .iter()
                .map(|(_, number)| *number)
                .filter(|number| number.is_finite())
                .collect(),
            Self::Steps(_) | Self::Samples(_) => Vec::new(),
        }
    }
}

/// The reason why there is no number.
#[derive(Debug)]
pub(super) enum NoNumber {
    /// A file of the run cannot be read.
    Read(ReadError),
    /// The number does not exist, such as the mean of no numbers, or the instant of an event that
    /// never happened.
    Undefined(String),
}

impl From<ReadError> for NoNumber {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

pub(super) type Evaluated<T> = Result<T, NoNumber>;

/// Returns the value, or `None` if it is undefined.
pub(super) fn if_defined<T>(of: Evaluated<T>) -> Result<Option<T>, ReadError> {
    match of {
        Ok(value) => Ok(Some(value)),
        Err(NoNumber::Undefined(_)) => Ok(None),
        Err(NoNumber::Read(error)) => Err(error),
    }
}

/// A step function of time in seconds, from one instant to another.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct StepFunction {
    /// Instants, each with the value that holds from then on. The first instant is the beginning;
    /// all instants are before the end.
    points: Vec<(f64, f64)>,
    to: f64,
}

impl StepFunction {
    /// Makes a step function from changes in the order of time; before the first change it is zero.
    pub(super) fn new(changes: &[(f64, f64)], from: f64, to: f64) -> Self {
        let before = changes.partition_point(|(at, _)| *at <= from);
        let first = before.checked_sub(1).map_or(0.0, |last| changes[last].1);
        let inside = changes[before..].iter().copied().filter(|(at, _)| *at < to);
        let points = if from < to { vec![(from, first)] } else { Vec::new() };
        Self { points: points.into_iter().chain(inside).collect(), to }
    }

    fn at(&self, time: f64) -> f64 {
        let next = self.points.partition_point(|(at, _)| *at <= time);
        next.checked_sub(1).map_or(f64::NAN, |last| self.points[last].1)
    }

    /// Returns each value and how long it lasts, in seconds.
    fn spans(&self) -> impl Iterator<Item = (f64, f64)> {
        let ends = self.points.iter().skip(1).map(|(at, _)| *at).chain([self.to]);
        self.points.iter().zip(ends).map(|((at, value), end)| (*value, end - at))
    }

    /// Returns the seconds from an instant until the function is first true; `None` if it never is.
    pub(super) fn until(&self, from: f64) -> Option<f64> {
        let ends = self.points.iter().skip(1).map(|(at, _)| *at).chain([self.to]);
        let mut spans = self.points.iter().zip(ends);
        let ((at, _), _) = spans.find(|((_, value), end)| *value != 0.0 && from < *end)?;
        Some((at - from).max(0.0))
    }

    /// Returns the function from an instant on.
    fn after(&self, from: f64) -> Self {
        let later = self.points.iter().copied().filter(|(at, _)| from < *at);
        Self { points: std::iter::once((from, self.at(from))).chain(later).collect(), to: self.to }
    }
}

/// Returns the seconds from an instant until a level reaches a band and stays there: until the
/// comparison holds, and also holds for the means from then on to the end. `None` if that never
/// comes.
pub(super) fn settling(
    element: &Element,
    parts: &[Value],
    from: f64,
) -> Result<Option<f64>, String> {
    let Value::Steps(holds) = combine(element, parts)? else { return Ok(None) };
    let ends = holds.points.iter().skip(1).map(|(at, _)| *at).chain([holds.to]);
    for ((at, truth), end) in holds.points.iter().zip(ends) {
        if *truth == 0.0 || end <= from {
            continue;
        }
        let at = at.max(from);
        let each = parts.iter().map(|part| match part {
            Value::Steps(steps) => Aggregate::Mean.of_steps(&steps.after(at)).unwrap_or(f64::NAN),
            _ => number_at(part, at),
        });
        let means: Vec<f64> = each.collect();
        // A curve that only crosses the band has its mean elsewhere.
        if element.compute(&means)? != 0.0 {
            return Ok(Some(at - from));
        }
    }
    Ok(None)
}

/// Applies an operation to each key or instant separately.
pub(super) fn combine(element: &Element, parts: &[Value]) -> Result<Value, String> {
    // The checker has refused combinations of keyed values with step functions.
    let keyed = parts.iter().find_map(|part| match part {
        Value::Keyed(items) => Some(items),
        _ => None,
    });
    if let Some(items) = keyed {
        return combine_keyed(element, parts, items).map(Value::Keyed);
    }
    let steps: Vec<&StepFunction> = parts.iter().filter_map(steps).collect();
    if !steps.is_empty() {
        return combine_steps(element, parts, &steps).map(Value::Steps);
    }
    let numbers: Vec<f64> = parts.iter().map(|part| number_at(part, 0.0)).collect();
    element.compute(&numbers).map(Value::One)
}

fn steps(part: &Value) -> Option<&StepFunction> {
    match part {
        Value::Steps(steps) => Some(steps),
        _ => None,
    }
}

/// Combines values key by key. A key is left out if a part lacks it.
fn combine_keyed(
    element: &Element,
    parts: &[Value],
    keys: &[(ValueKey, f64)],
) -> Result<Vec<(ValueKey, f64)>, String> {
    let mut combined = Vec::new();
    for (key, _) in keys {
        let numbers = parts.iter().map(|part| match part {
            Value::One(number) => Some(*number),
            Value::Keyed(items) => {
                // Values are in the order of their keys.
                let place = items.binary_search_by(|(other, _)| other.cmp(key)).ok()?;
                Some(items[place].1)
            }
            _ => None,
        });
        if let Some(numbers) = numbers.collect::<Option<Vec<f64>>>() {
            combined.push((*key, element.compute(&numbers)?));
        }
    }
    // An empty side is not a mismatch: aggregates handle empty sets.
    let empty = parts.iter().any(|part| matches!(part, Value::Keyed(items) if items.is_empty()));
    if combined.is_empty() && !empty {
        return Err("nothing that is in one run is in the other".to_owned());
    }
    Ok(combined)
}

fn combine_steps(
    element: &Element,
    parts: &[Value],
    steps: &[&StepFunction],
) -> Result<StepFunction, String> {
    // The result is defined where all parts are defined.
    let from = steps
        .iter()
        .map(|steps| steps.points.first().map_or(f64::INFINITY, |(at, _)| *at))
        .fold(f64::NEG_INFINITY, f64::max);
    let to = steps.iter().map(|steps| steps.to).fold(f64::INFINITY, f64::min);
    let mut times: Vec<f64> = steps
        .iter()
        .flat_map(|steps| steps.points.iter().map(|(at, _)| *at))
        .filter(|at| (from..to).contains(at))
        .collect();
    times.sort_unstable_by(f64::total_cmp);
    times.dedup();
    let means = times.into_iter().map(|at| {
        let numbers: Vec<f64> = parts.iter().map(|part| number_at(part, at)).collect();
        element.compute(&numbers).map(|number| (at, number))
    });
    let points = means.collect::<Result<_, _>>()?;
    Ok(StepFunction { points, to })
}

fn number_at(part: &Value, time: f64) -> f64 {
    match part {
        Value::One(number) => *number,
        Value::Steps(steps) => steps.at(time),
        Value::Keyed(_) | Value::Samples(_) => f64::NAN,
    }
}

impl Element {
    /// Returns whether the operation is a comparison, which is made between means over the seeds.
    pub(super) const fn compares(&self) -> bool {
        matches!(self, Self::Operation(operation) if operation.compares())
    }

    /// Applies the operation to single numbers; a condition gives 1 if it holds, else 0.
    pub(super) fn compute(&self, numbers: &[f64]) -> Result<f64, String> {
        match (self, numbers) {
            (Self::Operation(operation), _) => Ok(operation.compute(numbers)),
            (Self::Absolute, [a]) => Ok(a.abs()),
            (Self::Root, [a]) => Ok(a.sqrt()),
            (Self::Function(function), _) => {
                function.compute(numbers).map_err(|error| error.to_string())
            }
            _ => Err("a wrong number of parts".to_owned()),
        }
    }
}

impl Aggregate {
    /// Returns the aggregate of a value; `None` if the value is empty.
    pub(super) fn of(self, value: &Value) -> Option<f64> {
        match value {
            Value::One(number) => self.of_numbers(&[*number]),
            Value::Keyed(items) => {
                let numbers = items.iter().map(|(_, number)| *number);
                self.of_numbers(&numbers.filter(|number| !number.is_nan()).collect::<Vec<_>>())
            }
            Value::Steps(steps) => self.of_steps(steps),
            Value::Samples(histogram) => self.of_samples(histogram),
        }
    }

    pub(super) fn of_numbers(self, numbers: &[f64]) -> Option<f64> {
        let holding = || numbers.iter().filter(|number| **number != 0.0).count() as f64;
        // For an empty set, neither "all" nor "any" says anything about the run.
        let truth = |holds: bool| (!numbers.is_empty()).then_some(f64::from(u8::from(holds)));
        match self {
            Self::Mean => statistics::mean(numbers),
            Self::Quantile(share) => statistics::quantile(numbers, share),
            Self::Min => numbers.iter().copied().reduce(f64::min),
            Self::Max => numbers.iter().copied().reduce(f64::max),
            Self::Sum => Some(numbers.iter().sum()),
            Self::Count => Some(numbers.len() as f64),
            Self::Deviation => statistics::standard_deviation(numbers),
            Self::Jain => statistics::jain(numbers),
            Self::Any => truth(0.0 < holding()),
            Self::All => truth(holding() == numbers.len() as f64),
            Self::Share => (!numbers.is_empty()).then(|| holding() / numbers.len() as f64),
        }
    }

    /// Returns the aggregate over time. Spans without a number, for example because of a division
    /// by zero, do not count.
    fn of_steps(self, steps: &StepFunction) -> Option<f64> {
        let spans = || steps.spans().filter(|(value, _)| value.is_finite());
        let whole: f64 = spans().map(|(_, span)| span).sum();
        match self {
            Self::Mean => {
                let area: f64 = spans().map(|(value, span)| value * span).sum();
                (0.0 < whole).then(|| area / whole)
            }
            Self::Share => {
                let held = spans().filter(|(value, _)| *value != 0.0).map(|(_, span)| span);
                // Rounding may make the share slightly larger than 1.
                (0.0 < whole).then(|| (held.sum::<f64>() / whole).min(1.0))
            }
            _ => self.of_numbers(&spans().map(|(value, _)| value).collect::<Vec<_>>()),
        }
    }

    /// Returns the aggregate in seconds; the histogram has microseconds.
    fn of_samples(self, histogram: &Histogram<u64>) -> Option<f64> {
        if self == Self::Count {
            return Some(histogram.len() as f64);
        }
        let micros = match self {
            Self::Mean => histogram.mean(),
            Self::Quantile(share) => histogram.value_at_quantile(share) as f64,
            Self::Min => histogram.min() as f64,
            Self::Max => histogram.max() as f64,
            Self::Deviation => histogram.stdev(),
            Self::Count | Self::Sum | Self::Jain | Self::Any | Self::All | Self::Share => {
                return None;
            }
        };
        (!histogram.is_empty()).then_some(micros / 1e6)
    }
}
