//! A suite: the scenarios in which policies are scored, and the policies beside which they stand.
//!
//! ```text
//! sweep:
//!   scenario: [ … ]           as in a study
//!   seeds: 5                  a study's seeds are public, the held-back ones come from a key
//! score:
//!   less: mean(sojourn)       the number that a policy should make small
//!   against: [fifo, fair]     the baselines: the best of them counts in each scenario
//!   bound: srpt               a policy that hardly any other can beat
//! ```

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_yaml::{Mapping, Value};

use mumakil_base::units::{Bytes, Factor, SimSpan};
use mumakil_base::with_defaults;
use mumakil_results::expect::{Expr, Space};
use mumakil_scenario::{Draft, Name, ScenarioError, Starter, bundled, unusable};
use mumakil_study::{SCENARIO, SEEDS, Sweep, short_label, unnamed};
use mumakil_yaml::{MOST, Path, TreeShape, YamlProblem, read};

/// The key of a suite that no study has.
const SCORE: &str = "score";

/// A suite of scenarios for policies.
#[derive(Clone, Debug)]
pub struct Suite {
    /// Its name.
    pub name: Name,
    /// Its purpose.
    pub description: String,
    /// The real time and the resources that a policy may use.
    pub limits: PolicyLimits,
    pub(crate) scenarios: Vec<SuiteScenario>,
    /// The policies beside which others are set, each with its label.
    pub(crate) baselines: Vec<(String, Value)>,
    /// The public seeds.
    pub(crate) seeds: Vec<u64>,
    /// The suite as a study without policies.
    pub(crate) draft: Draft,
}

/// A scenario of a suite.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SuiteScenario {
    pub(crate) label: String,
    /// The weight of its ratio in the total.
    pub(crate) weight: f64,
    pub(crate) goal: Goal,
    /// The policy that hardly any other can beat here, with its label.
    pub(crate) bound: (String, Value),
}

/// The number by which policies are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Goal {
    /// The expression of the number.
    pub(crate) text: String,
    /// Whether the larger number is better.
    pub(crate) is_more: bool,
}

with_defaults! {
    /// The limits for a policy that is scored.
    #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(default, deny_unknown_fields)]
    pub struct PolicyLimits {
        // Chosen: thousands of times what the policies that Mumakil brings need, so that only a policy
        // that has gone astray meets a limit.
        /// The processor time that a program may use for an answer.
        pub answer: SimSpan = SimSpan::from_secs(2),
        /// The real time that a program may take to start, for an answer and to end.
        pub wait: SimSpan = SimSpan::from_secs(30),
        /// The real time that a run may take.
        pub run: SimSpan = SimSpan::from_secs(120),
        /// The processor time that a program may use in a run.
        pub processor: SimSpan = SimSpan::from_secs(60),
        /// The memory that a program may use.
        pub memory: Bytes = Bytes::new(1 << 30),
    }
}

/// `score:`, the key of a suite that no study has.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct ScoreKeys {
    /// The number that a policy should make small, such as `mean(sojourn)`.
    less: Option<String>,
    /// The number that a policy should make large, such as `locality.node`.
    more: Option<String>,
    /// The policies beside which others are set: in each scenario the best of them counts.
    against: Vec<serde_json::Value>,
    /// A policy that hardly any other can beat, such as one that knows the true sizes.
    bound: Option<serde_json::Value>,
    /// Scenarios with a number or a weight of their own.
    scenarios: BTreeMap<String, ScenarioKeys>,
    /// The real time and the resources that a policy may use.
    limits: PolicyLimits,
}

/// The number and the weight of a scenario.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct ScenarioKeys {
    /// The number that a policy should make small.
    less: Option<String>,
    /// The number that a policy should make large.
    more: Option<String>,
    /// The weight of the scenario in the total; 1 by default.
    weight: Option<Factor>,
    /// A policy that hardly any other can beat by this number.
    bound: Option<serde_json::Value>,
}

impl Suite {
    /// Returns the suite that a draft describes.
    ///
    /// # Errors
    /// If it has mistakes; the error names all of them, but for those of the scenarios, which are
    /// found when a study is planned.
    pub fn of(draft: &Draft) -> Result<Self, ScenarioError> {
        let mut problems = Vec::new();
        let at = Path::of(SCORE);
        let Some(said) = at.get(draft.tree()).cloned() else {
            let hint = "such as `score: {less: mean(sojourn), against: [fifo, fair], bound: srpt}`";
            let problem = YamlProblem::value(Path::default(), "the suite has no `score`");
            return Err(ScenarioError::invalid(vec![draft.finding(problem.hint(hint))]));
        };
        let (keys, wrong) =
            read::<ScoreKeys>(said.clone(), &Mapping::new().into(), &TreeShape::default(), MOST);
        problems.extend(wrong.into_iter().map(|problem| problem.inside(&at)));
        let keys = keys.unwrap_or_default();
        let study = draft.without(&[SCORE]);
        let sweep = study.tree().get("sweep").cloned().unwrap_or_else(|| Mapping::new().into());
        problems.extend(other_axes(&sweep));
        let sweep = Sweep::read(&sweep, &mut problems);
        let values = sweep.bases().into_iter().flat_map(|axis| &axis.values);
        let labels: Vec<String> = values.map(|value| value.label.clone()).collect();
        if labels.is_empty() && problems.is_empty() {
            let problem = YamlProblem::value(Path::default(), "the suite has no scenarios");
            problems.push(problem.hint("such as `sweep: {scenario: [quickstart, mine.yaml]}`"));
        }
        let usual = goal(&at, &keys.less, &keys.more, &mut problems);
        // The policies are read from the tree: their options keep the order in which they stand.
        let policy = |value: &Value| (short_label(value), unnamed(value.clone()));
        let usual_bound = said.get("bound").map(policy);
        let mut scenarios = Vec::new();
        for label in &labels {
            let own = keys.scenarios.get(label).cloned().unwrap_or_default();
            let here = at.key("scenarios").key(label);
            let goal = goal(&here, &own.less, &own.more, &mut problems).or_else(|| usual.clone());
            let own_bound = here.key("bound").get(draft.tree()).map(policy);
            let bound = own_bound.or_else(|| usual_bound.clone());
            let mut lacks = |what: &str, hint: &str| {
                if problems.is_empty() {
                    let problem =
                        YamlProblem::value(at.clone(), format!("`{label}` has no {what}"));
                    problems.push(problem.hint(hint));
                }
            };
            match (goal, bound) {
                (Some(goal), Some(bound)) => {
                    let weight = own.weight.map_or(1.0, Factor::get);
                    scenarios.push(SuiteScenario { label: label.clone(), weight, goal, bound });
                }
                (None, _) => {
                    lacks("number by which policies are compared", "such as `less: mean(sojourn)`")
                }
                (_, None) => {
                    lacks("bound, a policy that hardly any can beat", "such as `bound: srpt`")
                }
            }
        }
        problems.extend(unknown_scenarios(&keys, &labels, &at));
        let against = said.get("against").and_then(Value::as_sequence);
        let baselines: Vec<_> = against.into_iter().flatten().map(policy).collect();
        if baselines.is_empty() && problems.is_empty() {
            let problem = YamlProblem::value(at, "`against` names no policy");
            problems.push(problem.hint("such as `against: [fifo, fair, hfsp]`"));
        }
        if !problems.is_empty() {
            let findings = problems.into_iter().map(|problem| draft.finding(problem));
            return Err(ScenarioError::invalid(findings.collect()));
        }
        Ok(Self {
            name: draft.name(),
            description: draft.description(),
            limits: keys.limits,
            scenarios,
            baselines,
            // Seeds count from 1, whatever the seeds of the scenarios are.
            seeds: sweep.seeds.from(1),
            draft: study,
        })
    }

    pub(crate) fn weights(&self) -> Vec<f64> {
        self.scenarios.iter().map(|one| one.weight).collect()
    }

    /// Returns the JSON Schema of suites: that of studies, with the key `score`.
    pub fn schema(registry: &mumakil_scenario::Registry) -> serde_json::Value {
        let mut schema = mumakil_study::schema(registry);
        let own = mumakil_scenario::generator().into_root_schema_for::<ScoreKeys>();
        if let Some(all) = schema.get_mut("properties").and_then(|all| all.as_object_mut()) {
            all.insert(SCORE.to_owned(), own.into());
        }
        if let Some(schema) = schema.as_object_mut() {
            schema.insert("title".to_owned(), "Suite".into());
        }
        schema
    }
}

/// Returns a mistake for each axis that a suite cannot have.
fn other_axes(sweep: &Value) -> Vec<YamlProblem> {
    let keys = sweep.as_mapping().into_iter().flat_map(Mapping::keys).filter_map(Value::as_str);
    let wrong = keys.filter(|key| ![SCENARIO, SEEDS].contains(key)).map(|key| {
        let problem = YamlProblem::key(Path::of("sweep").key(key), "a suite has no such axis");
        problem.hint("it varies scenarios and seeds; fields of a scenario vary with its `draw`")
    });
    wrong.collect()
}

/// Returns the goal that stands at a path, and notes its mistakes; `None` if there is none.
fn goal(
    at: &Path,
    less: &Option<String>,
    more: &Option<String>,
    problems: &mut Vec<YamlProblem>,
) -> Option<Goal> {
    let (key, text, is_more) = match (less, more) {
        (Some(_), Some(_)) => {
            let message = "a policy is compared by one number: `less` or `more`";
            problems.push(YamlProblem::key(at.key("more"), message));
            return None;
        }
        (Some(text), None) => ("less", text, false),
        (None, Some(text)) => ("more", text, true),
        (None, None) => return None,
    };
    // The number is one of a run, so it cannot choose values of axes.
    if let Err(complaint) = Expr::parse(text).and_then(|expr| expr.metric(&Space::default())) {
        problems.push(unusable(at.key(key), &complaint, text));
        return None;
    }
    Some(Goal { text: text.clone(), is_more })
}

/// Returns the mistakes of keys that name no scenario of the suite.
fn unknown_scenarios(keys: &ScoreKeys, labels: &[String], at: &Path) -> Vec<YamlProblem> {
    let unknown = keys.scenarios.keys().filter(|name| !labels.contains(name));
    let problem = |name: &String| {
        let message = format!("there is no scenario `{name}`");
        let problem = YamlProblem::key(at.key("scenarios").key(name), message);
        problem.nearest(name, labels.iter().map(String::as_str))
    };
    unknown.map(problem).collect()
}

/// The suites that Mumakil brings.
pub const SUITES: &[Starter] = bundled!("suites/": "small" "standard" "papers" "hostile");
