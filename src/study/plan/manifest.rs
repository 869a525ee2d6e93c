//! The manifest of a study: with it, the results can be made from the runs.
//!
//! The study's folder has the manifest as `study.json`. With it, a machine that has neither the
//! scenario nor its traces can merge the shards that several machines did.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::draw::ChartSpec;
use crate::plan::compared::ComparedWith;
use crate::plan::runs::Plan;
use crate::plan::spec::Study;
use mumakil_base::files::STUDY;
use mumakil_results::expect::{self, Expectation, Space};
use mumakil_run::MODEL;
use mumakil_run::output::{OutputError, read_json};

/// A planned study, with the names of its runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StudyManifest {
    /// The study's name.
    pub study: String,
    /// Its purpose.
    pub description: String,
    /// The version of Mumakil that planned it.
    pub version: String,
    /// The number of its model; zero in manifests that do not tell it.
    #[serde(default)]
    pub model: u32,
    /// The axes.
    pub axes: Vec<ManifestAxis>,
    /// The axis whose values are compared.
    pub compare: Option<usize>,
    /// The compared pairs of values on the compared axis.
    #[serde(default, skip_serializing_if = "ComparedWith::is_usual")]
    pub against: ComparedWith,
    /// The seeds of each cell.
    pub seeds: Vec<u64>,
    /// Whether published numbers are of the same seeds, and no sample of others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub same_seeds: bool,
    /// The cells.
    pub cells: Vec<ManifestCell>,
    /// The metrics of each cell.
    pub metrics: Vec<String>,
    /// The charts.
    pub charts: Vec<ChartSpec>,
    /// The expectations of the results.
    pub expect: Vec<Expectation>,
}

/// An axis in `study.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ManifestAxis {
    /// The path of the field that varies.
    pub field: String,
    /// The labels of its values.
    pub values: Vec<String>,
    /// By label, the texts of the values whose label differs from their text.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub numbers: BTreeMap<String, String>,
}

/// A cell in `study.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ManifestCell {
    /// For each axis, the index of the cell's value.
    pub values: Vec<usize>,
    /// The names of its runs, seed by seed.
    pub runs: Vec<String>,
}

impl StudyManifest {
    /// Returns the manifest of a planned study.
    pub fn new(study: &Study, plan: &Plan) -> Self {
        // Every cell has the same number of runs. A plan has at least one cell, since `wanted`
        // refuses a plan without cells.
        let seeds = plan.runs.len() / plan.cells.len();
        let cells =
            plan.cells.iter().zip(plan.runs.chunks(seeds)).map(|(cell, runs)| ManifestCell {
                values: cell.values.clone(),
                runs: runs.iter().map(|run| run.id.clone()).collect(),
            });
        Self {
            study: study.name.as_str().to_owned(),
            description: study.description.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            model: MODEL,
            axes: study.sweep.axes.iter().map(ManifestAxis::of).collect(),
            compare: study.compare,
            against: study.against,
            seeds: plan.runs[..seeds].iter().map(|run| run.seed).collect(),
            same_seeds: study.experiment.as_ref().is_some_and(|about| about.same_seeds),
            cells: cells.collect(),
            metrics: study.metrics.clone(),
            charts: study.charts.clone(),
            expect: study.expect.clone(),
        }
    }

    /// Returns the manifest without the cells that contain any of these runs; `None` if no cell is
    /// left. The result has no expectations, since expectations are about all cells.
    pub fn without(&self, runs: &[&str]) -> Option<Self> {
        let whole =
            self.cells.iter().filter(|cell| !cell.runs.iter().any(|run| runs.contains(&&**run)));
        let cells: Vec<ManifestCell> = whole.cloned().collect();
        let (left, all) = (cells.len(), self.cells.len());
        let story = format!(
            "Of {all} combinations {} are left out, in which a run failed. {}",
            all - left,
            self.description
        );
        let description = story.trim_end().to_owned();
        let expect = Vec::new();
        (0 < left).then(|| Self { cells, description, expect, ..self.clone() })
    }

    /// Returns whether a program of another model or version has planned it, whose runs have other
    /// names.
    pub fn is_foreign(&self) -> bool {
        self.model != MODEL || self.version != env!("CARGO_PKG_VERSION")
    }

    /// Returns the axes in the form that expressions use.
    pub fn space(&self) -> Space {
        Space { axes: self.axes.iter().map(ManifestAxis::space).collect(), compared: self.compare }
    }

    /// Returns the runs' names, cell by cell; two cells may share a run.
    pub fn runs(&self) -> impl Iterator<Item = &str> {
        self.cells.iter().flat_map(|cell| cell.runs.iter().map(String::as_str))
    }

    /// Returns the labels of a cell's values, axis by axis.
    pub fn labels<'s>(&'s self, cell: &'s ManifestCell) -> impl Iterator<Item = &'s str> {
        self.axes.iter().zip(&cell.values).map(|(axis, value)| axis.values[*value].as_str())
    }
}

impl ManifestAxis {
    fn of(axis: &crate::plan::axes::Axis) -> Self {
        let numbers = axis.values.iter().filter(|value| value.label != value.text);
        Self {
            field: axis.name.clone(),
            values: axis.values.iter().map(|value| value.label.clone()).collect(),
            numbers: numbers.map(|value| (value.label.clone(), value.text.clone())).collect(),
        }
    }

    /// Returns the axis in the form that expressions use.
    pub(crate) fn space(&self) -> expect::SpaceAxis {
        let values = self.values.iter().map(|label| {
            let text = self.numbers.get(label).unwrap_or(label);
            expect::SpaceValue { label: label.clone(), ..expect::SpaceValue::new(text) }
        });
        expect::SpaceAxis { path: self.field.clone(), values: values.collect() }
    }

    /// Returns whether all values of the axis are numbers.
    pub fn is_numeric(&self) -> bool {
        self.space().values.iter().all(|value| value.number.is_some())
    }

    /// Returns the last key of the field's path.
    pub fn short(&self) -> &str {
        self.field.rsplit('.').next().unwrap_or(&self.field)
    }
}

/// Reads the manifest in a study's folder.
///
/// # Errors
/// If the manifest is missing or invalid.
pub fn read_manifest(folder: &Path) -> Result<StudyManifest, OutputError> {
    read_json(&folder.join(STUDY))
}
