//! All integration tests: one binary, a module for each subject.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use tempfile::TempDir;

mod bench;
mod beside;
mod blocks;
mod cached_file;
mod capacity;
mod chaos;
mod charts;
mod checkpoints;
mod command_line;
mod commit_pending;
mod deadlines;
mod decisions;
mod determinism;
mod estimators;
mod examples;
mod explain;
mod external;
mod fair;
mod fifo;
mod finding;
mod fluid;
mod gallery;
mod guide;
mod heartbeats;
mod hfsp;
mod idle;
mod invalid;
mod job_settings;
mod later;
mod layers;
mod liveness;
mod model;
mod modified_fair;
mod mumak;
mod named_programs;
mod own_format;
mod own_table;
mod parting;
mod picture;
mod python;
mod rank;
mod real_hadoop;
mod recovery;
mod reduces_by_place;
mod resources;
mod sandbox;
mod scenarios;
mod schema;
mod shares;
mod shuffles;
mod signs;
mod sources;
mod speculation;
mod srt;
mod steady;
mod studies;
mod study_folder;
mod survival;
mod terminal;
mod tidy;
mod together;
mod traces;
mod transcripts;
mod two_stories;
mod unlike_nodes;
mod workloads;

// The tests of satellites stand in their folders.
#[path = "../../satellites/cited/tests/mod.rs"]
mod cited;
#[path = "../../satellites/course/tests/mod.rs"]
mod course;
#[path = "../../satellites/fleet/tests/mod.rs"]
mod fleet;
#[path = "../../satellites/live/tests/mod.rs"]
mod live;
#[path = "../../satellites/logs/tests/mod.rs"]
mod logs;
#[path = "../../satellites/papers/tests/mod.rs"]
mod papers;
#[path = "../../satellites/chaos/tests/mod.rs"]
mod programs;
#[path = "../../satellites/arena/tests/mod.rs"]
mod scores;

/// Returns the folder of the repository.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A temporary folder in which a test calls `mumakil`.
struct Room {
    folder: TempDir,
    /// The folder in which `mumakil` remembers programs.
    state: TempDir,
}

impl Room {
    fn new() -> Self {
        Self { folder: TempDir::new().unwrap(), state: TempDir::new().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> &Self {
        fs::write(self.path(name), text).unwrap();
        self
    }

    /// Returns `mumakil` with these arguments, separated by spaces.
    fn mumakil(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mumakil"));
        command.current_dir(self.folder.path()).args(arguments.split_whitespace());
        command.env("XDG_STATE_HOME", self.state.path());
        command
    }

    /// Returns the names of all files in the folder, hidden ones too, sorted.
    fn names(&self) -> Vec<String> {
        names(self.folder.path())
    }
}

/// Returns the rows of a run's table, each by column.
fn rows(table: &Path) -> Vec<BTreeMap<String, String>> {
    csv::Reader::from_path(table).unwrap().deserialize().map(Result::unwrap).collect()
}

/// Returns whether Python is missing. If so, prints that the test is skipped.
fn lacks_python() -> bool {
    let lacks = Command::new("python3").arg("-V").output().is_err();
    if lacks {
        eprintln!("skipped: there is no python3");
    }
    lacks
}

/// Returns the names in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Returns the relative paths of all files in a folder and below.
fn files(folder: &Path) -> Vec<String> {
    let mut files = Vec::new();
    for name in names(folder) {
        let path = folder.join(&name);
        if path.is_dir() {
            files.extend(files_below(&path, &name));
        } else {
            files.push(name);
        }
    }
    files
}

fn files_below(folder: &Path, name: &str) -> Vec<String> {
    files(folder).into_iter().map(|file| format!("{name}/{file}")).collect()
}
