//! `compare:`: the axis whose values are compared, and the pairs of values.

use schemars::json_schema;
use serde::{Deserialize, Serialize};
use serde_yaml::Value;

use crate::plan::axes;
use mumakil_base::forms;
use mumakil_results::expect::{Space, SpaceAxis};
use mumakil_yaml::{Path, YamlProblem};

/// The largest number of compared pairs.
// Chosen: enough to compare 45 values, each with each. With more pairs, Holm's correction would
// find hardly any difference.
const MOST_PAIRS: usize = 1_000;

/// `compare:` as the user writes it: an axis, or `{axis: …, base: …}`.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct CompareSpec {
    axis: String,
    /// Whether the user gives only the axis, not a mapping.
    is_short: bool,
    base: Option<Value>,
}

/// The pairs of values that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ComparedWith {
    /// Each other value is compared with the value at this index on the axis.
    Base(usize),
    /// Each value is compared with each other value.
    All,
}

impl Default for ComparedWith {
    fn default() -> Self {
        Self::Base(0)
    }
}

impl ComparedWith {
    /// Returns whether all values are compared with the first, the default; `study.json` leaves the
    /// default out.
    pub(crate) fn is_usual(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the compared pairs on an axis with this many values: the index of the base, and the
    /// index of the other value.
    pub(crate) fn pairs(self, values: usize) -> Vec<(usize, usize)> {
        match self {
            Self::Base(base) => {
                (0..values).filter(|other| *other != base).map(|other| (base, other)).collect()
            }
            Self::All => {
                // List each pair once, with the earlier value as base.
                (0..values)
                    .flat_map(|base| (base + 1..values).map(move |other| (base, other)))
                    .collect()
            }
        }
    }
}

impl CompareSpec {
    /// Returns the index of the compared axis, or an error if the study has no such axis.
    pub(crate) fn axis(&self, space: &Space) -> Result<usize, YamlProblem> {
        let at = Path::of("compare");
        axes::find(space, &self.axis, if self.is_short { at } else { at.key("axis") })
    }

    /// Returns the pairs to compare, or an error if the base is no value of the axis or there are
    /// too many pairs.
    pub(crate) fn against(&self, axis: &SpaceAxis) -> Result<ComparedWith, YamlProblem> {
        Ok(match &self.base {
            Some(label) => {
                ComparedWith::Base(axes::find_value(axis, label, Path::of("compare").key("base"))?)
            }
            // `compare: scheduler` compares all values with the first; `{axis: scheduler}` compares
            // each with each.
            None if self.is_short => ComparedWith::default(),
            None => {
                let values = axis.values.len();
                let pairs = values * values.saturating_sub(1) / 2;
                if MOST_PAIRS < pairs {
                    let message = format!(
                        "each of {values} values with each are {pairs} comparisons, more than {MOST_PAIRS}"
                    );
                    let hint = format!("name one: `base: {}`", axis.values[0].label);
                    return Err(YamlProblem::value(Path::of("compare"), message).hint(hint));
                }
                ComparedWith::All
            }
        })
    }
}

/// The long form.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LongCompareSpec {
    axis: String,
    base: Option<Value>,
}

forms! {
    CompareSpec, expected: "an axis, or {axis: …, base: …}",
    text: |axis| Ok(CompareSpec { axis: axis.to_owned(), is_short: true, base: None }),
    map: |map| {
        let LongCompareSpec { axis, base } = LongCompareSpec::deserialize(map)?;
        Ok(CompareSpec { axis, is_short: false, base })
    },
    schema: "Compare", |_| {
        let axis = json_schema!({ "type": "string", "title": "the axis" });
        json_schema!({
            "title": "an axis, whose first value is the base, or an axis with its base",
            "anyOf": [
                { "type": "string" },
                {
                    "type": "object",
                    "properties": {
                        "axis": axis,
                        "base": {
                            "title": "the value with which all others are compared; without it each is compared with each",
                        },
                    },
                    "required": ["axis"],
                    "additionalProperties": false,
                },
            ],
        })
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use mumakil_results::expect::SpaceValue;

    fn find(yaml: &str) -> Result<(usize, ComparedWith), String> {
        let axis = |(path, labels): (&str, &[&str])| SpaceAxis {
            path: path.to_owned(),
            values: labels.iter().map(|label| SpaceValue::new(*label)).collect(),
        };
        let axes: [(&str, &[&str]); 2] =
            [("cluster.nodes", &["5", "10"]), ("scheduler", &["fifo", "fair", "hfsp"])];
        let space = Space { axes: axes.map(axis).into(), compared: None };
        let spec: CompareSpec = serde_yaml::from_str(yaml).map_err(|error| error.to_string())?;
        let found = spec.axis(&space);
        let found = found.and_then(|axis| Ok((axis, spec.against(&space.axes[axis])?)));
        found.map_err(|YamlProblem { path, message, .. }| format!("{path}: {message}"))
    }

    #[test]
    fn an_axis_alone_has_its_first_value_as_base_and_one_without_a_base_none() {
        assert_eq!(find("scheduler"), Ok((1, ComparedWith::Base(0))));
        assert_eq!(find("{axis: scheduler, base: fair}"), Ok((1, ComparedWith::Base(1))));
        assert_eq!(find("{axis: nodes, base: 10}"), Ok((0, ComparedWith::Base(1))));
        assert_eq!(find("{axis: scheduler}"), Ok((1, ComparedWith::All)));
    }

    #[test]
    fn a_name_that_is_no_axis_and_no_value_is_refused_in_its_place() {
        for (yaml, complaint) in [
            ("schedulr", "compare: `schedulr` is no axis; there are cluster.nodes, scheduler"),
            ("{axis: x}", "compare.axis: `x` is no axis; there are cluster.nodes, scheduler"),
            ("{axis: nodes, base: 7}", "compare.base: `cluster.nodes` has no value `7`"),
        ] {
            assert_eq!(find(yaml), Err(complaint.to_owned()), "{yaml}");
        }
        assert!(find("{axis: nodes, bas: 7}").unwrap_err().contains("unknown field `bas`"));
        assert!(find("[nodes]").unwrap_err().contains("expected an axis, or {axis: …, base: …}"));
    }

    #[test]
    fn each_of_very_many_with_each_is_refused() {
        let values: Vec<SpaceValue> =
            (1..=46).map(|label| SpaceValue::new(label.to_string())).collect();
        let spec: CompareSpec = serde_yaml::from_str("{axis: x}").unwrap();
        let against = |count: usize| {
            spec.against(&SpaceAxis { path: "x".to_owned(), values: values[..count].to_vec() })
        };
        assert!(against(45).is_ok());
        let YamlProblem { message, .. } = against(46).unwrap_err();
        assert_eq!(message, "each of 46 values with each are 1035 comparisons, more than 1000");
    }

    #[test]
    fn pairs_are_with_the_base_or_each_with_each() {
        assert_eq!(ComparedWith::Base(1).pairs(3), [(1, 0), (1, 2)]);
        assert_eq!(ComparedWith::All.pairs(3), [(0, 1), (0, 2), (1, 2)]);
        assert!(ComparedWith::All.pairs(1).is_empty());
    }
}
