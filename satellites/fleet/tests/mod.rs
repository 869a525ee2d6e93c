//! Studies that Slurm and Kubernetes do: options, the note in the folder, and the end of the tasks.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::Room;
use crate::signs::{status, with_failures};
use crate::studies::{STUDY, study};

/// Writes a program in the place of `kubectl`; returns the `PATH` with it.
fn kubectl(room: &Room, script: &str) -> String {
    fs::create_dir(room.path("bin")).unwrap();
    room.write("bin/kubectl", &format!("#!/bin/sh\n{script}\n"));
    let everybody = fs::Permissions::from_mode(0o755);
    fs::set_permissions(room.path("bin/kubectl"), everybody).unwrap();
    format!("{}:{}", room.path("bin").display(), std::env::var("PATH").unwrap())
}

#[test]
fn an_engine_is_told_what_it_heeds_and_nothing_is_written_to_show_it() {
    let room = Room::new();
    room.write("study.yaml", STUDY);
    let told = |arguments: &str| {
        let output = room.mumakil(&format!("study study.yaml {arguments}")).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(said).unwrap())
    };
    let (code, said) =
        told("--on slurm --tasks 99 --time 90min --time-limit 10min --dry-run -- --mem=2G");
    assert_eq!(code, Some(0), "{said}");
    // The job array has at most one task for each run of the study.
    let task = "bin/mumakil study . --join --jobs 1 --time-limit 10min &";
    for line in ["#SBATCH --array=1-16", "#SBATCH --time=1:30:00", task] {
        assert!(said.lines().any(|other| other == line), "{line}: {said}");
    }
    assert!(said.contains("$ sbatch --parsable --mem=2G slurm/array.sh"), "{said}");
    for (arguments, why) in [
        ("--on slurm --image debian", "--on slurm has no --image"),
        ("--on slurm --jobs 2", "--on slurm has no --jobs"),
        ("--on kubernetes --partition long", "--on kubernetes has no --partition"),
        ("--on slurm --keep folders", "tasks keep their runs packed"),
        ("--on slurm --partition 'a;b'", "cannot be the name of a partition"),
        ("--on slurm --time soon", "--time soon is no time"),
        ("--on pbs", "[possible values: slurm, kubernetes]"),
        ("--on slurm --shard 1/2", "cannot be used with"),
        ("--wait", "--on"),
    ] {
        let (code, said) = told(arguments);
        assert!(code == Some(2) && said.contains(why), "{arguments}: {said}");
    }
    assert!(!room.path("out").exists());
}

/// A study on Kubernetes is in the queue until its Job reports its end. This `kubectl` prints the
/// content of a file.
#[test]
fn a_job_without_pods_is_in_the_queue_until_it_says_that_it_is_over() {
    let room = Room::new();
    room.write("study.yaml", STUDY);
    study(&room, "--out out");
    let submitted = r#"{"engine": "kubernetes", "job": "a", "tasks": 4, "number": 1,
        "at": "2026-01-01T00:00:00.000Z", "command": "mumakil"}"#;
    fs::create_dir_all(room.path("out/kubernetes")).unwrap();
    room.write("out/kubernetes/submitted.json", submitted);
    let path = kubectl(&room, "cat \"$3\" 2>/dev/null || { echo NotFound >&2; exit 1; }");
    for (says, told) in [
        ("/", "0 running, 1 waiting"),
        ("3/SuccessCriteriaMet", "3 running, 0 waiting"),
        ("/SuccessCriteriaMet Complete", "nothing is in the queue any more"),
        ("1/Failed", "nothing is in the queue any more"),
    ] {
        room.write("a", says);
        let output = room.mumakil("study status out").env("PATH", &path).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(said.contains(&format!("Kubernetes job a: {told}")), "{said}");
    }
}

/// The engine is Kubernetes. This `kubectl` does one task of the Job that it gets, and then reports
/// the Job's end.
#[test]
fn runs_that_failed_on_an_engine_are_told_to_the_process_that_waited() {
    let room = Room::new();
    room.write("study.yaml", &with_failures());
    let whole = room.mumakil("study study.yaml --out out").output().unwrap();
    fs::rename(room.path("out"), room.path("whole")).unwrap();
    let script = "[ \"$1\" = get ] && echo /Complete && exit
        bin/mumakil study . --join --jobs 1 > said 2>&1\necho job.batch/a";
    let path = kubectl(&room, script);
    let words = "study study.yaml --on kubernetes --volume a --image b --wait --quiet --out out";
    let waited = room.mumakil(words).env("PATH", path).output().unwrap();
    let said = String::from_utf8(waited.stderr).unwrap();
    assert_eq!((waited.status.code(), &said), (Some(1), &String::from_utf8(whole.stderr).unwrap()));
    assert_eq!(status(&room, "out")["failed"], 4);
}
