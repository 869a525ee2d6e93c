//! SRT, shortest remaining time: the job whose maps will end first gets slots for its reduces
//! first.
//!
//! A reduce waits in its slot for the last map of its job, so slots should go to a job whose maps
//! end soon. This is the comparator of the paper ("SRT", its Algorithm 1). A job that has run for
//! `T`, with `f` finished and `p` pending maps, needs about `T / f * p` more. Without a finished
//! map this time is unknown: such jobs come last, the job with fewer pending maps first. Of two
//! jobs without pending maps, the job with fewer maps comes first. Otherwise jobs keep the order of
//! their policy. The time `T` begins when the job may launch tasks, since its setup and its wait
//! for admission say nothing about its maps.
//!
//! The paper leaves the running maps out of this formula. It names two other ways, which
//! [`RunningMaps`] offers; `f(U) = max(f(R), f(P))` joins running and pending maps. The paper's
//! section on drawbacks adds that a reduce could fetch data meanwhile: with a `shuffle_rate`, the
//! time for fetching does not count as waiting.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use mumakil_base::mutated;
use mumakil_base::units::{Rate, SimTime};
use mumakil_core::mapred::{Job, JobId, SlotKind, View};

/// In what order jobs get slots for their reduces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReduceOrder {
    /// The same order as for maps.
    #[default]
    AsMaps,
    /// First the job whose maps have the shortest remaining time.
    Srt,
}

/// How the remaining time of a job's maps is computed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SrtSpec {
    /// The time that running maps add to the remaining time.
    pub running_maps: RunningMaps,
    /// How fast a reduce fetches. The time to fetch what the maps have already written does not
    /// count as waiting. Without this, fetching is ignored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shuffle_rate: Option<Rate>,
}

/// The time that running maps add to the remaining time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunningMaps {
    /// Nothing. This is the paper's choice.
    #[default]
    Ignored,
    /// As much as pending maps.
    AsPending,
    /// The time that each running map has left, by its progress.
    ByProgress,
}

/// The sort key of a job: lower keys come first, in the order of the variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum SrtRank {
    // As in the paper's comparator: first jobs whose reduces need not wait, then jobs with a known
    // wait, then jobs without a finished map.
    /// Its reduces would not wait; holds the number of finished maps.
    NoWait(u32),
    /// Its reduces would wait; holds the time in nanoseconds.
    Wait(u64),
    /// The time is unknown; holds the number of maps left, in billionths.
    Unknown(u64),
}

/// The numbers of a job from which its remaining time is computed.
#[derive(Clone, Copy, Debug, Default)]
struct Maps {
    /// How long the job has been running, in seconds.
    time: f64,
    finished: u32,
    pending: u32,
    running: u32,
    /// The sum of the progress of running maps, from 0 to 1 each.
    progress: f64,
    /// How long a reduce would take to fetch what the maps have written so far, in seconds.
    fetching: f64,
}

impl SrtSpec {
    /// Returns whether the order needs the progress of running maps.
    pub fn reads_progress(&self) -> bool {
        self.running_maps == RunningMaps::ByProgress
    }

    /// Sorts jobs; `may_run_since` returns when the policy first let a job run. Equal jobs keep
    /// their order. Takes a few look-ups for each job.
    pub fn sort(
        &self,
        view: &View<'_>,
        jobs: &mut [JobId],
        may_run_since: impl Fn(JobId) -> Option<SimTime>,
    ) {
        // The sort is stable: where the paper's comparator returns 0, the policy's order is kept.
        mutated!((), "srt/ties-reversed" => jobs.reverse());
        jobs.sort_by_cached_key(|id| {
            let since = may_run_since(*id).unwrap_or(SimTime::ZERO);
            view.job(*id).map(|job| self.remaining(&self.maps(view.now(), job, since)))
        });
    }

    fn maps(&self, now: SimTime, job: &Job, admitted_at: SimTime) -> Maps {
        let maps = job.tasks(SlotKind::Map);
        // The paper's `T` begins here, after the setup and the wait for admission.
        let since = mutated!(
            job.running_at().max(admitted_at),
            "srt/submission" => job.submitted_at(),
        );
        // A job without maps has no output to fetch; `max` avoids 0 / 0.
        let written = mutated!(maps.finished(), "srt/fetch-all" => maps.total());
        let share = f64::from(written) / f64::from(maps.total().max(1));
        let there = job.spec().reduce.shuffle.mean().get() as f64 * share;
        Maps {
            time: now.saturating_since(since).as_secs_f64(),
            finished: maps.finished(),
            // Use `waiting`, since `pending` also counts slow maps, which are running already.
            pending: job.waiting(SlotKind::Map),
            running: maps.running(),
            progress: maps.progress(),
            fetching: self.shuffle_rate.map_or(0.0, |rate| there / rate.bytes_per_s() as f64),
        }
    }

    fn remaining(&self, maps: &Maps) -> SrtRank {
        // Round to whole numbers, since fractions that should be equal may differ slightly.
        let billionths = |number: f64| (number * 1e9).round() as u64;
        let left = self.left(maps);
        let known = f64::from(maps.finished);
        // The paper uses +∞ here: without a finished map the mean time is unknown.
        if maps.finished == 0 {
            return mutated!(
                SrtRank::Unknown(billionths(left)),
                "srt/unknown-tie" => SrtRank::Unknown(0),
                "srt/unknown-first" => SrtRank::NoWait(0),
            );
        }
        let each = mutated!(
            maps.time / known,
            "srt/pending" => 1.0,
            "srt/progress" => 1.0 / (known + left + f64::from(maps.running)),
            "srt/mean" => maps.time,
            "srt/launched" => maps.time / (known + f64::from(maps.running)),
        );
        let fetching = mutated!(maps.fetching, "srt/fetching" => -maps.fetching);
        match (each * left - fetching).max(0.0) {
            0.0 => SrtRank::NoWait(mutated!(maps.finished, "srt/no-wait-tie" => 0)),
            wait => SrtRank::Wait(mutated!(billionths(wait), "srt/longest" => !billionths(wait))),
        }
    }

    /// Returns for how many maps the reduces of the job still have to wait, with running maps
    /// counted as the options say.
    fn left(&self, maps: &Maps) -> f64 {
        let (pending, running) = (f64::from(maps.pending), f64::from(maps.running));
        match self.running_maps {
            RunningMaps::Ignored => mutated!(pending, "srt/running" => pending + running),
            RunningMaps::AsPending => mutated!(pending + running, "srt/not-pending" => pending),
            RunningMaps::ByProgress => mutated!(
                pending.max(running - maps.progress),
                "srt/progress-sum" => pending + running - maps.progress,
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use proptest::prelude::*;

    use super::*;

    fn srt(running_maps: RunningMaps) -> SrtSpec {
        SrtSpec { running_maps, shuffle_rate: None }
    }

    fn maps(time: f64, finished: u32, pending: u32) -> Maps {
        Maps { time, finished, pending, ..Maps::default() }
    }

    fn compare(one: Maps, other: Maps) -> Ordering {
        let srt = srt(RunningMaps::Ignored);
        srt.remaining(&one).cmp(&srt.remaining(&other))
    }

    /// Algorithm 1, line by line.
    fn algorithm_1(one: Maps, other: Maps) -> Ordering {
        match (one.finished, other.finished) {
            (0, 1..) => Ordering::Greater,
            (1.., 0) => Ordering::Less,
            (0, 0) => one.pending.cmp(&other.pending),
            _ if one.pending == 0 && other.pending == 0 => one.finished.cmp(&other.finished),
            _ => {
                // Compares T1 / f1 * p1 with T2 / f2 * p2, without fractions.
                let part = |m: Maps, n: Maps| m.time as u32 * m.pending * n.finished;
                part(one, other).cmp(&part(other, one))
            }
        }
    }

    #[test]
    fn the_paper_has_an_example() {
        let rank = srt(RunningMaps::Ignored).remaining(&maps(240.0, 2, 1));
        assert_eq!(rank, SrtRank::Wait(120_000_000_000), "4 min / 2 * 1 = 2 min");
    }

    #[test]
    fn a_job_without_a_finished_map_comes_last() {
        assert_eq!(compare(maps(10.0, 0, 1), maps(1e6, 1, 1_000)), Ordering::Greater);
        assert_eq!(compare(maps(10.0, 0, 3), maps(99.0, 0, 4)), Ordering::Less);
        assert_eq!(compare(maps(10.0, 0, 3), maps(99.0, 0, 3)), Ordering::Equal);
    }

    #[test]
    fn of_two_whose_maps_run_or_are_done_the_one_with_fewer_is_first() {
        assert_eq!(compare(maps(10.0, 5, 0), maps(1.0, 6, 0)), Ordering::Less);
        assert_eq!(compare(maps(10.0, 5, 0), maps(1.0, 5, 0)), Ordering::Equal);
        assert_eq!(compare(maps(10.0, 500, 0), maps(1.0, 5, 1)), Ordering::Less);
    }

    #[test]
    fn the_shorter_remaining_time_is_first() {
        // A job with four fifths of its maps done may take longer than a job with a fifth done.
        assert_eq!(compare(maps(800.0, 80, 20), maps(10.0, 20, 80)), Ordering::Greater);
        assert_eq!(compare(maps(100.0, 10, 5), maps(50.0, 5, 5)), Ordering::Equal);
    }

    #[test]
    fn running_maps_count_as_they_should() {
        let job = Maps { running: 4, progress: 3.5, ..maps(100.0, 10, 2) };
        let wait = |running_maps| srt(running_maps).remaining(&job);
        assert_eq!(wait(RunningMaps::Ignored), SrtRank::Wait(20_000_000_000));
        assert_eq!(wait(RunningMaps::AsPending), SrtRank::Wait(60_000_000_000));
        assert_eq!(wait(RunningMaps::ByProgress), SrtRank::Wait(20_000_000_000), "two, not 0.5");
        let last = Maps { pending: 0, ..job };
        assert_eq!(srt(RunningMaps::ByProgress).remaining(&last), SrtRank::Wait(5_000_000_000));
        assert_eq!(srt(RunningMaps::Ignored).remaining(&last), SrtRank::NoWait(10));
    }

    #[test]
    fn running_maps_count_as_well_before_the_first_has_ended() {
        let job = Maps { running: 4, progress: 1.5, ..maps(100.0, 0, 2) };
        let rank = |running_maps| srt(running_maps).remaining(&job);
        assert_eq!(rank(RunningMaps::Ignored), SrtRank::Unknown(2_000_000_000));
        assert_eq!(rank(RunningMaps::AsPending), SrtRank::Unknown(6_000_000_000));
        assert_eq!(rank(RunningMaps::ByProgress), SrtRank::Unknown(2_500_000_000));
        assert!(
            rank(RunningMaps::Ignored) > srt(RunningMaps::Ignored).remaining(&maps(1e6, 1, 1_000))
        );
    }

    #[test]
    fn fetches_in_the_meantime_are_no_wait() {
        let job = |fetching| Maps { fetching, ..maps(100.0, 10, 2) };
        let rank = |fetching| srt(RunningMaps::Ignored).remaining(&job(fetching));
        assert_eq!(rank(15.0), SrtRank::Wait(5_000_000_000));
        assert_eq!(rank(30.0), SrtRank::NoWait(10));
    }

    fn any_maps() -> impl Strategy<Value = Maps> {
        // The numbers are small, so that ties are frequent. The time is never 0.
        (1u32..6, 0u32..4, 0u32..4, 0u32..4).prop_map(|(time, finished, pending, running)| Maps {
            running,
            progress: f64::from(running) / 2.0,
            ..maps(f64::from(time), finished, pending)
        })
    }

    proptest! {
        #[test]
        fn it_is_the_papers_comparator(one in any_maps(), other in any_maps()) {
            prop_assert_eq!(compare(one, other), algorithm_1(one, other));
        }

        #[test]
        fn the_papers_comparator_is_a_total_preorder(
            a in any_maps(), b in any_maps(), c in any_maps(),
        ) {
            prop_assert_eq!(algorithm_1(a, b), algorithm_1(b, a).reverse());
            if algorithm_1(a, b).is_le() && algorithm_1(b, c).is_le() {
                prop_assert!(algorithm_1(a, c).is_le());
            }
        }
    }
}
