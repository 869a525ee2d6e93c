//! Tests that make each writing operation of a command fail: the command must report the error, and
//! leave whole results or none.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

use crate::Program;
use crate::failure::Failure;
use mumakil_base::disk::testing::Failing;
use mumakil_base::files::{REPORT, RESOLVED, STUDY, SUMMARY};
use mumakil_run::output::HIDDEN;

const SCENARIO: &str = "
name: small
cluster: {nodes: 3}
workload: {jobs: [{name: a, maps: 2, reduces: 1, map_time: 5s}, {name: b, after: [a], maps: 1}]}
record: {events: true, alone: true, chains: true}
expect: [makespan > 0s]
";

const STUDY_OF_TWO: &str = "
base: small.yaml
name: study
record: {events: false, alone: false, timeline: false, histograms: false, report: false}
sweep: {cluster.nodes: [2, 3]}
metrics: [makespan]
charts: [{bars: {metric: makespan}}]
expect: [makespan > 0s]
";

/// Returns a folder with the files that the commands need.
fn room() -> TempDir {
    let room = TempDir::new().unwrap();
    fs::write(room.path().join("small.yaml"), SCENARIO).unwrap();
    fs::write(room.path().join("study.yaml"), STUDY_OF_TWO).unwrap();
    fs::write(room.path().join("jobs.csv"), "name,maps\na,1\nb,2\n").unwrap();
    room
}

/// Executes a command line; a word that begins with `@` is a path in the folder.
fn call(room: &Path, words: &str) -> Result<(), Failure> {
    let program = Program::new(crate::testing::registry(), Vec::new(), Vec::new());
    let word = |word: &str| match word.strip_prefix('@') {
        Some(name) => room.join(name).into_os_string(),
        None => OsString::from(word),
    };
    let words = ["mumakil"].into_iter().chain(words.split_whitespace()).map(word);
    program.run(&program.definition().get_matches_from(words))
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).unwrap()),
        }
    }
}

/// Checks that a folder has no hidden files, and that its runs, studies and pages are whole.
fn check(folder: &Path, told: &str) {
    let has = |name: &str| folder.join(name).exists();
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    for name in names.map(|name| name.into_string().unwrap()) {
        let path = folder.join(&name);
        assert!(!name.starts_with(HIDDEN), "{told}: {}", path.display());
        if path.is_dir() {
            check(&path, told);
        } else if name.ends_with(".json") {
            let text = fs::read(&path).unwrap();
            assert!(serde_json::from_slice::<serde_json::Value>(&text).is_ok(), "{told}: {name}");
        } else if name.ends_with(".html") {
            assert!(fs::read_to_string(&path).unwrap().trim_end().ends_with("</html>"), "{told}");
        }
    }
    // A whole run has `perf.json`, and a whole study has its report.
    assert!(!has(RESOLVED) || has("perf.json"), "{told}: {}", folder.display());
    assert!(!(has(STUDY) && has(SUMMARY)) || has(REPORT), "{told}: {}", folder.display());
}

/// Makes each writing operation of a command fail: once alone, and once with all later operations.
/// Returns the number of operations.
fn fail_at_each(before: &[&str], words: &str) -> usize {
    let ready = room();
    before.iter().for_each(|words| call(ready.path(), words).unwrap());
    let mut operations = 0;
    for bad in [1, usize::MAX] {
        for good in 0.. {
            let room = TempDir::new().unwrap();
            copy(ready.path(), room.path());
            let failing = Failing::new(room.path(), good, bad);
            let result = call(room.path(), words);
            let Some(at) = failing.failed() else {
                assert!(result.is_ok(), "{words}: {result:?}");
                operations = good;
                break;
            };
            drop(failing);
            let Err(Failure::Environment(error)) = &result else {
                panic!("{words}, {good} good, {bad} bad, {}: {result:?}", at.display());
            };
            let told = format!("{words}, {good} good, {bad} bad, {}: {error:#}", at.display());
            assert!(told.ends_with("no room, says a test"), "{told}");
            // The error may name the file itself, the final name of a hidden file, or the folder.
            let name = at.file_name().unwrap().to_string_lossy();
            let is_named = error.to_string().contains(&*name) || name.starts_with(HIDDEN);
            assert!(is_named && error.to_string().starts_with("cannot write "), "{told}");
            check(room.path(), &told);
        }
    }
    operations
}

#[test]
fn a_run_survives_a_disk_that_fails_at_any_operation() {
    let run = "run @small.yaml --quiet --out @out --perfetto @run.json --verify";
    let operations = fail_at_each(&[], run);
    assert!(40 < operations, "{operations}");
}

#[test]
fn a_run_that_cannot_be_replaced_stays() {
    let before = ["run @small.yaml --quiet --out @out"];
    let ready = room();
    call(ready.path(), before[0]).unwrap();
    let old = fs::read_to_string(ready.path().join("out").join(SUMMARY)).unwrap();
    let again = "run @small.yaml --quiet --out @out --force --seed 7";
    for good in 0.. {
        let failing = Failing::new(ready.path(), good, usize::MAX);
        let result = call(ready.path(), again);
        if failing.failed().is_none() {
            result.unwrap();
            break;
        }
        let new = fs::read_to_string(ready.path().join("out").join(SUMMARY)).unwrap();
        assert!(old == new && matches!(result, Err(Failure::Environment(_))), "{good} good");
    }
    let new = fs::read_to_string(ready.path().join("out").join(SUMMARY)).unwrap();
    assert_ne!(old, new);
}

#[test]
fn a_study_survives_a_disk_that_fails_at_any_operation() {
    let operations = fail_at_each(&[], "study @study.yaml --quiet --jobs 1 --out @out");
    assert!(40 < operations, "{operations}");
}

#[test]
fn a_packed_study_survives_a_disk_that_fails_at_any_operation() {
    let study = "study @study.yaml --quiet --jobs 1 --keep packed --out @out";
    assert!(40 < fail_at_each(&[], study));
    assert!(40 < fail_at_each(&[study], &format!("{study} --set sweep.seeds=2")));
}

#[test]
fn parts_of_a_study_survive_a_disk_that_fails_at_any_operation() {
    let parts = [1, 2].map(|it| format!("study @study.yaml --shard {it}/2 --out @p{it} --quiet"));
    assert!(
        20 < fail_at_each(&parts.each_ref().map(String::as_str), "study merge @p1 @p2 --out @out")
    );
}

#[test]
fn small_outputs_survive_a_disk_that_fails_at_any_operation() {
    let runs = ["run @small.yaml --quiet --out @a", "run @small.yaml --quiet --seed 2 --out @b"];
    assert!(2 < fail_at_each(&runs, "compare @a @b --out @deep/both.html"));
    assert!(2 < fail_at_each(&[], "trace convert @jobs.csv --to csv -o @deep/jobs.csv"));
    assert!(2 < fail_at_each(&[], "trace convert @jobs.csv --to csv -o @jobs.csv.gz"));
}
