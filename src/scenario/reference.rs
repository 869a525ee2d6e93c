//! The scenario reference of the README, made from the JSON Schema so that it cannot drift.

use std::fmt::Write as _;

use serde_json::Value;

use super::registry::Registry;
use super::schema::schema;

/// Returns every key of a scenario as Markdown: what it takes, its default, what it means.
pub fn reference(registry: &Registry) -> String {
    let schema = schema(registry);
    let mut text = String::new();
    for (key, inner) in fields(&schema) {
        let _ = writeln!(text, "### `{key}`\n\n{}", sentence(inner));
        let _ = writeln!(text, "\nTakes {}.{}", takes(inner), default_sentence(inner));
        let mut rows = String::new();
        table(key, inner, &mut rows);
        if !rows.is_empty() {
            let _ = write!(text, "\n| key | takes | default | |\n|---|---|---|---|\n{rows}");
        }
        text.push('\n');
    }
    text
}

/// Adds a row for every field inside of a node, and inside of those.
fn table(path: &str, schema: &Value, rows: &mut String) {
    // What has a title says with it what it takes; its form is for editors only.
    if schema.get("title").is_some() {
        return;
    }
    for (key, inner) in fields(schema) {
        let path = format!("{path}.{key}");
        let default = default(inner).unwrap_or_default();
        let row = [format!("`{path}`"), takes(inner), default, sentence(inner)]
            .map(|cell| cell.replace('|', "\\|"));
        let _ = writeln!(rows, "| {} |", row.join(" | "));
        table(&path, inner, rows);
    }
    for inner in alternatives(schema) {
        table(path, inner, rows);
    }
    if let Some(items) = schema.get("items") {
        table(&format!("{path}[]"), items, rows);
    }
    if let Some(named) = schema.get("additionalProperties").filter(|of| of.is_object()) {
        table(&format!("{path}.NAME"), named, rows);
    }
}

fn fields(schema: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let fields = schema.get("properties").and_then(Value::as_object);
    fields.into_iter().flatten().map(|(key, inner)| (key.as_str(), inner))
}

/// Returns the forms that a value may have, but for "nothing".
fn alternatives(schema: &Value) -> impl Iterator<Item = &Value> {
    let of = |word: &str| schema.get(word).and_then(Value::as_array).into_iter().flatten();
    of("anyOf").chain(of("oneOf")).filter(|inner| inner["type"] != "null")
}

/// Returns what a value may be, in a few words.
fn takes(schema: &Value) -> String {
    if let Some(title) = schema["title"].as_str() {
        return title.to_owned();
    }
    if let Some(names) = schema["enum"].as_array() {
        return one_of(names.iter().filter(|name| !name.is_null()).map(quoted));
    }
    if let Some(name) = schema.get("const") {
        return quoted(name);
    }
    let mut forms: Vec<String> = alternatives(schema).map(takes).collect();
    forms.dedup();
    if !forms.is_empty() {
        return one_of(forms.into_iter());
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds.first().and_then(Value::as_str),
        kind => kind.as_str(),
    };
    match kind {
        Some("integer") => match (schema["minimum"].as_u64(), schema["maximum"].as_u64()) {
            (Some(min), Some(max)) => format!("{min} to {max}"),
            _ => "a whole number".to_owned(),
        },
        Some("number") => "a number".to_owned(),
        Some("boolean") => "`true` or `false`".to_owned(),
        Some("string") => "a text".to_owned(),
        Some("array") if schema["maxItems"] == 0 => "an empty list".to_owned(),
        Some("array") => match schema.get("items").map(takes) {
            Some(items) => format!("a list, each {items}"),
            None => "a list".to_owned(),
        },
        Some("object") if schema["maxProperties"] == 0 => "an empty mapping".to_owned(),
        Some("object") => match schema.get("additionalProperties").filter(|of| of.is_object()) {
            Some(of) => format!("a mapping from names, each to {}", takes(of)),
            None => "a mapping".to_owned(),
        },
        _ => "any value".to_owned(),
    }
}

fn one_of(forms: impl Iterator<Item = String>) -> String {
    let mut forms: Vec<String> = forms.collect();
    match forms.pop() {
        Some(last) if !forms.is_empty() => format!("{} or {last}", forms.join(", ")),
        last => last.unwrap_or_default(),
    }
}

fn quoted(value: &Value) -> String {
    match value {
        Value::String(text) => format!("`{text}`"),
        value => format!("`{value}`"),
    }
}

fn default(schema: &Value) -> Option<String> {
    match schema.get("default")? {
        Value::Null | Value::Object(_) => None,
        Value::String(text) if text.is_empty() => None,
        value => Some(quoted(value)),
    }
}

fn default_sentence(schema: &Value) -> String {
    default(schema).map(|default| format!(" Default: {default}.")).unwrap_or_default()
}

/// Returns what a field means, in one line, with the meanings of its names.
fn sentence(schema: &Value) -> String {
    let description = |schema: &Value| {
        schema["description"]
            .as_str()
            .unwrap_or_default()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    let mut text = description(schema);
    for form in alternatives(schema) {
        if let (Some(name), meaning) = (form.get("const"), description(form))
            && !meaning.is_empty()
        {
            let _ = write!(text, " {}: {meaning}", quoted(name));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::registry::tests::registry;
    use super::*;

    #[test]
    fn the_reference_has_keys_of_every_kind() {
        let text = reference(&registry());
        for line in [
            "### `cluster`",
            "| `cluster.nodes` | 1 to 100000 | `20` | How many nodes there are, including those in `groups`. |",
            "| `scheduler.lazy.sleep` | a duration with a unit, such as 3s, 200ms, 10min or 1h 30min | `5s` | How long it sleeps. |",
            "| `workload.mix.types.NAME.class` | a text |  | The class that reports group them by; the type's name unless given. |",
            "| `record.events` | `true` or `false` | `false` | Every event, one a line; much. |",
        ] {
            assert!(text.lines().any(|other| other == line), "{line}\n{text}");
        }
        assert!(text.contains("`workload.jobs[].maps`"), "{text}");
        assert!(text.contains("`quirk`: As Hadoop does"), "{text}");
    }
}
