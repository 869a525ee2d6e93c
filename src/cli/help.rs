//! `mumakil help`: the guide, chapter by chapter, and the help of each command.

use std::fmt::Write as _;

use super::failure::Failure;
use super::lines::BOLD;
use super::{Chapter, Program, show, terminal};
use mumakil_base::nearest::nearest;

/// Read the guide, or the help of a command
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mumakil help studies
  mumakil help run
  mumakil help trace convert")]
pub(super) struct HelpArguments {
    /// A topic of the guide, a command, or a word to look up; without it, topics and commands are
    /// listed
    topic: Vec<String>,
}

impl HelpArguments {
    pub(super) fn run(mut self, program: &Program) -> Result<(), Failure> {
        let mut command = program.definition();
        command.build();
        // A chapter takes precedence over a command of the same name.
        if let Some(chapter) = self.topic.first().and_then(|name| program.chapter(name)) {
            return match self.topic.get(1) {
                None => Ok(terminal::print_file(chapter.text)?),
                Some(more) => Err(too_much(chapter, more)),
            };
        }
        for (depth, name) in self.topic.iter().enumerate() {
            match command.find_subcommand(name).cloned() {
                Some(found) => command = found,
                None => match near(program, &command, name, depth) {
                    // A single unknown word may be a key, a quantity or another name for `show`.
                    None if self.topic.len() == 1 => {
                        return show::ShowArguments::of(self.topic.remove(0)).run(program);
                    }
                    near => return Err(unknown(name, near)),
                },
            }
        }
        Ok(terminal::print_help(&command.render_long_help())?)
    }
}

/// Returns the failure for a superfluous word after the name of a chapter.
fn too_much(chapter: &Chapter, more: &str) -> Failure {
    let name = chapter.name;
    Failure::input(format!(
        "the topic `{name}` has no part `{more}`\n   = see `mumakil help {name}`"
    ))
}

/// Returns the command that a mistyped name probably means. The first name (depth 0) may also mean
/// a chapter.
fn near<'c>(
    program: &Program,
    command: &'c clap::Command,
    name: &str,
    depth: usize,
) -> Option<&'c str> {
    let commands = command.get_subcommands().map(clap::Command::get_name);
    // After a command, as in `help trace convert`, only another command can stand.
    let chapters = program.chapters.iter().map(|chapter| chapter.name).filter(|_| depth == 0);
    nearest(name, commands.chain(chapters))
}

/// Returns the failure for a name that is neither a command nor a chapter.
fn unknown(name: &str, near: Option<&str>) -> Failure {
    let hint = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`mumakil help` lists what there is".to_owned(),
    };
    Failure::input(format!("no topic or command `{name}`\n   = {hint}"))
}

/// Returns the list of the guide's chapters, for the end of the list of commands.
pub(super) fn topics(chapters: &[Chapter]) -> String {
    let mut text = format!("{BOLD}Topics of the guide (`mumakil help TOPIC`):{BOLD:#}\n");
    let width = chapters.iter().map(|chapter| chapter.name.len()).max().unwrap_or_default();
    for chapter in chapters {
        let _ = writeln!(text, "  {:width$}  {}", chapter.name, chapter.title());
    }
    text
}
