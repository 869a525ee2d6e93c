//! The distributions that Rumen computes for each job: how long its attempts took, and at which
//! attempt its maps succeeded. Mumak draws from them what a trace does not log.

use super::admitted::number_of;
use super::attempt::{LoggedAttempt, LoggedLocation, LoggedOutcome, LoggedTask};
use super::record::{LoggedCdf, LoggedJob, LoggedRanking};

impl LoggedJob {
    /// Computes the distributions from the logged attempts, as Rumen's `JobBuilder` does.
    pub fn compute_distributions(&mut self) {
        let (mut succeeded, mut failed): ([Vec<i64>; 4], [Vec<i64>; 4]) = Default::default();
        let mut tries: Vec<u32> = Vec::new();
        for task in &self.map_tasks {
            for attempt in &task.attempts {
                let Some(time) = time_of(attempt) else { continue };
                match attempt.result {
                    Some(LoggedOutcome::Success) => {
                        succeeded[distance(task, attempt)].push(time);
                        tries.extend(number_of(&attempt.attempt_id));
                    }
                    // Rumen knows no distance of a failed attempt.
                    Some(LoggedOutcome::Failed) => failed[UNKNOWN].push(time),
                    Some(LoggedOutcome::Killed) | None => {}
                }
            }
        }
        let of_reduces = |outcome| {
            let attempts = self.reduce_tasks.iter().flat_map(|task| &task.attempts);
            let ended = attempts.filter(|attempt| attempt.result == Some(outcome));
            Some(cdf(ended.filter_map(time_of).collect()))
        };
        self.successful_reduce_attempt_cdf = of_reduces(LoggedOutcome::Success);
        self.failed_reduce_attempt_cdf = of_reduces(LoggedOutcome::Failed);
        self.successful_map_attempt_cdfs = succeeded.map(cdf).into();
        self.failed_map_attempt_cdfs = failed.map(cdf).into();
        if let Some(most) = tries.iter().copied().filter(|at| *at < MOST_TRIES).max() {
            let shares = (0..=most).map(|number| {
                tries.iter().filter(|at| **at == number).count() as f64 / tries.len() as f64
            });
            self.mapper_tries_to_succeed = Some(shares.collect());
        }
    }
}

/// The distance from the input of a map that is not known; 0 to 2 are its node, its rack, elsewhere.
const UNKNOWN: usize = 3;

/// The attempts of a task that have a share. After a restart Hadoop numbers attempts from 1,000 on.
const MOST_TRIES: u32 = 1_000;

/// Returns how long an attempt took, in milliseconds; `None` if that is unknown.
fn time_of(attempt: &LoggedAttempt) -> Option<i64> {
    let known = |time: Option<u64>| i64::try_from(time?).ok().filter(|time| 0 < *time);
    Some(known(attempt.finish_time)? - known(attempt.start_time)?)
}

fn distance(map: &LoggedTask, attempt: &LoggedAttempt) -> usize {
    let ends = |location: &LoggedLocation| match &location.layers[..] {
        [.., rack, host] => Some([rack.clone(), host.clone()]),
        _ => None,
    };
    let Some([rack, host]) = attempt.location.as_ref().and_then(ends) else { return UNKNOWN };
    let preferred = map.preferred_locations.iter().filter_map(ends);
    let levels = preferred.map(|[near, at]| match () {
        () if at == host => 0,
        () if near == rack => 1,
        () => 2,
    });
    levels.min().unwrap_or(UNKNOWN)
}

/// Returns the distribution of these durations, with a quantile for each twentieth.
fn cdf(mut times: Vec<i64>) -> LoggedCdf {
    times.sort_unstable();
    let (Some(minimum), Some(maximum)) = (times.first(), times.last()) else {
        // So does Rumen write an empty distribution.
        return LoggedCdf { minimum: i64::MIN, maximum: i64::MAX, ..LoggedCdf::default() };
    };
    let rankings = (5..100).step_by(5).map(|percent| LoggedRanking {
        relative_ranking: percent as f64 / 100.0,
        datum: times[(percent * times.len() / 100).max(1) - 1],
    });
    LoggedCdf {
        number_values: times.len() as u64,
        minimum: *minimum,
        maximum: *maximum,
        rankings: rankings.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_the_value_at_its_rank_rounded_down() {
        let of = |times: &[i64]| cdf(times.to_vec());
        let four = of(&[30, 10, 40, 20]);
        assert_eq!((four.number_values, four.minimum, four.maximum), (4, 10, 40));
        let at =
            |rank: f64| four.rankings.iter().find(|r| r.relative_ranking == rank).unwrap().datum;
        assert_eq!([0.05, 0.45, 0.5, 0.7, 0.75, 0.95].map(at), [10, 10, 20, 20, 30, 30]);
        assert_eq!(of(&[7]).rankings.len(), 19);
        assert_eq!(of(&[]).minimum, i64::MIN);
    }

    #[test]
    fn attempts_are_sorted_by_outcome_and_distance() {
        let location = |layers: &str| LoggedLocation {
            layers: layers.split('/').map(str::to_owned).collect(),
        };
        let attempt = |number: u32, result, at: &str, time: u64| LoggedAttempt {
            attempt_id: format!("attempt_1_1_m_0_{number}"),
            result: Some(result),
            start_time: Some(1_000),
            finish_time: Some(1_000 + time),
            location: Some(location(at)),
            ..LoggedAttempt::default()
        };
        let map = |attempts: Vec<LoggedAttempt>| LoggedTask {
            attempts,
            preferred_locations: vec![location("r1/h1"), location("r2/h2")],
            ..LoggedTask::default()
        };
        let mut job = LoggedJob {
            map_tasks: vec![
                map(vec![attempt(0, LoggedOutcome::Success, "r1/h1", 10)]),
                map(vec![attempt(0, LoggedOutcome::Success, "r2/h3", 20)]),
                map(vec![
                    attempt(0, LoggedOutcome::Failed, "r3/h4", 5),
                    attempt(1, LoggedOutcome::Killed, "r3/h4", 6),
                    attempt(2, LoggedOutcome::Success, "r3/h4", 30),
                ]),
                map(vec![attempt(0, LoggedOutcome::Success, "h1", 40)]),
            ],
            ..LoggedJob::default()
        };
        job.compute_distributions();
        let of = |cdfs: &[LoggedCdf]| -> Vec<(u64, i64)> {
            cdfs.iter().map(|cdf| (cdf.number_values, cdf.maximum)).collect()
        };
        assert_eq!(of(&job.successful_map_attempt_cdfs), [(1, 10), (1, 20), (1, 30), (1, 40)]);
        let none = (0, i64::MAX);
        assert_eq!(of(&job.failed_map_attempt_cdfs), [none, none, none, (1, 5)]);
        assert_eq!(job.mapper_tries_to_succeed, Some(vec![0.75, 0.0, 0.25]));
        assert_eq!(job.failed_reduce_attempt_cdf.unwrap().number_values, 0);
    }
}
