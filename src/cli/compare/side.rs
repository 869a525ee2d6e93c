//! A run or a study as a side of a comparison: its numbers, by metric and cell.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use super::{check, unreadable};
use crate::failure::Failure;
use mumakil_base::files::{self, SUMMARY};
use mumakil_compare::{ChangeColumn, SideRow, SideTable};
use mumakil_draw::page::{PageCell, PageColumn};
use mumakil_results::expect::{Expr, Space, Unit};
use mumakil_results::tables::{ReadError, RunJobs};
use mumakil_run::output::results::RunResults;
use mumakil_run::record::RunFacts;
use mumakil_study::{StudyManifest, read_manifest};

#[cfg(test)]
pub(super) mod testing;

/// The metrics by which runs are compared. The last ones are by the size of jobs, in powers of ten.
const OF_RUNS: [&str; 21] = [
    "jobs",
    "jobs_succeeded",
    "mean(sojourn)",
    "median(sojourn)",
    "p95(sojourn)",
    "mean(wait)",
    "makespan",
    "locality.node",
    "locality.rack",
    "locality.off_rack",
    "utilisation.map",
    "utilisation.reduce",
    "attempts",
    "attempts_failed",
    "attempts_killed",
    "suspensions",
    "locality.node[maps=1]",
    "locality.node[maps=2..10]",
    "locality.node[maps=11..100]",
    "locality.node[maps=101..1000]",
    "locality.node[maps=1001..]",
];

/// A run or a study beside others.
pub(super) struct ComparedSide {
    /// Its name in the comparison.
    pub(super) name: String,
    /// The version of Mumakil that made it, and the number of its model.
    pub(super) model: (String, u32),
    /// The fields that a study varies; a run has none.
    axes: Vec<String>,
    /// For each cell, the label of its value on each axis; a run has one cell.
    cells: Vec<Vec<String>>,
    metrics: Vec<ComparedMetric>,
    /// How many jobs did not succeed.
    pub(super) unsuccessful: u64,
    /// The run; `None` for a study.
    pub(super) run: Option<ComparedRun>,
}

/// A run whose jobs and slots are compared, too.
pub(super) struct ComparedRun {
    pub(super) results: RunResults,
    pub(super) facts: RunFacts,
    pub(super) jobs: RunJobs,
}

/// A metric, with its number in each cell.
struct ComparedMetric {
    text: String,
    unit: Unit,
    numbers: Vec<Option<f64>>,
}

/// The part of a study's `summary.json` that is compared.
#[derive(Deserialize)]
struct StudySummary {
    cells: Vec<Vec<String>>,
    metrics: Vec<MetricSummary>,
    /// For each cell, how many jobs did not succeed; older versions do not tell it.
    #[serde(default)]
    unsuccessful: Vec<u64>,
}

#[derive(Deserialize)]
struct MetricSummary {
    metric: String,
    cells: Vec<Option<CellMean>>,
}

#[derive(Deserialize)]
struct CellMean {
    /// `None` if the mean is not a number.
    mean: Option<f64>,
}

impl ComparedSide {
    /// Reads the folder of a run.
    pub(super) fn of_run(folder: &Path, name: String) -> Result<Self, Failure> {
        check(folder)?;
        let results = RunResults::new(folder);
        let jobs = RunJobs::read(&results).map_err(unreadable)?;
        let facts = results.facts().map_err(unreadable)?;
        let metrics = OF_RUNS.map(|text| {
            let parsed = Expr::parse(text).and_then(|expr| expr.metric(&Space::default()));
            let plan = parsed.expect("the metrics of runs are valid");
            // The run of an older version may lack a number.
            let numbers = plan.measure(&results, &[]).unwrap_or_else(|_| vec![None]);
            ComparedMetric { text: text.to_owned(), unit: plan.unit(), numbers }
        });
        let unsuccessful = jobs.counted().filter(|job| !job.outcome.is_measured()).count() as u64;
        Ok(Self {
            name,
            model: (facts.version.clone(), facts.model),
            axes: Vec::new(),
            cells: vec![Vec::new()],
            metrics: metrics.into(),
            unsuccessful,
            run: Some(ComparedRun { results, facts, jobs }),
        })
    }

    /// Reads the folder of a study.
    pub(super) fn of_study(folder: &Path, name: String) -> Result<Self, Failure> {
        let sheet = read_manifest(folder)?;
        let path = folder.join(SUMMARY);
        let text = files::own_text(&path).map_err(|_| {
            Failure::input(format!(
                "{} has no results yet; start its study again to go on with it",
                folder.display()
            ))
        })?;
        let summary: StudySummary = serde_json::from_str(&text).map_err(|error| {
            unreadable(ReadError::row(&path, error.line() as u64, error.to_string()))
        })?;
        Ok(Self::of_summary(name, sheet, summary))
    }

    fn of_summary(name: String, sheet: StudyManifest, summary: StudySummary) -> Self {
        let space = sheet.space();
        let metrics = summary.metrics.into_iter().map(|MetricSummary { metric: text, cells }| {
            let plan = Expr::parse(&text).and_then(|expr| expr.metric(&space));
            let numbers = cells.into_iter().map(|cell| cell?.mean).collect();
            ComparedMetric { unit: plan.map_or(Unit::PLAIN, |plan| plan.unit()), text, numbers }
        });
        Self {
            name,
            axes: sheet.axes.into_iter().map(|axis| axis.field).collect(),
            model: (sheet.version, sheet.model),
            cells: summary.cells,
            metrics: metrics.collect(),
            unsuccessful: summary.unsuccessful.iter().sum(),
            run: None,
        }
    }

    /// Returns the labels of a cell, by the fields of their axes: another study may have its axes in
    /// another order.
    fn labels<'s>(&'s self, cell: &'s [String]) -> BTreeMap<&'s str, &'s str> {
        self.axes.iter().map(String::as_str).zip(cell.iter().map(String::as_str)).collect()
    }

    /// Returns the index of each cell, by its labels.
    fn places(&self) -> BTreeMap<BTreeMap<&str, &str>, usize> {
        self.cells.iter().enumerate().map(|(place, cell)| (self.labels(cell), place)).collect()
    }
}

/// Returns the metrics that all sides have, in the cells that all have.
pub(super) fn metrics(sides: &[ComparedSide]) -> Result<SideTable, Failure> {
    let first = &sides[0];
    let places: Vec<_> = sides.iter().map(ComparedSide::places).collect();
    let mut rows = Vec::new();
    for ComparedMetric { text, unit, .. } in &first.metrics {
        let same = sides.iter().map(|side| side.metrics.iter().find(|other| other.text == *text));
        let Some(same) = same.collect::<Option<Vec<_>>>() else { continue };
        for cell in &first.cells {
            let labels = first.labels(cell);
            let values = same
                .iter()
                .zip(&places)
                .map(|(metric, places)| metric.numbers.get(*places.get(&labels)?).copied());
            let Some(values) = values.collect::<Option<Vec<_>>>() else { continue };
            if values.iter().any(Option::is_some) {
                let keys = [text].into_iter().chain(cell).map(PageCell::text).collect();
                rows.push(SideRow { keys, unit: *unit, values, notes: Vec::new() });
            }
        }
    }
    if rows.is_empty() {
        return Err(nothing_in_common(sides));
    }
    let axes = first.axes.iter().map(|axis| axis.rsplit('.').next().unwrap_or(axis));
    let keys = ["metric"].into_iter().chain(axes);
    Ok(SideTable {
        caption: "In numbers".to_owned(),
        keys: keys.map(PageColumn::text).collect(),
        sides: sides.iter().map(|side| side.name.clone()).collect(),
        changes: &[ChangeColumn::Change],
        notes: Vec::new(),
        rows,
    })
}

fn nothing_in_common(sides: &[ComparedSide]) -> Failure {
    let mut lines = String::new();
    for ComparedSide { name, metrics, axes, .. } in sides {
        let metrics: Vec<&str> = metrics.iter().map(|metric| &*metric.text).collect();
        lines += &format!("\n  {name}: {} over {}", metrics.join(", "), axes.join(", "));
    }
    Failure::input(format!("the studies have no metric of the same cell in common{lines}"))
}

#[cfg(test)]
mod tests {
    use super::testing::study;
    use super::*;

    #[test]
    fn studies_without_a_common_cell_are_not_compared() {
        let [one, other] =
            [("one", "10"), ("other", "20")].map(|(name, nodes)| study(name, &[(nodes, 1.0)]));
        let Failure::Input(error) = metrics(&[one, other]).unwrap_err() else { panic!() };
        assert_eq!(
            error.to_string(),
            "the studies have no metric of the same cell in common\n  \
             one: mean(sojourn) over cluster.nodes\n  other: mean(sojourn) over cluster.nodes"
        );
    }

    #[test]
    fn a_broken_summary_names_its_line() {
        let room = tempfile::TempDir::new().unwrap();
        std::fs::write(room.path().join(SUMMARY), "{\n\"seed\": x}").unwrap();
        let Err(Failure::Input(error)) = ComparedSide::of_run(room.path(), "r".to_owned()) else {
            panic!()
        };
        assert!(error.to_string().contains("summary.json:2: "), "{error}");
    }
}
