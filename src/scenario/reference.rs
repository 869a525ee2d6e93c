//! The reference: every key with its values, default and meaning. It is made from the JSON Schema,
//! so it cannot differ from what the reader accepts.

use std::fmt::Write as _;

use serde_json::Value;

use mumakil_base::units::tell::listed;
use mumakil_yaml::{each, only};

mod chapter;

/// The keys of a schema in its order, each before the keys inside it.
#[derive(Clone, Debug)]
pub struct Reference {
    entries: Vec<ReferenceEntry>,
}

/// A key with its values, default and meaning.
#[derive(Clone, Debug)]
struct ReferenceEntry {
    /// The path of the key: `cluster.groups[].count`, with `[]` for the entries of a list and
    /// `NAME` for a name that users choose.
    path: String,
    takes: String,
    default: Option<String>,
    about: String,
    /// The meanings of its named values.
    named: String,
}

impl ReferenceEntry {
    /// Returns the values that the key takes, and its default.
    fn values(&self) -> String {
        let default = self.default.as_ref().map(|it| format!("; default {it}")).unwrap_or_default();
        format!("{}{default}", self.takes)
    }
}

impl Reference {
    /// Returns the reference for a schema of scenarios or studies.
    pub fn of(schema: &Value) -> Self {
        let mut entries = Vec::new();
        for (key, inner) in fields(schema) {
            collect(key, key.to_owned(), inner, &Value::Null, &mut entries);
        }
        Self { entries }
    }

    /// Returns the part about one key: the key itself, then the keys inside it; `None` if there is no
    /// such key. A list may be written with or without an index, and any name matches `NAME`.
    pub fn part(&self, key: &str) -> Option<Self> {
        let wanted: Vec<&str> = steps(key).collect();
        let matching = self.entries.iter().filter(|entry| {
            let mut own = steps(&entry.path);
            wanted.iter().all(|step| own.next().is_some_and(|own| own == *step || own == "NAME"))
        });
        let entries: Vec<ReferenceEntry> = matching.cloned().collect();
        (!entries.is_empty()).then_some(Self { entries })
    }

    /// Returns each key: its path, its meaning and its values.
    pub fn keys(&self) -> impl Iterator<Item = (&str, String)> {
        self.entries.iter().map(|entry| {
            let gap = if entry.about.is_empty() { "" } else { " " };
            (&*entry.path, format!("{}{gap}Takes {}.", entry.about, entry.values()))
        })
    }

    /// Returns the first key, and a line for each key directly inside it: its name, the first sentence
    /// of its meaning, and the number of keys inside it.
    pub fn outline(&self) -> String {
        let head = Self { entries: self.entries[..1].to_vec() }.markdown();
        // The entries of a list and names that users choose are no level of their own.
        let level = |path: &str| steps(path).filter(|step| *step != "NAME").count();
        let top = level(&self.entries[0].path);
        let inside = (1..self.entries.len()).filter(|it| level(&self.entries[*it].path) == top + 1);
        inside.fold(head + "\n", |text, place| {
            let ReferenceEntry { path, takes, about, .. } = &self.entries[place];
            let name = path.rsplit('.').next().unwrap_or_default();
            let meaning = if about.is_empty() { takes } else { about };
            let first = meaning.split(". ").next().unwrap_or_default().trim_end_matches('.');
            let more = match self.tree(place).len() - 1 {
                0 => String::new(),
                keys => format!(" ({keys} inside)"),
            };
            text + &format!("  {name:18} {first}{more}\n")
        })
    }

    /// Returns the reference as Markdown: a section for each top-level key, a list item for each
    /// other key.
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        let mut is_below_heading = false;
        let mut place = 0;
        while let Some(entry) = self.entries.get(place) {
            let ReferenceEntry { path, about, named, .. } = entry;
            if let Some(other) = self.described(place, LONG) {
                let _ = writeln!(text, "- **`{path}`**: as `{}`", self.entries[other].path);
                place += self.tree(place).len();
                is_below_heading = false;
                continue;
            }
            let takes = entry.values();
            // The first key of a part is always a heading.
            let is_heading = place == 0 || !path.contains(['.', '[']);
            if 0 < place && (is_heading || is_below_heading) {
                text.push('\n');
            }
            let _ = if is_heading {
                writeln!(text, "## `{path}`\n\n{about}{named}\n\nTakes {takes}.")
            } else {
                let gap = if about.is_empty() { "" } else { "\\\n  " };
                writeln!(text, "- **`{path}`**: {takes}{gap}{about}{named}")
            };
            is_below_heading = is_heading;
            place += 1;
        }
        text
    }

    /// Returns a key and the keys inside it.
    fn tree(&self, place: usize) -> &[ReferenceEntry] {
        let (key, below) = self.entries[place..].split_first().expect("there is such a place");
        let rests = below.iter().map_while(|entry| entry.path.strip_prefix(&key.path));
        let inside = rests.take_while(|rest| rest.starts_with(['.', '['])).count();
        &self.entries[place..=place + inside]
    }

    /// Returns the first earlier key that is described exactly like this key, including the keys
    /// inside; `None` if there is none, or if the description has at most so many words.
    fn described(&self, place: usize, most: usize) -> Option<usize> {
        let tree = self.tree(place);
        let words = |it: &ReferenceEntry| it.about.split(' ').count() + it.named.split(' ').count();
        if tree.iter().map(words).sum::<usize>() <= most {
            return None;
        }
        let name = |place: usize| self.entries[place].path.rsplit('.').next();
        // Few keys have the name, and only these are compared with all that is inside them.
        (0..place).filter(|&other| name(other) == name(place)).find(|&other| {
            let others = self.tree(other);
            others.len() == tree.len()
                && others.iter().zip(tree).all(|(other, own)| {
                    let [of, to] = [&others[0], &tree[0]].map(|it| it.path.len());
                    (&other.path[of..], &other.takes, &other.default, &other.about, &other.named)
                        == (&own.path[to..], &own.takes, &own.default, &own.about, &own.named)
                })
        })
    }
}

/// The largest number of words that is repeated: those about a key and the keys inside it. Chosen:
/// about a line of text.
const LONG: usize = 12;

/// Adds a key and the keys inside it. `of_inside` has the conditions that an enclosing key sets for
/// the keys inside it.
fn collect(
    key: &str,
    path: String,
    schema: &Value,
    of_inside: &Value,
    entries: &mut Vec<ReferenceEntry>,
) {
    let condition = of_inside.get(key).unwrap_or(&schema["x-only-if"]);
    // A key that occurs in several forms of the same value, such as a name or a mapping, is listed
    // once.
    if !entries.iter().any(|entry| entry.path == path) {
        let (takes, default) = (takes(schema), default(schema));
        let (about, named) = (sentence(schema, condition), meanings(schema));
        entries.push(ReferenceEntry { path: path.clone(), takes, default, about, named });
    }
    inside(&path, schema, condition.get("inside").unwrap_or(of_inside), entries);
}

fn inside(path: &str, schema: &Value, of_inside: &Value, entries: &mut Vec<ReferenceEntry>) {
    // A title describes the whole value; the forms below it are only for editors.
    if schema.get("title").is_some() {
        return;
    }
    for (key, inner) in fields(schema) {
        collect(key, format!("{path}.{key}"), inner, of_inside, entries);
    }
    for inner in alternatives(schema) {
        inside(path, inner, of_inside, entries);
    }
    if let Some(items) = schema.get("items") {
        inside(&format!("{path}[]"), items, of_inside, entries);
    }
    if let Some(named) = schema.get("additionalProperties").filter(|of| of.is_object()) {
        inside(&format!("{path}.NAME"), named, of_inside, entries);
    }
}

/// Returns the names in a path, without list indices: `workload`, `jobs`, `maps` of
/// `workload.jobs[0].maps`.
fn steps(path: &str) -> impl Iterator<Item = &str> {
    path.split('.').map(|step| step.split_once('[').map_or(step, |(name, _)| name))
}

fn fields(schema: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let fields = schema.get("properties").and_then(Value::as_object);
    fields.into_iter().flatten().map(|(key, inner)| (key.as_str(), inner))
}

/// Returns the forms that a value may have, without `null`.
fn alternatives(schema: &Value) -> impl Iterator<Item = &Value> {
    let of = |word: &str| schema.get(word).and_then(Value::as_array).into_iter().flatten();
    of("anyOf").chain(of("oneOf")).filter(|inner| inner["type"] != "null")
}

/// Returns the values that a schema allows, in a few words.
fn takes(schema: &Value) -> String {
    if let Some(title) = schema["title"].as_str() {
        return title.to_owned();
    }
    if let Some(names) = schema["enum"].as_array() {
        return listed(names.iter().filter(|name| !name.is_null()).map(quoted), "or");
    }
    if let Some(name) = schema.get("const") {
        return quoted(name);
    }
    let mut forms: Vec<String> = alternatives(schema).map(takes).collect();
    // Two forms may have the same words; schemas list such forms next to each other.
    forms.dedup();
    if !forms.is_empty() {
        return listed(forms, "or");
    }
    let kind = match &schema["type"] {
        // `["integer", "null"]` is an optional integer.
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
        Some("null") => "no options".to_owned(),
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

fn quoted(value: &Value) -> String {
    match value {
        Value::String(text) => format!("`{text}`"),
        value => format!("`{value}`"),
    }
}

fn default(schema: &Value) -> Option<String> {
    match schema.get("default")? {
        // The fields of a mapping have their own defaults.
        Value::Null | Value::Object(_) => None,
        Value::String(text) if text.is_empty() => None,
        value => Some(quoted(value)),
    }
}

/// Returns the description in one line.
fn description(schema: &Value) -> String {
    let text = schema["description"].as_str().unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns one line: the meaning of a field, and the condition for its effect.
fn sentence(schema: &Value, condition: &Value) -> String {
    let mut text = description(schema);
    // A condition on fields inside is printed with these fields.
    let outer = each(condition).filter(|of| of.is_object() && of.get("inside").is_none());
    let conditions: Vec<String> = outer.map(only).collect();
    if !conditions.is_empty() {
        let _ = write!(text, " It matters only {}.", conditions.join(", and only "));
    }
    text
}

/// Returns the meanings of the named values of a field, each after a blank.
fn meanings(schema: &Value) -> String {
    let told =
        constants(schema).into_iter().map(|form| (quoted(&form["const"]), description(form)));
    told.filter(|(_, it)| !it.is_empty()).map(|(name, it)| format!(" {name}: {it}")).collect()
}

/// Returns the forms that are one named value each, also those of a value that may be left out.
fn constants(schema: &Value) -> Vec<&Value> {
    let forms = alternatives(schema).flat_map(|form| match form.get("const") {
        Some(_) => vec![form],
        None => constants(form),
    });
    forms.collect()
}

#[cfg(test)]
mod tests {
    use super::super::registry::tests::registry;
    use super::super::schema;
    use super::*;

    fn reference() -> Reference {
        Reference::of(&schema(&registry()))
    }

    #[test]
    fn the_reference_has_keys_of_every_kind() {
        let text = reference().markdown();
        for line in [
            "## `cluster`",
            "- **`cluster.nodes`**: 1 to 100000; default `20`\\",
            "  How many nodes there are, including those in `groups`. It matters only without \
             `cluster.topology`, and only without `workload.rumen.topology`, and only without \
             `workload.sls.nodes`.",
            "- **`scheduler.lazy.sleep`**: a duration with a unit, such as 3s, 200ms, 10min or 1h 30min; default `5s`\\",
            "- **`workload.mix.types.NAME.class`**: a text\\",
            "- **`record.events`**: `true` or `false`; default `false`\\",
        ] {
            assert!(text.lines().any(|other| other == line), "{line}\n{text}");
        }
        assert!(text.contains("`workload.jobs[].maps`"), "{text}");
        assert!(text.contains("`quirk`: As in Hadoop"), "{text}");
    }

    #[test]
    fn a_part_is_a_key_and_what_is_inside_it() {
        let text = reference().part("cluster.hdfs").unwrap().markdown();
        assert!(text.starts_with("## `cluster.hdfs`\n"), "{text}");
        assert!(
            text.contains("`cluster.hdfs.block`") && !text.contains("`cluster.nodes`"),
            "{text}"
        );
    }

    #[test]
    fn a_part_is_found_by_the_path_that_a_scenario_has() {
        for (asked, found) in [
            ("workload.jobs[3].maps", "## `workload.jobs[].maps`\n"),
            ("workload.jobs.maps", "## `workload.jobs[].maps`\n"),
            ("workload.mix.types.query.class", "## `workload.mix.types.NAME.class`\n"),
        ] {
            let text = reference().part(asked).unwrap().markdown();
            assert!(text.starts_with(found), "{asked}: {text}");
        }
    }

    #[test]
    fn an_outline_has_a_line_for_each_key_of_its_level() {
        let outline = reference().part("cluster.groups").unwrap().outline();
        let lines: Vec<&str> = outline.lines().collect();
        assert_eq!(lines[0], "## `cluster.groups`");
        assert!(outline.contains("\n  count ") && !outline.contains(".count"), "{outline}");
        assert!(reference().part("colour").is_none());
    }
}
