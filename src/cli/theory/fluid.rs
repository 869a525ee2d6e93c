//! `mumakil theory fluid`: how long the jobs of a scenario take on an ideal cluster.

use std::path::PathBuf;

use serde::Serialize;

use crate::cli::failure::Failure;
use crate::cli::lines::TerminalLines;
use crate::cli::source::{self, Overrides};
use crate::cli::table::{Align, table};
use crate::cli::terminal;
use crate::mapred::SlotKind;
use crate::scenario::Registry;
use crate::scheduler::SizeError;
use crate::statistics::{mean, quantile};
use crate::theory::fluid::{FluidDiscipline, FluidJob, ServedJob};
use crate::units::tell::{counted, significant, span};

/// Print how long the jobs of a scenario take on an ideal cluster
///
/// The cluster can be divided into any fractions, and nothing costs time: no heartbeats, no
/// preemption. So the numbers are those of the disciplines themselves, of which policies are made.
/// Only maps or only reduces are served, each alone.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mumakil theory fluid quickstart
  mumakil theory fluid mine.yaml --error '{log-normal: 1}' --json")]
pub(super) struct FluidArguments {
    /// A file, or the name of a scenario that Mumakil brings
    #[arg(value_name = "SCENARIO")]
    scenario: PathBuf,
    /// Serve the reduces, not the maps
    #[arg(long)]
    reduces: bool,
    /// How sizes are wrong, as in `error` of a policy: {log-normal: 1}
    #[arg(long, value_name = "YAML")]
    error: Option<String>,
    /// Print a line of JSON for each discipline
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    overrides: Overrides,
}

/// How long jobs take under a discipline.
#[derive(Debug, Serialize)]
struct FluidRow {
    discipline: &'static str,
    jobs: usize,
    mean_sojourn_s: f64,
    p95_sojourn_s: f64,
    /// The mean of the sojourns over the times that the jobs take alone.
    mean_slowdown: f64,
}

impl FluidRow {
    fn of(discipline: FluidDiscipline, jobs: &[FluidJob<f64>], served: &[ServedJob<f64>]) -> Self {
        let mean = |values: &[f64]| mean(values).unwrap_or_default();
        let sojourns: Vec<f64> = served.iter().map(|job| job.sojourn).collect();
        let alone = jobs.iter().map(|job| job.size / job.most);
        let slowdowns: Vec<f64> =
            sojourns.iter().zip(alone).map(|(long, alone)| long / alone).collect();
        Self {
            discipline: discipline.name(),
            jobs: jobs.len(),
            mean_sojourn_s: mean(&sojourns),
            p95_sojourn_s: quantile(&sojourns, 0.95).unwrap_or_default(),
            mean_slowdown: mean(&slowdowns),
        }
    }
}

impl FluidArguments {
    pub(super) fn run(self, registry: &Registry) -> Result<(), Failure> {
        let error: Option<SizeError> = match self.error.as_deref().map(serde_yaml::from_str) {
            Some(Ok(error)) => Some(error),
            Some(Err(error)) => {
                return Err(Failure::input(format!(
                    "--error is no error of sizes: {error}\n   = such as `{{log-normal: 1}}`"
                )));
            }
            None => None,
        };
        if let Some(complaint) = error.iter().flat_map(SizeError::complaints).next() {
            return Err(Failure::input(format!("{}\n   = {}", complaint.message, complaint.hint)));
        }
        let (draft, loaded) = source::load(&self.scenario, self.overrides, registry)?;
        let prepared = source::prepare(&draft, loaded.scenario, registry)?;
        terminal::warn_all(&loaded.warnings, self.json);
        let kind = if self.reduces { SlotKind::Reduce } else { SlotKind::Map };
        let (jobs, left_out) = prepared.fluid_jobs(kind, error.as_ref());
        if jobs.is_empty() {
            return Err(Failure::input(format!(
                "no job has {}s and arrives at a time that is known before the run",
                kind.word()
            )));
        }
        if 0 < left_out {
            let those = counted(left_out as u64, "job");
            terminal::warn(&format!(
                "{those} without {}s, or that wait for other jobs, are left out",
                kind.word()
            ));
        }
        let rows = FluidDiscipline::ALL.into_iter().map(|discipline| {
            let served = discipline.ends(&jobs).map_err(Failure::input)?;
            Ok(FluidRow::of(discipline, &jobs, &served))
        });
        let rows: Vec<FluidRow> = rows.collect::<Result<_, Failure>>()?;
        let mut lines = TerminalLines::default();
        if self.json {
            for row in &rows {
                lines.line(serde_json::to_string(row).expect("numbers are JSON"));
            }
            return Ok(terminal::print(&lines)?);
        }
        let slots = prepared.topology.slots()[kind];
        let of = format!(
            "{} · {}",
            counted(jobs.len() as u64, "job"),
            counted(slots.into(), &format!("{} slot", kind.word()))
        );
        lines.bold(prepared.scenario.name.to_string(), format!("   {of}"));
        let head = ["discipline", "mean sojourn", "p95", "mean slowdown"].map(str::to_owned);
        let mut cells = vec![head.to_vec()];
        cells.extend(rows.iter().map(|row| {
            vec![
                row.discipline.to_owned(),
                span(row.mean_sojourn_s),
                span(row.p95_sojourn_s),
                significant(row.mean_slowdown, 4),
            ]
        }));
        lines += table(&cells, &[Align::Left, Align::Right, Align::Right, Align::Right]);
        Ok(terminal::print(&lines)?)
    }
}
