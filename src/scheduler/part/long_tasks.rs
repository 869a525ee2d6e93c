//! Which jobs have long maps, and how these are spread over the nodes.
//!
//! A new job counts as one of long maps until the maps of it that have ended say otherwise.

use rustc_hash::FxHashMap;

use super::launches::Launches;
use crate::mapred::{AttemptState, JobChange, JobEvent, JobId, Launched, TrackerId, View};
use crate::units::{SimSpan, SimTime};

/// The maps of jobs that have long ones.
#[derive(Debug)]
pub struct LongTasks {
    /// What is longer than this is long.
    limit: SimSpan,
    launches: Launches,
    ended: FxHashMap<JobId, Ended>,
    /// How many maps of jobs with long ones run on each tracker.
    on: Vec<u32>,
    total: u32,
}

/// The maps of a job that have ended.
#[derive(Clone, Copy, Debug, Default)]
struct Ended {
    maps: u32,
    time: SimSpan,
}

impl LongTasks {
    /// Returns what tells maps that are longer than `limit` from others.
    pub fn new(limit: SimSpan) -> Self {
        Self {
            limit,
            launches: Launches::default(),
            ended: FxHashMap::default(),
            on: Vec::new(),
            total: 0,
        }
    }

    /// Notes the launch of a map.
    pub fn launched(&mut self, at: SimTime, tracker: TrackerId, launched: Launched) {
        self.launches.note(at, tracker, launched);
        if self.is_long(launched.attempt.job()) {
            self.count(tracker, 1);
        }
    }

    /// Hears of a job; to be called with all news.
    pub fn job_changed(&mut self, view: &View<'_>, event: &JobEvent) {
        let was_long = self.is_long(event.job);
        if let JobChange::Ended(_) = event.change {
            if was_long {
                self.recount(event.job, -1);
            }
            self.ended.remove(&event.job);
            self.launches.job_changed(event);
            return;
        }
        let Some((_, state, launch)) = self.launches.job_changed(event) else { return };
        if was_long {
            self.count(launch.tracker, -1);
        }
        if state == AttemptState::Succeeded {
            let ended = self.ended.entry(event.job).or_default();
            ended.maps += 1;
            ended.time += view.now().saturating_since(launch.at);
        }
        if was_long != self.is_long(event.job) {
            self.recount(event.job, if was_long { -1 } else { 1 });
        }
    }

    /// Returns whether a job has long maps, of which the tracker runs more than others do.
    pub fn crowds(&self, view: &View<'_>, job: JobId, tracker: TrackerId) -> bool {
        let here = self.on.get(tracker.index()).copied().unwrap_or(0);
        self.is_long(job) && u64::from(self.total) < u64::from(here) * u64::from(view.trackers())
    }

    fn is_long(&self, job: JobId) -> bool {
        let Some(Ended { maps, time }) = self.ended.get(&job) else { return true };
        self.limit * u64::from(*maps) < *time
    }

    /// Counts the maps of a job that run, or no longer counts them.
    fn recount(&mut self, job: JobId, by: i32) {
        let trackers: Vec<TrackerId> = self.launches.of(job).map(|launch| launch.tracker).collect();
        for tracker in trackers {
            self.count(tracker, by);
        }
    }

    fn count(&mut self, tracker: TrackerId, by: i32) {
        if self.on.len() <= tracker.index() {
            self.on.resize(tracker.index() + 1, 0);
        }
        let here = &mut self.on[tracker.index()];
        *here = here.saturating_add_signed(by);
        self.total = self.total.saturating_add_signed(by);
    }
}
