//! `mumakil quantities`: what metrics, expectations and charts can be made of.

use indexmap::IndexMap;

use super::failure::Failure;
use super::lines::Lines;
use super::terminal;
use crate::expect;

/// List what metrics, expectations and charts can be made of
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mean(sojourn)                             as a metric of a study
  p95(wait, class=small) < 30s              as an expectation
  mumakil run quickstart --set 'expect=[\"locality.node > 80 %\"]'")]
pub(super) struct Arguments {}

impl Arguments {
    pub(super) fn run(self) -> Result<(), Failure> {
        Ok(terminal::print(&list())?)
    }
}

/// Returns the quantities with what they are, below what they have their numbers for.
fn list() -> Lines {
    let mut groups: IndexMap<&str, Vec<(&str, &str)>> = IndexMap::new();
    for (name, of, about) in expect::quantities() {
        groups.entry(of).or_default().push((name, about));
    }
    let width = expect::quantities().map(|(name, ..)| name.len()).max().unwrap_or_default();
    let mut lines = Lines::default();
    for (of, quantities) in groups {
        lines.bold(of, "");
        for (name, about) in quantities {
            lines.line(format!("  {name:width$}   {about}"));
        }
    }
    lines
}
