//! What is drawn can be run, is always the same, and leaves nothing out; and what is right passes.

use serde_json::Value as Json;

use super::draw::{Artist, text, wrong};
use super::*;

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

#[test]
fn a_hunt_finds_nothing_in_what_is_right() {
    let registry = Registry::builtin();
    let workers = NonZero::new(1).unwrap();
    let wanted = Hunt { seed: 1, runs: 40, policy: None, patience: None, workers };
    let mut caught = Vec::new();
    let tally = hunt(&wanted, &registry, |_, catch| caught.extend(catch));
    assert!(tally.is_clean(), "{caught:?}");
    assert_eq!((tally.runs, tally.repeated), (40, 2));
}
