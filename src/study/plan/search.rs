//! `search:`: the smallest value of a field for which a condition holds.
//!
//! The search halves the interval, and runs all seeds for each value that it tries:
//! ```text
//! from: 10, to: 100        10 fails    100 holds
//!                          55 holds    32 fails    43 holds    …    38 holds, 37 fails
//! ```
//! So a search among a thousand values takes a dozen steps. As the value grows, the condition may
//! by chance begin to hold more than once; the search then ends at one of these points.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::plan::axes::{self, Axis, AxisPut, AxisValue};
use crate::plan::spec::Study;
use mumakil_results::expect::{Expr, ExprPlan, Space};
use mumakil_scenario::unusable;
use mumakil_yaml::{Path, YamlProblem};

/// A search: its field, its interval and its condition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Search {
    /// The field that the search varies, such as `cluster.nodes`.
    pub over: String,
    /// The smallest value to try.
    pub from: u64,
    /// The largest value to try.
    pub to: u64,
    /// The condition that has to hold, such as `mean(sojourn) <= 5min`.
    pub until: String,
}

/// The state of a search in progress.
#[derive(Clone, Debug)]
pub struct SearchState {
    /// The values tried so far, rising, and whether the condition holds with each.
    tried: Vec<(u64, bool)>,
    from: u64,
    to: u64,
}

impl Search {
    /// Returns the searched field as an axis with these values.
    fn axis(&self, values: &[u64]) -> Axis {
        // `problems` reports a wrong field. Until then, use an empty path in its place.
        let path = axes::field(&Path::of("search.over"), &self.over).unwrap_or_default();
        let value = |value: &u64| AxisValue {
            label: value.to_string(),
            text: value.to_string(),
            puts: vec![AxisPut {
                path: path.clone(),
                value: (*value).into(),
                written: Path::of("search.over"),
            }],
            base: None,
        };
        Axis { name: self.over.clone(), values: values.iter().map(value).collect() }
    }

    /// Returns the axis with its first value only.
    pub(crate) fn first(&self) -> Axis {
        self.axis(&[self.from])
    }

    pub(crate) fn plan(&self) -> Result<ExprPlan, mumakil_results::expect::ExprComplaint> {
        let axes = vec![self.first().space()];
        Expr::parse(&self.until)?.expectation(&Space { axes, compared: None })
    }

    /// Returns all mistakes in the settings of the search.
    pub(crate) fn problems(&self) -> Vec<YamlProblem> {
        let at = |key: &str| Path::of("search").key(key);
        let mut problems = Vec::new();
        if Path::parse(&self.over).is_none() {
            let message = format!("`{}` is not a field of the scenario", self.over);
            problems.push(YamlProblem::value(at("over"), message).hint("such as `cluster.nodes`"));
        } else if let Err(refused) = axes::field(&at("over"), &self.over) {
            let YamlProblem { message, hint, .. } = refused;
            problems.push(YamlProblem { hint, ..YamlProblem::value(at("over"), message) });
        }
        if self.to <= self.from {
            problems.push(YamlProblem::value(at("to"), "`to` must be above `from`"));
        }
        match self.plan() {
            Err(complaint) => {
                problems.push(unusable(at("until"), &complaint, &self.until));
            }
            Ok(plan) if !plan.is_condition() => {
                let message = format!("`{}` is a number, not a condition", self.until);
                let hint = "such as `mean(sojourn) <= 5min`";
                problems.push(YamlProblem::value(at("until"), message).hint(hint));
            }
            Ok(_) => {}
        }
        problems
    }

    /// Begins the search.
    pub fn begin(&self) -> SearchState {
        SearchState { tried: Vec::new(), from: self.from, to: self.to }
    }
}

impl SearchState {
    /// Returns the next value to try; `None` when the search has ended.
    pub fn next(&self) -> Option<u64> {
        let known = |value: u64| self.tried.iter().find(|(tried, _)| *tried == value);
        match (known(self.from), known(self.to)) {
            (None, _) => Some(self.from),
            // The search is over at once if the condition holds with the smallest value, or fails
            // with the largest value.
            (Some((_, true)), _) | (_, Some((_, false))) => None,
            (_, None) => Some(self.to),
            _ => {
                let (low, high) = self.edges()?;
                // Not `(low + high) / 2`, which may overflow.
                (1 < high - low).then(|| low + (high - low) / 2)
            }
        }
    }

    /// Returns the largest failing value below the answer so far, and this answer; `None` if either
    /// is missing.
    fn edges(&self) -> Option<(u64, u64)> {
        let high = self.answer()?;
        // Ignore failures above the answer: the condition may fail there by chance.
        let below = self.tried.iter().filter(|(value, _)| *value < high);
        Some((below.map(|(value, _)| *value).max()?, high))
    }

    /// Notes whether the condition holds with a value.
    pub fn note(&mut self, value: u64, holds: bool) {
        self.tried.push((value, holds));
        self.tried.sort_unstable();
    }

    /// Returns the smallest value tried so far with which the condition holds; `None` if there is
    /// no such value.
    pub fn answer(&self) -> Option<u64> {
        self.tried.iter().find(|(_, holds)| *holds).map(|(value, _)| *value)
    }

    /// Returns the values tried so far, rising.
    pub fn tried(&self) -> Vec<u64> {
        self.tried.iter().map(|(value, _)| *value).collect()
    }

    /// Returns the largest number of values that the search can try: both ends, and one value for
    /// each bit of the interval's length.
    pub fn most(&self) -> u64 {
        2 + u64::from((self.to - self.from).ilog2()) + 1
    }
}

impl Study {
    /// Returns the study to run first. A study with a search gets only the smallest value of its
    /// search; any other study is unchanged.
    #[must_use]
    pub fn first(&self) -> Self {
        match &self.search {
            Some(search) => self.probing(search, &[search.from]),
            None => self.clone(),
        }
    }

    /// Returns the study with these values as the axis of the searched field.
    #[must_use]
    pub fn probing(&self, search: &Search, values: &[u64]) -> Self {
        let mut study = self.clone();
        study.sweep.axes = vec![search.axis(values)];
        study
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hunt(from: u64, to: u64, least: u64) -> (Option<u64>, usize) {
        let search = Search {
            over: "cluster.nodes".to_owned(),
            from,
            to,
            until: "makespan < 1s".to_owned(),
        };
        let mut hunt = search.begin();
        while let Some(value) = hunt.next() {
            hunt.note(value, least <= value);
            assert!(hunt.tried().len() as u64 <= hunt.most(), "{hunt:?}");
        }
        (hunt.answer(), hunt.tried().len())
    }

    #[test]
    fn the_smallest_value_that_will_do_is_found() {
        for least in 10..=100 {
            assert_eq!(hunt(10, 100, least).0, Some(least));
        }
        assert_eq!(hunt(10, 100, 5), (Some(10), 1));
        assert_eq!(hunt(10, 100, 101), (None, 2));
    }
}
