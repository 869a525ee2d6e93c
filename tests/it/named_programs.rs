//! No program starts unseen: the schema says where a scenario can name one.

use std::fs;

use mumakil::emulation::{Options, emulate};
use mumakil::mapred::ProgramPermit;
use mumakil::scenario::{self, Draft, Registry, Scenario, Warning};
use mumakil::study::{self, Plan, Study};
use serde_json::Value;

use crate::Room;

/// Notes the paths of the schema at which a scenario can name a program.
fn find(schema: &Value, at: &[&str], programs: &mut Vec<String>) {
    if schema["properties"].get("command").is_some() {
        programs.push(at.join("."));
    }
    for (key, inside) in schema["properties"].as_object().into_iter().flatten() {
        find(inside, &[at, &[key]].concat(), programs);
    }
    for (key, step) in [("additionalProperties", "NAME"), ("items", "[]")] {
        if schema[key].is_object() {
            find(&schema[key], &[at, &[step]].concat(), programs);
        }
    }
    for choices in ["anyOf", "oneOf", "allOf"] {
        for choice in schema[choices].as_array().into_iter().flatten() {
            find(choice, at, programs);
        }
    }
}

#[test]
fn only_a_policy_is_a_program() {
    let schema = serde_json::to_value(study::schema(&mumakil::registry())).unwrap();
    let mut programs = Vec::new();
    find(&schema, &[], &mut programs);
    assert_eq!(programs, ["scheduler.external", "later.[].scheduler.external"]);
}

const SCHEDULER: &str = "{external: {command: [sh, mine.sh]}}";

/// Returns a registry with this right.
fn with(permit: ProgramPermit) -> Registry {
    let mut registry = mumakil::registry();
    registry.permit_programs(permit);
    registry
}

const REST: &str = "
workload: {jobs: [{name: a, maps: 3, map_time: 5s}]}
cluster: {nodes: 2}
";

#[test]
fn a_program_is_seen_before_it_starts() {
    let room = Room::new();
    room.write("mine.sh", "touch PWNED\n");
    let file = room.path("mine.yaml").display().to_string();
    for policies in
        [format!("scheduler: {SCHEDULER}"), format!("later: [{{at: 1s, scheduler: {SCHEDULER}}}]")]
    {
        let text = format!("{REST}{policies}\n");
        let loaded = scenario::parse(&file, &text, &[], &mumakil::registry())
            .unwrap_or_else(|error| panic!("{text}: {error}"));
        let is_program = |warning: &&Warning| matches!(warning, Warning::Program(_));
        assert_eq!(loaded.warnings.iter().filter(is_program).count(), 1, "{text}");
        let scenario = loaded.scenario;
        assert_eq!(scenario.programs.len(), 1, "{text}");
        let digest = &scenario.programs[0].files["mine.sh"];
        assert!(scenario.to_yaml().contains(&**digest), "{}", scenario.to_yaml());

        let started = |scenario: &Scenario, registry: &Registry| {
            let run = emulate(scenario, registry, Options::default());
            let words = run.map_or_else(|error| error.to_string(), |_| String::new());
            let started = room.path("PWNED").exists();
            if started {
                fs::remove_file(room.path("PWNED")).unwrap();
            }
            (words, started)
        };
        for (permit, reason) in [
            (ProgramPermit::default(), "nobody has permitted"),
            (ProgramPermit::Boxed, "in a sandbox alone"),
            (ProgramPermit::Only([].into()), "none of the programs that may start"),
        ] {
            let (words, started) = started(&scenario, &with(permit));
            assert!(words.contains(reason) && !started, "{text}: {words}");
        }
        let undeclared = Scenario { programs: Vec::new(), ..scenario.clone() };
        let (words, was_started) = started(&undeclared, &with(ProgramPermit::Trusted));
        assert!(words.contains("has not found the program") && !was_started, "{words}");
        // Without this, a policy that never starts its program would pass.
        assert!(started(&scenario, &with(ProgramPermit::Trusted)).1, "{text}");
    }
}

#[test]
fn studies_know_a_program() {
    let room = Room::new();
    room.write("mine.sh", "touch PWNED\n");
    let registry = mumakil::registry();
    let text = format!("{REST}sweep: {{scheduler: [fifo, {SCHEDULER}], seeds: 1}}\n");
    let draft = Draft::of(&room.path("mine.yaml").display().to_string(), &text).unwrap();
    let plan = Plan::new(&Study::of(draft).unwrap(), &registry).unwrap();
    assert_eq!(plan.program(&[0]), None);
    assert!(plan.program(&[1]).is_some(), "{text}");
    let names: Vec<_> = plan.files.iter().map(|file| file.name.clone()).collect();
    assert_eq!(names, ["mine.sh".into()] as [std::path::PathBuf; 1], "{text}");
    assert!(!room.path("PWNED").exists());
}
