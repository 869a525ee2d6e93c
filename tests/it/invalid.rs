//! Invalid scenarios: every `tests/invalid/NAME.yaml` gives exactly the text of `NAME.stderr`.
//!
//! To add a case, add a file. `MUMAKIL_UPDATE=1 cargo test --test it invalid` writes the current
//! output; read the difference before committing it.

use std::fs;
use std::path::{Path, PathBuf};

use mumakil::mapred::{Offer, Policy, Scheduler};
use mumakil::scenario::{self, Draft, Registry};
use mumakil::scheduler::Capacity;
use mumakil::study::{Plan, Study};
use mumakil::units::SimSpan;
use proptest::prelude::*;
use proptest::sample::Index;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A policy with options of every kind, so that the messages do not depend on the built-in
/// policies.
struct Lazy;

#[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct LazyOptions {
    sleep: SimSpan,
    wake: Wake,
}

#[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Wake {
    #[default]
    Never,
    Alarm {
        after: SimSpan,
    },
}

impl Scheduler for Lazy {
    fn offer(&mut self, _: &mut Offer<'_>) {}
}

impl Policy for Lazy {
    const NAME: &'static str = "lazy";
    const ABOUT: &'static str = "Does nothing.";
    type Options = LazyOptions;
    fn new(_: LazyOptions) -> Self {
        Self
    }
}

struct Fifo;

impl Scheduler for Fifo {
    fn offer(&mut self, _: &mut Offer<'_>) {}
}

impl Policy for Fifo {
    const NAME: &'static str = "fifo";
    const ABOUT: &'static str = "One after another.";
    type Options = NoOptions;
    fn new(_: NoOptions) -> Self {
        Self
    }
}

#[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NoOptions {}

fn registry() -> Registry {
    let mut registry = Registry::new();
    registry.add::<Fifo>().add::<Lazy>().add::<Capacity>();
    mumakil::traces::bring(&mut registry);
    registry
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/invalid")
}

/// Reads a scenario, or a study and all its scenarios.
fn check(file: &Path) -> Result<(), String> {
    let draft = Draft::read(file).map_err(|error| error.to_string())?;
    if draft.is_study() {
        let study = Study::of(draft).map_err(|error| error.to_string())?;
        return Plan::new(&study, &registry()).map(drop).map_err(|error| error.to_string());
    }
    draft.resolve(&registry()).map(drop).map_err(|error| error.to_string())
}

/// Returns the message that `main` would print for a file, with its path in the repository.
fn stderr(file: &Path) -> String {
    match check(file) {
        Ok(()) => "nothing is wrong\n".to_owned(),
        Err(error) => {
            let folder = format!("{}/", folder().display());
            format!("error: {error}\n").replace(&folder, "tests/invalid/")
        }
    }
}

#[test]
fn every_wrong_scenario_gives_its_message() {
    let mut files: Vec<PathBuf> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no cases in {}", folder().display());
    let update = std::env::var_os("MUMAKIL_UPDATE").is_some();
    let mut differences = Vec::new();
    for file in files {
        let (printed, expected) = (stderr(&file), file.with_extension("stderr"));
        if update {
            fs::write(&expected, &printed).unwrap();
        }
        let expected = fs::read_to_string(&expected).unwrap_or_default();
        if printed != expected {
            differences.push(format!("{}\n{printed}instead of\n{expected}", file.display()));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn every_expected_message_has_its_scenario() {
    for entry in fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        assert!(path.with_extension("yaml").exists(), "{} has no YAML file", path.display());
    }
}

/// A scenario with most kinds of settings, which the tests damage.
const WHOLE: &str = "\
name: whole
seed: 7
clock: 600x
hadoop: {line: 1.x, heartbeat: 3s, start_up: {uniform: {from: 1s, to: 2s}}}
cluster: &c {preset: srt-4, nodes: 9, network: {latency: 0.2ms}, groups: [{count: 2, speed: 2}]}
workload:
  jobs:
    - {name: a, maps: 3, map_time: {empirical: {cdf: [[1s, 0.5], [2s, 1]]}}, count: 2}
    - {name: b, input: 1GB, after: [a], priority: high, reduces: 2}
scheduler: {lazy: {sleep: 3s, wake: {alarm: {after: 1s}}}}
classes: {small: maps <= 2, large: true}
faults: [{at: 10min, stop: node-3}, {at: 5min, kill: a}, {loss: 10 %}]
";

/// A scenario with drawn jobs, which the tests damage.
const MIXED: &str = "\
workload:
  preset: srt
  mix:
    jobs: 9
    arrivals: {bursts: {size: 3, gap: {exponential: {mean: 5s}}, pause: 1min}}
    user: {weighted: {ann: 3, bob: 1}}
    types: {small: {maps: {choice: [[1, 2], [2, 3]]}}, next: {after: [small], maps: 2, delay: 1s}}
  submission: {closed: {active: 5}}
faults: [{at: 5min, kill: small-1}]
";

const PIECES: [&str; 24] = [
    "", " ", "\n", "  ", ":", ": ", "-", "- ", ",", "[", "]", "{", "}", "0", "-1", "1e400", "nan",
    "x", "'", "\"", "*c", "&c ", "!t ", "null",
];

proptest! {
    #[test]
    fn random_texts_never_panic(text in "\\PC{0,200}") {
        let _ = scenario::parse("test", &text, &[], &registry());
    }

    #[test]
    fn random_settings_never_panic(setting in "[a-z.\\[\\]0-9=: {}-]{0,40}") {
        for text in [WHOLE, ""] {
            let _ = scenario::parse("test", text, std::slice::from_ref(&setting), &registry());
        }
    }

    #[test]
    fn damaged_scenarios_never_panic(
        whole in prop::sample::select(vec![WHOLE, MIXED]),
        damages in prop::collection::vec((any::<Index>(), 0..12_usize, 0..PIECES.len()), 1..5),
    ) {
        let mut text = whole.to_owned();
        for (at, len, piece) in damages {
            let at = at.index(text.len() + 1);
            text.replace_range(at..(at + len).min(text.len()), PIECES[piece]);
        }
        if let Err(error) = scenario::parse("test", &text, &[], &registry()) {
            prop_assert!(!error.to_string().is_empty());
        }
    }

    #[test]
    fn resolved_scenarios_read_back_the_same(
        whole in prop::sample::select(vec![WHOLE, MIXED]),
        damages in prop::collection::vec((any::<Index>(), 0..2_usize, "[0-9.]{0,2}"), 0..3),
    ) {
        let mut text = whole.to_owned();
        for (at, len, piece) in damages {
            let at = at.index(text.len() + 1);
            text.replace_range(at..(at + len).min(text.len()), &piece);
        }
        if let Ok(first) = scenario::parse("test", &text, &[], &registry()) {
            let yaml = first.scenario.to_yaml();
            let second = scenario::parse("test", &yaml, &[], &registry());
            let second = second.map_err(|error| TestCaseError::fail(error.to_string()))?;
            prop_assert_eq!(first.scenario, second.scenario);
        }
    }
}
