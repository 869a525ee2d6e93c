//! The samples of jobs: a few tasks of each job, which run before all other tasks and show how
//! large the job is.
//!
//! A job's sample consists of the tasks that it launches first, for whatever reason. In the
//! published source it consists of the tasks that are measured first: such a task replaces one that
//! was launched earlier but is not measured yet. A map is measured when it ends. A long reduce is
//! measured by its progress: if it has done the share p after the time Δ, the papers estimate Δ/p.
//! Here the progress is read at the first heartbeat after Δ, and the time until that heartbeat
//! replaces Δ.

use std::collections::{BTreeSet, VecDeque};
use std::mem;

use rustc_hash::FxHashMap;

use super::options::{HfspRules, SampledTasks};
use crate::scheduler::estimator::MeasuredTask;
use crate::scheduler::shared::line::move_entry;
use mumakil_base::mutated;
use mumakil_base::units::SimSpan;
use mumakil_core::mapred::{
    AttemptId, AttemptPhase, AttemptState, JobId, Outcome, Report, SlotKind, TaskBytes,
};

#[derive(Debug)]
pub(super) struct Trainer {
    kind: SlotKind,
    rules: HfspRules,
    samples: FxHashMap<JobId, JobSample>,
    /// The jobs with sample tasks to launch, the job with the fewest tasks left first.
    queue: BTreeSet<(u32, JobId)>,
    pub(super) running: u32,
    /// The times of tasks that have succeeded, from which first guesses are computed.
    past: EndedTaskTimes,
}

/// The times of tasks that have ended, in seconds.
#[derive(Debug, Default)]
struct EndedTaskTimes {
    /// How many of the latest tasks are kept; `None` averages over all tasks.
    most: Option<usize>,
    /// The times of the latest tasks; empty if `most` is `None`.
    last: VecDeque<f64>,
    count: u64,
    seconds: f64,
}

impl EndedTaskTimes {
    fn add(&mut self, seconds: f64) {
        (self.count, self.seconds) = (self.count + 1, self.seconds + seconds);
        if let Some(most) = self.most {
            // Single times are kept only to drop the oldest one; without `most` the sums suffice.
            self.last.push_back(seconds);
            if mutated!(most < self.last.len(), "hfsp/guess-recent" => false) {
                self.last.pop_front();
            }
        }
    }

    fn mean(&self) -> Option<f64> {
        let (count, seconds) = match self.most {
            Some(_) => (self.last.len() as f64, self.last.iter().sum()),
            None => (self.count as f64, self.seconds),
        };
        (0.0 < count).then(|| seconds / count)
    }
}

#[derive(Debug, Default)]
struct JobSample {
    wanted: u32,
    tasks: Vec<SampledAttempt>,
    /// The job's position in the queue; `None` if it has no sample tasks to launch.
    place: Option<(u32, JobId)>,
    /// Whether the job's size has been estimated from this sample.
    is_used: bool,
}

/// A task of a sample, with its attempts.
#[derive(Clone, Copy, Debug)]
struct SampledAttempt {
    attempt: AttemptId,
    /// A second attempt of the task; it replaces `attempt` if that fails.
    second: Option<AttemptId>,
    is_running: bool,
    times: Option<TaskSeconds>,
}

/// The times of one task, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct TaskSeconds {
    /// The whole time of a map; of a reduce, the time after fetching and merging.
    work: f64,
    /// The time of a reduce for fetching and merging; 0 if this time does not count.
    before: f64,
    /// How much of the sum of `work` and `before` had passed when the task was measured.
    done: f64,
}

/// The results of a job's sample.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SampleFindings {
    pub(super) job: JobId,
    /// The work of each task of the sample, beside its input.
    pub(super) work: Vec<MeasuredTask>,
    /// The mean time before a task's work (fetching and merging), in seconds, weighted by the bytes
    /// that each task fetches.
    pub(super) before: f64,
    /// The total time that the sample's tasks had run when they were measured, in seconds.
    pub(super) done: f64,
}

impl Trainer {
    pub(super) fn new(kind: SlotKind, rules: &HfspRules) -> Self {
        Self {
            kind,
            rules: rules.clone(),
            samples: FxHashMap::default(),
            queue: BTreeSet::new(),
            running: 0,
            past: EndedTaskTimes { most: rules.recent_tasks, ..EndedTaskTimes::default() },
        }
    }

    pub(super) fn enter(&mut self, job: JobId, tasks: u32) {
        let most = self.rules.sample;
        // All tasks of a small job are its sample.
        let wanted = mutated!(most.min(tasks), "hfsp/sample-one" => 1, "hfsp/sample-min" => most);
        self.samples.insert(job, JobSample { wanted, ..JobSample::default() });
    }

    pub(super) fn remove(&mut self, job: JobId) {
        if let Some(sample) = self.samples.remove(&job) {
            sample.place.inspect(|place| _ = self.queue.remove(place));
            // The job's running attempts no longer count against the slots for training.
            self.running -= sample.running();
        }
    }

    pub(super) fn count(&mut self, job: JobId, pending: u32, left: u32) {
        let Some(sample) = self.samples.get_mut(&job) else { return };
        let waits = 0 < pending && 0 < sample.to_launch();
        let turn = mutated!(left, "hfsp/training-order" => !left, "hfsp/training-arrival" => 0);
        let place = waits.then_some((turn, job));
        move_entry(&mut self.queue, mem::replace(&mut sample.place, place), place);
    }

    /// Notes a launch. If the sample is not complete, the attempt joins it.
    pub(super) fn launched(&mut self, attempt: AttemptId) {
        let Some(sample) = self.samples.get_mut(&attempt.job()) else { return };
        // A second attempt of a task in the sample joins its first attempt.
        let same =
            |task: &&mut SampledAttempt| task.attempt.task == attempt.task && task.is_running;
        if let Some(rival) = sample.tasks.iter_mut().find(same) {
            rival.second = Some(attempt);
        } else if 0 < sample.to_launch() {
            sample.tasks.push(SampledAttempt {
                attempt,
                second: None,
                is_running: true,
                times: None,
            });
            self.running += 1;
        }
    }

    /// Adds an attempt that is about to be measured to the sample of its job, if the rule is
    /// [`SampledTasks::Any`]. In a complete sample it replaces the last task that is not measured
    /// yet.
    fn take_in(&mut self, attempt: AttemptId) {
        // In the papers the sample no longer changes once its tasks are launched.
        let changing = mutated!(SampledTasks::Any, "hfsp/sampled" => SampledTasks::First);
        if self.rules.sampled != changing || self.needs(attempt) {
            return;
        }
        let sample = self.samples.get_mut(&attempt.job()).filter(|sample| !sample.is_used);
        let Some(sample) = sample else { return };
        if sample.to_launch() == 0
            && let Some(last) = sample.tasks.iter().rposition(|task| task.times.is_none())
        {
            self.running -= u32::from(sample.tasks.remove(last).is_running);
        }
        self.launched(attempt);
    }

    /// Notes an attempt's end; if it failed, an earlier measurement of its task is kept.
    pub(super) fn ended(&mut self, attempt: AttemptId, outcome: Outcome, report: Option<&Report>) {
        let times = report.filter(|_| outcome == Outcome::Succeeded).map(|last| self.times(last));
        if let Some(TaskSeconds { work, before, .. }) = times {
            // First guesses use all tasks that succeed, not only samples.
            if mutated!(true, "hfsp/past-samples" => self.needs(attempt)) {
                self.past.add(mutated!(work + before, "hfsp/past-shuffle" => work));
            }
            self.take_in(attempt);
        }
        let Some(sample) = self.samples.get_mut(&attempt.job()) else { return };
        let index = sample.tasks.iter().position(|task| task.is(attempt));
        let Some(index) = index else { return };
        let task = &mut sample.tasks[index];
        match task.second.take() {
            // One of two attempts has failed, so the other one measures the task.
            Some(second) if times.is_none() => {
                if task.attempt == attempt {
                    task.attempt = second;
                }
                return;
            }
            // The attempt that succeeds first measures the task; the other one no longer matters.
            Some(_) => task.attempt = attempt,
            None => {}
        }
        self.running -= u32::from(mem::take(&mut task.is_running));
        // A reduce that was measured while it ran keeps that time, even if it fails later.
        task.times = times.or(task.times);
        // A task without a measurement leaves the sample, so that another task can join.
        if mutated!(task.times.is_none(), "hfsp/sample-failed" => false) {
            sample.tasks.remove(index);
        }
    }

    /// Measures sample reduces that have worked for at least the time-out. Returns their jobs.
    pub(super) fn look(&mut self, reports: &[Report]) -> Vec<JobId> {
        let mut measured = Vec::new();
        let is_reduce = self.kind == SlotKind::Reduce && 0 < self.running;
        let delta = mutated!(self.rules.reduce_time_out, "hfsp/delta" => None);
        let Some(time_out) = delta.filter(|_| is_reduce) else { return measured };
        for report in reports.iter().filter(|report: &&Report| {
            report.phase == AttemptPhase::Reduce
                && report.state == AttemptState::Running
                && time_out <= mutated!(report.worked, "hfsp/delta-of" => report.ran)
        }) {
            // Reducing is the last third of a reduce's progress.
            let progress = f64::from(report.progress);
            let done = mutated!(3.0 * progress - 2.0, "hfsp/delta-progress" => progress);
            // Without progress, Δ / p cannot be computed.
            if done <= 0.0 {
                continue;
            }
            let times = self.times(report);
            self.take_in(report.attempt);
            let sample = self.samples.get_mut(&report.attempt.job());
            let task = sample
                .and_then(|sample| sample.tasks.iter_mut().find(|task| task.is(report.attempt)));
            // Measure each task only once, as the papers do when Δ has passed.
            if let Some(task) = task.filter(|task| task.times.is_none()) {
                task.times = Some(TaskSeconds { work: times.work / done, ..times });
                measured.push(report.attempt.job());
            }
        }
        measured
    }

    fn times(&self, report: &Report) -> TaskSeconds {
        let (work, before) = match self.kind {
            SlotKind::Map => (report.ran, SimSpan::ZERO),
            SlotKind::Reduce if self.rules.shuffle_counts => {
                (report.worked, report.ran.saturating_sub(report.worked))
            }
            SlotKind::Reduce => (report.worked, SimSpan::ZERO),
        };
        let (work, before) = (work.as_secs_f64(), before.as_secs_f64());
        TaskSeconds { work, before, done: work + before }
    }

    /// Returns how much of an ended task's time counts as work of its job, in seconds.
    pub(super) fn seconds(&self, report: &Report) -> f64 {
        self.times(report).done
    }

    /// Returns the findings of a sample once all its tasks are measured; `fetched` are the bytes
    /// that each reduce fetches.
    pub(super) fn findings(&mut self, job: JobId, fetched: &TaskBytes) -> Option<SampleFindings> {
        let sample = self.samples.get_mut(&job).filter(|sample| !sample.is_used)?;
        if sample.tasks.is_empty() || 0 < sample.to_launch() {
            return None;
        }
        let times: Vec<TaskSeconds> =
            sample.tasks.iter().map(|task| task.times).collect::<Option<_>>()?;
        // The size is estimated once: neither the papers nor the source estimate it again.
        sample.is_used = true;
        self.running -= mutated!(sample.running(), "hfsp/training-kept" => 0);
        sample.tasks.iter_mut().for_each(|task| task.is_running = false);
        // Once a reduce has worked, all maps are done, so the bytes to fetch are known.
        let is_skewed = self.rules.skew_counts && self.kind == SlotKind::Reduce;
        let input = |task: &SampledAttempt| {
            let input = if is_skewed { fetched.relative(task.attempt.task.index) } else { 1.0 };
            mutated!(input, "hfsp/skew" => 1.0, "hfsp/skew-inverse" => 1.0 / input)
        };
        let sampled = sample.tasks.iter().zip(&times);
        let work = sampled
            .map(|(task, times)| MeasuredTask { seconds: times.work, input: input(task) })
            .collect();
        let before = mutated!(sample.before(&times, fetched), "hfsp/shuffle" => 0.0);
        let done = times.iter().map(|times| times.done).sum();
        Some(SampleFindings { job, work, before, done })
    }

    /// Returns the mean time of ended tasks, in seconds.
    pub(super) fn past(&self) -> Option<f64> {
        self.past.mean()
    }

    /// Returns whether a job's size has still to be estimated from its sample.
    pub(super) fn trains(&self, job: JobId) -> bool {
        self.samples.get(&job).is_some_and(|sample| 0 < sample.wanted && !sample.is_used)
    }

    /// Returns the jobs with sample tasks to launch, the job with the fewest tasks left first.
    pub(super) fn queue(&self) -> impl Iterator<Item = JobId> {
        self.queue.iter().map(|(_, job)| *job)
    }

    pub(super) fn to_launch(&self, job: JobId) -> u32 {
        self.samples.get(&job).map_or(0, JobSample::to_launch)
    }

    /// Returns how many slots a job holds for its sample: these are never preempted.
    pub(super) fn granted(&self, job: JobId) -> u32 {
        let sample = self.samples.get(&job).filter(|sample| !sample.is_used);
        sample.map_or(0, JobSample::held)
    }

    /// Returns whether an attempt belongs to a sample that has not been used yet.
    pub(super) fn needs(&self, attempt: AttemptId) -> bool {
        let sample = self.samples.get(&attempt.job()).filter(|sample| !sample.is_used);
        sample.is_some_and(|sample| sample.tasks.iter().any(|task| task.is(attempt)))
    }
}

impl SampledAttempt {
    fn is(&self, attempt: AttemptId) -> bool {
        self.attempt == attempt || self.second == Some(attempt)
    }
}

impl JobSample {
    /// Returns the mean time before the work, in seconds, weighted by the bytes fetched.
    fn before(&self, times: &[TaskSeconds], fetched: &TaskBytes) -> f64 {
        let bytes = |task: &SampledAttempt| fetched.of(task.attempt.task.index).get() as f64;
        // The weights are the "normalized input data size" of the tasks (2015, section 3.2.3).
        let most = self.tasks.iter().map(bytes).fold(0.0, f64::max);
        let weight = |task: &SampledAttempt| {
            let is_even = mutated!(most == 0.0, "hfsp/shuffle-weight" => true);
            if is_even { 1.0 } else { bytes(task) / most }
        };
        let weighed = self.tasks.iter().zip(times).map(|(task, times)| weight(task) * times.before);
        weighed.sum::<f64>() / self.tasks.iter().map(weight).sum::<f64>()
    }

    fn to_launch(&self) -> u32 {
        // This is never negative, since `launched` adds no more tasks than `wanted`.
        self.wanted - self.tasks.len() as u32
    }

    fn running(&self) -> u32 {
        self.tasks.iter().filter(|task| task.is_running).count() as u32
    }

    /// Returns how many slots the running attempts hold; a second attempt holds a slot of its own.
    fn held(&self) -> u32 {
        let running = self.tasks.iter().filter(|task| task.is_running);
        running.map(|task| 1 + u32::from(task.second.is_some())).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::super::options::{HfspOptions, HfspVariant};
    use super::*;
    use crate::scheduler::estimator::Estimator;
    use mumakil_base::units::Bytes;
    use mumakil_core::mapred::{TaskId, TaskKind};

    fn trainer(kind: SlotKind) -> Trainer {
        let options = HfspOptions { variant: HfspVariant::Paper2015, ..HfspOptions::default() };
        Trainer::new(kind, &HfspRules { sample: 2, ..options.rules() })
    }

    fn attempt(kind: TaskKind, job: u32, index: u32) -> AttemptId {
        TaskId { job: JobId(job), kind, index }.attempt(0)
    }

    /// Returns a report of an attempt that has run for `ran` seconds and worked for `worked`
    /// seconds.
    fn report(attempt: AttemptId, ran: u64, worked: u64) -> Report {
        Report {
            attempt,
            state: AttemptState::Succeeded,
            phase: AttemptPhase::Reduce,
            progress: 1.0,
            ran: SimSpan::from_secs(ran),
            worked: SimSpan::from_secs(worked),
            wants_maps: false,
            saved: 0.0,
        }
    }

    /// Returns the findings of a job's sample; all its tasks fetch the same number of bytes.
    fn told(trainer: &mut Trainer, job: JobId) -> Option<SampleFindings> {
        trainer.findings(job, &Bytes::from_mib(64).into())
    }

    fn work(seconds: &[f64]) -> Vec<MeasuredTask> {
        seconds.iter().copied().map(MeasuredTask::of).collect()
    }

    #[test]
    fn a_sample_are_the_first_tasks_that_a_job_launches() {
        let mut trainer = trainer(SlotKind::Map);
        trainer.enter(JobId(7), 10);
        trainer.count(JobId(7), 10, 10);
        assert_eq!(trainer.to_launch(JobId(7)), 2);
        let [first, second, third] = [4, 0, 1].map(|index| attempt(TaskKind::Map, 7, index));
        for launched in [first, second, third] {
            trainer.launched(launched);
        }
        assert_eq!((trainer.to_launch(JobId(7)), trainer.running), (0, 2));
        assert!(trainer.needs(first) && trainer.needs(second) && !trainer.needs(third));
        trainer.ended(third, Outcome::Succeeded, Some(&report(third, 99, 99)));
        trainer.ended(second, Outcome::Succeeded, Some(&report(second, 30, 25)));
        assert_eq!(told(&mut trainer, JobId(7)), None, "`first` has not ended");
        trainer.ended(first, Outcome::Succeeded, Some(&report(first, 50, 45)));
        let findings =
            SampleFindings { job: JobId(7), work: work(&[50.0, 30.0]), before: 0.0, done: 80.0 };
        assert_eq!(told(&mut trainer, JobId(7)), Some(findings));
        assert_eq!(told(&mut trainer, JobId(7)), None, "findings are returned once");
        assert_eq!((trainer.running, trainer.needs(first)), (0, false));
        assert_eq!(trainer.past(), Some((99.0 + 30.0 + 50.0) / 3.0));
    }

    #[test]
    fn where_any_may_be_the_sample_one_straggler_of_the_first_delays_nothing() {
        let mut trainer = trainer(SlotKind::Map);
        trainer.rules.sampled = SampledTasks::Any;
        trainer.enter(JobId(7), 10);
        let maps = [0, 1, 2, 3].map(|index| attempt(TaskKind::Map, 7, index));
        maps.into_iter().for_each(|map| trainer.launched(map));
        let end = |trainer: &mut Trainer, map, secs| {
            trainer.ended(map, Outcome::Succeeded, Some(&report(map, secs, secs)));
        };
        assert_eq!((trainer.running, trainer.to_launch(JobId(7))), (2, 0));
        end(&mut trainer, maps[2], 20);
        assert_eq!(told(&mut trainer, JobId(7)), None, "one of two is measured");
        assert_eq!((trainer.running, trainer.to_launch(JobId(7))), (1, 0));
        assert!(trainer.needs(maps[0]) && !trainer.needs(maps[1]), "`maps[2]` replaces `maps[1]`");
        end(&mut trainer, maps[3], 30);
        let findings =
            SampleFindings { job: JobId(7), work: work(&[20.0, 30.0]), before: 0.0, done: 50.0 };
        assert_eq!(told(&mut trainer, JobId(7)), Some(findings));
        assert_eq!((trainer.running, trainer.granted(JobId(7))), (0, 0));
        // The slow task's time counts for first guesses, but does not change the job's size.
        end(&mut trainer, maps[0], 400);
        assert_eq!((told(&mut trainer, JobId(7)), trainer.past()), (None, Some(150.0)));
    }

    #[test]
    fn an_attempt_that_is_lost_is_sampled_again() {
        let mut trainer = trainer(SlotKind::Map);
        trainer.enter(JobId(0), 2);
        let [first, second] = [0, 1].map(|index| attempt(TaskKind::Map, 0, index));
        trainer.launched(first);
        trainer.launched(second);
        trainer.ended(first, Outcome::Killed, Some(&report(first, 9, 9)));
        assert_eq!((trainer.to_launch(JobId(0)), trainer.running), (1, 1));
        trainer.launched(first.task.attempt(1));
        assert_eq!(trainer.to_launch(JobId(0)), 0);
    }

    #[test]
    fn a_task_of_a_sample_that_is_tried_twice_is_measured_by_the_winner() {
        let mut trainer = trainer(SlotKind::Map);
        trainer.enter(JobId(0), 2);
        let [one, other] = [0, 1].map(|index| attempt(TaskKind::Map, 0, index));
        let again = [one, other].map(|map| map.task.attempt(1));
        let launched = [one, other, again[0], again[1]];
        launched.into_iter().for_each(|launched| trainer.launched(launched));
        assert_eq!((trainer.to_launch(JobId(0)), trainer.running), (0, 2), "no task counts twice");
        assert!(trainer.needs(one) && trainer.needs(again[0]), "neither attempt is preempted");
        assert_eq!(trainer.granted(JobId(0)), 4, "each attempt holds a slot");
        // In one task the second attempt wins. In the other task the first attempt is killed for
        // another reason.
        trainer.ended(again[0], Outcome::Succeeded, Some(&report(again[0], 20, 20)));
        trainer.ended(one, Outcome::Killed, Some(&report(one, 90, 90)));
        trainer.ended(other, Outcome::Killed, Some(&report(other, 90, 90)));
        assert_eq!((trainer.to_launch(JobId(0)), trainer.running), (0, 1));
        assert!(trainer.needs(again[1]));
        trainer.ended(again[1], Outcome::Succeeded, Some(&report(again[1], 30, 30)));
        let findings =
            SampleFindings { job: JobId(0), work: work(&[20.0, 30.0]), before: 0.0, done: 50.0 };
        assert_eq!(told(&mut trainer, JobId(0)), Some(findings));
        assert_eq!(trainer.past(), Some(25.0));
    }

    #[test]
    fn jobs_with_few_tasks_left_are_sampled_first() {
        let mut trainer = trainer(SlotKind::Map);
        for (job, tasks) in [(0, 50), (1, 1), (2, 7)] {
            trainer.enter(JobId(job), tasks);
            trainer.count(JobId(job), tasks, tasks);
        }
        assert_eq!(trainer.queue().collect::<Vec<_>>(), [JobId(1), JobId(2), JobId(0)]);
        assert_eq!(trainer.to_launch(JobId(1)), 1, "the job has one task");
        trainer.launched(attempt(TaskKind::Map, 1, 0));
        trainer.count(JobId(1), 0, 1);
        trainer.remove(JobId(0));
        assert_eq!(trainer.queue().collect::<Vec<_>>(), [JobId(2)]);
    }

    #[test]
    fn any_reduce_that_has_reduced_for_long_enough_may_be_the_sample() {
        for (sampled, measured) in [(SampledTasks::First, 0), (SampledTasks::Any, 1)] {
            let mut trainer = trainer(SlotKind::Reduce);
            (trainer.rules.sampled, trainer.rules.sample) = (sampled, 1);
            trainer.enter(JobId(3), 2);
            let [first, second] = [0, 1].map(|index| attempt(TaskKind::Reduce, 3, index));
            [first, second].iter().for_each(|reduce| trainer.launched(*reduce));
            let half = Report {
                state: AttemptState::Running,
                progress: (2.0 + 0.5) / 3.0,
                ..report(second, 80, 80)
            };
            assert_eq!(trainer.look(&[half]).len(), measured, "{sampled:?}");
            assert_eq!((trainer.running, trainer.needs(first)), (1, measured == 0));
        }
    }

    /// The tasks take 10, 20, 60 and 40 s. The mean of the last two is 50 s, the mean of all four
    /// is 32.5 s.
    #[test]
    fn the_first_guess_is_the_mean_of_recent_tasks() {
        let mean = |most: Option<usize>| {
            let mut past = EndedTaskTimes { most, ..EndedTaskTimes::default() };
            assert_eq!(past.mean(), None);
            [10.0, 20.0, 60.0, 40.0].iter().for_each(|seconds| past.add(*seconds));
            past.mean()
        };
        assert_eq!((mean(Some(2)), mean(None)), (Some(50.0), Some(32.5)));
    }

    /// After 30 s of fetching the reduce has worked for 90 s, and has done a quarter of its work.
    #[test]
    fn a_long_reduce_is_measured_by_what_it_has_done() {
        let mut trainer = trainer(SlotKind::Reduce);
        trainer.enter(JobId(3), 1);
        let reduce = attempt(TaskKind::Reduce, 3, 0);
        trainer.launched(reduce);
        let mut said = Report {
            state: AttemptState::Running,
            progress: (2.0 + 0.25) / 3.0,
            ..report(reduce, 120, 90)
        };
        said.worked = SimSpan::from_secs(59);
        assert!(trainer.look(&[said]).is_empty(), "the time-out is 60 s");
        said.worked = SimSpan::from_secs(90);
        assert_eq!(trainer.look(&[said]), [JobId(3)]);
        assert_eq!(trainer.running, 1);
        let findings = told(&mut trainer, JobId(3)).expect("all are measured");
        let SampleFindings { work, before, done, .. } = findings;
        assert!((done - 120.0).abs() < 1e-9, "fetching and work so far");
        assert_eq!(trainer.running, 0, "it uses no training slot now");
        assert!((work[0].seconds - 360.0).abs() < 0.01, "{work:?}");
        assert!((before - 30.0).abs() < 1e-9, "{before}");
        assert_eq!(trainer.granted(JobId(3)), 0, "its slot may be preempted");
    }

    /// The second attempt of a reduce has worked for 90 s and done a quarter of its work; the first
    /// attempt still fetches.
    #[test]
    fn a_second_attempt_of_a_long_reduce_measures_it() {
        let mut trainer = trainer(SlotKind::Reduce);
        trainer.enter(JobId(3), 1);
        let first = attempt(TaskKind::Reduce, 3, 0);
        let second = first.task.attempt(1);
        [first, second].iter().for_each(|reduce| trainer.launched(*reduce));
        let said = Report {
            state: AttemptState::Running,
            progress: (2.0 + 0.25) / 3.0,
            ..report(second, 90, 90)
        };
        assert_eq!(trainer.look(&[said]), [JobId(3)]);
        let work = told(&mut trainer, JobId(3)).expect("it is measured").work;
        assert!((work[0].seconds - 360.0).abs() < 0.01, "{work:?}");
    }

    /// The job's reduces fetch 40, 20, 10 and 10 MB, on average 20 MB. The sample has the largest
    /// and the smallest.
    #[test]
    fn where_skew_counts_the_work_stands_beside_the_input() {
        let bytes = [40, 20, 10, 10].map(|mega| Bytes::new(mega * 1_000_000));
        let fetched = TaskBytes::Each(bytes.into());
        let found = |skew_counts| {
            let mut trainer = trainer(SlotKind::Reduce);
            trainer.rules.skew_counts = skew_counts;
            trainer.enter(JobId(3), 4);
            for (index, secs) in [(0, 80), (2, 20)] {
                let reduce = attempt(TaskKind::Reduce, 3, index);
                trainer.launched(reduce);
                trainer.ended(reduce, Outcome::Succeeded, Some(&report(reduce, secs, secs)));
            }
            let work = trainer.findings(JobId(3), &fetched).expect("all are measured").work;
            Estimator::Mean.task_time(&work)
        };
        assert_eq!(found(true), 40.0, "20 MB take 40 s");
        assert_eq!(found(false), 50.0, "the mean of the sample");
    }

    /// Three reduces fetch 600 MB: the first 360 MB in 36 s, the second 180 MB in 18 s, and the
    /// third 60 MB in 6 s.
    #[test]
    fn a_job_that_fetches_more_weighs_more_in_the_time_of_fetching() {
        let each = |bytes: &[u64]| TaskBytes::Each(bytes.iter().copied().map(Bytes::new).collect());
        let before = |fetched: &TaskBytes| {
            let mut trainer = trainer(SlotKind::Reduce);
            trainer.rules.sample = 3;
            trainer.enter(JobId(3), 3);
            // The reduces do not end in the order of their numbers.
            for (index, fetching) in [(2, 6), (0, 36), (1, 18)] {
                let reduce = attempt(TaskKind::Reduce, 3, index);
                trainer.launched(reduce);
                let last = report(reduce, fetching + 50, 50);
                trainer.ended(reduce, Outcome::Succeeded, Some(&last));
            }
            trainer.findings(JobId(3), fetched).expect("all are measured").before
        };
        let is_near = |measured: f64, by_hand: f64| (measured - by_hand).abs() < 1e-9;
        let shares = before(&each(&[360_000_000, 180_000_000, 60_000_000]));
        assert!(is_near(shares, 0.6 * 36.0 + 0.3 * 18.0 + 0.1 * 6.0), "{shares}");
        assert!(is_near(before(&each(&[0, 7, 0])), 18.0), "only the second one fetched");
        for alike in [Bytes::from_mib(200), Bytes::ZERO] {
            assert_eq!(before(&alike.into()), 20.0, "equal weights");
        }
    }
}
