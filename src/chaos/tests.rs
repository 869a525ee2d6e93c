//! What is drawn can be run, is always the same, and leaves nothing out; and what is right passes.

use serde_json::Value as Json;

use super::draw::{Artist, THEMES, lay, text, wrong};
use super::trial::{Found, Trial};
use super::*;
use crate::emulation::{PLANTED, Planted};

fn drawn(seed: u64, registry: &Registry, schema: &Json) -> serde_yaml::Value {
    Artist::new(seed, schema, None).scenario(registry)
}

#[test]
fn a_number_always_draws_the_same_scenario_and_it_can_be_run() {
    let registry = Registry::builtin();
    let schema = schema(&registry);
    for seed in 0..200 {
        let tree = drawn(seed, &registry, &schema);
        assert_eq!(wrong(&tree, &registry), Ok(None), "{}", text(&tree));
        assert_eq!(tree, drawn(seed, &registry, &schema));
    }
}

/// What is wrong in a scenario is taken out of it, so that a wrong theme would be none.
#[test]
fn each_theme_is_a_scenario() {
    let jobs = "workload: {jobs: [{name: job-0, maps: 4, reduces: 1}]}\ncluster: {nodes: 3}";
    for theme in THEMES {
        let mut tree = serde_yaml::from_str(jobs).unwrap();
        lay(&mut tree, serde_yaml::from_str(theme).unwrap());
        assert_eq!(wrong(&tree, &Registry::builtin()), Ok(None), "{theme}");
    }
}

/// What the schema has is drawn sooner or later, or a new option would never be.
#[test]
fn every_policy_every_fault_and_every_setting_of_hadoop_is_drawn() {
    let registry = Registry::builtin();
    let schema = schema(&registry);
    let all: String = (0..3_000).map(|seed| text(&drawn(seed, &registry, &schema))).collect();
    let fields = |section: &str| {
        let alternatives = schema["properties"][section]["anyOf"].as_array().unwrap();
        let fields = alternatives.iter().find_map(|one| {
            one.get("properties").or_else(|| one.get("items")?.get("properties"))?.as_object()
        });
        fields.unwrap().keys().cloned().collect::<Vec<_>>()
    };
    for section in ["scheduler", "faults", "hadoop"] {
        for field in fields(section) {
            assert!(all.contains(&field), "{section}.{field} is never drawn");
        }
    }
}

/// `MUMAKIL_CASES` says how many are run.
#[test]
fn a_hunt_finds_nothing_in_what_is_right() {
    let registry = Registry::builtin();
    let runs = std::env::var("MUMAKIL_CASES").map_or(40, |cases| cases.parse().unwrap());
    let workers = NonZero::new(1).unwrap();
    let wanted = Hunt { seed: 1, runs, policy: None, patience: None, workers };
    let mut caught = Vec::new();
    let tally = hunt(&wanted, &registry, |_, catch| caught.extend(catch));
    assert!(tally.is_clean(), "{caught:?}");
    assert_eq!((tally.runs, tally.repeated), (runs, runs / 16));
}

/// Returns the first case from this one on in which a mistake is found, and what was said of it.
fn hunted(mistake: &Planted, from: u64) -> Option<u64> {
    let registry = Registry::builtin();
    let schema = schema(&registry);
    let trial = Trial { registry: &registry, repeats: false, recast: mistake.plant };
    (from..=1_000).find(|seed| match trial.of(&drawn(*seed, &registry, &schema)) {
        Found::Broken(lines) => lines.iter().any(|line| line.contains(mistake.words)),
        _ => false,
    })
}

/// What the draw has no odds for, or the checker no eyes, is not found by any number of runs. From the
/// first case on it takes minutes: `MUMAKIL_MISTAKES` hunts so, and tells the numbers.
#[test]
fn each_planted_mistake_is_found_within_a_thousand_cases() {
    let counts = std::env::var_os("MUMAKIL_MISTAKES").is_some();
    for mistake in &PLANTED {
        let from = if counts { 1 } else { mistake.first_case };
        let found = hunted(mistake, from);
        if counts {
            println!("{}: {found:?}, {}", mistake.name, mistake.first_case);
        }
        assert!(counts || found.is_some(), "{}: no case from {from} on", mistake.name);
    }
}
