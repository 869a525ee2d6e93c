//! The numbers of a study: the metrics of each cell, the comparisons, the verdicts.

use crate::conclude::comparisons::{Comparison, ComparisonOddity, comparisons, oddities};
use crate::conclude::same_runs;
use crate::conclude::study_runs::StudyRuns;
use crate::plan::manifest::StudyManifest;
use crate::plan::overloaded::marked_cells;
use mumakil_base::statistics::{Estimate, interval, quantile, standard_deviation};
use mumakil_base::units::tell::{count, counted, listed};
use mumakil_results::expect::{ExpectationVerdict, Expr, ExprComplaint, ExprPlan, Space, Unit};
use mumakil_results::tables::{ReadError, Results as _};
use mumakil_run::output::results::RunResults;

/// The most cells whose left-out jobs a sentence tells.
// Chosen: about two lines on a terminal.
const MOST_TOLD: usize = 4;

/// The numbers of a study.
#[derive(Debug)]
pub struct StudyFindings {
    /// For each cell and seed, the number of unsuccessful jobs.
    pub jobs: Vec<Vec<JobsOfRun>>,
    /// Sentences about cells whose runs are the same.
    pub(crate) same: Vec<String>,
    /// The metrics.
    pub metrics: Vec<Metric>,
    /// For each metric and cell of the other axes, the compared values side by side.
    pub comparisons: Vec<Comparison>,
    /// The verdict on each expectation.
    pub verdicts: Vec<ExpectationVerdict>,
}

/// The numbers of unsuccessful jobs in a run, and whether the cluster kept up with them.
#[derive(Clone, Copy, Debug)]
pub struct JobsOfRun {
    /// All jobs.
    pub jobs: u64,
    /// Jobs that failed.
    pub failed: u64,
    /// Jobs that were killed.
    pub killed: u64,
    /// Jobs that the policy refused.
    pub refused: u64,
    /// Jobs that had not ended when the run did.
    pub left: u64,
    /// Whether the cluster did not keep up with the jobs that arrived.
    pub is_overloaded: bool,
}

/// A metric and its numbers.
#[derive(Debug)]
pub struct Metric {
    /// The expression.
    pub text: String,
    /// The unit of its values.
    pub unit: Unit,
    /// The axes whose values the metric chooses itself; the metric is the same along these axes.
    pub chosen: Vec<usize>,
    /// Its value for each cell and seed; `None` if the run lacks the value.
    pub numbers: Vec<Vec<Option<f64>>>,
    /// A summary of each cell's values; `None` if the cell has no values.
    pub cells: Vec<Option<CellNumbers>>,
}

/// A summary of a cell's values.
#[derive(Clone, Copy, Debug)]
pub struct CellNumbers {
    /// The mean with its 95 % interval.
    pub mean: Estimate,
    /// The median.
    pub median: f64,
    /// The standard deviation; `None` for a single value.
    pub deviation: Option<f64>,
}

/// A reason why the numbers of a study cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FindingsError {
    /// A run's results cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// An expression of the study is invalid; a planned study has no invalid expressions.
    #[error("`{text}`: {complaint}")]
    Expression {
        /// The expression.
        text: String,
        /// The error in it.
        complaint: ExprComplaint,
    },
}

/// Returns the plan of a metric in a study's space.
pub fn planned_metric(text: &str, space: &Space) -> Result<ExprPlan, FindingsError> {
    let plan = Expr::parse(text).and_then(|expr| expr.metric(space));
    plan.map_err(|complaint| FindingsError::Expression { text: text.to_owned(), complaint })
}

impl CellNumbers {
    /// Returns the summary of some values; `None` if there are no values.
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
    /// Reads the runs of a study, which must all be done.
    pub(crate) fn of(sheet: &StudyManifest, runs: &StudyRuns<'_>) -> Result<Self, FindingsError> {
        let space = sheet.space();
        let metric = |text: &String| {
            let plan = planned_metric(text, &space)?;
            let (unit, chosen) = (plan.unit(), plan.chosen());
            let metric =
                Metric { text: text.clone(), unit, chosen, numbers: Vec::new(), cells: Vec::new() };
            Ok((plan, metric))
        };
        let mut metrics =
            sheet.metrics.iter().map(metric).collect::<Result<Vec<_>, FindingsError>>()?;
        let (mut jobs, mut digests) = (Vec::new(), Vec::new());
        // Read all metrics of a cell before the next cell: the summaries of a cell stay in memory
        // only until the next cells need the room.
        for (place, cell) in sheet.cells.iter().enumerate() {
            runs.check(place)?;
            jobs.push(runs.of(place).map(JobsOfRun::read).collect::<Result<_, _>>()?);
            digests.push(runs.of(place).map(same_runs::digest).collect::<Result<_, _>>()?);
            for (plan, metric) in &mut metrics {
                let numbers = plan.measure(runs, &cell.values)?;
                metric.cells.push(CellNumbers::of(&numbers));
                metric.numbers.push(numbers);
            }
        }
        let metrics: Vec<Metric> = metrics.into_iter().map(|(_, metric)| metric).collect();
        let mut verdicts = Vec::new();
        for expected in &sheet.expect {
            let parsed = Expr::parse(&expected.that).and_then(|expr| expr.expectation(&space));
            let plan = parsed.map_err(|complaint| FindingsError::Expression {
                text: expected.that.clone(),
                complaint,
            })?;
            verdicts.push(plan.verdict(runs, expected)?);
        }
        let comparisons = comparisons(sheet, &metrics, &jobs);
        let same = same_runs::same_cells(sheet, &digests);
        Ok(Self { jobs, same, metrics, comparisons, verdicts })
    }

    /// Returns the seeds whose ratio is far from the ratios of the other seeds, the farthest first.
    pub fn oddities(&self) -> Vec<ComparisonOddity> {
        oddities(&self.comparisons)
    }

    /// Returns for each cell how many jobs did not succeed in its runs.
    pub(crate) fn unsuccessful(&self) -> Vec<u64> {
        self.jobs.iter().map(|runs| runs.iter().map(JobsOfRun::unsuccessful).sum()).collect()
    }

    /// Returns whether a cell, given by its index, was overloaded in at least half of its runs: a
    /// run that keeps up is called overloaded once in twenty times.
    pub fn is_overloaded(&self, cell: usize) -> bool {
        let runs = &self.jobs[cell];
        let overloaded = runs.iter().filter(|run| run.is_overloaded).count();
        0 < overloaded && runs.len() <= 2 * overloaded
    }

    /// Returns the cells of the study, each with whether it is overloaded.
    pub(crate) fn marked<'s>(&self, sheet: &'s StudyManifest) -> Vec<(&'s [usize], bool)> {
        let cells = sheet.cells.iter().enumerate();
        cells.map(|(place, cell)| (&cell.values[..], self.is_overloaded(place))).collect()
    }

    /// Returns reasons to doubt the numbers, in words.
    pub fn warnings(&self, sheet: &StudyManifest) -> Vec<String> {
        let runs: Vec<&JobsOfRun> = self.jobs.iter().flatten().collect();
        let warn = |what: &str, count: fn(&JobsOfRun) -> u64, so: &str| {
            let found = runs.iter().filter(|run| 0 < count(run)).count();
            (0 < found).then(|| format!("In {found} of {} runs jobs {what}{so}.", runs.len()))
        };
        let so = ": numbers of jobs are of those that ended, and there is no makespan";
        let warnings =
            [warn("were left", |run| run.left, so), self.left_out(sheet)].into_iter().flatten();
        warnings.chain(self.overload(sheet)).chain(self.same.iter().cloned()).collect()
    }

    /// Returns sentences about the jobs that failed, were killed or refused, and that sojourns
    /// therefore leave out; `None` without any. The cells with the most come first.
    fn left_out(&self, sheet: &StudyManifest) -> Option<String> {
        let lost = |runs: &[JobsOfRun], of: fn(&JobsOfRun) -> u64| runs.iter().map(of).sum::<u64>();
        let runs: Vec<&JobsOfRun> = self.jobs.iter().flatten().collect();
        let lost_of = |run: &JobsOfRun| run.unsuccessful() - run.left;
        let found = runs.iter().filter(|run| 0 < lost_of(run)).count();
        let kinds = [
            ("failed", runs.iter().any(|run| 0 < run.failed)),
            ("were killed", runs.iter().any(|run| 0 < run.killed)),
            ("were refused", runs.iter().any(|run| 0 < run.refused)),
        ];
        let ends = kinds.into_iter().filter(|(_, is_so)| *is_so).map(|(end, _)| end.to_owned());
        let space = sheet.space();
        let axes: Vec<usize> =
            (0..space.axes.len()).filter(|axis| 1 < space.axes[*axis].values.len()).collect();
        let losses = sheet.cells.iter().zip(&self.jobs).map(|(cell, runs)| {
            let place = space.describe(&cell.values, &axes);
            let at = if place.is_empty() { place } else { format!(" with {place}") };
            (lost(runs, lost_of), lost(runs, |run| run.jobs), at)
        });
        let mut cells: Vec<(u64, u64, String)> = losses.filter(|(lost, ..)| 0 < *lost).collect();
        cells.sort_by_key(|(lost, ..)| std::cmp::Reverse(*lost));
        let more = cells.len().saturating_sub(MOST_TOLD);
        let named = cells.into_iter().take(MOST_TOLD);
        let told: Vec<String> = named
            .map(|(lost, all, at)| format!("{} of {}{at}", count(lost), counted(all, "job")))
            .chain((0 < more).then(|| counted(more as u64, "more cell")))
            .collect();
        (0 < found).then(|| {
            format!(
                "In {found} of {} runs jobs {}. Sojourns, slowdowns and other times of jobs leave \
                 them out: {}.",
                runs.len(),
                listed(ends, "or"),
                told.join("; ")
            )
        })
    }

    /// Returns a sentence about the overloaded cells; `None` without any.
    fn overload(&self, sheet: &StudyManifest) -> Option<String> {
        let (marked, space) = (self.marked(sheet), sheet.space());
        let overloaded = marked.iter().filter(|(_, mark)| *mark).count();
        (0 < overloaded).then(|| {
            format!(
                "In {overloaded} of {} the cluster does not keep up with the jobs, so sojourns \
                 measure how many jobs there are: {}.",
                counted(marked.len() as u64, "cell"),
                marked_cells(&marked, |axis, value| space.setting(axis, value)),
            )
        })
    }
}

impl JobsOfRun {
    /// Returns how many jobs did not succeed; times of jobs leave them out.
    pub(crate) const fn unsuccessful(&self) -> u64 {
        self.failed + self.killed + self.refused + self.left
    }

    pub(crate) fn read(run: &RunResults) -> Result<Self, ReadError> {
        let count = |path: &str| Ok(run.number(path)?.unwrap_or_default() as u64);
        let (jobs, failed, killed) = (count("jobs")?, count("jobs_failed")?, count("jobs_killed")?);
        let refused = run.number_if_there("jobs_refused")?.unwrap_or_default() as u64;
        let ended = failed + refused + count("jobs_succeeded")? + killed;
        // `jobs` also counts the jobs that were unfinished at the end of the run; the counts of
        // outcomes do not.
        // A run of an earlier version says nothing about its load.
        let is_overloaded = run.number_if_there("load.overloaded")? == Some(1.0);
        Ok(Self { jobs, failed, killed, refused, left: jobs.saturating_sub(ended), is_overloaded })
    }
}
