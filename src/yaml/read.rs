//! From a tree to a typed value, with all mistakes at once.
//!
//! `serde` stops at the first mistake. So the node to blame is replaced by what stands there when
//! the user says nothing, or removed where that is nothing, and the reading starts again, until it
//! succeeds. The value that comes out of it is used only to look for further mistakes.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_path_to_error::Segment;
use serde_yaml::with::singleton_map_recursive;
use serde_yaml::{Mapping, Value};

use super::locate::PointAt;
use super::path::{Path, Step};
use crate::expect::Complaint;
use crate::nearest::nearest;
use crate::units::plain;

/// A mistake, before its place in the text is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) path: Path,
    pub(crate) part: PointAt,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    /// What of the value's text is wrong, if not all of it.
    pub(crate) within: Option<Within>,
}

/// A part of a text: where it begins and how long it is, in letters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Within {
    pub(crate) text: String,
    pub(crate) from: usize,
    pub(crate) len: usize,
}

/// So many mistakes are reported at most; who has more begins with these.
pub(crate) const MOST: usize = 20;

impl Problem {
    /// A value that is wrong.
    pub(crate) fn value(path: Path, message: impl Into<String>) -> Self {
        Self { path, part: PointAt::Value, message: message.into(), hint: None, within: None }
    }

    /// A key that is wrong.
    pub(crate) fn key(path: Path, message: impl Into<String>) -> Self {
        Self { path, part: PointAt::Key, message: message.into(), hint: None, within: None }
    }

    /// An expression that is wrong in some column of its text.
    pub(crate) fn expression(path: Path, complaint: &Complaint, text: &str) -> Self {
        let (column, message) = (complaint.column(text), &complaint.message);
        let message = match text.trim() {
            "" => format!("there is no expression: {message}"),
            _ => format!("column {column} of `{text}`: {message}"),
        };
        let len = text.get(complaint.span.clone()).map_or(1, |part| part.chars().count().max(1));
        let within = Some(Within { text: text.to_owned(), from: column - 1, len });
        Self { hint: complaint.hint.clone(), within, ..Self::value(path, message) }
    }

    /// Returns the problem of something that stands at a path.
    pub(crate) fn inside(self, at: &Path) -> Self {
        Self { path: at.join(&self.path.0), ..self }
    }

    /// Adds what to do about it.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds the known name nearest to a wrong one, if there is one.
    pub(crate) fn nearest<'c>(
        mut self,
        name: &str,
        known: impl IntoIterator<Item = &'c str>,
    ) -> Self {
        self.hint = nearest(name, known).map(|known| format!("did you mean `{known}`?"));
        self
    }
}

/// Reads a value, looking for up to `most` mistakes. The result is without mistakes if, and only if,
/// no problem comes with it.
pub(crate) fn read<T: DeserializeOwned>(
    mut root: Value,
    fallback: &Value,
    most: usize,
) -> (Option<T>, Vec<Problem>) {
    let mut problems = Vec::new();
    let mut repairs = Repairs::default();
    loop {
        let (path, message) = match attempt(&root) {
            Ok(value) => return (Some(value), problems),
            Err((path, message)) => match missing_option::<T>(&root, &path, &message) {
                Some(option) => (path, format!("this name needs its options, such as `{option}`")),
                None => (path, message),
            },
        };
        // What a repair took away is not missing, and what is left around it is not the user's: its
        // mistake has been reported.
        let follows = match missing_field(&message) {
            Some(field) => repairs.removed.contains(&path.key(field)),
            None => repairs.reached_into(&path),
        };
        if !follows {
            problems.push(problem(repairs.original(&path), &message));
        }
        if problems.len() == most || !repairs.make(&mut root, path, fallback) {
            return (None, problems);
        }
    }
}

fn attempt<T: DeserializeOwned>(root: &Value) -> Result<T, (Path, String)> {
    let mut track = serde_path_to_error::Track::new();
    let from = serde_path_to_error::Deserializer::new(root, &mut track);
    singleton_map_recursive::deserialize(from).map_err(|error: serde_yaml::Error| {
        let blamed = track.path();
        let steps = blamed.iter().map_while(|segment| match segment {
            Segment::Map { key } => Some(Step::Key(key.clone())),
            Segment::Seq { index } => Some(Step::Index(*index)),
            Segment::Enum { .. } | Segment::Unknown => None,
        });
        (Path(steps.collect()), error.to_string())
    })
}

/// Returns an option that a name at a path needs, if it is a name of a choice without its options.
fn missing_option<T: DeserializeOwned>(root: &Value, path: &Path, message: &str) -> Option<String> {
    message.contains("unit variant, expected").then_some(())?;
    let name = path.get(root)?.as_str()?;
    let choice = Mapping::from_iter([(Value::from(name), Value::from(Mapping::new()))]);
    let mut opened = root.clone();
    *path.get_mut(&mut opened)? = choice.into();
    let (at, message) = attempt::<T>(&opened).err()?;
    missing_field(&message).filter(|_| path.contains(&at)).map(str::to_owned)
}

/// What was changed to get on with the reading.
#[derive(Default)]
struct Repairs {
    /// Nodes that now are as if the user had said nothing.
    replaced: Vec<Path>,
    /// Keys that were removed.
    removed: Vec<Path>,
    /// Of every list, in its path as it now is: the original indices of what was removed, rising.
    dropped: BTreeMap<Path, Vec<usize>>,
}

impl Repairs {
    /// Takes the node at a path, or else one around it, out of the way; returns whether that is
    /// possible.
    fn make(&mut self, root: &mut Value, path: Path, fallback: &Value) -> bool {
        let mut path = path;
        while let Some((parent, last)) = path.split_last() {
            let plain = path.get(fallback).filter(|_| !self.replaced.contains(&path));
            if let (Some(plain), Some(node)) = (plain, path.get_mut(root)) {
                *node = plain.clone();
                self.replaced.push(path);
                return true;
            }
            if path.remove(root) {
                match last {
                    Step::Key(_) => self.removed.push(path),
                    Step::Index(index) => self.drop_entry(parent, *index),
                }
                return true;
            }
            path = parent;
        }
        false
    }

    fn drop_entry(&mut self, list: Path, index: usize) {
        // What was noted inside of the entry or of those behind it no longer has its path.
        let stale = |path: &Path| {
            list.contains(path)
                && matches!(path.0.get(list.0.len()), Some(Step::Index(at)) if *at >= index)
        };
        self.removed.retain(|path| !stale(path));
        self.replaced.retain(|path| !stale(path));
        self.dropped.retain(|path, _| !stale(path));
        let dropped = self.dropped.entry(list).or_default();
        let original = undo(dropped, index);
        dropped.insert(dropped.partition_point(|other| *other < original), original);
    }

    /// Returns whether something inside of a node was removed.
    fn reached_into(&self, path: &Path) -> bool {
        self.removed.iter().chain(self.dropped.keys()).any(|removed| path.contains(removed))
    }

    /// Returns the path that a node had before anything was removed.
    fn original(&self, path: &Path) -> Path {
        let steps = path.0.iter().enumerate().map(|(depth, step)| match step {
            Step::Index(index) => {
                let list = Path(path.0[..depth].to_vec());
                Step::Index(self.dropped.get(&list).map_or(*index, |gone| undo(gone, *index)))
            }
            Step::Key(_) => step.clone(),
        });
        Path(steps.collect())
    }
}

/// Returns the index that an entry had before others were dropped.
fn undo(dropped: &[usize], index: usize) -> usize {
    dropped.iter().fold(index, |index, gone| index + usize::from(*gone <= index))
}

fn missing_field(message: &str) -> Option<&str> {
    message.strip_prefix("missing field `")?.strip_suffix('`')
}

fn problem(path: Path, message: &str) -> Problem {
    let message = plain(message);
    let quoted = |text: &str| -> Vec<String> {
        text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    };
    let (wrong, known) = message.split_once(", expected ").unwrap_or((&message, ""));
    let unknown = wrong.starts_with("unknown field") || wrong.starts_with("unknown name");
    let name = quoted(wrong).into_iter().next().filter(|_| unknown);
    let part = match (&name, path.0.last()) {
        (Some(name), Some(Step::Key(key))) if key == name => PointAt::Key,
        _ => PointAt::Value,
    };
    let known = quoted(known);
    let problem = Problem { path, part, message: message.clone(), hint: None, within: None };
    match name {
        Some(name) => problem.nearest(&name, known.iter().map(String::as_str)),
        None => problem,
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;
    use crate::units::{Count, SimSpan};

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Whole {
        size: Count<1, 9>,
        #[serde(default)]
        parts: Vec<Piece>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Piece {
        name: String,
        #[serde(default)]
        time: SimSpan,
    }

    fn problems(yaml: &str) -> Vec<String> {
        let fallback = serde_yaml::from_str("{size: 3}").unwrap();
        let (_, problems) = read::<Whole>(serde_yaml::from_str(yaml).unwrap(), &fallback, MOST);
        problems.iter().map(|problem| format!("{}: {}", problem.path, problem.message)).collect()
    }

    #[test]
    fn all_mistakes_are_found_where_they_were_written() {
        let found = problems(
            "{size: 12, parts: [{name: [a]}, {tame: b}, {name: c, time: 1}, {name: d, time: 2s}, \
             {name: e, time: -1s}], colour: red}",
        );
        let paths: Vec<&str> = found.iter().filter_map(|text| text.split(": ").next()).collect();
        assert_eq!(
            paths,
            [
                "size",
                "parts[0].name",
                "parts[1].tame",
                "parts[1]",
                "parts[2].time",
                "parts[4].time",
                "colour"
            ],
            "{found:#?}"
        );
    }

    #[test]
    fn what_a_repair_removed_is_not_missed() {
        assert_eq!(problems("{size: 1, parts: [{name: {}}]}").len(), 1);
    }

    #[test]
    fn a_value_that_cannot_be_mended_ends_the_reading() {
        assert_eq!(problems("[]"), [": invalid type: a list, expected a mapping"]);
    }
}
