//! `mumakil study plan`: estimates the time and space of a study from a few of its runs.

use std::num::NonZero;
use std::path::PathBuf;
use std::time::Duration;

use super::{folder, lasted, warn, workers};
use crate::failure::Failure;
use crate::lines::TerminalLines;
use crate::progress::StudyBar;
use crate::source::Overrides;
use crate::{interrupt, source, terminal};
use mumakil_base::units::tell::{self, counted};
use mumakil_core::mapred::ProgramPermit;
use mumakil_results::expect::Unit;
use mumakil_scenario::Registry;
use mumakil_study::{Forecast, Plan, Shard, Store, Study, WorkStep};

/// The real time after which no further run is tried.
// Chosen; the help text and the guide say "a minute".
const LIMIT: Duration = Duration::from_secs(60);

/// Count the runs of a study, and estimate their time and disk space
///
/// Up to eight runs are tried, evenly spread from the first to the last; no further run begins
/// after a minute. Their results are not kept. No run is tried under a policy that is a program,
/// unless `--external` allows to start it.
#[derive(Debug, clap::Args)]
pub(crate) struct StudyPlanArguments {
    /// A file, the name of a study that Mumakil brings, or the folder of a study
    #[arg(value_name = "STUDY")]
    study: PathBuf,
    /// The folder for the results [default: out/NAME, or STUDY if that is a folder]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The number of runs at the same time [default: one for each core]
    #[arg(long, short, value_name = "NUMBER")]
    jobs: Option<NonZero<usize>>,
    #[command(flatten)]
    overrides: Overrides,
}

impl StudyPlanArguments {
    pub(super) fn run(self, registry: &Registry) -> Result<(), Failure> {
        let (path, out) = folder::find(self.study, self.out)?;
        let study = Study::of(source::open_study(&path, &self.overrides)?)?;
        let mut registry = registry.clone();
        if !registry.permit().is_trusting() {
            registry.permit_programs(ProgramPermit::Refused("a plan starts no programs"));
        }
        let registry = &registry;
        let plan = Plan::new(&study, registry)?;
        warn(&plan, false);
        plan.overload(registry)?.iter().for_each(|warning| terminal::warn(warning));
        let out = out.unwrap_or_else(|| format!("out/{}", study.name).into());
        let missing = plan.missing(&Store::of(&out)?, Shard::WHOLE);
        let workers = workers(&plan, self.jobs, missing.len());
        let mut lines = TerminalLines::default();
        lines.bold(study.name.as_str(), "");
        for axis in study.axes() {
            lines.line(format!("  axis     {axis}"));
        }
        let different = match plan.distinct().len() {
            all if all == plan.runs.len() => String::new(),
            different => format!(", {}", tell::counted(different as u64, "different run")),
        };
        lines.line(format!(
            "  runs     {} in {}{different}, of which {} {} left to do",
            tell::count(plan.runs.len() as u64),
            counted(plan.cells.len() as u64, "cell"),
            tell::count(missing.len() as u64),
            if missing.len() == 1 { "is" } else { "are" },
        ));
        // A plan asks for no run, so it starts no program that the study names.
        let program = plan.program(&missing).filter(|_| !registry.permit().is_trusting());
        if let Some(program) = program {
            lines.line(format!(
                "  time     unknown, since the policy is a program, `{program}`; with `--external` a few \
                 runs are tried"
            ));
        } else if !missing.is_empty() {
            let Forecast { samples, seconds, longest_s, bytes } =
                forecast(&plan, &missing, registry)?;
            let runs = missing.len() as f64;
            // A study takes at least as long as its longest run, with any number of workers.
            let time = (seconds * runs / workers as f64).max(longest_s);
            let (time, workers) = (lasted(Duration::from_secs_f64(time)), workers as u64);
            let workers = counted(workers, "worker");
            lines.line(format!("  time     about {time} with {workers}, by {samples} of them"));
            let room = Unit::BYTES.show(bytes * runs);
            lines.line(format!("  room     about {room}"));
        }
        Ok(terminal::print(&lines)?)
    }
}

/// Tries a few runs, and shows the progress; returns the estimate.
fn forecast(plan: &Plan, runs: &[usize], registry: &Registry) -> Result<Forecast, Failure> {
    let bar = StudyBar::new("run", false);
    let samples = Plan::samples(runs);
    bar.more(samples.len());
    interrupt::guard(&bar.bar, ", nothing was measured");
    let forecast = plan.forecast(&samples, registry, LIMIT, |step| match step {
        WorkStep::Begun { run } => bar.begin(run, plan.describe(run)),
        WorkStep::Done { run, .. } | WorkStep::Failed { run } => bar.end(run),
        WorkStep::OfOthers { .. } => {}
    });
    bar.clear();
    Ok(forecast?)
}
