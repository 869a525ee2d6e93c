//! Finds jobs with long maps, and spreads these maps over the nodes.
//!
//! A new job counts as a job with long maps until its ended maps show otherwise.

use rustc_hash::FxHashMap;

use super::launches::Launches;
use mumakil_base::dense::grown;
use mumakil_base::mutated;
use mumakil_base::units::{SimSpan, SimTime};
use mumakil_core::mapred::{
    AttemptState, JobChange, JobEvent, JobId, Launched, TaskTimeSum, TrackerId, View,
};

/// The running maps of jobs with long maps, for each tracker.
#[derive(Debug, Default)]
pub struct LongTasks {
    limit: SimSpan,
    launches: Launches,
    ended: FxHashMap<JobId, TaskTimeSum>,
    /// The number of running maps of jobs with long maps, by tracker; `total` is the sum.
    on: Vec<u32>,
    total: u32,
}

impl LongTasks {
    /// Returns an empty count in which maps longer than `limit` are long.
    pub fn new(limit: SimSpan) -> Self {
        Self { limit, ..Self::default() }
    }

    /// Notes the launch of a map.
    pub fn launched(&mut self, at: SimTime, tracker: TrackerId, launched: Launched) {
        self.launches.note(at, tracker, launched);
        if self.is_long(launched.attempt.job()) {
            self.count(tracker, 1);
        }
    }

    /// Notes an event of a job; to be called with every event.
    pub fn job_changed(&mut self, view: &View<'_>, event: &JobEvent) {
        let was_long = self.is_long(event.job);
        if let JobChange::Ended(_) = event.change {
            // Before `launches` forgets the job, or its maps would count for ever.
            if was_long {
                self.recount(event.job, -1);
            }
            self.ended.remove(&event.job);
            self.launches.job_changed(event);
            return;
        }
        let Some((_, state, launch)) = self.launches.job_changed(event) else { return };
        if was_long {
            self.count(launch.tracker, mutated!(-1, "long/never-ends" => 0));
        }
        if state == AttemptState::Succeeded {
            let took = view.now().saturating_since(launch.at);
            self.ended.entry(event.job).or_default().add(took);
        }
        if was_long != self.is_long(event.job) {
            self.recount(event.job, if was_long { -1 } else { 1 });
        }
    }

    /// Returns whether a job has long maps and the tracker already runs more long maps than the
    /// average tracker.
    pub fn crowds(&self, view: &View<'_>, job: JobId, tracker: TrackerId) -> bool {
        let here = self.on.get(tracker.index()).copied().unwrap_or(0);
        // This is the paper's "higher-than-average number of long tasks", without a division.
        let beside = u64::from(here) + mutated!(0, "long/at-average" => 1);
        self.is_long(job) && u64::from(self.total) < beside * u64::from(view.trackers())
    }

    fn is_long(&self, job: JobId) -> bool {
        // The paper assumes that a new job has long tasks until some have ended quickly.
        match self.ended.get(&job) {
            None => mutated!(true, "long/new-is-short" => false),
            Some(ended) => ended.is_above(self.limit),
        }
    }

    /// Adds `by` for each running map of a job to its tracker's count.
    fn recount(&mut self, job: JobId, by: i32) {
        let trackers: Vec<TrackerId> = self.launches.of(job).map(|launch| launch.tracker).collect();
        for tracker in trackers {
            self.count(tracker, by);
        }
    }

    fn count(&mut self, tracker: TrackerId, by: i32) {
        let here = grown(&mut self.on, tracker.index());
        *here = here.saturating_add_signed(by);
        self.total = self.total.saturating_add_signed(by);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mumakil_core::mapred::{
        MapReach, Offer, PerSlot, PolicyBench, Reason, Scheduler, SlotKind,
    };

    /// A policy that launches the maps of jobs in the order of their numbers, unless the tracker
    /// has too many long maps.
    struct Spread(LongTasks);

    impl Scheduler for Spread {
        fn job_changed(&mut self, view: &View<'_>, event: &JobEvent) {
            self.0.job_changed(view, event);
        }

        fn offer(&mut self, offer: &mut Offer<'_>) {
            let jobs: Vec<JobId> =
                offer.running_jobs().map(mumakil_core::mapred::Job::id).collect();
            for job in jobs {
                while 0 < offer.free(SlotKind::Map)
                    && !self.0.crowds(&offer.view(), job, offer.tracker())
                    && let Some(launched) = offer.launch_map(job, MapReach::Any, Reason::Sample)
                {
                    self.0.launched(offer.view().now(), offer.tracker(), launched);
                }
            }
        }
    }

    /// Returns four trackers of two map slots; maps of more than a minute are long.
    fn bench() -> PolicyBench<Spread> {
        let spread = Spread(LongTasks::new(SimSpan::from_secs(60)));
        PolicyBench::new(spread, 4, PerSlot { map: 2, reduce: 0 })
    }

    fn launched<const N: usize>(bench: &mut PolicyBench<Spread>, trackers: [u32; N]) -> [usize; N] {
        trackers.map(|tracker| bench.offer(tracker).len())
    }

    #[test]
    fn a_tracker_gets_no_second_long_map_before_all_others_have_one() {
        let mut bench = bench();
        bench.submit(8, 0, |_| {});
        assert_eq!(launched(&mut bench, [0, 0, 1, 2, 2]), [1, 0, 1, 1, 0]);
        // The last tracker gets two maps at once, since each other tracker already runs one.
        assert_eq!(launched(&mut bench, [3, 0]), [2, 1]);
    }

    #[test]
    fn a_job_is_one_of_long_maps_until_those_that_have_ended_say_otherwise() {
        for (seconds, then) in [(60.0, 2), (61.0, 1)] {
            let mut bench = bench();
            let job = bench.submit(8, 0, |_| {});
            assert_eq!(launched(&mut bench, [0, 1]), [1, 1]);
            bench.at(seconds).end_first(job, SlotKind::Map, 1);
            assert_eq!(launched(&mut bench, [0]), [then], "after {seconds} s");
        }
    }

    #[test]
    fn the_long_maps_of_a_job_that_has_ended_crowd_nobody() {
        let mut bench = bench();
        let job = bench.submit(1, 0, |_| {});
        bench.submit(8, 0, |_| {});
        assert_eq!(launched(&mut bench, [0]), [1]);
        bench.at(90.0).end_first(job, SlotKind::Map, 1);
        assert_eq!((bench.policy.0.total, launched(&mut bench, [0])), (0, [1]));
    }
}
