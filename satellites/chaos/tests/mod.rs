//! `mumakil policy new` and `mumakil policy try`: a new policy works at once, and messages describe
//! mistakes.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::external::tables;
use crate::{Room, lacks_python};

/// Returns the exit code, and the output on both streams.
fn call(room: &Room, arguments: &str) -> (Option<i32>, String) {
    let output = room.mumakil(arguments).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(text).unwrap())
}

/// Calls a command that must succeed; returns its output.
fn done(room: &Room, arguments: &str) -> String {
    let (code, told) = call(room, arguments);
    assert_eq!(code, Some(0), "{arguments}\n{told}");
    told
}

#[test]
fn the_policy_that_is_written_passes_the_trial_and_is_a_line_in_a_study() {
    if lacks_python() {
        return;
    }
    let room = Room::new();
    let told = done(&room, "policy new mine.py");
    assert!(told.contains("scheduler: {external: {command: [python3, mine.py]}}"), "{told}");
    let (code, told) = call(&room, "policy new mine.py");
    assert_eq!(code, Some(2));
    assert!(told.contains("mine.py is there already"), "{told}");
    let told = done(&room, "policy try mine.py --runs 6 --json");
    assert!(told.contains("6 cases, ") && told.contains(", nothing wrong"), "{told}");
    assert!(told.contains("\"wrong\":[]"), "{told}");
    fs::copy(room.path("mine.py"), room.path("other.py")).unwrap();
    room.write(
        "study.yaml",
        "base: quickstart\nworkload: {jobs: [{name: a, count: 3, maps: 30}]}\nsweep:\n  \
         scheduler: [hfsp, {external: {command: [python3, mine.py]}}, \
         {external: {name: other one, command: [python3, other.py]}}]\n  seeds: 2\n",
    );
    let told = done(&room, "study study.yaml --out study");
    for name in ["hfsp", "mine.py", "other one"] {
        assert!(told.contains(&format!("  {name} ")), "{told}");
    }
    // After a change of a policy's file, only the runs of this policy are done again.
    let text = fs::read_to_string(room.path("other.py")).unwrap();
    room.write("other.py", &(text + "# another\n"));
    let told = done(&room, "study study.yaml --out study");
    assert!(told.contains("ran      2 runs"), "{told}");
}

#[test]
fn decisions_of_a_program_are_explained_and_compared() {
    if lacks_python() {
        return;
    }
    let room = Room::new();
    done(&room, "policy new mine.py");
    let run = |scheduler: &str, out: &str| {
        let sets = ["--set", scheduler, "--set", "record.decisions=true"];
        let mut command = room.mumakil(&format!("run quickstart --quiet --out {out}"));
        assert!(command.args(sets).output().unwrap().status.success());
    };
    run("scheduler={external: {command: [python3, mine.py]}}", "mine");
    run("scheduler=hfsp", "hfsp");
    let perf = fs::read_to_string(room.path("mine/perf.json")).unwrap();
    assert!(perf.contains("\"questions\""), "{perf}");
    let told = done(&room, "explain mine");
    assert!(told.contains("waiting for the first map slot   "), "{told}");
    let told = done(&room, "explain mine ./hfsp");
    assert!(told.starts_with("the first map slot that goes to another job ("), "{told}");
}

#[test]
fn a_package_in_rust_is_written_that_is_built_without_others() {
    let room = Room::new();
    done(&room, "policy new mine --rust");
    let cargo = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO"));
        command
            .args(arguments)
            .args(["--offline", "--manifest-path"])
            .arg(room.path("mine/Cargo.toml"));
        let output = command.env("CARGO_TARGET_DIR", room.path("built")).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    cargo(&["build", "--quiet"]);
    let told = done(&room, "policy try built/debug/mine --runs 6");
    assert!(told.contains(", nothing wrong"), "{told}");
    if lacks_python() {
        return;
    }
    assert_like_python(&room, "[built/debug/mine]");
}

#[test]
fn a_file_in_cpp_is_written_that_is_built_without_others() {
    if Command::new("c++").arg("--version").output().is_err() {
        eprintln!("skipped: there is no c++");
        return;
    }
    let room = Room::new();
    let told = done(&room, "policy new mine.cpp");
    let build = told.lines().find(|line| line.contains("c++")).unwrap().trim();
    let mut shell = Command::new("sh");
    let built = shell.args(["-c", build]).current_dir(room.path("")).output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let told = done(&room, "policy try ./mine --runs 6");
    assert!(told.contains(", nothing wrong"), "{told}");
    if lacks_python() {
        return;
    }
    assert_like_python(&room, "[./mine]");
}

/// Asserts that a program makes the same decisions as the Python policy that `new` writes.
fn assert_like_python(room: &Room, command: &str) {
    done(room, "policy new mine.py");
    let [one, other] = [(command, "one"), ("[python3, mine.py]", "other")].map(|(command, out)| {
        tables(room, &format!("{{external: {{name: mine, command: {command}}}}}"), out)
    });
    assert!(one == other, "{command}");
}

/// Mistakes in the policy that `new` writes. Each has the text to replace, the wrong text, and
/// words of the message.
const WRONG: [(&str, &str, &str); 7] = [
    (
        "        line = sorted",
        "        offer.deeds.append({'reduce': {'job': 999}})\n        line = sorted",
        "it names job 999, which has not arrived",
    ),
    (
        "                while offer.can(MAP, job, reach):",
        "                for _ in range(job.pending[MAP]):",
        "where no map slot is free",
    ),
    (
        "if not self.free[kind] or",
        "if job.job % 2 or not self.free[kind] or",
        "a job starves: for 2 h 00 min",
    ),
    (
        "why=f\"{reach} map, {place}",
        "why=f\"{os.urandom(4)} {place}",
        "the same run was answered in two ways",
    ),
    ("why=f\"{reach} map, {place}", "why=f\"{time.time_ns()} {place}", "the time of day"),
    ("        line = sorted", "        line = missing", "NameError: name 'missing' is not defined"),
    (
        "        line = sorted",
        "        time.sleep(9)\n        line = sorted",
        "it did not answer within 2 s",
    ),
];

#[test]
fn mistakes_of_a_policy_are_told_in_plain_sentences() {
    if lacks_python() {
        return;
    }
    let room = Room::new();
    done(&room, "policy new mine.py");
    let right = fs::read_to_string(room.path("mine.py")).unwrap();
    for (right_words, wrong_words, why) in WRONG {
        assert!(right.contains(right_words), "{right_words}");
        let wrong = right.replacen(right_words, wrong_words, 1);
        room.write(
            "wrong.py",
            &wrong.replacen("import json\n", "import json\nimport os\nimport time\n", 1),
        );
        // On a busy machine, Python itself may take seconds to start.
        let timeout = if why.contains("within 2 s") { "2s" } else { "1min" };
        let call_again =
            format!("policy try wrong.py --runs 8 --shrink 1s --timeout {timeout} --out wrong");
        let (code, told) = call(&room, &call_again);
        assert_eq!(code, Some(1), "{why}\n{told}");
        assert!(told.contains(why), "{why}\n{told}");
        assert!(told.contains("again    mumakil policy try wrong.py --seed "), "{told}");
        // The scenario can be run without changes.
        let scenarios: Vec<PathBuf> =
            fs::read_dir(room.path("wrong")).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert!(!scenarios.is_empty());
        let text = fs::read_to_string(&scenarios[0]).unwrap();
        assert!(
            text.contains("wrong.py") && text.contains(&format!("timeout: {timeout}")),
            "{text}"
        );
        assert_eq!(call(&room, &format!("check {}", scenarios[0].display())).0, Some(0));
        fs::remove_dir_all(room.path("wrong")).unwrap();
    }
}

#[test]
fn policies_that_cannot_be_tried_or_begun_are_refused() {
    let room = Room::new();
    room.write("plain.txt", "");
    for (arguments, why) in [
        ("policy try nowhere.py", "there is no nowhere.py"),
        ("policy try plain.txt", "plain.txt is no program"),
        ("policy try -- no-such-program 7", "there is no program `no-such-program`"),
        ("policy try plain.txt --no-external", "--no-external forbids to start one"),
        ("policy try -- true --timeout", "it ended with exit code 0"),
        ("policy new mine.jl", "no policy to begin with is known for `mine.jl`"),
        ("policy new 7up --rust", "no package in Rust can be called `7up`"),
    ] {
        let (code, told) = call(&room, arguments);
        let expected = if arguments.contains("-- true") { 1 } else { 2 };
        assert_eq!(code, Some(expected), "{arguments}\n{told}");
        assert!(told.contains(why), "{arguments}\n{told}");
    }
    assert_eq!(room.names(), ["plain.txt"]);
}
