//! A document in the making: a text, what was laid over it, and where each value was written.
//!
//! A mistake is shown where the user wrote the value that is wrong: in the file, in an argument of
//! the command line, or in another file that lies over the first.

use std::sync::Arc;

use indexmap::IndexMap;
use serde_yaml::Value;

use super::finding::{Excerpt, Finding, Spot, clip};
use super::layer::{Laid, Layer, Lost};
use super::locate::{PointAt, locate};
use super::path::{Path, Step};
use super::read::Problem;
use super::shape::Shape;
use super::tree;

/// A text, and what lies over it.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    text: Text,
    layer: Layer,
    /// Who wrote what, the last one on top; the first wrote everything.
    writers: Vec<Writer>,
    /// Where arguments have put something.
    argued: Vec<Path>,
}

/// A text and what stands for its file in messages.
#[derive(Clone, Debug)]
struct Text {
    file: Arc<str>,
    text: Arc<str>,
}

/// Somebody who wrote a node and what is in it.
#[derive(Clone, Debug)]
struct Writer {
    origin: Origin,
    /// What stands at the origin.
    target: Path,
    /// The node, at the target or around it: what exists only because of the target is its too.
    node: Path,
}

/// Where a value was written.
#[derive(Clone, Debug)]
pub(crate) struct Origin(Written);

#[derive(Clone, Debug)]
enum Written {
    Argument(Arc<str>),
    Text(Text, Path),
}

/// Settings of a user that are gone, since another choice or preset has taken the place of theirs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Displaced {
    /// The paths of the settings.
    pub settings: Vec<String>,
    /// The file or argument that has them.
    pub of: String,
    /// The path of the choice.
    pub at: String,
    /// What was chosen instead.
    pub by: String,
    /// The file or argument that chose it.
    pub origin: String,
}

impl Origin {
    /// Returns the origin of what stands in an argument of the command line, such as `--set seed=5`.
    pub(crate) fn argument(argument: &str) -> Self {
        Self(Written::Argument(argument.into()))
    }

    /// Returns the argument or the file.
    fn name(&self) -> &str {
        match &self.0 {
            Written::Argument(argument) => argument,
            Written::Text(text, _) => &text.file,
        }
    }
}

impl Document {
    /// Reads a text; `file` stands for its file in messages. Keys that stand twice are problems of
    /// the document.
    pub(crate) fn read(file: &str, text: &str) -> Result<(Self, Vec<Problem>), Box<Finding>> {
        let text = Text { file: file.into(), text: text.into() };
        match tree(&text.text) {
            Ok(tree) => {
                let problems = tree.doubled.into_iter().map(doubled).collect();
                let origin = Origin(Written::Text(text.clone(), Path::default()));
                let everything = Path::default();
                let writer = Writer { origin, target: everything.clone(), node: everything };
                let document = Self {
                    text,
                    layer: tree.value.into(),
                    writers: vec![writer],
                    argued: Vec::new(),
                };
                Ok((document, problems))
            }
            Err(error) => Err(Box::new(Finding {
                message: error.message,
                hint: None,
                path: String::new(),
                place: error.at.map_or(Spot::File(file.to_owned()), |at| text.spot(at)),
            })),
        }
    }

    /// Returns what stands at a key as a document of its own, which begins afresh at these places.
    pub(crate) fn within(&self, key: &str, afresh: Vec<Path>) -> Option<Self> {
        let tree = self.layer.tree().get(key)?.clone();
        let everything = Path::default();
        let writer = Writer {
            origin: Origin(Written::Text(self.text.clone(), everything.key(key))),
            target: everything.clone(),
            node: everything,
        };
        Some(Self {
            text: self.text.clone(),
            layer: Layer::afresh_at(tree, afresh),
            writers: vec![writer],
            argued: Vec::new(),
        })
    }

    /// Returns what stands for the file in messages.
    pub(crate) fn file(&self) -> &std::path::Path {
        std::path::Path::new(&*self.text.file)
    }

    /// Returns how many bytes the text has.
    pub(crate) fn len(&self) -> usize {
        self.text.text.len()
    }

    /// Returns the tree.
    pub(crate) fn tree(&self) -> &Value {
        self.layer.tree()
    }

    /// Returns the layer of everything that was written.
    pub(crate) fn layer(&self) -> &Layer {
        &self.layer
    }

    /// Takes a key and its value out of the tree.
    pub(crate) fn take(&mut self, key: &str) -> Option<Value> {
        self.layer.take(key)
    }

    /// Lays another document over this one; returns what is gone by that.
    pub(crate) fn lay(&mut self, over: &Self, shape: &Shape) -> Vec<Displaced> {
        let laid = self.layer.lay(over.layer.clone(), shape);
        self.note(&laid, &over.writers)
    }

    /// Lays a value over what is at a path; returns what is gone by that.
    ///
    /// # Errors
    /// With the reason, if there can be nothing at the path.
    pub(crate) fn put(
        &mut self,
        path: &Path,
        value: Value,
        origin: Origin,
        shape: &Shape,
    ) -> Result<Vec<Displaced>, String> {
        let (target, laid) = self.layer.put(path, value, shape)?;
        if matches!(origin.0, Written::Argument(_)) {
            self.argued.push(target.clone());
        }
        let writer = Writer { origin, target, node: Path::default() };
        Ok(self.note(&laid, &[writer]))
    }

    /// Notes who wrote what of a layer, and tells whose settings are gone by it.
    fn note(&mut self, laid: &Laid, by: &[Writer]) -> Vec<Displaced> {
        let displaced = laid.lost.iter().flat_map(|lost| self.displaced(lost, by)).collect();
        for at in &laid.written {
            for writer in by {
                // Of what they wrote only this lies over the rest.
                let node = if writer.node.contains(at) { at } else { &writer.node };
                if at.contains(node) {
                    self.writers.push(Writer { node: node.clone(), ..writer.clone() });
                }
            }
        }
        displaced
    }

    fn displaced(&self, lost: &Lost, by: &[Writer]) -> Vec<Displaced> {
        let chosen = lost.at.key(lost.by.as_str().unwrap_or_default());
        let mut settings: IndexMap<&str, Vec<String>> = IndexMap::new();
        for setting in &lost.settings {
            let of = wrote(&self.writers, setting).origin.name();
            settings.entry(of).or_default().push(setting.to_string());
        }
        let of = |(of, settings): (&str, _)| Displaced {
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
            origin: wrote(by, &chosen).origin.name().to_owned(),
        };
        settings.into_iter().map(of).collect()
    }

    /// Returns where the value at a path was written.
    pub(crate) fn origin(&self, path: &Path) -> Origin {
        let writer = wrote(&self.writers, path);
        match (&writer.origin.0, writer.inside(path)) {
            (Written::Text(text, at), Some(inside)) => {
                Origin(Written::Text(text.clone(), at.join(inside)))
            }
            _ => writer.origin.clone(),
        }
    }

    /// Returns whether what stands at a path was laid over the text.
    pub(crate) fn is_laid_over(&self, path: &Path) -> bool {
        !std::ptr::eq(wrote(&self.writers, path), &self.writers[0])
    }

    /// Returns what an argument has put at a path or inside of it.
    pub(crate) fn argued(&self, path: &Path) -> Option<&Path> {
        self.argued.iter().find(|target| path.contains(target))
    }

    /// Returns what the text says at a key, whatever was laid over it.
    pub(crate) fn written(&self, key: &str) -> Option<Value> {
        tree(&self.text.text).ok()?.value.get(key).cloned()
    }

    /// Returns a problem as users see it.
    pub(crate) fn finding(&self, problem: Problem) -> Finding {
        let writer = wrote(&self.writers, &problem.path);
        let mut place = match (&writer.origin.0, writer.inside(&problem.path)) {
            (Written::Argument(argument), _) => Spot::Argument(argument.to_string()),
            (Written::Text(text, at), Some(inside)) => text.locate(&at.join(inside), problem.part),
            (Written::Text(text, at), None) => text.locate(at, PointAt::Key),
        };
        if let (Spot::Text { column, excerpt, .. }, Some(within)) = (&mut place, &problem.within) {
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

impl Writer {
    /// Returns the steps from the target to a node in it.
    fn inside<'p>(&self, path: &'p Path) -> Option<&'p [Step]> {
        path.0.strip_prefix(&self.target.0[..])
    }
}

/// Returns who wrote a node last.
fn wrote<'w>(writers: &'w [Writer], path: &Path) -> &'w Writer {
    let last = writers.iter().rev().find(|writer| writer.node.contains(path));
    last.expect("the first has written everything")
}

impl Text {
    fn spot(&self, (line, column): (usize, usize)) -> Spot {
        let excerpt = Excerpt::of(&self.text, line, column);
        Spot::Text { file: self.file.to_string(), line, column, excerpt }
    }

    fn locate(&self, path: &Path, part: PointAt) -> Spot {
        locate(&self.text, path, part).map_or(Spot::File(self.file.to_string()), |at| self.spot(at))
    }
}

fn doubled(path: Path) -> Problem {
    let key = match path.0.last() {
        Some(Step::Key(key)) => key.clone(),
        _ => path.to_string(),
    };
    let problem = Problem::key(path, format!("the key `{key}` stands twice"));
    Problem { part: PointAt::SecondKey, ..problem }
}
