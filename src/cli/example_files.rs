//! Files to try commands with, built into the program: `mumakil show history.log > history.log`.

use std::io::Read as _;

use flate2::read::GzDecoder;
use mumakil_scenario::bundled_files::{OTHERS, TEXTS};

/// Returns the content of the bundled file with this name; packed files are unpacked.
pub(crate) fn example_file(name: &str) -> Option<String> {
    let is_named = |path: &str| path.rsplit('/').next() == Some(name);
    if let Some((_, text)) = TEXTS.iter().find(|(path, _)| is_named(path)) {
        return Some((*text).to_owned());
    }
    let packed = OTHERS.iter().find(|(path, _)| path.strip_suffix(".gz").is_some_and(is_named));
    let mut text = String::new();
    GzDecoder::new(packed?.1).read_to_string(&mut text).ok()?;
    Some(text)
}
