//! The error of a prediction: each job as the log has it, beside the same job as it was replayed.

use crate::cluster::LoggedTimes;
use mumakil_base::statistics::{Band, interval, mean, quantile};
use mumakil_compare::{JobPair, JobPairs};
use mumakil_results::tables::{JobEnd, JobRow};
use mumakil_traces::rumen::LoggedOutcome;

/// The parts of a job's sojourn. They add up to it.
pub(super) const PARTS: [&str; 3] = ["wait", "map phase", "reduce phase"];

/// Returns the jobs of a log as rows of a run.
pub(super) fn logged_rows(log: &[LoggedTimes]) -> Vec<JobRow> {
    let rows = (0..).zip(log).map(|(job, logged)| JobRow {
        job,
        name: logged.name.as_str().into(),
        submit_ms: logged.submit,
        first_launch_ms: logged.first_launch,
        maps_done_ms: logged.maps_done,
        finish_ms: logged.finish,
        outcome: match logged.outcome {
            Some(LoggedOutcome::Success) | None => JobEnd::Succeeded,
            Some(_) => JobEnd::Failed,
        },
        ..JobRow::default()
    });
    rows.collect()
}

/// Pairs the jobs of a log with those of its replay. A job that did not succeed in both has no pair.
pub(super) fn judged<'a>(logged: &'a [JobRow], replayed: &'a [JobRow]) -> JobPairs<'a> {
    JobPairs::of([logged, replayed].map(|side| {
        let with_time = side.iter().map(|job| {
            let finish = job.finish_ms.filter(|_| job.outcome.is_measured());
            (job, finish.and_then(|finish| finish.checked_sub(job.submit_ms)))
        });
        with_time.collect()
    }))
}

/// Returns how much longer a job took in the prediction than in the log, as a share of its logged
/// sojourn.
pub(super) fn error(job: &JobPair<'_>) -> f64 {
    job.by() as f64 / job.took[0].max(1) as f64
}

/// Returns how much longer a part took, as a share of the logged sojourn; `None` if an instant
/// between two parts is unknown.
pub(super) fn error_of(job: &JobPair<'_>, part: usize) -> Option<f64> {
    let [logged, predicted] = job.rows.map(|row| {
        let (launch, maps_done) = (row.first_launch_ms?, row.maps_done_ms?);
        let instants = [row.submit_ms, launch, maps_done, row.finish_ms?];
        // All parts are known, or none.
        instants.is_sorted().then(|| instants[part + 1] - instants[part])
    });
    Some((predicted? as f64 - logged? as f64) / job.took[0].max(1) as f64)
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
    pub(super) fn of(jobs: &[JobPair<'_>]) -> Option<Self> {
        let ratios: Vec<f64> =
            jobs.iter().map(|job| job.took[0] as f64 / job.took[1].max(1) as f64).collect();
        let job = Band { low: quantile(&ratios, 0.05)?, high: quantile(&ratios, 0.95)? };
        let with_one = |band: Band| Band { low: band.low.min(1.0), high: band.high.max(1.0) };
        Some(Self { mean: interval(&ratios)?.band.map(with_one), job: with_one(job) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mumakil_core::cluster::PerSlot;

    fn logged(name: &str, times: [u64; 4]) -> LoggedTimes {
        let [submit, launch, maps_done, finish] = times;
        LoggedTimes {
            name: name.to_owned(),
            submit,
            first_launch: Some(launch),
            maps_done: Some(maps_done),
            finish: Some(finish),
            outcome: Some(LoggedOutcome::Success),
            assigned: PerSlot::default(),
        }
    }

    #[test]
    fn a_job_is_judged_by_the_shares_of_its_logged_sojourn() {
        // The log's clock began long before the run's.
        let log = [logged("a", [9_000, 10_000, 15_000, 19_000]), logged("b", [0, 1, 2, 100])];
        let mut run =
            logged_rows(&[logged("b", [0, 1, 2, 3]), logged("a", [0, 1_000, 6_500, 9_500])]);
        run[0].outcome = JobEnd::Failed;
        let log = logged_rows(&log);
        let JobPairs(jobs) = judged(&log, &run);
        assert_eq!((jobs.len(), error(&jobs[0])), (1, -0.05));
        let parts: Vec<f64> = (0..3).filter_map(|part| error_of(&jobs[0], part)).collect();
        assert_eq!(parts, [0.0, 0.05, -0.1], "they add up to the error of the whole");
    }

    #[test]
    fn a_prediction_is_never_outside_of_its_own_band() {
        // The replay was always too short, or always too long, by the same share.
        for (logged_at, low, high) in [(11_000, 1.0, 1.1), (9_000, 0.9, 1.0)] {
            let [log, run] = [logged_at, 10_000]
                .map(|end| logged_rows(&["a", "b", "c"].map(|name| logged(name, [0, 1, 2, end]))));
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
