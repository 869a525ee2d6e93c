//! `sabotage:`: wrong policies and settings under which expectations of a study must fail.
//!
//! ```text
//! sweep:    {scheduler: [fair, hfsp], seeds: 5}
//! expect:   [mean(sojourn, scheduler=hfsp) < mean(sojourn, scheduler=fair)]
//! sabotage: [{as: fair against itself, set: {"sweep.scheduler[1]": {as: hfsp, value: fair}}, fails: [1]}]
//! ```
//! An expectation that also holds under a wrong policy proves nothing about the right one. Settings
//! are laid over the study's own text, so a sabotage may change a value of an axis as well.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_yaml::Value;

use crate::plan::axes::Sweep;
use crate::plan::spec::Study;
use mumakil_base::units::tell::counted;
use mumakil_scenario::ScenarioError;
use mumakil_yaml::{Path, YamlProblem};

/// The key of sabotages in a study.
pub(crate) const SABOTAGE: &str = "sabotage";

/// A wrong policy or setting under which expectations must fail.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sabotage {
    /// A name in a few words: which part is wrong.
    #[serde(rename = "as", default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it sets in this study, by paths as in `--set`: `scheduler.fair.delay.w1: 0s`, or
    /// `sweep.scheduler[1]: {as: hfsp, value: fair}` for a value of an axis.
    #[schemars(with = "std::collections::BTreeMap<String, serde_json::Value>")]
    pub set: IndexMap<String, Value>,
    /// The expectations that must fail, by their numbers in `expect`, from 1.
    pub fails: Vec<usize>,
}

impl Sabotage {
    /// Returns what is wrong: its name, or else its settings.
    pub fn what(&self) -> String {
        self.name.clone().unwrap_or_else(|| {
            let settings = self.set.iter().map(|(path, value)| {
                // Any value can be written as JSON, except one with keys that are no texts.
                let value = serde_json::to_string(value).unwrap_or_else(|_| "…".to_owned());
                format!("{path}: {value}")
            });
            settings.collect::<Vec<_>>().join(", ")
        })
    }

    /// Returns a mistake in the sabotage of a study with this many expectations; `at` is its path.
    pub(crate) fn problem(&self, at: &Path, expectations: usize) -> Option<YamlProblem> {
        if self.set.is_empty() {
            return Some(YamlProblem::value(at.key("set"), "a sabotage sets something"));
        }
        if self.fails.is_empty() {
            let message = "a sabotage names the expectations that must fail";
            return Some(YamlProblem::value(at.key("fails"), message).hint("such as `fails: [1]`"));
        }
        let wrong = self.fails.iter().position(|number| !(1..=expectations).contains(number))?;
        let (number, there_are) = (self.fails[wrong], counted(expectations as u64, "expectation"));
        let message = format!("there is no expectation {number}: the study has {there_are}");
        Some(YamlProblem::value(at.key("fails").index(wrong), message))
    }
}

impl Study {
    /// Returns the study as one of its sabotages changes it, without sabotages of its own.
    ///
    /// # Errors
    /// If the settings do not fit the study.
    pub fn sabotaged(&self, number: usize) -> Result<Self, ScenarioError> {
        let at = Path::of(SABOTAGE).index(number).key("set");
        let mut draft = self.draft.without(&[SABOTAGE]);
        for (name, value) in &self.sabotages[number].set {
            let written = at.key(name);
            let refused = |message: String| {
                let problem = YamlProblem::key(written.clone(), message);
                ScenarioError::invalid(vec![self.draft.finding(problem)])
            };
            let path = Path::parse(name)
                .ok_or_else(|| refused(format!("`{name}` is not a path such as cluster.nodes")))?;
            // A value takes the place of the study's own; laid over it, a mapping would keep keys that
            // it does not have.
            for value in [Value::Null, value.clone()] {
                draft.put(&path, value, self.draft.origin(&written)).map_err(refused)?;
            }
        }
        let mut study = Self::of_any(draft)?;
        // A sabotage may take a pool away of which an expectation tells.
        study.expressions.forget_words();
        let mut keys = self.sabotages[number].set.keys();
        match keys.any(|name| name == "sweep" || name.starts_with("sweep.seeds")) {
            true => Ok(study),
            // The caller may have chosen fewer seeds than the study's text has.
            false => {
                let sweep = Sweep { seeds: self.sweep.seeds.clone(), ..study.sweep };
                Ok(Self { sweep, ..study })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::axes::Seeds;
    use mumakil_scenario::Draft;

    fn study(sabotage: &str) -> Result<Study, String> {
        let yaml = format!(
            "workload: {{jobs: [{{name: a, maps: 1, map_time: 1s}}]}}\n\
             scheduler: {{fair: {{delay: {{w1: 1s}}}}}}\n\
             sweep: {{cluster.nodes: [1, 2], seeds: 5}}\n\
             expect: [mean(sojourn) < 1h]\nsabotage: [{sabotage}]"
        );
        Study::of(Draft::of("test.yaml", &yaml).unwrap()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_sabotage_takes_the_place_of_what_the_study_says() {
        let mut study = study("{set: {scheduler: {hfsp: {sample: 0}}}, fails: [1]}").unwrap();
        study.limit_seeds(2);
        let wrong = study.sabotaged(0).unwrap();
        assert_eq!(wrong.sabotages, []);
        assert_eq!(wrong.sweep.seeds, Seeds::Count(2));
        let scheduler =
            serde_yaml::to_string(wrong.bases[0].tree().get("scheduler").unwrap()).unwrap();
        assert_eq!(scheduler, "hfsp:\n  sample: 0\n");
    }

    #[test]
    fn mistakes_in_a_sabotage_are_told_before_any_run() {
        let error = |sabotage: &str| study(sabotage).unwrap_err();
        assert!(error("{set: {}, fails: [1]}").contains("a sabotage sets something"));
        assert!(error("{set: {seed: 1}, fails: []}").contains("names the expectations"));
        let told = error("{set: {seed: 1}, fails: [1, 2]}");
        assert!(
            told.starts_with("there is no expectation 2: the study has 1 expectation"),
            "{told}"
        );
        assert!(told.contains("sabotage[0].fails[1]"), "{told}");
        let told = error("{set: {sweep.cluster.nodes: 3}, fails: [1]}");
        assert!(told.contains("expected a list of values"), "{told}");
        assert!(error("{set: {'a..b': 3}, fails: [1]}").contains("is not a path"));
    }
}
