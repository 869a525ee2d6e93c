//! The scenarios, policies, traces and experiments that stand in this folder, in the program.
//!
//! The folder is a crate, so that the other crates find the files wherever they are built.
//! `build.rs` lists the files.

include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// Returns the text of a file; a constant of a name that no file has does not compile.
///
/// # Panics
/// If no file has this path.
pub const fn text(path: &str) -> &'static str {
    let mut index = 0;
    while index < TEXTS.len() {
        if are_equal(TEXTS[index].0, path) {
            return TEXTS[index].1;
        }
        index += 1;
    }
    panic!("no file of `scenarios/` has this path");
}

/// Returns whether two texts are equal; `==` is no constant yet.
const fn are_equal(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut index = 0;
    while index < one.len() && index < other.len() && one[index] == other[index] {
        index += 1;
    }
    index == one.len() && index == other.len()
}
