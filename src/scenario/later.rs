//! `later:` changes while a run goes on: another job, another policy.
//!
//! The live page records the actions of its user as such changes, and a branch of a run consists of
//! them. Before its time a change has no effect: until then, the run is the same as without it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

use super::choice::SchedulerChoice;
use crate::workload::jobs::JobEntry;
use mumakil_base::units::SimSpan;

/// A change at a time in the run: one of `submit` and `scheduler`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct LaterChange {
    /// The time of the change.
    pub at: SimSpan,
    /// A job that arrives besides the jobs of the workload, whatever the workload's submission is.
    /// It is written like a job in `workload.jobs`, without `submit`, `after` and `file`.
    #[serde(default, skip_serializing_if = "Option::is_none", serialize_with = "said")]
    #[schemars(title = "a job, as in `workload.jobs`")]
    pub submit: Option<JobEntry>,
    /// The policy that takes over, or the same policy with other options. It starts anew: it learns
    /// of the present jobs, but not how long they have waited. Attempts that the old policy has
    /// suspended are killed, unless the new policy suspends, too. No version of Hadoop can do this;
    /// it shows what would have happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<SchedulerChoice>,
}

impl LaterChange {
    /// Returns the change to another policy.
    pub fn scheduler(at: SimSpan, choice: SchedulerChoice) -> Self {
        Self { at, submit: None, scheduler: Some(choice) }
    }

    /// Returns the policies that take over, each with its time, in the order of time.
    pub fn policies(list: &[Self]) -> impl Iterator<Item = (SimSpan, &SchedulerChoice)> {
        let policies = list.iter().filter_map(|later| Some((later.at, later.scheduler.as_ref()?)));
        let mut policies: Vec<_> = policies.collect();
        // The sort is stable: of two policies at one instant, the policy that is written last takes
        // over last.
        policies.sort_by_key(|(at, _)| *at);
        policies.into_iter()
    }

    /// Returns the jobs that arrive, each with its time as `submit`.
    pub fn jobs(list: &[Self]) -> impl Iterator<Item = JobEntry> {
        list.iter().filter_map(|later| {
            let entry = later.submit.clone()?;
            Some(JobEntry { submit: later.at, ..entry })
        })
    }
}

/// Writes the fields of a job that differ from their defaults.
fn said<S: Serializer>(job: &Option<JobEntry>, to: S) -> Result<S::Ok, S::Error> {
    job.as_ref().map(JobEntry::said).serialize(to)
}
