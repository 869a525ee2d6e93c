//! The files that a policy may read: its own, and those of the system that any program needs.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// The files of the system and of interpreters; `files.yaml` says what the lists mean.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileLists {
    system: Vec<PathBuf>,
    interpreters: Vec<String>,
    folders: Vec<String>,
}

/// The files that a policy may read.
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux has a sandbox"))]
pub(super) struct ReadableFiles {
    /// Files, and folders with all that is in them; none lies in another.
    pub(super) whole: Vec<PathBuf>,
    /// Folders whose names may be listed.
    pub(super) listed: Vec<PathBuf>,
}

impl ReadableFiles {
    /// Returns what a command needs: the system's files, the program's, and those that are named.
    pub(super) fn of(command: &[OsString]) -> Self {
        let FileLists { system: mut whole, interpreters, folders } =
            serde_yaml::from_str(include_str!("files.yaml")).expect("the file has these lists");
        whole.extend(fs::read_dir("/etc").into_iter().flatten().flatten().filter_map(|entry| {
            let name = entry.file_name();
            let mut starts = interpreters.iter();
            starts.any(|one| name.to_string_lossy().starts_with(one)).then(|| entry.path())
        }));
        for folder in folders.iter().filter_map(env::var_os) {
            whole.extend(env::split_paths(&folder));
        }
        if let Some(home) = env::var_os("HOME") {
            // Packages that the user has installed for Python.
            whole.push(Path::new(&home).join(".local/lib"));
        }
        if let Some(program) = command.first() {
            let folders = env::var_os("PATH").unwrap_or_default();
            let mut found = env::split_paths(&folders).map(|folder| folder.join(program));
            if let Some(link) = found.find(|path| path.is_file()) {
                // Its modules lie beside the program, or beside a link to it.
                for hop in hops(link) {
                    whole.extend(installed_in(&hop));
                    whole.push(hop);
                }
            }
        }
        let mut listed = Vec::new();
        for file in command.iter().map(PathBuf::from).filter(|path| path.is_file()) {
            let file = std::path::absolute(&file).unwrap_or(file);
            // An interpreter looks into the folder of its script for modules.
            listed.extend(file.parent().map(Path::to_owned));
            whole.extend(hops(file));
        }
        Self { whole: outermost(whole), listed }
    }
}

/// Returns the paths that exist and lie in no other one.
fn outermost(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    paths.retain(|path| path.is_absolute() && path.exists());
    paths.sort();
    let mut outer: Vec<PathBuf> = Vec::new();
    for path in paths {
        if !outer.iter().any(|folder| path.starts_with(folder)) {
            outer.push(path);
        }
    }
    outer
}

/// Returns a file, and what it is a link to, step by step.
fn hops(file: PathBuf) -> Vec<PathBuf> {
    let mut all = vec![file];
    // Chosen: the system itself follows 40 links.
    while let Some(to) =
        all.last().and_then(|link| Some(link.parent()?.join(link.read_link().ok()?)))
        && all.len() <= 40
    {
        all.push(to);
    }
    all.extend(all[0].canonicalize());
    all
}

/// Returns the folder in which a program is installed, with its modules; `None` if it stands alone.
fn installed_in(program: &Path) -> Option<PathBuf> {
    let folder = program.parent().filter(|folder| folder.ends_with("bin"))?.parent()?;
    let is_all =
        folder.parent().is_none() || env::var_os("HOME").is_some_and(|home| home == *folder);
    (!is_all).then(|| folder.to_owned())
}
