//! The command line: one file for each subcommand, and what a satellite adds to it.
//!
//! ```text
//! mumakil run quickstart --seed 7
//!   help_in_front            `trace help convert`
//!   clap                     -> run::RunArguments
//!   run                      source: the scenario; progress: the bar; story, verdicts: the last lines
//!   terminal                 results to stdout, warnings and errors to stderr
//!   failure                  a message and an exit code, if something went wrong
//! ```
//! A [`Program`] is a registry of policies and formats, the commands, and the guide. A satellite is a
//! crate that adds commands to it and that no other crate names but the program itself.
//!
//! | code | means |
//! |---|---|
//! | 0 | done; a failed job of the simulated cluster counts as a result |
//! | 1 | an expectation fails, or a run failed: the policy panicked, no job could continue, an invariant was broken |
//! | 2 | the scenario or the command line is invalid |
//! | 3 | the environment failed, such as a full disk, or Mumakil has a bug |
//! | 130, 143 | ended by Ctrl-C (130) or by SIGTERM (143) |

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::process::ExitCode;
use std::sync::{Arc, LazyLock};

use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use parking_lot::Mutex;

use self::failure::Failure;
use mumakil_base::nearest::nearest;
use mumakil_base::panics::{self, NotedPanic};
use mumakil_core::mapred::ProgramPermit;
use mumakil_run::MODEL;
use mumakil_runtime::words_of_panic;
use mumakil_scenario::Reference;

mod branch;
mod check;
mod command;
mod compare;
mod completions;
mod drive;
mod example_files;
mod explain;
pub mod failure;
pub mod file;
pub mod form;
mod groups;
mod help;
pub mod interrupt;
pub mod known_programs;
pub mod lines;
mod list;
mod man;
mod minutes;
pub mod open;
mod packed;
pub mod policy;
pub mod progress;
mod py;
pub mod run;
mod sandboxed;
mod search;
mod show;
pub mod source;
mod story;
pub mod study;
pub mod table;
pub mod terminal;
#[cfg(test)]
#[path = "../../tests/it/registry.rs"]
mod testing;
mod ticker;
mod trace;
pub mod verdicts;

pub use command::{Chapter, Command, CommandGroup, Program, Satellite};
pub use trace::TraceOutput;

/// An emulator of a Hadoop MapReduce v1 cluster
///
/// Mumakil runs a YAML scenario (a cluster, its jobs, a scheduling policy) on a virtual clock, and
/// leaves tables, latency histograms, timelines and a report in a folder.
#[derive(Debug, Parser)]
#[command(name = "mumakil", version = VERSION.as_str(), subcommand_required = true, arg_required_else_help = true)]
#[command(disable_help_subcommand = true)]
#[command(after_help = EXAMPLES)]
struct Arguments {}

// Whether a command may start programs. clap would show a doc comment as that of the command.
#[derive(Debug, clap::Args)]
struct ProgramOptions {
    /// Start no program that a scenario names as its policy (`external`)
    #[arg(long, display_order = BEHIND_OWN)]
    no_external: bool,
    /// Start the program that a scenario names as its policy without a warning, and also where only
    /// results or a plan are asked for
    #[arg(long, display_order = BEHIND_OWN, conflicts_with = "no_external")]
    external: bool,
}

/// The version, and the number of the model: programs of one version may have several.
static VERSION: LazyLock<String> =
    LazyLock::new(|| format!("{}, model {MODEL}", env!("CARGO_PKG_VERSION")));

/// The display order of the options that all commands with runs have: after its own options, before `--help`.
const BEHIND_OWN: usize = 998;

const EXAMPLES: &str = "\
Examples:
  mumakil run quickstart                   run a scenario that Mumakil brings
  mumakil show quickstart > mine.yaml      begin a scenario of your own with it
  mumakil check mine.yaml                  find all mistakes in it
  mumakil run mine.yaml --set cluster.nodes=50
  mumakil compare out/mine-42 out/mine-43  put runs side by side
  mumakil trace inspect trace.tsv          see what is in a trace";

/// Returns the commands that no satellite brings.
pub fn commands() -> Vec<Command> {
    use CommandGroup::{BringYourOwn, CompareAndStudy, LookUp, RunAndLook};
    vec![
        Command::of("run", RunAndLook, run::RunArguments::run).scenarios("scenario").starts_runs(),
        Command::of("check", RunAndLook, check::CheckArguments::run).scenarios("scenarios"),
        Command::of("explain", RunAndLook, explain::ExplainArguments::run),
        Command::of("py", RunAndLook, py::PyArguments::run),
        Command::of("compare", CompareAndStudy, compare::CompareArguments::run),
        Command::of("branch", CompareAndStudy, branch::BranchArguments::run)
            .scenarios("scenario")
            .starts_runs(),
        Command::of("study", CompareAndStudy, study::StudyArguments::run)
            .studies("study")
            .does_study()
            .starts_runs(),
        Command::of("trace", BringYourOwn, trace::TraceArguments::run),
        Command::of("policy", BringYourOwn, policy::PolicyArguments::run),
        Command::of("policy new", BringYourOwn, policy::new::PolicyNewArguments::run),
        Command::of("list", LookUp, list::ListArguments::run),
        Command::of("show", LookUp, show::ShowArguments::run),
        Command::of("help", LookUp, help::HelpArguments::run),
        Command::of("man", LookUp, man::ManArguments::run),
        Command::of("completions", LookUp, completions::CompletionsArguments::run),
    ]
}

/// Executes the command line of a program.
pub fn execute(mut program: Program) -> ExitCode {
    // Do this first: a launcher should become the policy at once.
    if let Some(code) = sandboxed::become_policy() {
        return code;
    }
    if let Ok(path) = std::env::current_exe() {
        program.registry.launcher = Some(path);
    }
    program.registry.voice = Arc::new(terminal::pass_on);
    // Call this before the first write: from here on, a write beyond `ulimit -f` gives an error
    // instead of ending the process.
    interrupt::outlive_limits();
    let mut arguments: Vec<OsString> = std::env::args_os().collect();
    // Parsing consumes a definition of the command line; this one is for `help_in_front`.
    let first = program.definition();
    help_in_front(&mut arguments, &first);
    let matches = match first.try_get_matches_from(arguments.clone()) {
        Ok(matches) => matches,
        Err(mut message) => {
            suggest_command(&mut message, &program.definition(), &arguments);
            suggest_argument(&mut message, &program, &arguments);
            // clap returns the texts of `--help` and `--version` as errors, too. They go to stdout,
            // with code 0.
            let code = if message.use_stderr() { failure::INPUT } else { 0 };
            terminal::print_usage(message, arguments, |arguments| {
                let mut message =
                    program.definition().try_get_matches_from(arguments.clone()).err()?;
                suggest_argument(&mut message, &program, &arguments);
                Some(message)
            });
            return ExitCode::from(code);
        }
    };
    let mut called = &matches;
    while let Some((_, inner)) = called.subcommand() {
        called = inner;
    }
    let says = |option: &str| called.try_get_one(option).ok().flatten() == Some(&true);
    program.registry.permit_programs(match (says("no_external"), says("external")) {
        (true, _) => ProgramPermit::Refused(
            "it is a program of the scenario's, and --no-external forbids to start it",
        ),
        (_, true) => ProgramPermit::Trusted,
        _ => ProgramPermit::Warned(Arc::new(terminal::warn_of)),
    });
    match guarded(|| program.run(&matches)) {
        // A panic in another thread may have ended it half-way, so the results may be wrong.
        Ok(()) => left_panic().map_or(ExitCode::SUCCESS, Failure::report),
        Err(failure @ Failure::Bug { .. }) => failure.report(),
        Err(failure) => {
            let code = failure.report();
            left_panic().map_or(code, Failure::report)
        }
    }
}

/// Returns the failure of a thread whose panic no code has reported.
fn left_panic() -> Option<Failure> {
    let NotedPanic { words, place } = panics::unanswered()?;
    Some(Failure::Bug { words, place })
}

/// Adds the most similar command to an error about an unknown command. clap itself suggests nothing
/// for short words such as `rnu`.
fn suggest_command(error: &mut clap::Error, all: &clap::Command, arguments: &[OsString]) {
    let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand) else {
        return;
    };
    let near = nearest(
        name,
        called_command(all, arguments).get_subcommands().map(clap::Command::get_name),
    );
    if let Some(near) = near {
        let near = ContextValue::Strings(vec![near.to_owned()]);
        error.insert(ContextKind::SuggestedSubcommand, near);
    } else if error.get(ContextKind::SuggestedSubcommand).is_none() {
        let tip = format!("'mumakil help {name}' looks a word up");
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
}

/// Returns the innermost command that is called; words that are no commands are skipped.
fn called_command<'c>(all: &'c clap::Command, arguments: &[OsString]) -> &'c clap::Command {
    let words = arguments.iter().skip(1);
    words.fold(all, |command, word| command.find_subcommand(word).unwrap_or(command))
}

/// Says what to write instead of an argument that clap does not know. clap itself suggests `-- -a`,
/// but after `--` come the options of another program.
fn suggest_argument(error: &mut clap::Error, program: &Program, arguments: &[OsString]) {
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidArg) else { return };
    if error.kind() != ErrorKind::UnknownArgument {
        return;
    }
    let words: Vec<_> = arguments.iter().map(|argument| argument.to_string_lossy()).collect();
    // clap names only the first letter of what it takes for short options.
    let Some(at) = words.iter().position(|word| word.starts_with(&**given)) else { return };
    let tip = match (given.strip_prefix("--"), &words[..at]) {
        (None, [.., set, path]) if set == "--set" && !path.contains('=') => {
            Some(format!("path and value are one word: '--set {path}={given}'"))
        }
        (None, _) => Some(format!("a file or folder of this name is written './{}'", words[at])),
        (Some(option), _) => {
            let all = program.definition();
            let known = called_command(&all, arguments).get_arguments();
            let options: Vec<&str> = known.filter_map(clap::Arg::get_long).collect();
            let has_sets = options.contains(&"set") && nearest(option, options).is_none();
            let next = words.get(at + 1).filter(|next| !next.starts_with('-'));
            has_sets.then(|| setting(&words[at][2..], next.map(|it| &**it), program)).flatten()
        }
    };
    // Of clap's own tips only a similar option is of use.
    if tip.is_some() || error.get(ContextKind::SuggestedArg).is_none() {
        error.remove(ContextKind::Suggested);
    }
    if let Some(tip) = tip {
        error.remove(ContextKind::SuggestedArg);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
}

/// Returns how to set the key of scenarios that an option names; `next` is the word behind it.
fn setting(option: &str, next: Option<&str>, program: &Program) -> Option<String> {
    let keys = Reference::of(&mumakil_study::schema(&program.registry));
    let (option, value) = option.split_once('=').unwrap_or((option, next.unwrap_or("…")));
    let (path, _) = keys.keys().find(|(path, _)| match path.split_once('.') {
        None => path.starts_with(option),
        Some((_, inner)) => inner == option,
    })?;
    Some(format!("the scenario has it: '--set {path}={value}'"))
}

/// Turns `trace help convert` into `help trace convert`. clap's own `help` is switched off, since
/// ours also shows the guide.
fn help_in_front(arguments: &mut [OsString], command: &clap::Command) {
    if let [_, name, help, ..] = arguments
        && help == "help"
        && command.find_subcommand(&*name).is_some_and(clap::Command::has_subcommands)
    {
        std::mem::swap(name, help);
    }
}

/// Returns the name by which the program was called: a user's own binary is not called `mumakil`.
fn called() -> String {
    let path = std::env::args_os().next().unwrap_or_default();
    let name = std::path::Path::new(&path).file_stem().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// Calls `work`, and turns a panic in it into a failure.
///
/// The panic hook prints nothing: most panics come from policies, and the run explains them. It
/// notes the panic's place in the source, for the report of a bug. With `RUST_BACKTRACE` it also
/// prints the panic.
fn guarded(work: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
    let last = Arc::new(Mutex::new(None));
    // Keep the default hook, to print the backtrace if RUST_BACKTRACE is set.
    let (noted, print) = (last.clone(), take_hook());
    set_hook(Box::new(move |info| {
        if std::env::var_os("RUST_BACKTRACE").is_some_and(|value| value != "0") {
            print(info);
        }
        let place = info.location().map(ToString::to_string);
        panics::note(NotedPanic { words: words_of_panic(info.payload()), place: place.clone() });
        *noted.lock() = place;
    }));
    match catch_unwind(AssertUnwindSafe(work)) {
        // The run caught the panic but does not know its place; the hook has noted it.
        Ok(Err(Failure::Bug { words, .. })) => {
            Err(Failure::Bug { words, place: last.lock().take() })
        }
        Ok(result) => result,
        Err(panic) => {
            Err(Failure::Bug { words: words_of_panic(&*panic), place: last.lock().take() })
        }
    }
}

#[cfg(test)]
mod tests {
    mod full_disk;

    use super::*;
    use mumakil_core::mapred::{Offer, Policy, Scheduler};
    use mumakil_scenario::workload::format::{ConversionTarget, Format, FormatContents, other};

    fn program() -> Program {
        Program::new(testing::registry(), Vec::new(), Vec::new())
    }

    /// A policy that panics.
    struct Fragile;

    impl Scheduler for Fragile {
        fn offer(&mut self, _: &mut Offer<'_>) {
            panic!("out of ideas");
        }
    }

    impl Policy for Fragile {
        const NAME: &'static str = "fragile";
        const ABOUT: &'static str = "panics";
        type Options = ();
        fn new((): ()) -> Self {
            Self
        }
    }

    #[test]
    fn a_policy_that_panics_is_named_and_leaves_no_folder() {
        let room = tempfile::TempDir::new().unwrap();
        let out = room.path().join("run");
        let words = ["mumakil", "run", "quickstart", "--set", "scheduler=fragile", "--out"];
        let words = words.into_iter().map(OsString::from).chain([out.into()]);
        let mut program = program();
        program.registry.add::<Fragile>();
        let matches = program.definition().get_matches_from(words);
        let failure = program.run(&matches).unwrap_err();
        let Failure::Run(error) = failure else { panic!("{failure:?}") };
        assert_eq!(error.to_string(), "the policy `fragile` panicked: out of ideas");
        assert_eq!(std::fs::read_dir(room.path()).unwrap().count(), 0);
    }

    /// Returns the message about wrong arguments.
    fn told(arguments: &[OsString]) -> String {
        let program = program();
        let mut error = program.definition().try_get_matches_from(arguments).unwrap_err();
        suggest_command(&mut error, &program.definition(), arguments);
        suggest_argument(&mut error, &program, arguments);
        error.to_string()
    }

    #[test]
    fn a_slip_is_told_what_to_write() {
        for (wrong, right) in [
            ("rn quickstart", "'run'"),
            ("run a --set cluster.nodes 50", "'--set cluster.nodes=50'"),
            ("run a --nodes 50", "'--set cluster.nodes=50'"),
            ("run a --nodes=50", "'--set cluster.nodes=50'"),
            ("run a --sched fair", "'--set scheduler=fair'"),
            ("run a --sead 5", "'--seed'"),
        ] {
            let words = wrong.split(' ').map(OsString::from);
            let said = told(&["mumakil".into()].into_iter().chain(words).collect::<Vec<_>>());
            assert!(said.contains(right), "{wrong}: {said}");
            assert_eq!(said.matches("tip: ").count(), 1, "{said}");
        }
    }

    #[test]
    fn a_path_that_looks_like_an_option_is_suggested_as_a_path() {
        let arguments = ["mumakil", "study", "-x.yaml"].map(OsString::from);
        let said = told(&arguments);
        assert!(
            said.contains("tip: a file or folder of this name is written './-x.yaml'"),
            "{said}"
        );
        assert!(!said.contains("-- -x"), "{said}");
    }

    #[test]
    fn a_command_takes_one_line_of_eighty_columns() {
        let program = program();
        let help = groups::template(&program.definition(), &program.commands);
        for line in anstream::adapter::strip_str(&help).to_string().lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }

    #[test]
    fn the_command_line_is_sound() {
        program().definition().debug_assert();
    }

    /// A format of traces: a list of names, one a line.
    static NAMES: Format = Format {
        target: Some(ConversionTarget {
            key: "names",
            about: "Names",
            make: |job, _| Box::new(job.clone()),
        }),
        ..Format::new(
            "names",
            FormatContents::List {
                read: |file, _| Err(other(file.path, file.format, "a list that can be read")),
                write: |jobs, to| jobs.listed().try_for_each(|job| writeln!(to, "{}", job.name)),
            },
        )
    };

    #[test]
    fn a_trace_is_converted_to_a_format_of_ones_own() {
        let room = tempfile::TempDir::new().unwrap();
        let (jobs, names) = (room.path().join("jobs.csv"), room.path().join("names"));
        std::fs::write(&jobs, "name,maps\na,1\nb,2\n").unwrap();
        let words = ["mumakil", "trace", "convert", "--to", "names", "-o"].map(OsString::from);
        let words = || words.iter().cloned().chain([names.clone().into(), jobs.clone().into()]);
        assert!(program().definition().try_get_matches_from(words()).is_err());
        let mut program = program();
        program.registry.add_format(&NAMES);
        let matches = program.definition().try_get_matches_from(words()).unwrap();
        program.run(&matches).unwrap();
        assert_eq!(std::fs::read_to_string(names).unwrap(), "a\nb\n");
    }

    #[test]
    fn a_thread_that_panics_alone_is_no_success() {
        let lonely = || std::thread::spawn(|| panic!("nobody listens")).join();
        assert!(guarded(|| lonely().map_or(Ok(()), |()| panic!("it has panicked"))).is_ok());
        assert!(matches!(left_panic(), Some(Failure::Bug { .. })));
    }

    #[test]
    fn a_panic_becomes_a_failure_that_says_where() {
        let failure = guarded(|| panic!("no {}", "luck")).unwrap_err();
        let Failure::Bug { words, place } = failure else { panic!("{failure:?}") };
        assert_eq!(words, "no luck");
        assert!(place.unwrap().contains("lib.rs"));
    }
}
