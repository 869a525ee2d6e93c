//! Layers: a tree laid over another one, by one rule for all who lay any.
//!
//! Structs and maps are laid over each other key by key, at any depth; scalars and lists replace. A
//! bare name is short for the mapping that names it. The same choice keeps the options that lie
//! under it; another choice replaces them, and so does whatever names a preset. A choice that stands
//! beside fields, as the source of a workload does, leaves the fields as they are; a preset goes with
//! the choice that it brings. Nothing (`null`) takes away.
//!
//! To lay two trees one after the other is to lay them over each other first. For that a layer has
//! to remember where something in it was replaced: `{fair: {x: 1}}` over `fifo` is not the same as
//! `{fair: {x: 1}}`, for it does not keep what lies under `fifo`.

use std::collections::BTreeSet;

use serde_yaml::{Mapping, Value};

use super::path::{Path, Step};
use super::shape::Shape;

/// A tree that can be laid over another.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Layer {
    tree: Value,
    /// Where it begins afresh, and keeps nothing of what lies under it.
    afresh: BTreeSet<Path>,
}

/// What became of a tree over which another was laid.
#[derive(Debug, Default)]
pub(crate) struct Laid {
    /// The outermost nodes that were written.
    pub(crate) written: Vec<Path>,
    /// What is gone without having been named.
    pub(crate) lost: Vec<Lost>,
}

/// Settings that are gone because the choice or preset to which they belong was replaced.
#[derive(Debug)]
pub(crate) struct Lost {
    /// The settings.
    pub(crate) settings: Vec<Path>,
    /// Where something else stands now.
    pub(crate) at: Path,
    /// What stands there.
    pub(crate) by: Value,
}

impl From<Value> for Layer {
    fn from(tree: Value) -> Self {
        Self { tree, afresh: BTreeSet::new() }
    }
}

impl Layer {
    /// Returns a layer that begins afresh at these places.
    pub(crate) fn afresh_at(tree: Value, places: impl IntoIterator<Item = Path>) -> Self {
        Self { tree, afresh: places.into_iter().collect() }
    }

    /// Returns where it begins afresh.
    pub(crate) fn begins_afresh(&self) -> impl Iterator<Item = &Path> {
        self.afresh.iter()
    }

    /// Returns the tree.
    pub(crate) fn tree(&self) -> &Value {
        &self.tree
    }

    /// Returns the tree alone.
    pub(crate) fn into_tree(self) -> Value {
        self.tree
    }

    /// Takes a key and its value out of the tree.
    pub(crate) fn take(&mut self, key: &str) -> Option<Value> {
        let at = Path::default().key(key);
        self.afresh.retain(|path| !at.contains(path));
        self.tree.as_mapping_mut()?.shift_remove(key)
    }

    /// Returns the mapping that the tree is, if it is one, to change its values.
    pub(crate) fn mapping_mut(&mut self) -> Option<&mut Mapping> {
        self.tree.as_mapping_mut()
    }

    /// Keeps what lies under a node, whatever was replaced there.
    pub(crate) fn keep_under(&mut self, at: &Path) {
        self.afresh.remove(at);
    }

    /// Lays a layer over this one.
    pub(crate) fn lay(&mut self, over: Self, shape: &Shape) -> Laid {
        let Self { tree, afresh } = self;
        let mut laying = Laying { afresh, over: &over.afresh, laid: Laid::default() };
        laying.lay(tree, over.tree, shape, &Path::default());
        laying.laid
    }

    /// Lays over this one a tree that has only a value at a path. The path may lead through entries
    /// of lists, which must be there. Returns the path as it is in the tree: numbers may be written
    /// like keys, and a key may be a path itself, as in a study's `sweep: {cluster.nodes: [10]}`, or a
    /// name with a point in it that the shape knows, such as `hadoop-0.20`.
    ///
    /// # Errors
    /// If the path leads nowhere, or there are no keys at all.
    pub(crate) fn put(
        &mut self,
        path: &Path,
        value: Value,
        shape: &Shape,
    ) -> Result<(Path, Laid), String> {
        if !self.tree.is_mapping() {
            return Err("nothing can be set where there is no mapping".to_owned());
        }
        let (at, entry) = self.find(path, shape)?;
        let (outer, keys) = at.0.split_at(entry);
        let outer = Path(outer.to_vec());
        let over = keys.iter().rev().fold(value, |value, step| match step {
            Step::Key(key) => Mapping::from_iter([(Value::from(key.as_str()), value)]).into(),
            Step::Index(_) => unreachable!("{at}: behind the last entry of a list there are keys"),
        });
        let node = outer.get_mut(&mut self.tree).expect("the path was walked to this entry");
        let mut laying =
            Laying { afresh: &mut self.afresh, over: &BTreeSet::new(), laid: Laid::default() };
        laying.lay(node, over, shape.at(&outer), &outer);
        let laid = laying.laid;
        Ok((at, laid))
    }

    /// Returns a path as it is in the tree, and how many of its steps lead to the last entry of a
    /// list on the way.
    fn find(&self, path: &Path, shape: &Shape) -> Result<(Path, usize), String> {
        let (mut at, mut entry) = (Path::default(), 0);
        let mut node = Some(&self.tree);
        let mut steps = &path.0[..];
        while let Some((step, behind)) = steps.split_first() {
            let rest = Path(steps.to_vec()).to_string();
            if node.is_some_and(|node| node.get(&rest).is_some()) {
                return Ok((at.key(&rest), entry));
            }
            steps = behind;
            match (node, step) {
                (Some(Value::Sequence(list)), step) => {
                    let index = match step {
                        Step::Index(index) => *index,
                        Step::Key(key) => key
                            .parse()
                            .map_err(|_| format!("`{at}` is a list: {key} is no index"))?,
                    };
                    at = at.index(index);
                    entry = at.0.len();
                    let missing = || match list.len() {
                        1 => format!("`{at}` is not there: 1 entry"),
                        count => format!("`{at}` is not there: {count} entries"),
                    };
                    node = Some(list.get(index).ok_or_else(missing)?);
                }
                (_, Step::Index(index)) => {
                    return Err(format!("`{}` is not there: there is no list", at.index(*index)));
                }
                (_, Step::Key(key)) => {
                    let (key, more) = shape.at(&at).whole_name(key, behind);
                    steps = &behind[more..];
                    at = at.key(&key);
                    node = node.and_then(|node| node.get(&*key));
                }
            }
        }
        Ok((at, entry))
    }
}

/// A layer that is being laid over another.
struct Laying<'l> {
    /// Where the lower layer begins afresh.
    afresh: &'l mut BTreeSet<Path>,
    /// Where the upper one does.
    over: &'l BTreeSet<Path>,
    laid: Laid,
}

impl Laying<'_> {
    fn lay(&mut self, under: &mut Value, over: Value, shape: &Shape, at: &Path) {
        if self.over.contains(at) || !shape.merges(under, &over) {
            return self.replace(under, over, shape, at);
        }
        if !over.is_mapping() && *under == over {
            return;
        }
        let mut over = over;
        shape.lengthen(under);
        shape.lengthen(&mut over);
        let (Value::Mapping(under), Value::Mapping(mut over)) = (under, over) else { return };
        let unnamed = self.unname(under, &over, shape, at);
        self.choose(under, &mut over, shape, at, unnamed);
        for (key, value) in over {
            let name = key.as_str().unwrap_or_default();
            let at = at.key(name);
            match under.get_mut(&key) {
                // `{fair: }` is the choice without any options, and takes none away.
                Some(_) if shape.is_choice() && value.is_null() => {}
                Some(known) if shape.is_choice() && known.is_null() => {
                    *known = value;
                    self.write(at);
                }
                Some(known) => self.lay(known, value, shape.key(name), &at),
                None => {
                    under.insert(key, value);
                    self.write(at);
                }
            }
        }
    }

    /// Takes away the name of a preset if the upper layer does, or replaces what the preset brings;
    /// returns where the name stood if it is lost by that.
    fn unname(
        &mut self,
        under: &mut Mapping,
        over: &Mapping,
        shape: &Shape,
        at: &Path,
    ) -> Option<Path> {
        let (field, name) = shape.name_of(under)?;
        let is_replaced = |brought: &str| match over.get(brought) {
            Some(options) => {
                let changes = shape.key(brought).merges(&Mapping::new().into(), options);
                !changes || self.over.contains(&at.key(brought))
            }
            None => !chosen(over, self.over, shape, at).is_empty(),
        };
        let brought = shape.brought_by(name);
        if !over.contains_key(field) && !brought.is_some_and(is_replaced) {
            return None;
        }
        // Whoever takes something away knows that it goes.
        let is_null = |key: &str| over.get(key).is_some_and(Value::is_null);
        let is_taken_away = is_null(field) || brought.is_some_and(is_null);
        under.shift_remove(field);
        // The name has replaced all that lay under it.
        self.afresh.insert(at.clone());
        (!is_taken_away).then(|| at.key(field))
    }

    /// Takes away what is chosen beside fields if the upper layer chooses something else, and tells of
    /// it and of the name that is lost with it.
    fn choose(
        &mut self,
        under: &mut Mapping,
        over: &mut Mapping,
        shape: &Shape,
        at: &Path,
        unnamed: Option<Path>,
    ) {
        let of = |key: &Value| at.key(key.as_str().unwrap_or_default());
        let below: Vec<Value> =
            chosen(under, self.afresh, shape, at).into_iter().cloned().collect();
        let above: Vec<Value> = chosen(over, self.over, shape, at).into_iter().cloned().collect();
        let Some(by) = above.first() else {
            // What is taken away had replaced what lies further down; what it had replaced is gone.
            for key in below.iter().filter(|key| over.shift_remove(*key).is_some()) {
                under.insert(key.clone(), Value::Null);
                self.write(of(key));
                self.afresh.insert(of(key));
            }
            return over.retain(|key, _| below.is_empty() || !shape.is_beside(key));
        };
        let is_gone = |key: &Value| shape.is_beside(key) && !above.contains(key);
        let is_lost =
            |key: &&Value| is_gone(key) && !under[*key].is_null() && !over.contains_key(*key);
        let settings: Vec<Path> =
            unnamed.into_iter().chain(below.iter().filter(is_lost).map(of)).collect();
        if !settings.is_empty() {
            self.laid.lost.push(Lost { settings, at: at.clone(), by: by.clone() });
        }
        for key in below.iter().filter(|key| is_gone(key)) {
            self.forget(&of(key));
        }
        under.retain(|key, _| !is_gone(key));
        over.retain(|key, _| !is_gone(key));
        if !below.is_empty() {
            // It does not keep what may lie further down under its own name.
            let anew = above.iter().filter(|key| !below.contains(key));
            under.extend(anew.map(|key| (key.clone(), Value::Null)));
        }
    }

    fn replace(&mut self, under: &mut Value, over: Value, shape: &Shape, at: &Path) {
        // Whoever takes something away knows what goes with it.
        if !over.is_null() {
            let inside = shape.settings_lost(under, &over).into_iter();
            let settings: Vec<Path> = inside.map(|path| at.join(&path.0)).collect();
            if !settings.is_empty() {
                let by = shape.name_in(&over).unwrap_or(&over).clone();
                self.laid.lost.push(Lost { settings, at: at.clone(), by });
            }
        }
        // What cannot be merged replaces anyhow.
        let is_mergeable = over.is_mapping() || shape.name_in(&over).is_some();
        *under = over;
        self.write(at.clone());
        if is_mergeable {
            self.afresh.insert(at.clone());
        }
    }

    /// Notes that the upper layer has written a node.
    fn write(&mut self, at: Path) {
        self.forget(&at);
        self.afresh.extend(inside(self.over, &at).cloned());
        self.laid.written.push(at);
    }

    /// Forgets what began afresh in a node that is gone.
    fn forget(&mut self, at: &Path) {
        let gone: Vec<Path> = inside(self.afresh, at).cloned().collect();
        gone.iter().for_each(|path| _ = self.afresh.remove(path));
    }
}

/// Returns the paths at a node or inside of it, which stand together in the order of paths.
fn inside<'p>(paths: &'p BTreeSet<Path>, at: &'p Path) -> impl Iterator<Item = &'p Path> {
    paths.range(at..).take_while(|path| at.contains(path))
}

/// Returns what a layer chooses beside the fields of a struct: to have taken such a choice away is to
/// have made one.
fn chosen<'m>(
    map: &'m Mapping,
    afresh: &BTreeSet<Path>,
    shape: &Shape,
    at: &Path,
) -> Vec<&'m Value> {
    let is_chosen = |(key, value): &(&'m Value, &'m Value)| {
        let is_made = || afresh.contains(&at.key(key.as_str().unwrap_or_default()));
        shape.is_beside(key) && (!value.is_null() || is_made())
    };
    map.iter().filter(is_chosen).map(|(key, _)| key).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A part with fields, a choice of two policies, and a list.
    fn shape() -> Shape {
        Shape::of(&json!({ "properties": {
            "disk": { "properties": { "count": {}, "rate": {} } },
            "policy": { "oneOf": [
                { "enum": ["fifo"] },
                { "properties": { "fair": { "properties": { "x": {}, "y": {} } } } },
                { "properties": { "old-0.20": { "properties": { "x": {} } } } },
            ] },
            "list": { "items": { "properties": { "a": {}, "b": {} } } },
        } }))
    }

    fn layer(yaml: &str) -> Layer {
        serde_yaml::from_str::<Value>(yaml).unwrap().into()
    }

    fn over(mut under: Layer, over: Layer) -> Layer {
        under.lay(over, &shape());
        under
    }

    #[test]
    fn what_is_laid_over_keeps_or_replaces_by_what_stands_there() {
        for (under, upper, result) in [
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
            let laid = over(layer(under), layer(upper)).into_tree();
            assert_eq!(laid, layer(result).into_tree(), "{upper} over {under}");
        }
    }

    #[test]
    fn what_a_layer_has_replaced_does_not_come_back_from_beneath() {
        for (upper, uppermost, result) in [
            (
                "policy: fifo",
                "policy: {fair: {y: 2}}",
                "{disk: {count: 1}, policy: {fair: {y: 2}}}",
            ),
            ("disk: null", "disk: {rate: 2}", "{disk: {rate: 2}, policy: {fair: {x: 1}}}"),
        ] {
            let under = || layer("{disk: {count: 1}, policy: {fair: {x: 1}}}");
            let together = over(layer(upper), layer(uppermost));
            assert_eq!(over(under(), together.clone()).into_tree(), layer(result).into_tree());
            let one_by_one = over(over(under(), layer(upper)), layer(uppermost));
            assert_eq!(over(under(), together), one_by_one);
        }
    }

    #[test]
    fn an_entry_of_a_list_is_changed_where_it_stands() {
        let mut list = layer("list: [{a: 1}, {a: 2}]");
        let (at, laid) = list.put(&Path::of("list.1.b"), 3.into(), &shape()).unwrap();
        assert_eq!(list.into_tree(), layer("list: [{a: 1}, {a: 2, b: 3}]").into_tree());
        assert_eq!((at.to_string(), laid.written), ("list[1].b".to_owned(), vec![at]));
    }

    #[test]
    fn a_name_with_a_point_in_it_is_one_key_of_a_path() {
        for (path, result) in [
            ("policy.old-0.20.x", "policy: {old-0.20: {x: 1}}"),
            ("policy.old-0.20", "policy: {old-0.20: 1}"),
            ("policy.old-0.21.x", "policy: {old-0: {'21': {x: 1}}}"),
            ("disk.old-0.20.x", "disk: {old-0: {'20': {x: 1}}}"),
        ] {
            let mut tree = layer("{}");
            tree.put(&Path::of(path), 1.into(), &shape()).unwrap();
            assert_eq!(tree.into_tree(), layer(result).into_tree(), "{path}");
        }
    }
}
