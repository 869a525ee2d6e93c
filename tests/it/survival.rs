//! Commands that are killed at any moment, or run out of space in any file: finished files are
//! whole, and the next call continues the work and removes unfinished files.
//!
//! `MUMAKIL_KILLS` sets how often each command is killed; more kills hit more moments.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::{Room, files};

const SMALL: &str = "
name: small
cluster: {nodes: 3}
workload: {jobs: [{name: a, count: 5, maps: 8, reduces: 2, map_time: 5s}]}
record: {events: true}
";

const STUDY: &str = "
base: small.yaml
name: study
record: {events: false}
sweep: {cluster.nodes: [2, 3, 4], seeds: 2}
metrics: [makespan]
charts: [{bars: {metric: makespan}}]
";

const EXPERIMENT: &str = "
experiment: {id: DS-F1, what: something small, published: nothing}
name: DS-F1
cluster: {nodes: 3}
workload: {jobs: [{name: a, maps: 8, reduces: 2, map_time: 5s}]}
sweep: {seeds: 2}
metrics: [makespan]
expect: [makespan > 0s]
";

/// The files below a folder with their bytes, without hidden files. Some files differ from run to
/// run and need only be readable: costs on this machine, and signs of life.
type Tree = BTreeMap<String, Vec<u8>>;

fn tree(folder: &Path) -> Tree {
    let visible =
        files(folder).into_iter().filter(|path| !path.contains("/.") && !path.starts_with('.'));
    let read = |path: String| {
        let mut bytes = fs::read(folder.join(&path)).unwrap();
        if path.ends_with("perf.json") || path.contains("/at-work/") {
            serde_json::from_slice::<serde_json::Value>(&bytes).unwrap();
            bytes.clear();
        }
        (path, bytes)
    };
    visible.map(read).collect()
}

/// Returns the files of a tree that are in a folder.
fn part<'t>(tree: &'t Tree, folder: &str) -> Vec<(&'t String, &'t Vec<u8>)> {
    tree.iter().filter(|(path, _)| path.starts_with(folder)).collect()
}

/// Checks that each file has its content from before or from after the command, and that each run's
/// folder is whole.
fn check(found: &Tree, before: &Tree, after: &Tree) {
    for (path, bytes) in found {
        let is = |tree: &Tree| tree.get(path) == Some(bytes);
        assert!(is(before) || is(after), "{path} has {} bytes", bytes.len());
        if let Some(run) = path.strip_suffix("scenario.resolved.yaml") {
            let is = |tree| part(found, run) == part(tree, run);
            assert!(is(before) || is(after), "{run}: {:?}", part(found, run));
        }
        // These folders have several runs, which are there together or not at all.
        for whole in ["two/", "told/"].into_iter().filter(|whole| path.starts_with(whole)) {
            let is = |tree| part(found, whole) == part(tree, whole);
            assert!(is(before) || is(after), "{whole}: {:?}", part(found, whole));
        }
    }
    let lost = before.keys().find(|path| !found.contains_key(*path) && after.contains_key(*path));
    assert_eq!(lost, None);
}

fn hidden(folder: &Path) -> Vec<String> {
    let below = crate::names(folder).into_iter().flat_map(|name| {
        let path = folder.join(&name);
        let inner = if path.is_dir() { hidden(&path) } else { Vec::new() };
        inner.into_iter().chain(name.starts_with(".mumakil-").then_some(name)).collect::<Vec<_>>()
    });
    below.collect()
}

fn room() -> Room {
    let room = Room::new();
    room.write("small.yaml", SMALL).write("study.yaml", STUDY);
    let jobs: String = (0..2_000).map(|number| format!("job-{number},1\n")).collect();
    room.write("jobs.csv", &format!("name,maps\n{jobs}"));
    fs::create_dir_all(room.path("papers/delay-scheduling")).unwrap();
    room.write("papers/delay-scheduling/DS-F1.yaml", EXPERIMENT);
    room
}

fn copy(from: &Path) -> Room {
    let room = Room::new();
    for path in files(from) {
        fs::create_dir_all(room.path(&path).parent().unwrap()).unwrap();
        fs::copy(from.join(&path), room.path(&path)).unwrap();
    }
    room
}

/// Returns `mumakil` with these arguments, called by a shell after another command.
fn command(room: &Room, first: &str, words: &str) -> Command {
    let mut command = Command::new("sh");
    let binary = env!("CARGO_BIN_EXE_mumakil");
    command.arg("-c").arg(format!("{first} exec '{binary}' {words}"));
    command.current_dir(room.path("")).stdout(Stdio::null());
    command
}

/// Returns a folder in which some commands have run, its files before and after one more command,
/// and the time of that command.
#[expect(clippy::disallowed_methods, reason = "a process is killed by the wall clock")]
fn rehearsed(first: &[&str], words: &str) -> (Room, Tree, Tree, Duration) {
    let room = room();
    first.iter().for_each(|words| drop(room.mumakil(words).assert().success()));
    let before = tree(&room.path(""));
    let rehearsal = copy(&room.path(""));
    let began = Instant::now();
    rehearsal.mumakil(words).assert().success();
    let lasted = began.elapsed();
    let after = tree(&rehearsal.path(""));
    assert_ne!(before, after);
    (room, before, after, lasted)
}

#[expect(clippy::disallowed_methods, reason = "a process is killed by the wall clock")]
pub(crate) fn kill(first: &[&str], words: &str) {
    let (ready, before, after, lasted) = rehearsed(first, words);
    let times = std::env::var("MUMAKIL_KILLS").map_or(8, |times| times.parse().unwrap());
    // Use multiples of the golden ratio, which are spread evenly for any number of moments.
    for moment in (1..=times).map(|time| (f64::from(time) * 0.618_033_988_75).fract()) {
        let room = copy(&ready.path(""));
        let mut child = command(&room, "", words).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(lasted.mul_f64(moment));
        child.kill().unwrap();
        child.wait().unwrap();
        check(&tree(&room.path("")), &before, &after);
        room.mumakil(words).assert().success();
        assert!(tree(&room.path("")) == after, "killed at {moment}");
        assert_eq!(hidden(&room.path("")), Vec::<String>::new(), "killed at {moment}");
    }
}

const RUN: [&str; 2] = [
    "run small.yaml --quiet --seed 1 --out out --perfetto run.json",
    "run small.yaml --quiet --seed 2 --out out --perfetto run.json --force",
];
const COMPARE: [&str; 3] = [
    "run small.yaml --quiet --seed 1 --out a",
    "run small.yaml --quiet --seed 2 --out b",
    "compare a b --out both.html --force",
];
const BRANCH: [&str; 2] = [
    "branch small.yaml --at 5s --set scheduler=fair --out two --force",
    "branch small.yaml --at 5s --set scheduler=fair --seed 7 --out two --force",
];
const TRACE: &str = "trace convert jobs.csv --to yaml -o jobs.yaml.gz --force";
const STUDIES: &str = "study study.yaml --quiet --jobs 2 --out study";

#[cfg(target_os = "linux")]
#[test]
fn a_run_may_be_killed_at_any_moment() {
    kill(&RUN[..1], RUN[1]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_study_may_be_killed_at_any_moment() {
    kill(&[], STUDIES);
}

#[cfg(target_os = "linux")]
#[test]
fn a_comparison_may_be_killed_at_any_moment() {
    kill(&COMPARE[..2], COMPARE[2]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_branch_may_be_killed_at_any_moment() {
    kill(&[], BRANCH[0]);
    kill(&BRANCH[..1], BRANCH[1]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_conversion_may_be_killed_at_any_moment() {
    kill(&[], TRACE);
}

/// Runs a command with a limit on the size of files, again and again with a larger limit, until it
/// succeeds.
fn limit(first: &[&str], words: &str) {
    let (ready, before, after, _) = rehearsed(first, words);
    let mut blocks = 0;
    loop {
        let room = copy(&ready.path(""));
        let limit = format!("ulimit -f {blocks};");
        let output = command(&room, &limit, words).stderr(Stdio::piped()).output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        check(&tree(&room.path("")), &before, &after);
        assert_eq!(hidden(&room.path("")), Vec::<String>::new(), "{told}");
        if output.status.success() {
            assert!(0 < blocks);
            return;
        }
        assert_eq!(output.status.code(), Some(3), "{words} with {blocks} blocks: {told}");
        assert!(told.contains("cannot write") && told.contains("File too large"), "{told}");
        blocks += 1 + blocks / 2;
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_of_a_run_that_may_not_be_that_large_is_an_error_like_a_full_disk() {
    limit(&RUN[..1], RUN[1]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_of_a_study_that_may_not_be_that_large_is_an_error_like_a_full_disk() {
    limit(&[], STUDIES);
}

#[cfg(target_os = "linux")]
#[test]
fn any_other_file_that_may_not_be_that_large_is_an_error_like_a_full_disk() {
    limit(&COMPARE[..2], COMPARE[2]);
    limit(&[], TRACE);
}
