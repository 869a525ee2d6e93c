//! `mumakil study plan`: what a study will take, by a few of its runs.

use std::num::NonZero;
use std::path::PathBuf;
use std::time::Duration;

use super::{folder, lasted, warn, workers};
use crate::cli::failure::Failure;
use crate::cli::interrupt;
use crate::cli::lines::Lines;
use crate::cli::progress::StudyBar;
use crate::cli::source;
use crate::cli::terminal;
use crate::expect::Unit;
use crate::files::COSTS;
use crate::scenario::Registry;
use crate::study::{
    Bring, Costs, Form, Measured, Plan, Shard, Share, Sheet, Step, Store, Study, keep, write_sheet,
};
use crate::units::tell::{self, counted};

/// No probe but the first is begun later.
const LIMIT: Duration = Duration::from_secs(60);

/// Say how many runs a study has, and what they will take
///
/// A few of the runs are done to measure it: of each axis some values, and some seeds, with all else held;
/// at most 24, and no other is begun after a minute. Their results are not kept.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Arguments {
    /// A file, the name of a study that Mumakil brings, or the folder of a study
    #[arg(value_name = "STUDY")]
    study: PathBuf,
    /// The folder for the results [default: out/NAME, or STUDY if that is a folder]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// How many runs at a time [default: one for each core]
    #[arg(long, short, value_name = "NUMBER")]
    jobs: Option<NonZero<usize>>,
    /// Write into the folder what the runs of each cell cost; `--shard` divides the runs by it
    #[arg(long)]
    costs: bool,
    /// Put a value over the study's, such as sweep.seeds=20
    #[arg(long = "set", value_name = "PATH=VALUE")]
    sets: Vec<String>,
}

impl Arguments {
    pub(super) fn run(self, registry: &Registry) -> Result<(), Failure> {
        let (path, out) = folder::find(self.study, self.out)?;
        let study = Study::of(source::open_study(&path, &self.sets)?)?;
        if study.search.is_some() && self.costs {
            return Err(Failure::input(
                "a search runs step by step, so it has no shards to divide by their costs",
            ));
        }
        // Of a search, the first value stands for all of them.
        let probes = study.search.as_ref().map_or(1, |search| search.begin().most());
        let study = study.first();
        let plan = Plan::new(&study, registry)?;
        warn(&plan);
        let out = out.unwrap_or_else(|| format!("out/{}", study.name).into());
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
        let measured = match missing.is_empty() && !self.costs {
            true => None,
            false => Some(measure(&plan, registry)?),
        };
        if let Some(measured) = measured.as_ref().filter(|_| !missing.is_empty()) {
            let of = |each: &[f64]| -> Vec<f64> {
                missing.iter().map(|run| each[plan.runs[*run].cell]).collect()
            };
            let seconds = of(&measured.seconds);
            let longest = seconds.iter().copied().fold(0.0, f64::max);
            let time = seconds.iter().sum::<f64>() / workers as f64;
            let time = lasted(Duration::from_secs_f64(time.max(longest) * probes as f64));
            let workers = counted(workers as u64, "worker");
            let samples = measured.probes;
            lines.line(format!("  time     about {time} with {workers}, by {samples} of them"));
            let room = of(&measured.bytes).iter().sum::<f64>() * probes as f64;
            lines.line(format!("  room     about {}", Unit::BYTES.show(room)));
        }
        if let Some(measured) = measured.filter(|_| self.costs) {
            let store = Store::of(&out)?;
            // Who works there would have other parts than those who begin now.
            let _claim = store.claim(study.name.as_str(), Share::Alone, Form::Packed)?;
            write_sheet(&Sheet::new(&study, &plan), &out)?;
            keep(&study, &plan, &folder::command(), &out, Bring::Links)?;
            Costs::of(&plan, &measured).write(&out)?;
            lines.line(format!("wrote {}", out.join(COSTS).display()));
        }
        Ok(terminal::print(&lines)?)
    }
}

/// Probes a few runs and shows how far that is.
pub(super) fn measure(plan: &Plan, registry: &Registry) -> Result<Measured, Failure> {
    let bar = StudyBar::new("probe", false);
    bar.more(plan.probes());
    interrupt::guard(bar.bar(), ", nothing was measured");
    let measured = plan.measure(registry, LIMIT, |step| match step {
        Step::Begun { run } => bar.begin(run, plan.describe(run)),
        Step::Done { run, .. } | Step::Failed { run } => bar.end(run),
    });
    bar.clear();
    Ok(measured?)
}
