//! What is wrong with a value, in the words of people.

/// What `serde` says, and what a user of YAML or JSON would say.
const WORDS: [(&str, &str); 21] = [
    ("unknown variant", "unknown name"),
    ("invalid type: unit variant, expected newtype variant", "this name needs its options"),
    ("invalid type: unit variant, expected struct variant", "this name needs its options"),
    ("invalid type: newtype variant, expected unit variant", "this name takes no options"),
    ("invalid type: map, expected unit", "this name takes no options"),
    ("invalid value: map, expected map with a single key", "a choice is one name with its options"),
    ("expected enum", "expected a name, or a name with its options"),
    ("unit value", "nothing"),
    ("invalid type: sequence", "invalid type: a list"),
    ("invalid type: map", "invalid type: a mapping"),
    ("expected a sequence", "expected a list"),
    ("expected an array of length", "expected a list of"),
    ("expected a map", "expected a mapping"),
    ("expected a string", "expected a text"),
    ("expected a boolean", "expected `true` or `false`"),
    ("expected u64", "expected a whole number of zero or more"),
    ("expected u32", "expected a whole number of zero or more"),
    ("expected i64", "expected a whole number"),
    ("expected f64", "expected a number"),
    ("invalid type: string", "invalid type: text"),
    ("invalid value: string", "invalid value: text"),
];

/// Puts the words of files and of people for those of Rust.
pub(crate) fn plain(message: &str) -> String {
    let mut text = message.to_owned();
    for (rust, word) in WORDS {
        text = text.replace(rust, word);
    }
    // The name of a Rust type says nothing to who writes a file.
    if let Some((wrong, _)) = text.split_once(", expected struct ") {
        text = format!("{wrong}, expected a mapping");
    }
    text
}
