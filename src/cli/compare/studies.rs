//! Studies side by side: the mean of each metric, in the cells that all studies have.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use super::side::{SideBySideTable, SideRow};
use super::unreadable;
use crate::cli::failure::Failure;
use crate::cli::lines::TerminalLines;
use crate::expect::{Expr, Unit, in_words};
use crate::files::{self, SUMMARY};
use crate::page::{HtmlPage, PageBlock, Section};
use crate::study::{StudyManifest, read_manifest};
use crate::tables::ReadError;
use crate::units::tell::{count, listed};

/// The most cells printed; the page of `--out` has all.
const MOST_CELLS: usize = 40;

/// A study to compare.
#[derive(Debug)]
pub(super) struct ComparedStudy {
    name: String,
    pub(super) sheet: StudyManifest,
    /// The cells with results: the labels of their values, axis by axis.
    cells: Vec<Vec<String>>,
    metrics: Vec<ComparedMetric>,
    /// How many jobs did not succeed.
    unsuccessful: u64,
}

/// The part of a study's `summary.json` that is compared.
#[derive(Deserialize)]
struct StudySummary {
    cells: Vec<Vec<String>>,
    metrics: Vec<ComparedMetric>,
    /// For each cell, how many jobs did not succeed; older versions do not tell it.
    #[serde(default)]
    unsuccessful: Vec<u64>,
}

/// A metric: its expression, and its value in each cell.
#[derive(Debug, Deserialize)]
struct ComparedMetric {
    metric: String,
    cells: Vec<Option<CellMean>>,
}

#[derive(Debug, Deserialize)]
struct CellMean {
    /// `None` if the mean is not a number.
    mean: Option<f64>,
}

/// The labels of a cell's values, by the fields of their axes.
type Values<'s> = BTreeMap<&'s str, &'s str>;

impl ComparedStudy {
    /// Reads the folder of a study.
    pub(super) fn read(folder: &Path, name: String) -> Result<Self, Failure> {
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
        let StudySummary { cells, metrics, unsuccessful } = summary;
        Ok(Self { name, sheet, cells, metrics, unsuccessful: unsuccessful.iter().sum() })
    }

    /// Returns the mean of a metric in a cell; `None` if the study lacks the metric, and
    /// `Some(None)` if the mean is not a number.
    fn mean(&self, metric: &str, cell: usize) -> Option<Option<f64>> {
        let metric = self.metrics.iter().find(|other| other.metric == metric)?;
        Some(metric.cells.get(cell)?.as_ref().and_then(|mean| mean.mean))
    }

    /// Returns the labels of a cell, by the fields of their axes.
    fn values<'s>(&'s self, cell: &'s [String]) -> Values<'s> {
        let fields = self.sheet.axes.iter().map(|axis| axis.field.as_str());
        fields.zip(cell.iter().map(String::as_str)).collect()
    }

    /// Returns the index of each cell, by the cell's labels.
    fn places(&self) -> BTreeMap<Values<'_>, usize> {
        let cells = self.cells.iter().enumerate();
        cells.map(|(place, cell)| (self.values(cell), place)).collect()
    }

    fn unit(&self, metric: &str) -> Unit {
        let plan = Expr::parse(metric).and_then(|expr| expr.metric(&self.sheet.space()));
        plan.map_or(Unit::PLAIN, |plan| plan.unit())
    }
}

/// Returns a table for each metric that all studies have, with the cells that all have.
pub(super) fn side_by_side(studies: &[ComparedStudy]) -> Result<Vec<SideBySideTable>, Failure> {
    let first = &studies[0];
    let places: Vec<_> = studies.iter().map(ComparedStudy::places).collect();
    let table = |metric: &ComparedMetric| {
        let unit = first.unit(&metric.metric);
        let row = |cell: &Vec<String>| {
            let values = first.values(cell);
            let means = studies.iter().zip(&places).map(|(study, places)| {
                // Look the cell up by fields and labels: another study may have its axes in another
                // order.
                let place = places.get(&values)?;
                study.mean(&metric.metric, *place)
            });
            // A cell that one of the studies lacks gets no row. A mean that is not a number is a
            // `None` in its row.
            Some(SideRow { keys: cell.clone(), unit, values: means.collect::<Option<_>>()? })
        };
        SideBySideTable {
            caption: metric.metric.clone(),
            keys: first.sheet.axes.iter().map(|axis| axis.short().to_owned()).collect(),
            names: studies.iter().map(|study| study.name.clone()).collect(),
            rows: first.cells.iter().filter_map(row).collect(),
        }
    };
    let mut tables: Vec<SideBySideTable> = first.metrics.iter().map(table).collect();
    tables.retain(|table| !table.rows.is_empty());
    match tables.is_empty() {
        true => Err(nothing_in_common(studies)),
        false => Ok(tables),
    }
}

fn nothing_in_common(studies: &[ComparedStudy]) -> Failure {
    let told = studies.iter().map(|study| {
        let axes: Vec<&str> = study.sheet.axes.iter().map(|axis| axis.field.as_str()).collect();
        let metrics: Vec<&str> =
            study.metrics.iter().map(|metric| metric.metric.as_str()).collect();
        format!("\n  {}: {} over {}", study.name, metrics.join(", "), axes.join(", "))
    });
    Failure::input(format!(
        "the studies have no metric of the same cell in common{}",
        told.collect::<String>()
    ))
}

/// Returns how many jobs did not succeed in each study, in words; `None` if all did.
fn left_out(studies: &[ComparedStudy]) -> Option<String> {
    let told =
        studies.iter().map(|study| format!("{} of {}", count(study.unsuccessful), study.name));
    studies.iter().any(|study| 0 < study.unsuccessful).then(|| {
        format!(
            "Some jobs did not succeed, and times of jobs leave them out: {}.",
            listed(told, "and")
        )
    })
}

/// Returns the lines that compare studies.
pub(super) fn tell(studies: &[ComparedStudy], tables: &[SideBySideTable]) -> TerminalLines {
    let mut lines = TerminalLines::default();
    for (place, table) in tables.iter().enumerate() {
        let more = table.rows.len().saturating_sub(MOST_CELLS);
        let rows = table.rows.iter().take(MOST_CELLS).cloned().collect();
        if 0 < place {
            lines.end();
        }
        lines.bold(&table.caption, "");
        lines += SideBySideTable { rows, ..table.clone() }.lines();
        if 0 < more {
            let more = count(more as u64);
            lines.line(format!("  … and {more} more cells (--out writes them all)"));
        }
    }
    if let Some(words) = left_out(studies) {
        lines.line(format!("  {words}"));
    }
    lines
}

/// Returns the page that compares studies.
pub(super) fn page(studies: &[ComparedStudy], tables: &[SideBySideTable]) -> HtmlPage {
    let names: Vec<&str> = studies.iter().map(|study| study.name.as_str()).collect();
    // Write the heading in words; the expression stands below it.
    let section = |table: &SideBySideTable| {
        Section::new(in_words(&table.caption), vec![PageBlock::Table(table.table())])
    };
    let warnings = left_out(studies).map(|words| PageBlock::Warnings(vec![words]));
    let in_short = warnings.map(|warnings| Section::new("In short", vec![warnings]));
    HtmlPage {
        title: names.join(" · "),
        subtitle: format!(
            "{} studies, in the cells that all have; changes are relative to {}",
            studies.len(),
            names[0]
        ),
        sections: in_short.into_iter().chain(tables.iter().map(section)).collect(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::ManifestAxis;

    /// Returns a study of one axis, `nodes`, with the mean sojourn for each label.
    fn study(name: &str, means: &[(&str, f64)]) -> ComparedStudy {
        let axis = ManifestAxis {
            field: "cluster.nodes".to_owned(),
            values: means.iter().map(|(nodes, _)| (*nodes).to_owned()).collect(),
            numbers: BTreeMap::new(),
        };
        let sheet = StudyManifest {
            study: name.to_owned(),
            description: String::new(),
            model: 0,
            version: "0.0.0".to_owned(),
            axes: vec![axis],
            compare: None,
            against: Default::default(),
            seeds: vec![1],
            cells: Vec::new(),
            metrics: vec!["mean(sojourn)".to_owned()],
            charts: Vec::new(),
            expect: Vec::new(),
        };
        let mean = |(_, mean): &(&str, f64)| Some(CellMean { mean: Some(*mean) });
        let means_of_cells = means.iter().map(mean).collect();
        let metrics =
            vec![ComparedMetric { metric: "mean(sojourn)".to_owned(), cells: means_of_cells }];
        let cells = means.iter().map(|(nodes, _)| vec![(*nodes).to_owned()]).collect();
        ComparedStudy { name: name.to_owned(), sheet, cells, metrics, unsuccessful: 0 }
    }

    #[test]
    fn studies_are_compared_in_the_cells_that_all_have() {
        let before = study("before", &[("10", 80.0), ("20", 40.0)]);
        let after = study("after", &[("20", 30.0), ("30", 20.0)]);
        let mut studies = [before, after];
        let tables = side_by_side(&studies).unwrap();
        let told = "\
mean(sojourn)
  nodes   before    after   change
  20      40.0 s   30.0 s    0.75×
";
        assert_eq!(tell(&studies, &tables).bare(), told);
        studies[1].unsuccessful = 16;
        let left_out = "  Some jobs did not succeed, and times of jobs leave them out: 0 of before \
                        and 16 of after.\n";
        assert_eq!(tell(&studies, &tables).bare(), format!("{told}{left_out}"));
    }

    #[test]
    fn studies_without_a_common_cell_are_not_compared() {
        let [one, other] =
            [("one", "10"), ("other", "20")].map(|(name, nodes)| study(name, &[(nodes, 1.0)]));
        let Failure::Input(error) = side_by_side(&[one, other]).unwrap_err() else { panic!() };
        assert_eq!(
            error.to_string(),
            "the studies have no metric of the same cell in common\n  \
             one: mean(sojourn) over cluster.nodes\n  other: mean(sojourn) over cluster.nodes"
        );
    }
}
