//! Names of pools and queues: jobs name them by these alone, so each means one in the whole tree.

use rustc_hash::FxHashSet;

/// How deep pools may lie in each other.
pub const DEEPEST: usize = 64;

/// How many characters a name may have.
pub const LONGEST_NAME: usize = 100;

/// So many names are told; of more, how many they are.
const TOLD: usize = 4;

/// Returns names as messages list them.
pub fn listed<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let mut names = names.into_iter();
    let told: Vec<String> = names.by_ref().take(TOLD).map(|name| format!("`{name}`")).collect();
    match names.count() {
        0 => told.join(", "),
        more => format!("{} and {more} more", told.join(", ")),
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_of_many_names_are_told() {
        assert_eq!(listed(["a", "b"]), "`a`, `b`");
        assert_eq!(listed(["a", "b", "c", "d", "e", "f"]), "`a`, `b`, `c`, `d` and 2 more");
    }
}
