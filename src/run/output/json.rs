//! JSON files beside results, read and replaced as a whole.

use std::io::{ErrorKind, Read as _};
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{OutputError, write_file};
use mumakil_base::files;

/// Writes a value as indented JSON into a file of a folder.
pub fn write_json(folder: &Path, name: &str, value: &impl Serialize) -> Result<(), OutputError> {
    write_file(folder, name, text_of(value).as_bytes())
}

/// Returns a value as indented JSON with a final newline.
pub(super) fn text_of(value: &impl Serialize) -> String {
    // The newline is for people who print the file in a terminal.
    serde_json::to_string_pretty(value).expect("names and numbers are JSON") + "\n"
}

/// Reads a value that [`write_json`] wrote.
///
/// # Errors
/// If the file does not exist or has other content.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, OutputError> {
    let mut bytes = Vec::new();
    files::open_own(path)
        .and_then(|mut file| file.read_to_end(&mut bytes))
        .map_err(|source| OutputError::Read { path: path.to_owned(), source })?;
    serde_json::from_slice(&bytes)
        .map_err(|source| OutputError::Damaged { path: path.to_owned(), source })
}

/// Reads a value that [`write_json`] wrote; returns `None` if there is no file.
///
/// # Errors
/// If the file has other content.
pub fn read_json_if_there<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, OutputError> {
    match read_json(path) {
        // Only a missing file is `None`: a file without permission or with other content is an
        // error.
        Err(OutputError::Read { source, .. }) if source.kind() == ErrorKind::NotFound => Ok(None),
        read => read.map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_other_content_is_damaged_and_a_missing_one_is_not() {
        let room = tempfile::TempDir::new().unwrap();
        let path = room.path().join("study.json");
        assert!(matches!(read_json::<u32>(&path), Err(OutputError::Read { .. })));
        std::fs::write(&path, "{\"study\": ").unwrap();
        let found = read_json_if_there::<u32>(&path).unwrap_err();
        assert!(matches!(found, OutputError::Damaged { .. }), "{found:?}");
        std::fs::write(&path, b"\"\xff\"").unwrap();
        assert!(matches!(read_json::<String>(&path), Err(OutputError::Damaged { .. })));
        assert!(found.to_string().ends_with("restore it, or name another folder"), "{found}");
    }
}
