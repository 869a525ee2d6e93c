//! A study's signs of life: other processes can tell whether the study works, has ended or was
//! killed, and which of its runs failed.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::studies::results;
use crate::{Room, files, studies};

/// Returns the study of the other tests, without its comparison, charts and expectations.
fn small() -> String {
    let (study, _) = studies::STUDY.split_once("compare:").unwrap();
    format!("{study}metrics: [mean(sojourn), makespan]\n")
}

/// A scenario whose run never ends.
pub(crate) const ENDLESS: &str = "
name: endless
cluster: {nodes: 500}
workload: {jobs: [{name: a, maps: 5000000, map_time: 60s}]}
sweep: {seeds: 2}
";

/// Returns a study on four and five nodes. Four nodes stop, so that the runs on four nodes fail.
pub(crate) fn with_failures() -> String {
    let stops = (1..=4).map(|node| format!("  - {{stop: node-{node}, at: 1min}}\n"));
    small().replace("[2, 3, 4, 5]", "[4, 5]") + "faults:\n" + &stops.collect::<String>()
}

fn assert_same(room: &Room, one: &str, other: &str) {
    studies::assert_same(&room.path(one), &room.path(other));
}

pub(crate) fn begin(room: &Room, arguments: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_mumakil"))
        .current_dir(room.path("."))
        .args(arguments.split_whitespace())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

pub(crate) fn status(room: &Room, folder: &str) -> Value {
    let told = room.mumakil(&format!("study status {folder} --json")).output().unwrap();
    assert!(told.status.success(), "{told:?}");
    serde_json::from_slice(&told.stdout).unwrap()
}

/// Waits until a condition holds; a minute at most.
#[expect(clippy::disallowed_methods, reason = "another process is waited for")]
pub(crate) fn until(holds: impl Fn() -> bool) {
    for _ in 0..6_000 {
        if holds() {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("the condition does not hold after a minute");
}

pub(crate) fn runs_in(room: &Room, folder: &str) -> usize {
    let runs = room.path(folder).join("runs");
    let names = if runs.is_dir() { crate::names(&runs) } else { Vec::new() };
    names.into_iter().filter(|name| !name.starts_with('.')).count()
}

#[cfg(unix)]
fn signal(child: &Child, name: &str) {
    let kill = format!("kill -{name} {}", child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
}

#[cfg(unix)]
#[test]
fn a_process_told_to_end_keeps_whole_runs_and_goes_on_later() {
    let room = Room::new();
    room.write("study.yaml", &small());
    room.mumakil("study study.yaml --quiet --out whole").assert().success();
    for (least, (name, code, words)) in
        [(1, ("TERM", 143, "told to end")), (3, ("INT", 130, "interrupted"))]
    {
        let child = begin(&room, "study study.yaml --quiet --jobs 1 --out out");
        until(|| least <= runs_in(&room, "out"));
        signal(&child, name);
        let ended = child.wait_with_output().unwrap();
        let told = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(code), "{told}");
        assert_eq!(told, format!("error: {words}; start it again to go on\n"));
        let half = files(&room.path("out")).into_iter().find(|file| file.contains(".mumakil-"));
        assert_eq!(half, None);
        let status = status(&room, "out");
        assert_eq!(status["processes"][0]["state"], "told to end", "{status}");
        assert_eq!(status["running"], 0);
        assert_eq!(status["done"], runs_in(&room, "out"));
    }
    let kept = runs_in(&room, "out");
    let again = room.mumakil("study study.yaml --jobs 1 --out out").output().unwrap();
    let told = String::from_utf8(again.stdout).unwrap();
    assert!(told.contains(&format!("  ran      {} run", 16 - kept)), "{kept}: {told}");
    assert_same(&room, "whole", "out");
}

#[test]
fn a_killed_process_does_not_look_alive_and_a_working_one_does() {
    let room = Room::new();
    room.write("study.yaml", ENDLESS);
    let mut child = begin(&room, "study study.yaml --jobs 1 --shard 2/2 --out out");
    until(|| room.path("out/at-work").is_dir() && room.path("out/study.json").exists());
    until(|| status(&room, "out")["running"] == 1);
    let alive = status(&room, "out");
    assert_eq!(alive["processes"][0]["state"], "at work", "{alive}");
    assert_eq!(alive["running_now"][0]["what"], "seed 43", "{alive}");
    assert_eq!(alive["processes"][0]["pid"], child.id());
    let told = room.mumakil("study status out").output().unwrap();
    let told = String::from_utf8(told.stdout).unwrap();
    assert!(told.contains("  running    1   in 1 process"), "{told}");
    assert!(told.contains("\n  seed 43   ") && !told.contains("nobody is at work"), "{told}");
    child.kill().unwrap();
    child.wait().unwrap();
    let gone = status(&room, "out");
    assert_eq!(gone["processes"][0]["state"], "gone", "{gone}");
    assert_eq!((&gone["running"], &gone["left"]), (&0.into(), &2.into()));
    let told = room.mumakil("study status out").output().unwrap();
    let told = String::from_utf8(told.stdout).unwrap();
    assert!(told.contains("  ended    process "), "{told}");
    assert!(told.contains("nobody is at work; start the study again to go on"), "{told}");
}

#[test]
fn the_status_of_parts_is_that_of_the_study() {
    let room = Room::new();
    room.write("study.yaml", &small());
    for part in ["1/4", "2/4"] {
        let part = format!("study study.yaml --quiet --keep folders --shard {part} --out out");
        room.mumakil(&part).assert().success();
    }
    let half = status(&room, "out");
    assert_eq!((&half["runs"], &half["done"], &half["left"]), (&16.into(), &8.into(), &8.into()));
    assert_eq!(half["is_concluded"], false);
    assert_eq!(half["processes"].as_array().unwrap().len(), 2);
    assert_eq!(half["processes"][0]["state"], "done");
    let slowest = half["slowest"].as_array().unwrap();
    assert_eq!(slowest.len(), 8);
    assert!(slowest[0]["what"].as_str().unwrap().contains(", seed "), "{half}");
    assert!(slowest[7]["took_s"].as_f64() <= slowest[0]["took_s"].as_f64());
    let before = results(&room.path("out"));
    let told = room.mumakil("study status out").output().unwrap();
    let told = String::from_utf8(told.stdout).unwrap();
    assert!(
        told.starts_with("small   16 runs\n  done        8   50.0 %\n  running     0\n"),
        "{told}"
    );
    assert_eq!(before, results(&room.path("out")), "`status` changes no file");
    // The last process takes over the signs of the other processes. Its results are the same as the
    // results of a single process.
    room.mumakil("study study.yaml --quiet --out out").assert().success();
    room.mumakil("study study.yaml --quiet --out whole").assert().success();
    assert_same(&room, "whole", "out");
    assert_eq!(crate::names(&room.path("out/at-work")), ["whole.json"]);
    let all = status(&room, "out");
    assert_eq!((&all["done"], &all["is_concluded"]), (&16.into(), &true.into()));
    assert_eq!(all["slowest"].as_array().unwrap().len(), 10);
    let told = room.mumakil("study status out").output().unwrap();
    let told = String::from_utf8(told.stdout).unwrap();
    assert!(told.ends_with("all is done: start with out/report.html\n"), "{told}");
}

#[test]
fn a_folder_that_is_no_study_has_no_status() {
    let room = Room::new();
    room.write("study.yaml", &small());
    room.mumakil("run quickstart --quiet --out run").assert().success();
    fs::create_dir(room.path("empty")).unwrap();
    for (folder, why) in [
        ("none", "there is no folder none"),
        ("study.yaml", "study.yaml is a file; name the folder"),
        ("run", "run is the folder of a run, not of a study"),
        ("empty", "empty has no study.json"),
    ] {
        let told = room.mumakil(&format!("study status {folder}")).output().unwrap();
        assert_eq!(told.status.code(), Some(2));
        let words = String::from_utf8(told.stderr).unwrap();
        assert!(words.starts_with(&format!("error: {why}")), "{words}");
    }
    assert_eq!(crate::names(&room.path("empty")), Vec::<String>::new());
}

#[test]
fn runs_that_failed_are_told_once_by_whoever_puts_the_parts_together() {
    let room = Room::new();
    room.write("study.yaml", &with_failures());
    for part in 1..=2 {
        let out = format!("study study.yaml --quiet --shard {part}/2 --out part-{part}");
        room.mumakil(&out).assert().code(1);
    }
    let failures = |folder: &str| {
        let names = crate::names(&room.path(folder).join("failed"));
        names.into_iter().map(|name| format!("{folder}/failed/{name}")).collect::<Vec<_>>()
    };
    assert_eq!((failures("part-1").len(), failures("part-2").len()), (2, 2));
    let first = fs::read_to_string(room.path(&failures("part-1")[0])).unwrap();
    assert!(first.starts_with("# nodes 4, ") && first.contains(": it stalled after"), "{first}");
    // A single process prints the same as a merge, and writes the same files.
    let whole = room.mumakil("study study.yaml --out out").output().unwrap();
    let said = String::from_utf8(whole.stderr).unwrap();
    fs::rename(room.path("out"), room.path("whole")).unwrap();
    let merged = room.mumakil("study merge part-1 part-2 --out out").output().unwrap();
    assert_eq!((whole.status.code(), merged.status.code()), (Some(1), Some(1)));
    assert_eq!(String::from_utf8(merged.stderr).unwrap(), said);
    assert_same(&room, "whole", "out");
    for file in failures("out") {
        assert_eq!(said.matches(&format!("repeat it with `mumakil run {file}`")).count(), 1);
    }
    // The status lists the failed runs, too. A merge of a single shard misses the runs of the other
    // shard.
    let told = status(&room, "out");
    assert_eq!(told["slowest"].as_array().unwrap().len(), 4, "the shards have reported four runs");
    assert_eq!(told["engines"], Value::Array(Vec::new()));
    assert_eq!((&told["failed"], &told["done"], &told["left"]), (&4.into(), &4.into(), &0.into()));
    let repeat = told["failures"][0]["repeat"].as_str().unwrap();
    let again = room.mumakil(repeat.trim_start_matches("mumakil ")).output().unwrap();
    assert_eq!(again.status.code(), Some(1));
    assert!(String::from_utf8(again.stderr).unwrap().contains("the run stalled"));
    let few = room.mumakil("study merge part-1 --out few").output().unwrap();
    let words = String::from_utf8(few.stderr).unwrap();
    assert!(words.contains("4 runs of 8 missing"), "{words}");
    assert_eq!(words.matches("repeat it with").count(), 2, "{words}");
}

#[test]
fn a_run_that_is_done_later_clears_what_is_said_of_it() {
    let room = Room::new();
    room.write("study.yaml", &small().replace("maps: 12", "maps: 200"));
    let out = "study study.yaml --quiet --out out";
    room.mumakil(&format!("{out} --time-limit 1ms --shard 1/8")).assert().code(1);
    let failed = crate::names(&room.path("out/failed"));
    assert_eq!(failed.len(), 2);
    let text = fs::read_to_string(room.path("out/failed").join(&failed[0])).unwrap();
    let first = text.lines().next().unwrap();
    assert!(first.contains(": it took as long as --time-limit allows"), "{first}");
    room.mumakil(&format!("{out} --shard 1/8")).assert().success();
    assert!(!room.path("out/failed").exists());
    assert_eq!(status(&room, "out")["failed"], 0);
}
