//! The progress of a phase: the work left in it and in its current part, and the pace of that part.
//!
//! Amounts of work are given as the times that they take if nothing is shared. A phase that shares
//! nothing has one part, at pace 1. If a part shares resources, its pace is the share of its full
//! speed that other flows leave.

use mumakil_base::units::{SimSpan, SimTime};

/// The progress of a phase.
#[derive(Debug, Default)]
pub(super) struct PhaseProgress {
    whole: SimSpan,
    /// When the part last went on; in the future while the part waits to begin.
    since: SimTime,
    /// The time left in the phase at the instant `since`.
    left: SimSpan,
    /// The time left in the part at the instant `since`; zero for a part that is only a wait.
    part: SimSpan,
    pace: f64,
}

impl PhaseProgress {
    /// Returns a phase without progress.
    pub(super) fn new(now: SimTime, whole: SimSpan) -> Self {
        Self { whole, since: now, left: whole, part: SimSpan::ZERO, pace: 1.0 }
    }

    pub(super) fn is_over(&self) -> bool {
        self.left.is_zero()
    }

    pub(super) fn left(&self) -> SimSpan {
        self.left
    }

    pub(super) fn since(&self) -> SimTime {
        self.since
    }

    /// Returns how much of the phase was done when it last went on.
    pub(super) fn done(&self) -> SimSpan {
        self.whole.saturating_sub(self.left)
    }

    /// Returns the share of the phase that is done; `at` is `None` if the phase stands still.
    pub(super) fn share(&self, at: Option<SimTime>) -> f64 {
        // A phase without length ends as it begins; the quotient below would not be a number.
        if self.whole.is_zero() {
            return 1.0;
        }
        let ran = at.map_or(SimSpan::ZERO, |at| self.ran(at));
        // Both are whole numbers, so that only the share is rounded.
        (self.done() + ran).min(self.whole).as_micros() as f64 / self.whole.as_micros() as f64
    }

    /// Begins or continues a part of the phase at the instant `at`, which may be in the future: `part`
    /// is the work left in the part, `pace` the speed at which it is done.
    pub(super) fn go_on(&mut self, at: SimTime, part: SimSpan, pace: f64) {
        (self.since, self.part, self.pace) = (at, part.min(self.left), pace);
    }

    /// Counts the work up to now as done.
    pub(super) fn settle(&mut self, now: SimTime) {
        let ran = self.ran(now);
        self.left = self.left.saturating_sub(ran);
        self.part = self.part.saturating_sub(ran);
        // A part that has not begun yet keeps the instant at which it will begin.
        self.since = self.since.max(now);
    }

    /// Counts the rest of the current part as done.
    pub(super) fn end_part(&mut self) {
        // Do not go by the clock: timers are rounded up, so the count could be off by a
        // microsecond.
        self.left = self.left.saturating_sub(self.part);
        self.part = SimSpan::ZERO;
    }

    /// Goes on at another pace; the caller has settled the part.
    pub(super) fn set_pace(&mut self, pace: f64) {
        self.pace = pace;
    }

    pub(super) fn pace(&self) -> f64 {
        self.pace
    }

    /// Returns how long the part takes from `since` on, rounded up; `None` if it stands still.
    pub(super) fn lasts(&self) -> Option<SimSpan> {
        (0.0 < self.pace).then(|| at_pace(self.part, self.pace))
    }

    /// Returns how much of the part has been done, in whole microseconds.
    fn ran(&self, at: SimTime) -> SimSpan {
        let passed = at.saturating_since(self.since).as_micros() as f64;
        // Rounded down, while timers are rounded up: no part is done before its timer fires.
        SimSpan::from_micros((passed * self.pace) as u64).min(self.part)
    }
}

/// Returns how long work takes at a pace, rounded up, if it takes `alone` at the pace 1.
pub(super) fn at_pace(alone: SimSpan, pace: f64) -> SimSpan {
    let micros = (alone.as_micros() as f64 / pace).ceil();
    // A pace near zero gives spans that would overflow the clock; the bound of a hundred years is
    // never reached.
    SimSpan::from_micros(micros as u64).min(SimSpan::LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secs(secs: u64) -> SimSpan {
        SimSpan::from_secs(secs)
    }

    #[test]
    fn a_part_alone_for_five_seconds_and_then_one_of_two_ends_after_fifteen() {
        let start = SimTime::ZERO;
        let mut course = PhaseProgress::new(start, secs(10));
        course.go_on(start, secs(10), 1.0);
        assert_eq!(course.lasts(), Some(secs(10)));
        course.settle(start + secs(5));
        course.set_pace(0.5);
        assert_eq!((course.share(None), course.lasts()), (0.5, Some(secs(10))));
        assert_eq!(course.share(Some(start + secs(7))), 0.6);
    }

    #[test]
    fn waiting_attempts_make_no_progress() {
        let mut course = PhaseProgress::new(SimTime::ZERO, secs(10));
        course.go_on(SimTime::ZERO + secs(3), secs(10), 1.0);
        course.settle(SimTime::ZERO + secs(2));
        assert_eq!((course.left(), course.since()), (secs(10), SimTime::ZERO + secs(3)));
    }

    #[test]
    fn nothing_is_done_beyond_the_part() {
        let mut course = PhaseProgress::new(SimTime::ZERO, secs(10));
        course.go_on(SimTime::ZERO, secs(4), 1.0);
        assert_eq!(course.share(Some(SimTime::ZERO + secs(9))), 0.4);
        course.end_part();
        assert_eq!(course.left(), secs(6));
    }
}
