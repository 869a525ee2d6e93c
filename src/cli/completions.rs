//! `mumakil completions`: the script with which a shell completes our command line.

use clap::builder::PossibleValuesParser;
use clap_complete::Shell;

use super::failure::Failure;
use super::{course, terminal};
use crate::expect;
use crate::guide::CHAPTERS;
use crate::scenario::{Reference, Registry, Starter};
use crate::study::papers::LIST;
use crate::{study, tables};

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
    pub(super) fn run(
        self,
        command: clap::Command,
        name: String,
        registry: &Registry,
    ) -> Result<(), Failure> {
        let mut command = with_names(command, self.shell, registry);
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command, name, &mut script);
        Ok(terminal::print_file(&String::from_utf8_lossy(&script))?)
    }
}

/// The commands that take a scenario, and the name of that argument.
const SCENARIOS: [(&str, &str); 4] =
    [("run", "scenario"), ("live", "scenario"), ("check", "scenarios"), ("branch", "scenario")];

/// Returns the command line with the names that its arguments may be, for the scripts of Bash and
/// zsh: those of other shells complete no arguments. The commands themselves have no such list, as
/// they tell more about an unknown name than clap could.
fn with_names(command: clap::Command, shell: Shell, registry: &Registry) -> clap::Command {
    let named = |command: clap::Command, of: &str, argument, names: Vec<&'static str>| {
        command.mut_subcommand(of, |of| {
            let places: Vec<_> = of.get_positionals().map(|one| one.get_id().clone()).collect();
            let of = of.mut_arg(argument, |argument: clap::Arg| {
                argument.value_parser(PossibleValuesParser::new(names))
            });
            // A changed argument goes to the end: put them all there, in their order.
            places.into_iter().fold(of, |of, place| of.mut_arg(place, |one| one))
        })
    };
    let commands = command.get_subcommands().map(clap::Command::get_name);
    let mut topics = kept(commands);
    topics.extend(CHAPTERS.iter().map(|chapter| chapter.name));
    let keys = Reference::of(&study::schema(registry));
    let mut shown = kept(keys.names());
    shown.extend(["reference", "schema"]);
    shown.extend(Starter::named().map(|starter| starter.name));
    shown.extend(study::SUITES.iter().map(|suite| suite.name));
    shown.extend(registry.names());
    shown.extend(expect::quantities().map(|(name, ..)| name));
    shown.extend(tables::all().iter().map(|table| table.file));
    let command = named(command, "help", "topic", topics);
    let command = named(command, "show", "first", shown);
    let experiments = LIST.iter().map(|listed| listed.id).collect();
    let command = named(command, "papers", "ids", experiments);
    let command = named(command, "course", "lesson", course::numbers());
    let mut command = command.mut_subcommand("course", |of| {
        let of = named(of, "check", "lesson", course::numbers());
        named(of, "teacher", "lesson", course::numbers())
    });
    // Bash completes files beside these names; other shells would only complete the names.
    if shell == Shell::Bash {
        let starters = |is_study: bool| {
            let of_kind = Starter::named().filter(move |starter| starter.is_study() == is_study);
            of_kind.map(|starter| starter.name).collect()
        };
        for (of, argument) in SCENARIOS {
            command = named(command, of, argument, starters(false));
        }
        command = named(command, "study", "study", starters(true));
    }
    command
}

/// Returns names that live for ever, as clap wants them: this command ends when its script is
/// printed.
fn kept<'n>(names: impl Iterator<Item = &'n str>) -> Vec<&'static str> {
    names.map(|name| &*name.to_owned().leak()).collect()
}
