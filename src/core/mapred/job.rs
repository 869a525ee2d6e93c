//! A job as the JobTracker keeps it: its state, its tasks and their tries.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::mem;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::cluster::{PerSlot, SlotKind, TrackerId};
use crate::mapred::event::{AttemptState, Outcome, SlotCounts};
use crate::mapred::heartbeat::Missing;
use crate::mapred::ids::{AttemptId, JobId, TaskId, TaskKind};
use crate::mapred::map_cache::MapCache;
use crate::mapred::replicas::Replicas;
use crate::mapred::spec::{JobSpec, Priority};
use mumakil_base::units::{SimSpan, SimTime};

/// Where a job is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobState {
    /// Its splits have not been read.
    Submitted,
    /// Its setup task has not succeeded.
    Preparing,
    /// It gives tasks.
    Running,
    /// Its tasks are over, its cleanup task is not.
    Cleaning,
    /// It is over.
    Ended(Outcome),
}

/// A job as the JobTracker keeps it.
#[derive(Debug)]
pub struct Job {
    pub(super) spec: Arc<JobSpec>,
    pub(super) state: JobState,
    /// The number of each task's first attempt: above zero, if the job was begun anew.
    pub(super) first_attempt: u32,
    /// How it must end, once that is certain; `None` while it may succeed.
    pub(super) verdict: Option<Outcome>,
    pub(super) submitted_at: SimTime,
    /// Where its input lay when it was last submitted: its splits say so, and do not change any
    /// more.
    pub(super) splits: Arc<Replicas>,
    pub(super) running_at: SimTime,
    /// When enough maps had ended for the reduces to start, if they have.
    pub(super) reduces_ready_at: Option<SimTime>,
    pub(super) maps: Tasks,
    pub(super) reduces: Tasks,
    pub(super) cache: MapCache,
    /// Failed maps that go before all others, if Hadoop's line has it so.
    pub(super) failed_maps: BTreeSet<(Reverse<u32>, u32)>,
    pub(super) waiting_reduces: VecDeque<u32>,
    /// Tasks that are to be tried a second time, the one first that is to be helped first.
    pub(super) slow: PerSlot<Vec<u32>>,
    /// How long tasks took that succeeded on each tracker; only if slow tasks are looked for.
    pub(super) times_on: PerSlot<BTreeMap<TrackerId, TaskTimeSum>>,
    /// One for a map slot, one for a reduce slot; the first one that is launched does the work.
    pub(super) setup: [Task; 2],
    pub(super) cleanup: [Task; 2],
    /// Attempts whose output is to be removed.
    pub(super) unclean: PerSlot<VecDeque<AttemptId>>,
    /// Failed attempts by tracker.
    pub(super) failures_on: BTreeMap<TrackerId, u32>,
    /// Trackers that the job avoids, as long as they are few.
    pub(super) flaky: u32,
    /// Where attempts of a task have failed.
    pub(super) barred: FxHashMap<TaskId, Vec<TrackerId>>,
    /// The job's part in the cluster's unfinished tasks.
    pub(super) load: PerSlot<u32>,
    /// Whether the job is among those with a task to launch.
    pub(super) was_pending: PerSlot<bool>,
    /// Tries that trackers have not reported as ended.
    pub(super) open_tries: u32,
    /// Outputs that were lost, by their maps, until these have run again.
    pub(super) lost_outputs: BTreeMap<u32, Missing>,
    /// How many changes were told of the outputs that count.
    pub(super) output_changes: u32,
    /// How often reduces have complained of an output, until its map runs again.
    pub(super) failed_fetches: BTreeMap<AttemptId, u32>,
    /// How far its maps are, as Mumak's JobTracker adds it up; kept only if the injector asks for
    /// the load.
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
    /// Attempts under way that were launched beside another one of their task.
    pub(super) seconds: u32,
    /// How far the running attempts are together, in millionths.
    pub(super) progress: u64,
}

/// A task. There may be millions, which are touched in any order.
#[derive(Debug, Default)]
pub(super) struct Task {
    pub(super) stage: TaskStage,
    /// The number of the first attempt.
    pub(super) first: u32,
    /// The number of the next attempt.
    pub(super) next: u32,
    pub(super) failures: u32,
    /// Since when it has waited for its next attempt, if not since its job was ready.
    pub(super) since: SimTime,
    /// How far it was by the last heartbeat that said so; kept only if the injector asks for the
    /// load.
    pub(super) progress: f32,
    /// How much of it its best attempt does in a second, by its last report; only if slow tasks are
    /// looked for.
    pub(super) rate: f32,
    /// How many maps of the job had ended before this one; of a map that is done.
    pub(super) order: u32,
    /// The tries that have not ended, or whose output is still to be removed.
    pub(super) tries: Box<[KnownAttempt]>,
}

// No more than a line of the processor's cache.
const _: () = assert!(size_of::<Task>() <= 64);

/// Where a task is in its life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum TaskStage {
    /// To be launched.
    #[default]
    Waiting,
    /// An attempt is under way.
    Active,
    /// Done by this attempt, with the output on this tracker.
    Done(u32, TrackerId),
    /// Failed for good, or not needed any more.
    Dead,
}

/// An attempt as the JobTracker sees it.
#[derive(Clone, Debug)]
pub(super) struct KnownAttempt {
    pub(super) number: u32,
    /// Where it runs, or ran.
    pub(super) tracker: TrackerId,
    /// How many slots it takes there.
    pub(super) slots: u32,
    /// Where its output is being removed, if it is.
    pub(super) cleaner: Option<TrackerId>,
    pub(super) state: AttemptState,
    /// Whether the job counts it as running.
    pub(super) is_counted: bool,
    /// Whether its end has been ordered.
    pub(super) is_doomed: bool,
    /// Whether it has leave to commit: it was the first of its task's attempts to ask.
    pub(super) may_commit: bool,
    /// Whether it was ordered to stop in its tracks, and not to go on since.
    pub(super) is_halted: bool,
    /// Whether it was launched beside another attempt of the task.
    pub(super) is_second: bool,
    /// When it was handed out.
    pub(super) launched: SimTime,
    /// How far it is, in millionths; only if the policy reads it, or slow tasks are looked for.
    pub(super) progress: u32,
    /// How much of the task it does in a second, by its last report; only if slow tasks are looked for.
    pub(super) rate: f32,
}

/// News of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobEvent {
    /// The job.
    pub job: JobId,
    /// The news.
    pub change: JobChange,
}

/// The news of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobChange {
    /// It has arrived.
    Submitted,
    /// Its splits are read.
    Initialised,
    /// It gives tasks from here on.
    Running,
    /// The JobTracker has learned of an attempt's state.
    Attempt(AttemptId, AttemptState),
    /// More of its running tasks may be tried a second time, or fewer.
    SlowTasks,
    /// It is over.
    Ended(Outcome),
}

/// How long tasks took.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TaskTimeSum {
    count: u32,
    sum: SimSpan,
}

impl TaskTimeSum {
    pub(super) fn add(&mut self, took: SimSpan) {
        self.count += 1;
        self.sum += took;
    }

    /// Returns the mean in seconds.
    pub(super) fn mean(&self) -> f64 {
        // Nothing was added yet: 0 and not 0/0.
        self.sum.as_secs_f64() / f64::from(self.count.max(1))
    }
}

impl Job {
    pub(super) fn new(spec: Arc<JobSpec>, now: SimTime, files: Arc<Replicas>) -> Self {
        Self {
            state: JobState::Submitted,
            first_attempt: 0,
            verdict: None,
            submitted_at: now,
            splits: files,
            // Its arrival stands in until it runs.
            running_at: now,
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

    /// Finds the nodes that hold a map's input, as the job's splits have it.
    pub(super) fn locate(&self, map: u32, holders: &mut Vec<TrackerId>) {
        self.splits.locate(&self.spec, map, holders);
    }

    /// Returns what the job's client submitted.
    pub fn spec(&self) -> &JobSpec {
        &self.spec
    }

    /// Returns where the job is in its life.
    pub fn state(&self) -> JobState {
        self.state
    }

    /// Returns how much the job matters.
    pub fn priority(&self) -> Priority {
        self.spec.priority
    }

    /// Returns when the job arrived.
    pub fn submitted_at(&self) -> SimTime {
        self.submitted_at
    }

    /// Returns from when on the job has given tasks; when it arrived, if it does not yet.
    pub fn running_at(&self) -> SimTime {
        self.running_at
    }

    /// Returns whether the job gives tasks.
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

    /// Returns how many tasks of a kind could be launched now: those that wait, and those that are slow
    /// and may be tried a second time.
    pub fn pending(&self, kind: SlotKind) -> u32 {
        // The list of slow tasks is not cleared when a job fails, but it has no use any more.
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
            // Before slow start its reduces wait, but cannot be launched.
            SlotKind::Reduce => 0,
        }
    }

    /// Returns how many reduces wait for an attempt, those that the slow start holds back among
    /// them.
    pub fn unstarted_reduces(&self) -> u32 {
        if self.is_running() { self.reduces.waiting } else { 0 }
    }

    /// Returns how many nodes held input of its maps when its splits were read.
    pub fn input_nodes(&self) -> u32 {
        self.cache.nodes()
    }

    /// Returns whether a map may be waiting whose input is on no node.
    pub fn has_homeless_maps(&self) -> bool {
        self.cache.has_homeless()
    }

    pub(super) fn tasks_mut(&mut self, kind: SlotKind) -> &mut Tasks {
        match kind {
            SlotKind::Map => &mut self.maps,
            SlotKind::Reduce => &mut self.reduces,
        }
    }

    /// Lets no task wait any more.
    pub(super) fn give_up_waiting(&mut self) {
        for tasks in [&mut self.maps, &mut self.reduces] {
            // The lists of waiting tasks stay as they are: a job with a verdict is never asked for
            // a task.
            tasks.waiting = 0;
            for task in tasks.tasks.iter_mut().filter(|task| task.stage == TaskStage::Waiting) {
                task.stage = TaskStage::Dead;
            }
        }
    }

    /// Returns a task, unless the job is over and its tasks forgotten.
    pub(super) fn task(&mut self, id: TaskId) -> Option<&mut Task> {
        match id.kind {
            TaskKind::Map => self.maps.tasks.get_mut(id.index as usize),
            TaskKind::Reduce => self.reduces.tasks.get_mut(id.index as usize),
            TaskKind::Setup => self.setup.get_mut(id.index as usize),
            TaskKind::Cleanup => self.cleanup.get_mut(id.index as usize),
        }
    }

    /// Returns a task of a job that still has its tasks.
    pub(super) fn known_task(&mut self, id: TaskId) -> &mut Task {
        self.task(id).unwrap_or_else(|| panic!("{id} is no task of its job, or forgotten"))
    }

    pub(super) fn attempt(&self, id: AttemptId) -> Option<&KnownAttempt> {
        let task = self.tasks_of(id.task.kind).get(id.task.index as usize)?;
        task.tries.iter().find(|attempt| attempt.number == id.number)
    }

    /// Returns the tasks of a kind, unless they are not there yet or forgotten.
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

    /// Returns what events say of the job's counts.
    pub(super) fn counts(&self, kind: SlotKind) -> SlotCounts {
        let tasks = self.tasks(kind);
        SlotCounts { running: tasks.running, pending: self.waiting(kind) }
    }

    /// Returns how many maps no reduce has to wait for any more.
    pub(super) fn maps_over(&self) -> u32 {
        // A map that has failed for good within the allowed share is not waited for, either.
        self.maps.finished + self.maps.failed
    }

    /// Returns whether every map and reduce is done, or has failed within what is allowed.
    pub(super) fn is_worked_off(&self) -> bool {
        [&self.maps, &self.reduces].iter().all(|t| t.finished + t.failed == t.total)
    }
}

impl Tasks {
    /// Returns how many there are.
    pub fn total(&self) -> u32 {
        self.total
    }

    /// Returns how many attempts the JobTracker regards as running.
    pub fn running(&self) -> u32 {
        self.running
    }

    /// Returns how many have succeeded.
    pub fn finished(&self) -> u32 {
        self.finished
    }

    /// Returns how many have failed for good.
    pub fn failed(&self) -> u32 {
        self.failed
    }

    /// Returns how many attempts were launched beside another one of their task and are under way.
    pub fn seconds(&self) -> u32 {
        self.seconds
    }

    /// Returns how far the running attempts are together, each from 0 to 1, as their trackers said
    /// last; always 0 unless the policy says that it [reads this](super::Scheduler::reads_progress).
    pub fn progress(&self) -> f64 {
        self.progress as f64 / 1e6
    }
}

impl Task {
    /// Returns a task whose first attempt has this number.
    pub(super) fn new(first: u32) -> Self {
        Self { first, next: first, ..Self::default() }
    }

    /// Returns whether it was ever launched, since its job was begun.
    pub(super) fn has_begun(&self) -> bool {
        self.first < self.next
    }

    pub(super) fn find(&mut self, number: u32) -> Option<&mut KnownAttempt> {
        self.tries.iter_mut().find(|attempt| attempt.number == number)
    }

    pub(super) fn push(&mut self, attempt: KnownAttempt) {
        let mut tries = mem::take(&mut self.tries).into_vec();
        // Nearly no task has more than one at a time.
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
    /// Returns whether a tracker has it in hand.
    pub(super) fn is_on(&self, tracker: TrackerId) -> bool {
        // While another tracker removes its output, that tracker reports it.
        self.cleaner.unwrap_or(self.tracker) == tracker
    }

    /// Returns whether it is over but for its output, and no tracker removes that yet.
    pub(super) fn waits_for_cleaner(&self) -> bool {
        !self.is_active() && self.cleaner.is_none()
    }

    /// Returns whether it works or may yet work, rather than being over but for its output.
    pub(super) fn is_active(&self) -> bool {
        use AttemptState as S;
        matches!(self.state, S::Unassigned | S::Running | S::Suspended | S::CommitPending)
    }
}
