//! Settings that have an effect only under a condition: the schema declares the condition of a
//! field as `x-only-if`.
//!
//! ```json
//! {"hadoop.setup_cleanup": true, "hadoop.task_cleanup": true}
//! ```
//! At least one of the entries must hold. A path begins at the innermost mapping around the field
//! that may have the path's first key.
//!
//! | written | holds if the value at the path |
//! |---|---|
//! | `"shared"`, `true` | equals it |
//! | `null` | is missing |
//! | `{"not": null}` | exists |
//! | `{"not": "none"}` | exists and differs |
//! | `{"not": 0}` | exists and is not zero: neither `0` nor `0s` or `0B` |
//! | `[null, "eager"]` | is one of these |
//!
//! A key with spaces is a fact in words: it is not in the tree, and the caller knows whether it
//! holds. In a list of conditions all must hold. `{"inside": {"order": CONDITION}}` is a condition
//! of the fields inside, for a type that several fields share.

use serde_json::Value as Json;
use serde_yaml::{Mapping, Value};

use super::path::{Path, PathStep};
use super::shape::{MappingForm, TreeShape};
use mumakil_base::units::tell::listed;

/// A setting that the user wrote and that has an effect only under a condition.
#[derive(Clone, Debug)]
pub struct ConditionalSetting<'s> {
    /// The path of the setting; if several entries of a list have it, the path in the first of
    /// them.
    pub path: Path,
    /// How many other entries have the same setting.
    others: usize,
    /// Its condition; of several conditions, the first that does not hold.
    condition: &'s Json,
    holds: bool,
}

impl<'s> ConditionalSetting<'s> {
    /// Returns the conditional settings in a tree at a path that the user wrote; `is_said` tells
    /// whether the user wrote a setting. Parts that users can extend, such as policies with their
    /// options, are not searched: they are trees of their own. For such a part, `outside` is the
    /// mapping around it with its shape, in which paths of conditions may begin.
    pub fn find(
        shape: &'s TreeShape,
        tree: &Value,
        at: Path,
        outside: Option<(&'s TreeShape, &Mapping)>,
        is_said: impl Fn(&Path, &Value) -> bool,
    ) -> Vec<Self> {
        let around = outside.into_iter().collect();
        let mut finder = Finder { is_said, around, path: at, found: Vec::new() };
        finder.visit(shape, tree, None);
        finder.found
    }

    /// Returns whether the setting has an effect; `is_fact` tells which facts hold.
    pub fn matters(&self, is_fact: impl Fn(&str) -> bool) -> bool {
        let mut keys = self.condition.as_object().into_iter().flat_map(|of| of.keys());
        self.holds || keys.any(|key| is_fact(key))
    }

    /// Returns the warning that the setting has no effect; `of` is ` of` and the setting's owner,
    /// or empty.
    pub fn warning(&self, of: &str) -> String {
        let others = match self.others {
            0 => String::new(),
            others => format!(" (and {others} more)"),
        };
        let (path, only) = (&self.path, only(self.condition));
        format!(
            "`{path}`{others}{of} has no effect: it has one only {only}; change that, or leave it out"
        )
    }
}

/// Returns the words of a condition, such as "with `model: shared`".
pub fn only(condition: &Json) -> String {
    let quoted = |value: &Json| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let fields = condition.as_object().into_iter().flatten();
    let wanted = fields.flat_map(|(key, wanted)| each(wanted).map(move |wanted| (key, wanted)));
    let all = wanted.map(|(key, wanted)| match wanted {
        _ if key.contains(' ') => format!("with {key}"),
        Json::Null => format!("without `{key}`"),
        Json::Object(other) if [Json::Null, 0.into()].contains(&other["not"]) => {
            format!("with `{key}`")
        }
        Json::Object(other) => format!("with `{key}` other than `{}`", quoted(&other["not"])),
        wanted => format!("with `{key}: {}`", quoted(wanted)),
    });
    listed(all, "or")
}

/// Returns the entries of a list, or the value itself if it is no list.
pub fn each(value: &Json) -> impl Iterator<Item = &Json> {
    value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice).iter()
}

/// A walk through a tree.
struct Finder<'s, 'v, F> {
    is_said: F,
    /// The mappings around the present node, from the outermost.
    around: Vec<(&'s TreeShape, &'v Mapping)>,
    path: Path,
    found: Vec<ConditionalSetting<'s>>,
}

impl<'s, 'v, F: Fn(&Path, &Value) -> bool> Finder<'s, 'v, F> {
    /// Visits the values inside a value; `of_inside` holds the conditions on them that a field
    /// around them declares.
    fn visit(&mut self, shape: &'s TreeShape, value: &'v Value, of_inside: Option<&'s Json>) {
        match (&shape.form, value) {
            (_, Value::Sequence(list)) => {
                let Some(items) = shape.entry().filter(|items| !items.is_plain()) else { return };
                for (number, entry) in list.iter().enumerate() {
                    self.path.0.push(PathStep::Index(number));
                    self.visit(items, entry, of_inside);
                    self.path.0.pop();
                }
            }
            // The options of a policy are walked with the registry's shape of that policy.
            (MappingForm::Choice { may_be_other: true, .. }, _) => {}
            (_, Value::Mapping(map)) => {
                self.around.push((shape, map));
                for (key, value) in map {
                    let is_field = !value.is_null() && !shape.is_beside(key);
                    if let Some(key) = key.as_str().filter(|_| is_field) {
                        self.field(shape, key, value, of_inside);
                    }
                }
                self.around.pop();
            }
            _ => {}
        }
    }

    fn field(
        &mut self,
        around: &'s TreeShape,
        key: &str,
        value: &'v Value,
        of_inside: Option<&'s Json>,
    ) {
        let is_map = |shape: &TreeShape| matches!(shape.form, MappingForm::Map(_));
        let inside = of_inside.filter(|_| !is_map(around)).and_then(|of| of.get(key));
        let condition = inside.or_else(|| around.only_if(key));
        let mut inner = around.key(key);
        if inner.is_plain() && value.is_mapping() {
            // A type inside itself is not followed: pools in a pool have the shape of the outer
            // pools.
            let mut same = self.around.iter().rev().map(|(around, _)| around.key(key));
            inner = same.find(|same| is_map(same)).unwrap_or(inner);
        }
        if inner.is_plain() && condition.is_none() {
            return;
        }
        self.path.0.push(PathStep::Key(key.to_owned()));
        let of_inner = condition.and_then(|of| of.get("inside"));
        if let Some(condition) = condition.filter(|_| of_inner.is_none())
            && (self.is_said)(&self.path, value)
        {
            // Of several conditions all must hold; a warning names the first that does not.
            let unmet = each(condition).find(|condition| !self.holds(condition));
            self.note(unmet.unwrap_or(condition), unmet.is_none());
        }
        self.visit(inner, value, of_inner.or(of_inside));
        self.path.0.pop();
    }

    fn holds(&self, condition: &Json) -> bool {
        let mut all = condition.as_object().into_iter().flatten();
        all.any(|(path, wanted)| {
            let said = Path::parse(path).and_then(|path| self.said(&path));
            each(wanted).any(|wanted| match (wanted, said) {
                (Json::Null, said) => said.is_none(),
                (_, None) => false,
                (Json::Object(other), Some(said)) => !is(said, &other["not"]),
                (wanted, Some(said)) => is(said, wanted),
            })
        })
    }

    /// Returns the value at the path of a condition.
    fn said(&self, path: &Path) -> Option<&'v Value> {
        let Some((PathStep::Key(first), rest)) = path.0.split_first() else { return None };
        // Search from the inside: the innermost mapping that may have this key decides, even if it
        // lacks the key.
        let (_, map) = self.around.iter().rev().find(|(shape, _)| shape.has_field(first))?;
        let value = Path(rest.to_vec()).get(map.get(first.as_str())?);
        value.filter(|value| !value.is_null())
    }

    fn note(&mut self, condition: &'s Json, holds: bool) {
        // The entries of a list share the same condition, so they get one warning.
        let mut found = self.found.iter_mut();
        match found.find(|of| std::ptr::eq(of.condition, condition) && of.holds == holds) {
            Some(first) => first.others += 1,
            None => {
                let path = self.path.clone();
                self.found.push(ConditionalSetting { path, others: 0, condition, holds });
            }
        }
    }
}

fn is(said: &Value, wanted: &Json) -> bool {
    match wanted.as_u64() {
        Some(0) => is_nothing(said),
        _ => serde_json::to_value(said).is_ok_and(|said| said == *wanted),
    }
}

/// Returns whether a value is missing or zero: `0`, `0B` or `0s`.
pub fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.trim_end_matches(char::is_alphabetic).trim().parse() == Ok(0.0),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the paths of settings without effect, with their conditions.
    fn idle(tree: &str) -> Vec<String> {
        let shape = TreeShape::of(&serde_json::json!({ "properties": {
            "mode": {},
            "size": { "x-only-if": { "mode": "large", "given": { "not": null } } },
            "given": {},
            "late": { "x-only-if": [{ "mode": { "not": "early" } }, { "a fact": true }] },
            "trees": {
                "x-only-if": { "inside": { "age": { "mode": [null, "old"] } } },
                "additionalProperties": { "properties": {
                    "age": {},
                    "leaves": {},
                    "fruit": { "x-only-if": { "leaves": { "not": 0 } } },
                    "trees": {},
                } },
            },
        } }));
        let tree: Value = serde_yaml::from_str(tree).unwrap();
        let found =
            ConditionalSetting::find(&shape, &tree, Path::default(), None, |_, said| *said != 7);
        let idle = found.iter().filter(|it| !it.matters(|fact| fact == "a fact"));
        let idle = idle.map(|it| it.warning(""));
        idle.map(|it| it.replace(" has no effect: it has one only", "")).collect()
    }

    #[test]
    fn a_setting_matters_if_one_of_its_conditions_holds() {
        let told = "`size` with `mode: large` or with `given`; change that, or leave it out";
        assert_eq!(idle("{size: 1}"), [told]);
        assert_eq!(idle("{size: 1, mode: small, given: null}"), [told]);
        for heeded in ["{size: 1, mode: large}", "{size: 1, given: 0}", "{size: 7}", "{size: null}"]
        {
            assert_eq!(idle(heeded), [""; 0], "{heeded}");
        }
    }

    #[test]
    fn in_a_list_all_conditions_hold() {
        let told = "`late` with `mode` other than `early`; change that, or leave it out";
        assert_eq!(idle("{late: 1, mode: early}"), [told]);
        assert_eq!(idle("{late: 1, mode: else}"), [""; 0], "the fact is so");
    }

    #[test]
    fn nested_types_and_types_named_as_a_field_are_told_apart() {
        let trees = "{mode: new, trees: {age: {trees: {age: {age: 3}, oak: {age: 4}}}}}";
        let told = "`trees.age.trees.age.age` (and 1 more) without `mode` or with `mode: old`; change \
                    that, or leave it out";
        assert_eq!(idle(trees), [told]);
        assert_eq!(idle(&trees.replace("new", "old")), [""; 0]);
        let fruit =
            |leaves: &str| idle(&format!("{{trees: {{oak: {{fruit: 1, leaves: {leaves}}}}}}}"));
        for none in ["0", "0s", "0 B", "null"] {
            let told = "`trees.oak.fruit` with `leaves`; change that, or leave it out";
            assert_eq!(fruit(none), [told], "{none}");
        }
        assert_eq!(fruit("0.5"), [""; 0]);
    }
}
