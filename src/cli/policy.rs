//! `mumakil policy`: begins a policy of your own as an external program; satellites try and score it.
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

pub mod contestant;
pub(crate) mod new;

/// Begin a policy of your own, try it, and score it
#[derive(Debug, clap::Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(super) struct PolicyArguments {}

impl PolicyArguments {
    pub(super) fn run(self, _: &Program) -> Result<(), Failure> {
        unreachable!("clap asks for one of its commands")
    }
}

/// Returns the command that runs a program's file. A bare file name gets `./`: otherwise the system
/// would look for it in PATH.
fn as_program(file: &Path) -> String {
    let is_bare = file.parent().is_none_or(|parent| parent.as_os_str().is_empty());
    let file = file.display();
    if is_bare { format!("./{file}") } else { file.to_string() }
}
