//! The scenario: one YAML file that says everything about a run.
//!
//! A text becomes a [`Scenario`] in steps: the YAML is read into a tree (`tree`), the command
//! line's `--set` is put over it (`set`), presets are laid under it (`preset`), the tree becomes
//! typed (`read`), and what no single field can say is checked (`check`). No step stops at the
//! first mistake: all of them are reported together, each with its place in the text (`locate`,
//! `report`). Behind this module nothing is checked again.

mod check;
mod classes;
mod faults;
mod locate;
mod nearest;
mod path;
mod preset;
mod read;
mod reference;
mod registry;
mod report;
mod schema;
mod set;
mod spec;
mod tree;

use std::fs::File;
use std::io::{self, Read as _};

use serde_yaml::with::singleton_map_recursive;
use serde_yaml::{Mapping, Value};

pub use check::Warning;
pub use classes::{ClassRule, Comparison, Counted};
pub use faults::{Fault, NodeName};
pub use reference::reference;
pub use registry::{PolicyEntry, Registry, SchedulerChoice};
pub use report::{Excerpt, Finding, Place, ScenarioError};
pub use schema::schema;
pub use spec::{ClockSpec, Expectations, Name, RecordSpec, Scenario};

use locate::{Part, locate};
use path::Path;
use preset::{CLUSTERS, HADOOP, WORKLOADS, overlay};
use read::{MOST, Problem, read};
use set::Setting;

/// Larger files are refused unread.
const LARGEST_FILE: u64 = 16 << 20;

/// A scenario that can be run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Loaded {
    /// The scenario, with every value in place.
    pub scenario: Scenario,
    /// What is hardly meant as it stands.
    pub warnings: Vec<Warning>,
}

/// Reads a scenario from a file, with what the command line puts over it.
///
/// `sets` are of the form `path=value`; `seed` and `clock` are the values of the options of these
/// names, and win over them.
///
/// # Errors
/// If the file cannot be read, or with everything that is wrong in it.
pub fn load(
    path: &std::path::Path,
    sets: &[String],
    seed: Option<u64>,
    clock: Option<&str>,
    registry: &Registry,
) -> Result<Loaded, ScenarioError> {
    let text = read_text(path)?;
    let mut settings = set_arguments(sets);
    settings.extend(seed.map(|seed| (format!("--seed {seed}"), format!("seed={seed}"))));
    settings.extend(clock.map(|clock| (format!("--clock {clock}"), format!("clock={clock}"))));
    resolve(&path.display().to_string(), &text, settings, registry)
}

/// Reads a scenario from a text; `name` stands for the file in messages, and names the scenario if
/// it does not do so itself.
///
/// # Errors
/// With everything that is wrong in the text.
pub fn parse(
    name: &str,
    text: &str,
    sets: &[String],
    registry: &Registry,
) -> Result<Loaded, ScenarioError> {
    resolve(name, text, set_arguments(sets), registry)
}

fn set_arguments(sets: &[String]) -> Vec<(String, String)> {
    sets.iter().map(|set| (format!("--set {set}"), set.clone())).collect()
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

/// Takes a text through all steps; `settings` are arguments of the command line, each as the user
/// wrote it and as `path=value`.
fn resolve(
    file: &str,
    text: &str,
    settings: Vec<(String, String)>,
    registry: &Registry,
) -> Result<Loaded, ScenarioError> {
    let mut source = Source { file, text, settings: Vec::new() };
    let tree = tree::read(text).map_err(|error| {
        let place = error.at.map_or(Place::File(file.to_owned()), |at| source.place(at));
        let (hint, path) = (None, String::new());
        ScenarioError::Invalid {
            findings: vec![Finding { message: error.message, hint, path, place }],
        }
    })?;
    let mut problems: Vec<Problem> = tree.doubled.into_iter().map(doubled).collect();
    let mut findings = Vec::new();
    let mut root = tree.value;
    for (argument, setting) in settings {
        let place = Place::Argument(argument.clone());
        match set::apply(&mut root, argument, &setting) {
            Ok(setting) => source.settings.push(setting),
            Err(message) => {
                findings.push(Finding { message, hint: None, path: String::new(), place });
            }
        }
    }
    let (merged, plain) = complete(root, file, &mut problems);
    // Every mistake takes another reading, so those of a large file come a few at a time.
    let most = if text.len() > 1 << 20 { 3 } else { MOST };
    let (scenario, mistakes) = read::<Scenario>(merged, &plain, most);
    problems.extend(mistakes);
    let mut warnings = Vec::new();
    let scenario = scenario.map(|mut scenario| {
        let damaged: Vec<Path> = problems.iter().map(|problem| problem.path.clone()).collect();
        let intact = |key: &str| !damaged.iter().any(|path| Path::of(key).contains(path));
        scenario.folder = std::path::Path::new(file).parent().unwrap_or("".as_ref()).to_owned();
        if intact("scheduler") {
            match registry.complete(&scenario.scheduler) {
                Ok(choice) => scenario.scheduler = choice,
                Err(mistakes) => problems.extend(mistakes),
            }
        }
        let checked = check::check(&scenario, intact);
        problems.extend(checked.problems);
        warnings = checked.warnings;
        scenario
    });
    problems.truncate(most);
    findings.extend(problems.into_iter().map(|problem| source.finding(problem)));
    match scenario {
        Some(scenario) if findings.is_empty() => Ok(Loaded { scenario, warnings }),
        _ => {
            findings.sort_by_key(|finding| match finding.place {
                Place::Text { line, column, .. } => (line, column),
                _ => (0, 0),
            });
            Err(ScenarioError::Invalid { findings })
        }
    }
}

fn doubled(path: Path) -> Problem {
    let key = match path.0.last() {
        Some(path::Step::Key(key)) => key.clone(),
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
    overlay(&mut merged, root.into());
    (merged, plain.into())
}

/// A workload of no jobs: lets the reading go on where the user's is missing.
fn none_yet() -> Value {
    Mapping::from_iter([(Value::from("jobs"), Value::Sequence(Vec::new()))]).into()
}

/// Where the values of a scenario come from.
struct Source<'t> {
    file: &'t str,
    text: &'t str,
    settings: Vec<Setting>,
}

impl Source<'_> {
    fn place(&self, (line, column): (usize, usize)) -> Place {
        let excerpt = Excerpt::of(self.text, line, column);
        Place::Text { file: self.file.to_owned(), line, column, excerpt }
    }

    fn finding(&self, problem: Problem) -> Finding {
        let Problem { path, part, message, hint } = problem;
        let setting = self.settings.iter().rev().find(|setting| setting.made.contains(&path));
        let place = match setting {
            Some(setting) => Place::Argument(setting.argument.clone()),
            None => locate(self.text, &path, part)
                .map_or(Place::File(self.file.to_owned()), |at| self.place(at)),
        };
        Finding {
            message: report::clip(&message),
            hint,
            path: report::clip(&path.to_string()),
            place,
        }
    }
}

impl Scenario {
    /// Returns the scenario as YAML, with every value but the defaults of jobs, which may be many;
    /// reading it gives an equal one.
    pub fn to_yaml(&self) -> String {
        let mut yaml = Vec::new();
        singleton_map_recursive::serialize(self, &mut serde_yaml::Serializer::new(&mut yaml))
            .expect("a scenario can be written as YAML, to memory");
        String::from_utf8(yaml).expect("YAML is written as UTF-8")
    }

    /// Returns the class of a job that names none: the first whose rule it fits.
    pub fn class_of(&self, maps: u32, reduces: u32) -> Option<&str> {
        let mut classes = self.classes.iter();
        classes.find(|(_, rule)| rule.fits(maps, reduces)).map(|(class, _)| class.as_str())
    }
}

#[cfg(test)]
mod tests;
