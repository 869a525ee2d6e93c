//! A job in the JobTracker's ledger: its state, its tasks and their attempts.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::mem;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::cluster::{PerSlot, RackId, SlotKind, TrackerId};
use crate::mapred::event::{AttemptState, Outcome, SlotCounts};
use crate::mapred::heartbeat::{Missing, SavedWork};
use crate::mapred::ids::{AttemptId, JobId, TaskId, TaskKind};
use crate::mapred::map_cache::MapCache;
use crate::mapred::replicas::Replicas;
use crate::mapred::settings::EffectiveSettings;
use crate::mapred::spec::{JobSpec, Priority};
use mumakil_base::units::{SimSpan, SimTime};

/// The states of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobState {
    /// Its splits have not been read.
    Submitted,
    /// Its setup task has not succeeded.
    Preparing,
    /// The policy may launch its tasks.
    Running,
    /// Its maps and reduces are over, but its cleanup task is not.
    Cleaning,
    /// It is over.
    Ended(Outcome),
}

/// A job in the JobTracker's ledger.
#[derive(Debug)]
pub struct Job {
    pub(super) spec: Arc<JobSpec>,
    /// The settings that hold for it.
    pub(super) settings: EffectiveSettings,
    pub(super) state: JobState,
    /// The number of each task's first attempt; above zero if the job was begun anew.
    pub(super) first_attempt: u32,
    /// How it will end, as soon as that is certain; `None` before.
    pub(super) verdict: Option<Outcome>,
    pub(super) submitted_at: SimTime,
    /// Where its input was when the job was submitted (the last time, after a recovery). Its splits
    /// do not change afterwards.
    pub(super) splits: Arc<Replicas>,
    /// When its tasks were made.
    pub(super) initialised_at: SimTime,
    pub(super) running_at: SimTime,
    /// When the last map had ended; zero before, and not reset if its output is lost.
    pub(super) maps_over_at: SimTime,
    /// When enough maps had ended for the reduces to start; `None` before that instant.
    pub(super) reduces_ready_at: Option<SimTime>,
    pub(super) maps: Tasks,
    pub(super) reduces: Tasks,
    pub(super) cache: MapCache,
    /// The waiting maps that have failed, those with the most failures first; used only in Hadoop
    /// versions that launch failed maps before all others.
    pub(super) failed_maps: BTreeSet<(Reverse<u32>, u32)>,
    pub(super) waiting_reduces: VecDeque<u32>,
    /// Slow tasks that may get a second attempt, the most urgent first.
    pub(super) slow: PerSlot<Vec<u32>>,
    /// How long successful tasks took on each tracker; kept only if slow tasks are looked for.
    pub(super) times_on: PerSlot<BTreeMap<TrackerId, TaskTimeSum>>,
    /// The setup tasks: one for a map slot and one for a reduce slot. The one that is launched
    /// first does the work.
    pub(super) setup: [Task; 2],
    pub(super) cleanup: [Task; 2],
    /// Attempts whose output is to be removed.
    pub(super) unclean: PerSlot<VecDeque<AttemptId>>,
    /// How many attempts failed, for each tracker.
    pub(super) failures_on: BTreeMap<TrackerId, u32>,
    /// How many trackers have had so many failures that the job would avoid them. It does avoid
    /// them only while they are less than a quarter of the cluster.
    pub(super) flaky: u32,
    /// The trackers on which attempts of a task have failed.
    pub(super) barred: FxHashMap<TaskId, Vec<TrackerId>>,
    /// How many tasks of the job are counted in the ledger's `unfinished`.
    pub(super) load: PerSlot<u32>,
    /// Whether the job is counted in the ledger's `jobs_pending`.
    pub(super) was_pending: PerSlot<bool>,
    /// How many of its attempts have not been reported as ended.
    pub(super) open_tries: u32,
    /// How much output maps have left in each rack for its reduces, by [`JobSpec::output_weight`].
    pub(super) outputs: BTreeMap<RackId, u64>,
    /// The work of unfinished tasks that attempts have saved.
    pub(super) saved: FxHashMap<TaskId, SavedWork>,
    /// The lost outputs, by map; a map that has run again is removed.
    pub(super) lost_outputs: BTreeMap<u32, Missing>,
    /// How many changes of its outputs were sent to `MapOutputs`.
    pub(super) output_changes: u32,
    /// How many complaints of reduces there are about each output; removed when the map runs again.
    pub(super) failed_fetches: BTreeMap<AttemptId, u32>,
    /// The sum of its maps' progress, as Mumak's JobTracker adds it up; kept only if the injector
    /// asks for the load.
    pub(super) map_progress: f32,
}

/// A job's tasks of a kind.
#[derive(Debug, Default)]
pub struct Tasks {
    pub(super) tasks: Vec<Task>,
    pub(super) total: u32,
    pub(super) running: u32,
    pub(super) waiting: u32,
    pub(super) finished: u32,
    pub(super) failed: u32,
    /// How many running attempts were launched beside another attempt of their task.
    pub(super) seconds: u32,
    /// The sum of the running attempts' progress, in millionths.
    pub(super) progress: u64,
}

/// A task. A run may have millions of tasks, which are accessed in any order.
#[derive(Debug, Default)]
pub(super) struct Task {
    pub(super) stage: TaskStage,
    /// The number of the first attempt.
    pub(super) first: u32,
    /// The number of the next attempt.
    pub(super) next: u32,
    pub(super) failures: u32,
    /// Since when it has waited for its next attempt, unless its job became ready later.
    pub(super) since: SimTime,
    /// Its progress from 0 to 1, by the last report; kept only if the injector asks for the load.
    pub(super) progress: f32,
    /// The progress per second of its fastest attempt, by that attempt's last report; kept only if
    /// slow tasks are looked for.
    pub(super) rate: f32,
    /// How many maps of the job had ended before this one; set only for maps that are done.
    pub(super) order: u32,
    /// The attempts that have not ended, or whose output is still to be removed.
    pub(super) tries: Box<[KnownAttempt]>,
}

// A task takes at most one cache line.
const _: () = assert!(size_of::<Task>() <= 64);

/// The stages of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum TaskStage {
    /// It waits for a launch.
    #[default]
    Waiting,
    /// An attempt runs.
    Active,
    /// The attempt with this number did the work, and its output is on this tracker.
    Done(u32, TrackerId),
    /// It has failed too often, or is no longer needed.
    Dead,
}

/// An attempt as the JobTracker sees it.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownAttempt {
    pub(super) number: u32,
    /// The tracker where it runs or ran.
    pub(super) tracker: TrackerId,
    /// How many slots it takes.
    pub(super) slots: u32,
    /// The tracker that removes its output; `None` if no tracker does.
    pub(super) cleaner: Option<TrackerId>,
    pub(super) state: AttemptState,
    /// Whether the job counts it as running.
    pub(super) is_counted: bool,
    pub(super) is_kill_ordered: bool,
    /// Whether the order lets it save its work first.
    pub(super) is_saving: bool,
    /// Whether its end counts as a failure even if its tracker reports it as killed.
    pub(super) fails_if_killed: bool,
    /// Whether it has permission to commit: it was the first of its task's attempts to ask.
    pub(super) may_commit: bool,
    /// Whether it was ordered to suspend, and not to resume since.
    pub(super) is_halted: bool,
    /// Whether it was launched beside another attempt of the task.
    pub(super) is_second: bool,
    pub(super) launched: SimTime,
    /// Its progress, in millionths; kept only if the policy reads progress, or slow tasks are
    /// looked for.
    pub(super) progress: u32,
    /// Its progress per second, by its last report; kept only if slow tasks are looked for.
    pub(super) rate: f32,
}

/// A change of a job, as the policy learns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobEvent {
    /// The job.
    pub job: JobId,
    /// The change.
    pub change: JobChange,
}

/// The changes of a job that a policy learns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobChange {
    /// It has arrived.
    Submitted,
    /// Its splits are read.
    Initialised,
    /// The policy may launch its tasks from now on.
    Running,
    /// The JobTracker has learned of an attempt's state.
    Attempt(AttemptId, AttemptState),
    /// The number of slow tasks that may get a second attempt has changed.
    SlowTasks,
    /// Its priority or its pool has changed.
    Altered {
        /// Its priority before.
        priority: Priority,
    },
    /// It is over.
    Ended(Outcome),
}

/// The sum and count of how long tasks took.
#[derive(Clone, Copy, Debug, Default)]
pub struct TaskTimeSum {
    count: u32,
    sum: SimSpan,
}

impl TaskTimeSum {
    /// Adds a task.
    pub fn add(&mut self, took: SimSpan) {
        self.count += 1;
        self.sum += took;
    }

    /// Returns whether the mean is above a limit, without a division.
    pub fn is_above(&self, limit: SimSpan) -> bool {
        limit * u64::from(self.count) < self.sum
    }

    /// Returns the mean in seconds; `None` without tasks.
    pub fn mean(&self) -> Option<f64> {
        (0 < self.count).then(|| self.sum.as_secs_f64() / f64::from(self.count))
    }
}

impl Job {
    pub(super) fn new(
        spec: Arc<JobSpec>,
        settings: EffectiveSettings,
        now: SimTime,
        files: Arc<Replicas>,
    ) -> Self {
        Self {
            settings,
            state: JobState::Submitted,
            first_attempt: 0,
            verdict: None,
            submitted_at: now,
            splits: files,
            // The time of arrival stands here until the job runs.
            initialised_at: now,
            running_at: now,
            maps_over_at: SimTime::ZERO,
            reduces_ready_at: None,
            maps: Tasks { total: spec.maps, ..Tasks::default() },
            reduces: Tasks { total: spec.reduces, ..Tasks::default() },
            cache: MapCache::default(),
            failed_maps: BTreeSet::new(),
            waiting_reduces: VecDeque::new(),
            slow: PerSlot::default(),
            times_on: PerSlot::default(),
            setup: Default::default(),
            cleanup: Default::default(),
            unclean: PerSlot::default(),
            failures_on: BTreeMap::new(),
            flaky: 0,
            barred: FxHashMap::default(),
            load: PerSlot::default(),
            was_pending: PerSlot::default(),
            open_tries: 0,
            outputs: BTreeMap::new(),
            saved: FxHashMap::default(),
            lost_outputs: BTreeMap::new(),
            output_changes: 0,
            failed_fetches: BTreeMap::new(),
            map_progress: 0.0,
            spec,
        }
    }

    /// Returns the job's number.
    pub fn id(&self) -> JobId {
        self.spec.id
    }

    /// Fills `holders` with the nodes that hold a map's input, by the splits of the job.
    pub(super) fn locate(&self, map: u32, holders: &mut Vec<TrackerId>) {
        self.splits.locate(&self.spec, map, holders);
    }

    /// Returns the job as its client submitted it.
    pub fn spec(&self) -> &JobSpec {
        &self.spec
    }

    /// Returns the state of the job.
    pub fn state(&self) -> JobState {
        self.state
    }

    /// Returns the priority of the job.
    pub fn priority(&self) -> Priority {
        self.spec.priority
    }

    /// Returns the share of its maps that must have ended before its reduces start.
    pub fn slow_start(&self) -> f64 {
        self.settings.slow_start.get()
    }

    /// Returns when the job arrived.
    pub fn submitted_at(&self) -> SimTime {
        self.submitted_at
    }

    /// Returns the instant since which the policy may launch tasks of the job; until then, the
    /// instant of the job's arrival.
    pub fn running_at(&self) -> SimTime {
        self.running_at
    }

    /// Returns whether the policy may launch tasks of the job.
    pub fn is_running(&self) -> bool {
        self.state == JobState::Running && self.verdict.is_none()
    }

    /// Returns the job's tasks of a kind.
    pub fn tasks(&self, kind: SlotKind) -> &Tasks {
        match kind {
            SlotKind::Map => &self.maps,
            SlotKind::Reduce => &self.reduces,
        }
    }

    /// Returns how many tasks of a kind could be launched now: waiting tasks, and slow tasks that
    /// may get a second attempt.
    pub fn pending(&self, kind: SlotKind) -> u32 {
        // When a job fails, its list of slow tasks is not cleared, so it must be ignored here.
        let slow = if self.is_running() { self.slow[kind].len() as u32 } else { 0 };
        self.waiting(kind) + slow
    }

    /// Returns how many tasks of a kind wait for an attempt and could be launched now.
    pub fn waiting(&self, kind: SlotKind) -> u32 {
        if !self.is_running() {
            return 0;
        }
        match kind {
            SlotKind::Map => self.maps.waiting,
            SlotKind::Reduce if self.reduces_ready_at.is_some() => self.reduces.waiting,
            // Before slow start the reduces wait, but cannot be launched.
            SlotKind::Reduce => 0,
        }
    }

    /// Returns whether a map or reduce waits for an attempt and could be launched now.
    pub fn waits(&self, task: TaskId) -> bool {
        task.is_work()
            && 0 < self.waiting(task.slot())
            && self
                .tasks_of(task.kind)
                .get(task.index as usize)
                .is_some_and(|it| it.stage == TaskStage::Waiting)
    }

    /// Returns how many reduces wait for an attempt, including those that slow start holds back.
    pub fn unstarted_reduces(&self) -> u32 {
        if self.is_running() { self.reduces.waiting } else { 0 }
    }

    /// Returns how many nodes held input of its maps when its splits were read.
    pub fn input_nodes(&self) -> u32 {
        self.cache.nodes()
    }

    /// Returns whether the job may have waiting maps whose input no node holds.
    pub fn has_homeless_maps(&self) -> bool {
        self.cache.has_homeless()
    }

    pub(super) fn tasks_mut(&mut self, kind: SlotKind) -> &mut Tasks {
        match kind {
            SlotKind::Map => &mut self.maps,
            SlotKind::Reduce => &mut self.reduces,
        }
    }

    /// Drops all waiting tasks.
    pub(super) fn give_up_waiting(&mut self) {
        for tasks in [&mut self.maps, &mut self.reduces] {
            // The lists of waiting tasks stay as they are, since they are not read after a job has
            // a verdict.
            tasks.waiting = 0;
            for task in tasks.tasks.iter_mut().filter(|task| task.stage == TaskStage::Waiting) {
                task.stage = TaskStage::Dead;
            }
        }
    }

    /// Returns a task; `None` if the job has ended and dropped its tasks.
    pub(super) fn task(&mut self, id: TaskId) -> Option<&mut Task> {
        match id.kind {
            TaskKind::Map => self.maps.tasks.get_mut(id.index as usize),
            TaskKind::Reduce => self.reduces.tasks.get_mut(id.index as usize),
            TaskKind::Setup => self.setup.get_mut(id.index as usize),
            TaskKind::Cleanup => self.cleanup.get_mut(id.index as usize),
        }
    }

    /// Returns a task of a job that must still have its tasks.
    pub(super) fn known_task(&mut self, id: TaskId) -> &mut Task {
        self.task(id).unwrap_or_else(|| panic!("{id} is no task of its job, or forgotten"))
    }

    pub(super) fn attempt(&self, id: AttemptId) -> Option<&KnownAttempt> {
        let task = self.tasks_of(id.task.kind).get(id.task.index as usize)?;
        task.tries.iter().find(|attempt| attempt.number == id.number)
    }

    /// Returns the tasks of a kind; empty before the job is initialised and after its tasks are
    /// dropped.
    pub(super) fn tasks_of(&self, kind: TaskKind) -> &[Task] {
        match kind {
            TaskKind::Map => &self.maps.tasks,
            TaskKind::Reduce => &self.reduces.tasks,
            TaskKind::Setup => &self.setup,
            TaskKind::Cleanup => &self.cleanup,
        }
    }

    /// Returns all tasks, in the order in which a job runs them.
    pub(super) fn all_tasks(&self) -> [(TaskKind, &[Task]); 4] {
        [TaskKind::Setup, TaskKind::Map, TaskKind::Reduce, TaskKind::Cleanup]
            .map(|kind| (kind, self.tasks_of(kind)))
    }

    /// Returns the counts of the job for events.
    pub(super) fn counts(&self, kind: SlotKind) -> SlotCounts {
        let tasks = self.tasks(kind);
        SlotCounts { running: tasks.running, pending: self.waiting(kind) }
    }

    /// Returns how many maps have succeeded or failed for good: reduces do not wait for these.
    pub(super) fn maps_over(&self) -> u32 {
        // A map that has failed for good within the allowed share counts as well.
        self.maps.finished + self.maps.failed
    }

    /// Returns whether every map and reduce has succeeded, or failed within the allowed share.
    pub(super) fn is_worked_off(&self) -> bool {
        [&self.maps, &self.reduces].iter().all(|t| t.finished + t.failed == t.total)
    }
}

impl Tasks {
    /// Returns how many tasks there are.
    pub fn total(&self) -> u32 {
        self.total
    }

    /// Returns how many attempts the JobTracker regards as running.
    pub fn running(&self) -> u32 {
        self.running
    }

    /// Returns how many tasks have succeeded.
    pub fn finished(&self) -> u32 {
        self.finished
    }

    /// Returns how many tasks have failed for good.
    pub fn failed(&self) -> u32 {
        self.failed
    }

    /// Returns how many running attempts were launched beside another attempt of their task.
    pub fn seconds(&self) -> u32 {
        self.seconds
    }

    /// Returns the sum of the running attempts' last reported progress, each from 0 to 1; always 0
    /// unless the policy needs [progress](super::PolicyNeeds::progress).
    pub fn progress(&self) -> f64 {
        self.progress as f64 / 1e6
    }
}

impl Task {
    /// Returns a waiting task whose first attempt will have this number.
    pub(super) fn new(first: u32) -> Self {
        Self { first, next: first, ..Self::default() }
    }

    /// Returns whether an attempt of the task was launched since the job began, or began anew.
    pub(super) fn has_begun(&self) -> bool {
        self.first < self.next
    }

    pub(super) fn find(&mut self, number: u32) -> Option<&mut KnownAttempt> {
        self.tries.iter_mut().find(|attempt| attempt.number == number)
    }

    pub(super) fn push(&mut self, attempt: KnownAttempt) {
        let mut tries = mem::take(&mut self.tries).into_vec();
        // Make room for one attempt only: nearly all tasks have one at a time.
        tries.reserve_exact(1);
        tries.push(attempt);
        self.tries = tries.into();
    }

    pub(super) fn remove(&mut self, number: u32) -> Option<KnownAttempt> {
        let index = self.tries.iter().position(|attempt| attempt.number == number)?;
        let mut tries = mem::take(&mut self.tries).into_vec();
        let attempt = tries.remove(index);
        self.tries = tries.into();
        Some(attempt)
    }
}

impl KnownAttempt {
    /// Returns whether a tracker runs the attempt or removes its output.
    pub(super) fn is_on(&self, tracker: TrackerId) -> bool {
        // If another tracker removes the output, that tracker reports the attempt.
        self.cleaner.unwrap_or(self.tracker) == tracker
    }

    /// Returns whether the attempt has ended and no tracker removes its output yet.
    pub(super) fn waits_for_cleaner(&self) -> bool {
        !self.is_active() && self.cleaner.is_none()
    }

    /// Returns whether the attempt has not ended.
    pub(super) fn is_active(&self) -> bool {
        self.state.is_under_way()
    }
}
