//! Names of pools and queues. A job gives only the last part of a pool's path, so each name must be
//! unique in the whole tree; [`TreeCheck`] checks this.

use std::array;
use std::collections::BTreeMap;
use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::FxHashSet;

use mumakil_core::mapred::Complaint;

/// The largest depth of nested pools or queues.
// Chosen: deeper than any organisation, yet shallow enough for recursive functions.
pub const DEEPEST: usize = 64;

/// The largest number of characters in a name.
// Chosen: short enough for tables and messages.
pub const LONGEST_NAME: usize = 100;

/// The largest number of names that a message lists. Of all other names, the message gives only the
/// number.
const TOLD: usize = 4;

/// Returns names as a list for messages.
pub fn listed<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let mut names = names.into_iter();
    let told: Vec<String> = names.by_ref().take(TOLD).map(|name| format!("`{name}`")).collect();
    match names.count() {
        0 => told.join(", "),
        more => format!("{} and {more} more", told.join(", ")),
    }
}

/// Notes each pool or queue with the one around it; `inside` returns those inside of one.
pub fn note_groups<G>(
    groups: &IndexMap<String, G>,
    inside: fn(&G) -> &IndexMap<String, G>,
    around: &str,
    places: &mut BTreeMap<String, String>,
) {
    for (name, group) in groups {
        places.insert(name.clone(), around.to_owned());
        note_groups(inside(group), inside, name, places);
    }
}

/// Puts the key of the option of pools or queues before the paths of complaints about it.
pub fn in_allocations(mut complaints: Vec<Complaint>) -> Vec<Complaint> {
    complaints.iter_mut().for_each(|complaint| complaint.path.insert(0, "allocations".to_owned()));
    complaints
}

/// A walk through a tree of pools or queues that collects complaints.
#[derive(Debug)]
pub struct TreeCheck<'n> {
    /// The word for a node of the tree in messages: `pool` or `queue`.
    what: &'static str,
    /// The path of keys to the node that is being checked.
    path: Vec<&'n str>,
    names: FxHashSet<&'n str>,
    complaints: Vec<Complaint>,
}

impl<'n> TreeCheck<'n> {
    /// Begins a walk at the root; `what` is the word for a node.
    pub fn of(what: &'static str) -> Self {
        Self { what, path: Vec::new(), names: FxHashSet::default(), complaints: Vec::new() }
    }

    /// Checks the children under a key with `look`, or complains if they are nested too deep.
    pub fn inside(&mut self, key: &'static str, look: impl FnOnce(&mut Self)) {
        self.path.push(key);
        // Each level has two keys on the path.
        if 2 * DEEPEST < self.path.len() {
            let message = format!("{}s lie in each other more than {DEEPEST} deep", self.what);
            self.complain(None, message, "make the tree flatter");
        } else {
            look(self);
        }
        self.path.pop();
    }

    /// Checks the name of one child, then checks the child with `look`.
    pub fn at(&mut self, name: &'n str, look: impl FnOnce(&mut Self)) {
        self.path.push(name);
        let what = self.what;
        if name.trim().is_empty() {
            self.complain(None, format!("a {what} has no name"), "give it one");
        } else if name.chars().nth(LONGEST_NAME).is_some() {
            let message = format!("a {what}'s name is longer than {LONGEST_NAME} characters");
            self.complain(None, message, "choose a shorter one");
        } else if !self.names.insert(name) {
            let hint = format!("jobs name their {what} by this alone: choose another name");
            self.complain(None, format!("there is a {what} `{name}` already"), &hint);
        }
        // Check the child even if its name is wrong, so that all mistakes are reported at once.
        look(self);
        self.path.pop();
    }

    /// Complains about an option of the current node; about the node itself if `key` is `None`.
    pub fn complain(&mut self, key: Option<&str>, message: String, hint: &str) {
        let path: Vec<&str> = self.path.iter().copied().chain(key).collect();
        self.complaints.push(Complaint::error(&path, message, hint));
    }

    /// Adds a warning about an option of the current node.
    pub fn warn(&mut self, key: &str, message: String, hint: &str) {
        let path: Vec<&str> = self.path.iter().copied().chain([key]).collect();
        self.complaints.push(Complaint::warning(&path, message, hint));
    }

    /// Returns the complaints, in the order of the tree.
    pub fn complaints(self) -> Vec<Complaint> {
        self.complaints
    }
}

/// A name that serves as a sort key. Most names of up to sixteen bytes are compared and copied as
/// quickly as two numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SortName {
    /// The first sixteen bytes of the name, as two big-endian numbers.
    head: [u64; 2],
    /// The whole name; `None` if `head` holds all of it.
    whole: Option<Arc<str>>,
}

impl SortName {
    /// Returns the sort key of a name.
    pub fn new(name: &Arc<str>) -> Self {
        const HEAD: usize = 16;
        let mut head = [0; HEAD];
        let length = name.len().min(HEAD);
        head[..length].copy_from_slice(&name.as_bytes()[..length]);
        // A short name is padded with zeros, which must not equal zeros of its own.
        let is_whole = name.len() <= HEAD && !name.ends_with('\0');
        // The first byte is the most significant, so the numbers sort like the names.
        let half = |from: usize| u64::from_be_bytes(array::from_fn(|place| head[from + place]));
        Self { head: [half(0), half(8)], whole: (!is_whole).then(|| name.clone()) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn names_to_sort_by_are_in_the_order_of_the_names(
            one in "[\u{0}ab\u{e9}]{0,20}",
            other in "[\u{0}ab\u{e9}]{0,20}",
            same in "[ab]{0,20}",
        ) {
            let [one, other] = [&one, &other].map(|end| Arc::from(format!("{same}{end}")));
            prop_assert_eq!(SortName::new(&one).cmp(&SortName::new(&other)), one.cmp(&other));
        }
    }

    #[test]
    fn only_the_first_of_many_names_are_told() {
        assert_eq!(listed(["a", "b"]), "`a`, `b`");
        assert_eq!(listed(["a", "b", "c", "d", "e", "f"]), "`a`, `b`, `c`, `d` and 2 more");
    }
}
