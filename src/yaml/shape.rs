//! The shape of a tree, read from the JSON Schema of the type that it becomes.
//!
//! ```text
//! seed: 5                   a scalar needs no shape: it is replaced
//! cluster: {nodes: 4}       a struct: known fields, merged key by key
//! pools: {prod: {…}}        a map: free names, merged key by key
//! scheduler: {fair: {…}}    a choice: one name; another name replaces it with all its options
//! jobs: [{…}]               a list is replaced; its entries have a shape
//! ```
//!
//! The three mappings look alike in YAML, and only the shape tells them apart.
//!
//! Making a schema takes longer than a small run, so the shapes of our own types are stored as
//! text.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use indexmap::IndexMap;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use serde_yaml::{Mapping, Value};

use super::path::{Path, PathStep};

pub(super) mod kept;

/// The shape of a node: which values it may have.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TreeShape {
    /// The meaning of a mapping here.
    #[serde(skip_serializing_if = "MappingForm::is_free")]
    pub(super) form: MappingForm,
    /// The shape of a list's entries; `None` if the node may not be a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) items: Option<Arc<Self>>,
}

/// A shape that is made at its first use: a file uses only few of the possible choices.
pub type LateShape = Arc<LazyLock<TreeShape, Box<dyn FnOnce() -> TreeShape + Send>>>;

/// The meaning of a mapping.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum MappingForm {
    /// No known keys: either the value may not be a mapping, or any mapping is allowed.
    #[default]
    Free,
    /// Known fields.
    Struct {
        fields: IndexMap<String, Arc<TreeShape>>,
        /// The conditions under which some fields have an effect, by field; see `only_if`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        only_if: Option<Box<IndexMap<String, Json>>>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        required: Vec<String>,
        /// The field that a bare value stands for: `ec2-100` is `{preset: ec2-100}`. This field
        /// names the subject of the other fields, which have no meaning without it.
        #[serde(skip_serializing_if = "Option::is_none")]
        named_by: Option<String>,
        /// The choice beside the fields; `None` without one.
        #[serde(skip_serializing_if = "Option::is_none")]
        beside: Option<SideChoice>,
    },
    /// Free names, all with values of one shape.
    Map(Arc<TreeShape>),
    /// One of these names, with its options if it has any; `may_be_other` allows unknown names.
    Choice {
        names: IndexMap<String, Option<Arc<TreeShape>>>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        may_be_other: bool,
    },
    /// A shape that [`TreeShape::made`] looks up.
    #[serde(skip)]
    Late(LateShape),
    /// In a stored text: the shape of the line with this name.
    Kept(String),
}

impl MappingForm {
    fn is_free(&self) -> bool {
        matches!(self, Self::Free)
    }
}

/// A choice beside the fields of a struct: one name, known or unknown, with its options. Any key
/// that is no field is such a name.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct SideChoice {
    pub(super) names: IndexMap<String, Arc<TreeShape>>,
    /// The choice that each preset brings, by the preset's name.
    pub(super) brought: IndexMap<String, String>,
}

/// The shape of an unknown value.
static FREE: TreeShape = TreeShape { form: MappingForm::Free, items: None };

impl TreeShape {
    /// Returns the shape of a type.
    pub fn of_type<T: JsonSchema>() -> Self {
        // This generator defines each type once, which is faster than inlining all types.
        let schemas = SchemaSettings::draft2020_12().into_generator();
        Self::of(schemas.into_root_schema_for::<T>().as_value())
    }

    /// Reads the shape of a type from its schema, in which references may stand for types.
    pub fn of(schema: &Json) -> Self {
        let mut reader = SchemaReader { root: schema, types: IndexMap::new() };
        Arc::unwrap_or_clone(reader.shape(schema))
    }

    /// Returns the shape of the node at a path.
    pub fn at(&self, path: &Path) -> &Self {
        path.0.iter().fold(self, |shape, step| match step {
            PathStep::Key(key) => shape.key(key),
            PathStep::Index(_) => shape.entry().unwrap_or(&FREE),
        })
    }

    /// Returns the shape of the value of a key.
    pub(super) fn key(&self, key: &str) -> &Self {
        let inner = match &self.form {
            MappingForm::Free | MappingForm::Late(_) | MappingForm::Kept(_) => None,
            MappingForm::Struct { fields, beside, .. } => {
                fields.get(key).or_else(|| beside.as_ref()?.names.get(key))
            }
            MappingForm::Map(value) => Some(value),
            MappingForm::Choice { names, .. } => names.get(key).and_then(Option::as_ref),
        };
        inner.map_or(&FREE, |inner| inner.made())
    }

    /// Returns this shape; for a late one, the shape that it stands for, made at the first call.
    fn made(&self) -> &Self {
        match &self.form {
            MappingForm::Late(shape) => shape,
            _ => self,
        }
    }

    /// Returns the condition under which a field has an effect; `None` if it always has one.
    pub(super) fn only_if(&self, field: &str) -> Option<&Json> {
        let MappingForm::Struct { only_if, .. } = &self.form else { return None };
        only_if.as_ref()?.get(field)
    }

    /// Returns whether a key is a field here.
    pub(super) fn has_field(&self, key: &str) -> bool {
        matches!(&self.form, MappingForm::Struct { fields, .. } if fields.contains_key(key))
    }

    /// Returns the shape of the entries of a list; `None` if the node may not be a list.
    pub(super) fn entry(&self) -> Option<&Self> {
        self.items.as_deref().map(Self::made)
    }

    /// Returns whether nothing is known about the node.
    pub(super) fn is_plain(&self) -> bool {
        self.form.is_free() && self.items.is_none()
    }

    /// Returns whether a value may stand at a path, by the names on the way.
    pub fn has(&self, path: &Path) -> bool {
        let mut shape = self;
        path.0.iter().all(|step| {
            let inner = shape.at(&Path(vec![step.clone()]));
            let around = std::mem::replace(&mut shape, inner);
            match (step, &around.form) {
                (PathStep::Key(_), MappingForm::Map(_)) => true,
                (PathStep::Key(key), _) => around.names().contains(&key.as_str()),
                (PathStep::Index(_), _) => around.entry().is_some(),
            }
        })
    }

    /// Returns whether a key names the subject of the other fields, and so replaces all of them.
    pub fn is_named_by(&self, key: &str) -> bool {
        matches!(&self.form, MappingForm::Struct { named_by: Some(field), .. } if field == key)
    }

    /// Returns the names that are known at this node: of fields or of choices.
    pub fn names(&self) -> Vec<&str> {
        match &self.form {
            MappingForm::Struct { fields, beside, .. } => {
                let chosen = beside.iter().flat_map(|beside| beside.names.keys());
                fields.keys().chain(chosen).map(String::as_str).collect()
            }
            MappingForm::Choice { names, .. } => names.keys().map(String::as_str).collect(),
            MappingForm::Free
            | MappingForm::Map(_)
            | MappingForm::Late(_)
            | MappingForm::Kept(_) => Vec::new(),
        }
    }

    /// Returns the key that begins at a step of a path, and how many further steps belong to it. A
    /// path is split at its points, but some names contain points and so span several steps. A name
    /// that is known by itself takes no further steps.
    pub(super) fn whole_name<'s>(
        &self,
        key: &'s str,
        behind: &[PathStep],
    ) -> (Cow<'s, str>, usize) {
        // The last step cannot be the beginning of a longer name.
        let names = if behind.is_empty() { Vec::new() } else { self.names() };
        let mut whole = key.to_owned();
        for (more, step) in (1..).zip(behind) {
            let PathStep::Key(part) = step else { break };
            whole = format!("{whole}.{part}");
            if !names.contains(&key) && names.contains(&whole.as_str()) {
                return (whole.into(), more);
            }
        }
        (key.into(), 0)
    }

    /// Returns a path in which every known name is one key.
    pub fn named(&self, path: &Path) -> Path {
        let (mut at, mut steps) = (Path::default(), &path.0[..]);
        while let Some((step, behind)) = steps.split_first() {
            steps = behind;
            at = match step {
                PathStep::Index(index) => at.index(*index),
                PathStep::Key(key) => {
                    let (key, more) = self.at(&at).whole_name(key, behind);
                    steps = &behind[more..];
                    at.key(&key)
                }
            };
        }
        at
    }

    /// Returns the first option that a name of a choice requires; `None` if it requires none.
    pub(super) fn needed_option(&self, name: &str) -> Option<&str> {
        self.key(name).required().first().map(String::as_str)
    }

    /// Returns advice where a misplaced key belongs; `around` is the mapping in which it stands.
    pub fn advice(&self, key: &str, around: &Path) -> Option<String> {
        if let Some((key, value)) = key.split_once(':') {
            return Some(format!("put a space after the colon: `{key}: {value}`"));
        }
        if let Some((outer, inner)) = key.split_once('.')
            && self.at(around).key(outer).has_field(inner)
        {
            return Some(format!("write `{outer}: {{{inner}: …}}`"));
        }
        Some(match self.home_of(key, around)? {
            home if home.is_empty() => format!("`{key}` belongs at the top, in the first column"),
            home => format!("`{key}` belongs in `{home}`"),
        })
    }

    /// Returns the mapping that knows a key. If several know it, returns the one nearest to
    /// `around`, the mapping in which the key was written. `None` if no mapping knows the key, or
    /// if two are equally near.
    fn home_of(&self, key: &str, around: &Path) -> Option<String> {
        let mut homes = Vec::new();
        self.visit_homes(key, &mut Vec::new(), &mut homes);
        let steps = around.0.iter().filter_map(|step| match step {
            PathStep::Key(key) => Some(key.as_str()),
            PathStep::Index(_) => None,
        });
        let own: Vec<&str> = steps.collect();
        let distance = |home: &Vec<(&str, bool)>| {
            let shared = home.iter().zip(&own).take_while(|((home, _), own)| home == *own).count();
            home.len() + own.len() - 2 * shared
        };
        let least = homes.iter().map(distance).min()?;
        let mut nearest = homes.iter().filter(|home| distance(home) == least);
        let home = nearest.next().filter(|_| nearest.next().is_none())?;
        let steps =
            home.iter().map(|(key, is_list)| format!("{key}{}", if *is_list { "[…]" } else { "" }));
        Some(steps.collect::<Vec<_>>().join("."))
    }

    /// Collects the mappings that know a key. Each is given by the keys on the way; a flag after
    /// each key says whether the way enters a list there.
    fn visit_homes<'s>(
        &'s self,
        key: &str,
        at: &mut Vec<(&'s str, bool)>,
        homes: &mut Vec<Vec<(&'s str, bool)>>,
    ) {
        let knows = match &self.form {
            // A name without options is a value.
            MappingForm::Choice { names, .. } => names.get(key).is_some_and(Option::is_some),
            _ => self.names().contains(&key),
        };
        if knows {
            homes.push(at.clone());
        }
        for name in self.names() {
            let inner = self.key(name);
            for (shape, is_list) in [(Some(inner), false), (inner.entry(), true)] {
                at.push((name, is_list));
                shape.into_iter().for_each(|shape| shape.visit_homes(key, at, homes));
                at.pop();
            }
        }
    }

    /// Returns whether one value or one name stands here, and neither a mapping nor a list.
    pub fn is_single(&self) -> bool {
        matches!(self.form, MappingForm::Free | MappingForm::Choice { .. }) && self.items.is_none()
    }

    pub(super) fn is_choice(&self) -> bool {
        matches!(self.form, MappingForm::Choice { .. })
    }

    /// Returns whether a key is no field but a name of the choice beside the fields.
    pub(super) fn is_beside(&self, key: &Value) -> bool {
        matches!(&self.form, MappingForm::Struct { beside: Some(_), .. })
            && !key.as_str().is_some_and(|key| self.has_field(key))
    }

    /// Returns the names that a mapping chooses beside its fields.
    pub(super) fn chosen(&self, map: &Mapping) -> Vec<Value> {
        let chosen = map.iter().filter(|(key, value)| self.is_beside(key) && !value.is_null());
        chosen.map(|(key, _)| key.clone()).collect()
    }

    /// Returns a choice that a mapping makes against its preset, and the preset's own choice;
    /// `None` if one of them is missing, or if the mapping changes or removes the preset's choice.
    pub fn contradiction(&self, map: &Mapping) -> Option<(Value, &str)> {
        let brought = self.chosen_by_name(self.name_of(map)?.1)?;
        let own = self.chosen(map).into_iter().next().filter(|_| !map.contains_key(brought))?;
        Some((own, brought))
    }

    /// Returns the field that names the subject of a mapping, and its value; `None` if the mapping
    /// has none.
    pub(super) fn name_of<'v>(&self, map: &'v Mapping) -> Option<(&str, &'v Value)> {
        let MappingForm::Struct { named_by: Some(field), .. } = &self.form else { return None };
        let name = map.get(field.as_str()).filter(|name| !name.is_null())?;
        Some((field, name))
    }

    /// Returns the choice beside the fields that a name of the struct implies.
    pub(super) fn chosen_by_name(&self, name: &Value) -> Option<&str> {
        let MappingForm::Struct { beside: Some(beside), .. } = &self.form else { return None };
        beside.brought.get(name.as_str()?).map(String::as_str)
    }

    /// Returns a field to begin a mapping with: for a list, a field that takes a list; otherwise a
    /// required field, or else the first.
    pub(super) fn field_for(&self, is_list: bool) -> Option<&str> {
        let MappingForm::Struct { fields, .. } = &self.form else { return None };
        let of_list =
            fields.iter().filter(|_| is_list).find_map(|(name, inner)| inner.entry().map(|_| name));
        of_list.or(self.required().first()).or(fields.keys().next()).map(String::as_str)
    }

    fn required(&self) -> &[String] {
        match &self.form {
            MappingForm::Struct { required, .. } => required,
            _ => &[],
        }
    }

    /// Returns the name in a value: the chosen name, or the value of the field that names the
    /// struct; `None` if the value has no name.
    pub(super) fn name_in<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        match (&self.form, value) {
            (MappingForm::Choice { .. }, Value::Mapping(map)) if map.len() == 1 => {
                map.keys().next()
            }
            (MappingForm::Choice { names, may_be_other }, Value::String(name)) => {
                (*may_be_other || names.contains_key(name)).then_some(value)
            }
            (MappingForm::Struct { .. }, Value::Mapping(map)) => {
                self.name_of(map).map(|(_, name)| name)
            }
            (
                MappingForm::Struct { named_by: Some(_), .. },
                Value::String(_) | Value::Number(_),
            ) => Some(value),
            _ => None,
        }
    }

    /// Returns whether `over` is merged key by key with `under`; if not, `over` replaces `under`.
    pub(super) fn merges(&self, under: &Value, over: &Value) -> bool {
        let name = self.name_in(over);
        match &self.form {
            MappingForm::Choice { .. } => name.is_some() && name == self.name_in(under),
            // A named preset is the subject of all the other fields, so the mapping begins anew
            // with it.
            _ if name.is_some() => false,
            _ => over.is_mapping() && (under.is_mapping() || self.name_in(under).is_some()),
        }
    }

    /// Replaces a bare value by the mapping that it stands for.
    pub(super) fn lengthen(&self, value: &mut Value) {
        let (key, inner) = match (&self.form, self.name_in(value)) {
            (_, None) => return,
            (_, Some(_)) if value.is_mapping() => return,
            (MappingForm::Struct { named_by: Some(field), .. }, Some(name)) => {
                (Value::from(field.as_str()), name.clone())
            }
            (_, Some(name)) => (name.clone(), Mapping::new().into()),
        };
        *value = Mapping::from_iter([(key, inner)]).into();
    }

    /// Returns the settings of `under` that are lost if `over` replaces it, as paths inside
    /// `under`. Required settings are left out: they are the value itself, which the user replaces
    /// on purpose.
    pub(super) fn settings_lost(&self, under: &Value, over: &Value) -> Vec<Path> {
        let mapping = |value: &Value| value.as_mapping().cloned().unwrap_or_default();
        let (at, shape, gone, stays) = match (&self.form, self.name_in(under), self.name_in(over)) {
            (MappingForm::Choice { .. }, Some(Value::String(name)), Some(_)) => {
                let options = |of: &Value| of.get(name).map(mapping).unwrap_or_default();
                (Path::default().key(name), self.key(name), options(under), options(over))
            }
            (MappingForm::Struct { .. }, _, _) if under.is_mapping() => {
                (Path::default(), self, mapping(under), mapping(over))
            }
            // For example, the name of a file, which a mapping with the file's content replaces.
            (MappingForm::Struct { named_by: None, .. }, _, _)
                if over.is_mapping() && !under.is_null() =>
            {
                return vec![Path::default()];
            }
            _ => return Vec::new(),
        };
        let is_asked_for = |key: &String| {
            shape.required().contains(key)
                || matches!(&shape.form, MappingForm::Struct { named_by: Some(name), .. } if name == key)
        };
        let lost = gone.iter().filter(|(key, value)| !value.is_null() && !stays.contains_key(*key));
        let keys = lost.filter_map(|(key, _)| key.as_str().map(str::to_owned));
        keys.filter(|key| !is_asked_for(key)).map(|key| at.key(&key)).collect()
    }
}

/// Reads shapes out of a schema, each type once.
struct SchemaReader<'s> {
    root: &'s Json,
    types: IndexMap<&'s str, Arc<TreeShape>>,
}

impl<'s> SchemaReader<'s> {
    fn shape(&mut self, schema: &'s Json) -> Arc<TreeShape> {
        if let Some(reference) = schema["$ref"].as_str() {
            return self.named(reference);
        }
        let mut shape = TreeShape::default();
        if let Some(names) = schema["oneOf"].as_array().and_then(|forms| self.choice(forms)) {
            shape.form = MappingForm::Choice { names, may_be_other: false };
        } else if let Some(fields) = schema["properties"].as_object() {
            let conditions: IndexMap<String, Json> = fields
                .iter()
                .filter_map(|(key, inner)| Some((key.clone(), inner.get("x-only-if")?.clone())))
                .collect();
            let only_if = (!conditions.is_empty()).then(|| Box::new(conditions));
            let fields =
                fields.iter().map(|(key, inner)| (key.clone(), self.shape(inner))).collect();
            let required = strings(&schema["required"]).map(str::to_owned).collect();
            shape.form =
                MappingForm::Struct { fields, only_if, required, named_by: None, beside: None };
        } else if schema["additionalProperties"].is_object() {
            shape.form = MappingForm::Map(self.shape(&schema["additionalProperties"]));
        }
        if schema["items"].is_object() {
            shape.items = Some(self.shape(&schema["items"]));
        }
        // Of several forms at most one is a mapping and at most one a list.
        let forms = ["anyOf", "allOf"].map(|word| schema[word].as_array());
        for form in forms.into_iter().flatten().flatten() {
            let inner = self.shape(form);
            if !inner.form.is_free() {
                shape.form = inner.form.clone();
            }
            shape.items = inner.items.clone().or(shape.items);
        }
        // A struct with one required field that may also be a bare text: the text is the value of
        // that field.
        if let MappingForm::Struct { required, named_by, .. } = &mut shape.form
            && let [field] = &required[..]
            && forms_of(schema).any(|form| form["type"] == "string")
        {
            *named_by = Some(field.clone());
        }
        Arc::new(shape)
    }

    fn named(&mut self, reference: &'s str) -> Arc<TreeShape> {
        if let Some(known) = self.types.get(reference) {
            return Arc::clone(known);
        }
        // A type that contains itself (a pool with pools) finds this empty shape among the types,
        // which ends the recursion.
        self.types.insert(reference, Arc::default());
        let schema = self.root.pointer(reference.trim_start_matches('#'));
        let shape = self.shape(schema.expect("references lead to types of the same schema"));
        self.types.insert(reference, Arc::clone(&shape));
        shape
    }

    /// Returns the names of a choice; `None` if these forms are not a choice.
    fn choice(&mut self, forms: &'s [Json]) -> Option<IndexMap<String, Option<Arc<TreeShape>>>> {
        let mut names = IndexMap::new();
        for form in forms {
            let bare = strings(&form["enum"]).chain(form["const"].as_str());
            names.extend(bare.map(|name| (name.to_owned(), None)));
            for (name, options) in form["properties"].as_object().into_iter().flatten() {
                names.insert(name.clone(), Some(self.shape(options)));
            }
        }
        (!names.is_empty()).then_some(names)
    }
}

fn forms_of(schema: &Json) -> impl Iterator<Item = &Json> {
    schema["anyOf"].as_array().into_iter().flatten()
}

fn strings(list: &Json) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Json::as_str)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn forms_of_mappings_are_told_apart() {
        let shape = TreeShape::of(&json!({
            "properties": {
                "one": { "$ref": "#/$defs/Time" },
                "named": { "additionalProperties": { "properties": { "x": {} } } },
                "file": { "anyOf": [{ "type": "string" }, { "$ref": "#/$defs/File" }] },
                "jobs": { "type": "array", "items": { "$ref": "#/$defs/File" } },
            },
            "$defs": {
                "Time": { "anyOf": [{ "type": "string" }, { "oneOf": [
                    { "enum": ["never"] },
                    { "properties": { "after": {
                        "properties": { "time": {}, "most": {} }, "required": ["time"],
                    } } },
                ] }] },
                "File": { "properties": { "path": {}, "hash": {} }, "required": ["path"] },
            },
        }));
        let at = |path: &str| shape.at(&Path::of(path));
        assert_eq!(at("one").names(), ["never", "after"]);
        assert_eq!(at("one").needed_option("after"), Some("time"));
        assert_eq!(at("named.any").names(), ["x"]);
        assert_eq!(at("jobs[3]").names(), ["path", "hash"]);
        assert_eq!(at("nowhere.to.be[0].found").names(), [""; 0]);
        let mut file = Value::from("x.json");
        at("file").lengthen(&mut file);
        assert_eq!(file, serde_yaml::from_str::<Value>("path: x.json").unwrap());
    }
}
