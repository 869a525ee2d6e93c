//! The outputs that a reduce cannot fetch. The reduce tries again, with longer and longer pauses,
//! and complains.
//!
//! Everything is as in Hadoop. A reduce tries all outputs on a machine together. After a failure it
//! leaves the machine alone for 10 s, times 1.3 for each failure so far. It complains to the
//! JobTracker after every tenth failure of an output, so for the first time after seven minutes,
//! the sum of nine pauses. But if the machine answers and cannot read the output, the reduce
//! complains at once. After too many failures of one output the reduce gives up.

use std::collections::BTreeMap;

use crate::cluster::TrackerId;
use crate::mapred::heartbeat::Missing;
use crate::mapred::ids::{AttemptId, JobId};
use mumakil_base::units::{SimSpan, SimTime};

/// The pause after a failure at a machine, before [`GROWTH`] lengthens it.
// ShuffleScheduler.java: `INITIAL_PENALTY = 10000`.
const PENALTY: SimSpan = SimSpan::from_secs(10);

/// The factor by which each failure of an output lengthens the next pause.
// ShuffleScheduler.java: `PENALTY_GROWTH_RATE = 1.3f`.
const GROWTH: f64 = 1.3;

/// How many failures of an output make the reduce complain once.
// `mapreduce.reduce.shuffle.maxfetchfailures`, 10 by default.
const FAILURES_PER_COMPLAINT: u32 = 10;

/// A reduce gives up after this many failures of one output; in a job with more than 300 maps,
/// after more.
// ShuffleScheduler.java: `abortFailureLimit = max(30, totalMaps / 10)`.
const PATIENCE: u32 = 30;

/// Returns how long a reduce of a job with `maps` maps tries to fetch a missing output until it
/// gives up, but at most a month. (Each ten maps beyond three hundred make the time a third
/// longer.)
pub(super) fn longest_trial(maps: u32) -> SimSpan {
    // Chosen: no run waits for a month, and the sum is far from overflowing.
    const MONTH: SimSpan = SimSpan::from_secs(30 * 24 * 60 * 60);
    let mut all = SimSpan::ZERO;
    for failures in 1..patience(maps) {
        all += pause_after(failures);
        if MONTH <= all {
            return MONTH;
        }
    }
    all
}

/// Returns how many failures of one output make a reduce give up, in a job of `maps` maps.
fn patience(maps: u32) -> u32 {
    PATIENCE.max(maps / 10)
}

/// Returns the pause at a machine after an output has failed `failures` times.
fn pause_after(failures: u32) -> SimSpan {
    (0..failures).fold(PENALTY, |pause, _| pause.ceil_mul(GROWTH))
}

/// The outputs of maps that were reported as missing.
#[derive(Debug, Default)]
pub(super) struct Unfetched {
    outputs: Vec<UnfetchedOutput>,
    /// When the reduce next tries each machine.
    due: BTreeMap<TrackerId, SimTime>,
}

#[derive(Debug)]
struct UnfetchedOutput {
    map: AttemptId,
    at: TrackerId,
    is_lost: bool,
    is_unreadable: bool,
    /// Whether the reduce had fetched the output before it was lost.
    is_here: bool,
    failures: u32,
}

impl UnfetchedOutput {
    fn is_wanted(&self) -> bool {
        !self.is_here && !self.is_lost
    }
}

impl Unfetched {
    pub(super) fn is_empty(&self) -> bool {
        self.outputs.is_empty()
    }

    /// Notes which outputs of a job's maps are missing. The reduce has the outputs of the first
    /// `fetched` maps that ended; it tries other missing outputs from the instant `asks` on.
    pub(super) fn hear(&mut self, asks: SimTime, job: JobId, missing: &[Missing], fetched: u32) {
        let earlier = std::mem::take(&mut self.outputs);
        for missing in missing.iter().filter(|missing| missing.map.job() == job) {
            let Missing { map, at, order, is_lost, is_unreadable } = *missing;
            let known = earlier.iter().find(|output| output.map == map);
            self.outputs.push(UnfetchedOutput {
                map,
                at,
                is_lost,
                is_unreadable,
                // Outputs are fetched in the order in which the maps ended. An output that was
                // fetched once stays fetched.
                is_here: known.map_or(order < fetched, |output| output.is_here),
                failures: known.map_or(0, |output| output.failures),
            });
        }
        let wanted = || self.outputs.iter().filter(|output| output.is_wanted());
        // Forget machines without a wanted output, and their pauses.
        self.due.retain(|at, _| wanted().any(|output| output.at == *at));
        for output in wanted() {
            // A pause at a machine stays as it is if further outputs become missing there.
            self.due.entry(output.at).or_insert(asks);
        }
    }

    /// Returns how many maps' outputs can be fetched or have been fetched, if the reply says that
    /// `done` maps have ended.
    pub(super) fn at_hand(&self, done: u32) -> u32 {
        let wanted = self.outputs.iter().filter(|output| output.is_wanted()).count();
        let kept = self.outputs.iter().filter(|output| output.is_here && output.is_lost).count();
        // A lost output is not counted in `done`, but the reduce may have fetched it earlier.
        done + kept as u32 - wanted as u32
    }

    /// Puts off until `now` the tries that were due before; the reduce did not fetch meanwhile.
    pub(super) fn wait(&mut self, now: SimTime) {
        self.due.values_mut().for_each(|due| *due = now.max(*due));
    }

    /// Makes the tries that are due by now, for a reduce of a job of `maps` maps. Returns the
    /// outputs that the reduce complains about, and whether it gives up.
    pub(super) fn try_again(&mut self, now: SimTime, maps: u32) -> (Vec<AttemptId>, bool) {
        let patience = patience(maps);
        let mut complaints = Vec::new();
        for (at, due) in &mut self.due {
            // Several tries may have been due since the last heartbeat. Each machine in `due` has a
            // wanted output (see `hear`), so `fewest` is a real count and the time moves on.
            while *due <= now {
                // The next try at the machine is when the shortest pause of its outputs ends.
                let mut fewest = u32::MAX;
                for output in
                    self.outputs.iter_mut().filter(|output| output.at == *at && output.is_wanted())
                {
                    output.failures += 1;
                    fewest = fewest.min(output.failures);
                    if output.is_unreadable || output.failures % FAILURES_PER_COMPLAINT == 0 {
                        complaints.push(output.map);
                    }
                    if patience <= output.failures {
                        return (complaints, true);
                    }
                }
                *due += pause_after(fewest);
            }
        }
        (complaints, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapred::ids::{TaskId, TaskKind};

    fn missing(index: u32, at: u32, is_lost: bool) -> Missing {
        let map = TaskId { job: JobId(0), kind: TaskKind::Map, index }.attempt(0);
        Missing { map, at: TrackerId(at), order: index, is_lost, is_unreadable: false }
    }

    /// Returns a reduce that has fetched two outputs and learns at the start that these are
    /// missing.
    fn unfetched(all: &[Missing]) -> Unfetched {
        let mut unfetched = Unfetched::default();
        unfetched.hear(SimTime::ZERO, JobId(0), all, 2);
        unfetched
    }

    /// Returns the seconds at which a reduce of a job of `maps` maps complains, and when it gives
    /// up.
    fn fate(mut unfetched: Unfetched, maps: u32) -> (Vec<u64>, u64) {
        let mut complaints = Vec::new();
        for second in 0.. {
            let now = SimTime::ZERO + SimSpan::from_secs(second);
            let (of, gives_up) = unfetched.try_again(now, maps);
            complaints.extend(of.iter().map(|_| second));
            if gives_up {
                return (complaints, second);
            }
        }
        unreachable!("it gives up some day")
    }

    #[test]
    fn a_reduce_complains_at_every_tenth_failure_and_gives_up_at_the_thirtieth() {
        let (complaints, end) = fate(unfetched(&[missing(5, 1, false)]), 100);
        // 10 s x (1.3 + 1.3^2 + ... + 1.3^9), and so on up to the nineteenth and the twenty-ninth.
        assert_eq!(complaints, [417, 6_292, 87_290]);
        assert_eq!(end, 87_290);
        assert!(longest_trial(100).as_secs_f64().ceil() == 87_290.0, "{}", longest_trial(100));
        assert_eq!(longest_trial(300), longest_trial(1));
        assert_eq!(longest_trial(u32::MAX), SimSpan::from_secs(30 * 24 * 60 * 60));
    }

    #[test]
    fn unreadable_inputs_are_named_at_each_failure() {
        let spoilt = Missing { is_unreadable: true, ..missing(5, 1, false) };
        let mut unfetched = unfetched(&[spoilt]);
        let times = [0, 12, 13, 29, 30];
        let told = times.map(|second| {
            let now = SimTime::ZERO + SimSpan::from_secs(second);
            unfetched.try_again(now, 100).0.len()
        });
        assert_eq!(told, [1, 0, 1, 0, 1], "after pauses of 13 and 16.9 s");
    }

    #[test]
    fn in_a_job_of_many_maps_a_reduce_has_more_patience() {
        let (complaints, _) = fate(unfetched(&[missing(5, 1, false)]), 400);
        assert_eq!(complaints.len(), 4);
    }

    #[test]
    fn only_what_it_has_not_fetched_and_is_not_known_as_lost_is_missed() {
        let named = [missing(1, 1, false), missing(4, 1, false), missing(5, 2, true)];
        assert_eq!(unfetched(&named).at_hand(8), 7, "it has the first and misses the second");
        let lost = [missing(0, 1, true), missing(1, 1, true), missing(5, 1, true)];
        assert_eq!(unfetched(&lost).at_hand(5), 7, "two of those that are lost it has");
    }

    #[test]
    fn fetched_outputs_stay_and_unnamed_ones_are_there() {
        let mut unfetched = unfetched(&[missing(1, 1, false), missing(4, 1, false)]);
        unfetched.hear(SimTime::ZERO, JobId(0), &[missing(1, 1, true)], 0);
        assert_eq!(unfetched.at_hand(7), 8);
        unfetched.hear(SimTime::ZERO, JobId(0), &[], 0);
        assert_eq!((unfetched.at_hand(8), unfetched.is_empty()), (8, true));
    }

    #[test]
    fn a_reduce_that_does_not_fetch_does_not_fail() {
        let mut unfetched = unfetched(&[missing(5, 1, false)]);
        let later = SimTime::ZERO + SimSpan::from_secs(5_000);
        unfetched.wait(later);
        assert_eq!(unfetched.try_again(later, 10), (vec![], false), "this is the first failure");
    }
}
