//! `mumakil study plan`: what a study will take, by a few of its runs.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{cores, lasted, outcome};
use crate::cli::failure::Failure;
use crate::cli::source;
use crate::cli::story::counted;
use crate::cli::terminal::{self, BOLD};
use crate::emulation::{Options, Prepared};
use crate::expect::Unit;
use crate::output::{OutputError, RunFolder, Unfinished};
use crate::scenario::Registry;
use crate::study::{Plan, Shard, Store, Study};

/// So many runs are done to see what one takes.
const SAMPLES: usize = 3;

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
        let study = Study::of(source::open(&self.study, "study")?.with(&self.sets))?;
        // Of a search, the first value stands for all of them.
        let probes = study.search.as_ref().map_or(1, |search| search.begin().most());
        let study = study.first();
        let plan = Plan::new(&study, registry)?;
        plan.warnings.iter().for_each(|warning| terminal::warn(warning));
        let out = self.out.unwrap_or_else(|| format!("out/{}", study.name).into());
        let missing = plan.missing(&Store::of(&out, &Unfinished::default()), Shard::WHOLE);
        let workers = self.jobs.map_or_else(cores, NonZero::get);
        let mut text = format!("{BOLD}{}{BOLD:#}\n", study.name);
        for axis in study.axes() {
            text += &format!("  axis     {axis}\n");
        }
        text += &format!(
            "  runs     {} in {}, of which {} {} left to do\n",
            plan.runs.len(),
            counted(plan.cells.len() as u64, "cell"),
            missing.len(),
            if missing.len() == 1 { "is" } else { "are" },
        );
        if 1 < probes {
            text += &format!("  search   the same for {probes} values at most\n");
        }
        if !missing.is_empty() {
            let (time, room, samples) = measure(&plan, &missing, registry)?;
            let rounds = missing.len() as f64 / workers.min(missing.len()) as f64 * probes as f64;
            text += &format!(
                "  time     about {} with {}, by {} of them\n  room     about {}\n",
                lasted(time.mul_f64(rounds)),
                counted(workers as u64, "worker"),
                samples,
                Unit::BYTES.show((room * missing.len() as u64 * probes) as f64),
            );
        }
        Ok(terminal::print(&text)?)
    }
}

/// Returns the mean time and room of a few runs, and how many these were.
fn measure(
    plan: &Plan,
    runs: &[usize],
    registry: &Registry,
) -> Result<(Duration, u64, usize), Failure> {
    let count = SAMPLES.min(runs.len());
    let room = tempfile::tempdir().map_err(|error| Failure::Environment(error.into()))?;
    let (mut bytes, began) = (0, outcome::now());
    for sample in 0..count {
        // The first, the last, and one between them.
        let run = runs[sample * (runs.len() - 1) / (count - 1).max(1)];
        let target = room.path().join(sample.to_string());
        let folder = RunFolder::create(&target, false, &Unfinished::default())?;
        let prepared = Prepared::new(plan.scenario(&plan.runs[run]))?;
        prepared.fill(&folder, registry, Options::default())?;
        bytes += bytes_of(folder.path())?;
    }
    Ok((began.elapsed() / count as u32, bytes / count as u64, count))
}

fn bytes_of(folder: &Path) -> Result<u64, OutputError> {
    let error = |source| OutputError::Read { path: folder.to_owned(), source };
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder).map_err(error)? {
        let entry = entry.map_err(error)?;
        let about = entry.metadata().map_err(error)?;
        bytes += if about.is_dir() { bytes_of(&entry.path())? } else { about.len() };
    }
    Ok(bytes)
}
