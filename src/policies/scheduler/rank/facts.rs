//! The names that a rank may use: the facts that a JobTracker knows about a job.
//!
//! To add a name, add a line to [`FACTS`].

use super::record::JobRecord;
use mumakil_base::expression::Unit;
use mumakil_base::units::SimTime;
use mumakil_core::mapred::{Job, PerSlot, Priority, SlotKind, TaskTimeSum, View};

/// How long a task takes of which nothing is known, in seconds.
// Chosen: before the first task has ended, all jobs have the same time, so it decides nothing
// between them unless a formula holds it against another time.
const UNKNOWN_S: f64 = 60.0;

/// A name in a rank.
#[derive(Debug)]
pub(crate) struct RankFact {
    /// The name.
    pub name: &'static str,
    /// The number's description.
    pub about: &'static str,
    /// Its unit.
    pub unit: Unit,
    pub(super) flows: RankFlow,
    /// Whether a job has it when it arrives, so that its size can be estimated from it.
    pub is_early: bool,
    pub(super) read: ReadFact,
}

/// When a number changes though nothing happens to the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RankFlow {
    /// Never.
    Never,
    /// As long as the job holds slots.
    Served,
    /// At any time.
    Always,
}

pub(super) struct RankedJob<'a> {
    pub(super) job: &'a Job,
    pub(super) record: &'a JobRecord,
    pub(super) around: &'a Surroundings,
}

/// The facts about all jobs when a slot is given.
pub(super) struct Surroundings {
    pub(super) kind: SlotKind,
    pub(super) now: SimTime,
    /// The mean times of all tasks that have succeeded, in seconds.
    pub(super) usual: PerSlot<f64>,
    pub(super) jobs: u32,
    pub(super) slots: u32,
}

impl Surroundings {
    /// Returns the facts about all jobs for a slot of a kind; `took` is how long the tasks of all
    /// jobs took that have succeeded.
    pub(super) fn new(
        view: &View<'_>,
        kind: SlotKind,
        took: &PerSlot<TaskTimeSum>,
        jobs: u32,
    ) -> Self {
        let usual = PerSlot::of(|kind| took[kind].mean().unwrap_or(UNKNOWN_S));
        Self { kind, now: view.now(), usual, jobs, slots: view.capacity(kind) }
    }
}

impl RankedJob<'_> {
    fn seconds_since(&self, then: SimTime) -> f64 {
        self.around.now.saturating_since(then).as_secs_f64()
    }

    fn running(&self, kind: SlotKind) -> f64 {
        self.job.tasks(kind).running().saturating_sub(self.record.stopped(kind)).into()
    }

    fn total(&self, kind: SlotKind) -> f64 {
        self.job.tasks(kind).total().into()
    }

    fn remaining(&self, kind: SlotKind) -> f64 {
        let tasks = self.job.tasks(kind);
        f64::from(tasks.total() - (tasks.finished() + tasks.failed()).min(tasks.total()))
    }

    fn deadline(&self) -> f64 {
        let span = self.job.spec().deadline;
        span.map_or(f64::INFINITY, |span| (self.job.submitted_at() + span).as_secs_f64())
    }

    fn mean_time(&self, kind: SlotKind) -> f64 {
        self.record.mean_time(kind).unwrap_or(self.around.usual[kind])
    }
}

const MAP: SlotKind = SlotKind::Map;
const REDUCE: SlotKind = SlotKind::Reduce;

const PLAIN: Unit = Unit::PLAIN;
const TIME: Unit = Unit::TIME;

type ReadFact = fn(&RankedJob<'_>) -> f64;

/// Returns a name for a number that changes only with the job.
const fn of_job(name: &'static str, unit: Unit, about: &'static str, read: ReadFact) -> RankFact {
    RankFact { name, about, unit, flows: RankFlow::Never, is_early: false, read }
}

/// As [`of_job`], for a number that a job has when it arrives.
const fn early(name: &'static str, unit: Unit, about: &'static str, read: ReadFact) -> RankFact {
    RankFact { is_early: true, ..of_job(name, unit, about, read) }
}

/// Returns a name for a number that also changes with time or with other jobs.
const fn flowing(name: &'static str, unit: Unit, about: &'static str, read: ReadFact) -> RankFact {
    RankFact { flows: RankFlow::Always, ..of_job(name, unit, about, read) }
}

/// As [`flowing`], for a number that a job has when it arrives.
const fn usual(name: &'static str, about: &'static str, read: ReadFact) -> RankFact {
    RankFact { is_early: true, ..flowing(name, TIME, about, read) }
}

/// All names.
pub(crate) const FACTS: &[RankFact] = &[
    flowing("age", TIME, "the time since the job was submitted", |it| {
        it.seconds_since(it.job.submitted_at())
    }),
    early("submitted", TIME, "when it was submitted, from the beginning of the run", |it| {
        it.job.submitted_at().as_secs_f64()
    }),
    flowing("waited", TIME, "the time since it last got a slot of this kind", |it| {
        it.seconds_since(it.record.served_at(it.around.kind).unwrap_or(it.job.running_at()))
    }),
    early("priority", PLAIN, "2 for very_high, 1, 0 for normal, -1, -2", |it| {
        match it.job.priority() {
            Priority::VeryHigh => 2.0,
            Priority::High => 1.0,
            Priority::Normal => 0.0,
            Priority::Low => -1.0,
            Priority::VeryLow => -2.0,
        }
    }),
    early(
        "deadline",
        TIME,
        "when it should end, as `submitted`; without a deadline, never",
        |it| it.deadline(),
    ),
    flowing("slack", TIME, "the time until its deadline; below zero after it", |it| {
        it.deadline() - it.around.now.as_secs_f64()
    }),
    early("maps", PLAIN, "its maps", |it| it.total(MAP)),
    early("reduces", PLAIN, "its reduces", |it| it.total(REDUCE)),
    early("tasks", PLAIN, "its tasks of the slot's kind", |it| it.total(it.around.kind)),
    early("input", Unit::BYTES, "what its maps read, in all", |it| it.record.input(it.job)),
    of_job("running_maps", PLAIN, "its attempts of maps that run", |it| it.running(MAP)),
    of_job("running_reduces", PLAIN, "its attempts of reduces that run", |it| it.running(REDUCE)),
    of_job("running", PLAIN, "its attempts of the slot's kind that run", |it| {
        it.running(it.around.kind)
    }),
    of_job("remaining_maps", PLAIN, "its maps that have not succeeded", |it| it.remaining(MAP)),
    of_job("remaining_reduces", PLAIN, "its reduces that have not succeeded", |it| {
        it.remaining(REDUCE)
    }),
    of_job("remaining", PLAIN, "its tasks of the slot's kind that have not succeeded", |it| {
        it.remaining(it.around.kind)
    }),
    usual("map_time", "how long its maps took, or those of all jobs", |it| it.mean_time(MAP)),
    usual("reduce_time", "how long its reduces took, or those of all jobs", |it| {
        it.mean_time(REDUCE)
    }),
    usual("task_time", "how long its tasks of the slot's kind took", |it| {
        it.mean_time(it.around.kind)
    }),
    RankFact {
        flows: RankFlow::Served,
        ..of_job("attained", TIME, "how long its attempts have held slots, in all", |it| {
            it.record.attained(it.around.now)
        })
    },
    flowing("jobs", PLAIN, "the jobs that run", |it| it.around.jobs.into()),
    RankFact {
        is_early: true,
        ..flowing("slots", PLAIN, "the cluster's slots of this kind", |it| it.around.slots.into())
    },
];
