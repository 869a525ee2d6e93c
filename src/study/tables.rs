//! What a study's runs come to: `runs.csv`, `cells.csv`, `comparisons.csv`, `summary.json`.
//!
//! Times are in seconds, sizes in bytes, shares parts of one; the heading says so. An interval is
//! of 95 %: Student's, or the bootstrap's where the values of a cell are skewed. Comparisons pair
//! runs of the same seed, which have the same jobs and the same luck.

use std::io;

use serde::Serialize;

use super::sheet::{Sheet, SheetCell, StudyRuns};
use crate::expect::{self, Expr, ReadError, Unit, Verdict};
use crate::random::{Purpose, stream};
use crate::statistics::{
    Estimate, bootstrap, differences, mean, quantile, ratios, skewness, standard_deviation, student,
};

/// Below so many values nobody can say whether they are skewed.
const SKEWED_FROM: usize = 8;

/// The numbers of a study.
#[derive(Debug)]
pub struct Findings {
    /// The metrics.
    pub metrics: Vec<Metric>,
    /// What became of each expectation; none if runs are missing.
    pub verdicts: Vec<Verdict>,
    /// The comparisons of the compared axis' values with its first.
    pub comparisons: Vec<Compared>,
}

/// A metric and its numbers.
#[derive(Debug)]
pub struct Metric {
    /// The expression.
    pub text: String,
    /// What its numbers are of.
    pub unit: Unit,
    /// Its number for each cell and seed; `None` where a run has none.
    pub numbers: Vec<Vec<Option<f64>>>,
}

/// A metric under one value of the compared axis, less or over that under the first.
#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    /// The metric.
    pub metric: String,
    /// The cell, but for the compared axis.
    pub cell: String,
    /// The first value.
    pub base: String,
    /// The other value.
    pub other: String,
    /// The other's less the first's, seed by seed.
    pub difference: Band,
    /// The other's over the first's, seed by seed.
    pub ratio: Band,
}

/// An estimate with its 95 % interval.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Band {
    /// The mean.
    pub mean: Option<f64>,
    /// The lower end.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
}
