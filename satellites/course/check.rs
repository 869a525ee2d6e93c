//! `mumakil course check`: grades the answer to an exercise.
//!
//! An answer is the exercise's own scenario with other values at a few keys. Everything else must be
//! as it was, the expectations too, so the run judges the answer and nothing else. In the last lesson
//! the answer is a policy, and its score is the grade.

use std::path::PathBuf;

use serde_yaml::{Mapping, Value};

use super::{ExerciseAnswer, Lesson, lesson};
use mumakil_cli::failure::Failure;
use mumakil_cli::lines::TerminalLines;
use mumakil_cli::policy::contestant::contestant;
use mumakil_cli::source::{self, Overrides};
use mumakil_cli::{Program, run, terminal, verdicts};
use mumakil_core::mapred::ProgramPermit;
use mumakil_run::emulation::Options;
use mumakil_run::output::RunFolder;
use mumakil_scenario::{Draft, Registry, Starter};
use mumakil_yaml::{self as yaml, Path, YamlProblem};

/// Grade the answer to an exercise
///
/// The answer is the exercise, in which only the keys that it names are changed. The answer to the
/// last exercise is a policy, as `mumakil policy score` takes it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mumakil course check 3 answer.yaml
  mumakil course check 6 mine.py

Exit codes:
  0  passed
  1  not passed: an expectation does not hold
  2  the file is no scenario, or more was changed than the exercise allows
  3  the environment is at fault, such as a full disk, or Mumakil itself")]
pub(super) struct CourseCheckArguments {
    /// The number of the lesson
    #[arg(value_parser = lesson)]
    lesson: &'static Lesson,
    /// The answer, a file
    #[arg(value_name = "FILE")]
    answer: PathBuf,
    /// Set a value of the answer, such as hadoop.heartbeat=1s
    #[arg(long = "set", value_name = "PATH=VALUE")]
    sets: Vec<String>,
}

impl CourseCheckArguments {
    pub(super) fn run(self, program: &Program) -> Result<(), Failure> {
        match self.lesson.exercise.answer {
            ExerciseAnswer::Scenario { free } => self.grade_scenario(free, &program.registry),
            ExerciseAnswer::Policy { suite, below } => self.grade_policy(suite, below, program),
        }
    }

    fn grade_scenario(self, free: &[&str], registry: &Registry) -> Result<(), Failure> {
        let name = self.lesson.exercise.name;
        // Answers come from others. None needs a program, and a teacher should not start theirs.
        let mut registry = registry.clone();
        registry.permit_programs(ProgramPermit::Refused("answers start no programs"));
        let starter = Starter::find(name).expect("a test finds every exercise");
        let exercise = Draft::of(starter.name, starter.text)?.resolve(&registry)?.scenario;
        let overrides = Overrides { sets: self.sets, ..Overrides::default() };
        let (draft, loaded) = source::load(&self.answer, overrides, &registry)?;
        let wrong = changed(&yaml::write(&exercise), &yaml::write(&loaded.scenario), free);
        if !wrong.is_empty() {
            let free = free.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
            let findings = wrong.into_iter().map(|(path, was)| {
                let message = format!("`{path}` {was} in the exercise");
                let hint = format!("change only {free}; `mumakil show {name}` shows the exercise");
                draft.finding(YamlProblem::value(path, message).hint(hint))
            });
            return Err(Failure::Findings(findings.collect()));
        }
        let mut prepared = source::prepare(&draft, loaded.scenario, &registry)?;
        terminal::warn_all(&loaded.warnings, false);
        prepared.scenario.record.report = false;
        let folder = RunFolder::temporary()?;
        let kept = prepared.fill(&folder, &registry, Options::default())?;
        run::verdict_of_kept(&prepared, &kept)?;
        let judged = verdicts::judge(&kept.verdicts);
        let lines = head(name, judged.is_ok());
        terminal::print(&(lines + verdicts::tell(&prepared.scenario.expect, &kept.verdicts)))?;
        judged
    }

    fn grade_policy(self, suite: &str, below: &str, program: &Program) -> Result<(), Failure> {
        if !self.sets.is_empty() {
            return Err(Failure::input("a policy has no values for `--set`: change its file"));
        }
        let named = self.answer.to_string_lossy().into_owned();
        let scheduler = contestant(&named, &program.registry)?.scheduler;
        let is_own = ["rank", "external"].iter().any(|own| scheduler.get(own).is_some());
        if !is_own {
            return Err(Failure::input(format!(
                "{named} stands for a policy that Mumakil brings\n   = the exercise asks for one of your own: a \
                 program, or a file with a formula such as `rank: {{jobs: age / remaining}}`"
            )));
        }
        let scored = program.call(&["policy", "score", &named, "--suite", suite, "--below", below]);
        terminal::print(&head(self.lesson.exercise.name, scored.is_ok()))?;
        scored
    }
}

fn head(exercise: &str, is_passed: bool) -> TerminalLines {
    let mut lines = TerminalLines::default();
    lines.bold(exercise, if is_passed { "   passed" } else { "   not passed" });
    lines
}

/// Returns the keys at which an answer differs from its exercise, each with words about its value
/// there. The free keys and all that is below them may differ. So may the name: it only names the
/// folder of the results.
fn changed(exercise: &Value, answer: &Value, free: &[&str]) -> Vec<(Path, String)> {
    let mut found = Vec::new();
    differ(exercise, answer, &Path::default(), &mut found);
    let free: Vec<Path> = free.iter().chain(&["name"]).map(|key| Path::of(key)).collect();
    found.retain(|(path, _)| !free.iter().any(|free| free.contains(path)));
    found
}

/// Collects the deepest paths at which two trees differ, with words about the value in the first.
fn differ(one: &Value, other: &Value, at: &Path, found: &mut Vec<(Path, String)>) {
    match (one, other) {
        (Value::Mapping(one), Value::Mapping(other)) => {
            let added = other.keys().filter(|key| !one.contains_key(key));
            for key in one.keys().chain(added) {
                let at = at.key(key.as_str().unwrap_or_default());
                let value = |of: &Mapping| of.get(key).cloned().unwrap_or_default();
                differ(&value(one), &value(other), &at, found);
            }
        }
        (Value::Sequence(one), Value::Sequence(other)) if one.len() == other.len() => {
            for (index, (one, other)) in one.iter().zip(other).enumerate() {
                differ(one, other, &at.index(index), found);
            }
        }
        (one, other) if one == other => {}
        (Value::Null, _) => found.push((at.clone(), "is not set".to_owned())),
        (Value::Mapping(_) | Value::Sequence(_), _) => {
            found.push((at.clone(), "is not as".to_owned()));
        }
        (plain, _) => {
            let text = serde_yaml::to_string(plain).expect("a tree can be written as YAML");
            found.push((at.clone(), format!("is `{}`", text.trim_end())));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_free_keys_and_what_is_below_them_may_differ() {
        let tree = |text: &str| serde_yaml::from_str::<Value>(text).unwrap();
        let exercise =
            tree("{name: a, seed: 42, jobs: [{maps: 3}], scheduler: {fair: {w1: auto}}}");
        let changes = |answer: &str| {
            let found = changed(&exercise, &tree(answer), &["scheduler.fair"]);
            found.into_iter().map(|(path, was)| format!("{path} {was}")).collect::<Vec<_>>()
        };
        let free = "{name: b, seed: 42, jobs: [{maps: 3}], scheduler: {fair: {w1: 0s, w2: 1s}}}";
        assert!(changes(free).is_empty());
        let other = "{seed: 7, jobs: [{maps: 2}], scheduler: {fifo: {}}, until: 1s}";
        let found = [
            "seed is `42`",
            "jobs[0].maps is `3`",
            "scheduler.fifo is not set",
            "until is not set",
        ];
        assert_eq!(changes(other), found);
        let fewer = "{seed: 42, jobs: [], scheduler: {fair: {}}}";
        assert_eq!(changes(fewer), ["jobs is not as"]);
    }
}
