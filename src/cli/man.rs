//! `mumakil man`: the manual pages, in roff.

use super::failure::Failure;
use super::{Program, terminal};

/// Print the manual page, or that of a command
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mumakil man | man -l -
  mumakil man run > ~/.local/share/man/man1/mumakil-run.1")]
pub(super) struct ManArguments {
    /// The command whose page to print, such as `trace convert`
    command: Vec<String>,
}

impl ManArguments {
    pub(super) fn run(self, program: &Program) -> Result<(), Failure> {
        let mut command = program.definition();
        // Build first: this gives subcommands their common options and their full names.
        command.build();
        for name in self.command {
            let found = command.find_subcommand(&name).cloned();
            command = found.ok_or_else(|| Failure::input(format!("no command `{name}`")))?;
        }
        let mut page = Vec::new();
        clap_mangen::Man::new(command).render(&mut page)?;
        Ok(terminal::print_file(&String::from_utf8_lossy(&page))?)
    }
}
