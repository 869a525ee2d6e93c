//! `mumakil check`: reports the mistakes in scenarios and studies, without running them.

use std::path::{Path, PathBuf};

use super::failure::Failure;
use super::lines::TerminalLines;
use super::{Program, source, terminal};
use mumakil_base::units::tell::{counted, significant, span};
use mumakil_core::mapred::SlotKind;
use mumakil_scenario::{LoadedScenario, Registry};
use mumakil_study::Plan;

/// Check scenarios and studies without running them
///
/// All mistakes of a file are reported together, each with its place.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mumakil check mine.yaml
  mumakil check scenarios/*.yaml
  mumakil check quickstart --set scheduler=fifo")]
pub(super) struct CheckArguments {
    /// Files, or names of scenarios and studies that Mumakil brings
    #[arg(value_name = "SCENARIO", required = true)]
    scenarios: Vec<PathBuf>,
    /// Set a value in them, such as cluster.nodes=50
    #[arg(long = "set", value_name = "PATH=VALUE")]
    sets: Vec<String>,
}

/// Checks a scenario and the files that it names, or a study and all its scenarios; returns a line
/// about the result.
fn check(path: &Path, sets: &[String], registry: &Registry) -> Result<String, Failure> {
    let draft = source::open(path, "scenario")?.with(sets);
    if draft.is_study() {
        let plan = Plan::check(draft, registry)?;
        terminal::warn_all(&plan.warnings, false);
        plan.overload(registry)?.iter().for_each(|warning| terminal::warn(warning));
        let (cells, runs) = (plan.cells.len() as u64, plan.runs.len() as u64);
        return Ok(format!("{} · {}", counted(cells, "cell"), counted(runs, "run")));
    }
    let LoadedScenario { scenario, warnings, .. } = draft.resolve_with_files(registry)?;
    let prepared = source::prepare(&draft, scenario, registry)?;
    terminal::warn_all(&warnings, false);
    prepared.doubts.iter().for_each(|doubt| terminal::warn(doubt));
    prepared.workload.left_out.iter().for_each(|part| terminal::warn(part));
    let told = |(kind, load): (SlotKind, f64)| (kind.word(), significant(load, 3));
    if let Some((kind, load)) = prepared.overload().map(told) {
        terminal::warn(&format!(
            "the jobs ask for {load} times the {kind} slots while they arrive, so they queue, and \
             sojourns will measure how many jobs there are; take more nodes, or let jobs arrive more \
             slowly (`workload.pace`)"
        ));
    }
    if let Some((job, task, window)) = prepared.outliving() {
        let [task, window] = [task, window].map(|time| span(time.as_secs_f64()));
        terminal::warn(&format!(
            "job `{job}` has a task of {task}, longer than the {window} in which all jobs arrive: it \
             outlives the others, and utilisations are means over its time, too; `until` ends the run \
             before"
        ));
    }
    let parts = [
        Some(counted(prepared.topology.len().into(), "tracker")),
        Some(counted(prepared.jobs(), "job")),
        prepared.load().map(told).map(|(kind, load)| format!("{kind} load {load}")),
        Some(prepared.scenario.scheduler.title()),
    ];
    Ok(parts.into_iter().flatten().collect::<Vec<_>>().join(" · "))
}

impl CheckArguments {
    pub(super) fn run(self, program: &Program) -> Result<(), Failure> {
        let registry = &program.registry;
        let mut wrong = 0;
        for path in &self.scenarios {
            match check(path, &self.sets, registry) {
                Ok(line) => {
                    let line = format!("{}: fine   {line}", path.display());
                    terminal::print(&TerminalLines::of(line))?;
                }
                Err(failure) => {
                    failure.print();
                    wrong += 1;
                }
            }
        }
        // All mistakes are printed already, each after its file was checked.
        if wrong == 0 { Ok(()) } else { Err(Failure::Told) }
    }
}
