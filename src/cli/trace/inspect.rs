//! `mumakil trace inspect`: shows the contents of a trace on one screen.

use std::collections::BTreeSet;
use std::path::Path;

use super::TraceInput;
use crate::cli::failure::Failure;
use crate::cli::lines::TerminalLines;
use crate::cli::terminal;
use crate::mapred::Outcome;
use crate::mapred::TaskTimes;
use crate::trace::FirstFew;
use crate::units::tell::{self, counted, decimal_size, span};
use crate::units::{Bytes, Count};
use crate::workload::JobEntry;
use crate::workload::format::{
    Endings, Format, FormatContents, Formats, GeneratorSize, HostFile, Trace,
};

/// Say what is in a trace: format, jobs, tasks, sizes and times
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mumakil trace inspect trace.tsv
  mumakil trace inspect jobs.json.gz --lenient")]
pub(super) struct TraceInspectArguments {
    #[command(flatten)]
    input: TraceInput,
}

impl TraceInspectArguments {
    pub(super) fn run(self, formats: &Formats) -> Result<(), Failure> {
        let path = &self.input.file;
        let format = formats.recognise(path)?;
        let parts = match format.contents() {
            FormatContents::Jobs(_) | FormatContents::List { .. } => {
                let trace = self.input.read(format)?;
                let entries = trace.entries(self.input.block);
                let lines = told(path, format, &trace, &entries);
                return Ok(terminal::print(&lines)?);
            }
            FormatContents::Hosts(read) => {
                let file = read(path)?;
                file.notes.iter().for_each(|note| terminal::warn(note));
                racks_and_nodes(&file)
            }
            FormatContents::Generator { size, .. } => to_draw(size(path)?),
        };
        let mut lines = TerminalLines::default();
        let about = format!("   {format} · {}", parts.join(" · "));
        lines.bold(path.display().to_string(), about);
        Ok(terminal::print(&lines)?)
    }
}

fn racks_and_nodes(HostFile { hosts, .. }: &HostFile) -> [String; 2] {
    let racks: BTreeSet<&str> = hosts.iter().map(|host| host.rack.as_str()).collect();
    [counted(racks.len() as u64, "rack"), counted(hosts.len() as u64, "node")]
}

fn to_draw(GeneratorSize { jobs, classes }: GeneratorSize) -> [String; 2] {
    [format!("{} to draw", counted(jobs, "job")), format!("from {}", counted(classes, "class"))]
}

/// A number that every job or every task has.
struct Measure {
    name: &'static str,
    /// The values, sorted.
    values: Vec<f64>,
    print: PrintNumber,
}

type PrintNumber = fn(f64) -> String;

/// The width of the output, in columns.
// The width of a classic terminal; longer remarks are cut.
const WIDTH: usize = 80;

/// The quantiles of a distribution that are shown, in per cent.
const QUANTILES: [u8; 6] = [50, 75, 90, 95, 99, 100];

/// Returns the lines about a trace.
fn told(
    path: &Path,
    format: &'static dyn Format,
    trace: &Trace,
    entries: &[JobEntry],
) -> TerminalLines {
    let copies = |job: &JobEntry| u64::from(job.count.get());
    let maps = |job: &JobEntry| u64::from(job.maps.map_or(0, Count::get));
    let total =
        |of: &dyn Fn(&JobEntry) -> u64| entries.iter().map(|job| of(job) * copies(job)).sum();
    let jobs: u64 = total(&|_| 1);
    let mut lines = TerminalLines::default();
    let about = format!(
        "   {} · {} · {} · {}",
        format,
        counted(jobs, "job"),
        counted(total(&maps), "map"),
        counted(total(&|job| u64::from(job.reduces.get())), "reduce")
    );
    lines.bold(path.display().to_string(), about);
    let submits = || entries.iter().map(|job| job.submit.as_secs_f64());
    let length = submits().fold(0.0, f64::max) - submits().fold(f64::INFINITY, f64::min);
    // If all jobs arrive at the same time, there is no rate.
    if 0.0 < length {
        // Compute the rate from the gaps between jobs, so that `60 an hour` and `mean gap 1 min`
        // agree.
        let gaps = (jobs.max(2) - 1) as f64;
        let (an_hour, gap) = (gaps * 3_600.0 / length, span(length / gaps));
        let length = span(length);
        lines.line(format!("  arrivals {an_hour:.1} jobs an hour for {length}   mean gap {gap}"));
    }
    outcomes(trace, &mut lines);
    noticed(trace, jobs, &mut lines);

    let measures = measures(entries);
    let width = measures.iter().map(|measure| measure.name.len()).max().unwrap_or(0);
    let row = |name: &str, cell: &dyn Fn(u8) -> String| {
        let cells = QUANTILES.iter().map(|quantile| format!(" {:>10}", cell(*quantile)));
        format!("  {name:width$}{}", cells.collect::<String>())
    };
    let head = |quantile: u8| match quantile {
        100 => "max".to_owned(),
        quantile => format!("{quantile} %"),
    };
    lines.end();
    lines.line(row("", &head));
    for Measure { name, values, print } in &measures {
        lines.line(row(name, &|quantile| print(at(values, quantile))));
    }
    for measure in measures.iter().filter(|m| ["input", "maps", "map time"].contains(&m.name)) {
        histogram(measure, &mut lines);
    }
    lines
}

fn outcomes(trace: &Trace, lines: &mut TerminalLines) {
    let endings: Vec<Endings> =
        trace.jobs.iter().filter_map(|job| job.foreign()?.endings()).collect();
    let mut line = |word: &str, outcomes: Vec<Option<Outcome>>| {
        let kinds = [
            (Some(Outcome::Succeeded), "succeeded"),
            (Some(Outcome::Failed), "failed"),
            (Some(Outcome::Killed), "killed"),
            (None, "unknown"),
        ];
        let parts: Vec<String> = kinds
            .iter()
            .map(|(kind, word)| (outcomes.iter().filter(|outcome| *outcome == kind).count(), word))
            .filter(|(count, _)| 0 < *count)
            .map(|(count, word)| format!("{} {word}", tell::count(count as u64)))
            .collect();
        if !parts.is_empty() {
            lines.line(format!("  {word:<9}{}", parts.join("   ")));
        }
    };
    line("jobs", endings.iter().map(|of| of.job).collect());
    line("attempts", endings.iter().flat_map(|of| &of.attempts).copied().collect());
}

/// Adds warnings about the trace.
fn noticed(trace: &Trace, jobs: u64, lines: &mut TerminalLines) {
    // A record may stand for several copies of a job, so there may be more jobs than records.
    let empty = (trace.jobs.len() as u64).saturating_sub(jobs);
    let FirstFew { count, first } = &trace.suspicious;
    if 0 < empty {
        lines.line(format!("  left out {}: killed, or without a task", counted(empty, "job")));
    }
    if 0 < *count {
        lines.line(format!("  odd      {}", counted(*count, "job")));
        for suspicion in first.iter().take(3) {
            let line = format!("    line {}: {}", suspicion.place.line, suspicion.what);
            match line.char_indices().nth(WIDTH - 1) {
                Some((end, _)) => lines.line(format!("{}…", &line[..end])),
                None => lines.line(line),
            }
        }
    }
    for fact in &trace.facts {
        lines.line(format!("  log      {fact}"));
    }
    if 0 < trace.skipped.count {
        lines.line(format!("  broken   {}", counted(trace.skipped.count, "record")));
    }
}

fn measures(entries: &[JobEntry]) -> Vec<Measure> {
    let of_jobs = |of: &dyn Fn(&JobEntry) -> f64| {
        let each = |job: &JobEntry| std::iter::repeat_n(of(job), job.count.get() as usize);
        entries.iter().flat_map(each).collect()
    };
    let of_tasks = |of: fn(&JobEntry) -> &Option<TaskTimes>| {
        let listed = entries.iter().filter_map(|job| match of(job) {
            Some(TaskTimes::Each(times)) => Some(times.iter().map(|time| time.as_secs_f64())),
            _ => None,
        });
        listed.flatten().collect()
    };
    let bytes = |bytes: Bytes| bytes.get() as f64;
    let measure = |name, mut values: Vec<f64>, print: PrintNumber| {
        values.sort_unstable_by(f64::total_cmp);
        Measure { name, values, print }
    };
    let all = [
        measure("input", of_jobs(&|job| bytes(job.input.unwrap_or_default())), decimal_size),
        measure("shuffle", of_jobs(&|job| bytes(job.shuffle)), decimal_size),
        measure("output", of_jobs(&|job| bytes(job.output)), decimal_size),
        measure("maps", of_jobs(&|job| f64::from(job.maps.map_or(0, Count::get))), number),
        measure("reduces", of_jobs(&|job| f64::from(job.reduces.get())), number),
        measure("map time", of_tasks(|job| &job.map_time), seconds),
        measure("reduce time", of_tasks(|job| &job.reduce_time), seconds),
    ];
    let is_known = |measure: &Measure| measure.values.iter().any(|value| 0.0 < *value);
    all.into_iter().filter(is_known).collect()
}

/// Returns a percentile of sorted values: the value at the nearest rank, rounded up.
fn at(values: &[f64], per_cent: u8) -> f64 {
    let rank = (values.len() * usize::from(per_cent)).div_ceil(100);
    // Measures without values were left out, so the list is not empty.
    values[rank.saturating_sub(1)]
}

/// The longest bar of a histogram, in columns.
// Chosen: with a label and a count, a line stays below 80 columns.
const BAR: usize = 44;

/// Adds a histogram whose bins are powers of ten.
fn histogram(measure: &Measure, lines: &mut TerminalLines) {
    let bin = |value: f64| if value <= 0.0 { i32::MIN } else { value.log10().floor() as i32 };
    let zeros = measure.values.iter().filter(|value| **value <= 0.0).count();
    let rest = &measure.values[zeros..];
    let (Some(first), Some(last)) = (rest.first(), rest.last()) else { return };
    let mut bins = Vec::new();
    if 0 < zeros {
        bins.push(("none".to_owned(), zeros));
    }
    for power in bin(*first)..=bin(*last) {
        let count = rest.iter().filter(|value| bin(**value) == power).count();
        let label = (measure.print)(10_f64.powi(power)).replace(".00", "").replace(".0", "");
        bins.push((format!("from {label}"), count));
    }
    let most = bins.iter().map(|(_, count)| *count).max().unwrap_or(1);
    let width = bins.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0);
    lines.end();
    lines.line(format!("  {}", measure.name));
    for (label, count) in bins {
        let bar = bar(count as f64 / most as f64 * BAR as f64);
        lines.line(format!("  {label:>width$} {bar} {}", tell::count(count as u64)));
    }
}

/// Returns a bar of this many columns, in steps of an eighth.
fn bar(columns: f64) -> String {
    // Round up: a bin with one job among millions still shows a sliver.
    let eighths = (columns * 8.0).ceil() as usize;
    let rest = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8];
    "█".repeat(eighths / 8) + rest
}

fn number(value: f64) -> String {
    tell::count(value as u64)
}

/// Prints seconds, small numbers with a decimal. Never prints minutes, so that the numbers of a
/// line can be compared.
fn seconds(value: f64) -> String {
    if value < 100.0 { format!("{value:.1} s") } else { format!("{} s", number(value.round())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_a_value_that_there_is() {
        let values = [1.0, 2.0, 3.0, 4.0];
        assert_eq!(QUANTILES.map(|quantile| at(&values, quantile)), [2.0, 3.0, 4.0, 4.0, 4.0, 4.0]);
        assert_eq!(at(&[7.0], 50), 7.0);
    }

    #[test]
    fn bars_grow_by_eighths() {
        assert_eq!([0.0, 0.1, 1.0, 1.5].map(bar), ["", "▏", "█", "█▌"]);
    }
}
