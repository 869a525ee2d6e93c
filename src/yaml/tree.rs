//! From text to a tree of values, which have no meaning yet.
//!
//! `serde_yaml` limits the depth of a document and the number of jumps to an anchor, but not the
//! size that results: a thousand aliases of a thousand aliases fit in a few kilobytes. So the tree
//! is built here, within a limit that no document without aliases can exceed. Doubled keys are
//! noted and do not end the reading, so that they are reported with all other mistakes.

use std::cell::RefCell;
use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_yaml::{Mapping, Value};

use super::path::{Path, PathStep, PointAt};
use super::read::MOST;

/// How deep values may be nested. The YAML reader has the same limit, but notices only after a pass
/// that takes gigabytes for a text of brackets or dashes alone.
const DEEPEST: usize = 128;

/// A document as read.
#[derive(Debug)]
pub struct DocumentTree {
    /// Its values; of a doubled key, the first value.
    pub value: Value,
    /// Keys that occur twice in a mapping.
    pub doubled: Vec<Path>,
}

/// Why a text is not the YAML of a scenario.
#[derive(Debug, PartialEq, Eq)]
pub struct TreeError {
    /// The text of the mistake.
    pub message: String,
    /// A hint how to correct it, if that is clear.
    pub hint: Option<String>,
    /// The line and column, from 1, if they are known.
    pub(crate) at: Option<(usize, usize)>,
}

/// Reads a document. A text without any value is an empty mapping.
pub fn read(text: &str) -> Result<DocumentTree, TreeError> {
    refuse_deep_nesting(text)?;
    let nothing = || DocumentTree { value: Mapping::new().into(), doubled: Vec::new() };
    match build(text, None) {
        // An empty file is a scenario without any key, and its missing workload is the mistake to
        // report.
        Ok(DocumentTree { value: Value::Null, .. }) => Ok(nothing()),
        Ok(tree) => Ok(tree),
        Err(_) if text.lines().all(|line| line.trim().is_empty() || line.starts_with('#')) => {
            Ok(nothing())
        }
        Err(error) => Err(TreeError::of(&error, text)),
    }
}

/// Builds the tree of a text. If a node is sought, raises an error with the text [`FOUND`] there.
pub(super) fn build(
    text: &str,
    sought: Option<(&Path, PointAt)>,
) -> Result<DocumentTree, serde_yaml::Error> {
    let (at, doubled, budget) = (Vec::new(), Vec::new(), budget(text));
    let state = RefCell::new(ReadState { at, doubled, budget, sought });
    let seed = ValueSeed { state: &state };
    let value = seed.deserialize(serde_yaml::Deserializer::from_str(text))?;
    Ok(DocumentTree { value, doubled: state.into_inner().doubled })
}

/// The text of the error that marks the sought node. No scenario contains it.
pub(crate) const FOUND: &str = "\u{1}found\u{1}";

/// Returns how large the tree of a text may be: each node and each byte of a scalar counts one. A
/// text without aliases needs at most three times its length; a fixed allowance is for aliases.
fn budget(text: &str) -> usize {
    3 * text.len() + 100_000
}

/// Refuses brackets that are nested too deep, and lists that begin too deep in one line, even
/// inside quotes: a text with so many of them is not a scenario.
fn refuse_deep_nesting(text: &str) -> Result<(), TreeError> {
    let mut brackets = 0_usize;
    for (number, line) in text.lines().enumerate() {
        let line_bytes = line.as_bytes();
        let mut lists = 0_usize;
        let mut begins = true;
        for (column, byte) in line.bytes().enumerate() {
            let stands_alone = matches!(line_bytes.get(column + 1), None | Some(b' '));
            match byte {
                b'[' | b'{' => brackets += 1,
                b']' | b'}' => brackets = brackets.saturating_sub(1),
                b'-' | b'?' if begins && stands_alone => lists += 1,
                // Blanks between the dashes at the beginning of a line do not end the row of
                // dashes.
                b' ' | b':' => continue,
                _ => {}
            }
            begins &= matches!(byte, b'-' | b'?') && stands_alone;
            if brackets.max(lists) > DEEPEST {
                return Err(TreeError {
                    message: format!("values are nested more than {DEEPEST} deep"),
                    hint: None,
                    at: Some((number + 1, line[..column].chars().count() + 1)),
                });
            }
        }
    }
    Ok(())
}

impl TreeError {
    fn of(error: &serde_yaml::Error, text: &str) -> Self {
        let mut at = error.location().map(|place| (place.line(), place.column()));
        let mut message = error.to_string();
        if let Some((line, column)) = at {
            // The message gives the place in front of its excerpt: remove it from the sentence.
            message = message.replacen(&format!(" at line {line} column {column}"), "", 1);
        }
        // For a byte that YAML does not allow the reader gives only its offset: compute line and
        // column.
        let offset = message.rsplit_once(" at position ").map(|(_, offset)| offset.parse());
        if let Some(Ok(offset)) = offset
            && let Some(before) = text.get(..offset)
        {
            message.truncate(message.len() - format!(" at position {offset}").len());
            let line = before.rsplit('\n').next().unwrap_or_default();
            at = Some((before.matches('\n').count() + 1, line.chars().count() + 1));
        }
        if message.contains("more than one document") {
            message = "a scenario is one YAML document, without `---` in between".to_owned();
        } else if message.ends_with("recursion limit exceeded") {
            message = "values are nested more than 128 deep".to_owned();
        } else if message.ends_with("repetition limit exceeded") || message.ends_with(TOO_LARGE) {
            message = TOO_LARGE.to_owned();
        } else if message.ends_with(PLAIN) {
            message = format!("a tag has no meaning here, expected {PLAIN}");
        }
        let slip = at.and_then(|at| YamlSlip { complaint: &message, text, at }.plainly());
        slip.unwrap_or(Self { message, hint: None, at })
    }
}

/// A text that is not YAML, and the reader's complaint.
struct YamlSlip<'t> {
    complaint: &'t str,
    text: &'t str,
    at: (usize, usize),
}

impl<'t> YamlSlip<'t> {
    /// Returns a common mistake in plain words and at its true place: the reader's own message is
    /// obscure, and often gives a later line. `None` if the mistake is not a common one.
    fn plainly(&self) -> Option<TreeError> {
        let (line, column) = self.at;
        let own = self.line(line);
        let before: String = own.chars().take(column.saturating_sub(1)).collect();
        let here = own.chars().nth(column.saturating_sub(1));
        let is = |complaint: &str| self.complaint.starts_with(complaint);
        // Check this first: the reader complains of a tab in many ways.
        if own[..indent(own)].contains('\t') {
            let hint = "indent with spaces: YAML takes no tabs there";
            return Self::slip(self.at, "a tab indents this line", hint);
        }
        if self.complaint.contains("scanning a quoted scalar") {
            let message = "the quotes that begin here are not closed";
            return Self::slip(self.begun(), message, "end the text with the same quote");
        }
        if is("did not find expected ',' or") {
            return self.unclosed(here);
        }
        if is("could not find expected ':'") {
            return Some(self.no_key(self.begun().0));
        }
        if is("found character that cannot start") || self.complaint.contains("a directive") {
            let (line, column) = self.begun();
            let first = self.line(line).chars().nth(column.saturating_sub(1))?;
            let message = format!("a text cannot begin with `{first}`");
            return Self::slip((line, column), &message, "put the text in quotes");
        }
        if is("unknown anchor") {
            let message = "`*` refers to a value that `&` names, and none has this name";
            return Self::slip(self.at, message, "put a text that begins with `*` in quotes");
        }
        if is("did not find expected '-' indicator") {
            let message = "expected the next entry of the list, with `- `";
            let hint = "a key of an entry begins in the column of the entry's first key";
            return Self::slip(self.at, message, hint);
        }
        if is("did not find expected key") {
            return match own.trim_start() {
                _ if before.contains(['"', '\'']) => {
                    let hint = "put all of it in quotes; inside of `'…'` a `'` is written twice";
                    Self::slip(self.at, "the text in quotes ends before this", hint)
                }
                entry if entry.starts_with("- ") => {
                    let hint = "entries of one list begin in the same column";
                    Self::slip(self.at, "this entry belongs to no list", hint)
                }
                _ => {
                    let hint = "keys of one mapping begin in the same column";
                    Self::slip(self.at, "this key belongs to no mapping", hint)
                }
            };
        }
        is("mapping values are not allowed").then(|| self.second_key(&before)).flatten()
    }

    /// Returns the mistake of a key behind a value; `before` is the text before it in its line.
    fn second_key(&self, before: &str) -> Option<TreeError> {
        let line = self.at.0;
        let message = "a value cannot be followed by a key here";
        if let Some((key, _)) = before.split_once(": ") {
            let at = (line, key.chars().count() + 3);
            return Self::slip(at, message, "put a text that has `: ` in it in quotes");
        }
        let at = (line, start(self.line(line)));
        // The reader has joined this line and the lines before it to one text.
        let last = (1..line).rev().find(|line| !self.line(*line).trim().is_empty())?;
        let entry = self.line(last).trim().trim_start_matches("- ");
        let Some((key, value)) = entry.split_once(": ").filter(|_| !entry.starts_with('-')) else {
            return Some(self.no_key(last));
        };
        let aligned = format!("`{key}` has a value already: align this key with `{key}`");
        let is_name =
            value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
                && value.starts_with(|first: char| first.is_ascii_alphabetic());
        match is_name {
            true => {
                let options =
                    format!("or, for options of `{value}`, write `{key}: {{{value}: {{…}}}}`");
                Self::slip(at, message, &format!("{aligned}, {options}"))
            }
            false => Self::slip(at, message, &aligned),
        }
    }

    fn slip(at: (usize, usize), message: &str, hint: &str) -> Option<TreeError> {
        let (message, hint) = (message.to_owned(), Some(hint.to_owned()));
        Some(TreeError { message, hint, at: Some(at) })
    }

    /// Returns a line by its number, from 1; an empty line after the last.
    fn line(&self, number: usize) -> &'t str {
        self.text.lines().nth(number.saturating_sub(1)).unwrap_or_default()
    }

    /// Returns the line and column at which the value begins that the reader was reading.
    fn begun(&self) -> (usize, usize) {
        let place = self.complaint.rsplit_once(" at line ").map(|(_, place)| place);
        let numbers = place
            .and_then(|place| place.split_once(" column "))
            .and_then(|(line, column)| Some((line.parse().ok()?, column.parse().ok()?)));
        // The reader leaves out this place if it is the place of the complaint itself.
        numbers.unwrap_or(self.at)
    }

    /// Returns the mistake of a bracket that is still open; `here` is the character at which the
    /// reader stopped.
    fn unclosed(&self, here: Option<char>) -> Option<TreeError> {
        let (open, close) = match self.complaint.contains('}') {
            true => ('{', '}'),
            false => ('[', ']'),
        };
        // For a bracket at the very beginning of the text, the reader gives no place.
        let begun = if self.complaint.contains(" at line ") { self.begun() } else { (1, 1) };
        // A key that is indented no further than the line of the bracket is outside of it.
        let (message, hint, at) = match here {
            _ if begun.0 < self.at.0
                && (here != Some(':')
                    || indent(self.line(self.at.0)) <= indent(self.line(begun.0))) =>
            {
                (format!("this `{open}` is not closed"), format!("close it with `{close}`"), begun)
            }
            Some(':') => (
                format!("expected `,` or `{close}`"),
                "put a comma before this key, or a text that has `: ` in it in quotes".to_owned(),
                self.at,
            ),
            _ => (
                format!("expected `,` or `{close}`"),
                format!("the `{open}` of column {} is still open", begun.1),
                self.at,
            ),
        };
        Some(TreeError { message, hint: Some(hint), at: Some(at) })
    }

    /// Returns the mistake of a line that needs a key, but has no colon with a space after it.
    fn no_key(&self, number: usize) -> TreeError {
        let line = self.line(number);
        let body = line.trim_start().trim_start_matches("- ").trim_end();
        let parts = body.split_once([':', '=']).or_else(|| body.split_once(' '));
        let hint = match parts.map(|(key, value)| (key.trim(), value.trim())) {
            _ if body.starts_with(['{', '[']) => "begin an entry of a list with `- `".to_owned(),
            _ if body.starts_with('-') => "put a space after the `-`".to_owned(),
            // A longer text is no key.
            _ if 60 < body.len() => "write `key: value`".to_owned(),
            Some((key, value)) if !value.is_empty() => format!("write `{key}: {value}`"),
            _ => format!("write `{body}:`"),
        };
        let message = match body.starts_with(['{', '[', '-']) {
            true => "an entry of a list begins with a dash and a space".to_owned(),
            false => "expected a key, with a colon and a space after it".to_owned(),
        };
        TreeError { message, hint: Some(hint), at: Some((number, start(line))) }
    }
}

/// Returns the column, from 1, in which a line begins.
fn start(line: &str) -> usize {
    line[..indent(line)].chars().count() + 1
}

/// Returns how many bytes of blanks a line begins with.
fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

const TOO_LARGE: &str = "the aliases of this file expand to far more than the file";
const PLAIN: &str = "plain YAML, without tags such as `!name`";

struct ReadState<'p> {
    at: Vec<PathStep>,
    doubled: Vec<Path>,
    budget: usize,
    sought: Option<(&'p Path, PointAt)>,
}

impl ReadState<'_> {
    /// Notes that a node begins; an error if it is the sought node.
    fn begin<E: de::Error>(&mut self, cost: usize) -> Result<(), E> {
        match self.sought {
            Some((path, PointAt::Value)) if path.0 == self.at => Err(E::custom(FOUND)),
            _ => self.spend(cost),
        }
    }

    /// Notes a key of the present node; an error if it is the sought node.
    fn meet<E: de::Error>(&mut self, key: &str, is_second: bool) -> Result<(), E> {
        let is_meant = |path: &Path| match path.0.split_last() {
            Some((PathStep::Key(last), around)) => last == key && around == self.at,
            _ => false,
        };
        match self.sought {
            Some((path, PointAt::Key)) if is_meant(path) => Err(E::custom(FOUND)),
            Some((path, PointAt::SecondKey)) if is_second && is_meant(path) => {
                Err(E::custom(FOUND))
            }
            _ => self.spend(key.len()),
        }
    }

    fn spend<E: de::Error>(&mut self, cost: usize) -> Result<(), E> {
        self.budget = self.budget.checked_sub(cost).ok_or_else(|| E::custom(TOO_LARGE))?;
        Ok(())
    }
}

#[derive(Clone, Copy)]
struct ValueSeed<'s, 'p> {
    state: &'s RefCell<ReadState<'p>>,
}

impl<'de> DeserializeSeed<'de> for ValueSeed<'_, '_> {
    type Value = Value;
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl ValueSeed<'_, '_> {
    fn scalar<E: de::Error>(self, value: Value, len: usize) -> Result<Value, E> {
        self.state.borrow_mut().begin(1 + len)?;
        Ok(value)
    }

    fn inside<T>(self, step: PathStep, read: impl FnOnce(Self) -> T) -> T {
        self.state.borrow_mut().at.push(step);
        let value = read(self);
        self.state.borrow_mut().at.pop();
        value
    }
}

impl<'de> Visitor<'de> for ValueSeed<'_, '_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PLAIN)
    }
    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        self.scalar(Value::Null, 0)
    }
    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Value, E> {
        self.scalar(value.into(), 0)
    }
    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Value, E> {
        self.scalar(value.into(), 0)
    }
    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
        self.scalar(value.into(), 0)
    }
    fn visit_i128<E: de::Error>(self, value: i128) -> Result<Value, E> {
        self.visit_f64(value as f64)
    }
    fn visit_u128<E: de::Error>(self, value: u128) -> Result<Value, E> {
        self.visit_f64(value as f64)
    }
    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        self.scalar(value.into(), 0)
    }
    fn visit_str<E: de::Error>(self, value: &str) -> Result<Value, E> {
        self.scalar(value.into(), value.len())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        self.state.borrow_mut().begin(1)?;
        let mut values = Vec::new();
        while let Some(value) =
            self.inside(PathStep::Index(values.len()), |node| list.next_element_seed(node))?
        {
            values.push(value);
        }
        Ok(values.into())
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        self.state.borrow_mut().begin(1)?;
        let mut values = Mapping::new();
        while let Some(key) = map.next_key_seed(TextKey { map: self, known: &values })? {
            let value =
                self.inside(PathStep::Key(key.clone()), |node| map.next_value_seed(node))?;
            if values.contains_key(key.as_str()) {
                let mut state = self.state.borrow_mut();
                let path = Path(state.at.clone()).key(&key);
                // More are never shown, and a key that occurs a thousand times is one mistake.
                if state.doubled.len() < MOST && !state.doubled.contains(&path) {
                    state.doubled.push(path);
                }
            } else {
                values.insert(key.into(), value);
            }
        }
        Ok(values.into())
    }
}

/// A key, read as the text with which it is written: `2009: …` is the key `2009`.
struct TextKey<'s, 'p, 'k> {
    map: ValueSeed<'s, 'p>,
    /// The keys before it, with their values.
    known: &'k Mapping,
}

impl<'de> DeserializeSeed<'de> for TextKey<'_, '_, '_> {
    type Value = String;
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<String, D::Error> {
        from.deserialize_str(self)
    }
}

impl Visitor<'_> for TextKey<'_, '_, '_> {
    type Value = String;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name as the key")
    }
    fn visit_str<E: de::Error>(self, key: &str) -> Result<String, E> {
        self.map.state.borrow_mut().meet(key, self.known.contains_key(key))?;
        Ok(key.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Value {
        read(text).unwrap().value
    }

    #[test]
    fn a_text_without_values_is_an_empty_mapping() {
        for text in ["", "\n", "# nothing yet\n", "---\n", "~"] {
            assert_eq!(value(text), Value::Mapping(Mapping::new()), "{text:?}");
        }
    }

    #[test]
    fn usual_slips_are_said_where_they_were_made() {
        for (text, place, hint) in [
            ("a:\n\tb: 1", (2, 1), "indent with spaces: YAML takes no tabs there"),
            ("a:\n    b: 1\n  c: 2", (3, 3), "keys of one mapping begin in the same column"),
            ("a:\n    - 1\n  - 2", (3, 3), "entries of one list begin in the same column"),
            ("a: b: c", (1, 4), "put a text that has `: ` in it in quotes"),
            ("a:\n  b: 5\n   c: 2", (3, 4), "`b` has a value already: align this key with `b`"),
            (
                "scheduler: hfsp\n  weights: priority",
                (2, 3),
                "`scheduler` has a value already: align this key with `scheduler`, or, for options \
                 of `hfsp`, write `scheduler: {hfsp: {…}}`",
            ),
            (
                "a:\n  - b: 1\n  c: 2",
                (3, 3),
                "a key of an entry begins in the column of the entry's first key",
            ),
            ("a:\n  -b: 1\n   c: 2", (2, 3), "put a space after the `-`"),
            ("a:\n  b\n  c: 2", (2, 3), "write `b:`"),
            ("a:\n  b 5\n  c: 2", (2, 3), "write `b: 5`"),
            ("a:\n  b:5\n  c: 2", (2, 3), "write `b: 5`"),
            ("a:\n  c: 2\n  b=5\nd: 1", (3, 3), "write `b: 5`"),
            ("a:\n  - {b: 1}\n  {b: 2}\n", (3, 3), "begin an entry of a list with `- `"),
            ("a: 'b", (1, 4), "end the text with the same quote"),
            (
                "a: 'it's'\n",
                (1, 8),
                "put all of it in quotes; inside of `'…'` a `'` is written twice",
            ),
            ("a: {b: 1\nc: 2", (1, 4), "close it with `}`"),
            ("{a: [1, 2\n", (1, 5), "close it with `]`"),
            ("a: [{b: 1}}", (1, 11), "the `[` of column 4 is still open"),
            (
                "a: {b: 1 c: 2}",
                (1, 11),
                "put a comma before this key, or a text that has `: ` in it in quotes",
            ),
            ("a: %b", (1, 4), "put the text in quotes"),
            ("a: *b", (1, 4), "put a text that begins with `*` in quotes"),
        ] {
            let error = read(text).unwrap_err();
            let found = (error.at, error.hint.as_deref());
            assert_eq!(found, (Some(place), Some(hint)), "{text:?}: {}", error.message);
        }
    }

    #[test]
    fn keys_are_texts() {
        assert_eq!(value("2009: 1\ntrue: 2"), value("\"2009\": 1\n\"true\": 2"));
    }

    #[test]
    fn of_a_doubled_key_the_first_counts_and_all_are_noted() {
        let tree = read("a: {b: 1, b: 2, b: 3}\nc: [{d: 1, d: 2}]\na: 3\n").unwrap();
        let doubled: Vec<String> = tree.doubled.iter().map(Path::to_string).collect();
        assert_eq!(doubled, ["a.b", "c[0].d", "a"]);
        assert_eq!(tree.value, value("{a: {b: 1}, c: [{d: 1}]}"));
    }

    #[test]
    fn aliases_may_repeat_a_little_but_not_explode() {
        assert_eq!(value("a: &x {b: 1}\nc: *x\n"), value("{a: {b: 1}, c: {b: 1}}"));

        let mut levels = "l0: &l0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..12 {
            let alias = format!("*l{}", level - 1);
            levels += &format!("l{level}: &l{level} [{}]\n", vec![alias; 9].join(", "));
        }
        let wide = format!("a: &x [{}]\nb: [{}]\n", "x, ".repeat(50_000), "*x, ".repeat(50_000));
        let long = format!("a: &x {}\nb: [{}]\n", "x".repeat(1 << 20), "*x, ".repeat(50_000));
        for bomb in [levels, wide, long] {
            assert_eq!(read(&bomb).unwrap_err().message, TOO_LARGE);
        }
    }

    #[test]
    fn deep_nesting_is_refused_at_once() {
        let brackets = "[".repeat(4_000_000);
        let lists = "- ".repeat(100_000);
        let maps: String = (0..2_000).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
        let keys = "? ".repeat(100_000);
        for text in [brackets, lists, keys, maps] {
            let message = read(&text).unwrap_err().message;
            assert!(message.contains("nested more than 128 deep"), "{message}");
        }
    }

    #[test]
    fn a_line_drawn_in_a_text_is_no_nesting() {
        let text = format!("description: |\n  {0}\n  {0} title\n", "-".repeat(200));
        assert!(read(&text).is_ok());
    }

    #[test]
    fn tags_and_second_documents_are_refused() {
        assert!(read("a: !b 1").unwrap_err().message.contains("without tags"));
        assert!(read("a: 1\n---\nb: 2").unwrap_err().message.contains("one YAML document"));
    }
}
