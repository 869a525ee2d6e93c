//! The rate at which runs end. Only the last ten minutes count, since later runs may be larger than
//! the first.

use std::collections::VecDeque;
use std::time::Duration;

use mumakil_base::units::tell::count;

/// The length of time over which the rate is measured.
// Chosen: long enough for a few slow runs, short enough to follow an axis that grows.
const WINDOW: Duration = Duration::from_secs(600);

/// The number of runs that had ended, at several times.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyPace {
    /// Pairs of the time since the beginning and the number of runs that had ended by then, in the
    /// order of time. The first pair is from the beginning, or it is the last pair before the
    /// window.
    notes: VecDeque<(Duration, u64)>,
}

impl Default for StudyPace {
    fn default() -> Self {
        Self { notes: VecDeque::from([(Duration::ZERO, 0)]) }
    }
}

impl StudyPace {
    /// Notes how many runs have ended; `after` is the time since the beginning.
    pub fn note(&mut self, after: Duration, ended: u64) {
        self.notes.push_back((after, ended));
        // Keep one note from before the window: without it, the first runs in the window would not
        // count.
        while 2 < self.notes.len() && self.notes[1].0 + WINDOW <= after {
            self.notes.pop_front();
        }
    }

    /// Returns the number of runs that end in a minute; `None` if no run has ended in the window.
    pub fn per_minute(&self) -> Option<f64> {
        let ((from, before), (to, ended)) = (self.notes.front()?, self.notes.back()?);
        let minutes = to.saturating_sub(*from).as_secs_f64() / 60.0;
        // With a rate of zero, the remaining time would be endless.
        (0.0 < minutes && before < ended).then(|| (ended - before) as f64 / minutes)
    }
}

/// Prints a rate: `41 runs a minute`, `3.4 runs a minute`, `12 runs an hour`.
pub fn rate(per_minute: f64, thing: &str) -> String {
    let (rate, of) =
        // Print a rate under one run a minute by the hour. A rate of 0.995 or more counts as one
        // run a minute.
        if per_minute < 0.995 { (per_minute * 60.0, "an hour") } else { (per_minute, "a minute") };
    let number = if rate < 9.95 { format!("{rate:.1}") } else { count(rate.round() as u64) };
    format!("{number} {thing}s {of}")
}

/// Returns the seconds that `left` runs take at a rate.
pub fn remaining_s(left: u64, per_minute: f64) -> f64 {
    left as f64 / per_minute * 60.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace(notes: &[(u64, u64)]) -> Option<f64> {
        let mut pace = StudyPace::default();
        notes.iter().for_each(|(secs, ended)| pace.note(Duration::from_secs(*secs), *ended));
        pace.per_minute()
    }

    #[test]
    fn the_distant_past_does_not_count() {
        assert_eq!(pace(&[]), None);
        assert_eq!(pace(&[(60, 0)]), None);
        assert_eq!(pace(&[(30, 10)]), Some(20.0));
        // 1,000 runs in the first ten minutes, 50 in the next ten.
        assert_eq!(pace(&[(600, 1_000)]), Some(100.0));
        assert_eq!(pace(&[(600, 1_000), (1_200, 1_050)]), Some(5.0));
        // The note just before the window counts as the window's beginning: 40 runs in eleven
        // minutes.
        assert_eq!(pace(&[(599, 1_000), (1_198, 1_030), (1_259, 1_040)]), Some(40.0 / 11.0));
    }

    #[test]
    fn a_rate_is_told_by_the_minute_or_by_the_hour() {
        for (per_minute, told) in [
            (1_234.4, "1,234 runs a minute"),
            (41.2, "41 runs a minute"),
            (9.96, "10 runs a minute"),
            (3.41, "3.4 runs a minute"),
            (1.0, "1.0 runs a minute"),
            (0.2, "12 runs an hour"),
            (0.05, "3.0 runs an hour"),
        ] {
            assert_eq!(rate(per_minute, "run"), told);
        }
        // 8,766 runs are left, at 41 a minute.
        assert_eq!(mumakil_base::units::tell::span(remaining_s(8_766, 41.0)), "3 h 34 min");
    }
}
