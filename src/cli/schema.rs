//! `mumakil schema`: what editors need to complete and check scenarios and studies.

use clap::ValueEnum;

use super::failure::Failure;
use super::terminal;
use crate::scenario::{self, Registry};
use crate::study;

/// Print the JSON Schema of scenarios or studies, for editors
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  mumakil schema > scenario.schema.json
and as the first line of a scenario, for editors with the YAML language server:
  # yaml-language-server: $schema=scenario.schema.json")]
pub(super) struct Arguments {
    /// What the schema describes
    #[arg(value_name = "KIND", default_value = "scenario")]
    kind: Kind,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Kind {
    Scenario,
    Study,
}

impl Arguments {
    pub(super) fn run(self, registry: &Registry) -> Result<(), Failure> {
        let schema = match self.kind {
            Kind::Scenario => scenario::schema(registry),
            Kind::Study => study::schema(registry),
        };
        Ok(terminal::print_file(&format!("{schema:#}\n"))?)
    }
}
