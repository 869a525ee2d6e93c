//! The error of a prediction: each job as the log has it, beside the same job as it was replayed.

use std::collections::BTreeMap;

use crate::statistics::{Band, interval, mean, quantile};
use crate::tables::JobRow;
use crate::workload::rumen::{LoggedOutcome, LoggedTimes};

/// The parts of a job's sojourn. They add up to it.
pub(super) const PARTS: [&str; 3] = ["wait", "map phase", "reduce phase"];

/// A job in the log and in the replay; times in milliseconds.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct JudgedJob {
    pub(super) name: String,
    pub(super) logged: JobSpans,
    pub(super) predicted: JobSpans,
}

/// How long a job took, and its parts; `None` if an instant between two parts is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct JobSpans {
    pub(super) sojourn: u64,
    pub(super) parts: Option<[u64; 3]>,
}

impl JobSpans {
    fn new(submit: u64, launch: Option<u64>, maps_done: Option<u64>, finish: u64) -> Option<Self> {
        let parts = launch.zip(maps_done).and_then(|(launch, maps_done)| {
            Some([
                launch.checked_sub(submit)?,
                maps_done.checked_sub(launch)?,
                finish.checked_sub(maps_done)?,
            ])
        });
        Some(Self { sojourn: finish.checked_sub(submit)?, parts })
    }

    /// Returns the spans of a job that succeeded in the log.
    fn logged(job: &LoggedTimes) -> Option<Self> {
        let has_ended = matches!(job.outcome, Some(LoggedOutcome::Success) | None);
        let finish = job.finish.filter(|_| has_ended)?;
        Self::new(job.submit, job.first_launch, job.maps_done, finish)
    }

    /// Returns the spans of a job that succeeded in a run.
    fn of(job: &JobRow) -> Option<Self> {
        let finish = job.finish_ms.filter(|_| job.outcome.is_measured())?;
        Self::new(job.submit_ms, job.first_launch_ms, job.maps_done_ms, finish)
    }
}

impl JudgedJob {
    /// Returns how much longer the job took in the prediction than in the log, as a share of its
    /// logged sojourn.
    pub(super) fn error(&self) -> f64 {
        self.share(self.predicted.sojourn, self.logged.sojourn)
    }

    /// Returns how much longer a part took, as a share of the logged sojourn.
    pub(super) fn error_of(&self, part: usize) -> Option<f64> {
        let (predicted, logged) = self.predicted.parts.zip(self.logged.parts)?;
        Some(self.share(predicted[part], logged[part]))
    }

    fn share(&self, predicted: u64, logged: u64) -> f64 {
        let whole = self.logged.sojourn.max(1) as f64;
        (predicted as f64 - logged as f64) / whole
    }

    /// Returns the part that differs most, and by how many seconds.
    pub(super) fn largest(&self) -> Option<(&'static str, f64)> {
        let errors = (0..PARTS.len()).filter_map(|part| Some((part, self.error_of(part)?)));
        let (part, share) = errors.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))?;
        Some((PARTS[part], share * self.logged.sojourn as f64 / 1e3))
    }
}

/// Pairs the jobs of a log with those of a run, by name. Returns the pairs, and how many jobs have
/// none, as they did not succeed in both.
pub(super) fn judged(logged: &[LoggedTimes], run: &[JobRow]) -> (Vec<JudgedJob>, usize) {
    let rows: BTreeMap<&str, &JobRow> = run.iter().map(|row| (row.name.as_str(), row)).collect();
    let pair = |job: &LoggedTimes| {
        let row = rows.get(job.name.as_str())?;
        let (logged, predicted) = (JobSpans::logged(job)?, JobSpans::of(row)?);
        Some(JudgedJob { name: job.name.clone(), logged, predicted })
    };
    let pairs: Vec<JudgedJob> = logged.iter().filter_map(pair).collect();
    let without = logged.len() - pairs.len();
    (pairs, without)
}

/// The sizes of some errors, as shares of sojourns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ErrorSizes {
    pub(super) mean: f64,
    pub(super) median: f64,
    pub(super) p90: f64,
    pub(super) worst: f64,
}

impl ErrorSizes {
    /// Returns the sizes; `None` without errors.
    pub(super) fn of(errors: impl Iterator<Item = f64>) -> Option<Self> {
        let sizes: Vec<f64> = errors.map(f64::abs).collect();
        Some(Self {
            mean: mean(&sizes)?,
            median: quantile(&sizes, 0.5)?,
            p90: quantile(&sizes, 0.9)?,
            worst: quantile(&sizes, 1.0)?,
        })
    }
}

/// By what to multiply a prediction, since the logged sojourns were so many times the predicted ones.
/// Other settings may have another error, so a band always has the prediction itself in it: an error
/// to one side alone widens the band to that side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ErrorBands {
    /// For the mean of many jobs: the 95 % interval of the mean ratio, and 1.
    pub(super) mean: Option<Band>,
    /// For one job: the ratios of nine jobs of ten, and 1.
    pub(super) job: Band,
}

impl ErrorBands {
    /// Returns the bands; `None` without jobs.
    pub(super) fn of(jobs: &[JudgedJob]) -> Option<Self> {
        let ratio =
            |job: &JudgedJob| job.logged.sojourn as f64 / job.predicted.sojourn.max(1) as f64;
        let ratios: Vec<f64> = jobs.iter().map(ratio).collect();
        let job = Band { low: quantile(&ratios, 0.05)?, high: quantile(&ratios, 0.95)? };
        let with_one = |band: Band| Band { low: band.low.min(1.0), high: band.high.max(1.0) };
        Some(Self { mean: interval(&ratios)?.band.map(with_one), job: with_one(job) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::JobEnd;

    fn logged(name: &str, times: [u64; 4]) -> LoggedTimes {
        let [submit, launch, maps_done, finish] = times;
        LoggedTimes {
            name: name.to_owned(),
            submit,
            first_launch: Some(launch),
            maps_done: Some(maps_done),
            finish: Some(finish),
            outcome: Some(LoggedOutcome::Success),
        }
    }

    fn row(name: &str, times: [u64; 4]) -> JobRow {
        let [submit_ms, launch, maps_done, finish] = times;
        JobRow {
            name: name.into(),
            submit_ms,
            first_launch_ms: Some(launch),
            maps_done_ms: Some(maps_done),
            finish_ms: Some(finish),
            outcome: JobEnd::Succeeded,
            ..JobRow::default()
        }
    }

    #[test]
    fn a_job_is_judged_by_the_shares_of_its_logged_sojourn() {
        // The log's clock began long before the run's.
        let log = [logged("a", [9_000, 10_000, 15_000, 19_000]), logged("b", [0, 1, 2, 100])];
        let failed = JobRow { outcome: JobEnd::Failed, ..row("b", [0, 1, 2, 3]) };
        let (jobs, without) = judged(&log, &[failed, row("a", [0, 1_000, 6_500, 9_500])]);
        assert_eq!((jobs.len(), without), (1, 1));
        assert_eq!(jobs[0].error(), -0.05);
        let parts: Vec<f64> = (0..3).filter_map(|part| jobs[0].error_of(part)).collect();
        assert_eq!(parts, [0.0, 0.05, -0.1], "they add up to the error of the whole");
        assert_eq!(jobs[0].largest(), Some(("reduce phase", -1.0)));
    }

    #[test]
    fn a_prediction_is_never_outside_of_its_own_band() {
        // The replay was always too short, or always too long, by the same share.
        for (logged_at, low, high) in [(11_000, 1.0, 1.1), (9_000, 0.9, 1.0)] {
            let log = ["a", "b", "c"].map(|name| logged(name, [0, 1, 2, logged_at]));
            let run = ["a", "b", "c"].map(|name| row(name, [0, 1, 2, 10_000]));
            let bands = ErrorBands::of(&judged(&log, &run).0).unwrap();
            for band in [bands.mean.unwrap(), bands.job] {
                assert!((band.low - low).abs() + (band.high - high).abs() < 1e-9, "{bands:?}");
            }
        }
        assert_eq!(ErrorBands::of(&[]), None);
        let sizes = ErrorSizes::of([-0.5, 0.1].into_iter()).unwrap();
        assert_eq!((sizes.mean, sizes.worst), (0.3, 0.5));
    }
}
