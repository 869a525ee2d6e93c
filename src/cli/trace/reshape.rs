//! `mumakil trace sample`, `scale` and `fold`: another trace of the same format.

use super::{TraceInput, TraceOutput};
use crate::cli::failure::Failure;
use crate::cli::terminal;
use crate::units::tell::counted;
use crate::units::{Factor, SimSpan};
use crate::workload::Formats;
use crate::workload::exchange::{Folding, Scaling};
use crate::workload::format::Trace;

/// Keep some of the jobs of a trace, drawn at random, at their times
///
/// Jobs of a list that follow each other are kept or left out together, and count as one.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  mumakil trace sample trace.tsv -n 100 --seed 7 -o hundred.tsv")]
pub(super) struct SampleArguments {
    #[command(flatten)]
    input: TraceInput,
    /// How many jobs to keep
    #[arg(short = 'n', long, value_name = "NUMBER")]
    jobs: usize,
    /// The seed of the random numbers
    #[arg(long, value_name = "NUMBER", default_value_t = 42)]
    seed: u64,
    #[command(flatten)]
    output: TraceOutput,
}

/// Scale the times at which jobs come, or their sizes
///
/// In a list, the time between copies and the wait after other jobs are scaled, too.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mumakil trace scale trace.tsv --time 0.5 -o twice-as-fast.tsv
  mumakil trace scale trace.tsv --size 0.1 -o for-a-tenth-of-the-nodes.tsv")]
pub(super) struct ScaleArguments {
    #[command(flatten)]
    input: TraceInput,
    /// Factor of the time between the first job and each other job
    #[arg(long, value_name = "FACTOR", default_value = "1")]
    time: Factor,
    /// Factor of the bytes that jobs read, shuffle and write
    #[arg(long, value_name = "FACTOR", default_value = "1")]
    size: Factor,
    #[command(flatten)]
    output: TraceOutput,
}

/// Fold a long trace into a short one with the same mix of jobs
///
/// Jobs are drawn at random, and their times compressed into the shorter span. So many are drawn
/// that jobs come as often as before. With `--cycle 24h`, the days of a week are laid over each
/// other first, and become one short day. Jobs of a list that follow each other stay together.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mumakil trace fold trace.tsv --into 1h -o hour.tsv
  mumakil trace fold week.json.gz --cycle 24h --into 2h -o day.json")]
pub(super) struct FoldArguments {
    #[command(flatten)]
    input: TraceInput,
    /// The time that the new trace spans, at most the time of the old one
    #[arg(long, value_name = "TIME")]
    into: SimSpan,
    /// The time after which the trace begins anew, such as 24h [default: the whole trace]
    #[arg(long, value_name = "TIME")]
    cycle: Option<SimSpan>,
    /// The seed of the random numbers
    #[arg(long, value_name = "NUMBER", default_value_t = 42)]
    seed: u64,
    #[command(flatten)]
    output: TraceOutput,
}

impl SampleArguments {
    pub(super) fn run(self, formats: &Formats) -> Result<(), Failure> {
        let mut trace = self.input.recognise(formats)?;
        let kept = trace.sample(self.jobs, self.seed).map_err(Failure::input)?;
        if kept < self.jobs {
            let all = counted(kept as u64, "job");
            terminal::warn(&format!("the trace has only {all}, which are all kept"));
        }
        finish(&trace, &self.output)
    }
}

impl ScaleArguments {
    pub(super) fn run(self, formats: &Formats) -> Result<(), Failure> {
        let mut trace = self.input.recognise(formats)?;
        let by = Scaling { time: self.time, size: self.size };
        let without_bytes = trace.scale(by, self.input.block).map_err(Failure::input)?;
        if 0 < without_bytes {
            let jobs = counted(without_bytes, "job");
            terminal::warn(&format!("--size changes nothing of {jobs}: no bytes are said of them"));
        }
        finish(&trace, &self.output)
    }
}

impl FoldArguments {
    pub(super) fn run(self, formats: &Formats) -> Result<(), Failure> {
        let mut trace = self.input.recognise(formats)?;
        let folding = Folding { cycle: self.cycle, into: self.into };
        trace.fold(folding, self.seed).map_err(Failure::input)?;
        finish(&trace, &self.output)
    }
}

/// Writes a trace. If its first job comes late, a warning tells how a run can skip the idle
/// beginning.
fn finish(trace: &Trace, output: &TraceOutput) -> Result<(), Failure> {
    if let Some(idle) = trace.idle_start() {
        terminal::warn(&format!(
            "the first job comes after {idle}, as in the trace; with `start: 0s` in its workload a \
             run begins with it"
        ));
    }
    output.write(|to| trace.write_to(to))
}
