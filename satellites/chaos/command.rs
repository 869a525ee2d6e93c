//! `mumakil chaos`: random scenarios under the invariant checker.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::hunt::{Cases, close};
use crate::{HuntCatch, HuntTally, Subject, without_programs};
use mumakil_base::nearest::nearest;
use mumakil_base::units::tell::{count, counted};
use mumakil_cli::failure::Failure;
use mumakil_cli::lines::TerminalLines;
use mumakil_cli::{Program, terminal};
use mumakil_run::output::write_file;

/// The longest real time spent on making a failing scenario smaller.
// Chosen: each try takes up to a second, and most scenarios are small after some dozens of tries.
const PATIENCE: Duration = Duration::from_secs(60);

/// Run random scenarios under the checker of invariants
///
/// Each number is a case: a cluster, a workload, a policy, options and faults, drawn from all
/// settings of a scenario. It is run with `--verify`; some cases are run twice, to compare every
/// event. The scenario of a case that fails is made as small as possible while it fails in the same
/// way, and written as a file that can be run. With a policy of your own this finds tasks that it
/// loses, launches too often or forgets.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mumakil chaos                         a thousand cases
  mumakil chaos --runs 100000 --seed 1  many more
  mumakil chaos --minutes 10 --policy hfsp
  mumakil chaos --seed 4711 --runs 1    one case again

Exit codes:
  0  nothing was found
  1  something was: what, and the smallest scenario that shows it, is printed
  2  the command line is wrong
  3  the environment is at fault, such as a full disk, or Mumakil itself")]
pub(super) struct ChaosArguments {
    #[command(flatten)]
    cases: Cases,
    /// The policy of all cases [default: each case draws one]
    #[arg(long, value_name = "NAME")]
    policy: Option<String>,
    /// Begin no more cases after so many minutes
    #[arg(long, value_name = "NUMBER")]
    minutes: Option<NonZero<u32>>,
    /// Write each scenario that fails into this folder, as chaos-NUMBER.yaml
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print a last line of JSON: the numbers of cases, violations, endless runs and false stalls
    #[arg(long)]
    json: bool,
}

impl ChaosArguments {
    pub(super) fn run(self, program: &Program) -> Result<(), Failure> {
        let registry = &program.registry;
        // Random options must not start a program, even with `--policy external`.
        let known = without_programs(registry);
        if let Some(name) = &self.policy
            && known.get(name).is_none()
        {
            let what = match registry.get(name) {
                Some(_) => format!("`{name}` is a program, which `chaos` does not start"),
                None => format!("no policy is called `{name}`"),
            };
            let hint = nearest(name, known.names()).map_or_else(
                || format!("; there are {}", known.names().collect::<Vec<_>>().join(", ")),
                |meant| format!("; did you mean `{meant}`?"),
            );
            return Err(Failure::input(what + &hint));
        }
        let subject = Subject::Mumakil { policy: self.policy };
        let time = self.minutes.map(|minutes| Duration::from_secs(u64::from(minutes.get()) * 60));
        let tally = self
            .cases
            .hunt(subject, time, PATIENCE, registry, |catch| show(catch, self.out.as_deref()))?;
        let json = self.json.then(|| serde_json::to_string(&tally).expect("numbers are JSON"));
        close(&summary_lines(tally), json, (!tally.is_clean()).then(|| found(tally)))
    }
}

fn show(
    HuntCatch { seed, words, yaml, .. }: &HuntCatch,
    folder: Option<&Path>,
) -> Result<(), Failure> {
    // Print the mistake as comments, so that the whole output is a scenario that can be run.
    let words = words.replace('\n', "\n# ");
    terminal::print_file(&format!("# case {seed}\n# {words}\n{yaml}\n"))?;
    match folder {
        Some(folder) => Ok(write_file(folder, &format!("chaos-{seed}.yaml"), yaml.as_bytes())?),
        None => Ok(()),
    }
}

/// Returns a line with the numbers of cases and of mistakes.
fn summary_lines(tally: HuntTally) -> TerminalLines {
    TerminalLines::of(format!(
        "{}: {} twice, {} came to a stall, {} had no end because of faults without end",
        counted(tally.runs, "case"),
        count(tally.repeated),
        count(tally.deadlocks),
        count(tally.unended),
    ))
}

/// Returns the number of mistakes, by kind, in words.
fn found(tally: HuntTally) -> String {
    let kinds = [
        (tally.violations, "with something broken"),
        (tally.endless, "without end"),
        (tally.stalled, "with a false stall"),
    ];
    let found = kinds.iter().filter(|(number, _)| 0 < *number);
    let counts = found.map(|(number, what)| format!("{} {what}", counted(*number, "case")));
    counts.collect::<Vec<_>>().join(", ")
}
