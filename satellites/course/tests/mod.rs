//! `mumakil course check`: model answers pass, an exercise as it is does not, and cheats are refused.
//! `guide` types the commands of the lessons.

use std::fs;

use crate::guide::has_its_commands;
use crate::{Room, lacks_python, root};

/// For each exercise with a scenario: the settings of an answer that passes, and of a cheat.
const ANSWERS: [(&[&str], &str); 5] = [
    (&["hadoop.out_of_band=true"], "cluster.nodes=400"),
    (
        &["scheduler.fair.allocations.pools={ads: {weight: 3}, research: {order: fifo}}"],
        "scheduler=hfsp",
    ),
    (&["scheduler.fair.delay.pools.ann={w1: 0s, w2: 0s}"], "expect=[mean(sojourn) < 1h]"),
    (&["scheduler.hfsp.aging=0.1"], "scheduler.hfsp.estimator=oracle"),
    (&["hadoop.expiry=1min", "hadoop.speculation={late: {slow_task: 10 %}}"], "seed=43"),
];

/// Grades an answer; returns the exit code, and the texts on stdout and stderr.
fn check(room: &Room, number: usize, answer: &str, sets: &[&str]) -> (Option<i32>, String) {
    let mut command = room.mumakil(&format!("course check {number} {answer}"));
    for set in sets {
        command.args(["--set", set]);
    }
    let output = command.output().unwrap();
    let told = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(told).unwrap())
}

#[test]
fn model_answers_pass_and_an_exercise_as_it_is_does_not() {
    let room = Room::new();
    for (number, (answer, cheat)) in (1..).zip(ANSWERS) {
        let exercise = format!("exercise-{number}");
        let shown = room.mumakil(&format!("show {exercise}")).output().unwrap().stdout;
        fs::write(room.path("answer.yaml"), shown).unwrap();
        room.mumakil("check answer.yaml").assert().success().stderr("");
        let (code, told) = check(&room, number, "answer.yaml", &[]);
        assert_eq!(code, Some(1), "{told}");
        assert!(told.starts_with(&format!("{exercise}   not passed\n")), "{told}");
        let (code, told) = check(&room, number, "answer.yaml", answer);
        assert_eq!(code, Some(0), "{told}");
        assert!(told.starts_with(&format!("{exercise}   passed\n")), "{told}");
        let cheated: Vec<&str> = answer.iter().copied().chain([cheat]).collect();
        let (code, told) = check(&room, number, "answer.yaml", &cheated);
        assert_eq!(code, Some(2), "{told}");
        assert!(told.contains("in the exercise\n") && told.contains("change only `"), "{told}");
    }
    assert_eq!(room.names(), ["answer.yaml"], "grading leaves nothing");
}

/// Returns the part of a lesson that students read.
fn lesson(number: usize) -> String {
    let text = fs::read_to_string(root().join(format!("satellites/course/lesson-{number}.md")));
    text.unwrap().split("\n## For the teacher\n").next().unwrap().to_owned()
}

#[test]
fn students_read_no_answers() {
    let teaching = fs::read_to_string(root().join("satellites/course/teaching.md")).unwrap();
    for (number, (answer, _)) in (1..).zip(ANSWERS) {
        let read = format!("{}{teaching}", lesson(number));
        for setting in answer {
            assert!(!read.contains(setting), "lesson {number}: {setting}");
        }
    }
    let last = format!("{}{teaching}", lesson(6));
    for formula in ["-remaining", "sum(job.tasks)"] {
        assert!(!last.contains(formula), "{formula}");
    }
}

#[test]
fn a_policy_of_ones_own_passes_by_its_score() {
    if !has_its_commands("\n$ mumakil policy score") {
        return;
    }
    let room = Room::new();
    let grade = |text: &str| {
        room.write("mine.yaml", text);
        check(&room, 6, "mine.yaml", &[])
    };
    for (text, expected, word) in [
        (
            "rank: {jobs: -(remaining_maps * map_time + remaining_reduces * reduce_time)}",
            0,
            "exercise-6   passed",
        ),
        ("rank: {jobs: -remaining}", 1, "the total is 0.952 and should be below 0.945"),
        ("srpt", 2, "asks for one of your own"),
        ("scheduler: {hfsp: {estimator: oracle}}", 2, "asks for one of your own"),
        ("rank: {jobs: -remainder}", 2, "remaining"),
    ] {
        let (code, told) = grade(text);
        assert_eq!(code, Some(expected), "{text}: {told}");
        assert!(told.contains(word), "{text}: {told}");
    }
}

#[test]
fn the_program_of_the_notes_has_the_score_that_they_state() {
    let room = Room::new();
    if lacks_python() || !has_its_commands("\n$ mumakil policy score") {
        return;
    }
    room.mumakil("policy new mine.py").assert().success();
    let program = fs::read_to_string(room.path("mine.py")).unwrap();
    let changed = program.replace("(job.priority, ", "(sum(job.tasks) - sum(job.done), ");
    assert_ne!(program, changed);
    room.write("mine.py", &changed);
    // On a busy machine Python may take more than the suite's two seconds to start.
    let suite = fs::read_to_string(root().join("scenarios/suites/small.yaml")).unwrap();
    room.write("small.yaml", &format!("{suite}  limits: {{answer: 1min}}\n"));
    let scored = room.mumakil("policy score mine.py --suite small.yaml").assert().success();
    let told = String::from_utf8_lossy(&scored.get_output().stdout).into_owned();
    assert!(told.contains("\n  total 0.948 (below 1"), "{told}");
}

#[test]
fn an_answer_that_is_no_scenario_is_bad_input() {
    let room = Room::new();
    room.write("list.yaml", "- a\n").write("study.yaml", "base: quickstart\nsweep: {seeds: 2}\n");
    for answer in ["none.yaml", "list.yaml", "study.yaml", "quickstart"] {
        let (code, told) = check(&room, 2, answer, &[]);
        assert_eq!(code, Some(2), "{answer}: {told}");
    }
    // The policy of an answer is not started, even if it says so in the one place that may change.
    let program = "scheduler={external: {command: [touch, here]}}";
    assert_eq!(check(&room, 2, "exercise-2", &[program]).0, Some(2));
    assert!(!room.path("here").exists());
}

/// The commands of a lesson print its numbers, and another test types the commands again. So a number
/// in the text is true if it is also among the printed ones.
#[test]
fn the_numbers_in_a_lesson_are_those_that_its_commands_print() {
    for number in 1..=6 {
        let text = fs::read_to_string(root().join(format!("satellites/course/lesson-{number}.md")));
        let text = text.unwrap();
        let exercise = root().join(format!("scenarios/course/exercise-{number}.yaml"));
        let mut printed = fs::read_to_string(exercise).unwrap_or_default();
        let mut prose = String::new();
        for (place, part) in text.split("```").enumerate() {
            if place % 2 == 0 { &mut prose } else { &mut printed }.push_str(part);
        }
        // Scenarios and arguments write `10s`, results `10 s`.
        let joined = |text: &str| text.split_whitespace().collect::<String>();
        let printed = joined(&printed);
        let words: Vec<&str> = prose.split_whitespace().collect();
        let is_number = |word: &str| word.parse::<f64>().is_ok();
        for pair in words.windows(2).filter(|pair| is_number(pair[0])) {
            let unit = pair[1].trim_end_matches(['.', ',', ':', ';', '?']);
            if ["s", "ms", "min", "%"].contains(&unit) {
                let told = joined(&format!("{}{unit}", pair[0]));
                assert!(printed.contains(&told), "lesson {number}: {} {unit}", pair[0]);
            }
        }
    }
}

#[test]
fn shells_complete_the_lessons() {
    for shell in ["bash", "zsh"] {
        let output = Room::new().mumakil(&format!("completions {shell}")).output().unwrap();
        let script = String::from_utf8(output.stdout).unwrap();
        // Those of `course`, `course check` and `course teacher`.
        assert_eq!(script.matches("1 2 3 4 5 6").count(), 3, "{shell}");
    }
}
