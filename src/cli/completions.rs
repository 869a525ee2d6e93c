//! `mumakil completions`: the script with which a shell completes our command line.

use clap::builder::PossibleValuesParser;
use clap_complete::Shell;

use super::failure::Failure;
use super::{Program, called, terminal};
use crate::command::ArgumentNames;
use mumakil_results::{expect, tables};
use mumakil_scenario::{Reference, Starter};
use mumakil_study as study;

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
    pub(super) fn run(self, program: &Program) -> Result<(), Failure> {
        let mut command = with_names(program, self.shell);
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command, called(), &mut script);
        Ok(terminal::print_file(&String::from_utf8_lossy(&script))?)
    }
}

/// Returns the command line with the names that its arguments may be, for the scripts of Bash and
/// zsh: those of other shells complete no arguments. The commands themselves have no such list, as
/// they tell more about an unknown name than clap could.
fn with_names(program: &Program, shell: Shell) -> clap::Command {
    let mut all = program.definition();
    let topics = kept(all.get_subcommands().map(clap::Command::get_name))
        .into_iter()
        .chain(program.chapters.iter().map(|chapter| chapter.name))
        .collect();
    all = named(all, &["help", "topic"], topics);
    all = named(all, &["show", "first"], shown(program));
    for command in &program.commands {
        for (argument, names) in &command.names {
            let starters = |is_study: bool| {
                let of_kind = Starter::named().filter(|starter| starter.is_study() == is_study);
                of_kind.map(|starter| starter.name).collect()
            };
            let names = match names {
                ArgumentNames::These(names) => names.clone(),
                // Bash completes files beside these names; other shells would only complete the
                // names.
                _ if shell != Shell::Bash => continue,
                ArgumentNames::Scenarios => starters(false),
                ArgumentNames::Studies => starters(true),
            };
            let path: Vec<&str> = command.name.split(' ').chain(argument.split(' ')).collect();
            all = named(all, &path, names);
        }
    }
    all
}

/// Gives an argument the names that it may be; before it in `path` stand the commands that lead to
/// it.
fn named(command: clap::Command, path: &[&str], names: Vec<&'static str>) -> clap::Command {
    if let [of, rest @ ..] = path
        && !rest.is_empty()
    {
        return command.mut_subcommand(of, |of| named(of, rest, names));
    }
    let places: Vec<_> = command.get_positionals().map(|one| one.get_id().clone()).collect();
    let command = command
        .mut_arg(path[0], |argument| argument.value_parser(PossibleValuesParser::new(names)));
    // A changed argument goes to the end: put them all there, in their order.
    places.into_iter().fold(command, |of, place| of.mut_arg(place, |one| one))
}

/// Returns all names that `show` takes.
fn shown(program: &Program) -> Vec<&'static str> {
    let registry = &program.registry;
    let keys = Reference::of(&study::schema(registry));
    let mut names = kept(keys.names());
    names.extend(["reference", "schema"]);
    names.extend(Starter::named().map(|starter| starter.name));
    names.extend(program.suites.iter().map(|suite| suite.name));
    names.extend(registry.all_names());
    names.extend(expect::quantities().map(|(name, ..)| name));
    names.extend(tables::all().iter().map(|table| table.file));
    names
}

/// Returns names that live for ever, as clap wants them: this command ends when its script is
/// printed.
fn kept<'n>(names: impl Iterator<Item = &'n str>) -> Vec<&'static str> {
    names.map(|name| &*name.to_owned().leak()).collect()
}
