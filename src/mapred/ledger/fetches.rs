//! Which outputs of maps are there for the reduces.
//!
//! The JobTracker counts the maps that are done and does not know which machines are out of reach. Reduces
//! find out, each for itself: what they cannot fetch is named to them beside the count, and their
//! complaints come with heartbeats. With enough of these the map has failed and runs again; else it
//! does when its tracker is missed.

use std::sync::Arc;

use super::{Ledger, entry};
use crate::cluster::{Cut, TrackerId};
use crate::mapred::job::{Job, Stage};
use crate::mapred::{
    AttemptId, AttemptState, Fact, FailedFetch, Incident, Missing, Outbox, Outcome, TaskId,
    TaskKind,
};
use crate::units::SimTime;

/// A map has failed only after so many complaints of its output: Hadoop's constant.
const LEAST_COMPLAINTS: u32 = 3;

impl Ledger {
    /// Notes that a machine, or its tracker, is gone. Of one that has not joined nothing is missed.
    pub(in crate::mapred) fn darken(&mut self, tracker: TrackerId) {
        if self.trackers[tracker.index()].is_registered {
            self.dark.insert(tracker);
        }
    }

    /// Notes that nodes are cut off from the others, or are so no more. Cuts may overlap: a node is cut off
    /// from the first that has it to the last.
    pub(in crate::mapred) fn cut(&mut self, now: SimTime, cut: Arc<Cut>, out: &mut Outbox) {
        let begins = cut.holds(now);
        let incident = if begins { Incident::CutOff } else { Incident::Reconnected };
        // Each goes by its own message: of those that end at once the last one reconnects.
        self.cuts.retain(|other| !Arc::ptr_eq(other, &cut));
        for node in &cut.nodes {
            if !self.cuts.iter().any(|other| other.nodes.contains(node)) {
                out.emit(now, Fact::befell(*node, incident));
            }
        }
        if begins {
            self.cuts.push(cut);
        }
    }

    /// Notes that the outputs of maps on a machine's disks are gone. Walks all maps of running jobs.
    pub(in crate::mapred) fn spoil(&mut self, tracker: TrackerId) {
        for id in &self.running {
            let job = entry(&mut self.jobs, *id);
            for (index, task) in (0..).zip(&job.maps.tasks) {
                if let Stage::Done(number, at) = task.stage
                    && at == tracker
                {
                    let map = TaskId { job: *id, kind: TaskKind::Map, index }.attempt(number);
                    job.unreadable.insert(map);
                }
            }
        }
    }

    /// Notes that the output of a map is gone whose end may not have been reported.
    pub(in crate::mapred) fn spoil_output(&mut self, map: AttemptId) {
        // When its job has ended, nobody reads it.
        if self.job(map.job()).is_some_and(Job::is_running) {
            self.known_mut(map.job()).unreadable.insert(map);
        }
    }

    /// Appends which outputs of a job's maps its reduces on a tracker cannot fetch, or not any more.
    /// Walks all maps while a machine is dead that has not been missed, or is cut off.
    pub(in crate::mapred) fn name_missing(
        &self,
        job: &Job,
        by: TrackerId,
        missing: &mut Vec<Missing>,
    ) {
        missing.extend(job.lost_outputs.values());
        if self.dark.is_empty() && self.cuts.is_empty() && job.unreadable.is_empty() {
            return;
        }
        let is_cut_off = |at| self.cuts.iter().any(|cut| cut.parts(Some(at), Some(by)));
        for (index, task) in (0..).zip(&job.maps.tasks) {
            let Stage::Done(number, at) = task.stage else { continue };
            let map = TaskId { job: job.id(), kind: TaskKind::Map, index }.attempt(number);
            let is_out_of_reach = self.dark.contains(&at) || is_cut_off(at);
            let is_unreadable = !is_out_of_reach && job.unreadable.contains(&map);
            if is_out_of_reach || is_unreadable {
                let order = task.order;
                missing.push(Missing { map, at, order, is_lost: false, is_unreadable });
            }
        }
    }

    /// Notes that a reduce complains of a map's output: after three complaints, and one for every two
    /// reduces that run, the map has failed.
    pub(in crate::mapred) fn complain(
        &mut self,
        now: SimTime,
        FailedFetch { reduce, map }: FailedFetch,
        out: &mut Outbox,
    ) {
        let job = self.known_mut(map.job());
        // The job may have ended, or the map may run again already.
        let is_there = |stage| matches!(stage, Stage::Done(number, _) if number == map.number);
        let is_known = job.task(map.task).is_some_and(|task| is_there(task.stage));
        if !is_known || !job.is_running() {
            return;
        }
        assert!(reduce.job() == map.job(), "{now}: {reduce} fetches from {map}");
        let complaints = job.failed_fetches.entry(map).or_default();
        *complaints += 1;
        if LEAST_COMPLAINTS <= *complaints && job.reduces.running <= 2 * *complaints {
            self.lose_output(now, map, Outcome::Failed, out);
        }
    }

    /// Makes a completed map run again, since its output is lost; unless it has failed too often.
    pub(super) fn lose_output(
        &mut self,
        now: SimTime,
        map: AttemptId,
        outcome: Outcome,
        out: &mut Outbox,
    ) {
        let most = self.hadoop.max_attempts.get();
        let failed = outcome == Outcome::Failed;
        let id = map.job();
        let job = self.known_mut(id);
        let task = job.known_task(map.task);
        let Stage::Done(_, at) = task.stage else { panic!("{now}: {map} has no output to lose") };
        let order = task.order;
        job.maps.finished -= 1;
        job.failed_fetches.remove(&map);
        job.unreadable.remove(&map);
        let lost = Missing { map, at, order, is_lost: true, is_unreadable: false };
        job.lost_outputs.insert(map.task.index, lost);
        if failed {
            self.count_failure(map, at);
        }
        let task = self.known_mut(id).known_task(map.task);
        let is_exhausted = failed && most <= task.failures;
        if is_exhausted {
            task.stage = Stage::Dead;
        } else if task.tries.is_empty() {
            self.put_back(now, map.task);
        } else {
            // A rival that it has beaten is not off its tracker yet; with its end the map waits.
            task.stage = Stage::Active;
        }
        self.recount(now, id);
        let state = if failed { AttemptState::Failed } else { AttemptState::Killed };
        self.learn(now, map, at, state, out);
        if is_exhausted {
            self.give_up(now, map.task, out);
        }
    }
}
