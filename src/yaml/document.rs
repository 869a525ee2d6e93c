//! A document that is being put together: a text, the layers over it, and where each value was
//! written.
//!
//! A mistake is shown where the user wrote the wrong value: in the file, in an argument of the
//! command line, or in another file that is laid over the first.

use std::sync::Arc;

use indexmap::IndexMap;
use serde_yaml::{Mapping, Value};

use super::finding::{Excerpt, Finding, FindingSpot, clip};
use super::layer::{LostSettings, find, lay_at};
use super::locate::locate;
use super::path::{Path, PathStep, PointAt};
use super::read::YamlProblem;
use super::shape::TreeShape;
use super::tree;

/// A text and the values laid over it: a stack of layers.
#[derive(Clone, Debug)]
pub struct Document {
    text: NamedText,
    /// The layers from the bottom; the text is the first.
    layers: Vec<Layer>,
    /// All layers, laid over each other.
    tree: Value,
    /// The outermost nodes that each layer wrote, with the layer's number; the topmost layer is
    /// last.
    written: Vec<(Path, usize)>,
}

/// A value at a path, and where it was written.
#[derive(Clone, Debug)]
struct Layer {
    target: Path,
    /// How many steps of the path lead to the last list entry on the way.
    entry: usize,
    value: Arc<Value>,
    origin: Origin,
}

/// A text, and the name of its file in messages.
#[derive(Clone, Debug)]
struct NamedText {
    file: Arc<str>,
    text: Arc<str>,
}

/// Where a value was written.
#[derive(Clone, Debug)]
pub struct Origin(OriginText);

#[derive(Clone, Debug)]
enum OriginText {
    Argument(Arc<str>),
    Text(NamedText, Path),
}

/// A user's settings that are lost, because another choice or preset has replaced the one to which
/// they belong.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DisplacedSettings {
    /// The paths of the settings.
    pub settings: Vec<String>,
    /// The file or argument that contains them.
    pub of: String,
    /// The path of the choice.
    pub at: String,
    /// The choice that replaced the old one.
    pub by: String,
    /// The file or argument that made the new choice.
    pub origin: String,
}

impl Origin {
    /// Returns the origin of a value in an argument of the command line, such as `--set seed=5`.
    pub fn argument(argument: &str) -> Self {
        Self(OriginText::Argument(argument.into()))
    }

    /// Returns whether the value was written on the command line.
    pub fn is_argument(&self) -> bool {
        matches!(self.0, OriginText::Argument(_))
    }

    /// Returns the text of the argument, or the name of the file.
    fn name(&self) -> &str {
        match &self.0 {
            OriginText::Argument(argument) => argument,
            OriginText::Text(text, _) => &text.file,
        }
    }
}

impl Layer {
    fn of(tree: Value, origin: Origin) -> Self {
        Self { target: Path::default(), entry: 0, value: Arc::new(tree), origin }
    }

    /// Returns the value wrapped in the keys that follow the last list entry on its path, and the
    /// path of that entry; of the root, if the path has no list entry.
    fn tree(&self) -> (Path, Value) {
        let (outer, keys) = self.target.0.split_at(self.entry);
        let value = Value::clone(&self.value);
        let tree = keys.iter().rev().fold(value, |value, step| match step {
            PathStep::Key(key) => Mapping::from_iter([(Value::from(key.as_str()), value)]).into(),
            PathStep::Index(_) => unreachable!("only keys follow the last entry of a list"),
        });
        (Path(outer.to_vec()), tree)
    }

    /// Returns the layer without these keys of the root; `None` if no key is left.
    fn without(&self, keys: &[&str]) -> Option<Self> {
        let mut rest = self.clone();
        match self.target.0.first() {
            Some(PathStep::Key(key)) if keys.contains(&key.as_str()) => return None,
            Some(_) => {}
            None => {
                if let Value::Mapping(map) = Arc::make_mut(&mut rest.value) {
                    map.retain(|key, _| key.as_str().is_none_or(|key| !keys.contains(&key)));
                }
            }
        }
        Some(rest)
    }

    /// Returns the steps from the layer's target to a node inside it.
    fn inside<'p>(&self, path: &'p Path) -> Option<&'p [PathStep]> {
        path.0.strip_prefix(&self.target.0[..])
    }
}

impl Document {
    /// Reads a text; messages call it `file`. Keys that occur twice are problems of the document.
    pub fn read(file: &str, text: &str) -> Result<(Self, Vec<YamlProblem>), Box<Finding>> {
        let text = NamedText { file: file.into(), text: text.into() };
        match tree(&text.text) {
            Ok(tree) => {
                let problems = tree.doubled.into_iter().map(doubled).collect();
                let origin = Origin(OriginText::Text(text.clone(), Path::default()));
                let layers = [Layer::of(tree.value, origin)];
                // The first layer lies over no other, so it needs no shape.
                Ok((Self::of(text, layers, &TreeShape::default()).0, problems))
            }
            Err(error) => Err(Box::new(Finding {
                message: error.message,
                hint: error.hint,
                path: String::new(),
                place: error.at.map_or(FindingSpot::File(file.to_owned()), |at| text.spot(at)),
            })),
        }
    }

    /// Lays layers over each other; the first layer is the text's. Returns the settings that are
    /// displaced.
    fn of(
        text: NamedText,
        layers: impl IntoIterator<Item = Layer>,
        shape: &TreeShape,
    ) -> (Self, Vec<DisplacedSettings>) {
        let mut document =
            Self { text, layers: Vec::new(), tree: Value::Null, written: Vec::new() };
        let displaced = layers.into_iter().flat_map(|layer| document.push(layer, shape)).collect();
        (document, displaced)
    }

    /// Returns the value at a path as a document of its own: one layer, or a list of them from the
    /// bottom.
    pub fn within(&self, at: &Path, shape: &TreeShape) -> Option<(Self, Vec<DisplacedSettings>)> {
        let layer = |tree: &Value, at| {
            Layer::of(tree.clone(), Origin(OriginText::Text(self.text.clone(), at)))
        };
        let layers = match at.get(&self.tree)? {
            Value::Sequence(list) => {
                (0..).zip(list).map(|(index, tree)| layer(tree, at.index(index))).collect()
            }
            tree => vec![layer(tree, at.clone())],
        };
        Some(Self::of(self.text.clone(), layers, shape))
    }

    /// Returns the document without these keys of the root, and the settings that are displaced in
    /// the rest.
    pub fn without(&self, keys: &[&str], shape: &TreeShape) -> (Self, Vec<DisplacedSettings>) {
        let layers = self.layers.iter().filter_map(|layer| layer.without(keys));
        Self::of(self.text.clone(), layers, shape)
    }

    /// Returns the name of the file in messages.
    pub fn file(&self) -> &std::path::Path {
        std::path::Path::new(&*self.text.file)
    }

    /// Returns how many bytes the text has.
    pub fn size(&self) -> usize {
        self.text.text.len()
    }

    /// Returns all layers laid over each other.
    pub fn tree(&self) -> &Value {
        &self.tree
    }

    /// Returns the layers from the bottom, each as a tree. A value that was put into a list entry
    /// is part of the layer with the list.
    pub fn layers(&self, shape: &TreeShape) -> Vec<Value> {
        let mut trees: Vec<Value> = Vec::new();
        for layer in &self.layers {
            let (at, over) = layer.tree();
            match trees.iter_mut().rev().find(|tree| at.get(tree).is_some()) {
                // `workload.jobs[0].maps=3` has no meaning by itself: it is part of the layer with
                // that list.
                Some(tree) if layer.entry != 0 => _ = lay_at(tree, &at, over, shape),
                _ => trees.push(over),
            }
        }
        trees
    }

    /// Lays the layers of another document over this one; returns the settings that are displaced.
    pub fn lay(&mut self, over: &Self, shape: &TreeShape) -> Vec<DisplacedSettings> {
        let layers = over.layers.iter().cloned();
        layers.flat_map(|layer| self.push(layer, shape)).collect()
    }

    /// Lays a value over the node at a path; returns the settings that it displaces.
    ///
    /// # Errors
    /// With the reason, if there can be no value at the path.
    pub fn put(
        &mut self,
        path: &Path,
        value: Value,
        origin: Origin,
        shape: &TreeShape,
    ) -> Result<Vec<DisplacedSettings>, String> {
        let (target, entry) = find(&self.tree, path, shape)?;
        Ok(self.push(Layer { target, entry, value: Arc::new(value), origin }, shape))
    }

    fn push(&mut self, layer: Layer, shape: &TreeShape) -> Vec<DisplacedSettings> {
        let (at, over) = layer.tree();
        let laid = lay_at(&mut self.tree, &at, over, shape);
        let by = layer.origin.name();
        let displaced = laid.lost.iter().flat_map(|lost| self.displaced(lost, by)).collect();
        let number = self.layers.len();
        self.written.extend(laid.written.into_iter().map(|node| (node, number)));
        self.layers.push(layer);
        displaced
    }

    fn displaced(&self, lost: &LostSettings, by: &str) -> Vec<DisplacedSettings> {
        let mut settings: IndexMap<&str, Vec<String>> = IndexMap::new();
        for setting in &lost.settings {
            // `push` calls this before it notes the new layer as a writer, so `wrote` finds the
            // lower layer that wrote the lost setting.
            let of = self.wrote(setting).origin.name();
            settings.entry(of).or_default().push(setting.to_string());
        }
        let displaced = settings.into_iter().map(|(of, settings)| DisplacedSettings {
            settings,
            of: of.to_owned(),
            at: lost.at.to_string(),
            by: match &lost.by {
                Value::String(name) => name.clone(),
                Value::Number(name) => name.to_string(),
                Value::Bool(value) => value.to_string(),
                Value::Sequence(_) => "[…]".to_owned(),
                _ => "{…}".to_owned(),
            },
            origin: by.to_owned(),
        });
        displaced.collect()
    }

    /// Returns the number of the topmost layer that wrote a node.
    fn number(&self, path: &Path) -> usize {
        let topmost = self.written.iter().rev().find(|(node, _)| node.contains(path));
        // The first layer wrote the root, which contains every path.
        topmost.expect("the first layer wrote the root").1
    }

    fn wrote(&self, path: &Path) -> &Layer {
        &self.layers[self.number(path)]
    }

    /// Returns where the value at a path was written.
    pub fn origin(&self, path: &Path) -> Origin {
        let layer = self.wrote(path);
        match (&layer.origin.0, layer.inside(path)) {
            (OriginText::Text(text, at), Some(inside)) => {
                Origin(OriginText::Text(text.clone(), at.join(inside)))
            }
            // An argument has no lines to point at.
            _ => layer.origin.clone(),
        }
    }

    /// Returns whether the value at a path was laid over the text.
    pub fn is_laid_over(&self, path: &Path) -> bool {
        self.number(path) != 0
    }

    /// Returns the path that an argument has written at this path or inside it.
    pub fn argued(&self, path: &Path) -> Option<&Path> {
        let written =
            self.layers.iter().filter(|layer| matches!(layer.origin.0, OriginText::Argument(_)));
        let mut targets = written.map(|layer| &layer.target);
        targets.find(|target| path.contains(target))
    }

    /// Returns the value of a key in the text itself, without the layers over it.
    pub fn written(&self, key: &str) -> Option<&Value> {
        self.layers[0].value.get(key)
    }

    /// Returns a problem in the form for users.
    pub fn finding(&self, problem: YamlProblem) -> Finding {
        let layer = self.wrote(&problem.path);
        let mut place = match (&layer.origin.0, layer.inside(&problem.path)) {
            (OriginText::Argument(argument), _) => FindingSpot::Argument(argument.to_string()),
            // A wrong key on a study's axis stands in front of the list of the axis's values.
            (OriginText::Text(text, at), Some([])) if problem.part == PointAt::Key => {
                text.locate(&at.of_list(), PointAt::Key)
            }
            (OriginText::Text(text, at), Some(inside)) => {
                text.locate(&at.join(inside), problem.part)
            }
            // The mistake is outside the value that this layer wrote, such as a missing field
            // beside it.
            (OriginText::Text(text, at), None) => text.locate(&at.of_list(), PointAt::Key),
        };
        if let (FindingSpot::Text { column, excerpt, .. }, Some(within)) =
            (&mut place, &problem.within)
        {
            *column += excerpt.narrow(within);
        }
        Finding {
            message: clip(&problem.message),
            hint: problem.hint,
            path: clip(&problem.path.to_string()),
            place,
        }
    }
}

impl NamedText {
    fn spot(&self, (line, column): (usize, usize)) -> FindingSpot {
        let excerpt = Excerpt::of(&self.text, line, column);
        FindingSpot::Text { file: self.file.to_string(), line, column, excerpt }
    }

    fn locate(&self, path: &Path, part: PointAt) -> FindingSpot {
        locate(&self.text, path, part)
            .map_or(FindingSpot::File(self.file.to_string()), |at| self.spot(at))
    }
}

fn doubled(path: Path) -> YamlProblem {
    let key = match path.0.last() {
        Some(PathStep::Key(key)) => key.clone(),
        _ => path.to_string(),
    };
    let problem =
        YamlProblem::key(path, format!("the key `{key}` stands twice")).hint("keep one of the two");
    YamlProblem { part: PointAt::SecondKey, ..problem }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shape() -> TreeShape {
        TreeShape::of(&json!({ "properties": {
            "disk": { "properties": { "count": {}, "rate": {} } },
            "policy": { "oneOf": [
                { "enum": ["fifo"] },
                { "properties": { "old-0.20": { "properties": { "x": {} } } } },
            ] },
            "list": { "items": { "properties": { "a": {}, "b": {} } } },
        } }))
    }

    fn put(yaml: &str, path: &str, value: i32) -> Document {
        let mut document = Document::read("test.yaml", yaml).unwrap().0;
        let origin = Origin::argument("--set");
        document.put(&Path::of(path), value.into(), origin, &shape()).unwrap();
        document
    }

    fn value(yaml: &str) -> Value {
        serde_yaml::from_str(yaml).unwrap()
    }

    #[test]
    fn an_entry_of_a_list_is_changed_where_it_stands() {
        let document = put("list: [{a: 1}, {a: 2}]", "list.1.b", 3);
        let all = value("list: [{a: 1}, {a: 2, b: 3}]");
        assert_eq!(document.tree(), &all);
        assert_eq!(document.argued(&Path::of("list")), Some(&Path::of("list[1].b")));
        assert!(document.is_laid_over(&Path::of("list[1].b")));
        assert!(!document.is_laid_over(&Path::of("list[1].a")));
        // The value in the list has no layer of its own.
        assert_eq!(document.layers(&shape()), [all]);
    }

    #[test]
    fn a_name_with_a_point_in_it_is_one_key_of_a_path() {
        for (path, result) in [
            ("policy.old-0.20.x", "policy: {old-0.20: {x: 1}}"),
            ("policy.old-0.20", "policy: {old-0.20: 1}"),
            ("policy.old-0.21.x", "policy: {old-0: {'21': {x: 1}}}"),
            ("disk.old-0.20.x", "disk: {old-0: {'20': {x: 1}}}"),
        ] {
            assert_eq!(put("{}", path, 1).tree(), &value(result), "{path}");
        }
    }
}
