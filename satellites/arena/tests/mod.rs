//! `mumakil policy score` and `policy rank`: a score is the same everywhere, and cheats are told.

use std::fs;

use serde_json::Value;

use mumakil::scenario::{Draft, SchedulerChoice};
use mumakil::study::Plan;

use crate::{Room, lacks_python, root, sandbox};

/// A suite of two small scenarios.
const SUITE: &str = "
name: tiny
sweep:
  scenario:
    - as: one
      value:
        cluster: {nodes: 3}
        workload: {mix: {jobs: 8, arrivals: {gap: {exponential: {mean: 10s}}}, types: {a: {weight: 1, maps: {uniform: {from: 1, to: 12}}, map_time: 7654.321ms}}}}
      draw: {cluster.nodes: [2, 3, 4]}
    - as: two
      value: {cluster: {nodes: 2}, workload: {jobs: [{name: large, maps: 20, map_time: 9s}, {name: small, submit: 5s, count: 3, maps: 2, map_time: 5s}]}}
  seeds: 2
score:
  less: mean(sojourn)
  scenarios: {two: {weight: 2}}
  against: [fifo, fair]
  bound: srpt
  limits: {answer: 5s}
";

/// Calls `mumakil`; returns the exit code, and the texts on stdout and stderr.
fn call(room: &Room, arguments: &str) -> (Option<i32>, String, String) {
    let output = room.mumakil(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// Returns the JSON of a score, without the real time that it took.
fn score(room: &Room, arguments: &str) -> (Option<i32>, Value) {
    let (code, told, why) = call(room, &format!("policy score {arguments} --json"));
    let mut score: Value =
        serde_json::from_str(&told).unwrap_or_else(|error| panic!("{error}: {told}{why}"));
    let seconds = score.as_object_mut().unwrap().remove("seconds");
    assert!(seconds.is_some_and(|seconds| 0.0 < seconds.as_f64().unwrap()));
    (code, score)
}

fn room() -> Room {
    let room = Room::new();
    room.write("tiny.yaml", SUITE);
    room.write("short.yaml", "rank: {jobs: -remaining}\n");
    room
}

#[test]
fn a_score_is_the_same_whatever_the_workers_and_whatever_was_done_before() {
    let room = room();
    let (code, one) = score(&room, "short.yaml --suite tiny.yaml --key k --jobs 1 --out one");
    assert_eq!(code, Some(0));
    let (_, eight) = score(&room, "short.yaml --suite tiny.yaml --key k --jobs 8 --out eight");
    assert_eq!(one, eight);
    // The runs are there already; and without a key, nothing is held back.
    let (_, again) = score(&room, "short.yaml --suite tiny.yaml --key k --out eight");
    assert_eq!(one, again);
    let (_, public) = score(&room, "short.yaml --suite tiny.yaml --out eight");
    assert_eq!((&public["total"], &public["held_back"]), (&one["total"], &Value::Null));
    let page = |folder: &str| fs::read_to_string(room.path(folder).join("report.html")).unwrap();
    assert!(page("one").contains("short.yaml on the suite tiny"));
    // Another key holds other seeds back.
    let (_, other) = score(&room, "short.yaml --suite tiny.yaml --key other --out eight");
    assert_eq!(other["total"], one["total"]);
    assert_ne!(other["held_back"], one["held_back"]);
    let names: Vec<&str> = one.as_object().unwrap().keys().map(String::as_str).collect();
    for name in ["suite", "total", "held_back", "scenarios", "disqualified", "feedback"] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    for scenario in one["scenarios"].as_array().unwrap() {
        for key in ["name", "ratio", "low", "high", "bound"] {
            assert!(scenario.get(key).is_some_and(|value| !value.is_null()), "{key}: {scenario}");
        }
    }
}

#[test]
fn a_total_is_the_weighted_geometric_mean_and_a_bound_is_its_own() {
    let room = room();
    let (_, srpt) = score(&room, "srpt --suite tiny.yaml");
    let number = |value: &Value| value.as_f64().unwrap();
    let ratios: Vec<f64> =
        srpt["scenarios"].as_array().unwrap().iter().map(|one| number(&one["ratio"])).collect();
    let total = ((ratios[0].ln() + 2.0 * ratios[1].ln()) / 3.0).exp();
    assert!((total / number(&srpt["total"]) - 1.0).abs() < 1e-4, "{total} {srpt}");
    assert!(total < 1.0, "the shortest job first is better: {total}");
    assert!(srpt["scenarios"].as_array().unwrap().iter().all(|one| number(&one["bound"]) == 1.0));
    // With larger numbers better, the ratio is the other way round.
    room.write("more.yaml", &SUITE.replace("less: mean", "more: mean"));
    let (_, more) = score(&room, "srpt --suite more.yaml --out more");
    assert!(1.0 < number(&more["total"]), "{more}");
    // A baseline that is best everywhere has a total of one.
    room.write("alone.yaml", &SUITE.replace("against: [fifo, fair]", "against: [fifo]"));
    let (_, fifo) = score(&room, "fifo --suite alone.yaml --out alone");
    assert_eq!((number(&fifo["total"]), &fifo["feedback"]), (1.0, &Value::Array(Vec::new())));
}

#[test]
fn losses_of_a_policy_come_with_the_reason_and_the_first_decision() {
    let room = room();
    room.write("long.yaml", "rank: {jobs: remaining}\n");
    let (_, long) = score(&room, "long.yaml --suite tiny.yaml");
    let feedback: Vec<&str> =
        long["feedback"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
    assert!(feedback.iter().any(|line| line.contains(" longer, above all ")), "{feedback:?}");
    assert!(
        feedback.iter().any(|line| line.contains("slot that goes to another job")),
        "{feedback:?}"
    );
    assert_eq!(feedback.iter().filter(|line| line.contains(" takes ")).count(), 3, "{feedback:?}");
}

/// Settings of `capacity` that refuse jobs.
const REFUSALS: [&str; 6] = [
    "max_system_jobs: 1, queues: {default: {capacity: 1.0, accept_factor: 1, max_active_tasks_per_user: 12, max_active_tasks: 100000}}",
    "queues: {default: {capacity: 1.0, accept_factor: 1, max_active_tasks_per_user: 10}}",
    "queues: {default: {capacity: 1.0, max_active_tasks_per_user: 10}}",
    "queues: {default: {capacity: 1.0, max_active_tasks_per_user: 40}}",
    "max_system_jobs: 2, queues: {default: {capacity: 1.0, accept_factor: 1}}",
    "max_system_jobs: 1, queues: {default: {capacity: 1.0, accept_factor: 2}}",
];

/// A policy that refuses jobs is out, and no number of it is better.
#[test]
fn a_policy_gains_nothing_by_jobs_that_it_refuses() {
    let room = Room::new();
    fs::create_dir(room.path("policies")).unwrap();
    room.write("policies/serves.yaml", "capacity: {rules: 1.x}");
    for (number, queues) in REFUSALS.iter().enumerate() {
        let policy = format!("capacity: {{rules: 1.x, allocations: {{{queues}}}}}");
        room.write(&format!("policies/refuses-{number}.yaml"), &policy);
    }
    let (code, told, why) = call(&room, "policy rank policies --json");
    assert_eq!(code, Some(0), "{why}");
    let scores: Vec<Value> = serde_json::from_str(&told).unwrap();
    assert_eq!((&scores[0]["policy"], scores.len()), (&Value::from("serves.yaml"), 7));
    for score in &scores[1..] {
        assert_eq!(score["total"], Value::Null, "{score}");
        let reasons = score["disqualified"].to_string();
        assert!(reasons.contains("ended better under `hfsp`"), "{reasons}");
        assert!(reasons.contains("refused here"), "{reasons}");
    }
    let (code, told, _) = call(&room, "policy score policies/refuses-0.yaml");
    assert_eq!(code, Some(1));
    assert!(told.contains("– (out of the contest)"), "{told}");
}

/// A baseline that refuses jobs is not the best one, and the others are still scored.
#[test]
fn a_baseline_that_refuses_jobs_is_not_the_best() {
    let room = room();
    let refusing = "{as: refusing, capacity: {rules: 1.x, allocations: {queues: {default: {capacity: 1.0, max_active_tasks_per_user: 5}}}}}";
    let against = format!("against: [{refusing}, fifo]");
    room.write("tiny.yaml", &SUITE.replace("against: [fifo, fair]", &against));
    let (code, told, why) = call(&room, "policy rank fair srpt --suite tiny.yaml --json");
    assert_eq!(code, Some(0), "{why}");
    let scores: Vec<Value> = serde_json::from_str(&told).unwrap();
    assert!(scores.iter().all(|score| score["total"].is_number()), "{told}");
}

#[test]
fn a_policy_that_knows_the_true_sizes_is_marked() {
    let registry = mumakil::registry();
    for (policy, knows) in [
        ("srpt", true),
        ("fsp", true),
        ("hfsp: {estimator: oracle}", true),
        ("ps", false),
        ("hfsp: {error: {uniform: 0.5}}", false),
        ("srpt: {estimator: {formula: {maps: tasks * 20s}}}", false),
        ("rank: {jobs: -remaining}", false),
    ] {
        let choice: SchedulerChoice = serde_yaml::from_str(policy).unwrap();
        registry.build(&choice).unwrap_or_else(|error| panic!("{policy}: {error}"));
        assert_eq!(registry.foresees(&choice), knows, "{policy}");
    }
    let room = room();
    room.write("mine.yaml", "hfsp: {estimator: oracle}");
    let (_, ranked, _) = call(&room, "policy rank mine.yaml short.yaml --suite tiny.yaml");
    assert!(ranked.contains("  mine.yaml (knows true sizes) "), "{ranked}");
    assert!(!ranked.contains("short.yaml (knows"), "{ranked}");
    let (_, told) = score(&room, "mine.yaml --suite tiny.yaml");
    assert_eq!(told["knows_true_sizes"], true);
}

/// A line that goes into the policy's `offer`, another at the top of the file, and what is said of
/// the cheat.
const CHEATS: [(&str, &str, &str, &str); 12] = [
    ("clock", "if time.time_ns() % 2: return", "", "the same run was answered in two ways"),
    ("randomness", "if random.random() < 0.5: return", "", "the same run was answered in two ways"),
    (
        "environment",
        "for job in self.jobs: offer.deeds.append({'refuse': {'job': job, 'kind': 'map', 'why': os.environ['USER']}})",
        "",
        "the same run was answered in two ways",
    ),
    (
        "files",
        "open('remembered', 'w')",
        "",
        "it has tried what a sandbox forbids, such as to write a file",
    ),
    ("network", "socket.socket()", "", "PermissionError"),
    ("future", "pass", "Policy.wants = ['truth']", "it wants `truth`, how long each task takes"),
    ("ids", "self.jobs = {}; offer.deeds.append({'map': {'job': 99}})", "", "99"),
    ("late", "while True: pass", "", "it did not answer within 1 s of processor time"),
    ("sleeping", "time.sleep(9)", "", "it did not answer within 3 s of real time"),
    ("memory", "list(range(100_000_000))", "", "MemoryError"),
    ("forks", "os.fork()", "", "it has tried what a sandbox forbids"),
    ("huge", "print('x' * 20_000_000)", "", "it answered with more than 16 MiB"),
];

#[test]
fn each_cheat_is_told() {
    if sandbox::parts().is_none() {
        return;
    }
    let room = room();
    room.mumakil("policy new mine.py").assert().success();
    let right = fs::read_to_string(room.path("mine.py")).unwrap();
    let (code, sound) = score(&room, "mine.py --suite tiny.yaml");
    assert_eq!((code, &sound["disqualified"]), (Some(0), &Value::Array(Vec::new())), "{sound}");
    for (cheat, line, top, said) in CHEATS {
        let offer = "        line = sorted";
        let begin = "# ---- The policy. ----";
        assert!(right.contains(offer) && right.contains(begin));
        let wrong = right.replacen(offer, &format!("        {line}\n{offer}"), 1).replacen(
            begin,
            &format!("import os, random, socket, time\n{top}\n{begin}"),
            1,
        );
        room.write("cheat.py", &wrong);
        let limit = match cheat {
            "late" => "answer: 1s, wait: 1min",
            "sleeping" => "answer: 1s, wait: 3s",
            _ => "answer: 1min, wait: 1min",
        };
        room.write("limits.yaml", &SUITE.replace("answer: 5s", limit));
        let (code, score) = score(&room, "cheat.py --suite limits.yaml --out cheats");
        let reasons = score["disqualified"].to_string();
        assert_eq!(code, Some(1), "{cheat}: {score}");
        assert!(reasons.contains(said), "{cheat}: {reasons}");
        assert!(!room.path("remembered").exists());
    }
}

/// A policy that looks for the length of tasks wherever it can, and ends with an error if it finds
/// anything.
const SEARCH: &str = r"
import glob, os
def found(line):
    if '7654321' in line or '7654' in line.replace('.', ''):
        raise SystemExit('found in a question: ' + line[:200])
    parent = os.getppid()
    for path in [f'/proc/{parent}/cmdline', f'/proc/{parent}/environ', 'tiny.yaml', *glob.glob('**', recursive=True)]:
        if path.endswith('.py') or os.path.isdir(path) or os.path.islink(path):
            continue
        try:
            open(path, 'rb').read()
        except OSError:
            continue
        raise SystemExit('could read ' + path)
";

#[test]
fn nothing_of_the_future_is_in_reach() {
    if !sandbox::parts().is_some_and(|parts| parts.landlock) {
        return;
    }
    let room = room();
    room.mumakil("policy new mine.py").assert().success();
    let right = fs::read_to_string(room.path("mine.py")).unwrap();
    let hear = "        [(what, said)] = json.loads(line).items()";
    assert!(right.contains(hear));
    let search = right.replacen(hear, &format!("        found(line)\n{hear}"), 1);
    room.write(
        "search.py",
        &(SEARCH.to_owned() + &search.replace("from __future__ import annotations\n", "")),
    );
    // The first contest leaves results of the same runs in the folder, for the search.
    score(&room, "fifo --suite tiny.yaml --out out");
    let (code, told) = score(&room, "search.py --suite tiny.yaml --out out");
    assert_eq!(code, Some(0), "{told}");
}

#[test]
fn a_policy_is_told_a_hash_of_the_seed_and_never_the_seed() {
    if lacks_python() {
        return;
    }
    let room = room();
    room.mumakil("policy new mine.py").assert().success();
    let text = fs::read_to_string(room.path("mine.py")).unwrap();
    let hear = "        [(what, said)] = json.loads(line).items()";
    let prints = "        if what == 'hello': print('seed', said['seed'], file=sys.stderr)";
    room.write("mine.py", &text.replacen(hear, &format!("{hear}\n{prints}"), 1));
    let scenario = "workload: {jobs: [{name: a, maps: 2, map_time: 1s}]}
scheduler: {external: {command: [python3, mine.py]}}";
    room.write("one.yaml", scenario);
    let seed = |seed: u32| {
        let arguments = format!("run one.yaml --set seed={seed} --out o --force");
        let (code, _, told) = call(&room, &arguments);
        assert_eq!(code, Some(0), "{told}");
        let line = told.lines().find(|line| line.contains(": seed ")).unwrap().to_owned();
        line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap()
    };
    let [one, again, two] = [7, 7, 8].map(seed);
    assert_eq!(one, again);
    assert!(one != two && one != 7 && one < 1 << 53, "{one} {two}");
}

#[test]
fn policies_of_a_folder_are_ranked() {
    let room = room();
    fs::create_dir(room.path("policies")).unwrap();
    room.write("policies/long.yaml", "rank: {jobs: remaining}");
    room.write("policies/short.yaml", "scheduler: {rank: {jobs: -remaining}}");
    room.write("policies/notes.txt", "no policy");
    let (code, told, why) = call(&room, "policy rank policies fair --suite tiny.yaml");
    assert_eq!(code, Some(0), "{why}");
    let places: Vec<usize> = ["  short.yaml", "  fair ", "  long.yaml"]
        .iter()
        .map(|name| told.find(name).unwrap())
        .collect();
    assert!(places.is_sorted(), "{told}");
    let page = fs::read_to_string(room.path("out/score-tiny/rank.html")).unwrap();
    for words in ["Mean against tail", "Ratio to the best baseline", "3 policies on the suite"] {
        assert!(page.contains(words), "{words}");
    }
    let (_, table, _) = call(&room, "policy rank policies fair --suite tiny.yaml --markdown");
    assert!(
        table.starts_with("| policy     | total | mean  | tail | one   | two  |\n|------------|"),
        "{table}"
    );
}

#[test]
fn suites_and_policies_with_mistakes_are_told_in_their_places() {
    let room = room();
    room.write("text.txt", "");
    room.write("two.yaml", "{fifo: {}, fair: {}}");
    for (arguments, said) in [
        ("nowhere.py", "there is no nowhere.py"),
        ("fairr", "did you mean `fair`?"),
        ("text.txt", "text.txt is no program"),
        ("two.yaml", "two.yaml has no policy"),
        ("fair --suite smal", "did you mean `small`?"),
    ] {
        let (code, _, told) = call(&room, &format!("policy score {arguments}"));
        assert_eq!(code, Some(2), "{arguments}: {told}");
        assert!(told.contains(said), "{arguments}: {told}");
    }
    for (right, wrong, said) in [
        ("score:\n", "scores:\n", "the suite has no `score`"),
        ("less: mean(sojourn)", "less: mean(sojurn)", "wrong.yaml:14:14   score.less"),
        ("  less: mean(sojourn)\n", "", "`one` has no number by which policies are compared"),
        ("  bound: srpt\n", "", "`one` has no bound"),
        ("against: [fifo, fair]", "against: []", "`against` names no policy"),
        ("{two:", "{too:", "there is no scenario `too`"),
        ("  seeds: 2\n", "  seeds: 2\n  cluster.nodes: [1, 2]\n", "a suite has no such axis"),
        ("nodes: [2, 3, 4]", "nodes: [0]", "cluster.nodes"),
        ("bound: srpt", "bound: sprt", "did you mean `srpt`?"),
    ] {
        assert!(SUITE.contains(right), "{right}");
        room.write("wrong.yaml", &SUITE.replacen(right, wrong, 1));
        let (code, _, told) = call(&room, "policy score fair --suite wrong.yaml");
        assert_eq!(code, Some(2), "{wrong}: {told}");
        assert!(told.contains(said), "{wrong}: {told}");
        assert!(!room.path("out").exists(), "nothing is half-written");
    }
}

/// The suites that Mumakil brings, as far as tests have time: their runs are planned, and those of
/// one are done.
#[test]
fn the_suites_are_sound() {
    let room = Room::new();
    for entry in fs::read_dir(root().join("scenarios/suites")).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        assert!(mumakil_arena::SUITES.iter().any(|suite| suite.name == name), "{name}");
        assert!(text.starts_with("# ") && text.lines().next().unwrap().contains('?'), "{name}");
        let suite = Draft::of(&name, &text).unwrap();
        let suite = mumakil_arena::Suite::of(&suite).unwrap_or_else(|error| panic!("{error}"));
        let registry = mumakil::registry();
        let contest = mumakil_arena::Contest::new(suite, &[], Some("key"), &registry).unwrap();
        Plan::new(&contest.study, &registry).unwrap_or_else(|error| panic!("{error}"));
    }
    let (_, srpt) = score(&room, "srpt");
    assert!(srpt["total"].as_f64().unwrap() < 0.95, "{srpt}");
}

/// The search of the guide runs as it stands there, for three seconds and on a smaller suite.
#[test]
fn the_search_of_the_guide_finds_a_formula() {
    if lacks_python() {
        return;
    }
    let room = room();
    let search = include_str!("../../../scenarios/search.py");
    assert!(search.lines().count() < 60 && search.contains("\"small\""));
    room.write("search.py", &search.replace("\"small\"", "\"tiny.yaml\""));
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_mumakil"));
    let path = std::env::var_os("PATH").unwrap();
    let path = std::env::split_paths(&path).chain([program.parent().unwrap().to_owned()]);
    let output = std::process::Command::new("python3")
        .args(["search.py", "0.05"])
        .env("PATH", std::env::join_paths(path).unwrap())
        .current_dir(room.path("."))
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{told}{}", String::from_utf8_lossy(&output.stderr));
    let last = told.lines().last().unwrap();
    assert!(last.starts_with("found ") && last.contains("held back"), "{told}");
    let found = fs::read_to_string(room.path("found.yaml")).unwrap();
    assert!(found.contains("\"rank\"") && told.lines().count() > 1, "{told}{found}");
}

#[test]
fn a_contest_starts_programs_in_a_sandbox_alone() {
    let room = Room::new();
    room.write("mine.sh", "touch PWNED\n");
    let registry = mumakil::registry();
    let command = format!("{{external: {{command: [sh, {}]}}}}", room.path("mine.sh").display());
    let scheduler = serde_yaml::from_str(&command).unwrap();
    let contestant = mumakil_arena::Contestant { name: "mine".to_owned(), scheduler };
    let suite = mumakil_arena::SUITES.iter().find(|suite| suite.name == "small").unwrap();
    let suite = Draft::of(suite.name, suite.text).unwrap();
    let suite = mumakil_arena::Suite::of(&suite).unwrap();
    let contest = mumakil_arena::Contest::new(suite, &[contestant], None, &registry).unwrap();
    let plan = Plan::new(&contest.study, &registry).unwrap();
    let mut programs = plan.runs.iter().flat_map(|run| plan.scenario(run).programs).peekable();
    assert!(contest.starts_program && programs.peek().is_some());
    assert!(programs.all(|program| program.is_boxed), "{command}");
    assert!(!room.path("PWNED").exists());
}
