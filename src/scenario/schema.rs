//! The JSON Schema of scenarios as users write them, for editors that complete and check them.
//!
//! The types describe the scenario with every value filled in. Users may write less: a preset's
//! name instead of its mapping, a policy's name without options, and no field that has a default.

use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Value, json};

use super::preset::{CLUSTERS, HADOOP, Presets, WORKLOADS};
use super::registry::Registry;
use super::spec::Scenario;

/// Returns the JSON Schema of scenarios with the policies of a registry.
pub fn schema(registry: &Registry) -> Value {
    let mut root = generator().into_root_schema_for::<Scenario>().to_value();
    // Presets and the file's name give every other required key.
    root["required"] = json!(["workload"]);
    add_sources(&mut root["properties"]["workload"], registry);
    for presets in [HADOOP, CLUSTERS, WORKLOADS] {
        shorten_preset(&mut root["properties"][presets.key], &presets);
    }
    let scheduler = &mut root["properties"]["scheduler"];
    *scheduler = scheduler_schema(registry, &scheduler["description"]);
    let later = &mut root["properties"]["later"]["items"]["properties"]["scheduler"];
    *later = scheduler_schema(registry, &later["description"]);
    // The options are those of the key `scheduler`. With a title, the reference prints one line
    // instead of listing all policies again.
    later["title"] = "a policy, as `scheduler` takes it".into();
    later.as_object_mut().expect("a schema is an object").shift_remove("default");
    describe_choices(&mut root);
    root
}

/// Inserts the kinds of workload before the keys that every workload has.
fn add_sources(workload: &mut Value, registry: &Registry) {
    let Some(fields) = workload["properties"].as_object_mut() else { return };
    let every = std::mem::take(fields);
    for (key, schema, about) in registry.sources(generator) {
        fields.insert(key.to_owned(), described(schema, about));
    }
    fields.extend(every);
}

/// Returns the schema of options as a part of another schema, with a description.
fn described(options: Schema, about: &str) -> Value {
    let mut options = options.to_value();
    if let Some(words) = options.as_object_mut() {
        words.shift_remove("$schema");
        words.shift_remove("title");
        words.insert("description".to_owned(), about.into());
    }
    options
}

/// Copies the description of a choice to the key with its name.
fn describe_choices(schema: &mut Value) {
    let description = schema["description"].clone();
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        // A schema with only one property is a choice that is written `{name: options}`.
        if properties.len() == 1 && description.is_string() {
            for choice in properties.values_mut().filter(|choice| choice["description"].is_null()) {
                choice["description"] = description.clone();
            }
        }
        properties.values_mut().for_each(describe_choices);
    }
    for word in ["anyOf", "oneOf"] {
        let forms = schema.get_mut(word).and_then(Value::as_array_mut);
        forms.into_iter().flatten().for_each(describe_choices);
    }
    for word in ["items", "additionalProperties"] {
        if let Some(inner) = schema.get_mut(word).filter(|inner| inner.is_object()) {
            describe_choices(inner);
        }
    }
}

/// Returns a generator that inlines all types: the only readers are editors and the reference.
pub fn generator() -> SchemaGenerator {
    SchemaSettings::draft07().with(|settings| settings.inline_subschemas = true).into_generator()
}

/// Allows a preset's name instead of the mapping, and makes optional each field that the preset
/// gives.
fn shorten_preset(schema: &mut Value, presets: &Presets) {
    let names: Vec<&str> = presets.names().collect();
    let named = |mut schema: Value| {
        if let Some(default) = presets.default() {
            schema["default"] = default.into();
        }
        schema
    };
    let plain = serde_json::to_value(presets.plain()).expect("a preset is JSON as well");
    let mut long = schema.take();
    fill_defaults(&mut long, &plain);
    let description = long["description"].clone();
    if let Some(properties) = long.get_mut("properties").and_then(Value::as_object_mut) {
        // `hadoop.line` has its description in its type; the `preset` of the other keys is in no
        // type.
        let about = match properties.shift_remove(presets.field) {
            Some(field) => field["description"].clone(),
            None => "The preset that gives every field that is not given here.".into(),
        };
        let name = named(json!({ "description": about, "enum": names }));
        properties.shift_insert(0, presets.field.to_owned(), name);
        if let Some(mix) = properties.get_mut("mix") {
            require_nothing(mix);
        }
    }
    *schema = named(json!({ "description": description, "anyOf": [{ "enum": names }, long] }));
}

/// Makes every field of a mix and of its types optional, since a preset may give it.
fn require_nothing(mix: &mut Value) {
    mix["required"] = json!([]);
    mix["properties"]["types"]["additionalProperties"]["required"] = json!([]);
}

/// Makes every field that has a default optional, and adds the default.
fn fill_defaults(schema: &mut Value, defaults: &Value) {
    let Some(defaults) = defaults.as_object() else { return };
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|field| field.as_str().is_none_or(|field| !defaults.contains_key(field)));
    }
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else {
        return;
    };
    for (field, default) in defaults {
        match properties.get_mut(field) {
            Some(inner) if inner.get("properties").is_some() => fill_defaults(inner, default),
            Some(inner) => inner["default"] = default.clone(),
            None => {}
        }
    }
}

/// Returns the schema of a policy's name, or of a mapping from one name to its options.
fn scheduler_schema(registry: &Registry, description: &Value) -> Value {
    let names: Vec<&str> = registry.names().collect();
    let mut policies = serde_json::Map::new();
    for (name, policy) in names.iter().filter_map(|name| Some((*name, registry.get(name)?))) {
        let mut options = described(policy.schema(generator()), policy.about());
        let defaults = serde_json::to_value(policy.default_options());
        fill_defaults(&mut options, &defaults.expect("options are JSON as well"));
        policies.insert(name.to_owned(), options);
    }
    let long = json!({
        "type": "object",
        "properties": policies,
        "additionalProperties": false,
        "minProperties": 1,
        "maxProperties": 1,
    });
    json!({ "description": description, "anyOf": [{ "enum": names }, long], "default": "fifo" })
}

#[cfg(test)]
mod tests {
    use super::super::draft::FACTS;
    use super::super::registry::tests::registry;
    use super::*;
    use mumakil_yaml::each;

    /// Notes the paths of all nodes below a schema that have no description.
    fn undescribed(path: &str, schema: &Value, found: &mut Vec<String>) {
        for (key, inner) in schema["properties"].as_object().into_iter().flatten() {
            let path = format!("{path}.{key}");
            if inner["description"].as_str().is_none_or(str::is_empty) {
                found.push(path.clone());
            }
            undescribed(&path, inner, found);
        }
        for inner in ["anyOf", "oneOf"].iter().filter_map(|of| schema[of].as_array()).flatten() {
            undescribed(path, inner, found);
        }
        for inner in ["items", "additionalProperties"].map(|word| &schema[word]) {
            if inner.is_object() {
                undescribed(&format!("{path}[]"), inner, found);
            }
        }
    }

    #[test]
    fn every_field_is_described() {
        let mut found = Vec::new();
        undescribed("", &schema(&registry()), &mut found);
        assert_eq!(found, [] as [&str; 0]);
    }

    #[test]
    fn only_the_workload_and_what_has_no_default_is_required() {
        let schema = schema(&registry());
        let fields = &schema["properties"];
        assert_eq!(schema["required"], json!(["workload"]));
        assert_eq!(fields["cluster"]["anyOf"][1]["required"], json!([]));
        assert_eq!(fields["hadoop"]["anyOf"][1]["required"], json!([]));
        assert_eq!(fields["cluster"]["anyOf"][1]["properties"]["disk"]["required"], json!([]));
        assert_eq!(fields["cluster"]["anyOf"][1]["properties"]["nodes"]["default"], json!(20));
        assert_eq!(fields["hadoop"]["anyOf"][1]["properties"]["line"]["enum"][2], json!("1.x"));
        assert!(fields["workload"].get("default").is_none(), "the plain preset has no jobs");
        let mix = &fields["workload"]["anyOf"][1]["properties"]["mix"];
        assert_eq!(mix["required"], json!([]), "a preset may give it");
        let one = &mix["properties"]["types"]["additionalProperties"];
        assert_eq!(one["required"], json!([]), "a preset may give it");
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
        let schema = schema(&Registry::builtin());
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
            let loaded = crate::parse("unnamed", &yaml, &[], &Registry::builtin());
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

    #[test]
    fn nothing_in_the_schema_is_void() {
        fn void(schema: &Value) -> bool {
            match schema {
                Value::Object(words) => words
                    .iter()
                    .filter(|(word, _)| !["default", "x-only-if"].contains(&word.as_str()))
                    .any(|(_, inner)| inner.is_null() || void(inner)),
                Value::Array(values) => values.iter().any(void),
                _ => false,
            }
        }
        assert!(!void(&schema(&registry())));
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
        forms(schema)
            .flat_map(some_values)
            .chain(named.cloned())
            .chain(titled)
            .chain(of_type)
            .collect()
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
                        || Registry::builtin()
                            .names()
                            .any(|of| *path == format!("the policy `{of}`"))
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
                        assert!(
                            text.contains(&format!("\"{field}\":{{")),
                            "{at}: no `{field}` inside"
                        );
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
        let all = schema(&Registry::builtin());
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
    fn no_faults_are_an_empty_mapping_too() {
        let faults = &schema(&registry())["properties"]["faults"];
        assert_eq!(faults["anyOf"][0], json!({ "type": "object", "maxProperties": 0 }));
        assert_eq!(faults["anyOf"][1]["type"], json!("array"));
        assert_eq!(faults["default"], json!([]));
    }

    #[test]
    fn policies_bring_their_options() {
        let schema = schema(&registry());
        let scheduler = &schema["properties"]["scheduler"];
        assert_eq!(scheduler["anyOf"][0]["enum"], json!(["fifo", "lazy"]));
        let lazy = &scheduler["anyOf"][1]["properties"]["lazy"];
        assert_eq!(lazy["description"], json!("Does nothing."));
        assert_eq!(lazy["properties"]["sleep"]["default"], json!("5s"));
    }
}
