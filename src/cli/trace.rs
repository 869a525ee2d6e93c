//! `mumakil trace`: looks into traces, converts them, makes smaller ones of them.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::failure::Failure;
use super::terminal;
use crate::trace::Strictness;
use crate::units::Bytes;
use crate::workload::exchange::Trace;

mod convert;
mod inspect;
mod reshape;

/// Look into traces, convert them, make smaller ones of them
///
/// Traces are files of SWIM, of Rumen, of YARN's Scheduler Load Simulator (SLS), plain or gzipped,
/// and Mumakil's own lists of jobs: tables (CSV) and YAML. A file's format is told by what is in
/// it.
#[derive(Debug, clap::Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Inspect(inspect::Arguments),
    Convert(convert::Arguments),
    Sample(reshape::Sample),
    Scale(reshape::Scale),
    Fold(reshape::Fold),
}

impl Arguments {
    pub(super) fn run(self) -> Result<(), Failure> {
        match self.command {
            Command::Inspect(arguments) => arguments.run(),
            Command::Convert(arguments) => arguments.run(),
            Command::Sample(arguments) => arguments.run(),
            Command::Scale(arguments) => arguments.run(),
            Command::Fold(arguments) => arguments.run(),
        }
    }
}

/// What every command reads.
#[derive(Debug, clap::Args)]
struct Input {
    /// The trace
    file: PathBuf,
    /// Leave broken records out, and count them, instead of stopping at the first
    #[arg(long)]
    lenient: bool,
}

impl Input {
    /// Reads the file; says what was left out.
    fn read(&self, block: Bytes) -> Result<Trace, Failure> {
        let trace = Trace::read(&self.file, block, Strictness::of(self.lenient))?;
        if 0 < trace.skipped.count {
            let first = trace.skipped.first.first().map(ToString::to_string).unwrap_or_default();
            terminal::warn(&format!(
                "{} left out, the first: {first}",
                super::story::counted(trace.skipped.count, "broken record")
            ));
        }
        Ok(trace)
    }
}

/// Where the commands that make a trace write it.
#[derive(Debug, clap::Args)]
struct Output {
    /// The file to write; `-` for stdout
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    out: PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
}

impl Output {
    /// Writes a trace: aside first, and then in its place at once.
    fn write(&self, trace: &Trace) -> Result<(), Failure> {
        if self.out == Path::new("-") {
            let mut text = Vec::new();
            trace.write_to(&mut text)?;
            return Ok(terminal::print(&String::from_utf8_lossy(&text))?);
        }
        if !self.force && self.out.exists() {
            return Err(self.exists());
        }
        let cannot = |error: io::Error| {
            let context = format!("cannot write {}", self.out.display());
            Failure::Environment(anyhow::Error::new(error).context(context))
        };
        let folder = self.out.parent().filter(|folder| *folder != Path::new(""));
        let folder = folder.unwrap_or_else(|| Path::new("."));
        fs::create_dir_all(folder).map_err(cannot)?;
        let mut aside = NamedTempFile::new_in(folder).map_err(cannot)?;
        let mut to = BufWriter::new(aside.as_file_mut());
        trace.write_to(&mut to).and_then(|()| to.flush()).map_err(cannot)?;
        drop(to);
        let placed = match self.force {
            true => aside.persist(&self.out),
            false => aside.persist_noclobber(&self.out),
        };
        match placed {
            Ok(_) => Ok(()),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Err(self.exists()),
            Err(error) => Err(cannot(error.error)),
        }
    }

    fn exists(&self) -> Failure {
        Failure::input(format!("{} exists already (--force replaces it)", self.out.display()))
    }
}
