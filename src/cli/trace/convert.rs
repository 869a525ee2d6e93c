//! `mumakil trace convert`: the jobs of a trace in another format.

use super::{TraceInput, TraceOutput};
use crate::cli::failure::Failure;
use crate::cli::terminal;
use crate::units::tell::counted;
use crate::workload::Formats;
use crate::workload::exchange::{check_listed, converted};
use crate::workload::format::{FormatContents, Trace, TraceJob};
use crate::workload::list::MappedColumn;

/// Convert a trace into another format
///
/// Properties that the other format lacks are reported on stderr. Bytes become tasks by the default
/// rules of `workload: {swim: ...}`, and times that are distributions are drawn if the format has
/// only fixed times.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mumakil trace convert trace.tsv --to csv -o jobs.csv
  mumakil trace convert jobs.json.gz --to yaml | less
  mumakil trace convert jobs.csv --to sls -o sls-jobs.json
  mumakil trace convert own.csv --to csv --columns name=id,submit_ms=arrived,map_time_s=took")]
pub(super) struct TraceConvertArguments {
    #[command(flatten)]
    input: TraceInput,
    /// The format to write
    #[arg(long)]
    to: String,
    /// For a table of your own: which column holds a field of a job, with the unit of bare numbers;
    /// other columns are passed over
    #[arg(long, value_name = "FIELD=COLUMN,…", value_delimiter = ',')]
    columns: Vec<MappedColumn>,
    /// For a file of the SLS' generator: draw the jobs of a scenario with this seed
    #[arg(long, value_name = "NUMBER", default_value_t = 42)]
    seed: u64,
    #[command(flatten)]
    output: TraceOutput,
}

impl TraceConvertArguments {
    pub(super) fn run(self, formats: &Formats) -> Result<(), Failure> {
        let unknown = || Failure::input(format!("there is no format `{}` to write", self.to));
        let format = formats.written_as(&self.to).ok_or_else(unknown)?;
        let found = match self.columns.is_empty() {
            true => formats.recognise(&self.input.file)?,
            false => formats.written_as("csv").ok_or_else(unknown)?,
        };
        let trace = match found.contents() {
            FormatContents::List { .. } if !self.columns.is_empty() => {
                self.input.mapped(found, &self.columns)?
            }
            FormatContents::Generator { draw, .. } => {
                Trace::of_entries(found, draw(&self.input.file, self.seed)?)
            }
            FormatContents::Jobs(_) | FormatContents::List { .. } | FormatContents::Hosts(_) => {
                self.input.read(found)?
            }
        };
        // The format stays the same, so write the trace as it was read: a list of jobs would lose
        // some of its fields.
        if trace.format == format && self.columns.is_empty() {
            return self.output.write(&trace);
        }
        let entries = trace.entries(self.input.block);
        check_listed(&entries, format, self.input.block).map_err(Failure::input)?;
        let left_out = trace.jobs.len() - entries.len();
        let (made, lost) = converted(&entries, format, self.input.block).ok_or_else(unknown)?;
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
            terminal::warn(&format!(
                "in {format} there is no exact place for {}",
                fields.join(", ")
            ));
        }
        Ok(())
    }
}

/// Returns the first property that is lost when jobs are written as a list, and the number of jobs
/// that lose any; an empty name and zero if nothing is lost.
fn beyond(jobs: &[TraceJob]) -> (&'static str, usize) {
    let mut parts = jobs.iter().filter_map(|job| job.foreign()?.lost_in_list());
    parts.next().map_or(("", 0), |part| (part, 1 + parts.count()))
}
