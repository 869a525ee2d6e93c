//! `mumakil trace`: inspects traces, and converts them.
//! ```text
//! TraceInput -> formats.recognise: SWIM, Rumen, SLS, CSV or YAML, by the file's content -> Trace
//!   inspect             a screenful about it
//!   convert             its jobs in another format                  -> TraceOutput: file, .gz, stdout
//! ```

use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser};
use flate2::Compression;
use flate2::write::GzEncoder;

use super::failure::Failure;
use super::progress::JobCount;
use super::{Program, file, terminal};
use mumakil_base::units::Bytes;
use mumakil_base::units::tell::counted;
use mumakil_core::trace::{Records, Strictness, TraceError};
use mumakil_scenario::workload::Formats;
use mumakil_scenario::workload::format::{Format, SeeJob, Trace, TraceToRead};
use mumakil_traces::list::{MappedColumn, read_table};

mod convert;
mod inspect;

/// Inspect traces, and convert them
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
    Convert(convert::TraceConvertArguments),
}

impl TraceArguments {
    pub(super) fn run(self, program: &Program) -> Result<(), Failure> {
        let formats = program.registry.formats();
        match self.command {
            TraceCommand::Inspect(arguments) => arguments.run(formats),
            TraceCommand::Convert(arguments) => arguments.run(formats),
        }
    }
}

/// Limits `--to` to the formats in which jobs can be written.
pub(super) fn with_targets(trace: clap::Command, formats: &Formats) -> clap::Command {
    let targets = formats.iter().filter_map(|format| format.target);
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
    /// Reads the file in this format; warns about records that were left out.
    fn read(&self, format: &'static Format) -> Result<Trace, Failure> {
        Ok(Trace::collected(|see| self.pass(format, &[], see))?)
    }

    /// Reads the file in this format and gives each job to `see`, as [`Self::read`]. In a table, the
    /// columns may have other names than the fields that they hold.
    fn pass(
        &self,
        format: &'static Format,
        columns: &[MappedColumn],
        see: &mut SeeJob<'_>,
    ) -> Result<Trace, TraceError> {
        let file = self.to_read(format);
        let count = JobCount::new();
        let see: &mut SeeJob<'_> = &mut |job| {
            count.tick();
            see(job);
        };
        let trace = if columns.is_empty() {
            file.pass(see)?
        } else {
            read_table(file, Records::open(file.path, file.strictness)?, columns, see)?
        };
        // The count must be gone before a warning is written.
        drop(count);
        self.warn_of(&trace);
        Ok(trace)
    }

    fn to_read(&self, format: &'static Format) -> TraceToRead<'_> {
        let strictness = Strictness::of(self.lenient);
        TraceToRead { format, path: &self.file, block: self.block, strictness }
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

/// A trace that a command writes.
#[derive(Debug, clap::Args)]
pub struct TraceOutput {
    /// The file to write, gzipped if it ends in `.gz`; `-` for stdout
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    out: PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
}

impl TraceOutput {
    /// Writes the output by a function.
    pub fn write(
        &self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Failure> {
        if self.out == Path::new("-") {
            return Ok(terminal::print_written(write)?);
        }
        // Write to a device or pipe directly; only a file is written hidden and then renamed.
        let is_stream = fs::metadata(&self.out).is_ok_and(|at| !at.is_file() && !at.is_dir());
        if is_stream {
            let stream = OpenOptions::new().write(true).open(&self.out);
            return stream
                .and_then(|to| self.fill(write, to))
                .map_err(|error| file::cannot(&self.out, error));
        }
        file::write(&self.out, self.force, |to| self.fill(write, to))
    }

    /// Writes the output into an open file or stream.
    fn fill(
        &self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
        to: impl Write,
    ) -> io::Result<()> {
        let mut to = BufWriter::new(to);
        if self.out.extension().is_some_and(|ending| ending == "gz") {
            let mut gzip = GzEncoder::new(&mut to, Compression::default());
            write(&mut gzip)?;
            // Finish the stream here: dropping it would hide an error in writing the last bytes.
            gzip.finish()?;
        } else {
            write(&mut to)?;
        }
        to.flush()
    }
}
