//! A study's own files: `runs.csv`, `cells.csv`, `comparisons.csv`, `summary.json`.
//!
//! Times are in seconds, sizes in bytes, shares between 0 and 1; the headings say so. Intervals are
//! of 95 %, and need at least two numbers. `n` is the number of runs that have the number: some
//! runs may lack it.

use serde_json::json;

use crate::conclude::findings::{Metric, StudyFindings};
use crate::plan::manifest::StudyManifest;
use mumakil_base::statistics::Estimate;
use mumakil_results::expect::Unit;

/// Returns `runs.csv`: a row for each run. The column `left` counts the jobs that had not ended.
pub(crate) fn runs(sheet: &StudyManifest, findings: &StudyFindings) -> Vec<u8> {
    let axes = sheet.axes.iter().map(|axis| axis.field.clone());
    let metrics = findings.metrics.iter().map(heading);
    let last = ["failed", "left", "run"].map(str::to_owned);
    let mut table = CsvTable::new(axes.chain(["seed".to_owned()]).chain(metrics).chain(last));
    for (number, cell) in sheet.cells.iter().enumerate() {
        for (place, (seed, run)) in sheet.seeds.iter().zip(&cell.runs).enumerate() {
            let numbers =
                findings.metrics.iter().map(|metric| cell_of(metric.numbers[number][place]));
            let labels = sheet.labels(cell).map(str::to_owned);
            let jobs = findings.jobs[number][place];
            let last = [jobs.failed.to_string(), jobs.left.to_string(), run.clone()];
            table.row(labels.chain([seed.to_string()]).chain(numbers).chain(last));
        }
    }
    table.bytes()
}

/// Returns `cells.csv`: a row for each cell.
pub(crate) fn cells(sheet: &StudyManifest, findings: &StudyFindings) -> Vec<u8> {
    let axes = sheet.axes.iter().map(|axis| axis.field.clone());
    let metrics = findings.metrics.iter().flat_map(|metric| {
        let numbers = ["mean", "low", "high", "median", "sd"]
            .map(|word| format!("{} {word}{}", metric.text, unit(metric.unit)));
        numbers.into_iter().chain([format!("{} n", metric.text)])
    });
    let mut table = CsvTable::new(axes.chain(["runs".to_owned()]).chain(metrics));
    for (number, cell) in sheet.cells.iter().enumerate() {
        let numbers = findings.metrics.iter().flat_map(|metric| {
            let found = metric.cells[number];
            let of = found.map(|found| found.mean);
            let more = [
                found.map(|found| found.median),
                found.and_then(|found| found.deviation),
                Some(of.map_or(0.0, |of| of.n as f64)),
            ];
            estimate(of).into_iter().chain(more.map(cell_of))
        });
        let labels = sheet.labels(cell).map(str::to_owned);
        table.row(labels.chain([cell.runs.len().to_string()]).chain(numbers));
    }
    table.bytes()
}

/// Returns `comparisons.csv`: a row for each metric, cell of the other axes and pair of compared
/// values.
pub(crate) fn comparisons(sheet: &StudyManifest, findings: &StudyFindings) -> Vec<u8> {
    let axes = sheet.axes.iter().enumerate().filter(|(axis, _)| Some(*axis) != sheet.compare);
    let others = axes.map(|(_, axis)| axis.field.clone());
    let difference = ["base", "other", "difference", "low", "high"];
    let numbers = difference.into_iter().chain(["ratio", "ratio low", "ratio high", "n"]);
    let judged = numbers.chain(["p", "verdict", "more seeds", "outliers"]);
    let words = judged.chain(["base unsuccessful", "other unsuccessful"]).map(str::to_owned);
    let mut table = CsvTable::new(["metric".to_owned()].into_iter().chain(others).chain(words));
    for found in &findings.comparisons {
        // Difference and ratio come from the same seeds, so one count is enough.
        let n = found.pair.difference.map_or(0, |difference| difference.n).to_string();
        let numbers =
            [found.pair.difference, found.pair.ratio].into_iter().flat_map(estimate).chain([n]);
        let labels = [found.metric.clone()].into_iter().chain(found.cell.iter().cloned());
        let outliers = found.outliers.iter().map(|outlier| outlier.seed.to_string());
        let texts = [
            cell_of(found.pair.p),
            found.pair.verdict.word().to_owned(),
            found.pair.more_seeds.map_or(String::new(), |more| more.to_string()),
            outliers.collect::<Vec<_>>().join(" "),
        ];
        let last = texts.into_iter().chain(found.unsuccessful.map(|jobs| jobs.to_string()));
        let sides = [found.base.clone(), found.other.clone()];
        table.row(labels.chain(sides).chain(numbers).chain(last));
    }
    table.bytes()
}

/// Returns `summary.json`: the study, its metrics, and the verdicts on its expectations.
pub(crate) fn summary(sheet: &StudyManifest, findings: &StudyFindings) -> Vec<u8> {
    let metric = |metric: &Metric| {
        let cells = metric.cells.iter().map(|found| found.map(|found| found.mean));
        json!({
            "metric": metric.text,
            "unit": unit(metric.unit).trim(),
            "cells": cells.collect::<Vec<_>>(),
        })
    };
    let expectations = sheet
        .expect
        .iter()
        .zip(&findings.verdicts)
        .map(|(expected, found)| found.to_json(expected));
    let summary = json!({
        "study": sheet.study,
        "version": sheet.version,
        "axes": sheet.axes,
        "seeds": sheet.seeds,
        "cells": sheet.cells.iter().map(|cell| sheet.labels(cell).collect()).collect::<Vec<Vec<_>>>(),
        "unsuccessful": findings.unsuccessful(),
        "metrics": findings.metrics.iter().map(metric).collect::<Vec<_>>(),
        "comparisons": findings.comparisons,
        "expectations": expectations.collect::<Vec<_>>(),
    });
    let mut text = serde_json::to_vec_pretty(&summary).expect("numbers and texts are JSON");
    text.push(b'\n');
    text
}

fn heading(metric: &Metric) -> String {
    format!("{}{}", metric.text, unit(metric.unit))
}

/// Returns the suffix of a heading for a unit.
fn unit(unit: Unit) -> String {
    match unit.sign() {
        sign if sign.is_empty() => sign,
        sign => format!(" [{sign}]"),
    }
}

/// Returns the three cells of an estimate: the mean and the ends of its interval.
fn estimate(of: Option<Estimate>) -> [String; 3] {
    let band = of.and_then(|of| of.band);
    [of.map(|of| of.mean), band.map(|band| band.low), band.map(|band| band.high)].map(cell_of)
}

/// Returns a number rounded to nine decimals, so that the last bits of a sum do not show as
/// 0.30000000000000004; an empty text for `None`.
fn cell_of(number: Option<f64>) -> String {
    number.map_or(String::new(), |number| ((number * 1e9).round() / 1e9).to_string())
}

/// A table in memory; for a million runs it has about a hundred megabytes.
struct CsvTable {
    writer: csv::Writer<Vec<u8>>,
}

impl CsvTable {
    fn new(heading: impl IntoIterator<Item = String>) -> Self {
        let mut table = Self { writer: csv::Writer::from_writer(Vec::new()) };
        table.row(heading);
        table
    }

    fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.writer.write_record(cells).expect("rows have equal lengths");
    }

    fn bytes(self) -> Vec<u8> {
        self.writer.into_inner().expect("memory takes it")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::conclude::findings::CellNumbers;
    use crate::plan::manifest::{ManifestAxis, ManifestCell};

    #[test]
    fn a_row_says_of_how_many_numbers_it_is_and_one_has_no_interval() {
        let numbers =
            [vec![Some(1.0), None, Some(1.0)], vec![None, Some(7.0), None], vec![None; 3]];
        let cell = |value| ManifestCell { values: vec![value], runs: vec![String::new(); 3] };
        let axis = ManifestAxis {
            field: "x".to_owned(),
            values: ["a", "b", "c"].map(str::to_owned).into(),
            numbers: BTreeMap::new(),
        };
        let sheet = StudyManifest {
            study: "test".to_owned(),
            description: String::new(),
            version: "0.0.0".to_owned(),
            model: 0,
            axes: vec![axis],
            compare: None,
            against: Default::default(),
            seeds: vec![1, 2, 3],
            same_seeds: false,
            cells: (0..3).map(cell).collect(),
            metrics: Vec::new(),
            charts: Vec::new(),
            expect: Vec::new(),
        };
        let metric = Metric {
            text: "m".to_owned(),
            unit: Unit::PLAIN,
            chosen: Vec::new(),
            cells: numbers.iter().map(|numbers| CellNumbers::of(numbers)).collect(),
            numbers: numbers.into(),
        };
        let findings = StudyFindings {
            same: Vec::new(),
            jobs: Vec::new(),
            metrics: vec![metric],
            comparisons: Vec::new(),
            verdicts: Vec::new(),
        };
        assert_eq!(
            String::from_utf8(cells(&sheet, &findings)).unwrap(),
            "x,runs,m mean,m low,m high,m median,m sd,m n\n\
             a,3,1,1,1,1,0,2\nb,3,7,,,7,,1\nc,3,,,,,,0\n"
        );
    }
}
