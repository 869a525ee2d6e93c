//! The program, its commands, and what a satellite adds to both.

use clap::{ArgMatches, Args, CommandFactory};

use crate::failure::Failure;
use crate::study::OtherMachines;
use crate::{Arguments, EXAMPLES, ProgramOptions, groups, help, trace};
use mumakil_scenario::{Registry, Starter};
use serde_json::Value;

/// The program that users call.
pub struct Program {
    /// The policies, kinds of workload and formats of traces.
    pub registry: Registry,
    /// The commands, in the order in which the help shows them.
    pub commands: Vec<Command>,
    /// The chapters of the guide.
    pub chapters: Vec<Chapter>,
    /// Suites of scenarios.
    pub suites: Vec<Starter>,
    /// The JSON Schema of suites.
    pub suite_schema: Option<fn(&Registry) -> Value>,
    /// Other machines on which a study can run.
    pub elsewhere: Option<&'static dyn OtherMachines>,
}

/// The additions of a satellite to the program.
#[derive(Default)]
pub struct Satellite {
    /// Its commands.
    pub commands: Vec<Command>,
    /// Adds its policies, kinds of workload and formats of traces.
    pub register: Option<fn(&mut Registry)>,
    /// Its chapters of the guide.
    pub chapters: Vec<Chapter>,
    /// Suites of scenarios.
    pub suites: &'static [Starter],
    /// The JSON Schema of suites.
    pub suite_schema: Option<fn(&Registry) -> Value>,
    /// Other machines on which a study can run.
    pub elsewhere: Option<&'static dyn OtherMachines>,
}

/// A chapter of the guide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chapter {
    /// Its name, on the command line, in links and as a file.
    pub name: &'static str,
    /// Its text, as Markdown.
    pub text: &'static str,
}

/// A group of commands in the help.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CommandGroup {
    /// Commands about a single run.
    RunAndLook,
    /// Commands about several runs.
    CompareAndStudy,
    /// Commands about a user's own traces and policies.
    BringYourOwn,
    /// Commands that show what there is.
    LookUp,
}

type RunCommand = dyn Fn(&ArgMatches, &Program) -> Result<(), Failure>;

/// A command of the program.
pub struct Command {
    /// Its name; `policy score` is the command `score` of the command `policy`.
    pub(crate) name: &'static str,
    pub(crate) group: CommandGroup,
    /// How clap reads its arguments.
    define: fn(clap::Command) -> clap::Command,
    run: Box<RunCommand>,
    /// Whether it does a study, which other machines may do.
    is_study: bool,
    /// Whether it starts runs, and so perhaps the programs that scenarios name.
    starts_runs: bool,
    /// Arguments that are names, for the completions of a shell.
    pub(crate) names: Vec<(&'static str, ArgumentNames)>,
}

/// The names that an argument may be.
#[derive(Clone, Debug)]
pub(crate) enum ArgumentNames {
    /// Those of the scenarios that Mumakil brings, or a file.
    Scenarios,
    /// Those of the studies that Mumakil brings, or a file.
    Studies,
    /// These.
    These(Vec<&'static str>),
}

impl Command {
    /// Returns a command with the arguments of a type.
    pub fn of<A: Args + 'static>(
        name: &'static str,
        group: CommandGroup,
        run: fn(A, &Program) -> Result<(), Failure>,
    ) -> Self {
        let run = move |matches: &ArgMatches, program: &Program| {
            run(A::from_arg_matches(matches).expect("clap has read them"), program)
        };
        let (define, run) = (A::augment_args, Box::new(run));
        Self { name, group, define, run, is_study: false, starts_runs: false, names: Vec::new() }
    }

    /// Returns its name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Completes an argument by these names. `check lesson` is the argument `lesson` of the command
    /// `check` within this one.
    pub fn names(self, argument: &'static str, names: Vec<&'static str>) -> Self {
        self.completed(argument, ArgumentNames::These(names))
    }

    /// Completes an argument by the names of scenarios.
    pub fn scenarios(self, argument: &'static str) -> Self {
        self.completed(argument, ArgumentNames::Scenarios)
    }

    /// Completes an argument by the names of studies.
    pub fn studies(self, argument: &'static str) -> Self {
        self.completed(argument, ArgumentNames::Studies)
    }

    /// Adds the options of other machines that can do its study; it reads them as `ElsewhereOptions`.
    pub fn does_study(self) -> Self {
        Self { is_study: true, ..self }
    }

    /// Adds the options of commands that start runs, also to its command `plan`.
    pub fn starts_runs(self) -> Self {
        Self { starts_runs: true, ..self }
    }

    fn completed(mut self, argument: &'static str, names: ArgumentNames) -> Self {
        self.names.push((argument, names));
        self
    }
}

impl Program {
    /// Returns a program with the commands of this crate, and those of satellites.
    pub fn new(registry: Registry, mut chapters: Vec<Chapter>, satellites: Vec<Satellite>) -> Self {
        let (mut commands, mut suites, mut suite_schema) = (crate::commands(), Vec::new(), None);
        let mut elsewhere = None;
        for satellite in satellites {
            commands.extend(satellite.commands);
            chapters.extend(satellite.chapters);
            suites.extend(satellite.suites);
            suite_schema = suite_schema.or(satellite.suite_schema);
            elsewhere = elsewhere.or(satellite.elsewhere);
        }
        commands.sort_by_key(|command| command.group);
        Self { registry, commands, chapters, suites, suite_schema, elsewhere }
    }

    /// Returns the definition of the command line; `trace convert --to` takes the registry's formats.
    pub(crate) fn definition(&self) -> clap::Command {
        let help = format!("{}\n{EXAMPLES}", help::topics(&self.chapters));
        let mut all = Arguments::command().after_long_help(help);
        for Command { name, define, is_study, starts_runs, .. } in &self.commands {
            let mut words = name.split(' ');
            let (first, second) = (words.next().expect("a name"), words.next());
            let mut defined = define(clap::Command::new(second.unwrap_or(first)));
            if *starts_runs {
                defined = ProgramOptions::augment_args(defined);
                if defined.find_subcommand("plan").is_some() {
                    defined = defined.mut_subcommand("plan", ProgramOptions::augment_args);
                }
            }
            let command = match self.elsewhere.filter(|_| *is_study) {
                Some(elsewhere) => elsewhere.options(defined),
                None => defined,
            };
            all = match second {
                None => all.subcommand(command),
                Some(_) => all.mut_subcommand(first, |of| of.subcommand(command)),
            };
        }
        let all =
            all.mut_subcommand("trace", |it| trace::with_targets(it, self.registry.formats()));
        let template = groups::template(&all, &self.commands);
        all.help_template(template)
    }

    /// Runs the command that the user has called.
    pub(crate) fn run(&self, matches: &ArgMatches) -> Result<(), Failure> {
        // Of `policy` and `policy score`, the longer name is the command that was called.
        let called = self.commands.iter().filter_map(|command| {
            let mut words = command.name.split(' ');
            let matches = words.try_fold(matches, ArgMatches::subcommand_matches)?;
            Some((command, matches))
        });
        let (command, matches) =
            called.max_by_key(|(command, _)| command.name.len()).expect("clap asks for a command");
        (command.run)(matches, self)
    }

    /// Runs the command that these words call.
    ///
    /// # Errors
    /// If no satellite brings the command, or as the command fails.
    pub fn call(&self, words: &[&str]) -> Result<(), Failure> {
        let words = std::iter::once("mumakil").chain(words.iter().copied());
        let matches = self.definition().try_get_matches_from(words);
        self.run(&matches.map_err(|error| Failure::input(error.render()))?)
    }
}

impl Chapter {
    /// Returns a chapter.
    pub const fn new(name: &'static str, text: &'static str) -> Self {
        Self { name, text }
    }

    /// Returns the chapter's heading.
    pub fn title(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches("# ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::registry;

    #[test]
    fn a_command_within_another_is_called_by_both_names() {
        #[derive(clap::Args)]
        struct Plan;
        let fails = |_: Plan, _: &Program| Err(Failure::input("a plan of its own"));
        let own = Command::of("trace plan", CommandGroup::LookUp, fails);
        let own = Satellite { commands: vec![own], ..Satellite::default() };
        let program = Program::new(registry(), Vec::new(), vec![own]);
        let matches = program.definition().get_matches_from(["mumakil", "trace", "plan"]);
        assert_eq!(program.run(&matches).unwrap_err().words(), "a plan of its own");
    }
}
