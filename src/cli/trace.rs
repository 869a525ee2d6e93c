//! `mumakil trace`: inspects traces, converts them, makes smaller ones, and infers clusters.
//! ```text
//! TraceInput -> formats.recognise: SWIM, Rumen, SLS, CSV or YAML, by the file's content -> Trace
//!   inspect             a screenful about it
//!   cluster             the cluster that a log shows -> a scenario
//!   convert             its jobs in another format
//!   sample, scale, fold another trace of the same format            -> TraceOutput: file, .gz, stdout
//! ```

use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser};
use flate2::Compression;
use flate2::write::GzEncoder;

use super::failure::Failure;
use super::{file, terminal};
use crate::trace::{Records, Strictness};
use crate::units::Bytes;
use crate::units::tell::counted;
use crate::workload::Formats;
use crate::workload::format::{Format, Trace};
use crate::workload::list::MappedColumn;

mod cluster;
mod convert;
mod inspect;
mod reshape;

pub(super) use cluster::ClusterFiles;

/// Inspect traces, convert and shrink them, infer their cluster
///
/// Traces are Hadoop's job history, files of Rumen, of SWIM, of YARN's Scheduler Load Simulator
/// (SLS), plain or gzipped, and Mumakil's own lists of jobs: tables (CSV) and YAML. Mumakil
/// recognises a file's format by its content.
#[derive(Debug, clap::Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(super) struct TraceArguments {
    #[command(subcommand)]
    command: TraceCommand,
}

#[derive(Debug, clap::Subcommand)]
enum TraceCommand {
    Inspect(inspect::TraceInspectArguments),
    Cluster(cluster::TraceClusterArguments),
    Convert(convert::TraceConvertArguments),
    Sample(reshape::SampleArguments),
    Scale(reshape::ScaleArguments),
    Fold(reshape::FoldArguments),
}

impl TraceArguments {
    pub(super) fn run(self, formats: &Formats) -> Result<(), Failure> {
        match self.command {
            TraceCommand::Inspect(arguments) => arguments.run(formats),
            TraceCommand::Cluster(arguments) => arguments.run(),
            TraceCommand::Convert(arguments) => arguments.run(formats),
            TraceCommand::Sample(arguments) => arguments.run(formats),
            TraceCommand::Scale(arguments) => arguments.run(formats),
            TraceCommand::Fold(arguments) => arguments.run(formats),
        }
    }
}

/// Limits `--to` to the formats in which jobs can be written.
pub(super) fn with_targets(trace: clap::Command, formats: &Formats) -> clap::Command {
    let targets = formats.iter().filter_map(|format| format.target());
    let targets: Vec<PossibleValue> =
        targets.map(|target| PossibleValue::new(target.key).help(target.about)).collect();
    trace.mut_subcommand("convert", |convert| {
        convert.mut_arg("to", |to| to.value_parser(PossibleValuesParser::new(targets)))
    })
}

/// The input of all commands about traces.
#[derive(Debug, clap::Args)]
struct TraceInput {
    /// The trace
    file: PathBuf,
    /// Leave broken records out, and count them, instead of stopping at the first
    #[arg(long)]
    lenient: bool,
    /// The size of the cluster's blocks. If a trace knows only bytes, each map reads one block. The
    /// default is that of the default cluster
    #[arg(long, value_name = "SIZE", default_value = "64MiB", value_parser = block)]
    block: Bytes,
}

/// Parses the size of a block.
fn block(text: &str) -> Result<Bytes, String> {
    match text.parse()? {
        // A map reads one block: with blocks of no bytes, a job would have endlessly many maps.
        Bytes::ZERO => Err("a block has at least one byte".to_owned()),
        size => Ok(size),
    }
}

impl TraceInput {
    /// Reads the file, in the format that its content shows.
    fn recognise(&self, formats: &Formats) -> Result<Trace, Failure> {
        self.read(formats.recognise(&self.file)?)
    }

    /// Reads the file in this format; warns about records that were left out.
    fn read(&self, format: &'static dyn Format) -> Result<Trace, Failure> {
        let strictness = Strictness::of(self.lenient);
        let trace = Trace::read_as(format, &self.file, self.block, strictness)?;
        self.warn_of(&trace);
        Ok(trace)
    }

    /// Reads a table whose columns have other names, as [`Self::read`].
    fn mapped(
        &self,
        format: &'static dyn Format,
        columns: &[MappedColumn],
    ) -> Result<Trace, Failure> {
        let (file, block, how) = (&self.file, self.block, Strictness::of(self.lenient));
        let rows = Records::open(file, how)?;
        let trace = Trace::of_mapped_table(format, rows, columns, file, block, how)?;
        self.warn_of(&trace);
        Ok(trace)
    }

    fn warn_of(&self, trace: &Trace) {
        if 0 < trace.skipped.count {
            let first = trace.skipped.first.first().map(ToString::to_string).unwrap_or_default();
            terminal::warn(&format!(
                "{} left out, the first: {first}",
                counted(trace.skipped.count, "broken record")
            ));
        }
        trace.notes.iter().for_each(|note| terminal::warn(note));
    }
}

/// The output of the commands that make a trace.
#[derive(Debug, clap::Args)]
struct TraceOutput {
    /// The file to write, gzipped if it ends in `.gz`; `-` for stdout
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    out: PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
}

impl TraceOutput {
    /// Writes a trace.
    fn write(&self, trace: &Trace) -> Result<(), Failure> {
        if self.out == Path::new("-") {
            return Ok(terminal::print_written(|to| trace.write_to(to))?);
        }
        // Write to a device or pipe directly; only a file is written hidden and then renamed.
        let is_stream = fs::metadata(&self.out).is_ok_and(|at| !at.is_file() && !at.is_dir());
        if is_stream {
            let stream = OpenOptions::new().write(true).open(&self.out);
            return stream
                .and_then(|to| self.fill(trace, to))
                .map_err(|error| file::cannot(&self.out, error));
        }
        file::write(&self.out, self.force, |to| self.fill(trace, to))
    }

    /// Writes a trace into an open file or stream.
    fn fill(&self, trace: &Trace, to: impl Write) -> io::Result<()> {
        let mut to = BufWriter::new(to);
        if self.out.extension().is_some_and(|ending| ending == "gz") {
            let mut gzip = GzEncoder::new(&mut to, Compression::default());
            trace.write_to(&mut gzip)?;
            // Finish the stream here: dropping it would hide an error in writing the last bytes.
            gzip.finish()?;
        } else {
            trace.write_to(&mut to)?;
        }
        to.flush()
    }
}
