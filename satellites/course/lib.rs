//! `mumakil course`: six lessons on cluster scheduling, with exercises that it grades.
//! ```text
//! course              -> the lessons
//! course 3            -> a lesson: src/cli/lesson-3.md, down to the teacher's part
//! course check 3 FILE -> whether an answer solves its exercise: check
//! course teacher 3    -> the teacher's part: notes, and the answer
//! show exercise-3     -> the exercise, a scenario, as the beginning of an answer
//! ```
//! Lessons use what all users have: scenarios, studies, `expect`, and the score of a policy. The
//! tests type their commands again, as they do with the guide's.

use mumakil_cli::failure::Failure;
use mumakil_cli::lines::TerminalLines;
use mumakil_cli::{Chapter, Command, CommandGroup, Program, Satellite, terminal};

mod check;

/// Returns what this crate adds to the program.
pub fn satellite() -> Satellite {
    let course = Command::of("course", CommandGroup::LookUp, CourseArguments::run)
        .names("lesson", numbers())
        .names("check lesson", numbers())
        .names("teacher lesson", numbers());
    Satellite {
        commands: vec![course],
        chapters: vec![Chapter::new("teaching", include_str!("teaching.md"))],
        ..Satellite::default()
    }
}

/// Learn scheduling in six lessons, with exercises that are graded
///
/// Each lesson takes an hour: a question, commands to type, numbers that must come out, a trap, and
/// an exercise. An answer is a file, and `check` grades it.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  mumakil course 3                        read the third lesson
  mumakil show exercise-3 > answer.yaml   begin an answer to its exercise
  mumakil course check 3 answer.yaml      is it right?"
)]
pub(crate) struct CourseArguments {
    /// The number of the lesson to read; without it, the lessons are listed
    #[arg(value_parser = lesson)]
    lesson: Option<&'static Lesson>,
    #[command(subcommand)]
    command: Option<CourseCommand>,
}

#[derive(Debug, clap::Subcommand)]
enum CourseCommand {
    Check(check::CourseCheckArguments),
    Teacher(CourseTeacherArguments),
}

/// Read the notes for the teacher, with the answers
#[derive(Debug, clap::Args)]
pub(crate) struct CourseTeacherArguments {
    /// The number of the lesson; without it, the notes on all lessons are shown
    #[arg(value_parser = lesson)]
    lesson: Option<&'static Lesson>,
}

/// A lesson of the course.
#[derive(Debug, PartialEq)]
struct Lesson {
    /// The lesson and the teacher's part, as Markdown.
    text: &'static str,
    exercise: Exercise,
}

/// The exercise of a lesson.
#[derive(Debug, PartialEq)]
struct Exercise {
    name: &'static str,
    answer: ExerciseAnswer,
}

/// The answer that an exercise asks for.
#[derive(Debug, PartialEq)]
enum ExerciseAnswer {
    /// The scenario with the exercise's name, in which only these keys may be changed.
    Scenario { free: &'static [&'static str] },
    /// A policy of one's own whose score on a suite is below a number.
    Policy { suite: &'static str, below: &'static str },
}

/// The heading at which the teacher's part of a lesson begins.
const TEACHER: &str = "\n## For the teacher\n";

macro_rules! lessons {
    ($($number:literal: $Answer:ident $answer:tt,)*) => {
        /// The lessons, in the order of their numbers.
        static LESSONS: &[Lesson] = &[$(Lesson {
            text: include_str!(concat!("lesson-", $number, ".md")),
            exercise: Exercise {
                name: concat!("exercise-", $number),
                answer: ExerciseAnswer::$Answer $answer,
            },
        },)*];
    };
}

lessons! {
    1: Scenario { free: &["hadoop.heartbeat", "hadoop.out_of_band"] },
    2: Scenario { free: &["scheduler.fair"] },
    3: Scenario { free: &["scheduler.fair"] },
    4: Scenario {
        free: &[
            "scheduler.hfsp.aging",
            "scheduler.hfsp.late",
            "scheduler.hfsp.preemption",
            "scheduler.hfsp.sample",
            "scheduler.hfsp.training_slots",
        ],
    },
    5: Scenario { free: &["hadoop.expiry", "hadoop.speculation"] },
    6: Policy { suite: "small", below: "0.945" },
}

fn numbers() -> Vec<&'static str> {
    LESSONS.iter().map(Lesson::number).collect()
}

fn lesson(number: &str) -> Result<&'static Lesson, String> {
    let found = number.parse().ok().and_then(|number: usize| LESSONS.get(number.checked_sub(1)?));
    found.ok_or_else(|| {
        format!(
            "lessons have the numbers 1 to {}; `check` and `teacher` are commands",
            LESSONS.len()
        )
    })
}

impl Lesson {
    fn title(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches("# ")
    }

    /// Returns the number with which the title begins.
    fn number(&self) -> &'static str {
        self.title().split('.').next().unwrap_or_default()
    }

    /// Returns the lesson without the teacher's part, and the teacher's part.
    fn parts(&self) -> (&'static str, &'static str) {
        self.text.split_once(TEACHER).expect("a test splits every lesson")
    }
}

impl CourseArguments {
    pub(crate) fn run(self, program: &Program) -> Result<(), Failure> {
        match (self.command, self.lesson) {
            (Some(CourseCommand::Check(arguments)), _) => arguments.run(program),
            (Some(CourseCommand::Teacher(arguments)), _) => arguments.run(),
            (None, Some(lesson)) => Ok(terminal::print_file(lesson.parts().0)?),
            (None, None) => Ok(terminal::print(&list())?),
        }
    }
}

impl CourseTeacherArguments {
    fn run(self) -> Result<(), Failure> {
        let lessons = LESSONS.iter().filter(|lesson| self.lesson.is_none_or(|one| one == *lesson));
        let notes = lessons.map(|lesson| {
            format!("# {}: for the teacher\n\n{}\n", lesson.title(), lesson.parts().1)
        });
        Ok(terminal::print_file(&notes.collect::<String>())?)
    }
}

fn list() -> TerminalLines {
    let mut lines = TerminalLines::default();
    for lesson in LESSONS {
        lines.line(lesson.title());
    }
    lines.line("");
    lines.line("`mumakil course 1` shows the first lesson, `mumakil help teaching` how answers are graded.");
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use mumakil_scenario::EXERCISES;

    #[test]
    fn every_lesson_has_a_numbered_title_a_teachers_part_and_an_exercise() {
        for (number, lesson) in (1u32..).zip(LESSONS) {
            assert_eq!(lesson.number(), number.to_string());
            assert_eq!(lesson.exercise.name, format!("exercise-{number}"));
            assert!(lesson.parts().0.contains("\n## Exercise\n"), "{number}");
            assert!(!lesson.parts().1.trim().is_empty(), "{number}");
        }
        let has_scenario =
            |exercise: &&Exercise| matches!(exercise.answer, ExerciseAnswer::Scenario { .. });
        let exercises = LESSONS.iter().map(|lesson| &lesson.exercise).filter(has_scenario);
        let names = exercises.map(|exercise| exercise.name);
        assert!(names.eq(EXERCISES.iter().map(|exercise| exercise.name)));
    }

    #[test]
    fn a_lesson_has_a_number() {
        assert_eq!(lesson("1"), Ok(&LESSONS[0]));
        for wrong in ["0", "7", "-1", "chek"] {
            assert!(lesson(wrong).is_err(), "{wrong}");
        }
    }
}
