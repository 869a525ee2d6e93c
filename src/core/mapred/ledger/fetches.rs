//! Outputs of maps, as far as the JobTracker knows: it counts the output of each map that is done,
//! until enough reduces complain.
//!
//! The JobTracker does not know which machines are out of reach. Reduces find out, each for itself,
//! and their complaints come with heartbeats. After enough complaints the map has failed and runs
//! again. With fewer complaints it runs again only when its tracker is lost.
//! [`MapOutputs`](crate::mapred::MapOutputs) knows the truth; this file sends it the outputs that
//! count.

use super::Ledger;
use crate::mapred::event::{AttemptState, Outcome};
use crate::mapred::heartbeat::{FailedFetch, Missing};
use crate::mapred::ids::{AttemptId, JobId};
use crate::mapred::job::TaskStage;
use crate::mapred::message::{MapOutput, ToMapOutputs};
use crate::mapred::outbox::Outbox;

/// A map fails only after this many complaints about its output: Hadoop's constant.
// JobInProgress.java: MAX_FETCH_FAILURES_NOTIFICATIONS.
const LEAST_COMPLAINTS: u32 = 3;

impl Ledger {
    /// Sends a change to `MapOutputs`, if the run has that core.
    pub(super) fn tell_outputs(&self, word: ToMapOutputs, out: &mut Outbox) {
        if self.tells_outputs {
            out.affect(word);
        }
    }

    /// Notes that an output counts, so that reduces may fetch it.
    pub(super) fn count_output(&mut self, output: MapOutput, out: &mut Outbox) {
        let tells = self.tells_outputs;
        let job = self.known_mut(output.map.job());
        // The output of a job without reduces goes to HDFS and is not fetched from the tracker.
        if tells && 0 < job.reduces.total {
            job.output_changes += 1;
            out.affect(ToMapOutputs::Counts(output.into()));
        }
    }

    /// Notes that the outputs of a job are no longer fetched.
    pub(super) fn forget_outputs(&self, job: JobId, out: &mut Outbox) {
        // `MapOutputs` does not know a job without changes.
        if 0 < self.known(job).output_changes {
            self.tell_outputs(ToMapOutputs::Over(job), out);
        }
    }

    /// Notes a reduce's complaint about a map's output: the map fails once there are at least three
    /// complaints, and at least half as many as running reduces.
    pub(crate) fn complain(&mut self, FailedFetch { reduce, map }: FailedFetch, out: &mut Outbox) {
        let now = out.now;
        let job = self.known_mut(map.job());
        // The job may have ended, or the map may run again already.
        let stage = job.task(map.task).map(|task| task.stage);
        let is_known = matches!(stage, Some(TaskStage::Done(number, _)) if number == map.number);
        if !is_known || !job.is_running() {
            return;
        }
        assert!(reduce.job() == map.job(), "{now}: {reduce} fetches from {map}");
        let complaints = job.failed_fetches.entry(map).or_default();
        *complaints += 1;
        // JobInProgress.java: MAX_ALLOWED_FETCH_FAILURES_PERCENT is 0.5, of the reduces that run.
        if LEAST_COMPLAINTS <= *complaints && job.reduces.running <= 2 * *complaints {
            self.lose_output(map, Outcome::Failed, out);
        }
    }

    /// Makes a completed map whose output is lost run again, unless it has failed too often.
    pub(super) fn lose_output(&mut self, map: AttemptId, outcome: Outcome, out: &mut Outbox) {
        let now = out.now;
        let failed = outcome == Outcome::Failed;
        let id = map.job();
        let job = self.known_mut(id);
        let most = job.settings.attempts.map;
        let task = job.known_task(map.task);
        let TaskStage::Done(_, at) = task.stage else {
            panic!("{now}: {map} has no output to lose")
        };
        let order = task.order;
        job.maps.finished -= 1;
        job.failed_fetches.remove(&map);
        job.output_changes += 1;
        let lost = Missing { map, at, order, is_lost: true, is_unreadable: false };
        job.lost_outputs.insert(map.task.index, lost);
        let rack = self.topology.rack(at);
        let job = self.known_mut(id);
        let weight = job.spec.output_weight(map.task.index);
        job.outputs.entry(rack).and_modify(|all| *all -= weight);
        self.tell_outputs(ToMapOutputs::Lost(map.into()), out);
        // A map whose tracker was lost is not to blame: its task gets no failure.
        if failed {
            self.count_failure(map, at);
        }
        let task = self.known_mut(id).known_task(map.task);
        let is_exhausted = failed && most <= task.failures;
        if is_exhausted {
            task.stage = TaskStage::Dead;
        } else if task.tries.is_empty() {
            self.requeue_task(now, map.task);
        } else {
            // A slower attempt of the task may still be on its tracker; when it ends, the map waits
            // again.
            task.stage = TaskStage::Active;
        }
        self.recount(now, id);
        let state = if failed { AttemptState::Failed } else { AttemptState::Killed };
        self.learn(map, at, state, out);
        if is_exhausted {
            self.give_up(map.task, out);
        }
    }
}
