//! Layers: a tree is laid over another one, by one rule for files, arguments and presets.
//!
//! Structs and maps are merged key by key, at any depth; scalars and lists replace the value below.
//! A bare name is short for the mapping that it names, as `ec2-100` is for `{preset: ec2-100}`. A
//! choice keeps the options of the same choice below it, and replaces any other choice together
//! with its options. A value that names a preset replaces the value below. A choice beside fields,
//! such as the source of a workload, leaves the fields as they are. If it replaces the choice of a
//! preset, the preset's name is removed as well. A `null` removes the value below.
//!
//! Layers are laid from the bottom, each over the result of all layers below. Two upper layers
//! cannot be merged first: over `fifo`, `{fair: {x: 1}}` keeps no options of a `fair` below the
//! `fifo`; without the `fifo` in between, it keeps them.

use serde_yaml::{Mapping, Value};

use super::path::{Path, PathStep};
use super::shape::TreeShape;

/// The result of laying one tree over another.
#[derive(Debug, Default)]
pub(crate) struct LaidTree {
    /// The outermost nodes that were written.
    pub(super) written: Vec<Path>,
    /// Settings that are lost though the upper tree does not name them.
    pub lost: Vec<LostSettings>,
}

/// Settings that are lost because the choice or preset that they belong to was replaced.
#[derive(Debug)]
pub(crate) struct LostSettings {
    /// The paths of the settings.
    pub settings: Vec<Path>,
    /// The path of the replaced choice or preset.
    pub at: Path,
    /// The value that replaced the choice or preset.
    pub by: Value,
}

/// Lays a tree over another one.
pub fn lay(under: &mut Value, over: Value, shape: &TreeShape) {
    lay_at(under, &Path::default(), over, shape);
}

/// Lays a tree over a node, which must exist, of another tree; returns which nodes were written and
/// which settings were lost.
pub(super) fn lay_at(tree: &mut Value, at: &Path, over: Value, shape: &TreeShape) -> LaidTree {
    let mut laid = LaidTree::default();
    let node = at.get_mut(tree).expect("the node exists when a layer is laid over it");
    laid.lay(node, over, shape.at(at), at);
    laid
}

/// Returns a path as it is in a tree, and the number of its steps up to the last list entry; 0 if
/// it leads through no list. In the given path, numbers may be written like keys, and a key may be
/// a path itself, as in a study's `sweep: {cluster.nodes: [10]}`, or a name with a point in it that
/// the shape knows, such as `hadoop-0.20`. Entries of lists must exist.
///
/// # Errors
/// If the path leads nowhere, or has no keys at all.
pub(super) fn find(tree: &Value, path: &Path, shape: &TreeShape) -> Result<(Path, usize), String> {
    if !tree.is_mapping() {
        return Err("nothing can be set where there is no mapping".to_owned());
    }
    let (mut at, mut entry) = (Path::default(), 0);
    let mut node = Some(tree);
    let mut steps = &path.0[..];
    while let Some((step, behind)) = steps.split_first() {
        // A key of the text may have points in it, such as an axis of a study: it takes precedence
        // over a path of several keys.
        let pointed = (2..=steps.len()).rev().find_map(|several| {
            let key = Path(steps[..several].to_vec()).to_string();
            Some((node?.get(&key)?, key, several))
        });
        if let Some((value, key, several)) = pointed {
            (at, node, steps) = (at.key(&key), Some(value), &steps[several..]);
            continue;
        }
        steps = behind;
        match (node, step) {
            (Some(Value::Sequence(list)), step) => {
                let index = match step {
                    PathStep::Index(index) => *index,
                    PathStep::Key(key) => key.parse().map_err(|_| {
                        format!("`{at}` is a list: name an entry, such as `{at}[0].{key}`")
                    })?,
                };
                at = at.index(index);
                entry = at.0.len();
                node = Some(list.get(index).ok_or_else(|| match list.len() {
                    1 => format!("`{at}` is not there: the list has one entry, `[0]`"),
                    count => {
                        format!("`{at}` is not there: the list has {count} entries, from `[0]` on")
                    }
                })?);
            }
            (_, PathStep::Index(index)) => {
                return Err(format!("`{}` is not there: there is no list", at.index(*index)));
            }
            (_, PathStep::Key(key)) => {
                let (key, more) = shape.at(&at).whole_name(key, behind);
                steps = &behind[more..];
                at = at.key(&key);
                node = node.and_then(|node| node.get(&*key));
            }
        }
    }
    Ok((at, entry))
}

impl LaidTree {
    fn lay(&mut self, under: &mut Value, mut over: Value, shape: &TreeShape, at: &Path) {
        if !shape.merges(under, &over) {
            return self.replace(under, over, shape, at);
        }
        // The same bare name again: the choice keeps its options, and the layer below counts as
        // their writer.
        if !over.is_mapping() && *under == over {
            return;
        }
        shape.lengthen(under);
        shape.lengthen(&mut over);
        // Both are mappings now: `merges` allows no other values.
        let (Value::Mapping(under), Value::Mapping(mut over)) = (under, over) else { return };
        self.choose(under, &mut over, shape, at);
        for (key, value) in over {
            let name = key.as_str().unwrap_or_default();
            let at = at.key(name);
            match under.get_mut(&key) {
                // `{fair: }` makes the choice, and removes none of its options.
                Some(_) if shape.is_choice() && value.is_null() => {}
                Some(known) if shape.is_choice() && known.is_null() => {
                    *known = value;
                    self.written.push(at);
                }
                Some(known) => self.lay(known, value, shape.key(name), &at),
                None => {
                    under.insert(key, value);
                    self.written.push(at);
                }
            }
        }
    }

    /// Removes the choice beside fields, and the name of a preset that brings it, if the upper
    /// layer makes another choice.
    fn choose(&mut self, under: &mut Mapping, over: &mut Mapping, shape: &TreeShape, at: &Path) {
        let (below, above) = (shape.chosen(under), shape.chosen(over));
        let mut lost = Vec::new();
        if let Some((field, name)) = shape.name_of(under) {
            let brought = shape.chosen_by_name(name);
            if over.contains_key(field)
                || brought.is_some_and(|brought| match over.get(brought) {
                    Some(options) => !shape.key(brought).merges(&Mapping::new().into(), options),
                    None => !above.is_empty(),
                })
            {
                // With `null` the user removes the setting on purpose: no warning is needed.
                let is_null = |key: &str| over.get(key).is_some_and(Value::is_null);
                if !is_null(field) && !brought.is_some_and(is_null) {
                    lost.push(at.key(field));
                }
                under.shift_remove(field);
            }
        }
        let is_gone = |key: &Value| shape.is_beside(key) && !above.contains(key);
        let Some(by) = above.first() else {
            // The upper layer makes no choice, so its keys beside the fields can only be `null`s.
            // Drop the `null` of a choice other than the one below: it removes nothing.
            return over.retain(|key, _| !is_gone(key) || below.is_empty() || below.contains(key));
        };
        let unnamed = below.iter().filter(|key| is_gone(key) && !over.contains_key(*key));
        lost.extend(unnamed.map(|key| at.key(key.as_str().unwrap_or_default())));
        if !lost.is_empty() {
            self.lost.push(LostSettings { settings: lost, at: at.clone(), by: by.clone() });
        }
        under.retain(|key, _| !is_gone(key));
        over.retain(|key, _| !is_gone(key));
    }

    fn replace(&mut self, under: &mut Value, over: Value, shape: &TreeShape, at: &Path) {
        // With `null` the user removes the whole value on purpose: no warning is needed.
        if !over.is_null() {
            let inside = shape.settings_lost(under, &over).into_iter();
            let settings: Vec<Path> = inside.map(|path| at.join(&path.0)).collect();
            if !settings.is_empty() {
                let by = shape.name_in(&over).unwrap_or(&over).clone();
                self.lost.push(LostSettings { settings, at: at.clone(), by });
            }
        }
        *under = over;
        self.written.push(at.clone());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A struct, a choice of two policies, and a list.
    fn shape() -> TreeShape {
        TreeShape::of(&json!({ "properties": {
            "disk": { "properties": { "count": {}, "rate": {} } },
            "policy": { "oneOf": [
                { "enum": ["fifo"] },
                { "properties": { "fair": { "properties": { "x": {}, "y": {} } } } },
            ] },
            "list": { "items": { "properties": { "a": {}, "b": {} } } },
        } }))
    }

    fn value(yaml: &str) -> Value {
        serde_yaml::from_str(yaml).unwrap()
    }

    fn laid(under: &str, over: &[&str]) -> Value {
        let mut tree = value(under);
        over.iter().for_each(|over| lay(&mut tree, value(over), &shape()));
        tree
    }

    #[test]
    fn keys_with_points_in_them_are_found_before_paths_of_several_keys() {
        let tree = value("{sweep: {disk.count: [1, 2], disk: {rate: 5}}}");
        for (path, found) in
            [("sweep.disk.count[1]", "2"), ("sweep.disk.count", "[1, 2]"), ("sweep.disk.rate", "5")]
        {
            let (at, _) = find(&tree, &Path::of(path), &shape()).unwrap();
            assert_eq!(at.get(&tree), Some(&value(found)), "{path}");
        }
    }

    #[test]
    fn an_upper_layer_keeps_or_replaces_by_the_value_beneath() {
        for (under, over, result) in [
            ("disk: {count: 1}", "disk: {rate: 2}", "disk: {count: 1, rate: 2}"),
            ("list: [1, 2]", "list: [3]", "list: [3]"),
            ("policy: {fair: {x: 1}}", "policy: {fair: {y: 2}}", "policy: {fair: {x: 1, y: 2}}"),
            ("policy: {fair: {x: 1}}", "policy: fair", "policy: {fair: {x: 1}}"),
            ("policy: {fair: {x: 1}}", "policy: {fair: }", "policy: {fair: {x: 1}}"),
            ("policy: fair", "policy: {fair: {x: 1}}", "policy: {fair: {x: 1}}"),
            ("policy: {fair: {x: 1}}", "policy: fifo", "policy: fifo"),
            ("disk: {count: 1}", "disk: null", "disk: null"),
            ("disk: null", "disk: {rate: 2}", "disk: {rate: 2}"),
        ] {
            assert_eq!(laid(under, &[over]), value(result), "{over} over {under}");
        }
    }

    #[test]
    fn values_a_layer_has_replaced_do_not_come_back_from_beneath() {
        let under = "{disk: {count: 1}, policy: {fair: {x: 1}}}";
        for (over, result) in [
            (
                ["policy: fifo", "policy: {fair: {y: 2}}"],
                "{disk: {count: 1}, policy: {fair: {y: 2}}}",
            ),
            (["disk: null", "disk: {rate: 2}"], "{disk: {rate: 2}, policy: {fair: {x: 1}}}"),
        ] {
            assert_eq!(laid(under, &over), value(result));
        }
    }
}
