//! From a tree to a typed value, with all mistakes at once.
//!
//! `serde` stops at the first mistake. So the wrong node is replaced by its default, or removed if
//! it has none, and the reading starts again, until it succeeds. The resulting value is used only
//! to look for further mistakes.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::de::DeserializeOwned;
use serde_yaml::Value;

use super::node::{Mistake, MistakeKind, TreeNode};
use super::path::{Path, PathStep, PointAt};
use super::shape::TreeShape;
use mumakil_base::nearest::nearest;
use mumakil_base::units::tell::{listed, quoted};
use mumakil_base::units::{Bytes, SimSpan};

/// A mistake, before its place in the text is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct YamlProblem {
    /// The path of the wrong node.
    pub path: Path,
    /// The part of the node that is wrong: key or value.
    pub part: PointAt,
    /// The mistake.
    pub message: String,
    /// A hint how to correct it.
    pub hint: Option<String>,
    /// The wrong part of the value's text; `None` if all of it is wrong.
    pub within: Option<TextSpan>,
}

/// A part of a text, with its position and length in letters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextSpan {
    pub(crate) text: String,
    pub(crate) from: usize,
    pub(crate) len: usize,
}

/// How many mistakes are reported at most. Chosen: a screenful; users correct these and try again.
pub const MOST: usize = 20;

/// How many names are too many to list them all beside the nearest. Chosen: more than two lines.
const MANY: usize = 16;

impl YamlProblem {
    /// Returns a problem with a value.
    pub fn value(path: Path, message: impl Into<String>) -> Self {
        Self { path, part: PointAt::Value, message: message.into(), hint: None, within: None }
    }

    /// Returns a problem with a key: the key should not be there, or should have another name.
    pub fn key(path: Path, message: impl Into<String>) -> Self {
        Self { path, part: PointAt::Key, message: message.into(), hint: None, within: None }
    }

    /// Returns a problem with an unknown name, be it a key or a value.
    pub fn unknown<'c>(
        what: &str,
        name: &str,
        known: impl IntoIterator<Item = &'c str>,
        path: Path,
    ) -> Self {
        let known: Vec<&str> = known.into_iter().collect();
        let expected = match known.len() {
            0 => ", expected none here".to_owned(),
            1 | 2 => format!(", expected {}", listed(quoted(known.iter().copied()), "or")),
            // Beside the one that is meant, a long list only hides it.
            MANY.. if nearest(name, known.iter().copied()).is_some() => String::new(),
            _ => {
                let names: Vec<String> = quoted(known.iter().copied()).collect();
                format!(", expected one of {}", names.join(", "))
            }
        };
        let message = format!("unknown {what} `{name}`{expected}");
        let problem = match path.0.last() {
            Some(PathStep::Key(key)) if key == name => Self::key(path, message),
            _ => Self::value(path, message),
        };
        problem.nearest(name, known)
    }

    /// Returns a problem with a part of a value's text, given by its bytes.
    pub fn part(path: Path, message: impl Into<String>, text: &str, part: Range<usize>) -> Self {
        let letters = |bytes| text.get(bytes).map(|part: &str| part.chars().count());
        let from = letters(0..part.start).or_else(|| letters(0..text.len()));
        let len = letters(part).map_or(1, |letters| letters.max(1));
        let within = TextSpan { text: text.to_owned(), from: from.unwrap_or_default(), len };
        Self { within: Some(within), ..Self::value(path, message) }
    }

    /// Returns the problem with `at` in front of its path.
    pub fn inside(self, at: &Path) -> Self {
        Self { path: at.join(&self.path.0), ..self }
    }

    /// Adds a hint how to correct the mistake.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds the known name nearest to a wrong name, if there is one.
    pub fn nearest<'c>(mut self, name: &str, known: impl IntoIterator<Item = &'c str>) -> Self {
        self.hint = nearest(name, known).map(|known| format!("did you mean `{known}`?"));
        self
    }
}

/// Reads a value of a shape. Returns the value and up to `most` problems; the value may be used
/// only if there are no problems.
pub fn read<T: DeserializeOwned>(
    mut root: Value,
    fallback: &Value,
    shape: &TreeShape,
    most: usize,
) -> (Option<T>, Vec<YamlProblem>) {
    let mut problems = Vec::new();
    let mut repairs = YamlRepairs::default();
    loop {
        let mistake = match T::deserialize(TreeNode(&root)) {
            Ok(value) => return (Some(value), problems),
            Err(mistake) => mistake,
        };
        let path = mistake.path();
        // Skip mistakes that only follow from a repair: a missing field that a repair removed, or a
        // node that is wrong because a node inside it was removed. Their cause has been reported.
        let follows = match mistake.kind {
            MistakeKind::Missing(field) => repairs.removed.contains(&path.key(field)),
            _ => repairs.has_removal_inside(&path),
        };
        if !follows {
            problems.push(problem(&mistake, repairs.original(&path), shape));
        }
        if problems.len() == most || !repairs.make(&mut root, path, fallback) {
            return (None, problems);
        }
    }
}

/// Reads a value without a document around it; the error is the first mistake.
pub fn read_whole<T: DeserializeOwned>(root: &Value) -> Result<T, YamlProblem> {
    T::deserialize(TreeNode(root)).map_err(|mistake| {
        let path = mistake.path();
        problem(&mistake, path, &TreeShape::default())
    })
}

/// Changes of the tree, after which the reading can go on.
#[derive(Default)]
struct YamlRepairs {
    /// Nodes that now have their defaults.
    replaced: Vec<Path>,
    /// Keys that were removed.
    removed: Vec<Path>,
    /// For each list, by its present path: the original indices of the removed entries, ascending.
    dropped: BTreeMap<Path, Vec<usize>>,
}

impl YamlRepairs {
    /// Replaces or removes the node at a path, or else a node around it; returns whether that is
    /// possible.
    fn make(&mut self, root: &mut Value, path: Path, fallback: &Value) -> bool {
        let mut path = path;
        while let Some((parent, last)) = path.split_last() {
            // Replace a node only once: if its default is wrong, too, the node around it is at
            // fault, and is repaired next.
            let plain = path.get(fallback).filter(|_| !self.replaced.contains(&path));
            if let (Some(plain), Some(node)) = (plain, path.get_mut(root)) {
                *node = plain.clone();
                self.replaced.push(path);
                return true;
            }
            if path.remove(root) {
                match last {
                    PathStep::Key(_) => self.removed.push(path),
                    PathStep::Index(index) => self.drop_entry(parent, *index),
                }
                return true;
            }
            path = parent;
        }
        false
    }

    fn drop_entry(&mut self, list: Path, index: usize) {
        // Paths inside this entry, or inside the entries after it, are no longer valid.
        let stale = |path: &Path| {
            list.contains(path)
                && matches!(path.0.get(list.0.len()), Some(PathStep::Index(at)) if *at >= index)
        };
        self.removed.retain(|path| !stale(path));
        self.replaced.retain(|path| !stale(path));
        self.dropped.retain(|path, _| !stale(path));
        let dropped = self.dropped.entry(list).or_default();
        let original = undo(dropped, index);
        // Sorted: `undo` counts from the lowest up.
        dropped.insert(dropped.partition_point(|other| *other < original), original);
    }

    /// Returns whether a node inside this one was removed.
    fn has_removal_inside(&self, path: &Path) -> bool {
        self.removed.iter().chain(self.dropped.keys()).any(|removed| path.contains(removed))
    }

    /// Returns the path that a node had before entries were removed.
    fn original(&self, path: &Path) -> Path {
        let steps = path.0.iter().enumerate().map(|(depth, step)| match step {
            PathStep::Index(index) => {
                let list = Path(path.0[..depth].to_vec());
                PathStep::Index(self.dropped.get(&list).map_or(*index, |gone| undo(gone, *index)))
            }
            PathStep::Key(_) => step.clone(),
        });
        Path(steps.collect())
    }
}

/// Returns the index that an entry had before entries were removed.
fn undo(dropped: &[usize], index: usize) -> usize {
    dropped.iter().fold(index, |index, gone| index + usize::from(*gone <= index))
}

/// Returns the problem for a mistake, in the words of files. The shape also knows names that a file
/// may use but the type lacks, such as a preset's name.
fn problem(mistake: &Mistake, path: Path, shape: &TreeShape) -> YamlProblem {
    match &mistake.kind {
        MistakeKind::UnknownField(name, known) => {
            let around = path.split_last().map_or_else(Path::default, |(around, _)| around);
            let of_shape = shape.at(&around).names();
            // A type without a document has no shape.
            let known = if of_shape.is_empty() { known.to_vec() } else { of_shape };
            YamlProblem::unknown("field", name, known, path)
        }
        MistakeKind::UnknownName(name, known) => {
            YamlProblem::unknown("name", name, known.iter().copied(), path)
        }
        MistakeKind::Missing(field) => {
            let is_drawn = path.0.last() == Some(&PathStep::Key("log_normal".to_owned()));
            let example = "such as `{log_normal: {mean: 20s, cv: 0.5}}`".to_owned();
            let problem = YamlProblem::value(path, format!("missing field `{field}`"));
            YamlProblem { hint: is_drawn.then_some(example), ..problem }
        }
        MistakeKind::Bare(name) => {
            let such_as = match shape.at(&path).needed_option(name) {
                Some(option) => format!(", such as `{option}`"),
                None => String::new(),
            };
            YamlProblem::value(path, format!("this name needs its options{such_as}"))
        }
        MistakeKind::Wrong(message) => {
            let hint = form(message, shape.at(&path));
            let problem = YamlProblem::value(path, message);
            match hint {
                Some(hint) => problem.hint(hint),
                None => problem,
            }
        }
    }
}

/// Returns the span that a clock shows: ten minutes are `00:10:00`.
fn span_of_clock(text: &str) -> Option<SimSpan> {
    let parts = text.split(':').map(|part| part.parse::<u64>().ok());
    let [hours @ 0..100_000, minutes @ 0..60, seconds @ 0..60] =
        parts.collect::<Option<Vec<_>>>()?[..]
    else {
        return None;
    };
    Some(SimSpan::from_secs((hours * 60 + minutes) * 60 + seconds))
}

/// Returns how to write a value that has the wrong form; `None` if the mistake is not a common one.
fn form(message: &str, shape: &TreeShape) -> Option<String> {
    let (found, expected) = message.split_once(", expected ")?;
    let (_, found) = found.split_once(": ")?;
    let text = || found.strip_prefix("text \"")?.strip_suffix('"');
    match expected {
        "a list" if text().is_some() => Some(format!("write a list: `[{}]`", text()?)),
        _ if found == "a mapping" && expected.starts_with("a list") => {
            Some("begin each entry of the list with `- `".to_owned())
        }
        "a mapping" if found != "nothing" => {
            let field = shape.field_for(found == "a list")?;
            Some(format!("write its fields: `{{{field}: …}}`"))
        }
        _ if expected.starts_with("a whole number") || expected == "a number" => {
            let text = text()?;
            let number = text.trim_end_matches(',');
            number.parse::<f64>().ok()?;
            let left_out = if number == text { "quotes" } else { "comma" };
            Some(format!("leave the {left_out} out: `{number}`"))
        }
        _ if expected.starts_with("a size") => {
            let size = text()?.to_uppercase().replace("IB", "iB").replace("KB", "kB");
            size.parse::<Bytes>().is_ok().then(|| format!("did you mean `{size}`?"))
        }
        _ => {
            let name = text()?;
            if let Some(span) = span_of_clock(name) {
                return Some(format!("did you mean `{span}`?"));
            }
            let option = shape.needed_option(name)?;
            Some(format!("give `{name}` its options: `{{{name}: {{{option}: …}}}}`"))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;
    use mumakil_base::units::Count;

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
        #[serde(default)]
        wake: Wake,
    }

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(rename_all = "snake_case", deny_unknown_fields)]
    enum Wake {
        #[default]
        Never,
        After {
            time: SimSpan,
        },
    }

    /// The shape of these types, for the messages.
    fn shape() -> TreeShape {
        let after = json!({ "properties": { "time": {} }, "required": ["time"] });
        let wake =
            json!({ "oneOf": [{ "enum": ["never"] }, { "properties": { "after": after } }] });
        let piece = json!({ "properties": { "name": {}, "time": {}, "wake": wake } });
        TreeShape::of(&json!({ "properties": { "size": {}, "parts": { "items": piece } } }))
    }

    fn problems(yaml: &str) -> Vec<String> {
        let fallback = serde_yaml::from_str("{size: 3}").unwrap();
        let (_, problems) =
            read::<Whole>(serde_yaml::from_str(yaml).unwrap(), &fallback, &shape(), MOST);
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
    fn files_a_repair_removed_are_not_missed() {
        assert_eq!(problems("{size: 1, parts: [{name: {}}]}").len(), 1);
    }

    #[test]
    fn a_choice_is_one_name_with_the_options_that_it_takes() {
        for (wake, problem) in [
            ("after", ": this name needs its options, such as `time`"),
            ("{after: }", ": this name needs its options, such as `time`"),
            ("{after: {}}", ".after: missing field `time`"),
            ("{never: {}}", ".never: this name takes no options"),
            ("{after: {time: 1s}, never: }", ": a choice is one name with its options"),
            ("[after]", ": invalid type: a list, expected a name, or a name with its options"),
            ("afer", ": unknown name `afer`, expected `never` or `after`"),
            ("{afer: {}}", ".afer: unknown name `afer`, expected `never` or `after`"),
        ] {
            let found = problems(&format!("{{size: 1, parts: [{{name: a, wake: {wake}}}]}}"));
            assert_eq!(found, [format!("parts[0].wake{problem}")]);
        }
        assert_eq!(problems("{size: 1, parts: [{name: a, wake: {never: }}]}"), [""; 0]);
    }

    #[test]
    fn a_key_without_a_value_has_a_list_or_a_mapping_of_nothing() {
        assert_eq!(problems("{size: 1, parts: }"), [""; 0]);
        assert_eq!(problems("{size: 1, parts: [null]}"), ["parts[0]: missing field `name`"]);
    }

    #[test]
    fn a_value_that_cannot_be_mended_ends_the_reading() {
        assert_eq!(problems("[]"), [": invalid type: a list, expected a mapping"]);
    }
}
