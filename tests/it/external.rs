//! External policies: programs that misbehave, and three Python programs that decide like built-in
//! policies.

use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use proptest::prelude::*;

use crate::traces::exercise;
use crate::{Room, files, lacks_python, root};

/// A scenario with one map, which the policy launches in its first answer.
const SCENARIO: &str = "
name: small
cluster: {nodes: 2}
workload: {jobs: [{name: a, maps: 1, map_time: 5s}]}
";

const HELLO: &str = r#"echo '{"hello":{"protocol":1}}'; "#;

/// The beginning of a shell script that answers every question, and launches the only map. Each
/// test adds the end of the script.
pub(crate) const GOOD: &str = r#"
read -r line; echo '{"hello":{"protocol":1}}'
number=0; deeds='{"map":{"job":0}}'
while read -r line; do
  case "$line" in *'"end"'*) break;; esac
  number=$((number + 1))
  echo "{\"answer\":{\"number\":$number,\"do\":[$deeds]}}"
  deeds=''
done
"#;

/// Runs a shell script as the policy; returns the exit code and the text on stderr.
fn run(room: &Room, script: &str) -> (Option<i32>, String) {
    room.write("small.yaml", SCENARIO);
    room.write("policy.sh", script);
    let scheduler = "scheduler={external: {command: [sh, policy.sh], timeout: 2s}}";
    let mut command = Command::new(env!("CARGO_BIN_EXE_mumakil"));
    command.current_dir(room.path("")).args(["run", "small.yaml", "--out", "out"]);
    let output = command.args(["--set", scheduler]).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(room.path("out").exists(), output.status.success(), "{told}");
    let left = fs::read_dir(room.path("")).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<String> = left.map(|name| name.to_string_lossy().into_owned()).collect();
    assert!(left.iter().all(|name| !name.starts_with('.')), "{left:?}");
    (output.status.code(), told)
}

/// Returns whether a process with this id exists and is no zombie.
fn lives(pid: &str) -> bool {
    let status = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    !status.is_empty() && !status.contains(") Z ")
}

#[test]
fn a_good_neighbour_is_heard_and_leaves() {
    let room = Room::new();
    let (code, told) = run(&room, &format!("echo 'I begin' >&2\n{GOOD}"));
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("policy.sh: I begin"), "{told}");
    assert!(!told.contains("is a program"), "the command line has named it: {told}");
    let tasks = fs::read_to_string(room.path("out/tasks.csv")).unwrap();
    assert!(tasks.contains("its policy gave no reason"), "{tasks}");
    let resolved = fs::read_to_string(room.path("out/scenario.resolved.yaml")).unwrap();
    assert!(resolved.contains("policy.sh: "), "its digest is noted: {resolved}");
}

#[test]
fn bad_neighbours_end_the_run_and_are_told_by_what_they_did() {
    let answer = |answer: &str| format!("read l; {HELLO} read l; echo '{answer}'; sleep 60");
    let overfull = r#"{"map":{"job":0}},"#.repeat(2);
    for (script, why) in [
        ("exit 3".to_owned(), "it ended with exit code 3"),
        ("kill -9 $$".to_owned(), "it ended with signal 9"),
        ("sleep 60".to_owned(), "it did not answer within 2 s"),
        (format!("{HELLO} sleep 60"), "it did not answer within 2 s"),
        ("read l; exec >&-; sleep 60".to_owned(), "it has closed its input or output"),
        ("read l; echo rubbish; sleep 60".to_owned(), "what it says is no answer"),
        ("read l; echo '{\"hello\":{\"protocol\":2}}'; sleep 60".to_owned(), "speaks version 2"),
        (
            "read l; echo '{\"hello\":{\"protocol\":1,\"tick_us\":0}}'".to_owned(),
            "time would stand still",
        ),
        (
            "read l; echo '{\"hello\":{\"protocol\":1,\"tick_us\":18446744073709551615}}'"
                .to_owned(),
            "`tick_us` is 18446744073709551615, above the most, 3153600000000000 (100 years)",
        ),
        ("read l; echo '{\"answer\":{\"number\":1}}'".to_owned(), "did not answer `hello`"),
        (answer("{\"answer\":{\"number\":7}}"), "it answered question 7, and was asked 1"),
        (answer("{\"answer\":{\"number\":1,\"do\":[{\"map\":{\"job\":9}}]}}"), "it names job 9"),
        (
            answer(&format!(
                "{{\"answer\":{{\"number\":1,\"do\":[{}]}}}}",
                overfull.trim_end_matches(',')
            )),
            "it launches a map of job 0, of which none waits",
        ),
        (
            answer("{\"answer\":{\"number\":1,\"do\":[{\"explode\":{}}]}}"),
            "unknown variant `explode`",
        ),
        (format!("read l; {HELLO} read l; cat /dev/zero"), "it answered with more than 16 MiB"),
        (format!("read l; {HELLO} while true; do echo noise >&2; done"), "did not answer within"),
        (format!("{GOOD}\nexit 4"), "it ended with exit code 4 when the run was over"),
        (
            format!("{GOOD}\nsleep 60"),
            "it did not end within 2 s of real time when the run was over",
        ),
    ] {
        let room = Room::new();
        let (code, told) = run(&room, &script);
        assert_eq!(code, Some(1), "{script}\n{told}");
        assert!(told.contains("the policy failed: `policy.sh`"), "{script}\n{told}");
        assert!(told.contains(why), "{script}\n{told}");
        assert!(told.len() < 120_000, "{} bytes of words", told.len());
    }
}

#[test]
fn a_bad_neighbours_children_go_with_it_and_the_last_exchanges_are_shown() {
    let room = Room::new();
    let pid = room.path("pid").display().to_string();
    let script =
        format!("read l; {HELLO} (sleep 60 & echo $! > {pid}); read l; echo '{{\"answer\":{{}}}}'");
    let (code, told) = run(&room, &script);
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("asked    {\"offer\":{\"number\":1,"), "{told}");
    assert!(told.contains("answered {\"answer\":{}}"), "{told}");
    assert!(!lives(&fs::read_to_string(pid).unwrap()), "a child of the policy is still alive");
}

/// A policy that computes for ever is asked when Mumakil is told to end, or is killed. Nothing of it
/// stays.
#[test]
fn a_busy_neighbour_ends_with_mumakil_whatever_ends_it() {
    for signal in ["INT", "TERM", "HUP", "KILL"] {
        let room = Room::new();
        room.write("small.yaml", SCENARIO);
        let busy =
            "(while true; do :; done) & echo $! $$ > pids; mv pids there; while true; do :; done";
        room.write("busy.sh", &format!("read l; {HELLO} read l; {busy}"));
        let mut run = Command::new(env!("CARGO_BIN_EXE_mumakil"));
        run.current_dir(room.path("")).args(["run", "small.yaml", "--quiet", "--out", "out"]);
        run.args(["--set", "scheduler={external: {command: [sh, busy.sh], timeout: 1h}}"]);
        let mut child = run.stderr(Stdio::null()).spawn().unwrap();
        let is_there = || room.path("there").exists();
        assert!(soon(is_there), "the policy is asked");
        let kill = ["-s", signal, &child.id().to_string()];
        assert!(Command::new("kill").args(kill).status().unwrap().success());
        child.wait().unwrap();
        let pids = fs::read_to_string(room.path("there")).unwrap();
        let is_gone = || !pids.split_whitespace().any(lives);
        assert!(soon(is_gone), "{signal}: {pids} live on");
    }
}

/// Waits until a condition holds, for some seconds.
#[expect(clippy::disallowed_methods, reason = "a process takes real time to end")]
fn soon(holds: impl Fn() -> bool) -> bool {
    (0..1_000).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        holds()
    })
}

#[test]
fn an_instant_is_named_and_programs_can_be_forbidden() {
    let room = Room::new();
    let (_, told) = run(&room, &format!("{HELLO} sleep 60"));
    assert!(told.contains(" of the run: it did not answer"), "{told}");
    let scheduler = "scheduler={external: {command: [sh, policy.sh]}}";
    let mumakil =
        |command: &str| room.mumakil(command).args(["--set", scheduler]).output().unwrap();
    let told = mumakil("run small.yaml --no-external --out out").stderr;
    let told = String::from_utf8(told).unwrap();
    assert!(told.contains("--no-external forbids to start it"), "{told}");
    let output = mumakil("check small.yaml");
    assert_eq!(output.status.code(), Some(0), "it can be read");
}

/// A scenario of somebody else names a program, which notes each start.
fn with_program(more: &str) -> Room {
    let room = Room::new();
    let note = room.path("starts").display().to_string();
    room.write("policy.sh", &format!("echo start >> {note}\n{GOOD}"));
    let scheduler = "scheduler: {external: {command: [sh, policy.sh]}}";
    room.write("small.yaml", &format!("{SCENARIO}{scheduler}\n"));
    room.write("study.yaml", &format!("{SCENARIO}{scheduler}\nsweep: {{seeds: 2}}\n{more}"));
    room
}

/// Calls `mumakil`; returns the exit code, the output, and how often the program was started.
fn starts(room: &Room, words: &str) -> (Option<i32>, String, usize) {
    let _ = fs::remove_file(room.path("starts"));
    let output = room.mumakil(words).output().unwrap();
    let told = [output.stdout, output.stderr].concat();
    let starts = fs::read_to_string(room.path("starts")).unwrap_or_default();
    (output.status.code(), String::from_utf8(told).unwrap(), starts.lines().count())
}

#[test]
fn a_program_is_announced_whatever_runs_it_and_however_quietly() {
    let warning = "the policy is a program: `sh policy.sh`; `--no-external` forbids to start it";
    for (words, count) in [
        ("run small.yaml --quiet --out quiet", 1),
        ("branch small.yaml --at 1s --set scheduler=fifo --out branch", 2),
        ("study study.yaml --quiet --jobs 1 --out study", 2),
    ] {
        let room = with_program("");
        let (code, told, started) = starts(&room, words);
        assert_eq!((code, started), (Some(0), count), "{words}: {told}");
        assert_eq!(told.matches(warning).count(), 1, "{words}: {told}");
    }
    let room = with_program("");
    let (_, told, started) = starts(&room, "run small.yaml --external --out trusted");
    assert_eq!((told.contains("is a program"), started), (false, 1), "{told}");
}

#[test]
fn a_program_is_announced_once_until_its_command_or_its_place_is_another() {
    let room = with_program("");
    let announced = |words: &str| {
        let (code, told, _) = starts(&room, words);
        assert_eq!(code, Some(0), "{told}");
        told.contains("the policy is a program")
    };
    assert!(announced("run small.yaml --out one"));
    assert!(!announced("run small.yaml --out two"));
    // Its own author goes on with it.
    let policy = fs::read_to_string(room.path("policy.sh")).unwrap();
    room.write("policy.sh", &format!("{policy}# changed\n"));
    assert!(!announced("run small.yaml --out three"));
    let scenario = fs::read_to_string(room.path("small.yaml")).unwrap();
    fs::create_dir(room.path("other")).unwrap();
    room.write("other/policy.sh", &policy).write("other/small.yaml", &scenario);
    assert!(announced("run other/small.yaml --out four"), "another file");
    room.write("option.yaml", &scenario.replace("policy.sh]", "policy.sh, x]"));
    assert!(announced("run option.yaml --out five"), "another command");
    assert!(!announced("run option.yaml --out six"));
}

#[test]
fn reading_starts_nothing() {
    let room = with_program("record: {events: true}");
    assert_eq!(starts(&room, "run small.yaml --quiet --out one").2, 1);
    let fifo = "run small.yaml --quiet --set scheduler=fifo --out two";
    assert_eq!(starts(&room, fifo).2, 0);
    for words in [
        "check small.yaml",
        "compare one two",
        "explain one ./two --json",
        "explain one",
        "study plan study.yaml --out planned",
    ] {
        let (code, told, started) = starts(&room, words);
        assert_eq!((code, started), (Some(0), 0), "{words}: {told}");
    }
    let (code, told, started) = starts(&room, "study plan study.yaml --out planned --external");
    assert!(code == Some(0) && 0 < started && told.contains("time     about"), "{told}");
    // The results of somebody else's study lack a run.
    assert_eq!(starts(&room, "study study.yaml --jobs 1 --keep folders --out study").2, 2);
    let runs = room.path("study/runs");
    let run = fs::read_dir(&runs).unwrap().next().unwrap().unwrap().path();
    fs::remove_dir_all(run).unwrap();
    for words in ["study study", "study plan study"] {
        let (_, told, started) = starts(&room, words);
        assert_eq!(started, 0, "{words}: {told}");
        assert!(told.contains("with `--external`"), "{words}: {told}");
    }
    let (code, told, started) = starts(&room, "study study --external");
    assert_eq!((code, started), (Some(0), 1), "{told}");
    assert_eq!(starts(&room, "study study").0, Some(0), "nothing is left to run");
}

#[test]
fn a_long_value_is_not_repeated_whole() {
    let room = Room::new();
    room.write("small.yaml", SCENARIO);
    let long = "n".repeat(70_000);
    for set in [format!("cluster.nodes={long}"), format!("{long}=1"), long.clone()] {
        let output = room.mumakil("run small.yaml --out out").args(["--set", &set]).output();
        let told = String::from_utf8(output.unwrap().stderr).unwrap();
        assert!(told.contains(" … "), "{told}");
        assert!(told.len() < 5_000, "{} bytes", told.len());
    }
    let output = room.mumakil(&format!("run small.yaml --time-limit {long}")).output().unwrap();
    assert!(output.stderr.len() < 5_000, "{} bytes", output.stderr.len());
    let why = format!("{{\"map\":{{\"job\":0,\"why\":{{\"code\":\"{long}\"}}}}}}");
    let answer = format!("{{\"answer\":{{\"number\":1,\"do\":[{why}]}}}}");
    let (code, told) = run(&room, &format!("read l; {HELLO} read l; echo '{answer}'; sleep 60"));
    assert_eq!(code, Some(1), "{told}");
    assert!(told.len() < 10_000, "{} bytes: {}", told.len(), &told[..2_000]);
}

#[test]
fn another_file_than_was_noted_is_refused() {
    let room = Room::new();
    run(&room, GOOD);
    fs::copy(room.path("out/scenario.resolved.yaml"), room.path("again.yaml")).unwrap();
    let again = |out: &str| room.mumakil(&format!("run again.yaml --out {out}")).output().unwrap();
    assert_eq!(again("one").status.code(), Some(0));
    room.write("policy.sh", &format!("{GOOD}# another"));
    let output = again("two");
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("`policy.sh` is another file than it was"), "{told}");
}

/// Runs the quickstart under a policy; returns the tables of its jobs and its tasks.
pub(crate) fn tables(room: &Room, scheduler: &str, out: &str) -> [Vec<u8>; 2] {
    let mut run = room.mumakil(&format!("run quickstart --quiet --out {out}"));
    let output = run.args(["--set", &format!("scheduler={scheduler}")]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    ["jobs.csv", "tasks.csv"].map(|name| fs::read(room.path(out).join(name)).unwrap())
}

/// FIFO, Algorithm 2 and FSP in Python make the same decisions as the built-in policies, with the
/// same reasons.
#[test]
fn policies_in_python_do_as_ours_do() {
    if lacks_python() {
        return;
    }
    let room = Room::new();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/policies");
    for (file, own) in [("fifo", "fifo"), ("fair_skip", "fair-skip"), ("fsp", "fsp")] {
        let external = format!("{{external: {{command: [python3, {folder}/{file}.py]}}}}");
        let own = tables(&room, own, &format!("own-{file}"));
        assert!(tables(&room, &external, file) == own, "{file}");
    }
}

/// Each policy file works alone, so each contains the adapter. A change of the adapter must be made
/// in all files.
#[test]
fn the_policies_in_python_have_one_adapter() {
    let mut policies = files(&root().join("scenarios/policies"));
    policies.retain(|name| name.ends_with(".py"));
    let adapter = |name: &String| {
        let text = fs::read_to_string(root().join("scenarios/policies").join(name)).unwrap();
        let (adapter, _) =
            text.split_once("# ---- The policy. ----").expect("a line ends the adapter");
        adapter.to_owned()
    };
    let first = adapter(&policies[0]);
    assert!(1 < policies.len() && policies.iter().all(|name| adapter(name) == first));
}

/// Lines of a policy: the first lines are correct, and a later line is wrong.
fn lines() -> impl Strategy<Value = String> {
    let number = || prop_oneof![3 => 0..4_u64, 1 => any::<u64>()];
    let deed = prop_oneof![
        number().prop_map(|job| format!("{{\"map\":{{\"job\":{job}}}}}")),
        number().prop_map(|job| format!("{{\"map\":{{\"job\":{job},\"reach\":\"node\"}}}}")),
        number().prop_map(|job| format!("{{\"reduce\":{{\"job\":{job},\"why\":[{job}]}}}}")),
        (number(), number()).prop_map(|(job, task)| {
            format!("{{\"kill\":{{\"attempt\":[{job},\"map\",{task},0]}}}}")
        }),
        (number(), number()).prop_map(|(job, task)| {
            format!("{{\"suspend\":{{\"attempt\":[{job},\"reduce\",0,{task}]}}}}")
        }),
        "[a-z{}\\[\\]\":,0-9]{0,20}",
    ];
    let answers = prop::collection::vec(prop::collection::vec(deed, 0..3), 0..8);
    answers.prop_map(|answers| {
        let lines = (1..).zip(answers).map(|(number, deeds)| {
            format!("{{\"answer\":{{\"number\":{number},\"do\":[{}]}}}}\n", deeds.join(","))
        });
        "{\"hello\":{\"protocol\":1,\"wants\":[\"all_offers\"]}}\n".to_owned()
            + &lines.collect::<String>()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn whatever_a_program_answers_the_run_ends_or_it_is_blamed(lines in lines()) {
        exercise::protocol(lines.as_bytes());
    }
}

#[test]
fn the_seeds_of_the_protocols_fuzzer_are_heard_to_their_last_line() {
    let folder = root().join("tests/fuzz/seeds/protocol");
    for file in files(&folder) {
        let lines = fs::read_to_string(folder.join(&file)).unwrap();
        let told = exercise::protocol(lines.as_bytes()).expect("the run blames the program");
        assert!(told.contains(lines.lines().next_back().unwrap()), "{file}: {told}");
    }
}
