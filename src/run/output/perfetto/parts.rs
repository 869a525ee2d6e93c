//! The phases of an attempt over time.
//!
//! Trackers report how long phases took, but not when phases began. Phases follow one another
//! without gaps except for suspensions, so their instants follow from their lengths and from the
//! suspensions.

use crate::record::{AttemptEnding, BookedAttempt};
use mumakil_base::units::{SimSpan, SimTime};
use mumakil_core::mapred::{Outcome, TaskKind};

/// A phase or suspension of an attempt, shown within the attempt's slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SlicePart {
    pub(super) name: &'static str,
    pub(super) begin: SimTime,
    pub(super) end: SimTime,
}

/// Returns the parts of an attempt that ended at the instant `at`, in the order of their
/// beginnings. Each part lies within the part before it, or begins at the end of that part or
/// later.
pub(super) fn parts(
    kind: TaskKind,
    attempt: &BookedAttempt,
    commit_pending: Option<SimTime>,
    at: SimTime,
) -> Vec<SlicePart> {
    let stops = attempt.stops.iter().map(|&(begin, end)| (begin, end.unwrap_or(at)));
    let stops: Vec<_> = stops.collect();
    let mut parts = Vec::new();
    if let (TaskKind::Reduce, Some(began), Some(ending)) = (kind, attempt.started, &attempt.ending)
    {
        add_phases(began, &stops, commit_pending.unwrap_or(at), ending, &mut parts);
    }
    parts.extend(commit_pending.map(|begin| SlicePart { name: "commit-pending", begin, end: at }));
    // Suspensions are added last, so that the stable sort below keeps a phase before a suspension
    // within it.
    parts.extend(stops.iter().map(|&(begin, end)| SlicePart { name: "suspended", begin, end }));
    // Stable: at the same instant a phase begins before a suspension within it.
    parts.sort_by_key(|part| part.begin);
    parts
}

fn add_phases(
    began: SimTime,
    stops: &[(SimTime, SimTime)],
    until: SimTime,
    ending: &AttemptEnding,
    parts: &mut Vec<SlicePart>,
) {
    // Suspensions after the work, while the attempt waited for its commit, took no time from its
    // phases.
    let before = stops.iter().filter(|(_, end)| *end <= until);
    let ran = before.fold(until - began, |ran, &(begin, end)| ran.saturating_sub(end - begin));
    // Returns the instant at which the attempt had run for `ran`, suspensions not counted.
    let instant = |ran: SimSpan| {
        stops.iter().fold(began + ran, |instant, &(begin, end)| match begin < instant {
            true => instant + (end - begin),
            false => instant,
        })
    };
    let phases = &ending.phases;
    let shuffled = phases.start_up + phases.shuffle;
    let bounds = [phases.start_up, shuffled, shuffled + phases.sort, ran];
    for (name, bounds) in ["shuffle", "sort", "reduce"].into_iter().zip(bounds.windows(2)) {
        // No phase ends after its attempt, whatever the tracker reports.
        let [begin, end] = [bounds[0].min(ran), bounds[1].min(ran)];
        // An attempt that failed or was killed may not have begun its later phases.
        if ending.outcome == Outcome::Succeeded || begin < end {
            parts.push(SlicePart { name, begin: instant(begin), end: instant(end) });
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use mumakil_core::mapred::{PhaseTimes, TrackerId};

    fn secs(secs: u64) -> SimSpan {
        SimSpan::from_secs(secs)
    }

    fn at(secs: u64) -> SimTime {
        SimTime::ZERO + SimSpan::from_secs(secs)
    }

    /// A reduce from second 10 to second `until`: a start-up of 1 s, a shuffle of 20 s, a sort of 5
    /// s.
    fn reduce(until: u64) -> BookedAttempt {
        let phases = PhaseTimes {
            start_up: secs(1),
            shuffle: secs(20),
            sort: secs(5),
            ..PhaseTimes::default()
        };
        let mut reduce = BookedAttempt::on(TrackerId(0));
        reduce.started = Some(at(10));
        reduce.ending = Some(AttemptEnding { at: at(until), outcome: Outcome::Succeeded, phases });
        reduce
    }

    /// The same reduce, killed after 4 s of its shuffle.
    fn killed(until: u64) -> BookedAttempt {
        let mut reduce = reduce(until);
        let ending = reduce.ending.as_mut().unwrap();
        ending.outcome = Outcome::Killed;
        (ending.phases.shuffle, ending.phases.sort) = (secs(4), SimSpan::ZERO);
        reduce
    }

    fn told(
        attempt: &BookedAttempt,
        commit_pending: Option<u64>,
        until: u64,
    ) -> Vec<(&'static str, u64, u64)> {
        let parts = parts(TaskKind::Reduce, attempt, commit_pending.map(at), at(until));
        let secs = |time: SimTime| time.as_micros() / 1_000_000;
        parts.iter().map(|part| (part.name, secs(part.begin), secs(part.end))).collect()
    }

    #[test]
    fn phases_follow_one_another() {
        let expected = [("shuffle", 11, 31), ("sort", 31, 36), ("reduce", 36, 50)];
        assert_eq!(told(&reduce(50), None, 50), expected);
    }

    #[test]
    fn a_suspension_makes_a_phase_longer_and_lies_within_it() {
        let mut reduce = reduce(73);
        reduce.stops = vec![(at(20), Some(at(40)))];
        let expected = [
            ("shuffle", 11, 51),
            ("suspended", 20, 40),
            ("sort", 51, 56),
            ("reduce", 56, 70),
            ("commit-pending", 70, 73),
        ];
        assert_eq!(told(&reduce, Some(70), 73), expected);
    }

    #[test]
    fn phases_that_never_began_are_not_shown() {
        assert_eq!(told(&killed(15), None, 15), [("shuffle", 11, 15)]);
    }

    #[test]
    fn killed_while_it_was_suspended_it_ends_with_the_suspension() {
        let mut reduce = killed(40);
        reduce.stops = vec![(at(15), Some(at(40)))];
        assert_eq!(told(&reduce, None, 40), [("shuffle", 11, 15), ("suspended", 15, 40)]);
    }

    #[test]
    fn of_an_attempt_that_goes_on_only_suspensions_are_known() {
        let mut reduce = reduce(30);
        (reduce.ending, reduce.stops) = (None, vec![(at(20), None)]);
        assert_eq!(told(&reduce, None, 30), [("suspended", 20, 30)]);
    }

    proptest! {
        #[test]
        fn parts_nest(
            spans in prop::collection::vec((0..20u64, 0..20u64), 0..5),
            [start_up, shuffle, sort, rest] in prop::array::uniform4(0..30u64),
            is_success: bool,
        ) {
            let phases = PhaseTimes {
                start_up: secs(start_up), shuffle: secs(shuffle), sort: secs(sort), ..PhaseTimes::default()
            };
            let mut stops = Vec::new();
            let mut now = 0;
            let (mut ran, whole) = (0, start_up + shuffle + sort + rest);
            for (work, pause) in spans {
                let work = work.min(whole - ran);
                stops.push((at(now + work), Some(at(now + work + pause))));
                now += work + pause;
                ran += work;
            }
            let end = at(now + whole - ran);
            let outcome = if is_success { Outcome::Succeeded } else { Outcome::Killed };
            let mut reduce = BookedAttempt::on(TrackerId(0));
            (reduce.started, reduce.stops) = (Some(at(0)), stops);
            reduce.ending = Some(AttemptEnding { at: end, outcome, phases });
            let parts = parts(TaskKind::Reduce, &reduce, None, end);
            let mut around = vec![end];
            for part in parts {
                while around.last().is_some_and(|&outer| outer <= part.begin) && 1 < around.len() {
                    around.pop();
                }
                prop_assert!(part.begin <= part.end);
                prop_assert!(part.end <= *around.last().unwrap(), "{part:?}");
                around.push(part.end);
            }
        }
    }
}
