//! The files that a study's scenarios name: traces, allocation files, and programs with scripts.
//!
//! A study names a file relative to its own folder. A [`NamedFile`] also has the file's hash and
//! its place on this machine, so the study can be continued after its folder is moved
//! ([`files::kept`]). The hash of a run covers the paths and contents of its traces, so a trace
//! keeps the path that it had when the study was first planned.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_yaml::{Mapping, Value};

use mumakil_base::files;
use mumakil_core::mapred::SchedulerChoice;
use mumakil_core::trace::TraceFile;
use mumakil_scenario::{Draft, LoadedScenario, Scenario, option_files};
use mumakil_yaml::Path as At;

/// A file that the scenarios of a study name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NamedFile {
    /// The path in the study.
    pub name: PathBuf,
    /// The path in the runs' scenarios, if it differs from `name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// The SHA-256 of its content, in hexadecimal digits.
    pub sha256: String,
    /// The path on this machine.
    #[serde(skip)]
    pub place: PathBuf,
}

impl NamedFile {
    /// Returns the entry of a pinned trace; `name` is the path in the study, `place` the path on
    /// this machine.
    pub(crate) fn trace(name: PathBuf, pinned: &TraceFile, place: PathBuf) -> Self {
        let path = (pinned.path != name).then(|| pinned.path.clone());
        Self { name, path, sha256: pinned.sha256.clone().unwrap_or_default(), place }
    }

    /// Returns the file in the form in which a scenario names a trace, with its hash.
    pub(crate) fn pinned(&self) -> TraceFile {
        let path = self.path.as_ref().unwrap_or(&self.name).clone();
        TraceFile { path, sha256: Some(self.sha256.clone()) }
    }

    /// Returns the path of the file on this machine, looked up from a folder.
    pub(crate) fn find(&self, folder: &Path) -> PathBuf {
        self.pinned().find(folder)
    }
}

/// Returns the policies in a scenario's tree, each with its path: `scheduler`, and the `scheduler`
/// of each entry of `later`.
fn policies(tree: &Value) -> impl Iterator<Item = (At, SchedulerChoice)> {
    let entries = tree.get("later").and_then(Value::as_sequence).map_or(0, Vec::len);
    let later = (0..entries).map(|entry| At::of("later").index(entry).key("scheduler"));
    let places = [At::of("scheduler")].into_iter().chain(later);
    places.filter_map(|at| {
        let choice = serde_yaml::from_value(at.get(tree)?.clone()).ok()?;
        Some((at, choice))
    })
}

/// Returns the files that the policies of a tree name in their options, each with the path of its
/// setting.
pub(crate) fn of_policies(tree: &Value) -> Vec<(At, PathBuf)> {
    policies(tree)
        .flat_map(|(at, choice)| {
            let at = at.key(&choice.name);
            let files = option_files(choice.written()).into_iter();
            files.map(|(option, file)| (at.join(&option.0), file)).collect::<Vec<_>>()
        })
        .collect()
}

/// Returns the files of the programs that a resolved scenario starts.
pub(crate) fn of_programs(scenario: &Scenario) -> Vec<NamedFile> {
    let mut named = Vec::new();
    for program in &scenario.programs {
        for (word, place) in program.command.iter().zip(&program.located) {
            let Some(sha256) = program.files.get(word).cloned() else { continue };
            named.push(NamedFile { name: word.into(), path: None, sha256, place: place.into() });
        }
    }
    named
}

/// Returns the settings that make a draft use the kept files of its policies.
pub(crate) fn kept_of_policies(
    draft: &Draft,
    known: &[NamedFile],
    folder: &Path,
) -> Vec<(At, Value)> {
    let settings = of_policies(draft.tree()).into_iter().filter_map(|(at, file)| {
        let known = known.iter().find(|known| known.name == file)?;
        let kept = files::kept(folder, &file, &known.sha256)?;
        Some((at, kept.to_string_lossy().into_owned().into()))
    });
    settings.collect()
}

/// Returns the settings that make a draft use the known files of its programs: the digests that they
/// must have. `loaded` is the scenario as it is without them.
pub(crate) fn digests(
    draft: &Draft,
    loaded: &LoadedScenario,
    known: &[NamedFile],
) -> Vec<(At, Value)> {
    let programs = loaded.programs.iter().zip(&loaded.scenario.programs);
    let digests = programs.map(|(at, program)| {
        let files = program.command.iter().filter_map(|word| {
            let known = known.iter().find(|known| known.name == Path::new(word))?;
            Some((Value::from(word.as_str()), Value::from(known.sha256.as_str())))
        });
        (at.key("files"), files.collect::<Mapping>())
    });
    // Digests in the draft itself take precedence.
    let new = digests.filter(|(at, files)| !files.is_empty() && at.get(draft.tree()).is_none());
    new.map(|(at, files)| (at, files.into())).collect()
}
