//! `later:` changes while a run goes on: another job, another policy.
//!
//! The live page writes down here what its user did, and a branch of a run consists of such
//! changes. A run learns of each at its instant only: up to there it is the same run with it and
//! without.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

use super::choice::SchedulerChoice;
use crate::workload::jobs::JobEntry;
use mumakil_base::units::SimSpan;

/// A change at an instant of a run: one of `submit` and `scheduler`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct LaterChange {
    /// When.
    pub at: SimSpan,
    /// A job arrives beside those of the workload, whatever their submission is. It is written as those
    /// of `workload.jobs` are, without `submit`, `after` and `file`.
    #[serde(default, skip_serializing_if = "Option::is_none", serialize_with = "said")]
    #[schemars(title = "a job, as in `workload.jobs`")]
    pub submit: Option<JobEntry>,
    /// Another policy takes over, or the same with other options. It begins anew: it learns which jobs
    /// there are, and waits no time off that its predecessor has waited. Attempts that the predecessor has
    /// suspended are killed, unless the new policy suspends, too. No Hadoop can do that; it shows what would have
    /// been.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<SchedulerChoice>,
}

impl LaterChange {
    /// Returns the change to another policy.
    pub fn scheduler(at: SimSpan, choice: SchedulerChoice) -> Self {
        Self { at, submit: None, scheduler: Some(choice) }
    }

    /// Returns the policies that take over, with their instants, in the order in which they do.
    pub fn policies(list: &[Self]) -> impl Iterator<Item = (SimSpan, &SchedulerChoice)> {
        let policies = list.iter().filter_map(|later| Some((later.at, later.scheduler.as_ref()?)));
        let mut policies: Vec<_> = policies.collect();
        // Stable: of two at one instant the one that is written last decides from then on.
        policies.sort_by_key(|(at, _)| *at);
        policies.into_iter()
    }

    /// Returns the jobs that arrive, with their instants.
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
