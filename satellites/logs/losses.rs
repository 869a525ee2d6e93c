//! The trackers that the JobTracker of a log lost, as faults of a replay.
//!
//! A history tells when attempts ended because their tracker was lost. The JobTracker notices that
//! `expiry` after the last heartbeat, at the next of its checks; or at once, if the tracker starts
//! again before.

use std::collections::BTreeMap;

use mumakil_base::units::SimSpan;
use mumakil_traces::rumen::{LoggedAttempt, LoggedOutcome};

/// How many times the JobTracker looks for lost trackers in the time after which one is lost.
// JobTracker.ExpireTrackers sleeps for a third of it.
const LOOKS: u64 = 3;

/// A tracker that was lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostTracker {
    /// Its host.
    pub host: String,
    /// When its process ended, since the first job of the log was submitted.
    pub at: SimSpan,
    /// How long it took to come back.
    pub lasts: SimSpan,
}

/// When something was heard of each host, and when it was lost, in the milliseconds of a log.
#[derive(Default)]
pub(super) struct HostSigns(BTreeMap<String, SignsOfHost>);

#[derive(Default)]
struct SignsOfHost {
    /// Starts and ends of attempts that succeeded. Others may be logged to have started when the
    /// JobTracker gave them up.
    alive: Vec<u64>,
    lost: Vec<u64>,
}

impl HostSigns {
    pub(super) fn add(&mut self, host: &str, attempt: &LoggedAttempt) {
        let is_success = attempt.result == Some(LoggedOutcome::Success);
        let (start, end) = (attempt.start_time, attempt.finish_time);
        let alive = [start, end].map(|at| at.filter(|_| is_success));
        let lost = end.filter(|_| attempt.is_lost);
        let signs = match self.0.get_mut(host) {
            Some(signs) => signs,
            None => self.0.entry(host.to_owned()).or_default(),
        };
        signs.alive.extend(alive.into_iter().flatten().filter(|at| 0 < *at));
        signs.lost.extend(lost);
    }

    /// Returns the trackers that were lost, in the order of time. `first` is when the first job was
    /// submitted, and `last` when the last one ended.
    pub(super) fn losses(self, expiry: SimSpan, first: u64, last: u64) -> Vec<LostTracker> {
        let expiry = expiry.as_millis();
        let mut found = Vec::new();
        for (host, SignsOfHost { mut alive, mut lost }) in self.0 {
            alive.sort_unstable();
            lost.sort_unstable();
            // Other attempts remove the output of those that were lost, so ends of one loss follow each other.
            lost.dedup_by(|later, before| *later < *before + expiry);
            for at in lost {
                let (before, after) = alive.split_at(alive.partition_point(|sign| *sign < at));
                let sign = before.last().copied().unwrap_or(first);
                // A check comes half of the time between two of them late.
                let silent = at.saturating_sub(expiry + expiry / (2 * LOOKS));
                // A sign that is younger shows that the tracker came back before it was missed.
                let came_back_early = at.saturating_sub(expiry) < sign;
                let died = if came_back_early { sign } else { silent.max(sign) }.max(first);
                let back = match after.first() {
                    _ if came_back_early => at,
                    Some(back) => *back,
                    None => last.max(at),
                };
                found.push(LostTracker {
                    host: host.clone(),
                    at: SimSpan::from_millis(died - first),
                    lasts: SimSpan::from_millis((back - died).max(1)),
                });
            }
        }
        found.sort_by_key(|lost| lost.at);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt(start: u64, end: u64, result: LoggedOutcome) -> LoggedAttempt {
        let is_lost = result == LoggedOutcome::Killed;
        let (start_time, finish_time) = (Some(start), Some(end));
        LoggedAttempt {
            result: Some(result),
            start_time,
            finish_time,
            is_lost,
            ..LoggedAttempt::default()
        }
    }

    fn losses(attempts: &[(u64, u64, LoggedOutcome)]) -> Vec<(u64, u64)> {
        let mut signs = HostSigns::default();
        for (start, end, result) in attempts {
            signs.add("h", &attempt(*start, *end, *result));
        }
        let found = signs.losses(SimSpan::from_millis(30_000), 1_000, 300_000);
        found.iter().map(|lost| (lost.at.as_millis(), lost.lasts.as_millis())).collect()
    }

    #[test]
    fn a_tracker_died_when_it_was_missed_less_the_time_until_then() {
        use LoggedOutcome::{Killed, Success};
        let work = (2_000, 41_000, Success);
        let lost = [(42_000, 91_000, Killed), (43_000, 93_500, Killed)];
        // Missed at 91 s: silent for 30 s, and for half of 10 s until the check.
        assert_eq!(losses(&[work, lost[0], lost[1]]), [(55_000, 244_000)], "it never came back");
        let again = (120_000, 125_000, Success);
        assert_eq!(losses(&[work, lost[0], lost[1], again]), [(55_000, 64_000)]);
        assert_eq!(losses(&[work, again]), []);
    }

    #[test]
    fn a_tracker_that_starts_again_is_lost_at_once() {
        use LoggedOutcome::{Killed, Success};
        let attempts =
            [(2_000, 41_000, Success), (42_000, 47_000, Killed), (48_000, 50_000, Success)];
        assert_eq!(losses(&attempts), [(40_000, 6_000)]);
    }

    #[test]
    fn each_loss_of_a_host_is_told() {
        use LoggedOutcome::{Killed, Success};
        let first = [(42_000, 91_000, Killed), (120_000, 125_000, Success)];
        let attempts = [first[0], first[1], (126_000, 190_000, Killed)];
        assert_eq!(losses(&attempts), [(55_000, 64_000), (154_000, 145_000)]);
    }
}
