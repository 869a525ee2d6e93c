//! The command line, with all satellites.
//!
//! A user's own binary adds a policy or a format to a registry, calls [`run`] with it, and so has
//! every command.

use std::process::ExitCode;

pub use mumakil_cli::{
    Chapter, Command, CommandGroup, Program, Satellite, failure, lines, source, terminal,
};

use crate::{guide, satellites, scenario::Registry};

/// Executes the command line, with the policies and formats of a registry.
pub fn run(registry: Registry) -> ExitCode {
    mumakil_cli::execute(program(registry))
}

/// Returns the program: the policies and formats of a registry, the guide, and all satellites.
pub fn program(registry: Registry) -> Program {
    Program::new(registry, guide::CHAPTERS.to_vec(), satellites())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_chapter_has_a_title_and_no_name_of_a_command() {
        let program = program(crate::registry());
        for chapter in &program.chapters {
            assert!(chapter.text.starts_with("# ") && !chapter.title().is_empty());
            let is_command = program.commands.iter().any(|command| command.name() == chapter.name);
            assert!(!is_command, "{}", chapter.name);
        }
    }
}
