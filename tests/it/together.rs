//! Processes that work on one study in one folder. Exactly one process does each run, and the last
//! process writes the results. If a process is killed, the other processes do its runs.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use crate::signs::{begin, runs_in, status, until};
use crate::{Room, studies};

fn room() -> Room {
    let room = Room::new();
    room.write("study.yaml", studies::STUDY);
    room.mumakil("study study.yaml --quiet --out whole").assert().success();
    room
}

fn join(room: &Room) -> Child {
    let words = "study study.yaml --join --jobs 1 --keep folders --out out";
    let mut command = Command::new(env!("CARGO_BIN_EXE_mumakil"));
    command.current_dir(room.path(".")).args(words.split_whitespace());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Returns the output of a process, which must succeed.
fn end(child: Child) -> String {
    let ended = child.wait_with_output().unwrap();
    let told = String::from_utf8([ended.stdout, ended.stderr].concat()).unwrap();
    assert!(ended.status.success(), "{told}");
    told
}

#[test]
fn each_run_is_done_once_and_the_last_process_writes_the_results() {
    let room = room();
    let children: Vec<Child> = (0..4).map(|_| join(&room)).collect();
    let told: Vec<String> = children.into_iter().map(end).collect();
    studies::assert_same(&room.path("whole"), &room.path("out"));
    let status = status(&room, "out");
    assert_eq!((&status["done"], &status["is_concluded"]), (&16.into(), &true.into()));
    let last = told.iter().filter(|told| told.contains("start with report.html"));
    assert_eq!(last.count(), 1, "{told:?}");
    // A process that joins when all runs are done changes nothing.
    assert!(end(join(&room)).contains("nothing: every run was there"));
    studies::assert_same(&room.path("whole"), &room.path("out"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_that_is_killed_leaves_its_runs_to_the_others() {
    let room = room();
    let mut killed = join(&room);
    until(|| room.path("out/claims").is_dir());
    killed.kill().unwrap();
    killed.wait().unwrap();
    let told = end(join(&room));
    assert!(told.contains("start with report.html"), "{told}");
    studies::assert_same(&room.path("whole"), &room.path("out"));
    assert!(!room.path("out/claims").exists());
}

#[test]
fn a_process_that_joins_waits_for_one_that_is_alone_and_not_the_other_way_round() {
    let room = room();
    room.write("endless.yaml", crate::signs::ENDLESS);
    let is_running = |folder| {
        room.path(folder).join("study.json").is_file() && status(&room, folder)["running"] == 1
    };
    let mut joined = begin(&room, "study endless.yaml --jobs 1 --join --out busy");
    until(|| is_running("busy"));
    let refused = room.mumakil("study endless.yaml --out busy").output().unwrap();
    let words = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(2) && words.contains("busy"), "{words}");
    joined.kill().unwrap();
    joined.wait().unwrap();
    assert_eq!(runs_in(&room, "busy"), 0);

    let mut alone = begin(&room, "study endless.yaml --jobs 1 --out out");
    until(|| is_running("out"));
    let mut joined = begin(&room, "study endless.yaml --jobs 1 --join --out out");
    let mut said = BufReader::new(joined.stderr.take().unwrap()).lines();
    let waits = said.find(|line| line.as_ref().unwrap().contains("waiting until it ends"));
    assert!(waits.is_some());
    alone.kill().unwrap();
    alone.wait().unwrap();
    until(|| status(&room, "out")["running_now"][0]["pid"] == joined.id());
    joined.kill().unwrap();
    joined.wait().unwrap();
}

#[test]
fn runs_that_failed_are_told_by_the_last_process_and_tried_again_by_one_alone() {
    let room = Room::new();
    room.write("study.yaml", &crate::signs::with_failures());
    let whole = room.mumakil("study study.yaml --out out").output().unwrap();
    std::fs::rename(room.path("out"), room.path("whole")).unwrap();
    let joined = room.mumakil("study study.yaml --join --keep folders --out out").output().unwrap();
    assert_eq!((whole.status.code(), joined.status.code()), (Some(1), Some(1)));
    let told = String::from_utf8(whole.stderr).unwrap();
    assert_eq!(String::from_utf8(joined.stderr).unwrap(), told);
    studies::assert_same(&room.path("whole"), &room.path("out"));
    // Merging the folder with itself finds the same failed runs, and writes the same results.
    let merged = room.mumakil("study merge out --out out").output().unwrap();
    assert_eq!(merged.status.code(), Some(1));
    assert_eq!(String::from_utf8(merged.stderr).unwrap(), told);
    studies::assert_same(&room.path("whole"), &room.path("out"));
    // Another process that joins does not try the failed runs again.
    let again = room.mumakil("study study.yaml --join --keep folders --out out").output().unwrap();
    let told = String::from_utf8(again.stdout).unwrap();
    assert!(told.contains("nothing: every run was there"), "{told}");
    let again = room.mumakil("study study.yaml --out out").output().unwrap();
    assert_eq!(again.status.code(), Some(1));
}
