//! Which outputs of maps are there for the reduces.
//!
//! The JobTracker counts the maps that are done and does not know whose machine has died. Reduces
//! find out, each for itself: what they cannot fetch is named to them beside the count, and their
//! complaints come with heartbeats. With enough of these the map has failed and runs again; else it
//! does when its tracker is missed.

use super::Ledger;
use crate::mapred::job::{Job, Stage};
use crate::mapred::{
    AttemptId, AttemptState, FailedFetch, Missing, Outbox, Outcome, TaskId, TaskKind,
};
use crate::units::SimTime;

/// A map has failed only after so many complaints of its output: Hadoop's constant.
const LEAST_COMPLAINTS: u32 = 3;

impl Ledger {
    /// Appends which outputs of a job's maps its reduces cannot fetch, or not any more. Walks all
    /// maps while a machine is dead that has not been missed.
    pub(in crate::mapred) fn name_missing(&self, job: &Job, missing: &mut Vec<Missing>) {
        missing.extend(job.lost_outputs.values());
        if self.dark.is_empty() {
            return;
        }
        for (index, task) in (0..).zip(&job.maps.tasks) {
            if let Stage::Done(number, at) = task.stage
                && self.dark.contains(&at)
            {
                let map = TaskId { job: job.id(), kind: TaskKind::Map, index }.attempt(number);
                missing.push(Missing { map, at, order: task.order, is_lost: false });
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
        job.lost_outputs.insert(map.task.index, Missing { map, at, order, is_lost: true });
        if failed {
            self.count_failure(map, at);
        }
        let task = self.known_mut(id).known_task(map.task);
        let is_exhausted = failed && most <= task.failures;
        if is_exhausted {
            task.stage = Stage::Dead;
        } else {
            self.put_back(now, map.task);
        }
        self.recount(now, id);
        let state = if failed { AttemptState::Failed } else { AttemptState::Killed };
        self.learn(now, map, at, state, out);
        if is_exhausted {
            self.give_up(now, map.task, out);
        }
    }
}
