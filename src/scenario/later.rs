//! `later:` changes while a run goes on: another job, another policy, another priority.
//!
//! The slots of nodes change with their trackers' process: see the fault `restart`.
//!
//! The live page records the actions of its user as such changes, and a branch of a run consists of
//! them. Before its time a change has no effect: until then, the run is the same as without it.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use serde_yaml::Value;

use crate::fault::known::FaultContext;
use crate::workload::arrivals::Workload;
use crate::workload::jobs::JobEntry;
use mumakil_base::units::{SimSpan, SimTime};
use mumakil_core::mapred::{
    HandEnd, JobAlteration, JobId, Mail, Priority, SchedulerChoice, TaskId, TaskKind, ToJobTracker,
};
use mumakil_yaml::{Path, YamlProblem};

/// A change at a time in the run: exactly one of the keys besides `at`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct LaterChange {
    /// The time of the change.
    pub at: SimSpan,
    /// A job that arrives besides those of the workload, written as in `workload.jobs`, without
    /// `submit`, `after` and `file`.
    #[serde(default, skip_serializing_if = "Option::is_none", serialize_with = "said")]
    #[schemars(title = "a job, as in `workload.jobs`")]
    pub submit: Option<JobEntry>,
    /// The policy that takes over, or the same with other options. It learns of the present jobs,
    /// but not how long they have waited. Suspended attempts are killed, unless it suspends, too.
    /// No version of Hadoop can do this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<SchedulerChoice>,
    /// A job that gets another priority or another pool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<AlteredJob>,
    /// A task whose running attempts are killed by hand (`hadoop job -kill-task`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kill_task: Option<NamedTask>,
    /// A task whose running attempts are ended by hand and count as failed (`hadoop job
    /// -fail-task`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fail_task: Option<NamedTask>,
    /// The `allocations` that the policy reads again, as a whole; no job's wait is forgotten.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    #[schemars(title = "pools or queues, as `allocations` in `scheduler`")]
    pub allocations: Option<Value>,
    /// The policy with these `allocations`, once they were checked.
    #[serde(skip)]
    read_again: Option<SchedulerChoice>,
}

/// The option of a policy of which `allocations` is the new value.
pub(super) const ALLOCATIONS: &str = "allocations";

/// A job, and what changes about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AlteredJob {
    /// The job; of one with a `count`, `load` means all copies, and `load-2` one.
    pub job: String,
    /// Its priority from now on (`hadoop job -set-priority`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,
    /// Its pool or queue from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
}

/// A map or a reduce of a job: one of `map` and `reduce`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NamedTask {
    /// The job; of one with a `count`, `load` means all copies, and `load-2` one.
    pub job: String,
    /// The number of the map, from 0, as in `tasks.csv`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map: Option<u32>,
    /// The number of the reduce, from 0, as in `tasks.csv`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reduce: Option<u32>,
}

impl LaterChange {
    /// Returns the change to another policy.
    pub fn scheduler(at: SimSpan, choice: SchedulerChoice) -> Self {
        Self { at, scheduler: Some(choice), ..Self::default() }
    }

    /// Notes the policy with its new `allocations`, which were checked.
    pub(super) fn read_again(&mut self, choice: SchedulerChoice) {
        self.allocations = Some(choice.written().get(ALLOCATIONS).cloned().unwrap_or_default());
        self.read_again = Some(choice);
    }

    /// Returns the keys of what changes; a valid entry has exactly one.
    pub(super) fn keys(&self) -> Vec<&'static str> {
        let all = [
            ("submit", self.submit.is_some()),
            ("scheduler", self.scheduler.is_some()),
            ("change", self.change.is_some()),
            ("kill_task", self.kill_task.is_some()),
            ("fail_task", self.fail_task.is_some()),
            ("allocations", self.allocations.is_some()),
        ];
        all.into_iter().filter_map(|(key, is_there)| is_there.then_some(key)).collect()
    }

    /// Returns the task that is ended by hand, with its key; `None` for other changes.
    pub(super) fn task(&self) -> Option<(&'static str, &NamedTask)> {
        let killed = self.kill_task.as_ref().map(|task| ("kill_task", task));
        killed.or(self.fail_task.as_ref().map(|task| ("fail_task", task)))
    }

    /// Returns the job that the change names, with the path of its name; `None` if it names none.
    pub(super) fn job(&self) -> Option<(String, &str)> {
        let changed = self.change.as_ref().map(|change| ("change.job".to_owned(), &*change.job));
        changed.or_else(|| self.task().map(|(key, task)| (format!("{key}.job"), &*task.job)))
    }

    /// Checks that the workload has the job that the change names; the path of a problem begins at
    /// the entry.
    ///
    /// # Errors
    /// If there is no such job.
    pub fn check(&self, known: &FaultContext<'_>) -> Result<(), YamlProblem> {
        let Some((path, name)) = self.job() else { return Ok(()) };
        known.has_job(name).map_err(|problem| problem.inside(&Path::of(&path)))
    }

    /// Returns the policies that take over, each with its time, in the order of time.
    pub fn policies(list: &[Self]) -> impl Iterator<Item = (SimSpan, &SchedulerChoice)> {
        let mut policies: Vec<_> =
            list.iter().filter_map(|later| Some((later.at, later.scheduler.as_ref()?))).collect();
        // The sort is stable: of two policies at one instant, the policy that is written last takes
        // over last.
        policies.sort_by_key(|(at, _)| *at);
        policies.into_iter()
    }

    /// Returns the policies after `first`, each with its time and its place in the list, in the
    /// order of time: those that take over, and those that read their pools or queues again.
    pub fn course(list: &[Self], first: &SchedulerChoice) -> Vec<PolicyStep> {
        let mut order: Vec<usize> = (0..list.len()).collect();
        // At one instant, policies take over before allocations are read again: so the messages of
        // a run are sent.
        order.sort_by_key(|place| (list[*place].at, list[*place].allocations.is_some()));
        let mut current = first.clone();
        let steps = order.into_iter().filter_map(|place: usize| {
            let Self { at, scheduler, allocations, read_again, .. } = &list[place];
            if let Some(choice) = scheduler {
                current = choice.clone();
            }
            match (read_again, allocations) {
                (Some(choice), _) => current = choice.clone(),
                (None, Some(allocations)) => current.set(ALLOCATIONS, allocations.clone()),
                (None, None) => {}
            }
            let (at, takes_over) = (*at, scheduler.is_some());
            let is_step = takes_over || allocations.is_some();
            is_step.then(|| PolicyStep { place, at, takes_over, choice: current.clone() })
        });
        steps.collect()
    }

    /// Returns the jobs that arrive, each with its time as `submit`.
    pub fn jobs(list: &[Self]) -> impl Iterator<Item = JobEntry> {
        list.iter().filter_map(|later| {
            let entry = later.submit.clone()?;
            Some(JobEntry { submit: later.at, ..entry })
        })
    }

    /// Returns the messages for the changes of jobs and tasks, each with its time.
    pub fn mail(list: &[Self], workload: &Workload) -> Vec<(SimTime, Mail)> {
        let mut mail = Vec::new();
        for later in list {
            let at = SimTime::ZERO + later.at;
            let named = later.job().into_iter().flat_map(|(_, name)| workload.named(name));
            mail.extend(named.filter_map(|id| Some((at, later.message(id)?.into()))));
        }
        mail
    }

    /// Returns the message about one of the jobs that the change names.
    fn message(&self, job: JobId) -> Option<ToJobTracker> {
        if let Some(AlteredJob { priority, pool, .. }) = &self.change {
            let pool = pool.as_deref().map(Arc::from);
            let alteration = JobAlteration { job, priority: *priority, pool };
            return Some(ToJobTracker::Alter(Arc::new(alteration)));
        }
        let (_, named) = self.task()?;
        let (kind, index) = match (named.map, named.reduce) {
            (Some(map), _) => (TaskKind::Map, map),
            (None, reduce) => (TaskKind::Reduce, reduce?),
        };
        let task = TaskId { job, kind, index };
        Some(ToJobTracker::EndTask(HandEnd { task, fails: self.fail_task.is_some() }.into()))
    }
}

/// A policy in the course of a run.
#[derive(Clone, Debug)]
pub struct PolicyStep {
    /// The index in `later`.
    pub place: usize,
    /// When it takes over, or reads its pools or queues again.
    pub at: SimSpan,
    /// Whether it takes over from another; if not, it reads its pools or queues again.
    pub takes_over: bool,
    /// The policy with its options from now on.
    pub choice: SchedulerChoice,
}

/// Writes the fields of a job that differ from their defaults.
fn said<S: Serializer>(job: &Option<JobEntry>, to: S) -> Result<S::Ok, S::Error> {
    job.as_ref().map(JobEntry::said).serialize(to)
}
