//! A scenario in the making: a tree of values, what is put over it, and where each came from.
//!
//! A mistake is shown where the user wrote the value that is wrong: in the file, in an argument of
//! the command line, or in another file that put it there.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::PathBuf;
use std::sync::Arc;

use serde_yaml::{Mapping, Value};

use super::locate::{Part, locate};
use super::path::{Path, Step};
use super::preset::{CLUSTERS, HADOOP, WORKLOADS, is_other_choice, overlay};
use super::read::{MOST, Problem, read};
use super::report::{Excerpt, Finding, Place, ScenarioError, clip};
use super::{LARGEST_FILE, Loaded, Name, Registry, Scenario, Warning, check, classes, set, tree};

/// A scenario that has been read but not understood yet.
#[derive(Clone, Debug)]
pub struct Draft {
    text: Text,
    root: Value,
    problems: Vec<Problem>,
    findings: Vec<Finding>,
    /// What was put over the tree, the last one on top.
    puts: Vec<Put>,
}

/// A text and what stands for its file in messages.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    file: Arc<str>,
    text: Arc<str>,
}

/// A value that was put over a draft.
#[derive(Clone, Debug)]
struct Put {
    origin: Origin,
    /// Where it was put.
    target: Path,
    /// The outermost node that exists only because of it.
    made: Path,
}

/// Where a value was written.
#[derive(Clone, Debug)]
pub(crate) enum Origin {
    /// In an argument of the command line, such as `--set cluster.nodes=5`.
    Argument(String),
    /// At a path of some text.
    Text(Text, Path),
}

impl Draft {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read or is no YAML.
    pub fn read(path: &std::path::Path) -> Result<Self, ScenarioError> {
        Self::of(&path.display().to_string(), &read_text(path)?)
    }

    /// Reads a text; `file` stands for its file in messages, and names the scenario if it does not
    /// do so itself.
    ///
    /// # Errors
    /// If it is no YAML.
    pub fn of(file: &str, text: &str) -> Result<Self, ScenarioError> {
        let source = Text { file: file.into(), text: text.into() };
        match tree::read(text) {
            Ok(tree) => Ok(Self {
                text: source,
                root: tree.value,
                problems: tree.doubled.into_iter().map(doubled).collect(),
                findings: Vec::new(),
                puts: Vec::new(),
            }),
            Err(error) => {
                let place = error.at.map_or(Place::File(file.to_owned()), |at| source.place(at));
                let (hint, path) = (None, String::new());
                Err(ScenarioError::Invalid {
                    findings: vec![Finding { message: error.message, hint, path, place }],
                })
            }
        }
    }

    /// Puts arguments of `--set` over the tree.
    #[must_use]
    pub fn with(mut self, sets: &[String]) -> Self {
        sets.iter().for_each(|set| self.set(&format!("--set {set}"), set));
        self
    }

    /// Puts `path=value` over the tree; messages show it as `argument`.
    pub fn set(&mut self, argument: &str, setting: &str) {
        let put = set::parse(setting).and_then(|(path, value)| {
            self.put(&path, value, Origin::Argument(argument.to_owned()))
        });
        if let Err(message) = put {
            let place = Place::Argument(argument.to_owned());
            self.findings.push(Finding { message, hint: None, path: String::new(), place });
        }
    }

    /// Puts a value over the tree.
    ///
    /// # Errors
    /// With the reason, if there can be nothing at the path.
    pub(crate) fn put(
        &mut self,
        target: &Path,
        value: Value,
        origin: Origin,
    ) -> Result<(), String> {
        let (target, made) = set::put(&mut self.root, target, value)?;
        self.puts.push(Put { origin, target, made });
        Ok(())
    }

    /// Takes a key and its value out of the tree.
    pub(crate) fn take(&mut self, key: &str) -> Option<Value> {
        self.root.as_mapping_mut()?.shift_remove(key)
    }

    /// Returns the keys of the tree with their values, in the order of the text.
    pub(crate) fn keys(&self) -> impl Iterator<Item = (&str, &Value)> {
        let entries = self.root.as_mapping().into_iter().flatten();
        entries.filter_map(|(key, value)| Some((key.as_str()?, value)))
    }

    /// Returns the scenario's name: its own, or its file's.
    pub(crate) fn name(&self) -> Name {
        let stem = std::path::Path::new(&*self.text.file).file_stem().unwrap_or_default();
        let own = self.root.get("name").and_then(|name| Name::new(name.as_str()?));
        own.unwrap_or_else(|| Name::from_text(&stem.to_string_lossy()))
    }

    /// Returns what the scenario says it is for.
    pub(crate) fn description(&self) -> String {
        self.root.get("description").and_then(Value::as_str).unwrap_or_default().to_owned()
    }

    /// Returns the id of the experiment that it repeats, if it says so.
    pub fn experiment_id(&self) -> Option<String> {
        Some(Path::of("experiment.id").get(&self.root)?.as_str()?.to_owned())
    }

    /// Returns whether something was written at a path.
    pub(crate) fn says(&self, path: &str) -> bool {
        Path::of(path).get(&self.root).is_some()
    }

    /// Returns what an argument has put at a path or inside of it.
    pub(crate) fn argued(&self, path: &Path) -> Option<&Path> {
        let is_argument = |put: &&Put| matches!(put.origin, Origin::Argument(_));
        let within = self.puts.iter().filter(is_argument).map(|put| &put.target);
        { within }.find(|target| path.contains(target))
    }

    /// Returns whether this is a study: a scenario that says what varies.
    pub fn is_study(&self) -> bool {
        self.keys().any(|(key, _)| key == "sweep")
    }

    /// Lays another draft over this one, mapping by mapping, as a scenario is laid over its presets.
    pub(crate) fn lay_over(&mut self, over: &Self) {
        self.lay_value(over, &Path::default(), &over.root);
        // Those of a key that is not laid over have their place in the other text only.
        self.findings.extend(over.problems.iter().cloned().map(|problem| over.finding(problem)));
        self.findings.extend(over.findings.iter().cloned());
    }

    fn lay_value(&mut self, from: &Self, at: &Path, value: &Value) {
        if let Value::Mapping(over) = value
            && self.has_room_for(at, over)
        {
            for (key, value) in over {
                self.lay_value(from, &at.key(key.as_str().unwrap_or_default()), value);
            }
        } else if let Err(message) = self.put(at, value.clone(), from.origin(at)) {
            self.problems.push(Problem::value(at.clone(), message));
        }
    }

    /// Returns whether a mapping is laid over what is at a path key by key. One that names a preset,
    /// or another choice, replaces it.
    fn has_room_for(&self, at: &Path, over: &Mapping) -> bool {
        let is_new = ["preset", "line"].into_iter().any(|key| over.contains_key(key));
        let is_choice = match &at.0[..] {
            [] => return true,
            [Step::Key(key)] => key == "scheduler" || key == "workload",
            _ => true,
        };
        match at.get(&self.root) {
            Some(Value::Mapping(under)) => {
                !(is_new || is_choice && is_other_choice(under, over, at))
            }
            // A bare name is short for a mapping, which `put` knows.
            Some(Value::String(_) | Value::Number(_)) => !is_new && at.0.len() == 1,
            _ => false,
        }
    }

    /// Returns where the value at a path was written.
    pub(crate) fn origin(&self, path: &Path) -> Origin {
        match self.puts.iter().rev().find(|put| put.made.contains(path)) {
            Some(put) => put.origin.clone(),
            None => Origin::Text(self.text.clone(), path.clone()),
        }
    }

    /// Returns the scenario, with every value in place.
    ///
    /// # Errors
    /// With everything that is wrong in it.
    pub fn resolve(&self, registry: &Registry) -> Result<Loaded, ScenarioError> {
        let (mut problems, mut findings) = (self.problems.clone(), self.findings.clone());
        let (merged, plain) = complete(self.root.clone(), &self.text.file, &mut problems);
        // Every mistake takes another reading, so those of a large file come a few at a time.
        let most = if self.text.text.len() > 1 << 20 { 3 } else { MOST };
        let (scenario, mistakes) = read::<Scenario>(merged, &plain, most);
        problems.extend(mistakes);
        let mut warnings = Vec::new();
        let scenario = scenario.map(|mut scenario| {
            problems.extend(registry.read_sources(&mut scenario.workload, &plain, most));
            let damaged: Vec<Path> = problems.iter().map(|problem| problem.path.clone()).collect();
            let intact = |key: &str| !damaged.iter().any(|path| Path::of(key).contains(path));
            scenario.folder = self.folder();
            if scenario.classes.is_empty() && scenario.workload.is_traced() {
                scenario.classes = classes::by_size();
            }
            if intact("scheduler") {
                match registry.complete(&scenario.scheduler, &scenario.site()) {
                    Ok((choice, doubts)) => {
                        scenario.scheduler = choice;
                        warnings.extend(doubts.into_iter().map(Warning::Policy));
                    }
                    Err(mistakes) => problems.extend(mistakes),
                }
            }
            let checked = check::check(&scenario, intact);
            problems.extend(checked.problems);
            warnings.extend(checked.warnings);
            scenario
        });
        problems.truncate(most);
        findings.extend(problems.into_iter().map(|problem| self.finding(problem)));
        match scenario {
            Some(scenario) if findings.is_empty() => Ok(Loaded { scenario, warnings }),
            _ => Err(ScenarioError::invalid(findings)),
        }
    }

    /// Returns the scenario, with every value in place, if the files with jobs and nodes that it names
    /// are there. [`Self::resolve`] does not ask for them.
    ///
    /// # Errors
    /// With everything that is wrong in it, or the files that are missing.
    pub fn resolve_with_files(&self, registry: &Registry) -> Result<Loaded, ScenarioError> {
        let mut loaded = self.resolve(registry)?;
        let folder = loaded.scenario.folder.clone();
        let missing = loaded.scenario.keyed_files_mut().filter_map(|(key, file)| {
            let path = file.find(&folder);
            let why = std::fs::metadata(&path).err()?;
            let message = format!("cannot read {}: {why}", path.display());
            let hint = "a relative path begins in the scenario's folder, or where you are";
            Some(self.finding(Problem::value(Path::of(&key), message).hint(hint)))
        });
        let missing: Vec<Finding> = missing.collect();
        if missing.is_empty() { Ok(loaded) } else { Err(ScenarioError::invalid(missing)) }
    }

    /// Returns the folder of the file, in which relative paths begin.
    pub(crate) fn folder(&self) -> PathBuf {
        std::path::Path::new(&*self.text.file).parent().unwrap_or("".as_ref()).to_owned()
    }

    /// Returns a problem as users see it.
    pub(crate) fn finding(&self, problem: Problem) -> Finding {
        let put = self.puts.iter().rev().find(|put| put.made.contains(&problem.path));
        let mut place = match put {
            None => self.text.locate(&problem.path, problem.part),
            Some(Put { origin: Origin::Argument(argument), .. }) => {
                Place::Argument(argument.clone())
            }
            Some(Put { origin: Origin::Text(text, at), target, .. }) => {
                let inside = problem.path.0.strip_prefix(&target.0[..]);
                let path = Path([&at.0, inside.unwrap_or_default()].concat());
                text.locate(&path, if inside.is_some() { problem.part } else { Part::Key })
            }
        };
        if let (Place::Text { column, excerpt, .. }, Some(within)) = (&mut place, &problem.within) {
            *column += excerpt.narrow(within);
        }
        Finding {
            message: clip(&problem.message),
            hint: problem.hint,
            path: clip(&problem.path.to_string()),
            place,
        }
    }
}

impl Text {
    fn place(&self, (line, column): (usize, usize)) -> Place {
        let excerpt = Excerpt::of(&self.text, line, column);
        Place::Text { file: self.file.to_string(), line, column, excerpt }
    }

    fn locate(&self, path: &Path, part: Part) -> Place {
        locate(&self.text, path, part)
            .map_or(Place::File(self.file.to_string()), |at| self.place(at))
    }
}

fn read_text(path: &std::path::Path) -> Result<String, ScenarioError> {
    let failed = |source| ScenarioError::Read { path: path.to_owned(), source };
    let too_large = || ScenarioError::TooLarge { path: path.to_owned() };
    let file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if metadata.is_dir() {
        return Err(failed(io::ErrorKind::IsADirectory.into()));
    }
    if metadata.len() > LARGEST_FILE {
        return Err(too_large());
    }
    // Pipes and devices do not know their length beforehand.
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

fn doubled(path: Path) -> Problem {
    let key = match path.0.last() {
        Some(Step::Key(key)) => key.clone(),
        _ => path.to_string(),
    };
    let problem = Problem::key(path, format!("the key `{key}` stands twice"));
    Problem { part: Part::SecondKey, ..problem }
}

/// Returns what the user wrote with the presets under it, and the presets alone.
fn complete(root: Value, file: &str, problems: &mut Vec<Problem>) -> (Value, Value) {
    let stem = std::path::Path::new(file).file_stem().unwrap_or_default();
    let mut plain = Mapping::new();
    plain.insert("name".into(), Name::from_text(&stem.to_string_lossy()).as_str().into());
    let mut root = match root {
        Value::Mapping(root) => root,
        other => return (other, plain.into()),
    };
    // A key without a value is as if it were not there.
    root.retain(|_, value| !value.is_null());
    if !root.contains_key("workload") {
        let problem = Problem::value(Path::default(), "the scenario has no `workload`");
        problems.push(
            Problem { path: Path::of("workload"), ..problem }
                .hint("add `workload: {jobs: [{name: first, maps: 10, map_time: 20s}]}`"),
        );
        root.insert("workload".into(), none_yet());
    }
    for presets in [HADOOP, CLUSTERS, WORKLOADS] {
        let preset = match root.get_mut(presets.key) {
            Some(written) => presets.take(written, problems),
            None => presets.plain(),
        };
        plain.insert(presets.key.into(), preset);
    }
    let mut merged = Value::from(plain.clone());
    overlay(&mut merged, root.into(), &Path::default());
    (merged, plain.into())
}

/// A workload of no jobs: lets the reading go on where the user's is missing.
fn none_yet() -> Value {
    Mapping::from_iter([(Value::from("jobs"), Value::Sequence(Vec::new()))]).into()
}

#[cfg(test)]
mod tests {
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
            ("{scheduler: a}", "{scheduler: {b: {x: 1}}}", r#"{"scheduler":{"b":{"x":1}}}"#),
            (
                "{scheduler: {a: {x: 1, y: 2}}}",
                "{scheduler: {a: {x: 3}}}",
                r#"{"scheduler":{"a":{"x":3,"y":2}}}"#,
            ),
            ("{workload: {jobs: []}}", "{workload: fb2009}", r#"{"workload":"fb2009"}"#),
        ] {
            let draft = laid(under, over);
            assert_eq!(serde_json::to_string(&draft.root).unwrap(), result, "{under} {over}");
        }
    }

    #[test]
    fn a_key_that_stands_twice_is_shown_where_it_does() {
        let over = Draft::of("over.yaml", "sweep:\n  seed: 1\n  seed: 2").unwrap();
        let mut rest = over.clone();
        rest.take("sweep");
        let mut draft = Draft::of("under.yaml", "workload: fb2009").unwrap();
        draft.lay_over(&rest);
        let error = draft.resolve(&Registry::builtin()).unwrap_err().to_string();
        assert!(error.contains("the key `seed` stands twice\n  --> over.yaml:3:3"), "{error}");
    }

    #[test]
    fn a_mistake_is_shown_in_the_file_that_has_it() {
        let draft = laid("{cluster: {racks: 0}}", "\ncluster: {nodes: 0}");
        let place = |path: &str| match draft.finding(Problem::value(Path::of(path), "wrong")).place
        {
            Place::Text { file, line, column, .. } => (file, line, column),
            other => panic!("{other:?}"),
        };
        assert_eq!(place("cluster.racks"), ("under.yaml".to_owned(), 1, 19));
        assert_eq!(place("cluster.nodes"), ("over.yaml".to_owned(), 2, 18));
    }
}
