//! The schema and what Mumakil brings: defaults, conditions, shapes, the reference.

use mumakil::mapred::{PolicySite, SchedulerChoice};
use mumakil::scenario::{self, Reference, schema, shapes};
use mumakil::yaml::each;
use serde_json::{Value, json};

use crate::guide::compare;

/// Facts that conditions name.
const FACTS: [&str; 2] = ["a fault that disturbs messages", "a policy that goes by bytes"];

#[test]
fn the_shapes_that_are_kept_are_those_of_the_types() {
    compare("src/scenario/shapes.txt", &shapes(&mumakil::registry()));
}

/// Notes each field whose default in the schema differs from the value in a resolved scenario
/// without the field.
fn disagreeing(path: &str, schema: &Value, resolved: &Value, found: &mut Vec<String>) {
    if let Some(default) = schema.get("default").filter(|default| !default.is_object())
        && *default != *resolved
    {
        found.push(format!("{path}: {default} in the schema, {resolved} in a scenario"));
    }
    let forms = schema["anyOf"].as_array().into_iter().flatten();
    for schema in forms.chain([schema]) {
        let fields = schema["properties"].as_object().into_iter().flatten();
        for (key, inner) in fields {
            if let Some(resolved) = resolved.get(key).filter(|value| !value.is_null()) {
                disagreeing(&format!("{path}.{key}"), inner, resolved, found);
            }
        }
    }
    let (items, named) = (schema.get("items"), schema.get("additionalProperties"));
    let first = resolved.as_array().and_then(|list| list.first());
    if let Some((schema, resolved)) = items.zip(first) {
        disagreeing(&format!("{path}[]"), schema, resolved, found);
    }
    let of_name = resolved.as_object().and_then(|named| named.values().next());
    if let Some((schema, resolved)) = named.zip(of_name) {
        disagreeing(&format!("{path}.NAME"), schema, resolved, found);
    }
}

#[test]
fn a_field_that_is_left_out_has_the_default_that_the_schema_says() {
    let schema = schema(&mumakil::registry());
    for workload in [
        "{jobs: [{name: a, maps: 1, penalty: {}}]}",
        "{jobs: [{name: a, maps: 1}], warm_start: {}}",
        "{jobs: {path: x}}",
        "{rumen: {trace: x}}",
        "{rumen: {trace: x, penalty: {}}}",
        "{swim: {file: x}}",
        "{sls: {file: x}}",
        "{mix: {jobs: 1, types: {a: {maps: 1, map_time: 1s}}}}",
    ] {
        let yaml = format!("workload: {workload}");
        let loaded = scenario::parse("unnamed", &yaml, &[], &mumakil::registry());
        let scenario = loaded.unwrap_or_else(|error| panic!("{error}")).scenario;
        let resolved: Value = serde_yaml::from_str(&scenario.to_yaml()).unwrap();
        let mut found = Vec::new();
        // Defaults from presets are shown as the preset writes them, such as 0.5ms for 500us.
        for key in ["workload", "record"] {
            disagreeing(key, &schema["properties"][key], &resolved[key], &mut found);
        }
        assert_eq!(found, [] as [&str; 0], "{workload}");
    }
}

fn forms(schema: &Value) -> impl Iterator<Item = &Value> {
    ["anyOf", "oneOf"].into_iter().filter_map(|word| schema[word].as_array()).flatten()
}

/// Returns the schemas of a key, each with whether the key is required. The schema may be a
/// mapping in several forms.
fn of_key<'s>(schema: &'s Value, key: &str) -> Vec<(&'s Value, bool)> {
    let must = schema["required"].as_array().is_some_and(|of| of.contains(&key.into()));
    let own = schema["properties"].get(key).map(|of| (of, must));
    forms(schema).flat_map(|form| of_key(form, key)).chain(own).collect()
}

/// Returns values that a schema allows: all names, and a few values of other types.
fn some_values(schema: &Value) -> Vec<Value> {
    let named = schema["enum"].as_array().into_iter().flatten().chain(schema.get("const"));
    // A text beside other forms has its names in the title: "`auto`, or a duration".
    let titled = schema["title"].as_str().into_iter().flat_map(|title| title.split('`'));
    let titled = titled.map(Value::from);
    let of_type = match schema["type"].as_str() {
        Some("boolean") => vec![json!(true), json!(false)],
        Some("integer") => vec![json!(0), json!(1)],
        _ => Vec::new(),
    };
    forms(schema).flat_map(some_values).chain(named.cloned()).chain(titled).chain(of_type).collect()
}

/// Notes problems with the condition of a field inside these mappings.
fn doubt(at: &str, condition: &Value, around: &[&Value], found: &mut Vec<String>) {
    for (path, wanted) in each(condition).flat_map(|of| of.as_object().unwrap()) {
        let mut steps = path.split('.');
        let first = steps.next().unwrap();
        let mut ends = around.iter().rev().map(|inner| of_key(inner, first));
        let mut ends = ends.find(|of| !of.is_empty()).unwrap_or_default();
        for step in steps {
            ends = ends.into_iter().flat_map(|(of, _)| of_key(of, step)).collect();
        }
        let values: Vec<Value> = ends.iter().flat_map(|(of, _)| some_values(of)).collect();
        let can_be_either = |wanted: &Value| match wanted {
            _ if path.contains(' ') => {
                FACTS.contains(&path.as_str())
                    || mumakil::registry().names().any(|of| *path == format!("the policy `{of}`"))
            }
            Value::Null => ends.iter().any(|(_, must)| !must),
            // A quantity may be zero or not.
            wanted if *wanted == json!(0) => !ends.is_empty(),
            wanted => values.contains(wanted) && 1 < values.len(),
        };
        let wanted = each(wanted).map(|wanted| wanted.get("not").unwrap_or(wanted));
        let wrong = wanted.filter(|wanted| !can_be_either(wanted));
        found.extend(wrong.map(|wanted| format!("{at}: can `{path}` be {wanted} or not?")));
    }
}

/// Notes problems with the conditions below a node, and counts the conditions.
fn doubts<'s>(
    at: &str,
    schema: &'s Value,
    around: &mut Vec<&'s Value>,
    (count, found): (&mut usize, &mut Vec<String>),
) {
    around.push(schema);
    for (key, inner) in schema["properties"].as_object().into_iter().flatten() {
        let at = format!("{at}.{key}");
        let condition = &inner["x-only-if"];
        *count += usize::from(!condition.is_null());
        match condition["inside"].as_object() {
            Some(of) => {
                let text = inner.to_string();
                for (field, condition) in of {
                    assert!(text.contains(&format!("\"{field}\":{{")), "{at}: no `{field}` inside");
                    doubt(&at, condition, around, found);
                }
            }
            None if condition.is_null() => {}
            None => doubt(&at, condition, around, found),
        }
        doubts(&at, inner, around, (count, found));
    }
    let inside = ["items", "additionalProperties"].into_iter().filter_map(|of| schema.get(of));
    for inner in forms(schema).chain(inside.filter(|of| of.is_object())) {
        doubts(at, inner, around, (count, found));
    }
    around.pop();
}

#[test]
fn conditions_ask_for_what_there_is_and_can_be_otherwise() {
    let (mut count, mut found) = (0, Vec::new());
    let all = schema(&mumakil::registry());
    doubts("", &all, &mut Vec::new(), (&mut count, &mut found));
    assert_eq!(found, [""; 0]);
    assert!(40 < count, "only {count} fields have a condition");
    let wrong = json!({"required": ["e"], "properties": {
        "a": {"x-only-if": {"b": "x", "c": {"not": "y"}}},
        "b": {"enum": ["y", "z"]},
        "c": {"enum": ["y"]},
        "d": {"x-only-if": [{"e": null, "f": 0}, {"a fact": true}]},
        "e": {},
    }});
    doubts("", &wrong, &mut Vec::new(), (&mut count, &mut found));
    let told = [
        ".a: can `b` be \"x\" or not?",
        ".a: can `c` be \"y\" or not?",
        ".d: can `e` be null or not?",
        ".d: can `f` be 0 or not?",
        ".d: can `a fact` be true or not?",
    ];
    assert_eq!(found, told);
}

#[test]
fn a_key_says_when_it_matters() {
    let reference = Reference::of(&schema(&mumakil::registry()));
    let told = |key: &str| reference.part(key).unwrap().markdown();
    for (key, when) in [
        ("cluster.disk.count", "It matters only with `cluster.network.model: shared`."),
        (
            "cluster.nodes",
            "It matters only without `cluster.topology`, and only without \
             `workload.rumen.topology`, and only without `workload.sls.nodes`.",
        ),
        (
            "workload.jobs.reduce_rate",
            "It matters only with `reduces`, and only without `reduce_time`.",
        ),
        (
            "scheduler.fair-deficit.allocations.pools.a.order",
            "It matters only with the policy `fair`.",
        ),
    ] {
        assert!(told(key).contains(when), "{}", told(key));
    }
    assert!(!told("scheduler.fair.allocations.order").contains("It matters only"));
}

#[test]
fn a_key_that_several_policies_have_alike_is_described_once() {
    let reference = Reference::of(&schema(&mumakil::registry()));
    let (whole, order) = (reference.markdown(), "order jobs get slots for reduces");
    assert_eq!(whole.matches(order).count(), 1);
    assert!(whole.contains("- **`scheduler.hfsp.delay.w1`**: as `scheduler.fifo.delay.w1`\n"));
    // The keys inside `srt` are not repeated, either.
    assert!(whole.contains("- **`scheduler.fair.srt`**: as `scheduler.fifo.srt`\n"));
    assert!(!whole.contains("scheduler.fair.srt.running_maps"));
    // In the part about `scheduler.fair` alone, each key is described.
    let part = reference.part("scheduler.fair").unwrap().markdown();
    assert!(part.contains(order) && part.contains("`scheduler.fair.srt.running_maps`"));
}

#[test]
fn an_option_of_other_policies_is_said_to_be_theirs() {
    for (yaml, theirs) in [
        ("{hfsp: {reduce_order: srt}}", "`fifo`, `naive-fair`"),
        ("{ps: {reduce_gate: coupling}}", ", not of `ps`"),
        ("{fair-deficit: {preemption: true}}", "`preemption` is an option of `fair`"),
    ] {
        let choice: SchedulerChoice = serde_yaml::from_str(yaml).unwrap();
        let problems = mumakil::registry().complete(&choice, &PolicySite::unknown()).err().unwrap();
        let hint = problems[0].hint.as_deref().unwrap();
        assert!(problems.len() == 1 && hint.contains(theirs), "{yaml}: {hint}");
    }
}
