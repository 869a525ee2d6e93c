//! `mumakil trace convert`: the jobs of a trace in another format.

use std::collections::BTreeMap;
use std::io;

use super::{TraceInput, TraceOutput};
use crate::failure::Failure;
use crate::terminal;
use mumakil_base::units::SimSpan;
use mumakil_base::units::tell::counted;
use mumakil_scenario::workload::Formats;
use mumakil_scenario::workload::exchange::{PackedJobs, check_listed, convert};
use mumakil_scenario::workload::format::{Format, FormatContents, SeeJob};
use mumakil_traces::list::MappedColumn;

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
        // The format stays the same, so write the trace as it was read: a list of jobs would lose
        // some of its fields.
        if found.target_key() == Some(&self.to) && self.columns.is_empty() {
            return self.copy(found);
        }
        let (jobs, mut losses) = self.pack(found)?;
        check_listed(&jobs, format).map_err(Failure::input)?;
        self.output.write(|to| {
            losses.fields = convert(&jobs, format, to)?;
            Ok(())
        })?;
        losses.warn(format);
        Ok(())
    }

    /// Writes the jobs of a trace as they are.
    fn copy(&self, found: &'static Format) -> Result<(), Failure> {
        let mut last = SimSpan::ZERO;
        let mut is_sorted = true;
        let is_foreign = matches!(found.contents, FormatContents::Jobs(_));
        if is_foreign {
            self.input.pass(found, &[], &mut |job| {
                is_sorted &= last <= job.submit();
                last = job.submit();
            })?;
        }
        // Jobs that keep their order are read a second time and written one by one, so that no more
        // than one is in memory.
        if !is_foreign || found.is_wall_clock && !is_sorted {
            let trace = self.input.read(found)?;
            return self.output.write(|to| trace.write_to(to));
        }
        self.output.write(|to| {
            let mut written = Ok(());
            let see: &mut SeeJob<'_> = &mut |job| {
                if written.is_ok() {
                    written = job.write_to(to);
                }
            };
            self.input.to_read(found).pass(see).map_err(io::Error::other)?;
            written
        })
    }

    /// Reads the jobs of a trace in this format.
    fn pack(&self, found: &'static Format) -> Result<(PackedJobs, ConversionLosses), Failure> {
        let (mut jobs, mut losses) =
            (PackedJobs::new(self.input.block), ConversionLosses::default());
        if let FormatContents::Generator { draw, .. } = found.contents {
            draw(&self.input.file, self.seed)?.iter().for_each(|entry| jobs.push(entry));
            return Ok((jobs, losses));
        }
        let mut number = 0;
        self.input.pass(found, &self.columns, &mut |job| {
            number += 1;
            // Jobs that cannot be run are left out already when the file is read.
            match job.entry(number, self.input.block).ok().flatten() {
                Some(entry) => jobs.push(&entry),
                None => losses.empty += 1,
            }
            if let Some(part) = job.lost_in_list() {
                losses.beyond.get_or_insert((part, 0)).1 += 1;
            }
        })?;
        if found.is_wall_clock {
            jobs.count_from_first();
        }
        Ok((jobs, losses))
    }
}

/// The parts of a trace that another format does not hold.
#[derive(Default)]
struct ConversionLosses {
    /// How many jobs have no tasks.
    empty: u64,
    /// The first property that no list of jobs has, and how many jobs have any.
    beyond: Option<(&'static str, u64)>,
    /// The fields for which the format has no place, each with the number of jobs that have it.
    fields: BTreeMap<String, u64>,
}

impl ConversionLosses {
    fn warn(self, format: &'static Format) {
        let empty = (0 < self.empty).then_some(("killed or without a task", self.empty));
        for (part, jobs) in empty.into_iter().chain(self.beyond) {
            terminal::warn(&format!("left out: {part}, {}", counted(jobs, "job")));
        }
        if !self.fields.is_empty() {
            let each = self.fields.iter();
            let fields: Vec<String> = each
                .map(|(field, jobs)| format!("`{field}` ({})", counted(*jobs, "job")))
                .collect();
            terminal::warn(&format!(
                "in {format} there is no exact place for {}",
                fields.join(", ")
            ));
        }
    }
}
