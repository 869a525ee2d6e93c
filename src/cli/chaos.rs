//! `mumakil chaos`: random scenarios under the checker.

use std::num::NonZero;
use std::path::PathBuf;
use std::thread;

use super::failure::Failure;
use super::interrupt;
use super::lines::Lines;
use super::progress::StudyBar;
use super::run::real;
use super::terminal;
use crate::chaos::{Catch, Hunt, Tally, hunt, without_programs};
use crate::nearest::nearest;
use crate::output::write_file;
use crate::scenario::Registry;
use crate::units::SimSpan;
use crate::units::tell::{count, counted};

/// Run random scenarios under the checker of invariants
///
/// Each number is a case: a cluster, a workload, a policy, options and faults, drawn from all that a
/// scenario may say. It is run with `--verify`; some are run twice, to compare every event. What breaks
/// is made as small as it can be while it still breaks in the same way, and written as a scenario that
/// can be run. With a policy of one's own this finds what it loses, launches too often or forgets.
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
pub(super) struct Arguments {
    /// How many cases
    #[arg(long, value_name = "NUMBER", default_value = "1000")]
    runs: u64,
    /// The number of the first case; the next ones follow
    #[arg(long, value_name = "NUMBER", default_value = "1")]
    seed: u64,
    /// The policy of all cases [default: each draws one]
    #[arg(long, value_name = "NAME")]
    policy: Option<String>,
    /// Begin no more cases after so many minutes
    #[arg(long, value_name = "NUMBER")]
    minutes: Option<NonZero<u32>>,
    /// How many cases at the same time [default: one for each core]
    #[arg(long, short, value_name = "NUMBER")]
    jobs: Option<NonZero<usize>>,
    /// Write each scenario that breaks into this folder, as chaos-NUMBER.yaml
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print a last line of JSON: how many cases, violations, endless ones and false stalls
    #[arg(long)]
    json: bool,
}

impl Arguments {
    pub(super) fn run(self, registry: &Registry) -> Result<(), Failure> {
        let known = without_programs(registry);
        if let Some(name) = &self.policy
            && known.get(name).is_none()
        {
            let what = match registry.get(name) {
                Some(_) => format!("`{name}` is a program, and none is started for random cases"),
                None => format!("no policy is called `{name}`"),
            };
            let hint = nearest(name, known.names()).map_or_else(
                || format!("; there are {}", known.names().collect::<Vec<_>>().join(", ")),
                |meant| format!("; did you mean `{meant}`?"),
            );
            return Err(Failure::input(what + &hint));
        }
        let cores = || thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
        let wanted = Hunt {
            seed: self.seed,
            runs: self.runs,
            policy: self.policy.clone(),
            patience: self
                .minutes
                .map(|minutes| real(SimSpan::from_secs(u64::from(minutes.get()) * 60))),
            workers: self.jobs.unwrap_or_else(cores),
        };
        let bar = StudyBar::new("case", false);
        bar.more(usize::try_from(self.runs).unwrap_or(usize::MAX));
        interrupt::guard(bar.bar(), "");
        // At once: a long hunt may be ended by its owner's patience.
        let mut shown = Ok(());
        let tally = hunt(&wanted, registry, |_, caught| {
            bar.tick();
            if let Some(catch) = caught {
                let told = bar.beside(|| self.show(&catch));
                shown = std::mem::replace(&mut shown, Ok(())).and(told);
            }
        });
        bar.clear();
        shown?;
        terminal::print(&told(tally))?;
        if self.json {
            let line = serde_json::to_string(&tally).expect("numbers are JSON");
            terminal::print_file(&format!("{line}\n"))?;
        }
        if tally.is_clean() { Ok(()) } else { Err(Failure::run(found(tally))) }
    }

    fn show(&self, Catch { seed, words, yaml }: &Catch) -> Result<(), Failure> {
        let words = words.replace('\n', "\n# ");
        terminal::print_file(&format!("# case {seed}\n# {words}\n{yaml}\n"))?;
        match &self.out {
            Some(folder) => Ok(write_file(folder, &format!("chaos-{seed}.yaml"), yaml.as_bytes())?),
            None => Ok(()),
        }
    }
}

/// Tells what was run.
fn told(tally: Tally) -> Lines {
    Lines::of(format!(
        "{}: {} twice, {} came to a stall, {} had no end because of faults without end",
        counted(tally.runs, "case"),
        count(tally.repeated),
        count(tally.deadlocks),
        count(tally.unended),
    ))
}

/// Tells what was found.
fn found(tally: Tally) -> String {
    let kinds = [
        (tally.violations, "with something broken"),
        (tally.endless, "without end"),
        (tally.stalled, "with a stall that was none"),
    ];
    let told = kinds.iter().filter(|(number, _)| 0 < *number);
    let told: Vec<String> =
        told.map(|(number, what)| format!("{} {what}", counted(*number, "case"))).collect();
    told.join(", ")
}
