//! Second attempts: which tasks of the running jobs are slow, and which tracker gets a second
//! attempt.
//!
//! The rules are in [`speculation`](crate::mapred::speculation); this file gives them the facts and
//! applies them. A slow task with one attempt counts as a task that its job could launch. So
//! policies need not know of second attempts.

use super::{Ledger, entry};
use crate::cluster::{SlotKind, TrackerId};
use crate::mapred::event::AttemptState;
use crate::mapred::heartbeat::LaunchOrder;
use crate::mapred::ids::{JobId, TaskId};
use crate::mapred::job::{
    Job, JobChange, JobEvent, KnownAttempt, Task, TaskStage, TaskTimeSum, Tasks,
};
use crate::mapred::ledger::launches::bars;
use crate::mapred::locality::Locality;
use crate::mapred::outbox::Outbox;
use crate::mapred::speculation::{BegunTask, LoneAttempt, ReportedTasks, Rule, SecondAttempts};
use mumakil_base::units::{SimSpan, SimTime};

use super::LaunchWish;

/// The JobTracker looks for slow tasks at most this often, as Hadoop's fair scheduler does.
/// Hadoop's other policies look each time they offer a slot to a job, and walk all its tasks.
// `mapred.fairscheduler.update.interval`, 500 ms by default.
const LOOKS: SimSpan = SimSpan::from_millis(500);

/// The ledger counts progress in millionths of a task.
pub(super) const MILLIONTHS: f64 = 1e6;

impl Ledger {
    /// Finds the slow tasks, unless the last search was less than `LOOKS` ago. Walks all tasks of
    /// jobs that have running and no waiting tasks.
    #[inline]
    pub(crate) fn look_for_slow_tasks(&mut self, now: SimTime) {
        let Some(rule) = self.hadoop.speculation.rule() else { return };
        if self.looked_at.is_some_and(|last| now.saturating_since(last) < LOOKS) {
            return;
        }
        self.looked_at = Some(now);
        if let Rule::Late(late) = rule {
            let active = self.trackers.iter().filter(|tracker| tracker.is_active());
            let work: Vec<f64> = active.map(|tracker| tracker.work as f64).collect();
            // In LATE a slow node gets no second attempts. The limit is the same for all jobs.
            self.least_work = late.least_work(&work);
        }
        // A copy, as recounting borrows the ledger.
        let running: Vec<JobId> = self.running.iter().copied().collect();
        for id in running {
            let mut has_changed = false;
            let speculates = self.known(id).settings.speculation;
            for kind in SlotKind::BOTH.into_iter().filter(|kind| speculates[*kind]) {
                let job = self.known_mut(id);
                let slow = job.tasks(kind).slow(rule, job.initialised_at, now);
                // Only the number of slow tasks counts here; the tasks themselves are read at the
                // launch.
                has_changed |= slow.len() != job.slow[kind].len();
                job.slow[kind] = slow;
            }
            if has_changed {
                self.recount(now, id);
                self.changes.push(JobEvent { job: id, change: JobChange::SlowTasks });
            }
        }
    }

    /// Returns how long after the last change a task may still be found slow: an idle cluster must
    /// be watched for so long.
    ///
    /// A rule that compares rates may need long: the rate of an attempt without progress falls
    /// slowly. After a day it is below the mean of any cluster whose tasks take minutes.
    pub(crate) fn slowness(&self) -> SimSpan {
        const DAY: SimSpan = SimSpan::from_secs(24 * 60 * 60);
        match self.hadoop.speculation.rule() {
            None => SimSpan::ZERO,
            Some(rule) if rule.compares_rates() => (rule.after() + LOOKS).max(DAY),
            Some(rule) => rule.after() + LOOKS,
        }
    }

    /// Takes a task off the list of slow tasks, if it is there.
    pub(super) fn unlist(&mut self, now: SimTime, task: TaskId) {
        let job = entry(&mut self.jobs, task.job);
        let slow = &mut job.slow[task.slot()];
        let place = slow.iter().position(|index| *index == task.index);
        // A setup or cleanup task may have the same index as a slow map: the map stays listed.
        if let Some(place) = place.filter(|_| task.is_work()) {
            slow.remove(place);
            self.recount(now, task.job);
        }
    }

    /// Launches a second attempt of one of a job's slow tasks, if the tracker may have one.
    pub(super) fn launch_second(
        &mut self,
        wish: LaunchWish,
        kind: SlotKind,
        out: &mut Outbox,
    ) -> Option<LaunchOrder> {
        let rule = self.hadoop.speculation.rule()?;
        if !self.may_try_again(rule, self.job(wish.job)?, wish.tracker, kind) {
            return None;
        }
        let (task, locality) = self.slow_task_for(rule, wish, kind)?;
        Some(self.assign(task, wish, locality, out))
    }

    /// Returns whether a job has slow tasks that may get a second attempt on this tracker.
    fn may_try_again(&self, rule: Rule, job: &Job, tracker: TrackerId, kind: SlotKind) -> bool {
        let tasks = job.tasks(kind);
        let seconds = SecondAttempts {
            of_job: tasks.seconds,
            // Count only first attempts. With `not-counted` the result could be negative, as an
            // attempt that waits for its commit is not counted as running.
            running: tasks.running.saturating_sub(tasks.seconds),
            of_all: self.seconds[kind],
            slots: self.capacity[kind],
        };
        let has_slow = !job.slow[kind].is_empty();
        has_slow && rule.has_room(seconds) && !self.is_slow_node(rule, job, tracker)
    }

    fn is_slow_node(&self, rule: Rule, job: &Job, tracker: TrackerId) -> bool {
        match rule {
            Rule::Hadoop020(_) => false,
            // Hadoop tests the times of both maps and reduces, for either kind of launch.
            Rule::Hadoop021(rates) => SlotKind::BOTH.into_iter().any(|kind| {
                let times = &job.times_on[kind];
                let own = times.get(&tracker).and_then(TaskTimeSum::mean);
                own.is_some_and(|own| {
                    let all: Vec<f64> = times.values().filter_map(TaskTimeSum::mean).collect();
                    rates.is_slow_node(own, &all)
                })
            }),
            Rule::Late(_) => (self.trackers[tracker.index()].work as f64) < self.least_work,
        }
    }

    /// Returns the slow task that gets a second attempt on a tracker, and the distance of its
    /// input.
    fn slow_task_for(
        &mut self,
        rule: Rule,
        wish: LaunchWish,
        kind: SlotKind,
    ) -> Option<(TaskId, Option<Locality>)> {
        let LaunchWish { job: id, tracker, .. } = wish;
        let hosts = self.active;
        let job = entry(&mut self.jobs, id);
        let mut slow = job.slow_for(tracker, kind, hosts);
        let mut locality = |task: TaskId| {
            job.spec.input.as_ref().filter(|_| kind == SlotKind::Map)?;
            job.locate(task.index, &mut self.holders);
            Locality::of(tracker, &self.holders, &self.topology)
        };
        match rule {
            // Maps with input on the node come first, then maps with input in its rack, then
            // elsewhere, and last maps without input.
            Rule::Hadoop020(_) if kind == SlotKind::Map => slow
                .map(|task| (task, locality(task)))
                .min_by_key(|(task, level)| (level.is_none(), *level, task.index)),
            // From 0.21 on, and in LATE, the task with the longest time left comes first, even if
            // its input is far.
            _ => slow.next().map(|task| (task, locality(task))),
        }
    }

    /// Notes how long a successful attempt took on its tracker, and its task's progress rate.
    pub(super) fn note_success(&mut self, now: SimTime, task: TaskId, record: &KnownAttempt) {
        if self.hadoop.speculation.rule().is_none() || !task.is_work() {
            return;
        }
        self.trackers[record.tracker.index()].work += MILLIONTHS as u64;
        let job = self.known_mut(task.job);
        let took = now.saturating_since(record.launched);
        // The rate over the whole attempt replaces the last reported rate.
        job.known_task(task).rate = rate(1.0, took);
        job.times_on[task.slot()].entry(record.tracker).or_default().add(took);
    }
}

impl Job {
    /// Returns the slow tasks that may get a second attempt on a tracker, the most urgent first.
    fn slow_for(
        &self,
        tracker: TrackerId,
        kind: SlotKind,
        hosts: u32,
    ) -> impl Iterator<Item = TaskId> {
        let id = self.id();
        let slow = self.slow[kind].iter();
        slow.map(move |index| TaskId { job: id, kind: kind.into(), index: *index }).filter(
            move |task| {
                let lone = self.tasks(kind).tasks[task.index as usize].lone_try();
                let barred = self.barred.get(task).is_some_and(|on| bars(on, tracker, hosts));
                // A second attempt on the same tracker would suffer from the same slow node.
                lone.is_some_and(|lone| lone.tracker != tracker) && !barred
            },
        )
    }
}

impl Tasks {
    /// Returns the slow tasks, the most urgent first; none while tasks wait for their first
    /// attempt.
    fn slow(&self, rule: Rule, initialised: SimTime, now: SimTime) -> Vec<u32> {
        // As in Hadoop, no task gets a second attempt before every task has had its first.
        if self.running == 0 || 0 < self.waiting {
            return Vec::new();
        }
        let mut progress = 0.0;
        let mut begun = Vec::new();
        for (index, task) in (0..).zip(&self.tasks) {
            progress += task.far();
            if task.has_begun() {
                // A task with two attempts still counts for the mean, but gets no third attempt.
                let alone = task.lone_try().map(|lone| LoneAttempt {
                    progress: f64::from(lone.progress) / MILLIONTHS,
                    since: rule.counts_from(initialised, lone.launched),
                });
                begun.push(BegunTask { index, rate: f64::from(task.rate), alone });
            }
        }
        let average = progress / f64::from(self.total);
        rule.slow(ReportedTasks { now, average, begun: &begun })
    }
}

impl Task {
    /// Returns the progress of the task's best attempt, from 0 to 1.
    fn far(&self) -> f64 {
        match self.stage {
            TaskStage::Done(..) => 1.0,
            TaskStage::Active => {
                let most = self.tries.iter().filter(|t| t.is_active()).map(|t| t.progress).max();
                f64::from(most.unwrap_or(0)) / MILLIONTHS
            }
            TaskStage::Waiting | TaskStage::Dead => 0.0,
        }
    }

    /// Returns the task's only attempt, if it runs or waits to start and is not to be killed.
    fn lone_try(&self) -> Option<&KnownAttempt> {
        match &self.tries[..] {
            [lone] if self.stage == TaskStage::Active => Some(lone).filter(|t| {
                matches!(t.state, AttemptState::Unassigned | AttemptState::Running)
                    && !t.is_kill_ordered
            }),
            _ => None,
        }
    }

    /// Notes the progress per second of an attempt.
    pub(super) fn note_rate(&mut self, now: SimTime, number: u32) {
        // A task that is done keeps the rate of the attempt that won.
        if self.stage != TaskStage::Active {
            return;
        }
        let Some(told) = self.find(number) else { return };
        told.rate =
            rate(f64::from(told.progress) / MILLIONTHS, now.saturating_since(told.launched));
        self.rate = self.tries.iter().filter(|t| t.is_active()).map(|t| t.rate).fold(0.0, f32::max);
    }
}

/// Returns the progress per second; as in Hadoop, the time counts as at least a millisecond.
fn rate(progress: f64, took: SimSpan) -> f32 {
    (progress / took.as_secs_f64().max(0.001)) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loser_does_not_change_the_rate_of_what_is_done() {
        let slower = KnownAttempt {
            number: 1,
            tracker: TrackerId(1),
            slots: 1,
            cleaner: None,
            state: AttemptState::Running,
            is_counted: true,
            is_kill_ordered: true,
            is_saving: false,
            fails_if_killed: false,
            may_commit: false,
            is_halted: false,
            is_second: true,
            launched: SimTime::ZERO,
            progress: 500_000,
            rate: 0.0,
        };
        let mut task = Task { rate: 0.01, tries: [slower].into(), ..Task::default() };
        let now = SimTime::from_micros(10_000_000);
        task.stage = TaskStage::Done(0, TrackerId(0));
        task.note_rate(now, 1);
        assert_eq!(task.rate, 0.01);
        task.stage = TaskStage::Active;
        task.note_rate(now, 1);
        assert_eq!(task.rate, 0.05, "half of it in ten seconds");
    }
}
