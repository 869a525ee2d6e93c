//! Names of pools and queues: jobs name them by these alone, so each means one in the whole tree.

use rustc_hash::FxHashSet;

/// How deep pools may lie in each other.
pub const DEEPEST: usize = 64;

/// How many characters a name may have.
pub const LONGEST_NAME: usize = 100;

/// The names that have come so far.
#[derive(Debug)]
pub struct Names<'n> {
    /// What has these names.
    what: &'static str,
    seen: FxHashSet<&'n str>,
}

impl<'n> Names<'n> {
    /// Returns no names of such things.
    pub fn of(what: &'static str) -> Self {
        Self { what, seen: FxHashSet::default() }
    }

    /// Takes a name; returns what is wrong with it, and what to do.
    pub fn take(&mut self, name: &'n str) -> Option<(String, String)> {
        let what = self.what;
        if name.trim().is_empty() {
            Some((format!("a {what} has no name"), "give it one".to_owned()))
        } else if name.chars().nth(LONGEST_NAME).is_some() {
            let message = format!("a {what}'s name is longer than {LONGEST_NAME} characters");
            Some((message, "choose a shorter one".to_owned()))
        } else if !self.seen.insert(name) {
            let hint = format!("jobs name their {what} by this alone: choose another name");
            Some((format!("there is a {what} `{name}` already"), hint))
        } else {
            None
        }
    }
}
