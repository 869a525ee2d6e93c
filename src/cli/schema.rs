//! `mumakil schema`: what editors need to complete and check scenarios.

use super::failure::Failure;
use super::terminal;
use crate::scenario::{self, Registry};

/// Print the JSON Schema of scenarios, for editors
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  mumakil schema > scenario.schema.json
and as the first line of a scenario, for editors with the YAML language server:
  # yaml-language-server: $schema=scenario.schema.json")]
pub(super) struct Arguments {}

impl Arguments {
    pub(super) fn run(self, registry: &Registry) -> Result<(), Failure> {
        let schema = scenario::schema(registry);
        Ok(terminal::print(&format!("{schema:#}\n"))?)
    }
}
