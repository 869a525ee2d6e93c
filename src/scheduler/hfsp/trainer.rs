//! The samples of jobs: their first tasks, which run before all others and tell how large the jobs
//! are.
//!
//! The sample of a job are the first tasks that it launches, whoever decided so. A map is measured
//! when it ends; a reduce that takes long, by what it has done so far: the papers take Δ/p for one
//! that has done the share p after the time Δ. Here that is seen with the first heartbeat after Δ,
//! and the time that has passed by then stands for Δ.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::options::Rules;
use crate::mapred::{AttemptId, AttemptState, Job, JobId, Outcome, Phase, Report, SlotKind};
use crate::units::SimSpan;

/// The samples of one kind of task.
#[derive(Debug)]
pub(super) struct Trainer {
    kind: SlotKind,
    size: u32,
    time_out: Option<SimSpan>,
    shuffle_counts: bool,
    samples: FxHashMap<JobId, Sample>,
    /// The jobs with more of their sample to launch, those with the fewest tasks left first.
    queue: BTreeSet<(u32, JobId)>,
    /// How many attempts of samples are under way.
    running: u32,
    /// How many tasks have ended so far, and their seconds.
    past: (u32, f64),
}

/// The sample of a job.
#[derive(Debug, Default)]
struct Sample {
    wanted: u32,
    tasks: Vec<Sampled>,
    /// Where the job stands in the queue.
    place: Option<(u32, JobId)>,
    /// Whether the size was told from it.
    is_used: bool,
}

/// An attempt of a sample.
#[derive(Clone, Copy, Debug)]
struct Sampled {
    attempt: AttemptId,
    is_running: bool,
    times: Option<Times>,
}

/// What a task takes, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Times {
    /// A map from its start to its end, or reducing.
    work: f64,
    /// What a reduce does before, if that counts.
    before: f64,
}

/// What a sample says.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Findings {
    /// The job.
    pub(super) job: JobId,
    /// The seconds of work of each of its tasks.
    pub(super) work: Vec<f64>,
    /// The seconds that a task takes before its work, on average.
    pub(super) before: f64,
}

impl Trainer {
    pub(super) fn new(kind: SlotKind, rules: &Rules) -> Self {
        Self {
            kind,
            size: rules.sample,
            time_out: rules.reduce_time_out,
            shuffle_counts: rules.shuffle_counts,
            samples: FxHashMap::default(),
            queue: BTreeSet::new(),
            running: 0,
            past: (0, 0.0),
        }
    }

    /// Takes a job in whose size is not known.
    pub(super) fn enter(&mut self, job: &Job) {
        let wanted = self.size.min(job.tasks(self.kind).total());
        self.samples.insert(job.id(), Sample { wanted, ..Sample::default() });
        self.place(job);
    }

    pub(super) fn remove(&mut self, job: JobId) {
        if let Some(sample) = self.samples.remove(&job) {
            sample.place.inspect(|place| _ = self.queue.remove(place));
            self.running -= sample.running();
        }
    }

    /// Notes what a job could launch.
    pub(super) fn place(&mut self, job: &Job) {
        let Some(sample) = self.samples.get_mut(&job.id()) else { return };
        let tasks = job.tasks(self.kind);
        let waits = 0 < job.pending(self.kind) && 0 < sample.to_launch();
        let place = waits.then(|| (tasks.total() - tasks.finished(), job.id()));
        if place != sample.place {
            sample.place.inspect(|place| _ = self.queue.remove(place));
            self.queue.extend(place);
            sample.place = place;
        }
    }

    /// Notes a launch: it belongs to the sample if that is not complete.
    pub(super) fn launched(&mut self, attempt: AttemptId) {
        if let Some(sample) = self.samples.get_mut(&attempt.job())
            && 0 < sample.to_launch()
        {
            sample.tasks.push(Sampled { attempt, is_running: true, times: None });
            self.running += 1;
        }
    }

    /// Hears that an attempt has ended; what it was measured at stays, whatever becomes of it.
    pub(super) fn ended(&mut self, attempt: AttemptId, outcome: Outcome, report: Option<&Report>) {
        let times = report.filter(|_| outcome == Outcome::Succeeded).map(|last| self.times(last));
        if let Some(Times { work, before }) = times {
            self.past = (self.past.0 + 1, self.past.1 + work + before);
        }
        let Some(sample) = self.samples.get_mut(&attempt.job()) else { return };
        let Some(index) = sample.tasks.iter().position(|task| task.attempt == attempt) else {
            return;
        };
        let task = &mut sample.tasks[index];
        self.running -= u32::from(std::mem::take(&mut task.is_running));
        task.times = times.or(task.times);
        if task.times.is_none() {
            sample.tasks.remove(index);
        }
    }

    /// Measures the reduces of samples that have reduced for long enough; returns their jobs.
    pub(super) fn look(&mut self, reports: &[Report]) -> Vec<JobId> {
        let mut measured = Vec::new();
        let is_reduce = self.kind == SlotKind::Reduce && 0 < self.running;
        let Some(time_out) = self.time_out.filter(|_| is_reduce) else { return measured };
        let reduces = |report: &&Report| {
            report.phase == Phase::Reduce
                && report.state == AttemptState::Running
                && time_out <= report.worked
        };
        for report in reports.iter().filter(reduces) {
            // Of a reduce's progress, the last third is reducing.
            let done = 3.0 * f64::from(report.progress) - 2.0;
            if done <= 0.0 {
                continue;
            }
            let Times { work, before } = self.times(report);
            let sample = self.samples.get_mut(&report.attempt.job());
            let task = sample.and_then(|sample| {
                sample.tasks.iter_mut().find(|task| task.attempt == report.attempt)
            });
            if let Some(task) = task.filter(|task| task.times.is_none()) {
                task.times = Some(Times { work: work / done, before });
                measured.push(report.attempt.job());
            }
        }
        measured
    }

    fn times(&self, report: &Report) -> Times {
        match self.kind {
            SlotKind::Map => Times { work: report.ran.as_secs_f64(), before: 0.0 },
            SlotKind::Reduce => {
                let before = report.ran.saturating_sub(report.worked).as_secs_f64();
                let before = if self.shuffle_counts { before } else { 0.0 };
                Times { work: report.worked.as_secs_f64(), before }
            }
        }
    }

    /// Returns what the sample of a job says, once, when all of it is measured.
    pub(super) fn findings(&mut self, job: JobId) -> Option<Findings> {
        let sample = self.samples.get_mut(&job).filter(|sample| !sample.is_used)?;
        if sample.tasks.is_empty() || 0 < sample.to_launch() {
            return None;
        }
        let times: Vec<Times> =
            sample.tasks.iter().map(|task| task.times).collect::<Option<_>>()?;
        sample.is_used = true;
        let work = times.iter().map(|times| times.work).collect();
        // Every reduce fetches as much as any other, so that none weighs more.
        let before = times.iter().map(|times| times.before).sum::<f64>() / times.len() as f64;
        Some(Findings { job, work, before })
    }

    /// Returns how many seconds tasks have taken so far, on average.
    pub(super) fn past(&self) -> Option<f64> {
        let (count, seconds) = self.past;
        (0 < count).then(|| seconds / f64::from(count))
    }

    /// Returns how many attempts of samples are under way.
    pub(super) fn running(&self) -> u32 {
        self.running
    }

    /// Returns the jobs with more of their sample to launch, those with the fewest tasks left first.
    pub(super) fn queue(&self) -> impl Iterator<Item = JobId> {
        self.queue.iter().map(|(_, job)| *job)
    }

    /// Returns how much of its sample a job has to launch.
    pub(super) fn to_launch(&self, job: JobId) -> u32 {
        self.samples.get(&job).map_or(0, Sample::to_launch)
    }

    /// Returns how many slots a job has for its sample, which nobody takes from it.
    pub(super) fn granted(&self, job: JobId) -> u32 {
        let sample = self.samples.get(&job).filter(|sample| !sample.is_used);
        sample.map_or(0, Sample::running)
    }

    /// Returns whether an attempt belongs to a sample that is not measured yet.
    pub(super) fn needs(&self, attempt: AttemptId) -> bool {
        let sample = self.samples.get(&attempt.job()).filter(|sample| !sample.is_used);
        sample.is_some_and(|sample| sample.tasks.iter().any(|task| task.attempt == attempt))
    }
}

impl Sample {
    fn to_launch(&self) -> u32 {
        self.wanted - self.tasks.len() as u32
    }

    fn running(&self) -> u32 {
        self.tasks.iter().filter(|task| task.is_running).count() as u32
    }
}
