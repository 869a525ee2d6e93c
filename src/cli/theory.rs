//! `mumakil theory`: what theory says, as tables to put measured numbers beside.

use serde::Serialize;

use super::failure::Failure;
use super::lines::Lines;
use super::terminal;

mod delay;
mod fluid;

/// Print what theory expects of delay scheduling and of ideal disciplines
///
/// Without a command it is `delay`, and the options are its options.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Examples:
  mumakil theory --jobs 5,10,20,50
  mumakil theory fluid --job 0s:30s --job 10s:10s --job 15s:10s")]
#[group(skip)]
pub(super) struct Arguments {
    #[command(flatten)]
    delay: delay::Arguments,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Delay(delay::Arguments),
    Fluid(fluid::Arguments),
}

impl Arguments {
    pub(super) fn run(self) -> Result<(), Failure> {
        match self.command.unwrap_or(Command::Delay(self.delay)) {
            Command::Delay(arguments) => arguments.run(),
            Command::Fluid(arguments) => arguments.run(),
        }
    }
}

/// As what rows are printed.
#[derive(Debug, clap::Args)]
struct Form {
    /// Print an array of objects
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print comma-separated values
    #[arg(long)]
    csv: bool,
}

impl Form {
    /// Prints the rows, for people as `told` tells them.
    fn print<R: Serialize>(&self, rows: &[R], told: fn(&[R]) -> Lines) -> Result<(), Failure> {
        Ok(if self.json {
            let json = serde_json::to_string_pretty(rows).expect("numbers are JSON");
            terminal::print_file(&(json + "\n"))
        } else if self.csv {
            terminal::print_file(&csv_of(rows))
        } else {
            terminal::print(&told(rows))
        }?)
    }
}

fn csv_of<R: Serialize>(rows: &[R]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.serialize(row).expect("numbers are CSV");
    }
    let bytes = writer.into_inner().expect("memory takes what is written");
    String::from_utf8(bytes).expect("numbers are text")
}
