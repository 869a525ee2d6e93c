//! Checks that all bundled scenarios are valid and are in the binary.

use std::fs;

use mumakil::scenario::Draft;
use mumakil::study::{Plan, Study};

use crate::{Room, files, root};

/// Folders with parts of scenarios, with exercises and with pictures, which other tests check.
const PRESETS: [&str; 7] =
    ["clusters/", "course/", "findings/", "gallery/", "papers/", "traces/", "workloads/"];

/// The files beside scenarios: what makes the folder a crate, and what users try.
const OTHERS: [&str; 5] = ["Cargo.toml", "build.rs", "lib.rs", "notebook.ipynb", "search.py"];

/// Returns the names of all scenarios that are a single run.
pub(crate) fn runs() -> Vec<String> {
    let is_run = |name: &String| {
        let text = fs::read_to_string(root().join(format!("scenarios/{name}.yaml"))).unwrap();
        !Draft::of(name, &text).unwrap().is_study()
    };
    all().into_iter().filter(is_run).collect()
}

/// Returns the names of all scenarios and studies, without `.yaml`.
fn all() -> Vec<String> {
    let files = files(&root().join("scenarios")).into_iter();
    let mut names: Vec<String> = files
        .filter(|file| !PRESETS.iter().any(|folder| file.starts_with(folder)))
        .filter(|file| !["policies/", "suites/"].iter().any(|folder| file.starts_with(folder)))
        .filter(|file| !is_picture(file) && !OTHERS.contains(&file.as_str()))
        .map(|file| file.strip_suffix(".yaml").expect("scenarios are YAML").to_owned())
        .collect();
    names.sort_unstable();
    names
}

/// Returns whether a file is the picture of a scenario, which lies beside the scenario.
fn is_picture(file: &str) -> bool {
    let scenario = file.strip_suffix(".svg");
    scenario.is_some_and(|scenario| root().join(format!("scenarios/{scenario}.yaml")).exists())
}

#[test]
fn every_scenario_is_in_order_and_opens_with_a_question() {
    for name in all() {
        let file = root().join(format!("scenarios/{name}.yaml"));
        let draft = Draft::read(&file).unwrap_or_else(|error| panic!("error: {error}"));
        let warnings = if draft.is_study() {
            let study = Study::of(draft).unwrap_or_else(|error| panic!("error: {error}"));
            assert_eq!(study.name.as_str(), name);
            let plan = Plan::new(&study, &mumakil::registry());
            plan.unwrap_or_else(|error| panic!("error: {error}")).warnings
        } else {
            let loaded = draft.resolve(&mumakil::registry());
            let loaded = loaded.unwrap_or_else(|error| panic!("error: {error}"));
            assert_eq!(loaded.scenario.name.as_str(), name);
            loaded.warnings
        };
        assert!(warnings.is_empty(), "{name}: {warnings:?}");
        let text = fs::read_to_string(&file).unwrap();
        let first = text.lines().next().unwrap();
        assert!(first.starts_with("# ") && first.ends_with('?'), "{name}: {first}");
    }
}

#[test]
fn every_scenario_is_in_the_binary() {
    let listed = Room::new().mumakil("list scenarios").output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let mut listed: Vec<&str> = listed.lines().filter_map(|l| l.split(' ').next()).collect();
    listed.sort_unstable();
    assert_eq!(listed, all());
}

#[test]
fn results_by_hand_come_out() {
    // The comments of these scenarios state their results, and `expect` checks them.
    for name in ["oversubscribed", "page-cache"] {
        Room::new().mumakil(&format!("run {name} --out out")).assert().success();
    }
}
