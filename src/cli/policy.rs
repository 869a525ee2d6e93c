//! `mumakil policy`: begins a policy of your own as an external program, tries it, and scores it.
//! ```text
//! policy new mine.py   -> mine.py: an adapter and a policy of twenty lines, to be changed
//! policy try mine.py   -> random small clusters, each run twice: mistakes, each with its scenario
//! policy score mine.py -> beside other policies on a suite of scenarios: one number
//! policy rank DIR      -> all policies of a folder, the best first
//! run … --set 'scheduler={external: {command: [python3, mine.py]}}'
//! ```

use std::path::Path;

use super::Program;
use super::failure::Failure;

mod contest;
pub(super) mod contestant;
mod new;
mod rank;
mod rehearse;
pub(super) mod score;

/// Begin a policy of your own, try it, and score it
#[derive(Debug, clap::Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(super) struct PolicyArguments {
    #[command(subcommand)]
    command: PolicyCommand,
}

#[derive(Debug, clap::Subcommand)]
enum PolicyCommand {
    New(new::PolicyNewArguments),
    #[command(name = "try")]
    Rehearse(rehearse::PolicyRehearseArguments),
    Score(score::PolicyScoreArguments),
    Rank(rank::PolicyRankArguments),
}

impl PolicyArguments {
    pub(super) fn run(self, program: &Program) -> Result<(), Failure> {
        let registry = &program.registry;
        match self.command {
            PolicyCommand::New(arguments) => arguments.run(),
            PolicyCommand::Rehearse(arguments) => arguments.run(registry),
            PolicyCommand::Score(arguments) => arguments.run(registry),
            PolicyCommand::Rank(arguments) => arguments.run(registry),
        }
    }
}

/// Returns the command that runs a program's file. A bare file name gets `./`: otherwise the system
/// would look for it in PATH.
fn as_program(file: &Path) -> String {
    let is_bare = file.parent().is_none_or(|parent| parent.as_os_str().is_empty());
    let file = file.display();
    if is_bare { format!("./{file}") } else { file.to_string() }
}
