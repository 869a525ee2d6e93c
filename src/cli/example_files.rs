//! Files to try commands with, built into the program: `mumakil show history.log > history.log`.

use std::io::Read as _;

use flate2::read::GzDecoder;

/// Returns the content of the example file with this name.
pub(crate) fn example_file(name: &str) -> Option<String> {
    let text = match name {
        "morning.tsv" => include_str!("../../scenarios/traces/morning.tsv"),
        "notebook.ipynb" => include_str!("../../scenarios/notebook.ipynb"),
        "search.py" => include_str!("../../examples/search.py"),
        "history.log" => {
            let packed = include_bytes!("../../scenarios/traces/history.log.gz");
            let mut text = String::new();
            GzDecoder::new(&packed[..]).read_to_string(&mut text).ok()?;
            return Some(text);
        }
        _ => return None,
    };
    Some(text.to_owned())
}
