//! The numbers of a study's runs: those of each cell, comparisons, verdicts.

use crate::conclude::comparisons::{Comparison, ComparisonOddity, comparisons, oddities};
use crate::conclude::study_runs::StudyRuns;
use crate::plan::manifest::StudyManifest;
use mumakil_base::statistics::{Estimate, interval, quantile, standard_deviation};
use mumakil_results::expect::{ExpectationVerdict, Expr, ExprComplaint, Unit};
use mumakil_results::tables::{ReadError, Results as _};
use mumakil_run::output::results::RunResults;

/// The numbers of a study.
#[derive(Debug)]
pub struct StudyFindings {
    /// The outcomes of the jobs of each run, for each cell and seed.
    pub jobs: Vec<Vec<JobsOfRun>>,
    /// The metrics.
    pub metrics: Vec<Metric>,
    /// The compared values beside each other, for each metric and cell of the other axes.
    pub comparisons: Vec<Comparison>,
    /// The verdict on each expectation.
    pub verdicts: Vec<ExpectationVerdict>,
}

/// How many jobs of a run did not come to a good end.
#[derive(Clone, Copy, Debug)]
pub struct JobsOfRun {
    /// How many failed.
    pub failed: u64,
    /// How many had not ended when the run did.
    pub left: u64,
}

/// A metric and its numbers.
#[derive(Debug)]
pub struct Metric {
    /// The expression.
    pub text: String,
    /// The unit of its numbers.
    pub unit: Unit,
    /// The axes of which it has chosen the values itself, so that its number is the same for all.
    pub chosen: Vec<usize>,
    /// Its number for each cell and seed; `None` where a run has none.
    pub numbers: Vec<Vec<Option<f64>>>,
    /// The numbers of each cell in short, if there are any.
    pub cells: Vec<Option<CellNumbers>>,
}

/// The numbers of a cell in short.
#[derive(Clone, Copy, Debug)]
pub struct CellNumbers {
    /// Their mean with its 95 % interval.
    pub mean: Estimate,
    /// Their median.
    pub median: f64,
    /// Their standard deviation; `None` of one.
    pub deviation: Option<f64>,
}

/// Why the numbers of a study cannot be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FindingsError {
    /// A run's results cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// An expression of the study makes no sense; one that was planned does.
    #[error("`{text}`: {complaint}")]
    Expression {
        /// The expression.
        text: String,
        /// The complaint about it.
        complaint: ExprComplaint,
    },
}

impl CellNumbers {
    /// Returns what numbers come to, if there are any.
    pub(crate) fn of(numbers: &[Option<f64>]) -> Option<Self> {
        let numbers: Vec<f64> = numbers.iter().flatten().copied().collect();
        Some(Self {
            mean: interval(&numbers)?,
            median: quantile(&numbers, 0.5)?,
            deviation: standard_deviation(&numbers),
        })
    }
}

impl StudyFindings {
    /// Reads the runs of a study, all of which are there.
    pub(crate) fn of(sheet: &StudyManifest, runs: &StudyRuns<'_>) -> Result<Self, FindingsError> {
        let space = sheet.space();
        let planned = |text: &str, plan: Result<_, ExprComplaint>| {
            plan.map_err(|complaint| FindingsError::Expression { text: text.to_owned(), complaint })
        };
        let metric = |text: &String| {
            let plan = Expr::parse(text).and_then(|expr| expr.metric(&space));
            let plan = planned(text, plan)?;
            let (unit, chosen) = (plan.unit(), plan.chosen());
            let metric =
                Metric { text: text.clone(), unit, chosen, numbers: Vec::new(), cells: Vec::new() };
            Ok((plan, metric))
        };
        let metrics = sheet.metrics.iter().map(metric);
        let mut metrics = metrics.collect::<Result<Vec<_>, FindingsError>>()?;
        let mut jobs = Vec::new();
        // Cell by cell, all metrics of each: its summaries stay in memory until the next cells need
        // the room.
        for (place, cell) in sheet.cells.iter().enumerate() {
            jobs.push(runs.of(place).map(JobsOfRun::read).collect::<Result<_, _>>()?);
            for (plan, metric) in &mut metrics {
                let numbers = plan.measure(runs, &cell.values)?;
                metric.cells.push(CellNumbers::of(&numbers));
                metric.numbers.push(numbers);
            }
        }
        let metrics: Vec<Metric> = metrics.into_iter().map(|(_, metric)| metric).collect();
        let mut verdicts = Vec::new();
        for expected in &sheet.expect {
            let plan = Expr::parse(&expected.that).and_then(|expr| expr.expectation(&space));
            let plan = planned(&expected.that, plan)?;
            verdicts.push(plan.verdict(runs, expected)?);
        }
        let comparisons = comparisons(sheet, &metrics);
        Ok(Self { jobs, metrics, comparisons, verdicts })
    }

    /// Returns the seeds of which a ratio is far from those of the others, the farthest first.
    pub fn oddities(&self) -> Vec<ComparisonOddity> {
        oddities(&self.comparisons)
    }

    /// Returns reasons to doubt the numbers.
    pub fn warnings(&self) -> Vec<String> {
        let runs: Vec<&JobsOfRun> = self.jobs.iter().flatten().collect();
        let warn = |what: &str, count: fn(&JobsOfRun) -> u64, so: &str| {
            let found = runs.iter().filter(|run| 0 < count(run)).count();
            (0 < found).then(|| format!("In {found} of {} runs jobs {what}{so}.", runs.len()))
        };
        let so = ": numbers of jobs are of those that ended, and there is no makespan";
        let warnings =
            [warn("were left", |run| run.left, so), warn("failed", |run| run.failed, "")];
        warnings.into_iter().flatten().collect()
    }
}

impl JobsOfRun {
    fn read(run: &RunResults) -> Result<Self, ReadError> {
        let count = |path: &str| Ok(run.number(path)?.unwrap_or_default() as u64);
        let failed = count("jobs_failed")?;
        let ended = failed + count("jobs_succeeded")? + count("jobs_killed")?;
        // Jobs that the run's end has cut off are in `jobs`, but among no outcome.
        Ok(Self { failed, left: count("jobs")?.saturating_sub(ended) })
    }
}
