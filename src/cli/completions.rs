//! `mumakil completions`: the script with which a shell completes our command line.

use clap_complete::Shell;

use super::failure::Failure;
use super::terminal;

/// Print a shell's completion script
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mumakil completions bash > ~/.local/share/bash-completion/completions/mumakil
  mumakil completions fish > ~/.config/fish/completions/mumakil.fish")]
pub(super) struct CompletionsArguments {
    /// The shell
    shell: Shell,
}

impl CompletionsArguments {
    pub(super) fn run(self, mut command: clap::Command, name: String) -> Result<(), Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command, name, &mut script);
        Ok(terminal::print_file(&String::from_utf8_lossy(&script))?)
    }
}
