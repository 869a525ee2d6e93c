//! One attempt in its lane, and what it did when.
//!
//! Trackers tell how long phases took, not when they began. But they follow one another, and only
//! a suspension comes between: so a phase begins where the one before it ended, counted in the time
//! in which the attempt was not suspended.

use super::lanes::Lane;
use crate::mapred::{Phases, TaskKind};
use crate::units::{SimSpan, SimTime};

/// An attempt that is in its lane.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) lane: Lane,
    pub(super) started: SimTime,
    suspended: Vec<Interval>,
    stopped: Option<SimTime>,
    commit_pending: Option<SimTime>,
}

/// A part of an attempt, to be shown within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) name: &'static str,
    pub(super) time: Interval,
}

/// From an instant to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interval {
    pub(super) begin: SimTime,
    pub(super) end: SimTime,
}

/// How an attempt ended, as far as its parts depend on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct AttemptEnd {
    pub(super) at: SimTime,
    pub(super) kind: TaskKind,
    /// `None` if it has not ended, and nobody knows.
    pub(super) phases: Option<Phases>,
    pub(super) is_success: bool,
}

impl Running {
    pub(super) const fn new(lane: Lane, started: SimTime) -> Self {
        Self { lane, started, suspended: Vec::new(), stopped: None, commit_pending: None }
    }

    pub(super) fn suspend(&mut self, at: SimTime) {
        self.stopped = Some(at);
    }

    pub(super) fn resume(&mut self, at: SimTime) {
        if let Some(begin) = self.stopped.take() {
            self.suspended.push(Interval { begin, end: at });
        }
    }

    pub(super) fn await_commit(&mut self, at: SimTime) {
        self.commit_pending = Some(at);
    }

    /// Returns the attempt's parts. They begin in this order, and each lies within the one before
    /// it or behind that one's end.
    pub(super) fn parts(&mut self, end: AttemptEnd) -> Vec<Part> {
        self.resume(end.at);
        let mut parts = Vec::new();
        if let Some(phases) = end.phases
            && end.kind == TaskKind::Reduce
        {
            self.add_phases(phases, end, &mut parts);
        }
        if let Some(begin) = self.commit_pending {
            let time = Interval { begin, end: end.at };
            parts.push(Part { name: "commit-pending", time });
        }
        parts.extend(self.suspended.iter().map(|&time| Part { name: "suspended", time }));
        // Stable: at the same instant a phase begins before a suspension within it.
        parts.sort_by_key(|part| part.time.begin);
        parts
    }

    fn add_phases(&self, phases: Phases, end: AttemptEnd, parts: &mut Vec<Part>) {
        let ran = self.ran_until(self.commit_pending.unwrap_or(end.at));
        let shuffled = phases.start_up + phases.shuffle;
        let bounds = [phases.start_up, shuffled, shuffled + phases.sort, ran];
        for (name, bounds) in ["shuffle", "sort", "reduce"].into_iter().zip(bounds.windows(2)) {
            let [begin, until] = [bounds[0].min(ran), bounds[1].min(ran)];
            // Of an attempt that was ended early, the phases that follow did not begin.
            if end.is_success || begin < until {
                let time = Interval { begin: self.instant(begin), end: self.instant(until) };
                parts.push(Part { name, time });
            }
        }
    }

    /// Returns how long the attempt had run at an instant at which it was not suspended.
    fn ran_until(&self, at: SimTime) -> SimSpan {
        let before = self.suspended.iter().filter(|time| time.end <= at);
        before.fold(at - self.started, |ran, time| ran.saturating_sub(time.end - time.begin))
    }

    /// Returns the instant at which the attempt had run so long.
    fn instant(&self, ran: SimSpan) -> SimTime {
        let mut instant = self.started + ran;
        for time in &self.suspended {
            if time.begin < instant {
                instant += time.end - time.begin;
            }
        }
        instant
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn secs(secs: u64) -> SimSpan {
        SimSpan::from_secs(secs)
    }

    fn at(secs: u64) -> SimTime {
        SimTime::ZERO + SimSpan::from_secs(secs)
    }

    /// A reduce from second 10 on: a start-up of 1 s, a shuffle of 20 s, a sort of 5 s.
    fn reduce() -> (Running, Phases) {
        let phases =
            Phases { start_up: secs(1), shuffle: secs(20), sort: secs(5), ..Phases::default() };
        (Running::new(Lane::any(), at(10)), phases)
    }

    fn ended(at: SimTime, phases: Option<Phases>) -> AttemptEnd {
        AttemptEnd { at, kind: TaskKind::Reduce, phases, is_success: true }
    }

    fn told(parts: &[Part]) -> Vec<(&'static str, u64, u64)> {
        let secs = |time: SimTime| time.as_micros() / 1_000_000;
        parts.iter().map(|part| (part.name, secs(part.time.begin), secs(part.time.end))).collect()
    }

    #[test]
    fn phases_follow_one_another() {
        let (mut running, phases) = reduce();
        let parts = running.parts(ended(at(50), Some(phases)));
        assert_eq!(told(&parts), [("shuffle", 11, 31), ("sort", 31, 36), ("reduce", 36, 50)]);
    }

    #[test]
    fn a_suspension_makes_a_phase_longer_and_lies_within_it() {
        let (mut running, phases) = reduce();
        running.suspend(at(20));
        running.resume(at(40));
        running.await_commit(at(70));
        let parts = running.parts(ended(at(73), Some(phases)));
        let expected = [
            ("shuffle", 11, 51),
            ("suspended", 20, 40),
            ("sort", 51, 56),
            ("reduce", 56, 70),
            ("commit-pending", 70, 73),
        ];
        assert_eq!(told(&parts), expected);
    }

    #[test]
    fn phases_that_never_began_are_not_shown() {
        let (mut running, phases) = reduce();
        let phases = Phases { shuffle: secs(4), sort: SimSpan::ZERO, ..phases };
        let end = AttemptEnd { is_success: false, ..ended(at(15), Some(phases)) };
        assert_eq!(told(&running.parts(end)), [("shuffle", 11, 15)]);
    }

    #[test]
    fn killed_while_it_was_suspended_it_ends_with_the_suspension() {
        let (mut running, phases) = reduce();
        running.suspend(at(15));
        let phases = Phases { shuffle: secs(4), sort: SimSpan::ZERO, ..phases };
        let end = AttemptEnd { is_success: false, ..ended(at(40), Some(phases)) };
        assert_eq!(told(&running.parts(end)), [("shuffle", 11, 15), ("suspended", 15, 40)]);
    }

    #[test]
    fn of_an_attempt_that_goes_on_only_suspensions_are_known() {
        let (mut running, _) = reduce();
        running.suspend(at(20));
        let end = AttemptEnd { is_success: false, ..ended(at(30), None) };
        assert_eq!(told(&running.parts(end)), [("suspended", 20, 30)]);
    }

    proptest! {
        #[test]
        fn parts_nest(
            spans in prop::collection::vec((0..20u64, 0..20u64), 0..5),
            [start_up, shuffle, sort, rest] in prop::array::uniform4(0..30u64),
            is_success: bool,
        ) {
            let phases = Phases {
                start_up: secs(start_up), shuffle: secs(shuffle), sort: secs(sort), ..Phases::default()
            };
            let mut running = Running::new(Lane::any(), at(0));
            let mut now = 0;
            let (mut ran, whole) = (0, start_up + shuffle + sort + rest);
            for (work, pause) in spans {
                let work = work.min(whole - ran);
                running.suspend(at(now + work));
                running.resume(at(now + work + pause));
                now += work + pause;
                ran += work;
            }
            let end = at(now + whole - ran);
            let parts = running.parts(AttemptEnd { is_success, ..ended(end, Some(phases)) });
            let mut around = vec![end];
            for part in parts {
                while around.last().is_some_and(|&outer| outer <= part.time.begin) && 1 < around.len() {
                    around.pop();
                }
                prop_assert!(part.time.begin <= part.time.end);
                prop_assert!(part.time.end <= *around.last().unwrap(), "{part:?}");
                around.push(part.time.end);
            }
        }
    }
}
