//! `mumakil trace convert`: the jobs of a trace in another format.

use super::{Input, Output};
use crate::cli::failure::Failure;
use crate::cli::terminal;
use crate::trace::{Format, recognise};
use crate::units::tell::counted;
use crate::workload::exchange::{Trace, TraceJob, converted};

/// Convert a trace into another format
///
/// What the other format cannot say is told on stderr. Bytes become tasks by the default rules of
/// `workload: {swim: ...}`, and times that are distributions are drawn where a format has only
/// times.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mumakil trace convert trace.tsv --to csv -o jobs.csv    then `workload: {jobs: jobs.csv}`
  mumakil trace convert jobs.json.gz --to yaml | less
  mumakil trace convert jobs.csv --to sls -o sls-jobs.json")]
pub(super) struct Arguments {
    #[command(flatten)]
    input: Input,
    /// The format to write
    #[arg(long)]
    to: Target,
    /// Which jobs to draw of a file for the SLS' generator: those of a scenario with this seed
    #[arg(long, value_name = "NUMBER", default_value_t = 42)]
    seed: u64,
    #[command(flatten)]
    output: Output,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Target {
    /// SWIM's lines of columns
    Swim,
    /// Rumen's jobs
    Rumen,
    /// Jobs of YARN's Scheduler Load Simulator
    Sls,
    /// Mumakil's own table
    Csv,
    /// Mumakil's own list
    Yaml,
}

impl From<Target> for Format {
    fn from(target: Target) -> Self {
        match target {
            Target::Swim => Self::Swim,
            Target::Rumen => Self::RumenJobs,
            Target::Sls => Self::SlsJobs,
            Target::Csv => Self::JobTable,
            Target::Yaml => Self::JobList,
        }
    }
}

impl Arguments {
    pub(super) fn run(self) -> Result<(), Failure> {
        let trace = match recognise(&self.input.file)? {
            Format::SlsSynth => Trace::draw(&self.input.file, self.seed)?,
            _ => self.input.read()?,
        };
        let format = Format::from(self.to);
        if trace.format == format {
            return self.output.write(&trace);
        }
        let entries = trace.entries(self.input.block);
        let left_out = trace.jobs.len() - entries.len();
        let (made, lost) = converted(&entries, format, self.input.block);
        self.output.write(&made)?;
        for (part, jobs) in [("killed or without a task", left_out), beyond(&trace.jobs)] {
            if 0 < jobs {
                terminal::warn(&format!("left out: {part}, {}", counted(jobs as u64, "job")));
            }
        }
        if !lost.is_empty() {
            let fields: Vec<String> = lost
                .iter()
                .map(|(field, jobs)| format!("`{field}` ({})", counted(*jobs, "job")))
                .collect();
            terminal::warn(&format!("{format} cannot say as it was: {}", fields.join(", ")));
        }
        Ok(())
    }
}

/// Returns what a list of jobs cannot say of those of other formats, and of how many.
fn beyond(jobs: &[TraceJob]) -> (&'static str, usize) {
    let has_host = |job: &&TraceJob| match job {
        TraceJob::Sls(job) => job.tasks.iter().any(|task| task.host.is_some()),
        _ => false,
    };
    let has_output = |job: &&TraceJob| match job {
        TraceJob::Swim(job) => job.output_path.is_some(),
        _ => false,
    };
    match jobs.first() {
        Some(TraceJob::Rumen(_)) => {
            ("hosts, counters and attempts that did not succeed", jobs.len())
        }
        Some(TraceJob::Swim(_)) => {
            ("the path of the output", jobs.iter().filter(has_output).count())
        }
        _ => ("hosts", jobs.iter().filter(has_host).count()),
    }
}
