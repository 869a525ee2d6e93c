//! Errors in the values of a JSON object, in plain words.

/// The words of the JSON reader, each with the words that a user of JSON would choose.
const WORDS: [(&str, &str); 14] = [
    ("unknown variant", "unknown name"),
    ("unit value", "nothing"),
    ("invalid type: sequence", "invalid type: a list"),
    ("invalid type: map", "invalid type: a mapping"),
    ("expected a sequence", "expected a list"),
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

/// Replaces the words of Rust by words of JSON and of everyday language.
pub(super) fn plain(message: &str) -> String {
    let mut text = message.to_owned();
    for (rust, word) in WORDS {
        text = text.replace(rust, word);
    }
    // The name of a Rust type says nothing to the writer of a file.
    if let Some((wrong, _)) = text.split_once(", expected struct ") {
        text = format!("{wrong}, expected a mapping");
    }
    text
}
