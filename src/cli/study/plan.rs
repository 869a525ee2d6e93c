//! `mumakil study plan`: what a study will take, by a few of its runs.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{lasted, outcome, warn, workers};
use crate::cli::failure::Failure;
use crate::cli::interrupt;
use crate::cli::lines::Lines;
use crate::cli::progress::Bar;
use crate::cli::source;
use crate::cli::terminal;
use crate::emulation::{Options, Prepared};
use crate::expect::Unit;
use crate::output::{AsideFolder, OutputError, Over, RunFolder};
use crate::scenario::Registry;
use crate::study::{Plan, Shard, Store, Study};
use crate::units::tell::{self, counted};

/// So many runs are done to see what one takes.
const SAMPLES: usize = 3;

/// The usual block of a disk.
const BLOCK: u64 = 4096;

/// Say how many runs a study has, and what they will take
///
/// A few of the runs, spread over the study, are done to measure it; their results are not kept.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Arguments {
    /// A file, or the name of a study that Mumakil brings
    #[arg(value_name = "STUDY")]
    study: PathBuf,
    /// The folder for the results [default: out/NAME]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// How many runs at a time [default: one for each core]
    #[arg(long, short, value_name = "NUMBER")]
    jobs: Option<NonZero<usize>>,
    /// Put a value over the study's, such as sweep.seeds=20
    #[arg(long = "set", value_name = "PATH=VALUE")]
    sets: Vec<String>,
}

impl Arguments {
    pub(super) fn run(self, registry: &Registry) -> Result<(), Failure> {
        let study = Study::of(source::open_study(&self.study, &self.sets)?)?;
        // Of a search, the first value stands for all of them.
        let probes = study.search.as_ref().map_or(1, |search| search.begin().most());
        let study = study.first();
        let plan = Plan::new(&study, registry)?;
        warn(&plan);
        let out = self.out.unwrap_or_else(|| format!("out/{}", study.name).into());
        let missing = plan.missing(&Store::of(&out)?, Shard::WHOLE);
        let workers = workers(&plan, self.jobs, missing.len());
        let mut lines = Lines::default();
        lines.bold(study.name.as_str(), "");
        for axis in study.axes() {
            lines.line(format!("  axis     {axis}"));
        }
        let different = match plan.distinct().len() {
            all if all == plan.runs.len() => String::new(),
            different => format!(", {} of them different", tell::count(different as u64)),
        };
        lines.line(format!(
            "  runs     {} in {}{different}, of which {} {} left to do",
            tell::count(plan.runs.len() as u64),
            counted(plan.cells.len() as u64, "cell"),
            tell::count(missing.len() as u64),
            if missing.len() == 1 { "is" } else { "are" },
        ));
        if 1 < probes {
            lines.line(format!(
                "  search   the same for {probes} values at most; the first stands for all here"
            ));
        }
        if !missing.is_empty() {
            let (time, room, samples) = measure(&plan, &missing, registry)?;
            let rounds = missing.len().div_ceil(workers) as f64 * probes as f64;
            let time = lasted(time.mul_f64(rounds));
            let workers = counted(workers as u64, "worker");
            lines.line(format!("  time     about {time} with {workers}, by {samples} of them"));
            let room = Unit::BYTES.show((room * missing.len() as u64 * probes) as f64);
            lines.line(format!("  room     about {room}"));
        }
        Ok(terminal::print(&lines)?)
    }
}

/// Returns the mean time and room of a few runs, and how many these were.
fn measure(
    plan: &Plan,
    runs: &[usize],
    registry: &Registry,
) -> Result<(Duration, u64, usize), Failure> {
    let count = SAMPLES.min(runs.len());
    interrupt::guard(&Bar::new(), ", nothing was measured");
    // It is never put in its place, but it is removed whatever ends this process.
    let room = AsideFolder::create(&std::env::temp_dir().join("mumakil-plan"), Over::Anything)?;
    let (mut bytes, began) = (0, outcome::now());
    for sample in 0..count {
        // The first, the last, and one between them.
        let run = runs[sample * (runs.len() - 1) / (count - 1).max(1)];
        let target = room.path().join(sample.to_string());
        let folder = RunFolder::create(&target, false)?;
        let prepared = Prepared::new(plan.scenario(&plan.runs[run]), registry)?;
        prepared.fill(&folder, registry, Options::default())?;
        bytes += bytes_of(folder.path())?;
    }
    Ok((began.elapsed() / count as u32, bytes / count as u64, count))
}

/// Returns the room of a folder on a disk, which gives out blocks.
fn bytes_of(folder: &Path) -> Result<u64, OutputError> {
    let error = |source| OutputError::Read { path: folder.to_owned(), source };
    let mut bytes = BLOCK;
    for entry in std::fs::read_dir(folder).map_err(error)? {
        let entry = entry.map_err(error)?;
        let about = entry.metadata().map_err(error)?;
        bytes += if about.is_dir() {
            bytes_of(&entry.path())?
        } else {
            about.len().next_multiple_of(BLOCK)
        };
    }
    Ok(bytes)
}
