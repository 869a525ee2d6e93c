//! `mumakil list`: the names of all scenarios, policies, quantities or tables.

use clap::ValueEnum;
use indexmap::IndexMap;

use super::failure::Failure;
use super::lines::TerminalLines;
use super::{Program, terminal};
use mumakil_core::mapred::PolicyEntry;
use mumakil_results::{expect, tables};
use mumakil_scenario::{Registry, STARTERS};

/// List scenarios, policies, quantities or tables
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mumakil list scenarios
  mumakil list quantities

Metrics, expectations and charts are made of quantities:
  mean(sojourn)                             as a metric of a study
  p95(wait, class=small) < 30s              as an expectation
  mumakil run quickstart --set 'expect=[\"locality.node > 80 %\"]'")]
pub(super) struct ListArguments {
    /// The list to print; without it, the names of the lists are printed
    #[arg(value_name = "WHAT")]
    what: Option<Listing>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Listing {
    /// The scenarios and studies that Mumakil brings
    Scenarios,
    /// The suites in which policies are scored
    Suites,
    /// The scheduling policies; `mumakil show` has the options of each
    #[value(alias = "policies")]
    Schedulers,
    /// The names and functions in the formulas of the policy `rank`
    Ranks,
    /// Quantities for metrics, expectations and charts
    Quantities,
    /// The tables that a run leaves
    Tables,
}

impl ListArguments {
    pub(super) fn run(self, program: &Program) -> Result<(), Failure> {
        let registry = &program.registry;
        Ok(terminal::print(&match self.what {
            None => listings(),
            Some(Listing::Scenarios) => {
                grouped(STARTERS.iter().map(|it| (it.name, "", it.question())))
            }
            Some(Listing::Suites) => {
                grouped(program.suites.iter().map(|it| (it.name, "", it.question())))
            }
            Some(Listing::Schedulers) => policies(registry),
            Some(Listing::Ranks) => {
                let policies = registry.names().filter_map(|name| registry.get(name));
                let names: Vec<_> = policies.flat_map(PolicyEntry::vocabulary).collect();
                grouped(names.iter().map(|(name, about)| (&**name, "", *about)))
            }
            Some(Listing::Quantities) => grouped(expect::quantities()),
            Some(Listing::Tables) => tables(),
        })?)
    }
}

/// Returns a line for each table, with the first sentence of its description.
fn tables() -> TerminalLines {
    let first = |about: &'static str| about.split_once(". ").map_or(about, |(first, _)| first);
    let tables = tables::all();
    grouped(tables.iter().map(|table| (table.file, "", first(table.about).trim_end_matches('.'))))
}

fn listings() -> TerminalLines {
    let shown = Listing::value_variants().iter().filter_map(ValueEnum::to_possible_value);
    let values: Vec<(String, String)> = shown
        .map(|value| {
            (value.get_name().to_owned(), value.get_help().unwrap_or_default().to_string())
        })
        .collect();
    let mut lines = grouped(values.iter().map(|(name, about)| (&**name, "", &**about)));
    lines.line("");
    lines.line(
        "`mumakil show NAME` shows one of what is listed, `mumakil show reference` all keys.",
    );
    lines
}

/// Returns the policies with their descriptions, in groups.
fn policies(registry: &Registry) -> TerminalLines {
    let all = registry.all_names().filter_map(|name| registry.get(name));
    let mut lines = grouped(all.map(|it| (it.name(), it.group(), it.about())));
    lines.line("");
    lines.line("`mumakil show NAME` shows the options of one, with their defaults.");
    lines
}

/// Returns names with their descriptions. Each entry has the name, its group, which is a heading unless
/// it is empty, and the description.
fn grouped<'a>(all: impl Iterator<Item = (&'a str, &'a str, &'a str)>) -> TerminalLines {
    let mut groups: IndexMap<&str, Vec<(&str, &str)>> = IndexMap::new();
    all.for_each(|(name, of, about)| groups.entry(of).or_default().push((name, about)));
    // Names are ASCII, so bytes are columns.
    let width = groups.values().flatten().map(|(name, _)| name.len()).max().unwrap_or_default();
    let mut lines = TerminalLines::default();
    for (of, named) in groups {
        if !of.is_empty() {
            lines.bold(of, "");
        }
        let margin = if of.is_empty() { "" } else { "  " };
        for (name, about) in named {
            lines.line(format!("{margin}{name:width$}   {about}"));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_takes_one_line_of_eighty_columns() {
        let lines = tables().bare();
        assert_eq!(lines.lines().count(), tables::all().len());
        for line in lines.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}
