//! `mumakil theory`: the results of the closed forms of delay scheduling, side by side, and of fluid
//! models (`fluid`).

mod fluid;

use indexmap::IndexMap;

use super::failure::Failure;
use super::lines::TerminalLines;
use super::table::{Align, table};
use super::terminal;
use crate::expect::FUNCTIONS;
use crate::nearest::nearest;
use crate::scenario::Registry;
use crate::theory::{DelayedJob, DomainError};
use crate::units::tell::significant;

/// The cluster of the delay scheduling paper's experiments (Zaharia et al., EuroSys 2010), with the
/// jobs of the example in its section 3.5.
const PAPER: [(&str, f64); 6] = [
    ("nodes", 100.0),
    ("slots", 4.0),
    ("replicas", 3.0),
    ("jobs", 10.0),
    ("tasks", 20.0),
    ("locality", 0.95),
];
/// The number that is computed from `locality`, unless the user gives it.
const SKIPS: &str = "skips";
/// The most columns of the table.
// Chosen: more columns do not fit on a wide terminal.
const MOST_COLUMNS: usize = 20;

/// Print the results of theory for delay scheduling
///
/// The closed forms are functions of the language of expectations: see `mumakil help metrics`. If a
/// number has several values, each value gets a column; if several numbers do, each combination of
/// values gets one.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  mumakil theory jobs=5,10,20,50
  mumakil theory nodes=620 slots=5 tasks=10,100 skips=0,50,100"
)]
pub(super) struct TheoryArguments {
    #[command(subcommand)]
    model: Option<TheoryModel>,
    /// Nodes, slots (of a node), replicas, jobs, tasks, locality or skips, if not as in the paper
    #[arg(value_name = "NAME=NUMBER")]
    numbers: Vec<String>,
}

/// A model beside the closed forms.
#[derive(Debug, clap::Subcommand)]
enum TheoryModel {
    Fluid(fluid::FluidArguments),
}

impl TheoryArguments {
    pub(super) fn run(self, registry: &Registry) -> Result<(), Failure> {
        if let Some(TheoryModel::Fluid(fluid)) = self.model {
            return fluid.run(registry);
        }
        let mut asked = IndexMap::from(PAPER.map(|(name, number)| (name, vec![number])));
        for text in &self.numbers {
            let (name, numbers) = assignment(text)?;
            asked.insert(name, numbers);
        }
        // Check this before making the combinations: five lists of ten numbers have a hundred
        // thousand.
        if MOST_COLUMNS < asked.values().map(Vec::len).product() {
            return Err(Failure::input(format!("there are more than {MOST_COLUMNS} combinations")));
        }
        let mut columns = vec![IndexMap::new()];
        for (name, numbers) in asked {
            let with = |column: &IndexMap<_, _>, number| {
                let mut column = column.clone();
                column.insert(name, number);
                column
            };
            columns = columns
                .iter()
                .flat_map(|column| numbers.iter().map(|number| with(column, *number)))
                .collect();
        }
        Ok(terminal::print(&told(columns).map_err(Failure::input)?)?)
    }
}

/// Parses `jobs=5,10` into its name and numbers.
fn assignment(text: &str) -> Result<(&'static str, Vec<f64>), Failure> {
    let names = || PAPER.iter().map(|(name, _)| *name).chain([SKIPS]);
    let (name, numbers) = text.split_once('=').unwrap_or((text, ""));
    let Some(known) = names().find(|known| *known == name) else {
        let hint = nearest(name, names()).map(|near| format!("did you mean `{near}`?"));
        let hint =
            hint.unwrap_or_else(|| format!("there is {}", names().collect::<Vec<_>>().join(", ")));
        return Err(Failure::input(format!("the closed forms have no `{name}`\n   = {hint}")));
    };
    let numbers: Result<Vec<f64>, _> = numbers.split(',').map(str::parse).collect();
    let wrong = |_| {
        Failure::input(format!("`{text}` has no numbers\n   = write `{known}=5` or `{known}=5,10`"))
    };
    Ok((known, numbers.map_err(wrong)?))
}

/// Returns a line with the numbers that all columns share, and a table of the other numbers and the
/// closed forms.
fn told(mut columns: Vec<IndexMap<&str, f64>>) -> Result<TerminalLines, DomainError> {
    for column in &mut columns {
        if !column.contains_key(SKIPS) {
            let [nodes, replicas, tasks] = ["nodes", "replicas", "tasks"].map(|name| column[name]);
            let skips = DelayedJob { nodes, replicas, tasks }.skips_for(column["locality"])?;
            // The count of skipped offers is whole. Round it up: with fewer, locality would be too
            // small.
            column.insert(SKIPS, skips.ceil());
        }
    }
    let row = |name: &str, numbers: Vec<String>, about: &str| {
        [vec![name.to_owned()], numbers, vec![about.to_owned()]].concat()
    };
    let (mut common, mut rows) = (Vec::new(), Vec::new());
    for (name, number) in &columns[0] {
        if columns.iter().all(|column| column[name] == *number) {
            common.push(format!("{name} {number}"));
        } else {
            let numbers = columns.iter().map(|column| column[name].to_string());
            rows.push(row(name, numbers.collect(), ""));
        }
    }
    // Skip functions of other numbers, such as a logarithm: they are no closed forms of delay
    // scheduling.
    let is_known = |name: &&str| columns[0].contains_key(name);
    for form in FUNCTIONS.iter().filter(|form| form.parameters.iter().all(&is_known)) {
        let answer = |column: &IndexMap<&str, f64>| {
            let numbers: Vec<f64> = form.parameters.iter().map(|name| column[name]).collect();
            form.compute(&numbers).map(|answer| significant(answer, 3))
        };
        let answers = columns.iter().map(answer).collect::<Result<_, _>>()?;
        rows.push(row(form.name, answers, form.about));
    }
    let aligned =
        [vec![Align::Left], vec![Align::Right; columns.len()], vec![Align::Left]].concat();
    Ok(TerminalLines::of(common.join(" · ")) + table(&rows, &aligned))
}
