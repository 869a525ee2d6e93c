//! `mumakil schema`: what editors need to complete and check scenarios and studies, and whoever writes a
//! policy in another language to check what is said.

use clap::ValueEnum;

use super::failure::Failure;
use super::terminal;
use crate::external::protocol;
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
    /// The schema of the lines that are said between Mumakil and a policy that is a program: under `said`
    /// what Mumakil says, under `heard` what the policy answers
    #[arg(long, conflicts_with = "kind")]
    protocol: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Kind {
    Scenario,
    Study,
}

impl Arguments {
    pub(super) fn run(self, registry: &Registry) -> Result<(), Failure> {
        let schema = match self.kind {
            _ if self.protocol => protocol::schema(),
            Kind::Scenario => scenario::schema(registry),
            Kind::Study => study::schema(registry),
        };
        Ok(terminal::print_file(&format!("{schema:#}\n"))?)
    }
}
