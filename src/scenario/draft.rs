//! A scenario before its values are read as types: a document, and the problems found in it so far.

mod set_argument;

use std::io::{self, Read as _};
use std::path::PathBuf;

use serde_yaml::{Mapping, Value};

use super::check::{self, Checked, Warning};
use super::classes;
use super::error::{LARGEST_FILE, ScenarioError};
use super::later::{ALLOCATIONS, LaterChange, PolicyStep};
use super::preset::{CLUSTERS, HADOOP, Presets, WORKLOADS};
use super::registry::{CheckedChoice, Registry};
use super::shape::shape;
use super::spec::{Name, Scenario};
use crate::fault::Fault;
use mumakil_base::files;
use mumakil_core::mapred::{PolicyGroups, PolicyOptions, PolicyProgram, SchedulerChoice};
use mumakil_yaml::{
    ConditionalSetting, DisplacedSettings, Document, Finding, MOST, Origin, Path, PathStep,
    PointAt, YamlProblem, is_nothing, lay, read,
};

/// A complete scenario that can be run.
#[derive(Clone, Debug)]
pub struct LoadedScenario {
    /// The scenario, with every value filled in.
    pub scenario: Scenario,
    /// Settings that are allowed but probably mistakes.
    pub warnings: Vec<Warning>,
    /// The user's settings that have a condition (`x-only-if` in the schema), if the condition
    /// holds: only then do they have an effect.
    pub heeded: Vec<String>,
    /// The paths of the options of the scenario's [programs](Scenario::programs).
    pub programs: Vec<Path>,
}

/// Reads a scenario from a file; `sets` are arguments `path=value` that override it.
///
/// # Errors
/// If the file cannot be read or has mistakes; the error lists all of them.
pub fn load(
    path: &std::path::Path,
    sets: &[String],
    registry: &Registry,
) -> Result<LoadedScenario, ScenarioError> {
    Draft::read(path)?.with(sets).resolve(registry)
}

/// Reads a scenario from a text. `name` stands for the file in messages, and names the scenario if
/// the text does not.
///
/// # Errors
/// If the text has mistakes; the error lists all of them.
pub fn parse(
    name: &str,
    text: &str,
    sets: &[String],
    registry: &Registry,
) -> Result<LoadedScenario, ScenarioError> {
    Draft::of(name, text)?.with(sets).resolve(registry)
}

/// A scenario that is parsed as YAML but not read as types yet.
#[derive(Clone, Debug)]
pub struct Draft {
    document: Document,
    problems: Vec<YamlProblem>,
    findings: Vec<Finding>,
    displaced: Vec<DisplacedSettings>,
    /// Whether it is a mistake that the scenario has no workload.
    needs_jobs: bool,
}

impl Draft {
    /// Reads a file.
    ///
    /// # Errors
    /// If the file cannot be read or is not YAML.
    pub fn read(path: &std::path::Path) -> Result<Self, ScenarioError> {
        Self::of(&path.display().to_string(), &read_text(path)?)
    }

    /// Reads a text. `file` stands for its file in messages, and names the scenario if the text
    /// does not.
    ///
    /// # Errors
    /// If the text is not YAML.
    pub fn of(file: &str, text: &str) -> Result<Self, ScenarioError> {
        let (document, problems) = Document::read(file, text)
            .map_err(|finding| ScenarioError::Invalid { findings: vec![*finding] })?;
        let (findings, displaced) = (Vec::new(), Vec::new());
        Ok(Self { document, problems, findings, displaced, needs_jobs: true })
    }

    /// Sets the value at a path. Returns the settings that the new value removes.
    ///
    /// # Errors
    /// If no value can be at the path; the error is the reason, in words.
    pub fn put(
        &mut self,
        target: &Path,
        value: Value,
        origin: Origin,
    ) -> Result<Vec<DisplacedSettings>, String> {
        self.document.put(target, value, origin, shape())
    }

    /// Allows the scenario to have no workload, for a use that runs no jobs.
    pub fn or_no_jobs(mut self) -> Self {
        self.needs_jobs = self.says(WORKLOADS.key);
        self
    }

    /// Returns the value at a path as a draft. The value is a scenario, or a list of the layers of a
    /// scenario, the lowest first. `None` if there is no such value.
    pub fn within(&self, at: &Path) -> Option<Self> {
        let (document, displaced) = self.document.within(at, shape())?;
        let (problems, findings) = (Vec::new(), Vec::new());
        Some(Self { document, problems, findings, displaced, needs_jobs: true })
    }

    /// Returns the draft without `keys`.
    pub fn without(&self, keys: &[&str]) -> Self {
        let (document, displaced) = self.document.without(keys, shape());
        Self { document, displaced, ..self.clone() }
    }

    /// Returns the tree, with all layers merged.
    pub fn tree(&self) -> &Value {
        self.document.tree()
    }

    /// Returns the layers, from the bottom.
    pub fn layers(&self) -> Vec<Value> {
        self.document.layers(shape())
    }

    /// Returns the keys of the tree with their values, in the order of the text.
    pub fn keys(&self) -> impl Iterator<Item = (&str, &Value)> {
        let entries = self.document.tree().as_mapping().into_iter().flatten();
        entries.filter_map(|(key, value)| Some((key.as_str()?, value)))
    }

    /// Returns the scenario's name: its own, or the name of its file.
    pub fn name(&self) -> Name {
        let own = self.document.tree().get("name").and_then(|name| Name::new(name.as_str()?));
        own.unwrap_or_else(|| Name::from_text(&self.stem()))
    }

    /// Returns the name of the file without folder and extension.
    fn stem(&self) -> String {
        self.document.file().file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Returns the scenario's description; empty if it has none.
    pub fn description(&self) -> String {
        let description = self.document.tree().get("description").and_then(Value::as_str);
        description.unwrap_or_default().to_owned()
    }

    /// Returns the id of the experiment that the scenario repeats, if it names one.
    pub fn experiment_id(&self) -> Option<String> {
        Some(Path::of("experiment.id").get(self.document.tree())?.as_str()?.to_owned())
    }

    /// Returns whether the tree has a value at a path.
    pub fn says(&self, path: &str) -> bool {
        Path::of(path).get(self.document.tree()).is_some()
    }

    /// Returns whether a user chose the value at a path. A file with all keys of a section, such as
    /// a resolved scenario, chooses none of their values: then only values laid over the file count
    /// as chosen.
    fn wrote(&self, path: &Path, presets: &Value) -> bool {
        let tree = self.document.tree();
        if path.get(tree).is_none_or(Value::is_null) {
            return false;
        }
        let mut sections = [HADOOP, CLUSTERS].into_iter().map(|of| Path::of(of.key));
        let in_whole = sections.any(|it| it.contains(path) && is_whole(&it, tree, presets));
        !in_whole || self.document.is_laid_over(path)
    }

    /// Returns the path of a command-line argument that set the value at `path` or inside it;
    /// `None` if no argument did.
    pub fn argued(&self, path: &Path) -> Option<&Path> {
        self.document.argued(path)
    }

    /// Returns the value of a key in the text, without the layers over it.
    pub fn written(&self, key: &str) -> Option<&Value> {
        self.document.written(key)
    }

    /// Returns whether this is a study: a scenario with a `sweep`.
    pub fn is_study(&self) -> bool {
        self.keys().any(|(key, _)| key == "sweep")
    }

    /// Lays another draft over this one.
    pub fn lay_over(&mut self, over: &Self) {
        self.displaced.extend(self.document.lay(&over.document, shape()));
        // Turn the upper text's problems into findings now: their lines refer to that text, which
        // is not kept.
        self.findings.extend(over.problems.iter().cloned().map(|problem| over.finding(problem)));
        self.findings.extend(over.findings.iter().cloned());
    }

    /// Returns where the value at a path was written.
    pub fn origin(&self, path: &Path) -> Origin {
        self.document.origin(path)
    }

    /// Returns the scenario, with every value filled in.
    ///
    /// # Errors
    /// With all mistakes in it.
    pub fn resolve(&self, registry: &Registry) -> Result<LoadedScenario, ScenarioError> {
        let (mut problems, mut findings) = (self.problems.clone(), self.findings.clone());
        let (merged, plain) = self.complete(registry, &mut problems);
        // A value of 0 asks for nothing, so it needs no warning that it has no effect.
        let is_said = |path: &Path, value: &Value| self.wrote(path, &plain) && !is_nothing(value);
        let mut conditional =
            ConditionalSetting::find(shape(), &merged, Path::default(), None, is_said);
        // Conditions of jobs may be about everything but other jobs, of which there may be millions.
        let keys = merged.as_mapping().into_iter().flatten();
        let kept = keys.filter(|(key, _)| key.as_str() != Some("workload"));
        let outside = kept.map(|(key, value)| (key.clone(), value.clone())).collect();
        // serde stops at the first mistake. The reader replaces the wrong value and reads
        // everything again, once for each mistake. Above 1 MiB that is slow, so stop after three
        // mistakes.
        let most = if self.document.size() > 1 << 20 { 3 } else { MOST };
        let (scenario, mistakes) = read::<Scenario>(merged, &plain, shape(), most);
        problems.extend(mistakes);
        let mut warnings: Vec<Warning> =
            self.displaced.iter().cloned().map(Warning::Displaced).collect();
        let (mut heeded, mut programs) = (Vec::new(), Vec::new());
        let scenario = scenario.map(|mut scenario| {
            let found = &mut conditional;
            let workload = &mut scenario.workload;
            problems
                .extend(registry.read_sources(workload, &plain, most, &outside, is_said, found));
            // A replaced value was not written by the user, so no check may complain about it.
            let absent = (!self.needs_jobs).then(|| Path::of(WORKLOADS.key));
            let damaged: Vec<Path> =
                problems.iter().map(|problem| problem.path.clone()).chain(absent).collect();
            let intact = |key: &str| !damaged.iter().any(|path| Path::of(key).contains(path));
            scenario.folder = self.folder();
            // The jobs of a trace name no class: class them by size, since a single class for all
            // jobs would say little.
            if scenario.classes.is_empty() && scenario.workload.is_traced() {
                scenario.classes = classes::by_size();
            }
            programs =
                complete_policies(&mut scenario, registry, &intact, &mut problems, &mut warnings);
            for (path, program) in &mut programs {
                program.is_argument = self.document.origin(&path.key("command")).is_argument();
                let warning = Warning::Program(program.clone());
                let is_new = !program.is_argument && !warnings.contains(&warning);
                if is_new && !registry.permit().is_trusting() {
                    warnings.push(warning);
                }
                scenario.programs.push(program.clone());
            }
            if intact("later") && intact("scheduler") {
                problems.extend(complete_allocations(&mut scenario, registry, &mut warnings));
            }
            let checked = self.check(&scenario, registry, intact, is_said);
            problems.extend(checked.problems);
            warnings.extend(checked.warnings);
            heeded = heeded_settings(&scenario, &conditional, &mut warnings);
            scenario
        });
        // Later mistakes often follow from the first ones, and would only hide them.
        problems.truncate(most);
        problems.iter_mut().for_each(|problem| self.point_elsewhere(problem));
        findings.extend(problems.into_iter().map(|problem| self.finding(problem)));
        match scenario {
            Some(scenario) if findings.is_empty() => {
                let programs = programs.into_iter().map(|(path, _)| path).collect();
                Ok(LoadedScenario { scenario, warnings, heeded, programs })
            }
            _ => Err(ScenarioError::invalid(findings)),
        }
    }

    /// Checks what no single value shows. `is_said` tells whether the user wrote a value.
    fn check(
        &self,
        scenario: &Scenario,
        registry: &Registry,
        intact: impl Fn(&str) -> bool,
        is_said: impl Fn(&Path, &Value) -> bool,
    ) -> Checked {
        let mut said = Vec::new();
        for at in ["hadoop", "cluster"].map(Path::of) {
            let keys = at.get(self.tree()).and_then(Value::as_mapping).into_iter().flatten();
            said.extend(keys.filter_map(|(key, value)| {
                let path = at.key(key.as_str()?);
                is_said(&path, value).then(|| path.to_string())
            }));
        }
        let mut checked = registry.check_line(scenario, &intact, &said);
        let rest = check::check(scenario, intact);
        checked.problems.extend(rest.problems);
        checked.warnings.extend(rest.warnings);
        checked
    }

    /// Returns the scenario as [`Self::resolve`] does, and also checks that its files with jobs and
    /// nodes exist.
    ///
    /// # Errors
    /// If the scenario has mistakes or files are missing; the error lists all of them.
    pub fn resolve_with_files(&self, registry: &Registry) -> Result<LoadedScenario, ScenarioError> {
        let mut loaded = self.resolve(registry)?;
        let folder = loaded.scenario.folder.clone();
        let unread = loaded.scenario.keyed_files_mut().filter_map(|(key, file)| {
            let path = file.find(&folder);
            let why = std::fs::metadata(&path).err()?;
            let message = format!("cannot read {}: {why}", path.display());
            let hint = "a relative path begins in the scenario's folder, or where you are";
            Some(self.finding(YamlProblem::value(Path::of(&key), message).hint(hint)))
        });
        let missing: Vec<Finding> = unread.collect();
        if missing.is_empty() { Ok(loaded) } else { Err(ScenarioError::invalid(missing)) }
    }

    /// Adds a hint to a problem whose key or value would be right elsewhere: in another place of
    /// the scenario, or in a study.
    fn point_elsewhere(&self, problem: &mut YamlProblem) {
        let Some((around, PathStep::Key(key))) = problem.path.split_last() else { return };
        // An axis of a sweep sets a field of the scenario, not a field of a single job.
        let is_axis = || {
            shape().at(&problem.path).is_single()
                && !around.0.iter().any(|step| matches!(step, PathStep::Index(_)))
        };
        let hint = match (problem.part, problem.path.to_string().as_str()) {
            _ if problem.hint.is_some() => return,
            (PointAt::Key, key) if STUDY_KEYS.contains(&key) => {
                Some(format!("`{key}` belongs to a study, which has a `sweep`, too"))
            }
            (PointAt::Key, _) if !shape().at(&around).names().contains(&key.as_str()) => {
                shape().advice(key, &around)
            }
            (PointAt::Value, "name" | "description") => None,
            (PointAt::Value, path)
                if problem.path.get(self.tree()).is_some_and(Value::is_sequence) && is_axis() =>
            {
                let axis = if path == "seed" { "seeds" } else { path };
                Some(format!("to try several values, write a study: `sweep: {{{axis}: […]}}`"))
            }
            _ => None,
        };
        problem.hint = hint;
    }

    /// Returns the folder of the file, from which relative paths start.
    pub fn folder(&self) -> PathBuf {
        self.document.file().parent().unwrap_or("".as_ref()).to_owned()
    }

    /// Returns a problem with its position in the text.
    pub fn finding(&self, problem: YamlProblem) -> Finding {
        self.document.finding(problem)
    }

    /// Returns the user's values laid over the presets, and the presets alone.
    fn complete(&self, registry: &Registry, problems: &mut Vec<YamlProblem>) -> (Value, Value) {
        // A text that is no mapping has no keys to complete; the reader reports that later.
        let Some(written) = self.document.tree().as_mapping() else {
            return (self.document.tree().clone(), Mapping::new().into());
        };
        let mut presets = Mapping::new();
        presets.insert("name".into(), Name::from_text(&self.stem()).as_str().into());
        // The version of Hadoop comes first, since it decides the default cluster.
        let all = Presets::all(registry);
        for of in &all {
            let preset = of.named(written.get(of.key), of.unnamed(&presets), problems);
            presets.insert(of.key.into(), preset);
        }
        let policy = registry.default_policy(&presets[HADOOP.key]);
        presets.extend(policy.map(|name| ("scheduler".into(), name.into())));
        let mut merged = Value::from(presets.clone());
        for mut layer in self.document.layers(shape()) {
            let (Value::Mapping(over), Value::Mapping(under)) = (&mut layer, &mut merged) else {
                continue;
            };
            for of in &all {
                of.unname(over, under, &presets[of.key]);
            }
            // A key without a value (`cluster:`) discards what the layers below say about that key,
            // and leaves only the preset.
            over.retain(|key, value| {
                if value.is_null() {
                    under.shift_remove(key);
                    under.extend(presets.get(key).map(|preset| (key.clone(), preset.clone())));
                }
                !value.is_null()
            });
            lay(&mut merged, layer, shape());
        }
        let workload = written.get(WORKLOADS.key).filter(|workload| !workload.is_null());
        // A missing workload is reported once, below; an empty list of jobs avoids follow-up
        // complaints.
        if workload.is_none() {
            lay(&mut merged, none_yet(), shape());
        }
        if self.needs_jobs {
            problems.extend(without_source(workload));
        }
        (merged, presets.into())
    }
}

/// Fills in the pools or queues that policies read again, and returns the problems with them.
fn complete_allocations(
    scenario: &mut Scenario,
    registry: &Registry,
    warnings: &mut Vec<Warning>,
) -> Vec<YamlProblem> {
    let mut problems = Vec::new();
    let mut before = scenario.scheduler.clone();
    for PolicyStep { place, takes_over, choice, .. } in
        LaterChange::course(&scenario.later, &scenario.scheduler)
    {
        if takes_over {
            before = choice;
            continue;
        }
        // A policy with mistakes has other problems.
        let Some(was) = before.options().map(PolicyOptions::facts) else { continue };
        let at = Path::of(&format!("later[{place}].allocations"));
        let Some(was) = was.groups else {
            let message = format!("`{}` has no pools or queues to read again", choice.name);
            problems.push(YamlProblem::key(at, message));
            continue;
        };
        let options = Path::of("scheduler").key(&choice.name).key(ALLOCATIONS);
        match registry.complete(&choice, &scenario.site()) {
            Ok(CheckedChoice { choice, .. }) => {
                let said: Vec<String> = warnings.iter().map(ToString::to_string).collect();
                let new = choice.doubts().iter().filter(|doubt| !said.contains(doubt));
                warnings.extend(new.cloned().map(Warning::Doubt));
                let now = choice.options().and_then(|options| options.facts().groups);
                if let Some(message) = moved_groups(&was, &now.unwrap_or_default()) {
                    let problem = YamlProblem::value(at, message);
                    problems.push(problem.hint("change values only: weights, shares and limits"));
                }
                scenario.later[place].read_again(choice.clone());
                before = choice;
            }
            Err(mistakes) => problems.extend(mistakes.into_iter().map(|mistake| {
                let inside = mistake.path.0.strip_prefix(&options.0[..]).unwrap_or_default();
                YamlProblem { path: at.join(inside), ..mistake }
            })),
        }
    }
    problems
}

/// Returns what is wrong if pools or queues have other places in their tree than before: jobs that
/// run stay where they are.
fn moved_groups(was: &PolicyGroups, now: &PolicyGroups) -> Option<String> {
    let moved = was
        .around
        .iter()
        .find(|(name, around)| now.around.get(*name).is_some_and(|other| other != *around));
    if let Some((name, _)) = moved {
        return Some(format!("`{name}` cannot move into or out of another while jobs run"));
    }
    let alone = |one: &PolicyGroups, other: &PolicyGroups| {
        one.around.keys().find(|name| !other.around.contains_key(*name)).cloned()
    };
    match (alone(was, now), alone(now, was)) {
        _ if !was.are_fixed => None,
        (Some(name), _) => Some(format!("the queue `{name}` cannot go while jobs run")),
        (_, Some(name)) => Some(format!("the queue `{name}` cannot come while jobs run")),
        _ => None,
    }
}

/// Facts that the conditions of settings name, in the words of the schema. No key of a scenario
/// states these facts.
pub(super) const FACTS: [&str; 2] =
    ["a fault that disturbs messages", "a policy that goes by bytes"];

/// The keys of a study that no scenario has.
pub const STUDY_KEYS: [&str; 8] =
    ["base", "files", "sweep", "exclude", "compare", "metrics", "charts", "sabotage"];

/// Returns the problem if a workload has no source of jobs, or two.
fn without_source(workload: Option<&Value>) -> Option<YamlProblem> {
    let at = Path::of(WORKLOADS.key);
    let Some(workload) = workload else {
        let problem = YamlProblem::value(Path::default(), "the scenario has no `workload`")
            .hint("add `workload: {jobs: [{name: first, maps: 10, map_time: 20s}]}`");
        return Some(YamlProblem { path: at, ..problem });
    };
    // A layer with a preset and another source contradicts itself. In two layers, the upper source
    // would replace the lower one.
    let (own, brought) = shape().at(&at).contradiction(workload.as_mapping()?)?;
    let message = format!("jobs come from one source, and the preset has `{brought}` already");
    let hint = format!("keep one of them; `{brought}: null` takes away what the preset brings");
    Some(YamlProblem::key(at.key(own.as_str().unwrap_or_default()), message).hint(hint))
}

/// Returns whether a section has all keys of its preset.
fn is_whole(section: &Path, written: &Value, presets: &Value) -> bool {
    let preset = section.get(presets).and_then(Value::as_mapping);
    let written = section.get(written).and_then(Value::as_mapping);
    preset
        .zip(written)
        .is_some_and(|(preset, written)| preset.keys().all(|key| written.contains_key(key)))
}

fn read_text(path: &std::path::Path) -> Result<String, ScenarioError> {
    let failed = |source| ScenarioError::Read { path: path.to_owned(), source };
    let too_large = || ScenarioError::TooLarge { path: path.to_owned() };
    let file = files::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    // Opening a folder succeeds on Unix; only reading it would fail, with a less clear message.
    if metadata.is_dir() {
        return Err(failed(io::ErrorKind::IsADirectory.into()));
    }
    if metadata.len() > LARGEST_FILE {
        return Err(too_large());
    }
    // Pipes and devices (`/dev/stdin`) have no known length: read one byte more than allowed.
    let mut bytes = Vec::new();
    file.take(LARGEST_FILE + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > LARGEST_FILE {
        return Err(too_large());
    }
    String::from_utf8(bytes).map_err(|error| ScenarioError::NotText {
        path: path.to_owned(),
        offset: error.utf8_error().valid_up_to(),
    })
}

/// Returns a workload without jobs: if the user gives no workload, reading goes on with this
/// workload.
fn none_yet() -> Value {
    let only = |key: &str, value: Value| Mapping::from_iter([(key.into(), value)]).into();
    only(WORKLOADS.key, only("jobs", Value::Sequence(Vec::new())))
}

/// Completes the options of all policies. Returns the programs that they name, each with the path of its
/// options.
fn complete_policies(
    scenario: &mut Scenario,
    registry: &Registry,
    intact: &dyn Fn(&str) -> bool,
    problems: &mut Vec<YamlProblem>,
    warnings: &mut Vec<Warning>,
) -> Vec<(Path, PolicyProgram)> {
    let mut programs = Vec::new();
    let mut complete = |choice: &SchedulerChoice, at: Path| {
        let checked = registry.complete(choice, &scenario.site()).map_err(|mistakes| {
            problems.extend(mistakes.into_iter().map(|mistake| mistake.inside(&at)));
        });
        let CheckedChoice { choice, programs: found, .. } = checked.ok()?;
        warnings.extend(choice.doubts().iter().cloned().map(Warning::Doubt));
        programs.extend(found.into_iter().map(|(path, program)| (at.join(&path.0), program)));
        Some(choice)
    };
    let first = intact("scheduler").then(|| complete(&scenario.scheduler, Path::default()));
    let present = scenario.later.iter().enumerate().filter(|_| intact("later"));
    let later = present.map(|(number, later)| {
        complete(later.scheduler.as_ref()?, Path::of(&format!("later[{number}]")))
    });
    // Collect everything first: `complete` reads the scenario that the next lines change.
    let later: Vec<Option<SchedulerChoice>> = later.collect();
    if let Some(choice) = first.flatten() {
        scenario.scheduler = choice;
    }
    for (entry, choice) in scenario.later.iter_mut().zip(later) {
        // A choice with mistakes stays as it was written, so that later checks still find a policy.
        entry.scheduler = choice.or(entry.scheduler.take());
    }
    programs
}

/// Returns the settings that have an effect only if other things are so, and here have one; warns of
/// those without effect.
fn heeded_settings(
    scenario: &Scenario,
    conditional: &[ConditionalSetting],
    warnings: &mut Vec<Warning>,
) -> Vec<String> {
    // The facts, in the order of `FACTS`.
    let facts = [
        scenario.faults.iter().any(Fault::disturbs_messages),
        // A policy with mistakes may be one that does.
        scenario
            .policies()
            .any(|choice| choice.options().is_none_or(|options| options.facts().heeds_bytes)),
    ];
    let mut heeded = Vec::new();
    for setting in conditional {
        let path = setting.path.to_string();
        if setting.matters(|words| FACTS.iter().zip(facts).any(|it| it == (&words, true))) {
            heeded.push(path);
        } else {
            let message = setting.warning("");
            warnings.push(Warning::Idle { setting: path, message });
        }
    }
    heeded
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use mumakil_yaml::FindingSpot;

    use super::super::registry::tests::registry;
    use super::*;

    fn laid(under: &str, over: &str) -> Draft {
        let mut draft = Draft::of("under.yaml", under).unwrap();
        draft.lay_over(&Draft::of("over.yaml", over).unwrap());
        draft
    }

    #[test]
    fn a_draft_is_laid_over_another_as_over_a_preset() {
        for (under, over, result) in [
            ("{seed: 1}", "{name: a}", r#"{"seed":1,"name":"a"}"#),
            (
                "{cluster: ec2-100}",
                "{cluster: {nodes: 5}}",
                r#"{"cluster":{"preset":"ec2-100","nodes":5}}"#,
            ),
            (
                "{cluster: {preset: ec2-100, nodes: 5}}",
                "{cluster: {preset: srt-4}}",
                r#"{"cluster":{"preset":"srt-4"}}"#,
            ),
            (
                "{cluster: {hdfs: {block: 256MiB}}}",
                "{cluster: {hdfs: {replication: 2}}}",
                r#"{"cluster":{"hdfs":{"block":"256MiB","replication":2}}}"#,
            ),
            ("{scheduler: fair}", "{scheduler: fair}", r#"{"scheduler":"fair"}"#),
            // A policy that Mumakil does not bring.
            ("{scheduler: {own: {x: 1}}}", "{scheduler: own}", r#"{"scheduler":{"own":{"x":1}}}"#),
            (
                "{scheduler: {fair: {delay: {w1: 1s}}}}",
                "{scheduler: fair}",
                r#"{"scheduler":{"fair":{"delay":{"w1":"1s"}}}}"#,
            ),
            ("{scheduler: a}", "{scheduler: {b: {x: 1}}}", r#"{"scheduler":{"b":{"x":1}}}"#),
            (
                "{scheduler: {a: {x: 1, y: 2}}}",
                "{scheduler: {a: {x: 3}}}",
                r#"{"scheduler":{"a":{"x":3,"y":2}}}"#,
            ),
            ("{workload: {jobs: []}}", "{workload: fb2009}", r#"{"workload":"fb2009"}"#),
            // Settings that all sources share stay; the source itself is removed.
            (
                "{workload: {jobs: [1], start: 5s}}",
                "{workload: {swim: {file: x}}}",
                r#"{"workload":{"start":"5s","swim":{"file":"x"}}}"#,
            ),
            (
                "{workload: {swim: {file: x, time_factor: 2}}}",
                "{workload: {swim: {file: y}}}",
                r#"{"workload":{"swim":{"file":"y","time_factor":2}}}"#,
            ),
            // A source that Mumakil does not bring.
            ("{workload: {jobs: [1]}}", "{workload: {own: {}}}", r#"{"workload":{"own":{}}}"#),
            ("{workload: {own: {}}}", "{workload: {jobs: [1]}}", r#"{"workload":{"jobs":[1]}}"#),
            // A preset counts as the source that it brings.
            (
                "{workload: fb2009}",
                "{workload: {mix: {jobs: 5}}}",
                r#"{"workload":{"preset":"fb2009","mix":{"jobs":5}}}"#,
            ),
            (
                "{workload: {preset: fb2009, start: 5s, mix: {jobs: 5}}}",
                "{workload: {jobs: [1]}}",
                r#"{"workload":{"start":"5s","jobs":[1]}}"#,
            ),
            (
                "{workload: fb2009}",
                "{workload: {mix: null, jobs: [1]}}",
                r#"{"workload":{"jobs":[1]}}"#,
            ),
            (
                "{workload: {swim: {file: x}}}",
                "{workload: {jobs: null}}",
                r#"{"workload":{"swim":{"file":"x"}}}"#,
            ),
        ] {
            let draft = laid(under, over);
            assert_eq!(
                serde_json::to_string(&draft.document.tree()).unwrap(),
                result,
                "{under} {over}"
            );
        }
    }

    /// Returns the settings that the warnings report as removed.
    fn gone(draft: &Draft) -> Vec<String> {
        let warnings = draft.displaced.iter().cloned().map(Warning::Displaced);
        warnings.map(|warning| warning.to_string()).collect()
    }

    #[test]
    fn settings_lost_with_a_choice_or_preset_are_named_with_both_files() {
        let fair = "scheduler: {fair: {preemption: true, delay: {w1: 5s}}}";
        assert_eq!(
            gone(&laid(fair, "scheduler: fifo")),
            [
                "with `fifo` for `scheduler` (over.yaml) these settings of under.yaml have no effect: \
              `scheduler.fair.preemption`, `scheduler.fair.delay`; what is still wanted has \
              to be written again"
            ]
        );
        let mut set = Draft::of("one.yaml", "cluster: {preset: ec2-100, nodes: 5}").unwrap();
        set.set("--set cluster=srt-4", "cluster=srt-4");
        assert_eq!(
            gone(&set),
            ["with `srt-4` for `cluster` (--set cluster=srt-4) these settings of one.yaml have \
              no effect: `cluster.nodes`; what is still wanted has to be written again"]
        );
        let own = gone(&laid("scheduler: {own: {x: 1}}", "scheduler: another"));
        assert!(
            own[0].contains("settings of under.yaml have no effect: `scheduler.own.x`"),
            "{own:?}"
        );
        for (under, over, settings) in [
            ("{jobs: [1], start: 5s}", "{swim: {file: x}}", "`workload.jobs`"),
            ("fb2009", "{swim: {file: x}}", "`workload.preset`"),
            (
                "{preset: fb2009, mix: {jobs: 5}}",
                "{swim: {file: x}}",
                "`workload.preset`, `workload.mix`",
            ),
        ] {
            let (under, over) = (format!("workload: {under}"), format!("workload: {over}"));
            let told = gone(&laid(&under, &over)).join("\n");
            let expected = format!(
                "with `swim` for `workload` (over.yaml) these settings of under.yaml have no effect: {settings};"
            );
            assert!(told.contains(&expected), "{told}");
        }
        for (under, over) in [
            ("workload: {jobs: [1]}", "workload: {jobs: [2]}"),
            ("workload: fb2009", "workload: {mix: {jobs: 5}}"),
            ("workload: fb2009", "workload: {mix: null, jobs: [1]}"),
            ("cluster: {nodes: 5}", "cluster: {nodes: 6, hdfs: {block: 1MiB}}"),
            ("scheduler: fair", "scheduler: fifo"),
            (fair, "scheduler: fair"),
            (fair, "scheduler: {fair: {delay: {w2: 1s}}}"),
            ("scheduler: {fair: {delay: {w1: 5s}}}", "scheduler: null"),
            // A distribution consists of its options: it is replaced as a whole.
            (
                "hadoop: {start_up: {uniform: {from: 1s, to: 2s}}}",
                "hadoop: {start_up: {exponential: {mean: 1s}}}",
            ),
            ("hadoop: {start_up: {uniform: {from: 1s, to: 2s}}}", "hadoop: {start_up: 1s}"),
            ("faults: [{loss: 1 %}]", "faults: {}"),
        ] {
            assert_eq!(gone(&laid(under, over)), [""; 0], "{under} under {over}");
        }
    }

    proptest! {
        #[test]
        fn layering_in_two_steps_is_layering_in_one(
            luck in proptest::collection::vec(any::<u8>(), 0..120),
        ) {
            let mut luck = luck.into_iter();
            let mut draft = || {
                let mut tree = shape().some_mapping(&mut luck);
                // If keys were drawn from the whole scenario, few layers would have a workload in
                // common.
                tree["workload"] = shape().at(&Path::of("workload")).some_mapping(&mut luck);
                Draft::of("layer.yaml", &serde_json::to_string(&tree).unwrap()).unwrap()
            };
            let [first, second, third] = [(); 3].map(|()| draft());
            let over = |under: &Draft, over: &Draft| {
                let mut draft = under.clone();
                draft.lay_over(over);
                draft
            };
            let in_two = over(&over(&first, &second), &third);
            let in_one = over(&first, &over(&second, &third));
            let written = serde_json::to_string(&json!({ "base": in_two.layers() })).unwrap();
            let written = Draft::of("layer.yaml", &written).unwrap().within(&Path::of("base")).unwrap();
            for other in [in_one, written] {
                prop_assert_eq!(in_two.tree(), other.tree());
                let complete = |draft: &Draft| draft.complete(&registry(), &mut Vec::new()).0;
                prop_assert!(complete(&in_two) == complete(&other));
            }
        }

    }

    #[test]
    fn a_key_that_stands_twice_is_shown_where_it_does() {
        let over = Draft::of("over.yaml", "sweep:\n  seed: 1\n  seed: 2").unwrap();
        let mut draft = Draft::of("under.yaml", "workload: fb2009").unwrap();
        draft.lay_over(&over.without(&["sweep"]));
        let error = draft.resolve(&registry()).unwrap_err().to_string();
        assert!(error.contains("the key `seed` stands twice\n  --> over.yaml:3:3"), "{error}");
    }

    #[test]
    fn a_mistake_is_shown_in_the_file_that_has_it() {
        let draft = laid("{cluster: {racks: 0}}", "\ncluster: {nodes: 0}");
        let place =
            |path: &str| match draft.finding(YamlProblem::value(Path::of(path), "wrong")).place {
                FindingSpot::Text { file, line, column, .. } => (file, line, column),
                other => panic!("{other:?}"),
            };
        assert_eq!(place("cluster.racks"), ("under.yaml".to_owned(), 1, 19));
        assert_eq!(place("cluster.nodes"), ("over.yaml".to_owned(), 2, 18));
    }
}
