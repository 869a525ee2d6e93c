//! The reasons that an external policy gives. They are interned until Mumakil ends: every decision
//! has a reason, so a reason must be as cheap to copy as a reference.

use parking_lot::Mutex;
use rustc_hash::FxHashMap;

/// How many different reasons are kept.
const MOST: usize = 4_096;
// How many characters of each reason are kept. Chosen: a reason fits on a line of a table. At four
// bytes a character, all reasons together take 2 MB.
const LONGEST: usize = 120;

static KEPT: Mutex<Option<FxHashMap<String, &'static &'static str>>> = Mutex::new(None);

/// Returns the interned words; a fixed text if too many different reasons were given before.
pub(super) fn kept(words: &str) -> &'static &'static str {
    let words: String = words.chars().take(LONGEST).collect();
    let mut kept = KEPT.lock();
    let kept = kept.get_or_insert_with(FxHashMap::default);
    if let Some(known) = kept.get(&words) {
        return known;
    }
    // A policy that puts numbers into its reasons would fill the memory, so all further reasons
    // share one text.
    if kept.len() == MOST {
        return &"one more reason";
    }
    // Leaked twice, so that a reason takes one machine word: a reference to a text takes two.
    let text: &'static str = Box::leak(words.clone().into_boxed_str());
    let known: &'static &'static str = Box::leak(Box::new(text));
    kept.insert(words, known);
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_words_are_kept_once_and_long_ones_are_cut() {
        let first = kept("smallest first");
        assert_eq!(**first, *"smallest first");
        assert!(std::ptr::eq(first, kept("smallest first")));
        assert_eq!(kept(&"x".repeat(1_000)).len(), LONGEST);
    }
}
