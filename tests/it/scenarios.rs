//! The scenarios that Mumakil brings: all of them are in order and in the binary.

use std::fs;

use mumakil::scenario::{self, Registry};

use crate::{Room, files, root};

/// Folders of parts of scenarios, which have tests of their own.
const PRESETS: [&str; 4] = ["clusters/", "hadoop/", "traces/", "workloads/"];

/// Returns the names of all scenarios, without `.yaml`.
pub(crate) fn all() -> Vec<String> {
    let files = files(&root().join("scenarios")).into_iter();
    files
        .filter(|file| !PRESETS.iter().any(|folder| file.starts_with(folder)))
        .map(|file| file.strip_suffix(".yaml").expect("scenarios are YAML").to_owned())
        .collect()
}

#[test]
fn every_scenario_is_in_order_and_opens_with_a_question() {
    for name in all() {
        let file = root().join(format!("scenarios/{name}.yaml"));
        let loaded = scenario::load(&file, &[], &Registry::builtin());
        let loaded = loaded.unwrap_or_else(|error| panic!("error: {error}"));
        assert_eq!(loaded.scenario.name.as_str(), name);
        assert!(loaded.warnings.is_empty(), "{name}: {:?}", loaded.warnings);
        let text = fs::read_to_string(&file).unwrap();
        let first = text.lines().next().unwrap();
        assert!(first.starts_with("# ") && first.ends_with('?'), "{name}: {first}");
    }
}

#[test]
fn every_scenario_is_in_the_binary() {
    let listed = Room::new().mumakil("scenarios").output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let mut listed: Vec<&str> = listed.lines().filter_map(|l| l.split(' ').next()).collect();
    listed.sort_unstable();
    assert_eq!(listed, all());
}
