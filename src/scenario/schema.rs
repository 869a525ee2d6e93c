//! The JSON Schema of scenarios as users write them, for editors that complete and check them.
//!
//! The types describe the scenario with every value filled in. Users may write less: a preset's
//! name instead of its mapping, a policy's name without options, and no field that has a default.

use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Value, json};

use super::preset::Presets;
use super::registry::Registry;
use super::spec::Scenario;

/// Returns the JSON Schema of scenarios with the policies of a registry.
pub fn schema(registry: &Registry) -> Value {
    let mut root = generator().into_root_schema_for::<Scenario>().to_value();
    // Presets and the file's name give every other required key.
    root["required"] = json!(["workload"]);
    add_sources(&mut root["properties"]["workload"], registry);
    let protocols = registry.lines.iter().map(|line| {
        let settings = described(line.schema(generator()), "The settings of the protocol.");
        (line.name().to_owned(), settings)
    });
    let protocol = &mut root["properties"]["hadoop"]["properties"]["protocol"];
    protocol["properties"] = serde_json::Map::from_iter(protocols).into();
    protocol["additionalProperties"] = false.into();
    for presets in Presets::all(registry) {
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
    let names: Vec<&str> = registry.all_names().collect();
    let mut policies = serde_json::Map::new();
    for (name, policy) in names.iter().filter_map(|name| Some((*name, registry.get(name)?))) {
        let mut options = described(policy.schema(generator()), policy.about());
        let defaults = serde_json::to_value(policy.default_options().written());
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
    use super::super::registry::tests::registry;
    use super::*;

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
