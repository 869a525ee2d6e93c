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
use mumakil_core::trace::TraceFile;
use mumakil_policies::external;
use mumakil_scenario::Draft;
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

/// The option with which a policy names its allocation file.
const ALLOCATIONS: &str = "allocations";

/// Returns the policies in a scenario's tree, each with its path: `scheduler`, and the `scheduler`
/// of each entry of `later`.
fn policies(tree: &Value) -> impl Iterator<Item = (At, &Mapping)> {
    let later = tree.get("later").and_then(Value::as_sequence).map_or(0, Vec::len);
    let later = (0..later).map(|entry| At::of("later").index(entry).key("scheduler"));
    let places = [At::of("scheduler")].into_iter().chain(later);
    places.filter_map(|at| Some((at.clone(), at.get(tree)?.as_mapping()?)))
}

/// Returns the allocation files that a tree names, each with the path of its setting.
pub(crate) fn allocations(tree: &Value) -> Vec<(At, PathBuf)> {
    let of = |(at, choice): (At, &Mapping)| {
        let (policy, options) = choice.iter().next()?;
        let file = options.get(ALLOCATIONS)?.as_str()?;
        Some((at.key(policy.as_str()?).key(ALLOCATIONS), PathBuf::from(file)))
    };
    policies(tree).filter_map(of).collect()
}

/// Returns the programs that the policies of a tree start: for each, the path of its options and
/// the words of its command.
fn programs(tree: &Value) -> Vec<(At, Vec<String>)> {
    let of = |(at, choice): (At, &Mapping)| {
        let (policy, options) = choice.iter().next()?;
        let policy = policy.as_str()?;
        let words = external::command(policy, options)?;
        let keys = external::program_keys(policy).iter();
        Some((keys.fold(at.key(policy), |at, key| at.key(key)), words))
    };
    policies(tree).filter_map(of).collect()
}

/// Returns the program files and scripts that the policies of a resolved scenario start.
pub(crate) fn words<'o>(
    choices: impl Iterator<Item = &'o mumakil_scenario::SchedulerChoice>,
    folder: &Path,
) -> Vec<NamedFile> {
    let options = choices.filter_map(|choice| choice.program_options());
    let files = options.filter_map(|options| options.get("files")?.as_mapping()).flatten();
    let named = files.filter_map(|(word, sha256)| {
        let (word, sha256) = (word.as_str()?, sha256.as_str()?.to_owned());
        let place = external::find(word, folder, Some(&sha256))?;
        Some(NamedFile { name: word.into(), path: None, sha256, place })
    });
    named.collect()
}

/// Returns the settings that make a draft use the known files: the paths of the kept allocation
/// files, and the digests that programs must have.
pub(crate) fn puts(draft: &Draft, known: &[NamedFile], folder: &Path) -> Vec<(At, Value)> {
    let tree = draft.tree();
    let of = |name: &Path| known.iter().find(|file| file.name == name);
    let mut puts = Vec::new();
    for (at, file) in allocations(tree) {
        let kept = of(&file).and_then(|known| files::kept(folder, &file, &known.sha256));
        puts.extend(kept.map(|kept| (at, kept.to_string_lossy().into_owned().into())));
    }
    for (at, words) in programs(tree) {
        let files = words.iter().filter_map(|word| {
            Some((Value::from(word.as_str()), Value::from(of(Path::new(word))?.sha256.as_str())))
        });
        let files: Mapping = files.collect();
        // Digests in the draft itself take precedence.
        if !files.is_empty() && at.key("files").get(tree).is_none() {
            puts.push((at.key("files"), files.into()));
        }
    }
    puts
}
