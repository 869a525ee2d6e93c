//! A line a minute for readers of a log: if stderr is no terminal, there is no bar.
//!
//! The first line comes after a minute, so short work prints none. This file only makes the lines;
//! `progress` counts and prints.

use std::time::Duration;

use chrono::{Local, Timelike};

use super::progress::share;
use mumakil_base::units::SimSpan;
use mumakil_base::units::tell::{self, count, counted};
use mumakil_run::record::RunProgress;
use mumakil_study::{rate, remaining_s};

/// The time between two lines.
pub(super) const MINUTE: Duration = Duration::from_secs(60);

/// The share of the work that must be done before the remaining time is estimated.
// Chosen: an estimate from less would be wrong by a large factor.
const LITTLE: f64 = 0.01;

/// The progress of many runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunCounts {
    /// The number of runs that have ended, including failed ones.
    pub(super) ended: u64,
    /// The number of all runs.
    pub(super) of: u64,
    /// The number of failed runs.
    pub(super) failed: u64,
}

/// Returns the line about many runs or cases: `12:03  1,234 of 10,000 runs, 3 failed, …`.
pub(super) fn of_runs(
    clock: &str,
    thing: &str,
    counts: RunCounts,
    per_minute: Option<f64>,
) -> String {
    let RunCounts { ended, of, failed } = counts;
    let mut line = format!("{clock}  {} of {}", count(ended), counted(of, thing));
    if 0 < failed {
        line += &format!(", {} failed", count(failed));
    }
    if let Some(per_minute) = per_minute {
        let rest = tell::span(remaining_s(of.saturating_sub(ended), per_minute));
        line += &format!(", {}, about {rest} left", rate(per_minute, thing));
    }
    line
}

/// Returns the line about one run: its jobs, and the real time so far.
pub(super) fn of_jobs(
    clock: &str,
    progress: &RunProgress,
    jobs: u64,
    until: Option<SimSpan>,
    real: Duration,
) -> String {
    let cluster_time = progress.now.as_secs_f64();
    let mut line = format!(
        "{clock}  {} of {}, {} passed at {}",
        count(u64::from(progress.ended)),
        counted(jobs, "job"),
        tell::span(cluster_time),
        tell::times(cluster_time / real.as_secs_f64().max(1e-9)),
    );
    let share = share(progress, jobs, until);
    if LITTLE <= share {
        let rest = real.as_secs_f64() * (1.0 - share) / share;
        line += &format!(", about {} left", tell::span(rest));
    }
    line
}

/// The last minute for which a line was printed.
#[derive(Debug, Default)]
pub(super) struct Minutes {
    told: u64,
}

impl Minutes {
    /// Returns whether a line is due, and counts it as printed; `after` is the time since the
    /// beginning.
    pub(super) fn is_due(&mut self, after: Duration) -> bool {
        let minutes = after.as_secs() / MINUTE.as_secs();
        let is_due = self.told < minutes;
        // If several minutes have passed since the last call, print a single line for them.
        self.told = minutes.max(self.told);
        is_due
    }
}

/// Returns the wall-clock time: `12:03`.
pub(super) fn clock() -> String {
    let now = Local::now();
    format!("{:02}:{:02}", now.hour(), now.minute())
}

#[cfg(test)]
mod tests {
    use super::*;
    use mumakil_base::units::SimTime;

    #[test]
    fn a_line_says_how_far_the_runs_are_and_how_long_they_take() {
        let counts = |ended, failed| RunCounts { ended, of: 10_000, failed };
        assert_eq!(
            of_runs("12:03", "run", counts(1_234, 3), Some(41.0)),
            "12:03  1,234 of 10,000 runs, 3 failed, 41 runs a minute, about 3 h 34 min left"
        );
        assert_eq!(of_runs("12:03", "case", counts(0, 0), None), "12:03  0 of 10,000 cases");
    }

    #[test]
    fn a_line_of_a_run_says_how_far_its_jobs_are() {
        let now = SimTime::from_micros(7_200_000_000);
        let progress = RunProgress { now, submitted: 10, ended: 5, attempts: 0, events: 0 };
        let line = |jobs| of_jobs("12:03", &progress, jobs, None, Duration::from_secs(120));
        // A quarter of the jobs has taken two minutes.
        assert_eq!(
            line(20),
            "12:03  5 of 20 jobs, 2 h 00 min passed at 60x, about 6 min 00 s left"
        );
        // Too few jobs for an estimate.
        assert_eq!(line(501), "12:03  5 of 501 jobs, 2 h 00 min passed at 60x");
    }

    #[test]
    fn the_first_line_is_due_after_a_minute_and_then_one_in_each() {
        let mut minutes = Minutes::default();
        let due = [0, 59, 60, 61, 119, 120, 359, 360].map(|secs| {
            let after = Duration::from_secs(secs);
            minutes.is_due(after)
        });
        assert_eq!(due, [false, false, true, false, false, true, true, true]);
    }
}
