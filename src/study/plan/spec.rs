//! A study as its file describes it: a scenario, the fields that vary, the metrics and the charts.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_yaml::{Mapping, Value};

use crate::draw::ChartSpec;
use crate::plan::axes::{self, Axis, Seeds, Sweep};
use crate::plan::compared::{CompareSpec, ComparedWith};
use crate::plan::drawn::DrawnField;
use crate::plan::expressions::StudyExpressions;
use crate::plan::named_files::NamedFile;
use crate::plan::sabotage::{SABOTAGE, Sabotage};
use mumakil_results::expect::{Expectation, Space};
use mumakil_scenario::{
    Draft, Experiment, Name, Registry, STUDY_KEYS, ScenarioError, Starter, generator,
};
use mumakil_yaml::{Finding, MOST, Path, TreeShape, YamlProblem, read};

/// A study: a scenario, and the fields that vary in it.
#[derive(Clone, Debug)]
pub struct Study {
    /// Its name, and the name of its results folder.
    pub name: Name,
    /// Its purpose.
    pub description: String,
    /// The published experiment that it repeats.
    pub experiment: Option<Experiment>,
    /// The axes and the seeds.
    pub sweep: Sweep,
    /// The entries of `exclude`: for each axis, the excluded values; `None` stands for all values.
    pub(crate) excluded: Vec<Vec<Option<Vec<usize>>>>,
    /// The axis whose values are compared.
    pub(crate) compare: Option<usize>,
    /// The compared pairs of values on the compared axis.
    pub(crate) against: ComparedWith,
    pub(crate) metrics: Vec<String>,
    pub(crate) charts: Vec<ChartSpec>,
    /// The expectations of the results.
    pub expect: Vec<Expectation>,
    /// Wrong policies and settings under which expectations must fail.
    pub sabotages: Vec<Sabotage>,
    /// The demands of its metrics, charts and expectations on the runs.
    pub(crate) expressions: StudyExpressions,
    /// The scenarios to which the axes' values are applied: one, or one for each value of the axis
    /// of scenarios.
    pub(crate) bases: Vec<Draft>,
    /// The study's own text, for messages.
    pub(crate) draft: Draft,
    /// The files that its scenarios name, if their hashes are known already.
    pub(crate) files: Vec<NamedFile>,
}

/// The keys of a study that a scenario does not have, or that mean something else in a scenario.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Keys {
    /// The published experiment that this repeats.
    experiment: Option<Experiment>,
    /// The scenario that the study varies: a file beside the study, a scenario that Mumakil brings,
    /// the scenario itself, or a list of these, each laid over those before it.
    #[schemars(schema_with = "base_schema")]
    base: Option<Value>,
    /// The files that the scenarios name, with their hashes. Mumakil writes this into a study's
    /// folder.
    files: Vec<NamedFile>,
    /// Fields of the scenario, each with a list of values or a range; `seeds`: how many, or which;
    /// `zip`: fields that change together.
    #[schemars(schema_with = "sweep_schema")]
    sweep: Value,
    /// Combinations of the axes' values that are left out.
    #[schemars(with = "Vec<BTreeMap<String, serde_json::Value>>")]
    exclude: Vec<IndexMap<String, Value>>,
    /// The axis whose values are compared, paired by seed; `{axis: …}` compares each with each.
    pub(crate) compare: Option<CompareSpec>,
    /// The metrics of each cell, such as `mean(sojourn)`.
    pub(crate) metrics: Vec<String>,
    /// The charts. Without this, each metric is drawn over the longest axis.
    pub(crate) charts: Vec<ChartSpec>,
    /// Expectations of the results.
    pub(crate) expect: Vec<Expectation>,
    /// Wrong policies and settings under which expectations must fail. `mumakil study --sabotage`
    /// tries them.
    sabotage: Vec<Sabotage>,
}

fn base_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "anyOf": [
        { "type": "string" },
        { "type": "object" },
        { "type": "array", "items": { "type": "object" } },
        { "type": "null" },
    ] })
}

fn sweep_schema(_: &mut SchemaGenerator) -> Schema {
    let range = json_schema!({
        "type": "object",
        "properties": {
            "from": { "title": "the first value" },
            "to": { "title": "the last value" },
            "step": { "title": "the distance of two values" },
            "points": { "title": "how many values", "type": "integer" },
            "scale": { "enum": ["linear", "log"] },
        },
        "required": ["from", "to"],
        "additionalProperties": false,
    });
    let values = json_schema!({ "anyOf": [{ "type": "array" }, range] });
    json_schema!({
        "type": "object",
        "properties": {
            "seeds": {
                "anyOf": [
                    { "type": "integer", "minimum": 1 },
                    { "type": "array", "items": { "type": "integer", "minimum": 0 } },
                ],
            },
            "zip": { "type": "object", "additionalProperties": values },
        },
        "additionalProperties": values,
    })
}

/// Returns the JSON Schema of studies: the schema of scenarios with the study's keys added and no
/// key required.
pub fn schema(registry: &Registry) -> serde_json::Value {
    let mut schema = mumakil_scenario::schema(registry);
    let keys = generator().into_root_schema_for::<Keys>();
    let own = keys.get("properties").and_then(|own| own.as_object()).cloned().unwrap_or_default();
    if let Some(all) = schema.get_mut("properties").and_then(|all| all.as_object_mut()) {
        all.extend(own);
    }
    if let Some(schema) = schema.as_object_mut() {
        // The base may bring the keys that a scenario requires.
        schema.remove("required");
        schema.insert("title".to_owned(), "Study".into());
    }
    schema
}

/// Returns the keys that [`Study::read`] takes out before it lays the rest of the study over the
/// base: those that no scenario has, and two that a study has instead of its base.
fn keys() -> impl Iterator<Item = &'static str> {
    ["experiment"].into_iter().chain(STUDY_KEYS).chain(["expect"])
}

/// The metrics of a study that sets no metrics.
const METRICS: [&str; 4] = ["mean(sojourn)", "p95(sojourn)", "makespan", "locality.node"];

impl Study {
    /// Returns the study that a draft describes.
    ///
    /// # Errors
    /// If the study's own keys have mistakes; the error names all of them. The scenarios are
    /// checked when the study is planned.
    pub fn of(draft: Draft) -> Result<Self, ScenarioError> {
        let (study, mistakes) = Self::read(draft, true)?;
        if mistakes.is_empty() { Ok(study) } else { Err(ScenarioError::invalid(mistakes)) }
    }

    /// Returns the study that a draft describes; a scenario becomes a study of one run.
    ///
    /// # Errors
    /// As [`Study::of`].
    pub fn of_any(draft: Draft) -> Result<Self, ScenarioError> {
        let (study, mistakes) = Self::read(draft, false)?;
        if mistakes.is_empty() { Ok(study) } else { Err(ScenarioError::invalid(mistakes)) }
    }

    /// Reads a study, and returns it without its mistakes, which it returns beside it.
    pub(crate) fn read(
        draft: Draft,
        must_sweep: bool,
    ) -> Result<(Self, Vec<Finding>), ScenarioError> {
        let rest = draft.without(&keys().collect::<Vec<_>>());
        let own: Mapping =
            keys().filter_map(|key| Some((key.into(), draft.tree().get(key)?.clone()))).collect();
        let (read, mut problems) =
            read::<Keys>(own.into(), &Mapping::new().into(), &TreeShape::default(), MOST);
        let keys = read.unwrap_or_default();
        let sweep = sweep(&keys.sweep, must_sweep, &mut problems);
        problems.extend(arguments_without_effect(&draft, &sweep));
        // If the axes have mistakes, do not report the keys that name axes: one mistake would make
        // ten messages.
        let has_axes = problems.is_empty();
        let mut more = Vec::new();
        let axes = sweep.axes.iter().map(Axis::space).collect();
        let mut space = Space { axes, compared: None };
        let listed = (0..).zip(&keys.exclude).map(|(index, cells)| {
            excluded(&space, cells, &Path::of("exclude").index(index), &mut more)
        });
        let excluded = listed.collect();
        let mut note = |problem| more.push(problem);
        let compare =
            keys.compare.as_ref().and_then(|spec| spec.axis(&space).map_err(&mut note).ok());
        let against = compare
            .zip(keys.compare.as_ref())
            .and_then(|(axis, spec)| spec.against(&space.axes[axis]).map_err(&mut note).ok());
        space.compared = compare;
        let metrics = match &keys.metrics[..] {
            [] => METRICS.map(str::to_owned).to_vec(),
            own => own.to_vec(),
        };
        let sabotages = (0..).zip(&keys.sabotage);
        more.extend(sabotages.filter_map(|(number, sabotage): (usize, _)| {
            sabotage.problem(&Path::of(SABOTAGE).index(number), keys.expect.len())
        }));
        let expressions = StudyExpressions::of(&keys, &metrics, &space, &mut more);
        // Drop these problems if the axes have mistakes; see `has_axes`.
        problems.extend(more.into_iter().filter(|_| has_axes));
        let bases = bases(&draft, &sweep, keys.base.is_some(), rest, &mut problems)?;
        let mut mistakes: Vec<Finding> =
            problems.into_iter().map(|problem| draft.finding(problem)).collect();
        let study = Self {
            name: draft.name(),
            description: draft.description(),
            experiment: keys.experiment,
            sweep,
            excluded,
            compare,
            against: against.unwrap_or_default(),
            metrics,
            charts: keys.charts,
            expect: keys.expect,
            sabotages: keys.sabotage,
            expressions,
            bases,
            draft,
            files: keys.files,
        };
        if mistakes.is_empty() {
            mistakes = study.wrong_sabotages()?;
        }
        Ok((study, mistakes))
    }

    /// Returns the mistakes of sabotages, which should be told now and not after the runs of the study.
    /// Under a sabotage the study's own mistakes would be told once more.
    fn wrong_sabotages(&self) -> Result<Vec<Finding>, ScenarioError> {
        let mut mistakes = Vec::new();
        for number in 0..self.sabotages.len() {
            match self.sabotaged(number) {
                Err(ScenarioError::Invalid { findings }) => mistakes.extend(findings),
                sabotaged => drop(sabotaged?),
            }
        }
        Ok(mistakes)
    }

    /// Keeps at most `most` seeds in each cell.
    pub fn limit_seeds(&mut self, most: usize) {
        match &mut self.sweep.seeds {
            Seeds::Count(count) => *count = (*count).min(most as u64),
            Seeds::List(seeds) => seeds.truncate(most),
        }
    }

    /// Takes this many seeds in each cell, if the study counts its seeds and has fewer. Returns whether
    /// it has more then.
    pub fn raise_seeds(&mut self, to: usize) -> bool {
        match &mut self.sweep.seeds {
            Seeds::Count(count) if *count < to as u64 => {
                *count = to as u64;
                true
            }
            Seeds::Count(_) | Seeds::List(_) => false,
        }
    }

    /// Returns the scenario to which the values of a cell are applied; `values` has the index of a
    /// value for each axis.
    pub(crate) fn base(&self, values: &[usize]) -> &Draft {
        let axis = self.sweep.axes.iter().position(|axis| axis.name == axes::SCENARIO);
        &self.bases[axis.map_or(0, |axis| values[axis])]
    }

    /// Returns the fields that each seed draws anew in a cell with these values of the axes.
    pub(crate) fn draws(&self, values: &[usize]) -> &[DrawnField] {
        let mut bases = self
            .sweep
            .axes
            .iter()
            .zip(values)
            .filter_map(|(axis, value)| axis.values[*value].base.as_ref());
        bases.next().map_or(&[], |base| &base.draws)
    }

    /// Returns the name of each axis: the path of its field.
    pub fn axes(&self) -> impl Iterator<Item = &str> {
        self.sweep.axes.iter().map(|axis| axis.name.as_str())
    }
}

/// Returns an error for each argument (`--set`) that has no effect because the study sets the same
/// field.
fn arguments_without_effect(draft: &Draft, sweep: &Sweep) -> Vec<YamlProblem> {
    let swept = sweep.axes.iter().flat_map(|axis| &axis.values[0].puts);
    let mut own: Vec<(Path, &str, &str)> = swept
        .map(|put| (put.path.clone(), "is an axis of this study", "its values stand in `sweep`"))
        .collect();
    // If the study counts its seeds, the scenario's own seed is the first. If it lists its seeds,
    // the scenario's own seed has no effect.
    if let Seeds::List(_) = sweep.seeds {
        let hint = "they stand in `sweep.seeds`";
        own.push((Path::of("seed"), "is not used, for the study lists its seeds", hint));
    }
    own.into_iter()
        .filter_map(|(path, why, hint)| {
            let set = draft.argued(&path)?;
            let message = format!("`{path}` {why}, so this has no effect");
            Some(YamlProblem::value(set.clone(), message).hint(hint))
        })
        .collect()
}

/// A reason why a study has no base.
enum BaseError {
    /// The study's `base:` names no scenario.
    Here(YamlProblem),
    /// The base itself is invalid.
    Scenario(ScenarioError),
}

/// Returns the scenario that the study gives at a path: a file beside the study, a scenario that
/// Mumakil brings, or a scenario that is written there, as a mapping or a list of mappings.
fn base(study: &Draft, at: &Path) -> Result<Draft, BaseError> {
    if let Some(problem) = inside_of_name(study) {
        return Err(BaseError::Here(problem));
    }
    let (at, said) = (at.clone(), at.get(study.tree()).cloned().unwrap_or_default());
    let layers = said.as_sequence().map_or(&[][..], Vec::as_slice);
    if said.is_mapping() || !layers.is_empty() && layers.iter().all(Value::is_mapping) {
        return Ok(study.within(&at).expect("the value is there"));
    }
    let Some(name) = said.as_str() else {
        let message = "expected a file, the name of a scenario, or a scenario";
        return Err(BaseError::Here(YamlProblem::value(at, message)));
    };
    // A file of the user takes precedence over a bundled scenario of the same name.
    let beside = study.folder().join(name);
    let base = if beside.is_file() {
        Draft::read(&beside)
    } else if let Some(starter) = Starter::find(name) {
        Draft::of(starter.name, starter.text)
    } else {
        let message =
            format!("there is no file `{name}` beside the study, nor does Mumakil bring one");
        let starters: Vec<&str> = mumakil_scenario::STARTERS.iter().map(|s| s.name).collect();
        return Err(BaseError::Here(YamlProblem::value(at, message).nearest(name, starters)));
    };
    match base {
        Ok(base) if base.is_study() => {
            let message = format!("`{name}` is a study itself");
            Err(BaseError::Here(YamlProblem::value(at, message)))
        }
        Ok(base) => Ok(base),
        Err(error) => Err(BaseError::Scenario(error)),
    }
}

/// Returns an error if an argument sets a field inside `base`, but the study's file gives `base` as
/// a name: the argument would replace the name by a mapping.
fn inside_of_name(study: &Draft) -> Option<YamlProblem> {
    // An argument may set `base` itself to another name.
    let set = study.argued(&Path::of("base")).filter(|path| 1 < path.0.len())?;
    let written = study.written("base")?;
    let name = written.as_str()?;
    let value = set.get(study.tree()).map(axes::text).unwrap_or_default();
    let message =
        format!("`base` names the scenario `{name}`: a setting goes over it, not inside of `base`");
    let over = Path(set.0[1..].to_vec());
    Some(YamlProblem::value(set.clone(), message).hint(format!("write `--set {over}={value}`")))
}

/// Reads an entry of `exclude:`.
fn excluded(
    space: &Space,
    cells: &IndexMap<String, Value>,
    at: &Path,
    problems: &mut Vec<YamlProblem>,
) -> Vec<Option<Vec<usize>>> {
    let mut excluded = vec![None; space.axes.len()];
    for (name, labels) in cells {
        let at = at.key(name);
        let axis = match axes::find(space, name, at.clone()) {
            Ok(axis) => axis,
            Err(problem) => {
                problems.push(problem);
                continue;
            }
        };
        let labels = match labels {
            Value::Sequence(labels) => &labels[..],
            label => std::slice::from_ref(label),
        };
        let mut places = Vec::new();
        for label in labels {
            match axes::find_value(&space.axes[axis], label, at.clone()) {
                Ok(place) => places.push(place),
                Err(problem) => problems.push(problem),
            }
        }
        excluded[axis] = Some(places);
    }
    excluded
}

/// Reads the axes and the seeds of a study.
fn sweep(written: &Value, must_sweep: bool, problems: &mut Vec<YamlProblem>) -> Sweep {
    if !written.is_null() {
        return Sweep::read(written, problems);
    }
    if must_sweep {
        let problem = YamlProblem::value(Path::default(), "the study has no `sweep`");
        problems.push(problem.hint("add `sweep: {cluster.nodes: [10, 20]}`"));
    }
    Sweep::default()
}

/// Returns the scenarios to which the axes' values are applied: those of the axis of scenarios, that of
/// `base`, or the study's own text, `rest`, which is laid over each of the others.
fn bases(
    draft: &Draft,
    sweep: &Sweep,
    has_base: bool,
    rest: Draft,
    problems: &mut Vec<YamlProblem>,
) -> Result<Vec<Draft>, ScenarioError> {
    let named: Vec<Path> = match sweep.bases() {
        Some(_) if has_base => {
            let message = "`sweep.scenario` has the scenarios of this study, so this has no effect";
            problems.push(YamlProblem::key(Path::of("base"), message));
            Vec::new()
        }
        Some(axis) => {
            axis.values.iter().filter_map(|it| Some(it.base.as_ref()?.at.clone())).collect()
        }
        None if has_base => vec![Path::of("base")],
        None => Vec::new(),
    };
    let mut bases = Vec::new();
    for at in named {
        match base(draft, &at) {
            Ok(base) => {
                // These keys of the base are about a single run of the base, not about a study.
                let mut base = base.without(&["as", axes::DRAW, "expect", "experiment"]);
                base.lay_over(&rest);
                bases.push(base);
            }
            Err(BaseError::Scenario(error)) => return Err(error),
            Err(BaseError::Here(problem)) => problems.push(problem),
        }
    }
    if bases.is_empty() {
        bases.push(rest);
    }
    Ok(bases)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn study(yaml: &str) -> Result<Study, String> {
        let draft = Draft::of("test.yaml", yaml).unwrap();
        Study::of(draft).map_err(|error| error.to_string())
    }

    /// If a scenario has one of these keys, its error message mentions studies.
    #[test]
    fn the_keys_that_scenarios_lack_are_read_here() {
        let fields = serde_json::to_value(schemars::schema_for!(Keys)).unwrap();
        for key in keys() {
            assert!(fields["properties"].get(key).is_some(), "{key}");
        }
        let scenario = mumakil_scenario::schema(&crate::testing::registry());
        for key in STUDY_KEYS {
            assert!(scenario["properties"].get(key).is_none(), "a scenario has `{key}`");
        }
    }

    #[test]
    fn a_study_is_a_scenario_with_axes() {
        let study = study(
            "name: scale\nbase: quickstart\nsweep: {cluster.nodes: [1, 2], scheduler: [fifo]}\n\
             compare: scheduler\nexclude: [{nodes: 2, scheduler: fifo}]",
        )
        .unwrap();
        assert_eq!(study.name.as_str(), "scale");
        assert_eq!(study.axes().collect::<Vec<_>>(), ["cluster.nodes", "scheduler"]);
        assert_eq!(study.compare, Some(1));
        assert_eq!(study.excluded, [[Some(vec![1]), Some(vec![0])]]);
    }

    #[test]
    fn mistakes_are_found_together() {
        let error = study(
            "sweep: {cluster.nodes: [1, 2], x: [3]}\ncompare: nods\nexclude: [{nodes: 7}]\n\
             metric: [a]\nbase: quikstart",
        )
        .unwrap_err();
        for words in [
            "`nods` is no axis; there are cluster.nodes, x",
            "`cluster.nodes` has no value `7`",
            "no file `quikstart` beside the study",
            "did you mean `quickstart`?",
        ] {
            assert!(error.contains(words), "{words}: {error}");
        }
    }

    /// Returns the study with some settings applied, or the errors.
    fn put_over(yaml: &str, sets: &[&str]) -> Result<Study, String> {
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        let draft = Draft::of("study.yaml", yaml).unwrap().with(&sets);
        Study::of(draft).map_err(|error| error.to_string())
    }

    #[test]
    fn a_value_put_at_an_axis_has_no_effect() {
        let error = put_over(
            "sweep: {cluster.nodes: [1, 2], scheduler: [fair]}",
            &["cluster.nodes=5", "scheduler.fair.preemption=true", "cluster.racks=2"],
        );
        let error = error.unwrap_err();
        assert!(error.contains("--set cluster.nodes=5"), "{error}");
        assert!(error.contains("`scheduler` is an axis of this study"), "{error}");
        assert!(!error.contains("racks"), "{error}");

        let zip = "sweep: {zip: {cluster.nodes: [1, 2], cluster.racks: [1, 2]}}";
        let error = put_over(zip, &["cluster.racks=2"]).unwrap_err();
        assert!(error.contains("`cluster.racks` is an axis of this study"), "{error}");
    }

    #[test]
    fn a_seed_that_is_put_is_the_first_of_a_count_and_none_of_a_list() {
        assert!(put_over("sweep: {seeds: 2}", &["seed=7"]).is_ok());
        let error = put_over("sweep: {seeds: [1, 2]}", &["seed=7"]).unwrap_err();
        assert!(error.contains("--set seed=7"), "{error}");
        assert!(error.contains("the study lists its seeds"), "{error}");
    }

    #[test]
    fn an_axis_goes_over_no_field_that_changes_nothing() {
        let axis = |field: &str| study(&format!("workload: fb2009\nsweep: {{{field}: [a, b]}}"));
        let error = axis("seed").unwrap_err();
        assert!(error.contains("seeds have a key of their own"), "{error}");
        assert!(axis("name").unwrap_err().contains("changes nothing in a run"));
    }

    #[test]
    fn names_of_axes_are_right_where_the_axes_are() {
        let error = study("sweep: {cluster.nodes: 3}\ncompare: nodes").unwrap_err();
        assert!(error.contains("expected a list of values, or a range"), "{error}");
        assert!(!error.contains("is no axis"), "{error}");
    }

    #[test]
    fn a_base_may_be_written_out_layer_by_layer() {
        let study = |more: &str| study(&format!("sweep: {{seeds: 2}}\n{more}"));
        let resolved = |base: &str| {
            let study = study(&format!("base: {base}")).unwrap();
            study.bases[0].resolve(&crate::testing::registry()).map_err(|error| error.to_string())
        };
        let base = "{cluster: {preset: vm-8, hdfs: {replication: 2}}, workload: fb2009}";
        for base in [base, &format!("[{base}, {{seed: 5}}]")] {
            assert_eq!(resolved(base).unwrap().scenario.cluster.hdfs.replication.get(), 2);
        }
        // `null` removes the preset's block size, and no later layer sets a block size.
        let gone = "{cluster: {preset: vm-8, hdfs: null}, workload: fb2009}";
        let error = resolved(&format!("[{gone}, {{cluster: {{hdfs: {{replication: 2}}}}}}]"));
        let error = error.unwrap_err();
        assert!(error.contains("missing field `block`"), "{error}");
        assert!(error.contains("test.yaml:2:82   cluster.hdfs"), "{error}");
        let error = resolved("{workload: fb2009, cluster: {nodes: x}}").unwrap_err();
        assert!(error.contains("test.yaml:2:43   cluster.nodes"), "{error}");
        for wrong in ["3", "[]", "[{workload: fb2009}, 3]"] {
            let error = study(&format!("base: {wrong}")).unwrap_err();
            let expected = "expected a file, the name of a scenario, or a scenario";
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn a_value_inside_of_a_base_that_is_a_file_is_refused() {
        let yaml = "base: quickstart\nsweep: {seeds: 2}";
        let error = put_over(yaml, &["base.seed=9", "base.cluster.nodes=5"]).unwrap_err();
        assert!(error.contains("`base` names the scenario `quickstart`"), "{error}");
        assert!(error.contains("--> --set base.seed=9"), "{error}");
        assert!(error.contains("write `--set seed=9`"), "{error}");
        assert!(!error.contains("has no `workload`"), "{error}");
        let written = "base: {workload: fb2009}\nsweep: {seeds: 2}";
        assert!(put_over(written, &["base.seed=9"]).is_ok());
        assert!(put_over(yaml, &["base={workload: fb2009}"]).is_ok());
    }

    #[test]
    fn a_study_without_axes_is_none() {
        let error = study("workload: fb2009").unwrap_err();
        assert!(error.contains("the study has no `sweep`"), "{error}");
        assert!(error.contains("add `sweep: {cluster.nodes: [10, 20]}`"), "{error}");
    }
}
