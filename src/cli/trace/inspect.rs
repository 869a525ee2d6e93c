//! `mumakil trace inspect`: shows the contents of a trace on one screen.

use std::collections::BTreeSet;
use std::path::Path;

use super::TraceInput;
use crate::failure::Failure;
use crate::lines::TerminalLines;
use crate::terminal;
use mumakil_base::units::tell::{self, counted, decimal_size, span};
use mumakil_base::units::{Bytes, Count, SimSpan};
use mumakil_core::mapred::{Outcome, TaskTimes};
use mumakil_core::trace::FirstFew;
use mumakil_scenario::workload::JobEntry;
use mumakil_scenario::workload::format::{
    Endings, Format, FormatContents, Formats, GeneratorSize, HostFile, Trace, TraceJob,
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
        let parts = match format.contents {
            FormatContents::Jobs(_) | FormatContents::List { .. } => {
                let mut survey = TraceSurvey::default();
                let mut number = 0;
                let trace = self.input.pass(format, &[], &mut |job| {
                    number += 1;
                    survey.add(&*job, job.entry(number, self.input.block).ok().flatten());
                })?;
                return Ok(terminal::print(&told(
                    (path, self.input.block),
                    format,
                    &trace,
                    survey,
                ))?);
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
struct TraceMeasure {
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

/// The numbers of a trace, which is read only once.
#[derive(Default)]
struct TraceSurvey {
    records: u64,
    jobs: u64,
    maps: u64,
    reduces: u64,
    /// When the first and the last job are submitted.
    submits: Option<(SimSpan, SimSpan)>,
    /// How jobs and attempts ended, by [`ENDINGS`].
    endings: [[u64; 4]; 2],
    /// The longest task of each job, in seconds, and of all jobs the longest with the job's name.
    tasks: Vec<f64>,
    longest: Option<(f64, String)>,
    /// Whether the maps are the blocks of the input, for the trace tells no maps.
    has_blocks: bool,
    /// The values of each measure.
    values: [Vec<f64>; 7],
}

/// The ways in which a job or an attempt ends, in words.
const ENDINGS: [&str; 4] = ["succeeded", "failed", "killed", "unknown"];

impl TraceSurvey {
    fn add(&mut self, job: &dyn TraceJob, entry: Option<JobEntry>) {
        self.records += 1;
        if let Some(Endings { job, attempts }) = job.endings() {
            self.endings[0][ending(job)] += 1;
            attempts.into_iter().for_each(|attempt| self.endings[1][ending(attempt)] += 1);
        }
        let Some(entry) = entry else { return };
        let (copies, maps) = (entry.count.get(), entry.maps.map_or(0, Count::get));
        self.jobs += u64::from(copies);
        self.maps += u64::from(maps) * u64::from(copies);
        self.reduces += u64::from(entry.reduces.get()) * u64::from(copies);
        let (first, last) = self.submits.unwrap_or((entry.submit, entry.submit));
        self.submits = Some((first.min(entry.submit), last.max(entry.submit)));
        let bytes = |bytes: Bytes| bytes.get() as f64;
        let of_job = [
            bytes(entry.input.unwrap_or_default()),
            bytes(entry.shuffle),
            bytes(entry.output),
            f64::from(maps),
            f64::from(entry.reduces.get()),
        ];
        let longest = longest_task(&entry);
        self.tasks.extend(std::iter::repeat_n(longest, copies as usize));
        if self.longest.as_ref().is_none_or(|(most, _)| *most < longest) {
            self.longest = Some((longest, entry.name.clone()));
        }
        self.has_blocks |= entry.map_rate.is_some();
        let [of_jobs @ .., map_times, reduce_times] = &mut self.values;
        for (values, value) in of_jobs.iter_mut().zip(of_job) {
            values.extend(std::iter::repeat_n(value, copies as usize));
        }
        for (values, times) in [(map_times, &entry.map_time), (reduce_times, &entry.reduce_time)] {
            if let Some(TaskTimes::Each(times)) = times {
                values.extend(times.iter().map(|time| time.as_secs_f64()));
            }
        }
    }

    /// Returns a line about the jobs with a task longer than the time in which all jobs arrive; `None`
    /// without any.
    fn long_tasks(&self, length: f64) -> Option<String> {
        let long = self.tasks.iter().filter(|task| length < **task).count();
        let (task, name) = self.longest.as_ref().filter(|_| 0.0 < length && 0 < long)?;
        let (jobs, task) = (counted(long as u64, "job"), span(*task));
        let how = if self.has_blocks { " by bytes" } else { "" };
        let have = if long == 1 { "has" } else { "have" };
        Some(format!("  long     {jobs} {have} longer tasks, up to {task}{how} ({name})"))
    }

    /// Returns the measures of which any value is above zero.
    fn measures(self) -> Vec<TraceMeasure> {
        const MEASURES: [(&str, PrintNumber); 7] = [
            ("input", decimal_size),
            ("shuffle", decimal_size),
            ("output", decimal_size),
            ("maps", number),
            ("reduces", number),
            ("map time", seconds),
            ("reduce time", seconds),
        ];
        let pairs = MEASURES.into_iter().zip(self.values);
        let all = pairs.filter(|(_, values)| values.iter().any(|value| 0.0 < *value));
        all.map(|((name, print), mut values)| {
            values.sort_unstable_by(f64::total_cmp);
            TraceMeasure { name, values, print }
        })
        .collect()
    }
}

/// The rate of the default cluster's disks, in bytes a second.
const DISK_RATE: f64 = 80e6;

/// Returns the seconds of the longest task of a job: as the trace tells them, or else its bytes at the
/// rate of a default disk.
fn longest_task(entry: &JobEntry) -> f64 {
    let told = [&entry.map_time, &entry.reduce_time].into_iter().filter_map(|times| match times {
        Some(TaskTimes::Each(times)) => {
            times.iter().map(|time| time.as_secs_f64()).reduce(f64::max)
        }
        _ => None,
    });
    let (maps, reduces) = (entry.maps.map_or(0, Count::get), entry.reduces.get());
    let parts = [
        (entry.input.unwrap_or_default(), maps),
        (entry.shuffle, reduces),
        (entry.output, if reduces == 0 { maps } else { reduces }),
    ];
    let bytes = parts.map(|(bytes, tasks)| bytes.get() as f64 / f64::from(tasks.max(1)));
    told.reduce(f64::max).unwrap_or(bytes.into_iter().fold(0.0, f64::max) / DISK_RATE)
}

/// Returns the place of an ending in [`ENDINGS`].
fn ending(outcome: Option<Outcome>) -> usize {
    match outcome {
        Some(Outcome::Succeeded) => 0,
        Some(Outcome::Failed) => 1,
        Some(Outcome::Killed) => 2,
        None => 3,
    }
}

fn told(
    (path, block): (&Path, Bytes),
    format: &'static Format,
    trace: &Trace,
    survey: TraceSurvey,
) -> TerminalLines {
    let jobs = survey.jobs;
    let mut lines = TerminalLines::default();
    let blocks = match survey.has_blocks {
        true => format!(" (blocks of {block})"),
        false => String::new(),
    };
    let about = format!(
        "   {} · {} · {} · {}",
        format,
        counted(jobs, "job"),
        counted(survey.maps, "map") + &blocks,
        counted(survey.reduces, "reduce")
    );
    lines.bold(path.display().to_string(), about);
    let length = survey.submits.map_or(0.0, |(first, last)| (last - first).as_secs_f64());
    // If all jobs arrive at the same time, there is no rate.
    if 0.0 < length {
        // Compute the rate from the gaps between jobs, so that `60 an hour` and `mean gap 1 min`
        // agree.
        let gaps = (jobs.max(2) - 1) as f64;
        let (an_hour, gap) = (gaps * 3_600.0 / length, span(length / gaps));
        let length = span(length);
        lines.line(format!("  arrivals {an_hour:.1} jobs an hour for {length}   mean gap {gap}"));
    }
    survey.long_tasks(length).into_iter().for_each(|words| lines.line(words));
    for (word, counts) in ["jobs", "attempts"].iter().zip(survey.endings) {
        let parts: Vec<String> = counts
            .iter()
            .zip(ENDINGS)
            .filter(|(count, _)| 0 < **count)
            .map(|(count, word)| format!("{} {word}", tell::count(*count)))
            .collect();
        if !parts.is_empty() {
            lines.line(format!("  {word:<9}{}", parts.join("   ")));
        }
    }
    // A record may stand for several copies of a job, so there may be more jobs than records.
    noticed(trace, survey.records.saturating_sub(jobs), &mut lines);

    let measures = survey.measures();
    let width = measures.iter().map(|measure| measure.name.len()).max().unwrap_or(0);
    let row = |name: &str, cell: &dyn Fn(u8) -> String| {
        let cells = QUANTILES.iter().map(|quantile| format!(" {:>10}", cell(*quantile)));
        format!("  {name:width$}{}", cells.collect::<String>())
    };
    lines.end();
    lines.line(row("", &|quantile| match quantile {
        100 => "max".to_owned(),
        quantile => format!("{quantile} %"),
    }));
    for TraceMeasure { name, values, print } in &measures {
        lines.line(row(name, &|quantile| print(at(values, quantile))));
    }
    for measure in measures.iter().filter(|m| ["input", "maps", "map time"].contains(&m.name)) {
        histogram(measure, &mut lines);
    }
    lines
}

/// Adds warnings about the trace, of whose jobs so many are empty.
fn noticed(trace: &Trace, empty: u64, lines: &mut TerminalLines) {
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
fn histogram(measure: &TraceMeasure, lines: &mut TerminalLines) {
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
