//! The common code of `mumakil chaos` and `mumakil policy try`: the options of a hunt, and its
//! progress.

use std::num::NonZero;
use std::thread;
use std::time::Duration;

use crate::{Hunt, HuntCatch, HuntTally, Subject, hunt};
use mumakil_cli::failure::Failure;
use mumakil_cli::lines::TerminalLines;
use mumakil_cli::progress::StudyBar;
use mumakil_cli::{interrupt, terminal};
use mumakil_scenario::Registry;

#[derive(Debug, clap::Args)]
pub(super) struct Cases {
    /// How many cases
    #[arg(long, value_name = "NUMBER", default_value = "1000")]
    runs: u64,
    /// The number of the first case; the others are counted on from it
    #[arg(long, value_name = "NUMBER", default_value = "1")]
    seed: u64,
    /// How many cases at the same time [default: one for each core]
    #[arg(long, short, value_name = "NUMBER")]
    jobs: Option<NonZero<usize>>,
}

impl Cases {
    /// Hunts for at most `time`. Shows each mistake at once, since the user may end a long hunt at
    /// any moment.
    pub(super) fn hunt(
        self,
        subject: Subject,
        time: Option<Duration>,
        patience: Duration,
        registry: &Registry,
        mut show: impl FnMut(&HuntCatch) -> Result<(), Failure> + Send,
    ) -> Result<HuntTally, Failure> {
        let Self { runs, seed, jobs } = self;
        let workers =
            jobs.or(thread::available_parallelism().ok()).unwrap_or(NonZero::<usize>::MIN);
        let wanted = Hunt { subject, seed, runs, workers, time, patience };
        let bar = StudyBar::new("case", false);
        bar.more(usize::try_from(runs).unwrap_or(usize::MAX));
        interrupt::guard(&bar.bar, "");
        let mut shown = Ok(());
        let tally = hunt(&wanted, registry, |caught| match caught {
            None => bar.tick(),
            // A scenario could not be written: let the hunt end, and report the first error.
            Some(_) if shown.is_err() => {}
            Some(catch) => shown = bar.beside(|| show(&catch)),
        });
        bar.clear();
        shown.map(|()| tally)
    }
}

/// Prints the result of a hunt, with a line of JSON if wanted; returns a failure if it found a
/// mistake.
pub(super) fn close(
    told: &TerminalLines,
    json: Option<String>,
    found: Option<String>,
) -> Result<(), Failure> {
    terminal::print(told)?;
    if let Some(line) = json {
        terminal::print_file(&format!("{line}\n"))?;
    }
    found.map_or(Ok(()), |found| Err(Failure::run(found)))
}
