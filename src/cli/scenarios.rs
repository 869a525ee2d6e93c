//! `mumakil scenarios`: the scenarios in the binary, to be read, copied and changed.

use super::failure::Failure;
use super::lines::Lines;
use super::terminal;
use crate::scenario::{STARTERS, Starter};

/// List the scenarios that Mumakil brings, or print one of them
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mumakil scenarios
  mumakil scenarios quickstart > mine.yaml")]
pub(super) struct Arguments {
    /// The scenario to print
    #[arg(value_name = "NAME", value_parser = names())]
    name: Option<String>,
}

impl Arguments {
    pub(super) fn run(self) -> Result<(), Failure> {
        if let Some(starter) = self.name.as_deref().and_then(Starter::find) {
            return Ok(terminal::print_file(starter.text)?);
        }
        let width = STARTERS.iter().map(|starter| starter.name.len()).max().unwrap_or_default();
        let mut lines = Lines::default();
        for starter in STARTERS {
            lines.bold(format!("{:width$}", starter.name), format!("   {}", starter.question()));
        }
        Ok(terminal::print(&lines)?)
    }
}

fn names() -> clap::builder::PossibleValuesParser {
    STARTERS.iter().map(|starter| starter.name).collect::<Vec<_>>().into()
}
