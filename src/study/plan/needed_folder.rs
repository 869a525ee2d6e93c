//! The folder of files that an experiment needs and that Mumakil does not bring, such as real traces.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the folder of files that an experiment needs, as its `needs` says; `None` if it is not
/// here.
pub fn needed_folder(needs: &str) -> Option<PathBuf> {
    let (variable, name) =
        needs.split_once('/').map_or((needs, None), |(it, name)| (it, Some(name)));
    let folder = PathBuf::from(std::env::var_os(variable)?);
    let Some(name) = name else { return Some(folder) };
    let mut places = vec![folder.join(name)];
    // Resolve it first: a relative path may have no parent in its text.
    if let Some(around) = folder.canonicalize().ok().as_deref().and_then(Path::parent) {
        places.push(around.join(name));
        let folders = fs::read_dir(around).into_iter().flatten().flatten();
        let mut beside: Vec<PathBuf> = folders.map(|entry| entry.path().join(name)).collect();
        beside.sort();
        places.extend(beside);
    }
    places.into_iter().find(|place| place.is_dir())
}
