//! The failed runs of a study: each leaves its scenario in a file that begins with the reason.
//!
//! ```text
//! failed/3f9a….yaml:
//!   # nodes 10, fair, seed 42: it stalled after 3 min: nothing can move any more
//!   name: scaling
//!   …                           `mumakil run failed/3f9a….yaml` repeats the run
//! ```
//! This file is the only record of the failure for all processes and machines. When the run is done
//! later, the file is removed.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use rustc_hash::FxHashSet;

use crate::run::store::{FAILED, Store, clear, visible};
use mumakil_base::files;
use mumakil_run::output::{OutputError, write_file};
use mumakil_scenario::Scenario;

/// The beginning of a file's first line.
const FIRST: &str = "# ";
/// The beginning of the comment's further lines.
const NEXT: &str = "#   ";

/// Writes the note of a failed run: `what` is the run in words, `why` the reason.
pub fn note(
    store: &Store,
    run: &str,
    what: &str,
    why: &str,
    scenario: &Scenario,
) -> Result<(), OutputError> {
    let text = comment(&format!("{what}: {why}")) + &scenario.to_yaml();
    write_file(&store.folder().join(FAILED), &name(run), text.as_bytes())
}

/// Removes the note of a failed run. A note that cannot be removed does no harm: [`read`] skips
/// runs that are in the store.
pub fn forget(store: &Store, run: &str) {
    if fs::remove_file(path(store, run)).is_ok() {
        // Remove the folder only if it is empty now: other runs may have failed.
        let _ = fs::remove_dir(store.folder().join(FAILED));
    }
}

/// Removes the notes of all runs that are not in `runs`.
pub fn keep_only(store: &Store, runs: &[impl AsRef<str>]) -> Result<(), OutputError> {
    let folder = store.folder().join(FAILED);
    clear(&folder, |name| {
        name.ends_with(".yaml")
            && !runs.iter().any(|run| name.strip_suffix(".yaml") == Some(run.as_ref()))
    })?;
    let _ = fs::remove_dir(folder);
    Ok(())
}

/// Returns the names of the runs with a note; some of these runs may have succeeded since.
pub fn noted(store: &Store) -> Result<FxHashSet<String>, OutputError> {
    let names = visible(&store.folder().join(FAILED))?;
    Ok(names.iter().filter_map(|name| name.strip_suffix(".yaml")).map(str::to_owned).collect())
}

/// Returns the failed runs by name, each with the run in words and the reason.
pub fn read(store: &Store) -> Result<BTreeMap<String, String>, OutputError> {
    // Another process may delete a note while we read: its run has succeeded since, so skip it.
    let told = noted(store)?.into_iter().filter_map(|run| {
        let text = files::own_text(&path(store, &run)).ok()?;
        Some((run, words(&text)))
    });
    Ok(told.filter(|(run, _)| !store.has(run)).collect())
}

/// Copies the note of a run from one folder into another.
pub fn copy(from: &Store, to: &Store, run: &str) -> Result<(), OutputError> {
    let source = path(from, run);
    let text =
        files::own_text(&source).map_err(|why| OutputError::Read { path: source, source: why })?;
    write_file(&to.folder().join(FAILED), &name(run), text.as_bytes())
}

/// Returns the path of a run's note.
pub fn path(store: &Store, run: &str) -> PathBuf {
    store.folder().join(FAILED).join(name(run))
}

fn name(run: &str) -> String {
    format!("{run}.yaml")
}

/// Returns a text as a YAML comment. Characters that YAML forbids even in comments are escaped.
fn comment(words: &str) -> String {
    let mut text = String::new();
    for (number, line) in words.split('\n').enumerate() {
        text += if number == 0 { FIRST } else { NEXT };
        for c in line.chars() {
            match c {
                // In YAML the first two are line ends, which would end the comment.
                '\u{2028}' | '\u{2029}' | '\u{feff}' => text.extend(c.escape_default()),
                c if c.is_control() => text.extend(c.escape_default()),
                c => text.push(c),
            }
        }
        text.push('\n');
    }
    text
}

/// Returns the text of the comment at the head of a file.
fn words(text: &str) -> String {
    let mut lines = text.lines();
    let first = lines.next().and_then(|line| line.strip_prefix(FIRST));
    let Some(first) = first else { return "nobody has noted why".to_owned() };
    let rest = lines.map_while(|line| line.strip_prefix(NEXT));
    rest.fold(first.to_owned(), |words, line| words + "\n" + line)
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use mumakil_scenario::Draft;

    fn scenario() -> Scenario {
        let yaml = "workload: {jobs: [{name: a, maps: 1, map_time: 1s}]}";
        Draft::of("test.yaml", yaml).unwrap().resolve(&crate::testing::registry()).unwrap().scenario
    }

    #[test]
    fn a_failed_run_is_told_until_it_is_done() {
        let room = TempDir::new().unwrap();
        let store = Store::of(room.path()).unwrap();
        assert!(read(&store).unwrap().is_empty());
        note(&store, "a", "seed 1", "it broke:\nhere\nand there", &scenario()).unwrap();
        note(&store, "b", "seed 2", "it stalled", &scenario()).unwrap();
        let told = read(&store).unwrap();
        assert_eq!(told["a"], "seed 1: it broke:\nhere\nand there");
        assert_eq!(told["b"], "seed 2: it stalled");
        forget(&store, "b");
        assert_eq!(read(&store).unwrap().keys().collect::<Vec<_>>(), ["a"]);
        // The run is done, but the process could not remove the note.
        fs::create_dir_all(room.path().join("runs/a")).unwrap();
        fs::write(room.path().join("runs/a").join(mumakil_base::files::RESOLVED), "").unwrap();
        store.refresh().unwrap();
        assert!(read(&store).unwrap().is_empty());
        keep_only(&store, &[] as &[&str]).unwrap();
        assert!(!room.path().join(FAILED).exists());
    }

    #[test]
    fn a_kept_case_runs_whatever_its_reason_says() {
        let room = TempDir::new().unwrap();
        let store = Store::of(room.path()).unwrap();
        let why = "\u{1b}[31m\u{0}\u{7f}\r\u{85}\u{2028}\u{feff}: # \"}\n%YAML\nname: other";
        note(&store, "a", "seed 1", why, &scenario()).unwrap();
        let text = fs::read_to_string(path(&store, "a")).unwrap();
        assert!(text.starts_with("# seed 1: \\u{1b}[31m"), "{text}");
        let again =
            Draft::of("a.yaml", &text).unwrap().resolve(&crate::testing::registry()).unwrap();
        assert_eq!(again.scenario.to_yaml(), scenario().to_yaml());
    }

    #[test]
    fn a_file_without_a_reason_is_told_too() {
        assert_eq!(words("name: a\n"), "nobody has noted why");
        assert_eq!(words(""), "nobody has noted why");
    }
}
