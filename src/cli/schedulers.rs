//! `mumakil schedulers`: the policies that a scenario can name, with their options.

use super::failure::Failure;
use super::lines::Lines;
use super::terminal;
use crate::scenario::Registry;

/// List the scheduling policies, with their options and defaults
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {}

impl Arguments {
    pub(super) fn run(self, registry: &Registry) -> Result<(), Failure> {
        Ok(terminal::print(&list(registry))?)
    }
}

/// Returns each policy with what it does; its options stand below it, as they would in YAML.
fn list(registry: &Registry) -> Lines {
    let mut lines = Lines::default();
    let width = registry.names().map(str::len).max().unwrap_or_default();
    for name in registry.names() {
        let Some(policy) = registry.get(name) else { continue };
        lines.bold(format!("{name:width$}"), format!("   {}", policy.about()));
        for line in policy.defaults().lines() {
            lines.line(format!("{:width$}     {line}", ""));
        }
    }
    lines
}
