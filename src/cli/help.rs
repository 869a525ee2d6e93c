//! `mumakil help`: the guide, chapter by chapter, and the help of each command.

use std::fmt::Write as _;

use super::failure::Failure;
use super::lines::BOLD;
use super::show::ShowArguments;
use super::{Chapter, Program, terminal};

/// Read the guide, or the help of a command
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mumakil help studies
  mumakil help run
  mumakil help trace convert
  mumakil help slow start")]
pub(super) struct HelpArguments {
    /// A topic of the guide, a command, or a word to look up; without it, topics and commands are
    /// listed
    topic: Vec<String>,
}

impl HelpArguments {
    pub(super) fn run(self, program: &Program) -> Result<(), Failure> {
        // A chapter takes precedence over a command of the same name.
        if let [name] = &self.topic[..]
            && let Some(chapter) = program.chapters.iter().find(|chapter| chapter.name == *name)
        {
            return Ok(terminal::print_file(chapter.text)?);
        }
        let mut command = program.definition();
        command.build();
        let found = self.topic.iter().try_fold(&command, |of, name| of.find_subcommand(name));
        match found.cloned() {
            Some(mut found) => Ok(terminal::print_help(&found.render_long_help())?),
            // The words may be those of a key or a quantity, or stand in the guide.
            None => ShowArguments::of(self.topic).run(program),
        }
    }
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
