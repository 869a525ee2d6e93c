//! The reference as a chapter of the guide: what many keys share is told once, and then referred to.

use std::fmt::Write as _;

use mumakil_base::units::tell::listed;

use super::{Reference, ReferenceEntry};

/// The kinds of values that many keys take: the words in the chapter, and what `takes` says.
const KINDS: [(&str, &str); 11] = [
    ("`auto` or a duration", "`auto`, or a duration with a unit, such as 3s"),
    ("a duration", "a duration with a unit, such as 3s, 200ms, 10min or 1h 30min"),
    ("a size", "a size with a unit, such as 128MiB, 1GB or 64KiB"),
    ("a speed", "a speed above zero, such as 80MB/s or 1Gb/s"),
    ("a share", "a share from 0 to 1, such as 0.05 or 5 %"),
    ("a factor", "a factor of zero or more, such as 1.5 or 150 %"),
    ("a value", "a value, or a distribution such as {log_normal: {mean: …, cv: 0.2}}"),
    (
        "times",
        "a time, a distribution such as {log_normal: {mean: 20s, cv: 0.2}}, or a list with the time of each task",
    ),
    (
        "names",
        "a name, or several such as {in_turn: [ann, bob]}, {weighted: {ann: 3, bob: 1}} or {numbered: user}",
    ),
    (
        "nodes",
        "`all`, nodes such as node-3 or [node-3, node-5], a number of them, or a share such as 10 %",
    ),
    ("a file", "the path of a file, or {path: …, sha256: …}"),
];

/// The values whose keys, which follow, tell what they are.
const MAPPINGS: [&str; 3] =
    ["a mapping", "a list, each a mapping", "a mapping from names, each to a mapping"];

/// The largest number of words about a key, and the keys inside it, that the chapter repeats.
const SHORT: usize = 3;

impl Reference {
    /// Returns the whole reference as a chapter in Markdown.
    pub fn chapter(&self) -> String {
        let mut text = "## Kinds of values\n\n".to_owned();
        for (word, takes) in KINDS {
            let _ = match takes.strip_prefix(word) {
                Some(rest) => writeln!(text, "- **{word}**{rest}"),
                None => writeln!(text, "- **{word}**: {takes}"),
            };
        }
        let mut place = 0;
        while place < self.entries.len() {
            let entry = &self.entries[place];
            if !entry.path.contains(['.', '[']) {
                let (path, takes) = (&entry.path, takes_and_default(entry));
                let _ =
                    write!(text, "\n## `{path}`\n\n{}\n\nTakes {takes}.\n\n", self.about(place));
                place += 1;
            } else if let Some((line, after)) = self.told_before(place) {
                text.push_str(&line);
                place = after;
            } else {
                text.push_str(&self.item(place));
                place += 1;
            }
        }
        // Two blank lines follow a heading without keys.
        text.replace("\n\n\n", "\n\n")
    }

    /// Returns the description of a key; the meanings of its values only if no earlier key has them.
    fn about(&self, place: usize) -> String {
        let ReferenceEntry { about, named, .. } = &self.entries[place];
        let earlier =
            self.entries[..place].iter().find(|it| !named.is_empty() && it.named == *named);
        let named = earlier.map_or(named.clone(), |it| format!(" Values as in `{}`.", it.path));
        format!("{about}{named}").replace(" It matters only ", " Only ")
    }

    fn item(&self, place: usize) -> String {
        let entry = &self.entries[place];
        let (takes, about) = (takes_and_default(entry), self.about(place));
        let gap = if takes.is_empty() || about.is_empty() { "" } else { "\\\n  " };
        format!("- **`{}`**: {takes}{gap}{}\n", entry.path, about.trim_start())
    }

    /// Returns a line for a key that an earlier one describes, and for the keys beside it for which keys
    /// beside the other do, with the place after them.
    fn told_before(&self, place: usize) -> Option<(String, usize)> {
        let (own, other) = self.parents(place)?;
        let (mut names, mut after) = (Vec::new(), place);
        while after < self.entries.len() && self.parents(after) == Some((own, other)) {
            names.push(format!("`{}`", parent_and_name(&self.entries[after].path).1));
            after += self.tree(after).len();
        }
        let beside = self.entries.iter().filter(|it| parent_and_name(&it.path).0 == own).count();
        let keys = if names.len() == beside { "all".to_owned() } else { listed(names, "and") };
        Some((format!("- **`{own}`**: {keys} as in `{other}`\n"), after))
    }

    /// Returns the keys around a key and around the earlier one that describes it.
    fn parents(&self, place: usize) -> Option<(&str, &str)> {
        let other = self.described(place, SHORT)?;
        Some((
            parent_and_name(&self.entries[place].path).0,
            parent_and_name(&self.entries[other].path).0,
        ))
    }
}

fn parent_and_name(path: &str) -> (&str, &str) {
    path.rsplit_once('.').unwrap_or(("", path))
}

/// Returns the values that a key takes and its default. The default of a truth value tells its kind,
/// and the keys inside a mapping tell that it is one.
fn takes_and_default(entry: &ReferenceEntry) -> String {
    let takes =
        KINDS.iter().fold(entry.takes.clone(), |text, (word, takes)| text.replace(takes, word));
    match &entry.default {
        Some(default) if takes == "`true` or `false`" => format!("default {default}"),
        Some(default) => format!("{takes}; default {default}"),
        None if MAPPINGS.contains(&&*takes) && entry.path.contains('.') => String::new(),
        None => takes,
    }
}
